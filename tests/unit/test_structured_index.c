/* Nested tensors: indexing, and choosing elements. */
#include "structured_support.h"

static const char lists[] = "list<int32>";
static const char rows[] = "[1] [2, 3] null [null, 5, 6]";

#define AT(i) \
  { .kind = CST_INDEX_AT, .begin = (i) }
#define SLICE(b, e, s) \
  { .kind = CST_INDEX_SLICE, .begin = (b), .end = (e), .step = (s) }
#define ALL SLICE(CST_INDEX_OPEN, CST_INDEX_OPEN, 1)
#define DOTS \
  { .kind = CST_INDEX_ELLIPSIS }
#define NEW_AXIS \
  { .kind = CST_INDEX_NEW_AXIS }
#define BY(t) \
  { .kind = CST_INDEX_ARRAY, .tensor = (t) }
#define BY_ROW(t) \
  { .kind = CST_INDEX_BY_ROW, .tensor = (t) }
#define NAME(path) \
  { .kind = CST_INDEX_NAME, .paths = (path), .num_paths = 1 }

/* What the items give of a tensor, which is released. */
#define INDEX(tensor, ...)                         \
  indexed(tensor, (cst_index_item[]){__VA_ARGS__}, \
          sizeof((cst_index_item[]){__VA_ARGS__}) / sizeof(cst_index_item))

static cst_structured *indexed(cst_structured *tensor, const cst_index_item *items, size_t count) {
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  (void)cst_structured_index(tensor, items, count, &out, &error);
  CHECK_STR(error.message, "");
  cst_structured_release(tensor);
  return out;
}

#define CHECK_NOT_INDEXED(tensor, message, ...)              \
  check_not_indexed(tensor, (cst_index_item[]){__VA_ARGS__}, \
                    sizeof((cst_index_item[]){__VA_ARGS__}) / sizeof(cst_index_item), message)

static cst_error check_not_indexed(cst_structured *tensor, const cst_index_item *items,
                                   size_t count, const char *message) {
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_structured_index(tensor, items, count, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, message);
  CHECK(out == NULL);
  cst_structured_release(tensor);
  return error;
}

TEST(places) {
  structured_check(INDEX(structured_sample(lists, rows), AT(1)), true, lists, "[2, 3]");
  structured_check(INDEX(structured_sample(lists, rows), AT(-1), AT(1)), true, "int32", "5");
  structured_check(INDEX(structured_sample(lists, rows), AT(2), AT(0)), true, "int32", "null");
  structured_check(INDEX(structured_sample(lists, rows), ALL, AT(-1)), false, "int32",
                   "1 3 null 6");
  structured_check(INDEX(structured_row("list<list<int32>>", "[[1, 2], [3]]"), ALL, AT(0)), false,
                   "int32", "1 3");
}

TEST(places_that_there_are_not) {
  cst_error error =
      CHECK_NOT_INDEXED(structured_sample(lists, rows), "the length of row [0] is 1", ALL, AT(1));
  CHECK_EQ(error.record, 0);
  CHECK_NOT_INDEXED(structured_sample(lists, rows), "index -5", AT(-5));
  CHECK_NOT_INDEXED(structured_sample("list<list<int8>>", "[[1]] [[2], []]"), "row [1][1] is 0",
                    ALL, ALL, AT(0));
  CHECK_NOT_INDEXED(structured_sample(lists, rows), "too many indices: item 2", AT(0), AT(0),
                    AT(0));
  CHECK_NOT_INDEXED(structured_sample(lists, rows), "both '...'", DOTS, DOTS);
}

TEST(slices) {
  structured_check(INDEX(structured_sample(lists, rows), SLICE(1, 3, 1)), false, lists,
                   "[2, 3] null");
  structured_check(INDEX(structured_sample(lists, rows), ALL, SLICE(CST_INDEX_OPEN, 2, 1)), false,
                   "large_list<int32>", "[1] [2, 3] null [null, 5]");
  structured_check(INDEX(structured_sample(lists, rows), SLICE(3, CST_INDEX_OPEN, -2),
                         SLICE(CST_INDEX_OPEN, CST_INDEX_OPEN, -2)),
                   false, "large_list<int32>", "[6, null] [3]");
  structured_check(INDEX(structured_sample("large_list<list<string>>", "[['a', 'b'], []] [['c']]"),
                         DOTS, SLICE(CST_INDEX_OPEN, CST_INDEX_OPEN, INT64_MIN)),
                   false, "large_list<large_list<string>>", "[['b'], []] [['c']]");
}

TEST(sizes_that_are_fixed_stay_so) {
  static const char type[] = "fixed_list<int8>[3]";
  structured_check(INDEX(structured_sample(type, "[1, 2, 3] [4, 5, 6]"), ALL,
                         SLICE(CST_INDEX_OPEN, CST_INDEX_OPEN, 2)),
                   false, "fixed_list<int8>[2]", "[1, 3] [4, 6]");
  structured_check(INDEX(structured_sample(type, "[1, 2, 3] null"), ALL, SLICE(1, 2, 1)), false,
                   "large_list<int8>", "[2] null");
  structured_check(INDEX(structured_sample(type, "[1, 2, 3] null"), ALL, AT(1)), false, "int8",
                   "2 null");
  structured_check(INDEX(structured_sample(type, "[1, 2, 3]"), NEW_AXIS, AT(0), ALL, NEW_AXIS),
                   false, "fixed_list<fixed_list<int8>[1]>[3]", "[[1], [2], [3]]");
}

