/* Accumulator: a counted state of what is found out about data by looking at all of it, made by its
 * name. The public faces are columnstone.accumulate's. */
#include <columnstone/accumulate.h>
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/schema/schema.h"

typedef struct accumulator_object {
  PyObject_HEAD cst_accumulator *accumulator;
  cst__py_lock lock;
} accumulator_object;

/* ---- making ---- */

/* Takes the accumulator over, also on failure. */
static PyObject *accumulator_wrap(cst__py_state *state, cst_accumulator *accumulator) {
  accumulator_object *self = PyObject_New(accumulator_object, state->accumulator_type);
  if (self == NULL || cst__py_lock_init(&self->lock) < 0) {
    cst_accumulator_free(accumulator);
    if (self != NULL) {
      cst__py_free((PyObject *)self);
    }
    return NULL;
  }
  self->accumulator = accumulator;
  return (PyObject *)self;
}

/* new(name, ((option, value), ...)) */
static PyObject *accumulator_new(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_accumulator *made = NULL;
  cst_error error = CST_ERROR_INIT;
  const char *name;
  PyObject *pairs;
  cst__py_option_list options;
  if (!PyArg_ParseTuple(args, "sO!:new", &name, &PyTuple_Type, &pairs) ||
      cst__py_option_list_init(&options, pairs) < 0) {
    return NULL;
  }
  cst_status status =
      cst_accumulator_new(name, options.options, options.count, NULL, &made, &error);
  cst__py_option_list_reset(&options);
  return status == CST_OK ? accumulator_wrap(state, made) : cst__py_raise(state, &error);
}

/* load(saved) */
static PyObject *accumulator_load(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_accumulator *made = NULL;
  cst_error error = CST_ERROR_INIT;
  const char *bytes;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "y#:load", &bytes, &size)) {
    return NULL;
  }
  return cst_accumulator_from_bytes(bytes, (size_t)size, NULL, &made, &error) == CST_OK
             ? accumulator_wrap(state, made)
             : cst__py_raise(state, &error);
}

/* open(path): what was saved in a file */
static PyObject *accumulator_open(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_accumulator *made = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  const char *path;
  if (!PyArg_ParseTuple(args, "y:open", &path)) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_accumulator_open(path, NULL, &made, &error);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? accumulator_wrap(state, made) : cst__py_raise(state, &error);
}

/* name() */
static PyObject *accumulator_name(PyObject *object, PyObject *unused) {
  (void)unused;
  return PyUnicode_FromString(cst_accumulator_name(((accumulator_object *)object)->accumulator));
}

/* all(): findings */
static PyObject *accumulator_all(PyObject *type, PyObject *unused) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_findings *all = NULL;
  cst_error error = CST_ERROR_INIT;
  (void)unused;
  return cst_accumulators(&all, &error) == CST_OK ? cst__py_findings(state, all)
                                                  : cst__py_raise(state, &error);
}

static void accumulator_dealloc(PyObject *object) {
  accumulator_object *self = (accumulator_object *)object;
  cst_accumulator_free(self->accumulator);
  cst__py_lock_reset(&self->lock);
  cst__py_free(object);
}

/* ---- adding ---- */

/* 0, or -1 with an exception. */
static int accumulator_enter(accumulator_object *self) {
  return cst__py_lock_enter(&self->lock, cst__py_state_of((PyObject *)self), "accumulator");
}

cst_accumulator *cst__py_accumulator_enter(cst__py_state *state, PyObject *object) {
  if (Py_TYPE(object) != state->accumulator_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Accumulator");
    return NULL;
  }
  accumulator_object *self = (accumulator_object *)object;
  return accumulator_enter(self) == 0 ? self->accumulator : NULL;
}

void cst__py_accumulator_leave(PyObject *object) {
  cst__py_lock_leave(&((accumulator_object *)object)->lock);
}

typedef struct added_batches {
  struct ArrowArrayStream stream;
  const char *file;
  int64_t record; /* of the next row; -1: unknown */
  int64_t rows;
} added_batches;

