/* Descriptors: a counted cst_descriptors, and the bytes it was made of, by which it pickles. */
#include <stdlib.h>

#include "ext/message/message.h"

typedef struct descriptors_object {
  PyObject_HEAD cst_descriptors *descriptors;
  PyObject *bytes;
} descriptors_object;

int cst__py_descriptors_arg(cst__py_state *state, PyObject *object, const cst_descriptors **out) {
  if (Py_TYPE(object) != state->descriptors_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Descriptors");
    return -1;
  }
  *out = ((descriptors_object *)object)->descriptors;
  return 0;
}

static int descriptors_parse(descriptors_object *self, cst__py_state *state) {
  char *data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(self->bytes, &data, &size) < 0) {
    return -1;
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_descriptors_new(data, (size_t)size, NULL, &self->descriptors, &error);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    cst__py_raise(state, &error);
    return -1;
  }
  return 0;
}

/* (bytes) */
static PyObject *new_descriptors(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  PyObject *bytes;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "S:Descriptors", &bytes)) {
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  descriptors_object *self = (descriptors_object *)allocate(type, 0);
  if (self == NULL) {
    return NULL;
  }
  self->bytes = Py_NewRef(bytes);
  if (descriptors_parse(self, PyType_GetModuleState(type)) < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

static void descriptors_dealloc(PyObject *object) {
  descriptors_object *self = (descriptors_object *)object;
  cst_descriptors_release(self->descriptors);
  Py_XDECREF(self->bytes);
  cst__py_free(object);
}

static PyObject *descriptors_get_bytes(PyObject *object, void *closure) {
  (void)closure;
  return Py_NewRef(((descriptors_object *)object)->bytes);
}

static PyObject *descriptors_get_messages(PyObject *object, void *closure) {
  const cst_descriptors *set = ((descriptors_object *)object)->descriptors;
  size_t count = cst_descriptors_num_messages(set);
  PyObject *names = PyTuple_New((Py_ssize_t)count);
  (void)closure;
  for (size_t i = 0; names != NULL && i < count; i++) {
    PyObject *name = PyUnicode_FromString(cst_descriptors_message(set, i));
    if (name == NULL || PyTuple_SetItem(names, (Py_ssize_t)i, name) < 0) {
      Py_CLEAR(names);
    }
  }
  return names;
}

/* find(name or None) */
static PyObject *descriptors_find(PyObject *object, PyObject *args) {
  const char *name;
  const char *found = NULL;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "z:find", &name)) {
    return NULL;
  }
  const cst_descriptors *set = ((descriptors_object *)object)->descriptors;
  return cst_descriptors_find(set, name, &found, &error) == CST_OK
             ? PyUnicode_FromString(found)
             : cst__py_raise(cst__py_state_of(object), &error);
}

/* ---- which message? ---- */

static PyObject *guesses_list(const cst_message_guess *guesses, size_t count) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list != NULL && i < count; i++) {
    const cst_message_guess *g = &guesses[i];
    PyObject *item = Py_BuildValue(
        "sKKKK", g->message, (unsigned long long)g->records, (unsigned long long)g->bytes,
        (unsigned long long)g->opaque_bytes, (unsigned long long)g->values);
    if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* (tuple of bytes): (message, records, bytes, opaque_bytes, values) of each guess */
static PyObject *descriptors_guess(PyObject *object, PyObject *args) {
  descriptors_object *self = (descriptors_object *)object;
  PyObject *items;
  if (!PyArg_ParseTuple(args, "O!:guess", &PyTuple_Type, &items)) {
    return NULL;
  }
  Py_ssize_t count = PyTuple_Size(items);
  cst_bytes *records = calloc((size_t)count + 1, sizeof *records);
  if (records == NULL) {
    return PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(PyTuple_GetItem(items, i), &data, &size) < 0) {
      free(records);
      return NULL;
    }
    records[i] = (cst_bytes){(const uint8_t *)data, (size_t)size};
  }
  cst_message_guess guesses[CST_MOST_GUESSES];
  size_t num_guesses = CST_MOST_GUESSES;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_descriptors_guess(self->descriptors, records, (size_t)count, guesses, &num_guesses,
                                 &error);
  Py_END_ALLOW_THREADS
  free(records);
  if (status != CST_OK) {
    cst__py_raise(PyType_GetModuleState(Py_TYPE(object)), &error);
    return NULL;
  }
  return guesses_list(guesses, num_guesses);
}

static PyObject *descriptors_reduce(PyObject *object, PyObject *unused) {
  (void)unused;
  return Py_BuildValue("O(O)", Py_TYPE(object), ((descriptors_object *)object)->bytes);
}

static PyMethodDef methods[] = {
    {"find", descriptors_find, METH_VARARGS, NULL},
    {"guess", descriptors_guess, METH_VARARGS, NULL},
    {"__reduce__", descriptors_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"bytes", descriptors_get_bytes, NULL, NULL, NULL},
    {"messages", descriptors_get_messages, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.schema.Descriptors."},
    {Py_tp_new, new_descriptors},
    {Py_tp_dealloc, descriptors_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_descriptors_spec = {
    .name = "columnstone._core.Descriptors",
    .basicsize = sizeof(descriptors_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
