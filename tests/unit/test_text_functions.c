/* Functions of texts and bytes, count_distinct, join and split. */
#include "function_support.h"
#include "query/functions/result.h"

TEST(lengths) {
  static const function_case tests[] = {
      {"len",
       {"string: 'abc' '' null 'äöü' '€uro' 'a longer text with ü and € in it'"},
       "int64: 3 0 null 3 4 32"},
      {"len", {"binary: 'abc' 'äöü'"}, "int64: 3 6"},
      {"len", {"string_view: 'a value that is long, äöü'"}, "int64: 25"},
      {"len", {"fixed_binary[3]: 'abc' null"}, "int64: 3 null"},
      {"len", {"'äb'"}, "int64: 2"},
      {"len", {"int8: 1"}, "error: argument 1 of len is int8, expected text or bytes"},
      {"len", {"null: null"}, "error: argument 1 of len is null, expected text or bytes"},
  };
  FUNCTION_CHECK(tests);
}

TEST(letters) {
  static const function_case tests[] = {
      {"lower",
       {"string: 'AbC z[' null 'ÄÖÜ×Þ' 'ŁŽ' 'ΑΣΏ' 'ЖЁӀ' 'ԱԲ' 'Ÿ'"},
       "large_string: 'abc z[' null 'äöü×þ' 'łž' 'ασώ' 'жёӏ' 'աբ' 'ÿ'"},
      {"upper",
       {"string: 'aBc z{' 'äöü÷þß' 'łž' 'ασςώ' 'жёӏ' 'աբ' 'ÿ' 'ıſŉµ€'"},
       "large_string: 'ABC Z{' 'ÄÖÜ÷Þß' 'ŁŽ' 'ΑΣΣΏ' 'ЖЁӀ' 'ԱԲ' 'Ÿ' 'ıſŉµ€'"},
      {"lower",
       {"string: 'A LONG TEXT OF ASCII ALONE, FOLLOWED BY' 'ÄÖ AND' 'SOME MORE OF ALL THIS, "
        "ÄNDERUNG'"},
       "large_string: 'a long text of ascii alone, followed by' 'äö and' 'some more of all this, "
       "änderung'"},
      {"lower", {"binary: 'AbC' 'Ä'"}, "large_binary: 'abc' 'Ä'"},
      {"upper", {"= string: 'a'"}, "large_string: 'A'"},
      {"strip", {"string: ' a b ' '\t\r\f\v ' null 'c'"}, "large_string: 'a b' '' null 'c'"},
      {"strip", {"binary: ' a'"}, "large_binary: 'a'"},
      {"strip", {"string:"}, "large_string:"},
  };
  FUNCTION_CHECK(tests);
}

TEST(searching) {
  static const function_case tests[] = {
      {"starts_with",
       {"string: 'abc' 'ab' 'a' '' null", "'ab'"},
       "bool: true true false false null"},
      {"ends_with", {"string: 'abc' 'bc' 'c'", "string: 'bc' 'bc' null"}, "bool: true true null"},
      {"contains", {"string: 'abc' 'xay' '' 'b'", "'a'"}, "bool: true true false false"},
      {"contains", {"string: 'abc' ''", "''"}, "bool: true true"},
      {"contains", {"binary: 'abc'", "'bc'"}, "bool: true"},
      {"contains", {"'abc'", "string: 'b' 'd'"}, "bool: true false"},
      {"contains", {"string: 'abc'", "binary: 'b'"}, "error: contains of string and bytes"},
      {"contains", {"string: 'abc'", "5"}, "error: argument 2 of contains is int64"},
      {"contains", {"string: 'abc'", "null"}, "bool: null"},
  };
  FUNCTION_CHECK(tests);
}

TEST(parts) {
  static const function_case tests[] = {
      {"substr", {"string: 'abcde' 'äöüß' null 'a'", "1", "3"}, "large_string: 'bc' 'öü' null ''"},
      {"substr", {"string: 'abcde' 'äöüß'", "-2"}, "large_string: 'de' 'üß'"},
      {"substr", {"string: 'abcde' 'äöüß'", "0", "-1"}, "large_string: 'abcd' 'äöü'"},
      {"substr", {"string: 'abcde'", "-100", "100"}, "large_string: 'abcde'"},
      {"substr", {"string: 'abcde'", "3", "1"}, "large_string: ''"},
      {"substr", {"binary: 'äb'", "1", "2"}, "large_binary: '\xa4'"},
      {"substr",
       {"string: 'abc' 'abc' 'abc'", "int8: 0 1 null", "uint32: 1 2 3"},
       "large_string: 'a' 'b' null"},
      {"substr", {"'abc'", "int64: 0 1"}, "large_string: 'abc' 'bc'"},
      {"substr", {"string: 'abc'", "0", "null"}, "large_string: null"},
      {"substr",
       {"string: 'abc'", "0.5"},
       "error: argument 2 of substr is float64, expected an int"},
      {"substr", {"int8: 1", "0"}, "error: argument 1 of substr is int8"},
  };
  FUNCTION_CHECK(tests);
}

