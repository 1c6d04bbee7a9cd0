/* Store: what is added. */
#include "ext/lineage/lineage.h"

/* The switches of an artifact, as bits. */
enum { IS_EXTERNAL = 1, SKIPS_DIGEST = 2, ALLOWS_MISSING = 4, REUSES = 8, IS_PENDING = 16 };

/* The GIL is away in between. */
static PyObject *add_artifact(PyObject *object, const cst_lineage_artifact *artifact) {
  cst__py_store_call call;
  int64_t id = 0;
  bool is_new = false;
  if (!cst__py_store_begin(&call, object) ||
      !cst__py_store_end(&call, cst_lineage_add(call.store, artifact, &id, &is_new, &call.error))) {
    return NULL;
  }
  return Py_BuildValue("(LN)", (long long)id, PyBool_FromLong(is_new));
}

PyObject *cst__py_store_add(PyObject *object, PyObject *args) {
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  PyObject *files_tuple, *properties_tuple, *references_tuple, *added = NULL;
  cst__py_files files;
  cst__py_properties properties;
  cst__py_references references;
  int switches;
  long long created;
  if (!PyArg_ParseTuple(args, "szOOOiL:add", &artifact.type, &artifact.name, &files_tuple,
                        &properties_tuple, &references_tuple, &switches, &created) ||
      cst__py_files_init(&files, files_tuple) < 0) {
    return NULL;
  }
  if (cst__py_properties_init(&properties, properties_tuple) == 0) {
    if (cst__py_references_init(&references, references_tuple) == 0) {
      artifact.files = files.items;
      artifact.num_files = files.count;
      artifact.properties = properties.items;
      artifact.num_properties = properties.count;
      artifact.references = references.items;
      artifact.num_references = references.count;
      artifact.state = (switches & IS_PENDING) != 0 ? CST_LINEAGE_PENDING : CST_LINEAGE_LIVE;
      artifact.is_external = (switches & IS_EXTERNAL) != 0;
      artifact.skips_digest = (switches & SKIPS_DIGEST) != 0;
      artifact.allows_missing = (switches & ALLOWS_MISSING) != 0;
      artifact.reuses = (switches & REUSES) != 0;
      artifact.created = created;
      added = add_artifact(object, &artifact);
      cst__py_references_reset(&references);
    }
    cst__py_properties_reset(&properties);
  }
  cst__py_files_reset(&files);
  return added;
}

PyObject *cst__py_store_set(PyObject *object, PyObject *args) {
  cst__py_properties properties;
  PyObject *tuple;
  int kind;
  long long id;
  if (!PyArg_ParseTuple(args, "iLO:set", &kind, &id, &tuple) ||
      cst__py_properties_init(&properties, tuple) < 0) {
    return NULL;
  }
  cst__py_store_call call;
  const bool done =
      cst__py_store_begin(&call, object) &&
      cst__py_store_end(&call, cst_lineage_set(call.store, (cst_lineage_kind)kind, id,
                                               properties.items, properties.count, &call.error));
  cst__py_properties_reset(&properties);
  return done ? Py_NewRef(Py_None) : NULL;
}

PyObject *cst__py_store_start(PyObject *object, PyObject *args) {
  cst_lineage_execution execution = CST_LINEAGE_EXECUTION_INIT;
  PyObject *inputs_tuple, *properties_tuple;
  cst__py_events inputs;
  cst__py_properties properties;
  long long started;
  if (!PyArg_ParseTuple(args, "szOOL:start", &execution.type, &execution.name, &inputs_tuple,
                        &properties_tuple, &started) ||
      cst__py_events_init(&inputs, inputs_tuple) < 0) {
    return NULL;
  }
  if (cst__py_properties_init(&properties, properties_tuple) < 0) {
    cst__py_events_reset(&inputs);
    return NULL;
  }
  execution.inputs = inputs.items;
  execution.num_inputs = inputs.count;
  execution.properties = properties.items;
  execution.num_properties = properties.count;
  execution.started = started;
  int64_t id = 0;
  cst__py_store_call call;
  const bool done =
      cst__py_store_begin(&call, object) &&
      cst__py_store_end(&call, cst_lineage_start(call.store, &execution, &id, &call.error));
  cst__py_properties_reset(&properties);
  cst__py_events_reset(&inputs);
  return done ? PyLong_FromLongLong(id) : NULL;
}

PyObject *cst__py_store_output(PyObject *object, PyObject *args) {
  cst__py_store_call call;
  long long execution, artifact;
  const char *path;
  if (!PyArg_ParseTuple(args, "LLz:output", &execution, &artifact, &path) ||
      !cst__py_store_begin(&call, object) ||
      !cst__py_store_end(&call,
                         cst_lineage_output(call.store, execution, artifact, path, &call.error))) {
    return NULL;
  }
  Py_RETURN_NONE;
}

PyObject *cst__py_store_finish(PyObject *object, PyObject *args) {
  cst__py_store_call call;
  long long execution;
  int state;
  if (!PyArg_ParseTuple(args, "Li:finish", &execution, &state) ||
      !cst__py_store_begin(&call, object) ||
      !cst__py_store_end(&call, cst_lineage_end(call.store, execution,
                                                (cst_lineage_execution_state)state, &call.error))) {
    return NULL;
  }
  Py_RETURN_NONE;
}

PyObject *cst__py_store_context(PyObject *object, PyObject *args) {
  cst__py_store_call call;
  const char *type, *name;
  int64_t id = 0;
  if (!PyArg_ParseTuple(args, "ss:context", &type, &name) || !cst__py_store_begin(&call, object) ||
      !cst__py_store_end(&call, cst_lineage_context(call.store, type, name, &id, &call.error))) {
    return NULL;
  }
  return PyLong_FromLongLong(id);
}

PyObject *cst__py_store_join(PyObject *object, PyObject *args) {
  cst__py_store_call call;
  long long context, member;
  int kind;
  if (!PyArg_ParseTuple(args, "LiL:join", &context, &kind, &member) ||
      !cst__py_store_begin(&call, object) ||
      !cst__py_store_end(&call, cst_lineage_join(call.store, context, (cst_lineage_kind)kind,
                                                 member, &call.error))) {
    return NULL;
  }
  Py_RETURN_NONE;
}

PyObject *cst__py_store_bind(PyObject *object, PyObject *args) {
  cst__py_store_call call;
  long long examples, view;
  const char *name;
  int64_t id = 0;
  if (!PyArg_ParseTuple(args, "LLz:bind", &examples, &view, &name) ||
      !cst__py_store_begin(&call, object) ||
      !cst__py_store_end(&call,
                         cst_lineage_bind(call.store, examples, view, name, &id, &call.error))) {
    return NULL;
  }
  return PyLong_FromLongLong(id);
}
