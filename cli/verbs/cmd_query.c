/* columnstone query: the outputs of a query over files, to one file of any format. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* What the arguments mean: the query, inputs, and the output (none with --explain). */
typedef struct querying {
  const cli_settings *settings;
  const char *const *inputs;
  size_t num_inputs;
  const char *output;
  const cst_schema *schema;
  cli_dropped dropped;
} querying;

/* ---- what the input holds, where the query does not say it ---- */

/* Of a source that is asked for its types only. */
static cst_source_options input_options(const querying *work) {
  cst_source_options options = cli_source_options(work->settings, work->schema);
  options.columns = NULL;
  options.num_columns = 0;
  options.raw_column = NULL;
  options.offset_column = NULL;
  return options;
}

/* Without the records that --on-error drops, where the format has such. */
static cst_status open_inputs(const querying *work, cst_source_options *how, cst_source **out,
                              cst_error *error) {
  const bool drops = work->settings->source.on_error != CST_ON_ERROR_RAISE;
  how->on_error = drops ? CST_ON_ERROR_SKIP : CST_ON_ERROR_RAISE;
  cst_status status = cst_source_open(work->inputs, work->num_inputs, how, out, error);
  if (drops && status == CST_UNSUPPORTED) {
    how->on_error = CST_ON_ERROR_RAISE;
    status = cst_source_open(work->inputs, work->num_inputs, how, out, error);
  }
  return status;
}

/* What the query needs to know of its inputs. */
typedef enum wanted_type {
  WANTS_NOTHING, /* it is messages, or says its type, or has a schema */
  WANTS_SCHEMA,  /* of tf.Examples */
  WANTS_TYPE     /* of a table */
} wanted_type;

static bool says_from(const char *text, const char *word) {
  return strncmp(text, word, strlen(word)) == 0;
}

/* By the `from` of its usual spelling, which is at the start of a line. */
static wanted_type find_wanted_type(const querying *work, const char *text) {
  bool has_messages = work->settings->message.descriptors != NULL;
  const char *from = says_from(text, "from ") ? text : strstr(text, "\nfrom ");
  if (from == NULL) {
    return has_messages ? WANTS_NOTHING : WANTS_TYPE;
  }
  from += strcspn(from, "f") + strlen("from ");
  if (says_from(from, "example") || says_from(from, "sequence_example")) {
    return work->schema != NULL ? WANTS_NOTHING : WANTS_SCHEMA;
  }
  size_t line = strcspn(from, "\n");
  bool has_type = memchr(from, '{', line) != NULL;
  return says_from(from, "table") && !has_type ? WANTS_TYPE : WANTS_NOTHING;
}

/* Standard input can be read once only. */
static cst_status fail_type_of_input(wanted_type wanted, cst_error *error) {
  return cli_fail_argument(
      error, wanted == WANTS_SCHEMA ? "give a schema" : "say its type: from table [{id: int64}]",
      "the query does not say what standard input holds, which can be read only once");
}

/* The source lives as long as its schema is used. */
static cst_status ask_inputs(const querying *work, wanted_type wanted, cst_view_options *options,
                             cst_source **source, struct ArrowSchema *type, cst_error *error) {
  if (wanted == WANTS_NOTHING || work->num_inputs == 0) {
    return CST_OK;
  }
  for (size_t i = 0; i < work->num_inputs; i++) {
    if (strcmp(work->inputs[i], "-") == 0) {
      return fail_type_of_input(wanted, error);
    }
  }
  cst_source_options how = input_options(work);
  cst_status status = open_inputs(work, &how, source, error);
  if (status == CST_OK && wanted == WANTS_SCHEMA) {
    status = cst_source_schema(*source, &options->schema, error);
  } else if (status == CST_OK) {
    status = cst_source_arrow_schema(*source, type, error);
    options->type = type;
  }
  return status;
}

/* ---- the view ---- */

