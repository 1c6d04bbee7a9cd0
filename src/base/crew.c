/* The threads of a crew. */
#include "base/crew.h"

#include "base/alloc.h"

struct cst__crew_thread {
  cst__crew *crew;
  int32_t number;
  cst__thread handle;
};

void cst__crew_init(cst__crew *crew, const cst__crew_calls *calls, void *owner) {
  *crew = (cst__crew){.calls = calls, .owner = owner};
  atomic_init(&crew->cancelled, false);
  cst__mutex_init(&crew->lock);
  cst__condition_init(&crew->work);
  cst__condition_init(&crew->ready);
}

static void *run_thread(void *arg) {
  const cst__crew_thread *self = arg;
  cst__crew *crew = self->crew;
  cst__interrupt_follow(&crew->cancelled);
  cst__mutex_lock(&crew->lock);
  while (!crew->stop) {
    if (!crew->calls->work(crew->owner, self->number)) {
      crew->idle++;
      cst__condition_wait(&crew->work, &crew->lock);
      crew->idle--;
    }
  }
  cst__mutex_unlock(&crew->lock);
  return NULL;
}

cst_status cst__crew_reserve(cst__crew *crew, int32_t count, const cst_allocator *allocator,
                             cst_error *error) {
  if (count <= 0 || crew->threads != NULL) {
    return CST_OK;
  }
  crew->threads = cst__new_zero(allocator, (size_t)count * sizeof *crew->threads);
  if (crew->threads == NULL) {
    return cst__fail_memory(error, (size_t)count * sizeof *crew->threads);
  }
  crew->reserved = count;
  return CST_OK;
}

void cst__crew_start(cst__crew *crew) {
  while (crew->started < crew->reserved) {
    cst__crew_thread *next = &crew->threads[crew->started];
    *next = (cst__crew_thread){.crew = crew, .number = crew->started + 1};
    if (!cst__thread_start(&next->handle, run_thread, next)) {
      return;
    }
    crew->started++;
  }
}

cst_status cst__crew_wait(cst__crew *crew, cst_error *error) {
  cst_status status = CST_OK;
  while (status == CST_OK && !crew->calls->is_ready(crew->owner)) {
    if (!crew->calls->work(crew->owner, 0)) {
      crew->caller_waits = true;
      status = cst__interruptible_wait(&crew->ready, &crew->lock, error);
      crew->caller_waits = false;
    }
  }
  return status;
}

void cst__crew_stop(cst__crew *crew) {
  atomic_store(&crew->cancelled, true);
  cst__mutex_lock(&crew->lock);
  crew->stop = true;
  cst__condition_broadcast(&crew->work);
  cst__mutex_unlock(&crew->lock);
  for (int32_t i = 0; i < crew->started; i++) {
    cst__thread_join(&crew->threads[i].handle);
  }
  cst__delete(crew->threads);
  crew->threads = NULL;
  crew->reserved = 0;
  crew->started = 0;
}

void cst__crew_reset(cst__crew *crew) {
  cst__crew_stop(crew);
  cst__condition_destroy(&crew->ready);
  cst__condition_destroy(&crew->work);
  cst__mutex_destroy(&crew->lock);
}
