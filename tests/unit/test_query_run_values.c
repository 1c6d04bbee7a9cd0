/* Values: of functions, of lists, of other elements, and with nulls. */
#include "query_run_support.h"

#define ROWS                                                                     \
  "{1, [{'a', 3, ['x' 'y']} {'b', null, []} {'c', 7, null}]} {2, null} {3, []} " \
  "{4, [{'d', 9, ['z']} null {null, 1, ['u' null 'w']}]}"
#define CALL(kind_, name, n, type_, ...)                                               \
  {                                                                                    \
    .kind = CST__STEP_##kind_, .num_args = n, .args = {__VA_ARGS__},                   \
    .function = cst__function_find(name), .type = {type_}, .parent = NO, .at = {3, 9}, \
    .label = "made"                                                                    \
  }

/* ---- functions ---- */

TEST(functions_see_values_side_by_side) {
  static const cst__literal two = {.kind = CST__LITERAL_INT, .integer = 2};
  const cst__step steps[] = {SESSION_STEPS, LITERAL(&two, "i"),
                             CALL(CALL, "mul", 3, "i", EVENTS, PRICE, OWN)};
  cst__output_part parts[] = {VALUES("p", EVENTS, OWN + 1, EVENTS)};
  const query_case c = SESSION_CASE(ROWS, steps, parts, "struct{p: large_list<int32>}");
  query_check(&c, "{[6 null 14]} {null} {[]} {[18 null 2]}");
  query_check_slice(&c, 0, 0, "");
  query_check_memory(&c);
}

TEST(what_functions_refuse_has_its_record) {
  static const cst__literal ten = {.kind = CST__LITERAL_INT, .integer = 10};
  const cst__step steps[] = {SESSION_STEPS, LITERAL(&ten, "i"),
                             CALL(CALL, "sub", 3, "i", EVENTS, PRICE, OWN),
                             CALL(CALL, "floordiv", 3, "i", EVENTS, OWN, OWN + 1)};
  cst__output_part parts[] = {VALUES("p", EVENTS, OWN + 2, EVENTS)};
  const query_case c = SESSION_CASE("{1, null} {2, [{'', 1, []}]} {3, []} "
                                    "{4, [{'', 2, []} {'', 10, []}]} {5, [{'', 10, []}]}",
                                    steps, parts, "struct{p: large_list<int32>}");
  cst_error error;
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_EQ(error.record, 3);
  CHECK_STR(error.path, "made");
  CHECK_EQ(error.line, 3);
  CHECK_EQ(error.column, 9);
  CHECK_CONTAINS(error.message, "line 3 of the query: ");
}

TEST(aggregates_make_one_value_for_each_list) {
  const cst__step steps[] = {SESSION_STEPS, CALL(AGGREGATE, "count", 2, "l", TAGS, TAG),
                             PLACE(JOIN, RECORDS, 2, EVENTS, TAGS),
                             CALL(AGGREGATE, "count", 2, "l", OWN + 1, TAG)};
  cst__output_part parts[] = {VALUES("e", EVENTS, OWN, EVENTS), FLAT("r", RECORDS, OWN + 2)};
  const query_case c = SESSION_CASE(ROWS, steps, parts, "struct{e: large_list<int64>, r: int64}");
  query_check(&c, "{[2 0 0], 2} {null, 0} {[], 0} {[1 0 2], 3}");
  query_check_memory(&c);
}

TEST(aggregates_of_one_value_for_all_count_the_elements) {
  static const cst__literal two = {.kind = CST__LITERAL_INT, .integer = 2};
  const cst__step steps[] = {SESSION_STEPS, LITERAL(&two, "l"),
                             CALL(AGGREGATE, "sum", 2, "l", EVENTS, OWN)};
  cst__output_part parts[] = {FLAT("n", RECORDS, OWN + 1)};
  const query_case c = SESSION_CASE(ROWS, steps, parts, "struct{n: int64}");
  query_check(&c, "{6} {null} {0} {6}");
  query_check_memory(&c);
}

