/* Concatenation of arrays of one type and of several. */
#include "array_layouts.h"
#include "array_sample.h"

enum { MOST = 4 };

/* Types and rows of the arrays, then those of the result. */
static cst_status concat(const char *const (*parts)[2], size_t count, cst_array **out,
                         cst_error *error) {
  cst_array *arrays[MOST] = {NULL};
  for (size_t i = 0; i < count; i++) arrays[i] = array_sample(parts[i][0], parts[i][1]);
  cst_status status = cst_array_concat((const cst_array *const *)arrays, count, out, error);
  for (size_t i = 0; i < count; i++) cst_array_release(arrays[i]);
  return status;
}

static void check(const char *const (*parts)[2], size_t count, const char *type, const char *rows) {
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  concat(parts, count, &out, &error);
  CHECK_STR(error.message, "");
  array_sample_check(out, type, rows);
  cst_array_release(out);
}

#define CHECK_CONCAT(type, rows, ...)                         \
  do {                                                        \
    static const char *const parts[][2] = {__VA_ARGS__};      \
    check(parts, sizeof parts / sizeof parts[0], type, rows); \
  } while (0)

TEST(equal_types_stay) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    const char *type = array_layouts[i].type;
    const char *rows = array_layouts[i].rows;
    char twice[400];
    const char *const parts[][2] = {{type, rows}, {type, ""}, {type, rows}};
    snprintf(twice, sizeof twice, "%s %s", rows, rows);
    check(parts, 3, type, twice);
  }
}

TEST(one_array_is_shared) {
  cst_array *array = array_sample("struct{a: int8}", "{1}");
  cst_array *out = NULL;
  CHECK_EQ(cst_array_concat((const cst_array *const *)&array, 1, &out, NULL), CST_OK);
  CHECK(out == array);
  cst_array_release(out);
  cst_array_release(array);
}

TEST(nothing) {
  cst_array *out = NULL;
  CHECK_EQ(cst_array_concat(NULL, 0, &out, NULL), CST_OK);
  array_sample_check(out, "struct{}", "");
  cst_array_release(out);
}

TEST(columns_are_united_by_name) {
  CHECK_CONCAT("struct{a: int64, b: string, c: bool}",
               "{1, 'x', null} {2, null, null} {3, 'y', true} {null, null, true} {4, 'z', null}",
               {"struct{a: int64, b: string}", "{1, 'x'} {2, null}"},
               {"struct{c: bool, b: string, a: int64}", "{true, 'y', 3}"},
               {"struct{c: bool}", "{true}"}, {"struct{b: string, a: int64}", "{'z', 4}"});
}

TEST(batches_without_columns_and_without_rows_count) {
  CHECK_CONCAT("struct{a: int8}", "{null} {null} {1}", {"struct{}", "{} {}"},
               {"struct{a: int8}", "{1}"});
  CHECK_CONCAT("struct{b: string, a: int8}", "{null, 1}", {"struct{b: string}", ""},
               {"struct{a: int8}", "{1}"});
  CHECK_CONCAT("struct{}", "{} {} {}", {"struct{}", "{} {}"}, {"struct{}", "{}"});
  CHECK_CONCAT("struct{a: int32}", "{1}", {"struct{a: int32}", ""}, {"struct{a: int8}", "{1}"});
}

TEST(nulls_become_anything) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    const char *type = array_layouts[i].type;
    char rows[400];
    const char *const parts[][2] = {
        {"null", "null"}, {type, array_layouts[i].rows}, {"null", "null null"}};
    snprintf(rows, sizeof rows, "null %s null null", array_layouts[i].rows);
    check(parts, 3, type, rows);
  }
}

TEST(missing_columns_of_every_layout) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    char type[200];
    const char *const parts[][2] = {{"struct{z: int8}", "{1} {2} {3}"}, {type, ""}};
    char all[240];
    snprintf(type, sizeof type, "struct{a: %s}", array_layouts[i].type);
    snprintf(all, sizeof all, "struct{z: int8, a: %s}", array_layouts[i].type);
    check(parts, 2, all, "{1, null} {2, null} {3, null}");
  }
}

