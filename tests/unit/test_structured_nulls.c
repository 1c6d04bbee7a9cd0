/* Nested tensors: nulls, and tensors of zeros and ones. */
#include "structured_support.h"

static const char sessions[] = "struct{id: int32, event: list<struct{query: string}>}";
static const char session_rows[] = "{1, [{'a'}, {null}]} {null, []} {3, null} null {4, [null]}";

static cst_structured *tested(cst_structured *tensor, const char *a, const char *b,
                              cst_null_test test) {
  const char *const steps[] = {a, b};
  const cst_path path = {steps, b != NULL ? 2 : a != NULL ? 1 : 0};
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_test_null(tensor, &path, test, &out, NULL), CST_OK);
  cst_structured_release(tensor);
  return out;
}

TEST(testing) {
#define SESSIONS structured_sample(sessions, session_rows)
  structured_check(tested(SESSIONS, NULL, NULL, CST_IS_NULL), false, "bool", "0 0 0 true 0");
  structured_check(tested(SESSIONS, "id", NULL, CST_IS_NULL), false, "bool", "0 true 0 true 0");
  structured_check(tested(SESSIONS, "event", NULL, CST_IS_NULL), false, "bool", "0 0 true true 0");
  structured_check(tested(SESSIONS, "event", NULL, CST_HAS), false, "bool", "true 0 0 0 true");
  structured_check(tested(SESSIONS, "event", "query", CST_IS_NULL), false, "list<bool>",
                   "[0, true] [] null null [true]");
  structured_check(tested(SESSIONS, "event", "query", CST_HAS), false, "list<bool>",
                   "[true, 0] [] null null [0]");
  structured_check(tested(structured_row("int32", "null"), NULL, NULL, CST_IS_NULL), true, "bool",
                   "true");
  structured_check(tested(structured_of(array_of_list_views(4), false), NULL, NULL, CST_IS_NULL),
                   false, "list_view<bool>", "[0, 0] null [0, 0] [] [0, 0] [0, 0]");
}

static cst_structured *filled(cst_structured *tensor, cst_array *fill) {
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  (void)(fill != NULL ? cst_structured_fill_null(tensor, fill, &out, &error)
                      : cst_structured_fill_null_lists(tensor, &out, &error));
  CHECK_STR(error.message, "");
  cst_array_release(fill);
  cst_structured_release(tensor);
  return out;
}

TEST(filling) {
  structured_check(
      filled(structured_sample("list<int32>", "[1, null] null"), array_sample("int32", "7")), false,
      "list<int32>", "[1, 7] null");
  structured_check(filled(structured_row("string", "null"), array_sample("string", "'x'")), true,
                   "string", "'x'");
  structured_check(filled(structured_sample("list<list<int8>>", "[null, [1]] null"), NULL), false,
                   "large_list<large_list<int8>>", "[[], [1]] []");
  structured_check(filled(structured_row("list<int8>", "null"), NULL), false, "int8", "");
}

TEST(filling_with_another_type) {
  cst_structured *tensor = structured_sample("int32", "null");
  cst_array *fill = array_sample("string", "'x'");
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_fill_null(tensor, fill, &out, &error), CST_SCHEMA);
  cst_array_release(fill);
  cst_structured_release(tensor);
}

static cst_structured *dropped(cst_structured *tensor, const char *step) {
  const cst_path path = {&step, step != NULL};
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  cst_structured_drop_null(tensor, &path, &out, &error);
  CHECK_STR(error.message, "");
  cst_structured_release(tensor);
  return out;
}

TEST(dropping) {
  structured_check(dropped(structured_sample("int32", "null 1 null 2"), NULL), false, "int32",
                   "1 2");
  structured_check(dropped(structured_sample("list<int32>", "[null, 1] null [] [null] [2]"), NULL),
                   false, "large_list<int32>", "[1] null [] [] [2]");
  structured_check(dropped(SESSIONS, "event"), false, sessions,
                   "{1, [{'a'}, {null}]} {null, []} {4, [null]}");
  structured_check(dropped(structured_sample("fixed_list<int8>[2]", "[1, null] [2, 3]"), NULL),
                   false, "large_list<int8>", "[1] [2, 3]");
}

