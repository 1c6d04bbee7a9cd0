/* Tensor: a dense block of a batch's tensors, for the buffer protocol, DLPack, numpy and Arrow.
 *
 * Sources: "The buffer protocol" (PEP 3118); "DLPack" 1.x, the Python specification of __dlpack__.
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/tensor/tensor.h"

typedef struct tensor {
  PyObject_HEAD cst_tensors *owner;
  cst_ndarray array; /* the values are the owner's, and the shape too if there is no other one */
  int64_t *shape;    /* NULL, or another shape of as many values */
  Py_ssize_t *dims;  /* shape, then strides in bytes, for the buffer protocol */
} tensor;

static PyObject *tensor_make(cst__py_state *state, cst_tensors *owner, const cst_ndarray *array) {
  tensor *self = PyObject_New(tensor, state->tensor_type);
  if (self == NULL) {
    return NULL;
  }
  self->owner = cst_tensors_retain(owner);
  self->array = *array;
  self->shape = NULL;
  self->dims = calloc(2 * array->num_dims + 1, sizeof *self->dims);
  if (self->dims == NULL) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  Py_ssize_t stride = (Py_ssize_t)cst_dtype_width(array->dtype);
  for (size_t i = array->num_dims; i-- > 0;) {
    self->dims[i] = (Py_ssize_t)array->shape[i];
    self->dims[array->num_dims + i] = stride;
    stride *= self->dims[i];
  }
  return (PyObject *)self;
}

static void tensor_dealloc(PyObject *object) {
  tensor *self = (tensor *)object;
  cst_tensors_release(self->owner);
  free(self->shape);
  free(self->dims);
  cst__py_free(object);
}

const cst_ndarray *cst__py_tensor_view(cst__py_state *state, PyObject *object) {
  return PyObject_TypeCheck(object, state->tensor_type) ? &((tensor *)object)->array : NULL;
}

/* ---- a batch's tensors as a dict ---- */

static PyObject *splits_list(cst__py_state *state, cst_tensors *owner, const cst_tensor *t) {
  PyObject *list = PyList_New((Py_ssize_t)t->num_splits);
  for (size_t i = 0; list != NULL && i < t->num_splits; i++) {
    PyObject *item = tensor_make(state, owner, &t->splits[i]);
    if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0 || PyErr_CheckSignals() < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* Calls a class with new references; NULL among them is an exception that is set. */
static PyObject *call(PyObject *class, PyObject *a, PyObject *b, PyObject *c) {
  PyObject *result = NULL;
  if (a != NULL && b != NULL && PyErr_Occurred() == NULL) {
    result = PyObject_CallFunctionObjArgs(class, a, b, c, NULL);
  }
  Py_XDECREF(a);
  Py_XDECREF(b);
  Py_XDECREF(c);
  return result;
}

static PyObject *fields_dict(cst__py_state *state, cst_tensors *owner, const cst_tensor *items,
                             size_t count, PyObject *sparse, PyObject *ragged);

static PyObject *tensor_object(cst__py_state *state, cst_tensors *owner, const cst_tensor *t,
                               PyObject *sparse, PyObject *ragged) {
  switch (t->kind) {
    case CST_TENSOR_STRUCTURED:
      return fields_dict(state, owner, t->fields, t->num_fields, sparse, ragged);
    case CST_TENSOR_DENSE:
      return tensor_make(state, owner, &t->values);
    case CST_TENSOR_RAGGED:
      return call(ragged, tensor_make(state, owner, &t->values), splits_list(state, owner, t),
                  NULL);
    default:
      return call(sparse, tensor_make(state, owner, &t->indices),
                  tensor_make(state, owner, &t->values),
                  tensor_make(state, owner, &t->dense_shape));
  }
}

static int put(PyObject *dict, cst__py_state *state, cst_tensors *owner, const cst_tensor *t,
               PyObject *sparse, PyObject *ragged) {
  PyObject *name = PyUnicode_DecodeUTF8(t->name, (Py_ssize_t)strlen(t->name), "surrogateescape");
  PyObject *value = name == NULL ? NULL : tensor_object(state, owner, t, sparse, ragged);
  int result = value == NULL ? -1 : PyDict_SetItem(dict, name, value);
  Py_XDECREF(name);
  Py_XDECREF(value);
  return result;
}

static PyObject *fields_dict(cst__py_state *state, cst_tensors *owner, const cst_tensor *items,
                             size_t count, PyObject *sparse, PyObject *ragged) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict != NULL && i < count; i++) {
    if (put(dict, state, owner, &items[i], sparse, ragged) < 0) {
      Py_CLEAR(dict);
    }
  }
  return dict;
}

