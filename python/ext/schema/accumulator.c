/* Accumulator: a counted state of what is found out about data by looking at all of it. The public
 * faces are SchemaInference, Validation and Counts. */
#include <columnstone/accumulate.h>

#include "ext/arrow/arrow.h"
#include "ext/schema/schema.h"

typedef PyObject *(*finish_function)(cst__py_state *state, const cst_accumulator *accumulator);

typedef struct accumulator_object {
  PyObject_HEAD cst_accumulator *accumulator;
  finish_function finish;
  cst__py_lock lock;
} accumulator_object;

/* ---- what was found ---- */

/* ((file, record, found), ...) */
static PyObject *place_tuple(const cst_anomaly *anomaly) {
  PyObject *tuple = PyTuple_New((Py_ssize_t)anomaly->num_places);
  for (size_t i = 0; tuple != NULL && i < anomaly->num_places; i++) {
    const cst_anomaly_place *place = &anomaly->places[i];
    PyObject *record = place->record < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(place->record);
    PyObject *entry =
        Py_BuildValue("(NNs)", PyUnicode_DecodeFSDefault(place->file), record, place->found);
    if (entry == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, entry) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

static PyObject *anomaly_tuple(const cst_anomaly *anomaly) {
  PyObject *places = place_tuple(anomaly);
  return places == NULL ? NULL
                        : Py_BuildValue("(szzzssKN)", anomaly->kind, anomaly->path, anomaly->tensor,
                                        anomaly->group, anomaly->message, anomaly->hint,
                                        (unsigned long long)anomaly->count, places);
}

PyObject *cst__py_validation_list(const cst_validation *validation) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < cst_validation_num_anomalies(validation); i++) {
    PyObject *entry = anomaly_tuple(cst_validation_anomaly(validation, i));
    if (entry == NULL || PyList_Append(list, entry) < 0) {
      Py_CLEAR(list);
    }
    Py_XDECREF(entry);
  }
  return list == NULL
             ? NULL
             : Py_BuildValue("(KN)", (unsigned long long)cst_validation_num_rows(validation), list);
}

static PyObject *finish_schema(cst__py_state *state, const cst_accumulator *accumulator) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  if (cst_accumulator_finish_schema(accumulator, &schema, &error) != CST_OK) {
    return cst__py_raise(state, &error);
  }
  PyObject *made = cst__py_schema_new(state, schema);
  cst_schema_release(schema);
  return made;
}

static PyObject *finish_validation(cst__py_state *state, const cst_accumulator *accumulator) {
  cst_validation *validation = NULL;
  cst_error error = CST_ERROR_INIT;
  if (cst_accumulator_finish_validation(accumulator, &validation, &error) != CST_OK) {
    return cst__py_raise(state, &error);
  }
  PyObject *made = cst__py_validation_list(validation);
  cst_validation_free(validation);
  return made;
}

