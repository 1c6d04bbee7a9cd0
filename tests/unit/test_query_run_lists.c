/* Places: lists of lists as one, chosen lists, filters, slices, sorting. */
#include "query_run_support.h"

#define ROWS                                                                     \
  "{1, [{'a', 3, ['x' 'y']} {'b', null, []} {'c', 7, null}]} {2, null} {3, []} " \
  "{4, [{'d', 9, ['z']} null {null, 1, ['u' null 'w']}]}"
#define QUERIES "struct{q: large_list<string>}"
#define PRICES "struct{p: large_list<int32>}"

/* ---- the lists themselves ---- */

TEST(lists_keep_nulls_and_hide_what_is_below_null_structs) {
  static const cst__step steps[] = {SESSION_STEPS};
  cst__output_part parts[] = {FLAT("id", RECORDS, ID), VALUES("q", EVENTS, QUERY, EVENTS),
                              VALUES("t", TAGS, TAG, EVENTS, TAGS)};
  const query_case c =
      SESSION_CASE(ROWS, steps, parts,
                   "struct{id: int64, q: large_list<string>, t: large_list<large_list<string>>}");
  query_check(&c, "{1, ['a' 'b' 'c'], [['x' 'y'] [] null]} {2, null, null} {3, [], []} "
                  "{4, ['d' null null], [['z'] null ['u' null 'w']]}");
  query_check_slice(
      &c, 1, 3, "{2, null, null} {3, [], []} {4, ['d' null null], [['z'] null ['u' null 'w']]}");
  query_check_slice(&c, 2, 0, "");
  query_check_memory(&c);
}

TEST(lists_of_lists_are_joined) {
  static const cst__step steps[] = {SESSION_STEPS, PLACE(JOIN, RECORDS, 2, EVENTS, TAGS),
                                    STEP(SIZE, 1, OWN), STEP(NOT_NULL, 1, OWN)};
  cst__output_part parts[] = {VALUES("t", OWN, TAG, OWN), FLAT("n", RECORDS, OWN + 1),
                              FLAT("has", RECORDS, OWN + 2)};
  const query_case c =
      SESSION_CASE(ROWS, steps, parts, "struct{t: large_list<string>, n: int64, has: bool}");
  query_check(&c, "{['x' 'y'], 2, true} {null, null, 0} {[], 0, true} "
                  "{['z' 'u' null 'w'], 4, true}");
  query_check_slice(&c, 0, 0, "");
  query_check_slice(&c, 3, 1, "{['z' 'u' null 'w'], 4, true}");
  query_check_memory(&c);
}

TEST(lists_are_chosen_again) {
  /* for each tag the tags of its event, for each event the events of its record */
  static const cst__step steps[] = {SESSION_STEPS,
                                    STEP(PARENTS, 1, TAGS),
                                    PLACE(CHOOSE_LISTS, TAGS, 3, TAGS, OWN, TAGS),
                                    TAKE(TAG, OWN + 1, "u"),
                                    STEP(PARENTS, 1, EVENTS),
                                    PLACE(CHOOSE_LISTS, EVENTS, 3, EVENTS, OWN + 3, EVENTS),
                                    TAKE(PRICE, OWN + 4, "i")};
  cst__output_part parts[] = {VALUES("t", OWN + 1, OWN + 2, EVENTS, TAGS, OWN + 1),
                              VALUES("p", OWN + 4, OWN + 5, EVENTS, OWN + 4)};
  const query_case c = SESSION_CASE(ROWS, steps, parts,
                                    "struct{t: large_list<large_list<large_list<string>>>, "
                                    "p: large_list<large_list<int32>>}");
  query_check(&c, "{[[['x' 'y'] ['x' 'y']] [] null], [[3 null 7] [3 null 7] [3 null 7]]} "
                  "{null, null} {[], []} "
                  "{[[['z']] null [['u' null 'w'] ['u' null 'w'] ['u' null 'w']]], "
                  "[[9 null 1] [9 null 1] [9 null 1]]}");
  query_check_memory(&c);
}

