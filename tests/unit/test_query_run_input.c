/* Batches of other layouts than the plan was made for, and batches that it was not made for. */
#include "query_run_support.h"

static const cst__input_node text_nodes[] = {
    {.name = NULL}, {.parent = 0, .name = "a"}, {.parent = 1, .format = "U"}};
static const cst__step text_steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1), COLUMN(1, 2, "U")};

static query_case text_case(cst__output_part *parts, const char *type, const char *rows) {
  return (query_case){.type = type,
                      .rows = rows,
                      .nodes = text_nodes,
                      .num_nodes = COUNT(text_nodes),
                      .steps = text_steps,
                      .num_steps = COUNT(text_steps),
                      .parts = parts,
                      .num_parts = 1,
                      .output_type = "struct{a: large_list<large_string>}"};
}

TEST(texts_of_all_layouts_in_lists_of_all_layouts) {
  static const char *const texts[] = {"string", "large_string", "string_view"};
  static const char *const lists[] = {"list", "large_list"};
  cst__output_part parts[] = {VALUES("a", 1, 2, 1)};
  for (size_t i = 0; i < COUNT(texts); i++) {
    for (size_t k = 0; k < COUNT(lists); k++) {
      char type[80];
      snprintf(type, sizeof type, "struct{a: %s<%s>}", lists[k], texts[i]);
      const query_case c = text_case(
          parts, type, "{['a' 'a text that is longer than a view' null]} {null} {['']} {[]}");
      query_check(&c, "{['a' 'a text that is longer than a view' null]} {null} {['']} {[]}");
      query_check_slice(&c, 1, 2, "{null} {['']}");
      if (i != 1) query_check_memory(&c);
    }
  }
}

TEST(lists_of_one_size) {
  cst__output_part parts[] = {VALUES("a", 1, 2, 1)};
  const query_case c = text_case(parts, "struct{a: fixed_list<large_string>[2]}",
                                 "{['a' 'b']} {null} {['c' null]} {['d' 'e']}");
  query_check(&c, "{['a' 'b']} {null} {['c' null]} {['d' 'e']}");
  query_check_slice(&c, 1, 2, "{null} {['c' null]}");
}

TEST(a_column_of_nulls) {
  cst__output_part parts[] = {VALUES("a", 1, 2, 1)};
  const query_case c = text_case(parts, "struct{a: list<null>}", "{[null null]} {null} {[]}");
  query_check(&c, "{[null null]} {null} {[]}");
  query_check_memory(&c);
}

/* The columns of a batch, one of which is not the library's to build: its rows are a handle's. */
static void check_column(const cst_array *column, const query_case *c, const char *expected) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch};
  ArrowSchemaInit(&schema);
  CHECK_EQ(ArrowSchemaSetTypeStruct(&schema, 1), 0);
  ArrowSchemaRelease(schema.children[0]);
  CHECK_EQ(ArrowSchemaDeepCopy(cst_array_schema(column), schema.children[0]), 0);
  CHECK_EQ(ArrowSchemaSetName(schema.children[0], "a"), 0);
  CHECK_EQ(cst__owned_new(NULL, 1, 1, false, &batch, NULL), CST_OK);
  batch.length = cst_array_length(column);
  CHECK_EQ(cst_array_export(column, batch.children[0], &error), CST_OK);
  CHECK_EQ(query_run_batch(c, &schema, &input, &out, NULL, &error), CST_OK);
  CHECK_STR(error.message, "");
  query_check_output(c, &out, expected);
  ArrowSchemaRelease(&schema);
}

TEST(list_views_share_and_turn_their_items_round) {
  static const cst__input_node nodes[] = {
      {.name = NULL}, {.parent = 0, .name = "a"}, {.parent = 1, .format = "i"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1), COLUMN(1, 2, "i"),
                                    PLACE(REVERSE, 0, 1, 1), TAKE(2, 3, "i")};
  cst__output_part parts[] = {VALUES("a", 1, 2, 1), VALUES("b", 3, 4, 3)};
  const query_case c = {.nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = COUNT(parts),
                        .output_type = "struct{a: large_list<int32>, b: large_list<int32>}"};
  for (int width = 4; width <= 8; width += 4) {
    cst_array *views = array_of_list_views(width);
    check_column(views, &c,
                 "{[3 4], [4 3]} {null, null} {[1 2], [2 1]} {[], []} {[2 3], [3 2]} "
                 "{[1 2], [2 1]}");
    cst_array_release(views);
  }
}

/* ---- dictionaries ---- */

