/* Specs that a caller describes, and specs written into a schema.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "schema/schema.h"

/* ---- specs of every kind ---- */

static const int64_t dims_2_3[] = {2, 3};
static const int64_t dims_open[] = {-1, 10};
static const char *const x_path[] = {"x"};
static const char *const s_path[] = {"s", "v"};
static const char *const i_j[] = {"i", "j"};
static const cst_partition parts[] = {{"n", 0}, {NULL, 4}};

#define DENSE(n)                                                                  \
  {                                                                               \
    .name = n, .kind = CST_TENSOR_DENSE, .dtype = CST_DTYPE_INT64, .num_dims = 2, \
    .dims = dims_2_3, .has_default = true, .default_int = -7, .is_explicit = true \
  }
#define VARLEN(n) \
  { .name = n, .kind = CST_TENSOR_VARLEN_SPARSE, .dtype = CST_DTYPE_FLOAT32 }
#define SPARSE(n)                                                                           \
  {                                                                                         \
    .name = n, .kind = CST_TENSOR_SPARSE, .dtype = CST_DTYPE_BYTES, .num_dims = 2,          \
    .dims = dims_open, .num_index_columns = 2, .index_columns = i_j, .already_sorted = true \
  }
#define RAGGED(n)                                                                                 \
  {                                                                                               \
    .name = n, .kind = CST_TENSOR_RAGGED, .dtype = CST_DTYPE_BYTES, .num_path_steps = 2,          \
    .path = s_path, .num_partitions = 2, .partitions = parts, .row_splits_dtype = CST_DTYPE_INT32 \
  }

static cst_specs *specs_of(const cst_tensor_spec *items, size_t count) {
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_specs_from(items, count, NULL, &specs, &error);
  if (status != CST_OK) printf("%s: %s\n", error.path, error.message);
  CHECK_EQ(status, CST_OK);
  return specs;
}

TEST(everything_is_copied_and_sorted) {
  char name[] = "d";
  int64_t dims[] = {2, 3};
  cst_tensor_spec dense = DENSE("");
  dense.name = name;
  dense.dims = dims;
  const cst_tensor_spec items[] = {VARLEN("z"), RAGGED("r"), dense, SPARSE("c")};
  cst_specs *specs = specs_of(items, 4);
  name[0] = '?';
  dims[0] = -5;
  CHECK_EQ(cst_specs_num_specs(specs), 4);
  const cst_tensor_spec *c = cst_specs_get(specs, 0);
  const cst_tensor_spec *d = cst_specs_get(specs, 1);
  const cst_tensor_spec *r = cst_specs_get(specs, 2);
  const cst_tensor_spec *z = cst_specs_get(specs, 3);
  CHECK_STR(d->name, "d");
  CHECK_EQ(d->num_path_steps, 1);
  CHECK_STR(d->path[0], "d"); /* the column is the name where none is given */
  CHECK_EQ(d->dims[0], 2);
  CHECK_EQ(d->default_int, -7);
  CHECK(d->has_default && d->is_explicit && !z->is_explicit);
  CHECK_EQ(c->num_index_columns, 2);
  CHECK_STR(c->index_columns[1], "j");
  CHECK_EQ(c->dims[0], -1);
  CHECK(c->already_sorted);
  CHECK_STR(r->path[1], "v");
  CHECK_STR(r->partitions[0].row_length_column, "n");
  CHECK_EQ(r->partitions[1].uniform_length, 4);
  CHECK_EQ(r->row_splits_dtype, CST_DTYPE_INT32);
  CHECK_EQ(z->kind, CST_TENSOR_VARLEN_SPARSE);
  CHECK_STR(z->reason, "Given by the caller.");
  cst_specs_release(specs);
}

