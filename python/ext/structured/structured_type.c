/* The type StructuredBase: what structured and leaf tensors have in common. */
#include "ext/arrow/arrow.h"
#include "ext/structured/structured.h"
#include "ext/table/table.h"

static PyObject *structured_refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)type;
  (void)args;
  (void)kwargs;
  PyErr_SetString(PyExc_TypeError,
                  "use columnstone.struct.constant, or one of StructuredTensor.from_...");
  return NULL;
}

static int structured_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(((cst__py_structured_object *)object)->array);
  return 0;
}

static void structured_dealloc(PyObject *object) {
  cst__py_structured_object *self = (cst__py_structured_object *)object;
  PyObject_GC_UnTrack(object);
  cst__py_pending pending = cst__py_put_aside(); /* a consumer's release may run Python */
  cst_structured_release(self->tensor);
  cst__py_put_back(pending);
  Py_XDECREF(self->array);
  Py_XDECREF(self->shape);
  cst__py_free(object);
}

/* ---- looking ---- */

static cst_structured *tensor_of(PyObject *object) {
  return ((cst__py_structured_object *)object)->tensor;
}

static PyObject *structured_rank(PyObject *object, void *closure) {
  (void)closure;
  return PyLong_FromSize_t(cst_structured_rank(tensor_of(object)));
}

static PyObject *structured_is_row(PyObject *object, void *closure) {
  (void)closure;
  return PyBool_FromLong(cst_structured_is_row(tensor_of(object)));
}

enum { MAX_RANK = 128 /* more than a type can have */ };

static PyObject *make_shape(cst__py_structured_object *self) {
  int64_t dims[MAX_RANK];
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  size_t rank = cst_structured_rank(self->tensor);
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_shape(self->tensor, dims, &error);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    return cst__py_raise(self->state, &error);
  }
  PyObject *shape = PyTuple_New((Py_ssize_t)rank);
  for (size_t i = 0; shape != NULL && i < rank; i++) {
    PyObject *dim = dims[i] < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(dims[i]);
    if (dim == NULL || PyTuple_SetItem(shape, (Py_ssize_t)i, dim) < 0) {
      Py_CLEAR(shape);
    }
  }
  return shape;
}

static PyObject *structured_shape(PyObject *object, void *closure) {
  (void)closure;
  cst__py_structured_object *self = (cst__py_structured_object *)object;
  if (self->shape == NULL) {
    PyObject *shape = make_shape(self);
    if (self->shape == NULL) {
      self->shape = shape;
    } else { /* another thread was faster */
      Py_XDECREF(shape);
    }
  }
  return Py_XNewRef(self->shape);
}

static PyObject *structured_array(PyObject *object, void *closure) {
  (void)closure;
  cst__py_structured_object *self = (cst__py_structured_object *)object;
  if (self->array == NULL) {
    cst_array *array = cst_array_retain(cst_structured_array(self->tensor));
    self->array = cst__py_table_wrap(self->state, array, false);
  }
  return Py_XNewRef(self->array);
}

/* An attribute of the Array. */
static PyObject *array_attribute(PyObject *object, const char *name) {
  PyObject *array = structured_array(object, NULL);
  PyObject *value = array == NULL ? NULL : PyObject_GetAttrString(array, name);
  Py_XDECREF(array);
  return value;
}

static PyObject *structured_schema(PyObject *object, void *closure) {
  (void)closure;
  return array_attribute(object, "schema");
}

static PyObject *structured_arrow_type(PyObject *object, void *closure) {
  (void)closure;
  return array_attribute(object, "type");
}

