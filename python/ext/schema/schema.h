/* The TFMD schema, and specs of tensors. */
#ifndef COLUMNSTONE_PYTHON_SCHEMA_H
#define COLUMNSTONE_PYTHON_SCHEMA_H

#include <columnstone/accumulate.h>
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

/* The accumulator of an object, which is locked until it is left. NULL with an exception. */
cst_accumulator *cst__py_accumulator_enter(cst__py_state *state, PyObject *object);
void cst__py_accumulator_leave(PyObject *object);

/* ---- the types ---- */

extern PyType_Spec cst__py_schema_spec;
extern PyType_Spec cst__py_accumulator_spec;

#endif /* COLUMNSTONE_PYTHON_SCHEMA_H */
