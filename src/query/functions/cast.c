/* Values of one type to another. A cast that loses something is an error of its element; only
 * float64 that becomes float32 is rounded, as decimal texts of floats are. A conversion, before a
 * calculation with floats, rounds integers too.
 */
#include "query/functions/cast.h"

#include <math.h>
#include <stdlib.h>

#include "arrow/text.h"
#include "base/exact.h"
#include "query/functions/values_take.h"
#include "query/functions/words.h"

typedef struct casting {
  const cst__view *from;
  cst__value_type type; /* of `from` */
  cst__value_type to;
  cst__value_info source;
  cst__value_info target;
  bool rounds; /* integers that a float does not hold */
  const cst_allocator *allocator;
  struct ArrowArray *out;
  cst_error *error;
} casting;

static const char *cast_hint(cst__value_kind from, const cst__value_info *to) {
  if (from == CST__VALUE_FLOAT && to->kind == CST__VALUE_INT) {
    return "floor, ceil or round it; fill_null and is_finite for NaN and infinity";
  }
  if (from == CST__VALUE_INT && to->kind == CST__VALUE_FLOAT) {
    return to->width == 4 ? "to round it: cast(x * 1.0, float32)" : "to round it: x * 1.0";
  }
  return NULL;
}

cst_status cst__cast_fail(cst__value_type from, cst__value_type to, int64_t i, cst_error *error) {
  cst__value_info target = cst__value_info_of(to);
  const char *hint = cast_hint(cst__value_kind_of(from), &target);
  cst__fail(error, CST_SCHEMA, hint, "a value of type %s cannot be converted to type %s",
            cst__value_type_name(from), cst__value_type_name(to));
  cst__error_add_record(error, i, -1);
  return CST_SCHEMA;
}

/* ---- numbers ---- */

/* Converts one value; true if something is lost. */
#define INT_TO_INT(T, R, x, r) __builtin_add_overflow((x), (T)0, (r))
#define SIZE_OF_INT(x) \
  (c->source.is_signed ? cst__int_size((int64_t)(x)) : (uint64_t)(x)) /* in CAST_LOOP */
#define FLOAT_BITS(R) (sizeof(R) == 4 ? FLT_MANT_DIG : DBL_MANT_DIG)
#define INT_TO_FLOAT(T, R, x, r)                                      \
  (*(r) = (R)(x), !c->rounds && (int)sizeof(T) * 8 > FLOAT_BITS(R) && \
                      !cst__float_holds(SIZE_OF_INT(x), FLOAT_BITS(R)))
#define FLOAT_TO_INT(T, R, x, r) float_to_##R((double)(x), (r))
#define FLOAT_TO_FLOAT(T, R, x, r) (*(r) = (R)(x), isinf(*(r)) && !isinf(x))

/* `limit` is the first power of two above the type's values. */
#define FLOAT_TO(R, LEAST, LIMIT)                                          \
  static inline bool float_to_##R(double value, R *out) {                  \
    bool is_inside = value >= (LEAST) && value < (LIMIT); /* NaN is not */ \
    *out = (R)(is_inside ? value : 0);                                     \
    return !is_inside || (double)*out != value;                            \
  }
FLOAT_TO(int8_t, -0x1p7, 0x1p7)
FLOAT_TO(int16_t, -0x1p15, 0x1p15)
FLOAT_TO(int32_t, -0x1p31, 0x1p31)
FLOAT_TO(int64_t, -0x1p63, 0x1p63)
FLOAT_TO(uint8_t, 0.0, 0x1p8)
FLOAT_TO(uint16_t, 0.0, 0x1p16)
FLOAT_TO(uint32_t, 0.0, 0x1p32)
FLOAT_TO(uint64_t, 0.0, 0x1p64)

/* The first slot, not null, that loses something; -1: none. */
#define CAST_LOOP(T, R, ONE)                                     \
  {                                                              \
    const T *values = cst__view_values(c->from, (int)sizeof(T)); \
    R *to = c->out->length > 0 ? data : NULL;                    \
    bool is_lost = false;                                        \
    for (int64_t i = 0; i < c->out->length; i++) {               \
      is_lost |= ONE(T, R, values[i], &to[i]);                   \
    }                                                            \
    for (int64_t i = 0; is_lost && i < c->out->length; i++) {    \
      R ignored;                                                 \
      if (ONE(T, R, values[i], &ignored)) {                      \
        if (!cst__result_is_null(c->out, i)) {                   \
          return i;                                              \
        }                                                        \
      }                                                          \
    }                                                            \
    break;                                                       \
  }

