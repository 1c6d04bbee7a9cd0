/* The module's state, and what all rooms of the extension share: errors, locks, the way from the
 * library's threads into Python, arguments that several types take.
 *
 * Rules of the extension: limited API of Python 3.11; final heap types that find the module's state
 * by their type; exact argument types (sugar and defaults live in the .py files); the GIL is
 * released around all work of the library, and callbacks from its threads take it only through a
 * gate that closes before the interpreter goes down.
 */
#ifndef COLUMNSTONE_PYTHON_BASE_H
#define COLUMNSTONE_PYTHON_BASE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <columnstone/source.h>
#include <columnstone/status.h>
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

enum { CST__PY_NUM_ERRORS = CST_TIMEOUT + 1 };

typedef struct cst__py_state {
  PyTypeObject *schema_type;
  PyTypeObject *accumulator_type;
  PyTypeObject *sketch_type;
  PyTypeObject *arrow_schema_type;
  PyTypeObject *batch_type;
  PyTypeObject *array_type;
  PyTypeObject *tensor_type;
  PyTypeObject *adapter_type;
  PyTypeObject *tensor_encoder_type;
  PyTypeObject *packer_type;
  PyTypeObject *source_type;
  PyTypeObject *pass_type;
  PyTypeObject *decoder_type;
  PyTypeObject *encoder_type;
  PyTypeObject *descriptors_type;
  PyTypeObject *writer_type;
  PyTypeObject *sink_type;
  PyTypeObject *index_type;
  PyTypeObject *dataset_type;
  PyTypeObject *loader_type;
  PyTypeObject *structured_type;
  PyTypeObject *query_type;
  PyTypeObject *view_type;
  PyTypeObject *store_type;
  PyTypeObject *lease_type;
  PyObject *structured_class; /* the classes of structured_type, once _struct.tensor is loaded */
  PyObject *leaf_class;
  int64_t views_left; /* items that list views may still hold, of what becomes Python's values */
  PyObject *errors[CST__PY_NUM_ERRORS]; /* the exception class of each status */
  PyObject *index_error; /* CST_INVALID_ARGUMENT of an index of a structured tensor */
  PyObject *field_error; /* CST_NOT_FOUND of a field */
  cst__py_gate *gate;    /* never freed: threads may look at it until the very end */
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

/* A tuple of ints; NULL with an exception. */
PyObject *cst__py_int_tuple(const int64_t *numbers, size_t count);

/* 1 if the object has an attribute of that name, 0 if not, -1 with an exception. */
int cst__py_has(PyObject *object, const char *name);

/* ---- errors.c ---- */

int cst__py_errors_init(cst__py_state *state);
/* Sets the exception for a failed call; returns NULL. Not for CST_CALLBACK with a Python exception.
 */
PyObject *cst__py_raise(cst__py_state *state, const cst_error *error);
/* The same as an exception of another class of the library's. */
PyObject *cst__py_raise_as(PyObject *class, const cst_error *error);
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
/* Enters two of them, always in the same order, so that a.merge(b) and b.merge(a) cannot wait for
 * each other. 0, or -1 with an exception, and neither is held. */
int cst__py_lock_enter_both(cst__py_lock *a, cst__py_lock *b, cst__py_state *state,
                            const char *what);
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

/* ---- options.c: arguments that several types take ---- */

/* A list of names as UTF-8, borrowed from a tuple of str. 0, or -1 with an exception. */
typedef struct cst__py_names {
  const char **names;
  size_t count;
} cst__py_names;
int cst__py_names_init(cst__py_names *names, PyObject *tuple_or_none);
void cst__py_names_reset(cst__py_names *names);

/* Options as they are given, borrowed from a tuple of (name, value[, format or None]). 0, or -1
 * with an exception. */
typedef struct cst__py_option_list {
  cst_option *options;
  size_t count;
} cst__py_option_list;
int cst__py_option_list_init(cst__py_option_list *options, PyObject *tuple);
void cst__py_option_list_reset(cst__py_option_list *options);

/* The options of a source or a sink: those that the library knows by name, and a few that are
 * Python objects. */
typedef struct cst__py_option_object {
  cst_option_info info; /* of one that the library knows too, what it says */
  const char *kind;
  int (*set)(void *owner, cst__py_state *state, PyObject *value);
} cst__py_option_object;

typedef struct cst__py_option_table {
  const cst_option_info *(*get)(size_t i);
  cst_status (*set)(void *owner, const char *name, const char *value, cst_error *error);
  const cst__py_option_object *objects;
  size_t num_objects;
} cst__py_option_table;

/* Sets all of them, each of which the dict has; texts and objects are borrowed from it, and None
 * leaves the usual value. 0, or -1 with an exception. */
int cst__py_options_set(const cst__py_option_table *table, void *owner, cst__py_state *state,
                        PyObject *dict);
/* A dict of what each is, see _core.pyi. */
PyObject *cst__py_options_told(const cst__py_option_table *table);
/* Adds what an option is to a dict; `kind`: of one that is a Python object, or NULL. 0, or -1 with
 * an exception. */
int cst__py_tell_option(PyObject *dict, const cst_option_info *info, const char *kind);
/* Sets dict[name] to a value that is taken over. 0, or -1 with an exception. */
int cst__py_dict_add(PyObject *dict, const char *name, PyObject *value);

#endif /* COLUMNSTONE_PYTHON_BASE_H */
