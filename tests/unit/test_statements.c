/* Statements of queries, from text and from parts: what is read, what is refused, and where. */
#include "query_support.h"

TEST(a_query_is_read) {
  check_query(
      "# what the ranking model eats\n"
      "from message shop.Session with enums = number, defaults=true\n"
      "param longest : int64 = 512   # steps\n"
      "let queries = event.query let event.session_id=id\n\n"
      "let clicks = event where clicked and price>0\r\n"
      "let num_clicks = size(clicks)\n"
      "output label = dense( num_clicks , default = 0 )\toutput tokens = ragged(queries[:longest])",
      "from 'message' 'shop.Session' enums='number' defaults='true'\n"
      "param 'longest' int64|l 512\n"
      "let queries (step event query)\n"
      "let (step event session_id) id\n"
      "let clicks (where event (and clicked (gt price 0)))\n"
      "let num_clicks (size clicks)\n"
      "output 'label' (dense num_clicks default=0)\n"
      "output 'tokens' (ragged (slice queries - longest -))\n",
      "from message shop.Session with enums = number, defaults = true\n"
      "param longest: int64 = 512\n"
      "let queries = event.query\n"
      "let event.session_id = id\n"
      "let clicks = event where clicked and price > 0\n"
      "let num_clicks = size(clicks)\n"
      "output label = dense(num_clicks, default=0)\n"
      "output tokens = ragged(queries[:longest])\n");
}

TEST(nothing_is_a_query) {
  check_query("", "", "");
  check_query(" \n\t\r\n# a comment", "", "");
  check_query("\xef\xbb\xbflet a = b", "let a b\n", "let a = b\n");
}

TEST(from) {
  check_query("from message", "from 'message'\n", "from message\n");
  check_query("from message let a = b", "from 'message'\nlet a b\n", "from message\nlet a = b\n");
  check_query("from message with form = json", "from 'message' form='json'\n",
              "from message with form = json\n");
  check_query("from message `with`.`in`", "from 'message' 'with.in'\n",
              "from message `with`.`in`\n");
  check_query("from message `output`.Foo.`let`", "from 'message' 'output.Foo.let'\n",
              "from message `output`.Foo.let\n");
  check_query("from message a.b with recursion = -1, time_zone = \"Europe/Berlin\", x = \"-1\", "
              "y = \"007\", z = \"a\", `a b` = 1.5",
              "from 'message' 'a.b' recursion='-1' time_zone='Europe/Berlin' x='-1' y='007' z='a' "
              "a b='1.5'\n",
              "from message a.b with recursion = -1, time_zone = \"Europe/Berlin\", x = -1, "
              "y = \"007\", z = a, `a b` = \"1.5\"\n");
  check_query("from example", "from 'example'\n", "from example\n");
  check_query("from sequence_example", "from 'sequence_example'\n", "from sequence_example\n");
  check_query("from table", "from 'table'\n", "from table\n");
  check_query("from table[{id:int64,event:[{query:string,`a b`:{}}],at:\"tsu:UTC\"}]",
              "from 'table' |+L(|+s(id:int64|l event:|+L(|+s(query:string|U a b:|+s)) "
              "at:|tsu:UTC))\n",
              "from table [{id: int64, event: [{query: string, `a b`: {}}], at: \"tsu:UTC\"}]\n");
}

TEST(param) {
  check_query("param a: bool param b: [string] = [\"x\", \"y\"] param c: float32 = -1.5",
              "param 'a' bool|b\nparam 'b' |+L(string|U) (list 'x' 'y')\nparam 'c' float32|f "
              "-1.5f\n",
              "param a: bool\nparam b: [string] = [\"x\", \"y\"]\nparam c: float32 = -1.5\n");
  check_query("param `let it`: bytes = b\"a\" param d: int32 = null param e: float64",
              "param 'let it' bytes|Z b'a'\nparam 'd' int32|i null\nparam 'e' float64|g\n",
              "param `let it`: bytes = b\"a\"\nparam d: int32 = null\nparam e: float64\n");
}

