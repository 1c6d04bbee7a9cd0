/* CRC-32C by tables, by the crc32 instruction (crc32c on aarch64) and by carry-less multiplication.
 *
 * A CRC is the remainder of the message, as a polynomial over GF(2), modulo P. All polynomials here
 * are reflected: the lowest bit belongs to the highest power. For a 32-bit value v, "v advanced by
 * n bits" is v * x^n mod P, which is what n zero bits after the data make of the register v.
 *
 * Joining pieces: with A the register after the first piece and n bits to come, the whole is
 * (A advanced by n) xor (the register of the rest, begun at 0). Two facts make that one product:
 *  - the crc32 instruction on a 64-bit word w and register 0 gives w * x^32 mod P;
 *  - the 63-bit product of two reflected 32-bit values, read as a reflected 64-bit word, is their
 *    product times x.
 * So "A advanced by n" = crc32(0, product(A, x^(n - 33) mod P)), and instead of a crc32 of its own
 * the product is xored into the last word of the data. With n = 64 m, x^(n - 33) is x^31 advanced
 * by m - 1 words, and x^31 is the value 1: powers[m - 1] below.
 */
#include "base/crc32c.h"

#include <stdatomic.h>
#include <string.h>

#include "base/cpu_features.h"
#include "base/hash.h"
#include "base/thread.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86 1
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__GNUC__) && \
    (!defined(__clang__) || __clang_major__ >= 17 || defined(__ARM_FEATURE_CRC32))
/* Older clangs declare the intrinsics only where every function may use them. */
#define HAVE_ARM 1
#include <arm_acle.h>
#include <arm_neon.h>
#endif

enum { POLYNOMIAL = (int)0x82f63b78, LONGEST = 128 /* words of a piece */ };

typedef uint32_t (*crc32c_function)(uint32_t crc, const uint8_t *at, size_t size);

/* tables[k][b]: byte b advanced by 8 (k + 1) bits. */
static uint32_t tables[8][256];
/* powers[i]: x^31 advanced by i words. */
static uint32_t powers[2 * LONGEST];
/* Constants that shift 128-bit lanes: by one block of 64 bytes, by four, to the place of lane 3. A
 * shift by n words takes powers[n] for the lane's first word and powers[n - 1] for its second. */
static struct folds {
  _Alignas(64) uint64_t by_1[8];
  uint64_t by_4[8];
  uint64_t to_last_lane[8];
} folds;
static cst__once once = CST__ONCE_INIT;

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

#define CRC __attribute__((target("sse4.2,crc32,pclmul")))
#define CRC_AND_PRODUCT CRC
#define AVX512 \
  __attribute__((target("sse4.2,crc32,pclmul,avx512f,avx512bw,avx512vbmi2,vpclmulqdq")))

CRC static inline uint32_t crc_8(uint32_t crc, uint8_t byte) { return _mm_crc32_u8(crc, byte); }
CRC static inline uint32_t crc_16(uint32_t crc, uint16_t word) { return _mm_crc32_u16(crc, word); }
CRC static inline uint32_t crc_32(uint32_t crc, uint32_t word) { return _mm_crc32_u32(crc, word); }

CRC static inline uint32_t crc_word(uint32_t crc, uint64_t word) {
  return (uint32_t)_mm_crc32_u64(crc, word);
}

CRC static inline uint64_t product(uint32_t a, uint32_t b) {
  __m128i result = _mm_clmulepi64_si128(_mm_cvtsi32_si128((int)a), _mm_cvtsi32_si128((int)b), 0);
  return (uint64_t)_mm_cvtsi128_si64(result);
}

#elif HAVE_ARM

#if defined(__clang__)
#define CRC __attribute__((target("crc")))
#define CRC_AND_PRODUCT __attribute__((target("crc,aes")))
#else
#define CRC __attribute__((target("+crc")))
#define CRC_AND_PRODUCT __attribute__((target("+crc+crypto")))
#endif

CRC static inline uint32_t crc_8(uint32_t crc, uint8_t byte) { return __crc32cb(crc, byte); }
CRC static inline uint32_t crc_16(uint32_t crc, uint16_t word) { return __crc32ch(crc, word); }
CRC static inline uint32_t crc_32(uint32_t crc, uint32_t word) { return __crc32cw(crc, word); }
CRC static inline uint32_t crc_word(uint32_t crc, uint64_t word) { return __crc32cd(crc, word); }

CRC_AND_PRODUCT static inline uint64_t product(uint32_t a, uint32_t b) {
  return (uint64_t)vmull_p64((poly64_t)a, (poly64_t)b);
}

