/* Casts between all types, and literals as values. */
#include "function_support.h"

TEST(numbers_to_numbers) {
  static const function_case tests[] = {
      {"cast", {"int8: 1 null -128", "'int64'"}, "int64: 1 null -128"},
      {"cast", {"int64: 127 -128", "'int8'"}, "int8: 127 -128"},
      {"cast", {"int64: 0 255", "'uint8'"}, "uint8: 0 255"},
      {"cast", {"uint64: 9223372036854775807", "'int64'"}, "int64: 9223372036854775807"},
      {"cast", {"int32: 65535", "'uint16'"}, "uint16: 65535"},
      {"cast", {"uint32: 4294967295", "'int64'"}, "int64: 4294967295"},
      {"cast", {"uint16: 7", "'int16'"}, "int16: 7"},
      {"cast", {"int16: 7", "'uint32'"}, "uint32: 7"},
      {"cast", {"uint8: 7", "'uint64'"}, "uint64: 7"},
      {"cast", {"int64: 16777216 -33554436", "'float32'"}, "float32: 16777216.0 -33554436.0"},
      {"cast", {"int32: -2147483648", "'float32'"}, "float32: -2147483648.0"},
      {"cast", {"uint64: 18446744073709549568", "'float64'"}, "float64: 18446744073709549568.0"},
      {"cast",
       {"int64: -9223372036854775808 0", "'float64'"},
       "float64: -9223372036854775808.0 0.0"},
      {"cast", {"float64: 0.1", "'float32'"}, "float32: 0.1"},
      {"cast", {"int64: 5", "'float64'"}, "float64: 5.0"},
      {"cast", {"float32: 5.0 null", "'int32'"}, "int32: 5 null"},
      {"cast", {"float64: -9223372036854775808.0", "'int64'"}, "int64: -9223372036854775808"},
      {"cast", {"float64: 1.5 inf nan", "'float32'"}, "float32: 1.5 inf nan"},
      {"cast", {"float32: 1.5", "'float64'"}, "float64: 1.5"},
      {"cast", {"float16: 1.5 null -2.0 0.0", "'float64'"}, "float64: 1.5 null -2.0 0.0"},
      {"cast", {"float16: 2.0", "'int8'"}, "int8: 2"},
      {"cast", {"int8:", "'int64'"}, "int64:"},
      {"cast", {"int8: 1 2", "'int8'"}, "int8: 1 2"},
  };
  FUNCTION_CHECK(tests);
}

TEST(what_does_not_fit) {
  static const function_case tests[] = {
      {"cast",
       {"int64: 1 128", "'int8'"},
       "error: a value of type int64 cannot be converted to type int8"},
      {"cast", {"int64: -1", "'uint64'"}, "error: cannot be converted to type uint64"},
      {"cast",
       {"uint64: 9223372036854775808", "'int64'"},
       "error: cannot be converted to type int64"},
      {"cast", {"float64: 1.5", "'int64'"}, "error: cannot be converted to type int64"},
      {"cast", {"float64: nan", "'int64'"}, "error: cannot be converted to type int64"},
      {"cast",
       {"float64: 9223372036854775808.0", "'int64'"},
       "error: cannot be converted to type int64"},
      {"cast", {"float32: 256.0", "'uint8'"}, "error: cannot be converted to type uint8"},
      {"cast", {"float32: -1.0", "'uint8'"}, "error: cannot be converted to type uint8"},
      {"cast", {"int64: 9007199254740993", "'float64'"}, "error: converted to type float64"},
      {"cast", {"int64: -9007199254740993", "'float64'"}, "error: converted to type float64"},
      {"cast", {"uint64: 18446744073709551615", "'float64'"}, "error: converted to type float64"},
      {"cast", {"int32: 16777217", "'float32'"}, "error: converted to type float32"},
      {"cast", {"uint32: 4294967295", "'float32'"}, "error: converted to type float32"},
      {"cast", {"int8: 1 2", "'bool'"}, "error: neither 0 nor 1"},
      {"cast", {"struct{}:", "'int8'"}, "error: cannot cast struct to int8"},
      {"cast", {"float32: 1.0", "'bool'"}, "error: cannot cast float32 to bool"},
      {"cast", {"int8: 1", "'text'"}, "error: argument 2 of cast is string, expected the name"},
      {"cast", {"timestamp: 1", "'int32'"}, "error: cannot cast timestamp to int32"},
  };
  FUNCTION_CHECK(tests);
}

