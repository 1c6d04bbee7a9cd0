/* Functions of a query in Python: an object with call(batch), which any thread of the library may
 * call. What it raises goes to its list `failures`, and becomes the exception of the call of the
 * library that failed for it.
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/query/query.h"
#include "ext/table/table.h"

typedef struct function_ctx {
  cst__py_state *state;
  PyObject *object;
  char format[]; /* Arrow's, of what it has to give */
} function_ctx;

enum { MOST_FAILURES = 64 }; /* that nobody has asked for are kept, for each function */

/* Without Python there is nobody to give the object to: it stays until the process ends. */
static void function_close(void *ctx) {
  function_ctx *function = ctx;
  PyGILState_STATE gil;
  if (cst__py_enter(function->state->gate, &gil)) {
    Py_DECREF(function->object);
    cst__py_leave(function->state->gate, gil);
    free(function);
  }
}

/* ---- a call, with the GIL ---- */

static void lent_release(struct ArrowArray *array) { array->release = NULL; }

/* The arguments as a batch of their own: the object may keep what it gets. NULL with an exception.
 */
static PyObject *function_batch(cst__py_state *state, const struct ArrowSchema *schema,
                                const struct ArrowArray *args) {
  struct ArrowArray lent = *args;
  lent.release = lent_release;
  cst_array *shared = NULL;
  cst_array *copy = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_array_import(schema, &lent, CST_ARRAY_TRUSTED, NULL, &shared, &error);
  if (status == CST_OK) {
    const cst_array *const one[] = {shared};
    status = cst_array_concat(one, 1, &copy, &error);
  }
  cst_array_release(shared);
  return status == CST_OK ? cst__py_table_wrap(state, copy, true) : cst__py_raise(state, &error);
}

/* Moves out what the object gave, whole as the library takes it. 0, or -1 with an exception. */
static int function_take(const function_ctx *function, PyObject *given, int64_t length,
                         struct ArrowArray *out) {
  struct ArrowSchema schema;
  if (cst__py_import_array(given, &schema, out) < 0) {
    return -1;
  }
  cst_array *made = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_array_import(&schema, out, 0, NULL, &made, &error);
  schema.release(&schema);
  if (status != CST_OK) {
    cst__py_release_array(out);
    cst__py_raise(function->state, &error);
    return -1;
  }
  if (cst_array_length(made) != length) {
    cst__py_fail(function->state, CST_INVALID_ARGUMENT, "", "%lld values were given for %lld",
                 (long long)cst_array_length(made), (long long)length);
  } else if (strcmp(cst_array_schema(made)->format, function->format) != 0) {
    cst__py_fail(function->state, CST_INVALID_ARGUMENT, "",
                 "values of Arrow's format '%.40s' were given, and it was to be '%.40s'",
                 cst_array_schema(made)->format, function->format);
  } else if (cst_array_export(made, out, &error) == CST_OK) {
    cst_array_release(made);
    return 0;
  } else {
    cst__py_raise(function->state, &error);
  }
  cst_array_release(made);
  return -1;
}

static int function_run(const function_ctx *function, const struct ArrowSchema *schema,
                        const struct ArrowArray *args, struct ArrowArray *out) {
  PyObject *batch = function_batch(function->state, schema, args);
  PyObject *given =
      batch == NULL ? NULL : PyObject_CallMethod(function->object, "call", "O", batch);
  int result = given == NULL ? -1 : function_take(function, given, args->length, out);
  Py_XDECREF(batch);
  Py_XDECREF(given);
  return result;
}

/* ---- what it raised ---- */

/* The list of the object; NULL, without an exception. */
static PyObject *failures_of(PyObject *object) {
  PyObject *failures = PyObject_GetAttrString(object, "failures");
  if (failures == NULL || !PyList_Check(failures)) {
    PyErr_Clear();
    Py_CLEAR(failures);
  }
  return failures;
}

static cst_status function_fail(const function_ctx *function, cst_error *error) {
  PyObject *exception = NULL;
  cst_status status = cst__py_keep_exception(&exception, "the function raised", error);
  PyObject *failures = failures_of(function->object);
  PyObject *failure = exception == NULL || failures == NULL
                          ? NULL
                          : Py_BuildValue("(yO)", error->message, exception);
  if (failure == NULL || PyList_Append(failures, failure) < 0 ||
      (PyList_Size(failures) > MOST_FAILURES && PyList_SetSlice(failures, 0, 1, NULL) < 0)) {
    PyErr_Clear(); /* the error has its text */
  }
  Py_XDECREF(failure);
  Py_XDECREF(failures);
  Py_XDECREF(exception);
  return status;
}

/* The exception whose message the error has, borrowed from the list; what is around the message is
 * the place in the query. */
static PyObject *failure_find(PyObject *failures, const cst_error *error) {
  for (Py_ssize_t i = 0; i < PyList_Size(failures); i++) {
    PyObject *failure = PyList_GetItem(failures, i);
    if (strstr(error->message, PyBytes_AsString(PyTuple_GetItem(failure, 0))) != NULL) {
      return PyTuple_GetItem(failure, 1);
    }
  }
  return NULL;
}

void cst__py_query_function_take(cst__py_state *state, PyObject *functions, const cst_error *error,
                                 cst__py_kept *into) {
  for (Py_ssize_t i = 0; i < PyTuple_Size(functions); i++) {
    PyObject *failures = failures_of(PyTuple_GetItem(functions, i));
    if (failures == NULL) {
      continue;
    }
    PyObject *exception = error->code == CST_CALLBACK ? failure_find(failures, error) : NULL;
    if (exception != NULL) {
      into->moment = cst__py_moment(state->gate);
      cst__py_replace(&into->exception, Py_NewRef(exception));
    }
    if (PyList_SetSlice(failures, 0, PyList_Size(failures), NULL) < 0) {
      PyErr_Clear();
    }
    Py_DECREF(failures);
  }
}

/* ---- the library's side ---- */

static cst_status function_call(void *ctx, const struct ArrowSchema *schema,
                                const struct ArrowArray *args, struct ArrowArray *out,
                                cst_error *error) {
  function_ctx *function = ctx;
  cst__py_gate *gate = function->state->gate;
  PyGILState_STATE gil;
  cst_status status = CST_OK;
  if (!cst__py_enter(gate, &gil)) {
    return cst__py_refuse(error);
  }
  if (function_run(function, schema, args, out) < 0) {
    status = function_fail(function, error);
  }
  cst__py_leave(gate, gil);
  return status;
}

int cst__py_query_function(cst__py_state *state, PyObject *args, cst_query_function *out) {
  const char *format;
  Py_ssize_t num_args;
  PyObject *object;
  if (!PyArg_ParseTuple(args, "sssnO:add_function", &out->name, &out->type, &format, &num_args,
                        &object)) {
    return -1;
  }
  function_ctx *function = calloc(1, sizeof *function + strlen(format) + 1);
  if (function == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  function->state = state;
  function->object = Py_NewRef(object);
  memcpy(function->format, format, strlen(format) + 1);
  out->num_args = (size_t)num_args;
  out->call = function_call;
  out->close = function_close;
  out->ctx = function;
  return 0;
}
