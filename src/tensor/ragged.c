/* Ragged tensors: row splits from the lists along the path, then from partitions.
 *
 * The dimensions are, from the outside: the batch's rows; one per list level of the path; one per
 * partition; one per trailing uniform partition, which is not a row split but an inner dimension of
 * the values. Partitions divide the innermost list of the path, so the lengths of each of those
 * lists have to add up for themselves.
 *
 * As columns they are nested lists, or, where the partitions name columns of row lengths, one list
 * of values and a list of lengths for each.
 */
#include "tensor/kind.h"

/* ---- plans ---- */

/* Trailing uniform partitions are dimensions of the values. */
static cst_status ragged_plan_inner(const cst__adapter_planner *p, cst__adapter_plan *plan) {
  const cst_tensor_spec *spec = p->spec;
  bool is_trailing = true;
  plan->inner_size = 1;
  for (size_t i = spec->num_partitions; i > 0; i--) {
    const cst_partition *part = &spec->partitions[i - 1];
    bool is_uniform = part->row_length_column == NULL;
    if (is_uniform && part->uniform_length <= 0) {
      return cst__plan_fail(p, "a uniform row length has to be greater than 0");
    }
    is_trailing = is_trailing && is_uniform;
    if (is_trailing) {
      plan->num_inner++;
      if (__builtin_mul_overflow(plan->inner_size, part->uniform_length, &plan->inner_size)) {
        return cst__plan_fail(p, "the uniform row lengths multiply to more than 2^63");
      }
    }
  }
  return CST_OK;
}

/* Row lengths divide the values of one slot of the parent, so such a slot has to hold one list of
 * them: as its type says, or because a flat column counts as lists of one, type null as no list. */
static bool ragged_has_one_list(const cst__adapter_column *column) {
  return column->own_lists == 1 ||
         (column->own_lists == 0 &&
          (column->outer_lists == 0 || column->leaf->layout == CST__LAYOUT_NULL));
}

static cst_status ragged_plan(const cst__adapter_planner *p, cst__adapter_plan *plan) {
  const cst_tensor_spec *spec = p->spec;
  cst__adapter_column c;
  CST__TRY(cst__plan_column(p, plan, &c));
  CST__TRY(ragged_plan_inner(p, plan));
  bool is_flat = c.own_lists == 0 && (c.outer_lists == 0 || c.leaf->layout == CST__LAYOUT_NULL);
  plan->num_lists = c.outer_lists + c.own_lists + is_flat;
  if (spec->row_splits_dtype != CST_DTYPE_INT64 && spec->row_splits_dtype != CST_DTYPE_INT32) {
    return cst__plan_fail(p, "row splits are int64 or int32");
  }
  if (spec->num_partitions == 0) {
    return CST_OK;
  }
  int64_t *siblings = cst__arena_take(p->arena, spec->num_partitions * sizeof *siblings);
  if (siblings == NULL) {
    return cst__fail_memory(p->error, spec->num_partitions * sizeof *siblings);
  }
  for (size_t i = 0; i < spec->num_partitions; i++) {
    const char *name = spec->partitions[i].row_length_column;
    siblings[i] = -1;
    if (name == NULL) {
      continue;
    }
    CST__TRY(cst__plan_sibling(p, c.parent, name, &siblings[i]));
    if (!ragged_has_one_list(&c)) {
      return cst__plan_fail(p, "row lengths need a value column of one level of lists");
    }
  }
  plan->siblings = siblings;
  return CST_OK;
}

static size_t ragged_count_padded(const cst__adapter_plan *plan) {
  return plan->num_lists + plan->spec->num_partitions - plan->num_inner;
}

static int64_t ragged_extent(const cst__adapter_plan *plan, size_t dim) {
  if (dim < plan->num_lists) {
    return -1;
  }
  const cst_partition *partition = &plan->spec->partitions[dim - plan->num_lists];
  return partition->row_length_column == NULL ? partition->uniform_length : -1;
}

/* ---- making ---- */

