/* Lists: lengths, flattening, its inverse, coordinates. */
#include "lists_support.h"

/* ---- lengths ---- */

static void check_lengths(cst_array *array, const char *expected) {
  cst_array *out = NULL;
  CHECK_EQ(cst_array_element_lengths(array, &out, NULL), CST_OK);
  check_array(out, "int64", expected);
  cst_array_release(array);
}

TEST(lengths_of_every_layout) {
  check_lengths(array_sample("list<int32>", "[1, 2] null [] [3]"), "2 null 0 1");
  check_lengths(array_sample("large_list<large_list<int8>>", "[[1], [2, 3]] null []"), "2 null 0");
  check_lengths(array_sample("fixed_list<int32>[2]", "[1, 2] null [3, 4]"), "2 null 2");
  check_lengths(array_sample("string", "'abc' null ''"), "3 null 0");
  check_lengths(array_sample("large_binary", "'abc' '' 'd'"), "3 0 1");
  check_lengths(array_sample("string_view", "'a' null 'a value that is long'"), "1 null 20");
  check_lengths(array_sample("fixed_binary[3]", "'abc' null"), "3 null");
  check_lengths(array_of_list_views(4), "2 null 2 0 2 2");
  check_lengths(array_of_list_views(8), "2 null 2 0 2 2");
  check_lengths(array_slice_of("list<int32>", "[9] [1, 2] null [] [3]", 1, 3), "2 null 0");
}

TEST(lengths_of_what_has_none) {
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  cst_array *array = array_sample("int32", "1 2");
  CHECK_EQ(cst_array_element_lengths(array, &out, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "int32");
  cst_array_release(array);
}

/* ---- flattening ---- */

static void check_flatten(cst_array *array, int levels, const char *type, const char *values,
                          const char *parents) {
  cst_array *out = NULL;
  cst_array *rows = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_array_flatten(array, levels, &out, &rows, &error);
  CHECK_STR(error.message, "");
  check_array(out, type, values);
  check_array(rows, "int64", parents);
  CHECK_EQ(cst_array_flatten(array, levels, &out, NULL, NULL), CST_OK);
  check_array(out, type, values);
  cst_array_release(array);
}

TEST(flattening_of_every_layout) {
  check_flatten(array_sample("list<int32>", "[1, 2] null [] [null]"), 1, "int32", "1 2 null",
                "0 0 3");
  check_flatten(array_sample("large_list<string>", "['a', 'b'] ['c']"), 1, "string", "'a' 'b' 'c'",
                "0 0 1");
  check_flatten(array_sample("fixed_list<int32>[2]", "[1, 2] null [3, 4]"), 1, "int32", "1 2 3 4",
                "0 0 2 2");
  check_flatten(array_of_list_views(4), 1, "int32", "3 4 1 2 2 3 1 2", "0 0 2 2 4 4 5 5");
  check_flatten(array_of_list_views(8), 1, "int32", "3 4 1 2 2 3 1 2", "0 0 2 2 4 4 5 5");
  check_flatten(
      array_sample("list<struct{a: int32, b: string}>", "[{1, 'a'}, null] [] [{null, 'b'}]"), 1,
      "struct{a: int32, b: string}", "{1, 'a'} null {null, 'b'}", "0 0 2");
  check_flatten(array_sample("list<null>", "[null, null] [] [null]"), 1, "null", "null null null",
                "0 0 2");
}

TEST(flattening_levels) {
  static const char type[] = "list<large_list<fixed_list<int8>[2]>>";
  static const char rows[] = "[[[1, 2]], []] null [] [[[3, 4], [5, 6]], null, [[7, 8]]]";
  check_flatten(array_sample(type, rows), 0, type, rows, "0 1 2 3");
  check_flatten(array_sample(type, rows), 1, "large_list<fixed_list<int8>[2]>",
                "[[1, 2]] [] [[3, 4], [5, 6]] null [[7, 8]]", "0 0 3 3 3");
  check_flatten(array_sample(type, rows), 2, "fixed_list<int8>[2]", "[1, 2] [3, 4] [5, 6] [7, 8]",
                "0 3 3 3");
  check_flatten(array_sample(type, rows), -1, "int8", "1 2 3 4 5 6 7 8", "0 0 3 3 3 3 3 3");
  check_flatten(array_sample(type, rows), 9, "int8", "1 2 3 4 5 6 7 8", "0 0 3 3 3 3 3 3");
  check_flatten(array_slice_of(type, rows, 2, 2), 2, "fixed_list<int8>[2]", "[3, 4] [5, 6] [7, 8]",
                "1 1 1");
  check_flatten(array_sample("string", "'a' null"), -1, "string", "'a' null", "0 1");
  check_flatten(array_sample(type, ""), -1, "int8", "", "");
}

TEST(flattening_shares_values_that_lie_together) {
  cst_array *array = array_sample("large_list<int64>", "[1, 2] [] [3] null [4]");
  cst_array *out;
  cst_array *again;
  CHECK_EQ(cst_array_flatten(array, 1, &out, NULL, NULL), CST_OK);
  CHECK_EQ(cst_array_flatten(array, 1, &again, NULL, NULL), CST_OK);
  CHECK(array_values(out) == array_values(again));
  cst_array_release(array);
  cst_array_release(again);
  check_array(out, "int64", "1 2 3 4"); /* lives on without the lists */
}

TEST(flattening_leaves_out_what_nulls_hide) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  uint8_t bitmap = 0x05;
  arrow_text("list<int32>", "[1, 2] [3] [4]", &schema, &array);
  ArrowBufferReset(ArrowArrayBuffer(&array, 0));
  CHECK_EQ(ArrowBufferAppend(ArrowArrayBuffer(&array, 0), &bitmap, 1), 0);
  array.buffers[0] = ArrowArrayBuffer(&array, 0)->data;
  array.null_count = 1;
  check_flatten(array_import(&schema, &array), 1, "int32", "1 2 4", "0 0 2");
}

