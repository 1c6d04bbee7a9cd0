/* Opening the inputs of a verb by its settings, and writing small files. */
#include <unistd.h>

#include "cli.h"

/* A batch also ends here, so that memory is bounded whatever the records' size. */
enum { BATCH_BYTES = 16 << 20, USUAL_THREADS = 2 };

cst_status cli_read_schema(const cli_settings *settings, cst_schema **out, cst_error *error) {
  *out = NULL;
  return settings->schema == NULL ? CST_OK : cst_schema_open(settings->schema, out, error);
}

static int32_t usual_threads(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : cores < USUAL_THREADS ? (int32_t)cores : USUAL_THREADS;
}

/* Between the rows of a verb that prints them to the same terminal, but never within a line. */
static bool print_warning(void *ctx, const cst_error *warning) {
  (void)ctx;
  fflush(stdout);
  fputs("warning: ", stderr);
  cli_print_error(stderr, warning);
  fputc('\n', stderr);
  return true;
}

cst_source_options cli_source_options(const cli_settings *settings, const cst_schema *schema) {
  cst_source_options options = settings->source;
  options.schema = schema;
  options.batch_bytes = BATCH_BYTES;
  options.threads = options.threads > 0 ? options.threads : usual_threads();
  options.format_options = settings->formats.input;
  options.num_format_options = settings->formats.num_input;
  options.message = cli_message_of_input(settings);
  options.on_warning = print_warning;
  return options;
}

cst_status cli_open(const cli_settings *settings, const char *const *paths, size_t num_paths,
                    cli_dropped *dropped, cst_source **out, cst_error *error) {
  cst_schema *schema;
  cst_status status = cli_read_schema(settings, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  cst_source_options options = cli_source_options(settings, schema);
  options.on_dropped = dropped != NULL ? cli_print_dropped : NULL;
  options.dropped_ctx = dropped;
  status = cli_open_source(paths, num_paths, &options, out, error);
  cst_schema_release(schema);
  return status;
}

cst_status cli_write_file(const char *path, const char *data, size_t size, cst_error *error) {
  cst_tfrecord_writer *writer;
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  options.container = "file"; /* the bytes of one record, as they are */
  options.compression = CST_COMPRESSION_NONE;
  cst_status status = cst_tfrecord_writer_open(path, &options, &writer, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_tfrecord_writer_write(writer, data, size, error);
  if (status == CST_OK) {
    status = cst_tfrecord_writer_finish(writer, error);
  }
  cst_tfrecord_writer_free(writer);
  return status;
}
