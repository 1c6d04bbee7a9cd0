/* Serialized records as a sequence of Python's: bytes, and whatever else is a buffer. */
#include <stdlib.h>

#include "ext/decode/decode.h"
#include "ext/schema/schema.h"

enum { AHEAD = 16 }; /* objects, which lie anywhere in memory, that are asked for ahead of need */

/* Begins to load the size of an object that comes later. It often lies in the cache line after that
 * of the reference count, which the tuple has touched. */
static void fetch_size(PyObject *item) { __builtin_prefetch(&((PyVarObject *)item)->ob_size); }

static PyObject *object_of(const cst__py_records *r, Py_ssize_t i) {
  return (PyObject *)(uintptr_t)(r->bytes[i].data - r->data_offset);
}

static void release_objects(cst__py_records *r, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; i++) {
    Py_DECREF(object_of(r, i));
  }
  r->data_offset = 0;
}

void cst__py_records_reset(cst__py_records *r) {
  if (r->data_offset != 0) {
    release_objects(r, r->count);
  }
  for (Py_ssize_t i = 0; i < r->num_buffers; i++) {
    PyBuffer_Release(&r->buffers[i]);
  }
  free(r->buffers);
  free(r->bytes);
  Py_XDECREF(r->items);
}

static int records_add_buffer(cst__py_records *r, Py_ssize_t i, PyObject *item) {
  if (r->buffers == NULL) {
    r->buffers = calloc((size_t)(r->count - i), sizeof *r->buffers);
  }
  if (r->buffers == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  Py_buffer *view = &r->buffers[r->num_buffers];
  if (PyUnicode_Check(item) || !PyObject_CheckBuffer(item)) {
    PyObject *name = PyType_GetName(Py_TYPE(item));
    bool is_message = PyObject_HasAttrString(item, "SerializeToString");
    PyErr_Format(PyExc_TypeError, "records[%zd] is %U, not bytes%s", i, name,
                 is_message ? " (its SerializeToString() gives them)" : "");
    Py_XDECREF(name);
    return -1;
  }
  if (PyObject_GetBuffer(item, view, PyBUF_SIMPLE) < 0) {
    return -1;
  }
  r->num_buffers++;
  r->bytes[i] = (cst_bytes){view->buf, (size_t)view->len};
  return 0;
}

static int records_add(cst__py_records *r, Py_ssize_t i) {
  PyObject *item = PyTuple_GetItem(r->items, i);
  if (PyBytes_CheckExact(item)) { /* what is derived from bytes is a buffer */
    r->bytes[i] = (cst_bytes){(const uint8_t *)PyBytes_AsString(item), (size_t)Py_SIZE(item)};
    return 0;
  }
  return records_add_buffer(r, i, item);
}

static int take_room(cst__py_records *r) {
  r->bytes = malloc(((size_t)r->count + 1) * sizeof *r->bytes);
  if (r->bytes == NULL) {
    PyErr_NoMemory();
  }
  return r->bytes == NULL ? -1 : 0;
}

/* A list of nothing but bytes, which is what nearly all give: held object by object, without a
 * tuple. 1: it is one; 0: not; -1 with an exception. No code of Python's runs meanwhile. */
static int records_of_list(cst__py_records *r, PyObject *list) {
  enum { PART = 32 };
  r->count = PyList_Size(list);
  if (r->count == 0 || !PyBytes_CheckExact(PyList_GetItem(list, 0))) {
    return 0;
  }
  if (take_room(r) < 0) {
    return -1;
  }
  PyObject *first = PyList_GetItem(list, 0);
  ptrdiff_t data_offset = PyBytes_AsString(first) - (const char *)first; /* the same in all */
  for (Py_ssize_t begin = 0; begin < r->count; begin += PART) {
    PyObject *items[PART];
    Py_ssize_t count = r->count - begin < PART ? r->count - begin : PART;
    for (Py_ssize_t i = 0; i < count; i++) {
      items[i] = PyList_GetItem(list, begin + i);
      __builtin_prefetch(items[i], 1);
      fetch_size(items[i]);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
      if (!PyBytes_CheckExact(items[i])) {
        r->data_offset = data_offset;
        release_objects(r, begin + i);
        free(r->bytes);
        r->bytes = NULL;
        return 0;
      }
      r->bytes[begin + i] =
          (cst_bytes){(const uint8_t *)items[i] + data_offset, (size_t)Py_SIZE(items[i])};
      Py_INCREF(items[i]);
    }
  }
  r->data_offset = data_offset;
  return 1;
}

int cst__py_records_init(cst__py_records *r, PyObject *sequence) {
  *r = (cst__py_records){0};
  int is_done = PyList_CheckExact(sequence) ? records_of_list(r, sequence) : 0;
  if (is_done != 0) {
    return is_done < 0 ? -1 : 0;
  }
  r->items = PySequence_Tuple(sequence);
  if (r->items == NULL) {
    return -1;
  }
  r->count = PyTuple_Size(r->items);
  int result = take_room(r);
  for (Py_ssize_t i = 0; result == 0 && i < r->count; i++) {
    if (r->count - i > AHEAD) {
      fetch_size(PyTuple_GetItem(r->items, i + AHEAD));
    }
    result = records_add(r, i);
  }
  if (result < 0) {
    cst__py_records_reset(r);
  }
  return result;
}

/* ---- what decoders and encoders are told alike ---- */

int cst__py_codec_init(cst__py_codec *codec, cst__py_state *state, PyObject *schema,
                       PyObject *message, PyObject *options) {
  if (cst__py_schema_arg(state, schema, &codec->schema) < 0 ||
      cst__py_message_init(&codec->message, state, message) < 0) {
    return -1;
  }
  return cst__py_option_list_init(&codec->options, options);
}

void cst__py_codec_reset(cst__py_codec *codec) { cst__py_option_list_reset(&codec->options); }