/* ---- from parents ---- */

static void check_lists(const char *values, cst_array *parents, int64_t rows, bool empty_as_null,
                        const char *expected) {
  cst_array *array = array_sample("string", values);
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_array_from_parents(array, parents, rows, empty_as_null, &out, &error);
  CHECK_STR(error.message, "");
  cst_array_release(array);
  cst_array_release(parents);
  check_array(out, "large_list<string>", expected);
}

TEST(lists_from_parents) {
  check_lists("'a' 'b' null 'd'", array_sample("int64", "1 1 3 3"), 5, false,
              "[] ['a', 'b'] [] [null, 'd'] []");
  check_lists("'a' 'b' null 'd'", array_sample("uint8", "0 1 3 3"), 5, true,
              "['a'] ['b'] null [null, 'd'] null");
  check_lists("'a' 'b'", array_slice_of("int16", "7 0 0 5", 1, 2), 1, true, "['a', 'b']");
  check_lists("'a'", array_sample("int8", "0"), 1, false, "['a']");
  check_lists("'a'", array_sample("uint16", "2"), 3, false, "[] [] ['a']");
  check_lists("'a'", array_sample("int32", "0"), 2, false, "['a'] []");
  check_lists("'a'", array_sample("uint32", "0"), 2, false, "['a'] []");
  check_lists("'a'", array_sample("uint64", "0"), 2, false, "['a'] []");
  check_lists("", array_sample("int64", ""), 2, false, "[] []");
  check_lists("", array_sample("null", ""), 2, true, "null null");
  check_lists("", array_sample("int64", ""), 0, false, "");
}

static void check_refused(cst_array *parents, int64_t rows, cst_status status, int64_t record,
                          const char *part) {
  cst_array *values = array_sample("int32", "1 2 3");
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_array_from_parents(values, parents, rows, false, &out, &error), status);
  CHECK_CONTAINS(error.message, part);
  CHECK_EQ(error.record, record);
  cst_array_release(values);
  cst_array_release(parents);
}

