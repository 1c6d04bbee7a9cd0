/* Starting threads, and forks beside them. */
#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

bool cst__thread_start(cst__thread *thread, void *(*run)(void *), void *arg) {
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int failed = pthread_create(&thread->handle, NULL, run, arg);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
#if defined(__linux__)
  if (failed == 0) {
    pthread_setname_np(thread->handle, "columnstone");
  }
#endif
  return failed == 0;
}

#if defined(__APPLE__)
static const clockid_t wait_clock = CLOCK_REALTIME; /* it has no other to wait by */
#else
static const clockid_t wait_clock = CLOCK_MONOTONIC;
#endif

void cst__condition_init(cst__condition *c) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
#if !defined(__APPLE__)
  pthread_condattr_setclock(&attributes, wait_clock);
#endif
  pthread_cond_init(&c->handle, &attributes);
  pthread_condattr_destroy(&attributes);
}

bool cst__condition_wait_for(cst__condition *c, cst__mutex *m, int64_t nanoseconds) {
  struct timespec until;
  clock_gettime(wait_clock, &until);
  until.tv_nsec += (long)nanoseconds;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  return pthread_cond_timedwait(&c->handle, &m->handle, &until) != ETIMEDOUT;
}

uintptr_t cst__thread_self(void) {
  static _Thread_local char own;
  return (uintptr_t)&own;
}

/* ---- forks ---- */

static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fork_change = PTHREAD_COND_INITIALIZER;
static int num_busy;
static int num_forking;

static void before_fork(void) {
  pthread_mutex_lock(&fork_lock);
  num_forking++;
  while (num_busy > 0) {
    pthread_cond_wait(&fork_change, &fork_lock);
  }
}

static void after_fork(void) {
  num_forking--;
  pthread_cond_broadcast(&fork_change);
  pthread_mutex_unlock(&fork_lock);
}

/* The threads that wait are the parent's. */
static void after_fork_in_child(void) {
  num_forking = 0;
  pthread_cond_init(&fork_change, NULL);
  pthread_mutex_unlock(&fork_lock);
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork_in_child); }

void cst__busy_enter(void) {
  static cst__once once = CST__ONCE_INIT;
  cst__call_once(&once, watch_forks);
  pthread_mutex_lock(&fork_lock);
  while (num_forking > 0) {
    pthread_cond_wait(&fork_change, &fork_lock);
  }
  num_busy++;
  pthread_mutex_unlock(&fork_lock);
}

void cst__busy_leave(void) {
  pthread_mutex_lock(&fork_lock);
  num_busy--;
  pthread_cond_broadcast(&fork_change);
  pthread_mutex_unlock(&fork_lock);
}
