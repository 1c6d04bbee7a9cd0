/* Fields that are added, replaced, removed and kept. */
#include "structured_support.h"

#define EVENT "struct{id: int64, event: list<struct{query: string, price: large_list<float64>}>}"

static const char *const event_rows =
    "{1, [{'a', [1.5, 2.5]}, {'b', null}]} {2, []} {3, null} {4, [{'c', []}]}";

/* With one field added, replaced or (NULL) removed; the value is released. */
static cst_structured *edit_one(const cst_structured *tensor, cst_path path,
                                cst_structured *value) {
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  const cst_field_update update = {path, value};
  cst_status status = cst_structured_update(tensor, &update, 1, &out, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  cst_structured_release(value);
  return out;
}

static void check_edit(cst_structured *tensor, cst_path path, cst_structured *value,
                       const char *type, const char *rows) {
  check_structured(edit_one(tensor, path, value), type, rows);
  cst_structured_release(tensor);
}

static void check_edit_fails(const cst_structured *tensor, cst_path path, cst_structured *value,
                             cst_status expected, const char *at, const char *message) {
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  const cst_field_update update = {path, value};
  CHECK_EQ(cst_structured_update(tensor, &update, 1, &out, &error), expected);
  CHECK(out == NULL);
  CHECK_STR(error.path, at);
  CHECK_CONTAINS(error.message, message);
  cst_structured_release(value);
}

TEST(fields_keep_their_places_and_new_ones_come_last) {
  cst_structured *tensor = structured_sample("struct{a: int8, b: int8}", "{1, 2} null {3, 4}");
  check_edit(cst_structured_retain(tensor), (cst_path)PATH("a"),
             structured_sample("string", "'x' 'hidden' 'z'"), "struct{a: string, b: int8}",
             "{'x', 2} null {'z', 4}");
  check_edit(cst_structured_retain(tensor), (cst_path)PATH("c"),
             structured_sample("list<bool>", "[] [true] null"),
             "struct{a: int8, b: int8, c: list<bool>}", "{1, 2, []} null {3, 4, null}");
  check_edit(cst_structured_retain(tensor), (cst_path)PATH("a"), NULL, "struct{b: int8}",
             "{2} null {4}");
  cst_structured_release(tensor);
}

TEST(structs_without_fields_keep_their_count) {
  const cst_field_update both[] = {{PATH("a"), NULL}, {PATH("b"), NULL}};
  cst_structured *tensor = structured_sample("struct{a: int8, b: int8}", "{1, 2} null {3, 4}");
  cst_structured *out;
  CHECK_EQ(cst_structured_update(tensor, both, 2, &out, NULL), CST_OK);
  check_structured(out, "struct{}", "{} null {}");
  cst_structured_release(tensor);
}

TEST(values_go_into_lists_of_structs) {
  check_edit(
      structured_sample(EVENT, event_rows), (cst_path)PATH("event", "n"),
      structured_sample("large_list<int8>", "[7, null] null [] [9]"),
      "struct{id: int64, event: list<struct{query: string, price: large_list<float64>, "
      "n: int8}>}",
      "{1, [{'a', [1.5, 2.5], 7}, {'b', null, null}]} {2, []} {3, null} {4, [{'c', [], 9}]}");
}

TEST(the_rest_is_shared_and_so_are_values) {
  cst_structured *tensor = structured_sample(EVENT, event_rows);
  cst_structured *value = structured_sample("list<int8>", "[7, 8] [] [] [9]");
  cst_structured *out =
      edit_one(tensor, (cst_path)PATH("event", "n"), cst_structured_retain(value));
  CHECK(BUFFER(out, 1, "id") == BUFFER(tensor, 1, "id"));
  CHECK(BUFFER(out, 1, "event") == BUFFER(tensor, 1, "event"));
  CHECK(BUFFER(out, 2, "event", "item", "query") == BUFFER(tensor, 2, "event", "item", "query"));
  CHECK(BUFFER(out, 1, "event", "item", "price") == BUFFER(tensor, 1, "event", "item", "price"));
  CHECK(BUFFER(out, 1, "event", "item", "n") == BUFFER(value, 1, "item"));
  cst_structured_release(value);
  cst_structured_release(tensor);
  cst_structured_release(out);
}

TEST(a_scalar_is_the_value_of_every_struct) {
  check_edit(structured_sample(EVENT, event_rows), (cst_path)PATH("event", "price"),
             structured_of(array_sample("string", "'z'"), true),
             "struct{id: int64, event: list<struct{query: string, price: string}>}",
             "{1, [{'a', 'z'}, {'b', 'z'}]} {2, []} {3, null} {4, [{'c', 'z'}]}");
}

/* ---- lists whose items are not all of their array, in order ---- */

/* [{1}, {2}] null [{4}] null; the first null has {3} under it. */
static cst_structured *sample_with_hidden_items(void) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text("list<struct{x: int8}>", "[{1}, {2}] [{3}] [{4}] null", &schema, &array);
  uint8_t *bitmap = (uint8_t *)(uintptr_t)array.buffers[0];
  bitmap[0] = (uint8_t)(bitmap[0] & ~2U);
  array.null_count = 2;
  return structured_of(array_import(&schema, &array), false);
}

