/* Gathering, masking and reversing: walks through dimensions. */

#include <columnstone/structured.h>

#include "base/arguments.h"
#include "structured/arrange.h"
#include "structured/selection.h"

/* A walk beside a tensor of indices. */
typedef struct choosing {
  const cst_structured *tensor;
  const cst__indices *by;
  size_t by_rank;
  size_t batch_dims;
  size_t axis;
  int64_t depth; /* of coordinates */
} choosing;

typedef cst_status (*choosing_steps)(cst__selection *s, const choosing *c);

/* Opens `dims` dimensions, or the rows, goes the steps beside what has been opened (and is closed),
 * and takes what is left whole. */
static cst_status choose_by(choosing *c, cst__indices *by, size_t dims, choosing_steps steps,
                            cst_structured **out, cst_error *error) {
  cst__selection s;
  size_t opened = dims > 0 || c->tensor->is_row ? dims : 1;
  size_t most = cst__structured_rank(c->tensor) + c->by_rank;
  c->by = by;
  cst_status status = cst__selection_begin(&s, c->tensor, opened, most, error);
  if (status == CST_OK) {
    status = steps(&s, c);
    while (status == CST_OK && s.depth < opened) {
      status = cst__select_all(&s);
    }
    if (status == CST_OK) {
      status = cst__selection_finish(&s, out);
    }
    cst__selection_end(&s);
  }
  cst__indices_close(by);
  return status;
}

static cst_status open_integers(const cst_structured *tensor, cst__indices *out, cst_error *error) {
  if (cst__structured_elements(tensor)->layout == CST__LAYOUT_BOOL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "use boolean_mask",
                     "indices are booleans, expected integers");
  }
  return cst__indices_open(tensor, out, error);
}

/* ---- gather ---- */

static cst_status gather_steps(cst__selection *s, const choosing *c) {
  cst__select_by(s, c->by);
  for (size_t i = 0; i < c->axis; i++) {
    CST__TRY(i < c->batch_dims ? cst__select_together(s, CST__NULL_OF_EITHER) : cst__select_all(s));
  }
  CST__TRY(cst__select_spread(s, c->by_rank - c->batch_dims, true));
  return cst__select_at_value(s, 1, 0);
}

static cst_status choose_batch_dims(int batch_dims, size_t by_rank, size_t most, size_t *out,
                                    cst_error *error) {
  int64_t dims = batch_dims < 0 ? (int64_t)batch_dims + (int64_t)by_rank : batch_dims;
  if (dims < 0 || (size_t)dims > most || (size_t)dims > by_rank) {
    size_t limit = most < by_rank ? most : by_rank;
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "batch_dims is %d, expected at most %zu",
                     batch_dims, limit);
  }
  *out = (size_t)dims;
  return CST_OK;
}

cst_status cst_structured_gather(const cst_structured *tensor, const cst_structured *indices,
                                 int axis, int batch_dims, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (indices == NULL) {
    return cst__missing("indices", error);
  }
  choosing c = {.tensor = tensor, .by_rank = cst__structured_rank(indices)};
  cst__indices by;
  CST__TRY(cst__structured_axis(axis, cst__structured_rank(tensor), &c.axis, error));
  CST__TRY(choose_batch_dims(batch_dims, c.by_rank, c.axis, &c.batch_dims, error));
  CST__TRY(open_integers(indices, &by, error));
  return choose_by(&c, &by, c.axis + 1, gather_steps, out, error);
}

static cst_status gather_nd_steps(cst__selection *s, const choosing *c) {
  cst__select_by(s, c->by);
  for (size_t i = 0; i < c->batch_dims; i++) {
    CST__TRY(cst__select_together(s, CST__NULL_OF_EITHER));
  }
  CST__TRY(cst__select_spread(s, c->by_rank - 1 - c->batch_dims, false));
  for (int64_t i = 0; i < c->depth; i++) {
    CST__TRY(cst__select_at_value(s, c->depth, i));
  }
  cst__select_by(s, NULL);
  return CST_OK;
}

