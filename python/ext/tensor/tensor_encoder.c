/* TensorEncoder: tensors of Python, as tuples that _tensor_encoder.py makes of them, to record
 * batches.
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/schema/schema.h"
#include "ext/tensor/tensor.h"

typedef struct encoder_object {
  PyObject_HEAD cst_tensor_encoder *encoder;
  cst_specs *specs;
  PyObject *schema; /* ArrowSchema of the batches; NULL before the first */
} encoder_object;

/* ---- making and freeing ---- */

/* An encoder by specs, which are taken over, also on failure; NULL is an exception that is set. */
static PyObject *tensor_encoder_make(cst__py_state *state, cst_specs *specs) {
  cst_tensor_encoder *encoder = NULL;
  cst_error error = CST_ERROR_INIT;
  if (specs == NULL) {
    return NULL;
  }
  if (cst_tensor_encoder_new(specs, NULL, &encoder, &error) != CST_OK) {
    cst_specs_release(specs);
    return cst__py_raise(state, &error);
  }
  encoder_object *self = PyObject_New(encoder_object, state->tensor_encoder_type);
  if (self == NULL) {
    cst_tensor_encoder_free(encoder);
    cst_specs_release(specs);
    return NULL;
  }
  self->encoder = encoder;
  self->specs = specs;
  self->schema = NULL;
  return (PyObject *)self;
}

/* from_specs(representations): tuples, see Schema.specs */
static PyObject *from_specs(PyObject *type, PyObject *tuple) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  return tensor_encoder_make(state, cst__py_specs_from(state, tuple));
}

/* of(tensors) */
static PyObject *of(PyObject *type, PyObject *tuple) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst__py_given given = {state, NULL};
  size_t count;
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_tensor *tensors = cst__py_given_read(&given, tuple, &count);
  if (tensors != NULL && cst_specs_of_tensors(tensors, count, NULL, &specs, &error) != CST_OK) {
    specs = NULL;
    cst__py_raise(state, &error);
  }
  cst__py_given_reset(&given);
  return tensor_encoder_make(state, specs);
}

static void tensor_encoder_dealloc(PyObject *object) {
  encoder_object *self = (encoder_object *)object;
  cst_tensor_encoder_free(self->encoder);
  cst_specs_release(self->specs);
  Py_XDECREF(self->schema);
  cst__py_free(object);
}

/* ---- methods ---- */

/* The ArrowSchema of now; a new reference. */
static PyObject *schema_now(encoder_object *self) {
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  struct ArrowSchema schema;
  cst_error error = CST_ERROR_INIT;
  if (cst_tensor_encoder_arrow_schema(self->encoder, &schema, &error) != CST_OK) {
    return cst__py_raise(state, &error);
  }
  return cst__py_arrow_schema_new(state, &schema);
}

/* The first batch has said the types: the schema stays. */
static PyObject *batch_of(encoder_object *self, struct ArrowArray *array) {
  if (self->schema == NULL) {
    self->schema = schema_now(self);
  }
  if (self->schema == NULL) {
    array->release(array);
    return NULL;
  }
  return cst__py_batch_new(cst__py_state_of((PyObject *)self), self->schema, array);
}

static PyObject *tensor_encoder_encode(PyObject *object, PyObject *tuple) {
  encoder_object *self = (encoder_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  cst__py_given given = {state, NULL};
  size_t count;
  struct ArrowArray array;
  cst_error error = CST_ERROR_INIT;
  cst_tensor *tensors = cst__py_given_read(&given, tuple, &count);
  if (tensors == NULL) {
    cst__py_given_reset(&given);
    return NULL;
  }
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_tensor_encoder_encode(self->encoder, tensors, count, &array, &error);
  Py_END_ALLOW_THREADS
  cst__py_given_reset(&given);
  return status == CST_OK ? batch_of(self, &array) : cst__py_raise(state, &error);
}

static PyObject *tensor_encoder_get_arrow_schema(PyObject *object, void *closure) {
  (void)closure;
  encoder_object *self = (encoder_object *)object;
  return self->schema != NULL ? Py_NewRef(self->schema) : schema_now(self);
}

static PyObject *tensor_encoder_specs(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_specs_list(((encoder_object *)object)->specs);
}

static PyMethodDef methods[] = {
    {"from_specs", from_specs, METH_O | METH_CLASS, NULL},
    {"of", of, METH_O | METH_CLASS, NULL},
    {"encode", tensor_encoder_encode, METH_O, NULL},
    {"specs", tensor_encoder_specs, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"arrow_schema", tensor_encoder_get_arrow_schema, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.tensor.TensorEncoder."},
    {Py_tp_dealloc, tensor_encoder_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_tensor_encoder_spec = {
    .name = "columnstone._core.TensorEncoder",
    .basicsize = sizeof(encoder_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
