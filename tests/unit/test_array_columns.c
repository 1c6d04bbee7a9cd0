/* Columns by their path and by their place; nulls, null filling, sizes. */
#include "lists_support.h"

/* ---- paths ---- */

static const char nested_type[] =
    "struct{a: int64, s: struct{x: int32, t: struct{y: string}}, l: list<struct{v: int8, w: "
    "list<int32>}>}";
static const char nested_rows[] =
    "{1, {10, {'p'}}, [{1, [1, 2]}, {2, null}]} {2, null, []} {null, {30, null}, null} "
    "{4, {null, {'q'}}, [null, {4, [3]}]}";

static void check_column(cst_array *array, const cst_path *path, const char *type,
                         const char *values, const char *rows) {
  cst_array *out = NULL;
  cst_array *parents = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_array_column(array, path, &out, &parents, &error);
  CHECK_STR(error.message, "");
  check_array(out, type, values);
  check_array(parents, "int64", rows);
  CHECK_EQ(cst_array_column(array, path, &out, NULL, NULL), CST_OK);
  check_array(out, type, values);
}

#define PATH(...)                                   \
  (&(const cst_path){(const char *[]){__VA_ARGS__}, \
                     sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)})

TEST(columns_through_structs_and_lists) {
  cst_array *batch = array_sample(nested_type, nested_rows);
  check_column(batch, PATH("a"), "int64", "1 2 null 4", "0 1 2 3");
  check_column(batch, PATH("s", "x"), "int32", "10 null 30 null", "0 1 2 3");
  check_column(batch, PATH("s", "t", "y"), "string", "'p' null null 'q'", "0 1 2 3");
  check_column(batch, PATH("s", "t"), "struct{y: string}", "{'p'} null null {'q'}", "0 1 2 3");
  check_column(batch, PATH("l", "v"), "int8", "1 2 null 4", "0 0 3 3");
  check_column(batch, PATH("l", "w"), "list<int32>", "[1, 2] null null [3]", "0 0 3 3");
  cst_array_release(batch);
}

TEST(columns_of_slices) {
  cst_array *batch = array_slice_of(nested_type, nested_rows, 1, 3);
  check_column(batch, PATH("s", "x"), "int32", "null 30 null", "0 1 2");
  check_column(batch, PATH("s", "t", "y"), "string", "null null 'q'", "0 1 2");
  check_column(batch, PATH("l", "v"), "int8", "null 4", "2 2");
  cst_array_release(batch);
}

TEST(null_structs_hide_what_lies_below) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  uint8_t bitmap = 0x0d;
  arrow_text("struct{a: list<int32>, b: null, c: list<struct{d: int8}>, e: bool}",
             "{[1], null, [{1}], true} {[2, 3], null, [{2}], true} {[4], null, [], null} "
             "{null, null, [{3}], true}",
             &schema, &array);
  CHECK_EQ(ArrowBufferAppend(ArrowArrayBuffer(&array, 0), &bitmap, 1), 0);
  array.buffers[0] = ArrowArrayBuffer(&array, 0)->data;
  array.null_count = 1;
  cst_array *root = array_import(&schema, &array);
  check_column(root, PATH("a"), "list<int32>", "[1] null [4] null", "0 1 2 3");
  check_column(root, PATH("b"), "null", "null null null null", "0 1 2 3");
  check_column(root, PATH("c", "d"), "int8", "1 3", "0 3");
  check_column(root, PATH("e"), "bool", "true null null true", "0 1 2 3");
  cst_array_release(root);
}

TEST(columns_share_their_values) {
  cst_array *batch = array_sample("struct{a: int64, s: struct{x: int64}}", "{1, {3}} {2, {4}}");
  cst_array *whole = array_sample("struct{a: int64}", "{1} {2} {3}");
  cst_array *slice;
  cst_array *one;
  cst_array *two;
  CHECK_EQ(cst_array_slice(whole, 1, 2, &slice, NULL), CST_OK);
  CHECK_EQ(cst_array_column(whole, PATH("a"), &one, NULL, NULL), CST_OK);
  CHECK_EQ(cst_array_column(slice, PATH("a"), &two, NULL, NULL), CST_OK);
  CHECK(array_values(one) == array_values(two));
  cst_array_release(whole);
  cst_array_release(slice);
  check_array(one, "int64", "1 2 3");
  check_array(two, "int64", "2 3");
  cst_array_release(batch);
}

