/* The rules that make tensors of features and sparse features (RFC "TFXIO schema interpretation",
 * "Feature", "SparseFeature"), and the legacy ones.
 */
#include "schema/specs_internal.h"

/* True if an explicit tensor has this name, or is made of a column with this name. */
static bool is_covered(const cst__specs_builder *b, cst_bytes name) {
  const char *text = (const char *)name.data;
  if (cst__name_map_find(&b->sources, text, name.size) != SIZE_MAX) {
    return true;
  }
  size_t at = cst__name_map_find(&b->tensors, text, name.size);
  return at != SIZE_MAX && b->specs->items[at].is_explicit;
}

/* ---- sparse features ---- */

/* A feature may be part of one sparse feature only. */
static cst_status consume(cst__specs_builder *b, const cst__message *part, const char *role,
                          const cst_feature **feature, const cst__message **message) {
  cst_bytes name = cst__message_bytes(part, SPARSE_PART_NAME);
  size_t at = cst__schema_find_feature(b->schema, (const char *)name.data, name.size);
  const cst__field *features = cst__message_find(b->schema->root, SCHEMA_FEATURE);
  if (cst__name_map_find(&b->consumed, (const char *)name.data, name.size) != SIZE_MAX) {
    return cst__schema_fail(part, b->error, "a feature can be part of one sparse feature, once",
                            "the %s feature '%.*s' is used more than once", role, NAME_ARGS(name));
  }
  if (!cst__name_map_add(&b->consumed, (const char *)name.data, name.size, at)) {
    return cst__fail_memory(b->error, sizeof(cst__name_slot));
  }
  *feature = &b->schema->features[at];
  *message = cst__nth_message(features, at);
  return CST_OK;
}

/* The dense size along an index: int_domain from 0 to max; -1 if there is no int_domain. */
static cst_status index_size(cst__specs_builder *b, const cst_feature *feature,
                             const cst__message *message, int64_t *size) {
  const cst__message *domain = cst__message_child(message, FEATURE_INT_DOMAIN);
  const char *hint = "give the index feature an int_domain with min: 0 and a max, or none";
  *size = -1;
  if (feature->type != CST_FEATURE_INT) {
    return cst__schema_fail(message, b->error, NULL, "the index feature '%s' is %s, expected INT",
                            feature->name, cst__feature_type_name(feature->type));
  }
  if (domain == NULL) {
    return CST_OK;
  }
  const cst__field *min = cst__message_find(domain, INT_DOMAIN_MIN);
  const cst__field *max = cst__message_find(domain, INT_DOMAIN_MAX);
  if (min == NULL || max == NULL) {
    return cst__schema_fail(domain, b->error, hint, "the index feature '%s' has no int_domain.%s",
                            feature->name, min == NULL ? "min" : "max");
  }
  if (min->as.one.i != 0) {
    return cst__schema_fail(domain, b->error, hint,
                            "the int_domain of the index feature '%s' begins at %lld, not at 0",
                            feature->name, (long long)min->as.one.i);
  }
  if (max->as.one.i < 0 || max->as.one.i == INT64_MAX) {
    return cst__schema_fail(domain, b->error, hint,
                            "the int_domain of the index feature '%s' ends at %lld", feature->name,
                            (long long)max->as.one.i);
  }
  *size = max->as.one.i + 1;
  return CST_OK;
}

typedef struct sparse_parts {
  size_t num_indexes;
  const char **index_columns;
  int64_t *dims;
  const cst_feature *value;
} sparse_parts;

static cst_status take_parts(cst__specs_builder *b, const cst__message *sparse,
                             sparse_parts *parts) {
  const cst__field *indexes = cst__message_find(sparse, SPARSE_INDEX);
  const cst_feature *feature;
  const cst__message *message;
  parts->num_indexes = indexes->count;
  parts->index_columns = cst__specs_take(b, indexes->count, sizeof(char *));
  if (parts->index_columns == NULL) {
    return CST_NO_MEMORY;
  }
  parts->dims = cst__specs_take(b, indexes->count, sizeof(int64_t));
  if (parts->dims == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < indexes->count; i++) {
    CST__TRY(consume(b, cst__nth_message(indexes, i), "index", &feature, &message));
    CST__TRY(index_size(b, feature, message, &parts->dims[i]));
    CST__TRY(
        cst__specs_copy_name(b, message, cst__bytes_of(feature->name), &parts->index_columns[i]));
  }
  return consume(b, cst__message_child(sparse, SPARSE_VALUE), "value", &parts->value, &message);
}

