/* Arrow data as Python objects: schemas, arrays, record batches, and the way in and out. */
#ifndef COLUMNSTONE_PYTHON_ARROW_H
#define COLUMNSTONE_PYTHON_ARROW_H

#include <columnstone/array.h>
#include <columnstone/arrow_abi.h>
#include <columnstone/findings.h>

#include "ext/base/base.h"

/* ---- share.c: Arrow data with counted owners, no Python in it ---- */

typedef struct cst__py_shared cst__py_shared;

/* Moves the array, or the schema, in; the other one is NULL. NULL if out of memory, nothing moved.
 */
cst__py_shared *cst__py_shared_new(struct ArrowSchema *schema, struct ArrowArray *array);
cst__py_shared *cst__py_shared_retain(cst__py_shared *shared);
void cst__py_shared_release(cst__py_shared *shared);
const struct ArrowSchema *cst__py_shared_schema(const cst__py_shared *shared);
const struct ArrowArray *cst__py_shared_array(const cst__py_shared *shared);
/* Exports a node of the shared tree as one of its own that keeps the tree alive. 0, or -1 if out of
 * memory; *out is only written on success. */
int cst__py_shared_export_schema(cst__py_shared *shared, const struct ArrowSchema *node,
                                 struct ArrowSchema *out);
int cst__py_shared_export_array(cst__py_shared *shared, const struct ArrowArray *node,
                                struct ArrowArray *out);

/* ---- capsule.c: Arrow through PyCapsules ---- */

/* A capsule that owns what it is given; on failure that is released. */
PyObject *cst__py_schema_capsule(struct ArrowSchema *schema);
PyObject *cst__py_array_capsule(struct ArrowArray *array);
PyObject *cst__py_stream_capsule(struct ArrowArrayStream *stream);
/* The object, if it exports Arrow data; else what columnstone._arrow.as_arrow.as_arrow makes of it,
 * which is itself if it is none that stands for Arrow data. NULL with an exception. */
PyObject *cst__py_as_arrow(PyObject *object);
/* Moves data out of an object with __arrow_c_array__ or __arrow_c_stream__. 0, or -1 with an
 * exception and nothing to release. The schema is well formed at every depth; of the array nothing
 * is known before a function of the library has validated it. */
int cst__py_import_array(PyObject *object, struct ArrowSchema *schema, struct ArrowArray *array);
int cst__py_import_stream(PyObject *object, struct ArrowArrayStream *stream);
/* The same from either, an array as a stream of one batch. */
int cst__py_import_batches(PyObject *object, struct ArrowArrayStream *stream);
/* Moves a schema out of an object with __arrow_c_schema__. */
int cst__py_import_schema(PyObject *object, struct ArrowSchema *schema);
/* Releases what others made, whether an exception is set or not. */
void cst__py_release_stream(struct ArrowArrayStream *stream);
void cst__py_release_array(struct ArrowArray *array);
/* The stream's schema, well formed at every depth. On failure there is nothing to release. */
cst_status cst__py_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out,
                                 cst_error *error);
/* The next batch; out->release is NULL at the end, and on failure. */
cst_status cst__py_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out,
                               cst_error *error);

/* ---- arrow_schema.c ---- */

/* Takes the schema over, also on failure. */
PyObject *cst__py_arrow_schema_new(cst__py_state *state, struct ArrowSchema *schema);
const struct ArrowSchema *cst__py_arrow_schema_view(PyObject *self);
/* The i-th child of a struct's schema. */
PyObject *cst__py_arrow_schema_child(PyObject *self, int64_t i);
/* True if types, names and nullability agree; metadata does not count. */
bool cst__py_arrow_schema_equal(const struct ArrowSchema *a, const struct ArrowSchema *b);
/* Name of child i as str. */
PyObject *cst__py_arrow_schema_name(const struct ArrowSchema *schema, int64_t i);

/* ---- arrow_tree.c ---- */

/* A schema as nested tuples; NULL with an exception. */
PyObject *cst__py_arrow_schema_tree(const struct ArrowSchema *node);
/* And back. 0, or -1 with an exception and nothing to release. */
int cst__py_arrow_schema_plant(PyObject *tree, struct ArrowSchema *out);