/* What a calculation with floats makes of integers. */
TEST(conversions_round) {
  static const function_case test = {"cast", {"int64: 9007199254740993 null", "'float64'"}, ""};
  function_run run;
  function_start(&run, &test, false);
  run.function = &cst__function_convert;
  CHECK_EQ(function_call(&run), CST_OK);
  function_check_result(&run, "float64: 9007199254740992.0 null");
  function_stop(&run);
}

TEST(other_values) {
  static const function_case tests[] = {
      {"cast", {"bool: true false null", "'int8'"}, "int8: 1 0 null"},
      {"cast", {"bool: true false null", "'float32'"}, "float32: 1.0 0.0 null"},
      {"cast", {"bool: true false", "'float64'"}, "float64: 1.0 0.0"},
      {"cast", {"bool: true false null", "'bool'"}, "bool: true false null"},
      {"cast", {"int8: 1 0 null", "'bool'"}, "bool: true false null"},
      {"cast", {"string: 'a' null", "'bytes'"}, "large_binary: 'a' null"},
      {"cast",
       {"binary_view: 'a' null 'a value of 16 b.'", "'string'"},
       "large_string: 'a' null 'a value of 16 b.'"},
      {"cast", {"fixed_binary[2]: 'ab'", "'bytes'"}, "large_binary: 'ab'"},
      {"cast", {"timestamp: 1 null", "'int64'"}, "int64: 1 null"},
      {"cast", {"date32: 1 null", "'int64'"}, "int64: 1 null"},
      {"cast", {"null: null null", "'int8'"}, "int8: null null"},
      {"cast", {"null: null null", "'bool'"}, "bool: null null"},
      {"cast", {"null: null null", "'string'"}, "large_string: null null"},
      {"cast", {"= int8: 5", "'int64'"}, "int64: 5"},
      {"cast", {"5", "'int8'"}, "int8: 5"},
      {"cast", {"null", "'string'"}, "large_string: null"},
  };
  FUNCTION_CHECK(tests);
}

TEST(numbers_as_text) {
  static const function_case tests[] = {
      {"cast", {"int8: 5 -128 null", "'string'"}, "large_string: '5' '-128' null"},
      {"cast",
       {"uint64: 18446744073709551615 0", "'string'"},
       "large_string: '18446744073709551615' '0'"},
      {"cast", {"int64: -9223372036854775808", "'string'"}, "large_string: '-9223372036854775808'"},
      {"cast", {"bool: true false", "'string'"}, "large_string: 'true' 'false'"},
      {"cast",
       {"float64: 1.0 0.1 -1.5 0.0001 0.00001 1234567.25 nan inf -inf -0.0", "'string'"},
       "large_string: '1.0' '0.1' '-1.5' '0.0001' '1e-05' '1234567.25' 'nan' 'inf' '-inf' '-0.0'"},
      {"cast",
       {"float64: 1000000000000000.0 10000000000000000.0 12300000000000000000.0", "'string'"},
       "large_string: '1000000000000000.0' '1e+16' '1.23e+19'"},
      {"cast", {"float32: 0.1 16777216.0", "'string'"}, "large_string: '0.1' '16777216.0'"},
      {"cast", {"float16: 1.5", "'string'"}, "error: cannot cast float16 to string"},
  };
  FUNCTION_CHECK(tests);
}