static cst_status infer_sparse(cst__specs_builder *b, const cst__message *sparse) {
  sparse_parts parts;
  cst_tensor_spec *spec;
  cst_bytes name = cst__message_bytes(sparse, SPARSE_NAME);
  CST__TRY(take_parts(b, sparse, &parts));
  if (is_covered(b, name)) {
    return CST_OK;
  }
  cst_dtype dtype = cst__specs_dtype(parts.value->type);
  if (dtype == CST_DTYPE_NONE) {
    return cst__schema_fail(sparse, b->error, "use a feature of type BYTES, INT or FLOAT",
                            "the value feature '%s' is %s", parts.value->name,
                            cst__feature_type_name(parts.value->type));
  }
  CST__TRY(cst__specs_add(b, sparse, name, CST_TENSOR_SPARSE,
                          "A sparse_feature is a sparse tensor of its value feature; its shape "
                          "comes from the int_domain of the index features.",
                          &spec));
  spec->dtype = dtype;
  spec->num_dims = parts.num_indexes;
  spec->dims = parts.dims;
  spec->num_index_columns = parts.num_indexes;
  spec->index_columns = parts.index_columns;
  spec->already_sorted = cst__message_int(sparse, SPARSE_IS_SORTED, 0) != 0;
  return cst__specs_set_path(b, sparse, spec, NULL, parts.value->name);
}

static cst_status infer_sparse_features(cst__specs_builder *b) {
  const cst__field *sparse = cst__message_find(b->schema->root, SCHEMA_SPARSE_FEATURE);
  for (size_t i = 0; sparse != NULL && i < sparse->count; i++) {
    const cst__message *message = cst__nth_message(sparse, i);
    if (!cst__is_in_use(message, SPARSE_DEPRECATED, SPARSE_LIFECYCLE_STAGE)) {
      continue;
    }
    cst_bytes name = cst__message_bytes(message, SPARSE_NAME);
    cst_status status = b->legacy
                            ? cst__schema_fail(message, b->error, "leave the legacy option out",
                                               "the legacy rules have no sparse features")
                            : infer_sparse(b, message);
    if (status != CST_OK) {
      cst__error_add_path(b->error, (const char *)name.data, name.size);
      return status;
    }
  }
  return CST_OK;
}

/* ---- features ---- */

static cst_status add_inferred_ragged(cst__specs_builder *b, const cst__message *message,
                                      const char *parent, const cst_feature *feature,
                                      const char *reason) {
  cst_tensor_spec *spec;
  char *name = NULL;
  size_t parent_size = parent != NULL ? strlen(parent) + 1 : 0;
  name = cst__specs_take(b, parent_size + feature->name_size + 1, 1);
  if (name == NULL) {
    return CST_NO_MEMORY;
  }
  if (parent != NULL) {
    memcpy(name, parent, parent_size);
    name[parent_size - 1] = '.';
  }
  memcpy(name + parent_size, feature->name, feature->name_size);
  cst_bytes bytes = {(const uint8_t *)name, parent_size + feature->name_size};
  if (parent != NULL && is_covered(b, bytes)) {
    return CST_OK;
  }
  CST__TRY(cst__specs_add(b, message, bytes, CST_TENSOR_RAGGED, reason, &spec));
  spec->dtype = cst__specs_dtype(feature->type);
  spec->row_splits_dtype = CST_DTYPE_INT64;
  spec->is_varlen_ragged = parent == NULL;
  return cst__specs_set_path(b, message, spec, parent, feature->name);
}

/* True if an explicit tensor is made of something below this child. */
static bool has_explicit_below(const cst__specs_builder *b, const cst_feature *feature,
                               const cst_feature *child) {
  return cst__name_map_find_of(&b->below, feature, child->name, child->name_size) != SIZE_MAX;
}