#endif

#if HAVE_X86 || HAVE_ARM

/* Fewer than 8 bytes. */
CRC static inline uint32_t crc_few(uint32_t crc, const uint8_t *at, size_t size) {
  if (size & 4) {
    uint32_t word;
    memcpy(&word, at, 4);
    crc = crc_32(crc, word);
    at += 4;
  }
  if (size & 2) {
    uint16_t word;
    memcpy(&word, at, 2);
    crc = crc_16(crc, word);
    at += 2;
  }
  return size & 1 ? crc_8(crc, *at) : crc;
}

/* The first `head` (1 to 8) bytes, of 8 that may be read. Zeros before the data change nothing
 * when the register is 0, so the bytes go to the end of a word of zeros and the register into the
 * data; what of the register reaches beyond the head is left in the register. This spares a branch
 * on every bit of the size: records of all sizes would make each one go wrong half of the time. */
CRC static inline uint32_t crc_head(uint32_t crc, const uint8_t *at, size_t head) {
  uint64_t word = (cst__load64(at) ^ crc) << (64 - 8 * head);
  uint32_t beyond = (uint32_t)((uint64_t)crc >> (8 * head - 8) >> 8);
  return crc_word(0, word) ^ beyond;
}

/* Three pieces of n words (n >= 1) side by side: crc32 takes 2 or 3 cycles, but one can begin in
 * every cycle. */
CRC_AND_PRODUCT static inline uint32_t crc_three(uint32_t crc, const uint8_t *at, size_t n) {
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

CRC_AND_PRODUCT static uint32_t by_three_chains(uint32_t crc, const uint8_t *at, size_t size) {
  if (size < 8) {
    return crc_few(crc, at, size);
  }
  size_t head = ((size - 1) & 7) + 1;
  crc = crc_head(crc, at, head);
  at += head;
  size_t words = (size - head) / 8;
  for (; words >= 3 * LONGEST; words -= 3 * LONGEST, at += 24 * LONGEST) {
    crc = crc_three(crc, at, LONGEST);
  }
  if (words >= 9) {
    size_t n = words / 3;
    crc = crc_three(crc, at, n);
    at += 24 * n;
    words -= 3 * n;
  }
  for (; words > 0; words--, at += 8) {
    crc = crc_word(crc, cst__load64(at));
  }
  return crc;
}

#endif

#if HAVE_ARM

CRC static uint32_t by_one_chain(uint32_t crc, const uint8_t *at, size_t size) {
  for (; size >= 8; size -= 8, at += 8) {
    crc = crc_word(crc, cst__load64(at));
  }
  return crc_few(crc, at, size);
}

#endif

#if HAVE_X86

/* Shifts each 128-bit lane by the bits that the constants stand for, and adds `next`. */
AVX512 static inline __m512i fold(__m512i lanes, __m512i constants, __m512i next) {
  __m512i low = _mm512_clmulepi64_epi128(lanes, constants, 0x00);
  __m512i high = _mm512_clmulepi64_epi128(lanes, constants, 0x11);
  return _mm512_ternarylogic_epi64(low, high, next, 0x96);
}

AVX512 static inline __m512i load512(const void *at) { return _mm512_loadu_si512(at); }

/* The register after four lanes, of which the first three are shifted to the place of the last. */
AVX512 static inline uint32_t reduce(__m512i lanes) {
  __m512i last = _mm512_maskz_mov_epi64(0xc0, lanes);
  lanes = fold(lanes, load512(folds.to_last_lane), last);
  __m256i half =
      _mm256_xor_si256(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
  __m128i lane = _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  uint32_t crc = crc_word(0, (uint64_t)_mm_cvtsi128_si64(lane));
  return crc_word(crc, (uint64_t)_mm_extract_epi64(lane, 1));
}

/* The first `head` (1 to 64) bytes at the end of a block of zeros, as in crc_head. */
AVX512 static inline __m512i load_head(uint32_t crc, const uint8_t *at, size_t head) {
  unsigned zeros = 64 - (unsigned)head;
  const void *begin = (const void *)((uintptr_t)at - zeros); /* what lies before is not read */
  __m512i block = _mm512_maskz_loadu_epi8(~UINT64_C(0) << zeros, begin);
  __m512i seed = _mm512_castsi128_si512(_mm_cvtsi32_si128((int)crc));
  return _mm512_xor_si512(block, _mm512_maskz_expand_epi8(UINT64_C(15) << zeros, seed));
}

/* Four chains of blocks, for 4 blocks and more: the product takes longer than it keeps others from
 * beginning. */
AVX512 static inline __m512i fold_four(__m512i lanes, const uint8_t **data, size_t *blocks) {
  const uint8_t *at = *data;
  const __m512i one = load512(folds.by_1);
  const __m512i four = load512(folds.by_4);
  __m512i a = fold(lanes, one, load512(at));
  __m512i b = load512(at + 64);
  __m512i c = load512(at + 128);
  __m512i d = load512(at + 192);
  size_t n = *blocks - 4;
  for (at += 256; n >= 4; n -= 4, at += 256) {
    a = fold(a, four, load512(at));
    b = fold(b, four, load512(at + 64));
    c = fold(c, four, load512(at + 128));
    d = fold(d, four, load512(at + 192));
  }
  *data = at;
  *blocks = n;
  return fold(fold(fold(a, one, b), one, c), one, d);
}

AVX512 static uint32_t by_avx512(uint32_t crc, const uint8_t *at, size_t size) {
  if (size < 192) {
    return by_three_chains(crc, at, size);
  }
  size_t head = ((size - 1) & 63) + 1;
  __m512i lanes = load_head(crc, at, head);
  at += head;
  size_t blocks = (size - head) / 64;
  uint32_t beyond = head < 4 ? crc >> (8 * head) : 0; /* bytes of the register after the head */
  __m512i rest = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)beyond));
  lanes = fold(lanes, load512(folds.by_1), _mm512_xor_si512(load512(at), rest));
  at += 64;
  blocks--;
  if (blocks >= 8) {
    lanes = fold_four(lanes, &at, &blocks);
  }
  for (; blocks > 0; blocks--, at += 64) {
    lanes = fold(lanes, load512(folds.by_1), load512(at));
  }
  return reduce(lanes);
}

