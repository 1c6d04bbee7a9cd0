/* What a batch may cost: memory, elements and work of a query, and whose share an error names. */
#include "arrow_text.h"
#include "harness.h"
#include "view_support.h"

#define TABLE "from table [{a: string, l: [int64], e: [{k: int64}]}]\n"

/* A view over a table of texts and lists. */
static cst_view *table_view(const char *text, view_case limits) {
  view_case c = limits;
  struct ArrowSchema type;
  const char *of = "struct{a: string, l: list<int64>, e: list<struct{k: int64}>}";
  arrow_text_parse_type(&of, &type);
  c.text = text;
  c.type = &type;
  cst_view *view = new_view(&c);
  ArrowSchemaRelease(&type);
  return view;
}

static cst_status apply_rows(const cst_view *view, const char *rows, cst_error *error) {
  struct ArrowSchema type;
  struct ArrowArray batch;
  struct ArrowArray out;
  *error = (cst_error)CST_ERROR_INIT;
  arrow_text("struct{a: string, l: list<int64>, e: list<struct{k: int64}>}", rows, &type, &batch);
  cst_status status = cst_view_apply(view, &type, &batch, NULL, NULL, &out, error);
  if (status == CST_OK) {
    out.release(&out);
  }
  ArrowSchemaRelease(&type);
  return status;
}

/* Texts that are put together again and again: 27 lines of a query would come to 4^26 letters. */
TEST(texts_that_double_again_and_again_end_at_the_limit) {
  char text[4096] = TABLE "let a0 = a\n";
  for (int i = 1; i < 27; i++) {
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "let a%d = a%d + a%d + a%d + a%d\n", i, i - 1, i - 1,
             i - 1, i - 1);
  }
  strcat(text, "output n = dense(len(a26))");
  cst_view *view = table_view(text, (view_case){0});
  cst_error error;
  CHECK_EQ(
      apply_rows(view,
                 "{'x', [], [{1} {2} {3}]} {'longer', [], [{1} {2} {3}]} {'', [], [{1} {2} {3}]}",
                 &error),
      CST_LIMIT);
  CHECK_CONTAINS(error.message, "line 1");
  CHECK_CONTAINS(error.message, "bytes of memory");
  CHECK_CONTAINS(error.hint, "max_bytes");
  CHECK_EQ(error.record, 1); /* the longest */
  CHECK_EQ(apply_rows(view, "{'', [], [{1} {2} {3}]} {'', [], [{1} {2} {3}]}", &error), CST_OK);
  cst_view_release(view);
}

/* Lists that are repeated for each of their own elements. */
TEST(the_record_with_the_largest_share_is_named) {
  const char *text = TABLE "let e.all = l output n = dense(sum(e.all), default=0)";
  const char *rows = "{'', [1 2], [{1} {2} {3}]} {'', [], [{1} {2} {3}]} {'', [1 2 3 4 5 6 7 8 9 "
                     "10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30], [{1} "
                     "{2} {3}]} {'', [1 2 3], [{1} {2} {3}]}";
  cst_error error;
  view_case limits[] = {{.max_elements = 100}, {.max_bytes = 1000}, {.max_work = 250}};
  view_case enough[] = {{.max_elements = 1000}, {.max_bytes = 10000}, {.max_work = 2000}};
  for (size_t i = 0; i < 3; i++) {
    cst_view *view = table_view(text, limits[i]);
    CHECK_EQ(apply_rows(view, rows, &error), CST_LIMIT);
    CHECK_EQ(error.record, 2);
    CHECK_EQ(apply_rows(view, "{'', [], [{1} {2} {3}]} {'', [1], [{1} {2} {3}]}", &error), CST_OK);
    cst_view_release(view);
    view = table_view(text, enough[i]);
    CHECK_EQ(apply_rows(view, rows, &error), CST_OK);
    cst_view_release(view);
  }
}

