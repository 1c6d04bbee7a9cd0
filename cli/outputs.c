/* Outputs of the verbs that write files, and copying records into them as they are. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

cst_sink_options cli_sink_options(const cli_settings *settings) {
  cst_sink_options options = settings->sink;
  options.keep_existing = !settings->sink.overwrite;
  options.format_options = settings->formats.output;
  options.num_format_options = settings->formats.num_output;
  options.message = cli_message_of_output(settings);
  options.threads = settings->source.threads > 0 ? settings->source.threads : 2;
  return options;
}

cst_sink_options cli_record_options(const cli_settings *settings, const cst_source *source,
                                    const char *output) {
  cst_sink_options options = cli_sink_options(settings);
  options.format = "raw";
  options.keep_returns = true;
  if (options.container == NULL && !cli_names_container(output)) {
    options.container = cst_source_container(source);
  }
  return options;
}

/* True if an output for copies has lines: these are named. */
static bool has_lines(const cli_settings *settings, const char *output) {
  const char *container = settings->sink.container;
  if (container == NULL && !cli_names_container(output)) {
    container = settings->source.container;
  }
  return container != NULL && strcmp(container, "lines") == 0;
}

cst_source_options cli_raw_options(const cli_settings *settings, const char *output) {
  cst_source_options options = settings->source;
  options.format = "raw";
  options.flags |= has_lines(settings, output) ? CST_SOURCE_KEEP_RETURNS : 0;
  return options;
}

bool cli_would_overwrite(const cli_settings *settings, const char *output) {
  cst_sink_options options = cli_sink_options(settings);
  return !settings->sink.overwrite && cst_sink_exists(output, &options);
}

int cli_overwrites(const cli_verb *verb, const char *output) {
  return cli_usage(verb, "name an output that does not exist, or add --force",
                   "the output %.80s exists", output);
}

int cli_check_output(const cli_verb *verb, const cli_settings *settings, const char *output) {
  if (strcmp(output, "-") == 0 && settings->sink.format == NULL) {
    return cli_usage(verb, "add --to json, or --to arrows",
                     "standard output needs the name of a format");
  }
  return cli_would_overwrite(settings, output) ? cli_overwrites(verb, output) : -1;
}

cst_status cli_write_source(const cli_settings *settings, cst_source *source, const char *output,
                            cst_error *error) {
  cst_sink_options options = cli_sink_options(settings);
  cli_progress progress;
  uint64_t rows = 0;
  cli_progress_begin(&progress, "convert", cst_source_total_bytes(source),
                     strcmp(output, "-") == 0);
  cst_status status =
      cst_convert(source, output, &options, cli_progress_show, &progress, &rows, error);
  cli_progress_end(&progress);
  if (status == CST_OK) {
    cli_print_done(output, rows, "rows", cli_progress_seconds(&progress));
  }
  return status;
}

int cli_not_records(const cli_verb *verb, const char *output) {
  return cli_usage(verb, "end the name with .tfrecord, or use convert for other formats",
                   "the output %.80s would hold TFRecords", output);
}

void cli_print_done(const char *output, uint64_t rows, const char *unit, double seconds) {
  if (strcmp(output, "-") != 0) {
    cli_print_text(stdout, output);
    printf(": %" PRIu64 " %s, %.1f s\n", rows, unit, seconds);
  }
}

static int report_copied(const cli_settings *settings, const cli_dropped *dropped,
                         const char *output, uint64_t rows, double seconds) {
  if (dropped->json) {
    printf("%s],\n \"dropped_records\": %" PRIu64 ", \"dropped_bytes\": %" PRIu64
           ", \"records\": %" PRIu64 "}\n",
           dropped->count > 0 ? "\n" : "", dropped->count, dropped->bytes, rows);
  } else {
    cli_print_done(output, rows, "records", seconds);
    if (dropped->count > 0) {
      char size[32];
      fprintf(dropped->out, "%" PRIu64 " %s dropped, %s\n", dropped->count,
              dropped->count == 1 ? "record" : "records", cli_bytes((double)dropped->bytes, size));
    }
  }
  return cli_flush(settings->source.on_error == CST_ON_ERROR_SKIP && dropped->count > 0 ? CLI_FAULTS
                                                                                        : CLI_FINE);
}

int cli_fail_records(cst_error *error) {
  if (error->code == CST_FORMAT) {
    snprintf(error->hint, sizeof error->hint,
             "this verb copies TFRecords: see columnstone convert for other formats");
  }
  return cli_fail(error);
}

static int copy_source(const cli_settings *settings, cst_source *source, cli_dropped *dropped,
                       uint64_t total) {
  const char *output = settings->paths[settings->num_paths - 1];
  cst_error error = CST_ERROR_INIT;
  cst_sink_options options = cli_record_options(settings, source, output);
  cli_progress progress;
  uint64_t rows = 0;
  options.expected_rows = total;
  cli_progress_begin(&progress, "copy", cst_source_total_bytes(source), strcmp(output, "-") == 0);
  cst_status status =
      cst_convert(source, output, &options, cli_progress_show, &progress, &rows, &error);
  cli_progress_end(&progress);
  return status == CST_OK
             ? report_copied(settings, dropped, output, rows, cli_progress_seconds(&progress))
             : cli_fail_records(&error);
}

int cli_copy_records(const cli_verb *verb, const cli_settings *settings, bool equal_shards) {
  const char *output = settings->paths[settings->num_paths - 1];
  bool to_stdout = strcmp(output, "-") == 0;
  cli_dropped dropped = {.out = to_stdout ? stderr : stdout, .json = settings->json && !to_stdout};
  cli_settings raw = *settings;
  cst_error error = CST_ERROR_INIT;
  cst_source *source;
  uint64_t total = 0;
  raw.source = cli_raw_options(settings, output);
  if (cli_would_overwrite(settings, output)) {
    return cli_overwrites(verb, output);
  }
  if (cli_ends_otherwise(output)) {
    return cli_not_records(verb, output);
  }
  if (cli_open(&raw, settings->paths, settings->num_paths - 1, &dropped, &source, &error) !=
      CST_OK) {
    return cli_fail_records(&error);
  }
  cst_status status = equal_shards ? cst_source_num_rows(source, &total, &error) : CST_OK;
  if (status == CST_OK && dropped.json) {
    printf("{\"dropped\": [");
  }
  int result =
      status == CST_OK ? copy_source(settings, source, &dropped, total) : cli_fail_records(&error);
  cst_source_release(source);
  return result;
}
