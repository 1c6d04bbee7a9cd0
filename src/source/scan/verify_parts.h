/* Verifying parts of a source at once.
 */
#ifndef SOURCE_SCAN_VERIFY_PARTS_H
#define SOURCE_SCAN_VERIFY_PARTS_H

#include "source/scan/verify_files.h"

/* Verifies parts of the source on as many threads as it may have. *sound: all of
 * it is, and its files have been reported. False: something is damaged, and nothing has been
 * reported but progress. CST_CALLBACK if that has stopped it. */
cst_status cst__verify_in_parts(cst_source *source, const cst__scan_calls *calls, bool *sound,
                                cst_error *error);

#endif /* SOURCE_SCAN_VERIFY_PARTS_H */
