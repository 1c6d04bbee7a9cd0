/* The type Array: one Arrow column, such as the records that an encoder made. */
#include "ext/table/table.h"

static void array_dealloc(PyObject *object) {
  cst__py_array_object *self = (cst__py_array_object *)object;
  cst__py_pending pending = cst__py_put_aside();
  cst_array_release(self->handle);
  cst__py_shared_release(self->shared);
  cst__py_put_back(pending);
  Py_DECREF(self->schema);
  cst__py_free(object);
}

static Py_ssize_t array_length(PyObject *object) {
  return (Py_ssize_t)((cst__py_array_object *)object)->length;
}

static PyObject *item(PyObject *object, Py_ssize_t i) {
  cst__py_array_object *self = (cst__py_array_object *)object;
  if (i < 0 || i >= self->length) {
    PyErr_Format(PyExc_IndexError, "index out of range: the array has %zd values",
                 array_length(object));
    return NULL;
  }
  return cst__py_value(cst__py_state_of(object), cst__py_arrow_schema_view(self->schema),
                       self->node, self->offset + i);
}

static PyObject *slice(PyObject *object, PyObject *key) {
  cst__py_array_object *self = (cst__py_array_object *)object;
  Py_ssize_t start;
  Py_ssize_t stop;
  Py_ssize_t step;
  if (PySlice_Unpack(key, &start, &stop, &step) < 0) {
    return NULL;
  }
  Py_ssize_t count = PySlice_AdjustIndices(array_length(object), &start, &stop, step);
  if (step != 1) {
    PyErr_SetString(PyExc_ValueError, "an Array slice must have step 1");
    return NULL;
  }
  return cst__py_array_view(cst__py_state_of(object), self->schema, self->shared, self->node,
                            self->offset + start, count);
}

static PyObject *array_subscript(PyObject *object, PyObject *key) {
  if (PySlice_Check(key)) {
    return slice(object, key);
  }
  Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
  if (i == -1 && PyErr_Occurred() != NULL) {
    return NULL;
  }
  return item(object, i < 0 ? i + array_length(object) : i);
}

static PyObject *to_pylist(PyObject *object, PyObject *unused) {
  (void)unused;
  cst__py_array_object *self = (cst__py_array_object *)object;
  return cst__py_values(cst__py_state_of(object), cst__py_arrow_schema_view(self->schema),
                        self->node, self->offset, self->length);
}

static int64_t count_nulls(const cst__py_array_object *self) {
  return cst__py_count_nulls(cst__py_arrow_schema_view(self->schema), self->node, self->offset,
                             self->length);
}

static PyObject *get_null_count(PyObject *object, void *closure) {
  (void)closure;
  return PyLong_FromLongLong(count_nulls((cst__py_array_object *)object));
}

/* ---- the buffer protocol ---- */

static const struct {
  char arrow;
  const char *code; /* of the struct module */
  Py_ssize_t width;
} number_formats[] = {
    {'c', "b", 1}, {'C', "B", 1}, {'s', "h", 2}, {'S', "H", 2}, {'i', "i", 4}, {'I', "I", 4},
    {'l', "q", 8}, {'L', "Q", 8}, {'e', "e", 2}, {'f', "f", 4}, {'g', "d", 8},
};

static int array_get_buffer(PyObject *object, Py_buffer *view, int flags) {
  cst__py_array_object *self = (cst__py_array_object *)object;
  const struct ArrowSchema *schema = cst__py_arrow_schema_view(self->schema);
  size_t i = 0;
  size_t count = sizeof number_formats / sizeof *number_formats;
  while (i < count && number_formats[i].arrow != schema->format[0]) {
    i++;
  }
  view->obj = NULL;
  if (i == count || schema->format[1] != '\0' || schema->dictionary != NULL ||
      (flags & PyBUF_WRITABLE) != 0) {
    PyErr_SetString(PyExc_BufferError, (flags & PyBUF_WRITABLE) != 0
                                           ? "the memory of an Array is read-only"
                                           : "only an Array of numbers is a buffer");
    return -1;
  }
  if (count_nulls(self) > 0) {
    PyErr_SetString(PyExc_BufferError, "the Array has nulls: call fill_null() first");
    return -1;
  }
  static const uint64_t nothing = 0; /* an empty array may have no buffer */
  const uint8_t *data = self->node->buffers[1];
  self->dims[0] = (Py_ssize_t)self->length;
  self->dims[1] = number_formats[i].width;
  *view = (Py_buffer){
      .buf = (void *)(uintptr_t)(self->length == 0
                                     ? (const uint8_t *)&nothing
                                     : data + (self->node->offset + self->offset) * self->dims[1]),
      .obj = Py_NewRef(object),
      .len = self->dims[0] * self->dims[1],
      .itemsize = self->dims[1],
      .readonly = 1,
      .ndim = 1,
      .format = (flags & PyBUF_FORMAT) != 0 ? (char *)(uintptr_t)number_formats[i].code : NULL,
      .shape = (flags & PyBUF_ND) != 0 ? &self->dims[0] : NULL,
      .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &self->dims[1] : NULL};
  return 0;
}

