/* Expressions of queries: what binds how, what is refused, and how each is spelled. */
#include "query_support.h"

typedef struct reading {
  const char *text;
  const char *tree;
  const char *spelling; /* NULL: as the text */
} reading;

static void check_readings(const reading *readings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char text[400], tree[400], spelling[400];
    const char *spelled = readings[i].spelling != NULL ? readings[i].spelling : readings[i].text;
    snprintf(text, sizeof text, "let x = %s", readings[i].text);
    snprintf(tree, sizeof tree, "let x %s\n", readings[i].tree);
    snprintf(spelling, sizeof spelling, "let x = %s\n", spelled);
    check_query(text, tree, spelling);
  }
}

#define CHECK_READINGS(readings) check_readings(readings, sizeof readings / sizeof *readings)

TEST(operators_bind_as_they_do_elsewhere) {
  static const reading readings[] = {
      {"a or b and not c == d + e * -f", "(or a (and b (not (eq c (add d (mul e (neg f)))))))",
       NULL},
      {"a or b or c", "(or (or a b) c)", NULL},
      {"a or (b or c)", "(or a (or b c))", NULL},
      {"(a or b) and c", "(and (or a b) c)", NULL},
      {"a and (b and c)", "(and a (and b c))", NULL},
      {"not not a", "(not (not a))", NULL},
      {"not (a and b)", "(not (and a b))", NULL},
      {"(not a) == b", "(eq (not a) b)", NULL},
      {"not a == b", "(not (eq a b))", NULL},
      {"a + b - c", "(sub (add a b) c)", NULL},
      {"a - (b + c)", "(sub a (add b c))", NULL},
      {"a - (b - c)", "(sub a (sub b c))", NULL},
      {"a * b / c // d % e", "(mod (floordiv (div (mul a b) c) d) e)", NULL},
      {"a * (b * c)", "(mul a (mul b c))", NULL},
      {"(a + b) * c", "(mul (add a b) c)", NULL},
      {"((a)) + (b * c)", "(add a (mul b c))", "a + b * c"},
      {"a*-b", "(mul a (neg b))", "a * -b"},
      {"--a", "(neg (neg a))", NULL},
      {"-(a + b)", "(neg (add a b))", NULL},
      {"-a.b[0]", "(neg (at (step a b) 0))", NULL},
      {"(-a).b", "(step (neg a) b)", NULL},
      {"a != b", "(ne a b)", NULL},
      {"a < b", "(lt a b)", NULL},
      {"a <= b", "(le a b)", NULL},
      {"a > b", "(gt a b)", NULL},
      {"a >= b", "(ge a b)", NULL},
      {"(a < b) == (c < d)", "(eq (lt a b) (lt c d))", NULL},
      {"a<b and b<c", "(and (lt a b) (lt b c))", "a < b and b < c"},
  };
  CHECK_READINGS(readings);
}

TEST(words_are_operators_too) {
  static const reading readings[] = {
      {"a in [1, 2]", "(in a (list 1 2))", NULL},
      {"a not in [1]", "(not (in a (list 1)))", NULL},
      {"not a in [1]", "(not (in a (list 1)))", "a not in [1]"},
      {"not a not in b", "(not (not (in a b)))", NULL},
      {"a in wanted and b", "(and (in a wanted) b)", NULL},
      {"a is null", "(is_null a)", NULL},
      {"a is not null", "(not (is_null a))", NULL},
      {"not a is null", "(not (is_null a))", "a is not null"},
      {"a + b is null", "(is_null (add a b))", NULL},
      {"(a is null) is null", "(is_null (is_null a))", NULL},
      {"(a or b) is null", "(is_null (or a b))", NULL},
      {"a in []", "(in a (list))", NULL},
  };
  CHECK_READINGS(readings);
}