TEST(different_values) {
  static const function_case tests[] = {
      {"count_distinct", {"int8: 1 2 1 null 5"}, "int64: 2 0 1 0", "3 1 1 null"},
      {"count_distinct", {"int64: 1 2 3 4 5 6 7 8 9 1 2 3 null null"}, "int64: 9", "14"},
      {"count_distinct", {"float32: 0.0 -0.0 nan nan 1.0"}, "int64: 3", "5"},
      {"count_distinct", {"float64: 0.0 -0.0 nan nan 1.0 1.0 1.0 1.0 1.0 2.0"}, "int64: 4", "10"},
      {"count_distinct", {"string: 'a' 'b' 'a' ''"}, "int64: 3", "4"},
      {"count_distinct",
       {"string_view: 'a' 'b' 'a' '' 'c' 'a long value, this' 'a' 'a' 'a' 'a'"},
       "int64: 5",
       "10"},
      {"count_distinct", {"bool: true true false null"}, "int64: 1 1", "2 2"},
      {"count_distinct", {"timestamp: 1 1 2"}, "int64: 2", "3"},
      {"count_distinct", {"null: null null"}, "int64: 0", "2"},
      {"count_distinct", {"int64:"}, "int64:", ""},
      {"count_distinct", {"float16: 1.0 1.0"}, "int64: 1", "2"},
      {"count_distinct", {"struct{}: {}"}, "error: argument 1 of count_distinct is struct", "1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(joined_texts) {
  static const function_case tests[] = {
      {"join",
       {"string: 'a' null 'b' 'c' null", "', '"},
       "large_string: 'a, b' '' 'c' '' null",
       "3 0 1 1 null"},
      {"join", {"string_view: 'a' 'b'", "''"}, "large_string: 'ab'", "2"},
      {"join", {"binary: 'a' 'b'", "'-'"}, "large_binary: 'a-b'", "2"},
      {"join", {"int8: 1", "','"}, "error: join of int8 and string", "1"},
      {"join",
       {"string: 'a'", "string: 'b'"},
       "error: argument 2 of join is string, expected a lit",
       "1"},
  };
  FUNCTION_CHECK(tests);
}

typedef struct split_case {
  function_case call; /* expected: the parts */
  int64_t offsets[8];
} split_case;

static void check_split(const split_case *test, bool is_shifted) {
  function_run run;
  function_start(&run, &test->call, is_shifted);
  CHECK_EQ(function_call(&run), CST_OK);
  function_check_result(&run, test->call.expected);
  for (int64_t i = 0; i <= run.count; i++) {
    CHECK_EQ(run.out_offsets[i], test->offsets[i]);
  }
  function_stop(&run);
}

TEST(split_texts) {
  static const split_case tests[] = {
      {{"split",
        {"string: 'a,b' null '' 'c' ',d,'", "','"},
        "large_string: 'a' 'b' '' 'c' '' 'd' ''"},
       {0, 2, 2, 3, 4, 7}},
      {{"split", {"string: 'a--b-' 'x'", "string: '--' '-'"}, "large_string: 'a' 'b-' 'x'"},
       {0, 2, 3}},
      {{"split", {"binary: 'a b'", "' '"}, "large_binary: 'a' 'b'"}, {0, 2}},
      {{"split", {"string:", "' '"}, "large_string:"}, {0}},
      {{"split", {"string: 'a' 'b'", "string: null ','"}, "large_string: 'b'"}, {0, 0, 1}},
  };
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    check_split(&tests[i], false);
    check_split(&tests[i], true);
  }
  static const function_case failing[] = {
      {"split", {"string: 'a'", "''"}, "error: split: the separator is empty"},
      {"split", {"int8: 1", "','"}, "error: split of int8 and string"},
      {"split", {"null: null", "null"}, "error: argument 1 of split is null, expected text"},
  };
  FUNCTION_CHECK(failing);
}

TEST(split_without_memory) {
  static const function_case test = {"split", {"string: 'a,b' null 'a, long, text'", "','"}, ""};
  function_run run;
  function_start(&run, &test, false);
  FOR_EACH_ALLOCATION_FAILURE(function_call_again, &run, CST_NO_MEMORY);
  function_stop(&run);
}

TEST(results_have_a_limit) {
  struct ArrowArray out;
  cst__text_result texts;
  uint8_t *to;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__result_new((cst__value_type){"U"}, 1, NULL, &out, &error), CST_OK);
  CHECK_EQ(cst__text_result_begin(&texts, &out, 1, NULL, &error), CST_OK);
  CHECK_EQ(cst__text_result_room(&texts, CST__MAX_TEXT + 1, &to, &error), CST_LIMIT);
  CHECK_EQ(cst__text_result_room(&texts, SIZE_MAX, &to, &error), CST_LIMIT);
  CHECK_CONTAINS(error.message, "more than 4294967296 bytes of text");
  CHECK_EQ(cst__text_result_end(&texts, CST_LIMIT), CST_LIMIT);
  out.release(&out);
}
