/* Tests of the schema: parsing, the checks when it is read (promise P15), writing, features. */
#include <columnstone/schema.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "harness.h"

static cst_schema *parse(const char *text) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_schema_from_text(text, strlen(text), &schema, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  return schema;
}

static void check_refused(const char *text, int64_t line, const char *path, const char *message) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, &error), CST_SCHEMA);
  CHECK_EQ(error.code, CST_SCHEMA);
  CHECK_CONTAINS(error.message, message);
  CHECK_STR(error.path, path);
  CHECK_EQ(error.line, line);
  CHECK(schema == NULL);
  CHECK_EQ(cst_schema_parse(text, strlen(text), &schema, NULL), CST_SCHEMA);
}

TEST(names_types_and_shapes_are_checked) {
  check_refused("\nfeature { type: INT }", 2, "", "a feature has no name");
  check_refused("feature { name: 'a\\377' type: INT }", 1, "", "not valid UTF-8");
  check_refused("feature { name: 'a' }", 1, "a", "the feature has no type");
  check_refused("feature { name: 'a' 6: 99 }", 1, "a", "the feature has no type");
  check_refused("feature { name: 'a' type: INT }\nfeature { name: 'b' type: INT }\n"
                "feature { name: 'a' type: BYTES }",
                3, "a", "two features have the same name");
  check_refused("feature { name: 'a' type: INT shape { dim { size: 2 }\n dim { size: -2 } } }", 2,
                "a", "dim 1 of the shape has the size -2");
  check_refused("feature { name: 'a' type: INT shape { dim { size: 4294967296 }\n"
                "dim { size: 4294967296 } } }",
                2, "a", "more than 63 bits");
  check_refused("feature { name: 's' type: STRUCT struct_domain {\n feature { name: 'c' } } }", 2,
                "s.c", "the feature has no type");
  check_refused("feature { name: 's' type: STRUCT struct_domain {\n"
                "feature { name: 'c' type: INT } feature { name: 'c' type: INT } } }",
                2, "s.c", "two features have the same name");
}

#define AB "feature { name: 'a' type: INT } feature { name: 'b' type: BYTES }\n"

TEST(sparse_features_are_checked) {
  check_refused(AB "sparse_feature { index_feature { name: 'a' } value_feature { name: 'b' } }", 2,
                "", "a sparse feature has no name");
  check_refused(AB "sparse_feature { name: 's' value_feature { name: 'b' } }", 2, "s",
                "has no index feature");
  check_refused(AB "sparse_feature { name: 's' index_feature { name: 'a' } }", 2, "s",
                "has no value feature");
  check_refused(AB "sparse_feature { name: 's' index_feature { name: 'x' }\n"
                   "value_feature { name: 'b' } }",
                2, "s", "the index feature 'x' does not exist");
  check_refused(AB "sparse_feature { name: 's' index_feature { name: 'a' }\n"
                   "value_feature { name: 'y' } }",
                3, "s", "the value feature 'y' does not exist");
  check_refused(AB "sparse_feature { name: 's' index_feature { }\n value_feature { name: 'b' } }",
                2, "s", "an index feature has no name");
  const char *one = "sparse_feature { name: 's' index_feature { name: 'a' } "
                    "value_feature { name: 'b' } }\n";
  char two[512];
  snprintf(two, sizeof two, "%s%s%s", AB, one, one);
  check_refused(two, 3, "s", "two sparse features have the same name");
}

/* A default group with one tensor 't' of this kind. */
static void check_tensor_refused(const char *kind, const char *message) {
  char text[1024];
  snprintf(text, sizeof text,
           AB "feature { name: 's' type: STRUCT struct_domain { feature { name: 'c' type: INT } } }"
              "tensor_representation_group { key: '' value { tensor_representation { key: 't' "
              "value { %s } } } }",
           kind);
  check_refused(text, 2, "t", message);
}

