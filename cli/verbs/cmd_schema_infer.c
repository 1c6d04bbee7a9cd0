/* columnstone schema infer: a TFMD schema from the records. */
#include <columnstone/validate.h>
#include <string.h>

#include "stats/stats.h"

static cst_status print_schema_json(const cst_schema *schema, const char *output, const char *text,
                                    cst_error *error) {
  cst_findings *features;
  cst_status status = cst_schema_features(schema, &features, error);
  if (status != CST_OK) {
    return status;
  }
  printf("{");
  status = cli_json_findings(features, error);
  cst_findings_free(features);
  if (status == CST_OK) {
    printf(",\n \"output\": ");
    cli_json_string(stdout, output);
    if (output == NULL) {
      printf(",\n \"schema\": ");
      cli_json_string(stdout, text);
    }
    printf("}\n");
  }
  return status;
}

static cst_status print_schema(const cli_settings *settings, const cst_schema *schema,
                               cst_error *error) {
  char *text;
  size_t size;
  cst_status status = cst_schema_to_text(schema, &text, &size, error);
  if (status != CST_OK) {
    return status;
  }
  const char *output = settings->output;
  if (output != NULL && strcmp(output, "-") == 0) {
    output = NULL;
  }
  if (output != NULL) {
    status = cli_write_file(output, text, size, error);
  }
  if (status == CST_OK && settings->json) {
    status = print_schema_json(schema, output, text, error);
  } else if (status == CST_OK && output != NULL) {
    cli_print_text(stdout, output);
    printf(": %zu features\n", cst_schema_num_features(schema));
  } else if (status == CST_OK) {
    fwrite(text, 1, size, stdout);
  }
  cst_free(text);
  return status;
}

static cst_status make_schema(const cli_settings *settings, cst_source *source,
                              cli_progress *progress, cst_schema **out, cst_error *error) {
  if (!settings->finding.proposes) {
    return cst_source_infer(source, cli_progress_show, progress, out, error);
  }
  cst_propose_options options = settings->finding.proposal;
  options.group = settings->specs.group;
  options.on_progress = cli_progress_show;
  options.progress_ctx = progress;
  return cst_source_propose(source, &options, out, error);
}

/* Of saved statistics, which tell as much as --propose, but for tensors. */
static int infer_statistics(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  const cli_files files = {settings->paths, settings->num_paths, NULL};
  cli_statistics statistics;
  cst_schema *schema;
  cst_status status = cli_statistics_read(&cli_schema_infer, settings, &files, &statistics, &error);
  if (status == CST_OK) {
    status = cst_statistics_schema(statistics.features, &schema, &error);
  }
  if (status == CST_OK) {
    status = print_schema(settings, schema, &error);
    cst_schema_release(schema);
  }
  cli_statistics_reset(&statistics);
  return cli_flush(status == CST_OK ? CLI_FINE : cli_fail(&error));
}

static int infer_files(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_source *source;
  if (cli_open(settings, settings->paths, settings->num_paths, NULL, &source, &error) != CST_OK) {
    return cli_fail(&error);
  }
  cli_progress progress;
  cli_progress_begin(&progress, "schema infer", cst_source_total_bytes(source), false);
  cst_schema *schema;
  cst_status status = make_schema(settings, source, &progress, &schema, &error);
  cli_progress_end(&progress);
  cst_source_release(source);
  if (status == CST_OK) {
    status = print_schema(settings, schema, &error);
    cst_schema_release(schema);
  }
  return cli_flush(status == CST_OK ? CLI_FINE : cli_fail(&error));
}

/* The option that means nothing without --propose, or NULL. */
static const char *needs_propose(const cli_settings *settings) {
  const cli_finding *finding = &settings->finding;
  return finding->proposes                  ? NULL
         : settings->specs.group != NULL    ? "group"
         : finding->proposal.max_domain > 0 ? "max-domain"
         : finding->proposal.ragged         ? "ragged"
                                            : NULL;
}

static int run_schema_infer(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_schema_infer, argc, argv, &settings);
  const char *wrong = status < 0 ? needs_propose(&settings) : NULL;
  if (wrong != NULL) {
    status = cli_usage(&cli_schema_infer, NULL, "--%s goes with --propose", wrong);
  } else if (status < 0 && settings.output != NULL && strcmp(settings.output, "-") != 0 &&
             cli_would_overwrite(&settings, settings.output)) {
    status = cli_overwrites(&cli_schema_infer, settings.output);
  } else if (status < 0) {
    status = cli_is_saved_statistics(settings.paths[0]) ? infer_statistics(&settings)
                                                        : infer_files(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_schema_infer = {
    .name = "schema infer",
    .usage = "FILE... [--propose [--group NAME] [--max-domain N] [--ragged]] [-o FILE [--force]] "
             "[--json]",
    .summary = "Infers a TFMD schema from all records",
    .details = "The schema has the type, presence and value count of each feature, and a shape if "
               "all records have the same number of values. It is written as protobuf text to "
               "standard output, or to the file of -o.\n\nWith --propose, the schema also gets "
               "value ranges, string domains with few values, constant, increasing and decreasing "
               "features, sparse features, and a tensor_representation_group that every record "
               "fits.\n\nIf the input is saved statistics (.cststats), the data is not read again.",
    .examples = CLI_EXAMPLES(
        {"columnstone schema infer trips.tfrecord -o schema.pbtxt", "save a schema"},
        {"columnstone schema infer trips.tfrecord --propose", "also propose domains and tensors"}),
    .see = "schema check, schema spec, stats",
    .exits = "1 a record is damaged",
    .options = CLI_OPTIONS(OPTION_PROPOSE, OPTION_GROUP, OPTION_MAX_DOMAIN, OPTION_RAGGED,
                           OPTION_OUTPUT, OPTION_FORCE, OPTION_FORMAT, OPTION_JSON, OPTION_THREADS,
                           OPTION_NO_CRC, OPTIONS_FORMATS, OPTIONS_MESSAGE, OPTIONS_VIEW,
                           OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_schema_infer,
};
