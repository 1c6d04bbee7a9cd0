/* UTF-8 validation: ASCII in strides, other characters by vectors where the processor has AVX2, and
 * else one by one.
 *
 * Source of the vectors: Keiser and Lemire, "Validating UTF-8 in less than one instruction per
 * byte" (2021).
 */
#include "base/utf8.h"

#include "base/cpu_features.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static bool is_tail(uint8_t c) { return (c & 0xc0) == 0x80; }

size_t cst__utf8_char_size(const uint8_t *s, size_t size) {
  if (size == 0) {
    return 0;
  }
  uint8_t c = s[0];
  if (c < 0x80) {
    return 1;
  }
  if (c >= 0xc2 && c <= 0xdf) {
    return size >= 2 && is_tail(s[1]) ? 2 : 0;
  }
  if (c >= 0xe0 && c <= 0xef) {
    /* The second byte excludes overlongs (E0) and surrogates (ED). */
    uint8_t low = c == 0xe0 ? 0xa0 : 0x80;
    uint8_t high = c == 0xed ? 0x9f : 0xbf;
    return size >= 3 && s[1] >= low && s[1] <= high && is_tail(s[2]) ? 3 : 0;
  }
  if (c >= 0xf0 && c <= 0xf4) {
    uint8_t low = c == 0xf0 ? 0x90 : 0x80;
    uint8_t high = c == 0xf4 ? 0x8f : 0xbf;
    return size >= 4 && s[1] >= low && s[1] <= high && is_tail(s[2]) && is_tail(s[3]) ? 4 : 0;
  }
  return 0;
}

size_t cst__utf8_ascii_prefix(const uint8_t *bytes, size_t size) {
  enum { STRIDE = 64 };
  size_t i = 0;
  uint8_t high = 0;
  for (; size - i >= STRIDE; i += STRIDE) { /* the compiler makes vectors of it */
    for (size_t k = 0; k < STRIDE; k++) {
      high |= bytes[i + k];
    }
    if (high & 0x80) {
      return i;
    }
  }
  for (size_t k = i; k < size; k++) {
    high |= bytes[k];
  }
  return high & 0x80 ? i : size;
}

/* The index of the next byte that is not ASCII; `size`: there is none. */
static inline size_t pass_ascii(const uint8_t *bytes, size_t size, size_t i) {
  const uint64_t highs = UINT64_C(0x8080808080808080);
  uint64_t words[4];
  for (; size - i >= sizeof words; i += sizeof words) {
    memcpy(words, bytes + i, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & highs) != 0) {
      break;
    }
  }
  for (; size - i >= sizeof *words; i += sizeof *words) {
    memcpy(words, bytes + i, sizeof *words);
    if ((words[0] & highs) != 0) {
      return i + (size_t)__builtin_ctzll(words[0] & highs) / 8; /* little-endian */
    }
  }
  while (i < size && bytes[i] < 0x80) {
    i++;
  }
  return i;
}

#if defined(__x86_64__)
#define USES_AVX2 __attribute__((target("avx2")))

/* The faults that two neighbouring bytes can show, one bit each. A table for each half of the first
 * byte, and one for the upper half of the second, name those that are possible; what all three name
 * is so. */
enum {
  TOO_SHORT = 1 << 0,      /* a lead, and then no tail */
  TOO_LONG = 1 << 1,       /* ASCII, and then a tail */
  OVERLONG_3 = 1 << 2,     /* E0 80 to E0 9F */
  TOO_LARGE = 1 << 3,      /* F4 90 and above */
  SURROGATE = 1 << 4,      /* ED A0 to ED BF */
  OVERLONG_2 = 1 << 5,     /* C0 and C1 */
  TOO_LARGE_1000 = 1 << 6, /* F5 and above, and then 80 to 8F; with F0, an overlong one of four */
  TWO_TAILS = 1 << 7,      /* right only as the third or the fourth byte of a character */
  CARRY = TOO_SHORT | TOO_LONG | TWO_TAILS, /* whatever the lower half of the first byte is */
  OVERLONG_4 = TOO_LARGE_1000
};

