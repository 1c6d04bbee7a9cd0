/* Source: opened files or file objects, and what can be asked of them. */
#include <stdlib.h>

#include "ext.h"

typedef struct source_object {
  PyObject_HEAD cst_source *source; /* NULL: closed */
  cst__py_trace *trace;
  cst__py_file **files; /* our own references to the Python file objects, for their exceptions */
  size_t num_files;
  PyObject *arrow_schema; /* NULL: not asked for yet */
} source_object;

/* ---- arguments ---- */

int cst__py_names_init(cst__py_names *names, PyObject *tuple) {
  names->names = NULL;
  names->count = 0;
  if (tuple == Py_None) {
    return 0;
  }
  Py_ssize_t count = PyTuple_Size(tuple);
  names->names = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *names->names);
  if (names->names == NULL) {
    return count < 0 ? -1 : (PyErr_NoMemory(), -1);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    Py_ssize_t size;
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), &size);
    if (name == NULL || strlen(name) != (size_t)size) {
      if (name != NULL) {
        PyErr_SetString(PyExc_ValueError, "a column's name holds a NUL character");
      }
      cst__py_names_reset(names);
      return -1;
    }
    names->names[names->count++] = name;
  }
  return 0;
}

void cst__py_names_reset(cst__py_names *names) {
  free(names->names);
  names->names = NULL;
}

static cst_status open_paths(PyObject *paths, const cst_source_options *options, cst_source **out,
                             cst_error *error) {
  Py_ssize_t count = PyTuple_Size(paths);
  const char **list = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *list);
  if (list == NULL) {
    error->code = CST_NO_MEMORY;
    return CST_NO_MEMORY;
  }
  cst_status status = CST_OK;
  for (Py_ssize_t i = 0; i < count; i++) {
    list[i] = PyBytes_AsString(PyTuple_GetItem(paths, i));
    status = list[i] == NULL ? CST_CALLBACK : status;
  }
  if (status == CST_OK) {
    Py_BEGIN_ALLOW_THREADS
    status = cst_source_open(list, (size_t)count, options, out, error);
    Py_END_ALLOW_THREADS
  }
  free(list);
  return status;
}

/* Entry i is (object, name as bytes, can_seek). */
static int add_file(source_object *self, PyObject *files, Py_ssize_t i, cst_reader *reader) {
  PyObject *object;
  const char *name;
  int can_seek;
  if (!PyArg_ParseTuple(PyTuple_GetItem(files, i), "Oyp", &object, &name, &can_seek)) {
    return -1;
  }
  cst__py_file *file = cst__py_file_new(cst__py_state_of((PyObject *)self), object, can_seek != 0);
  if (file == NULL) {
    return -1;
  }
  self->files[self->num_files++] = file;
  *reader = cst__py_file_reader(file, name);
  return 0;
}

static cst_status open_files(source_object *self, PyObject *files,
                             const cst_source_options *options, cst_error *error) {
  Py_ssize_t count = PyTuple_Size(files);
  cst_reader *readers = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *readers);
  self->files = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *self->files);
  if (readers == NULL || self->files == NULL) {
    free(readers);
    error->code = CST_NO_MEMORY;
    return CST_NO_MEMORY;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    if (add_file(self, files, i, &readers[i]) < 0) {
      for (Py_ssize_t k = 0; k < i; k++) {
        readers[k].close(readers[k].ctx);
      }
      free(readers);
      return CST_CALLBACK;
    }
  }
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_open_readers(readers, (size_t)count, options, &self->source, error);
  Py_END_ALLOW_THREADS
  free(readers);
  return status;
}

static int open_inputs(source_object *self, PyObject *paths, PyObject *files,
                       const cst_source_options *options) {
  cst_error error = CST_ERROR_INIT;
  cst_status status = files == Py_None ? open_paths(paths, options, &self->source, &error)
                                       : open_files(self, files, options, &error);
  if (status != CST_OK && PyErr_Occurred() == NULL) {
    cst__py_source_raise((PyObject *)self, &error);
  }
  return status == CST_OK ? 0 : -1;
}

