/* The type Source: opened files or Python objects, and what can be asked of them. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/schema/schema.h"
#include "ext/source/source.h"

/* ---- opening ---- */

static int source_open(cst__py_source_object *self, const cst__py_objects *objects,
                       cst__py_options *o) {
  cst_error error = CST_ERROR_INIT;
  self->make_dropped = Py_XNewRef(o->make_dropped);
  self->on_dropped = o->on_dropped == Py_None ? NULL : Py_XNewRef(o->on_dropped);
  self->functions = Py_XNewRef(o->functions);
  o->options.on_warning = cst__py_on_warning;
  o->options.warning_ctx = self->trace;
  cst_status status = cst__py_inputs_open(&self->inputs, cst__py_state_of((PyObject *)self),
                                          objects, &o->options, &self->source, &error);
  if (status != CST_OK && PyErr_Occurred() == NULL) {
    cst__py_source_raise((PyObject *)self, &error);
  }
  return status == CST_OK ? 0 : -1;
}

/* Source(paths, files, streams, options) */
static int source_init(cst__py_source_object *self, PyObject *args) {
  cst__py_objects objects;
  cst__py_options options;
  PyObject *dict;
  if (!PyArg_ParseTuple(args, "OOOO!:Source", &objects.paths, &objects.files, &objects.streams,
                        &PyDict_Type, &dict)) {
    return -1;
  }
  int result = cst__py_options_init(&options, cst__py_state_of((PyObject *)self), dict);
  if (result == 0) {
    result = source_open(self, &objects, &options);
  }
  cst__py_options_reset(&options);
  return result;
}

/* One without a source yet. */
static cst__py_source_object *allocate(PyTypeObject *type) {
  allocfunc allocate_object = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  cst__py_source_object *self = (cst__py_source_object *)allocate_object(type, 0);
  if (self == NULL) {
    return NULL;
  }
  self->trace = cst__py_trace_new(cst__py_state_of((PyObject *)self)->gate);
  if (self->trace == NULL) {
    Py_DECREF(self);
    PyErr_NoMemory();
    return NULL;
  }
  return self;
}

static PyObject *new_source(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  cst__py_source_object *self = allocate(type);
  (void)kwargs;
  if (self != NULL && source_init(self, args) < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

/* ---- life ---- */

static void release_source(cst__py_source_object *self) {
  cst_source *source = self->source;
  self->source = NULL;
  cst__py_pending pending = cst__py_put_aside();
  Py_BEGIN_ALLOW_THREADS
  cst_source_release(source);
  Py_END_ALLOW_THREADS
  cst__py_put_back(pending);
}

/* The file objects and openers belong to the library's source. While a stream in other hands or a
 * part of this source uses it too, this object must not tell the collector that it is their only
 * owner. */
static int source_traverse(PyObject *object, visitproc visit, void *arg) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->parent);
  Py_VISIT(self->make_dropped);
  Py_VISIT(self->on_dropped);
  Py_VISIT(self->functions);
  Py_VISIT(self->dropped);
  Py_VISIT(self->kept.exception);
  bool sole_owner = self->source != NULL && cst__py_trace_is_alone(self->trace);
  if (sole_owner && self->stage != NULL) {
    int visited = cst__py_stage_traverse(self->stage, visit, arg);
    if (visited != 0) {
      return visited;
    }
  }
  return sole_owner ? cst__py_inputs_traverse(&self->inputs, visit, arg) : 0;
}

static int source_clear(PyObject *object) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  release_source(self);
  Py_CLEAR(self->on_dropped);
  Py_CLEAR(self->functions);
  Py_CLEAR(self->dropped);
  Py_CLEAR(self->kept.exception);
  return 0;
}

