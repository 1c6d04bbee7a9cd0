/* Opens TFRecord files, decodes them with a schema, and walks the tensors of every batch.
 *
 *     cc walk_tensors.c $(pkg-config --cflags --libs columnstone) -o walk_tensors
 *     ./walk_tensors schema.pbtxt trips-*.tfrecord.gz
 */
#include <columnstone/source.h>
#include <columnstone/tensor.h>
#include <inttypes.h>
#include <stdio.h>

static void print_tensor(const cst_tensor *tensor) {
  printf("  %s: %s[", tensor->name, cst_dtype_name(tensor->values.dtype));
  for (size_t i = 0; i < tensor->values.num_dims; i++) printf(" %" PRId64, tensor->values.shape[i]);
  printf(" ], %zu row splits\n", tensor->num_splits);
}

int main(int argc, char **argv) {
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_schema *schema = NULL;
  cst_source *source = NULL;
  cst_specs *specs = NULL;
  cst_tensor_adapter *adapter = NULL;
  cst_pass *pass = NULL;
  cst_tensors *tensors = NULL;
  struct ArrowSchema columns = {.release = NULL};

  if (argc < 3) return fprintf(stderr, "usage: %s SCHEMA FILE...\n", argv[0]), 2;
  cst_status status = cst_schema_open(argv[1], &schema, &error);
  options.schema = schema;
  const char *const *files = (const char *const *)&argv[2];
  if (!status) status = cst_source_open(files, (size_t)argc - 2, &options, &source, &error);
  if (!status) status = cst_source_specs(source, &specs, &error);
  if (!status) status = cst_source_arrow_schema(source, &columns, &error);
  if (!status) status = cst_tensor_adapter_new(&columns, specs, NULL, &adapter, &error);
  if (!status) status = cst_pass_new(source, &pass, &error);
  for (int batch = 0; !status; batch++) {
    status = cst_pass_next_tensors(pass, adapter, &tensors, &error);
    if (status || !tensors) break;
    printf("batch %d\n", batch);
    for (size_t i = 0; i < cst_tensors_num_tensors(tensors); i++)
      print_tensor(cst_tensors_get(tensors, i));
    cst_tensors_release(tensors);
  }

  if (status) {
    char text[4608];
    cst_error_format(&error, text, sizeof text);
    fprintf(stderr, "%s: %s\n", argv[0], text);
  }
  cst_pass_free(pass);
  cst_tensor_adapter_free(adapter);
  if (columns.release) columns.release(&columns);
  cst_specs_release(specs);
  cst_source_release(source);
  cst_schema_release(schema);
  return status ? 1 : 0;
}
