/* Queries as handles: built of parts, added to, copied; functions of the caller's; files. */
#include <stdlib.h>

#include "query_support.h"

static void check_text(const cst_query *query, const char *expected) {
  char *text;
  size_t size;
  CHECK_EQ(cst_query_to_text(query, &text, &size, NULL), CST_OK);
  CHECK_STR(text, expected);
  CHECK_EQ(size, strlen(expected));
  cst_free(text);
}

static cst_query *new_query(void) {
  cst_query *query = NULL;
  CHECK_EQ(cst_query_new(NULL, &query, NULL), CST_OK);
  return query;
}

/* The same statements, part by part. */
static cst_status build(cst_query *query, cst_error *error) {
  static const char *const kept[] = {"id", "event . *", "(shop.extra).**"};
  static const char *const dropped[] = {"a", "b.`c`"};
  CST__TRY(cst_query_from_message(query, "shop.Session", error));
  CST__TRY(cst_query_param(query, "longest", "int64", "512", error));
  CST__TRY(cst_query_param(query, "wanted", "[string]", NULL, error));
  CST__TRY(cst_query_let(query, "event.`log price`", "log1p( event.price )", error));
  CST__TRY(cst_query_rows(query, "event", error));
  CST__TRY(cst_query_keep(query, kept, 3, 2, error));
  CST__TRY(cst_query_drop(query, dropped, 2, error));
  CST__TRY(cst_query_rename(query, "x.y", "the z", error));
  return cst_query_output(query, "out put", "dense(a, default=-1)", error);
}

static const char built_text[] = "from message shop.Session\n"
                                 "param longest: int64 = 512\n"
                                 "param wanted: [string]\n"
                                 "let event.`log price` = log1p(event.price)\n"
                                 "rows event\n"
                                 "keep id, event.*, (shop.extra).** depth 2\n"
                                 "drop a, b.c\n"
                                 "rename x.y as `the z`\n"
                                 "output `out put` = dense(a, default=-1)\n";

TEST(parts_and_text_are_the_same_query) {
  cst_query *query = new_query();
  cst_query *parsed = parse_query(built_text);
  CHECK_EQ(build(query, NULL), CST_OK);
  check_text(query, built_text);
  cst__text of_parts = dump_query(query);
  cst__text of_text = dump_query(parsed);
  CHECK_STR(of_parts.data, of_text.data);
  cst__text_free(&of_parts);
  cst__text_free(&of_text);
  cst_query_free(query);
  cst_query_free(parsed);
}

TEST(places_are_those_of_the_text) {
  cst_query *query = parse_query("let a = b\n  + c.d\noutput e = f");
  CHECK_EQ(query->statements[0].at.line, 1);
  CHECK_EQ(query->statements[0].at.column, 1);
  CHECK_EQ(query->statements[0].value->at.line, 2); /* + */
  CHECK_EQ(query->statements[0].value->at.column, 3);
  CHECK_EQ(query->statements[0].value->args[1]->at.column, 7); /* d */
  CHECK_EQ(query->statements[1].at.line, 3);
  CHECK_EQ(cst_query_let(query, "g", "h + i", NULL), CST_OK);
  CHECK_EQ(query->statements[2].at.line, 0);
  CHECK_EQ(query->statements[2].value->at.line, 0);
  cst_query_free(query);
}

