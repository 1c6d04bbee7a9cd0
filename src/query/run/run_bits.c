/* Bools as bits, a word of them at a time. */
#include "arrow/owned.h"
#include "query/run/steps_run.h"

/* Bits from `offset` on as words, unset after the last. */
static uint64_t *words_of_bits(const cst__step_call *c, const void *bits, int64_t offset,
                               int64_t count) {
  int64_t last = count / 64;
  uint64_t *words = cst__step_bytes(c, (last + 1) * (int64_t)sizeof *words);
  if (words != NULL) {
    words[last] = 0;
    cst__bits_copy((uint8_t *)words, 0, bits, offset, count);
  }
  return words;
}

static uint64_t *words_of_one(const cst__step_call *c, bool is_true, int64_t count) {
  size_t size = (size_t)(count / 64 + 1) * sizeof(uint64_t);
  uint64_t *words = cst__step_bytes(c, (int64_t)size);
  if (words != NULL) {
    memset(words, 0, size);
    cst__bits_set((uint8_t *)words, 0, is_true ? count : 0);
  }
  return words;
}

uint64_t *cst__bool_words(const cst__step_call *c, const cst__view *bools, bool is_one,
                          int64_t count) {
  if (bools->layout != CST__LAYOUT_BOOL || is_one || count == 0) {
    bool is_true =
        bools->layout == CST__LAYOUT_BOOL && count > 0 && cst__bool_is_true(bools, true, 0);
    return words_of_one(c, is_true, count);
  }
  uint64_t *words = words_of_bits(c, bools->data, bools->offset, count);
  if (words == NULL || bools->validity == NULL) {
    return words;
  }
  const uint64_t *valid = words_of_bits(c, bools->validity, bools->offset, count);
  for (int64_t i = 0; valid != NULL && i <= count / 64; i++) {
    words[i] &= valid[i];
  }
  return valid != NULL ? words : NULL;
}
