/* A pipe or a caller's reader that cannot seek, read twice at its beginning: what the first reading
 * has taken is kept for the second, which goes on after it.
 */
#ifndef IO_REPLAY_H
#define IO_REPLAY_H

#include "io/input.h"

typedef struct cst__replay cst__replay;

/* Over a path ("-": standard input) or, if `reader` is not NULL, a reader, which is borrowed. */
cst_status cst__replay_open(const char *path, const cst_reader *reader,
                            const cst_allocator *allocator, cst__replay **out, cst_error *error);

/* From here on nothing more is kept, and the bytes that are kept are let go as they are read: the
 * next reading is the last one. */
void cst__replay_forget(cst__replay *replay);

/* A reader from the first byte on. The replay must outlive it; one reading at a time. */
cst_reader cst__replay_reader(cst__replay *replay);
void cst__replay_free(cst__replay *replay);

#endif /* IO_REPLAY_H */