TEST(operators_are_calls) {
  static const reading readings[] = {
      {"add(a, mul(b, 2))", "(add a (mul b 2))", "a + b * 2"},
      {"neg(a)", "(neg a)", "-a"},
      {"neg(1)", "-1", "-1"},
      {"neg(-1.5)", "1.5f", "1.5"},
      {"is_null(a)", "(is_null a)", "a is null"},
      {"not(is_null(a))", "(not (is_null a))", "a is not null"},
      {"eq(a where b, c)", "(eq (where a b) c)", "(a where b) == c"},
      {"add(a)", "(add a)", NULL},
      {"add(a, b, c)", "(add a b c)", NULL},
      {"add(a, b=c)", "(add a b=c)", NULL},
  };
  CHECK_READINGS(readings);
}

TEST(where_binds_loosest) {
  static const reading readings[] = {
      {"event where a or b", "(where event (or a b))", NULL},
      {"event where not a", "(where event (not a))", NULL},
      {"(event where a).price", "(step (where event a) price)", NULL},
      {"(event where a)[0]", "(at (where event a) 0)", NULL},
      {"(event where a) where b", "(where (where event a) b)", NULL},
      {"event where (a where b)", "(where event (where a b))", NULL},
      {"(a + b) where c", "(where (add a b) c)", NULL},
      {"(-1) where c", "(where -1 c)", NULL},
      {"a + (b where c)", "(add a (where b c))", NULL},
      {"f(a where b, k=c where d)", "(f (where a b) k=(where c d))", NULL},
      {"event where it.price > record.price",
       "(where event (gt (step <it> price) (step <record> "
       "price)))",
       NULL},
      {"{a: 1} where c", "(where (struct a=1) c)", NULL},
  };
  CHECK_READINGS(readings);
}

TEST(elements_keys_and_slices) {
  static const reading readings[] = {
      {"a[0]", "(at a 0)", NULL},
      {"a[-1].b", "(step (at a -1) b)", NULL},
      {"m[\"a]b\"]", "(at m 'a]b')", NULL},
      {"m[true][b\"x\"]", "(at (at m true) b'x')", NULL},
      {"a[1:2]", "(slice a 1 2 -)", NULL},
      {"a[:n]", "(slice a - n -)", NULL},
      {"a[n + 1:]", "(slice a (add n 1) - -)", NULL},
      {"a[:]", "(slice a - - -)", NULL},
      {"a[::]", "(slice a - - -)", "a[:]"},
      {"a[::-1]", "(slice a - - -1)", NULL},
      {"a[1::2]", "(slice a 1 - 2)", NULL},
      {"a[1:2:]", "(slice a 1 2 -)", "a[1:2]"},
      {"a[b where c:d]", "(slice a (where b c) d -)", NULL},
      {"f(x)[0].y", "(step (at (f x) 0) y)", NULL},
  };
  CHECK_READINGS(readings);
}

