/* Sources, passes over them, and indexes of their files. */
#ifndef COLUMNSTONE_PYTHON_SOURCE_H
#define COLUMNSTONE_PYTHON_SOURCE_H

#include <columnstone/dataset.h>
#include <columnstone/index.h>
#include <columnstone/split.h>
#include <columnstone/tensor.h>

#include "ext/io/io.h"
#include "ext/lineage/lineage.h"
#include "ext/message/message.h"

/* ---- options.c ---- */

/* The options of a source from a dict, with what they borrow from; the dict has to live as long. */
typedef struct cst__py_options {
  cst_source_options options;
  cst__py_names columns;
  cst__py_option_list format_options;
  cst__py_message message;
  struct ArrowSchema types;
  PyObject *make_dropped; /* borrowed: class of the entries; NULL: damage raises */
  PyObject *on_dropped;   /* borrowed: the user's function or None */
  PyObject *functions;    /* borrowed: a tuple of those of Python's that a view calls; or NULL */
} cst__py_options;

/* 0, or -1 with an exception; to be reset in either case. */
int cst__py_options_init(cst__py_options *options, cst__py_state *state, PyObject *dict);
void cst__py_options_reset(cst__py_options *options);
extern const cst__py_option_table cst__py_source_options;

/* ---- inputs.c: the Python objects that a source reads ---- */

/* Tuples, see _core.pyi, two of which are None; all borrowed. */
typedef struct cst__py_objects {
  PyObject *paths;
  PyObject *files;
  PyObject *streams;
} cst__py_objects;

typedef struct cst__py_inputs {
  cst__py_file **files; /* our own references, for their exceptions and for the collector */
  size_t num_files;
  cst__py_opener **openers;
  size_t num_openers;
} cst__py_inputs;

/* Opens what is not None. With CST_CALLBACK and other failures a Python exception may be set. */
cst_status cst__py_inputs_open(cst__py_inputs *inputs, cst__py_state *state,
                               const cst__py_objects *objects, const cst_source_options *options,
                               cst_source **out, cst_error *error);
void cst__py_inputs_reset(cst__py_inputs *inputs);
int cst__py_inputs_traverse(const cst__py_inputs *inputs, visitproc visit, void *arg);
/* Moves what one of the objects raised last to `into`, unless that is newer; what others raised is
 * let go. */
void cst__py_inputs_take(const cst__py_inputs *inputs, cst__py_kept *into);

/* ---- drops.c: dropped records ---- */

/* What one pass dropped. */
typedef struct cst__py_drops cst__py_drops;

/* Those of a new pass of a source; *out is NULL for a source that drops none. 0, or -1 with an
 * exception. */
int cst__py_drops_begin(PyObject *source, cst__py_drops **out);
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

/* ---- trace.c ---- */

/* What a source shares with the streams that it exported: the last failure, how many live, and the
 * lease on what they read. */
typedef struct cst__py_trace cst__py_trace;
cst__py_trace *cst__py_trace_new(cst__py_gate *gate);
cst__py_trace *cst__py_trace_retain(cst__py_trace *trace);
void cst__py_trace_release(cst__py_trace *trace);
void cst__py_trace_set(cst__py_trace *trace, const cst_error *error);
/* False if nothing has failed yet. */
bool cst__py_trace_get(cst__py_trace *trace, cst_error *error);
/* What a filter has made of a warning. Needs the GIL. */
cst__py_kept *cst__py_trace_kept(cst__py_trace *trace);
/* A cst_warning_callback whose ctx is the trace of the source: a columnstone.errors.DataWarning. */
bool cst__py_on_warning(void *ctx, const cst_error *warning);
/* Holds a lease for as long as it lives; NULL: none. */
void cst__py_trace_hold(cst__py_trace *trace, cst__py_held *held);
cst__py_held *cst__py_trace_held(const cst__py_trace *trace); /* borrowed; may be NULL */
/* True if the source is the only owner. */
bool cst__py_trace_is_alone(const cst__py_trace *trace);

/* ---- stage.c: stages in Python ---- */

typedef struct cst__py_stage cst__py_stage;

/* `object` has bind(schema) and run(batch). NULL with an exception. */
cst__py_stage *cst__py_stage_new(cst__py_state *state, PyObject *object);
/* Needs the GIL. NULL is allowed. */
void cst__py_stage_release(cst__py_stage *stage);
/* The library's view, which owns one more reference and gives it back by `close`. */
cst_stage cst__py_stage_view(cst__py_stage *stage, bool keeps_rows);
/* As for files. */
int cst__py_stage_traverse(const cst__py_stage *stage, visitproc visit, void *arg);
/* Moves what it raised on, with a note of the place that the failure has. */
void cst__py_stage_take(cst__py_stage *stage, const cst_error *error, cst__py_kept *into);

/* ---- source.c ---- */

typedef struct cst__py_source_object {
  PyObject_HEAD cst_source *source; /* NULL: closed */
  cst__py_trace *trace;
  cst__py_inputs inputs;
  PyObject *parent;     /* the Source that this one is a part of, whose inputs it reads; or NULL */
  cst__py_stage *stage; /* that this one has beyond those of its parent; or NULL */
  PyObject *arrow_schema; /* NULL: not asked for yet */
  PyObject *make_dropped; /* class of the entries of `dropped`; NULL: damage raises */
  PyObject *on_dropped;   /* the user's function; may be NULL */
  PyObject *functions;    /* tuple of those that a view calls; or NULL */
  PyObject *dropped;      /* list of the pass that began last; may be NULL */
  bool is_parents_view;   /* of the same rows: its passes are the parent's, too */
  cst__py_kept kept; /* what the inputs or the user's function raised last; its moment also says
                        when the function stopped a pass without raising */
} cst__py_source_object;

