/* Aggregates that count and add up, in one pass over the values, in order; and those that say how
 * values are spread: variance, std, quantile. */
#include <math.h>

#include "base/interrupt.h"
#include "nested/order.h"
#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "query/functions/groups.h"
#include "query/functions/words.h"

/* ---- types ---- */

static cst_status type_of_sum(const cst__function *function, const cst__argument_type *args,
                              cst__signature *out, cst_error *error) {
  cst__value_info info = cst__value_info_of(args[0].type);
  bool is_float = info.kind == CST__VALUE_FLOAT;
  if (!is_float && info.kind != CST__VALUE_INT && info.kind != CST__VALUE_BOOL) {
    return cst__argument_fail(function, args, 0, "a number or a bool", NULL, error);
  }
  if (is_float) {
    out->result = cst__value_type_plain(args[0].type);
    if (info.width == 2) {
      out->casts[0] = out->result;
    }
  } else if (function->op == CST__MEAN) {
    out->result.format = "g";
  } else {
    out->result.format = info.kind == CST__VALUE_INT && !info.is_signed ? "L" : "l";
  }
  return CST_OK;
}

cst_status cst__aggregate_type(const cst__function *function, const cst__argument_type *args,
                               size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  *out = (cst__signature){{NULL}, {{NULL}}};
  if (args[0].is_literal) {
    return cst__argument_fail(function, args, 0, "values of a list", NULL, error);
  }
  switch (function->op) {
    case CST__SUM:
    case CST__MEAN:
      return type_of_sum(function, args, out, error);
    case CST__ANY:
    case CST__ALL:
      out->result.format = "b";
      return cst__value_kind_of(args[0].type) == CST__VALUE_BOOL
                 ? CST_OK
                 : cst__argument_fail(function, args, 0, "a bool", "compare it with a value",
                                      error);
    case CST__HAS:
      out->result.format = "b";
      return CST_OK;
    default:
      out->result.format = "l";
      return CST_OK;
  }
}

/* ---- sums ---- */

/* ADD adds values[i] to `sum`, END makes the result of it. *bad: the group whose sum does not fit;
 * else it is left alone. */
#define SUM_LOOP(NAME, T, S, R, ADD, END)                                          \
  static cst_status NAME(const cst__function_call *call, void *data, int64_t *bad, \
                         cst_error *error) {                                       \
    const cst__view *view = &call->args[0];                                        \
    const T *values = cst__view_values(view, (int)sizeof(T));                      \
    R *to = data;                                                                  \
    for (int64_t g = 0; g < call->count; g++) {                                    \
      S sum = 0;                                                                   \
      int64_t last = call->offsets[g + 1];                                         \
      int64_t count = last - call->offsets[g];                                     \
      bool is_bad = false;                                                         \
      for (int64_t i = call->offsets[g], end = i; i < last;) {                     \
        CST__TRY(cst__next_stretch(&end, last, error));                            \
        for (; i < end && view->validity == NULL; i++) {                           \
          ADD                                                                      \
        }                                                                          \
        for (; i < end; i++) {                                                     \
          if (!cst__view_is_null(view, i)) {                                       \
            ADD                                                                    \
          } else {                                                                 \
            count--;                                                               \
          }                                                                        \
        }                                                                          \
      }                                                                            \
      if (is_bad) {                                                                \
        *bad = g;                                                                  \
        return CST_OK;                                                             \
      }                                                                            \
      END                                                                          \
    }                                                                              \
    return CST_OK;                                                                 \
  }

#define SUM_INT(NAME, T)                                                     \
  SUM_LOOP(sum_of_##NAME, T, SUM_TYPE, SUM_TYPE,                             \
           is_bad |= __builtin_add_overflow(sum, (SUM_TYPE)values[i], &sum); \
           , to[g] = sum; (void)count;)                                      \
  SUM_LOOP(mean_of_##NAME, T, __int128, double, sum += values[i];            \
           , to[g] = count == 0 ? 0.0 : (double)sum / (double)count;)
