/* Sinks of every kind that were opened before a fork: the child is told so, and neither waits for
 * threads that it does not have nor writes into the parent's file.
 */
#include <columnstone/sink.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arrow_text.h"
#include "io_support.h"
#include "message_sample.h"

typedef struct sink_kind {
  const char *name;
  const char *type;
  const char *rows;
  const char *sequence_column;
  bool of_messages;
} sink_kind;

static const sink_kind sink_kinds[] = {
    {"out.tfrecord", "struct{a: large_list<int64>}", "{[1, 2]} {null}", NULL, false},
    {"out.tfrecord.gz", "struct{record: large_binary}", "{'ab'} {''}", NULL, false},
    {"out.tfrecord.zst", "struct{s: struct{f: large_list<large_list<int64>>}}", "{{[[1]]}}", "s",
     false},
    {"out.tfrecord.zz", "struct{s: string}", "{'a'} {'b'}", NULL, true},
    {"out.jsonl", "struct{a: int64}", "{1} {null}", NULL, false},
    {"out.csv", "struct{a: int64}", "{1} {2}", NULL, false},
    {"out.arrow", "struct{a: int64}", "{1} {null}", NULL, false},
    {"out.arrows", "struct{a: list<string>}", "{['x']} {null}", NULL, false},
};

typedef struct open_sink {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_sink *sink;
  bytes written; /* by a caller's writer */
} open_sink;

static cst_status add_written(void *ctx, const void *data, size_t size, cst_error *error) {
  (void)error;
  bytes_add(ctx, data, size);
  return CST_OK;
}

/* way: 0, 1: a file without and with a thread; 2: shards with threads; 3: a caller's writer. */
static bool open_kind(const sink_kind *kind, int way, open_sink *s) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_writer writer = CST_WRITER_INIT;
  cst_error error = CST_ERROR_INIT;
  *s = (open_sink){.sink = NULL};
  arrow_text(kind->type, kind->rows, &s->schema, &s->batch);
  options.threads = way == 0 ? 1 : 2;
  options.num_shards = way == 2 ? 2 : 0;
  const cst_option column = {"sequence_column", kind->sequence_column, "sequence_example"};
  options.format_options = &column;
  options.num_format_options = kind->sequence_column != NULL;
  cst_descriptors *descriptors = kind->of_messages ? sample_descriptors() : NULL;
  message.descriptors = descriptors;
  message.message = "t.M";
  options.message = kind->of_messages ? &message : NULL;
  writer.write = add_written;
  writer.ctx = &s->written;
  if (way == 3) {
    options.format = kind->of_messages ? "message" : "json";
    (void)cst_sink_open_writer(&writer, &s->schema, &options, &s->sink, &error);
  } else {
    (void)cst_sink_open(harness_temp_path(kind->name), &s->schema, &options, &s->sink, &error);
  }
  CHECK_STR(error.message, "");
  cst_descriptors_release(descriptors);
  return s->sink != NULL;
}

static void close_kind(open_sink *s) {
  cst_sink_free(s->sink);
  s->batch.release(&s->batch);
  s->schema.release(&s->schema);
  bytes_free(&s->written);
}

static bool is_told(cst_status status, const cst_error *error) {
  return status == CST_STATE &&
         strcmp(error->message, "this output was created before a fork") == 0;
}

static int use_sink_in_child(const open_sink *s) {
  cst_error error = CST_ERROR_INIT;
  (void)alarm(60);
  if (!is_told(cst_sink_write(s->sink, &s->batch, &error), &error)) return 1;
  if (!is_told(cst_sink_finish(s->sink, &error), &error)) return 2;
  cst_sink_free(s->sink);
  return 0;
}

TEST(a_sink_opened_before_a_fork_is_the_parents) {
  for (size_t k = 0; k < sizeof sink_kinds / sizeof *sink_kinds; k++) {
    for (int way = 0; way < 4; way++) {
      open_sink s;
      cst_error error = CST_ERROR_INIT;
      if (!open_kind(&sink_kinds[k], way, &s)) continue;
      CHECK_EQ(cst_sink_write(s.sink, &s.batch, &error), CST_OK);
      int status = -1;
      pid_t child = fork();
      if (child == 0) _exit(use_sink_in_child(&s));
      CHECK_EQ(waitpid(child, &status, 0), child);
      CHECK_EQ(status, 0);
      CHECK_EQ(cst_sink_write(s.sink, &s.batch, &error), CST_OK);
      CHECK_EQ(cst_sink_finish(s.sink, &error), CST_OK);
      CHECK_STR(error.message, "");
      CHECK_EQ(s.written.size > 0, way == 3);
      close_kind(&s);
    }
  }
}

static int use_writer_in_child(cst_tfrecord_writer *writer, size_t size) {
  static const char record[1 << 16];
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_OK;
  (void)alarm(60);
  for (size_t i = 0; i < size && status == CST_OK;
       i += sizeof record) { /* more than buffers take */
    status = cst_tfrecord_writer_write(writer, record, sizeof record, &error);
  }
  if (!is_told(status, &error)) return 1;
  if (!is_told(cst_tfrecord_writer_finish(writer, &error), &error)) return 2;
  cst_tfrecord_writer_free(writer);
  return 0;
}

TEST(a_writer_opened_before_a_fork_is_the_parents) {
  const char *path = harness_temp_path("forked.tfrecord");
  cst_tfrecord_writer *writer;
  bytes expected = {0};
  int status = -1;
  CHECK_EQ(cst_tfrecord_writer_open(path, NULL, &writer, NULL), CST_OK);
  CHECK_EQ(cst_tfrecord_writer_write(writer, "one", 3, NULL), CST_OK);
  pid_t child = fork();
  if (child == 0) _exit(use_writer_in_child(writer, 8 << 20));
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  CHECK_EQ(cst_tfrecord_writer_write(writer, "two", 3, NULL), CST_OK);
  CHECK_EQ(cst_tfrecord_writer_finish(writer, NULL), CST_OK);
  cst_tfrecord_writer_free(writer);
  bytes_add_record(&expected, "one", 3);
  bytes_add_record(&expected, "two", 3);
  char found[64];
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  CHECK_EQ(fread(found, 1, sizeof found, file), expected.size);
  CHECK_MEM(found, expected.data, expected.size);
  fclose(file);
  bytes_free(&expected);
}
