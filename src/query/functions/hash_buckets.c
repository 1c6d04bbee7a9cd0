/* hash(x, buckets): a bucket for each value, the same for ever and on every machine. */
#include "base/fingerprint.h"
#include "query/functions/function_list.h"
#include "query/functions/result.h"

cst_status cst__hash_type(const cst__function *function, const cst__argument_type *args,
                          size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  *out = (cst__signature){{"l"}, {{NULL}}};
  cst__value_kind kind = cst__value_kind_of(args[0].type);
  if (kind != CST__VALUE_TEXT && kind != CST__VALUE_BYTES && kind != CST__VALUE_INT) {
    return cst__argument_fail(function, args, 0, "text, bytes or integers",
                              "cast(x, string) is text", error);
  }
  if (!args[1].is_literal || args[1].literal->kind != CST__LITERAL_INT ||
      args[1].literal->integer < 1) {
    return cst__argument_fail(function, args, 1, "a literal of 1 or more: the number of buckets",
                              NULL, error);
  }
  if (args[0].is_literal) {
    out->casts[0] = args[0].type;
  }
  return CST_OK;
}

/* Integers are hashed as decimal text. */
static size_t put_digits(char digits[24], const cst__view *view, int64_t i, bool is_signed) {
  int64_t value = cst__view_int(view, i);
  bool is_negative = is_signed && value < 0;
  uint64_t left = is_negative ? 0 - (uint64_t)value : (uint64_t)value;
  char *at = digits + 24;
  do {
    *--at = (char)('0' + left % 10);
    left /= 10;
  } while (left > 0);
  if (is_negative) {
    *--at = '-';
  }
  size_t size = (size_t)(digits + 24 - at);
  memmove(digits, at, size);
  return size;
}

static uint64_t fingerprint_at(const cst__function_call *call, const cst__value_info *info,
                               int64_t i) {
  const cst__view *view = &call->args[0];
  int64_t slot = cst__argument_slot(call, 0, i);
  if (info->kind != CST__VALUE_INT) {
    cst_bytes bytes = cst__view_text(view, slot);
    return cst__fingerprint64(bytes.data, bytes.size);
  }
  char digits[24];
  size_t size = put_digits(digits, view, slot, info->is_signed);
  return cst__fingerprint64((const uint8_t *)digits, size);
}

cst_status cst__hash_eval(const cst__function *function, const cst__function_call *call,
                          struct ArrowArray *out, cst_error *error) {
  (void)function;
  CST__TRY(cst__result_begin(call, 1, out, error));
  cst__value_info info = cst__value_info_of((cst__value_type){call->args[0].format});
  uint64_t buckets = (uint64_t)call->literals[1]->integer;
  int64_t *to = cst__result_values(out, 8, error);
  if (to == NULL) {
    return cst__result_end(out, CST_NO_MEMORY);
  }
  for (int64_t i = 0; i < call->count; i++) {
    to[i] = (int64_t)(fingerprint_at(call, &info, i) % buckets);
  }
  return CST_OK;
}
