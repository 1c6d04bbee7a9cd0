/* Sink: record batches to a file of any format, or into a Python file object. */
#include "ext/sink/sink.h"
#include "ext/arrow/arrow.h"
#include "ext/io/io.h"

typedef struct sink_object {
  PyObject_HEAD cst_sink *sink; /* NULL: not begun, finished or given up */
  bool closed;
  cst__py_sink_settings settings; /* borrow from `held` */
  PyObject *held;                 /* the tuple of arguments */
  const char *path;               /* or the name of the file object */
  struct ArrowSchema schema;      /* of the batches, once known */
  cst__py_output output;
} sink_object;

/* ---- life ---- */

/* (path or name, file object or None, options) */
static int sink_parse(sink_object *self, PyObject *args) {
  PyObject *object;
  PyObject *options;
  if (!PyArg_ParseTuple(args, "yOO!:Sink", &self->path, &object, &PyDict_Type, &options) ||
      cst__py_sink_settings_init(&self->settings, cst__py_state_of((PyObject *)self), options) <
          0) {
    return -1;
  }
  return object == Py_None ? 0 : cst__py_output_set_file(&self->output, object);
}

/* An early answer about a path, or a format that is named: the file itself is opened when the
 * schema is known. */
static int sink_check(sink_object *self) {
  cst_error error = CST_ERROR_INIT;
  bool is_told = self->output.file == NULL || self->settings.options.format != NULL;
  if (is_told && cst_sink_format(self->path, &self->settings.options, NULL, &error) != CST_OK) {
    cst__py_raise(self->output.state, &error);
    return -1;
  }
  return 0;
}

static PyObject *new_sink(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  sink_object *self = (sink_object *)allocate(type, 0);
  if (self == NULL) {
    return NULL;
  }
  self->held = Py_NewRef(args);
  if (cst__py_output_init(&self->output, cst__py_state_of((PyObject *)self)) < 0 ||
      sink_parse(self, args) < 0 || sink_check(self) < 0) {
    Py_CLEAR(self);
  }
  return (PyObject *)self;
}

/* Without a finish before, the temporary file goes; not in a forked child, whose parent writes on.
 */
static void free_sink(sink_object *self) {
  cst_sink *sink = self->sink;
  self->sink = NULL;
  self->closed = true;
  if (sink == NULL || !cst__py_output_is_ours(&self->output)) {
    return;
  }
  Py_BEGIN_ALLOW_THREADS
  cst_sink_free(sink);
  Py_END_ALLOW_THREADS
}

static int sink_traverse(PyObject *object, visitproc visit, void *arg) {
  sink_object *self = (sink_object *)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->held);
  return cst__py_output_traverse(&self->output, visit, arg);
}

static int sink_clear(PyObject *object) {
  sink_object *self = (sink_object *)object;
  free_sink(self);
  cst__py_output_clear(&self->output);
  Py_CLEAR(self->held);
  return 0;
}

static void sink_dealloc(PyObject *object) {
  sink_object *self = (sink_object *)object;
  PyObject_GC_UnTrack(object);
  sink_clear(object);
  cst__py_sink_settings_reset(&self->settings);
  if (self->schema.release != NULL) {
    self->schema.release(&self->schema);
  }
  cst__py_lock_reset(&self->output.lock);
  cst__py_free(object);
}

/* ---- writing ---- */

/* Opens the output for batches of this schema (moved in). No GIL. */
static cst_status begin(sink_object *self, struct ArrowSchema *schema, cst_error *error) {
  cst_status status;
  if (self->output.file == NULL) {
    status = cst_sink_open(self->path, schema, &self->settings.options, &self->sink, error);
  } else {
    cst_writer writer;
    PyGILState_STATE gil = PyGILState_Ensure(); /* for the count of references */
    writer = cst__py_file_writer(self->output.file, self->path);
    PyGILState_Release(gil);
    status = cst_sink_open_writer(&writer, schema, &self->settings.options, &self->sink, error);
  }
  if (status == CST_OK) {
    self->schema = *schema;
    schema->release = NULL;
  }
  return status;
}

static cst_status refuse_schema(cst_error *error) {
  error->code = CST_SCHEMA;
  PyOS_snprintf(error->message, sizeof error->message,
                "the columns of this batch differ from those of the first one");
  PyOS_snprintf(error->hint, sizeof error->hint, "write batches of one schema into one file");
  return CST_SCHEMA;
}

static cst_status write_rows(sink_object *self, struct ArrowArrayStream *stream, int64_t *rows,
                             cst_error *error) {
  for (;;) {
    struct ArrowArray batch;
    cst_status status = cst__py_stream_next(stream, &batch, error);
    if (batch.release == NULL) {
      return status;
    }
    *rows += batch.length;
    status = cst_sink_write(self->sink, &batch, error);
    batch.release(&batch);
    if (status != CST_OK) {
      return status;
    }
  }
}

