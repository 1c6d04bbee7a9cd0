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
#include <columnstone/array.h>
#include <columnstone/arrow_abi.h>
#include <columnstone/dataset.h>
#include <columnstone/example.h>
#include <columnstone/index.h>
#include <columnstone/schema.h>
#include <columnstone/sequence.h>
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
  uint64_t moment;        /* cst__py_moment; changes under the GIL */
  PyObject *interruption; /* what a signal's handler has raised in a call that has not come back */
} cst__py_gate;

enum { CST__PY_NUM_ERRORS = CST_INTERRUPTED + 1 };

typedef struct cst__py_state {
  PyTypeObject *schema_type;
  PyTypeObject *arrow_schema_type;
  PyTypeObject *batch_type;
  PyTypeObject *array_type;
  PyTypeObject *tensor_type;
  PyTypeObject *adapter_type;
  PyTypeObject *tensor_encoder_type;
  PyTypeObject *source_type;
  PyTypeObject *pass_type;
  PyTypeObject *decoder_type;
  PyTypeObject *encoder_type;
  PyTypeObject *sequence_decoder_type;
  PyTypeObject *sequence_encoder_type;
  PyTypeObject *writer_type;
  PyTypeObject *sink_type;
  PyTypeObject *index_type;
  PyTypeObject *dataset_type;
  PyTypeObject *loader_type;
  PyObject *errors[CST__PY_NUM_ERRORS]; /* the exception class of each status */
  cst__py_gate *gate;                   /* never freed: threads may look at it until the very end */
} cst__py_state;

/* The state of the module that made the type of `self`. */
cst__py_state *cst__py_state_of(PyObject *self);

/* Sets a place to a new reference (taken over; may be NULL), and only then drops the old one. */
void cst__py_replace(PyObject **place, PyObject *object);

/* What runs as an object goes may be others' Python, while an exception is on its way: it is put
 * aside for that long. */
typedef struct cst__py_pending {
  PyObject *type;
  PyObject *value;
  PyObject *trace;
} cst__py_pending;
cst__py_pending cst__py_put_aside(void);
void cst__py_put_back(cst__py_pending pending);

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
  pid_t process;       /* that it was made in */
} cst__py_lock;

/* 0, or -1 with an exception. */
int cst__py_lock_init(cst__py_lock *lock);
void cst__py_lock_reset(cst__py_lock *lock);
/* 0, or -1 with StateError if this thread holds it already, or if another one did when the process
 * forked. */
int cst__py_lock_enter(cst__py_lock *lock, cst__py_state *state, const char *what);
void cst__py_lock_leave(cst__py_lock *lock);

/* ---- gate.c: from the library's threads into Python ---- */

/* Takes the GIL; false, and nothing to leave, when the interpreter goes down. */
bool cst__py_enter(cst__py_gate *gate, PyGILState_STATE *gil);
void cst__py_leave(cst__py_gate *gate, PyGILState_STATE gil);
/* A number above all before, to tell what happened last. Needs the GIL. */
uint64_t cst__py_moment(cst__py_gate *gate);
/* What a callback that could not enter returns. */
cst_status cst__py_refuse(cst_error *error);
/* Moves the exception that is set to *place, and says "WHO EXCEPTION" in the error (may be NULL).
 */
cst_status cst__py_keep_exception(PyObject **place, const char *who, cst_error *error);

/* What Python code raised in a callback, until it is delivered. Its traceback leads to all that the
 * frames held: whoever keeps one lets the collector see it, or lets it go soon. */
typedef struct cst__py_kept {
  PyObject *exception; /* NULL: none, or delivered */
  uint64_t moment;     /* of the failure; 0: there was none */
} cst__py_kept;
/* As cst__py_keep_exception, with the moment. */
cst_status cst__py_keep(cst__py_kept *kept, cst__py_gate *gate, const char *who, cst_error *error);
/* Moves an exception on, unless the other one is newer. */
void cst__py_kept_move(cst__py_kept *from, cst__py_kept *into);
/* Raises the exception and lets it go (true); false if there is none. */
bool cst__py_kept_deliver(cst__py_kept *kept);

/* ---- interrupt.c: signals during calls of the library ---- */

