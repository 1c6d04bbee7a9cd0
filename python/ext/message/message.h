/* Protobuf message types, and the options of what decodes and encodes them. */
#ifndef COLUMNSTONE_PYTHON_MESSAGE_H
#define COLUMNSTONE_PYTHON_MESSAGE_H

#include <columnstone/message.h>

#include "ext/base/base.h"

/* ---- message_options.c ---- */

/* Message options from a tuple, see _core.pyi, or None. They borrow from the tuple. */
typedef struct cst__py_message {
  cst_message_options options;
  bool given;
} cst__py_message;
/* 0, or -1 with an exception. */
int cst__py_message_init(cst__py_message *message, cst__py_state *state, PyObject *tuple_or_none);
/* NULL for None. */
const cst_message_options *cst__py_message_view(const cst__py_message *message);

/* ---- descriptors.c ---- */

/* Borrows the set of a Descriptors object. 0, or -1 with TypeError. */
int cst__py_descriptors_arg(cst__py_state *state, PyObject *object, const cst_descriptors **out);

extern PyType_Spec cst__py_descriptors_spec;

#endif /* COLUMNSTONE_PYTHON_MESSAGE_H */
