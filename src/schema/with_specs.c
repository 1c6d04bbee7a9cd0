/* Specs into a schema: a tensor_representation_group, and features for the columns that the schema
 * lacks. What the schema then says is read back and compared, so that nothing is lost unseen.
 */
#include <columnstone/schema.h>
#include <math.h>

#include "base/arguments.h"
#include "proto/wire.h"
#include "schema/specs_internal.h"

typedef struct writer {
  cst__arena *arena; /* of the new schema */
  cst__message *root;
  cst__name_map features; /* at the top, by name */
  cst_error *error;
} writer;

static cst_status no_message_memory(const writer *w) { return cst__fail_memory(w->error, 64); }

/* Puts the tensor's name before the error's path. */
static cst_status blame(const writer *w, const cst_tensor_spec *spec, cst_status status) {
  if (status == CST_SCHEMA || status == CST_UNSUPPORTED) {
    cst__error_add_path(w->error, spec->name, strlen(spec->name));
  }
  return status;
}

static bool put_string_field(const writer *w, cst__message *message, int32_t number,
                             const char *text) {
  return cst__message_put_bytes(w->arena, message, number, text, strlen(text));
}

/* ---- features ---- */

static cst_feature_type feature_type(cst_dtype dtype) {
  cst_dtype family = cst__dtype_family(dtype);
  return family == CST_DTYPE_INT64     ? CST_FEATURE_INT
         : family == CST_DTYPE_FLOAT32 ? CST_FEATURE_FLOAT
                                       : CST_FEATURE_BYTES;
}

static cst_status check_feature_type(const writer *w, const cst__message *feature, const char *name,
                                     cst_feature_type wanted) {
  int64_t found = cst__message_int(feature, FEATURE_TYPE, 0);
  if (found == wanted) {
    return CST_OK;
  }
  return cst__fail(w->error, CST_SCHEMA, "name another column", "the column '%.60s' is %s, not %s",
                   name, cst__feature_type_name((cst_feature_type)found),
                   cst__feature_type_name(wanted));
}

static cst_status add_spec_feature(const writer *w, cst__message *parent, int32_t number,
                                   const char *name, cst_feature_type type, cst__message **out) {
  *out = cst__message_put_child(w->arena, parent, number);
  bool ok = *out != NULL && put_string_field(w, *out, FEATURE_NAME, name) &&
            cst__message_put_int(w->arena, *out, FEATURE_TYPE, type);
  return ok ? CST_OK : no_message_memory(w);
}

/* The feature at the top, made if need be; *is_new if it was. */
static cst_status need_spec_feature(writer *w, const char *name, cst_feature_type type,
                                    bool *is_new, cst__message **out) {
  size_t at = cst__name_map_find(&w->features, name, strlen(name));
  *is_new = at == SIZE_MAX;
  if (!*is_new) {
    *out = cst__message_find(w->root, SCHEMA_FEATURE)->as.many[at].message;
    return check_feature_type(w, *out, name, type);
  }
  at = cst__message_count(w->root, SCHEMA_FEATURE);
  CST__TRY(add_spec_feature(w, w->root, SCHEMA_FEATURE, name, type, out));
  return cst__name_map_add(&w->features, name, strlen(name), at) ? CST_OK : no_message_memory(w);
}

/* The same for a child of a struct. */
static cst_status need_child(const writer *w, cst__message *parent, const char *name,
                             cst_feature_type type, cst__message **out) {
  cst__field *set = cst__message_find(parent, FEATURE_STRUCT_DOMAIN);
  cst__message *domain = set != NULL
                             ? set->as.one.message
                             : cst__message_put_child(w->arena, parent, FEATURE_STRUCT_DOMAIN);
  if (domain == NULL) {
    return no_message_memory(w);
  }
  cst__field *children = cst__message_find(domain, STRUCT_DOMAIN_FEATURE);
  for (size_t i = 0; children != NULL && i < children->count; i++) {
    *out = children->as.many[i].message;
    if (cst__bytes_equal(cst__message_bytes(*out, FEATURE_NAME), cst__bytes_of(name))) {
      return check_feature_type(w, *out, name, type);
    }
  }
  return add_spec_feature(w, domain, STRUCT_DOMAIN_FEATURE, name, type, out);
}

