/* What is found out about a source by reading it: by one thread, for all, without its lock; and the
 * calls of the caller's readers that this leads to.
 */
#include "base/interrupt.h"
#include "source/input/source.h"

/* The calls that the thread is in, the innermost first. */
static _Thread_local cst__input_call *calls;

static const cst_source *root_of(const cst_source *source) {
  return source->parent != NULL ? source->parent : source;
}

static bool is_calling(const cst_source *source) {
  const cst__input_call *call = calls;
  while (call != NULL && call->source != root_of(source)) {
    call = call->outer;
  }
  return call != NULL;
}

static cst_status fail_inside(cst_error *error) {
  return cst__fail(error, CST_STATE, "ask before the reading begins, or another source",
                   "the input asks its own source for what has to be read from it");
}

/* ---- calls of the caller's code ---- */

cst_status cst__input_call_enter(cst__input_call *call, cst__source_file *file, cst_error *error) {
  if (is_calling(file->owner)) {
    return fail_inside(error);
  }
  *call = (cst__input_call){file->owner, calls};
  cst__mutex_lock(&file->lock);
  calls = call;
  return CST_OK;
}

void cst__input_call_leave(cst__input_call *call, cst__source_file *file) {
  calls = call->outer;
  cst__mutex_unlock(&file->lock);
}

/* ---- discoveries ---- */

cst_status cst__source_await(cst_source *source, const cst__discovery *discovery,
                             cst_error *error) {
  while (discovery->busy) {
    if (discovery->finder == cst__thread_self() || is_calling(source)) {
      return fail_inside(error);
    }
    CST__TRY(cst__interruptible_wait(&source->found, &source->lock, error));
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
    cst__condition_broadcast(&source->found);
  }
  cst__mutex_unlock(&source->lock);
  return status;
}