#endif /* HAVE_X86 */

static uint32_t first_call(uint32_t crc, const uint8_t *at, size_t size);
static _Atomic(crc32c_function) chosen = first_call;

static crc32c_function function_of(cst__crc32c_way way) {
#if HAVE_X86
  if (way == CST__CRC32C_SSE42) {
    return by_three_chains;
  }
  if (way == CST__CRC32C_AVX512) {
    return by_avx512;
  }
#elif HAVE_ARM
  if (way == CST__CRC32C_ARM) {
    return by_one_chain;
  }
  if (way == CST__CRC32C_PMULL) {
    return by_three_chains;
  }
#endif
  (void)way;
  return by_tables;
}

bool cst__crc32c_has(cst__crc32c_way way) {
#if HAVE_X86
  if (way == CST__CRC32C_SSE42) {
    return cst__cpu_has(CST__CPU_V2);
  }
  if (way == CST__CRC32C_AVX512) {
    return cst__cpu_has(CST__CPU_AVX512);
  }
#elif HAVE_ARM
  if (way == CST__CRC32C_ARM) {
    return cst__cpu_has(CST__CPU_ARM_CRC);
  }
  if (way == CST__CRC32C_PMULL) {
    return cst__cpu_has(CST__CPU_ARM_PMULL);
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
  for (size_t i = 0; i < 8; i++) {
    size_t second = i % 2;
    folds.by_1[i] = powers[8 - second];
    folds.by_4[i] = powers[32 - second];
    folds.to_last_lane[i] = i < 6 ? powers[6 - i / 2 * 2 - second] : 0;
  }
}

static void choose_crc32c(void) {
  build_tables();
  cst__crc32c_way best = CST__CRC32C_TABLES;
  for (int way = CST__CRC32C_TABLES; way < CST__NUM_CRC32C_WAYS; way++) {
    if (cst__crc32c_has((cst__crc32c_way)way)) {
      best = (cst__crc32c_way)way;
    }
  }
  atomic_store_explicit(&chosen, function_of(best), memory_order_release);
}

static uint32_t first_call(uint32_t crc, const uint8_t *at, size_t size) {
  cst__call_once(&once, choose_crc32c);
  return atomic_load_explicit(&chosen, memory_order_acquire)(crc, at, size);
}

uint32_t cst__crc32c(uint32_t crc, const void *data, size_t size) {
  return ~atomic_load_explicit(&chosen, memory_order_acquire)(~crc, data, size);
}

uint32_t cst__crc32c_by(cst__crc32c_way way, uint32_t crc, const void *data, size_t size) {
  cst__call_once(&once, choose_crc32c);
  return ~function_of(way)(~crc, data, size);
}