TEST(tensor_representations_are_checked) {
  check_tensor_refused("", "the tensor representation is empty");
  check_tensor_refused("dense_tensor { }", "has no column_name");
  check_tensor_refused("dense_tensor { column_name: 'x' }", "the column_name 'x' does not exist");
  check_tensor_refused("dense_tensor { column_name: 'a' shape { dim { size: -1 } } }",
                       "dim 0 of the shape has the size -1");
  check_tensor_refused("dense_tensor { column_name: 'a' shape { dim { size: 4294967296 } "
                       "dim { size: 4294967296 } } }",
                       "more than 63 bits");
  check_tensor_refused("varlen_sparse_tensor { column_name: 'x' }", "does not exist");
  check_tensor_refused("sparse_tensor { value_column_name: 'b' }", "has no index column");
  check_tensor_refused("sparse_tensor { index_column_names: 'a' }", "has no value_column_name");
  check_tensor_refused("sparse_tensor { index_column_names: 'x' value_column_name: 'b' }",
                       "the index column 'x' does not exist");
  check_tensor_refused("sparse_tensor { index_column_names: 'a' value_column_name: 'b' "
                       "dense_shape { dim { size: 1 } dim { size: 2 } } }",
                       "1 index columns, and dense_shape 2 dims");
  check_tensor_refused("sparse_tensor { index_column_names: 'a' value_column_name: 'b' "
                       "dense_shape { dim { size: -2 } } }",
                       "has the size -2");
  check_tensor_refused("ragged_tensor { }", "has no feature_path");
  check_tensor_refused("ragged_tensor { feature_path { } }", "has no feature_path");
  check_tensor_refused("ragged_tensor { feature_path { step: 'x' } }", "no feature is at the path");
  check_tensor_refused("ragged_tensor { feature_path { step: 's' step: 'x' } }",
                       "no feature is at the path 's...'");
  check_tensor_refused("ragged_tensor { feature_path { step: 'a' } partition { } }",
                       "a partition of the ragged tensor is empty");
  check_tensor_refused(
      "ragged_tensor { feature_path { step: 'a' } partition { uniform_row_length: 0 } }",
      "uniform_row_length is 0");
  check_tensor_refused("ragged_tensor { feature_path { step: 'a' } partition { row_length: 'x' } }",
                       "the row_length column 'x' does not exist");
  check_tensor_refused(
      "ragged_tensor { feature_path { step: 's' step: 'c' } partition { row_length: 'a' } }",
      "the row_length column 'a' does not exist");
}

TEST(what_is_not_used_need_not_be_whole) {
  cst_schema_release(parse("sparse_feature { name: 's' deprecated: true }"));
  cst_schema_release(parse("sparse_feature { name: 's' lifecycle_stage: PLANNED }"));
  cst_schema_release(parse(AB "tensor_representation_group { key: '' value { "
                              "tensor_representation { key: 't' value { 9 { 1: 'b' } } } } }"));
}

