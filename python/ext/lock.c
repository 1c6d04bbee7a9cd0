/* One caller at a time in an object of the library: waits without the GIL. */
#include "ext.h"

int cst__py_lock_init(cst__py_lock *lock) {
  lock->owner = 0;
  lock->lock = PyThread_allocate_lock();
  if (lock->lock == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  return 0;
}

void cst__py_lock_reset(cst__py_lock *lock) {
  if (lock->lock != NULL) {
    PyThread_free_lock(lock->lock);
    lock->lock = NULL;
  }
}

int cst__py_lock_enter(cst__py_lock *lock, cst__py_state *state, const char *what) {
  unsigned long self = PyThread_get_thread_ident();
  if (lock->owner == self) { /* only this thread can have written its own number */
    cst__py_fail(state, CST_STATE, "", "this %s is running already, further up in this call", what);
    return -1;
  }
  if (PyThread_acquire_lock(lock->lock, NOWAIT_LOCK) == 0) {
    Py_BEGIN_ALLOW_THREADS
    PyThread_acquire_lock(lock->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
  }
  lock->owner = self;
  return 0;
}

void cst__py_lock_leave(cst__py_lock *lock) {
  lock->owner = 0;
  PyThread_release_lock(lock->lock);
}
