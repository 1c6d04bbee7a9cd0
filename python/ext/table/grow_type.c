/* Columns of a given type: which types values can be made of. */
#include <columnstone/arrow.h>

#include "ext/table/grow.h"

/* The kind of the values of a type; false if columns of it are not made of values: of strings and
 * lists, one layout is. */
static bool kind_of(const cst_arrow_type *type, cst__py_kind *kind) {
  static const cst__py_kind kinds[] = {
      [CST_ARROW_NULL] = CST__PY_NULL,         [CST_ARROW_BOOL] = CST__PY_BOOL,
      [CST_ARROW_INT] = CST__PY_INT,           [CST_ARROW_UINT] = CST__PY_INT,
      [CST_ARROW_FLOAT] = CST__PY_FLOAT,       [CST_ARROW_BINARY] = CST__PY_BYTES,
      [CST_ARROW_STRING] = CST__PY_TEXT,       [CST_ARROW_LIST] = CST__PY_LIST,
      [CST_ARROW_FIXED_LIST] = CST__PY_LIST,   [CST_ARROW_STRUCT] = CST__PY_STRUCT,
      [CST_ARROW_DATE] = CST__PY_DATE,         [CST_ARROW_TIMESTAMP] = CST__PY_INSTANT,
      [CST_ARROW_DURATION] = CST__PY_DURATION,
  };
  switch (type->kind) {
    case CST_ARROW_BINARY:
    case CST_ARROW_STRING:
    case CST_ARROW_LIST:
      if (type->is_view || type->offset_width != 8) {
        return false;
      }
      break;
    case CST_ARROW_DATE:
      if (type->unit != 'D') {
        return false;
      }
      break;
    case CST_ARROW_OTHER:
    case CST_ARROW_FIXED_BINARY:
    case CST_ARROW_MAP:
    case CST_ARROW_TIME:
    case CST_ARROW_INTERVAL:
    case CST_ARROW_DECIMAL:
      return false;
    default:
      break;
  }
  bool is_local = type->kind == CST_ARROW_TIMESTAMP && type->time_zone[0] == '\0';
  *kind = is_local ? CST__PY_TIMESTAMP : kinds[type->kind];
  return true;
}

static PyObject *field_name(const struct ArrowSchema *type) {
  const char *text = type->name == NULL ? "" : type->name;
  PyObject *name = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
  if (name != NULL) {
    PyUnicode_InternInPlace(&name); /* as the keys of dicts in source code are */
  }
  return name;
}

static int set_child(cst__py_column *column, const struct ArrowSchema *type,
                     const cst__py_column **failed) {
  PyObject *name = column->kind == CST__PY_STRUCT ? field_name(type) : NULL;
  if (column->kind == CST__PY_STRUCT && name == NULL) {
    return -1;
  }
  cst__py_column *child = cst__py_column_new_child(column, name);
  Py_XDECREF(name);
  return child == NULL ? -1 : cst__py_column_set_type(child, type, failed);
}

int cst__py_column_set_type(cst__py_column *column, const struct ArrowSchema *type,
                            const cst__py_column **failed) {
  cst__py_kind kind = CST__PY_NULL;
  cst_arrow_type read;
  if (cst_arrow_type_read(type, &read, NULL) != CST_OK || type->dictionary != NULL ||
      !kind_of(&read, &kind)) {
    *failed = column;
    return 1;
  }
  if (read.kind == CST_ARROW_FIXED_LIST) {
    column->fixed_size = read.num_items;
  }
  if (cst__py_column_become(column, kind, '\0', -1) < 0) {
    return -1;
  }
  column->letter = kind >= CST__PY_BOOL && kind <= CST__PY_FLOAT ? type->format[0] : '\0';
  column->is_required = (type->flags & ARROW_FLAG_NULLABLE) == 0;
  for (int64_t i = 0; i < type->n_children; i++) {
    int result = set_child(column, type->children[i], failed);
    if (result != 0) {
      return result;
    }
  }
  column->is_closed = true;
  column->type = type;
  return 0;
}
