/* Pass: the iterator over a source, of record batches or of dicts of tensors. */
#include <stdlib.h>
#include <unistd.h>

#include "ext.h"

#include <structmember.h> /* after Python.h */

typedef struct pass_object {
  PyObject_HEAD PyObject *source;
  cst_pass *pass; /* NULL: at the end, or closed */
  cst_tensor_adapter *adapter;
  PyObject *sparse; /* classes; NULL for record batches */
  PyObject *ragged;
  PyObject *schema; /* ArrowSchema of the batches, once known */
  PyObject *weakrefs;
  cst__py_drops *drops; /* NULL: records are not dropped */
  cst__py_lock lock;
  pid_t process; /* the threads live in this one */
  bool closed;
  uint64_t bytes; /* the progress at the end */
  uint64_t rows;
} pass_object;

static int make_adapter(pass_object *self, cst_source *source, PyObject *tuple) {
  cst__py_pads pads;
  if (cst__py_pads_init(&pads, tuple) < 0) {
    return -1;
  }
  const cst_tensor_options options = {
      .size = sizeof options, .pads = pads.items, .num_pads = pads.count};
  cst_error error = CST_ERROR_INIT;
  const struct ArrowSchema *schema = cst__py_arrow_schema_view(self->schema);
  cst_specs *specs = NULL;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_specs(source, &specs, &error);
  if (status == CST_OK) {
    status = cst_tensor_adapter_new(schema, specs, &options, &self->adapter, &error);
  }
  cst_specs_release(specs);
  Py_END_ALLOW_THREADS
  cst__py_pads_reset(&pads);
  if (status != CST_OK) {
    cst__py_source_raise(self->source, &error);
    return -1;
  }
  return 0;
}

static int start(pass_object *self, cst_source *source, PyObject *pads) {
  if (self->sparse != NULL) {
    self->schema = cst__py_source_arrow_schema(self->source);
    if (self->schema == NULL || make_adapter(self, source, pads) < 0) {
      return -1;
    }
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_pass_new(source, &self->pass, &error);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    cst__py_source_raise(self->source, &error);
    return -1;
  }
  return 0;
}

PyObject *cst__py_pass_new(PyObject *source, PyObject *sparse, PyObject *ragged, PyObject *pads) {
  PyTypeObject *type = cst__py_state_of(source)->pass_type;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  pass_object *self = (pass_object *)allocate(type, 0);
  cst_source *opened = self == NULL ? NULL : cst__py_source_borrow(source);
  if (opened == NULL) {
    Py_XDECREF((PyObject *)self);
    return NULL;
  }
  self->source = Py_NewRef(source);
  self->sparse = Py_XNewRef(sparse);
  self->ragged = Py_XNewRef(ragged);
  self->process = getpid();
  int result = cst__py_lock_init(&self->lock);
  if (result == 0) {
    result = cst__py_source_drops(source, &self->drops);
  }
  if (result == 0) {
    result = start(self, opened, pads);
  }
  Py_BEGIN_ALLOW_THREADS
  cst_source_release(opened);
  Py_END_ALLOW_THREADS
  if (result < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

/* Joins the threads. In a forked child there are none to join, and when Python goes down they may
 * wait for it in a file object: then the pass is left to the end of the process. */
static void free_pass(pass_object *self) {
  cst_pass *pass = self->pass;
  self->pass = NULL;
  if (pass == NULL || self->process != getpid() ||
      (!Py_IsInitialized() && cst__py_source_calls_python(self->source))) {
    return;
  }
  cst_pass_progress(pass, &self->bytes, &self->rows);
  Py_BEGIN_ALLOW_THREADS
  cst_pass_free(pass);
  Py_END_ALLOW_THREADS
}

static int traverse(PyObject *object, visitproc visit, void *arg) {
  pass_object *self = (pass_object *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->source);
  Py_VISIT(self->sparse);
  Py_VISIT(self->ragged);
  return cst__py_drops_traverse(self->drops, visit, arg);
}

static void dealloc(PyObject *object) {
  pass_object *self = (pass_object *)object;
  PyObject_GC_UnTrack(object);
  if (self->weakrefs != NULL) {
    PyObject_ClearWeakRefs(object);
  }
  free_pass(self);
  cst__py_drops_free(self->drops);
  cst_tensor_adapter_free(self->adapter);
  cst__py_lock_reset(&self->lock);
  Py_XDECREF(self->source);
  Py_XDECREF(self->sparse);
  Py_XDECREF(self->ragged);
  Py_XDECREF(self->schema);
  cst__py_free(object);
}

/* One step under the lock. At the end *batch is released and *tensors NULL. */
static cst_status step(pass_object *self, struct ArrowArray *batch, cst_tensors **tensors,
                       cst_error *error) {
  cst_status status;
  cst__py_drops *before = cst__py_drops_swap(self->drops);
  Py_BEGIN_ALLOW_THREADS
  status = self->adapter == NULL ? cst_pass_next(self->pass, batch, error)
                                 : cst_pass_next_tensors(self->pass, self->adapter, tensors, error);
  Py_END_ALLOW_THREADS
  cst__py_drops_swap(before);
  return status;
}

static PyObject *wrap(pass_object *self, struct ArrowArray *batch, cst_tensors *tensors) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  if (tensors != NULL) {
    return cst__py_tensors_dict(state, tensors, self->sparse, self->ragged);
  }
  if (self->schema == NULL) {
    self->schema = cst__py_source_arrow_schema(self->source);
  }
  if (self->schema == NULL) {
    batch->release(batch);
    return NULL;
  }
  return cst__py_batch_new(state, self->schema, batch);
}

/* Raises what the user's function raised, else the failure itself. */
static PyObject *fail(pass_object *self, const cst_error *error) {
  PyObject *exception = cst__py_drops_exception(self->drops);
  if (error->code == CST_CALLBACK && exception != NULL) {
    cst__py_source_keep(self->source, exception);
  }
  return cst__py_source_raise(self->source, error);
}

static PyObject *next_locked(pass_object *self) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  if (self->closed) {
    return cst__py_fail(state, CST_STATE, "call iter(source) for a new pass", "the pass is closed");
  }
  if (self->pass == NULL) {
    return NULL; /* StopIteration */
  }
  struct ArrowArray batch = {.release = NULL};
  cst_tensors *tensors = NULL;
  cst_error error = CST_ERROR_INIT;
  if (step(self, &batch, &tensors, &error) != CST_OK) {
    return fail(self, &error);
  }
  if (batch.release == NULL && tensors == NULL) {
    free_pass(self);
    return NULL;
  }
  return wrap(self, &batch, tensors);
}