/* ---- Arrow ---- */

static PyObject *array_export_schema(PyObject *object, PyObject *unused) {
  (void)unused;
  return PyObject_CallMethod(((cst__py_array_object *)object)->schema, "__arrow_c_schema__", NULL);
}

static PyObject *export_array(PyObject *object, PyObject *args, PyObject *kwargs) {
  static char *names[] = {"requested_schema", NULL};
  PyObject *requested = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:__arrow_c_array__", names, &requested)) {
    return NULL;
  }
  struct ArrowArray out;
  if (cst__py_array_export(object, &out) < 0) {
    return NULL;
  }
  PyObject *array = cst__py_array_capsule(&out);
  PyObject *schema = array == NULL ? NULL : array_export_schema(object, NULL);
  if (schema == NULL) {
    Py_XDECREF(array);
    return NULL;
  }
  return Py_BuildValue("(NN)", schema, array);
}

static PyObject *array_get_schema(PyObject *object, void *closure) {
  (void)closure;
  return Py_NewRef(((cst__py_array_object *)object)->schema);
}

static PyObject *get_type(PyObject *object, void *closure) {
  (void)closure;
  return PyObject_Str(((cst__py_array_object *)object)->schema);
}

/* ---- sugar ---- */

static PyObject *array_take(PyObject *object, PyObject *rows) {
  return cst__py_table_method("take", object, rows);
}

static PyObject *array_filter(PyObject *object, PyObject *mask) {
  return cst__py_table_method("filter", object, mask);
}

static PyObject *fill_null(PyObject *object, PyObject *fill) {
  return cst__py_table_method("fill_null", object, fill);
}

static PyObject *array_field(PyObject *object, PyObject *key) {
  return cst__py_table_method("field", object, key);
}

static PyObject *array_to_numpy(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_table_method("to_numpy", object, NULL);
}

static PyObject *as_numpy(PyObject *object, PyObject *args, PyObject *kwargs) {
  return cst__py_table_call("as_numpy", object, args, kwargs);
}

static PyObject *from_parents(PyObject *unused, PyObject *args, PyObject *kwargs) {
  (void)unused;
  return cst__py_table_call("from_parents", NULL, args, kwargs);
}

static PyObject *array_reduce_ex(PyObject *object, PyObject *protocol) {
  return cst__py_table_method("reduce_ex", object, protocol);
}

static PyObject *array_repr(PyObject *object) {
  return cst__py_table_method("array_repr", object, NULL);
}

static PyObject *array_repr_html(PyObject *object, PyObject *unused) {
  (void)unused;
  return cst__py_table_method("array_repr_html", object, NULL);
}

