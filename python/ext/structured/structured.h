/* Structured tensors: the type StructuredBase, of which StructuredTensor and LeafTensor are made in
 * columnstone._struct.tensor.
 */
#ifndef COLUMNSTONE_PYTHON_STRUCTURED_H
#define COLUMNSTONE_PYTHON_STRUCTURED_H

#include <columnstone/structured.h>

#include "ext/base/base.h"

typedef struct cst__py_structured_object {
  PyObject_HEAD cst__py_state *state; /* a class made in Python does not lead to it */
  cst_structured *tensor;
  PyObject *array; /* Array; NULL until one is asked for */
  PyObject *shape; /* tuple, likewise */
} cst__py_structured_object;

/* ---- structured.c ---- */

/* The tensor of an object, borrowed; NULL, without an exception, for objects of other types. */
const cst_structured *cst__py_structured_view(cst__py_state *state, PyObject *object);
/* The same; NULL with TypeError. */
const cst_structured *cst__py_structured_need(cst__py_state *state, PyObject *object);
/* What a call has made, or its exception. */
PyObject *cst__py_structured_finish(cst__py_state *state, cst_status status, const cst_error *error,
                                    cst_structured *made);

/* The same of indexing, where an argument that does not fit is an IndexError too. */
PyObject *cst__py_structured_finish_index(cst__py_state *state, cst_status status,
                                          const cst_error *error, cst_structured *made);

/* Functions of the module, see _core.pyi. */
PyObject *cst__py_structured_new(PyObject *module, PyObject *args);
PyObject *cst__py_structured_classes(PyObject *module, PyObject *args);

/* ---- elements.c: functions of the module, see _core.pyi ---- */

PyObject *cst__py_structured_gather(PyObject *module, PyObject *args);
PyObject *cst__py_structured_gather_nd(PyObject *module, PyObject *args);
PyObject *cst__py_structured_boolean_mask(PyObject *module, PyObject *args);
PyObject *cst__py_structured_reverse(PyObject *module, PyObject *args);
PyObject *cst__py_structured_mask(PyObject *module, PyObject *args);
PyObject *cst__py_structured_where(PyObject *module, PyObject *args);
PyObject *cst__py_structured_true_places(PyObject *module, PyObject *object);

/* ---- arrange.c: functions of the module, see _core.pyi ---- */

PyObject *cst__py_structured_concat(PyObject *module, PyObject *args);
PyObject *cst__py_structured_stack(PyObject *module, PyObject *args);
PyObject *cst__py_structured_tile(PyObject *module, PyObject *args);
PyObject *cst__py_structured_expand_dims(PyObject *module, PyObject *args);
PyObject *cst__py_structured_row_lengths(PyObject *module, PyObject *args);
PyObject *cst__py_structured_squeeze(PyObject *module, PyObject *args);
PyObject *cst__py_structured_merge_dims(PyObject *module, PyObject *args);
PyObject *cst__py_structured_partition(PyObject *module, PyObject *args);
PyObject *cst__py_structured_like(PyObject *module, PyObject *args);
PyObject *cst__py_structured_test_null(PyObject *module, PyObject *args);
PyObject *cst__py_structured_drop_null(PyObject *module, PyObject *args);
PyObject *cst__py_structured_fill_null(PyObject *module, PyObject *args);

/* ---- path.c ---- */

enum { CST__PY_SHORT_PATH = 64 };

/* A path as the library takes it. */
typedef struct cst__py_path {
  cst_path path;
  char *text;                                /* holds the steps */
  const char *few_steps[CST__PY_SHORT_PATH]; /* both, of a short path */
  char short_text[CST__PY_SHORT_PATH];
  int64_t place; /* of the field that was found last, in its struct; -1: none */
} cst__py_path;

/* Of a str, or a tuple of str, within a type. A str is looked for as a name as a whole; if there is
 * none, as one up to a dot, the longest first, and the rest below it. A name that is not found is
 * split at its dots, for the library to say what is missing. 0, or -1 with an exception. */
int cst__py_path_init(cst__py_path *path, const struct ArrowSchema *schema, PyObject *key);
/* The same for one of many, which are likely to be in order; `previous` may be NULL. */
int cst__py_path_init_after(cst__py_path *path, const struct ArrowSchema *schema, PyObject *key,
                            const cst__py_path *previous);
void cst__py_path_reset(cst__py_path *path);

/* ---- key_array.c ---- */

/* An array as the library takes it, or an integer by itself. */
typedef struct cst__py_key_array {
  cst_structured *tensor; /* to be released */
  bool is_single;
  int64_t single;
} cst__py_key_array;

/* Of an object with a buffer; its data is copied. 0, or -1 with an exception, as all of these. */
int cst__py_key_buffer(cst__py_state *state, PyObject *object, cst__py_key_array *out);
/* Of what columnstone.array takes: lists, Arrow data. */
int cst__py_key_values(cst__py_state *state, PyObject *object, cst__py_key_array *out);
/* A tensor of one bool, without dimensions. */
int cst__py_key_bool(cst__py_state *state, bool value, cst__py_key_array *out);

/* ---- key.c ---- */

/* tensor[key]. */
PyObject *cst__py_structured_subscript(PyObject *self, PyObject *key);

/* ---- edit.c ---- */

/* Functions of the module, see _core.pyi. */
PyObject *cst__py_structured_update(PyObject *module, PyObject *args);
PyObject *cst__py_structured_only(PyObject *module, PyObject *args);
PyObject *cst__py_structured_with_elements(PyObject *module, PyObject *args);
PyObject *cst__py_structured_steps(PyObject *module, PyObject *args);

/* ---- preview.c: functions of the module, see _core.pyi ---- */

PyObject *cst__py_structured_preview(PyObject *module, PyObject *args);
PyObject *cst__py_type_tree(PyObject *module, PyObject *args);

/* ---- transfer.c ---- */

/* Functions of the module, see _core.pyi. */
PyObject *cst__py_structured_promote(PyObject *module, PyObject *args);
PyObject *cst__py_structured_broadcast(PyObject *module, PyObject *args);
PyObject *cst__py_structured_promote_and_broadcast(PyObject *module, PyObject *args);

/* ---- the type ---- */

extern PyType_Spec cst__py_structured_spec;

#endif /* COLUMNSTONE_PYTHON_STRUCTURED_H */
