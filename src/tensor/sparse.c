/* Sparse tensors: variable numbers of values at [row, position], and values at the coordinates that
 * other columns hold. As columns, both are a list of values per row, and beside it the second has a
 * list of each index below the row. One that has no index but the row is a column of single values.
 */
#include <stdio.h>

#include "tensor/kind.h"

/* ---- plans ---- */

static cst_status varlen_plan(const cst__adapter_planner *p, cst__adapter_plan *plan) {
  cst__adapter_column column;
  return cst__plan_single_column(p, plan, &column);
}

static cst_status sparse_plan(const cst__adapter_planner *p, cst__adapter_plan *plan) {
  const cst_tensor_spec *spec = p->spec;
  cst__adapter_column column;
  CST__TRY(cst__plan_single_column(p, plan, &column));
  if (spec->num_dims != spec->num_index_columns) {
    return cst__plan_fail(p, "a sparse tensor needs as many dimensions as index columns");
  }
  if (spec->num_index_columns == 0 && column.own_lists > 0) {
    return cst__plan_fail(p, "a sparse tensor without index columns needs a column without lists");
  }
  int64_t *siblings = cst__arena_take(p->arena, (spec->num_index_columns + 1) * sizeof *siblings);
  if (siblings == NULL) {
    return cst__fail_memory(p->error, spec->num_index_columns * sizeof *siblings);
  }
  for (size_t i = 0; i < spec->num_index_columns; i++) {
    CST__TRY(cst__plan_sibling(p, column.parent, spec->index_columns[i], &siblings[i]));
  }
  plan->siblings = siblings;
  return CST_OK;
}

static size_t varlen_count_padded(const cst__adapter_plan *plan) {
  (void)plan;
  return 1;
}

static int64_t varlen_extent(const cst__adapter_plan *plan, size_t dim) {
  (void)plan;
  (void)dim;
  return -1;
}

static size_t sparse_count_padded(const cst__adapter_plan *plan) { return plan->spec->num_dims; }

static int64_t sparse_extent(const cst__adapter_plan *plan, size_t dim) {
  return plan->spec->dims[dim];
}

/* ---- making: both ---- */

/* A column of lists, opened. */
typedef struct sparse_column {
  cst__lists lists;
  cst__slots items;
} sparse_column;

static cst_status sparse_open(const cst__making *m, const cst__slots *lists, sparse_column *out) {
  return cst__slots_items(lists, m->scratch, &out->lists, &out->items, m->error);
}

/* The most pairs of indices that are written at once, the last ones too. */
enum { AT_ONCE = 8 };

/* Makes indices [count, rank], with room for some rows more, and dense_shape [rank], to be filled.
 */
static cst_status sparse_new_coordinates(const cst__making *m, int64_t count, int64_t rank,
                                         int64_t **indices, int64_t **dense_shape) {
  int64_t cells;
  if (__builtin_mul_overflow(count + AT_ONCE, rank, &cells)) {
    return CST__TAKEN(NULL, m->error);
  }
  cst_tensor *t = m->out;
  *indices = cst__arena_take_items(m->scratch, cells, sizeof **indices);
  *dense_shape = cst__arena_take_items(m->scratch, rank, sizeof **dense_shape);
  CST__TRY(CST__TAKEN(*indices, m->error));
  CST__TRY(CST__TAKEN(*dense_shape, m->error));
  t->indices = (cst_ndarray){.dtype = CST_DTYPE_INT64, .data = *indices};
  t->dense_shape = (cst_ndarray){.dtype = CST_DTYPE_INT64, .data = *dense_shape};
  CST__TRY(cst__ndarray_shape(m, &t->indices, count, 1, &rank));
  return cst__ndarray_shape(m, &t->dense_shape, rank, 0, NULL);
}

/* Rows of one value at most are the usual case, which all sizes or'ed tell soonest. */
static int64_t varlen_longest_row(const int64_t *splits, int64_t rows) {
  int64_t longest = 0;
  for (int64_t row = 0; row < rows; row++) {
    longest |= splits[row + 1] - splits[row];
  }
  if (longest <= 1) {
    return longest;
  }
  longest = 0;
  for (int64_t row = 0; row < rows; row++) {
    int64_t size = splits[row + 1] - splits[row];
    longest = size > longest ? size : longest;
  }
  return longest;
}

