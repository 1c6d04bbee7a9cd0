/* Sketch: what is kept of many values, of any kind. The public faces are columnstone.sketch's. */
#include "ext/sketch/sketch.h"

typedef struct sketch_object {
  PyObject_HEAD cst_sketch *sketch;
  cst__py_lock lock;
} sketch_object;

/* ---- making ---- */

PyObject *cst__py_sketch_wrap(cst__py_state *state, cst_sketch *sketch) {
  sketch_object *self = PyObject_New(sketch_object, state->sketch_type);
  if (self == NULL || cst__py_lock_init(&self->lock) < 0) {
    cst_sketch_free(sketch);
    if (self != NULL) {
      cst__py_free((PyObject *)self);
    }
    return NULL;
  }
  self->sketch = sketch;
  return (PyObject *)self;
}

/* new(kind, ((option, value), ...)) */
static PyObject *sketch_new(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_sketch *made = NULL;
  cst_error error = CST_ERROR_INIT;
  const char *kind;
  PyObject *pairs;
  cst__py_option_list options;
  if (!PyArg_ParseTuple(args, "sO!:new", &kind, &PyTuple_Type, &pairs) ||
      cst__py_option_list_init(&options, pairs) < 0) {
    return NULL;
  }
  cst_status status = cst_sketch_new(kind, options.options, options.count, NULL, &made, &error);
  cst__py_option_list_reset(&options);
  return status == CST_OK ? cst__py_sketch_wrap(state, made) : cst__py_raise(state, &error);
}

/* load(bytes) */
static PyObject *sketch_load(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_sketch *made = NULL;
  cst_error error = CST_ERROR_INIT;
  const char *bytes;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "y#:load", &bytes, &size)) {
    return NULL;
  }
  return cst_sketch_from_bytes(bytes, (size_t)size, NULL, &made, &error) == CST_OK
             ? cst__py_sketch_wrap(state, made)
             : cst__py_raise(state, &error);
}

/* all(): findings */
static PyObject *sketch_all(PyObject *type, PyObject *unused) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_findings *all = NULL;
  cst_error error = CST_ERROR_INIT;
  (void)unused;
  return cst_sketches(&all, &error) == CST_OK ? cst__py_findings(state, all)
                                              : cst__py_raise(state, &error);
}

static void sketch_dealloc(PyObject *object) {
  sketch_object *self = (sketch_object *)object;
  cst_sketch_free(self->sketch);
  cst__py_lock_reset(&self->lock);
  cst__py_free(object);
}

cst_sketch *cst__py_sketch_enter(PyObject *object) {
  sketch_object *self = (sketch_object *)object;
  return cst__py_lock_enter(&self->lock, cst__py_state_of(object), "sketch") == 0 ? self->sketch
                                                                                  : NULL;
}

void cst__py_sketch_leave(PyObject *object) {
  cst__py_lock_leave(&((sketch_object *)object)->lock);
}

/* ---- adding ---- */

/* Weights of a column. */
typedef struct given_weights {
  struct ArrowSchema schema;
  struct ArrowArray array; /* release NULL: there are none */
} given_weights;

static void release_weights(given_weights *weights) {
  if (weights->array.release != NULL) {
    weights->array.release(&weights->array);
    weights->schema.release(&weights->schema);
  }
}

