/* Types of columns: from a TFMD schema, from an Arrow struct, and as an Arrow schema. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/view.h"
#include "base/names.h"
#include "format/json/json.h"
#include "schema/schema.h"

/* ---- the tree ---- */

static void reset_maps(cst__json_type *type) {
  cst__name_map_reset(&type->map);
  for (size_t i = 0; i < type->num_children; i++) {
    reset_maps(&type->children[i]);
  }
}

void cst__json_types_reset(cst__json_types *types) {
  reset_maps(&types->root);
  cst__arena_reset(&types->arena);
  types->root = (cst__json_type){0};
}

cst_status cst__json_type_children(cst__json_types *types, cst__json_type *type, size_t count,
                                   cst_error *error) {
  size_t size = 0;
  type->children = cst__mul(count, sizeof *type->children, &size)
                       ? cst__arena_take_zero(&types->arena, size + 1)
                       : NULL;
  if (type->children == NULL) {
    return cst__fail_memory(error, size);
  }
  type->num_children = count;
  return CST_OK;
}

cst_status cst__json_type_name(cst__json_types *types, cst__json_type *type, const char *name,
                               size_t size, cst_error *error) {
  type->name = cst__arena_copy(&types->arena, name, size);
  if (type->name == NULL) {
    return cst__fail_memory(error, size);
  }
  type->name_size = size;
  return CST_OK;
}

cst_status cst__json_type_close(cst__json_type *type, cst_error *error) {
  for (size_t i = 0; i < type->num_children; i++) {
    const cst__json_type *child = &type->children[i];
    if (cst__name_map_find(&type->map, child->name, child->name_size) != SIZE_MAX) {
      cst_status status = cst__fail(error, CST_SCHEMA, NULL, "two fields have this name");
      cst__error_add_path(error, child->name, strlen(child->name));
      return status;
    }
    if (!cst__name_map_add(&type->map, child->name, child->name_size, i)) {
      return cst__fail_memory(error, sizeof(cst__name_slot));
    }
    type->num_required += (child->flags & CST__JSON_REQUIRED) != 0;
  }
  return CST_OK;
}

cst_status cst__json_fail_column(const char *column, const char *const *names, size_t count,
                                 cst_error *error) {
  cst__name_list list = cst__name_list_of(names, count);
  return cst__fail_unknown(error, CST_NOT_FOUND, "there is no such column", column, &list);
}

/* ---- projection ---- */

/* Where the wanted columns stand among all. */
typedef struct choice {
  const char **names; /* of all columns */
  size_t *picked;
  size_t count;
} choice;

static void choice_reset(choice *chosen) {
  cst__delete(chosen->names);
  cst__delete(chosen->picked);
}

static cst_status pick(choice *chosen, size_t count, const cst__table_options *options,
                       cst_error *error) {
  cst__name_map all = {0};
  cst__name_map seen = {0};
  cst_status status = CST_OK;
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    bool is_new = cst__name_map_find(&all, chosen->names[i], strlen(chosen->names[i])) == SIZE_MAX;
    if (is_new && !cst__name_map_add(&all, chosen->names[i], strlen(chosen->names[i]), i)) {
      status = cst__fail_memory(error, count);
    }
  }
  for (size_t i = 0; i < options->num_columns && status == CST_OK; i++) {
    const char *name = options->columns[i];
    size_t size = strlen(name);
    chosen->picked[i] = cst__name_map_find(&all, name, size);
    if (chosen->picked[i] == SIZE_MAX) {
      status = cst__json_fail_column(name, chosen->names, count, error);
    } else if (cst__name_map_find(&seen, name, size) != SIZE_MAX) {
      status = cst__fail_twice(error, name, size);
    } else if (!cst__name_map_add(&seen, name, size, i)) {
      status = cst__fail_memory(error, count);
    }
  }
  chosen->count = options->num_columns;
  cst__name_map_reset(&all);
  cst__name_map_reset(&seen);
  return status;
}

static cst_status choose(choice *chosen, size_t count, const char *(*name)(const void *, size_t),
                         const void *ctx, const cst__table_options *options, cst_error *error) {
  size_t room = options->columns != NULL ? options->num_columns : count;
  chosen->names = cst__new(options->allocator, (count + 1) * sizeof *chosen->names);
  chosen->picked = cst__new(options->allocator, (room + 1) * sizeof *chosen->picked);
  if (chosen->names == NULL || chosen->picked == NULL) {
    return cst__fail_memory(error, count * sizeof *chosen->names);
  }
  for (size_t i = 0; i < count; i++) {
    chosen->names[i] = name(ctx, i);
  }
  if (options->columns != NULL) {
    return pick(chosen, count, options, error);
  }
  for (size_t i = 0; i < count; i++) {
    chosen->picked[i] = i;
  }
  chosen->count = count;
  return CST_OK;
}

