/* Dense tensors: every row has exactly the values of its shape; null rows get the default. As a
 * column, each row is a list of its values, which the spec's shape gives back their dimensions; or
 * lists of a fixed size, one in the other, have these dimensions themselves.
 */
#include "tensor/kind.h"

/* ---- plans ---- */

/* True if the lists of the column are the dimensions: all but the outermost of their fixed size. */
static bool dense_is_nested(const cst_tensor_spec *spec, const cst__adapter_column *column) {
  const cst__view *v = column->lists;
  bool is_nested =
      column->outer_lists == 0 && column->own_lists > 1 && column->own_lists == spec->num_dims;
  for (size_t i = 1; is_nested && i < spec->num_dims; i++) {
    v = &v->children[0];
    is_nested = v->layout == CST__LAYOUT_FIXED_LIST && v->fixed_size == spec->dims[i];
  }
  return is_nested;
}

static cst_status dense_plan(const cst__adapter_planner *p, cst__adapter_plan *plan) {
  cst__adapter_column column;
  CST__TRY(cst__plan_column(p, plan, &column));
  if (!dense_is_nested(p->spec, &column)) {
    CST__TRY(cst__plan_check_single(p, &column));
  }
  plan->num_lists = column.own_lists;
  plan->row_size = 1;
  for (size_t i = 0; i < p->spec->num_dims; i++) {
    if (p->spec->dims[i] < 0 ||
        __builtin_mul_overflow(plan->row_size, p->spec->dims[i], &plan->row_size) ||
        plan->row_size > INT64_MAX / 64) {
      return cst__plan_fail(p, "the shape has an unknown dimension, or too many values");
    }
  }
  if (p->spec->has_default && !cst__dtype_holds(plan->dtype, p->spec->default_int)) {
    cst__fail(p->error, CST_SCHEMA, NULL, "the default %lld does not fit %s",
              (long long)p->spec->default_int, cst_dtype_name(plan->dtype));
    cst__error_add_path(p->error, p->spec->name, strlen(p->spec->name));
    return CST_SCHEMA;
  }
  return CST_OK;
}

/* ---- rows that fit ---- */

/* True if every list has `size` items, or none if it is null. */
static bool dense_has_sizes(const cst__lists *lists, int64_t size) {
  const int64_t *splits = lists->splits;
  int64_t bad = 0;
  if (lists->nulls == NULL) {
    for (int64_t i = 0; i < lists->count; i++) {
      bad |= (splits[i + 1] - splits[i]) ^ size;
    }
  } else {
    for (int64_t i = 0; i < lists->count; i++) {
      bad |= (splits[i + 1] - splits[i]) ^ (size & ((int64_t)lists->nulls[i] - 1));
    }
  }
  return bad == 0;
}

/* Items of the outermost list of a row. */
static int64_t dense_row_items(const cst__adapter_plan *plan) {
  return plan->num_lists > 1 ? plan->spec->dims[0] : plan->row_size;
}

/* Every row has the right size; null ones need a default. */
static cst_status dense_check_rows(cst__list_faults *faults, const cst__lists *rows) {
  int64_t size = dense_row_items(faults->m->plan);
  bool has_default = faults->m->plan->spec->has_default;
  if ((rows->nulls == NULL || has_default) && dense_has_sizes(rows, size)) {
    return CST_OK;
  }
  for (int64_t i = 0; i < rows->count; i++) {
    bool is_null = cst__list_is_null(rows, i);
    const cst__row_fault fault = {i, is_null ? CST__ROW_NULL : CST__ROW_COUNT,
                                  is_null ? 0 : cst__list_size(rows, i), size, NULL};
    if (is_null ? !has_default : fault.found != size) {
      CST__TRY(cst__list_faults_add(faults, i, &fault));
    }
  }
  return CST_OK;
}

/* ---- making ---- */

/* Rows of one value each, which is what most dense tensors with a default have: no branch on what
 * is null. There is a value at least, which stands in for those that are not. */