TEST(items_under_null_lists_have_no_values) {
  cst_structured *tensor = sample_with_hidden_items();
  CHECK_EQ(cst_structured_rank(tensor), 2);
  check_edit(cst_structured_retain(tensor), (cst_path)PATH("y"),
             structured_sample("list<int8>", "[5, 6] [] [7] null"),
             "large_list<struct{x: int8, y: int8}>", "[{1, 5}, {2, 6}] null [{4, 7}] null");
  check_edit_fails(tensor, (cst_path)PATH("y"),
                   structured_sample("list<int8>", "[5, 6] [1] [7] []"), CST_INVALID_ARGUMENT, "y",
                   "row [1]: 1 values for 0 structs");
  check_edit(tensor, (cst_path)PATH("x"), NULL, "list<struct{}>", "[{}, {}] null [{}] null");
}

TEST(slices_share_their_part) {
  cst_structured *tensor = structured_of(
      array_slice_of("list<struct{x: int64}>", "[{1}, {2}] [{3}] [] [{4}, {5}]", 1, 3), false);
  cst_structured *out =
      edit_one(tensor, (cst_path)PATH("y"), structured_sample("large_list<int8>", "[7] [] [8, 9]"));
  CHECK(BUFFER(out, 1, "item", "x") == BUFFER(tensor, 1, "item", "x"));
  check_structured(out, "large_list<struct{x: int64, y: int8}>", "[{3, 7}] [] [{4, 8}, {5, 9}]");
  cst_structured_release(tensor);
  check_edit(
      structured_of(array_slice_of("struct{a: int8, b: int8}", "{1, 2} {3, 4} null", 1, 2), false),
      (cst_path)PATH("c"), structured_sample("int8", "5 6"), "struct{a: int8, b: int8, c: int8}",
      "{3, 4, 5} null");
}

TEST(lists_of_fixed_size_stay_so) {
  const char *type = "fixed_list<struct{x: int64}>[2]";
  const char *rows = "[{1}, {2}] [{3}, null] [{5}, {6}]";
  check_edit(structured_sample(type, rows), (cst_path)PATH("y"),
             structured_sample("list<int8>", "[1, 2] [3, 4] [5, 6]"),
             "fixed_list<struct{x: int64, y: int8}>[2]",
             "[{1, 1}, {2, 2}] [{3, 3}, null] [{5, 5}, {6, 6}]");
  check_edit(structured_of(array_slice_of(type, rows, 1, 2), false), (cst_path)PATH("y"),
             structured_sample("list<int8>", "[3, 4] [5, 6]"),
             "fixed_list<struct{x: int64, y: int8}>[2]", "[{3, 3}, null] [{5, 5}, {6, 6}]");
  check_edit(structured_sample("fixed_list<struct{x: int64}>[2]", "[{1}, {2}] null"),
             (cst_path)PATH("y"), structured_sample("list<int8>", "[1, 2] []"),
             "large_list<struct{x: int64, y: int8}>", "[{1, 1}, {2, 2}] null");
}