TEST(integers) {
  CHECK_CONCAT("int16", "-1 300", {"int8", "-1"}, {"int16", "300"});
  CHECK_CONCAT("int16", "-1 255", {"int8", "-1"}, {"uint8", "255"});
  CHECK_CONCAT("int32", "65535 -1", {"uint16", "65535"}, {"int16", "-1"});
  CHECK_CONCAT("int64", "4294967295 -1", {"uint32", "4294967295"}, {"int8", "-1"});
  CHECK_CONCAT("uint64", "255 18446744073709551615 null", {"uint8", "255"},
               {"uint64", "18446744073709551615 null"});
  CHECK_CONCAT("uint32", "1 65535 4294967295", {"uint8", "1"}, {"uint16", "65535"},
               {"uint32", "4294967295"});
  CHECK_CONCAT("int64", "-3 -2147483648 9223372036854775807 null", {"int16", "-3"},
               {"int32", "-2147483648"}, {"int64", "9223372036854775807 null"});
  CHECK_CONCAT("int32", "255 -32768 null", {"uint8", "255"}, {"int32", "-32768"}, {"int8", "null"});
}

TEST(floats) {
  CHECK_CONCAT("float64", "1.5 2.5", {"float32", "1.5"}, {"float64", "2.5"});
  CHECK_CONCAT("float32", "1.5 -32768.0 255.0", {"float32", "1.5"}, {"int16", "-32768"},
               {"uint8", "255"});
  CHECK_CONCAT("float64", "1.5 2147483647.0", {"float32", "1.5"}, {"int32", "2147483647"});
  CHECK_CONCAT("float64", "4294967295.0 1.5 null", {"uint32", "4294967295"},
               {"float64", "1.5 null"});
  /* Whatever the order: uint32 and int8 alone would be int64, which no float holds. */
  CHECK_CONCAT("float64", "4294967295.0 -1.0 1.5", {"uint32", "4294967295"}, {"int8", "-1"},
               {"float32", "1.5"});
}

TEST(strings_and_bytes) {
  CHECK_CONCAT("large_string", "'a' null 'bb' 'a value that is long'", {"string", "'a' null"},
               {"large_string", "'bb'"}, {"string_view", "'a value that is long'"});
  CHECK_CONCAT("large_binary", "'a' 'b'", {"string", "'a'"}, {"binary", "'b'"});
  CHECK_CONCAT("large_binary", "'abc' 'de' null 'f'", {"fixed_binary[3]", "'abc'"},
               {"fixed_binary[2]", "'de' null"}, {"binary", "'f'"});
  CHECK_CONCAT("large_binary", "'a value that is long' 'b' null",
               {"binary_view", "'a value that is long'"}, {"string_view", "'b' null"});
}

TEST(lists) {
  CHECK_CONCAT("large_list<int32>", "[1, 2] null [3] [] [4, null]", {"list<int32>", "[1, 2] null"},
               {"large_list<int8>", "[3] []"}, {"fixed_list<int16>[2]", "[4, null]"});
  CHECK_CONCAT("large_list<int64>", "[1] [2, 3] null [] [4]", {"large_list<int64>", "[1]"},
               {"list_view<int32>", "[2, 3] null []"}, {"large_list_view<int8>", "[4]"});
  CHECK_CONCAT("large_list<float32>", "[1.0] [1.5]", {"list<int8>", "[1]"},
               {"list<float32>", "[1.5]"});
  CHECK_CONCAT("large_list<string>", "[] null ['a'] [null]", {"list<null>", "[] null"},
               {"list<string>", "['a']"}, {"list<null>", "[null]"});
  CHECK_CONCAT("large_list<large_list<large_string>>", "[['a'], null] [['bb', null], []]",
               {"list<list<string>>", "[['a'], null]"},
               {"large_list<list_view<string_view>>", "[['bb', null], []]"});
  CHECK_CONCAT("large_list<string_view>", "['a value that is long'] ['b'] null",
               {"list_view<string_view>", "['a value that is long']"},
               {"list<string_view>", "['b'] null"});
  CHECK_CONCAT("large_list<fixed_list<int8>[2]>", "[[1, 2]] [[3, 4]]",
               {"list<fixed_list<int8>[2]>", "[[1, 2]]"},
               {"large_list<fixed_list<int8>[2]>", "[[3, 4]]"});
}

TEST(structs) {
  CHECK_CONCAT("struct{s: struct{x: int16, y: string}}", "{{1, null}} {null} {{300, 'a'}}",
               {"struct{s: struct{x: int8}}", "{{1}} {null}"},
               {"struct{s: struct{y: string, x: int16}}", "{{'a', 300}}"});
  CHECK_CONCAT("large_list<struct{x: int8, y: int8}>", "[{1, null}, null] [{null, 2}]",
               {"list<struct{x: int8}>", "[{1}, null]"}, {"list<struct{y: int8}>", "[{2}]"});
  CHECK_CONCAT("large_list<struct{x: int8, y: bool}>", "[{1, true}] [{2, null}]",
               {"list_view<struct{x: int8, y: bool}>", "[{1, true}]"},
               {"list_view<struct{y: bool, x: int8}>", "[{null, 2}]"});
}