/* A function that makes lists, of the test: i copies of the value i. */
static cst_status expand_numbers(const cst__function_call *call, struct ArrowArray *out,
                                 int64_t **out_offsets, cst_error *error) {
  int64_t total = 0;
  int64_t *offsets = cst__new(call->allocator, (size_t)(call->count + 1) * sizeof *offsets);
  if (offsets == NULL) return cst__fail_memory(error, 8);
  offsets[0] = 0;
  for (int64_t i = 0; i < call->count; i++) {
    int64_t value = cst__view_is_null(call->args, i) ? 0 : cst__view_int(call->args, i);
    if (value == 13) {
      cst__delete(offsets);
      cst__fail(error, CST_SCHEMA, NULL, "thirteen");
      cst__error_add_record(error, i, -1);
      return CST_SCHEMA;
    }
    total += value;
    offsets[i + 1] = total;
  }
  cst_status status = cst__owned_new(call->allocator, 2, 0, false, out, error);
  int64_t *to = status == CST_OK ? cst__owned_buffer(out, 1, (size_t)total * sizeof *to) : NULL;
  if (to == NULL) {
    cst__delete(offsets);
    if (status == CST_OK) cst__array_release(out);
    return cst__fail_memory(error, 8);
  }
  out->length = total;
  for (int64_t i = 0; i < call->count; i++) {
    for (int64_t k = offsets[i]; k < offsets[i + 1]; k++) to[k] = offsets[i + 1] - offsets[i];
  }
  *out_offsets = offsets;
  return CST_OK;
}

TEST(functions_that_make_lists_make_places) {
  static const cst__function function = {
      .name = "copies", .kind = CST__FUNCTION_EXPAND, .expand = expand_numbers};
  static const cst__step steps[] = {SESSION_STEPS,
                                    {.kind = CST__STEP_EXPAND,
                                     .num_args = 2,
                                     .args = {EVENTS, PRICE},
                                     .function = &function,
                                     .type = {"l"},
                                     .parent = EVENTS},
                                    STEP(SIZE, 1, OWN)};
  cst__output_part parts[] = {VALUES("c", OWN, OWN, EVENTS, OWN),
                              VALUES("n", EVENTS, OWN + 1, EVENTS)};
  query_case c = SESSION_CASE(ROWS, steps, parts,
                              "struct{c: large_list<large_list<int64>>, n: large_list<int64>}");
  query_check(&c, "{[[3 3 3] null [7 7 7 7 7 7 7]], [3 null 7]} {null, null} {[], []} "
                  "{[[9 9 9 9 9 9 9 9 9] null [1]], [9 null 1]}");
  query_check_memory(&c);
  cst_error error;
  c.max_elements = 35;
  query_check_fails(&c, CST_LIMIT, &error);
  c.rows = "{1, null} {2, [{'', 12, []} {'', 13, []}]}";
  c.max_elements = 0;
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_STR(error.message, "thirteen");
  CHECK_EQ(error.record, 1);
}

/* ---- functions of the caller's ---- */

typedef struct caller_probe {
  int64_t calls;
  int64_t length; /* to give; -1: as many as came */
  cst_status status;
  const char *type; /* of what is given */
} caller_probe;

/* Gives its first argument again. */
static cst_status call_probe(void *ctx, const struct ArrowSchema *schema,
                             const struct ArrowArray *args, struct ArrowArray *out,
                             cst_error *error) {
  caller_probe *probe = ctx;
  probe->calls++;
  CHECK_EQ(schema->n_children, 2);
  CHECK_STR(schema->children[0]->name, "a");
  CHECK_STR(schema->children[0]->format, "i");
  CHECK_STR(schema->children[1]->name, "b");
  CHECK_EQ(args->n_children, 2);
  CHECK_EQ(args->children[0]->length, args->length);
  CHECK_EQ(args->children[1]->length, args->length);
  if (probe->status != CST_OK) {
    cst__fail(error, probe->status, NULL, "not today");
    cst__error_add_record(error, 2, -1);
    return probe->status;
  }
  struct ArrowSchema type;
  static char rows[64];
  rows[0] = '\0';
  int64_t length = probe->length >= 0 ? probe->length : args->length;
  for (int64_t i = 0; i < length; i++) {
    strcat(rows, i % 2 == 0 && strcmp(probe->type, "null") != 0 ? "1 " : "null ");
  }
  arrow_text(probe->type, rows, &type, out);
  ArrowSchemaRelease(&type);
  return CST_OK;
}

