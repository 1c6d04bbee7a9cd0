/* Discoveries: one thread finds out, the others wait. */
#include "source/input/discovery.h"

#include "base/interrupt.h"
#include "source/input/call.h"

cst_status cst__source_await(cst_source *source, const cst__discovery *discovery,
                             cst_error *error) {
  while (discovery->busy) {
    if (discovery->finder == cst__thread_self() || cst__input_call_is_inside(source->inputs)) {
      return cst__input_call_fail(error);
    }
    CST__TRY(cst__interruptible_wait(&source->found_signal, &source->lock, error));
  }
  return CST_OK;
}

cst_status cst__source_discover(cst_source *source, cst__discovery *discovery,
                                bool (*known)(const cst_source *source),
                                cst_status (*find)(cst_source *source, cst_error *error),
                                cst_error *error) {
  cst_status status = CST_OK;
  cst__mutex_lock(&source->lock);
  if (!known(source)) {
    status = cst__source_await(source, discovery, error);
  }
  if (status == CST_OK && !known(source)) {
    *discovery = (cst__discovery){true, cst__thread_self()};
    cst__mutex_unlock(&source->lock);
    status = find(source, error);
    cst__mutex_lock(&source->lock);
    *discovery = (cst__discovery){false, 0};
    cst__condition_broadcast(&source->found_signal);
  }
  cst__mutex_unlock(&source->lock);
  return status;
}
