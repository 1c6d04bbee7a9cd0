/* One value of a field, from a column of whatever type holds such values. */
#include <math.h>

#include "base/names.h"
#include "base/utf8.h"
#include "message/encode/encoder_tree.h"
#include "proto/wire.h"

static uint8_t *refuse_value(const cst__out_field *f, const char *what, const char *hint,
                             cst__out *out) {
  return cst__out_fail(
      out, cst__fail(out->error, CST_UNSUPPORTED, hint, what, cst__field_type_name(f->def)));
}

/* ---- integers ---- */

/* Any integer that a column has. */
typedef struct wide_integer {
  int64_t value;
  bool is_huge; /* above INT64_MAX: `value` has its bits */
} wide_integer;

static wide_integer integer_of_slot(const cst__view *view, int64_t slot) {
  if (view->layout == CST__LAYOUT_BOOL) {
    int64_t bit = view->offset + slot;
    return (wide_integer){(((const uint8_t *)view->data)[bit >> 3] >> (bit & 7)) & 1, false};
  }
  int64_t value = cst__view_int(view, slot);
  return (wide_integer){value, view->dtype == CST_DTYPE_UINT64 && value < 0};
}

static bool fits_type(cst__field_type type, wide_integer n) {
  switch (type) {
    case CST__FIELD_UINT64:
    case CST__FIELD_FIXED64:
      return n.is_huge || n.value >= 0;
    case CST__FIELD_INT64:
    case CST__FIELD_SINT64:
    case CST__FIELD_SFIXED64:
      return !n.is_huge;
    case CST__FIELD_UINT32:
    case CST__FIELD_FIXED32:
      return !n.is_huge && n.value >= 0 && n.value <= UINT32_MAX;
    case CST__FIELD_BOOL:
      return !n.is_huge && (n.value == 0 || n.value == 1);
    default:
      return !n.is_huge && n.value >= INT32_MIN && n.value <= INT32_MAX;
  }
}

static uint8_t *put_fixed(uint8_t *at, uint64_t bits, size_t size) {
  memcpy(at - size, &bits, size);
  return at - size;
}

/* A number that fits; there is room. */
static uint8_t *put_integer_as(cst__field_type type, int64_t value, uint8_t *at) {
  switch (type) {
    case CST__FIELD_FIXED64:
    case CST__FIELD_SFIXED64:
      return put_fixed(at, (uint64_t)value, 8);
    case CST__FIELD_FIXED32:
    case CST__FIELD_SFIXED32:
      return put_fixed(at, (uint64_t)value, 4);
    case CST__FIELD_SINT64:
    case CST__FIELD_SINT32:
      return cst__put_varint_back(at, cst__zigzag_encode(value));
    default:
      return cst__put_varint_back(at, (uint64_t)value);
  }
}

static uint8_t *encode_integer(const cst__out_field *f, int64_t slot, uint8_t *at, cst__out *out) {
  wide_integer n = integer_of_slot(f->values.view, slot);
  if (!fits_type((cst__field_type)f->def->type, n)) {
    return refuse_value(f, "an integer out of range for type %s", NULL, out);
  }
  at = cst__out_room(out, at, CST__MAX_VARINT);
  return at != NULL ? put_integer_as((cst__field_type)f->def->type, n.value, at) : NULL;
}

/* ---- enums ---- */

static uint8_t *encode_enum_number(const cst__out_field *f, int64_t number, uint8_t *at,
                                   cst__out *out) {
  bool is_known = f->def->values->is_open || cst__enum_by_number(f->def->values, number) != NULL;
  if (number < INT32_MIN || number > INT32_MAX || !is_known) {
    return refuse_value(f, "a number that the enum %s does not have", NULL, out);
  }
  at = cst__out_room(out, at, CST__MAX_VARINT);
  return at != NULL ? cst__put_varint_back(at, (uint64_t)number) : NULL;
}

static uint8_t *encode_enum_integer(const cst__out_field *f, int64_t slot, uint8_t *at,
                                    cst__out *out) {
  wide_integer n = integer_of_slot(f->values.view, slot);
  return encode_enum_number(f, n.is_huge ? INT64_MAX : n.value, at, out);
}

