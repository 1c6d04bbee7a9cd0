/* Dictionary-encoded columns, as tensors are made of them: their values. */
#include "tensor_text.h"

#define TWO                                                                                      \
  "tensor_representation_group { key: '' value { tensor_representation { key: 't' value "        \
  "{ ragged_tensor { feature_path { step: 'x' } } } } tensor_representation { key: 'u' value { " \
  "dense_tensor { column_name: 'y' default_value { int_value: 1 } } } } } }"

/* Lists of strings, and bools; both are indices into a dictionary. */
static void dictionaries_make(tensor_fixture *f) {
  fixture_make(f, "struct{x: list<int32>, y: int8}", "{[1, 0], 1} {null, null} {[], 0} {[0], 1}",
               BYTES("x") INT("y") TWO);
  struct ArrowSchema *fields[] = {f->schema.children[0]->children[0], f->schema.children[1]};
  struct ArrowArray *columns[] = {f->array.children[0]->children[0], f->array.children[1]};
  const char *types[] = {"large_string", "bool"};
  const char *values[] = {"'A' 'B'", "true false"};
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(ArrowSchemaAllocateDictionary(fields[i]), 0);
    CHECK_EQ(ArrowArrayAllocateDictionary(columns[i]), 0);
    arrow_text(types[i], values[i], fields[i]->dictionary, columns[i]->dictionary);
  }
}

TEST(values_of_dictionaries) {
  tensor_fixture f;
  dictionaries_make(&f);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), "bytes[3] B A A splits 0 2 2 2 3");
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "u")), "bool[4] 0 1 1 0");
  fixture_drop(&f);
}

TEST(slices_of_dictionaries) {
  tensor_fixture f;
  dictionaries_make(&f);
  arrow_text_slice(&f.array, 2, 2);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), "bytes[1] A splits 0 0 1");
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "u")), "bool[2] 1 0");
  fixture_drop(&f);
}

TEST(indices_that_are_of_no_value) {
  tensor_fixture f;
  dictionaries_make(&f);
  ((int8_t *)(uintptr_t)f.array.children[1]->buffers[1])[3] = 2;
  CHECK_EQ(fixture_convert(&f), CST_CORRUPT);
  CHECK_STR(f.error.path, "y");
  fixture_drop(&f);
}

static int dictionaries_convert(void *ctx) {
  tensor_fixture *f = ctx;
  cst_error error = CST_ERROR_INIT;
  cst_tensor_adapter *adapter = NULL;
  cst_tensors *tensors = NULL;
  struct ArrowArray lent = lend(&f->array, &f->releases);
  cst_status status = cst_tensor_adapter_new(&f->schema, f->specs, NULL, &adapter, &error);
  if (status == CST_OK) {
    status = cst_tensor_adapter_convert(adapter, &lent, 0, &tensors, &error);
  }
  cst_tensors_release(tensors);
  cst_tensor_adapter_free(adapter);
  return (int)status;
}

TEST(allocation_failures) {
  tensor_fixture f;
  dictionaries_make(&f);
  FOR_EACH_ALLOCATION_FAILURE(dictionaries_convert, &f, CST_NO_MEMORY);
  f.releases = 0;
  fixture_drop(&f);
}