typedef struct ragged {
  const cst__making *m;
  cst__lists *levels; /* outermost first */
  size_t num_levels;
  cst__slots parent; /* the slots of the last struct, whose children the partitions' columns are */
  size_t parent_levels; /* levels that lead to them */
  cst__slots items;
  cst__list_faults faults; /* of the innermost lists */
} ragged;

static cst_status ragged_open_level(ragged *r) {
  const cst__slots lists = r->items;
  return cst__slots_items(&lists, r->m->scratch, &r->levels[r->num_levels++], &r->items,
                          r->m->error);
}

/* A flat column counts as lists of one; in a column of type null every list is missing. */
static bool ragged_lacks_list(const ragged *r) {
  return r->num_levels == 0 ||
         (r->num_levels == r->parent_levels && r->items.view->layout == CST__LAYOUT_NULL);
}

/* Follows the path from the rows to the values. */
static cst_status ragged_follow(ragged *r) {
  const cst__making *m = r->m;
  const cst__adapter_plan *plan = m->plan;
  r->items = cst__slots_all(m->root);
  for (size_t i = 0; i < plan->num_steps; i++) {
    while (cst__view_is_list(r->items.view)) {
      CST__TRY(ragged_open_level(r));
    }
    r->parent = r->items;
    r->parent_levels = r->num_levels;
    CST__TRY(cst__slots_enter(&r->items, plan->steps[i], m->scratch, m->error));
  }
  while (cst__view_is_list(r->items.view) || ragged_lacks_list(r)) {
    CST__TRY(ragged_open_level(r));
  }
  r->faults = (cst__list_faults){.m = m, .count = r->levels[r->num_levels - 1].count};
  return CST_OK;
}

static int64_t ragged_row_of(const ragged *r, int64_t list) {
  return cst__levels_find(r->levels, r->num_levels - 1, list);
}

/* The innermost list does not fit; what comes after its first fault says nothing. */
static cst_status ragged_refuse(ragged *r, int64_t list, cst__row_fault fault) {
  if (cst__list_faults_have(&r->faults, list)) {
    return CST_OK;
  }
  fault.row = ragged_row_of(r, list);
  return cst__list_faults_add(&r->faults, list, &fault);
}

/* Divides the sizes of the innermost lists by a length that has to go into each: new splits. */
static cst_status ragged_divide(ragged *r, int64_t length) {
  cst__lists *last = &r->levels[r->num_levels - 1];
  int64_t *splits = cst__arena_take_items(r->m->scratch, last->count + 1, sizeof *splits);
  CST__TRY(CST__TAKEN(splits, r->m->error));
  splits[0] = 0;
  for (int64_t i = 0; i < last->count; i++) {
    int64_t size = last->splits[i + 1] - last->splits[i];
    splits[i + 1] = splits[i] + size / length;
    if (size % length != 0) {
      CST__TRY(ragged_refuse(
          r, i, (cst__row_fault){.reason = CST__ROW_DIVISION, .found = size, .expected = length}));
    }
  }
  last->splits = splits;
  return CST_OK;
}

/* A column of row lengths: lists that belong to the innermost ones. */
typedef struct ragged_lengths {
  const char *name;
  cst__lists lists;
  int64_t count;
  const int64_t *values;
} ragged_lengths;

static cst_status ragged_read_lengths(const ragged *r, size_t k, ragged_lengths *out) {
  const cst__making *m = r->m;
  cst__slots lists = r->parent;
  cst__slots items;
  int64_t bad_at;
  out->name = m->plan->spec->partitions[k].row_length_column;
  CST__TRY(cst__slots_enter(&lists, m->plan->siblings[k], m->scratch, m->error));
  CST__TRY(cst__slots_items(&lists, m->scratch, &out->lists, &items, m->error));
  out->count = items.chosen.count;
  cst_status status = cst__integers_read(m, &items, &out->values, &bad_at);
  if (bad_at >= 0) {
    int64_t list = cst__splits_find(out->lists.splits, out->lists.count, bad_at);
    return cst__row_fail(m, ragged_row_of(r, list), NULL,
                         "a null or a length above 2^63-1 in column '%s'", out->name);
  }
  return status;
}

/* A list whose lengths do not add up: one of them is not a length or adds up to more than 2^63-1,
 * or their sum is not the list's number of items. */
