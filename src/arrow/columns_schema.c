/* The Arrow schema of the batches that Columnstone makes. */
#include <nanoarrow/nanoarrow.h>

#include "arrow/batch.h"

static enum ArrowType column_value_type(const cst__column_type *type) {
  switch (type->kind) {
    case CST__VALUES_NULL:
      return NANOARROW_TYPE_NA;
    case CST__VALUES_INT64:
      return NANOARROW_TYPE_INT64;
    case CST__VALUES_FLOAT32:
      return NANOARROW_TYPE_FLOAT;
    case CST__VALUES_BINARY:
      return type->offsets_32 ? NANOARROW_TYPE_BINARY : NANOARROW_TYPE_LARGE_BINARY;
    case CST__VALUES_VIEW:
      return NANOARROW_TYPE_BINARY_VIEW;
  }
  return NANOARROW_TYPE_NA;
}

static ArrowErrorCode set_values(struct ArrowSchema *schema, const cst__column_type *type) {
  return type->format != NULL ? ArrowSchemaSetFormat(schema, type->format)
                              : ArrowSchemaSetType(schema, column_value_type(type));
}

static ArrowErrorCode column_set_list(struct ArrowSchema *schema, const cst__column_type *type) {
  if (type->fixed_size >= 0) {
    if (type->fixed_size > INT32_MAX) {
      return EINVAL;
    }
    return ArrowSchemaSetTypeFixedSize(schema, NANOARROW_TYPE_FIXED_SIZE_LIST,
                                       (int32_t)type->fixed_size);
  }
  return ArrowSchemaSetType(schema,
                            type->offsets_32 ? NANOARROW_TYPE_LIST : NANOARROW_TYPE_LARGE_LIST);
}

static ArrowErrorCode column_set_type(struct ArrowSchema *schema, const cst__column_type *type);

static ArrowErrorCode column_set_struct(struct ArrowSchema *schema, const cst__column_type *types,
                                        size_t count) {
  ArrowErrorCode failed = ArrowSchemaSetTypeStruct(schema, (int64_t)count);
  for (size_t i = 0; i < count && !failed; i++) {
    failed = column_set_type(schema->children[i], &types[i]);
    if (!failed) {
      failed = ArrowSchemaSetName(schema->children[i], types[i].name);
    }
  }
  return failed;
}

static ArrowErrorCode set_item(struct ArrowSchema *schema, const cst__column_type *type) {
  ArrowErrorCode failed = ArrowSchemaSetName(schema, "item");
  if (!failed && (type->is_nested || type->num_inner_lists > 0)) {
    cst__column_type inner = *type;
    inner.is_nested = false;
    inner.num_inner_lists -= type->num_inner_lists > 0 ? 1 : 0;
    failed = column_set_list(schema, &inner);
    return failed ? failed : set_item(schema->children[0], &inner);
  }
  return failed ? failed : set_values(schema, type);
}

/* A struct as the items of lists. */
static ArrowErrorCode set_struct_lists(struct ArrowSchema *schema, const cst__column_type *type) {
  cst__column_type inner = *type;
  inner.num_struct_lists--;
  ArrowErrorCode failed = column_set_list(schema, type);
  if (!failed) {
    failed = ArrowSchemaSetName(schema->children[0], "item");
  }
  return failed ? failed : column_set_type(schema->children[0], &inner);
}

static ArrowErrorCode column_set_type(struct ArrowSchema *schema, const cst__column_type *type) {
  if (type->is_struct && type->num_struct_lists > 0) {
    return set_struct_lists(schema, type);
  }
  if (type->is_struct) {
    return column_set_struct(schema, type->children, type->num_children);
  }
  bool is_null = type->kind == CST__VALUES_NULL && type->format == NULL;
  if (type->flat || (is_null && !type->is_nested)) {
    return set_values(schema, type);
  }
  ArrowErrorCode failed = column_set_list(schema, type);
  return failed ? failed : set_item(schema->children[0], type);
}

cst_status cst__columns_schema(const cst__column_type *types, size_t count, struct ArrowSchema *out,
                               cst_error *error) {
  struct ArrowSchema schema;
  ArrowSchemaInit(&schema);
  ArrowErrorCode failed = column_set_struct(&schema, types, count);
  if (!failed) {
    failed = ArrowSchemaSetName(&schema, "");
  }
  schema.flags = 0; /* a batch itself is never null */
  if (failed) {
    ArrowSchemaRelease(&schema);
    return failed == EINVAL ? cst__fail(error, CST_UNSUPPORTED, NULL,
                                        "a fixed shape of more than 2147483647 values")
                            : cst__fail_memory(error, count * sizeof schema);
  }
  ArrowSchemaMove(&schema, out);
  return CST_OK;
}

cst_status cst__column_schema(const cst__column_type *type, struct ArrowSchema *out,
                              cst_error *error) {
  struct ArrowSchema schema;
  ArrowSchemaInit(&schema);
  if (column_set_type(&schema, type) != NANOARROW_OK ||
      ArrowSchemaSetName(&schema, type->name) != NANOARROW_OK) {
    ArrowSchemaRelease(&schema);
    return cst__fail_memory(error, sizeof schema);
  }
  ArrowSchemaMove(&schema, out);
  return CST_OK;
}