/* Indices [row, position] of rows of at most `at_once` values: as many pairs are written for each
 * row, so that there is no branch on which have values; the next row writes over what is too much.
 */
static inline void varlen_place_few(const int64_t *splits, int64_t rows, int64_t at_once,
                                    int64_t *at) {
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t k = 0; k < at_once; k++) {
      at[2 * k] = row;
      at[2 * k + 1] = k;
    }
    at += 2 * (splits[row + 1] - splits[row]);
  }
}

static void varlen_place_many(const int64_t *splits, int64_t rows, int64_t *at) {
  for (int64_t row = 0; row < rows; row++) {
    int64_t size = splits[row + 1] - splits[row];
    int64_t i = 0;
    do {
      for (int64_t k = i; k < i + AT_ONCE; k++) {
        at[2 * k] = row;
        at[2 * k + 1] = k;
      }
      i += AT_ONCE;
    } while (i < size);
    at += 2 * size;
  }
}

static void varlen_place(const int64_t *splits, int64_t rows, int64_t longest, int64_t *at) {
  if (longest <= 1) {
    varlen_place_few(splits, rows, 1, at);
  } else if (longest <= 4) {
    varlen_place_few(splits, rows, 4, at);
  } else {
    varlen_place_many(splits, rows, at);
  }
}

/* ---- making: variable length ---- */

static cst_status varlen_make(const cst__making *m) {
  sparse_column column;
  int64_t *indices;
  int64_t *dense_shape;
  cst__slots lists;
  CST__TRY(cst__making_column(m, -1, &lists));
  if (m->out == NULL &&
      (!cst__view_is_list(lists.view) || lists.view->children[0].null_count == 0)) {
    return CST_OK; /* nothing but a null among the values can be wrong: no list is opened */
  }
  CST__TRY(sparse_open(m, &lists, &column));
  CST__TRY(cst__items_check(m, &column.items, &column.lists, 1));
  if (m->out == NULL) {
    return CST_OK;
  }
  CST__TRY(cst__values_read(m, &column.items, &m->out->values));
  if (m->plan->padding != NULL) {
    return cst__pad_levels(m, &column.lists, 1, 1);
  }
  CST__TRY(sparse_new_coordinates(m, column.items.chosen.count, 2, &indices, &dense_shape));
  dense_shape[0] = column.lists.count;
  dense_shape[1] = varlen_longest_row(column.lists.splits, column.lists.count);
  varlen_place(column.lists.splits, column.lists.count, dense_shape[1], indices);
  return CST_OK;
}

/* ---- making: coordinates from columns ---- */

typedef struct sparse {
  const cst__making *m;
  sparse_column values;
  int64_t rank;
  int64_t *coordinates; /* [values, rank]; NULL: not wanted */
  cst__list_faults faults;
} sparse;

/* An index column, the k-th. */
typedef struct sparse_index {
  size_t k;
  sparse_column column;
  const int64_t *from;
} sparse_index;

static const char *sparse_index_name(const sparse *s, size_t k) {
  return s->m->plan->spec->index_columns[k];
}

/* Every row has as many indices as values. */
static cst_status sparse_check_counts(sparse *s, const sparse_index *index) {
  for (int64_t i = 0; i < s->values.lists.count; i++) {
    const int64_t *splits = s->values.lists.splits;
    int64_t expected = splits[i + 1] - splits[i];
    int64_t found = index->column.lists.splits[i + 1] - index->column.lists.splits[i];
    if (found != expected) {
      const cst__row_fault fault = {i, CST__ROW_LENGTHS, found, expected,
                                    sparse_index_name(s, index->k)};
      CST__TRY(cst__list_faults_add(&s->faults, i, &fault));
    }
  }
  return CST_OK;
}

/* Puts a run of an index column into its place of the coordinates from number `at` on. Each index
 * is within 0 and the dimension. */