/* Lists of structs of the views of lists_support.h. */
static cst_structured *sample_of_list_views(int width) {
  cst_array *views = array_of_list_views(width);
  struct ArrowSchema schema;
  struct ArrowArray lists;
  struct ArrowArray items;
  CHECK_EQ(cst_array_export(views, &lists, NULL), CST_OK);
  CHECK_EQ(cst__owned_new(NULL, 1, 1, false, &items, NULL), CST_OK);
  items.length = lists.children[0]->length;
  *items.children[0] = *lists.children[0];
  *lists.children[0] = items;
  const char *type =
      width == 8 ? "large_list_view<struct{x: int32}>" : "list_view<struct{x: int32}>";
  arrow_text_parse_type(&type, &schema);
  cst_array_release(views);
  return structured_of(array_import(&schema, &lists), false);
}

TEST(list_views_that_share_items_are_written_out) {
  for (int width = 4; width <= 8; width += 4) {
    cst_structured *tensor = sample_of_list_views(width);
    check_edit(tensor, (cst_path)PATH("y"),
               structured_sample("list<int8>", "[1, 2] [] [3, 4] [] [5, 6] [7, 8]"),
               "large_list<struct{x: int32, y: int8}>",
               "[{3, 1}, {4, 2}] null [{1, 3}, {2, 4}] [] [{2, 5}, {3, 6}] [{1, 7}, {2, 8}]");
  }
}

TEST(lists_below_lists_that_are_written_out) {
  cst_structured *tensor = structured_of(
      array_slice_of("list<struct{a: list<struct{x: int8}>, b: int8}>",
                     "[{[{1}], 1}] [{[{2}, {3}], 2}, null, {[], 3}] null [{null, 4}]", 1, 3),
      false);
  check_edit(tensor, (cst_path)PATH("a", "y"),
             structured_sample("list<list<int8>>", "[[5, 6], null, []] [] [[]]"),
             "large_list<struct{a: large_list<struct{x: int8, y: int8}>, b: int8}>",
             "[{[{2, 5}, {3, 6}], 2}, null, {[], 3}] null [{null, 4}]");
}

TEST(null_structs_hide_lists) {
  cst_structured *tensor = structured_sample("struct{s: struct{l: list<struct{x: int8}>}}",
                                             "{{[{1}]}} {null} {{[]}} null");
  check_edit(tensor, (cst_path)PATH("s", "l", "y"), structured_sample("list<int8>", "[4] [] [] []"),
             "struct{s: struct{l: list<struct{x: int8, y: int8}>}}",
             "{{[{1, 4}]}} {null} {{[]}} null");
}

TEST(scalars_and_rows_have_fields_too) {
  check_edit(structured_of(array_sample("struct{a: int8}", "{1}"), true), (cst_path)PATH("b"),
             structured_sample("int8", "2 3"), "struct{a: int8, b: large_list<int8>}",
             "{1, [2, 3]}");
  check_edit(structured_of(array_sample("struct{a: int8}", "{1}"), true), (cst_path)PATH("b"),
             structured_of(array_sample("list<int8>", "[2, 3]"), true),
             "struct{a: int8, b: list<int8>}", "{1, [2, 3]}");
  check_edit(structured_of(array_sample("list<struct{a: int8}>", "[{1}, {2}]"), true),
             (cst_path)PATH("b"), structured_sample("int8", "3 4"),
             "list<struct{a: int8, b: int8}>", "[{1, 3}, {2, 4}]");
  check_edit(structured_sample("struct{a: int8}", "{1} {2}"), (cst_path)PATH("b"),
             structured_of(array_sample("list<int8>", "[3, 4]"), true), "struct{a: int8, b: int8}",
             "{1, 3} {2, 4}");
}

/* ---- errors ---- */