TEST(features_are_what_the_text_says) {
  cst_schema *schema = parse(
      "feature { name: 'scalar' type: INT shape { } presence { min_fraction: 1 } }\n"
      "feature { name: 'matrix' type: FLOAT shape { dim { size: 2 } dim { size: 0 } } }\n"
      "feature { name: 'open' type: BYTES shape { dim { size: 2 } dim { } } }\n"
      "feature { name: 'minus' type: BYTES shape { dim { size: -1 } } }\n"
      "feature { name: 'free' type: BYTES deprecated: true }\n"
      "feature { name: 'never' type: TYPE_UNKNOWN lifecycle_stage: ALPHA }\n"
      "feature { name: 'nul\\000x' type: INT lifecycle_stage: BETA }\n"
      "feature { name: 's' type: STRUCT struct_domain { feature { name: 'c' type: INT } } }\n");
  CHECK_EQ(cst_schema_num_features(schema), 8);
  const cst_feature *f = cst_schema_feature(schema, 0);
  CHECK_STR(f->name, "scalar");
  CHECK_EQ(f->type, CST_FEATURE_INT);
  CHECK(f->in_use && f->has_fixed_shape);
  CHECK_EQ(f->num_dims, 0);
  f = cst_schema_feature(schema, 1);
  CHECK(f->has_fixed_shape);
  CHECK_EQ(f->num_dims, 2);
  CHECK_EQ(f->dims[0], 2);
  CHECK_EQ(f->dims[1], 0);
  CHECK(!cst_schema_feature(schema, 2)->has_fixed_shape);
  CHECK(!cst_schema_feature(schema, 3)->has_fixed_shape);
  CHECK(!cst_schema_feature(schema, 4)->in_use);
  CHECK_EQ(cst_schema_feature(schema, 5)->type, CST_FEATURE_UNKNOWN);
  CHECK(!cst_schema_feature(schema, 5)->in_use);
  CHECK_EQ(cst_schema_feature(schema, 6)->name_size, 5);
  CHECK(cst_schema_feature(schema, 6)->in_use);
  f = cst_schema_feature(schema, 7);
  CHECK_EQ(f->num_children, 1);
  CHECK_STR(f->children[0].name, "c");
  CHECK(cst_schema_feature(schema, 8) == NULL);
  cst_schema_release(schema);
}

TEST(stages_that_keep_a_feature_out_of_tensors) {
  static const struct {
    const char *stage;
    bool in_use;
  } stages[] = {{"UNKNOWN_STAGE", true}, {"PLANNED", false},   {"ALPHA", false},
                {"BETA", true},          {"PRODUCTION", true}, {"DEPRECATED", false},
                {"DEBUG_ONLY", false},   {"DISABLED", false},  {"VALIDATION_DERIVED", false}};
  for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
    char text[128];
    snprintf(text, sizeof text, "feature { name: 'a' type: INT lifecycle_stage: %s }",
             stages[i].stage);
    cst_schema *schema = parse(text);
    CHECK_EQ(cst_schema_feature(schema, 0)->in_use, stages[i].in_use);
    cst_schema_release(schema);
  }
}

/* ---- forms ---- */

static const char full_text[] =
    "feature {\n  name: \"a\"\n  type: INT\n  int_domain {\n    min: -3\n    99: \"later\"\n  }\n"
    "  annotation {\n    tag: \"t\\303\"\n    extra_metadata {\n      type_url: \"x/y\"\n"
    "      value: \"\\001\"\n    }\n  }\n  77 {\n    1: 5\n  }\n}\n"
    "feature {\n  name: \"ä\"\n  type: FLOAT\n  float_domain {\n    min: 0.1\n    max: inf\n  }\n"
    "  presence {\n    min_fraction: 0.25\n  }\n}\n"
    "string_domain {\n  name: \"d\"\n  value: \"one\"\n}\n"
    "tensor_representation_group {\n  key: \"\"\n  value {\n    tensor_representation {\n"
    "      key: \"t\"\n      value {\n        dense_tensor {\n          column_name: \"a\"\n"
    "        }\n      }\n    }\n  }\n}\n"
    "represent_variable_length_as_ragged: true\n1000: 0x00000007\n";

static char *write(const cst_schema *schema, bool text, size_t *size) {
  char *out = NULL;
  cst_status status = text ? cst_schema_to_text(schema, &out, size, NULL)
                           : cst_schema_to_bytes(schema, &out, size, NULL);
  return status == CST_OK ? out : NULL;
}

TEST(text_to_binary_to_text_keeps_everything) {
  size_t size;
  cst_schema *schema = parse(full_text);
  char *text = write(schema, true, &size);
  CHECK_STR(text, full_text);
  CHECK_EQ(size, strlen(full_text));
  cst_free(text);
  char *binary = write(schema, false, &size);
  cst_schema_release(schema);
  CHECK_EQ(cst_schema_parse(binary, size, &schema, NULL), CST_OK);
  size_t text_size;
  text = write(schema, true, &text_size);
  CHECK_STR(text, full_text);
  cst_free(text);
  cst_free(binary);
  cst_schema_release(schema);
}

