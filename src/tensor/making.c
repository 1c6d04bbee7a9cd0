/* Leaves: the values of a run of slots as they lie in the batch, or gathered one by one. */
#include "arrow/owned.h"
#include "tensor/kind.h"

_Alignas(64) const uint8_t cst__no_values[64] = {0};

cst_status cst__ndarray_shape(const cst__making *m, cst_ndarray *array, int64_t first,
                              size_t num_rest, const int64_t *rest) {
  int64_t *shape = cst__arena_take_items(m->scratch, (int64_t)num_rest + 1, sizeof *shape);
  CST__TRY(CST__TAKEN(shape, m->error));
  shape[0] = first;
  array->size = first;
  for (size_t i = 0; i < num_rest; i++) {
    shape[i + 1] = rest[i];
    array->size *= rest[i];
  }
  array->num_dims = num_rest + 1;
  array->shape = shape;
  return CST_OK;
}

cst_status cst__making_column(const cst__making *m, int64_t sibling, cst__slots *out) {
  const cst__adapter_plan *plan = m->plan;
  cst__slots slots = cst__slots_all(m->root);
  for (size_t i = 0; i < plan->num_steps; i++) {
    bool is_last = i + 1 == plan->num_steps;
    int64_t child = is_last && sibling >= 0 ? sibling : plan->steps[i];
    CST__TRY(cst__slots_enter(&slots, child, m->scratch, m->error));
  }
  *out = slots;
  return CST_OK;
}

/* ---- elements ---- */

cst__element cst__element_of(cst_dtype dtype, int64_t integer, double number, cst_bytes bytes) {
  cst__element e = {.i64 = integer};
  switch (dtype) {
    case CST_DTYPE_BYTES:
      e.bytes = bytes;
      break;
    case CST_DTYPE_FLOAT32:
      e.f32 = (float)number;
      break;
    case CST_DTYPE_FLOAT64:
      e.f64 = number;
      break;
    case CST_DTYPE_INT8:
    case CST_DTYPE_UINT8:
    case CST_DTYPE_BOOL:
      e.i8 = (int8_t)integer;
      break;
    case CST_DTYPE_INT16:
    case CST_DTYPE_UINT16:
      e.i16 = (int16_t)integer;
      break;
    case CST_DTYPE_INT32:
    case CST_DTYPE_UINT32:
      e.i32 = (int32_t)integer;
      break;
    default:
      break;
  }
  return e;
}

size_t cst__element_width(cst_dtype dtype) {
  return dtype == CST_DTYPE_BYTES ? sizeof(cst_bytes) : cst_dtype_width(dtype);
}

#define FILL(type, member)              \
  for (int64_t i = 0; i < count; i++) { \
    ((type *)to)[i] = value->member;    \
  }                                     \
  break

void cst__fill(void *to, const cst__element *value, size_t width, int64_t count) {
  switch (width) {
    case 1:
      FILL(int8_t, i8);
    case 2:
      FILL(int16_t, i16);
    case 4:
      FILL(int32_t, i32);
    case 8:
      FILL(int64_t, i64);
    default:
      FILL(cst_bytes, bytes);
  }
}

const void *cst__elements(const cst_ndarray *array) {
  return array->dtype == CST_DTYPE_BYTES ? (const void *)array->strings : array->data;
}

void cst__set_elements(cst_ndarray *array, const void *elements) {
  bool is_bytes = array->dtype == CST_DTYPE_BYTES;
  array->data = is_bytes ? NULL : elements;
  array->strings = is_bytes ? elements : NULL;
}

/* ---- numbers ---- */

#define DEFINE_GATHER(name, type)                                                 \
  static void name(const void *from, const int64_t *index, int64_t n, void *to) { \
    const type *source = from;                                                    \
    type *out = to;                                                               \
    for (int64_t i = 0; i < n; i++) {                                             \
      out[i] = source[index[i]];                                                  \
    }                                                                             \
  }
DEFINE_GATHER(gather_8, uint8_t)
DEFINE_GATHER(gather_16, uint16_t)
DEFINE_GATHER(gather_32, uint32_t)
DEFINE_GATHER(gather_64, uint64_t)

