/* View: a query bound to its input. Immutable; its calls let the GIL go, and any number of threads
 * may run one at once. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/decode/decode.h"
#include "ext/message/message.h"
#include "ext/query/query.h"
#include "ext/schema/schema.h"
#include "ext/table/table.h"
#include "ext/tensor/tensor.h"

typedef struct view_object {
  PyObject_HEAD cst_view *view;
  PyObject *schema;    /* ArrowSchema of what goes out */
  PyObject *functions; /* tuple of the objects of Python's that it calls */
  PyObject *recipe;    /* (function, arguments) that make it again; see view_reduce */
} view_object;

int cst__py_view_arg(cst__py_state *state, PyObject *object, const cst_view **out) {
  *out = NULL;
  if (object == Py_None) {
    return 0;
  }
  if (Py_TYPE(object) != state->view_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.View");
    return -1;
  }
  *out = ((view_object *)object)->view;
  return 0;
}

PyObject *cst__py_view_functions(PyObject *self) { return ((view_object *)self)->functions; }

/* Raises why a call failed: what a function of Python's raised, if it is that. */
static PyObject *view_raise(cst__py_state *state, PyObject *functions, const cst_error *error) {
  cst__py_kept kept = {.exception = NULL};
  cst__py_query_function_take(state, functions, error, &kept);
  if (cst__py_kept_deliver(&kept)) {
    return NULL;
  }
  return error->code == CST_NOT_FOUND ? cst__py_raise_as(state->field_error, error)
                                      : cst__py_raise(state, error);
}

/* ---- making ---- */

/* What a view is made of, borrowed from the arguments. */
typedef struct view_parts {
  PyObject *what; /* Query, or bytes of a saved view */
  cst__py_message message;
  struct ArrowSchema type; /* release NULL: not given */
  cst_query_value *params;
  cst__py_names outputs;
  cst_view_options options;
} view_parts;

static void view_parts_reset(view_parts *parts) {
  if (parts->type.release != NULL) {
    parts->type.release(&parts->type);
  }
  free(parts->params);
  cst__py_names_reset(&parts->outputs);
}

static int view_params_init(view_parts *parts, PyObject *tuple) {
  Py_ssize_t count = PyTuple_Size(tuple);
  parts->params = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *parts->params);
  if (parts->params == NULL) {
    return count < 0 ? -1 : (PyErr_NoMemory(), -1);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    cst_query_value *value = &parts->params[i];
    PyObject *pair = PyTuple_GetItem(tuple, i);
    if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "ss:param", &value->name, &value->value)) {
      if (PyErr_Occurred() == NULL) {
        PyErr_SetString(PyExc_TypeError, "a parameter is a tuple here");
      }
      return -1;
    }
  }
  parts->options.params = parts->params;
  parts->options.num_params = (size_t)count;
  return 0;
}

/* (what, message or None, schema or None, type or None, params, outputs or None, recipe) */
static int view_parts_init(view_parts *parts, cst__py_state *state, PyObject *args,
                           PyObject **recipe) {
  PyObject *message, *schema, *type, *params, *outputs;
  *parts = (view_parts){.options = CST_VIEW_OPTIONS_INIT};
  if (!PyArg_ParseTuple(args, "OOOOO!OO:View", &parts->what, &message, &schema, &type,
                        &PyTuple_Type, &params, &outputs, recipe) ||
      cst__py_message_init(&parts->message, state, message) < 0 ||
      cst__py_schema_arg(state, schema, &parts->options.schema) < 0 ||
      view_params_init(parts, params) < 0 || cst__py_names_init(&parts->outputs, outputs) < 0) {
    return -1;
  }
  parts->options.message = cst__py_message_view(&parts->message);
  parts->options.outputs = parts->outputs.names;
  parts->options.num_outputs = parts->outputs.count;
  if (type == Py_None) {
    return 0;
  }
  parts->options.type = &parts->type;
  return cst__py_import_schema(type, &parts->type);
}

