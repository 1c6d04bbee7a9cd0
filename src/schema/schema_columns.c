/* A schema for columns that are there: those of another schema as far as it has them.
 */
#include "schema/schema_columns.h"

#include <string.h>

#include "proto/message.h"

/* The type of a column that the schema does not have; UNKNOWN: none that a feature could have. */
static cst_feature_type type_of_feature(const struct ArrowSchema *column) {
  const char *format = column->format;
  if (strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0) {
    format = column->children[0]->format;
  }
  switch (format[1] == '\0' ? format[0] : '?') {
    case 'c':
    case 'C':
    case 's':
    case 'S':
    case 'i':
    case 'I':
    case 'l':
    case 'L':
      return CST_FEATURE_INT;
    case 'f':
    case 'g':
      return CST_FEATURE_FLOAT;
    case 'u':
    case 'U':
    case 'z':
    case 'Z':
      return CST_FEATURE_BYTES;
    default:
      return CST_FEATURE_UNKNOWN;
  }
}

static void put_column_path(cst__text *text, const char *name, cst_feature_type type) {
  static const char *const names[] = {"TYPE_UNKNOWN", "BYTES", "INT", "FLOAT"};
  cst_bytes bytes = {(const uint8_t *)name, strlen(name)};
  cst__text_puts(text, "feature { name: ");
  cst__text_put_quoted(text, bytes, true);
  cst__text_printf(text, " type: %s }\n", names[type]);
}

/* False if there is a struct, which is read by the schema as it is. */
static bool put_column_paths(cst__text *text, const struct ArrowSchema *columns,
                             const cst_schema *schema) {
  for (int64_t i = 0; i < columns->n_children; i++) {
    const char *name = columns->children[i]->name;
    cst_feature_type type = type_of_feature(columns->children[i]);
    size_t at = cst__schema_find_feature(schema, name, strlen(name));
    if (at != SIZE_MAX && cst_schema_feature(schema, at)->type != CST_FEATURE_UNKNOWN) {
      type = cst_schema_feature(schema, at)->type;
    }
    if (type == CST_FEATURE_STRUCT) {
      return false;
    }
    put_column_path(text, name, type);
  }
  return true;
}

cst_status cst__schema_for_columns(const struct ArrowSchema *columns, const cst_schema *schema,
                                   cst_schema **out, cst_error *error) {
  cst__text text = {0};
  cst_status status = CST_OK;
  *out = NULL;
  bool fits = put_column_paths(&text, columns, schema);
  if (text.failed) {
    status = cst__fail_memory(error, text.size);
  } else if (fits) {
    status = cst_schema_from_text(text.data, text.size, out, error);
  }
  cst__text_free(&text);
  return status;
}
