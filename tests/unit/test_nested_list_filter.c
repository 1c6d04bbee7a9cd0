/* Lists without some of their items. */
#include "nested_support.h"

/* [0 1] null [2] [] [3 ... 129] */
static cst__lists filtered_lists(void) {
  static const int64_t splits[] = {0, 2, 2, 3, 3, 130};
  static const uint8_t nulls[] = {0, 1, 0, 0, 0};
  return (cst__lists){5, 7, splits, nulls};
}

static const uint64_t *words_of(const char *chosen, cst__arena *arena) {
  uint8_t bytes[130] = {0};
  for (; *chosen != '\0'; chosen++) bytes[*chosen == 'x' ? 129 : *chosen - '0'] = 1;
  return cst__words_of_bytes(bytes, 130, arena, NULL);
}

TEST(words_have_unset_bits_at_the_end) {
  cst__arena arena = nested_arena();
  const uint64_t *words = words_of("029x", &arena);
  CHECK_EQ(words[0], 0x205);
  CHECK_EQ(words[1], 0);
  CHECK_EQ(words[2], 2);
  cst__arena_reset(&arena);
}

TEST(items_that_are_not_chosen_go) {
  cst__arena arena = nested_arena();
  const cst__lists lists = filtered_lists();
  cst__picked out;
  CHECK_EQ(cst__lists_filter(&lists, words_of("129x", &arena), &arena, &out, NULL), CST_OK);
  CHECK_SPLITS(&out.lists, 0, 1, 1, 2, 2, 4);
  check_nulls(&out.lists, "01000");
  CHECK_EQ(out.lists.size, -1);
  CHECK_CHOSEN(&out.items, 1, 2, 9, 129);
  CHECK_EQ(cst__lists_filter(&lists, words_of("", &arena), &arena, &out, NULL), CST_OK);
  CHECK_SPLITS(&out.lists, 0, 0, 0, 0, 0, 0);
  CHECK_EQ(out.items.count, 0);
  cst__arena_reset(&arena);
}

TEST(lists_of_which_nothing_goes_stay) {
  uint8_t ones[130];
  cst__arena arena = nested_arena();
  const cst__lists lists = filtered_lists();
  cst__picked out;
  memset(ones, 1, sizeof ones);
  const uint64_t *words = cst__words_of_bytes(ones, 130, &arena, NULL);
  CHECK_EQ(cst__lists_filter(&lists, words, &arena, &out, NULL), CST_OK);
  CHECK(out.lists.splits == lists.splits);
  CHECK_EQ(out.lists.size, 7);
  CHECK(cst__chosen_is_run(&out.items));
  CHECK_EQ(out.items.count, 130);
  cst__arena_reset(&arena);
}

static int filter_some(void *context) {
  cst__arena arena = nested_arena();
  const cst__lists lists = filtered_lists();
  cst__picked out;
  const uint64_t *words = words_of("129x", &arena);
  cst_status status = words != NULL && cst__numbers_new(&arena, 100, context) != NULL
                          ? cst__lists_filter(&lists, words, &arena, &out, context)
                          : CST_NO_MEMORY;
  cst__arena_reset(&arena);
  return status;
}

TEST(allocations_may_fail) { FOR_EACH_ALLOCATION_FAILURE(filter_some, NULL, CST_NO_MEMORY); }