static void values_gather(const void *from, size_t width, const int64_t *index, int64_t n,
                          void *to) {
  switch (width) {
    case 1:
      gather_8(from, index, n, to);
      break;
    case 2:
      gather_16(from, index, n, to);
      break;
    case 4:
      gather_32(from, index, n, to);
      break;
    default:
      gather_64(from, index, n, to);
  }
}

static cst_status values_read_numbers(const cst__making *m, const cst__slots *slots,
                                      const void **out) {
  const cst__view *v = slots->view;
  size_t width = cst_dtype_width(v->dtype);
  const char *base = (const char *)v->data + (size_t)v->offset * width;
  if (slots->chosen.at == NULL) {
    *out = base + (size_t)slots->chosen.begin * width;
    return CST_OK;
  }
  void *copy = cst__arena_take_items(m->scratch, slots->chosen.count, width);
  CST__TRY(CST__TAKEN(copy, m->error));
  values_gather(base, width, slots->chosen.at, slots->chosen.count, copy);
  *out = copy;
  return CST_OK;
}

/* ---- bools ---- */

static inline uint8_t values_bit_at(const uint8_t *bits, int64_t at) {
  return (bits[at >> 3] >> (at & 7)) & 1;
}

static cst_status values_read_bools(const cst__making *m, const cst__slots *slots,
                                    const void **out) {
  const cst__view *v = slots->view;
  uint8_t *bytes = cst__arena_take_items(m->scratch, slots->chosen.count, 1);
  CST__TRY(CST__TAKEN(bytes, m->error));
  *out = bytes;
  if (slots->chosen.at == NULL) {
    cst__bits_to_bytes(v->data, v->offset + slots->chosen.begin, slots->chosen.count, bytes);
    return CST_OK;
  }
  for (int64_t k = 0; k < slots->chosen.count; k++) {
    bytes[k] = values_bit_at(v->data, v->offset + slots->chosen.at[k]);
  }
  return CST_OK;
}

/* ---- strings ---- */

#define DEFINE_POINT(name, type)                                                               \
  static void name(const uint8_t *bytes, const type *offsets, int64_t count, cst_bytes *out) { \
    for (int64_t i = 0; i < count; i++) {                                                      \
      int64_t begin = offsets[i];                                                              \
      int64_t end = offsets[i + 1];                                                            \
      out[i].data = begin == end ? cst__no_values : bytes + begin;                             \
      out[i].size = (size_t)(end - begin);                                                     \
    }                                                                                          \
  }
DEFINE_POINT(point_32, int32_t)
DEFINE_POINT(point_64, int64_t)

static void values_point_run(const cst__slots *slots, cst_bytes *out) {
  const cst__view *v = slots->view;
  int64_t at = v->offset + slots->chosen.begin;
  if (v->offset_width == 8) {
    point_64(v->data, (const int64_t *)v->offsets + at, slots->chosen.count, out);
  } else {
    point_32(v->data, (const int32_t *)v->offsets + at, slots->chosen.count, out);
  }
}

static cst_status values_read_strings(const cst__making *m, const cst__slots *slots,
                                      const cst_bytes **out) {
  if (slots->view->fixed_size == 0 && slots->view->layout == CST__LAYOUT_FIXED_BINARY &&
      slots->chosen.count > CST__MAX_BARE_SLOTS) {
    return cst__fail(m->error, CST_LIMIT, "use smaller batches", "%lld strings of no bytes",
                     (long long)slots->chosen.count);
  }
  cst_bytes *strings = cst__arena_take_items(m->scratch, slots->chosen.count, sizeof *strings);
  CST__TRY(CST__TAKEN(strings, m->error));
  *out = strings;
  if (slots->view->layout == CST__LAYOUT_BINARY && slots->chosen.at == NULL) {
    values_point_run(slots, strings);
    return CST_OK;
  }
  for (int64_t k = 0; k < slots->chosen.count; k++) {
    strings[k] = cst__view_bytes(slots->view, cst__chosen_at(&slots->chosen, k));
  }
  return CST_OK;
}

