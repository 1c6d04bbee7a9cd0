/* columnstone view build: binds a query to its input and saves it. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct view_build {
  const cli_settings *settings;
  cst_schema *schema;      /* NULL: none */
  struct ArrowSchema type; /* of the file of --like; released: none */
} view_build;

static bool reads_examples(const cst_source *source) {
  const char *format = cst_source_format(source);
  return strcmp(format, "example") == 0 || strcmp(format, "sequence_example") == 0;
}

/* What the file to be like has: the schema of its examples, or else the type of its columns. */
static cst_status look_at_like(view_build *work, cst_error *error) {
  const char *path = work->settings->query.like;
  cst_source *source;
  const cst_schema *schema = NULL;
  if (path == NULL || work->schema != NULL) {
    return CST_OK;
  }
  cst_source_options options = cli_source_options(work->settings, NULL);
  cst_status status = cst_source_open(&path, 1, &options, &source, error);
  if (status != CST_OK) {
    return status;
  }
  if (reads_examples(source)) {
    status = cst_source_schema(source, &schema, error);
    work->schema = cst_schema_retain(schema);
  } else {
    status = cst_source_arrow_schema(source, &work->type, error);
  }
  cst_source_release(source);
  return status;
}

static cst_status bind_saved(const view_build *work, const cst_query *query, cst_view **out,
                             cst_error *error) {
  const cli_settings *settings = work->settings;
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  cst_query_value *values;
  cst_status status = cli_query_values(settings, &values, error);
  if (status != CST_OK) {
    return status;
  }
  options.message = settings->message.descriptors != NULL ? &settings->message.options : NULL;
  options.schema = work->schema;
  options.type = work->type.release != NULL ? &work->type : NULL;
  options.params = values;
  options.num_params = settings->query.num_params;
  options.outputs = settings->source.columns;
  options.num_outputs = settings->source.num_columns;
  status = cst_view_new(query, &options, out, error);
  free(values);
  return status;
}

static cst_status build_view(view_build *work, cst_view **out, cst_error *error) {
  const char *path = work->settings->paths[0];
  cst_query *query;
  cst_status status = cst_query_open(path, NULL, &query, error);
  if (status != CST_OK) {
    return status;
  }
  status = cli_read_schema(work->settings, &work->schema, error);
  if (status == CST_OK) {
    status = look_at_like(work, error);
  }
  if (status == CST_OK) {
    status = bind_saved(work, query, out, error);
    if (status != CST_OK && error->file[0] == '\0') {
      snprintf(error->file, sizeof error->file, "%s", path);
    }
  }
  cst_query_free(query);
  return status;
}

static int build_and_save(const cli_settings *settings) {
  view_build work = {.settings = settings};
  cst_error error = CST_ERROR_INIT;
  cst_view *view = NULL;
  cst_status status = build_view(&work, &view, &error);
  if (status == CST_OK) {
    status = cst_view_save(view, settings->output, &error);
  }
  if (status == CST_OK && strcmp(settings->output, "-") != 0) {
    cli_print_text(stdout, settings->output);
    printf(": %zu outputs, digest %.12s\n", cst_view_num_outputs(view), cst_view_digest(view));
  }
  cst_view_release(view);
  cst_schema_release(work.schema);
  if (work.type.release != NULL) {
    work.type.release(&work.type);
  }
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_view_build(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_view_build, argc, argv, &settings);
  if (status < 0 && settings.num_paths != 1) {
    status = cli_usage(&cli_view_build, NULL, "one query, not %zu", settings.num_paths);
  } else if (status < 0 && settings.output == NULL) {
    status = cli_usage(&cli_view_build, NULL, "say where to: -o VIEW.cstv");
  } else if (status < 0 && strcmp(settings.output, "-") != 0 &&
             cli_would_overwrite(&settings, settings.output)) {
    status = cli_overwrites(&cli_view_build, settings.output);
  } else if (status < 0) {
    status = build_and_save(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_view_build = {
    .name = "view build",
    .usage = "QUERY -o VIEW [--proto-set FILE | --schema FILE | --like FILE] [--param NAME=VALUE]",
    .summary = "Saves a query with everything it needs, in one small file",
    .details = "QUERY is a file in the query language (.cstq). Protobuf messages need --proto-set; "
               "tf.Examples need --schema or --like, and so do tables whose types the query does "
               "not declare. The view stores only the descriptors that the query needs, and the "
               "given parameter values.",
    .examples =
        CLI_EXAMPLES({"columnstone view build sessions.cstq -o sessions.cstv --proto-set shop.desc",
                      "save a query on messages"},
                     {"columnstone view build trips.cstq -o trips.cstv --like trips.tfrecord",
                      "save a query on tf.Examples"}),
    .see = "view check, view show, query",
    .exits = "1 the query does not fit the types",
    .options = CLI_OPTIONS(OPTION_OUTPUT, OPTION_PROTO_SET, OPTION_MESSAGE, OPTION_MESSAGE_OPTION,
                           OPTION_SCHEMA, OPTION_LIKE, OPTION_FORMAT, OPTIONS_FORMATS, OPTION_PARAM,
                           OPTION_COLUMNS, OPTION_FORCE),
    .min_paths = 1,
    .run = run_view_build,
};