TEST(text_as_numbers) {
  static const function_case tests[] = {
      {"cast", {"string: '5' '-128' null '+7' '007'", "'int8'"}, "int8: 5 -128 null 7 7"},
      {"cast",
       {"string: '18446744073709551615' '-0'", "'uint64'"},
       "uint64: 18446744073709551615 0"},
      {"cast", {"string: '-9223372036854775808'", "'int64'"}, "int64: -9223372036854775808"},
      {"cast",
       {"string_view: '1.5' '-.5' '3.' '1e3' 'NaN' '-inf' 'Infinity' '7'", "'float64'"},
       "float64: 1.5 -0.5 3.0 1000.0 nan -inf inf 7.0"},
      {"cast", {"string: '0.1'", "'float32'"}, "float32: 0.1"},
      {"cast", {"string: 'true' 'false' null", "'bool'"}, "bool: true false null"},
      {"cast",
       {"string: '128'", "'int8'"},
       "error: a value of type string cannot be converted to type"},
      {"cast", {"string: '-129'", "'int8'"}, "error: cannot be converted to type int8"},
      {"cast", {"string: '-1'", "'uint8'"}, "error: cannot be converted to type uint8"},
      {"cast",
       {"string: '18446744073709551616'", "'uint64'"},
       "error: cannot be converted to type uint64"},
      {"cast", {"string: ''", "'int8'"}, "error: cannot be converted to type int8"},
      {"cast", {"string: '-'", "'int8'"}, "error: cannot be converted to type int8"},
      {"cast", {"string: ' 1'", "'int8'"}, "error: cannot be converted to type int8"},
      {"cast", {"string: '1x'", "'float64'"}, "error: cannot be converted to type float64"},
      {"cast", {"string: '.'", "'float64'"}, "error: cannot be converted to type float64"},
      {"cast", {"string: '1e'", "'float64'"}, "error: cannot be converted to type float64"},
      {"cast", {"string: '0x10'", "'float64'"}, "error: cannot be converted to type float64"},
      {"cast", {"string: '1e999'", "'float64'"}, "error: cannot be converted to type float64"},
      {"cast", {"string: ''", "'float32'"}, "error: cannot be converted to type float32"},
      {"cast", {"string: 'True'", "'bool'"}, "error: cannot be converted to type bool"},
  };
  FUNCTION_CHECK(tests);
}

TEST(the_element_that_does_not_fit) {
  static const function_case test = {"cast", {"int64: 1 null 300 400", "'int8'"}, "error:"};
  function_run run;
  function_start(&run, &test, false);
  CHECK_EQ(function_call(&run), CST_SCHEMA);
  CHECK_EQ(run.error.record, 2);
  function_stop(&run);
}

/* What was found says how to have it rounded. */
TEST(integers_with_too_many_digits) {
  static const function_case tests[] = {
      {"cast", {"int64: 9007199254740993", "'float64'"}, "to round it: x * 1.0"},
      {"cast", {"int32: 16777217", "'float32'"}, "to round it: cast(x * 1.0, float32)"},
  };
  for (int i = 0; i < 2; i++) {
    function_run run;
    function_start(&run, &tests[i], false);
    CHECK_EQ(function_call(&run), CST_SCHEMA);
    CHECK_STR(run.error.hint, tests[i].expected);
    function_stop(&run);
  }
}

TEST(bytes_that_are_no_text) {
  static const function_case test = {"cast", {"binary: 'a' '\xff'", "'string'"}, "error:"};
  function_run run;
  function_start(&run, &test, false);
  CHECK_EQ(function_call(&run), CST_SCHEMA);
  CHECK_CONTAINS(run.error.message, "not UTF-8");
  CHECK_EQ(run.error.record, 1);
  function_stop(&run);
}

/* One value for all, cast for several. */
TEST(one_value_is_repeated) {
  static const function_case test = {"cast", {"= int8: 5", "'string'"}, ""};
  static const char *const types[] = {"'int64'", "'bytes'"};
  static const char *const values[] = {"= int8: 5", "= string: 'ab'"};
  static const char *const expected[] = {"int64: 5 5 5", "large_binary: 'ab' 'ab' 'ab'"};
  for (int i = 0; i < 2; i++) {
    function_run run;
    function_case one = test;
    one.args[0] = values[i];
    one.args[1] = types[i];
    function_start(&run, &one, false);
    run.count = 3;
    CHECK_EQ(function_call(&run), CST_OK);
    function_check_result(&run, expected[i]);
    function_stop(&run);
  }
}

static void check_decimals(const char *format, const void *slots, int64_t count,
                           const char *expected) {
  const void *buffers[2] = {NULL, slots};
  cst__view view = {.layout = CST__LAYOUT_OPAQUE,
                    .length = count,
                    .data = buffers[1],
                    .format = format,
                    .name = ""};
  function_run run = {.signature.result = {"l"}};
  run.error = (cst_error)CST_ERROR_INIT;
  int status =
      (int)cst__values_cast(&view, (cst__cast_way){{"l"}, false}, NULL, &run.out, &run.error);
  if (expected == NULL) {
    CHECK_EQ(status, CST_SCHEMA);
    return;
  }
  CHECK_STR(run.error.message, "");
  function_check_result(&run, expected);
  run.out.release(&run.out);
}

