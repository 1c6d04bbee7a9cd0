/* if, fill_null and cast: values that are those of an argument. A condition that is null is not
 * true.
 */
#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "query/functions/values_take.h"
#include "query/functions/words.h"

/* ---- types ---- */

cst_status cst__if_type(const cst__function *function, const cst__argument_type *args,
                        size_t num_args, cst__signature *out, cst_error *error) {
  *out = (cst__signature){{NULL}, {{NULL}}};
  cst__value_kind kind = cst__value_kind_of(args[0].type);
  if (kind != CST__VALUE_BOOL && kind != CST__VALUE_NULL) {
    return cst__argument_fail(function, args, 0, "a bool", "compare it with a value", error);
  }
  if (args[0].is_literal || kind == CST__VALUE_NULL) {
    out->casts[0].format = "b";
  }
  return cst__arguments_common(function, args, (cst__argument_range){1, num_args}, out,
                               &out->result, error);
}

cst_status cst__fill_null_type(const cst__function *function, const cst__argument_type *args,
                               size_t num_args, cst__signature *out, cst_error *error) {
  *out = (cst__signature){{NULL}, {{NULL}}};
  return cst__arguments_common(function, args, (cst__argument_range){0, num_args}, out,
                               &out->result, error);
}

static cst__value_type target_of(const cst__argument_type *arg) {
  bool is_name = arg->is_literal && arg->literal->kind == CST__LITERAL_STRING;
  return is_name ? cst__value_type_find((const char *)arg->literal->bytes.data,
                                        arg->literal->bytes.size)
                 : (cst__value_type){NULL};
}

/* The cast of the first argument is the function. */
cst_status cst__cast_type(const cst__function *function, const cst__argument_type *args,
                          size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  cst__value_type type = target_of(&args[1]);
  *out = (cst__signature){type, {{NULL}}};
  if (type.format == NULL) {
    return cst__argument_fail(
        function, args, 1, "the name of a type",
        "bool, int8 to int64, uint8 to uint64, float32, float64, string, bytes", error);
  }
  if (args[0].type.format == NULL || !cst__value_has_cast(args[0].type, type)) {
    return cst__fail(error, CST_SCHEMA, NULL, "cannot cast %s to %s",
                     cst__value_type_name(args[0].type), cst__value_type_name(type));
  }
  if (args[0].is_literal) {
    out->casts[0] = args[0].type;
  }
  return CST_OK;
}

/* ---- choosing ---- */

typedef struct choice {
  const cst__view *condition; /* NULL: where x is not null */
  bool condition_one;
  const cst__view *x;
  const cst__view *y;
  bool x_one;
  bool y_one;
  struct ArrowArray *out;
  const cst_allocator *allocator;
  cst_error *error;
} choice;

static uint64_t choice_word(const choice *c, cst__stretch s) {
  return c->condition == NULL ? cst__valid_word(c->x, c->x_one, s)
                              : cst__truth_word(c->condition, c->condition_one, s).yes;
}

static bool choice_has_nulls(const choice *c) {
  return (c->condition != NULL && c->x->null_count > 0) || c->y->null_count > 0;
}

static cst_status choose_validity(const choice *c) {
  if (!choice_has_nulls(c)) {
    return CST_OK;
  }
  uint8_t *bits = cst__result_validity(c->out, c->error);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < c->out->length; i += 64) {
    cst__stretch s = cst__stretch_of(i, c->out->length);
    uint64_t is_x = choice_word(c, s);
    uint64_t valid =
        (is_x & cst__valid_word(c->x, c->x_one, s)) | (~is_x & cst__valid_word(c->y, c->y_one, s));
    cst__bits_put(bits, i, valid, s.count);
  }
  cst__result_count_nulls(c->out);
  return CST_OK;
}

/* 64 elements: without a branch, since what is chosen is not foreseen. */
#define CHOOSE_INT(T, is_x, x, y) (T)((y) ^ (((x) ^ (y)) & (0 - (uint64_t)(is_x))))
#define CHOOSE_STRUCT(T, is_x, x, y) ((is_x) ? (x) : (y))
#define CHOOSE_LOOP(T, ONE, X, Y)                        \
  for (int64_t i = 0; i < c->out->length; i += 64) {     \
    cst__stretch s = cst__stretch_of(i, c->out->length); \
    uint64_t word = choice_word(c, s);                   \
    for (int64_t k = 0; k < s.count; k++, word >>= 1) {  \
      to[i + k] = ONE(T, word & 1, X, Y);                \
    }                                                    \
  }
#define CHOOSE_WIDTH(T, ONE)                               \
  {                                                        \
    const T *xs = cst__view_values(c->x, (int)sizeof(T));  \
    const T *ys = cst__view_values(c->y, (int)sizeof(T));  \
    T *to = data;                                          \
    if (!c->x_one && !c->y_one) {                          \
      CHOOSE_LOOP(T, ONE, xs[i + k], ys[i + k])            \
    } else if (!c->x_one) {                                \
      CHOOSE_LOOP(T, ONE, xs[i + k], ys[0])                \
    } else {                                               \
      CHOOSE_LOOP(T, ONE, xs[0], ys[c->y_one ? 0 : i + k]) \
    }                                                      \
    break;                                                 \
  }

typedef struct wide_16 {
  uint64_t words[2];
} wide_16;
typedef struct wide_32 {
  uint64_t words[4];
} wide_32;

