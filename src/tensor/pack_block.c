/* The arrays of a batch in one block of memory: how they cross to another process or to a device,
 * each byte copied once.
 */
#include <columnstone/tensor.h>
#include <string.h>

#include "base/arguments.h"

/* Sizes of blocks and addresses in them are those of objects, which stay below this. */
static const size_t block_limit = PTRDIFF_MAX - CST_BLOCK_ALIGNMENT;

static bool bytes_are_missing(const void *bytes, size_t size) { return bytes == NULL && size > 0; }

static cst_status check_block_array(const cst_block_array *array, cst_error *error) {
  if (array->strings != NULL ? array->head != NULL || array->data != NULL
                             : bytes_are_missing(array->head, array->head_size) ||
                                   bytes_are_missing(array->data, array->data_size)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "an array of a block has either strings, or a head and what it needs");
  }
  return CST_OK;
}

cst_status cst_block_array_init(cst_block_array *out, const cst_ndarray *array, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  if (array->dtype == CST_DTYPE_BYTES) {
    out->strings = array->strings;
    out->num_strings = (size_t)array->size;
    return CST_OK;
  }
  size_t width = cst_dtype_width(array->dtype);
  if (array->size < 0 || (uint64_t)array->size > block_limit / (width > 0 ? width : 1)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "an array cannot have this size");
  }
  out->head = array->data;
  out->head_size = (size_t)array->size * width;
  return CST_OK;
}

/* How many bytes the strings have; and where they begin, if they lie one after the other. False:
 * more than there can be. */
static bool measure_strings(cst_block_array *array) {
  const uint8_t *begin = NULL;
  const uint8_t *end = NULL;
  size_t breaks = 0;
  array->head_size = array->num_strings * sizeof(int64_t);
  array->data_size = 0;
  for (size_t i = 0; i < array->num_strings; i++) {
    const cst_bytes *s = &array->strings[i];
    if (s->size == 0) {
      continue;
    }
    if (s->data != end) {
      begin = breaks++ == 0 ? s->data : NULL;
    }
    end = s->data + s->size;
    if (__builtin_add_overflow(array->data_size, s->size, &array->data_size)) {
      return false;
    }
  }
  array->joined = begin;
  return true;
}

cst_status cst_block_plan(cst_block_array *arrays, size_t count, size_t *size, cst_error *error) {
  CST__CLEAR(size);
  if (size == NULL || (arrays == NULL && count > 0)) {
    return cst__missing(size == NULL ? "size" : "arrays", error);
  }
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    cst_block_array *array = &arrays[i];
    size_t end;
    CST__TRY(check_block_array(array, error));
    array->offset = total;
    if ((array->strings != NULL &&
         (array->num_strings > block_limit / sizeof(int64_t) || !measure_strings(array))) ||
        __builtin_add_overflow(array->head_size, array->data_size, &end) ||
        __builtin_add_overflow(end, total, &end) || end > block_limit) {
      return cst__fail(error, CST_LIMIT, NULL, "the arrays of a block have too many bytes");
    }
    total = (end + CST_BLOCK_ALIGNMENT - 1) / CST_BLOCK_ALIGNMENT * CST_BLOCK_ALIGNMENT;
  }
  *size = total;
  return CST_OK;
}

static void copy_bytes(char *out, const void *bytes, size_t size) {
  if (size > 0) {
    memcpy(out, bytes, size);
  }
}

static void copy_strings(const cst_block_array *array, char *out) {
  for (size_t i = 0; i < array->num_strings; i++) {
    int64_t length = (int64_t)array->strings[i].size;
    memcpy(out + i * sizeof length, &length, sizeof length);
  }
  out += array->head_size;
  if (array->joined != NULL) {
    copy_bytes(out, array->joined, array->data_size);
    return;
  }
  for (size_t i = 0; i < array->num_strings; i++) {
    copy_bytes(out, array->strings[i].data, array->strings[i].size);
    out += array->strings[i].size;
  }
}

cst_status cst_block_fill(const cst_block_array *arrays, size_t count, void *block, size_t size,
                          cst_error *error) {
  if ((arrays == NULL && count > 0) || (block == NULL && size > 0)) {
    return cst__missing(arrays == NULL && count > 0 ? "arrays" : "block", error);
  }
  for (size_t i = 0; i < count; i++) {
    const cst_block_array *array = &arrays[i];
    size_t needed = array->head_size + array->data_size;
    if (array->offset > size || needed > size - array->offset) {
      return cst__fail(error, CST_INVALID_ARGUMENT, "cst_block_plan says how many there must be",
                       "the memory of a block is too small: %zu bytes", size);
    }
    if (needed == 0) {
      continue;
    }
    char *out = (char *)block + array->offset;
    if (array->strings != NULL) {
      copy_strings(array, out);
    } else {
      copy_bytes(out, array->head, array->head_size);
      copy_bytes(out + array->head_size, array->data, array->data_size);
    }
  }
  return CST_OK;
}
