/* What the writers of all kinds share: looking at the caller's arrays, copying values, lists around
 * them, and saying which tensor is wrong.
 */
#include <stdio.h>

#include "base/interrupt.h"
#include "tensor/kind.h"

/* ---- failures ---- */

cst_status cst__encode_blame(cst_error *error, const cst__encode_leaf *leaf, cst_status status) {
  cst__error_add_path(error, leaf->spec->name, strlen(leaf->spec->name));
  for (const cst__encode_structured *structured = leaf->structured; structured != NULL;
       structured = structured->outer) {
    cst__error_add_path(error, structured->spec->name, strlen(structured->spec->name));
  }
  return status;
}

cst_status(cst__encode_fail)(cst_error *error, const cst__encode_leaf *leaf, int64_t row,
                             const char *hint, const char *fmt, ...) {
  char text[256];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  cst__fail(error, CST_SCHEMA, hint, "%s", text);
  cst__error_add_record(error, row, -1);
  return cst__encode_blame(error, leaf, CST_SCHEMA);
}

cst_status cst__encode_rows(cst__encoding *e, const cst__encode_leaf *leaf, int64_t num_rows,
                            int64_t backed) {
  if (num_rows - backed > CST__MAX_BARE_SLOTS) {
    cst_status status = cst__fail(e->error, CST_LIMIT, NULL, "%lld rows of %lld values",
                                  (long long)num_rows, (long long)backed);
    return cst__encode_blame(e->error, leaf, status);
  }
  if (e->num_rows < 0) {
    e->num_rows = num_rows;
  }
  if (e->num_rows == num_rows) {
    return CST_OK;
  }
  return cst__encode_fail(e->error, leaf, -1, "give all tensors the rows of one batch",
                          "%lld rows, but the tensors before have %lld", (long long)num_rows,
                          (long long)e->num_rows);
}

/* ---- the caller's arrays ---- */

cst_status cst__encode_check_array(const char *what, const cst_ndarray *array, cst_error *error) {
  int64_t size = 1;
  bool is_bytes = array->dtype == CST_DTYPE_BYTES;
  if (array->dtype < CST_DTYPE_INT8 || array->dtype > CST_DTYPE_BOOL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the %s have no type (%d)", what,
                     (int)array->dtype);
  }
  if (array->num_dims == 0 || array->shape == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the %s have no shape", what);
  }
  for (size_t i = 0; i < array->num_dims; i++) {
    if (array->shape[i] < 0 || __builtin_mul_overflow(size, array->shape[i], &size)) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "dim %zu of the %s has the size %lld", i,
                       what, (long long)array->shape[i]);
    }
  }
  if (array->size != size) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the %s have the size %lld, and a shape of %lld values", what,
                     (long long)array->size, (long long)size);
  }
  if (size > 0 && (is_bytes ? (const void *)array->strings : array->data) == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the %s are missing", what);
  }
  return CST_OK;
}

cst_status cst__encode_check_integers(const char *what, const cst_ndarray *array, size_t num_dims,
                                      cst_error *error) {
  CST__TRY(cst__encode_check_array(what, array, error));
  if (array->dtype != CST_DTYPE_INT64 || array->num_dims != num_dims) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the %s are %s of %zu dimensions, expected int64 of %zu", what,
                     cst_dtype_name(array->dtype), array->num_dims, num_dims);
  }
  return CST_OK;
}

/* ---- Arrow arrays ---- */

static cst_status encode_no_memory(const cst__encoding *e, struct ArrowArray *array, size_t size) {
  array->release(array);
  return cst__fail_memory(e->error, size);
}

/* Bytes of all strings; false if a string is missing, or on overflow. */
static bool encode_add_up(const cst_ndarray *values, size_t *out) {
  size_t total = 0;
  for (int64_t i = 0; i < values->size; i++) {
    const cst_bytes *s = &values->strings[i];
    if ((s->data == NULL && s->size > 0) || !cst__add(total, s->size, &total)) {
      return false;
    }
  }
  *out = total;
  return total <= INT64_MAX;
}

static cst_status copy_strings(const cst__encoding *e, const cst_ndarray *values,
                               struct ArrowArray *out) {
  size_t total;
  if (!encode_add_up(values, &total)) {
    out->release(out);
    return cst__fail(e->error, CST_INVALID_ARGUMENT, NULL, "a string of the values is missing");
  }
  int64_t *offsets = cst__owned_buffer(out, 1, ((size_t)values->size + 1) * sizeof *offsets);
  uint8_t *data = offsets != NULL ? cst__owned_buffer(out, 2, total) : NULL;
  if (data == NULL) {
    return encode_no_memory(e, out, total);
  }
  int64_t at = 0;
  size_t done = 0;
  for (int64_t i = 0; i < values->size; i++) {
    const cst_bytes *s = &values->strings[i];
    cst_status status = cst__stretch_is_over(&done, s->size) ? cst__interrupted(e->error) : CST_OK;
    if (status != CST_OK) {
      out->release(out);
      return status;
    }
    offsets[i] = at;
    if (s->size > 0) {
      memcpy(data + at, s->data, s->size);
    }
    at += (int64_t)s->size;
  }
  offsets[values->size] = at;
  return CST_OK;
}

