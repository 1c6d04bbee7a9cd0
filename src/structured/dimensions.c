/* What the dimensions are: shape, row splits, and all elements without them. */
#include <columnstone/structured.h>
#include <string.h>

#include "arrow/owned.h"
#include "base/arguments.h"
#include "structured/arrange.h"
#include "table/walk.h"

/* The length that all lists have; -1: they differ, one is null, or there are none. */
static int64_t level_length(const cst__lists *level) {
  if (level->size >= 0) {
    return level->size;
  }
  if (level->nulls != NULL || level->count == 0) {
    return -1;
  }
  int64_t length = level->splits[1];
  int64_t differs = 0;
  for (int64_t i = 0; i <= level->count; i++) {
    differs |= level->splits[i] ^ (i * length);
  }
  return differs == 0 ? length : -1;
}

cst_status cst_structured_shape(const cst_structured *tensor, int64_t *dims, cst_error *error) {
  CST__TRY(cst__check_given(tensor, "tensor", dims, error));
  cst__levels levels;
  if (cst__structured_rank(tensor) <= 1 && !tensor->is_row) {
    dims[0] = tensor->view.length;
    return CST_OK;
  }
  CST__TRY(cst__levels_open(tensor, cst__structured_rank(tensor), &levels, error));
  for (size_t i = 0; i < levels.count; i++) {
    dims[i] = level_length(&levels.items[i]);
  }
  cst__levels_close(&levels);
  return CST_OK;
}

cst_status cst_structured_row_splits(const cst_structured *tensor, size_t dimension,
                                     cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  cst__levels levels;
  struct ArrowArray made;
  if (dimension >= cst__structured_rank(tensor)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "dimension %zu of a tensor of rank %zu",
                     dimension, cst__structured_rank(tensor));
  }
  CST__TRY(cst__levels_open(tensor, dimension + 1, &levels, error));
  const cst__lists *level = &levels.items[dimension];
  int64_t *splits = cst__new_int64(&tensor->array->allocator, level->count + 1, &made, error);
  if (splits != NULL) {
    memcpy(splits, level->splits, ((size_t)level->count + 1) * sizeof *splits);
  }
  cst__levels_close(&levels);
  return splits != NULL ? cst__int64_result(&tensor->array->allocator, &made, out, error)
                        : CST_NO_MEMORY;
}

cst_status cst_structured_flat_values(const cst_structured *tensor, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  cst__levels levels;
  cst_array *rest;
  if (tensor->num_lists == 0) {
    return cst_structured_new(tensor->array, false, out, error);
  }
  CST__TRY(cst__levels_open(tensor, cst__structured_rank(tensor), &levels, error));
  cst_status status = cst__levels_rest(&levels, tensor, &rest, error);
  cst__levels_close(&levels);
  return status == CST_OK ? cst__structured_result(rest, false, out, error) : status;
}

/* ---- lengths ---- */

static cst_status lengths_of(const cst__lists *level, const cst_allocator *allocator,
                             cst_array **out, cst_error *error) {
  struct ArrowArray made;
  int64_t *lengths = cst__new_int64(allocator, level->count, &made, error);
  if (lengths == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < level->count; i++) {
    lengths[i] = level->splits[i + 1] - level->splits[i];
  }
  cst_status status = cst__nulls_put(level->nulls, &made, error);
  if (status != CST_OK) {
    cst__array_release(&made);
    return status;
  }
  return cst__int64_result(allocator, &made, out, error);
}

cst_status cst_structured_row_lengths(const cst_structured *tensor, int axis, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  cst__levels levels;
  cst_array *lengths;
  size_t at = 0;
  CST__TRY(cst__structured_axis(axis, cst__structured_rank(tensor), &at, error));
  CST__TRY(cst__levels_open(tensor, at + 1, &levels, error));
  cst_status status = lengths_of(&levels.items[at], &tensor->array->allocator, &lengths, error);
  if (status == CST_OK) {
    status = cst__levels_tensor(levels.items, at, lengths, out, error);
    cst_array_release(lengths);
  }
  cst__levels_close(&levels);
  return status;
}
