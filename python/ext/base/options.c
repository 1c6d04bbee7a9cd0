/* Arguments that several types take: lists of names, CSV options. The .py files have made them
 * exact. */
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

/* (names or None, delimiter, comment, skip_lines, keep_blank_lines, multivalent or None,
 * secondary_delimiter, no_header); characters as numbers, 0 for the usual one. */
static int parse_csv(cst__py_csv *csv, PyObject *tuple) {
  cst_csv_options *options = &csv->options;
  PyObject *names;
  PyObject *multivalent;
  unsigned long long skip_lines;
  unsigned char delimiter;
  unsigned char comment;
  unsigned char secondary;
  int keep_blank_lines;
  int no_header;
  if (!PyArg_ParseTuple(tuple, "ObbKpObp:csv", &names, &delimiter, &comment, &skip_lines,
                        &keep_blank_lines, &multivalent, &secondary, &no_header) ||
      cst__py_names_init(&csv->names, names) < 0 ||
      cst__py_names_init(&csv->multivalent, multivalent) < 0) {
    return -1;
  }
  options->names = csv->names.names;
  options->num_names = csv->names.count;
  options->delimiter = (char)delimiter;
  options->comment = (char)comment;
  options->skip_lines = skip_lines;
  options->keep_blank_lines = keep_blank_lines != 0;
  options->multivalent = csv->multivalent.names;
  options->num_multivalent = csv->multivalent.count;
  options->secondary_delimiter = (char)secondary;
  options->no_header = no_header != 0;
  csv->given = true;
  return 0;
}

int cst__py_csv_init(cst__py_csv *csv, PyObject *tuple) {
  *csv = (cst__py_csv){.options = CST_CSV_OPTIONS_INIT};
  if (tuple == Py_None) {
    return 0;
  }
  int result = parse_csv(csv, tuple);
  if (result < 0) {
    cst__py_csv_reset(csv);
  }
  return result;
}

void cst__py_csv_reset(cst__py_csv *csv) {
  cst__py_names_reset(&csv->names);
  cst__py_names_reset(&csv->multivalent);
}

const cst_csv_options *cst__py_csv_view(const cst__py_csv *csv) {
  return csv->given ? &csv->options : NULL;
}
