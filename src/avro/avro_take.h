/* Reading numbers, and what is as many bytes as a number says, for the loop that takes steps. There
 * are CST__AVRO_SLACK readable bytes after the end, so that a number is read without a look at it,
 * and few bytes are copied as a fixed number. */
#ifndef AVRO_AVRO_TAKE_H
#define AVRO_AVRO_TAKE_H

#include <string.h>

#include "arrow/builder.h"
#include "avro/avro_bytes.h"
#include "avro/avro_program.h"
#include "base/hash.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* In registers, and not in memory that the quick ways would have to look at. */
typedef struct cst__avro_taken {
  const uint8_t *at;
  uint64_t bits;
} cst__avro_taken;

/* Numbers of more than 8 bytes. */
static __attribute__((noinline, unused)) cst__avro_taken cst__avro_take_many(const uint8_t *at) {
  uint64_t bits = 0;
  at = cst__avro_read_bits(at, at + CST__AVRO_MOST_LONG, &bits);
  return (cst__avro_taken){at, bits};
}

/* NULL: more than 64 bits. */
ALWAYS_INLINE const uint8_t *cst__avro_take_bits(const uint8_t *at, uint64_t *out) {
  uint64_t word = cst__load64(at);
  if (LIKELY((word & 0x80) == 0)) {
    *out = word & 0x7f;
    return at + 1;
  }
  if (LIKELY((word & 0x8000) == 0)) {
    *out = (word & 0x7f) | (word & 0x7f00) >> 1;
    return at + 2;
  }
  uint64_t stops = ~word & UINT64_C(0x8080808080808080);
  if (UNLIKELY(stops == 0)) {
    const cst__avro_taken many = cst__avro_take_many(at);
    *out = many.bits;
    return many.at;
  }
  /* The groups of 7 bits are closed up, in pairs, fours and eights. */
  uint64_t x = word & (stops ^ (stops - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
  x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x7f007f007f007f00)) >> 1;
  x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x3fff00003fff0000)) >> 2;
  *out = (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
  return at + (__builtin_ctzll(stops) >> 3) + 1;
}

ALWAYS_INLINE const uint8_t *cst__avro_take_long(const uint8_t *at, int64_t *out) {
  uint64_t raw = 0;
  at = cst__avro_take_bits(at, &raw);
  *out = cst__avro_signed(raw);
  return at;
}

/* The length before so many bytes, which are there; NULL: they are not. Most are less than 64. */
ALWAYS_INLINE const uint8_t *cst__avro_take_size(const uint8_t *at, const uint8_t *end,
                                                 int64_t *out) {
  if (LIKELY((*at & 0x81) == 0)) {
    *out = *at++ >> 1;
  } else {
    at = cst__avro_take_long(at, out);
  }
  return UNLIKELY(at == NULL || at > end || *out < 0 || *out > end - at) ? NULL : at;
}

ALWAYS_INLINE bool cst__avro_is_ascii(const uint8_t *at, size_t size) {
  uint64_t high = 0;
#if defined(__SSE2__)
  if (LIKELY(size <= CST__AVRO_SLACK)) {
    uint64_t low = (unsigned)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)at));
    uint64_t next = (unsigned)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(at + 16)));
    return ((low | next << 16) & ((UINT64_C(1) << size) - 1)) == 0;
  }
#elif defined(__ARM_NEON)
  if (LIKELY(size <= CST__AVRO_SLACK)) {
    static const uint8_t places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const uint8x16_t low_place = vld1q_u8(places);
    const uint8x16_t end = vdupq_n_u8((uint8_t)size);
    uint8x16_t low = vandq_u8(vld1q_u8(at), vcltq_u8(low_place, end));
    uint8x16_t next =
        vandq_u8(vld1q_u8(at + 16), vcltq_u8(vaddq_u8(low_place, vdupq_n_u8(16)), end));
    return vmaxvq_u8(vorrq_u8(low, next)) < 0x80;
  }
#endif
  for (; size > 8; size -= 8, at += 8) {
    high |= cst__load64(at);
  }
  if (size > 0) {
    high |= cst__load64(at) << (64 - size * 8);
  }
  return (high & UINT64_C(0x8080808080808080)) == 0;
}

/* Appends bytes. Few of them are copied as a fixed number, without a branch that the lengths of
 * strings would mislead: there are readable bytes after them. */
ALWAYS_INLINE bool cst__avro_put_bytes(cst__builder *to, const uint8_t *at, size_t size) {
  if (UNLIKELY(!cst__builder_has_room(to) || !cst__builder_has_bytes(to, size + CST__AVRO_SLACK))) {
    return false;
  }
  uint8_t *out = to->values + to->num_bytes;
  if (LIKELY(size <= CST__AVRO_SLACK)) {
    memcpy(out, at, CST__AVRO_SLACK);
  } else {
    memcpy(out, at, size);
  }
  cst__builder_put_string(to, size);
  return true;
}

/* ---- lists, in a file of their own ---- */

typedef enum cst__avro_items_result {
  CST__AVRO_ITEMS_DONE,
  CST__AVRO_ITEMS_CUT,
  CST__AVRO_ITEMS_WRONG,
  CST__AVRO_ITEMS_NO_MEMORY
} cst__avro_items_result;

/* Takes a block of items of which each is this one step: the place after them, or where it failed.
 */
const uint8_t *cst__avro_take_items(const cst__avro_step *step, const uint8_t *at,
                                    const uint8_t *end, int64_t count,
                                    cst__avro_items_result *result);

/* Passes a whole list, SKIP_LIST_PLAIN, that nobody wants: the place after it. NULL: something of
 * it is damaged or rare, and the steps find out what. */
const uint8_t *cst__avro_pass_list(const cst__avro_step *steps, const cst__avro_step *list,
                                   const uint8_t *at, const uint8_t *end);

#endif /* AVRO_AVRO_TAKE_H */
