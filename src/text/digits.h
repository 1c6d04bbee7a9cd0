/* Digits eight at a time: little-endian words of ASCII. */
#ifndef TEXT_DIGITS_H
#define TEXT_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static inline bool cst__is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

static inline bool cst__are_digits(uint64_t word) {
  return ((word & UINT64_C(0xf0f0f0f0f0f0f0f0)) |
          (((word + UINT64_C(0x0606060606060606)) & UINT64_C(0xf0f0f0f0f0f0f0f0)) >> 4)) ==
         UINT64_C(0x3333333333333333);
}

static inline uint64_t cst__digits_value(uint64_t word) {
  word -= UINT64_C(0x3030303030303030);
  word = word * 10 + (word >> 8);
  return (((word & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
          (((word >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
         32;
}

#define CST__ZEROS UINT64_C(0x3030303030303030) /* eight times '0' */

/* The way back, for a number below 10^8: eight digits, each the value of a byte, the first lowest.
 */
static inline uint64_t cst__spread_digits(uint32_t number) {
  const uint64_t fours = number / 10000 | (uint64_t)(number % 10000) << 32;
  const uint64_t hundreds = (fours * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
  const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
  const uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);
  return tens | (twos - tens * 10) << 8;
}

/* The same for sixteen digits, of two such numbers. */
static inline void cst__spread_sixteen(uint32_t left, uint32_t right, uint64_t digits[2]) {
#if defined(__SSE2__)
  const __m128i eights = _mm_set_epi64x(right, left);
  __m128i high = _mm_srli_epi64(_mm_mul_epu32(eights, _mm_set1_epi64x(0xd1b71759)), 45);
  __m128i low = _mm_sub_epi64(eights, _mm_mul_epu32(high, _mm_set1_epi64x(10000)));
  const __m128i fours = _mm_or_si128(high, _mm_slli_epi64(low, 32));
  high = _mm_srli_epi16(_mm_mulhi_epu16(fours, _mm_set1_epi32(5243)), 3);
  low = _mm_sub_epi16(fours, _mm_mullo_epi16(high, _mm_set1_epi32(100)));
  const __m128i twos = _mm_or_si128(high, _mm_slli_epi32(low, 16));
  high = _mm_mulhi_epu16(twos, _mm_set1_epi16(6554));
  low = _mm_sub_epi16(twos, _mm_mullo_epi16(high, _mm_set1_epi16(10)));
  _mm_storeu_si128((__m128i *)digits, _mm_or_si128(high, _mm_slli_epi16(low, 8)));
#else
  digits[0] = cst__spread_digits(left);
  digits[1] = cst__spread_digits(right);
#endif
}

/* The same for four digits, of a number below 10^4. */
static inline uint32_t cst__spread_four(uint32_t number) {
  const uint32_t hundreds = number * 5243 >> 19;
  const uint32_t twos = hundreds | (number - hundreds * 100) << 16;
  const uint32_t tens = (twos * 103 >> 10) & 0x000f000f;
  return tens | (twos - tens * 10) << 8;
}

/* Writes a number below 10^8 without zeros in front, and bytes after it: eight in all at most.
 * Returns its size. */
static inline size_t cst__put_few(char *to, uint32_t number) {
  if (number < 10000) {
    const uint32_t digits = cst__spread_four(number);
    const int zeros = __builtin_ctz(digits | UINT32_C(1) << 24) / 8; /* one zero is the number */
    const uint32_t text = (digits | (uint32_t)CST__ZEROS) >> (8 * zeros);
    memcpy(to, &text, sizeof text);
    return sizeof text - (size_t)zeros;
  }
  const uint64_t digits = cst__spread_digits(number);
  const int zeros = __builtin_ctzll(digits) / 8;
  const uint64_t text = (digits | CST__ZEROS) >> (8 * zeros);
  memcpy(to, &text, sizeof text);
  return sizeof text - (size_t)zeros;
}

/* How many of the eight bytes are digits, before the first that is none. */
static inline size_t cst__count_digits(uint64_t word) {
  uint64_t digits = word ^ UINT64_C(0x3030303030303030);
  uint64_t others = (digits | (digits + UINT64_C(0x7676767676767676))) & /* more than 9 */
                    UINT64_C(0x8080808080808080);
  return others != 0 ? (size_t)__builtin_ctzll(others) / 8 : 8;
}

/* The number that the first digits of a word, 1 to 8, make of one before them. */
static inline uint64_t cst__append_digits(uint64_t number, uint64_t word, size_t count) {
  static const uint64_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  uint64_t zeros = UINT64_C(0x3030303030303030) >> (8 * count - 1) >> 1; /* in front of fewer */
  return number * tens[count] + cst__digits_value(word << (64 - 8 * count) | zeros);
}

/* Adds the digits from *at on to *value, which wraps; returns their number, and moves *at. */
static inline size_t cst__take_digits(const uint8_t **at, const uint8_t *end, uint64_t *value) {
  const uint8_t *begin = *at;
  const uint8_t *here = begin;
  uint64_t sum = *value;
  while (end - here >= 8) {
    uint64_t word = cst__load64(here);
    if (!cst__are_digits(word)) {
      break;
    }
    sum = sum * 100000000 + cst__digits_value(word);
    here += 8;
  }
  while (here < end && cst__is_digit(*here)) {
    sum = sum * 10 + (uint64_t)(*here++ - '0');
  }
  *value = sum;
  *at = here;
  return (size_t)(here - begin);
}

#endif /* TEXT_DIGITS_H */
