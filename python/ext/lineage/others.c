/* Store: leases, garbage, and other systems. */
#include "ext/lineage/lineage.h"

/* ---- leases and garbage ---- */

/* lease(ids, holder or None, seconds, is_detached, execution or 0) */
PyObject *cst__py_store_lease(PyObject *object, PyObject *args) {
  cst_lineage_lease_options options = CST_LINEAGE_LEASE_OPTIONS_INIT;
  PyObject *tuple;
  cst__py_ids ids;
  int is_detached;
  long long seconds, execution;
  if (!PyArg_ParseTuple(args, "O!zLpL:lease", &PyTuple_Type, &tuple, &options.holder, &seconds,
                        &is_detached, &execution) ||
      cst__py_ids_init(&ids, tuple) < 0) {
    return NULL;
  }
  options.seconds = seconds;
  options.is_detached = is_detached != 0;
  options.execution = execution;
  cst_lineage_lease *lease = NULL;
  cst__py_store_call call;
  const bool done = cst__py_store_begin(&call, object) &&
                    cst__py_store_end(&call, cst_lineage_lease_new(call.store, ids.ids, ids.count,
                                                                   &options, &lease, &call.error));
  cst__py_ids_reset(&ids);
  return done ? cst__py_lease_new(cst__py_state_of(object), lease) : NULL;
}

PyObject *cst__py_store_leases(PyObject *object, PyObject *unused) {
  (void)unused;
  cst_findings *found = NULL;
  cst__py_store_call call;
  if (!cst__py_store_begin(&call, object)) {
    return NULL;
  }
  return cst__py_store_found(&call, cst_lineage_leases(call.store, &found, &call.error), &found);
}

typedef struct gc_lists {
  cst__py_names group_by, types, ancestors;
} gc_lists;

static void gc_lists_reset(gc_lists *lists) {
  cst__py_names_reset(&lists->group_by);
  cst__py_names_reset(&lists->types);
  cst__py_names_reset(&lists->ancestors);
}

/* gc((keep, max_age, now), group_by, types, keep_ancestors_of, is_dry_run); lists may be None */
PyObject *cst__py_store_gc(PyObject *object, PyObject *args) {
  cst_lineage_gc_options options = CST_LINEAGE_GC_OPTIONS_INIT;
  gc_lists lists = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
  PyObject *group_by, *types, *ancestors, *rows = NULL;
  long long keep, max_age, now;
  int is_dry_run;
  if (!PyArg_ParseTuple(args, "(LLL)OOOp:gc", &keep, &max_age, &now, &group_by, &types, &ancestors,
                        &is_dry_run)) {
    return NULL;
  }
  cst_findings *found = NULL;
  cst__py_store_call call;
  if (cst__py_names_init(&lists.group_by, group_by) == 0 &&
      cst__py_names_init(&lists.types, types) == 0 &&
      cst__py_names_init(&lists.ancestors, ancestors) == 0 && cst__py_store_begin(&call, object)) {
    options.keep = keep;
    options.max_age = max_age;
    options.now = now;
    options.group_by = lists.group_by.names;
    options.num_group_by = lists.group_by.count;
    options.types = lists.types.names;
    options.num_types = lists.types.count;
    options.keep_ancestors_of = lists.ancestors.names;
    options.num_keep_ancestors_of = lists.ancestors.count;
    options.is_dry_run = is_dry_run != 0;
    rows = cst__py_store_found(&call, cst_lineage_gc(call.store, &options, &found, &call.error),
                               &found);
  }
  gc_lists_reset(&lists);
  return rows;
}

/* ---- to others ---- */

PyObject *cst__py_store_import_mlmd(PyObject *object, PyObject *args) {
  cst_findings *found = NULL;
  cst__py_store_call call;
  const char *path;
  if (!PyArg_ParseTuple(args, "y:import_mlmd", &path) || !cst__py_store_begin(&call, object)) {
    return NULL;
  }
  return cst__py_store_found(&call, cst_lineage_import_mlmd(call.store, path, &found, &call.error),
                             &found);
}

PyObject *cst__py_store_export_mlmd(PyObject *object, PyObject *args) {
  cst_findings *found = NULL;
  cst__py_store_call call;
  const char *path;
  int overwrites;
  if (!PyArg_ParseTuple(args, "yp:export_mlmd", &path, &overwrites) ||
      !cst__py_store_begin(&call, object)) {
    return NULL;
  }
  return cst__py_store_found(
      &call, cst_lineage_export_mlmd(call.store, path, overwrites != 0, &found, &call.error),
      &found);
}

/* The text is freed. */
static PyObject *text_of(char *text, size_t size) {
  PyObject *made = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace");
  cst_free(text);
  return made;
}

/* graph(format, ids or None, directions, depth) */
PyObject *cst__py_store_graph(PyObject *object, PyObject *args) {
  cst_lineage_graph_options options = CST_LINEAGE_GRAPH_OPTIONS_INIT;
  PyObject *tuple;
  cst__py_ids ids;
  unsigned int directions;
  long long depth;
  if (!PyArg_ParseTuple(args, "sOIL:graph", &options.format, &tuple, &directions, &depth) ||
      cst__py_ids_init(&ids, tuple) < 0) {
    return NULL;
  }
  options.artifacts = ids.ids;
  options.num_artifacts = ids.count;
  options.directions = directions;
  options.depth = depth;
  char *text = NULL;
  size_t size = 0;
  cst__py_store_call call;
  const bool done =
      cst__py_store_begin(&call, object) &&
      cst__py_store_end(&call, cst_lineage_graph(call.store, &options, &text, &size, &call.error));
  cst__py_ids_reset(&ids);
  return done ? text_of(text, size) : NULL;
}

/* openlineage(namespace or None, ids or None) */
PyObject *cst__py_store_openlineage(PyObject *object, PyObject *args) {
  PyObject *tuple;
  cst__py_ids ids;
  cst_lineage_openlineage_options options = CST_LINEAGE_OPENLINEAGE_OPTIONS_INIT;
  if (!PyArg_ParseTuple(args, "zO:openlineage", &options.job_namespace, &tuple) ||
      cst__py_ids_init(&ids, tuple) < 0) {
    return NULL;
  }
  options.executions = ids.ids;
  options.num_executions = ids.count;
  char *text = NULL;
  size_t size = 0;
  cst__py_store_call call;
  const bool done = cst__py_store_begin(&call, object) &&
                    cst__py_store_end(&call, cst_lineage_openlineage(call.store, &options, &text,
                                                                     &size, &call.error));
  cst__py_ids_reset(&ids);
  return done ? text_of(text, size) : NULL;
}