static cst_status ragged_refuse_lengths(ragged *r, const ragged_lengths *lengths, int64_t list) {
  const int64_t *items = r->levels[r->num_levels - 1].splits;
  const int64_t *values = lengths->values;
  cst__row_fault fault = {
      .reason = CST__ROW_SUM, .expected = items[list + 1] - items[list], .column = lengths->name};
  for (int64_t j = lengths->lists.splits[list]; j < lengths->lists.splits[list + 1]; j++) {
    if (values[j] < 0 || __builtin_add_overflow(fault.found, values[j], &fault.found)) {
      fault.reason = CST__ROW_LENGTH;
      fault.found = values[j];
      fault.expected = 0;
      break;
    }
  }
  return ragged_refuse(r, list, fault);
}

/* Adds up all lengths as if they belonged to one list; false if those of some list do not fit its
 * items. The highest bit of `signs` is that of a length below 0, or of a sum above 2^63-1. */
static bool lengths_add_up(const ragged_lengths *lengths, const int64_t *items, int64_t *splits) {
  const int64_t *lists = lengths->lists.splits;
  uint64_t sum = 0;
  uint64_t signs = 0;
  uint64_t differences = 0;
  splits[0] = 0;
  for (int64_t j = 0; j < lengths->count; j++) {
    sum += (uint64_t)lengths->values[j];
    signs |= (uint64_t)lengths->values[j] | sum;
    splits[j + 1] = (int64_t)sum;
  }
  for (int64_t i = 0; i <= lengths->lists.count; i++) {
    differences |= (uint64_t)(splits[lists[i]] ^ items[i]);
  }
  return signs <= INT64_MAX && differences == 0;
}

/* The lengths of each list have to add up to its number of items: fills splits[count + 1]. */
static cst_status ragged_add_up(ragged *r, const ragged_lengths *lengths, int64_t *splits) {
  const int64_t *items = r->levels[r->num_levels - 1].splits;
  const int64_t *lists = lengths->lists.splits;
  if (lengths_add_up(lengths, items, splits)) {
    return CST_OK;
  }
  for (int64_t i = 0; i < lengths->lists.count; i++) {
    int64_t sum = 0;
    bool fits = true;
    for (int64_t j = lists[i]; j < lists[i + 1] && fits; j++) {
      fits = lengths->values[j] >= 0 && !__builtin_add_overflow(sum, lengths->values[j], &sum);
      splits[j + 1] = (int64_t)((uint64_t)items[i] + (uint64_t)sum);
    }
    if (!fits || sum != items[i + 1] - items[i]) {
      CST__TRY(ragged_refuse_lengths(r, lengths, i));
    }
  }
  return CST_OK;
}

/* Splits of the partitions, from the inside out: parts[k]. The innermost list level of the path
 * then counts the rows of the outermost one. The inner dimensions of the values are divided at
 * once, and have no splits; where rows are only checked (`parts` is NULL) they are looked at one by
 * one. */
static cst_status ragged_partition(ragged *r, cst__lists *parts) {
  const cst__adapter_plan *plan = r->m->plan;
  const cst__lists *last = &r->levels[r->num_levels - 1];
  size_t k = plan->spec->num_partitions;
  if (parts != NULL && plan->inner_size > 1) {
    CST__TRY(ragged_divide(r, plan->inner_size));
  }
  for (k -= parts != NULL ? plan->num_inner : 0; k > 0; k--) {
    const cst_partition *p = &plan->spec->partitions[k - 1];
    cst__lists part;
    if (p->row_length_column != NULL) {
      /* The innermost lists become those of the column, its lengths the part's splits. */
      ragged_lengths lengths;
      CST__TRY(ragged_read_lengths(r, k - 1, &lengths));
      int64_t *splits = cst__arena_take_items(r->m->scratch, lengths.count + 1, sizeof *splits);
      CST__TRY(CST__TAKEN(splits, r->m->error));
      CST__TRY(ragged_add_up(r, &lengths, splits));
      part = (cst__lists){lengths.count, -1, splits, NULL};
      r->levels[r->num_levels - 1].splits = lengths.lists.splits;
    } else {
      if (parts != NULL) {
        CST__TRY(cst__lists_fixed(cst__lists_total(last) / p->uniform_length, p->uniform_length,
                                  r->m->scratch, &part, r->m->error));
      }
      CST__TRY(ragged_divide(r, p->uniform_length));
    }
    if (parts != NULL) {
      parts[k - 1] = part;
    }
  }
  return CST_OK;
}

