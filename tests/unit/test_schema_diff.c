/* Tests of differences: two schemas as text in, one line per change out. */
#include <columnstone/validate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static const char *or_dash(const char *text) { return text != NULL ? text : "-"; }

/* "! changed path|what|before|after" */
static size_t put_line(char *to, size_t room, const cst_findings *changes, size_t i) {
  int size = snprintf(
      to, room, "%s%s %s|%s|%s|%s\n", cst_findings_number(changes, "breaks", i) == 1 ? "! " : "",
      cst_findings_text(changes, "kind", i), cst_findings_text(changes, "path", i),
      cst_findings_text(changes, "what", i), or_dash(cst_findings_text(changes, "before", i)),
      or_dash(cst_findings_text(changes, "after", i)));
  CHECK(size > 0 && (size_t)size < room);
  return (size_t)size;
}

static cst_schema *parse(const char *text) {
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  cst_status status = cst_schema_from_text(text, strlen(text), &schema, &error);
  if (status != CST_OK) {
    fprintf(stderr, "%s\n", error.message);
  }
  CHECK_EQ(status, CST_OK);
  return schema;
}

static void check_diff(const char *before, const char *after, const char *expected) {
  cst_schema *a = parse(before);
  cst_schema *b = parse(after);
  cst_findings *changes;
  char text[4096] = "";
  size_t size = 0;
  CHECK_EQ(cst_schema_diff(a, b, &changes, NULL), CST_OK);
  CHECK_STR(cst_findings_name(changes), "changes");
  for (size_t i = 0; i < cst_findings_num_rows(changes); i++) {
    size += put_line(text + size, sizeof text - size, changes, i);
  }
  CHECK_STR(text, expected);
  cst_findings_free(changes);
  cst_schema_release(a);
  cst_schema_release(b);
}

/* Two features "x" that say this. */
static void check_feature(const char *before, const char *after, const char *expected) {
  char a[512];
  char b[512];
  snprintf(a, sizeof a, "feature { name: 'x' type: INT %s }", before);
  snprintf(b, sizeof b, "feature { name: 'x' type: INT %s }", after);
  check_diff(a, b, expected);
}

TEST(equal_schemas) {
  static const char text[] =
      "feature { name: 'a' type: INT int_domain { min: 1 max: 2 } } "
      "feature { name: 'b' type: BYTES string_domain { value: 'x' value: 'y' } "
      "in_environment: 'p' in_environment: 'q' }";
  check_diff(text, text, "");
  check_diff("", "", "");
  /* The order of features and of sets counts for nothing. */
  check_diff(text,
             "feature { name: 'b' type: BYTES string_domain { value: 'y' value: 'x' } "
             "in_environment: 'q' in_environment: 'p' } "
             "feature { name: 'a' type: INT int_domain { min: 1 max: 2 } }",
             "");
}

TEST(features_come_and_go) {
  check_diff(
      "feature { name: 'a' type: INT } feature { name: 'b' type: FLOAT shape { dim { size: 3 } } }",
      "feature { name: 'c' type: BYTES } "
      "feature { name: 'd' type: INT presence { min_count: 1 } } feature { name: 'a' type: INT }",
      "! removed b||FLOAT [3]|-\n"
      "added c||-|BYTES\n"
      "! added d||-|INT\n");
}

TEST(types_and_shapes) {
  check_diff("feature { name: 'a' type: INT }", "feature { name: 'a' type: FLOAT }",
             "! changed a|type|INT|FLOAT\n");
  check_feature("shape { dim { size: 2 } }", "shape { dim { size: 2 } dim {} }",
                "! changed x|shape|[2]|[2, ?]\n");
  check_feature("shape { dim { size: 2 } }", "shape { dim { size: 2 name: 'w' } }",
                "changed x|shape|[2]|[w: 2]\n");
  check_feature("shape {}", "value_count { min: 1 max: 1 }",
                "! changed x|value_count|-|{ min: 1 max: 1 }\n"
                "! changed x|shape|[]|-\n");
}

