/* Lists: looking at them, joining and choosing them. */
#include "nested/list.h"

#include "arrow/owned.h"
#include "nested_support.h"

TEST(splits_find_the_list_of_an_item) {
  const int64_t splits[] = {0, 0, 2, 2, 2, 5, 5};
  const int64_t lists[] = {1, 1, 4, 4, 4};
  for (int64_t i = 0; i < 5; i++) CHECK_EQ(cst__splits_find(splits, 6, i), lists[i]);
}

TEST(levels_find_the_outermost_list_of_an_item) {
  const cst__lists levels[] = {LISTS(0, 0, 2, 3), LISTS(0, 1, 1, 4)};
  CHECK_EQ(cst__levels_find(levels, 0, 3), 3);
  CHECK_EQ(cst__levels_find(levels, 2, 0), 1);
  CHECK_EQ(cst__levels_find(levels, 2, 3), 2);
}

TEST(lists_are_compared_by_their_sizes) {
  const cst__lists a = LISTS(0, 2, 3, 3);
  const cst__lists b = LISTS(0, 2, 3, 3);
  const cst__lists c = LISTS(0, 2, 2, 3);
  CHECK_EQ(cst__lists_differ(&a, &b), -1);
  CHECK_EQ(cst__lists_differ(&a, &c), 1);
  CHECK_EQ(cst__lists_longest(&a), 2);
  CHECK_EQ(cst__lists_longest(&LISTS(0)), 0);
}

TEST(items_are_counted_from_either_end) {
  static const uint8_t nulls[] = {0, 0, 1};
  cst__lists lists = LISTS(0, 2, 2, 2);
  lists.nulls = nulls;
  CHECK_EQ(cst__list_item(&lists, 0, 1), 1);
  CHECK_EQ(cst__list_item(&lists, 0, -2), 0);
  CHECK_EQ(cst__list_item(&lists, 0, 2), CST__ITEM_OUTSIDE);
  CHECK_EQ(cst__list_item(&lists, 0, -3), CST__ITEM_OUTSIDE);
  CHECK_EQ(cst__list_item(&lists, 0, INT64_MIN), CST__ITEM_OUTSIDE);
  CHECK_EQ(cst__list_item(&lists, 1, 0), CST__ITEM_OUTSIDE);
  CHECK_EQ(cst__list_item(&lists, 2, 0), CST__ITEM_NULL);
  CHECK_EQ(cst__list_item(&lists, -1, 0), CST__ITEM_NULL);
}

TEST(lists_of_lists_become_lists) {
  static const uint8_t nulls[] = {0, 1, 0};
  cst__arena arena = nested_arena();
  cst__lists outer = LISTS(0, 2, 2, 3);
  cst__lists inner = LISTS(0, 3, 3, 4);
  cst__lists out;
  outer.nulls = nulls;
  CHECK_EQ(cst__lists_join(&outer, &inner, &arena, &out, NULL), CST_OK);
  CHECK_SPLITS(&out, 0, 3, 3, 4);
  check_nulls(&out, "010");
  CHECK_EQ(out.size, -1);
  outer.size = 2;
  inner.size = 3;
  CHECK_EQ(cst__lists_join(&outer, &inner, &arena, &out, NULL), CST_OK);
  CHECK_EQ(out.size, 6);
  inner.size = INT64_MAX;
  CHECK_EQ(cst__lists_join(&outer, &inner, &arena, &out, NULL), CST_OK);
  CHECK_EQ(out.size, -1);
  cst__arena_reset(&arena);
}

TEST(lists_of_one_size) {
  cst__arena arena = nested_arena();
  cst__lists out;
  CHECK_EQ(cst__lists_fixed(3, 2, &arena, &out, NULL), CST_OK);
  CHECK_SPLITS(&out, 0, 2, 4, 6);
  CHECK_EQ(out.size, 2);
  CHECK_EQ(cst__lists_one(7, &arena, &out, NULL), CST_OK);
  CHECK_SPLITS(&out, 0, 7);
  cst__arena_reset(&arena);
}

/* [0 1] null [2] [] [3 4 5] */
static cst__lists some_lists(void) {
  static const uint8_t nulls[] = {0, 1, 0, 0, 0};
  cst__lists lists = LISTS(0, 2, 2, 3, 3, 6);
  static int64_t splits[6];
  memcpy(splits, lists.splits, sizeof splits);
  lists.splits = splits;
  lists.nulls = nulls;
  return lists;
}

TEST(lists_that_follow_each_other_share_their_splits) {
  cst__arena arena = nested_arena();
  const cst__lists lists = some_lists();
  cst__picked out;
  CHECK_EQ(cst__lists_choose(&lists, &(cst__chosen){.count = 2}, &arena, &out, NULL), CST_OK);
  CHECK(out.lists.splits == lists.splits);
  check_nulls(&out.lists, "01");
  CHECK_CHOSEN(&out.items, 0, 1);
  CHECK_EQ(cst__lists_choose(&lists, &(cst__chosen){.count = 3, .begin = 2}, &arena, &out, NULL),
           CST_OK);
  CHECK_SPLITS(&out.lists, 0, 1, 1, 4);
  check_nulls(&out.lists, "");
  CHECK_CHOSEN(&out.items, 2, 3, 4, 5);
  cst__arena_reset(&arena);
}

