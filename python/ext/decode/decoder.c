/* ExampleDecoder, SequenceExampleDecoder and MessageDecoder: serialized records, as a sequence of
 * bytes or as Arrow, to a RecordBatch. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/decode/decode.h"
#include "ext/message/message.h"
#include "ext/schema/schema.h"
#include "ext/table/table.h"

/* What a decoder is made from. */
typedef struct settings {
  const cst_schema *schema;           /* of examples; NULL: none */
  const cst_message_options *message; /* of messages */
  cst__py_names columns;
  uint32_t flags;
  const char *sequence_column; /* NULL: the usual one */
} settings;

/* The functions for one kind of record. */
typedef struct decoder_kind {
  cst_status (*create)(const settings *set, void **out, cst_error *error);
  void (*free)(void *decoder);
  cst_status (*decode)(void *decoder, const cst_bytes *records, size_t count,
                       struct ArrowSchema *out_schema, struct ArrowArray *out, cst_error *error);
  cst_status (*decode_arrow)(void *decoder, const struct ArrowSchema *schema,
                             struct ArrowArray *records, struct ArrowSchema *out_schema,
                             struct ArrowArray *out, cst_error *error);
  cst_status (*arrow_schema)(const void *decoder, struct ArrowSchema *out, cst_error *error);
} decoder_kind;

typedef struct decoder_object {
  PyObject_HEAD const decoder_kind *kind;
  void *decoder;
  PyObject *arrow_schema; /* NULL: no schema, so every batch has one of its own */
  cst__py_lock lock;
} decoder_object;

/* ---- kinds ---- */

static cst_status decoder_example_create(const settings *set, void **out, cst_error *error) {
  cst_decode_options options = CST_DECODE_OPTIONS_INIT;
  options.flags = set->flags;
  options.columns = set->columns.names;
  options.num_columns = set->columns.count;
  cst_example_decoder *decoder = NULL;
  cst_status status = cst_example_decoder_new(set->schema, &options, &decoder, error);
  *out = decoder;
  return status;
}

static cst_status decoder_sequence_create(const settings *set, void **out, cst_error *error) {
  cst_sequence_options options = CST_SEQUENCE_OPTIONS_INIT;
  options.flags = set->flags;
  options.columns = set->columns.names;
  options.num_columns = set->columns.count;
  options.sequence_column = set->sequence_column;
  cst_sequence_decoder *decoder = NULL;
  cst_status status = cst_sequence_decoder_new(set->schema, &options, &decoder, error);
  *out = decoder;
  return status;
}

static cst_status decoder_message_create(const settings *set, void **out, cst_error *error) {
  cst_decode_options options = CST_DECODE_OPTIONS_INIT;
  options.flags = set->flags;
  options.columns = set->columns.names;
  options.num_columns = set->columns.count;
  cst_message_decoder *decoder = NULL;
  cst_status status = cst_message_decoder_new(set->message, &options, &decoder, error);
  *out = decoder;
  return status;
}

/* The same calls under the one type of the table. */
#define DECODER_CALLS(noun)                                                                     \
  static void noun##_free(void *decoder) { cst_##noun##_decoder_free(decoder); }                \
  static cst_status noun##_decode(void *decoder, const cst_bytes *records, size_t count,        \
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,       \
                                  cst_error *error) {                                           \
    return cst_##noun##_decoder_decode(decoder, records, count, out_schema, out, error);        \
  }                                                                                             \
  static cst_status noun##_decode_arrow(                                                        \
      void *decoder, const struct ArrowSchema *schema, struct ArrowArray *records,              \
      struct ArrowSchema *out_schema, struct ArrowArray *out, cst_error *error) {               \
    return cst_##noun##_decoder_decode_arrow(decoder, schema, records, out_schema, out, error); \
  }                                                                                             \
  static cst_status noun##_schema(const void *decoder, struct ArrowSchema *out,                 \
                                  cst_error *error) {                                           \
    return cst_##noun##_decoder_arrow_schema(decoder, out, error);                              \
  }                                                                                             \
  static const decoder_kind noun##_kind = {decoder_##noun##_create, noun##_free, noun##_decode, \
                                           noun##_decode_arrow, noun##_schema};
