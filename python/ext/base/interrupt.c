/* Ctrl-C, and other signals with a handler in Python, during a long call of the library.
 *
 * Python runs handlers on the main thread, between two of its own instructions. The library asks
 * every now and then whether to stop; then they are run from here, and what one raises is kept
 * until the call has come back.
 */
#include <pthread.h>

#include "ext/base/base.h"

/* True if it stops the call: a handler has raised, or a callback of this call has. */
static bool run_handlers(cst__py_gate *gate) {
  if (gate->interruption != NULL || PyErr_Occurred() != NULL) {
    return true;
  }
  if (PyErr_CheckSignals() == 0) {
    return false;
  }
  (void)cst__py_keep_exception(&gate->interruption, "", NULL);
  return true;
}

static bool interrupt_check(void *ctx) {
  cst__py_gate *gate = ctx;
  PyGILState_STATE gil;
  if (!cst__py_enter(gate, &gil)) {
    return false;
  }
  bool stop = run_handlers(gate);
  cst__py_leave(gate, gil);
  return stop;
}

bool cst__py_raise_interruption(cst__py_gate *gate) {
  PyObject *kept = gate->interruption;
  if (kept == NULL) {
    return false;
  }
  gate->interruption = NULL;
  PyErr_SetObject((PyObject *)Py_TYPE(kept), kept);
  Py_DECREF(kept);
  return true;
}

static int raise_later(void *ctx) { return cst__py_raise_interruption(ctx) ? -1 : 0; }

void cst__py_interrupt_later(cst__py_gate *gate) { (void)Py_AddPendingCall(raise_later, gate); }

/* What has been asked for by a thread: on the main one. */
static int install(void *ctx) {
  cst_interrupt_set(interrupt_check, ctx);
  return 0;
}

static cst__py_gate *forked; /* that a child's only thread, which is its main one, asks */

static void after_fork_in_child(void) { cst_interrupt_set(interrupt_check, forked); }

int cst__py_interrupt_init(cst__py_gate *gate) {
  PyObject *threading = PyImport_ImportModule("threading");
  PyObject *main = threading == NULL ? NULL : PyObject_CallMethod(threading, "main_thread", NULL);
  PyObject *ident = main == NULL ? NULL : PyObject_GetAttrString(main, "ident");
  unsigned long number = ident == NULL ? 0 : PyLong_AsUnsignedLong(ident);
  Py_XDECREF(ident);
  Py_XDECREF(main);
  Py_XDECREF(threading);
  if (PyErr_Occurred() != NULL) {
    return -1;
  }
  if (forked == NULL) {
    (void)pthread_atfork(NULL, NULL, after_fork_in_child);
  }
  forked = gate;
  return number == PyThread_get_thread_ident() ? install(gate) : Py_AddPendingCall(install, gate);
}
