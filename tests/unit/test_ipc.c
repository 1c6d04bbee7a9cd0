/* Arrow IPC: what is written is read back by nanoarrow, slices included. */
#include "arrow/ipc/ipc.h"

#include <nanoarrow/nanoarrow_ipc.h>

#include "arrow/view.h"
#include "arrow_text.h"

typedef struct bytes {
  uint8_t *data;
  size_t size;
} bytes;

static cst_status keep(void *ctx, const void *data, size_t size, cst_error *error) {
  bytes *all = ctx;
  uint8_t *grown = realloc(all->data, all->size + size + 1);
  if (grown == NULL) {
    return cst__fail_memory(error, size);
  }
  all->data = grown;
  memcpy(all->data + all->size, data, size);
  all->size += size;
  return CST_OK;
}

static const char type[] =
    "struct{a: large_list<int64>, b: list<large_binary>, c: float32, d: bool, e: null, "
    "f: fixed_list<int32>[2], g: struct{h: string}, i: fixed_binary[2], j: float16}";
static const char rows[] = "{[1, 2], ['x', 'yy'], 0.5, true, null, [1, 2], {'p'}, 'ab', 1.5} "
                           "{null, [], null, null, null, null, null, null, null} "
                           "{[], null, 1.5, true, null, [3, 4], {null}, 'cd', 2.5} "
                           "{[3], [null, 'z'], 2.5, true, null, [5, 6], {'q'}, 'ef', 0.5}";

typedef struct fixture {
  struct ArrowSchema schema;
  struct ArrowArray array;
  bytes out;
  bool is_file;
} fixture;

static void make(fixture *f) {
  memset(f, 0, sizeof *f);
  arrow_text(type, rows, &f->schema, &f->array);
}

static void drop(fixture *f) {
  free(f->out.data);
  ArrowSchemaRelease(&f->schema);
  ArrowArrayRelease(&f->array);
}

/* The first batch of the stream, as a string of its cells; the caller frees what it needs not. */
static void read_back(const fixture *f, struct ArrowSchema *schema, struct ArrowArray *array) {
  struct ArrowBuffer buffer;
  struct ArrowIpcInputStream input;
  struct ArrowArrayStream stream;
  ArrowBufferInit(&buffer);
  size_t head = f->is_file ? 8 : 0; /* a file is a stream behind its magic */
  CHECK_EQ(ArrowBufferAppend(&buffer, f->out.data + head, (int64_t)(f->out.size - head)), 0);
  CHECK_EQ(ArrowIpcInputStreamInitBuffer(&input, &buffer), 0);
  CHECK_EQ(ArrowIpcArrayStreamReaderInit(&stream, &input, NULL), 0);
  CHECK_EQ(stream.get_schema(&stream, schema), 0);
  CHECK_EQ(stream.get_next(&stream, array), 0);
  stream.release(&stream);
}

/* Compares two arrays cell by cell, through views. */
static void check_slot(const cst__view *a, int64_t i, const cst__view *b, int64_t j) {
  CHECK_EQ(cst__view_is_null(a, i), cst__view_is_null(b, j));
  if (cst__view_is_null(a, i)) {
    return;
  }
  if (a->layout == CST__LAYOUT_BINARY || a->layout == CST__LAYOUT_FIXED_BINARY) {
    cst_bytes x = cst__view_bytes(a, i);
    cst_bytes y = cst__view_bytes(b, j);
    CHECK_EQ(x.size, y.size);
    CHECK_MEM(x.data, y.data, x.size);
  } else if (a->layout == CST__LAYOUT_LIST || a->layout == CST__LAYOUT_FIXED_LIST) {
    int64_t x, xe, y, ye;
    cst__view_list(a, i, &x, &xe);
    cst__view_list(b, j, &y, &ye);
    CHECK_EQ(xe - x, ye - y);
    for (; x < xe; x++, y++) {
      check_slot(&a->children[0], x, &b->children[0], y);
    }
  } else if (a->layout == CST__LAYOUT_NUMBER || a->layout == CST__LAYOUT_HALF) {
    size_t width = a->layout == CST__LAYOUT_HALF ? 2 : cst_dtype_width(a->dtype);
    CHECK_MEM((const char *)a->data + (size_t)(a->offset + i) * width,
              (const char *)b->data + (size_t)(b->offset + j) * width, width);
  }
  for (int64_t c = 0; a->layout == CST__LAYOUT_STRUCT && c < a->num_children; c++) {
    check_slot(&a->children[c], i, &b->children[c], j);
  }
}