static cst_status ragged_splits_to_int32(const cst__making *m, const cst__lists *l,
                                         const void **out) {
  int32_t *splits = cst__arena_take_items(m->scratch, l->count + 1, sizeof *splits);
  CST__TRY(CST__TAKEN(splits, m->error));
  if (l->splits[l->count] > INT32_MAX) {
    return cst__row_fail(m, -1, "use row splits of int64, or smaller batches",
                         "%lld items, more than row splits of int32 can count",
                         (long long)l->splits[l->count]);
  }
  for (int64_t i = 0; i <= l->count; i++) {
    splits[i] = (int32_t)l->splits[i];
  }
  *out = splits;
  return CST_OK;
}

static cst_status ragged_put_all_splits(const cst__making *m, const cst__lists *levels,
                                        size_t count) {
  cst_ndarray *splits = cst__arena_take_items(m->scratch, (int64_t)count, sizeof *splits);
  CST__TRY(CST__TAKEN(splits, m->error));
  for (size_t i = 0; i < count; i++) {
    cst_ndarray *out = &splits[i];
    *out = (cst_ndarray){.dtype = m->plan->spec->row_splits_dtype, .data = levels[i].splits};
    if (out->dtype == CST_DTYPE_INT32) {
      CST__TRY(ragged_splits_to_int32(m, &levels[i], &out->data));
    }
    CST__TRY(cst__ndarray_shape(m, out, levels[i].count + 1, 0, NULL));
  }
  m->out->num_splits = count;
  m->out->splits = splits;
  return CST_OK;
}

static cst_status ragged_read_values(const ragged *r) {
  const cst__making *m = r->m;
  const cst__adapter_plan *plan = m->plan;
  cst_ndarray *values = &m->out->values;
  CST__TRY(cst__values_read(m, &r->items, values));
  int64_t *dims = cst__arena_take_items(m->scratch, (int64_t)plan->num_inner, sizeof *dims);
  CST__TRY(CST__TAKEN(dims, m->error));
  for (size_t i = 0; i < plan->num_inner; i++) {
    dims[i] =
        plan->spec->partitions[plan->spec->num_partitions - plan->num_inner + i].uniform_length;
  }
  return cst__ndarray_shape(m, values, values->size / plan->inner_size, plan->num_inner, dims);
}

static cst_status ragged_make(const cst__making *m) {
  const cst__adapter_plan *plan = m->plan;
  cst__lists levels[CST__MAX_LEVELS];
  ragged r = {.m = m, .levels = levels};
  CST__TRY(ragged_follow(&r));
  CST__TRY(cst__items_check(m, &r.items, levels, r.num_levels));
  if (m->out == NULL) {
    CST__TRY(ragged_partition(&r, NULL));
    cst__list_faults_tell(&r.faults);
    return CST_OK;
  }
  CST__TRY(ragged_read_values(&r));
  size_t count = r.num_levels + plan->spec->num_partitions - plan->num_inner;
  cst__lists *all = cst__arena_take_items(m->scratch, (int64_t)count, sizeof *all);
  CST__TRY(CST__TAKEN(all, m->error));
  CST__TRY(ragged_partition(&r, all + r.num_levels));
  memcpy(all, levels, r.num_levels * sizeof *all);
  if (plan->padding != NULL) {
    return cst__pad_levels(m, all, count, plan->inner_size);
  }
  return ragged_put_all_splits(m, all, count);
}

/* ---- back: specs and sizes ---- */

