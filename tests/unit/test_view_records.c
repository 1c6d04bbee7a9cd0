/* Records in Arrow data: a binary array, or the only column of a batch. */
#include "arrow/view.h"
#include "arrow_text.h"

typedef struct fixture {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
  cst_error error;
} fixture;

static void make(fixture *f, const char *type, const char *rows) {
  memset(f, 0, sizeof *f);
  f->error = (cst_error)CST_ERROR_INIT;
  arrow_text(type, rows, &f->schema, &f->array);
  cst__arena_init(&f->arena, NULL);
}

static cst_status look(fixture *f) {
  return cst__view_init_records(&f->view, &f->schema, &f->array, &f->arena, &f->error);
}

static void drop(fixture *f) {
  cst__arena_reset(&f->arena);
  ArrowSchemaRelease(&f->schema);
  ArrowArrayRelease(&f->array);
}

static void check_record(const cst__view *view, int64_t i, const char *expected) {
  cst_bytes bytes = cst__view_bytes(view, i);
  CHECK_EQ(bytes.size, strlen(expected));
  CHECK_MEM(bytes.data, expected, bytes.size);
}

TEST(a_batch_stands_for_its_column) {
  fixture f;
  make(&f, "struct{r: binary}", "{'a'} {'bc'} {'d'}");
  f.array.offset = 1;
  f.array.length = 2;
  CHECK_EQ(look(&f), CST_OK);
  CHECK_EQ(f.view.length, 2);
  check_record(&f.view, 0, "bc");
  check_record(&f.view, 1, "d");
  drop(&f);
}

static void check_refused(const char *type, const char *rows, int64_t record, const char *says) {
  fixture f;
  make(&f, type, rows);
  CHECK_EQ(look(&f), CST_INVALID_ARGUMENT);
  CHECK_EQ(f.error.record, record);
  CHECK_CONTAINS(f.error.message, says);
  drop(&f);
}

TEST(what_is_no_column_of_records) {
  check_refused("struct{a: binary, b: binary}", "{'a', 'b'}", -1, "a batch of 2 columns");
  check_refused("struct{a: int64}", "{1}", -1, "of type int64");
  check_refused("large_list<binary>", "['a']", -1, "of type large_list<binary>");
  check_refused("struct{a: binary}", "{'a'} null", -1, "1 rows of the batch are null");
  check_refused("struct{a: binary}", "{'a'} {null}", 1, "a record is null");
  check_refused("string", "'a' 'b' null", 2, "a record is null");
}

/* Nothing of an array is touched before it was validated. */
TEST(structs_that_lie) {
  fixture f;
  make(&f, "struct{r: binary}", "{'a'} {'bc'}");
  struct ArrowArray **children = f.array.children;
  f.array.n_children = 0;
  f.array.children = NULL;
  CHECK_EQ(look(&f), CST_INVALID_ARGUMENT);
  f.array.n_children = 1;
  CHECK_EQ(look(&f), CST_INVALID_ARGUMENT);
  f.array.children = children;
  f.array.length = 3; /* than its child has */
  CHECK_EQ(look(&f), CST_CORRUPT);
  drop(&f);
}

static int copy_schema(void *schema) {
  struct ArrowSchema copy;
  cst_status status = cst__schema_copy(schema, &copy, NULL);
  if (status == CST_OK) {
    CHECK_STR(copy.children[0]->children[0]->name, "");
    ArrowSchemaRelease(&copy);
  }
  return (int)status;
}

/* A field needs no name; copies of a schema have the empty one. */
TEST(fields_without_a_name) {
  fixture f;
  make(&f, "struct{r: struct{a: binary}}", "{{'a'}}");
  CHECK_EQ(ArrowSchemaSetName(f.schema.children[0]->children[0], NULL), NANOARROW_OK);
  FOR_EACH_ALLOCATION_FAILURE(copy_schema, &f.schema, CST_NO_MEMORY);
  drop(&f);
}