/* The feature `name` beside the value column of the spec, which is one itself for its last step. */
static cst_status need_column(writer *w, const cst_tensor_spec *spec, const char *name,
                              cst_feature_type type, bool *is_new, cst__message **out) {
  size_t steps = spec->num_path_steps;
  if (steps == 1) {
    return need_spec_feature(w, name, type, is_new, out);
  }
  CST__TRY(need_spec_feature(w, spec->path[0], CST_FEATURE_STRUCT, is_new, out));
  for (size_t i = 1; i + 1 < steps; i++) {
    CST__TRY(need_child(w, *out, spec->path[i], CST_FEATURE_STRUCT, out));
  }
  return need_child(w, *out, name, type, out);
}

/* The feature of the spec's values. A new one at the top of bools says so: the type is INT. */
static cst_status need_values(writer *w, const cst_tensor_spec *spec, bool *is_new,
                              cst__message **out) {
  const char *name = spec->path[spec->num_path_steps - 1];
  CST__TRY(need_column(w, spec, name, feature_type(spec->dtype), is_new, out));
  bool is_bool = *is_new && spec->num_path_steps == 1 && spec->dtype == CST_DTYPE_BOOL;
  return is_bool && cst__message_put_child(w->arena, *out, FEATURE_BOOL_DOMAIN) == NULL
             ? no_message_memory(w)
             : CST_OK;
}

/* ---- kinds ---- */

static cst_status put_tensor_shape(const writer *w, cst__message *parent, int32_t number,
                                   const cst_tensor_spec *spec) {
  cst__message *shape = cst__message_put_child(w->arena, parent, number);
  for (size_t i = 0; shape != NULL && i < spec->num_dims; i++) {
    cst__message *dim = cst__message_put_child(w->arena, shape, SHAPE_DIM);
    if (dim == NULL || !cst__message_put_int(w->arena, dim, DIM_SIZE, spec->dims[i])) {
      return no_message_memory(w);
    }
  }
  return shape != NULL ? CST_OK : no_message_memory(w);
}

static cst_status put_tensor_default(const writer *w, cst__message *dense,
                                     const cst_tensor_spec *spec) {
  cst__message *value = cst__message_put_child(w->arena, dense, DENSE_DEFAULT);
  cst_bytes bytes = spec->default_bytes;
  bool ok = value != NULL;
  cst_dtype family = cst__dtype_family(spec->dtype);
  if (family == CST_DTYPE_INT64) {
    ok = ok && cst__message_put_int(w->arena, value, DEFAULT_INT, spec->default_int);
  } else if (family == CST_DTYPE_FLOAT32) {
    ok = ok && cst__message_put_double(w->arena, value, DEFAULT_FLOAT, (double)spec->default_float);
  } else {
    ok = ok && cst__message_put_bytes(w->arena, value, DEFAULT_BYTES, bytes.data, bytes.size);
  }
  return ok ? CST_OK : no_message_memory(w);
}

static cst_status write_dense(writer *w, const cst_tensor_spec *spec, cst__message *kind) {
  if (!put_string_field(w, kind, DENSE_COLUMN, spec->path[0])) {
    return no_message_memory(w);
  }
  if (spec->num_dims > 0) {
    CST__TRY(put_tensor_shape(w, kind, DENSE_SHAPE, spec));
  }
  return spec->has_default ? put_tensor_default(w, kind, spec) : CST_OK;
}

static cst_status write_varlen(writer *w, const cst_tensor_spec *spec, cst__message *kind) {
  return put_string_field(w, kind, VARLEN_COLUMN, spec->path[0]) ? CST_OK : no_message_memory(w);
}

static cst_status write_sparse(writer *w, const cst_tensor_spec *spec, cst__message *kind) {
  bool ok =
      put_string_field(w, kind, SPARSE_TENSOR_VALUE_COLUMN, spec->path[0]) &&
      (!spec->already_sorted || cst__message_put_int(w->arena, kind, SPARSE_TENSOR_SORTED, 1));
  for (size_t i = 0; ok && i < spec->num_index_columns; i++) {
    cst__message *feature;
    bool is_new;
    CST__TRY(need_column(w, spec, spec->index_columns[i], CST_FEATURE_INT, &is_new, &feature));
    ok = put_string_field(w, kind, SPARSE_TENSOR_INDEX_COLUMNS, spec->index_columns[i]);
  }
  return ok ? put_tensor_shape(w, kind, SPARSE_TENSOR_SHAPE, spec) : no_message_memory(w);
}

