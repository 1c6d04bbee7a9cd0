/* x in [a, b]: membership in a list of literals. */
#include "base/bytes.h"
#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "query/functions/words.h"

static cst_status check_member_list(const cst__function *function, const cst__literal *list,
                                    cst_error *error) {
  for (size_t i = 0; i < list->num_items; i++) {
    if (list->items[i].kind == CST__LITERAL_NULL) {
      return cst__fail(error, CST_SCHEMA, "write `x is null or x in [...]`",
                       "the list of %s contains null, which equals nothing", function->name);
    }
  }
  return CST_OK;
}

cst_status cst__member_type(const cst__function *function, const cst__argument_type *args,
                            size_t num_args, cst__signature *out, cst_error *error) {
  cst__value_type type;
  *out = (cst__signature){{"b"}, {{NULL}}};
  const cst__literal *list = args[1].is_literal ? args[1].literal : NULL;
  if (list == NULL || list->kind != CST__LITERAL_LIST) {
    return cst__argument_fail(function, args, 1, "a list of literals",
                              "write x in [1, 2], or a parameter that is a list", error);
  }
  CST__TRY(check_member_list(function, list, error));
  if (args[1].type.format == NULL) {
    return cst__fail(error, CST_SCHEMA, NULL, "the items of the list of %s have no type in common",
                     function->name);
  }
  return cst__arguments_common(function, args, (cst__argument_range){0, num_args}, out, &type,
                               error);
}

/* ---- numbers ---- */

/* Few items: every one is compared with 64 elements at a time. */
#define MEMBER_LOOP(NAME, T)                                                    \
  static void member_of_##NAME(const cst__function_call *call, uint8_t *bits) { \
    const T *xs = cst__view_values(&call->args[0], (int)sizeof(T));             \
    const T *items = cst__view_values(&call->args[1], (int)sizeof(T));          \
    int64_t step = call->is_one[0] ? 0 : 1;                                     \
    for (int64_t i = 0; i < call->count; i += 64) {                             \
      uint8_t truth[64] = {0};                                                  \
      T values[64] = {0};                                                       \
      int64_t n = call->count - i < 64 ? call->count - i : 64;                  \
      for (int64_t k = 0; k < n; k++) {                                         \
        values[k] = xs[(i + k) * step];                                         \
      }                                                                         \
      for (int64_t j = 0; j < call->args[1].length; j++) {                      \
        T item = items[j];                                                      \
        for (int64_t k = 0; k < 64; k++) {                                      \
          truth[k] |= values[k] == item;                                        \
        }                                                                       \
      }                                                                         \
      cst__bits_put(bits, i, cst__bits_of_bytes(truth), n);                     \
    }                                                                           \
  }

CST__FOR_INTS(MEMBER_LOOP)
CST__FOR_FLOATS(MEMBER_LOOP)

typedef void (*member_loop)(const cst__function_call *call, uint8_t *bits);

static const member_loop member_loops[] = {
#define MEMBER_ENTRY(NAME, T) [CST_DTYPE_##NAME] = member_of_##NAME,
    CST__FOR_INTS(MEMBER_ENTRY) CST__FOR_FLOATS(MEMBER_ENTRY)};

/* ---- bools, texts ---- */

static bool is_member_bool(const cst__view *x, int64_t i, const cst__view *items) {
  for (int64_t k = 0; k < items->length; k++) {
    if (cst__view_bool(items, k) == cst__view_bool(x, i)) {
      return true;
    }
  }
  return false;
}

static bool is_member_text(const cst__view *x, int64_t i, const cst__view *items) {
  cst_bytes bytes = cst__view_text(x, i);
  for (int64_t k = 0; k < items->length; k++) {
    if (cst__bytes_equal(bytes, cst__view_text(items, k))) {
      return true;
    }
  }
  return false;
}

static void member_of_slots(const cst__function_call *call, bool is_text, uint8_t *bits) {
  for (int64_t i = 0; i < call->count; i++) {
    int64_t slot = cst__argument_slot(call, 0, i);
    bool is_member = is_text ? is_member_text(&call->args[0], slot, &call->args[1])
                             : is_member_bool(&call->args[0], slot, &call->args[1]);
    bits[i >> 3] = (uint8_t)(bits[i >> 3] | (unsigned)is_member << (i & 7));
  }
}

cst_status cst__member_eval(const cst__function *function, const cst__function_call *call,
                            struct ArrowArray *out, cst_error *error) {
  (void)function;
  CST__TRY(cst__result_begin(call, 1, out, error));
  cst__value_info info = cst__value_info_of((cst__value_type){call->args[0].format});
  uint8_t *bits = cst__result_values(out, 0, error);
  if (bits == NULL) {
    return cst__result_end(out, CST_NO_MEMORY);
  }
  memset(bits, 0, cst__bits_size(call->count));
  if (call->args[1].length == 0 || info.kind == CST__VALUE_NULL) {
    return CST_OK;
  }
  if (info.dtype != CST_DTYPE_NONE) {
    member_loops[info.dtype](call, bits);
  } else {
    member_of_slots(call, info.kind != CST__VALUE_BOOL, bits);
  }
  return CST_OK;
}