static void source_dealloc(PyObject *object) {
  cst__py_source_object *self = (cst__py_source_object *)object;
  PyObject_GC_UnTrack(object);
  source_clear(object);
  cst__py_inputs_reset(&self->inputs);
  cst__py_stage_release(self->stage);
  if (self->trace != NULL && self->parent != NULL) {
    cst__py_trace_release(((cst__py_source_object *)self->parent)->trace);
  }
  cst__py_trace_release(self->trace);
  Py_XDECREF(self->make_dropped);
  Py_XDECREF(self->arrow_schema);
  Py_XDECREF(self->parent);
  cst__py_free(object);
}

static PyObject *last_error(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_source_object *self = (cst__py_source_object *)object;
  cst_error error;
  if (!cst__py_trace_get(self->trace, &error)) {
    Py_RETURN_NONE;
  }
  PyObject *exception = cst__py_source_cause(self, &error);
  return exception == NULL ? cst__py_error_object(cst__py_state_of(object), &error)
                           : Py_NewRef(exception);
}

static PyObject *source_get_dropped(PyObject *object, PyObject *unused) {
  (void)unused;
  PyObject *list = ((cst__py_source_object *)object)->dropped;
  return list == NULL ? PyList_New(0) : Py_NewRef(list);
}

/* A new list, as a pass begins one: of what is dropped where the library cannot see it. */
static PyObject *source_begin_dropped(PyObject *object, PyObject *unused) {
  (void)unused;
  PyObject *list = PyList_New(0);
  if (list != NULL) {
    cst__py_source_begin_dropped((cst__py_source_object *)object, list);
  }
  return list;
}

/* What streams and parts still read stays held. */
static PyObject *close_source(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_source_object *self = (cst__py_source_object *)object;
  release_source(self);
  if (cst__py_trace_is_alone(self->trace)) {
    cst__py_trace_hold(self->trace, NULL);
  }
  Py_RETURN_NONE;
}

/* hold(lease): for as long as anything reads */
static PyObject *source_hold(PyObject *object, PyObject *lease) {
  cst__py_held *held = cst__py_lease_arg(cst__py_state_of(object), lease);
  if (held == NULL) {
    return NULL;
  }
  cst__py_trace_hold(((cst__py_source_object *)object)->trace, held);
  Py_RETURN_NONE;
}

/* ---- what it holds ---- */

static PyObject *source_arrow_schema(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_source_arrow_schema(object);
}

static PyObject *schema(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_source_call call;
  const cst_schema *found = NULL;
  if (!cst__py_source_call_begin(&call, object)) {
    return NULL;
  }
  cst_status status = cst_source_schema(call.source, &found, &call.error);
  cst_schema *kept = status != CST_OK || found == NULL ? NULL : cst_schema_retain(found);
  if (!cst__py_source_call_end(&call, status)) {
    return NULL;
  }
  PyObject *made =
      kept == NULL ? Py_NewRef(Py_None) : cst__py_schema_new(cst__py_state_of(object), kept);
  cst_schema_release(kept);
  return made;
}

static PyObject *source_specs(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_source_call call;
  cst_specs *found = NULL;
  if (!cst__py_source_call_begin(&call, object) ||
      !cst__py_source_call_end(&call, cst_source_specs(call.source, &found, &call.error))) {
    return NULL;
  }
  PyObject *list = cst__py_specs_list(found);
  cst_specs_release(found);
  return list;
}

typedef const char *(*name_function)(const cst_source *source, size_t i); /* NULL: no more */

static PyObject *list_names(PyObject *object, name_function name_of) {
  cst_source *source = cst__py_source_borrow(object); /* the list may set the collector to work */
  PyObject *list = source == NULL ? NULL : PyList_New(0);
  for (size_t i = 0; list != NULL && name_of(source, i) != NULL; i++) {
    PyObject *name = PyUnicode_DecodeFSDefault(name_of(source, i));
    if (name == NULL || PyList_Append(list, name) < 0) {
      Py_CLEAR(list);
    }
    Py_XDECREF(name);
  }
  cst_source_release(source);
  return list;
}

static PyObject *files(PyObject *object, PyObject *unused) {
  (void)unused;
  return list_names(object, cst_source_file);
}

static PyObject *opened(PyObject *object, PyObject *unused) {
  (void)unused;
  return list_names(object, cst_source_opened);
}

