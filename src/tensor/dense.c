/* Dense tensors: every row has exactly the values of its shape; null rows get the default. */
#include "tensor/tensor.h"

/* True if every list has `size` items, without a look at nulls. */
static bool are_all_of_size(const int64_t *splits, int64_t count, int64_t size) {
  uint64_t bad = 0;
  for (int64_t i = 0; i < count; i++) {
    bad |= (uint64_t)(splits[i + 1] - splits[i]) ^ (uint64_t)size;
  }
  return bad == 0;
}

static cst_status bad_row(const cst__job *job, int64_t row, int64_t found) {
  int64_t expected = job->plan->row_size;
  return cst__row_fail(job, row, "a variable number of values needs a varlen or ragged tensor",
                       "%lld value%s, but its shape needs exactly %lld", (long long)found,
                       found == 1 ? "" : "s", (long long)expected);
}

/* Counts the null rows; any other row of a wrong size is an error. */
static cst_status check_rows(const cst__job *job, const cst__slots *lists, const int64_t *splits,
                             int64_t *num_null) {
  int64_t size = job->plan->row_size;
  bool may_be_null = cst__slots_may_be_null(lists);
  *num_null = 0;
  if (!may_be_null && are_all_of_size(splits, lists->count, size)) {
    return CST_OK;
  }
  for (int64_t i = 0; i < lists->count; i++) {
    if (may_be_null && cst__slot_is_null(lists, i)) {
      if (!job->plan->spec->has_default) {
        return cst__row_fail(job, i, "give the tensor a default value, or make it varlen",
                             "no value (null), but its shape needs %lld and it has no default",
                             (long long)size);
      }
      *num_null += 1;
    } else if (splits[i + 1] - splits[i] != size) {
      return bad_row(job, i, splits[i + 1] - splits[i]);
    }
  }
  return CST_OK;
}

/* The default as one element of the values' type. */
typedef union element {
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  cst_bytes bytes;
} element;

static element default_element(const cst__plan *plan) {
  element e = {.i64 = 0};
  switch (plan->dtype) {
    case CST_DTYPE_BYTES:
      e.bytes = plan->spec->default_bytes;
      break;
    case CST_DTYPE_FLOAT32:
      e.f32 = plan->spec->default_float;
      break;
    case CST_DTYPE_FLOAT64:
      e.f64 = (double)plan->spec->default_float;
      break;
    case CST_DTYPE_INT8:
    case CST_DTYPE_UINT8:
      e.i8 = (int8_t)plan->spec->default_int;
      break;
    case CST_DTYPE_INT16:
    case CST_DTYPE_UINT16:
      e.i16 = (int16_t)plan->spec->default_int;
      break;
    case CST_DTYPE_INT32:
    case CST_DTYPE_UINT32:
      e.i32 = (int32_t)plan->spec->default_int;
      break;
    default:
      e.i64 = plan->spec->default_int;
  }
  return e;
}

static void fill(char *to, const element *value, size_t width, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    memcpy(to + (size_t)i * width, value, width);
  }
}

/* Rows of one value each, which is what most dense tensors with a default have. */
#define DEFINE_SPREAD(name, type)                                                            \
  static void name(const cst__slots *lists, const void *from, const void *value, void *to) { \
    const type *source = from;                                                               \
    type *out = to;                                                                          \
    for (int64_t i = 0; i < lists->count; i++) {                                             \
      out[i] = cst__slot_is_null(lists, i) ? *(const type *)value : *source++;               \
    }                                                                                        \
  }
DEFINE_SPREAD(spread_32, uint32_t)
DEFINE_SPREAD(spread_64, uint64_t)
DEFINE_SPREAD(spread_bytes, cst_bytes)

static void spread_rows(const cst__job *job, const cst__slots *lists, const char *from,
                        const element *value, size_t width, char *to) {
  size_t row_bytes = (size_t)job->plan->row_size * width;
  for (int64_t i = 0; i < lists->count; i++, to += row_bytes) {
    if (cst__slot_is_null(lists, i)) {
      fill(to, value, width, job->plan->row_size);
    } else {
      memcpy(to, from, row_bytes);
      from += row_bytes;
    }
  }
}

/* The values of the rows that are not null lie one behind the other: makes room for the others. */
static cst_status spread(const cst__job *job, const cst__slots *lists, cst_ndarray *values) {
  bool is_bytes = values->dtype == CST_DTYPE_BYTES;
  size_t width = is_bytes ? sizeof(cst_bytes) : cst_dtype_width(values->dtype);
  element value = default_element(job->plan);
  const void *from = is_bytes ? (const void *)values->strings : values->data;
  size_t row_bytes;
  if (!cst__mul((size_t)job->plan->row_size, width, &row_bytes)) {
    return CST__TAKEN(NULL, job->error);
  }
  void *to = cst__scratch_take(job->scratch, lists->count, row_bytes);
  CST__TRY(CST__TAKEN(to, job->error));
  if (row_bytes == sizeof(cst_bytes) && is_bytes) {
    spread_bytes(lists, from, &value, to);
  } else if (row_bytes == 8 && width == 8) {
    spread_64(lists, from, &value, to);
  } else if (row_bytes == 4 && width == 4) {
    spread_32(lists, from, &value, to);
  } else if (row_bytes > 0) {
    spread_rows(job, lists, from, &value, width, to);
  }
  values->data = is_bytes ? NULL : to;
  values->strings = is_bytes ? to : NULL;
  return CST_OK;
}

/* True if the array's own type says that all rows have the right size. */
static bool is_fixed(const cst__job *job, const cst__slots *lists) {
  return lists->view->layout == CST__LAYOUT_FIXED_LIST && lists->index == NULL &&
         lists->view->fixed_size == job->plan->row_size && !cst__slots_may_be_null(lists);
}

cst_status cst__make_dense(const cst__job *job) {
  const cst_tensor_spec *spec = job->plan->spec;
  cst__slots lists;
  cst__slots items;
  int64_t num_null = 0;
  int64_t null_at;
  CST__TRY(cst__job_column(job, -1, &lists));
  if (is_fixed(job, &lists)) {
    const cst__view *v = lists.view;
    items = (cst__slots){&v->children[0], lists.count * v->fixed_size,
                         (v->offset + lists.first) * v->fixed_size, NULL, NULL};
  } else {
    const int64_t *splits;
    CST__TRY(cst__slots_open(&lists, job->scratch, &splits, &items, job->error));
    CST__TRY(check_rows(job, &lists, splits, &num_null));
  }
  cst_status status = cst__values_read(job, &items, &job->out->values, &null_at);
  if (null_at >= 0) {
    int64_t row = num_null > 0 ? -1 : null_at / job->plan->row_size;
    for (int64_t seen = 0, i = 0; row < 0 && i < lists.count; i++) {
      seen += cst__slot_is_null(&lists, i) ? 0 : job->plan->row_size;
      row = seen > null_at ? i : -1;
    }
    return cst__row_fail(job, row, "remove the nulls inside the lists",
                         "a null element; a dense tensor has no place for it");
  }
  CST__TRY(status);
  if (num_null > 0) {
    CST__TRY(spread(job, &lists, &job->out->values));
  }
  return cst__ndarray_shape(job, &job->out->values, lists.count, spec->num_dims, spec->dims);
}
