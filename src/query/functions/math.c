/* Functions of numbers. Those that need a float take integers as float64; of float32 they give
 * float32, calculated as float64 and then rounded, so that the last digit is right.
 */
#include <math.h>

#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "query/functions/pairs.h"
#include "query/functions/words.h"

/* ---- types ---- */

/* Numbers of their own type; float16 becomes float32. */
static cst_status type_of_number(const cst__function *function, const cst__argument_type *args,
                                 cst__signature *out, cst_error *error) {
  if (!cst__value_is_number(args[0].type)) {
    return cst__argument_fail(function, args, 0, "a number", NULL, error);
  }
  out->result = cst__value_type_plain(args[0].type);
  if (args[0].is_literal || !cst__value_type_equal(args[0].type, out->result)) {
    out->casts[0] = out->result;
  }
  return CST_OK;
}

cst_status cst__rounding_type(const cst__function *function, const cst__argument_type *args,
                              size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  *out = (cst__signature){{NULL}, {{NULL}}};
  return type_of_number(function, args, out, error);
}

cst_status cst__math_type(const cst__function *function, const cst__argument_type *args,
                          size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  *out = (cst__signature){{NULL}, {{NULL}}};
  CST__TRY(type_of_number(function, args, out, error));
  if (cst__value_kind_of(out->result) == CST__VALUE_INT) {
    out->result.format = "g";
    out->casts[0].format = "g";
  }
  return CST_OK;
}

cst_status cst__finite_type(const cst__function *function, const cst__argument_type *args,
                            size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  *out = (cst__signature){{NULL}, {{NULL}}};
  CST__TRY(type_of_number(function, args, out, error));
  out->result.format = "b";
  return CST_OK;
}

/* Numbers of one type. */
cst_status cst__bounds_type(const cst__function *function, const cst__argument_type *args,
                            size_t num_args, cst__signature *out, cst_error *error) {
  *out = (cst__signature){{NULL}, {{NULL}}};
  CST__TRY(cst__arguments_common(function, args, (cst__argument_range){0, num_args}, out,
                                 &out->result, error));
  return cst__value_is_number(out->result)
             ? CST_OK
             : cst__argument_fail(function, args, 0, "a number", NULL, error);
}

cst_status cst__power_type(const cst__function *function, const cst__argument_type *args,
                           size_t num_args, cst__signature *out, cst_error *error) {
  CST__TRY(cst__bounds_type(function, args, num_args, out, error));
  if (cst__value_kind_of(out->result) == CST__VALUE_INT) {
    out->result.format = out->casts[0].format = out->casts[1].format = "g";
  }
  return CST_OK;
}

/* ---- floats of floats ---- */

static inline double sigmoid_of(double x) { /* neither exp overflows */
  double e = exp(-fabs(x));
  return (x >= 0 ? 1.0 : e) / (1.0 + e);
}

#define MATH_LOOP(NAME, T, WORD, OF)                   \
  static void WORD##_all_##NAME(const cst__pairs *a) { \
    const T *xs = a->x;                                \
    T *to = a->to;                                     \
    for (int64_t i = 0; i < a->count; i++) {           \
      to[i] = (T)OF((double)xs[a->x_one ? 0 : i]);     \
    }                                                  \
  }
#define MATH_LOOPS(NAME, T)               \
  MATH_LOOP(NAME, T, sqrt, sqrt)          \
  MATH_LOOP(NAME, T, exp, exp)            \
  MATH_LOOP(NAME, T, expm1, expm1)        \
  MATH_LOOP(NAME, T, log, log)            \
  MATH_LOOP(NAME, T, log1p, log1p)        \
  MATH_LOOP(NAME, T, log2, log2)          \
  MATH_LOOP(NAME, T, log10, log10)        \
  MATH_LOOP(NAME, T, sigmoid, sigmoid_of) \
  MATH_LOOP(NAME, T, tanh, tanh)

CST__FOR_FLOATS(MATH_LOOPS)

typedef void (*math_loop)(const cst__pairs *a);

static const math_loop math_loops[][2] = {
#define MATH_ENTRY(OP, WORD) [OP] = {WORD##_all_FLOAT32, WORD##_all_FLOAT64}
    MATH_ENTRY(CST__SQRT, sqrt),   MATH_ENTRY(CST__EXP, exp),         MATH_ENTRY(CST__EXPM1, expm1),
    MATH_ENTRY(CST__LOG, log),     MATH_ENTRY(CST__LOG1P, log1p),     MATH_ENTRY(CST__LOG2, log2),
    MATH_ENTRY(CST__LOG10, log10), MATH_ENTRY(CST__SIGMOID, sigmoid), MATH_ENTRY(CST__TANH, tanh),
};