/* ---- from a TFMD schema ---- */

typedef struct schema_reader {
  cst__json_types *types;
  uint32_t column_flags;
  cst_error *error;
} schema_reader;

static void set_value(schema_reader *r, cst__json_type *type, cst_feature_type of) {
  type->flags =
      CST__JSON_REQUIRED | (r->column_flags & CST_COLUMNS_OFFSETS_32 ? CST__JSON_OFFSETS_32 : 0);
  type->kind = of == CST_FEATURE_BYTES ? CST__JSON_KIND_BINARY : CST__JSON_KIND_NUMBER;
  if (of == CST_FEATURE_BYTES && (r->column_flags & CST_COLUMNS_BINARY_VIEWS) != 0) {
    type->flags = CST__JSON_REQUIRED | CST__JSON_VIEWS;
  }
  type->dtype = of == CST_FEATURE_INT ? CST_DTYPE_INT64 : CST_DTYPE_FLOAT32;
  if (of == CST_FEATURE_UNKNOWN) {
    type->kind = CST__JSON_KIND_NULL;
    type->flags = 0;
  }
}

/* A list of lists, `depth` of them, of values. */
static cst_status set_list(schema_reader *r, cst__json_type *type, cst_feature_type of, int depth) {
  if (depth == 0) {
    set_value(r, type, of);
    return CST_OK;
  }
  type->kind = CST__JSON_KIND_LIST;
  type->flags |=
      CST__JSON_SCALARS | (r->column_flags & CST_COLUMNS_OFFSETS_32 ? CST__JSON_OFFSETS_32 : 0);
  CST__TRY(cst__json_type_children(r->types, type, 1, r->error));
  return set_list(r, &type->children[0], of, depth - 1);
}

static cst_status fail_feature(schema_reader *r, const cst_feature *feature, const char *what) {
  cst_status status =
      cst__fail(r->error, CST_SCHEMA, "leave the feature out by columns", "%s", what);
  cst__error_add_path(r->error, feature->name, feature->name_size);
  return status;
}

static cst_status set_struct(schema_reader *r, cst__json_type *type, const cst_feature *feature) {
  type->kind = CST__JSON_KIND_STRUCT;
  type->flags = CST__JSON_PRESENT;
  CST__TRY(cst__json_type_children(r->types, type, feature->num_children, r->error));
  for (size_t i = 0; i < feature->num_children; i++) {
    const cst_feature *child = &feature->children[i];
    if (child->type == CST_FEATURE_STRUCT) {
      return fail_feature(r, child, "a struct within the struct of the feature lists");
    }
    CST__TRY(
        cst__json_type_name(r->types, &type->children[i], child->name, child->name_size, r->error));
    CST__TRY(set_list(r, &type->children[i], child->type, 2));
  }
  return cst__json_type_close(type, r->error);
}

/* As fixed_size of the decoder: a shape that a fixed_size_list can hold; -1: none. */
static int64_t fixed_size_of(const schema_reader *r, const cst_feature *feature) {
  int64_t size = 1;
  for (size_t i = 0; i < feature->num_dims; i++) {
    if (__builtin_mul_overflow(size, feature->dims[i], &size)) {
      return -1;
    }
  }
  bool is_fixed = (r->column_flags & CST_COLUMNS_FIXED_SIZE) != 0 && feature->has_fixed_shape;
  return is_fixed && size > 0 && size <= INT32_MAX ? size : -1;
}

static cst_status set_feature(schema_reader *r, cst__json_type *type, const cst_feature *feature) {
  CST__TRY(cst__json_type_name(r->types, type, feature->name, feature->name_size, r->error));
  if (feature->type == CST_FEATURE_STRUCT) {
    return set_struct(r, type, feature);
  }
  CST__TRY(set_list(r, type, feature->type, feature->type == CST_FEATURE_UNKNOWN ? 0 : 1));
  int64_t size = fixed_size_of(r, feature);
  if (size > 0 && type->kind == CST__JSON_KIND_LIST) {
    type->kind = CST__JSON_KIND_FIXED_LIST;
    type->fixed_size = size;
  }
  return CST_OK;
}

static const char *feature_name(const void *ctx, size_t i) {
  return cst__schema_feature(ctx, i)->name;
}

