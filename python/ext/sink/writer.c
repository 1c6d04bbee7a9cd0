/* TFRecordWriter: records to a TFRecord file, or into a Python file object. */
#include "ext/arrow/arrow.h"
#include "ext/sink/sink.h"

typedef struct writer_object {
  PyObject_HEAD cst_tfrecord_writer *writer; /* NULL: finished or given up */
  cst__py_output output;
} writer_object;

static cst_status open_file(writer_object *self, PyObject *object, const char *name,
                            const cst_sink_options *options, cst_error *error) {
  if (cst__py_output_set_file(&self->output, object) < 0) {
    return CST_CALLBACK;
  }
  cst_writer writer = cst__py_file_writer(self->output.file, name);
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_tfrecord_writer_open_writer(&writer, options, &self->writer, error);
  Py_END_ALLOW_THREADS
  return status;
}

static cst_status open_path(writer_object *self, const char *path, const cst_sink_options *options,
                            cst_error *error) {
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_tfrecord_writer_open(path, options, &self->writer, error);
  Py_END_ALLOW_THREADS
  return status;
}

/* TFRecordWriter(path or name, file object or None, options) */
static PyObject *new_writer(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
  (void)kwargs;
  const char *path;
  PyObject *object;
  PyObject *dict;
  if (!PyArg_ParseTuple(args, "yOO!:TFRecordWriter", &path, &object, &PyDict_Type, &dict)) {
    return NULL;
  }
  allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  writer_object *self = (writer_object *)allocate(type, 0);
  if (self == NULL) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst__py_state *state = cst__py_state_of((PyObject *)self);
  cst__py_sink_settings settings = {.options = CST_SINK_OPTIONS_INIT};
  const cst_sink_options *options = &settings.options;
  if (cst__py_output_init(&self->output, state) < 0 ||
      cst__py_sink_settings_init(&settings, state, dict) < 0) {
    Py_CLEAR(self);
  } else if ((object == Py_None ? open_path(self, path, options, &error)
                                : open_file(self, object, path, options, &error)) != CST_OK) {
    if (PyErr_Occurred() == NULL) {
      cst__py_output_fail(&self->output, &error);
    }
    Py_CLEAR(self);
  }
  cst__py_sink_settings_reset(&settings);
  return (PyObject *)self;
}

/* Without a finish before, the temporary file goes; not in a forked child, whose parent writes on.
 */
static void free_writer(writer_object *self) {
  cst_tfrecord_writer *writer = self->writer;
  self->writer = NULL;
  if (writer == NULL || !cst__py_output_is_ours(&self->output)) {
    return;
  }
  Py_BEGIN_ALLOW_THREADS
  cst_tfrecord_writer_free(writer);
  Py_END_ALLOW_THREADS
}

static int writer_traverse(PyObject *object, visitproc visit, void *arg) {
  writer_object *self = (writer_object *)object;
  Py_VISIT(Py_TYPE(object));
  return cst__py_output_traverse(&self->output, visit, arg);
}

static int writer_clear(PyObject *object) {
  writer_object *self = (writer_object *)object;
  free_writer(self);
  cst__py_output_clear(&self->output);
  return 0;
}

static void writer_dealloc(PyObject *object) {
  writer_object *self = (writer_object *)object;
  PyObject_GC_UnTrack(object);
  writer_clear(object);
  cst__py_lock_reset(&self->output.lock);
  cst__py_free(object);
}

static bool writer_is_closed(PyObject *object) { return ((writer_object *)object)->writer == NULL; }

/* Enters the lock of an open writer. 0, or -1 with an exception. */
static int writer_enter(writer_object *self) {
  return cst__py_output_enter(&self->output, (PyObject *)self, writer_is_closed);
}

static PyObject *writer_leave(writer_object *self, cst_status status, const cst_error *error) {
  return cst__py_output_leave(&self->output, status, error, Py_NewRef(Py_None));
}

