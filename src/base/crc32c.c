/* CRC-32C by tables, by the crc32 instruction and by carry-less multiplication.
 *
 * A CRC is the remainder of the message, as a polynomial over GF(2), modulo P. All polynomials here
 * are reflected: the lowest bit belongs to the highest power. For a 32-bit value v, "v advanced by
 * n bits" is v * x^n mod P, which is what n zero bits behind the data make of the register v.
 *
 * Joining pieces: with A the register behind the first piece and n bits to come, the whole is
 * (A advanced by n) xor (the register of the rest, begun at 0). Two facts make that one product:
 *  - the crc32 instruction on a 64-bit word w and register 0 gives w * x^32 mod P;
 *  - the 63-bit product of two reflected 32-bit values, read as a reflected 64-bit word, is their
 *    product times x.
 * So "A advanced by n" = crc32(0, product(A, x^(n - 33) mod P)), and instead of a crc32 of its own
 * the product is xored into the last word of the data. With n = 64 m, x^(n - 33) is x^31 advanced
 * by m - 1 words, and x^31 is the value 1: powers[m - 1] below.
 */
#include "base/crc32c.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hash.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86 1
#include <immintrin.h>
#endif

enum { POLYNOMIAL = (int)0x82f63b78, LONGEST = 128 /* words of a piece */ };

typedef uint32_t (*crc32c_function)(uint32_t crc, const uint8_t *at, size_t size);

/* tables[k][b]: byte b advanced by 8 (k + 1) bits. */
static uint32_t tables[8][256];
/* powers[i]: x^31 advanced by i words. */
static uint32_t powers[2 * LONGEST];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t step_byte(uint32_t crc, uint8_t byte) {
  return (crc >> 8) ^ tables[0][(crc ^ byte) & 255];
}

static uint32_t step_word(uint32_t crc, uint64_t word) {
  word ^= crc;
  uint32_t sum = 0;
  for (int k = 7; k >= 0; k--, word >>= 8) {
    sum ^= tables[k][word & 255];
  }
  return sum;
}

static uint32_t by_tables(uint32_t crc, const uint8_t *at, size_t size) {
  for (; size >= 8; size -= 8, at += 8) {
    crc = step_word(crc, cst__load64(at));
  }
  for (; size > 0; size--, at++) {
    crc = step_byte(crc, *at);
  }
  return crc;
}

#if HAVE_X86

#define SSE42 __attribute__((target("sse4.2,pclmul")))
#define AVX512 __attribute__((target("sse4.2,pclmul,avx512f,avx512vl,vpclmulqdq")))

SSE42 static inline uint32_t crc_word(uint32_t crc, uint64_t word) {
  return (uint32_t)_mm_crc32_u64(crc, word);
}

SSE42 static inline uint64_t product(uint32_t a, uint32_t b) {
  __m128i result = _mm_clmulepi64_si128(_mm_cvtsi32_si128((int)a), _mm_cvtsi32_si128((int)b), 0);
  return (uint64_t)_mm_cvtsi128_si64(result);
}

/* Up to 23 bytes. */
SSE42 static inline uint32_t crc_tail(uint32_t crc, const uint8_t *at, size_t size) {
  for (; size >= 8; size -= 8, at += 8) {
    crc = crc_word(crc, cst__load64(at));
  }
  if (size & 4) {
    uint32_t word;
    memcpy(&word, at, 4);
    crc = _mm_crc32_u32(crc, word);
    at += 4;
  }
  if (size & 2) {
    uint16_t word;
    memcpy(&word, at, 2);
    crc = _mm_crc32_u16(crc, word);
    at += 2;
  }
  return size & 1 ? _mm_crc32_u8(crc, *at) : crc;
}

/* Three pieces of n words (1 <= n <= LONGEST) side by side: crc32 takes 3 cycles but can start in
 * every cycle. */
SSE42 static inline uint32_t crc_three(uint32_t crc, const uint8_t *at, size_t n) {
  const uint8_t *second = at + 8 * n;
  const uint8_t *third = second + 8 * n;
  const uint8_t *end = second - 8;
  uint32_t a = crc;
  uint32_t b = 0;
  uint32_t c = 0;
  for (; at < end; at += 8, second += 8, third += 8) {
    a = crc_word(a, cst__load64(at));
    b = crc_word(b, cst__load64(second));
    c = crc_word(c, cst__load64(third));
  }
  a = crc_word(a, cst__load64(at));
  b = crc_word(b, cst__load64(second));
  uint64_t joined = product(a, powers[2 * n - 1]) ^ product(b, powers[n - 1]);
  return crc_word(c, cst__load64(third) ^ joined);
}

SSE42 static uint32_t by_sse42(uint32_t crc, const uint8_t *at, size_t size) {
  for (; size >= 24 * LONGEST; size -= 24 * LONGEST, at += 24 * LONGEST) {
    crc = crc_three(crc, at, LONGEST);
  }
  if (size >= 72) {
    size_t n = size / 24;
    crc = crc_three(crc, at, n);
    at += 24 * n;
    size -= 24 * n;
  }
  for (; size >= 24; size -= 8, at += 8) {
    crc = crc_word(crc, cst__load64(at));
  }
  return crc_tail(crc, at, size);
}

#endif /* HAVE_X86 */

static uint32_t first_call(uint32_t crc, const uint8_t *at, size_t size);
static _Atomic(crc32c_function) chosen = first_call;

static crc32c_function function_of(cst__crc32c_way way) {
#if HAVE_X86
  if (way == CST__CRC32C_SSE42) {
    return by_sse42;
  }
#endif
  (void)way;
  return by_tables;
}

bool cst__crc32c_has(cst__crc32c_way way) {
#if HAVE_X86
  if (way == CST__CRC32C_SSE42) {
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  }
#endif
  return way == CST__CRC32C_TABLES;
}

static void build_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; bit++) {
      value = (value >> 1) ^ (value & 1 ? (uint32_t)POLYNOMIAL : 0);
    }
    tables[0][byte] = value;
  }
  for (int k = 1; k < 8; k++) {
    for (int byte = 0; byte < 256; byte++) {
      tables[k][byte] = step_byte(tables[k - 1][byte], 0);
    }
  }
  powers[0] = 1;
  for (size_t i = 1; i < sizeof powers / sizeof *powers; i++) {
    powers[i] = step_word(powers[i - 1], 0);
  }
}

static void choose(void) {
  build_tables();
  cst__crc32c_way best = CST__CRC32C_TABLES;
  for (int way = CST__CRC32C_TABLES; way <= CST__CRC32C_AVX512; way++) {
    if (cst__crc32c_has((cst__crc32c_way)way)) {
      best = (cst__crc32c_way)way;
    }
  }
  atomic_store_explicit(&chosen, function_of(best), memory_order_release);
}

static uint32_t first_call(uint32_t crc, const uint8_t *at, size_t size) {
  pthread_once(&once, choose);
  return atomic_load_explicit(&chosen, memory_order_acquire)(crc, at, size);
}

uint32_t cst__crc32c(uint32_t crc, const void *data, size_t size) {
  return ~atomic_load_explicit(&chosen, memory_order_acquire)(~crc, data, size);
}

uint32_t cst__crc32c_by(cst__crc32c_way way, uint32_t crc, const void *data, size_t size) {
  pthread_once(&once, choose);
  return ~function_of(way)(~crc, data, size);
}
