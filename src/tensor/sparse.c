/* Sparse tensors: variable numbers of values at [row, position], and values at the coordinates that
 * other columns hold.
 */
#include "tensor/tensor.h"

/* A column of lists, opened. */
typedef struct opened {
  const int64_t *splits;
  cst__slots items;
} opened;

static cst_status open_column(const cst__job *job, int64_t sibling, int64_t *rows, opened *out) {
  cst__slots lists;
  CST__TRY(cst__job_column(job, sibling, &lists));
  *rows = lists.count;
  return cst__slots_open(&lists, job->scratch, &out->splits, &out->items, job->error);
}

static cst_status null_element(const cst__job *job, const opened *column, int64_t rows,
                               int64_t at) {
  return cst__row_fail(job, cst__splits_find(column->splits, rows, at),
                       "remove the nulls inside the lists",
                       "a null element; a sparse tensor has no place for it");
}

static cst_status read_values(const cst__job *job, const opened *column, int64_t rows) {
  int64_t null_at;
  cst_status status = cst__values_read(job, &column->items, &job->out->values, &null_at);
  return null_at >= 0 ? null_element(job, column, rows, null_at) : status;
}

/* The most pairs of indices that are written at once, the last ones too. */
enum { AT_ONCE = 8 };

/* Makes indices [count, rank], with room for some rows more, and dense_shape [rank], to be filled.
 */
static cst_status make_coordinates(const cst__job *job, int64_t count, int64_t rank,
                                   int64_t **indices, int64_t **dense_shape) {
  int64_t cells;
  if (__builtin_mul_overflow(count + AT_ONCE, rank, &cells)) {
    return CST__TAKEN(NULL, job->error);
  }
  cst_tensor *t = job->out;
  *indices = cst__scratch_take(job->scratch, cells, sizeof **indices);
  *dense_shape = cst__scratch_take(job->scratch, rank, sizeof **dense_shape);
  CST__TRY(CST__TAKEN(*indices, job->error));
  CST__TRY(CST__TAKEN(*dense_shape, job->error));
  t->indices = (cst_ndarray){.dtype = CST_DTYPE_INT64, .data = *indices};
  t->dense_shape = (cst_ndarray){.dtype = CST_DTYPE_INT64, .data = *dense_shape};
  CST__TRY(cst__ndarray_shape(job, &t->indices, count, 1, &rank));
  return cst__ndarray_shape(job, &t->dense_shape, rank, 0, NULL);
}

/* Rows of one value at most are the usual case, which all sizes or'ed tell soonest. */
static int64_t longest_row(const int64_t *splits, int64_t rows) {
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
static inline void place_few(const int64_t *splits, int64_t rows, int64_t at_once, int64_t *at) {
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t k = 0; k < at_once; k++) {
      at[2 * k] = row;
      at[2 * k + 1] = k;
    }
    at += 2 * (splits[row + 1] - splits[row]);
  }
}

