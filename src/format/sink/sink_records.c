/* Record batches to the records of a container: tf.Examples, tf.SequenceExamples, messages of any
 * type, or a binary column as it is. */
#include <columnstone/example.h>
#include <columnstone/sequence.h>
#include <string.h>

#include "base/alloc.h"
#include "format/payload/payload.h"
#include "format/sink/sink_format.h"
#include "message/encode/message_encoder.h"

typedef struct record_sink {
  cst_allocator allocator;
  cst__output *output; /* lent */
  const cst__container *container;
  uint64_t written;                 /* records */
  cst_encoder *encoder;             /* NULL: raw */
  const struct ArrowSchema *schema; /* borrowed */
} record_sink;

static void records_free(void *ptr) {
  record_sink *sink = ptr;
  cst_encoder_free(sink->encoder);
  cst__delete(sink);
}

static cst_status records_new(const cst__sink_target *open, record_sink **out, cst_error *error) {
  const cst_allocator allocator = cst__allocator_of(open->options->allocator);
  record_sink *sink = cst__new_zero(&allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  sink->allocator = allocator;
  sink->output = open->output;
  sink->container = open->container;
  sink->schema = open->schema;
  *out = sink;
  return CST_OK;
}

static cst_status put_records(record_sink *sink, const struct ArrowSchema *schema,
                              const struct ArrowArray *records, cst_error *error) {
  sink->written += (uint64_t)records->length;
  CST__TRY(cst__container_check_count(sink->container, sink->written, false, error));
  return cst__container_write_arrow(sink->container, sink->output, schema, records,
                                    &sink->allocator, error);
}

static cst_status encode_and_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  record_sink *sink = ptr;
  struct ArrowSchema schema;
  struct ArrowArray records;
  CST__TRY(cst_encoder_encode(sink->encoder, sink->schema, batch, &schema, &records, error));
  cst_status status = put_records(sink, &schema, &records, error);
  records.release(&records);
  schema.release(&schema);
  return status;
}

static cst_status records_finish(void *ptr, cst_error *error) {
  const record_sink *sink = ptr;
  return cst__container_check_count(sink->container, sink->written, true, error);
}

/* A sink with this encoder, which it takes over. */
static cst_status open_encoding(const cst__sink_target *open, cst_encoder *encoder, void **out,
                                cst_error *error) {
  record_sink *sink = NULL;
  cst_status status = records_new(open, &sink, error);
  if (status != CST_OK) {
    cst_encoder_free(encoder);
    return status;
  }
  sink->encoder = encoder;
  *out = sink;
  return CST_OK;
}

static cst_encode_options encode_options_of(const cst__sink_target *open) {
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  options.flags = open->options->lossy ? CST_ENCODE_LOSSY : 0;
  options.allocator = open->options->allocator;
  return options;
}

/* ---- example ---- */

static cst_status example_open(const cst__sink_target *open, void **out, cst_error *error) {
  const cst_encode_options options = encode_options_of(open);
  cst_encoder *encoder;
  CST__TRY(cst_example_encoder_new(open->options->schema, &options, &encoder, error));
  return open_encoding(open, encoder, out, error);
}

const cst__sink_format cst__sink_example = {
    .name = "example",
    .open = example_open,
    .write = encode_and_write,
    .finish = records_finish,
    .free = records_free,
};

/* ---- sequence_example ---- */

static cst_status sequence_open(const cst__sink_target *open, void **out, cst_error *error) {
  cst_sequence_options options = CST_SEQUENCE_OPTIONS_INIT;
  cst_encoder *encoder;
  options.sequence_column = ((const cst__sequence_settings *)open->format_options)->column;
  options.flags = open->options->lossy ? CST_ENCODE_LOSSY : 0;
  options.allocator = open->options->allocator;
  CST__TRY(cst_sequence_encoder_new(open->options->schema, &options, &encoder, error));
  return open_encoding(open, encoder, out, error);
}

/* A struct column of the name that the options tell. */
static bool sequence_matches(const struct ArrowSchema *schema, const cst_sink_options *options) {
  const char *name = cst__option_given(options->format_options, options->num_format_options,
                                       "sequence_example", "sequence_column");
  name = name != NULL ? name : CST_SEQUENCE_COLUMN;
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *column = schema->children[i];
    if (column->name != NULL && strcmp(column->name, name) == 0) {
      return strcmp(column->format, "+s") == 0;
    }
  }
  return false;
}

const cst__sink_format cst__sink_sequence = {
    .name = "sequence_example",
    .open = sequence_open,
    .matches = sequence_matches,
    .write = encode_and_write,
    .finish = records_finish,
    .free = records_free,
};

/* ---- message ---- */

static cst_status message_open(const cst__sink_target *open, void **out, cst_error *error) {
  const cst_message_options *message = open->options->message;
  if (message == NULL || message->descriptors == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "give their descriptors, as protoc --include_imports -o writes them, and the "
                     "type's name: descriptors and message, or --proto-set and --message",
                     "messages can only be written with their descriptors");
  }
  const cst_encode_options options = encode_options_of(open);
  cst_encoder *encoder;
  CST__TRY(cst_message_encoder_new(message, &options, &encoder, error));
  cst_status status = cst__message_encoder_prepare(encoder, open->schema, error);
  if (status != CST_OK) {
    cst_encoder_free(encoder);
    return status;
  }
  return open_encoding(open, encoder, out, error);
}

const cst__sink_format cst__sink_message = {
    .name = "message",
    .open = message_open,
    .write = encode_and_write,
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
  *out = sink;
  return CST_OK;
}

static cst_status raw_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  record_sink *sink = ptr;
  return put_records(sink, sink->schema, batch, error);
}

/* One plain binary column of the name `record`, as sources of the format raw have it. */
static bool raw_matches(const struct ArrowSchema *schema, const cst_sink_options *options) {
  (void)options;
  if (schema->n_children != 1 || schema->children[0]->name == NULL ||
      strcmp(schema->children[0]->name, "record") != 0) {
    return false;
  }
  const char *format = schema->children[0]->format;
  return strcmp(format, "z") == 0 || strcmp(format, "Z") == 0 || strcmp(format, "vz") == 0;
}

const cst__sink_format cst__sink_raw = {
    .name = "raw",
    .open = raw_open,
    .matches = raw_matches,
    .write = raw_write,
    .finish = records_finish,
    .free = records_free,
};
