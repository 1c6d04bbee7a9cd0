/* Specs of columns that stages have made, and what inference says of values for them. */
#include "arrow_text.h"
#include "base/error.h"
#include "schema/inference.h"
#include "schema/schema_columns.h"

static cst_schema *schema_of(const char *text) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_schema_from_text(text, strlen(text), &schema, &error);
  CHECK_STR(error.message, "");
  return schema;
}

static size_t spec_text(const cst_tensor_spec *spec, char *out, size_t n) {
  static const char *const kinds[] = {"?", "dense", "varlen", "sparse", "ragged", "structured"};
  size_t at = (size_t)snprintf(out, n, "%s %s %s [", spec->name, kinds[spec->kind],
                               cst_dtype_name(spec->dtype));
  for (size_t d = 0; d < spec->num_dims; d++) {
    at += (size_t)snprintf(out + at, n - at, "%lld", (long long)spec->dims[d]);
  }
  at += (size_t)snprintf(out + at, n - at, "]");
  for (size_t step = 0; spec->num_path_steps > 1 && step < spec->num_path_steps; step++) {
    at += (size_t)snprintf(out + at, n - at, "%c%s", step == 0 ? ' ' : '.', spec->path[step]);
  }
  for (size_t i = 0; i < spec->num_fields; i++) {
    at += (size_t)snprintf(out + at, n - at, "%s", i == 0 ? " (" : "");
    at += spec_text(&spec->fields[i], out + at, n - at);
    at += (size_t)snprintf(out + at, n - at, "%s", i + 1 == spec->num_fields ? ")" : "");
  }
  return at + (size_t)snprintf(out + at, n - at, "; ");
}

/* "name kind dtype [dims] path (fields); ..." for columns of an Arrow type, by a TFMD schema. */
static cst_status specs_text(const char *text, const char *type, char *out, size_t n,
                             cst_error *error) {
  struct ArrowSchema columns;
  struct ArrowArray rows;
  cst_specs_options options = {.size = sizeof options};
  cst_specs *all = NULL;
  cst_specs *fitted = NULL;
  cst_schema *schema = schema_of(text);
  CHECK_EQ(cst_specs_new(schema, &options, &all, error), CST_OK);
  arrow_text(type, "", &columns, &rows);
  cst_status status = cst__specs_for_columns(schema, all, &columns, &fitted, error);
  size_t at = 0;
  out[0] = '\0';
  for (size_t i = 0; status == CST_OK && i < cst_specs_num_specs(fitted); i++) {
    at += spec_text(cst_specs_get(fitted, i), out + at, n - at);
  }
  cst_specs_release(fitted);
  cst_specs_release(all);
  cst_schema_release(schema);
  columns.release(&columns);
  rows.release(&rows);
  return status;
}

static void check_specs(const char *schema, const char *type, const char *expected) {
  char text[512];
  cst_error error = CST_ERROR_INIT;
  specs_text(schema, type, text, sizeof text, &error);
  CHECK_STR(error.message, "");
  CHECK_STR(text, expected);
}

#define ALWAYS " presence { min_fraction: 1 } "

TEST(columns_of_the_schema) {
  check_specs("feature { name: 'a' type: INT shape { dim { size: 1 } }" ALWAYS "}"
              "feature { name: 'b' type: FLOAT value_count { min: 1 max: 1 } }"
              "feature { name: 'c' type: BYTES shape { dim { size: 2 } }" ALWAYS "}"
              "feature { name: 'gone' type: INT }",
              "struct{a: int64, b: float32, c: list<string>}",
              "a dense int64 []; b varlen float32 []; c dense bytes [2]; ");
  check_specs("feature { name: 'a' type: INT shape { dim { size: 1 } }" ALWAYS "}",
              "struct{a: list<int64>}", "a dense int64 [1]; ");
  check_specs("feature { name: 'a' type: INT shape { dim { size: 1 } }" ALWAYS "}"
              "feature { name: 'b' type: INT } feature { name: 'c' type: FLOAT }",
              "struct{a: bool, b: list<bool>, c: bool}",
              "a dense bool []; b varlen bool []; c dense bool []; ");
}

TEST(new_columns_and_other_types) {
  check_specs("feature { name: 'a' type: INT }",
              "struct{a: float64, i: int8, l: list<int32>, f: fixed_list<float32>[3], "
              "s: string_view, n: list<list<int64>>, z: null}",
              "a dense float64 []; f dense float32 [3]; i dense int8 []; l varlen int32 []; "
              "n ragged int64 []; s dense bytes []; ");
  check_specs("",
              "struct{a: uint8, b: list<bool>, c: uint16, d: int16, e: uint32, f: uint64, g: bool}",
              "a dense uint8 []; b varlen bool []; c dense uint16 []; d dense int16 []; "
              "e dense uint32 []; f dense uint64 []; g dense bool []; ");
}

