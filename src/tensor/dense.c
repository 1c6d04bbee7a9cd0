/* Dense tensors: every row has exactly the values of its shape; null rows get the default. */
#include "tensor/tensor.h"

/* The eight bits of a byte as eight bytes, the lowest first. */
static uint64_t spread_bits(uint8_t bits) {
  uint64_t low = (uint64_t)(bits & 0x7f) * UINT64_C(0x0002040810204081);
  return (low & UINT64_C(0x0101010101010101)) | (uint64_t)(bits >> 7) << 56;
}

/* A byte per list: 1 for one that is there, 0 for null. NULL in *out if none is null. */
static cst_status find_present(const cst__job *job, const cst__slots *lists, const uint8_t **out) {
  const uint8_t *bits = lists->view->validity;
  int64_t at = lists->view->offset + lists->first;
  int64_t i = 0;
  *out = NULL;
  if (!cst__slots_may_be_null(lists)) {
    return CST_OK;
  }
  uint8_t *present = cst__scratch_take(job->scratch, lists->count, 1);
  CST__TRY(CST__TAKEN(present, job->error));
  *out = present;
  if (bits != NULL && lists->mask == NULL && lists->index == NULL) {
    for (; i < lists->count && ((at + i) & 7) != 0; i++) {
      present[i] = (bits[(at + i) >> 3] >> ((at + i) & 7)) & 1;
    }
    for (; i + 8 <= lists->count; i += 8) {
      uint64_t eight = spread_bits(bits[(at + i) >> 3]);
      memcpy(present + i, &eight, 8);
    }
  }
  for (; i < lists->count; i++) {
    present[i] = !cst__slot_is_null(lists, i);
  }
  return CST_OK;
}

/* True if every list has `size` items, or none if it is null. */
static bool are_all_of_size(const int64_t *splits, const uint8_t *present, int64_t count,
                            int64_t size) {
  int64_t bad = 0;
  if (present == NULL) {
    for (int64_t i = 0; i < count; i++) {
      bad |= (splits[i + 1] - splits[i]) ^ size;
    }
  } else {
    for (int64_t i = 0; i < count; i++) {
      bad |= (splits[i + 1] - splits[i]) ^ (size & -(int64_t)present[i]);
    }
  }
  return bad == 0;
}

static cst_status bad_row(const cst__job *job, int64_t row, int64_t found) {
  int64_t expected = job->plan->row_size;
  return cst__row_fail(job, row, "a variable number of values needs a varlen or ragged tensor",
                       "%lld value%s, but its shape needs exactly %lld", (long long)found,
                       found == 1 ? "" : "s", (long long)expected);
}

static int64_t count_null(const uint8_t *present, int64_t count) {
  int64_t num_null = 0;
  for (int64_t i = 0; present != NULL && i < count; i++) {
    num_null += !present[i];
  }
  return num_null;
}

/* Every row has the right size; null ones need a default. */
static cst_status check_rows(const cst__job *job, const int64_t *splits, const uint8_t *present,
                             int64_t count, int64_t num_null) {
  int64_t size = job->plan->row_size;
  bool has_default = job->plan->spec->has_default;
  if ((num_null == 0 || has_default) && are_all_of_size(splits, present, count, size)) {
    return CST_OK;
  }
  for (int64_t i = 0; i < count; i++) {
    if (present != NULL && !present[i]) {
      if (!has_default) {
        return cst__row_fail(job, i, "give the tensor a default value, or make it varlen",
                             "no value (null), but its shape needs %lld and it has no default",
                             (long long)size);
      }
    } else if (splits[i + 1] - splits[i] != size) {
      return bad_row(job, i, splits[i + 1] - splits[i]);
    }
  }
  return CST_OK;
}

/* Rows of one value each, which is what most dense tensors with a default have: no branch on what
 * is null. There is a value at least, which stands in for those that are not. */
#define DEFINE_SPREAD(name, type)                                                                  \
  static void name(const uint8_t *present, const int64_t *splits, int64_t count, const void *from, \
                   const void *value, void *to) {                                                  \
    const type *source = from;                                                                     \
    const type missing = *(const type *)value;                                                     \
    type *out = to;                                                                                \
    for (int64_t i = 0; i < count; i++) {                                                          \
      type found = source[splits[i] & -(int64_t)present[i]];                                       \
      out[i] = present[i] ? found : missing;                                                       \
    }                                                                                              \
  }
