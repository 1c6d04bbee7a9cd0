/* Bitmaps, 64 elements at a time.
 */
#ifndef QUERY_FUNCTIONS_WORDS_H
#define QUERY_FUNCTIONS_WORDS_H

#include "query/functions/function.h"

/* ---- bits ---- */

/* `count` (at most 64) bits from bit `at` on; no byte is read that holds none of them. */
static inline uint64_t cst__bits_word(const uint8_t *bits, int64_t at, int64_t count) {
  const uint8_t *from = bits + (at >> 3);
  int shift = (int)(at & 7);
  if (count == 64) {
    uint64_t word = cst__load64(from) >> shift;
    return shift == 0 ? word : word | (uint64_t)from[8] << (64 - shift);
  }
  uint64_t word = 0;
  int64_t bytes = (shift + count + 7) / 8;
  for (int64_t i = 0; i < bytes && i < 8; i++) {
    word |= (uint64_t)from[i] << (8 * i);
  }
  word >>= shift;
  if (bytes > 8) {
    word |= (uint64_t)from[8] << (64 - shift);
  }
  return word & ((UINT64_C(1) << count) - 1);
}

/* 64 bytes that are 0 or 1, as bits. */
static inline uint64_t cst__bits_of_bytes(const uint8_t bytes[64]) {
  uint64_t word = 0;
  for (int i = 0; i < 8; i++) {
    uint64_t eight = cst__load64(bytes + 8 * i) * UINT64_C(0x0102040810204080) >> 56;
    word |= eight << (8 * i);
  }
  return word;
}

/* Writes the first `count` (at most 64) bits from bit `at` on, which begins a byte; the rest of the
 * last byte becomes 0. */
static inline void cst__bits_put(uint8_t *bits, int64_t at, uint64_t word, int64_t count) {
  if (count < 64) {
    word &= (UINT64_C(1) << count) - 1;
  }
  memcpy(bits + at / 8, &word, cst__bits_size(count));
}

/* ---- elements ---- */

/* Elements that are looked at together: from `at` on, 64 or what is left of them. */
typedef struct cst__stretch {
  int64_t at;
  int64_t count;
} cst__stretch;

static inline cst__stretch cst__stretch_of(int64_t at, int64_t length) {
  return (cst__stretch){at, length - at < 64 ? length - at : 64};
}

/* Those that are not null. */
static inline uint64_t cst__valid_word(const cst__view *view, bool is_one, cst__stretch s) {
  if (is_one || view->layout == CST__LAYOUT_NULL) {
    return cst__view_is_null(view, 0) ? 0 : UINT64_MAX;
  }
  return view->validity == NULL ? UINT64_MAX
                                : cst__bits_word(view->validity, view->offset + s.at, s.count);
}

/* Those that are true, whatever lies under null ones. */
static inline uint64_t cst__bools_word(const cst__view *view, bool is_one, cst__stretch s) {
  if (is_one) {
    return cst__view_bool(view, 0) ? UINT64_MAX : 0;
  }
  return cst__bits_word(view->data, view->offset + s.at, s.count);
}

/* Those that are true, and those that are false; null ones are neither. */
typedef struct cst__truth {
  uint64_t yes;
  uint64_t no;
} cst__truth;

static inline cst__truth cst__truth_word(const cst__view *view, bool is_one, cst__stretch s) {
  uint64_t valid = cst__valid_word(view, is_one, s);
  uint64_t bools = cst__bools_word(view, is_one, s);
  return (cst__truth){bools & valid, ~bools & valid};
}

#endif /* QUERY_FUNCTIONS_WORDS_H */
