/* Reading tabular formats to count and to verify them.
 */
#ifndef SOURCE_SCAN_SCAN_TABULAR_H
#define SOURCE_SCAN_SCAN_TABULAR_H

#include "source/input/source.h"
#include "source/scan/scan_calls.h"

/* Reads every file of a tabular format for itself. Their records have no bytes of their own:
 * record_bytes and stream_bytes are 0. keeps_on: a fault ends its file only, and is told of; else
 * it is the failure of all. */
cst_status cst__scan_tabular(cst_source *source, const cst__scan_calls *calls, bool keeps_on,
                             cst_error *error);

#endif /* SOURCE_SCAN_SCAN_TABULAR_H */
