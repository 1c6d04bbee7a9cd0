/* Pairs of columns, and what correlations say of them: nulls, families, merges, bytes, memory. */
#include <columnstone/sketch.h>
#include <math.h>
#include <string.h>

#include "arrow_text.h"

static cst_sketch *new_sketch(void) {
  cst_sketch *made;
  CHECK_EQ(cst_sketch_new("correlation", NULL, 0, NULL, &made, NULL), CST_OK);
  return made;
}

static cst_status add_text(cst_sketch *sketch, const char *type, const char *pairs,
                           const char *weights, cst_error *error) {
  struct ArrowSchema schema, weights_schema;
  struct ArrowArray array, weights_array;
  arrow_text(type, pairs, &schema, &array);
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

static const char *const doubles = "struct{x: float64, y: float64}";

static cst_correlation tell(const cst_sketch *sketch) {
  cst_correlation told;
  CHECK_EQ(cst_sketch_correlation(sketch, &told, NULL), CST_OK);
  return told;
}

TEST(numbers) {
  cst_sketch *s = new_sketch();
  CHECK_EQ(add_text(s, doubles, "{1, 2} {2, 1} {3, 5} {4, 4}", NULL, NULL), CST_OK);
  cst_correlation told = tell(s);
  CHECK_EQ(told.num_pairs, 4);
  CHECK_DOUBLE(told.weight, 4);
  CHECK_DOUBLE(told.mean_x, 2.5);
  CHECK_DOUBLE(told.mean_y, 3);
  CHECK_DOUBLE(told.variance_x, 1.25);
  CHECK_DOUBLE(told.variance_y, 2.5);
  CHECK_DOUBLE(told.covariance, 1.25);
  CHECK_DOUBLE(told.sample_covariance, 5.0 / 3);
  CHECK(fabs(told.correlation - sqrt(0.5)) < 4.0e-16);
  cst_sketch_free(s);
}

TEST(weights) {
  cst_sketch *s = new_sketch();
  CHECK_EQ(add_text(s, doubles, "{1, 1} {2, 4} {9, 9}", "1 3 0", NULL), CST_OK);
  cst_correlation told = tell(s);
  CHECK_EQ(told.num_pairs, 3);
  CHECK_DOUBLE(told.weight, 4);
  CHECK_DOUBLE(told.mean_x, 1.75);
  CHECK_DOUBLE(told.mean_y, 3.25);
  CHECK_DOUBLE(told.covariance, 6.25 - 1.75 * 3.25);
  CHECK_DOUBLE(told.correlation, 1);
  cst_sketch_free(s);
}

/* Nothing cancels, and numbers of any size have their correlation. */
TEST(far_and_huge) {
  cst_sketch *s = new_sketch();
  CHECK_EQ(add_text(s, doubles, "{1.0e16, -1.0e308} {10000000000000002, -1.1e308}", NULL, NULL),
           CST_OK);
  CHECK_DOUBLE(tell(s).correlation, -1);
  CHECK_DOUBLE(tell(s).variance_x, 1);
  cst_sketch_free(s);
  s = new_sketch();
  CHECK_EQ(add_text(s, doubles, "{1.0e-320, 1.0e300} {2.0e-320, 2.0e300} {3.0e-320, 3.0e300}", NULL,
                    NULL),
           CST_OK);
  CHECK(fabs(tell(s).correlation - 1) < 1.0e-3);
  cst_sketch_free(s);
}

TEST(what_there_is_not) {
  cst_sketch *s = new_sketch();
  CHECK_DOUBLE(tell(s).correlation, (double)NAN);
  CHECK_DOUBLE(tell(s).covariance, (double)NAN);
  CHECK_EQ(add_text(s, doubles, "{1, nan} {inf, 2} {1, 2}", NULL, NULL), CST_OK);
  cst_correlation told = tell(s);
  CHECK_EQ(told.num_pairs, 1);
  CHECK_EQ(told.num_not_finite, 2);
  CHECK_DOUBLE(told.covariance, 0);
  CHECK_DOUBLE(told.sample_covariance, (double)NAN);
  CHECK_DOUBLE(told.correlation, (double)NAN);
  cst_sketch_free(s);
}

TEST(nulls) {
  cst_sketch *s = new_sketch();
  CHECK_EQ(add_text(s, doubles, "{1, 1} null {null, 1} {2, null} {null, null} {3, 5}",
                    "1 9 9 9 9 1", NULL),
           CST_OK);
  CHECK_EQ(cst_sketch_num_values(s), 2);
  CHECK_EQ(cst_sketch_num_nulls(s), 4);
  CHECK_DOUBLE(tell(s).mean_y, 3);
  CHECK_EQ(add_text(s, "struct{x: null, y: int64}", "{null, 1} {null, 2}", NULL, NULL), CST_SCHEMA);
  cst_sketch_free(s);
  s = new_sketch();
  CHECK_EQ(add_text(s, "struct{x: null, y: int64}", "{null, 1} {null, 2}", NULL, NULL), CST_OK);
  CHECK_EQ(cst_sketch_num_nulls(s), 2);
  CHECK_EQ(add_text(s, "struct{x: bool, y: uint64}", "{true, 1} {false, 2}", NULL, NULL),
           CST_SCHEMA);
  CHECK_EQ(add_text(s, "struct{x: bool, y: int8}", "{true, 1} {false, 2}", NULL, NULL), CST_OK);
  CHECK_DOUBLE(tell(s).correlation, -1);
  cst_sketch_free(s);
}

static void check_refused(const char *type, const char *pairs, const char *weights,
                          cst_status status, const char *message) {
  cst_sketch *s = new_sketch();
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(add_text(s, type, pairs, weights, &error), status);
  CHECK_STR(error.message, message);
  CHECK_EQ(cst_sketch_num_values(s), 0);
  CHECK_EQ(add_text(s, doubles, "{1, 2}", NULL, NULL), CST_OK); /* it goes on */
  cst_sketch_free(s);
}

TEST(what_is_refused_changes_nothing) {
  check_refused("int64", "1", NULL, CST_INVALID_ARGUMENT,
                "pairs of values are a struct of two fields, found another type");
  check_refused("struct{x: int64}", "{1}", NULL, CST_INVALID_ARGUMENT,
                "pairs of values are a struct of two fields, found another type");
  check_refused("struct{x: string, y: int64}", "{'a', 1}", NULL, CST_SCHEMA,
                "a sketch of correlation does not take strings or bytes");
  check_refused(doubles, "{1, 1}", "-1", CST_INVALID_ARGUMENT,
                "the weight of row 0 is null, negative or not finite");
  cst_sketch *moments;
  cst_correlation told;
  CHECK_EQ(cst_sketch_new("moments", NULL, 0, NULL, &moments, NULL), CST_OK);
  CHECK_EQ(cst_sketch_correlation(moments, &told, NULL), CST_INVALID_ARGUMENT);
  cst_sketch_free(moments);
}

static void check_same(const cst_sketch *a, const cst_sketch *b) {
  char *x;
  char *y;
  size_t size;
  size_t other;
  CHECK_EQ(cst_sketch_to_bytes(a, &x, &size, NULL), CST_OK);
  CHECK_EQ(cst_sketch_to_bytes(b, &y, &other, NULL), CST_OK);
  CHECK_EQ(size, other);
  CHECK_MEM(x, y, size);
  cst_free(x);
  cst_free(y);
}

TEST(any_order_has_the_same_bytes) {
  cst_sketch *whole = new_sketch();
  cst_sketch *a = new_sketch();
  cst_sketch *b = new_sketch();
  CHECK_EQ(add_text(whole, doubles, "{0.1, 1.0e300} {-3, 1.0e-300} null {nan, 1} {1.0e16, 0.3}",
                    NULL, NULL),
           CST_OK);
  CHECK_EQ(add_text(whole, doubles, "{0.7, 0.1} {5, 6}", "0.1 1.0e300", NULL), CST_OK);
  CHECK_EQ(add_text(a, doubles, "{5, 6} {nan, 1}", "1.0e300 1", NULL), CST_OK);
  CHECK_EQ(add_text(b, doubles, "{1.0e16, 0.3} {0.7, 0.1} {0.1, 1.0e300}", "1 0.1 1", NULL),
           CST_OK);
  CHECK_EQ(add_text(a, doubles, "{-3, 1.0e-300} {null, 1}", NULL, NULL), CST_OK);
  CHECK_EQ(cst_sketch_merge(b, a, NULL), CST_OK);
  check_same(whole, b);
  cst_sketch_free(a);
  cst_sketch_free(b);
  char *bytes;
  size_t size;
  CHECK_EQ(cst_sketch_to_bytes(whole, &bytes, &size, NULL), CST_OK);
  CHECK_EQ(cst_sketch_from_bytes(bytes, size, NULL, &a, NULL), CST_OK);
  check_same(whole, a);
  CHECK_EQ(cst_sketch_num_nulls(a), 1);
  CHECK(cst_sketch_memory(a) < 5000);
  cst_free(bytes);
  cst_sketch_free(a);
  cst_sketch_free(whole);
}

static int one_of_each(void *context) {
  cst_sketch *s = NULL;
  cst_sketch *other = NULL;
  char *bytes = NULL;
  size_t size = 0;
  const struct ArrowSchema *schema = ((void **)context)[0];
  const struct ArrowArray *array = ((void **)context)[1];
  cst_status status = cst_sketch_new("correlation", NULL, 0, NULL, &s, NULL);
  status = status == CST_OK ? cst_sketch_add(s, schema, array, NULL, NULL, NULL) : status;
  status = status == CST_OK ? cst_sketch_to_bytes(s, &bytes, &size, NULL) : status;
  status = status == CST_OK ? cst_sketch_from_bytes(bytes, size, NULL, &other, NULL) : status;
  status = status == CST_OK ? cst_sketch_merge(s, other, NULL) : status;
  cst_free(bytes);
  cst_sketch_free(s);
  cst_sketch_free(other);
  return (int)status;
}

TEST(allocation_failures) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  void *context[] = {&schema, &array};
  arrow_text(doubles, "{0.1, 1.0e300} {-3, 1.0e-300} null {1, 1} {1.0e16, 0.3}", &schema, &array);
  FOR_EACH_ALLOCATION_FAILURE(one_of_each, context, CST_NO_MEMORY);
  array.release(&array);
  schema.release(&schema);
}
