/* The type RecordBatch: rows of named columns, as the library made them. */
#include "ext/table/table.h"

static void batch_dealloc(PyObject *object) {
  cst__py_batch_object *self = (cst__py_batch_object *)object;
  cst__py_pending pending = cst__py_put_aside();
  cst_array_release(self->handle);
  cst__py_shared_release(self->shared);
  cst__py_put_back(pending);
  Py_DECREF(self->schema);
  Py_XDECREF(self->position);
  cst__py_free(object);
}

static PyObject *get_num_rows(PyObject *object, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(cst__py_batch_root(object)->length);
}

static PyObject *get_num_columns(PyObject *object, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(cst__py_batch_root(object)->n_children);
}

static PyObject *get_column_names(PyObject *object, void *closure) {
  (void)closure;
  return PyObject_GetAttrString(((cst__py_batch_object *)object)->schema, "names");
}

static PyObject *batch_get_schema(PyObject *object, void *closure) {
  (void)closure;
  return Py_NewRef(((cst__py_batch_object *)object)->schema);
}

static Py_ssize_t batch_length(PyObject *object) {
  return (Py_ssize_t)cst__py_batch_root(object)->length;
}

/* The number of the column of that name or number; -1 with an exception, or without one if no
 * column has the name. */
static int64_t find_column(PyObject *object, PyObject *key) {
  const struct ArrowSchema *schema = cst__py_batch_schema(object);
  if (PyLong_Check(key)) {
    int64_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (i == -1 && PyErr_Occurred() != NULL) {
      return -1;
    }
    i += i < 0 ? schema->n_children : 0;
    if (i < 0 || i >= schema->n_children) {
      PyErr_Format(PyExc_IndexError, "there are %zd columns", (Py_ssize_t)schema->n_children);
      return -1;
    }
    return i;
  }
  if (!PyUnicode_Check(key)) {
    PyErr_SetString(PyExc_TypeError, "a column is named by str or int");
    return -1;
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    PyObject *name = cst__py_arrow_schema_name(schema, i);
    int same = name == NULL ? -1 : PyObject_RichCompareBool(name, key, Py_EQ);
    Py_XDECREF(name);
    if (same != 0) {
      return same < 0 ? -1 : i;
    }
  }
  return -1;
}

static PyObject *column(PyObject *object, PyObject *key) {
  int64_t i = PyTuple_Check(key) ? -1 : find_column(object, key);
  if (i < 0) {
    return PyErr_Occurred() != NULL ? NULL : cst__py_table_method("column", object, key);
  }
  cst__py_batch_object *self = (cst__py_batch_object *)object;
  PyObject *schema = cst__py_arrow_schema_child(self->schema, i);
  if (schema == NULL) {
    return NULL;
  }
  PyObject *array = cst__py_array_view(
      cst__py_state_of(object), schema, self->shared, cst__py_batch_root(object)->children[i],
      cst__py_batch_root(object)->offset, cst__py_batch_root(object)->length);
  Py_DECREF(schema);
  return array;
}

static PyObject *batch_subscript(PyObject *object, PyObject *key) {
  Py_ssize_t start;
  Py_ssize_t stop;
  Py_ssize_t step;
  if (!PySlice_Check(key)) {
    return column(object, key);
  }
  if (PySlice_Unpack(key, &start, &stop, &step) < 0) {
    return NULL;
  }
  Py_ssize_t count = PySlice_AdjustIndices(batch_length(object), &start, &stop, step);
  if (step != 1) {
    PyErr_SetString(PyExc_ValueError, "a RecordBatch slice must have step 1");
    return NULL;
  }
  return cst__py_table_rows(object, start, count);
}

static PyObject *column_with_rows(PyObject *object, PyObject *key) {
  return cst__py_table_method("column_with_rows", object, key);
}

static PyObject *batch_take(PyObject *object, PyObject *rows) {
  return cst__py_table_method("take", object, rows);
}

static PyObject *batch_filter(PyObject *object, PyObject *mask) {
  return cst__py_table_method("filter", object, mask);
}

static PyObject *select_columns(PyObject *object, PyObject *columns) {
  return cst__py_table_method("select", object, columns);
}

