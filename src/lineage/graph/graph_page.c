/* The page: the picture, and as JSON what its script shows beside it.
 *
 * {"store": "shop.db", "title": "12 artifacts, ...", "left": "Not drawn: ..." or null,
 *  "box": [width, height],
 *  "nodes": [{"kind": "artifact", "id": 17, "look": "examples", "type", "label", "state",
 *             "x", "y", "times": [microseconds or null, ...], "uri", "digest", "external",
 *             "files": [[path, split, role, size, digest], ...],
 *             "properties": [[name, kind, value as text], ...], "fields": [[output, path], ...],
 *             "away": [[how, label], ...],          what it came from, and is not drawn
 *             "gone": [...]}],                      and what came of it
 *  "edges": [[from, to, how, path or null, is a reference], ...]}
 *
 * What a node has none of is left out; of long lists the beginning is told, and `more` counts the
 * rest: {"files": 3}.
 */
#include <stdio.h>

#include "lineage/graph/graph.h"
#include "text/json_string.h"
#include "text/number.h"

enum { MOST_ITEMS = 60, MOST_BYTES = 400 /* of a value */ };

static void put_text(cst__text *out, const char *text) {
  if (text == NULL) {
    cst__text_puts(out, "null");
  } else {
    cst__put_json_in_html(out, text, strlen(text));
  }
}

static void put_cut(cst__text *out, const char *text) {
  size_t size = strlen(text);
  if (size <= MOST_BYTES) {
    put_text(out, text);
    return;
  }
  char cut[MOST_BYTES + 8];
  for (size = MOST_BYTES; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80; size--) {
  }
  (void)snprintf(cut, sizeof cut, "%.*s…", (int)size, text);
  put_text(out, cut);
}

static void put_number(cst__text *out, int64_t number) {
  cst__text_printf(out, "%lld", (long long)number);
}

static void put_field(cst__text *out, const char *name, const char *text) {
  if (text != NULL && text[0] != '\0') {
    cst__text_printf(out, ",\"%s\":", name);
    put_text(out, text);
  }
}

/* The value of a property as people read it. */
static void put_value(cst__text *out, const cst_findings *found, size_t i) {
  const char *kind = cst_findings_text(found, "properties.kind", i);
  const char *text = cst_findings_text(found, "properties.text", i);
  char number[CST__NUMBER_SIZE];
  if (text != NULL) {
    put_cut(out, text);
  } else if (kind != NULL && strcmp(kind, "real") == 0) {
    const size_t size = cst__print_float64(number, cst_findings_real(found, "properties.real", i),
                                           CST__FLOAT_JAVASCRIPT);
    cst__put_json_in_html(out, number, size);
  } else if (kind != NULL && strcmp(kind, "bool") == 0) {
    cst__text_puts(
        out, cst_findings_number(found, "properties.number", i) > 0 ? "\"true\"" : "\"false\"");
  } else if (kind != NULL && strcmp(kind, "int") == 0) {
    const size_t size =
        cst__print_int64(number, cst_findings_number(found, "properties.number", i));
    cst__put_json_in_html(out, number, size);
  } else {
    cst__text_puts(out, "null");
  }
}

static void put_property(cst__text *out, const cst_findings *found, size_t i) {
  cst__text_puts(out, "[");
  put_text(out, cst_findings_text(found, "properties.name", i));
  cst__text_puts(out, ",");
  put_text(out, cst_findings_text(found, "properties.kind", i));
  cst__text_puts(out, ",");
  put_value(out, found, i);
  cst__text_puts(out, "]");
}

static void put_file(cst__text *out, const cst_findings *found, size_t i) {
  const int64_t size = cst_findings_number(found, "files.size", i);
  cst__text_puts(out, "[");
  put_text(out, cst_findings_text(found, "files.path", i));
  cst__text_puts(out, ",");
  put_text(out, cst_findings_text(found, "files.split", i));
  cst__text_puts(out, ",");
  put_text(out, cst_findings_text(found, "files.role", i));
  cst__text_puts(out, ",");
  if (size >= 0) {
    put_number(out, size);
  } else {
    cst__text_puts(out, "null");
  }
  cst__text_puts(out, ",");
  put_text(out, cst_findings_text(found, "files.digest", i));
  cst__text_puts(out, "]");
}

static void put_path_of_field(cst__text *out, const cst_findings *found, size_t i) {
  cst__text_puts(out, "[");
  put_text(out, cst_findings_text(found, "fields.output", i));
  cst__text_puts(out, ",");
  put_text(out, cst_findings_text(found, "fields.path", i));
  cst__text_puts(out, "]");
}

typedef void (*put_item)(cst__text *out, const cst_findings *found, size_t i);

typedef struct item_list {
  const char *column;
  put_item put;
} item_list;

static const item_list lists[] = {
    {"properties", put_property}, {"files", put_file}, {"fields", put_path_of_field}};
enum { NUM_LISTS = sizeof lists / sizeof *lists };

static void put_lists(cst__text *out, const cst_findings *found, size_t row) {
  size_t more[NUM_LISTS] = {0};
  size_t begin, end;
  for (size_t k = 0; k < NUM_LISTS; k++) {
    if (cst_findings_items(found, lists[k].column, row, &begin, &end) && end > begin) {
      more[k] = end - begin > MOST_ITEMS ? end - begin - MOST_ITEMS : 0;
      cst__text_printf(out, ",\"%s\":[", lists[k].column);
      for (size_t i = begin; i < end - more[k]; i++) {
        cst__text_puts(out, i > begin ? "," : "");
        lists[k].put(out, found, i);
      }
      cst__text_puts(out, "]");
    }
  }
  const char *before = ",\"more\":{";
  for (size_t k = 0; k < NUM_LISTS; k++) {
    if (more[k] > 0) {
      cst__text_printf(out, "%s\"%s\":%zu", before, lists[k].column, more[k]);
      before = ",";
    }
  }
  cst__text_puts(out, before[1] == '\0' ? "}" : "");
}

