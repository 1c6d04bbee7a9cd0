/* Arrow in and out of Python objects through PyCapsules.
 *
 * Source: "The Arrow PyCapsule Interface". A capsule owns its structure until a consumer moves it
 * out (release becomes NULL).
 */
#include <errno.h>
#include <stdlib.h>

#include "ext/arrow/arrow.h"

static void schema_destructor(PyObject *capsule) {
  struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
  if (schema != NULL && schema->release != NULL) {
    schema->release(schema);
  }
  free(schema);
}

static void array_destructor(PyObject *capsule) {
  struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
  if (array != NULL && array->release != NULL) {
    array->release(array);
  }
  free(array);
}

static void stream_destructor(PyObject *capsule) {
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  if (stream != NULL && stream->release != NULL) {
    Py_BEGIN_ALLOW_THREADS /* the release may join threads that wait for the GIL */
    stream->release(stream);
    Py_END_ALLOW_THREADS
  }
  free(stream);
}

/* Puts a copy of the structure on the heap, into a capsule. NULL: the caller still owns it. */
static PyObject *capsule_of(const void *structure, size_t size, const char *name,
                            PyCapsule_Destructor release) {
  void *moved = malloc(size);
  if (moved == NULL) {
    return PyErr_NoMemory();
  }
  memcpy(moved, structure, size);
  PyObject *capsule = PyCapsule_New(moved, name, release);
  if (capsule == NULL) {
    free(moved);
  }
  return capsule;
}

PyObject *cst__py_schema_capsule(struct ArrowSchema *schema) {
  PyObject *capsule = capsule_of(schema, sizeof *schema, "arrow_schema", schema_destructor);
  if (capsule == NULL) {
    schema->release(schema);
  }
  return capsule;
}

PyObject *cst__py_array_capsule(struct ArrowArray *array) {
  PyObject *capsule = capsule_of(array, sizeof *array, "arrow_array", array_destructor);
  if (capsule == NULL) {
    array->release(array);
  }
  return capsule;
}

PyObject *cst__py_stream_capsule(struct ArrowArrayStream *stream) {
  PyObject *capsule = capsule_of(stream, sizeof *stream, "arrow_array_stream", stream_destructor);
  if (capsule == NULL) {
    stream->release(stream);
  }
  return capsule;
}

/* ---- what others made ---- */

void cst__py_release_stream(struct ArrowArrayStream *stream) {
  cst__py_pending pending = cst__py_put_aside();
  Py_BEGIN_ALLOW_THREADS /* it may join threads that wait for the GIL */
  stream->release(stream);
  Py_END_ALLOW_THREADS
  cst__py_put_back(pending);
}

void cst__py_release_array(struct ArrowArray *array) {
  cst__py_pending pending = cst__py_put_aside();
  array->release(array);
  cst__py_put_back(pending);
}

enum { MAX_DEPTH = 100 };

/* True if every node is there, with a type, and the nesting has an end. */
static bool is_whole(const struct ArrowSchema *schema, int depth) {
  bool whole = schema != NULL && schema->release != NULL && schema->format != NULL &&
               depth <= MAX_DEPTH && schema->n_children >= 0 &&
               (schema->n_children == 0 || schema->children != NULL) &&
               (schema->dictionary == NULL || is_whole(schema->dictionary, depth + 1));
  for (int64_t i = 0; whole && i < schema->n_children; i++) {
    whole = is_whole(schema->children[i], depth + 1);
  }
  return whole;
}

static const char no_whole_schema[] =
    "the Arrow schema is released, incomplete or nested deeper than 100";

/* Moves a schema out. 0, or -1 with an exception. */
static int move_schema(struct ArrowSchema *from, struct ArrowSchema *out) {
  if (!is_whole(from, 0)) {
    PyErr_SetString(PyExc_ValueError, no_whole_schema);
    return -1;
  }
  *out = *from;
  from->release = NULL;
  return 0;
}

/* Fills the error for a stream's callback that returned `code`. */
static cst_status stream_failure(struct ArrowArrayStream *stream, int code, cst_error *error) {
  const char *text = stream->get_last_error == NULL ? NULL : stream->get_last_error(stream);
  error->code = code == ENOMEM  ? CST_NO_MEMORY
                : code == EINTR ? CST_INTERRUPTED
                                : CST_INVALID_ARGUMENT;
  PyOS_snprintf(error->message, sizeof error->message, "the Arrow stream failed: %.120s",
                text == NULL ? "no reason given" : text);
  return error->code;
}

cst_status cst__py_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out,
                                 cst_error *error) {
  out->release = NULL;
  int code = stream->get_schema(stream, out);
  if (code != 0) {
    return stream_failure(stream, code, error);
  }
  if (is_whole(out, 0)) {
    return CST_OK;
  }
  if (out->release != NULL) {
    out->release(out);
  }
  error->code = CST_INVALID_ARGUMENT;
  PyOS_snprintf(error->message, sizeof error->message, "%s", no_whole_schema);
  return error->code;
}

cst_status cst__py_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out,
                               cst_error *error) {
  out->release = NULL;
  int code = stream->get_next(stream, out);
  if (code == 0) {
    return CST_OK;
  }
  out->release = NULL;
  return stream_failure(stream, code, error);
}

