/* Schema: a counted cst_schema, and what its features become as tensors. */
#include <columnstone/validate.h>
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/schema/schema.h"

typedef struct schema_object {
  PyObject_HEAD cst_schema *schema;
} schema_object;

/* Takes the schema over, also on failure. */
static PyObject *schema_make(cst__py_state *state, cst_schema *schema) {
  schema_object *self = PyObject_New(schema_object, state->schema_type);
  if (self == NULL) {
    cst_schema_release(schema);
    return NULL;
  }
  self->schema = schema;
  return (PyObject *)self;
}

PyObject *cst__py_schema_new(cst__py_state *state, const cst_schema *schema) {
  return schema_make(state, cst_schema_retain(schema));
}

const cst_schema *cst__py_schema_view(PyObject *self) { return ((schema_object *)self)->schema; }

int cst__py_schema_arg(cst__py_state *state, PyObject *object, const cst_schema **out) {
  *out = NULL;
  if (object == Py_None) {
    return 0;
  }
  if (Py_TYPE(object) != state->schema_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Schema or None");
    return -1;
  }
  *out = cst__py_schema_view(object);
  return 0;
}

static void schema_dealloc(PyObject *object) {
  cst_schema_release(((schema_object *)object)->schema);
  cst__py_free(object);
}

/* parse(data, kind): kind is "auto", "text" or "binary". */
static PyObject *schema_parse(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  Py_buffer data;
  const char *kind;
  if (!PyArg_ParseTuple(args, "y*s:parse", &data, &kind)) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  size_t size = (size_t)data.len;
  if (strcmp(kind, "text") == 0) {
    status = cst_schema_from_text(data.buf, size, &schema, &error);
  } else if (strcmp(kind, "binary") == 0) {
    status = cst_schema_from_bytes(data.buf, size, &schema, &error);
  } else {
    status = cst_schema_parse(data.buf, size, &schema, &error);
  }
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&data);
  return status == CST_OK ? schema_make(state, schema) : cst__py_raise(state, &error);
}

static PyObject *read_file(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  const char *path;
  if (!PyArg_ParseTuple(args, "y:read", &path)) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_schema_open(path, &schema, &error);
  Py_END_ALLOW_THREADS
  return status == CST_OK ? schema_make(state, schema) : cst__py_raise(state, &error);
}

static PyObject *to_text(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_error error = CST_ERROR_INIT;
  char *text = NULL;
  size_t size = 0;
  if (cst_schema_to_text(cst__py_schema_view(object), &text, &size, &error) != CST_OK) {
    return cst__py_raise(cst__py_state_of(object), &error);
  }
  PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "surrogateescape");
  cst_free(text);
  return result;
}

static PyObject *to_binary(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_error error = CST_ERROR_INIT;
  char *data = NULL;
  size_t size = 0;
  if (cst_schema_to_bytes(cst__py_schema_view(object), &data, &size, &error) != CST_OK) {
    return cst__py_raise(cst__py_state_of(object), &error);
  }
  PyObject *result = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  cst_free(data);
  return result;
}

static const char *feature_type_name(cst_feature_type type) {
  switch (type) {
    case CST_FEATURE_BYTES:
      return "bytes";
    case CST_FEATURE_INT:
      return "int64";
    case CST_FEATURE_FLOAT:
      return "float32";
    case CST_FEATURE_STRUCT:
      return "struct";
    case CST_FEATURE_UNKNOWN:
      break;
  }
  return "unknown";
}

/* Appends a new reference (NULL: an exception is set) to a list. */
static int schema_append(PyObject *list, PyObject *item) {
  int result = item == NULL ? -1 : PyList_Append(list, item);
  Py_XDECREF(item);
  return result;
}

static PyObject *text_of(const char *text, size_t size) {
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "surrogateescape");
}

