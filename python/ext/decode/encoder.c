/* Encoder: record batches, from anything that speaks Arrow, to serialized records. */
#include <errno.h>
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/decode/decode.h"

typedef struct encoder_object {
  PyObject_HEAD cst_encoder *encoder;
  cst__py_lock lock;
} encoder_object;

/* ---- making them ---- */

/* (payload, schema, flags, message options, options of the format) */
static PyObject *encoder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  cst__py_state *state = PyType_GetModuleState(type);
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  const char *payload;
  PyObject *schema, *message, *given;
  cst__py_codec codec;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "sOIOO!:Encoder", &payload, &schema, &options.flags, &message,
                        &PyTuple_Type, &given) ||
      cst__py_codec_init(&codec, state, schema, message, given) < 0) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_OK;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  encoder_object *self = (encoder_object *)allocate(type, 0);
  if (self != NULL) {
    options.schema = codec.schema;
    options.message = cst__py_message_view(&codec.message);
    options.options = codec.options.options;
    options.num_options = codec.options.count;
    status = cst_encoder_new(payload, &options, &self->encoder, &error);
  }
  cst__py_codec_reset(&codec);
  if (status != CST_OK) {
    cst__py_raise(state, &error);
  }
  if (self != NULL && (status != CST_OK || cst__py_lock_init(&self->lock) < 0)) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

static void encoder_dealloc(PyObject *object) {
  encoder_object *self = (encoder_object *)object;
  cst_encoder_free(self->encoder);
  cst__py_lock_reset(&self->lock);
  cst__py_free(object);
}

/* The encoded batches of one call. */
typedef struct pieces {
  struct ArrowSchema schema; /* of the first one */
  struct ArrowArray *arrays;
  size_t count;
} pieces;

static void pieces_reset(pieces *p) {
  for (size_t i = 0; i < p->count; i++) {
    if (p->arrays[i].release != NULL) {
      p->arrays[i].release(&p->arrays[i]);
    }
  }
  free(p->arrays);
  if (p->schema.release != NULL) {
    p->schema.release(&p->schema);
  }
}

static cst_status no_memory(cst_error *error) {
  error->code = CST_NO_MEMORY;
  return CST_NO_MEMORY;
}

/* Encodes one batch (borrowed) as the next piece. No GIL. */
static cst_status add_piece(encoder_object *self, pieces *p, const struct ArrowSchema *schema,
                            const struct ArrowArray *batch, cst_error *error) {
  struct ArrowArray *grown = realloc(p->arrays, (p->count + 1) * sizeof *grown);
  if (grown == NULL) {
    return no_memory(error);
  }
  p->arrays = grown;
  struct ArrowSchema *out_schema = p->schema.release == NULL ? &p->schema : NULL;
  cst_status status =
      cst_encoder_encode(self->encoder, schema, batch, out_schema, &p->arrays[p->count], error);
  p->count += status == CST_OK;
  return status;
}

/* ---- many pieces to one array of large_binary ---- */

static void release_joined(struct ArrowArray *array) {
  free((void *)(uintptr_t)array->buffers[1]);
  free((void *)(uintptr_t)array->buffers[2]);
  free(array->buffers);
  array->release = NULL;
}

/* The encoder's own pieces: large_binary, without nulls, offset 0. */
static void copy_piece(const struct ArrowArray *piece, int64_t **offsets, uint8_t *data,
                       int64_t *end) {
  const int64_t *from = piece->buffers[1];
  int64_t first = from[piece->offset];
  int64_t size = from[piece->offset + piece->length] - first;
  for (int64_t i = 1; i <= piece->length; i++) {
    *(*offsets)++ = *end + from[piece->offset + i] - first;
  }
  if (size > 0) {
    memcpy(data + *end, (const uint8_t *)piece->buffers[2] + first, (size_t)size);
  }
  *end += size;
}

static cst_status join(const pieces *p, struct ArrowArray *out, cst_error *error) {
  int64_t length = 0;
  int64_t size = 0;
  for (size_t i = 0; i < p->count; i++) {
    const struct ArrowArray *piece = &p->arrays[i];
    const int64_t *offsets = piece->buffers[1];
    length += piece->length;
    size +=
        piece->length == 0 ? 0 : offsets[piece->offset + piece->length] - offsets[piece->offset];
  }
  int64_t *offsets = malloc(((size_t)length + 1) * sizeof *offsets);
  uint8_t *data = malloc((size_t)size + 1);
  const void **buffers = calloc(3, sizeof *buffers);
  if (offsets == NULL || data == NULL || buffers == NULL) {
    free(offsets);
    free(data);
    free(buffers);
    return no_memory(error);
  }
  int64_t *next = offsets;
  int64_t end = 0;
  *next++ = 0;
  for (size_t i = 0; i < p->count; i++) {
    if (p->arrays[i].length > 0) {
      copy_piece(&p->arrays[i], &next, data, &end);
    }
  }
  buffers[1] = offsets;
  buffers[2] = data;
  *out = (struct ArrowArray){
      .length = length, .n_buffers = 3, .buffers = buffers, .release = release_joined};
  return CST_OK;
}