TEST(literals_have_one_spelling) {
  static const reading readings[] = {
      {"null", "null", NULL},
      {"true", "true", NULL},
      {"false", "false", NULL},
      {"0", "0", NULL},
      {"-0", "0", "0"},
      {"9223372036854775807", "9223372036854775807", NULL},
      {"-9223372036854775808", "-9223372036854775808", NULL},
      {"-(-9223372036854775808)", "(neg -9223372036854775808)", "--9223372036854775808"},
      {"- 1", "-1", "-1"},
      {"--1", "1", "1"},
      {"1.0", "1f", NULL},
      {"1.50", "1.5f", "1.5"},
      {"-0.0", "-0f", NULL},
      {"0.0", "0f", NULL},
      {"0e5", "0f", "0.0"},
      {"1e3", "1000f", "1000.0"},
      {"1E+3", "1000f", "1000.0"},
      {"12345678901234567.0", "12345678901234568f", "1.2345678901234568e+16"},
      {"1e15", "1000000000000000f", "1000000000000000.0"},
      {"1e16", "10000000000000000f", "1e+16"},
      {"0.00001", "1.0000000000000001e-05f", "1e-05"},
      {"0.000001", "9.9999999999999995e-07f", "1e-06"},
      {"1.7976931348623157e308", "1.7976931348623157e+308f", "1.7976931348623157e+308"},
      {"5e-324", "4.9406564584124654e-324f", NULL},
      {"1e-400", "0f", "0.0"},
      {"\"\"", "''", NULL},
      {"\"a\\n\\t\\\\\\\"\\x41\\u{e9}\\u{1F600}\"", "'a<0a><09>\\\"A<c3><a9><f0><9f><98><80>'",
       "\"a\\n\\t\\\\\\\"Aé😀\""},
      {"\"\\x00\\x1f\\x7f\"", "'<00><1f><7f>'", NULL},
      {"\"\\xc3\\xa9\"", "'<c3><a9>'", "\"é\""},
      {"b\"\\xffé\"", "b'<ff><c3><a9>'", "b\"\\xff\\xc3\\xa9\""},
      {"b\"\"", "b''", NULL},
      {"[1, -2, 1.5, \"a\", b\"a\", null, true, -0.5]", "(list 1 -2 1.5f 'a' b'a' null true -0.5f)",
       NULL},
      {"f([])", "(f (list))", NULL},
      {"f([longest, 2])", "(f (list longest 2))", NULL},
  };
  CHECK_READINGS(readings);
}

TEST(names_stand_in_backticks_where_they_have_to) {
  static const reading readings[] = {
      {"`a`", "a", "a"},
      {"`my field`.`in`", "(step my field in)", NULL},
      {"`a``b`", "a`b", NULL},
      {"`é`", "é", NULL},
      {"``", "", NULL},
      {"`a.b`", "a.b", NULL},
      {"`*`", "*", NULL},
      {"a.`**`", "(step a **)", NULL},
      {"let", "let", NULL},
      {"from.output + keep", "(add (step from output) keep)", NULL},
      {"depth.`as`.with", "(step (step depth as) with)", "depth.as.with"},
      {"b.c", "(step b c)", NULL},
      {"record.(shop.extra)", "(step <record> (shop.extra))", NULL},
      {"`(shop.extra)`", "(shop.extra)", NULL},
      {"a.(type.googleapis.com/shop.Event).id",
       "(step (step a (type.googleapis.com/shop.Event)) "
       "id)",
       NULL},
      {"a.`(no name)`", "(step a (no name))", NULL},
      {"a.`(b)`", "(step a (b))", "a.(b)"},
      {"f(`in`=1)", "(f in=1)", NULL},
      {"{`a b`: 1, c: 2}", "(struct a b=1 c=2)", NULL},
  };
  CHECK_READINGS(readings);
}

TEST(some_arguments_are_patterns_or_types) {
  static const reading readings[] = {
      {"cast(a, int64)", "(cast a <int64>)", NULL},
      {"cast(a, type=float32)", "(cast a type=<float32>)", NULL},
      {"only(event, query, result.*, **)", "(only event query (step result *) **)", NULL},
      {"only(event, `*a`, depth=3)", "(only event *a depth=3)", NULL},
      {"without(a, (shop.extra).b)", "(without a (step (shop.extra) b))", NULL},
      {"zip(a=x, b=y)", "(zip a=x b=y)", NULL},
      {"dense(x, shape=[1, 2], default=0)", "(dense x shape=(list 1 2) default=0)", NULL},
      {"ragged(x, row_splits=int32)", "(ragged x row_splits=int32)", NULL},
      {"record_index()", "(record_index)", NULL},
      {"if(a, b, c)", "(if a b c)", NULL},
      {"sum(event.price, per=record)", "(sum (step event price) per=<record>)", NULL},
  };
  CHECK_READINGS(readings);
}

