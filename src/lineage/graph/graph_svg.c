/* The picture as SVG, on its own or within a page. Names are whatever people, and strangers, call
 * things: they are escaped, cut to the room that there is, and shown without what turns or ends
 * lines; the whole of them is in the title of their node. */
#include "base/utf8.h"
#include "lineage/graph/graph.h"
#include "lineage/graph/graph_text.h"

enum {
  MARGIN = 24,
  TOP = 92,       /* of a picture on its own: title, what was left out, legend */
  TEXT_LEFT = 36, /* in a node */
  TEXT_ROOM = CST__BOX_WIDTH - TEXT_LEFT - 10,
  LEAST_WIDTH = 860 /* for the title */
};

static const char *const icons[CST__NUM_LOOKS] = {
    "M3 5c0-3 12-3 12 0v8c0 3-12 3-12 0zM3 5c0 3 12 3 12 0",
    "M1.5 9c4-7 11-7 15 0c-4 7-11 7-15 0zM9 6.6a2.4 2.4 0 1 0 .01 0z",
    "M3 3h5v4H3zM10 11h5v4h-5zM5.5 7v6H10",
    "M3 15V9h3v6zM7.5 15V3h3v12zM12 15V6h3v9z",
    "M9 2l6 3.5v7L9 16l-6-3.5v-7zM3 5.5l6 3.5 6-3.5M9 9v7",
    "M4 2h7l3 3v11H4zM11 2v3h3",
    "M9 2a7 7 0 1 0 .01 0zM7.3 6v6l5-3z"};

static const char *const names[CST__NUM_LOOKS] = {"Examples", "DataView", "Schema",    "Statistics",
                                                  "Model",    "others",   "executions"};

static void put_definitions(cst__text *out) {
  cst__text_puts(out, "<defs>");
  for (size_t i = 0; i < CST__NUM_LOOKS; i++) {
    cst__text_printf(out, "<path id=\"icon-%s\" d=\"%s\"/>", cst__graph_classes[i], icons[i]);
  }
  cst__text_puts(out,
                 "<marker id=\"arrow\" class=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" "
                 "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
                 "<path d=\"M0 0.5L8 4L0 7.5z\"/></marker></defs>\n");
}

/* ---- edges ---- */

static void put_curve(cst__text *out, cst__layout_point from, cst__layout_point to) {
  const int middle = (from.x + to.x) / 2;
  cst__text_printf(out, "C%d %d %d %d %d %d", middle, from.y, middle, to.y, to.x, to.y);
}

static void put_edge(cst__text *out, const cst__graph *graph, size_t e) {
  const cst__graph_edge *edge = &graph->edges[e];
  const cst__layout_edge *at = &graph->layout.edges[e];
  const cst__layout_point *points = graph->layout.points;
  const cst__layout_point end = points[at->end - 1];
  cst__text_printf(out, "<path class=\"e%s\" id=\"e%zu\" marker-end=\"url(#arrow)\" d=\"M%d %d",
                   edge->is_reference ? " r" : "", e, points[at->first].x, points[at->first].y);
  if (at->from == at->to) {
    cst__text_printf(out, "c50 -60 -%d -60 -%d 0", CST__BOX_WIDTH + 50, CST__BOX_WIDTH);
  } else {
    for (size_t i = at->first + 1; i < at->end; i += 2) {
      put_curve(out, points[i - 1], points[i]);
      if (i + 1 < at->end) {
        cst__text_printf(out, "H%d", points[i + 1].x);
      }
    }
  }
  cst__text_puts(out, "\"><title>");
  cst__graph_put_xml(out, edge->how, CST__GRAPH_SHOWN);
  if (edge->path != NULL && edge->path[0] != '\0') {
    cst__text_puts(out, ": ");
    cst__graph_put_xml(out, edge->path, CST__GRAPH_SHOWN);
  }
  cst__text_puts(out, "</title></path>");
  if (edge->is_reference && at->room >= 9) {
    const bool is_forward = end.x > points[at->first].x;
    cst__text_printf(out, "<text class=\"role%s\" id=\"r%zu\" x=\"%d\" y=\"%d\">",
                     is_forward ? "" : " back", e, end.x + (is_forward ? -11 : 11), end.y - 3);
    cst__graph_put_cut(out, edge->how, CST__BOX_GAP - 22);
    cst__text_puts(out, "</text>");
  }
  cst__text_puts(out, "\n");
}

/* ---- nodes ---- */

static bool is_usual(const cst__graph_node *node) {
  return strcmp(node->state, node->is_execution ? "complete" : "live") == 0;
}

/* What it is, and its state where that is not the usual one. */
static const char *kind_of(const cst__graph_node *node) {
  return node->is_execution && strchr(node->label, '#') != NULL &&
                 strncmp(node->label, node->type, strlen(node->type)) == 0
             ? "execution"
             : node->type;
}