#define SUM_FLOAT(NAME, T)                                                                       \
  SUM_LOOP(sum_of_##NAME, T, double, T, sum += (double)values[i];, to[g] = (T)sum; (void)count;) \
  SUM_LOOP(mean_of_##NAME, T, double, T, sum += (double)values[i];                               \
           , to[g] = (T)(count == 0 ? 0.0 : sum / (double)count);)

#define SUM_TYPE int64_t
SUM_INT(INT8, int8_t)
SUM_INT(INT16, int16_t)
SUM_INT(INT32, int32_t)
SUM_INT(INT64, int64_t)
#undef SUM_TYPE
#define SUM_TYPE uint64_t
SUM_INT(UINT8, uint8_t)
SUM_INT(UINT16, uint16_t)
SUM_INT(UINT32, uint32_t)
SUM_INT(UINT64, uint64_t)
CST__FOR_FLOATS(SUM_FLOAT)

typedef cst_status (*sum_loop)(const cst__function_call *call, void *data, int64_t *bad,
                               cst_error *error);

static const sum_loop sum_loops[][2] = {
#define SUM_ENTRY(NAME, T) [CST_DTYPE_##NAME] = {sum_of_##NAME, mean_of_##NAME},
    CST__FOR_INTS(SUM_ENTRY) CST__FOR_FLOATS(SUM_ENTRY)};

static cst_status count_true(const cst__view *view, int64_t begin, int64_t last, int64_t *out,
                             cst_error *error) {
  int64_t count = 0;
  if (view->validity == NULL) {
    *out = last > begin ? cst__bitmap_count(view->data, view->offset + begin, last - begin) : 0;
    return CST_OK;
  }
  for (int64_t i = begin, end = begin; i < last;) {
    CST__TRY(cst__next_stretch(&end, last, error));
    for (; i < end; i++) {
      count += !cst__view_is_null(view, i) && cst__view_bool(view, i);
    }
  }
  *out = count;
  return CST_OK;
}

static cst_status sum_bools(const cst__function_call *call, bool is_mean, void *data,
                            cst_error *error) {
  for (int64_t g = 0; g < call->count; g++) {
    int64_t begin = call->offsets[g];
    int64_t end = call->offsets[g + 1];
    int64_t sum;
    CST__TRY(count_true(&call->args[0], begin, end, &sum, error));
    if (is_mean) {
      int64_t count = cst__group_valid(&call->args[0], begin, end);
      ((double *)data)[g] = count == 0 ? 0.0 : (double)sum / (double)count;
    } else {
      ((int64_t *)data)[g] = sum;
    }
  }
  return CST_OK;
}

/* There is no mean of nothing. */
static cst_status mark_empty_groups(const cst__function_call *call, struct ArrowArray *out,
                                    cst_error *error) {
  for (int64_t g = 0; g < call->count; g++) {
    if (cst__group_valid(&call->args[0], call->offsets[g], call->offsets[g + 1]) == 0) {
      CST__TRY(cst__result_set_null(out, g, error));
    }
  }
  return CST_OK;
}

static cst_status eval_sum(const cst__function *function, const cst__function_call *call,
                           struct ArrowArray *out, cst_error *error) {
  bool is_mean = function->op == CST__MEAN;
  cst__value_info info = cst__value_info_of((cst__value_type){call->args[0].format});
  void *data = cst__result_values(out, cst__value_info_of(call->result).width, error);
  if (data == NULL) {
    return CST_NO_MEMORY;
  }
  if (info.kind == CST__VALUE_BOOL) {
    CST__TRY(sum_bools(call, is_mean, data, error));
  } else {
    int64_t bad = -1;
    CST__TRY(sum_loops[info.dtype][is_mean](call, data, &bad, error));
    if (bad >= 0) {
      return cst__result_fail(function, bad, "the result does not fit 64 bits",
                              "cast the values to float64", error);
    }
  }
  if (is_mean) {
    CST__TRY(mark_empty_groups(call, out, error));
  }
  return cst__groups_mark_null(call, out, error);
}

/* ---- counts ---- */

static int64_t count_of(const cst__function *function, const cst__function_call *call, int64_t g) {
  const cst__view *view = &call->args[0];
  if (call->offsets == NULL) {
    return !cst__view_is_null(view, cst__argument_slot(call, 0, g));
  }
  int64_t begin = call->offsets[g];
  int64_t end = call->offsets[g + 1];
  return function->op == CST__COUNT ? cst__group_valid(view, begin, end) : end - begin;
}

static cst_status eval_counts(const cst__function *function, const cst__function_call *call,
                              struct ArrowArray *out, cst_error *error) {
  int64_t *counts = cst__result_values(out, 8, error);
  if (counts == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t g = 0; g < call->count; g++) {
    counts[g] = cst__group_is_null(call, g) ? 0 : count_of(function, call, g);
  }
  return function->op == CST__SIZE ? cst__groups_mark_null(call, out, error) : CST_OK;
}

/* ---- bools ---- */

static cst_status truth_of_group(const cst__function *function, const cst__function_call *call,
                                 int64_t g, bool *out, cst_error *error) {
  if (function->op == CST__HAS) {
    *out = !cst__group_is_null(call, g) && count_of(function, call, g) > 0;
    return CST_OK;
  }
  const cst__view *view = &call->args[0];
  const bool is_any = function->op == CST__ANY;
  int64_t last = call->offsets[g + 1];
  for (int64_t i = call->offsets[g], end = i; i < last;) {
    CST__TRY(cst__next_stretch(&end, last, error));
    for (; i < end; i++) {
      if (!cst__view_is_null(view, i) && cst__view_bool(view, i) == is_any) {
        *out = is_any;
        return CST_OK;
      }
    }
  }
  *out = !is_any;
  return CST_OK;
}

static cst_status eval_truth(const cst__function *function, const cst__function_call *call,
                             struct ArrowArray *out, cst_error *error) {
  uint8_t *bits = cst__result_values(out, 0, error);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  memset(bits, 0, cst__bits_size(call->count));
  for (int64_t g = 0; g < call->count; g++) {
    bool is_true;
    CST__TRY(truth_of_group(function, call, g, &is_true, error));
    bits[g >> 3] = (uint8_t)(bits[g >> 3] | (unsigned)is_true << (g & 7));
  }
  return function->op == CST__HAS ? CST_OK : cst__groups_mark_null(call, out, error);
}

static cst_status eval_groups(const cst__function *function, const cst__function_call *call,
                              struct ArrowArray *out, cst_error *error) {
  switch (function->op) {
    case CST__SUM:
    case CST__MEAN:
      return eval_sum(function, call, out, error);
    case CST__COUNT:
    case CST__SIZE:
      return eval_counts(function, call, out, error);
    default:
      return eval_truth(function, call, out, error);
  }
}

cst_status cst__aggregate_eval(const cst__function *function, const cst__function_call *call,
                               struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__result_new(call->result, call->count, call->allocator, out, error));
  return cst__result_end(out, eval_groups(function, call, out, error));
}

