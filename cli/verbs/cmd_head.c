/* columnstone head: the first records as JSON lines.
 *
 * The source infers what it has to from the records that are shown, and batches have one record, so
 * that nothing is read beyond them, and what is good before a fault is printed before the fault is
 * reported. Files of whole formats are sources of their own, which may have other columns.
 */
#include <string.h>
#include <unistd.h>

#include "cli.h"

static void put_on_terminal(void *ctx, const char *data, size_t size) {
  (void)ctx;
  fwrite(data, 1, size, stdout); /* which cli_flush checks */
}

static cst_status shorten(void *ctx, const void *data, size_t size, cst_error *error) {
  (void)error;
  cli_shorten(ctx, data, size);
  return CST_OK;
}

/* Lines on standard output: whole, but for a person. */
static cst_status open_lines(const cli_settings *settings, cli_shortener *shortener,
                             const struct ArrowSchema *schema, cst_sink **out, cst_error *error) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  options.format = "json";
  if (settings->full || !isatty(STDOUT_FILENO)) {
    return cst_sink_open("-", schema, &options, out, error);
  }
  *shortener = (cli_shortener){.put = put_on_terminal};
  cst_writer writer = {
      .size = sizeof writer, .name = "terminal", .write = shorten, .ctx = shortener};
  return cst_sink_open_writer(&writer, schema, &options, out, error);
}

static cst_status print_rows(cst_pass *pass, int64_t *left, cst_sink *sink, cst_error *error) {
  while (*left > 0) {
    struct ArrowArray batch = {.release = NULL};
    cst_status status = cst_pass_next(pass, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      return status;
    }
    *left -= batch.length;
    status = cst_sink_write(sink, &batch, error);
    batch.release(&batch);
    if (status != CST_OK) {
      return status;
    }
  }
  return CST_OK;
}

/* What the sink has of the good rows is printed in any case. */
static cst_status print_source(const cli_settings *settings, cst_source *source, int64_t *left,
                               cst_error *error) {
  struct ArrowSchema schema;
  cli_shortener shortener;
  cst_sink *sink;
  cst_pass *pass = NULL;
  cst_status status = cst_source_arrow_schema(source, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  status = open_lines(settings, &shortener, &schema, &sink, error);
  schema.release(&schema);
  if (status != CST_OK) {
    return status;
  }
  status = cst_pass_new(source, &pass, error);
  if (status == CST_OK) {
    status = print_rows(pass, left, sink, error);
  }
  cst_error of_finish = CST_ERROR_INIT;
  cst_status finished = cst_sink_finish(sink, &of_finish);
  if (status == CST_OK && finished != CST_OK) {
    *error = of_finish;
    status = finished;
  }
  cst_pass_free(pass);
  cst_sink_free(sink);
  return status;
}

static cst_status open_head(const cli_settings *settings, const char *const *paths,
                            size_t num_paths, int64_t rows, cst_source **out, cst_error *error) {
  cst_schema *schema;
  cst_status status = cli_read_schema(settings, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  cst_source_options options = cli_source_options(settings, schema);
  options.sample_records = rows > 0 ? rows : 1;
  options.batch_size = 1;
  options.threads = 1;
  status = cst_source_open(paths, num_paths, &options, out, error);
  cst_schema_release(schema);
  return status;
}

/* A feature that was not found may be one of later records. */
static void explain_missing(const cli_settings *settings, const cst_source *source,
                            cst_error *error) {
  bool sampled = settings->schema == NULL && cst_source_container(source) != NULL &&
                 strcmp(cst_source_format(source), "raw") != 0;
  if (sampled && error->code == CST_NOT_FOUND && error->path[0] != '\0' &&
      strncmp(error->hint, "did you mean", strlen("did you mean")) != 0) {
    snprintf(error->hint, sizeof error->hint, "show more records by -n, or give --schema");
  }
}

static cst_status print_each_file(const cli_settings *settings, const cst_source *files,
                                  cst_error *error) {
  int64_t left = settings->rows;
  cst_status status = CST_OK;
  for (size_t i = 0; i < cst_source_num_files(files) && left > 0 && status == CST_OK; i++) {
    const char *file = cst_source_file(files, i);
    cst_source *source;
    status = open_head(settings, &file, 1, left, &source, error);
    if (status == CST_OK) {
      status = print_source(settings, source, &left, error);
      cst_source_release(source);
    }
  }
  return status;
}

static int show_head(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_source *source;
  int64_t left = settings->rows;
  cst_status status =
      open_head(settings, settings->paths, settings->num_paths, left, &source, &error);
  if (status == CST_OK) {
    bool apart = cst_source_container(source) == NULL && cst_source_num_files(source) > 1;
    status = apart ? print_each_file(settings, source, &error)
                   : print_source(settings, source, &left, &error);
    explain_missing(settings, source, &error);
    cst_source_release(source);
  }
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_head(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_head, argc, argv, &settings);
  if (status < 0) {
    status = show_head(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_head = {
    .name = "head",
    .usage = "FILE... [-n N] [--columns A,B] [--schema FILE] [--full]",
    .summary = "Prints the first records as JSON lines; needs no schema",
    .details =
        "Values are lists, but for --flat; null is a feature that is not there, [] one without "
        "values. Bytes\n"
        "are a string if they are UTF-8, else {\"base64\": ...}. `--format raw` shows the records\n"
        "themselves. Reads no further than it has to. On a terminal long strings and lists are "
        "cut.\n",
    .options = CLI_OPTIONS(OPTION_ROWS, OPTION_FULL, OPTION_SCHEMA, OPTION_COLUMNS, OPTION_FLAT,
                           OPTION_FORMAT, OPTION_NO_CRC, OPTION_SEQUENCE_COLUMN, OPTIONS_CSV,
                           OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_head,
};
