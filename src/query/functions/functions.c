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

#define LISTWISE(NAME, SUMMARY, TYPE, EVAL, OP, OPTION)                                     \
  {                                                                                         \
    .name = NAME, .kind = CST__FUNCTION_LISTWISE, .min_args = 1, .max_args = 1,             \
    .summary = SUMMARY, .type = cst__##TYPE##_type, .eval = cst__##EVAL##_eval, .op = (OP), \
    .option = OPTION                                                                        \
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
    ELEMENTWISE("if", 3, 3, "if(c, x, y): x where c is true, else y", if, 0),
    ELEMENTWISE("fill_null", 2, 2, "fill_null(x, v): v where x is null", fill_null, 0),
    ELEMENTWISE("coalesce", 2, 2,
                "coalesce(x, y, ...): the first of them that is not null, at each element",
                fill_null, 0),
    ELEMENTWISE("cast", 2, 2,
                "cast(x, TYPE): the same value as another type; an error if it is none", cast, 0),
    ELEMENTWISE("abs", 1, 1, "abs(x): the size of a number", rounding, CST__ABS),
    ELEMENTWISE("sign", 1, 1, "sign(x): -1, 0 or 1, of the type of x; NaN of NaN", rounding,
                CST__SIGN),
    ELEMENTWISE("floor", 1, 1, "floor(x): rounded down, of the type of x", rounding, CST__FLOOR),
    ELEMENTWISE("ceil", 1, 1, "ceil(x): rounded up, of the type of x", rounding, CST__CEIL),
    ELEMENTWISE("round", 1, 1, "round(x): to the nearest whole number, halves to the even one",
                rounding, CST__ROUND),
    ELEMENTWISE("sqrt", 1, 1, "sqrt(x): the square root", math, CST__SQRT),
    ELEMENTWISE("exp", 1, 1, "exp(x): e to the x", math, CST__EXP),
    ELEMENTWISE("expm1", 1, 1, "expm1(x): exp(x) - 1, exact near 0", math, CST__EXPM1),
    ELEMENTWISE("log", 1, 1, "log(x): the natural logarithm", math, CST__LOG),
    ELEMENTWISE("log1p", 1, 1, "log1p(x): log(1 + x), exact near 0", math, CST__LOG1P),
    ELEMENTWISE("log2", 1, 1, "log2(x): the logarithm of base 2", math, CST__LOG2),
    ELEMENTWISE("log10", 1, 1, "log10(x): the logarithm of base 10", math, CST__LOG10),
    ELEMENTWISE("sigmoid", 1, 1, "sigmoid(x): 1 / (1 + exp(-x))", math, CST__SIGMOID),
    ELEMENTWISE("tanh", 1, 1, "tanh(x): the hyperbolic tangent", math, CST__TANH),
    ELEMENTWISE("pow", 2, 2, "pow(x, y): x to the y, a float", power, 0),
    ELEMENTWISE("minimum", 2, 2, "minimum(x, y): the smaller number; NaN if one is", bounds,
                CST__MINIMUM),
    ELEMENTWISE("maximum", 2, 2, "maximum(x, y): the greater number; NaN if one is", bounds,
                CST__MAXIMUM),
    ELEMENTWISE("clip", 3, 3, "clip(x, low, high): minimum(maximum(x, low), high)", bounds,
                CST__CLIP),
    ELEMENTWISE("is_nan", 1, 1, "is_nan(x): x is not a number; false for integers", finite,
                CST__IS_NAN),
    ELEMENTWISE("is_finite", 1, 1, "is_finite(x): x is neither NaN nor infinite", finite,
                CST__IS_FINITE),
    ELEMENTWISE("bucketize", 2, 2,
                "bucketize(x, [a, b]): 0 below a, 1 from a on, 2 from b on, and for NaN", bucketize,
                0),
    ELEMENTWISE("hash", 2, 2,
                "hash(x, buckets): FarmHash Fingerprint64 modulo buckets, as TensorFlow's "
                "string_to_hash_bucket_fast; integers as decimal text",
                hash, 0),
    ELEMENTWISE("len", 1, 1, "len(x): characters (code points) of text, bytes of bytes",
                text_length, 0),
    ELEMENTWISE("lower", 1, 1,
                "lower(x): small letters, where they are as many bytes; of bytes ASCII", text,
                CST__LOWER),
    ELEMENTWISE("upper", 1, 1,
                "upper(x): capital letters, where they are as many bytes; of bytes ASCII", text,
                CST__UPPER),
    ELEMENTWISE("strip", 1, 1, "strip(x): without white space of ASCII at both ends", text,
                CST__STRIP),
    ELEMENTWISE("starts_with", 2, 2, "starts_with(x, y): x begins with y", text_search,
                CST__STARTS_WITH),
    ELEMENTWISE("ends_with", 2, 2, "ends_with(x, y): x ends with y", text_search, CST__ENDS_WITH),
    ELEMENTWISE("contains", 2, 2, "contains(x, y): y stands somewhere in x", text_search,
                CST__CONTAINS),
    ELEMENTWISE("substr", 2, 3,
                "substr(x, begin, end): characters as Python slices them; without end, to the last",
                substr, 0),
    ELEMENTWISE("timestamp", 1, 1,
                "timestamp(x): the time that a text in RFC 3339 says; an error for another text",
                timestamp, 0),
    ELEMENTWISE("date", 1, 1, "date(t): the date of a timestamp", time_part, CST__DATE),
    ELEMENTWISE("year", 1, 1, "year(t): the year of a date or a timestamp", time_part, CST__YEAR),
    ELEMENTWISE("month", 1, 1, "month(t): 1 to 12", time_part, CST__MONTH),
    ELEMENTWISE("day", 1, 1, "day(t): of the month, 1 to 31", time_part, CST__DAY),
    ELEMENTWISE("weekday", 1, 1, "weekday(t): 0 for Monday to 6 for Sunday", time_part,
                CST__WEEKDAY),
    ELEMENTWISE("day_of_year", 1, 1, "day_of_year(t): 1 to 366", time_part, CST__DAY_OF_YEAR),
    ELEMENTWISE("hour", 1, 1, "hour(t): of a timestamp or a time of day, 0 to 23", time_part,
                CST__HOUR),
    ELEMENTWISE("minute", 1, 1, "minute(t): 0 to 59", time_part, CST__MINUTE),
    ELEMENTWISE("second", 1, 1, "second(t): whole seconds, 0 to 59", time_part, CST__SECOND),
    {.name = "split",
     .kind = CST__FUNCTION_EXPAND,
     .min_args = 2,
     .max_args = 2,
     .summary = "split(x, separator): the list of what stands between separators",
     .type = cst__split_type,
     .expand = cst__split_expand},
    AGGREGATE(
        "sum",
        "sum(x): of integers int64 or uint64, of bools how many are true, of float32 float32, "
        "added up as float64; 0 of nothing",
        aggregate, CST__SUM),
    AGGREGATE("mean", "mean(x): float64, of float32 float32; of bools the share that is true",
              aggregate, CST__MEAN),
    AGGREGATE("min", "min(x): the least value; NaN if one is", pick, CST__MIN),
    AGGREGATE("max", "max(x): the greatest value; NaN if one is", pick, CST__MAX),
    AGGREGATE(
        "argmin",
        "argmin(x): where the least value stands in its list, from 0 on; the first of equal ones",
        pick, CST__ARGMIN),
    AGGREGATE("argmax",
              "argmax(x): where the greatest value stands in its list, from 0 on; the first of "
              "equal ones",
              pick, CST__ARGMAX),
    AGGREGATE("first", "first(x): the first value, null if it is", pick, CST__FIRST),
    AGGREGATE("last", "last(x): the last value, null if it is", pick, CST__LAST),
    AGGREGATE("variance",
              "variance(x): the mean of (x - mean(x))², float64, of float32 float32; NaN if one is",
              variance, CST__VARIANCE),
    AGGREGATE("std", "std(x): the square root of variance(x)", variance, CST__STD),
    {.name = "quantile",
     .kind = CST__FUNCTION_AGGREGATE,
     .min_args = 2,
     .max_args = 2,
     .summary = "quantile(x, q): 0.5 is the median; q from 0 to 1, linear between two values, of "
                "the types "
                "of variance; NaN if one is",
     .type = cst__quantile_type,
     .eval = cst__quantile_eval},
    AGGREGATE("count_distinct",
              "count_distinct(x): how many different values, null not among them; NaN equals NaN",
              distinct, 0),
    {.name = "join",
     .kind = CST__FUNCTION_AGGREGATE,
     .min_args = 2,
     .max_args = 2,
     .summary = "join(x, separator): the texts one after the other, the separator between two",
     .type = cst__join_type,
     .eval = cst__join_eval},
    AGGREGATE("any", "any(x): one is true", aggregate, CST__ANY),
    AGGREGATE("all", "all(x): none is false", aggregate, CST__ALL),
    LENIENT("count", "count(x): how many are not null", aggregate, CST__COUNT),
    AGGREGATE("size", "size(x): elements of the list; null for a null list", aggregate, CST__SIZE),
    LENIENT("has", "has(x): a list that is not empty, a value that is not null", aggregate,
            CST__HAS),
    LISTWISE("cumulative_sum",
             "cumulative_sum(x): the sum of the list up to each element; null for a null, which is "
             "passed over",
             aggregate, cumulative, CST__SUM, NULL),
    LISTWISE("rank",
             "rank(x): 1 for the least value of the list (with `descending=true` the greatest), "
             "equal values have one rank, NaN comes last, null stays null",
             rank, rank, 0, "descending"),
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