PyObject *cst__py_tensors_dict(cst__py_state *state, cst_tensors *tensors, PyObject *sparse,
                               PyObject *ragged) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict != NULL && i < cst_tensors_num_tensors(tensors); i++) {
    if (put(dict, state, tensors, cst_tensors_get(tensors, i), sparse, ragged) < 0) {
      Py_CLEAR(dict);
    }
  }
  cst_tensors_release(tensors);
  return dict;
}

/* ---- another shape ---- */

/* Sizes of dimensions, `count` of them, and their product; -1 with an exception. */
static int read_shape(PyObject *tuple, Py_ssize_t count, int64_t *shape, int64_t *size) {
  *size = 1;
  for (Py_ssize_t i = 0; i < count; i++) {
    shape[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (shape[i] < 0 || __builtin_mul_overflow(*size, shape[i], size)) {
      if (PyErr_Occurred() == NULL) {
        PyErr_SetString(PyExc_ValueError, "a dimension is negative, or they are too large");
      }
      return -1;
    }
  }
  return 0;
}

static PyObject *reshape(PyObject *object, PyObject *tuple) {
  if (!PyTuple_Check(tuple)) {
    PyErr_SetString(PyExc_TypeError, "a shape is a tuple of int");
    return NULL;
  }
  tensor *self = (tensor *)object;
  Py_ssize_t count = PyTuple_Size(tuple);
  int64_t *shape = calloc((size_t)count + 1, sizeof *shape);
  int64_t size;
  if (shape == NULL) {
    return PyErr_NoMemory();
  }
  if (read_shape(tuple, count, shape, &size) < 0) {
    free(shape);
    return NULL;
  }
  if (size != self->array.size) {
    free(shape);
    return PyErr_Format(PyExc_ValueError, "%lld values cannot have the shape %R",
                        (long long)self->array.size, tuple);
  }
  cst_ndarray array = self->array;
  array.num_dims = (size_t)count;
  array.shape = shape;
  tensor *made = (tensor *)tensor_make(cst__py_state_of(object), self->owner, &array);
  if (made == NULL) {
    free(shape);
  } else {
    made->shape = shape;
  }
  return (PyObject *)made;
}

/* ---- attributes ---- */

static PyObject *get_shape(PyObject *object, void *closure) {
  (void)closure;
  const cst_ndarray *array = &((tensor *)object)->array;
  return cst__py_int_tuple(array->shape, array->num_dims);
}

static PyObject *get_dtype(PyObject *object, void *closure) {
  (void)closure;
  return PyUnicode_FromString(cst_dtype_name(((tensor *)object)->array.dtype));
}

static PyObject *get_ndim(PyObject *object, void *closure) {
  (void)closure;
  return PyLong_FromSize_t(((tensor *)object)->array.num_dims);
}

static Py_ssize_t tensor_length(PyObject *object) {
  const cst_ndarray *array = &((tensor *)object)->array;
  if (array->num_dims == 0) {
    PyErr_SetString(PyExc_TypeError, "a tensor without dimensions has no len()");
    return -1;
  }
  return (Py_ssize_t)array->shape[0];
}

/* ---- the buffer protocol ---- */

static const char *buffer_format(cst_dtype dtype) {
  switch (dtype) {
    case CST_DTYPE_INT8:
      return "b";
    case CST_DTYPE_INT16:
      return "h";
    case CST_DTYPE_INT32:
      return "i";
    case CST_DTYPE_INT64:
      return "q";
    case CST_DTYPE_UINT8:
      return "B";
    case CST_DTYPE_UINT16:
      return "H";
    case CST_DTYPE_UINT32:
      return "I";
    case CST_DTYPE_UINT64:
      return "Q";
    case CST_DTYPE_FLOAT32:
      return "f";
    case CST_DTYPE_FLOAT64:
      return "d";
    case CST_DTYPE_BOOL:
      return "?";
    default:
      return NULL;
  }
}

static const char no_numbers[] =
    "a tensor of strings has no numbers to share: use .numpy() for an object array of bytes, or "
    "pyarrow.array(tensor)";

static int tensor_get_buffer(PyObject *object, Py_buffer *view, int flags) {
  tensor *self = (tensor *)object;
  const cst_ndarray *array = &self->array;
  const char *format = buffer_format(array->dtype);
  view->obj = NULL;
  if (format == NULL || (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError,
                    format == NULL ? no_numbers : "tensors are read-only: copy before writing");
    return -1;
  }
  static char nothing[8];
  size_t width = cst_dtype_width(array->dtype);
  view->buf = array->data == NULL ? nothing : (void *)(uintptr_t)array->data;
  view->obj = Py_NewRef(object);
  view->len = (Py_ssize_t)((size_t)array->size * width);
  view->itemsize = (Py_ssize_t)width;
  view->readonly = 1;
  view->ndim = (int)array->num_dims;
  view->format = (flags & PyBUF_FORMAT) ? (char *)(uintptr_t)format : NULL;
  view->shape = (flags & PyBUF_ND) ? self->dims : NULL;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->dims + array->num_dims : NULL;
  view->suboffsets = NULL;
  view->internal = NULL;
  return 0;
}

/* ---- Python and numpy values ---- */

static PyObject *string_at(const cst_ndarray *array, int64_t i) {
  const cst_bytes *s = &array->strings[i];
  return PyBytes_FromStringAndSize((const char *)s->data, (Py_ssize_t)s->size);
}

static PyObject *flat_strings(const cst_ndarray *array) {
  PyObject *list = PyList_New((Py_ssize_t)array->size);
  for (int64_t i = 0; list != NULL && i < array->size; i++) {
    PyObject *item = string_at(array, i);
    if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0 || PyErr_CheckSignals() < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* Nested lists of the strings from *next on. */
static PyObject *nested_strings(const cst_ndarray *array, size_t dim, int64_t *next) {
  if (dim == array->num_dims) {
    return string_at(array, (*next)++);
  }
  PyObject *list = PyList_New((Py_ssize_t)array->shape[dim]);
  for (int64_t i = 0; list != NULL && i < array->shape[dim]; i++) {
    PyObject *item = nested_strings(array, dim + 1, next);
    if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) < 0 || PyErr_CheckSignals() < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject *tolist(PyObject *object, PyObject *unused) {
  (void)unused;
  const cst_ndarray *array = &((tensor *)object)->array;
  if (array->dtype == CST_DTYPE_BYTES) {
    int64_t next = 0;
    return nested_strings(array, 0, &next);
  }
  PyObject *view = PyMemoryView_FromObject(object);
  PyObject *list = view == NULL ? NULL : PyObject_CallMethod(view, "tolist", NULL);
  Py_XDECREF(view);
  return list;
}

/* numpy.empty(n, dtype=object), filled, reshaped. */
static PyObject *numpy_strings(PyObject *numpy, PyObject *object) {
  const cst_ndarray *array = &((tensor *)object)->array;
  PyObject *values = flat_strings(array);
  PyObject *shape = values == NULL ? NULL : get_shape(object, NULL);
  PyObject *flat =
      shape == NULL ? NULL
                    : PyObject_CallMethod(numpy, "empty", "Ls", (long long)array->size, "object");
  PyObject *all = flat == NULL ? NULL : PySlice_New(NULL, NULL, NULL);
  PyObject *result = NULL;
  if (all != NULL && PyObject_SetItem(flat, all, values) == 0) {
    result = PyObject_CallMethod(flat, "reshape", "(O)", shape);
  }
  Py_XDECREF(values);
  Py_XDECREF(shape);
  Py_XDECREF(flat);
  Py_XDECREF(all);
  return result;
}

static PyObject *tensor_to_numpy(PyObject *object, PyObject *unused) {
  (void)unused;
  PyObject *optional = PyImport_ImportModule("columnstone._base.optional");
  PyObject *numpy = optional == NULL ? NULL
                                     : PyObject_CallMethod(optional, "need", "ss", "numpy",
                                                           "a numpy array of a Tensor");
  Py_XDECREF(optional);
  if (numpy == NULL) {
    return NULL;
  }
  PyObject *result;
  if (((tensor *)object)->array.dtype == CST_DTYPE_BYTES) {
    result = numpy_strings(numpy, object);
  } else {
    PyObject *view = PyMemoryView_FromObject(object);
    result = view == NULL ? NULL : PyObject_CallMethod(numpy, "asarray", "O", view);
    Py_XDECREF(view);
  }
  Py_DECREF(numpy);
  return result;
}

/* array.astype(dtype, copy=...) */
static PyObject *as_type(PyObject *array, PyObject *dtype, PyObject *copy) {
  PyObject *method = PyObject_GetAttrString(array, "astype");
  PyObject *args = method == NULL ? NULL : Py_BuildValue("(O)", dtype);
  PyObject *kwargs = args == NULL ? NULL : Py_BuildValue("{s:O}", "copy", copy);
  PyObject *result = kwargs == NULL ? NULL : PyObject_Call(method, args, kwargs);
  Py_XDECREF(method);
  Py_XDECREF(args);
  Py_XDECREF(kwargs);
  return result;
}

static PyObject *dunder_array(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"dtype", "copy", NULL};
  PyObject *dtype = Py_None;
  PyObject *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", names, &dtype, &copy)) {
    return NULL;
  }
  if (copy == Py_False && buffer_format(((tensor *)object)->array.dtype) == NULL) {
    PyErr_SetString(PyExc_ValueError, "strings need a copy, but copy=False was given");
    return NULL;
  }
  PyObject *array = tensor_to_numpy(object, NULL);
  PyObject *old = array == NULL ? NULL : PyObject_GetAttrString(array, "dtype");
  if (old == NULL) {
    Py_XDECREF(array);
    return NULL;
  }
  PyObject *wanted = dtype == Py_None ? old : dtype;
  PyObject *result = as_type(array, wanted, copy == Py_True ? Py_True : Py_False);
  if (result != NULL && result != array && copy == Py_False) {
    Py_CLEAR(result);
    PyErr_SetString(PyExc_ValueError, "another dtype needs a copy, but copy=False was given");
  }
  Py_DECREF(old);
  Py_DECREF(array);
  return result;
}

/* ---- DLPack ---- */

/* What of dlpack.h has to be known to give an unused tensor back: where the deleters are. */
typedef struct dl_tensor {
  void *data;
  struct {
    int32_t device_type;
    int32_t device_id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct dl_managed *);
} dl_managed;

typedef struct dl_managed_versioned {
  uint32_t major;
  uint32_t minor;
  void *context;
  void (*deleter)(struct dl_managed_versioned *);
  uint64_t flags;
  dl_tensor tensor;
} dl_managed_versioned;

/* A consumer renames the capsule and calls the deleter itself. */
static void dlpack_destructor(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    dl_managed_versioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    managed->deleter(managed);
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
    managed->deleter(managed);
  }
}

/* True if max_version, None or (major, minor), allows DLPack 1.0. */
static int wants_versioned(PyObject *max_version) {
  if (max_version == Py_None) {
    return 0;
  }
  long major;
  long minor;
  if (!PyTuple_Check(max_version) || !PyArg_ParseTuple(max_version, "ll", &major, &minor)) {
    PyErr_SetString(PyExc_TypeError, "max_version must be None or a tuple of two int");
    return -1;
  }
  return major >= 1;
}

static bool is_cpu(PyObject *device) {
  long type;
  long id;
  if (device == Py_None) {
    return true;
  }
  if (!PyTuple_Check(device) || !PyArg_ParseTuple(device, "ll", &type, &id)) {
    PyErr_Clear();
    return false;
  }
  return type == 1 && id == 0;
}

static PyObject *dlpack_capsule(tensor *self, bool versioned, bool copy) {
  cst_error error = CST_ERROR_INIT;
  void *managed = NULL;
  cst_status status =
      versioned
          ? cst_ndarray_to_dlpack(&self->array, self->owner, copy, &managed, &error)
          : cst_ndarray_to_dlpack_unversioned(&self->array, self->owner, copy, &managed, &error);
  if (status != CST_OK) {
    return cst__py_raise(cst__py_state_of((PyObject *)self), &error);
  }
  PyObject *capsule =
      PyCapsule_New(managed, versioned ? "dltensor_versioned" : "dltensor", dlpack_destructor);
  if (capsule == NULL && versioned) {
    ((dl_managed_versioned *)managed)->deleter(managed);
  } else if (capsule == NULL) {
    ((dl_managed *)managed)->deleter(managed);
  }
  return capsule;
}

static PyObject *dunder_dlpack(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = Py_None;
  PyObject *max_version = Py_None;
  PyObject *device = Py_None;
  PyObject *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &max_version,
                                   &device, &copy)) {
    return NULL;
  }
  tensor *self = (tensor *)object;
  if (self->array.dtype == CST_DTYPE_BYTES) {
    PyErr_SetString(PyExc_BufferError, no_numbers);
    return NULL;
  }
  if (stream != Py_None || !is_cpu(device)) {
    PyErr_SetString(PyExc_BufferError,
                    "tensors are in CPU memory: stream must be None and dl_device (1, 0)");
    return NULL;
  }
  int versioned = wants_versioned(max_version);
  return versioned < 0 ? NULL : dlpack_capsule(self, versioned != 0, copy == Py_True);
}

