/* Reading tabular formats to count and to verify them.
 */
#ifndef SOURCE_SCAN_SCAN_TABULAR_H
#define SOURCE_SCAN_SCAN_TABULAR_H

#include "source/input/source.h"

/* The reading of tabular formats, for both. */
typedef struct cst__scan {
  bool keeps_on; /* a fault ends its file only; else it is the failure of all */
  cst_fault_callback on_fault;
  cst_count_callback on_file;
  cst_progress_callback on_progress;
  void *ctx;
  uint64_t faults;
  uint64_t bytes; /* of the files that are done */
  uint64_t records;
} cst__scan;

/* Reads every file of a tabular format for itself. Their records have no bytes of their own:
 * record_bytes and stream_bytes are 0. */
cst_status cst__scan_tabular(cst_source *source, cst__scan *scan, cst_error *error);

#endif /* SOURCE_SCAN_SCAN_TABULAR_H */