TEST(what_is_no_expression_is_refused) {
  static const refusal refusals[] = {
      {"let x = ", 1, 9, "expected a value, found the end of the text", ""},
      {"let x = )", 1, 9, "expected a value, found )", ""},
      {"let x = a +\n  * b", 2, 3, "expected a value, found *", ""},
      {"let x = (a", 1, 11, "expected ), found the end of the text", ""},
      {"let x = (a]", 1, 11, "expected ), found ]", ""},
      {"let x = a < b < c", 1, 15, "comparisons do not chain",
       "join comparisons by 'and', or use parentheses"},
      {"let x = a in [1] is null", 1, 18, "comparisons do not chain",
       "join comparisons by 'and', or use parentheses"},
      {"let x = a == not b", 1, 14, "expected a value, found not", "put 'not ...' in parentheses"},
      {"let x = a is 3", 1, 14, "expected null, found 3", ""},
      {"let x = a not b", 1, 15, "expected in, found b", ""},
      {"let x = a + b where c", 1, 15, "'where' follows an expression of operators",
       "put what comes before it in parentheses"},
      {"let x = -1 where c", 1, 12, "'where' follows an expression of operators",
       "put what comes before it in parentheses"},
      {"let x = a where b where c", 1, 19, "'where' follows another 'where'",
       "join conditions by 'and', or use parentheses"},
      {"let x = a[]", 1, 11, "expected a value, found ]", ""},
      {"let x = a[1:2:3:4]", 1, 16, "expected ], found :", ""},
      {"let x = a[1, 2]", 1, 12, "expected ], found ,", ""},
      {"let x = a.", 1, 11, "expected a field, found the end of the text", ""},
      {"let x = a.in", 1, 11, "expected a field, found in",
       "the word is reserved; write a field of that name in backticks"},
      {"let x = a.1", 1, 11, "expected a field, found 1", ""},
      {"let x = a.*", 1, 11, "expected a field, found *", ""},
      {"let x = a.(b", 1, 11, "expected a full name in parentheses",
       "write the full name of an extension, or of the message that an Any holds: (shop.Event)"},
      {"let x = a.( b )", 1, 11, "expected a full name in parentheses",
       "write the full name of an extension, or of the message that an Any holds: (shop.Event)"},
      {"let x = 1.a", 1, 10, "a literal has no fields and no elements", ""},
      {"let x = [1][0]", 1, 12, "a literal has no fields and no elements", ""},
      {"let x = (\"a\").b", 1, 14, "a literal has no fields and no elements", ""},
      {"let x = where", 1, 9, "expected a value, found where",
       "the word is reserved; write a field of that name in backticks"},
      {"let x = f(a b)", 1, 13, "expected ), found b", ""},
      {"let x = f(a=1, b)", 1, 16, "an argument without a name comes after one with a name", ""},
      {"let x = f(a=1, a=2)", 1, 19, "duplicate name a", ""},
      {"let x = {a: 1, a: 2}", 1, 20, "duplicate name a", ""},
      {"let x = {}", 1, 10, "expected the name of a field, found }", ""},
      {"let x = {a = 1}", 1, 12, "expected :, found =", "equality is =="},
      {"let x = f(a,)", 1, 13, "expected a value, found )", ""},
      {"let x = [1,]", 1, 12, "expected a literal or the name of a parameter, found ]", ""},
      {"let x = [a.b]", 1, 11, "expected ], found .", ""},
      {"let x = [-a]", 1, 11, "expected a number, found a", ""},
      {"let x = [1 + 2]", 1, 12, "expected ], found +", ""},
      {"let x = cast(a, float)", 1, 17, "expected a type, found float", "did you mean 'float32'?"},
      {"let x = cast(a, [int64])", 1, 17, "expected the name of a type, found [", ""},
      {"let x = only(a, b.**.c)", 1, 21, "nothing may follow ** in a pattern", ""},
      {"let x = `f`(a)", 1, 12, "expected a statement, found (", ""},
      {"let x = a && b", 1, 11, "expected a statement, found &", "write 'and'"},
      {"let x = a || b", 1, 11, "expected a statement, found |", "write 'or'"},
      {"let x = !a", 1, 9, "expected a value, found !", "write 'not', or != for not equal"},
      {"let x = a = b", 1, 11, "expected a statement, found =", "equality is =="},
      {"let x = a ** b", 1, 11, "expected a statement, found **", "write pow(x, y)"},
      {"let x = 'a'", 1, 9, "expected a value, found '", "write text in double quotes"},
      {"let x = é", 1, 9, "expected a value, found é",
       "write names with other characters in backticks: `name`"},
      {"let x = a ? b : c", 1, 11, "expected a statement, found ?",
       "write if(condition, this, that)"},
      {"let x = 9223372036854775808", 1, 9, "an integer has more than 64 bits (with its sign)", ""},
  };
  CHECK_REFUSALS(refusals);
}

