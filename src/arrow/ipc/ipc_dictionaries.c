/* Dictionary messages: values that replace the ones of before, or go after them. */
#include "arrow/ipc/ipc_dictionaries.h"

#include <errno.h>
#include <nanoarrow/nanoarrow.h>

#include "arrow/dictionary.h"

enum { DICTIONARY_BATCH_ID, DICTIONARY_BATCH_DATA, DICTIONARY_BATCH_IS_DELTA };

/* ---- what the schema says ---- */

static cst_status find_or_add(cst__ipc_dictionaries *d, const int64_t *id, size_t *out,
                              cst_error *error) {
  const char *key = (const char *)id;
  *out = cst__name_map_find(&d->by_id, key, sizeof *id);
  if (*out != SIZE_MAX) {
    return CST_OK;
  }
  void *items = d->items;
  if (!cst__grow(&d->allocator, &items, &d->capacity, d->count + 1, sizeof *d->items)) {
    return cst__fail_memory(error, (d->count + 1) * sizeof *d->items);
  }
  d->items = items;
  *out = d->count;
  d->items[d->count++] = (cst__ipc_dictionary){.id = *id};
  return cst__name_map_add(&d->by_id, key, sizeof *id, *out) ? CST_OK
                                                             : cst__fail_memory(error, sizeof *id);
}

static cst_status add_field(cst__ipc_dictionaries *d, const struct ArrowSchema *field,
                            size_t dictionary, cst_error *error) {
  void *fields = d->fields;
  if (!cst__grow(&d->allocator, &fields, &d->field_capacity, d->num_fields + 1,
                 sizeof *d->fields)) {
    return cst__fail_memory(error, (d->num_fields + 1) * sizeof *d->fields);
  }
  d->fields = fields;
  d->fields[d->num_fields++] = (cst__ipc_encoded_field){field, dictionary};
  return CST_OK;
}

/* In the order of cst__dictionary_ids. */
static cst_status add_fields(cst__ipc_dictionaries *d, const struct ArrowSchema *schema,
                             const cst__dictionary_ids *ids, cst_error *error) {
  if (schema->dictionary != NULL) {
    size_t dictionary;
    CST__TRY(find_or_add(d, &ids->items[d->num_fields], &dictionary, error));
    CST__TRY(add_field(d, schema, dictionary, error));
    CST__TRY(add_fields(d, schema->dictionary, ids, error));
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    CST__TRY(add_fields(d, schema->children[i], ids, error));
  }
  return CST_OK;
}

/* The dictionary of a field. They are asked for in their order, again and again. */
static size_t dictionary_of(cst__ipc_dictionaries *d, const struct ArrowSchema *field) {
  size_t at = d->last_field;
  while (d->fields[at].field != field) {
    at = at + 1 < d->num_fields ? at + 1 : 0;
  }
  d->last_field = at;
  return d->fields[at].dictionary;
}

/* A struct of one column of the given type. */
static cst_status wrap_type(const struct ArrowSchema *value, struct ArrowSchema *out,
                            cst_error *error) {
  struct ArrowSchema copy;
  CST__TRY(cst__schema_copy(value, &copy, error));
  ArrowSchemaInit(out);
  if (ArrowSchemaSetTypeStruct(out, 1) != NANOARROW_OK) {
    ArrowSchemaRelease(&copy);
    return cst__fail_memory(error, sizeof copy);
  }
  ArrowSchemaRelease(out->children[0]);
  ArrowSchemaMove(&copy, out->children[0]);
  return CST_OK;
}

/* Makes the schemas of a dictionary by the first field that has it. */
static cst_status define(cst__ipc_dictionaries *d, cst__ipc_dictionary *item,
                         const struct ArrowSchema *value, cst_error *error) {
  cst__arena_init(&item->arena, &d->allocator);
  CST__TRY(wrap_type(value, &item->encoded, error));
  CST__TRY(wrap_type(value, &item->plain, error));
  CST__TRY(cst__schema_make_plain(&item->plain, error));
  return cst__ipc_type_init(&item->type, &item->encoded, &d->allocator, error);
}

/* The fields within the values are met again in the dictionary's own copy of their type. */
static cst_status add_copies(cst__ipc_dictionaries *d, const struct ArrowSchema *original,
                             const struct ArrowSchema *copy, cst_error *error) {
  if (original->dictionary != NULL) {
    CST__TRY(add_field(d, copy, dictionary_of(d, original), error));
    CST__TRY(add_copies(d, original->dictionary, copy->dictionary, error));
  }
  for (int64_t i = 0; i < original->n_children; i++) {
    CST__TRY(add_copies(d, original->children[i], copy->children[i], error));
  }
  return CST_OK;
}

static cst_status define_all(cst__ipc_dictionaries *d, cst_error *error) {
  size_t num_fields = d->num_fields;
  for (size_t i = 0; i < num_fields; i++) {
    const struct ArrowSchema *value = d->fields[i].field->dictionary;
    cst__ipc_dictionary *item = &d->items[d->fields[i].dictionary];
    if (item->encoded.release == NULL) {
      CST__TRY(define(d, item, value, error));
      CST__TRY(add_copies(d, value, item->encoded.children[0], error));
    } else if (!cst__schema_equal(value, item->encoded.children[0])) {
      return cst__fail(error, CST_CORRUPT, NULL,
                       "two columns of different types have dictionary "
                       "%lld",
                       (long long)item->id);
    }
  }
  return CST_OK;
}

