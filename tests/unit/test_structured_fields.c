/* Fields by their paths, one as a tensor and several as a structured tensor. */
#include <columnstone/structured.h>

#include "array_sample.h"

static const char *const event_type =
    "struct{id: int64, event: list<struct{query: string, price: large_list<float64>}>}";
static const char *const event_rows =
    "{1, [{'a', [1.5, 2.5]}, null, {null, []}]} {2, []} {null, null}";

static cst_structured *sample_tensor(const char *type, const char *rows) {
  cst_structured *tensor;
  cst_array *array = array_sample(type, rows);
  CHECK_EQ(cst_structured_new(array, false, &tensor, NULL), CST_OK);
  cst_array_release(array);
  return tensor;
}

static const char *const names[] = {"q", "number", "all"};
static const char *const query[] = {"event", "query"};
static const char *const id[] = {"id"};
static const char *const price[] = {"event", "price"};
static const cst_path paths[] = {{query, 2}, {id, 1}, {price, 2}};

TEST(several_fields_make_a_struct) {
  cst_structured *tensor = sample_tensor(event_type, event_rows);
  cst_structured *fields;
  CHECK_EQ(cst_structured_fields(tensor, names, paths, 3, &fields, NULL), CST_OK);
  array_sample_check(cst_structured_array(fields),
                     "struct{q: list<string>, number: int64, all: list<large_list<float64>>}",
                     "{['a', null, null], 1, [[1.5, 2.5], null, []]} {[], 2, []} {null, null, "
                     "null}");
  cst_structured_release(fields);
  CHECK_EQ(cst_structured_fields(tensor, NULL, NULL, 0, &fields, NULL), CST_OK);
  array_sample_check(cst_structured_array(fields), "struct{}", "{} {} {}");
  cst_structured_release(fields);
  cst_structured_release(tensor);
}

TEST(dimensions_and_null_structs_stay) {
  const char *inner[] = {"s", "x"};
  const cst_path path = {inner, 2};
  const char *name = "x.s";
  cst_structured *tensor =
      sample_tensor("list<struct{s: struct{x: int64}, y: bool}>",
                    "[{{1}, true}, null, {null, true}] null [] [{{null}, null}]");
  cst_structured *fields;
  CHECK_EQ(cst_structured_rank(tensor), 2);
  CHECK_EQ(cst_structured_fields(tensor, &name, &path, 1, &fields, NULL), CST_OK);
  struct ArrowSchema expected;
  const char *type = "list<struct{xs: int64}>";
  arrow_text_parse_type(&type, &expected);
  CHECK_EQ(ArrowSchemaSetName(expected.children[0]->children[0], "x.s"), 0);
  CHECK(cst__schema_equal(cst_array_schema(cst_structured_array(fields)), &expected));
  ArrowSchemaRelease(&expected);
  cst_structured *leaf;
  const cst_path step = {&name, 1};
  CHECK_EQ(cst_structured_field(fields, &step, &leaf, NULL), CST_OK);
  array_sample_check(cst_structured_array(leaf), "list<int64>", "[1, null, null] null [] [null]");
  cst_structured_release(leaf);
  cst_structured_release(fields);
  cst_structured_release(tensor);
}

TEST(unknown_fields_and_leaf_tensors_are_errors) {
  cst_structured *tensor = sample_tensor(event_type, event_rows);
  cst_structured *fields;
  cst_error error = CST_ERROR_INIT;
  const char *wrong[] = {"event", "prices"};
  const cst_path two[] = {{query, 2}, {wrong, 2}};
  CHECK_EQ(cst_structured_fields(tensor, names, two, 2, &fields, &error), CST_NOT_FOUND);
  CHECK(fields == NULL);
  CHECK_STR(error.path, "event.prices");
  CHECK_STR(error.hint, "did you mean 'price'?");
  CHECK_EQ(cst_structured_fields(tensor, NULL, paths, 2, &fields, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_structured_fields(tensor, names, NULL, 2, &fields, &error), CST_INVALID_ARGUMENT);
  cst_structured_release(tensor);
  tensor = sample_tensor("list<int64>", "[1] null");
  CHECK_EQ(cst_structured_fields(tensor, names, paths, 1, &fields, &error), CST_SCHEMA);
  CHECK_EQ(cst_structured_fields(tensor, NULL, NULL, 0, &fields, &error), CST_SCHEMA);
  cst_structured_release(tensor);
}

static int take_fields(void *context) {
  cst_structured *fields;
  cst_status status = cst_structured_fields(context, names, paths, 3, &fields, NULL);
  cst_structured_release(fields);
  return (int)status;
}

/* Bitmaps are made anew under null structs. */
static int take_field_of_nulls(void *context) {
  cst_structured *field;
  cst_status status = cst_structured_field(context, &paths[2], &field, NULL);
  cst_structured_release(field);
  return (int)status;
}

TEST(fields_need_memory) {
  cst_structured *tensor = sample_tensor(event_type, event_rows);
  FOR_EACH_ALLOCATION_FAILURE(take_fields, tensor, CST_NO_MEMORY);
  cst_structured_release(tensor);
  tensor = sample_tensor(event_type, "null {1, [{'a', [1.5]}, null]}");
  FOR_EACH_ALLOCATION_FAILURE(take_fields, tensor, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(take_field_of_nulls, tensor, CST_NO_MEMORY);
  cst_structured_release(tensor);
}
