/* Walks through arrays. */
#include "nested/slots.h"

#include "lists_support.h"
#include "nested_support.h"
#include "table/array.h"

typedef struct walked {
  cst_array *array;
  cst__owner owner;
  cst__arena arena;
  cst__view view;
  cst__slots slots;
} walked;

static void walk_begin(walked *w, cst_array *array) {
  w->array = array;
  w->owner = cst__array_owner(array);
  cst__arena_init(&w->arena, NULL);
  CHECK_EQ(cst__array_view(array, &w->view, &w->arena, NULL), CST_OK);
  w->slots = cst__slots_all(&w->view);
}

static void walk_end(walked *w) {
  cst__arena_reset(&w->arena);
  cst_array_release(w->array);
}

static void walk_open(walked *w, cst__lists *lists) {
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__slots_open(&w->slots, &w->arena, lists, &error), CST_OK);
  CHECK_STR(error.message, "");
}

static void walk_enter(walked *w, int64_t i) {
  CHECK_EQ(cst__slots_enter(&w->slots, i, &w->arena, NULL), CST_OK);
}

/* The slots as an array are what the text says. */
static void check_slots(const walked *w, const char *type, const char *rows) {
  struct ArrowArray made;
  cst_error error = CST_ERROR_INIT;
  cst_array *out = NULL;
  CHECK_EQ(cst__slots_array(&w->slots, &w->owner, &made, &error), CST_OK);
  CHECK_STR(error.message, "");
  CHECK_EQ(cst_array_import(w->slots.view->schema, &made, 0, NULL, &out, &error), CST_OK);
  CHECK_STR(error.message, "");
  check_array(out, type, rows);
}

TEST(offsets_are_splits_where_they_lie) {
  walked w;
  cst__lists lists;
  walk_begin(&w, array_sample("large_list<int32>", "[1, 2] [] null [3]"));
  walk_open(&w, &lists);
  CHECK(lists.splits == w.view.offsets); /* the null list is empty */
  CHECK_SPLITS(&lists, 0, 2, 2, 2, 3);
  CHECK_EQ(lists.size, -1);
  CHECK(cst__chosen_is_run(&w.slots.chosen));
  check_slots(&w, "int32", "1 2 3");
  walk_end(&w);
}

TEST(splits_of_a_slice_begin_at_0) {
  static const char *const types[] = {"list<int32>", "large_list<int32>"};
  for (int i = 0; i < 2; i++) {
    walked w;
    cst__lists lists;
    walk_begin(&w, array_slice_of(types[i], "[9] [1, 2] [] [3] [8]", 1, 3));
    walk_open(&w, &lists);
    CHECK_SPLITS(&lists, 0, 2, 2, 3);
    check_slots(&w, "int32", "1 2 3");
    walk_end(&w);
  }
}

/* Lists of one item each, of which one is null: its item is stepped over, whatever the place, by
 * offsets of both widths, and in a slice. */
TEST(a_null_list_hides_its_item_wherever_it_lies) {
  enum { ROWS = 21 };
  for (int width = 4; width <= 8; width += 4) {
    for (int64_t from = 0; from < 6; from++) {
      for (int64_t hidden = from; hidden < ROWS; hidden++) {
        int64_t wide[ROWS + 1];
        int32_t narrow[ROWS + 1];
        uint8_t bits[4] = {0xff, 0xff, 0xff, 0xff};
        for (int i = 0; i <= ROWS; i++) {
          wide[i] = narrow[i] = i;
        }
        bits[hidden / 8] &= (uint8_t) ~(1u << hidden % 8);
        cst__view item = {.layout = CST__LAYOUT_NUMBER, .dtype = CST_DTYPE_INT64, .length = ROWS};
        cst__view view = {.layout = CST__LAYOUT_LIST,
                          .length = ROWS - from,
                          .offset = from,
                          .null_count = 1,
                          .validity = bits,
                          .offsets = width == 8 ? (const void *)wide : (const void *)narrow,
                          .offset_width = width,
                          .children = &item,
                          .num_children = 1};
        cst__arena arena = nested_arena();
        cst__slots slots = cst__slots_all(&view);
        cst__lists lists;
        CHECK_EQ(cst__slots_open(&slots, &arena, &lists, NULL), CST_OK);
        CHECK_EQ(slots.chosen.count, ROWS - from - 1);
        for (int64_t i = 0; i <= ROWS - from; i++) {
          CHECK_EQ(lists.splits[i], i - (i > hidden - from));
        }
        cst__arena_reset(&arena);
      }
    }
  }
}