TEST(slices_are_promoted) {
  static const char *const types[] = {"int8",
                                      "string_view",
                                      "list<int8>",
                                      "list_view<string>",
                                      "fixed_list<int8>[1]",
                                      "list<struct{x: list<int8>}>"};
  static const char *const rows[] = {
      "1 null 3 4",          "'a' null 'a value that is long' 'b'",
      "[1] null [2, 3] [4]", "['a'] null ['b', null] ['c']",
      "[1] null [3] [4]",    "[{[1]}] null [{[2, 3]}, {null}, {[4]}] [{[5]}]"};
  static const char *const wide[] = {"int64",
                                     "large_string",
                                     "large_list<int64>",
                                     "large_list<large_string>",
                                     "large_list<int16>",
                                     "large_list<struct{x: large_list<int64>}>"};
  static const char *const expected[] = {"null 3",      "null 'a value that is long'",
                                         "null [2, 3]", "null ['b', null]",
                                         "null [3]",    "null [{[2, 3]}, {null}, {[4]}]"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    cst_array *whole = array_sample(types[i], rows[i]);
    cst_array *other = array_sample(wide[i], "");
    cst_array *part = NULL;
    cst_array *out = NULL;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_array_slice(whole, 1, 2, &part, NULL), CST_OK);
    const cst_array *arrays[] = {other, part};
    cst_array_concat(arrays, 2, &out, &error);
    CHECK_STR(error.message, "");
    array_sample_check(out, wide[i], expected[i]);
    cst_array_release(whole);
    cst_array_release(part);
    cst_array_release(other);
    cst_array_release(out);
  }
}

static void check_refused(const char *a, const char *b, const char *path, const char *pair) {
  const char *const parts[][2] = {{a, ""}, {b, ""}};
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(concat(parts, 2, &out, &error), CST_SCHEMA);
  CHECK_STR(error.path, path);
  CHECK_CONTAINS(error.message, pair);
}

TEST(types_that_nothing_holds) {
  check_refused("struct{a: string}", "struct{a: int64}", "a", "both string and int64");
  check_refused("struct{a: uint64}", "struct{a: int8}", "a", "both uint64 and int8");
  check_refused("struct{a: list<int8>}", "struct{a: int8}", "a", "both list<int8> and int8");
  check_refused("struct{a: bool}", "struct{a: int8}", "a", "both bool and int8");
  check_refused("struct{a: timestamp}", "struct{a: int64}", "a", "both timestamp and int64");
  check_refused("struct{s: list<struct{x: bool}>}", "struct{s: list<struct{x: string}>}", "s.x",
                "both bool and string");
  check_refused("struct{a: int8}", "int8", "", "both struct<1 fields> and int8");
}

