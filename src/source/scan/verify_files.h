/* Verifying the files of a source in their order.
 */
#ifndef SOURCE_SCAN_VERIFY_FILES_H
#define SOURCE_SCAN_VERIFY_FILES_H

#include "source/input/source.h"

/* Who is called during a verification. */
typedef struct cst__verify_calls {
  cst_fault_callback on_fault;
  cst_count_callback on_file;
  cst_progress_callback on_progress;
  void *ctx;
} cst__verify_calls;

/* Verifies the files of a source one after the other on this thread. */
cst_status cst__verify_in_order(const cst_source *source, const cst__verify_calls *calls,
                                uint64_t *num_faults, cst_error *error);

#endif /* SOURCE_SCAN_VERIFY_FILES_H */
