/* The canonical form of a schema, and the fingerprint of that: what of a schema says how values are
 * read, as text that is the same for all schemas that say the same.
 *
 * Source: Apache Avro 1.12 Specification, "Parsing Canonical Form for Schemas" (its rules are named
 * in capitals) and "Schema Fingerprints".
 */
#include "avro/avro_canonical.h"

#include <columnstone/avro.h>
#include <string.h>

#include "base/arguments.h"
#include "base/hash.h"

typedef struct writer {
  cst__text *out;
  cst__name_map written; /* types that were defined before: named from then on */
} writer;

static cst_status put_type(writer *w, const cst__avro_type *type, cst_error *error);

/* Names and symbols are letters, digits, _ and dots: nothing has to be escaped (STRINGS). */
static void put_quoted(writer *w, const char *text) { cst__text_printf(w->out, "\"%s\"", text); }

/* ORDER: name, type, fields, symbols, items, values, size. */
static void put_head(writer *w, const cst__avro_type *type) {
  cst__text_printf(w->out, "{\"name\":\"%s\",\"type\":\"%s\"", type->name,
                   cst__avro_kind_name(type->kind));
}

static cst_status put_record(writer *w, const cst__avro_type *type, cst_error *error) {
  put_head(w, type);
  cst__text_puts(w->out, ",\"fields\":[");
  for (size_t i = 0; i < type->num_fields; i++) {
    cst__text_printf(w->out, "%s{\"name\":\"%s\",\"type\":", i > 0 ? "," : "",
                     type->fields[i].name);
    CST__TRY(put_type(w, type->fields[i].type, error));
    cst__text_puts(w->out, "}");
  }
  cst__text_puts(w->out, "]}");
  return CST_OK;
}

static void put_enum(writer *w, const cst__avro_type *type) {
  put_head(w, type);
  cst__text_puts(w->out, ",\"symbols\":[");
  for (size_t i = 0; i < type->symbols.count; i++) {
    cst__text_puts(w->out, i > 0 ? "," : "");
    put_quoted(w, type->symbols.items[i]);
  }
  cst__text_puts(w->out, "]}");
}

/* FULLNAMES: where a type is defined, and where it is used again. */
static cst_status put_named(writer *w, const cst__avro_type *type, cst_error *error) {
  size_t size = strlen(type->name);
  if (cst__name_map_find(&w->written, type->name, size) != SIZE_MAX) {
    put_quoted(w, type->name);
    return CST_OK;
  }
  if (!cst__name_map_add(&w->written, type->name, size, 0)) {
    return cst__fail_memory(error, size);
  }
  if (type->kind == CST__AVRO_RECORD) {
    return put_record(w, type, error);
  }
  if (type->kind == CST__AVRO_ENUM) {
    put_enum(w, type);
    return CST_OK;
  }
  put_head(w, type);
  cst__text_printf(w->out, ",\"size\":%zu}", type->size);
  return CST_OK;
}

static cst_status put_union(writer *w, const cst__avro_type *type, cst_error *error) {
  cst__text_puts(w->out, "[");
  for (size_t i = 0; i < type->num_branches; i++) {
    cst__text_puts(w->out, i > 0 ? "," : "");
    CST__TRY(put_type(w, type->branches[i], error));
  }
  cst__text_puts(w->out, "]");
  return CST_OK;
}

static cst_status put_type(writer *w, const cst__avro_type *type, cst_error *error) {
  switch (type->kind) {
    case CST__AVRO_RECORD:
    case CST__AVRO_ENUM:
    case CST__AVRO_FIXED:
      return put_named(w, type, error);
    case CST__AVRO_UNION:
      return put_union(w, type, error);
    case CST__AVRO_ARRAY:
    case CST__AVRO_MAP:
      cst__text_puts(w->out, type->kind == CST__AVRO_ARRAY ? "{\"type\":\"array\",\"items\":"
                                                           : "{\"type\":\"map\",\"values\":");
      CST__TRY(put_type(w, type->items, error));
      cst__text_puts(w->out, "}");
      return CST_OK;
    default: /* PRIMITIVES */
      put_quoted(w, type->name);
      return CST_OK;
  }
}

cst_status cst__avro_put_canonical(const cst__avro_schema *schema, cst__text *out,
                                   cst_error *error) {
  writer w = {.out = out};
  cst_status status = put_type(&w, schema->root, error);
  cst__name_map_reset(&w.written);
  return status == CST_OK && out->failed ? cst__fail_memory(error, out->capacity) : status;
}

/* CRC-64-AVRO, a Rabin fingerprint. */
uint64_t cst__avro_crc64(cst_bytes text) {
  static const uint64_t empty = UINT64_C(0xc15d213aa4d7a795);
  uint64_t table[256];
  for (unsigned i = 0; i < 256; i++) {
    table[i] = i;
    for (int k = 0; k < 8; k++) {
      table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? empty : 0);
    }
  }
  uint64_t sum = empty;
  for (size_t i = 0; i < text.size; i++) {
    sum = sum >> 8 ^ table[(sum ^ text.data[i]) & 0xff];
  }
  return sum;
}

cst_status cst__avro_fingerprint(const cst__avro_schema *schema, uint64_t *out, cst_error *error) {
  cst__text text = {.allocator = schema->document.allocator};
  cst_status status = cst__avro_put_canonical(schema, &text, error);
  *out = status == CST_OK ? cst__avro_crc64((cst_bytes){(const uint8_t *)text.data, text.size}) : 0;
  cst__text_free(&text);
  return status;
}

/* ---- for callers ---- */

static cst_status canonical_of(cst_bytes given, cst__text *out, cst_error *error) {
  cst__avro_schema schema;
  cst_status status = cst__avro_schema_parse(&schema, given, NULL, error);
  if (status == CST_OK) {
    status = cst__avro_put_canonical(&schema, out, error);
  }
  cst__avro_schema_reset(&schema);
  return status;
}

cst_status cst_avro_canonical(const void *schema, size_t size, char **out, size_t *out_size,
                              cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(out_size);
  if (schema == NULL || out == NULL || out_size == NULL) {
    return cst__missing(schema == NULL ? "schema" : out == NULL ? "out" : "out_size", error);
  }
  cst__text text = {0};
  cst_status status = canonical_of((cst_bytes){schema, size}, &text, error);
  if (status != CST_OK) {
    cst__text_free(&text);
    return status;
  }
  return cst__text_finish(&text, out, out_size, error);
}

cst_status cst_avro_fingerprint(const void *schema, size_t size, uint64_t *out, cst_error *error) {
  if (schema == NULL || out == NULL) {
    return cst__missing(schema == NULL ? "schema" : "out", error);
  }
  cst__text text = {0};
  cst_status status = canonical_of((cst_bytes){schema, size}, &text, error);
  *out = status == CST_OK ? cst__avro_crc64((cst_bytes){(const uint8_t *)text.data, text.size}) : 0;
  cst__text_free(&text);
  return status;
}