cst_status cst__math_eval(const cst__function *function, const cst__function_call *call,
                          struct ArrowArray *out, cst_error *error) {
  cst__pairs a;
  int width = cst__value_info_of(call->result).width;
  CST__TRY(cst__result_begin(call, 1, out, error));
  cst_status status = cst__pairs_begin(call, width, width, out, &a, error);
  if (status == CST_OK) {
    math_loops[function->op][width == 8](&a);
  }
  return cst__result_end(out, status);
}

#define POWER_LOOP(NAME, T)                                      \
  static void power_all_##NAME(const cst__pairs *a) {            \
    T *to = a->to;                                               \
    CST__FOR_EACH_PAIR(T, to[i] = (T)pow((double)x, (double)y);) \
  }
CST__FOR_FLOATS(POWER_LOOP)

cst_status cst__power_eval(const cst__function *function, const cst__function_call *call,
                           struct ArrowArray *out, cst_error *error) {
  (void)function;
  cst__pairs a;
  int width = cst__value_info_of(call->result).width;
  CST__TRY(cst__result_begin(call, 2, out, error));
  cst_status status = cst__pairs_begin(call, width, width, out, &a, error);
  if (status == CST_OK) {
    (width == 8 ? power_all_FLOAT64 : power_all_FLOAT32)(&a);
  }
  return cst__result_end(out, status);
}

/* ---- numbers of their own type ---- */

/* The first element that does not fit; -1: none. */
#define ROUND_FLOAT(NAME, T, OF)                                                          \
  static int64_t rounding_of_##NAME(const cst__function *function, const cst__pairs *a) { \
    const T *xs = a->x;                                                                   \
    T *to = a->to;                                                                        \
    for (int64_t i = 0; i < a->count; i++) {                                              \
      T x = xs[a->x_one ? 0 : i];                                                         \
      switch (function->op) {                                                             \
        case CST__ABS:                                                                    \
          to[i] = fabs##OF(x);                                                            \
          break;                                                                          \
        case CST__SIGN:                                                                   \
          to[i] = x != x ? x : (T)((x > 0) - (x < 0));                                    \
          break;                                                                          \
        case CST__FLOOR:                                                                  \
          to[i] = floor##OF(x);                                                           \
          break;                                                                          \
        case CST__CEIL:                                                                   \
          to[i] = ceil##OF(x);                                                            \
          break;                                                                          \
        default:                                                                          \
          to[i] = rint##OF(x);                                                            \
          break;                                                                          \
      }                                                                                   \
    }                                                                                     \
    return -1;                                                                            \
  }
#define ROUND_INT(NAME, T, ABS, SIGN)                                                        \
  static int64_t rounding_of_##NAME(const cst__function *function, const cst__pairs *a) {    \
    const T *xs = a->x;                                                                      \
    T *to = a->to;                                                                           \
    bool is_bad = false;                                                                     \
    for (int64_t i = 0; i < a->count; i++) {                                                 \
      T x = xs[a->x_one ? 0 : i];                                                            \
      T y = function->op == CST__ABS ? (T)(ABS) : function->op == CST__SIGN ? (T)(SIGN) : x; \
      is_bad |= function->op == CST__ABS && IS_NEGATIVE(y);                                  \
      to[i] = y;                                                                             \
    }                                                                                        \
    for (int64_t i = 0; is_bad && i < a->count; i++) {                                       \
      if (IS_NEGATIVE(to[i]) && !cst__result_is_null(a->out, i)) {                           \
        return i;                                                                            \
      }                                                                                      \
    }                                                                                        \
    return -1;                                                                               \
  }
#define ROUND_SIGNED(NAME, T, U) ROUND_INT(NAME, T, x < 0 ? (U)(0 - (U)x) : (U)x, (x > 0) - (x < 0))
#define ROUND_UNSIGNED(NAME, T) ROUND_INT(NAME, T, x, x > 0)

ROUND_FLOAT(FLOAT32, float, f)
ROUND_FLOAT(FLOAT64, double, )
#define IS_NEGATIVE(y) ((y) < 0)
ROUND_SIGNED(INT8, int8_t, uint8_t)
ROUND_SIGNED(INT16, int16_t, uint16_t)
ROUND_SIGNED(INT32, int32_t, uint32_t)
ROUND_SIGNED(INT64, int64_t, uint64_t)
#undef IS_NEGATIVE
#define IS_NEGATIVE(y) false
ROUND_UNSIGNED(UINT8, uint8_t)
ROUND_UNSIGNED(UINT16, uint16_t)
ROUND_UNSIGNED(UINT32, uint32_t)
ROUND_UNSIGNED(UINT64, uint64_t)

