/* Batches that go out: structs, lists, maps, and which row of the input each row is of. */
#include "query_run_support.h"

#define ROWS                                                                     \
  "{1, [{'a', 3, ['x' 'y']} {'b', null, []} {'c', 7, null}]} {2, null} {3, []} " \
  "{4, [{'d', 9, ['z']} null {null, 1, ['u' null 'w']}]}"

TEST(structs_in_lists_keep_their_nulls) {
  static const cst__step steps[] = {
      SESSION_STEPS,
      {.kind = CST__STEP_VALID, .num_args = 1, .args = {EVENTS}, .node = NODE_EVENTS}};
  cst__output_part fields[] = {FLAT("price", EVENTS, PRICE), VALUES("tag", TAGS, TAG, TAGS)};
  cst__output_part parts[] = {FLAT("id", RECORDS, ID), VALUES("event", EVENTS, NO, EVENTS)};
  parts[1].children = fields;
  parts[1].num_children = COUNT(fields);
  parts[1].valid = OWN;
  const query_case c = SESSION_CASE(
      ROWS, steps, parts,
      "struct{id: int64, event: large_list<struct{price: int32, tag: large_list<string>}>}");
  query_check(&c, "{1, [{3, ['x' 'y']} {null, []} {7, null}]} {2, null} {3, []} "
                  "{4, [{9, ['z']} null {1, ['u' null 'w']}]}");
  query_check_slice(&c, 0, 3, "{1, [{3, ['x' 'y']} {null, []} {7, null}]} {2, null} {3, []}");
  query_check_slice(&c, 4, 0, "");
  query_check_memory(&c);
}

TEST(null_lists_are_empty_where_that_is_asked_for) {
  static const cst__step steps[] = {SESSION_STEPS};
  cst__output_part parts[] = {VALUES("t", TAGS, TAG, EVENTS, TAGS)};
  parts[0].null_lists = false;
  const query_case c =
      SESSION_CASE(ROWS, steps, parts, "struct{t: large_list<large_list<string>>}");
  query_check(&c, "{[['x' 'y'] [] []]} {[]} {[]} {[['z'] [] ['u' null 'w']]}");
}

TEST(structs_without_fields_and_batches_without_columns) {
  static const cst__step steps[] = {SESSION_STEPS};
  cst__output_part parts[] = {VALUES("e", EVENTS, NO, EVENTS)};
  query_case c = SESSION_CASE(ROWS, steps, parts, "struct{e: large_list<struct{}>}");
  query_check(&c, "{[{} {} {}]} {null} {[]} {[{} {} {}]}");
  c.num_parts = 0;
  c.output_type = "struct{}";
  query_check(&c, "{} {} {} {}");
}

/* ---- maps ---- */

TEST(maps_go_out_as_maps) {
  static const cst__input_node nodes[] = {{.name = NULL},
                                          {.parent = 0, .name = "m"},
                                          {.parent = 1},
                                          {.parent = 2, .name = "key", .format = "u"},
                                          {.parent = 2, .name = "value", .format = "i"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1), COLUMN(1, 3, "u"),
                                    COLUMN(1, 4, "i")};
  cst__output_part fields[] = {FLAT("key", 1, 2), FLAT("value", 1, 3)};
  cst__output_part parts[] = {VALUES("m", 1, NO, 1)};
  parts[0].is_map = true;
  parts[0].children = fields;
  parts[0].num_children = 2;
  const query_case c = {.nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = 1,
                        .output_type = "struct{m: list<struct{key: string, value: int32}>}"};
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst__query_plan plan;
  cst__query_run *run;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch};
  arrow_text("struct{m: large_list<struct{key: string, value: int32}>}",
             "{[{'a', 1} {'b', null}]} {null} {[]}", &schema, &batch);
  query_plan_of(&c, &plan);
  CHECK_EQ(ArrowSchemaSetFormat(plan.schema.children[0], "+m"), 0);
  CHECK_EQ(cst__query_run_open(&plan, &schema, &run, &error), CST_OK);
  CHECK_EQ(cst__query_run_batch(run, &input, &out, NULL, &error), CST_OK);
  CHECK_EQ(out.children[0]->n_buffers, 2);
  CHECK_EQ(((const int32_t *)out.children[0]->buffers[1])[3], 2);
  query_check_output(&c, &out,
                     "{[{'a', 1} {'b', null}]} {null} {[]}"); /* the same but for its name */
  cst__query_run_close(run);
  ArrowSchemaRelease(&plan.schema);
  ArrowSchemaRelease(&schema);
}

/* ---- rows ---- */

static const cst__step reroot_steps[] = {SESSION_STEPS, STEP(PARENTS, 1, EVENTS),
                                         TAKE(ID, OWN, "l"), STEP(NUMBERS, 1, EVENTS)};

TEST(elements_become_rows_that_know_where_they_are_from) {
  cst__output_part parts[] = {FLAT("q", EVENTS, QUERY), FLAT("id", EVENTS, OWN + 1),
                              FLAT("n", EVENTS, OWN + 2), VALUES("t", TAGS, TAG, TAGS)};
  query_case c = SESSION_CASE(ROWS, reroot_steps, parts,
                              "struct{q: string, id: int64, n: int64, t: large_list<string>}");
  c.records = EVENTS;
  c.moves_rows = true;
  c.origin = OWN;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst__row_map origin = {0};
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch};
  arrow_text(c.type, c.rows, &schema, &batch);
  CHECK_EQ(query_run_batch(&c, &schema, &input, &out, &origin, &error), CST_OK);
  CHECK_STR(error.message, "");
  query_check_output(&c, &out,
                     "{'a', 1, 0, ['x' 'y']} {'b', 1, 0, []} {'c', 1, 0, null} {'d', 4, 3, ['z']} "
                     "{null, 4, 3, null} {null, 4, 3, ['u' null 'w']}");
  CHECK(origin.moved);
  static const int64_t rows[] = {0, 0, 0, 3, 3, 3};
  CHECK_MEM(origin.rows, rows, sizeof rows);
  cst__row_map_reset(&origin);
  ArrowSchemaRelease(&schema);
  query_check_slice(&c, 1, 2, "");
  query_check_memory(&c);
}

/* What goes out outlives the run and the batch, and shares what has not changed. */
TEST(values_are_shared_with_the_input) {
  static const cst__step steps[] = {SESSION_STEPS};
  cst__output_part parts[] = {FLAT("id", RECORDS, ID), FLAT("again", RECORDS, ID)};
  const query_case c = SESSION_CASE(ROWS, steps, parts, "struct{id: int64, again: int64}");
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch};
  arrow_text(c.type, c.rows, &schema, &batch);
  const void *values = batch.children[0]->buffers[1];
  CHECK_EQ(query_run_batch(&c, &schema, &input, &out, NULL, &error), CST_OK);
  CHECK(out.children[0]->buffers[1] == values);
  CHECK(out.children[1]->buffers[1] == values);
  query_check_output(&c, &out, "{1, 1} {2, 2} {3, 3} {4, 4}");
  ArrowSchemaRelease(&schema);
}
