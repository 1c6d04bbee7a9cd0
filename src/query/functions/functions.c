/* The list of all functions. */
#include "query/functions/function_list.h"

#define ELEMENTWISE(NAME, MIN, MAX, SUMMARY, TYPE, OP)                                   \
  {                                                                                      \
    .name = NAME, .kind = CST__FUNCTION_ELEMENTWISE, .min_args = MIN, .max_args = MAX,   \
    .summary = SUMMARY, .type = cst__##TYPE##_type, .eval = cst__##TYPE##_eval, .op = OP \
  }
#define AGGREGATE(NAME, SUMMARY, TYPE, OP)                                               \
  {                                                                                      \
    .name = NAME, .kind = CST__FUNCTION_AGGREGATE, .min_args = 1, .max_args = 1,         \
    .summary = SUMMARY, .type = cst__##TYPE##_type, .eval = cst__##TYPE##_eval, .op = OP \
  }
#define LENIENT(NAME, SUMMARY, TYPE, OP)                                                          \
  {                                                                                               \
    .name = NAME, .kind = CST__FUNCTION_AGGREGATE, .min_args = 1, .max_args = 1, .lenient = true, \
    .summary = SUMMARY, .type = cst__##TYPE##_type, .eval = cst__##TYPE##_eval, .op = OP          \
  }

static const cst__function functions[] = {
    ELEMENTWISE("add", 2, 2, "x + y: the sum; texts, and bytes, one after the other", arithmetic,
                CST__ADD),
    ELEMENTWISE("sub", 2, 2, "x - y: the difference", arithmetic, CST__SUB),
    ELEMENTWISE("mul", 2, 2, "x * y: the product", arithmetic, CST__MUL),
    ELEMENTWISE("div", 2, 2, "x / y: the quotient, a float", arithmetic, CST__DIV),
    ELEMENTWISE("floordiv", 2, 2, "x // y: the quotient, rounded down", arithmetic, CST__FLOORDIV),
    ELEMENTWISE("mod", 2, 2, "x % y: what x // y leaves; it has the sign of y", arithmetic,
                CST__MOD),
    ELEMENTWISE("neg", 1, 1, "-x: of signed numbers", arithmetic, CST__NEG),
    ELEMENTWISE("eq", 2, 2, "x == y: NaN equals nothing", comparison, CST__EQ),
    ELEMENTWISE("ne", 2, 2, "x != y", comparison, CST__NE),
    ELEMENTWISE("lt", 2, 2, "x < y: texts by their code points, bytes by bytes; false before true",
                comparison, CST__LT),
    ELEMENTWISE("le", 2, 2, "x <= y", comparison, CST__LE),
    ELEMENTWISE("gt", 2, 2, "x > y", comparison, CST__GT),
    ELEMENTWISE("ge", 2, 2, "x >= y", comparison, CST__GE),
    ELEMENTWISE("in", 2, 2, "x in [a, b]: x equals one of them", member, 0),
    ELEMENTWISE("and", 2, 2, "x and y: false if one is, else null if one is", logic, CST__AND),
    ELEMENTWISE("or", 2, 2, "x or y: true if one is, else null if one is", logic, CST__OR),
    ELEMENTWISE("not", 1, 1, "not x", logic, CST__NOT),
    ELEMENTWISE("is_null", 1, 1, "x is null: true where there is no value", is_null, 0),
    ELEMENTWISE("if", 3, 3, "if(c, x, y): x where c is true, y where it is false, else null", if,
                0),
    ELEMENTWISE("fill_null", 2, 2, "fill_null(x, v): v where x is null", fill_null, 0),
    ELEMENTWISE("cast", 2, 2,
                "cast(x, TYPE): the same value as another type; an error if it is none", cast, 0),
    AGGREGATE(
        "sum",
        "sum(x): of integers int64 or uint64, of bools how many are true, of float32 float32, "
        "added up as float64; 0 of nothing",
        aggregate, CST__SUM),
    AGGREGATE("mean", "mean(x): float64, of float32 float32; of bools the share that is true",
              aggregate, CST__MEAN),
    AGGREGATE("min", "min(x): the least value; NaN if one is", pick, CST__MIN),
    AGGREGATE("max", "max(x): the greatest value; NaN if one is", pick, CST__MAX),
    AGGREGATE("first", "first(x): the first value, null if it is", pick, CST__FIRST),
    AGGREGATE("last", "last(x): the last value, null if it is", pick, CST__LAST),
    AGGREGATE("any", "any(x): one is true", aggregate, CST__ANY),
    AGGREGATE("all", "all(x): none is false", aggregate, CST__ALL),
    LENIENT("count", "count(x): how many are not null", aggregate, CST__COUNT),
    AGGREGATE("size", "size(x): elements of the list; null for a null list", aggregate, CST__SIZE),
    LENIENT("has", "has(x): a list that is not empty, a value that is not null", aggregate,
            CST__HAS),
};

enum { NUM_FUNCTIONS = sizeof functions / sizeof functions[0] };

const cst__function *cst__function_at(size_t i) { return i < NUM_FUNCTIONS ? &functions[i] : NULL; }

const cst__function *cst__function_find(const char *name) {
  for (size_t i = 0; i < NUM_FUNCTIONS; i++) {
    if (strcmp(functions[i].name, name) == 0) {
      return &functions[i];
    }
  }
  return NULL;
}
