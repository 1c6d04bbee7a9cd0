/* Fields of whatever columns, slot by slot: messages with their oneofs and unknown fields, single
 * values, lists, and maps in the order of their keys.
 */
#include <stdlib.h>

#include "base/cpu_features.h"
#include "message/encode/encoder_tree.h"
#include "proto/wire.h"

static bool is_set(const cst__out_field *f, int64_t row) {
  int64_t slot = row;
  return cst__bound_slots_find(&f->values, &slot);
}

uint8_t *cst__out_grow(cst__out *out, uint8_t *at, size_t want) {
  size_t size = cst__out_size(out, at) - out->before;
  if (size > INT32_MAX || want > INT32_MAX) {
    return cst__out_fail(out,
                         cst__fail(out->error, CST_LIMIT, "split the record",
                                   "a record of more than 2147483647 bytes, protobuf's limit"));
  }
  out->back->at = at;
  if (!cst__back_room(out->back, want + CST__OUT_LEAD)) {
    return cst__out_fail(out, cst__fail_memory(out->error, want));
  }
  out->begin = out->back->buffer->data;
  return out->back->at;
}

cst__put_field cst__out_plain_writer(const cst__out_field *field) {
#if defined(CST__HAVE_V3)
  if (cst__cpu_has(CST__CPU_V3)) {
    return cst__out_plain_writer_v3(field);
  }
#endif
  return cst__out_plain_writer_base(field);
}

/* ---- messages ---- */

uint8_t *cst__out_put_fields(const cst__out_message *message, int64_t row, uint8_t *at,
                             cst__out *out) {
  const cst__out_field *end = message->fields + message->num_fields;
  for (const cst__out_field *field = message->fields; field < end; field++) {
    at = field->put(field, row, at, out);
    if (at == NULL) {
      cst__error_add_path(out->error, field->name, strlen(field->name));
      return NULL;
    }
  }
  return at;
}

static cst_status encoder_check_oneofs(const cst__out_message *message, int64_t row,
                                       cst_error *error) {
  const cst__out_field *set = NULL;
  for (size_t i = 0; i < message->num_members; i++) {
    const cst__out_field *member = message->members[i];
    if (!is_set(member, row)) {
      continue;
    }
    if (set != NULL && set->def->oneof == member->def->oneof) {
      return cst__fail(error, CST_UNSUPPORTED, "make all but one of them null",
                       "both '%s' and '%s' have a value, but only one field of the oneof '%s' may",
                       set->name, member->name, message->def->oneofs[member->def->oneof - 1]);
    }
    set = member;
  }
  return CST_OK;
}

/* Serialized fields, which stand in the message as they are. */
static uint8_t *put_fields_as_they_are(cst_bytes bytes, uint8_t *at, cst__out *out) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
  }
  if (wire.fault != CST__WIRE_FAULT_NONE) {
    return cst__out_fail(
        out, cst__fail(out->error, CST_UNSUPPORTED,
                       "the bytes of a message or of unknown fields are wanted",
                       "the bytes are not fields of a message: %s, at byte %zu",
                       cst__wire_fault_text(wire.fault), (size_t)(wire.fault_at - bytes.data)));
  }
  at = cst__out_room(out, at, bytes.size);
  if (at != NULL && bytes.size > 0) {
    at -= bytes.size;
    memcpy(at, bytes.data, bytes.size);
  }
  return at;
}

static uint8_t *encode_unknown(const cst__out_message *message, int64_t row, uint8_t *at,
                               cst__out *out) {
  if (!cst__bound_slots_find(&message->unknown, &row)) {
    return at;
  }
  at = put_fields_as_they_are(cst__view_bytes(message->unknown.view, row), at, out);
  if (at == NULL) {
    cst__error_add_path(out->error, message->unknown_name, strlen(message->unknown_name));
  }
  return at;
}

uint8_t *cst__out_put_message(const cst__out_message *message, int64_t row, uint8_t *at,
                              cst__out *out) {
  if (message->num_members > 0) {
    cst_status status = encoder_check_oneofs(message, row, out->error);
    if (status != CST_OK) {
      return cst__out_fail(out, status);
    }
  }
  if (message->unknown_column >= 0) {
    at = encode_unknown(message, row, at, out);
    if (at == NULL) {
      return NULL;
    }
  }
  return message->num_casts > 0 ? cst__out_put_any(message, row, at, out)
                                : cst__out_put_fields(message, row, at, out);
}

