/* Importing, counting, exporting and slicing of array handles. */
#include "array_sample.h"

#define BATCH "struct{a: int64, b: list<string>}"
#define ROWS "{1, ['x', 'yy']} {null, null} {3, []} {4, ['zzz']}"

static cst_array *slice_of(const cst_array *array, int64_t begin, int64_t length) {
  cst_array *out = NULL;
  CHECK_EQ(cst_array_slice(array, begin, length, &out, NULL), CST_OK);
  return out;
}

TEST(an_array_outlives_its_handle) {
  cst_array *array = array_sample(BATCH, ROWS);
  struct ArrowArray out;
  cst_array *again = cst_array_retain(array);
  CHECK(again == array);
  CHECK_EQ(cst_array_export(array, &out, NULL), CST_OK);
  cst_array_release(array);
  cst_array_release(again);
  struct ArrowArray column = *out.children[0];
  out.children[0]->release = NULL;
  out.release(&out);
  CHECK_EQ(((const int64_t *)column.buffers[1])[3], 4);
  column.release(&column);
  cst_array_release(NULL);
  CHECK(cst_array_retain(NULL) == NULL);
}

TEST(slices) {
  cst_array *array = array_sample(BATCH, ROWS);
  cst_array *tail = slice_of(array, 1, 100);
  array_sample_check(tail, BATCH, "{null, null} {3, []} {4, ['zzz']}");
  cst_array *one = slice_of(tail, 2, 1);
  cst_array_release(array);
  cst_array_release(tail);
  array_sample_check(one, BATCH, "{4, ['zzz']}");
  cst_array *none = slice_of(one, 1, 0);
  array_sample_check(none, BATCH, "");
  cst_array_release(none);
  cst_array_release(one);
}

TEST(slices_of_slices_do_not_pile_up) {
  cst_array *array = array_sample("int64", "1 2 3");
  for (int i = 0; i < 300000; i++) {
    cst_array *next = slice_of(array, 0, 3);
    cst_array_release(array);
    array = next;
  }
  array_sample_check(array, "int64", "1 2 3");
  cst_array_release(array);
}

TEST(slices_share_buffers) {
  cst_array *array = array_sample(BATCH, ROWS);
  cst_array *part = slice_of(array, 2, 1);
  struct ArrowArray a;
  struct ArrowArray b;
  CHECK_EQ(cst_array_export(array, &a, NULL), CST_OK);
  CHECK_EQ(cst_array_export(part, &b, NULL), CST_OK);
  CHECK(a.children[0]->buffers[1] == b.children[0]->buffers[1]);
  CHECK_EQ(b.offset, 0);
  CHECK_EQ(b.children[0]->offset, 2);
  CHECK_EQ(b.children[1]->length, 1);
  CHECK(cst_array_schema(array) == cst_array_schema(part));
  a.release(&a);
  b.release(&b);
  cst_array_release(array);
  cst_array_release(part);
}

TEST(slices_of_null_structs_and_other_types) {
  cst_array *array = array_sample("struct{a: int8}", "{1} null {3} null");
  cst_array *part = slice_of(array, 1, 2);
  array_sample_check(part, "struct{a: int8}", "null {3}");
  cst_array *rest = slice_of(part, 1, 1);
  array_sample_check(rest, "struct{a: int8}", "{3}");
  cst_array_release(array);
  cst_array_release(part);
  cst_array_release(rest);
  array = array_sample("string", "'a' null 'c'");
  part = slice_of(array, 1, 2);
  array_sample_check(part, "string", "null 'c'");
  cst_array_release(array);
  cst_array_release(part);
}