/* True in a forked child, which has not the threads of the pass: one of them may have held the
 * lock.
 */
static bool is_foreign(const pass_object *self) { return self->process != getpid(); }

static PyObject *next(PyObject *object) {
  pass_object *self = (pass_object *)object;
  if (is_foreign(self) && self->pass != NULL) {
    return cst__py_fail(cst__py_state_of(object), CST_STATE, "call iter(source) in the new process",
                        "this pass was begun before a fork");
  }
  if (cst__py_lock_enter(&self->lock, cst__py_state_of(object), "pass") < 0) {
    return NULL;
  }
  PyObject *result = next_locked(self);
  cst__py_lock_leave(&self->lock);
  return result;
}

static PyObject *close_pass(PyObject *object, PyObject *unused) {
  (void)unused;
  pass_object *self = (pass_object *)object;
  if (is_foreign(self)) {
    self->closed = true;
    free_pass(self);
    Py_RETURN_NONE;
  }
  if (cst__py_lock_enter(&self->lock, cst__py_state_of(object), "pass") < 0) {
    return NULL;
  }
  self->closed = true;
  free_pass(self);
  cst__py_lock_leave(&self->lock);
  Py_RETURN_NONE;
}

static PyObject *progress(PyObject *object, PyObject *unused) {
  (void)unused;
  pass_object *self = (pass_object *)object;
  if (is_foreign(self)) {
    return Py_BuildValue("(KK)", (unsigned long long)self->bytes, (unsigned long long)self->rows);
  }
  if (cst__py_lock_enter(&self->lock, cst__py_state_of(object), "pass") < 0) {
    return NULL;
  }
  if (self->pass != NULL) {
    cst_pass_progress(self->pass, &self->bytes, &self->rows);
  }
  cst__py_lock_leave(&self->lock);
  return Py_BuildValue("(KK)", (unsigned long long)self->bytes, (unsigned long long)self->rows);
}

static PyObject *get_dropped(PyObject *object, void *closure) {
  (void)closure;
  pass_object *self = (pass_object *)object;
  return self->drops == NULL ? PyList_New(0) : Py_NewRef(cst__py_drops_list(self->drops));
}

static PyMethodDef methods[] = {
    {"close", close_pass, METH_NOARGS,
     PyDoc_STR("close($self)\n--\n\nStops and joins the threads; a further next is a StateError.")},
    {"progress", progress, METH_NOARGS,
     PyDoc_STR("progress($self)\n--\n\n"
               "(bytes read from the files as they lie on disk, rows delivered).")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"dropped", get_dropped, NULL,
     PyDoc_STR("The records that this pass has dropped so far, as Dropped tuples."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(pass_object, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "One pass over a source: an iterator.\n\n"
     "Threads start with the first next and end with the iterator. Several Python threads\n"
     "may share one: each batch goes to one of them."},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, next},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_members, members},
    {0, NULL},
};

PyType_Spec cst__py_pass_spec = {
    .name = "columnstone._core.Pass",
    .basicsize = sizeof(pass_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
