/* ArrowSchema: the Arrow type of a batch or column as a Python object. */
#include <stdlib.h>

#include "ext/arrow/arrow.h"

typedef struct arrow_schema {
  PyObject_HEAD cst__py_shared *shared;
  const struct ArrowSchema *node;
} arrow_schema;

static PyObject *arrow_schema_make(cst__py_state *state, cst__py_shared *shared,
                                   const struct ArrowSchema *node) {
  arrow_schema *self = PyObject_New(arrow_schema, state->arrow_schema_type);
  if (self == NULL) {
    cst__py_shared_release(shared);
    return NULL;
  }
  self->shared = shared;
  self->node = node;
  return (PyObject *)self;
}

PyObject *cst__py_arrow_schema_new(cst__py_state *state, struct ArrowSchema *schema) {
  cst__py_shared *shared = cst__py_shared_new(schema, NULL);
  if (shared == NULL) {
    schema->release(schema);
    return PyErr_NoMemory();
  }
  return arrow_schema_make(state, shared, cst__py_shared_schema(shared));
}

const struct ArrowSchema *cst__py_arrow_schema_view(PyObject *self) {
  return ((arrow_schema *)self)->node;
}

PyObject *cst__py_arrow_schema_child(PyObject *object, int64_t i) {
  arrow_schema *self = (arrow_schema *)object;
  cst__py_shared_retain(self->shared);
  return arrow_schema_make(cst__py_state_of(object), self->shared, self->node->children[i]);
}

PyObject *cst__py_arrow_schema_name(const struct ArrowSchema *schema, int64_t i) {
  const char *name = schema->children[i]->name;
  return PyUnicode_DecodeUTF8(name ? name : "", (Py_ssize_t)strlen(name ? name : ""),
                              "surrogateescape");
}

static void arrow_schema_dealloc(PyObject *object) {
  cst__py_pending pending = cst__py_put_aside();
  cst__py_shared_release(((arrow_schema *)object)->shared);
  cst__py_put_back(pending);
  cst__py_free(object);
}

static PyObject *get_names(PyObject *object, void *closure) {
  (void)closure;
  const struct ArrowSchema *node = ((arrow_schema *)object)->node;
  PyObject *names = PyList_New(0);
  for (int64_t i = 0; names != NULL && i < node->n_children; i++) {
    PyObject *name = cst__py_arrow_schema_name(node, i);
    if (name == NULL || PyList_Append(names, name) < 0) {
      Py_CLEAR(names);
    }
    Py_XDECREF(name);
  }
  return names;
}

static PyObject *get_format(PyObject *object, void *closure) {
  (void)closure;
  return PyUnicode_FromString(((arrow_schema *)object)->node->format);
}

static PyObject *get_name(PyObject *object, void *closure) {
  (void)closure;
  const char *name = ((arrow_schema *)object)->node->name;
  return PyUnicode_DecodeUTF8(name ? name : "", (Py_ssize_t)strlen(name ? name : ""),
                              "surrogateescape");
}

static PyObject *get_nullable(PyObject *object, void *closure) {
  (void)closure;
  return PyBool_FromLong((((arrow_schema *)object)->node->flags & ARROW_FLAG_NULLABLE) != 0);
}

static PyObject *get_children(PyObject *object, void *closure) {
  (void)closure;
  int64_t count = ((arrow_schema *)object)->node->n_children;
  PyObject *children = PyList_New(0);
  for (int64_t i = 0; children != NULL && i < count; i++) {
    PyObject *child = cst__py_arrow_schema_child(object, i);
    if (child == NULL || PyList_Append(children, child) < 0) {
      Py_CLEAR(children);
    }
    Py_XDECREF(child);
  }
  return children;
}

static PyObject *get_dictionary(PyObject *object, void *closure) {
  (void)closure;
  arrow_schema *self = (arrow_schema *)object;
  if (self->node->dictionary == NULL) {
    Py_RETURN_NONE;
  }
  cst__py_shared_retain(self->shared);
  return arrow_schema_make(cst__py_state_of(object), self->shared, self->node->dictionary);
}

static PyObject *arrow_schema_export_schema(PyObject *object, PyObject *unused) {
  (void)unused;
  arrow_schema *self = (arrow_schema *)object;
  struct ArrowSchema out;
  if (cst__py_shared_export_schema(self->shared, self->node, &out) < 0) {
    return PyErr_NoMemory();
  }
  return cst__py_schema_capsule(&out);
}

