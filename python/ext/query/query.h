/* Queries over nested data, and views: queries that are bound to their input. */
#ifndef COLUMNSTONE_PYTHON_QUERY_H
#define COLUMNSTONE_PYTHON_QUERY_H

#include <columnstone/query.h>

#include "ext/base/base.h"

/* ---- query.c ---- */

/* Borrows the query of a Query object. */
const cst_query *cst__py_query_view(PyObject *self);
/* The functions of Python's that it has, a tuple; borrowed. */
PyObject *cst__py_query_functions(PyObject *self);

/* ---- query_function.c: functions in Python ---- */

/* Of (name, type, Arrow's format of it, number of arguments, object): the object has call(batch),
 * which gives an object that exports an array of this type, and a list `failures`, which gets what
 * that raised: (message, exception). 0, or -1 with an exception. */
int cst__py_query_function(cst__py_state *state, PyObject *args, cst_query_function *out);
/* Moves what one of the functions of a tuple raised on, if it is why a call failed; all else that
 * they raised is let go. */
void cst__py_query_function_take(cst__py_state *state, PyObject *functions, const cst_error *error,
                                 cst__py_kept *into);

/* ---- view.c ---- */

/* Borrows the view of a View object or of None (NULL). 0, or -1 with TypeError. */
int cst__py_view_arg(cst__py_state *state, PyObject *object, const cst_view **out);
/* The functions of Python's that it calls, a tuple; borrowed. */
PyObject *cst__py_view_functions(PyObject *self);

/* ---- the types ---- */

extern PyType_Spec cst__py_query_spec;
extern PyType_Spec cst__py_view_spec;

#endif /* COLUMNSTONE_PYTHON_QUERY_H */
