/* Slices of lists, as Python has them. */
#include "nested_support.h"

static void check_range(cst__range actual, int64_t begin, int64_t count) {
  CHECK_EQ(actual.count, count);
  if (count > 0) CHECK_EQ(actual.begin, begin);
}

#define SLICE_OF(size, begin, end, step) \
  cst__slice_of(&(cst__slice){(begin), (end), (step)}, (size))

TEST(a_slice_is_cut_to_what_there_is) {
  check_range(SLICE_OF(5, 1, 3, 1), 1, 2);
  check_range(SLICE_OF(5, -2, CST__OPEN, 1), 3, 2);
  check_range(SLICE_OF(5, -9, 9, 1), 0, 5);
  check_range(SLICE_OF(5, 3, 1, 1), 0, 0);
  check_range(SLICE_OF(0, CST__OPEN, CST__OPEN, 1), 0, 0);
  check_range(SLICE_OF(5, CST__OPEN, CST__OPEN, 2), 0, 3);
  check_range(SLICE_OF(5, CST__OPEN, CST__OPEN, -1), 4, 5);
  check_range(SLICE_OF(5, CST__OPEN, CST__OPEN, -2), 4, 3);
  check_range(SLICE_OF(5, 9, -9, -1), 4, 5);
  check_range(SLICE_OF(5, 1, 3, -1), 0, 0);
  check_range(SLICE_OF(5, CST__OPEN, CST__OPEN, INT64_MAX), 0, 1);
  check_range(SLICE_OF(5, CST__OPEN, CST__OPEN, INT64_MIN), 4, 1);
  check_range(SLICE_OF(INT64_MAX, INT64_MIN + 1, INT64_MAX, 1), 0, INT64_MAX);
}

/* [0 1 2] null [3] [] [4 5] */
static cst__lists sliced_lists(void) {
  static const int64_t splits[] = {0, 3, 3, 4, 4, 6};
  static const uint8_t nulls[] = {0, 1, 0, 0, 0};
  return (cst__lists){5, -1, splits, nulls};
}

static const cst__chosen every = {.count = 5};

TEST(one_slice_of_all_lists) {
  cst__arena arena = nested_arena();
  const cst__slice two = {0, 2, 1};
  const cst__slice last = {-1, CST__OPEN, 1};
  cst__lists lists = sliced_lists();
  cst__picked out;
  CHECK_EQ(cst__lists_slice(&lists, &every, (cst__slices){&two, true}, &arena, &out, NULL), CST_OK);
  CHECK_SPLITS(&out.lists, 0, 2, 2, 3, 3, 5);
  check_nulls(&out.lists, "01000");
  CHECK_EQ(out.items.spans.count, 2); /* what follows each other is one span */
  CHECK_CHOSEN(&out.items, 0, 1, 3, 4, 5);
  lists.nulls = NULL;
  CHECK_EQ(cst__lists_slice(&lists, &every, (cst__slices){&last, true}, &arena, &out, NULL),
           CST_OK);
  CHECK_SPLITS(&out.lists, 0, 1, 1, 2, 2, 3);
  check_nulls(&out.lists, "");
  CHECK_CHOSEN(&out.items, 2, 3, 5);
  cst__arena_reset(&arena);
}

TEST(slices_that_leave_nothing_out_are_a_run) {
  cst__arena arena = nested_arena();
  const cst__slice many = {0, 100, 1};
  const cst__slice none = {7, 7, 1};
  const cst__lists lists = sliced_lists();
  cst__picked out;
  CHECK_EQ(cst__lists_slice(&lists, &every, (cst__slices){&many, true}, &arena, &out, NULL),
           CST_OK);
  CHECK(cst__chosen_is_run(&out.items));
  CHECK_CHOSEN(&out.items, 0, 1, 2, 3, 4, 5);
  CHECK_EQ(cst__lists_slice(&lists, &every, (cst__slices){&none, true}, &arena, &out, NULL),
           CST_OK);
  CHECK(cst__chosen_is_run(&out.items));
  CHECK_EQ(out.items.count, 0);
  cst__arena_reset(&arena);
}

TEST(slices_with_a_step) {
  cst__arena arena = nested_arena();
  const cst__slice back = {CST__OPEN, CST__OPEN, -1};
  const cst__slice far = {CST__OPEN, CST__OPEN, INT64_MIN};
  const cst__lists lists = sliced_lists();
  cst__picked out;
  CHECK_EQ(cst__lists_slice(&lists, &every, (cst__slices){&back, true}, &arena, &out, NULL),
           CST_OK);
  CHECK_SPLITS(&out.lists, 0, 3, 3, 4, 4, 6);
  CHECK_CHOSEN(&out.items, 2, 1, 0, 3, 5, 4);
  CHECK_EQ(cst__lists_slice(&lists, &every, (cst__slices){&far, true}, &arena, &out, NULL), CST_OK);
  CHECK_CHOSEN(&out.items, 2, 3, 5);
  CHECK(out.items.spans.step > -(INT64_C(1) << 60));
  cst__arena_reset(&arena);
}

