/* Reading JSON lines with given types: a TFMD schema, or an Arrow struct. */
#include <columnstone/schema.h>

#include "arrow_text.h"
#include "json_support.h"

/* ---- a TFMD schema ---- */

static outcome read_with_schema(const char *schema, const char *text, uint32_t flags) {
  cst__table_options options = table_options();
  cst_schema *parsed = NULL;
  texts t = one_text(text);
  CHECK_EQ(cst_schema_from_text(schema, strlen(schema), &parsed, NULL), CST_OK);
  options.schema = parsed;
  options.column_flags = flags;
  outcome o = read_json(&t, &options, NULL);
  cst_schema_release(parsed);
  return o;
}

static const char features[] =
    "feature { name: 'i' type: INT } feature { name: 'f' type: FLOAT } "
    "feature { name: 'b' type: BYTES } feature { name: 'n' type: TYPE_UNKNOWN }";

#define FEATURES_SCHEMA "+s{i: +L{item: l}, f: +L{item: f}, b: +L{item: Z}, n: n}\n"

static void check_schema(const char *text, const char *rows) {
  char expected[4096];
  snprintf(expected, sizeof expected, "%s%s", FEATURES_SCHEMA, rows);
  outcome o = read_with_schema(features, text, 0);
  CHECK_STR(o.error.message, "");
  CHECK_STR(outcome_text(&o), expected);
  outcome_free(&o);
}

static void check_misfit(const char *text, const char *message, const char *path, int64_t column) {
  outcome o = read_with_schema(features, text, 0);
  CHECK_EQ(o.status, CST_SCHEMA);
  CHECK_CONTAINS(o.error.message, message);
  CHECK_STR(o.error.path, path);
  CHECK_STR(o.error.file, "a.jsonl");
  CHECK_EQ(o.error.record, 0);
  CHECK_EQ(o.error.line, 1);
  CHECK_EQ(o.error.column, column);
  outcome_free(&o);
}

TEST(printed_lines_come_back) {
  static const char lines[] =
      "{\"i\": [9223372036854775807, -9223372036854775808, 0], \"f\": [\"NaN\", \"Infinity\", "
      "\"-Infinity\", -0.0, 1.0e-45, 3.4028235e+38, 0.1], \"b\": [\"\", \"x\", {\"base64\": "
      "\"/w==\"}], \"n\": null}\n"
      "{\"i\": null, \"f\": null, \"b\": null, \"n\": null}\n"
      "{\"i\": [], \"f\": [], \"b\": [], \"n\": null}\n"
      "{\"i\": [1], \"f\": [1.0], \"b\": [\"\"], \"n\": null}\n";
  char expected[1024];
  snprintf(expected, sizeof expected, "%s", lines);
  char *subnormal = strstr(expected, "1.0e-45"); /* as the writer has it */
  memmove(subnormal + 5, subnormal + 7, strlen(subnormal + 7) + 1);
  memcpy(subnormal, "1e-45", 5);
  check_schema(lines, expected);
}

TEST(a_list_without_a_value_is_null_where_no_type_is_known) {
  check_schema("{\"n\":[]}\n{\"n\":[null]}",
               "{\"i\": null, \"f\": null, \"b\": null, \"n\": null}\n"
               "{\"i\": null, \"f\": null, \"b\": null, \"n\": null}\n");
}

TEST(scalars_are_lists_of_one_and_other_keys_are_passed_over) {
  check_schema("{\"i\":5,\"z\":99999999999999999999,\"f\":2,\"b\":{\"base64\":\"/w==\"}}\n{}",
               "{\"i\": [5], \"f\": [2.0], \"b\": [{\"base64\": \"/w==\"}], \"n\": null}\n"
               "{\"i\": null, \"f\": null, \"b\": null, \"n\": null}\n");
}

