/* Copies and comparison of Arrow schemas, and changes to their fields. */
#include <errno.h>
#include <nanoarrow/nanoarrow.h>

#include "arrow/field.h"
#include "arrow/type.h"
#include "arrow/view.h"
#include "base/hash.h"

const char *cst__dtype_format(cst_dtype dtype) {
  static const char *const formats[] = {
      [CST_DTYPE_NONE] = "n",    [CST_DTYPE_INT8] = "c",    [CST_DTYPE_INT16] = "s",
      [CST_DTYPE_INT32] = "i",   [CST_DTYPE_INT64] = "l",   [CST_DTYPE_UINT8] = "C",
      [CST_DTYPE_UINT16] = "S",  [CST_DTYPE_UINT32] = "I",  [CST_DTYPE_UINT64] = "L",
      [CST_DTYPE_FLOAT32] = "f", [CST_DTYPE_FLOAT64] = "g", [CST_DTYPE_BYTES] = "Z",
      [CST_DTYPE_BOOL] = "b",
  };
  return formats[dtype];
}

/* True if every child is there and the nesting has an end: nanoarrow's copy looks at neither. */
static bool schema_is_whole(const struct ArrowSchema *schema, int depth) {
  if (schema == NULL || schema->release == NULL || schema->format == NULL ||
      depth > CST__TYPE_MAX_DEPTH || schema->n_children < 0 ||
      (schema->n_children > 0 && schema->children == NULL) ||
      (schema->dictionary != NULL && !schema_is_whole(schema->dictionary, depth + 1))) {
    return false;
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (!schema_is_whole(schema->children[i], depth + 1)) {
      return false;
    }
  }
  return true;
}

/* A field without a name has the empty one: who reads our copies need not ask. */
static int name_fields(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    struct ArrowSchema *child = schema->children[i];
    int code = child->name != NULL ? NANOARROW_OK : ArrowSchemaSetName(child, "");
    code = code == NANOARROW_OK ? name_fields(child) : code;
    if (code != NANOARROW_OK) {
      return code;
    }
  }
  return schema->dictionary != NULL ? name_fields(schema->dictionary) : NANOARROW_OK;
}

cst_status cst__schema_check_whole(const struct ArrowSchema *schema, cst_error *error) {
  return schema_is_whole(schema, 0)
             ? CST_OK
             : cst__fail(
                   error, CST_INVALID_ARGUMENT, NULL,
                   "the Arrow schema is missing, released, incomplete or nested deeper than %d",
                   CST__TYPE_MAX_DEPTH);
}

cst_status cst__schema_copy(const struct ArrowSchema *schema, struct ArrowSchema *out,
                            cst_error *error) {
  struct ArrowSchema copy;
  CST__TRY(cst__schema_check_whole(schema, error));
  int code = ArrowSchemaDeepCopy(schema, &copy);
  if (code == ENOMEM) {
    return cst__fail_memory(error, sizeof copy);
  }
  if (code != NANOARROW_OK) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the Arrow schema cannot be copied");
  }
  if (name_fields(&copy) != NANOARROW_OK) {
    ArrowSchemaRelease(&copy);
    return cst__fail_memory(error, sizeof copy);
  }
  *out = copy;
  return CST_OK;
}

static bool schema_are_equal(const struct ArrowSchema *a, const struct ArrowSchema *b, int depth);

static bool are_strings_equal(const char *a, const char *b) {
  return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool are_children_equal(const struct ArrowSchema *a, const struct ArrowSchema *b,
                               int depth) {
  for (int64_t i = 0; i < a->n_children; i++) {
    const struct ArrowSchema *x = a->children[i];
    const struct ArrowSchema *y = b->children[i];
    if (x == NULL || y == NULL || !are_strings_equal(x->name, y->name) ||
        ((x->flags ^ y->flags) & ARROW_FLAG_NULLABLE) != 0 || !schema_are_equal(x, y, depth + 1)) {
      return false;
    }
  }
  return true;
}

static bool schema_are_equal(const struct ArrowSchema *a, const struct ArrowSchema *b, int depth) {
  if (depth > CST__TYPE_MAX_DEPTH || a->release == NULL || b->release == NULL ||
      a->n_children != b->n_children || !are_strings_equal(a->format, b->format) ||
      (a->dictionary == NULL) != (b->dictionary == NULL)) {
    return false;
  }
  return (a->dictionary == NULL || schema_are_equal(a->dictionary, b->dictionary, depth + 1)) &&
         are_children_equal(a, b, depth);
}

bool cst__schema_equal(const struct ArrowSchema *a, const struct ArrowSchema *b) {
  return schema_are_equal(a, b, 0);
}

static cst_status map_column_names(const struct ArrowSchema *schema, cst__name_map *map,
                                   cst_error *error) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    const char *name = schema->children[i]->name != NULL ? schema->children[i]->name : "";
    size_t size = strlen(name);
    if (cst__name_map_find(map, name, size) != SIZE_MAX) {
      (void)cst__fail(error, CST_INVALID_ARGUMENT, "rename one of them",
                      "two columns have the same name");
      cst__error_add_path(error, name, size);
      return CST_INVALID_ARGUMENT;
    }
    if (!cst__name_map_add(map, name, size, (size_t)i)) {
      return cst__fail_memory(error, size);
    }
  }
  return CST_OK;
}

cst_status cst__schema_check_names(const struct ArrowSchema *schema, cst_error *error) {
  cst__name_map map = {0};
  cst_status status = map_column_names(schema, &map, error);
  cst__name_map_reset(&map);
  return status;
}

/* ---- fields ---- */

bool cst__field_is_list(const struct ArrowSchema *field) {
  const char *format = field->format;
  return strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0 || strncmp(format, "+w:", 3) == 0;
}

cst_status cst__field_unwrap(struct ArrowSchema *field, bool nullable, cst_error *error) {
  struct ArrowSchema *item = field->children[0];
  if (ArrowSchemaSetName(item, field->name) != NANOARROW_OK ||
      (field->metadata != NULL && ArrowSchemaSetMetadata(item, field->metadata) != NANOARROW_OK)) {
    return cst__fail_memory(error, sizeof *item);
  }
  struct ArrowSchema moved;
  ArrowSchemaMove(item, &moved);
  ArrowSchemaRelease(field);
  ArrowSchemaMove(&moved, field);
  field->flags =
      nullable ? field->flags | ARROW_FLAG_NULLABLE : field->flags & ~ARROW_FLAG_NULLABLE;
  return CST_OK;
}

static const char *text_format(const char *binary) {
  static const char *const formats[][2] = {{"z", "u"}, {"Z", "U"}, {"vz", "vu"}};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp(binary, formats[i][0]) == 0) {
      return formats[i][1];
    }
  }
  return NULL;
}

bool cst__field_is_binary(const struct ArrowSchema *field) {
  return text_format(field->format) != NULL;
}

cst_status cst__field_set_text(struct ArrowSchema *field, cst_error *error) {
  return ArrowSchemaSetFormat(field, text_format(field->format)) == NANOARROW_OK
             ? CST_OK
             : cst__fail_memory(error, sizeof *field);
}
