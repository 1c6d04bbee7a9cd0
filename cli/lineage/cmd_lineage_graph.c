/* columnstone lineage graph: a store as a picture. */
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage.h"

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
    status = cli_lineage_write(settings, text, size, error);
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
    .summary = "Draws artifacts and executions as an HTML page, SVG or DOT",
    .details = "The page is a single file, with search, zoom and keyboard control. Without REF, "
               "the whole store is drawn. Without -o, DOT is printed.",
    .examples = CLI_EXAMPLES(
        {"columnstone lineage graph -o lineage.html", "the whole store as a page"},
        {"columnstone lineage graph fares --up | head -n 3", "DOT of what a model was made from"}),
    .see = "lineage trace",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_OUTPUT, OPTION_UP, OPTION_DOWN, OPTION_DEPTH,
                           OPTION_FORCE),
    .min_paths = 0,
    .run = run_graph,
};