static PyObject *total_bytes(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_source *source = cst__py_source_view(object);
  int64_t total = source == NULL ? -1 : cst_source_total_bytes(source);
  if (source == NULL) {
    return NULL;
  }
  return total < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(total);
}

/* Its name; None for formats that are not of records. */
static PyObject *source_container(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_source *source = cst__py_source_view(object);
  const char *name = source == NULL ? NULL : cst_source_container(source);
  if (source == NULL) {
    return NULL;
  }
  return name == NULL ? Py_NewRef(Py_None) : PyUnicode_FromString(name);
}

static PyObject *source_format(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_source *source = cst__py_source_view(object);
  return source == NULL ? NULL : PyUnicode_FromString(cst_source_format(source));
}

/* That of the first file. */
static PyObject *source_compression(PyObject *object, PyObject *unused) {
  (void)unused;
  const char *name = NULL;
  cst__py_source_call call;
  if (!cst__py_source_call_begin(&call, object) ||
      !cst__py_source_call_end(&call, cst_source_compression(call.source, 0, &name, &call.error))) {
    return NULL;
  }
  return name == NULL ? Py_NewRef(Py_None) : PyUnicode_FromString(name);
}

/* ---- rows and parts ---- */

static PyObject *source_num_rows(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_source_call call;
  uint64_t rows = 0;
  return cst__py_source_call_begin(&call, object) &&
                 cst__py_source_call_end(&call,
                                         cst_source_num_rows(call.source, &rows, &call.error))
             ? PyLong_FromUnsignedLongLong(rows)
             : NULL;
}

/* The number of a row, an int or what can be one, of `count`, counted from the front; -1 with an
 * exception. */
static int64_t row_number(PyObject *row, int64_t count) {
  if (PyBool_Check(row)) {
    PyErr_SetString(PyExc_TypeError, "a row is an int, not bool");
    return -1;
  }
  PyObject *number = PyNumber_Index(row);
  if (number == NULL) {
    return -1;
  }
  int overflow;
  int64_t at = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow != 0 || at < -count || at >= count) {
    PyErr_Format(PyExc_IndexError, "row %S of a source of %lld rows", number, (long long)count);
    at = -1;
  } else if (at < 0) {
    at += count;
  }
  Py_DECREF(number);
  return at;
}

/* The numbers of a tuple of rows; NULL with an exception. Free with free(). */
static uint64_t *row_numbers(PyObject *tuple, int64_t count) {
  Py_ssize_t size = PyTuple_Size(tuple);
  uint64_t *numbers = calloc((size_t)size + 1, sizeof *numbers);
  if (numbers == NULL) {
    return PyErr_NoMemory(), NULL;
  }
  for (Py_ssize_t i = 0; i < size; i++) {
    int64_t number = row_number(PyTuple_GetItem(tuple, i), count);
    if (number < 0) {
      free(numbers);
      return NULL;
    }
    numbers[i] = (uint64_t)number;
  }
  return numbers;
}

static PyObject *source_take(PyObject *object, PyObject *args) {
  PyObject *tuple;
  long long num_rows;
  if (!PyArg_ParseTuple(args, "O!L:take", &PyTuple_Type, &tuple, &num_rows)) {
    return NULL;
  }
  size_t count = (size_t)PyTuple_Size(tuple);
  uint64_t *rows = row_numbers(tuple, num_rows);
  struct ArrowArray batch;
  cst__py_source_call call;
  if (rows == NULL || !cst__py_source_call_begin(&call, object)) {
    free(rows);
    return NULL;
  }
  cst_status status = cst_source_take(call.source, rows, count, &batch, &call.error);
  free(rows);
  if (!cst__py_source_call_end(&call, status)) {
    return NULL;
  }
  PyObject *schema = cst__py_source_arrow_schema(object);
  if (schema == NULL) {
    batch.release(&batch);
    return NULL;
  }
  PyObject *result = cst__py_batch_new(cst__py_state_of(object), schema, &batch);
  Py_DECREF(schema);
  return result;
}

