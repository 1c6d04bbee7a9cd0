/* Dictionary-encoded columns that become plain ones. */
#include "arrow/dictionary.h"

#include "arrow/owned.h"
#include "arrow_equal.h"
#include "arrow_text.h"

typedef struct sample {
  struct ArrowSchema schema;
  struct ArrowArray array;
} sample;

static void drop(sample *s) {
  if (s->schema.release != NULL) ArrowSchemaRelease(&s->schema);
  if (s->array.release != NULL) s->array.release(&s->array);
}

/* Gives the array a dictionary. */
static void encode(struct ArrowSchema *schema, struct ArrowArray *array, const char *type,
                   const char *rows) {
  CHECK_EQ(ArrowSchemaAllocateDictionary(schema), 0);
  CHECK_EQ(ArrowArrayAllocateDictionary(array), 0);
  arrow_text(type, rows, schema->dictionary, array->dictionary);
}

static cst_status make_plain(sample *s, cst_error *error) {
  struct ArrowSchema encoded;
  CHECK_EQ(cst__schema_copy(&s->schema, &encoded, error), CST_OK);
  cst_status status = cst__array_make_plain(&encoded, NULL, &s->array, error);
  ArrowSchemaRelease(&encoded);
  CHECK_EQ(cst__schema_make_plain(&s->schema, NULL), CST_OK);
  return status;
}

static void check_equal(const sample *s, const char *type, const char *rows) {
  sample want;
  cst__arena arena;
  cst__view a;
  cst__view b;
  cst_error error = CST_ERROR_INIT;
  arrow_text(type, rows, &want.schema, &want.array);
  cst__arena_init(&arena, NULL);
  CHECK(cst__schema_equal(&s->schema, &want.schema));
  CHECK_EQ(cst__view_init(&a, &s->schema, &s->array, false, &arena, &error), CST_OK);
  CHECK_EQ(cst__view_init(&b, &want.schema, &want.array, false, &arena, &error), CST_OK);
  CHECK_EQ(a.length, b.length);
  arrow_equal_slots(&a, 0, a.length, &b, 0);
  cst__arena_reset(&arena);
  drop(&want);
}

static void check(const char *index_type, const char *indices, const char *type, const char *values,
                  const char *plain) {
  sample s;
  char encoded[64];
  char decoded[200];
  cst_error error = CST_ERROR_INIT;
  snprintf(encoded, sizeof encoded, "struct{x: int64, a: %s}", index_type);
  snprintf(decoded, sizeof decoded, "struct{x: int64, a: %s}", type);
  arrow_text(encoded, indices, &s.schema, &s.array);
  encode(s.schema.children[1], s.array.children[1], type, values);
  CHECK(cst__schema_has_dictionary(&s.schema));
  const void *untouched = s.array.children[0]->buffers[1];
  CHECK_EQ(make_plain(&s, &error), CST_OK);
  CHECK(!cst__schema_has_dictionary(&s.schema));
  CHECK(s.array.children[0]->buffers[1] == untouched);
  check_equal(&s, decoded, plain);
  drop(&s);
}

TEST(every_index_type) {
  static const char *const types[] = {"int8",  "uint8",  "int16", "uint16",
                                      "int32", "uint32", "int64", "uint64"};
  for (size_t i = 0; i < 8; i++) {
    check(types[i], "{1, 2} {2, 0} {3, null} {4, 1} {5, 2}", "string", "'a' null 'ccc'",
          "{1, 'ccc'} {2, 'a'} {3, null} {4, null} {5, 'ccc'}");
  }
}

TEST(every_layout_of_values) {
  check("int8", "{1, 1} {2, null} {3, 0}", "bool", "null true", "{1, true} {2, null} {3, null}");
  check("int8", "{1, 1} {2, null} {3, 0}", "float32", "0.5 1.5", "{1, 1.5} {2, null} {3, 0.5}");
  check("int8", "{1, 1} {2, null} {3, 0}", "timestamp", "5 6", "{1, 6} {2, null} {3, 5}");
  check("int8", "{1, 1} {2, null} {3, 0}", "fixed_binary[40]",
        "'0123456789012345678901234567890123456789' '9876543210987654321098765432109876543210'",
        "{1, '9876543210987654321098765432109876543210'} {2, null} "
        "{3, '0123456789012345678901234567890123456789'}");
  check("int8", "{1, 1} {2, null} {3, 0} {4, 1}", "string_view", "'short' 'a value that is long'",
        "{1, 'a value that is long'} {2, null} {3, 'short'} {4, 'a value that is long'}");
  check("int8", "{1, 1} {2, null} {3, 0}", "list<string>", "['x', null] []",
        "{1, []} {2, null} {3, ['x', null]}");
  check("int8", "{1, 1} {2, null} {3, 0}", "fixed_list<struct{b: int16, c: large_string}>[2]",
        "[{1, 'x'}, {2, 'y'}] [{3, 'z'}, null]",
        "{1, [{3, 'z'}, null]} {2, null} {3, [{1, 'x'}, {2, 'y'}]}");
  check("int8", "{1, null} {2, null}", "string", "", "{1, null} {2, null}");
  check("int8", "", "string", "'a'", "");
}

