/* and, or, not, and is_null. Null is "unknown", as in SQL: false and null is false, true and null
 * is null.
 */
#include "query/functions/function_list.h"
#include "query/functions/result.h"
#include "query/functions/words.h"

/* ---- types ---- */

static bool is_bool_or_null(cst__value_type type) {
  cst__value_kind kind = cst__value_kind_of(type);
  return kind == CST__VALUE_BOOL || kind == CST__VALUE_NULL;
}

cst_status cst__logic_type(const cst__function *function, const cst__argument_type *args,
                           size_t num_args, cst__signature *out, cst_error *error) {
  *out = (cst__signature){{"b"}, {{NULL}}};
  for (size_t i = 0; i < num_args; i++) {
    if (!is_bool_or_null(args[i].type)) {
      return cst__argument_fail(function, args, i, "a bool", "compare it with a value", error);
    }
    if (args[i].is_literal || cst__value_kind_of(args[i].type) == CST__VALUE_NULL) {
      out->casts[i].format = "b";
    }
  }
  return CST_OK;
}

cst_status cst__is_null_type(const cst__function *function, const cst__argument_type *args,
                             size_t num_args, cst__signature *out, cst_error *error) {
  (void)function;
  (void)num_args;
  (void)error;
  *out = (cst__signature){{"b"}, {{NULL}}};
  if (args[0].is_literal) {
    out->casts[0] = args[0].type;
  }
  return CST_OK;
}

/* ---- words of three values ---- */

static cst__truth combine(cst__truth x, cst__truth y, int op) {
  if (op == CST__AND) {
    return (cst__truth){x.yes & y.yes, x.no | y.no};
  }
  if (op == CST__OR) {
    return (cst__truth){x.yes | y.yes, x.no & y.no};
  }
  return (cst__truth){x.no, x.yes};
}

static bool may_be_null(const cst__function_call *call) {
  for (size_t i = 0; i < call->num_args; i++) {
    if (call->args[i].validity != NULL) {
      return true;
    }
  }
  return false;
}

static cst_status combine_all(const cst__function *function, const cst__function_call *call,
                              struct ArrowArray *out, cst_error *error) {
  size_t last = call->num_args - 1;
  uint8_t *bits = cst__result_values(out, 0, error);
  uint8_t *valid = may_be_null(call) && bits != NULL ? cst__result_validity(out, error) : NULL;
  if (bits == NULL || (valid == NULL && may_be_null(call))) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < call->count; i += 64) {
    cst__stretch s = cst__stretch_of(i, call->count);
    cst__truth x = cst__truth_word(&call->args[0], call->is_one[0], s);
    cst__truth y = cst__truth_word(&call->args[last], call->is_one[last], s);
    cst__truth both = combine(x, y, function->op);
    cst__bits_put(bits, i, both.yes, s.count);
    if (valid != NULL) {
      cst__bits_put(valid, i, both.yes | both.no, s.count);
    }
  }
  cst__result_count_nulls(out);
  return CST_OK;
}

cst_status cst__logic_eval(const cst__function *function, const cst__function_call *call,
                           struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__result_new(call->result, call->count, call->allocator, out, error));
  return cst__result_end(out, combine_all(function, call, out, error));
}

/* ---- is_null ---- */

cst_status cst__is_null_eval(const cst__function *function, const cst__function_call *call,
                             struct ArrowArray *out, cst_error *error) {
  (void)function;
  CST__TRY(cst__result_new(call->result, call->count, call->allocator, out, error));
  uint8_t *bits = cst__result_values(out, 0, error);
  if (bits == NULL) {
    return cst__result_end(out, CST_NO_MEMORY);
  }
  for (int64_t i = 0; i < call->count; i += 64) {
    cst__stretch s = cst__stretch_of(i, call->count);
    cst__bits_put(bits, i, ~cst__valid_word(&call->args[0], call->is_one[0], s), s.count);
  }
  return CST_OK;
}