TEST(what_does_not_fit_the_schema) {
  check_misfit("{\"i\":[1, 1.0]}", "with a point or an exponent, expected int64", "i[1]", 10);
  check_misfit("{\"i\":[9223372036854775808]}", "out of range, expected int64", "i[0]", 7);
  check_misfit("{\"i\":\"1\"}", "a string, expected int64", "i", 6);
  check_misfit("{\"i\":[null]}", "null, expected int64", "i[0]", 7);
  check_misfit("{\"i\":[[1]]}", "a list, expected int64", "i[0]", 7);
  check_misfit("{\"i\":true}", "true or false, expected int64", "i", 6);
  check_misfit("{\"f\":1e39}", "out of range, expected float32", "f", 6);
  check_misfit("{\"f\":\"nan\"}", "a string, expected float32", "f", 6);
  check_misfit("{\"b\":1}", "a number, expected a string", "b", 6);
  check_misfit("{\"b\":{\"base64\":\"!\"}}", "not base64", "b", 6);
  check_misfit("{\"b\":{\"x\":\"\"}}", "an object, expected a string", "b", 6);
  check_misfit("{\"n\":[1]}", "a list, expected null", "n", 6);
  check_misfit("{\"n\":[null,[]]}", "a list, expected null", "n", 6);
}

TEST(feature_lists) {
  static const char schema[] =
      "feature { name: 'i' type: INT } feature { name: '##SEQUENCE##' type: STRUCT struct_domain { "
      "feature { name: 's' type: INT } feature { name: 't' type: BYTES } } }";
  outcome o = read_with_schema(schema,
                               "{\"i\":1,\"##SEQUENCE##\":{\"s\":[[1],null,[]],\"t\":null}}\n"
                               "{\"##SEQUENCE##\":{\"t\":[\"x\"],\"s\":[]}}\n{}\n",
                               0);
  CHECK_STR(outcome_text(&o),
            "+s{i: +L{item: l}, ##SEQUENCE##: +s{s: +L{item: +L{item: l}}, t: +L{item: +L{item: "
            "Z}}}}\n"
            "{\"i\": [1], \"##SEQUENCE##\": {\"s\": [[1], null, []], \"t\": null}}\n"
            "{\"i\": null, \"##SEQUENCE##\": {\"s\": [], \"t\": [[\"x\"]]}}\n"
            "{\"i\": null, \"##SEQUENCE##\": {\"s\": null, \"t\": null}}\n");
  outcome_free(&o);
}

TEST(column_flags) {
  static const char schema[] =
      "feature { name: 'a' type: INT shape { dim { size: 2 } } } feature { name: 'b' type: BYTES }";
  outcome o = read_with_schema(schema, "{\"b\":[\"x\"]}\n{\"a\":[1,2]}\n{}\n",
                               CST_COLUMNS_OFFSETS_32 | CST_COLUMNS_FIXED_SIZE);
  CHECK_STR(outcome_text(&o),
            "+s{a: +w:2{item: l}, b: +l{item: z}}\n{\"a\": null, \"b\": [\"x\"]}\n"
            "{\"a\": [1, 2], \"b\": null}\n{\"a\": null, \"b\": null}\n");
  outcome_free(&o);
  o = read_with_schema(schema, "{\"b\":[\"x\",\"longer than twelve bytes\"]}\n{}\n{\"b\":\"\"}\n",
                       CST_COLUMNS_BINARY_VIEWS);
  CHECK_STR(outcome_text(&o), "+s{a: +L{item: l}, b: +L{item: vz}}\n"
                              "{\"a\": null, \"b\": [\"x\", \"longer than twelve bytes\"]}\n"
                              "{\"a\": null, \"b\": null}\n{\"a\": null, \"b\": [\"\"]}\n");
  outcome_free(&o);
  o = read_with_schema(schema, "{\"a\":[1]}", CST_COLUMNS_FIXED_SIZE);
  CHECK_EQ(o.status, CST_SCHEMA);
  CHECK_STR(o.error.message, "a list of 1 values, expected 2");
  outcome_free(&o);
}

