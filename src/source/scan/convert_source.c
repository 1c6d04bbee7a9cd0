/* All batches of a source to a sink, one at a time, so that their buffers are used again. */
#include <columnstone/sink.h>

#include "base/arguments.h"
#include "format/sink.h"
#include "source/pass/arrow_schema.h"
#include "source/pass/pass.h"

/* Who is told how far it is; `call` may be NULL. */
typedef struct conversion_progress {
  cst_progress_callback call;
  void *ctx;
} conversion_progress;

/* Writes all batches of a pass, in order. */
static cst_status write_batches(cst_pass *pass, cst_sink *sink, conversion_progress progress,
                                cst_error *error) {
  for (;;) {
    struct ArrowArray batch;
    uint64_t bytes;
    uint64_t rows;
    CST__TRY(cst_pass_next(pass, &batch, error));
    if (batch.release == NULL) {
      return cst_sink_finish(sink, error);
    }
    cst_status status = cst_sink_write(sink, &batch, error);
    batch.release(&batch); /* before the next one: its buffers are used again */
    CST__TRY(status);
    cst_pass_progress(pass, &bytes, &rows);
    if (progress.call != NULL && !progress.call(progress.ctx, bytes, rows)) {
      return cst__fail(error, CST_CALLBACK, NULL, "stopped by the caller");
    }
  }
}

static cst_status convert_open_sink(cst_source *source, const char *path,
                                    const cst_sink_options *options, cst_sink **sink,
                                    cst_error *error) {
  struct ArrowSchema schema;
  cst_sink_options own = *options;
  own.keep_existing = !options->overwrite;
  CST__TRY(cst_source_arrow_schema(source, &schema, error));
  cst_status status = cst_sink_open(path, &schema, &own, sink, error);
  schema.release(&schema);
  return status;
}

static cst_status fail_existing(const char *path, cst_error *error) {
  (void)cst__fail(error, CST_IO, "name another output, or allow overwriting", "the output exists");
  cst__error_add_file(error, path);
  return CST_IO;
}

cst_status cst_convert(cst_source *source, const char *path, const cst_sink_options *options,
                       cst_progress_callback on_progress, void *ctx, uint64_t *rows,
                       cst_error *error) {
  CST__CLEAR(rows);
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  const conversion_progress progress = {on_progress, ctx};
  cst_pass *pass = NULL;
  cst_sink *sink = NULL;
  if (source == NULL) {
    return cst__missing("source", error);
  }
  CST__TRY(
      cst_sink_format(path, options, NULL, error)); /* a schema may have to be inferred first */
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  if (!own.overwrite && cst_sink_exists(path, &own)) {
    return fail_existing(path, error);
  }
  cst_status status = convert_open_sink(source, path, &own, &sink, error);
  if (status == CST_OK) {
    status = cst_pass_new(source, &pass, error);
  }
  if (status == CST_OK) {
    status = write_batches(pass, sink, progress, error);
  }
  if (status == CST_OK && rows != NULL) {
    *rows = (uint64_t)cst__sink_rows(sink);
  }
  cst_pass_free(pass);
  cst_sink_free(sink);
  return status;
}