TEST(let_rows_rename_output) {
  check_query("let a = b", "let a b\n", "let a = b\n");
  check_query("let (shop.extra).`b c` = d", "let (step (shop.extra) b c) d\n",
              "let (shop.extra).`b c` = d\n");
  check_query("let let = let let let = let", "let let let\nlet let let\n",
              "let let = let\nlet let = let\n");
  check_query("rows event.result", "rows (step event result)\n", "rows event.result\n");
  check_query("rename event.query as `the query`", "rename 'the query' (step event query)\n",
              "rename event.query as `the query`\n");
  check_query("rename as as as", "rename 'as' as\n", "rename as as as\n");
  check_query("output `a b` = c", "output 'a b' c\n", "output `a b` = c\n");
}

TEST(keep_and_drop) {
  check_query("keep **", "keep **\n", "keep **\n");
  check_query("keep id,event.*, event.result.**  depth 3",
              "keep id (step event *) (step (step "
              "event result) **) depth 3\n",
              "keep id, event.*, event.result.** depth 3\n");
  check_query("keep depth depth 1", "keep depth depth 1\n", "keep depth depth 1\n");
  check_query("keep (shop.extra).*", "keep (step (shop.extra) *)\n", "keep (shop.extra).*\n");
  check_query("drop a, b.c drop *", "drop a (step b c)\ndrop *\n", "drop a, b.c\ndrop *\n");
}

