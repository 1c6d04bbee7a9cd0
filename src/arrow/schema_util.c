/* Checks, copies and comparison of Arrow schemas, and changes to their fields.
 *
 * Everything that walks through a schema or an array by recursion relies on the checks: in structs
 * from outside, pointers may lead back to where they came from.
 */
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

/* ---- from outside ---- */

/* Counts and sizes of Arrow's metadata: 32-bit numbers, and the keys and values between them. */
static bool is_metadata_whole(const char *metadata) {
  int32_t count;
  if (metadata == NULL) {
    return true;
  }
  memcpy(&count, metadata, sizeof count);
  metadata += sizeof count;
  for (int64_t i = 0; i < 2 * (int64_t)count; i++) {
    int32_t size;
    memcpy(&size, metadata, sizeof size);
    if (size < 0) {
      return false;
    }
    metadata += sizeof size + (size_t)size;
  }
  return count >= 0;
}

static bool is_whole_node(const struct ArrowSchema *schema) {
  return schema != NULL && schema->release != NULL && schema->format != NULL &&
         schema->n_children >= 0 && (schema->n_children == 0 || schema->children != NULL) &&
         is_metadata_whole(schema->metadata);
}

/* `left`: how many fields may still come. */
static cst_status whole_schema(const struct ArrowSchema *schema, int depth, int64_t *left,
                               cst_error *error) {
  if (!is_whole_node(schema)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the Arrow schema is missing, released or incomplete");
  }
  if (depth > CST__TYPE_MAX_DEPTH) {
    return cst__fail(error, CST_LIMIT, NULL, "an Arrow schema nested deeper than %d",
                     CST__TYPE_MAX_DEPTH);
  }
  if (schema->n_children >= *left) {
    return cst__fail(error, CST_LIMIT, NULL, "more than %d fields in one Arrow schema",
                     CST__MAX_FIELDS);
  }
  *left -= schema->n_children + 1;
  if (schema->dictionary != NULL) {
    CST__TRY(whole_schema(schema->dictionary, depth + 1, left, error));
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    CST__TRY(whole_schema(schema->children[i], depth + 1, left, error));
  }
  return CST_OK;
}

cst_status cst__schema_check_whole(const struct ArrowSchema *schema, cst_error *error) {
  int64_t left = CST__MAX_FIELDS + 1;
  return whole_schema(schema, 0, &left, error);
}

static cst_status whole_array(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              cst_error *error) {
  if (array == NULL || array->release == NULL || array->length < 0 || array->offset < 0 ||
      array->length > CST__MAX_SLOTS - array->offset || array->n_buffers < 0 ||
      (array->n_buffers > 0 && array->buffers == NULL) || array->n_children != schema->n_children ||
      (array->n_children > 0 && array->children == NULL)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the Arrow array has not the buffers and children of its type");
  }
  if ((array->dictionary == NULL) != (schema->dictionary == NULL)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "an Arrow array that is %s has %s dictionary",
                     schema->dictionary != NULL ? "dictionary-encoded" : "not dictionary-encoded",
                     schema->dictionary != NULL ? "no" : "a");
  }
  if (schema->dictionary != NULL) {
    CST__TRY(whole_array(schema->dictionary, array->dictionary, error));
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    CST__TRY(whole_array(schema->children[i], array->children[i], error));
  }
  return CST_OK;
}

cst_status cst__array_check_whole(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                  cst_error *error) {
  CST__TRY(cst__schema_check_whole(schema, error));
  return whole_array(schema, array, error);
}

/* ---- copies ---- */

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

static bool is_nullable(const struct ArrowSchema *field) {
  return (field->flags & ARROW_FLAG_NULLABLE) != 0;
}

/* Types of one name (lists, structs, times) differ below it, or in what their formats add. */
static void tell_difference(const struct ArrowSchema *found, const struct ArrowSchema *expected,
                            const char *hint, cst_error *error) {
  const char *type = cst__layout_name(found->format);
  const char *expected_type = cst__layout_name(expected->format);
  if (strcmp(type, expected_type) != 0) {
    (void)cst__fail(error, CST_SCHEMA, hint, "a column of type %s, expected %s", type,
                    expected_type);
  } else if (strcmp(found->format, expected->format) != 0) {
    (void)cst__fail(error, CST_SCHEMA, hint, "a column of type %s ('%s'), expected '%s'", type,
                    found->format, expected->format);
  } else if (is_nullable(found) != is_nullable(expected)) {
    (void)cst__fail(error, CST_SCHEMA, hint, "a column that %s nulls, expected one that %s",
                    is_nullable(found) ? "may have" : "has no",
                    is_nullable(found) ? "has none" : "may have some");
  } else {
    (void)cst__fail(error, CST_SCHEMA, hint,
                    "a column of type %s whose fields differ from those expected", type);
  }
  cst__error_add_path(error, found->name, strlen(found->name));
}

cst_status cst__schema_check_equal(const struct ArrowSchema *found,
                                   const struct ArrowSchema *expected, const char *hint,
                                   cst_error *error) {
  if (cst__schema_equal(found, expected)) {
    return CST_OK;
  }
  if (found->n_children != expected->n_children) {
    return cst__fail(error, CST_SCHEMA, hint, "%lld columns, expected %lld",
                     (long long)found->n_children, (long long)expected->n_children);
  }
  for (int64_t i = 0; i < found->n_children; i++) {
    const struct ArrowSchema *a = found->children[i];
    const struct ArrowSchema *b = expected->children[i];
    if (!are_strings_equal(a->name, b->name)) {
      (void)cst__fail(error, CST_SCHEMA, hint, "column %lld has another name than expected",
                      (long long)i);
      cst__error_add_path(error, a->name, strlen(a->name));
      return CST_SCHEMA;
    }
    if (is_nullable(a) != is_nullable(b) || !cst__schema_equal(a, b)) {
      tell_difference(a, b, hint, error);
      return CST_SCHEMA;
    }
  }
  return cst__fail(error, CST_SCHEMA, hint, "columns of other types than expected");
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

static const char *field_name(const struct ArrowSchema *type, int64_t i) {
  return type->children[i]->name != NULL ? type->children[i]->name : "";
}

static size_t find_field(const cst__name_map *map, const struct ArrowSchema *type,
                         const char *name) {
  return cst__name_map_find_of(map, type, name, strlen(name));
}

cst_status cst__field_names_find(cst__field_names *names, const struct ArrowSchema *type,
                                 const char *name, int64_t *out, bool *is_twice, cst_error *error) {
  bool is_known =
      type->n_children == 0 || find_field(&names->first, type, field_name(type, 0)) != SIZE_MAX;
  for (int64_t i = 0; !is_known && i < type->n_children; i++) {
    const char *own = field_name(type, i);
    cst__name_map *map = &names->first;
    if (find_field(map, type, own) != SIZE_MAX) {
      map = &names->again;
    }
    if (find_field(map, type, own) == SIZE_MAX &&
        !cst__name_map_add_of(map, type, own, strlen(own), (size_t)i)) {
      return cst__fail_memory(error, (size_t)type->n_children * sizeof(cst__name_slot));
    }
  }
  size_t found = find_field(&names->first, type, name);
  *out = found != SIZE_MAX ? (int64_t)found : -1;
  *is_twice = find_field(&names->again, type, name) != SIZE_MAX;
  return CST_OK;
}

void cst__field_names_reset(cst__field_names *names) {
  cst__name_map_reset(&names->first);
  cst__name_map_reset(&names->again);
}

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
