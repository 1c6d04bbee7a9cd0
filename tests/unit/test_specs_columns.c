/* Specs of columns that stages have made, and what inference says of values for them. */
#include "arrow_text.h"
#include "base/error.h"
#include "schema/inference.h"
#include "schema/schema_columns.h"

static cst_schema *schema_of(const char *text) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  cst__schema_parse_text(text, strlen(text), &schema, &error);
  CHECK_STR(error.message, "");
  return schema;
}

/* "name kind dtype [dims]; ..." for columns of an Arrow type, by a TFMD schema. */
static cst_status specs_text(const char *text, const char *type, char *out, size_t n,
                             cst_error *error) {
  static const char *const kinds[] = {"?", "dense", "varlen", "sparse", "ragged", "structured"};
  struct ArrowSchema columns;
  struct ArrowArray rows;
  cst_specs_options options = {.size = sizeof options};
  cst_specs *all = NULL;
  cst_specs *fitted = NULL;
  cst_schema *schema = schema_of(text);
  CHECK_EQ(cst__specs_new(schema, &options, &all, error), CST_OK);
  arrow_text(type, "", &columns, &rows);
  cst_status status = cst__specs_for_columns(schema, all, &columns, &fitted, error);
  size_t at = 0;
  out[0] = '\0';
  for (size_t i = 0; status == CST_OK && i < cst__specs_count(fitted); i++) {
    const cst_tensor_spec *spec = cst__specs_get(fitted, i);
    at += (size_t)snprintf(out + at, n - at, "%s %s %s [", spec->name, kinds[spec->kind],
                           cst_dtype_name(spec->dtype));
    for (size_t d = 0; d < spec->num_dims; d++) {
      at += (size_t)snprintf(out + at, n - at, "%lld", (long long)spec->dims[d]);
    }
    at += (size_t)snprintf(out + at, n - at, "]; ");
  }
  cst__specs_release(fitted);
  cst__specs_release(all);
  cst__schema_release(schema);
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
}

TEST(new_columns_and_other_types) {
  check_specs("feature { name: 'a' type: INT }",
              "struct{a: float64, i: int8, l: list<int32>, f: fixed_list<float32>[3], "
              "s: string_view, n: list<list<int64>>, z: null}",
              "a dense float32 []; f dense float32 [3]; i dense int64 []; l varlen int64 []; "
              "n ragged int64 []; s dense bytes []; ");
}

TEST(types_without_tensors) {
  char text[64];
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(specs_text("", "struct{t: timestamp}", text, sizeof text, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "t");
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
    CHECK_EQ(cst__accumulator_save(inference, states[i], &bytes, &size, &error), CST_OK);
    inference->free(states[i]);
    cst_bytes saved = {(const uint8_t *)bytes, size};
    CHECK_EQ(cst__accumulator_load(inference, &plan, saved, NULL, &states[i], &error), CST_OK);
    cst_free(bytes);
    schema.release(&schema);
    batch.release(&batch);
  }
  CHECK_EQ(inference->merge(states[0], states[1], &error), CST_OK);
  CHECK_EQ(inference->finish(states[0], &found, &error), CST_OK);
  CHECK_EQ(cst__schema_num_features(found), 2);
  char *text;
  size_t size;
  CHECK_EQ(cst__schema_write_text(found, &text, &size, &error), CST_OK);
  const char *domain = strstr(text, "string_domain");
  CHECK(domain != NULL && domain > strstr(text, "\"t\"") &&
        strstr(domain + 1, "string_domain") == NULL);
  cst_free(text);
  cst__schema_release(found);
  inference->free(states[0]);
  inference->free(states[1]);
}
