/* Lease: what keeps the files of artifacts while they are read. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ext/lineage/lineage.h"

#include <structmember.h> /* after Python.h */

struct cst__py_held {
  atomic_int refs;
  pid_t process; /* that holds it */
  PyThread_type_lock lock;
  cst_lineage_lease *lease; /* NULL: it was ended; guarded by the lock, taken without the GIL */
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
    PyThread_free_lock(held->lock);
    free(held);
  }
}

/* NULL: no memory, and the lease is freed. */
static cst__py_held *held_new(cst_lineage_lease *lease) {
  cst__py_held *held = calloc(1, sizeof *held);
  PyThread_type_lock lock = held == NULL ? NULL : PyThread_allocate_lock();
  if (lock == NULL) {
    free(held);
    cst_lineage_lease_free(lease);
    return NULL;
  }
  atomic_init(&held->refs, 1);
  held->process = getpid();
  held->lock = lock;
  held->lease = lease;
  return held;
}

/* No GIL. */
static cst_status held_check(cst__py_held *held, cst_error *error) {
  PyThread_acquire_lock(held->lock, WAIT_LOCK);
  const bool is_there = held->lease != NULL;
  cst_status status = is_there ? cst_lineage_lease_check(held->lease, error) : CST_STATE;
  PyThread_release_lock(held->lock);
  if (!is_there) {
    *error = (cst_error)CST_ERROR_INIT;
    error->code = CST_STATE;
    (void)snprintf(error->message, sizeof error->message, "the lease has ended");
  }
  return status;
}

/* No GIL. */
static void held_end(cst__py_held *held) {
  PyThread_acquire_lock(held->lock, WAIT_LOCK);
  cst_lineage_lease *lease = held->lease;
  held->lease = NULL;
  PyThread_release_lock(held->lock);
  cst_lineage_lease_free(lease);
}

typedef struct lease_object {
  PyObject_HEAD cst__py_held *held; /* NULL: it was ended */
  PyObject *weakrefs;
} lease_object;

PyObject *cst__py_lease_new(cst__py_state *state, cst_lineage_lease *lease) {
  lease_object *self = PyObject_New(lease_object, state->lease_type);
  if (self == NULL) {
    cst_lineage_lease_free(lease);
    return NULL;
  }
  self->weakrefs = NULL;
  self->held = held_new(lease);
  if (self->held == NULL) {
    cst__py_free((PyObject *)self);
    return PyErr_NoMemory();
  }
  return (PyObject *)self;
}

cst__py_held *cst__py_lease_arg(cst__py_state *state, PyObject *object) {
  if (Py_TYPE(object) != state->lease_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Lease");
    return NULL;
  }
  cst__py_held *held = ((lease_object *)object)->held;
  if (held == NULL) {
    cst__py_fail(state, CST_STATE, "create a new one", "the lease has ended");
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
  status = held_check(held, &error);
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

/* end(): also if sources hold it: of a process that goes */
static PyObject *lease_end(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_held *held = ((lease_object *)object)->held;
  if (held != NULL && held->process == getpid()) {
    (void)cst__py_held_retain(held);
    Py_BEGIN_ALLOW_THREADS
    held_end(held);
    cst__py_held_release(held);
    Py_END_ALLOW_THREADS
  }
  Py_RETURN_NONE;
}

/* is_held() */
static PyObject *lease_is_held(PyObject *object, PyObject *unused) {
  (void)unused;
  return PyBool_FromLong(((lease_object *)object)->held != NULL);
}

static void lease_dealloc(PyObject *object) {
  PyObject_ClearWeakRefs(object);
  lease_let_go((lease_object *)object);
  cst__py_free(object);
}

static PyMethodDef methods[] = {
    {"check", lease_check, METH_NOARGS, NULL},
    {"close", lease_close, METH_NOARGS, NULL},
    {"end", lease_end, METH_NOARGS, NULL},
    {"is_held", lease_is_held, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(lease_object, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_members, members},
    {Py_tp_doc, "The core of columnstone.lineage.Lease."},
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
