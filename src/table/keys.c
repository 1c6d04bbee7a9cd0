/* Values as numbers: a value of up to 8 bytes is its own word, longer ones and strings are hashed.
 */
#include "table/keys.h"

#include "base/interrupt.h"
#include "table/walk.h"

void cst__row_sets_free(cst__row_sets *sets) {
  cst__delete(sets->ids);
  cst__delete(sets->starts);
  *sets = (cst__row_sets){0};
}

/* ---- values ---- */

enum { VALUE_WORK = 64 /* of one look-up */ };

typedef struct finding {
  const cst__view *values;
  cst__ids *ids;
  size_t width; /* of a word; 0: strings */
  bool has_null_id;
  uint32_t null_id;
  int64_t *last_rows; /* by id: the last row that has it, and 1 */
  size_t capacity;
  cst_error *error;
} finding;

/* Bits of floats: one pattern for both zeros, and one for all NaNs. */
static uint64_t plain_float(uint64_t bits, uint64_t infinity, uint64_t sign) {
  uint64_t size = bits & ~sign;
  return size == 0 ? 0 : size > infinity ? infinity + 1 : bits;
}

static uint64_t word_of(const finding *f, int64_t i) {
  const cst__view *v = f->values;
  uint64_t word = 0;
  int64_t at = v->offset + i;
  if (v->layout == CST__LAYOUT_BOOL) {
    return (uint64_t)((const uint8_t *)v->data)[at >> 3] >> (at & 7) & 1;
  }
  memcpy(&word, (const uint8_t *)v->data + (size_t)at * f->width, f->width);
  if (v->layout == CST__LAYOUT_HALF) {
    return plain_float(word, 0x7c00, 0x8000);
  }
  if (v->dtype == CST_DTYPE_FLOAT32) {
    return plain_float(word, UINT32_C(0x7f800000), UINT32_C(1) << 31);
  }
  if (v->dtype == CST_DTYPE_FLOAT64) {
    return plain_float(word, UINT64_C(0x7ff) << 52, UINT64_C(1) << 63);
  }
  return word;
}

static cst_status id_of_null(finding *f, uint32_t *out) {
  if (!f->has_null_id) {
    CST__TRY(cst__ids_of_null(f->ids, &f->null_id, f->error));
    f->has_null_id = true;
  }
  *out = f->null_id;
  return CST_OK;
}

static cst_status id_of(finding *f, int64_t i, uint32_t *out) {
  if (cst__view_is_null(f->values, i)) {
    return id_of_null(f, out);
  }
  return f->width == 0 ? cst__ids_of_string(f->ids, i, out, f->error)
                       : cst__ids_of_word(f->ids, word_of(f, i), i, out, f->error);
}

/* ---- rows ---- */

static cst_status find_flat(finding *f, int64_t num_rows, cst__row_sets *out) {
  size_t done = 0;
  for (int64_t i = 0; i < num_rows; i++) {
    CST__TRY(id_of(f, i, &out->ids[i]));
    if (cst__stretch_is_over(&done, VALUE_WORK)) {
      CST__TRY(cst__interrupted(f->error));
    }
  }
  out->total = num_rows;
  return CST_OK;
}

static cst_status find_row(finding *f, int64_t row, int64_t begin, int64_t end,
                           cst__row_sets *out) {
  if (begin == end) {
    return id_of_null(f, &out->ids[out->total++]);
  }
  for (int64_t i = begin; i < end; i++) {
    uint32_t id;
    CST__TRY(id_of(f, i, &id));
    if (id >= f->capacity) {
      /* Room for the ids that there are by now. */
      size_t old = f->capacity;
      size_t want = f->ids->count;
      void *items = f->last_rows;
      if (!cst__grow(f->ids->allocator, &items, &f->capacity, want, sizeof *f->last_rows)) {
        return cst__fail_memory(f->error, want * sizeof *f->last_rows);
      }
      f->last_rows = items;
      memset(f->last_rows + old, 0, (f->capacity - old) * sizeof *f->last_rows);
    }
    out->ids[out->total] = id;
    out->total += f->last_rows[id] != row + 1; /* once per row */
    f->last_rows[id] = row + 1;
  }
  return CST_OK;
}

static cst_status find_lists(finding *f, const int64_t *splits, int64_t num_rows,
                             cst__row_sets *out) {
  size_t size = ((size_t)num_rows + 1) * sizeof *out->starts;
  out->starts = cst__new(f->ids->allocator, size);
  if (out->starts == NULL) {
    return cst__fail_memory(f->error, size);
  }
  out->starts[0] = 0;
  size_t done = 0;
  for (int64_t row = 0; row < num_rows; row++) {
    CST__TRY(find_row(f, row, splits[row], splits[row + 1], out));
    out->starts[row + 1] = out->total;
    if (cst__stretch_is_over(&done, (size_t)(splits[row + 1] - splits[row] + 1) * VALUE_WORK)) {
      CST__TRY(cst__interrupted(f->error));
    }
  }
  return CST_OK;
}

/* ---- columns ---- */

/* Bytes of a word; 0 for strings; -1 for what cannot be a key. */
static int keys_width_of(const cst__view *values) {
  switch (values->layout) {
    case CST__LAYOUT_NULL:
    case CST__LAYOUT_BOOL:
      return 1;
    case CST__LAYOUT_NUMBER:
      return (int)cst_dtype_width(values->dtype);
    case CST__LAYOUT_HALF:
      return 2;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
      return 0;
    default:
      return -1;
  }
}

cst_status cst__keys_find(const cst__row_values *column, const cst_allocator *allocator,
                          cst__ids *ids, cst__row_sets *out, cst_error *error) {
  const cst__view *values = column->values;
  const int64_t *splits = column->splits;
  const int64_t num_rows = column->num_rows;
  int width = keys_width_of(values);
  *out = (cst__row_sets){0};
  cst__ids_init(ids, width == 0 ? values : NULL, allocator);
  if (width < 0) {
    return cst__fail_type(values, "numbers, bools or strings, or lists of them", error);
  }
  finding f = {.values = values, .ids = ids, .width = (size_t)width, .error = error};
  size_t size = SIZE_MAX;
  size_t most = (size_t)num_rows + (splits != NULL ? (size_t)splits[num_rows] : 0);
  out->ids = cst__mul(most, sizeof *out->ids, &size) ? cst__new(allocator, size) : NULL;
  if (out->ids == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status =
      splits == NULL ? find_flat(&f, num_rows, out) : find_lists(&f, splits, num_rows, out);
  cst__delete(f.last_rows);
  return status;
}
