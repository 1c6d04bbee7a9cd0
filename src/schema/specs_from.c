/* Specs that a caller describes: copied, and checked by the rules that a schema's tensor
 * representations have to keep.
 */
#include <columnstone/schema.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/utf8.h"
#include "schema/specs_internal.h"

typedef struct copier {
  cst__arena *arena;
  cst_error *error;
} copier;

static void *take_spec_memory(const copier *c, size_t count, size_t item_size) {
  size_t size;
  void *memory = NULL;
  if (cst__mul(count, item_size, &size)) {
    memory = cst__arena_take_zero(c->arena, size);
  }
  if (memory == NULL) {
    (void)cst__fail_memory(c->error, count);
  }
  return memory;
}

/* `what` is the role of the name. */
static cst_status copy_spec_name(const copier *c, const char *what, const char *name,
                                 const char **out) {
  if (name == NULL) {
    return cst__fail(c->error, CST_SCHEMA, NULL, "the %s is missing", what);
  }
  size_t size = strlen(name);
  if (!cst__utf8_valid((const uint8_t *)name, size)) {
    return cst__fail(c->error, CST_SCHEMA, NULL, "the %s is not valid UTF-8", what);
  }
  *out = cst__arena_copy(c->arena, name, size);
  return *out != NULL ? CST_OK : cst__fail_memory(c->error, size);
}

static cst_status copy_spec_names(const copier *c, const char *what, const char *const *names,
                                  size_t count, const char *const **out) {
  const char **copies;
  if (names == NULL && count > 0) {
    return cst__fail(c->error, CST_SCHEMA, NULL, "the %s is missing", what);
  }
  copies = take_spec_memory(c, count, sizeof *copies);
  if (copies == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(copy_spec_name(c, what, names[i], &copies[i]));
  }
  *out = copies;
  return CST_OK;
}

/* Sizes of at least `least` whose product fits into 63 bits. */
static cst_status copy_spec_dims(const copier *c, const cst_tensor_spec *from, int64_t least,
                                 cst_tensor_spec *to) {
  int64_t total = 1;
  int64_t *dims;
  if (from->dims == NULL && from->num_dims > 0) {
    return cst__fail(c->error, CST_SCHEMA, NULL, "the shape is missing");
  }
  dims = take_spec_memory(c, from->num_dims, sizeof *dims);
  if (dims == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < from->num_dims; i++) {
    dims[i] = from->dims[i];
    if (dims[i] < least) {
      return cst__fail(c->error, CST_SCHEMA, "a size is 0 or more",
                       "dim %zu of the shape has the size %lld", i, (long long)dims[i]);
    }
    if (dims[i] > 0 && __builtin_mul_overflow(total, dims[i], &total)) {
      return cst__fail(c->error, CST_SCHEMA, NULL,
                       "the product of the shape's dims has more than 63 bits");
    }
  }
  to->dims = dims;
  to->num_dims = from->num_dims;
  return CST_OK;
}

/* ---- kinds ---- */

static cst_status copy_default(const copier *c, const cst_tensor_spec *from, cst_tensor_spec *to) {
  cst_bytes bytes = from->default_bytes;
  to->has_default = from->has_default;
  if (!from->has_default) {
    return CST_OK;
  }
  cst_dtype family = cst__dtype_family(to->dtype);
  if (family == CST_DTYPE_INT64) {
    to->default_int = from->default_int;
  } else if (family == CST_DTYPE_FLOAT32) {
    to->default_float = from->default_float;
  } else {
    if (bytes.data == NULL && bytes.size > 0) {
      return cst__fail(c->error, CST_SCHEMA, NULL, "the default's bytes are missing");
    }
    const char *copy = cst__arena_copy(c->arena, bytes.data, bytes.size);
    to->default_bytes = (cst_bytes){(const uint8_t *)copy, bytes.size};
    return copy != NULL ? CST_OK : cst__fail_memory(c->error, bytes.size);
  }
  return CST_OK;
}