static cst_status sparse_place_run(sparse *s, const sparse_index *index, int64_t begin,
                                   int64_t count, int64_t at) {
  int64_t dim = s->m->plan->spec->dims[index->k];
  uint64_t limit = dim >= 0 ? (uint64_t)dim : (uint64_t)INT64_MAX + 1;
  const int64_t rank = s->rank;
  const int64_t *from = index->from + begin;
  int64_t *to = s->coordinates != NULL ? s->coordinates + at * rank + index->k + 1 : NULL;
  for (int64_t i = 0; i < count; i++) {
    const int64_t value = from[i];
    if ((uint64_t)value >= limit) {
      const cst__lists *lists = &index->column.lists;
      const cst__row_fault fault = {cst__splits_find(lists->splits, lists->count, begin + i),
                                    CST__ROW_INDEX, value, dim >= 0 ? dim - 1 : INT64_MAX,
                                    sparse_index_name(s, index->k)};
      CST__TRY(cst__list_faults_add(&s->faults, fault.row, &fault));
    }
    if (to != NULL) {
      to[i * rank] = value;
    }
  }
  return CST_OK;
}

static cst_status sparse_place_indices(sparse *s, const sparse_index *index) {
  const int64_t *splits = index->column.lists.splits;
  if (s->faults.items == NULL) {
    return sparse_place_run(s, index, 0, index->column.items.chosen.count, 0);
  }
  for (int64_t row = 0; row < s->values.lists.count; row++) {
    if (!cst__list_faults_have(&s->faults, row)) {
      CST__TRY(sparse_place_run(s, index, splits[row], splits[row + 1] - splits[row],
                                s->values.lists.splits[row]));
    }
  }
  return CST_OK;
}

static cst_status sparse_read_index(sparse *s, sparse_index *index) {
  const cst__making *m = s->m;
  cst__slots lists;
  int64_t bad_at;
  CST__TRY(cst__making_column(m, m->plan->siblings[index->k], &lists));
  CST__TRY(sparse_open(m, &lists, &index->column));
  CST__TRY(sparse_check_counts(s, index));
  cst_status status = cst__integers_read(m, &index->column.items, &index->from, &bad_at);
  if (bad_at >= 0) {
    const cst__lists *rows = &index->column.lists;
    return cst__row_fail(m, cst__splits_find(rows->splits, rows->count, bad_at), NULL,
                         "a null or an index above 2^63-1 in column '%s'",
                         sparse_index_name(s, index->k));
  }
  return status;
}

/* -1, 0 or 1 as the first coordinate stands before, at or after the second one, of which the first
 * `from` numbers are equal. */
