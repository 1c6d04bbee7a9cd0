/* Digits sixteen at a time, with a point among them, by SSE2: without branches that depend on how
 * many there are.
 */
#ifndef TEXT_SIXTEEN_DIGITS_H
#define TEXT_SIXTEEN_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>

/* Bit i: byte i of the 16 is no digit. */
static inline unsigned cst__find_others(const uint8_t *at) {
  const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)at);
  const __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
  const __m128i nine = _mm_set1_epi8(9);
  return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(digits, nine), nine)) ^ 0xffff;
}

/* All bits in the first `count` of 16 bytes. */
static inline __m128i cst__first_bytes(size_t count) {
  static const uint8_t bytes[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                    255, 255, 255, 255, 255, 255, 255, 255};
  return _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 - count));
}

/* The number that 16 digits make; the first is the highest. */
static inline uint64_t cst__sixteen_digits(__m128i digits) {
  const __m128i evens = _mm_and_si128(digits, _mm_set1_epi16(0xff));
  const __m128i twos =
      _mm_add_epi16(_mm_mullo_epi16(evens, _mm_set1_epi16(10)), _mm_srli_epi16(digits, 8));
  const __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(1 << 16 | 100));
  const __m128i eights =
      _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(1 << 16 | 10000));
  const uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
  return (both & UINT32_MAX) * 100000000 + (both >> 32);
}

/* The first 16 of `count` digits that have a point after `whole` of them; zeros fill up. */
static inline uint64_t cst__first_digits(const uint8_t *at, size_t whole, size_t count) {
  enum { FULL = 16 };
  const __m128i before = cst__first_bytes(whole);
  const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)at);
  const __m128i later = _mm_loadu_si128((const __m128i *)(const void *)(at + 1));
  const __m128i joined = _mm_or_si128(_mm_and_si128(before, text), _mm_andnot_si128(before, later));
  return cst__sixteen_digits(_mm_and_si128(_mm_sub_epi8(joined, _mm_set1_epi8('0')),
                                           cst__first_bytes(count < FULL ? count : FULL)));
}
#endif

#endif /* TEXT_SIXTEEN_DIGITS_H */