TEST(rows_of_other_lengths_are_errors) {
  cst_structured *tensor = structured_sample("list<struct{a: list<struct{x: int8}>}>",
                                             "[{[{1}]}, {[{2}, {3}]}] null [{[]}, {[{4}]}]");
  check_edit_fails(tensor, (cst_path)PATH("a", "y"),
                   structured_sample("list<list<int8>>", "[[1], [2, 3]] [] [[], []]"),
                   CST_INVALID_ARGUMENT, "a.y", "row [2][1]: 0 values for 1 structs");
  check_edit_fails(tensor, (cst_path)PATH("a", "y"),
                   structured_sample("list<list<int8>>", "[[1]] [] [[], []]"), CST_INVALID_ARGUMENT,
                   "a.y", "row [0]: 1 values for 2 structs");
  check_edit_fails(tensor, (cst_path)PATH("a", "y"), structured_sample("list<int8>", "[1] [] []"),
                   CST_INVALID_ARGUMENT, "a.y", "a value of rank 2 for structs of rank 3");
  check_edit_fails(tensor, (cst_path)PATH("y"), structured_sample("list<int8>", "[1]"),
                   CST_INVALID_ARGUMENT, "y", "1 values for 3 structs");
  cst_structured_release(tensor);
}

TEST(wrong_paths_are_errors) {
  cst_structured *tensor = structured_sample(EVENT, event_rows);
  check_edit_fails(tensor, (cst_path)PATH("events", "x"), structured_sample("int8", "1 2 3 4"),
                   CST_NOT_FOUND, "events", "no such field");
  check_edit_fails(tensor, (cst_path)PATH("event", "prize"), NULL, CST_NOT_FOUND, "event.prize",
                   "no such field");
  check_edit_fails(tensor, (cst_path)PATH("event", "query", "x"), NULL, CST_SCHEMA, "event.query.x",
                   "no fields below values of type string");
  check_edit_fails(tensor, (cst_path){NULL, 0}, NULL, CST_INVALID_ARGUMENT, "", "empty path");
  cst_structured_release(tensor);
  tensor = structured_sample("struct{a: int8, a: int8, b: int8}", "{1, 2, 3}");
  check_edit_fails(tensor, (cst_path)PATH("a"), NULL, CST_INVALID_ARGUMENT, "a",
                   "two fields have this name");
  check_edit(tensor, (cst_path)PATH("b"), NULL, "struct{a: int8, a: int8}", "{1, 2}");
  tensor = structured_sample("int8", "1");
  check_edit_fails(tensor, (cst_path)PATH("a"), NULL, CST_SCHEMA, "",
                   "a leaf tensor, of type int8");
  cst_structured_release(tensor);
}