static PyObject *counts_list(const cst_counts *counts) {
  size_t count = cst_counts_num_columns(counts);
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list != NULL && i < count; i++) {
    const cst_column_count *column = cst_counts_column(counts, i);
    PyObject *path =
        PyUnicode_DecodeUTF8(column->path, (Py_ssize_t)strlen(column->path), "surrogateescape");
    PyObject *entry = path == NULL ? NULL
                                   : Py_BuildValue("(NKK)", path, (unsigned long long)column->rows,
                                                   (unsigned long long)column->values);
    if (entry == NULL || PyList_SetItem(list, (Py_ssize_t)i, entry) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject *finish_counts(cst__py_state *state, const cst_accumulator *accumulator) {
  cst_counts *counts = NULL;
  cst_error error = CST_ERROR_INIT;
  if (cst_accumulator_finish_counts(accumulator, &counts, &error) != CST_OK) {
    return cst__py_raise(state, &error);
  }
  PyObject *list = counts_list(counts);
  PyObject *made =
      list == NULL ? NULL
                   : Py_BuildValue("(KN)", (unsigned long long)cst_counts_num_rows(counts), list);
  cst_counts_free(counts);
  return made;
}

/* ---- making ---- */

/* Takes the accumulator over, also on failure. */
static PyObject *accumulator_wrap(cst__py_state *state, cst_accumulator *accumulator,
                                  finish_function finish) {
  accumulator_object *self = PyObject_New(accumulator_object, state->accumulator_type);
  if (self == NULL || cst__py_lock_init(&self->lock) < 0) {
    cst_accumulator_free(accumulator);
    if (self != NULL) {
      cst__py_free((PyObject *)self);
    }
    return NULL;
  }
  self->accumulator = accumulator;
  self->finish = finish;
  return (PyObject *)self;
}

/* inference(look_at_values) */
static PyObject *new_inference(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_inference_options options = CST_INFERENCE_OPTIONS_INIT;
  cst_accumulator *made = NULL;
  cst_error error = CST_ERROR_INIT;
  int look_at_values;
  if (!PyArg_ParseTuple(args, "p:inference", &look_at_values)) {
    return NULL;
  }
  options.look_at_values = look_at_values != 0;
  return cst_accumulator_new_inference(&options, NULL, &made, &error) == CST_OK
             ? accumulator_wrap(state, made, finish_schema)
             : cst__py_raise(state, &error);
}

/* proposal(group, max_domain, ragged) */
static PyObject *new_proposal(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_propose_options options = CST_PROPOSE_OPTIONS_INIT;
  cst_accumulator *made = NULL;
  cst_error error = CST_ERROR_INIT;
  unsigned long long max_domain;
  int ragged;
  if (!PyArg_ParseTuple(args, "sKp:proposal", &options.group, &max_domain, &ragged)) {
    return NULL;
  }
  options.max_domain = (size_t)max_domain;
  options.ragged = ragged != 0;
  return cst_accumulator_new_proposal(&options, NULL, &made, &error) == CST_OK
             ? accumulator_wrap(state, made, finish_schema)
             : cst__py_raise(state, &error);
}

/* validation(schema, groups or None, environment or None, skip_tensors, ignore_unexpected, places)
 */
static PyObject *new_validation(PyObject *type, PyObject *args) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
  cst_accumulator *made = NULL;
  cst_error error = CST_ERROR_INIT;
  cst__py_names names;
  PyObject *schema, *groups;
  int skip_tensors, ignore_unexpected;
  unsigned long long places;
  if (!PyArg_ParseTuple(args, "OOzppK:validation", &schema, &groups, &options.environment,
                        &skip_tensors, &ignore_unexpected, &places) ||
      cst__py_schema_arg(state, schema, &options.schema) < 0 ||
      cst__py_names_init(&names, groups) < 0) {
    return NULL;
  }
  options.groups = names.names;
  options.num_groups = names.count;
  options.skip_tensors = skip_tensors != 0;
  options.ignore_unexpected = ignore_unexpected != 0;
  options.max_places = (size_t)places;
  cst_status status = cst_accumulator_new_validation(&options, NULL, &made, &error);
  cst__py_names_reset(&names);
  return status == CST_OK ? accumulator_wrap(state, made, finish_validation)
                          : cst__py_raise(state, &error);
}

static PyObject *new_counts(PyObject *type, PyObject *unused) {
  cst__py_state *state = PyType_GetModuleState((PyTypeObject *)type);
  cst_accumulator *made = NULL;
  cst_error error = CST_ERROR_INIT;
  (void)unused;
  return cst_accumulator_new_counts(NULL, &made, &error) == CST_OK
             ? accumulator_wrap(state, made, finish_counts)
             : cst__py_raise(state, &error);
}

static void accumulator_dealloc(PyObject *object) {
  accumulator_object *self = (accumulator_object *)object;
  cst_accumulator_free(self->accumulator);
  cst__py_lock_reset(&self->lock);
  cst__py_free(object);
}

/* ---- adding ---- */

/* 0, or -1 with an exception. */
static int accumulator_enter(accumulator_object *self) {
  return cst__py_lock_enter(&self->lock, cst__py_state_of((PyObject *)self), "accumulator");
}

typedef struct added_batches {
  struct ArrowArrayStream stream;
  const char *file;
  int64_t record; /* of the next row; -1: unknown */
  int64_t rows;
} added_batches;

/* No GIL. */
static cst_status accumulator_add_batches(cst_accumulator *accumulator, added_batches *added,
                                          cst_error *error) {
  struct ArrowSchema schema;
  cst_status status = cst__py_stream_schema(&added->stream, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  while (status == CST_OK) {
    struct ArrowArray batch;
    status = cst__py_stream_next(&added->stream, &batch, error);
    if (batch.release == NULL) {
      break;
    }
    int64_t rows = batch.length;
    status = cst_accumulator_add(accumulator, &schema, &batch, added->file, added->record, error);
    batch.release(&batch);
    added->rows += rows;
    added->record += added->record >= 0 ? rows : 0;
  }
  schema.release(&schema);
  return status;
}

/* add(batches, file, record or -1): the number of rows */
static PyObject *accumulator_add(PyObject *object, PyObject *args) {
  accumulator_object *self = (accumulator_object *)object;
  added_batches added = {.rows = 0};
  PyObject *batches;
  long long record;
  if (!PyArg_ParseTuple(args, "OyL:add", &batches, &added.file, &record) ||
      cst__py_import_batches(batches, &added.stream) < 0) {
    return NULL;
  }
  bool entered = accumulator_enter(self) == 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_STATE;
  added.record = record;
  Py_BEGIN_ALLOW_THREADS
  if (entered) {
    status = accumulator_add_batches(self->accumulator, &added, &error);
  }
  added.stream.release(&added.stream);
  Py_END_ALLOW_THREADS
  if (!entered) {
    return NULL;
  }
  cst__py_lock_leave(&self->lock);
  return status == CST_OK ? PyLong_FromLongLong(added.rows)
                          : cst__py_raise(cst__py_state_of(object), &error);
}

/* Enters both, always in the same order, so that a.merge(b) and b.merge(a) cannot wait for each
 * other. 0, or -1 with an exception. */
static int enter_both(accumulator_object *a, accumulator_object *b) {
  accumulator_object *first = a < b ? a : b;
  accumulator_object *second = a < b ? b : a;
  if (accumulator_enter(first) < 0) {
    return -1;
  }
  if (accumulator_enter(second) < 0) {
    cst__py_lock_leave(&first->lock);
    return -1;
  }
  return 0;
}

static PyObject *accumulator_merge(PyObject *object, PyObject *other) {
  cst__py_state *state = cst__py_state_of(object);
  accumulator_object *self = (accumulator_object *)object;
  accumulator_object *from = (accumulator_object *)other;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  if (Py_TYPE(other) != state->accumulator_type) {
    PyErr_SetString(PyExc_TypeError, "expected a _core.Accumulator");
    return NULL;
  }
  if (self == from) {
    (void)cst_accumulator_merge(self->accumulator, from->accumulator, &error);
    return cst__py_raise(state, &error);
  }
  if (enter_both(self, from) < 0) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_accumulator_merge(self->accumulator, from->accumulator, &error);
  Py_END_ALLOW_THREADS
  cst__py_lock_leave(&self->lock);
  cst__py_lock_leave(&from->lock);
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(state, &error);
}

/* ---- saving, finishing ---- */

static PyObject *accumulator_save(PyObject *object, PyObject *unused) {
  accumulator_object *self = (accumulator_object *)object;
  cst_error error = CST_ERROR_INIT;
  char *bytes = NULL;
  size_t size = 0;
  (void)unused;
  if (accumulator_enter(self) < 0) {
    return NULL;
  }
  cst_status status = cst_accumulator_to_bytes(self->accumulator, &bytes, &size, &error);
  cst__py_lock_leave(&self->lock);
  PyObject *saved = status == CST_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size)
                                     : cst__py_raise(cst__py_state_of(object), &error);
  cst_free(bytes);
  return saved;
}

static PyObject *accumulator_load(PyObject *object, PyObject *args) {
  accumulator_object *self = (accumulator_object *)object;
  cst_error error = CST_ERROR_INIT;
  const char *bytes;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "y#:load", &bytes, &size) || accumulator_enter(self) < 0) {
    return NULL;
  }
  cst_status status = cst_accumulator_from_bytes(self->accumulator, bytes, (size_t)size, &error);
  cst__py_lock_leave(&self->lock);
  return status == CST_OK ? Py_NewRef(Py_None) : cst__py_raise(cst__py_state_of(object), &error);
}

