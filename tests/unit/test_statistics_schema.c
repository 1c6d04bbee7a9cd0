/* Schemas of statistics: what they say of features, and of tables that are none. */
#include <columnstone/accumulate.h>
#include <columnstone/statistics.h>

#include "arrow_text.h"

static cst_findings *features(const char *type, const char *rows) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_accumulator *made;
  cst_findings *found;
  CHECK_EQ(cst_accumulator_new("statistics", NULL, 0, NULL, &made, NULL), CST_OK);
  arrow_text(type, rows, &schema, &array);
  CHECK_EQ(cst_accumulator_add(made, &schema, &array, NULL, -1, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_finish(made, &found, NULL), CST_OK);
  array.release(&array);
  schema.release(&schema);
  cst_accumulator_free(made);
  return found;
}

/* All white space is one blank. */
static void check_schema(const char *type, const char *rows, const char *expected) {
  cst_findings *table = features(type, rows);
  cst_schema *schema;
  char *text;
  size_t size, kept = 0;
  CHECK_EQ(cst_statistics_schema(table, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_to_text(schema, &text, &size, NULL), CST_OK);
  for (size_t i = 0; i < size; i++) {
    const char c = text[i] == '\n' ? ' ' : text[i];
    if (c != ' ' || (kept > 0 && text[kept - 1] != ' ')) {
      text[kept++] = c;
    }
  }
  text[kept - (kept > 0)] = '\0';
  CHECK_STR(text, expected);
  cst_free(text);
  cst_schema_release(schema);
  cst_findings_free(table);
}

TEST(features_and_domains) {
  check_schema("struct{a: int64}", "{1} {-3}",
               "feature { name: \"a\" type: INT int_domain { min: -3 max: 1 } presence { "
               "min_fraction: 1.0 min_count: 1 } shape { dim { size: 1 } } }");
  check_schema("struct{a: float64}", "{0.1} {null} {inf}",
               "feature { name: \"a\" value_count { min: 1 max: 1 } type: FLOAT float_domain { "
               "min: 0.099999994 } presence { min_count: 1 } }");
  check_schema("struct{a: list<string>}", "{['p', 'q']} {['p', 'p', 'q']}",
               "feature { name: \"a\" value_count { min: 2 max: 3 } type: BYTES string_domain { "
               "value: \"p\" value: \"q\" } presence { min_fraction: 1.0 min_count: 1 } }");
  check_schema("struct{a: uint64}", "{18446744073709551615}",
               "feature { name: \"a\" type: INT presence { min_fraction: 1.0 min_count: 1 } "
               "shape { dim { size: 1 } } }");
  check_schema("struct{a: list<int64>}", "{[]}",
               "feature { name: \"a\" type: TYPE_UNKNOWN presence { min_count: 0 } }");
  check_schema("struct{}", "{}", "");
}

TEST(fields_of_structs) {
  check_schema("struct{s: struct{x: list<int64>, y: struct{z: null}}, s_: bool}",
               "{{[4, 4], {null}}, true}",
               "feature { name: \"s\" type: STRUCT presence { min_fraction: 1.0 min_count: 1 } "
               "struct_domain { feature { name: \"x\" type: INT int_domain { min: 4 max: 4 } "
               "presence { min_fraction: 1.0 min_count: 1 } value_counts { value_count { min: 2 "
               "max: 2 } } } feature { name: \"y\" type: STRUCT presence { min_fraction: 1.0 "
               "min_count: 1 } struct_domain { feature { name: \"z\" type: TYPE_UNKNOWN presence { "
               "min_count: 0 } } } } } } feature { name: \"s_\" type: INT int_domain { min: 1 max: "
               "1 } presence { min_fraction: 1.0 min_count: 1 } shape { dim { size: 1 } } }");
}

TEST(other_findings) {
  cst_findings *others;
  cst_schema *schema;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_accumulators(&others, NULL), CST_OK);
  CHECK_EQ(cst_statistics_schema(others, &schema, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_statistics_schema(NULL, &schema, &error), CST_INVALID_ARGUMENT);
  cst_findings_free(others);
}

static int scenario(void *table) {
  cst_schema *schema;
  const cst_status status = cst_statistics_schema(table, &schema, NULL);
  cst_schema_release(status == CST_OK ? schema : NULL);
  return (int)status;
}

TEST(no_memory) {
  cst_findings *table =
      features("struct{a: string, s: struct{x: float64}}", "{'a', {1}} {'a', {2}}");
  FOR_EACH_ALLOCATION_FAILURE(scenario, table, CST_NO_MEMORY);
  cst_findings_free(table);
}
