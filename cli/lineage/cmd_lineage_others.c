/* columnstone lineage openlineage, import-mlmd, export-mlmd: a store for others, and theirs. */
#include <inttypes.h>
#include <stdlib.h>

#include "lineage/lineage.h"

/* ---- openlineage ---- */

static cst_status read_ids(const cli_settings *settings, int64_t *ids, cst_error *error) {
  for (size_t i = 0; i < settings->num_paths; i++) {
    char *end;
    const long long id = strtoll(settings->paths[i], &end, 10);
    if (id <= 0 || *end != '\0') {
      return cli_fail_argument(error, "columnstone lineage ls executions has them",
                               "'%.60s' is not the number of an execution", settings->paths[i]);
    }
    ids[i] = id;
  }
  return CST_OK;
}

static cst_status write_events(const cli_settings *settings, cst_lineage *store, cst_error *error) {
  cst_lineage_openlineage_options options = CST_LINEAGE_OPENLINEAGE_OPTIONS_INIT;
  char *text;
  size_t size;
  int64_t *ids = calloc(settings->num_paths + 1, sizeof *ids);
  if (ids == NULL) {
    return cli_fail_memory(error);
  }
  cst_status status = read_ids(settings, ids, error);
  if (status == CST_OK) {
    options.job_namespace = settings->lineage.artifact.name;
    options.executions = settings->num_paths > 0 ? ids : NULL;
    options.num_executions = settings->num_paths;
    status = cst_lineage_openlineage(store, &options, &text, &size, error);
  }
  free(ids);
  if (status == CST_OK) {
    status = cli_lineage_write(settings, text, size, error);
    cst_free(text);
  }
  return status;
}

static int openlineage(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  if (settings->output != NULL && cli_would_overwrite(settings, settings->output)) {
    return cli_overwrites(&cli_lineage_openlineage, settings->output);
  }
  int opened = cli_lineage_open(&cli_lineage_openlineage, settings, CST_LINEAGE_READ, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status = write_events(settings, store, &error);
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_openlineage(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_openlineage, argc, argv, &settings);
  status = status < 0 ? openlineage(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_openlineage = {
    .name = "lineage openlineage",
    .usage = "[EXECUTION...] [--namespace NAME] [-o FILE]",
    .summary = "Writes executions as OpenLineage events, for data catalogs",
    .details =
        "Writes one line of JSON per event, with column lineage if a view was used. EXECUTION is a "
        "number from `lineage ls executions`; by default, all executions are written.",
    .examples = CLI_EXAMPLES(
        {"columnstone lineage openlineage -o events.jsonl", "events of all executions"}),
    .see = "lineage ls, lineage export-mlmd",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_NAMESPACE, OPTION_OUTPUT, OPTION_FORCE),
    .min_paths = 0,
    .run = run_openlineage,
};

/* ---- MLMD ---- */

/* "added: artifacts 2, events 3" */
static void print_counts(const cst_findings *found, const char *done) {
  const char *before = "";
  printf("%s: ", done);
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    const int64_t count = cst_findings_number(found, "count", i);
    if (count > 0) {
      printf("%s", before);
      cli_print_text(stdout, cst_findings_text(found, "kind", i));
      printf(" %" PRId64, count);
      before = ", ";
    }
  }
  printf("%s\n", before[0] == '\0' ? "nothing that is new" : "");
}

static int exchange(const cli_verb *verb, const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  cst_findings *found = NULL;
  const bool imports = verb == &cli_lineage_import;
  const char *path = settings->paths[0];
  if (settings->num_paths > 1) {
    return cli_usage(verb, NULL, "one MLMD store, not %zu", settings->num_paths);
  }
  if (!imports && cli_would_overwrite(settings, path)) {
    return cli_overwrites(verb, path);
  }
  int opened =
      cli_lineage_open(verb, settings, imports ? CST_LINEAGE_WRITE : CST_LINEAGE_READ, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status =
      imports ? cst_lineage_import_mlmd(store, path, &found, &error)
              : cst_lineage_export_mlmd(store, path, settings->sink.overwrite, &found, &error);
  if (status == CST_OK && settings->json) {
    status = cli_print_json_findings(found, &error);
  } else if (status == CST_OK) {
    print_counts(found, imports ? "added" : "written");
  }
  cst_findings_free(found);
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_import(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_import, argc, argv, &settings);
  status = status < 0 ? exchange(&cli_lineage_import, &settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_import = {
    .name = "lineage import-mlmd",
    .usage = "MLMD [--json]",
    .summary = "Imports an ML Metadata store (SQLite), as written by TFX",
    .details = "Entries already imported from the same store are not imported again.",
    .examples = CLI_EXAMPLES({"columnstone lineage import-mlmd metadata.sqlite", "import a store"}),
    .see = "lineage export-mlmd, lineage ls",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_JSON),
    .min_paths = 1,
    .run = run_import,
};

static int run_export(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_export, argc, argv, &settings);
  status = status < 0 ? exchange(&cli_lineage_export, &settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_export = {
    .name = "lineage export-mlmd",
    .usage = "MLMD [--force] [--json]",
    .summary = "Exports a store as an ML Metadata store (SQLite)",
    .details = "ml-metadata 1.17 and TFX read it.",
    .examples = CLI_EXAMPLES({"columnstone lineage export-mlmd metadata.sqlite", "export a store"}),
    .see = "lineage import-mlmd, lineage openlineage",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_FORCE, OPTION_JSON),
    .min_paths = 1,
    .run = run_export,
};
