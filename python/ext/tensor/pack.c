/* The arrays of a batch in one block of memory: how they cross from one process to another, each
 * byte copied once.
 */
#include <stdlib.h>

#include "ext/tensor/tensor.h"

static const size_t alignment = 64;

/* One array: a head, and for strings the bytes after it. */
typedef struct pack_item {
  Py_buffer head;             /* numbers, or the lengths of strings that are joined already */
  Py_buffer data;             /* their bytes */
  const cst_ndarray *strings; /* of a Tensor; else NULL */
  const uint8_t *joined;      /* its strings lie one after the other, from here on; or NULL */
  PyObject *shape;
  size_t offset;
  size_t head_size;
  size_t data_size;
} pack_item;

typedef struct packing {
  pack_item *items;
  Py_ssize_t count;
  size_t size;
} packing;

static void packing_reset(packing *self) {
  for (Py_ssize_t i = 0; i < self->count; i++) {
    PyBuffer_Release(&self->items[i].head); /* nothing, where there is none */
    PyBuffer_Release(&self->items[i].data);
    Py_XDECREF(self->items[i].shape);
  }
  free(self->items);
}

/* ---- what there is to copy ---- */

/* How many bytes the strings have, and whether they lie one after the other. */
static int measure_strings(pack_item *item) {
  const cst_ndarray *array = item->strings;
  const uint8_t *end = NULL;
  size_t breaks = 0;
  for (int64_t i = 0; i < array->size; i++) {
    const cst_bytes *s = &array->strings[i];
    if (s->size == 0) {
      continue;
    }
    if (s->data != end) {
      item->joined = breaks++ == 0 ? s->data : NULL;
    }
    end = s->data + s->size;
    if (__builtin_add_overflow(item->data_size, s->size, &item->data_size)) {
      PyErr_NoMemory();
      return -1;
    }
  }
  item->head_size = (size_t)array->size * sizeof(int64_t);
  return 0;
}

/* A C-contiguous buffer; the tuple (data, lengths, shape) of strings; or a Tensor. */
static int pack_item_open(pack_item *item, cst__py_state *state, PyObject *object) {
  const cst_ndarray *tensor = cst__py_tensor_view(state, object);
  if (tensor != NULL && tensor->dtype == CST_DTYPE_BYTES) {
    item->strings = tensor;
    item->shape = cst__py_int_tuple(tensor->shape, tensor->num_dims);
    return item->shape == NULL ? -1 : measure_strings(item);
  }
  if (PyTuple_Check(object)) {
    if (!PyArg_ParseTuple(object, "y*y*O!", &item->data, &item->head, &PyTuple_Type,
                          &item->shape)) {
      return -1;
    }
    Py_INCREF(item->shape);
    item->data_size = (size_t)item->data.len;
  } else {
    if (PyObject_GetBuffer(object, &item->head, PyBUF_ND) < 0) {
      return -1;
    }
    _Static_assert(sizeof *item->head.shape == sizeof(int64_t), "Py_ssize_t has 64 bits");
    item->shape = cst__py_int_tuple((const int64_t *)item->head.shape, (size_t)item->head.ndim);
  }
  item->head_size = (size_t)item->head.len;
  return item->shape == NULL ? -1 : 0;
}

/* Where an array lies: after those before it. */
static int pack_item_place(pack_item *item, size_t *size) {
  size_t end;
  item->offset = *size;
  if (__builtin_add_overflow(item->head_size, item->data_size, &end) ||
      __builtin_add_overflow(end, *size, &end) || end > PY_SSIZE_T_MAX - alignment) {
    PyErr_NoMemory();
    return -1;
  }
  *size = (end + alignment - 1) / alignment * alignment;
  return 0;
}

static int packing_open(packing *self, cst__py_state *state, PyObject *arrays) {
  Py_ssize_t count = PyTuple_Size(arrays);
  self->items = calloc((size_t)count + 1, sizeof *self->items);
  if (self->items == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  while (self->count < count) {
    pack_item *item = &self->items[self->count];
    PyObject *object = PyTuple_GetItem(arrays, self->count++);
    if (pack_item_open(item, state, object) < 0 || pack_item_place(item, &self->size) < 0) {
      return -1;
    }
  }
  return 0;
}

/* ---- copying ---- */

static void copy_strings(const pack_item *item, char *out) {
  const cst_ndarray *array = item->strings;
  for (int64_t i = 0; i < array->size; i++) {
    int64_t length = (int64_t)array->strings[i].size;
    memcpy(out + (size_t)i * sizeof length, &length, sizeof length);
  }
  out += item->head_size;
  if (item->joined != NULL) {
    memcpy(out, item->joined, item->data_size);
    return;
  }
  for (int64_t i = 0; i < array->size; i++) {
    const cst_bytes *s = &array->strings[i];
    if (s->size > 0) {
      memcpy(out, s->data, s->size);
      out += s->size;
    }
  }
}

static void pack_item_copy(const pack_item *item, char *out) {
  if (item->strings != NULL) {
    copy_strings(item, out);
    return;
  }
  if (item->head_size > 0) {
    memcpy(out, item->head.buf, item->head_size);
  }
  if (item->data_size > 0) {
    memcpy(out + item->head_size, item->data.buf, item->data_size);
  }
}

/* Copies all into the memory, which has to have room for it. */
static int packing_copy(const packing *self, PyObject *memory) {
  Py_buffer out;
  if (PyObject_GetBuffer(memory, &out, PyBUF_WRITABLE) < 0) {
    return -1;
  }
  int result = 0;
  if ((size_t)out.len < self->size) {
    PyErr_SetString(PyExc_ValueError, "the memory is too small");
    result = -1;
  } else {
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < self->count; i++) {
      pack_item_copy(&self->items[i], (char *)out.buf + self->items[i].offset);
    }
    Py_END_ALLOW_THREADS
  }
  PyBuffer_Release(&out);
  return result;
}

/* ---- the function ---- */

static PyObject *places_list(const packing *self) {
  PyObject *list = PyList_New(self->count);
  for (Py_ssize_t i = 0; list != NULL && i < self->count; i++) {
    const pack_item *item = &self->items[i];
    PyObject *place =
        Py_BuildValue("(nOn)", (Py_ssize_t)item->offset, item->shape, (Py_ssize_t)item->data_size);
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
  packing self = {NULL, 0, 0};
  PyObject *memory = NULL;
  PyObject *places = NULL;
  if (packing_open(&self, PyModule_GetState(module), arrays) == 0) {
    memory = PyObject_CallFunction(room, "n", (Py_ssize_t)self.size);
  }
  if (memory != NULL && packing_copy(&self, memory) == 0) {
    places = places_list(&self);
  }
  Py_XDECREF(memory);
  packing_reset(&self);
  return places;
}
