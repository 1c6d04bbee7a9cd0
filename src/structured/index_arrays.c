/* Arrays in a key: masks become coordinates, and all are broadcast to one shape. */
#include "structured/index_arrays.h"

#include <stdio.h>
#include <string.h>

typedef struct arrays_reader {
  cst__index_arrays *out;
  cst__arena *arena; /* of the result */
  cst_error *error;
} arrays_reader;

static void *arrays_take(const arrays_reader *r, int64_t count, size_t width) {
  size_t size = SIZE_MAX;
  void *taken = cst__mul((size_t)count, width, &size) ? cst__arena_take_zero(r->arena, size) : NULL;
  if (taken == NULL) {
    cst__fail_memory(r->error, size);
  }
  return taken;
}

/* ---- reading ---- */

static cst_status add_dimension(const arrays_reader *r, const cst__index_array *dim) {
  r->out->dims[r->out->num_dims++] = *dim;
  return CST_OK;
}

/* The coordinates of what is true, a dimension of the tensor per dimension of the mask. One without
 * dimensions stands for no dimension, and is as broad as what is true of it. */
static cst_status read_mask(const arrays_reader *r, size_t item, const cst__indices *mask,
                            const int64_t *shape, size_t rank) {
  int64_t *count = arrays_take(r, 1, sizeof *count);
  if (count == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < mask->count; i++) {
    *count += mask->mask[i];
  }
  int64_t below = 1;
  for (size_t d = rank; d-- > 0;) {
    int64_t *values = arrays_take(r, *count + 1, sizeof *values);
    int64_t length = shape[d] > 0 ? shape[d] : 1; /* in an empty dimension nothing is true */
    int64_t at = 0;
    if (values == NULL) {
      return CST_NO_MEMORY;
    }
    for (int64_t i = 0; i < mask->count; i++) {
      values[at] = i;
      at += mask->mask[i];
    }
    for (int64_t i = 0; i < *count && rank > 1; i++) {
      values[i] = values[i] / below % length;
    }
    below *= *count > 0 ? length : 1; /* of nothing, it may be more than 64 bits count */
    r->out->dims[r->out->num_dims + d] = (cst__index_array){item, shape[d], values, 1, count};
  }
  if (rank == 0) {
    r->out->dims[r->out->num_dims] = (cst__index_array){item, -1, NULL, 1, count};
  }
  r->out->num_dims += rank > 0 ? rank : 1;
  return CST_OK;
}

static cst_status read_index_array(const arrays_reader *r, size_t item,
                                   const cst_structured *tensor) {
  size_t rank = cst__structured_rank(tensor);
  cst__indices *opened = &r->out->opened[r->out->num_opened];
  int64_t *shape = arrays_take(r, (int64_t)rank + 1, sizeof *shape);
  if (shape == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(cst_structured_shape(tensor, shape, r->error));
  for (size_t d = 0; d < rank; d++) {
    bool is_below_none = d > 0 && shape[d - 1] <= 0;
    if (shape[d] < 0 && !is_below_none) {
      return cst__fail(r->error, CST_INVALID_ARGUMENT,
                       "columnstone.struct.constant makes a tensor that chooses row by row",
                       "item %zu is an array of rows that differ in length, or are null", item);
    }
    shape[d] = shape[d] < 0 ? 0 : shape[d];
  }
  CST__TRY(cst__indices_open(tensor, opened, r->error));
  r->out->num_opened++;
  return opened->mask != NULL
             ? read_mask(r, item, opened, shape, rank)
             : add_dimension(r, &(cst__index_array){item, -1, opened->values, rank, shape});
}

static cst_status read_items(const arrays_reader *r, const cst_index_item *items, size_t count) {
  size_t dims = 0;
  size_t arrays = 0;
  for (size_t i = 0; i < count; i++) {
    bool is_array = items[i].kind == CST_INDEX_ARRAY;
    arrays += is_array;
    dims += 1 + (is_array ? cst__structured_rank(items[i].tensor) : 0);
  }
  r->out->dims = arrays_take(r, (int64_t)dims + 1, sizeof *r->out->dims);
  r->out->opened = arrays_take(r, (int64_t)arrays + 1, sizeof *r->out->opened);
  if (r->out->dims == NULL || r->out->opened == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    if (items[i].kind == CST_INDEX_AT) {
      int64_t *value = arrays_take(r, 1, sizeof *value);
      if (value == NULL) {
        return CST_NO_MEMORY;
      }
      *value = items[i].begin;
      CST__TRY(add_dimension(r, &(cst__index_array){i, -1, value, 0, NULL}));
    } else if (items[i].kind == CST_INDEX_ARRAY) {
      CST__TRY(read_index_array(r, i, items[i].tensor));
    }
  }
  return CST_OK;
}

/* ---- broadcasting ---- */

/* "(2, 3)", cut where it is long. */
static void array_shape_text(const cst__index_array *dim, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "(");
  for (size_t i = 0; i < dim->rank && used < size - 24; i++) {
    used += (size_t)snprintf(text + used, size - used, "%s%lld", i > 0 ? ", " : "",
                             (long long)dim->shape[i]);
  }
  (void)snprintf(text + used, size - used, dim->rank == 1 ? ",)" : ")");
}