static PyObject *accumulator_finish(PyObject *object, PyObject *unused) {
  accumulator_object *self = (accumulator_object *)object;
  (void)unused;
  if (accumulator_enter(self) < 0) {
    return NULL;
  }
  PyObject *made = self->finish(cst__py_state_of(object), self->accumulator);
  cst__py_lock_leave(&self->lock);
  return made;
}

static PyMethodDef methods[] = {
    {"inference", new_inference, METH_VARARGS | METH_CLASS, NULL},
    {"proposal", new_proposal, METH_VARARGS | METH_CLASS, NULL},
    {"validation", new_validation, METH_VARARGS | METH_CLASS, NULL},
    {"counts", new_counts, METH_NOARGS | METH_CLASS, NULL},
    {"add", accumulator_add, METH_VARARGS, NULL},
    {"merge", accumulator_merge, METH_O, NULL},
    {"save", accumulator_save, METH_NOARGS, NULL},
    {"load", accumulator_load, METH_VARARGS, NULL},
    {"finish", accumulator_finish, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "What data has; columnstone.accumulate.SchemaInference, Validation and Counts are its faces."},
    {Py_tp_dealloc, accumulator_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_accumulator_spec = {
    .name = "columnstone._core.Accumulator",
    .basicsize = sizeof(accumulator_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
