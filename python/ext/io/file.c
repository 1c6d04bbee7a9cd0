/* Python file objects as the library's readers and writers.
 *
 * The library calls from any thread. A callback enters Python through the module's gate; what the
 * file object raises is kept and becomes the exception of the call that failed.
 */
#include <stdlib.h>

#include "ext/io/io.h"

struct cst__py_file {
  int refs; /* changes under the GIL */
  cst__py_gate *gate;
  PyObject *object;
  cst__py_kept kept; /* of the last failed callback */
  PyObject *scratch; /* for readinto */
  long long base;    /* the file's position when it was handed over */
  bool can_seek;
  int has_readinto;
  int has_read;
};

static int find_base(cst__py_file *file) {
  if (!file->can_seek) {
    return 0;
  }
  PyObject *position = PyObject_CallMethod(file->object, "tell", NULL);
  file->base = position == NULL ? -1 : PyLong_AsLongLong(position);
  Py_XDECREF(position);
  if (file->base < 0 && PyErr_Occurred() == NULL) {
    PyErr_Format(PyExc_OSError, "tell() of the file object returned %lld", file->base);
  }
  return file->base < 0 ? -1 : 0;
}

cst__py_file *cst__py_file_new(cst__py_state *state, PyObject *object, bool can_seek) {
  cst__py_file *file = calloc(1, sizeof *file);
  if (file == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  file->refs = 1;
  file->gate = state->gate;
  file->object = Py_NewRef(object);
  file->can_seek = can_seek;
  file->has_readinto = cst__py_has(object, "readinto");
  file->has_read = cst__py_has(object, "read");
  if (file->has_readinto < 0 || file->has_read < 0 || find_base(file) < 0) {
    cst__py_file_release(file);
    return NULL;
  }
  return file;
}

void cst__py_file_release(cst__py_file *file) {
  if (file == NULL || --file->refs > 0) {
    return;
  }
  PyObject *object = file->object;
  PyObject *exception = file->kept.exception;
  PyObject *scratch = file->scratch;
  free(file);
  Py_XDECREF(object);
  Py_XDECREF(exception);
  Py_XDECREF(scratch);
}

int cst__py_file_traverse(const cst__py_file *file, visitproc visit, void *arg) {
  Py_VISIT(file->object);
  Py_VISIT(file->kept.exception);
  return 0;
}

cst__py_kept *cst__py_file_kept(cst__py_file *file) { return &file->kept; }

/* ---- reading ---- */

static int seek_to(cst__py_file *file, uint64_t offset) {
  if (!file->can_seek) {
    return 0;
  }
  PyObject *done = PyObject_CallMethod(file->object, "seek", "L", file->base + (long long)offset);
  Py_XDECREF(done);
  return done == NULL ? -1 : 0;
}

/* The number of bytes that readinto says it has read; -1 with an exception. */
static Py_ssize_t count_of(PyObject *result, size_t size) {
  if (result == Py_None) {
    PyErr_SetString(PyExc_BlockingIOError, "the file object is in non-blocking mode");
    return -1;
  }
  Py_ssize_t n = PyLong_AsSsize_t(result);
  if (PyErr_Occurred() == NULL && (n < 0 || (size_t)n > size)) {
    PyErr_Format(PyExc_OSError, "readinto() returned %zd for a buffer of %zu bytes", n, size);
  }
  return PyErr_Occurred() == NULL ? n : -1;
}

/* The bytearray that readinto fills: as large as asked for, the same one again where that fits. The
 * file object may keep a view of it, which could not be allowed for the library's own buffer. */
static PyObject *scratch_of(cst__py_file *file, size_t size) {
  if (file->scratch == NULL || (size_t)PyByteArray_Size(file->scratch) != size) {
    cst__py_replace(&file->scratch, PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)size));
  }
  return file->scratch;
}

static Py_ssize_t read_bytes(cst__py_file *file, void *buffer, size_t size) {
  PyObject *result = PyObject_CallMethod(file->object, "read", "n", (Py_ssize_t)size);
  Py_buffer data;
  Py_ssize_t n = -1;
  if (result == Py_None) {
    count_of(result, size);
  } else if (result != NULL && PyObject_GetBuffer(result, &data, PyBUF_SIMPLE) == 0) {
    if ((size_t)data.len > size) {
      PyErr_Format(PyExc_OSError, "read(%zu) returned %zd bytes", size, data.len);
    } else {
      n = data.len;
      memcpy(buffer, data.buf, (size_t)n);
    }
    PyBuffer_Release(&data);
  }
  Py_XDECREF(result);
  return n;
}

/* True if readinto says that it is only a name: io's base classes do so where an heir has read()
 * alone. io.UnsupportedOperation is another thing, and comes out. */
static bool lacks_readinto(const cst__py_file *file) {
  return PyErr_ExceptionMatches(PyExc_NotImplementedError) && file->has_read > 0;
}

