/* columnstone lineage trace: what an artifact came from and what came from it, as a tree. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage.h"

enum { MOST_LEVELS = 100 /* that are drawn */ };

/* From a row of the trace to one that it leads to. */
typedef struct edge {
  size_t from, to;
  const char *how; /* "input", "output", or a role */
} edge;

typedef struct drawing {
  const cst_findings *trace;
  bool ascii;
  edge *edges; /* in the order of `from` */
  size_t num_edges;
  bool *is_drawn;            /* of each row */
  bool is_last[MOST_LEVELS]; /* of the levels above */
  size_t num_more;           /* rows that lie deeper */
} drawing;

static int64_t key_of(const cst_findings *trace, size_t row) {
  return cst_findings_number(trace, "id", row) * 2 +
         (strcmp(cst_findings_text(trace, "kind", row), "execution") == 0);
}

/* ---- edges ---- */

typedef struct place {
  int64_t key;
  size_t row;
} place;

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  return (x->key > y->key) - (x->key < y->key);
}

static int compare_edges(const void *a, const void *b) {
  const edge *x = a, *y = b;
  return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                            : (x->to > y->to) - (x->to < y->to);
}

/* What a row came from, or, if `down`, what came from it. */
static void add_edges(drawing *d, const place *places, size_t row, bool down) {
  size_t begin, end;
  const size_t rows = cst_findings_num_rows(d->trace);
  (void)cst_findings_items(d->trace, "sources", row, &begin, &end);
  for (; begin < end; begin++) {
    const bool is_execution =
        strcmp(cst_findings_text(d->trace, "sources.kind", begin), "execution") == 0;
    const place wanted = {cst_findings_number(d->trace, "sources.id", begin) * 2 + is_execution, 0};
    const place *found = bsearch(&wanted, places, rows, sizeof *places, compare_places);
    if (found != NULL) {
      d->edges[d->num_edges++] = (edge){.from = down ? found->row : row,
                                        .to = down ? row : found->row,
                                        .how = cst_findings_text(d->trace, "sources.how", begin)};
    }
  }
}

static cst_status find_edges(drawing *d, bool down, cst_error *error) {
  const size_t rows = cst_findings_num_rows(d->trace);
  size_t most = 0, begin, end;
  place *places = calloc(rows + 1, sizeof *places);
  for (size_t i = 0; i < rows; i++) {
    (void)cst_findings_items(d->trace, "sources", i, &begin, &end);
    most += end - begin;
  }
  d->edges = calloc(most + 1, sizeof *d->edges);
  d->is_drawn = calloc(rows + 1, sizeof *d->is_drawn);
  if (places == NULL || d->edges == NULL || d->is_drawn == NULL) {
    free(places);
    return cli_fail_memory(error);
  }
  for (size_t i = 0; i < rows; i++) {
    places[i] = (place){key_of(d->trace, i), i};
  }
  qsort(places, rows, sizeof *places, compare_places);
  for (size_t i = 0; i < rows; i++) {
    add_edges(d, places, i, down);
  }
  qsort(d->edges, d->num_edges, sizeof *d->edges, compare_edges);
  free(places);
  return CST_OK;
}

