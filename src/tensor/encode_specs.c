/* The specs that tensors by themselves ask for. */
#include <stdio.h>

#include "tensor/encode.h"

/* The structs that the fields of a structured tensor lie in. */
typedef struct place {
  const char *const *steps;
  size_t num_steps;
} place;

typedef struct describer {
  cst__arena arena;
  cst_error *error;
} describer;

static void *take(describer *d, size_t count, size_t item_size) {
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

static const char *join(describer *d, const char *name, const char *suffix) {
  size_t size = strlen(name) + strlen(suffix);
  char *text = take(d, size, 1);
  if (text != NULL) {
    (void)snprintf(text, size + 1, "%s%s", name, suffix);
  }
  return text;
}

static cst_status set_path(describer *d, const place *at, const char *column,
                           cst_tensor_spec *spec) {
  const char **path = take(d, at->num_steps + 1, sizeof *path);
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

static cst_status set_dtype(describer *d, const cst_tensor *tensor, cst_tensor_spec *spec) {
  CST__TRY(cst__encode_check_array("values", &tensor->values, d->error));
  cst_dtype dtype = tensor->values.dtype;
  spec->dtype = dtype == CST_DTYPE_BYTES                                   ? CST_DTYPE_BYTES
                : dtype == CST_DTYPE_FLOAT32 || dtype == CST_DTYPE_FLOAT64 ? CST_DTYPE_FLOAT32
                                                                           : CST_DTYPE_INT64;
  return CST_OK;
}

/* ---- kinds ---- */

static cst_status describe_dense(describer *d, const place *at, const cst_tensor *tensor,
                                 cst_tensor_spec *spec) {
  spec->num_dims = tensor->values.num_dims - 1;
  spec->dims = tensor->values.shape + 1;
  return set_path(d, at, spec->name, spec);
}

/* True if the positions of every row count 0, 1, 2, ... and the longest row is as long as the dense
 * shape says; whether the indices are sound otherwise is for the encoder to see. */
static bool is_varlen(const cst_tensor *tensor) {
  const int64_t *at = tensor->indices.data;
  int64_t longest = 0;
  int64_t position = 0;
  if (tensor->indices.shape[1] != 2) {
    return false;
  }
  for (int64_t i = 0; i < tensor->indices.shape[0]; i++, at += 2, position++) {
    position = i > 0 && at[0] == at[-2] ? position : 0;
    longest = position + 1 > longest ? position + 1 : longest;
    if (at[1] != position) {
      return false;
    }
  }
  return ((const int64_t *)tensor->dense_shape.data)[1] == longest;
}

static cst_status describe_sparse(describer *d, const place *at, const cst_tensor *tensor,
                                  cst_tensor_spec *spec) {
  CST__TRY(cst__encode_check_integers("indices", &tensor->indices, 2, d->error));
  CST__TRY(
      cst__encode_check_integers("sizes of the dense shape", &tensor->dense_shape, 1, d->error));
  int64_t rank = tensor->indices.shape[1];
  if (rank < 2 || tensor->dense_shape.size != rank) {
    return cst__fail(d->error, CST_SCHEMA, NULL,
                     "indices of %lld numbers and a dense shape of %lld, expected two or more of "
                     "both",
                     (long long)rank, (long long)tensor->dense_shape.size);
  }
  if (is_varlen(tensor)) {
    spec->kind = CST_TENSOR_VARLEN_SPARSE;
    return set_path(d, at, spec->name, spec);
  }
  const char **columns = take(d, (size_t)rank, sizeof *columns);
  if (columns == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i + 1 < (size_t)rank; i++) {
    char suffix[32];
    (void)snprintf(suffix, sizeof suffix, "$index%zu", i);
    columns[i] = join(d, spec->name, suffix);
    if (columns[i] == NULL) {
      return CST_NO_MEMORY;
    }
  }
  spec->kind = CST_TENSOR_SPARSE;
  spec->index_columns = columns;
  spec->num_index_columns = spec->num_dims = (size_t)rank - 1;
  spec->dims = (const int64_t *)tensor->dense_shape.data + 1;
  spec->already_sorted = true;
  return set_path(d, at, join(d, spec->name, "$values"), spec);
}

static cst_status describe_ragged(describer *d, const place *at, const cst_tensor *tensor,
                                  cst_tensor_spec *spec) {
  size_t count = tensor->values.num_dims - 1;
  cst_partition *partitions = take(d, count, sizeof *partitions);
  if (partitions == NULL) {
    return CST_NO_MEMORY;
  }
  if (tensor->num_splits == 0 || tensor->splits == NULL) {
    return cst__fail(d->error, CST_SCHEMA, NULL, "a ragged tensor without row splits");
  }
  for (size_t i = 0; i < count; i++) {
    partitions[i].uniform_length = tensor->values.shape[i + 1];
  }
  spec->partitions = partitions;
  spec->num_partitions = count;
  spec->row_splits_dtype =
      tensor->splits[0].dtype == CST_DTYPE_INT32 ? CST_DTYPE_INT32 : CST_DTYPE_INT64;
  return set_path(d, at, spec->name, spec);
}

static cst_status describe_all(describer *d, const place *at, const cst_tensor *tensors,
                               size_t count, int depth, cst_tensor_spec **out);

static cst_status describe_structured(describer *d, const place *at, const cst_tensor *tensor,
                                      int depth, cst_tensor_spec *spec) {
  const char **steps = take(d, at->num_steps + 1, sizeof *steps);
  cst_tensor_spec *fields;
  if (steps == NULL) {
    return CST_NO_MEMORY;
  }
  if (depth == 0) {
    return cst__fail(d->error, CST_SCHEMA, NULL, "structured tensors more than %d deep",
                     CST__ENCODE_MAX_DEPTH);
  }
  for (size_t i = 0; i < at->num_steps; i++) {
    steps[i] = at->steps[i];
  }
  steps[at->num_steps] = tensor->name;
  const place below = {steps, at->num_steps + 1};
  size_t count = tensor->fields != NULL ? tensor->num_fields : 0;
  CST__TRY(describe_all(d, &below, tensor->fields, count, depth - 1, &fields));
  spec->fields = fields;
  spec->num_fields = count;
  return CST_OK;
}

static cst_status describe(describer *d, const place *at, const cst_tensor *tensor, int depth,
                           cst_tensor_spec *spec) {
  *spec = (cst_tensor_spec){
      .name = tensor->name, .kind = tensor->kind, .reason = "What the tensor by itself asks for."};
  if (tensor->kind == CST_TENSOR_STRUCTURED) {
    return describe_structured(d, at, tensor, depth, spec);
  }
  CST__TRY(set_dtype(d, tensor, spec));
  switch (tensor->kind) {
    case CST_TENSOR_DENSE:
      return describe_dense(d, at, tensor, spec);
    case CST_TENSOR_VARLEN_SPARSE:
    case CST_TENSOR_SPARSE:
      return describe_sparse(d, at, tensor, spec);
    case CST_TENSOR_RAGGED:
      return describe_ragged(d, at, tensor, spec);
    case CST_TENSOR_STRUCTURED:
      break;
  }
  return cst__fail(d->error, CST_INVALID_ARGUMENT, NULL, "no kind of tensor is numbered %d",
                   (int)tensor->kind);
}

static cst_status describe_all(describer *d, const place *at, const cst_tensor *tensors,
                               size_t count, int depth, cst_tensor_spec **out) {
  cst_tensor_spec *specs = take(d, count, sizeof *specs);
  if (specs == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    if (tensors[i].name == NULL) {
      return cst__fail(d->error, CST_INVALID_ARGUMENT, NULL, "a tensor has no name");
    }
    cst_status status = describe(d, at, &tensors[i], depth, &specs[i]);
    if (status != CST_OK) {
      cst__error_add_path(d->error, tensors[i].name, strlen(tensors[i].name));
      return status;
    }
  }
  *out = specs;
  return CST_OK;
}

cst_status cst__specs_of_tensors(const cst_tensor *tensors, size_t count,
                                 const cst_allocator *allocator, cst_specs **out,
                                 cst_error *error) {
  describer d = {.error = error};
  const place top = {NULL, 0};
  cst_tensor_spec *specs;
  cst__arena_init(&d.arena, allocator);
  cst_status status = describe_all(&d, &top, tensors, count, CST__ENCODE_MAX_DEPTH, &specs);
  if (status == CST_OK) {
    status = cst__specs_from(specs, count, allocator, out, error);
  }
  cst__arena_reset(&d.arena);
  return status;
}
