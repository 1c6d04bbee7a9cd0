/* Record batches to the records of a container, by the encoder of what these hold. */
#include "arrow/records/encoder.h"
#include "base/alloc.h"
#include "format/payload/payload.h"
#include "format/sink/sink_format.h"

typedef struct record_sink {
  cst_allocator allocator;
  cst__output *output; /* lent */
  const cst__container *container;
  uint64_t written; /* records */
  cst_encoder *encoder;
  bool is_raw;                      /* the batches are the records */
  const struct ArrowSchema *schema; /* borrowed */
} record_sink;

static void records_free(void *ptr) {
  record_sink *sink = ptr;
  cst_encoder_free(sink->encoder);
  cst__delete(sink);
}

static cst_status records_open(const cst__sink_target *target, void **out, cst_error *error) {
  const cst_allocator allocator = cst__allocator_of(target->options->allocator);
  record_sink *sink = cst__new_zero(&allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  sink->allocator = allocator;
  sink->output = target->output;
  sink->container = target->container;
  sink->schema = target->schema;
  sink->is_raw = target->payload == &cst__raw_payload;
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  options.flags = target->options->lossy ? CST_ENCODE_LOSSY : 0;
  options.allocator = &allocator;
  options.schema = target->options->schema;
  options.message = target->options->message;
  cst_status status =
      target->payload->new_encoder(&options, target->format_options, &sink->encoder, error);
  if (status == CST_OK) {
    status = cst__encoder_prepare(sink->encoder, target->schema, error);
  }
  if (status != CST_OK) {
    records_free(sink);
    return status;
  }
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

static cst_status records_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  record_sink *sink = ptr;
  if (sink->is_raw) {
    return put_records(sink, sink->schema, batch, error);
  }
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

const cst__sink_format cst__sink_records = {
    .open = records_open,
    .write = records_write,
    .finish = records_finish,
    .free = records_free,
};