TEST(what_is_no_statement_is_refused) {
  static const char incomplete[] =
      "is the statement before it complete? the word that begins the next one was read as a name";
  static const char reserved[] = "the word is reserved; write a field of that name in backticks";
  const refusal refusals[] = {
      {"lte a = 3", 1, 1, "expected a statement, found lte", "did you mean 'let'?"},
      {"let a = 3\n\n  ouptut b = a", 3, 3, "expected a statement, found ouptut",
       "did you mean 'output'?"},
      {"summarise a", 1, 1, "expected a statement, found summarise", ""},
      {"let a = b;", 1, 10, "expected a statement, found ;",
       "a statement ends where the next one begins"},
      {"let a =\nlet b = c", 2, 5, "expected a statement, found b", incomplete},
      {"keep a,\nlet b = c", 2, 5, "expected a statement, found b", incomplete},
      {"let a", 1, 6, "expected =, found the end of the text", ""},
      {"let", 1, 4, "expected a field, found the end of the text", ""},
      {"let = 3", 1, 5, "expected a field, found =", "equality is =="},
      {"let a[0] = 3", 1, 6, "expected =, found [", ""},
      {"let a. = 3", 1, 8, "expected a field, found =", "equality is =="},
      {"let a.* = 3", 1, 7, "expected a field, found *", ""},
      {"let null = 3", 1, 5, "expected a field, found null", reserved},
      {"output a.b = 3", 1, 9, "expected =, found .", ""},
      {"output true = 3", 1, 8, "expected the name of an output, found true", reserved},
      {"rows", 1, 5, "expected a field, found the end of the text", ""},
      {"rows *", 1, 6, "expected a field, found *", ""},
      {"rename a to b", 1, 10, "expected as, found to", ""},
      {"rename a as b.c", 1, 14, "expected a statement, found .", ""},
      {"keep", 1, 5, "expected a field, * or **, found the end of the text", ""},
      {"keep *.a", 1, 7, "nothing may follow * in a pattern", ""},
      {"keep a*", 1, 7, "expected a statement, found *", ""},
      {"keep `*`", 1, 6, "a field whose name is * cannot be named in a pattern",
       "rename it in what makes the data"},
      {"keep a depth 0", 1, 14, "a depth is a number from 1 to 60", ""},
      {"keep a depth 61", 1, 14, "a depth is a number from 1 to 60", ""},
      {"keep a depth 1.5", 1, 14, "a depth is a number from 1 to 60", ""},
      {"keep a depth [1]", 1, 14, "a depth is a number from 1 to 60", ""},
      {"keep a depth b", 1, 14, "expected a literal, found b", ""},
      {"drop a depth 3", 1, 8, "expected a statement, found depth", ""},
      {"from", 1, 5,
       "expected message, example, sequence_example or table, found the end of the text", ""},
      {"from mesage a", 1, 6, "expected message, example, sequence_example or table, found mesage",
       "did you mean 'message'?"},
      {"from example schema", 1, 14, "expected a statement, found schema", ""},
      {"from message a.", 1, 16, "expected the full name of a message, found the end of the text",
       ""},
      {"from message a.`b c`", 1, 16, "expected the full name of a message, found `b c`", ""},
      {"from message .a", 1, 14, "expected a statement, found .", ""},
      {"from message a with", 1, 20, "expected an option, found the end of the text", ""},
      {"from message a with b", 1, 22, "expected =, found the end of the text", ""},
      {"from message a with b =", 1, 24,
       "expected a word, a number or a text, found the end of the text", ""},
      {"from message a with b = -c", 1, 26, "expected a number, found c", ""},
      {"from message a with b = \"\\x00\"", 1, 25, "an option contains a NUL byte", ""},
      {"from message a with b = 1, b = 2", 1, 28, "duplicate option", ""},
      {"from table [int64]", 1, 12, "a table is a list of structs", "write [{id: int64, ...}]"},
      {"from table {a: int64}", 1, 12, "expected a statement, found {", ""},
      {"from table [{a: itn64}]", 1, 17, "expected a type, found itn64", "did you mean 'int64'?"},
      {"from table [{a: \"+l\"}]", 1, 17, "expected the Arrow format of a type of values",
       "the C data interface of Arrow lists them: \"tsu:UTC\""},
      {"from table [{a: \"nothing\"}]", 1, 17, "expected the Arrow format of a type of values",
       "the C data interface of Arrow lists them: \"tsu:UTC\""},
      {"from table [{a: \"l\\x00\"}]", 1, 17, "expected the Arrow format of a type of values",
       "the C data interface of Arrow lists them: \"tsu:UTC\""},
      {"from table [{a: int64 b: int64}]", 1, 23, "expected }, found b", ""},
      {"from table [{a int64}]", 1, 16, "expected :, found int64", ""},
      {"from table [{a: int64}", 1, 23, "expected ], found the end of the text", ""},
      {"from table [{a: 3}]", 1, 17, "expected a type, found 3", ""},
      {"let a = b from example", 1, 11, "'from' must be the first statement",
       "begin the query with 'from'"},
      {"from example\nfrom example", 2, 1, "duplicate 'from'", "begin the query with 'from'"},
      {"param a", 1, 8, "expected :, found the end of the text", ""},
      {"param a: int8", 1, 10, "a parameter cannot have this type",
       "bool, int32, int64, float32, float64, string, bytes, or a list of one"},
      {"param a: [[int64]]", 1, 10, "a parameter cannot have this type",
       "bool, int32, int64, float32, float64, string, bytes, or a list of one"},
      {"param a: {b: int64}", 1, 10, "a parameter cannot have this type",
       "bool, int32, int64, float32, float64, string, bytes, or a list of one"},
      {"param a: int64 = b", 1, 18, "expected a literal, found b", ""},
      {"param a: [int64] = [1, b]", 1, 24, "expected a literal, found b", ""},
      {"param a: int64 = 1 + 2", 1, 20, "expected a statement, found +", ""},
      {"let a = \"b\nlet c = d", 1, 9, "a text has no closing quote",
       "close the text on the line on which it begins; write \\n for the end of a line"},
      {"let `a\n` = 3", 1, 5, "a name has no closing backtick",
       "close the name on the line on which it begins; a backtick in a name is doubled"},
      {"let a = b\"\\", 1, 9, "a text has no closing quote",
       "close the text on the line on which it begins; write \\n for the end of a line"},
      {"let a = \"abc\\q\"", 1, 13, "a text has an invalid escape",
       "escapes are \\n \\t \\\\ \\\" \\xNN \\u{N}; a backslash is \\\\"},
      {"let a = b\"\\x1\"", 1, 11, "a text has an invalid escape",
       "escapes are \\n \\t \\\\ \\\" \\xNN \\u{N}; a backslash is \\\\"},
      {"let a = \"\\u{d800}\"", 1, 10, "a text has an invalid escape",
       "escapes are \\n \\t \\\\ \\\" \\xNN \\u{N}; a backslash is \\\\"},
      {"let a = \"\\u{110000}\"", 1, 10, "a text has an invalid escape",
       "escapes are \\n \\t \\\\ \\\" \\xNN \\u{N}; a backslash is \\\\"},
      {"let a = \"\\u{}\"", 1, 10, "a text has an invalid escape",
       "escapes are \\n \\t \\\\ \\\" \\xNN \\u{N}; a backslash is \\\\"},
      {"let a = \"\\xff\"", 1, 9, "a text is not UTF-8", "write bytes as b\"...\""},
      {"let a = 12ab", 1, 9, "a number ends in letters", ""},
      {"let a = 0x10", 1, 9, "a number ends in letters", ""},
      {"let a = 1e", 1, 9, "a number ends in letters", ""},
      {"let a = 007", 1, 9, "a number begins with 0", "numbers are decimal"},
      {"let a = .5", 1, 9, "expected a value, found .", ""},
      {"let a = 1e999", 1, 9, "a number is too large for float64", ""},
      {"let a = b\x01", 1, 10, "expected a statement, found \\x01", ""},
      {"CSTVIEW\n\x01\x02\xff", 1, 1, "a saved view, expected the text of a query",
       "open it as a view: --view, cst.View, cst_view_open"},
      {"let a = b\n\nlet c = \"\xff\"", 3, 10, "the text of a query is not UTF-8",
       "save the query as UTF-8"},
  };
  CHECK_REFUSALS(refusals);
}

