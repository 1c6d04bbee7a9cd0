/* Checks of what a schema says about several features at once: sparse features and tensor
 * representations are whole, and refer to columns that exist.
 */
#include "base/utf8.h"
#include "schema/internal.h"
#include "schema/schema.h"

static const char column_hint[] = "name a feature of this schema, or add the feature";

static bool has_feature(const cst_schema *schema, cst_bytes name) {
  return cst__schema_find_feature(schema, (const char *)name.data, name.size) != SIZE_MAX;
}

/* ---- sparse features ---- */

static cst_status check_part(const cst_schema *schema, const cst__message *part, const char *role,
                             cst_error *error) {
  cst_bytes name = cst__message_bytes(part, SPARSE_PART_NAME);
  if (name.size == 0) {
    return cst__schema_fail(part, error, NULL, "an %s feature has no name", role);
  }
  if (!has_feature(schema, name)) {
    return cst__schema_fail(part, error, column_hint, "the %s feature '%.*s' does not exist", role,
                            NAME_ARGS(name));
  }
  return CST_OK;
}

static cst_status check_structured_parts(const cst_schema *schema, const cst__message *sparse,
                                         cst_error *error) {
  const cst__field *indexes = cst__message_find(sparse, SPARSE_INDEX);
  const cst__message *value = cst__message_child(sparse, SPARSE_VALUE);
  if (indexes == NULL) {
    return cst__schema_fail(sparse, error, "add index_feature { name: ... }",
                            "the sparse feature has no index feature");
  }
  if (value == NULL) {
    return cst__schema_fail(sparse, error, "add value_feature { name: ... }",
                            "the sparse feature has no value feature");
  }
  for (size_t i = 0; i < indexes->count; i++) {
    CST__TRY(check_part(schema, cst__nth_message(indexes, i), "index", error));
  }
  return check_part(schema, value, "value", error);
}

static cst_status check_sparse(const cst_schema *schema, const cst__message *sparse,
                               cst__name_map *names, cst_error *error) {
  cst_bytes name = cst__message_bytes(sparse, SPARSE_NAME);
  if (name.size == 0) {
    return cst__schema_fail(sparse, error, "give every sparse feature a name",
                            "a sparse feature has no name");
  }
  cst_status status = CST_OK;
  if (cst__name_map_find(names, (const char *)name.data, name.size) != SIZE_MAX) {
    status = cst__schema_fail(sparse, error, "remove or rename one of them",
                              "two sparse features have the same name");
  } else if (!cst__name_map_add(names, (const char *)name.data, name.size, 0)) {
    return cst__fail_memory(error, sizeof(cst__name_slot));
  } else if (cst__is_in_use(sparse, SPARSE_DEPRECATED, SPARSE_LIFECYCLE_STAGE)) {
    status = check_structured_parts(schema, sparse, error);
  }
  if (status != CST_OK) {
    cst__error_add_path(error, (const char *)name.data, name.size);
  }
  return status;
}

static cst_status check_sparse_features(const cst_schema *schema, cst_error *error) {
  const cst__field *sparse = cst__message_find(schema->root, SCHEMA_SPARSE_FEATURE);
  cst__name_map names = {0};
  cst_status status = CST_OK;
  for (size_t i = 0; sparse != NULL && i < sparse->count && status == CST_OK; i++) {
    status = check_sparse(schema, cst__nth_message(sparse, i), &names, error);
  }
  cst__name_map_reset(&names);
  return status;
}

/* ---- tensor representations ---- */

/* A column that a representation names; `what` says which one. */
static cst_status check_source_column(const cst_schema *schema, const cst__message *kind,
                                      int32_t number, const char *what, cst_error *error) {
  cst_bytes name = cst__message_bytes(kind, number);
  if (name.size == 0) {
    return cst__schema_fail(kind, error, NULL, "the tensor representation has no %s", what);
  }
  if (!has_feature(schema, name)) {
    return cst__schema_fail(kind, error, column_hint, "the %s '%.*s' does not exist", what,
                            NAME_ARGS(name));
  }
  return CST_OK;
}