TEST(lists_are_chosen_by_spans) {
  static const int64_t begins[] = {2, 0};
  static const int64_t ends[] = {0, 2, 3};
  cst__arena arena = nested_arena();
  const cst__chosen chosen = {.count = 3, .spans = {begins, ends, 2, 1}};
  cst__lists lists = some_lists();
  cst__picked out;
  for (int with_nulls = 1; with_nulls >= 0; with_nulls--) {
    lists.nulls = with_nulls ? lists.nulls : NULL;
    CHECK_EQ(cst__lists_choose(&lists, &chosen, &arena, &out, NULL), CST_OK);
    CHECK_SPLITS(&out.lists, 0, 1, 1, 3);
    check_nulls(&out.lists, "");
    CHECK_CHOSEN(&out.items, 2, 0, 1);
  }
  cst__arena_reset(&arena);
}

TEST(lists_are_chosen_by_numbers) {
  cst__arena arena = nested_arena();
  const cst__lists lists = some_lists();
  cst__picked out;
  CHECK_EQ(cst__lists_choose(&lists, &NUMBERS_OR_NULL(4, -1, 1, 0, 0), &arena, &out, NULL), CST_OK);
  CHECK_SPLITS(&out.lists, 0, 3, 3, 3, 5, 7);
  check_nulls(&out.lists, "01100");
  CHECK_CHOSEN(&out.items, 3, 4, 5, 0, 1, 0, 1);
  CHECK_EQ(cst__lists_choose(&lists, &NUMBERS(4, 3), &arena, &out, NULL), CST_OK);
  check_nulls(&out.lists, "");
  CHECK(cst__chosen_is_run(&out.items));
  cst__arena_reset(&arena);
}

TEST(more_items_than_numbers_count_are_refused) {
  static const int64_t splits[] = {0, INT64_MAX / 2};
  cst__arena arena = nested_arena();
  const cst__lists lists = {1, -1, splits, NULL};
  cst__picked out;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__lists_choose(&lists, &NUMBERS(0, 0, 0), &arena, &out, &error), CST_LIMIT);
  CHECK_STR(error.message, "more elements than 64 bits count");
  cst__arena_reset(&arena);
}

TEST(bytes_of_nulls_become_a_bitmap) {
  static const uint8_t nulls[] = {0, 1, 0, 0, 0, 0, 0, 0, 1, 0};
  struct ArrowArray array;
  CHECK_EQ(cst__owned_new(NULL, 1, 0, false, &array, NULL), CST_OK);
  array.length = 10;
  CHECK_EQ(cst__nulls_put(NULL, &array, NULL), CST_OK);
  CHECK(array.buffers[0] == NULL);
  CHECK_EQ(cst__nulls_put(nulls, &array, NULL), CST_OK);
  CHECK_EQ(array.null_count, 2);
  CHECK_EQ(((const uint8_t *)array.buffers[0])[0], 0xfd);
  CHECK_EQ(((const uint8_t *)array.buffers[0])[1], 0x02);
  array.release(&array);
}

static int make_lists(void *context) {
  static const int64_t begins[] = {2, 0};
  static const int64_t ends[] = {0, 2, 3};
  static const uint8_t nulls[] = {1};
  cst__arena arena = nested_arena();
  const cst__chosen run = {.count = 3, .begin = 2};
  cst__lists lists = some_lists();
  cst__lists fixed;
  cst__picked out;
  struct ArrowArray array = {0};
  cst_status status = cst__lists_fixed(6, 100, &arena, &fixed, context);
  if (status == CST_OK) status = cst__lists_join(&lists, &fixed, &arena, &fixed, context);
  if (status == CST_OK) status = cst__lists_one(3, &arena, &fixed, context);
  if (status == CST_OK) status = cst__lists_choose(&lists, &run, &arena, &out, context);
  if (status == CST_OK)
    status = cst__lists_choose(&lists, &NUMBERS_OR_NULL(4, -1), &arena, &out, context);
  lists.nulls = NULL;
  if (status == CST_OK) {
    const cst__chosen spans = {.count = 3, .spans = {begins, ends, 2, 1}};
    status = cst__lists_choose(&lists, &spans, &arena, &out, context);
  }
  if (status == CST_OK) status = cst__owned_new(NULL, 1, 0, false, &array, context);
  array.length = 1;
  if (status == CST_OK) status = cst__nulls_put(nulls, &array, context);
  cst__array_release(&array);
  cst__arena_reset(&arena);
  return status;
}

TEST(allocations_may_fail) { FOR_EACH_ALLOCATION_FAILURE(make_lists, NULL, CST_NO_MEMORY); }
