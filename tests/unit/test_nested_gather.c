/* Copies of what is chosen, of every layout: by numbers and by spans they are the same. */
#include <stdio.h>
#include <stdlib.h>

#include "nested/gather.h"

#include "array_layouts.h"
#include "array_sample.h"
#include "nested_support.h"
#include "table/array.h"

typedef struct gathered {
  cst_array *array;
  cst__owner owner;
  cst__arena arena;
  cst__view view;
} gathered;

static void gather_begin(gathered *g, const array_layout *layout) {
  g->array = array_sample(layout->type, layout->rows);
  g->owner = cst__array_owner(g->array);
  cst__arena_init(&g->arena, NULL);
  CHECK_EQ(cst__array_view(g->array, &g->view, &g->arena, NULL), CST_OK);
}

static void gather_end(gathered *g) {
  cst__arena_reset(&g->arena);
  cst_array_release(g->array);
}

static void take_valid(gathered *g, const cst__chosen *chosen, struct ArrowArray *out,
                       cst__view *view) {
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__take(&g->owner, &g->view, chosen, false, out, &error), CST_OK);
  CHECK_STR(error.message, "");
  cst__view_init(view, g->view.schema, out, false, &g->arena, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(view->length, chosen->count);
}

static void check_spans(gathered *g, const cst__spans *spans) {
  cst__chosen by_spans = {.count = spans->ends[spans->count], .spans = *spans};
  cst__chosen by_numbers = by_spans;
  struct ArrowArray a;
  struct ArrowArray b;
  cst__view x;
  cst__view y;
  CHECK_EQ(cst__chosen_need_numbers(&by_numbers, &g->arena, NULL), CST_OK);
  by_numbers.spans = (cst__spans){.begins = NULL};
  take_valid(g, &by_spans, &a, &x);
  take_valid(g, &by_numbers, &b, &y);
  arrow_equal_slots(&x, 0, x.length, &y, 0);
  for (int64_t i = 0; i < x.length; i++) {
    arrow_equal_slots(&x, i, 1, &g->view, by_numbers.at[i]);
  }
  a.release(&a);
  b.release(&b);
}

TEST(spans_and_numbers_give_the_same) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    gathered g;
    gather_begin(&g, &array_layouts[i]);
    int64_t last = g.view.length - 1;
    const int64_t begins[] = {last, 0, 0, last / 2};
    const int64_t once[] = {0, 1, 2, 2, 3};
    const int64_t often[] = {0, 1, 71, 71, 74};
    const int64_t back[] = {last, 0, last};
    const int64_t all[] = {0, g.view.length, g.view.length + 1, g.view.length + 2};
    check_spans(&g, &(cst__spans){begins, once, 4, 1});
    check_spans(&g, &(cst__spans){begins, often, 4, 0}); /* one slot many times */
    check_spans(&g, &(cst__spans){back, all, 3, -1});
    gather_end(&g);
  }
}

/* Spans are copied in blocks about as long as they are: spans of 1 to `most` slots each. */
static void check_lengths(gathered *g, int most) {
  enum { SPANS = 60 };
  int64_t begins[SPANS];
  int64_t ends[SPANS + 1] = {0};
  for (size_t i = 0; i < SPANS; i++) {
    int count = 1 + rand() % most;
    begins[i] = rand() % ((int)g->view.length - count + 1);
    ends[i + 1] = ends[i] + count;
  }
  check_spans(g, &(cst__spans){begins, ends, SPANS, 1});
}

TEST(spans_of_all_lengths) {
  enum { ROWS = 200, STEP = 7 };
  const char *types[] = {"int8", "uint16", "int32", "int64"};
  char rows[ROWS * 4] = "";
  for (int i = 0, used = 0; i < ROWS; i++) {
    used += snprintf(rows + used, sizeof rows - (size_t)used, "%d ", i * STEP % 100);
  }
  srand(7);
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
    gathered g;
    gather_begin(&g, &(array_layout){types[t], rows});
    for (int most = 1; most < ROWS; most += 1 + most / 8) {
      check_lengths(&g, most);
    }
    gather_end(&g);
  }
}

TEST(runs_are_shared) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    gathered g;
    struct ArrowArray out;
    cst__view view;
    gather_begin(&g, &array_layouts[i]);
    const cst__chosen run = {.count = g.view.length - 1, .begin = 1};
    take_valid(&g, &run, &out, &view);
    arrow_equal_slots(&view, 0, view.length, &g.view, 1);
    if (g.view.layout == CST__LAYOUT_NUMBER) CHECK(view.data == g.view.data);
    out.release(&out);
    gather_end(&g);
  }
}

TEST(numbers_of_minus_one_are_null) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    gathered g;
    struct ArrowArray out;
    cst__view view;
    gather_begin(&g, &array_layouts[i]);
    take_valid(&g, &NUMBERS_OR_NULL(0, -1, 0), &out, &view);
    CHECK(cst__view_is_null(&view, 1));
    arrow_equal_slots(&view, 2, 1, &g.view, 0);
    out.release(&out);
    gather_end(&g);
  }
}

static int take_both(void *context) {
  static const int64_t begins[] = {1, 0};
  static const int64_t ends[] = {0, 1, 21};
  gathered *g = context;
  struct ArrowArray out = {0};
  cst_status status = CST_OK;
  for (int64_t step = -1; step < 2 && status == CST_OK; step++) {
    const cst__chosen spans = {
        .count = step == 0 ? 21 : 2,
        .spans = {begins, step == 0 ? ends : (const int64_t[]){0, 1, 2}, 2, step}};
    status = cst__take(&g->owner, &g->view, &spans, false, &out, NULL);
    if (status == CST_OK) out.release(&out);
  }
  if (status == CST_OK) {
    status = cst__take(&g->owner, &g->view, &NUMBERS_OR_NULL(1, -1, 0), false, &out, NULL);
  }
  if (status == CST_OK) out.release(&out);
  return status;
}

TEST(allocations_may_fail) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    gathered g;
    gather_begin(&g, &array_layouts[i]);
    if (g.view.length > 1) FOR_EACH_ALLOCATION_FAILURE(take_both, &g, CST_NO_MEMORY);
    gather_end(&g);
  }
}
