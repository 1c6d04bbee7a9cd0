/* Text looked through while it is copied, some bytes at a time: 16 with SSE2, else the 8 of a word.
 */
#ifndef TEXT_STRIDE_H
#define TEXT_STRIDE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

typedef __m128i cst__stride;
typedef unsigned cst__stride_bits;

static inline cst__stride cst__stride_is(cst__stride stride, uint8_t byte) {
  return _mm_cmpeq_epi8(stride, _mm_set1_epi8((char)byte));
}

static inline cst__stride cst__stride_is_control(cst__stride stride) {
  const __m128i last = _mm_set1_epi8(0x1f);
  return _mm_cmpeq_epi8(_mm_max_epu8(stride, last), last);
}

static inline cst__stride_bits cst__stride_found(cst__stride marks) {
  return (cst__stride_bits)_mm_movemask_epi8(marks);
}

static inline cst__stride_bits cst__stride_within(cst__stride_bits found, size_t size) {
  return found & ((1U << size) - 1);
}

static inline size_t cst__stride_first(cst__stride_bits found) {
  return (size_t)__builtin_ctz(found);
}
#else
typedef uint64_t cst__stride;
typedef uint64_t cst__stride_bits;

#define CST__STRIDE_ONES UINT64_C(0x0101010101010101)

static inline cst__stride cst__stride_is(cst__stride stride, uint8_t byte) {
  const uint64_t other = stride ^ (CST__STRIDE_ONES * byte);
  return (other - CST__STRIDE_ONES) & ~other;
}

static inline cst__stride cst__stride_is_control(cst__stride stride) {
  return (stride - CST__STRIDE_ONES * 0x20) & ~stride;
}

static inline cst__stride_bits cst__stride_found(cst__stride marks) {
  return marks & (CST__STRIDE_ONES * 0x80);
}

static inline cst__stride_bits cst__stride_within(cst__stride_bits found, size_t size) {
  return found & ((UINT64_C(1) << (8 * size)) - 1);
}

static inline size_t cst__stride_first(cst__stride_bits found) {
  return (size_t)__builtin_ctzll(found) / 8;
}
#endif

/* The marks of cst__stride_is and cst__stride_is_control are put together by |, and
 * cst__stride_found makes bits of them, of which cst__stride_first tells the byte of the lowest.
 * After a byte that is marked rightly, others may be marked by mistake. cst__stride_within leaves
 * those of the first bytes, fewer than a stride has. */
enum { CST__STRIDE = sizeof(cst__stride) };

static inline cst__stride cst__stride_load(const uint8_t *from) {
  cst__stride stride;
  memcpy(&stride, from, sizeof stride);
  return stride;
}

static inline cst__stride cst__stride_copy(char *to, const uint8_t *from) {
  const cst__stride stride = cst__stride_load(from);
  memcpy(to, &stride, sizeof stride);
  return stride;
}

/* The last stride, of `size` bytes: more are copied if more can be read, else zeros. */
static inline cst__stride cst__stride_copy_last(char *to, const uint8_t *from, size_t size,
                                                size_t readable) {
  uint8_t padded[CST__STRIDE] = {0};
  if (readable >= sizeof padded) {
    return cst__stride_copy(to, from);
  }
  memcpy(padded, from, size);
  return cst__stride_copy(to, padded);
}

#endif /* TEXT_STRIDE_H */