#define CASE_TO_INT(NAME, R) \
  case CST_DTYPE_##NAME:     \
    CAST_LOOP(CAST_FROM, R, INT_TO_INT)
#define CASE_TO_FLOAT(NAME, R) \
  case CST_DTYPE_##NAME:       \
    CAST_LOOP(CAST_FROM, R, INT_TO_FLOAT)
#define CASE_FLOAT_TO_INT(NAME, R) \
  case CST_DTYPE_##NAME:           \
    CAST_LOOP(CAST_FROM, R, FLOAT_TO_INT)
#define CASE_FLOAT_TO_FLOAT(NAME, R) \
  case CST_DTYPE_##NAME:             \
    CAST_LOOP(CAST_FROM, R, FLOAT_TO_FLOAT)

#define CASTS_OF_INT(NAME)                                   \
  static int64_t cast_##NAME(const casting *c, void *data) { \
    switch (c->target.dtype) {                               \
      CST__FOR_INTS(CASE_TO_INT)                             \
      CST__FOR_FLOATS(CASE_TO_FLOAT)                         \
      default:                                               \
        break;                                               \
    }                                                        \
    return -1;                                               \
  }
#define CASTS_OF_FLOAT(NAME)                                 \
  static int64_t cast_##NAME(const casting *c, void *data) { \
    switch (c->target.dtype) {                               \
      CST__FOR_INTS(CASE_FLOAT_TO_INT)                       \
      CST__FOR_FLOATS(CASE_FLOAT_TO_FLOAT)                   \
      default:                                               \
        break;                                               \
    }                                                        \
    return -1;                                               \
  }

#define CAST_FROM int8_t
CASTS_OF_INT(INT8)
#undef CAST_FROM
#define CAST_FROM int16_t
CASTS_OF_INT(INT16)
#undef CAST_FROM
#define CAST_FROM int32_t
CASTS_OF_INT(INT32)
#undef CAST_FROM
#define CAST_FROM int64_t
CASTS_OF_INT(INT64)
#undef CAST_FROM
#define CAST_FROM uint8_t
CASTS_OF_INT(UINT8)
#undef CAST_FROM
#define CAST_FROM uint16_t
CASTS_OF_INT(UINT16)
#undef CAST_FROM
#define CAST_FROM uint32_t
CASTS_OF_INT(UINT32)
#undef CAST_FROM
#define CAST_FROM uint64_t
CASTS_OF_INT(UINT64)
#undef CAST_FROM
#define CAST_FROM float
CASTS_OF_FLOAT(FLOAT32)
#undef CAST_FROM
#define CAST_FROM double
CASTS_OF_FLOAT(FLOAT64)
#undef CAST_FROM

#define CASE_FROM(NAME, T) \
  case CST_DTYPE_##NAME:   \
    return cast_##NAME(c, data);

static int64_t cast_values(const casting *c, void *data) {
  switch (c->source.dtype) {
    CST__FOR_INTS(CASE_FROM)
    CST__FOR_FLOATS(CASE_FROM)
    default:
      return -1;
  }
}

static cst_status cast_numbers(const casting *c) {
  void *data = cst__result_values(c->out, c->target.width, c->error);
  if (data == NULL) {
    return CST_NO_MEMORY;
  }
  int64_t lost = cast_values(c, data);
  return lost < 0 ? CST_OK : cst__cast_fail(c->type, c->to, lost, c->error);
}

/* ---- float16 ---- */

/* IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction. */
static float half_to_float(uint16_t half) {
  int exponent = half >> 10 & 31;
  int fraction = half & 1023;
  float size = exponent == 0    ? ldexpf((float)fraction, -24)
               : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                : ldexpf((float)(fraction + 1024), exponent - 25);
  return half >> 15 ? -size : size;
}

