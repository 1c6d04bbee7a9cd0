/* The arrays of a batch in one block of memory, which Python provides. */
#include <stdlib.h>

#include "ext/tensor/tensor.h"

/* What an array of the block is taken from. */
typedef struct pack_source {
  Py_buffer head;
  Py_buffer data;
  PyObject *shape;
} pack_source;

typedef struct packing {
  pack_source *sources;
  cst_block_array *arrays;
  Py_ssize_t count;
  size_t size;
} packing;

static void packing_reset(packing *self) {
  for (Py_ssize_t i = 0; self->sources != NULL && i < self->count; i++) {
    PyBuffer_Release(&self->sources[i].head); /* nothing, where there is none */
    PyBuffer_Release(&self->sources[i].data);
    Py_XDECREF(self->sources[i].shape);
  }
  free(self->sources);
  free(self->arrays);
}

/* A C-contiguous buffer; the tuple (data, lengths, shape) of strings; or a Tensor. */
static int pack_open(cst__py_state *state, PyObject *object, pack_source *source,
                     cst_block_array *array) {
  const cst_ndarray *tensor = cst__py_tensor_view(state, object);
  if (tensor != NULL && tensor->dtype == CST_DTYPE_BYTES) {
    cst_error error = CST_ERROR_INIT;
    source->shape = cst__py_int_tuple(tensor->shape, tensor->num_dims);
    if (cst_block_array_init(array, tensor, &error) != CST_OK) {
      cst__py_raise(state, &error);
      return -1;
    }
    return source->shape == NULL ? -1 : 0;
  }
  if (PyTuple_Check(object)) {
    if (!PyArg_ParseTuple(object, "y*y*O!", &source->data, &source->head, &PyTuple_Type,
                          &source->shape)) {
      return -1;
    }
    Py_INCREF(source->shape);
  } else {
    if (PyObject_GetBuffer(object, &source->head, PyBUF_ND) < 0) {
      return -1;
    }
    _Static_assert(sizeof *source->head.shape == sizeof(int64_t), "Py_ssize_t has 64 bits");
    source->shape =
        cst__py_int_tuple((const int64_t *)source->head.shape, (size_t)source->head.ndim);
  }
  *array = (cst_block_array){.head = source->head.buf,
                             .head_size = (size_t)source->head.len,
                             .data = source->data.buf,
                             .data_size = (size_t)source->data.len};
  return source->shape == NULL ? -1 : 0;
}

static int packing_open(packing *self, cst__py_state *state, PyObject *arrays) {
  Py_ssize_t count = PyTuple_Size(arrays);
  self->sources = calloc((size_t)count + 1, sizeof *self->sources);
  self->arrays = calloc((size_t)count + 1, sizeof *self->arrays);
  if (self->sources == NULL || self->arrays == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  while (self->count < count) {
    Py_ssize_t i = self->count++;
    if (pack_open(state, PyTuple_GetItem(arrays, i), &self->sources[i], &self->arrays[i]) < 0) {
      return -1;
    }
  }
  cst_error error = CST_ERROR_INIT;
  if (cst_block_plan(self->arrays, (size_t)count, &self->size, &error) != CST_OK) {
    cst__py_raise(state, &error);
    return -1;
  }
  return 0;
}

/* Copies all into the memory, which has to have room for it. */
static int packing_copy(const packing *self, cst__py_state *state, PyObject *memory) {
  Py_buffer out;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (PyObject_GetBuffer(memory, &out, PyBUF_WRITABLE) < 0) {
    return -1;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_block_fill(self->arrays, (size_t)self->count, out.buf, (size_t)out.len, &error);
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&out);
  if (status != CST_OK) {
    cst__py_raise(state, &error);
  }
  return status == CST_OK ? 0 : -1;
}

static PyObject *places_list(const packing *self) {
  PyObject *list = PyList_New(self->count);
  for (Py_ssize_t i = 0; list != NULL && i < self->count; i++) {
    const cst_block_array *array = &self->arrays[i];
    PyObject *place = Py_BuildValue("(nOn)", (Py_ssize_t)array->offset, self->sources[i].shape,
                                    (Py_ssize_t)array->data_size);
    if (place == NULL || PyList_SetItem(list, i, place) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

PyObject *cst__py_pack_arrays(PyObject *module, PyObject *args) {
  PyObject *arrays; /* keeps all that is copied */
  PyObject *room;
  if (!PyArg_ParseTuple(args, "O!O:pack_arrays", &PyTuple_Type, &arrays, &room)) {
    return NULL;
  }
  cst__py_state *state = PyModule_GetState(module);
  packing self = {NULL, NULL, 0, 0};
  PyObject *memory = NULL;
  PyObject *places = NULL;
  if (packing_open(&self, state, arrays) == 0) {
    memory = PyObject_CallFunction(room, "n", (Py_ssize_t)self.size);
  }
  if (memory != NULL && packing_copy(&self, state, memory) == 0) {
    places = places_list(&self);
  }
  Py_XDECREF(memory);
  packing_reset(&self);
  return places;
}