static int try_deep(const char *open, const char *inner, const char *close, int depth,
                    const char *message) {
  static char text[40000];
  cst_error error = CST_ERROR_INIT;
  cst_query *query;
  size_t used = (size_t)snprintf(text, sizeof text, "let x = ");
  for (int i = 0; i < depth; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%s", open);
  }
  used += (size_t)snprintf(text + used, sizeof text - used, "%s", inner);
  for (int i = 0; i < depth; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%s", close);
  }
  CHECK(used < sizeof text);
  cst_status status = cst_query_from_text(text, used, NULL, &query, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, message);
  cst_query_free(query);
  return (int)status;
}

TEST(depth_is_limited) {
  static const char *const parts[][3] = {
      {"(", "a", ")"},    {"-", "a", ""},          {"f(", "a", ")"},   {"a[", "0", "]"},
      {"{a: ", "a", "}"}, {"a + (", "a", ")"},     {"f(k=", "a", ")"}, {"a[:", "0", "]"},
      {"not ", "a", ""},  {"(a where ", "a", ")"},
  };
  static const char *const chains[] = {".a", "[0]", " + a", " or a", " and a", " * a", "[:]"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    CHECK_EQ(try_deep(parts[i][0], parts[i][1], parts[i][2], 100, ""), CST_OK);
    CHECK_EQ(try_deep(parts[i][0], parts[i][1], parts[i][2], 3000, "more than 750 nested levels"),
             CST_LIMIT);
  }
  CHECK_EQ(try_deep("add(a, ", "a", ")", 249, ""), CST_OK);
  CHECK_EQ(try_deep("add(a, ", "a", ")", 250, "an expression has more than 250 levels"), CST_LIMIT);
  CHECK_EQ(try_deep("a + (", "a", ")", 249, ""), CST_OK); /* which is the spelling of it */
  char lists[102];
  memset(lists, '[', 101);
  lists[101] = '\0';
  CHECK_EQ(try_deep("cast(a, ", lists, "", 1, "a type has more than 100 levels"), CST_LIMIT);
  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
    CHECK_EQ(try_deep("", "a", chains[i], 249, ""), CST_OK);
    CHECK_EQ(try_deep("", "a", chains[i], 5000, "an expression has more than 250 levels"),
             CST_LIMIT);
  }
}

TEST(the_names_of_a_struct_are_limited) {
  static char text[20000];
  cst_error error = CST_ERROR_INIT;
  cst_query *query;
  size_t used = (size_t)snprintf(text, sizeof text, "let x = {");
  for (int i = 0; i < 1001; i++) {
    used += (size_t)snprintf(text + used, sizeof text - used, "%sa%d: a", i > 0 ? ", " : "", i);
  }
  used += (size_t)snprintf(text + used, sizeof text - used, "}");
  CHECK_EQ(cst_query_from_text(text, used, NULL, &query, &error), CST_LIMIT);
  CHECK_STR(error.message, "more than 1000 names before this");
}