/* By way of float32, which holds all of them. */
static cst_status cast_halves(const casting *c) {
  struct ArrowArray floats;
  cst__value_type type = {"f"};
  CST__TRY(cst__result_new(type, c->from->length, c->allocator, &floats, c->error));
  float *values = cst__result_values(&floats, 4, c->error);
  const uint16_t *halves = cst__view_values(c->from, 2);
  cst_status status = values != NULL ? CST_OK : CST_NO_MEMORY;
  for (int64_t i = 0; i < c->from->length && status == CST_OK; i++) {
    values[i] = half_to_float(halves[i]);
  }
  if (status == CST_OK) {
    cst__view view = cst__view_of_values(&floats, type);
    casting next = *c;
    next.from = &view;
    next.source = cst__value_info_of(type);
    status = cast_numbers(&next);
  }
  cst__array_release(&floats);
  return status;
}

/* ---- bools ---- */

static cst_status cast_from_bools(const casting *c) {
  uint8_t *data = cst__result_values(c->out, c->target.width, c->error);
  if (data == NULL) {
    return CST_NO_MEMORY;
  }
  bool is_float = c->target.kind == CST__VALUE_FLOAT;
  for (int64_t i = 0; i < c->out->length; i++) {
    int64_t value = cst__view_bool(c->from, i);
    double number = (double)value;
    float small = (float)value;
    const void *from = !is_float              ? (const void *)&value
                       : c->target.width == 4 ? (const void *)&small
                                              : (const void *)&number;
    memcpy(data + i * c->target.width, from, (size_t)c->target.width);
  }
  return CST_OK;
}

static cst_status cast_to_bools(const casting *c) {
  uint8_t *bits = cst__result_values(c->out, 0, c->error);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  memset(bits, 0, cst__bits_size(c->out->length));
  for (int64_t i = 0; i < c->out->length; i++) {
    int64_t value = cst__view_int(c->from, i);
    if (cst__result_is_null(c->out, i)) {
      continue;
    }
    if (value != 0 && value != 1) {
      cst__fail(c->error, CST_SCHEMA, "compare it with 0",
                "a number that is neither 0 nor 1 cannot be a bool");
      cst__error_add_record(c->error, i, -1);
      return CST_SCHEMA;
    }
    bits[i >> 3] = (uint8_t)(bits[i >> 3] | (unsigned)value << (i & 7));
  }
  return CST_OK;
}

/* ---- times and decimals ---- */

/* The integer that the slot of a decimal is, of 32 to 256 bits, without the digits after the point;
 * false if these are not 0, or what is left does not fit. */
static bool decimal_to_int(const uint8_t *at, int width, int scale, int64_t *out) {
  uint64_t words[4];
  bool is_negative = (at[width - 1] & 0x80) != 0;
  memset(words, is_negative ? 0xff : 0, sizeof words);
  memcpy(words, at, (size_t)width);
  uint64_t carry = is_negative ? 1 : 0;
  for (int i = 0; i < 4 && is_negative; i++) { /* the size of it */
    words[i] = ~words[i] + carry;
    carry = carry != 0 && words[i] == 0;
  }
  for (; scale > 0; scale--) {
    uint64_t rest = 0;
    for (int i = 3; i >= 0; i--) {
      __uint128_t part = (__uint128_t)rest << 64 | words[i];
      words[i] = (uint64_t)(part / 10);
      rest = (uint64_t)(part % 10);
    }
    if (rest != 0) {
      return false;
    }
  }
  for (; scale < 0; scale++) {
    if (__builtin_mul_overflow(words[0], (uint64_t)10, &words[0])) {
      return false;
    }
  }
  bool fits = words[1] == 0 && words[2] == 0 && words[3] == 0 &&
              words[0] <= (uint64_t)INT64_MAX + is_negative;
  *out = (int64_t)(is_negative ? -words[0] : words[0]);
  return fits;
}

static cst_status cast_decimals(const casting *c) {
  int64_t *values = cst__result_values(c->out, 8, c->error);
  if (values == NULL) {
    return CST_NO_MEMORY;
  }
  const uint8_t *slots = cst__view_values(c->from, c->source.width);
  int scale = atoi(strchr(c->type.format, ',') + 1);
  for (int64_t i = 0; i < c->out->length; i++) {
    values[i] = 0;
    if (!cst__result_is_null(c->out, i) &&
        !decimal_to_int(slots + i * c->source.width, c->source.width, scale, &values[i])) {
      return cst__cast_fail(c->type, c->to, i, c->error);
    }
  }
  return CST_OK;
}

