/* Nested tensors: concatenation, stacking, tiling; dimensions added, dropped, merged, divided. */
#include "structured_support.h"

static const char lists[] = "list<int32>";
static const char rows[] = "[1] [2, 3] null [null]";

static cst_structured *joined(bool is_stack, int axis, cst_structured *a, cst_structured *b) {
  const cst_structured *const both[] = {a, b};
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  (void)(is_stack ? cst_structured_stack(both, 2, axis, &out, &error)
                  : cst_structured_concat(both, 2, axis, &out, &error));
  CHECK_STR(error.message, "");
  cst_structured_release(a);
  cst_structured_release(b);
  return out;
}

TEST(concat) {
  structured_check(
      joined(false, 0, structured_sample(lists, rows), structured_sample(lists, "[4]")), false,
      lists, "[1] [2, 3] null [null] [4]");
  structured_check(joined(false, 1, structured_sample(lists, rows),
                          structured_sample(lists, "[4] [] null null")),
                   false, "large_list<int32>", "[1, 4] [2, 3] null [null]");
  structured_check(joined(false, -1, structured_sample("fixed_list<int8>[2]", "[1, 2] [3, 4]"),
                          structured_sample("fixed_list<int16>[1]", "[5] [6]")),
                   false, "fixed_list<int16>[3]", "[1, 2, 5] [3, 4, 6]");
  structured_check(joined(false, 1, structured_of(array_of_list_views(8), false),
                          structured_of(array_of_list_views(4), false)),
                   false, "large_list<int32>",
                   "[3, 4, 3, 4] null [1, 2, 1, 2] [] [2, 3, 2, 3] [1, 2, 1, 2]");
  structured_check(joined(false, 0, structured_row(lists, "[1]"), structured_row(lists, "null")),
                   false, "int32", "1");
  structured_check(joined(false, 0, structured_row(lists, "null"), structured_row(lists, "null")),
                   true, "large_list<int32>", "null");
}

TEST(concat_of_structs) {
  structured_check(joined(false, 1, structured_sample("list<struct{a: int8}>", "[{1}] [null]"),
                          structured_sample("list<struct{a: int32, b: string}>", "[] [{2, 'x'}]")),
                   false, "large_list<struct{a: int32, b: string}>",
                   "[{1, null}] [null, {2, 'x'}]");
}

static void check_not_joined(cst_structured *a, cst_structured *b, int axis, const char *message) {
  const cst_structured *const both[] = {a, b};
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_concat(both, 2, axis, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, message);
  CHECK(out == NULL);
  cst_structured_release(a);
  cst_structured_release(b);
}

TEST(concat_of_what_does_not_fit) {
  check_not_joined(structured_sample(lists, rows), structured_sample(lists, "[1]"), 1,
                   "the outermost dimension has length 4 in tensor 0 and 1 in tensor 1");
  check_not_joined(structured_sample("list<list<int32>>", "[[1], [2]] [[3]]"),
                   structured_sample("list<list<int32>>", "[[1], [2]] []"), 2,
                   "row [1] has length 1 in tensor 0 and 0 in tensor 1 (dimension 1)");
  check_not_joined(structured_sample(lists, rows), structured_sample("int32", "1"), 0, "rank 1");
  check_not_joined(structured_row("int32", "1"), structured_row("int32", "1"), 0, "scalar");
}

TEST(stack) {
  structured_check(joined(true, 0, structured_row("int32", "1"), structured_row("int32", "null")),
                   false, "int32", "1 null");
  structured_check(joined(true, 0, structured_sample(lists, "[1]"), structured_sample(lists, rows)),
                   false, "large_list<list<int32>>", "[[1]] [[1], [2, 3], null, [null]]");
  structured_check(joined(true, 1, structured_sample(lists, rows), structured_sample(lists, rows)),
                   false, "fixed_list<list<int32>>[2]",
                   "[[1], [1]] [[2, 3], [2, 3]] [null, null] [[null], [null]]");
  structured_check(joined(true, 2, structured_sample(lists, rows), structured_sample(lists, rows)),
                   false, "large_list<fixed_list<int32>[2]>",
                   "[[1, 1]] [[2, 2], [3, 3]] null [[null, null]]");
}

static void check_tile(cst_structured *tensor, const int64_t *multiples, const char *type,
                       const char *expected) {
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_tile(tensor, multiples, &out, NULL), CST_OK);
  structured_check(out, false, type, expected);
  cst_structured_release(tensor);
}

TEST(tile) {
  check_tile(structured_sample(lists, rows), (int64_t[]){1, 1}, lists, rows);
  check_tile(structured_sample(lists, rows), (int64_t[]){2, 1}, lists,
             "[1] [2, 3] null [null] [1] [2, 3] null [null]");
  check_tile(structured_sample(lists, rows), (int64_t[]){1, 2}, "large_list<int32>",
             "[1, 1] [2, 3, 2, 3] null [null, null]");
  check_tile(structured_sample("fixed_list<int32>[2]", "[1, 2] [3, 4]"), (int64_t[]){1, 2},
             "fixed_list<int32>[4]", "[1, 2, 1, 2] [3, 4, 3, 4]");
  check_tile(structured_sample(lists, rows), (int64_t[]){1, 0}, "large_list<int32>",
             "[] [] null []");
  check_tile(structured_sample(lists, rows), (int64_t[]){0, 3}, "large_list<int32>", "");
}

TEST(tiles_that_cannot_be) {
  cst_structured *tensor = structured_sample(lists, rows);
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_tile(tensor, (int64_t[]){-1, 1}, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_tile(tensor, (int64_t[]){1, INT64_MAX}, &out, &error), CST_LIMIT);
  CHECK_EQ(cst_structured_tile(tensor, (int64_t[]){INT64_MAX / 8, 1}, &out, &error), CST_LIMIT);
  cst_structured_release(tensor);
}