/* The part as an object; takes it over. It counts as a reader of the whole source's inputs. */
static PyObject *part_of(PyObject *object, cst_source *part) {
  cst__py_source_object *whole = (cst__py_source_object *)object;
  cst__py_source_object *self = allocate(Py_TYPE(object));
  if (self == NULL) {
    cst_source_release(part);
    return NULL;
  }
  self->source = part;
  self->parent = Py_NewRef(object);
  cst__py_trace_retain(whole->trace);
  cst__py_trace_hold(self->trace, cst__py_trace_held(whole->trace)); /* for its streams */
  self->make_dropped = Py_XNewRef(whole->make_dropped);
  self->on_dropped = Py_XNewRef(whole->on_dropped);
  self->functions = Py_XNewRef(whole->functions);
  return (PyObject *)self;
}

static PyObject *range(PyObject *object, PyObject *args) {
  unsigned long long begin;
  unsigned long long end;
  cst_source *part = NULL;
  cst__py_source_call call;
  return PyArg_ParseTuple(args, "KK:range", &begin, &end) &&
                 cst__py_source_call_begin(&call, object) &&
                 cst__py_source_call_end(
                     &call, cst_source_range(call.source, begin, end, &part, &call.error))
             ? part_of(object, part)
             : NULL;
}

static PyObject *source_split(PyObject *object, PyObject *args) {
  unsigned int i;
  unsigned int n;
  cst_source *part = NULL;
  cst__py_source_call call;
  return PyArg_ParseTuple(args, "II:split", &i, &n) && cst__py_source_call_begin(&call, object) &&
                 cst__py_source_call_end(&call,
                                         cst_source_split(call.source, i, n, &part, &call.error))
             ? part_of(object, part)
             : NULL;
}

/* with_ids(file, record, first_file): names of columns, and the number of the first file. */
static PyObject *source_with_ids(PyObject *object, PyObject *args) {
  cst_id_columns columns = CST_ID_COLUMNS_INIT;
  unsigned long long first_file;
  cst_source *out = NULL;
  cst__py_source_call call;
  if (!PyArg_ParseTuple(args, "ssK:with_ids", &columns.file, &columns.record, &first_file) ||
      !cst__py_source_call_begin(&call, object)) {
    return NULL;
  }
  columns.first_file = first_file;
  if (!cst__py_source_call_end(&call,
                               cst_source_with_ids(call.source, &columns, &out, &call.error))) {
    return NULL;
  }
  PyObject *made = part_of(object, out);
  if (made != NULL) {
    ((cst__py_source_object *)made)->is_parents_view = true;
  }
  return made;
}

static PyObject *source_read_splits(PyObject *object, PyObject *args) {
  cst_source *part = cst__py_source_of_splits(object, args);
  return part != NULL ? part_of(object, part) : NULL;
}

/* with_stage(stage, columns, keeps_rows): stage is None for the columns alone, which may be None
 * for all. */
static PyObject *source_with_stage(PyObject *object, PyObject *args) {
  PyObject *python;
  PyObject *columns;
  int keeps_rows;
  cst__py_names names = {.count = 0};
  cst__py_stage *stage = NULL;
  cst_stage view = CST_STAGE_INIT;
  cst_source *out = NULL;
  cst__py_source_call call;
  if (!PyArg_ParseTuple(args, "OOp:with_stage", &python, &columns, &keeps_rows) ||
      cst__py_names_init(&names, columns) < 0) {
    cst__py_names_reset(&names);
    return NULL;
  }
  if (python != Py_None) {
    stage = cst__py_stage_new(cst__py_state_of(object), python);
  }
  bool done = (python == Py_None || stage != NULL) && cst__py_source_call_begin(&call, object);
  if (done) {
    if (stage != NULL) { /* the library closes it; the object's own count needs no lock yet */
      view = cst__py_stage_view(stage, keeps_rows != 0);
    }
    view.columns = names.names;
    view.num_columns = names.count;
    done = cst__py_source_call_end(&call,
                                   cst_source_with_stage(call.source, &view, &out, &call.error));
  }
  cst__py_names_reset(&names);
  PyObject *made = done ? part_of(object, out) : NULL;
  if (made == NULL) {
    cst__py_stage_release(stage);
    return NULL;
  }
  ((cst__py_source_object *)made)->stage = stage;
  return made;
}

