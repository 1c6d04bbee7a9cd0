/* The options of a sink: those that the library knows by name (cst_sink_option_get), and a few by
 * hand, which are Python objects. The package checks their types (columnstone._sink.options) before
 * they come here.
 */
#include "ext/schema/schema.h"
#include "ext/sink/sink.h"

static int set_schema(void *owner, cst__py_state *state, PyObject *value) {
  return cst__py_schema_arg(state, value, &((cst__py_sink_settings *)owner)->options.schema);
}

static int set_format_options(void *owner, cst__py_state *state, PyObject *value) {
  (void)state;
  cst__py_sink_settings *s = owner;
  int result = cst__py_option_list_init(&s->format_options, value);
  s->options.format_options = s->format_options.options;
  s->options.num_format_options = s->format_options.count;
  return result;
}

static int set_message(void *owner, cst__py_state *state, PyObject *value) {
  cst__py_sink_settings *s = owner;
  int result = cst__py_message_init(&s->message, state, value);
  s->options.message = cst__py_message_view(&s->message);
  return result;
}

static const cst__py_option_object objects[] = {
    {{.name = "schema", .writes = true}, "schema", set_schema},
    {{.name = "format_options", .writes = true}, "format_options", set_format_options},
    {{.name = "message", .writes = true}, "message", set_message},
};

static cst_status set_by_name(void *owner, const char *name, const char *value, cst_error *error) {
  return cst_sink_options_set(&((cst__py_sink_settings *)owner)->options, name, value, error);
}

const cst__py_option_table cst__py_sink_options = {cst_sink_option_get, set_by_name, objects,
                                                   sizeof objects / sizeof *objects};

int cst__py_sink_settings_init(cst__py_sink_settings *settings, cst__py_state *state,
                               PyObject *dict) {
  *settings = (cst__py_sink_settings){.options = CST_SINK_OPTIONS_INIT};
  return cst__py_options_set(&cst__py_sink_options, settings, state, dict);
}

void cst__py_sink_settings_reset(cst__py_sink_settings *settings) {
  cst__py_option_list_reset(&settings->format_options);
}
