/* Query: the statements of a query. Immutable here: each method that adds some gives a new one. */
#include "ext/query/query.h"

typedef struct query_object {
  PyObject_HEAD cst_query *query;
  PyObject *functions; /* tuple of the objects of Python's that it calls */
} query_object;

const cst_query *cst__py_query_view(PyObject *self) { return ((query_object *)self)->query; }

PyObject *cst__py_query_functions(PyObject *self) { return ((query_object *)self)->functions; }

/* ---- life ---- */

/* Takes the query and the functions over, also on failure. */
static PyObject *query_wrap(PyTypeObject *type, cst_query *query, PyObject *functions) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  query_object *self = functions == NULL ? NULL : (query_object *)allocate(type, 0);
  if (self == NULL) {
    cst_query_free(query);
    Py_XDECREF(functions);
    return NULL;
  }
  self->query = query;
  self->functions = functions;
  return (PyObject *)self;
}

/* (text), or (None, path) */
static PyObject *new_query(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  const char *text;
  Py_ssize_t size;
  PyObject *path = NULL;
  cst_query *query = NULL;
  cst_error error = CST_ERROR_INIT;
  (void)kwargs;
  if (!PyArg_ParseTuple(args, "z#|O&:Query", &text, &size, PyUnicode_FSConverter, &path)) {
    return NULL;
  }
  cst_status status = path == NULL ? cst_query_from_text(text, (size_t)size, NULL, &query, &error)
                                   : cst_query_open(PyBytes_AsString(path), NULL, &query, &error);
  Py_XDECREF(path);
  if (status != CST_OK) {
    return cst__py_raise(PyType_GetModuleState(type), &error);
  }
  return query_wrap(type, query, PyTuple_New(0));
}

static int query_traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(((query_object *)object)->functions);
  return 0;
}

static void query_dealloc(PyObject *object) {
  query_object *self = (query_object *)object;
  PyObject_GC_UnTrack(object);
  cst_query_free(self->query);
  Py_XDECREF(self->functions);
  cst__py_free(object);
}

/* ---- statements ---- */

static cst_query *query_copy(PyObject *object) {
  cst_query *copy = NULL;
  cst_error error = CST_ERROR_INIT;
  if (cst_query_copy(((query_object *)object)->query, &copy, &error) != CST_OK) {
    cst__py_raise(cst__py_state_of(object), &error);
  }
  return copy;
}

/* The query that a copy has become; it is taken over. */
static PyObject *query_added(PyObject *object, cst_query *copy, cst_status status,
                             const cst_error *error) {
  if (status != CST_OK) {
    cst_query_free(copy);
    return cst__py_raise(cst__py_state_of(object), error);
  }
  return query_wrap(Py_TYPE(object), copy, Py_NewRef(((query_object *)object)->functions));
}

/* add(text) */
static PyObject *query_add(PyObject *object, PyObject *args) {
  const char *text;
  Py_ssize_t size;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "s#:add", &text, &size)) {
    return NULL;
  }
  cst_query *copy = query_copy(object);
  return copy == NULL
             ? NULL
             : query_added(object, copy, cst_query_add(copy, text, (size_t)size, &error), &error);
}

/* param(name, type, value or None) */
static PyObject *query_param(PyObject *object, PyObject *args) {
  const char *name, *type, *value;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "ssz:param", &name, &type, &value)) {
    return NULL;
  }
  cst_query *copy = query_copy(object);
  return copy == NULL
             ? NULL
             : query_added(object, copy, cst_query_param(copy, name, type, value, &error), &error);
}

/* rows(path) */
static PyObject *query_rows(PyObject *object, PyObject *args) {
  const char *path;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "s:rows", &path)) {
    return NULL;
  }
  cst_query *copy = query_copy(object);
  return copy == NULL ? NULL
                      : query_added(object, copy, cst_query_rows(copy, path, &error), &error);
}

/* Statements of two texts. */
typedef cst_status query_pair(cst_query *query, const char *a, const char *b, cst_error *error);

static PyObject *query_add_pair(PyObject *object, PyObject *args, query_pair *add) {
  const char *a, *b;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "ss:statement", &a, &b)) {
    return NULL;
  }
  cst_query *copy = query_copy(object);
  return copy == NULL ? NULL : query_added(object, copy, add(copy, a, b, &error), &error);
}