/* What takes no memory takes time. */
TEST(many_aggregates_of_one_list_are_work) {
  char text[8192] = TABLE;
  for (int i = 0; i < 100; i++) {
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "output s%d = dense(count(l where it != %d))\n", i, i);
  }
  cst_view *view = table_view(text, (view_case){.max_work = 3000});
  cst_view *none = table_view(text, (view_case){0});
  cst_error error;
  CHECK_EQ(
      apply_rows(view, "{'', [1], [{1} {2} {3}]} {'', [1 2 3 4 5 6 7 8], [{1} {2} {3}]}", &error),
      CST_LIMIT);
  CHECK_CONTAINS(error.message, "3000 elements to go through");
  CHECK_CONTAINS(error.hint, "max_work");
  CHECK_EQ(error.record, 1);
  CHECK_EQ(
      apply_rows(none, "{'', [1], [{1} {2} {3}]} {'', [1 2 3 4 5 6 7 8], [{1} {2} {3}]}", &error),
      CST_OK);
  cst_view_release(view);
  cst_view_release(none);
}

/* A value is compared with each of a list of literals. */
TEST(a_long_list_of_literals_is_work) {
  char text[4096] = TABLE "output x = ragged(l in [0";
  for (int i = 1; i < 800; i++) {
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, ",%d", i);
  }
  strcat(text, "])");
  cst_view *view = table_view(text, (view_case){.max_work = 2500});
  cst_error error;
  CHECK_EQ(
      apply_rows(view, "{'', [1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16], [{1} {2} {3}]}", &error),
      CST_LIMIT);
  CHECK_EQ(apply_rows(view, "{'', [1 2 3 4], [{1} {2} {3}]}", &error), CST_OK);
  cst_view_release(view);
}

/* 60 elements have 34,220 combinations of three, and 3,600 pairs with each other. */
TEST(products_end_at_the_limits) {
  static const char *const texts[] = {
      TABLE "output n = dense(size(combinations(l, a, b, c)), default=0)",
      TABLE "output n = dense(size(cartesian(a=l, b=e, c=l)), default=0)",
      TABLE "output n = dense(sum(combinations(l, a, b, c).b), default=0)"};
  char rows[2000] = "{'', [1 2 3], [{1} {2} {3}]} {'', [0";
  view_case limits[] = {{.max_elements = 5000}, {.max_bytes = 40000}, {.max_work = 8000}};
  cst_error error;
  for (int i = 1; i < 60; i++) {
    size_t at = strlen(rows);
    snprintf(rows + at, sizeof rows - at, " %d", i);
  }
  strcat(rows, "], [{1} {2} {3}]} {'', [1 2], [{1} {2} {3}]}");
  for (size_t i = 0; i < 9; i++) {
    cst_view *view = table_view(texts[i / 3], limits[i % 3]);
    CHECK_EQ(apply_rows(view, rows, &error), CST_LIMIT);
    CHECK_EQ(error.record, 1);
    CHECK_EQ(apply_rows(view, "{'', [1 2 3], [{1} {2} {3}]} {'', [], [{1} {2} {3}]}", &error),
             CST_OK);
    cst_view_release(view);
  }
}

/* So many that their number has no 64 bits are refused before any is made. */
TEST(products_of_products_end_at_the_limit) {
  char text[4096] = TABLE "output n = dense(size(cartesian(a0=l";
  for (int i = 1; i < 40; i++) {
    size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, ", a%d=l", i);
  }
  strcat(text, ")), default=0)");
  cst_view *view = table_view(text, (view_case){0});
  cst_error error;
  CHECK_EQ(apply_rows(view, "{'', [1 2 3 4 5 6 7 8], [{1} {2} {3}]}", &error), CST_LIMIT);
  CHECK_EQ(apply_rows(view, "{'', [1], [{1} {2} {3}]} {'', [], [{1} {2} {3}]}", &error), CST_OK);
  cst_view_release(view);
}

TEST(limits_are_not_negative) {
  cst_query *query;
  cst_view *view;
  cst_error error = CST_ERROR_INIT;
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  const char *text = TABLE "output a = a";
  CHECK_EQ(cst_query_from_text(text, strlen(text), NULL, &query, &error), CST_OK);
  options.max_bytes = -1;
  CHECK_EQ(cst_view_new(query, &options, &view, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "max_bytes is negative");
  options.max_bytes = 0;
  options.max_work = -1;
  CHECK_EQ(cst_view_new(query, &options, &view, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "max_work is negative");
  cst_query_free(query);
}