static PyObject *sort_columns(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_table_method("sort_columns", object, NULL);
}

static PyObject *group_by(PyObject *object, PyObject *columns) {
  return cst__py_table_method("group_by", object, columns);
}

static PyObject *to_pandas(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_table_method("to_pandas", object, NULL);
}

static PyObject *batch_reduce_ex(PyObject *object, PyObject *protocol) {
  return cst__py_table_method("reduce_ex", object, protocol);
}

static PyObject *to_pydict(PyObject *object, PyObject *unused) {
  (void)unused;
  const struct ArrowSchema *schema = cst__py_batch_schema(object);
  const struct ArrowArray *array = cst__py_batch_root(object);
  cst__py_state *state = cst__py_state_of(object);
  PyObject *dict = PyDict_New();
  for (int64_t i = 0; dict != NULL && i < schema->n_children; i++) {
    PyObject *name = cst__py_arrow_schema_name(schema, i);
    PyObject *values = name == NULL ? NULL
                                    : cst__py_values(state, schema->children[i], array->children[i],
                                                     array->offset, array->length);
    if (values == NULL || PyDict_SetItem(dict, name, values) < 0) {
      Py_CLEAR(dict);
    }
    Py_XDECREF(name);
    Py_XDECREF(values);
  }
  return cst__py_named_once(state, schema, dict);
}

static PyObject *batch_export_schema(PyObject *object, PyObject *unused) {
  (void)unused;
  return PyObject_CallMethod(((cst__py_batch_object *)object)->schema, "__arrow_c_schema__", NULL);
}

static PyObject *batch_export_array(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"requested_schema", NULL};
  PyObject *requested = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_array__", names, &requested)) {
    return NULL;
  }
  struct ArrowArray out;
  PyObject *schema = batch_export_schema(object, NULL);
  if (schema == NULL) {
    return NULL;
  }
  if (cst__py_shared_export_array(((cst__py_batch_object *)object)->shared,
                                  cst__py_batch_root(object), &out) < 0) {
    Py_DECREF(schema);
    return PyErr_NoMemory();
  }
  PyObject *array = cst__py_array_capsule(&out);
  if (array == NULL) {
    Py_DECREF(schema);
    return NULL;
  }
  return Py_BuildValue("(NN)", schema, array);
}

static PyObject *batch_repr(PyObject *object) {
  return cst__py_table_method("batch_repr", object, NULL);
}

static PyObject *batch_repr_html(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_table_method("batch_repr_html", object, NULL);
}

static PyObject *get_position(PyObject *object, void *closure) {
  (void)closure;
  PyObject *position = ((cst__py_batch_object *)object)->position;
  return Py_NewRef(position != NULL ? position : Py_None);
}

/* For the package; a position is numbers, and so never part of a cycle. */
static int set_position(PyObject *object, PyObject *position, void *closure) {
  (void)closure;
  if (position == NULL || !PyTuple_Check(position)) {
    PyErr_SetString(PyExc_TypeError, "a batch's position is a Position");
    return -1;
  }
  cst__py_replace(&((cst__py_batch_object *)object)->position, Py_NewRef(position));
  return 0;
}

