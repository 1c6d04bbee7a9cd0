/* Runs as a whole: rows that are refused, batches one after the other. */
#include "query_run_support.h"

/* Tags without null, once for each row; what is told of bad rows. */
static const cst__step bad_steps[] = {SESSION_STEPS,
                                      {.kind = CST__STEP_REQUIRE,
                                       .num_args = 2,
                                       .args = {TAGS, TAG},
                                       .type = {"u"},
                                       .at = {5, 2},
                                       .label = "tokens"},
                                      STEP(NUMBERS, 1, RECORDS),
                                      STEP(PARENTS, 1, EVENTS),
                                      TAKE(OWN + 1, OWN + 2, "l")};

typedef struct bad_rows {
  int64_t rows[200];
  size_t count;
} bad_rows;

static void note_bad_row(void *ctx, const cst_error *error) {
  bad_rows *bad = ctx;
  CHECK_EQ(error->code, CST_SCHEMA);
  CHECK_STR(error->path, "tokens");
  CHECK_EQ(error->line, 5);
  bad->rows[bad->count++] = error->record;
}

static void check_bad_rows(const query_case *c, const char *expected, const int64_t *rows,
                           size_t count, cst__row_map *origin) {
  bad_rows bad = {.count = 0};
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch, .on_bad = note_bad_row, .ctx = &bad};
  arrow_text(c->type, c->rows, &schema, &batch);
  cst_status status = query_run_batch(c, &schema, &input, &out, origin, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  query_check_output(c, &out, expected);
  CHECK_EQ(bad.count, count);
  for (size_t i = 0; i < count; i++) CHECK_EQ(bad.rows[i], rows[i]);
  ArrowSchemaRelease(&schema);
}

#define GOOD(id) "{" #id ", [{'q', 1, ['x']}]} "
#define BAD(id) "{" #id ", [{'q', 1, ['x' null]}]} "

TEST(bad_rows_become_nulls) {
  cst__output_part parts[] = {FLAT("id", RECORDS, ID), FLAT("n", RECORDS, OWN + 1),
                              VALUES("t", TAGS, OWN, EVENTS, TAGS)};
  query_case c = SESSION_CASE(GOOD(1) BAD(2) GOOD(3) GOOD(4) BAD(5), bad_steps, parts,
                              "struct{id: int64, n: int64, t: large_list<large_list<string>>}");
  check_bad_rows(&c,
                 "{1, 0, [['x']]} {null, null, null} {3, 2, [['x']]} {4, 3, [['x']]} "
                 "{null, null, null}",
                 (const int64_t[]){1, 4}, 2, NULL);
  c.rows = BAD(1);
  check_bad_rows(&c, "{null, null, null}", (const int64_t[]){0}, 1, NULL);
  c.rows = BAD(1) BAD(2) BAD(3);
  check_bad_rows(&c, "{null, null, null} {null, null, null} {null, null, null}",
                 (const int64_t[]){0, 1, 2}, 3, NULL);
  c.rows = GOOD(1) GOOD(2);
  check_bad_rows(&c, "{1, 0, [['x']]} {2, 1, [['x']]}", NULL, 0, NULL);
  cst__row_map origin = {.moved = true};
  c.rows = GOOD(1) BAD(2);
  check_bad_rows(&c, "{1, 0, [['x']]} {null, null, null}", (const int64_t[]){1}, 1, &origin);
  CHECK(!origin.moved);
}

TEST(bad_rows_have_no_rows_where_elements_are_rows) {
  cst__output_part parts[] = {FLAT("q", EVENTS, QUERY), FLAT("n", EVENTS, OWN + 3),
                              VALUES("t", TAGS, OWN, TAGS)};
  query_case c = SESSION_CASE(GOOD(1) BAD(2) "{3, null} " GOOD(4) BAD(5) GOOD(6), bad_steps, parts,
                              "struct{q: string, n: int64, t: large_list<string>}");
  cst__row_map origin = {0};
  c.records = EVENTS;
  c.moves_rows = true;
  c.origin = OWN + 2;
  check_bad_rows(&c, "{'q', 0, ['x']} {'q', 3, ['x']} {'q', 5, ['x']}", (const int64_t[]){1, 4}, 2,
                 &origin);
  static const int64_t rows[] = {0, 3, 5};
  CHECK(origin.moved);
  CHECK_MEM(origin.rows, rows, sizeof rows);
  cst__row_map_reset(&origin);
  check_bad_rows(&c, "{'q', 0, ['x']} {'q', 3, ['x']} {'q', 5, ['x']}", (const int64_t[]){1, 4}, 2,
                 NULL);
}

