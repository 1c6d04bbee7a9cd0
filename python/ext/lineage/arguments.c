/* Arguments of stores: tuples of tuples as arrays of structs, which borrow their texts. */
#include <stdlib.h>

#include "ext/lineage/lineage.h"

/* An array with an item more than the tuple has; NULL with an exception. */
static void *new_array(PyObject *tuple, size_t size) {
  const Py_ssize_t count = PyTuple_Size(tuple);
  void *array = count < 0 ? NULL : calloc((size_t)count + 1, size);
  if (array == NULL && count >= 0) {
    PyErr_NoMemory();
  }
  return array;
}

int cst__py_ids_init(cst__py_ids *ids, PyObject *tuple) {
  *ids = (cst__py_ids){NULL, 0};
  if (tuple == Py_None) {
    return 0;
  }
  ids->ids = new_array(tuple, sizeof *ids->ids);
  const Py_ssize_t count = ids->ids == NULL ? 0 : PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < count; i++) {
    ids->ids[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    if (ids->ids[i] == -1 && PyErr_Occurred() != NULL) {
      cst__py_ids_reset(ids);
      return -1;
    }
    ids->count++;
  }
  return ids->ids == NULL ? -1 : 0;
}

void cst__py_ids_reset(cst__py_ids *ids) {
  free(ids->ids);
  *ids = (cst__py_ids){NULL, 0};
}

/* ---- properties ---- */

static int take_text(cst_bytes *bytes, PyObject *value) {
  Py_ssize_t size;
  const char *text = PyUnicode_AsUTF8AndSize(value, &size);
  *bytes = (cst_bytes){(const uint8_t *)text, text == NULL ? 0 : (size_t)size};
  return text == NULL ? -1 : 0;
}

static int take_bytes(cst_bytes *bytes, PyObject *value) {
  char *data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(value, &data, &size) < 0) {
    return -1;
  }
  *bytes = (cst_bytes){(const uint8_t *)data, (size_t)size};
  return 0;
}

static int take_value(cst_lineage_property *property, PyObject *value) {
  if (PyBool_Check(value)) {
    property->kind = CST_LINEAGE_BOOL;
    property->number = value == Py_True;
    return 0;
  }
  if (PyLong_Check(value)) {
    property->kind = CST_LINEAGE_INT;
    property->number = PyLong_AsLongLong(value);
    return property->number == -1 && PyErr_Occurred() != NULL ? -1 : 0;
  }
  if (PyFloat_Check(value)) {
    property->kind = CST_LINEAGE_REAL;
    property->real = PyFloat_AsDouble(value);
    return 0;
  }
  if (PyUnicode_Check(value)) {
    property->kind = CST_LINEAGE_TEXT;
    return take_text(&property->bytes, value);
  }
  property->kind = CST_LINEAGE_BYTES;
  return take_bytes(&property->bytes, value);
}

int cst__py_properties_init(cst__py_properties *properties, PyObject *tuple) {
  properties->count = 0;
  properties->items = new_array(tuple, sizeof *properties->items);
  const Py_ssize_t count = properties->items == NULL ? 0 : PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < count; i++) {
    cst_lineage_property *property = &properties->items[i];
    PyObject *value;
    if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, i), "sO:property", &property->name, &value) ||
        take_value(property, value) < 0) {
      cst__py_properties_reset(properties);
      return -1;
    }
    properties->count++;
  }
  return properties->items == NULL ? -1 : 0;
}

void cst__py_properties_reset(cst__py_properties *properties) {
  free(properties->items);
  *properties = (cst__py_properties){NULL, 0};
}

/* ---- files, references, events ---- */

int cst__py_files_init(cst__py_files *files, PyObject *tuple) {
  files->count = 0;
  files->items = new_array(tuple, sizeof *files->items);
  const Py_ssize_t count = files->items == NULL ? 0 : PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < count; i++) {
    cst_lineage_file *file = &files->items[i];
    if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, i), "yzz:file", &file->path, &file->split,
                          &file->role)) {
      cst__py_files_reset(files);
      return -1;
    }
    files->count++;
  }
  return files->items == NULL ? -1 : 0;
}

void cst__py_files_reset(cst__py_files *files) {
  free(files->items);
  *files = (cst__py_files){NULL, 0};
}

int cst__py_references_init(cst__py_references *references, PyObject *tuple) {
  references->count = 0;
  references->items = new_array(tuple, sizeof *references->items);
  const Py_ssize_t count = references->items == NULL ? 0 : PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < count; i++) {
    cst_lineage_reference *reference = &references->items[i];
    long long artifact;
    if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, i), "sL:reference", &reference->role, &artifact)) {
      cst__py_references_reset(references);
      return -1;
    }
    reference->artifact = artifact;
    references->count++;
  }
  return references->items == NULL ? -1 : 0;
}

void cst__py_references_reset(cst__py_references *references) {
  free(references->items);
  *references = (cst__py_references){NULL, 0};
}

int cst__py_events_init(cst__py_events *events, PyObject *tuple) {
  events->count = 0;
  events->items = new_array(tuple, sizeof *events->items);
  const Py_ssize_t count = events->items == NULL ? 0 : PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < count; i++) {
    cst_lineage_event *event = &events->items[i];
    long long artifact;
    if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, i), "Lz:event", &artifact, &event->path)) {
      cst__py_events_reset(events);
      return -1;
    }
    event->artifact = artifact;
    events->count++;
  }
  return events->items == NULL ? -1 : 0;
}

void cst__py_events_reset(cst__py_events *events) {
  free(events->items);
  *events = (cst__py_events){NULL, 0};
}

int cst__py_paths_init(cst__py_names *paths, PyObject *tuple) {
  *paths = (cst__py_names){NULL, 0};
  if (tuple == Py_None) {
    return 0;
  }
  paths->names = new_array(tuple, sizeof *paths->names);
  const Py_ssize_t count = paths->names == NULL ? 0 : PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < count; i++) {
    char *path;
    if (PyBytes_AsStringAndSize(PyTuple_GetItem(tuple, i), &path, NULL) < 0) {
      cst__py_names_reset(paths);
      return -1;
    }
    paths->names[paths->count++] = path;
  }
  return paths->names == NULL ? -1 : 0;
}