TEST(fields_are_copied_and_sorted) {
  const cst_tensor_spec inner[] = {VARLEN("b"), VARLEN("a")};
  const cst_tensor_spec fields[] = {
      DENSE("y"), {.name = "in", .kind = CST_TENSOR_STRUCTURED, .num_fields = 2, .fields = inner}};
  const cst_tensor_spec item = {
      .name = "s", .kind = CST_TENSOR_STRUCTURED, .num_fields = 2, .fields = fields};
  cst_specs *specs = specs_of(&item, 1);
  const cst_tensor_spec *s = cst_specs_get(specs, 0);
  CHECK_EQ(s->num_fields, 2);
  CHECK_STR(s->fields[0].name, "in");
  CHECK_STR(s->fields[0].fields[0].name, "a");
  CHECK_STR(s->fields[1].path[0], "y");
  CHECK_EQ(s->dtype, CST_DTYPE_NONE);
  cst_specs_release(specs);
}

TEST(no_specs_are_a_list) {
  cst_specs *specs = specs_of(NULL, 0);
  CHECK_EQ(cst_specs_num_specs(specs), 0);
  cst_specs_release(specs);
}

/* ---- refusals ---- */

static const int64_t negative[] = {2, -1};
static const int64_t below[] = {1, -2};
static const int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40};
static const char *const hole[] = {"i", NULL};
static const char *const bad_utf8[] = {"\xff"};
static const cst_partition empty_rows[] = {{NULL, 0}};
static const cst_partition bad_lengths[] = {{"\xc3", 0}};
static const cst_tensor_spec bad_field[] = {{.name = "f", .kind = CST_TENSOR_DENSE}};

static const struct {
  cst_tensor_spec spec;
  const char *path;
  const char *message;
} refused[] = {
    {{.kind = CST_TENSOR_DENSE, .dtype = CST_DTYPE_INT64}, "", "the name of a tensor is missing"},
    {{.name = "\xff", .kind = CST_TENSOR_DENSE}, "", "not valid UTF-8"},
    {{.name = "t", .kind = (cst_tensor_kind)9}, "t", "unknown kind of tensor 9"},
    {{.name = "t", .kind = CST_TENSOR_DENSE}, "t", "values of type none"},
    {{.name = "t", .kind = CST_TENSOR_DENSE, .dtype = CST_DTYPE_INT64, .num_dims = 2},
     "t",
     "the shape is missing"},
    {{.name = "t",
      .kind = CST_TENSOR_DENSE,
      .dtype = CST_DTYPE_INT64,
      .num_dims = 2,
      .dims = negative},
     "t",
     "dim 1 of the shape has the size -1"},
    {{.name = "t", .kind = CST_TENSOR_DENSE, .dtype = CST_DTYPE_INT64, .num_dims = 2, .dims = huge},
     "t",
     "more than 63 bits"},
    {{.name = "t",
      .kind = CST_TENSOR_DENSE,
      .dtype = CST_DTYPE_BYTES,
      .has_default = true,
      .default_bytes = {NULL, 3}},
     "t",
     "the default's bytes are missing"},
    {{.name = "t", .kind = CST_TENSOR_VARLEN_SPARSE, .dtype = CST_DTYPE_INT64, .num_path_steps = 1},
     "t",
     "the path of the value column is missing"},
    {{.name = "t",
      .kind = CST_TENSOR_VARLEN_SPARSE,
      .dtype = CST_DTYPE_INT64,
      .num_path_steps = 1,
      .path = bad_utf8},
     "t",
     "the path of the value column is not valid UTF-8"},
    {{.name = "t",
      .kind = CST_TENSOR_SPARSE,
      .dtype = CST_DTYPE_INT64,
      .num_dims = 1,
      .dims = dims_open},
     "t",
     "0 index columns, and its shape 1 dims"},
    {{.name = "t", .kind = CST_TENSOR_DENSE, .dtype = (cst_dtype)13}, "t", "values of type"},
    {{.name = "t",
      .kind = CST_TENSOR_SPARSE,
      .dtype = CST_DTYPE_INT64,
      .num_index_columns = 2,
      .index_columns = i_j},
     "t",
     "2 index columns, and its shape 0 dims"},
    {{.name = "t",
      .kind = CST_TENSOR_SPARSE,
      .dtype = CST_DTYPE_INT64,
      .num_index_columns = 2,
      .index_columns = i_j,
      .num_dims = 2,
      .dims = below},
     "t",
     "dim 1 of the shape has the size -2"},
    {{.name = "t",
      .kind = CST_TENSOR_SPARSE,
      .dtype = CST_DTYPE_INT64,
      .num_index_columns = 2,
      .index_columns = hole,
      .num_dims = 2,
      .dims = dims_open},
     "t",
     "the name of an index column is missing"},
    {{.name = "t",
      .kind = CST_TENSOR_RAGGED,
      .dtype = CST_DTYPE_INT64,
      .row_splits_dtype = CST_DTYPE_FLOAT32},
     "t",
     "row splits of type float32"},
    {{.name = "t", .kind = CST_TENSOR_RAGGED, .dtype = CST_DTYPE_INT64, .num_partitions = 1},
     "t",
     "the partitions are missing"},
    {{.name = "t",
      .kind = CST_TENSOR_RAGGED,
      .dtype = CST_DTYPE_INT64,
      .num_partitions = 1,
      .partitions = empty_rows},
     "t",
     "a uniform row length is 0, expected 1 or more"},
    {{.name = "t",
      .kind = CST_TENSOR_RAGGED,
      .dtype = CST_DTYPE_INT64,
      .num_partitions = 1,
      .partitions = bad_lengths},
     "t",
     "the name of a row_length column is not valid UTF-8"},
    {{.name = "t", .kind = CST_TENSOR_STRUCTURED}, "t", "the structured tensor has no fields"},
    {{.name = "t", .kind = CST_TENSOR_STRUCTURED, .num_fields = 1, .fields = bad_field},
     "t.f",
     "values of type none"},
};

