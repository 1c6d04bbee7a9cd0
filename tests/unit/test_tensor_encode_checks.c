/* Tensors that a caller describes wrongly, and the specs that tensors ask for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "tensor/encode.h"

static const int64_t two[] = {2};
static const int64_t two_by_two[] = {2, 2};
static const int64_t two_by_three[] = {2, 3};
static const int64_t negative[] = {-1};
static const int64_t endless[] = {INT64_C(1) << 40, INT64_C(1) << 40};
static const int64_t numbers[] = {0, 0, 1, 0, 2, 2};
static const cst_bytes strings[] = {{NULL, 0}, {NULL, 1}};

#define ARRAY(type, dims, rank, count, values) \
  { .dtype = CST_DTYPE_##type, .num_dims = rank, .shape = dims, .size = count, .data = values }
#define INTS(dims, rank, count) ARRAY(INT64, dims, rank, count, numbers)
#define SPEC(tensor_kind, type) \
  { .name = "t", .kind = CST_TENSOR_##tensor_kind, .dtype = CST_DTYPE_##type }

/* ---- arrays that are none ---- */

static const struct {
  cst_ndarray values;
  const char *message;
} arrays[] = {
    {{.dtype = CST_DTYPE_NONE, .num_dims = 1, .shape = two, .size = 2}, "have no type (0)"},
    {{.dtype = (cst_dtype)77, .num_dims = 1, .shape = two, .size = 2}, "have no type (77)"},
    {ARRAY(INT64, NULL, 0, 1, numbers), "the values have no shape"},
    {ARRAY(INT64, NULL, 1, 1, numbers), "the values have no shape"},
    {ARRAY(INT64, negative, 1, -1, numbers), "dim 0 of the values has the size -1"},
    {ARRAY(INT64, endless, 2, 0, numbers), "dim 1 of the values has the size 1099511627776"},
    {ARRAY(INT64, two, 1, 3, numbers), "have the size 3, and a shape of 2 values"},
    {ARRAY(INT64, two, 1, 2, NULL), "the values are missing"},
    {{.dtype = CST_DTYPE_BYTES, .num_dims = 1, .shape = two, .size = 2, .data = numbers},
     "the values are missing"},
    {{.dtype = CST_DTYPE_BYTES, .num_dims = 1, .shape = two, .size = 2, .strings = strings},
     "a string of the values is missing"},
};

static cst_status encode(const cst_tensor_spec *spec, const cst_tensor *tensor, cst_error *error) {
  cst_specs *specs = NULL;
  cst_tensor_encoder *encoder = NULL;
  struct ArrowArray array = {.release = NULL};
  CHECK_EQ(cst_specs_from(spec, 1, NULL, &specs, NULL), CST_OK);
  cst_status status = cst_tensor_encoder_new(specs, NULL, &encoder, error);
  if (status == CST_OK) {
    status = cst_tensor_encoder_encode(encoder, tensor, 1, &array, error);
  }
  CHECK((status == CST_OK) == (array.release != NULL));
  if (array.release != NULL) array.release(&array);
  cst_tensor_encoder_free(encoder);
  cst_specs_release(specs);
  return status;
}

TEST(arrays_that_are_none) {
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    bool is_bytes = arrays[i].values.dtype == CST_DTYPE_BYTES;
    const cst_tensor_spec specs[] = {SPEC(DENSE, INT64), SPEC(DENSE, BYTES)};
    const cst_tensor tensor = {.name = "t", .kind = CST_TENSOR_DENSE, .values = arrays[i].values};
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(encode(&specs[is_bytes], &tensor, &error), CST_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.message, arrays[i].message);
  }
}