TEST(a_truncated_or_changed_binary_is_refused_or_read) {
  size_t size;
  cst_schema *schema = parse(full_text);
  char *binary = write(schema, false, &size);
  cst_schema_release(schema);
  for (size_t end = 0; end < size; end++) {
    char *exact = malloc(end + 1); /* so that a sanitizer sees a read past the end */
    memcpy(exact, binary, end);
    cst_error error = CST_ERROR_INIT;
    schema = NULL;
    cst_status status = cst_schema_from_bytes(exact, end, &schema, &error);
    CHECK(status == CST_OK || (status == CST_SCHEMA && error.message[0] != '\0'));
    CHECK_EQ(schema != NULL, status == CST_OK);
    cst_schema_release(schema);
    free(exact);
  }
  for (size_t at = 0; at < size; at++) {
    for (int bit = 0; bit < 8; bit++) {
      binary[at] = (char)(binary[at] ^ 1 << bit);
      schema = NULL;
      cst_error error = CST_ERROR_INIT;
      cst_status status = cst_schema_parse(binary, size, &schema, &error);
      CHECK(status == CST_OK || status == CST_SCHEMA);
      cst_schema_release(schema);
      binary[at] = (char)(binary[at] ^ 1 << bit);
    }
  }
  cst_free(binary);
}

TEST(a_truncated_text_is_refused_or_read) {
  for (size_t end = 0; end < strlen(full_text); end++) {
    cst_schema *schema = NULL;
    cst_error error = CST_ERROR_INIT;
    cst_status status = cst_schema_from_text(full_text, end, &schema, &error);
    CHECK(status == CST_OK || (status == CST_SCHEMA && error.line > 0 && error.column > 0));
    cst_schema_release(schema);
  }
}

static void check_form(const void *data, size_t size, size_t num_features) {
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_parse(data, size, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_num_features(schema), num_features);
  cst_schema_release(schema);
}

TEST(text_and_binary_are_told_apart) {
  check_form(NULL, 0, 0);
  check_form(" \n", 2, 0);
  check_form("# nothing", 9, 0);
  check_form("feature{name:'a'type:INT}", 25, 1);
  check_form("\nfeature <name:'a'type:INT>", 27, 1);
  check_form("\xef\xbb\xbf"
             "feature{name:'a'type:INT}",
             28, 1);
  check_form("\n\x05\n\x01"
             "a0\x02",
             7, 1);
  check_form("\x22\x06\x0a\x04name", 8, 0); /* a string_domain, printable but for its lengths */
  /* A feature of 102 bytes whose name has 58: begins with "\nf\n:". */
  char binary[2 + 102] = "\nf\n:";
  memset(binary + 4, 'a', 58);
  memcpy(binary + 62, "0\x02\x82\x01\x25\x0a\x23", 7);
  memset(binary + 69, 'b', 35);
  check_form(binary, sizeof binary, 1);
}

static void check_mistake(const char *bytes, size_t size, const char *hint) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_schema_parse(bytes, size, &schema, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.hint, hint);
}

TEST(files_that_are_no_schema_get_a_hint) {
  check_mistake("version https://git-lfs.github.com/spec/v1\n", 43, "git lfs pull");
  check_mistake("<!DOCTYPE html>", 15, "HTML");
  check_mistake("{\"feature\": []}", 15, "JSON");
  check_mistake("\x1f\x8b\x08\0\0\0\0\0", 8, "gzip");
  check_mistake("PAR1\x15\x04\x15\x10", 8, "Parquet");
  check_mistake("fare,company\n1,2\n", 17, "CSV");
  uint8_t record[16] = {8};
  uint32_t crc = cst__crc32c_mask(cst__crc32c(0, record, 8));
  memcpy(record + 8, &crc, sizeof crc);
  check_mistake((const char *)record, sizeof record, "TFRecord");
}