TEST(what_no_schema_could_say_is_refused) {
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    cst_specs *specs = NULL;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_specs_from(&refused[i].spec, 1, NULL, &specs, &error), CST_SCHEMA);
    CHECK_CONTAINS(error.message, refused[i].message);
    CHECK_STR(error.path, refused[i].path);
    CHECK(specs == NULL);
  }
}

TEST(names_stand_once) {
  const cst_tensor_spec items[] = {VARLEN("b"), VARLEN("a"), VARLEN("b")};
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_specs_from(items, 3, NULL, &specs, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "two tensors have the same name");
  CHECK_STR(error.path, "b");
}

TEST(structured_tensors_have_an_end) {
  enum { DEPTH = 200 };
  cst_tensor_spec levels[DEPTH];
  levels[0] = (cst_tensor_spec)VARLEN("x");
  for (int i = 1; i < DEPTH; i++) {
    levels[i] = (cst_tensor_spec){
        .name = "s", .kind = CST_TENSOR_STRUCTURED, .num_fields = 1, .fields = &levels[i - 1]};
  }
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_specs_from(&levels[DEPTH - 1], 1, NULL, &specs, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "structured tensors nested deeper than 100");
}

/* ---- into a schema ---- */

static cst_schema *parse(const char *text) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_schema_from_text(text, strlen(text), &schema, &error);
  if (status != CST_OK) printf("%s: %s\n", error.path, error.message);
  CHECK_EQ(status, CST_OK);
  return schema;
}

static void check_text(const cst_schema *schema, const char *expected) {
  char *text;
  size_t size;
  CHECK_EQ(cst_schema_to_text(schema, &text, &size, NULL), CST_OK);
  CHECK_STR(text, expected);
  cst_free(text);
}

static const cst_tensor_spec all_kinds[] = {DENSE("d"), VARLEN("v"), SPARSE("c"), RAGGED("r")};

