/* More handles from text, slices and list views among them.
 */
#ifndef TESTS_UNIT_LISTS_SUPPORT_H
#define TESTS_UNIT_LISTS_SUPPORT_H

#include "array_sample.h"
#include "arrow/owned.h"

static inline cst_array *array_import(struct ArrowSchema *schema, struct ArrowArray *array) {
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_array_import(schema, array, 0, NULL, &out, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  schema->release(schema);
  return out;
}

/* `count` rows of the text, from `from` on, with an offset. */
static inline cst_array *array_slice_of(const char *type, const char *rows, int64_t from,
                                        int64_t count) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text(type, rows, &schema, &array);
  arrow_text_slice(&array, from, count);
  return array_import(&schema, &array);
}

/* The array is what the text says, type included; it is released. */
static inline void check_array(cst_array *actual, const char *type, const char *rows) {
  CHECK(actual != NULL);
  array_sample_check(actual, type, rows);
  cst_array_release(actual);
}

/* Large list views (nanoarrow builds none) of int32: [3 4] null [1 2] [] [2 3] [1 2]; the null one
 * hides a view that leads nowhere. */
static inline cst_array *array_of_list_views(int width) {
  static const int64_t offsets[] = {2, 7, 0, 4, 1, 0};
  static const int64_t sizes[] = {2, 9, 2, 0, 2, 2};
  struct ArrowSchema schema;
  struct ArrowArray lists;
  ArrowSchemaInit(&schema);
  CHECK_EQ(ArrowSchemaSetType(
               &schema, width == 8 ? NANOARROW_TYPE_LARGE_LIST_VIEW : NANOARROW_TYPE_LIST_VIEW),
           0);
  CHECK_EQ(ArrowSchemaSetType(schema.children[0], NANOARROW_TYPE_INT32), 0);
  CHECK_EQ(cst__owned_new(NULL, 3, 1, false, &lists, NULL), CST_OK);
  CHECK_EQ(cst__owned_new(NULL, 2, 0, false, lists.children[0], NULL), CST_OK);
  lists.length = 6;
  lists.null_count = 1;
  lists.children[0]->length = 4;
  int32_t *items = cst__owned_buffer(lists.children[0], 1, 16);
  uint8_t *validity = cst__owned_buffer(&lists, 0, 1);
  void *to[2] = {cst__owned_buffer(&lists, 1, 48), cst__owned_buffer(&lists, 2, 48)};
  validity[0] = 0x3d;
  for (int i = 0; i < 4; i++) items[i] = i + 1;
  for (int i = 0; i < 6; i++) {
    if (width == 8) {
      ((int64_t *)to[0])[i] = offsets[i];
      ((int64_t *)to[1])[i] = sizes[i];
    } else {
      ((int32_t *)to[0])[i] = (int32_t)offsets[i];
      ((int32_t *)to[1])[i] = (int32_t)sizes[i];
    }
  }
  return array_import(&schema, &lists);
}

/* The address of the values (buffer 1) of an array of numbers. */
static inline const void *array_values(const cst_array *array) {
  struct ArrowArray out;
  CHECK_EQ(cst_array_export(array, &out, NULL), CST_OK);
  const void *values = out.buffers[1];
  out.release(&out);
  return values;
}

#endif
