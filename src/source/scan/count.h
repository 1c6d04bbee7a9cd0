/* Counting the records of a source.
 */
#ifndef SOURCE_SCAN_COUNT_H
#define SOURCE_SCAN_COUNT_H

#include "source/block/cursor.h"
#include "source/scan/scan_calls.h"

/* Adds the rows that a pass delivers: tabular formats, and what is left when damaged records are
 * dropped, are known by reading alone. */
cst_status cst__source_count_by_pass(cst_source *source, uint64_t *rows, cst_error *error);

/* Adds a block that the cursor, which is one of the source, has filled. */
void cst__count_block(cst__file_count *count, const cst_source *source, const cst__cursor *cursor,
                      const cst__block *block);

#endif /* SOURCE_SCAN_COUNT_H */
