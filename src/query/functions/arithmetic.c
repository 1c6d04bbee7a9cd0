/* Arithmetic: + - * / // % and the sign. Integers are checked for overflow; // and % round down, as
 * Python's do, and refuse a divisor of 0; / is that of floats.
 *
 * Loops write all slots, those of nulls too, and only note that something did not fit. Which
 * element it was is found out afterwards, by a second look at those that are not null.
 */
#include <math.h>
#include <stdio.h>

#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "query/functions/pairs.h"

/* ---- types ---- */

static bool has_int_column(const cst__argument_type *args, size_t num_args) {
  for (size_t i = 0; i < num_args; i++) {
    if (!args[i].is_literal && cst__value_kind_of(args[i].type) == CST__VALUE_INT) {
      return true;
    }
  }
  return false;
}

/* float32 / float32 is float32, all else float64. */
static void take_quotient(const cst__argument_type *args, size_t num_args, cst__signature *out) {
  cst__value_type type = out->result;
  if (cst__value_kind_of(type) == CST__VALUE_INT || has_int_column(args, num_args)) {
    type.format = "g";
  }
  out->result = type;
  for (size_t i = 0; i < num_args; i++) {
    bool is_same = !args[i].is_literal && cst__value_type_equal(args[i].type, type);
    out->casts[i].format = is_same ? NULL : type.format;
  }
}

cst_status cst__arithmetic_type(const cst__function *function, const cst__argument_type *args,
                                size_t num_args, cst__signature *out, cst_error *error) {
  *out = (cst__signature){{NULL}, {{NULL}}};
  CST__TRY(cst__arguments_common(function, args, (cst__argument_range){0, num_args}, out,
                                 &out->result, error));
  cst__value_info info = cst__value_info_of(out->result);
  bool is_text = info.kind == CST__VALUE_TEXT || info.kind == CST__VALUE_BYTES;
  if (is_text && function->op == CST__ADD) {
    return CST_OK;
  }
  if (!cst__value_is_number(out->result)) {
    return cst__argument_fail(function, args, 0, "a number",
                              info.kind == CST__VALUE_NULL ? "cast(null, int64) has a type" : NULL,
                              error);
  }
  if (function->op == CST__NEG && !info.is_signed) {
    return cst__argument_fail(function, args, 0, "a signed number", "cast it to a signed type",
                              error);
  }
  if (function->op == CST__DIV) {
    take_quotient(args, num_args, out);
  }
  return CST_OK;
}

/* ---- one value ---- */

/* Whether it fits, and *r, for the second look. */
#define ADD_ONE(x, y, r) __builtin_add_overflow((x), (y), (r))
#define SUB_ONE(x, y, r) __builtin_sub_overflow((x), (y), (r))
#define MUL_ONE(x, y, r) __builtin_mul_overflow((x), (y), (r))

#define DIVISIONS_OF_SIGNED(NAME, T, LEAST)                             \
  static inline bool floordiv_##NAME(T x, T y, T *r) {                  \
    bool is_bad = y == 0 || (x == (LEAST) && y == -1);                  \
    T by = is_bad ? 1 : y;                                              \
    T rest = (T)(x % by);                                               \
    *r = (T)(x / by - (rest != 0 && (rest < 0) != (by < 0)));           \
    return is_bad;                                                      \
  }                                                                     \
  static inline bool mod_##NAME(T x, T y, T *r) {                       \
    T by = y == 0 || y == -1 ? 1 : y; /* the rest of -1 is that of 1 */ \
    T rest = (T)(x % by);                                               \
    *r = (T)(rest != 0 && (rest < 0) != (by < 0) ? rest + by : rest);   \
    return y == 0;                                                      \
  }
#define DIVISIONS_OF_UNSIGNED(NAME, T)                 \
  static inline bool floordiv_##NAME(T x, T y, T *r) { \
    *r = (T)(x / (y == 0 ? 1 : y));                    \
    return y == 0;                                     \
  }                                                    \
  static inline bool mod_##NAME(T x, T y, T *r) {      \
    *r = (T)(x % (y == 0 ? 1 : y));                    \
    return y == 0;                                     \
  }