static cst_status cast_others(const casting *c) {
  if (strncmp(c->type.format, "d:", 2) == 0) {
    return cast_decimals(c);
  }
  return cast_numbers(c); /* the integer that a time is */
}

/* ---- all ---- */

static bool is_text_or_bytes(cst__value_kind kind) {
  return kind == CST__VALUE_TEXT || kind == CST__VALUE_BYTES;
}

static bool has_cast_of_kinds(cst__value_kind from, cst__value_kind to) {
  bool is_to_number = to == CST__VALUE_INT || to == CST__VALUE_FLOAT;
  switch (from) {
    case CST__VALUE_NULL:
      return to != CST__VALUE_NONE;
    case CST__VALUE_BOOL:
      return is_to_number || to == CST__VALUE_TEXT;
    case CST__VALUE_INT:
      return is_to_number || to == CST__VALUE_BOOL || to == CST__VALUE_TEXT;
    case CST__VALUE_FLOAT:
      return is_to_number || to == CST__VALUE_TEXT;
    case CST__VALUE_TEXT:
      return is_to_number || to == CST__VALUE_BOOL || to == CST__VALUE_BYTES;
    case CST__VALUE_BYTES:
      return to == CST__VALUE_TEXT;
    default:
      return false;
  }
}

bool cst__value_has_cast(cst__value_type from, cst__value_type to) {
  cst__value_info source = cst__value_info_of(from);
  cst__value_info target = cst__value_info_of(to);
  if (source.kind == CST__VALUE_OTHER && target.kind == CST__VALUE_INT && target.width == 8 &&
      target.is_signed) {
    return source.dtype != CST_DTYPE_NONE || strncmp(from.format, "d:", 2) == 0;
  }
  bool is_half_text =
      source.kind == CST__VALUE_FLOAT && source.width == 2 && target.kind == CST__VALUE_TEXT;
  return source.kind != CST__VALUE_NONE && !is_half_text &&
         (cst__value_type_equal(cst__value_type_plain(from), cst__value_type_plain(to)) ||
          has_cast_of_kinds(source.kind, target.kind));
}

static cst_status copy_texts(const casting *c) {
  cst__text_result texts;
  CST__TRY(cst__text_result_begin(&texts, c->out, c->out->length, c->allocator, c->error));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < c->out->length && status == CST_OK; i++) {
    cst_bytes bytes = cst__view_text(c->from, i);
    status = cst__text_result_append(&texts, bytes.data, bytes.size, c->error);
  }
  return cst__text_result_end(&texts, status);
}

static cst_status cast_texts(const casting *c) {
  if (c->source.kind == CST__VALUE_BYTES && c->target.kind == CST__VALUE_TEXT) {
    int64_t bad = cst__view_find_not_text(c->from, c->from->length);
    if (bad < c->from->length) {
      cst__fail(c->error, CST_SCHEMA, "keep it as bytes", "bytes that are not UTF-8");
      cst__error_add_record(c->error, bad, -1);
      return CST_SCHEMA;
    }
  }
  return copy_texts(c);
}

static cst_status copy_fixed(const casting *c) {
  uint8_t *data = cst__result_values(c->out, c->target.width, c->error);
  if (data == NULL) {
    return CST_NO_MEMORY;
  }
  if (c->target.width == 0) {
    memset(data, 0, cst__bits_size(c->out->length));
    if (c->out->length > 0) {
      cst__bits_copy(data, 0, c->from->data, c->from->offset, c->out->length);
    }
  } else if (c->out->length > 0) {
    memcpy(data, cst__view_values(c->from, c->target.width),
           (size_t)c->out->length * (size_t)c->target.width);
  }
  return CST_OK;
}

static cst_status cast_nulls(const casting *c) {
  if (c->target.kind == CST__VALUE_NULL) {
    return CST_OK;
  }
  if (is_text_or_bytes(c->target.kind)) {
    return copy_texts(c);
  }
  uint8_t *data = cst__result_values(c->out, c->target.width, c->error);
  size_t width = (size_t)c->target.width;
  if (data == NULL) {
    return CST_NO_MEMORY;
  }
  memset(data, 0, width > 0 ? (size_t)c->out->length * width : cst__bits_size(c->out->length));
  return CST_OK;
}