TEST(sliced_arrays_and_shared_views) {
  cst_array *whole = array_sample(lists, "[9] [1] [2, 3] null [4]");
  cst_array *part = NULL;
  CHECK_EQ(cst_array_slice(whole, 1, 3, &part, NULL), CST_OK);
  cst_array_release(whole);
  structured_check(INDEX(structured_of(part, false), ALL, SLICE(-1, CST_INDEX_OPEN, 1)), false,
                   "large_list<int32>", "[1] [3] null");
  structured_check(INDEX(structured_of(array_of_list_views(8), false), ALL, SLICE(0, 1, 1)), false,
                   "large_list<int32>", "[3] null [1] [] [2] [1]");
}

TEST(names) {
  static const char *const y[] = {"y"};
  static const char *const x[] = {"x"};
  static const cst_path path_y = {y, 1};
  static const cst_path path_x = {x, 1};
  static const char type[] = "list<struct{x: int8, y: list<int8>}>";
  static const char text[] = "[{1, [1, 2]}, {2, [3]}] [{3, [4]}]";
  structured_check(INDEX(structured_sample(type, text), AT(0), NAME(&path_y), ALL, AT(0)), false,
                   "int8", "1 3");
  structured_check(INDEX(structured_sample(type, text), NAME(&path_x), AT(-1)), true, "list<int8>",
                   "[3]");
  structured_check(INDEX(structured_sample(type, text),
                         {.kind = CST_INDEX_NAMES, .paths = &path_x, .num_paths = 1}, AT(1)),
                   true, "list<struct{x: int8}>", "[{3}]");
  CHECK_NOT_INDEXED(structured_sample(type, text), "the items before 'y'", AT(0), AT(0), AT(0),
                    NAME(&path_y));
}

TEST(arrays) {
  cst_structured *at = structured_sample("int8", "3 null 0");
  cst_structured *mask = structured_sample("bool", "true null false true");
  cst_structured *zeros = structured_sample("fixed_list<uint64>[1]", "[0] [0]");
  cst_structured *ragged = structured_sample("list<int64>", "[0] [0, 0]");
  cst_structured *pair = structured_sample("int32", "0 0");
  structured_check(INDEX(structured_sample(lists, rows), BY(at)), false, lists,
                   "[null, 5, 6] null [1]");
  structured_check(INDEX(structured_sample(lists, rows), BY(mask)), false, lists,
                   "[1] [null, 5, 6]");
  structured_check(INDEX(structured_sample(lists, rows), BY(at), BY(zeros)), false,
                   "fixed_list<int32>[3]", "[null, null, 1] [null, null, 1]");
  structured_check(INDEX(structured_sample(lists, rows), BY(mask), AT(0)), false, "int32",
                   "1 null");
  structured_check(
      INDEX(structured_sample("list<list<int8>>", "[[1], [2]]"), BY(zeros), ALL, AT(0)), false,
      "fixed_list<large_list<int8>>[1]", "[[1, 2]] [[1, 2]]");
  CHECK_NOT_INDEXED(structured_sample(lists, "[1]"), "is 1, not 4", BY(mask));
  CHECK_NOT_INDEXED(structured_sample(lists, rows), "differ in length", BY(ragged));
  CHECK_NOT_INDEXED(structured_sample(lists, rows), "(3,) and (2,)", BY(at), BY(pair));
  cst_structured_release(at);
  cst_structured_release(mask);
  cst_structured_release(zeros);
  cst_structured_release(ragged);
  cst_structured_release(pair);
}

TEST(row_by_row) {
  cst_structured *mask =
      structured_sample("list<bool>", "[true] [false, true] null [null, false, true]");
  cst_structured *at = structured_sample("list<int16>", "[0, 0] [-1] [] [null, 2]");
  cst_structured *short_one = structured_sample("list<bool>", "[] [] [] []");
  structured_check(INDEX(structured_sample(lists, rows), BY_ROW(mask)), false, "large_list<int32>",
                   "[1] [3] null [6]");
  structured_check(INDEX(structured_sample(lists, rows), BY_ROW(at)), false, "large_list<int32>",
                   "[1, 1] [3] null [null, 6]");
  CHECK_NOT_INDEXED(structured_sample(lists, rows), "row [0] in dimension 1 is 1, not 0",
                    BY_ROW(short_one));
  CHECK_NOT_INDEXED(structured_sample("list<list<int8>>", "[[1]]"), "in one key", BY_ROW(short_one),
                    BY(at));
  cst_structured_release(mask);
  cst_structured_release(at);
  cst_structured_release(short_one);
}

