/* Operations on arrays and record batches, which are methods of both and functions of the module.
 */
#ifndef COLUMNSTONE_PYTHON_TABLE_H
#define COLUMNSTONE_PYTHON_TABLE_H

#include "ext/arrow/arrow.h"

/* That of an Array or RecordBatch, borrowed. NULL with TypeError. */
const cst_array *cst__py_table_handle_of(cst__py_state *state, PyObject *object);
/* Validates an array and takes it over, also on failure; `is_batch`: rows of columns. The schema is
 * released. */
PyObject *cst__py_table_take_over(cst__py_state *state, struct ArrowSchema *schema,
                                  struct ArrowArray *array, bool is_batch);
/* An Array or RecordBatch of a handle, which is taken over, also on failure. */
PyObject *cst__py_table_wrap(cst__py_state *state, cst_array *made, bool as_batch);
/* What columnstone._arrow.table.NAME(self, *args, **kwargs) gives; self may be NULL. */
PyObject *cst__py_table_call(const char *name, PyObject *self, PyObject *args, PyObject *kwargs);
/* The same for a method of one argument, or (NULL) of none. */
PyObject *cst__py_table_method(const char *name, PyObject *self, PyObject *argument);
/* Rows as a slice. */
PyObject *cst__py_table_rows(PyObject *self, int64_t offset, int64_t length);

/* Methods. */
PyObject *cst__py_table_slice(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *cst__py_table_byte_size(PyObject *self, void *closure);
PyObject *cst__py_table_lengths(PyObject *self, PyObject *unused);
PyObject *cst__py_table_null_mask(PyObject *self, PyObject *unused);
PyObject *cst__py_table_flatten(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *cst__py_table_flatten_with_parents(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *cst__py_table_coordinates(PyObject *self, PyObject *unused);
PyObject *cst__py_table_count_invalid_utf8(PyObject *self, PyObject *unused);

/* Functions of the module, see _core.pyi. */
PyObject *cst__py_table_take(PyObject *module, PyObject *args);
PyObject *cst__py_table_filter(PyObject *module, PyObject *args);
PyObject *cst__py_table_concat(PyObject *module, PyObject *tuple);
PyObject *cst__py_table_column(PyObject *module, PyObject *args);
PyObject *cst__py_table_from_parents(PyObject *module, PyObject *args);
PyObject *cst__py_table_fill_null(PyObject *module, PyObject *args);
PyObject *cst__py_table_group_by(PyObject *module, PyObject *args);
/* An Array, or a RecordBatch of a struct without nulls; schema and array are taken over. */
PyObject *cst__py_table_import_one(cst__py_state *state, struct ArrowSchema *schema,
                                   struct ArrowArray *array, bool is_batch);
PyObject *cst__py_table_import(PyObject *module, PyObject *args);
PyObject *cst__py_table_import_stream(PyObject *module, PyObject *args);
/* An object with __arrow_c_array__ as the PyCapsule of a stream of one chunk. */
PyObject *cst__py_table_stream(PyObject *module, PyObject *object);
/* Python's own data, (list, as_batch, name or None): objects.c. */
PyObject *cst__py_table_of_objects(PyObject *module, PyObject *args);
PyObject *cst__py_table_of_nested(PyObject *module, PyObject *args);
/* What borrows, see _core.pyi: lend.c. */
PyObject *cst__py_table_of_buffer(PyObject *module, PyObject *args);
PyObject *cst__py_table_of_lists(PyObject *module, PyObject *args);
/* The chunks of an object with __arrow_c_stream__, validated, as a list of at least one. */
PyObject *cst__py_table_read_stream(cst__py_state *state, PyObject *object, bool is_batch);
/* The arrays of a tuple as one. */
PyObject *cst__py_table_join(cst__py_state *state, PyObject *tuple);
PyObject *cst__py_table_dump(PyObject *module, PyObject *object);
PyObject *cst__py_table_of_tree(PyObject *class, PyObject *args);
PyObject *cst__py_table_batch_from(PyObject *module, PyObject *args);
PyObject *cst__py_table_mask(PyObject *module, PyObject *object);

/* ---- the types ---- */

extern PyType_Spec cst__py_array_spec;
extern PyType_Spec cst__py_batch_spec;

#endif /* COLUMNSTONE_PYTHON_TABLE_H */