/* Sizes of at least `least` (-1 for unknown ones) whose product fits into 63 bits. */
static cst_status check_dims(const cst__message *shape, int64_t least, cst_error *error) {
  const cst__field *dims = shape != NULL ? cst__message_find(shape, SHAPE_DIM) : NULL;
  int64_t total = 1;
  for (size_t i = 0; dims != NULL && i < dims->count; i++) {
    const cst__message *dim = cst__nth_message(dims, i);
    int64_t size = cst__message_int(dim, DIM_SIZE, -1);
    if (size < least) {
      return cst__schema_fail(dim, error, "a size is 0 or more",
                              "dim %zu of the shape has the size %lld", i, (long long)size);
    }
    if (size > 0 && __builtin_mul_overflow(total, size, &total)) {
      return cst__schema_fail(dim, error, NULL,
                              "the product of the shape's dims has more than 63 bits");
    }
  }
  return CST_OK;
}

static cst_status check_dense(const cst_schema *schema, const cst__message *dense,
                              cst_error *error) {
  CST__TRY(check_source_column(schema, dense, DENSE_COLUMN, "column_name", error));
  return check_dims(cst__message_child(dense, DENSE_SHAPE), 0, error);
}

static cst_status check_sparse_tensor(const cst_schema *schema, const cst__message *sparse,
                                      cst_error *error) {
  const cst__field *columns = cst__message_find(sparse, SPARSE_TENSOR_INDEX_COLUMNS);
  const cst__message *shape = cst__message_child(sparse, SPARSE_TENSOR_SHAPE);
  size_t num_columns = columns != NULL ? columns->count : 0;
  if (columns == NULL && shape == NULL) {
    return cst__schema_fail(
        sparse, error, "add index_column_names, or dense_shape {} if the row is its only index",
        "the sparse tensor has no index column");
  }
  for (size_t i = 0; i < num_columns; i++) {
    cst_bytes name = cst__nth_bytes(columns, i);
    if (!has_feature(schema, name)) {
      return cst__schema_fail(sparse, error, column_hint, "the index column '%.*s' does not exist",
                              NAME_ARGS(name));
    }
  }
  CST__TRY(
      check_source_column(schema, sparse, SPARSE_TENSOR_VALUE_COLUMN, "value_column_name", error));
  size_t num_dims = shape != NULL ? cst__message_count(shape, SHAPE_DIM) : num_columns;
  if (num_dims != num_columns) {
    return cst__schema_fail(sparse, error, "give one dim for each index column",
                            "the sparse tensor has %zu index columns, and dense_shape %zu dims",
                            num_columns, num_dims);
  }
  return check_dims(shape, -1, error);
}

/* The column with row lengths stands beside the values. */
static bool has_sibling(const cst_schema *schema, const cst__message *path, cst_bytes name) {
  const cst__field *steps = cst__message_find(path, PATH_STEP);
  if (steps->count == 1) {
    return has_feature(schema, name);
  }
  cst_bytes top = cst__nth_bytes(steps, 0);
  size_t at = cst__schema_find_feature(schema, (const char *)top.data, top.size);
  const cst_feature *parent = &schema->features[at];
  for (size_t i = 1; i + 1 < steps->count; i++) {
    parent = cst__feature_by_name(parent->children, parent->num_children, cst__nth_bytes(steps, i));
  }
  return cst__feature_by_name(parent->children, parent->num_children, name) != NULL;
}

static cst_status check_partition(const cst_schema *schema, const cst__message *path,
                                  const cst__message *partition, cst_error *error) {
  const cst__field *uniform = cst__message_find(partition, PARTITION_UNIFORM);
  cst_bytes column = cst__message_bytes(partition, PARTITION_ROW_LENGTH);
  if (uniform != NULL && uniform->as.one.i <= 0) {
    return cst__schema_fail(partition, error, NULL,
                            "uniform_row_length is %lld, expected 1 or more",
                            (long long)uniform->as.one.i);
  }
  if (uniform == NULL && column.size == 0) {
    return cst__schema_fail(partition, error, "add uniform_row_length or row_length",
                            "a partition of the ragged tensor is empty");
  }
  if (uniform == NULL && !has_sibling(schema, path, column)) {
    return cst__schema_fail(partition, error, column_hint,
                            "the row_length column '%.*s' does not exist", NAME_ARGS(column));
  }
  return CST_OK;
}