static cst_status bind_query(const querying *work, const cst_query *query,
                             cst_view_options *options, cst_view **out, cst_error *error) {
  cst_source *source = NULL;
  struct ArrowSchema type = {.release = NULL};
  char *text;
  size_t size;
  cst_status status = cst_query_to_text(query, &text, &size, error);
  if (status != CST_OK) {
    return status;
  }
  status = ask_inputs(work, find_wanted_type(work, text), options, &source, &type, error);
  cst_free(text);
  if (status == CST_OK) {
    status = cst_view_new(query, options, out, error);
  }
  if (type.release != NULL) {
    type.release(&type);
  }
  cst_source_release(source);
  return status;
}

static cst_status open_query(const querying *work, cst_view **out, cst_error *error) {
  const cli_settings *settings = work->settings;
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  cst_query *query;
  cst_query_value *values;
  cst_status status = cst_query_open(settings->paths[0], NULL, &query, error);
  if (status != CST_OK) {
    return status;
  }
  status = cli_query_values(settings, &values, error);
  if (status == CST_OK) {
    options.message = settings->message.descriptors != NULL ? &settings->message.options : NULL;
    options.schema = work->schema;
    options.params = values;
    options.num_params = settings->query.num_params;
    options.max_elements = settings->query.max_elements;
    options.max_bytes = settings->query.max_bytes;
    options.max_work = settings->query.max_work;
    options.outputs = settings->source.columns;
    options.num_outputs = settings->source.num_columns;
    status = bind_query(work, query, &options, out, error);
    free(values);
  }
  cst_query_free(query);
  if (status != CST_OK && error->file[0] == '\0' && error->line > 0) {
    snprintf(error->file, sizeof error->file, "%s", settings->paths[0]);
  }
  return status;
}

/* ---- the verb ---- */

/* A source whose batches have the columns that the view wants. Of messages these are its paths. */
static cst_status open_wanted(const querying *work, const cst_view *view, cst_source **out,
                              cst_error *error) {
  cst_source_options options = input_options(work);
  const char *const *paths;
  size_t count;
  cst_status status = cst_view_source_paths(view, NULL, &paths, &count, error);
  if (status == CST_OK && cst_view_message(view) != NULL) {
    options.message = cst_view_message_options(view);
    options.columns = paths;
    options.num_columns = count;
  }
  options.flat = strstr(cst_view_input(view), "example") != NULL;
  return status == CST_OK ? open_inputs(work, &options, out, error) : status;
}