static PyObject *dunder_dlpack_device(PyObject *object, PyObject *unused) {
  (void)object;
  (void)unused;
  return Py_BuildValue("(ii)", 1, 0);
}

/* ---- Arrow ---- */

static int to_arrow(PyObject *object, struct ArrowSchema *schema, struct ArrowArray *array) {
  tensor *self = (tensor *)object;
  cst_error error = CST_ERROR_INIT;
  if (cst_ndarray_to_arrow(&self->array, self->owner, schema, array, &error) != CST_OK) {
    cst__py_raise(cst__py_state_of(object), &error);
    return -1;
  }
  return 0;
}

static PyObject *tensor_export_array(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"requested_schema", NULL};
  PyObject *requested = Py_None;
  struct ArrowSchema schema;
  struct ArrowArray array;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_array__", names, &requested) ||
      to_arrow(object, &schema, &array) < 0) {
    return NULL;
  }
  PyObject *schema_capsule = cst__py_schema_capsule(&schema);
  PyObject *array_capsule = cst__py_array_capsule(&array);
  if (schema_capsule == NULL || array_capsule == NULL) {
    Py_XDECREF(schema_capsule);
    Py_XDECREF(array_capsule);
    return NULL;
  }
  return Py_BuildValue("(NN)", schema_capsule, array_capsule);
}

