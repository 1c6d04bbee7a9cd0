/* Aggregates that choose a value: min, max, first, last, and where it stands: argmin, argmax. */
#include "base/bytes.h"
#include "base/interrupt.h"
#include "query/functions/cast.h"
#include "query/functions/compare.h"
#include "query/functions/function_list.h"
#include "query/functions/values_take.h"
#include "query/functions/words.h"

static bool is_position(const cst__function *function) {
  return function->op == CST__ARGMIN || function->op == CST__ARGMAX;
}

cst_status cst__pick_type(const cst__function *function, const cst__argument_type *args,
                          size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  cst__value_info info = cst__value_info_of(args[0].type);
  *out = (cst__signature){cst__value_type_plain(args[0].type), {{NULL}}};
  bool is_ordered = function->op != CST__FIRST && function->op != CST__LAST;
  if (args[0].is_literal || info.kind == CST__VALUE_NONE || (is_ordered && !info.has_order)) {
    return cst__argument_fail(function, args, 0,
                              is_ordered ? "values that have an order" : "values of a list", NULL,
                              error);
  }
  if (info.kind == CST__VALUE_FLOAT && info.width == 2) {
    out->casts[0] = out->result;
  }
  if (is_position(function)) {
    out->result.format = "l";
  }
  return CST_OK;
}

/* ---- the least and the greatest ---- */

/* Two are compared as IS_BEFORE(a, b): a is the better one. A NaN is better than all, and stays. */
#define BEFORE_INT(a, b) ((a) < (b))
#define AFTER_INT(a, b) ((a) > (b))
#define BEFORE_FLOAT(a, b) ((a) < (b) || ((a) != (a) && (b) == (b)))
#define AFTER_FLOAT(a, b) ((a) > (b) || ((a) != (a) && (b) == (b)))

#define BEST_LOOP(NAME, T, IS_BEFORE)                                                       \
  static cst_status NAME(const cst__function_call *call, int64_t *best, cst_error *error) { \
    const cst__view *view = &call->args[0];                                                 \
    const T *values = cst__view_values(view, (int)sizeof(T));                               \
    for (int64_t g = 0; g < call->count; g++) {                                             \
      int64_t last = call->offsets[g + 1];                                                  \
      int64_t at = -1;                                                                      \
      for (int64_t i = call->offsets[g], end = i; i < last;) {                              \
        CST__TRY(cst__next_stretch(&end, last, error));                                     \
        for (; i < end; i++) {                                                              \
          if ((view->validity == NULL || !cst__view_is_null(view, i)) &&                    \
              (at < 0 || IS_BEFORE(values[i], values[at]))) {                               \
            at = i;                                                                         \
          }                                                                                 \
        }                                                                                   \
      }                                                                                     \
      best[g] = at;                                                                         \
    }                                                                                       \
    return CST_OK;                                                                          \
  }
#define BEST_INT(NAME, T)                \
  BEST_LOOP(least_##NAME, T, BEFORE_INT) \
  BEST_LOOP(greatest_##NAME, T, AFTER_INT)
#define BEST_FLOAT(NAME, T)                \
  BEST_LOOP(least_##NAME, T, BEFORE_FLOAT) \
  BEST_LOOP(greatest_##NAME, T, AFTER_FLOAT)

CST__FOR_INTS(BEST_INT)
CST__FOR_FLOATS(BEST_FLOAT)

typedef cst_status (*best_loop)(const cst__function_call *call, int64_t *best, cst_error *error);

static const best_loop best_loops[][2] = {
#define BEST_ENTRY(NAME, T) [CST_DTYPE_##NAME] = {least_##NAME, greatest_##NAME},
    CST__FOR_INTS(BEST_ENTRY) CST__FOR_FLOATS(BEST_ENTRY)};

static int order_of_slots(const cst__view *view, const cst__value_info *info, int64_t a,
                          int64_t b) {
  if (info->kind == CST__VALUE_BOOL) {
    return (int)cst__view_bool(view, a) - (int)cst__view_bool(view, b);
  }
  if (info->width > 0) {
    const uint8_t *values = cst__view_values(view, info->width);
    return cst__compare_wide(values + a * info->width, values + b * info->width, info->width);
  }
  return cst__bytes_compare(cst__view_text(view, a), cst__view_text(view, b));
}

static cst_status best_of_slots(const cst__function_call *call, const cst__value_info *info,
                                int sign, int64_t *best, cst_error *error) {
  for (int64_t g = 0; g < call->count; g++) {
    int64_t last = call->offsets[g + 1];
    best[g] = -1;
    for (int64_t i = call->offsets[g], end = i; i < last;) {
      CST__TRY(cst__next_stretch(&end, last, error));
      for (; i < end; i++) {
        if (!cst__view_is_null(&call->args[0], i) &&
            (best[g] < 0 || sign * order_of_slots(&call->args[0], info, i, best[g]) < 0)) {
          best[g] = i;
        }
      }
    }
  }
  return CST_OK;
}

/* ---- all ---- */

static void pick_end(const cst__function *function, const cst__function_call *call,
                     int64_t *slots) {
  for (int64_t g = 0; g < call->count; g++) {
    int64_t begin = call->offsets[g];
    int64_t end = call->offsets[g + 1];
    slots[g] = begin == end ? -1 : function->op == CST__FIRST ? begin : end - 1;
  }
}

static cst_status pick_slots(const cst__function *function, const cst__function_call *call,
                             int64_t *slots, cst_error *error) {
  cst__value_info info = cst__value_info_of((cst__value_type){call->args[0].format});
  bool is_max = function->op == CST__MAX || function->op == CST__ARGMAX;
  if (function->op == CST__FIRST || function->op == CST__LAST) {
    pick_end(function, call, slots);
  } else if (info.dtype != CST_DTYPE_NONE) {
    CST__TRY(best_loops[info.dtype][is_max](call, slots, error));
  } else {
    CST__TRY(best_of_slots(call, &info, is_max ? -1 : 1, slots, error));
  }
  for (int64_t g = 0; call->null_groups != NULL && g < call->count; g++) {
    slots[g] = call->null_groups[g] != 0 ? -1 : slots[g];
  }
  return CST_OK;
}

static cst_status positions_of_slots(const cst__function_call *call, const int64_t *slots,
                                     struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__result_new(call->result, call->count, call->allocator, out, error));
  int64_t *to = cst__result_values(out, 8, error);
  cst_status status = to != NULL ? CST_OK : CST_NO_MEMORY;
  for (int64_t g = 0; g < call->count && status == CST_OK; g++) {
    to[g] = slots[g] < 0 ? 0 : slots[g] - call->offsets[g];
    status = slots[g] < 0 ? cst__result_set_null(out, g, error) : CST_OK;
  }
  return cst__result_end(out, status);
}

cst_status cst__pick_eval(const cst__function *function, const cst__function_call *call,
                          struct ArrowArray *out, cst_error *error) {
  *out = (struct ArrowArray){0};
  size_t size = ((size_t)call->count + 1) * sizeof(int64_t);
  int64_t *slots = cst__new(call->allocator, size);
  if (slots == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status = pick_slots(function, call, slots, error);
  if (status == CST_OK) {
    status = is_position(function) ? positions_of_slots(call, slots, out, error)
                                   : cst__values_take(&call->args[0], slots, call->count,
                                                      call->allocator, out, error);
  }
  cst__delete(slots);
  return status;
}
