/* Index: where each record of a TFRecord file lies. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/source/source.h"

typedef struct index_object {
  PyObject_HEAD cst_index *index;
} index_object;

static const cst_index *index_view(PyObject *object) { return ((index_object *)object)->index; }

static PyObject *index_finish(PyTypeObject *type, cst_status status, cst_index *index,
                              const cst_error *error) {
  cst__py_state *state = PyType_GetModuleState(type);
  if (status != CST_OK) {
    return PyErr_Occurred() != NULL ? NULL : cst__py_raise(state, error);
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  index_object *self = (index_object *)allocate(type, 0);
  if (self == NULL) {
    cst_index_free(index);
    return NULL;
  }
  self->index = index;
  return (PyObject *)self;
}

static PyObject *build(PyObject *type, PyObject *args) {
  cst_index_options options = CST_INDEX_OPTIONS_INIT;
  const char *path;
  if (!PyArg_ParseTuple(args, "yz:build", &path, &options.container)) {
    return NULL;
  }
  cst_index *index = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_index_build(path, &options, &index, &error);
  Py_END_ALLOW_THREADS
  return index_finish((PyTypeObject *)type, status, index, &error);
}

static PyObject *index_load(PyObject *type, PyObject *args) {
  const char *path;
  if (!PyArg_ParseTuple(args, "y:load", &path)) {
    return NULL;
  }
  cst_index *index = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_index_open(path, NULL, &index, &error);
  Py_END_ALLOW_THREADS
  return index_finish((PyTypeObject *)type, status, index, &error);
}

static PyObject *import_text(PyObject *type, PyObject *args) {
  const char *text_path;
  const char *path;
  if (!PyArg_ParseTuple(args, "yy:import_text", &text_path, &path)) {
    return NULL;
  }
  cst_index *index = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_index_open_text(text_path, path, NULL, &index, &error);
  Py_END_ALLOW_THREADS
  return index_finish((PyTypeObject *)type, status, index, &error);
}

static void index_dealloc(PyObject *object) {
  cst_index_free(((index_object *)object)->index);
  cst__py_free(object);
}

static PyObject *save_by(PyObject *object, PyObject *args,
                         cst_status (*save)(const cst_index *, const char *, cst_error *)) {
  const char *path;
  if (!PyArg_ParseTuple(args, "y", &path)) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = save(index_view(object), path, &error);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(cst__py_state_of(object), &error);
}

static PyObject *save(PyObject *object, PyObject *args) {
  return save_by(object, args, cst_index_save);
}

static PyObject *export_text(PyObject *object, PyObject *args) {
  return save_by(object, args, cst_index_save_text);
}

static PyObject *record(PyObject *object, PyObject *number) {
  unsigned long long i = PyLong_AsUnsignedLongLong(number);
  if (i == (unsigned long long)-1 && PyErr_Occurred() != NULL) {
    return NULL;
  }
  uint64_t offset = 0;
  uint64_t size = 0;
  if (i >= cst_index_num_records(index_view(object))) {
    PyErr_SetString(PyExc_IndexError, "the file has no record of this number");
    return NULL;
  }
  cst_index_record(index_view(object), i, &offset, &size);
  return Py_BuildValue("(KK)", (unsigned long long)offset, (unsigned long long)size);
}

static PyObject *index_batch(PyObject *object, PyObject *unused) {
  struct ArrowSchema types;
  struct ArrowArray array;
  cst_error error = CST_ERROR_INIT;
  (void)unused;
  if (cst_index_batch(index_view(object), &types, &array, &error) != CST_OK) {
    return cst__py_raise(cst__py_state_of(object), &error);
  }
  return cst__py_batch_made(cst__py_state_of(object), &types, &array);
}

static PyObject *get_num_records(PyObject *object, void *closure) {
  (void)closure;
  return PyLong_FromUnsignedLongLong(cst_index_num_records(index_view(object)));
}

static PyMethodDef methods[] = {
    {"build", build, METH_VARARGS | METH_CLASS, NULL},
    {"load", index_load, METH_VARARGS | METH_CLASS, NULL},
    {"import_text", import_text, METH_VARARGS | METH_CLASS, NULL},
    {"save", save, METH_VARARGS, NULL},
    {"export_text", export_text, METH_VARARGS, NULL},
    {"record", record, METH_O, NULL},
    {"batch", index_batch, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"num_records", get_num_records, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.source.Index."},
    {Py_tp_dealloc, index_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_index_spec = {
    .name = "columnstone._core.Index",
    .basicsize = sizeof(index_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
