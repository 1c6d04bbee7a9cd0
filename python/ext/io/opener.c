/* Python objects as Arrow streams for the library: what cst.open takes tables, data frames and
 * registered formats by.
 *
 * The library opens from any thread. The opener enters Python through the module's gate; what the
 * object raises is kept and becomes the exception of the call that failed. A stream can tell of a
 * failure in words only: an object that has `last_error`, as Source has, is asked for the
 * exception.
 */
#include <errno.h>
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/io/io.h"

struct cst__py_opener {
  int refs; /* changes under the GIL */
  cst__py_gate *gate;
  PyObject *open;    /* (columns or None, batch_size, threads) -> an object that exports Arrow */
  cst__py_kept kept; /* of the last failed call */
};

cst__py_opener *cst__py_opener_new(cst__py_state *state, PyObject *open) {
  cst__py_opener *opener = calloc(1, sizeof *opener);
  if (opener == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  opener->refs = 1;
  opener->gate = state->gate;
  opener->open = Py_NewRef(open);
  return opener;
}

void cst__py_opener_release(cst__py_opener *opener) {
  if (opener == NULL || --opener->refs > 0) {
    return;
  }
  PyObject *open = opener->open;
  PyObject *exception = opener->kept.exception;
  free(opener);
  Py_XDECREF(open);
  Py_XDECREF(exception);
}

int cst__py_opener_traverse(const cst__py_opener *opener, visitproc visit, void *arg) {
  Py_VISIT(opener->open);
  Py_VISIT(opener->kept.exception);
  return 0;
}

cst__py_kept *cst__py_opener_kept(cst__py_opener *opener) { return &opener->kept; }

/* The wanted columns as a list of str, or None. */
static PyObject *columns_of(const cst_stream_request *request) {
  if (request->columns == NULL) {
    Py_RETURN_NONE;
  }
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < request->num_columns; i++) {
    PyObject *name = PyUnicode_FromString(request->columns[i]);
    if (name == NULL || PyList_Append(list, name) < 0) {
      Py_CLEAR(list);
    }
    Py_XDECREF(name);
  }
  return list;
}

/* 0 for a stream of batches; -1 with an exception, and the stream released, for one of other
 * arrays.
 */
static int check_stream(struct ArrowArrayStream *stream) {
  struct ArrowSchema schema;
  cst_error error = CST_ERROR_INIT;
  bool batches = true; /* a failure is left to whoever asks next */
  Py_BEGIN_ALLOW_THREADS
  if (cst__py_stream_schema(stream, &schema, &error) == CST_OK) {
    batches = strcmp(schema.format, "+s") == 0;
    schema.release(&schema);
  }
  if (!batches) {
    stream->release(stream);
  }
  Py_END_ALLOW_THREADS
  if (!batches) {
    PyErr_SetString(PyExc_TypeError,
                    "the object exports a single column, not record batches (make it a table)");
  }
  return batches ? 0 : -1;
}

/* ---- streams whose object knows its exceptions ---- */

typedef struct {
  struct ArrowArrayStream stream;
  cst__py_opener *opener; /* counted */
  PyObject *object; /* has last_error; NULL when that was taken: nobody shows it to the collector */
  cst_error error;  /* what get_last_error tells from then on */
} guarded;

/* Keeps what the object raised in its own code, and lets go of it, if it knows of something. */
static void keep_last_error(guarded *g) {
  PyObject *exception = PyObject_GetAttrString(g->object, "last_error");
  if (exception != NULL && PyExceptionInstance_Check(exception)) {
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    g->error = (cst_error)CST_ERROR_INIT;
    (void)cst__py_keep(&g->opener->kept, g->opener->gate, "the stream raised", &g->error);
    Py_CLEAR(g->object);
  } else {
    PyErr_Clear();
  }
  Py_XDECREF(exception);
}

