/* Defaults: what the JSON of a schema says of a value, as the bytes of that value, so that whoever
 * reads values reads defaults, too.
 *
 * Source: Apache Avro 1.12 Specification, "Schema Declaration" (field default values) and "Binary
 * Encoding".
 */
#include <string.h>

#include "avro/avro_bytes.h"
#include "avro/avro_schema.h"

/* What has been looked at: a few types within each other make many values. */
typedef struct visits {
  int depth;
  int count;
} visits;

static cst_status put_value(const cst__avro_type *type, yyjson_val *value, visits *v,
                            cst__text *out, cst_error *error);

static cst_status fail_default(const cst__avro_type *type, const yyjson_val *value,
                               cst_error *error) {
  return cst__fail(error, CST_SCHEMA, "give it a default of its own type, or none",
                   "an Avro schema: the default is %s, the type is %s", cst__json_kind(value),
                   cst__avro_kind_name(type->kind));
}

void cst__avro_put_long(cst__text *out, int64_t value) {
  uint8_t *to = (uint8_t *)cst__text_reserve(out, CST__AVRO_LONG_ROOM);
  if (to != NULL) {
    out->size += (size_t)(cst__avro_write_long(to, value) - to);
  }
}

static cst_status put_integer(const cst__avro_type *type, yyjson_val *value, cst__text *out,
                              cst_error *error) {
  int64_t number = yyjson_get_sint(value);
  bool fits = yyjson_is_int(value) && (yyjson_is_sint(value) || number >= 0) &&
              (type->kind == CST__AVRO_LONG || number == (int32_t)number);
  if (!fits) {
    return fail_default(type, value, error);
  }
  cst__avro_put_long(out, number);
  return CST_OK;
}

/* Python's fastavro and Java write NaN and infinities as strings. */
static bool read_special(yyjson_val *value, double *out) {
  static const struct {
    const char *word;
    double value;
  } words[] = {
      {"NaN", __builtin_nan("")}, {"Infinity", __builtin_inf()}, {"-Infinity", -__builtin_inf()}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (yyjson_equals_str(value, words[i].word)) {
      *out = words[i].value;
      return true;
    }
  }
  return false;
}

static cst_status put_real(const cst__avro_type *type, yyjson_val *value, cst__text *out,
                           cst_error *error) {
  double number;
  bool is_number = yyjson_is_num(value) || yyjson_is_raw(value);
  if (!(is_number && cst__json_double(value, &number)) && !read_special(value, &number)) {
    return fail_default(type, value, error);
  }
  float narrow = (float)number;
  if (type->kind == CST__AVRO_FLOAT) {
    cst__text_append(out, &narrow, sizeof narrow);
  } else {
    cst__text_append(out, &number, sizeof number);
  }
  return CST_OK;
}

/* "Unicode code points 0-255 are mapped to unsigned 8-bit byte values 0-255." */
static cst_status put_bytes(const cst__avro_type *type, yyjson_val *value, cst__text *out,
                            cst_error *error) {
  const uint8_t *text = (const uint8_t *)yyjson_get_str(value);
  size_t size = yyjson_get_len(value);
  size_t count = 0;
  for (size_t i = 0; text != NULL && i < size; i++) {
    count += (text[i] & 0xc0) != 0x80;
    text = text[i] > 0xc3 ? NULL : text;
  }
  if (text == NULL || (type->kind == CST__AVRO_FIXED && count != type->size)) {
    return fail_default(type, value, error);
  }
  if (type->kind == CST__AVRO_BYTES) {
    cst__avro_put_long(out, (int64_t)count);
  }
  for (size_t i = 0; i < size; i++) {
    uint8_t byte = text[i];
    if (byte >= 0x80) {
      byte = (uint8_t)(byte << 6 | (text[++i] & 0x3f));
    }
    cst__text_append(out, &byte, 1);
  }
  return CST_OK;
}

static cst_status put_symbol(const cst__avro_type *type, yyjson_val *value, cst__text *out,
                             cst_error *error) {
  for (size_t i = 0; i < type->symbols.count; i++) {
    if (yyjson_equals_str(value, type->symbols.items[i])) {
      cst__avro_put_long(out, (int64_t)i);
      return CST_OK;
    }
  }
  return fail_default(type, value, error);
}

/* Fields that an object lacks have their own defaults. */
static cst_status put_record(const cst__avro_type *type, yyjson_val *value, visits *v,
                             cst__text *out, cst_error *error) {
  if (!yyjson_is_obj(value)) {
    return fail_default(type, value, error);
  }
  for (size_t i = 0; i < type->num_fields; i++) {
    const cst__avro_field *field = &type->fields[i];
    yyjson_val *item = yyjson_obj_get(value, field->name);
    item = item != NULL ? item : field->standard;
    cst_status status = item != NULL ? put_value(field->type, item, v, out, error)
                                     : fail_default(type, value, error);
    if (status != CST_OK) {
      cst__error_add_path(error, field->name, strlen(field->name));
      return status;
    }
  }
  return CST_OK;
}

