/* Where the nodes of a graph stand, and how its edges run: layers from left to right, in which what
 * came of something stands to the right of it.
 *
 * Layers are those of the longest path; edges that close a circle run backwards. Edges over several
 * layers run through the gaps between nodes, and those of one node together. Nodes of a layer are
 * ordered by the mean place of their neighbours (Sugiyama, Tagawa and Toda, 1981), and stand as
 * near to it as their order lets them. Parts that are not connected are packed beside each other.
 * The same graph is always drawn the same.
 */
#ifndef LINEAGE_GRAPH_GRAPH_LAYOUT_H
#define LINEAGE_GRAPH_GRAPH_LAYOUT_H

#include "base/alloc.h"

/* Of a node, and between them, in pixels. */
enum { CST__BOX_WIDTH = 190, CST__BOX_HEIGHT = 44, CST__BOX_GAP = 86, CST__BOX_SPACE = 20 };

typedef struct cst__layout_point {
  int32_t x, y;
} cst__layout_point;

typedef struct cst__layout_edge {
  uint32_t from, to; /* nodes */
  size_t first;      /* found: the points that it runs through are [first, end) */
  size_t end;
  int32_t room; /* found: between it and the next edge that ends there, in pixels */
} cst__layout_edge;

typedef struct cst__graph_layout {
  size_t num_nodes;
  size_t num_edges;
  cst__layout_edge *edges;
  /* found, in the arena */
  cst__layout_point *corners; /* of nodes: left and top */
  cst__layout_point *points;  /* of edges, from their beginning to their end */
  int32_t width, height;      /* of all of it, which begins at 0, 0 */
} cst__graph_layout;

/* Finds it. CST_NO_MEMORY. */
cst_status cst__graph_lay_out(cst__arena *arena, cst__graph_layout *layout, cst_error *error);

#endif /* LINEAGE_GRAPH_GRAPH_LAYOUT_H */
