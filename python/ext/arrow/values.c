/* Arrow slots as Python objects. The data has been validated by whoever made the array.
 *
 * Source: "Arrow columnar format": layouts of the types.
 */
#include <columnstone/arrow.h>
#include <string.h>

#include "ext/arrow/arrow.h"

static const void *buffer(const struct ArrowArray *array, int64_t i) {
  return i < array->n_buffers ? array->buffers[i] : NULL;
}

static bool bit(const void *bits, int64_t i) {
  return (((const uint8_t *)bits)[i >> 3] >> (i & 7)) & 1;
}

static PyObject *text_or_bytes(const struct ArrowSchema *schema, const struct ArrowArray *array,
                               int64_t slot) {
  cst_bytes bytes = cst_arrow_bytes_at(schema, array, slot);
  const char *chars = bytes.data == NULL ? "" : (const char *)bytes.data;
  char letter = schema->format[0] == 'v' ? schema->format[1] : schema->format[0];
  return letter == 'u' || letter == 'U'
             ? PyUnicode_DecodeUTF8(chars, (Py_ssize_t)bytes.size, "strict")
             : PyBytes_FromStringAndSize(chars, (Py_ssize_t)bytes.size);
}

double cst__py_half(uint16_t bits) {
  double fraction = bits & 0x3ff;
  int exponent = (bits >> 10) & 0x1f;
  double value = exponent == 31  ? (fraction == 0 ? Py_HUGE_VAL : Py_HUGE_VAL - Py_HUGE_VAL)
                 : exponent == 0 ? fraction / 16777216.0
                                 : (1.0 + fraction / 1024.0) * (double)(1 << exponent) / 32768.0;
  return bits & 0x8000 ? -value : value;
}

static PyObject *primitive(char letter, const void *values, int64_t at) {
  switch (letter) {
    case 'b':
      return PyBool_FromLong(bit(values, at));
    case 'c':
      return PyLong_FromLong(((const int8_t *)values)[at]);
    case 'C':
      return PyLong_FromLong(((const uint8_t *)values)[at]);
    case 's':
      return PyLong_FromLong(((const int16_t *)values)[at]);
    case 'S':
      return PyLong_FromLong(((const uint16_t *)values)[at]);
    case 'i':
      return PyLong_FromLong(((const int32_t *)values)[at]);
    case 'I':
      return PyLong_FromUnsignedLong(((const uint32_t *)values)[at]);
    case 'l':
      return PyLong_FromLongLong(((const int64_t *)values)[at]);
    case 'L':
      return PyLong_FromUnsignedLongLong(((const uint64_t *)values)[at]);
    case 'e':
      return PyFloat_FromDouble(cst__py_half(((const uint16_t *)values)[at]));
    case 'f':
      return PyFloat_FromDouble((double)((const float *)values)[at]);
    case 'g':
      return PyFloat_FromDouble(((const double *)values)[at]);
    default:
      return NULL;
  }
}

static const char *arrow_field_name(const struct ArrowSchema *schema, int64_t i) {
  const char *name = schema->children[i]->name;
  return name == NULL ? "" : name;
}

/* True if one of the fields after it has the name of field i. */
static bool is_named_again(const struct ArrowSchema *schema, int64_t i) {
  for (int64_t k = i + 1; k < schema->n_children; k++) {
    if (strcmp(arrow_field_name(schema, k), arrow_field_name(schema, i)) == 0) {
      return true;
    }
  }
  return false;
}

PyObject *cst__py_named_once(cst__py_state *state, const struct ArrowSchema *schema,
                             PyObject *dict) {
  int64_t i = 0;
  if (dict == NULL || PyDict_Size(dict) == schema->n_children) {
    return dict;
  }
  Py_DECREF(dict);
  while (i + 1 < schema->n_children && !is_named_again(schema, i)) {
    i++;
  }
  return cst__py_fail(state, CST_INVALID_ARGUMENT, "rename one of them",
                      "two fields are named '%.100s', and a dict holds one",
                      arrow_field_name(schema, i));
}

static PyObject *values_slot(cst__py_state *state, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, int64_t i);

static PyObject *struct_value(cst__py_state *state, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int64_t at) {
  PyObject *dict = PyDict_New();
  for (int64_t i = 0; dict != NULL && i < schema->n_children; i++) {
    PyObject *name = cst__py_arrow_schema_name(schema, i);
    PyObject *value = name ? values_slot(state, schema->children[i], array->children[i], at) : NULL;
    if (value == NULL || PyDict_SetItem(dict, name, value) < 0) {
      Py_CLEAR(dict);
    }
    Py_XDECREF(name);
    Py_XDECREF(value);
  }
  return cst__py_named_once(state, schema, dict);
}

/* Counts items of list views, which may hold the same ones again and again, below each other. */
static int spend_views(cst__py_state *state, int64_t items) {
  state->views_left -= items;
  if (state->views_left >= 0) {
    return 0;
  }
  cst__py_fail(state, CST_LIMIT, "cast the list views to large_list",
               "list views share their items so often that they hold many more than there are");
  return -1;
}

