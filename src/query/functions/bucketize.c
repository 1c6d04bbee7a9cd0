/* bucketize(x, [a, b, c]): 0 below a, 1 from a on, 2 from b on, 3 from c on, and for NaN. */
#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "query/functions/result.h"

static double bound_of(const cst__literal *literal) {
  return literal->kind == CST__LITERAL_INT ? (double)literal->integer : literal->number;
}

static bool is_number_literal(const cst__literal *literal) {
  return literal->kind == CST__LITERAL_INT ||
         (literal->kind == CST__LITERAL_FLOAT && literal->number == literal->number);
}

/* Integers as such, above what float64 tells apart, too. */
static bool is_ascending(const cst__literal *a, const cst__literal *b) {
  if (a->kind == CST__LITERAL_INT && b->kind == CST__LITERAL_INT) {
    return a->integer <= b->integer;
  }
  return bound_of(a) <= bound_of(b);
}

static bool are_bounds(const cst__argument_type *arg) {
  const cst__literal *list = arg->is_literal ? arg->literal : NULL;
  if (list == NULL || list->kind != CST__LITERAL_LIST) {
    return false;
  }
  for (size_t i = 0; i < list->num_items; i++) {
    if (!is_number_literal(&list->items[i]) ||
        (i > 0 && !is_ascending(&list->items[i - 1], &list->items[i]))) {
      return false;
    }
  }
  return true;
}

cst_status cst__bucketize_type(const cst__function *function, const cst__argument_type *args,
                               size_t num_args, cst__signature *out, cst_error *error) {
  cst__value_type type;
  *out = (cst__signature){{"l"}, {{NULL}}};
  if (!are_bounds(&args[1])) {
    return cst__argument_fail(function, args, 1, "a list of ascending numbers", NULL, error);
  }
  CST__TRY(
      cst__arguments_common(function, args, (cst__argument_range){0, num_args}, out, &type, error));
  return cst__value_is_number(type)
             ? CST_OK
             : cst__argument_fail(function, args, 0, "a number", NULL, error);
}

/* How many bounds are not above x. Halving without branches: the bounds are few and the values
 * come in any order. */
#define BUCKETIZE_LOOP(NAME, T)                                                \
  static void buckets_of_##NAME(const cst__function_call *call, int64_t *to) { \
    const T *xs = cst__view_values(&call->args[0], (int)sizeof(T));            \
    const T *bounds = cst__view_values(&call->args[1], (int)sizeof(T));        \
    for (int64_t i = 0; i < call->count; i++) {                                \
      T x = xs[call->is_one[0] ? 0 : i];                                       \
      const T *at = bounds;                                                    \
      int64_t left = call->args[1].length;                                     \
      while (left > 1) {                                                       \
        int64_t half = left / 2;                                               \
        at += x < at[half - 1] ? 0 : half;                                     \
        left -= half;                                                          \
      }                                                                        \
      to[i] = at - bounds + (left > 0 && !(x < at[0]));                        \
    }                                                                          \
  }
CST__FOR_INTS(BUCKETIZE_LOOP)
CST__FOR_FLOATS(BUCKETIZE_LOOP)

typedef void (*bucketize_loop)(const cst__function_call *call, int64_t *to);

static const bucketize_loop bucketize_loops[] = {
#define BUCKETIZE_ENTRY(NAME, T) [CST_DTYPE_##NAME] = buckets_of_##NAME,
    CST__FOR_INTS(BUCKETIZE_ENTRY) CST__FOR_FLOATS(BUCKETIZE_ENTRY)};

cst_status cst__bucketize_eval(const cst__function *function, const cst__function_call *call,
                               struct ArrowArray *out, cst_error *error) {
  (void)function;
  CST__TRY(cst__result_begin(call, 1, out, error));
  cst__value_info info = cst__value_info_of((cst__value_type){call->args[0].format});
  int64_t *to = cst__result_values(out, 8, error);
  if (to == NULL) {
    return cst__result_end(out, CST_NO_MEMORY);
  }
  bucketize_loops[info.dtype](call, to);
  return CST_OK;
}
