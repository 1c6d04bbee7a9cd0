/* Opening sources: what the split of a source into parts needs of it. */
#ifndef SOURCE_OPEN_OPEN_H
#define SOURCE_OPEN_OPEN_H

#include "source/input/source.h"

/* Adds the files that a path, a glob or a URL means. */
cst_status cst__source_expand(cst__paths *paths, const char *path, uint64_t max_inflation,
                              cst_error *error);

#endif /* SOURCE_OPEN_OPEN_H */