TEST(counts) {
  check_feature("value_count { min: 1 max: 3 }", "value_count { min: 0 max: 3 }",
                "changed x|value_count|{ min: 1 max: 3 }|{ min: 0 max: 3 }\n");
  check_feature("value_count { min: 1 max: 3 }", "value_count { min: 1 max: 2 }",
                "! changed x|value_count|{ min: 1 max: 3 }|{ min: 1 max: 2 }\n");
  check_feature("value_count { min: 1 }", "", "changed x|value_count|{ min: 1 }|-\n");
  check_feature("value_counts { value_count { min: 1 } value_count { max: 4 } }",
                "value_counts { value_count { min: 1 } value_count { max: 3 } }",
                "! changed x|value_counts|{ value_count { min: 1 } value_count { max: 4 } }|"
                "{ value_count { min: 1 } value_count { max: 3 } }\n");
  check_feature("value_counts { value_count { min: 2 } }", "value_counts { value_count {} }",
                "changed x|value_counts|{ value_count { min: 2 } }|{ value_count { } }\n");
}

TEST(presence) {
  check_feature("", "presence { min_fraction: 0.5 }",
                "! changed x|presence|-|{ min_fraction: 0.5 }\n");
  check_feature("presence { min_fraction: 0.5 min_count: 1 }", "presence { min_count: 1 }",
                "changed x|presence|{ min_fraction: 0.5 min_count: 1 }|{ min_count: 1 }\n");
  check_feature("presence { min_fraction: 1 }", "presence { min_count: 1 }",
                "changed x|presence|{ min_fraction: 1.0 }|{ min_count: 1 }\n");
  check_feature("presence { min_fraction: 1 }", "presence { min_count: 2 }",
                "! changed x|presence|{ min_fraction: 1.0 }|{ min_count: 2 }\n");
  /* A fixed shape needs all records to have it. */
  check_feature("shape {} presence { min_fraction: 1 }", "shape {} presence { min_count: 1 }",
                "! changed x|presence|{ min_fraction: 1.0 }|{ min_count: 1 }\n");
  check_feature("group_presence {}", "group_presence { required: true }",
                "! changed x|group_presence|{ }|{ required: true }\n");
}

TEST(numeric_domains) {
  check_feature("int_domain { min: 1 max: 9 }", "int_domain { min: 0 max: 10 }",
                "changed x|int_domain|{ min: 1 max: 9 }|{ min: 0 max: 10 }\n");
  check_feature("int_domain { min: 1 }", "int_domain { min: 1 max: 10 }",
                "! changed x|int_domain|{ min: 1 }|{ min: 1 max: 10 }\n");
  check_feature("", "int_domain { min: 1 }", "! changed x|int_domain|-|{ min: 1 }\n");
  check_feature("int_domain { min: 1 }", "", "changed x|int_domain|{ min: 1 }|-\n");
  check_feature("float_domain { min: 0.5 }", "float_domain { min: 0.5 disallow_nan: true }",
                "! changed x|float_domain|{ min: 0.5 }|{ min: 0.5 disallow_nan: true }\n");
  check_feature("float_domain { min: 0.5 max: 1.0 }", "float_domain { min: 0.25 max: 1.0 }",
                "changed x|float_domain|{ min: 0.5 max: 1.0 }|{ min: 0.25 max: 1.0 }\n");
  check_feature("float_domain { min: 0.5 }", "int_domain { min: 0 }",
                "! changed x|int_domain|{ min: 0.5 }|{ min: 0 }\n");
  check_feature("mid_domain {}", "url_domain {}", "! changed x|url_domain|{ }|{ }\n");
}

TEST(string_domains) {
  check_feature("string_domain { value: 'a' value: 'b' }",
                "string_domain { value: 'b' value: 'c' value: 'd' }",
                "! changed x|string_domain|2 values, with \"a\"|3 values, with \"c\", \"d\"\n");
  check_feature("string_domain { value: 'a' }", "string_domain { value: 'a' value: '' }",
                "changed x|string_domain|1 value|2 values, with \"\"\n");
  check_feature("string_domain { value: 'a' }",
                "string_domain { value: 'a' is_categorical: CATEGORICAL_YES }",
                "changed x|string_domain|1 value|1 value { is_categorical: CATEGORICAL_YES }\n");
}