static cst_status check_ragged(const cst_schema *schema, const cst__message *ragged,
                               cst_error *error) {
  const cst__message *path = cst__message_child(ragged, RAGGED_PATH);
  const cst__field *partitions = cst__message_find(ragged, RAGGED_PARTITION);
  if (path == NULL || cst__message_count(path, PATH_STEP) == 0) {
    return cst__schema_fail(ragged, error, "add feature_path { step: ... }",
                            "the ragged tensor has no feature_path");
  }
  if (cst__schema_feature_at(schema, path) == NULL) {
    cst_bytes step = cst__nth_bytes(cst__message_find(path, PATH_STEP), 0);
    return cst__schema_fail(path, error, column_hint, "no feature is at the path '%.*s%s'",
                            NAME_ARGS(step), cst__message_count(path, PATH_STEP) > 1 ? "..." : "");
  }
  for (size_t i = 0; partitions != NULL && i < partitions->count; i++) {
    CST__TRY(check_partition(schema, path, cst__nth_message(partitions, i), error));
  }
  return CST_OK;
}

static cst_status check_structured(const cst_schema *schema, const cst__message *structured,
                                   cst_error *error) {
  const cst__field *columns = cst__message_find(structured, STRUCTURED_COLUMNS);
  if (columns == NULL) {
    return cst__schema_fail(structured, error, "add column_names",
                            "the structured tensor has no column");
  }
  for (size_t i = 0; i < columns->count; i++) {
    cst_bytes name = cst__nth_bytes(columns, i);
    if (!has_feature(schema, name)) {
      return cst__schema_fail(structured, error, column_hint, "the column '%.*s' does not exist",
                              NAME_ARGS(name));
    }
  }
  return CST_OK;
}

static cst_status check_representation(const cst_schema *schema, const cst__message *tensor,
                                       cst_error *error) {
  const cst__message *kind;
  if ((kind = cst__message_child(tensor, REPRESENTATION_DENSE)) != NULL) {
    return check_dense(schema, kind, error);
  }
  if ((kind = cst__message_child(tensor, REPRESENTATION_VARLEN)) != NULL) {
    return check_source_column(schema, kind, VARLEN_COLUMN, "column_name", error);
  }
  if ((kind = cst__message_child(tensor, REPRESENTATION_SPARSE)) != NULL) {
    return check_sparse_tensor(schema, kind, error);
  }
  if ((kind = cst__message_child(tensor, REPRESENTATION_RAGGED)) != NULL) {
    return check_ragged(schema, kind, error);
  }
  if ((kind = cst__message_child(tensor, REPRESENTATION_STRUCTURED)) != NULL) {
    return check_structured(schema, kind, error);
  }
  if (tensor->unknown_first != NULL) {
    return CST_OK; /* a kind of a later version: only whoever wants the tensor fails */
  }
  return cst__schema_fail(tensor, error,
                          "add dense_tensor, varlen_sparse_tensor, sparse_tensor, "
                          "ragged_tensor or structured_tensor",
                          "the tensor representation is empty");
}

static cst_status check_group(const cst_schema *schema, const cst__message *entry,
                              cst_error *error) {
  const cst__message *group = cst__message_child(entry, ENTRY_VALUE);
  const cst__field *tensors = cst__message_find(group, GROUP_REPRESENTATION);
  for (size_t i = 0; tensors != NULL && i < tensors->count; i++) {
    const cst__message *tensor = cst__nth_message(tensors, i);
    cst_bytes name = cst__message_bytes(tensor, ENTRY_KEY);
    if (name.size > 0 && !cst__utf8_valid(name.data, name.size)) {
      return cst__schema_fail(tensor, error, NULL, "the name of a tensor is not valid UTF-8");
    }
    cst_status status =
        check_representation(schema, cst__message_child(tensor, ENTRY_VALUE), error);
    if (status != CST_OK) {
      cst__error_add_path(error, (const char *)name.data, name.size);
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__schema_check_references(const cst_schema *schema, cst_error *error) {
  CST__TRY(check_sparse_features(schema, error));
  const cst__field *groups = cst__message_find(schema->root, SCHEMA_GROUP);
  for (size_t i = 0; groups != NULL && i < groups->count; i++) {
    CST__TRY(check_group(schema, cst__nth_message(groups, i), error));
  }
  return CST_OK;
}
