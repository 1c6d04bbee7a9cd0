/* The tensors that a tensor_representation_group gives (RFC "TFXIO schema interpretation",
 * "TensorRepresentation"). That columns exist and shapes are sound has been checked when the schema
 * was read.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "schema/specs_internal.h"

/* One tensor of the group. */
typedef struct tensor {
  cst_bytes name;
  const cst__message *kind; /* DenseTensor, VarLenSparseTensor, SparseTensor, RaggedTensor, ... */
  const char *reason;
} tensor;

/* Remembers a column that an explicit tensor is made of. The path may be there already. */
static cst_status add_value_source(cst__specs_builder *b, const char *dotted) {
  size_t size = strlen(dotted);
  if (size > 0 && cst__name_map_find(&b->sources, dotted, size) == SIZE_MAX &&
      !cst__name_map_add(&b->sources, dotted, size, 0)) {
    return cst__fail_memory(b->error, sizeof(cst__name_slot));
  }
  return CST_OK;
}

static cst_status set_dtype(cst__specs_builder *b, const tensor *t, const cst_feature *feature,
                            cst_tensor_spec *spec) {
  spec->dtype = cst__specs_dtype(feature->type);
  if (spec->dtype == CST_DTYPE_NONE) {
    return cst__schema_fail(t->kind, b->error, "use a feature of type BYTES, INT or FLOAT",
                            "the column '%s' is %s", feature->name,
                            cst__feature_type_name(feature->type));
  }
  return CST_OK;
}

/* Makes the spec of a tensor whose values are a column at the top. */
static cst_status add_explicit_tensor(cst__specs_builder *b, const tensor *t, cst_tensor_kind kind,
                                      int32_t column, cst_tensor_spec **out) {
  cst_bytes name = cst__message_bytes(t->kind, column);
  size_t at = cst__schema_find_feature(b->schema, (const char *)name.data, name.size);
  const cst_feature *feature = &b->schema->features[at];
  CST__TRY(cst__specs_add(b, t->kind, t->name, kind, t->reason, out));
  (*out)->is_explicit = true;
  CST__TRY(set_dtype(b, t, feature, *out));
  CST__TRY(cst__specs_set_path(b, t->kind, *out, NULL, feature->name));
  return add_value_source(b, (*out)->path[0]);
}

static cst_status copy_shape_dims(cst__specs_builder *b, const cst__message *shape, size_t unknown,
                                  cst_tensor_spec *spec) {
  const cst__field *dims = shape != NULL ? cst__message_find(shape, SHAPE_DIM) : NULL;
  size_t count = shape != NULL ? cst__message_count(shape, SHAPE_DIM) : unknown;
  int64_t *sizes;
  sizes = cst__specs_take(b, count, sizeof *sizes);
  if (sizes == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    sizes[i] = dims != NULL ? cst__message_int(cst__nth_message(dims, i), DIM_SIZE, -1) : -1;
  }
  spec->dims = sizes;
  spec->num_dims = count;
  return CST_OK;
}

/* ---- dense ---- */

static cst_status fail_default(cst__specs_builder *b, const cst__message *value,
                               const cst_tensor_spec *spec, const char *found) {
  const char *wanted = spec->dtype == CST_DTYPE_INT64     ? "int_value"
                       : spec->dtype == CST_DTYPE_FLOAT32 ? "float_value"
                                                          : "bytes_value";
  return cst__schema_fail(value, b->error, NULL,
                          "the default of a tensor of type %s is %s, expected %s",
                          cst_dtype_name(spec->dtype), found, wanted);
}

