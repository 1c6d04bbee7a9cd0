/* What counting and verifying have in common.
 */
#ifndef SOURCE_SCAN_H
#define SOURCE_SCAN_H

#include "source/cursor.h"

/* CST_UNSUPPORTED for whole formats. */
cst_status cst__source_check_scannable(const cst_source *source, cst_error *error);

/* Adds a block that the cursor has filled. */
void cst__count_block(cst_file_count *count, const cst_source *source, const cst__cursor *cursor,
                      const cst__block *block);

#endif /* SOURCE_SCAN_H */
