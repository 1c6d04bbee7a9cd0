/* Nested tensors from text, and checks of what they hold.
 */
#ifndef TESTS_UNIT_STRUCTURED_SUPPORT_H
#define TESTS_UNIT_STRUCTURED_SUPPORT_H

#include <columnstone/structured.h>

#include "lists_support.h"

#define PATH(...)                                                    \
  {                                                                  \
    (const char *const[]){__VA_ARGS__},                              \
        sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *) \
  }

/* Takes the array over. */
static inline cst_structured *structured_of(cst_array *array, bool is_row) {
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_structured_new(array, is_row, &out, &error), CST_OK);
  CHECK_STR(error.message, "");
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

/* The same, be it a row or not. */
static inline void check_structured(cst_structured *actual, const char *type, const char *rows) {
  structured_check(actual, cst_structured_is_row(actual), type, rows);
}

/* The address of a buffer of the field at a path of names, from the tensor's rows on; lists have
 * their items as "item". */
static inline const void *structured_buffer(const cst_structured *tensor, const char *const *names,
                                            int64_t buffer) {
  const struct ArrowSchema *schema = cst_array_schema(cst_structured_array(tensor));
  struct ArrowArray out;
  CHECK_EQ(cst_array_export(cst_structured_array(tensor), &out, NULL), CST_OK);
  const struct ArrowArray *at = &out;
  for (; *names != NULL; names++) {
    int64_t i = 0;
    while (strcmp(schema->children[i]->name, *names) != 0) {
      i++;
      CHECK(i < schema->n_children);
    }
    schema = schema->children[i];
    at = at->children[i];
  }
  const void *address = at->buffers[buffer];
  out.release(&out);
  return address;
}

#define BUFFER(tensor, buffer, ...) \
  structured_buffer(tensor, (const char *const[]){__VA_ARGS__, NULL}, buffer)

#endif
