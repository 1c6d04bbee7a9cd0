/* Hashes of values for sketches. */
#include "sketch/hashes.h"

#include <math.h>
#include <string.h>

#include "base/cpu_features.h"
#include "base/hash.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)
#define STEP UINT64_C(0xa0761d6478bd642f)
#define MIX_1 UINT64_C(0xbf58476d1ce4e5b9)
#define MIX_2 UINT64_C(0x94d049bb133111eb)
#define NAN_BITS UINT64_C(0x7ff8000000000000)
#define OTHER UINT64_C(0xe7037ed1a0b428db)

static inline uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * MIX_1;
  x = (x ^ (x >> 27)) * MIX_2;
  return x ^ (x >> 31);
}

uint64_t cst__hash_key(uint64_t seed) { return mix(seed + GOLDEN); }

/* Of more than 8 bytes. */
static uint64_t word_of_many(const uint8_t *at, size_t size, uint64_t key) {
  const uint8_t *end = at + size;
  uint64_t h = key;
  for (; end - at > 16; at += 16) {
    h = cst__fold(cst__load64(at) ^ h, cst__load64(at + 8) ^ OTHER);
  }
  const uint8_t *first = size >= 16 ? end - 16 : at;
  return cst__fold(cst__load64(first) ^ h, cst__load64(end - 8) ^ OTHER);
}

static inline uint64_t word_of_bytes(cst_bytes value, uint64_t key) {
  uint64_t word = value.size <= 8 ? cst__word_of_few(value.data, value.size)
                                  : word_of_many(value.data, value.size, key);
  return word ^ (key + value.size * STEP);
}

uint64_t cst__hash_bytes(cst_bytes value, uint64_t key) { return mix(word_of_bytes(value, key)); }

uint64_t cst__float_bits(double value) {
  uint64_t bits;
  double one = value + 0.0; /* -0 + 0 is 0 */
  memcpy(&bits, &one, sizeof bits);
  return isnan(value) ? NAN_BITS : bits;
}

/* ---- blocks ---- */

static inline void mix_each(uint64_t *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    words[i] = mix(words[i]);
  }
}

static void mix_plainly(uint64_t *words, size_t count) { mix_each(words, count); }

#if defined(__x86_64__)
/* The compiler makes vectors of it. */
__attribute__((target("avx512f,avx512dq"))) static void mix_by_avx512(uint64_t *words,
                                                                      size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint64_t x = words[i];
    x = (x ^ (x >> 30)) * MIX_1;
    x = (x ^ (x >> 27)) * MIX_2;
    words[i] = x ^ (x >> 31);
  }
}
#endif

static void mix_all(uint64_t *words, size_t count) {
#if defined(__x86_64__)
  if (cst__cpu_has(CST__CPU_AVX512)) {
    mix_by_avx512(words, count);
    return;
  }
#endif
  mix_plainly(words, count);
}

/* Strings of 8 bytes that lie one after the other are read at once; false if these do not. */
static bool words_of_eights(const cst_bytes *bytes, size_t count, uint64_t key, uint64_t *words) {
  uint64_t others = 0;
  for (size_t i = 0; i < count; i++) {
    others |= (bytes[i].size ^ 8) | (uint64_t)(bytes[i].data - bytes[0].data - (ptrdiff_t)(8 * i));
  }
  for (size_t i = 0; others == 0 && i < count; i++) {
    words[i] = cst__load64(bytes[0].data + 8 * i) ^ (key + 8 * STEP);
  }
  return others == 0;
}

static void words_of(const cst__value_block *values, uint64_t key, uint64_t *words) {
  const int64_t *ints = values->items;
  const uint64_t *uints = values->items;
  const double *floats = values->items;
  const cst_bytes *bytes = values->items;
  size_t count = values->count;
  switch (values->family) {
    case CST__FAMILY_INT:
      for (size_t i = 0; i < count; i++) {
        words[i] = (uint64_t)ints[i] ^ (key + (ints[i] < 0 ? STEP : 0));
      }
      break;
    case CST__FAMILY_UINT:
      for (size_t i = 0; i < count; i++) {
        words[i] = uints[i] ^ key;
      }
      break;
    case CST__FAMILY_FLOAT:
      for (size_t i = 0; i < count; i++) {
        words[i] = cst__float_bits(floats[i]) ^ key;
      }
      break;
    case CST__FAMILY_BYTES:
      for (size_t i = words_of_eights(bytes, count, key, words) ? count : 0; i < count; i++) {
        words[i] = word_of_bytes(bytes[i], key);
      }
      break;
    default:
      break;
  }
}

void cst__hash_values(const cst__value_block *values, uint64_t key, uint64_t *hashes) {
  words_of(values, key, hashes);
  mix_all(hashes, values->count);
}
