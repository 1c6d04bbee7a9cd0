/* Nested tensors: handles, dimensions, fields by their path. */
#include "structured_support.h"

static void check_shape(cst_structured *tensor, size_t rank, const int64_t *dims) {
  int64_t found[8];
  CHECK_EQ(cst_structured_rank(tensor), rank);
  CHECK_EQ(cst_structured_shape(tensor, found, NULL), CST_OK);
  for (size_t i = 0; i < rank; i++) CHECK_EQ(found[i], dims[i]);
  cst_structured_release(tensor);
}

TEST(shapes) {
  check_shape(structured_sample("int32", "1 2 null"), 1, (int64_t[]){3});
  check_shape(structured_row("int32", "1"), 0, NULL);
  check_shape(structured_sample("list<int32>", "[1, 2] [3, null]"), 2, (int64_t[]){2, 2});
  check_shape(structured_sample("list<int32>", "[1, 2] [3]"), 2, (int64_t[]){2, -1});
  check_shape(structured_sample("list<int32>", "[1, 2] null"), 2, (int64_t[]){2, -1});
  check_shape(structured_sample("list<int32>", ""), 2, (int64_t[]){0, -1});
  check_shape(structured_sample("fixed_list<int32>[2]", ""), 2, (int64_t[]){0, 2});
  check_shape(structured_sample("fixed_list<int32>[2]", "[1, 2] null"), 2, (int64_t[]){2, -1});
  check_shape(structured_row("list<list<int32>>", "[[1, 2], [3, 4], [5, 6]]"), 2,
              (int64_t[]){3, 2});
  check_shape(structured_of(array_of_list_views(4), false), 2, (int64_t[]){6, -1});
  check_shape(structured_of(array_slice_of("list<int32>", "[9] [1, 2] [3, 4]", 1, 2), false), 2,
              (int64_t[]){2, 2});
}

TEST(a_row_is_one) {
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  cst_array *array = array_sample("int32", "1 2");
  CHECK_EQ(cst_structured_new(array, true, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "2 rows");
  CHECK(out == NULL);
  cst_array_release(array);
}

static const char sessions[] =
    "struct{id: int32, event: list<struct{query: string, price: fixed_list<float32>[2]}>}";
static const char session_rows[] =
    "{1, [{'a', [1.0, 2.0]}, {null, null}]} {2, []} {3, null} null {4, [null]}";

static cst_structured *field_of(cst_structured *tensor, const char *a, const char *b) {
  const char *const steps[] = {a, b};
  const cst_path path = {steps, b != NULL ? 2 : 1};
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  cst_structured_field(tensor, &path, &out, &error);
  CHECK_STR(error.message, "");
  return out;
}

TEST(fields) {
  cst_structured *tensor = structured_sample(sessions, session_rows);
  structured_check(field_of(tensor, "id", NULL), false, "int32", "1 2 3 null 4");
  structured_check(field_of(tensor, "event", "query"), false, "list<string>",
                   "['a', null] [] null null [null]");
  structured_check(field_of(tensor, "event", "price"), false, "list<fixed_list<float32>[2]>",
                   "[[1.0, 2.0], null] [] null null [null]");
  cst_structured_release(tensor);
}

TEST(fields_of_slices_and_rows) {
  cst_structured *tensor = structured_of(array_slice_of(sessions, session_rows, 2, 3), false);
  structured_check(field_of(tensor, "event", "query"), false, "list<string>", "null null [null]");
  cst_structured_release(tensor);
  tensor = structured_of(array_slice_of(sessions, session_rows, 0, 1), true);
  structured_check(field_of(tensor, "event", "query"), true, "list<string>", "['a', null]");
  cst_structured_release(tensor);
}

TEST(fields_that_there_are_not) {
  cst_structured *tensor = structured_sample(sessions, session_rows);
  const char *const steps[] = {"event", "querry"};
  cst_path path = {steps, 2};
  cst_error error = CST_ERROR_INIT;
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_field(tensor, &path, &out, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.path, "event.querry");
  CHECK_CONTAINS(error.hint, "query");
  path.steps = (const char *const[]){"id", "x"};
  CHECK_EQ(cst_structured_field(tensor, &path, &out, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.path, "id.x");
  cst_structured_release(tensor);
}

TEST(splits_and_values) {
  cst_structured *tensor = structured_sample("list<list<int32>>", "[[1], [2, 3]] null [] [null]");
  cst_structured *values = NULL;
  cst_array *splits = NULL;
  CHECK_EQ(cst_structured_row_splits(tensor, 0, &splits, NULL), CST_OK);
  check_array(splits, "int64", "0 4");
  CHECK_EQ(cst_structured_row_splits(tensor, 1, &splits, NULL), CST_OK);
  check_array(splits, "int64", "0 2 2 2 3");
  CHECK_EQ(cst_structured_row_splits(tensor, 2, &splits, NULL), CST_OK);
  check_array(splits, "int64", "0 1 3 3");
  CHECK_EQ(cst_structured_row_splits(tensor, 3, &splits, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_flat_values(tensor, &values, NULL), CST_OK);
  structured_check(values, false, "int32", "1 2 3");
  cst_structured_release(tensor);
}

static cst_structured *lengths_of(cst_structured *tensor, int axis) {
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_row_lengths(tensor, axis, &out, NULL), CST_OK);
  cst_structured_release(tensor);
  return out;
}

TEST(lengths_of_rows) {
  static const char type[] = "list<list<int32>>";
  static const char rows[] = "[[1], null, [2, 3]] null []";
  structured_check(lengths_of(structured_sample(type, rows), 0), true, "int64", "3");
  structured_check(lengths_of(structured_sample(type, rows), 1), false, "int64", "3 null 0");
  structured_check(lengths_of(structured_sample(type, rows), -1), false, "large_list<int64>",
                   "[1, null, 2] null []");
  structured_check(lengths_of(structured_row(type, "null"), 1), true, "large_list<int64>", "null");
  structured_check(lengths_of(structured_row(type, "null"), 0), true, "int64", "null");
}

/* ---- memory ---- */

static int look_at_all(void *context) {
  const char *const steps[] = {"event", "price"};
  const cst_path path = {steps, 2};
  cst_structured *tensor = NULL;
  cst_structured *price = NULL;
  cst_structured *values = NULL;
  cst_structured *lengths = NULL;
  cst_array *splits = NULL;
  int64_t dims[3];
  cst_status status = cst_structured_new(context, false, &tensor, NULL);
  if (status == CST_OK) status = cst_structured_field(tensor, &path, &price, NULL);
  if (status == CST_OK) status = cst_structured_shape(price, dims, NULL);
  if (status == CST_OK) status = cst_structured_row_splits(price, 2, &splits, NULL);
  if (status == CST_OK) status = cst_structured_row_lengths(price, 1, &lengths, NULL);
  if (status == CST_OK) status = cst_structured_flat_values(price, &values, NULL);
  cst_array_release(splits);
  cst_structured_release(lengths);
  cst_structured_release(values);
  cst_structured_release(price);
  cst_structured_release(tensor);
  return (int)status;
}

TEST(out_of_memory) {
  cst_array *array = array_sample(sessions, session_rows);
  FOR_EACH_ALLOCATION_FAILURE(look_at_all, array, CST_NO_MEMORY);
  cst_array_release(array);
}
