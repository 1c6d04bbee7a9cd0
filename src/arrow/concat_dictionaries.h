/* Concatenation of dictionary-encoded arrays. */
#ifndef ARROW_CONCAT_DICTIONARIES_H
#define ARROW_CONCAT_DICTIONARIES_H

#include "arrow/concat_parts.h"

/* Fills the indices and the dictionary of an owned array: its values are those of the first piece,
 * then those of the others that are not among them. (Only strings and binary are compared: other
 * values come again.) CST_LIMIT if there are more values than an index counts. */
cst_status cst__join_dictionaries(const cst__level *level, struct ArrowArray *out,
                                  cst_error *error);

#endif /* ARROW_CONCAT_DICTIONARIES_H */