static cst_status choose_fixed(const choice *c, int width) {
  void *data = cst__result_values(c->out, width, c->error);
  if (data == NULL) {
    return CST_NO_MEMORY;
  }
  switch (width) {
    case 1:
      CHOOSE_WIDTH(uint8_t, CHOOSE_INT)
    case 2:
      CHOOSE_WIDTH(uint16_t, CHOOSE_INT)
    case 4:
      CHOOSE_WIDTH(uint32_t, CHOOSE_INT)
    case 8:
      CHOOSE_WIDTH(uint64_t, CHOOSE_INT)
    case 16:
      CHOOSE_WIDTH(wide_16, CHOOSE_STRUCT)
    default:
      CHOOSE_WIDTH(wide_32, CHOOSE_STRUCT)
  }
  return CST_OK;
}

static cst_status choose_bools(const choice *c) {
  uint8_t *bits = cst__result_values(c->out, 0, c->error);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < c->out->length; i += 64) {
    cst__stretch s = cst__stretch_of(i, c->out->length);
    uint64_t word = choice_word(c, s);
    uint64_t x = cst__bools_word(c->x, c->x_one, s);
    uint64_t y = cst__bools_word(c->y, c->y_one, s);
    cst__bits_put(bits, i, (word & x) | (~word & y), s.count);
  }
  return CST_OK;
}

static cst_status choose_texts(const choice *c) {
  cst__text_result texts;
  CST__TRY(cst__text_result_begin(&texts, c->out, c->out->length, c->allocator, c->error));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < c->out->length && status == CST_OK; i += 64) {
    cst__stretch s = cst__stretch_of(i, c->out->length);
    uint64_t word = choice_word(c, s);
    for (int64_t k = 0; k < s.count && status == CST_OK; k++) {
      bool is_x = word >> k & 1;
      int64_t slot = (is_x ? c->x_one : c->y_one) ? 0 : i + k;
      cst_bytes bytes = cst__result_is_null(c->out, i + k)
                            ? (cst_bytes){NULL, 0}
                            : cst__view_text(is_x ? c->x : c->y, slot);
      status = cst__text_result_append(&texts, bytes.data, bytes.size, c->error);
    }
  }
  return cst__text_result_end(&texts, status);
}

static cst_status choose(const choice *c, cst__value_type type) {
  cst__value_info info = cst__value_info_of(type);
  if (info.kind == CST__VALUE_NULL) {
    return CST_OK;
  }
  CST__TRY(choose_validity(c));
  if (info.kind == CST__VALUE_BOOL) {
    return choose_bools(c);
  }
  return info.width > 0 ? choose_fixed(c, info.width) : choose_texts(c);
}

/* ---- the functions ---- */

static cst_status choice_eval(const cst__function_call *call, const choice *from,
                              struct ArrowArray *out, cst_error *error) {
  choice c = *from;
  c.out = out;
  c.allocator = call->allocator;
  c.error = error;
  CST__TRY(cst__result_new(call->result, call->count, call->allocator, out, error));
  return cst__result_end(out, choose(&c, call->result));
}

cst_status cst__if_eval(const cst__function *function, const cst__function_call *call,
                        struct ArrowArray *out, cst_error *error) {
  (void)function;
  choice c = {.condition = &call->args[0],
              .condition_one = call->is_one[0],
              .x = &call->args[1],
              .y = &call->args[2],
              .x_one = call->is_one[1],
              .y_one = call->is_one[2]};
  return choice_eval(call, &c, out, error);
}

cst_status cst__fill_null_eval(const cst__function *function, const cst__function_call *call,
                               struct ArrowArray *out, cst_error *error) {
  (void)function;
  choice c = {
      .x = &call->args[0], .y = &call->args[1], .x_one = call->is_one[0], .y_one = call->is_one[1]};
  return choice_eval(call, &c, out, error);
}

/* One value for all is cast once, and then repeated. */
static cst_status repeat_one(const cst__function_call *call, struct ArrowArray *one,
                             struct ArrowArray *out, cst_error *error) {
  cst__view view = cst__view_of_values(one, call->result);
  int64_t *at = cst__new_zero(call->allocator, ((size_t)call->count + 1) * sizeof *at);
  if (at == NULL) {
    return cst__fail_memory(error, (size_t)call->count * sizeof *at);
  }
  cst_status status = cst__values_take(&view, at, call->count, call->allocator, out, error);
  cst__delete(at);
  return status;
}

cst_status cst__cast_eval(const cst__function *function, const cst__function_call *call,
                          struct ArrowArray *out, cst_error *error) {
  const cst__cast_way way = {call->result, function == &cst__function_convert};
  struct ArrowArray one;
  if (!call->is_one[0] || call->count == 1) {
    return cst__values_cast(&call->args[0], way, call->allocator, out, error);
  }
  CST__TRY(cst__values_cast(&call->args[0], way, call->allocator, &one, error));
  cst_status status = repeat_one(call, &one, out, error);
  cst__array_release(&one);
  return status;
}

const cst__function cst__function_convert = {
    .name = "convert",
    .kind = CST__FUNCTION_ELEMENTWISE,
    .min_args = 2,
    .max_args = 2,
    .summary = "convert(x, TYPE): as cast, but integers that a float does not hold are rounded",
    .type = cst__cast_type,
    .eval = cst__cast_eval,
};
