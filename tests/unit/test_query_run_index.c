/* Indexes: parents, elements of lists, keys, padding. */
#include "query_run_support.h"

#define ROWS                                                                     \
  "{1, [{'a', 3, ['x' 'y']} {'b', null, []} {'c', 7, null}]} {2, null} {3, []} " \
  "{4, [{'d', 9, ['z']} null {null, 1, ['u' null 'w']}]}"

TEST(values_from_above_stand_at_each_element) {
  static const cst__step steps[] = {SESSION_STEPS,
                                    STEP(PARENTS, 1, EVENTS),
                                    STEP(PARENTS, 1, TAGS),
                                    STEP(COMPOSE, 2, OWN + 1, OWN),
                                    TAKE(ID, OWN, "l"),
                                    TAKE(ID, OWN + 2, "l"),
                                    TAKE(QUERY, OWN + 1, "u")};
  cst__output_part parts[] = {VALUES("e", EVENTS, OWN + 3, EVENTS),
                              VALUES("t", TAGS, OWN + 4, EVENTS, TAGS),
                              VALUES("q", TAGS, OWN + 5, EVENTS, TAGS)};
  const query_case c =
      SESSION_CASE(ROWS, steps, parts,
                   "struct{e: large_list<int64>, t: large_list<large_list<int64>>, "
                   "q: large_list<large_list<string>>}");
  query_check(&c, "{[1 1 1], [[1 1] [] null], [['a' 'a'] [] null]} {null, null, null} {[], [], []} "
                  "{[4 4 4], [[4] null [4 4 4]], [['d'] null [null null null]]}");
  query_check_slice(&c, 3, 1, "{[4 4 4], [[4] null [4 4 4]], [['d'] null [null null null]]}");
  query_check_memory(&c);
}

/* More elements than are written at once. */
TEST(long_lists_have_one_parent) {
  static const cst__input_node nodes[] = {{.name = NULL},
                                          {.parent = 0, .name = "n", .format = "i"},
                                          {.parent = 0, .name = "a"},
                                          {.parent = 2, .format = "b"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0), COLUMN(0, 1, "i"), LIST(0, 2),
                                    STEP(PARENTS, 1, 2), TAKE(1, 3, "i")};
  cst__output_part parts[] = {VALUES("n", 2, 4, 2)};
  const query_case c = {.type = "struct{n: int32, a: list<bool>}",
                        .rows = "{1, [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]} {2, [0]} {3, []} "
                                "{4, [0 0 0 0 0 0 0 0]}",
                        .nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = 1,
                        .output_type = "struct{n: large_list<int32>}"};
  query_check(&c, "{[1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1]} {[2]} {[]} {[4 4 4 4 4 4 4 4]}");
}

TEST(an_element_of_each_list) {
  static const cst__literal numbers[] = {{.kind = CST__LITERAL_INT, .integer = 0},
                                         {.kind = CST__LITERAL_INT, .integer = -1},
                                         {.kind = CST__LITERAL_INT, .integer = 2},
                                         {.kind = CST__LITERAL_INT, .integer = INT64_MIN}};
  static const char *const expected[] = {"{'a'} {null} {null} {'d'}", "{'c'} {null} {null} {null}",
                                         "{'c'} {null} {null} {null}",
                                         "{null} {null} {null} {null}"};
  for (size_t i = 0; i < COUNT(numbers); i++) {
    const cst__step steps[] = {SESSION_STEPS, LITERAL(&numbers[i], "l"), STEP(AT, 2, EVENTS, OWN),
                               TAKE(QUERY, OWN + 1, "u")};
    cst__output_part parts[] = {FLAT("q", RECORDS, OWN + 2)};
    const query_case c = SESSION_CASE(ROWS, steps, parts, "struct{q: string}");
    query_check(&c, expected[i]);
  }
}

TEST(an_element_by_a_number_of_the_parent) {
  static const cst__input_node nodes[] = {{.name = NULL},
                                          {.parent = 0, .name = "a"},
                                          {.parent = 1, .format = "i"},
                                          {.parent = 0, .name = "n", .format = "l"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1),        COLUMN(1, 2, "i"),
                                    COLUMN(0, 3, "l"),   STEP(AT, 2, 1, 3), TAKE(2, 4, "i"),
                                    STEP(CHOSEN, 1, 4)};
  cst__output_part parts[] = {FLAT("a", 0, 5), FLAT("c", 0, 6)};
  const query_case c = {.type = "struct{a: list<int32>, n: int64}",
                        .rows = "{[1 2], 1} {[3], null} {null, 0} {[4 null], -1} {[5], -2}",
                        .nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = COUNT(parts),
                        .output_type = "struct{a: int32, c: bool}"};
  query_check(&c, "{2, true} {null, 0} {null, 0} {null, true} {null, 0}");
  query_check_memory(&c);
}