TEST(chosen_lists_of_no_element_are_null) {
  static const cst__literal one = {.kind = CST__LITERAL_INT, .integer = 1};
  static const cst__step steps[] = {SESSION_STEPS,
                                    LITERAL(&one, "l"),
                                    STEP(AT, 2, EVENTS, OWN),
                                    PLACE(CHOOSE_LISTS, RECORDS, 3, RECORDS, OWN + 1, TAGS),
                                    TAKE(TAG, OWN + 2, "u"),
                                    STEP(CHOSEN, 1, OWN + 1)};
  cst__output_part parts[] = {VALUES("t", OWN + 2, OWN + 3, OWN + 2), FLAT("c", RECORDS, OWN + 4)};
  const query_case c = SESSION_CASE(ROWS " {5, [{'e', 1, []} {'f', 1, ['v']}]}", steps, parts,
                                    "struct{t: large_list<string>, c: bool}");
  query_check(&c, "{[], true} {null, 0} {null, 0} {null, true} {['v'], true}");
}

/* ---- filters ---- */

#define FILTER_TYPE \
  "struct{id: int64, event: list<struct{query: string, price: int32, keep: bool}>}"
static const cst__input_node filter_nodes[] = {
    {.name = NULL},
    {.parent = 0, .name = "event"},
    {.parent = 1},
    {.parent = 2, .name = "query", .format = "u"},
    {.parent = 2, .name = "keep", .format = "b"},
};
#define FILTER_STEPS                                                           \
  STEP(RECORDS, 0, 0), LIST(RECORDS, 1), COLUMN(1, 3, "u"), COLUMN(1, 4, "b"), \
      PLACE(FILTER, RECORDS, 2, 1, 3), TAKE(2, 4, "u")

static query_case filter_case(const char *rows, const cst__step *steps, size_t num_steps,
                              cst__output_part *parts) {
  return (query_case){.type = FILTER_TYPE,
                      .rows = rows,
                      .nodes = filter_nodes,
                      .num_nodes = COUNT(filter_nodes),
                      .steps = steps,
                      .num_steps = num_steps,
                      .parts = parts,
                      .num_parts = 1,
                      .output_type = QUERIES};
}

TEST(filters_keep_what_is_true) {
  static const cst__step steps[] = {FILTER_STEPS};
  cst__output_part parts[] = {VALUES("q", 4, 5, 4)};
  query_case c = filter_case(
      "{1, [{'a', 1, true} {'b', 1, 0} {'c', 1, null} {'d', 1, true}]} {2, null} {3, []} "
      "{4, [null {'e', 1, 0}]} {5, [{'f', 1, true}]}",
      steps, COUNT(steps), parts);
  query_check(&c, "{['a' 'd']} {null} {[]} {[]} {['f']}");
  query_check_slice(&c, 1, 4, "{null} {[]} {[]} {['f']}");
  query_check_memory(&c);
  c.rows = "{1, [{'a', 1, true}]} {2, null} {3, [{'b', 1, true} {'c', 1, true}]}";
  query_check(&c, "{['a']} {null} {['b' 'c']}");
  c.rows = "{1, [{'a', 1, 0}]} {2, null} {3, [{'b', 1, 0} {'c', 1, null}]}";
  query_check(&c, "{[]} {null} {[]}");
}

/* Lists over several words of bits, from all offsets within a word. */
TEST(filters_of_many_elements_are_exact) {
  static const cst__step steps[] = {FILTER_STEPS};
  cst__output_part parts[] = {VALUES("q", 4, 5, 4)};
  static char rows[20000];
  static char expected[20000];
  for (int64_t from = 0; from < 70; from += 3) {
    size_t at = 0;
    size_t to = 0;
    uint32_t random = 7;
    for (int row = 0; row < 90; row++) {
      at += (size_t)snprintf(rows + at, sizeof rows - at, "{1, [");
      to += (size_t)(row >= from ? snprintf(expected + to, sizeof expected - to, "{[") : 0);
      for (int i = 0; i < row % 6; i++) {
        random = random * 1664525 + 1013904223;
        bool keep = (random >> 24) & 1;
        at += (size_t)snprintf(rows + at, sizeof rows - at, "{'%d', 1, %s} ", row * 10 + i,
                               keep      ? "true"
                               : row % 2 ? "0"
                                         : "null");
        if (keep && row >= from) {
          to += (size_t)snprintf(expected + to, sizeof expected - to, "'%d' ", row * 10 + i);
        }
      }
      at += (size_t)snprintf(rows + at, sizeof rows - at, "]}");
      to += (size_t)(row >= from ? snprintf(expected + to, sizeof expected - to, "]}") : 0);
    }
    query_case c = filter_case(rows, steps, COUNT(steps), parts);
    query_check_slice(&c, from, 90 - from, expected);
  }
}