/* ---- copies ---- */

static PyObject *dunder_reduce(PyObject *object, PyObject *unused) {
  (void)unused;
  PyObject *module = PyImport_ImportModule("columnstone._tensor.pickling");
  PyObject *result = module == NULL ? NULL : PyObject_CallMethod(module, "reduce", "O", object);
  Py_XDECREF(module);
  return result;
}

/* Nobody can write to a tensor, so that it can be its own copy. */
static PyObject *copy_of(PyObject *object, PyObject *unused) {
  (void)unused;
  return Py_NewRef(object);
}

static PyObject *shown_by(const char *function, PyObject *object) {
  PyObject *module = PyImport_ImportModule("columnstone._arrow.show");
  PyObject *text = module == NULL ? NULL : PyObject_CallMethod(module, function, "O", object);
  Py_XDECREF(module);
  return text;
}

static PyObject *tensor_repr(PyObject *object) { return shown_by("tensor_text", object); }

static PyObject *tensor_repr_html(PyObject *object, PyObject *unused) {
  (void)unused;
  return shown_by("tensor_html", object);
}

static PyMethodDef methods[] = {
    {"numpy", tensor_to_numpy, METH_NOARGS,
     PyDoc_STR(
         "numpy($self)\n--\n\n"
         "The values as a read-only numpy array with this shape, without a copy; strings as a\n"
         "new object array of bytes.")},
    {"tolist", tolist, METH_NOARGS,
     PyDoc_STR("tolist($self)\n--\n\nThe values as nested lists of int, float or bytes.")},
    {"__array__", (PyCFunction)(void (*)(void))dunder_array, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("__array__($self, dtype=None, copy=None)\n--\n\n"
               "Called by numpy.asarray(tensor).")},
    {"__dlpack__", (PyCFunction)(void (*)(void))dunder_dlpack, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
         "The values for torch.from_dlpack, jax.dlpack.from_dlpack and others, read-only and\n"
         "without a copy; copy=True gives a writable copy. DLPack before 1.0 cannot mark\n"
         "memory as read-only: do not write to it.\n\n"
         "BufferError for strings, and for any device but the CPU.")},
    {"__dlpack_device__", dunder_dlpack_device, METH_NOARGS,
     PyDoc_STR("__dlpack_device__($self)\n--\n\n(1, 0): the CPU.")},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))tensor_export_array,
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("__arrow_c_array__($self, requested_schema=None)\n--\n\n"
               "The values in row-major order as a flat Arrow array: numbers without a copy,\n"
               "strings as large_binary.")},
    {"_repr_html_", tensor_repr_html, METH_NOARGS,
     PyDoc_STR("_repr_html_($self)\n--\n\nA table for notebooks.")},
    {"_reshape", reshape, METH_O,
     PyDoc_STR("_reshape($self, shape, /)\n--\n\n"
               "The same values with another shape.")},
    {"__reduce__", dunder_reduce, METH_NOARGS, NULL},
    {"__copy__", copy_of, METH_NOARGS, NULL},
    {"__deepcopy__", copy_of, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"shape", get_shape, NULL, PyDoc_STR("The dimensions, rows first: a tuple of int."), NULL},
    {"dtype", get_dtype, NULL,
     PyDoc_STR("numpy's name of the element type, such as 'int64'; 'bytes' for strings."), NULL},
    {"ndim", get_ndim, NULL, PyDoc_STR("The number of dimensions."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "A dense block of values in CPU memory, row-major and read-only.\n\n"
     "torch.from_dlpack(tensor), jax.dlpack.from_dlpack(tensor), numpy.asarray(tensor) and\n"
     "memoryview(tensor) share the memory and keep it alive. Do not write to it."},
    {Py_tp_dealloc, tensor_dealloc},
    {Py_tp_repr, tensor_repr},
    {Py_mp_length, tensor_length},
    {Py_bf_getbuffer, tensor_get_buffer},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_tensor_spec = {
    .name = "columnstone.tensor.Tensor",
    .basicsize = sizeof(tensor),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
