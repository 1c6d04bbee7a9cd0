/* Nested tensors of sizes that no memory stands behind: nothing overflows, and nothing is allocated
 * that the result does not need. */
#include "base/alloc.h"
#include "structured_support.h"

/* Where a system gives memory that it does not have, nobody touches it here. */
static void *allocate_little(void *unused, size_t size, size_t align) {
  const cst_allocator *a = &cst__default_allocator;
  (void)unused;
  return size < 1 << 26 ? a->allocate(a->ctx, size, align) : NULL;
}

static void release_little(void *unused, void *block, size_t size, size_t align) {
  const cst_allocator *a = &cst__default_allocator;
  (void)unused;
  a->release(a->ctx, block, size, align);
}

static const cst_allocator little = {sizeof(cst_allocator), allocate_little, release_little, NULL};

/* An array of nothing but a length, of a type of structs without fields (or nulls). */
static cst_structured *bare_rows(const char *format, int64_t rows) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  ArrowSchemaInit(&schema);
  CHECK_EQ(ArrowSchemaSetFormat(&schema, format), 0);
  CHECK_EQ(ArrowSchemaSetName(&schema, ""), 0);
  CHECK_EQ(cst__owned_new(NULL, format[0] == 'n' ? 0 : 1, 0, false, &array, NULL), CST_OK);
  array.length = rows;
  array.null_count = format[0] == 'n' ? rows : 0;
  cst_array *out = NULL;
  CHECK_EQ(cst_array_import(&schema, &array, 0, &little, &out, NULL), CST_OK);
  schema.release(&schema);
  return structured_of(out, false);
}

/* No rows of lists of a fixed size, one in the other. */
static cst_structured *empty_lists(int64_t size, int levels) {
  cst_structured *tensor = bare_rows("+s", 0);
  for (int i = 0; i < levels; i++) {
    cst_structured *next = NULL;
    CHECK_EQ(cst_structured_partition(tensor, NULL, 0, size, &next, NULL), CST_OK);
    cst_structured_release(tensor);
    tensor = next;
  }
  return tensor;
}

TEST(sizes_of_no_lists) {
  cst_structured *tensor = empty_lists(INT64_MAX / 2, 4);
  const cst_structured *const both[] = {tensor, tensor, tensor};
  const int64_t multiples[] = {1, 1 << 20, 1 << 20, 1 << 20, INT64_MAX};
  cst_structured *out = NULL;
  int64_t dims[8];
  CHECK_EQ(cst_structured_merge_dims(tensor, 0, -1, &out, NULL), CST_OK);
  cst_structured_release(out);
  CHECK_EQ(cst_structured_merge_dims(tensor, 1, -1, &out, NULL), CST_OK);
  CHECK_EQ(cst_structured_shape(out, dims, NULL), CST_OK);
  CHECK_EQ(dims[1], -1);
  cst_structured_release(out);
  for (int axis = 0; axis < 5; axis++) {
    CHECK_EQ(cst_structured_concat(both, 3, axis, &out, NULL), CST_OK);
    cst_structured_release(out);
  }
  CHECK_EQ(cst_structured_tile(tensor, multiples, &out, NULL), CST_OK);
  cst_structured_release(out);
  cst_structured_release(tensor);
}

TEST(no_fields_of_no_rows) {
  cst_structured *tensor = bare_rows("+s", 0);
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_structured_fields(tensor, NULL, NULL, 0, &out, &error), CST_OK);
  CHECK_STR(error.message, "");
  cst_structured_release(out);
  CHECK_EQ(cst_structured_only(tensor, NULL, 0, &out, &error), CST_OK);
  cst_structured_release(out);
  cst_structured_release(tensor);
}

TEST(tiles_of_nothing) {
  cst_structured *tensor = bare_rows("+s", 0);
  const int64_t multiple = INT64_MAX;
  cst_structured *out = NULL;
  CHECK_EQ(cst_structured_tile(tensor, &multiple, &out, NULL), CST_OK);
  CHECK_EQ(cst_array_length(cst_structured_array(out)), 0);
  cst_structured_release(out);
  cst_structured_release(tensor);
}

static cst_structured *tiled(const cst_structured *tensor, int64_t times) {
  cst_structured *out = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_structured_tile(tensor, &times, &out, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  return out;
}

/* Either there is a result, or it is said what it lacks. */
#define CHECK_REFUSED_OR_MADE(call)                                            \
  do {                                                                         \
    cst_structured *out = NULL;                                                \
    cst_error error = CST_ERROR_INIT;                                          \
    cst_status status = call;                                                  \
    CHECK(status == CST_OK || status == CST_LIMIT || status == CST_NO_MEMORY); \
    CHECK((status == CST_OK) == (out != NULL));                                \
    cst_structured_release(out);                                               \
  } while (0)

/* 2^57 is the most that an array has. */
static void check_operations(const cst_structured *tensor) {
  static const cst_path top = {NULL, 0};
  static const cst_index_item items[] = {
      {.kind = CST_INDEX_SLICE, .begin = CST_INDEX_OPEN, .end = CST_INDEX_OPEN, .step = 2},
      {.kind = CST_INDEX_SLICE, .begin = CST_INDEX_OPEN, .end = CST_INDEX_OPEN, .step = -1},
      {.kind = CST_INDEX_AT, .begin = -1},
      {.kind = CST_INDEX_NEW_AXIS},
  };
  const cst_structured *const four[] = {tensor, tensor, tensor, tensor};
  const int64_t more = 1 << 16;
  CHECK_REFUSED_OR_MADE(cst_structured_concat(four, 4, 0, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_stack(four, 4, 0, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_stack(four, 4, 1, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_expand_dims(tensor, 0, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_expand_dims(tensor, 1, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_partition(tensor, NULL, 0, 1, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_partition(tensor, NULL, 0, (int64_t)1 << 44, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_tile(tensor, &more, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_like(tensor, 0, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_test_null(tensor, &top, CST_IS_NULL, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_fill_null_lists(tensor, &out, &error));
  CHECK_REFUSED_OR_MADE(cst_structured_drop_null(tensor, &top, &out, &error));
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    CHECK_REFUSED_OR_MADE(cst_structured_index(tensor, &items[i], 1, &out, &error));
  }
}

TEST(rows_without_memory) {
  static const char *const formats[] = {"+s", "n"};
  for (int i = 0; i < 2; i++) {
    cst_structured *some = bare_rows(formats[i], 1 << 24);
    cst_structured *many = tiled(some, 1 << 10);
    cst_structured *most = tiled(many, 1 << 14);
    check_operations(most);
    cst_structured_release(some);
    cst_structured_release(many);
    cst_structured_release(most);
  }
}