DEFINE_SPREAD(spread_32, uint32_t)
DEFINE_SPREAD(spread_64, uint64_t)
DEFINE_SPREAD(spread_bytes, cst_bytes)

static void spread_rows(const cst__job *job, const uint8_t *present, int64_t count,
                        const char *from, const cst__element *value, size_t width, char *to) {
  size_t row_bytes = (size_t)job->plan->row_size * width;
  for (int64_t i = 0; i < count && row_bytes > 0; i++, to += row_bytes) {
    if (!present[i]) {
      cst__fill(to, value, width, job->plan->row_size);
    } else {
      memcpy(to, from, row_bytes);
      from += row_bytes;
    }
  }
}

/* The values of the rows that are not null lie one behind the other: makes room for the others. */
static cst_status spread(const cst__job *job, const uint8_t *present, const int64_t *splits,
                         int64_t count, cst_ndarray *values) {
  const cst_tensor_spec *spec = job->plan->spec;
  bool is_bytes = values->dtype == CST_DTYPE_BYTES;
  size_t width = cst__element_width(values->dtype);
  cst__element value = cst__element_of(values->dtype, spec->default_int,
                                       (double)spec->default_float, spec->default_bytes);
  const void *from = cst__elements(values);
  bool is_single = job->plan->row_size == 1 && values->size > 0;
  size_t row_bytes;
  if (!cst__mul((size_t)job->plan->row_size, width, &row_bytes)) {
    return CST__TAKEN(NULL, job->error);
  }
  void *to = cst__scratch_take(job->scratch, count, row_bytes);
  CST__TRY(CST__TAKEN(to, job->error));
  if (is_single && is_bytes) {
    spread_bytes(present, splits, count, from, &value, to);
  } else if (is_single && width == 8) {
    spread_64(present, splits, count, from, &value, to);
  } else if (is_single && width == 4) {
    spread_32(present, splits, count, from, &value, to);
  } else {
    spread_rows(job, present, count, from, &value, width, to);
  }
  cst__set_elements(values, to);
  return CST_OK;
}

/* True if the array's own type says that all rows have the right size. */
static bool is_fixed(const cst__job *job, const cst__slots *lists) {
  return lists->view->layout == CST__LAYOUT_FIXED_LIST && lists->index == NULL &&
         lists->view->fixed_size == job->plan->row_size && !cst__slots_may_be_null(lists);
}

/* The row that holds an item; null rows hold none. */
static int64_t row_of(const uint8_t *present, int64_t row_size, int64_t item) {
  int64_t row = 0;
  for (int64_t left = item / row_size; left > 0 || (present != NULL && !present[row]); row++) {
    left -= present == NULL || present[row];
  }
  return row;
}

cst_status cst__make_dense(const cst__job *job) {
  const cst_tensor_spec *spec = job->plan->spec;
  cst_ndarray *values = &job->out->values;
  cst__slots lists;
  cst__slots items;
  const uint8_t *present = NULL;
  const int64_t *splits = NULL;
  int64_t num_null = 0;
  int64_t null_at;
  CST__TRY(cst__job_column(job, -1, &lists));
  if (is_fixed(job, &lists)) {
    const cst__view *v = lists.view;
    items = (cst__slots){&v->children[0], lists.count * v->fixed_size,
                         (v->offset + lists.first) * v->fixed_size, NULL, NULL};
  } else {
    CST__TRY(cst__slots_open(&lists, job->scratch, &splits, &items, job->error));
    CST__TRY(find_present(job, &lists, &present));
    num_null = count_null(present, lists.count);
    CST__TRY(check_rows(job, splits, present, lists.count, num_null));
  }
  cst_status status = cst__values_read(job, &items, values, &null_at);
  if (null_at >= 0) {
    return cst__row_fail(job, row_of(present, job->plan->row_size, null_at),
                         "remove the nulls inside the lists",
                         "a null element; a dense tensor has no place for it");
  }
  CST__TRY(status);
  if (num_null > 0) {
    CST__TRY(spread(job, present, splits, lists.count, values));
  }
  return cst__ndarray_shape(job, values, lists.count, spec->num_dims, spec->dims);
}