/* ---- types of floats that come out ---- */

/* A float of a number: float32 of float32 and float16. */
static cst_status type_of_spread(const cst__function *function, const cst__argument_type *args,
                                 cst__signature *out, cst_error *error) {
  cst__value_info info = cst__value_info_of(args[0].type);
  *out = (cst__signature){{"g"}, {{NULL}}};
  if (args[0].is_literal) {
    return cst__argument_fail(function, args, 0, "values of a list", NULL, error);
  }
  if (info.kind != CST__VALUE_INT && info.kind != CST__VALUE_FLOAT) {
    return cst__argument_fail(function, args, 0, "a number", NULL, error);
  }
  if (info.kind == CST__VALUE_FLOAT) {
    out->result = cst__value_type_plain(args[0].type);
    out->casts[0].format = info.width == 2 ? "f" : NULL;
  }
  return CST_OK;
}

cst_status cst__variance_type(const cst__function *function, const cst__argument_type *args,
                              size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  return type_of_spread(function, args, out, error);
}

static double number_of_literal(const cst__literal *literal) {
  return literal->kind == CST__LITERAL_INT     ? (double)literal->integer
         : literal->kind == CST__LITERAL_FLOAT ? literal->number
                                               : (double)NAN;
}

cst_status cst__quantile_type(const cst__function *function, const cst__argument_type *args,
                              size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  CST__TRY(type_of_spread(function, args, out, error));
  double q = args[1].is_literal ? number_of_literal(args[1].literal) : (double)NAN;
  return q >= 0.0 && q <= 1.0 ? CST_OK
                              : cst__argument_fail(function, args, 1, "a number from 0 to 1",
                                                   "0.5 is the median", error);
}