TEST(a_byte_of_nothing_is_refused) {
  cst_error error = CST_ERROR_INIT;
  cst_query *query;
  CHECK_EQ(cst_query_from_text("let a = b\0", 10, NULL, &query, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "expected a statement, found \\x00");
  CHECK_EQ(cst_query_from_text("let `a\0b` = c", 13, NULL, &query, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "a name contains a NUL byte");
}

TEST(sizes_are_limited) {
  enum { BIG = CST__QUERY_MAX_SIZE };
  static char text[BIG + 1];
  cst_error error = CST_ERROR_INIT;
  cst_query *query;
  memset(text, ' ', sizeof text);
  CHECK_EQ(cst_query_from_text(text, BIG, NULL, &query, &error), CST_OK);
  CHECK_EQ(cst_query_add(query, " ", 1, &error), CST_LIMIT);
  CHECK_EQ(cst_query_let(query, "a", "b", &error), CST_LIMIT);
  cst_query_free(query);
  CHECK_EQ(cst_query_from_text(text, BIG + 1, NULL, &query, &error), CST_LIMIT);
  memset(text, 'a', 1200);
  memcpy(text, "let ", 4);
  CHECK_EQ(cst_query_from_text(text, 1200, NULL, &query, &error), CST_LIMIT);
  CHECK_STR(error.message, "a name has more than 1000 bytes");
  CHECK_EQ(error.column, 5);
  for (size_t i = 0; i <= CST__QUERY_MAX_STATEMENTS; i++) {
    memcpy(text + 7 * i, "rows a ", 7);
  }
  size_t size = 7 * (size_t)CST__QUERY_MAX_STATEMENTS;
  CHECK_EQ(cst_query_from_text(text, size, NULL, &query, &error), CST_OK);
  CHECK_EQ(query->num_statements, CST__QUERY_MAX_STATEMENTS);
  CHECK_EQ(cst_query_rows(query, "a", &error), CST_LIMIT);
  cst_query_free(query);
  CHECK_EQ(cst_query_from_text(text, size + 7, NULL, &query, &error), CST_LIMIT);
}

static int read_all_statements(void *context) {
  static const char text[] =
      "from message shop.Session with form = \"json\", x = 1 param a: [int64] = [1, 2] "
      "let b.(c) = cast(-d + 1.5, int64) where e in [a, \"x\"] and not f[1:2] is null "
      "let g = {h: only(i, j.*), `k l`: b\"m\"} rows n keep o, p.** depth 2 drop q rename r as s "
      "output t = dense(u[0], shape=[1], default=null)";
  cst_query *query;
  cst_status status = cst_query_from_text(text, sizeof text - 1, NULL, &query, context);
  cst_query_free(query);
  return (int)status;
}

static int read_types(void *context) {
  static const char text[] = "from table [{a: int64, b: [{c: \"tsu:UTC\", d: [string]}]}]";
  cst_query *query;
  cst_status status = cst_query_from_text(text, sizeof text - 1, NULL, &query, context);
  cst_query_free(query);
  return (int)status;
}

TEST(allocation_failures_of_statements) {
  cst_error error = CST_ERROR_INIT;
  FOR_EACH_ALLOCATION_FAILURE(read_all_statements, &error, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(read_types, &error, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(read_types, NULL, CST_NO_MEMORY);
}