uint8_t *cst__out_put_end(const cst__out_field *f, uint8_t *at, cst__out *out) {
  if (f->def->type != CST__FIELD_GROUP) {
    return at;
  }
  at = cst__out_room(out, at, 0);
  return at != NULL ? cst__put_varint_back(at, (uint64_t)f->def->number << 3 | CST__WIRE_GROUP_END)
                    : NULL;
}

uint8_t *cst__out_put_head(const cst__out_field *f, size_t before, uint8_t *at, cst__out *out) {
  at = at != NULL ? cst__out_room(out, at, 0) : NULL;
  if (at == NULL || f->def->type == CST__FIELD_GROUP) {
    return at;
  }
  return cst__out_put_length(at, cst__out_size(out, at) - before);
}

uint8_t *cst__out_put_struct(const cst__out_field *f, int64_t slot, uint8_t *at, cst__out *out) {
  at = cst__out_put_end(f, at, out);
  if (at == NULL) {
    return NULL;
  }
  size_t before = cst__out_size(out, at);
  return cst__out_put_head(f, before, cst__out_put_message(f->message, slot, at, out), out);
}

uint8_t *cst__out_put_serialized(const cst__out_field *f, int64_t slot, uint8_t *at,
                                 cst__out *out) {
  at = cst__out_put_end(f, at, out);
  if (at == NULL) {
    return NULL;
  }
  size_t before = cst__out_size(out, at);
  at = put_fields_as_they_are(cst__view_bytes(f->values.view, slot), at, out);
  return cst__out_put_head(f, before, at, out);
}

/* ---- single values ---- */

uint8_t *cst__out_put_missing(const cst__out_field *f, int64_t row, uint8_t *at, cst__out *out) {
  (void)row;
  (void)at;
  const char *what = (f->def->flags & CST__FIELD_REQUIRED) == 0
                         ? "the value of a map's entry is null"
                     : f->column < 0 ? "the field is required but has no column"
                                     : "the field is required but its value is null";
  return cst__out_fail(out, cst__fail(out->error, CST_UNSUPPORTED,
                                      "give it a value, or leave the row out", "%s", what));
}

static bool is_zero_value(const uint8_t *at, size_t size) {
  static const uint8_t zeros[8];
  return size <= 8 && memcmp(at, zeros, size) == 0;
}

uint8_t *cst__out_put_singular(const cst__out_field *f, int64_t row, uint8_t *at, cst__out *out) {
  if (!cst__bound_slots_find(&f->values, &row)) {
    return f->is_required ? cst__out_put_missing(f, row, at, out) : at;
  }
  size_t before = cst__out_size(out, at);
  at = f->put_value(f, row, at, out);
  if (at == NULL) {
    return NULL;
  }
  size_t size = cst__out_size(out, at) - before;
  return f->is_implicit && is_zero_value(at, size) ? at + size : cst__out_put_tag(f, at);
}

/* ---- lists ---- */

/* The item, or NULL and an error that names its place in the list. */
static bool find_item(const cst__out_field *f, int64_t begin, int64_t i, int64_t *slot,
                      cst__out *out) {
  *slot = i;
  if (cst__bound_slots_find(&f->values, slot)) {
    return true;
  }
  (void)cst__out_fail(out,
                      cst__fail(out->error, CST_UNSUPPORTED, "remove the nulls from the lists",
                                "item %lld of the list is null, but messages have no null items",
                                (long long)(i - begin)));
  return false;
}

/* The items of a row's list: none of a null one. */
static bool find_list(const cst__out_field *f, int64_t row, int64_t *begin, int64_t *end) {
  *begin = *end = 0;
  if (cst__bound_slots_find(&f->lists, &row)) {
    cst__view_list(f->lists.view, row, begin, end);
  }
  return *begin < *end;
}

uint8_t *cst__out_put_repeated(const cst__out_field *f, int64_t row, uint8_t *at, cst__out *out) {
  int64_t begin;
  int64_t end;
  int64_t slot;
  (void)find_list(f, row, &begin, &end);
  for (int64_t i = end; i > begin; i--) {
    if (!find_item(f, begin, i - 1, &slot, out)) {
      return NULL;
    }
    at = f->put_value(f, slot, at, out);
    if (at == NULL) {
      return NULL;
    }
    at = cst__out_put_tag(f, at);
  }
  return at;
}