typedef int64_t (*rounding_loop)(const cst__function *function, const cst__pairs *a);

static const rounding_loop rounding_loops[] = {
#define ROUND_ENTRY(NAME, T) [CST_DTYPE_##NAME] = rounding_of_##NAME,
    CST__FOR_INTS(ROUND_ENTRY) CST__FOR_FLOATS(ROUND_ENTRY)};

cst_status cst__rounding_eval(const cst__function *function, const cst__function_call *call,
                              struct ArrowArray *out, cst_error *error) {
  cst__pairs a;
  cst__value_info info = cst__value_info_of(call->result);
  CST__TRY(cst__result_begin(call, 1, out, error));
  cst_status status = cst__pairs_begin(call, info.width, info.width, out, &a, error);
  int64_t bad = status == CST_OK ? rounding_loops[info.dtype](function, &a) : -1;
  if (bad >= 0) {
    status = cst__result_fail(function, bad,
                              "the absolute value of the smallest number does not fit its type",
                              "cast the argument to a wider type", error);
  }
  return cst__result_end(out, status);
}

/* ---- is_nan, is_finite ---- */

/* Integers are finite. */
#define FINITE_LOOP(NAME, T)                                                         \
  static void finite_of_##NAME(const cst__function *function, const cst__pairs *a) { \
    const T *xs = a->x;                                                              \
    for (int64_t i = 0; i < a->count; i += 64) {                                     \
      uint8_t truth[64] = {0};                                                       \
      cst__stretch s = cst__stretch_of(i, a->count);                                 \
      for (int64_t k = 0; k < s.count; k++) {                                        \
        T x = xs[a->x_one ? 0 : i + k];                                              \
        truth[k] = function->op == CST__IS_NAN ? x != x : x - x == 0;                \
      }                                                                              \
      cst__bits_put(a->to, i, cst__bits_of_bytes(truth), s.count);                   \
    }                                                                                \
  }
CST__FOR_FLOATS(FINITE_LOOP)

cst_status cst__finite_eval(const cst__function *function, const cst__function_call *call,
                            struct ArrowArray *out, cst_error *error) {
  cst__pairs a;
  cst__value_info info = cst__value_info_of((cst__value_type){call->args[0].format});
  CST__TRY(cst__result_begin(call, 1, out, error));
  cst_status status = cst__pairs_begin(call, info.width, 0, out, &a, error);
  if (status != CST_OK) {
    return cst__result_end(out, status);
  }
  if (info.kind != CST__VALUE_FLOAT) {
    memset(a.to, function->op == CST__IS_NAN ? 0 : 0xff, cst__bits_size(call->count));
  } else {
    (info.width == 8 ? finite_of_FLOAT64 : finite_of_FLOAT32)(function, &a);
  }
  return CST_OK;
}

/* ---- minimum, maximum, clip ---- */

/* A NaN stays: neither comparison chooses the other one. */
#define BOUND_LOOP(NAME, T)                                 \
  static void minimum_of_##NAME(const cst__pairs *a) {      \
    T *to = a->to;                                          \
    CST__FOR_EACH_PAIR(T, to[i] = x < y || x != x ? x : y;) \
  }                                                         \
  static void maximum_of_##NAME(const cst__pairs *a) {      \
    T *to = a->to;                                          \
    CST__FOR_EACH_PAIR(T, to[i] = x > y || x != x ? x : y;) \
  }
CST__FOR_INTS(BOUND_LOOP)
CST__FOR_FLOATS(BOUND_LOOP)

static const math_loop bound_loops[][2] = {
#define BOUND_ENTRY(NAME, T) [CST_DTYPE_##NAME] = {minimum_of_##NAME, maximum_of_##NAME},
    CST__FOR_INTS(BOUND_ENTRY) CST__FOR_FLOATS(BOUND_ENTRY)};

cst_status cst__bounds_eval(const cst__function *function, const cst__function_call *call,
                            struct ArrowArray *out, cst_error *error) {
  cst__pairs a;
  cst__value_info info = cst__value_info_of(call->result);
  CST__TRY(cst__result_begin(call, call->num_args, out, error));
  cst_status status = cst__pairs_begin(call, info.width, info.width, out, &a, error);
  if (status != CST_OK) {
    return cst__result_end(out, status);
  }
  bool is_clip = function->op == CST__CLIP;
  bound_loops[info.dtype][is_clip || function->op == CST__MAXIMUM](&a);
  if (is_clip) { /* not below args[1]; now not above args[2] */
    a.x = a.to;
    a.x_one = false;
    a.y = cst__view_values(&call->args[2], info.width);
    a.y_one = call->is_one[2];
    bound_loops[info.dtype][0](&a);
  }
  return CST_OK;
}
