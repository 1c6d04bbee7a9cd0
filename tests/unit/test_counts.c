/* Counts: what counts as a row that has a column, and as a value, for every layout. */
#include "validate/counts.h"

#include <inttypes.h>

#include "array_layouts.h"
#include "arrow_text.h"

static const cst__accumulator *const counts = &cst__counts_accumulator;

static void *new_counting(void) {
  void *state = NULL;
  CHECK_EQ(counts->create(NULL, NULL, &state, NULL), CST_OK);
  return state;
}

static cst_status count_rows(void *state, const char *type, const char *rows, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text(type, rows, &schema, &array);
  cst_status status = cst__accumulator_add(counts, state, &schema, &array, NULL, error);
  array.release(&array);
  schema.release(&schema);
  return status;
}

static void check_counts(const void *state, const char *expected) {
  cst_findings *found = NULL;
  char text[512];
  int at = 0;
  CHECK_EQ(counts->finish(state, &found, NULL), CST_OK);
  at += snprintf(text, sizeof text, "%" PRId64, cst_findings_total(found, "num_rows"));
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    at += snprintf(text + at, sizeof text - (size_t)at, " %s:%" PRId64 ":%" PRId64,
                   cst_findings_text(found, "path", i), cst_findings_number(found, "rows", i),
                   cst_findings_number(found, "values", i));
  }
  CHECK_STR(text, expected);
  cst_findings_free(found);
}

static void check_rows(const char *type, const char *rows, const char *expected) {
  void *state = new_counting();
  CHECK_EQ(count_rows(state, type, rows, NULL), CST_OK);
  check_counts(state, expected);
  counts->free(state);
}

TEST(rows_that_have_a_column_and_its_values) {
  check_rows("struct{a: int64}", "{1} {null} {3}", "3 a:2:2");
  check_rows("struct{a: null}", "{null} {null}", "2 a:0:0");
  check_rows("struct{a: string, b: bool}", "{'x', true} {null, null}", "2 a:1:1 b:1:1");
  check_rows("struct{a: list<int64>}", "{[1, null]} {null} {[]} {[2, 3]}", "4 a:3:3");
  check_rows("struct{a: large_list<string>}", "{['x']} {null} {['y', 'z']}", "3 a:2:3");
  check_rows("struct{a: fixed_list<int64>[2]}", "{[1, 2]} {null} {[3, null]}", "3 a:2:3");
  check_rows("struct{a: list<null>}", "{[null, null]} {[]}", "2 a:2:0");
  check_rows("struct{a: list<list<int64>>}", "{[[1, 2], null, [3]]} {[]} {null} {[[4, null]]}",
             "4 a:3:4");
  check_rows("struct{a: timestamp}", "{1} {null}", "2 a:1:1");
  check_rows("struct{}", "{} {}", "2");
}

TEST(structs_are_values_and_have_fields_of_their_own) {
  check_rows("struct{s: struct{x: int64, y: list<int64>}}", "{{1, [1, 2]}} {null} {{null, [3]}}",
             "3 s:2:2 s.x:1:1 s.y:2:3");
  check_rows("struct{s: struct{t: struct{x: int64}}}", "{{{1}}} {{null}} {null} {{{null}}}",
             "4 s:3:3 s.t:2:2 s.t.x:1:1");
  check_rows("struct{s: list<struct{x: int64}>}", "{[{1}, null, {null}]} {null} {[]}", "3 s:2:2");
}

TEST(a_path_may_be_one_name_or_several) {
  void *state = new_counting();
  CHECK_EQ(count_rows(state, "struct{s: struct{x: int64}}", "{{1}}", NULL), CST_OK);
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text("struct{a: int64}", "{1} {null}", &schema, &array);
  CHECK_EQ(ArrowSchemaSetName(schema.children[0], "s.x"), 0);
  CHECK_EQ(cst__accumulator_add(counts, state, &schema, &array, NULL, NULL), CST_OK);
  check_counts(state, "3 s:1:1 s.x:1:1 s.x:1:1");
  array.release(&array);
  schema.release(&schema);
  counts->free(state);
}

TEST(columns_differ_from_batch_to_batch) {
  void *state = new_counting();
  check_counts(state, "0");
  CHECK_EQ(count_rows(state, "struct{b: int64, a: int64}", "{1, 2} {null, 3}", NULL), CST_OK);
  CHECK_EQ(count_rows(state, "struct{c: list<int64>}", "{[1, 2]}", NULL), CST_OK);
  CHECK_EQ(count_rows(state, "struct{a: string}", "", NULL), CST_OK);
  check_counts(state, "3 a:2:2 b:1:1 c:1:2");
  counts->free(state);
}