static PyObject *text_tuple(const char *const *texts, size_t count) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; tuple != NULL && i < count; i++) {
    PyObject *text = text_of(texts[i], strlen(texts[i]));
    if (text == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, text) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

/* (name, type, in_use, shape or None, children) */
static PyObject *feature_tuple(const cst_feature *feature) {
  PyObject *children = PyList_New(0);
  for (size_t i = 0; children != NULL && i < feature->num_children; i++) {
    if (schema_append(children, feature_tuple(&feature->children[i])) < 0) {
      Py_CLEAR(children);
    }
  }
  PyObject *shape = feature->has_fixed_shape ? cst__py_int_tuple(feature->dims, feature->num_dims)
                                             : Py_NewRef(Py_None);
  if (children == NULL || shape == NULL) {
    Py_XDECREF(children);
    Py_XDECREF(shape);
    return NULL;
  }
  return Py_BuildValue("(NsNNN)", text_of(feature->name, feature->name_size),
                       feature_type_name(feature->type), PyBool_FromLong(feature->in_use), shape,
                       children);
}

static PyObject *features(PyObject *object, PyObject *unused) {
  (void)unused;
  const cst_schema *schema = cst__py_schema_view(object);
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < cst_schema_num_features(schema); i++) {
    if (schema_append(list, feature_tuple(cst_schema_feature(schema, i))) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject *default_value(const cst_tensor_spec *spec) {
  if (!spec->has_default) {
    return Py_NewRef(Py_None);
  }
  switch (spec->dtype) {
    case CST_DTYPE_FLOAT32:
    case CST_DTYPE_FLOAT64:
      return PyFloat_FromDouble((double)spec->default_float);
    case CST_DTYPE_BYTES:
      return PyBytes_FromStringAndSize((const char *)spec->default_bytes.data,
                                       (Py_ssize_t)spec->default_bytes.size);
    case CST_DTYPE_BOOL:
      return PyBool_FromLong(spec->default_int != 0);
    default:
      return PyLong_FromLongLong(spec->default_int);
  }
}

/* A column's name, or a uniform length. */
static PyObject *partition_tuple(const cst_tensor_spec *spec) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)spec->num_partitions);
  for (size_t i = 0; tuple != NULL && i < spec->num_partitions; i++) {
    const cst_partition *p = &spec->partitions[i];
    PyObject *item = p->row_length_column == NULL
                         ? PyLong_FromLongLong(p->uniform_length)
                         : text_of(p->row_length_column, strlen(p->row_length_column));
    if (item == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

static PyObject *spec_tuple(const cst_tensor_spec *spec);

static PyObject *spec_list(const cst_tensor_spec *specs, size_t count) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < count; i++) {
    if (schema_append(list, spec_tuple(&specs[i])) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject *spec_tuple(const cst_tensor_spec *spec) {
  static const char *const kinds[] = {"",       "dense",  "varlen_sparse",
                                      "sparse", "ragged", "structured"};
  const char *reason = spec->reason == NULL ? "" : spec->reason;
  return Py_BuildValue("(NssNNNNNsNNNsN)", text_of(spec->name, strlen(spec->name)),
                       kinds[spec->kind], cst_dtype_name(spec->dtype),
                       text_tuple(spec->path, spec->num_path_steps),
                       cst__py_int_tuple(spec->dims, spec->num_dims),
                       text_tuple(spec->index_columns, spec->num_index_columns),
                       PyBool_FromLong(spec->already_sorted), partition_tuple(spec),
                       cst_dtype_name(spec->row_splits_dtype), default_value(spec),
                       PyBool_FromLong(spec->is_explicit), PyBool_FromLong(spec->is_varlen_ragged),
                       reason, spec_list(spec->fields, spec->num_fields));
}

PyObject *cst__py_specs_list(const cst_specs *specs) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < cst_specs_num_specs(specs); i++) {
    if (schema_append(list, spec_tuple(cst_specs_get(specs, i))) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* specs(group, legacy, environment) */
static PyObject *schema_specs(PyObject *object, PyObject *args) {
  cst_specs_options options = CST_SPECS_OPTIONS_INIT;
  int legacy;
  if (!PyArg_ParseTuple(args, "spz:specs", &options.group, &legacy, &options.environment)) {
    return NULL;
  }
  options.legacy = legacy != 0;
  cst_error error = CST_ERROR_INIT;
  cst_specs *made = NULL;
  if (cst_specs_new(cst__py_schema_view(object), &options, &made, &error) != CST_OK) {
    return cst__py_raise(cst__py_state_of(object), &error);
  }
  PyObject *list = cst__py_specs_list(made);
  cst_specs_release(made);
  return list;
}

/* ---- differences ---- */

/* diff(other): findings */
static PyObject *diff(PyObject *object, PyObject *other) {
  cst__py_state *state = cst__py_state_of(object);
  const cst_schema *after;
  cst_findings *changes = NULL;
  cst_error error = CST_ERROR_INIT;
  if (cst__py_schema_arg(state, other, &after) < 0) {
    return NULL;
  }
  return cst_schema_diff(cst__py_schema_view(object), after, &changes, &error) == CST_OK
             ? cst__py_findings(state, changes)
             : cst__py_raise(state, &error);
}

/* with_specs(representations, group) */
static PyObject *with_specs(PyObject *object, PyObject *args) {
  cst__py_state *state = cst__py_state_of(object);
  PyObject *tuple;
  const char *group;
  if (!PyArg_ParseTuple(args, "O!s:with_specs", &PyTuple_Type, &tuple, &group)) {
    return NULL;
  }
  cst_specs *made = cst__py_specs_from(state, tuple);
  if (made == NULL) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  cst_status status =
      cst_schema_with_specs(cst__py_schema_view(object), made, group, &schema, &error);
  cst_specs_release(made);
  return status == CST_OK ? schema_make(state, schema) : cst__py_raise(state, &error);
}

static PyMethodDef methods[] = {
    {"parse", schema_parse, METH_VARARGS | METH_CLASS, NULL},
    {"read", read_file, METH_VARARGS | METH_CLASS, NULL},
    {"to_text", to_text, METH_NOARGS, NULL},
    {"to_binary", to_binary, METH_NOARGS, NULL},
    {"features", features, METH_NOARGS, NULL},
    {"specs", schema_specs, METH_VARARGS, NULL},
    {"with_specs", with_specs, METH_VARARGS, NULL},
    {"diff", diff, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.Schema."},
    {Py_tp_dealloc, schema_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_schema_spec = {
    .name = "columnstone._core.Schema",
    .basicsize = sizeof(schema_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
