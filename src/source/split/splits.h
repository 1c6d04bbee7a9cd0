/* Splits: planned for all workers, and read by each.
 */
#ifndef SOURCE_SPLIT_SPLITS_H
#define SOURCE_SPLIT_SPLITS_H

#include <columnstone/split.h>

#include "io/input.h"
#include "source/input/source.h"

struct cst_splits {
  cst_allocator allocator;
  cst_split *items;
  size_t count;
  size_t capacity;
  cst__paths files; /* whose names the splits have */
};

/* How the records of a file can be reached from its middle. */
typedef enum cst__division {
  CST__UNDIVIDED,
  CST__BY_INDEX, /* only where an index says that one begins */
  CST__BY_BYTES  /* from every byte */
} cst__division;

/* That of the i-th file of a source. Looks at its first bytes. */
cst_status cst__source_division(const cst_source *source, size_t i, cst__division *out,
                                cst_error *error);

#endif /* SOURCE_SPLIT_SPLITS_H */
