/* Stages of the caller's own, cst_stage of <columnstone/source.h>.
 */
#ifndef STAGE_CALLER_H
#define STAGE_CALLER_H

#include <columnstone/source.h>

#include "arrow/stage.h"
#include "base/thread.h"

/* A caller's stage and, through `before`, those before it. Immutable and counted: the sources that
 * have it share it. */
typedef struct cst__call {
  cst__refcount owners;
  struct cst__call *before; /* NULL: it is the first; owned */
  size_t depth;             /* of them, this one included */
  cst_stage stage;          /* its strings are `strings` */
  cst__arena strings;
} cst__call;

extern const cst__stage cst__call_stage; /* settings: cst__call */

/* Takes the stage over: closed by the last release, or at once on failure. `before` is retained. */
cst_status cst__call_new(const cst_stage *stage, cst__call *before, const cst_allocator *allocator,
                         cst__call **out, cst_error *error);
/* True if the stage gives the rows that it is given. */
static inline bool cst__call_keeps_rows(const cst__call *call) {
  return call->stage.keeps_rows || call->stage.run == NULL;
}

cst__call *cst__call_retain(cst__call *call); /* NULL is allowed */
void cst__call_release(cst__call *call);      /* NULL is allowed */

#endif /* STAGE_CALLER_H */