TEST(domains_of_the_schema) {
  check_diff("feature { name: 'x' type: BYTES domain: 'd' } string_domain { name: 'd' value: 'a' }",
             "feature { name: 'x' type: BYTES string_domain { value: 'a' value: 'b' } }",
             "changed x|string_domain|\"d\"|{ value: \"a\" value: \"b\" }\n"
             "removed d|schema.string_domain|{ name: \"d\" value: \"a\" }|-\n");
  check_diff("feature { name: 'x' type: BYTES domain: 'd' } string_domain { name: 'd' value: 'a' }",
             "feature { name: 'x' type: BYTES domain: 'd' } string_domain { name: 'd' value: 'b' }",
             "! changed d|schema.string_domain|1 value, with \"a\" { name: \"d\" }|"
             "1 value, with \"b\" { name: \"d\" }\n");
  check_diff("feature { name: 'x' type: INT domain: 'd' } int_domain { name: 'd' min: 2 }",
             "feature { name: 'x' type: INT domain: 'd' } int_domain { name: 'd' min: 1 }",
             "changed d|schema.int_domain|{ name: \"d\" min: 2 }|{ name: \"d\" min: 1 }\n");
}

TEST(life) {
  check_feature("", "deprecated: true", "! changed x|deprecated|-|true\n");
  check_feature("lifecycle_stage: BETA", "lifecycle_stage: PRODUCTION",
                "changed x|lifecycle_stage|BETA|PRODUCTION\n");
  check_feature("lifecycle_stage: BETA", "lifecycle_stage: ALPHA",
                "! changed x|lifecycle_stage|BETA|ALPHA\n");
  check_feature("in_environment: 'a'", "in_environment: 'a' in_environment: 'b'",
                "! changed x|in_environment|[\"a\"]|[\"a\", \"b\"]\n");
  check_diff("default_environment: 'a'",
             "default_environment: 'b' represent_variable_length_as_ragged: true",
             "! changed |default_environment|[\"a\"]|[\"b\"]\n"
             "! changed |represent_variable_length_as_ragged|-|true\n");
  check_feature(
      "annotation { tag: 't' comment: 'two\\nlines  \"q\"' }", "annotation { tag: 'u' }",
      "changed x|annotation|{ tag: \"t\" comment: \"two\\nlines  \\\"q\\\"\" }|{ tag: \"u\" }\n");
}

TEST(structs) {
  check_diff(
      "feature { name: 's' type: STRUCT struct_domain { feature { name: 'a' type: INT } "
      "feature { name: 't' type: STRUCT struct_domain { feature { name: 'b' type: INT } } } } }",
      "feature { name: 's' type: STRUCT struct_domain { feature { name: 'c' type: INT } "
      "feature { name: 't' type: STRUCT struct_domain { feature { name: 'b' type: FLOAT } } } } }",
      "! removed s.a||INT|-\n"
      "! changed s.t.b|type|INT|FLOAT\n"
      "added s.c||-|INT\n");
  check_diff("feature { name: 's' type: STRUCT struct_domain { feature { name: 'a' type: INT } } }",
             "feature { name: 's' type: BYTES }",
             "! changed s|type|STRUCT|BYTES\n"
             "! removed s.a||INT|-\n");
}

#define COLUMNS "feature { name: 'i' type: INT } feature { name: 'v' type: FLOAT } "
#define SPARSE "sparse_feature { name: 's' index_feature { name: 'i' } value_feature { name: 'v' } "

