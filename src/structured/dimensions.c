/* What the dimensions are: shape, row splits, and all elements without them. */
#include <string.h>

#include "arrow/owned.h"
#include "structured/levels.h"
#include "table/walk.h"

/* The length that all lists have; -1: they differ, one is null, or there are none. */
static int64_t level_length(const cst__dim *level) {
  if (level->size >= 0) {
    return level->size;
  }
  if (level->nulls != NULL || level->num_lists == 0) {
    return -1;
  }
  int64_t length = level->splits[1];
  int64_t differs = 0;
  for (int64_t i = 0; i <= level->num_lists; i++) {
    differs |= level->splits[i] ^ (i * length);
  }
  return differs == 0 ? length : -1;
}

cst_status cst__structured_shape(const cst_structured *tensor, int64_t *dims, cst_error *error) {
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

cst_status cst__structured_row_splits(const cst_structured *tensor, size_t dimension,
                                      cst_array **out, cst_error *error) {
  cst__levels levels;
  struct ArrowArray made;
  if (dimension >= cst__structured_rank(tensor)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "dimension %zu of a tensor of rank %zu",
                     dimension, cst__structured_rank(tensor));
  }
  CST__TRY(cst__levels_open(tensor, dimension + 1, &levels, error));
  const cst__dim *level = &levels.items[dimension];
  int64_t *splits = cst__new_int64(&tensor->array->allocator, level->num_lists + 1, &made, error);
  if (splits != NULL) {
    memcpy(splits, level->splits, ((size_t)level->num_lists + 1) * sizeof *splits);
  }
  cst__levels_close(&levels);
  return splits != NULL ? cst__int64_result(&tensor->array->allocator, &made, out, error)
                        : CST_NO_MEMORY;
}

cst_status cst__structured_flat_values(const cst_structured *tensor, cst_structured **out,
                                       cst_error *error) {
  cst__levels levels;
  cst_array *rest;
  if (tensor->num_lists == 0) {
    return cst__structured_new(tensor->array, false, out, error);
  }
  CST__TRY(cst__levels_open(tensor, cst__structured_rank(tensor), &levels, error));
  cst_status status = cst__levels_rest(&levels, tensor, &rest, error);
  cst__levels_close(&levels);
  return status == CST_OK ? cst__structured_result(rest, false, out, error) : status;
}