static cst_status cast_fill(const casting *c) {
  cst__value_kind from = c->source.kind;
  cst__value_kind to = c->target.kind;
  if (from == CST__VALUE_NULL) {
    return cast_nulls(c);
  }
  if (is_text_or_bytes(from) && is_text_or_bytes(to)) {
    return cast_texts(c);
  }
  if (cst__value_type_equal(c->type, c->to)) {
    return copy_fixed(c);
  }
  if (to == CST__VALUE_TEXT) {
    return cst__cast_to_text(c->from, c->allocator, c->out, c->error);
  }
  if (from == CST__VALUE_TEXT) {
    return cst__cast_from_text(c->from, c->to, c->out, c->error);
  }
  if (from == CST__VALUE_OTHER) {
    return cast_others(c);
  }
  if (from == CST__VALUE_BOOL) {
    return cast_from_bools(c);
  }
  if (to == CST__VALUE_BOOL) {
    return cast_to_bools(c);
  }
  return c->source.width == 2 && from == CST__VALUE_FLOAT ? cast_halves(c) : cast_numbers(c);
}

static cst_status cast_view(const cst__view *from, cst__cast_way way,
                            const cst_allocator *allocator, struct ArrowArray *out,
                            cst_error *error) {
  cst__value_type to = way.to;
  bool is_one = false;
  cst__function_call call = {.args = from,
                             .is_one = &is_one,
                             .num_args = 1,
                             .count = from->length,
                             .result = cst__value_type_plain(to),
                             .allocator = allocator};
  cst__value_type type = {from->format};
  casting c = {.from = from,
               .type = type,
               .to = call.result,
               .source = cst__value_info_of(type),
               .target = cst__value_info_of(to),
               .rounds = way.rounds,
               .allocator = allocator,
               .out = out,
               .error = error};
  if (!cst__value_has_cast(type, to)) {
    return cst__fail(error, CST_SCHEMA, NULL, "cannot cast %s to %s", cst__value_type_name(type),
                     cst__value_type_name(to));
  }
  CST__TRY(cst__result_begin(&call, 1, out, error));
  return cst__result_end(out, cast_fill(&c));
}

/* ---- dictionaries ---- */

static cst_status decode_slots(const cst__view *from, int64_t *at, const cst_allocator *allocator,
                               struct ArrowArray *out, cst_error *error) {
  for (int64_t i = 0; i < from->length; i++) {
    at[i] = cst__view_is_null(from, i) ? -1 : cst__view_int(from, i);
    if (at[i] >= from->dictionary->length || at[i] < -1) {
      return cst__fail(error, CST_CORRUPT, NULL, "an index of a dictionary that is out of range");
    }
  }
  return cst__values_take(from->dictionary, at, from->length, allocator, out, error);
}

static cst_status decode_dictionary(const cst__view *from, const cst_allocator *allocator,
                                    struct ArrowArray *out, cst_error *error) {
  int64_t *at = cst__new(allocator, ((size_t)from->length + 1) * sizeof *at);
  if (at == NULL) {
    return cst__fail_memory(error, (size_t)from->length * sizeof *at);
  }
  cst_status status = decode_slots(from, at, allocator, out, error);
  cst__delete(at);
  return status;
}

cst_status cst__values_cast(const cst__view *from, cst__cast_way way,
                            const cst_allocator *allocator, struct ArrowArray *out,
                            cst_error *error) {
  *out = (struct ArrowArray){0};
  if (from->dictionary == NULL) {
    return cast_view(from, way, allocator, out, error);
  }
  struct ArrowArray decoded;
  cst__value_type type = cst__values_taken_type(from->dictionary);
  CST__TRY(decode_dictionary(from, allocator, &decoded, error));
  if (cst__value_type_equal(type, way.to)) {
    *out = decoded;
    return CST_OK;
  }
  cst__view view = cst__view_of_values(&decoded, type);
  cst_status status = cast_view(&view, way, allocator, out, error);
  cst__array_release(&decoded);
  return status;
}