/* Makes this the list of what is dropped, also of the sources that it is a view of. */
void cst__py_source_begin_dropped(cst__py_source_object *self, PyObject *list);
/* The opened source; NULL with StateError if it is closed. Borrowed. */
cst_source *cst__py_source_view(PyObject *self);
/* The same with one more owner, for when the GIL is away: a close in another thread does no harm.
 */
cst_source *cst__py_source_borrow(PyObject *self);
/* One call of the library on a source: without the GIL, and with an owner of its own. */
typedef struct cst__py_source_call {
  PyObject *object;
  cst_source *source;
  PyThreadState *thread;
  cst_error error;
} cst__py_source_call;
/* Lets the GIL go; false with an exception, and then there is nothing to end. */
bool cst__py_source_call_begin(cst__py_source_call *call, PyObject *source);
/* Takes the GIL again; false with an exception: what a callback has set, else the failure. */
bool cst__py_source_call_end(cst__py_source_call *call, cst_status status);
/* The ArrowSchema object; a new reference. May read the input. */
PyObject *cst__py_source_arrow_schema(PyObject *self);
/* Records the failure and raises it: a file object's own exception if that was the cause. */
PyObject *cst__py_source_raise(PyObject *self, const cst_error *error);
/* The exception of Python code that caused a failure, borrowed; NULL if it was not the cause. An
 * object may have raised in an earlier pass: what happened last counts. */
PyObject *cst__py_source_cause(cst__py_source_object *self, const cst_error *error);
/* When it raised what caused a failure; 0: nothing that is known. */
uint64_t cst__py_source_moment(PyObject *source, const cst_error *error);
/* True if Python is called while reading. */
bool cst__py_source_calls_python(PyObject *self);
/* Keeps (NULL: forgets) the exception that caused a failure of a pass, for last_error. */
void cst__py_source_keep(PyObject *self, PyObject *exception);

/* ---- stream.c ---- */

/* A new pass of the source as a stream that records its failures in `trace` and the records that it
 * drops in `drops` (taken over, also on failure; may be NULL). 0, or -1 with *error. */
int cst__py_stream_export(cst_source *source, cst__py_trace *trace, cst__py_gate *gate,
                          cst__py_drops *drops, struct ArrowArrayStream *out, cst_error *error);

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
  /* Borrowed: the source that a failure is told by; NULL: always the feed's. */
  PyObject *(*blame)(cst__py_feed *feed, const cst_error *error);
} cst__py_feed_kind;

/* Part of an object; all zero but for `kind` before cst__py_feed_init. */
struct cst__py_feed {
  const cst__py_feed_kind *kind;
  PyObject *source;
  void *work;           /* NULL: at the end, or closed */
  cst__py_drops *drops; /* NULL: records are not dropped */
  cst__py_lock lock;
  pid_t process; /* the threads live in this one */
  bool calls_python;
  bool closed;
};

/* 0, or -1 with an exception. */
int cst__py_feed_init(cst__py_feed *feed, PyObject *source);
/* False: threads are left behind, with all that they use. */
bool cst__py_feed_reset(cst__py_feed *feed);
int cst__py_feed_traverse(cst__py_feed *feed, visitproc visit, void *arg);
/* tp_iternext and the method close of the object that holds the feed. */
PyObject *cst__py_feed_next(PyObject *object, cst__py_feed *feed);
PyObject *cst__py_feed_close(PyObject *object, cst__py_feed *feed);
/* The list of what it has dropped, which grows; an empty one where nothing is. */
PyObject *cst__py_feed_dropped(const cst__py_feed *feed);
/* For a look at the work: 1 with the lock, which cst__py_lock_leave gives back; 0 without it in a
 * forked child; -1 with an exception. */
int cst__py_feed_enter(PyObject *object, cst__py_feed *feed);

/* ---- pass.c ---- */

/* A pass over the source; `sparse` and `ragged` as for cst__py_tensors_dict, and pads as a tuple,
 * or NULL for record batches. */
PyObject *cst__py_pass_new(PyObject *source, PyObject *sparse, PyObject *ragged, PyObject *pads);

/* ---- scan.c: methods of Source ---- */

PyObject *cst__py_source_count(PyObject *self, PyObject *unused);
PyObject *cst__py_source_verify(PyObject *self, PyObject *max_faults);
PyObject *cst__py_source_infer(PyObject *self, PyObject *unused);
PyObject *cst__py_source_propose(PyObject *self, PyObject *args);

/* ---- splits.c ---- */

/* plan_splits of _core.pyi. */
PyObject *cst__py_plan_splits(PyObject *module, PyObject *args);
/* The source that the method read_splits gives; NULL with an exception. */
cst_source *cst__py_source_of_splits(PyObject *self, PyObject *args);

/* ---- validate.c: methods of Source ---- */

PyObject *cst__py_source_validate(PyObject *self, PyObject *args);
PyObject *cst__py_source_accumulate(PyObject *self, PyObject *args);

/* ---- the types ---- */

extern PyType_Spec cst__py_source_spec;
extern PyType_Spec cst__py_pass_spec;
extern PyType_Spec cst__py_index_spec;

#endif /* COLUMNSTONE_PYTHON_SOURCE_H */
