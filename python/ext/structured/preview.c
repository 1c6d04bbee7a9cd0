/* The beginning of a tensor as Python objects, however large it is, and types as trees: what repr()
 * and show_tree() are made of.
 */
#include <columnstone/arrow.h>

#include "ext/arrow/arrow.h"
#include "ext/structured/structured.h"

typedef struct previewer {
  cst__py_state *state;
  const struct ArrowSchema *element; /* the struct of which one field is wanted; NULL: whole */
  long long field, rows, items, values, size;
  long long left; /* values that this row may still have */
} previewer;

static PyObject *preview_slot(previewer *p, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int64_t slot);

static int add_new(PyObject *list, PyObject *item) {
  int result = item == NULL ? -1 : PyList_Append(list, item);
  Py_XDECREF(item);
  return result;
}

static PyObject *preview_list(previewer *p, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int64_t slot) {
  int64_t begin = 0;
  int64_t end = 0;
  PyObject *list = PyList_New(0);
  (void)cst_arrow_list_at(schema, array, slot, &begin, &end);
  int result = list == NULL ? -1 : 0;
  for (int64_t i = begin; i < end && result == 0; i++) {
    if (i - begin >= p->items || p->left <= 0) {
      result = PyList_Append(list, Py_Ellipsis);
      break;
    }
    result = add_new(list, preview_slot(p, schema->children[0], array->children[0], i));
  }
  if (result < 0) {
    Py_CLEAR(list);
  }
  return list;
}

static PyObject *preview_struct(previewer *p, const struct ArrowSchema *schema,
                                const struct ArrowArray *array, int64_t slot) {
  int64_t at = array->offset + slot;
  if (schema == p->element) {
    return preview_slot(p, schema->children[p->field], array->children[p->field], at);
  }
  PyObject *dict = PyDict_New();
  int result = dict == NULL ? -1 : 0;
  for (int64_t i = 0; i < schema->n_children && result == 0; i++) {
    if (p->left <= 0) {
      result = PyDict_SetItem(dict, Py_Ellipsis, Py_Ellipsis);
      break;
    }
    PyObject *name = cst__py_arrow_schema_name(schema, i);
    PyObject *value =
        name != NULL ? preview_slot(p, schema->children[i], array->children[i], at) : NULL;
    result = value == NULL ? -1 : PyDict_SetItem(dict, name, value);
    Py_XDECREF(name);
    Py_XDECREF(value);
  }
  if (result < 0) {
    Py_CLEAR(dict);
  }
  return dict;
}

/* Of a string or binary that is longer than what is wanted, its beginning; without an exception
 * NULL for everything else. */
static PyObject *preview_text(const previewer *p, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int64_t slot, bool is_text) {
  cst_bytes bytes = cst_arrow_bytes_at(schema, array, slot);
  if (bytes.size <= (size_t)p->size) {
    return NULL;
  }
  const char *chars = (const char *)bytes.data;
  return is_text ? PyUnicode_DecodeUTF8(chars, (Py_ssize_t)p->size, "ignore") /* a cut character */
                 : PyBytes_FromStringAndSize(chars, (Py_ssize_t)p->size);
}

/* The double that is written with as few digits as the float is; in no locale. */
static PyObject *preview_float(double value, int digits, int most) {
  double shown = value;
  for (; digits <= most; digits++) {
    char *text = PyOS_double_to_string(value, 'g', digits, 0, NULL);
    if (text == NULL) {
      return NULL;
    }
    shown = PyOS_string_to_double(text, NULL, NULL);
    PyMem_Free(text);
    if (PyErr_Occurred() != NULL) {
      return NULL;
    }
    if ((float)shown == (float)value) {
      break;
    }
  }
  return PyFloat_FromDouble(shown);
}

