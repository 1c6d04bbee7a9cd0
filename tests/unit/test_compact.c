/* Slices copied together; test_ipc.c compares their values. */
#include "arrow/compact.h"

#include "arrow_text.h"

static void check_compact(const char *type, const char *rows, bool expected) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text(type, rows, &schema, &array);
  CHECK_EQ(cst__array_is_compact(&array), expected);
  array.offset = 1;
  array.length--;
  CHECK(!cst__array_is_compact(&array));
  array.offset = 0; /* shorter than its columns */
  CHECK(!cst__array_is_compact(&array));
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
}

TEST(what_is_compact) {
  check_compact("struct{a: int64, b: list<int32>}", "{1, [2]} {2, []}", true);
}

static void check_refused(const char *type, const char *rows, const char *path) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct ArrowArray copy;
  cst__arena arena;
  cst__view view;
  cst_error error = CST_ERROR_INIT;
  arrow_text(type, rows, &schema, &array);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &schema, &array, false, &arena, NULL), CST_OK);
  CHECK_EQ(cst__array_compact(&view, &arena, &copy, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, path);
  cst__arena_reset(&arena);
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
}

TEST(types_that_cannot_be_copied) {
  check_refused("struct{a: int64, t: timestamp}", "{1, 2}", "t");
  check_refused("struct{v: string_view}", "{'x'}", "v");
  check_refused("struct{l: list_view<int64>}", "{[1]}", "l");
}

TEST(a_copy_belongs_to_its_arena) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct ArrowArray copy;
  cst__arena arena;
  cst__view view;
  arrow_text("struct{a: list<int64>}", "{[1]} {[2, 3]} {null}", &schema, &array);
  array.offset = 1;
  array.length = 2;
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &schema, &array, false, &arena, NULL), CST_OK);
  CHECK_EQ(cst__array_compact(&view, &arena, &copy, NULL), CST_OK);
  CHECK(cst__array_is_compact(&copy));
  CHECK_EQ(copy.length, 2);
  CHECK_EQ(copy.children[0]->null_count, 1);
  CHECK_EQ(copy.children[0]->children[0]->length, 2);
  CHECK_EQ(((const int64_t *)copy.children[0]->children[0]->buffers[1])[1], 3);
  copy.release(&copy);
  CHECK(copy.release == NULL);
  cst__arena_reset(&arena);
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
}
