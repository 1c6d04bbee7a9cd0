/* JSON texts in memory that is used again. */
#include "text/json_document.h"

#include <string.h>

#include "harness.h"

static cst_status parse(cst__json_document *document, const char *text, cst__json_numbers numbers,
                        yyjson_val **root, cst__json_fault *fault, cst_error *error) {
  const cst_bytes bytes = {(const uint8_t *)text, strlen(text)};
  *fault = (cst__json_fault){0};
  return cst__json_document_parse(document, bytes, numbers, root, fault, error);
}

TEST(one_after_the_other) {
  cst__json_document document = {.allocator = cst__default_allocator};
  cst__json_fault fault;
  yyjson_val *root = NULL;
  for (int i = 0; i < 100; i++) {
    CHECK_EQ(parse(&document, "{\"a\": [1, 2.5]}", CST__JSON_TEXTS, &root, &fault, NULL), CST_OK);
    yyjson_val *list = yyjson_obj_get(root, "a");
    CHECK_STR(yyjson_get_raw(yyjson_arr_get(list, 1)), "2.5");
    CHECK_EQ(parse(&document, "[18446744073709551616, -1]", CST__JSON_VALUES, &root, &fault, NULL),
             CST_OK);
    CHECK(yyjson_is_raw(yyjson_arr_get(root, 0)));
    CHECK_EQ(yyjson_get_sint(yyjson_arr_get(root, 1)), -1);
  }
  cst__json_document_reset(&document);
  CHECK_EQ(parse(&document, "true", CST__JSON_VALUES, &root, &fault, NULL), CST_OK);
  CHECK_STR(cst__json_kind(root), "true or false");
  cst__json_document_reset(&document);
}

static void check_fault(const char *text, size_t at, bool is_cut, bool is_followed, bool is_nan) {
  cst__json_document document = {.allocator = cst__default_allocator};
  cst__json_fault fault;
  yyjson_val *root = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(parse(&document, text, CST__JSON_TEXTS, &root, &fault, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "invalid JSON: ");
  CHECK_EQ(fault.at, at);
  CHECK_EQ(fault.is_cut, is_cut);
  CHECK_EQ(fault.is_followed, is_followed);
  CHECK_EQ(fault.is_nan, is_nan);
  CHECK_EQ(error.hint[0] != '\0', is_nan);
  cst__json_document_reset(&document);
}

TEST(faults) {
  check_fault("", 0, false, false, false);
  check_fault("{\"a\":", 5, true, false, false);
  check_fault("{} {}", 3, false, true, false);
  check_fault("{\"a\": NaN}", 6, false, false, true);
  check_fault("[-Infinity]", 2, false, false, true);
  check_fault("[01]", 1, false, false, false);
}

TEST(numbers) {
  cst__json_document document = {.allocator = cst__default_allocator};
  cst__json_fault fault;
  yyjson_val *root = NULL;
  yyjson_val number;
  double value = 0;
  const char *text = "[1e999, 184467440737095516150, 3, \"1.5\", \" 1\", \"1e999\", \"\"]";
  CHECK_EQ(parse(&document, text, CST__JSON_VALUES, &root, &fault, NULL), CST_OK);
  CHECK(!cst__json_double(yyjson_arr_get(root, 0), &value));
  CHECK(cst__json_double(yyjson_arr_get(root, 1), &value) && value > 1e20);
  CHECK(cst__json_double(yyjson_arr_get(root, 2), &value));
  CHECK_DOUBLE(value, 3);
  CHECK(cst__json_number_of(yyjson_arr_get(root, 3), &number));
  CHECK_DOUBLE(yyjson_get_num(&number), 1.5);
  CHECK(!cst__json_number_of(yyjson_arr_get(root, 4), &number));
  CHECK(!cst__json_number_of(yyjson_arr_get(root, 5), &number));
  CHECK(!cst__json_number_of(yyjson_arr_get(root, 6), &number));
  cst__json_document_reset(&document);
}

static int without_memory(void *context) {
  cst__json_document document = {.allocator = cst__default_allocator};
  cst__json_fault fault;
  yyjson_val *root;
  cst_status status = parse(&document, context, CST__JSON_TEXTS, &root, &fault, NULL);
  cst__json_document_reset(&document);
  return (int)status;
}

TEST(no_memory) {
  char text[] = "[[[[[1]]]], {\"a\": \"b\"}]";
  FOR_EACH_ALLOCATION_FAILURE(without_memory, text, CST_NO_MEMORY);
}
