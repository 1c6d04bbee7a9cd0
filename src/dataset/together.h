/* Files of a tabular source that are read at once, in turns (source/pass/turns.h): a pass for each
 * of them. Containers do the same in one pass, whose feed takes turns.
 */
#ifndef DATASET_TOGETHER_H
#define DATASET_TOGETHER_H

#include "source/pass/pass.h"

typedef struct cst__together cst__together;

/* Files of a source, at least one, which can be read more than once; of at_once in the options, the
 * turns count. */
cst_status cst__together_new(cst_source *source, const size_t *files, size_t count,
                             const cst__pass_options *options, cst__together **out,
                             cst_error *error);
void cst__together_free(cst__together *together); /* NULL is allowed */

/* The next rows, all of one file; out->release is NULL at the end. */
cst_status cst__together_next(cst__together *together, struct ArrowArray *out, cst_error *error);

#endif /* DATASET_TOGETHER_H */