/* ---- inputs ---- */

static cst_status encode_stream(encoder_object *self, struct ArrowArrayStream *stream, pieces *p,
                                cst_error *error) {
  struct ArrowSchema schema;
  cst_status status = cst__py_stream_schema(stream, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  int64_t before = 0; /* rows of the batches before */
  while (status == CST_OK) {
    struct ArrowArray batch;
    status = cst__py_stream_next(stream, &batch, error);
    if (batch.release == NULL) {
      break;
    }
    int64_t rows = batch.length;
    status = add_piece(self, p, &schema, &batch, error);
    error->record += status != CST_OK && error->record >= 0 ? before : 0;
    before += rows;
    batch.release(&batch);
  }
  schema.release(&schema);
  return status;
}

static cst_status encode_batch_object(encoder_object *self, PyObject *object, pieces *p,
                                      cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  if (cst__py_import_array(object, &schema, &batch) < 0) {
    return CST_CALLBACK;
  }
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = add_piece(self, p, &schema, &batch, error);
  schema.release(&schema);
  batch.release(&batch);
  Py_END_ALLOW_THREADS
  return status;
}

static cst_status encode_stream_object(encoder_object *self, PyObject *object, pieces *p,
                                       cst_error *error) {
  struct ArrowArrayStream stream;
  if (cst__py_import_stream(object, &stream) < 0) {
    return CST_CALLBACK;
  }
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = encode_stream(self, &stream, p, error);
  stream.release(&stream);
  Py_END_ALLOW_THREADS
  return status;
}

/* CST_CALLBACK: a Python exception is set. */
static cst_status encode_object(encoder_object *self, PyObject *object, pieces *p,
                                cst_error *error) {
  int is_array = cst__py_has(object, "__arrow_c_array__");
  if (is_array > 0) {
    return encode_batch_object(self, object, p, error);
  }
  int is_stream = is_array < 0 ? -1 : cst__py_has(object, "__arrow_c_stream__");
  if (is_stream > 0) {
    return encode_stream_object(self, object, p, error);
  }
  if (is_stream == 0) {
    PyObject *name = PyType_GetName(Py_TYPE(object));
    PyErr_Format(PyExc_TypeError,
                 "encode() takes an object with __arrow_c_array__ or __arrow_c_stream__, not %U",
                 name);
    Py_XDECREF(name);
  }
  return CST_CALLBACK;
}

static void release_nothing_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_nothing_array(struct ArrowArray *array) { array->release = NULL; }

/* An array of no records, for a stream without batches. */
static cst_status no_batches(pieces *p, encoder_object *self, cst_error *error) {
  struct ArrowSchema schema = {.format = "+s", .release = release_nothing_schema};
  const void *buffers[1] = {NULL};
  struct ArrowArray batch = {.n_buffers = 1, .buffers = buffers, .release = release_nothing_array};
  return add_piece(self, p, &schema, &batch, error);
}

static PyObject *encoder_finish(encoder_object *self, pieces *p) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray array;
  cst_status status = p->count == 0 ? no_batches(p, self, &error) : CST_OK;
  if (status == CST_OK && p->count == 1) {
    array = p->arrays[0];
    p->arrays[0].release = NULL;
  } else if (status == CST_OK) {
    Py_BEGIN_ALLOW_THREADS
    status = join(p, &array, &error);
    Py_END_ALLOW_THREADS
  }
  if (status != CST_OK) {
    return cst__py_raise(state, &error);
  }
  PyObject *schema = cst__py_arrow_schema_new(state, &p->schema);
  if (schema == NULL) {
    array.release(&array);
    return NULL;
  }
  PyObject *result = cst__py_array_new(state, schema, &array);
  Py_DECREF(schema);
  return result;
}

static PyObject *encoder_encode(PyObject *object, PyObject *any) {
  encoder_object *self = (encoder_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  PyObject *input = cst__py_as_arrow(any);
  if (input == NULL) {
    return NULL;
  }
  if (cst__py_lock_enter(&self->lock, state, "encoder") < 0) {
    Py_DECREF(input);
    return NULL;
  }
  pieces p = {.count = 0};
  cst_error error = CST_ERROR_INIT;
  cst_status status = encode_object(self, input, &p, &error);
  PyObject *result = NULL;
  if (status == CST_OK) {
    result = encoder_finish(self, &p);
  } else if (PyErr_Occurred() == NULL) {
    cst__py_raise(state, &error);
  }
  pieces_reset(&p);
  cst__py_lock_leave(&self->lock);
  Py_DECREF(input);
  return result;
}

static PyMethodDef methods[] = {
    {"encode", encoder_encode, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot encoder_slots[] = {
    {Py_tp_doc, "The core of columnstone.codec.Encoder."},
    {Py_tp_new, encoder_new},
    {Py_tp_dealloc, encoder_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};
PyType_Spec cst__py_encoder_spec = {
    .name = "columnstone._core.Encoder",
    .basicsize = sizeof(encoder_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = encoder_slots,
};
