/* TensorAdapter: record batches from anywhere to dicts of tensors; and pads, which passes take too.
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/schema/schema.h"
#include "ext/tensor/tensor.h"

/* ---- pads ---- */

static int set_value(cst_pad *pad, PyObject *value) {
  if (PyBytes_Check(value)) {
    char *bytes;
    Py_ssize_t size;
    PyBytes_AsStringAndSize(value, &bytes, &size);
    pad->bytes_value = (cst_bytes){(const uint8_t *)bytes, (size_t)size};
    return 0;
  }
  if (PyLong_Check(value)) {
    pad->int_value = PyLong_AsLongLong(value);
  }
  pad->float_value = PyFloat_AsDouble(value);
  return PyErr_Occurred() == NULL ? 0 : -1;
}

/* Integers of a tuple, which has `count` after it; NULL with an exception. */
static int64_t *take_integers(PyObject *tuple, size_t *count) {
  Py_ssize_t size = PyTuple_Size(tuple);
  int64_t *made = size < 0 ? NULL : calloc((size_t)size + 1, sizeof *made);
  if (made == NULL) {
    return PyErr_Occurred() != NULL ? NULL : (PyErr_NoMemory(), NULL);
  }
  for (Py_ssize_t i = 0; i < size; i++) {
    made[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
  }
  if (PyErr_Occurred() != NULL) {
    free(made);
    return NULL;
  }
  *count = (size_t)size;
  return made;
}

/* A length, or a tuple of sizes. */
static int set_length(int64_t *length, cst_pad_sizes *sizes, PyObject *given) {
  if (PyTuple_Check(given)) {
    sizes->items = take_integers(given, &sizes->count);
    return sizes->items != NULL ? 0 : -1;
  }
  *length = PyLong_AsLongLong(given);
  return PyErr_Occurred() == NULL ? 0 : -1;
}

static int set_lengths(cst_pad *pad, PyObject *tuple) {
  if (tuple == Py_None) {
    return 0;
  }
  Py_ssize_t count = PyTuple_Size(tuple);
  if (count < 0) {
    return -1;
  }
  int64_t *lengths = calloc((size_t)count + 1, sizeof *lengths);
  cst_pad_sizes *sizes = calloc((size_t)count + 1, sizeof *sizes);
  pad->lengths = lengths;
  pad->sizes = sizes;
  if (lengths == NULL || sizes == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  pad->num_lengths = (size_t)count;
  for (Py_ssize_t i = 0; i < count; i++) {
    if (set_length(&lengths[i], &sizes[i], PyTuple_GetItem(tuple, i)) < 0) {
      return -1;
    }
  }
  return 0;
}

static int set_pad(cst_pad *pad, PyObject *entry) {
  PyObject *value;
  PyObject *lengths;
  int truncate;
  if (!PyTuple_Check(entry) ||
      !PyArg_ParseTuple(entry, "sOOp:pad", &pad->name, &value, &lengths, &truncate)) {
    if (PyErr_Occurred() == NULL) {
      PyErr_SetString(PyExc_TypeError, "a pad is a tuple here");
    }
    return -1;
  }
  pad->truncate = truncate != 0;
  return set_value(pad, value) < 0 ? -1 : set_lengths(pad, lengths);
}

int cst__py_pads_init(cst__py_pads *pads, PyObject *tuple) {
  *pads = (cst__py_pads){.count = 0};
  Py_ssize_t count = PyTuple_Size(tuple);
  if (count < 0) {
    return -1;
  }
  pads->items = calloc((size_t)count + 1, sizeof *pads->items);
  if (pads->items == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  pads->tuple = Py_NewRef(tuple);
  for (Py_ssize_t i = 0; i < count; i++) {
    pads->count++;
    if (set_pad(&pads->items[i], PyTuple_GetItem(tuple, i)) < 0) {
      cst__py_pads_reset(pads);
      return -1;
    }
  }
  return 0;
}

void cst__py_pads_reset(cst__py_pads *pads) {
  for (size_t i = 0; i < pads->count; i++) {
    cst_pad *pad = &pads->items[i];
    for (size_t k = 0; k < pad->num_lengths; k++) {
      free((void *)(uintptr_t)pad->sizes[k].items);
    }
    free((void *)(uintptr_t)pad->sizes);
    free((void *)(uintptr_t)pad->lengths);
  }
  free(pads->items);
  Py_XDECREF(pads->tuple);
  *pads = (cst__py_pads){.count = 0};
}

/* ---- the adapter ---- */

typedef struct adapter_object {
  PyObject_HEAD cst_tensor_adapter *adapter;
  PyObject *schema; /* ArrowSchema of the batches */
  PyObject *sparse; /* classes */
  PyObject *ragged;
} adapter_object;

static cst_tensor_adapter *make_adapter(cst__py_state *state, PyObject *schema, PyObject *specs,
                                        PyObject *pads) {
  cst__py_pads own;
  cst_tensor_adapter *adapter = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_specs *made = cst__py_specs_from(state, specs);
  if (made == NULL || cst__py_pads_init(&own, pads) < 0) {
    cst_specs_release(made);
    return NULL;
  }
  const cst_tensor_options options = {
      .size = sizeof options, .pads = own.items, .num_pads = own.count};
  cst_status status =
      cst_tensor_adapter_new(cst__py_arrow_schema_view(schema), made, &options, &adapter, &error);
  cst_specs_release(made);
  cst__py_pads_reset(&own);
  if (status != CST_OK) {
    cst__py_raise(state, &error);
    return NULL;
  }
  return adapter;
}

/* TensorAdapter(arrow_schema, representations, pads, sparse, ragged) */
static PyObject *new_adapter(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  cst__py_state *state = PyType_GetModuleState(type);
  PyObject *schema, *specs, *pads, *sparse, *ragged;
  if (kwargs != NULL && PyDict_Size(kwargs) > 0) {
    PyErr_SetString(PyExc_TypeError, "TensorAdapter() takes no keyword arguments");
    return NULL;
  }
  if (!PyArg_ParseTuple(args, "O!O!O!OO:TensorAdapter", state->arrow_schema_type, &schema,
                        &PyTuple_Type, &specs, &PyTuple_Type, &pads, &sparse, &ragged)) {
    return NULL;
  }
  cst_tensor_adapter *adapter = make_adapter(state, schema, specs, pads);
  if (adapter == NULL) {
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  adapter_object *self = (adapter_object *)allocate(type, 0);
  if (self == NULL) {
    cst_tensor_adapter_free(adapter);
    return NULL;
  }
  self->adapter = adapter;
  self->schema = Py_NewRef(schema);
  self->sparse = Py_NewRef(sparse);
  self->ragged = Py_NewRef(ragged);
  return (PyObject *)self;
}

static int adapter_traverse(PyObject *object, visitproc visit, void *arg) {
  adapter_object *self = (adapter_object *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->sparse);
  Py_VISIT(self->ragged);
  return 0;
}

static void adapter_dealloc(PyObject *object) {
  adapter_object *self = (adapter_object *)object;
  PyObject_GC_UnTrack(object);
  cst_tensor_adapter_free(self->adapter);
  Py_XDECREF(self->schema);
  Py_XDECREF(self->sparse);
  Py_XDECREF(self->ragged);
  cst__py_free(object);
}

/* Raises TypeError for an object that is not a batch, or what reading it raised. */
static void fail_import(PyObject *object) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  if (cst__py_has(object, "__arrow_c_array__") != 0) {
    PyErr_Restore(type, value, trace);
    return;
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  PyObject *name = PyType_GetName(Py_TYPE(object));
  if (name != NULL) {
    PyErr_Format(PyExc_TypeError,
                 "a batch is a columnstone.RecordBatch or an object with __arrow_c_array__, not %U "
                 "(a table or a stream gives batches when it is iterated)",
                 name);
    Py_DECREF(name);
  }
}

/* The data of an object of somebody else, validated in part only. */
static int import_batch(PyObject *object, struct ArrowSchema *schema, struct ArrowArray *batch) {
  PyObject *arrow = cst__py_as_arrow(object);
  if (arrow == NULL) {
    return -1;
  }
  int result = cst__py_import_array(arrow, schema, batch);
  if (result < 0) {
    fail_import(object);
  }
  Py_DECREF(arrow);
  return result;
}

/* Moves the batch out of the object. 1 if it is ours, and so needs no validation, 0 if not, -1 with
 * an exception. */
static int take_batch(adapter_object *self, cst__py_state *state, PyObject *object,
                      struct ArrowArray *batch) {
  const struct ArrowSchema *wanted = cst__py_arrow_schema_view(self->schema);
  struct ArrowSchema schema = {.release = NULL};
  bool is_own = Py_TYPE(object) == state->batch_type;
  bool same;
  if (is_own) {
    PyObject *own = cst__py_batch_lend(object, batch);
    same =
        own == self->schema || cst__py_arrow_schema_equal(cst__py_arrow_schema_view(own), wanted);
  } else if (import_batch(object, &schema, batch) < 0) {
    return -1;
  } else {
    same = cst__py_arrow_schema_equal(&schema, wanted);
    schema.release(&schema);
  }
  if (!same) {
    batch->release(batch);
    cst__py_fail(state, CST_INVALID_ARGUMENT, "make an adapter for the schema of these batches",
                 "the batch has other columns than the adapter's Arrow schema");
    return -1;
  }
  return is_own;
}

static PyObject *convert(PyObject *object, PyObject *source) {
  adapter_object *self = (adapter_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  struct ArrowArray batch;
  int is_own = take_batch(self, state, source, &batch);
  if (is_own < 0) {
    return NULL;
  }
  cst_tensors *tensors = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_tensor_adapter_convert(self->adapter, &batch, is_own ? CST_ARRAY_TRUSTED : 0,
                                      &tensors, &error);
  if (status != CST_OK) {
    batch.release(&batch);
  }
  Py_END_ALLOW_THREADS
  return status == CST_OK ? cst__py_tensors_dict(state, tensors, self->sparse, self->ragged)
                          : cst__py_raise(state, &error);
}

static PyMethodDef methods[] = {
    {"convert", convert, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.tensor.TensorAdapter."},
    {Py_tp_new, new_adapter},
    {Py_tp_dealloc, adapter_dealloc},
    {Py_tp_traverse, adapter_traverse},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_adapter_spec = {
    .name = "columnstone._core.TensorAdapter",
    .basicsize = sizeof(adapter_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
