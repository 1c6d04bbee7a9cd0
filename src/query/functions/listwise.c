/* Functions that give one value per element of a list, and look at the whole list for it:
 * cumulative_sum, rank.
 */
#include "base/interrupt.h"
#include "nested/order.h"
#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "query/functions/groups.h"
#include "query/functions/words.h"

/* One slot per element, null where the argument is. */
static cst_status begin_elements(const cst__function_call *call, struct ArrowArray *out,
                                 cst_error *error) {
  cst__function_call elements = *call;
  elements.count = call->args[0].length;
  return cst__result_begin(&elements, 1, out, error);
}

/* ---- cumulative_sum ---- */

enum { LIST_WORK = 16 /* that a list, and each of its elements, makes */ };

/* *bad: the group whose sum does not fit; else it is left alone. */
#define CUMULATIVE_LOOP(NAME, T, S, R, ADD)                                                        \
  static cst_status cumulative_of_##NAME(const cst__function_call *call, void *data, int64_t *bad, \
                                         cst_error *error) {                                       \
    const cst__view *view = &call->args[0];                                                        \
    const T *values = cst__view_values(view, (int)sizeof(T));                                      \
    R *to = data;                                                                                  \
    size_t work = 0;                                                                               \
    for (int64_t g = 0; g < call->count; g++) {                                                    \
      S sum = 0;                                                                                   \
      bool is_bad = false;                                                                         \
      int64_t last = call->offsets[g + 1];                                                         \
      if (cst__stretch_is_over(&work, LIST_WORK * (size_t)(last - call->offsets[g] + 1))) {        \
        CST__TRY(cst__interrupted(error));                                                         \
      }                                                                                            \
      for (int64_t i = call->offsets[g], end = i; i < last;) {                                     \
        CST__TRY(cst__next_stretch(&end, last, error));                                            \
        for (; i < end; i++) {                                                                     \
          if (view->validity == NULL || !cst__view_is_null(view, i)) {                             \
            ADD                                                                                    \
          }                                                                                        \
          to[i] = (R)sum;                                                                          \
        }                                                                                          \
      }                                                                                            \
      if (is_bad) {                                                                                \
        *bad = g;                                                                                  \
        return CST_OK;                                                                             \
      }                                                                                            \
    }                                                                                              \
    return CST_OK;                                                                                 \
  }

#define CUMULATIVE_INT(NAME, T)                \
  CUMULATIVE_LOOP(NAME, T, SUM_TYPE, SUM_TYPE, \
                  is_bad |= __builtin_add_overflow(sum, (SUM_TYPE)values[i], &sum);)
#define CUMULATIVE_FLOAT(NAME, T) \
  CUMULATIVE_LOOP(NAME, T, double, T, sum += (double)values[i]; (void)is_bad;)

#define SUM_TYPE int64_t
CUMULATIVE_INT(INT8, int8_t)
CUMULATIVE_INT(INT16, int16_t)
CUMULATIVE_INT(INT32, int32_t)
CUMULATIVE_INT(INT64, int64_t)
#undef SUM_TYPE
#define SUM_TYPE uint64_t
CUMULATIVE_INT(UINT8, uint8_t)
CUMULATIVE_INT(UINT16, uint16_t)
CUMULATIVE_INT(UINT32, uint32_t)
CUMULATIVE_INT(UINT64, uint64_t)
CST__FOR_FLOATS(CUMULATIVE_FLOAT)

typedef cst_status (*cumulative_loop)(const cst__function_call *call, void *data, int64_t *bad,
                                      cst_error *error);

static const cumulative_loop cumulative_loops[] = {
#define CUMULATIVE_ENTRY(NAME, T) [CST_DTYPE_##NAME] = cumulative_of_##NAME,
    CST__FOR_INTS(CUMULATIVE_ENTRY) CST__FOR_FLOATS(CUMULATIVE_ENTRY)};

static cst_status cumulative_of_bools(const cst__function_call *call, int64_t *to,
                                      cst_error *error) {
  const cst__view *view = &call->args[0];
  size_t work = 0;
  for (int64_t g = 0; g < call->count; g++) {
    int64_t sum = 0;
    for (int64_t i = call->offsets[g]; i < call->offsets[g + 1]; i++) {
      if (cst__stretch_is_over(&work, LIST_WORK)) {
        CST__TRY(cst__interrupted(error));
      }
      sum += !cst__view_is_null(view, i) && cst__view_bool(view, i);
      to[i] = sum;
    }
  }
  return CST_OK;
}