static PyMethodDef methods[] = {
    {"column", column, METH_O,
     PyDoc_STR(
         "column($self, key, /)\n--\n\n"
         "Returns the column with that name or position as an Array; no copy.\n\n"
         "A name that no column has is a path through structs and lists of structs, such as\n"
         "'a.b'; ('a', 'b') is always a path. A value below a null struct is null. KeyError or\n"
         "IndexError if there is no such column.")},
    {"column_with_rows", column_with_rows, METH_O,
     PyDoc_STR("column_with_rows($self, path, /)\n--\n\n"
               "Returns (column, rows): rows is an int64 Array with the row of each value of the\n"
               "column. They differ from 0, 1, 2, ... if there are lists on the path.")},
    {"slice", (PyCFunction)(void (*)(void))cst__py_table_slice, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("slice($self, offset, length=None)\n--\n\n"
               "Returns `length` rows starting at `offset`, or all that follow for None; fewer if\n"
               "the batch ends before. batch[a:b] is the same. No copy.")},
    {"take", batch_take, METH_O,
     PyDoc_STR(
         "take($self, rows, /)\n--\n\n"
         "Returns the rows with these numbers, in this order, as a new batch. rows: integers\n"
         "as a list, a numpy array or an Arrow array; None gives a row of nulls.")},
    {"filter", batch_filter, METH_O,
     PyDoc_STR(
         "filter($self, mask, /)\n--\n\n"
         "Returns the rows for which the mask is true. mask: a bool per row as a list, a numpy\n"
         "array or an Arrow array, whose nulls count as false.")},
    {"select", select_columns, METH_O,
     PyDoc_STR(
         "select($self, columns, /)\n--\n\n"
         "Returns a batch with these columns, in this order; no copy. Columns are named as for\n"
         "column(); a column that is reached by a path is named after the path, 'a.b'.")},
    {"sort_columns", sort_columns, METH_NOARGS,
     PyDoc_STR("sort_columns($self)\n--\n\n"
               "Returns a batch with the columns sorted by name; no copy. Batches with the same\n"
               "columns in different orders get the same schema in this way.")},
    {"to_pandas", to_pandas, METH_NOARGS,
     PyDoc_STR("to_pandas($self)\n--\n\n"
               "Returns a pandas DataFrame with Arrow-typed columns (pandas.ArrowDtype). Needs\n"
               "pandas and pyarrow.")},
    {"group_by", group_by, METH_O,
     PyDoc_STR(
         "group_by($self, columns, /)\n--\n\n"
         "Groups the rows by the values of key columns. Returns Groups, in the order of their\n"
         "first row. columns: names or paths. With a column of lists, a row belongs to the\n"
         "group of each of its distinct values; with several such columns, to those of all\n"
         "combinations. A row without any value has the key None.")},
    {"__reduce_ex__", batch_reduce_ex, METH_O, NULL},
    {"_of_tree", cst__py_table_of_tree, METH_VARARGS | METH_CLASS, NULL},
    {"to_pydict", to_pydict, METH_NOARGS,
     PyDoc_STR("to_pydict($self)\n--\n\n"
               "The values as {column: [one Python object per row]}; None for null.")},
    {"_repr_html_", batch_repr_html, METH_NOARGS,
     PyDoc_STR("_repr_html_($self)\n--\n\nA table for notebooks.")},
    {"__arrow_c_schema__", batch_export_schema, METH_NOARGS,
     PyDoc_STR("__arrow_c_schema__($self)\n--\n\nThe batch's schema as an Arrow PyCapsule.")},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))batch_export_array,
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("__arrow_c_array__($self, requested_schema=None)\n--\n\n"
               "The batch as a pair of Arrow PyCapsules; no copy. requested_schema is ignored.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"num_rows", get_num_rows, NULL, PyDoc_STR("The number of rows; len(batch) is the same."),
     NULL},
    {"num_columns", get_num_columns, NULL, PyDoc_STR("The number of columns."), NULL},
    {"column_names", get_column_names, NULL, PyDoc_STR("The names of the columns, in order."),
     NULL},
    {"schema", batch_get_schema, NULL, PyDoc_STR("The Arrow schema, an ArrowSchema."), NULL},
    {"nbytes", cst__py_table_byte_size, NULL,
     PyDoc_STR("The size of these rows in bytes, without other data in shared buffers."), NULL},
    {"position", get_position, set_position,
     PyDoc_STR(
         "The Position of a dataset's batch; otherwise None. Rows and columns taken from the\n"
         "batch, copies and pickles have no position."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc,
     "Rows of named columns in Arrow memory.\n\n"
     "Consumers of the Arrow PyCapsule interface accept a batch without a copy:\n"
     "``pyarrow.record_batch(batch)``, ``polars.DataFrame(batch)``. Several threads can\n"
     "use a batch at the same time. Its pickle contains only its own rows."},
    {Py_tp_dealloc, batch_dealloc},
    {Py_tp_repr, batch_repr},
    {Py_mp_length, batch_length},
    {Py_mp_subscript, batch_subscript},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_batch_spec = {
    .name = "columnstone.RecordBatch",
    .basicsize = sizeof(cst__py_batch_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