static cst_status write_partition(writer *w, const cst_tensor_spec *spec, size_t i,
                                  cst__message *kind) {
  const cst_partition *from = &spec->partitions[i];
  cst__message *to = cst__message_put_child(w->arena, kind, RAGGED_PARTITION);
  bool ok = to != NULL;
  if (from->row_length_column == NULL) {
    ok = ok && cst__message_put_int(w->arena, to, PARTITION_UNIFORM, from->uniform_length);
  } else {
    cst__message *feature;
    bool is_new;
    CST__TRY(need_column(w, spec, from->row_length_column, CST_FEATURE_INT, &is_new, &feature));
    ok = ok && put_string_field(w, to, PARTITION_ROW_LENGTH, from->row_length_column);
  }
  return ok ? CST_OK : no_message_memory(w);
}

static cst_status write_ragged(writer *w, const cst_tensor_spec *spec, cst__message *kind) {
  cst__message *path = cst__message_put_child(w->arena, kind, RAGGED_PATH);
  bool is_32 = spec->row_splits_dtype == CST_DTYPE_INT32;
  bool ok = path != NULL && cst__message_put_int(w->arena, kind, RAGGED_DTYPE,
                                                 is_32 ? ROW_PARTITION_INT32 : ROW_PARTITION_INT64);
  for (size_t i = 0; ok && i < spec->num_path_steps; i++) {
    ok = put_string_field(w, path, PATH_STEP, spec->path[i]);
  }
  for (size_t i = 0; ok && i < spec->num_partitions; i++) {
    CST__TRY(write_partition(w, spec, i, kind));
  }
  return ok ? CST_OK : no_message_memory(w);
}

/* ---- structured ---- */

/* The first tensor below that has a column; NULL if there is none. */
static const cst_tensor_spec *first_leaf(const cst_tensor_spec *spec) {
  while (spec->kind == CST_TENSOR_STRUCTURED) {
    if (spec->num_fields == 0) {
      return NULL;
    }
    spec = &spec->fields[0];
  }
  return spec;
}

/* Features of all tensors below. A new one at the top gets the shape by which it is dense. */
static cst_status need_leaves(writer *w, const cst_tensor_spec *spec) {
  cst__message *feature;
  bool is_new;
  for (size_t i = 0; i < spec->num_fields; i++) {
    CST__TRY(blame(w, &spec->fields[i], need_leaves(w, &spec->fields[i])));
  }
  if (spec->kind == CST_TENSOR_STRUCTURED) {
    return CST_OK;
  }
  CST__TRY(need_values(w, spec, &is_new, &feature));
  if (!is_new || spec->num_path_steps > 1 || spec->kind != CST_TENSOR_DENSE) {
    return CST_OK;
  }
  cst__message *presence = cst__message_put_child(w->arena, feature, FEATURE_PRESENCE);
  if (presence == NULL ||
      !cst__message_put_double(w->arena, presence, PRESENCE_MIN_FRACTION, 1.0)) {
    return no_message_memory(w);
  }
  return put_tensor_shape(w, feature, FEATURE_SHAPE, spec);
}

static cst_status cannot_say(const writer *w, const cst_tensor_spec *spec) {
  const char *hint = spec->kind == CST_TENSOR_STRUCTURED
                         ? "its fields must be the tensors that their features make by default"
                         : NULL;
  return cst__fail(w->error, CST_UNSUPPORTED, hint, "a schema cannot describe this tensor");
}

/* A field is what the column of its name makes by itself. */
static cst_status write_structured(writer *w, const cst_tensor_spec *spec, cst__message *kind) {
  for (size_t i = 0; i < spec->num_fields; i++) {
    const cst_tensor_spec *field = &spec->fields[i];
    const cst_tensor_spec *leaf = first_leaf(field);
    bool is_column = leaf != NULL && strcmp(leaf->path[0], field->name) == 0 &&
                     (leaf == field) == (leaf->num_path_steps == 1);
    if (!is_column) {
      return cannot_say(w, spec);
    }
    CST__TRY(blame(w, field, need_leaves(w, field)));
    if (!put_string_field(w, kind, STRUCTURED_COLUMNS, leaf->path[0])) {
      return no_message_memory(w);
    }
  }
  return CST_OK;
}

/* ---- the group ---- */

typedef struct kind_writer {
  int32_t number; /* in TensorRepresentation */
  bool has_path;  /* of several steps */
  cst_status (*write)(writer *w, const cst_tensor_spec *spec, cst__message *kind);
} kind_writer;

