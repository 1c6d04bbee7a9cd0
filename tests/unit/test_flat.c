/* The stage `flat`: batches as text in and out, by schemas as text. */
#include "schema/flat.h"

#include "arrow/owned.h"
#include "arrow_equal.h"
#include "arrow_text.h"
#include "base/error.h"
#include "schema/schema.h"
#include "stage/chain.h"

typedef struct flat_test {
  const char *schema; /* TFMD; NULL: none */
  const char *raw_column;
  const char *type, *rows;       /* what comes */
  const char *to_type, *to_rows; /* what goes; NULL: it fails */
  const char *message, *path;
  int64_t row;         /* of the failure */
  int64_t from, count; /* a slice of the rows, unless count is 0 */
} flat_test;

static cst_schema *parse(const char *text) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  if (text != NULL) {
    cst_schema_from_text(text, strlen(text), &schema, &error);
    CHECK_STR(error.message, "");
  }
  return schema;
}

static void compare(const struct ArrowSchema *schema, const struct ArrowArray *array,
                    const char *type, const char *rows) {
  struct ArrowSchema wanted_schema;
  struct ArrowArray wanted;
  cst__view actual_view, wanted_view;
  cst__arena arena;
  cst_error error = CST_ERROR_INIT;
  arrow_text(type, rows, &wanted_schema, &wanted);
  cst__arena_init(&arena, NULL);
  cst__view_init(&actual_view, schema, array, false, &arena, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(cst__view_init(&wanted_view, &wanted_schema, &wanted, false, &arena, &error), CST_OK);
  CHECK_EQ(schema->n_children, wanted_schema.n_children);
  for (int64_t i = 0; i < schema->n_children; i++) {
    CHECK_STR(schema->children[i]->format, wanted_schema.children[i]->format);
    CHECK_STR(schema->children[i]->name, wanted_schema.children[i]->name);
  }
  CHECK_EQ(array->length, wanted.length);
  arrow_equal_slots(&wanted_view, 0, wanted.length, &actual_view, 0);
  cst__arena_reset(&arena);
  wanted_schema.release(&wanted_schema);
  wanted.release(&wanted);
}

static cst_status flatten(const flat_test *t, const cst_schema *tfmd, struct ArrowSchema *schema,
                          struct ArrowArray *batch, cst_error *error) {
  cst__flat_settings settings = {.schema = tfmd, .raw_column = t->raw_column};
  cst__stage_use use = {&cst__flat_stage, &settings};
  cst__chain *chain = NULL;
  cst__chain_run *run = NULL;
  const cst__row_map *origin;
  cst_status status = cst__chain_new(&use, 1, schema, NULL, &chain, error);
  if (status == CST_OK) status = cst__chain_open(chain, &run, error);
  if (status == CST_OK) {
    status = cst__chain_apply(run, batch, &origin, error);
  }
  if (status == CST_OK) {
    CHECK(cst__chain_keeps_rows(chain) && !origin->moved);
    if (t->to_type != NULL) compare(cst__chain_schema(chain), batch, t->to_type, t->to_rows);
  }
  cst__chain_close(run);
  cst__chain_release(chain);
  return status;
}

static void check(const flat_test *t) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  cst_schema *tfmd = parse(t->schema);
  arrow_text(t->type, t->rows, &schema, &batch);
  if (t->count > 0) arrow_text_slice(&batch, t->from, t->count);
  cst_status status = flatten(t, tfmd, &schema, &batch, &error);
  if (t->to_type != NULL) {
    CHECK_STR(error.message, "");
    CHECK_EQ(status, CST_OK);
    batch.release(&batch);
  } else {
    CHECK_EQ(status, CST_SCHEMA);
    CHECK_CONTAINS(error.message, t->message);
    CHECK_STR(error.path, t->path);
    CHECK_EQ(error.record, t->row);
    CHECK(batch.release == NULL);
  }
  schema.release(&schema);
  cst_schema_release(tfmd);
}

#define ALWAYS " presence { min_fraction: 1 } "
#define ONE " value_count { min: 1 max: 1 } "

TEST(one_value) {
  check(&(flat_test){
      .schema = "feature { name: 'a' type: FLOAT shape { dim { size: 1 } }" ALWAYS "}"
                "feature { name: 'b' type: INT shape {}" ALWAYS "}"
                "feature { name: 'c' type: INT" ONE ALWAYS "}"
                "feature { name: 'd' type: INT value_count { min: 1 max: 2 } }",
      .type = "struct{a: large_list<float32>, b: list<int64>, c: fixed_list<int64>[1], "
              "d: large_list<int64>}",
      .rows = "{[1.5], [1], [4], [1, 2]} {[2.5], [2], [5], [3]} {[-1], [3], [6], null}",
      .to_type = "struct{a: float32, b: int64, c: int64, d: large_list<int64>}",
      .to_rows = "{1.5, 1, 4, [1, 2]} {2.5, 2, 5, [3]} {-1, 3, 6, null}"});
}

