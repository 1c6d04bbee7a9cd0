/* Schemas to trees of types, and back. */
#include "arrow/type.h"

#include <nanoarrow/nanoarrow.h>
#include <stdio.h>
#include <string.h>

#include "arrow/view.h"

/* ---- one type ---- */

static size_t type_width(const cst__type *type) {
  switch (type->layout) {
    case CST__LAYOUT_NUMBER:
      return cst_dtype_width(type->dtype);
    case CST__LAYOUT_HALF:
      return 2;
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      return (size_t)type->fixed_size;
    default:
      return 0;
  }
}

cst_status cst__type_set(cst__type *type, const char *format, cst__arena *arena, cst_error *error) {
  type->fixed_size = 0;
  const cst__layout_info *info = cst__layout_find(format, &type->fixed_size);
  if (info->layout == CST__LAYOUT_OTHER) {
    return cst__fail(error, CST_UNSUPPORTED, NULL, "the Arrow type '%s' is not supported", format);
  }
  type->layout = info->layout;
  type->dtype = info->dtype;
  type->is_string = info->is_string;
  type->offset_width = info->offset_width;
  type->width = type_width(type);
  type->format = cst__arena_copy(arena, format, strlen(format));
  return type->format != NULL ? CST_OK : cst__fail_memory(error, strlen(format));
}

cst_status cst__type_set_children(cst__type *type, size_t count, cst__arena *arena,
                                  cst_error *error) {
  size_t size = 0;
  type->children =
      cst__mul(count, sizeof *type->children, &size) ? cst__arena_take_zero(arena, size + 1) : NULL;
  if (type->children == NULL) {
    return cst__fail_memory(error, size);
  }
  type->num_children = count;
  for (size_t i = 0; i < count; i++) {
    type->children[i] = (cst__type)CST__TYPE_INIT;
  }
  return CST_OK;
}

cst_status cst__type_set_name(cst__type *type, const char *name, size_t size, cst__arena *arena,
                              cst_error *error) {
  type->name = cst__arena_copy(arena, name, size);
  return type->name != NULL ? CST_OK : cst__fail_memory(error, size);
}

cst_status cst__type_enlist(cst__type *type, int64_t fixed_size, bool offsets_32, cst__arena *arena,
                            cst_error *error) {
  cst__type list = CST__TYPE_INIT;
  char format[16];
  if (fixed_size > INT32_MAX) {
    return cst__fail(error, CST_UNSUPPORTED, NULL, "a fixed shape of more than 2147483647 values");
  }
  snprintf(format, sizeof format,
           fixed_size >= 0 ? "+w:%d"
           : offsets_32    ? "+l"
                           : "+L",
           (int)fixed_size);
  CST__TRY(cst__type_set(&list, format, arena, error));
  CST__TRY(cst__type_set_children(&list, 1, arena, error));
  list.name = type->name;
  list.children[0] = *type;
  list.children[0].name = "item";
  *type = list;
  return CST_OK;
}

/* ---- from a schema ---- */

typedef struct type_importer {
  cst__arena *arena;
  cst_error *error;
} type_importer;

static cst_status import_metadata(const type_importer *im, const char *metadata, cst__type *type) {
  if (metadata == NULL) {
    return CST_OK;
  }
  size_t size = (size_t)ArrowMetadataSizeOf(metadata);
  type->metadata = cst__arena_copy(im->arena, metadata, size);
  return type->metadata != NULL ? CST_OK : cst__fail_memory(im->error, size);
}

/* Number and kind of children, which the children themselves are not looked at for. */
static cst_status type_check_children(const type_importer *im, const struct ArrowSchema *schema,
                                      const cst__type *type) {
  int64_t ignored;
  int expected = cst__layout_find(schema->format, &ignored)->num_children;
  bool is_right = expected < 0 || schema->n_children == expected;
  if (is_right && cst__type_is_map(type)) {
    const struct ArrowSchema *entries = schema->children[0];
    is_right = strcmp(entries->format, "+s") == 0 && entries->n_children == 2;
  }
  return is_right ? CST_OK
                  : cst__fail(im->error, CST_INVALID_ARGUMENT, NULL,
                              "an Arrow schema of type '%s' with other children than it has",
                              schema->format);
}

