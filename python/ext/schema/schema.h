/* The TFMD schema, and specs of tensors. */
#ifndef COLUMNSTONE_PYTHON_SCHEMA_H
#define COLUMNSTONE_PYTHON_SCHEMA_H

#include <columnstone/schema.h>
#include <columnstone/validate.h>

#include "ext/base/base.h"

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

/* ---- accumulator.c ---- */

/* (rows, [(kind, path, tensor or None, group or None, message, hint, count, places)]), where the
 * places are ((file, record or None, found), ...). NULL with an exception. */
PyObject *cst__py_validation_list(const cst_validation *validation);

/* ---- the types ---- */

extern PyType_Spec cst__py_schema_spec;
extern PyType_Spec cst__py_accumulator_spec;

#endif /* COLUMNSTONE_PYTHON_SCHEMA_H */