TEST(columns_of_a_schema) {
  static const char *const wanted[] = {"f", "i"};
  static const char *const missing[] = {"ii"};
  cst__table_options options = table_options();
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_from_text(features, strlen(features), &schema, NULL), CST_OK);
  texts t = one_text("{\"i\":1,\"f\":2,\"b\":3}\n");
  options.schema = schema;
  options.columns = wanted;
  options.num_columns = 2;
  outcome o = read_json(&t, &options, NULL);
  CHECK_STR(outcome_text(&o), "+s{f: +L{item: f}, i: +L{item: l}}\n{\"f\": [2.0], \"i\": [1]}\n");
  outcome_free(&o);
  options.columns = missing;
  options.num_columns = 1;
  o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_NOT_FOUND);
  CHECK_STR(o.error.path, "ii");
  outcome_free(&o);
  cst_schema_release(schema);
}

/* ---- an Arrow struct ---- */

static outcome read_as(const char *type, const char *text, bool is_required) {
  cst__table_options options = table_options();
  struct ArrowSchema schema;
  texts t = one_text(text);
  arrow_text_parse_type(&type, &schema);
  for (int64_t i = 0; is_required && i < schema.n_children; i++) {
    schema.children[i]->flags = 0;
  }
  options.types = &schema;
  outcome o = read_json(&t, &options, NULL);
  ArrowSchemaRelease(&schema);
  return o;
}

static void check_as(const char *type, const char *text, const char *expected) {
  outcome o = read_as(type, text, false);
  CHECK_STR(o.error.message, "");
  CHECK_STR(outcome_text(&o), expected);
  outcome_free(&o);
}

static void check_not_as(const char *type, const char *text, cst_status status, const char *message,
                         const char *path) {
  outcome o = read_as(type, text, false);
  CHECK_EQ(o.status, status);
  CHECK_CONTAINS(o.error.message, message);
  CHECK_STR(o.error.path, path);
  outcome_free(&o);
}

TEST(given_integers) {
  check_as("struct{a: int8, b: int16, c: int32, d: int64}",
           "{\"a\":-128,\"b\":-32768,\"c\":-2147483648,\"d\":-9223372036854775808}\n{}",
           "+s{a: c, b: s, c: i, d: l}\n{\"a\": -128, \"b\": -32768, \"c\": -2147483648, \"d\": "
           "-9223372036854775808}\n{\"a\": null, \"b\": null, \"c\": null, \"d\": null}\n");
  check_as("struct{a: uint8, b: uint16, c: uint32, d: uint64}",
           "{\"a\":255,\"b\":65535,\"c\":4294967295,\"d\":18446744073709551615}",
           "+s{a: C, b: S, c: I, d: L}\n{\"a\": 255, \"b\": 65535, \"c\": 4294967295, \"d\": "
           "18446744073709551615}\n");
  check_not_as("struct{a: int8}", "{\"a\":128}", CST_SCHEMA, "out of range, expected int8", "a");
  check_not_as("struct{a: uint8}", "{\"a\":-1}", CST_SCHEMA, "out of range", "a");
  check_not_as("struct{a: uint64}", "{\"a\":-1}", CST_SCHEMA, "out of range", "a");
  check_not_as("struct{a: int16}", "{\"a\":1e2}", CST_SCHEMA, "a point or an exponent", "a");
}

