/* + - * / // % and the sign: types, overflow, nulls, one value for all. */
#include "function_support.h"

TEST(sums_of_every_type) {
  static const function_case tests[] = {
      {"add", {"int8: 1 null 127", "int8: 2 3 -127"}, "int8: 3 null 0"},
      {"add", {"int16: 1 2", "int16: 2 3"}, "int16: 3 5"},
      {"add", {"int32: 1 2", "int32: 2 null"}, "int32: 3 null"},
      {"add", {"int64: 1 2", "int64: 2 3"}, "int64: 3 5"},
      {"add", {"uint8: 250 2", "uint8: 5 3"}, "uint8: 255 5"},
      {"add", {"uint16: 1 2", "uint16: 2 3"}, "uint16: 3 5"},
      {"add", {"uint32: 1 2", "uint32: 2 3"}, "uint32: 3 5"},
      {"add", {"uint64: 18446744073709551614 2", "uint64: 1 3"}, "uint64: 18446744073709551615 5"},
      {"add", {"float32: 1.5 2.0", "float32: 2.0 3.0"}, "float32: 3.5 5.0"},
      {"add", {"float64: 1.5 2.0", "float64: 2.0 inf"}, "float64: 3.5 inf"},
      {"add", {"float16: 1.5 2.0", "float16: 2.0 3.0"}, "float32: 3.5 5.0"},
      {"add", {"int32:", "int32:"}, "int32:"},
      {"sub", {"int32: 1 -5", "int32: 2 3"}, "int32: -1 -8"},
      {"sub", {"uint8: 7 5", "uint8: 2 5"}, "uint8: 5 0"},
      {"mul", {"int8: 11 -16", "int8: 11 8"}, "int8: 121 -128"},
      {"mul", {"int16: 11 -5", "int16: 2 3"}, "int16: 22 -15"},
      {"mul", {"int32: 65536 -5", "int32: -32768 3"}, "int32: -2147483648 -15"},
      {"mul", {"uint32: 65536 5", "uint32: 65535 3"}, "uint32: 4294901760 15"},
      {"mul", {"int64: 4294967296 -5", "int64: -2147483648 3"}, "int64: -9223372036854775808 -15"},
      {"mul", {"uint64: 4294967296", "uint64: 4294967295"}, "uint64: 18446744069414584320"},
      {"mul", {"float32: 1.5", "float32: -2.0"}, "float32: -3.0"},
  };
  FUNCTION_CHECK(tests);
}

TEST(one_value_for_all) {
  static const function_case tests[] = {
      {"sub", {"= int32: 10", "int32: 1 null 3"}, "int32: 9 null 7"},
      {"sub", {"int32: 1 null 3", "= int32: 10"}, "int32: -9 null -7"},
      {"sub", {"= int32: null", "int32: 1 null 3"}, "int32: null null null"},
      {"sub", {"= int32: 5", "= int32: 3"}, "int32: 2"},
      {"add", {"int32:", "= int32: 3"}, "int32:"},
      {"neg", {"= int32: 5"}, "int32: -5"},
  };
  FUNCTION_CHECK(tests);
}

TEST(types_in_common) {
  static const function_case tests[] = {
      {"add", {"int8: 1", "int32: 2"}, "int32: 3"},
      {"add", {"uint8: 200", "uint32: 2"}, "uint32: 202"},
      {"add", {"uint8: 200", "int8: -100"}, "int16: 100"},
      {"add", {"uint16: 200", "int8: -100"}, "int32: 100"},
      {"add", {"uint16: 200", "int64: -100"}, "int64: 100"},
      {"add", {"uint32: 200", "int32: -201"}, "int64: -1"},
      {"add", {"uint64: 200", "int32: -201"}, "error: add of uint64 and int32"},
      {"add", {"int16: 1", "float32: 0.5"}, "float32: 1.5"},
      {"add", {"int32: 1", "float32: 0.5"}, "float64: 1.5"},
      {"add", {"int64: 1", "float64: 0.5"}, "float64: 1.5"},
      {"add", {"float32: 1.0", "float64: 0.5"}, "float64: 1.5"},
      {"add", {"int32: 1", "bool: true"}, "error: add of int32 and bool"},
      {"add", {"bool: true", "bool: true"}, "error: argument 1 of add is bool, expected a number"},
      {"add", {"struct{}:", "int8:"}, "error: argument 1 of add is struct"},
      {"sub", {"string: 'a'", "string: 'b'"}, "error: argument 1 of sub is string"},
      {"neg", {"uint8: 1"}, "error: argument 1 of neg is uint8, expected a signed number"},
      {"add", {"null: null", "int32: 1"}, "int32: null"},
      {"add", {"null: null", "null: null"}, "error: is null, expected a number"},
      {"add", {"timestamp: 1", "timestamp: 1"}, "error: argument 1 of add is timestamp"},
  };
  FUNCTION_CHECK(tests);
}

