/* The calls that each thread is in. */
#include "source/input/call.h"

static _Thread_local cst__input_call *innermost;

bool cst__input_call_is_inside(const void *inputs) {
  const cst__input_call *call = innermost;
  while (call != NULL && call->inputs != inputs) {
    call = call->outer;
  }
  return call != NULL;
}

cst_status cst__input_call_fail(cst_error *error) {
  return cst__fail(error, CST_STATE, "ask before the reading begins, or another source",
                   "the input asks its own source for what has to be read from it");
}

cst_status cst__input_call_enter(cst__input_call *call, const void *inputs, cst__mutex *lock,
                                 cst_error *error) {
  if (cst__input_call_is_inside(inputs)) {
    return cst__input_call_fail(error);
  }
  *call = (cst__input_call){inputs, lock, innermost};
  cst__mutex_lock(lock);
  innermost = call;
  return CST_OK;
}

void cst__input_call_leave(cst__input_call *call) {
  innermost = call->outer;
  cst__mutex_unlock(call->lock);
}