static cst_status set_default(cst__specs_builder *b, const cst__message *value,
                              cst_tensor_spec *spec) {
  const cst__field *set = value->first;
  spec->has_default = true;
  if (set == NULL) {
    return cst__schema_fail(value, b->error, "add int_value, float_value or bytes_value",
                            "default_value is empty");
  }
  if (set->def->number == DEFAULT_INT && spec->dtype == CST_DTYPE_INT64) {
    spec->default_int = set->as.one.i;
    return CST_OK;
  }
  if (set->def->number == DEFAULT_FLOAT && spec->dtype == CST_DTYPE_FLOAT32) {
    spec->default_float = (float)set->as.one.d;
    if (isinf(spec->default_float) && !isinf(set->as.one.d)) {
      return cst__schema_fail(value, b->error, NULL, "the default does not fit into 32 bits");
    }
    return CST_OK;
  }
  if (set->def->number == DEFAULT_BYTES && spec->dtype == CST_DTYPE_BYTES) {
    cst_bytes bytes = set->as.one.bytes;
    const char *copy = cst__arena_copy(&b->specs->arena, bytes.data, bytes.size);
    spec->default_bytes = (cst_bytes){(const uint8_t *)copy, bytes.size};
    return copy != NULL ? CST_OK : cst__fail_memory(b->error, bytes.size);
  }
  return fail_default(b, value, spec, set->def->name);
}

static cst_status add_dense(cst__specs_builder *b, const tensor *t) {
  cst_tensor_spec *spec;
  CST__TRY(add_explicit_tensor(b, t, CST_TENSOR_DENSE, DENSE_COLUMN, &spec));
  CST__TRY(copy_shape_dims(b, cst__message_child(t->kind, DENSE_SHAPE), 0, spec));
  const cst__message *value = cst__message_child(t->kind, DENSE_DEFAULT);
  return value != NULL ? set_default(b, value, spec) : CST_OK;
}

/* ---- sparse ---- */

static cst_status check_is_int(cst__specs_builder *b, const tensor *t, const char *what,
                               const cst_feature *feature) {
  if (feature->type == CST_FEATURE_INT) {
    return CST_OK;
  }
  return cst__schema_fail(t->kind, b->error, NULL, "the %s '%s' is %s, expected INT", what,
                          feature->name, cst__feature_type_name(feature->type));
}

static cst_status add_sparse(cst__specs_builder *b, const tensor *t) {
  const cst__field *columns = cst__message_find(t->kind, SPARSE_TENSOR_INDEX_COLUMNS);
  size_t count = columns != NULL ? columns->count : 0;
  cst_tensor_spec *spec;
  const char **names;
  CST__TRY(add_explicit_tensor(b, t, CST_TENSOR_SPARSE, SPARSE_TENSOR_VALUE_COLUMN, &spec));
  CST__TRY(copy_shape_dims(b, cst__message_child(t->kind, SPARSE_TENSOR_SHAPE), count, spec));
  names = cst__specs_take(b, count, sizeof *names);
  if (names == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    cst_bytes name = cst__nth_bytes(columns, i);
    size_t at = cst__schema_find_feature(b->schema, (const char *)name.data, name.size);
    CST__TRY(check_is_int(b, t, "index column", &b->schema->features[at]));
    CST__TRY(cst__specs_copy_name(b, t->kind, name, &names[i]));
    CST__TRY(add_value_source(b, names[i]));
  }
  spec->index_columns = names;
  spec->num_index_columns = count;
  spec->already_sorted = cst__message_int(t->kind, SPARSE_TENSOR_SORTED, 0) != 0;
  return CST_OK;
}

/* ---- ragged ---- */

/* "a.b.c" of the first `count` steps of the spec's path, and one more name if it is not NULL. */
static cst_status add_dotted_source(cst__specs_builder *b, const cst_tensor_spec *spec,
                                    size_t count, const char *name) {
  size_t size = name != NULL ? strlen(name) + 1 : 0;
  char *dotted;
  for (size_t i = 0; i < count; i++) {
    size += strlen(spec->path[i]) + 1;
  }
  dotted = cst__specs_take(b, size, 1);
  if (dotted == NULL) {
    return CST_NO_MEMORY;
  }
  size_t used = 0;
  for (size_t i = 0; i <= count; i++) {
    const char *step = i < count ? spec->path[i] : name;
    if (step != NULL) {
      used += (size_t)snprintf(dotted + used, size - used, "%s%s", used > 0 ? "." : "", step);
    }
  }
  return add_value_source(b, dotted);
}

