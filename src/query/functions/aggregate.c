/* Aggregates that count and add up: one value per group, in one pass over the values, in order. */
#include "query/functions/cast.h"
#include "query/functions/function_list.h"
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
                 : cst__argument_fail(function, args, 0, "a bool", "compare it with something",
                                      error);
    case CST__HAS:
      out->result.format = "b";
      return CST_OK;
    default:
      out->result.format = "l";
      return CST_OK;
  }
}

/* ---- groups ---- */

static bool is_null_group(const cst__function_call *call, int64_t group) {
  return call->null_groups != NULL && call->null_groups[group] != 0;
}

/* Null lists make null results. */
static cst_status mark_null_groups(const cst__function_call *call, struct ArrowArray *out,
                                   cst_error *error) {
  for (int64_t g = 0; call->null_groups != NULL && g < call->count; g++) {
    if (call->null_groups[g] != 0) {
      CST__TRY(cst__result_set_null(out, g, error));
    }
  }
  return CST_OK;
}

/* How many of the values [begin, end) are not null. */
static int64_t count_valid(const cst__view *view, int64_t begin, int64_t end) {
  if (view->layout == CST__LAYOUT_NULL) {
    return 0;
  }
  return view->validity == NULL
             ? end - begin
             : cst__bitmap_count(view->validity, view->offset + begin, end - begin);
}

/* ---- sums ---- */

/* ADD adds values[i] to `sum`, END makes the result of it. */
#define SUM_LOOP(NAME, T, S, R, ADD, END)                           \
  static int64_t NAME(const cst__function_call *call, void *data) { \
    const cst__view *view = &call->args[0];                         \
    const T *values = cst__view_values(view, (int)sizeof(T));       \
    R *to = data;                                                   \
    for (int64_t g = 0; g < call->count; g++) {                     \
      S sum = 0;                                                    \
      int64_t end = call->offsets[g + 1];                           \
      int64_t count = end - call->offsets[g];                       \
      bool is_bad = false;                                          \
      if (view->validity == NULL) {                                 \
        for (int64_t i = call->offsets[g]; i < end; i++) {          \
          ADD                                                       \
        }                                                           \
      } else {                                                      \
        for (int64_t i = call->offsets[g]; i < end; i++) {          \
          if (!cst__view_is_null(view, i)) {                        \
            ADD                                                     \
          } else {                                                  \
            count--;                                                \
          }                                                         \
        }                                                           \
      }                                                             \
      if (is_bad) {                                                 \
        return g;                                                   \
      }                                                             \
      END                                                           \
    }                                                               \
    return -1;                                                      \
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

typedef int64_t (*sum_loop)(const cst__function_call *call, void *data);

static const sum_loop sum_loops[][2] = {
#define SUM_ENTRY(NAME, T) [CST_DTYPE_##NAME] = {sum_of_##NAME, mean_of_##NAME},
    CST__FOR_INTS(SUM_ENTRY) CST__FOR_FLOATS(SUM_ENTRY)};

static int64_t count_true(const cst__view *view, int64_t begin, int64_t end) {
  int64_t count = 0;
  if (view->validity == NULL) {
    return end > begin ? cst__bitmap_count(view->data, view->offset + begin, end - begin) : 0;
  }
  for (int64_t i = begin; i < end; i++) {
    count += !cst__view_is_null(view, i) && cst__view_bool(view, i);
  }
  return count;
}

static void sum_bools(const cst__function_call *call, bool is_mean, void *data) {
  for (int64_t g = 0; g < call->count; g++) {
    int64_t begin = call->offsets[g];
    int64_t end = call->offsets[g + 1];
    int64_t sum = count_true(&call->args[0], begin, end);
    if (is_mean) {
      int64_t count = count_valid(&call->args[0], begin, end);
      ((double *)data)[g] = count == 0 ? 0.0 : (double)sum / (double)count;
    } else {
      ((int64_t *)data)[g] = sum;
    }
  }
}

/* There is no mean of nothing. */
static cst_status mark_empty_groups(const cst__function_call *call, struct ArrowArray *out,
                                    cst_error *error) {
  for (int64_t g = 0; g < call->count; g++) {
    if (count_valid(&call->args[0], call->offsets[g], call->offsets[g + 1]) == 0) {
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
    sum_bools(call, is_mean, data);
  } else {
    int64_t bad = sum_loops[info.dtype][is_mean](call, data);
    if (bad >= 0) {
      return cst__result_fail(function, bad, "the result does not fit 64 bits",
                              "cast the values to float64", error);
    }
  }
  if (is_mean) {
    CST__TRY(mark_empty_groups(call, out, error));
  }
  return mark_null_groups(call, out, error);
}

/* ---- counts ---- */

static int64_t count_of(const cst__function *function, const cst__function_call *call, int64_t g) {
  const cst__view *view = &call->args[0];
  if (call->offsets == NULL) {
    return !cst__view_is_null(view, cst__argument_slot(call, 0, g));
  }
  int64_t begin = call->offsets[g];
  int64_t end = call->offsets[g + 1];
  return function->op == CST__COUNT ? count_valid(view, begin, end) : end - begin;
}

static cst_status eval_counts(const cst__function *function, const cst__function_call *call,
                              struct ArrowArray *out, cst_error *error) {
  int64_t *counts = cst__result_values(out, 8, error);
  if (counts == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t g = 0; g < call->count; g++) {
    counts[g] = is_null_group(call, g) ? 0 : count_of(function, call, g);
  }
  return function->op == CST__SIZE ? mark_null_groups(call, out, error) : CST_OK;
}

/* ---- bools ---- */

static bool truth_of_group(const cst__function *function, const cst__function_call *call,
                           int64_t g) {
  if (function->op == CST__HAS) {
    return !is_null_group(call, g) && count_of(function, call, g) > 0;
  }
  const cst__view *view = &call->args[0];
  for (int64_t i = call->offsets[g]; i < call->offsets[g + 1]; i++) {
    if (!cst__view_is_null(view, i) && cst__view_bool(view, i) == (function->op == CST__ANY)) {
      return function->op == CST__ANY;
    }
  }
  return function->op == CST__ALL;
}

static cst_status eval_truth(const cst__function *function, const cst__function_call *call,
                             struct ArrowArray *out, cst_error *error) {
  uint8_t *bits = cst__result_values(out, 0, error);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  memset(bits, 0, cst__bits_size(call->count));
  for (int64_t g = 0; g < call->count; g++) {
    unsigned is_true = truth_of_group(function, call, g);
    bits[g >> 3] = (uint8_t)(bits[g >> 3] | is_true << (g & 7));
  }
  return function->op == CST__HAS ? CST_OK : mark_null_groups(call, out, error);
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
