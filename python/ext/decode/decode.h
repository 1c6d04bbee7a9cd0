/* Serialized records as record batches, and back. */
#ifndef COLUMNSTONE_PYTHON_DECODE_H
#define COLUMNSTONE_PYTHON_DECODE_H

#include <columnstone/example.h>
#include <columnstone/message.h>
#include <columnstone/sequence.h>

#include "ext/base/base.h"

/* ---- records.c ---- */

/* A sequence of records, kept alive: by a tuple of our own, and where they are not bytes by their
 * buffers. */
typedef struct cst__py_records {
  PyObject *items;
  cst_bytes *bytes;
  Py_buffer *buffers;
  Py_ssize_t count;
  Py_ssize_t num_buffers;
} cst__py_records;

/* Of any iterable. 0, or -1 with an exception. */
int cst__py_records_init(cst__py_records *records, PyObject *iterable);
void cst__py_records_reset(cst__py_records *records);

/* ---- the types ---- */

extern PyType_Spec cst__py_decoder_spec;
extern PyType_Spec cst__py_encoder_spec;

#endif /* COLUMNSTONE_PYTHON_DECODE_H */
