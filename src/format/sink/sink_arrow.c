/* Record batches to Arrow IPC files and streams. */
#include "arrow/ipc/ipc.h"
#include "format/sink/sink_format.h"

static void arrow_free(void *ptr) { cst__ipc_writer_free(ptr); }

static cst_status write_arrow_bytes(void *ctx, const void *data, size_t size, cst_error *error) {
  return cst__output_write(ctx, data, size, error);
}

static cst_status open_arrow_sink(const cst__sink_target *open, bool is_file, void **out,
                                  cst_error *error) {
  cst_allocator allocator = cst__allocator_of(open->options->allocator);
  cst__ipc_writer *writer = NULL;
  CST__TRY(cst__ipc_writer_new(open->schema, is_file, write_arrow_bytes, open->output, &allocator,
                               &writer, error));
  *out = writer;
  return CST_OK;
}

static cst_status file_open(const cst__sink_target *open, void **out, cst_error *error) {
  return open_arrow_sink(open, true, out, error);
}

static cst_status stream_open(const cst__sink_target *open, void **out, cst_error *error) {
  return open_arrow_sink(open, false, out, error);
}

static cst_status arrow_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  return cst__ipc_write_batch(ptr, batch, error);
}

static cst_status arrow_finish(void *ptr, cst_error *error) { return cst__ipc_finish(ptr, error); }

const cst__sink_format cst__sink_arrow_file = {
    .open = file_open,
    .write = arrow_write,
    .finish = arrow_finish,
    .free = arrow_free,
};

const cst__sink_format cst__sink_arrow_stream = {
    .open = stream_open,
    .write = arrow_write,
    .finish = arrow_finish,
    .free = arrow_free,
};