static int init(source_object *self, PyObject *args, PyObject *kwargs) {
  static char *keywords[] = {
      "paths",        "files",           "format",        "schema",  "columns",
      "tensor_group", "batch_size",      "batch_bytes",   "threads", "flags",
      "column_flags", "max_record_size", "max_inflation", "legacy",  NULL};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  PyObject *paths;
  PyObject *files;
  PyObject *schema;
  PyObject *columns;
  int legacy;
  long long batch_size;
  long long batch_bytes;
  unsigned long long max_record_size;
  unsigned long long max_inflation;
  if (!PyArg_ParseTupleAndKeywords(
          args, kwargs, "$OOzOOsLLiIIKKp:Source", keywords, &paths, &files, &options.format,
          &schema, &columns, &options.tensor_group, &batch_size, &batch_bytes, &options.threads,
          &options.flags, &options.column_flags, &max_record_size, &max_inflation, &legacy) ||
      cst__py_schema_arg(cst__py_state_of((PyObject *)self), schema, &options.schema) < 0) {
    return -1;
  }
  cst__py_names names;
  if (cst__py_names_init(&names, columns) < 0) {
    return -1;
  }
  options.columns = names.names;
  options.num_columns = names.count;
  options.batch_size = batch_size;
  options.batch_bytes = batch_bytes;
  options.max_record_size = max_record_size;
  options.max_inflation = max_inflation;
  options.legacy_specs = legacy != 0;
  int result = open_inputs(self, paths, files, &options);
  cst__py_names_reset(&names);
  return result;
}

static PyObject *new_source(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  source_object *self = (source_object *)allocate(type, 0);
  if (self == NULL) {
    return NULL;
  }
  self->trace = cst__py_trace_new();
  if (self->trace == NULL) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  if (init(self, args, kwargs) < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

/* ---- life ---- */

static void release_source(source_object *self) {
  cst_source *source = self->source;
  self->source = NULL;
  Py_BEGIN_ALLOW_THREADS
  cst_source_release(source);
  Py_END_ALLOW_THREADS
}

/* The file objects belong to the library's source. While a stream in foreign hands uses it too,
 * this object must not tell the collector that it is their only owner. */
static int traverse(PyObject *object, visitproc visit, void *arg) {
  source_object *self = (source_object *)object;
  Py_VISIT(Py_TYPE(object));
  bool sole_owner = self->source != NULL && cst__py_trace_is_alone(self->trace);
  for (size_t i = 0; sole_owner && i < self->num_files; i++) {
    Py_VISIT(cst__py_file_object(self->files[i]));
  }
  return 0;
}

static int clear(PyObject *object) {
  release_source((source_object *)object);
  return 0;
}

static void dealloc(PyObject *object) {
  source_object *self = (source_object *)object;
  PyObject_GC_UnTrack(object);
  release_source(self);
  for (size_t i = 0; i < self->num_files; i++) {
    cst__py_file_release(self->files[i]);
  }
  free(self->files);
  cst__py_trace_release(self->trace);
  Py_XDECREF(self->arrow_schema);
  cst__py_free(object);
}

cst_source *cst__py_source_view(PyObject *object) {
  source_object *self = (source_object *)object;
  if (self->source == NULL) {
    cst__py_fail(cst__py_state_of(object), CST_STATE, "open it again", "the source is closed");
  }
  return self->source;
}

bool cst__py_source_has_files(PyObject *object) { return ((source_object *)object)->num_files > 0; }

/* The exception that a file object raised; NULL if none did. Borrowed. */
static cst__py_file *failed_file(source_object *self) {
  for (size_t i = 0; i < self->num_files; i++) {
    if (cst__py_file_exception(self->files[i]) != NULL) {
      return self->files[i];
    }
  }
  return NULL;
}

PyObject *cst__py_source_raise(PyObject *object, const cst_error *error) {
  source_object *self = (source_object *)object;
  cst__py_trace_set(self->trace, error);
  if (error->code == CST_CALLBACK && cst__py_file_raise(failed_file(self))) {
    return NULL;
  }
  return cst__py_raise(cst__py_state_of(object), error);
}

static PyObject *last_error(PyObject *object, PyObject *unused) {
  (void)unused;
  source_object *self = (source_object *)object;
  cst_error error;
  if (!cst__py_trace_get(self->trace, &error)) {
    Py_RETURN_NONE;
  }
  cst__py_file *file = error.code == CST_CALLBACK ? failed_file(self) : NULL;
  return file == NULL ? cst__py_error_object(cst__py_state_of(object), &error)
                      : Py_NewRef(cst__py_file_exception(file));
}

static PyObject *close_source(PyObject *object, PyObject *unused) {
  (void)unused;
  release_source((source_object *)object);
  Py_RETURN_NONE;
}

/* ---- what it holds ---- */

/* One more owner while the GIL is away, so that a close in another thread does no harm. */
static cst_source *borrow(PyObject *object) {
  cst_source *source = cst__py_source_view(object);
  return source == NULL ? NULL : cst_source_retain(source);
}

PyObject *cst__py_source_arrow_schema(PyObject *object) {
  source_object *self = (source_object *)object;
  if (self->arrow_schema != NULL) {
    return Py_NewRef(self->arrow_schema);
  }
  cst_source *source = borrow(object);
  if (source == NULL) {
    return NULL;
  }
  struct ArrowSchema schema;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_arrow_schema(source, &schema, &error);
  cst_source_release(source);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    return cst__py_source_raise(object, &error);
  }
  PyObject *made = cst__py_arrow_schema_new(cst__py_state_of(object), &schema);
  if (made != NULL) {
    cst__py_replace(&self->arrow_schema, Py_NewRef(made));
  }
  return made;
}

static PyObject *arrow_schema(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_source_arrow_schema(object);
}

static PyObject *schema(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_source *source = borrow(object);
  if (source == NULL) {
    return NULL;
  }
  const cst_schema *found = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_schema(source, &found, &error);
  Py_END_ALLOW_THREADS
  PyObject *result = NULL;
  if (status != CST_OK) {
    cst__py_source_raise(object, &error);
  } else {
    result =
        found == NULL ? Py_NewRef(Py_None) : cst__py_schema_new(cst__py_state_of(object), found);
  }
  cst_source_release(source);
  return result;
}

static PyObject *specs(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_source *source = borrow(object);
  if (source == NULL) {
    return NULL;
  }
  cst_specs *found = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_specs(source, &found, &error);
  cst_source_release(source);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    return cst__py_source_raise(object, &error);
  }
  PyObject *list = cst__py_specs_list(found);
  cst_specs_release(found);
  return list;
}