DECODER_CALLS(example)
DECODER_CALLS(sequence)
DECODER_CALLS(message)

/* ---- life ---- */

static int decoder_init(decoder_object *self, cst__py_state *state, const settings *set) {
  bool one_schema = set->schema != NULL || set->message != NULL;
  cst_error error = CST_ERROR_INIT;
  struct ArrowSchema arrow_schema;
  cst_status status = self->kind->create(set, &self->decoder, &error);
  if (status == CST_OK && one_schema) {
    status = self->kind->arrow_schema(self->decoder, &arrow_schema, &error);
  }
  if (status != CST_OK) {
    cst__py_raise(state, &error);
    return -1;
  }
  if (one_schema) {
    self->arrow_schema = cst__py_arrow_schema_new(state, &arrow_schema);
  }
  return one_schema && self->arrow_schema == NULL ? -1 : cst__py_lock_init(&self->lock);
}

/* The settings without their columns, which are these. */
static PyObject *decoder_make(PyTypeObject *type, settings *set, PyObject *columns,
                              const decoder_kind *kind) {
  if (cst__py_names_init(&set->columns, columns) < 0) {
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  decoder_object *self = (decoder_object *)allocate(type, 0);
  if (self != NULL) {
    self->kind = kind;
    if (decoder_init(self, PyType_GetModuleState(type), set) < 0) {
      Py_CLEAR(self);
    }
  }
  cst__py_names_reset(&set->columns);
  return (PyObject *)self;
}

/* (schema, columns, flags, sequence_column) */
static PyObject *new_decoder(PyTypeObject *type, PyObject *args, const decoder_kind *kind) {
  settings set = {.flags = 0};
  PyObject *schema;
  PyObject *columns;
  if (!PyArg_ParseTuple(args, "OOIz:decoder", &schema, &columns, &set.flags,
                        &set.sequence_column) ||
      cst__py_schema_arg(PyType_GetModuleState(type), schema, &set.schema) < 0) {
    return NULL;
  }
  return decoder_make(type, &set, columns, kind);
}

static PyObject *decoder_new_example(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  return new_decoder(type, args, &example_kind);
}

static PyObject *decoder_new_sequence(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  return new_decoder(type, args, &sequence_kind);
}

/* (message options, columns, flags) */
static PyObject *decoder_new_message(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  settings set = {.flags = 0};
  PyObject *options;
  PyObject *columns;
  cst__py_message message;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "O!OI:decoder", &PyTuple_Type, &options, &columns, &set.flags) ||
      cst__py_message_init(&message, PyType_GetModuleState(type), options) < 0) {
    return NULL;
  }
  set.message = cst__py_message_view(&message);
  return decoder_make(type, &set, columns, &message_kind);
}

static void decoder_dealloc(PyObject *object) {
  decoder_object *self = (decoder_object *)object;
  self->kind->free(self->decoder);
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
  status = self->kind->decode(self->decoder, r.bytes, (size_t)r.count,
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
    status = self->kind->decode_arrow(self->decoder, &in_schema, &in,
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

#define DECODER_TYPE(noun, title, type)                                    \
  static PyType_Slot noun##_slots[] = {                                    \
      {Py_tp_doc, "A decoder; columnstone." title " is the public face."}, \
      {Py_tp_new, decoder_new_##noun},                                     \
      {Py_tp_dealloc, decoder_dealloc},                                    \
      {Py_tp_methods, methods},                                            \
      {Py_tp_getset, getset},                                              \
      {0, NULL},                                                           \
  };                                                                       \
  PyType_Spec type = {                                                     \
      .name = "columnstone._core." title,                                  \
      .basicsize = sizeof(decoder_object),                                 \
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,              \
      .slots = noun##_slots,                                               \
  };
DECODER_TYPE(example, "ExampleDecoder", cst__py_decoder_spec)
DECODER_TYPE(sequence, "SequenceExampleDecoder", cst__py_sequence_decoder_spec)
DECODER_TYPE(message, "MessageDecoder", cst__py_message_decoder_spec)