/* What is written has no slots that nobody needs, which some readers refuse. */
static void check_lengths(const cst__view *view, const struct ArrowArray *array) {
  for (int64_t i = 0; i < view->num_children; i++) {
    if (view->layout == CST__LAYOUT_STRUCT || view->layout == CST__LAYOUT_FIXED_LIST) {
      int64_t each = view->layout == CST__LAYOUT_STRUCT ? 1 : view->fixed_size;
      CHECK_EQ(array->children[i]->length, array->length * each);
    }
    check_lengths(&view->children[i], array->children[i]);
  }
}

static void check_same(const fixture *f) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view want;
  cst__view found;
  read_back(f, &schema, &array);
  cst__arena_init(&arena, NULL);
  CHECK(cst__schema_equal(&schema, &f->schema));
  CHECK_EQ(cst__view_init(&want, &f->schema, &f->array, false, &arena, NULL), CST_OK);
  CHECK_EQ(cst__view_init(&found, &schema, &array, false, &arena, NULL), CST_OK);
  CHECK_EQ(found.length, want.length);
  check_lengths(&found, &array);
  for (int64_t i = 0; i < want.length; i++) {
    check_slot(&want, i, &found, i);
  }
  cst__arena_reset(&arena);
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
}

static int write_once(void *ctx) {
  fixture *f = ctx;
  cst__ipc_writer *writer;
  cst_error error = CST_ERROR_INIT;
  free(f->out.data);
  f->out = (bytes){NULL, 0};
  cst_status status =
      cst__ipc_writer_new(&f->schema, f->is_file, keep, &f->out, NULL, &writer, &error);
  if (status == CST_OK) {
    status = cst__ipc_write_batch(writer, &f->array, &error);
    if (status == CST_OK) {
      status = cst__ipc_finish(writer, &error);
    }
    cst__ipc_writer_free(writer);
  }
  if (status != CST_OK) {
    free(f->out.data);
    f->out = (bytes){NULL, 0};
  }
  return (int)status;
}

/* For failing allocations: leaves nothing behind. */
static int write_and_drop(void *ctx) {
  fixture *f = ctx;
  int status = write_once(f);
  free(f->out.data);
  f->out = (bytes){NULL, 0};
  return status;
}

static void check_slice(bool is_file, int64_t offset, int64_t length) {
  fixture f;
  make(&f);
  f.is_file = is_file;
  f.array.offset = offset;
  f.array.length = length;
  CHECK_EQ(write_once(&f), CST_OK);
  check_same(&f);
  drop(&f);
}

TEST(streams_and_files_of_every_slice) {
  for (int64_t offset = 0; offset <= 4; offset++) {
    for (int64_t length = 0; offset + length <= 4; length++) {
      check_slice(false, offset, length);
      check_slice(true, offset, length);
    }
  }
}

TEST(slices_of_columns) {
  for (int64_t offset = 0; offset <= 1; offset++) {
    fixture f;
    make(&f);
    for (int64_t i = 0; i < f.array.n_children; i++) {
      f.array.children[i]->offset = offset;
      f.array.children[i]->length = 3;
      f.array.children[i]->null_count = -1;
    }
    f.array.length = 3;
    CHECK_EQ(write_once(&f), CST_OK);
    check_same(&f);
    drop(&f);
  }
}

TEST(nulls_are_counted_where_the_array_says_not_how_many) {
  fixture counted;
  fixture f;
  make(&counted);
  make(&f);
  CHECK_EQ(write_once(&counted), CST_OK);
  for (int64_t i = 0; i < f.array.n_children; i++) {
    f.array.children[i]->null_count = -1;
  }
  CHECK_EQ(write_once(&f), CST_OK);
  CHECK_EQ(f.out.size, counted.out.size);
  CHECK_MEM(f.out.data, counted.out.data, counted.out.size);
  drop(&f);
  drop(&counted);
}

