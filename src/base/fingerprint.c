/* FarmHash Fingerprint64: one way to mix for each of four ranges of sizes.
 *
 * Source: FarmHash ("farmhashna", Geoff Pike); its results are fixed for ever.
 */
#include "base/fingerprint.h"

#include "base/hash.h"

#define PRIME_0 UINT64_C(0xc3a5c85c97cb3127)
#define PRIME_1 UINT64_C(0xb492b66fbe98f273)
#define PRIME_2 UINT64_C(0x9ae16a3b2f90404f)

static inline uint64_t rotate(uint64_t word, int by) { return word >> by | word << (64 - by); }

static inline uint64_t mix_shift(uint64_t word) { return word ^ (word >> 47); }

/* Two words to one. */
static inline uint64_t mix_words(uint64_t u, uint64_t v, uint64_t by) {
  uint64_t a = mix_shift((u ^ v) * by);
  return mix_shift((v ^ a) * by) * by;
}

static uint64_t fingerprint_to_16(const uint8_t *bytes, size_t size) {
  uint64_t by = PRIME_2 + size * 2;
  if (size >= 8) {
    uint64_t a = cst__load64(bytes) + PRIME_2;
    uint64_t b = cst__load64(bytes + size - 8);
    return mix_words(rotate(b, 37) * by + a, (rotate(a, 25) + b) * by, by);
  }
  if (size >= 4) {
    uint64_t a = cst__load_tail(bytes, 4);
    return mix_words(size + (a << 3), cst__load_tail(bytes + size - 4, 4), by);
  }
  if (size > 0) {
    uint64_t first = bytes[0] + ((uint64_t)bytes[size >> 1] << 8);
    uint64_t last = size + ((uint64_t)bytes[size - 1] << 2);
    return mix_shift((first * PRIME_2) ^ (last * PRIME_0)) * PRIME_2;
  }
  return PRIME_2;
}

/* The two words that 17 and more bytes are mixed to at first. */
typedef struct word_pair {
  uint64_t first;
  uint64_t second;
} word_pair;

static word_pair mix_ends(uint64_t a, const uint8_t *bytes, size_t size, uint64_t by) {
  uint64_t b = cst__load64(bytes + 8);
  uint64_t c = cst__load64(bytes + size - 8) * by;
  uint64_t d = cst__load64(bytes + size - 16) * PRIME_2;
  return (word_pair){rotate(a + b, 43) + rotate(c, 30) + d, a + rotate(b + PRIME_2, 18) + c};
}

static uint64_t fingerprint_to_32(const uint8_t *bytes, size_t size) {
  uint64_t by = PRIME_2 + size * 2;
  word_pair ends = mix_ends(cst__load64(bytes) * PRIME_1, bytes, size, by);
  return mix_words(ends.first, ends.second, by);
}

static uint64_t fingerprint_to_64(const uint8_t *bytes, size_t size) {
  uint64_t by = PRIME_2 + size * 2;
  uint64_t a = cst__load64(bytes) * PRIME_2;
  word_pair ends = mix_ends(a, bytes, size, by);
  uint64_t y = ends.first;
  uint64_t z = mix_words(y, ends.second, by);
  uint64_t e = cst__load64(bytes + 16) * by;
  uint64_t f = cst__load64(bytes + 24);
  uint64_t g = (y + cst__load64(bytes + size - 32)) * by;
  uint64_t h = (z + cst__load64(bytes + size - 24)) * by;
  return mix_words(rotate(e + f, 43) + rotate(g, 30) + h, e + rotate(f + a, 18) + g, by);
}

/* 32 bytes and two words to two words. */
static inline word_pair mix_32(const uint8_t *bytes, uint64_t a, uint64_t b) {
  uint64_t last = cst__load64(bytes + 24);
  a += cst__load64(bytes);
  b = rotate(b + a + last, 21);
  uint64_t before = a;
  a += cst__load64(bytes + 8) + cst__load64(bytes + 16);
  return (word_pair){a + last, b + rotate(a, 44) + before};
}

typedef struct fingerprint_state {
  uint64_t x;
  uint64_t y;
  uint64_t z;
  word_pair v;
  word_pair w;
} fingerprint_state;

/* 64 bytes; `times` is 1, and 9 for the last ones. */
static inline void mix_64(fingerprint_state *s, const uint8_t *bytes, uint64_t by, uint64_t times) {
  uint64_t x = rotate(s->x + s->y + s->v.first + cst__load64(bytes + 8), 37) * by;
  uint64_t y = rotate(s->y + s->v.second + cst__load64(bytes + 48), 42) * by;
  x ^= s->w.second * times;
  y += s->v.first * times + cst__load64(bytes + 40);
  uint64_t z = rotate(s->z + s->w.first, 33) * by;
  s->v = mix_32(bytes, s->v.second * by, x + s->w.first);
  s->w = mix_32(bytes + 32, z + s->w.second, y + cst__load64(bytes + 16));
  s->x = z;
  s->y = y;
  s->z = x;
}

static uint64_t fingerprint_long(const uint8_t *bytes, size_t size) {
  const uint64_t seed = 81;
  fingerprint_state s = {.x = seed * PRIME_2 + cst__load64(bytes), .y = seed * PRIME_1 + 113};
  s.z = mix_shift(s.y * PRIME_2 + 113) * PRIME_2;
  const uint8_t *end = bytes + (size - 1) / 64 * 64;
  const uint8_t *last = bytes + size - 64;
  for (; bytes != end; bytes += 64) {
    mix_64(&s, bytes, PRIME_1, 1);
  }
  uint64_t by = PRIME_1 + ((s.z & 0xff) << 1);
  s.w.first += (size - 1) & 63;
  s.v.first += s.w.first;
  s.w.first += s.v.first;
  mix_64(&s, last, by, 9);
  return mix_words(mix_words(s.v.first, s.w.first, by) + mix_shift(s.y) * PRIME_0 + s.z,
                   mix_words(s.v.second, s.w.second, by) + s.x, by);
}

uint64_t cst__fingerprint64(const uint8_t *bytes, size_t size) {
  return size <= 16   ? fingerprint_to_16(bytes, size)
         : size <= 32 ? fingerprint_to_32(bytes, size)
         : size <= 64 ? fingerprint_to_64(bytes, size)
                      : fingerprint_long(bytes, size);
}