static cst_status copy_dense(const copier *c, const cst_tensor_spec *from, cst_tensor_spec *to) {
  CST__TRY(copy_spec_dims(c, from, 0, to));
  return copy_default(c, from, to);
}

static cst_status copy_sparse(const copier *c, const cst_tensor_spec *from, cst_tensor_spec *to) {
  if (from->num_dims != from->num_index_columns) {
    return cst__fail(c->error, CST_SCHEMA, "give one dim for each index column",
                     "the sparse tensor has %zu index columns, and its shape %zu dims",
                     from->num_index_columns, from->num_dims);
  }
  CST__TRY(copy_spec_dims(c, from, -1, to));
  CST__TRY(copy_spec_names(c, "name of an index column", from->index_columns,
                           from->num_index_columns, &to->index_columns));
  to->num_index_columns = from->num_index_columns;
  to->already_sorted = from->already_sorted;
  return CST_OK;
}

static cst_status copy_partition(const copier *c, const cst_partition *from, cst_partition *to) {
  if (from->row_length_column != NULL) {
    return copy_spec_name(c, "name of a row_length column", from->row_length_column,
                          &to->row_length_column);
  }
  to->uniform_length = from->uniform_length;
  if (from->uniform_length <= 0) {
    return cst__fail(c->error, CST_SCHEMA, NULL, "a uniform row length is %lld, expected 1 or more",
                     (long long)from->uniform_length);
  }
  return CST_OK;
}

static cst_status copy_ragged(const copier *c, const cst_tensor_spec *from, cst_tensor_spec *to) {
  size_t count = from->num_partitions;
  cst_partition *partitions;
  bool is_32 = from->row_splits_dtype == CST_DTYPE_INT32;
  if (!is_32 && from->row_splits_dtype != CST_DTYPE_INT64 &&
      from->row_splits_dtype != CST_DTYPE_NONE) {
    return cst__fail(c->error, CST_SCHEMA, "use int64 or int32", "row splits of type %s",
                     cst_dtype_name(from->row_splits_dtype));
  }
  if (from->partitions == NULL && count > 0) {
    return cst__fail(c->error, CST_SCHEMA, NULL, "the partitions are missing");
  }
  partitions = take_spec_memory(c, count, sizeof *partitions);
  if (partitions == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(copy_partition(c, &from->partitions[i], &partitions[i]));
  }
  to->partitions = partitions;
  to->num_partitions = count;
  to->row_splits_dtype = is_32 ? CST_DTYPE_INT32 : CST_DTYPE_INT64;
  to->is_varlen_ragged = from->is_varlen_ragged && count == 0;
  return CST_OK;
}

/* ---- one spec ---- */

static cst_status copy_column(const copier *c, const cst_tensor_spec *from, cst_tensor_spec *to) {
  if (from->dtype <= CST_DTYPE_NONE || from->dtype > CST_DTYPE_BOOL) {
    return cst__fail(c->error, CST_SCHEMA, "use int64, float32 or bytes: other widths fit them",
                     "values of type %s", cst_dtype_name(from->dtype));
  }
  to->dtype = from->dtype;
  if (from->num_path_steps == 0) {
    to->num_path_steps = 1;
    return copy_spec_names(c, "column", &to->name, 1, &to->path);
  }
  to->num_path_steps = from->num_path_steps;
  return copy_spec_names(c, "path of the value column", from->path, from->num_path_steps,
                         &to->path);
}

static cst_status copy_list(const copier *c, const cst_tensor_spec *from, size_t count, int depth,
                            cst_tensor_spec *to);

