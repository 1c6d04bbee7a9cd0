/* The options of a source: those that the library knows by name (cst_source_option_get), and a few
 * by hand, which are Python objects. The package checks their types (columnstone._api.options)
 * before they come here.
 */
#include "ext/arrow/arrow.h"
#include "ext/query/query.h"
#include "ext/schema/schema.h"
#include "ext/source/source.h"

typedef int (*set_object)(cst__py_options *o, cst__py_state *state, PyObject *value);

/* ---- by name ---- */

/* Sets an option to a text, a number or a switch of Python's. A text is borrowed; None leaves the
 * usual value. */
static int set_plain(cst__py_options *o, cst__py_state *state, const cst_option_info *info,
                     PyObject *value) {
  static const char *const truths[] = {"false", "true"};
  cst_error error = CST_ERROR_INIT;
  PyObject *made = NULL;
  const char *text = NULL;
  Py_ssize_t size = 0;
  if (value == Py_None) {
    return 0;
  }
  if (info->kind == CST_OPTION_SWITCH) {
    int is_true = PyObject_IsTrue(value);
    text = is_true < 0 ? NULL : truths[is_true];
    size = is_true < 0 ? 0 : (Py_ssize_t)strlen(text);
  } else {
    made = info->kind == CST_OPTION_TEXT ? Py_NewRef(value) : PyObject_Str(value);
    text = made == NULL ? NULL : PyUnicode_AsUTF8AndSize(made, &size);
  }
  if (text != NULL && strlen(text) != (size_t)size) {
    PyErr_SetString(PyExc_ValueError, "embedded null character");
    text = NULL;
  }
  cst_status status =
      text == NULL ? CST_STATE : cst_source_options_set(&o->options, info->name, text, &error);
  Py_XDECREF(made); /* numbers and words are read; a text is that of the dict */
  if (text != NULL && status != CST_OK) {
    cst__py_raise(state, &error);
  }
  return status == CST_OK ? 0 : -1;
}

/* ---- by hand ---- */

static int set_on_error(cst__py_options *o, cst__py_state *state, PyObject *value) {
  (void)state;
  if (value == Py_None) {
    return 0;
  }
  int policy;
  if (!PyArg_ParseTuple(value, "OOi:on_error", &o->make_dropped, &o->on_dropped, &policy)) {
    return -1;
  }
  o->options.on_error = (cst_on_error)policy;
  o->options.on_dropped = cst__py_on_dropped;
  return 0;
}

static int set_types(cst__py_options *o, cst__py_state *state, PyObject *value) {
  (void)state;
  if (value == Py_None) {
    return 0;
  }
  o->options.types = &o->types;
  return cst__py_import_schema(value, &o->types);
}

static int set_columns(cst__py_options *o, cst__py_state *state, PyObject *value) {
  (void)state;
  int result = cst__py_names_init(&o->columns, value);
  o->options.columns = o->columns.names;
  o->options.num_columns = o->columns.count;
  return result;
}

static int set_format_options(cst__py_options *o, cst__py_state *state, PyObject *value) {
  (void)state;
  int result = cst__py_option_list_init(&o->format_options, value);
  o->options.format_options = o->format_options.options;
  o->options.num_format_options = o->format_options.count;
  return result;
}

static int set_message(cst__py_options *o, cst__py_state *state, PyObject *value) {
  int result = cst__py_message_init(&o->message, state, value);
  o->options.message = cst__py_message_view(&o->message);
  return result;
}

static int set_view(cst__py_options *o, cst__py_state *state, PyObject *value) {
  if (cst__py_view_arg(state, value, &o->options.view) < 0) {
    return -1;
  }
  if (value != Py_None && PyTuple_Size(cst__py_view_functions(value)) > 0) {
    o->functions = cst__py_view_functions(value);
  }
  return 0;
}

static int set_schema(cst__py_options *o, cst__py_state *state, PyObject *value) {
  return cst__py_schema_arg(state, value, &o->options.schema);
}

static const struct {
  cst_option_info info; /* of one that the library knows too, what it says */
  const char *kind;
  set_object set;
} objects[] = {
    {{.name = "schema", .reads = true}, "schema", set_schema},
    {{.name = "columns", .reads = true}, "names", set_columns},
    {{.name = "format_options", .reads = true}, "format_options", set_format_options},
    {{.name = "types", .reads = true}, "types", set_types},
    {{.name = "on_error", .words = {"raise", "skip", "null"}, .reads = true},
     "on_error",
     set_on_error},
    {{.name = "message", .reads = true}, "message", set_message},
    {{.name = "view", .reads = true}, "view", set_view},
};

enum { NUM_OBJECTS = sizeof objects / sizeof *objects };

static bool is_object(const char *name) {
  size_t i = 0;
  while (i < NUM_OBJECTS && strcmp(objects[i].info.name, name) != 0) {
    i++;
  }
  return i < NUM_OBJECTS;
}

/* ---- all of them ---- */

PyObject *cst__py_options_told(void) {
  PyObject *dict = PyDict_New();
  const cst_option_info *info;
  for (size_t i = 0; dict != NULL && (info = cst_source_option_get(i)) != NULL; i++) {
    if (cst__py_tell_option(dict, info, NULL) < 0) {
      Py_CLEAR(dict);
    }
  }
  for (size_t i = 0; dict != NULL && i < NUM_OBJECTS; i++) {
    if (cst__py_tell_option(dict, &objects[i].info, objects[i].kind) < 0) {
      Py_CLEAR(dict);
    }
  }
  return dict;
}

/* The value of an option in the dict, which holds it; NULL with an exception. */
static PyObject *value_of(PyObject *dict, const char *name) {
  PyObject *value = PyMapping_GetItemString(dict, name);
  Py_XDECREF(value);
  return value;
}

static int set_options(cst__py_options *o, cst__py_state *state, PyObject *dict) {
  const cst_option_info *info;
  Py_ssize_t count = NUM_OBJECTS;
  for (size_t i = 0; i < NUM_OBJECTS; i++) {
    PyObject *value = value_of(dict, objects[i].info.name);
    if (value == NULL || objects[i].set(o, state, value) < 0) {
      return -1;
    }
  }
  for (size_t i = 0; (info = cst_source_option_get(i)) != NULL; i++) {
    if (is_object(info->name)) {
      continue;
    }
    PyObject *value = value_of(dict, info->name);
    if (value == NULL || set_plain(o, state, info, value) < 0) {
      return -1;
    }
    count++;
  }
  if (PyDict_Size(dict) != count) {
    PyErr_SetString(PyExc_TypeError, "there is an option that no source has");
    return -1;
  }
  return 0;
}

int cst__py_options_init(cst__py_options *o, cst__py_state *state, PyObject *dict) {
  *o = (cst__py_options){.options = CST_SOURCE_OPTIONS_INIT};
  return set_options(o, state, dict);
}

void cst__py_options_reset(cst__py_options *o) {
  cst__py_names_reset(&o->columns);
  cst__py_option_list_reset(&o->format_options);
  if (o->types.release != NULL) {
    o->types.release(&o->types);
  }
}
