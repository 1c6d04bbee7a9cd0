/* Tensors that Python gives, of this package and of others, as tuples that _tensor/encoder.py makes
 * of them.
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/tensor/tensor.h"

/* Memory, buffers and arrays that the tensors of one call point to. */
typedef struct cst__py_given_block {
  struct cst__py_given_block *next;
  Py_buffer buffer;          /* obj NULL: none */
  struct ArrowArray strings; /* release NULL: none */
} block;

typedef cst__py_given reader;

/* A block with room for `count` items after it; NULL with an exception. */
static block *new_block(reader *r, Py_ssize_t count, size_t size) {
  block *b = calloc(1, sizeof *b + ((size_t)count + 1) * size);
  if (b == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  b->next = r->blocks;
  r->blocks = b;
  return b;
}

static void *given_take(reader *r, Py_ssize_t count, size_t size) {
  block *b = new_block(r, count, size);
  return b == NULL ? NULL : b + 1;
}

void cst__py_given_reset(cst__py_given *r) {
  while (r->blocks != NULL) {
    block *b = r->blocks;
    r->blocks = b->next;
    if (b->buffer.obj != NULL) {
      PyBuffer_Release(&b->buffer);
    }
    if (b->strings.release != NULL) {
      b->strings.release(&b->strings);
    }
    free(b);
  }
}

/* The type of a buffer's items; NONE with an exception for what is not a number of a native kind.
 */
static cst_dtype given_dtype_of(reader *r, const Py_buffer *buffer) {
  static const cst_dtype integers[] = {CST_DTYPE_INT8, CST_DTYPE_INT16, CST_DTYPE_INT32,
                                       CST_DTYPE_INT64};
  static const cst_dtype naturals[] = {CST_DTYPE_UINT8, CST_DTYPE_UINT16, CST_DTYPE_UINT32,
                                       CST_DTYPE_UINT64};
  const char *format = buffer->format == NULL ? "B" : buffer->format;
  const char *letter = *format == '@' || *format == '=' || *format == '<' ? format + 1 : format;
  int log = buffer->itemsize == 1   ? 0
            : buffer->itemsize == 2 ? 1
            : buffer->itemsize == 4 ? 2
            : buffer->itemsize == 8 ? 3
                                    : -1;
  if (log >= 0 && letter[0] != '\0' && letter[1] == '\0') {
    if (strchr("bhilqn", letter[0]) != NULL) {
      return integers[log];
    }
    if (strchr("BHILQN", letter[0]) != NULL) {
      return naturals[log];
    }
    if (letter[0] == '?' && log == 0) {
      return CST_DTYPE_BOOL;
    }
    if ((letter[0] == 'f' && log == 2) || (letter[0] == 'd' && log == 3)) {
      return log == 2 ? CST_DTYPE_FLOAT32 : CST_DTYPE_FLOAT64;
    }
  }
  cst__py_fail(r->state, CST_UNSUPPORTED, "cast it to integers, float32, float64 or bool",
               "an array of the type '%.20s'", format);
  return CST_DTYPE_NONE;
}

/* An array of numbers, which exports a buffer in row-major order. */
static int read_numbers(reader *r, PyObject *object, cst_ndarray *out) {
  block *b = new_block(r, 0, 0);
  if (b == NULL || PyObject_GetBuffer(object, &b->buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) {
    return -1;
  }
  const Py_buffer *buffer = &b->buffer;
  int64_t *shape = given_take(r, buffer->ndim, sizeof *shape);
  out->dtype = shape == NULL ? CST_DTYPE_NONE : given_dtype_of(r, buffer);
  if (out->dtype == CST_DTYPE_NONE) {
    return -1;
  }
  if ((uintptr_t)buffer->buf % (size_t)buffer->itemsize != 0) {
    cst__py_fail(r->state, CST_UNSUPPORTED, "copy it", "an array that is not aligned to its items");
    return -1;
  }
  for (int i = 0; i < buffer->ndim; i++) {
    shape[i] = (int64_t)buffer->shape[i];
  }
  out->num_dims = (size_t)buffer->ndim;
  out->shape = shape;
  out->size = (int64_t)(buffer->len / buffer->itemsize);
  out->data = buffer->buf;
  return 0;
}

static int fill_from_list(PyObject *list, cst_bytes *strings, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *item = PyList_GetItem(list, i);
    char *bytes;
    Py_ssize_t size;
    if (item == NULL || PyBytes_AsStringAndSize(item, &bytes, &size) < 0) {
      return -1;
    }
    strings[i] = (cst_bytes){(const uint8_t *)bytes, (size_t)size};
  }
  return 0;
}

/* The strings of one of our own Tensors, which come as large_binary without nulls. */
static cst_bytes *read_own_strings(reader *r, PyObject *object, Py_ssize_t *count) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  if (Py_TYPE(object) != r->state->tensor_type) {
    PyErr_SetString(PyExc_TypeError, "strings are a list of bytes or a Tensor here");
    return NULL;
  }
  if (cst__py_import_array(object, &schema, &array) < 0) {
    return NULL;
  }
  bool is_binary = strcmp(schema.format, "Z") == 0;
  schema.release(&schema);
  block *b = is_binary ? new_block(r, (Py_ssize_t)array.length, sizeof(cst_bytes)) : NULL;
  if (b == NULL) {
    array.release(&array);
    if (!is_binary) {
      PyErr_SetString(PyExc_TypeError, "a Tensor of numbers has no strings");
    }
    return NULL;
  }
  cst_bytes *strings = (cst_bytes *)(void *)(b + 1);
  const int64_t *offsets = array.buffers[1];
  const uint8_t *data = array.buffers[2];
  b->strings = array;
  *count = (Py_ssize_t)array.length;
  for (Py_ssize_t i = 0; i < *count; i++) {
    strings[i] = (cst_bytes){data + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
  }
  return strings;
}

/* (shape, list of bytes), or (shape, Tensor) */
static int read_strings(reader *r, PyObject *tuple, cst_ndarray *out) {
  PyObject *dims;
  PyObject *values;
  if (!PyArg_ParseTuple(tuple, "O!O:strings", &PyTuple_Type, &dims, &values)) {
    return -1;
  }
  Py_ssize_t num_dims = PyTuple_Size(dims);
  int64_t *shape = given_take(r, num_dims, sizeof *shape);
  for (Py_ssize_t i = 0; shape != NULL && i < num_dims; i++) {
    shape[i] = PyLong_AsLongLong(PyTuple_GetItem(dims, i));
  }
  if (shape == NULL || PyErr_Occurred() != NULL) {
    return -1;
  }
  Py_ssize_t count = 0;
  cst_bytes *strings;
  if (!PyList_Check(values)) {
    strings = read_own_strings(r, values, &count);
  } else {
    count = PyList_Size(values);
    strings = given_take(r, count, sizeof *strings);
    if (strings != NULL && fill_from_list(values, strings, count) < 0) {
      return -1;
    }
  }
  *out = (cst_ndarray){.dtype = CST_DTYPE_BYTES,
                       .num_dims = (size_t)num_dims,
                       .shape = shape,
                       .size = (int64_t)count,
                       .strings = strings};
  return strings == NULL ? -1 : 0;
}

static int read_array(reader *r, PyObject *object, cst_ndarray *out) {
  if (object == Py_None) {
    return 0;
  }
  return PyTuple_Check(object) ? read_strings(r, object, out) : read_numbers(r, object, out);
}

static int read_splits(reader *r, PyObject *tuple, cst_tensor *out) {
  Py_ssize_t count = PyTuple_Size(tuple);
  cst_ndarray *splits = count < 0 ? NULL : given_take(r, count, sizeof *splits);
  for (Py_ssize_t i = 0; splits != NULL && i < count; i++) {
    if (read_array(r, PyTuple_GetItem(tuple, i), &splits[i]) < 0) {
      return -1;
    }
  }
  out->splits = splits;
  out->num_splits = (size_t)(count < 0 ? 0 : count);
  return splits == NULL ? -1 : 0;
}

static cst_tensor_kind given_kind_of(const char *text) {
  return strcmp(text, "dense") == 0    ? CST_TENSOR_DENSE
         : strcmp(text, "sparse") == 0 ? CST_TENSOR_SPARSE
         : strcmp(text, "ragged") == 0 ? CST_TENSOR_RAGGED
                                       : CST_TENSOR_STRUCTURED;
}

/* (name, kind, values, indices, dense_shape, splits, fields); arrays may be None */
static int read_tensor(reader *r, PyObject *tuple, cst_tensor *out) {
  PyObject *name, *values, *indices, *dense_shape, *splits, *fields;
  const char *kind;
  Py_ssize_t size;
  if (!PyTuple_Check(tuple) ||
      !PyArg_ParseTuple(tuple, "UsOOOO!O!:tensor", &name, &kind, &values, &indices, &dense_shape,
                        &PyTuple_Type, &splits, &PyTuple_Type, &fields)) {
    if (PyErr_Occurred() == NULL) {
      PyErr_SetString(PyExc_TypeError, "a tensor is a tuple here");
    }
    return -1;
  }
  out->name = PyUnicode_AsUTF8AndSize(name, &size);
  out->kind = given_kind_of(kind);
  if (out->name != NULL && strlen(out->name) != (size_t)size) {
    PyErr_SetString(PyExc_ValueError, "a tensor's name holds a NUL character");
    return -1;
  }
  if (out->name == NULL || read_array(r, values, &out->values) < 0 ||
      read_array(r, indices, &out->indices) < 0 ||
      read_array(r, dense_shape, &out->dense_shape) < 0 || read_splits(r, splits, out) < 0) {
    return -1;
  }
  out->fields = cst__py_given_read(r, fields, &out->num_fields);
  return out->fields == NULL ? -1 : 0;
}

cst_tensor *cst__py_given_read(cst__py_given *r, PyObject *tuple, size_t *count) {
  Py_ssize_t size = PyTuple_Size(tuple);
  if (size < 0 || Py_EnterRecursiveCall(" of structured tensors") != 0) {
    return NULL;
  }
  cst_tensor *tensors = given_take(r, size, sizeof *tensors);
  for (Py_ssize_t i = 0; tensors != NULL && i < size; i++) {
    if (read_tensor(r, PyTuple_GetItem(tuple, i), &tensors[i]) < 0) {
      tensors = NULL;
    }
  }
  Py_LeaveRecursiveCall();
  *count = (size_t)size;
  return tensors;
}