/* No GIL. */
static cst_status sink_write_stream(sink_object *self, struct ArrowArrayStream *stream,
                                    int64_t *rows, cst_error *error) {
  struct ArrowSchema schema;
  cst_status status = cst__py_stream_schema(stream, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  if (self->sink == NULL) {
    status = begin(self, &schema, error);
  } else if (!cst__py_arrow_schema_equal(&self->schema, &schema)) {
    status = refuse_schema(error);
  }
  if (schema.release != NULL) {
    schema.release(&schema);
  }
  return status == CST_OK ? write_rows(self, stream, rows, error) : status;
}

static bool sink_is_closed(PyObject *object) { return ((sink_object *)object)->closed; }

/* Enters the lock of an open sink. 0, or -1 with an exception. */
static int sink_enter(sink_object *self) {
  return cst__py_output_enter(&self->output, (PyObject *)self, sink_is_closed);
}

static PyObject *sink_write_batches(PyObject *object, PyObject *batches) {
  sink_object *self = (sink_object *)object;
  struct ArrowArrayStream stream;
  if (cst__py_import_batches(batches, &stream) < 0) {
    return NULL;
  }
  bool entered = sink_enter(self) == 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_STATE;
  int64_t rows = 0;
  Py_BEGIN_ALLOW_THREADS
  if (entered) {
    status = sink_write_stream(self, &stream, &rows, &error);
  }
  stream.release(&stream);
  Py_END_ALLOW_THREADS
  return entered ? cst__py_output_leave(&self->output, status, &error, PyLong_FromLongLong(rows))
                 : NULL;
}

/* Opens the output for batches of this schema, before there is one. */
static PyObject *begin_by(PyObject *object, PyObject *schema_object) {
  sink_object *self = (sink_object *)object;
  struct ArrowSchema schema;
  if (cst__py_import_schema(schema_object, &schema) < 0) {
    return NULL;
  }
  bool entered = sink_enter(self) == 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_OK;
  Py_BEGIN_ALLOW_THREADS
  if (entered && self->sink == NULL) {
    status = begin(self, &schema, &error);
  }
  if (schema.release != NULL) {
    schema.release(&schema);
  }
  Py_END_ALLOW_THREADS
  return entered ? cst__py_output_leave(&self->output, status, &error, Py_NewRef(Py_None)) : NULL;
}

static PyObject *sink_finish(PyObject *object, PyObject *unused) {
  (void)unused;
  sink_object *self = (sink_object *)object;
  if (sink_enter(self) < 0) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_STATE;
  if (self->sink == NULL) {
    error.code = CST_STATE;
    PyOS_snprintf(error.message, sizeof error.message,
                  "nothing was written: the columns are unknown");
    PyOS_snprintf(error.hint, sizeof error.hint,
                  "write a batch or a stream of no rows, which has columns");
  } else {
    Py_BEGIN_ALLOW_THREADS
    status = cst_sink_finish(self->sink, &error);
    Py_END_ALLOW_THREADS
  }
  free_sink(self);
  return cst__py_output_leave(&self->output, status, &error, Py_NewRef(Py_None));
}

static PyObject *sink_give_up(PyObject *object, PyObject *unused) {
  (void)unused;
  sink_object *self = (sink_object *)object;
  if (cst__py_lock_enter(&self->output.lock, self->output.state, "writer") < 0) {
    return NULL;
  }
  free_sink(self);
  cst__py_lock_leave(&self->output.lock);
  Py_RETURN_NONE;
}

static PyObject *sink_keep_existing(PyObject *object, PyObject *keep) {
  int wanted = PyObject_IsTrue(keep);
  if (wanted < 0) {
    return NULL;
  }
  ((sink_object *)object)->settings.options.keep_existing = wanted != 0;
  Py_RETURN_NONE;
}

static PyObject *sink_get_closed(PyObject *object, void *closure) {
  (void)closure;
  return PyBool_FromLong(sink_is_closed(object));
}

PyObject *cst__py_sink_format(PyObject *module, PyObject *args) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  const char *path;
  const char *name = NULL;
  (void)module;
  if (!PyArg_ParseTuple(args, "yzz:sink_format", &path, &options.format, &options.container)) {
    return NULL;
  }
  (void)cst_sink_format(path, &options, &name, NULL);
  return Py_BuildValue("z", name);
}

PyObject *cst__py_sink_exists(PyObject *module, PyObject *args) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  const char *path;
  int is_sharded;
  (void)module;
  if (!PyArg_ParseTuple(args, "yp:sink_exists", &path, &is_sharded)) {
    return NULL;
  }
  options.num_shards = is_sharded ? 1 : 0;
  return PyBool_FromLong(cst_sink_exists(path, &options));
}

static PyMethodDef methods[] = {
    {"keep_existing", sink_keep_existing, METH_O, NULL}, {"begin", begin_by, METH_O, NULL},
    {"write", sink_write_batches, METH_O, NULL},         {"finish", sink_finish, METH_NOARGS, NULL},
    {"abort", sink_give_up, METH_NOARGS, NULL},          {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"closed", sink_get_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.Writer."},
    {Py_tp_new, new_sink},
    {Py_tp_dealloc, sink_dealloc},
    {Py_tp_traverse, sink_traverse},
    {Py_tp_clear, sink_clear},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_sink_spec = {
    .name = "columnstone._core.Sink",
    .basicsize = sizeof(sink_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
