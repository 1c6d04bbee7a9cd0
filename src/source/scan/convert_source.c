/* All batches of a source to a sink, one at a time, so that their buffers are used again. */
#include "source/scan/convert_source.h"

#include "format/sink.h"
#include "format/sink_name.h"
#include "source/pass/arrow_schema.h"
#include "source/pass/pass.h"

typedef struct conversion {
  cst_pass *pass;
  cst_sink *sink;
  cst_progress_callback on_progress; /* may be NULL */
  void *ctx;
} conversion;

static cst_status report_conversion(const conversion *work, cst_error *error) {
  uint64_t bytes;
  uint64_t rows;
  if (work->on_progress == NULL) {
    return CST_OK;
  }
  cst__pass_progress(work->pass, &bytes, &rows);
  if (!work->on_progress(work->ctx, bytes, rows)) {
    return cst__fail(error, CST_CALLBACK, NULL, "stopped by the caller");
  }
  return CST_OK;
}

static cst_status write_batches(const conversion *work, cst_error *error) {
  for (;;) {
    struct ArrowArray batch = {.release = NULL};
    CST__TRY(cst__pass_next(work->pass, &batch, error));
    if (batch.release == NULL) {
      return cst__sink_finish(work->sink, error);
    }
    cst_status status = cst__sink_write(work->sink, &batch, error);
    batch.release(&batch); /* before the next one: its buffers are used again */
    CST__TRY(status);
    CST__TRY(report_conversion(work, error));
  }
}

static cst_status open_and_write(cst_source *source, const char *path,
                                 const cst_sink_options *options, conversion *work,
                                 cst_error *error) {
  struct ArrowSchema schema = {.release = NULL};
  CST__TRY(cst__source_arrow_schema(source, &schema, error));
  cst_status status = cst__sink_open(path, &schema, options, &work->sink, error);
  schema.release(&schema);
  CST__TRY(status);
  CST__TRY(cst__pass_new(source, &work->pass, error));
  return write_batches(work, error);
}

static cst_status fail_existing(const char *path, cst_error *error) {
  (void)cst__fail(error, CST_IO, "name another output, or allow to overwrite it",
                  "the output exists");
  cst__error_add_file(error, path);
  return CST_IO;
}

cst_status cst__convert(cst_source *source, const char *path, const cst_sink_options *options,
                        cst_progress_callback on_progress, void *ctx, uint64_t *rows,
                        cst_error *error) {
  CST__TRY(cst__sink_check(path, options, error)); /* a schema may have to be inferred first */
  if (!options->overwrite && cst__sink_exists(path, options)) {
    return fail_existing(path, error);
  }
  conversion work = {.on_progress = on_progress, .ctx = ctx};
  cst_status status = open_and_write(source, path, options, &work, error);
  if (status == CST_OK && rows != NULL) {
    *rows = (uint64_t)cst__sink_rows(work.sink);
  }
  cst__pass_free(work.pass);
  cst__sink_free(work.sink);
  return status;
}