/* ---- variances ---- */

/* Two passes: the mean, as mean() has it, and the mean of the squares of what is left. */
#define VARIANCE_LOOP(NAME, T, S)                                                           \
  static cst_status variance_of_##NAME(const cst__view *view, int64_t begin, int64_t last,  \
                                       int64_t count, double *out, cst_error *error) {      \
    const T *values = cst__view_values(view, (int)sizeof(T));                               \
    S sum = 0;                                                                              \
    double squares = 0;                                                                     \
    for (int64_t i = begin, end = begin; i < last;) {                                       \
      CST__TRY(cst__next_stretch(&end, last, error));                                       \
      for (; i < end; i++) {                                                                \
        sum += view->validity == NULL || !cst__view_is_null(view, i) ? (S)values[i] : (S)0; \
      }                                                                                     \
    }                                                                                       \
    double mean = (double)sum / (double)count;                                              \
    for (int64_t i = begin, end = begin; i < last;) {                                       \
      CST__TRY(cst__next_stretch(&end, last, error));                                       \
      for (; i < end; i++) {                                                                \
        if (view->validity == NULL || !cst__view_is_null(view, i)) {                        \
          double rest = (double)values[i] - mean;                                           \
          squares += rest * rest;                                                           \
        }                                                                                   \
      }                                                                                     \
    }                                                                                       \
    *out = squares / (double)count;                                                         \
    return CST_OK;                                                                          \
  }
#define VARIANCE_INT(NAME, T) VARIANCE_LOOP(NAME, T, __int128)
#define VARIANCE_FLOAT(NAME, T) VARIANCE_LOOP(NAME, T, double)
CST__FOR_INTS(VARIANCE_INT)
CST__FOR_FLOATS(VARIANCE_FLOAT)

typedef cst_status (*variance_loop)(const cst__view *view, int64_t begin, int64_t last,
                                    int64_t count, double *out, cst_error *error);

static const variance_loop variance_loops[] = {
#define VARIANCE_ENTRY(NAME, T) [CST_DTYPE_##NAME] = variance_of_##NAME,
    CST__FOR_INTS(VARIANCE_ENTRY) CST__FOR_FLOATS(VARIANCE_ENTRY)};

/* ---- floats that come out ---- */

static void put_float(void *data, int width, int64_t g, double value) {
  if (width == 4) {
    ((float *)data)[g] = (float)value;
  } else {
    ((double *)data)[g] = value;
  }
}

static cst_status put_nothing(struct ArrowArray *out, void *data, int width, int64_t g,
                              cst_error *error) {
  put_float(data, width, g, 0.0);
  return cst__result_set_null(out, g, error);
}

static cst_status eval_variances(const cst__function *function, const cst__function_call *call,
                                 struct ArrowArray *out, cst_error *error) {
  const cst__view *view = &call->args[0];
  int width = cst__value_info_of(call->result).width;
  cst_dtype dtype = cst__value_info_of((cst__value_type){view->format}).dtype;
  void *data = cst__result_values(out, width, error);
  if (data == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t g = 0; g < call->count; g++) {
    int64_t begin = call->offsets[g];
    int64_t end = call->offsets[g + 1];
    int64_t count = cst__group_is_null(call, g) ? 0 : cst__group_valid(view, begin, end);
    if (count == 0) {
      CST__TRY(put_nothing(out, data, width, g, error));
      continue;
    }
    double variance;
    CST__TRY(variance_loops[dtype](view, begin, end, count, &variance, error));
    put_float(data, width, g, function->op == CST__STD ? sqrt(variance) : variance);
  }
  return CST_OK;
}