cst_status cst__json_types_of_schema(cst__json_types *types, const cst__table_options *options,
                                     cst_error *error) {
  schema_reader r = {types, options->column_flags, error};
  choice chosen = {NULL, NULL, 0};
  types->root.kind = CST__JSON_KIND_STRUCT;
  cst_status status = choose(&chosen, cst__schema_num_features(options->schema), feature_name,
                             options->schema, options, error);
  if (status == CST_OK) {
    status = cst__json_type_children(types, &types->root, chosen.count, error);
  }
  for (size_t i = 0; i < chosen.count && status == CST_OK; i++) {
    status = set_feature(&r, &types->root.children[i],
                         cst__schema_feature(options->schema, chosen.picked[i]));
  }
  choice_reset(&chosen);
  return status == CST_OK ? cst__json_type_close(&types->root, error) : status;
}

/* ---- from Arrow ---- */

typedef struct simple_type {
  const char *format;
  cst__json_kind kind;
  cst_dtype dtype;
  uint32_t flags;
} simple_type;

static const simple_type simple_types[] = {
    {"n", CST__JSON_KIND_NULL, CST_DTYPE_NONE, 0},
    {"b", CST__JSON_KIND_BOOL, CST_DTYPE_NONE, 0},
    {"c", CST__JSON_KIND_NUMBER, CST_DTYPE_INT8, 0},
    {"s", CST__JSON_KIND_NUMBER, CST_DTYPE_INT16, 0},
    {"i", CST__JSON_KIND_NUMBER, CST_DTYPE_INT32, 0},
    {"l", CST__JSON_KIND_NUMBER, CST_DTYPE_INT64, 0},
    {"C", CST__JSON_KIND_NUMBER, CST_DTYPE_UINT8, 0},
    {"S", CST__JSON_KIND_NUMBER, CST_DTYPE_UINT16, 0},
    {"I", CST__JSON_KIND_NUMBER, CST_DTYPE_UINT32, 0},
    {"L", CST__JSON_KIND_NUMBER, CST_DTYPE_UINT64, 0},
    {"f", CST__JSON_KIND_NUMBER, CST_DTYPE_FLOAT32, 0},
    {"g", CST__JSON_KIND_NUMBER, CST_DTYPE_FLOAT64, 0},
    {"u", CST__JSON_KIND_STRING, CST_DTYPE_BYTES, CST__JSON_OFFSETS_32},
    {"U", CST__JSON_KIND_STRING, CST_DTYPE_BYTES, 0},
    {"z", CST__JSON_KIND_BINARY, CST_DTYPE_BYTES, CST__JSON_OFFSETS_32},
    {"Z", CST__JSON_KIND_BINARY, CST_DTYPE_BYTES, 0},
    {"vu", CST__JSON_KIND_STRING, CST_DTYPE_BYTES, CST__JSON_VIEWS},
    {"vz", CST__JSON_KIND_BINARY, CST_DTYPE_BYTES, CST__JSON_VIEWS},
    {"+l", CST__JSON_KIND_LIST, CST_DTYPE_NONE, CST__JSON_OFFSETS_32},
    {"+L", CST__JSON_KIND_LIST, CST_DTYPE_NONE, 0},
    {"+s", CST__JSON_KIND_STRUCT, CST_DTYPE_NONE, 0},
};

enum { NUM_SIMPLE_TYPES = sizeof simple_types / sizeof simple_types[0] };

static cst_status set_arrow(cst__json_types *types, cst__json_type *type,
                            const struct ArrowSchema *schema, cst_error *error);

static cst_status add_step(const struct ArrowSchema *schema, cst_status status, cst_error *error) {
  if (status != CST_OK && status != CST_NO_MEMORY && schema->name != NULL) {
    cst__error_add_path(error, schema->name, strlen(schema->name));
  }
  return status;
}

static cst_status set_arrow_child(cst__json_types *types, cst__json_type *type,
                                  const struct ArrowSchema *schema, cst_error *error) {
  const char *name = schema->name != NULL ? schema->name : "";
  CST__TRY(cst__json_type_name(types, type, name, strlen(name), error));
  return add_step(schema, set_arrow(types, type, schema, error), error);
}

static cst_status set_arrow_struct(cst__json_types *types, cst__json_type *type,
                                   const struct ArrowSchema *schema, cst_error *error) {
  CST__TRY(cst__json_type_children(types, type, (size_t)schema->n_children, error));
  for (size_t i = 0; i < type->num_children; i++) {
    CST__TRY(set_arrow_child(types, &type->children[i], schema->children[i], error));
  }
  return cst__json_type_close(type, error);
}