/* Decimal digits, as the decoder writes numbers without a name. */
static int64_t number_of_digits(cst_bytes text) {
  size_t at = text.size > 0 && text.data[0] == '-' ? 1 : 0;
  int64_t value = 0;
  if (at == text.size || text.size > 11) {
    return CST__NO_NUMBER;
  }
  for (; at < text.size; at++) {
    if (text.data[at] < '0' || text.data[at] > '9') {
      return CST__NO_NUMBER;
    }
    value = value * 10 + (text.data[at] - '0');
  }
  return text.data[0] == '-' ? -value : value;
}

int64_t cst__out_enum_number(const cst__out_field *field, cst_bytes name) {
  const char *text = name.size > 0 ? (const char *)name.data : "";
  size_t at = cst__name_map_find_of(field->names, field->def->values, text, name.size);
  return at != SIZE_MAX ? field->def->values->values[at].number : number_of_digits(name);
}

static const char *nth_enum_name(const void *values, size_t i) {
  return ((const cst__enum_value *)values)[i].name;
}

static uint8_t *refuse_enum_name(const cst__out_field *f, cst_bytes name, cst__out *out) {
  const cst__enum_def *def = f->def->values;
  const cst__name_list names = {def->values, def->num_values, nth_enum_name};
  char hint[CST__NEAR_HINT];
  char text[64];
  size_t size = name.size < sizeof text - 1 ? name.size : sizeof text - 1;
  memcpy(text, name.data != NULL ? name.data : (const uint8_t *)"", size);
  text[size] = '\0';
  return refuse_value(f, "a name that the enum %s does not have",
                      cst__near_hint(hint, text, &names), out);
}

static uint8_t *encode_enum_name(const cst__out_field *f, int64_t slot, uint8_t *at,
                                 cst__out *out) {
  int64_t number;
  if (f->numbers != NULL) {
    number = f->numbers[slot];
  } else {
    number = cst__out_enum_number(f, cst__view_bytes(f->values.view, slot));
  }
  return number != CST__NO_NUMBER ? encode_enum_number(f, number, at, out)
                                  : refuse_enum_name(f, cst__view_bytes(f->values.view, slot), out);
}

/* ---- floats ---- */

/* IEEE 754 binary16, every value of which float32 holds. */
static double double_of_half(uint16_t half) {
  unsigned exponent = (half >> 10) & 0x1f;
  unsigned mantissa = half & 0x3ff;
  double value;
  if (exponent == 0x1f) {
    value = mantissa != 0 ? (double)NAN : (double)INFINITY;
  } else if (exponent == 0) {
    value = ldexp((double)mantissa, -24);
  } else {
    value = ldexp((double)(mantissa | 0x400), (int)exponent - 25);
  }
  return half & 0x8000 ? -value : value;
}

/* Reads any number; false: no double is equal to it. */
static bool double_of_slot(const cst__view *view, int64_t slot, double *out) {
  int64_t at = view->offset + slot;
  if (view->layout == CST__LAYOUT_HALF) {
    *out = double_of_half(((const uint16_t *)view->data)[at]);
    return true;
  }
  if (view->layout == CST__LAYOUT_NUMBER && view->dtype == CST_DTYPE_FLOAT64) {
    *out = ((const double *)view->data)[at];
    return true;
  }
  if (view->layout == CST__LAYOUT_NUMBER && view->dtype == CST_DTYPE_FLOAT32) {
    *out = (double)((const float *)view->data)[at];
    return true;
  }
  wide_integer n = integer_of_slot(view, slot);
  if (n.is_huge) {
    *out = (double)(uint64_t)n.value;
    return *out < 0x1p64 && (uint64_t)*out == (uint64_t)n.value;
  }
  *out = (double)n.value;
  return *out < 0x1p63 && (int64_t)*out == n.value;
}

static uint8_t *refuse_inexact(const cst__out_field *f, cst__out *out) {
  return refuse_value(f, "a number that type %s cannot represent exactly",
                      "round it before, or allow rounding (lossy)", out);
}

static uint8_t *encode_double(const cst__out_field *f, int64_t slot, uint8_t *at, cst__out *out) {
  double value;
  if (!double_of_slot(f->values.view, slot, &value) && !out->lossy) {
    return refuse_inexact(f, out);
  }
  at = cst__out_room(out, at, sizeof value);
  return at != NULL ? memcpy(at - sizeof value, &value, sizeof value) : NULL;
}

