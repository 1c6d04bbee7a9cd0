/* Dictionaries and bools, as tensors are made of them. */
#include "tensor/columns.h"

#include "arrow/owned.h"
#include "arrow_equal.h"
#include "arrow_text.h"

typedef struct fixture {
  struct ArrowSchema schema;
  struct ArrowArray array;
} fixture;

/* Column e has a dictionary of strings. */
static void make(fixture *f) {
  arrow_text(
      "struct{b: bool, l: list<struct{b: bool}>, e: list<int32>, n: int64}",
      "{true, [{true}, {0}], [1, null], 7} {null, null, null, null} {0, [{null}], [0, 0], 8}",
      &f->schema, &f->array);
  struct ArrowSchema *items = f->schema.children[2]->children[0];
  struct ArrowArray *indices = f->array.children[2]->children[0];
  CHECK_EQ(ArrowSchemaAllocateDictionary(items), 0);
  CHECK_EQ(ArrowArrayAllocateDictionary(indices), 0);
  arrow_text("large_string", "'A' 'B'", items->dictionary, indices->dictionary);
}

static void drop(fixture *f) {
  ArrowSchemaRelease(&f->schema);
  ArrowArrayRelease(&f->array);
}

static cst_status convert(const fixture *f, const char *expected, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray made = {0};
  fixture want;
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  arrow_text("struct{b: uint8, l: list<struct{b: uint8}>, e: list<large_string>, n: int64}",
             expected, &want.schema, &want.array);
  cst_status status = cst__schema_copy(&f->schema, &schema, error);
  if (status == CST_OK) {
    status = cst__tensor_columns_type(&schema, error);
  }
  if (status == CST_OK) {
    CHECK(cst__schema_equal(&schema, &want.schema));
    status = cst__tensor_columns_make(&f->schema, &f->array, &arena, &made, error);
  }
  if (status == CST_OK) {
    cst__view a;
    cst__view b;
    CHECK_EQ(cst__view_init(&b, &want.schema, &want.array, false, &arena, NULL), CST_OK);
    status = cst__view_init(&a, &schema, &made, false, &arena, error);
    if (status == CST_OK) {
      CHECK_EQ(a.length, b.length);
      arrow_equal_slots(&a, 0, a.length, &b, 0);
    }
  }
  cst__array_release(&made);
  cst__arena_reset(&arena);
  if (schema.release != NULL) schema.release(&schema);
  drop(&want);
  return status;
}

TEST(values_and_bytes) {
  fixture f;
  cst_error error = CST_ERROR_INIT;
  make(&f);
  CHECK(cst__tensor_columns_differ(&f.schema));
  (void)convert(&f,
                "{1, [{1}, {0}], ['B', null], 7} {null, null, null, null} "
                "{0, [{null}], ['A', 'A'], 8}",
                &error);
  CHECK_STR(error.message, "");
  arrow_text_slice(&f.array, 2, 1);
  (void)convert(&f, "{0, [{null}], ['A', 'A'], 8}", &error);
  CHECK_STR(error.message, "");
  CHECK(f.array.release != NULL && f.array.children[0]->release != NULL);
  drop(&f);
}

TEST(other_columns_need_nothing) {
  fixture f;
  arrow_text("struct{a: list<struct{x: string}>, d: date32}", "", &f.schema, &f.array);
  CHECK(!cst__tensor_columns_differ(&f.schema));
  drop(&f);
}

TEST(arrays_that_are_not_of_the_type) {
  fixture f;
  cst_error error = CST_ERROR_INIT;
  make(&f);
  f.array.n_children = 3;
  CHECK_EQ(convert(&f, "", &error), CST_INVALID_ARGUMENT);
  f.array.n_children = 4;
  f.array.children[0]->n_buffers = 1;
  CHECK_EQ(convert(&f, "", &error), CST_INVALID_ARGUMENT);
  f.array.children[0]->n_buffers = 2;
  drop(&f);
}

static int convert_once(void *ctx) {
  struct ArrowArray made;
  cst__arena arena;
  const fixture *f = ctx;
  cst_error error = CST_ERROR_INIT;
  cst__arena_init(&arena, NULL);
  cst_status status = cst__tensor_columns_make(&f->schema, &f->array, &arena, &made, &error);
  if (status == CST_OK) {
    made.release(&made);
  }
  cst__arena_reset(&arena);
  return (int)status;
}

TEST(allocation_failures) {
  fixture f;
  make(&f);
  FOR_EACH_ALLOCATION_FAILURE(convert_once, &f, CST_NO_MEMORY);
  drop(&f);
}