/* ---- what is not drawn ---- */

typedef struct away_list {
  const char *column, *id, *reference;
  const char *how; /* NULL: the role */
} away_list;

static const away_list sources_of[2] = {
    {"references", "references.id", "references.reference", NULL},
    {"inputs", "inputs.id", "inputs.reference", "input"}};
static const away_list outputs_of = {"outputs", "outputs.id", "outputs.reference", "output"};

static bool is_drawn(const cst__graph *graph, int64_t id) {
  size_t low = graph->first[0], high = cst_findings_num_rows(graph->artifacts);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int64_t found = cst_findings_number(graph->artifacts, "id", middle);
    if (found == id) {
      return true;
    }
    low = found < id ? middle + 1 : low;
    high = found < id ? high : middle;
  }
  return false;
}

static void put_away(cst__text *out, const cst__graph *graph, size_t node, const char *name,
                     const away_list *list) {
  const cst__graph_node *of = &graph->nodes[node];
  const cst_findings *found = of->is_execution ? graph->executions : graph->artifacts;
  size_t begin, end, count = 0;
  if (!cst_findings_items(found, list->column, of->row, &begin, &end)) {
    return;
  }
  for (size_t i = begin; i < end && count < MOST_ITEMS; i++) {
    if (!is_drawn(graph, cst_findings_number(found, list->id, i))) {
      if (count++ > 0) {
        cst__text_puts(out, ",[");
      } else {
        cst__text_printf(out, ",\"%s\":[[", name);
      }
      put_text(out, list->how != NULL ? list->how : cst_findings_text(found, "references.role", i));
      cst__text_puts(out, ",");
      put_text(out, cst_findings_text(found, list->reference, i));
      cst__text_puts(out, "]");
    }
  }
  cst__text_puts(out, count > 0 ? "]" : "");
}

/* ---- nodes and edges ---- */

static void put_node(cst__text *out, const cst__graph *graph, size_t i) {
  const cst__graph_node *node = &graph->nodes[i];
  const cst_findings *found = node->is_execution ? graph->executions : graph->artifacts;
  const int64_t begun =
      cst_findings_number(found, node->is_execution ? "started" : "created", node->row);
  const int64_t ended =
      cst_findings_number(found, node->is_execution ? "ended" : "updated", node->row);
  cst__text_printf(out, "{\"kind\":\"%s\",\"id\":%lld,\"look\":\"%s\",\"type\":",
                   node->is_execution ? "execution" : "artifact", (long long)node->id,
                   cst__graph_classes[node->look]);
  put_text(out, node->type);
  cst__text_puts(out, ",\"label\":");
  put_text(out, node->label);
  cst__text_puts(out, ",\"state\":");
  put_text(out, node->state);
  cst__text_printf(out, ",\"x\":%d,\"y\":%d,\"times\":[%lld,", graph->layout.corners[i].x,
                   graph->layout.corners[i].y, (long long)begun);
  if (node->is_execution && ended < 0) {
    cst__text_puts(out, "null]");
  } else {
    cst__text_printf(out, "%lld]", (long long)ended);
  }
  if (!node->is_execution) {
    put_field(out, "uri", cst_findings_text(found, "uri", node->row));
    put_field(out, "digest", cst_findings_text(found, "digest", node->row));
    if (cst_findings_number(found, "is_external", node->row) > 0) {
      cst__text_puts(out, ",\"external\":true");
    }
  }
  put_lists(out, found, node->row);
  put_away(out, graph, i, "away", &sources_of[node->is_execution]);
  if (node->is_execution) {
    put_away(out, graph, i, "gone", &outputs_of);
  }
  cst__text_puts(out, "}");
}

static void put_edge(cst__text *out, const cst__graph *graph, size_t e) {
  const cst__graph_edge *edge = &graph->edges[e];
  cst__text_printf(out, "[%u,%u,", (unsigned)graph->layout.edges[e].from,
                   (unsigned)graph->layout.edges[e].to);
  put_text(out, edge->how);
  cst__text_puts(out, ",");
  put_text(out, edge->path);
  cst__text_puts(out, edge->is_reference ? ",true]" : ",false]");
}

static void put_data(cst__text *out, const cst__graph *graph) {
  cst__text_puts(out, "{\"store\":");
  put_text(out, graph->store);
  cst__text_puts(out, ",\"title\":");
  put_text(out, graph->title);
  cst__text_puts(out, ",\"left\":");
  put_text(out, graph->left_out);
  cst__text_printf(out, ",\"box\":[%d,%d],\n\"nodes\":[", CST__BOX_WIDTH, CST__BOX_HEIGHT);
  for (size_t i = 0; i < graph->layout.num_nodes; i++) {
    cst__text_puts(out, i > 0 ? ",\n" : "\n");
    put_node(out, graph, i);
  }
  cst__text_puts(out, "],\n\"edges\":[");
  for (size_t e = 0; e < graph->layout.num_edges; e++) {
    cst__text_puts(out, e > 0 ? "," : "");
    put_edge(out, graph, e);
  }
  cst__text_puts(out, "]}");
}

static void put_piece(cst__text *out, size_t i) {
  cst__text_append(out, cst__lineage_page[i].data, cst__lineage_page[i].size);
}

void cst__graph_put_page(cst__text *out, const cst__graph *graph) {
  put_piece(out, 0);
  cst__graph_put_svg(out, graph, CST__FRAME_PAGE);
  put_piece(out, 1);
  put_data(out, graph);
  put_piece(out, 2);
}
