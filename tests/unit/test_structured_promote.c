/* Fields that are promoted and broadcast. */
#include "structured_support.h"

#define LOG                                                                                \
  "struct{id: int64, event: list<struct{query: string, act: large_list<struct{doc: int8, " \
  "tag: list<int8>}>}>}"

static const char *const log_rows =
    "{1, [{'a', [{1, [1, 2]}, null]}, {'b', null}, null]} {2, []} {3, null} "
    "{4, [{'c', []}, {null, [{2, null}, {3, []}, {null, [3]}]}]}";

typedef cst_status (*transfer)(const cst_structured *tensor, const cst_field_copy *copies,
                               size_t count, cst_structured **out, cst_error *error);

/* The one field that a call makes, under the name "new"; the tensor is released. */
static cst_structured *transferred(transfer call, cst_structured *tensor, cst_path from,
                                   cst_path to) {
  const cst_field_copy copy = {from, to, "new", false};
  const char *steps[8];
  cst_path path = {steps, to.count + 1};
  cst_structured *out = NULL;
  cst_structured *field = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = call(tensor, &copy, 1, &out, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  for (size_t i = 0; i < to.count; i++) {
    steps[i] = to.steps[i];
  }
  steps[to.count] = "new";
  CHECK_EQ(cst_structured_field(out, &path, &field, NULL), CST_OK);
  cst_structured_release(out);
  cst_structured_release(tensor);
  return field;
}

static void check_promote(cst_structured *tensor, cst_path from, cst_path to, const char *type,
                          const char *rows) {
  check_structured(transferred(cst_structured_promote, tensor, from, to), type, rows);
}

static void check_broadcast(cst_structured *tensor, cst_path from, cst_path to, const char *type,
                            const char *rows) {
  check_structured(transferred(cst_structured_broadcast, tensor, from, to), type, rows);
}

static void check_both(cst_structured *tensor, cst_path from, cst_path to, const char *type,
                       const char *rows) {
  check_structured(transferred(cst_structured_promote_and_broadcast, tensor, from, to), type, rows);
}

#define TOP \
  (cst_path) { NULL, 0 }

/* ---- promote ---- */

TEST(lists_on_the_way_become_one) {
  cst_structured *tensor = structured_sample(LOG, log_rows);
  check_promote(cst_structured_retain(tensor), (cst_path)PATH("event", "query"), TOP,
                "list<string>", "['a', 'b', null] [] null ['c', null]");
  check_promote(cst_structured_retain(tensor), (cst_path)PATH("event", "act", "doc"), TOP,
                "large_list<int8>", "[1, null] [] null [2, 3, null]");
  check_promote(cst_structured_retain(tensor), (cst_path)PATH("event", "act", "tag"), TOP,
                "large_list<int8>", "[1, 2] [] null [3]");
  check_promote(cst_structured_retain(tensor), (cst_path)PATH("event", "act", "tag"),
                (cst_path)PATH("event"), "list<large_list<int8>>",
                "[[1, 2], null, null] [] null [[], [3]]");
  cst_structured_release(tensor);
}

TEST(whole_structs_are_promoted) {
  check_promote(structured_sample(LOG, log_rows), (cst_path)PATH("event", "act"), TOP,
                "large_list<struct{doc: int8, tag: list<int8>}>",
                "[{1, [1, 2]}, null] [] null [{2, null}, {3, []}, {null, [3]}]");
}

TEST(further_lists_of_a_field_stay) {
  check_promote(structured_sample("struct{a: list<struct{x: list<list<int8>>}>}",
                                  "{[{[[1], null]}, {[]}]} {[{[[], [2, 3]]}, {null}]}"),
                (cst_path)PATH("a", "x"), TOP, "large_list<list<int8>>",
                "[[1], null] [[], [2, 3]]");
}

TEST(without_lists_in_between_it_is_the_field_as_it_is) {
  cst_structured *tensor = structured_sample("struct{s: struct{t: struct{x: int8, y: list<int8>}}}",
                                             "{{{1, [2]}}} {{null}} {null} null");
  check_promote(cst_structured_retain(tensor), (cst_path)PATH("s", "t", "x"), TOP, "int8",
                "1 null null null");
  check_promote(cst_structured_retain(tensor), (cst_path)PATH("s", "t", "y"), (cst_path)PATH("s"),
                "list<int8>", "[2] null null null");
  check_promote(tensor, (cst_path)PATH("s", "t", "x"), (cst_path)PATH("s", "t"), "int8",
                "1 null null null");
}

TEST(one_level_is_shared_and_several_share_their_values) {
  cst_structured *tensor = structured_sample(LOG, log_rows);
  const cst_field_copy query = {PATH("event", "query"), {NULL, 0}, NULL, false};
  const cst_field_copy doc = {PATH("event", "act", "doc"), {NULL, 0}, NULL, false};
  cst_structured *out;
  CHECK_EQ(cst_structured_promote(tensor, &query, 1, &out, NULL), CST_OK);
  CHECK(BUFFER(out, 1, "query") == BUFFER(tensor, 1, "event"));
  CHECK(BUFFER(out, 2, "query", "item") == BUFFER(tensor, 2, "event", "item", "query"));
  cst_structured_release(out);
  CHECK_EQ(cst_structured_promote(tensor, &doc, 1, &out, NULL), CST_OK);
  CHECK(BUFFER(out, 1, "doc", "item") == BUFFER(tensor, 1, "event", "item", "act", "item", "doc"));
  CHECK(BUFFER(out, 1, "event") == BUFFER(tensor, 1, "event"));
  cst_structured_release(out);
  cst_structured_release(tensor);
}

/* ---- broadcast ---- */

TEST(every_struct_below_gets_the_value_of_its_own) {
  cst_structured *tensor = structured_sample(LOG, log_rows);
  check_broadcast(cst_structured_retain(tensor), (cst_path)PATH("id"), (cst_path)PATH("event"),
                  "list<int64>", "[1, 1, null] [] null [4, 4]");
  check_broadcast(cst_structured_retain(tensor), (cst_path)PATH("id"),
                  (cst_path)PATH("event", "act"), "list<large_list<int64>>",
                  "[[1, null], null, null] [] null [[], [4, 4, 4]]");
  check_broadcast(cst_structured_retain(tensor), (cst_path)PATH("event", "query"),
                  (cst_path)PATH("event", "act"), "list<large_list<string>>",
                  "[['a', null], null, null] [] null [[], [null, null, null]]");
  cst_structured_release(tensor);
}

TEST(lists_and_structs_are_broadcast) {
  check_broadcast(structured_sample("struct{a: list<struct{x: int8}>, b: list<struct{y: int8}>}",
                                    "{[{1}, null], [{1}, {2}]} {null, [{3}]} {[], null} null"),
                  (cst_path)PATH("a"), (cst_path)PATH("b"), "list<list<struct{x: int8}>>",
                  "[[{1}, null], [{1}, null]] [null] null null");
  check_broadcast(
      structured_sample("struct{a: struct{x: int8}, b: struct{c: list<struct{y: int8}>}}",
                        "{{7}, {[{1}, {2}]}} {null, {[{3}]}} {{8}, null}"),
      (cst_path)PATH("a"), (cst_path)PATH("b", "c"), "list<struct{x: int8}>",
      "[{7}, {7}] [null] null");
}

TEST(structs_in_structs_share_the_field) {
  cst_structured *tensor =
      structured_sample("struct{a: int64, b: struct{y: int8}}", "{1, {1}} {2, null} {3, {3}}");
  const cst_field_copy copy = {PATH("a"), PATH("b"), NULL, false};
  cst_structured *out;
  CHECK_EQ(cst_structured_broadcast(tensor, &copy, 1, &out, NULL), CST_OK);
  CHECK(BUFFER(out, 1, "b", "a") == BUFFER(tensor, 1, "a"));
  check_structured(out, "struct{a: int64, b: struct{y: int8, a: int64}}",
                   "{1, {1, 1}} {2, null} {3, {3, 3}}");
  cst_structured_release(tensor);
}

TEST(numbers_of_all_widths_are_repeated) {
  static const char *const types[] = {"int8", "uint16", "float32", "int64"};
  for (size_t i = 0; i < 4; i++) {
    char type[128];
    char expected[32];
    snprintf(type, sizeof type, "struct{v: %s, l: list<struct{x: int8}>}", types[i]);
    snprintf(expected, sizeof expected, "list<%s>", types[i]);
    check_broadcast(
        structured_sample(
            type, "{1, [{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}]} {2, []} {3, [{1}]}"),
        (cst_path)PATH("v"), (cst_path)PATH("l"), expected,
        "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1] [] [3]");
  }
}

/* ---- both ---- */

TEST(fields_go_up_and_down) {
  cst_structured *tensor = structured_sample(
      "struct{id: int8, a: list<struct{x: int8}>, b: list<struct{y: int8, c: list<struct{z: "
      "int8}>}>}",
      "{1, [{1}, {2}], [{1, [{5}, {6}]}, {2, []}]} {2, null, [{3, null}]} {3, [], []}");
  check_both(cst_structured_retain(tensor), (cst_path)PATH("a", "x"), (cst_path)PATH("b"),
             "list<list<int8>>", "[[1, 2], [1, 2]] [null] []");
  check_both(cst_structured_retain(tensor), (cst_path)PATH("a", "x"), (cst_path)PATH("b", "c"),
             "list<list<list<int8>>>", "[[[1, 2], [1, 2]], []] [null] []");
  check_both(cst_structured_retain(tensor), (cst_path)PATH("b", "c", "z"), (cst_path)PATH("b"),
             "list<list<int8>>", "[[5, 6], []] [null] []");
  check_both(cst_structured_retain(tensor), (cst_path)PATH("b", "c", "z"), (cst_path)PATH("a"),
             "list<large_list<int8>>", "[[5, 6], [5, 6]] null []");
  check_both(cst_structured_retain(tensor), (cst_path)PATH("id"), (cst_path)PATH("b", "c"),
             "list<list<int8>>", "[[1, 1], []] [null] []");
  check_both(tensor, (cst_path)PATH("b", "y"), (cst_path)PATH("b"), "list<int8>", "[1, 2] [3] []");
}

TEST(several_at_once_are_all_made_of_the_tensor_as_it_was) {
  cst_structured *tensor =
      structured_sample("struct{id: int8, a: list<struct{x: int8}>}", "{1, [{5}, {6}]} {2, [{7}]}");
  const cst_field_copy copies[] = {{PATH("id"), PATH("a"), "x", true},
                                   {PATH("a", "x"), PATH("a"), "old", false},
                                   {PATH("a", "x"), {NULL, 0}, "id", true}};
  cst_structured *out;
  CHECK_EQ(cst_structured_promote_and_broadcast(tensor, copies, 3, &out, NULL), CST_OK);
  check_structured(out, "struct{id: list<int8>, a: list<struct{x: int8, old: int8}>}",
                   "{[5, 6], [{1, 5}, {1, 6}]} {[7], [{2, 7}]}");
  cst_structured_release(tensor);
}

/* ---- slices, list views, data under nulls ---- */

/* The rows, but cut out of more. */
static cst_structured *cut(const char *type, const char *rows, int64_t from, int64_t count) {
  return structured_of(array_slice_of(type, rows, from, count), false);
}

TEST(slices_are_what_they_show) {
  check_promote(cut(LOG, log_rows, 2, 2), (cst_path)PATH("event", "act", "doc"), TOP,
                "large_list<int8>", "null [2, 3, null]");
  check_promote(cut(LOG, log_rows, 3, 1), (cst_path)PATH("event", "query"), TOP, "list<string>",
                "['c', null]");
  check_broadcast(cut(LOG, log_rows, 2, 2), (cst_path)PATH("id"), (cst_path)PATH("event", "act"),
                  "large_list<large_list<int64>>", "null [[], [4, 4, 4]]");
  check_promote(cut("list<struct{a: list<struct{b: list<struct{x: int8}>}>}>",
                    "[{[{[{1}]}]}] [{[{[{2}]}, {[{3}, {4}]}]}, {null}] [{[{null}]}]", 1, 2),
                (cst_path)PATH("a", "b", "x"), TOP, "large_list<large_list<int8>>",
                "[[2, 3, 4], null] [[]]");
}

TEST(lists_of_fixed_size_are_opened) {
  check_promote(structured_sample("struct{a: fixed_list<struct{x: fixed_list<int8>[2]}>[2]}",
                                  "{[{[1, 2]}, {null}]} {null} {[{[3, 4]}, {[5, 6]}]}"),
                (cst_path)PATH("a", "x"), TOP, "large_list<int8>", "[1, 2] null [3, 4, 5, 6]");
  check_broadcast(structured_sample("struct{id: int8, a: fixed_list<struct{x: int8}>[2]}",
                                    "{1, [{1}, {2}]} {2, [{3}, {4}]}"),
                  (cst_path)PATH("id"), (cst_path)PATH("a"), "fixed_list<int8>[2]",
                  "[1, 1] [2, 2]");
}

/* {0, [{3, 3}, {4, 4}]} {1, null} {2, [{1}, {2}]} {3, []} {4, [{2}, {3}]} {5, [{1}, {2}]}: lists
 * that share their items. */
static cst_structured *sample_of_list_views(void) {
  cst_array *views = array_of_list_views(8);
  struct ArrowSchema schema;
  struct ArrowArray items;
  struct ArrowArray rows;
  struct ArrowArray ids;
  const char *type = "struct{id: int8, l: large_list_view<struct{x: int32}>}";
  CHECK_EQ(cst__owned_new(NULL, 1, 2, false, &rows, NULL), CST_OK);
  CHECK_EQ(cst_array_export(views, rows.children[1], NULL), CST_OK);
  CHECK_EQ(cst__owned_new(NULL, 1, 1, false, &items, NULL), CST_OK);
  CHECK_EQ(cst__owned_new(NULL, 2, 0, false, &ids, NULL), CST_OK);
  items.length = rows.children[1]->children[0]->length;
  *items.children[0] = *rows.children[1]->children[0];
  *rows.children[1]->children[0] = items;
  int8_t *numbers = cst__owned_buffer(&ids, 1, 6);
  for (int8_t i = 0; i < 6; i++) {
    numbers[i] = i;
  }
  ids.length = 6;
  *rows.children[0] = ids;
  rows.length = 6;
  arrow_text_parse_type(&type, &schema);
  cst_array_release(views);
  return structured_of(array_import(&schema, &rows), false);
}

TEST(list_views_that_share_items) {
  check_broadcast(sample_of_list_views(), (cst_path)PATH("id"), (cst_path)PATH("l"),
                  "large_list<int8>", "[0, 0] null [2, 2] [] [4, 4] [5, 5]");
  cst_structured *views =
      transferred(cst_structured_promote, sample_of_list_views(), (cst_path)PATH("l", "x"), TOP);
  CHECK_STR(cst_array_schema(cst_structured_array(views))->format, "+vL");
  cst_structured_release(views);
}

/* ---- errors ---- */

static void check_fails(transfer call, const cst_structured *tensor, cst_field_copy copy,
                        cst_status expected, const char *path, const char *message) {
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(call(tensor, &copy, 1, &out, &error), expected);
  CHECK(out == NULL);
  CHECK_STR(error.path, path);
  CHECK_CONTAINS(error.message, message);
}

TEST(wrong_directions_and_names_are_errors) {
  cst_structured *tensor = structured_sample(LOG, log_rows);
  const transfer up = cst_structured_promote;
  const transfer down = cst_structured_broadcast;
  const transfer both = cst_structured_promote_and_broadcast;
  check_fails(up, tensor, (cst_field_copy){PATH("id"), PATH("event"), NULL, false},
              CST_INVALID_ARGUMENT, "id", "not above");
  check_fails(down, tensor, (cst_field_copy){PATH("event", "query"), {NULL, 0}, NULL, false},
              CST_INVALID_ARGUMENT, "event.query", "not below");
  check_fails(down, tensor, (cst_field_copy){PATH("id"), {NULL, 0}, "i", false},
              CST_INVALID_ARGUMENT, "id", "not below");
  check_fails(both, tensor, (cst_field_copy){{NULL, 0}, PATH("event"), NULL, false},
              CST_INVALID_ARGUMENT, "", "empty path");
  check_fails(both, tensor, (cst_field_copy){PATH("event", "prize"), {NULL, 0}, NULL, false},
              CST_NOT_FOUND, "event.prize", "no such field");
  check_fails(both, tensor, (cst_field_copy){PATH("id", "x"), {NULL, 0}, NULL, false}, CST_SCHEMA,
              "id.x", "no fields below values of type int64");
  check_fails(both, tensor, (cst_field_copy){PATH("id"), PATH("event", "acts"), NULL, false},
              CST_NOT_FOUND, "event.acts", "no such field");
  check_fails(both, tensor, (cst_field_copy){PATH("id"), PATH("event", "query"), NULL, false},
              CST_SCHEMA, "event.query.id", "no fields below values of type string");
  check_fails(up, tensor, (cst_field_copy){PATH("event", "query"), {NULL, 0}, "id", false},
              CST_INVALID_ARGUMENT, "id", "the field already exists");
  check_fails(both, tensor, (cst_field_copy){PATH("id"), PATH("event"), "query", false},
              CST_INVALID_ARGUMENT, "event.query", "the field already exists");
  CHECK_EQ(up(tensor, NULL, 1, &(cst_structured *){NULL}, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(up(NULL, NULL, 0, &(cst_structured *){NULL}, NULL), CST_INVALID_ARGUMENT);
  cst_structured_release(tensor);
}

/* ---- memory ---- */

/* Counts the bytes of all allocations. */
typedef struct counter {
  size_t bytes;
} counter;

static void *count_allocate(void *ctx, size_t size, size_t align) {
  ((counter *)ctx)->bytes += size;
  return aligned_alloc(align < sizeof(void *) ? sizeof(void *) : align,
                       (size + align - 1) / align * align);
}

static void count_release(void *ctx, void *block, size_t size, size_t align) {
  (void)ctx, (void)size, (void)align;
  free(block);
}

/* What one promotion of `from` allocates, of the rows so many times over. */
static size_t promotion_bytes(int times, cst_path from) {
  counter counted = {0};
  const cst_allocator allocator = {sizeof allocator, count_allocate, count_release, &counted};
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_array *imported;
  cst_structured *out;
  static const char row[] = "{[{1, [{2}]}, {3, []}, {4, []}]} ";
  char *rows = calloc((size_t)times + 1, sizeof row);
  for (size_t i = 0; i < (size_t)times; i++) {
    memcpy(rows + i * (sizeof row - 1), row, sizeof row);
  }
  arrow_text("struct{a: list<struct{x: int8, b: list<struct{y: int8}>}>}", rows, &schema, &array);
  CHECK_EQ(cst_array_import(&schema, &array, 0, &allocator, &imported, NULL), CST_OK);
  schema.release(&schema);
  free(rows);
  cst_structured *tensor = structured_of(imported, false);
  const cst_field_copy copy = {from, {NULL, 0}, NULL, false};
  counted.bytes = 0;
  CHECK_EQ(cst_structured_promote(tensor, &copy, 1, &out, NULL), CST_OK);
  size_t bytes = counted.bytes;
  cst_structured_release(out);
  cst_structured_release(tensor);
  return bytes;
}

TEST(promotion_over_one_level_allocates_as_much_for_many_rows_as_for_one) {
  CHECK_EQ(promotion_bytes(1, (cst_path)PATH("a", "x")),
           promotion_bytes(500, (cst_path)PATH("a", "x")));
  size_t one = promotion_bytes(1, (cst_path)PATH("a", "b", "y"));
  size_t many = promotion_bytes(500, (cst_path)PATH("a", "b", "y"));
  CHECK(many - one < 510 * sizeof(int64_t)); /* the offsets */
}

static int transfer_all(void *context) {
  const cst_field_copy copies[] = {
      {PATH("b", "c", "z"), PATH("a"), NULL, false},
      {PATH("b", "c", "z"), {NULL, 0}, NULL, false},
      {PATH("id"), PATH("b", "c"), NULL, false},
      {PATH("a", "x"), {NULL, 0}, NULL, false},
  };
  cst_structured *out = NULL;
  cst_status status = cst_structured_promote_and_broadcast(context, copies, 4, &out, NULL);
  cst_structured_release(out);
  return (int)status;
}

TEST(every_allocation_may_fail) {
  cst_structured *tensor = cut(
      "struct{id: string, a: list<struct{x: int8}>, b: list<struct{y: int8, c: list<struct{z: "
      "int8}>}>}",
      "{'a', [{1}, {2}], [{1, [{5}, {6}]}, {2, []}]} {null, null, [{3, null}]} {'c', [{1}], []}", 0,
      2);
  FOR_EACH_ALLOCATION_FAILURE(transfer_all, tensor, CST_NO_MEMORY);
  cst_structured_release(tensor);
}