/* The length that all coordinates have. */
static cst_status find_depth(const cst_structured *indices, size_t rank, int64_t *out,
                             cst_error *error) {
  int64_t shape[128]; /* more dimensions than types have levels */
  if (rank == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "indices are a scalar, not coordinates");
  }
  CST__TRY(cst_structured_shape(indices, shape, error));
  *out = shape[rank - 1];
  return *out >= 0 ? CST_OK
                   : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                               "coordinates differ in length, or are null");
}

cst_status cst_structured_gather_nd(const cst_structured *tensor, const cst_structured *indices,
                                    int batch_dims, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (indices == NULL) {
    return cst__missing("indices", error);
  }
  choosing c = {.tensor = tensor, .by_rank = cst__structured_rank(indices)};
  cst__indices by;
  size_t rank = cst__structured_rank(tensor);
  CST__TRY(find_depth(indices, c.by_rank, &c.depth, error));
  CST__TRY(choose_batch_dims(batch_dims, c.by_rank, c.by_rank - 1, &c.batch_dims, error));
  if (c.depth > (int64_t)rank || c.batch_dims + (size_t)c.depth > rank) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "coordinates of %lld dimensions after %zu, of a tensor of %zu",
                     (long long)c.depth, c.batch_dims, rank);
  }
  CST__TRY(open_integers(indices, &by, error));
  return choose_by(&c, &by, c.batch_dims + (size_t)c.depth, gather_nd_steps, out, error);
}

/* ---- masks ---- */

static cst_status mask_steps(cst__selection *s, const choosing *c) {
  for (size_t i = 0; i < c->axis; i++) {
    CST__TRY(cst__select_all(s));
  }
  cst__select_by(s, c->by);
  for (size_t i = 0; i + 1 < c->by_rank; i++) {
    CST__TRY(cst__select_together(s, i == 0 ? CST__NULL_OF_EITHER : CST__NULL_OF_TENSOR));
  }
  CST__TRY(cst__select_true(s, c->by_rank == 1 ? CST__NULL_OF_EITHER : CST__NULL_OF_TENSOR));
  return cst__select_merge(s, c->by_rank);
}

cst_status cst_structured_boolean_mask(const cst_structured *tensor, const cst_structured *mask,
                                       int axis, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (mask == NULL) {
    return cst__missing("mask", error);
  }
  choosing c = {.tensor = tensor, .by_rank = cst__structured_rank(mask)};
  cst__indices by;
  size_t rank = cst__structured_rank(tensor);
  CST__TRY(cst__structured_axis(axis, rank, &c.axis, error));
  if (c.by_rank == 0 || c.axis + c.by_rank > rank) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a mask of %zu dimensions from dimension %zu on, of a tensor of %zu",
                     c.by_rank, c.axis, rank);
  }
  CST__TRY(cst__indices_open_mask(mask, &by, error));
  return choose_by(&c, &by, c.axis + c.by_rank, mask_steps, out, error);
}

/* ---- reverse ---- */

cst_status cst_structured_reverse(const cst_structured *tensor, const int *axes, size_t count,
                                  cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (axes == NULL && count > 0) {
    return cst__missing("axes", error);
  }
  static const cst__slice backwards = {CST_INDEX_OPEN, CST_INDEX_OPEN, -1};
  size_t rank = cst__structured_rank(tensor);
  size_t dims = 0;
  cst__selection s;
  bool is_reversed[128] = {false}; /* more dimensions than types have levels */
  for (size_t i = 0; i < count; i++) {
    size_t axis;
    CST__TRY(cst__structured_axis(axes[i], rank, &axis, error));
    is_reversed[axis] = true;
    dims = axis + 1 > dims ? axis + 1 : dims;
  }
  if (dims == 0) {
    *out = cst_structured_retain(tensor);
    return CST_OK;
  }
  CST__TRY(cst__selection_begin(&s, tensor, dims, rank, error));
  cst_status status = CST_OK;
  for (size_t i = 0; i < dims && status == CST_OK; i++) {
    status = is_reversed[i] ? cst__select_slice(&s, &backwards) : cst__select_all(&s);
  }
  if (status == CST_OK) {
    status = cst__selection_finish(&s, out);
  }
  cst__selection_end(&s);
  return status;
}