TEST(parents_that_are_wrong) {
  check_refused(array_sample("int64", "1 0 2"), 3, CST_INVALID_ARGUMENT, 1,
                "is 0, after a parent of 1");
  check_refused(array_sample("int64", "-1 0 2"), 3, CST_INVALID_ARGUMENT, 0, "negative");
  check_refused(array_sample("int64", "0 -5 2"), 3, CST_INVALID_ARGUMENT, 1, "negative");
  check_refused(array_sample("int64", "0 3 2"), 3, CST_INVALID_ARGUMENT, 1,
                "is 3, but there are 3 rows");
  check_refused(array_sample("uint64", "0 1 18446744073709551615"), 3, CST_INVALID_ARGUMENT, 2,
                "there are 3 rows");
  check_refused(array_sample("int64", "0 1"), 3, CST_INVALID_ARGUMENT, -1,
                "2 parents for 3 values");
  check_refused(array_sample("int64", "0 null 2"), 3, CST_INVALID_ARGUMENT, 1, "value 1 is null");
  check_refused(array_sample("float64", "0.5 1.5 2.5"), 3, CST_SCHEMA, -1, "float64");
  check_refused(array_sample("int64", "0 1 2"), -1, CST_INVALID_ARGUMENT, -1, "-1 rows");
  check_refused(array_sample("int64", "0 1 2"), INT64_MAX, CST_NO_MEMORY, -1, "");
}

/* ---- coordinates ---- */

static void check_coordinates(cst_array *array, const char *type, const char *expected,
                              const int64_t *shape, size_t dims) {
  int64_t found[8];
  size_t num_dims = 0;
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_array_coordinates(array, &out, found, dims - 1, &num_dims, &error), CST_LIMIT);
  CHECK_EQ(cst_array_coordinates(array, &out, found, dims, &num_dims, &error), CST_OK);
  CHECK_EQ(num_dims, dims);
  for (size_t i = 0; i < dims; i++) CHECK_EQ(found[i], shape[i]);
  check_array(out, type, expected);
  cst_array_release(array);
}

TEST(coordinates_of_nested_lists) {
  check_coordinates(array_sample("list<int32>", "[1, 2] null [] [3]"), "fixed_list<int64>[2]",
                    "[0, 0] [0, 1] [3, 0]", (int64_t[]){4, 2}, 2);
  check_coordinates(
      array_sample("large_list<list<string>>", "[['a'], ['b', 'c']] [] [[], ['d', 'e', 'f']]"),
      "fixed_list<int64>[3]", "[0, 0, 0] [0, 1, 0] [0, 1, 1] [2, 1, 0] [2, 1, 1] [2, 1, 2]",
      (int64_t[]){3, 2, 3}, 3);
  check_coordinates(
      array_slice_of("large_list<list<string>>", "[['a'], ['b', 'c']] [] [[], ['d']]", 1, 2),
      "fixed_list<int64>[3]", "[1, 1, 0]", (int64_t[]){2, 2, 1}, 3);
  check_coordinates(array_sample("int8", "1 2"), "fixed_list<int64>[1]", "[0] [1]", (int64_t[]){2},
                    1);
  check_coordinates(array_sample("list<int8>", ""), "fixed_list<int64>[2]", "", (int64_t[]){0, 0},
                    2);
  check_coordinates(array_of_list_views(8), "fixed_list<int64>[2]",
                    "[0, 0] [0, 1] [2, 0] [2, 1] [4, 0] [4, 1] [5, 0] [5, 1]", (int64_t[]){6, 2},
                    2);
}

/* ---- memory ---- */