TEST(functions_of_the_caller_see_a_batch_of_arguments) {
  static const cst__literal two = {.kind = CST__LITERAL_INT, .integer = 2};
  caller_probe probe = {.length = -1, .type = "int64"};
  const cst_query_function caller = {
      .name = "probe", .type = "int64", .num_args = 2, .call = call_probe, .ctx = &probe};
  const cst__step steps[] = {SESSION_STEPS,
                             LITERAL(&two, "l"),
                             {.kind = CST__STEP_CALLER,
                              .num_args = 3,
                              .args = {EVENTS, PRICE, OWN},
                              .caller = &caller,
                              .type = {"l"},
                              .at = {4, 1},
                              .parent = NO}};
  cst__output_part parts[] = {VALUES("p", EVENTS, OWN + 1, EVENTS)};
  const query_case c = SESSION_CASE(ROWS, steps, parts, "struct{p: large_list<int64>}");
  query_check(&c, "{[1 null 1]} {null} {[]} {[null 1 null]}");
  CHECK_EQ(probe.calls, 1);
  cst_error error;
  probe.length = 5;
  query_check_fails(&c, CST_CALLBACK, &error);
  CHECK_STR(error.message, "line 4 of the query: function probe returned 5 values for 6 elements");
  probe.length = -1;
  probe.type = "null";
  query_check_fails(&c, CST_INVALID_ARGUMENT, &error);
  probe.status = CST_SCHEMA;
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_STR(error.message, "line 4 of the query: not today");
  CHECK_EQ(error.record, 0);
}

/* ---- of places ---- */

TEST(sizes_positions_and_numbers) {
  static const cst__step steps[] = {
      SESSION_STEPS,
      STEP(SIZE, 1, TAGS),
      STEP(POSITIONS, 1, EVENTS),
      {.kind = CST__STEP_POSITIONS, .num_args = 1, .args = {EVENTS}, .flag = true, .parent = NO},
      STEP(NUMBERS, 1, TAGS),
      STEP(NUMBERS, 1, RECORDS),
      STEP(NOT_NULL, 1, TAGS)};
  cst__output_part parts[] = {
      VALUES("s", EVENTS, OWN, EVENTS),     VALUES("i", EVENTS, OWN + 1, EVENTS),
      VALUES("e", EVENTS, OWN + 2, EVENTS), VALUES("n", TAGS, OWN + 3, EVENTS, TAGS),
      FLAT("r", RECORDS, OWN + 4),          VALUES("b", EVENTS, OWN + 5, EVENTS)};
  const query_case c =
      SESSION_CASE(ROWS, steps, parts,
                   "struct{s: large_list<int64>, i: large_list<int64>, e: large_list<int64>, "
                   "n: large_list<large_list<int64>>, r: int64, b: large_list<bool>}");
  query_check(&c, "{[2 0 null], [0 1 2], [-3 -2 -1], [[0 0] [] null], 0, [true true 0]} "
                  "{null, null, null, null, 1, null} {[], [], [], [], 2, []} "
                  "{[1 null 3], [0 1 2], [-3 -2 -1], [[3] null [3 3 3]], 3, [true 0 true]}");
  query_check_slice(&c, 3, 1,
                    "{[1 null 3], [0 1 2], [-3 -2 -1], [[0] null [0 0 0]], 0, [true 0 true]}");
  query_check_memory(&c);
}

TEST(numbers_of_records_are_those_that_are_told) {
  static const cst__step steps[] = {SESSION_STEPS, STEP(NUMBERS, 1, EVENTS)};
  static const int64_t numbers[] = {70, 72, 75, 90};
  cst__output_part parts[] = {VALUES("n", EVENTS, OWN, EVENTS)};
  const query_case c = SESSION_CASE(ROWS, steps, parts, "struct{n: large_list<int64>}");
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch, .numbers = numbers};
  arrow_text(c.type, c.rows, &schema, &batch);
  CHECK_EQ(query_run_batch(&c, &schema, &input, &out, NULL, &error), CST_OK);
  query_check_output(&c, &out, "{[70 70 70]} {null} {[]} {[90 90 90]}");
  ArrowSchemaRelease(&schema);
}

/* ---- one for all ---- */

TEST(one_value_is_repeated_and_chosen) {
  static const cst__literal two = {.kind = CST__LITERAL_INT, .integer = 2};
  static const cst__literal three = {.kind = CST__LITERAL_INT, .integer = 2};
  static const cst__step steps[] = {
      SESSION_STEPS,
      LITERAL(&two, "l"),
      {.kind = CST__STEP_REPEAT, .num_args = 2, .args = {EVENTS, OWN}, .type = {"l"}},
      LITERAL(&three, "l"),
      STEP(AT, 2, EVENTS, OWN + 2),
      TAKE(OWN, OWN + 3, "l")};
  cst__output_part parts[] = {VALUES("a", EVENTS, OWN + 1, EVENTS), FLAT("b", RECORDS, OWN),
                              FLAT("c", RECORDS, OWN + 4)};
  const query_case c =
      SESSION_CASE(ROWS, steps, parts, "struct{a: large_list<int64>, b: int64, c: int64}");
  query_check(&c, "{[2 2 2], 2, 2} {null, 2, null} {[], 2, null} {[2 2 2], 2, 2}");
  query_check_slice(&c, 0, 0, "");
  query_check_memory(&c);
}