static const kind_writer kinds[] = {
    [CST_TENSOR_DENSE] = {REPRESENTATION_DENSE, false, write_dense},
    [CST_TENSOR_VARLEN_SPARSE] = {REPRESENTATION_VARLEN, false, write_varlen},
    [CST_TENSOR_SPARSE] = {REPRESENTATION_SPARSE, false, write_sparse},
    [CST_TENSOR_RAGGED] = {REPRESENTATION_RAGGED, true, write_ragged},
    [CST_TENSOR_STRUCTURED] = {REPRESENTATION_STRUCTURED, true, write_structured},
};

static cst_status write_tensor(writer *w, const cst_tensor_spec *spec, cst__message *group) {
  const kind_writer *writer_of = &kinds[spec->kind];
  cst__message *feature;
  bool is_new;
  if (spec->num_path_steps > 1 && !writer_of->has_path) {
    return cst__fail(w->error, CST_UNSUPPORTED, "make it ragged, or move the column to the top",
                     "a path of %zu steps: a schema has them for ragged tensors alone",
                     spec->num_path_steps);
  }
  if (spec->kind != CST_TENSOR_STRUCTURED) {
    CST__TRY(need_values(w, spec, &is_new, &feature));
  }
  cst__message *entry = cst__message_put_child(w->arena, group, GROUP_REPRESENTATION);
  if (entry == NULL || !put_string_field(w, entry, ENTRY_KEY, spec->name)) {
    return no_message_memory(w);
  }
  cst__message *tensor = cst__message_put_child(w->arena, entry, ENTRY_VALUE);
  cst__message *kind =
      tensor != NULL ? cst__message_put_child(w->arena, tensor, writer_of->number) : NULL;
  return kind != NULL ? writer_of->write(w, spec, kind) : no_message_memory(w);
}

/* A later entry of the same key takes the place of an earlier one when the schema is compiled. */
static cst_status write_group(writer *w, const cst_specs *specs, const char *name) {
  cst__message *entry = cst__message_put_child(w->arena, w->root, SCHEMA_GROUP);
  if (entry == NULL || !put_string_field(w, entry, ENTRY_KEY, name)) {
    return no_message_memory(w);
  }
  cst__message *group = cst__message_put_child(w->arena, entry, ENTRY_VALUE);
  if (group == NULL) {
    return no_message_memory(w);
  }
  for (size_t i = 0; i < specs->count; i++) {
    CST__TRY(blame(w, &specs->items[i], write_tensor(w, &specs->items[i], group)));
  }
  return CST_OK;
}

/* ---- what the schema says then ---- */

static bool are_names_equal(const char *const *a, size_t num_a, const char *const *b,
                            size_t num_b) {
  bool same = num_a == num_b;
  for (size_t i = 0; same && i < num_a; i++) {
    same = strcmp(a[i], b[i]) == 0;
  }
  return same;
}

static bool are_dims_equal(const cst_tensor_spec *a, const cst_tensor_spec *b) {
  return a->num_dims == b->num_dims &&
         (a->num_dims == 0 || memcmp(a->dims, b->dims, a->num_dims * sizeof *a->dims) == 0);
}

static bool are_partitions_equal(const cst_tensor_spec *a, const cst_tensor_spec *b) {
  bool same = a->num_partitions == b->num_partitions;
  for (size_t i = 0; same && i < a->num_partitions; i++) {
    const char *x = a->partitions[i].row_length_column;
    const char *y = b->partitions[i].row_length_column;
    same = x != NULL && y != NULL
               ? strcmp(x, y) == 0
               : x == y && a->partitions[i].uniform_length == b->partitions[i].uniform_length;
  }
  return same;
}

static bool are_defaults_equal(const cst_tensor_spec *a, const cst_tensor_spec *b) {
  return a->has_default == b->has_default && a->default_int == b->default_int &&
         (a->default_float == b->default_float ||
          (isnan(a->default_float) && isnan(b->default_float))) &&
         cst__bytes_equal(a->default_bytes, b->default_bytes);
}

static bool are_tensors_equal(const cst_tensor_spec *a, const cst_tensor_spec *b) {
  bool same = strcmp(a->name, b->name) == 0 && a->kind == b->kind &&
              cst__dtype_family(a->dtype) == cst__dtype_family(b->dtype) &&
              are_names_equal(a->path, a->num_path_steps, b->path, b->num_path_steps) &&
              are_dims_equal(a, b) &&
              are_names_equal(a->index_columns, a->num_index_columns, b->index_columns,
                              b->num_index_columns) &&
              a->already_sorted == b->already_sorted && are_partitions_equal(a, b) &&
              a->row_splits_dtype == b->row_splits_dtype && are_defaults_equal(a, b) &&
              a->num_fields == b->num_fields;
  for (size_t i = 0; same && i < a->num_fields; i++) {
    same = are_tensors_equal(&a->fields[i], &b->fields[i]);
  }
  return same;
}

