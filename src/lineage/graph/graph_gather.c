/* Which nodes and edges a picture has. */
#include <stdlib.h>

#include "lineage/graph/graph.h"
#include "lineage/store.h"

const char *const cst__graph_classes[CST__NUM_LOOKS] = {
    "examples", "view", "schema", "statistics", "model", "other", "execution"};

/* ---- nodes ---- */

static cst__graph_look look_of(const char *type) {
  static const char *const types[] = {"Examples", "DataView", "Schema", "Statistics", "Model"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (strcmp(type, types[i]) == 0) {
      return (cst__graph_look)i;
    }
  }
  return CST__LOOK_OTHER;
}

static const char *text_of(const cst_findings *found, const char *column, size_t row) {
  const char *text = cst_findings_text(found, column, row);
  return text != NULL ? text : "";
}

/* The name of an execution, or its type and number. */
static const char *execution_label(cst__graph *graph, size_t row, int64_t id) {
  const char *name = cst_findings_text(graph->executions, "name", row);
  const char *type = text_of(graph->executions, "type", row);
  if (name != NULL) {
    return name;
  }
  cst__text text = {.allocator = graph->arena.allocator};
  cst__text_printf(&text, "%s #%lld", type, (long long)id);
  char *label = text.failed ? NULL : cst__arena_copy(&graph->arena, text.data, text.size);
  cst__text_free(&text);
  return label;
}

static bool make_nodes(cst__graph *graph) {
  const size_t num_artifacts = cst_findings_num_rows(graph->artifacts);
  const size_t num_executions = cst_findings_num_rows(graph->executions);
  const size_t count = num_artifacts - graph->first[0] + num_executions - graph->first[1];
  graph->nodes = cst__arena_take_items(&graph->arena, (int64_t)(count + 1), sizeof *graph->nodes);
  if (graph->nodes == NULL) {
    return false;
  }
  cst__graph_node *node = graph->nodes;
  for (int kind = 0; kind < 2; kind++) {
    const cst_findings *found = kind == 0 ? graph->artifacts : graph->executions;
    for (size_t row = graph->first[kind]; row < cst_findings_num_rows(found); row++, node++) {
      const char *type = text_of(found, "type", row);
      *node = (cst__graph_node){.is_execution = kind == 1,
                                .look = kind == 1 ? CST__LOOK_EXECUTION : look_of(type),
                                .id = cst_findings_number(found, "id", row),
                                .row = row,
                                .type = type,
                                .state = text_of(found, "state", row)};
      node->label =
          kind == 0 ? text_of(found, "reference", row) : execution_label(graph, row, node->id);
      if (node->label == NULL) {
        return false;
      }
    }
  }
  graph->layout.num_nodes = count;
  return true;
}