static cst_status copy_numbers(const cst__encoding *e, const cst_ndarray *values,
                               struct ArrowArray *out) {
  size_t size;
  if (!cst__mul((size_t)values->size, cst_dtype_width(values->dtype), &size)) {
    return encode_no_memory(e, out, SIZE_MAX);
  }
  void *data = cst__owned_buffer(out, 1, size);
  if (data == NULL) {
    return encode_no_memory(e, out, size);
  }
  if (size > 0) {
    memcpy(data, values->data, size);
  }
  return CST_OK;
}

static cst_status copy_bools(const cst__encoding *e, const cst_ndarray *values,
                             struct ArrowArray *out) {
  uint8_t *bits = cst__owned_buffer(out, 1, cst__bits_size(values->size));
  if (bits == NULL) {
    return encode_no_memory(e, out, cst__bits_size(values->size));
  }
  cst__bytes_to_bits(values->data, values->size, 0, bits);
  return CST_OK;
}

cst_status cst__encode_flat(const cst__encoding *e, const cst_ndarray *values,
                            struct ArrowArray *out) {
  bool is_bytes = values->dtype == CST_DTYPE_BYTES;
  CST__TRY(cst__owned_new(&e->encoder->arena.allocator, is_bytes ? 3 : 2, 0, false, out, e->error));
  out->length = values->size;
  return is_bytes                          ? copy_strings(e, values, out)
         : values->dtype == CST_DTYPE_BOOL ? copy_bools(e, values, out)
                                           : copy_numbers(e, values, out);
}

cst_status cst__encode_spread(cst__encoding *e, const cst_ndarray *values, const int64_t *offsets,
                              int64_t rows, struct ArrowArray *out) {
  const size_t width = cst__element_width(values->dtype);
  const char *from = cst__elements(values);
  cst_ndarray all = {.dtype = values->dtype, .num_dims = 1, .shape = &rows, .size = rows};
  size_t size;
  char *to = NULL;
  if (cst__mul((size_t)rows + 1, width, &size)) {
    to = cst__arena_take_zero(&e->scratch, size);
  }
  if (to == NULL) {
    return cst__fail_memory(e->error, (size_t)rows);
  }
  for (int64_t row = 0; row < rows; row++) {
    if (offsets[row] < offsets[row + 1]) {
      memcpy(to + (size_t)row * width, from + (size_t)offsets[row] * width, width);
    }
  }
  cst__set_elements(&all, to);
  CST__TRY(cst__encode_flat(e, &all, out));
  uint8_t *valid = cst__owned_buffer(out, 0, cst__bits_size(rows));
  if (valid == NULL) {
    return encode_no_memory(e, out, cst__bits_size(rows));
  }
  memset(valid, 0, cst__bits_size(rows));
  for (int64_t row = 0; row < rows; row++) {
    valid[row >> 3] |= (uint8_t)((offsets[row] < offsets[row + 1]) << (row & 7));
  }
  out->null_count = rows - values->size;
  return CST_OK;
}

cst_status cst__encode_flat_integers(const cst__encoding *e, int64_t count, struct ArrowArray *out,
                                     int64_t **data) {
  size_t size;
  CST__TRY(cst__owned_new(&e->encoder->arena.allocator, 2, 0, false, out, e->error));
  out->length = count;
  *data = cst__mul((size_t)count, sizeof **data, &size) ? cst__owned_buffer(out, 1, size) : NULL;
  return *data != NULL ? CST_OK : encode_no_memory(e, out, (size_t)count);
}

cst_status cst__encode_wrap(const cst__encoding *e, int64_t count, struct ArrowArray *array,
                            int64_t **offsets) {
  struct ArrowArray list;
  size_t size = 0;
  CST__TRY(cst__owned_new(&e->encoder->arena.allocator, 2, 1, false, &list, e->error));
  *offsets = cst__mul((size_t)count + 1, sizeof **offsets, &size)
                 ? cst__owned_buffer(&list, 1, size)
                 : NULL;
  if (*offsets == NULL) {
    return encode_no_memory(e, &list, size);
  }
  list.length = count;
  *list.children[0] = *array;
  *array = list;
  return CST_OK;
}
