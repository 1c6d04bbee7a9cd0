/* Dataset: what its loaders ask of it. */
#include "ext/dataset/dataset.h"
#include "ext/arrow/arrow.h"
#include "ext/source/source.h"
#include "ext/tensor/tensor.h"

PyObject *cst__py_dataset_source(PyObject *object) {
  return ((cst__py_dataset_object *)object)->source;
}

cst_dataset *cst__py_dataset_view(PyObject *object) {
  return ((cst__py_dataset_object *)object)->dataset;
}

static PyObject *source_of_mixed(const cst__py_dataset_object *self, Py_ssize_t i) {
  return cst__py_dataset_source(PyTuple_GetItem(self->mixed, i));
}

bool cst__py_dataset_is_open(PyObject *object) {
  const cst__py_dataset_object *self = (const cst__py_dataset_object *)object;
  bool is_open = cst__py_source_view(self->source) != NULL;
  for (Py_ssize_t i = 0; is_open && self->mixed != NULL && i < PyTuple_Size(self->mixed); i++) {
    is_open = cst__py_source_view(source_of_mixed(self, i)) != NULL;
  }
  return is_open;
}

bool cst__py_dataset_calls_python(PyObject *object) {
  const cst__py_dataset_object *self = (const cst__py_dataset_object *)object;
  bool calls = cst__py_source_calls_python(self->source);
  for (Py_ssize_t i = 0; self->mixed != NULL && i < PyTuple_Size(self->mixed); i++) {
    calls = calls || cst__py_source_calls_python(source_of_mixed(self, i));
  }
  return calls;
}

/* Of a mix: where Python code raised last. */
PyObject *cst__py_dataset_blame(PyObject *object, const cst_error *error) {
  const cst__py_dataset_object *self = (const cst__py_dataset_object *)object;
  PyObject *found = self->source;
  uint64_t last = 0;
  for (Py_ssize_t i = 0; self->mixed != NULL && i < PyTuple_Size(self->mixed); i++) {
    PyObject *source = source_of_mixed(self, i);
    uint64_t moment = cst__py_source_moment(source, error);
    found = moment > last ? source : found;
    last = moment > last ? moment : last;
  }
  return found;
}

PyObject *cst__py_dataset_schema(PyObject *object) {
  cst__py_dataset_object *self = (cst__py_dataset_object *)object;
  PyObject *found = self->schema == NULL ? cst__py_source_arrow_schema(self->source) : NULL;
  if (self->schema == NULL) { /* still: the GIL was away */
    self->schema = found;
  } else {
    Py_XDECREF(found);
  }
  return self->schema;
}

static int make_adapter_with(cst__py_dataset_object *self, const cst_tensor_options *options,
                             cst_tensor_adapter **out) {
  PyObject *schema = cst__py_dataset_schema((PyObject *)self);
  cst_source *source = schema == NULL ? NULL : cst__py_source_borrow(self->source);
  if (source == NULL) {
    return -1;
  }
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  Py_BEGIN_ALLOW_THREADS
  status = cst_source_specs(source, &specs, &error);
  if (status == CST_OK) {
    status = cst_tensor_adapter_new(cst__py_arrow_schema_view(schema), specs, options, out, &error);
  }
  cst_specs_release(specs);
  cst_source_release(source);
  Py_END_ALLOW_THREADS
  if (status != CST_OK) {
    cst__py_source_raise(self->source, &error);
    return -1;
  }
  return 0;
}

static int dataset_make_adapter(cst__py_dataset_object *self, cst_tensor_adapter **out) {
  cst__py_pads pads;
  if (cst__py_pads_init(&pads, self->pads) < 0) {
    return -1;
  }
  cst_tensor_options options = {.size = sizeof options, .pads = pads.items, .num_pads = pads.count};
  int result = make_adapter_with(self, &options, out);
  cst__py_pads_reset(&pads);
  return result;
}

const cst_tensor_adapter *cst__py_dataset_adapter(PyObject *object) {
  cst__py_dataset_object *self = (cst__py_dataset_object *)object;
  cst_tensor_adapter *made = NULL;
  if (self->adapter == NULL && dataset_make_adapter(self, &made) < 0) {
    return NULL;
  }
  if (self->adapter == NULL) {
    self->adapter = made; /* the GIL was away: another thread may have made one as well */
  } else {
    cst_tensor_adapter_free(made);
  }
  return self->adapter;
}