/* The node of an artifact, or SIZE_MAX: rows are in the order of ids. */
static size_t find_artifact(const cst__graph *graph, int64_t id) {
  size_t low = 0, high = cst_findings_num_rows(graph->artifacts) - graph->first[0];
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (graph->nodes[middle].id < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const bool is_there = low < graph->layout.num_nodes && !graph->nodes[low].is_execution &&
                        graph->nodes[low].id == id;
  return is_there ? low : SIZE_MAX;
}

/* ---- edges ---- */

typedef struct edge_list {
  const char *column, *id, *word; /* of the findings */
  const char *how;                /* NULL: what the word says */
} edge_list;

static const edge_list inputs = {"inputs", "inputs.id", "inputs.path", "input"};
static const edge_list outputs = {"outputs", "outputs.id", "outputs.path", "output"};
static const edge_list references = {"references", "references.id", "references.role", NULL};

/* Those of a node; without room for them they are counted. */
static void add_edges(cst__graph *graph, size_t node, const edge_list *list) {
  const cst__graph_node *of = &graph->nodes[node];
  const cst_findings *found = of->is_execution ? graph->executions : graph->artifacts;
  size_t begin, end;
  if (!cst_findings_items(found, list->column, of->row, &begin, &end)) {
    return;
  }
  for (size_t i = begin; i < end; i++) {
    const size_t other = find_artifact(graph, cst_findings_number(found, list->id, i));
    if (other == SIZE_MAX) {
      continue;
    }
    const size_t at = graph->layout.num_edges++;
    if (graph->edges != NULL) {
      const char *told = cst_findings_text(found, list->word, i);
      const bool is_output = list == &outputs;
      graph->edges[at] = (cst__graph_edge){.how = list->how != NULL ? list->how : told,
                                           .path = list->how != NULL ? told : NULL,
                                           .is_reference = list->how == NULL};
      graph->layout.edges[at] = (cst__layout_edge){.from = (uint32_t)(is_output ? node : other),
                                                   .to = (uint32_t)(is_output ? other : node)};
    }
  }
}

static void add_all_edges(cst__graph *graph) {
  graph->layout.num_edges = 0;
  for (size_t node = 0; node < graph->layout.num_nodes; node++) {
    if (graph->nodes[node].is_execution) {
      add_edges(graph, node, &inputs);
      add_edges(graph, node, &outputs);
    } else {
      add_edges(graph, node, &references);
    }
  }
}

static bool make_edges(cst__graph *graph) {
  graph->edges = NULL;
  add_all_edges(graph);
  const int64_t count = (int64_t)graph->layout.num_edges + 1;
  cst__graph_edge *edges = cst__arena_take_items(&graph->arena, count, sizeof *edges);
  graph->layout.edges = cst__arena_take_items(&graph->arena, count, sizeof *graph->layout.edges);
  if (edges == NULL || graph->layout.edges == NULL) {
    return false;
  }
  graph->edges = edges;
  add_all_edges(graph);
  return true;
}

/* ---- which ---- */

typedef struct extent {
  uint64_t artifacts, executions; /* all that were asked for */
  bool is_whole;                  /* of the store */
} extent;

/* Those of these ids; NULL: so many of the newest. */
static cst_status find(cst_lineage *store, cst_lineage_kind kind, const int64_t *ids, size_t count,
                       cst_findings **out, cst_error *error) {
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  query.kind = kind;
  query.every_state = true;
  query.ids = ids;
  query.num_ids = ids != NULL ? count : 0;
  query.limit = ids != NULL ? 0 : (int64_t)count;
  return cst_lineage_find(store, &query, out, error);
}

/* The newest of the store: so many that together they are not too many. */
static cst_status find_newest(cst_lineage *store, cst__graph *graph, extent *all,
                              cst_error *error) {
  cst_findings *info;
  CST__TRY(cst_lineage_info(store, &info, error));
  all->artifacts = (uint64_t)cst_findings_total(info, "artifacts");
  all->executions = (uint64_t)cst_findings_total(info, "executions");
  all->is_whole = true;
  cst_findings_free(info);
  CST__TRY(find(store, CST_LINEAGE_OF_ARTIFACTS, NULL, CST__MOST_NODES, &graph->artifacts, error));
  CST__TRY(
      find(store, CST_LINEAGE_OF_EXECUTIONS, NULL, CST__MOST_NODES, &graph->executions, error));
  size_t artifacts = cst_findings_num_rows(graph->artifacts);
  size_t executions = cst_findings_num_rows(graph->executions);
  for (size_t left = CST__MOST_NODES; left > 0 && artifacts + executions > 0; left--) {
    const bool is_artifact =
        executions == 0 ||
        (artifacts > 0 && cst_findings_number(graph->artifacts, "created", artifacts - 1) >=
                              cst_findings_number(graph->executions, "started", executions - 1));
    artifacts -= is_artifact;
    executions -= !is_artifact;
  }
  graph->first[0] = artifacts;
  graph->first[1] = executions;
  return CST_OK;
}

typedef struct traced_node {
  bool is_execution;
  int64_t id;
  int64_t depth; /* not negative */
  size_t row;
} traced_node;

static int by_depth(const void *left, const void *right) {
  const traced_node *a = left, *b = right;
  if (a->depth != b->depth) {
    return a->depth < b->depth ? -1 : 1;
  }
  return a->row < b->row ? -1 : a->row > b->row;
}

static int by_id(const void *left, const void *right) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return a < b ? -1 : a > b;
}

/* The ids of the nearest ones, by kind, from the smallest on. */
static bool choose_nearest(cst__graph *graph, const cst_findings *traced, extent *all,
                           int64_t *ids[2], size_t num_ids[2]) {
  const size_t count = cst_findings_num_rows(traced);
  traced_node *nodes = cst__arena_take_items(&graph->arena, (int64_t)count + 1, sizeof *nodes);
  for (int kind = 0; kind < 2; kind++) {
    ids[kind] = cst__arena_take_items(&graph->arena, CST__MOST_NODES, sizeof *ids[kind]);
    num_ids[kind] = 0;
  }
  if (nodes == NULL || ids[0] == NULL || ids[1] == NULL) {
    return false;
  }
  for (size_t row = 0; row < count; row++) {
    const bool is_execution = strcmp(text_of(traced, "kind", row), "execution") == 0;
    const int64_t depth = cst_findings_number(traced, "depth", row);
    *(is_execution ? &all->executions : &all->artifacts) += 1;
    nodes[row] = (traced_node){is_execution, cst_findings_number(traced, "id", row),
                               depth < 0 ? -depth : depth, row};
  }
  qsort(nodes, count, sizeof *nodes, by_depth);
  for (size_t i = 0; i < count && i < CST__MOST_NODES; i++) {
    ids[nodes[i].is_execution][num_ids[nodes[i].is_execution]++] = nodes[i].id;
  }
  for (int kind = 0; kind < 2; kind++) {
    qsort(ids[kind], num_ids[kind], sizeof *ids[kind], by_id);
  }
  return true;
}

