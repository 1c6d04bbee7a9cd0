/* Sinks of messages: what they write is what sources read, in every container and in shards; and
 * what is refused.
 */
#include <columnstone/sink.h>
#include <columnstone/source.h>
#include <unistd.h>

#include "arrow_text.h"
#include "message_sample.h"

typedef struct message_sink_case {
  const char *type;
  const char *rows;
  const char *path;
  cst_message_options message;
  cst_sink_options options;
} message_sink_case;

static message_sink_case make_sink_case(cst_descriptors *set, const char *type, const char *rows,
                                        const char *name) {
  message_sink_case c = {type, rows, harness_temp_path(name), CST_MESSAGE_OPTIONS_INIT,
                         CST_SINK_OPTIONS_INIT};
  c.message.descriptors = set;
  c.message.message = "t.M";
  return c;
}

static cst_status write_batch_to(const message_sink_case *c, const struct ArrowSchema *schema,
                                 const struct ArrowArray *array, cst_error *error) {
  cst_sink *sink = NULL;
  cst_status status = cst_sink_open(c->path, schema, &c->options, &sink, error);
  if (status == CST_OK) {
    status = cst_sink_write(sink, array, error);
  }
  if (status == CST_OK) {
    status = cst_sink_finish(sink, error);
  }
  cst_sink_free(sink);
  return status;
}

static cst_status write_messages(const message_sink_case *c, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text(c->type, c->rows, &schema, &array);
  cst_status status = write_batch_to(c, &schema, &array, error);
  array.release(&array);
  schema.release(&schema);
  return status;
}

static void check_content(const char *path, const char *expected, size_t size) {
  char buf[256];
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  CHECK_EQ(fread(buf, 1, sizeof buf, file), size);
  CHECK_MEM(buf, expected, size);
  fclose(file);
  unlink(path);
}
#define CHECK_CONTENT(path, expected) check_content(path, expected, sizeof expected - 1)

static void check_sink_refused(message_sink_case c, cst_status expected, const char *path,
                               const char *message) {
  cst_error error = CST_ERROR_INIT;
  c.options.message = &c.message;
  CHECK_EQ(write_messages(&c, &error), expected);
  CHECK_CONTAINS(error.message, message);
  CHECK_STR(error.path, path);
  CHECK(access(c.path, F_OK) != 0);
}

TEST(messages_to_a_container) {
  cst_descriptors *set = sample_descriptors();
  cst_error error = CST_ERROR_INIT;
  message_sink_case c = make_sink_case(set, "struct{s: string, an_int: int64}",
                                       "{'a', 5} {null, null} {'', 6}", "messages.bin");
  c.options.message = &c.message;
  c.options.container = "delimited"; /* what is described is the format, unless one is named */
  CHECK_EQ(write_messages(&c, &error), CST_OK);
  CHECK_STR(error.message, "");
  CHECK_CONTENT(c.path, "\x05\x08\x05\x42\x01"
                        "a"
                        "\0"
                        "\x04\x08\x06\x42\0");
  c.options.format = "message";
  CHECK_EQ(write_messages(&c, &error), CST_OK);
  CHECK_CONTENT(c.path, "\x05\x08\x05\x42\x01"
                        "a"
                        "\0"
                        "\x04\x08\x06\x42\0");
  cst_descriptors_release(set);
}

