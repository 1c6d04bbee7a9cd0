/* Records that are dropped, as the library itself hears of them.
 */
#ifndef FORMAT_TABLE_DROPPED_H
#define FORMAT_TABLE_DROPPED_H

#include <columnstone/source.h>

/* What is told to a cst_dropped_callback is always the first member of one of these. */
typedef struct cst__dropped {
  cst_dropped told;
  cst_bytes column; /* of a table, whose cell does not read as its type; {NULL, 0}: another cause */
} cst__dropped;

#endif /* FORMAT_TABLE_DROPPED_H */
