/* promote, broadcast, promote_and_broadcast: the copies of Python as the library takes them. */
#include <stdlib.h>
#include <string.h>

#include "ext/structured/structured.h"

typedef cst_status (*transfer_call)(const cst_structured *tensor, const cst_field_copy *copies,
                                    size_t count, cst_structured **out, cst_error *error);

typedef struct transfer_list {
  cst_field_copy *copies;
  cst__py_path *paths; /* two of each copy */
  Py_ssize_t count;
} transfer_list;

static void transfer_reset(transfer_list *list) {
  for (Py_ssize_t i = 0; i < 2 * list->count; i++) {
    cst__py_path_reset(&list->paths[i]);
  }
  free(list->paths);
  free(list->copies);
}

/* The structs above those of the field, where a promotion ends if nobody says where. */
static int default_target(cst__py_state *state, const cst_path *from, cst_path *to) {
  if (from->count < 2) {
    cst__py_fail(state, CST_INVALID_ARGUMENT, "",
                 "there is nothing above the structs of this field");
    return -1;
  }
  *to = (cst_path){from->steps, from->count - 2};
  return 0;
}

/* (path, structs or None, name or None). */
static int fill_copy(cst__py_state *state, const struct ArrowSchema *schema, PyObject *item,
                     cst__py_path *paths, cst_field_copy *copy) {
  PyObject *from;
  PyObject *to;
  const char *name = NULL;
  if (!PyArg_ParseTuple(item, "OOz", &from, &to, &name) ||
      cst__py_path_init(&paths[0], schema, from) < 0) {
    return -1;
  }
  copy->from = paths[0].path;
  copy->name = name;
  if (to == Py_None) {
    return default_target(state, &copy->from, &copy->to);
  }
  if (cst__py_path_init(&paths[1], schema, to) < 0) {
    return -1;
  }
  copy->to = paths[1].path;
  return 0;
}

static int transfer_init(cst__py_state *state, transfer_list *list, const cst_structured *tensor,
                         PyObject *copies, bool replace) {
  const struct ArrowSchema *schema = cst_array_schema(cst_structured_array(tensor));
  Py_ssize_t count = PyTuple_Size(copies);
  *list = (transfer_list){.count = count};
  list->copies = calloc((size_t)count + 1, sizeof *list->copies);
  list->paths = calloc(2 * (size_t)count + 1, sizeof *list->paths);
  if (list->copies == NULL || list->paths == NULL) {
    list->count = 0;
    transfer_reset(list);
    PyErr_NoMemory();
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    list->copies[i].replace = replace;
    if (fill_copy(state, schema, PyTuple_GetItem(copies, i), &list->paths[2 * i],
                  &list->copies[i]) < 0) {
      transfer_reset(list);
      return -1;
    }
  }
  return 0;
}

static PyObject *transfer_fields(PyObject *module, PyObject *args, transfer_call call) {
  cst__py_state *state = PyModule_GetState(module);
  PyObject *object;
  PyObject *copies;
  int replace;
  transfer_list list;
  cst_error error = CST_ERROR_INIT;
  cst_structured *made = NULL;
  cst_status status;
  if (!PyArg_ParseTuple(args, "OO!p", &object, &PyTuple_Type, &copies, &replace)) {
    return NULL;
  }
  const cst_structured *tensor = cst__py_structured_need(state, object);
  if (tensor == NULL || transfer_init(state, &list, tensor, copies, replace != 0) < 0) {
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS
  status = call(tensor, list.copies, (size_t)list.count, &made, &error);
  Py_END_ALLOW_THREADS
  transfer_reset(&list);
  return cst__py_structured_finish(state, status, &error, made);
}

PyObject *cst__py_structured_promote(PyObject *module, PyObject *args) {
  return transfer_fields(module, args, cst_structured_promote);
}

PyObject *cst__py_structured_broadcast(PyObject *module, PyObject *args) {
  return transfer_fields(module, args, cst_structured_broadcast);
}

PyObject *cst__py_structured_promote_and_broadcast(PyObject *module, PyObject *args) {
  return transfer_fields(module, args, cst_structured_promote_and_broadcast);
}
