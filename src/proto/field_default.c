/* Default values as descriptors have them: the text of a literal. */
#include <string.h>

#include "base/utf8.h"
#include "proto/descriptor_build.h"
#include "proto/lexer.h"

/* Whether a number of the type can be so large. */
static bool integer_fits(bool negative, uint64_t magnitude, cst__field_type type) {
  switch (type) {
    case CST__FIELD_INT32:
    case CST__FIELD_SINT32:
    case CST__FIELD_SFIXED32:
      return magnitude <= (uint64_t)INT32_MAX + negative;
    case CST__FIELD_UINT32:
    case CST__FIELD_FIXED32:
      return magnitude <= (negative ? 0 : UINT32_MAX);
    case CST__FIELD_UINT64:
    case CST__FIELD_FIXED64:
      return magnitude == 0 || !negative;
    default:
      return magnitude <= (uint64_t)INT64_MAX + negative;
  }
}

/* False: there is no such number in the text. */
static bool parse_number_default(cst_bytes text, cst__field_type type, cst__value *value) {
  cst__lexer lexer;
  bool negative;
  uint64_t magnitude;
  if (cst__lexer_init(&lexer, text, NULL) != CST_OK) {
    return false;
  }
  if (type == CST__FIELD_DOUBLE || type == CST__FIELD_FLOAT) {
    if (cst__lexer_double(&lexer, &value->d) != CST_OK) {
      return false;
    }
    if (type == CST__FIELD_FLOAT) {
      float narrow = (float)value->d;
      *value = (cst__value){.u = 0};
      value->f = narrow;
    }
  } else {
    if (cst__lexer_integer(&lexer, &negative, &magnitude, NULL) != CST_OK ||
        !integer_fits(negative, magnitude, type)) {
      return false;
    }
    value->u = negative ? ~magnitude + 1 : magnitude;
  }
  return lexer.kind == CST__TOKEN_END;
}

static bool parse_bool_default(cst_bytes text, cst__value *value) {
  value->i = text.size == 4 && memcmp(text.data, "true", 4) == 0;
  return value->i != 0 || (text.size == 5 && memcmp(text.data, "false", 5) == 0);
}

static bool parse_enum_default(const cst__enum_def *values, cst_bytes text, cst__value *value) {
  const cst__enum_value *found = cst__enum_by_name(values, (const char *)text.data, text.size);
  value->i = found != NULL ? found->number : 0;
  return found != NULL;
}

/* With C's escapes, as bytes are. */
static cst_status unescape_default(cst__arena *arena, cst_bytes text, cst_bytes *bytes,
                                   cst_error *error) {
  char *quoted = cst__arena_take(arena, text.size + 2);
  if (quoted == NULL) {
    return cst__fail_memory(error, text.size + 2);
  }
  quoted[0] = quoted[text.size + 1] = '"';
  if (text.size > 0) {
    memcpy(quoted + 1, text.data, text.size);
  }
  cst__lexer lexer;
  CST__TRY(cst__lexer_init(&lexer, (cst_bytes){(const uint8_t *)quoted, text.size + 2}, error));
  CST__TRY(cst__lexer_string(&lexer, arena, bytes));
  return lexer.kind == CST__TOKEN_END ? CST_OK : cst__lexer_unexpected(&lexer, "one string");
}

static cst_status fail_field_default(cst_error *error) {
  return cst__fail(error, CST_SCHEMA, NULL, "the default value does not fit the field's type");
}

static cst_status parse_bytes_default(cst__arena *arena, const cst__field_def *field,
                                      cst_bytes text, cst_bytes *bytes, cst_error *error) {
  if (field->type == CST__FIELD_BYTES) {
    cst_status status = unescape_default(arena, text, bytes, error);
    return status == CST_CORRUPT ? fail_field_default(error) : status;
  }
  if (!cst__utf8_valid(text.data, text.size)) {
    return fail_field_default(error);
  }
  char *copy = cst__arena_copy(arena, text.data, text.size);
  *bytes = (cst_bytes){(const uint8_t *)copy, text.size};
  return copy != NULL ? CST_OK : cst__fail_memory(error, text.size);
}

cst_status cst__field_parse_default(cst__arena *arena, cst__field_def *field, cst_bytes text,
                                    cst_error *error) {
  cst__value value = {.u = 0};
  cst_bytes bytes = {NULL, 0};
  bool is_sound = false;
  switch ((cst__field_type)field->type) {
    case CST__FIELD_STRING:
    case CST__FIELD_BYTES:
      CST__TRY(parse_bytes_default(arena, field, text, &bytes, error));
      is_sound = true;
      break;
    case CST__FIELD_BOOL:
      is_sound = parse_bool_default(text, &value);
      break;
    case CST__FIELD_ENUM:
      is_sound = parse_enum_default(field->values, text, &value);
      break;
    case CST__FIELD_MESSAGE:
    case CST__FIELD_GROUP:
      break;
    default:
      is_sound = parse_number_default(text, (cst__field_type)field->type, &value);
      break;
  }
  if (!is_sound) {
    return fail_field_default(error);
  }
  cst__field_default *kept = cst__arena_take(arena, sizeof *kept);
  if (kept == NULL) {
    return cst__fail_memory(error, sizeof *kept);
  }
  *kept = (cst__field_default){value.u, bytes};
  field->default_value = kept;
  return CST_OK;
}