static cst_status eval_cumulative(const cst__function *function, const cst__function_call *call,
                                  struct ArrowArray *out, cst_error *error) {
  cst__value_info info = cst__value_info_of((cst__value_type){call->args[0].format});
  void *data = cst__result_values(out, cst__value_info_of(call->result).width, error);
  if (data == NULL) {
    return CST_NO_MEMORY;
  }
  if (info.kind == CST__VALUE_BOOL) {
    return cumulative_of_bools(call, data, error);
  }
  int64_t bad = -1;
  CST__TRY(cumulative_loops[info.dtype](call, data, &bad, error));
  return bad < 0 ? CST_OK
                 : cst__result_fail(function, bad, "the result does not fit 64 bits",
                                    "cast the values to float64", error);
}

cst_status cst__cumulative_eval(const cst__function *function, const cst__function_call *call,
                                struct ArrowArray *out, cst_error *error) {
  CST__TRY(begin_elements(call, out, error));
  return cst__result_end(out, eval_cumulative(function, call, out, error));
}

/* ---- rank ---- */

cst_status cst__rank_type(const cst__function *function, const cst__argument_type *args,
                          size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  cst__value_info info = cst__value_info_of(args[0].type);
  *out = (cst__signature){{"l"}, {{NULL}}};
  bool is_wide = info.kind == CST__VALUE_OTHER && info.dtype == CST_DTYPE_NONE; /* decimals */
  if (args[0].is_literal || info.kind == CST__VALUE_NONE || !info.has_order || is_wide) {
    return cst__argument_fail(function, args, 0, "values of a list that have an order", NULL,
                              error);
  }
  if (info.kind == CST__VALUE_FLOAT && info.width == 2) {
    out->casts[0].format = "f";
  }
  return CST_OK;
}

/* Values that are equal have the rank of the first of them; all NaN come after them. */
static cst_status put_ranks(const cst__order *order, int64_t num_sorted, int64_t count, int64_t *to,
                            cst_error *error) {
  const int64_t *at = order->at;
  int64_t rank = 1;
  for (int64_t i = 0; i < count; i++) {
    bool is_nan = i >= num_sorted;
    if (__builtin_expect((i & 0xffff) == 0xffff, 0)) {
      CST__TRY(cst__interrupted(error));
    }
    if (i > 0 && (is_nan ? i == num_sorted : !cst__order_is_same(order, at[i - 1], at[i]))) {
      rank = i + 1;
    }
    to[at[i]] = rank;
  }
  return CST_OK;
}

static cst_status eval_ranks(cst__order *order, const cst__function_call *call,
                             struct ArrowArray *out, cst_error *error) {
  int64_t *to = cst__result_values(out, 8, error);
  size_t work = 0;
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t g = 0; g < call->count; g++) {
    int64_t begin = call->offsets[g];
    int64_t end = call->offsets[g + 1];
    int64_t num_sorted;
    if (cst__stretch_is_over(&work, 64 * (size_t)(end - begin))) {
      CST__TRY(cst__interrupted(error));
    }
    CST__TRY(cst__order_list(order, begin, end, &num_sorted, error));
    int64_t num_valid = cst__group_valid(order->values, begin, end);
    CST__TRY(put_ranks(order, num_sorted, num_valid, to, error));
    for (int64_t i = num_valid; i < end - begin; i++) {
      to[order->at[i]] = 0;
    }
  }
  return CST_OK;
}

cst_status cst__rank_eval(const cst__function *function, const cst__function_call *call,
                          struct ArrowArray *out, cst_error *error) {
  (void)function;
  const cst__lists groups = cst__call_lists(call);
  cst__order order;
  *out = (struct ArrowArray){0};
  CST__TRY(cst__order_init(&order, &call->args[0], call->flag, error));
  CST__TRY(cst__order_take(&order, cst__lists_longest(&groups), call->allocator, error));
  cst_status status = begin_elements(call, out, error);
  if (status == CST_OK) {
    status = cst__result_end(out, eval_ranks(&order, call, out, error));
  }
  cst__delete(order.room);
  return status;
}
