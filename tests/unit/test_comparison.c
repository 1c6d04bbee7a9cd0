/* Comparisons, membership, and/or/not, is_null; if, fill_null: over all types. */
#include "function_support.h"

TEST(comparisons_of_every_type) {
  static const function_case tests[] = {
      {"lt", {"int8: 1 null 3", "int8: 2 2 2"}, "bool: true null false"},
      {"le", {"int16: 1 2 3", "int16: 2 2 2"}, "bool: true true false"},
      {"gt", {"int32: 1 2 3", "int32: 2 2 2"}, "bool: false false true"},
      {"ge", {"int64: 1 2 3", "int64: 2 2 2"}, "bool: false true true"},
      {"eq", {"uint8: 1 2 255", "uint8: 2 2 2"}, "bool: false true false"},
      {"ne", {"uint16: 1 2 3", "uint16: 2 2 2"}, "bool: true false true"},
      {"gt", {"uint32: 4294967295 2", "uint32: 2 2"}, "bool: true false"},
      {"gt", {"uint64: 18446744073709551615 2", "uint64: 2 2"}, "bool: true false"},
      {"lt", {"float32: 1.0 nan nan", "float32: 2.0 2.0 nan"}, "bool: true false false"},
      {"ne", {"float64: 1.0 nan", "float64: 2.0 nan"}, "bool: true true"},
      {"eq", {"float64: -0.0 inf", "float64: 0.0 inf"}, "bool: true true"},
      {"eq", {"bool: true false null", "bool: true true true"}, "bool: true false null"},
      {"ne", {"bool: true false", "bool: true true"}, "bool: false true"},
      {"lt", {"bool: true false true", "bool: true true false"}, "bool: false true false"},
      {"ge", {"bool: true false true", "bool: true true false"}, "bool: true false true"},
      {"eq", {"bool: true false", "true"}, "bool: true false"},
      {"eq", {"string: 'a' 'b' null", "string_view: 'a' 'a' 'a'"}, "bool: true false null"},
      {"lt", {"string: 'a' 'b' '' 'ab'", "'ab'"}, "bool: true false true false"},
      {"ge", {"large_string: 'a' 'ü' 'ab'", "'ab'"}, "bool: false true true"},
      {"eq", {"binary: 'a' 'b'", "'a'"}, "bool: true false"},
      {"ne", {"fixed_binary[2]: 'ab' 'cd'", "b'ab'"}, "bool: false true"},
      {"lt", {"timestamp: 1 2", "timestamp: 2 2"}, "bool: true false"},
      {"eq", {"date32: 1 2", "date32: 2 2"}, "bool: false true"},
      {"lt", {"int32:", "int32:"}, "bool:"},
      {"lt", {"null: null null", "null: null null"}, "bool: null null"},
  };
  FUNCTION_CHECK(tests);
}

TEST(more_elements_than_a_word) {
  static const function_case tests[] = {
      {"gt",
       {"int32: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 "
        "31 "
        "32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 "
        "62 63 64 65 null 67",
        "62"},
       "bool: false false false false false false false false false false false false false false "
       "false false false false false false false false false false false false false false false "
       "false false false false false false false false false false false false false false false "
       "false false false false false false false false false false false false false false false "
       "false false false true true true null true"},
  };
  FUNCTION_CHECK(tests);
}

TEST(comparisons_of_different_types) {
  static const function_case tests[] = {
      {"lt", {"int8: 1 -1", "uint32: 0 0"}, "bool: false true"},
      {"eq", {"int32: 1 2", "float32: 1.0 2.5"}, "bool: true false"},
      {"gt", {"float32: 0.1 0.2", "0.1"}, "bool: false true"},
      {"ge", {"int64: 1 2", "1.5"}, "bool: false true"},
      {"lt", {"2", "int8: 1 2 3"}, "bool: false false true"},
      {"lt", {"int8: 1", "300"}, "bool: true"},
      {"lt", {"uint64: 1", "int64: 1"}, "error: lt of uint64 and int64"},
      {"lt", {"string: 'a'", "int64: 1"}, "error: lt of string and int64"},
      {"eq", {"string: 'a'", "1"}, "error: eq of string and int64"},
      {"eq", {"string: 'a'", "binary: 'a'"}, "error: eq of string and bytes"},
      {"eq", {"timestamp[s]: 1", "timestamp[ms]: 1"}, "error: eq of timestamp and timestamp"},
      {"eq", {"int64: 1", "null"}, "error: eq of null is always null"},
      {"eq", {"struct{}:", "struct{}:"}, "error: argument 1 of eq is struct, expected a value"},
  };
  FUNCTION_CHECK(tests);
}

TEST(one_side_for_all) {
  static const function_case tests[] = {
      {"gt", {"= int32: 2", "int32: 1 null 3"}, "bool: true null false"},
      {"gt", {"int32: 1 null 3", "= int32: 2"}, "bool: false null true"},
      {"gt", {"int32: 1 2", "= int32: null"}, "bool: null null"},
      {"le", {"= string: 'b'", "string: 'a' 'b'"}, "bool: false true"},
      {"le", {"= bool: true", "bool: true false"}, "bool: true false"},
      {"eq", {"= int8: 3", "= int8: 3"}, "bool: true"},
  };
  FUNCTION_CHECK(tests);
}

