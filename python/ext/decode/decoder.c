/* Decoder: serialized records, as a sequence of bytes or as Arrow, to a RecordBatch. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/decode/decode.h"
#include "ext/table/table.h"

typedef struct decoder_object {
  PyObject_HEAD cst_decoder *decoder;
  PyObject *arrow_schema; /* NULL: every batch has a schema of its own */
  cst__py_lock lock;
} decoder_object;

/* ---- making them ---- */

static int decoder_ask_schema(decoder_object *self, cst__py_state *state) {
  cst_error error = CST_ERROR_INIT;
  struct ArrowSchema arrow_schema;
  cst_status status = cst_decoder_arrow_schema(self->decoder, &arrow_schema, &error);
  if (status == CST_OK) {
    self->arrow_schema = cst__py_arrow_schema_new(state, &arrow_schema);
    return self->arrow_schema != NULL ? 0 : -1;
  }
  if (status != CST_STATE) {
    cst__py_raise(state, &error);
  }
  return status == CST_STATE ? 0 : -1;
}

/* (payload, schema, columns, flags, message options, options of the format) */
static PyObject *decoder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  cst__py_state *state = PyType_GetModuleState(type);
  cst_decode_options options = CST_DECODE_OPTIONS_INIT;
  const char *payload;
  PyObject *schema, *columns, *message, *given;
  cst__py_codec codec;
  cst__py_names names;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "sOOIOO!:Decoder", &payload, &schema, &columns, &options.flags,
                        &message, &PyTuple_Type, &given) ||
      cst__py_codec_init(&codec, state, schema, message, given) < 0) {
    return NULL;
  }
  if (cst__py_names_init(&names, columns) < 0) {
    cst__py_codec_reset(&codec);
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_OK;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  decoder_object *self = (decoder_object *)allocate(type, 0);
  if (self != NULL) {
    options.columns = names.names;
    options.num_columns = names.count;
    options.schema = codec.schema;
    options.message = cst__py_message_view(&codec.message);
    options.options = codec.options.options;
    options.num_options = codec.options.count;
    status = cst_decoder_new(payload, &options, &self->decoder, &error);
  }
  cst__py_names_reset(&names);
  cst__py_codec_reset(&codec);
  if (status != CST_OK) {
    cst__py_raise(state, &error);
  }
  if (self != NULL && (status != CST_OK || decoder_ask_schema(self, state) < 0 ||
                       cst__py_lock_init(&self->lock) < 0)) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

static void decoder_dealloc(PyObject *object) {
  decoder_object *self = (decoder_object *)object;
  cst_decoder_free(self->decoder);
  cst__py_lock_reset(&self->lock);
  Py_XDECREF(self->arrow_schema);
  cst__py_free(object);
}

/* ---- decoding ---- */

static PyObject *decoder_finish(decoder_object *self, cst_status status, struct ArrowSchema *schema,
                                struct ArrowArray *batch, const cst_error *error) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  if (status != CST_OK) {
    return cst__py_raise(state, error);
  }
  if (self->arrow_schema != NULL) {
    return cst__py_batch_new(state, self->arrow_schema, batch);
  }
  PyObject *own = cst__py_arrow_schema_new(state, schema);
  if (own == NULL) {
    batch->release(batch);
    return NULL;
  }
  PyObject *result = cst__py_batch_new(state, own, batch);
  Py_DECREF(own);
  return result;
}

static PyObject *decode_sequence(decoder_object *self, PyObject *sequence) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  cst__py_records r;
  if (cst__py_records_init(&r, sequence) < 0) {
    return NULL;
  }
  if (cst__py_lock_enter(&self->lock, state, "decoder") < 0) {
    cst__py_records_reset(&r);
    return NULL;
  }
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_decoder_decode(self->decoder, r.bytes, (size_t)r.count,
                              self->arrow_schema == NULL ? &schema : NULL, &batch, &error);
  Py_END_ALLOW_THREADS
  cst__py_lock_leave(&self->lock);
  cst__py_records_reset(&r);
  return decoder_finish(self, status, &schema, &batch, &error);
}

