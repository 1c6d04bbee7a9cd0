/* Store: what there is, what came from what, and how it is read. */
#include "ext/lineage/lineage.h"

PyObject *cst__py_store_lookup(PyObject *object, PyObject *args) {
  cst__py_store_call call;
  const char *reference;
  int64_t id = 0;
  if (!PyArg_ParseTuple(args, "s:lookup", &reference) || !cst__py_store_begin(&call, object) ||
      !cst__py_store_end(&call, cst_lineage_lookup(call.store, reference, &id, &call.error))) {
    return NULL;
  }
  return PyLong_FromLongLong(id);
}

/* find(kind, ids or None, (type, name, path, source_path), properties,
 *      (context, from, to, limit), every_state) */
PyObject *cst__py_store_find(PyObject *object, PyObject *args) {
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  PyObject *ids_tuple, *properties_tuple;
  cst__py_ids ids;
  cst__py_properties properties;
  int kind, every_state;
  Py_ssize_t path_size; /* bytes, which end with a NUL */
  long long context, from, to, limit;
  if (!PyArg_ParseTuple(args, "iO(zzz#z)O(LLLL)p:find", &kind, &ids_tuple, &query.type, &query.name,
                        &query.path, &path_size, &query.source_path, &properties_tuple, &context,
                        &from, &to, &limit, &every_state) ||
      cst__py_ids_init(&ids, ids_tuple) < 0) {
    return NULL;
  }
  if (cst__py_properties_init(&properties, properties_tuple) < 0) {
    cst__py_ids_reset(&ids);
    return NULL;
  }
  query.kind = (cst_lineage_kind)kind;
  query.ids = ids.ids;
  query.num_ids = ids.count;
  query.properties = properties.items;
  query.num_properties = properties.count;
  query.context = context;
  query.created_from = from;
  query.created_to = to;
  query.limit = limit;
  query.every_state = every_state != 0;
  cst_findings *found = NULL;
  cst__py_store_call call;
  PyObject *rows = NULL;
  if (cst__py_store_begin(&call, object)) {
    rows = cst__py_store_found(&call, cst_lineage_find(call.store, &query, &found, &call.error),
                               &found);
  }
  cst__py_properties_reset(&properties);
  cst__py_ids_reset(&ids);
  return rows;
}

PyObject *cst__py_store_trace(PyObject *object, PyObject *args) {
  cst_lineage_trace_options options = CST_LINEAGE_TRACE_OPTIONS_INIT;
  PyObject *tuple;
  cst__py_ids ids;
  unsigned int directions;
  long long depth;
  if (!PyArg_ParseTuple(args, "O!IL:trace", &PyTuple_Type, &tuple, &directions, &depth) ||
      cst__py_ids_init(&ids, tuple) < 0) {
    return NULL;
  }
  options.artifacts = ids.ids;
  options.num_artifacts = ids.count;
  options.directions = directions;
  options.depth = depth;
  cst_findings *found = NULL;
  cst__py_store_call call;
  PyObject *rows = NULL;
  if (cst__py_store_begin(&call, object)) {
    rows = cst__py_store_found(&call, cst_lineage_trace(call.store, &options, &found, &call.error),
                               &found);
  }
  cst__py_ids_reset(&ids);
  return rows;
}

PyObject *cst__py_store_check(PyObject *object, PyObject *args) {
  cst_findings *found = NULL;
  cst__py_store_call call;
  int with_digests;
  if (!PyArg_ParseTuple(args, "p:check", &with_digests) || !cst__py_store_begin(&call, object)) {
    return NULL;
  }
  return cst__py_store_found(
      &call, cst_lineage_check(call.store, with_digests != 0, &found, &call.error), &found);
}

PyObject *cst__py_store_info(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_findings *found = NULL;
  cst__py_store_call call;
  if (!cst__py_store_begin(&call, object)) {
    return NULL;
  }
  return cst__py_store_found(&call, cst_lineage_info(call.store, &found, &call.error), &found);
}

/* ---- reading ---- */

/* Takes the text over. */
static int append(PyObject *list, PyObject *item) {
  const int result = item == NULL ? -1 : PyList_Append(list, item);
  Py_XDECREF(item);
  return result;
}

static PyObject *paths_of(const cst_lineage_reading *reading) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < cst_lineage_reading_num_paths(reading); i++) {
    if (append(list, PyUnicode_DecodeFSDefault(cst_lineage_reading_path(reading, i))) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

static PyObject *options_of(const cst_lineage_reading *reading) {
  PyObject *list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < cst_lineage_reading_num_options(reading); i++) {
    const cst_option *option = cst_lineage_reading_option(reading, i);
    PyObject *value = PyUnicode_DecodeFSDefault(option->value); /* some are paths */
    PyObject *pair = value == NULL ? NULL : Py_BuildValue("(sN)", option->name, value);
    if (append(list, pair) < 0) {
      Py_CLEAR(list);
    }
  }
  return list;
}

/* Takes the reading over. */
static PyObject *told(cst_lineage_reading *reading) {
  size_t count = 0;
  const int64_t *artifacts = cst_lineage_reading_artifacts(reading, &count);
  PyObject *paths = paths_of(reading);
  PyObject *options = paths == NULL ? NULL : options_of(reading);
  PyObject *ids = options == NULL ? NULL : cst__py_int_tuple(artifacts, count);
  cst_lineage_reading_free(reading);
  if (ids == NULL) {
    Py_XDECREF(paths);
    Py_XDECREF(options);
    return NULL;
  }
  return Py_BuildValue("(NNN)", paths, options, ids);
}

/* read(ids, choice, has_own_parts, view or 0, splits or None): paths, (name, value) of options,
 * artifacts */
PyObject *cst__py_store_read(PyObject *object, PyObject *args) {
  cst_lineage_read_options options = CST_LINEAGE_READ_OPTIONS_INIT;
  PyObject *ids_tuple, *splits_tuple;
  cst__py_ids ids;
  cst__py_names splits;
  int choice, has_own_parts;
  long long view;
  if (!PyArg_ParseTuple(args, "O!ipLO:read", &PyTuple_Type, &ids_tuple, &choice, &has_own_parts,
                        &view, &splits_tuple) ||
      cst__py_ids_init(&ids, ids_tuple) < 0) {
    return NULL;
  }
  if (cst__py_names_init(&splits, splits_tuple) < 0) {
    cst__py_ids_reset(&ids);
    return NULL;
  }
  options.choice = (cst_lineage_choice)choice;
  options.has_own_parts = has_own_parts != 0;
  options.view = view;
  options.splits = splits.names;
  options.num_splits = splits.count;
  cst_lineage_reading *reading = NULL;
  cst__py_store_call call;
  const bool done = cst__py_store_begin(&call, object) &&
                    cst__py_store_end(&call, cst_lineage_read(call.store, ids.ids, ids.count,
                                                              &options, &reading, &call.error));
  cst__py_names_reset(&splits);
  cst__py_ids_reset(&ids);
  return done ? told(reading) : NULL;
}