/* Values decide whether integers of 64 bits may stand beside floats; those under nulls do not. */
TEST(integers_of_64_bits_beside_floats) {
  static const char *const held[][2] = {
      {"struct{a: int64}", "{9007199254740992} {-9223372036854775808} {null} {3}"},
      {"struct{a: float32}", "{0.5}"},
      {"struct{a: uint64}", "{18446744073709549568}"}};
  static const char *const nested[][2] = {
      {"struct{l: list<struct{x: int64}>}", "{[{1} {2}]} {null} {[{7} {9007199254740993}]}"},
      {"struct{l: list<struct{x: float64}>}", "{[{0.5}]}"}};
  static const char *const bare[][2] = {{"float64", "0.5"}, {"int64", "1 -9007199254740993 2"}};
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(concat(held, 2, &out, &error), CST_OK);
  array_sample_check(out, "struct{a: float64}",
                     "{9007199254740992.0} {-9223372036854775808.0} {null} {3.0} {0.5}");
  cst_array_release(out);
  CHECK_EQ(concat(held + 1, 2, &out, &error), CST_OK);
  array_sample_check(out, "struct{a: float64}", "{0.5} {18446744073709549568.0}");
  cst_array_release(out);
  CHECK_EQ(concat(held, 3, &out, &error), CST_SCHEMA); /* uint64 and a sign, as without floats */
  CHECK_EQ(concat(nested, 2, &out, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "the integer 9007199254740993 and floats");
  CHECK_STR(error.path, "l.x");
  CHECK_EQ(error.record, 2);
  CHECK_EQ(concat(bare, 2, &out, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "the integer -9007199254740993 and floats");
  CHECK_EQ(error.record, 1);
}

TEST(columns_of_one_name) {
  static const char *const parts[][2] = {{"struct{a: int8, a: int8}", ""}, {"struct{b: int8}", ""}};
  static const char *const same[][2] = {{"struct{a: int8, a: int8}", ""},
                                        {"struct{a: int8, a: int8}", ""}};
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(concat(parts, 2, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.path, "a");
  CHECK_EQ(concat(same, 2, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(concat(same, 1, &out, &error), CST_INVALID_ARGUMENT);
}

TEST(arguments_that_are_missing) {
  cst_array *array = array_sample("int8", "1");
  const cst_array *arrays[] = {array, NULL};
  cst_array *out = NULL;
  CHECK_EQ(cst_array_concat(arrays, 2, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_concat(arrays, 1, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_concat(NULL, 1, &out, NULL), CST_INVALID_ARGUMENT);
  cst_array_release(array);
}

TEST(nullability_and_metadata) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct ArrowBuffer metadata;
  cst_array *arrays[2] = {NULL, NULL};
  cst_array *out = NULL;
  arrow_text("struct{a: int8, b: int8, c: int8, d: string}", "{1, 2, 3, 'x'}", &schema, &array);
  CHECK_EQ(ArrowMetadataBuilderInit(&metadata, NULL), 0);
  CHECK_EQ(ArrowMetadataBuilderAppend(&metadata, ArrowCharView("k"), ArrowCharView("v")), 0);
  for (int i = 0; i < 4; i++) {
    schema.children[i]->flags = 0;
    CHECK_EQ(ArrowSchemaSetMetadata(schema.children[i], (const char *)metadata.data), 0);
  }
  ArrowBufferReset(&metadata);
  CHECK_EQ(cst_array_import(&schema, &array, 0, NULL, &arrays[0], NULL), CST_OK);
  schema.release(&schema);
  arrow_text("struct{a: int8, b: int8, d: large_string}", "{null, 2, 'x'}", &schema, &array);
  schema.children[1]->flags = 0;
  schema.children[2]->flags = 0;
  CHECK_EQ(cst_array_import(&schema, &array, 0, NULL, &arrays[1], NULL), CST_OK);
  schema.release(&schema);
  CHECK_EQ(cst_array_concat((const cst_array *const *)arrays, 2, &out, NULL), CST_OK);
  struct ArrowSchema **fields = cst_array_schema(out)->children;
  CHECK_EQ(fields[0]->flags, ARROW_FLAG_NULLABLE);
  CHECK_EQ(fields[1]->flags, 0);
  CHECK_EQ(fields[2]->flags, ARROW_FLAG_NULLABLE); /* missing in the second */
  CHECK_EQ(fields[3]->flags, 0);
  CHECK(ArrowMetadataHasKey(fields[0]->metadata, ArrowCharView("k")));
  CHECK(fields[3]->metadata == NULL); /* of another type now */
  for (int i = 0; i < 2; i++) cst_array_release(arrays[i]);
  cst_array_release(out);
}

static int join(void *context) {
  cst_array *const *arrays = context;
  cst_array *out = NULL;
  cst_status status = cst_array_concat((const cst_array *const *)arrays, 2, &out, NULL);
  cst_array_release(out);
  return status;
}

TEST(allocations_may_fail) {
  cst_array *arrays[2];
  arrays[0] = array_sample("struct{a: list_view<string_view>, b: int8, c: fixed_list<int8>[2]}",
                           "{['a value that is long'], 1, [2, 3]} {null, null, null}");
  arrays[1] = array_sample("struct{d: list<null>, b: int64, c: list<int8>, a: list<string>}",
                           "{[null], 1, [4], ['x']}");
  FOR_EACH_ALLOCATION_FAILURE(join, arrays, CST_NO_MEMORY);
  cst_array_release(arrays[1]);
  arrays[1] = cst_array_retain(arrays[0]);
  FOR_EACH_ALLOCATION_FAILURE(join, arrays, CST_NO_MEMORY);
  for (int i = 0; i < 2; i++) cst_array_release(arrays[i]);
}
