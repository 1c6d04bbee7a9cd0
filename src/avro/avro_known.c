/* Tables of schemas. */
#include "avro/avro_known.h"

#include <stdlib.h>
#include <string.h>

#include "avro/avro_canonical.h"

static size_t find(const cst__name_map *map, const uint64_t *id) {
  return cst__name_map_find(map, (const char *)id, sizeof *id);
}

size_t cst__avro_known_number(const cst__avro_known *known, uint64_t number) {
  return find(&known->by_number, &number);
}

size_t cst__avro_known_fingerprint(const cst__avro_known *known, uint64_t fingerprint) {
  return find(&known->by_fingerprint, &fingerprint);
}

static cst_status fail_table(const char *what, cst_error *error) {
  return cst__fail(
      error, CST_SCHEMA,
      "a table of schemas is JSON: {\"7\": {\"type\": ...}, ...} by their numbers, or a "
      "list of schemas",
      "a table of Avro schemas: %s", what);
}

/* A place for one more, at the end. */
static cst_status add_place(cst__avro_known *known, cst__avro_known_schema **out,
                            cst_error *error) {
  void *items = known->items;
  bool ok = cst__grow(&known->allocator, &items, &known->capacity, known->count + 1,
                      sizeof *known->items);
  known->items = items;
  *out = ok ? cst__new_zero(&known->allocator, sizeof **out) : NULL;
  if (*out == NULL) {
    return cst__fail_memory(error, sizeof **out);
  }
  (*out)->schema.document.allocator = known->allocator;
  known->items[known->count++] = *out;
  return CST_OK;
}

/* Of several with one fingerprint, which read the same, the first one is found. */
static cst_status note_fingerprint(cst__avro_known *known, cst_error *error) {
  size_t index = known->count - 1;
  cst__avro_known_schema *item = known->items[index];
  CST__TRY(cst__avro_fingerprint(&item->schema, &item->fingerprint, error));
  bool is_new = find(&known->by_fingerprint, &item->fingerprint) == SIZE_MAX;
  return !is_new || cst__name_map_add(&known->by_fingerprint, (const char *)&item->fingerprint,
                                      sizeof item->fingerprint, index)
             ? CST_OK
             : cst__fail_memory(error, sizeof *item);
}

cst_status cst__avro_known_add(cst__avro_known *known, cst_bytes text, size_t *index,
                               cst_error *error) {
  cst__avro_known_schema *item;
  CST__TRY(add_place(known, &item, error));
  *index = known->count - 1;
  CST__TRY(cst__avro_schema_parse(&item->schema, text, &known->allocator, error));
  return note_fingerprint(known, error);
}

/* A string is JSON, or the name of a primitive type. */
static cst_status add_value(cst__avro_known *known, yyjson_val *value, cst_error *error) {
  const char *text = yyjson_get_str(value);
  size_t index;
  if (text != NULL && text[strcspn(text, "{[\"")] != '\0') {
    return cst__avro_known_add(known, (cst_bytes){(const uint8_t *)text, yyjson_get_len(value)},
                               &index, error);
  }
  cst__avro_known_schema *item;
  CST__TRY(add_place(known, &item, error));
  CST__TRY(cst__avro_schema_of_json(&item->schema, value, &known->allocator, error));
  return note_fingerprint(known, error);
}

static cst_status read_number(const char *key, uint64_t *out, cst_error *error) {
  enum { MOST_DIGITS = 20 };
  char *end = NULL;
  size_t digits = strspn(key, "0123456789");
  if (digits == 0 || digits > MOST_DIGITS || key[digits] != '\0') {
    return fail_table("a key that is not a number", error);
  }
  *out = strtoull(key, &end, 10);
  return CST_OK;
}

static cst_status add_numbered(cst__avro_known *known, yyjson_val *key, yyjson_val *value,
                               cst_error *error) {
  uint64_t number = 0;
  CST__TRY(read_number(yyjson_get_str(key), &number, error));
  if (cst__avro_known_number(known, number) != SIZE_MAX) {
    return fail_table("a duplicate number", error);
  }
  size_t index = known->count;
  CST__TRY(add_value(known, value, error));
  cst__avro_known_schema *item = known->items[index];
  item->number = number;
  return cst__name_map_add(&known->by_number, (const char *)&item->number, sizeof item->number,
                           index)
             ? CST_OK
             : cst__fail_memory(error, sizeof *item);
}

static cst_status add_object(cst__avro_known *known, yyjson_val *object, cst_error *error) {
  yyjson_obj_iter iter = yyjson_obj_iter_with(object);
  for (yyjson_val *key; (key = yyjson_obj_iter_next(&iter)) != NULL;) {
    cst_status status = add_numbered(known, key, yyjson_obj_iter_get_val(key), error);
    if (status != CST_OK) {
      cst__error_add_path(error, yyjson_get_str(key), yyjson_get_len(key));
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__avro_known_add_table(cst__avro_known *known, cst_bytes text, cst_error *error) {
  yyjson_val *root;
  cst__json_fault fault = {0};
  known->document.allocator = known->allocator;
  cst_status status =
      cst__json_document_parse(&known->document, text, CST__JSON_VALUES, &root, &fault, error);
  if (status == CST_CORRUPT) {
    return fail_table("no JSON", error);
  }
  CST__TRY(status);
  if (yyjson_is_obj(root) && yyjson_obj_get(root, "type") == NULL) {
    return add_object(known, root, error);
  }
  if (!yyjson_is_arr(root)) {
    return fail_table("expected an object or a list", error);
  }
  yyjson_val *item = yyjson_arr_get_first(root);
  for (size_t i = 0; i < yyjson_arr_size(root); i++, item = unsafe_yyjson_get_next(item)) {
    CST__TRY(add_value(known, item, error));
  }
  return CST_OK;
}

void cst__avro_known_reset(cst__avro_known *known) {
  for (size_t i = 0; i < known->count; i++) {
    cst__avro_schema_reset(&known->items[i]->schema);
    cst__delete(known->items[i]);
  }
  cst__delete(known->items);
  cst__name_map_reset(&known->by_number);
  cst__name_map_reset(&known->by_fingerprint);
  cst__json_document_reset(&known->document);
  known->items = NULL;
  known->count = 0;
}
