/* Texts of a store in pictures. */
#ifndef LINEAGE_GRAPH_GRAPH_TEXT_H
#define LINEAGE_GRAPH_GRAPH_TEXT_H

#include "base/alloc.h"

typedef enum cst__graph_escapes {
  CST__GRAPH_SHOWN, /* XML: what is not shown but obeyed (ends of lines, turns) is U+FFFD */
  CST__GRAPH_QUOTED /* the same within quotes of DOT */
} cst__graph_escapes;

/* Appends any bytes as text; what is not UTF-8 is U+FFFD, as well. */
void cst__graph_put_xml(cst__text *out, const char *text, cst__graph_escapes escapes);
/* The same for XML, cut to about so many pixels of small letters; of a name the version stays. */
void cst__graph_put_cut(cst__text *out, const char *text, int room);
/* A word for a state of which a store of strangers may have any: "live", "pending", ... or "". */
const char *cst__graph_state_class(const char *state);

#endif /* LINEAGE_GRAPH_GRAPH_TEXT_H */