cst_status cst__values_read(const cst__making *m, const cst__slots *slots, cst_ndarray *out) {
  static const cst_bytes no_string = {cst__no_values, 0};
  memset(out, 0, sizeof *out);
  out->dtype = m->plan->dtype;
  CST__TRY(cst__ndarray_shape(m, out, slots->chosen.count, 0, NULL));
  if (slots->chosen.count == 0) {
    out->data = out->dtype == CST_DTYPE_BYTES ? NULL : cst__no_values;
    out->strings = out->dtype == CST_DTYPE_BYTES ? &no_string : NULL;
    return CST_OK;
  }
  switch (out->dtype) {
    case CST_DTYPE_BYTES:
      return values_read_strings(m, slots, &out->strings);
    case CST_DTYPE_BOOL:
      return values_read_bools(m, slots, &out->data);
    default:
      return values_read_numbers(m, slots, &out->data);
  }
}

/* ---- integers of index and row-length columns ---- */

#define WIDEN(type, limit)                                                \
  for (int64_t k = 0; k < slots->chosen.count; k++) {                     \
    type value = ((const type *)base)[cst__chosen_at(&slots->chosen, k)]; \
    if (limit) {                                                          \
      *bad_at = *bad_at < 0 ? k : *bad_at;                                \
    }                                                                     \
    to[k] = (int64_t)value;                                               \
  }                                                                       \
  break

static void integers_widen(const cst__slots *slots, const void *base, int64_t *to,
                           int64_t *bad_at) {
  switch (slots->view->dtype) {
    case CST_DTYPE_INT8:
      WIDEN(int8_t, false);
    case CST_DTYPE_INT16:
      WIDEN(int16_t, false);
    case CST_DTYPE_INT32:
      WIDEN(int32_t, false);
    case CST_DTYPE_UINT8:
      WIDEN(uint8_t, false);
    case CST_DTYPE_UINT16:
      WIDEN(uint16_t, false);
    case CST_DTYPE_UINT32:
      WIDEN(uint32_t, false);
    case CST_DTYPE_UINT64:
      WIDEN(uint64_t, value > INT64_MAX);
    default:
      WIDEN(int64_t, false);
  }
}

/* As cst__integers_read, for a making. */
static cst_status integers_take(const cst__making *m, const cst__slots *slots, const int64_t **out,
                                int64_t *bad_at) {
  const cst__view *v = slots->view;
  *bad_at = cst__slots_first_null(slots);
  *out = (const int64_t *)(const void *)cst__no_values;
  if (*bad_at >= 0) {
    return CST_SCHEMA;
  }
  if (slots->chosen.count == 0) {
    return CST_OK;
  }
  const char *base = (const char *)v->data + (size_t)v->offset * cst_dtype_width(v->dtype);
  if (v->dtype == CST_DTYPE_INT64 && slots->chosen.at == NULL) {
    *out = (const int64_t *)(const void *)base + slots->chosen.begin;
    return CST_OK;
  }
  int64_t *to = cst__arena_take_items(m->scratch, slots->chosen.count, sizeof *to);
  CST__TRY(CST__TAKEN(to, m->error));
  integers_widen(slots, base, to, bad_at);
  *out = to;
  return *bad_at >= 0 ? CST_SCHEMA : CST_OK;
}

cst_status cst__integers_read(const cst__making *m, const cst__slots *slots, const int64_t **out,
                              int64_t *bad_at) {
  cst_status status = integers_take(m, slots, out, bad_at);
  if (*bad_at < 0 || m->on_fault == NULL) {
    return status;
  }
  int64_t *values = cst__arena_take_items(m->scratch, slots->chosen.count, sizeof *values);
  *bad_at = -1;
  CST__TRY(CST__TAKEN(values, m->error));
  for (int64_t k = 0; k < slots->chosen.count; k++) {
    const int64_t at = cst__chosen_at(&slots->chosen, k);
    const int64_t *value;
    int64_t is_bad;
    cst__slots one = *slots;
    one.chosen = (cst__chosen){.count = 1, .begin = at};
    status = integers_take(m, &one, &value, &is_bad);
    if (status != CST_OK && is_bad < 0) {
      return status;
    }
    values[k] = status == CST_OK ? *value : CST__NO_INTEGER;
  }
  *out = values;
  return CST_OK;
}