static cst_status view_read(const view_parts *parts, cst_view **out, cst_error *error) {
  char *bytes;
  Py_ssize_t size;
  cst_status status;
  if (PyBytes_AsStringAndSize(parts->what, &bytes, &size) < 0) {
    return CST_INVALID_ARGUMENT;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_read(bytes, (size_t)size, &parts->options, out, error);
  Py_END_ALLOW_THREADS
  return status;
}

/* The GIL stays where a query is bound: others may bind it, too. */
static cst_view *view_make(const view_parts *parts, cst__py_state *state, PyObject *functions) {
  cst_view *view = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (Py_TYPE(parts->what) == state->query_type) {
    status = cst_view_new(cst__py_query_view(parts->what), &parts->options, &view, &error);
  } else {
    status = view_read(parts, &view, &error);
  }
  if (status != CST_OK && PyErr_Occurred() == NULL) {
    view_raise(state, functions, &error);
  }
  return view;
}

/* Takes the view over, also on failure. */
static PyObject *view_wrap(PyTypeObject *type, cst_view *view, PyObject *functions,
                           PyObject *recipe) {
  cst__py_state *state = PyType_GetModuleState(type);
  struct ArrowSchema out;
  cst_error error = CST_ERROR_INIT;
  PyObject *schema = NULL;
  if (cst_view_arrow_schema(view, &out, &error) == CST_OK) {
    schema = cst__py_arrow_schema_new(state, &out);
  } else {
    cst__py_raise(state, &error);
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  view_object *self = schema == NULL ? NULL : (view_object *)allocate(type, 0);
  if (self == NULL) {
    Py_XDECREF(schema);
    cst_view_release(view);
    return NULL;
  }
  self->view = view;
  self->schema = schema;
  self->functions = Py_NewRef(functions);
  self->recipe = Py_NewRef(recipe);
  return (PyObject *)self;
}

static PyObject *new_view(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  cst__py_state *state = PyType_GetModuleState(type);
  view_parts parts;
  PyObject *recipe = NULL;
  PyObject *made = NULL;
  (void)kwargs;
  if (view_parts_init(&parts, state, args, &recipe) == 0) {
    PyObject *functions = Py_TYPE(parts.what) == state->query_type
                              ? Py_NewRef(cst__py_query_functions(parts.what))
                              : PyTuple_New(0);
    cst_view *view = functions == NULL ? NULL : view_make(&parts, state, functions);
    made = view == NULL ? NULL : view_wrap(type, view, functions, recipe);
    Py_XDECREF(functions);
  }
  view_parts_reset(&parts);
  return made;
}

static int view_traverse(PyObject *object, visitproc visit, void *arg) {
  view_object *self = (view_object *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->functions);
  Py_VISIT(self->recipe);
  return 0;
}

static void view_dealloc(PyObject *object) {
  view_object *self = (view_object *)object;
  PyObject_GC_UnTrack(object);
  cst__py_pending pending = cst__py_put_aside();
  cst_view_release(self->view);
  cst__py_put_back(pending);
  Py_XDECREF(self->schema);
  Py_XDECREF(self->functions);
  Py_XDECREF(self->recipe);
  cst__py_free(object);
}

/* ---- what it is ---- */

static PyObject *view_text_or_none(const char *text) {
  return text == NULL ? Py_NewRef(Py_None) : PyUnicode_FromString(text);
}

static PyObject *view_get_text(PyObject *object, void *closure) {
  (void)closure;
  return view_text_or_none(cst_view_text(((view_object *)object)->view));
}

static PyObject *view_get_digest(PyObject *object, void *closure) {
  const char *digest;
  (void)closure;
  Py_BEGIN_ALLOW_THREADS
  digest = cst_view_digest(((view_object *)object)->view);
  Py_END_ALLOW_THREADS
  return view_text_or_none(digest);
}

static PyObject *view_get_message(PyObject *object, void *closure) {
  (void)closure;
  return view_text_or_none(cst_view_message(((view_object *)object)->view));
}

static PyObject *view_get_input(PyObject *object, void *closure) {
  (void)closure;
  return view_text_or_none(cst_view_input(((view_object *)object)->view));
}

static PyObject *view_get_arrow_schema(PyObject *object, void *closure) {
  (void)closure;
  return Py_NewRef(((view_object *)object)->schema);
}

static PyObject *view_get_functions(PyObject *object, void *closure) {
  (void)closure;
  return Py_NewRef(((view_object *)object)->functions);
}

static PyObject *names_tuple(const char *const *names, size_t count) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)count);
  for (size_t i = 0; tuple != NULL && i < count; i++) {
    PyObject *name = PyUnicode_FromString(names[i]);
    if (name == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, name) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

static PyObject *view_get_outputs(PyObject *object, void *closure) {
  const cst_view *view = ((view_object *)object)->view;
  size_t count = cst_view_num_outputs(view);
  const char **names = malloc((count + 1) * sizeof *names);
  (void)closure;
  if (names == NULL) {
    return PyErr_NoMemory();
  }
  for (size_t i = 0; i < count; i++) {
    names[i] = cst_view_output(view, i);
  }
  PyObject *tuple = names_tuple(names, count);
  free(names);
  return tuple;
}

static PyObject *view_specs(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_specs_list(cst_view_specs(((view_object *)object)->view));
}

/* source_paths(output or None) */
static PyObject *view_source_paths(PyObject *object, PyObject *args) {
  const char *output;
  const char *const *paths = NULL;
  size_t count = 0;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "z:source_paths", &output)) {
    return NULL;
  }
  cst_status status =
      cst_view_source_paths(((view_object *)object)->view, output, &paths, &count, &error);
  return status == CST_OK ? names_tuple(paths, count)
                          : cst__py_raise(cst__py_state_of(object), &error);
}

