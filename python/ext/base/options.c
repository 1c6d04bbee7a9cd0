/* Arguments that several types take: lists of names and of options, and the options of a source or
 * a sink. The .py files have made them exact. */
#include <stdlib.h>

#include "ext/base/base.h"

int cst__py_names_init(cst__py_names *names, PyObject *tuple) {
  names->names = NULL;
  names->count = 0;
  if (tuple == Py_None) {
    return 0;
  }
  Py_ssize_t count = PyTuple_Size(tuple);
  names->names = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *names->names);
  if (names->names == NULL) {
    return count < 0 ? -1 : (PyErr_NoMemory(), -1);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    Py_ssize_t size;
    const char *name = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), &size);
    if (name == NULL || strlen(name) != (size_t)size) {
      if (name != NULL) {
        PyErr_SetString(PyExc_ValueError, "a column's name holds a NUL character");
      }
      cst__py_names_reset(names);
      return -1;
    }
    names->names[names->count++] = name;
  }
  return 0;
}

void cst__py_names_reset(cst__py_names *names) {
  free(names->names);
  names->names = NULL;
}

int cst__py_option_list_init(cst__py_option_list *options, PyObject *tuple) {
  *options = (cst__py_option_list){.options = NULL};
  Py_ssize_t count = PyTuple_Size(tuple);
  options->options = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *options->options);
  if (options->options == NULL) {
    return count < 0 ? -1 : (PyErr_NoMemory(), -1);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    cst_option *option = &options->options[i];
    PyObject *item = PyTuple_GetItem(tuple, i);
    if (item == NULL ||
        !PyArg_ParseTuple(item, "ss|z:options", &option->name, &option->value, &option->format)) {
      cst__py_option_list_reset(options);
      return -1;
    }
    options->count++;
  }
  return 0;
}

void cst__py_option_list_reset(cst__py_option_list *options) {
  free(options->options);
  *options = (cst__py_option_list){.options = NULL};
}

/* ---- what they are ---- */

int cst__py_dict_add(PyObject *dict, const char *name, PyObject *value) {
  int result = value == NULL ? -1 : PyDict_SetItemString(dict, name, value);
  Py_XDECREF(value);
  return result;
}

static const char *const kind_names[] = {"word",      "switch", "text", "number",
                                         "character", "names",  "real"};

/* The words of an option of two or more. */
static PyObject *words_of(const cst_option_info *info) {
  Py_ssize_t count = 0;
  while (count < CST_OPTION_WORDS && info->words[count] != NULL) {
    count++;
  }
  PyObject *tuple = PyTuple_New(count);
  for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
    PyObject *word = PyUnicode_FromString(info->words[i]);
    if (word == NULL || PyTuple_SetItem(tuple, i, word) < 0) {
      Py_CLEAR(tuple);
    }
  }
  return tuple;
}

int cst__py_tell_option(PyObject *dict, const cst_option_info *info, const char *kind) {
  PyObject *words = words_of(info);
  PyObject *told =
      words == NULL
          ? NULL
          : Py_BuildValue("(szNNzNLL)", kind != NULL ? kind : kind_names[info->kind], info->usual,
                          PyBool_FromLong(info->reads), PyBool_FromLong(info->writes), info->help,
                          words, (long long)info->least, (long long)info->most);
  return cst__py_dict_add(dict, info->name, told);
}

PyObject *cst__py_options_told(const cst__py_option_table *table) {
  PyObject *dict = PyDict_New();
  const cst_option_info *info;
  for (size_t i = 0; dict != NULL && (info = table->get(i)) != NULL; i++) {
    if (cst__py_tell_option(dict, info, NULL) < 0) {
      Py_CLEAR(dict);
    }
  }
  for (size_t i = 0; dict != NULL && i < table->num_objects; i++) {
    if (cst__py_tell_option(dict, &table->objects[i].info, table->objects[i].kind) < 0) {
      Py_CLEAR(dict);
    }
  }
  return dict;
}

/* ---- setting them ---- */

/* Sets an option to a text, a number or a switch of Python's. A text is borrowed; None leaves the
 * usual value. */
static int set_plain(const cst__py_option_table *table, void *owner, cst__py_state *state,
                     const cst_option_info *info, PyObject *value) {
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
  cst_status status = text == NULL ? CST_STATE : table->set(owner, info->name, text, &error);
  Py_XDECREF(made); /* numbers and words are read; a text is that of the dict */
  if (text != NULL && status != CST_OK) {
    cst__py_raise(state, &error);
  }
  return status == CST_OK ? 0 : -1;
}

static bool is_object(const cst__py_option_table *table, const char *name) {
  size_t i = 0;
  while (i < table->num_objects && strcmp(table->objects[i].info.name, name) != 0) {
    i++;
  }
  return i < table->num_objects;
}

/* The value of an option in the dict, which holds it; NULL with an exception. */
static PyObject *value_of(PyObject *dict, const char *name) {
  PyObject *value = PyMapping_GetItemString(dict, name);
  Py_XDECREF(value);
  return value;
}

int cst__py_options_set(const cst__py_option_table *table, void *owner, cst__py_state *state,
                        PyObject *dict) {
  const cst_option_info *info;
  Py_ssize_t count = (Py_ssize_t)table->num_objects;
  for (size_t i = 0; i < table->num_objects; i++) {
    PyObject *value = value_of(dict, table->objects[i].info.name);
    if (value == NULL || table->objects[i].set(owner, state, value) < 0) {
      return -1;
    }
  }
  for (size_t i = 0; (info = table->get(i)) != NULL; i++) {
    if (is_object(table, info->name)) {
      continue;
    }
    PyObject *value = value_of(dict, info->name);
    if (value == NULL || set_plain(table, owner, state, info, value) < 0) {
      return -1;
    }
    count++;
  }
  if (PyDict_Size(dict) != count) {
    PyErr_SetString(PyExc_TypeError, "unknown option");
    return -1;
  }
  return 0;
}