TEST(a_group_and_its_features_are_written) {
  cst_specs *specs = specs_of(all_kinds, 4);
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_with_specs(NULL, specs, "g", &schema, NULL), CST_OK);
  check_text(
      schema,
      "feature {\n  name: \"c\"\n  type: BYTES\n}\n"
      "feature {\n  name: \"i\"\n  type: INT\n}\n"
      "feature {\n  name: \"j\"\n  type: INT\n}\n"
      "feature {\n  name: \"d\"\n  type: INT\n}\n"
      "feature {\n  name: \"s\"\n  type: STRUCT\n  struct_domain {\n"
      "    feature {\n      name: \"v\"\n      type: BYTES\n    }\n"
      "    feature {\n      name: \"n\"\n      type: INT\n    }\n  }\n}\n"
      "feature {\n  name: \"v\"\n  type: FLOAT\n}\n"
      "tensor_representation_group {\n  key: \"g\"\n  value {\n"
      "    tensor_representation {\n      key: \"c\"\n      value {\n        sparse_tensor {\n"
      "          dense_shape {\n            dim {\n              size: -1\n            }\n"
      "            dim {\n              size: 10\n            }\n          }\n"
      "          index_column_names: \"i\"\n          index_column_names: \"j\"\n"
      "          value_column_name: \"c\"\n          already_sorted: true\n"
      "        }\n      }\n    }\n"
      "    tensor_representation {\n      key: \"d\"\n      value {\n        dense_tensor {\n"
      "          column_name: \"d\"\n          shape {\n            dim {\n"
      "              size: 2\n            }\n            dim {\n              size: 3\n"
      "            }\n          }\n          default_value {\n            int_value: -7\n"
      "          }\n        }\n      }\n    }\n"
      "    tensor_representation {\n      key: \"r\"\n      value {\n        ragged_tensor {\n"
      "          feature_path {\n            step: \"s\"\n            step: \"v\"\n          }\n"
      "          row_partition_dtype: INT32\n          partition {\n"
      "            row_length: \"n\"\n          }\n          partition {\n"
      "            uniform_row_length: 4\n          }\n        }\n      }\n    }\n"
      "    tensor_representation {\n      key: \"v\"\n      value {\n"
      "        varlen_sparse_tensor {\n          column_name: \"v\"\n        }\n      }\n    }\n"
      "  }\n}\n");
  cst_schema_release(schema);
  cst_specs_release(specs);
}

/* What comes out of a view: dtypes of their own, sparse tensors of rank 1. */
TEST(a_group_says_the_families_of_types) {
  static const cst_tensor_spec items[] = {
      {.name = "b",
       .kind = CST_TENSOR_DENSE,
       .dtype = CST_DTYPE_BOOL,
       .has_default = true,
       .default_int = 1},
      {.name = "g",
       .kind = CST_TENSOR_DENSE,
       .dtype = CST_DTYPE_FLOAT64,
       .has_default = true,
       .default_float = 0.5F},
      {.name = "i", .kind = CST_TENSOR_SPARSE, .dtype = CST_DTYPE_UINT8},
  };
  cst_specs *specs = specs_of(items, 3);
  cst_specs *read = NULL;
  cst_schema *schema = NULL;
  CHECK_EQ(cst_specs_get(specs, 0)->dtype, CST_DTYPE_BOOL);
  CHECK_EQ(cst_specs_get(specs, 0)->default_int, 1);
  CHECK_EQ(cst_specs_get(specs, 1)->dtype, CST_DTYPE_FLOAT64);
  CHECK_EQ(cst_specs_get(specs, 2)->dtype, CST_DTYPE_UINT8);
  CHECK_EQ(cst_schema_with_specs(NULL, specs, NULL, &schema, NULL), CST_OK);
  check_text(
      schema,
      "feature {\n  name: \"b\"\n  type: INT\n  bool_domain {\n  }\n}\n"
      "feature {\n  name: \"g\"\n  type: FLOAT\n}\n"
      "feature {\n  name: \"i\"\n  type: INT\n}\n"
      "tensor_representation_group {\n  key: \"\"\n  value {\n"
      "    tensor_representation {\n      key: \"b\"\n      value {\n        dense_tensor {\n"
      "          column_name: \"b\"\n          default_value {\n            int_value: 1\n"
      "          }\n        }\n      }\n    }\n"
      "    tensor_representation {\n      key: \"g\"\n      value {\n        dense_tensor {\n"
      "          column_name: \"g\"\n          default_value {\n            float_value: 0.5\n"
      "          }\n        }\n      }\n    }\n"
      "    tensor_representation {\n      key: \"i\"\n      value {\n        sparse_tensor {\n"
      "          dense_shape {\n          }\n          value_column_name: \"i\"\n"
      "        }\n      }\n    }\n  }\n}\n");
  CHECK_EQ(cst_specs_new(schema, NULL, &read, NULL), CST_OK);
  CHECK_EQ(cst_specs_get(read, 0)->dtype, CST_DTYPE_INT64);
  CHECK_EQ(cst_specs_get(read, 2)->kind, CST_TENSOR_SPARSE);
  CHECK_EQ(cst_specs_get(read, 2)->num_index_columns, 0);
  cst_specs_release(read);
  cst_schema_release(schema);
  cst_specs_release(specs);
}

