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

/* Looks from the place after *place on, which becomes that of the field: of many paths, each is
 * likely to be next to the one before. */
static const struct ArrowSchema *find_field(const struct ArrowSchema *schema, const char *name,
                                            size_t size, int64_t *place) {
  const struct ArrowSchema *parent = struct_below(schema);
  int64_t count = parent != NULL ? parent->n_children : 0;
  int64_t first = *place + 1 < count ? *place + 1 : 0;
  for (int64_t k = 0; k < count; k++) {
    int64_t i = first + k < count ? first + k : first + k - count;
    const char *other = parent->children[i]->name;
    if (other != NULL && strncmp(other, name, size) == 0 && other[size] == '\0') {
      *place = count > 1 ? i : *place;
      return parent->children[i];
    }
  }
  return NULL;
}

/* The field whose name is the longest beginning of the text that is one, up to a dot; `*size` are
 * the bytes of its name. NULL: there is none, and the name goes up to the first dot. */
static const struct ArrowSchema *find_longest(const struct ArrowSchema *schema, const char *text,
                                              size_t *size, int64_t *place) {
  const char *dot = strchr(text, '.');
  *size = strlen(text);
  while (*size > 0) {
    const struct ArrowSchema *field = find_field(schema, text, *size, place);
    if (field != NULL) {
      return field;
    }
    while (*size > 0 && text[*size - 1] != '.') {
      (*size)--;
    }
    *size -= *size > 0;
  }
  *size = dot != NULL ? (size_t)(dot - text) : strlen(text);
  return NULL;
}

/* Cuts the text, which is writable, into steps. */
static void split_text(const struct ArrowSchema *schema, char *text, cst__py_path *path,
                       const char **steps) {
  const char *end = text + strlen(text);
  while (text <= end) {
    size_t size;
    schema = find_longest(schema, text, &size, &path->place);
    steps[path->path.count++] = text;
    text[size] = '\0';
    text += size + 1;
  }
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
    PyErr_SetString(PyExc_ValueError, "a name with a NUL cannot name a field");
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
  return cst__py_path_init_after(path, schema, key, NULL);
}

int cst__py_path_init_after(cst__py_path *path, const struct ArrowSchema *schema, PyObject *key,
                            const cst__py_path *previous) {
  size_t used = 0;
  size_t size = measure(key);
  path->path = (cst_path){NULL, 0};
  path->text = NULL;
  path->place = previous != NULL ? previous->place : -1;
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
    if (result == 0 && strchr(path->text, '.') == NULL) {
      path->path.count = path->text[0] != '\0'; /* a name as a whole, whatever there is */
    } else if (result == 0) {
      split_text(schema, path->text, path, steps);
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