static cst_status compare(const writer *w, const cst_specs *specs, const cst__specs_builder *b) {
  for (size_t i = 0; i < specs->count; i++) {
    const cst_tensor_spec *spec = &specs->items[i];
    size_t at = cst__name_map_find(&b->tensors, spec->name, strlen(spec->name));
    if (at == SIZE_MAX || !are_tensors_equal(spec, &b->specs->items[at])) {
      return blame(w, spec, cannot_say(w, spec));
    }
  }
  return CST_OK;
}

/* Reads the tensors of the group again, and nothing else of the schema. */
static cst_status check_written(const writer *w, const cst_schema *schema, const char *name,
                                const cst_specs *specs) {
  cst__specs_builder b = {.schema = schema, .error = w->error};
  const cst__field *groups = cst__message_find(schema->root, SCHEMA_GROUP);
  cst_status status = CST_OK;
  b.specs = cst__new_zero(NULL, sizeof *b.specs);
  if (b.specs == NULL) {
    return no_message_memory(w);
  }
  cst__refcount_init(&b.specs->owners);
  cst__arena_init(&b.specs->arena, NULL);
  for (size_t i = 0; i < groups->count && status == CST_OK; i++) {
    const cst__message *entry = cst__nth_message(groups, i);
    if (cst__bytes_equal(cst__message_bytes(entry, ENTRY_KEY), cst__bytes_of(name))) {
      const cst__message *group = cst__message_child(entry, ENTRY_VALUE);
      status = cst__specs_add_group(&b, group, cst__bytes_of(name));
    }
  }
  if (status == CST_OK) {
    status = compare(w, specs, &b);
  }
  cst__name_map_reset(&b.tensors);
  cst__name_map_reset(&b.sources);
  cst_specs_release(b.specs);
  return status;
}

/* ---- the new schema ---- */

/* Copies the message tree by its binary form, or by text for what has no binary form. */
static cst_status copy_schema(const cst_schema *from, cst_schema *to, cst_error *error) {
  char *data = NULL;
  size_t size = 0;
  bool is_text = cst__message_find_expanded_any(from->root) != NULL;
  CST__TRY(is_text ? cst_schema_to_text(from, &data, &size, error)
                   : cst_schema_to_bytes(from, &data, &size, error));
  const char *copy = cst__arena_copy(&to->arena, data, size);
  cst_free(data);
  if (copy == NULL) {
    return cst__fail_memory(error, size);
  }
  const cst_bytes bytes = {(const uint8_t *)copy, size};
  return (is_text ? cst__message_merge_text : cst__message_merge)(&to->arena, to->root, bytes,
                                                                  CST__DEPTH_LIMIT, error);
}

static cst_status map_features(writer *w) {
  const cst__field *features = cst__message_find(w->root, SCHEMA_FEATURE);
  for (size_t i = 0; features != NULL && i < features->count; i++) {
    cst_bytes name = cst__message_bytes(cst__nth_message(features, i), FEATURE_NAME);
    if (!cst__name_map_add(&w->features, (const char *)name.data, name.size, i)) {
      return no_message_memory(w);
    }
  }
  return CST_OK;
}

static cst_status write_specs(writer *w, const cst_schema *from, const cst_specs *specs,
                              const char *group, cst_schema *to) {
  if (from != NULL) {
    CST__TRY(copy_schema(from, to, w->error));
  }
  CST__TRY(map_features(w));
  CST__TRY(write_group(w, specs, group));
  CST__TRY(cst__schema_compile(to, w->error));
  return check_written(w, to, group, specs);
}

cst_status cst_schema_with_specs(const cst_schema *schema, const cst_specs *specs,
                                 const char *group, cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  if (specs == NULL || out == NULL) {
    return cst__missing(specs == NULL ? "the list of specs" : "out", error);
  }
  cst_schema *made = cst__schema_new();
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  writer w = {.arena = &made->arena, .root = made->root, .error = error};
  cst_status status = write_specs(&w, schema, specs, group != NULL ? group : "", made);
  cst__name_map_reset(&w.features);
  if (status != CST_OK) {
    cst_schema_release(made);
    return status;
  }
  *out = made;
  return CST_OK;
}
