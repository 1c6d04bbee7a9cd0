/* Comparisons. Values of one type are compared as they are; numbers of different types as what both
 * can be.
 */
#include "query/functions/compare.h"

#include "base/bytes.h"
#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "query/functions/words.h"

/* ---- types ---- */

static bool is_null_literal(const cst__argument_type *arg) {
  return arg->is_literal && arg->literal->kind == CST__LITERAL_NULL;
}

cst_status cst__comparison_type(const cst__function *function, const cst__argument_type *args,
                                size_t num_args, cst__signature *out, cst_error *error) {
  cst__value_type type;
  *out = (cst__signature){{"b"}, {{NULL}}};
  if (is_null_literal(&args[0]) || is_null_literal(&args[1])) {
    return cst__fail(error, CST_SCHEMA, "write `x is null` or `x is not null`",
                     "%s of null is always null", function->name);
  }
  CST__TRY(
      cst__arguments_common(function, args, (cst__argument_range){0, num_args}, out, &type, error));
  bool is_equality = function->op == CST__EQ || function->op == CST__NE;
  if (!is_equality && !cst__value_info_of(type).has_order) {
    return cst__argument_fail(function, args, 0, "values that have an order", NULL, error);
  }
  return CST_OK;
}

/* ---- loops ---- */

typedef struct comparison {
  const cst__view *x;
  const cst__view *y;
  int64_t count;
  bool x_one;
  bool y_one;
  int width;
  uint8_t *bits;
} comparison;

/* 64 elements at a time become bytes, and these a word of bits. */
#define COMPARE_BLOCKS(X, Y, OP)                             \
  for (int64_t i = 0; i < c->count; i += 64) {               \
    uint8_t truth[64] = {0};                                 \
    int64_t n = c->count - i < 64 ? c->count - i : 64;       \
    if (n == 64) {                                           \
      for (int64_t k = 0; k < 64; k++) {                     \
        truth[k] = (X)OP(Y);                                 \
      }                                                      \
    } else {                                                 \
      for (int64_t k = 0; k < n; k++) {                      \
        truth[k] = (X)OP(Y);                                 \
      }                                                      \
    }                                                        \
    cst__bits_put(c->bits, i, cst__bits_of_bytes(truth), n); \
  }

/* `a > b` is `b < a`, and so on: four operators are enough. */
#define COMPARE_LOOP(NAME, T, WORD, OP)                   \
  static void WORD##_all_##NAME(const comparison *c) {    \
    const T *xs = cst__view_values(c->x, (int)sizeof(T)); \
    const T *ys = cst__view_values(c->y, (int)sizeof(T)); \
    if (c->count == 0) {                                  \
      return;                                             \
    }                                                     \
    if (c->y_one) {                                       \
      T y = ys[0];                                        \
      if (c->x_one) {                                     \
        T x = xs[0];                                      \
        COMPARE_BLOCKS(x, y, OP)                          \
      } else {                                            \
        COMPARE_BLOCKS(xs[i + k], y, OP)                  \
      }                                                   \
    } else if (c->x_one) {                                \
      T x = xs[0];                                        \
      COMPARE_BLOCKS(x, ys[i + k], OP)                    \
    } else {                                              \
      COMPARE_BLOCKS(xs[i + k], ys[i + k], OP)            \
    }                                                     \
  }
#define COMPARE_LOOPS(NAME, T)  \
  COMPARE_LOOP(NAME, T, eq, ==) \
  COMPARE_LOOP(NAME, T, ne, !=) \
  COMPARE_LOOP(NAME, T, lt, <)  \
  COMPARE_LOOP(NAME, T, le, <=)

CST__FOR_INTS(COMPARE_LOOPS)
CST__FOR_FLOATS(COMPARE_LOOPS)

typedef void (*comparison_loop)(const comparison *c);