static cst_status ragged_describe(cst__describer *d, const cst__describe_place *at,
                                  const cst_tensor *tensor, cst_tensor_spec *spec) {
  CST__TRY(cst__describe_dtype(d, tensor, spec));
  size_t count = tensor->values.num_dims - 1;
  cst_partition *partitions = cst__describe_take(d, count, sizeof *partitions);
  if (partitions == NULL) {
    return CST_NO_MEMORY;
  }
  if (tensor->num_splits == 0 || tensor->splits == NULL) {
    return cst__fail(d->error, CST_SCHEMA, NULL, "a ragged tensor without row splits");
  }
  for (size_t i = 0; i < count; i++) {
    partitions[i].uniform_length = tensor->values.shape[i + 1];
  }
  spec->partitions = partitions;
  spec->num_partitions = count;
  spec->row_splits_dtype =
      tensor->splits[0].dtype == CST_DTYPE_INT32 ? CST_DTYPE_INT32 : CST_DTYPE_INT64;
  return cst__describe_path(d, at, spec->name, spec);
}

static bool ragged_measure(cst__encode_leaf *leaf) {
  const cst_tensor_spec *spec = leaf->spec;
  for (size_t i = spec->num_partitions; i > 0; i--) {
    const cst_partition *part = &spec->partitions[i - 1];
    if (part->row_length_column != NULL) {
      break;
    }
    leaf->num_inner++;
    if (__builtin_mul_overflow(leaf->row_size, part->uniform_length, &leaf->row_size)) {
      return false;
    }
  }
  return true;
}

/* The splits are, from the outside: one per level of lists, of which the outermost may be lists of
 * the struct that holds the columns; then one per partition that is not a dimension of the values.
 */
typedef struct ragged_encoding {
  cst__encoding *e;
  const cst__encode_leaf *leaf;
  const cst_tensor *tensor;
  const int64_t **splits; /* as int64 */
  size_t num_levels;      /* of lists; the partitions' splits come after them */
  size_t num_parts;
} ragged_encoding;

static int64_t ragged_encode_count(const ragged_encoding *r, size_t level) {
  return r->tensor->splits[level].size - 1;
}

/* The row of the batch that holds list `i` of a level whose splits above are sound. */
static int64_t ragged_encode_row(const ragged_encoding *r, size_t level, int64_t i) {
  for (; level > 0; level--) {
    i = cst__splits_find(r->splits[level - 1], ragged_encode_count(r, level - 1), i);
  }
  return i;
}

/* ---- back: the caller's splits ---- */

static cst_status ragged_encode_widen(const ragged_encoding *r, const cst_ndarray *splits,
                                      const int64_t **out) {
  const int32_t *from = splits->data;
  if (splits->dtype == CST_DTYPE_INT64) {
    *out = splits->data;
    return CST_OK;
  }
  size_t size = 0;
  int64_t *to = cst__mul((size_t)splits->size, sizeof *to, &size)
                    ? cst__arena_take(&r->e->scratch, size)
                    : NULL;
  if (to == NULL) {
    return cst__fail_memory(r->e->error, size);
  }
  for (int64_t i = 0; i < splits->size; i++) {
    to[i] = from[i];
  }
  *out = to;
  return CST_OK;
}

static cst_status ragged_encode_check_array(const ragged_encoding *r, const cst_ndarray *splits) {
  cst_error *error = r->e->error;
  cst_status status = cst__encode_check_array("row splits", splits, error);
  if (status != CST_OK) {
    return cst__encode_blame(error, r->leaf, status);
  }
  if ((splits->dtype != CST_DTYPE_INT64 && splits->dtype != CST_DTYPE_INT32) ||
      splits->num_dims != 1 || splits->size == 0) {
    return cst__encode_fail(error, r->leaf, -1, NULL,
                            "row splits of type %s, %zu dimensions and %lld numbers, expected "
                            "int64 or int32, one dimension, and one number more than lists",
                            cst_dtype_name(splits->dtype), splits->num_dims,
                            (long long)splits->size);
  }
  return CST_OK;
}