static const cst_feature *sibling(const cst__specs_builder *b, const cst_tensor_spec *spec,
                                  cst_bytes name) {
  const cst_feature *among = b->schema->features;
  size_t count = b->schema->num_features;
  for (size_t i = 0; i + 1 < spec->num_path_steps; i++) {
    const cst_feature *parent = cst__feature_by_name(among, count, cst__bytes_of(spec->path[i]));
    among = parent->children;
    count = parent->num_children;
  }
  return cst__feature_by_name(among, count, name);
}

static cst_status add_partitions(cst__specs_builder *b, const tensor *t, cst_tensor_spec *spec) {
  const cst__field *field = cst__message_find(t->kind, RAGGED_PARTITION);
  size_t count = field != NULL ? field->count : 0;
  cst_partition *partitions;
  partitions = cst__specs_take(b, count, sizeof *partitions);
  if (partitions == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    const cst__message *message = cst__nth_message(field, i);
    const cst__field *column = cst__message_find(message, PARTITION_ROW_LENGTH);
    partitions[i].uniform_length = cst__message_int(message, PARTITION_UNIFORM, 0);
    if (column != NULL) {
      cst_bytes name = column->as.one.bytes;
      const char **copy = &partitions[i].row_length_column;
      CST__TRY(check_is_int(b, t, "row_length column", sibling(b, spec, name)));
      CST__TRY(cst__specs_copy_name(b, message, name, copy));
      CST__TRY(add_dotted_source(b, spec, spec->num_path_steps - 1, *copy));
    }
  }
  spec->partitions = partitions;
  spec->num_partitions = count;
  return CST_OK;
}

static cst_status add_explicit_ragged(cst__specs_builder *b, const tensor *t) {
  const cst__message *path = cst__message_child(t->kind, RAGGED_PATH);
  const cst__field *steps = cst__message_find(path, PATH_STEP);
  cst_tensor_spec *spec;
  const char **names;
  CST__TRY(cst__specs_add(b, t->kind, t->name, CST_TENSOR_RAGGED, t->reason, &spec));
  names = cst__specs_take(b, steps->count, sizeof *names);
  if (names == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < steps->count; i++) {
    CST__TRY(cst__specs_copy_name(b, path, cst__nth_bytes(steps, i), &names[i]));
  }
  spec->is_explicit = true;
  spec->path = names;
  spec->num_path_steps = steps->count;
  bool is_32 =
      cst__message_int(t->kind, RAGGED_DTYPE, ROW_PARTITION_UNSPECIFIED) == ROW_PARTITION_INT32;
  spec->row_splits_dtype = is_32 ? CST_DTYPE_INT32 : CST_DTYPE_INT64;
  CST__TRY(set_dtype(b, t, cst__schema_feature_at(b->schema, path), spec));
  CST__TRY(add_dotted_source(b, spec, spec->num_path_steps, NULL));
  return add_partitions(b, t, spec);
}

/* ---- the group ---- */

static cst_status add_varlen(cst__specs_builder *b, const tensor *t) {
  cst_tensor_spec *spec;
  return add_explicit_tensor(b, t, CST_TENSOR_VARLEN_SPARSE, VARLEN_COLUMN, &spec);
}

static cst_status add_structured(cst__specs_builder *b, const tensor *t) {
  cst_tensor_spec *spec;
  CST__TRY(cst__specs_add_structured(b, t->kind, t->name, t->reason, &spec));
  for (size_t i = 0; i < spec->num_fields; i++) {
    CST__TRY(add_value_source(b, spec->fields[i].name));
  }
  return CST_OK;
}

