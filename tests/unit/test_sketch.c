/* <columnstone/sketch.h>: what values of columns are, weights, families, merging, saved bytes. */
#include <columnstone/sketch.h>

#include "arrow_text.h"

static cst_sketch *new_sketch(void) {
  cst_sketch *made;
  CHECK_EQ(cst_sketch_new("moments", NULL, 0, NULL, &made, NULL), CST_OK);
  return made;
}

static cst_status add_text(cst_sketch *sketch, const char *type, const char *values,
                           const char *weights, cst_error *error) {
  struct ArrowSchema schema, weights_schema;
  struct ArrowArray array, weights_array;
  arrow_text(type, values, &schema, &array);
  if (weights != NULL) {
    arrow_text("float64", weights, &weights_schema, &weights_array);
  }
  cst_status status =
      cst_sketch_add(sketch, &schema, &array, weights != NULL ? &weights_schema : NULL,
                     weights != NULL ? &weights_array : NULL, error);
  if (weights != NULL) {
    weights_array.release(&weights_array);
    weights_schema.release(&weights_schema);
  }
  array.release(&array);
  schema.release(&schema);
  return status;
}

static void check_counts(const char *type, const char *values, int num_values, int num_nulls) {
  cst_sketch *sketch = new_sketch();
  CHECK_EQ(add_text(sketch, type, values, NULL, NULL), CST_OK);
  CHECK_EQ(cst_sketch_num_values(sketch), num_values);
  CHECK_EQ(cst_sketch_num_nulls(sketch), num_nulls);
  cst_sketch_free(sketch);
}

TEST(values_and_nulls) {
  check_counts("int64", "1 2 null 3", 3, 1);
  check_counts("int8", "", 0, 0);
  check_counts("bool", "true null", 1, 1);
  check_counts("float32", "1.5", 1, 0);
  check_counts("list<int64>", "[1, null] null [] [2, 3]", 3, 2);
  check_counts("list<list<float64>>", "[[1, null], null] null [[]]", 1, 3);
  check_counts("fixed_list<int64>[2]", "[1, 2] null", 2, 1);
  check_counts("null", "null null", 0, 2);
}

static void check_failure(cst_sketch *sketch, const char *type, const char *values,
                          const char *weights, cst_status status, const char *message) {
  cst_error error = CST_ERROR_INIT;
  int64_t before = cst_sketch_num_values(sketch);
  CHECK_EQ(add_text(sketch, type, values, weights, &error), status);
  CHECK_STR(error.message, message);
  CHECK_EQ(cst_sketch_num_values(sketch), before);
}

TEST(what_is_refused_changes_nothing) {
  cst_sketch *sketch = new_sketch();
  CHECK_EQ(add_text(sketch, "int32", "1 2", "0.5 0", NULL), CST_OK);
  check_failure(sketch, "float64", "1", NULL, CST_SCHEMA,
                "a sketch of integers cannot take floats as well");
  check_failure(sketch, "string", "'a'", NULL, CST_SCHEMA,
                "a sketch of moments does not take strings or bytes");
  check_failure(sketch, "struct{a: int64}", "{1}", NULL, CST_UNSUPPORTED,
                "cannot count values of type struct<1 fields>: expected numbers, times, "
                "strings or bytes");
  check_failure(sketch, "int64", "1 2", "1", CST_INVALID_ARGUMENT,
                "there are 1 weights for 2 rows");
  check_failure(sketch, "int64", "1 2", "1 -1", CST_INVALID_ARGUMENT,
                "the weight of row 1 is null, negative or not finite");
  check_failure(sketch, "int64", "1 2", "null 1", CST_INVALID_ARGUMENT,
                "the weight of row 0 is null, negative or not finite");
  cst_sketch_free(sketch);
}

TEST(merging) {
  cst_sketch *a = new_sketch();
  cst_sketch *b = new_sketch();
  cst_sketch *c = new_sketch();
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(add_text(a, "int64", "1 null", NULL, NULL), CST_OK);
  CHECK_EQ(add_text(b, "int8", "2", NULL, NULL), CST_OK);
  CHECK_EQ(add_text(c, "float32", "2", NULL, NULL), CST_OK);
  CHECK_EQ(cst_sketch_merge(a, b, NULL), CST_OK);
  CHECK_EQ(cst_sketch_num_values(a), 2);
  CHECK_EQ(cst_sketch_num_nulls(a), 1);
  CHECK_EQ(cst_sketch_merge(a, c, &error), CST_SCHEMA);
  CHECK_EQ(cst_sketch_merge(a, a, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_sketch_merge(a, NULL, &error), CST_INVALID_ARGUMENT);
  cst_sketch_free(a);
  cst_sketch_free(b);
  cst_sketch_free(c);
}

TEST(saved_bytes) {
  cst_sketch *sketch = new_sketch();
  cst_sketch *loaded;
  cst_error error = CST_ERROR_INIT;
  char *bytes;
  size_t size;
  CHECK_EQ(add_text(sketch, "int64", "1 null 5", NULL, NULL), CST_OK);
  CHECK_EQ(cst_sketch_to_bytes(sketch, &bytes, &size, NULL), CST_OK);
  CHECK_EQ(cst_sketch_from_bytes(bytes, size, NULL, &loaded, NULL), CST_OK);
  CHECK_STR(cst_sketch_kind(loaded), "moments");
  CHECK_EQ(cst_sketch_num_values(loaded), 2);
  CHECK_EQ(cst_sketch_num_nulls(loaded), 1);
  CHECK_EQ(add_text(loaded, "float32", "1", NULL, &error), CST_SCHEMA);
  cst_sketch_free(loaded);
  for (size_t i = 0; i < size; i++) {
    CHECK_EQ(cst_sketch_from_bytes(bytes, i, NULL, &loaded, &error), CST_CORRUPT);
    bytes[i] ^= 1;
    CHECK_EQ(cst_sketch_from_bytes(bytes, size, NULL, &loaded, &error), CST_CORRUPT);
    bytes[i] ^= 1;
  }
  cst_free(bytes);
  cst_sketch_free(sketch);
}

TEST(unknown_kinds_and_options) {
  const cst_option option = {"no_such", "1", NULL};
  cst_sketch *made;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_sketch_new("momentz", NULL, 0, NULL, &made, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "unknown sketch 'momentz'");
  CHECK_EQ(cst_sketch_new("moments", &option, 1, NULL, &made, &error), CST_INVALID_ARGUMENT);
  CHECK(made == NULL);
}
