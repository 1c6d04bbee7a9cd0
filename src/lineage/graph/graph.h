/* What a picture of a store shows: nodes, edges, where they stand, and what was left out. */
#ifndef LINEAGE_GRAPH_GRAPH_H
#define LINEAGE_GRAPH_GRAPH_H

#include <columnstone/lineage.h>

#include "lineage/graph/graph_layout.h"

enum { CST__MOST_NODES = 2000 /* of a picture: more is no picture */ };

/* What a node looks like. */
typedef enum cst__graph_look {
  CST__LOOK_EXAMPLES,
  CST__LOOK_VIEW,
  CST__LOOK_SCHEMA,
  CST__LOOK_STATISTICS,
  CST__LOOK_MODEL,
  CST__LOOK_OTHER,
  CST__LOOK_EXECUTION,
  CST__NUM_LOOKS
} cst__graph_look;

/* Texts are those of the findings, or lie in the arena. */
typedef struct cst__graph_node {
  bool is_execution;
  cst__graph_look look;
  int64_t id;
  size_t row; /* of the findings of its kind */
  const char *label;
  const char *type;
  const char *state;
} cst__graph_node;

typedef struct cst__graph_edge {
  const char *how;  /* "input", "output", or the role of a reference */
  const char *path; /* of an event: under which name; NULL: none */
  bool is_reference;
} cst__graph_edge;

/* Zero-initialised storage; cst__graph_reset. */
typedef struct cst__graph {
  cst__arena arena;
  cst_findings *artifacts;
  cst_findings *executions;
  size_t first[2]; /* rows before these (of artifacts, of executions) are left out */
  cst__graph_node *nodes;
  cst__graph_edge *edges;
  cst__graph_layout layout;
  const char *store;    /* the name of its file */
  const char *title;    /* "Lineage of shop.db: 12 artifacts, 4 executions" */
  const char *left_out; /* a sentence; NULL: nothing was */
} cst__graph;

/* What the options ask for, and its layout. */
cst_status cst__graph_gather(cst_lineage *store, const cst_lineage_graph_options *options,
                             cst__graph *graph, cst_error *error);
void cst__graph_reset(cst__graph *graph);

/* "Examples", "execution", ...: a word for a look, and the class that it has in pictures. */
extern const char *const cst__graph_classes[CST__NUM_LOOKS];

/* The formats. */
typedef enum cst__graph_frame {
  CST__FRAME_FILE, /* a picture on its own, with a title, a legend and its style */
  CST__FRAME_PAGE  /* within a page, which has these */
} cst__graph_frame;
void cst__graph_put_svg(cst__text *out, const cst__graph *graph, cst__graph_frame frame);
void cst__graph_put_dot(cst__text *out, const cst__graph *graph);
void cst__graph_put_page(cst__text *out, const cst__graph *graph);

/* Made by tools/make_page of page/: what stands before the picture, between it and the data, and
 * after that; the style of pictures on their own. */
extern const cst_bytes cst__lineage_page[3];
extern const cst_bytes cst__lineage_page_style;

#endif /* LINEAGE_GRAPH_GRAPH_H */
