/* Tensor specs from the tuples that _spec.py makes of TensorRepresentations. */
#include <math.h>
#include <stdlib.h>

#include "ext/schema/schema.h"

/* What lives until the specs are made. Names are borrowed from the tuples. */
typedef struct block {
  struct block *next;
} block;

typedef struct reader {
  cst__py_state *state;
  block *blocks;
} reader;

/* Zeroed memory for `count` items; NULL with an exception. */
static void *specs_take(reader *r, Py_ssize_t count, size_t size) {
  block *b = calloc(1, sizeof *b + ((size_t)count + 1) * size);
  if (b == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  b->next = r->blocks;
  r->blocks = b;
  return b + 1;
}

static void specs_reset(reader *r) {
  while (r->blocks != NULL) {
    block *next = r->blocks->next;
    free(r->blocks);
    r->blocks = next;
  }
}

/* A str as UTF-8 without NUL; NULL with an exception. */
static const char *specs_name_of(PyObject *text) {
  Py_ssize_t size;
  const char *name = PyUnicode_AsUTF8AndSize(text, &size);
  if (name != NULL && strlen(name) != (size_t)size) {
    PyErr_SetString(PyExc_ValueError, "the name of a tensor or column holds a NUL character");
    return NULL;
  }
  return name;
}

static const char **names_of(reader *r, PyObject *tuple, size_t *count) {
  Py_ssize_t size = PyTuple_Size(tuple);
  const char **names = size < 0 ? NULL : specs_take(r, size, sizeof *names);
  for (Py_ssize_t i = 0; names != NULL && i < size; i++) {
    names[i] = specs_name_of(PyTuple_GetItem(tuple, i));
    if (names[i] == NULL) {
      return NULL;
    }
  }
  *count = (size_t)(size < 0 ? 0 : size);
  return names;
}

static int64_t *dims_of(reader *r, PyObject *tuple, size_t *count) {
  Py_ssize_t size = PyTuple_Size(tuple);
  int64_t *dims = size < 0 ? NULL : specs_take(r, size, sizeof *dims);
  for (Py_ssize_t i = 0; dims != NULL && i < size; i++) {
    dims[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (dims[i] == -1 && PyErr_Occurred() != NULL) {
      return NULL;
    }
  }
  *count = (size_t)(size < 0 ? 0 : size);
  return dims;
}

/* A str is a column, an int a uniform length. */
static cst_partition *partitions_of(reader *r, PyObject *tuple, size_t *count) {
  Py_ssize_t size = PyTuple_Size(tuple);
  cst_partition *partitions = size < 0 ? NULL : specs_take(r, size, sizeof *partitions);
  for (Py_ssize_t i = 0; partitions != NULL && i < size; i++) {
    PyObject *item = PyTuple_GetItem(tuple, i);
    if (PyUnicode_Check(item)) {
      partitions[i].row_length_column = specs_name_of(item);
    } else {
      partitions[i].uniform_length = PyLong_AsLongLong(item);
    }
    if (PyErr_Occurred() != NULL) {
      return NULL;
    }
  }
  *count = (size_t)(size < 0 ? 0 : size);
  return partitions;
}

static int specs_kind_of(reader *r, const char *text, cst_tensor_kind *out) {
  static const char *const kinds[] = {"dense", "varlen_sparse", "sparse", "ragged", "structured"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(text, kinds[i]) == 0) {
      *out = (cst_tensor_kind)(i + CST_TENSOR_DENSE);
      return 0;
    }
  }
  cst__py_fail(r->state, CST_INVALID_ARGUMENT,
               "use dense, varlen_sparse, sparse, ragged or structured",
               "unknown kind of tensor '%.40s'", text);
  return -1;
}

static int specs_dtype_of(reader *r, const char *text, cst_dtype *out) {
  for (int i = CST_DTYPE_NONE; i <= CST_DTYPE_BOOL; i++) {
    if (strcmp(text, cst_dtype_name((cst_dtype)i)) == 0) {
      *out = (cst_dtype)i;
      return 0;
    }
  }
  cst__py_fail(r->state, CST_INVALID_ARGUMENT, "use int64, float32, bytes or bool",
               "unknown type of values '%.40s'", text);
  return -1;
}

/* The default of a spec whose type is known. */
static int default_of(reader *r, PyObject *value, cst_tensor_spec *spec) {
  spec->has_default = value != Py_None;
  if (value == Py_None) {
    return 0;
  }
  if (spec->dtype == CST_DTYPE_BYTES) {
    Py_ssize_t size;
    char *bytes;
    if (PyBytes_AsStringAndSize(value, &bytes, &size) < 0) {
      return -1;
    }
    spec->default_bytes = (cst_bytes){(const uint8_t *)bytes, (size_t)size};
  } else if (spec->dtype == CST_DTYPE_FLOAT32 || spec->dtype == CST_DTYPE_FLOAT64) {
    double number = PyFloat_AsDouble(value);
    spec->default_float = (float)number;
    if (PyErr_Occurred() == NULL && isinf(spec->default_float) && !isinf(number)) {
      cst__py_fail(r->state, CST_SCHEMA, "", "the default of tensor '%.60s' does not fit float32",
                   spec->name);
    }
  } else {
    spec->default_int = PyLong_AsLongLong(value);
  }
  return PyErr_Occurred() == NULL ? 0 : -1;
}

static cst_tensor_spec *list_of(reader *r, PyObject *tuple, size_t *count);

/* (name, kind, dtype, path, dims, index_columns, already_sorted, partitions, row_splits_dtype,
 * default, explicit, varlen_ragged, reason, fields) */
static int spec_of(reader *r, PyObject *tuple, cst_tensor_spec *spec) {
  PyObject *name, *path, *dims, *index_columns, *partitions, *value, *reason, *fields;
  const char *kind, *dtype, *splits_dtype;
  int sorted, is_explicit, varlen_ragged;
  if (!PyTuple_Check(tuple) ||
      !PyArg_ParseTuple(tuple, "OssOOOpOsOppOO:representation", &name, &kind, &dtype, &path, &dims,
                        &index_columns, &sorted, &partitions, &splits_dtype, &value, &is_explicit,
                        &varlen_ragged, &reason, &fields)) {
    if (PyErr_Occurred() == NULL) {
      PyErr_SetString(PyExc_TypeError, "a representation is a tuple here");
    }
    return -1;
  }
  spec->name = specs_name_of(name);
  spec->reason = specs_name_of(reason);
  if (spec->name == NULL || spec->reason == NULL || specs_kind_of(r, kind, &spec->kind) < 0 ||
      specs_dtype_of(r, dtype, &spec->dtype) < 0 ||
      specs_dtype_of(r, splits_dtype, &spec->row_splits_dtype)) {
    return -1;
  }
  spec->path = names_of(r, path, &spec->num_path_steps);
  spec->dims = dims_of(r, dims, &spec->num_dims);
  spec->index_columns = names_of(r, index_columns, &spec->num_index_columns);
  spec->partitions = partitions_of(r, partitions, &spec->num_partitions);
  spec->already_sorted = sorted != 0;
  spec->is_explicit = is_explicit != 0;
  spec->is_varlen_ragged = varlen_ragged != 0;
  spec->fields = PyErr_Occurred() != NULL ? NULL : list_of(r, fields, &spec->num_fields);
  return PyErr_Occurred() == NULL ? default_of(r, value, spec) : -1;
}

static cst_tensor_spec *list_of(reader *r, PyObject *tuple, size_t *count) {
  if (Py_EnterRecursiveCall(" of structured tensors") != 0) {
    return NULL;
  }
  Py_ssize_t size = PyTuple_Size(tuple);
  cst_tensor_spec *specs = size < 0 ? NULL : specs_take(r, size, sizeof *specs);
  for (Py_ssize_t i = 0; specs != NULL && i < size; i++) {
    if (spec_of(r, PyTuple_GetItem(tuple, i), &specs[i]) < 0) {
      specs = NULL;
    }
  }
  Py_LeaveRecursiveCall();
  *count = (size_t)(size < 0 ? 0 : size);
  return specs;
}

cst_specs *cst__py_specs_from(cst__py_state *state, PyObject *tuple) {
  reader r = {state, NULL};
  size_t count;
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  const cst_tensor_spec *items = list_of(&r, tuple, &count);
  if (items != NULL && cst_specs_from(items, count, NULL, &specs, &error) != CST_OK) {
    specs = NULL;
    cst__py_raise(state, &error);
  }
  specs_reset(&r);
  return specs;
}