TEST(literals_take_the_type_of_the_others) {
  static const function_case tests[] = {
      {"add", {"int8: 1 2", "5"}, "int8: 6 7"},
      {"add", {"5", "int8: 1 2"}, "int8: 6 7"},
      {"add", {"int8: 1 2", "300"}, "int64: 301 302"},
      {"add", {"uint8: 7", "-1"}, "int64: 6"},
      {"add", {"uint64: 7", "1"}, "uint64: 8"},
      {"add", {"uint64: 7", "-1"}, "error: add of uint64 and int64"},
      {"mul", {"float32: 1.5", "0.1"}, "float32: 0.15"},
      {"mul", {"float32: 1.5", "2"}, "float32: 3.0"},
      {"mul", {"float32: 1.0", "16777217"}, "float64: 16777217.0"},
      {"mul", {"int32: 3", "0.5"}, "float64: 1.5"},
      {"add", {"int32: 1 2", "null"}, "int32: null null"},
      {"add", {"1", "0.5"}, "float64: 1.5"},
      {"add", {"1", "2"}, "int64: 3"},
      {"add", {"null", "null"}, "error: is null, expected a number"},
      {"mul", {"int64: 3", "9007199254740993"}, "int64: 27021597764222979"},
      {"div", {"int64: 9007199254740992", "9007199254740993"}, "float64: 1.0"},
  };
  FUNCTION_CHECK(tests);
}

TEST(overflow_is_an_error) {
  static const function_case tests[] = {
      {"add", {"int8: 1 127", "int8: 1 1"}, "error: add: the result does not fit int8"},
      {"add", {"int64: 9223372036854775807", "int64: 1"}, "error: does not fit int64"},
      {"add", {"uint64: 18446744073709551615", "uint64: 1"}, "error: does not fit uint64"},
      {"sub", {"int32: -2147483648", "int32: 1"}, "error: does not fit int32"},
      {"sub", {"uint16: 1", "uint16: 2"}, "error: does not fit uint16"},
      {"mul", {"int8: 16", "int8: 8"}, "error: does not fit int8"},
      {"mul", {"uint8: 16", "uint8: 16"}, "error: does not fit uint8"},
      {"mul", {"int16: 256", "int16: 128"}, "error: does not fit int16"},
      {"mul", {"uint16: 256", "uint16: 256"}, "error: does not fit uint16"},
      {"mul", {"int32: 65536", "int32: 32768"}, "error: does not fit int32"},
      {"mul", {"uint32: 65536", "uint32: 65536"}, "error: does not fit uint32"},
      {"mul", {"int64: 4294967296", "int64: 2147483648"}, "error: does not fit int64"},
      {"neg", {"int8: 5 -128"}, "error: neg: the result does not fit int8"},
      {"floordiv", {"int8: -128", "int8: -1"}, "error: does not fit int8"},
  };
  FUNCTION_CHECK(tests);
}

