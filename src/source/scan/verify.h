/* Verifying the files of a source.
 */
#ifndef SOURCE_SCAN_VERIFY_H
#define SOURCE_SCAN_VERIFY_H

#include "source/scan/verify_files.h"

/* As cst_source_verify. */
cst_status cst__source_verify(cst_source *source, const cst__verify_calls *calls,
                              uint64_t *num_faults, cst_error *error);

#endif /* SOURCE_SCAN_VERIFY_H */
