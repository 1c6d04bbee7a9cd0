/* The functions that functions.c lists: how each finds its types and makes its result. `op` says
 * which of those that share their code is meant.
 */
#ifndef QUERY_FUNCTIONS_FUNCTION_LIST_H
#define QUERY_FUNCTIONS_FUNCTION_LIST_H

#include "query/functions/function.h"

#define CST__TYPE_FUNCTION(NAME)                                                                  \
  cst_status NAME(const cst__function *function, const cst__argument_type *args, size_t num_args, \
                  cst__signature *out, cst_error *error)
#define CST__EVAL_FUNCTION(NAME)                                                 \
  cst_status NAME(const cst__function *function, const cst__function_call *call, \
                  struct ArrowArray *out, cst_error *error)

/* arithmetic.c */
typedef enum cst__arithmetic_op {
  CST__ADD, /* of texts: one after the other */
  CST__SUB,
  CST__MUL,
  CST__DIV,
  CST__FLOORDIV,
  CST__MOD,
  CST__NEG
} cst__arithmetic_op;
CST__TYPE_FUNCTION(cst__arithmetic_type);
CST__EVAL_FUNCTION(cst__arithmetic_eval);

/* math.c */
typedef enum cst__math_op {
  CST__SQRT,
  CST__EXP,
  CST__EXPM1,
  CST__LOG,
  CST__LOG1P,
  CST__LOG2,
  CST__LOG10,
  CST__SIGMOID,
  CST__TANH
} cst__math_op;
CST__TYPE_FUNCTION(cst__math_type);
CST__EVAL_FUNCTION(cst__math_eval);
typedef enum cst__rounding_op {
  CST__ABS,
  CST__SIGN,
  CST__FLOOR,
  CST__CEIL,
  CST__ROUND
} cst__rounding_op;
CST__TYPE_FUNCTION(cst__rounding_type);
CST__EVAL_FUNCTION(cst__rounding_eval);
typedef enum cst__finite_op { CST__IS_NAN, CST__IS_FINITE } cst__finite_op;
CST__TYPE_FUNCTION(cst__finite_type);
CST__EVAL_FUNCTION(cst__finite_eval);
typedef enum cst__bounds_op { CST__MINIMUM, CST__MAXIMUM, CST__CLIP } cst__bounds_op;
CST__TYPE_FUNCTION(cst__bounds_type);
CST__EVAL_FUNCTION(cst__bounds_eval);
CST__TYPE_FUNCTION(cst__power_type);
CST__EVAL_FUNCTION(cst__power_eval);

/* bucketize.c, hash_buckets.c */
CST__TYPE_FUNCTION(cst__bucketize_type);
CST__EVAL_FUNCTION(cst__bucketize_eval);
CST__TYPE_FUNCTION(cst__hash_type);
CST__EVAL_FUNCTION(cst__hash_eval);

/* text_functions.c */
typedef enum cst__text_op { CST__LOWER, CST__UPPER, CST__STRIP } cst__text_op;
CST__TYPE_FUNCTION(cst__text_type);
CST__EVAL_FUNCTION(cst__text_eval);
CST__TYPE_FUNCTION(cst__text_length_type);
CST__EVAL_FUNCTION(cst__text_length_eval);
CST__TYPE_FUNCTION(cst__substr_type);
CST__EVAL_FUNCTION(cst__substr_eval);
typedef enum cst__text_search_op {
  CST__STARTS_WITH,
  CST__ENDS_WITH,
  CST__CONTAINS
} cst__text_search_op;
CST__TYPE_FUNCTION(cst__text_search_type);
CST__EVAL_FUNCTION(cst__text_search_eval);
cst_status cst__concat_texts(const cst__function_call *call, struct ArrowArray *out,
                             cst_error *error);

/* comparison.c */
typedef enum cst__comparison_op {
  CST__EQ,
  CST__NE,
  CST__LT,
  CST__LE,
  CST__GT,
  CST__GE
} cst__comparison_op;
CST__TYPE_FUNCTION(cst__comparison_type);
CST__EVAL_FUNCTION(cst__comparison_eval);

/* member.c */
CST__TYPE_FUNCTION(cst__member_type);
CST__EVAL_FUNCTION(cst__member_eval);

/* logic.c */
typedef enum cst__logic_op { CST__AND, CST__OR, CST__NOT } cst__logic_op;
CST__TYPE_FUNCTION(cst__logic_type);
CST__EVAL_FUNCTION(cst__logic_eval);
CST__TYPE_FUNCTION(cst__is_null_type);
CST__EVAL_FUNCTION(cst__is_null_eval);

/* choice.c */
CST__TYPE_FUNCTION(cst__if_type);
CST__EVAL_FUNCTION(cst__if_eval);
CST__TYPE_FUNCTION(cst__fill_null_type);
CST__EVAL_FUNCTION(cst__fill_null_eval);
CST__TYPE_FUNCTION(cst__cast_type);
CST__EVAL_FUNCTION(cst__cast_eval);

/* aggregate.c */
typedef enum cst__aggregate_op {
  CST__SUM,
  CST__MEAN,
  CST__ANY,
  CST__ALL,
  CST__COUNT,
  CST__SIZE,
  CST__HAS
} cst__aggregate_op;
CST__TYPE_FUNCTION(cst__aggregate_type);
CST__EVAL_FUNCTION(cst__aggregate_eval);

/* aggregate_pick.c */
typedef enum cst__pick_op {
  CST__MIN,
  CST__MAX,
  CST__ARGMIN,
  CST__ARGMAX,
  CST__FIRST,
  CST__LAST
} cst__pick_op;
CST__TYPE_FUNCTION(cst__pick_type);
CST__EVAL_FUNCTION(cst__pick_eval);

typedef enum cst__variance_op { CST__VARIANCE, CST__STD } cst__variance_op;
CST__TYPE_FUNCTION(cst__variance_type);
CST__EVAL_FUNCTION(cst__variance_eval);
CST__TYPE_FUNCTION(cst__quantile_type);
CST__EVAL_FUNCTION(cst__quantile_eval);

/* listwise.c; cumulative_sum has the types of sum */
CST__EVAL_FUNCTION(cst__cumulative_eval);
CST__TYPE_FUNCTION(cst__rank_type);
CST__EVAL_FUNCTION(cst__rank_eval);

/* time_parts.c */
typedef enum cst__time_part {
  CST__DATE,
  CST__YEAR,
  CST__MONTH,
  CST__DAY,
  CST__WEEKDAY,
  CST__DAY_OF_YEAR,
  CST__HOUR,
  CST__MINUTE,
  CST__SECOND
} cst__time_part;
CST__TYPE_FUNCTION(cst__time_part_type);
CST__EVAL_FUNCTION(cst__time_part_eval);
CST__TYPE_FUNCTION(cst__timestamp_type);
CST__EVAL_FUNCTION(cst__timestamp_eval);

/* distinct.c */
CST__TYPE_FUNCTION(cst__distinct_type);
CST__EVAL_FUNCTION(cst__distinct_eval);
CST__TYPE_FUNCTION(cst__join_type);
CST__EVAL_FUNCTION(cst__join_eval);

/* split_text.c */
CST__TYPE_FUNCTION(cst__split_type);
cst_status cst__split_expand(const cst__function_call *call, struct ArrowArray *out,
                             int64_t **out_offsets, cst_error *error);

#endif /* QUERY_FUNCTIONS_FUNCTION_LIST_H */
