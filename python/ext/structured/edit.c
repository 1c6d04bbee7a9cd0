/* Fields that change: the paths and values of Python as the library takes them. */
#include <stdlib.h>

#include "ext/structured/structured.h"
#include "ext/table/table.h"

/* Paths of one call. */
typedef struct path_list {
  cst__py_path *items;
  Py_ssize_t count;
} path_list;

static void path_list_reset(path_list *list) {
  for (Py_ssize_t i = 0; i < list->count; i++) {
    cst__py_path_reset(&list->items[i]);
  }
  free(list->items);
}

/* Of a tuple of paths. */
static int path_list_init(path_list *list, const cst_structured *tensor, PyObject *paths) {
  const struct ArrowSchema *schema = cst_array_schema(cst_structured_array(tensor));
  Py_ssize_t count = PyTuple_Size(paths);
  list->count = 0;
  list->items = malloc(((size_t)count + 1) * sizeof *list->items);
  if (list->items == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  for (; list->count < count; list->count++) {
    PyObject *path = PyTuple_GetItem(paths, list->count);
    cst__py_path *item = &list->items[list->count];
    if (cst__py_path_init_after(item, schema, path, list->count > 0 ? item - 1 : NULL) < 0) {
      path_list_reset(list);
      return -1;
    }
  }
  return 0;
}

/* ---- with_updates, without ---- */

static int fill_updates(cst__py_state *state, const path_list *paths, PyObject *values,
                        cst_field_update *updates) {
  for (Py_ssize_t i = 0; i < paths->count; i++) {
    PyObject *value = PyTuple_GetItem(values, i);
    updates[i] = (cst_field_update){paths->items[i].path, NULL};
    if (value != Py_None) {
      updates[i].value = cst__py_structured_need(state, value);
      if (updates[i].value == NULL) {
        return -1;
      }
    }
  }
  return 0;
}

static PyObject *edit_update(cst__py_state *state, const cst_structured *tensor,
                             const path_list *paths, PyObject *values) {
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  cst_field_update *updates = malloc(((size_t)paths->count + 1) * sizeof *updates);
  if (updates == NULL) {
    return PyErr_NoMemory();
  }
  if (fill_updates(state, paths, values, updates) < 0) {
    free(updates);
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_update(tensor, updates, (size_t)paths->count, &made, &error);
  Py_END_ALLOW_THREADS
  free(updates);
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_update(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *paths;
  PyObject *values;
  path_list list;
  if (!PyArg_ParseTuple(args, "OO!O!:structured_update", &object, &PyTuple_Type, &paths,
                        &PyTuple_Type, &values)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  if (tensor == NULL || path_list_init(&list, tensor, paths) < 0) {
    return NULL;
  }
  PyObject *result = NULL;
  if (PyTuple_Size(values) == list.count) {
    result = edit_update(state, tensor, &list, values);
  } else {
    PyErr_SetString(PyExc_ValueError, "as many values as paths are needed");
  }
  path_list_reset(&list);
  return result;
}

/* ---- with_only ---- */

PyObject *cst__py_structured_only(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *paths;
  path_list list;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO!:structured_only", &object, &PyTuple_Type, &paths)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  if (tensor == NULL || path_list_init(&list, tensor, paths) < 0) {
    return NULL;
  }
  cst_path *plain = malloc(((size_t)list.count + 1) * sizeof *plain);
  if (plain == NULL) {
    path_list_reset(&list);
    return PyErr_NoMemory();
  }
  for (Py_ssize_t i = 0; i < list.count; i++) {
    plain[i] = list.items[i].path;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_only(tensor, plain, (size_t)list.count, &made, &error);
  Py_END_ALLOW_THREADS
  free(plain);
  path_list_reset(&list);
  return cst__py_structured_finish(state, status, &error, made);
}

/* ---- apply ---- */

PyObject *cst__py_structured_with_elements(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *elements;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO:structured_with_elements", &object, &elements)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  const cst_array *array = tensor == NULL ? NULL : cst__py_table_handle_of(state, elements);
  if (array == NULL) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = cst_structured_with_elements(tensor, array, &made, &error);
  Py_END_ALLOW_THREADS
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_steps(PyObject *module, PyObject *args) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *key;
  cst__py_path path;
  if (!PyArg_ParseTuple(args, "OO:structured_steps", &object, &key)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  if (tensor == NULL ||
      cst__py_path_init(&path, cst_array_schema(cst_structured_array(tensor)), key) < 0) {
    return NULL;
  }
  PyObject *steps = PyTuple_New((Py_ssize_t)path.path.count);
  for (size_t i = 0; steps != NULL && i < path.path.count; i++) {
    PyObject *step = PyUnicode_FromString(path.path.steps[i]);
    if (step == NULL || PyTuple_SetItem(steps, (Py_ssize_t)i, step) < 0) {
      Py_CLEAR(steps);
    }
  }
  cst__py_path_reset(&path);
  return steps;
}