static void put_node(cst__text *out, const cst__graph *graph, size_t i) {
  const cst__graph_node *node = &graph->nodes[i];
  const cst__layout_point at = graph->layout.corners[i];
  cst__text_printf(out, "<g class=\"n %s %s\" id=\"n%zu\" transform=\"translate(%d %d)\"><title>",
                   cst__graph_classes[node->look], cst__graph_state_class(node->state), i, at.x,
                   at.y);
  cst__graph_put_xml(out, node->label, CST__GRAPH_SHOWN);
  cst__text_puts(out, " – ");
  cst__graph_put_xml(out, node->type, CST__GRAPH_SHOWN);
  cst__text_puts(out, ", ");
  cst__graph_put_xml(out, node->state, CST__GRAPH_SHOWN);
  cst__text_printf(out,
                   "</title><rect class=\"box\" width=\"%d\" height=\"%d\" rx=\"%d\"/>"
                   "<use class=\"icon\" href=\"#icon-%s\" x=\"10\" y=\"13\"/>"
                   "<text class=\"name\" x=\"%d\" y=\"19\">",
                   CST__BOX_WIDTH, CST__BOX_HEIGHT, node->is_execution ? CST__BOX_HEIGHT / 2 : 5,
                   cst__graph_classes[node->look], TEXT_LEFT);
  cst__graph_put_cut(out, node->label, TEXT_ROOM);
  cst__text_printf(out, "</text><text class=\"kind\" x=\"%d\" y=\"35\">", TEXT_LEFT);
  cst__graph_put_cut(out, kind_of(node), is_usual(node) ? TEXT_ROOM : TEXT_ROOM - 66);
  if (!is_usual(node)) {
    cst__text_puts(out, " · ");
    cst__graph_put_cut(out, node->state, 60);
  }
  cst__text_puts(out, "</text></g>\n");
}

static void put_all(cst__text *out, const cst__graph *graph) {
  cst__text_puts(out, "<g class=\"edges\">\n");
  for (size_t e = 0; e < graph->layout.num_edges; e++) {
    put_edge(out, graph, e);
  }
  cst__text_puts(out, "</g>\n<g class=\"nodes\">\n");
  for (size_t i = 0; i < graph->layout.num_nodes; i++) {
    put_node(out, graph, i);
  }
  cst__text_puts(out, "</g>\n");
}

/* ---- what stands above a picture on its own ---- */

static void put_legend(cst__text *out, const cst__graph *graph) {
  bool is_there[CST__NUM_LOOKS] = {false};
  int x = 0;
  for (size_t i = 0; i < graph->layout.num_nodes; i++) {
    is_there[graph->nodes[i].look] = true;
  }
  cst__text_printf(out, "<g transform=\"translate(%d %d)\">", MARGIN, TOP - 44);
  for (size_t i = 0; i < CST__NUM_LOOKS; i++) {
    if (is_there[i]) {
      cst__text_printf(out,
                       "<g class=\"%s\" transform=\"translate(%d 0)\"><use class=\"icon\" "
                       "href=\"#icon-%s\"/><text class=\"kind\" x=\"24\" y=\"13\">%s</text></g>",
                       cst__graph_classes[i], x, cst__graph_classes[i], names[i]);
      x += 40 + 7 * (int)strlen(names[i]);
    }
  }
  cst__text_printf(out,
                   "<path class=\"e\" marker-end=\"url(#arrow)\" d=\"M%d 9h34\"/><text "
                   "class=\"kind\" x=\"%d\" y=\"13\">input, output</text>"
                   "<path class=\"e r\" marker-end=\"url(#arrow)\" d=\"M%d 9h34\"/><text "
                   "class=\"kind\" x=\"%d\" y=\"13\">is needed by, as its …</text></g>\n",
                   x, x + 42, x + 136, x + 178);
}

static void put_head(cst__text *out, const cst__graph *graph) {
  cst__text_printf(out, "<text class=\"title\" x=\"%d\" y=\"%d\">Lineage of ", MARGIN, 32);
  cst__graph_put_cut(out, graph->store, LEAST_WIDTH / 2);
  cst__text_puts(out, ": ");
  cst__graph_put_xml(out, graph->title, CST__GRAPH_SHOWN);
  cst__text_puts(out, "</text>\n");
  put_legend(out, graph);
  if (graph->left_out != NULL) {
    cst__text_printf(out, "<text class=\"left\" x=\"%d\" y=\"%d\">", MARGIN, TOP - 8);
    cst__graph_put_xml(out, graph->left_out, CST__GRAPH_SHOWN);
    cst__text_puts(out, "</text>\n");
  }
  if (graph->layout.num_nodes == 0) {
    cst__text_printf(out,
                     "<text class=\"kind\" x=\"%d\" y=\"%d\">There is nothing here yet.</text>\n",
                     MARGIN, TOP + 12);
  }
}

void cst__graph_put_svg(cst__text *out, const cst__graph *graph, cst__graph_frame frame) {
  const int32_t inner = graph->layout.width + 2 * MARGIN;
  const int32_t height = graph->layout.height + 2 * MARGIN;
  if (frame == CST__FRAME_PAGE) {
    cst__text_printf(out, "<svg id=\"picture\" viewBox=\"%d %d %d %d\">\n", -MARGIN, -MARGIN, inner,
                     height);
    put_definitions(out);
    cst__text_puts(out, "<g id=\"view\">\n");
  } else {
    const int32_t width = inner > LEAST_WIDTH ? inner : LEAST_WIDTH;
    cst__text_printf(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                     "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>Lineage: ",
                     width, height + TOP, width, height + TOP);
    cst__graph_put_xml(out, graph->title, CST__GRAPH_SHOWN);
    cst__text_puts(out, "</title>\n<style>\n");
    cst__text_append(out, cst__lineage_page_style.data, cst__lineage_page_style.size);
    cst__text_puts(out, "</style>\n");
    put_definitions(out);
    cst__text_printf(out, "<rect class=\"ground\" width=\"%d\" height=\"%d\"/>\n", width,
                     height + TOP);
    put_head(out, graph);
    cst__text_printf(out, "<g transform=\"translate(%d %d)\">\n", MARGIN, MARGIN + TOP);
  }
  put_all(out, graph);
  cst__text_puts(out, "</g>\n</svg>\n");
}
