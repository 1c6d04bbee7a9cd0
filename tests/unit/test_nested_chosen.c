/* Runs, spans and numbers. */
#include "nested/chosen.h"

#include "nested_support.h"

static const int64_t begins[] = {5, 0, 9};
static const int64_t ends[] = {0, 2, 2, 4};

static cst__chosen spans_of(int64_t step) {
  return (cst__chosen){.count = 4, .spans = {begins, ends, 3, step}};
}

TEST(spans_are_numbers_a_step_apart) {
  cst__chosen forward = spans_of(1);
  cst__chosen backward = spans_of(-2);
  cst__chosen again = spans_of(0);
  const cst__chosen run = {.count = 3, .begin = 7};
  CHECK_CHOSEN(&forward, 5, 6, 9, 10);
  CHECK_CHOSEN(&backward, 5, 3, 9, 7);
  CHECK_CHOSEN(&again, 5, 5, 9, 9);
  CHECK_CHOSEN(&run, 7, 8, 9);
}

TEST(a_run_consists_of_itself_and_spans_of_runs) {
  const cst__chosen run = {.count = 3, .begin = 7};
  const cst__chosen spans = spans_of(1);
  CHECK_EQ(cst__chosen_num_runs(&run), 1);
  CHECK_EQ(cst__chosen_run(&run, 0).begin, 7);
  CHECK_EQ(cst__chosen_run(&run, 0).count, 3);
  CHECK_EQ(cst__chosen_num_runs(&spans), 3);
  CHECK_EQ(cst__chosen_run(&spans, 1).count, 0);
  CHECK_EQ(cst__chosen_run(&spans, 2).begin, 9);
}

TEST(numbers_become_spans_where_they_are_long) {
  cst__arena arena = nested_arena();
  cst__chosen one = NUMBERS(4, 5, 6);
  cst__chosen two = NUMBERS(4, 5, 6, 0, 1, 2);
  cst__chosen short_ones = NUMBERS(4, 5, 0, 1, 2);
  cst__chosen with_null = NUMBERS(4, 5, 6, 7, 8, -1);
  cst__chosen none = {.at = begins};
  with_null.has_null = true;
  CHECK_EQ(cst__chosen_find_spans(&one, &arena, NULL), CST_OK);
  CHECK(cst__chosen_is_run(&one));
  CHECK_CHOSEN(&one, 4, 5, 6);
  CHECK_EQ(cst__chosen_find_spans(&two, &arena, NULL), CST_OK);
  CHECK_EQ(two.spans.count, 2);
  two.at = NULL;
  CHECK_CHOSEN(&two, 4, 5, 6, 0, 1, 2);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(cst__chosen_find_spans(&short_ones, &arena, NULL), CST_OK);
    CHECK(short_ones.spans.begins == NULL);
  }
  CHECK_EQ(cst__chosen_find_spans(&with_null, &arena, NULL), CST_OK);
  CHECK(with_null.spans.begins == NULL);
  CHECK_EQ(cst__chosen_find_spans(&none, &arena, NULL), CST_OK);
  cst__arena_reset(&arena);
}

TEST(what_is_chosen_of_what_is_chosen) {
  cst__arena arena = nested_arena();
  cst__chosen numbers = NUMBERS(2, -1, 0);
  cst__chosen all = {.count = 3};
  cst__chosen part = {.count = 2, .begin = 1};
  cst__chosen later = {.count = 9, .begin = 100};
  cst__chosen spans = spans_of(1);
  cst__chosen out;
  numbers.has_null = true;
  CHECK_EQ(cst__chosen_compose(&all, &numbers, &arena, &out, NULL), CST_OK);
  CHECK_CHOSEN(&out, 2, -1, 0);
  CHECK_EQ(cst__chosen_compose(&numbers, &all, &arena, &out, NULL), CST_OK);
  CHECK_CHOSEN(&out, 2, -1, 0);
  CHECK(out.has_null);
  CHECK_EQ(cst__chosen_compose(&numbers, &later, &arena, &out, NULL), CST_OK);
  CHECK_CHOSEN(&out, 102, -1, 100);
  CHECK_EQ(cst__chosen_compose(&part, &later, &arena, &out, NULL), CST_OK);
  CHECK(cst__chosen_is_run(&out));
  CHECK_CHOSEN(&out, 101, 102);
  CHECK_EQ(cst__chosen_compose(&numbers, &spans, &arena, &out, NULL), CST_OK);
  CHECK_CHOSEN(&out, 9, -1, 5);
  CHECK_EQ(cst__chosen_compose(&part, &numbers, &arena, &out, NULL), CST_OK);
  CHECK_CHOSEN(&out, -1, 0);
  CHECK(out.has_null);
  cst__arena_reset(&arena);
}

TEST(what_is_chosen_may_take_the_place_of_what_it_is_chosen_of) {
  cst__arena arena = nested_arena();
  cst__chosen part = {.count = 2, .begin = 1};
  cst__chosen places = {.count = 4, .begin = 3};
  CHECK_EQ(cst__chosen_compose(&part, &places, &arena, &places, NULL), CST_OK);
  CHECK_CHOSEN(&places, 4, 5);
  cst__chosen numbers = NUMBERS(1, 0);
  CHECK_EQ(cst__chosen_compose(&numbers, &places, &arena, &places, NULL), CST_OK);
  CHECK_CHOSEN(&places, 5, 4);
  cst__arena_reset(&arena);
}

TEST(elements_are_repeated_as_often_as_the_splits_say) {
  cst__arena arena = nested_arena();
  cst__chosen run = {.count = 3, .begin = 7};
  const int64_t splits[] = {0, 2, 2, 3};
  cst__chosen out;
  CHECK_EQ(cst__chosen_repeat(&run, splits, &arena, &out, NULL), CST_OK);
  CHECK_EQ(out.spans.step, 0);
  CHECK_CHOSEN(&out, 7, 7, 9);
  cst__arena_reset(&arena);
}

static int choose_all(void *context) {
  cst__arena arena = nested_arena();
  cst__chosen run = {.count = 2000, .begin = 1};
  cst__chosen spans = spans_of(1);
  cst__chosen two = NUMBERS(4, 5, 6, 0, 1, 2);
  const int64_t splits[] = {0, 1, 2, 3, 4};
  cst__chosen out;
  cst_status status = cst__chosen_need_numbers(&run, &arena, context);
  if (status == CST_OK) status = cst__chosen_find_spans(&two, &arena, context);
  if (status == CST_OK) status = cst__chosen_repeat(&spans, splits, &arena, &out, context);
  spans.at = NULL;
  two.spans.begins = NULL;
  if (status == CST_OK) status = cst__chosen_compose(&spans, &run, &arena, &out, context);
  if (status == CST_OK)
    status = cst__numbers_new(&arena, 1000, context) != NULL ? 0 : CST_NO_MEMORY;
  cst__arena_reset(&arena);
  return status;
}

TEST(allocations_may_fail) { FOR_EACH_ALLOCATION_FAILURE(choose_all, NULL, CST_NO_MEMORY); }

TEST(numbers_that_no_memory_holds_are_refused) {
  cst__arena arena = nested_arena();
  cst__chosen huge = {.count = INT64_MAX};
  cst_error error = CST_ERROR_INIT;
  CHECK(cst__numbers_new(&arena, INT64_MAX, &error) == NULL);
  CHECK(cst__numbers_new(&arena, -1, &error) == NULL);
  CHECK_EQ(cst__chosen_need_numbers(&huge, &arena, &error), CST_NO_MEMORY);
  cst__arena_reset(&arena);
}