static uint8_t *encode_float(const cst__out_field *f, int64_t slot, uint8_t *at, cst__out *out) {
  const cst__view *view = f->values.view;
  float value;
  if (view->layout == CST__LAYOUT_NUMBER && view->dtype == CST_DTYPE_FLOAT32) {
    value = ((const float *)view->data)[view->offset + slot]; /* NaNs as they are */
  } else {
    double wide;
    bool is_exact = double_of_slot(view, slot, &wide);
    value = (float)wide;
    is_exact = is_exact && ((double)value == wide || isnan(wide));
    if (!is_exact && !out->lossy) {
      return refuse_inexact(f, out);
    }
  }
  at = cst__out_room(out, at, sizeof value);
  return at != NULL ? memcpy(at - sizeof value, &value, sizeof value) : NULL;
}

/* ---- strings and bytes ---- */

static uint8_t *encode_bytes(const cst__out_field *f, int64_t slot, uint8_t *at, cst__out *out) {
  cst_bytes bytes = cst__view_bytes(f->values.view, slot);
  at = cst__out_room(out, at, bytes.size);
  if (at == NULL) {
    return NULL;
  }
  at -= bytes.size;
  cst__copy_exact(at, bytes.data, bytes.size);
  return cst__out_put_length(at, bytes.size);
}

static uint8_t *encode_checked_string(const cst__out_field *f, int64_t slot, uint8_t *at,
                                      cst__out *out) {
  cst_bytes bytes = cst__view_bytes(f->values.view, slot);
  size_t valid = cst__utf8_valid_prefix(bytes.data, bytes.size);
  if (valid < bytes.size) {
    return cst__out_fail(out,
                         cst__fail(out->error, CST_UNSUPPORTED, "declare the field as bytes",
                                   "a string that is not valid UTF-8, at its byte %zu", valid));
  }
  return encode_bytes(f, slot, at, out);
}

/* ---- which writer ---- */

static bool is_integer_column(const cst__view *view) {
  return view->layout == CST__LAYOUT_BOOL ||
         (view->layout == CST__LAYOUT_NUMBER && view->dtype != CST_DTYPE_FLOAT32 &&
          view->dtype != CST_DTYPE_FLOAT64);
}

static bool is_bytes_column(const cst__view *view) {
  return view->layout == CST__LAYOUT_BINARY || view->layout == CST__LAYOUT_BINARY_VIEW ||
         view->layout == CST__LAYOUT_FIXED_BINARY;
}

static cst__put_value message_writer(const cst__out_field *field, const cst__view *values) {
  if (values->layout == CST__LAYOUT_STRUCT || field->message != NULL) {
    return cst__out_put_struct;
  }
  cst__put_value known = cst__out_known_writer(field->def->message, values);
  if (known != NULL) {
    return known;
  }
  return is_bytes_column(values) && !values->is_string ? cst__out_put_serialized : NULL;
}

cst__put_value cst__out_value_writer(const cst__out_field *field, const cst__view *values) {
  const cst__field_def *def = field->def;
  bool is_number = is_integer_column(values) || values->layout == CST__LAYOUT_NUMBER ||
                   values->layout == CST__LAYOUT_HALF;
  switch ((cst__field_type)def->type) {
    case CST__FIELD_MESSAGE:
    case CST__FIELD_GROUP:
      return message_writer(field, values);
    case CST__FIELD_STRING:
      if (is_bytes_column(values) && !values->is_string && (def->flags & CST__FIELD_UTF8) != 0) {
        return encode_checked_string;
      }
      return is_bytes_column(values) ? encode_bytes : NULL;
    case CST__FIELD_BYTES:
      return is_bytes_column(values) ? encode_bytes : NULL;
    case CST__FIELD_DOUBLE:
      return is_number ? encode_double : NULL;
    case CST__FIELD_FLOAT:
      return is_number ? encode_float : NULL;
    case CST__FIELD_ENUM:
      return is_bytes_column(values)     ? encode_enum_name
             : is_integer_column(values) ? encode_enum_integer
                                         : NULL;
    default:
      return is_integer_column(values) ? encode_integer : NULL;
  }
}