/* No GIL. */
static cst_status accumulator_add_batches(cst_accumulator *accumulator, added_batches *added,
                                          cst_error *error) {
  struct ArrowSchema schema;
  cst_status status = cst__py_stream_schema(&added->stream, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  while (status == CST_OK) {
    struct ArrowArray batch;
    status = cst__py_stream_next(&added->stream, &batch, error);
    if (batch.release == NULL) {
      break;
    }
    int64_t rows = batch.length;
    status = cst_accumulator_add(accumulator, &schema, &batch, added->file, added->record, error);
    batch.release(&batch);
    added->rows += rows;
    added->record += added->record >= 0 ? rows : 0;
  }
  schema.release(&schema);
  return status;
}

/* add(batches, file, record or -1): the number of rows */
static PyObject *accumulator_add(PyObject *object, PyObject *args) {
  accumulator_object *self = (accumulator_object *)object;
  added_batches added = {.rows = 0};
  PyObject *batches;
  long long record;
  if (!PyArg_ParseTuple(args, "OyL:add", &batches, &added.file, &record) ||
      cst__py_import_batches(batches, &added.stream) < 0) {
    return NULL;
  }
  bool entered = accumulator_enter(self) == 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_STATE;
  added.record = record;
  Py_BEGIN_ALLOW_THREADS
  if (entered) {
    status = accumulator_add_batches(self->accumulator, &added, &error);
  }
  added.stream.release(&added.stream);
  Py_END_ALLOW_THREADS
  if (!entered) {
    return NULL;
  }
  cst__py_lock_leave(&self->lock);
  return status == CST_OK ? PyLong_FromLongLong(added.rows)
                          : cst__py_raise(cst__py_state_of(object), &error);
}

static PyObject *accumulator_merge(PyObject *object, PyObject *other) {
  cst__py_state *state = cst__py_state_of(object);
  accumulator_object *self = (accumulator_object *)object;
  accumulator_object *from = (accumulator_object *)other;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (Py_TYPE(other) != state->accumulator_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Accumulator");
    return NULL;
  }
  if (self == from) {
    (void)cst_accumulator_merge(self->accumulator, from->accumulator, &error);
    return cst__py_raise(state, &error);
  }
  if (cst__py_lock_enter_both(&self->lock, &from->lock, state, "accumulator") < 0) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_accumulator_merge(self->accumulator, from->accumulator, &error);
  Py_END_ALLOW_THREADS
  cst__py_lock_leave(&self->lock);
  cst__py_lock_leave(&from->lock);
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(state, &error);
}

/* ---- saving, finishing ---- */

static PyObject *accumulator_save(PyObject *object, PyObject *unused) {
  accumulator_object *self = (accumulator_object *)object;
  cst_error error = CST_ERROR_INIT;
  char *bytes = NULL;
  size_t size = 0;
  (void)unused;
  if (accumulator_enter(self) < 0) {
    return NULL;
  }
  cst_status status = cst_accumulator_to_bytes(self->accumulator, &bytes, &size, &error);
  cst__py_lock_leave(&self->lock);
  PyObject *saved = status == CST_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size)
                                     : cst__py_raise(cst__py_state_of(object), &error);
  cst_free(bytes);
  return saved;
}

/* options(): findings */
static PyObject *accumulator_options(PyObject *object, PyObject *unused) {
  cst__py_state *state = cst__py_state_of(object);
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  (void)unused;
  return cst_accumulator_options(((accumulator_object *)object)->accumulator, &found, &error) ==
                 CST_OK
             ? cst__py_findings(state, found)
             : cst__py_raise(state, &error);
}

/* save_as(path) */
static PyObject *accumulator_save_as(PyObject *object, PyObject *args) {
  accumulator_object *self = (accumulator_object *)object;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  const char *path;
  if (!PyArg_ParseTuple(args, "y:save_as", &path) || accumulator_enter(self) < 0) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_accumulator_save(self->accumulator, path, &error);
  Py_END_ALLOW_THREADS
  cst__py_lock_leave(&self->lock);
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(cst__py_state_of(object), &error);
}

/* finish(): findings */
static PyObject *accumulator_finish(PyObject *object, PyObject *unused) {
  accumulator_object *self = (accumulator_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  (void)unused;
  if (accumulator_enter(self) < 0) {
    return NULL;
  }
  cst_status status = cst_accumulator_finish(self->accumulator, &found, &error);
  cst__py_lock_leave(&self->lock);
  return status == CST_OK ? cst__py_findings(state, found) : cst__py_raise(state, &error);
}

/* finish_schema() */
static PyObject *accumulator_finish_schema(PyObject *object, PyObject *unused) {
  accumulator_object *self = (accumulator_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  (void)unused;
  if (accumulator_enter(self) < 0) {
    return NULL;
  }
  cst_status status = cst_accumulator_finish_schema(self->accumulator, &schema, &error);
  cst__py_lock_leave(&self->lock);
  if (status != CST_OK) {
    return cst__py_raise(state, &error);
  }
  PyObject *made = cst__py_schema_new(state, schema);
  cst_schema_release(schema);
  return made;
}

static PyMethodDef methods[] = {
    {"new", accumulator_new, METH_VARARGS | METH_CLASS, NULL},
    {"open", accumulator_open, METH_VARARGS | METH_CLASS, NULL},
    {"all", accumulator_all, METH_NOARGS | METH_CLASS, NULL},
    {"options", accumulator_options, METH_NOARGS, NULL},
    {"name", accumulator_name, METH_NOARGS, NULL},
    {"add", accumulator_add, METH_VARARGS, NULL},
    {"merge", accumulator_merge, METH_O, NULL},
    {"save", accumulator_save, METH_NOARGS, NULL},
    {"save_as", accumulator_save_as, METH_VARARGS, NULL},
    {"load", accumulator_load, METH_VARARGS | METH_CLASS, NULL},
    {"finish", accumulator_finish, METH_NOARGS, NULL},
    {"finish_schema", accumulator_finish_schema, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of the classes of columnstone.accumulate and of columnstone.Statistics."},
    {Py_tp_dealloc, accumulator_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_accumulator_spec = {
    .name = "columnstone._core.Accumulator",
    .basicsize = sizeof(accumulator_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