static cst_structured *expanded(cst_structured *tensor, int axis) {
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_expand_dims(tensor, axis, &out, NULL), CST_OK);
  cst_structured_release(tensor);
  return out;
}

static cst_structured *squeezed(cst_structured *tensor, int axis) {
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  (void)cst_structured_squeeze(tensor, &axis, axis == 99 ? 0 : 1, &out, &error);
  CHECK_STR(error.message, "");
  cst_structured_release(tensor);
  return out;
}

TEST(expand_and_squeeze) {
  structured_check(expanded(structured_sample(lists, rows), 0), false, "large_list<list<int32>>",
                   "[[1], [2, 3], null, [null]]");
  structured_check(expanded(structured_sample(lists, rows), 1), false, "fixed_list<list<int32>>[1]",
                   "[[1]] [[2, 3]] [null] [[null]]");
  structured_check(expanded(structured_sample(lists, rows), -1), false,
                   "large_list<fixed_list<int32>[1]>", "[[1]] [[2], [3]] null [[null]]");
  structured_check(expanded(structured_row("int32", "7"), 0), false, "int32", "7");
  for (int axis = 1; axis < 3; axis++) {
    cst_structured *there = expanded(structured_sample("large_list<int32>", rows), axis);
    structured_check(squeezed(there, axis), false, "large_list<int32>", rows);
  }
  structured_check(squeezed(expanded(structured_sample(lists, rows), 0), 0), true,
                   "large_list<list<int32>>", "[[1], [2, 3], null, [null]]");
  structured_check(squeezed(structured_sample(lists, "[1] null [2]"), 1), false, "int32",
                   "1 null 2");
  structured_check(squeezed(structured_sample("list<list<int32>>", "[[1]]"), 99), true, "int32",
                   "1");
  structured_check(squeezed(structured_sample("list<struct{a: int8}>", "[{1}] null"), 1), false,
                   "struct{a: int8}", "{1} null");
}

TEST(squeezes_that_cannot_be) {
  cst_structured *tensor = structured_sample("list<list<int32>>", "[[1]] [[2], [3, 4]]");
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_squeeze(tensor, (int[]){2}, 1, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "row [1][1] has length 2");
  CHECK_EQ(cst_structured_squeeze(tensor, (int[]){3}, 1, &out, &error), CST_INVALID_ARGUMENT);
  cst_structured_release(tensor);
}

TEST(merge_and_partition) {
  cst_structured *deep = structured_sample("list<list<int32>>", "[[1], null, [2, 3]] null [[4]]");
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_structured_merge_dims(deep, 1, 2, &out, NULL), CST_OK);
  structured_check(out, false, "large_list<int32>", "[1, 2, 3] null [4]");
  CHECK_EQ(cst_structured_merge_dims(deep, 0, -1, &out, NULL), CST_OK);
  structured_check(out, false, "int32", "1 2 3 4");
  CHECK_EQ(cst_structured_merge_dims(deep, 2, 1, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_partition(deep, (int64_t[]){0, 0, 2, 3}, 4, 0, &out, NULL), CST_OK);
  structured_check(out, false, "large_list<list<list<int32>>>",
                   "[] [[[1], null, [2, 3]], null] [[[4]]]");
  CHECK_EQ(cst_structured_partition(deep, NULL, 0, 3, &out, NULL), CST_OK);
  structured_check(out, false, "fixed_list<list<list<int32>>>[3]",
                   "[[[1], null, [2, 3]], null, [[4]]]");
  CHECK_EQ(cst_structured_partition(deep, NULL, 0, 2, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_partition(deep, NULL, 0, 0, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_partition(deep, (int64_t[]){0, 2, 1, 3}, 4, 0, &out, &error),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_partition(deep, (int64_t[]){0, 2}, 2, 0, &out, &error),
           CST_INVALID_ARGUMENT);
  cst_structured_release(deep);
}

/* ---- memory ---- */

static int arrange_all(void *context) {
  const cst_structured *both[] = {context, context};
  cst_structured *a = NULL;
  cst_structured *b = NULL;
  cst_structured *c = NULL;
  cst_structured *d = NULL;
  cst_status status = cst_structured_concat(both, 2, 1, &a, NULL);
  if (status == CST_OK) status = cst_structured_stack(both, 2, 1, &b, NULL);
  if (status == CST_OK) status = cst_structured_tile(b, (int64_t[]){2, 2, 1}, &c, NULL);
  cst_structured_release(b);
  b = NULL;
  if (status == CST_OK) status = cst_structured_merge_dims(c, 0, 1, &b, NULL);
  if (status == CST_OK) status = cst_structured_partition(b, NULL, 0, 2, &d, NULL);
  cst_structured_release(b);
  b = NULL;
  if (status == CST_OK) status = cst_structured_expand_dims(d, 1, &b, NULL);
  cst_structured_release(d);
  d = NULL;
  if (status == CST_OK) status = cst_structured_squeeze(b, (int[]){1}, 1, &d, NULL);
  cst_structured_release(a);
  cst_structured_release(b);
  cst_structured_release(c);
  cst_structured_release(d);
  return (int)status;
}

TEST(arrange_out_of_memory) {
  cst_structured *tensor = structured_sample("list<struct{a: int32, b: string}>",
                                             "[{1, 'a'}, null] null [] [{2, null}]");
  FOR_EACH_ALLOCATION_FAILURE(arrange_all, tensor, CST_NO_MEMORY);
  cst_structured_release(tensor);
}
