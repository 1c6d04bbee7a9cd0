/* Derived sources: a range of the rows, or one of n parts.
 */
#ifndef SOURCE_INDEX_PARTS_H
#define SOURCE_INDEX_PARTS_H

#include "source/input/source.h"

/* As cst_source_split, by bytes or whole files alone: for those who want no columns, so that no
 * schema has to be found, and no index. The source can be read more than once. */
cst_status cst__source_divide(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                              cst_error *error);

/* A source of the given files of this one, which can be read more than once, in the given order. */
cst_status cst__source_pick(cst_source *source, const size_t *files, size_t count, cst_source **out,
                            cst_error *error);

#endif /* SOURCE_INDEX_PARTS_H */
