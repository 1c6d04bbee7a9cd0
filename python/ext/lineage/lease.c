/* Lease: what keeps the files of artifacts while they are read. */
#include <stdlib.h>
#include <unistd.h>

#include "ext/lineage/lineage.h"

struct cst__py_held {
  atomic_int refs;
  pid_t process; /* that holds it */
  cst_lineage_lease *lease;
};

cst__py_held *cst__py_held_retain(cst__py_held *held) {
  atomic_fetch_add(&held->refs, 1);
  return held;
}

void cst__py_held_release(cst__py_held *held) {
  if (held != NULL && atomic_fetch_sub(&held->refs, 1) == 1) {
    if (held->process == getpid()) {
      cst_lineage_lease_free(held->lease);
    }
    free(held);
  }
}

typedef struct lease_object {
  PyObject_HEAD cst__py_held *held; /* NULL: it was ended */
} lease_object;

PyObject *cst__py_lease_new(cst__py_state *state, cst_lineage_lease *lease) {
  lease_object *self = PyObject_New(lease_object, state->lease_type);
  cst__py_held *held = self == NULL ? NULL : calloc(1, sizeof *held);
  if (held == NULL) {
    cst_lineage_lease_free(lease);
    if (self != NULL) {
      cst__py_free((PyObject *)self);
      PyErr_NoMemory();
    }
    return NULL;
  }
  atomic_init(&held->refs, 1);
  held->process = getpid();
  held->lease = lease;
  self->held = held;
  return (PyObject *)self;
}

cst__py_held *cst__py_lease_arg(cst__py_state *state, PyObject *object) {
  if (Py_TYPE(object) != state->lease_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Lease");
    return NULL;
  }
  cst__py_held *held = ((lease_object *)object)->held;
  if (held == NULL) {
    cst__py_fail(state, CST_STATE, "make a new one", "the lease was ended");
  }
  return held;
}

/* check(): StateError if it does not hold any more */
static PyObject *lease_check(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_state *state = cst__py_state_of(object);
  cst__py_held *held = cst__py_lease_arg(state, object);
  if (held == NULL) {
    return NULL;
  }
  if (held->process != getpid()) { /* the parent's, which renews it */
    Py_RETURN_NONE;
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  (void)cst__py_held_retain(held);
  Py_BEGIN_ALLOW_THREADS
  status = cst_lineage_lease_check(held->lease, &error);
  cst__py_held_release(held);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(state, &error);
}

static void lease_let_go(lease_object *self) {
  cst__py_held *held = self->held;
  self->held = NULL;
  cst__py_pending pending = cst__py_put_aside();
  Py_BEGIN_ALLOW_THREADS
  cst__py_held_release(held);
  Py_END_ALLOW_THREADS
  cst__py_put_back(pending);
}

/* close(): the end of it, unless sources hold it, too */
static PyObject *lease_close(PyObject *object, PyObject *unused) {
  (void)unused;
  lease_let_go((lease_object *)object);
  Py_RETURN_NONE;
}

/* is_held() */
static PyObject *lease_is_held(PyObject *object, PyObject *unused) {
  (void)unused;
  return PyBool_FromLong(((lease_object *)object)->held != NULL);
}

static void lease_dealloc(PyObject *object) {
  lease_let_go((lease_object *)object);
  cst__py_free(object);
}

static PyMethodDef methods[] = {
    {"check", lease_check, METH_NOARGS, NULL},
    {"close", lease_close, METH_NOARGS, NULL},
    {"is_held", lease_is_held, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "What keeps files; columnstone.lineage.Lease is its face."},
    {Py_tp_dealloc, lease_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_lease_spec = {
    .name = "columnstone._core.Lease",
    .basicsize = sizeof(lease_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