/* ECANCELED tells the library that the caller's own code failed. */
static int guard_failure(guarded *g, int code) {
  PyGILState_STATE gil;
  if (code != 0 && code != EINTR && g->object != NULL && cst__py_enter(g->opener->gate, &gil)) {
    keep_last_error(g);
    cst__py_leave(g->opener->gate, gil);
  }
  return code != 0 && g->object == NULL ? ECANCELED : code;
}

static int guarded_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
  guarded *g = self->private_data;
  return guard_failure(g, g->stream.get_schema(&g->stream, out));
}

static int guarded_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
  guarded *g = self->private_data;
  return guard_failure(g, g->stream.get_next(&g->stream, out));
}

static const char *guarded_error(struct ArrowArrayStream *self) {
  guarded *g = self->private_data;
  if (g->object == NULL) {
    return g->error.message;
  }
  return g->stream.get_last_error == NULL ? NULL : g->stream.get_last_error(&g->stream);
}

/* Without Python the object stays, as the opener does. */
static void guarded_release(struct ArrowArrayStream *self) {
  guarded *g = self->private_data;
  cst__py_gate *gate = g->opener->gate;
  PyGILState_STATE gil;
  g->stream.release(&g->stream);
  if (cst__py_enter(gate, &gil)) {
    Py_XDECREF(g->object);
    cst__py_opener_release(g->opener);
    cst__py_leave(gate, gil);
  }
  free(g);
  self->release = NULL;
}

/* 0, or -1 with an exception and the stream released. */
static int guard(cst__py_opener *opener, PyObject *object, struct ArrowArrayStream *stream) {
  int asks = cst__py_has(object, "last_error");
  if (asks == 0) {
    return 0;
  }
  guarded *g = asks < 0 ? NULL : calloc(1, sizeof *g);
  if (g == NULL) {
    if (asks > 0) {
      PyErr_NoMemory();
    }
    cst__py_release_stream(stream);
    return -1;
  }
  opener->refs++;
  *g = (guarded){.stream = *stream, .opener = opener, .object = Py_NewRef(object)};
  *stream =
      (struct ArrowArrayStream){guarded_schema, guarded_next, guarded_error, guarded_release, g};
  return 0;
}

static int open_object(cst__py_opener *opener, const cst_stream_request *request,
                       struct ArrowArrayStream *out) {
  PyObject *columns = columns_of(request);
  PyObject *object = columns == NULL ? NULL
                                     : PyObject_CallFunction(opener->open, "OLi", columns,
                                                             (long long)request->batch_size,
                                                             (int)request->threads);
  int result = object == NULL ? -1 : cst__py_import_batches(object, out);
  if (result == 0) {
    result = check_stream(out);
  }
  if (result == 0) {
    result = guard(opener, object, out);
  }
  Py_XDECREF(columns);
  Py_XDECREF(object);
  return result;
}

static cst_status open_stream(void *ctx, const cst_stream_request *request,
                              struct ArrowArrayStream *out, cst_error *error) {
  cst__py_opener *opener = ctx;
  PyGILState_STATE gil;
  if (!cst__py_enter(opener->gate, &gil)) {
    return cst__py_refuse(error);
  }
  cst_status status = CST_OK;
  if (open_object(opener, request, out) < 0) {
    status = cst__py_keep(&opener->kept, opener->gate, "opening the stream raised", error);
  }
  cst__py_leave(opener->gate, gil);
  return status;
}

/* Without Python there is nobody to give the object to: it stays until the process ends. */
static void close_opener(void *ctx) {
  cst__py_opener *opener = ctx;
  cst__py_gate *gate = opener->gate;
  PyGILState_STATE gil;
  if (cst__py_enter(gate, &gil)) {
    cst__py_opener_release(opener);
    cst__py_leave(gate, gil);
  }
}

cst_stream_opener cst__py_opener_view(cst__py_opener *opener, const char *name, bool once,
                                      bool projects) {
  opener->refs++;
  return (cst_stream_opener){.size = sizeof(cst_stream_opener),
                             .name = name,
                             .open = open_stream,
                             .close = close_opener,
                             .ctx = opener,
                             .once = once,
                             .projects = projects};
}