TEST(dictionaries_within) {
  sample s;
  cst_error error = CST_ERROR_INIT;
  arrow_text("struct{l: list<int8>, s: struct{d: int32}}", "{[1, 0], {0}} {null, {1}} {[1], null}",
             &s.schema, &s.array);
  encode(s.schema.children[0]->children[0], s.array.children[0]->children[0], "string", "'p' 'q'");
  encode(s.schema.children[1]->children[0], s.array.children[1]->children[0], "int16", "0 1");
  /* The values of the second are encoded themselves. */
  encode(s.schema.children[1]->children[0]->dictionary,
         s.array.children[1]->children[0]->dictionary, "int64", "70 80");
  arrow_text_slice(&s.array, 1, 2);
  CHECK_EQ(make_plain(&s, &error), CST_OK);
  check_equal(&s, "struct{l: list<string>, s: struct{d: int64}}", "{null, {80}} {['q'], null}");
  drop(&s);
}

TEST(names_and_metadata_of_the_field_stay) {
  sample s;
  struct ArrowBuffer metadata;
  arrow_text("struct{a: int8}", "{0}", &s.schema, &s.array);
  encode(s.schema.children[0], s.array.children[0], "string", "'x'");
  CHECK_EQ(ArrowMetadataBuilderInit(&metadata, NULL), 0);
  CHECK_EQ(ArrowMetadataBuilderAppend(&metadata, ArrowCharView("k"), ArrowCharView("v")), 0);
  CHECK_EQ(ArrowSchemaSetMetadata(s.schema.children[0], (const char *)metadata.data), 0);
  ArrowBufferReset(&metadata);
  s.schema.children[0]->flags = 0;
  CHECK_EQ(make_plain(&s, NULL), CST_OK);
  CHECK_STR(s.schema.children[0]->name, "a");
  CHECK(s.schema.children[0]->metadata != NULL);
  CHECK_EQ(s.schema.children[0]->flags, 0);
  drop(&s);
}

static void check_bad(const char *type, const char *indices, cst_status code, const char *message) {
  sample s;
  cst_error error = CST_ERROR_INIT;
  arrow_text(type, indices, &s.schema, &s.array);
  encode(s.schema.children[0], s.array.children[0], "string", "'x' 'y'");
  CHECK_EQ(make_plain(&s, &error), code);
  CHECK_STR(error.path, "a");
  CHECK_CONTAINS(error.message, message);
  drop(&s);
}

TEST(bad_indices) {
  check_bad("struct{a: int8}", "{0} {2}", CST_CORRUPT, "slot 1: index 2 of a dictionary of 2");
  check_bad("struct{a: int8}", "{-1}", CST_CORRUPT, "index -1");
  check_bad("struct{a: uint64}", "{18446744073709551615}", CST_CORRUPT, "index -1");
  check_bad("struct{a: float32}", "{0.5}", CST_CORRUPT, "are float32");
}

TEST(a_missing_dictionary) {
  sample s;
  cst_error error = CST_ERROR_INIT;
  arrow_text("struct{a: int8}", "{0}", &s.schema, &s.array);
  CHECK_EQ(ArrowSchemaAllocateDictionary(s.schema.children[0]), 0);
  CHECK_EQ(ArrowSchemaInitFromType(s.schema.children[0]->dictionary, NANOARROW_TYPE_STRING), 0);
  CHECK_EQ(make_plain(&s, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "no dictionary");
  drop(&s);
}

/* 4 million indices of one value of a kilobyte. */
TEST(values_out_of_proportion) {
  sample s;
  cst_error error = CST_ERROR_INIT;
  enum { COUNT = 4 << 20 };
  static char value[1024 + 3];
  memset(value, 'x', sizeof value);
  value[0] = value[sizeof value - 2] = '\'';
  value[sizeof value - 1] = '\0';
  arrow_text("struct{a: uint8}", "", &s.schema, &s.array);
  encode(s.schema.children[0], s.array.children[0], "string", value);
  struct ArrowArray *indices = s.array.children[0];
  CHECK_EQ(ArrowBufferAppendFill(ArrowArrayBuffer(indices, 1), 0, COUNT), 0);
  indices->buffers[1] = ArrowArrayBuffer(indices, 1)->data;
  s.array.length = indices->length = COUNT;
  CHECK_EQ(make_plain(&s, &error), CST_LIMIT);
  drop(&s);
}

static int decode_once(void *context) {
  const sample *all = context;
  sample s = {0};
  struct ArrowSchema encoded = {0};
  /* A loan: what is moved out of it and released leaves the original alone. */
  cst_status status = cst__schema_copy(&all->schema, &s.schema, NULL);
  if (status == CST_OK) status = cst__schema_copy(&all->schema, &encoded, NULL);
  if (status == CST_OK) status = cst__schema_make_plain(&s.schema, NULL);
  if (status == CST_OK) {
    status = cst__owned_new(NULL, 1, 1, false, &s.array, NULL);
  }
  if (status == CST_OK) {
    struct ArrowArray *column = s.array.children[0];
    status = cst__owned_new(NULL, 2, 0, true, column, NULL);
    if (status == CST_OK) status = cst__owned_new(NULL, 3, 0, false, column->dictionary, NULL);
    if (status == CST_OK) {
      column->buffers[1] = all->array.children[0]->buffers[1];
      s.array.length = column->length = 3;
      memcpy(column->dictionary->buffers, all->array.children[0]->dictionary->buffers,
             3 * sizeof(void *));
      column->dictionary->length = 2;
      status = cst__array_make_plain(&encoded, NULL, &s.array, NULL);
    }
  }
  if (encoded.release != NULL) encoded.release(&encoded);
  drop(&s);
  return status;
}

TEST(out_of_memory) {
  sample s;
  arrow_text("struct{a: int8}", "{1} {0} {1}", &s.schema, &s.array);
  encode(s.schema.children[0], s.array.children[0], "string", "'x' 'y'");
  FOR_EACH_ALLOCATION_FAILURE(decode_once, &s, CST_NO_MEMORY);
  drop(&s);
}