static const comparison_loop comparison_loops[][4] = {
#define COMPARE_ENTRY(NAME, T) \
  [CST_DTYPE_##NAME] = {eq_all_##NAME, ne_all_##NAME, lt_all_##NAME, le_all_##NAME},
    CST__FOR_INTS(COMPARE_ENTRY) CST__FOR_FLOATS(COMPARE_ENTRY)};

/* ---- bools ---- */

static void compare_bools(const comparison *c, int op) {
  for (int64_t i = 0; i < c->count; i += 64) {
    cst__stretch s = cst__stretch_of(i, c->count);
    uint64_t x = cst__bools_word(c->x, c->x_one, s);
    uint64_t y = cst__bools_word(c->y, c->y_one, s);
    uint64_t word = op == CST__EQ   ? ~(x ^ y)
                    : op == CST__NE ? x ^ y
                    : op == CST__LT ? ~x & y
                                    : ~x | y;
    cst__bits_put(c->bits, i, word, s.count);
  }
}

/* ---- texts, and what is wider than a word ---- */

static bool is_true_of(int order, int op) {
  return op == CST__EQ   ? order == 0
         : op == CST__NE ? order != 0
         : op == CST__LT ? order < 0
                         : order <= 0;
}

static bool compare_texts_at(const comparison *c, int64_t i, int64_t k, int op) {
  cst_bytes x = cst__view_text(c->x, i);
  cst_bytes y = cst__view_text(c->y, k);
  if (op == CST__EQ || op == CST__NE) {
    return cst__bytes_equal(x, y) == (op == CST__EQ);
  }
  return is_true_of(cst__bytes_compare(x, y), op);
}

static bool compare_wide_at(const comparison *c, int64_t i, int64_t k, int op) {
  const uint8_t *xs = cst__view_values(c->x, c->width);
  const uint8_t *ys = cst__view_values(c->y, c->width);
  return is_true_of(cst__compare_wide(xs + i * c->width, ys + k * c->width, c->width), op);
}

static void compare_slots(const comparison *c, int op) {
  for (int64_t i = 0; i < c->count; i += 64) {
    uint8_t truth[64] = {0};
    int64_t n = c->count - i < 64 ? c->count - i : 64;
    for (int64_t k = 0; k < n; k++) {
      int64_t x = c->x_one ? 0 : i + k;
      int64_t y = c->y_one ? 0 : i + k;
      truth[k] = c->width > 0 ? compare_wide_at(c, x, y, op) : compare_texts_at(c, x, y, op);
    }
    cst__bits_put(c->bits, i, cst__bits_of_bytes(truth), n);
  }
}

/* ---- all ---- */

/* `x > y` is `y < x`. */
static int turn_around(comparison *c, int op) {
  if (op != CST__GT && op != CST__GE) {
    return op;
  }
  comparison turned = *c;
  turned.x = c->y;
  turned.x_one = c->y_one;
  turned.y = c->x;
  turned.y_one = c->x_one;
  *c = turned;
  return op == CST__GT ? CST__LT : CST__LE;
}

cst_status cst__comparison_eval(const cst__function *function, const cst__function_call *call,
                                struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__result_begin(call, 2, out, error));
  cst__value_info info = cst__value_info_of((cst__value_type){call->args[0].format});
  comparison c = {.x = &call->args[0],
                  .y = &call->args[1],
                  .count = call->count,
                  .x_one = call->is_one[0],
                  .y_one = call->is_one[1],
                  .width = info.width};
  int op = turn_around(&c, function->op);
  c.bits = cst__result_values(out, 0, error);
  if (c.bits == NULL) {
    return cst__result_end(out, CST_NO_MEMORY);
  }
  if (info.kind == CST__VALUE_NULL) {
    memset(c.bits, 0, cst__bits_size(call->count));
  } else if (info.kind == CST__VALUE_BOOL) {
    compare_bools(&c, op);
  } else if (info.dtype != CST_DTYPE_NONE) {
    comparison_loops[info.dtype][op](&c);
  } else {
    compare_slots(&c, op);
  }
  return CST_OK;
}