int cst__py_import_array(PyObject *object, struct ArrowSchema *schema, struct ArrowArray *array) {
  PyObject *pair = PyObject_CallMethod(object, "__arrow_c_array__", NULL);
  if (pair == NULL) {
    return -1;
  }
  struct ArrowSchema *from_schema = NULL;
  struct ArrowArray *from_array = NULL;
  if (PyTuple_Check(pair) && PyTuple_Size(pair) == 2) {
    from_schema = PyCapsule_GetPointer(PyTuple_GetItem(pair, 0), "arrow_schema");
    from_array =
        from_schema == NULL ? NULL : PyCapsule_GetPointer(PyTuple_GetItem(pair, 1), "arrow_array");
  } else {
    PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ must give a tuple of two capsules");
  }
  int result = -1;
  if (from_array != NULL && (from_schema->release == NULL || from_array->release == NULL)) {
    PyErr_SetString(PyExc_ValueError, "__arrow_c_array__ gave capsules that were used before");
  } else if (from_array != NULL && move_schema(from_schema, schema) == 0) {
    *array = *from_array;
    from_array->release = NULL;
    result = 0;
  }
  Py_DECREF(pair);
  return result;
}

int cst__py_import_stream(PyObject *object, struct ArrowArrayStream *stream) {
  PyObject *capsule = PyObject_CallMethod(object, "__arrow_c_stream__", NULL);
  if (capsule == NULL) {
    return -1;
  }
  struct ArrowArrayStream *from = PyCapsule_GetPointer(capsule, "arrow_array_stream");
  int result = -1;
  if (from != NULL && from->release == NULL) {
    PyErr_SetString(PyExc_ValueError, "__arrow_c_stream__ gave a capsule that was used before");
  } else if (from != NULL && (from->get_schema == NULL || from->get_next == NULL)) {
    PyErr_SetString(PyExc_ValueError, "the Arrow stream lacks get_schema or get_next");
  } else if (from != NULL) {
    *stream = *from;
    from->release = NULL;
    result = 0;
  }
  Py_DECREF(capsule);
  return result;
}

PyObject *cst__py_as_arrow(PyObject *object) {
  int has = cst__py_has(object, "__arrow_c_array__");
  has = has == 0 ? cst__py_has(object, "__arrow_c_stream__") : has;
  if (has != 0) {
    return has < 0 ? NULL : Py_NewRef(object);
  }
  PyObject *module = PyImport_ImportModule("columnstone._arrow.as_arrow");
  PyObject *made = module == NULL ? NULL : PyObject_CallMethod(module, "as_arrow", "O", object);
  Py_XDECREF(module);
  return made;
}

/* ---- one array as a stream ---- */

typedef struct one_batch {
  cst__py_shared *schema;
  struct ArrowArray array; /* released: given away */
} one_batch;

static int one_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  cst__py_shared *schema = ((one_batch *)stream->private_data)->schema;
  int result = cst__py_shared_export_schema(schema, cst__py_shared_schema(schema), out);
  return result < 0 ? ENOMEM : 0;
}

static int one_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  one_batch *one = stream->private_data;
  *out = one->array;
  one->array.release = NULL;
  return 0;
}

static const char *one_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return NULL;
}

static void one_release(struct ArrowArrayStream *stream) {
  one_batch *one = stream->private_data;
  cst__py_shared_release(one->schema);
  if (one->array.release != NULL) {
    one->array.release(&one->array);
  }
  free(one);
  stream->release = NULL;
}

static int import_one(PyObject *object, struct ArrowArrayStream *stream) {
  struct ArrowSchema schema;
  one_batch *one = calloc(1, sizeof *one);
  if (one == NULL || cst__py_import_array(object, &schema, &one->array) < 0) {
    free(one);
    return one == NULL ? (PyErr_NoMemory(), -1) : -1;
  }
  one->schema = cst__py_shared_new(&schema, NULL);
  *stream = (struct ArrowArrayStream){one_schema, one_next, one_error, one_release, one};
  if (one->schema == NULL) {
    schema.release(&schema);
    one_release(stream);
    PyErr_NoMemory();
    return -1;
  }
  return 0;
}

int cst__py_import_batches(PyObject *object, struct ArrowArrayStream *stream) {
  int has_stream = cst__py_has(object, "__arrow_c_stream__");
  if (has_stream != 0) {
    return has_stream < 0 ? -1 : cst__py_import_stream(object, stream);
  }
  int has_array = cst__py_has(object, "__arrow_c_array__");
  if (has_array != 0) {
    return has_array < 0 ? -1 : import_one(object, stream);
  }
  PyObject *name = PyType_GetName(Py_TYPE(object));
  PyErr_Format(PyExc_TypeError,
               "expected an object with __arrow_c_stream__ or __arrow_c_array__, not %U", name);
  Py_XDECREF(name);
  return -1;
}

int cst__py_import_schema(PyObject *object, struct ArrowSchema *schema) {
  int has = cst__py_has(object, "__arrow_c_schema__");
  if (has <= 0) {
    PyObject *name = has < 0 ? NULL : PyType_GetName(Py_TYPE(object));
    if (name != NULL) {
      PyErr_Format(PyExc_TypeError, "expected an object with __arrow_c_schema__, not %U", name);
    }
    Py_XDECREF(name);
    return -1;
  }
  PyObject *capsule = PyObject_CallMethod(object, "__arrow_c_schema__", NULL);
  if (capsule == NULL) {
    return -1;
  }
  struct ArrowSchema *from = PyCapsule_GetPointer(capsule, "arrow_schema");
  int result = -1;
  if (from != NULL && from->release == NULL) {
    PyErr_SetString(PyExc_ValueError, "__arrow_c_schema__ gave a capsule that was used before");
  } else if (from != NULL) {
    result = move_schema(from, schema);
  }
  Py_DECREF(capsule);
  return result;
}
