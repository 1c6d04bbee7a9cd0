/* Columns of a given type: which types values can be made of. */
#include <stdlib.h>

#include "ext/table/grow.h"

/* The kind of the values of a type, which has one. */
static bool kind_of(const char *format, cst__py_kind *kind) {
  static const struct {
    const char *format;
    cst__py_kind kind;
    bool is_prefix; /* followed by more */
  } kinds[] = {
      {"n", CST__PY_NULL, false},     {"b", CST__PY_BOOL, false},    {"tdD", CST__PY_DATE, false},
      {"U", CST__PY_TEXT, false},     {"Z", CST__PY_BYTES, false},   {"+L", CST__PY_LIST, false},
      {"+w:", CST__PY_LIST, true},    {"+s", CST__PY_STRUCT, false}, {"ts", CST__PY_INSTANT, true},
      {"tD", CST__PY_DURATION, true},
  };
  if (format[0] != '\0' && format[1] == '\0' && strchr("cCsSiIlLefg", format[0]) != NULL) {
    *kind = strchr("efg", format[0]) != NULL ? CST__PY_FLOAT : CST__PY_INT;
    return true;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t size = strlen(kinds[i].format);
    if (kinds[i].is_prefix ? strncmp(format, kinds[i].format, size) == 0
                           : strcmp(format, kinds[i].format) == 0) {
      bool has_zone = strncmp(format, "ts", 2) != 0 || format[4] != '\0';
      *kind = has_zone ? kinds[i].kind : CST__PY_TIMESTAMP;
      return true;
    }
  }
  return false;
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
  if (type->dictionary != NULL || !kind_of(type->format, &kind)) {
    *failed = column;
    return 1;
  }
  if (strncmp(type->format, "+w:", 3) == 0) {
    column->fixed_size = strtoll(type->format + 3, NULL, 10);
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
