/* columnstone lineage graph, openlineage, import-mlmd, export-mlmd: a store for others. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage.h"

/* ---- graph ---- */

/* By the ending of the name; NULL: of none. */
static const char *format_of(const char *path) {
  static const char *const endings[][2] = {
      {".html", "html"}, {".htm", "html"}, {".svg", "svg"}, {".dot", "dot"}, {".gv", "dot"}};
  const size_t size = strlen(path);
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    const size_t end = strlen(endings[i][0]);
    if (size > end && strcmp(path + size - end, endings[i][0]) == 0) {
      return endings[i][1];
    }
  }
  return NULL;
}

/* Standard output, or a file that is complete when it is there. */
static cst_status write_text(const cli_settings *settings, const char *text, size_t size,
                             cst_error *error) {
  const char *path = settings->output;
  if (path == NULL || strcmp(path, "-") == 0) {
    (void)fwrite(text, 1, size, stdout);
    return CST_OK;
  }
  cst_status status = cli_write_file(path, text, size, error);
  if (status == CST_OK) {
    char room[32];
    cli_print_text(stdout, path);
    printf(": %s\n", cli_bytes((double)size, room));
  }
  return status;
}

static cst_status draw(const cli_settings *settings, cst_lineage *store, const char *format,
                       cst_error *error) {
  const cli_walk *walk = &settings->lineage.walk;
  cst_lineage_graph_options options = CST_LINEAGE_GRAPH_OPTIONS_INIT;
  int64_t *ids;
  char *text;
  size_t size;
  cst_status status =
      cli_lineage_lookup_all(store, settings->paths, settings->num_paths, &ids, error);
  if (status != CST_OK) {
    return status;
  }
  options.format = format;
  options.artifacts = settings->num_paths > 0 ? ids : NULL;
  options.num_artifacts = settings->num_paths;
  options.directions = (walk->up ? CST_LINEAGE_UP : 0U) | (walk->down ? CST_LINEAGE_DOWN : 0U);
  options.depth = walk->depth;
  status = cst_lineage_graph(store, &options, &text, &size, error);
  free(ids);
  if (status == CST_OK) {
    status = write_text(settings, text, size, error);
    cst_free(text);
  }
  return status;
}

static int graph(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  const char *output = settings->output;
  const char *format = output == NULL || strcmp(output, "-") == 0 ? "dot" : format_of(output);
  if (format == NULL) {
    return cli_usage(&cli_lineage_graph, "name it .html, .svg or .dot",
                     "%.80s: which kind of picture?", output);
  }
  if (output != NULL && cli_would_overwrite(settings, output)) {
    return cli_overwrites(&cli_lineage_graph, output);
  }
  int opened = cli_lineage_open(&cli_lineage_graph, settings, CST_LINEAGE_READ, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status = draw(settings, store, format, &error);
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_graph(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_graph, argc, argv, &settings);
  const cli_walk *walk = &settings.lineage.walk;
  if (status < 0 && settings.num_paths == 0 && (walk->up || walk->down || walk->depth > 0)) {
    status = cli_usage(&cli_lineage_graph, "name artifacts, or leave it out for all of the store",
                       "--up, --down and --depth are of artifacts");
  }
  status = status < 0 ? graph(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_graph = {
    .name = "lineage graph",
    .usage = "[REF... [--up] [--down] [--depth N]] [-o FILE.html|.svg|.dot]",
    .summary = "Draws artifacts and executions: a page to look at, SVG or DOT",
    .details =
        "The page needs nothing else: it can be searched, zoomed and used with the keyboard. "
        "Without REF it\nhas the whole store, without -o it prints DOT.\n",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_OUTPUT, OPTION_UP, OPTION_DOWN, OPTION_DEPTH,
                           OPTION_FORCE),
    .min_paths = 0,
    .run = run_graph,
};

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
  char *text;
  size_t size;
  int64_t *ids = calloc(settings->num_paths + 1, sizeof *ids);
  if (ids == NULL) {
    return cli_fail_memory(error);
  }
  cst_status status = read_ids(settings, ids, error);
  if (status == CST_OK) {
    status = cst_lineage_openlineage(store, settings->lineage.artifact.name,
                                     settings->num_paths > 0 ? ids : NULL, settings->num_paths,
                                     &text, &size, error);
  }
  free(ids);
  if (status == CST_OK) {
    status = write_text(settings, text, size, error);
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
    .summary = "Writes executions as OpenLineage events, for catalogues",
    .details = "A line of JSON for each event, with column lineage where a view says it. EXECUTION "
               "is a number of\n`lineage ls executions`; without it, all are written.\n",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_NAMESPACE, OPTION_OUTPUT, OPTION_FORCE),
    .min_paths = 0,
    .run = run_openlineage,
};

/* ---- MLMD ---- */

static void print_counts(const cst_findings *found, const char *done) {
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    printf("%s%" PRId64 " ", i > 0 ? ", " : "", cst_findings_number(found, "count", i));
    cli_print_text(stdout, cst_findings_text(found, "kind", i));
  }
  printf("%s %s\n", cst_findings_num_rows(found) > 0 ? "" : "nothing", done);
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
    .summary = "Adds all of an ML Metadata store (SQLite), as TFX makes it",
    .details = "What was imported from the same store before is not added again.\n",
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
    .summary = "Writes all of a store as an ML Metadata store (SQLite)",
    .details = "ml-metadata 1.17 and TFX read it.\n",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_FORCE, OPTION_JSON),
    .min_paths = 1,
    .run = run_export,
};
