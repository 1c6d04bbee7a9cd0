/* One writer of values per Arrow type. */
#include "decode/value_writer.h"

#include <math.h>

#include "decode/example_wire.h"

enum { MAX_SIZE_VARINT = 5 };

#define PUT_INTS(name, type)                                                            \
  static cst__value_fault put_##name(const cst__view *view, int64_t begin, int64_t end, \
                                     bool lossy, uint8_t **at) {                        \
    const type *values = (const type *)view->data + view->offset;                       \
    uint8_t *to = *at;                                                                  \
    (void)lossy;                                                                        \
    for (int64_t i = end; i > begin; i--) {                                             \
      to = cst__put_varint_back(to, (uint64_t)(int64_t)values[i - 1]);                  \
    }                                                                                   \
    *at = to;                                                                           \
    return CST__VALUE_OK;                                                               \
  }

PUT_INTS(int8, int8_t)
PUT_INTS(int16, int16_t)
PUT_INTS(int32, int32_t)
PUT_INTS(int64, int64_t)
PUT_INTS(uint8, uint8_t)
PUT_INTS(uint16, uint16_t)
PUT_INTS(uint32, uint32_t)

static cst__value_fault put_uint64(const cst__view *view, int64_t begin, int64_t end, bool lossy,
                                   uint8_t **at) {
  const uint64_t *values = (const uint64_t *)view->data + view->offset;
  (void)lossy;
  for (int64_t i = end; i > begin; i--) {
    if (values[i - 1] > INT64_MAX) {
      return CST__VALUE_TOO_LARGE;
    }
    *at = cst__put_varint_back(*at, values[i - 1]);
  }
  return CST__VALUE_OK;
}

static cst__value_fault put_bools(const cst__view *view, int64_t begin, int64_t end, bool lossy,
                                  uint8_t **at) {
  const uint8_t *bits = view->data;
  (void)lossy;
  for (int64_t i = end; i > begin; i--) {
    int64_t bit = view->offset + i - 1;
    *--*at = (bits[bit >> 3] >> (bit & 7)) & 1;
  }
  return CST__VALUE_OK;
}

static cst__value_fault put_float32(const cst__view *view, int64_t begin, int64_t end, bool lossy,
                                    uint8_t **at) {
  const float *values = (const float *)view->data + view->offset;
  size_t size = (size_t)(end - begin) * 4;
  (void)lossy;
  *at -= size;
  if (size > 0) {
    memcpy(*at, values + begin, size);
  }
  return CST__VALUE_OK;
}

static cst__value_fault put_float64(const cst__view *view, int64_t begin, int64_t end, bool lossy,
                                    uint8_t **at) {
  const double *values = (const double *)view->data + view->offset;
  for (int64_t i = end; i > begin; i--) {
    float value = (float)values[i - 1];
    if (!lossy && (double)value != values[i - 1] && !isnan(values[i - 1])) {
      return CST__VALUE_INEXACT;
    }
    *at -= 4;
    memcpy(*at, &value, 4);
  }
  return CST__VALUE_OK;
}

/* IEEE 754 binary16, every value of which float32 holds. */
static float float_of_half(uint16_t half) {
  uint32_t exponent = (half >> 10) & 0x1f;
  uint32_t mantissa = half & 0x3ff;
  float value;
  if (exponent == 0x1f) {
    value = mantissa != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    value = ldexpf((float)mantissa, -24);
  } else {
    value = ldexpf((float)(mantissa | 0x400), (int)exponent - 25);
  }
  return half & 0x8000 ? -value : value;
}

static cst__value_fault put_half(const cst__view *view, int64_t begin, int64_t end, bool lossy,
                                 uint8_t **at) {
  const uint16_t *values = (const uint16_t *)view->data + view->offset;
  (void)lossy;
  for (int64_t i = end; i > begin; i--) {
    float value = float_of_half(values[i - 1]);
    *at -= 4;
    memcpy(*at, &value, 4);
  }
  return CST__VALUE_OK;
}

static uint8_t *put_string_back(uint8_t *to, const uint8_t *bytes, size_t size) {
  to -= size;
  cst__copy_exact(to, bytes, size);
  to = cst__put_varint_back(to, size);
  *--to = CST__TAG_FIRST;
  return to;
}

