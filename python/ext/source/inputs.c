/* What a source reads: paths, Python file objects, or Python objects as Arrow streams. */
#include <stdlib.h>

#include "ext/io/io.h"
#include "ext/source/source.h"

static cst_status open_paths(PyObject *paths, const cst_source_options *options, cst_source **out,
                             cst_error *error) {
  Py_ssize_t count = PyTuple_Size(paths);
  const char **list = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *list);
  if (list == NULL) {
    error->code = CST_NO_MEMORY;
    return CST_NO_MEMORY;
  }
  cst_status status = CST_OK;
  for (Py_ssize_t i = 0; i < count; i++) {
    list[i] = PyBytes_AsString(PyTuple_GetItem(paths, i));
    status = list[i] == NULL ? CST_CALLBACK : status;
  }
  if (status == CST_OK) {
    Py_BEGIN_ALLOW_THREADS
    status = cst_source_open(list, (size_t)count, options, out, error);
    Py_END_ALLOW_THREADS
  }
  free(list);
  return status;
}

/* Entry i is (object, name as bytes, can_seek). */
static int add_file(cst__py_inputs *inputs, cst__py_state *state, PyObject *files, Py_ssize_t i,
                    cst_reader *reader) {
  PyObject *object;
  const char *name;
  int can_seek;
  if (!PyArg_ParseTuple(PyTuple_GetItem(files, i), "Oyp", &object, &name, &can_seek)) {
    return -1;
  }
  cst__py_file *file = cst__py_file_new(state, object, can_seek != 0);
  if (file == NULL) {
    return -1;
  }
  inputs->files[inputs->num_files++] = file;
  *reader = cst__py_file_reader(file, name);
  return 0;
}

static cst_status open_files(cst__py_inputs *inputs, cst__py_state *state, PyObject *files,
                             const cst_source_options *options, cst_source **out,
                             cst_error *error) {
  Py_ssize_t count = PyTuple_Size(files);
  cst_reader *readers = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *readers);
  inputs->files = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *inputs->files);
  if (readers == NULL || inputs->files == NULL) {
    free(readers);
    error->code = CST_NO_MEMORY;
    return CST_NO_MEMORY;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    if (add_file(inputs, state, files, i, &readers[i]) < 0) {
      for (Py_ssize_t k = 0; k < i; k++) {
        readers[k].close(readers[k].ctx);
      }
      free(readers);
      return CST_CALLBACK;
    }
  }
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_open_readers(readers, (size_t)count, options, out, error);
  Py_END_ALLOW_THREADS
  free(readers);
  return status;
}

/* Entry i is (open, name as bytes, once, projects, size of the file). */
static int add_opener(cst__py_inputs *inputs, cst__py_state *state, PyObject *streams, Py_ssize_t i,
                      cst_stream_opener *view) {
  PyObject *open;
  const char *name;
  int once;
  int projects;
  long long file_size;
  if (!PyArg_ParseTuple(PyTuple_GetItem(streams, i), "OyppL", &open, &name, &once, &projects,
                        &file_size)) {
    return -1;
  }
  cst__py_opener *opener = cst__py_opener_new(state, open);
  if (opener == NULL) {
    return -1;
  }
  inputs->openers[inputs->num_openers++] = opener;
  *view = cst__py_opener_view(opener, name, once != 0, projects != 0);
  view->file_size = file_size;
  return 0;
}

static cst_status open_streams(cst__py_inputs *inputs, cst__py_state *state, PyObject *streams,
                               const cst_source_options *options, cst_source **out,
                               cst_error *error) {
  Py_ssize_t count = PyTuple_Size(streams);
  cst_stream_opener *views = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *views);
  inputs->openers = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *inputs->openers);
  if (views == NULL || inputs->openers == NULL) {
    free(views);
    error->code = CST_NO_MEMORY;
    return CST_NO_MEMORY;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    if (add_opener(inputs, state, streams, i, &views[i]) < 0) {
      for (Py_ssize_t k = 0; k < i; k++) {
        views[k].close(views[k].ctx);
      }
      free(views);
      return CST_CALLBACK;
    }
  }
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_open_streams(views, (size_t)count, options, out, error);
  Py_END_ALLOW_THREADS
  free(views);
  return status;
}

cst_status cst__py_inputs_open(cst__py_inputs *inputs, cst__py_state *state,
                               const cst__py_objects *objects, const cst_source_options *options,
                               cst_source **out, cst_error *error) {
  if (objects->streams != Py_None) {
    return open_streams(inputs, state, objects->streams, options, out, error);
  }
  if (objects->files != Py_None) {
    return open_files(inputs, state, objects->files, options, out, error);
  }
  return open_paths(objects->paths, options, out, error);
}

void cst__py_inputs_reset(cst__py_inputs *inputs) {
  for (size_t i = 0; i < inputs->num_files; i++) {
    cst__py_file_release(inputs->files[i]);
  }
  for (size_t i = 0; i < inputs->num_openers; i++) {
    cst__py_opener_release(inputs->openers[i]);
  }
  free(inputs->files);
  free(inputs->openers);
}

int cst__py_inputs_traverse(const cst__py_inputs *inputs, visitproc visit, void *arg) {
  int result = 0;
  for (size_t i = 0; result == 0 && i < inputs->num_files; i++) {
    result = cst__py_file_traverse(inputs->files[i], visit, arg);
  }
  for (size_t i = 0; result == 0 && i < inputs->num_openers; i++) {
    result = cst__py_opener_traverse(inputs->openers[i], visit, arg);
  }
  return result;
}

void cst__py_inputs_take(const cst__py_inputs *inputs, cst__py_kept *into) {
  for (size_t i = 0; i < inputs->num_files; i++) {
    cst__py_kept_move(cst__py_file_kept(inputs->files[i]), into);
  }
  for (size_t i = 0; i < inputs->num_openers; i++) {
    cst__py_kept_move(cst__py_opener_kept(inputs->openers[i]), into);
  }
}