static cst_status set_arrow_list(cst__json_types *types, cst__json_type *type,
                                 const struct ArrowSchema *schema, cst_error *error) {
  if (schema->n_children != 1) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a list type has no item");
  }
  CST__TRY(cst__json_type_children(types, type, 1, error));
  const char *name = schema->children[0]->name;
  CST__TRY(cst__json_type_name(types, &type->children[0], name != NULL ? name : "item",
                               name != NULL ? strlen(name) : 4, error));
  return set_arrow(types, &type->children[0], schema->children[0], error);
}

static cst_status set_arrow(cst__json_types *types, cst__json_type *type,
                            const struct ArrowSchema *schema, cst_error *error) {
  const char *format = schema->format;
  size_t i = 0;
  while (i < NUM_SIMPLE_TYPES && strcmp(simple_types[i].format, format) != 0) {
    i++;
  }
  bool is_required = (schema->flags & ARROW_FLAG_NULLABLE) == 0;
  type->flags = is_required ? CST__JSON_REQUIRED | CST__JSON_DECLARED : 0;
  if (strncmp(format, "+w:", 3) == 0 && schema->dictionary == NULL) {
    type->kind = CST__JSON_KIND_FIXED_LIST;
    type->fixed_size = strtoll(format + 3, NULL, 10);
    if (type->fixed_size < 0 || type->fixed_size > INT32_MAX) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a list of fixed size has no size");
    }
    return set_arrow_list(types, type, schema, error);
  }
  if (i == NUM_SIMPLE_TYPES || schema->dictionary != NULL) {
    return cst__fail(error, CST_UNSUPPORTED,
                     "known are bool, integers, float32, float64, strings, binary, lists, structs",
                     "JSON cannot be read as the Arrow type '%s'%s", format,
                     schema->dictionary != NULL ? " with a dictionary" : "");
  }
  type->kind = simple_types[i].kind;
  type->dtype = simple_types[i].dtype;
  type->flags |= simple_types[i].flags;
  if (type->kind == CST__JSON_KIND_STRUCT) {
    return set_arrow_struct(types, type, schema, error);
  }
  return type->kind == CST__JSON_KIND_LIST ? set_arrow_list(types, type, schema, error) : CST_OK;
}

static const char *field_name(const void *ctx, size_t i) {
  const char *name = ((const struct ArrowSchema *)ctx)->children[i]->name;
  return name != NULL ? name : "";
}

static cst_status of_arrow(cst__json_types *types, const struct ArrowSchema *schema,
                           const cst__table_options *options, cst_error *error) {
  choice chosen = {NULL, NULL, 0};
  if (strcmp(schema->format, "+s") != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the types are of Arrow type '%s', expected a struct", schema->format);
  }
  cst_status status =
      choose(&chosen, (size_t)schema->n_children, field_name, schema, options, error);
  if (status == CST_OK) {
    status = cst__json_type_children(types, &types->root, chosen.count, error);
  }
  for (size_t i = 0; i < chosen.count && status == CST_OK; i++) {
    status =
        set_arrow_child(types, &types->root.children[i], schema->children[chosen.picked[i]], error);
  }
  choice_reset(&chosen);
  return status == CST_OK ? cst__json_type_close(&types->root, error) : status;
}

cst_status cst__json_types_of_arrow(cst__json_types *types, const cst__table_options *options,
                                    cst_error *error) {
  struct ArrowSchema copy; /* copying checks that all of it is there, and its depth */
  types->root.kind = CST__JSON_KIND_STRUCT;
  CST__TRY(cst__schema_copy(options->types, &copy, error));
  cst_status status = of_arrow(types, &copy, options, error);
  copy.release(&copy);
  return status;
}

const char *cst__json_type_word(const cst__json_type *type) {
  switch (type->kind) {
    case CST__JSON_KIND_NULL:
      return "null";
    case CST__JSON_KIND_BOOL:
      return "true or false";
    case CST__JSON_KIND_NUMBER:
      return cst_dtype_name(type->dtype);
    case CST__JSON_KIND_STRING:
      return "a string";
    case CST__JSON_KIND_BINARY:
      return "a string or {\"base64\": ...}";
    case CST__JSON_KIND_LIST:
    case CST__JSON_KIND_FIXED_LIST:
      return "a list";
    case CST__JSON_KIND_STRUCT:
      return "an object";
  }
  return "null";
}
