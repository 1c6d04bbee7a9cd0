/* The type Dataset: a source with an order and batches of it, from which loaders are made. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/dataset/dataset.h"
#include "ext/source/source.h"
#include "ext/tensor/tensor.h"

static int dataset_parse(cst__py_dataset_object *self, cst_dataset_options *o, PyObject **bucket_by,
                         PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {
      "source",          "batch_size",     "shuffle",    "window",    "interleave", "seed",
      "drop_last",       "shard",          "num_shards", "prefetch",  "threads",    "memory_budget",
      "bucket_by_value", "bucket_batches", "pads",       "bucket_by", NULL};
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  int shuffle;
  int drop_last;
  int by_value;
  long long bucket_batches;
  long long batch_size;
  long long window;
  unsigned long long seed;
  long long memory_budget;
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "O!$LiLiKpIIiiLpLO!O:Dataset", keywords, state->source_type, &self->source,
          &batch_size, &shuffle, &window, &o->interleave, &seed, &drop_last, &o->shard,
          &o->num_shards, &o->prefetch, &o->threads, &memory_budget, &by_value, &bucket_batches,
          &PyTuple_Type, &self->pads, bucket_by)) {
    self->source = NULL;
    self->pads = NULL;
    return -1;
  }
  Py_INCREF(self->source);
  Py_INCREF(self->pads);
  o->batch_size = batch_size;
  o->shuffle = (cst_shuffle)shuffle;
  o->window = window;
  o->seed = seed;
  o->drop_last = drop_last != 0;
  o->memory_budget = memory_budget > 0 ? memory_budget : -1; /* 0 is that of Python */
  o->bucket_by_value = by_value != 0;
  o->bucket_batches = bucket_batches;
  return 0;
}

/* The path of a column from a tuple of str, or None: then the steps are NULL. */
static int path_init(cst_path *path, PyObject *tuple) {
  *path = (cst_path){NULL, 0};
  if (tuple == Py_None) {
    return 0;
  }
  Py_ssize_t count = PyTuple_Size(tuple);
  const char **steps = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *steps);
  if (steps == NULL) {
    return PyErr_Occurred() != NULL ? -1 : (PyErr_NoMemory(), -1);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    steps[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), NULL);
    if (steps[i] == NULL) {
      free(steps);
      return -1;
    }
  }
  *path = (cst_path){steps, (size_t)count};
  return 0;
}

static int dataset_init(cst__py_dataset_object *self, PyObject *args, PyObject *kwargs) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  PyObject *bucket_by;
  cst_path path;
  if (dataset_parse(self, &options, &bucket_by, args, kwargs) < 0) {
    return -1;
  }
  cst_source *source = cst__py_source_borrow(self->source);
  if (source == NULL) {
    return -1;
  }
  if (path_init(&path, bucket_by) < 0) {
    cst_source_release(source);
    return -1;
  }
  options.bucket_by = path.steps != NULL ? &path : NULL;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS /* the schema may have to be inferred */
  status = cst_dataset_new(source, &options, &self->dataset, &error);
  cst_source_release(source);
  Py_END_ALLOW_THREADS
  free((void *)(uintptr_t)path.steps);
  if (status != CST_OK) {
    cst__py_source_raise(self->source, &error);
    return -1;
  }
  return 0;
}

