/* Scalars of protobuf's JSON. */
#include <math.h>
#include <string.h>

#include "base/names.h"
#include "message/text/json_read.h"
#include "text/base64.h"

static cst_status fail_json_kind(const cst__json_reading *r, const cst__field_def *def,
                                 const yyjson_val *value) {
  return cst__json_reading_fail(r, NULL, "%s, expected %s", cst__json_kind(value),
                                cst__field_type_name(def));
}

static cst_status fail_json_range(const cst__json_reading *r, const cst__field_def *def) {
  return cst__json_reading_fail(r, NULL, "a value is out of range for %s",
                                cst__field_type_name(def));
}

/* ---- numbers ---- */

/* A number, also one in a string. */
static cst_status need_number(const cst__json_reading *r, const cst__field_def *def,
                              yyjson_val *value, yyjson_val *number) {
  if (yyjson_is_num(value) || yyjson_is_raw(value)) {
    *number = *value;
    return CST_OK;
  }
  if (!yyjson_is_str(value)) {
    return fail_json_kind(r, def, value);
  }
  if (!cst__json_number_of(value, number)) {
    return cst__json_reading_fail(r, NULL, "a string that is not a number, expected %s",
                                  cst__field_type_name(def));
  }
  return CST_OK;
}

/* A whole number with its sign, however it is written; false if it is none of 64 bits. */
static bool whole_number(yyjson_val *number, bool *negative, uint64_t *magnitude) {
  const double beyond = 18446744073709551616.0;
  if (yyjson_is_uint(number)) {
    *negative = false;
    *magnitude = unsafe_yyjson_get_uint(number);
    return true;
  }
  if (yyjson_is_sint(number)) {
    int64_t value = unsafe_yyjson_get_sint(number);
    *negative = value < 0;
    *magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return true;
  }
  double value = yyjson_is_real(number) ? unsafe_yyjson_get_real(number) : beyond;
  if (fabs(value) >= beyond || floor(value) < value) {
    return false;
  }
  *negative = value < 0;
  *magnitude = (uint64_t)fabs(value);
  return true;
}

/* True for a string of digits: a number of this form is whole, or too large for 64 bits. */
static bool has_only_digits(yyjson_val *value) {
  const char *text = yyjson_get_str(value);
  return text != NULL && strpbrk(text, ".eE") == NULL;
}

static cst_status read_whole(const cst__json_reading *r, const cst__field_def *def,
                             yyjson_val *value, bool *negative, uint64_t *magnitude) {
  yyjson_val number;
  CST__TRY(need_number(r, def, value, &number));
  double real = yyjson_is_real(&number) ? unsafe_yyjson_get_real(&number) : 0;
  if (floor(real) < real) {
    return cst__json_reading_fail(r, NULL, "a number with a fraction, expected %s",
                                  cst__field_type_name(def));
  }
  bool is_huge = yyjson_is_real(&number) && has_only_digits(value);
  return !is_huge && whole_number(&number, negative, magnitude) ? CST_OK : fail_json_range(r, def);
}

static cst_status read_json_signed(const cst__json_reading *r, const cst__field_def *def,
                                   bool is_32, yyjson_val *value, int64_t *out) {
  bool negative = false;
  uint64_t magnitude = 0;
  CST__TRY(read_whole(r, def, value, &negative, &magnitude));
  uint64_t most = (is_32 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX) + negative;
  *out = (int64_t)(negative ? 0 - magnitude : magnitude);
  return magnitude <= most ? CST_OK : fail_json_range(r, def);
}

static cst_status read_json_unsigned(const cst__json_reading *r, const cst__field_def *def,
                                     bool is_32, yyjson_val *value, uint64_t *out) {
  bool negative = false;
  CST__TRY(read_whole(r, def, value, &negative, out));
  bool in_range = (!negative || *out == 0) && (!is_32 || *out <= UINT32_MAX);
  return in_range ? CST_OK : fail_json_range(r, def);
}

static bool string_is(yyjson_val *string, const char *text) {
  return unsafe_yyjson_equals_str(string, text);
}

static cst_status read_json_double(const cst__json_reading *r, const cst__field_def *def,
                                   yyjson_val *value, double *out) {
  yyjson_val number;
  if (yyjson_is_str(value) && string_is(value, "NaN")) {
    *out = (double)NAN;
    return CST_OK;
  }
  if (yyjson_is_str(value) && (string_is(value, "Infinity") || string_is(value, "-Infinity"))) {
    *out = *unsafe_yyjson_get_str(value) == '-' ? -(double)INFINITY : (double)INFINITY;
    return CST_OK;
  }
  CST__TRY(need_number(r, def, value, &number));
  bool in_range =
      cst__json_double(&number, out) && (def->type == CST__FIELD_DOUBLE || isfinite((float)*out));
  return in_range
             ? CST_OK
             : cst__json_reading_fail(r, "infinity is \"Infinity\"",
                                      "a number is out of range for %s", cst__field_type_name(def));
}

/* ---- bytes ---- */

