/* Derived sources: a range of the rows, or one of n parts.
 */
#ifndef SOURCE_INDEX_PARTS_H
#define SOURCE_INDEX_PARTS_H

#include "source/input/source.h"

/* What the public functions of the same names do; i < n. */
cst_status cst__source_range(cst_source *source, uint64_t begin, uint64_t end, cst_source **out,
                             cst_error *error);
cst_status cst__source_split(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                             cst_error *error);

/* The same by bytes or whole files alone: for those who want no columns, so that no schema has to
 * be found, and no index. The source can be read more than once. */
cst_status cst__source_divide(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                              cst_error *error);

/* A source of the given files of this one, which can be read more than once, in the given order. */
cst_status cst__source_pick(cst_source *source, const size_t *files, size_t count, cst_source **out,
                            cst_error *error);

#endif /* SOURCE_INDEX_PARTS_H */