TEST(a_file_has_its_magic_at_both_ends) {
  fixture f;
  make(&f);
  f.is_file = true;
  CHECK_EQ(write_once(&f), CST_OK);
  CHECK_MEM(f.out.data, "ARROW1", 6);
  CHECK_MEM(f.out.data + f.out.size - 6, "ARROW1", 6);
  drop(&f);
}

TEST(allocation_failures) {
  fixture f;
  make(&f);
  f.array.offset = 1; /* through the copy as well */
  f.array.length = 3;
  FOR_EACH_ALLOCATION_FAILURE(write_and_drop, &f, CST_NO_MEMORY);
  drop(&f);
}

TEST(types_that_cannot_be_written_are_named) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__ipc_writer *writer;
  cst_error error = CST_ERROR_INIT;
  bytes out = {NULL, 0};
  arrow_text("struct{a: int64, v: int32}", "{1, 2}", &schema, &array);
  CHECK_EQ(ArrowSchemaAllocateDictionary(schema.children[1]), 0);
  CHECK_EQ(ArrowSchemaInitFromType(schema.children[1]->dictionary, NANOARROW_TYPE_STRING), 0);
  CHECK_EQ(cst__ipc_writer_new(&schema, false, keep, &out, NULL, &writer, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "v");
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
  free(out.data);
}

/* Views are written out: the values stay, the types become those without views. */
TEST(views_become_plain_columns) {
  fixture f = {0};
  fixture plain = {0};
  static const char values[] =
      "{'short', ['a value that is long', null]} {null, null} {'another value that is long', []}";
  arrow_text("struct{v: string_view, l: list<binary_view>}", values, &f.schema, &f.array);
  arrow_text("struct{v: large_string, l: list<large_binary>}", values, &plain.schema, &plain.array);
  for (int64_t from = 0; from < 3; from++) {
    arrow_text_slice(&f.array, from > 0, 3 - from);
    arrow_text_slice(&plain.array, from > 0, 3 - from);
    CHECK_EQ(write_once(&f), CST_OK);
    free(plain.out.data);
    plain.out = f.out;
    f.out = (bytes){NULL, 0};
    check_same(&plain);
  }
  FOR_EACH_ALLOCATION_FAILURE(write_and_drop, &f, CST_NO_MEMORY);
  drop(&f);
  drop(&plain);
}

/* nanoarrow builds no list views: the slots are [3 4] null [1 2] [] [2 3]. */
TEST(list_views_become_lists) {
  fixture f = {0};
  fixture plain = {0};
  static const int32_t offsets[] = {2, 7, 0, 4, 1};
  static const int32_t sizes[] = {2, 9, 2, 0, 2};
  static const uint8_t validity[] = {0x1d};
  const void *buffers[] = {validity, offsets, sizes};
  arrow_text("struct{l: list<int32>}", "{[1, 2]} {[3, 4]} {[]} {[]} {[]}", &f.schema, &f.array);
  arrow_text("struct{l: list<int32>}", "{[3, 4]} {null} {[1, 2]} {[]} {[2, 3]}", &plain.schema,
             &plain.array);
  CHECK_EQ(ArrowSchemaSetFormat(f.schema.children[0], "+vl"), 0);
  const void **own = f.array.children[0]->buffers;
  f.array.children[0]->buffers = buffers;
  f.array.children[0]->n_buffers = 3;
  f.array.children[0]->null_count = 1;
  CHECK_EQ(write_once(&f), CST_OK);
  f.array.children[0]->buffers = own;
  plain.out = f.out;
  f.out = (bytes){NULL, 0};
  check_same(&plain);
  drop(&f);
  drop(&plain);
}

static cst_status refuse(void *ctx, const void *data, size_t size, cst_error *error) {
  (void)ctx;
  (void)data;
  return cst__fail(error, CST_IO, "free disk space, or write elsewhere", "no space for %zu bytes",
                   size > 0 ? (size_t)1 : 0);
}

TEST(the_callbacks_error_comes_back) {
  fixture f;
  cst__ipc_writer *writer;
  cst_error error = CST_ERROR_INIT;
  make(&f);
  CHECK_EQ(cst__ipc_writer_new(&f.schema, true, refuse, NULL, NULL, &writer, &error), CST_IO);
  CHECK_STR(error.message, "no space for 1 bytes");
  CHECK_STR(error.hint, "free disk space, or write elsewhere");
  drop(&f);
}
