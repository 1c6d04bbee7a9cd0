/* What every file of the Python extension shares: the module's state, the types, and the helpers
 * that cross a file's border.
 *
 * Rules of this folder: limited API of Python 3.11; final heap types that find the module's state
 * by their type; exact argument types (sugar and defaults live in the .py files); the GIL is
 * released around all work of the library, and callbacks from its threads take it only through a
 * gate that closes before the interpreter goes down.
 */
#ifndef COLUMNSTONE_PYTHON_EXT_H
#define COLUMNSTONE_PYTHON_EXT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <columnstone/arrow_abi.h>
#include <columnstone/example.h>
#include <columnstone/schema.h>
#include <columnstone/sink.h>
#include <columnstone/source.h>
#include <columnstone/status.h>
#include <columnstone/tensor.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

/* Lets threads of the library into Python until the interpreter begins to go down. */
typedef struct cst__py_gate {
  atomic_bool closed;
  atomic_int inside; /* callbacks that are in Python or wait for the GIL */
  pid_t process;
} cst__py_gate;

enum { CST__PY_NUM_ERRORS = CST_CALLBACK + 1 };

typedef struct cst__py_state {
  PyTypeObject *schema_type;
  PyTypeObject *arrow_schema_type;
  PyTypeObject *batch_type;
  PyTypeObject *array_type;
  PyTypeObject *tensor_type;
  PyTypeObject *source_type;
  PyTypeObject *pass_type;
  PyTypeObject *decoder_type;
  PyTypeObject *encoder_type;
  PyTypeObject *writer_type;
  PyObject *errors[CST__PY_NUM_ERRORS]; /* the exception class of each status */
  cst__py_gate *gate;                   /* never freed: threads may look at it until the very end */
} cst__py_state;

/* The state of the module that made the type of `self`. */
cst__py_state *cst__py_state_of(PyObject *self);

/* Sets a place to a new reference (taken over; may be NULL), and only then drops the old one. */
void cst__py_replace(PyObject **place, PyObject *object);

/* Frees the memory of an instance of a heap type and gives back its type. */
void cst__py_free(PyObject *self);

/* ---- errors.c ---- */

int cst__py_errors_init(cst__py_state *state);
/* Sets the exception for a failed call; returns NULL. Not for CST_CALLBACK with a Python exception.
 */
PyObject *cst__py_raise(cst__py_state *state, const cst_error *error);
/* The exception object of an error. */
PyObject *cst__py_error_object(cst__py_state *state, const cst_error *error);
/* Sets an exception of the class of `code` with a message and a hint ("" for none); returns NULL.
 */
PyObject *cst__py_fail(cst__py_state *state, cst_status code, const char *hint, const char *fmt,
                       ...);

/* ---- lock.c: one caller at a time, without holding the GIL while waiting ---- */

typedef struct cst__py_lock {
  PyThread_type_lock lock;
  unsigned long owner; /* thread that holds it; 0: nobody */
} cst__py_lock;

/* 0, or -1 with an exception. */
int cst__py_lock_init(cst__py_lock *lock);
void cst__py_lock_reset(cst__py_lock *lock);
/* 0, or -1 with StateError if this thread holds it already. */
int cst__py_lock_enter(cst__py_lock *lock, cst__py_state *state, const char *what);
void cst__py_lock_leave(cst__py_lock *lock);

/* ---- share.c: Arrow data with counted owners, no Python in it ---- */

typedef struct cst__py_shared cst__py_shared;

/* Moves the array, or the schema, in; the other one is NULL. NULL if out of memory, nothing moved.
 */
cst__py_shared *cst__py_shared_new(struct ArrowSchema *schema, struct ArrowArray *array);
cst__py_shared *cst__py_shared_retain(cst__py_shared *shared);
void cst__py_shared_release(cst__py_shared *shared);
const struct ArrowSchema *cst__py_shared_schema(const cst__py_shared *shared);
const struct ArrowArray *cst__py_shared_array(const cst__py_shared *shared);
/* Exports a node of the shared tree as one of its own that keeps the tree alive. 0, or -1 if out of
 * memory; *out is only written on success. */
int cst__py_shared_export_schema(cst__py_shared *shared, const struct ArrowSchema *node,
                                 struct ArrowSchema *out);
int cst__py_shared_export_array(cst__py_shared *shared, const struct ArrowArray *node,
                                struct ArrowArray *out);

/* ---- capsule.c: Arrow through PyCapsules ---- */

/* A capsule that owns what it is given; on failure that is released. */
PyObject *cst__py_schema_capsule(struct ArrowSchema *schema);
PyObject *cst__py_array_capsule(struct ArrowArray *array);
PyObject *cst__py_stream_capsule(struct ArrowArrayStream *stream);
/* 1 if the object has an attribute of that name, 0 if not, -1 with an exception. */
int cst__py_has(PyObject *object, const char *name);
/* Moves data out of an object with __arrow_c_array__ or __arrow_c_stream__. 0, or -1 with an
 * exception and nothing to release. */
int cst__py_import_array(PyObject *object, struct ArrowSchema *schema, struct ArrowArray *array);
int cst__py_import_stream(PyObject *object, struct ArrowArrayStream *stream);
/* Fills the error for a stream's callback that returned `code`. */
cst_status cst__py_stream_failure(struct ArrowArrayStream *stream, int code, cst_error *error);

/* ---- arrow_schema.c ---- */