/* A table of 16, for both halves of a vector. */
USES_AVX2 static inline __m256i look_up(const uint8_t *table, __m256i nibbles) {
  const __m128i half = _mm_loadu_si128((const __m128i *)(const void *)table);
  return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(half), nibbles);
}

USES_AVX2 static inline __m256i upper_nibbles(__m256i bytes) {
  return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(15));
}

/* Not zero where a byte and those in front of it are no UTF-8. `crossing` has the last 16 bytes in
 * front of `bytes` and the first 16 of these. */
USES_AVX2 static inline __m256i find_faults(__m256i bytes, __m256i crossing) {
  enum {
    BEYOND = CARRY | TOO_LARGE | TOO_LARGE_1000,
    TAIL = TOO_LONG | OVERLONG_2 | TWO_TAILS,
    TAIL_8 = TAIL | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4,
    TAIL_9 = TAIL | OVERLONG_3 | TOO_LARGE,
    TAIL_A = TAIL | SURROGATE | TOO_LARGE
  };
  /* clang-format off */
  static const uint8_t first_upper[16] = {
      TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
      TWO_TAILS, TWO_TAILS, TWO_TAILS, TWO_TAILS, TOO_SHORT | OVERLONG_2, TOO_SHORT,
      TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4};
  static const uint8_t first_lower[16] = {
      CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4, CARRY | OVERLONG_2, CARRY, CARRY,
      CARRY | TOO_LARGE, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND, BEYOND,
      BEYOND, BEYOND | SURROGATE, BEYOND, BEYOND};
  static const uint8_t second_upper[16] = {
      TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
      TAIL_8, TAIL_9, TAIL_A, TAIL_A, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT};
  /* clang-format on */
  const __m256i one_before = _mm256_alignr_epi8(bytes, crossing, 15);
  const __m256i two_before = _mm256_alignr_epi8(bytes, crossing, 14);
  const __m256i three_before = _mm256_alignr_epi8(bytes, crossing, 13);
  const __m256i faults = _mm256_and_si256(
      _mm256_and_si256(look_up(first_upper, upper_nibbles(one_before)),
                       look_up(first_lower, _mm256_and_si256(one_before, _mm256_set1_epi8(15)))),
      look_up(second_upper, upper_nibbles(bytes)));
  /* After E0 and above, or F0 and above, this is the third or the fourth byte: bit 7 is set. */
  const __m256i third = _mm256_subs_epu8(two_before, _mm256_set1_epi8((char)(0xe0 - 0x80)));
  const __m256i fourth = _mm256_subs_epu8(three_before, _mm256_set1_epi8((char)(0xf0 - 0x80)));
  const __m256i is_later =
      _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
  return _mm256_xor_si256(faults, is_later);
}

/* How many bytes at the start are whole characters that are valid; there may be some more. */
USES_AVX2 static size_t valid_blocks(const uint8_t *bytes, size_t size) {
  enum { BLOCK = 32 };
  size_t i = 0;
  __m256i before = _mm256_setzero_si256();
  for (; size - i >= BLOCK; i += BLOCK) {
    const __m256i block = _mm256_loadu_si256((const __m256i *)(const void *)(bytes + i));
    const __m256i crossing = _mm256_permute2x128_si256(before, block, 0x21);
    const __m256i faults = find_faults(block, crossing);
    if (!_mm256_testz_si256(faults, faults)) {
      break;
    }
    before = block;
  }
  for (size_t k = 1; k <= 3 && k <= i; k++) { /* a character that goes on beyond is not whole */
    if (bytes[i - k] >= 0xc0) {
      return i - k;
    }
  }
  return i;
}
#endif

size_t cst__utf8_valid_prefix(const uint8_t *bytes, size_t size) {
  size_t i = cst__utf8_ascii_prefix(bytes, size);
#if defined(__x86_64__)
  enum { LONG = 64 };
  if (size - i >= LONG && cst__cpu_has(CST__CPU_V3)) {
    i += valid_blocks(bytes + i, size - i);
  }
#endif
  while (i < size) {
    if (bytes[i] < 0x80) {
      i = pass_ascii(bytes, size, i);
      continue;
    }
    size_t length = cst__utf8_char_size(bytes + i, size - i);
    if (length == 0) {
      return i;
    }
    i += length;
  }
  return size;
}
