/* Sparse tensors: a list of values per row, and beside it a list of each index below the row. Where
 * the positions of every row count 0, 1, 2, ... the lists alone say them.
 */
#include "tensor/encode.h"

/* Checks the arrays' types and sizes: n values, indices [n, rank], dense_shape [rank]. */
static cst_status check_arrays(const cst__encoding *e, const cst__encode_leaf *leaf, int64_t rank) {
  const cst_tensor *t = e->tensors[leaf->number];
  cst_status status = cst__encode_check_integers("indices", &t->indices, 2, e->error);
  if (status == CST_OK) {
    status = cst__encode_check_integers("sizes of the dense shape", &t->dense_shape, 1, e->error);
  }
  if (status != CST_OK) {
    return cst__encode_blame(e->error, leaf, status);
  }
  if (t->values.num_dims != 1 || t->indices.shape[0] != t->values.size) {
    return cst__encode_fail(e->error, leaf, -1, NULL,
                            "%lld values of %zu dimensions, and %lld indices: expected one index "
                            "for each value",
                            (long long)t->values.size, t->values.num_dims,
                            (long long)t->indices.shape[0]);
  }
  if (t->indices.shape[1] != rank || t->dense_shape.size != rank) {
    return cst__encode_fail(e->error, leaf, -1, NULL,
                            "indices of %lld numbers and a dense shape of %lld, expected %lld",
                            (long long)t->indices.shape[1], (long long)t->dense_shape.size,
                            (long long)rank);
  }
  return CST_OK;
}

/* The rows of the dense shape, and where each row's values begin: offsets[rows + 1]. */
static cst_status open_rows(cst__encoding *e, const cst__encode_leaf *leaf, int64_t rank,
                            int64_t **offsets) {
  const cst_tensor *t = e->tensors[leaf->number];
  const int64_t *indices = t->indices.data;
  int64_t rows = ((const int64_t *)t->dense_shape.data)[0];
  size_t size;
  int64_t row = 0;
  if (rows < 0) {
    return cst__encode_fail(e->error, leaf, -1, NULL, "a dense shape of %lld rows",
                            (long long)rows);
  }
  CST__TRY(cst__encode_rows(e, leaf, rows, t->values.size));
  *offsets = cst__mul((size_t)rows + 1, sizeof **offsets, &size)
                 ? cst__arena_take(&e->scratch, size)
                 : NULL;
  if (*offsets == NULL) {
    return cst__fail_memory(e->error, (size_t)rows);
  }
  (*offsets)[0] = 0;
  for (int64_t i = 0; i < t->values.size; i++) {
    int64_t found = indices[i * rank];
    if (found < row || found >= rows) {
      return cst__encode_fail(e->error, leaf, row, "sort the indices, rows first",
                              "value %lld is in row %lld, expected %lld to %lld", (long long)i,
                              (long long)found, (long long)row, (long long)(rows - 1));
    }
    while (row < found) (*offsets)[++row] = i;
  }
  while (row < rows) (*offsets)[++row] = t->values.size;
  return CST_OK;
}

/* Makes the value column. */
static cst_status put_values(const cst__encoding *e, const cst__encode_leaf *leaf,
                             const int64_t *rows) {
  struct ArrowArray *column = &e->arrays[leaf->columns->number];
  int64_t *offsets = NULL;
  CST__TRY(cst__encode_flat(e, &e->tensors[leaf->number]->values, column));
  CST__TRY(cst__encode_wrap(e, e->num_rows, column, &offsets));
  memcpy(offsets, rows, ((size_t)e->num_rows + 1) * sizeof *offsets);
  return CST_OK;
}

/* ---- variable length ---- */

static cst_status check_positions(const cst__encoding *e, const cst__encode_leaf *leaf,
                                  const int64_t *offsets) {
  const cst_tensor *t = e->tensors[leaf->number];
  const int64_t *indices = t->indices.data;
  int64_t width = ((const int64_t *)t->dense_shape.data)[1];
  int64_t longest = 0;
  for (int64_t row = 0; row < e->num_rows; row++) {
    int64_t count = offsets[row + 1] - offsets[row];
    longest = count > longest ? count : longest;
    for (int64_t i = 0; i < count; i++) {
      int64_t found = indices[2 * (offsets[row] + i) + 1];
      if (found != i) {
        return cst__encode_fail(e->error, leaf, row, "use a sparse tensor with an index column",
                                "a value at position %lld, expected %lld: a varlen tensor has no "
                                "gaps",
                                (long long)found, (long long)i);
      }
    }
  }
  if (width != longest) {
    return cst__encode_fail(e->error, leaf, -1, "use a sparse tensor with an index column",
                            "a dense shape of %lld positions, but the longest row has %lld",
                            (long long)width, (long long)longest);
  }
  return CST_OK;
}

