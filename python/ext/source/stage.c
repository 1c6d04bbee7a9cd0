/* Stages in Python: an object with bind(schema) and run(batch), which the library's threads call.
 *
 * bind gives an object that exports the schema of what run gives; run gives a pair: an object that
 * exports a batch, and one that exports the numbers of the rows that its rows come from, as an
 * int64 array, or None; refuse(schema, batch) raises where the batch does not have the schema. What
 * they raise is kept and becomes the exception of the call that failed.
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/source/source.h"

struct cst__py_stage {
  int refs; /* changes under the GIL */
  cst__py_state *state;
  PyObject *object;
  PyObject *input;    /* ArrowSchema of the batches that come; NULL: not bound */
  PyObject *output;   /* the same of those that go */
  PyObject *failures; /* list of (message of the error, exception): threads fail side by side, and
                         the pass ends with the failure of the first batch, not of the first call */
};

enum { MOST_FAILURES = 256 }; /* that nobody has asked for are kept */

/* ---- life ---- */

cst__py_stage *cst__py_stage_new(cst__py_state *state, PyObject *object) {
  cst__py_stage *stage = calloc(1, sizeof *stage);
  if (stage == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  *stage = (cst__py_stage){
      .refs = 1, .state = state, .object = Py_NewRef(object), .failures = PyList_New(0)};
  if (stage->failures == NULL) {
    cst__py_stage_release(stage);
    return NULL;
  }
  return stage;
}

void cst__py_stage_release(cst__py_stage *stage) {
  if (stage == NULL || --stage->refs > 0) {
    return;
  }
  cst__py_stage old = *stage;
  free(stage);
  Py_XDECREF(old.object);
  Py_XDECREF(old.input);
  Py_XDECREF(old.output);
  Py_XDECREF(old.failures);
}

int cst__py_stage_traverse(const cst__py_stage *stage, visitproc visit, void *arg) {
  Py_VISIT(stage->object);
  Py_VISIT(stage->failures);
  return 0;
}

/* Without Python there is nobody to give the object to: it stays until the process ends. */
static void close_stage(void *ctx) {
  cst__py_stage *stage = ctx;
  cst__py_gate *gate = stage->state->gate;
  PyGILState_STATE gil;
  if (cst__py_enter(gate, &gil)) {
    cst__py_stage_release(stage);
    cst__py_leave(gate, gil);
  }
}

/* ---- calls, with the GIL: 0, or -1 with an exception ---- */

/* A copy as an ArrowSchema object. */
static PyObject *schema_object(cst__py_state *state, const struct ArrowSchema *schema) {
  struct ArrowSchema copy;
  PyObject *tree = cst__py_arrow_schema_tree(schema);
  int result = tree == NULL ? -1 : cst__py_arrow_schema_plant(tree, &copy);
  Py_XDECREF(tree);
  return result < 0 ? NULL : cst__py_arrow_schema_new(state, &copy);
}

static int call_bind(cst__py_stage *stage, const struct ArrowSchema *input,
                     struct ArrowSchema *output) {
  PyObject *schema = schema_object(stage->state, input);
  PyObject *given = schema == NULL ? NULL : PyObject_CallMethod(stage->object, "bind", "O", schema);
  int result = given == NULL ? -1 : cst__py_import_schema(given, output);
  Py_XDECREF(given);
  PyObject *made = result < 0 ? NULL : schema_object(stage->state, output);
  if (made == NULL) {
    if (result == 0) {
      output->release(output);
    }
    Py_XDECREF(schema);
    return -1;
  }
  cst__py_replace(&stage->input, schema);
  cst__py_replace(&stage->output, made);
  return 0;
}

static int take_batch(const cst__py_stage *stage, PyObject *object, struct ArrowArray *out) {
  struct ArrowSchema schema;
  if (cst__py_import_array(object, &schema, out) < 0) {
    return -1;
  }
  bool same = cst__py_arrow_schema_equal(&schema, cst__py_arrow_schema_view(stage->output));
  schema.release(&schema);
  if (!same) {
    cst__py_release_array(out);
    out->release = NULL;
    PyObject *done = PyObject_CallMethod(stage->object, "refuse", "OO", stage->output, object);
    Py_XDECREF(done); /* it always raises */
  }
  return same ? 0 : -1;
}

static int take_rows(const cst__py_stage *stage, PyObject *object, struct ArrowArray *out) {
  struct ArrowSchema schema;
  if (object == Py_None) {
    return 0;
  }
  if (cst__py_import_array(object, &schema, out) < 0) {
    return -1;
  }
  bool fits = strcmp(schema.format, "l") == 0;
  schema.release(&schema);
  if (!fits) {
    cst__py_release_array(out);
    out->release = NULL;
    cst__py_fail(stage->state, CST_INVALID_ARGUMENT, "", "the rows of a stage are not int64");
  }
  return fits ? 0 : -1;
}

static int call_run(cst__py_stage *stage, struct ArrowArray *batch, struct ArrowArray *out,
                    struct ArrowArray *rows) {
  PyObject *given = cst__py_batch_new(stage->state, stage->input, batch);
  PyObject *pair = given == NULL ? NULL : PyObject_CallMethod(stage->object, "run", "O", given);
  PyObject *made;
  PyObject *from;
  Py_XDECREF(given);
  int result = pair != NULL && PyArg_ParseTuple(pair, "OO:run", &made, &from) ? 0 : -1;
  if (result == 0) {
    result = take_batch(stage, made, out);
  }
  if (result == 0 && take_rows(stage, from, rows) < 0) {
    cst__py_release_array(out);
    out->release = NULL;
    result = -1;
  }
  Py_XDECREF(pair);
  return result;
}

/* ---- callbacks ---- */

/* The exception that is set, for the error that the library carries on. */
static cst_status fail_call(cst__py_stage *stage, const char *who, cst_error *error) {
  PyObject *exception = NULL;
  cst_status status = cst__py_keep_exception(&exception, who, error);
  PyObject *failure = exception == NULL ? NULL : Py_BuildValue("(yO)", error->message, exception);
  if (failure == NULL || PyList_Append(stage->failures, failure) < 0 ||
      (PyList_Size(stage->failures) > MOST_FAILURES &&
       PyList_SetSlice(stage->failures, 0, 1, NULL) < 0)) {
    PyErr_Clear(); /* the error has its text */
  }
  Py_XDECREF(failure);
  Py_XDECREF(exception);
  return status;
}

static cst_status bind_stage(void *ctx, const struct ArrowSchema *input, struct ArrowSchema *output,
                             cst_error *error) {
  cst__py_stage *stage = ctx;
  cst__py_gate *gate = stage->state->gate;
  PyGILState_STATE gil;
  cst_status status = CST_OK;
  if (!cst__py_enter(gate, &gil)) {
    return cst__py_refuse(error);
  }
  if (call_bind(stage, input, output) < 0) {
    status = fail_call(stage, "for a batch without rows, the stage raised", error);
  }
  cst__py_leave(gate, gil);
  return status;
}

static cst_status run_stage(void *ctx, struct ArrowArray *batch, struct ArrowArray *out,
                            struct ArrowArray *origin, cst_error *error) {
  cst__py_stage *stage = ctx;
  cst__py_gate *gate = stage->state->gate;
  PyGILState_STATE gil;
  cst_status status = CST_OK;
  if (!cst__py_enter(gate, &gil)) {
    batch->release(batch);
    return cst__py_refuse(error);
  }
  if (call_run(stage, batch, out, origin) < 0) {
    status = fail_call(stage, "the stage raised", error);
  }
  cst__py_leave(gate, gil);
  return status;
}

cst_stage cst__py_stage_view(cst__py_stage *stage, bool keeps_rows) {
  stage->refs++;
  return (cst_stage){.size = sizeof(cst_stage),
                     .bind = bind_stage,
                     .run = run_stage,
                     .close = close_stage,
                     .ctx = stage,
                     .keeps_rows = keeps_rows};
}

/* ---- exceptions ---- */

/* Where the batch was that the function was called with. */
static void add_place(PyObject *exception, const cst_error *error) {
  char record[64] = "";
  if (error->file[0] == '\0' && error->record < 0) {
    return;
  }
  if (error->record >= 0) {
    PyOS_snprintf(record, sizeof record, " that begins with record %lld", (long long)error->record);
  }
  PyObject *note = PyUnicode_FromFormat("in the batch%s%s%s", record,
                                        error->file[0] == '\0' ? "" : " of ", error->file);
  PyObject *done = note == NULL ? NULL : PyObject_CallMethod(exception, "add_note", "O", note);
  if (done == NULL) {
    PyErr_Clear(); /* the exception itself matters more */
  }
  Py_XDECREF(done);
  Py_XDECREF(note);
}

/* The exception whose message the error has; NULL if there is none. Borrowed. */
static PyObject *find_failure(const cst__py_stage *stage, const cst_error *error) {
  for (Py_ssize_t i = 0; i < PyList_Size(stage->failures); i++) {
    PyObject *failure = PyList_GetItem(stage->failures, i);
    if (strcmp(PyBytes_AsString(PyTuple_GetItem(failure, 0)), error->message) == 0) {
      return PyTuple_GetItem(failure, 1);
    }
  }
  return NULL;
}

void cst__py_stage_take(cst__py_stage *stage, const cst_error *error, cst__py_kept *into) {
  PyObject *exception = error->code == CST_CALLBACK ? find_failure(stage, error) : NULL;
  if (exception != NULL) {
    add_place(exception, error);
    into->moment = cst__py_moment(stage->state->gate);
    cst__py_replace(&into->exception, Py_NewRef(exception));
  }
  if (PyList_SetSlice(stage->failures, 0, PyList_Size(stage->failures), NULL) < 0) {
    PyErr_Clear();
  }
}