TEST(sparse_features) {
  check_diff(COLUMNS, COLUMNS SPARSE "}",
             "! added s|sparse_feature|-|{ name: \"s\" index_feature { name: \"i\" } "
             "value_feature { name: \"v\" } }\n");
  check_diff(COLUMNS SPARSE "}", COLUMNS SPARSE "is_sorted: true }",
             "! changed s|sparse_feature.is_sorted|-|true\n");
  check_diff(COLUMNS SPARSE "is_sorted: true }", COLUMNS SPARSE "}",
             "changed s|sparse_feature.is_sorted|true|-\n");
  /* The domain of an index is the tensor's shape. */
  check_diff("feature { name: 'i' type: INT int_domain { min: 0 max: 4 } } "
             "feature { name: 'v' type: FLOAT } " SPARSE "}",
             "feature { name: 'i' type: INT int_domain { min: 0 max: 9 } } "
             "feature { name: 'v' type: FLOAT } " SPARSE "}",
             "! changed i|int_domain|{ min: 0 max: 4 }|{ min: 0 max: 9 }\n");
  check_diff("weighted_feature { name: 'w' feature { step: 'a' } }",
             "weighted_feature { name: 'w' feature { step: 'b' } }",
             "changed w|weighted_feature.feature|{ step: \"a\" }|{ step: \"b\" }\n");
}

#define GROUP(name, tensors) \
  COLUMNS "tensor_representation_group { key: '" name "' value { " tensors " } }"
#define VARLEN(name, column)                                                                     \
  "tensor_representation { key: '" name "' value { varlen_sparse_tensor { column_name: '" column \
  "' } } }"

TEST(tensors) {
  check_diff(GROUP("g", VARLEN("t", "i") VARLEN("gone", "v")),
             GROUP("g", VARLEN("t", "v") VARLEN("new", "i")),
             "! removed g/gone|tensor_representation|"
             "{ varlen_sparse_tensor { column_name: \"v\" } }|-\n"
             "! changed g/t|tensor_representation|{ varlen_sparse_tensor { column_name: \"i\" } }|"
             "{ varlen_sparse_tensor { column_name: \"v\" } }\n"
             "! added g/new|tensor_representation|-|"
             "{ varlen_sparse_tensor { column_name: \"i\" } }\n");
  check_diff(COLUMNS, GROUP("g", VARLEN("t", "i")),
             "added g/t|tensor_representation|-|{ varlen_sparse_tensor { column_name: \"i\" } }\n");
  check_diff(
      COLUMNS, GROUP("", VARLEN("t", "i")),
      "! added /t|tensor_representation|-|{ varlen_sparse_tensor { column_name: \"i\" } }\n");
  check_diff(GROUP("g", ""), COLUMNS, "! removed g|tensor_representation_group|{ }|-\n");
}

TEST(unknown_fields) {
  check_feature("1000: 7", "1000: 8", "changed x|unknown fields|1000: 7|1000: 8\n");
  check_feature("int_domain { 77: 1 }", "int_domain {}", "changed x|int_domain|{ 77: 1 }|{ }\n");
  check_diff("", "2000 { 1: 2 }", "changed |unknown fields|-|2000 { 1: 2 }\n");
}

TEST(arguments) {
  cst_schema *schema = parse(COLUMNS);
  cst_error error = CST_ERROR_INIT;
  cst_findings *changes;
  CHECK_EQ(cst_schema_diff(NULL, schema, &changes, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "before");
  CHECK_EQ(cst_schema_diff(schema, NULL, &changes, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_diff(schema, schema, NULL, &error), CST_INVALID_ARGUMENT);
  cst_schema_release(schema);
}

static int diff_all(void *context) {
  cst_schema *const *both = context;
  cst_findings *changes;
  cst_status status = cst_schema_diff(both[0], both[1], &changes, NULL);
  cst_findings_free(status == CST_OK ? changes : NULL);
  return (int)status;
}

TEST(out_of_memory) {
  cst_schema *both[2] = {
      parse(GROUP("g", VARLEN("t", "i")) SPARSE
            "} default_environment: 'a' "
            "feature { name: 's' type: STRUCT struct_domain { feature { name: 'a' type: BYTES "
            "string_domain { value: 'b' } } } }"),
      parse(GROUP("g", VARLEN("t", "v")) "default_environment: 'b' "
                                         "feature { name: 's' type: STRUCT struct_domain { feature "
                                         "{ name: 'a' type: BYTES "
                                         "string_domain { value: 'c' } } } } 2000: 1")};
  FOR_EACH_ALLOCATION_FAILURE(diff_all, both, CST_NO_MEMORY);
  cst_schema_release(both[0]);
  cst_schema_release(both[1]);
}
