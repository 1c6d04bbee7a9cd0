/* Dictionaries become their values by arrow/dictionary.h; bits become bytes here. */
#include "tensor/columns.h"

#include <string.h>

#include "arrow/dictionary.h"
#include "arrow/field.h"
#include "arrow/owned.h"
#include "arrow/view.h"

static bool has_bools(const struct ArrowSchema *schema) {
  bool found = strcmp(schema->format, "b") == 0;
  if (schema->dictionary != NULL) {
    return has_bools(schema->dictionary);
  }
  for (int64_t i = 0; i < schema->n_children && !found; i++) {
    found = has_bools(schema->children[i]);
  }
  return found;
}

bool cst__tensor_columns_differ(const struct ArrowSchema *schema) {
  return cst__schema_has_dictionary(schema) || has_bools(schema);
}

/* ---- types ---- */

static cst_status widen_types(struct ArrowSchema *schema, cst_error *error) {
  if (strcmp(schema->format, "b") == 0) {
    return cst__field_set_uint8(schema, error);
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    CST__TRY(widen_types(schema->children[i], error));
  }
  return CST_OK;
}

cst_status cst__tensor_columns_type(struct ArrowSchema *schema, cst_error *error) {
  CST__TRY(cst__schema_make_plain(schema, error));
  return widen_types(schema, error);
}

/* ---- values ---- */

/* Bits [0, offset + length) as bytes: the array keeps its offset and its validity. */
static cst_status widen_array(struct ArrowArray *array, cst__arena *arena, cst_error *error) {
  size_t count = 0;
  const void **buffers = cst__arena_take(arena, 2 * sizeof *buffers);
  if (array->n_buffers != 2 || array->buffers == NULL || array->offset < 0 || array->length < 0 ||
      array->length > CST__MAX_SLOTS - array->offset) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "an array of type bool without its buffers");
  }
  count = (size_t)(array->offset + array->length);
  const uint8_t *bits = array->buffers[1];
  uint8_t *bytes = cst__arena_take(arena, count + 1);
  if (buffers == NULL || bytes == NULL) {
    return cst__fail_memory(error, count);
  }
  if (bits == NULL && array->length > 0) {
    return cst__fail(error, CST_CORRUPT, NULL, "buffer 1 of an array of length %lld is missing",
                     (long long)array->length);
  }
  for (size_t i = (size_t)array->offset; i < count; i++) {
    bytes[i] = bits[i >> 3] >> (i & 7) & 1;
  }
  buffers[0] = array->buffers[0];
  buffers[1] = bytes;
  array->buffers = buffers;
  return CST_OK;
}

/* Only the pointer to the buffers changes, which each array has for itself. */
static cst_status widen_bools(const struct ArrowSchema *schema, struct ArrowArray *array,
                              cst__arena *arena, cst_error *error) {
  if (strcmp(schema->format, "b") == 0) {
    return widen_array(array, arena, error);
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *child = schema->children[i];
    cst_status status = widen_bools(child, array->children[i], arena, error);
    if (status != CST_OK && strcmp(schema->format, "+s") == 0) {
      cst__error_add_path(error, child->name, strlen(child->name));
    }
    CST__TRY(status);
  }
  return CST_OK;
}

static cst_status make_widened(const struct ArrowSchema *schema, struct ArrowArray *array,
                               cst__arena *arena, cst_error *error) {
  struct ArrowSchema plain;
  if (!cst__schema_has_dictionary(schema)) {
    return widen_bools(schema, array, arena, error);
  }
  CST__TRY(cst__array_make_plain(schema, &arena->allocator, array, error));
  CST__TRY(cst__schema_copy(schema, &plain, error));
  cst_status status = cst__schema_make_plain(&plain, error);
  if (status == CST_OK) {
    status = widen_bools(&plain, array, arena, error);
  }
  plain.release(&plain);
  return status;
}

cst_status cst__tensor_columns_make(const struct ArrowSchema *schema,
                                    const struct ArrowArray *batch, cst__arena *arena,
                                    struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__array_lend(schema, batch, arena, out, error));
  cst_status status = make_widened(schema, out, arena, error);
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}
