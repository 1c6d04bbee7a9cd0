/* What a Sink and a TFRecordWriter have in common: a file object, a lock, and the process that
 * writes. */
#include "ext/sink/sink.h"

int cst__py_output_init(cst__py_output *output, cst__py_state *state) {
  output->state = state;
  output->process = getpid();
  return cst__py_lock_init(&output->lock);
}

int cst__py_output_set_file(cst__py_output *output, PyObject *file) {
  output->file = cst__py_file_new(output->state, file, false);
  return output->file == NULL ? -1 : 0;
}

int cst__py_output_traverse(const cst__py_output *output, visitproc visit, void *arg) {
  return output->file == NULL ? 0 : cst__py_file_traverse(output->file, visit, arg);
}

void cst__py_output_clear(cst__py_output *output) {
  cst__py_file *file = output->file;
  output->file = NULL;
  cst__py_file_release(file);
}

bool cst__py_output_is_ours(const cst__py_output *output) { return output->process == getpid(); }

int cst__py_output_enter(cst__py_output *output, PyObject *object, bool (*is_closed)(PyObject *)) {
  if (cst__py_lock_enter(&output->lock, output->state, "writer") < 0) {
    return -1;
  }
  if (!is_closed(object) && cst__py_output_is_ours(output)) {
    return 0;
  }
  cst__py_lock_leave(&output->lock);
  cst__py_fail(output->state, CST_STATE, "", "the writer is closed");
  return -1;
}

PyObject *cst__py_output_leave(cst__py_output *output, cst_status status, const cst_error *error,
                               PyObject *result) {
  if (status != CST_OK) {
    Py_CLEAR(result);
    cst__py_output_fail(output, error);
  }
  cst__py_lock_leave(&output->lock);
  return result;
}

void cst__py_output_fail(const cst__py_output *output, const cst_error *error) {
  if (error->code != CST_CALLBACK || output->file == NULL ||
      !cst__py_kept_deliver(cst__py_file_kept(output->file))) {
    cst__py_raise(output->state, error);
  }
}
