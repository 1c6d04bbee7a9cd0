/* Store: an open store of lineage; its life, its turns and its transactions. */
#include <unistd.h>

#include "ext/arrow/arrow.h"
#include "ext/lineage/lineage.h"

typedef cst__py_store_object store_object;

/* ---- turns ---- */

/* Whether this thread has the store by a transaction that it began. */
static bool owns_transaction(const store_object *self) {
  return self->in_transaction && self->lock.owner == PyThread_get_thread_ident();
}

/* 0, or -1 with an exception. */
static int store_enter(store_object *self) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  if (!owns_transaction(self) || self->is_busy) {
    if (cst__py_lock_enter(&self->lock, state, "store") < 0) {
      return -1;
    }
  }
  if (self->store == NULL) {
    if (!self->in_transaction) {
      cst__py_lock_leave(&self->lock);
    }
    cst__py_fail(state, CST_STATE, "open it again", "the store is closed");
    return -1;
  }
  self->is_busy = true;
  return 0;
}

static void store_leave(store_object *self) {
  self->is_busy = false;
  if (!self->in_transaction) {
    cst__py_lock_leave(&self->lock);
  }
}

bool cst__py_store_begin(cst__py_store_call *call, PyObject *object) {
  call->object = object;
  call->error = (cst_error)CST_ERROR_INIT;
  if (store_enter((store_object *)object) < 0) {
    return false;
  }
  call->store = ((store_object *)object)->store;
  call->thread = PyEval_SaveThread();
  return true;
}

bool cst__py_store_end(cst__py_store_call *call, cst_status status) {
  PyEval_RestoreThread(call->thread);
  store_leave((store_object *)call->object);
  if (status != CST_OK) {
    cst__py_raise(cst__py_state_of(call->object), &call->error);
  }
  return status == CST_OK;
}

PyObject *cst__py_store_found(cst__py_store_call *call, cst_status status, cst_findings **found) {
  return cst__py_store_end(call, status) ? cst__py_findings(cst__py_state_of(call->object), *found)
                                         : NULL;
}

/* ---- life ---- */

static store_object *store_wrap(PyTypeObject *type) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  store_object *self = (store_object *)allocate(type, 0);
  if (self != NULL && cst__py_lock_init(&self->lock) < 0) {
    Py_CLEAR(self);
  }
  return self;
}

/* Store(path, mode, roots or None, is_shared, timeout) */
PyObject *cst__py_store_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst__py_names roots;
  const char *path;
  PyObject *tuple;
  int mode, is_shared;
  long long timeout;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "yiOpL:Store", &path, &mode, &tuple, &is_shared, &timeout) ||
      cst__py_paths_init(&roots, tuple) < 0) {
    return NULL;
  }
  store_object *self = store_wrap(type);
  if (self == NULL) {
    cst__py_names_reset(&roots);
    return NULL;
  }
  options.mode = (cst_lineage_mode)mode;
  options.roots = roots.names;
  options.num_roots = roots.count;
  options.is_shared = is_shared != 0;
  options.timeout = timeout;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_lineage_open(path, &options, &self->store, &error);
  Py_END_ALLOW_THREADS
  cst__py_names_reset(&roots);
  if (status != CST_OK) {
    cst__py_raise(cst__py_state_of((PyObject *)self), &error);
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

static void store_free(store_object *self) {
  cst_lineage *store = self->store;
  self->store = NULL;
  cst__py_pending pending = cst__py_put_aside();
  Py_BEGIN_ALLOW_THREADS
  cst_lineage_free(store);
  Py_END_ALLOW_THREADS
  cst__py_put_back(pending);
}

/* close(): an open transaction is lost */
PyObject *cst__py_store_close(PyObject *object, PyObject *unused) {
  (void)unused;
  store_object *self = (store_object *)object;
  if (self->store == NULL) {
    Py_RETURN_NONE;
  }
  if (store_enter(self) < 0) {
    return NULL;
  }
  store_free(self);
  self->in_transaction = false;
  store_leave(self);
  Py_RETURN_NONE;
}

void cst__py_store_dealloc(PyObject *object) {
  store_object *self = (store_object *)object;
  store_free(self);
  if (self->in_transaction && self->lock.lock != NULL) {
    cst__py_lock_leave(&self->lock);
  }
  cst__py_lock_reset(&self->lock);
  cst__py_free(object);
}

/* path(): absolute */
PyObject *cst__py_store_path(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_store_call call;
  if (!cst__py_store_begin(&call, object)) {
    return NULL;
  }
  const char *path = cst_lineage_path(call.store);
  return cst__py_store_end(&call, CST_OK) ? PyUnicode_DecodeFSDefault(path) : NULL;
}

/* ---- transactions ---- */

PyObject *cst__py_store_begin_all(PyObject *object, PyObject *unused) {
  (void)unused;
  store_object *self = (store_object *)object;
  cst__py_store_call call;
  if (!cst__py_store_begin(&call, object)) {
    return NULL;
  }
  const cst_status status = cst_lineage_begin(call.store, &call.error);
  PyEval_RestoreThread(call.thread);
  self->in_transaction = self->in_transaction || status == CST_OK;
  store_leave(self);
  return status == CST_OK ? Py_NewRef(Py_None)
                          : cst__py_raise(cst__py_state_of(object), &call.error);
}

typedef cst_status (*ending)(cst_lineage *store, cst_error *error);

static PyObject *store_end_transaction(PyObject *object, ending end) {
  store_object *self = (store_object *)object;
  cst__py_store_call call;
  if (!cst__py_store_begin(&call, object)) {
    return NULL;
  }
  cst_status status = end(call.store, &call.error);
  if (status != CST_OK && end == cst_lineage_commit) { /* nothing of it stays */
    cst_error ignored = CST_ERROR_INIT;
    (void)cst_lineage_rollback(call.store, &ignored);
  }
  PyEval_RestoreThread(call.thread);
  self->in_transaction = false;
  store_leave(self);
  return status == CST_OK ? Py_NewRef(Py_None)
                          : cst__py_raise(cst__py_state_of(object), &call.error);
}

PyObject *cst__py_store_commit(PyObject *object, PyObject *unused) {
  (void)unused;
  return store_end_transaction(object, cst_lineage_commit);
}

PyObject *cst__py_store_rollback(PyObject *object, PyObject *unused) {
  (void)unused;
  return store_end_transaction(object, cst_lineage_rollback);
}