static cst_status copy_fields(const copier *c, const cst_tensor_spec *from, int depth,
                              cst_tensor_spec *to) {
  cst_tensor_spec *fields;
  if (depth == 0) {
    return cst__fail(c->error, CST_SCHEMA, NULL, "structured tensors nested deeper than %d",
                     (int)CST__DEPTH_LIMIT);
  }
  if (from->num_fields == 0 || from->fields == NULL) {
    return cst__fail(c->error, CST_SCHEMA, "pass the tensors of its fields",
                     "the structured tensor has no fields");
  }
  fields = take_spec_memory(c, from->num_fields, sizeof *fields);
  if (fields == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(copy_list(c, from->fields, from->num_fields, depth - 1, fields));
  to->fields = fields;
  to->num_fields = from->num_fields;
  return CST_OK;
}

static cst_status copy_kind(const copier *c, const cst_tensor_spec *from, int depth,
                            cst_tensor_spec *to) {
  switch (from->kind) {
    case CST_TENSOR_STRUCTURED:
      return copy_fields(c, from, depth, to);
    case CST_TENSOR_DENSE:
      CST__TRY(copy_column(c, from, to));
      return copy_dense(c, from, to);
    case CST_TENSOR_VARLEN_SPARSE:
      return copy_column(c, from, to);
    case CST_TENSOR_SPARSE:
      CST__TRY(copy_column(c, from, to));
      return copy_sparse(c, from, to);
    case CST_TENSOR_RAGGED:
      CST__TRY(copy_column(c, from, to));
      return copy_ragged(c, from, to);
  }
  return cst__fail(c->error, CST_SCHEMA, NULL, "unknown kind of tensor %d", (int)from->kind);
}

static cst_status copy_spec(const copier *c, const cst_tensor_spec *from, int depth,
                            cst_tensor_spec *to) {
  static const char given[] = "Given by the caller.";
  to->kind = from->kind;
  to->is_explicit = from->is_explicit;
  CST__TRY(copy_spec_name(c, "name of a tensor", from->name, &to->name));
  cst_status status = copy_kind(c, from, depth, to);
  if (status == CST_OK) {
    status = copy_spec_name(c, "reason", from->reason != NULL ? from->reason : given, &to->reason);
  }
  if (status == CST_SCHEMA) {
    cst__error_add_path(c->error, to->name, strlen(to->name));
  }
  return status;
}

/* ---- the list ---- */

static int compare_spec_names(const void *a, const void *b) {
  return strcmp(((const cst_tensor_spec *)a)->name, ((const cst_tensor_spec *)b)->name);
}

/* Copies specs and sorts them by name. */
static cst_status copy_list(const copier *c, const cst_tensor_spec *from, size_t count, int depth,
                            cst_tensor_spec *to) {
  for (size_t i = 0; i < count; i++) {
    CST__TRY(copy_spec(c, &from[i], depth, &to[i]));
  }
  if (count > 1) {
    qsort(to, count, sizeof *to, compare_spec_names);
  }
  for (size_t i = 1; i < count; i++) {
    if (strcmp(to[i - 1].name, to[i].name) == 0) {
      cst_status status =
          cst__fail(c->error, CST_SCHEMA, "rename one of them", "two tensors have the same name");
      cst__error_add_path(c->error, to[i].name, strlen(to[i].name));
      return status;
    }
  }
  return CST_OK;
}

cst_status cst_specs_from(const cst_tensor_spec *items, size_t count,
                          const cst_allocator *allocator, cst_specs **out, cst_error *error) {
  CST__CLEAR(out);
  if ((items == NULL && count > 0) || out == NULL) {
    return cst__missing(out == NULL ? "out" : "items", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  size_t size;
  cst_specs *specs = cst__new_zero(allocator, sizeof *specs);
  if (specs == NULL) {
    return cst__fail_memory(error, sizeof *specs);
  }
  cst__refcount_init(&specs->owners);
  cst__arena_init(&specs->arena, allocator);
  if (cst__mul(count, sizeof *items, &size) && cst__add(size, sizeof *items, &size)) {
    specs->items = cst__new_zero(allocator, size);
  }
  const copier c = {&specs->arena, error};
  cst_status status = specs->items == NULL
                          ? cst__fail_memory(error, count)
                          : copy_list(&c, items, count, CST__DEPTH_LIMIT, specs->items);
  if (status != CST_OK) {
    cst_specs_release(specs);
    return status;
  }
  specs->count = count;
  *out = specs;
  return CST_OK;
}