static cst_status read_json_bytes(const cst__json_reading *r, yyjson_val *value, cst_bytes *out) {
  const char *text = unsafe_yyjson_get_str(value);
  size_t size = unsafe_yyjson_get_len(value);
  size_t count;
  if (!cst__base64_size(text, size, CST__BASE64_ANY, &count)) {
    return cst__json_reading_fail(r, "bytes are written in base64", "a string that is not base64");
  }
  uint8_t *bytes = cst__arena_take(r->arena, count + 1);
  if (bytes == NULL) {
    return cst__json_reading_no_memory(r);
  }
  cst__base64_decode(text, size, bytes);
  *out = (cst_bytes){bytes, count};
  return CST_OK;
}

/* ---- enums ---- */

/* The names of an enum's values, for those that have been met. */
static bool know_enum(cst__name_map *names, const cst__enum_def *values) {
  if (cst__name_map_find_of(names, values, "", 0) != SIZE_MAX) {
    return true;
  }
  for (size_t i = 0; i < values->num_values; i++) {
    const char *name = values->values[i].name;
    if (!cst__name_map_add_of(names, values, name, strlen(name), i)) {
      return false;
    }
  }
  return cst__name_map_add_of(names, values, "", 0, 0);
}

static const char *enum_value_name(const void *items, size_t i) {
  return ((const cst__enum_value *)items)[i].name;
}

static cst_status fail_enum_value(const cst__json_reading *r, const cst__enum_def *values,
                                  yyjson_val *value) {
  char hint[CST__NEAR_HINT];
  const char *near = NULL;
  if (yyjson_is_str(value) && unsafe_yyjson_get_len(value) < 64) {
    cst__name_list list = {values->values, values->num_values, enum_value_name};
    near = cst__near_hint(hint, unsafe_yyjson_get_str(value), &list);
  }
  return cst__json_reading_fail(r, near, "%s has no such value", values->full_name);
}

static cst_status read_json_enum(cst__json_reading *r, const cst__field_def *def, yyjson_val *value,
                                 int64_t *out) {
  const cst__enum_def *values = def->values;
  yyjson_val number;
  r->is_unknown = false;
  if (yyjson_is_str(value)) {
    if (!know_enum(&r->reader->names, values)) {
      return cst__json_reading_no_memory(r);
    }
    size_t at = cst__name_map_find_of(&r->reader->names, values, unsafe_yyjson_get_str(value),
                                      unsafe_yyjson_get_len(value));
    if (at != SIZE_MAX && unsafe_yyjson_get_len(value) > 0) {
      *out = values->values[at].number;
      return CST_OK;
    }
    if (!cst__json_number_of(value, &number)) {
      r->is_unknown = r->reader->ignores_unknown;
      return r->is_unknown ? CST_OK : fail_enum_value(r, values, value);
    }
  }
  CST__TRY(read_json_signed(r, def, true, value, out));
  bool known = values->is_open || cst__enum_by_number(values, *out) != NULL;
  return known ? CST_OK : fail_enum_value(r, values, value);
}

/* ---- all ---- */

cst_status cst__json_read_scalar(cst__json_reading *r, const cst__field_def *def, yyjson_val *value,
                                 cst__value *out) {
  double number = 0;
  switch ((cst__field_type)def->type) {
    case CST__FIELD_DOUBLE:
      return read_json_double(r, def, value, &out->d);
    case CST__FIELD_FLOAT:
      CST__TRY(read_json_double(r, def, value, &number));
      out->u = 0;
      out->f = (float)number;
      return CST_OK;
    case CST__FIELD_INT64:
    case CST__FIELD_SINT64:
    case CST__FIELD_SFIXED64:
      return read_json_signed(r, def, false, value, &out->i);
    case CST__FIELD_INT32:
    case CST__FIELD_SINT32:
    case CST__FIELD_SFIXED32:
      return read_json_signed(r, def, true, value, &out->i);
    case CST__FIELD_UINT64:
    case CST__FIELD_FIXED64:
      return read_json_unsigned(r, def, false, value, &out->u);
    case CST__FIELD_UINT32:
    case CST__FIELD_FIXED32:
      return read_json_unsigned(r, def, true, value, &out->u);
    case CST__FIELD_ENUM:
      return read_json_enum(r, def, value, &out->i);
    case CST__FIELD_BOOL:
      out->i = yyjson_is_true(value);
      return yyjson_is_bool(value) ? CST_OK : fail_json_kind(r, def, value);
    case CST__FIELD_BYTES:
      return yyjson_is_str(value) ? read_json_bytes(r, value, &out->bytes)
                                  : fail_json_kind(r, def, value);
    case CST__FIELD_STRING:
    case CST__FIELD_GROUP:
    case CST__FIELD_MESSAGE:
      break;
  }
  if (!yyjson_is_str(value)) {
    return fail_json_kind(r, def, value);
  }
  out->bytes =
      (cst_bytes){(const uint8_t *)unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value)};
  return CST_OK;
}

cst_status cst__json_read_map_key(cst__json_reading *r, const cst__field_def *def, yyjson_val *key,
                                  cst__value *out) {
  if (def->type == CST__FIELD_BOOL) {
    out->i = string_is(key, "true");
    return out->i != 0 || string_is(key, "false")
               ? CST_OK
               : cst__json_reading_fail(r, NULL, "a key that is neither \"true\" nor \"false\"");
  }
  return cst__json_read_scalar(r, def, key, out);
}