TEST(a_field_that_said_it_has_no_nulls) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_array *out;
  arrow_text("struct{s: struct{x: int32}}", "{{1}} {null}", &schema, &array);
  schema.children[0]->children[0]->flags = 0;
  /* The value behind the null struct is no null of its own. */
  ArrowBufferReset(ArrowArrayBuffer(array.children[0]->children[0], 0));
  array.children[0]->children[0]->buffers[0] = NULL;
  array.children[0]->children[0]->null_count = 0;
  cst_array *batch = array_import(&schema, &array);
  CHECK_EQ(cst_array_column(batch, PATH("s", "x"), &out, NULL, NULL), CST_OK);
  CHECK_EQ(cst_array_schema(out)->flags & ARROW_FLAG_NULLABLE, ARROW_FLAG_NULLABLE);
  check_array(out, "int32", "1 null");
  cst_array_release(batch);
}

static void check_missing(const cst_array *array, const cst_path *path, cst_status status,
                          const char *place, const char *hint) {
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  CHECK_EQ(cst_array_column(array, path, &out, NULL, &error), status);
  CHECK_STR(error.path, place);
  CHECK_CONTAINS(error.hint, hint);
}

TEST(columns_that_there_are_not) {
  cst_array *batch =
      array_sample("struct{number: struct{field: int8}, twin: int8, twin: int8}", "{{1}, 2, 3}");
  check_missing(batch, PATH("numbr"), CST_NOT_FOUND, "numbr", "'number'");
  check_missing(batch, PATH("number", "feild"), CST_NOT_FOUND, "number.feild", "");
  check_missing(batch, PATH("number", "field", "x"), CST_SCHEMA, "number.field.x", "");
  check_missing(batch, PATH("twin"), CST_INVALID_ARGUMENT, "twin", "");
  check_missing(batch, PATH(NULL), CST_INVALID_ARGUMENT, "", "");
  check_missing(batch, NULL, CST_INVALID_ARGUMENT, "", "");
  check_missing(batch, &(cst_path){NULL, 0}, CST_INVALID_ARGUMENT, "", "");
  cst_array_release(batch);
}

