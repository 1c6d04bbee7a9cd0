/* Outputs: records and batches to files. */
#ifndef COLUMNSTONE_PYTHON_SINK_H
#define COLUMNSTONE_PYTHON_SINK_H

#include <columnstone/sink.h>
#include <unistd.h>

#include "ext/base/base.h"
#include "ext/io/io.h"
#include "ext/message/message.h"

/* ---- sink_options.c ---- */

/* The options of a sink or of a writer of records from a dict, with what they borrow from; the dict
 * has to live as long. */
typedef struct cst__py_sink_settings {
  cst_sink_options options;
  cst__py_option_list format_options;
  cst__py_message message;
} cst__py_sink_settings;

/* 0, or -1 with an exception; to be reset in either case. */
int cst__py_sink_settings_init(cst__py_sink_settings *settings, cst__py_state *state,
                               PyObject *dict);
void cst__py_sink_settings_reset(cst__py_sink_settings *settings);
extern const cst__py_option_table cst__py_sink_options;

/* ---- output.c: what a Sink and a TFRecordWriter have in common ---- */

typedef struct cst__py_output {
  cst__py_state *state;
  cst__py_file *file; /* our own reference, for its exception; NULL for a path */
  cst__py_lock lock;
  pid_t process;
} cst__py_output;

/* 0, or -1 with an exception. */
int cst__py_output_init(cst__py_output *output, cst__py_state *state);
int cst__py_output_set_file(cst__py_output *output, PyObject *file);
int cst__py_output_traverse(const cst__py_output *output, visitproc visit, void *arg);
void cst__py_output_clear(cst__py_output *output);
/* False in a forked child, whose parent writes on. */
bool cst__py_output_is_ours(const cst__py_output *output);
/* Enters the lock of an output that is not closed. 0, or -1 with an exception. */
int cst__py_output_enter(cst__py_output *output, PyObject *object, bool (*is_closed)(PyObject *));
/* Leaves the lock. Takes the result (may be NULL) of a call that returned `status`, and returns it,
 * or NULL with an exception. */
PyObject *cst__py_output_leave(cst__py_output *output, cst_status status, const cst_error *error,
                               PyObject *result);
/* Sets the exception of a failed call: the file object's own if it raised one. */
void cst__py_output_fail(const cst__py_output *output, const cst_error *error);

/* ---- sink.c ---- */

/* cst_sink_exists: (path, is_sharded). */
PyObject *cst__py_sink_exists(PyObject *module, PyObject *args);
/* cst_sink_format: (path, format or None, container or None) to a name, or None if it is not known.
 */
PyObject *cst__py_sink_format(PyObject *module, PyObject *args);

/* ---- the types ---- */

extern PyType_Spec cst__py_writer_spec;
extern PyType_Spec cst__py_sink_spec;

#endif /* COLUMNSTONE_PYTHON_SINK_H */
