/* Ragged tensors: row splits from the lists along the path, then from partitions.
 *
 * The dimensions are, from the outside: the batch's rows; one per list level of the path; one per
 * partition; one per trailing uniform partition, which is no row split but an inner dimension of
 * the values. Partitions divide the innermost list of the path, so the lengths of each of those
 * lists have to add up for themselves.
 */
#include "tensor/tensor.h"

typedef struct ragged {
  const cst__job *job;
  cst__split_level *levels; /* outermost first */
  size_t num_levels;
  cst__slots parent; /* the slots of the last struct, whose children the partitions' columns are */
  size_t parent_levels; /* levels that lead to them */
  cst__slots items;
} ragged;

int64_t cst__split_levels_row(const cst__split_level *levels, size_t num_levels, int64_t list) {
  for (size_t i = num_levels; i > 0; i--) {
    list = cst__splits_find(levels[i - 1].splits, levels[i - 1].count, list);
  }
  return list;
}

static cst_status open_lists(ragged *r, const cst__slots *lists) {
  cst__split_level *l = &r->levels[r->num_levels++];
  l->count = lists->count;
  return cst__slots_open(lists, r->job->scratch, &l->splits, &r->items, r->job->error);
}

/* A flat column counts as lists of one; in a column of type null every list is missing. */
static bool is_list_missing(const ragged *r) {
  return r->num_levels == 0 ||
         (r->num_levels == r->parent_levels && r->items.view->layout == CST__LAYOUT_NULL);
}

/* Walks the path from the rows to the values. */
static cst_status walk(ragged *r) {
  const cst__plan *plan = r->job->plan;
  r->items = (cst__slots){r->job->root, r->job->root->length, 0, NULL, NULL};
  for (size_t i = 0; i < plan->num_steps; i++) {
    while (cst__view_is_list(r->items.view)) {
      cst__slots lists = r->items;
      CST__TRY(open_lists(r, &lists));
    }
    r->parent = r->items;
    r->parent_levels = r->num_levels;
    if (!cst__slots_enter(&r->parent, plan->steps[i], r->job->scratch, &r->items)) {
      return CST__TAKEN(NULL, r->job->error);
    }
  }
  while (cst__view_is_list(r->items.view) || is_list_missing(r)) {
    cst__slots lists = r->items;
    CST__TRY(open_lists(r, &lists));
  }
  return CST_OK;
}

/* Divides every count of a level by a length that has to go into each; the splits are new. */
static cst_status divide(const ragged *r, size_t num_levels, cst__split_level *l, int64_t length) {
  int64_t *splits = cst__scratch_take(r->job->scratch, l->count + 1, sizeof *splits);
  CST__TRY(CST__TAKEN(splits, r->job->error));
  for (int64_t i = 0; i <= l->count; i++) {
    splits[i] = l->splits[i] / length;
    if (l->splits[i] % length != 0) {
      int64_t list = i > 0 ? i - 1 : 0;
      return cst__row_fail(r->job, cst__split_levels_row(r->levels, num_levels, list), NULL,
                           "%lld items, which uniform rows of %lld do not divide",
                           (long long)(l->splits[i] - l->splits[list]), (long long)length);
    }
  }
  l->splits = splits;
  return CST_OK;
}

/* The splits 0, length, 2 * length, ... of a uniform partition. */
static cst_status uniform_splits(const ragged *r, int64_t total, int64_t length,
                                 cst__split_level *out) {
  out->count = total / length;
  int64_t *splits = cst__scratch_take(r->job->scratch, out->count + 1, sizeof *splits);
  CST__TRY(CST__TAKEN(splits, r->job->error));
  for (int64_t i = 0; i <= out->count; i++) {
    splits[i] = i * length;
  }
  out->splits = splits;
  return CST_OK;
}

static const char *length_name(const ragged *r, size_t k) {
  return r->job->plan->spec->partitions[k].row_length_column;
}

/* Adds up row lengths, list by list: each list's lengths have to add up to its number of items. */
static cst_status add_up(const ragged *r, size_t k, const cst__split_level *lists,
                         const cst__split_level *items, const int64_t *lengths, int64_t *splits) {
  int64_t at = 0;
  splits[0] = 0;
  for (int64_t i = 0; i < lists->count; i++) {
    int64_t expected = items->splits[i + 1] - items->splits[i];
    int64_t sum = 0;
    for (int64_t j = lists->splits[i]; j < lists->splits[i + 1]; j++) {
      if (lengths[j] < 0 || __builtin_add_overflow(sum, lengths[j], &sum)) {
        return cst__row_fail(r->job, cst__split_levels_row(r->levels, r->parent_levels, i), NULL,
                             "a row length of %lld in column '%s'", (long long)lengths[j],
                             length_name(r, k));
      }
      splits[j + 1] = at + sum;
    }
    if (sum != expected) {
      return cst__row_fail(r->job, cst__split_levels_row(r->levels, r->parent_levels, i), NULL,
                           "row lengths in column '%s' add up to %lld, but there are %lld items",
                           length_name(r, k), (long long)sum, (long long)expected);
    }
    at += sum;
  }
  return CST_OK;
}