/* With the sizes of what the first batch becomes, if there is one. */
static cst_status explain_source(cst_source *source, const cst_view *view, uint32_t flags,
                                 char **text, cst_error *error) {
  cst_pass *pass;
  size_t size;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_status status = cst_source_arrow_schema(source, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_pass_new(source, &pass, error);
  if (status == CST_OK) {
    status = cst_pass_next(pass, &batch, error);
    if (status == CST_OK) {
      status = batch.release != NULL
                   ? cst_view_explain_batch(view, &schema, &batch, flags, text, error)
                   : cst_view_explain(view, flags, text, &size, error);
    }
    cst_pass_free(pass);
  }
  schema.release(&schema);
  return status;
}

static cst_status explain(const querying *work, const cst_view *view, cst_error *error) {
  char *text;
  size_t size;
  cst_source *source;
  uint32_t flags = work->settings->json ? CST_EXPLAIN_JSON : 0;
  cst_status status;
  if (work->num_inputs == 0) {
    status = cst_view_explain(view, flags, &text, &size, error);
  } else {
    status = open_wanted(work, view, &source, error);
    if (status == CST_OK) {
      status = explain_source(source, view, flags, &text, error);
      cst_source_release(source);
    }
  }
  if (status == CST_OK) {
    (work->settings->json ? cli_print_json : cli_print_lines)(stdout, text);
    cst_free(text);
  }
  return status;
}

static cst_status write_outputs(querying *work, const cst_view *view, cst_error *error) {
  cst_source_options options = cli_source_options(work->settings, work->schema);
  cst_source *source;
  options.view = view; /* of the outputs that are wanted */
  options.columns = NULL;
  options.num_columns = 0;
  options.message = cst_view_message(view) != NULL ? NULL : options.message;
  options.on_dropped = cli_print_dropped;
  options.dropped_ctx = &work->dropped;
  cst_status status = cst_source_open(work->inputs, work->num_inputs, &options, &source, error);
  if (status == CST_OK) {
    status = cli_write_source(work->settings, source, work->output, error);
    cst_source_release(source);
  }
  return status;
}

static cst_status run_querying(querying *work, cst_error *error) {
  cst_schema *schema;
  cst_view *view = NULL;
  cst_status status = cli_read_schema(work->settings, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  work->schema = schema;
  status = open_query(work, &view, error);
  if (status == CST_OK) {
    status = work->output == NULL ? explain(work, view, error) : write_outputs(work, view, error);
  }
  cst_view_release(view);
  cst_schema_release(schema);
  return status;
}

static int start_querying(cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  bool explains = settings->query.explain;
  querying work = {.settings = settings,
                   .inputs = settings->paths + 1,
                   .num_inputs = settings->num_paths - (explains ? 1 : 2),
                   .output = explains ? NULL : settings->paths[settings->num_paths - 1],
                   .dropped = {.out = stderr}};
  if (settings->json && !explains) {
    return cli_usage(&cli_query_verb, "the output's format is that of its ending, or of --to",
                     "--json goes with --explain");
  }
  int wrong = explains ? -1 : cli_check_output(&cli_query_verb, settings, work.output);
  if (wrong >= 0) {
    return wrong;
  }
  cst_status status = explains ? CST_OK : cli_share_options(settings, work.output, &error);
  if (status != CST_OK || run_querying(&work, &error) != CST_OK) {
    return cli_fail(&error);
  }
  return cli_flush(work.dropped.count == 0 ? CLI_FINE : CLI_FAULTS);
}

static int run_query(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_query_verb, argc, argv, &settings);
  if (status < 0 && !settings.query.explain && settings.num_paths < 3) {
    status = cli_usage(&cli_query_verb, NULL, "usage: columnstone %s %s", cli_query_verb.name,
                       cli_query_verb.usage);
  } else if (status < 0) {
    status = start_querying(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_query_verb = {
    .name = "query",
    .usage =
        "QUERY FILE... OUTPUT [--param NAME=VALUE] [--columns A,B] | QUERY [FILE...] --explain",
    .summary = "Runs a query on nested data and writes the result",
    .details =
        "QUERY is a file in the query language (.cstq). Protobuf messages need --proto-set. The "
        "types of tables and tf.Examples come from the files, unless the query or --schema "
        "declares them. The output format is chosen from the extension, as for `convert`. Only the "
        "fields that the outputs need are parsed: --explain shows which, and needs no OUTPUT; with "
        "a FILE, it also shows how many elements each step creates for the first batch.",
    .examples = CLI_EXAMPLES(
        {"columnstone query sessions.cstq sessions.tfrecord rows.arrow --proto-set shop.desc",
         "write the rows of a query"},
        {"columnstone query sessions.cstq --explain --proto-set shop.desc",
         "show what is parsed and computed"}),
    .see = "view build, schema tree, convert",
    .exits =
        "1 a record is damaged, or a limit was exceeded; also if --on-error skip left out records",
    .options = CLI_OPTIONS(OPTION_COLUMNS, OPTIONS_QUERY, OPTION_EXPLAIN, OPTION_JSON, OPTION_TO,
                           OPTION_SCHEMA, OPTION_FORMAT, OPTION_LEVEL, OPTION_LOSSY,
                           OPTION_BATCH_SIZE, OPTION_THREADS, OPTION_NO_CRC, OPTION_FORCE,
                           OPTION_RAW_COLUMN, OPTION_OFFSET_COLUMN, OPTIONS_FORMATS_BOTH,
                           OPTIONS_MESSAGE, OPTION_TO_MESSAGE_OPTION, OPTIONS_SHARDS,
                           OPTIONS_RECOVERY, OPTION_CONTAINER, OPTION_TO_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_query,
};
