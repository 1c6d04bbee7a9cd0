/* Types of values: their names, their kinds, and what several have in common. */
#include "query/functions/value_type.h"

#include "base/utf8.h"

/* ---- kinds ---- */

static bool is_interval_of_parts(const char *format) {
  return strcmp(format, "tiD") == 0 || strcmp(format, "tin") == 0;
}

static cst__value_info info_of_number(cst_dtype dtype) {
  bool is_float = dtype == CST_DTYPE_FLOAT32 || dtype == CST_DTYPE_FLOAT64;
  bool is_signed = dtype == CST_DTYPE_INT8 || dtype == CST_DTYPE_INT16 ||
                   dtype == CST_DTYPE_INT32 || dtype == CST_DTYPE_INT64;
  return (cst__value_info){.kind = is_float ? CST__VALUE_FLOAT : CST__VALUE_INT,
                           .is_signed = is_signed || is_float,
                           .has_order = true,
                           .width = (int)cst_dtype_width(dtype),
                           .dtype = dtype};
}

static cst__value_info info_of_other(const char *format, int64_t width) {
  cst_dtype dtype = width == 4 ? CST_DTYPE_INT32 : width == 8 ? CST_DTYPE_INT64 : CST_DTYPE_NONE;
  return (cst__value_info){.kind = CST__VALUE_OTHER,
                           .is_signed = true,
                           .has_order = !is_interval_of_parts(format),
                           .width = (int)width,
                           .dtype = is_interval_of_parts(format) ? CST_DTYPE_NONE : dtype};
}

cst__value_info cst__value_info_of(cst__value_type type) {
  int64_t size = 0;
  const cst__layout_info *layout = cst__layout_find(type.format, &size);
  switch (layout->layout) {
    case CST__LAYOUT_NULL:
      return (cst__value_info){.kind = CST__VALUE_NULL, .has_order = true};
    case CST__LAYOUT_BOOL:
      return (cst__value_info){.kind = CST__VALUE_BOOL, .has_order = true};
    case CST__LAYOUT_NUMBER:
      return info_of_number(layout->dtype);
    case CST__LAYOUT_HALF:
      return (cst__value_info){
          .kind = CST__VALUE_FLOAT, .is_signed = true, .has_order = true, .width = 2};
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
      return (cst__value_info){.kind = layout->is_string ? CST__VALUE_TEXT : CST__VALUE_BYTES,
                               .has_order = true};
    case CST__LAYOUT_OPAQUE:
      return info_of_other(type.format, size);
    default:
      return (cst__value_info){.kind = CST__VALUE_NONE};
  }
}

bool cst__value_type_equal(cst__value_type a, cst__value_type b) {
  return strcmp(a.format, b.format) == 0;
}

cst__value_type cst__value_type_plain(cst__value_type type) {
  cst__value_info info = cst__value_info_of(type);
  if (info.kind == CST__VALUE_TEXT) {
    return (cst__value_type){"U"};
  }
  if (info.kind == CST__VALUE_BYTES) {
    return (cst__value_type){"Z"};
  }
  return info.width == 2 && info.kind == CST__VALUE_FLOAT ? (cst__value_type){"f"} : type;
}

/* ---- names ---- */

typedef struct value_name {
  const char *name;
  const char *format;
} value_name;

/* The names that the language has; of two for one type, the first is said. */
static const value_name value_names[] = {
    {"int64", "l"},  {"float32", "f"}, {"float64", "g"}, {"string", "U"}, {"bytes", "Z"},
    {"bool", "b"},   {"int32", "i"},   {"int16", "s"},   {"int8", "c"},   {"uint64", "L"},
    {"uint32", "I"}, {"uint16", "S"},  {"uint8", "C"},   {"null", "n"},   {"struct", "+s"},
};

enum { NUM_VALUE_NAMES = sizeof value_names / sizeof value_names[0], NUM_CAST_NAMES = 13 };

const char *cst__value_type_name(cst__value_type type) {
  if (type.format == NULL) {
    return "nothing";
  }
  cst__value_info info = cst__value_info_of(type);
  const char *format =
      info.kind == CST__VALUE_FLOAT ? type.format : cst__value_type_plain(type).format;
  for (size_t i = 0; i < NUM_VALUE_NAMES; i++) {
    if (strcmp(value_names[i].format, format) == 0) {
      return value_names[i].name;
    }
  }
  return cst__layout_name(type.format);
}

cst__value_type cst__value_type_find(const char *name, size_t size) {
  for (size_t i = 0; i < NUM_CAST_NAMES; i++) {
    if (strlen(value_names[i].name) == size && memcmp(value_names[i].name, name, size) == 0) {
      return (cst__value_type){value_names[i].format};
    }
  }
  return (cst__value_type){NULL};
}