cst_status cst__ipc_dictionaries_init(cst__ipc_dictionaries *d, const struct ArrowSchema *encoded,
                                      const cst__dictionary_ids *ids,
                                      const cst_allocator *allocator, cst_error *error) {
  *d = (cst__ipc_dictionaries){.allocator = cst__allocator_of(allocator)};
  cst_status status = add_fields(d, encoded, ids, error);
  if (status == CST_OK) {
    status = define_all(d, error);
  }
  if (status != CST_OK) {
    cst__ipc_dictionaries_reset(d);
  }
  return status;
}

static void reset_dictionary(cst__ipc_dictionary *item) {
  cst__shared_release(item->values);
  if (item->encoded.release != NULL) {
    item->encoded.release(&item->encoded);
  }
  if (item->plain.release != NULL) {
    item->plain.release(&item->plain);
  }
  cst__ipc_type_reset(&item->type);
  cst__arena_reset(&item->arena);
}

void cst__ipc_dictionaries_reset(cst__ipc_dictionaries *d) {
  for (size_t i = 0; i < d->count; i++) {
    reset_dictionary(&d->items[i]);
  }
  cst__delete(d->items);
  cst__delete(d->fields);
  cst__name_map_reset(&d->by_id);
  d->items = NULL;
  d->fields = NULL;
  d->count = d->num_fields = 0;
}

/* ---- values ---- */

cst_status cst__ipc_dictionaries_find(void *dictionaries, const struct ArrowSchema *field,
                                      struct ArrowArray *out, cst_error *error) {
  cst__ipc_dictionaries *d = dictionaries;
  const cst__ipc_dictionary *item = &d->items[dictionary_of(d, field)];
  struct ArrowArray values;
  if (item->values != NULL) {
    CST__TRY(cst__shared_slice(item->values, 0, item->view.length, &values, error));
  } else {
    d->was_missing = true;
    CST__TRY(cst__concat(&item->plain, NULL, 0, &d->allocator, &values, error));
  }
  *out = *values.children[0];
  values.children[0]->release = NULL;
  values.release(&values);
  return CST_OK;
}

/* Puts a struct of plain values in the place of the ones of before. Takes *values in any case. */
static cst_status replace(cst__ipc_dictionaries *d, cst__ipc_dictionary *item,
                          struct ArrowArray *values, cst_error *error) {
  cst__view view;
  cst__arena arena;
  cst__shared *shared;
  cst__arena_init(&arena, &d->allocator);
  cst_status status = cst__view_init(&view, &item->plain, values, false, &arena, error);
  if (status == CST_OK) {
    status = cst__shared_new(values, &d->allocator, &shared, error);
  }
  if (status != CST_OK) {
    cst__array_release(values);
    cst__arena_reset(&arena);
    return status;
  }
  cst__shared_release(item->values);
  cst__arena_reset(&item->arena);
  item->values = shared;
  item->view = view;
  item->arena = arena;
  return CST_OK;
}

static cst_status append(cst__ipc_dictionaries *d, cst__ipc_dictionary *item,
                         struct ArrowArray *values, cst_error *error) {
  cst__arena arena;
  cst__view view;
  struct ArrowArray all = {0};
  cst__arena_init(&arena, &d->allocator);
  cst_status status = cst__view_init(&view, &item->plain, values, false, &arena, error);
  if (status == CST_OK) {
    cst__piece pieces[] = {{&item->view, 0, item->view.length}, {&view, 0, view.length}};
    status = cst__concat(&item->plain, pieces, 2, &d->allocator, &all, error);
  }
  cst__array_release(values);
  cst__arena_reset(&arena);
  return status == CST_OK ? replace(d, item, &all, error) : status;
}

static cst_status ipc_dictionary_read_values(const cst__ipc_dictionary *item,
                                             cst__flat_table message, cst__ipc_columns columns,
                                             struct ArrowArray *out, cst_error *error) {
  columns.encoded = &item->encoded;
  columns.type = &item->type;
  columns.wanted = NULL;
  columns.message = cst__flat_child(message, DICTIONARY_BATCH_DATA);
  CST__TRY(cst__ipc_columns_read(&columns, out, error));
  cst_status status =
      cst__array_make_plain_as(&item->encoded, &columns.allocator, true, out, error);
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

cst_status cst__ipc_dictionaries_read(cst__ipc_dictionaries *d, cst__flat_table message,
                                      cst__ipc_columns columns, cst_error *error) {
  int64_t id = cst__flat_i64(message, DICTIONARY_BATCH_ID, 0);
  bool is_delta = cst__flat_u8(message, DICTIONARY_BATCH_IS_DELTA, 0) != 0;
  size_t at = cst__name_map_find(&d->by_id, (const char *)&id, sizeof id);
  if (at == SIZE_MAX) {
    return cst__fail(error, CST_CORRUPT, NULL, "values of dictionary %lld, which no column has",
                     (long long)id);
  }
  cst__ipc_dictionary *item = &d->items[at];
  struct ArrowArray values;
  CST__TRY(ipc_dictionary_read_values(item, message, columns, &values, error));
  return is_delta && item->values != NULL ? append(d, item, &values, error)
                                          : replace(d, item, &values, error);
}