static cst_status import_node(const type_importer *im, const struct ArrowSchema *schema,
                              cst__type *type) {
  const char *name = schema->name != NULL ? schema->name : "";
  CST__TRY(cst__type_set(type, schema->format, im->arena, im->error));
  CST__TRY(cst__type_set_name(type, name, strlen(name), im->arena, im->error));
  CST__TRY(import_metadata(im, schema->metadata, type));
  CST__TRY(type_check_children(im, schema, type));
  type->flags = schema->flags;
  if (schema->dictionary != NULL) {
    if (type->layout != CST__LAYOUT_NUMBER || strchr("cCsSiIlL", *type->format) == NULL) {
      return cst__fail(im->error, CST_INVALID_ARGUMENT, NULL,
                       "a dictionary whose indices are of Arrow type '%s'", type->format);
    }
    type->dictionary = cst__arena_take_zero(im->arena, sizeof *type->dictionary);
    if (type->dictionary == NULL) {
      return cst__fail_memory(im->error, sizeof *type->dictionary);
    }
    *type->dictionary = (cst__type)CST__TYPE_INIT;
    CST__TRY(import_node(im, schema->dictionary, type->dictionary));
  }
  CST__TRY(cst__type_set_children(type, (size_t)schema->n_children, im->arena, im->error));
  for (size_t i = 0; i < type->num_children; i++) {
    const struct ArrowSchema *child = schema->children[i];
    cst_status status = import_node(im, child, &type->children[i]);
    if (status != CST_OK && type->layout == CST__LAYOUT_STRUCT && child->name != NULL) {
      cst__error_add_path(im->error, child->name, strlen(child->name));
    }
    CST__TRY(status);
  }
  return CST_OK;
}

cst_status cst__type_import(const struct ArrowSchema *schema, cst__arena *arena, cst__type *type,
                            cst_error *error) {
  const type_importer im = {arena, error};
  *type = (cst__type)CST__TYPE_INIT;
  CST__TRY(cst__schema_check_whole(schema, error));
  return import_node(&im, schema, type);
}

/* ---- to a schema ---- */

static ArrowErrorCode export_node(const cst__type *type, struct ArrowSchema *out) {
  ArrowErrorCode failed = ArrowSchemaSetFormat(out, type->format);
  if (!failed) {
    failed = ArrowSchemaSetName(out, type->name);
  }
  if (!failed && type->metadata != NULL) {
    failed = ArrowSchemaSetMetadata(out, type->metadata);
  }
  if (!failed && type->dictionary != NULL) {
    failed = ArrowSchemaAllocateDictionary(out);
    if (!failed) {
      ArrowSchemaInit(out->dictionary);
      failed = export_node(type->dictionary, out->dictionary);
    }
  }
  if (!failed) {
    failed = ArrowSchemaAllocateChildren(out, (int64_t)type->num_children);
  }
  for (size_t i = 0; i < type->num_children && !failed; i++) {
    ArrowSchemaInit(out->children[i]);
    failed = export_node(&type->children[i], out->children[i]);
  }
  out->flags = type->flags;
  return failed;
}

cst_status cst__type_export(const cst__type *type, struct ArrowSchema *out, cst_error *error) {
  struct ArrowSchema schema;
  ArrowSchemaInit(&schema);
  if (export_node(type, &schema) != NANOARROW_OK) {
    ArrowSchemaRelease(&schema);
    return cst__fail_memory(error, sizeof schema);
  }
  ArrowSchemaMove(&schema, out);
  return CST_OK;
}

cst_status cst__types_export(cst__type *columns, size_t count, struct ArrowSchema *out,
                             cst_error *error) {
  const cst__type batch = {.format = "+s", .name = "", .children = columns, .num_children = count};
  return cst__type_export(&batch, out, error);
}
