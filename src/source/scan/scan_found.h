/* What counting and verifying have found: findings of files and of faults.
 */
#ifndef SOURCE_SCAN_SCAN_FOUND_H
#define SOURCE_SCAN_SCAN_FOUND_H

#include "source/scan/scan_calls.h"

typedef struct cst__scan_found {
  cst_findings *files;
  cst_findings *faults; /* NULL: they are not wanted */
  uint64_t max_faults;
  uint64_t num_faults;
  uint64_t num_files;
  cst__file_count sums;
} cst__scan_found;

/* To be finished, also after a failure. */
cst_status cst__scan_found_begin(cst__scan_found *found, const cst_allocator *allocator,
                                 bool with_faults, cst_error *error);
/* Calls that put what they are told into it. */
cst__scan_calls cst__scan_found_calls(cst__scan_found *found, cst_progress_callback on_progress,
                                      void *progress_ctx);
/* Hands over what was found, which is what there is after a failure, too. files and faults may be
 * NULL. `status` is that of the scan, and of this call if that was CST_OK. */
cst_status cst__scan_found_finish(cst__scan_found *found, cst_status status, cst_findings **files,
                                  cst_findings **faults, cst_error *error);

#endif /* SOURCE_SCAN_SCAN_FOUND_H */