TEST(given_scalars) {
  check_as(
      "struct{a: float32, b: float64, c: bool, d: null}",
      "{\"a\":16777217,\"b\":9007199254740993,\"c\":true,\"d\":null}\n{\"b\":\"NaN\"}",
      "+s{a: f, b: g, c: b, d: n}\n{\"a\": 16777216.0, \"b\": 9007199254740992.0, \"c\": true, "
      "\"d\": null}\n{\"a\": null, \"b\": \"NaN\", \"c\": null, \"d\": null}\n");
  check_as(
      "struct{a: string, b: large_string, c: binary, d: large_binary}",
      "{\"a\":\"x\",\"b\":\"\",\"c\":\"y\",\"d\":{\"base64\":\"/w==\"}}",
      "+s{a: u, b: U, c: z, d: Z}\n{\"a\": \"x\", \"b\": \"\", \"c\": \"y\", \"d\": {\"base64\": "
      "\"/w==\"}}\n");
  check_as("struct{a: string_view, b: binary_view}",
           "{\"a\":\"longer than twelve bytes\",\"b\":{\"base64\":\"/w==\"}}\n{\"b\":\"y\"}",
           "+s{a: vu, b: vz}\n{\"a\": \"longer than twelve bytes\", \"b\": {\"base64\": "
           "\"/w==\"}}\n{\"a\": null, \"b\": \"y\"}\n");
  check_not_as("struct{a: string}", "{\"a\":{\"base64\":\"\"}}", CST_SCHEMA, "an object", "a");
  check_not_as("struct{a: bool}", "{\"a\":1}", CST_SCHEMA, "expected true or false", "a");
}

TEST(given_nesting) {
  check_as("struct{a: list<struct{x: int64, y: large_list<string>}>}",
           "{\"a\":[{\"y\":[\"p\",null]},null,{\"x\":1,\"z\":0}]}\n{\"a\":[]}",
           "+s{a: +l{item: +s{x: l, y: +L{item: u}}}}\n{\"a\": [{\"x\": null, \"y\": [\"p\", "
           "null]}, null, {\"x\": 1, \"y\": null}]}\n{\"a\": []}\n");
  check_as("struct{a: fixed_list<fixed_list<int32>[2]>[1]}",
           "{}\n{\"a\":[[1,2]]}\n{\"a\":[null]}\n",
           "+s{a: +w:1{item: +w:2{item: i}}}\n{\"a\": null}\n{\"a\": [[1, 2]]}\n{\"a\": [null]}\n");
  check_not_as("struct{a: list<int64>}", "{\"a\":1}", CST_SCHEMA, "a number, expected a list", "a");
  check_not_as("struct{a: struct{b: list<int64>}}", "{\"a\":{\"b\":[0,\"x\"]}}", CST_SCHEMA,
               "a string, expected int64", "a.b[1]");
}

TEST(types_that_json_has_not) {
  check_not_as("struct{a: struct{b: interval_month_day_nano}}", "", CST_UNSUPPORTED,
               "the type interval", "a.b");
  check_not_as("struct{a: list_view<interval_months>}", "", CST_UNSUPPORTED, "the type interval",
               "a");
  check_not_as("int64", "", CST_INVALID_ARGUMENT, "expected a struct", "");
  check_not_as("struct{a: int64, a: int64}", "", CST_SCHEMA, "two fields", "a");
}

TEST(fields_that_are_never_null) {
  outcome o = read_as("struct{a: int64}", "{\"a\":1}", true);
  CHECK_STR(outcome_text(&o), "+s{a!: l}\n{\"a\": 1}\n");
  outcome_free(&o);
  o = read_as("struct{a: int64}", "{\"a\":null}", true);
  CHECK_EQ(o.status, CST_SCHEMA);
  CHECK_STR(o.error.path, "a");
  outcome_free(&o);
  o = read_as("struct{a: int64}", "{}", true);
  CHECK_EQ(o.status, CST_SCHEMA);
  CHECK_STR(o.error.message, "the field is missing and not nullable");
  CHECK_STR(o.error.path, "a");
  outcome_free(&o);
}

