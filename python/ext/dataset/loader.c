/* Loader: the iterator over one epoch of a dataset, of record batches or of dicts of tensors, each
 * with its position. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/dataset/dataset.h"
#include "ext/source/source.h"
#include "ext/tensor/tensor.h"

#include <structmember.h> /* after Python.h */

typedef struct loader_object {
  PyObject_HEAD cst__py_feed feed;
  PyObject *dataset;
  const cst_tensor_adapter *adapter; /* the dataset's; NULL for record batches */
  PyObject *sparse;                  /* classes; NULL for record batches */
  PyObject *ragged;
  PyObject *weakrefs;
} loader_object;

static int loader_start(loader_object *self, const cst_position *from, uint32_t first,
                        uint32_t step) {
  if (self->sparse != NULL) {
    self->adapter = cst__py_dataset_adapter(self->dataset);
    if (self->adapter == NULL) {
      return -1;
    }
  }
  cst_dataset *dataset = cst__py_dataset_view(self->dataset);
  cst_error error = CST_ERROR_INIT;
  cst_loader *loader = NULL;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_loader_new(dataset, from, first, step, &loader, &error);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    cst__py_source_raise(cst__py_dataset_blame(self->dataset, &error), &error);
    return -1;
  }
  self->feed.work = loader;
  return 0;
}

static void loader_end(cst__py_feed *feed, void *work) {
  (void)feed;
  Py_BEGIN_ALLOW_THREADS
  cst_loader_free(work);
  Py_END_ALLOW_THREADS
}

static const loader_object *loader_of(const cst__py_feed *feed) {
  return (const loader_object *)(const void *)((const char *)feed - offsetof(loader_object, feed));
}

static PyObject *loader_blame(cst__py_feed *feed, const cst_error *error) {
  return cst__py_dataset_blame(loader_of(feed)->dataset, error);
}

static cst_status loader_step(cst__py_feed *feed, cst__py_item *out, cst_error *error) {
  const loader_object *self = loader_of(feed);
  return self->adapter == NULL ? cst_loader_next(feed->work, &out->batch, &out->position, error)
                               : cst_loader_next_tensors(feed->work, self->adapter, &out->tensors,
                                                         &out->position, error);
}

static PyObject *wrap_content(loader_object *self, cst__py_item *item) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  if (item->tensors != NULL) {
    return cst__py_tensors_dict(state, item->tensors, self->sparse, self->ragged);
  }
  PyObject *schema = cst__py_dataset_schema(self->dataset);
  if (schema == NULL) {
    item->batch.release(&item->batch);
    return NULL;
  }
  return cst__py_batch_new(state, schema, &item->batch);
}

static PyObject *loader_wrap(PyObject *object, cst__py_item *item) {
  PyObject *content = wrap_content((loader_object *)object, item);
  const cst_position *at = &item->position;
  return content == NULL
             ? NULL
             : Py_BuildValue("(NKKKKKK)", content, (unsigned long long)at->epoch,
                             (unsigned long long)at->batch, (unsigned long long)at->file,
                             (unsigned long long)at->rows_before, (unsigned long long)at->origin,
                             (unsigned long long)at->row);
}

static const cst__py_feed_kind kind = {
    "loader", "iterate over the dataset again", loader_end, loader_step, loader_wrap, loader_blame};

PyObject *cst__py_loader_new(PyObject *dataset, const cst_position *from, uint32_t first,
                             uint32_t step, PyObject *sparse, PyObject *ragged) {
  PyTypeObject *type = cst__py_state_of(dataset)->loader_type;
  PyObject *source = cst__py_dataset_source(dataset);
  if (!cst__py_dataset_is_open(dataset)) {
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  loader_object *self = (loader_object *)allocate(type, 0);
  if (self == NULL) {
    return NULL;
  }
  self->feed.kind = &kind;
  self->dataset = Py_NewRef(dataset);
  self->sparse = Py_XNewRef(sparse);
  self->ragged = Py_XNewRef(ragged);
  int result = cst__py_feed_init(&self->feed, source);
  self->feed.calls_python = cst__py_dataset_calls_python(dataset);
  if (result == 0) {
    result = loader_start(self, from, first, step);
  }
  if (result < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

static int loader_traverse(PyObject *object, visitproc visit, void *arg) {
  loader_object *self = (loader_object *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->dataset);
  Py_VISIT(self->sparse);
  Py_VISIT(self->ragged);
  return cst__py_feed_traverse(&self->feed, visit, arg);
}

static void loader_dealloc(PyObject *object) {
  loader_object *self = (loader_object *)object;
  PyObject_GC_UnTrack(object);
  if (self->weakrefs != NULL) {
    PyObject_ClearWeakRefs(object);
  }
  if (cst__py_feed_reset(&self->feed)) {
    Py_XDECREF(self->dataset); /* else threads that are left behind use its adapter */
  }
  Py_XDECREF(self->sparse);
  Py_XDECREF(self->ragged);
  cst__py_free(object);
}

static PyObject *loader_next(PyObject *object) {
  return cst__py_feed_next(object, &((loader_object *)object)->feed);
}

static PyObject *close_loader(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_feed_close(object, &((loader_object *)object)->feed);
}

static PyMethodDef methods[] = {
    {"close", close_loader, METH_NOARGS,
     PyDoc_STR("close($self)\n--\n\nStops and joins the threads; a further next is a StateError.")},
    {NULL, NULL, 0, NULL},
};

static PyObject *loader_get_dropped(PyObject *object, void *closure) {
  (void)closure;
  return cst__py_feed_dropped(&((loader_object *)object)->feed);
}

static PyGetSetDef getset[] = {
    {"dropped", loader_get_dropped, NULL,
     PyDoc_STR("The records of this epoch that were dropped so far, as Dropped tuples."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(loader_object, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "One epoch of a dataset: an iterator of (batch or dict of tensors, epoch, batch number, "
     "file,\n"
     "rows before the file, origin, row). Threads start with the first next and end with the "
     "iterator."},
    {Py_tp_dealloc, loader_dealloc},
    {Py_tp_traverse, loader_traverse},
    {Py_tp_iter, PyObject_SelfIter},
    {Py_tp_iternext, loader_next},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
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