static PyObject *write_record(PyObject *object, PyObject *record) {
  writer_object *self = (writer_object *)object;
  Py_buffer data;
  if (PyObject_GetBuffer(record, &data, PyBUF_SIMPLE) < 0) {
    return NULL;
  }
  if (writer_enter(self) < 0) {
    PyBuffer_Release(&data);
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_tfrecord_writer_write(self->writer, data.buf, (size_t)data.len, &error);
  Py_END_ALLOW_THREADS
  PyBuffer_Release(&data);
  return writer_leave(self, status, &error);
}

/* ---- Arrow ---- */

static cst_status writer_write_batches(writer_object *self, struct ArrowArrayStream *stream,
                                       cst_error *error) {
  struct ArrowSchema schema;
  cst_status status = cst__py_stream_schema(stream, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  while (status == CST_OK) {
    struct ArrowArray batch;
    status = cst__py_stream_next(stream, &batch, error);
    if (batch.release == NULL) {
      break;
    }
    status = cst_tfrecord_writer_write_arrow(self->writer, &schema, &batch, error);
    batch.release(&batch);
  }
  schema.release(&schema);
  return status;
}

static PyObject *write_array(writer_object *self, PyObject *records) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  if (cst__py_import_array(records, &schema, &array) < 0) {
    return NULL;
  }
  bool entered = writer_enter(self) == 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_STATE;
  Py_BEGIN_ALLOW_THREADS
  if (entered) {
    status = cst_tfrecord_writer_write_arrow(self->writer, &schema, &array, &error);
  }
  schema.release(&schema);
  array.release(&array);
  Py_END_ALLOW_THREADS
  return entered ? writer_leave(self, status, &error) : NULL;
}

static PyObject *writer_write_stream(writer_object *self, PyObject *records) {
  struct ArrowArrayStream stream;
  if (cst__py_import_stream(records, &stream) < 0) {
    return NULL;
  }
  bool entered = writer_enter(self) == 0;
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_STATE;
  Py_BEGIN_ALLOW_THREADS
  if (entered) {
    status = writer_write_batches(self, &stream, &error);
  }
  stream.release(&stream);
  Py_END_ALLOW_THREADS
  return entered ? writer_leave(self, status, &error) : NULL;
}

static PyObject *write_arrow(PyObject *object, PyObject *records) {
  int is_array = cst__py_has(records, "__arrow_c_array__");
  if (is_array > 0) {
    return write_array((writer_object *)object, records);
  }
  int is_stream = is_array < 0 ? -1 : cst__py_has(records, "__arrow_c_stream__");
  if (is_stream > 0) {
    return writer_write_stream((writer_object *)object, records);
  }
  if (is_stream == 0) {
    PyObject *name = PyType_GetName(Py_TYPE(records));
    PyErr_Format(PyExc_TypeError,
                 "write_batch() takes an Arrow binary array, or a batch or stream with one binary "
                 "column, not %U (one record of bytes: write())",
                 name);
    Py_XDECREF(name);
  }
  return NULL;
}

static PyObject *writer_finish(PyObject *object, PyObject *unused) {
  (void)unused;
  writer_object *self = (writer_object *)object;
  if (writer_enter(self) < 0) {
    return NULL;
  }
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_tfrecord_writer_finish(self->writer, &error);
  Py_END_ALLOW_THREADS
  free_writer(self);
  return writer_leave(self, status, &error);
}

static PyObject *writer_give_up(PyObject *object, PyObject *unused) {
  (void)unused;
  writer_object *self = (writer_object *)object;
  if (cst__py_lock_enter(&self->output.lock, self->output.state, "writer") < 0) {
    return NULL;
  }
  free_writer(self);
  cst__py_lock_leave(&self->output.lock);
  Py_RETURN_NONE;
}

static PyObject *writer_get_closed(PyObject *object, void *closure) {
  (void)closure;
  return PyBool_FromLong(writer_is_closed(object));
}

static PyMethodDef methods[] = {
    {"write", write_record, METH_O, NULL},
    {"write_arrow", write_arrow, METH_O, NULL},
    {"finish", writer_finish, METH_NOARGS, NULL},
    {"abort", writer_give_up, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"closed", writer_get_closed, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.codec.TFRecordWriter."},
    {Py_tp_new, new_writer},
    {Py_tp_dealloc, writer_dealloc},
    {Py_tp_traverse, writer_traverse},
    {Py_tp_clear, writer_clear},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_writer_spec = {
    .name = "columnstone._core.TFRecordWriter",
    .basicsize = sizeof(writer_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
