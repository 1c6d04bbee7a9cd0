/* Records that the end of a part of a file cuts.
 */
#ifndef SOURCE_BLOCK_CROSSING_H
#define SOURCE_BLOCK_CROSSING_H

#include "source/block/framing.h"

typedef enum cst__crossing {
  CST__CROSSING_NOT,  /* it is damaged, and ends before that */
  CST__CROSSING_PART, /* it is a record all the same: the part's end is none of a record */
  CST__CROSSING_FILE  /* the file ends within it as well */
} cst__crossing;

/* A record begins at `offset`, and the part of the file ends within it, or within its header. What
 * it is when the bytes after the part are looked at too, as they are where all of the file is read.
 * *damage is set for CST__CROSSING_NOT. */
cst_status cst__framing_cross(const cst__framing *framing, uint64_t offset,
                              const cst__framed *framed, cst__crossing *out, cst__damage *damage,
                              cst_error *error);

#endif /* SOURCE_BLOCK_CROSSING_H */