/* What is said of a part that is wrong; the query stays as it is. */
TEST(wrong_parts_are_refused) {
  cst_query *query = parse_query("let a = b");
  static const char *const no_pattern[] = {"a", "b c"};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_query_let(query, "c", "d +", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "expected a value, found the end of the text");
  CHECK_EQ(error.line, 1);
  CHECK_EQ(error.column, 4);
  CHECK_EQ(cst_query_let(query, "c", "d output e = f", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "expected nothing more, found output");
  CHECK_EQ(cst_query_let(query, "c d", "e", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_rows(query, "", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_from_message(query, "shop.Session", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "'from' must be the first statement");
  CHECK_EQ(error.line, 0);
  CHECK_EQ(cst_query_param(query, "p", "int", "1", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.hint, "did you mean 'int8'?");
  CHECK_EQ(cst_query_param(query, "p", "uint8", "1", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_param(query, "p", "int64", "a", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_param(query, "p\nq", "int64", "1", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_output(query, "\xff", "a", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "a name is UTF-8 on one line, of at most 1000 bytes");
  CHECK_EQ(cst_query_keep(query, no_pattern, 2, 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_keep(query, no_pattern, 0, 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_keep(query, no_pattern, 1, 101, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_keep(query, no_pattern, 1, -1, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_add(query, "let c = d let", 13, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_add(query, "from example", 12, &error), CST_INVALID_ARGUMENT);
  check_text(query, "let a = b\n");
  cst_query_free(query);
  query = new_query();
  CHECK_EQ(cst_query_from_message(query, "shop..Session", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_from_message(query, "", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_from_message(query, NULL, &error), CST_OK);
  CHECK_EQ(cst_query_from_message(query, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "duplicate 'from'");
  check_text(query, "from message\n");
  cst_query_free(query);
}

TEST(copies_go_their_own_way) {
  cst_query *query = parse_query("let a = b");
  cst_query *copy;
  CHECK_EQ(cst_query_copy(query, &copy, NULL), CST_OK);
  CHECK_EQ(cst_query_rows(copy, "c", NULL), CST_OK);
  CHECK_EQ(cst_query_add(query, "rows d rows e", 13, NULL), CST_OK);
  check_text(query, "let a = b\nrows d\nrows e\n");
  cst_query_free(query);
  check_text(copy, "let a = b\nrows c\n");
  cst_query_free(copy);
}

TEST(arguments_are_checked) {
  cst_query *query = new_query();
  cst_query *none = query;
  cst_error error = CST_ERROR_INIT;
  const char *patterns[] = {NULL};
  char *text;
  size_t size;
  CHECK_EQ(cst_query_new(NULL, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_from_text(NULL, 1, NULL, &none, &error), CST_INVALID_ARGUMENT);
  CHECK(none == NULL);
  CHECK_EQ(cst_query_from_text("", 0, NULL, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_open(NULL, NULL, &none, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_copy(NULL, &none, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_copy(query, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_add(NULL, "", 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_add(query, NULL, 1, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_add(query, NULL, 0, &error), CST_OK);
  CHECK_EQ(cst_query_from_message(NULL, "a", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_param(query, NULL, "int64", "1", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_param(query, "a", NULL, "1", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_let(query, NULL, "a", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_let(query, "a", NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_rows(query, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_keep(query, NULL, 1, 0, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_drop(query, patterns, 1, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_rename(query, "a", NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_output(query, NULL, "a", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_add_function(query, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_to_text(NULL, &text, &size, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_query_to_text(query, NULL, &size, &error), CST_INVALID_ARGUMENT);
  cst_query_free(query);
  cst_query_free(NULL);
}

/* ---- functions of the caller's ---- */

static cst_status never_called(void *ctx, const struct ArrowSchema *schema,
                               const struct ArrowArray *args, struct ArrowArray *out,
                               cst_error *error) {
  (void)ctx, (void)schema, (void)args, (void)out, (void)error;
  return CST_UNSUPPORTED;
}

static void count_closed(void *ctx) { ++*(int *)ctx; }

static cst_query_function function_of(const char *name, const char *type, int *num_closed) {
  return (cst_query_function){name, type, 1, never_called, num_closed, count_closed};
}

TEST(functions_are_closed_with_the_last_query_that_has_them) {
  int num_closed = 0;
  cst_query *query = new_query();
  cst_query *copy;
  cst_query_function f = function_of("f", "int64", &num_closed);
  cst_query_function g = function_of("g", "string", &num_closed);
  CHECK_EQ(cst_query_add_function(query, &f, NULL), CST_OK);
  CHECK_EQ(cst_query_copy(query, &copy, NULL), CST_OK);
  CHECK_EQ(cst_query_add_function(copy, &g, NULL), CST_OK);
  CHECK_STR(cst__query_find_function(copy, "f")->format, "l");
  CHECK_STR(cst__query_find_function(copy, "g")->function.type, "string");
  CHECK(cst__query_find_function(query, "g") == NULL);
  cst_query_free(copy);
  CHECK_EQ(num_closed, 1);
  cst_query_free(query);
  CHECK_EQ(num_closed, 2);
}

TEST(wrong_functions_are_refused_and_closed) {
  int num_closed = 0;
  cst_query *query = new_query();
  cst_error error = CST_ERROR_INIT;
  cst_query_function good = function_of("f", "int64", &num_closed);
  cst_query_function wrong[] = {
      function_of("f", "int64", &num_closed),   function_of("a b", "int64", &num_closed),
      function_of("", "int64", &num_closed),    function_of("not", "int64", &num_closed),
      function_of("g", "[int64]", &num_closed), function_of(NULL, "int64", &num_closed),
      function_of("g", NULL, &num_closed),      function_of("g", "int64", &num_closed)};
  size_t count = sizeof wrong / sizeof *wrong;
  wrong[count - 1].call = NULL;
  CHECK_EQ(cst_query_add_function(query, &good, NULL), CST_OK);
  for (size_t i = 0; i < count; i++) {
    CHECK_EQ(cst_query_add_function(query, &wrong[i], &error), CST_INVALID_ARGUMENT);
    CHECK_EQ(num_closed, i + 1);
  }
  cst_query_free(query);
  CHECK_EQ(num_closed, count + 1);
}

/* ---- files ---- */

TEST(files_are_read) {
  const char *path = harness_temp_path("a.cstq");
  cst_query *query;
  cst_error error = CST_ERROR_INIT;
  harness_write_file(path, "let a = b # c\n", 14);
  CHECK_EQ(cst_query_open(path, NULL, &query, NULL), CST_OK);
  check_text(query, "let a = b\n");
  cst_query_free(query);
  harness_write_file(path, "let a = b\nlet c d", 17);
  CHECK_EQ(cst_query_open(path, NULL, &query, &error), CST_INVALID_ARGUMENT);
  CHECK(query == NULL);
  CHECK_STR(error.file, path);
  CHECK_EQ(error.line, 2);
  CHECK_EQ(error.column, 7);
  CHECK_EQ(cst_query_open("/no/such/file", NULL, &query, &error), CST_NOT_FOUND);
}

TEST(large_files_are_not_read_to_their_end) {
  const char *path = harness_temp_path("large.cstq");
  size_t size = 3 * (size_t)CST__QUERY_MAX_SIZE;
  char *spaces = malloc(size);
  cst_query *query;
  cst_error error = CST_ERROR_INIT;
  CHECK(spaces != NULL);
  if (spaces == NULL) {
    return;
  }
  memset(spaces, ' ', size);
  harness_write_file(path, spaces, size);
  CHECK_EQ(cst_query_open(path, NULL, &query, &error), CST_LIMIT);
  CHECK_STR(error.file, path);
  free(spaces);
}

/* ---- allocation failures ---- */

static int build_and_copy(void *context) {
  cst_query *query;
  cst_query *copy = NULL;
  char *text;
  size_t size;
  cst_status status = cst_query_new(NULL, &query, context);
  if (status != CST_OK) {
    return (int)status;
  }
  status = build(query, context);
  if (status == CST_OK) {
    status = cst_query_copy(query, &copy, context);
  }
  if (status == CST_OK) {
    status = cst_query_to_text(copy, &text, &size, context);
  }
  if (status == CST_OK) {
    cst_free(text);
  }
  cst_query_free(query);
  cst_query_free(copy);
  return (int)status;
}

static int add_functions(void *context) {
  int num_closed = 0;
  cst_query *query;
  cst_query_function f = function_of("f", "int64", &num_closed);
  cst_query_function g = function_of("g", "int64", &num_closed);
  int expected = 0;
  cst_status status = cst_query_new(NULL, &query, context);
  if (status == CST_OK) {
    expected++;
    status = cst_query_add_function(query, &f, context);
    if (status == CST_OK) {
      expected++;
      status = cst_query_add_function(query, &g, context);
    }
    cst_query_free(query);
  }
  CHECK_EQ(num_closed, expected);
  return (int)status;
}

static int read_file_again(void *context) {
  cst_query *query;
  cst_status status = cst_query_open(harness_temp_path("b.cstq"), NULL, &query, context);
  cst_query_free(query);
  return (int)status;
}

TEST(allocation_failures_of_queries) {
  cst_error error = CST_ERROR_INIT;
  harness_write_file(harness_temp_path("b.cstq"), "let a = b", 9);
  FOR_EACH_ALLOCATION_FAILURE(build_and_copy, &error, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(add_functions, &error, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(read_file_again, &error, CST_NO_MEMORY);
}