/* ---- values.c ---- */

/* A float of 16 bits. */
double cst__py_half(uint16_t bits);

/* The dict that has been made of a struct's fields (taken over; NULL: NULL). An ArgumentError if
 * two of them have one name: one would be lost. */
PyObject *cst__py_named_once(cst__py_state *state, const struct ArrowSchema *schema,
                             PyObject *dict);
/* Slot i of an array as a Python object: None, int, float, bytes, str, list, dict. */
PyObject *cst__py_value(cst__py_state *state, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t i);
/* All slots as a list. */
PyObject *cst__py_values(cst__py_state *state, const struct ArrowSchema *schema,
                         const struct ArrowArray *array, int64_t offset, int64_t length);

/* ---- array.c, batch.c ---- */

typedef struct cst__py_array_object {
  PyObject_HEAD cst__py_shared *shared;
  const struct ArrowArray *node; /* in the shared tree */
  PyObject *schema;              /* ArrowSchema */
  int64_t offset;                /* added to the node's own */
  int64_t length;
  cst_array *handle;  /* for operations; NULL until one is asked for */
  Py_ssize_t dims[2]; /* length and bytes of a value, for the buffer protocol */
} cst__py_array_object;

typedef struct cst__py_batch_object {
  PyObject_HEAD cst__py_shared *shared;
  PyObject *schema;   /* ArrowSchema */
  cst_array *handle;  /* for operations; NULL until one is asked for */
  PyObject *position; /* of a dataset's; NULL: none */
} cst__py_batch_object;

/* For operations: takes the array over, also on failure. */
cst_array *cst__py_handle_new(cst__py_state *state, const struct ArrowSchema *schema,
                              struct ArrowArray *array);

/* A RecordBatch of what the library has made; both are taken over, also on failure. */
PyObject *cst__py_batch_made(cst__py_state *state, struct ArrowSchema *types,
                             struct ArrowArray *array);

/* findings.c: (RecordBatch, {total: number}); takes them over. NULL with an exception. */
PyObject *cst__py_findings(cst__py_state *state, cst_findings *findings);
/* And of any Arrow table that can be findings (caller: cst_findings_free). NULL with an exception.
 */
cst_findings *cst__py_findings_of(cst__py_state *state, PyObject *table);

/* What a batch holds, borrowed. */
const struct ArrowArray *cst__py_batch_root(PyObject *self);
const struct ArrowSchema *cst__py_batch_schema(PyObject *self);

/* Both take the array over, also on failure. `schema` is an ArrowSchema object (borrowed). */
PyObject *cst__py_batch_new(cst__py_state *state, PyObject *schema, struct ArrowArray *array);
PyObject *cst__py_array_new(cst__py_state *state, PyObject *schema, struct ArrowArray *array);
/* The batch as an array that shares the memory and whose children stay where they are, and its
 * ArrowSchema object, borrowed. */
PyObject *cst__py_batch_lend(PyObject *self, struct ArrowArray *out);
/* A view of a node of shared data. */
PyObject *cst__py_array_view(cst__py_state *state, PyObject *schema, cst__py_shared *owner,
                             const struct ArrowArray *node, int64_t offset, int64_t length);

/* Nulls among `length` slots of an array, from `offset` on. */
int64_t cst__py_count_nulls(const struct ArrowSchema *schema, const struct ArrowArray *array,
                            int64_t offset, int64_t length);
/* The rows of an Array as an Arrow array that shares its memory. 0, or -1 with an exception. */
int cst__py_array_export(PyObject *self, struct ArrowArray *out);

/* For operations: borrowed, made when it is first asked for. NULL with an exception. */
const cst_array *cst__py_batch_handle(PyObject *self);
const cst_array *cst__py_array_handle(PyObject *self);
/* Gives a new object its handle, which is taken over. */
void cst__py_batch_set_handle(PyObject *self, cst_array *handle);
void cst__py_array_set_handle(PyObject *self, cst_array *handle);

/* ---- the types ---- */

extern PyType_Spec cst__py_arrow_schema_spec;

#endif /* COLUMNSTONE_PYTHON_ARROW_H */