TEST(a_dropped_row_leaves_nothing_behind) {
  cst__table_options options = table_options();
  struct ArrowSchema schema;
  const char *type =
      "struct{a: list<struct{x: string, y: fixed_list<bool>[2]}>, b: null, c: int64}";
  texts t = one_text(
      "{\"a\":[{\"x\":\"1\",\"y\":[true,false]}]}\n"
      "{\"a\":[{\"x\":\"2\",\"y\":[true,true]},{\"x\":\"3\",\"y\":null},null,{\"y\":[true,1]}]}\n"
      "{\"c\":1,\"a\":null,\"b\":1}\n"
      "{\"c\":2,\"a\":[{\"x\":\"4\",\"y\":[false,null]}]}\n");
  arrow_text_parse_type(&type, &schema);
  options.types = &schema;
  options.skip = true;
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_OK);
  CHECK_EQ(o.num_drops, 2);
  CHECK_STR(strchr(outcome_text(&o), '\n'),
            "\n{\"a\": [{\"x\": \"1\", \"y\": [true, false]}], \"b\": null, \"c\": null}\n"
            "{\"a\": [{\"x\": \"4\", \"y\": [false, null]}], \"b\": null, \"c\": 2}\n");
  outcome_free(&o);
  ArrowSchemaRelease(&schema);
}

/* Each bit of a file is flipped in turn: every line that has none of it comes back. */
TEST(damage_costs_the_damaged_line_only) {
  static const char *const lines[] = {"{\"a\": 1, \"s\": [\"x\"]}\n",
                                      "{\"a\": 2, \"s\": [\"y\"]}\n",
                                      "{\"a\": 3, \"s\": [\"z\"]}\n"};
  const char *type = "struct{a: int64, s: list<string>}";
  cst__table_options options = table_options();
  struct ArrowSchema schema;
  char text[128] = "";
  arrow_text_parse_type(&type, &schema);
  options.types = &schema;
  options.skip = true;
  for (int i = 0; i < 3; i++) {
    strcat(text, lines[i]);
  }
  size_t size = strlen(lines[0]);
  for (size_t bit = 0; bit < 8 * 3 * size; bit++) {
    size_t at = bit / 8;
    bool is_newline = text[at] == '\n';
    text[at] = (char)(text[at] ^ 1 << (bit & 7));
    texts t = one_text(text);
    t.size[0] = 3 * size; /* a byte may be zero now */
    outcome o = read_json(&t, &options, NULL);
    CHECK_EQ(o.status, CST_OK);
    for (size_t i = 0; i < 3; i++) {
      if (i != at / size && !(is_newline && i == at / size + 1)) {
        CHECK_CONTAINS(outcome_text(&o), lines[i]);
      }
    }
    outcome_free(&o);
    text[at] = (char)(text[at] ^ 1 << (bit & 7));
  }
  ArrowSchemaRelease(&schema);
}

static int schema_scenario(void *context) {
  cst__table_options options = table_options();
  texts t = one_text("{\"i\":[1,2],\"b\":[\"x\",{\"base64\":\"/w==\"}]}\n{\"i\":null}\n");
  options.schema = context;
  outcome o = read_json_once(&t, &options, NULL);
  outcome_free(&o);
  return (int)o.status;
}

static int types_scenario(void *context) {
  cst__table_options options = table_options();
  texts t = one_text("{\"a\":[{\"x\":\"text\",\"y\":[1,2]}]}\n{\"a\":null}\n");
  options.types = context;
  outcome o = read_json_once(&t, &options, NULL);
  outcome_free(&o);
  return (int)o.status;
}

TEST(survives_allocation_failures) {
  const char *type = "struct{a: list<struct{x: string, y: fixed_list<int64>[2], z: string_view}>}";
  struct ArrowSchema types;
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_from_text(features, strlen(features), &schema, NULL), CST_OK);
  FOR_EACH_ALLOCATION_FAILURE(schema_scenario, schema, CST_NO_MEMORY);
  cst_schema_release(schema);
  arrow_text_parse_type(&type, &types);
  FOR_EACH_ALLOCATION_FAILURE(types_scenario, &types, CST_NO_MEMORY);
  ArrowSchemaRelease(&types);
}