/* ---- keys ---- */

static void check_key(const char *type, const char *format, const char *rows,
                      const char *expected) {
  char batch_type[160];
  const cst__input_node nodes[] = {{.name = NULL},
                                   {.parent = 0, .name = "m"},
                                   {.parent = 1},
                                   {.parent = 2, .name = "key", .format = format},
                                   {.parent = 2, .name = "value", .format = "i"},
                                   {.parent = 0, .name = "k", .format = format}};
  const cst__step steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1),           COLUMN(1, 3, format),
                             COLUMN(1, 4, "i"),   COLUMN(0, 5, format), STEP(KEY, 3, 1, 2, 4),
                             TAKE(3, 5, "i")};
  cst__output_part parts[] = {FLAT("v", 0, 6)};
  const query_case c = {.type = batch_type,
                        .rows = rows,
                        .nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = 1,
                        .output_type = "struct{v: int32}"};
  snprintf(batch_type, sizeof batch_type, "struct{m: list<struct{key: %s, value: int32}>, k: %s}",
           type, type);
  query_check(&c, expected);
}

TEST(entries_are_found_by_their_keys) {
  check_key("string", "u",
            "{[{'a', 1} {'b', 2}], 'b'} {null, 'a'} {[], 'a'} {[{'a', 3} {'a', 4}], 'a'} "
            "{[{'ab', 5} {null, 6}], 'a'} {[{'', 7}], ''} {[{'a', 1}], null}",
            "{2} {null} {null} {4} {null} {7} {null}");
  check_key("int32", "i", "{[{-1, 1} {2, 2}], -1} {[{3, 3}], 2}", "{1} {null}");
  check_key("uint64", "L", "{[{18446744073709551615, 1}], 18446744073709551615}", "{1}");
  check_key("bool", "b", "{[{true, 1} {0, 2}], 0} {[{true, 3}], 0}", "{2} {null}");
}

/* The entries, and their keys, lie at offsets in the arrays that hold them. */
TEST(keys_of_entries_that_are_slices) {
  static const cst__input_node nodes[] = {{.name = NULL},
                                          {.parent = 0, .name = "m"},
                                          {.parent = 1},
                                          {.parent = 2, .name = "key", .format = "u"},
                                          {.parent = 2, .name = "value", .format = "i"},
                                          {.parent = 0, .name = "k", .format = "u"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1),        COLUMN(1, 3, "u"),
                                    COLUMN(1, 4, "i"),   COLUMN(0, 5, "u"), STEP(KEY, 3, 1, 2, 4),
                                    TAKE(3, 5, "i")};
  cst__output_part parts[] = {FLAT("v", 0, 6)};
  const query_case c = {.nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = 1,
                        .output_type = "struct{v: int32}"};
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch};
  arrow_text("struct{m: list<struct{key: string, value: int32}>, k: string}",
             "{[{'x', 0} {'y', 0}], 'b'} {[{'z', 1} {'a', 2} {'b', 3} {'c', 4}], 'c'}", &schema,
             &batch);
  /* {'a', 0}, and {'b', 1} {'c', 2}: keys from the fourth on, values from the second */
  struct ArrowArray *entries = batch.children[0]->children[0];
  entries->offset = 1;
  entries->length = 3;
  entries->children[0]->offset = 2;
  entries->children[0]->length = 4;
  ((int32_t *)(uintptr_t)batch.children[0]->buffers[1])[1] = 1;
  ((int32_t *)(uintptr_t)batch.children[0]->buffers[1])[2] = 3;
  CHECK_EQ(query_run_batch(&c, &schema, &input, &out, NULL, &error), CST_OK);
  CHECK_STR(error.message, "");
  query_check_output(&c, &out, "{null} {2}");
  ArrowSchemaRelease(&schema);
}

/* ---- some of the same ---- */