DIVISIONS_OF_SIGNED(INT8, int8_t, INT8_MIN)
DIVISIONS_OF_SIGNED(INT16, int16_t, INT16_MIN)
DIVISIONS_OF_SIGNED(INT32, int32_t, INT32_MIN)
DIVISIONS_OF_SIGNED(INT64, int64_t, INT64_MIN)
DIVISIONS_OF_UNSIGNED(UINT8, uint8_t)
DIVISIONS_OF_UNSIGNED(UINT16, uint16_t)
DIVISIONS_OF_UNSIGNED(UINT32, uint32_t)
DIVISIONS_OF_UNSIGNED(UINT64, uint64_t)

/* fmod of float32 values: fast. Two of them that are no multiples lie at least 2^-24 of the divisor
 * apart, so that a quotient below 2^28 is not rounded over a whole number; product and difference
 * are exact. */
static inline double rest_of_FLOAT32(double x, double y) {
  double quotient = x / y;
  if (fabs(quotient) < 1.0) {
    return x;
  }
  return fabs(quotient) < 0x1p28 ? x - (double)(int64_t)quotient * y : fmod(x, y);
}

static inline double rest_of_FLOAT64(double x, double y) { return fmod(x, y); }

/* The rest has the sign of the divisor; of nothing left, too. */
static inline double mod_of_floats(double y, double rest) {
  if (rest == 0.0) {
    return copysign(0.0, y);
  }
  return (rest < 0.0) != (y < 0.0) ? rest + y : rest;
}

/* x less the rest is a multiple of y but for rounding, which is undone. */
static inline double floordiv_of_floats(double x, double y, double rest) {
  double quotient = (x - rest) / y;
  if (rest != 0.0 && (rest < 0.0) != (y < 0.0)) {
    quotient -= 1.0;
  }
  if (quotient == 0.0) {
    return copysign(0.0, x / y);
  }
  double down = floor(quotient);
  return quotient - down > 0.5 ? down + 1.0 : down;
}

/* ---- loops ---- */

/* The first element that is not null and for which ONE says so; -1: none. */
#define FIND_BAD(T, ONE)                                                                     \
  for (int64_t i = 0; i < a->count; i++) {                                                   \
    T r;                                                                                     \
    if (!cst__result_is_null(a->out, i) &&                                                   \
        ONE(((const T *)a->x)[a->x_one ? 0 : i], ((const T *)a->y)[a->y_one ? 0 : i], &r)) { \
      return i;                                                                              \
    }                                                                                        \
  }                                                                                          \
  return -1;

/* NOTE sets `to[i]` and adds to `noted`, in a way that is fit for vectors. */
#define CHECKED(NAME, T, N, NOTE, IS_BAD, ONE) \
  static int64_t NAME(const cst__pairs *a) {   \
    T *to = a->to;                             \
    N noted = 0;                               \
    CST__FOR_EACH_PAIR(T, NOTE)                \
    if (!(IS_BAD)) {                           \
      return -1;                               \
    }                                          \
    FIND_BAD(T, ONE)                           \
  }

/* Of signed ones: the sign of the result is neither that of x nor that of y. */
#define SIGNED_LOOPS(NAME, T, U, W)                                      \
  CHECKED(add_all_##NAME, T, T, T r = (T)((U)x + (U)y); to[i] = r;       \
          noted = (T)(noted | ((x ^ r) & (y ^ r)));, noted < 0, ADD_ONE) \
  CHECKED(sub_all_##NAME, T, T, T r = (T)((U)x - (U)y); to[i] = r;       \
          noted = (T)(noted | ((x ^ y) & (x ^ r)));, noted < 0, SUB_ONE) \
  OTHER_LOOPS(NAME, T, W)
#define UNSIGNED_LOOPS(NAME, T, U, W)                                                      \
  CHECKED(add_all_##NAME, T, T, T r = (T)(x + y); to[i] = r; noted = (T)(noted | (r < x)); \
          , noted != 0, ADD_ONE)                                                           \
  CHECKED(sub_all_##NAME, T, T, to[i] = (T)(x - y); noted = (T)(noted | (x < y));          \
          , noted != 0, SUB_ONE)                                                           \
  OTHER_LOOPS(NAME, T, W)