/* What lies under a null does not count; the first element that does is told. */
TEST(the_element_that_overflows) {
  static const function_case test = {
      "add", {"int8: 127 127 127 127", "int8: null -1 5 6"}, "error: does not fit"};
  function_run run;
  function_start(&run, &test, false);
  ((int8_t *)(uintptr_t)run.args[1].array.buffers[1])[0] = 100;
  CHECK_EQ(function_call(&run), CST_SCHEMA);
  CHECK_EQ(run.error.record, 2);
  function_stop(&run);
  function_start(&run, &test, false);
  ((int8_t *)(uintptr_t)run.args[1].array.buffers[1])[0] = 100;
  ((int8_t *)(uintptr_t)run.args[1].array.buffers[1])[2] = -5;
  ((int8_t *)(uintptr_t)run.args[1].array.buffers[1])[3] = -6;
  CHECK_EQ(function_call(&run), CST_OK);
  function_check_result(&run, "int8: null 126 122 121");
  function_stop(&run);
}

TEST(quotients) {
  static const function_case tests[] = {
      {"div", {"int32: 1 1 0 -1", "int32: 2 0 0 0"}, "float64: 0.5 inf nan -inf"},
      {"div", {"float32: 1.0", "float32: 4.0"}, "float32: 0.25"},
      {"div", {"float32: 1.0", "4"}, "float32: 0.25"},
      {"div", {"int16: 1", "float32: 4.0"}, "float64: 0.25"},
      {"div", {"uint64: 18446744073709551615", "uint64: 1"}, "float64: 18446744073709551616.0"},
      {"floordiv", {"int32: 7 -7 7 -7 6", "int32: 2 2 -2 -2 -2"}, "int32: 3 -4 -4 3 -3"},
      {"mod", {"int32: 7 -7 7 -7 6", "int32: 2 2 -2 -2 -2"}, "int32: 1 1 -1 -1 0"},
      {"mod", {"int8: -128", "int8: -1"}, "int8: 0"},
      {"mod", {"uint8: 200", "uint8: 7"}, "uint8: 4"},
      {"floordiv", {"uint8: 200", "uint8: 7"}, "uint8: 28"},
      {"floordiv",
       {"float64: 7.5 -7.5 7.5 -0.0 inf", "float64: 2.0 2.0 -2.0 3.0 2.0"},
       "float64: 3.0 -4.0 -4.0 -0.0 nan"},
      {"mod",
       {"float64: 7.5 -7.5 7.5 -0.0 4.0", "float64: 2.0 2.0 -2.0 3.0 inf"},
       "float64: 1.5 0.5 -0.5 0.0 4.0"},
      {"floordiv", {"float32: 7.5", "2"}, "float32: 3.0"},
      {"floordiv", {"int32: 1 2", "int32: 1 0"}, "error: floordiv: division by zero"},
      {"floordiv", {"int32: 1 2", "0"}, "error: floordiv: division by zero"},
      {"mod", {"float64: 1.0", "float64: 0.0"}, "error: mod: division by zero"},
      {"floordiv", {"int32: 1 null", "int32: null 0"}, "int32: null null"},
  };
  FUNCTION_CHECK(tests);
}

TEST(signs) {
  static const function_case tests[] = {
      {"neg", {"int8: 5 null -127"}, "int8: -5 null 127"},
      {"neg", {"int64: 5"}, "int64: -5"},
      {"neg", {"float32: 5.0 -0.0"}, "float32: -5.0 0.0"},
      {"neg", {"float64: nan inf"}, "float64: nan -inf"},
      {"neg", {"5"}, "int64: -5"},
  };
  FUNCTION_CHECK(tests);
}

TEST(texts_one_after_the_other) {
  static const function_case tests[] = {
      {"add",
       {"string: 'a' null '' 'ü'", "string_view: 'b' 'c' '' 'a longer value'"},
       "large_string: 'ab' null '' 'üa longer value'"},
      {"add", {"large_string: 'a' 'b'", "'-x'"}, "large_string: 'a-x' 'b-x'"},
      {"add", {"binary: 'a' 'b'", "binary: 'c' null"}, "large_binary: 'ac' null"},
      {"add", {"fixed_binary[2]: 'ab'", "'c'"}, "large_binary: 'abc'"},
      {"add", {"string: 'a'", "binary: 'c'"}, "error: add of string and bytes"},
      {"add", {"string: 'a'", "int8: 1"}, "error: add of string and int8"},
  };
  FUNCTION_CHECK(tests);
}