/* Notes what has_explicit_below asks for; the explicit tensors are there. */
static cst_status note_explicit_below(cst__specs_builder *b) {
  for (size_t i = 0; i < b->specs->count; i++) {
    const cst_tensor_spec *spec = &b->specs->items[i];
    if (!spec->is_explicit || spec->num_path_steps <= 2) {
      continue;
    }
    size_t at = cst__schema_find_feature(b->schema, spec->path[0], strlen(spec->path[0]));
    const cst_feature *feature = at != SIZE_MAX ? cst_schema_feature(b->schema, at) : NULL;
    size_t size = strlen(spec->path[1]);
    if (feature != NULL &&
        cst__name_map_find_of(&b->below, feature, spec->path[1], size) == SIZE_MAX &&
        !cst__name_map_add_of(&b->below, feature, spec->path[1], size, i)) {
      return cst__fail_memory(b->error, sizeof(cst__name_slot));
    }
  }
  return CST_OK;
}

static cst_status infer_struct(cst__specs_builder *b, const cst_feature *feature,
                               const cst__message *message) {
  const cst__message *domain = cst__message_child(message, FEATURE_STRUCT_DOMAIN);
  if (domain != NULL && cst__message_find(domain, STRUCT_DOMAIN_SPARSE_FEATURE) != NULL) {
    return cst__fail(b->error, CST_UNSUPPORTED, "move the sparse feature to the top",
                     "a sparse feature inside a STRUCT is not supported");
  }
  for (size_t i = 0; i < feature->num_children; i++) {
    const cst_feature *child = &feature->children[i];
    if (!child->in_use || child->type == CST_FEATURE_UNKNOWN ||
        has_explicit_below(b, feature, child)) {
      continue;
    }
    if (child->type == CST_FEATURE_STRUCT) {
      return cst__fail(b->error, CST_UNSUPPORTED, "give it a tensor_representation_group",
                       "the STRUCT '%s' inside a STRUCT is not supported", child->name);
    }
    CST__TRY(add_inferred_ragged(b, message, feature->name, child,
                                 "A leaf of a STRUCT feature is a ragged tensor."));
  }
  return CST_OK;
}

static cst_status infer_fixed(cst__specs_builder *b, const cst_feature *feature,
                              const cst__message *message) {
  const cst__message *presence = cst__message_child(message, FEATURE_PRESENCE);
  double fraction = presence != NULL ? cst__message_double(presence, PRESENCE_MIN_FRACTION, 0) : 0;
  cst_tensor_spec *spec;
  int64_t *dims;
  if (!(fraction >= 1 && fraction <= 1)) {
    return cst__schema_fail(message, b->error,
                            "set presence.min_fraction to 1, or use value_count, not shape",
                            "a fixed shape needs presence.min_fraction 1, found %g", fraction);
  }
  CST__TRY(cst__specs_add(b, message, cst__bytes_of(feature->name), CST_TENSOR_DENSE,
                          "The shape is fixed and the feature is always present "
                          "(presence.min_fraction is 1).",
                          &spec));
  dims = cst__specs_take(b, feature->num_dims, sizeof *dims);
  if (dims == NULL) {
    return CST_NO_MEMORY;
  }
  if (feature->num_dims > 0) {
    memcpy(dims, feature->dims, feature->num_dims * sizeof *dims);
  }
  spec->dtype = cst__specs_dtype(feature->type);
  spec->num_dims = feature->num_dims;
  spec->dims = dims;
  return cst__specs_set_path(b, message, spec, NULL, feature->name);
}

static cst_status infer_variable(cst__specs_builder *b, const cst_feature *feature,
                                 const cst__message *message) {
  if (cst__message_int(b->schema->root, SCHEMA_VARLEN_AS_RAGGED, 0) != 0) {
    return add_inferred_ragged(
        b, message, NULL, feature,
        "The length is not fixed, and represent_variable_length_as_ragged is set.");
  }
  cst_tensor_spec *spec;
  CST__TRY(cst__specs_add(
      b, message, cst__bytes_of(feature->name), CST_TENSOR_VARLEN_SPARSE,
      "The length is not fixed, and represent_variable_length_as_ragged is not set.", &spec));
  spec->dtype = cst__specs_dtype(feature->type);
  return cst__specs_set_path(b, message, spec, NULL, feature->name);
}

