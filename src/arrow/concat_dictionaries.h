/* Concatenation of dictionary-encoded arrays. */
#ifndef ARROW_CONCAT_DICTIONARIES_H
#define ARROW_CONCAT_DICTIONARIES_H

#include "arrow/concat_parts.h"

/* The values of a merged dictionary: runs of those that the pieces have; at least one. */
typedef struct cst__merged_values {
  cst__piece *runs; /* cst__delete after use */
  size_t count;
} cst__merged_values;

/* Fills the indices of an owned array of dictionary-encoded pieces. The values are those of the
 * first piece, then those of the others that are not among them. (Only strings and binary are
 * compared: other values come again.) CST_LIMIT if there are more than an index counts. */
cst_status cst__merge_dictionaries(const cst__level *level, struct ArrowArray *out,
                                   cst__merged_values *values, cst_error *error);

#endif /* ARROW_CONCAT_DICTIONARIES_H */