/* ---- what types have in common ---- */

static const char *const signed_formats[] = {[1] = "c", [2] = "s", [4] = "i", [8] = "l"};

/* Signed with unsigned: the next signed one that holds both. */
static bool common_int(cst__value_type a, cst__value_type b, cst__value_type *out) {
  cst__value_info x = cst__value_info_of(a);
  cst__value_info y = cst__value_info_of(b);
  if (x.is_signed == y.is_signed) {
    *out = x.width >= y.width ? a : b;
    return true;
  }
  int of_unsigned = x.is_signed ? y.width : x.width;
  int of_signed = x.is_signed ? x.width : y.width;
  int width = of_signed > of_unsigned ? of_signed : 2 * of_unsigned;
  *out = (cst__value_type){width <= 8 ? signed_formats[width] : NULL};
  return width <= 8;
}

/* float32 holds float32 and integers of up to 16 bits. */
static bool is_small_float(cst__value_type type) {
  return cst__value_info_of(type).width <= (cst__value_kind_of(type) == CST__VALUE_FLOAT ? 4 : 2);
}

static bool common_number(cst__value_type a, cst__value_type b, cst__value_type *out) {
  if (cst__value_kind_of(a) == CST__VALUE_INT && cst__value_kind_of(b) == CST__VALUE_INT) {
    return common_int(a, b, out);
  }
  *out = (cst__value_type){is_small_float(a) && is_small_float(b) ? "f" : "g"};
  return true;
}

bool cst__value_type_common(cst__value_type a, cst__value_type b, cst__value_type *out) {
  a = cst__value_type_plain(a);
  b = cst__value_type_plain(b);
  if (cst__value_type_equal(a, b) || cst__value_kind_of(b) == CST__VALUE_NULL) {
    *out = a;
    return true;
  }
  if (cst__value_kind_of(a) == CST__VALUE_NULL) {
    *out = b;
    return true;
  }
  return cst__value_is_number(a) && cst__value_is_number(b) && common_number(a, b, out);
}

/* ---- arguments ---- */

cst_status cst__argument_fail(const cst__function *function, const cst__argument_type *args,
                              size_t i, const char *expected, const char *hint, cst_error *error) {
  return cst__fail(error, CST_SCHEMA, hint, "argument %zu of %s is %s, expected %s", i + 1,
                   function->name, cst__value_type_name(args[i].type), expected);
}

static cst_status fail_common(const cst__function *function, cst__value_type a, cst__value_type b,
                              cst_error *error) {
  bool is_number = cst__value_is_number(a) && cst__value_is_number(b);
  return cst__fail(error, CST_SCHEMA,
                   is_number ? "cast one of them: no integer type holds both"
                             : "cast one of them to the type of the other",
                   "%s of %s and %s, expected values of one type", function->name,
                   cst__value_type_name(a), cst__value_type_name(b));
}

/* Type `with` comes to `type`. */
static cst_status add_common(const cst__function *function, cst__value_type with,
                             cst__value_type *type, cst_error *error) {
  cst__value_type common;
  if (!cst__value_type_common(*type, with, &common)) {
    return fail_common(function, *type, with, error);
  }
  *type = common;
  return CST_OK;
}

static bool is_cast_needed(const cst__argument_type *arg, cst__value_type type) {
  cst__value_kind kind = cst__value_kind_of(type);
  bool is_any_layout = kind == CST__VALUE_TEXT || kind == CST__VALUE_BYTES;
  return arg->is_literal ||
         !cst__value_type_equal(is_any_layout ? cst__value_type_plain(arg->type) : arg->type, type);
}

cst_status cst__arguments_common(const cst__function *function, const cst__argument_type *args,
                                 cst__argument_range range, cst__signature *signature,
                                 cst__value_type *out, cst_error *error) {
  cst__value_type type = {"n"};
  for (size_t i = range.first; i < range.end; i++) {
    if (cst__value_kind_of(args[i].type) == CST__VALUE_NONE) {
      return cst__argument_fail(function, args, i, "a value", "name a field of it", error);
    }
    if (!args[i].is_literal) {
      CST__TRY(add_common(function, args[i].type, &type, error));
    }
  }
  for (size_t i = range.first; i < range.end; i++) {
    if (args[i].is_literal && !cst__literal_fits(args[i].literal, type)) {
      CST__TRY(add_common(function, args[i].type, &type, error));
    }
  }
  for (size_t i = range.first; i < range.end; i++) {
    if (is_cast_needed(&args[i], type)) {
      signature->casts[i] = type;
    }
  }
  *out = type;
  return CST_OK;
}
