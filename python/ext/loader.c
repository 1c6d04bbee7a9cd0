/* Loader: the iterator over one epoch of a dataset, of record batches or of dicts of tensors, each
 * with its position. */
#include <stdlib.h>
#include <unistd.h>

#include "ext.h"

#include <structmember.h> /* after Python.h */

typedef struct loader_object {
  PyObject_HEAD PyObject *dataset;
  cst_loader *loader;                /* NULL: at the end, or closed */
  const cst_tensor_adapter *adapter; /* the dataset's; NULL for record batches */
  PyObject *sparse;                  /* classes; NULL for record batches */
  PyObject *ragged;
  PyObject *weakrefs;
  cst__py_drops *drops; /* NULL: records are not dropped */
  cst__py_lock lock;
  pid_t process; /* the threads live in this one */
  bool closed;
} loader_object;

static PyObject *source_of(const loader_object *self) {
  return cst__py_dataset_source(self->dataset);
}

static int start(loader_object *self, const cst_position *from, uint32_t first, uint32_t step) {
  if (self->sparse != NULL) {
    self->adapter = cst__py_dataset_adapter(self->dataset);
    if (self->adapter == NULL) {
      return -1;
    }
  }
  cst_dataset *dataset = cst__py_dataset_view(self->dataset);
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_loader_new(dataset, from, first, step, &self->loader, &error);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    cst__py_source_raise(source_of(self), &error);
    return -1;
  }
  return 0;
}

PyObject *cst__py_loader_new(PyObject *dataset, const cst_position *from, uint32_t first,
                             uint32_t step, PyObject *sparse, PyObject *ragged) {
  PyTypeObject *type = cst__py_state_of(dataset)->loader_type;
  PyObject *source = cst__py_dataset_source(dataset);
  if (cst__py_source_view(source) == NULL) {
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  loader_object *self = (loader_object *)allocate(type, 0);
  if (self == NULL) {
    return NULL;
  }
  self->dataset = Py_NewRef(dataset);
  self->sparse = Py_XNewRef(sparse);
  self->ragged = Py_XNewRef(ragged);
  self->process = getpid();
  int result = cst__py_lock_init(&self->lock);
  if (result == 0) {
    result = cst__py_source_drops(source, &self->drops);
  }
  if (result == 0) {
    result = start(self, from, first, step);
  }
  if (result < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

/* Joins the threads. In a forked child there are none to join, and when Python goes down they may
 * wait for it in a file object: then the loader is left to the end of the process. */
static void free_loader(loader_object *self) {
  cst_loader *loader = self->loader;
  self->loader = NULL;
  if (loader == NULL || self->process != getpid() ||
      (!Py_IsInitialized() && cst__py_source_calls_python(source_of(self)))) {
    return;
  }
  Py_BEGIN_ALLOW_THREADS
  cst_loader_free(loader);
  Py_END_ALLOW_THREADS
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
  loader_object *self = (loader_object *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->dataset);
  Py_VISIT(self->sparse);
  Py_VISIT(self->ragged);
  return cst__py_drops_traverse(self->drops, visit, arg);
}

static void dealloc(PyObject *object) {
  loader_object *self = (loader_object *)object;
  PyObject_GC_UnTrack(object);
  if (self->weakrefs != NULL) {
    PyObject_ClearWeakRefs(object);
  }
  free_loader(self);
  cst__py_drops_free(self->drops);
  cst__py_lock_reset(&self->lock);
  Py_XDECREF(self->dataset);
  Py_XDECREF(self->sparse);
  Py_XDECREF(self->ragged);
  cst__py_free(object);
}

/* ---- delivery ---- */

typedef struct delivered {
  struct ArrowArray batch;
  cst_tensors *tensors;
  cst_position position;
} delivered;

static cst_status step(loader_object *self, delivered *out, cst_error *error) {
  cst_status status;
  cst__py_drops *before = cst__py_drops_swap(self->drops);
  Py_BEGIN_ALLOW_THREADS
  status = self->adapter == NULL ? cst_loader_next(self->loader, &out->batch, &out->position, error)
                                 : cst_loader_next_tensors(self->loader, self->adapter,
                                                           &out->tensors, &out->position, error);
  Py_END_ALLOW_THREADS
  cst__py_drops_swap(before);
  return status;
}

static PyObject *wrap(loader_object *self, delivered *d) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  if (d->tensors != NULL) {
    return cst__py_tensors_dict(state, d->tensors, self->sparse, self->ragged);
  }
  PyObject *schema = cst__py_dataset_schema(self->dataset);
  if (schema == NULL) {
    d->batch.release(&d->batch);
    return NULL;
  }
  return cst__py_batch_new(state, schema, &d->batch);
}

/* Raises what the user's function raised, else the failure itself. */
static PyObject *fail(loader_object *self, const cst_error *error) {
  PyObject *exception = cst__py_drops_exception(self->drops);
  if (error->code == CST_CALLBACK && exception != NULL) {
    cst__py_source_keep(source_of(self), exception);
  }
  return cst__py_source_raise(source_of(self), error);
}

static PyObject *next_locked(loader_object *self) {
  if (self->closed) {
    return cst__py_fail(cst__py_state_of((PyObject *)self), CST_STATE,
                        "iterate over the dataset again", "the loader is closed");
  }
  if (self->loader == NULL) {
    return NULL; /* StopIteration */
  }
  delivered d = {.tensors = NULL};
  cst_error error = CST_ERROR_INIT;
  if (step(self, &d, &error) != CST_OK) {
    return fail(self, &error);
  }
  if (d.batch.release == NULL && d.tensors == NULL) {
    free_loader(self);
    return NULL;
  }
  PyObject *content = wrap(self, &d);
  return content == NULL ? NULL
                         : Py_BuildValue("(NKKKK)", content, (unsigned long long)d.position.epoch,
                                         (unsigned long long)d.position.batch,
                                         (unsigned long long)d.position.file,
                                         (unsigned long long)d.position.rows_before);
}

/* True in a forked child, which has not the threads of the loader. */
static bool is_foreign(const loader_object *self) { return self->process != getpid(); }

static PyObject *next(PyObject *object) {
  loader_object *self = (loader_object *)object;
  if (is_foreign(self) && self->loader != NULL) {
    return cst__py_fail(cst__py_state_of(object), CST_STATE,
                        "iterate over the dataset in the new process",
                        "this loader was begun before a fork");
  }
  if (cst__py_lock_enter(&self->lock, cst__py_state_of(object), "loader") < 0) {
    return NULL;
  }
  PyObject *result = next_locked(self);
  cst__py_lock_leave(&self->lock);
  return result;
}

static PyObject *close_loader(PyObject *object, PyObject *unused) {
  (void)unused;
  loader_object *self = (loader_object *)object;
  if (is_foreign(self)) {
    self->closed = true;
    free_loader(self);
    Py_RETURN_NONE;
  }
  if (cst__py_lock_enter(&self->lock, cst__py_state_of(object), "loader") < 0) {
    return NULL;
  }
  self->closed = true;
  free_loader(self);
  cst__py_lock_leave(&self->lock);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"close", close_loader, METH_NOARGS,
     PyDoc_STR("close($self)\n--\n\nStops and joins the threads; a further next is a StateError.")},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(loader_object, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "One epoch of a dataset: an iterator of (batch or dict of tensors, epoch, batch number, "
     "file,\n"
     "rows before the file). Threads start with the first next and end with the iterator."},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {0, NULL},
};

PyType_Spec cst__py_loader_spec = {
    .name = "columnstone._core.Loader",
    .basicsize = sizeof(loader_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
