/* The options of a source: those that the library knows by name (cst_source_option_get), and a few
 * by hand, which are Python objects. The package checks their types (columnstone._api.options)
 * before they come here.
 */
#include "ext/arrow/arrow.h"
#include "ext/query/query.h"
#include "ext/schema/schema.h"
#include "ext/source/source.h"

static int set_on_error(void *owner, cst__py_state *state, PyObject *value) {
  cst__py_options *o = owner;
  (void)state;
  if (value == Py_None) {
    return 0;
  }
  int policy;
  if (!PyArg_ParseTuple(value, "OOi:on_error", &o->make_dropped, &o->on_dropped, &policy)) {
    return -1;
  }
  o->options.on_error = (cst_on_error)policy;
  o->options.on_dropped = cst__py_on_dropped;
  return 0;
}

static int set_types(void *owner, cst__py_state *state, PyObject *value) {
  cst__py_options *o = owner;
  (void)state;
  if (value == Py_None) {
    return 0;
  }
  o->options.types = &o->types;
  return cst__py_import_schema(value, &o->types);
}

static int set_columns(void *owner, cst__py_state *state, PyObject *value) {
  cst__py_options *o = owner;
  (void)state;
  int result = cst__py_names_init(&o->columns, value);
  o->options.columns = o->columns.names;
  o->options.num_columns = o->columns.count;
  return result;
}

static int set_format_options(void *owner, cst__py_state *state, PyObject *value) {
  cst__py_options *o = owner;
  (void)state;
  int result = cst__py_option_list_init(&o->format_options, value);
  o->options.format_options = o->format_options.options;
  o->options.num_format_options = o->format_options.count;
  return result;
}

static int set_message(void *owner, cst__py_state *state, PyObject *value) {
  cst__py_options *o = owner;
  int result = cst__py_message_init(&o->message, state, value);
  o->options.message = cst__py_message_view(&o->message);
  return result;
}

static int set_view(void *owner, cst__py_state *state, PyObject *value) {
  cst__py_options *o = owner;
  if (cst__py_view_arg(state, value, &o->options.view) < 0) {
    return -1;
  }
  if (value != Py_None && PyTuple_Size(cst__py_view_functions(value)) > 0) {
    o->functions = cst__py_view_functions(value);
  }
  return 0;
}

static int set_schema(void *owner, cst__py_state *state, PyObject *value) {
  cst__py_options *o = owner;
  return cst__py_schema_arg(state, value, &o->options.schema);
}

static const cst__py_option_object objects[] = {
    {{.name = "schema", .reads = true}, "schema", set_schema},
    {{.name = "columns", .reads = true}, "names", set_columns},
    {{.name = "format_options", .reads = true}, "format_options", set_format_options},
    {{.name = "types", .reads = true}, "types", set_types},
    {{.name = "on_error", .words = {"raise", "skip", "null"}, .reads = true},
     "on_error",
     set_on_error},
    {{.name = "message", .reads = true}, "message", set_message},
    {{.name = "view", .reads = true}, "view", set_view},
};

static cst_status set_by_name(void *owner, const char *name, const char *value, cst_error *error) {
  return cst_source_options_set(&((cst__py_options *)owner)->options, name, value, error);
}

const cst__py_option_table cst__py_source_options = {cst_source_option_get, set_by_name, objects,
                                                     sizeof objects / sizeof *objects};

int cst__py_options_init(cst__py_options *o, cst__py_state *state, PyObject *dict) {
  *o = (cst__py_options){.options = CST_SOURCE_OPTIONS_INIT};
  return cst__py_options_set(&cst__py_source_options, o, state, dict);
}

void cst__py_options_reset(cst__py_options *o) {
  cst__py_names_reset(&o->columns);
  cst__py_option_list_reset(&o->format_options);
  if (o->types.release != NULL) {
    o->types.release(&o->types);
  }
}
