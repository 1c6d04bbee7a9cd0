/* The options of messages, as decoders, encoders, sources and sinks take them. The .py files have
 * made them exact. */
#include "ext/message/message.h"

/* (descriptors or None, message or None, ((name of an option, value as a text), ...)) */
static int parse_message(cst_message_options *options, cst__py_state *state, PyObject *tuple) {
  PyObject *descriptors;
  PyObject *given;
  cst_error error = CST_ERROR_INIT;
  if (!PyArg_ParseTuple(tuple, "OzO!:message", &descriptors, &options->message, &PyTuple_Type,
                        &given)) {
    return -1;
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(given); i++) {
    PyObject *pair = PyTuple_GetItem(given, i);
    const char *name;
    const char *value;
    if (!PyArg_Parse(pair, "(ss):message", &name, &value)) {
      return -1;
    }
    if (cst_message_options_set(options, name, value, &error) != CST_OK) {
      cst__py_raise(state, &error);
      return -1;
    }
  }
  return descriptors == Py_None
             ? 0
             : cst__py_descriptors_arg(state, descriptors, &options->descriptors);
}

int cst__py_message_init(cst__py_message *message, cst__py_state *state, PyObject *tuple) {
  *message = (cst__py_message){.options = CST_MESSAGE_OPTIONS_INIT, .given = tuple != Py_None};
  return message->given ? parse_message(&message->options, state, tuple) : 0;
}

const cst_message_options *cst__py_message_view(const cst__py_message *message) {
  return message->given ? &message->options : NULL;
}