TEST(a_field_changes_once) {
  cst_structured *tensor = structured_sample(EVENT, event_rows);
  cst_structured *value = structured_sample("int8", "1 2 3 4");
  const cst_field_update twice[] = {{PATH("n"), value}, {PATH("n"), value}};
  const cst_field_update below[] = {{PATH("event"), value}, {PATH("event", "query"), NULL}};
  const cst_field_update removals[] = {
      {PATH("event", "query"), NULL}, {PATH("event"), NULL}, {PATH("event"), NULL}};
  const cst_field_update wrong[] = {{PATH("event"), NULL}, {PATH("event", "x"), NULL}};
  cst_structured *out;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_structured_update(tensor, twice, 2, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "changed twice");
  CHECK_EQ(cst_structured_update(tensor, below, 2, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.path, "event");
  CHECK_EQ(cst_structured_update(tensor, removals, 3, &out, &error), CST_OK);
  check_structured(out, "struct{id: int64}", "{1} {2} {3} {4}");
  CHECK_EQ(cst_structured_update(tensor, wrong, 2, &out, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "event.x");
  CHECK_EQ(cst_structured_update(tensor, NULL, 0, &out, &error), CST_OK);
  CHECK(out == tensor);
  cst_structured_release(out);
  CHECK_EQ(cst_structured_update(tensor, NULL, 1, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_update(NULL, twice, 1, &out, &error), CST_INVALID_ARGUMENT);
  cst_structured_release(value);
  cst_structured_release(tensor);
}

/* ---- only ---- */

static void check_only(const cst_structured *tensor, const cst_path *paths, size_t count,
                       const char *type, const char *rows) {
  cst_structured *out;
  CHECK_EQ(cst_structured_only(tensor, paths, count, &out, NULL), CST_OK);
  check_structured(out, type, rows);
}

TEST(only_what_paths_lead_to_is_kept) {
  cst_structured *tensor = structured_sample(EVENT, event_rows);
  const cst_path some[] = {PATH("event", "price"), PATH("id")};
  const cst_path whole[] = {PATH("event", "price"), PATH("event")};
  cst_structured *out;
  cst_error error = CST_ERROR_INIT;
  check_only(tensor, some, 2, "struct{event: list<struct{price: large_list<float64>}>, id: int64}",
             "{[{[1.5, 2.5]}, {null}], 1} {[], 2} {null, 3} {[{[]}], 4}");
  check_only(tensor, whole, 2,
             "struct{event: list<struct{query: string, price: large_list<float64>}>}",
             "{[{'a', [1.5, 2.5]}, {'b', null}]} {[]} {null} {[{'c', []}]}");
  check_only(tensor, NULL, 0, "struct{}", "{} {} {} {}");
  const cst_path wrong[] = {PATH("id"), PATH("event", "prices")};
  const cst_path below[] = {PATH("id", "x")};
  const cst_path top[] = {{NULL, 0}};
  CHECK_EQ(cst_structured_only(tensor, wrong, 2, &out, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "event.prices");
  CHECK_STR(error.hint, "did you mean 'price'?");
  CHECK_EQ(cst_structured_only(tensor, below, 1, &out, &error), CST_SCHEMA);
  CHECK_STR(error.path, "id.x");
  const cst_path beside_whole[] = {PATH("event", "prices"), PATH("event")};
  CHECK_EQ(cst_structured_only(tensor, beside_whole, 2, &out, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "event.prices");
  const cst_path beside_top[] = {PATH("events"), {NULL, 0}};
  CHECK_EQ(cst_structured_only(tensor, beside_top, 2, &out, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "events");
  CHECK_EQ(cst_structured_only(tensor, top, 1, &out, &error), CST_OK);
  CHECK(out == tensor);
  cst_structured_release(out);
  cst_structured_release(tensor);
}

/* ---- elements ---- */

/* The dimensions of a tensor, which is released, over these elements. */
static void check_elements(cst_structured *tensor, const char *type, const char *elements,
                           const char *expected_type, const char *expected) {
  cst_array *array = array_sample(type, elements);
  cst_structured *out;
  CHECK_EQ(cst_structured_with_elements(tensor, array, &out, NULL), CST_OK);
  check_structured(out, expected_type, expected);
  cst_array_release(array);
  cst_structured_release(tensor);
}

TEST(dimensions_over_other_elements) {
  check_elements(structured_sample("int8", "1 null"), "string", "'a' 'b'", "string", "'a' 'b'");
  check_elements(structured_sample("list<list<int8>>", "[[1], null, [2, null]] null []"), "bool",
                 "true null true", "list<list<bool>>", "[[true], null, [null, true]] null []");
  check_elements(sample_with_hidden_items(), "int8", "5 6 7", "large_list<int8>",
                 "[5, 6] null [7] null");
  check_elements(structured_row("list<int8>", "[1, 2]"), "int64", "3 4", "list<int64>", "[3, 4]");
}

TEST(as_many_elements_as_there_are_places) {
  cst_structured *tensor = structured_sample("list<int8>", "[1, 2] null");
  cst_array *array = array_sample("int8", "1 2 3");
  cst_structured *out;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_structured_with_elements(tensor, array, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "3 elements for 2 places");
  CHECK_EQ(cst_structured_with_elements(tensor, NULL, &out, &error), CST_INVALID_ARGUMENT);
  cst_array_release(array);
  cst_structured_release(tensor);
}

/* ---- many fields, no memory ---- */

enum { MANY = 10000 };

TEST(many_fields_are_changed_at_once) {
  static char name_text[MANY][8];
  static const char *names[MANY];
  static cst_field_update updates[MANY];
  cst_structured *tensor = structured_sample("struct{a: int8}", "{1} {2}");
  cst_structured *value = structured_sample("int8", "3 4");
  cst_structured *wide;
  cst_structured *out;
  for (int i = 0; i < MANY; i++) {
    snprintf(name_text[i], sizeof name_text[i], "f%d", i);
    names[i] = name_text[i];
    updates[i] = (cst_field_update){{&names[i], 1}, value};
  }
  CHECK_EQ(cst_structured_update(tensor, updates, MANY, &wide, NULL), CST_OK);
  CHECK_EQ(cst_array_schema(cst_structured_array(wide))->n_children, MANY + 1);
  for (int i = 0; i < MANY; i++) {
    updates[i].value = NULL;
  }
  CHECK_EQ(cst_structured_update(wide, updates, MANY, &out, NULL), CST_OK);
  check_structured(out, "struct{a: int8}", "{1} {2}");
  cst_structured_release(wide);
  cst_structured_release(value);
  cst_structured_release(tensor);
}

/* Bytes that are in use. */
static void *use_allocate(void *ctx, size_t size, size_t align) {
  *(size_t *)ctx += size;
  return aligned_alloc(align < 16 ? 16 : align,
                       (size + align + 15) / 16 * 16 / align * align + align);
}

static void use_release(void *ctx, void *block, size_t size, size_t align) {
  (void)align;
  *(size_t *)ctx -= size;
  free(block);
}

TEST(a_tensor_does_not_keep_those_it_came_from) {
  size_t used = 0;
  size_t after_one = 0;
  const cst_allocator allocator = {sizeof allocator, use_allocate, use_release, &used};
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_array *imported;
  arrow_text("struct{a: int8, e: list<struct{x: int8, y: string}>}", "{1, [{1, 'a'}]} null {2, []}",
             &schema, &array);
  CHECK_EQ(cst_array_import(&schema, &array, 0, &allocator, &imported, NULL), CST_OK);
  schema.release(&schema);
  cst_structured *tensor = structured_of(imported, false);
  for (int i = 0; i < 100; i++) {
    cst_structured *next =
        edit_one(tensor, (cst_path)PATH("e", "x"), structured_sample("list<int8>", "[7] [] []"));
    cst_structured_release(tensor);
    tensor = next;
    after_one = i == 1 ? used : after_one;
  }
  CHECK_EQ(used, after_one);
  cst_structured_release(tensor);
  CHECK_EQ(used, 0);
}

typedef struct memory_case {
  cst_structured *tensor;
  cst_structured *value;
  cst_array *elements;
} memory_case;

static int update_scalar(void *context) {
  const memory_case *c = context;
  const cst_field_update update = {PATH("b"), c->value};
  cst_structured *out = NULL;
  cst_status status = cst_structured_update(c->tensor, &update, 1, &out, NULL);
  cst_structured_release(out);
  return (int)status;
}

static int update_all(void *context) {
  const memory_case *c = context;
  const cst_field_update updates[] = {
      {PATH("a", "y"), c->value}, {PATH("b"), NULL}, {PATH("c"), c->value}};
  cst_structured *out = NULL;
  cst_status status = cst_structured_update(c->tensor, updates, 3, &out, NULL);
  cst_structured_release(out);
  return (int)status;
}

static int keep_some(void *context) {
  const memory_case *c = context;
  const cst_path paths[] = {PATH("a", "x"), PATH("b")};
  cst_structured *out = NULL;
  cst_status status = cst_structured_only(c->tensor, paths, 2, &out, NULL);
  cst_structured_release(out);
  return (int)status;
}

static int replace_elements(void *context) {
  const memory_case *c = context;
  cst_structured *out = NULL;
  cst_status status = cst_structured_with_elements(c->value, c->elements, &out, NULL);
  cst_structured_release(out);
  return (int)status;
}

TEST(every_allocation_may_fail) {
  memory_case c = {structured_of(array_slice_of("struct{a: list<struct{x: int8}>, b: int8}",
                                                "{[{1}], 1} {[{2}, {3}], 2} null {null, 4}", 1, 3),
                                 false),
                   structured_sample("list<int8>", "[5, 6] [] []"), array_sample("int8", "1 2")};
  FOR_EACH_ALLOCATION_FAILURE(update_all, &c, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(keep_some, &c, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(replace_elements, &c, CST_NO_MEMORY);
  cst_structured_release(c.tensor);
  c.tensor = structured_of(array_sample("struct{a: int8}", "{1}"), true);
  FOR_EACH_ALLOCATION_FAILURE(update_scalar, &c, CST_NO_MEMORY);
  cst_structured_release(c.tensor);
  cst_structured_release(c.value);
  cst_array_release(c.elements);
}
