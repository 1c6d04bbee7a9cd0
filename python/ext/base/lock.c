/* One caller at a time in an object of the library: waits without the GIL.
 *
 * A forked child has the locks of its parent as they stood, but not the threads that held them.
 */
#include <unistd.h>

#include "ext/base/base.h"

enum { patience = 50000 /* microseconds between two looks for signals */ };

int cst__py_lock_init(cst__py_lock *lock) {
  lock->owner = 0;
  lock->lock = PyThread_allocate_lock();
  if (lock->lock == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  lock->process = getpid();
  return 0;
}

void cst__py_lock_reset(cst__py_lock *lock) {
  if (lock->lock != NULL) {
    PyThread_free_lock(lock->lock);
    lock->lock = NULL;
  }
}

/* In a forked child: a lock of its own. An object that another thread was at work in cannot be used
 * any more. */
static int renew(cst__py_lock *lock, cst__py_state *state, const char *what) {
  if (lock->owner != 0) {
    cst__py_fail(state, CST_STATE, "create a new one in the new process",
                 "this %s was in use by another thread when the process forked", what);
    return -1;
  }
  cst__py_lock_reset(lock); /* a thread may have held it without having begun */
  return cst__py_lock_init(lock);
}

int cst__py_lock_enter(cst__py_lock *lock, cst__py_state *state, const char *what) {
  unsigned long self = PyThread_get_thread_ident();
  if (lock->owner == self) { /* only this thread can have written its own number */
    cst__py_fail(state, CST_STATE, "", "this %s is running already, further up in this call", what);
    return -1;
  }
  if (lock->process != getpid() && renew(lock, state, what) < 0) {
    return -1;
  }
  PyLockStatus got = PyThread_acquire_lock_timed(lock->lock, 0, 0);
  while (got != PY_LOCK_ACQUIRED) {
    Py_BEGIN_ALLOW_THREADS
    got = PyThread_acquire_lock_timed(lock->lock, patience, 0);
    Py_END_ALLOW_THREADS
    if (got != PY_LOCK_ACQUIRED && PyErr_CheckSignals() < 0) {
      return -1;
    }
  }
  lock->owner = self;
  return 0;
}

void cst__py_lock_leave(cst__py_lock *lock) {
  lock->owner = 0;
  PyThread_release_lock(lock->lock);
}

int cst__py_lock_enter_both(cst__py_lock *a, cst__py_lock *b, cst__py_state *state,
                            const char *what) {
  cst__py_lock *first = a < b ? a : b;
  cst__py_lock *second = a < b ? b : a;
  if (cst__py_lock_enter(first, state, what) < 0) {
    return -1;
  }
  if (cst__py_lock_enter(second, state, what) < 0) {
    cst__py_lock_leave(first);
    return -1;
  }
  return 0;
}