static cst_status put_list(const cst__avro_type *type, yyjson_val *value, visits *v, cst__text *out,
                           cst_error *error) {
  size_t count = yyjson_arr_size(value);
  if (!yyjson_is_arr(value)) {
    return fail_default(type, value, error);
  }
  if (count > 0) {
    cst__avro_put_long(out, (int64_t)count);
  }
  yyjson_val *item = yyjson_arr_get_first(value);
  for (size_t i = 0; i < count; i++, item = unsafe_yyjson_get_next(item)) {
    CST__TRY(put_value(type->items, item, v, out, error));
  }
  cst__avro_put_long(out, 0);
  return CST_OK;
}

static cst_status put_map(const cst__avro_type *type, yyjson_val *value, visits *v, cst__text *out,
                          cst_error *error) {
  yyjson_obj_iter iter = yyjson_obj_iter_with(value);
  size_t count = yyjson_obj_size(value);
  if (!yyjson_is_obj(value)) {
    return fail_default(type, value, error);
  }
  if (count > 0) {
    cst__avro_put_long(out, (int64_t)count);
  }
  for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) != NULL;) {
    cst__avro_put_long(out, (int64_t)yyjson_get_len(key));
    cst__text_append(out, yyjson_get_str(key), yyjson_get_len(key));
    CST__TRY(put_value(type->items, yyjson_obj_iter_get_val(key), v, out, error));
  }
  cst__avro_put_long(out, 0);
  return CST_OK;
}

/* The first branch that takes the value: before 1.12 it had to be the first one. */
static cst_status put_branch(const cst__avro_type *type, yyjson_val *value, visits *v,
                             cst__text *out, cst_error *error) {
  size_t size = out->size;
  for (size_t i = 0; i < type->num_branches; i++) {
    cst_error own = CST_ERROR_INIT;
    cst__avro_put_long(out, (int64_t)i);
    cst_status status = put_value(type->branches[i], value, v, out, &own);
    if (status != CST_SCHEMA) {
      cst__error_copy(error, &own);
      return status;
    }
    out->size = size;
  }
  return fail_default(type, value, error);
}

static cst_status put_kind(const cst__avro_type *type, yyjson_val *value, visits *v, cst__text *out,
                           cst_error *error) {
  uint8_t truth = yyjson_is_true(value);
  switch (type->kind) {
    case CST__AVRO_NULL:
      return yyjson_is_null(value) ? CST_OK : fail_default(type, value, error);
    case CST__AVRO_BOOLEAN:
      cst__text_append(out, &truth, 1);
      return yyjson_is_bool(value) ? CST_OK : fail_default(type, value, error);
    case CST__AVRO_INT:
    case CST__AVRO_LONG:
      return put_integer(type, value, out, error);
    case CST__AVRO_FLOAT:
    case CST__AVRO_DOUBLE:
      return put_real(type, value, out, error);
    case CST__AVRO_BYTES:
    case CST__AVRO_FIXED:
      return put_bytes(type, value, out, error);
    case CST__AVRO_STRING:
      if (!yyjson_is_str(value)) {
        return fail_default(type, value, error);
      }
      cst__avro_put_long(out, (int64_t)yyjson_get_len(value));
      cst__text_append(out, yyjson_get_str(value), yyjson_get_len(value));
      return CST_OK;
    case CST__AVRO_ENUM:
      return put_symbol(type, value, out, error);
    case CST__AVRO_RECORD:
      return put_record(type, value, v, out, error);
    case CST__AVRO_ARRAY:
      return put_list(type, value, v, out, error);
    case CST__AVRO_MAP:
      return put_map(type, value, v, out, error);
    case CST__AVRO_UNION:
      return put_branch(type, value, v, out, error);
  }
  return fail_default(type, value, error);
}

static cst_status put_value(const cst__avro_type *type, yyjson_val *value, visits *v,
                            cst__text *out, cst_error *error) {
  enum { MOST = 1 << 20 };
  if (v->depth == CST__AVRO_MAX_DEPTH || v->count == MOST || out->size > MOST) {
    return cst__fail(error, CST_LIMIT, "give a smaller default",
                     "an Avro schema: a default of more than %d levels, or %d values or bytes",
                     CST__AVRO_MAX_DEPTH, MOST);
  }
  v->depth++;
  v->count++;
  cst_status status = put_kind(type, value, v, out, error);
  v->depth--;
  return status;
}

cst_status cst__avro_default_bytes(const cst__avro_type *type, yyjson_val *value, cst__text *out,
                                   cst_error *error) {
  visits v = {0, 0};
  CST__TRY(put_value(type, value, &v, out, error));
  return out->failed ? cst__fail_memory(error, out->capacity) : CST_OK;
}
