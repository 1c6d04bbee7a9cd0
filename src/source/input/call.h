/* Calls of the caller's readers and openers: one at a time, and none that waits for itself.
 */
#ifndef SOURCE_INPUT_CALL_H
#define SOURCE_INPUT_CALL_H

#include "base/error.h"
#include "base/thread.h"

typedef struct cst__input_call {
  const void *inputs;
  cst__mutex *lock;
  struct cst__input_call *outer;
} cst__input_call;

/* Between enter and leave the lock is held. CST_STATE if this thread is in such a call of the same
 * inputs already. */
cst_status cst__input_call_enter(cst__input_call *call, const void *inputs, cst__mutex *lock,
                                 cst_error *error);
void cst__input_call_leave(cst__input_call *call);

/* True if this thread is in a call of one of these inputs' readers or openers. */
bool cst__input_call_is_inside(const void *inputs);
/* The failure of whoever asks there for what can only be known after its own return. */
cst_status cst__input_call_fail(cst_error *error);

#endif /* SOURCE_INPUT_CALL_H */