#define DEFINE_SPREAD(name, type)                                                           \
  static void name(const cst__lists *rows, const void *from, const void *value, void *to) { \
    const type *source = from;                                                              \
    const type missing = *(const type *)value;                                              \
    type *out = to;                                                                         \
    for (int64_t i = 0; i < rows->count; i++) {                                             \
      type found = source[rows->splits[i] & ((int64_t)rows->nulls[i] - 1)];                 \
      out[i] = rows->nulls[i] ? missing : found;                                            \
    }                                                                                       \
  }
DEFINE_SPREAD(spread_32, uint32_t)
DEFINE_SPREAD(spread_64, uint64_t)
DEFINE_SPREAD(spread_bytes, cst_bytes)

static void dense_spread_rows(const cst__making *m, const cst__lists *rows, const char *from,
                              const cst__element *value, char *to) {
  size_t width = cst__element_width(m->plan->dtype);
  size_t row_bytes = (size_t)m->plan->row_size * width;
  for (int64_t i = 0; i < rows->count && row_bytes > 0; i++, to += row_bytes) {
    if (rows->nulls[i]) {
      cst__fill(to, value, width, m->plan->row_size);
    } else {
      memcpy(to, from, row_bytes);
      from += row_bytes;
    }
  }
}

/* The values of the rows that are not null lie one after the other: makes room for the others. */
static cst_status dense_spread(const cst__making *m, const cst__lists *rows, cst_ndarray *values) {
  const cst_tensor_spec *spec = m->plan->spec;
  bool is_bytes = values->dtype == CST_DTYPE_BYTES;
  size_t width = cst__element_width(values->dtype);
  cst__element value = cst__element_of(values->dtype, spec->default_int,
                                       (double)spec->default_float, spec->default_bytes);
  const void *from = cst__elements(values);
  bool is_single = m->plan->row_size == 1 && values->size > 0;
  size_t row_bytes;
  if (!cst__mul((size_t)m->plan->row_size, width, &row_bytes)) {
    return CST__TAKEN(NULL, m->error);
  }
  void *to = cst__arena_take_items(m->scratch, rows->count, row_bytes);
  CST__TRY(CST__TAKEN(to, m->error));
  if (is_single && is_bytes) {
    spread_bytes(rows, from, &value, to);
  } else if (is_single && width == 8) {
    spread_64(rows, from, &value, to);
  } else if (is_single && width == 4) {
    spread_32(rows, from, &value, to);
  } else {
    dense_spread_rows(m, rows, from, &value, to);
  }
  cst__set_elements(values, to);
  return CST_OK;
}

/* Goes to the items of lists whose own type says that they have the right size; false if it does
 * not, or if one may be null. */
static bool dense_enter_fixed(cst__slots *slots, int64_t size) {
  const cst__view *v = slots->view;
  int64_t count = slots->chosen.count;
  if (v->layout != CST__LAYOUT_FIXED_LIST || !cst__chosen_is_run(&slots->chosen) ||
      v->fixed_size != size || cst__slots_may_be_null(slots)) {
    return false;
  }
  slots->view = &v->children[0];
  slots->chosen =
      (cst__chosen){.count = count * size, .begin = (v->offset + slots->chosen.begin) * size};
  return slots->chosen.count == 0 || !cst__slots_may_be_null(slots);
}

/* True if the array's own type says that all rows have the right size, and no item is null. */
static bool dense_is_fixed(const cst__making *m, const cst__slots *lists, cst__slots *items) {
  const cst__adapter_plan *plan = m->plan;
  *items = *lists;
  bool is_fixed = dense_enter_fixed(items, dense_row_items(plan));
  for (size_t i = 1; is_fixed && i < plan->num_lists; i++) {
    is_fixed = dense_enter_fixed(items, plan->spec->dims[i]);
  }
  return is_fixed;
}

/* Opens the lists in the rows' lists, of which none may be null: *items become the values. */
static cst_status dense_open_inner(const cst__making *m, const cst__lists *rows,
                                   cst__slots *items) {
  cst__lists levels[CST__MAX_LEVELS];
  levels[0] = *rows;
  for (size_t i = 1; i < m->plan->num_lists; i++) {
    const cst__slots lists = *items;
    CST__TRY(cst__items_check(m, &lists, levels, i));
    CST__TRY(cst__slots_items(&lists, m->scratch, &levels[i], items, m->error));
  }
  return cst__items_check(m, items, levels, m->plan->num_lists > 1 ? m->plan->num_lists : 1);
}