TEST(slices_that_are_refused) {
  cst_array *array = array_sample("int64", "1 2 3");
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_array_slice(array, 4, 0, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_slice(array, -1, 1, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_slice(array, 0, -1, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_slice(NULL, 0, 1, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_slice(array, 0, 1, NULL, &error), CST_INVALID_ARGUMENT);
  cst_array_release(array);
}

TEST(imports_are_validated_unless_trusted) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  arrow_text(BATCH, ROWS, &schema, &array);
  int32_t *offsets = (int32_t *)(uintptr_t)array.children[1]->buffers[1];
  offsets[1] = 9;
  CHECK_EQ(cst_array_import(&schema, &array, 0, NULL, &out, &error), CST_CORRUPT);
  CHECK_STR(error.path, "b");
  CHECK(array.release != NULL);
  CHECK_EQ(cst_array_import(&schema, &array, 2, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_import(NULL, &array, 0, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_import(&schema, NULL, 0, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_import(&schema, &array, CST_ARRAY_TRUSTED, NULL, &out, &error), CST_OK);
  CHECK(array.release == NULL);
  CHECK_EQ(cst_array_length(out), 4);
  cst_array *second = NULL;
  CHECK_EQ(cst_array_import(&schema, &array, 0, NULL, &second, &error), CST_INVALID_ARGUMENT);
  cst_array_release(out);
  ArrowSchemaRelease(&schema);
}

TEST(types_that_are_not_known_are_let_in_by_trust_only) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_error error = CST_ERROR_INIT;
  arrow_text("struct{a: int32, u: struct{x: int8}}", "{1, {2}} {3, {4}}", &schema, &array);
  CHECK_EQ(ArrowSchemaSetFormat(schema.children[1], "+us:5"), 0);
  cst_array *out = NULL;
  CHECK_EQ(cst_array_import(&schema, &array, 0, NULL, &out, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "u");
  CHECK_CONTAINS(error.message, "sparse_union");
  CHECK_EQ(cst_array_import(&schema, &array, CST_ARRAY_TRUSTED, NULL, &out, &error), CST_OK);
  cst_array *part = slice_of(out, 1, 1);
  CHECK_EQ(cst_array_length(part), 1);
  cst_array_release(part);
  cst_array_release(out);
  ArrowSchemaRelease(&schema);
}

/* Strings "a" "b", encoded. */
static void make_dictionary(struct ArrowSchema *schema, struct ArrowArray *array) {
  arrow_text("struct{d: int8}", "{1} {null} {0} {1}", schema, array);
  struct ArrowSchema *field = schema->children[0];
  struct ArrowArray *column = array->children[0];
  struct ArrowSchema type;
  struct ArrowArray values;
  arrow_text("string", "'a' 'b'", &type, &values);
  CHECK_EQ(ArrowSchemaAllocateDictionary(field), 0);
  ArrowSchemaMove(&type, field->dictionary);
  CHECK_EQ(ArrowArrayAllocateDictionary(column), 0);
  ArrowArrayMove(&values, column->dictionary);
}

TEST(dictionaries_become_plain) {
  for (uint32_t flags = 0; flags <= CST_ARRAY_TRUSTED; flags++) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    cst_array *out = NULL;
    make_dictionary(&schema, &array);
    CHECK_EQ(cst_array_import(&schema, &array, flags, NULL, &out, NULL), CST_OK);
    array_sample_check(out, "struct{d: string}", "{'b'} {null} {'a'} {'b'}");
    cst_array_release(out);
    ArrowSchemaRelease(&schema);
  }
}

TEST(metadata_of_the_schema_stays) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct ArrowBuffer metadata;
  struct ArrowStringView value;
  cst_array *out = NULL;
  arrow_text("struct{a: int8}", "{1}", &schema, &array);
  CHECK_EQ(ArrowMetadataBuilderInit(&metadata, NULL), 0);
  CHECK_EQ(ArrowMetadataBuilderAppend(&metadata, ArrowCharView("ARROW:extension:name"),
                                      ArrowCharView("my.type")),
           0);
  CHECK_EQ(ArrowMetadataBuilderAppend(&metadata, ArrowCharView("empty"), ArrowCharView("")), 0);
  CHECK_EQ(ArrowSchemaSetMetadata(schema.children[0], (const char *)metadata.data), 0);
  CHECK_EQ(cst_array_import(&schema, &array, 0, NULL, &out, NULL), CST_OK);
  ArrowBufferReset(&metadata);
  ArrowSchemaRelease(&schema);
  const char *kept = cst_array_schema(out)->children[0]->metadata;
  CHECK_EQ(ArrowMetadataGetValue(kept, ArrowCharView("ARROW:extension:name"), &value), 0);
  CHECK_EQ(value.size_bytes, 7);
  CHECK_MEM(value.data, "my.type", 7);
  CHECK(ArrowMetadataHasKey(kept, ArrowCharView("empty")));
  cst_array_release(out);
}

/* Out, in again, a slice of it, and that one out. */
static int use(void *context) {
  const cst_array *array = context;
  struct ArrowArray out = {0};
  cst_array *again = NULL;
  cst_array *part = NULL;
  cst_status status = cst_array_export(array, &out, NULL);
  if (status == CST_OK) {
    status = cst_array_import(cst_array_schema(array), &out, 0, NULL, &again, NULL);
  }
  if (status == CST_OK) status = cst_array_slice(again, 1, 2, &part, NULL);
  if (status == CST_OK) status = cst_array_export(part, &out, NULL);
  if (out.release != NULL) out.release(&out);
  cst_array_release(again);
  cst_array_release(part);
  return status;
}

TEST(allocations_may_fail) {
  cst_array *array = array_sample("struct{a: int64, b: list<string>}", ROWS " null");
  FOR_EACH_ALLOCATION_FAILURE(use, array, CST_NO_MEMORY);
  cst_array_release(array);
}

static int import_dictionary(void *context) {
  const cst_array *array = context;
  struct ArrowArray out = {0};
  struct ArrowSchema schema = *cst_array_schema(array);
  struct ArrowSchema *fields[2] = {schema.children[0], NULL};
  struct ArrowSchema encoded = *cst_array_schema(array)->children[0];
  cst_array *made = NULL;
  struct ArrowArray batch;
  cst_status status = cst_array_export(array, &out, NULL);
  if (status != CST_OK) return status;
  /* The indices with the values as their dictionary. */
  encoded.dictionary = schema.children[1];
  fields[0] = &encoded;
  schema.children = fields;
  schema.n_children = 1;
  batch = out;
  batch.n_children = 1;
  out.children[0]->dictionary = out.children[1];
  status = cst_array_import(&schema, &batch, 0, NULL, &made, NULL);
  if (batch.release != NULL) batch.release(&batch);
  cst_array_release(made);
  return status;
}

TEST(allocations_of_dictionaries_may_fail) {
  cst_array *array = array_sample("struct{i: int8, v: string}", "{1, 'a'} {0, 'b'} {null, 'c'}");
  FOR_EACH_ALLOCATION_FAILURE(import_dictionary, array, CST_NO_MEMORY);
  cst_array_release(array);
}