static int coordinates_compare(const int64_t *a, const int64_t *b, int64_t from, int64_t rank) {
  for (int64_t i = from; i < rank; i++) {
    if (a[i] != b[i]) {
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

static bool coordinates_ascend(const int64_t *coordinates, int64_t begin, int64_t end,
                               int64_t rank) {
  for (int64_t i = begin + 1; i < end; i++) {
    if (coordinates_compare(coordinates + (i - 1) * rank, coordinates + i * rank, 1, rank) > 0) {
      return false;
    }
  }
  return true;
}

/* Sorts order[0, n), numbers of coordinates, by merging: equal ones keep their order. */
static void coordinates_sort(const int64_t *coordinates, int64_t rank, int64_t *order,
                             int64_t *spare, int64_t n) {
  if (n < 2) {
    return;
  }
  int64_t half = n / 2;
  coordinates_sort(coordinates, rank, order, spare, half);
  coordinates_sort(coordinates, rank, order + half, spare, n - half);
  memcpy(spare, order, (size_t)half * sizeof *spare);
  for (int64_t a = 0, b = half, out = 0; a < half; out++) {
    bool takes_b = b < n && coordinates_compare(coordinates + order[b] * rank,
                                                coordinates + spare[a] * rank, 1, rank) < 0;
    order[out] = takes_b ? order[b++] : spare[a++];
  }
}

/* The order that sorts the coordinates within each row; NULL in *order if they are sorted. */
static cst_status sparse_find_order(const cst__making *m, const int64_t *splits, int64_t rows,
                                    int64_t rank, const int64_t *coordinates, int64_t **order) {
  int64_t count = splits[rows];
  int64_t *spare = NULL;
  *order = NULL;
  for (int64_t row = 0; row < rows; row++) {
    int64_t begin = splits[row];
    int64_t end = splits[row + 1];
    if (coordinates_ascend(coordinates, begin, end, rank)) {
      continue;
    }
    if (*order == NULL) {
      *order = cst__arena_take_items(m->scratch, count, sizeof **order);
      spare = cst__arena_take_items(m->scratch, count, sizeof *spare);
      if (*order == NULL || spare == NULL) {
        return CST__TAKEN(NULL, m->error);
      }
      for (int64_t i = 0; i < count; i++) {
        (*order)[i] = i;
      }
    }
    coordinates_sort(coordinates, rank, *order + begin, spare, end - begin);
  }
  return CST_OK;
}

/* Puts indices and values into the order. */
static cst_status sparse_reorder(const cst__making *m, const int64_t *order, int64_t rank) {
  cst_tensor *t = m->out;
  size_t width = cst__element_width(t->values.dtype);
  const char *from = cst__elements(&t->values);
  const int64_t *coordinates = t->indices.data;
  int64_t count = t->values.size;
  char *to = cst__arena_take_items(m->scratch, count, width);
  int64_t *sorted = cst__arena_take_items(m->scratch, count * rank, sizeof *sorted);
  CST__TRY(CST__TAKEN(to, m->error));
  CST__TRY(CST__TAKEN(sorted, m->error));
  for (int64_t i = 0; i < count; i++) {
    memcpy(to + (size_t)i * width, from + (size_t)order[i] * width, width);
    memcpy(sorted + i * rank, coordinates + order[i] * rank, (size_t)rank * sizeof *sorted);
  }
  cst__set_elements(&t->values, to);
  t->indices.data = sorted;
  return CST_OK;
}

/* Rows that fit otherwise have coordinates that ascend. */
static cst_status sparse_check_order(sparse *s) {
  const int64_t *splits = s->values.lists.splits;
  for (int64_t row = 0; row < s->values.lists.count; row++) {
    int order = -1;
    for (int64_t i = splits[row] + 1; i < splits[row + 1] && order < 0; i++) {
      const int64_t *next = s->coordinates + i * s->rank;
      order = coordinates_compare(next - s->rank, next, 1, s->rank);
    }
    if (order >= 0 && !cst__list_faults_have(&s->faults, row)) {
      const cst__row_fault fault = {.row = row,
                                    .reason = order > 0 ? CST__ROW_ORDER : CST__ROW_DOUBLE};
      CST__TRY(cst__list_faults_add(&s->faults, row, &fault));
    }
  }
  return CST_OK;
}

/* Takes all index columns: checks them, and fills the coordinates. */
static cst_status sparse_read_indices(sparse *s) {
  for (size_t k = 0; k < s->m->plan->spec->num_index_columns; k++) {
    sparse_index index = {.k = k};
    CST__TRY(sparse_read_index(s, &index));
    CST__TRY(sparse_place_indices(s, &index));
  }
  return CST_OK;
}

static cst_status sparse_check(sparse *s) {
  const cst__making *m = s->m;
  bool is_sorted = m->plan->spec->already_sorted;
  int64_t cells;
  if (is_sorted) {
    bool fits = !__builtin_mul_overflow(s->values.items.chosen.count, s->rank, &cells);
    s->coordinates = fits ? cst__arena_take_items(m->scratch, cells, sizeof *s->coordinates) : NULL;
    CST__TRY(CST__TAKEN(s->coordinates, m->error));
  }
  CST__TRY(sparse_read_indices(s));
  if (is_sorted) {
    CST__TRY(sparse_check_order(s));
  }
  cst__list_faults_tell(&s->faults);
  return CST_OK;
}

static cst_status sparse_make(const cst__making *m) {
  sparse s = {.m = m, .rank = (int64_t)m->plan->spec->num_index_columns + 1};
  cst__slots lists;
  int64_t *dense_shape;
  int64_t *order;
  CST__TRY(cst__making_column(m, -1, &lists));
  CST__TRY(sparse_open(m, &lists, &s.values));
  CST__TRY(cst__items_check(m, &s.values.items, &s.values.lists, 1));
  s.faults = (cst__list_faults){.m = m, .count = s.values.lists.count};
  if (m->out == NULL) {
    return sparse_check(&s);
  }
  int64_t rows = s.values.lists.count;
  const int64_t *splits = s.values.lists.splits;
  CST__TRY(cst__values_read(m, &s.values.items, &m->out->values));
  CST__TRY(
      sparse_new_coordinates(m, s.values.items.chosen.count, s.rank, &s.coordinates, &dense_shape));
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t i = splits[row]; i < splits[row + 1]; i++) {
      s.coordinates[i * s.rank] = row;
    }
  }
  CST__TRY(sparse_read_indices(&s));
  dense_shape[0] = rows;
  /* Unknown dimensions are as large as the batch needs. */
  const cst_tensor_spec *spec = m->plan->spec;
  const size_t rank = spec->num_dims + 1;
  for (size_t k = 0; k < spec->num_dims; k++) {
    int64_t last = -1;
    for (int64_t i = 0; spec->dims[k] < 0 && i < s.values.items.chosen.count; i++) {
      int64_t index = s.coordinates[(size_t)i * rank + k + 1];
      last = index > last ? index : last;
    }
    dense_shape[k + 1] = spec->dims[k] >= 0 ? spec->dims[k] : last < INT64_MAX ? last + 1 : last;
  }
  CST__TRY(sparse_find_order(m, splits, rows, s.rank, s.coordinates, &order));
  if (order != NULL) {
    CST__TRY(sparse_reorder(m, order, s.rank));
  }
  return m->plan->padding != NULL ? cst__pad_sparse(m, rows) : CST_OK;
}

/* ---- back: specs ---- */

static const char *describe_join(cst__describer *d, const char *name, const char *suffix) {
  size_t size = strlen(name) + strlen(suffix);
  char *text = cst__describe_take(d, size, 1);
  if (text != NULL) {
    (void)snprintf(text, size + 1, "%s%s", name, suffix);
  }
  return text;
}

/* True if the positions of every row count 0, 1, 2, ... and the longest row is as long as the dense
 * shape says; whether the indices are sound otherwise is for the encoder to see. */
static bool sparse_is_varlen(const cst_tensor *tensor) {
  const int64_t *at = tensor->indices.data;
  int64_t longest = 0;
  int64_t position = 0;
  if (tensor->indices.shape[1] != 2) {
    return false;
  }
  for (int64_t i = 0; i < tensor->indices.shape[0]; i++, at += 2, position++) {
    position = i > 0 && at[0] == at[-2] ? position : 0;
    longest = position + 1 > longest ? position + 1 : longest;
    if (at[1] != position) {
      return false;
    }
  }
  return ((const int64_t *)tensor->dense_shape.data)[1] == longest;
}

static cst_status sparse_describe(cst__describer *d, const cst__describe_place *at,
                                  const cst_tensor *tensor, cst_tensor_spec *spec) {
  CST__TRY(cst__describe_dtype(d, tensor, spec));
  CST__TRY(cst__encode_check_integers("indices", &tensor->indices, 2, d->error));
  CST__TRY(
      cst__encode_check_integers("sizes of the dense shape", &tensor->dense_shape, 1, d->error));
  int64_t rank = tensor->indices.shape[1];
  if (rank < 1 || tensor->dense_shape.size != rank) {
    return cst__fail(d->error, CST_SCHEMA, NULL,
                     "indices of %lld numbers and a dense shape of %lld, expected as many of both, "
                     "one at least",
                     (long long)rank, (long long)tensor->dense_shape.size);
  }
  if (sparse_is_varlen(tensor)) {
    spec->kind = CST_TENSOR_VARLEN_SPARSE;
    return cst__describe_path(d, at, spec->name, spec);
  }
  const char **columns = cst__describe_take(d, (size_t)rank, sizeof *columns);
  if (columns == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i + 1 < (size_t)rank; i++) {
    char suffix[32];
    (void)snprintf(suffix, sizeof suffix, "$index%zu", i);
    columns[i] = describe_join(d, spec->name, suffix);
    if (columns[i] == NULL) {
      return CST_NO_MEMORY;
    }
  }
  spec->kind = CST_TENSOR_SPARSE;
  spec->index_columns = columns;
  spec->num_index_columns = spec->num_dims = (size_t)rank - 1;
  spec->dims = (const int64_t *)tensor->dense_shape.data + 1;
  spec->already_sorted = true;
  const char *column = rank > 1 ? describe_join(d, spec->name, "$values") : spec->name;
  return cst__describe_path(d, at, column, spec);
}

/* ---- back: both ---- */

/* Checks the arrays' types and sizes: n values, indices [n, rank], dense_shape [rank]. */
static cst_status sparse_check_arrays(const cst__encoding *e, const cst__encode_leaf *leaf,
                                      int64_t rank) {
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
static cst_status sparse_open_rows(cst__encoding *e, const cst__encode_leaf *leaf, int64_t rank,
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
static cst_status sparse_put_values(const cst__encoding *e, const cst__encode_leaf *leaf,
                                    const int64_t *rows) {
  struct ArrowArray *column = &e->arrays[leaf->columns->number];
  int64_t *offsets = NULL;
  CST__TRY(cst__encode_flat(e, &e->tensors[leaf->number]->values, column));
  CST__TRY(cst__encode_wrap(e, e->num_rows, column, &offsets));
  memcpy(offsets, rows, ((size_t)e->num_rows + 1) * sizeof *offsets);
  return CST_OK;
}

/* ---- back: variable length ---- */

static cst_status varlen_check_positions(const cst__encoding *e, const cst__encode_leaf *leaf,
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

static cst_status varlen_encode(cst__encoding *e, const cst__encode_leaf *leaf) {
  int64_t *offsets = NULL;
  CST__TRY(sparse_check_arrays(e, leaf, 2));
  CST__TRY(sparse_open_rows(e, leaf, 2, &offsets));
  CST__TRY(varlen_check_positions(e, leaf, offsets));
  return sparse_put_values(e, leaf, offsets);
}

/* ---- back: coordinates ---- */

/* Every index lies within the shape, and not before the one before: several values may have the
 * same one, as adapters make them; they keep their order. */
static cst_status sparse_check_indices(const cst__encoding *e, const cst__encode_leaf *leaf,
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
    if (i > 0 && coordinates_compare(at - rank, at, 0, rank) > 0) {
      return cst__encode_fail(e->error, leaf, at[0], "sort the indices",
                              "the indices are not in row-major order");
    }
  }
  return CST_OK;
}

/* Makes index column k from its numbers of all indices. */
static cst_status sparse_put_indices(const cst__encoding *e, const cst__encode_leaf *leaf,
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

static cst_status sparse_encode(cst__encoding *e, const cst__encode_leaf *leaf) {
  int64_t rank = (int64_t)leaf->spec->num_index_columns + 1;
  int64_t *offsets = NULL;
  CST__TRY(sparse_check_arrays(e, leaf, rank));
  CST__TRY(sparse_open_rows(e, leaf, rank, &offsets));
  /* The dense shape is the spec's; what that leaves unknown (-1) only bounds the indices. */
  const int64_t *shape = e->tensors[leaf->number]->dense_shape.data;
  for (size_t k = 0; k < leaf->spec->num_dims; k++) {
    int64_t expected = leaf->spec->dims[k];
    if (expected >= 0 ? shape[k + 1] != expected : shape[k + 1] < -1) {
      return cst__encode_fail(e->error, leaf, -1, NULL,
                              "dim %zu of the dense shape has the size %lld, expected %lld", k + 1,
                              (long long)shape[k + 1], (long long)expected);
    }
  }
  CST__TRY(sparse_check_indices(e, leaf, rank));
  if (rank == 1) {
    /* The value column of rank 1: the rows that have no value are null. */
    for (int64_t row = 0; row < e->num_rows; row++) {
      if (offsets[row + 1] - offsets[row] > 1) {
        return cst__encode_fail(e->error, leaf, row, NULL, "two values for one row");
      }
    }
    return cst__encode_spread(e, &e->tensors[leaf->number]->values, offsets, e->num_rows,
                              &e->arrays[leaf->columns->number]);
  }
  CST__TRY(sparse_put_values(e, leaf, offsets));
  int64_t k = 1;
  for (const cst__encode_node *node = leaf->columns->more; node != NULL; node = node->more) {
    CST__TRY(sparse_put_indices(e, leaf, node, k++, offsets));
  }
  return CST_OK;
}

const cst__tensor_kind cst__kind_varlen = {
    .name = "sparse",
    .plan = varlen_plan,
    .make = varlen_make,
    .count_padded = varlen_count_padded,
    .extent = varlen_extent,
    .describe = sparse_describe,
    .encode = varlen_encode,
};

const cst__tensor_kind cst__kind_sparse = {
    .name = "sparse",
    .plan = sparse_plan,
    .make = sparse_make,
    .count_padded = sparse_count_padded,
    .extent = sparse_extent,
    .describe = sparse_describe,
    .encode = sparse_encode,
};
