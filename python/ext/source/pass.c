/* Pass: the iterator over a source, of record batches or of dicts of tensors. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/source/source.h"
#include "ext/tensor/tensor.h"

#include <structmember.h> /* after Python.h */

typedef struct pass_object {
  PyObject_HEAD cst__py_feed feed;
  cst_tensor_adapter *adapter;
  PyObject *sparse; /* classes; NULL for record batches */
  PyObject *ragged;
  PyObject *schema; /* ArrowSchema of the batches, once known */
  PyObject *weakrefs;
  uint64_t bytes; /* the progress at the end */
  uint64_t rows;
} pass_object;

static int pass_make_adapter(pass_object *self, cst_source *source, PyObject *tuple) {
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
    cst__py_source_raise(self->feed.source, &error);
    return -1;
  }
  return 0;
}

static int pass_start(pass_object *self, cst_source *source, PyObject *pads) {
  if (self->sparse != NULL) {
    self->schema = cst__py_source_arrow_schema(self->feed.source);
    if (self->schema == NULL || pass_make_adapter(self, source, pads) < 0) {
      return -1;
    }
  }
  cst_error error = CST_ERROR_INIT;
  cst_pass *pass = NULL;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_pass_new(source, &pass, &error);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    cst__py_source_raise(self->feed.source, &error);
    return -1;
  }
  self->feed.work = pass;
  return 0;
}

static pass_object *of_feed(cst__py_feed *feed) {
  return (pass_object *)(void *)((char *)feed - offsetof(pass_object, feed));
}

static void pass_end(cst__py_feed *feed, void *work) {
  pass_object *self = of_feed(feed);
  cst_pass_progress(work, &self->bytes, &self->rows);
  Py_BEGIN_ALLOW_THREADS
  cst_pass_free(work);
  Py_END_ALLOW_THREADS
}

static cst_status pass_step(cst__py_feed *feed, cst__py_item *out, cst_error *error) {
  const pass_object *self = of_feed(feed);
  return self->adapter == NULL
             ? cst_pass_next(feed->work, &out->batch, error)
             : cst_pass_next_tensors(feed->work, self->adapter, &out->tensors, error);
}

static PyObject *pass_wrap(PyObject *object, cst__py_item *item) {
  pass_object *self = (pass_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  if (item->tensors != NULL) {
    return cst__py_tensors_dict(state, item->tensors, self->sparse, self->ragged);
  }
  if (self->schema == NULL) {
    self->schema = cst__py_source_arrow_schema(self->feed.source);
  }
  if (self->schema == NULL) {
    item->batch.release(&item->batch);
    return NULL;
  }
  return cst__py_batch_new(state, self->schema, &item->batch);
}

static const cst__py_feed_kind kind = {"pass", "call iter(source) for a new pass", pass_end,
                                       pass_step, pass_wrap};

PyObject *cst__py_pass_new(PyObject *source, PyObject *sparse, PyObject *ragged, PyObject *pads) {
  PyTypeObject *type = cst__py_state_of(source)->pass_type;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  pass_object *self = (pass_object *)allocate(type, 0);
  cst_source *opened = self == NULL ? NULL : cst__py_source_borrow(source);
  if (opened == NULL) {
    Py_XDECREF((PyObject *)self);
    return NULL;
  }
  self->feed.kind = &kind;
  self->sparse = Py_XNewRef(sparse);
  self->ragged = Py_XNewRef(ragged);
  int result = cst__py_feed_init(&self->feed, source);
  if (result == 0) {
    result = pass_start(self, opened, pads);
  }
  Py_BEGIN_ALLOW_THREADS
  cst_source_release(opened);
  Py_END_ALLOW_THREADS
  if (result < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

static int pass_traverse(PyObject *object, visitproc visit, void *arg) {
  pass_object *self = (pass_object *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->sparse);
  Py_VISIT(self->ragged);
  return cst__py_feed_traverse(&self->feed, visit, arg);
}

static void pass_dealloc(PyObject *object) {
  pass_object *self = (pass_object *)object;
  PyObject_GC_UnTrack(object);
  if (self->weakrefs != NULL) {
    PyObject_ClearWeakRefs(object);
  }
  cst__py_feed_reset(&self->feed);
  cst_tensor_adapter_free(self->adapter);
  Py_XDECREF(self->sparse);
  Py_XDECREF(self->ragged);
  Py_XDECREF(self->schema);
  cst__py_free(object);
}

static PyObject *pass_next(PyObject *object) {
  return cst__py_feed_next(object, &((pass_object *)object)->feed);
}

static PyObject *close_pass(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_feed_close(object, &((pass_object *)object)->feed);
}

static PyObject *progress(PyObject *object, PyObject *unused) {
  (void)unused;
  pass_object *self = (pass_object *)object;
  int entered = cst__py_feed_enter(object, &self->feed);
  if (entered < 0) {
    return NULL;
  }
  if (entered > 0) {
    if (self->feed.work != NULL) {
      cst_pass_progress(self->feed.work, &self->bytes, &self->rows);
    }
    cst__py_lock_leave(&self->feed.lock);
  }
  return Py_BuildValue("(KK)", (unsigned long long)self->bytes, (unsigned long long)self->rows);
}

static PyObject *pass_get_dropped(PyObject *object, void *closure) {
  (void)closure;
  return cst__py_feed_dropped(&((pass_object *)object)->feed);
}

static PyMethodDef methods[] = {
    {"close", close_pass, METH_NOARGS,
     PyDoc_STR("close($self)\n--\n\nStops and joins the threads; a further next is a StateError.")},
    {"progress", progress, METH_NOARGS,
     PyDoc_STR("progress($self)\n--\n\n"
               "(bytes of the files read on disk, rows delivered).")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"dropped", pass_get_dropped, NULL,
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
     "can share one: each batch goes to one of them."},
    {Py_tp_dealloc, pass_dealloc},
    {Py_tp_traverse, pass_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, pass_next},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_tp_members, members},
    {0, NULL},
};

PyType_Spec cst__py_pass_spec = {
    .name = "columnstone.source.Pass",
    .basicsize = sizeof(pass_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