/* Lets the main thread's calls be interrupted. 0, or -1 with an exception. */
int cst__py_interrupt_init(cst__py_gate *gate);
/* Raises what stopped a call (true); false if nothing did. */
bool cst__py_raise_interruption(cst__py_gate *gate);
/* The same from the main thread's next instruction on: for calls that come back to others. */
void cst__py_interrupt_later(cst__py_gate *gate);

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
/* The object, if it exports Arrow data; else what columnstone._objects.as_arrow makes of it, which
 * is itself if it is none that stands for Arrow data. NULL with an exception. */
PyObject *cst__py_as_arrow(PyObject *object);
/* Moves data out of an object with __arrow_c_array__ or __arrow_c_stream__. 0, or -1 with an
 * exception and nothing to release. The schema is well formed at every depth; of the array nothing
 * is known before a function of the library has validated it. */
int cst__py_import_array(PyObject *object, struct ArrowSchema *schema, struct ArrowArray *array);
int cst__py_import_stream(PyObject *object, struct ArrowArrayStream *stream);
/* The same from either, an array as a stream of one batch. */
int cst__py_import_batches(PyObject *object, struct ArrowArrayStream *stream);
/* Moves a schema out of an object with __arrow_c_schema__. */
int cst__py_import_schema(PyObject *object, struct ArrowSchema *schema);
/* Releases what others made, whether an exception is set or not. */
void cst__py_release_stream(struct ArrowArrayStream *stream);
void cst__py_release_array(struct ArrowArray *array);
/* The stream's schema, well formed at every depth. On failure there is nothing to release. */
cst_status cst__py_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out,
                                 cst_error *error);
/* Fills the error for a stream's callback that returned `code`. */
cst_status cst__py_stream_failure(struct ArrowArrayStream *stream, int code, cst_error *error);

/* ---- arrow_schema.c ---- */

/* Takes the schema over, also on failure. */
PyObject *cst__py_arrow_schema_new(cst__py_state *state, struct ArrowSchema *schema);
const struct ArrowSchema *cst__py_arrow_schema_view(PyObject *self);
/* The i-th child of a struct's schema. */
PyObject *cst__py_arrow_schema_child(PyObject *self, int64_t i);
/* True if types, names and nullability agree; metadata does not count. */
bool cst__py_arrow_schema_equal(const struct ArrowSchema *a, const struct ArrowSchema *b);
/* Name of child i as str. */
PyObject *cst__py_arrow_schema_name(const struct ArrowSchema *schema, int64_t i);

/* ---- arrow_tree.c ---- */

/* A schema as nested tuples; NULL with an exception. */
PyObject *cst__py_arrow_schema_tree(const struct ArrowSchema *node);
/* And back. 0, or -1 with an exception and nothing to release. */
int cst__py_arrow_schema_plant(PyObject *tree, struct ArrowSchema *out);

/* ---- sink.c ---- */

/* cst_sink_exists: (path, is_sharded). */
PyObject *cst__py_sink_exists(PyObject *module, PyObject *args);

/* ---- values.c ---- */

/* A float of 16 bits. */
double cst__py_half(uint16_t bits);

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
/* The batch as an array that shares the memory and whose children stay where they are, and its
 * ArrowSchema object, borrowed. */
PyObject *cst__py_batch_lend(PyObject *self, struct ArrowArray *out);
/* A view of a node of shared data. */
PyObject *cst__py_array_view(cst__py_state *state, PyObject *schema, cst__py_shared *owner,
                             const struct ArrowArray *node, int64_t offset, int64_t length);

/* Nulls among `length` slots of an array, from `offset` on. */
int64_t cst__py_count_nulls(const struct ArrowSchema *schema, const struct ArrowArray *array,
                            int64_t offset, int64_t length);
/* The rows of an Array as an Arrow array that shares its memory. 0, or -1 with an exception. */
int cst__py_array_export(PyObject *self, struct ArrowArray *out);

/* For operations: borrowed, made when it is first asked for. NULL with an exception. */
const cst_array *cst__py_batch_handle(PyObject *self);
const cst_array *cst__py_array_handle(PyObject *self);
/* Gives a new object its handle, which is taken over. */
void cst__py_batch_set_handle(PyObject *self, cst_array *handle);
void cst__py_array_set_handle(PyObject *self, cst_array *handle);