TEST(missing_values) {
  check(&(flat_test){
      .schema = "feature { name: 'a' type: FLOAT" ONE "}"
                "feature { name: 'b' type: BYTES" ONE "}"
                "feature { name: 'c' type: INT value_count { max: 1 }" ALWAYS "}"
                "feature { name: 'd' type: BYTES" ONE "}",
      .type = "struct{a: large_list<float32>, b: large_list<large_binary>, c: list<int64>, "
              "d: list<binary_view>}",
      .rows = "{[1.5], null, [], ['x']} {null, ['bb'], [7], ['a long text, out of line']}"
              "{[2.5], [''], null, null}{null, ['cccc'], [9], null} {[3], null, [1], ['']}",
      .to_type = "struct{a: float32, b: large_binary, c: int64, d: binary_view}",
      .to_rows = "{1.5, null, null, 'x'} {null, 'bb', 7, 'a long text, out of line'}"
                 "{2.5, '', null, null} {null, 'cccc', 9, null} {3, null, 1, ''}"});
}

TEST(other_types_of_values) {
  check(&(flat_test){
      .schema = "feature { name: 'a' type: INT" ONE "} feature { name: 'b' type: INT" ONE "}"
                "feature { name: 'c' type: BYTES" ONE "} feature { name: 'd' type: INT" ONE "}",
      .type = "struct{a: list<bool>, b: list<int8>, c: list<fixed_binary[3]>, d: list<int16>}",
      .rows = "{[true], [1], ['abc'], [1]} {null, null, null, null} {[false], [3], ['def'], [9]}",
      .to_type = "struct{a: bool, b: int8, c: fixed_binary[3], d: int16}",
      .to_rows = "{true, 1, 'abc', 1} {null, null, null, null} {false, 3, 'def', 9}"});
}

TEST(slices) {
  flat_test t = {
      .schema = "feature { name: 'a' type: INT" ONE ALWAYS "} feature { name: 'b' type: BYTES" ONE
                "} feature { name: 'c' type: INT" ONE "}",
      .type = "struct{a: large_list<int64>, b: list<binary>, c: fixed_list<int64>[1]}",
      .rows = "{[1, 1], ['x', 'y'], [1]} {[2], ['zz'], null} {[3], null, [3]} {[4], ['w'], [4]}",
      .from = 1,
      .count = 3,
      .to_type = "struct{a: int64, b: binary, c: int64}",
      .to_rows = "{2, 'zz', null} {3, null, 3} {4, 'w', 4}"};
  check(&t);
  t.count = 0;
  t.rows = "";
  t.to_rows = "";
  check(&t);
}

TEST(text) {
  check(&(flat_test){
      .schema = "feature { name: 'a' type: BYTES string_domain {}" ONE ALWAYS "}"
                "feature { name: 'b' type: BYTES natural_language_domain {} }"
                "feature { name: 'c' type: BYTES domain: 'names'" ONE "}"
                "feature { name: 'd' type: BYTES image_domain {}" ONE "}"
                "string_domain { name: 'names' value: 'x' }",
      .type = "struct{a: large_list<large_binary>, b: list<binary>, c: list<binary_view>, "
              "d: list<binary>}",
      .rows = "{['\xc3\xa4'], ['a', '\xe2\x82\xac'], ['x'], ['\xff']} {['b'], [], null, ['y']}",
      .to_type = "struct{a: large_string, b: list<string>, c: string_view, d: binary}",
      .to_rows = "{'\xc3\xa4', ['a', '\xe2\x82\xac'], 'x', '\xff'} {'b', [], null, 'y'}"});
}

TEST(text_of_structs) {
  check(&(flat_test){
      .schema = "feature { name: 's' type: STRUCT struct_domain { feature { name: 't' type: BYTES "
                "string_domain {} } feature { name: 'n' type: INT" ONE "} } }",
      .type = "struct{s: struct{t: list<list<binary>>, n: list<int64>}}",
      .rows = "{{[['a'], ['b', 'c']], [1]}} {null}",
      .to_type = "struct{s: struct{t: list<list<string>>, n: list<int64>}}",
      .to_rows = "{{[['a'], ['b', 'c']], [1]}} {null}"});
}

TEST(raw_records_and_no_schema) {
  check(&(flat_test){.raw_column = "r",
                     .type = "struct{r: large_list<large_binary>, a: list<int64>}",
                     .rows = "{['x'], [1]} {['\xff'], [2]}",
                     .to_type = "struct{r: large_binary, a: list<int64>}",
                     .to_rows = "{'x', [1]} {'\xff', [2]}"});
}