TEST(lists_of_a_fixed_size) {
  walked w;
  cst__lists lists;
  walk_begin(&w, array_sample("fixed_list<int32>[2]", "[1, 2] [3, 4]"));
  walk_open(&w, &lists);
  CHECK_SPLITS(&lists, 0, 2, 4);
  CHECK_EQ(lists.size, 2);
  check_slots(&w, "int32", "1 2 3 4");
  walk_end(&w);
  walk_begin(&w, array_sample("fixed_list<int32>[2]", "[1, 2] null [3, 4]"));
  walk_open(&w, &lists);
  CHECK_SPLITS(&lists, 0, 2, 2, 4);
  CHECK_EQ(lists.size, -1);
  CHECK_EQ(cst__chosen_num_runs(&w.slots.chosen), 2);
  check_slots(&w, "int32", "1 2 3 4");
  walk_end(&w);
}

TEST(list_views_are_spans) {
  for (int width = 4; width <= 8; width += 4) {
    walked w;
    cst__lists lists;
    walk_begin(&w, array_of_list_views(width));
    walk_open(&w, &lists);
    CHECK_SPLITS(&lists, 0, 2, 2, 4, 4, 6, 8);
    check_slots(&w, "int32", "3 4 1 2 2 3 1 2");
    walk_end(&w);
  }
}

TEST(what_is_no_list_is_a_list_of_one) {
  walked w;
  cst__lists lists;
  cst__slots items;
  walk_begin(&w, array_sample("int32", "1 null 3"));
  CHECK_EQ(cst__slots_items(&w.slots, &w.arena, &lists, &items, NULL), CST_OK);
  CHECK_SPLITS(&lists, 0, 1, 1, 2);
  CHECK_CHOSEN(&items.chosen, 0, 2);
  CHECK_EQ(cst__chosen_at(&items.chosen, 1), 2); /* as numbers */
  walk_end(&w);
}

#define HIDDEN "struct{a: large_list<int32>, b: string, c: null}"
static const char hidden_rows[] =
    "{[1, 2], 'x', null} {[3], 'y', null} {null, null, null} {[4], null, null}";

/* Rows whose second is null, over fields that have values there. */
static cst_array *hidden_structs(void) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  static uint8_t bits[] = {0x0d};
  arrow_text(HIDDEN, hidden_rows, &schema, &array);
  array.buffers[0] = bits;
  array.null_count = 1;
  return array_import(&schema, &array);
}

TEST(null_structs_hide_what_lies_in_them) {
  walked w;
  cst__lists lists;
  const uint8_t *nulls;
  walk_begin(&w, hidden_structs());
  walk_enter(&w, 0);
  CHECK(cst__slots_hide(&w.slots, 1));
  CHECK_EQ(cst__slots_count_valid(&w.slots), 2);
  CHECK_EQ(cst__slots_first_null(&w.slots), 1);
  CHECK_EQ(cst__slots_nulls(&w.slots, &w.arena, &nulls, NULL), CST_OK);
  CHECK_MEM(nulls, "\0\1\1\0", 4);
  check_slots(&w, "large_list<int32>", "[1, 2] null null [4]");
  walk_open(&w, &lists);
  CHECK_SPLITS(&lists, 0, 2, 2, 2, 3);
  CHECK_EQ(cst__chosen_num_runs(&w.slots.chosen), 2);
  check_slots(&w, "int32", "1 2 4");
  CHECK_EQ(cst__slots_count_valid(&w.slots), 3);
  walk_end(&w);
}

TEST(hidden_values_are_null) {
  walked w;
  walk_begin(&w, hidden_structs());
  walk_enter(&w, 1);
  check_slots(&w, "string", "'x' null null null");
  walk_end(&w);
  walk_begin(&w, hidden_structs());
  walk_enter(&w, 2);
  CHECK_EQ(cst__slots_count_valid(&w.slots), 0);
  check_slots(&w, "null", "null null null null");
  walk_end(&w);
}

TEST(slots_without_nulls_have_none) {
  walked w;
  const uint8_t *nulls;
  walk_begin(&w, array_slice_of("int32", "null 1 2", 1, 2));
  CHECK(cst__slots_are_all(&w.slots));
  CHECK_EQ(cst__slots_first_null(&w.slots), -1);
  CHECK_EQ(cst__slots_nulls(&w.slots, &w.arena, &nulls, NULL), CST_OK);
  CHECK(nulls == NULL);
  w.slots.chosen = (cst__chosen){.count = 1, .begin = 1};
  CHECK(!cst__slots_are_all(&w.slots));
  walk_end(&w);
}

static const char deep_rows[] = "[[{[1, 2]}], []] [] [[{[]}, {[3]}], [{[4, 5]}]] [[{[6]}]]";