/* Types that a human knows better by name than by format letter. */
static const char *type_name(const char *format) {
  static const char *const names[][2] = {
      {"n", "null"},         {"b", "bool"},         {"c", "int8"},         {"C", "uint8"},
      {"s", "int16"},        {"S", "uint16"},       {"i", "int32"},        {"I", "uint32"},
      {"l", "int64"},        {"L", "uint64"},       {"e", "float16"},      {"f", "float32"},
      {"g", "float64"},      {"z", "binary"},       {"Z", "large_binary"}, {"vz", "binary_view"},
      {"u", "string"},       {"U", "large_string"}, {"vu", "string_view"}, {"+l", "list"},
      {"+L", "large_list"},  {"+s", "struct"},      {"+m", "map"},         {"tdD", "date32"},
      {"tdm", "date64"},     {"tts", "time32[s]"},  {"ttm", "time32[ms]"}, {"ttu", "time64[us]"},
      {"ttn", "time64[ns]"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i][0], format) == 0) {
      return names[i][1];
    }
  }
  return strncmp(format, "+w:", 3) == 0 ? "fixed_size_list" : NULL;
}

static PyObject *type_text(const struct ArrowSchema *node);

/* "tsn:UTC" as timestamp[ns, UTC], "tDs" as duration[s]; NULL without an exception: neither. */
static PyObject *moment_text(const char *format) {
  static const char letters[] = "smun";
  static const char *const units[] = {"s", "ms", "us", "ns"};
  const char *unit = format[0] == 't' && format[1] != '\0' && format[2] != '\0'
                         ? strchr(letters, format[2])
                         : NULL;
  if (unit == NULL || (format[1] != 's' && format[1] != 'D')) {
    return NULL;
  }
  const char *name = units[unit - letters];
  if (format[1] == 'D') {
    return PyUnicode_FromFormat("duration[%s]", name);
  }
  const char *zone = format[3] == ':' ? format + 4 : "";
  return PyUnicode_FromFormat("timestamp[%s%s%s]", name, *zone != '\0' ? ", " : "", zone);
}

static PyObject *dictionary_text(const struct ArrowSchema *node) {
  PyObject *values = type_text(node->dictionary);
  PyObject *text = values == NULL ? NULL : PyUnicode_FromFormat("dictionary<%U>", values);
  Py_XDECREF(values);
  return text;
}

static PyObject *child_text(const struct ArrowSchema *node, int64_t i) {
  PyObject *type = type_text(node->children[i]);
  bool named = strcmp(node->format, "+s") == 0;
  if (type == NULL || !named) {
    return type;
  }
  PyObject *name = cst__py_arrow_schema_name(node, i);
  PyObject *text = name == NULL ? NULL : PyUnicode_FromFormat("%U: %U", name, type);
  Py_XDECREF(name);
  Py_DECREF(type);
  return text;
}

static PyObject *children_text(const struct ArrowSchema *node) {
  PyObject *parts = PyList_New(0);
  for (int64_t i = 0; parts != NULL && i < node->n_children; i++) {
    PyObject *text = child_text(node, i);
    if (text == NULL || PyList_Append(parts, text) < 0) {
      Py_CLEAR(parts);
    }
    Py_XDECREF(text);
  }
  PyObject *comma = parts == NULL ? NULL : PyUnicode_FromString(", ");
  PyObject *joined = comma == NULL ? NULL : PyUnicode_Join(comma, parts);
  Py_XDECREF(comma);
  Py_XDECREF(parts);
  return joined;
}

static PyObject *type_text(const struct ArrowSchema *node) {
  if (node->dictionary != NULL) {
    return dictionary_text(node);
  }
  const char *name = type_name(node->format);
  if (name == NULL) {
    PyObject *moment = moment_text(node->format);
    return moment != NULL || PyErr_Occurred() ? moment : PyUnicode_FromFormat("'%s'", node->format);
  }
  if (node->format[0] != '+') {
    return PyUnicode_FromString(name);
  }
  bool is_map = strcmp(node->format, "+m") == 0 && node->n_children == 1;
  PyObject *children = children_text(is_map ? node->children[0] : node);
  if (children == NULL) {
    return NULL;
  }
  bool fixed = strncmp(node->format, "+w:", 3) == 0;
  PyObject *text = fixed ? PyUnicode_FromFormat("%s<%U>[%s]", name, children, node->format + 3)
                         : PyUnicode_FromFormat("%s<%U>", name, children);
  Py_DECREF(children);
  return text;
}

/* The type as a terminal may show it: names and time zones are text of others. */
static PyObject *str(PyObject *object) {
  PyObject *text = type_text(((arrow_schema *)object)->node);
  PyObject *bytes =
      text == NULL ? NULL : PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
  Py_XDECREF(text);
  if (bytes == NULL) {
    return NULL;
  }
  const char *data = PyBytes_AsString(bytes);
  size_t size = (size_t)PyBytes_Size(bytes);
  size_t room = cst_text_escape(NULL, 0, data, size) + 1;
  char *shown = PyMem_Malloc(room);
  PyObject *result = NULL;
  if (shown == NULL) {
    (void)PyErr_NoMemory();
  } else {
    size_t got = cst_text_escape(shown, room, data, size);
    result = PyUnicode_DecodeUTF8(shown, (Py_ssize_t)got, NULL);
  }
  PyMem_Free(shown);
  Py_DECREF(bytes);
  return result;
}

