/* What has to be settled before a source is read: whose turn it is, and by which schema.
 */
#ifndef SOURCE_INPUT_PREPARE_H
#define SOURCE_INPUT_PREPARE_H

#include "source/input/source.h"

/* Takes an input that can be read only once; CST_STATE if it has been taken. */
cst_status cst__source_acquire(cst_source *source, cst_error *error);
/* The same for a reading from the start to the end; CST_STATE also if its beginning has been read
 * for the schema. */
cst_status cst__source_acquire_all(cst_source *source, cst_error *error);

/* Finds the schema if one is wanted and none is known yet. After that it does not change. */
cst_status cst__source_prepare(cst_source *source, cst_error *error);
/* Keeps an inferred schema, unless one is known; `sampled`: it is that of so many first
 * records only; 0: of all. */
void cst__source_adopt(cst_source *source, const cst_schema *schema, uint64_t sampled);

#endif /* SOURCE_INPUT_PREPARE_H */
