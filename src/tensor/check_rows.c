/* Rows that do not fit a tensor, without making it. The rules are those of the makers (dense.c,
 * sparse.c, ragged.c), which fail at the first such row.
 */
#include "tensor/check_rows.h"

typedef struct checker {
  cst__job job;
  cst__row_callback on_fault;
  void *ctx;
} checker;

/* A column of lists, opened. */
typedef struct opened {
  cst__slots lists;
  const int64_t *splits;
  cst__slots items;
} opened;

static void tell(const checker *c, int64_t row, cst__row_reason reason, int64_t found,
                 int64_t expected, const char *column) {
  cst__row_fault fault = {row, reason, found, expected, column};
  c->on_fault(c->ctx, &fault);
}

static cst_status open_column(const checker *c, int64_t sibling, opened *out) {
  CST__TRY(cst__job_column(&c->job, sibling, &out->lists));
  return cst__slots_open(&out->lists, c->job.scratch, &out->splits, &out->items, c->job.error);
}

static void check_items(const checker *c, const opened *column) {
  int64_t first = cst__slots_first_null(&column->items);
  for (int64_t k = first; k >= 0 && k < column->items.count; k++) {
    if (cst__slot_is_null(&column->items, k)) {
      tell(c, cst__splits_find(column->splits, column->lists.count, k), CST__ROW_NULL_ITEM, 0, 0,
           NULL);
    }
  }
}

/* ---- dense ---- */

static bool are_all_of_size(const opened *column, int64_t size) {
  int64_t bad = 0;
  for (int64_t i = 0; i < column->lists.count; i++) {
    bad |= (column->splits[i + 1] - column->splits[i]) ^ size;
  }
  return bad == 0;
}

static cst_status check_dense(const checker *c) {
  const cst__plan *plan = c->job.plan;
  opened column;
  CST__TRY(open_column(c, -1, &column));
  check_items(c, &column);
  bool may_be_null = cst__slots_may_be_null(&column.lists);
  if (!may_be_null && are_all_of_size(&column, plan->row_size)) {
    return CST_OK;
  }
  for (int64_t i = 0; i < column.lists.count; i++) {
    int64_t size = column.splits[i + 1] - column.splits[i];
    if (may_be_null && cst__slot_is_null(&column.lists, i)) {
      if (!plan->spec->has_default) {
        tell(c, i, CST__ROW_NULL, 0, plan->row_size, NULL);
      }
    } else if (size != plan->row_size) {
      tell(c, i, CST__ROW_COUNT, size, plan->row_size, NULL);
    }
  }
  return CST_OK;
}

/* ---- integers ---- */

/* What stands for a null and for what is above 2^63-1. */
static const int64_t no_integer = INT64_MIN;

static bool read_one(const cst__job *job, const cst__slots *slots, int64_t k, int64_t *out) {
  cst__slots one = *slots;
  const int64_t *value;
  int64_t bad_at;
  int64_t at = cst__slot_at(slots, k);
  one.index = &at;
  one.count = 1;
  cst_status status = cst__integers_read(job, &one, &value, &bad_at);
  *out = bad_at < 0 && status == CST_OK ? *value : no_integer;
  return status == CST_OK || bad_at >= 0;
}

/* Integers of any width; one by one if one of them is none. */
static cst_status read_integers(const checker *c, const cst__slots *slots, const int64_t **out) {
  int64_t bad_at;
  cst_status status = cst__integers_read(&c->job, slots, out, &bad_at);
  if (bad_at < 0) {
    return status;
  }
  int64_t *values = cst__scratch_take(c->job.scratch, slots->count, sizeof *values);
  CST__TRY(CST__TAKEN(values, c->job.error));
  for (int64_t k = 0; k < slots->count; k++) {
    if (!read_one(&c->job, slots, k, &values[k])) {
      return CST__TAKEN(NULL, c->job.error);
    }
  }
  *out = values;
  return CST_OK;
}

/* ---- sparse ---- */

typedef struct index_column {
  opened lists;
  const int64_t *values;
} index_column;

/* True if the row has as many indices in every column as values. */
static bool has_equal_lengths(const checker *c, const opened *values, const index_column *indexes,
                              int64_t row) {
  int64_t size = values->splits[row + 1] - values->splits[row];
  for (size_t k = 0; k < c->job.plan->spec->num_index_columns; k++) {
    const int64_t *splits = indexes[k].lists.splits;
    if (splits[row + 1] - splits[row] != size) {
      tell(c, row, CST__ROW_LENGTHS, splits[row + 1] - splits[row], size,
           c->job.plan->spec->index_columns[k]);
      return false;
    }
  }
  return true;
}