static int all_operations(void *context) {
  cst_array *lists = context;
  cst_array *values = NULL;
  cst_array *parents = NULL;
  cst_array *out = NULL;
  int64_t shape[8];
  size_t dims;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_array_flatten(lists, -1, &values, &parents, &error);
  if (status == CST_OK) {
    status = cst_array_from_parents(values, parents, 9, true, &out, &error);
    cst_array_release(values);
    cst_array_release(parents);
    if (status == CST_OK) cst_array_release(out);
  }
  if (status == CST_OK) {
    status = cst_array_element_lengths(lists, &out, &error);
    if (status == CST_OK) cst_array_release(out);
  }
  if (status == CST_OK) {
    status = cst_array_coordinates(lists, &out, shape, 8, &dims, &error);
    if (status == CST_OK) cst_array_release(out);
  }
  return (int)status;
}

/* 16 list views of all 16 list views below, on each level: 16 to the power of the depth. */
static cst_array *array_of_shared_views(int depth) {
  static const int64_t offsets[16] = {0}, items[16] = {0};
  static const int64_t sizes[16] = {16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16};
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct ArrowSchema *type = &schema;
  struct ArrowArray *level = &array;
  ArrowSchemaInit(&schema);
  CHECK_EQ(cst__owned_new(NULL, 3, 1, false, &array, NULL), CST_OK);
  for (int i = 0; i < depth; i++, type = type->children[0], level = level->children[0]) {
    bool is_last = i + 1 == depth;
    CHECK_EQ(ArrowSchemaSetType(type, NANOARROW_TYPE_LARGE_LIST_VIEW), 0);
    CHECK_EQ(cst__owned_new(NULL, is_last ? 2 : 3, !is_last, false, level->children[0], NULL),
             CST_OK);
    level->length = 16;
    memcpy(cst__owned_buffer(level, 1, sizeof offsets), offsets, sizeof offsets);
    memcpy(cst__owned_buffer(level, 2, sizeof sizes), sizes, sizeof sizes);
  }
  CHECK_EQ(ArrowSchemaSetType(type, NANOARROW_TYPE_INT64), 0);
  level->length = 16;
  memcpy(cst__owned_buffer(level, 1, sizeof items), items, sizeof items);
  return array_import(&schema, &array);
}

TEST(shared_items_cannot_multiply_without_end) {
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  cst_array *four = array_of_shared_views(4);
  cst_array *many = array_of_shared_views(40);
  int64_t shape[64];
  size_t num_dims;
  CHECK_EQ(cst_array_flatten(four, -1, &out, NULL, NULL), CST_OK);
  CHECK_EQ(cst_array_length(out), 1 << 20);
  cst_array_release(out);
  CHECK_EQ(cst_array_flatten(many, -1, &out, NULL, &error), CST_LIMIT);
  CHECK_CONTAINS(error.message, "16 lists share 16 items so often");
  CHECK_STR(error.hint, "cast the list views to large_list");
  CHECK_EQ(cst_array_coordinates(many, &out, shape, 64, &num_dims, NULL), CST_LIMIT);
  cst_array_release(four);
  cst_array_release(many);
}

TEST(no_memory) {
  cst_array *plain =
      array_sample("large_list<list<string>>", "[['a'], ['b', 'c']] null [[], ['d']]");
  cst_array *views = array_of_list_views(4);
  FOR_EACH_ALLOCATION_FAILURE(all_operations, plain, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(all_operations, views, CST_NO_MEMORY);
  cst_array_release(plain);
  cst_array_release(views);
}

TEST(arguments) {
  cst_error error = CST_ERROR_INIT;
  cst_array *array = array_sample("list<int8>", "[1]");
  cst_array *out = NULL;
  CHECK_EQ(cst_array_flatten(NULL, 1, &out, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_flatten(array, -2, &out, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_flatten(array, 1, NULL, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_element_lengths(array, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_from_parents(array, NULL, 1, false, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_coordinates(array, &out, NULL, 1, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK(out == NULL);
  cst_array_release(array);
}