static PyObject *decode_arrow(decoder_object *self, PyObject *object) {
  struct ArrowSchema in_schema;
  struct ArrowArray in;
  if (cst__py_import_array(object, &in_schema, &in) < 0) {
    return NULL;
  }
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_STATE;
  bool entered =
      cst__py_lock_enter(&self->lock, cst__py_state_of((PyObject *)self), "decoder") == 0;
  Py_BEGIN_ALLOW_THREADS
  if (entered) {
    status = cst_decoder_decode_arrow(self->decoder, &in_schema, &in,
                                      self->arrow_schema == NULL ? &schema : NULL, &batch, &error);
  }
  in_schema.release(&in_schema);
  if (in.release != NULL) {
    in.release(&in);
  }
  Py_END_ALLOW_THREADS
  if (!entered) {
    return NULL;
  }
  cst__py_lock_leave(&self->lock);
  return decoder_finish(self, status, &schema, &batch, &error);
}

/* ---- a stream ---- */

/* Decodes a stream whole: one chunk (the usual) without a copy, several as one. */
static PyObject *decode_stream(decoder_object *self, PyObject *object) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  PyObject *chunks = cst__py_table_read_stream(state, object, false);
  PyObject *all = NULL;
  if (chunks != NULL && PyList_Size(chunks) == 1) {
    all = Py_NewRef(PyList_GetItem(chunks, 0));
  } else if (chunks != NULL) {
    PyObject *tuple = PyList_AsTuple(chunks);
    all = tuple == NULL ? NULL : cst__py_table_join(state, tuple);
    Py_XDECREF(tuple);
  }
  Py_XDECREF(chunks);
  PyObject *result = all == NULL ? NULL : decode_arrow(self, all);
  Py_XDECREF(all);
  return result;
}

/* Any iterable but one that is a record or a mapping itself. */
static PyObject *decode_iterable(decoder_object *self, PyObject *input) {
  bool one_record = PyObject_CheckBuffer(input) || PyUnicode_Check(input);
  PyObject *iterator = one_record || PyDict_Check(input) ? NULL : PyObject_GetIter(input);
  if (iterator != NULL) {
    PyObject *batch = decode_sequence(self, iterator);
    Py_DECREF(iterator);
    return batch;
  }
  if (PyErr_Occurred() == NULL || PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    PyObject *name = PyType_GetName(Py_TYPE(input));
    PyErr_Format(PyExc_TypeError, "decode() takes a list of bytes or an Arrow binary array, not %U",
                 name);
    Py_XDECREF(name);
  }
  return NULL;
}

static PyObject *decode(PyObject *object, PyObject *input) {
  decoder_object *self = (decoder_object *)object;
  if (PyList_Check(input) || PyTuple_Check(input)) {
    return decode_sequence(self, input);
  }
  int is_arrow = cst__py_has(input, "__arrow_c_array__");
  if (is_arrow < 0) {
    return NULL;
  }
  int is_stream = is_arrow ? 0 : cst__py_has(input, "__arrow_c_stream__");
  if (is_stream < 0) {
    return NULL;
  }
  if (is_stream) {
    return decode_stream(self, input);
  }
  return is_arrow ? decode_arrow(self, input) : decode_iterable(self, input);
}

static PyObject *decoder_get_arrow_schema(PyObject *object, void *closure) {
  (void)closure;
  PyObject *schema = ((decoder_object *)object)->arrow_schema;
  return Py_NewRef(schema == NULL ? Py_None : schema);
}

static PyMethodDef methods[] = {
    {"decode", decode, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"arrow_schema", decoder_get_arrow_schema, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, "The core of columnstone.codec.Decoder."},
    {Py_tp_new, decoder_new},
    {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};
PyType_Spec cst__py_decoder_spec = {
    .name = "columnstone._core.Decoder",
    .basicsize = sizeof(decoder_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = decoder_slots,
};