/* Splits begin at 0, do not decrease, and end at the number of what they divide. */
static cst_status ragged_encode_check_splits(const ragged_encoding *r, size_t level) {
  const int64_t *splits = r->splits[level];
  int64_t count = ragged_encode_count(r, level);
  bool is_last = level + 1 == r->tensor->num_splits;
  int64_t end = is_last ? r->tensor->values.shape[0] : ragged_encode_count(r, level + 1);
  if (splits[0] != 0) {
    return cst__encode_fail(r->e->error, r->leaf, -1, NULL,
                            "row splits of level %zu begin at %lld, expected 0", level,
                            (long long)splits[0]);
  }
  for (int64_t i = 0; i < count; i++) {
    if (splits[i + 1] < splits[i]) {
      return cst__encode_fail(r->e->error, r->leaf, ragged_encode_row(r, level, i), NULL,
                              "row splits of level %zu decrease from %lld to %lld", level,
                              (long long)splits[i], (long long)splits[i + 1]);
    }
  }
  if (splits[count] != end) {
    return cst__encode_fail(r->e->error, r->leaf, -1, NULL,
                            "row splits of level %zu end at %lld, but there are %lld %s", level,
                            (long long)splits[count], (long long)end,
                            is_last ? "values" : "lists in the next level");
  }
  return CST_OK;
}

static cst_status ragged_encode_read_splits(ragged_encoding *r) {
  size_t count = r->tensor->num_splits;
  r->splits = cst__arena_take(&r->e->scratch, count * sizeof *r->splits);
  if (r->splits == NULL) {
    return cst__fail_memory(r->e->error, count);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(ragged_encode_check_array(r, &r->tensor->splits[i]));
    CST__TRY(ragged_encode_widen(r, &r->tensor->splits[i], &r->splits[i]));
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(ragged_encode_check_splits(r, i));
  }
  return CST_OK;
}

/* A uniform partition that is not a dimension has lists of its length alone. */
static cst_status ragged_encode_check_uniform(const ragged_encoding *r, size_t part) {
  size_t level = r->num_levels + part;
  const int64_t *splits = r->splits[level];
  int64_t expected = r->leaf->spec->partitions[part].uniform_length;
  for (int64_t i = 0; i < ragged_encode_count(r, level); i++) {
    if (splits[i + 1] - splits[i] != expected) {
      return cst__encode_fail(r->e->error, r->leaf, ragged_encode_row(r, level, i), NULL,
                              "a list of %lld in a uniform partition of %lld",
                              (long long)(splits[i + 1] - splits[i]), (long long)expected);
    }
  }
  return CST_OK;
}

/* ---- back: lists of structs ---- */

static bool ragged_encode_levels_are(const ragged_encoding *r, const int64_t *const *levels,
                                     size_t num_levels) {
  int64_t count = r->e->num_rows;
  for (size_t i = 0; i < num_levels; i++) {
    if (ragged_encode_count(r, i) != count ||
        memcmp(levels[i], r->splits[i], ((size_t)count + 1) * sizeof **levels) != 0) {
      return false;
    }
    count = levels[i][count];
  }
  return true;
}

/* The lists around the structs on the path are those of all tensors in them. */
static cst_status ragged_encode_share_levels(const ragged_encoding *r) {
  for (const cst__encode_node *n = r->leaf->parent; n != NULL; n = n->parent) {
    const int64_t **levels = r->e->levels[n->number];
    if (levels == NULL) {
      r->e->levels[n->number] = r->splits;
    } else if (!ragged_encode_levels_are(r, levels, r->e->outer[n->number])) {
      return cst__encode_fail(r->e->error, r->leaf, -1,
                              "give the tensors paths of different structs",
                              "its outer row splits differ from those of another tensor in the "
                              "lists of struct '%s'",
                              n->name);
    }
  }
  return CST_OK;
}

/* ---- back: columns ---- */

/* Puts lists around the column, from the innermost to those of its struct: `last` are the offsets
 * of the innermost ones, times `scale`. */
static cst_status ragged_encode_wrap_levels(const ragged_encoding *r, struct ArrowArray *column,
                                            const int64_t *last, int64_t scale) {
  size_t outer = r->e->outer[r->leaf->parent->number];
  for (size_t level = r->num_levels; level > outer; level--) {
    bool is_last = level == r->num_levels;
    const int64_t *from = is_last ? last : r->splits[level - 1];
    int64_t count = ragged_encode_count(r, level - 1);
    int64_t *offsets = NULL;
    CST__TRY(cst__encode_wrap(r->e, count, column, &offsets));
    for (int64_t i = 0; i <= count; i++) {
      offsets[i] = is_last ? from[i] * scale : from[i];
    }
  }
  return CST_OK;
}

