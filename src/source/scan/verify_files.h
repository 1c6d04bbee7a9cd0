/* Verifying the files of a source in their order.
 */
#ifndef SOURCE_SCAN_VERIFY_FILES_H
#define SOURCE_SCAN_VERIFY_FILES_H

#include "source/input/source.h"
#include "source/scan/scan_calls.h"

/* Verifies the files of a source one after the other on this thread. */
cst_status cst__verify_in_order(const cst_source *source, const cst__scan_calls *calls,
                                cst_error *error);

#endif /* SOURCE_SCAN_VERIFY_FILES_H */
