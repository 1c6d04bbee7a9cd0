/* Paths from Python: "a.b" or ("a", "b"). */
#include <stdlib.h>
#include <string.h>

#include "ext/structured/structured.h"

/* The struct below the lists of a type; NULL if there is another type. */
static const struct ArrowSchema *struct_below(const struct ArrowSchema *schema) {
  while (schema != NULL && schema->format[0] == '+' && schema->format[1] != 's') {
    schema = schema->n_children == 1 ? schema->children[0] : NULL;
  }
  return schema != NULL && strcmp(schema->format, "+s") == 0 ? schema : NULL;
}

static const struct ArrowSchema *find_field(const struct ArrowSchema *schema, const char *name,
                                            size_t size) {
  const struct ArrowSchema *parent = struct_below(schema);
  for (int64_t i = 0; parent != NULL && i < parent->n_children; i++) {
    const char *other = parent->children[i]->name;
    if (other != NULL && strncmp(other, name, size) == 0 && other[size] == '\0') {
      return parent->children[i];
    }
  }
  return NULL;
}

/* How many bytes of the text are a name within the type; 0: there is none. */
static size_t longest_name(const struct ArrowSchema *schema, const char *text, size_t size) {
  while (size > 0 && find_field(schema, text, size) == NULL) {
    while (size > 0 && text[size - 1] != '.') {
      size--;
    }
    size -= size > 0;
  }
  return size;
}

/* Cuts the text, which is writable, into steps; gives the type below. */
static const struct ArrowSchema *split_text(const struct ArrowSchema *schema, char *text,
                                            cst_path *path, const char **steps) {
  char *end = text + strlen(text);
  while (text <= end) {
    size_t size = longest_name(schema, text, (size_t)(end - text));
    if (size == 0) {
      const char *dot = strchr(text, '.');
      size = dot != NULL ? (size_t)(dot - text) : (size_t)(end - text);
    }
    schema = find_field(schema, text, size);
    steps[path->count++] = text;
    text[size] = '\0';
    text += size + 1;
  }
  return schema;
}

static int add_text(cst__py_path *path, const char **steps, PyObject *item, size_t *used) {
  Py_ssize_t size;
  const char *text = PyUnicode_Check(item) ? PyUnicode_AsUTF8AndSize(item, &size) : NULL;
  if (text == NULL) {
    if (PyErr_Occurred() == NULL) {
      PyErr_SetString(PyExc_TypeError, "a path is a str, or a tuple of str");
    }
    return -1;
  }
  if (strlen(text) != (size_t)size) {
    PyErr_SetString(PyExc_ValueError, "a name with a NUL names no field");
    return -1;
  }
  steps[path->path.count++] = memcpy(path->text + *used, text, (size_t)size + 1);
  *used += (size_t)size + 1;
  return 0;
}

/* Bytes of all texts, which is also the most steps there can be; 0 with an exception. */
static size_t measure(PyObject *key) {
  Py_ssize_t count = PyTuple_Check(key) ? PyTuple_Size(key) : 1;
  size_t bytes = 1;
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *item = PyTuple_Check(key) ? PyTuple_GetItem(key, i) : key;
    Py_ssize_t size = 0;
    if (PyUnicode_Check(item) && PyUnicode_AsUTF8AndSize(item, &size) == NULL) {
      return 0;
    }
    bytes += (size_t)size + 1;
  }
  return bytes;
}

int cst__py_path_init(cst__py_path *path, const struct ArrowSchema *schema, PyObject *key) {
  size_t used = 0;
  size_t size = measure(key);
  path->path = (cst_path){NULL, 0};
  path->text = NULL;
  if (size == 0) {
    return -1;
  }
  bool is_short = size <= CST__PY_SHORT_PATH;
  const char **steps = is_short ? path->few_steps : malloc(size * sizeof *steps);
  path->text = is_short ? path->short_text : malloc(size);
  path->path.steps = steps;
  if (steps == NULL || path->text == NULL) {
    cst__py_path_reset(path);
    PyErr_NoMemory();
    return -1;
  }
  int result = 0;
  if (PyTuple_Check(key)) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(key) && result == 0; i++) {
      result = add_text(path, steps, PyTuple_GetItem(key, i), &used);
    }
  } else {
    result = add_text(path, steps, key, &used);
    path->path.count = 0;
    if (result == 0 && path->text[0] != '\0') {
      split_text(schema, path->text, &path->path, steps);
    }
  }
  if (result < 0) {
    cst__py_path_reset(path);
  }
  return result;
}

void cst__py_path_reset(cst__py_path *path) {
  if (path->path.steps != path->few_steps) {
    free((void *)(uintptr_t)path->path.steps);
    free(path->text);
  }
  path->path = (cst_path){NULL, 0};
  path->text = NULL;
}
