/* Array: a column in shared Arrow memory, and the handle by which the library works on it. */
#include "ext/arrow/arrow.h"

cst_array *cst__py_handle_new(cst__py_state *state, const struct ArrowSchema *schema,
                              struct ArrowArray *array) {
  cst_error error = CST_ERROR_INIT;
  cst_array *handle = NULL;
  if (cst_array_import(schema, array, CST_ARRAY_TRUSTED, NULL, &handle, &error) != CST_OK) {
    array->release(array);
    cst__py_raise(state, &error);
    return NULL;
  }
  return handle;
}

PyObject *cst__py_array_view(cst__py_state *state, PyObject *schema, cst__py_shared *owner,
                             const struct ArrowArray *node, int64_t offset, int64_t length) {
  cst__py_array_object *self = PyObject_New(cst__py_array_object, state->array_type);
  if (self == NULL) {
    return NULL;
  }
  self->shared = cst__py_shared_retain(owner);
  self->node = node;
  self->schema = Py_NewRef(schema);
  self->offset = offset;
  self->length = length;
  self->handle = NULL;
  return (PyObject *)self;
}

PyObject *cst__py_array_new(cst__py_state *state, PyObject *schema, struct ArrowArray *array) {
  cst__py_shared *shared = cst__py_shared_new(NULL, array);
  if (shared == NULL) {
    array->release(array);
    return PyErr_NoMemory();
  }
  const struct ArrowArray *node = cst__py_shared_array(shared);
  PyObject *self = cst__py_array_view(state, schema, shared, node, 0, node->length);
  cst__py_shared_release(shared);
  return self;
}

int cst__py_array_export(PyObject *object, struct ArrowArray *out) {
  cst__py_array_object *self = (cst__py_array_object *)object;
  if (cst__py_shared_export_array(self->shared, self->node, out) < 0) {
    PyErr_NoMemory();
    return -1;
  }
  if (self->offset != 0 || self->length != self->node->length) {
    bool all_null = cst__py_arrow_schema_view(self->schema)->format[0] == 'n';
    out->offset += self->offset;
    out->length = self->length;
    out->null_count = all_null ? self->length : self->node->null_count == 0 ? 0 : -1;
  }
  return 0;
}

const cst_array *cst__py_array_handle(PyObject *object) {
  cst__py_array_object *self = (cst__py_array_object *)object;
  struct ArrowArray array;
  if (self->handle == NULL && cst__py_array_export(object, &array) == 0) {
    self->handle = cst__py_handle_new(cst__py_state_of(object),
                                      cst__py_arrow_schema_view(self->schema), &array);
  }
  return self->handle;
}

void cst__py_array_set_handle(PyObject *object, cst_array *handle) {
  ((cst__py_array_object *)object)->handle = handle;
}

int64_t cst__py_count_nulls(const struct ArrowSchema *schema, const struct ArrowArray *array,
                            int64_t offset, int64_t length) {
  int64_t count = 0;
  if (schema->format[0] == 'n') {
    return length;
  }
  const uint8_t *bits = array->n_buffers > 0 ? array->buffers[0] : NULL;
  if (bits == NULL || array->null_count == 0 || strncmp(schema->format, "+u", 2) == 0) {
    return 0;
  }
  for (int64_t i = array->offset + offset; i < array->offset + offset + length; i++) {
    count += !(bits[i >> 3] >> (i & 7) & 1);
  }
  return count;
}