TEST(a_group_takes_the_place_of_one_of_its_name) {
  static const char text[] =
      "feature { name: 'x' type: INT value_count { min: 1 } } "
      "tensor_representation_group { key: '' value { tensor_representation { key: 'old' value { "
      "varlen_sparse_tensor { column_name: 'x' } } } } } "
      "tensor_representation_group { key: 'other' value { tensor_representation { key: 'o' value { "
      "varlen_sparse_tensor { column_name: 'x' } } } } } 900: 5";
  const cst_tensor_spec item = {.name = "new",
                                .kind = CST_TENSOR_DENSE,
                                .dtype = CST_DTYPE_INT64,
                                .num_path_steps = 1,
                                .path = x_path};
  cst_specs *specs = specs_of(&item, 1);
  cst_specs *read = NULL;
  cst_schema *before = parse(text);
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_with_specs(before, specs, NULL, &schema, NULL), CST_OK);
  check_text(schema, "feature {\n  name: \"x\"\n  value_count {\n    min: 1\n  }\n  type: INT\n}\n"
                     "tensor_representation_group {\n  key: \"\"\n  value {\n"
                     "    tensor_representation {\n      key: \"new\"\n      value {\n"
                     "        dense_tensor {\n          column_name: \"x\"\n"
                     "        }\n      }\n    }\n  }\n}\n"
                     "tensor_representation_group {\n  key: \"other\"\n  value {\n"
                     "    tensor_representation {\n      key: \"o\"\n      value {\n"
                     "        varlen_sparse_tensor {\n          column_name: \"x\"\n        }\n"
                     "      }\n    }\n  }\n}\n900: 5\n");
  CHECK_EQ(cst_specs_new(schema, NULL, &read, NULL), CST_OK);
  CHECK_EQ(cst_specs_num_specs(read), 1);
  cst_specs_release(read);
  cst_schema_release(schema);
  cst_schema_release(before);
  cst_specs_release(specs);
}

TEST(structured_tensors_are_written_by_their_columns) {
  const cst_tensor_spec dense = {.name = "a",
                                 .kind = CST_TENSOR_DENSE,
                                 .dtype = CST_DTYPE_FLOAT32,
                                 .num_dims = 2,
                                 .dims = dims_2_3};
  const cst_tensor_spec leaf = {.name = "v",
                                .kind = CST_TENSOR_RAGGED,
                                .dtype = CST_DTYPE_INT64,
                                .num_path_steps = 2,
                                .path = s_path};
  const cst_tensor_spec fields[] = {
      dense,
      VARLEN("b"),
      {.name = "s", .kind = CST_TENSOR_STRUCTURED, .num_fields = 1, .fields = &leaf}};
  const cst_tensor_spec item = {
      .name = "t", .kind = CST_TENSOR_STRUCTURED, .num_fields = 3, .fields = fields};
  cst_specs *specs = specs_of(&item, 1);
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_schema_with_specs(NULL, specs, NULL, &schema, &error);
  if (status != CST_OK) printf("%s: %s\n", error.path, error.message);
  CHECK_EQ(status, CST_OK); /* what was written has been read again and compared */
  cst_schema_release(schema);
  cst_specs_release(specs);
}