/* Lists of texts in a dictionary: ['b' 'a' null] null ['' 'b']. */
static void lists_of_codes(struct ArrowSchema *schema, struct ArrowArray *batch) {
  struct ArrowSchema values;
  struct ArrowArray dictionary;
  arrow_text("struct{a: list<int8>}", "{[1 0 null]} {null} {[2 1]}", schema, batch);
  arrow_text("string", "'a' 'b' ''", &values, &dictionary);
  CHECK_EQ(ArrowSchemaAllocateDictionary(schema->children[0]->children[0]), 0);
  ArrowSchemaMove(&values, schema->children[0]->children[0]->dictionary);
  CHECK_EQ(ArrowArrayAllocateDictionary(batch->children[0]->children[0]), 0);
  ArrowArrayMove(&dictionary, batch->children[0]->children[0]->dictionary);
}

TEST(dictionaries_become_their_values) {
  cst__output_part parts[] = {VALUES("a", 1, 2, 1)};
  const query_case c = text_case(parts, NULL, NULL);
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch};
  lists_of_codes(&schema, &batch);
  CHECK_EQ(query_run_batch(&c, &schema, &input, &out, NULL, &error), CST_OK);
  CHECK_STR(error.message, "");
  query_check_output(&c, &out, "{['b' 'a' null]} {null} {['' 'b']}");
  ArrowSchemaRelease(&schema);
}

TEST(codes_outside_of_a_dictionary_are_corrupt) {
  cst__output_part parts[] = {VALUES("a", 1, 2, 1)};
  const query_case c = text_case(parts, NULL, NULL);
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch};
  for (int8_t code = -1; code <= 3; code = (int8_t)(code + 4)) {
    lists_of_codes(&schema, &batch);
    ((int8_t *)(uintptr_t)batch.children[0]->children[0]->buffers[1])[4] = code;
    CHECK_EQ(query_run_batch(&c, &schema, &input, &out, NULL, &error), CST_CORRUPT);
    CHECK_CONTAINS(error.message, "of a dictionary of 3 values");
    CHECK(out.release == NULL);
    ArrowSchemaRelease(&schema);
  }
}

/* ---- maps ---- */

TEST(entries_of_maps_may_have_other_names) {
  static const cst__input_node nodes[] = {{.name = NULL},
                                          {.parent = 0, .name = "m"},
                                          {.parent = 1},
                                          {.parent = 2, .name = "value", .format = "i"},
                                          {.parent = 2, .name = "key", .format = "u"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1), COLUMN(1, 3, "i"),
                                    COLUMN(1, 4, "u")};
  cst__output_part parts[] = {VALUES("k", 1, 3, 1), VALUES("v", 1, 2, 1)};
  const query_case c = {.nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = COUNT(parts),
                        .output_type = "struct{k: large_list<string>, v: large_list<int32>}"};
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch};
  arrow_text("struct{m: list<struct{value: string, key: int32}>}", "{[{'a', 1} {'b', null}]} {[]}",
             &schema, &batch);
  CHECK_EQ(ArrowSchemaSetFormat(schema.children[0], "+m"), 0);
  schema.children[0]->children[0]->flags = 0;
  schema.children[0]->children[0]->children[0]->flags = 0;
  CHECK_EQ(query_run_batch(&c, &schema, &input, &out, NULL, &error), CST_OK);
  CHECK_STR(error.message, "");
  query_check_output(&c, &out, "{['a' 'b'], [1 null]} {[], []}");
  ArrowSchemaRelease(&schema);
}

/* ---- types that do not fit ---- */

static void check_refused(const char *type, const char *path, const char *message) {
  cst__output_part parts[] = {VALUES("a", 1, 2, 1)};
  const query_case c = text_case(parts, type, "");
  cst_error error;
  query_check_fails(&c, CST_SCHEMA, &error);
  CHECK_STR(error.path, path);
  CHECK_STR(error.message, message);
}

TEST(batches_of_other_types_are_refused) {
  check_refused("struct{b: list<string>}", "a", "there is no such field");
  check_refused("struct{a: string}", "a",
                "a value of type string, but the view was built for lists");
  check_refused("struct{a: list<int64>}", "a",
                "values of type int64 (l), where the view was built for large_string (U)");
  check_refused("struct{a: list<binary>}", "a",
                "values of type binary (z), where the view was built for large_string (U)");
  check_refused("int64", "", "batches are structs, this is a int64");
}

TEST(rows_that_are_null_are_refused) {
  cst__output_part parts[] = {VALUES("a", 1, 2, 1)};
  const query_case c = text_case(parts, "struct{a: list<large_string>}", "{[]} null");
  cst_error error;
  query_check_fails(&c, CST_UNSUPPORTED, &error);
  CHECK_EQ(error.record, 1);
}

/* Columns that the plan does not name are not looked at. */
TEST(other_columns_do_not_matter) {
  cst__output_part parts[] = {VALUES("a", 1, 2, 1)};
  const query_case c =
      text_case(parts, "struct{x: int32, a: list<large_string>, y: struct{z: float16}}",
                "{1, ['a'], {1.5}} {2, [], null}");
  query_check(&c, "{['a']} {[]}");
}