TEST(messages_from_a_source_to_a_sink) {
  cst_descriptors *set = sample_descriptors();
  cst_error error = CST_ERROR_INIT;
  message_sink_case c =
      make_sink_case(set, "struct{an_int: int32, kids: list<struct{s: string}>}",
                     "{1, [{'a'}, {null}]} {2, []} {3, null} {4, [{'b'}]}", "messages.tfrecord");
  const char *paths[] = {c.path};
  cst_source_options reading = CST_SOURCE_OPTIONS_INIT;
  cst_sink_options writing = CST_SINK_OPTIONS_INIT;
  cst_source *source;
  uint64_t rows;
  const char *path = harness_temp_path("again.bin");
  c.options.message = &c.message;
  CHECK_EQ(write_messages(&c, &error), CST_OK);
  reading.message = writing.message = &c.message;
  reading.batch_size = 3;
  writing.container = "delimited";
  CHECK_EQ(cst_source_open(paths, 1, &reading, &source, &error), CST_OK);
  CHECK_EQ(cst_convert(source, path, &writing, NULL, NULL, &rows, &error), CST_OK);
  CHECK_STR(error.message, "");
  CHECK_EQ(rows, 4);
  cst_source_release(source);
  CHECK_CONTENT(path, "\x09\x08\x01\x62\x03\x42\x01"
                      "a"
                      "\x62\0"
                      "\x02\x08\x02"
                      "\x02\x08\x03"
                      "\x07\x08\x04\x62\x03\x42\x01"
                      "b");
  unlink(c.path);
  cst_descriptors_release(set);
}

TEST(shards_of_messages) {
  cst_descriptors *set = sample_descriptors();
  message_sink_case c = make_sink_case(set, "struct{an_int: int32}", "{1} {2} {3}", "shards.bin");
  char name[] = "t.M";
  c.message.message = name; /* copied: later shards need it */
  c.options.message = &c.message;
  c.options.container = "delimited";
  c.options.num_shards = 2;
  c.options.expected_rows = 3;
  CHECK_EQ(write_messages(&c, NULL), CST_OK);
  CHECK_CONTENT(harness_temp_path("shards-00000-of-00002.bin"), "\x02\x08\x01\x02\x08\x02");
  CHECK_CONTENT(harness_temp_path("shards-00001-of-00002.bin"), "\x02\x08\x03");
  cst_descriptors_release(set);
}

TEST(messages_that_cannot_be_written) {
  cst_descriptors *set = sample_descriptors();
  message_sink_case c =
      make_sink_case(set, "struct{an_int: int64}", "{1} {5000000000}", "refused.tfrecord");
  check_sink_refused(c, CST_UNSUPPORTED, "an_int", "out of range for type");
  c.options.format = "example";
  check_sink_refused(c, CST_INVALID_ARGUMENT, "",
                     "the format example does not contain protobuf messages");
  c.options.format = "message";
  c.message.descriptors = NULL;
  check_sink_refused(c, CST_INVALID_ARGUMENT, "", "be written only with their descriptors");
  c.message.descriptors = set;
  c.message.message = "t.Nothing";
  check_sink_refused(c, CST_NOT_FOUND, "t.Nothing", "");
  c.message.message = "t.M";
  c.options.container = "lines";
  c.type = "struct{s: string}";
  c.rows = "{'a\nb'}";
  check_sink_refused(c, CST_UNSUPPORTED, "", "");
  c = make_sink_case(set, "struct{an_imt: int64}", "", "refused.tfrecord");
  check_sink_refused(c, CST_NOT_FOUND, "an_imt", "the message t.M has no such field");
  cst_descriptors_release(set);
}

typedef struct sink_memory {
  message_sink_case sink;
  struct ArrowSchema schema;
  struct ArrowArray array;
} sink_memory;

static int sink_scenario(void *context) {
  sink_memory *m = context;
  cst_error error = CST_ERROR_INIT;
  return (int)write_batch_to(&m->sink, &m->schema, &m->array, &error);
}

TEST(message_sinks_without_memory) {
  cst_descriptors *set = sample_descriptors();
  sink_memory m = {.sink =
                       make_sink_case(set, "struct{an_int: int64}", "{1} {2}", "memory.tfrecord")};
  m.sink.options.message = &m.sink.message;
  arrow_text(m.sink.type, m.sink.rows, &m.schema, &m.array);
  FOR_EACH_ALLOCATION_FAILURE(sink_scenario, &m, CST_NO_MEMORY);
  unlink(m.sink.path);
  m.array.release(&m.array);
  m.schema.release(&m.schema);
  cst_descriptors_release(set);
}
