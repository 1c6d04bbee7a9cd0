/* What a source shares with the streams that it exported: the last failure, what a warning was made
 * into, and the lease on what is read. */
#include <stdlib.h>

#include "ext/source/source.h"

struct cst__py_trace {
  atomic_int refs;
  PyThread_type_lock lock; /* guards the error; usable without the GIL */
  bool failed;
  cst_error error;
  cst__py_gate *gate;
  cst__py_kept kept;  /* guarded by the GIL; a warning's exception holds no frames */
  cst__py_held *held; /* may be NULL */
};

cst__py_trace *cst__py_trace_new(cst__py_gate *gate) {
  cst__py_trace *trace = calloc(1, sizeof *trace);
  if (trace == NULL) {
    return NULL;
  }
  trace->lock = PyThread_allocate_lock();
  if (trace->lock == NULL) {
    free(trace);
    return NULL;
  }
  atomic_init(&trace->refs, 1);
  trace->gate = gate;
  return trace;
}

cst__py_trace *cst__py_trace_retain(cst__py_trace *trace) {
  atomic_fetch_add(&trace->refs, 1);
  return trace;
}

void cst__py_trace_release(cst__py_trace *trace) {
  PyGILState_STATE gil;
  if (trace != NULL && atomic_fetch_sub(&trace->refs, 1) == 1) {
    if (trace->kept.exception != NULL && cst__py_enter(trace->gate, &gil)) {
      cst__py_replace(&trace->kept.exception, NULL);
      cst__py_leave(trace->gate, gil);
    }
    cst__py_held_release(trace->held);
    PyThread_free_lock(trace->lock);
    free(trace);
  }
}

void cst__py_trace_hold(cst__py_trace *trace, cst__py_held *held) {
  cst__py_held *before = trace->held;
  trace->held = held == NULL ? NULL : cst__py_held_retain(held);
  cst__py_held_release(before);
}

cst__py_held *cst__py_trace_held(const cst__py_trace *trace) { return trace->held; }

void cst__py_trace_set(cst__py_trace *trace, const cst_error *error) {
  PyThread_acquire_lock(trace->lock, WAIT_LOCK);
  trace->error = *error;
  trace->failed = true;
  PyThread_release_lock(trace->lock);
}

bool cst__py_trace_get(cst__py_trace *trace, cst_error *error) {
  PyThread_acquire_lock(trace->lock, WAIT_LOCK);
  *error = trace->error;
  bool failed = trace->failed;
  PyThread_release_lock(trace->lock);
  return failed;
}

cst__py_kept *cst__py_trace_kept(cst__py_trace *trace) { return &trace->kept; }

/* 0, or -1 with the exception that a filter makes of it. */
static int warn(const cst_error *warning) {
  char text[sizeof *warning + 256];
  PyObject *errors = PyImport_ImportModule("columnstone._base.errors");
  PyObject *class = errors == NULL ? NULL : PyObject_GetAttrString(errors, "DataWarning");
  cst_error_format(warning, text, sizeof text);
  int result = class == NULL ? -1 : PyErr_WarnEx(class, text, 1);
  Py_XDECREF(class);
  Py_XDECREF(errors);
  return result;
}

bool cst__py_on_warning(void *ctx, const cst_error *warning) {
  cst__py_trace *trace = ctx;
  PyGILState_STATE gil;
  if (!cst__py_enter(trace->gate, &gil)) {
    return true;
  }
  cst__py_pending pending = cst__py_put_aside();
  bool goes_on = warn(warning) == 0;
  if (!goes_on) {
    (void)cst__py_keep(&trace->kept, trace->gate, "", NULL);
  }
  cst__py_put_back(pending);
  cst__py_leave(trace->gate, gil);
  return goes_on;
}

bool cst__py_trace_is_alone(const cst__py_trace *trace) { return atomic_load(&trace->refs) == 1; }