TEST(members_of_a_list) {
  static const function_case tests[] = {
      {"in", {"int8: 1 2 null 4", "[2, 4]"}, "bool: false true null true"},
      {"in", {"int8: 44 2", "[300, 2]"}, "bool: false true"},
      {"in", {"uint64: 18446744073709551615 2", "[2]"}, "bool: false true"},
      {"in", {"float32: 0.5 0.1 nan", "[0.1, 7]"}, "bool: false true false"},
      {"in", {"string: 'a' null 'bb' ''", "['bb', '']"}, "bool: false null true true"},
      {"in", {"binary: 'a' 'b'", "['b', b'c']"}, "bool: false true"},
      {"in", {"bool: true false null", "[true]"}, "bool: true false null"},
      {"in", {"int32: 1 2", "[]"}, "bool: false false"},
      {"in", {"= int32: 1", "[1]"}, "bool: true"},
      {"in", {"int32: 1", "[1, null]"}, "error: the list of in contains null"},
      {"in", {"int32: 1", "['a']"}, "error: in of int32 and string"},
      {"in", {"int32: 1", "['a', 1]"}, "error: the items of the list of in have no type"},
      {"in", {"int32: 1", "1"}, "error: argument 2 of in is int64, expected a list of literals"},
  };
  FUNCTION_CHECK(tests);
}

TEST(logic_of_three_values) {
  static const function_case tests[] = {
      {"and",
       {"bool: true true true false false false null null null",
        "bool: true false null true false null true false null"},
       "bool: true false null false false false null false null"},
      {"or",
       {"bool: true true true false false false null null null",
        "bool: true false null true false null true false null"},
       "bool: true true true true false null true null null"},
      {"not", {"bool: true false null"}, "bool: false true null"},
      {"and", {"bool: true false", "= bool: null"}, "bool: null false"},
      {"or", {"bool: true false", "null"}, "bool: true null"},
      {"or", {"null: null null", "bool: true false"}, "bool: true null"},
      {"and", {"bool: true false", "true"}, "bool: true false"},
      {"not", {"= bool: true"}, "bool: false"},
      {"not", {"bool:"}, "bool:"},
      {"and", {"bool: true", "int8: 1"}, "error: argument 2 of and is int8, expected a bool"},
  };
  FUNCTION_CHECK(tests);
}

TEST(which_are_null) {
  static const function_case tests[] = {
      {"is_null", {"int8: 1 null 3"}, "bool: false true false"},
      {"is_null", {"string: 'a' null"}, "bool: false true"},
      {"is_null", {"struct{}: {} null"}, "bool: false true"},
      {"is_null", {"null: null null"}, "bool: true true"},
      {"is_null", {"int8: 1 2"}, "bool: false false"},
      {"is_null", {"null"}, "bool: true"},
      {"is_null", {"5"}, "bool: false"},
      {"is_null", {"= int8: null"}, "bool: true"},
  };
  FUNCTION_CHECK(tests);
}

TEST(one_or_the_other) {
  static const function_case tests[] = {
      {"if",
       {"bool: true false null true", "int8: 1 2 3 null", "int8: 5 6 7 8"},
       "int8: 1 6 7 null"},
      {"if", {"bool: true false", "int16: 1 2", "0"}, "int16: 1 0"},
      {"if", {"bool: true false", "int32: 1 2", "0.5"}, "float64: 1.0 0.5"},
      {"if", {"bool: true false", "float32: 1.0 2.0", "0.5"}, "float32: 1.0 0.5"},
      {"if", {"bool: true false", "null", "int8: 1 2"}, "int8: null 2"},
      {"if",
       {"bool: true false null", "bool: true true true", "= bool: false"},
       "bool: true false false"},
      {"if",
       {"bool: true false null", "string: 'a' null null", "'zz'"},
       "large_string: 'a' 'zz' 'zz'"},
      {"if",
       {"bool: true false", "fixed_binary[2]: 'ab' 'cd'", "binary: 'e' 'f'"},
       "large_binary: 'ab' 'f'"},
      {"if", {"bool: true false", "timestamp: 1 2", "timestamp: 3 4"}, "timestamp: 1 4"},
      {"if", {"= bool: true", "int8: 1 2", "int8: 3 4"}, "int8: 1 2"},
      {"if", {"= bool: null", "int8: 1 2", "int8: 3 4"}, "int8: 3 4"},
      {"if", {"null", "int8: 1 2", "int8: 3 4"}, "int8: 3 4"},
      {"if", {"bool: true false", "1", "2"}, "int64: 1 2"},
      {"if", {"bool:", "int8:", "int8:"}, "int8:"},
      {"if", {"bool: true", "int8: 1", "string: 'a'"}, "error: if of int8 and string"},
      {"if", {"int8: 1", "int8: 1", "int8: 1"}, "error: argument 1 of if is int8, expected a bool"},
  };
  FUNCTION_CHECK(tests);
}

TEST(values_for_nulls) {
  static const function_case tests[] = {
      {"fill_null", {"int8: 1 null 3", "0"}, "int8: 1 0 3"},
      {"fill_null", {"int8: 1 null 3", "300"}, "int64: 1 300 3"},
      {"fill_null", {"float32: 1.5 null", "0"}, "float32: 1.5 0.0"},
      {"fill_null", {"int64: 1 null null", "int64: 5 6 null"}, "int64: 1 6 null"},
      {"fill_null", {"uint16: 1 2", "7"}, "uint16: 1 2"},
      {"fill_null", {"bool: true null", "false"}, "bool: true false"},
      {"fill_null", {"string: 'a' null", "''"}, "large_string: 'a' ''"},
      {"fill_null", {"string_view: 'a' null", "string: 'b' null"}, "large_string: 'a' null"},
      {"fill_null", {"null: null null", "int8: 1 2"}, "int8: 1 2"},
      {"fill_null", {"= int8: null", "int8: 1 2"}, "int8: 1 2"},
      {"fill_null", {"int8: 1 null", "'a'"}, "error: fill_null of int8 and string"},
  };
  FUNCTION_CHECK(tests);
}
