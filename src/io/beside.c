/* Work on a thread of its own. */
#include "io/beside.h"

#include "base/error.h"
#include "base/interrupt.h"
#include "base/thread.h"

struct cst__beside {
  cst__beside_work work;
  void *ctx;
  cst__thread thread;
  atomic_bool cancelled;
  cst__mutex lock; /* guards all below */
  cst__condition changed;
  const void *data;
  size_t size;
  bool has_data;
  bool stop;
  cst_status failed;
  cst_error failure;
};

static void *run_writer(void *arg) {
  cst__beside *beside = arg;
  cst__interrupt_follow(&beside->cancelled);
  cst__mutex_lock(&beside->lock);
  for (;;) {
    while (!beside->has_data && !beside->stop) {
      cst__condition_wait(&beside->changed, &beside->lock);
    }
    if (!beside->has_data) {
      break;
    }
    cst_error error = CST_ERROR_INIT;
    cst__mutex_unlock(&beside->lock);
    cst_status status = beside->work(beside->ctx, beside->data, beside->size, &error);
    cst__mutex_lock(&beside->lock);
    beside->has_data = false;
    if (status != CST_OK) {
      beside->failed = status;
      cst__error_copy(&beside->failure, &error);
    }
    cst__condition_broadcast(&beside->changed);
  }
  cst__mutex_unlock(&beside->lock);
  return NULL;
}

static void free_beside(cst__beside *beside) {
  cst__condition_destroy(&beside->changed);
  cst__mutex_destroy(&beside->lock);
  cst__delete(beside);
}

cst_status cst__beside_start(cst__beside_work work, void *ctx, const cst_allocator *allocator,
                             cst__beside **out, cst_error *error) {
  cst__beside *beside = cst__new_zero(allocator, sizeof *beside);
  if (beside == NULL) {
    return cst__fail_memory(error, sizeof *beside);
  }
  beside->work = work;
  beside->ctx = ctx;
  beside->failure = (cst_error)CST_ERROR_INIT;
  cst__mutex_init(&beside->lock);
  cst__condition_init(&beside->changed);
  if (!cst__thread_start(&beside->thread, run_writer, beside)) {
    free_beside(beside);
    beside = NULL;
  }
  *out = beside;
  return CST_OK;
}

cst_status cst__beside_wait(cst__beside *beside, cst_error *error) {
  cst__mutex_lock(&beside->lock);
  cst_status status = CST_OK;
  while (beside->has_data && status == CST_OK) {
    status = cst__interruptible_wait(&beside->changed, &beside->lock, error);
  }
  if (status == CST_OK && beside->failed != CST_OK) {
    status = beside->failed;
    cst__error_copy(error, &beside->failure);
  }
  cst__mutex_unlock(&beside->lock);
  return status;
}

void cst__beside_give(cst__beside *beside, const void *data, size_t size) {
  cst__mutex_lock(&beside->lock);
  beside->data = data;
  beside->size = size;
  beside->has_data = true;
  cst__condition_broadcast(&beside->changed);
  cst__mutex_unlock(&beside->lock);
}

void cst__beside_cancel(cst__beside *beside) { atomic_store(&beside->cancelled, true); }

void cst__beside_stop(cst__beside *beside) {
  cst__mutex_lock(&beside->lock);
  beside->stop = true;
  cst__condition_broadcast(&beside->changed);
  cst__mutex_unlock(&beside->lock);
  cst__thread_join(&beside->thread);
  free_beside(beside);
}