static PyObject *files(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_source *source = cst__py_source_view(object);
  PyObject *list = source == NULL ? NULL : PyList_New(0);
  for (size_t i = 0; list != NULL && i < cst_source_num_files(source); i++) {
    PyObject *name = PyUnicode_DecodeFSDefault(cst_source_file(source, i));
    if (name == NULL || PyList_Append(list, name) < 0) {
      Py_CLEAR(list);
    }
    Py_XDECREF(name);
  }
  return list;
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

/* ---- passes ---- */

static PyObject *batches(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_pass_new(object, NULL, NULL);
}

static PyObject *tensors(PyObject *object, PyObject *args) {
  PyObject *sparse;
  PyObject *ragged;
  if (!PyArg_ParseTuple(args, "OO:tensors", &sparse, &ragged)) {
    return NULL;
  }
  return cst__py_pass_new(object, sparse, ragged);
}

static PyObject *stream(PyObject *object, PyObject *unused) {
  (void)unused;
  source_object *self = (source_object *)object;
  cst_source *source = borrow(object);
  if (source == NULL) {
    return NULL;
  }
  struct ArrowArrayStream out;
  cst_error error = CST_ERROR_INIT;
  int result;
  Py_BEGIN_ALLOW_THREADS
  result = cst__py_stream_export(source, self->trace, &out, &error);
  cst_source_release(source);
  Py_END_ALLOW_THREADS
  return result < 0 ? cst__py_source_raise(object, &error) : cst__py_stream_capsule(&out);
}

/* ---- scans: count, verify, infer ---- */

typedef struct scan {
  cst__py_state *state;
  PyObject *files;
  PyObject *faults;
} scan;

/* Appends a new reference; after a failure nothing more is collected and the exception stays. */
static void collect(PyObject *list, PyObject *item) {
  if (item != NULL) {
    PyList_Append(list, item);
    Py_DECREF(item);
  }
}

static void on_file(void *ctx, const cst_file_count *count) {
  scan *s = ctx;
  PyGILState_STATE gil = PyGILState_Ensure();
  if (PyErr_Occurred() == NULL) {
    collect(s->files, Py_BuildValue("(NKKKK)", PyUnicode_DecodeFSDefault(count->file),
                                    (unsigned long long)count->records,
                                    (unsigned long long)count->record_bytes,
                                    (unsigned long long)count->stream_bytes,
                                    (unsigned long long)count->file_bytes));
  }
  PyGILState_Release(gil);
}

static void on_fault(void *ctx, const cst_fault *fault) {
  scan *s = ctx;
  PyGILState_STATE gil = PyGILState_Ensure();
  if (PyErr_Occurred() == NULL) {
    collect(s->faults,
            Py_BuildValue("(sN)", fault->kind, cst__py_error_object(s->state, fault->error)));
  }
  PyGILState_Release(gil);
}

/* Lets the user interrupt a long scan. */
static bool on_progress(void *ctx, uint64_t bytes, uint64_t records) {
  (void)ctx;
  (void)bytes;
  (void)records;
  PyGILState_STATE gil = PyGILState_Ensure();
  bool go_on = PyErr_Occurred() == NULL && PyErr_CheckSignals() == 0;
  PyGILState_Release(gil);
  return go_on;
}

static PyObject *count(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_source *source = borrow(object);
  scan s = {cst__py_state_of(object), source == NULL ? NULL : PyList_New(0), NULL};
  if (s.files == NULL) {
    cst_source_release(source);
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_count(source, on_file, &s, &error);
  cst_source_release(source);
  Py_END_ALLOW_THREADS
  if (status != CST_OK && PyErr_Occurred() == NULL) {
    cst__py_source_raise(object, &error);
  }
  if (PyErr_Occurred() != NULL) {
    Py_CLEAR(s.files);
  }
  return s.files;
}

static PyObject *verify(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_source *source = borrow(object);
  scan s = {cst__py_state_of(object), PyList_New(0), PyList_New(0)};
  cst_status status = CST_CALLBACK;
  cst_error error = CST_ERROR_INIT;
  uint64_t num_faults = 0;
  if (source != NULL && s.files != NULL && s.faults != NULL) {
    Py_BEGIN_ALLOW_THREADS
    status = cst_source_verify(source, on_fault, on_file, on_progress, &s, &num_faults, &error);
    Py_END_ALLOW_THREADS
    if (status != CST_OK && PyErr_Occurred() == NULL) {
      cst__py_source_raise(object, &error);
    }
  }
  cst_source_release(source);
  if (PyErr_Occurred() != NULL) {
    Py_XDECREF(s.files);
    Py_XDECREF(s.faults);
    return NULL;
  }
  return Py_BuildValue("(NN)", s.faults, s.files);
}

static PyObject *infer(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_source *source = borrow(object);
  if (source == NULL) {
    return NULL;
  }
  cst_schema *made = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_infer(source, on_progress, NULL, &made, &error);
  cst_source_release(source);
  Py_END_ALLOW_THREADS
  PyObject *result = NULL;
  if (status == CST_OK) {
    result = cst__py_schema_new(cst__py_state_of(object), made);
    cst_schema_release(made);
  } else if (PyErr_Occurred() == NULL) {
    cst__py_source_raise(object, &error);
  }
  return result;
}

static PyMethodDef methods[] = {
    {"schema", schema, METH_NOARGS, NULL},
    {"arrow_schema", arrow_schema, METH_NOARGS, NULL},
    {"specs", specs, METH_NOARGS, NULL},
    {"files", files, METH_NOARGS, NULL},
    {"total_bytes", total_bytes, METH_NOARGS, NULL},
    {"batches", batches, METH_NOARGS, NULL},
    {"tensors", tensors, METH_VARARGS, NULL},
    {"stream", stream, METH_NOARGS, NULL},
    {"count", count, METH_NOARGS, NULL},
    {"verify", verify, METH_NOARGS, NULL},
    {"infer", infer, METH_NOARGS, NULL},
    {"last_error", last_error, METH_NOARGS, NULL},
    {"close", close_source, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "An opened source; columnstone.Source is the public face."},
    {Py_tp_new, new_source},
    {Py_tp_dealloc, dealloc},
    {Py_tp_traverse, traverse},
    {Py_tp_clear, clear},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_source_spec = {
    .name = "columnstone._core.Source",
    .basicsize = sizeof(source_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
