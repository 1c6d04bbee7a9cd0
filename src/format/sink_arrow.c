/* Record batches to Arrow IPC files and streams. */
#include "arrow/ipc.h"
#include "format/sink_format.h"
#include "io/output.h"

typedef struct arrow_sink {
  cst__output *output;
  cst__ipc_writer *writer;
} arrow_sink;

static void arrow_free(void *ptr) {
  arrow_sink *sink = ptr;
  cst__ipc_writer_free(sink->writer);
  cst__output_free(sink->output);
  cst__delete(sink);
}

static cst_status write_bytes(void *ctx, const void *data, size_t size, cst_error *error) {
  return cst__output_write(ctx, data, size, error);
}

static cst_status arrow_open(const cst__sink_target *open, bool is_file, void **out,
                             cst_error *error) {
  const cst_sink_options *options = open->options;
  cst_allocator allocator = cst__allocator_of(options->allocator);
  arrow_sink *sink = cst__new_zero(&allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  cst_status status = cst__output_open(open->path, options->compression, options->level, &allocator,
                                       &sink->output, error);
  if (status == CST_OK) {
    status = cst__ipc_writer_new(open->schema, is_file, write_bytes, sink->output, &allocator,
                                 &sink->writer, error);
  }
  if (status != CST_OK) {
    arrow_free(sink);
    return status;
  }
  *out = sink;
  return CST_OK;
}

static cst_status file_open(const cst__sink_target *open, void **out, cst_error *error) {
  return arrow_open(open, true, out, error);
}

static cst_status stream_open(const cst__sink_target *open, void **out, cst_error *error) {
  return arrow_open(open, false, out, error);
}

static cst_status arrow_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  arrow_sink *sink = ptr;
  return cst__ipc_write_batch(sink->writer, batch, error);
}

static cst_status arrow_finish(void *ptr, cst_error *error) {
  arrow_sink *sink = ptr;
  CST__TRY(cst__ipc_finish(sink->writer, error));
  return cst__output_finish(sink->output, error);
}

const cst__sink_format cst__sink_arrow_file = {
    .name = "arrow",
    .open = file_open,
    .write = arrow_write,
    .finish = arrow_finish,
    .free = arrow_free,
};

const cst__sink_format cst__sink_arrow_stream = {
    .name = "arrows",
    .open = stream_open,
    .write = arrow_write,
    .finish = arrow_finish,
    .free = arrow_free,
};
