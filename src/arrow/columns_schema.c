/* The Arrow schema of the batches that Columnstone makes. */
#include <nanoarrow/nanoarrow.h>

#include "arrow/batch.h"

static enum ArrowType value_type(const cst__column_type *type) {
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

static ArrowErrorCode set_list(struct ArrowSchema *schema, const cst__column_type *type) {
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

static ArrowErrorCode set_column(struct ArrowSchema *schema, const cst__column_type *type) {
  ArrowErrorCode failed;
  if (type->kind == CST__VALUES_NULL || type->flat) {
    failed = ArrowSchemaSetType(schema, value_type(type));
  } else {
    failed = set_list(schema, type);
    if (!failed) {
      failed = ArrowSchemaSetType(schema->children[0], value_type(type));
    }
    if (!failed) {
      failed = ArrowSchemaSetName(schema->children[0], "item");
    }
  }
  return failed ? failed : ArrowSchemaSetName(schema, type->name);
}

cst_status cst__columns_schema(const cst__column_type *types, size_t count, struct ArrowSchema *out,
                               cst_error *error) {
  struct ArrowSchema schema;
  ArrowSchemaInit(&schema);
  ArrowErrorCode failed = ArrowSchemaSetTypeStruct(&schema, (int64_t)count);
  if (!failed) {
    failed = ArrowSchemaSetName(&schema, "");
  }
  schema.flags = 0; /* a batch itself is never null */
  for (size_t i = 0; i < count && !failed; i++) {
    failed = set_column(schema.children[i], &types[i]);
  }
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
  if (set_column(&schema, type) != NANOARROW_OK) {
    ArrowSchemaRelease(&schema);
    return cst__fail_memory(error, sizeof schema);
  }
  ArrowSchemaMove(&schema, out);
  return CST_OK;
}