/* The partition by a column of row lengths: `items` becomes its lists, `out` their splits. */
static cst_status length_splits(const ragged *r, size_t k, cst__split_level *items,
                                cst__split_level *out) {
  const cst__job *job = r->job;
  cst__slots lists;
  cst__slots slots;
  cst__split_level counts = {NULL, items->count};
  const int64_t *lengths;
  int64_t bad_at;
  if (!cst__slots_enter(&r->parent, job->plan->siblings[k], job->scratch, &lists)) {
    return CST__TAKEN(NULL, job->error);
  }
  CST__TRY(cst__slots_open(&lists, job->scratch, &counts.splits, &slots, job->error));
  cst_status status = cst__integers_read(job, &slots, &lengths, &bad_at);
  if (bad_at >= 0) {
    int64_t list = cst__splits_find(counts.splits, counts.count, bad_at);
    return cst__row_fail(job, cst__split_levels_row(r->levels, r->parent_levels, list), NULL,
                         "a null or a length above 2^63-1 in column '%s'", length_name(r, k));
  }
  CST__TRY(status);
  int64_t *splits = cst__scratch_take(job->scratch, slots.count + 1, sizeof *splits);
  CST__TRY(CST__TAKEN(splits, job->error));
  CST__TRY(add_up(r, k, &counts, items, lengths, splits));
  *out = (cst__split_level){splits, slots.count};
  *items = counts;
  return CST_OK;
}

/* Splits of all partitions that are no inner dimensions, from the inside out. The innermost list
 * level of the path then counts the outermost partition's rows. */
static cst_status partition(ragged *r, cst__split_level *parts, size_t num_parts) {
  const cst__plan *plan = r->job->plan;
  cst__split_level *last = &r->levels[r->num_levels - 1];
  if (plan->inner_size > 1) {
    CST__TRY(divide(r, r->num_levels - 1, last, plan->inner_size));
  }
  for (size_t k = num_parts; k > 0; k--) {
    const cst_partition *p = &plan->spec->partitions[k - 1];
    if (p->row_length_column != NULL) {
      CST__TRY(length_splits(r, k - 1, last, &parts[k - 1]));
    } else {
      CST__TRY(uniform_splits(r, last->splits[last->count], p->uniform_length, &parts[k - 1]));
      CST__TRY(divide(r, r->num_levels - 1, last, p->uniform_length));
    }
  }
  return CST_OK;
}

static cst_status narrow(const cst__job *job, const cst__split_level *l, const void **out) {
  int32_t *splits = cst__scratch_take(job->scratch, l->count + 1, sizeof *splits);
  CST__TRY(CST__TAKEN(splits, job->error));
  if (l->splits[l->count] > INT32_MAX) {
    return cst__row_fail(job, -1, "use row splits of int64, or smaller batches",
                         "%lld items, more than row splits of int32 can count",
                         (long long)l->splits[l->count]);
  }
  for (int64_t i = 0; i <= l->count; i++) {
    splits[i] = (int32_t)l->splits[i];
  }
  *out = splits;
  return CST_OK;
}

static cst_status put_splits(const cst__job *job, const cst__split_level *l, cst_ndarray *out) {
  *out = (cst_ndarray){.dtype = job->plan->spec->row_splits_dtype, .data = l->splits};
  if (out->dtype == CST_DTYPE_INT32) {
    CST__TRY(narrow(job, l, &out->data));
  }
  return cst__ndarray_shape(job, out, l->count + 1, 0, NULL);
}

static cst_status put_all_splits(const cst__job *job, const cst__split_level *levels,
                                 size_t count) {
  cst_ndarray *splits = cst__scratch_take(job->scratch, (int64_t)count, sizeof *splits);
  CST__TRY(CST__TAKEN(splits, job->error));
  for (size_t i = 0; i < count; i++) {
    CST__TRY(put_splits(job, &levels[i], &splits[i]));
  }
  job->out->num_splits = count;
  job->out->splits = splits;
  return CST_OK;
}

static cst_status put_values(const ragged *r) {
  const cst__job *job = r->job;
  const cst__plan *plan = job->plan;
  cst_ndarray *values = &job->out->values;
  int64_t null_at;
  cst_status status = cst__values_read(job, &r->items, values, &null_at);
  if (null_at >= 0) {
    return cst__row_fail(job, cst__split_levels_row(r->levels, r->num_levels, null_at),
                         "remove the nulls inside the lists",
                         "a null element; a ragged tensor has no place for it");
  }
  CST__TRY(status);
  int64_t *dims = cst__scratch_take(job->scratch, (int64_t)plan->num_inner, sizeof *dims);
  CST__TRY(CST__TAKEN(dims, job->error));
  for (size_t i = 0; i < plan->num_inner; i++) {
    dims[i] =
        plan->spec->partitions[plan->spec->num_partitions - plan->num_inner + i].uniform_length;
  }
  return cst__ndarray_shape(job, values, values->size / plan->inner_size, plan->num_inner, dims);
}

cst_status cst__make_ragged(const cst__job *job) {
  const cst__plan *plan = job->plan;
  cst__split_level levels[CST__MAX_LEVELS];
  ragged r = {.job = job, .levels = levels};
  size_t num_parts = plan->spec->num_partitions - plan->num_inner;
  CST__TRY(walk(&r));
  CST__TRY(put_values(&r));
  size_t count = r.num_levels + num_parts;
  cst__split_level *all = cst__scratch_take(job->scratch, (int64_t)count, sizeof *all);
  CST__TRY(CST__TAKEN(all, job->error));
  CST__TRY(partition(&r, all + r.num_levels, num_parts));
  memcpy(all, levels, r.num_levels * sizeof *all);
  if (plan->padding != NULL) {
    return cst__pad_levels(job, all, count, plan->inner_size);
  }
  return put_all_splits(job, all, count);
}