/* Makes the columns of the partitions, and moves `*last`, the innermost lists, down to what the
 * last partition divides. */
static cst_status ragged_encode_put_parts(const ragged_encoding *r, const int64_t **last) {
  const cst__encode_node *node = r->leaf->columns->more;
  int64_t count = ragged_encode_count(r, r->num_levels - 1);
  for (size_t part = 0; part < r->num_parts; part++) {
    const int64_t *splits = r->splits[r->num_levels + part];
    if (r->leaf->spec->partitions[part].row_length_column == NULL) {
      CST__TRY(ragged_encode_check_uniform(r, part));
    } else {
      /* The column of a partition's row lengths, which are lists by `last`. */
      size_t level = r->num_levels + part;
      int64_t num_lengths = ragged_encode_count(r, level);
      struct ArrowArray *column = &r->e->arrays[node->number];
      int64_t *lengths = NULL;
      CST__TRY(cst__encode_flat_integers(r->e, num_lengths, column, &lengths));
      for (int64_t i = 0; i < num_lengths; i++) {
        lengths[i] = r->splits[level][i + 1] - r->splits[level][i];
      }
      CST__TRY(ragged_encode_wrap_levels(r, column, *last, 1));
      node = node->more;
    }
    int64_t *below = cst__arena_take(&r->e->scratch, ((size_t)count + 1) * sizeof *below);
    if (below == NULL) {
      return cst__fail_memory(r->e->error, (size_t)count);
    }
    for (int64_t i = 0; i <= count; i++) {
      below[i] = splits[(*last)[i]];
    }
    *last = below;
  }
  return CST_OK;
}

static cst_status ragged_encode(cst__encoding *e, const cst__encode_leaf *leaf) {
  ragged_encoding r = {.e = e,
                       .leaf = leaf,
                       .tensor = e->tensors[leaf->number],
                       .num_levels = e->types[leaf->number].num_levels,
                       .num_parts = cst__encode_num_parts(leaf)};
  struct ArrowArray *column = &e->arrays[leaf->columns->number];
  /* The values' dimensions are the trailing uniform partitions. */
  const cst_ndarray *values = &r.tensor->values;
  const cst_tensor_spec *spec = r.leaf->spec;
  size_t num_inner = r.leaf->num_inner;
  if (values->num_dims != num_inner + 1) {
    return cst__encode_fail(
        r.e->error, r.leaf, -1, "inner dimensions are the uniform partitions at the end",
        "values of %zu dimensions, expected %zu", values->num_dims, num_inner + 1);
  }
  for (size_t i = 0; i < num_inner; i++) {
    int64_t expected = spec->partitions[r.num_parts + i].uniform_length;
    if (values->shape[i + 1] != expected) {
      return cst__encode_fail(r.e->error, r.leaf, -1, NULL,
                              "dim %zu of the values has the size %lld, expected %lld", i + 1,
                              (long long)values->shape[i + 1], (long long)expected);
    }
  }
  CST__TRY(ragged_encode_read_splits(&r));
  CST__TRY(cst__encode_rows(e, leaf, ragged_encode_count(&r, 0), ragged_encode_count(&r, 0)));
  CST__TRY(ragged_encode_share_levels(&r));
  const int64_t *last = r.splits[r.num_levels - 1];
  CST__TRY(ragged_encode_put_parts(&r, &last));
  CST__TRY(cst__encode_flat(e, &r.tensor->values, column));
  return ragged_encode_wrap_levels(&r, column, last, leaf->row_size);
}

const cst__tensor_kind cst__kind_ragged = {
    .name = "ragged",
    .plan = ragged_plan,
    .make = ragged_make,
    .count_padded = ragged_count_padded,
    .extent = ragged_extent,
    .describe = ragged_describe,
    .measure = ragged_measure,
    .has_splits = true,
    .encode = ragged_encode,
};
