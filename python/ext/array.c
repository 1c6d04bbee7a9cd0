/* Array: one Arrow column, such as the records that an encoder made. */
#include <stdlib.h>

#include "ext.h"

typedef struct arrow_array {
  PyObject_HEAD cst__py_shared *shared;
  const struct ArrowArray *node; /* in the shared tree */
  PyObject *schema;              /* ArrowSchema */
  int64_t offset;                /* added to the node's own */
  int64_t length;
} arrow_array;

PyObject *cst__py_array_view(cst__py_state *state, PyObject *schema, cst__py_shared *owner,
                             const struct ArrowArray *node, int64_t offset, int64_t length) {
  arrow_array *self = PyObject_New(arrow_array, state->array_type);
  if (self == NULL) {
    return NULL;
  }
  self->shared = cst__py_shared_retain(owner);
  self->node = node;
  self->schema = Py_NewRef(schema);
  self->offset = offset;
  self->length = length;
  return (PyObject *)self;
}

PyObject *cst__py_array_new(cst__py_state *state, PyObject *schema, struct ArrowArray *array) {
  cst__py_shared *shared = cst__py_shared_new(NULL, array);
  if (shared == NULL) {
    array->release(array);
    return PyErr_NoMemory();
  }
  const struct ArrowArray *node = cst__py_shared_array(shared);
  PyObject *self = cst__py_array_view(state, schema, shared, node, 0, node->length);
  cst__py_shared_release(shared);
  return self;
}

static void dealloc(PyObject *object) {
  arrow_array *self = (arrow_array *)object;
  cst__py_shared_release(self->shared);
  Py_DECREF(self->schema);
  cst__py_free(object);
}

static Py_ssize_t length(PyObject *object) { return (Py_ssize_t)((arrow_array *)object)->length; }

static PyObject *item(PyObject *object, Py_ssize_t i) {
  arrow_array *self = (arrow_array *)object;
  if (i < 0 || i >= self->length) {
    PyErr_Format(PyExc_IndexError, "index out of range: the array has %zd values", length(object));
    return NULL;
  }
  return cst__py_value(cst__py_state_of(object), cst__py_arrow_schema_view(self->schema),
                       self->node, self->offset + i);
}

static PyObject *slice(PyObject *object, PyObject *key) {
  arrow_array *self = (arrow_array *)object;
  Py_ssize_t start;
  Py_ssize_t stop;
  Py_ssize_t step;
  if (PySlice_Unpack(key, &start, &stop, &step) < 0) {
    return NULL;
  }
  Py_ssize_t count = PySlice_AdjustIndices(length(object), &start, &stop, step);
  if (step != 1) {
    PyErr_SetString(PyExc_ValueError, "slices of an Array have a step of 1");
    return NULL;
  }
  return cst__py_array_view(cst__py_state_of(object), self->schema, self->shared, self->node,
                            self->offset + start, count);
}

static PyObject *subscript(PyObject *object, PyObject *key) {
  if (PySlice_Check(key)) {
    return slice(object, key);
  }
  Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (i == -1 && PyErr_Occurred() != NULL) {
    return NULL;
  }
  return item(object, i < 0 ? i + length(object) : i);
}

static PyObject *to_pylist(PyObject *object, PyObject *unused) {
  (void)unused;
  arrow_array *self = (arrow_array *)object;
  return cst__py_values(cst__py_state_of(object), cst__py_arrow_schema_view(self->schema),
                        self->node, self->offset, self->length);
}

static PyObject *export_schema(PyObject *object, PyObject *unused) {
  (void)unused;
  return PyObject_CallMethod(((arrow_array *)object)->schema, "__arrow_c_schema__", NULL);
}

/* The node, narrowed to this array's rows. */
static int export_rows(arrow_array *self, struct ArrowArray *out) {
  if (cst__py_shared_export_array(self->shared, self->node, out) < 0) {
    PyErr_NoMemory();
    return -1;
  }
  if (self->offset != 0 || self->length != self->node->length) {
    bool all_null = cst__py_arrow_schema_view(self->schema)->format[0] == 'n';
    out->offset += self->offset;
    out->length = self->length;
    out->null_count = all_null ? self->length : self->node->null_count == 0 ? 0 : -1;
  }
  return 0;
}

static PyObject *export_array(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"requested_schema", NULL};
  PyObject *requested = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_array__", names, &requested)) {
    return NULL;
  }
  struct ArrowArray out;
  if (export_rows((arrow_array *)object, &out) < 0) {
    return NULL;
  }
  PyObject *array = cst__py_array_capsule(&out);
  PyObject *schema = array == NULL ? NULL : export_schema(object, NULL);
  if (schema == NULL) {
    Py_XDECREF(array);
    return NULL;
  }
  return Py_BuildValue("(NN)", schema, array);
}

static PyObject *get_schema(PyObject *object, void *closure) {
  (void)closure;
  return Py_NewRef(((arrow_array *)object)->schema);
}

static PyObject *repr(PyObject *object) {
  return PyUnicode_FromFormat("<columnstone.Array of %zd values, %R>", length(object),
                              ((arrow_array *)object)->schema);
}

static PyMethodDef methods[] = {
    {"to_pylist", to_pylist, METH_NOARGS,
     PyDoc_STR("to_pylist($self)\n--\n\nThe values as a list of Python objects; null is None.")},
    {"__arrow_c_schema__", export_schema, METH_NOARGS,
     PyDoc_STR("The array's type as an Arrow PyCapsule.")},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))export_array, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("__arrow_c_array__($self, requested_schema=None)\n--\n\n"
               "The array as a pair of Arrow PyCapsules; no copy. requested_schema is ignored.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"schema", get_schema, NULL, PyDoc_STR("The Arrow type, an ArrowSchema."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "One column in Arrow memory, such as the records that an ExampleEncoder made.\n\n"
     "A sequence: ``len(array)``, ``array[i]`` (bytes for a binary array), ``array[a:b]``\n"
     "(an Array, no copy), iteration. Anything that speaks the Arrow PyCapsule interface\n"
     "takes it without a copy: ``pyarrow.array(array)``."},
    {Py_tp_dealloc, dealloc},
    {Py_tp_repr, repr},
    {Py_sq_length, length},
    {Py_sq_item, item},
    {Py_mp_length, length},
    {Py_mp_subscript, subscript},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_array_spec = {
    .name = "columnstone.Array",
    .basicsize = sizeof(arrow_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