static void place_many(const int64_t *splits, int64_t rows, int64_t *at) {
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

static void place_positions(const int64_t *splits, int64_t rows, int64_t longest, int64_t *at) {
  if (longest <= 1) {
    place_few(splits, rows, 1, at);
  } else if (longest <= 4) {
    place_few(splits, rows, 4, at);
  } else {
    place_many(splits, rows, at);
  }
}

cst_status cst__make_varlen(const cst__job *job) {
  opened column;
  int64_t rows;
  int64_t *indices;
  int64_t *dense_shape;
  CST__TRY(open_column(job, -1, &rows, &column));
  CST__TRY(read_values(job, &column, rows));
  if (job->plan->padding != NULL) {
    const cst__split_level level = {column.splits, rows};
    return cst__pad_levels(job, &level, 1, 1);
  }
  CST__TRY(make_coordinates(job, column.items.count, 2, &indices, &dense_shape));
  dense_shape[0] = rows;
  dense_shape[1] = longest_row(column.splits, rows);
  place_positions(column.splits, rows, dense_shape[1], indices);
  return CST_OK;
}

/* ---- coordinates from columns ---- */

static const char *index_name(const cst__job *job, size_t k) {
  return job->plan->spec->index_columns[k];
}

/* Every row has as many indices as values. */
static cst_status check_counts(const cst__job *job, size_t k, const opened *index,
                               const opened *values, int64_t rows) {
  for (int64_t i = 0; i < rows; i++) {
    int64_t found = index->splits[i + 1] - index->splits[i];
    int64_t expected = values->splits[i + 1] - values->splits[i];
    if (found != expected) {
      return cst__row_fail(job, i, NULL, "%lld values, but %lld indices in column '%s'",
                           (long long)expected, (long long)found, index_name(job, k));
    }
  }
  return CST_OK;
}

/* Puts one index column into its place of every coordinate, within 0 and the dimension. */
static cst_status place_indices(const cst__job *job, size_t k, const opened *index, int64_t rows,
                                int64_t rank, int64_t *coordinates) {
  const int64_t *from;
  int64_t bad_at;
  int64_t dim = job->plan->spec->dims[k];
  uint64_t limit = dim >= 0 ? (uint64_t)dim : (uint64_t)INT64_MAX + 1;
  cst_status status = cst__integers_read(job, &index->items, &from, &bad_at);
  if (bad_at >= 0) {
    return cst__row_fail(job, cst__splits_find(index->splits, rows, bad_at), NULL,
                         "a null or an index above 2^63-1 in column '%s'", index_name(job, k));
  }
  CST__TRY(status);
  for (int64_t i = 0; i < index->items.count; i++) {
    if ((uint64_t)from[i] >= limit) {
      return cst__row_fail(job, cst__splits_find(index->splits, rows, i), NULL,
                           "index %lld in column '%s', expected 0 to %lld", (long long)from[i],
                           index_name(job, k), (long long)(dim >= 0 ? dim - 1 : INT64_MAX));
    }
    coordinates[i * rank + (int64_t)k + 1] = from[i];
  }
  return CST_OK;
}

static int compare(const int64_t *a, const int64_t *b, int64_t rank) {
  for (int64_t i = 1; i < rank; i++) {
    if (a[i] != b[i]) {
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

static bool is_sorted(const int64_t *coordinates, int64_t begin, int64_t end, int64_t rank) {
  for (int64_t i = begin + 1; i < end; i++) {
    if (compare(coordinates + (i - 1) * rank, coordinates + i * rank, rank) > 0) {
      return false;
    }
  }
  return true;
}

/* Sorts order[0, n), numbers of coordinates, by merging: equal ones keep their order. */
static void merge_sort(const int64_t *coordinates, int64_t rank, int64_t *order, int64_t *spare,
                       int64_t n) {
  if (n < 2) {
    return;
  }
  int64_t half = n / 2;
  merge_sort(coordinates, rank, order, spare, half);
  merge_sort(coordinates, rank, order + half, spare, n - half);
  memcpy(spare, order, (size_t)half * sizeof *spare);
  for (int64_t a = 0, b = half, out = 0; a < half; out++) {
    bool takes_b =
        b < n && compare(coordinates + order[b] * rank, coordinates + spare[a] * rank, rank) < 0;
    order[out] = takes_b ? order[b++] : spare[a++];
  }
}

/* The order that sorts the coordinates within each row; NULL in *order if they are sorted. */
static cst_status find_order(const cst__job *job, const int64_t *splits, int64_t rows, int64_t rank,
                             const int64_t *coordinates, int64_t **order) {
  int64_t count = splits[rows];
  int64_t *spare = NULL;
  *order = NULL;
  for (int64_t row = 0; row < rows; row++) {
    int64_t begin = splits[row];
    int64_t end = splits[row + 1];
    if (is_sorted(coordinates, begin, end, rank)) {
      continue;
    }
    if (*order == NULL) {
      *order = cst__scratch_take(job->scratch, count, sizeof **order);
      spare = cst__scratch_take(job->scratch, count, sizeof *spare);
      if (*order == NULL || spare == NULL) {
        return CST__TAKEN(NULL, job->error);
      }
      for (int64_t i = 0; i < count; i++) {
        (*order)[i] = i;
      }
    }
    merge_sort(coordinates, rank, *order + begin, spare, end - begin);
  }
  return CST_OK;
}

/* Puts indices and values into the order. */
static cst_status reorder(const cst__job *job, const int64_t *order, int64_t rank) {
  cst_tensor *t = job->out;
  size_t width = cst__element_width(t->values.dtype);
  const char *from = cst__elements(&t->values);
  const int64_t *coordinates = t->indices.data;
  int64_t count = t->values.size;
  char *to = cst__scratch_take(job->scratch, count, width);
  int64_t *sorted = cst__scratch_take(job->scratch, count * rank, sizeof *sorted);
  CST__TRY(CST__TAKEN(to, job->error));
  CST__TRY(CST__TAKEN(sorted, job->error));
  for (int64_t i = 0; i < count; i++) {
    memcpy(to + (size_t)i * width, from + (size_t)order[i] * width, width);
    memcpy(sorted + i * rank, coordinates + order[i] * rank, (size_t)rank * sizeof *sorted);
  }
  cst__set_elements(&t->values, to);
  t->indices.data = sorted;
  return CST_OK;
}

static void place_rows(const int64_t *splits, int64_t rows, int64_t rank, int64_t *coordinates) {
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t i = splits[row]; i < splits[row + 1]; i++) {
      coordinates[i * rank] = row;
    }
  }
}

cst_status cst__make_sparse(const cst__job *job) {
  const cst_tensor_spec *spec = job->plan->spec;
  int64_t rank = (int64_t)spec->num_index_columns + 1;
  opened values;
  int64_t rows;
  int64_t *coordinates;
  int64_t *dense_shape;
  int64_t *order;
  CST__TRY(open_column(job, -1, &rows, &values));
  CST__TRY(read_values(job, &values, rows));
  CST__TRY(make_coordinates(job, values.items.count, rank, &coordinates, &dense_shape));
  dense_shape[0] = rows;
  place_rows(values.splits, rows, rank, coordinates);
  for (size_t k = 0; k < spec->num_index_columns; k++) {
    opened index;
    CST__TRY(open_column(job, job->plan->siblings[k], &rows, &index));
    CST__TRY(check_counts(job, k, &index, &values, rows));
    CST__TRY(place_indices(job, k, &index, rows, rank, coordinates));
    dense_shape[k + 1] = spec->dims[k];
  }
  CST__TRY(find_order(job, values.splits, rows, rank, coordinates, &order));
  if (order != NULL) {
    CST__TRY(reorder(job, order, rank));
  }
  return job->plan->padding != NULL ? cst__pad_sparse(job, rows) : CST_OK;
}
