/* The first records of a source, which are read before the first pass: what schema they have, and
 * of a pipe also what they are, is seen by them.
 */
#ifndef SOURCE_SCAN_SAMPLE_H
#define SOURCE_SCAN_SAMPLE_H

#include "source/pass/feed.h"

/* Reads the first records, and looks what they are where that is still to be decided. *feed is NULL
 * or to be freed also after a failure. */
cst_status cst__source_begin_sample(cst_source *source, cst__feed **feed, cst_error *error);

#endif /* SOURCE_SCAN_SAMPLE_H */