static PyObject *values_slots(cst__py_state *state, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int64_t offset, int64_t length);

static PyObject *nested(cst__py_state *state, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t at) {
  int64_t begin;
  int64_t end;
  if (schema->format[1] == 's') {
    return struct_value(state, schema, array, at);
  }
  if (!cst_arrow_list_at(schema, array, at - array->offset, &begin, &end)) {
    return NULL;
  }
  if (schema->format[1] == 'v' && spend_views(state, end - begin) < 0) {
    return NULL;
  }
  return values_slots(state, schema->children[0], array->children[0], begin, end - begin);
}

/* A time or decimal by columnstone._arrow.scalars; NULL without an exception for what is none. */
static PyObject *values_other(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              int64_t at) {
  cst_arrow_type type;
  if (cst_arrow_type_read(schema, &type, NULL) != CST_OK || type.width == 0 ||
      type.kind == CST_ARROW_INTERVAL) {
    return NULL;
  }
  const char *slot = (const char *)buffer(array, 1) + at * type.width;
  PyObject *module = PyImport_ImportModule("columnstone._arrow.scalars");
  PyObject *value = module == NULL ? NULL
                                   : PyObject_CallMethod(module, "value_of", "sy#", schema->format,
                                                         slot, (Py_ssize_t)type.width);
  Py_XDECREF(module);
  if (value == Py_NotImplemented) {
    Py_CLEAR(value);
  }
  return value;
}

static PyObject *present(cst__py_state *state, const struct ArrowSchema *schema,
                         const struct ArrowArray *array, int64_t at) {
  const char *format = schema->format;
  switch (format[0]) {
    case 'z':
    case 'Z':
    case 'u':
    case 'U':
    case 'v':
    case 'w':
      return text_or_bytes(schema, array, at - array->offset);
    case '+':
      return nested(state, schema, array, at);
    default:
      return format[1] == '\0' ? primitive(format[0], buffer(array, 1), at)
                               : values_other(schema, array, at);
  }
}

static PyObject *values_slot(cst__py_state *state, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, int64_t i) {
  int64_t at = array->offset + i;
  if (cst_arrow_is_null(schema, array, i)) {
    Py_RETURN_NONE;
  }
  PyObject *value = NULL;
  if (schema->dictionary == NULL) {
    value = present(state, schema, array, at);
  } else {
    PyObject *index = primitive(schema->format[0], buffer(array, 1), at);
    int64_t slot = index == NULL ? -1 : PyLong_AsLongLong(index);
    Py_XDECREF(index);
    if (slot >= 0) {
      value = values_slot(state, schema->dictionary, array->dictionary, slot);
    }
  }
  if (value == NULL && PyErr_Occurred() == NULL) {
    const char *hint = schema->format[0] == 't'
                           ? "Python's times hold microseconds, of the years 1 to 9999: read a "
                             "coarser unit, or convert with pyarrow: pyarrow.record_batch(batch)"
                           : "convert the batch with pyarrow: pyarrow.record_batch(batch)";
    cst__py_fail(state, CST_UNSUPPORTED, hint,
                 "values of the Arrow type '%.40s' cannot become Python objects", schema->format);
  }
  return value;
}

static PyObject *values_slots(cst__py_state *state, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int64_t offset, int64_t length) {
  PyObject *list = PyList_New((Py_ssize_t)length);
  for (int64_t i = 0; list != NULL && i < length; i++) {
    PyObject *value = values_slot(state, schema, array, offset + i);
    if (value == NULL || PyList_SetItem(list, (Py_ssize_t)i, value) < 0 ||
        PyErr_CheckSignals() < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* ---- the whole ---- */

/* The most items that list views may hold together, of an array and all below it; as where they are
 * opened. */
static int64_t most_view_items(const struct ArrowSchema *schema, const struct ArrowArray *array) {
  int64_t most = 0;
  if (schema->format[0] == '+' && schema->format[1] == 'v') {
    int64_t slots = array->length + array->children[0]->length;
    most = (slots < INT64_MAX / 256 ? slots * 64 : INT64_MAX / 4) + ((int64_t)1 << 20);
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    int64_t below = most_view_items(schema->children[i], array->children[i]);
    most = most < INT64_MAX - below ? most + below : INT64_MAX;
  }
  return most;
}

PyObject *cst__py_value(cst__py_state *state, const struct ArrowSchema *schema,
                        const struct ArrowArray *array, int64_t i) {
  int64_t outer = state->views_left; /* a handler of a signal may convert values, too */
  state->views_left = most_view_items(schema, array);
  PyObject *value = values_slot(state, schema, array, i);
  state->views_left = outer;
  return value;
}

PyObject *cst__py_values(cst__py_state *state, const struct ArrowSchema *schema,
                         const struct ArrowArray *array, int64_t offset, int64_t length) {
  int64_t outer = state->views_left;
  state->views_left = most_view_items(schema, array);
  PyObject *values = values_slots(state, schema, array, offset, length);
  state->views_left = outer;
  return values;
}
