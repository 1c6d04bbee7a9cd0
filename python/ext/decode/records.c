/* Serialized records as a sequence of Python's: bytes, and whatever else is a buffer. */
#include <stdlib.h>

#include "ext/decode/decode.h"
#include "ext/schema/schema.h"

enum { AHEAD = 16 }; /* objects, which lie anywhere in memory, that are asked for ahead of need */

/* Begins to load the size of an object that comes later. It often lies in the cache line after that
 * of the reference count, which the tuple has touched. */
static void fetch_size(PyObject *item) { __builtin_prefetch(&((PyVarObject *)item)->ob_size); }

void cst__py_records_reset(cst__py_records *r) {
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

int cst__py_records_init(cst__py_records *r, PyObject *sequence) {
  *r = (cst__py_records){.items = PySequence_Tuple(sequence)};
  if (r->items == NULL) {
    return -1;
  }
  r->count = PyTuple_Size(r->items);
  r->bytes = malloc(((size_t)r->count + 1) * sizeof *r->bytes);
  int result = r->bytes == NULL ? -1 : 0;
  if (r->bytes == NULL) {
    PyErr_NoMemory();
  }
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
