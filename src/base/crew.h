/* A crew: a caller and threads that do the same jobs for what he waits for.
 *
 * Its owner keeps the jobs and what comes of them, guarded by the crew's lock: mostly a ring of
 * numbered slots, out of which the caller takes what stands at its head. `work` picks a job with
 * the lock held, lets the lock go while it does the job, and returns with the lock held, by when
 * it has called those for whom there is now something to do. A thread that finds no job sleeps
 * until it is called. Whoever must not miss a change because the call went to another thread (a
 * job that only one thread may do) takes cst__crew_call_all.
 *
 * The caller's thread alone calls init, reserve, start, wait, stop and reset, in this order; all of
 * them may be left out but the first and the last. With no thread started, or none given by the
 * system, the caller does all the jobs in cst__crew_wait. Stopping cuts short what the threads do
 * (they follow `cancelled`, see base/interrupt.h) and waits for them; jobs that nobody has begun
 * stay undone, and belong to the owner, as does what was made. In a child that was forked meanwhile
 * a crew is of no use, as base/forked.h says: its owner must not touch it there.
 */
#ifndef BASE_CREW_H
#define BASE_CREW_H

#include "base/error.h"
#include "base/interrupt.h"
#include "base/thread.h"

typedef struct cst__crew_calls {
  /* On the thread with this number (0: the caller's, in cst__crew_wait). False, without having let
   * go of the lock: there is no job for it. */
  bool (*work)(void *owner, int32_t thread);
  /* Whether the caller has what he waits for; with the lock held. */
  bool (*is_ready)(const void *owner);
} cst__crew_calls;

typedef struct cst__crew_thread cst__crew_thread;

typedef struct cst__crew {
  const cst__crew_calls *calls;
  void *owner;
  atomic_bool cancelled;     /* what the threads do is of no use any more; needs no lock */
  cst__crew_thread *threads; /* for the caller alone, as are their numbers: */
  int32_t reserved;
  int32_t started;      /* of those that are reserved */
  cst__mutex lock;      /* guards all below, and what the owner shares */
  cst__condition work;  /* threads without a job wait for it, */
  cst__condition ready; /* and the caller for this one */
  int32_t idle;         /* threads that wait */
  bool caller_waits;
  bool stop;
} cst__crew;

/* Borrows all of them; the crew stays where it is. */
void cst__crew_init(cst__crew *crew, const cst__crew_calls *calls, void *owner);

/* Memory for threads 1 to `count`. */
cst_status cst__crew_reserve(cst__crew *crew, int32_t count, const cst_allocator *allocator,
                             cst_error *error);

/* Starts them, or as many as the system gives. The lock may be held. */
void cst__crew_start(cst__crew *crew);

/* Works, and waits where there is no job, until is_ready; the lock is held. */
cst_status cst__crew_wait(cst__crew *crew, cst_error *error);

/* Ends the threads; more than once is allowed. */
void cst__crew_stop(cst__crew *crew);
void cst__crew_reset(cst__crew *crew); /* stops it, too */

/* With the lock held: there is a job for one thread more, */
static inline void cst__crew_call_thread(cst__crew *crew) {
  if (crew->idle > 0) {
    cst__condition_signal(&crew->work);
  }
}

/* or something for the caller: what he waits for, or a job. */
static inline void cst__crew_call_caller(cst__crew *crew) {
  if (crew->caller_waits) {
    crew->caller_waits = false;
    cst__condition_signal(&crew->ready);
  }
}

/* All look again. */
static inline void cst__crew_call_all(cst__crew *crew) {
  cst__condition_broadcast(&crew->work);
  cst__crew_call_caller(crew);
}

/* Of things that are done in any order: the failure of the one that comes first. */
typedef struct cst__first_failure {
  uint64_t at; /* its number; UINT64_MAX: none so far */
  cst_status status;
  cst_error error;
} cst__first_failure;

#define CST__NO_FAILURE \
  { .at = UINT64_MAX, .error = CST_ERROR_INIT }

static inline void cst__first_failure_note(cst__first_failure *first, uint64_t at,
                                           cst_status status, const cst_error *error) {
  if (at < first->at) {
    first->at = at;
    first->status = status;
    cst__error_copy(&first->error, error);
  }
}

#endif /* BASE_CREW_H */
