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

/* Where rows go, and how many may still come. */
typedef struct line_printer {
  const cli_settings *settings;
  int64_t left;
  const cli_projection *projection; /* NULL: rows are printed whole */
  cli_shortener shortener;
  cst_sink *sink; /* NULL: not opened yet */
} line_printer;

static cst_status open_printer(line_printer *printer, const struct ArrowSchema *schema,
                               cst_error *error) {
  return open_lines(printer->settings, &printer->shortener, schema, &printer->sink, error);
}

/* What lies below the paths; the first batch tells its type. Takes the batch over. */
static cst_status print_fields(line_printer *printer, struct ArrowArray *batch, cst_error *error) {
  cst_structured *fields;
  struct ArrowArray columns;
  cst_status status = cli_projection_apply(printer->projection, batch, &fields, error);
  if (status != CST_OK) {
    return status;
  }
  const cst_array *array = cst_structured_array(fields);
  if (printer->sink == NULL) {
    status = open_printer(printer, cst_array_schema(array), error);
  }
  if (status == CST_OK) {
    status = cst_array_export(array, &columns, error);
  }
  if (status == CST_OK) {
    status = cst_sink_write(printer->sink, &columns, error);
    columns.release(&columns);
  }
  cst_structured_release(fields);
  return status;
}

static cst_status print_rows(line_printer *printer, cst_pass *pass, cst_error *error) {
  while (printer->left > 0) {
    struct ArrowArray batch = {.release = NULL};
    cst_status status = cst_pass_next(pass, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      return status;
    }
    printer->left -= batch.length;
    if (printer->projection != NULL) {
      status = print_fields(printer, &batch, error);
    } else {
      status = cst_sink_write(printer->sink, &batch, error);
      batch.release(&batch);
    }
    if (status != CST_OK) {
      return status;
    }
  }
  return CST_OK;
}

/* What the sink has of the good rows is printed in any case. */
static cst_status finish_lines(line_printer *printer, cst_status status, cst_error *error) {
  cst_error of_finish = CST_ERROR_INIT;
  cst_status finished = printer->sink != NULL ? cst_sink_finish(printer->sink, &of_finish) : CST_OK;
  if (status == CST_OK && finished != CST_OK) {
    *error = of_finish;
    status = finished;
  }
  cst_sink_free(printer->sink);
  printer->sink = NULL;
  return status;
}

static cst_status print_source(line_printer *printer, cst_source *source, cst_error *error) {
  cst_pass *pass;
  cst_status status = CST_OK;
  if (printer->projection == NULL) {
    struct ArrowSchema schema;
    status = cst_source_arrow_schema(source, &schema, error);
    if (status == CST_OK) {
      status = open_printer(printer, &schema, error);
      schema.release(&schema);
    }
  }
  if (status == CST_OK) {
    status = cst_pass_new(source, &pass, error);
  }
  if (status == CST_OK) {
    status = print_rows(printer, pass, error);
    cst_pass_free(pass);
  }
  return finish_lines(printer, status, error);
}

static cst_status print_head(line_printer *printer, cst_source *source, cst_error *error) {
  cli_projection projection;
  if (printer->settings->nested.num_paths == 0) {
    return print_source(printer, source, error);
  }
  cst_status status = cli_projection_open(&projection, printer->settings, source, error);
  if (status == CST_OK) {
    printer->projection = &projection;
    status = print_source(printer, projection.source, error);
  }
  printer->projection = NULL;
  cli_projection_close(&projection);
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
  status = cli_open_source(paths, num_paths, &options, out, error);
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

static cst_status print_each_file(line_printer *printer, const cst_source *files,
                                  cst_error *error) {
  cst_status status = CST_OK;
  for (size_t i = 0; i < cst_source_num_files(files) && printer->left > 0 && status == CST_OK;
       i++) {
    const char *file = cst_source_file(files, i);
    cst_source *source;
    status = open_head(printer->settings, &file, 1, printer->left, &source, error);
    if (status == CST_OK) {
      status = print_head(printer, source, error);
      cst_source_release(source);
    }
  }
  return status;
}

static int show_head(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_source *source;
  line_printer printer = {.settings = settings, .left = settings->rows};
  cst_status status =
      open_head(settings, settings->paths, settings->num_paths, printer.left, &source, &error);
  if (status == CST_OK) {
    bool apart = cst_source_container(source) == NULL && cst_source_num_files(source) > 1;
    status =
        apart ? print_each_file(&printer, source, &error) : print_head(&printer, source, &error);
    explain_missing(settings, source, &error);
    cst_source_release(source);
  }
  if (status == CST_OK) {
    return cli_flush(CLI_FINE);
  }
  cli_explain_path(settings, &error);
  return cli_fail(&error);
}

static bool has_twice(const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < i; k++) {
      if (strcmp(names[i], names[k]) == 0) {
        return true;
      }
    }
  }
  return false;
}

/* What is wrong with the paths, or NULL. */
static const char *wrong_paths(const cli_settings *settings) {
  for (size_t i = 0; i < settings->nested.num_paths; i++) {
    if (settings->nested.paths[i][0] == '\0') {
      return "--path needs the name of a field";
    }
  }
  return has_twice(settings->nested.paths, settings->nested.num_paths) ? "two --path are the same"
         : settings->nested.num_paths > 0 && settings->source.num_columns > 0
             ? "--path and --columns do not go together"
             : NULL;
}

static int run_head(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_head, argc, argv, &settings);
  const char *wrong = status < 0 ? wrong_paths(&settings) : NULL;
  if (wrong != NULL) {
    status = cli_usage(&cli_head, NULL, "%s", wrong);
  } else if (status < 0) {
    status = show_head(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_head = {
    .name = "head",
    .usage = "FILE... [-n N] [--columns A,B | --path PATH...] [--schema FILE] [--full]",
    .summary = "Prints the first rows as JSON lines",
    .details =
        "No schema is needed. Values are lists unless --flat is given: null is a missing feature, "
        "[] a feature without values. Bytes are printed as a string if they are valid UTF-8, else "
        "as {\"base64\": ...}. `--format raw` prints undecoded records. `--path event.query` "
        "prints the values of a nested field, as one list per row.\n\nReads only as much of the "
        "file as it prints. Long strings and lists are shortened on a terminal.",
    .examples = CLI_EXAMPLES(
        {"columnstone head trips.tfrecord -n 3 --columns fare,company",
         "two columns of the first three rows"},
        {"columnstone head log.jsonl --path event.query", "the values of a nested field"},
        {"columnstone head sessions.tfrecord --proto-set shop.desc --message shop.Session",
         "protobuf messages"}),
    .see = "info, schema tree, convert",
    .exits = "1 a record is damaged; the rows before it are printed",
    .options = CLI_OPTIONS(OPTION_ROWS, OPTION_FULL, OPTION_SCHEMA, OPTION_COLUMNS, OPTION_PATH,
                           OPTION_FLAT, OPTION_FORMAT, OPTION_NO_CRC, OPTIONS_FORMATS,
                           OPTIONS_MESSAGE, OPTIONS_VIEW, OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_head,
};