static Py_ssize_t read_into(cst__py_file *file, void *buffer, size_t size) {
  PyObject *scratch = scratch_of(file, size);
  PyObject *view = scratch == NULL ? NULL : PyMemoryView_FromObject(scratch);
  if (view == NULL) {
    return -1;
  }
  PyObject *result = PyObject_CallMethod(file->object, "readinto", "O", view);
  if (result == NULL && lacks_readinto(file)) {
    PyErr_Clear();
    Py_DECREF(view);
    file->has_readinto = 0;
    return read_bytes(file, buffer, size);
  }
  Py_ssize_t n = result == NULL ? -1 : count_of(result, size);
  if (n > 0) {
    memcpy(buffer, PyByteArray_AsString(scratch),
           (size_t)n); /* the view has kept it from shrinking */
  }
  Py_XDECREF(result);
  Py_DECREF(view);
  return n;
}

static cst_status read_at(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                          cst_error *error) {
  cst__py_file *file = ctx;
  PyGILState_STATE gil;
  if (!cst__py_enter(file->gate, &gil)) {
    return cst__py_refuse(error);
  }
  if (size > (size_t)PY_SSIZE_T_MAX) {
    size = (size_t)PY_SSIZE_T_MAX;
  }
  Py_ssize_t n = seek_to(file, offset);
  if (n == 0) {
    n = file->has_readinto ? read_into(file, buffer, size) : read_bytes(file, buffer, size);
  }
  cst_status status = CST_OK;
  if (n < 0) {
    status = cst__py_keep(&file->kept, file->gate, "reading: the file object raised", error);
  } else {
    *got = (size_t)n;
  }
  cst__py_leave(file->gate, gil);
  return status;
}

/* Without Python there is nobody to give the object to: it stays until the process ends. */
static void close_file(void *ctx) {
  cst__py_file *file = ctx;
  cst__py_gate *gate = file->gate;
  PyGILState_STATE gil;
  if (cst__py_enter(gate, &gil)) {
    cst__py_file_release(file);
    cst__py_leave(gate, gil);
  }
}

cst_reader cst__py_file_reader(cst__py_file *file, const char *name) {
  file->refs++;
  return (cst_reader){sizeof(cst_reader), name, read_at, close_file, file, file->can_seek};
}

/* ---- writing ---- */

/* One write; the bytes that it took. None counts as all: not every writer gives a number. */
static Py_ssize_t write_some(cst__py_file *file, const char *data, size_t size) {
  PyObject *bytes = PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
  if (bytes == NULL) {
    return -1;
  }
  PyObject *result = PyObject_CallMethod(file->object, "write", "O", bytes);
  Py_DECREF(bytes);
  Py_ssize_t n = -1;
  if (result == Py_None) {
    n = (Py_ssize_t)size;
  } else if (result != NULL) {
    n = PyLong_AsSsize_t(result);
    if (PyErr_Occurred() == NULL && (n <= 0 || (size_t)n > size)) {
      PyErr_Format(PyExc_OSError, "write() returned %zd for %zu bytes", n, size);
    }
    n = PyErr_Occurred() == NULL ? n : -1;
  }
  Py_XDECREF(result);
  return n;
}

static cst_status write_all(void *ctx, const void *data, size_t size, cst_error *error) {
  cst__py_file *file = ctx;
  PyGILState_STATE gil;
  if (!cst__py_enter(file->gate, &gil)) {
    return cst__py_refuse(error);
  }
  cst_status status = CST_OK;
  const char *next = data;
  while (size > 0 && status == CST_OK) {
    Py_ssize_t n = write_some(file, next, size);
    if (n < 0) {
      status = cst__py_keep(&file->kept, file->gate, "writing: the file object raised", error);
    } else {
      next += n;
      size -= (size_t)n;
    }
  }
  cst__py_leave(file->gate, gil);
  return status;
}

/* Not every file object has a flush. */
static int flush(cst__py_file *file) {
  int has = cst__py_has(file->object, "flush");
  PyObject *done = has > 0 ? PyObject_CallMethod(file->object, "flush", NULL) : NULL;
  Py_XDECREF(done);
  return has == 0 || done != NULL ? 0 : -1;
}

static cst_status close_writer(void *ctx, bool commit, cst_error *error) {
  cst__py_file *file = ctx;
  PyGILState_STATE gil;
  if (!cst__py_enter(file->gate, &gil)) {
    return cst__py_refuse(error);
  }
  cst_status status = CST_OK;
  if (commit && flush(file) < 0) {
    status = cst__py_keep(&file->kept, file->gate, "flushing: the file object raised", error);
  }
  cst__py_gate *gate = file->gate;
  cst__py_file_release(file);
  cst__py_leave(gate, gil);
  return status;
}

cst_writer cst__py_file_writer(cst__py_file *file, const char *name) {
  file->refs++;
  return (cst_writer){sizeof(cst_writer), name, write_all, close_writer, file};
}