#define NESTED                                                                        \
  "struct{n: list<list<int64>>, s: struct{a: int8, b: list<string>, z: null}, "       \
  "e: list<struct{x: float32, l: list<struct{y: binary}>}>, f: fixed_list<int8>[2], " \
  "z: list<struct{z: null}>}"

TEST(nested_columns_are_structured) {
  check_specs("", NESTED,
              "e structured none [] (l structured none [] (y ragged bytes [] e.l.y; ); "
              "x ragged float32 [] e.x; ); f dense int8 [2]; n ragged int64 []; "
              "s structured none [] (a dense int8 [] s.a; b ragged bytes [] s.b; ); ");
}

static bool is_nested(const char *type) {
  struct ArrowSchema columns;
  struct ArrowArray rows;
  arrow_text(type, "", &columns, &rows);
  bool nested = cst__columns_are_nested(&columns);
  columns.release(&columns);
  rows.release(&rows);
  return nested;
}

TEST(which_columns_only_their_types_explain) {
  CHECK(!is_nested("struct{a: int64, b: list<string>, c: fixed_list<int8>[2], d: timestamp}"));
  CHECK(!is_nested("struct{lists: struct{a: list<list<int64>>, b: list<list<string>>}}"));
  CHECK(is_nested("struct{a: int64, b: list<list<string>>}"));
  CHECK(is_nested("struct{a: struct{b: int64}}"));
  CHECK(is_nested("struct{a: struct{}}"));
  CHECK(is_nested("struct{a: struct{b: list<list<list<int64>>>}}"));
  CHECK(is_nested("struct{a: struct{b: list<list<struct{c: int8}>>}}"));
  CHECK(is_nested("struct{a: list<struct{b: list<list<int64>>}>}"));
}

static int nested_specs(void *context) {
  cst_error error = CST_ERROR_INIT;
  cst_specs *specs = NULL;
  cst_status status = cst__specs_for_columns(NULL, NULL, context, &specs, &error);
  cst_specs_release(specs);
  return (int)status;
}

TEST(every_failed_allocation) {
  struct ArrowSchema columns;
  struct ArrowArray rows;
  arrow_text(NESTED, "", &columns, &rows);
  FOR_EACH_ALLOCATION_FAILURE(nested_specs, &columns, CST_NO_MEMORY);
  columns.release(&columns);
  rows.release(&rows);
}

TEST(types_without_tensors) {
  char text[64];
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(specs_text("", "struct{t: timestamp}", text, sizeof text, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "t");
  error = (cst_error)CST_ERROR_INIT;
  CHECK_EQ(
      specs_text("", "struct{s: struct{l: list<struct{t: timestamp}>}}", text, sizeof text, &error),
      CST_UNSUPPORTED);
  CHECK_STR(error.path, "s.l.t");
}

/* ---- inference that looks at values ---- */

TEST(texts_have_a_domain_and_other_columns_are_passed_over) {
  const cst__inference_plan plan = {.looks_at_values = true};
  const cst__accumulator *inference = &cst__inference_accumulator;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  void *states[3];
  cst_schema *found = NULL;
  cst_error error = CST_ERROR_INIT;
  const char *rows[] = {"{['a'], ['b'], true, 1} {['\xc3\xa4'], null, false, 2}",
                        "{['c'], ['\xff'], null, 3}"};
  for (int i = 0; i < 2; i++) { /* merged, and saved on the way */
    char *bytes = NULL;
    size_t size = 0;
    arrow_text("struct{t: list<binary>, b: list<binary>, o: bool, w: timestamp}", rows[i], &schema,
               &batch);
    CHECK_EQ(inference->create(&plan, NULL, &states[i], &error), CST_OK);
    CHECK_EQ(cst__accumulator_add(inference, states[i], &schema, &batch, NULL, &error), CST_OK);
    CHECK_EQ(cst__accumulator_save(inference, NULL, states[i], &bytes, &size, &error), CST_OK);
    inference->free(states[i]);
    cst_bytes saved = {(const uint8_t *)bytes, size};
    CHECK_EQ(cst__accumulator_load(inference, &plan, saved, NULL, &states[i], &error), CST_OK);
    cst_free(bytes);
    schema.release(&schema);
    batch.release(&batch);
  }
  CHECK_EQ(inference->merge(states[0], states[1], &error), CST_OK);
  CHECK_EQ(inference->finish_schema(states[0], &found, &error), CST_OK);
  CHECK_EQ(cst_schema_num_features(found), 3);
  CHECK_EQ(cst_schema_feature(found, cst__schema_find_feature(found, "o", 1))->type,
           CST_FEATURE_INT);
  char *text;
  size_t size;
  CHECK_EQ(cst_schema_to_text(found, &text, &size, &error), CST_OK);
  const char *domain = strstr(text, "string_domain");
  CHECK(domain != NULL && domain > strstr(text, "\"t\"") &&
        strstr(domain + 1, "string_domain") == NULL);
  cst_free(text);
  cst_schema_release(found);
  inference->free(states[0]);
  inference->free(states[1]);
}