TEST(filters_by_one_value_keep_all_or_none) {
  static const cst__literal yes = {.kind = CST__LITERAL_BOOL, .integer = 1};
  static const cst__literal no = {.kind = CST__LITERAL_BOOL, .integer = 0};
  for (int i = 0; i < 2; i++) {
    const cst__step steps[] = {SESSION_STEPS, LITERAL(i == 0 ? &yes : &no, "b"),
                               PLACE(FILTER, RECORDS, 2, EVENTS, OWN), TAKE(QUERY, OWN + 1, "u")};
    cst__output_part parts[] = {VALUES("q", OWN + 1, OWN + 2, OWN + 1)};
    const query_case c = SESSION_CASE(ROWS, steps, parts, QUERIES);
    query_check(&c,
                i == 0 ? "{['a' 'b' 'c']} {null} {[]} {['d' null null]}" : "{[]} {null} {[]} {[]}");
  }
}

/* ---- slices ---- */

static void check_python_slice(const char *begin, const char *end, const char *step,
                               const char *expected) {
  cst__literal bounds[3] = {{.kind = CST__LITERAL_INT}};
  const char *texts[3] = {begin, end, step};
  uint32_t args[3];
  for (uint32_t i = 0; i < 3; i++) {
    bounds[i].kind = CST__LITERAL_INT;
    bounds[i].integer = texts[i] != NULL ? strtoll(texts[i], NULL, 10) : 0;
    args[i] = texts[i] != NULL ? OWN + i : NO;
  }
  const cst__step steps[] = {SESSION_STEPS,
                             LITERAL(&bounds[0], "l"),
                             LITERAL(&bounds[1], "l"),
                             LITERAL(&bounds[2], "l"),
                             PLACE(SLICE, RECORDS, 4, EVENTS, args[0], args[1], args[2]),
                             TAKE(PRICE, OWN + 3, "i")};
  cst__output_part parts[] = {VALUES("p", OWN + 3, OWN + 4, OWN + 3)};
  const query_case c =
      SESSION_CASE("{1, [{'', 1, []} {'', 2, []} {'', 3, []} {'', 4, []}]} {2, null} {3, []} "
                   "{4, [{'', 5, []} {'', 6, []}]}",
                   steps, parts, PRICES);
  query_check(&c, expected);
}

TEST(slices_are_those_of_python) {
  check_python_slice(NULL, NULL, NULL, "{[1 2 3 4]} {null} {[]} {[5 6]}");
  check_python_slice("1", "3", NULL, "{[2 3]} {null} {[]} {[6]}");
  check_python_slice(NULL, "1", NULL, "{[1]} {null} {[]} {[5]}");
  check_python_slice("-3", "-1", NULL, "{[2 3]} {null} {[]} {[5]}");
  check_python_slice("9", NULL, NULL, "{[]} {null} {[]} {[]}");
  check_python_slice("3", "1", NULL, "{[]} {null} {[]} {[]}");
  check_python_slice(NULL, NULL, "2", "{[1 3]} {null} {[]} {[5]}");
  check_python_slice(NULL, NULL, "-1", "{[4 3 2 1]} {null} {[]} {[6 5]}");
  check_python_slice("2", NULL, "-2", "{[3 1]} {null} {[]} {[6]}");
  check_python_slice("-2", "0", "-1", "{[3 2]} {null} {[]} {[]}");
  check_python_slice("-9223372036854775808", "9223372036854775807", "9223372036854775807",
                     "{[1]} {null} {[]} {[5]}");
  check_python_slice("9223372036854775807", "-9223372036854775808", "-9223372036854775808",
                     "{[4]} {null} {[]} {[6]}");
}