cst_status cst__encode_varlen(cst__encoding *e, const cst__encode_leaf *leaf) {
  int64_t *offsets = NULL;
  CST__TRY(check_arrays(e, leaf, 2));
  CST__TRY(open_rows(e, leaf, 2, &offsets));
  CST__TRY(check_positions(e, leaf, offsets));
  return put_values(e, leaf, offsets);
}

/* ---- coordinates ---- */

/* The dense shape is the spec's; what that leaves unknown (-1) only bounds the indices. */
static cst_status check_shape(const cst__encoding *e, const cst__encode_leaf *leaf) {
  const int64_t *shape = e->tensors[leaf->number]->dense_shape.data;
  for (size_t k = 0; k < leaf->spec->num_dims; k++) {
    int64_t expected = leaf->spec->dims[k];
    if (expected >= 0 ? shape[k + 1] != expected : shape[k + 1] < -1) {
      return cst__encode_fail(e->error, leaf, -1, NULL,
                              "dim %zu of the dense shape has the size %lld, expected %lld", k + 1,
                              (long long)shape[k + 1], (long long)expected);
    }
  }
  return CST_OK;
}

/* -1, 0 or 1 as the first coordinate stands before, at or behind the second one. */
static int compare(const int64_t *a, const int64_t *b, int64_t rank) {
  for (int64_t i = 0; i < rank; i++) {
    if (a[i] != b[i]) {
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

/* Every index lies within the shape, and not before the one before: several values may have the
 * same one, as adapters make them; they keep their order. */
static cst_status check_indices(const cst__encoding *e, const cst__encode_leaf *leaf,
                                int64_t rank) {
  const cst_tensor *t = e->tensors[leaf->number];
  const int64_t *shape = t->dense_shape.data;
  const int64_t *at = t->indices.data;
  for (int64_t i = 0; i < t->values.size; i++, at += rank) {
    for (int64_t k = 1; k < rank; k++) {
      if (at[k] < 0 || (shape[k] >= 0 && at[k] >= shape[k])) {
        return cst__encode_fail(e->error, leaf, at[0], NULL,
                                "index %lld of dim %lld, expected 0 to %lld", (long long)at[k],
                                (long long)k, (long long)(shape[k] < 0 ? INT64_MAX : shape[k] - 1));
      }
    }
    if (i > 0 && compare(at - rank, at, rank) > 0) {
      return cst__encode_fail(e->error, leaf, at[0], "sort the indices",
                              "the indices are not in row-major order");
    }
  }
  return CST_OK;
}

/* Makes index column k from its numbers of all indices. */
static cst_status put_indices(const cst__encoding *e, const cst__encode_leaf *leaf,
                              const cst__encode_node *node, int64_t k, const int64_t *rows) {
  const cst_tensor *t = e->tensors[leaf->number];
  const int64_t *from = t->indices.data;
  int64_t rank = t->indices.shape[1];
  struct ArrowArray *column = &e->arrays[node->number];
  int64_t *to = NULL;
  int64_t *offsets = NULL;
  CST__TRY(cst__encode_flat_integers(e, t->values.size, column, &to));
  for (int64_t i = 0; i < t->values.size; i++) {
    to[i] = from[i * rank + k];
  }
  CST__TRY(cst__encode_wrap(e, e->num_rows, column, &offsets));
  memcpy(offsets, rows, ((size_t)e->num_rows + 1) * sizeof *offsets);
  return CST_OK;
}

cst_status cst__encode_sparse(cst__encoding *e, const cst__encode_leaf *leaf) {
  int64_t rank = (int64_t)leaf->spec->num_index_columns + 1;
  int64_t *offsets = NULL;
  CST__TRY(check_arrays(e, leaf, rank));
  CST__TRY(open_rows(e, leaf, rank, &offsets));
  CST__TRY(check_shape(e, leaf));
  CST__TRY(check_indices(e, leaf, rank));
  CST__TRY(put_values(e, leaf, offsets));
  int64_t k = 1;
  for (const cst__encode_node *node = leaf->columns->more; node != NULL; node = node->more) {
    CST__TRY(put_indices(e, leaf, node, k++, offsets));
  }
  return CST_OK;
}
