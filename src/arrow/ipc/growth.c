/* Counting the bytes of values, and comparing them with those of the file. */
#include "arrow/ipc/growth.h"

static uint64_t add_sizes(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t count, uint64_t size) {
  return size != 0 && count > UINT64_MAX / size ? UINT64_MAX : count * size;
}

static int64_t num_values(const cst__view *v, int64_t begin, int64_t count) {
  if (v->validity == NULL || v->null_count == 0) {
    return count;
  }
  return cst__bitmap_count(v->validity, v->offset + begin, count);
}

/* The items of list slots that follow each other are one range. */
static uint64_t bytes_of_lists(const cst__view *v, int64_t begin, int64_t count) {
  if (v->layout == CST__LAYOUT_FIXED_LIST) {
    return cst__view_value_bytes(&v->children[0], (v->offset + begin) * v->fixed_size,
                                 count * v->fixed_size);
  }
  if (v->layout == CST__LAYOUT_LIST) {
    int64_t first = cst__view_entry(v->offsets, v->offset_width, v->offset + begin);
    int64_t end = cst__view_entry(v->offsets, v->offset_width, v->offset + begin + count);
    return cst__view_value_bytes(&v->children[0], first, end - first);
  }
  uint64_t sum = 0;
  for (int64_t i = begin; i < begin + count; i++) {
    int64_t first;
    int64_t end;
    cst__view_list(v, i, &first, &end);
    sum = add_sizes(sum, cst__view_value_bytes(&v->children[0], first, end - first));
  }
  return sum;
}

static uint64_t bytes_of_views(const cst__view *v, int64_t begin, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = begin; i < begin + count; i++) {
    sum = add_sizes(sum, cst__view_bytes(v, i).size);
  }
  return sum;
}

static uint64_t bytes_of_children(const cst__view *v, int64_t begin, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < v->num_children; i++) {
    sum = add_sizes(sum, cst__view_value_bytes(&v->children[i], begin, count));
  }
  return sum;
}

static uint64_t bytes_of_slots(const cst__view *v, int64_t begin, int64_t count) {
  switch (v->layout) {
    case CST__LAYOUT_NUMBER:
      return times((uint64_t)num_values(v, begin, count), cst_dtype_width(v->dtype));
    case CST__LAYOUT_HALF:
      return times((uint64_t)num_values(v, begin, count), 2);
    case CST__LAYOUT_BINARY: {
      int64_t at = v->offset + begin;
      return (uint64_t)(cst__view_entry(v->offsets, v->offset_width, at + count) -
                        cst__view_entry(v->offsets, v->offset_width, at));
    }
    case CST__LAYOUT_BINARY_VIEW:
      return bytes_of_views(v, begin, count);
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      return times((uint64_t)num_values(v, begin, count), (uint64_t)v->fixed_size);
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_LIST_VIEW:
      return bytes_of_lists(v, begin, count);
    case CST__LAYOUT_STRUCT:
      return bytes_of_children(v, begin, count);
    default:
      return 0;
  }
}

uint64_t cst__view_value_bytes(const cst__view *view, int64_t begin, int64_t count) {
  return count <= 0 ? 0 : add_sizes((uint64_t)count / 8, bytes_of_slots(view, begin, count));
}

bool cst__growth_exceeds(uint64_t given, uint64_t taken, uint64_t max_inflation) {
  return given > CST__FREE_INFLATION && given / cst__growth_ratio(max_inflation) > taken;
}

/* The first row that is larger than the limit: only in halves that are larger themselves. -1: none.
 */
static int64_t find_large_row(const cst__view *batch, int64_t begin, int64_t count, uint64_t most,
                              uint64_t *size) {
  *size = cst__view_value_bytes(batch, begin, count);
  if (*size <= most || count == 1) {
    return *size <= most ? -1 : begin;
  }
  int64_t found = find_large_row(batch, begin, count / 2, most, size);
  return found >= 0 ? found
                    : find_large_row(batch, begin + count / 2, count - count / 2, most, size);
}

static cst_status check_rows(const cst__growth *growth, const cst__view *batch, cst_error *error) {
  uint64_t size;
  int64_t row = growth->max_record_size == 0 || batch->length == 0
                    ? -1
                    : find_large_row(batch, 0, batch->length, growth->max_record_size, &size);
  if (row < 0) {
    return CST_OK;
  }
  (void)cst__fail(error, CST_LIMIT, "raise max_record_size if such rows are expected",
                  "row of %llu bytes, the limit is %llu", (unsigned long long)size,
                  (unsigned long long)growth->max_record_size);
  cst__error_add_record(error, row, -1);
  return CST_LIMIT;
}

cst_status cst__growth_add(cst__growth *growth, const cst__view *batch, cst_error *error) {
  growth->given = add_sizes(growth->given, cst__view_value_bytes(batch, 0, batch->length));
  if (cst__growth_exceeds(growth->given, growth->taken, growth->max_inflation)) {
    return cst__fail(
        error, CST_LIMIT, "if you trust the file, raise max_inflation",
        "%llu bytes of the file expand to %llu bytes of values, more than %llu times as much",
        (unsigned long long)growth->taken, (unsigned long long)growth->given,
        (unsigned long long)cst__growth_ratio(growth->max_inflation));
  }
  return check_rows(growth, batch, error);
}
