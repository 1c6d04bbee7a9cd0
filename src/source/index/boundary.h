/* Boundaries: the first record that begins at some byte of a stream or after it, without an index:
 * of a plain file, or of what a compressed one holds, if it has restart points.
 */
#ifndef SOURCE_INDEX_BOUNDARY_H
#define SOURCE_INDEX_BOUNDARY_H

#include "source/input/source.h"

/* The first byte of [from, end) of a stream at which a record of the i-th file begins, or `end`,
 * which is the end of what is read of it; UINT64_MAX: that of the file, whose size is not known.
 * Depends on the bytes of the file only. CST_STATE if such a file ends before `from`. Table formats
 * that are divided have a way of their own (`find_begin`, format/table/table.h).
 *
 * A record is taken for one if it and those after it have the right CRCs of length and of data
 * (unless CST_SOURCE_SKIP_CRC), up to the end, or for CST__BOUNDARY_RECORDS further records and
 * CST__BOUNDARY_BYTES bytes at least. Records within the payload of a record, such as a small
 * TFRecord file, end too early for that; only where they go on for more than that they may be taken
 * for the file's own. The part before such a boundary then ends within a record, and fails:
 * nothing is lost in silence. A record before a damaged one is not a boundary either; it stays in
 * the part before.
 */
cst_status cst__boundary_find(const cst_source *source, size_t file, uint64_t from, uint64_t end,
                              uint64_t *out, cst_error *error);

enum { CST__BOUNDARY_RECORDS = 4, CST__BOUNDARY_BYTES = 8 << 20 };

#endif /* SOURCE_INDEX_BOUNDARY_H */
