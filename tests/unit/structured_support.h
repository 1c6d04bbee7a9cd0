/* Nested tensors from text, and checks of what they hold.
 */
#ifndef TESTS_UNIT_STRUCTURED_SUPPORT_H
#define TESTS_UNIT_STRUCTURED_SUPPORT_H

#include <columnstone/structured.h>

#include "lists_support.h"

/* A tensor of an array, which is released. */
static inline cst_structured *structured_of(cst_array *array, bool is_row) {
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_new(array, is_row, &out, NULL), CST_OK);
  cst_array_release(array);
  return out;
}

/* A tensor whose rows are those of the text; of arrow_text.h. */
static inline cst_structured *structured_sample(const char *type, const char *rows) {
  return structured_of(array_sample(type, rows), false);
}

/* A tensor that is the one row of the text. */
static inline cst_structured *structured_row(const char *type, const char *row) {
  return structured_of(array_sample(type, row), true);
}

/* The tensor is what the text says, type included; it is released. */
static inline void structured_check(cst_structured *actual, bool is_row, const char *type,
                                    const char *rows) {
  CHECK(actual != NULL);
  CHECK_EQ(cst_structured_is_row(actual), is_row);
  array_sample_check(cst_structured_array(actual), type, rows);
  cst_structured_release(actual);
}

#endif
