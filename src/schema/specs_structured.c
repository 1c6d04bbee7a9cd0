/* Structured tensors: named tensors of columns, and of the fields of STRUCT features (RFC
 * "Standardized TFX inputs", "StructuredTensor"; our field structured_tensor of
 * TensorRepresentation).
 */
#include <stdlib.h>

#include "schema/specs_internal.h"

/* The path to a feature, from the inside out. */
typedef struct place {
  const struct place *outer; /* NULL: at the top */
  const cst_feature *feature;
} place;

static size_t depth_of_spec(const place *at) {
  size_t depth = 0;
  for (; at != NULL; at = at->outer) {
    depth++;
  }
  return depth;
}

static int compare_fields(const void *a, const void *b) {
  return strcmp(((const cst_tensor_spec *)a)->name, ((const cst_tensor_spec *)b)->name);
}

static void sort_fields(cst_tensor_spec *fields, size_t count) {
  if (count > 1) {
    qsort(fields, count, sizeof *fields, compare_fields);
  }
}

/* What the feature makes by itself, whatever other tensors there are. */
static cst_status make_column(cst__specs_builder *b, const cst_feature *feature,
                              const cst__message *message, cst_tensor_spec *out) {
  cst_specs *specs = b->specs;
  cst_tensor_spec *items = specs->items;
  size_t count = specs->count;
  size_t capacity = specs->capacity;
  cst__specs_builder alone = {
      .schema = b->schema, .specs = specs, .legacy = b->legacy, .error = b->error};
  specs->items = NULL;
  specs->count = specs->capacity = 0;
  cst_status status = cst__specs_infer_leaf(&alone, feature, message);
  if (status == CST_OK) {
    *out = specs->items[0];
    out->is_explicit = true;
  }
  cst__delete(specs->items);
  cst__name_map_reset(&alone.tensors);
  specs->items = items;
  specs->count = count;
  specs->capacity = capacity;
  return status;
}

/* A leaf within structs is ragged, as inference has it. */
static cst_status make_leaf(cst__specs_builder *b, const cst__message *message, const place *at,
                            cst_tensor_spec *out) {
  size_t depth = depth_of_spec(at);
  const char **path = cst__specs_take(b, depth, sizeof *path);
  if (path == NULL) {
    return CST_NO_MEMORY;
  }
  *out = (cst_tensor_spec){.kind = CST_TENSOR_RAGGED,
                           .dtype = cst__specs_dtype(at->feature->type),
                           .row_splits_dtype = CST_DTYPE_INT64,
                           .is_explicit = true,
                           .reason = "A leaf of a STRUCT feature is a ragged tensor."};
  for (const place *step = at; step != NULL; step = step->outer) {
    CST__TRY(cst__specs_copy_name(b, message, cst__bytes_of(step->feature->name), &path[--depth]));
  }
  out->path = path;
  out->num_path_steps = depth_of_spec(at);
  out->name = path[out->num_path_steps - 1];
  return CST_OK;
}

static cst_status make_struct(cst__specs_builder *b, const cst__message *message, const place *at,
                              cst_tensor_spec *out) {
  const cst_feature *feature = at->feature;
  const cst__message *domain = cst__message_child(message, FEATURE_STRUCT_DOMAIN);
  if (domain != NULL && cst__message_find(domain, STRUCT_DOMAIN_SPARSE_FEATURE) != NULL) {
    return cst__fail(b->error, CST_UNSUPPORTED, "move the sparse feature to the top",
                     "a sparse feature inside a STRUCT is not supported");
  }
  *out = (cst_tensor_spec){.kind = CST_TENSOR_STRUCTURED,
                           .is_explicit = true,
                           .reason = "A STRUCT feature is a structured tensor of its fields."};
  CST__TRY(cst__specs_copy_name(b, message, cst__bytes_of(feature->name), &out->name));
  cst_tensor_spec *fields = cst__specs_take(b, feature->num_children, sizeof *fields);
  if (fields == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < feature->num_children; i++) {
    const place below = {at, &feature->children[i]};
    const cst__message *child =
        cst__nth_message(cst__message_find(domain, STRUCT_DOMAIN_FEATURE), i);
    if (!below.feature->in_use || below.feature->type == CST_FEATURE_UNKNOWN) {
      continue;
    }
    bool is_struct = below.feature->type == CST_FEATURE_STRUCT;
    CST__TRY((is_struct ? make_struct : make_leaf)(b, child, &below, &fields[out->num_fields]));
    out->num_fields++;
  }
  sort_fields(fields, out->num_fields);
  out->fields = fields;
  return CST_OK;
}

static cst_status make_field(cst__specs_builder *b, const cst__message *structured, cst_bytes name,
                             cst_tensor_spec *out) {
  size_t at = cst__schema_find_feature(b->schema, (const char *)name.data, name.size);
  const cst__field *features = cst__message_find(b->schema->root, SCHEMA_FEATURE);
  const place top = {NULL, &b->schema->features[at]};
  switch (top.feature->type) {
    case CST_FEATURE_UNKNOWN:
      return cst__schema_fail(structured, b->error, "use a feature of another type",
                              "the column '%s' is TYPE_UNKNOWN", top.feature->name);
    case CST_FEATURE_STRUCT:
      return make_struct(b, cst__nth_message(features, at), &top, out);
    default:
      return make_column(b, top.feature, cst__nth_message(features, at), out);
  }
}

cst_status cst__specs_add_structured(cst__specs_builder *b, const cst__message *structured,
                                     cst_bytes name, const char *reason, cst_tensor_spec **out) {
  const cst__field *columns = cst__message_find(structured, STRUCTURED_COLUMNS);
  cst_tensor_spec *fields = cst__specs_take(b, columns->count, sizeof *fields);
  if (fields == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < columns->count; i++) {
    CST__TRY(make_field(b, structured, cst__nth_bytes(columns, i), &fields[i]));
  }
  sort_fields(fields, columns->count);
  for (size_t i = 1; i < columns->count; i++) {
    if (strcmp(fields[i - 1].name, fields[i].name) == 0) {
      return cst__schema_fail(structured, b->error, "name it once",
                              "the structured tensor has the column '%s' twice", fields[i].name);
    }
  }
  CST__TRY(cst__specs_add(b, structured, name, CST_TENSOR_STRUCTURED, reason, out));
  (*out)->is_explicit = true;
  (*out)->fields = fields;
  (*out)->num_fields = columns->count;
  return CST_OK;
}
