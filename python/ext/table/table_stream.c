/* Arrays and record batches from Arrow streams: what tables and series of other libraries give. */
#include <columnstone/arrow.h>
#include <stdlib.h>

#include "ext/arrow/arrow.h"
#include "ext/table/table.h"

/* ---- arrays without slots ---- */

static const int64_t zeros[2];
static const void *no_buffers[3] = {NULL, zeros, zeros};

static void release_empty(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release != NULL) {
      array->children[i]->release(array->children[i]);
    }
  }
  if (array->dictionary != NULL && array->dictionary->release != NULL) {
    array->dictionary->release(array->dictionary);
  }
  free(array->private_data);
  array->release = NULL;
}

/* The children, and the dictionary after them, lie in one block. */
static bool make_empty(const struct ArrowSchema *schema, struct ArrowArray *out) {
  size_t count = (size_t)schema->n_children + 1;
  cst_arrow_type type;
  (void)cst_arrow_type_read(schema, &type, NULL);
  *out = (struct ArrowArray){.n_buffers = type.num_buffers, .buffers = no_buffers};
  char *block = calloc(count, sizeof(struct ArrowArray) + sizeof(struct ArrowArray *));
  if (block == NULL) {
    return false;
  }
  struct ArrowArray *arrays = (struct ArrowArray *)block;
  out->children = (struct ArrowArray **)(arrays + count);
  out->private_data = block;
  out->release = release_empty;
  for (int64_t i = 0; i < schema->n_children; i++) {
    out->children[i] = &arrays[i];
    out->n_children = i + 1;
    if (!make_empty(schema->children[i], &arrays[i])) {
      release_empty(out);
      return false;
    }
  }
  if (schema->dictionary != NULL) {
    out->dictionary = &arrays[count - 1];
    if (!make_empty(schema->dictionary, out->dictionary)) {
      release_empty(out);
      return false;
    }
  }
  return true;
}

/* ---- streams ---- */

typedef struct reading {
  cst__py_state *state;
  PyObject *object; /* whose stream it is */
  struct ArrowArrayStream stream;
  bool is_batch;
} reading;

/* Raises what the object says that its stream failed with, as a Source does: the stream itself
 * tells of it in words. False: it says nothing. */
static bool raise_last_error(PyObject *object) {
  PyObject *exception = PyObject_GetAttrString(object, "last_error");
  bool is_known = exception != NULL && PyExceptionInstance_Check(exception);
  if (is_known) {
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
  } else {
    PyErr_Clear();
  }
  Py_XDECREF(exception);
  return is_known;
}

/* 0, or -1 with the exception of a failure. */
static int table_stream_result(reading *r, cst_status status, const cst_error *error) {
  bool is_told = status == CST_INVALID_ARGUMENT && raise_last_error(r->object);
  if (status != CST_OK && !is_told) {
    cst__py_raise(r->state, error);
  }
  return status == CST_OK ? 0 : -1;
}

static int table_stream_get_schema(reading *r, struct ArrowSchema *out) {
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst__py_stream_schema(&r->stream, out, &error);
  Py_END_ALLOW_THREADS
  return table_stream_result(r, status, &error);
}

/* The next chunk; out->release is NULL at the end. */
static int table_stream_get_next(reading *r, struct ArrowArray *out) {
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst__py_stream_next(&r->stream, out, &error);
  Py_END_ALLOW_THREADS
  return table_stream_result(r, status, &error);
}

/* Appends the chunk, which is taken over. */
static int table_stream_append(reading *r, PyObject *list, struct ArrowArray *chunk) {
  struct ArrowSchema schema;
  if (table_stream_get_schema(r, &schema) < 0) {
    cst__py_release_array(chunk);
    return -1;
  }
  PyObject *made = cst__py_table_import_one(r->state, &schema, chunk, r->is_batch);
  int result = made != NULL ? PyList_Append(list, made) : -1;
  Py_XDECREF(made);
  return result;
}

static int append_all(reading *r, PyObject *list) {
  struct ArrowArray chunk;
  while (table_stream_get_next(r, &chunk) == 0) {
    if (chunk.release != NULL) {
      if (table_stream_append(r, list, &chunk) < 0) {
        return -1;
      }
      continue;
    }
    if (PyList_Size(list) > 0) {
      return 0;
    }
    struct ArrowSchema schema; /* no chunks: one without slots says the type */
    if (table_stream_get_schema(r, &schema) < 0) {
      return -1;
    }
    bool ok = make_empty(&schema, &chunk);
    schema.release(&schema);
    return ok ? table_stream_append(r, list, &chunk) : (PyErr_NoMemory(), -1);
  }
  return -1;
}

PyObject *cst__py_table_read_stream(cst__py_state *state, PyObject *object, bool is_batch) {
  reading r = {.state = state, .object = object, .is_batch = is_batch};
  if (cst__py_import_stream(object, &r.stream) < 0) {
    return NULL;
  }
  PyObject *list = PyList_New(0);
  if (list != NULL && append_all(&r, list) < 0) {
    Py_CLEAR(list);
  }
  cst__py_release_stream(&r.stream);
  return list;
}

PyObject *cst__py_table_import_stream(PyObject *module, PyObject *args) {
  PyObject *object;
  int is_batch;
  if (!PyArg_ParseTuple(args, "Op:array_import_stream", &object, &is_batch)) {
    return NULL;
  }
  return cst__py_table_read_stream(PyModule_GetState(module), object, is_batch != 0);
}

PyObject *cst__py_table_stream(PyObject *module, PyObject *object) {
  (void)module;
  struct ArrowArrayStream stream;
  return cst__py_import_batches(object, &stream) < 0 ? NULL : cst__py_stream_capsule(&stream);
}