TEST(elements_are_kept_where_bools_are_true) {
  static const cst__input_node nodes[] = {{.name = NULL},
                                          {.parent = 0, .name = "a", .format = "i"},
                                          {.parent = 0, .name = "k", .format = "b"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0), COLUMN(0, 1, "i"), COLUMN(0, 2, "b"),
                                    STEP(KEPT, 2, 0, 2), TAKE(1, 3, "i"),   STEP(CHOSEN, 1, 3)};
  cst__output_part parts[] = {FLAT("a", 0, 4), FLAT("c", 0, 5)};
  query_case c = {.type = "struct{a: int32, k: bool}",
                  .rows = "{1, true} {2, 0} {3, null} {null, true}",
                  .nodes = nodes,
                  .num_nodes = COUNT(nodes),
                  .steps = steps,
                  .num_steps = COUNT(steps),
                  .parts = parts,
                  .num_parts = COUNT(parts),
                  .output_type = "struct{a: int32, c: bool}"};
  query_check(&c, "{1, true} {null, 0} {null, 0} {null, true}");
  query_check_slice(&c, 3, 1, "{null, true}");
  query_check_memory(&c);
}

/* ---- padding ---- */

static const cst__input_node grid_nodes[] = {
    {.name = NULL}, {.parent = 0, .name = "a"}, {.parent = 1}, {.parent = 2, .format = "i"}};

static query_case grid_case(const cst__step *steps, cst__output_part *parts, const char *rows) {
  return (query_case){.type = "struct{a: large_list<list<int32>>}",
                      .rows = rows,
                      .nodes = grid_nodes,
                      .num_nodes = COUNT(grid_nodes),
                      .steps = steps,
                      .num_steps = 6,
                      .parts = parts,
                      .num_parts = 1,
                      .output_type = "struct{a: fixed_list<fixed_list<int32>[3]>[2]}"};
}

static const int64_t grid_dims[] = {2, 3};
#define GRID_STEPS(fills)                                         \
  STEP(RECORDS, 0, 0), LIST(0, 1), LIST(1, 2), COLUMN(2, 3, "i"), \
      {.kind = CST__STEP_PAD,                                     \
       .num_args = 3,                                             \
       .flag = fills,                                             \
       .args = {0, 1, 2},                                         \
       .dims = grid_dims,                                         \
       .num_dims = 2,                                             \
       .parent = NO,                                              \
       .at = {2, 5},                                              \
       .label = "grid"},                                          \
      TAKE(3, 4, "i")

TEST(lists_are_filled_up_to_a_shape) {
  static const cst__step steps[] = {GRID_STEPS(true)};
  cst__output_part parts[] = {
      {.name = "a", .dims = grid_dims, .num_dims = 2, .place = 4, .values = 5, .valid = NO}};
  query_case c = grid_case(steps, parts, "{[[1 2 3] [4]]} {null} {[null]} {[[] [5 null 6]]} {[]}");
  query_check(&c, "{[[1 2 3] [4 null null]]} {[[null null null] [null null null]]} "
                  "{[[null null null] [null null null]]} {[[null null null] [5 null 6]]} "
                  "{[[null null null] [null null null]]}");
  query_check_slice(&c, 1, 0, "");
  query_check_memory(&c);
  cst_error error;
  c.rows = "{[]} {[[1] [1 2 3 4]]}";
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_STR(error.message, "line 2 of the query: a list of 4 values, where the shape has 3");
  CHECK_EQ(error.record, 1);
  CHECK_STR(error.path, "grid");
  c.rows = "{[]} {[]} {[[] [] []]}";
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_EQ(error.record, 2);
  c.max_elements = 13;
  c.rows = "{[]} {[]}";
  query_check_fails(&c, CST_LIMIT, &error);
}

TEST(short_lists_are_refused_without_a_default) {
  static const cst__step steps[] = {GRID_STEPS(false)};
  cst__output_part parts[] = {
      {.name = "a", .dims = grid_dims, .num_dims = 2, .place = 4, .values = 5, .valid = NO}};
  query_case c = grid_case(steps, parts, "{[[1 2 3] [4 null 6]]}");
  cst_error error;
  query_check(&c, "{[[1 2 3] [4 null 6]]}");
  c.rows = "{[[1 2 3] [4 5 6]]} {[[1 2 3] [4 5]]}";
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_STR(error.message, "line 2 of the query: a list of 2 values, where the shape has 3");
  CHECK_EQ(error.record, 1);
  c.rows = "{[[1 2 3] [4 5 6]]} {null}";
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_EQ(error.record, 1);
}