/* ---- what a schema cannot say ---- */

typedef struct unsaid {
  cst_tensor_spec spec;
  cst_status status;
  const char *message;
} unsaid;

TEST(what_the_schema_cannot_say_is_refused) {
  static const char schema_text[] = "feature { name: 'x' type: BYTES }";
  static const char *const empty[] = {""};
  const cst_tensor_spec sparse = SPARSE("c");
  const unsaid cases[] = {
      {{.name = "t",
        .kind = CST_TENSOR_DENSE,
        .dtype = CST_DTYPE_INT64,
        .num_path_steps = 1,
        .path = x_path},
       CST_SCHEMA,
       "the column 'x' is BYTES, not INT"},
      {{.name = "t",
        .kind = CST_TENSOR_DENSE,
        .dtype = CST_DTYPE_INT64,
        .num_path_steps = 2,
        .path = s_path},
       CST_UNSUPPORTED,
       "a path of 2 steps"},
      {{.name = "t", .kind = CST_TENSOR_STRUCTURED, .num_fields = 1, .fields = &sparse},
       CST_UNSUPPORTED,
       "a schema cannot describe this tensor"},
      {{.name = "t",
        .kind = CST_TENSOR_DENSE,
        .dtype = CST_DTYPE_INT64,
        .num_path_steps = 1,
        .path = empty},
       CST_SCHEMA,
       "has no column_name"},
  };
  cst_schema *schema = parse(schema_text);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cst_specs *specs = specs_of(&cases[i].spec, 1);
    cst_schema *made = NULL;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_schema_with_specs(schema, specs, NULL, &made, &error), cases[i].status);
    CHECK_CONTAINS(error.message, cases[i].message);
    CHECK_STR(error.path, "t");
    CHECK(made == NULL);
    cst_specs_release(specs);
  }
  cst_schema_release(schema);
}

TEST(an_expanded_any_is_kept) {
  cst_schema *before = parse("feature { name: 'x' type: INT annotation { extra_metadata { "
                             "[type.googleapis.com/a.B] { c: 1 } } } }");
  cst_specs *specs = specs_of(NULL, 0);
  cst_schema *schema = NULL;
  char *text;
  size_t size;
  CHECK_EQ(cst_schema_with_specs(before, specs, NULL, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_to_text(schema, &text, &size, NULL), CST_OK);
  CHECK_CONTAINS(text, "[type.googleapis.com/a.B]");
  cst_free(text);
  cst_schema_release(schema);
  cst_schema_release(before);
  cst_specs_release(specs);
}

/* ---- memory and arguments ---- */

static int from_and_with(void *context) {
  cst_specs *specs = NULL;
  cst_schema *schema = NULL;
  cst_status status = cst_specs_from(all_kinds, 4, NULL, &specs, NULL);
  if (status == CST_OK) {
    status = cst_schema_with_specs(context, specs, "g", &schema, NULL);
  }
  cst_schema_release(schema);
  cst_specs_release(specs);
  return (int)status;
}

TEST(out_of_memory) {
  cst_schema *schema = parse("feature { name: 'x' type: INT }");
  FOR_EACH_ALLOCATION_FAILURE(from_and_with, schema, CST_NO_MEMORY);
  cst_schema_release(schema);
}

TEST(missing_arguments) {
  cst_specs *specs = specs_of(NULL, 0);
  cst_specs *none = NULL;
  cst_schema *schema = NULL;
  CHECK_EQ(cst_specs_from(NULL, 1, NULL, &none, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_specs_from(all_kinds, 1, NULL, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_with_specs(NULL, NULL, NULL, &schema, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_schema_with_specs(NULL, specs, NULL, NULL, NULL), CST_INVALID_ARGUMENT);
  cst_specs_release(specs);
}
