/* Types of columns: from a TFMD schema, and from an Arrow struct. */
#include <stdio.h>
#include <string.h>

#include "arrow/view.h"
#include "base/names.h"
#include "format/json/json.h"
#include "format/table/value_text.h"
#include "schema/schema.h"

/* ---- the tree ---- */

cst_status cst__json_types_init(cst__json_types *types, const cst_allocator *allocator,
                                cst_error *error) {
  cst__arena_init(&types->arena, allocator);
  types->arrow = (cst__type)CST__TYPE_INIT;
  types->arrow.flags = 0; /* a batch itself is never null */
  types->root.type = &types->arrow;
  return cst__type_set(&types->arrow, "+s", &types->arena, error);
}

static void reset_maps(cst__json_type *type) {
  cst__name_map_reset(&type->map);
  for (size_t i = 0; type->children != NULL && i < type->type->num_children; i++) {
    reset_maps(&type->children[i]);
  }
}

void cst__json_types_reset(cst__json_types *types) {
  reset_maps(&types->root);
  cst__arena_reset(&types->arena);
  types->root = (cst__json_type){0};
}

cst_status cst__json_type_set(cst__json_types *types, cst__json_type *type, const char *format,
                              cst_error *error) {
  return cst__type_set(type->type, format, &types->arena, error);
}

/* Children beside those that the Arrow type has. */
static cst_status mirror_children(cst__json_types *types, cst__json_type *type, cst_error *error) {
  size_t count = type->type->num_children;
  size_t size = 0;
  type->children = cst__mul(count, sizeof *type->children, &size)
                       ? cst__arena_take_zero(&types->arena, size + 1)
                       : NULL;
  if (type->children == NULL) {
    return cst__fail_memory(error, size);
  }
  for (size_t i = 0; i < count; i++) {
    type->children[i].type = &type->type->children[i];
    type->children[i].name_size = strlen(type->type->children[i].name);
  }
  return CST_OK;
}

cst_status cst__json_type_children(cst__json_types *types, cst__json_type *type, size_t count,
                                   cst_error *error) {
  CST__TRY(cst__type_set_children(type->type, count, &types->arena, error));
  if (type->type->layout != CST__LAYOUT_STRUCT) {
    type->type->children[0].name = "item";
  }
  return mirror_children(types, type, error);
}

cst_status cst__json_type_name(cst__json_types *types, cst__json_type *type, const char *name,
                               size_t size, cst_error *error) {
  type->name_size = size;
  return cst__type_set_name(type->type, name, size, &types->arena, error);
}

cst_status cst__json_type_close(cst__json_type *type, cst_error *error) {
  for (size_t i = 0; i < type->type->num_children; i++) {
    const cst__json_type *child = &type->children[i];
    const char *name = child->type->name;
    if (cst__name_map_find(&type->map, name, child->name_size) != SIZE_MAX) {
      cst_status status = cst__fail(error, CST_SCHEMA, NULL, "two fields have this name");
      cst__error_add_path(error, name, strlen(name));
      return status;
    }
    if (!cst__name_map_add(&type->map, name, child->name_size, i)) {
      return cst__fail_memory(error, sizeof(cst__name_slot));
    }
    type->num_required += (child->flags & CST__JSON_REQUIRED) != 0;
  }
  return CST_OK;
}