TEST(outer_lists_come_to_divide_what_is_below) {
  static const char *const types[] = {"list<list<struct{x: list<int32>}>>",
                                      "large_list<large_list<struct{x: large_list<int32>}>>"};
  for (int i = 0; i < 4; i++) {
    walked w;
    int64_t splits[] = {0, 1, 2, 3, 4};
    int64_t skip = i / 2; /* the offsets of a slice do not begin at 0 */
    walk_begin(&w, array_slice_of(types[i % 2], deep_rows, skip, 4 - skip));
    for (int level = 0; level < 3; level++) {
      CHECK_EQ(cst__slots_descend(&w.slots, splits, 4 - skip, &w.arena, NULL), CST_OK);
      if (level == 1) walk_enter(&w, 0);
    }
    if (skip == 0) {
      CHECK_MEM(splits, ((int64_t[]){0, 2, 2, 5, 6}), sizeof splits);
      check_slots(&w, "int32", "1 2 3 4 5 6");
    } else {
      CHECK_MEM(splits, ((int64_t[]){0, 0, 3, 4}), 4 * sizeof *splits);
      check_slots(&w, "int32", "3 4 5 6");
    }
    walk_end(&w);
  }
}

/* ---- hostile input ---- */

TEST(very_many_slots_without_memory_are_refused) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  walked w;
  cst__lists lists;
  cst_error error = CST_ERROR_INIT;
  arrow_text("null", "null", &schema, &array);
  walk_begin(&w, array_import(&schema, &array));
  w.view.length = (int64_t)CST__MAX_BARE_SLOTS + 1;
  w.slots = cst__slots_all(&w.view);
  CHECK_EQ(cst__slots_open(&w.slots, &w.arena, &lists, &error), CST_LIMIT);
  CHECK_STR(error.message, "268435457 slots without any values");
  walk_end(&w);
}

TEST(views_that_share_their_items_without_end_are_refused) {
  enum { LISTS_COUNT = 70, ITEMS = 1 << 16 };
  static int64_t offsets[LISTS_COUNT];
  static int64_t sizes[LISTS_COUNT];
  cst__view items = {
      .layout = CST__LAYOUT_NULL, .length = ITEMS, .null_count = ITEMS, .format = "n"};
  const cst__view view = {.layout = CST__LAYOUT_LIST_VIEW,
                          .length = LISTS_COUNT,
                          .offset_width = 8,
                          .offsets = offsets,
                          .sizes = sizes,
                          .num_children = 1,
                          .children = &items,
                          .format = "+vL"};
  cst__arena arena = nested_arena();
  cst__slots slots = cst__slots_all(&view);
  cst_error error = CST_ERROR_INIT;
  for (int i = 0; i < LISTS_COUNT; i++) sizes[i] = ITEMS;
  CHECK_EQ(cst__slots_open(&slots, &arena, NULL, &error), CST_OK); /* within what one level may */
  slots = cst__slots_all(&view);
  slots.view_items = INT64_C(1) << 23; /* held by levels above */
  CHECK_EQ(cst__slots_open(&slots, &arena, NULL, &error), CST_LIMIT);
  CHECK_CONTAINS(error.message, "share");
  slots = cst__slots_all(&view);
  sizes[0] = sizes[1] = INT64_MAX;
  CHECK_EQ(cst__slots_open(&slots, &arena, NULL, &error), CST_LIMIT);
  CHECK_STR(error.message, "more items than 64 bits count");
  cst__arena_reset(&arena);
}

/* ---- memory ---- */

static int walk_all(void *context) {
  cst_array *array = context;
  cst__arena arena = nested_arena();
  const cst__owner owner = cst__array_owner(array);
  cst__view view;
  cst__lists lists;
  cst__slots items;
  const uint8_t *nulls;
  struct ArrowArray made = {0};
  cst_status status = cst__array_view(array, &view, &arena, NULL);
  cst__slots slots = cst__slots_all(&view);
  if (status == CST_OK) status = cst__slots_enter(&slots, 0, &arena, NULL);
  if (status == CST_OK) status = cst__slots_nulls(&slots, &arena, &nulls, NULL);
  if (status == CST_OK) status = cst__slots_array(&slots, &owner, &made, NULL);
  if (status == CST_OK) cst__array_release(&made);
  if (status == CST_OK) status = cst__slots_items(&slots, &arena, &lists, &items, NULL);
  int64_t splits[] = {0, 4};
  if (status == CST_OK) status = cst__slots_descend(&slots, splits, 1, &arena, NULL);
  if (status == CST_OK) status = cst__slots_array(&slots, &owner, &made, NULL);
  cst__array_release(&made);
  cst__arena_reset(&arena);
  return status;
}

TEST(allocations_may_fail) {
  cst_array *array = hidden_structs();
  FOR_EACH_ALLOCATION_FAILURE(walk_all, array, CST_NO_MEMORY);
  cst_array_release(array);
}

TEST(nulls_of_spans) {
  static const int64_t begins[] = {2, 4};
  static const int64_t ends[] = {0, 1, 3};
  walked w;
  walk_begin(&w, array_sample("int64", "1 null 3 4 null 6"));
  w.slots.chosen = (cst__chosen){.count = 3, .spans = {begins, ends, 2, 1}};
  CHECK_EQ(cst__slots_count_valid(&w.slots), 2);
  CHECK_EQ(cst__slots_first_null(&w.slots), 1);
  walk_end(&w);
}
