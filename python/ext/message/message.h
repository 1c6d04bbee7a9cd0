/* Protobuf message types. */
#ifndef COLUMNSTONE_PYTHON_MESSAGE_H
#define COLUMNSTONE_PYTHON_MESSAGE_H

#include <columnstone/message.h>

#include "ext/base/base.h"

/* ---- descriptors.c ---- */

/* Borrows the set of a Descriptors object. 0, or -1 with TypeError. */
int cst__py_descriptors_arg(cst__py_state *state, PyObject *object, const cst_descriptors **out);

extern PyType_Spec cst__py_descriptors_spec;

#endif /* COLUMNSTONE_PYTHON_MESSAGE_H */
