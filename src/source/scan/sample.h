/* The first records of a pipe, which are read before the first pass: what they are, and what schema
 * they have, is seen by them.
 */
#ifndef SOURCE_SCAN_SAMPLE_H
#define SOURCE_SCAN_SAMPLE_H

#include "source/pass/feed.h"

/* Reads the first records of a pipe whose records decide what it is, and looks. *feed is NULL or to
 * be freed also after a failure. */
cst_status cst__source_begin_sample(cst_source *source, cst__feed **feed, cst_error *error);

#endif /* SOURCE_SCAN_SAMPLE_H */
