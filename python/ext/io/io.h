/* Python objects that the library reads and writes: files, and what exports Arrow streams. */
#ifndef COLUMNSTONE_PYTHON_IO_H
#define COLUMNSTONE_PYTHON_IO_H

#include <columnstone/sink.h>

#include "ext/base/base.h"

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

/* ---- formats.c ---- */

/* A dict: the name of each format to (the extensions of its files, whether they are text). */
PyObject *cst__py_formats(void);
/* A dict: the name of each format that has options to a dict of these, see _core.pyi. */
PyObject *cst__py_format_options_told(void);
/* The dict of the options of one format, also of a plug-in, which is loaded for it. */
PyObject *cst__py_format_options(PyObject *module, PyObject *name);
/* A dict: the name of each container to the extensions of its files. */
PyObject *cst__py_containers(void);

#endif /* COLUMNSTONE_PYTHON_IO_H */