/* ---- passes ---- */

static PyObject *batches(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_pass_new(object, NULL, NULL, NULL);
}

static PyObject *tensors(PyObject *object, PyObject *args) {
  PyObject *sparse;
  PyObject *ragged;
  PyObject *pads;
  if (!PyArg_ParseTuple(args, "OOO!:tensors", &sparse, &ragged, &PyTuple_Type, &pads)) {
    return NULL;
  }
  return cst__py_pass_new(object, sparse, ragged, pads);
}

static PyObject *stream(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_source_object *self = (cst__py_source_object *)object;
  cst_source *source = cst__py_source_borrow(object);
  cst__py_drops *drops;
  if (source == NULL || cst__py_drops_begin(object, &drops) < 0) {
    cst_source_release(source);
    return NULL;
  }
  struct ArrowArrayStream out;
  cst_error error = CST_ERROR_INIT;
  cst__py_gate *gate = cst__py_state_of(object)->gate;
  int result;
  Py_BEGIN_ALLOW_THREADS
  result = cst__py_stream_export(source, self->trace, gate, drops, &out, &error);
  cst_source_release(source);
  Py_END_ALLOW_THREADS
  return result < 0 ? cst__py_source_raise(object, &error) : cst__py_stream_capsule(&out);
}

static PyMethodDef methods[] = {
    {"schema", schema, METH_NOARGS, NULL},
    {"arrow_schema", source_arrow_schema, METH_NOARGS, NULL},
    {"specs", source_specs, METH_NOARGS, NULL},
    {"files", files, METH_NOARGS, NULL},
    {"opened", opened, METH_NOARGS, NULL},
    {"total_bytes", total_bytes, METH_NOARGS, NULL},
    {"container", source_container, METH_NOARGS, NULL},
    {"format", source_format, METH_NOARGS, NULL},
    {"compression", source_compression, METH_NOARGS, NULL},
    {"num_rows", source_num_rows, METH_NOARGS, NULL},
    {"take", source_take, METH_VARARGS, NULL},
    {"range", range, METH_VARARGS, NULL},
    {"split", source_split, METH_VARARGS, NULL},
    {"read_splits", source_read_splits, METH_VARARGS, NULL},
    {"with_ids", source_with_ids, METH_VARARGS, NULL},
    {"with_stage", source_with_stage, METH_VARARGS, NULL},
    {"batches", batches, METH_NOARGS, NULL},
    {"tensors", tensors, METH_VARARGS, NULL},
    {"stream", stream, METH_NOARGS, NULL},
    {"count", cst__py_source_count, METH_NOARGS, NULL},
    {"verify", cst__py_source_verify, METH_O, NULL},
    {"infer", cst__py_source_infer, METH_NOARGS, NULL},
    {"validate", cst__py_source_validate, METH_VARARGS, NULL},
    {"accumulate", cst__py_source_accumulate, METH_VARARGS, NULL},
    {"propose", cst__py_source_propose, METH_VARARGS, NULL},
    {"dropped", source_get_dropped, METH_NOARGS, NULL},
    {"begin_dropped", source_begin_dropped, METH_NOARGS, NULL},
    {"last_error", last_error, METH_NOARGS, NULL},
    {"close", close_source, METH_NOARGS, NULL},
    {"hold", source_hold, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.Source."},
    {Py_tp_new, new_source},
    {Py_tp_dealloc, source_dealloc},
    {Py_tp_traverse, source_traverse},
    {Py_tp_clear, source_clear},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_source_spec = {
    .name = "columnstone._core.Source",
    .basicsize = sizeof(cst__py_source_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