static cst_status dense_make(const cst__making *m) {
  const cst_tensor_spec *spec = m->plan->spec;
  cst__slots lists;
  cst__slots items;
  cst__lists rows = {.nulls = NULL};
  CST__TRY(cst__making_column(m, -1, &lists));
  if (!dense_is_fixed(m, &lists, &items)) {
    CST__TRY(cst__slots_items(&lists, m->scratch, &rows, &items, m->error));
    CST__TRY(cst__slots_nulls(&lists, m->scratch, &rows.nulls, m->error));
    cst__list_faults faults = {.m = m, .count = rows.count};
    CST__TRY(dense_check_rows(&faults, &rows));
    CST__TRY(dense_open_inner(m, &rows, &items));
    cst__list_faults_tell(&faults);
  }
  if (m->out == NULL) {
    return CST_OK;
  }
  cst_ndarray *values = &m->out->values;
  CST__TRY(cst__values_read(m, &items, values));
  if (rows.nulls != NULL) {
    CST__TRY(dense_spread(m, &rows, values));
  }
  return cst__ndarray_shape(m, values, lists.chosen.count, spec->num_dims, spec->dims);
}

/* ---- and back ---- */

static cst_status dense_describe(cst__describer *d, const cst__describe_place *at,
                                 const cst_tensor *tensor, cst_tensor_spec *spec) {
  CST__TRY(cst__describe_dtype(d, tensor, spec));
  spec->num_dims = tensor->values.num_dims - 1;
  spec->dims = tensor->values.shape + 1;
  return cst__describe_path(d, at, spec->name, spec);
}

static bool dense_measure(cst__encode_leaf *leaf) {
  for (size_t i = 0; i < leaf->spec->num_dims; i++) {
    if (__builtin_mul_overflow(leaf->row_size, leaf->spec->dims[i], &leaf->row_size)) {
      return false;
    }
  }
  return true;
}

static cst_status dense_check_shape(const cst__encoding *e, const cst__encode_leaf *leaf,
                                    const cst_ndarray *values) {
  const cst_tensor_spec *spec = leaf->spec;
  if (values->num_dims != spec->num_dims + 1) {
    return cst__encode_fail(e->error, leaf, -1, NULL,
                            "values of %zu dimensions, expected rows and %zu more",
                            values->num_dims, spec->num_dims);
  }
  for (size_t i = 0; i < spec->num_dims; i++) {
    if (values->shape[i + 1] != spec->dims[i]) {
      return cst__encode_fail(e->error, leaf, -1, NULL,
                              "dim %zu of a row has the size %lld, expected %lld", i,
                              (long long)values->shape[i + 1], (long long)spec->dims[i]);
    }
  }
  return CST_OK;
}

static cst_status dense_encode(cst__encoding *e, const cst__encode_leaf *leaf) {
  const cst_ndarray *values = &e->tensors[leaf->number]->values;
  struct ArrowArray *column = &e->arrays[leaf->columns->number];
  int64_t rows = values->shape[0];
  int64_t *offsets = NULL;
  CST__TRY(dense_check_shape(e, leaf, values));
  CST__TRY(cst__encode_rows(e, leaf, rows, values->size));
  CST__TRY(cst__encode_flat(e, values, column));
  CST__TRY(cst__encode_wrap(e, rows, column, &offsets));
  for (int64_t i = 0; i <= rows; i++) {
    offsets[i] = i * leaf->row_size;
  }
  return CST_OK;
}

const cst__tensor_kind cst__kind_dense = {
    .name = "dense",
    .plan = dense_plan,
    .make = dense_make,
    .no_padding = "the tensor is dense, there is nothing to pad",
    .describe = dense_describe,
    .measure = dense_measure,
    .encode = dense_encode,
};
