/* Source: what the rest of this folder asks of a source object. */
#include "ext/source/source.h"
#include "ext/arrow/arrow.h"
#include "ext/query/query.h"

cst_source *cst__py_source_view(PyObject *object) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  if (self->source == NULL) {
    cst__py_fail(cst__py_state_of(object), CST_STATE, "open it again", "the source is closed");
  }
  return self->source;
}

cst_source *cst__py_source_borrow(PyObject *object) {
  cst_source *source = cst__py_source_view(object);
  return source == NULL ? NULL : cst_source_retain(source);
}

PyObject *cst__py_source_arrow_schema(PyObject *object) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  cst__py_source_call call;
  struct ArrowSchema schema;
  if (self->arrow_schema != NULL) {
    return Py_NewRef(self->arrow_schema);
  }
  if (!cst__py_source_call_begin(&call, object) ||
      !cst__py_source_call_end(&call, cst_source_arrow_schema(call.source, &schema, &call.error))) {
    return NULL;
  }
  PyObject *made = cst__py_arrow_schema_new(cst__py_state_of(object), &schema);
  if (made != NULL) {
    cst__py_replace(&self->arrow_schema, Py_NewRef(made));
  }
  return made;
}

/* The source whose inputs a part reads. */
static cst__py_source_object *whole_of(cst__py_source_object *self) {
  while (self->parent != NULL) {
    self = (cst__py_source_object *)self->parent;
  }
  return self;
}

bool cst__py_source_calls_python(PyObject *object) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  const cst__py_inputs *inputs = &whole_of(self)->inputs;
  bool calls = inputs->num_files + inputs->num_openers > 0 || self->make_dropped != NULL ||
               self->functions != NULL;
  for (; !calls && self != NULL; self = (cst__py_source_object *)self->parent) {
    calls = self->stage != NULL;
  }
  return calls;
}

void cst__py_source_keep(PyObject *object, PyObject *exception) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  self->kept.moment = cst__py_moment(cst__py_state_of(object)->gate);
  cst__py_replace(&self->kept.exception, Py_XNewRef(exception));
}

PyObject *cst__py_source_cause(cst__py_source_object *self, const cst_error *error) {
  cst__py_source_object *whole = whole_of(self);
  cst__py_inputs_take(&whole->inputs, &whole->kept); /* which the collector sees */
  for (cst__py_source_object *at = self; at != NULL; at = (cst__py_source_object *)at->parent) {
    if (at->stage != NULL) {
      cst__py_stage_take(at->stage, error, &whole->kept);
    }
  }
  if (whole->functions != NULL) {
    cst__py_query_function_take(cst__py_state_of((PyObject *)whole), whole->functions, error,
                                &whole->kept);
  }
  cst__py_kept_move(cst__py_trace_kept(whole->trace), &whole->kept);
  if (error->code != CST_CALLBACK) {
    return NULL;
  }
  return whole->kept.moment > self->kept.moment ? whole->kept.exception : self->kept.exception;
}

uint64_t cst__py_source_moment(PyObject *object, const cst_error *error) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  const cst__py_source_object *whole = whole_of(self);
  if (cst__py_source_cause(self, error) == NULL) {
    return 0;
  }
  return whole->kept.moment > self->kept.moment ? whole->kept.moment : self->kept.moment;
}

PyObject *cst__py_source_raise(PyObject *object, const cst_error *error) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  cst__py_trace_set(self->trace, error);
  PyObject *exception = cst__py_source_cause(self, error);
  if (exception != NULL) {
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    return NULL;
  }
  return cst__py_raise(cst__py_state_of(object), error);
}

/* ---- calls ---- */

bool cst__py_source_call_begin(cst__py_source_call *call, PyObject *source) {
  call->object = source;
  call->source = cst__py_source_borrow(source);
  if (call->source == NULL) {
    return false;
  }
  call->error = (cst_error)CST_ERROR_INIT;
  call->thread = PyEval_SaveThread();
  return true;
}

bool cst__py_source_call_end(cst__py_source_call *call, cst_status status) {
  cst_source_release(call->source);
  PyEval_RestoreThread(call->thread);
  if (status != CST_OK && PyErr_Occurred() == NULL) {
    cst__py_source_raise(call->object, &call->error);
  }
  return PyErr_Occurred() == NULL;
}