TEST(an_expanded_any_has_no_binary_form) {
  cst_schema *schema =
      parse("feature { name: 'a' type: INT annotation {\n"
            "extra_metadata { [type.googleapis.com/tensorflow.transform.BucketBoundaries] {\n"
            "  boundaries: 1.0 } } } }");
  char *out = NULL;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_schema_to_bytes(schema, &out, &size, &error), CST_UNSUPPORTED);
  CHECK_EQ(error.line, 2);
  CHECK_EQ(cst_schema_to_text(schema, &out, &size, &error), CST_OK);
  cst_schema *again = parse(out);
  cst_free(out);
  cst_schema_release(again);
  cst_schema_release(schema);
}

/* ---- files, owners, arguments, memory ---- */

TEST(a_file_is_read) {
  const char *path = harness_temp_path("schema.pbtxt");
  harness_write_file(path, full_text, strlen(full_text));
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_open(path, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_num_features(schema), 2);
  cst_schema_release(schema);
  cst_error error = CST_ERROR_INIT;
  harness_write_file(path, "feature {\n}", 11);
  CHECK_EQ(cst_schema_open(path, &schema, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.file, "schema.pbtxt");
  CHECK_EQ(cst_schema_open(harness_temp_path("none"), &schema, &error), CST_NOT_FOUND);
}

TEST(a_large_file_is_read) {
  size_t size = 300000;
  char *text = malloc(size);
  memset(text, '#', size);
  memcpy(text + size - 32, "\nfeature{name:'last' type:INT}  ", 32);
  const char *path = harness_temp_path("large.pbtxt");
  harness_write_file(path, text, size);
  free(text);
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_open(path, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_num_features(schema), 1);
  cst_schema_release(schema);
}

TEST(owners_are_counted) {
  cst_schema *schema = parse(AB);
  CHECK(cst_schema_retain(schema) == schema);
  cst_schema_release(schema);
  CHECK_EQ(cst_schema_num_features(schema), 2);
  cst_schema_release(schema);
  CHECK(cst_schema_retain(NULL) == NULL);
  cst_schema_release(NULL);
}

TEST(arguments_are_checked) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  char *out;
  size_t size;
  CHECK_EQ(cst_schema_parse(NULL, 1, &schema, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_parse("", 0, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_from_text(NULL, 1, &schema, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_from_bytes(NULL, 1, &schema, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_open(NULL, &schema, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_open("x", NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_to_text(NULL, &out, &size, &error), CST_INVALID_ARGUMENT);
  schema = parse(AB);
  CHECK_EQ(cst_schema_to_text(schema, NULL, &size, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_to_bytes(schema, &out, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_num_features(NULL), 0);
  CHECK(cst_schema_feature(NULL, 0) == NULL);
  cst_schema_release(schema);
}

static int parse_and_write(void *context) {
  cst_schema *schema = NULL;
  const char *text = context;
  char *out[2] = {NULL, NULL};
  size_t size;
  cst_status status = cst_schema_parse(text, strlen(text), &schema, NULL);
  if (status == CST_OK) {
    status = cst_schema_to_text(schema, &out[0], &size, NULL);
  }
  if (status == CST_OK) {
    status = cst_schema_to_bytes(schema, &out[1], &size, NULL);
  }
  cst_free(out[0]);
  cst_free(out[1]);
  cst_schema_release(schema);
  return (int)status;
}

TEST(out_of_memory) {
  char text[4096];
  strcpy(text, full_text);
  FOR_EACH_ALLOCATION_FAILURE(parse_and_write, text, CST_NO_MEMORY);
}

/* Padding moves the places where the arena needs a new block, until it has been everywhere. */
TEST(out_of_memory_wherever_an_arena_needs_more) {
  char text[2 * 4096];
  for (size_t padding = 0; padding < 4096; padding += 16) {
    memset(text, '#', padding + 1);
    text[padding + 1] = '\n';
    strcpy(text + padding + 2, full_text);
    FOR_EACH_ALLOCATION_FAILURE(parse_and_write, text, CST_NO_MEMORY);
  }
}
