/* The graph as DOT, the language of Graphviz, which finds places of its own. */
#include "lineage/graph/graph.h"
#include "lineage/graph/graph_text.h"

typedef struct dot_look {
  const char *shape, *colour, *ground;
} dot_look;

static const dot_look looks[CST__NUM_LOOKS] = {
    {"cylinder", "#2a6fb0", "#eaf2fb"}, {"component", "#7a4fbf", "#f3eefc"},
    {"note", "#0f7b6c", "#e6f5f2"},     {"tab", "#97650a", "#fbf3e2"},
    {"box3d", "#b0325f", "#fcecf2"},    {"box", "#5a636c", "#f2f4f6"},
    {"ellipse", "#5a636c", "#ffffff"}};

static void put_name(cst__text *out, const cst__graph_node *node) {
  cst__text_printf(out, "%s%lld", node->is_execution ? "execution" : "artifact",
                   (long long)node->id);
}

static void put_node(cst__text *out, const cst__graph_node *node) {
  const dot_look *look = &looks[node->look];
  const bool is_usual = strcmp(node->state, node->is_execution ? "complete" : "live") == 0;
  const bool is_gone = strcmp(node->state, "deleted") == 0 || strcmp(node->state, "marked") == 0;
  cst__text_puts(out, "  ");
  put_name(out, node);
  cst__text_puts(out, " [label=\"");
  cst__graph_put_xml(out, node->label, CST__GRAPH_QUOTED);
  cst__text_puts(out, "\\n");
  cst__graph_put_xml(out, node->type, CST__GRAPH_QUOTED);
  if (!is_usual) {
    cst__text_puts(out, ", ");
    cst__graph_put_xml(out, node->state, CST__GRAPH_QUOTED);
  }
  cst__text_printf(out, "\", shape=%s, color=\"%s\", fillcolor=\"%s\", style=\"filled%s\"];\n",
                   look->shape, look->colour, look->ground,
                   is_usual  ? ""
                   : is_gone ? ",dotted"
                             : ",dashed");
}

static void put_edge(cst__text *out, const cst__graph *graph, size_t e) {
  const cst__graph_edge *edge = &graph->edges[e];
  const char *label = edge->is_reference ? edge->how : edge->path;
  cst__text_puts(out, "  ");
  put_name(out, &graph->nodes[graph->layout.edges[e].from]);
  cst__text_puts(out, " -> ");
  put_name(out, &graph->nodes[graph->layout.edges[e].to]);
  if (label != NULL && label[0] != '\0') {
    cst__text_puts(out, " [label=\"");
    cst__graph_put_xml(out, label, CST__GRAPH_QUOTED);
    cst__text_printf(out, "\"%s]", edge->is_reference ? ", style=dashed" : "");
  }
  cst__text_puts(out, ";\n");
}

void cst__graph_put_dot(cst__text *out, const cst__graph *graph) {
  cst__text_puts(out, "digraph lineage {\n  rankdir=LR;\n  labelloc=t;\n  label=\"Lineage of ");
  cst__graph_put_xml(out, graph->store, CST__GRAPH_QUOTED);
  cst__text_puts(out, ": ");
  cst__graph_put_xml(out, graph->title, CST__GRAPH_QUOTED);
  if (graph->left_out != NULL) {
    cst__text_puts(out, "\\n");
    cst__graph_put_xml(out, graph->left_out, CST__GRAPH_QUOTED);
  }
  cst__text_puts(out, "\";\n  node [fontname=\"sans-serif\", fontsize=11];\n"
                      "  edge [fontname=\"sans-serif\", fontsize=9, color=\"#868f98\"];\n");
  for (size_t i = 0; i < graph->layout.num_nodes; i++) {
    put_node(out, &graph->nodes[i]);
  }
  for (size_t e = 0; e < graph->layout.num_edges; e++) {
    put_edge(out, graph, e);
  }
  cst__text_puts(out, "}\n");
}
