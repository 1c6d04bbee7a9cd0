/* What is found out about a source by reading it: by one thread, for all, without its lock.
 */
#ifndef SOURCE_INPUT_DISCOVERY_H
#define SOURCE_INPUT_DISCOVERY_H

#include "source/input/source.h"

/* Calls `find` without the lock unless, under it, `known` says true, or somebody else is about it:
 * then waits. `find` makes known what it found, under the lock, or fails: then the next who asks
 * tries again. CST_STATE for a caller whose answer could only come after its own return: a reader
 * or stream of the source that asks what is being found by reading it. */
cst_status cst__source_discover(cst_source *source, cst__discovery *discovery,
                                bool (*known)(const cst_source *source),
                                cst_status (*find)(cst_source *source, cst_error *error),
                                cst_error *error);
/* Waits, holding the lock, until nobody is about it; CST_STATE as above, CST_INTERRUPTED. */
cst_status cst__source_await(cst_source *source, const cst__discovery *discovery, cst_error *error);

#endif /* SOURCE_INPUT_DISCOVERY_H */
