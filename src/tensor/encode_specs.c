/* The specs that tensors by themselves ask for. */
#include <columnstone/tensor.h>

#include "base/arguments.h"
#include "tensor/kind.h"

void *cst__describe_take(cst__describer *d, size_t count, size_t item_size) {
  size_t size;
  void *memory = NULL;
  if (cst__mul(count + 1, item_size, &size)) {
    memory = cst__arena_take_zero(&d->arena, size);
  }
  if (memory == NULL) {
    (void)cst__fail_memory(d->error, count);
  }
  return memory;
}

cst_status cst__describe_path(cst__describer *d, const cst__describe_place *at, const char *column,
                              cst_tensor_spec *spec) {
  const char **path = cst__describe_take(d, at->num_steps + 1, sizeof *path);
  if (path == NULL || column == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < at->num_steps; i++) {
    path[i] = at->steps[i];
  }
  path[at->num_steps] = column;
  spec->path = path;
  spec->num_path_steps = at->num_steps + 1;
  return CST_OK;
}

cst_status cst__describe_dtype(cst__describer *d, const cst_tensor *tensor, cst_tensor_spec *spec) {
  CST__TRY(cst__encode_check_array("values", &tensor->values, d->error));
  spec->dtype = tensor->values.dtype == CST_DTYPE_BOOL ? CST_DTYPE_BOOL
                                                       : cst__dtype_family(tensor->values.dtype);
  return CST_OK;
}

static cst_status describe_one(cst__describer *d, const cst__describe_place *at,
                               const cst_tensor *tensor, cst_tensor_spec *spec) {
  const cst__tensor_kind *kind = cst__kind_of(tensor->kind);
  *spec = (cst_tensor_spec){
      .name = tensor->name, .kind = tensor->kind, .reason = "What the tensor by itself asks for."};
  if (kind == NULL) {
    return cst__fail(d->error, CST_INVALID_ARGUMENT, NULL, "unknown kind of tensor %d",
                     (int)tensor->kind);
  }
  return kind->describe(d, at, tensor, spec);
}

cst_status cst__describe_all(cst__describer *d, const cst__describe_place *at,
                             const cst_tensor *tensors, size_t count, cst_tensor_spec **out) {
  cst_tensor_spec *specs = cst__describe_take(d, count, sizeof *specs);
  if (specs == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    if (tensors[i].name == NULL) {
      return cst__fail(d->error, CST_INVALID_ARGUMENT, NULL, "a tensor has no name");
    }
    cst_status status = describe_one(d, at, &tensors[i], &specs[i]);
    if (status != CST_OK) {
      cst__error_add_path(d->error, tensors[i].name, strlen(tensors[i].name));
      return status;
    }
  }
  *out = specs;
  return CST_OK;
}

cst_status cst_specs_of_tensors(const cst_tensor *tensors, size_t count,
                                const cst_allocator *allocator, cst_specs **out, cst_error *error) {
  CST__CLEAR(out);
  if ((tensors == NULL && count > 0) || out == NULL) {
    return cst__missing(out == NULL ? "the output" : "the list of tensors", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  cst__describer d = {.error = error};
  const cst__describe_place top = {.depth = CST__ENCODE_MAX_DEPTH};
  cst_tensor_spec *specs;
  cst__arena_init(&d.arena, allocator);
  cst_status status = cst__describe_all(&d, &top, tensors, count, &specs);
  if (status == CST_OK) {
    status = cst_specs_from(specs, count, allocator, out, error);
  }
  cst__arena_reset(&d.arena);
  return status;
}