/* Takes the text over. */
static PyObject *view_take_text(char *text, size_t size) {
  PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
  cst_free(text);
  return made;
}

/* The plan with the numbers of elements of a batch. */
static cst_status view_explain_batch(const view_object *self, PyObject *batch, uint32_t flags,
                                     char **text, cst_error *error) {
  struct ArrowArray in;
  cst_status status;
  PyObject *schema = Py_NewRef(cst__py_batch_lend(batch, &in));
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_explain_batch(self->view, cst__py_arrow_schema_view(schema), &in, flags, text,
                                  error);
  Py_END_ALLOW_THREADS
  Py_DECREF(schema);
  return status;
}

/* explain(as JSON, RecordBatch or None) */
static PyObject *view_explain(PyObject *object, PyObject *args) {
  view_object *self = (view_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  PyObject *batch;
  int json;
  char *text = NULL;
  size_t size = 0;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "pO:explain", &json, &batch)) {
    return NULL;
  }
  if (batch != Py_None && Py_TYPE(batch) != state->batch_type) {
    PyErr_SetString(PyExc_TypeError, "expected a RecordBatch");
    return NULL;
  }
  uint32_t flags = json ? CST_EXPLAIN_JSON : 0;
  cst_status status = batch == Py_None ? cst_view_explain(self->view, flags, &text, &size, &error)
                                       : view_explain_batch(self, batch, flags, &text, &error);
  if (status != CST_OK) {
    return view_raise(state, self->functions, &error);
  }
  return view_take_text(text, strlen(text));
}

/* diff(other): (text, number of changes that break readers) */
static PyObject *view_diff(PyObject *object, PyObject *args) {
  PyObject *other;
  char *text = NULL;
  size_t size = 0;
  size_t num_breaking = 0;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "O!:diff", Py_TYPE(object), &other)) {
    return NULL;
  }
  if (cst_view_diff(((view_object *)object)->view, ((view_object *)other)->view, &text, &size,
                    &num_breaking, &error) != CST_OK) {
    return cst__py_raise(cst__py_state_of(object), &error);
  }
  PyObject *made = view_take_text(text, size);
  return made == NULL ? NULL : Py_BuildValue("(Nn)", made, (Py_ssize_t)num_breaking);
}

static PyObject *view_write(PyObject *object, PyObject *unused) {
  void *bytes = NULL;
  size_t size = 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  (void)unused;
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_write(((view_object *)object)->view, &bytes, &size, &error);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    return cst__py_raise(cst__py_state_of(object), &error);
  }
  PyObject *made = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
  cst_free(bytes);
  return made;
}

/* save(path) */
static PyObject *view_save(PyObject *object, PyObject *args) {
  PyObject *path;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "O&:save", PyUnicode_FSConverter, &path)) {
    return NULL;
  }
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_save(((view_object *)object)->view, PyBytes_AsString(path), &error);
  Py_END_ALLOW_THREADS
  Py_DECREF(path);
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(cst__py_state_of(object), &error);
}

/* ---- running ---- */

/* tensors(records, sparse, ragged): a dict of them */
static PyObject *view_tensors(PyObject *object, PyObject *args) {
  view_object *self = (view_object *)object;
  PyObject *given, *sparse, *ragged;
  cst__py_records records;
  cst_tensors *tensors = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OOO:tensors", &given, &sparse, &ragged) ||
      cst__py_records_init(&records, given) < 0) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_run(self->view, records.bytes, (size_t)records.count, &tensors, &error);
  Py_END_ALLOW_THREADS
  cst__py_records_reset(&records);
  cst__py_state *state = cst__py_state_of(object);
  return status == CST_OK ? cst__py_tensors_dict(state, tensors, sparse, ragged)
                          : view_raise(state, self->functions, &error);
}

/* The batch that goes out, which has the view's schema. */
static PyObject *view_batch(view_object *self, struct ArrowSchema *schema,
                            struct ArrowArray *batch) {
  schema->release(schema);
  return cst__py_batch_new(cst__py_state_of((PyObject *)self), self->schema, batch);
}