cst_status cst__json_fail_column(const char *column, const char *const *names, size_t count,
                                 cst_error *error) {
  cst__name_list list = cst__name_list_of(names, count);
  return cst__fail_unknown(error, CST_NOT_FOUND, "no such column", column, &list);
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

static cst_status json_type_pick(choice *chosen, size_t count, const cst__table_options *options,
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

static cst_status json_type_choose(choice *chosen, size_t count,
                                   const char *(*name)(const void *, size_t), const void *ctx,
                                   const cst__table_options *options, cst_error *error) {
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
    return json_type_pick(chosen, count, options, error);
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

static bool has_flag(const schema_reader *r, uint32_t flag) {
  return (r->column_flags & flag) != 0;
}

static cst_status set_value(schema_reader *r, cst__json_type *type, cst_feature_type of) {
  type->flags = of != CST_FEATURE_UNKNOWN ? CST__JSON_REQUIRED : 0;
  const char *bytes = has_flag(r, CST_COLUMNS_BINARY_VIEWS) ? "vz"
                      : has_flag(r, CST_COLUMNS_OFFSETS_32) ? "z"
                                                            : "Z";
  const char *format = of == CST_FEATURE_BYTES   ? bytes
                       : of == CST_FEATURE_INT   ? "l"
                       : of == CST_FEATURE_FLOAT ? "f"
                                                 : "n";
  return cst__json_type_set(r->types, type, format, r->error);
}

/* A list of lists, `depth` of them, of values. */
static cst_status json_type_set_list(schema_reader *r, cst__json_type *type, cst_feature_type of,
                                     int depth) {
  if (depth == 0) {
    return set_value(r, type, of);
  }
  const char *format = has_flag(r, CST_COLUMNS_OFFSETS_32) ? "+l" : "+L";
  type->flags |= CST__JSON_SCALARS;
  CST__TRY(cst__json_type_set(r->types, type, format, r->error));
  CST__TRY(cst__json_type_children(r->types, type, 1, r->error));
  return json_type_set_list(r, &type->children[0], of, depth - 1);
}

static cst_status fail_feature(schema_reader *r, const cst_feature *feature, const char *what) {
  cst_status status =
      cst__fail(r->error, CST_SCHEMA, "leave the feature out by columns", "%s", what);
  cst__error_add_path(r->error, feature->name, feature->name_size);
  return status;
}

static cst_status json_type_set_struct(schema_reader *r, cst__json_type *type,
                                       const cst_feature *feature) {
  type->flags = CST__JSON_PRESENT;
  CST__TRY(cst__json_type_set(r->types, type, "+s", r->error));
  CST__TRY(cst__json_type_children(r->types, type, feature->num_children, r->error));
  for (size_t i = 0; i < feature->num_children; i++) {
    const cst_feature *child = &feature->children[i];
    if (child->type == CST_FEATURE_STRUCT) {
      return fail_feature(r, child, "a struct within the struct of the feature lists");
    }
    CST__TRY(
        cst__json_type_name(r->types, &type->children[i], child->name, child->name_size, r->error));
    CST__TRY(json_type_set_list(r, &type->children[i], child->type, 2));
  }
  return cst__json_type_close(type, r->error);
}

/* As the decoder: a shape that a fixed_size_list can hold; -1: none. */
static int64_t json_type_fixed_size_of(const schema_reader *r, const cst_feature *feature) {
  int64_t size = cst__feature_fixed_size(feature);
  bool is_fixed = (r->column_flags & CST_COLUMNS_FIXED_SIZE) != 0;
  return is_fixed && size > 0 && size <= INT32_MAX ? size : -1;
}

static cst_status set_feature(schema_reader *r, cst__json_type *type, const cst_feature *feature) {
  CST__TRY(cst__json_type_name(r->types, type, feature->name, feature->name_size, r->error));
  if (feature->type == CST_FEATURE_STRUCT) {
    return json_type_set_struct(r, type, feature);
  }
  CST__TRY(
      json_type_set_list(r, type, feature->type, feature->type == CST_FEATURE_UNKNOWN ? 0 : 1));
  int64_t size = json_type_fixed_size_of(r, feature);
  if (size > 0 && type->type->layout == CST__LAYOUT_LIST) {
    char format[16];
    (void)snprintf(format, sizeof format, "+w:%d", (int)size);
    return cst__json_type_set(r->types, type, format, r->error);
  }
  return CST_OK;
}

static const char *feature_name(const void *ctx, size_t i) {
  return cst_schema_feature(ctx, i)->name;
}

cst_status cst__json_types_of_schema(cst__json_types *types, const cst__table_options *options,
                                     cst_error *error) {
  schema_reader r = {types, options->column_flags, error};
  choice chosen = {NULL, NULL, 0};
  cst_status status = json_type_choose(&chosen, cst_schema_num_features(options->schema),
                                       feature_name, options->schema, options, error);
  if (status == CST_OK) {
    status = cst__json_type_children(types, &types->root, chosen.count, error);
  }
  for (size_t i = 0; i < chosen.count && status == CST_OK; i++) {
    status = set_feature(&r, &types->root.children[i],
                         cst_schema_feature(options->schema, chosen.picked[i]));
  }
  choice_reset(&chosen);
  return status == CST_OK ? cst__json_type_close(&types->root, error) : status;
}

/* ---- from Arrow ---- */

static bool is_readable(const struct ArrowSchema *schema) {
  int64_t ignored;
  switch (cst__layout_find(schema->format, &ignored)->layout) {
    case CST__LAYOUT_NULL:
    case CST__LAYOUT_BOOL:
    case CST__LAYOUT_NUMBER:
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_HALF:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_LIST_VIEW:
    case CST__LAYOUT_STRUCT:
      return true;
    case CST__LAYOUT_OPAQUE:
      return cst__has_value_text(schema->format);
    default:
      return false;
  }
}

/* A dictionary, if there is one, is of values that hold no others. */
static bool has_readable_values(const struct ArrowSchema *schema) {
  const struct ArrowSchema *values = schema->dictionary;
  return values == NULL || (values->dictionary == NULL && values->n_children == 0 &&
                            strcmp(values->format, "n") != 0 && strcmp(values->format, "+s") != 0 &&
                            is_readable(values));
}

static cst_status check_readable(const struct ArrowSchema *schema, cst_error *error) {
  if (!is_readable(schema) || !has_readable_values(schema)) {
    const char *values = schema->dictionary == NULL ? NULL
                         : schema->dictionary->dictionary != NULL
                             ? "dictionary"
                             : cst__layout_name(schema->dictionary->format);
    return values != NULL
               ? cst__fail(error, CST_UNSUPPORTED, "give the type of its values instead",
                           "JSON cannot be read as a dictionary of the type %s", values)
               : cst__fail(error, CST_UNSUPPORTED, NULL, "JSON cannot be read as the type %s",
                           cst__layout_name(schema->format));
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *child = schema->children[i];
    cst_status status = check_readable(child, error);
    if (status != CST_OK && strcmp(schema->format, "+s") == 0) {
      cst__error_add_path(error, child->name, strlen(child->name));
    }
    CST__TRY(status);
  }
  return CST_OK;
}

/* What JSON asks of an Arrow type, and of all within it. */
static cst_status mirror_type(cst__json_types *types, cst__json_type *type, cst_error *error) {
  type->flags = cst__type_is_nullable(type->type) ? 0 : CST__JSON_REQUIRED;
  CST__TRY(mirror_children(types, type, error));
  for (size_t i = 0; i < type->type->num_children; i++) {
    cst__json_type *child = &type->children[i];
    cst_status status = mirror_type(types, child, error);
    if (status != CST_OK && status != CST_NO_MEMORY && type->type->layout == CST__LAYOUT_STRUCT) {
      cst__error_add_path(error, child->type->name, child->name_size);
    }
    CST__TRY(status);
  }
  return type->type->layout == CST__LAYOUT_STRUCT ? cst__json_type_close(type, error) : CST_OK;
}

static cst_status set_arrow(cst__json_types *types, cst__json_type *type,
                            const struct ArrowSchema *schema, cst_error *error) {
  cst_status status = check_readable(schema, error);
  if (status == CST_OK) {
    status = cst__type_import(schema, &types->arena, type->type, error);
  }
  if (status == CST_OK) {
    type->name_size = strlen(type->type->name);
    status = mirror_type(types, type, error);
  }
  if (status != CST_OK && status != CST_NO_MEMORY) {
    cst__error_add_path(error, schema->name, strlen(schema->name));
  }
  return status;
}

static const char *json_type_field_name(const void *ctx, size_t i) {
  return ((const struct ArrowSchema *)ctx)->children[i]->name;
}

static cst_status of_arrow(cst__json_types *types, const struct ArrowSchema *schema,
                           const cst__table_options *options, cst_error *error) {
  choice chosen = {NULL, NULL, 0};
  if (strcmp(schema->format, "+s") != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the types are of Arrow type '%s', expected a struct", schema->format);
  }
  cst_status status = json_type_choose(&chosen, (size_t)schema->n_children, json_type_field_name,
                                       schema, options, error);
  if (status == CST_OK) {
    status = cst__json_type_children(types, &types->root, chosen.count, error);
  }
  for (size_t i = 0; i < chosen.count && status == CST_OK; i++) {
    status = set_arrow(types, &types->root.children[i], schema->children[chosen.picked[i]], error);
  }
  choice_reset(&chosen);
  return status == CST_OK ? cst__json_type_close(&types->root, error) : status;
}

cst_status cst__json_types_of_arrow(cst__json_types *types, const cst__table_options *options,
                                    cst_error *error) {
  struct ArrowSchema copy; /* copying checks that all of it is there, and its depth */
  CST__TRY(cst__schema_copy(options->types, &copy, error));
  cst_status status = of_arrow(types, &copy, options, error);
  copy.release(&copy);
  return status;
}

const char *cst__json_type_word(const cst__json_type *type) {
  if (type->type->dictionary != NULL) {
    const cst__json_type values = {.type = type->type->dictionary};
    return cst__json_type_word(&values);
  }
  switch (type->type->layout) {
    case CST__LAYOUT_BOOL:
      return "true or false";
    case CST__LAYOUT_HALF:
      return "float16";
    case CST__LAYOUT_OPAQUE:
      return cst__value_text_word(type->type->format);
    case CST__LAYOUT_FIXED_BINARY:
      return "a string or {\"base64\": ...} of as many bytes as the type has";
    case CST__LAYOUT_NUMBER:
      return cst_dtype_name(type->type->dtype);
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
      return type->type->is_string ? "a string" : "a string or {\"base64\": ...}";
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_LIST_VIEW:
    case CST__LAYOUT_FIXED_LIST:
      return "a list";
    case CST__LAYOUT_STRUCT:
      return "an object";
    default:
      return "null";
  }
}