/* Takes the schema over, also on failure. */
PyObject *cst__py_arrow_schema_new(cst__py_state *state, struct ArrowSchema *schema);
const struct ArrowSchema *cst__py_arrow_schema_view(PyObject *self);
/* The i-th child of a struct's schema. */
PyObject *cst__py_arrow_schema_child(PyObject *self, int64_t i);
/* Name of child i as str. */
PyObject *cst__py_arrow_schema_name(const struct ArrowSchema *schema, int64_t i);

/* ---- values.c ---- */

/* Slot i of an array as a Python object: None, int, float, bytes, str, list, dict. */
PyObject *cst__py_value(cst__py_state *state, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t i);
/* All slots as a list. */
PyObject *cst__py_values(cst__py_state *state, const struct ArrowSchema *schema,
                         const struct ArrowArray *array, int64_t offset, int64_t length);

/* ---- batch.c, array.c ---- */

/* Both take the array over, also on failure. `schema` is an ArrowSchema object (borrowed). */
PyObject *cst__py_batch_new(cst__py_state *state, PyObject *schema, struct ArrowArray *array);
PyObject *cst__py_array_new(cst__py_state *state, PyObject *schema, struct ArrowArray *array);
/* A view of a node of shared data. */
PyObject *cst__py_array_view(cst__py_state *state, PyObject *schema, cst__py_shared *owner,
                             const struct ArrowArray *node, int64_t offset, int64_t length);

/* ---- schema.c ---- */

const cst_schema *cst__py_schema_view(PyObject *self);
/* Borrows the schema of a Schema object or of None (NULL). 0, or -1 with TypeError. */
int cst__py_schema_arg(cst__py_state *state, PyObject *object, const cst_schema **out);
PyObject *cst__py_schema_new(cst__py_state *state, const cst_schema *schema);
/* The specs as a list of tuples, see _core.pyi. */
PyObject *cst__py_specs_list(const cst_specs *specs);

/* ---- tensor.c ---- */

/* A dict of name -> Tensor or what the two classes make: sparse(indices, values, dense_shape),
 * ragged(values, row_splits). Takes the tensors over, also on failure. */
PyObject *cst__py_tensors_dict(cst__py_state *state, cst_tensors *tensors, PyObject *sparse,
                               PyObject *ragged);

/* ---- reader.c, writer.c: Python file objects ---- */

typedef struct cst__py_file cst__py_file;

/* A file object for the library, with one owner. NULL with an exception. */
cst__py_file *cst__py_file_new(cst__py_state *state, PyObject *object, bool can_seek);
/* Needs the GIL. */
void cst__py_file_release(cst__py_file *file);
/* The library's view, which owns one more reference and gives it back by `close`. */
cst_reader cst__py_file_reader(cst__py_file *file, const char *name);
cst_writer cst__py_file_writer(cst__py_file *file, const char *name);
PyObject *cst__py_file_object(const cst__py_file *file);
/* The exception of the last failed callback, borrowed; NULL if none. */
PyObject *cst__py_file_exception(const cst__py_file *file);
/* Raises that exception (true), if there is one. */
bool cst__py_file_raise(cst__py_file *file);

/* ---- source.c ---- */

/* A list of names as UTF-8, borrowed from a tuple of str. 0, or -1 with an exception. */
typedef struct cst__py_names {
  const char **names;
  size_t count;
} cst__py_names;
int cst__py_names_init(cst__py_names *names, PyObject *tuple_or_none);
void cst__py_names_reset(cst__py_names *names);

/* ---- pass.c ---- */

/* A pass over the source; `sparse` and `ragged` as for cst__py_tensors_dict, or NULL for record
 * batches. */
PyObject *cst__py_pass_new(PyObject *source, PyObject *sparse, PyObject *ragged);

/* ---- source.c, as pass.c and stream.c need it ---- */

/* What a source shares with the streams that it exported: the last failure, and how many live. */
typedef struct cst__py_trace cst__py_trace;
cst__py_trace *cst__py_trace_new(void);
cst__py_trace *cst__py_trace_retain(cst__py_trace *trace);
void cst__py_trace_release(cst__py_trace *trace);
void cst__py_trace_set(cst__py_trace *trace, const cst_error *error);
/* False if nothing has failed yet. */
bool cst__py_trace_get(cst__py_trace *trace, cst_error *error);
/* True if the source is the only owner. */
bool cst__py_trace_is_alone(const cst__py_trace *trace);

/* The opened source; NULL with StateError if it is closed. Borrowed. */
cst_source *cst__py_source_view(PyObject *self);
/* The ArrowSchema object; a new reference. May read the input. */
PyObject *cst__py_source_arrow_schema(PyObject *self);
/* Records the failure and raises it: a file object's own exception if that was the cause. */
PyObject *cst__py_source_raise(PyObject *self, const cst_error *error);
/* True if Python is called while reading. */
bool cst__py_source_has_files(PyObject *self);

/* ---- stream.c ---- */

/* A new pass of the source as a stream that records its failures in `trace`. 0, or -1 with *error.
 */
int cst__py_stream_export(cst_source *source, cst__py_trace *trace, struct ArrowArrayStream *out,
                          cst_error *error);

/* ---- the types' specs ---- */

extern PyType_Spec cst__py_schema_spec;
extern PyType_Spec cst__py_arrow_schema_spec;
extern PyType_Spec cst__py_batch_spec;
extern PyType_Spec cst__py_array_spec;
extern PyType_Spec cst__py_tensor_spec;
extern PyType_Spec cst__py_source_spec;
extern PyType_Spec cst__py_pass_spec;
extern PyType_Spec cst__py_decoder_spec;
extern PyType_Spec cst__py_encoder_spec;
extern PyType_Spec cst__py_writer_spec;

#endif /* COLUMNSTONE_PYTHON_EXT_H */