static bool are_indices_valid(const checker *c, const index_column *indexes, int64_t row) {
  const cst_tensor_spec *spec = c->job.plan->spec;
  for (size_t k = 0; k < spec->num_index_columns; k++) {
    const int64_t *splits = indexes[k].lists.splits;
    int64_t limit = spec->dims[k] >= 0 ? spec->dims[k] - 1 : INT64_MAX;
    for (int64_t i = splits[row]; i < splits[row + 1]; i++) {
      int64_t index = indexes[k].values[i];
      if (index < 0 || index > limit) {
        tell(c, row, CST__ROW_INDEX, index, limit, spec->index_columns[k]);
        return false;
      }
    }
  }
  return true;
}

/* Below 0 if the i-th coordinate of the row stands in front of the next one. */
static int compare_next(const index_column *indexes, size_t rank, int64_t row, int64_t i) {
  for (size_t k = 0; k < rank; k++) {
    const int64_t *values = indexes[k].values + indexes[k].lists.splits[row] + i;
    if (values[0] != values[1]) {
      return values[0] < values[1] ? -1 : 1;
    }
  }
  return 0;
}

static void check_order(const checker *c, const index_column *indexes, int64_t row) {
  size_t rank = c->job.plan->spec->num_index_columns;
  const int64_t *splits = indexes[0].lists.splits;
  int64_t size = splits[row + 1] - splits[row];
  for (int64_t i = 0; i + 1 < size; i++) {
    int order = compare_next(indexes, rank, row, i);
    if (order >= 0) {
      tell(c, row, order > 0 ? CST__ROW_ORDER : CST__ROW_DOUBLE, 0, 0, NULL);
      return;
    }
  }
}

static cst_status check_sparse(const checker *c) {
  const cst_tensor_spec *spec = c->job.plan->spec;
  opened values;
  CST__TRY(open_column(c, -1, &values));
  check_items(c, &values);
  index_column *indexes =
      cst__scratch_take(c->job.scratch, (int64_t)spec->num_index_columns, sizeof *indexes);
  CST__TRY(CST__TAKEN(indexes, c->job.error));
  for (size_t k = 0; k < spec->num_index_columns; k++) {
    CST__TRY(open_column(c, c->job.plan->siblings[k], &indexes[k].lists));
    CST__TRY(read_integers(c, &indexes[k].lists.items, &indexes[k].values));
  }
  for (int64_t row = 0; row < values.lists.count; row++) {
    if (has_equal_lengths(c, &values, indexes, row) && are_indices_valid(c, indexes, row) &&
        spec->already_sorted) {
      check_order(c, indexes, row);
    }
  }
  return CST_OK;
}

/* ---- ragged ---- */

typedef struct ragged {
  const checker *c;
  cst__split_level levels[CST__MAX_LEVELS]; /* outermost first */
  size_t num_levels;
  cst__slots parent; /* the slots of the last struct */
  size_t parent_levels;
  cst__slots items;
} ragged;

static cst_status open_level(ragged *r) {
  cst__slots lists = r->items;
  cst__split_level *l = &r->levels[r->num_levels++];
  l->count = lists.count;
  return cst__slots_open(&lists, r->c->job.scratch, &l->splits, &r->items, r->c->job.error);
}

/* A flat column counts as lists of one; in a column of type null every list is missing. */
static bool is_list_missing(const ragged *r) {
  return r->num_levels == 0 ||
         (r->num_levels == r->parent_levels && r->items.view->layout == CST__LAYOUT_NULL);
}

static cst_status walk(ragged *r) {
  const cst__job *job = &r->c->job;
  r->items = (cst__slots){job->root, job->root->length, 0, NULL, NULL};
  for (size_t i = 0; i < job->plan->num_steps; i++) {
    while (cst__view_is_list(r->items.view)) {
      CST__TRY(open_level(r));
    }
    r->parent = r->items;
    r->parent_levels = r->num_levels;
    if (!cst__slots_enter(&r->parent, job->plan->steps[i], job->scratch, &r->items)) {
      return CST__TAKEN(NULL, job->error);
    }
  }
  while (cst__view_is_list(r->items.view) || is_list_missing(r)) {
    CST__TRY(open_level(r));
  }
  return CST_OK;
}

static void check_ragged_items(const ragged *r) {
  int64_t first = cst__slots_first_null(&r->items);
  for (int64_t k = first; k >= 0 && k < r->items.count; k++) {
    if (cst__slot_is_null(&r->items, k)) {
      tell(r->c, cst__split_levels_row(r->levels, r->num_levels, k), CST__ROW_NULL_ITEM, 0, 0,
           NULL);
    }
  }
}

/* A column of row lengths. */
typedef struct lengths {
  const int64_t *splits;
  const int64_t *values;
} lengths;

