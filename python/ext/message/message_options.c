/* The options of messages, as decoders, encoders, sources and sinks take them. The .py files have
 * made them exact. */
#include "ext/message/message.h"

/* (descriptors or None, message or None, flags, form, enums, timestamp_unit, time_zone,
 * duration_unit, time_unit, recursion, unknown_fields or None, list_item, map_key, map_value,
 * field_number_key or None) */
static int parse_message(cst_message_options *o, cst__py_state *state, PyObject *tuple) {
  PyObject *descriptors;
  int form;
  int enums;
  int timestamp_unit;
  int duration_unit;
  int time_unit;
  if (!PyArg_ParseTuple(tuple, "OzIiiiziiizsssz:message", &descriptors, &o->message, &o->flags,
                        &form, &enums, &timestamp_unit, &o->time_zone, &duration_unit, &time_unit,
                        &o->recursion, &o->unknown_fields, &o->list_item, &o->map_key,
                        &o->map_value, &o->field_number_key)) {
    return -1;
  }
  o->form = (cst_message_form)form;
  o->enums = (cst_message_enums)enums;
  o->timestamp_unit = (cst_time_unit)timestamp_unit;
  o->duration_unit = (cst_time_unit)duration_unit;
  o->time_unit = (cst_time_unit)time_unit;
  return descriptors == Py_None ? 0 : cst__py_descriptors_arg(state, descriptors, &o->descriptors);
}

int cst__py_message_init(cst__py_message *message, cst__py_state *state, PyObject *tuple) {
  *message = (cst__py_message){.options = CST_MESSAGE_OPTIONS_INIT, .given = tuple != Py_None};
  return message->given ? parse_message(&message->options, state, tuple) : 0;
}

const cst_message_options *cst__py_message_view(const cst__py_message *message) {
  return message->given ? &message->options : NULL;
}