static PyObject *preview_leaf(const previewer *p, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int64_t slot) {
  cst_arrow_type type;
  (void)cst_arrow_type_read(schema, &type, NULL);
  const char *values = array->n_buffers > 1 ? array->buffers[1] : NULL;
  if (type.kind >= CST_ARROW_DATE) { /* times and decimals: by columnstone._arrow.scalars */
    return Py_BuildValue("sy#", schema->format,
                         values + (array->offset + slot) * (int64_t)type.width,
                         (Py_ssize_t)type.width);
  }
  if (type.kind == CST_ARROW_FLOAT && type.width == 4) {
    return preview_float((double)((const float *)(const void *)values)[array->offset + slot], 6, 9);
  }
  if (type.kind == CST_ARROW_FLOAT && type.width == 2) {
    return preview_float(
        cst__py_half(((const uint16_t *)(const void *)values)[array->offset + slot]), 5, 5);
  }
  PyObject *text = preview_text(p, schema, array, slot, type.kind == CST_ARROW_STRING);
  return text != NULL || PyErr_Occurred() != NULL ? text
                                                  : cst__py_value(p->state, schema, array, slot);
}

static PyObject *preview_slot(previewer *p, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int64_t slot) {
  p->left--;
  if (cst__py_count_nulls(schema, array, slot, 1) > 0) {
    Py_RETURN_NONE;
  }
  if (strcmp(schema->format, "+s") == 0) {
    return preview_struct(p, schema, array, slot);
  }
  return schema->format[0] == '+' ? preview_list(p, schema, array, slot)
                                  : preview_leaf(p, schema, array, slot);
}

static PyObject *preview_rows(previewer *p, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int64_t begin, int64_t end) {
  PyObject *list = PyList_New(0);
  int result = list == NULL ? -1 : 0;
  for (int64_t i = begin; i < end && i - begin < p->rows && result == 0; i++) {
    p->left = p->values;
    result = add_new(list, preview_slot(p, schema, array, i));
  }
  if (result < 0) {
    Py_CLEAR(list);
  }
  return list;
}

/* The rows are those of the outermost dimension, which an array has, or the list in its only row;
 * and the only row itself if it is null, or a scalar. */
static PyObject *preview_tensor(previewer *p, const cst_structured *tensor,
                                const struct ArrowArray *array) {
  const struct ArrowSchema *schema = cst_array_schema(cst_structured_array(tensor));
  int64_t begin = 0;
  int64_t end = array->length;
  if (cst_structured_is_row(tensor) && cst_structured_rank(tensor) > 0 &&
      cst__py_count_nulls(schema, array, 0, 1) == 0) {
    (void)cst_arrow_list_at(schema, array, 0, &begin, &end);
    schema = schema->children[0];
    array = array->children[0];
  }
  return preview_rows(p, schema, array, begin, end);
}

static const struct ArrowSchema *preview_element(const cst_structured *tensor) {
  const struct ArrowSchema *schema = cst_array_schema(cst_structured_array(tensor));
  while (schema->format[0] == '+' && strcmp(schema->format, "+s") != 0) {
    schema = schema->children[0];
  }
  return schema;
}

PyObject *cst__py_structured_preview(PyObject *module, PyObject *args) {
  previewer p = {.state = PyModule_GetState(module)};
  PyObject *object;
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray array;
  if (!PyArg_ParseTuple(args, "O!LLLLL:structured_preview", p.state->structured_type, &object,
                        &p.field, &p.rows, &p.items, &p.values, &p.size)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_view(p.state, object);
  if (p.field >= 0) {
    p.element = preview_element(tensor);
    if (!cst_structured_is_struct(tensor) || p.field >= p.element->n_children) {
      PyErr_SetString(PyExc_IndexError, "there is no such field");
      return NULL;
    }
  }
  if (cst_array_export(cst_structured_array(tensor), &array, &error) != CST_OK) {
    return cst__py_raise(p.state, &error);
  }
  PyObject *rows = preview_tensor(&p, tensor, &array);
  array.release(&array);
  return rows;
}

PyObject *cst__py_type_tree(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  cst_tree_options options = CST_TREE_OPTIONS_INIT;
  PyObject *schema;
  int is_ascii;
  unsigned long long depth;
  unsigned long long fields;
  char *text;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(args, "O!pKK:type_tree", state->arrow_schema_type, &schema, &is_ascii,
                        &depth, &fields)) {
    return NULL;
  }
  options.flags = is_ascii ? CST_TREE_ASCII : 0;
  options.max_depth = (size_t)depth;
  options.max_fields = (size_t)fields;
  if (cst_type_to_text(cst__py_arrow_schema_view(schema), &options, &text, &size, &error) !=
      CST_OK) {
    return cst__py_raise(state, &error);
  }
  PyObject *result = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "strict");
  cst_free(text);
  return result;
}
