/* Handles of <columnstone/array.h> made from text, and checks of what they hold.
 */
#ifndef TESTS_UNIT_ARRAY_SAMPLE_H
#define TESTS_UNIT_ARRAY_SAMPLE_H

#include <columnstone/array.h>

#include "arrow/view.h"
#include "arrow_equal.h"
#include "arrow_text.h"

/* An array of the type and rows of arrow_text.h, validated. */
static inline cst_array *array_sample(const char *type, const char *rows) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  arrow_text(type, rows, &schema, &array);
  CHECK_EQ(cst_array_import(&schema, &array, 0, NULL, &out, &error), CST_OK);
  CHECK_STR(error.message, "");
  CHECK(array.release == NULL);
  ArrowSchemaRelease(&schema);
  return out;
}

/* The array, exported, is valid and holds the rows; its schema is of the type. */
static inline void array_sample_check(const cst_array *array, const char *type, const char *rows) {
  struct ArrowArray out;
  cst__arena arena;
  cst__view a;
  cst__view b;
  cst_error error = CST_ERROR_INIT;
  cst_array *expected = array_sample(type, rows);
  struct ArrowArray plain;
  CHECK(cst__schema_equal(cst_array_schema(array), cst_array_schema(expected)));
  CHECK_EQ(cst_array_length(array), cst_array_length(expected));
  CHECK_EQ(cst_array_export(array, &out, &error), CST_OK);
  CHECK_EQ(cst_array_export(expected, &plain, &error), CST_OK);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&a, cst_array_schema(array), &out, false, &arena, &error), CST_OK);
  CHECK_STR(error.message, "");
  CHECK_EQ(cst__view_init(&b, cst_array_schema(expected), &plain, false, &arena, &error), CST_OK);
  arrow_equal_slots(&a, 0, a.length, &b, 0);
  cst__arena_reset(&arena);
  out.release(&out);
  plain.release(&plain);
  cst_array_release(expected);
}

#endif