/* The usual strings, which lie one after the other: 64-bit offsets. */
static cst__value_fault put_large_binary(const cst__view *view, int64_t begin, int64_t end,
                                         bool lossy, uint8_t **at) {
  const int64_t *offsets = (const int64_t *)view->offsets + view->offset;
  const uint8_t *bytes = view->data;
  uint8_t *to = *at;
  (void)lossy;
  for (int64_t i = end; i > begin; i--) {
    to = put_string_back(to, bytes + offsets[i - 1], (size_t)(offsets[i] - offsets[i - 1]));
  }
  *at = to;
  return CST__VALUE_OK;
}

static cst__value_fault put_binary(const cst__view *view, int64_t begin, int64_t end, bool lossy,
                                   uint8_t **at) {
  uint8_t *to = *at;
  (void)lossy;
  for (int64_t i = end; i > begin; i--) {
    cst_bytes value = cst__view_bytes(view, i - 1);
    to = put_string_back(to, value.data, value.size);
  }
  *at = to;
  return CST__VALUE_OK;
}

static bool number_writer(const cst__view *view, uint8_t *tag, cst__put_values *put) {
  static const cst__put_values ints[] = {
      [CST_DTYPE_INT8] = put_int8,     [CST_DTYPE_INT16] = put_int16,
      [CST_DTYPE_INT32] = put_int32,   [CST_DTYPE_INT64] = put_int64,
      [CST_DTYPE_UINT8] = put_uint8,   [CST_DTYPE_UINT16] = put_uint16,
      [CST_DTYPE_UINT32] = put_uint32, [CST_DTYPE_UINT64] = put_uint64};
  if (view->dtype == CST_DTYPE_FLOAT32 || view->dtype == CST_DTYPE_FLOAT64) {
    *tag = CST__TAG_FLOAT;
    *put = view->dtype == CST_DTYPE_FLOAT32 ? put_float32 : put_float64;
    return true;
  }
  *tag = CST__TAG_INT;
  *put = ints[view->dtype];
  return true;
}

bool cst__value_writer(const cst__view *view, uint8_t *tag, cst__put_values *put) {
  switch (view->layout) {
    case CST__LAYOUT_NUMBER:
      return number_writer(view, tag, put);
    case CST__LAYOUT_BOOL:
      *tag = CST__TAG_INT;
      *put = put_bools;
      return true;
    case CST__LAYOUT_HALF:
      *tag = CST__TAG_FLOAT;
      *put = put_half;
      return true;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
      *tag = CST__TAG_BYTES;
      *put = view->layout == CST__LAYOUT_BINARY && view->offset_width == 8 ? put_large_binary
                                                                           : put_binary;
      return true;
    default:
      return false;
  }
}

/* The bytes of a run of strings; one by one only where they do not lie one after the other. */
static bool string_bytes(const cst__view *view, int64_t begin, int64_t end, size_t *bytes) {
  if (view->layout == CST__LAYOUT_BINARY && begin < end) {
    int64_t first = cst__view_entry(view->offsets, view->offset_width, view->offset + begin);
    int64_t last = cst__view_entry(view->offsets, view->offset_width, view->offset + end);
    *bytes = (size_t)(last - first);
    return true;
  }
  *bytes = 0;
  for (int64_t i = begin; i < end; i++) {
    if (!cst__add(*bytes, cst__view_bytes(view, i).size, bytes)) {
      return false;
    }
  }
  return true;
}

bool cst__any_values_bound(const cst__view *view, int64_t begin, int64_t end, size_t *bytes) {
  size_t count = (size_t)(end - begin);
  size_t each = CST__MAX_VARINT;
  *bytes = 0;
  if (view->layout == CST__LAYOUT_BINARY || view->layout == CST__LAYOUT_BINARY_VIEW ||
      view->layout == CST__LAYOUT_FIXED_BINARY) {
    each = MAX_SIZE_VARINT + 1;
    if (!string_bytes(view, begin, end, bytes)) {
      return false;
    }
  }
  size_t sizes;
  return cst__mul(count, each, &sizes) && cst__add(*bytes, sizes, bytes);
}