/* Whatever rows are bad, the others are as if these had not been there. */
TEST(every_pattern_of_bad_rows) {
  cst__output_part parts[] = {FLAT("id", RECORDS, ID)};
  static char rows[4000];
  static char expected[4000];
  for (unsigned pattern = 0; pattern < 64; pattern++) {
    int64_t bad[6];
    size_t count = 0;
    size_t at = 0;
    size_t to = 0;
    for (int i = 0; i < 6; i++) {
      bool is_bad = pattern >> i & 1;
      at += (size_t)snprintf(rows + at, sizeof rows - at, "{%d, [{'q', 1, [%s]}]} ", i,
                             is_bad ? "null" : "'x'");
      to += (size_t)(is_bad ? snprintf(expected + to, sizeof expected - to, "{null} ")
                            : snprintf(expected + to, sizeof expected - to, "{%d} ", i));
      if (is_bad) bad[count++] = i;
    }
    const query_case c = SESSION_CASE(rows, bad_steps, parts, "struct{id: int64}");
    check_bad_rows(&c, expected, bad, count, NULL);
  }
}

static void count_bad_row(void *ctx, const cst_error *error) {
  CHECK(error->record >= 0);
  ++*(int *)ctx;
}

static int bad_scenario(void *context) {
  query_failing *f = context;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst__query_run *run = NULL;
  int count = 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst__query_run_open(&f->plan, cst_array_schema(f->batch), &run, &error);
  if (status == CST_OK) status = cst_array_export(f->batch, &batch, &error);
  if (status == CST_OK) {
    const cst__query_input input = {.batch = &batch, .on_bad = count_bad_row, .ctx = &count};
    status = cst__query_run_batch(run, &input, &out, NULL, &error);
    if (status == CST_OK) {
      CHECK_EQ(count, 1);
      out.release(&out);
    }
    CHECK(batch.release == NULL);
  }
  cst__query_run_close(run);
  return status;
}

TEST(bad_rows_without_memory) {
  cst__output_part parts[] = {FLAT("id", RECORDS, ID)};
  const query_case c = SESSION_CASE(GOOD(1) BAD(2) GOOD(3), bad_steps, parts, "struct{id: int64}");
  query_failing f;
  query_plan_of(&c, &f.plan);
  f.batch = array_sample(c.type, c.rows);
  FOR_EACH_ALLOCATION_FAILURE(bad_scenario, &f, CST_NO_MEMORY);
  cst_array_release(f.batch);
  ArrowSchemaRelease(&f.plan.schema);
}

/* One run takes batches of all sizes, and goes on after one that failed. */
TEST(batches_one_after_the_other) {
  cst__output_part parts[] = {FLAT("id", RECORDS, ID), VALUES("t", TAGS, OWN, EVENTS, TAGS)};
  static const struct {
    const char *rows;
    const char *expected;
  } batches[] = {{GOOD(1) GOOD(2) GOOD(3), "{1, [['x']]} {2, [['x']]} {3, [['x']]}"},
                 {"", ""},
                 {GOOD(1) BAD(2), NULL},
                 {GOOD(7), "{7, [['x']]}"}};
  const query_case c =
      SESSION_CASE("", bad_steps, parts, "struct{id: int64, t: large_list<large_list<string>>}");
  cst__query_plan plan;
  cst__query_run *run = NULL;
  struct ArrowArray outs[COUNT(batches)];
  query_plan_of(&c, &plan);
  for (size_t i = 0; i < COUNT(batches); i++) {
    struct ArrowSchema schema;
    struct ArrowArray batch;
    cst_error error = CST_ERROR_INIT;
    const cst__query_input input = {.batch = &batch};
    arrow_text(SESSIONS, batches[i].rows, &schema, &batch);
    if (run == NULL) CHECK_EQ(cst__query_run_open(&plan, &schema, &run, &error), CST_OK);
    CHECK_EQ(cst__query_run_batch(run, &input, &outs[i], NULL, &error),
             batches[i].expected != NULL ? CST_OK : CST_SCHEMA);
    CHECK_EQ(error.record, batches[i].expected != NULL ? -1 : 1);
    ArrowSchemaRelease(&schema);
  }
  cst__query_run_close(run);
  for (size_t i = 0; i < COUNT(batches); i++) {
    if (batches[i].expected != NULL) query_check_output(&c, &outs[i], batches[i].expected);
  }
  ArrowSchemaRelease(&plan.schema);
}
