/* Aggregates: one value per group, of nothing, of nulls and of null lists. */
#include "function_support.h"

TEST(sums) {
  static const function_case tests[] = {
      {"sum", {"int8: 100 100 null 5"}, "int64: 200 0 5 null", "2 0 2 null"},
      {"sum", {"int32: 1 2 3"}, "int64: 6", "3"},
      {"sum", {"int64: 1 2 3"}, "int64: 1 5", "1 2"},
      {"sum", {"uint8: 200 200"}, "uint64: 400", "2"},
      {"sum", {"uint64: 18446744073709551614 1"}, "uint64: 18446744073709551615", "2"},
      {"sum", {"float32: 0.5 0.25 null"}, "float32: 0.75 0.0", "2 1"},
      {"sum", {"float64: 0.5 inf null"}, "float64: inf", "3"},
      {"sum", {"float16: 0.5 0.5"}, "float32: 1.0", "2"},
      {"sum", {"bool: true false true null true"}, "int64: 2 1", "3 2"},
      {"sum", {"bool: true true true"}, "int64: 2 1", "2 1"},
      {"sum", {"int64:"}, "int64:", ""},
      {"sum", {"int64: 9223372036854775807 1 -1"}, "error: sum: the result does not fit", "3"},
      {"sum", {"uint64: 18446744073709551615 1"}, "error: sum: the result does not fit", "2"},
      {"sum", {"string: 'a'"}, "error: argument 1 of sum is string, expected a number", "1"},
      {"sum", {"1"}, "error: argument 1 of sum is int64, expected values of a list", "1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(means) {
  static const function_case tests[] = {
      {"mean", {"int8: 1 2 null null"}, "float64: 1.5 null null null", "3 1 0 null"},
      {"mean",
       {"uint64: 18446744073709551615 18446744073709551615"},
       "float64: 18446744073709551615.0",
       "2"},
      {"mean",
       {"int64: 9223372036854775807 9223372036854775807"},
       "float64: 9223372036854775807.0",
       "2"},
      {"mean", {"float32: 1.0 2.0 null"}, "float32: 1.5", "3"},
      {"mean", {"float64: 1.0 nan"}, "float64: 1.0 nan", "1 1"},
      {"mean", {"bool: true false null true"}, "float64: 0.5 1.0", "3 1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(least_and_greatest) {
  static const function_case tests[] = {
      {"min", {"int8: 3 null -1 5 null"}, "int8: -1 5 null null null", "3 1 1 0 null"},
      {"max", {"int8: 3 null -1 5 null"}, "int8: 3 5 null null null", "3 1 1 0 null"},
      {"max", {"uint64: 18446744073709551615 1"}, "uint64: 18446744073709551615", "2"},
      {"min", {"float32: 1.0 nan 0.5 -inf"}, "float32: nan", "4"},
      {"max", {"float64: 1.0 nan inf"}, "float64: 1.0 nan", "1 2"},
      {"min", {"bool: true false true null"}, "bool: false true", "2 2"},
      {"max", {"bool: true false false null"}, "bool: true false", "2 2"},
      {"min", {"string: 'b' 'a' 'ab' null"}, "large_string: 'a' 'ab' null", "2 1 1"},
      {"max", {"string_view: 'b' 'a longer string' 'ab' null"}, "large_string: 'b'", "4"},
      {"max", {"binary: 'b' 'c'"}, "large_binary: 'c'", "2"},
      {"max", {"timestamp: 1 2"}, "timestamp: 2", "2"},
      {"max", {"float16: 1.5 2.0"}, "float32: 2.0", "2"},
      {"max", {"null: null null"}, "null: null null", "1 1"},
      {"max", {"struct{}: {}"}, "error: argument 1 of max is struct", "1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(first_and_last) {
  static const function_case tests[] = {
      {"first", {"int8: 3 null -1 null 5"}, "int8: 3 null null null", "3 2 0 null"},
      {"last", {"int8: 3 null -1 null 5"}, "int8: -1 5 null null", "3 2 0 null"},
      {"first", {"string: 'b' 'a'"}, "large_string: 'b'", "2"},
      {"last", {"bool: true false"}, "bool: false", "2"},
      {"last", {"fixed_binary[2]: 'ab' 'cd'"}, "large_binary: 'cd'", "2"},
      {"first", {"date32: 7 8"}, "date32: 7", "2"},
  };
  FUNCTION_CHECK(tests);
}

TEST(bools_together) {
  static const function_case tests[] = {
      {"any", {"bool: false null true false null"}, "bool: true false false null", "3 2 0 null"},
      {"all", {"bool: true null true false null"}, "bool: true false true null", "3 2 0 null"},
      {"any", {"int8: 1"}, "error: argument 1 of any is int8, expected a bool", "1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(counts) {
  static const function_case tests[] = {
      {"count", {"int8: 1 null 3 null"}, "int64: 2 0 0 0", "3 1 0 null"},
      {"count", {"null: null null"}, "int64: 0", "2"},
      {"count", {"struct{}: {} null"}, "int64: 1", "2"},
      {"size", {"int8: 1 null 3 null"}, "int64: 3 1 0 null", "3 1 0 null"},
      {"size", {"struct{}: {} null"}, "int64: 2", "2"},
      {"has", {"int8: 1 null 3 null"}, "bool: true true false false", "3 1 0 null"},
      {"count", {"int8: 1 null 3"}, "int64: 1 0 1", NULL},
      {"has", {"string: 'a' null ''"}, "bool: true false true", NULL},
      {"has", {"struct{}: {} null"}, "bool: true false", NULL},
  };
  FUNCTION_CHECK(tests);
}

TEST(the_group_that_overflows) {
  static const function_case test = {
      "sum", {"int64: 9223372036854775807 9223372036854775807 1"}, "", "1 2"};
  function_run run;
  function_start(&run, &test, false);
  CHECK_EQ(function_call(&run), CST_SCHEMA);
  CHECK_EQ(run.error.record, 1);
  function_stop(&run);
}

TEST(the_list_of_functions) {
  CHECK(cst__function_find("no such function") == NULL);
  size_t count = 0;
  for (; cst__function_at(count) != NULL; count++) {
    const cst__function *function = cst__function_at(count);
    CHECK(cst__function_find(function->name) == function);
    CHECK(function->min_args >= 1 && function->max_args <= CST__FUNCTION_ARGS);
    CHECK(function->summary != NULL && function->type != NULL);
    CHECK((function->kind == CST__FUNCTION_EXPAND) == (function->expand != NULL));
    CHECK((function->kind == CST__FUNCTION_EXPAND) == (function->eval == NULL));
  }
  CHECK(count > 30);
}

TEST(spreads) {
  static const function_case tests[] = {
      {"variance",
       {"int8: 1 2 3 null 4 7 null"},
       "float64: 1.25 0.0 null null null",
       "5 1 1 0 null"},
      {"std", {"int32: 2 4 4 4 5 5 7 9"}, "float64: 2.0", "8"},
      {"std", {"float32: 1.0 3.0 null"}, "float32: 1.0 null", "2 1"},
      {"std", {"float16: 1.0 3.0"}, "float32: 1.0", "2"},
      {"std", {"float64: 1.0 nan 0.5 inf"}, "float64: nan nan", "2 2"},
      {"variance", {"float64: 1e300 1e300"}, "float64: 0.0", "2"},
      {"variance", {"uint64: 18446744073709551615 18446744073709551615"}, "float64: 0.0", "2"},
      {"variance",
       {"int64: -9223372036854775808 9223372036854775807"},
       "float64: 85070591730234615865843651857942052864.0",
       "2"},
      {"std", {"int64:"}, "float64:", ""},
      {"std", {"bool: true"}, "error: argument 1 of std is bool, expected a number", "1"},
      {"std", {"string: 'a'"}, "error: argument 1 of std is string, expected a number", "1"},
      {"std", {"1"}, "error: argument 1 of std is int64, expected values of a list", "1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(quantiles) {
  static const function_case tests[] = {
      {"quantile",
       {"int8: 3 1 null 2 7 null", "0.5"},
       "float64: 2.0 7.0 null null null",
       "4 1 1 0 null"},
      {"quantile", {"float64: 4.0 1.0 3.0 2.0", "0.25"}, "float64: 1.75", "4"},
      {"quantile", {"float32: 1.0 2.0", "0.5"}, "float32: 1.5", "2"},
      {"quantile", {"float16: 1.0 2.0", "1"}, "float32: 2.0", "2"},
      {"quantile", {"int64: 5 4", "0"}, "float64: 4.0", "2"},
      {"quantile", {"int64: 5 4", "1.0"}, "float64: 5.0", "2"},
      {"quantile", {"uint64: 18446744073709551615 0", "1"}, "float64: 18446744073709551615.0", "2"},
      {"quantile", {"float64: 1.0 nan 2.0", "0.5"}, "float64: nan 2.0", "2 1"},
      {"quantile",
       {"float64: 1.0 inf inf -inf 1.0 -inf inf", "0.5"},
       "float64: inf inf -inf nan",
       "2 1 2 2"},
      {"quantile", {"float64: -1e308 1e308", "0.5"}, "float64: 0.0", "2"},
      {"quantile", {"float64: -0.0 0.0", "0.5"}, "float64: -0.0", "2"},
      {"quantile",
       {"int64: 1", "1.5"},
       "error: argument 2 of quantile is float64, expected a number from 0 to 1",
       "1"},
      {"quantile",
       {"int64: 1", "'a'"},
       "error: argument 2 of quantile is string, expected a number from 0 to 1",
       "1"},
      {"quantile",
       {"bool: true", "0.5"},
       "error: argument 1 of quantile is bool, expected a number",
       "1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(positions_of_the_least_and_the_greatest) {
  static const function_case tests[] = {
      {"argmin", {"int8: 3 null -1 5 null"}, "int64: 2 0 null null null", "3 1 1 0 null"},
      {"argmax", {"int8: null 5 5 1"}, "int64: 1 0", "3 1"},
      {"argmax", {"float32: 1.0 nan 2.0 nan"}, "int64: 1", "4"},
      {"argmin", {"float64: 0.0 -0.0"}, "int64: 0", "2"},
      {"argmax", {"bool: false true true"}, "int64: 1", "3"},
      {"argmin", {"string: 'b' 'a' 'ab' null"}, "int64: 1 0 null", "2 1 1"},
      {"argmax", {"timestamp: 1 2"}, "int64: 1", "2"},
      {"argmax", {"float16: 1.5 2.0"}, "int64: 1", "2"},
      {"argmax", {"null: null null"}, "int64: null null", "1 1"},
      {"argmax", {"struct{}: {}"}, "error: argument 1 of argmax is struct", "1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(cumulative_sums) {
  static const function_case tests[] = {
      {"cumulative_sum", {"int8: 100 100 null 5 7"}, "int64: 100 200 null 205 7", "4 0 1 null"},
      {"cumulative_sum", {"uint8: 200 200"}, "uint64: 200 400", "2"},
      {"cumulative_sum", {"float32: 0.5 null 0.25 nan 1.0"}, "float32: 0.5 null 0.75 nan nan", "5"},
      {"cumulative_sum", {"float64: -0.0"}, "float64: 0.0", "1"},
      {"cumulative_sum", {"bool: true false null true true"}, "int64: 1 1 null 2 1", "4 1"},
      {"cumulative_sum", {"int64:"}, "int64:", "0 null"},
      {"cumulative_sum",
       {"int64: 9223372036854775807 1 -1"},
       "error: cumulative_sum: the result does not fit",
       "3"},
      {"cumulative_sum",
       {"string: 'a'"},
       "error: argument 1 of cumulative_sum is string, expected a number",
       "1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(ranks) {
  static const function_case tests[] = {
      {"rank", {"int8: 5 null 1 5 7 1"}, "int64: 2 null 1 2 4 1", "5 1"},
      {"rank", {"float64: nan 1.0 nan null -0.0 0.0"}, "int64: 4 3 4 null 1 1", "6"},
      {"rank", {"string: 'b' 'a' 'a long text' 'a long tex'"}, "int64: 4 1 3 2", "4"},
      {"rank", {"uint64: 18446744073709551615 1"}, "int64: 2 1", "2"},
      {"rank", {"bool: true false true"}, "int64: 2 1 2", "3"},
      {"rank", {"timestamp: 2 1"}, "int64: 2 1", "2"},
      {"rank", {"float16: 2.0 1.0"}, "int64: 2 1", "2"},
      {"rank",
       {"int8: 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1"},
       "int64: 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1",
       "20"},
      {"rank", {"int64:"}, "int64:", "0 null"},
      {"rank", {"null: null null"}, "int64: null null", "2"},
      {"rank", {"struct{}: {}"}, "error: argument 1 of rank is struct", "1"},
  };
  FUNCTION_CHECK(tests);
}