TEST(arrays_of_sparse_tensors) {
  const cst_tensor_spec spec = SPEC(VARLEN_SPARSE, INT64);
  const cst_ndarray values = INTS(two, 1, 2);
  const struct {
    cst_tensor tensor;
    cst_status status;
    const char *message;
  } cases[] = {
      {{.indices = ARRAY(INT32, two_by_two, 2, 4, numbers), .dense_shape = INTS(two, 1, 2)},
       CST_INVALID_ARGUMENT,
       "the indices are int32 of 2 dimensions, expected int64 of 2"},
      {{.indices = INTS(two, 1, 2), .dense_shape = INTS(two, 1, 2)},
       CST_INVALID_ARGUMENT,
       "the indices are int64 of 1 dimensions"},
      {{.indices = INTS(two_by_two, 2, 4), .dense_shape = INTS(two_by_two, 2, 4)},
       CST_INVALID_ARGUMENT,
       "the sizes of the dense shape are int64 of 2 dimensions, expected int64 of 1"},
      {{.indices = {.dtype = CST_DTYPE_NONE}, .dense_shape = INTS(two, 1, 2)},
       CST_INVALID_ARGUMENT,
       "the indices have no type"},
      {{.indices = INTS(two_by_three, 2, 6), .dense_shape = INTS(two, 1, 2)},
       CST_SCHEMA,
       "indices of 3 numbers and a dense shape of 2, expected 2"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cst_error error = CST_ERROR_INIT;
    cst_tensor tensor = cases[i].tensor;
    tensor.name = "t";
    tensor.kind = CST_TENSOR_SPARSE;
    tensor.values = values;
    CHECK_EQ(encode(&spec, &tensor, &error), cases[i].status);
    CHECK_CONTAINS(error.message, cases[i].message);
    CHECK_STR(error.path, "t");
  }
}

TEST(row_splits_that_are_missing) {
  const cst_tensor_spec spec = SPEC(RAGGED, INT64);
  const cst_tensor tensor = {
      .name = "t", .kind = CST_TENSOR_RAGGED, .values = INTS(two, 1, 2), .num_splits = 1};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(encode(&spec, &tensor, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "0 row splits, expected one for the rows");
}

TEST(names) {
  const cst_tensor_spec spec = SPEC(DENSE, INT64);
  const cst_tensor tensors[] = {
      {.name = "t", .kind = CST_TENSOR_DENSE, .values = INTS(two, 1, 2)},
      {.name = "t", .kind = CST_TENSOR_DENSE, .values = INTS(two, 1, 2)},
  };
  const cst_tensor nameless = {.kind = CST_TENSOR_DENSE, .values = INTS(two, 1, 2)};
  cst_specs *specs = NULL;
  cst_tensor_encoder *encoder = NULL;
  struct ArrowArray array;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(encode(&spec, &nameless, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "a tensor has no name");
  CHECK_EQ(cst_specs_from(&spec, 1, NULL, &specs, NULL), CST_OK);
  CHECK_EQ(cst_tensor_encoder_new(specs, NULL, &encoder, NULL), CST_OK);
  CHECK_EQ(cst_tensor_encoder_encode(encoder, tensors, 2, &array, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "two tensors have this name");
  cst_tensor_encoder_free(encoder);
  cst_specs_release(specs);
}

/* ---- types that are too deep ---- */

enum { MANY = 200 };

TEST(paths_have_an_end) {
  const char *path[MANY];
  for (size_t i = 0; i < MANY; i++) path[i] = "s";
  const cst_tensor_spec spec = {.name = "t",
                                .kind = CST_TENSOR_RAGGED,
                                .dtype = CST_DTYPE_INT64,
                                .num_path_steps = MANY,
                                .path = path};
  const cst_tensor tensor = {.name = "t"};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(encode(&spec, &tensor, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "a path of 200 steps, more than 95");
}

/* The deepest lists that there may be can be read again. */
TEST(lists_have_an_end) {
  static const int64_t splits[] = {0, 1};
  static const int64_t one[] = {1};
  const cst_tensor_spec spec = SPEC(RAGGED, INT64);
  cst_ndarray levels[MANY];
  for (size_t i = 0; i < MANY; i++) levels[i] = (cst_ndarray)ARRAY(INT64, two, 1, 2, splits);
  cst_tensor tensor = {.name = "t",
                       .kind = CST_TENSOR_RAGGED,
                       .values = INTS(one, 1, 1),
                       .num_splits = 96,
                       .splits = levels};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(encode(&spec, &tensor, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "96 levels of lists, more than 95");
  tensor.num_splits = 95;
  cst_specs *specs = NULL;
  cst_tensor_encoder *encoder = NULL;
  cst_tensor_adapter *adapter = NULL;
  cst_tensors *tensors = NULL;
  struct ArrowArray array;
  struct ArrowSchema schema;
  CHECK_EQ(cst_specs_from(&spec, 1, NULL, &specs, NULL), CST_OK);
  CHECK_EQ(cst_tensor_encoder_new(specs, NULL, &encoder, NULL), CST_OK);
  CHECK_EQ(cst_tensor_encoder_encode(encoder, &tensor, 1, &array, NULL), CST_OK);
  CHECK_EQ(cst_tensor_encoder_arrow_schema(encoder, &schema, NULL), CST_OK);
  CHECK_EQ(cst_tensor_adapter_new(&schema, specs, NULL, &adapter, NULL), CST_OK);
  CHECK_EQ(cst_tensor_adapter_convert(adapter, &array, 0, &tensors, NULL), CST_OK);
  CHECK_EQ(cst_tensors_get(tensors, 0)->num_splits, 95);
  cst_tensors_release(tensors);
  cst_tensor_adapter_free(adapter);
  schema.release(&schema);
  cst_tensor_encoder_free(encoder);
  cst_specs_release(specs);
}

/* ---- the specs of tensors ---- */

static void check_refused(const cst_tensor *tensor, cst_status status, const char *message) {
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_specs_of_tensors(tensor, 1, NULL, &specs, &error), status);
  CHECK_CONTAINS(error.message, message);
  CHECK(specs == NULL);
}

TEST(tensors_that_ask_for_no_spec) {
  static const int64_t two_by_none[] = {2, 0};
  static const int64_t none[] = {0};
  const cst_ndarray values = INTS(two, 1, 2);
  const cst_ndarray splits = INTS(two, 1, 2);
  const struct {
    cst_tensor tensor;
    cst_status status;
    const char *message;
  } cases[] = {
      {{.kind = CST_TENSOR_DENSE, .values = values}, CST_INVALID_ARGUMENT, "has no name"},
      {{.name = "t", .kind = (cst_tensor_kind)9, .values = values},
       CST_INVALID_ARGUMENT,
       "unknown kind of tensor 9"},
      {{.name = "t", .kind = CST_TENSOR_DENSE}, CST_INVALID_ARGUMENT, "the values have no type"},
      {{.name = "t", .kind = CST_TENSOR_RAGGED, .values = values},
       CST_SCHEMA,
       "a ragged tensor without row splits"},
      {{.name = "t", .kind = CST_TENSOR_SPARSE, .values = values},
       CST_INVALID_ARGUMENT,
       "the indices have no type"},
      {{.name = "t",
        .kind = CST_TENSOR_SPARSE,
        .values = values,
        .indices = INTS(two_by_none, 2, 0),
        .dense_shape = INTS(none, 1, 0)},
       CST_SCHEMA,
       "expected as many of both, one"},
      {{.name = "t",
        .kind = CST_TENSOR_RAGGED,
        .values = INTS(two_by_none, 2, 0),
        .num_splits = 1,
        .splits = &splits},
       CST_SCHEMA,
       "a uniform row length is 0"},
      {{.name = "t", .kind = CST_TENSOR_STRUCTURED}, CST_SCHEMA, "has no fields"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_refused(&cases[i].tensor, cases[i].status, cases[i].message);
  }
}

TEST(structured_tensors_have_an_end) {
  cst_tensor levels[MANY];
  levels[0] = (cst_tensor){.name = "t", .kind = CST_TENSOR_DENSE, .values = INTS(two, 1, 2)};
  for (size_t i = 1; i < MANY; i++) {
    levels[i] = (cst_tensor){
        .name = "t", .kind = CST_TENSOR_STRUCTURED, .num_fields = 1, .fields = &levels[i - 1]};
  }
  check_refused(&levels[MANY - 1], CST_SCHEMA, "structured tensors nested deeper than 96");
}

static const cst_ndarray some_splits[] = {INTS(two, 1, 2)};
static const cst_tensor some_fields[] = {
    {.name = "d", .kind = CST_TENSOR_DENSE, .values = INTS(two_by_two, 2, 4)},
    {.name = "s",
     .kind = CST_TENSOR_SPARSE,
     .values = INTS(two, 1, 2),
     .indices = INTS(two_by_three, 2, 6),
     .dense_shape = ARRAY(INT64, (const int64_t[]){3}, 1, 3, &numbers[3])},
    {.name = "r",
     .kind = CST_TENSOR_RAGGED,
     .values = INTS(two_by_two, 2, 4),
     .num_splits = 1,
     .splits = some_splits},
};
static const cst_tensor some = {
    .name = "o", .kind = CST_TENSOR_STRUCTURED, .num_fields = 3, .fields = some_fields};

TEST(fields_lie_in_a_struct_of_the_name) {
  cst_specs *specs = NULL;
  CHECK_EQ(cst_specs_of_tensors(&some, 1, NULL, &specs, NULL), CST_OK);
  const cst_tensor_spec *o = cst_specs_get(specs, 0);
  CHECK_EQ(o->num_fields, 3);
  const cst_tensor_spec *sparse = &o->fields[2];
  CHECK_EQ(sparse->num_path_steps, 2);
  CHECK_STR(sparse->path[0], "o");
  CHECK_STR(sparse->path[1], "s$values");
  CHECK_STR(sparse->index_columns[1], "s$index1");
  CHECK(sparse->already_sorted);
  CHECK_EQ(o->fields[1].partitions[0].uniform_length, 2);
  cst_specs_release(specs);
}

static int specs_of_some(void *context) {
  cst_specs *specs = NULL;
  cst_status status = cst_specs_of_tensors(context, 1, NULL, &specs, NULL);
  cst_specs_release(specs);
  return (int)status;
}

TEST(out_of_memory) {
  cst_tensor tensor = some;
  FOR_EACH_ALLOCATION_FAILURE(specs_of_some, &tensor, CST_NO_MEMORY);
}