/* No GIL. */
static cst_status add_chunks(cst_sketch *sketch, struct ArrowArrayStream *stream,
                             const given_weights *weights, cst_error *error) {
  const bool weighs = weights->array.release != NULL;
  struct ArrowSchema schema;
  cst_status status = cst__py_stream_schema(stream, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  while (status == CST_OK) {
    struct ArrowArray chunk;
    status = cst__py_stream_next(stream, &chunk, error);
    if (chunk.release == NULL) {
      break;
    }
    status = cst_sketch_add(sketch, &schema, &chunk, weighs ? &weights->schema : NULL,
                            weighs ? &weights->array : NULL, error);
    chunk.release(&chunk);
  }
  schema.release(&schema);
  return status;
}

/* add(values, weights or None): with weights, values of one chunk */
static PyObject *sketch_add(PyObject *object, PyObject *args) {
  given_weights weights = {.array = {.release = NULL}};
  struct ArrowArrayStream stream;
  PyObject *values;
  PyObject *weights_object;
  if (!PyArg_ParseTuple(args, "OO:add", &values, &weights_object) ||
      (weights_object != Py_None &&
       cst__py_import_array(weights_object, &weights.schema, &weights.array) < 0)) {
    return NULL;
  }
  if (cst__py_import_batches(values, &stream) < 0) {
    release_weights(&weights);
    return NULL;
  }
  cst_sketch *sketch = cst__py_sketch_enter(object);
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_STATE;
  Py_BEGIN_ALLOW_THREADS
  if (sketch != NULL) {
    status = add_chunks(sketch, &stream, &weights, &error);
  }
  stream.release(&stream);
  release_weights(&weights);
  Py_END_ALLOW_THREADS
  if (sketch == NULL) {
    return NULL;
  }
  cst__py_sketch_leave(object);
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(cst__py_state_of(object), &error);
}

static PyObject *sketch_merge(PyObject *object, PyObject *other) {
  cst__py_state *state = cst__py_state_of(object);
  sketch_object *self = (sketch_object *)object;
  sketch_object *from = (sketch_object *)other;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (Py_TYPE(other) != state->sketch_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Sketch");
    return NULL;
  }
  if (self == from) {
    (void)cst_sketch_merge(self->sketch, from->sketch, &error);
    return cst__py_raise(state, &error);
  }
  if (cst__py_lock_enter_both(&self->lock, &from->lock, state, "sketch") < 0) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_sketch_merge(self->sketch, from->sketch, &error);
  Py_END_ALLOW_THREADS
  cst__py_sketch_leave(object);
  cst__py_sketch_leave(other);
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(state, &error);
}

/* ---- looking ---- */

static PyObject *sketch_save(PyObject *object, PyObject *unused) {
  cst_error error = CST_ERROR_INIT;
  char *bytes = NULL;
  size_t size = 0;
  (void)unused;
  cst_sketch *sketch = cst__py_sketch_enter(object);
  if (sketch == NULL) {
    return NULL;
  }
  cst_status status = cst_sketch_to_bytes(sketch, &bytes, &size, &error);
  cst__py_sketch_leave(object);
  PyObject *saved = status == CST_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size)
                                     : cst__py_raise(cst__py_state_of(object), &error);
  cst_free(bytes);
  return saved;
}

/* facts(): (kind, values, nulls, bytes of memory) */
static PyObject *sketch_facts(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_sketch *sketch = cst__py_sketch_enter(object);
  if (sketch == NULL) {
    return NULL;
  }
  PyObject *facts =
      Py_BuildValue("(sLLn)", cst_sketch_kind(sketch), (long long)cst_sketch_num_values(sketch),
                    (long long)cst_sketch_num_nulls(sketch), (Py_ssize_t)cst_sketch_memory(sketch));
  cst__py_sketch_leave(object);
  return facts;
}

/* option(name): its value as a text, or None */
static PyObject *sketch_option(PyObject *object, PyObject *args) {
  const char *name;
  char text[32];
  if (!PyArg_ParseTuple(args, "s:option", &name)) {
    return NULL;
  }
  const char *value = cst_sketch_option(((sketch_object *)object)->sketch, name, text);
  return value != NULL ? PyUnicode_FromString(value) : Py_NewRef(Py_None);
}

static PyMethodDef methods[] = {
    {"new", sketch_new, METH_VARARGS | METH_CLASS, NULL},
    {"load", sketch_load, METH_VARARGS | METH_CLASS, NULL},
    {"all", sketch_all, METH_NOARGS | METH_CLASS, NULL},
    {"add", sketch_add, METH_VARARGS, NULL},
    {"merge", sketch_merge, METH_O, NULL},
    {"save", sketch_save, METH_NOARGS, NULL},
    {"facts", sketch_facts, METH_NOARGS, NULL},
    {"option", sketch_option, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of the classes of columnstone.sketch."},
    {Py_tp_dealloc, sketch_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_sketch_spec = {
    .name = "columnstone._core.Sketch",
    .basicsize = sizeof(sketch_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