/* ---- legacy rules: value_count decides ---- */

static cst_status add_legacy_dense(cst__specs_builder *b, const cst_feature *feature,
                                   const cst__message *message, int64_t count) {
  static const uint8_t no_bytes[] = "";
  const cst__message *presence = cst__message_child(message, FEATURE_PRESENCE);
  double fraction = presence != NULL ? cst__message_double(presence, PRESENCE_MIN_FRACTION, 0) : 0;
  cst_tensor_spec *spec;
  CST__TRY(cst__specs_add(b, message, cst__bytes_of(feature->name), CST_TENSOR_DENSE,
                          count == 1 ? "Legacy: value_count is always 1, so it is a scalar."
                                     : "Legacy: value_count is fixed, so it is a vector.",
                          &spec));
  if (count > 1) {
    int64_t *dims;
    dims = cst__specs_take(b, 1, sizeof *dims);
    if (dims == NULL) {
      return CST_NO_MEMORY;
    }
    dims[0] = count;
    spec->dims = dims;
    spec->num_dims = 1;
  }
  spec->dtype = cst__specs_dtype(feature->type);
  spec->has_default = fraction < 1;
  spec->default_int = -1;
  spec->default_float = -1;
  spec->default_bytes = (cst_bytes){no_bytes, 0};
  return cst__specs_set_path(b, message, spec, NULL, feature->name);
}

static cst_status infer_legacy(cst__specs_builder *b, const cst_feature *feature,
                               const cst__message *message) {
  const cst__message *value_count = cst__message_child(message, FEATURE_VALUE_COUNT);
  int64_t min = value_count != NULL ? cst__message_int(value_count, VALUE_COUNT_MIN, 0) : 0;
  int64_t max = value_count != NULL ? cst__message_int(value_count, VALUE_COUNT_MAX, 0) : 0;
  if (min < 0 || max < 0) {
    return cst__schema_fail(value_count, b->error, NULL, "value_count.%s is %lld",
                            min < 0 ? "min" : "max", (long long)(min < 0 ? min : max));
  }
  if (min == max && min > 0) {
    return add_legacy_dense(b, feature, message, min);
  }
  return infer_variable(b, feature, message);
}

cst_status cst__specs_infer_leaf(cst__specs_builder *b, const cst_feature *feature,
                                 const cst__message *message) {
  if (b->legacy) {
    return infer_legacy(b, feature, message);
  }
  return feature->has_fixed_shape ? infer_fixed(b, feature, message)
                                  : infer_variable(b, feature, message);
}

static cst_status infer_feature(cst__specs_builder *b, const cst_feature *feature,
                                const cst__message *message) {
  if (!feature->in_use || feature->type == CST_FEATURE_UNKNOWN ||
      cst__name_map_find(&b->consumed, feature->name, feature->name_size) != SIZE_MAX ||
      is_covered(b, (cst_bytes){(const uint8_t *)feature->name, feature->name_size})) {
    return CST_OK;
  }
  if (strlen(feature->name) != feature->name_size) {
    return cst__schema_fail(message, b->error, "rename it", "a feature name contains a NUL byte");
  }
  if (feature->type == CST_FEATURE_STRUCT) {
    return infer_struct(b, feature, message);
  }
  return cst__specs_infer_leaf(b, feature, message);
}

cst_status cst__specs_infer(cst__specs_builder *b) {
  CST__TRY(infer_sparse_features(b));
  CST__TRY(note_explicit_below(b));
  const cst__field *features = cst__message_find(b->schema->root, SCHEMA_FEATURE);
  for (size_t i = 0; i < b->schema->num_features; i++) {
    const cst_feature *feature = &b->schema->features[i];
    cst_status status = infer_feature(b, feature, cst__nth_message(features, i));
    if (status != CST_OK) {
      if (!cst__error_has_path(b->error)) {
        cst__error_add_path(b->error, feature->name, feature->name_size);
      }
      return status;
    }
  }
  return CST_OK;
}