TEST(decimals_to_integers) {
  static const int32_t small[] = {1200, -500};
  static const int64_t wide[] = {1200, 0, -500, -1};
  static const int64_t high[] = {0, 1};
  static const int64_t least[] = {INT64_MIN, -1};
  check_decimals("d:5,2,32", small, 2, "int64: 12 -5");
  check_decimals("d:5,2", wide, 2, "int64: 12 -5");
  check_decimals("d:5,-2", wide, 2, "int64: 120000 -50000");
  check_decimals("d:5,3", wide, 2, NULL);
  check_decimals("d:38,0", high, 1, NULL);
  check_decimals("d:38,-1", high, 1, NULL);
  check_decimals("d:38,0", least, 1, "int64: -9223372036854775808");
  check_decimals("d:38,-300", least, 1, NULL);
  check_decimals("d:50,0,256", wide, 0, "int64:");
}

TEST(dictionaries) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view values;
  cst_error error = CST_ERROR_INIT;
  static const int8_t indices[] = {1, 0, 0, 1};
  static const uint8_t valid = 0xb;
  cst__arena_init(&arena, NULL);
  arrow_text("string", "'a' 'bb'", &schema, &array);
  CHECK_EQ(cst__view_init(&values, &schema, &array, false, &arena, &error), CST_OK);
  cst__view view = {.layout = CST__LAYOUT_OTHER,
                    .dtype = CST_DTYPE_INT8,
                    .length = 4,
                    .null_count = 1,
                    .validity = &valid,
                    .data = indices,
                    .dictionary = &values,
                    .format = "dictionary"};
  function_run run = {.signature.result = {"U"}};
  CHECK_EQ(cst__values_cast(&view, (cst__cast_way){{"U"}, false}, NULL, &run.out, &error), CST_OK);
  function_check_result(&run, "large_string: 'bb' 'a' null 'bb'");
  run.out.release(&run.out);
  run.signature.result.format = "Z";
  CHECK_EQ(cst__values_cast(&view, (cst__cast_way){{"Z"}, false}, NULL, &run.out, &error), CST_OK);
  function_check_result(&run, "large_binary: 'bb' 'a' null 'bb'");
  run.out.release(&run.out);
  array.release(&array);
  schema.release(&schema);
  cst__arena_reset(&arena);
}

static void check_literal(const char *text, const char *format, const char *expected) {
  function_arg arg;
  cst_error error = CST_ERROR_INIT;
  function_run run = {.signature.result = {format}};
  function_parse_arg(text, &arg);
  cst_status status =
      cst__literal_array(&arg.literal, (cst__value_type){format}, NULL, &run.out, &error);
  if (expected == NULL) {
    CHECK_EQ(status, CST_SCHEMA);
    return;
  }
  CHECK_STR(error.message, "");
  function_check_result(&run, expected);
  run.out.release(&run.out);
}

TEST(literals_as_values) {
  check_literal("5", "c", "int8: 5");
  check_literal("-128", "c", "int8: -128");
  check_literal("128", "c", NULL);
  check_literal("255", "C", "uint8: 255");
  check_literal("-1", "L", NULL);
  check_literal("5", "f", "float32: 5.0");
  check_literal("0.5", "l", NULL);
  check_literal("1e300", "f", NULL);
  check_literal("0.1", "f", "float32: 0.1");
  check_literal("true", "b", "bool: true");
  check_literal("true", "l", NULL);
  check_literal("'a'", "U", "large_string: 'a'");
  check_literal("'a'", "Z", "large_binary: 'a'");
  check_literal("b'\xff'", "U", NULL);
  check_literal("null", "U", "large_string: null");
  check_literal("null", "l", "int64: null");
  check_literal("[1, 2, null]", "s", "int16: 1 2 null");
  check_literal("[1, 300]", "c", NULL);
  check_literal("[]", "U", "large_string:");
}

TEST(names_of_types) {
  CHECK_STR(cst__value_type_name((cst__value_type){"l"}), "int64");
  CHECK_STR(cst__value_type_name((cst__value_type){"vu"}), "string");
  CHECK_STR(cst__value_type_name((cst__value_type){"w:5"}), "bytes");
  CHECK_STR(cst__value_type_name((cst__value_type){"e"}), "float16");
  CHECK_STR(cst__value_type_name((cst__value_type){"tdD"}), "date");
  CHECK_STR(cst__value_type_find("uint32", 6).format, "I");
  CHECK(cst__value_type_find("int", 3).format == NULL);
  CHECK(cst__value_type_find("struct", 6).format == NULL);
}