TEST(rows_that_do_not_fit) {
  flat_test t = {.schema =
                     "feature { name: 'a' type: INT" ONE ALWAYS "} feature { name: 'b' type: BYTES "
                     "string_domain {} value_count { max: 1 } }",
                 .type = "struct{a: large_list<int64>, b: list<binary>}",
                 .rows = "{[1], ['x']} {[2], []} {[3], ['y', 'z']} {[4, 5], ['z']}",
                 .message = "found 2 values, expected one value at most",
                 .path = "b",
                 .row = 2};
  check(&t);
  t.rows = "{[1], ['x']} {null, []}";
  t.message = "the value is missing, expected one value", t.path = "a", t.row = 1;
  check(&t);
  t.rows = "{[1], ['x']} {[], ['\xff']}";
  t.message = "found 0 values, expected one value";
  check(&t);
  t.rows = "{[null], ['x']}";
  t.message = "the value is missing", t.row = 0;
  check(&t);
  t.rows = "{[1], ['x']} {[1], null} {[2, 3], ['\xc3\xa4']} {[3], ['\xe4']}";
  t.message = "found 2 values", t.row = 2;
  check(&t);
  t.rows = "{[1], ['x']} {[1], null} {[2], ['\xc3\xa4']} {[3], ['\xe4']}";
  t.message = "bytes that are not UTF-8", t.row = 3, t.path = "b";
  check(&t);
}

/* Fixed to one value and never missing: the buffers are the same. */
TEST(values_are_shared) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  cst_schema *tfmd = parse("feature { name: 'a' type: INT" ONE ALWAYS "}"
                           "feature { name: 'b' type: BYTES" ONE "}");
  flat_test t = {.to_type = NULL};
  arrow_text("struct{a: large_list<int64>, b: list<binary>}", "{[1], ['x']} {[2], null}", &schema,
             &batch);
  const void *numbers = batch.children[0]->children[0]->buffers[1];
  const void *bytes = batch.children[1]->children[0]->buffers[2];
  CHECK_EQ(flatten(&t, tfmd, &schema, &batch, &error), CST_OK);
  CHECK(batch.children[0]->buffers[1] == numbers && batch.children[1]->buffers[2] == bytes);
  batch.release(&batch);
  schema.release(&schema);
  cst_schema_release(tfmd);
}

TEST(nullable_as_the_schema_says) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  cst_schema *tfmd = parse("feature { name: 'a' type: INT" ONE ALWAYS "}"
                           "feature { name: 'b' type: INT" ONE "}"
                           "feature { name: 'c' type: INT" ONE ALWAYS
                           " not_in_environment: 'SERVING' } default_environment: 'SERVING'"
                           "default_environment: 'TRAINING'");
  cst__flat_settings settings = {.schema = tfmd, .environment = "SERVING"};
  cst__stage_use use = {&cst__flat_stage, &settings};
  cst__chain *chain = NULL;
  arrow_text("struct{a: list<int64>, b: list<int64>, c: list<int64>}", "", &schema, &batch);
  CHECK_EQ(cst__chain_new(&use, 1, &schema, NULL, &chain, &error), CST_OK);
  for (int64_t i = 0; i < 3; i++) {
    int64_t flags = cst__chain_schema(chain)->children[i]->flags;
    CHECK_EQ(flags & ARROW_FLAG_NULLABLE, i == 0 ? 0 : ARROW_FLAG_NULLABLE);
  }
  cst__chain_release(chain);
  batch.release(&batch);
  schema.release(&schema);
  cst_schema_release(tfmd);
}

typedef struct failing {
  const struct ArrowSchema *schema;
  const struct ArrowArray *batch;
  const cst_schema *tfmd;
} failing;

static void keep_nothing(struct ArrowArray *array) { array->release = NULL; }

static int flatten_failing(void *context) {
  const failing *f = context;
  flat_test t = {.to_type = NULL};
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray batch = *f->batch;
  batch.release = keep_nothing;
  struct ArrowSchema schema = *f->schema;
  cst_status status = flatten(&t, f->tfmd, &schema, &batch, &error);
  if (status == CST_OK) batch.release(&batch);
  return (int)status;
}

TEST(no_memory) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_schema *tfmd = parse("feature { name: 'a' type: INT" ONE ALWAYS "}"
                           "feature { name: 'b' type: BYTES string_domain {}" ONE "}"
                           "feature { name: 's' type: STRUCT struct_domain { feature { name: 't' "
                           "type: BYTES string_domain {} } } }");
  arrow_text("struct{a: list<int64>, b: list<binary>, s: struct{t: list<list<binary>>}}",
             "{[1], null, {[['x']]}} {[2], ['x'], null}", &schema, &batch);
  failing f = {&schema, &batch, tfmd};
  FOR_EACH_ALLOCATION_FAILURE(flatten_failing, &f, CST_NO_MEMORY);
  batch.release(&batch);
  schema.release(&schema);
  cst_schema_release(tfmd);
}