TEST(columns_by_their_place) {
  cst_array *batch = array_sample("struct{twin: int8, twin: string}", "{2, 'a'} {3, 'b'}");
  cst_array *out = NULL;
  CHECK_EQ(cst_array_child(batch, 1, &out, NULL), CST_OK);
  check_array(out, "string", "'a' 'b'");
  CHECK_EQ(cst_array_child(batch, 2, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_child(batch, -1, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_child(batch, 0, &out, NULL), CST_OK);
  cst_array *none = NULL;
  CHECK_EQ(cst_array_child(out, 0, &none, NULL), CST_SCHEMA);
  cst_array_release(out);
  cst_array_release(batch);
}

/* ---- nulls ---- */

static void check_mask(cst_array *array, const char *expected) {
  cst_array *out = NULL;
  CHECK_EQ(cst_array_null_mask(array, &out, NULL), CST_OK);
  check_array(out, "uint8", expected);
  cst_array_release(array);
}

TEST(null_masks) {
  check_mask(array_sample("int32", "1 null 3"), "0 1 0");
  check_mask(array_sample("null", "null null"), "1 1");
  check_mask(array_sample("list<int8>", "[null] null []"), "0 1 0");
  check_mask(array_sample("string_view", "'a' null"), "0 1");
  check_mask(array_slice_of("bool", "null true null true null", 1, 3), "0 1 0");
  check_mask(array_sample("int8", ""), "");
}

static void check_fill(cst_array *array, const char *fill_type, const char *fill, const char *type,
                       const char *expected) {
  cst_array *with = array_sample(fill_type, fill);
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_array_fill_null(array, with, &out, &error);
  CHECK_STR(error.message, "");
  check_array(out, type, expected);
  cst_array_release(with);
  cst_array_release(array);
}

TEST(filling_nulls) {
  check_fill(array_sample("int32", "null 1 2 null null"), "int32", "7", "int32", "7 1 2 7 7");
  check_fill(array_sample("string", "'a' null"), "string", "'xyz'", "string", "'a' 'xyz'");
  check_fill(array_sample("string_view", "'a' null"), "string_view", "'a value that is long'",
             "string_view", "'a' 'a value that is long'");
  check_fill(array_sample("bool", "null true null"), "bool", "true", "bool", "true true true");
  check_fill(array_sample("struct{a: int8}", "{1} null"), "struct{a: int8}", "{5}",
             "struct{a: int8}", "{1} {5}");
  check_fill(array_sample("list<int32>", "[1] null [] null"), "int32", "8 9", "list<int32>",
             "[1] [8, 9] [] [8, 9]");
  check_fill(array_sample("large_list<string>", "null ['a']"), "string", "", "large_list<string>",
             "[] ['a']");
  check_fill(array_sample("list<list<int8>>", "null [[1]]"), "list<int8>", "[2] null",
             "list<list<int8>>", "[[2], null] [[1]]");
  check_fill(array_sample("fixed_list<int8>[2]", "[1, 2] null"), "int8", "3 4",
             "fixed_list<int8>[2]", "[1, 2] [3, 4]");
  check_fill(array_slice_of("list<int32>", "[9] null [1] null", 1, 2), "int32", "8", "list<int32>",
             "[8] [1]");
  check_fill(array_sample("null", "null null"), "null", "null", "null", "null null");
}

TEST(filling_list_views) {
  for (int width = 4; width <= 8; width += 4) {
    cst_array *lists = array_of_list_views(width);
    cst_array *fill = array_sample("int32", "7 8 9");
    cst_array *out = NULL;
    cst_array *values;
    CHECK_EQ(cst_array_fill_null(lists, fill, &out, NULL), CST_OK);
    CHECK_EQ(cst_array_flatten(out, 1, &values, NULL, NULL), CST_OK);
    check_array(values, "int32", "3 4 7 8 9 1 2 2 3 1 2");
    cst_array_release(out);
    cst_array_release(fill);
    cst_array_release(lists);
  }
}

TEST(nothing_to_fill) {
  cst_array *array = array_sample("int32", "1 2");
  cst_array *fill = array_sample("int32", "7");
  cst_array *out = NULL;
  CHECK_EQ(cst_array_fill_null(array, fill, &out, NULL), CST_OK);
  CHECK(out == array);
  cst_array_release(out);
  cst_array_release(array);
  cst_array_release(fill);
}

static void check_fill_refused(const char *type, const char *rows, const char *fill_type,
                               const char *fill, cst_status status, const char *part) {
  cst_array *array = array_sample(type, rows);
  cst_array *with = array_sample(fill_type, fill);
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_array_fill_null(array, with, &out, &error), status);
  CHECK_CONTAINS(error.message, part);
  cst_array_release(with);
  cst_array_release(array);
}

TEST(fills_that_do_not_fit) {
  check_fill_refused("int32", "null", "int64", "1", CST_SCHEMA,
                     "type int64 for values of type int32");
  check_fill_refused("list<int32>", "null", "list<int32>", "[1]", CST_SCHEMA, "list<int32>");
  check_fill_refused("int32", "null", "int32", "1 2", CST_INVALID_ARGUMENT,
                     "2 values instead of 1");
  check_fill_refused("fixed_list<int8>[2]", "null", "int8", "1", CST_INVALID_ARGUMENT,
                     "1 values instead of 2");
  check_fill_refused("int32", "1", "string", "'a'", CST_SCHEMA, "string");
}

/* ---- sizes ---- */

static void check_size(cst_array *array, int64_t expected) {
  int64_t size = -1;
  CHECK_EQ(cst_array_byte_size(array, &size, NULL), CST_OK);
  CHECK_EQ(size, expected);
  cst_array_release(array);
}

TEST(byte_sizes) {
  check_size(array_sample("int32", "1 2 3"), 12);
  check_size(array_sample("int32", "1 null 3"), 13);
  check_size(array_sample("null", "null null"), 0);
  check_size(array_sample("bool", "true true true"), 1);
  check_size(array_sample("float16", "1.5 2.5"), 4);
  check_size(array_sample("timestamp", "1 2"), 16);
  check_size(array_sample("string", "'abc' '' 'd'"), 4 * 4 + 4);
  check_size(array_sample("large_binary", "'abc'"), 2 * 8 + 3);
  check_size(array_sample("fixed_binary[3]", "'abc' 'def'"), 6);
  check_size(array_sample("string_view", "'short' 'a value that is long'"), 32 + 20);
  check_size(array_sample("list<int32>", "[1, 2] null [3]"), 4 * 4 + 1 + 12);
  check_size(array_sample("large_list<string>", "['a'] ['bc', '']"), 3 * 8 + 4 * 4 + 3);
  check_size(array_sample("fixed_list<int8>[2]", "[1, 2] [3, 4]"), 4);
  check_size(array_sample("struct{a: int8, b: string}", "{1, 'a'} {2, 'b'}"), 2 + 3 * 4 + 2);
  check_size(array_of_list_views(4), 6 * 8 + 1 + 16);
  check_size(array_of_list_views(8), 6 * 16 + 1 + 16);
  check_size(array_slice_of("list<int32>", "[1, 2, 3, 4] [5] null [6, 7]", 1, 1), 2 * 4 + 4);
  check_size(array_slice_of("string", "'abcdef' 'g' 'hi'", 1, 2), 3 * 4 + 3);
  check_size(array_slice_of("string_view", "'a value that is long' 'b'", 1, 1), 16);
}

/* ---- UTF-8 ---- */

static void check_invalid(cst_array *array, int64_t expected) {
  int64_t count = -1;
  CHECK_EQ(cst_array_count_invalid_utf8(array, &count, NULL), CST_OK);
  CHECK_EQ(count, expected);
  cst_array_release(array);
}

TEST(invalid_utf8) {
  check_invalid(array_sample("binary", "'a' '\xff' null '\xed\xa0\x80' '\xc3\xa4' ''"), 2);
  check_invalid(array_sample("binary_view", "'\xc0\x80' 'a' 'a value that is long \xff'"), 2);
  check_invalid(array_sample("fixed_binary[2]", "'\xc3\xa4' 'a\xff'"), 1);
  check_invalid(array_sample("large_string", "'a'"), 0);
  check_invalid(array_slice_of("binary", "'\xff' 'a' '\xff'", 1, 2), 1);
  cst_array *array = array_sample("int8", "1");
  int64_t count;
  CHECK_EQ(cst_array_count_invalid_utf8(array, &count, NULL), CST_SCHEMA);
  cst_array_release(array);
}

/* ---- memory ---- */

typedef struct sample {
  cst_array *batch;
  cst_array *lists;
  cst_array *fill;
} sample;

static int all_operations(void *context) {
  const sample *s = context;
  cst_array *out;
  cst_array *rows;
  int64_t number;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_array_column(s->batch, PATH("l", "w"), &out, &rows, &error);
  if (status == CST_OK) {
    cst_array_release(out);
    cst_array_release(rows);
    status = cst_array_column(s->batch, PATH("s", "t", "y"), &out, NULL, &error);
  }
  if (status == CST_OK) {
    cst_array_release(out);
    status = cst_array_null_mask(s->batch, &out, &error);
  }
  if (status == CST_OK) {
    cst_array_release(out);
    status = cst_array_fill_null(s->lists, s->fill, &out, &error);
  }
  if (status == CST_OK) {
    cst_array_release(out);
    status = cst_array_byte_size(s->batch, &number, &error);
  }
  return (int)status;
}

TEST(no_memory) {
  sample s = {array_sample(nested_type, nested_rows), array_of_list_views(4),
              array_sample("int32", "1 2")};
  FOR_EACH_ALLOCATION_FAILURE(all_operations, &s, CST_NO_MEMORY);
  cst_array_release(s.batch);
  cst_array_release(s.lists);
  cst_array_release(s.fill);
}

TEST(arguments) {
  cst_array *out = NULL;
  cst_array *array = array_sample("int8", "1");
  CHECK_EQ(cst_array_null_mask(NULL, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_fill_null(array, NULL, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_byte_size(array, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_count_invalid_utf8(NULL, NULL, NULL), CST_INVALID_ARGUMENT);
  cst_array_release(array);
}
