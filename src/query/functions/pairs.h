/* Loops over two arguments of numbers, either of which may be one value for all.
 */
#ifndef QUERY_FUNCTIONS_PAIRS_H
#define QUERY_FUNCTIONS_PAIRS_H

#include "query/functions/result.h"

typedef struct cst__pairs {
  const void *x;
  const void *y;
  void *to;
  int64_t count;
  bool x_one;
  bool y_one;
  const struct ArrowArray *out; /* which results are null */
} cst__pairs;

/* Runs the statements for `x` and `y`, of type T, of every element `i` of the pairs `a`, so that
 * the compiler sees which of them is the same for all. */
#define CST__FOR_EACH_PAIR(T, ...)           \
  const T *xs = a->x;                        \
  const T *ys = a->y;                        \
  if (!a->x_one && !a->y_one) {              \
    for (int64_t i = 0; i < a->count; i++) { \
      T x = xs[i];                           \
      T y = ys[i];                           \
      __VA_ARGS__                            \
    }                                        \
  } else if (!a->x_one) {                    \
    T y = a->count > 0 ? ys[0] : 0;          \
    for (int64_t i = 0; i < a->count; i++) { \
      T x = xs[i];                           \
      __VA_ARGS__                            \
    }                                        \
  } else {                                   \
    T x = a->count > 0 ? xs[0] : 0;          \
    for (int64_t i = 0; i < a->count; i++) { \
      T y = ys[a->y_one ? 0 : i];            \
      __VA_ARGS__                            \
    }                                        \
  }

/* The first two arguments of a call (of one: twice the same), and room for its result. The width is
 * that of the arguments' type. */
static inline cst_status cst__pairs_begin(const cst__function_call *call, int width,
                                          int result_width, struct ArrowArray *out,
                                          cst__pairs *pairs, cst_error *error) {
  size_t second = call->num_args > 1 ? 1 : 0;
  *pairs = (cst__pairs){.x = cst__view_values(&call->args[0], width),
                        .y = cst__view_values(&call->args[second], width),
                        .to = cst__result_values(out, result_width, error),
                        .count = call->count,
                        .x_one = call->is_one[0],
                        .y_one = call->is_one[second],
                        .out = out};
  return pairs->to != NULL ? CST_OK : CST_NO_MEMORY;
}

#endif /* QUERY_FUNCTIONS_PAIRS_H */