TEST(slices_by_values_of_the_parent) {
  static const cst__input_node nodes[] = {{.name = NULL},
                                          {.parent = 0, .name = "a"},
                                          {.parent = 1, .format = "i"},
                                          {.parent = 0, .name = "n", .format = "l"},
                                          {.parent = 0, .name = "s", .format = "l"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1),
                                    COLUMN(1, 2, "i"),   COLUMN(0, 3, "l"),
                                    COLUMN(0, 4, "l"),   PLACE(SLICE, 0, 3, 1, NO, 3),
                                    TAKE(2, 5, "i"),     PLACE(SLICE, 0, 4, 1, 3, NO, 4),
                                    TAKE(2, 7, "i")};
  cst__output_part parts[] = {VALUES("a", 5, 6, 5), VALUES("b", 7, 8, 7)};
  const query_case c = {.type = "struct{a: large_list<int32>, n: int64, s: int64}",
                        .rows = "{[1 2 3], 2, 1} {[4 5], null, null} {null, 1, -1} {[6 7], -1, -1}",
                        .nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = COUNT(parts),
                        .output_type = "struct{a: large_list<int32>, b: large_list<int32>}"};
  query_check(&c, "{[1 2], [3]} {null, null} {null, null} {[6], [7 6]}");
  query_check_memory(&c);
}

TEST(a_step_of_zero_is_refused_with_the_record) {
  static const cst__input_node nodes[] = {{.name = NULL},
                                          {.parent = 0, .name = "a"},
                                          {.parent = 1, .format = "i"},
                                          {.parent = 0, .name = "s", .format = "l"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0),
                                    LIST(0, 1),
                                    COLUMN(0, 3, "l"),
                                    {.kind = CST__STEP_SLICE,
                                     .num_args = 4,
                                     .args = {1, NO, NO, 2},
                                     .parent = 0,
                                     .at = {7, 3},
                                     .label = "every.other"}};
  cst__output_part parts[] = {FLAT("s", 0, 2)};
  const query_case c = {.type = "struct{a: list<int32>, s: int64}",
                        .rows = "{[1 2], 2} {[3 4], 0}",
                        .nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = 1,
                        .output_type = "struct{s: int64}"};
  cst_error error;
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_STR(error.message, "line 7 of the query: the slice step is 0");
  CHECK_STR(error.path, "every.other");
  CHECK_EQ(error.record, 1);
  CHECK_EQ(error.line, 7);
  CHECK_EQ(error.column, 3);
}

/* ---- other orders ---- */

TEST(lists_are_reversed) {
  static const cst__step steps[] = {SESSION_STEPS, PLACE(REVERSE, RECORDS, 1, EVENTS),
                                    TAKE(QUERY, OWN, "u")};
  cst__output_part parts[] = {VALUES("q", OWN, OWN + 1, OWN)};
  const query_case c = SESSION_CASE(ROWS, steps, parts, QUERIES);
  query_check(&c, "{['c' 'b' 'a']} {null} {[]} {[null null 'd']}");
  query_check_memory(&c);
}

/* ---- side by side ---- */

static const cst__input_node pair_nodes[] = {{.name = NULL},
                                             {.parent = 0, .name = "a"},
                                             {.parent = 1, .format = "i"},
                                             {.parent = 0, .name = "b"},
                                             {.parent = 3, .format = "i"}};
static const cst__step pair_steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1),
                                       COLUMN(1, 2, "i"),   LIST(0, 3),
                                       COLUMN(3, 4, "i"),   PLACE(SAME, 0, 2, 1, 3)};

TEST(lists_of_one_size_stand_side_by_side) {
  cst__output_part fields[] = {FLAT("a", 5, 2), FLAT("b", 5, 4)};
  cst__output_part parts[] = {VALUES("z", 5, NO, 5)};
  parts[0].children = fields;
  parts[0].num_children = 2;
  query_case c = {.type = "struct{a: list<int32>, b: list<int32>}",
                  .rows = "{[1 2], [3 4]} {null, []} {[], null} {null, null} {[5], [null]}",
                  .nodes = pair_nodes,
                  .num_nodes = COUNT(pair_nodes),
                  .steps = pair_steps,
                  .num_steps = COUNT(pair_steps),
                  .parts = parts,
                  .num_parts = 1,
                  .output_type = "struct{z: large_list<struct{a: int32, b: int32}>}"};
  query_check(&c, "{[{1, 3} {2, 4}]} {[]} {[]} {null} {[{5, null}]}");
  query_check_memory(&c);
  c.rows = "{[1 2], [3 4]} {[1], [2]} {[1 2], [3]}";
  cst_error error;
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_EQ(error.record, 2);
  CHECK_STR(error.message, "lists of 2 and of 1 elements side by side");
}

