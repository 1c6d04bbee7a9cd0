/* Literals: the types that they fit, and arrays of them. */
#include <math.h>

#include "base/exact.h"
#include "base/utf8.h"
#include "query/functions/result.h"
#include "query/functions/value_type.h"

/* ---- types ---- */

static bool int_literal_fits(int64_t value, const cst__value_info *info) {
  if (info->kind == CST__VALUE_FLOAT) {
    int64_t exact = INT64_C(1) << (info->dtype == CST_DTYPE_FLOAT32 ? 24 : 53);
    return info->width > 2 && value >= -exact && value <= exact;
  }
  if (info->kind != CST__VALUE_INT) {
    return false;
  }
  int bits = 8 * info->width - (info->is_signed ? 1 : 0);
  return (value >= 0 || info->is_signed) && (bits >= 63 || (value >> bits) == (value < 0 ? -1 : 0));
}

static bool float_literal_fits(double value, const cst__value_info *info) {
  return info->kind == CST__VALUE_FLOAT &&
         (info->width == 8 || (info->width == 4 && (!isfinite(value) || isfinite((float)value))));
}

static bool items_fit(const cst__literal *list, cst__value_type type) {
  for (size_t i = 0; i < list->num_items; i++) {
    if (list->items[i].kind == CST__LITERAL_LIST || !cst__literal_fits(&list->items[i], type)) {
      return false;
    }
  }
  return true;
}

bool cst__literal_fits(const cst__literal *literal, cst__value_type type) {
  cst__value_info info = cst__value_info_of(type);
  switch (literal->kind) {
    case CST__LITERAL_NULL:
      return info.kind != CST__VALUE_NONE;
    case CST__LITERAL_BOOL:
      return info.kind == CST__VALUE_BOOL;
    case CST__LITERAL_INT:
      return int_literal_fits(literal->integer, &info);
    case CST__LITERAL_FLOAT:
      return float_literal_fits(literal->number, &info);
    case CST__LITERAL_STRING:
      return info.kind == CST__VALUE_TEXT || info.kind == CST__VALUE_BYTES;
    case CST__LITERAL_BYTES:
      return info.kind == CST__VALUE_BYTES ||
             (info.kind == CST__VALUE_TEXT &&
              cst__utf8_valid(literal->bytes.data, literal->bytes.size));
    case CST__LITERAL_LIST:
      return items_fit(literal, type);
  }
  return false;
}

cst_status cst__literal_exact(const cst__literal *literal, cst__value_type type, cst_error *error) {
  cst__value_info info = cst__value_info_of(type);
  for (size_t i = 0; i < literal->num_items; i++) {
    CST__TRY(cst__literal_exact(&literal->items[i], type, error));
  }
  if (literal->kind != CST__LITERAL_INT || info.kind != CST__VALUE_FLOAT ||
      cst__float_holds(cst__int_size(literal->integer),
                       info.width == 4 ? FLT_MANT_DIG : DBL_MANT_DIG)) {
    return CST_OK;
  }
  return cst__fail(error, CST_SCHEMA, "write it with a point to round it",
                   "found an integer that %s cannot represent exactly", cst__value_type_name(type));
}

static cst__value_type type_of_items(const cst__literal *list) {
  cst__value_type type = {"n"};
  for (size_t i = 0; i < list->num_items; i++) {
    if (list->items[i].kind == CST__LITERAL_LIST ||
        (!cst__literal_fits(&list->items[i], type) &&
         !cst__value_type_common(type, cst__literal_type(&list->items[i]), &type))) {
      return (cst__value_type){NULL};
    }
  }
  return type;
}

cst__value_type cst__literal_type(const cst__literal *literal) {
  static const char *const formats[] = {
      [CST__LITERAL_NULL] = "n",  [CST__LITERAL_BOOL] = "b",   [CST__LITERAL_INT] = "l",
      [CST__LITERAL_FLOAT] = "g", [CST__LITERAL_STRING] = "U", [CST__LITERAL_BYTES] = "Z",
  };
  if (literal->kind == CST__LITERAL_LIST) {
    return type_of_items(literal);
  }
  return (cst__value_type){formats[literal->kind]};
}