static cst_status arrays_fail_shapes(const cst__index_array *a, const cst__index_array *b,
                                     cst_error *error) {
  char one[60];
  char other[60];
  array_shape_text(a, one, sizeof one);
  array_shape_text(b, other, sizeof other);
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                   "items %zu and %zu are arrays of the shapes %s and %s, which do not broadcast "
                   "together",
                   a->item, b->item, one, other);
}

/* Its length in dimension d of `rank` of the common shape. */
static int64_t own_length(const cst__index_array *dim, size_t d, size_t rank) {
  return d + dim->rank >= rank ? dim->shape[d + dim->rank - rank] : 1;
}

/* The array's values, repeated over the common shape. */
static cst_status broadcast(const arrays_reader *r, const int64_t *shape, size_t rank,
                            cst__index_array *dim) {
  int64_t total = r->out->by.count;
  bool is_whole = dim->rank == rank;
  for (size_t d = 0; d < rank && is_whole; d++) {
    is_whole = dim->shape[d] == shape[d];
  }
  if (is_whole || dim->values == NULL) {
    return CST_OK;
  }
  int64_t *values = arrays_take(r, total + 1, sizeof *values);
  if (values == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < total; i++) {
    int64_t left = i;
    int64_t at = 0;
    int64_t width = 1;
    for (size_t d = rank; d-- > 0; left /= shape[d]) {
      int64_t length = own_length(dim, d, rank);
      at += length != 1 ? left % shape[d] * width : 0;
      width *= length;
    }
    values[i] = dim->values[at];
  }
  dim->values = values;
  return CST_OK;
}

static cst_status broadcast_all(const arrays_reader *r) {
  cst__index_arrays *out = r->out;
  size_t rank = 0;
  for (size_t i = 0; i < out->num_dims; i++) {
    rank = out->dims[i].rank > rank ? out->dims[i].rank : rank;
  }
  int64_t *shape = arrays_take(r, (int64_t)rank + 1, sizeof *shape);
  if (shape == NULL) {
    return CST_NO_MEMORY;
  }
  const cst__index_array *dims = out->dims;
  for (size_t d = 0; d < rank; d++) {
    size_t first = 0;
    shape[d] = 1;
    for (size_t i = 0; i < out->num_dims; i++) {
      int64_t length = own_length(&dims[i], d, rank);
      if (length != 1 && shape[d] != 1 && length != shape[d]) {
        return arrays_fail_shapes(&dims[first], &dims[i], r->error);
      }
      if (length != 1 && shape[d] == 1) {
        shape[d] = length;
        first = i;
      }
    }
  }
  cst__indices *by = &out->by;
  int64_t total = 1;
  by->levels.items = arrays_take(r, (int64_t)rank + 1, sizeof *by->levels.items);
  if (by->levels.items == NULL) {
    return CST_NO_MEMORY;
  }
  by->levels.count = rank;
  for (size_t d = 0; d < rank; d++) {
    CST__TRY(cst__lists_fixed(total, shape[d], r->arena, &by->levels.items[d], r->error));
    if (__builtin_mul_overflow(total, shape[d], &total)) {
      return cst__fail(r->error, CST_LIMIT, NULL,
                       "the arrays together have more values than 64 bits count");
    }
  }
  by->count = total;
  for (size_t i = 0; i < out->num_dims; i++) {
    CST__TRY(broadcast(r, shape, rank, &out->dims[i]));
  }
  return CST_OK;
}

/* ---- all of it ---- */

cst_status cst__index_arrays_open(const cst_index_item *items, size_t count,
                                  const cst_allocator *allocator, cst__index_arrays *out,
                                  cst_error *error) {
  *out = (cst__index_arrays){.num_dims = 0};
  cst__arena_init(&out->by.levels.arena, allocator);
  const arrays_reader reader = {out, &out->by.levels.arena, error};
  cst_status status = read_items(&reader, items, count);
  if (status == CST_OK) {
    status = broadcast_all(&reader);
  }
  if (status != CST_OK) {
    cst__index_arrays_close(out);
  }
  return status;
}

void cst__index_arrays_close(cst__index_arrays *arrays) {
  for (size_t i = 0; i < arrays->num_opened; i++) {
    cst__indices_close(&arrays->opened[i]);
  }
  cst__indices_close(&arrays->by);
}
