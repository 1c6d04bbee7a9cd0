/* Record batches to TFRecord files: as tf.Examples, or a binary column as it is. */
#include <string.h>

#include "base/alloc.h"
#include "format/sink_format.h"

typedef struct record_sink {
  cst_tfrecord_writer *writer;
  cst_example_encoder *encoder;     /* NULL for raw */
  const struct ArrowSchema *schema; /* borrowed */
} record_sink;

static void records_free(void *ptr) {
  record_sink *sink = ptr;
  cst_tfrecord_writer_free(sink->writer);
  cst_example_encoder_free(sink->encoder);
  cst__delete(sink);
}

static cst_status records_new(const cst__sink_target *open, record_sink **out, cst_error *error) {
  const cst_allocator allocator = cst__allocator_of(open->options->allocator);
  record_sink *sink = cst__new_zero(&allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  sink->schema = open->schema;
  *out = sink;
  return CST_OK;
}

static cst_status open_writer(record_sink *sink, const cst__sink_target *open, void **out,
                              cst_error *error) {
  cst_status status = cst_tfrecord_writer_open(open->path, open->options, &sink->writer, error);
  if (status != CST_OK) {
    records_free(sink);
    return status;
  }
  *out = sink;
  return CST_OK;
}

static cst_status records_finish(void *ptr, cst_error *error) {
  record_sink *sink = ptr;
  return cst_tfrecord_writer_finish(sink->writer, error);
}

/* ---- example ---- */

static cst_status example_open(const cst__sink_target *open, void **out, cst_error *error) {
  record_sink *sink = NULL;
  CST__TRY(records_new(open, &sink, error));
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  options.flags = open->options->lossy ? CST_ENCODE_LOSSY : 0;
  options.allocator = open->options->allocator;
  cst_status status =
      cst_example_encoder_new(open->options->schema, &options, &sink->encoder, error);
  if (status != CST_OK) {
    records_free(sink);
    return status;
  }
  return open_writer(sink, open, out, error);
}

static cst_status example_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  record_sink *sink = ptr;
  struct ArrowSchema schema;
  struct ArrowArray records;
  CST__TRY(
      cst_example_encoder_encode(sink->encoder, sink->schema, batch, &schema, &records, error));
  cst_status status = cst_tfrecord_writer_write_arrow(sink->writer, &schema, &records, error);
  records.release(&records);
  schema.release(&schema);
  return status;
}

const cst__sink_format cst__sink_example = {
    .name = "example",
    .open = example_open,
    .write = example_write,
    .finish = records_finish,
    .free = records_free,
};

/* ---- raw ---- */

static bool is_binary(const struct ArrowSchema *schema) {
  static const char *const formats[] = {"z", "Z", "vz", "u", "U", "vu"};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    if (strcmp(schema->format, formats[i]) == 0) {
      return true;
    }
  }
  return false;
}

static cst_status raw_open(const cst__sink_target *open, void **out, cst_error *error) {
  const struct ArrowSchema *schema = open->schema;
  if (schema->n_children != 1 || !is_binary(schema->children[0])) {
    return cst__fail(error, CST_UNSUPPORTED, "read with the format raw, or write another format",
                     "raw records are one binary column, and there are %lld columns%s",
                     (long long)schema->n_children,
                     schema->n_children == 1 ? " of another type" : "");
  }
  record_sink *sink = NULL;
  CST__TRY(records_new(open, &sink, error));
  return open_writer(sink, open, out, error);
}

/* The column of a batch that may itself be a slice: its slots are those of the struct. */
static cst_status raw_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  record_sink *sink = ptr;
  if (batch->n_children != 1 || batch->children[0]->length < batch->offset + batch->length) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the batch has %lld columns, and its schema has 1",
                     (long long)batch->n_children);
  }
  struct ArrowArray column = *batch->children[0]; /* a look; never released */
  column.offset += batch->offset;
  column.length = batch->length;
  column.null_count = column.null_count == 0 ? 0 : -1;
  return cst_tfrecord_writer_write_arrow(sink->writer, sink->schema->children[0], &column, error);
}

const cst__sink_format cst__sink_raw = {
    .name = "raw",
    .open = raw_open,
    .write = raw_write,
    .finish = records_finish,
    .free = records_free,
};
