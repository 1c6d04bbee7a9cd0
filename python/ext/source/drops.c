/* The records that a pass dropped: collected in a list, and told to the user's function.
 *
 * The library reports a dropped record on the thread that asks for the next batch, so the pass that
 * asks notes itself in a variable of that thread around the call. Drops that are met while no pass
 * asks (a schema is inferred) are not reported: the pass meets them again.
 */
#include <stdlib.h>

#include "ext/source/source.h"

struct cst__py_drops {
  cst__py_gate *gate;
  PyObject *source;   /* keeps the module alive */
  PyObject *make;     /* the class of the entries: make(kind, file, record, offset, bytes, error) */
  PyObject *callback; /* NULL: nobody asks */
  PyObject *list;
  PyObject *exception; /* what the function raised */
};

static _Thread_local cst__py_drops *current;

/* `make` is the class of the entries, `callback` may be NULL. NULL with an exception. */
static cst__py_drops *new_drops(PyObject *source, PyObject *make, PyObject *callback) {
  cst__py_drops *drops = calloc(1, sizeof *drops);
  if (drops == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  PyObject *list = PyList_New(0);
  if (list == NULL) {
    free(drops);
    return NULL;
  }
  drops->gate = cst__py_state_of(source)->gate;
  drops->source = Py_NewRef(source);
  drops->make = Py_NewRef(make);
  drops->callback = Py_XNewRef(callback);
  drops->list = list;
  return drops;
}

int cst__py_drops_begin(PyObject *object, cst__py_drops **out) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  *out = NULL;
  if (self->make_dropped == NULL) {
    return 0;
  }
  *out = new_drops(object, self->make_dropped, self->on_dropped);
  if (*out == NULL) {
    return -1;
  }
  cst__py_source_begin_dropped(self, cst__py_drops_list(*out));
  return 0;
}

void cst__py_source_begin_dropped(cst__py_source_object *self, PyObject *list) {
  cst__py_replace(&self->dropped, Py_NewRef(list));
  while (self->is_parents_view) {
    self = (cst__py_source_object *)self->parent;
    cst__py_replace(&self->dropped, Py_NewRef(list));
  }
}

/* Without Python there is nobody to give the objects to: they stay until the process ends. */
void cst__py_drops_free(cst__py_drops *drops) {
  PyGILState_STATE gil;
  if (drops == NULL || !cst__py_enter(drops->gate, &gil)) {
    return;
  }
  cst__py_gate *gate = drops->gate;
  Py_XDECREF(drops->exception);
  Py_DECREF(drops->list);
  Py_XDECREF(drops->callback);
  Py_DECREF(drops->make);
  Py_DECREF(drops->source);
  free(drops);
  cst__py_leave(gate, gil);
}

int cst__py_drops_traverse(cst__py_drops *drops, visitproc visit, void *arg) {
  if (drops != NULL) {
    Py_VISIT(drops->source);
    Py_VISIT(drops->make);
    Py_VISIT(drops->callback);
    Py_VISIT(drops->list);
    Py_VISIT(drops->exception);
  }
  return 0;
}

PyObject *cst__py_drops_list(const cst__py_drops *drops) { return drops->list; }

PyObject *cst__py_drops_exception(const cst__py_drops *drops) {
  return drops == NULL ? NULL : drops->exception;
}

cst__py_drops *cst__py_drops_swap(cst__py_drops *drops) {
  cst__py_drops *before = current;
  current = drops;
  return before;
}

/* A number, or None below 0. */
static PyObject *number_or_none(int64_t number) {
  return number < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(number);
}

static PyObject *entry_of(cst__py_drops *drops, const cst_dropped *dropped) {
  cst__py_state *state = cst__py_state_of(drops->source);
  const char *file = dropped->file == NULL ? "" : dropped->file;
  return PyObject_CallFunction(drops->make, "sNNNKN", dropped->kind,
                               PyUnicode_DecodeFSDefault(file), number_or_none(dropped->record),
                               number_or_none(dropped->offset), (unsigned long long)dropped->bytes,
                               cst__py_error_object(state, dropped->error));
}

/* 1 to go on, 0 to stop, -1 with an exception. */
static int report(cst__py_drops *drops, const cst_dropped *dropped) {
  PyObject *entry = entry_of(drops, dropped);
  if (entry == NULL || PyList_Append(drops->list, entry) < 0) {
    Py_XDECREF(entry);
    return -1;
  }
  int result = 1;
  if (drops->callback != NULL) {
    PyObject *answer = PyObject_CallFunctionObjArgs(drops->callback, entry, NULL);
    result = answer == NULL ? -1 : answer == Py_None ? 1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
  }
  Py_DECREF(entry);
  return result;
}

bool cst__py_on_dropped(void *ctx, const cst_dropped *dropped) {
  (void)ctx;
  cst__py_drops *drops = current;
  PyGILState_STATE gil;
  if (drops == NULL) {
    return true;
  }
  if (!cst__py_enter(drops->gate, &gil)) {
    return false;
  }
  current = NULL; /* the function may read something else */
  int result = report(drops, dropped);
  current = drops;
  if (result < 0) {
    (void)cst__py_keep_exception(&drops->exception, "", NULL);
    cst__py_source_keep(drops->source, drops->exception);
  } else if (result == 0) {
    cst__py_source_keep(drops->source, NULL);
  }
  cst__py_leave(drops->gate, gil);
  return result > 0;
}