TEST(more_elements_than_allowed_are_refused) {
  static const cst__step steps[] = {SESSION_STEPS, STEP(PARENTS, 1, EVENTS),
                                    PLACE(CHOOSE_LISTS, EVENTS, 3, EVENTS, OWN, EVENTS)};
  cst__output_part parts[] = {FLAT("id", RECORDS, ID)};
  query_case c = SESSION_CASE(ROWS, steps, parts, "struct{id: int64}");
  cst_error error;
  c.max_elements = 34;
  query_check(&c, "{1} {2} {3} {4}");
  c.max_elements = 33;
  query_check_fails(&c, CST_LIMIT, &error);
  CHECK_STR(error.message, "more than 33 elements in a batch");
  c.max_elements = 5;
  query_check_fails(&c, CST_LIMIT, &error);
}

/* ---- products and runs ---- */

TEST(elements_of_two_lists_with_each_other) {
  static const cst__step steps[] = {
      SESSION_STEPS, PLACE(PRODUCT, RECORDS, 3, EVENTS, EVENTS, NO), TAKE(QUERY, OWN, "u"),
      STEP(PARTNERS, 4, OWN, EVENTS, EVENTS, NO), TAKE(PRICE, OWN + 2, "i")};
  cst__output_part parts[] = {VALUES("q", OWN, OWN + 1, OWN), VALUES("p", OWN, OWN + 3, OWN)};
  const query_case c =
      SESSION_CASE("{1, [{'a', 1, []} {'b', 2, []}]} {2, null} {3, []} {4, [null]}", steps, parts,
                   "struct{q: large_list<string>, p: large_list<int32>}");
  query_check(&c, "{['a' 'a' 'b' 'b'], [1 2 1 2]} {null, null} {[], []} {[null], [null]}");
  query_check_slice(&c, 1, 2, "{null, null} {[], []}");
  query_check_memory(&c);
}

TEST(elements_with_those_after_them) {
  cst__step steps[] = {SESSION_STEPS, PLACE(PRODUCT, RECORDS, 3, EVENTS, EVENTS, NO),
                       TAKE(QUERY, OWN, "u"), STEP(PARTNERS, 4, OWN, EVENTS, EVENTS, NO),
                       TAKE(QUERY, OWN + 2, "u")};
  cst__output_part parts[] = {VALUES("a", OWN, OWN + 1, OWN), VALUES("b", OWN, OWN + 3, OWN)};
  steps[OWN].flag = true;
  steps[OWN + 2].flag = true;
  const query_case c =
      SESSION_CASE("{1, [{'a', 1, []} {'b', 2, []} {'c', 2, []}]} {2, null} {3, [null]}", steps,
                   parts, "struct{a: large_list<string>, b: large_list<string>}");
  query_check(&c, "{['a' 'a' 'b'], ['b' 'c' 'c']} {null, null} {[], []}");
  query_check_memory(&c);
}

TEST(stretches_of_the_same_values) {
  static const cst__step steps[] = {SESSION_STEPS, PLACE(RUNS, RECORDS, 2, EVENTS, PRICE),
                                    TAKE(QUERY, OWN, "u"), STEP(RUN_SIZES, 2, OWN, EVENTS)};
  cst__output_part parts[] = {VALUES("q", OWN, OWN + 1, OWN), VALUES("n", OWN, OWN + 2, OWN)};
  const query_case c =
      SESSION_CASE("{1, [{'a', 1, []} {'b', 1, []} {'c', null, []} null]} {2, null} {3, []} "
                   "{4, [{'d', 7, []}]}",
                   steps, parts, "struct{q: large_list<string>, n: large_list<int64>}");
  query_check(&c, "{['a' 'c'], [2 2]} {null, null} {[], []} {['d'], [1]}");
  query_check_slice(&c, 3, 1, "{['d'], [1]}");
  query_check_memory(&c);
}
