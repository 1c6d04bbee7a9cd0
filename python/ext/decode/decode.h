/* Serialized records as record batches, and back. */
#ifndef COLUMNSTONE_PYTHON_DECODE_H
#define COLUMNSTONE_PYTHON_DECODE_H

#include <columnstone/records.h>

#include "ext/base/base.h"
#include "ext/message/message.h"

/* ---- records.c ---- */

/* A sequence of records, kept alive: object by object, or by a tuple of our own, and where they are
 * not bytes by their buffers. */
typedef struct cst__py_records {
  PyObject *items;       /* the tuple; NULL: a list of bytes, */
  ptrdiff_t data_offset; /* whose objects begin as far before their data; 0: a tuple */
  cst_bytes *bytes;
  Py_buffer *buffers;
  Py_ssize_t count;
  Py_ssize_t num_buffers;
} cst__py_records;

/* Of any iterable. 0, or -1 with an exception. */
int cst__py_records_init(cst__py_records *records, PyObject *iterable);
void cst__py_records_reset(cst__py_records *records);

/* What decoders and encoders are told alike: a schema or None, a tuple of message options or None
 * (see _core.pyi), and a tuple of the options of formats. Borrows from them. */
typedef struct cst__py_codec {
  const cst_schema *schema;
  cst__py_message message;
  cst__py_option_list options;
} cst__py_codec;

/* 0, or -1 with an exception and nothing to reset. */
int cst__py_codec_init(cst__py_codec *codec, cst__py_state *state, PyObject *schema,
                       PyObject *message, PyObject *options);
void cst__py_codec_reset(cst__py_codec *codec);

/* ---- avro.c ---- */

PyObject *cst__py_avro_canonical(PyObject *module, PyObject *args);
PyObject *cst__py_avro_fingerprint(PyObject *module, PyObject *args);

/* ---- the types ---- */

extern PyType_Spec cst__py_decoder_spec;
extern PyType_Spec cst__py_encoder_spec;

#endif /* COLUMNSTONE_PYTHON_DECODE_H */
