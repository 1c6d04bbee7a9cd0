/* RecordBatch: rows of named columns in shared Arrow memory. */
#include "ext/arrow/arrow.h"

PyObject *cst__py_batch_new(cst__py_state *state, PyObject *schema, struct ArrowArray *array) {
  cst__py_shared *shared = cst__py_shared_new(NULL, array);
  if (shared == NULL) {
    array->release(array);
    return PyErr_NoMemory();
  }
  cst__py_batch_object *self = PyObject_New(cst__py_batch_object, state->batch_type);
  if (self == NULL) {
    cst__py_shared_release(shared);
    return NULL;
  }
  self->shared = shared;
  self->schema = Py_NewRef(schema);
  self->handle = NULL;
  self->position = NULL;
  return (PyObject *)self;
}

const struct ArrowArray *cst__py_batch_root(PyObject *object) {
  return cst__py_shared_array(((cst__py_batch_object *)object)->shared);
}

const struct ArrowSchema *cst__py_batch_schema(PyObject *object) {
  return cst__py_arrow_schema_view(((cst__py_batch_object *)object)->schema);
}

const cst_array *cst__py_batch_handle(PyObject *object) {
  cst__py_batch_object *self = (cst__py_batch_object *)object;
  struct ArrowArray array;
  if (self->handle == NULL) {
    if (cst__py_shared_export_array(self->shared, cst__py_batch_root(object), &array) < 0) {
      PyErr_NoMemory();
      return NULL;
    }
    self->handle =
        cst__py_handle_new(cst__py_state_of(object), cst__py_batch_schema(object), &array);
  }
  return self->handle;
}

void cst__py_batch_set_handle(PyObject *object, cst_array *handle) {
  ((cst__py_batch_object *)object)->handle = handle;
}

static void give_back(struct ArrowArray *array) {
  array->release = NULL;
  cst__py_shared_release(array->private_data);
}

PyObject *cst__py_batch_lend(PyObject *self, struct ArrowArray *out) {
  cst__py_batch_object *batch = (cst__py_batch_object *)self;
  *out = *cst__py_batch_root(self);
  out->release = give_back;
  out->private_data = cst__py_shared_retain(batch->shared);
  return batch->schema;
}