uint8_t *cst__out_put_packed(const cst__out_field *f, int64_t row, uint8_t *at, cst__out *out) {
  int64_t begin;
  int64_t end;
  int64_t slot;
  if (!find_list(f, row, &begin, &end)) {
    return at;
  }
  size_t before = cst__out_size(out, at);
  for (int64_t i = end; i > begin; i--) {
    if (!find_item(f, begin, i - 1, &slot, out)) {
      return NULL;
    }
    at = f->put_value(f, slot, at, out);
    if (at == NULL) {
      return NULL;
    }
  }
  return cst__out_put_tag(f, cst__out_put_length(at, cst__out_size(out, at) - before));
}

/* ---- maps ---- */

/* The key of an entry: numbers as their 64 bits. */
typedef struct cst__map_key {
  cst_bytes bytes;
  uint64_t number;
  int64_t entry; /* slot of the struct */
} cst__map_key;

/* The order of upb: bytes upwards, of two of which one begins with the other the longer one first;
 * numbers, read as unsigned ones, downwards. */
static int by_map_key(const void *a, const void *b) {
  const cst__map_key *x = a;
  const cst__map_key *y = b;
  if (x->number != y->number) {
    return x->number > y->number ? -1 : 1;
  }
  size_t shorter = x->bytes.size < y->bytes.size ? x->bytes.size : y->bytes.size;
  int order = shorter > 0 ? memcmp(x->bytes.data, y->bytes.data, shorter) : 0;
  return order != 0 ? order : (x->bytes.size < y->bytes.size) - (x->bytes.size > y->bytes.size);
}

/* The key of an entry that is not null; its column is one that the field takes. */
static bool read_map_key(const cst__out_field *key, int64_t entry, cst__map_key *out) {
  int64_t slot = entry;
  *out = (cst__map_key){{NULL, 0}, 0, entry};
  if (!cst__bound_slots_find(&key->values, &slot)) {
    return false;
  }
  const cst__view *view = key->values.view;
  if (view->layout == CST__LAYOUT_NUMBER) {
    out->number = (uint64_t)cst__view_int(view, slot);
  } else if (view->layout == CST__LAYOUT_BOOL) {
    int64_t bit = view->offset + slot;
    out->number = (((const uint8_t *)view->data)[bit >> 3] >> (bit & 7)) & 1;
  } else {
    out->bytes = cst__view_bytes(view, slot);
  }
  return true;
}

static uint8_t *fail_map_key(const cst__out_field *key, const char *what, cst__out *out) {
  (void)cst__out_fail(out, cst__fail(out->error, CST_UNSUPPORTED, NULL, "%s", what));
  cst__error_add_path(out->error, key->name, strlen(key->name));
  return NULL;
}

/* Reads the keys of the entries [begin, end) to the end of out->keys, and sorts them. */
static bool sort_map_entries(const cst__out_field *f, int64_t begin, int64_t end, cst__out *out) {
  const cst__out_field *key = &f->message->fields[f->message->num_fields - 1];
  size_t count = (size_t)(end - begin);
  void *keys = out->keys;
  if (!cst__grow(out->allocator, &keys, &out->keys_capacity, out->num_keys + count,
                 sizeof(cst__map_key))) {
    (void)cst__out_fail(out, cst__fail_memory(out->error, count * sizeof(cst__map_key)));
    return false;
  }
  out->keys = keys;
  cst__map_key *sorted = out->keys + out->num_keys;
  for (size_t i = 0; i < count; i++) {
    int64_t entry;
    if (!find_item(f, begin, begin + (int64_t)i, &entry, out)) {
      return false;
    }
    if (!read_map_key(key, entry, &sorted[i])) {
      return fail_map_key(key, "the key of a map's entry is null", out) != NULL;
    }
  }
  if (count > 1) {
    qsort(sorted, count, sizeof *sorted, by_map_key);
  }
  for (size_t i = 1; i < count; i++) {
    if (by_map_key(&sorted[i - 1], &sorted[i]) == 0) {
      return fail_map_key(key, "two entries of the map have the same key", out) != NULL;
    }
  }
  out->num_keys += count;
  return true;
}

uint8_t *cst__out_put_map(const cst__out_field *f, int64_t row, uint8_t *at, cst__out *out) {
  int64_t begin;
  int64_t end;
  if (!find_list(f, row, &begin, &end)) {
    return at;
  }
  size_t first = out->num_keys;
  if (!sort_map_entries(f, begin, end, out)) {
    return NULL;
  }
  for (size_t i = out->num_keys; i > first && at != NULL; i--) {
    at = cst__out_put_struct(f, out->keys[i - 1].entry, at, out);
    at = at != NULL ? cst__out_put_tag(f, at) : NULL;
  }
  out->num_keys = first;
  return at;
}