static cst_status find_traced(cst_lineage *store, const cst_lineage_graph_options *options,
                              cst__graph *graph, extent *all, cst_error *error) {
  cst_findings *traced;
  cst_lineage_trace_options trace = CST_LINEAGE_TRACE_OPTIONS_INIT;
  int64_t *ids[2];
  size_t num_ids[2];
  trace.artifacts = options->artifacts;
  trace.num_artifacts = options->num_artifacts;
  trace.directions = options->directions;
  trace.depth = options->depth;
  CST__TRY(cst_lineage_trace(store, &trace, &traced, error));
  const bool is_chosen = choose_nearest(graph, traced, all, ids, num_ids);
  cst_findings_free(traced);
  if (!is_chosen) {
    return cst__fail_memory(error, cst__arena_memory(&graph->arena));
  }
  CST__TRY(find(store, CST_LINEAGE_OF_ARTIFACTS, ids[0], num_ids[0], &graph->artifacts, error));
  return find(store, CST_LINEAGE_OF_EXECUTIONS, ids[1], num_ids[1], &graph->executions, error);
}

/* ---- what is said of it ---- */

static void put_count(cst__text *out, uint64_t count, const char *word) {
  cst__text_printf(out, "%llu %s%s", (unsigned long long)count, word, count == 1 ? "" : "s");
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

static bool put_words(cst_lineage *store, cst__graph *graph, const extent *all) {
  const uint64_t artifacts = cst_findings_num_rows(graph->artifacts) - graph->first[0];
  const uint64_t executions = cst_findings_num_rows(graph->executions) - graph->first[1];
  cst__text title = {.allocator = graph->arena.allocator};
  cst__text left = {.allocator = graph->arena.allocator};
  graph->store =
      cst__arena_copy(&graph->arena, base_name(store->path), strlen(base_name(store->path)));
  put_count(&title, artifacts, "artifact");
  cst__text_puts(&title, ", ");
  put_count(&title, executions, "execution");
  if (artifacts + executions < all->artifacts + all->executions) {
    cst__text_printf(&left, "Not drawn: ");
    put_count(&left, all->artifacts - artifacts, "artifact");
    cst__text_puts(&left, " and ");
    put_count(&left, all->executions - executions, "execution");
    cst__text_puts(&left, all->is_whole
                              ? ", which are older. To draw a part of the store, name artifacts "
                                "(and how many executions far from them)."
                              : ", which are farther away. To draw less, say how many executions "
                                "far, or one direction only.");
    graph->left_out = cst__arena_copy(&graph->arena, left.data, left.size);
  }
  const bool is_left = left.size > 0;
  graph->title = title.failed ? NULL : cst__arena_copy(&graph->arena, title.data, title.size);
  const bool failed = title.failed || left.failed;
  cst__text_free(&title);
  cst__text_free(&left);
  return !failed && graph->title != NULL && graph->store != NULL &&
         (!is_left || graph->left_out != NULL);
}

cst_status cst__graph_gather(cst_lineage *store, const cst_lineage_graph_options *options,
                             cst__graph *graph, cst_error *error) {
  extent all = {0, 0, false};
  cst__arena_init(&graph->arena, &store->allocator);
  CST__TRY(options->artifacts != NULL ? find_traced(store, options, graph, &all, error)
                                      : find_newest(store, graph, &all, error));
  if (!make_nodes(graph) || !make_edges(graph) || !put_words(store, graph, &all)) {
    return cst__fail_memory(error, cst__arena_memory(&graph->arena));
  }
  return cst__graph_lay_out(&graph->arena, &graph->layout, error);
}

void cst__graph_reset(cst__graph *graph) {
  cst_findings_free(graph->artifacts);
  cst_findings_free(graph->executions);
  cst__arena_reset(&graph->arena);
  *graph = (cst__graph){.store = NULL};
}