/* ---- table.c, table_make.c, table_pickle.c, table_stream.c: the operations on arrays and batches
 * ---- */

/* Takes the array over, also on failure. */
cst_array *cst__py_table_handle(cst__py_state *state, const struct ArrowSchema *schema,
                                struct ArrowArray *array);
/* That of an Array or RecordBatch, borrowed. NULL with TypeError. */
const cst_array *cst__py_table_handle_of(cst__py_state *state, PyObject *object);
/* Validates an array and takes it over, also on failure; `is_batch`: rows of columns. The schema is
 * released. */
PyObject *cst__py_table_take_over(cst__py_state *state, struct ArrowSchema *schema,
                                  struct ArrowArray *array, bool is_batch);
/* An Array or RecordBatch of a handle, which is taken over, also on failure. */
PyObject *cst__py_table_wrap(cst__py_state *state, cst_array *made, bool as_batch);
/* What columnstone._table.NAME(self, *args, **kwargs) gives; self may be NULL. */
PyObject *cst__py_table_call(const char *name, PyObject *self, PyObject *args, PyObject *kwargs);
/* Rows as a slice. */
PyObject *cst__py_table_rows(PyObject *self, int64_t offset, int64_t length);

/* Methods. */
PyObject *cst__py_table_slice(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *cst__py_table_byte_size(PyObject *self, void *closure);
PyObject *cst__py_table_lengths(PyObject *self, PyObject *unused);
PyObject *cst__py_table_null_mask(PyObject *self, PyObject *unused);
PyObject *cst__py_table_flatten(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *cst__py_table_flatten_with_parents(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *cst__py_table_coordinates(PyObject *self, PyObject *unused);
PyObject *cst__py_table_count_invalid_utf8(PyObject *self, PyObject *unused);

/* Functions of the module, see _core.pyi. */
PyObject *cst__py_table_take(PyObject *module, PyObject *args);
PyObject *cst__py_table_filter(PyObject *module, PyObject *args);
PyObject *cst__py_table_concat(PyObject *module, PyObject *tuple);
PyObject *cst__py_table_column(PyObject *module, PyObject *args);
PyObject *cst__py_table_from_parents(PyObject *module, PyObject *args);
PyObject *cst__py_table_fill_null(PyObject *module, PyObject *args);
PyObject *cst__py_table_group_by(PyObject *module, PyObject *args);
/* An Array, or a RecordBatch of a struct without nulls; schema and array are taken over. */
PyObject *cst__py_table_import_one(cst__py_state *state, struct ArrowSchema *schema,
                                   struct ArrowArray *array, bool is_batch);
PyObject *cst__py_table_import(PyObject *module, PyObject *args);
PyObject *cst__py_table_import_stream(PyObject *module, PyObject *args);
/* Python's own data, (list, as_batch, name or None): objects.c. */
PyObject *cst__py_table_of_objects(PyObject *module, PyObject *args);
/* The chunks of an object with __arrow_c_stream__, validated, as a list of at least one. */
PyObject *cst__py_table_read_stream(cst__py_state *state, PyObject *object, bool is_batch);
/* The arrays of a tuple as one. */
PyObject *cst__py_table_join(cst__py_state *state, PyObject *tuple);
PyObject *cst__py_table_dump(PyObject *module, PyObject *object);
PyObject *cst__py_table_load(PyObject *module, PyObject *args);
PyObject *cst__py_table_batch_from(PyObject *module, PyObject *args);
PyObject *cst__py_table_mask(PyObject *module, PyObject *object);

/* ---- schema.c ---- */

const cst_schema *cst__py_schema_view(PyObject *self);
/* Borrows the schema of a Schema object or of None (NULL). 0, or -1 with TypeError. */
int cst__py_schema_arg(cst__py_state *state, PyObject *object, const cst_schema **out);
PyObject *cst__py_schema_new(cst__py_state *state, const cst_schema *schema);
/* The specs as a list of tuples, see _core.pyi. */
PyObject *cst__py_specs_list(const cst_specs *specs);

/* ---- specs.c ---- */

/* Checked specs (cst_specs_from) of a tuple of such tuples. NULL with an exception. */
cst_specs *cst__py_specs_from(cst__py_state *state, PyObject *tuple);

/* ---- adapter.c ---- */

/* Pads from a tuple of tuples, see _core.pyi. */
typedef struct cst__py_pads {
  cst_pad *items;
  size_t count;
  PyObject *tuple; /* holds what the items point to */
} cst__py_pads;
int cst__py_pads_init(cst__py_pads *pads, PyObject *tuple);
void cst__py_pads_reset(cst__py_pads *pads);

/* ---- tensor.c ---- */

/* A dict of name -> Tensor, a dict again, or what the two classes make: sparse(indices, values,
 * dense_shape), ragged(values, row_splits). Takes the tensors over, also on failure. */
PyObject *cst__py_tensors_dict(cst__py_state *state, cst_tensors *tensors, PyObject *sparse,
                               PyObject *ragged);
/* What a Tensor holds, borrowed; NULL, without an exception, for objects of other types. */
const cst_ndarray *cst__py_tensor_view(cst__py_state *state, PyObject *object);

/* ---- strings.c: functions of the module, see _core.pyi ---- */

PyObject *cst__py_join_strings(PyObject *module, PyObject *tensor);
PyObject *cst__py_split_strings(PyObject *module, PyObject *args);

/* ---- file.c: Python file objects ---- */

typedef struct cst__py_file cst__py_file;

/* A file object for the library, with one owner. NULL with an exception. */
cst__py_file *cst__py_file_new(cst__py_state *state, PyObject *object, bool can_seek);
/* Needs the GIL. */
void cst__py_file_release(cst__py_file *file);
/* The library's view, which owns one more reference and gives it back by `close`. */
cst_reader cst__py_file_reader(cst__py_file *file, const char *name);
cst_writer cst__py_file_writer(cst__py_file *file, const char *name);
/* For the collector: only while the caller can tell that it holds all owners of the file. */
int cst__py_file_traverse(const cst__py_file *file, visitproc visit, void *arg);
/* What the last failed callback raised. */
cst__py_kept *cst__py_file_kept(cst__py_file *file);

/* ---- opener.c: Python objects as Arrow streams ---- */

typedef struct cst__py_opener cst__py_opener;

/* `open` is called as open(columns or None, batch_size, threads) and gives an object that exports a
 * stream or an array. NULL with an exception. */
cst__py_opener *cst__py_opener_new(cst__py_state *state, PyObject *open);
/* Needs the GIL. */
void cst__py_opener_release(cst__py_opener *opener);
/* The library's view, which owns one more reference and gives it back by `close`. */
cst_stream_opener cst__py_opener_view(cst__py_opener *opener, const char *name, bool once,
                                      bool projects);
/* As for files. */
int cst__py_opener_traverse(const cst__py_opener *opener, visitproc visit, void *arg);
cst__py_kept *cst__py_opener_kept(cst__py_opener *opener);

/* ---- inputs.c: the Python objects that a source reads ---- */

typedef struct cst__py_inputs {
  cst__py_file **files; /* our own references, for their exceptions and for the collector */
  size_t num_files;
  cst__py_opener **openers;
  size_t num_openers;
} cst__py_inputs;

/* Opens that of paths, files and streams (tuples, see _core.pyi) which is not None. With
 * CST_CALLBACK and other failures a Python exception may be set. */
cst_status cst__py_inputs_open(cst__py_inputs *inputs, cst__py_state *state, PyObject *paths,
                               PyObject *files, PyObject *streams,
                               const cst_source_options *options, cst_source **out,
                               cst_error *error);
void cst__py_inputs_reset(cst__py_inputs *inputs);
int cst__py_inputs_traverse(const cst__py_inputs *inputs, visitproc visit, void *arg);
/* Moves what one of the objects raised last to `into`, unless that is newer; what others raised is
 * let go. */
void cst__py_inputs_take(const cst__py_inputs *inputs, cst__py_kept *into);

/* ---- drops.c: dropped records ---- */

/* What one pass dropped. */
typedef struct cst__py_drops cst__py_drops;

/* `make` is the class of the entries, `callback` may be NULL. NULL with an exception. */
cst__py_drops *cst__py_drops_new(PyObject *source, PyObject *make, PyObject *callback);
/* With or without the GIL. NULL is allowed. */
void cst__py_drops_free(cst__py_drops *drops);
int cst__py_drops_traverse(cst__py_drops *drops, visitproc visit, void *arg);
/* Borrowed. */
PyObject *cst__py_drops_list(const cst__py_drops *drops);
/* What the user's function raised, borrowed; NULL if nothing. */
PyObject *cst__py_drops_exception(const cst__py_drops *drops);
/* Makes this the pass that the calling thread asks (NULL: none); returns the one before. */
cst__py_drops *cst__py_drops_swap(cst__py_drops *drops);
/* The library's callback. */
bool cst__py_on_dropped(void *ctx, const cst_dropped *dropped);

/* ---- options.c: arguments that several types take ---- */

/* A list of names as UTF-8, borrowed from a tuple of str. 0, or -1 with an exception. */
typedef struct cst__py_names {
  const char **names;
  size_t count;
} cst__py_names;
int cst__py_names_init(cst__py_names *names, PyObject *tuple_or_none);
void cst__py_names_reset(cst__py_names *names);

/* CSV options from a tuple, see _core.pyi, or None. */
typedef struct cst__py_csv {
  cst_csv_options options;
  cst__py_names names;
  cst__py_names multivalent;
  bool given;
} cst__py_csv;
int cst__py_csv_init(cst__py_csv *csv, PyObject *tuple_or_none);
void cst__py_csv_reset(cst__py_csv *csv);
/* NULL for None. */
const cst_csv_options *cst__py_csv_view(const cst__py_csv *csv);

/* ---- feed.c: what passes and loaders share ---- */

/* What one step gave: a batch, or tensors, or neither at the end. */
typedef struct cst__py_item {
  struct ArrowArray batch;
  cst_tensors *tensors;
  cst_position position;
} cst__py_item;

typedef struct cst__py_feed cst__py_feed;

typedef struct cst__py_feed_kind {
  const char *name;
  const char *again; /* hint: how to begin anew */
  /* Frees the work and joins its threads; called with the GIL, which it releases. */
  void (*end)(cst__py_feed *feed, void *work);
  cst_status (*step)(cst__py_feed *feed, cst__py_item *out, cst_error *error); /* without the GIL */
  PyObject *(*wrap)(PyObject *self, cst__py_item *item); /* takes it over, also on failure */
} cst__py_feed_kind;

/* Part of an object; all zero but for `kind` before cst__py_feed_init. */
struct cst__py_feed {
  const cst__py_feed_kind *kind;
  PyObject *source;
  void *work;           /* NULL: at the end, or closed */
  cst__py_drops *drops; /* NULL: records are not dropped */
  cst__py_lock lock;
  pid_t process; /* the threads live in this one */
  bool closed;
};

/* 0, or -1 with an exception. */
int cst__py_feed_init(cst__py_feed *feed, PyObject *source);
void cst__py_feed_reset(cst__py_feed *feed);
int cst__py_feed_traverse(cst__py_feed *feed, visitproc visit, void *arg);
/* tp_iternext and the method close of the object that holds the feed. */
PyObject *cst__py_feed_next(PyObject *object, cst__py_feed *feed);
PyObject *cst__py_feed_close(PyObject *object, cst__py_feed *feed);
/* For a look at the work: 1 with the lock, which cst__py_lock_leave gives back; 0 without it in a
 * forked child; -1 with an exception. */
int cst__py_feed_enter(PyObject *object, cst__py_feed *feed);

/* ---- pass.c ---- */

/* A pass over the source; `sparse` and `ragged` as for cst__py_tensors_dict, and pads as a tuple,
 * or NULL for record batches. */
PyObject *cst__py_pass_new(PyObject *source, PyObject *sparse, PyObject *ragged, PyObject *pads);

/* ---- source.c, as pass.c and stream.c need it ---- */

/* What a source shares with the streams that it exported: the last failure, and how many live. */
typedef struct cst__py_trace cst__py_trace;
cst__py_trace *cst__py_trace_new(cst__py_gate *gate);
cst__py_trace *cst__py_trace_retain(cst__py_trace *trace);
void cst__py_trace_release(cst__py_trace *trace);
void cst__py_trace_set(cst__py_trace *trace, const cst_error *error);
/* False if nothing has failed yet. */
bool cst__py_trace_get(cst__py_trace *trace, cst_error *error);
/* What a filter has made of a warning. Needs the GIL. */
cst__py_kept *cst__py_trace_kept(cst__py_trace *trace);
/* A cst_warning_callback whose ctx is the trace of the source: a columnstone.DataWarning. */
bool cst__py_on_warning(void *ctx, const cst_error *warning);
/* True if the source is the only owner. */
bool cst__py_trace_is_alone(const cst__py_trace *trace);

/* The opened source; NULL with StateError if it is closed. Borrowed. */
cst_source *cst__py_source_view(PyObject *self);
/* The same with one more owner, for when the GIL is away: a close in another thread does no harm.
 */
cst_source *cst__py_source_borrow(PyObject *self);
/* The ArrowSchema object; a new reference. May read the input. */
PyObject *cst__py_source_arrow_schema(PyObject *self);
/* Records the failure and raises it: a file object's own exception if that was the cause. */
PyObject *cst__py_source_raise(PyObject *self, const cst_error *error);
/* True if Python is called while reading. */
bool cst__py_source_calls_python(PyObject *self);
/* What a new pass reports dropped records to; *out is NULL for a source that drops none. 0, or -1
 * with an exception. */
int cst__py_source_drops(PyObject *self, cst__py_drops **out);
/* Keeps (NULL: forgets) the exception behind a failure of a pass, for last_error. */
void cst__py_source_keep(PyObject *self, PyObject *exception);

/* ---- dataset.c and loader.c ---- */

/* Borrowed: the Source, the dataset, the ArrowSchema of its batches (NULL with an exception). */
PyObject *cst__py_dataset_source(PyObject *self);
cst_dataset *cst__py_dataset_view(PyObject *self);
PyObject *cst__py_dataset_schema(PyObject *self);
/* The adapter of the dataset's tensors; NULL with an exception. */
const cst_tensor_adapter *cst__py_dataset_adapter(PyObject *self);
/* One epoch from a batch on; `sparse` and `ragged` as for cst__py_tensors_dict, or NULL for record
 * batches. */
PyObject *cst__py_loader_new(PyObject *dataset, const cst_position *from, uint32_t first,
                             uint32_t step, PyObject *sparse, PyObject *ragged);

/* ---- scan.c: methods of Source ---- */

PyObject *cst__py_source_count(PyObject *self, PyObject *unused);
PyObject *cst__py_source_verify(PyObject *self, PyObject *unused);
PyObject *cst__py_source_infer(PyObject *self, PyObject *unused);
PyObject *cst__py_source_propose(PyObject *self, PyObject *args);

/* ---- validate.c: a method of Source ---- */

PyObject *cst__py_source_validate(PyObject *self, PyObject *args);

/* ---- stream.c ---- */

/* A new pass of the source as a stream that records its failures in `trace` and the records that it
 * drops in `drops` (taken over, also on failure; may be NULL). 0, or -1 with *error. */
int cst__py_stream_export(cst_source *source, cst__py_trace *trace, cst__py_gate *gate,
                          cst__py_drops *drops, struct ArrowArrayStream *out, cst_error *error);

/* ---- the types' specs ---- */

extern PyType_Spec cst__py_schema_spec;
extern PyType_Spec cst__py_arrow_schema_spec;
extern PyType_Spec cst__py_batch_spec;
extern PyType_Spec cst__py_array_spec;
extern PyType_Spec cst__py_tensor_spec;
extern PyType_Spec cst__py_adapter_spec;
extern PyType_Spec cst__py_tensor_encoder_spec;
extern PyType_Spec cst__py_source_spec;
extern PyType_Spec cst__py_pass_spec;
extern PyType_Spec cst__py_decoder_spec;
extern PyType_Spec cst__py_encoder_spec;
extern PyType_Spec cst__py_sequence_decoder_spec;
extern PyType_Spec cst__py_sequence_encoder_spec;
extern PyType_Spec cst__py_writer_spec;
extern PyType_Spec cst__py_sink_spec;
extern PyType_Spec cst__py_index_spec;
extern PyType_Spec cst__py_dataset_spec;
extern PyType_Spec cst__py_loader_spec;

#endif /* COLUMNSTONE_PYTHON_EXT_H */
