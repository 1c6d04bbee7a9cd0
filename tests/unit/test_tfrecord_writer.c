/* The TFRecord writer: framing, Arrow arrays, complete files only. */
#include <columnstone/sink.h>
#include <unistd.h>

#include "harness.h"
#include "io_support.h"

static void check_file(const char *path, const bytes *expected) {
  cst__input *input;
  bytes out = {0};
  CHECK_EQ(cst__input_open(path, NULL, &input, NULL), CST_OK);
  CHECK_EQ(read_to_end(input, 100000, &out, NULL), CST_OK);
  CHECK_EQ(out.size, expected->size);
  CHECK_MEM(out.data, expected->data, expected->size);
  cst__input_close(input);
  bytes_free(&out);
}

TEST(records_of_every_size) {
  static const char *const names[] = {"sizes", "sizes.gz", "sizes.zz", "sizes.zst"};
  static const size_t sizes[] = {0, 1, 100, 262143, 262144, 1000000, 3};
  bytes data = {0};
  bytes expected = {0};
  add_noise(&data, 1000000, 1);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    bytes_add_record(&expected, data.data, sizes[s]);
  }
  for (size_t n = 0; n < 4; n++) {
    const char *path = harness_temp_path(names[n]);
    cst_tfrecord_writer *writer;
    CHECK_EQ(cst_tfrecord_writer_open(path, NULL, &writer, NULL), CST_OK);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      CHECK_EQ(cst_tfrecord_writer_write(writer, data.data, sizes[s], NULL), CST_OK);
    }
    CHECK(access(path, F_OK) != 0);
    CHECK_EQ(cst_tfrecord_writer_finish(writer, NULL), CST_OK);
    cst_tfrecord_writer_free(writer);
    check_file(path, &expected);
  }
  bytes_free(&data);
  bytes_free(&expected);
}

TEST(dropped_writers_leave_nothing) {
  const char *path = harness_temp_path("dropped.tfrecord");
  cst_tfrecord_writer *writer;
  CHECK_EQ(cst_tfrecord_writer_open(path, NULL, &writer, NULL), CST_OK);
  CHECK_EQ(cst_tfrecord_writer_write(writer, "x", 1, NULL), CST_OK);
  cst_tfrecord_writer_free(writer);
  CHECK(access(path, F_OK) != 0);
  cst_tfrecord_writer_free(NULL);
}