/* run(records): a RecordBatch */
static PyObject *view_run(PyObject *object, PyObject *given) {
  view_object *self = (view_object *)object;
  cst__py_records records;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (cst__py_records_init(&records, given) < 0) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status =
      cst_view_run_arrow(self->view, records.bytes, (size_t)records.count, &schema, &batch, &error);
  Py_END_ALLOW_THREADS
  cst__py_records_reset(&records);
  return status == CST_OK ? view_batch(self, &schema, &batch)
                          : view_raise(cst__py_state_of(object), self->functions, &error);
}

/* The int64 numbers of the rows that rows come from, as an Array. Takes them over. */
static PyObject *view_origin(cst__py_state *state, struct ArrowArray *origin) {
  struct ArrowSchema schema;
  PyObject *tree = Py_BuildValue("(yyiO()O)", "l", "", 0, Py_None, Py_None);
  int planted = tree == NULL ? -1 : cst__py_arrow_schema_plant(tree, &schema);
  Py_XDECREF(tree);
  PyObject *type = planted < 0 ? NULL : cst__py_arrow_schema_new(state, &schema);
  if (type == NULL) {
    cst__py_release_array(origin);
    return NULL;
  }
  PyObject *made = cst__py_array_new(state, type, origin);
  Py_DECREF(type);
  return made;
}

/* apply(RecordBatch): (RecordBatch, rows that its rows come from) */
static PyObject *view_apply(PyObject *object, PyObject *args) {
  view_object *self = (view_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  PyObject *given;
  struct ArrowArray in, out, origin;
  struct ArrowSchema schema;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (!PyArg_ParseTuple(args, "O!:apply", state->batch_type, &given)) {
    return NULL;
  }
  PyObject *in_schema = Py_NewRef(cst__py_batch_lend(given, &in));
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_apply(self->view, cst__py_arrow_schema_view(in_schema), &in, &schema, &out,
                          &origin, &error);
  Py_END_ALLOW_THREADS
  Py_DECREF(in_schema);
  if (status != CST_OK) {
    return view_raise(state, self->functions, &error);
  }
  PyObject *rows = view_origin(state, &origin);
  PyObject *batch = view_batch(self, &schema, &out);
  if (rows == NULL || batch == NULL) {
    Py_XDECREF(rows);
    Py_XDECREF(batch);
    return NULL;
  }
  return Py_BuildValue("(NN)", batch, rows);
}

/* The recipe; without functions of Python's its last argument is the saved form. */
static PyObject *view_reduce(PyObject *object, PyObject *unused) {
  view_object *self = (view_object *)object;
  PyObject *function, *args;
  if (PyTuple_Size(self->functions) > 0) {
    return Py_NewRef(self->recipe);
  }
  if (!PyArg_ParseTuple(self->recipe, "OO!:recipe", &function, &PyTuple_Type, &args)) {
    return NULL;
  }
  PyObject *bytes = view_write(object, unused);
  PyObject *last = bytes == NULL ? NULL : PyTuple_Pack(1, bytes);
  PyObject *all = last == NULL ? NULL : PySequence_Concat(args, last);
  Py_XDECREF(bytes);
  Py_XDECREF(last);
  return all == NULL ? NULL : Py_BuildValue("(ON)", function, all);
}

static PyMethodDef methods[] = {
    {"specs", view_specs, METH_NOARGS, NULL},
    {"source_paths", view_source_paths, METH_VARARGS, NULL},
    {"explain", view_explain, METH_VARARGS, NULL},
    {"diff", view_diff, METH_VARARGS, NULL},
    {"write", view_write, METH_NOARGS, NULL},
    {"save", view_save, METH_VARARGS, NULL},
    {"run", view_run, METH_O, NULL},
    {"tensors", view_tensors, METH_VARARGS, NULL},
    {"apply", view_apply, METH_VARARGS, NULL},
    {"__reduce__", view_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"text", view_get_text, NULL, NULL, NULL},
    {"digest", view_get_digest, NULL, NULL, NULL},
    {"message", view_get_message, NULL, NULL, NULL},
    {"input", view_get_input, NULL, NULL, NULL},
    {"outputs", view_get_outputs, NULL, NULL, NULL},
    {"arrow_schema", view_get_arrow_schema, NULL, NULL, NULL},
    {"functions", view_get_functions, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A query bound to its input; columnstone.View is the public face."},
    {Py_tp_new, new_view},
    {Py_tp_dealloc, view_dealloc},
    {Py_tp_traverse, view_traverse},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_view_spec = {
    .name = "columnstone._core.View",
    .basicsize = sizeof(view_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
