/* Records that the end of a part of a file cuts.
 */
#ifndef SOURCE_BLOCK_CROSSING_H
#define SOURCE_BLOCK_CROSSING_H

#include "source/block/framing.h"

/* A record with a right header begins at `offset`, and the part of the file ends within it. True in
 * *crosses if it is a record all the same, when the bytes after the part are looked at too, as they
 * are where all of the file is read; then the part's end is none of a record. False: it is damaged,
 * and ends before that. */
cst_status cst__framing_is_crossing(const cst__framing *framing, uint64_t offset,
                                    const cst__framed *framed, bool *crosses, cst_error *error);

#endif /* SOURCE_BLOCK_CROSSING_H */