TEST(wrong_arguments) {
  cst_tfrecord_writer *writer;
  const char *path = harness_temp_path("arguments.tfrecord");
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  CHECK_EQ(cst_tfrecord_writer_open(NULL, NULL, &writer, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tfrecord_writer_open_writer(NULL, NULL, &writer, NULL), CST_INVALID_ARGUMENT);
  options.compression = CST_COMPRESSION_GZIP;
  options.level = 55;
  CHECK_EQ(cst_tfrecord_writer_open(path, &options, &writer, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tfrecord_writer_open(path, NULL, &writer, NULL), CST_OK);
  CHECK_EQ(cst_tfrecord_writer_write(writer, NULL, 3, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tfrecord_writer_write(writer, NULL, 0, NULL), CST_OK);
  CHECK_EQ(cst_tfrecord_writer_write_arrow(writer, NULL, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tfrecord_writer_finish(writer, NULL), CST_OK);
  CHECK_EQ(cst_tfrecord_writer_write(writer, "x", 1, NULL), CST_STATE);
  cst_tfrecord_writer_free(writer);
}

/* ---- Arrow arrays, written by hand: nothing is owned, release only marks ---- */

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array(struct ArrowArray *array) { array->release = NULL; }

typedef struct column {
  struct ArrowSchema schema;
  struct ArrowArray array;
  const void *buffers[4];
} column;

static void make_column(column *c, const char *format, int64_t length, int64_t offset,
                        int64_t num_buffers) {
  c->schema = (struct ArrowSchema){
      .format = format, .name = "record", .flags = 2, .release = release_schema};
  c->array = (struct ArrowArray){.length = length,
                                 .offset = offset,
                                 .null_count = c->buffers[0] == NULL ? 0 : -1,
                                 .n_buffers = num_buffers,
                                 .buffers = c->buffers,
                                 .release = release_array};
}

static cst_status write_column(const column *c, bytes *out, cst_error *error) {
  memory_sink sink = {0};
  cst_writer callbacks = memory_writer(&sink);
  cst_tfrecord_writer *writer;
  CST__TRY(cst_tfrecord_writer_open_writer(&callbacks, NULL, &writer, error));
  cst_status status = cst_tfrecord_writer_write_arrow(writer, &c->schema, &c->array, error);
  if (status == CST_OK) {
    status = cst_tfrecord_writer_finish(writer, error);
  }
  cst_tfrecord_writer_free(writer);
  *out = sink.data;
  return sink.closed == 1 ? status : CST_STATE;
}

static void check_column(const column *c) {
  bytes out = {0};
  bytes expected = {0};
  cst_error error = CST_ERROR_INIT;
  bytes_add_record(&expected, "one", 3);
  bytes_add_record(&expected, "", 0);
  bytes_add_record(&expected, "three and more than 12 bytes", 28);
  CHECK_EQ(write_column(c, &out, &error), CST_OK);
  CHECK_STR(error.message, "");
  CHECK_EQ(out.size, expected.size);
  CHECK_MEM(out.data, expected.data, expected.size);
  bytes_free(&out);
  bytes_free(&expected);
}

static const char text[] = "zeroonethree and more than 12 bytes";
static const int32_t narrow[] = {0, 4, 7, 7, 35};
static const int64_t wide[] = {0, 4, 7, 7, 35};

TEST(arrays_of_bytes) {
  static const char *const formats[] = {"z", "u", "Z", "U"};
  for (int i = 0; i < 4; i++) { /* sliced: the first slot is left out */
    column c = {.buffers = {NULL, i < 2 ? (const void *)narrow : wide, text}};
    make_column(&c, formats[i], 3, 1, 3);
    check_column(&c);
  }
}

TEST(arrays_of_views) {
  static const char *const formats[] = {"vz", "vu"};
  static const int64_t sizes[] = {sizeof text - 1};
  struct {
    int32_t size;
    char prefix[4];
    int32_t buffer;
    int32_t offset;
  } views[3] = {{.size = 3, .prefix = "one"}, {.size = 0}, {28, {'t', 'h', 'r', 'e'}, 0, 7}};
  for (int i = 0; i < 2; i++) {
    column c = {.buffers = {NULL, views, text, sizes}};
    make_column(&c, formats[i], 3, 0, 4);
    check_column(&c);
  }
}

TEST(arrays_that_are_no_records) {
  bytes out = {0};
  cst_error error = CST_ERROR_INIT;
  static const uint8_t valid[] = {0x5};
  column c = {.buffers = {valid, narrow, text}};
  make_column(&c, "z", 3, 0, 3);
  CHECK_EQ(write_column(&c, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "null");
  CHECK_EQ(error.record, 1);
  CHECK_EQ(out.size, 0);

  c = (column){.buffers = {NULL, wide}};
  make_column(&c, "l", 3, 0, 2);
  CHECK_EQ(write_column(&c, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "of type int64");

  static const int32_t backwards[] = {0, 4, 2, 7};
  c = (column){.buffers = {NULL, backwards, text}};
  make_column(&c, "z", 3, 0, 3);
  CHECK_EQ(write_column(&c, &out, &error), CST_CORRUPT);
  CHECK_EQ(out.size, 0);
}

static int write_some(void *context) {
  const char *path = context;
  column c = {.buffers = {NULL, narrow, text}};
  make_column(&c, "z", 4, 0, 3);
  cst_tfrecord_writer *writer;
  CST__TRY(cst_tfrecord_writer_open(path, NULL, &writer, NULL));
  cst_status status = cst_tfrecord_writer_write_arrow(writer, &c.schema, &c.array, NULL);
  if (status == CST_OK) {
    status = cst_tfrecord_writer_finish(writer, NULL);
  }
  cst_tfrecord_writer_free(writer);
  return (int)status;
}

TEST(allocations_that_fail) {
  FOR_EACH_ALLOCATION_FAILURE(write_some, (void *)(uintptr_t)harness_temp_path("alloc.gz"),
                              CST_NO_MEMORY);
}