static cst_status add_representation(cst__specs_builder *b, tensor *t,
                                     const cst__message *representation) {
  static const struct {
    int32_t number;
    cst_status (*add)(cst__specs_builder *b, const tensor *t);
  } kinds[] = {{REPRESENTATION_DENSE, add_dense},
               {REPRESENTATION_VARLEN, add_varlen},
               {REPRESENTATION_SPARSE, add_sparse},
               {REPRESENTATION_RAGGED, add_explicit_ragged},
               {REPRESENTATION_STRUCTURED, add_structured}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    t->kind = cst__message_child(representation, kinds[i].number);
    if (t->kind != NULL) {
      return kinds[i].add(b, t);
    }
  }
  return cst__fail(b->error, CST_UNSUPPORTED,
                   "use dense_tensor, varlen_sparse_tensor, sparse_tensor, ragged_tensor or "
                   "structured_tensor",
                   "unknown kind of tensor representation");
}

static cst_status make_reason(cst__specs_builder *b, cst_bytes group, const char **reason) {
  char name[80];
  char text[160];
  cst__escape(name, sizeof name, (const char *)group.data, group.size);
  int size = snprintf(text, sizeof text, "Given in the tensor_representation_group \"%s\".", name);
  *reason = cst__arena_copy(&b->specs->arena, text, (size_t)size);
  return *reason != NULL ? CST_OK : cst__fail_memory(b->error, sizeof text);
}

/* ---- only ragged tensors ---- */

static bool equals_name(cst_bytes bytes, const char *name) {
  return cst__bytes_equal(bytes, cst__bytes_of(name != NULL ? name : ""));
}

/* True if the message makes the tensor of the same columns and lengths as the spec has. */
static bool has_sources(const cst__message *ragged, const cst_tensor_spec *spec) {
  const cst__field *steps = cst__message_find(cst__message_child(ragged, RAGGED_PATH), PATH_STEP);
  const cst__field *field = cst__message_find(ragged, RAGGED_PARTITION);
  bool same = equals_name(cst__nth_bytes(steps, 0), spec->path[0]) &&
              (field != NULL ? field->count : 0) == spec->num_partitions;
  for (size_t i = 0; same && i < spec->num_partitions; i++) {
    const cst__message *partition = cst__nth_message(field, i);
    same = equals_name(cst__message_bytes(partition, PARTITION_ROW_LENGTH),
                       spec->partitions[i].row_length_column) &&
           cst__message_int(partition, PARTITION_UNIFORM, 0) == spec->partitions[i].uniform_length;
  }
  return same;
}

/* Of ragged tensors only: whether this one is to be passed over, because of its kind or path, or
 * because another group has it already. */
static bool is_passed_over(const cst__specs_builder *b, cst_bytes name,
                           const cst__message *representation) {
  const cst__message *ragged = cst__message_child(representation, REPRESENTATION_RAGGED);
  if (ragged == NULL ||
      cst__message_count(cst__message_child(ragged, RAGGED_PATH), PATH_STEP) != 1) {
    return true;
  }
  size_t at = cst__name_map_find(&b->tensors, (const char *)name.data, name.size);
  return at != SIZE_MAX && has_sources(ragged, &b->specs->items[at]);
}

cst_status cst__specs_add_group(cst__specs_builder *b, const cst__message *group,
                                cst_bytes group_name) {
  const cst__field *entries = cst__message_find(group, GROUP_REPRESENTATION);
  tensor t = {.reason = NULL};
  CST__TRY(make_reason(b, group_name, &t.reason));
  for (size_t i = 0; entries != NULL && i < entries->count; i++) {
    const cst__message *entry = cst__nth_message(entries, i);
    t.name = cst__message_bytes(entry, ENTRY_KEY);
    if (b->only_ragged && is_passed_over(b, t.name, cst__message_child(entry, ENTRY_VALUE))) {
      continue;
    }
    cst_status status = add_representation(b, &t, cst__message_child(entry, ENTRY_VALUE));
    if (status != CST_OK) {
      if (!cst__error_has_path(b->error)) {
        cst__error_add_path(b->error, (const char *)t.name.data, t.name.size);
      }
      return status;
    }
  }
  return CST_OK;
}