static cst_status open_lengths(const ragged *r, size_t k, lengths *out) {
  const cst__job *job = &r->c->job;
  cst__slots lists;
  cst__slots items;
  if (!cst__slots_enter(&r->parent, job->plan->siblings[k], job->scratch, &lists)) {
    return CST__TAKEN(NULL, job->error);
  }
  CST__TRY(cst__slots_open(&lists, job->scratch, &out->splits, &items, job->error));
  return read_integers(r->c, &items, &out->values);
}

/* True if the lengths of list i add up to `count`. */
static bool add_up(const ragged *r, size_t k, const lengths *column, int64_t i, int64_t count) {
  const char *name = r->c->job.plan->spec->partitions[k].row_length_column;
  int64_t row = cst__split_levels_row(r->levels, r->num_levels - 1, i);
  int64_t sum = 0;
  for (int64_t j = column->splits[i]; j < column->splits[i + 1]; j++) {
    int64_t length = column->values[j];
    if (length < 0 || __builtin_add_overflow(sum, length, &sum)) {
      tell(r->c, row, CST__ROW_LENGTH, length, 0, name);
      return false;
    }
  }
  if (sum != count) {
    tell(r->c, row, CST__ROW_SUM, sum, count, name);
  }
  return sum == count;
}

/* One innermost list, from its values to the outermost partition. */
static void check_list(const ragged *r, const lengths *columns, int64_t i) {
  const cst_tensor_spec *spec = r->c->job.plan->spec;
  const cst__split_level *last = &r->levels[r->num_levels - 1];
  int64_t count = last->splits[i + 1] - last->splits[i];
  for (size_t k = spec->num_partitions; k > 0; k--) {
    int64_t uniform = spec->partitions[k - 1].uniform_length;
    if (spec->partitions[k - 1].row_length_column != NULL) {
      if (!add_up(r, k - 1, &columns[k - 1], i, count)) {
        return;
      }
      count = columns[k - 1].splits[i + 1] - columns[k - 1].splits[i];
    } else if (count % uniform != 0) {
      tell(r->c, cst__split_levels_row(r->levels, r->num_levels - 1, i), CST__ROW_DIVISION, count,
           uniform, NULL);
      return;
    } else {
      count /= uniform;
    }
  }
}

static cst_status check_ragged(const checker *c) {
  const cst_tensor_spec *spec = c->job.plan->spec;
  ragged r = {.c = c};
  CST__TRY(walk(&r));
  check_ragged_items(&r);
  if (spec->num_partitions == 0) {
    return CST_OK;
  }
  lengths *columns =
      cst__scratch_take(c->job.scratch, (int64_t)spec->num_partitions, sizeof *columns);
  CST__TRY(CST__TAKEN(columns, c->job.error));
  for (size_t k = 0; k < spec->num_partitions; k++) {
    if (spec->partitions[k].row_length_column != NULL) {
      CST__TRY(open_lengths(&r, k, &columns[k]));
    }
  }
  for (int64_t i = 0; i < r.levels[r.num_levels - 1].count; i++) {
    check_list(&r, columns, i);
  }
  return CST_OK;
}

/* ---- all kinds ---- */

static cst_status check_varlen(const checker *c) {
  opened column;
  cst__slots lists;
  CST__TRY(cst__job_column(&c->job, -1, &lists));
  if (!cst__view_is_list(lists.view) || lists.view->children[0].null_count == 0) {
    return CST_OK; /* nothing but a null among the values can be wrong */
  }
  CST__TRY(open_column(c, -1, &column));
  check_items(c, &column);
  return CST_OK;
}

static cst_status check_structured(const checker *c) {
  const cst__plan *plan = c->job.plan;
  for (size_t i = 0; i < plan->num_fields; i++) {
    CST__TRY(cst__check_rows(&plan->fields[i], c->job.root, c->job.scratch, c->on_fault, c->ctx,
                             c->job.error));
  }
  return CST_OK;
}

cst_status cst__check_rows(const cst__plan *plan, const cst__view *root, cst__scratch *scratch,
                           cst__row_callback on_fault, void *ctx, cst_error *error) {
  checker c = {.job = {.plan = plan, .root = root, .scratch = scratch, .error = error},
               .on_fault = on_fault,
               .ctx = ctx};
  switch (plan->spec->kind) {
    case CST_TENSOR_DENSE:
      return check_dense(&c);
    case CST_TENSOR_VARLEN_SPARSE:
      return check_varlen(&c);
    case CST_TENSOR_SPARSE:
      return check_sparse(&c);
    case CST_TENSOR_RAGGED:
      return check_ragged(&c);
    case CST_TENSOR_STRUCTURED:
      return check_structured(&c);
  }
  return CST_OK;
}