#define OTHER_LOOPS(NAME, T, W)                                                 \
  W(NAME, T)                                                                    \
  CHECKED(floordiv_all_##NAME, T, bool, noted |= floordiv_##NAME(x, y, &to[i]); \
          , noted, floordiv_##NAME)                                             \
  CHECKED(mod_all_##NAME, T, bool, noted |= mod_##NAME(x, y, &to[i]);, noted, mod_##NAME)

/* Products in a type that holds them, or with a look at each. */
#define WIDE_16(NAME, T)                                                                    \
  CHECKED(mul_all_##NAME, T, int, int w = (int)x * (int)y; to[i] = (T)w; noted |= w ^ (T)w; \
          , noted != 0, MUL_ONE)
#define WIDE_32(NAME, T)                                                                 \
  CHECKED(mul_all_##NAME, T, int64_t, int64_t w = (int64_t)x * (int64_t)y; to[i] = (T)w; \
          noted |= w ^ (int64_t)(T)w;, noted != 0, MUL_ONE)
#define WIDE_U32(NAME, T)                                                                    \
  CHECKED(mul_all_##NAME, T, uint64_t, uint64_t w = (uint64_t)x * (uint64_t)y; to[i] = (T)w; \
          noted |= w ^ (T)w;, noted != 0, MUL_ONE)
#define WIDE_64(NAME, T) \
  CHECKED(mul_all_##NAME, T, bool, noted |= __builtin_mul_overflow(x, y, &to[i]);, noted, MUL_ONE)

SIGNED_LOOPS(INT8, int8_t, uint8_t, WIDE_16)
SIGNED_LOOPS(INT16, int16_t, uint16_t, WIDE_32)
SIGNED_LOOPS(INT32, int32_t, uint32_t, WIDE_32)
SIGNED_LOOPS(INT64, int64_t, uint64_t, WIDE_64)
UNSIGNED_LOOPS(UINT8, uint8_t, uint8_t, WIDE_16)
UNSIGNED_LOOPS(UINT16, uint16_t, uint16_t, WIDE_U32)
UNSIGNED_LOOPS(UINT32, uint32_t, uint32_t, WIDE_U32)
UNSIGNED_LOOPS(UINT64, uint64_t, uint64_t, WIDE_64)

#define FLOAT_IS_ZERO(x, y, r) (*(r) = (x), (y) == 0)
#define FLOAT_LOOP(NAME, T, EXPRESSION)             \
  static int64_t NAME(const cst__pairs *a) {        \
    T *to = a->to;                                  \
    CST__FOR_EACH_PAIR(T, to[i] = (T)(EXPRESSION);) \
    return -1;                                      \
  }
#define FLOAT_LOOPS(NAME, T)                                                                     \
  FLOAT_LOOP(add_all_##NAME, T, x + y)                                                           \
  FLOAT_LOOP(sub_all_##NAME, T, x - y)                                                           \
  FLOAT_LOOP(mul_all_##NAME, T, x *y)                                                            \
  FLOAT_LOOP(div_all_##NAME, T, x / y)                                                           \
  CHECKED(                                                                                       \
      floordiv_all_##NAME, T, bool,                                                              \
      to[i] = (T)floordiv_of_floats((double)x, (double)y, rest_of_##NAME((double)x, (double)y)); \
      noted |= y == 0;, noted, FLOAT_IS_ZERO)                                                    \
  CHECKED(mod_all_##NAME, T, bool,                                                               \
          to[i] = (T)mod_of_floats((double)y, rest_of_##NAME((double)x, (double)y));             \
          noted |= y == 0;, noted, FLOAT_IS_ZERO)

FLOAT_LOOPS(FLOAT32, float)
FLOAT_LOOPS(FLOAT64, double)

/* ---- the sign ---- */

#define NEGATE_SIGNED(NAME, T, U)                                   \
  static int64_t neg_all_##NAME(const cst__pairs *a) {              \
    const T *xs = a->x;                                             \
    T *to = a->to;                                                  \
    T noted = 0;                                                    \
    for (int64_t i = 0; i < a->count; i++) {                        \
      T r = (T)(0 - (U)xs[a->x_one ? 0 : i]);                       \
      noted = (T)(noted | (xs[a->x_one ? 0 : i] & r));              \
      to[i] = r;                                                    \
    }                                                               \
    for (int64_t i = 0; noted < 0 && i < a->count; i++) {           \
      T x = xs[a->x_one ? 0 : i];                                   \
      if (x < 0 && to[i] == x && !cst__result_is_null(a->out, i)) { \
        return i;                                                   \
      }                                                             \
    }                                                               \
    return -1;                                                      \
  }
#define NEGATE_FLOAT(NAME, T)                          \
  static int64_t neg_all_##NAME(const cst__pairs *a) { \
    const T *xs = a->x;                                \
    T *to = a->to;                                     \
    for (int64_t i = 0; i < a->count; i++) {           \
      to[i] = -xs[a->x_one ? 0 : i];                   \
    }                                                  \
    return -1;                                         \
  }

NEGATE_SIGNED(INT8, int8_t, uint8_t)
NEGATE_SIGNED(INT16, int16_t, uint16_t)
NEGATE_SIGNED(INT32, int32_t, uint32_t)
NEGATE_SIGNED(INT64, int64_t, uint64_t)
NEGATE_FLOAT(FLOAT32, float)
NEGATE_FLOAT(FLOAT64, double)

/* ---- all of them ---- */

typedef int64_t (*arithmetic_loop)(const cst__pairs *a);

#define LOOPS_OF(NAME, T)                                                                  \
  {                                                                                        \
    [CST__ADD] = add_all_##NAME, [CST__SUB] = sub_all_##NAME, [CST__MUL] = mul_all_##NAME, \
    [CST__FLOORDIV] = floordiv_all_##NAME, [CST__MOD] = mod_all_##NAME                     \
  }

static const arithmetic_loop arithmetic_loops[][CST__NEG + 1] = {
#define INT_LOOPS_ENTRY(NAME, T) [CST_DTYPE_##NAME] = LOOPS_OF(NAME, T),
    CST__FOR_INTS(INT_LOOPS_ENTRY) CST__FOR_FLOATS(INT_LOOPS_ENTRY)};

static const arithmetic_loop quotient_loops[] = {
    [CST_DTYPE_FLOAT32] = div_all_FLOAT32, [CST_DTYPE_FLOAT64] = div_all_FLOAT64};
static const arithmetic_loop sign_loops[] = {
    [CST_DTYPE_INT8] = neg_all_INT8,       [CST_DTYPE_INT16] = neg_all_INT16,
    [CST_DTYPE_INT32] = neg_all_INT32,     [CST_DTYPE_INT64] = neg_all_INT64,
    [CST_DTYPE_FLOAT32] = neg_all_FLOAT32, [CST_DTYPE_FLOAT64] = neg_all_FLOAT64};

static arithmetic_loop find_loop(int op, cst_dtype dtype) {
  return op == CST__DIV   ? quotient_loops[dtype]
         : op == CST__NEG ? sign_loops[dtype]
                          : arithmetic_loops[dtype][op];
}

static bool is_zero_at(const cst__view *view, int64_t i, const cst__value_info *info) {
  static const uint8_t zeros[8];
  return info->kind == CST__VALUE_INT &&
         memcmp((const uint8_t *)cst__view_values(view, info->width) + i * info->width, zeros,
                (size_t)info->width) == 0;
}

static cst_status fail_arithmetic(const cst__function *function, const cst__function_call *call,
                                  int64_t i, cst_error *error) {
  char what[64];
  cst__value_info info = cst__value_info_of(call->result);
  bool is_division = function->op == CST__FLOORDIV || function->op == CST__MOD;
  if (is_division && (info.kind == CST__VALUE_FLOAT ||
                      is_zero_at(&call->args[1], cst__argument_slot(call, 1, i), &info))) {
    return cst__result_fail(function, i, "division by zero",
                            "if(y == 0, null, y) as the divisor makes it null", error);
  }
  snprintf(what, sizeof what, "the result does not fit %s", cst__value_type_name(call->result));
  return cst__result_fail(function, i, what, "cast the arguments to a wider type", error);
}

static cst_status calculate(const cst__function *function, const cst__function_call *call,
                            struct ArrowArray *out, cst_error *error) {
  cst__value_info info = cst__value_info_of(call->result);
  cst__pairs a;
  CST__TRY(cst__pairs_begin(call, info.width, info.width, out, &a, error));
  int64_t bad = find_loop(function->op, info.dtype)(&a);
  return bad < 0 ? CST_OK : fail_arithmetic(function, call, bad, error);
}

cst_status cst__arithmetic_eval(const cst__function *function, const cst__function_call *call,
                                struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__result_begin(call, call->num_args, out, error));
  cst__value_kind kind = cst__value_kind_of(call->result);
  bool is_text = kind == CST__VALUE_TEXT || kind == CST__VALUE_BYTES;
  return cst__result_end(
      out, is_text ? cst__concat_texts(call, out, error) : calculate(function, call, out, error));
}
