/* Passes over files that give tensors instead of batches. */
#include "source_support.h"
#include "tensor_text.h"

static const char schema_text[] = INT("id") BYTES("name")
    FLOAT("x") "tensor_representation_group { key: '' value {"
               " tensor_representation { key: 'id' value { dense_tensor { column_name: 'id' shape "
               "{ } } } }"
               " tensor_representation { key: 'x' value { dense_tensor { column_name: 'x' shape { }"
               "   default_value { float_value: -1 } } } } } }";

typedef struct opened {
  cst_source *source;
  cst_pass *pass;
  cst_tensor_adapter *adapter;
} opened;

static void open_file(opened *o, const char *path, const char *schema_of, int64_t batch_size) {
  cst_schema *schema;
  cst_specs *specs;
  struct ArrowSchema arrow;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  CHECK_EQ(cst_schema_from_text(schema_of, strlen(schema_of), &schema, NULL), CST_OK);
  options.schema = schema;
  options.batch_size = batch_size;
  CHECK_EQ(cst_source_open(&path, 1, &options, &o->source, NULL), CST_OK);
  CHECK_EQ(cst_source_arrow_schema(o->source, &arrow, NULL), CST_OK);
  CHECK_EQ(cst_source_specs(o->source, &specs, NULL), CST_OK);
  CHECK_EQ(cst_tensor_adapter_new(&arrow, specs, NULL, &o->adapter, NULL), CST_OK);
  CHECK_EQ(cst_pass_new(o->source, &o->pass, NULL), CST_OK);
  arrow.release(&arrow);
  cst_specs_release(specs);
  cst_schema_release(schema);
}

static void close_file(opened *o) {
  cst_pass_free(o->pass);
  cst_tensor_adapter_free(o->adapter);
  cst_source_release(o->source);
}

TEST(every_batch_as_tensors) {
  opened o;
  cst_tensors *tensors;
  open_file(&o, write_examples("pass.tfrecord", 0, 5), schema_text, 3);
  CHECK_EQ(cst_pass_next_tensors(o.pass, o.adapter, &tensors, NULL), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(tensors, "id")), "int64[3] 0 1 2");
  CHECK_STR(tensor_text(cst_tensors_find(tensors, "x")), "float32[3] -1 0.5 1");
  CHECK_STR(tensor_text(cst_tensors_find(tensors, "name")),
            "bytes[3] row 0 row 1 row 2 at 0,0 1,0 2,0 of 3 1");
  cst_tensors *first = tensors;
  CHECK_EQ(cst_pass_next_tensors(o.pass, o.adapter, &tensors, NULL), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(tensors, "id")), "int64[2] 3 4");
  cst_tensors_release(tensors);
  CHECK_EQ(cst_pass_next_tensors(o.pass, o.adapter, &tensors, NULL), CST_OK);
  CHECK(tensors == NULL);
  close_file(&o);
  CHECK_STR(tensor_text(cst_tensors_find(first, "id")), "int64[3] 0 1 2");
  cst_tensors_release(first);
}

TEST(a_row_that_does_not_fit) {
  opened o;
  cst_tensors *tensors = NULL;
  cst_error error = CST_ERROR_INIT;
  const char *required = INT("id") BYTES("name") FLOAT(
      "x") "tensor_representation_group { key: '' value { tensor_representation { key: 'x' value {"
           " dense_tensor { column_name: 'x' shape { } } } } } }";
  const char *path = write_examples("row.tfrecord", 1, 6);
  for (int64_t batch_size = 1; batch_size <= 5; batch_size++) {
    open_file(&o, path, required, batch_size);
    for (int64_t i = 0; i < 2 / batch_size; i++) {
      CHECK_EQ(cst_pass_next_tensors(o.pass, o.adapter, &tensors, &error), CST_OK);
      cst_tensors_release(tensors);
      tensors = NULL;
    }
    CHECK_EQ(cst_pass_next_tensors(o.pass, o.adapter, &tensors, &error), CST_SCHEMA);
    CHECK_EQ(error.record, 2); /* within the file, whatever the batch */
    CHECK_STR(error.path, "x");
    CHECK_CONTAINS(error.file, "row.tfrecord");
    CHECK(tensors == NULL);
    close_file(&o);
  }
}

TEST(wrong_arguments) {
  cst_tensors *tensors;
  CHECK_EQ(cst_pass_next_tensors(NULL, NULL, &tensors, NULL), CST_INVALID_ARGUMENT);
}