TEST(slices) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  void *state = new_counting();
  arrow_text("struct{a: list<int64>, s: struct{x: int64}}",
             "{[1, 2], {1}} {null, null} {[3], {null}} {[4, null], {2}} {[], null}", &schema,
             &array);
  for (int64_t at = 0; at < 5; at += 2) { /* rows 0 and 1, 2 and 3, 4 */
    struct ArrowArray slice = array;
    slice.offset = at;
    slice.length = at == 4 ? 1 : 2;
    CHECK_EQ(cst__accumulator_add(counts, state, &schema, &slice, NULL, NULL), CST_OK);
  }
  check_counts(state, "5 a:4:4 s:3:3 s.x:2:2");
  array.release(&array);
  schema.release(&schema);
  counts->free(state);
}

/* A column of each layout beside a number: all are counted, or refused by name. */
TEST(every_layout) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    cst_error error = CST_ERROR_INIT;
    void *state = new_counting();
    bool refused = strstr(array_layouts[i].type, "list_view") != NULL;
    arrow_text(array_layouts[i].type, array_layouts[i].rows, &schema, &array);
    struct ArrowSchema root;
    struct ArrowArray batch;
    ArrowSchemaInit(&root);
    CHECK_EQ(ArrowSchemaSetTypeStruct(&root, 1), 0);
    root.children[0]->release(root.children[0]);
    ArrowSchemaMove(&schema, root.children[0]);
    CHECK_EQ(ArrowSchemaSetName(root.children[0], "c"), 0);
    CHECK_EQ(ArrowArrayInitFromType(&batch, NANOARROW_TYPE_STRUCT), 0);
    CHECK_EQ(ArrowArrayAllocateChildren(&batch, 1), 0);
    int64_t nulls = array.null_count;
    batch.length = array.length;
    batch.null_count = 0;
    ArrowArrayMove(&array, batch.children[0]);
    cst_status status = cst__accumulator_add(counts, state, &root, &batch, NULL, &error);
    CHECK_EQ(status, refused ? CST_UNSUPPORTED : CST_OK);
    CHECK_STR(error.path, refused ? "c" : "");
    cst_findings *found = NULL;
    CHECK_EQ(counts->finish(state, &found, NULL), CST_OK);
    CHECK_EQ(cst_findings_total(found, "num_rows"), refused ? 0 : batch.length);
    CHECK(refused || cst_findings_number(found, "rows", 0) == batch.length - nulls);
    cst_findings_free(found);
    batch.release(&batch);
    root.release(&root);
    counts->free(state);
  }
}

TEST(a_saved_state_is_sound) {
  static const uint8_t more_than_rows[] = {1, 1, 1, 'a', 2, 0};
  static const uint8_t twice[] = {1, 2, 1, 'a', 1, 0, 1, 'a', 1, 0};
  static const uint8_t none[] = {0, 0};
  const struct {
    const uint8_t *bytes;
    size_t size;
    bool bad;
  } cases[] = {{more_than_rows, sizeof more_than_rows, true},
               {twice, sizeof twice, true},
               {none, sizeof none, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    void *state = new_counting();
    cst__archive a = cst__archive_from(cases[i].bytes, cases[i].size);
    counts->archive(state, &a);
    CHECK(a.bad == cases[i].bad);
    counts->free(state);
  }
}

typedef struct counted_batch {
  struct ArrowSchema schema;
  struct ArrowArray array;
} counted_batch;

static int count_all(void *context) {
  const counted_batch *batch = context;
  void *state = NULL;
  cst_findings *found = NULL;
  cst_status status = counts->create(NULL, NULL, &state, NULL);
  if (status == CST_OK) {
    status = cst__accumulator_add(counts, state, &batch->schema, &batch->array, NULL, NULL);
  }
  if (status == CST_OK) {
    status = counts->finish(state, &found, NULL);
  }
  cst_findings_free(found);
  counts->free(state);
  return (int)status;
}

TEST(counting_without_memory) {
  counted_batch batch;
  arrow_text("struct{s: struct{x: list<int64>}, t: int64}", "{{[1]}, 2} {null, 3}", &batch.schema,
             &batch.array);
  FOR_EACH_ALLOCATION_FAILURE(count_all, &batch, CST_NO_MEMORY);
  batch.array.release(&batch.array);
  batch.schema.release(&batch.schema);
}
