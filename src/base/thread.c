/* Starting threads. */
#include "base/thread.h"

#include <signal.h>

bool cst__thread_start(cst__thread *thread, void *(*run)(void *), void *arg) {
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int failed = pthread_create(&thread->handle, NULL, run, arg);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return failed == 0;
}