cst_status cst__variance_eval(const cst__function *function, const cst__function_call *call,
                              struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__result_new(call->result, call->count, call->allocator, out, error));
  return cst__result_end(out, eval_variances(function, call, out, error));
}

/* ---- quantiles ---- */

static double number_at(const cst__view *view, int64_t i) {
  int64_t at = view->offset + i;
  switch (view->dtype) {
    case CST_DTYPE_FLOAT32:
      return (double)((const float *)view->data)[at];
    case CST_DTYPE_FLOAT64:
      return ((const double *)view->data)[at];
    case CST_DTYPE_UINT64:
      return (double)((const uint64_t *)view->data)[at];
    default:
      return (double)cst__view_int(view, i);
  }
}

/* Between two numbers, as numpy does it; also where one is infinite, or both lie far apart. */
static double number_between(double a, double b, double part) {
  double span = b - a;
  if (part == 0.0 || a == b) {
    return a;
  }
  if (!isfinite(span)) {
    return a * (1.0 - part) + b * part;
  }
  return part < 0.5 ? a + span * part : b - span * (1.0 - part);
}

static double quantile_of(const cst__view *view, const int64_t *at, int64_t count, double q) {
  double position = q * (double)(count - 1);
  int64_t below = (int64_t)floor(position);
  int64_t above = below + 1 < count ? below + 1 : below;
  return number_between(number_at(view, at[below]), number_at(view, at[above]),
                        position - (double)below);
}

/* Of a group that has values. */
static cst_status quantile_of_group(cst__order *order, const cst__function_call *call, int64_t g,
                                    double *out, cst_error *error) {
  int64_t begin = call->offsets[g];
  int64_t end = call->offsets[g + 1];
  int64_t num_sorted;
  int64_t count = cst__group_valid(order->values, begin, end);
  CST__TRY(cst__order_list(order, begin, end, &num_sorted, error));
  *out = num_sorted < count
             ? (double)NAN
             : quantile_of(order->values, order->at, count, number_of_literal(call->literals[1]));
  return CST_OK;
}

static cst_status eval_quantiles(cst__order *order, const cst__function_call *call,
                                 struct ArrowArray *out, cst_error *error) {
  int width = cst__value_info_of(call->result).width;
  void *data = cst__result_values(out, width, error);
  size_t work = 0;
  if (data == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t g = 0; g < call->count; g++) {
    int64_t begin = call->offsets[g];
    int64_t end = call->offsets[g + 1];
    double value;
    if (cst__stretch_is_over(&work, 64 * (size_t)(end - begin))) {
      CST__TRY(cst__interrupted(error));
    }
    if (cst__group_is_null(call, g) || cst__group_valid(order->values, begin, end) == 0) {
      CST__TRY(put_nothing(out, data, width, g, error));
      continue;
    }
    CST__TRY(quantile_of_group(order, call, g, &value, error));
    put_float(data, width, g, value);
  }
  return CST_OK;
}

cst_status cst__quantile_eval(const cst__function *function, const cst__function_call *call,
                              struct ArrowArray *out, cst_error *error) {
  (void)function;
  const cst__lists groups = cst__call_lists(call);
  cst__order order;
  *out = (struct ArrowArray){0};
  CST__TRY(cst__order_init(&order, &call->args[0], false, error));
  CST__TRY(cst__order_take(&order, cst__lists_longest(&groups), call->allocator, error));
  cst_status status = cst__result_new(call->result, call->count, call->allocator, out, error);
  if (status == CST_OK) {
    status = cst__result_end(out, eval_quantiles(&order, call, out, error));
  }
  cst__delete(order.room);
  return status;
}