static PyMethodDef methods[] = {
    {"to_pylist", to_pylist, METH_NOARGS,
     PyDoc_STR("to_pylist($self)\n--\n\n"
               "The values as a list of Python objects; None for null.")},
    {"slice", (PyCFunction)(void (*)(void))cst__py_table_slice, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "slice($self, offset, length=None)\n--\n\n"
         "Returns `length` values starting at `offset`, or all that follow for None; fewer if\n"
         "the array ends before. No copy.")},
    {"take", array_take, METH_O,
     PyDoc_STR("take($self, rows, /)\n--\n\n"
               "Returns the values with these numbers, in this order. rows: integers as a list, a\n"
               "numpy array or an Arrow array; None gives a null.")},
    {"filter", array_filter, METH_O,
     PyDoc_STR(
         "filter($self, mask, /)\n--\n\n"
         "Returns the values for which the mask is true. mask: a bool per value as a list, a\n"
         "numpy array or an Arrow array, whose nulls count as false.")},
    {"lengths", cst__py_table_lengths, METH_NOARGS,
     PyDoc_STR(
         "lengths($self)\n--\n\n"
         "The lengths of the lists, or of the strings in bytes: int64, null for a null list.")},
    {"flatten", (PyCFunction)(void (*)(void))cst__py_table_flatten, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "flatten($self, levels=1)\n--\n\n"
         "The items of all lists one after the other, with this many list levels removed; -1:\n"
         "all. Nothing is copied, unless nulls or list views scatter the items.")},
    {"flatten_with_parents", (PyCFunction)(void (*)(void))cst__py_table_flatten_with_parents,
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("flatten_with_parents($self, levels=1)\n--\n\n"
               "Returns (values, parents): parents is an int64 Array with the row of each value.")},
    {"from_parents", (PyCFunction)(void (*)(void))from_parents,
     METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     PyDoc_STR(
         "from_parents(values, parents, num_rows, empty_as_null=False)\n--\n\n"
         "The inverse of flatten_with_parents: a large_list with num_rows rows; row i contains\n"
         "the values whose parent is i. Parents must be ascending, and from 0 to num_rows - 1:\n"
         "otherwise an ArgumentError names the first wrong one.")},
    {"coordinates", cst__py_table_coordinates, METH_NOARGS,
     PyDoc_STR("coordinates($self)\n--\n\n"
               "Returns (coordinates, shape) of all values in nested lists: a fixed_size_list of\n"
               "int64 per value, row first, and the lengths of the longest lists as a tuple.")},
    {"field", array_field, METH_O,
     PyDoc_STR(
         "field($self, key, /)\n--\n\n"
         "Returns the field with that name or position of an Array of structs, as an Array of\n"
         "the same length: null where the struct is null. If there is none, raises KeyError,\n"
         "with the names of the fields, or IndexError; TypeError if the values are not\n"
         "structs.")},
    {"null_mask", cst__py_table_null_mask, METH_NOARGS,
     PyDoc_STR("null_mask($self)\n--\n\n"
               "One uint8 per value: 1 for a null.")},
    {"fill_null", fill_null, METH_O,
     PyDoc_STR(
         "fill_null($self, fill, /)\n--\n\n"
         "Replaces nulls with `fill`: a value, or an Array with one value. For lists, it is a\n"
         "list (or an Array) with the values for each null list.")},
    {"count_invalid_utf8", cst__py_table_count_invalid_utf8, METH_NOARGS,
     PyDoc_STR("count_invalid_utf8($self)\n--\n\n"
               "The number of non-null strings that are not valid UTF-8.")},
    {"numpy", array_to_numpy, METH_NOARGS,
     PyDoc_STR(
         "numpy($self)\n--\n\n"
         "Numbers without nulls as a read-only numpy array, without a copy; fixed-size lists\n"
         "become its rows. BufferError for other types, and for nulls.")},
    {"__array__", (PyCFunction)(void (*)(void))as_numpy, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "__array__($self, dtype=None, copy=None)\n--\n\n"
         "Called by numpy.asarray(array). Numbers, bools and times keep their type, lists of\n"
         "the same length become rows, and everything else becomes Python objects. Nulls that\n"
         "numpy cannot represent are an ArgumentError: use dtype=object, or call fill_null()\n"
         "first.")},
    {"__reduce_ex__", array_reduce_ex, METH_O, NULL},
    {"_of_tree", cst__py_table_of_tree, METH_VARARGS | METH_CLASS, NULL},
    {"_repr_html_", array_repr_html, METH_NOARGS,
     PyDoc_STR("_repr_html_($self)\n--\n\nA table for notebooks.")},
    {"__arrow_c_schema__", array_export_schema, METH_NOARGS,
     PyDoc_STR("__arrow_c_schema__($self)\n--\n\nThe array's type as an Arrow PyCapsule.")},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))export_array, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("__arrow_c_array__($self, requested_schema=None)\n--\n\n"
               "The array as a pair of Arrow PyCapsules; no copy. requested_schema is ignored.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"schema", array_get_schema, NULL, PyDoc_STR("The Arrow type, an ArrowSchema."), NULL},
    {"type", get_type, NULL, PyDoc_STR("The Arrow type as text: 'large_list<int64>'."), NULL},
    {"null_count", get_null_count, NULL, PyDoc_STR("The number of nulls."), NULL},
    {"nbytes", cst__py_table_byte_size, NULL,
     PyDoc_STR("The size of these values in bytes, without other data in shared buffers."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "One column in Arrow memory, such as the result of an encoder.\n\n"
                "It is a sequence: ``len(array)``, ``array[i]`` (bytes for a binary array),\n"
                "``array[a:b]`` (an Array, no copy), iteration. Consumers of the Arrow PyCapsule\n"
                "interface accept it without a copy: ``pyarrow.array(array)``; so does numpy for\n"
                "numbers without nulls: ``numpy.asarray(array)``."},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_repr, array_repr},
    {Py_sq_length, array_length},
    {Py_sq_item, item},
    {Py_mp_length, array_length},
    {Py_mp_subscript, array_subscript},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {Py_bf_getbuffer, array_get_buffer},
    {0, NULL},
};

PyType_Spec cst__py_array_spec = {
    .name = "columnstone.arrow.Array",
    .basicsize = sizeof(cst__py_array_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
