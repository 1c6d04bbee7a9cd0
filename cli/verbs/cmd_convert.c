/* columnstone convert: files to one file of any format. */
#include <string.h>

#include "cli.h"

/* What the arguments mean: the last path is the output, all others are inputs. */
typedef struct conversion {
  cli_settings *settings;
  const char *output;
  size_t num_inputs;
  bool to_stdout;
  cli_dropped dropped;
} conversion;

/* Files that are read twice without a schema: once to infer it, with progress. */
static bool infers(const conversion *work, const cst_source *source) {
  const cst_format_info *format = cli_format(cst_source_format(source));
  return format != NULL && format->needs_schema && work->settings->schema == NULL &&
         work->settings->query.view == NULL &&
         cli_are_files(work->settings->paths, work->num_inputs);
}

/* The source keeps what was inferred. */
static cst_status infer_schema(const conversion *work, cst_source *source, cst_error *error) {
  cli_progress progress;
  cst_schema *schema;
  cli_progress_begin(&progress, "infer the schema", cst_source_total_bytes(source),
                     work->to_stdout);
  cst_status status = cst_source_infer(source, cli_progress_show, &progress, &schema, error);
  cli_progress_end(&progress);
  if (status == CST_OK) {
    cst_schema_release(schema);
  }
  return status;
}

/* A message is also a tf.Example, one without features: as such its fields would be lost. */
static cst_status check_input_of_messages(const conversion *work, const cst_source *source,
                                          cst_error *error) {
  bool is_told = work->settings->source.format != NULL || cst_source_container(source) == NULL;
  if (is_told || cli_message_of_output(work->settings) == NULL) {
    return CST_OK;
  }
  return cli_fail_argument(error, "add --format message, or --format example",
                           "the records of the input may be messages or tf.Examples");
}

static cst_status convert_files(conversion *work, cst_error *error) {
  cst_source *source;
  cst_status status = cli_share_options(work->settings, work->output, error);
  if (status == CST_OK) {
    status = cli_open(work->settings, work->settings->paths, work->num_inputs, &work->dropped,
                      &source, error);
  }
  if (status != CST_OK) {
    return status;
  }
  status = check_input_of_messages(work, source, error);
  if (status == CST_OK && infers(work, source)) {
    status = infer_schema(work, source, error);
  }
  if (status == CST_OK) {
    status = cli_write_source(work->settings, source, work->output, error);
  }
  cst_source_release(source);
  return status;
}

static int convert(cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  conversion work = {.settings = settings,
                     .output = settings->paths[settings->num_paths - 1],
                     .num_inputs = settings->num_paths - 1,
                     .dropped = {.out = stderr}};
  work.to_stdout = strcmp(work.output, "-") == 0;
  int wrong = cli_check_output(&cli_convert, settings, work.output);
  if (wrong >= 0) {
    return wrong;
  }
  cst_status status = convert_files(&work, &error);
  if (status != CST_OK) {
    cli_explain_path(settings, &error);
    return cli_fail(&error);
  }
  return cli_flush(work.dropped.count == 0 ? CLI_FINE : CLI_FAULTS);
}

/* Parquet is encoded column by column, which costs the less the more rows there are at once. Shards
 * get whole batches in turn. */
static void choose_batch_size(cli_settings *settings) {
  enum { ROWS = 8192 };
  const char *output = settings->paths[settings->num_paths - 1];
  bool is_sharded = settings->sink.num_shards > 0 || settings->sink.shard_bytes > 0;
  if (settings->source.batch_size == 0 && !is_sharded &&
      cli_is_output_of("parquet", output, settings->sink.format)) {
    settings->source.batch_size = ROWS;
  }
}

static int run_convert(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_convert, argc, argv, &settings);
  if (status < 0) {
    choose_batch_size(&settings);
    status = convert(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_convert = {
    .name = "convert",
    .usage = "FILE... OUTPUT [--to FORMAT] [--schema FILE] [--columns A,B]",
    .summary = "Converts between TFRecord, CSV, JSON lines, Arrow, Parquet and Avro",
    .details = "The output format is chosen from the extension (.parquet, .arrow, .arrows for a "
               "stream, .jsonl, .csv, .tsv, .avro, .tfrecord), and so is the compression (.gz, "
               ".zlib, .zst). '-' is standard output and needs --to.\n\nWithout --schema, the "
               "input is read twice, first to infer the types. The output appears under its name "
               "when it is complete. An existing file is only replaced with --force.",
    .examples =
        CLI_EXAMPLES({"columnstone convert trips.tfrecord trips.arrow", "TFRecord to Arrow"},
                     {"columnstone convert trips.csv trips.tfrecord.gz --lossy --shards 4",
                      "CSV to four compressed TFRecord files"},
                     {"columnstone convert trips.tfrecord - --to csv --columns fare,miles",
                      "two columns as CSV, to standard output"},
                     {"columnstone convert damaged.tfrecord sound.arrow --on-error skip",
                      "skip damaged records"}),
    .see = "query, head, merge",
    .exits = "1 a record is damaged, or does not fit the schema; also if --on-error skip left out "
             "records",
    .options =
        CLI_OPTIONS(OPTION_TO, OPTION_SCHEMA, OPTION_COLUMNS, OPTION_FLAT, OPTION_FORMAT,
                    OPTION_LEVEL, OPTION_LOSSY, OPTION_BATCH_SIZE, OPTION_THREADS, OPTION_NO_CRC,
                    OPTION_FORCE, OPTION_RAW_COLUMN, OPTION_OFFSET_COLUMN, OPTIONS_FORMATS_BOTH,
                    OPTIONS_MESSAGE, OPTION_TO_MESSAGE_OPTION, OPTIONS_VIEW, OPTIONS_SHARDS,
                    OPTIONS_RECOVERY, OPTION_CONTAINER, OPTION_TO_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 2,
    .run = run_convert,
};