static PyObject *query_let(PyObject *object, PyObject *args) {
  return query_add_pair(object, args, cst_query_let);
}

static PyObject *query_rename(PyObject *object, PyObject *args) {
  return query_add_pair(object, args, cst_query_rename);
}

static PyObject *query_output(PyObject *object, PyObject *args) {
  return query_add_pair(object, args, cst_query_output);
}

/* keep(patterns, depth) */
static PyObject *query_keep(PyObject *object, PyObject *args) {
  PyObject *patterns;
  int depth;
  cst__py_names names;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "O!i:keep", &PyTuple_Type, &patterns, &depth) ||
      cst__py_names_init(&names, patterns) < 0) {
    return NULL;
  }
  cst_query *copy = query_copy(object);
  cst_status status =
      copy == NULL ? CST_NO_MEMORY : cst_query_keep(copy, names.names, names.count, depth, &error);
  cst__py_names_reset(&names);
  return copy == NULL ? NULL : query_added(object, copy, status, &error);
}

/* drop(patterns) */
static PyObject *query_drop(PyObject *object, PyObject *args) {
  PyObject *patterns;
  cst__py_names names;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "O!:drop", &PyTuple_Type, &patterns) ||
      cst__py_names_init(&names, patterns) < 0) {
    return NULL;
  }
  cst_query *copy = query_copy(object);
  cst_status status =
      copy == NULL ? CST_NO_MEMORY : cst_query_drop(copy, names.names, names.count, &error);
  cst__py_names_reset(&names);
  return copy == NULL ? NULL : query_added(object, copy, status, &error);
}

/* ---- functions ---- */

static PyObject *functions_with(PyObject *functions, PyObject *added) {
  PyObject *one = PyTuple_Pack(1, added);
  PyObject *all = one == NULL ? NULL : PySequence_Concat(functions, one);
  Py_XDECREF(one);
  return all;
}

/* add_function: see cst__py_query_function */
static PyObject *query_add_function(PyObject *object, PyObject *args) {
  cst__py_state *state = cst__py_state_of(object);
  cst_query_function function;
  cst_error error = CST_ERROR_INIT;
  if (cst__py_query_function(state, args, &function) < 0) {
    return NULL;
  }
  cst_query *copy = query_copy(object);
  if (copy == NULL) {
    function.close(function.ctx);
    return NULL;
  }
  if (cst_query_add_function(copy, &function, &error) != CST_OK) {
    cst_query_free(copy);
    return cst__py_raise(state, &error);
  }
  PyObject *called = PyTuple_GetItem(args, PyTuple_Size(args) - 1);
  return query_wrap(Py_TYPE(object), copy,
                    functions_with(((query_object *)object)->functions, called));
}

/* ---- text ---- */

static PyObject *query_get_text(PyObject *object, void *closure) {
  char *text = NULL;
  size_t size = 0;
  cst_error error = CST_ERROR_INIT;
  (void)closure;
  if (cst_query_to_text(((query_object *)object)->query, &text, &size, &error) != CST_OK) {
    return cst__py_raise(cst__py_state_of(object), &error);
  }
  PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "strict");
  cst_free(text);
  return made;
}

static PyObject *query_get_functions(PyObject *object, void *closure) {
  (void)closure;
  return Py_NewRef(((query_object *)object)->functions);
}

static PyMethodDef methods[] = {
    {"add", query_add, METH_VARARGS, NULL},
    {"param", query_param, METH_VARARGS, NULL},
    {"let", query_let, METH_VARARGS, NULL},
    {"rows", query_rows, METH_VARARGS, NULL},
    {"keep", query_keep, METH_VARARGS, NULL},
    {"drop", query_drop, METH_VARARGS, NULL},
    {"rename", query_rename, METH_VARARGS, NULL},
    {"output", query_output, METH_VARARGS, NULL},
    {"add_function", query_add_function, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"text", query_get_text, NULL, NULL, NULL},
    {"functions", query_get_functions, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.Query."},
    {Py_tp_new, new_query},
    {Py_tp_dealloc, query_dealloc},
    {Py_tp_traverse, query_traverse},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_query_spec = {
    .name = "columnstone._core.Query",
    .basicsize = sizeof(query_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