TEST(a_slice_for_each_list) {
  static const cst__slice slices[] = {
      {1, CST__OPEN, 1}, {0, 9, 1}, {0, 9, 1}, {0, 9, 1}, {-1, CST__OPEN, 1}};
  static const cst__slice steps[] = {
      {CST__OPEN, CST__OPEN, 2}, {0, 9, 1}, {0, 9, 1}, {0, 9, 1}, {CST__OPEN, CST__OPEN, -1}};
  cst__arena arena = nested_arena();
  const cst__lists lists = sliced_lists();
  cst__picked out;
  CHECK_EQ(cst__lists_slice(&lists, &every, (cst__slices){slices, false}, &arena, &out, NULL),
           CST_OK);
  CHECK_SPLITS(&out.lists, 0, 2, 2, 3, 3, 4);
  CHECK_CHOSEN(&out.items, 1, 2, 3, 5);
  CHECK_EQ(cst__lists_slice(&lists, &every, (cst__slices){steps, false}, &arena, &out, NULL),
           CST_OK);
  CHECK_SPLITS(&out.lists, 0, 2, 2, 3, 3, 5);
  CHECK_CHOSEN(&out.items, 0, 2, 3, 5, 4);
  check_nulls(&out.lists, "01000");
  cst__arena_reset(&arena);
}

TEST(slices_of_lists_that_are_chosen) {
  static const int64_t begins[] = {4, 0};
  static const int64_t ends[] = {0, 1, 3};
  cst__arena arena = nested_arena();
  const cst__chosen spans = {.count = 3, .spans = {begins, ends, 2, 1}};
  const cst__chosen run = {.count = 2, .begin = 3};
  const cst__slice one = {0, 1, 1};
  const cst__slices slices = {&one, true};
  cst__lists lists = sliced_lists();
  cst__picked out;
  lists.size = 3;
  CHECK_EQ(cst__lists_slice(&lists, &NUMBERS_OR_NULL(4, -1, 4), slices, &arena, &out, NULL),
           CST_OK);
  CHECK_SPLITS(&out.lists, 0, 1, 1, 2);
  check_nulls(&out.lists, "010");
  CHECK_EQ(out.lists.size, 1);
  CHECK_CHOSEN(&out.items, 4, 4);
  CHECK_EQ(cst__lists_slice(&lists, &spans, slices, &arena, &out, NULL), CST_OK);
  check_nulls(&out.lists, "001");
  CHECK_CHOSEN(&out.items, 4, 0);
  CHECK_EQ(cst__lists_slice(&lists, &run, slices, &arena, &out, NULL), CST_OK);
  check_nulls(&out.lists, "");
  CHECK_CHOSEN(&out.items, 4);
  cst__arena_reset(&arena);
}

TEST(long_lists_are_not_looked_up) {
  enum { MANY = 100, SIZE = 1000 };
  cst__arena arena = nested_arena();
  const cst__slice slice = {-3, -1, 1};
  const cst__chosen all = {.count = MANY};
  cst__lists lists;
  cst__picked out;
  CHECK_EQ(cst__lists_fixed(MANY, SIZE, &arena, &lists, NULL), CST_OK);
  CHECK_EQ(cst__lists_slice(&lists, &all, (cst__slices){&slice, true}, &arena, &out, NULL), CST_OK);
  CHECK_EQ(out.items.count, 2 * MANY);
  CHECK_EQ(out.lists.size, 2);
  for (int64_t i = 0; i < MANY; i++) CHECK_EQ(out.items.spans.begins[i], i * SIZE + SIZE - 3);
  cst__arena_reset(&arena);
}

static int slice_all(void *context) {
  static const cst__slice slices[] = {{0, 2, 1}, {0, 2, -1}, {0, 2, 1}, {0, 2, 1}, {0, 2, 1}};
  cst__arena arena = nested_arena();
  const cst__lists lists = sliced_lists();
  cst__picked out;
  cst_status status = CST_OK;
  for (int i = 0; i < 2 && status == CST_OK; i++) {
    status =
        cst__lists_slice(&lists, &every, (cst__slices){&slices[i], true}, &arena, &out, context);
    if (cst__numbers_new(&arena, 200, context) == NULL) status = CST_NO_MEMORY;
  }
  if (status == CST_OK) {
    status = cst__lists_slice(&lists, &every, (cst__slices){slices, false}, &arena, &out, context);
  }
  cst__arena_reset(&arena);
  return status;
}

TEST(allocations_may_fail) { FOR_EACH_ALLOCATION_FAILURE(slice_all, NULL, CST_NO_MEMORY); }
