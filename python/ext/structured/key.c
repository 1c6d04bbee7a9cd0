/* tensor[key]: what a key of Python means. */
#include "ext/structured/structured.h"

PyObject *cst__py_nested_subscript(PyObject *object, PyObject *key) {
  cst__py_nested_object *self = (cst__py_nested_object *)object;
  cst__py_path path;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  const struct ArrowSchema *schema = cst_array_schema(cst_structured_array(self->tensor));
  if (cst__py_path_init(&path, schema, key) < 0) {
    return NULL;
  }
  cst_status status = cst_structured_field(self->tensor, &path.path, &made, &error);
  cst__py_path_reset(&path);
  return cst__py_nested_finish(self->state, status, &error, made);
}