static PyObject *new_dataset(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  cst__py_dataset_object *self = (cst__py_dataset_object *)allocate(type, 0);
  if (self != NULL && dataset_init(self, args, kwargs) < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

/* ---- mixes ---- */

static int read_weights(PyObject *weights, double *out, size_t count) {
  for (size_t i = 0; i < count; i++) {
    PyObject *weight = PyTuple_GetItem(weights, (Py_ssize_t)i);
    out[i] = weight == NULL ? -1 : PyFloat_AsDouble(weight);
    if (PyErr_Occurred() != NULL) {
      return -1;
    }
  }
  return 0;
}

static int read_datasets(cst__py_dataset_object *self, cst_dataset **out, size_t count) {
  PyTypeObject *type = cst__py_state_of((PyObject *)self)->dataset_type;
  for (size_t i = 0; i < count; i++) {
    PyObject *one = PyTuple_GetItem(self->mixed, (Py_ssize_t)i);
    if (!PyObject_TypeCheck(one, type)) {
      PyErr_SetString(PyExc_TypeError, "mix takes datasets");
      return -1;
    }
    out[i] = cst__py_dataset_view(one);
  }
  return 0;
}

/* Mixes the datasets that self has. */
static int mix_with(cst__py_dataset_object *self, PyObject *weights, cst_mix_options *options) {
  size_t count = (size_t)PyTuple_Size(self->mixed);
  double *numbers = calloc(count + 1, sizeof *numbers);
  cst_dataset **datasets = calloc(count + 1, sizeof(cst_dataset *));
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_OK;
  int result = -1;
  if (numbers == NULL || datasets == NULL) {
    PyErr_NoMemory();
  } else if (read_weights(weights, numbers, count) == 0 &&
             read_datasets(self, datasets, count) == 0) {
    options->weights = numbers;
    Py_BEGIN_ALLOW_THREADS /* schemas may have to be inferred */
    status = cst_dataset_mix(datasets, count, options, &self->dataset, &error);
    Py_END_ALLOW_THREADS
    result = status == CST_OK ? 0 : -1;
  }
  free(numbers);
  free(datasets);
  if (status != CST_OK) {
    cst__py_source_raise(cst__py_dataset_blame((PyObject *)self, &error), &error);
  }
  return result;
}

/* mix(datasets, weights, stop, prefetch, threads): tuples of as many datasets, at least one, and
 * numbers. Tensors are those of the first dataset. */
static PyObject *mix(PyObject *class, PyObject *args) {
  PyTypeObject *type = (PyTypeObject *)class;
  cst_mix_options options = CST_MIX_OPTIONS_INIT;
  PyObject *datasets;
  PyObject *weights;
  int stop;
  if (!PyArg_ParseTuple(args, "O!O!iii:mix", &PyTuple_Type, &datasets, &PyTuple_Type, &weights,
                        &stop, &options.prefetch, &options.threads)) {
    return NULL;
  }
  options.stop = (cst_mix_stop)stop;
  PyObject *first = PyTuple_GetItem(datasets, 0);
  if (first == NULL || !PyObject_TypeCheck(first, type)) {
    return PyErr_Occurred() != NULL
               ? NULL
               : (PyErr_SetString(PyExc_TypeError, "mix takes datasets"), NULL);
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  cst__py_dataset_object *self = (cst__py_dataset_object *)allocate(type, 0);
  if (self == NULL) {
    return NULL;
  }
  self->source = Py_NewRef(((cst__py_dataset_object *)first)->source);
  self->pads = Py_NewRef(((cst__py_dataset_object *)first)->pads);
  self->mixed = Py_NewRef(datasets);
  if (mix_with(self, weights, &options) < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

/* ---- the type ---- */

static int dataset_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(((cst__py_dataset_object *)object)->mixed);
  Py_VISIT(((cst__py_dataset_object *)object)->source);
  return 0;
}

static void dataset_dealloc(PyObject *object) {
  cst__py_dataset_object *self = (cst__py_dataset_object *)object;
  PyObject_GC_UnTrack(object);
  cst_tensor_adapter_free(self->adapter);
  Py_BEGIN_ALLOW_THREADS
  cst_dataset_release(self->dataset);
  Py_END_ALLOW_THREADS
  Py_XDECREF(self->mixed);
  Py_XDECREF(self->schema);
  Py_XDECREF(self->pads);
  Py_XDECREF(self->source);
  cst__py_free(object);
}

static PyObject *shuffle(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_dataset_object *self = (cst__py_dataset_object *)object;
  cst_shuffle found = CST_SHUFFLE_NONE;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_dataset_shuffle(self->dataset, &found, &error);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? PyLong_FromLong((long)found)
                          : cst__py_source_raise(self->source, &error);
}

typedef cst_status (*count_function)(cst_dataset *dataset, uint64_t *count, cst_error *error);

static PyObject *count_with(PyObject *object, count_function function) {
  cst__py_dataset_object *self = (cst__py_dataset_object *)object;
  uint64_t count = 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = function(self->dataset, &count, &error);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? PyLong_FromUnsignedLongLong(count)
                          : cst__py_source_raise(self->source, &error);
}

static PyObject *dataset_num_rows(PyObject *object, PyObject *unused) {
  (void)unused;
  return count_with(object, cst_dataset_num_rows);
}

static PyObject *num_batches(PyObject *object, PyObject *unused) {
  (void)unused;
  return count_with(object, cst_dataset_num_batches);
}

/* batches_left(batch, origin, row) */
static PyObject *batches_left(PyObject *object, PyObject *args) {
  cst__py_dataset_object *self = (cst__py_dataset_object *)object;
  unsigned long long batch;
  unsigned long long origin;
  unsigned long long row;
  if (!PyArg_ParseTuple(args, "KKK:batches_left", &batch, &origin, &row)) {
    return NULL;
  }
  cst_position from = {.batch = batch, .origin = origin, .row = row};
  uint64_t count = 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_dataset_batches_left(self->dataset, &from, &count, &error);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? PyLong_FromUnsignedLongLong(count)
                          : cst__py_source_raise(self->source, &error);
}

static PyObject *order(PyObject *object, PyObject *args) {
  cst__py_dataset_object *self = (cst__py_dataset_object *)object;
  unsigned long long epoch;
  unsigned long long begin;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(args, "KKn:order", &epoch, &begin, &count)) {
    return NULL;
  }
  uint64_t *rows = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *rows);
  if (rows == NULL) {
    return PyErr_NoMemory();
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_dataset_order(self->dataset, epoch, begin, (uint64_t)count, rows, &error);
  Py_END_ALLOW_THREADS
  PyObject *result = status == CST_OK
                         ? PyBytes_FromStringAndSize((char *)rows, count * (Py_ssize_t)sizeof *rows)
                         : cst__py_source_raise(self->source, &error);
  free(rows);
  return result;
}

static PyObject *loader(PyObject *object, PyObject *args) {
  unsigned long long place[6];
  unsigned int first;
  unsigned int step;
  PyObject *sparse;
  PyObject *ragged;
  if (!PyArg_ParseTuple(args, "KKKKKKIIOO:loader", &place[0], &place[1], &place[2], &place[3],
                        &place[4], &place[5], &first, &step, &sparse, &ragged)) {
    return NULL;
  }
  cst_position from = {place[0], place[1], place[2], place[3], place[4], place[5]};
  bool tensors = sparse != Py_None;
  return cst__py_loader_new(object, &from, first, step, tensors ? sparse : NULL,
                            tensors ? ragged : NULL);
}

static PyMethodDef methods[] = {
    {"mix", mix, METH_VARARGS | METH_CLASS, NULL},
    {"shuffle", shuffle, METH_NOARGS, NULL},
    {"num_rows", dataset_num_rows, METH_NOARGS, NULL},
    {"num_batches", num_batches, METH_NOARGS, NULL},
    {"batches_left", batches_left, METH_VARARGS, NULL},
    {"order", order, METH_VARARGS, NULL},
    {"loader", loader, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.Dataset."},
    {Py_tp_new, new_dataset},
    {Py_tp_dealloc, dataset_dealloc},
    {Py_tp_traverse, dataset_traverse},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_dataset_spec = {
    .name = "columnstone._core.Dataset",
    .basicsize = sizeof(cst__py_dataset_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
