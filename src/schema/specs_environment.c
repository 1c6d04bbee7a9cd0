/* Environments: the tensors of the features that are expected in one, such as all but the label in
 * serving (schema.proto: Schema.default_environment, Feature.in_environment, not_in_environment).
 */
#include "schema/domains.h"
#include "schema/specs_internal.h"

/* One step down: the feature of that name among those of a schema or a struct_domain, if it is in
 * the environment. */
static const cst__message *step_into(const cst_schema *schema, const cst__message *parent,
                                     int32_t number, const char *name, const char *environment) {
  const cst__field *features = parent != NULL ? cst__message_find(parent, number) : NULL;
  for (size_t i = 0; features != NULL && i < features->count; i++) {
    const cst__message *feature = cst__nth_message(features, i);
    if (cst__bytes_equal(cst__message_bytes(feature, FEATURE_NAME), cst__bytes_of(name))) {
      return cst__in_environment(schema, feature, environment) ? feature : NULL;
    }
  }
  return NULL;
}

/* The message that has the features beside those that the path leads to; NULL if a struct above is
 * not in the environment. *number: of its field. */
static const cst__message *parent_of(const cst_schema *schema, const cst_tensor_spec *spec,
                                     const char *environment, int32_t *number) {
  const cst__message *parent = schema->root;
  *number = SCHEMA_FEATURE;
  for (size_t i = 0; parent != NULL && i + 1 < spec->num_path_steps; i++) {
    parent = step_into(schema, parent, *number, spec->path[i], environment);
    parent = parent != NULL ? cst__message_child(parent, FEATURE_STRUCT_DOMAIN) : NULL;
    *number = STRUCT_DOMAIN_FEATURE;
  }
  return parent;
}

static bool has_all_columns(const cst_schema *schema, const cst_tensor_spec *spec,
                            const char *environment) {
  int32_t number;
  const cst__message *parent = parent_of(schema, spec, environment, &number);
  const char *value = spec->path[spec->num_path_steps - 1];
  bool all = step_into(schema, parent, number, value, environment) != NULL;
  for (size_t i = 0; all && i < spec->num_index_columns; i++) {
    all = step_into(schema, parent, number, spec->index_columns[i], environment) != NULL;
  }
  for (size_t i = 0; all && i < spec->num_partitions; i++) {
    const char *lengths = spec->partitions[i].row_length_column;
    all = lengths == NULL || step_into(schema, parent, number, lengths, environment) != NULL;
  }
  return all;
}

/* Closes the gaps of the tensors that are not to be; how many are left. */
static size_t keep_feature(const cst_schema *schema, cst_tensor_spec *specs, size_t count,
                           const char *environment) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    cst_tensor_spec spec = specs[i];
    if (spec.kind == CST_TENSOR_STRUCTURED) {
      cst_tensor_spec *fields = (cst_tensor_spec *)(uintptr_t)spec.fields; /* of our own arena */
      spec.num_fields = keep_feature(schema, fields, spec.num_fields, environment);
      specs[kept] = spec;
      kept += spec.num_fields > 0;
    } else {
      specs[kept] = spec;
      kept += has_all_columns(schema, &spec, environment);
    }
  }
  return kept;
}

cst_status cst__specs_keep_environment(cst__specs_builder *b, const char *environment) {
  CST__TRY(cst__check_environment(b->schema, environment, b->error));
  if (environment != NULL) {
    b->specs->count = keep_feature(b->schema, b->specs->items, b->specs->count, environment);
  }
  return CST_OK;
}
