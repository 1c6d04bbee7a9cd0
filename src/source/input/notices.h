/* What is reported to the caller of a source while it is read.
 */
#ifndef SOURCE_INPUT_NOTICES_H
#define SOURCE_INPUT_NOTICES_H

#include "format/table/dropped.h"
#include "source/input/source.h"

/* A record is dropped under CST_ON_ERROR_SKIP: counts it in *count and tells the caller. CST_LIMIT
 * with more than max_errors of them, CST_CALLBACK if the caller says so: then the pass fails. */
cst_status cst__source_drop(const cst_source *source, uint64_t *count, const cst__dropped *dropped,
                            cst_error *error);

/* Tells the caller of a file, unless that has been done. CST_CALLBACK if the caller stops it. */
cst_status cst__source_warn(const cst_source *source, size_t file, const cst_error *warning,
                            cst_error *error);

#endif /* SOURCE_INPUT_NOTICES_H */
