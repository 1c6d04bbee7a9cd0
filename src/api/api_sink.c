/* <columnstone/sink.h>: argument checks and hand-over. (The TFRecord writer has a file of its own.)
 */
#include <columnstone/sink.h>
#include <string.h>

#include "base/arguments.h"
#include "format/sink.h"
#include "format/sink_name.h"
#include "io/output.h"
#include "source/scan/convert_source.h"

static cst_status check_path(const char *path, cst_error *error) {
  if (path == NULL || path[0] == '\0') {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the output has no path");
  }
  return CST_OK;
}

static cst_status check_sink_schema(const struct ArrowSchema *schema, cst_error *error) {
  if (schema == NULL || schema->release == NULL || schema->format == NULL ||
      strcmp(schema->format, "+s") != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "pass the schema of a record batch",
                     "the schema is not a struct of columns, or released");
  }
  return CST_OK;
}

static cst_status read_sink_options(const cst_sink_options *options, cst_sink_options *own,
                                    cst_error *error) {
  CST__TRY(cst__read_options(own, sizeof *own, options, error));
  if ((uint32_t)own->compression > CST_COMPRESSION_ZSTD) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "see cst_compression",
                     "no compression has the number %d", (int)own->compression);
  }
  CST__TRY(cst__check_part(own->message, sizeof *own->message, "message options", error));
  CST__TRY(cst__check_part(own->csv, sizeof *own->csv, "CSV options", error));
  return cst__check_allocator(own->allocator, error);
}

cst_status cst_sink_open(const char *path, const struct ArrowSchema *schema,
                         const cst_sink_options *options, cst_sink **out, cst_error *error) {
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(check_path(path, error));
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(check_sink_schema(schema, error));
  CST__TRY(read_sink_options(options, &own, error));
  return cst__sink_open(path, schema, &own, out, error);
}

static cst_status check_writer_call(const cst_writer *writer, const struct ArrowSchema *schema,
                                    const cst_sink_options *options, cst_sink_options *own,
                                    cst_sink **out, cst_error *error) {
  if (out == NULL || writer->write == NULL) {
    return cst__missing(out == NULL ? "out" : "writer->write", error);
  }
  CST__TRY(check_sink_schema(schema, error));
  CST__TRY(read_sink_options(options, own, error));
  return own->format != NULL ? CST_OK
                             : cst__fail(error, CST_INVALID_ARGUMENT, "name one in the options",
                                         "a writer has no name that tells the format");
}

cst_status cst_sink_open_writer(const cst_writer *writer, const struct ArrowSchema *schema,
                                const cst_sink_options *options, cst_sink **out, cst_error *error) {
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  cst_writer taken = {0};
  CST__CLEAR(out);
  if (writer == NULL) {
    return cst__missing("writer", error);
  }
  cst_status status = cst__read_sized(&taken, sizeof taken, writer, "writer", error);
  if (status == CST_OK) {
    status = check_writer_call(&taken, schema, options, &own, out, error);
  }
  if (status == CST_OK) {
    return cst__sink_open_writer(&taken, schema, &own, out, error);
  }
  cst__writer_refuse(&taken);
  return status;
}

cst_status cst_sink_check(const char *path, const cst_sink_options *options, cst_error *error) {
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  CST__TRY(check_path(path, error));
  CST__TRY(read_sink_options(options, &own, error));
  return cst__sink_check(path, &own, error);
}

bool cst_sink_exists(const char *path, const cst_sink_options *options) {
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  return path != NULL && read_sink_options(options, &own, NULL) == CST_OK &&
         cst__sink_exists(path, &own);
}

cst_status cst_sink_write(cst_sink *sink, const struct ArrowArray *batch, cst_error *error) {
  if (sink == NULL || batch == NULL) {
    return cst__missing(sink == NULL ? "sink" : "batch", error);
  }
  if (batch->release == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the batch is released");
  }
  if (batch->length < 0) {
    return cst__fail(error, CST_CORRUPT, NULL, "a batch of %lld rows", (long long)batch->length);
  }
  return cst__sink_write(sink, batch, error);
}

cst_status cst_sink_finish(cst_sink *sink, cst_error *error) {
  return sink != NULL ? cst__sink_finish(sink, error) : cst__missing("sink", error);
}

void cst_sink_free(cst_sink *sink) { cst__sink_free(sink); }

cst_status cst_convert(cst_source *source, const char *path, const cst_sink_options *options,
                       cst_progress_callback on_progress, void *ctx, uint64_t *rows,
                       cst_error *error) {
  CST__CLEAR(rows);
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  CST__TRY(check_path(path, error));
  if (source == NULL) {
    return cst__missing("source", error);
  }
  CST__TRY(read_sink_options(options, &own, error));
  const cst__conversion_progress progress = {on_progress, ctx};
  return cst__convert(source, path, &own, progress, rows, error);
}
