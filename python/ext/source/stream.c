/* A pass over a source as an ArrowArrayStream that keeps the failure for Source.last_error.
 * Consumers call from any thread, with or without the GIL: Python is only entered to tell of
 * dropped records.
 */
#include <errno.h>
#include <stdlib.h>

#include "ext/ext.h"

struct cst__py_trace {
  atomic_int refs;
  PyThread_type_lock lock; /* guards the error; usable without the GIL */
  bool failed;
  cst_error error;
  cst__py_gate *gate;
  cst__py_kept kept; /* guarded by the GIL; a warning's exception has no frames behind it */
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
    PyThread_free_lock(trace->lock);
    free(trace);
  }
}

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

typedef struct stream {
  cst_source *source;
  cst_pass *pass;
  cst__py_trace *trace;
  cst__py_gate *gate;
  cst__py_drops *drops; /* may be NULL */
  char *text;           /* of the last failure */
} stream;

/* The errno of a failure, as the stream interface wants it. */
static int fail(stream *s, const cst_error *error) {
  cst__py_trace_set(s->trace, error);
  free(s->text);
  size_t size = cst_error_format(error, NULL, 0);
  s->text = malloc(size + 1);
  if (s->text != NULL) {
    cst_error_format(error, s->text, size + 1);
  }
  switch (error->code) {
    case CST_NO_MEMORY:
      return ENOMEM;
    case CST_IO:
      return EIO;
    case CST_INTERRUPTED: /* whoever reads the stream may make another exception of it */
      cst__py_interrupt_later(s->gate);
      return EINTR;
    default:
      return EINVAL;
  }
}

static int get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
  stream *s = self->private_data;
  cst_error error = CST_ERROR_INIT;
  return cst_source_arrow_schema(s->source, out, &error) == CST_OK ? 0 : fail(s, &error);
}

static int get_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
  stream *s = self->private_data;
  cst_error error = CST_ERROR_INIT;
  out->release = NULL;
  cst__py_drops *before = cst__py_drops_swap(s->drops);
  cst_status status = cst_pass_next(s->pass, out, &error);
  cst__py_drops_swap(before);
  return status == CST_OK ? 0 : fail(s, &error);
}

static const char *get_last_error(struct ArrowArrayStream *self) {
  return ((stream *)self->private_data)->text;
}

static void free_stream(stream *s) {
  cst_pass_free(s->pass);
  cst__py_drops_free(s->drops);
  cst_source_release(s->source);
  cst__py_trace_release(s->trace);
  free(s->text);
  free(s);
}

static void release(struct ArrowArrayStream *self) {
  free_stream(self->private_data);
  self->release = NULL;
}

int cst__py_stream_export(cst_source *source, cst__py_trace *trace, cst__py_gate *gate,
                          cst__py_drops *drops, struct ArrowArrayStream *out, cst_error *error) {
  stream *s = calloc(1, sizeof *s);
  if (s == NULL) {
    cst__py_drops_free(drops);
    error->code = CST_NO_MEMORY;
    return -1;
  }
  s->source = cst_source_retain(source);
  s->trace = cst__py_trace_retain(trace);
  s->gate = gate;
  s->drops = drops;
  if (cst_pass_new(source, &s->pass, error) != CST_OK) {
    free_stream(s);
    return -1;
  }
  *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release, s};
  return 0;
}