static PyObject *structured_row_splits(PyObject *object, void *closure) {
  (void)closure;
  cst__py_structured_object *self = (cst__py_structured_object *)object;
  size_t rank = cst_structured_rank(self->tensor);
  PyObject *tuple = PyTuple_New(rank > 1 ? (Py_ssize_t)rank - 1 : 0);
  for (size_t i = 1; tuple != NULL && i < rank; i++) {
    cst_error error = CST_ERROR_INIT;
    cst_array *splits = NULL;
    cst_status status;
    Py_BEGIN_ALLOW_THREADS
    status = cst_structured_row_splits(self->tensor, i, &splits, &error);
    Py_END_ALLOW_THREADS
    PyObject *array = status == CST_OK ? cst__py_table_wrap(self->state, splits, false)
                                       : cst__py_raise(self->state, &error);
    if (array == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i - 1, array) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

static PyObject *structured_flat_values(PyObject *object, void *closure) {
  (void)closure;
  cst__py_structured_object *self = (cst__py_structured_object *)object;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_flat_values(self->tensor, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish(self->state, status, &error, made);
}

/* The number of rows of the outermost dimension; -1 with an exception for a scalar, or a null row.
 */
static Py_ssize_t count_rows(PyObject *object) {
  cst__py_structured_object *self = (cst__py_structured_object *)object;
  const cst_array *array = cst_structured_array(self->tensor);
  if (cst_structured_rank(self->tensor) == 0) {
    PyErr_SetString(PyExc_TypeError, "a scalar has no rows, and no len()");
    return -1;
  }
  if (!cst_structured_is_row(self->tensor)) {
    return (Py_ssize_t)cst_array_length(array);
  }
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray row;
  cst_array *splits = NULL;
  if (cst_structured_row_splits(self->tensor, 0, &splits, &error) != CST_OK ||
      cst_array_export(splits, &row, &error) != CST_OK) {
    cst_array_release(splits);
    cst__py_raise(self->state, &error);
    return -1;
  }
  const int64_t *values = (const int64_t *)row.buffers[1] + row.offset;
  Py_ssize_t count = (Py_ssize_t)(values[1] - values[0]);
  row.release(&row);
  cst_array_release(splits);
  return count;
}

static PyObject *structured_nrows(PyObject *object, PyObject *unused) {
  (void)unused;
  Py_ssize_t count = count_rows(object);
  return count < 0 ? NULL : PyLong_FromSsize_t(count);
}

static const struct ArrowSchema *element_schema(PyObject *object) {
  const struct ArrowSchema *schema = cst_array_schema(cst_structured_array(tensor_of(object)));
  while (schema->format[0] == '+' && schema->format[1] != 's') {
    schema = schema->children[0];
  }
  return schema;
}

static PyObject *structured_field_names(PyObject *object, PyObject *unused) {
  (void)unused;
  const struct ArrowSchema *schema = element_schema(object);
  bool is_struct = cst_structured_is_struct(tensor_of(object));
  PyObject *names = PyTuple_New(is_struct ? (Py_ssize_t)schema->n_children : 0);
  for (int64_t i = 0; is_struct && names != NULL && i < schema->n_children; i++) {
    PyObject *name = cst__py_arrow_schema_name(schema, i);
    if (name == NULL || PyTuple_SetItem(names, (Py_ssize_t)i, name) < 0) {
      Py_CLEAR(names);
    }
  }
  return names;
}

static PyObject *structured_to_py(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_structured_object *self = (cst__py_structured_object *)object;
  const cst_array *array = cst_structured_array(self->tensor);
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray data;
  if (cst_array_export(array, &data, &error) != CST_OK) {
    return cst__py_raise(self->state, &error);
  }
  const struct ArrowSchema *schema = cst_array_schema(array);
  PyObject *values = cst_structured_is_row(self->tensor)
                         ? cst__py_value(self->state, schema, &data, 0)
                         : cst__py_values(self->state, schema, &data, 0, data.length);
  data.release(&data);
  return values;
}

static PyObject *structured_export_schema(PyObject *object, PyObject *unused) {
  (void)unused;
  PyObject *schema = structured_schema(object, NULL);
  PyObject *capsule =
      schema == NULL ? NULL : PyObject_CallMethod(schema, "__arrow_c_schema__", NULL);
  Py_XDECREF(schema);
  return capsule;
}

static PyObject *structured_export(PyObject *object, PyObject *args, PyObject *kwargs) {
  PyObject *method = array_attribute(object, "__arrow_c_array__");
  PyObject *capsules = method == NULL ? NULL : PyObject_Call(method, args, kwargs);
  Py_XDECREF(method);
  return capsules;
}

/* ---- the type ---- */

static PyMethodDef structured_methods[] = {
    {"nrows", structured_nrows, METH_NOARGS,
     PyDoc_STR("nrows($self)\n--\n\nThe length of the outermost dimension.")},
    {"field_names", structured_field_names, METH_NOARGS,
     PyDoc_STR("field_names($self)\n--\n\nThe names of the fields; () for a leaf tensor.")},
    {"to_py", structured_to_py, METH_NOARGS,
     PyDoc_STR("to_py($self)\n--\n\n"
               "The tensor as nested lists of dicts, str, bytes and numbers; None for null.")},
    {"__arrow_c_schema__", structured_export_schema, METH_NOARGS,
     PyDoc_STR("The type of the tensor's array as an Arrow PyCapsule.")},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))structured_export,
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("__arrow_c_array__($self, requested_schema=None)\n--\n\n"
               "The tensor's array as a pair of Arrow PyCapsules; no copy.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef structured_getset[] = {
    {"rank", structured_rank, NULL, PyDoc_STR("The number of dimensions; 0 for a scalar."), NULL},
    {"shape", structured_shape, NULL,
     PyDoc_STR("The length of each dimension; None if its lists differ in length."), NULL},
    {"is_row", structured_is_row, NULL,
     PyDoc_STR("True if the tensor is the single row of its array: a scalar, or a row of another\n"
               "tensor."),
     NULL},
    {"row_splits", structured_row_splits, NULL,
     PyDoc_STR("The starts of the rows in each dimension but the outermost: int64 Arrays."), NULL},
    {"flat_values", structured_flat_values, NULL, PyDoc_STR("All elements as a tensor of rank 1."),
     NULL},
    {"schema", structured_schema, NULL, PyDoc_STR("The Arrow type of the array, an ArrowSchema."),
     NULL},
    {"arrow_type", structured_arrow_type, NULL, PyDoc_STR("The Arrow type as text."), NULL},
    {"_array", structured_array, NULL, PyDoc_STR("The tensor as an Array; no copy."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot structured_slots[] = {
    {Py_tp_doc, "The common part of structured tensors and leaf tensors."},
    {Py_tp_new, structured_refuse_new},
    {Py_tp_dealloc, structured_dealloc},
    {Py_tp_traverse, structured_traverse},
    {Py_mp_length, count_rows},
    {Py_mp_subscript, cst__py_structured_subscript},
    {Py_tp_methods, structured_methods},
    {Py_tp_getset, structured_getset},
    {0, NULL},
};

PyType_Spec cst__py_structured_spec = {
    .name = "columnstone.struct.StructuredBase",
    .basicsize = sizeof(cst__py_structured_object),
    .flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = structured_slots,
};