/* The first edge that begins at the row. */
static size_t first_edge(const drawing *d, size_t row) {
  size_t low = 0, high = d->num_edges;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (d->edges[middle].from < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* ---- the tree ---- */

static void print_lines(const drawing *d, size_t level) {
  for (size_t i = 0; i + 1 < level; i++) {
    printf("%s", d->is_last[i] ? "   " : d->ascii ? "|  " : "│  ");
  }
  if (level > 0) {
    const bool is_last = d->is_last[level - 1];
    printf("%s", d->ascii ? (is_last ? "`- " : "|- ") : (is_last ? "└─ " : "├─ "));
  }
}

static void print_node(const drawing *d, size_t row, const char *how, bool is_again) {
  const char *state = cst_findings_text(d->trace, "state", row);
  const bool is_artifact = strcmp(cst_findings_text(d->trace, "kind", row), "artifact") == 0;
  const bool is_usual = strcmp(state, "live") == 0 || strcmp(state, "complete") == 0;
  const bool is_role = how != NULL && strcmp(how, "input") != 0 && strcmp(how, "output") != 0;
  cli_set_style(is_artifact ? CLI_BOLD : CLI_PLAIN);
  cli_print_text(stdout, cst_findings_text(d->trace, "label", row));
  cli_set_style(CLI_PLAIN);
  if (is_artifact) {
    printf(" (");
    cli_print_text(stdout, cst_findings_text(d->trace, "type", row));
    printf(")");
  }
  if (is_role) {
    printf(", the ");
    cli_print_text(stdout, how);
  }
  if (!is_usual) {
    cli_set_style(CLI_WARNING);
    printf(", %s", state);
    cli_set_style(CLI_PLAIN);
  }
  printf("%s\n", is_again ? ", see above" : "");
}

/* NOLINTNEXTLINE(misc-no-recursion): MOST_LEVELS deep */
static void draw(drawing *d, size_t row, size_t level, const char *how) {
  const size_t begin = first_edge(d, row);
  size_t end = begin;
  while (end < d->num_edges && d->edges[end].from == row) {
    end++;
  }
  const bool is_again = d->is_drawn[row];
  print_lines(d, level);
  print_node(d, row, how, is_again && begin < end);
  d->is_drawn[row] = true;
  if (is_again || level + 1 >= MOST_LEVELS) {
    d->num_more += is_again ? 0 : end - begin;
    return;
  }
  for (size_t i = begin; i < end; i++) {
    d->is_last[level] = i + 1 == end;
    draw(d, d->edges[i].to, level + 1, d->edges[i].how);
  }
}

static cst_status draw_direction(const cli_settings *settings, const cst_findings *trace, bool down,
                                 cst_error *error) {
  drawing d = {.trace = trace, .ascii = settings->nested.ascii};
  cst_status status = find_edges(&d, down, error);
  for (size_t row = 0; status == CST_OK && row < cst_findings_num_rows(trace); row++) {
    const bool is_asked = cst_findings_number(trace, "depth", row) == 0 &&
                          strcmp(cst_findings_text(trace, "kind", row), "artifact") == 0;
    if (is_asked) {
      draw(&d, row, 0, NULL);
    }
  }
  if (d.num_more > 0) {
    printf("and %zu that lie deeper: --json has them\n", d.num_more);
  }
  free(d.edges);
  free(d.is_drawn);
  return status;
}

static cst_status print_trace(const cli_settings *settings, const cst_findings *trace,
                              uint32_t directions, cst_error *error) {
  cst_status status = CST_OK;
  if (settings->json) {
    return cli_print_json_findings(trace, error);
  }
  if ((directions & CST_LINEAGE_UP) != 0) {
    printf("came from\n");
    status = draw_direction(settings, trace, false, error);
  }
  if (status == CST_OK && (directions & CST_LINEAGE_DOWN) != 0) {
    printf("%swent into\n", (directions & CST_LINEAGE_UP) != 0 ? "\n" : "");
    status = draw_direction(settings, trace, true, error);
  }
  return status;
}

static int trace(const cli_settings *settings) {
  const cli_walk *walk = &settings->lineage.walk;
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  cst_findings *found = NULL;
  int64_t *ids = NULL;
  uint32_t directions = (walk->up ? CST_LINEAGE_UP : 0U) | (walk->down ? CST_LINEAGE_DOWN : 0U);
  directions = directions == 0 ? CST_LINEAGE_UP | CST_LINEAGE_DOWN : directions;
  int opened = cli_lineage_open(&cli_lineage_trace, settings, CST_LINEAGE_READ, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status =
      cli_lineage_lookup_all(store, settings->paths, settings->num_paths, &ids, &error);
  if (status == CST_OK) {
    const cst_lineage_trace_options options = {.size = sizeof options,
                                               .artifacts = ids,
                                               .num_artifacts = settings->num_paths,
                                               .directions = directions,
                                               .depth = walk->depth};
    status = cst_lineage_trace(store, &options, &found, &error);
  }
  if (status == CST_OK) {
    status = print_trace(settings, found, directions, &error);
  }
  free(ids);
  cst_findings_free(found);
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_trace(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_trace, argc, argv, &settings);
  status = status < 0 ? trace(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_trace = {
    .name = "lineage trace",
    .usage = "REF... [--up] [--down] [--depth N] [--json]",
    .summary = "Traces what artifacts were made from, and what was made from them",
    .details = "Prints trees that follow executions and references. Without --up or --down, both "
               "directions are shown.",
    .examples = CLI_EXAMPLES(
        {"columnstone lineage trace fares --up", "the data that a model was trained on"},
        {"columnstone lineage trace trips@1 --down --json", "what was made from it, for programs"}),
    .see = "lineage show, lineage graph",
    .options =
        CLI_OPTIONS(OPTION_STORE, OPTION_UP, OPTION_DOWN, OPTION_DEPTH, OPTION_ASCII, OPTION_JSON),
    .min_paths = 1,
    .run = run_trace,
};