static PyObject *arrow_schema_repr(PyObject *object) {
  PyObject *text = str(object);
  PyObject *result =
      text == NULL ? NULL : PyUnicode_FromFormat("<columnstone.arrow.ArrowSchema %U>", text);
  Py_XDECREF(text);
  return result;
}

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

bool cst__py_arrow_schema_equal(const struct ArrowSchema *a, const struct ArrowSchema *b) {
  if (strcmp(a->format, b->format) != 0 || !same_text(a->name, b->name) ||
      a->n_children != b->n_children || (a->dictionary == NULL) != (b->dictionary == NULL) ||
      (a->flags & ARROW_FLAG_NULLABLE) != (b->flags & ARROW_FLAG_NULLABLE)) {
    return false;
  }
  for (int64_t i = 0; i < a->n_children; i++) {
    if (!cst__py_arrow_schema_equal(a->children[i], b->children[i])) {
      return false;
    }
  }
  return a->dictionary == NULL || cst__py_arrow_schema_equal(a->dictionary, b->dictionary);
}

static PyObject *richcompare(PyObject *a, PyObject *b, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || Py_TYPE(a) != Py_TYPE(b)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  bool same = cst__py_arrow_schema_equal(((arrow_schema *)a)->node, ((arrow_schema *)b)->node);
  return PyBool_FromLong(same == (operation == Py_EQ));
}

static Py_hash_t hash(PyObject *object) {
  PyObject *text = type_text(((arrow_schema *)object)->node);
  Py_hash_t value = text == NULL ? -1 : PyObject_Hash(text);
  Py_XDECREF(text);
  return value;
}

static Py_ssize_t arrow_schema_length(PyObject *object) {
  return (Py_ssize_t)((arrow_schema *)object)->node->n_children;
}

static PyObject *arrow_schema_of_tree(PyObject *type, PyObject *tree) {
  struct ArrowSchema schema;
  return cst__py_arrow_schema_plant(tree, &schema) < 0
             ? NULL
             : cst__py_arrow_schema_new(PyType_GetModuleState((PyTypeObject *)type), &schema);
}

static PyObject *arrow_schema_reduce(PyObject *object, PyObject *unused) {
  (void)unused;
  PyObject *of_tree = PyObject_GetAttrString(object, "_of_tree");
  PyObject *tree =
      of_tree == NULL ? NULL : cst__py_arrow_schema_tree(((arrow_schema *)object)->node);
  if (tree == NULL) {
    Py_XDECREF(of_tree);
    return NULL;
  }
  return Py_BuildValue("(N(N))", of_tree, tree);
}

static PyObject *arrow_schema_repr_html(PyObject *object, PyObject *unused) {
  (void)unused;
  PyObject *module = PyImport_ImportModule("columnstone._arrow.show");
  PyObject *text = module == NULL ? NULL : PyObject_CallMethod(module, "schema_html", "O", object);
  Py_XDECREF(module);
  return text;
}

static PyMethodDef methods[] = {
    {"_repr_html_", arrow_schema_repr_html, METH_NOARGS,
     PyDoc_STR("_repr_html_($self)\n--\n\nA table for notebooks.")},
    {"__arrow_c_schema__", arrow_schema_export_schema, METH_NOARGS,
     PyDoc_STR("__arrow_c_schema__($self)\n--\n\nThe schema as an Arrow PyCapsule, for "
               "pyarrow.schema(...) and others.")},
    {"__reduce__", arrow_schema_reduce, METH_NOARGS, NULL},
    {"_of_tree", arrow_schema_of_tree, METH_O | METH_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef getset[] = {
    {"names", get_names, NULL, PyDoc_STR("Names of the fields, in order."), NULL},
    {"name", get_name, NULL, PyDoc_STR("The name of the field; '' for a whole batch."), NULL},
    {"format", get_format, NULL, PyDoc_STR("Format string of the Arrow C data interface."), NULL},
    {"nullable", get_nullable, NULL, PyDoc_STR("Whether the field may be null."), NULL},
    {"children", get_children, NULL, PyDoc_STR("The fields as ArrowSchema objects."), NULL},
    {"dictionary", get_dictionary, NULL,
     PyDoc_STR("The type of a dictionary's values, which its integers refer to; None: not a\n"
               "dictionary."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "An Arrow schema or field: names and types of columns.\n\n"
                "Any consumer of the Arrow PyCapsule interface accepts it, for example\n"
                "``pyarrow.schema(source.arrow_schema)``. Equality compares names, types and\n"
                "nullability, but not metadata."},
    {Py_tp_dealloc, arrow_schema_dealloc},
    {Py_tp_repr, arrow_schema_repr},
    {Py_tp_str, str},
    {Py_tp_richcompare, richcompare},
    {Py_tp_hash, hash},
    {Py_sq_length, arrow_schema_length},
    {Py_tp_methods, methods},
    {Py_tp_getset, getset},
    {0, NULL},
};

PyType_Spec cst__py_arrow_schema_spec = {
    .name = "columnstone.arrow.ArrowSchema",
    .basicsize = sizeof(arrow_schema),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