/* ---- bytes of text ---- */

TEST(texts_that_grow_beyond_measure_are_refused) {
  const cst__step steps[] = {SESSION_STEPS, STEP(PARENTS, 1, TAGS), TAKE(QUERY, OWN, "u"),
                             CALL(CALL, "add", 3, "U", TAGS, OWN + 1, OWN + 1)};
  cst__output_part parts[] = {VALUES("t", TAGS, OWN + 2, EVENTS, TAGS)};
  query_case c = SESSION_CASE("{1, [{'0123456789012345678901234567890123456789', 1, "
                              "['' '' '' '' '']}]}",
                              steps, parts, "struct{t: large_list<large_list<large_string>>}");
  cst_error error;
  c.max_bytes = 600; /* of which numbers and offsets take some; 200 are taken, and 400 are made */
  query_check_fails(&c, CST_LIMIT, &error);
  CHECK_STR(error.message, "line 3 of the query: a batch needs more than 600 bytes of memory");
  CHECK_EQ(error.record, 0);
  c.max_bytes = 2000;
  c.num_steps = OWN + 2;
  parts[0].values = OWN + 1;
  c.output_type = "struct{t: large_list<large_list<string>>}";
  query_check(&c, "{[['0123456789012345678901234567890123456789' "
                  "'0123456789012345678901234567890123456789' "
                  "'0123456789012345678901234567890123456789' "
                  "'0123456789012345678901234567890123456789' "
                  "'0123456789012345678901234567890123456789']]}");
}

/* ---- nulls ---- */

static const cst__input_node mask_nodes[] = {{.name = NULL},
                                             {.parent = 0, .name = "a", .format = "u"},
                                             {.parent = 0, .name = "k", .format = "b"}};

TEST(values_are_null_where_a_bool_is_not_true) {
  static const cst__literal two = {.kind = CST__LITERAL_INT, .integer = 2};
  static const cst__step steps[] = {
      STEP(RECORDS, 0, 0), COLUMN(0, 1, "u"),
      COLUMN(0, 2, "b"),   {.kind = CST__STEP_MASK, .num_args = 2, .args = {1, 2}, .type = {"u"}},
      LITERAL(&two, "l"),  {.kind = CST__STEP_MASK, .num_args = 2, .args = {4, 2}, .type = {"l"}}};
  cst__output_part parts[] = {FLAT("a", 0, 3), FLAT("b", 0, 5)};
  const query_case c = {.type = "struct{a: string, k: bool}",
                        .rows = "{'a', true} {'b', 0} {null, true} {'d', null} {'e', true} "
                                "{'f', true} {'g', 0} {'h', true} {'i', 0} {'j', true}",
                        .nodes = mask_nodes,
                        .num_nodes = COUNT(mask_nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = COUNT(parts),
                        .output_type = "struct{a: string, b: int64}"};
  query_check(&c, "{'a', 2} {null, null} {null, 2} {null, null} {'e', 2} {'f', 2} {null, null} "
                  "{'h', 2} {null, null} {'j', 2}");
  query_check_slice(&c, 3, 7,
                    "{null, null} {'e', 2} {'f', 2} {null, null} {'h', 2} {null, null} "
                    "{'j', 2}");
  query_check_memory(&c);
}

TEST(nulls_are_refused_where_values_are_required) {
  static const cst__step steps[] = {SESSION_STEPS,
                                    {.kind = CST__STEP_REQUIRE,
                                     .num_args = 2,
                                     .args = {TAGS, TAG},
                                     .type = {"u"},
                                     .at = {5, 2},
                                     .label = "tokens"}};
  cst__output_part parts[] = {VALUES("t", TAGS, OWN, EVENTS, TAGS)};
  query_case c = SESSION_CASE(ROWS, steps, parts, "struct{t: large_list<large_list<string>>}");
  cst_error error;
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_EQ(error.record, 3);
  CHECK_STR(error.path, "tokens");
  CHECK_STR(error.message, "line 5 of the query: a null, but the output needs a value");
  query_check_slice(&c, 0, 3, "{[['x' 'y'] [] null]} {null} {[]}");
}
