/* Threads, locks and atomic counters: the only place that knows the system's threads. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cst__mutex {
  pthread_mutex_t handle;
} cst__mutex;

#define CST__MUTEX_INIT \
  { PTHREAD_MUTEX_INITIALIZER }
typedef struct cst__condition {
  pthread_cond_t handle;
} cst__condition;
typedef struct cst__thread {
  pthread_t handle;
} cst__thread;

static inline void cst__mutex_init(cst__mutex *m) { pthread_mutex_init(&m->handle, NULL); }
static inline void cst__mutex_destroy(cst__mutex *m) { pthread_mutex_destroy(&m->handle); }
static inline void cst__mutex_lock(cst__mutex *m) { pthread_mutex_lock(&m->handle); }
static inline void cst__mutex_unlock(cst__mutex *m) { pthread_mutex_unlock(&m->handle); }

/* Its clock goes on evenly, whatever is done to the time of day. */
void cst__condition_init(cst__condition *c);
static inline void cst__condition_destroy(cst__condition *c) { pthread_cond_destroy(&c->handle); }
static inline void cst__condition_wait(cst__condition *c, cst__mutex *m) {
  pthread_cond_wait(&c->handle, &m->handle);
}
/* The same for at most so long; false: nobody has called by then. */
bool cst__condition_wait_for(cst__condition *c, cst__mutex *m, int64_t nanoseconds);
static inline void cst__condition_signal(cst__condition *c) { pthread_cond_signal(&c->handle); }
static inline void cst__condition_broadcast(cst__condition *c) {
  pthread_cond_broadcast(&c->handle);
}

/* False if the system gives no thread. The thread runs with all signals blocked, and on Linux is
 * called "columnstone" where threads are listed. */
bool cst__thread_start(cst__thread *thread, void *(*run)(void *), void *arg);
static inline void cst__thread_join(cst__thread *thread) { pthread_join(thread->handle, NULL); }

/* A number of the calling thread that no other has while it lives; never 0. */
uintptr_t cst__thread_self(void);

/* Work that a fork has to wait for, so that no lock is held in the child: between enter and leave a
 * thread of the library makes something, and calls nobody who may wait for the thread that forks.
 */
void cst__busy_enter(void);
void cst__busy_leave(void);

/* A function that runs once, before any of the calls returns. */
typedef pthread_once_t cst__once;
#define CST__ONCE_INIT PTHREAD_ONCE_INIT
static inline void cst__call_once(cst__once *once, void (*run)(void)) { pthread_once(once, run); }

/* Counted ownership, for objects that threads share. */
typedef atomic_int cst__refcount;
static inline void cst__refcount_init(cst__refcount *count) { atomic_init(count, 1); }
static inline void cst__refcount_up(cst__refcount *count) {
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}
/* True if this was the last owner. */
static inline bool cst__refcount_down(cst__refcount *count) {
  return atomic_fetch_sub_explicit(count, 1, memory_order_acq_rel) == 1;
}

#endif /* BASE_THREAD_H */