TEST(dropping_what_cannot_be) {
  const char *const steps[] = {"event", "query"};
  const cst_path path = {steps, 2};
  const cst_path none = {NULL, 0};
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  cst_structured *tensor = SESSIONS;
  CHECK_EQ(cst_structured_drop_null(tensor, &path, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "lists");
  cst_structured_release(tensor);
  tensor = structured_row("int32", "null");
  CHECK_EQ(cst_structured_drop_null(tensor, &none, &out, &error), CST_INVALID_ARGUMENT);
  cst_structured_release(tensor);
}

static void check_like(const char *type, const char *rows, int value, const char *expected) {
  cst_structured *tensor = structured_sample(type, rows);
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_like(tensor, value, &out, NULL), CST_OK);
  structured_check(out, false, type, expected);
  cst_structured_release(tensor);
}

TEST(zeros_and_ones) {
  static const char *const numbers[] = {"int8",    "uint8",   "int16", "uint16",
                                        "int32",   "uint32",  "int64", "uint64",
                                        "float32", "float64", "bool",  "float16"};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    check_like(numbers[i], "1 null 0", 0, "0 null 0");
    check_like(numbers[i], "1 null 0", 1, "1 null 1");
  }
  check_like("string", "'a' null", 0, "'' null");
  check_like("string_view", "'a value that is long' null", 0, "'' null");
  check_like("list<struct{a: fixed_list<float32>[2], b: large_binary}>",
             "[{[3.0, null], 'x'}, null] null []", 0, "[{[0, null], ''}, null] null []");
  check_like("null", "null null", 1, "null null");
}

TEST(what_has_no_one) {
  cst_structured *tensor = structured_sample("struct{a: struct{b: string}}", "{{'x'}}");
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_like(tensor, 1, &out, &error), CST_SCHEMA);
  CHECK_STR(error.path, "a.b");
  CHECK_EQ(cst_structured_like(tensor, 2, &out, &error), CST_INVALID_ARGUMENT);
  cst_structured_release(tensor);
}

/* ---- memory ---- */

static int use_nulls(void *context) {
  const cst_path none = {NULL, 0};
  const char *step = "a";
  const cst_path path = {&step, 1};
  cst_structured *made[4] = {NULL};
  cst_status status = cst_structured_like(context, 0, &made[0], NULL);
  if (status == CST_OK) status = cst_structured_drop_null(context, &none, &made[1], NULL);
  if (status == CST_OK) status = cst_structured_fill_null_lists(context, &made[2], NULL);
  if (status == CST_OK) status = cst_structured_test_null(context, &path, CST_HAS, &made[3], NULL);
  for (int i = 0; i < 4; i++) cst_structured_release(made[i]);
  return (int)status;
}

static int fill_nulls(void *context) {
  cst_structured *out = NULL;
  cst_array *fill = ((void **)context)[1];
  cst_status status = cst_structured_fill_null(((void **)context)[0], fill, &out, NULL);
  cst_structured_release(out);
  return (int)status;
}

TEST(nulls_out_of_memory) {
  cst_structured *tensor =
      structured_sample("list<struct{a: int32, b: string}>", "[{1, 'a'}, null] null [{null, 'b'}]");
  FOR_EACH_ALLOCATION_FAILURE(use_nulls, tensor, CST_NO_MEMORY);
  cst_structured_release(tensor);
  void *both[] = {structured_sample("list<int32>", "[1, null] null"), array_sample("int32", "7")};
  FOR_EACH_ALLOCATION_FAILURE(fill_nulls, both, CST_NO_MEMORY);
  cst_structured_release(both[0]);
  cst_array_release(both[1]);
}
