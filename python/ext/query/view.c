/* View: a query bound to its input. Immutable; its calls let the GIL go, and any number of threads
 * may run one at once. */
#include <stdlib.h>
#include <time.h>

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
  PyObject *limits;    /* tuple of three: see Limits in _query/view.py */
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
  PyObject *limits;
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

/* (what, message or None, schema or None, type or None, params, outputs or None, limits, recipe) */
static int view_parts_init(view_parts *parts, cst__py_state *state, PyObject *args,
                           PyObject **recipe) {
  PyObject *message, *schema, *type, *params, *outputs;
  long long most[3];
  *parts = (view_parts){.options = CST_VIEW_OPTIONS_INIT};
  if (!PyArg_ParseTuple(args, "OOOOO!OO!O:View", &parts->what, &message, &schema, &type,
                        &PyTuple_Type, &params, &outputs, &PyTuple_Type, &parts->limits, recipe) ||
      !PyArg_ParseTuple(parts->limits, "LLL:limits", &most[0], &most[1], &most[2]) ||
      cst__py_message_init(&parts->message, state, message) < 0 ||
      cst__py_schema_arg(state, schema, &parts->options.schema) < 0 ||
      view_params_init(parts, params) < 0 || cst__py_names_init(&parts->outputs, outputs) < 0) {
    return -1;
  }
  parts->options.message = cst__py_message_view(&parts->message);
  parts->options.outputs = parts->outputs.names;
  parts->options.num_outputs = parts->outputs.count;
  parts->options.max_elements = most[0];
  parts->options.max_bytes = most[1];
  parts->options.max_work = most[2];
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
  status = cst_view_from_bytes(bytes, (size_t)size, &parts->options, out, error);
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
                           PyObject *limits, PyObject *recipe) {
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
  self->limits = Py_NewRef(limits);
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
    made = view == NULL ? NULL : view_wrap(type, view, functions, parts.limits, recipe);
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
  Py_XDECREF(self->limits);
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

static PyObject *view_get_uses_record_index(PyObject *object, void *closure) {
  (void)closure;
  return PyBool_FromLong(cst_view_uses_record_index(((view_object *)object)->view));
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

static PyObject *view_get_limits(PyObject *object, void *closure) {
  (void)closure;
  return Py_NewRef(((view_object *)object)->limits);
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

/* Outputs, or parameters. */
static PyObject *view_findings(PyObject *object,
                               cst_status (*find)(const cst_view *, cst_findings **, cst_error *)) {
  cst__py_state *state = cst__py_state_of(object);
  cst_findings *found;
  cst_error error = CST_ERROR_INIT;
  if (find(((view_object *)object)->view, &found, &error) != CST_OK) {
    return cst__py_raise(state, &error);
  }
  return cst__py_findings(state, found);
}

static PyObject *view_outputs(PyObject *object, PyObject *unused) {
  (void)unused;
  return view_findings(object, cst_view_outputs);
}

static PyObject *view_params(PyObject *object, PyObject *unused) {
  (void)unused;
  return view_findings(object, cst_view_params);
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

static PyObject *view_row_paths(PyObject *object, PyObject *unused) {
  const char *const *paths = NULL;
  size_t count = 0;
  cst_error error = CST_ERROR_INIT;
  (void)unused;
  return cst_view_row_paths(((view_object *)object)->view, &paths, &count, &error) == CST_OK
             ? names_tuple(paths, count)
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

/* diff(other): (text, number of changes that break readers, and of those that give them other rows)
 */
static PyObject *view_diff(PyObject *object, PyObject *args) {
  PyObject *other;
  char *text = NULL;
  size_t num_breaking = 0;
  size_t num_rows = 0;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "O!:diff", Py_TYPE(object), &other)) {
    return NULL;
  }
  if (cst_view_diff(((view_object *)object)->view, ((view_object *)other)->view, &text,
                    &num_breaking, &num_rows, &error) != CST_OK) {
    return cst__py_raise(cst__py_state_of(object), &error);
  }
  PyObject *made = view_take_text(text, strlen(text));
  return made == NULL
             ? NULL
             : Py_BuildValue("(Nnn)", made, (Py_ssize_t)num_breaking, (Py_ssize_t)num_rows);
}

static PyObject *view_write(PyObject *object, PyObject *unused) {
  void *bytes = NULL;
  size_t size = 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  (void)unused;
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_to_bytes(((view_object *)object)->view, &bytes, &size, &error);
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

/* How a call goes: the argument `how` of run, tensors and apply, (on_error, on_bad or None,
 * seconds), and what comes of on_bad. */
typedef struct view_call {
  cst_view_run_options options;
  cst__py_state *state;
  PyObject *on_bad; /* borrowed; NULL: nobody wants them */
  PyObject *exception;
} view_call;

/* On the thread of the call, which has let the GIL go. What it raises is raised after the call. */
static void view_note_bad(void *ctx, const cst_error *error) {
  view_call *call = ctx;
  PyGILState_STATE gil;
  if (call->exception != NULL || !cst__py_enter(call->state->gate, &gil)) {
    return;
  }
  PyObject *object = cst__py_error_object(call->state, error);
  PyObject *answer =
      object == NULL ? NULL : PyObject_CallFunctionObjArgs(call->on_bad, object, NULL);
  if (answer == NULL) {
    (void)cst__py_keep_exception(&call->exception, "", NULL);
  }
  Py_XDECREF(object);
  Py_XDECREF(answer);
  cst__py_leave(call->state->gate, gil);
}

/* The time on the clock of deadlines; no sooner than the first tick of it. */
static int64_t deadline_after(double seconds) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double left = (double)(INT64_MAX / 4);
  double wanted = seconds * 1e9;
  int64_t at = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  return at + (int64_t)(wanted < left ? wanted : left) + 1;
}

/* The options point into `call`. */
static int view_call_init(view_call *call, cst__py_state *state, PyObject *how) {
  int policy;
  double seconds;
  *call = (view_call){.options = CST_VIEW_RUN_OPTIONS_INIT, .state = state};
  if (!PyArg_ParseTuple(how, "iOd:how", &policy, &call->on_bad, &seconds)) {
    return -1;
  }
  call->options.on_error = (cst_on_error)policy;
  if (call->on_bad != Py_None) {
    call->options.on_bad = view_note_bad;
    call->options.bad_ctx = call;
  }
  call->options.deadline = seconds >= 0 ? deadline_after(seconds) : 0;
  return 0;
}

/* Raises what on_bad has raised (true): what has been made goes. */
static bool view_call_raised(view_call *call) {
  if (call->exception == NULL) {
    return false;
  }
  PyErr_SetObject((PyObject *)Py_TYPE(call->exception), call->exception);
  Py_CLEAR(call->exception);
  return true;
}

/* Raises why a call failed, but not in the place of what on_bad raised. */
static PyObject *view_call_raise(view_call *call, PyObject *functions, const cst_error *error) {
  return view_call_raised(call) ? NULL : view_raise(call->state, functions, error);
}

static PyObject *view_call_tensors(view_call *call, cst_tensors *tensors, PyObject *sparse,
                                   PyObject *ragged) {
  if (view_call_raised(call)) {
    cst_tensors_release(tensors);
    return NULL;
  }
  return cst__py_tensors_dict(call->state, tensors, sparse, ragged);
}

/* tensors(records, how, sparse, ragged): a dict of them */
static PyObject *view_tensors(PyObject *object, PyObject *args) {
  view_object *self = (view_object *)object;
  PyObject *given, *how, *sparse, *ragged;
  cst__py_records records;
  view_call call;
  cst_tensors *tensors = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO!OO:tensors", &given, &PyTuple_Type, &how, &sparse, &ragged) ||
      view_call_init(&call, cst__py_state_of(object), how) < 0 ||
      cst__py_records_init(&records, given) < 0) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_run(self->view, records.bytes, (size_t)records.count, &call.options, &tensors,
                        &error);
  Py_END_ALLOW_THREADS
  cst__py_records_reset(&records);
  return status == CST_OK ? view_call_tensors(&call, tensors, sparse, ragged)
                          : view_call_raise(&call, self->functions, &error);
}

/* apply_tensors(RecordBatch, how, sparse, ragged): a dict of them */
static PyObject *view_apply_tensors(PyObject *object, PyObject *args) {
  view_object *self = (view_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  PyObject *given, *how, *sparse, *ragged;
  struct ArrowArray in;
  view_call call;
  cst_tensors *tensors = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (!PyArg_ParseTuple(args, "O!O!OO:apply_tensors", state->batch_type, &given, &PyTuple_Type,
                        &how, &sparse, &ragged) ||
      view_call_init(&call, state, how) < 0) {
    return NULL;
  }
  PyObject *schema = Py_NewRef(cst__py_batch_lend(given, &in));
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_apply_tensors(self->view, cst__py_arrow_schema_view(schema), &in, &call.options,
                                  &tensors, &error);
  Py_END_ALLOW_THREADS
  Py_DECREF(schema);
  return status == CST_OK ? view_call_tensors(&call, tensors, sparse, ragged)
                          : view_call_raise(&call, self->functions, &error);
}

/* The batch that goes out, of the view's schema or, with rows of nulls, of one that has nulls.
 * Takes both over. */
static PyObject *view_call_batch(view_call *call, const view_object *self,
                                 struct ArrowSchema *schema, struct ArrowArray *batch) {
  bool is_usual = call->options.on_error != CST_ON_ERROR_NULL;
  if (view_call_raised(call)) {
    schema->release(schema);
    cst__py_release_array(batch);
    return NULL;
  }
  if (is_usual) {
    schema->release(schema);
    return cst__py_batch_new(call->state, self->schema, batch);
  }
  PyObject *type = cst__py_arrow_schema_new(call->state, schema);
  if (type == NULL) {
    cst__py_release_array(batch);
    return NULL;
  }
  PyObject *made = cst__py_batch_new(call->state, type, batch);
  Py_DECREF(type);
  return made;
}

/* The int64 numbers of the records that rows come from, as an Array. Takes them over. */
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

/* (RecordBatch, records that its rows come from); takes all of it over. */
static PyObject *view_call_rows(view_call *call, const view_object *self,
                                struct ArrowSchema *schema, struct ArrowArray *out,
                                struct ArrowArray *origin) {
  PyObject *batch = view_call_batch(call, self, schema, out);
  if (batch == NULL) {
    cst__py_release_array(origin);
    return NULL;
  }
  PyObject *rows = view_origin(call->state, origin);
  if (rows == NULL) {
    Py_DECREF(batch);
    return NULL;
  }
  return Py_BuildValue("(NN)", batch, rows);
}

/* run(records, how): as apply */
static PyObject *view_run(PyObject *object, PyObject *args) {
  view_object *self = (view_object *)object;
  PyObject *given, *how;
  cst__py_records records;
  view_call call;
  struct ArrowSchema schema;
  struct ArrowArray batch, origin;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO!:run", &given, &PyTuple_Type, &how) ||
      view_call_init(&call, cst__py_state_of(object), how) < 0 ||
      cst__py_records_init(&records, given) < 0) {
    return NULL;
  }
  call.options.origin = &origin;
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_run_arrow(self->view, records.bytes, (size_t)records.count, &call.options,
                              &schema, &batch, &error);
  Py_END_ALLOW_THREADS
  cst__py_records_reset(&records);
  return status == CST_OK ? view_call_rows(&call, self, &schema, &batch, &origin)
                          : view_call_raise(&call, self->functions, &error);
}

/* apply(RecordBatch, how): (RecordBatch, rows that its rows come from) */
static PyObject *view_apply(PyObject *object, PyObject *args) {
  view_object *self = (view_object *)object;
  cst__py_state *state = cst__py_state_of(object);
  PyObject *given, *how;
  struct ArrowArray in, out, origin;
  view_call call;
  struct ArrowSchema schema;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (!PyArg_ParseTuple(args, "O!O!:apply", state->batch_type, &given, &PyTuple_Type, &how) ||
      view_call_init(&call, state, how) < 0) {
    return NULL;
  }
  PyObject *in_schema = Py_NewRef(cst__py_batch_lend(given, &in));
  call.options.origin = &origin;
  Py_BEGIN_ALLOW_THREADS
  status = cst_view_apply(self->view, cst__py_arrow_schema_view(in_schema), &in, &call.options,
                          &schema, &out, &error);
  Py_END_ALLOW_THREADS
  Py_DECREF(in_schema);
  return status == CST_OK ? view_call_rows(&call, self, &schema, &out, &origin)
                          : view_call_raise(&call, self->functions, &error);
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
    {"row_paths", view_row_paths, METH_NOARGS, NULL},
    {"outputs", view_outputs, METH_NOARGS, NULL},
    {"params", view_params, METH_NOARGS, NULL},
    {"explain", view_explain, METH_VARARGS, NULL},
    {"diff", view_diff, METH_VARARGS, NULL},
    {"write", view_write, METH_NOARGS, NULL},
    {"save", view_save, METH_VARARGS, NULL},
    {"run", view_run, METH_VARARGS, NULL},
    {"tensors", view_tensors, METH_VARARGS, NULL},
    {"apply", view_apply, METH_VARARGS, NULL},
    {"apply_tensors", view_apply_tensors, METH_VARARGS, NULL},
    {"__reduce__", view_reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"text", view_get_text, NULL, NULL, NULL},
    {"digest", view_get_digest, NULL, NULL, NULL},
    {"message", view_get_message, NULL, NULL, NULL},
    {"uses_record_index", view_get_uses_record_index, NULL, NULL, NULL},
    {"input", view_get_input, NULL, NULL, NULL},
    {"arrow_schema", view_get_arrow_schema, NULL, NULL, NULL},
    {"functions", view_get_functions, NULL, NULL, NULL},
    {"limits", view_get_limits, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.View."},
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