TEST(choosing) {
  cst_structured *tensor = structured_sample(lists, rows);
  cst_structured *at = structured_sample("int8", "1 0");
  cst_structured *batch = structured_sample(lists, "[0] [1, 1] [] [-1]");
  cst_structured *mask =
      structured_sample("list<bool>", "[true] [false, true] null [true, null, true]");
  cst_structured *coordinates = structured_sample("fixed_list<int64>[2]", "[1, 1] [2, 0]");
  cst_structured *zero = structured_row("int32", "0");
  cst_structured *out = NULL;
  static const int axes[] = {-1, 0};
  CHECK_EQ(cst_structured_gather(tensor, at, 0, 0, &out, NULL), CST_OK);
  structured_check(out, false, lists, "[2, 3] [1]");
  CHECK_EQ(cst_structured_gather(tensor, batch, 1, 1, &out, NULL), CST_OK);
  structured_check(out, false, "large_list<int32>", "[1] [3, 3] null [6]");
  CHECK_EQ(cst_structured_gather_nd(tensor, coordinates, 0, &out, NULL), CST_OK);
  structured_check(out, false, "int32", "3 null");
  CHECK_EQ(cst_structured_boolean_mask(tensor, mask, 0, &out, NULL), CST_OK);
  structured_check(out, false, "int32", "1 3 null 6");
  CHECK_EQ(cst_structured_reverse(tensor, axes, 2, &out, NULL), CST_OK);
  structured_check(out, false, "large_list<int32>", "[6, 5, null] null [3, 2] [1]");
  CHECK_EQ(cst_structured_where(mask, tensor, zero, &out, NULL), CST_OK);
  structured_check(out, false, "large_list<int32>", "[1] [0, 3] null [null, null, 6]");
  CHECK_EQ(cst_structured_mask(tensor, mask, &out, NULL), CST_OK);
  structured_check(out, false, "large_list<int32>", "[1] [null, 3] null [null, null, 6]");
  CHECK_EQ(cst_structured_true_places(mask, &out, NULL), CST_OK);
  structured_check(out, false, "fixed_list<int64>[2]", "[0, 0] [1, 1] [3, 0] [3, 2]");
  CHECK_EQ(cst_structured_gather(tensor, mask, 0, 0, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_where(tensor, tensor, zero, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_boolean_mask(tensor, at, 0, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_mask(tensor, at, &out, NULL), CST_INVALID_ARGUMENT);
  cst_structured_release(tensor);
  cst_structured_release(at);
  cst_structured_release(batch);
  cst_structured_release(mask);
  cst_structured_release(coordinates);
  cst_structured_release(zero);
}

typedef struct failing {
  cst_structured *tensor;
  cst_structured *at;
  cst_structured *mask;
  cst_structured *true_rows;
} failing;

static int index_much(void *context) {
  const failing *f = context;
  const cst_index_item keys[][3] = {
      {ALL, SLICE(0, 2, 1), NEW_AXIS},   {ALL, NEW_AXIS, SLICE(CST_INDEX_OPEN, CST_INDEX_OPEN, -1)},
      {BY(f->at), NEW_AXIS, AT(0)},      {BY(f->true_rows), BY(f->at), DOTS},
      {BY_ROW(f->mask), DOTS, NEW_AXIS}, {SLICE(0, 2, 1), AT(0), DOTS}};
  static const int axis = 1;
  cst_status status = CST_OK;
  cst_structured *out = NULL;
  for (size_t i = 0; i < sizeof keys / sizeof *keys && status == CST_OK; i++) {
    status = cst_structured_index(f->tensor, keys[i], 3, &out, NULL);
    cst_structured_release(out);
  }
  if (status == CST_OK) {
    status = cst_structured_boolean_mask(f->tensor, f->mask, 0, &out, NULL);
    cst_structured_release(out);
  }
  if (status == CST_OK) {
    status = cst_structured_mask(f->tensor, f->mask, &out, NULL);
    cst_structured_release(out);
  }
  if (status == CST_OK) {
    status = cst_structured_reverse(f->tensor, &axis, 1, &out, NULL);
    cst_structured_release(out);
  }
  if (status == CST_OK) {
    status = cst_structured_gather(f->tensor, f->at, 0, 0, &out, NULL);
    cst_structured_release(out);
  }
  if (status == CST_OK) {
    status = cst_structured_where(f->mask, f->tensor, f->tensor, &out, NULL);
    cst_structured_release(out);
  }
  if (status == CST_OK) {
    status = cst_structured_true_places(f->mask, &out, NULL);
    cst_structured_release(out);
  }
  return status;
}

TEST(allocations_may_fail) {
  failing f = {
      structured_sample("list<struct{x: int8, y: string}>", "[{1, 'a'}, {2, 'b'}] [{3, 'c'}] null"),
      structured_sample("int8", "0"), structured_sample("list<bool>", "[true, null] [false] null"),
      structured_sample("bool", "true false null")};
  FOR_EACH_ALLOCATION_FAILURE(index_much, &f, CST_NO_MEMORY);
  cst_structured_release(f.tensor);
  cst_structured_release(f.at);
  cst_structured_release(f.mask);
  cst_structured_release(f.true_rows);
}
