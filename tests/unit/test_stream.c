/* Passes as Arrow C streams. */
#include <errno.h>

#include "source_support.h"

TEST(a_stream_owns_what_it_needs) {
  const char *path = write_examples("stream", 0, 100);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.batch_size = 40;
  options.threads = 2;
  cst_source *source;
  struct ArrowArrayStream stream;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_stream(source, &stream, NULL), CST_OK);
  cst_source_release(source);
  struct ArrowSchema schema;
  CHECK_EQ(stream.get_schema(&stream, &schema), 0);
  CHECK_EQ(schema.n_children, 3);
  bytes text = {0};
  bytes expected = {0};
  for (;;) {
    struct ArrowArray batch;
    CHECK_EQ(stream.get_next(&stream, &batch), 0);
    if (batch.release == NULL) {
      break;
    }
    text_of_batch(&text, &schema, &batch);
    batch.release(&batch);
  }
  CHECK(stream.get_last_error(&stream) == NULL);
  expected_text(&expected, 100, 40);
  check_same(&text, &expected);
  stream.release(&stream);
  CHECK(stream.release == NULL);
  schema.release(&schema);
  bytes_free(&text);
  bytes_free(&expected);
}

TEST(errors_come_as_text) {
  bytes file = {0};
  add_examples(&file, 0, 100);
  file.data[record_offset(&file, 60) + 20] ^= 1;
  const char *path = write_bytes("damaged", &file);
  bytes_free(&file);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  cst_source *source;
  struct ArrowArrayStream stream;
  struct ArrowArray batch;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_stream(source, &stream, NULL), CST_OK);
  CHECK_EQ(stream.get_next(&stream, &batch), EINVAL);
  CHECK_CONTAINS(stream.get_last_error(&stream), path);
  CHECK_CONTAINS(stream.get_last_error(&stream), "record 60");
  CHECK_EQ(stream.get_next(&stream, &batch), EINVAL);
  stream.release(&stream);
  cst_source_release(source);
}

static int stream_scenario(void *ctx) {
  const char *path = ctx;
  cst_source *source;
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  CST__TRY(cst_source_open(&path, 1, NULL, &source, NULL));
  cst_status status = cst_source_stream(source, &stream, NULL);
  cst_source_release(source);
  CST__TRY(status);
  int failed = stream.get_schema(&stream, &schema);
  if (failed == 0) {
    schema.release(&schema);
  }
  stream.release(&stream);
  return failed == ENOMEM ? CST_NO_MEMORY : failed;
}

TEST(every_allocation_failure_is_reported) {
  FOR_EACH_ALLOCATION_FAILURE(stream_scenario, (void *)write_examples("oom", 0, 5), CST_NO_MEMORY);
}