/* ---- arrays ---- */

static void put_float(void *at, int width, double value) {
  float small = (float)value;
  memcpy(at, width == 4 ? (const void *)&small : (const void *)&value, (size_t)width);
}

/* One slot, which is not null, of a type that the literal fits. */
static void put_literal(const cst__literal *literal, const cst__value_info *info, int64_t i,
                        uint8_t *values) {
  uint8_t *at = values + i * info->width;
  if (info->kind == CST__VALUE_BOOL) {
    values[i / 8] = (uint8_t)(values[i / 8] | (literal->integer != 0) << (i % 8));
  } else if (info->kind == CST__VALUE_FLOAT) {
    put_float(at, info->width,
              literal->kind == CST__LITERAL_INT ? (double)literal->integer : literal->number);
  } else {
    memcpy(at, &literal->integer, (size_t)info->width);
  }
}

static cst_status fill_texts(const cst__literal *items, int64_t count, struct ArrowArray *out,
                             const cst_allocator *allocator, cst_error *error) {
  cst__text_result texts;
  CST__TRY(cst__text_result_begin(&texts, out, count, allocator, error));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < count && status == CST_OK; i++) {
    status = cst__text_result_append(&texts, items[i].bytes.data, items[i].bytes.size, error);
  }
  return cst__text_result_end(&texts, status);
}

static cst_status fill_literals(const cst__literal *items, int64_t count,
                                const cst__value_info *info, struct ArrowArray *out,
                                const cst_allocator *allocator, cst_error *error) {
  if (info->kind == CST__VALUE_TEXT || info->kind == CST__VALUE_BYTES) {
    return fill_texts(items, count, out, allocator, error);
  }
  size_t size = info->width > 0 ? (size_t)count * (size_t)info->width : cst__bits_size(count);
  uint8_t *values = cst__owned_buffer(out, 1, size);
  if (values == NULL) {
    return cst__fail_memory(error, size);
  }
  memset(values, 0, size);
  for (int64_t i = 0; i < count; i++) {
    if (items[i].kind != CST__LITERAL_NULL) {
      put_literal(&items[i], info, i, values);
    }
  }
  return CST_OK;
}

static cst_status mark_nulls(const cst__literal *items, int64_t count, struct ArrowArray *out,
                             cst_error *error) {
  for (int64_t i = 0; i < count; i++) {
    if (items[i].kind == CST__LITERAL_NULL) {
      CST__TRY(cst__result_set_null(out, i, error));
    }
  }
  return CST_OK;
}

/* As fitting, but integers are rounded to floats: a calculation has chosen the type. */
static bool literal_converts(const cst__literal *literal, const cst__value_info *info) {
  return literal->kind == CST__LITERAL_INT && info->kind == CST__VALUE_FLOAT;
}

static bool all_convert(const cst__literal *items, int64_t count, cst__value_type type) {
  cst__value_info info = cst__value_info_of(type);
  for (int64_t i = 0; i < count; i++) {
    if (!literal_converts(&items[i], &info) && !cst__literal_fits(&items[i], type)) {
      return false;
    }
  }
  return true;
}

cst_status cst__literal_array(const cst__literal *literal, cst__value_type type,
                              const cst_allocator *allocator, struct ArrowArray *out,
                              cst_error *error) {
  bool is_list = literal->kind == CST__LITERAL_LIST;
  const cst__literal *items = is_list ? literal->items : literal;
  int64_t count = is_list ? (int64_t)literal->num_items : 1;
  cst__value_type plain = cst__value_type_plain(type);
  cst__value_info info = cst__value_info_of(plain);
  *out = (struct ArrowArray){0};
  if (!all_convert(items, count, plain)) {
    return cst__fail(error, CST_SCHEMA, NULL, "a literal of type %s does not fit %s",
                     cst__value_type_name(cst__literal_type(literal)), cst__value_type_name(type));
  }
  CST__TRY(cst__result_new(plain, count, allocator, out, error));
  if (info.kind == CST__VALUE_NULL) {
    return CST_OK;
  }
  cst_status status = fill_literals(items, count, &info, out, allocator, error);
  if (status == CST_OK) {
    status = mark_nulls(items, count, out, error);
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}
