/* Message trees: building and asking. */
#include "proto/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

cst__message *cst__message_new(cst__arena *arena, const cst__message_def *def) {
  cst__message *message = cst__arena_take_zero(arena, sizeof *message);
  if (message != NULL) {
    message->def = def;
  }
  return message;
}

enum { FEW_FIELDS = 16 }; /* which are looked through one by one */

/* The index of the first field in `ordered` with this number or a larger one. */
static size_t ordered_index(const cst__message *message, int32_t number) {
  size_t low = 0;
  size_t high = message->num_set;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (message->ordered[middle]->def->number < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

cst__field *cst__message_find(const cst__message *message, int32_t number) {
  if (message->last == NULL || message->last->def->number < number) {
    return NULL; /* fields mostly come in order */
  }
  if (message->ordered != NULL) {
    cst__field *field = message->ordered[ordered_index(message, number)];
    return field->def->number == number ? field : NULL;
  }
  for (cst__field *field = message->first; field != NULL; field = field->next) {
    if (field->def->number == number) {
      return field;
    }
  }
  return NULL;
}

size_t cst__message_count(const cst__message *message, int32_t number) {
  const cst__field *field = cst__message_find(message, number);
  return field != NULL ? field->count : 0;
}

const cst__value *cst__field_value(const cst__field *field, size_t i) {
  return cst__field_is_repeated(field->def) ? &field->as.many[i] : &field->as.one;
}

bool cst__field_is_left_out(const cst__field *field) {
  if ((field->def->flags & CST__FIELD_IMPLICIT) == 0) {
    return false;
  }
  switch ((int)field->def->type) {
    case CST__FIELD_STRING:
    case CST__FIELD_BYTES:
      return field->as.one.bytes.size == 0;
    case CST__FIELD_FLOAT:
      return field->as.one.f == 0 && !signbit(field->as.one.f);
    default:
      return field->as.one.u == 0;
  }
}

int64_t cst__message_int(const cst__message *message, int32_t number, int64_t absent) {
  const cst__field *field = cst__message_find(message, number);
  return field != NULL ? field->as.one.i : absent;
}

double cst__message_double(const cst__message *message, int32_t number, double absent) {
  const cst__field *field = cst__message_find(message, number);
  if (field == NULL) {
    return absent;
  }
  return field->def->type == CST__FIELD_FLOAT ? (double)field->as.one.f : field->as.one.d;
}

cst_bytes cst__message_bytes(const cst__message *message, int32_t number) {
  const cst__field *field = cst__message_find(message, number);
  return field != NULL ? field->as.one.bytes : (cst_bytes){NULL, 0};
}

const cst__message *cst__message_child(const cst__message *message, int32_t number) {
  const cst__field *field = cst__message_find(message, number);
  return field != NULL ? field->as.one.message : NULL;
}

static void unlink_field(cst__message *message, cst__field *field) {
  if (message->ordered != NULL) {
    cst__field **at = message->ordered + ordered_index(message, field->def->number);
    memmove(at, at + 1, (size_t)(message->ordered + message->num_set - (at + 1)) * sizeof *at);
  }
  message->num_set--;
  if (field->previous != NULL) {
    field->previous->next = field->next;
  } else {
    message->first = field->next;
  }
  if (field->next != NULL) {
    field->next->previous = field->previous;
  } else {
    message->last = field->previous;
  }
}

/* The place in the list of choices of the member of this oneof that is set; NULL: none is. */
static cst__field **find_choice(cst__message *message, uint16_t oneof) {
  cst__field **at = &message->choices;
  while (*at != NULL && (*at)->def->oneof != oneof) {
    at = &(*at)->next_choice;
  }
  return *at != NULL ? at : NULL;
}

static void link_after(cst__message *message, cst__field *before, cst__field *field) {
  field->previous = before;
  field->next = before != NULL ? before->next : message->first;
  if (before != NULL) {
    before->next = field;
  } else {
    message->first = field;
  }
  if (field->next != NULL) {
    field->next->previous = field;
  } else {
    message->last = field;
  }
}

/* Makes room for one more field in the order; false if out of memory. */
static bool reserve_ordered(cst__arena *arena, cst__message *message) {
  if (message->num_set < message->ordered_capacity ||
      (message->ordered == NULL && message->num_set < FEW_FIELDS)) {
    return true;
  }
  uint32_t capacity = message->num_set * 2;
  cst__field **ordered = cst__arena_take(arena, capacity * sizeof(cst__field *));
  if (ordered == NULL) {
    return false;
  }
  size_t i = 0;
  for (cst__field *field = message->first; field != NULL; field = field->next) {
    ordered[i++] = field;
  }
  message->ordered = ordered;
  message->ordered_capacity = capacity;
  return true;
}

/* After the last field with a smaller number. */
static bool link_field(cst__arena *arena, cst__message *message, cst__field *field) {
  if (!reserve_ordered(arena, message)) {
    return false;
  }
  cst__field *before = message->last;
  if (message->ordered != NULL) {
    size_t at = ordered_index(message, field->def->number);
    cst__field **place = message->ordered + at;
    memmove(place + 1, place, (message->num_set - at) * sizeof *place);
    *place = field;
    before = at > 0 ? place[-1] : NULL;
  }
  while (before != NULL && before->def->number > field->def->number) {
    before = before->previous;
  }
  link_after(message, before, field);
  message->num_set++;
  if (field->def->oneof != 0) {
    field->next_choice = message->choices;
    message->choices = field;
  }
  return true;
}

static void remove_oneof_siblings(cst__message *message, const cst__field_def *def) {
  cst__field **choice = find_choice(message, def->oneof);
  if (choice != NULL && (*choice)->def != def) {
    unlink_field(message, *choice);
    *choice = (*choice)->next_choice;
  }
}

/* The field of the message, made if need be; NULL if out of memory. */
static cst__field *need_field(cst__arena *arena, cst__message *message, const cst__field_def *def) {
  cst__field *field = message->last;
  if (field == NULL || field->def != def) {
    field = cst__message_find(message, def->number);
  }
  if (field == NULL) {
    field = cst__arena_take_zero(arena, sizeof *field);
    if (field == NULL) {
      return NULL;
    }
    field->def = def;
    if (!link_field(arena, message, field)) {
      return NULL;
    }
  }
  return field;
}

static bool append_element(cst__arena *arena, cst__field *field, cst__value value) {
  if (field->count == field->capacity) {
    size_t capacity = field->capacity == 0 ? 1 : field->capacity * 2;
    size_t size;
    if (!cst__mul(capacity, sizeof(cst__value), &size)) {
      return false;
    }
    cst__value *fresh = cst__arena_take(arena, size);
    if (fresh == NULL) {
      return false;
    }
    if (field->count > 0) {
      memcpy(fresh, field->as.many, field->count * sizeof(cst__value));
    }
    field->as.many = fresh;
    field->capacity = capacity;
  }
  field->as.many[field->count++] = value;
  return true;
}

bool cst__message_put(cst__arena *arena, cst__message *message, const cst__field_def *def,
                      cst__value value) {
  if (def->oneof != 0) {
    remove_oneof_siblings(message, def);
  }
  cst__field *field = need_field(arena, message, def);
  if (field == NULL) {
    return false;
  }
  if (cst__field_is_repeated(def)) {
    return append_element(arena, field, value);
  }
  field->count = 1;
  field->as.one = value;
  return true;
}

bool cst__message_put_int(cst__arena *arena, cst__message *message, int32_t number, int64_t value) {
  return cst__message_put(arena, message, cst__field_by_number(message->def, number),
                          (cst__value){.i = value});
}

bool cst__message_put_double(cst__arena *arena, cst__message *message, int32_t number,
                             double value) {
  const cst__field_def *def = cst__field_by_number(message->def, number);
  cst__value one = {.d = value};
  if (def->type == CST__FIELD_FLOAT) {
    one = (cst__value){.f = (float)value};
  }
  return cst__message_put(arena, message, def, one);
}

bool cst__message_put_bytes(cst__arena *arena, cst__message *message, int32_t number,
                            const void *bytes, size_t size) {
  char *copy = cst__arena_copy(arena, bytes, size);
  if (copy == NULL) {
    return false;
  }
  return cst__message_put(arena, message, cst__field_by_number(message->def, number),
                          (cst__value){.bytes = {(const uint8_t *)copy, size}});
}

cst__message *cst__message_put_child(cst__arena *arena, cst__message *message, int32_t number) {
  const cst__field_def *def = cst__field_by_number(message->def, number);
  cst__message *child = cst__message_new(arena, def->message);
  if (child == NULL || !cst__message_put(arena, message, def, (cst__value){.message = child})) {
    return NULL;
  }
  return child;
}

bool cst__message_put_unknown(cst__arena *arena, cst__message *message, cst_bytes bytes) {
  cst__unknown *last = message->unknown_last;
  if (last != NULL && last->bytes.data + last->bytes.size == bytes.data) {
    last->bytes.size += bytes.size; /* they stood side by side */
    return true;
  }
  cst__unknown *unknown = cst__arena_take(arena, sizeof *unknown);
  if (unknown == NULL) {
    return false;
  }
  *unknown = (cst__unknown){bytes, last, NULL};
  if (last != NULL) {
    last->next = unknown;
  } else {
    message->unknown_first = unknown;
  }
  message->unknown_last = unknown;
  return true;
}

void cst__message_drop_unknown(cst__message *message) {
  if (!message->def->is_message_set) {
    message->unknown_first = message->unknown_last = NULL;
  }
  for (cst__field *field = message->first; field != NULL; field = field->next) {
    for (size_t i = 0; cst__field_is_message(field->def) && i < field->count; i++) {
      cst__message_drop_unknown(cst__field_value(field, i)->message);
    }
  }
}

const cst__message *cst__message_find_expanded_any(const cst__message *message) {
  if (message->expanded_any.size > 0) {
    return message;
  }
  for (const cst__field *field = message->first; field != NULL; field = field->next) {
    for (size_t i = 0; cst__field_is_message(field->def) && i < field->count; i++) {
      const cst__message *found =
          cst__message_find_expanded_any(cst__field_value(field, i)->message);
      if (found != NULL) {
        return found;
      }
    }
  }
  return NULL;
}

void cst__error_add_field(cst_error *error, const cst__field_def *field) {
  char step[256];
  bool is_extension = (field->flags & CST__FIELD_EXTENSION) != 0;
  if (cst__error_wanted(error)) {
    (void)snprintf(step, sizeof step, is_extension ? "(%s)" : "%s", field->name);
    cst__error_add_path(error, step, strlen(step));
  }
}

/* ---- maps ---- */

typedef struct map_item {
  const cst__message *entry;
  size_t index;
  bool is_text, is_unsigned; /* the key's type */
} map_item;

static int compare_keys(const map_item *a, const map_item *b) {
  const cst__field *fa = cst__message_find(a->entry, 1);
  const cst__field *fb = cst__message_find(b->entry, 1);
  if (a->is_unsigned) {
    return (fa->as.one.u > fb->as.one.u) - (fa->as.one.u < fb->as.one.u);
  }
  if (!a->is_text) {
    return (fa->as.one.i > fb->as.one.i) - (fa->as.one.i < fb->as.one.i);
  }
  return cst__bytes_compare(fa->as.one.bytes, fb->as.one.bytes);
}

static int compare_items(const void *a, const void *b) {
  const map_item *ia = a;
  const map_item *ib = b;
  int order = compare_keys(ia, ib);
  return order != 0 ? order : (ia->index > ib->index) - (ia->index < ib->index);
}

/* An entry always has both of its fields. */
static bool complete_entry(cst__arena *arena, cst__message *entry) {
  for (size_t i = 0; i < entry->def->num_fields; i++) {
    const cst__field_def *def = &entry->def->fields[i];
    if (cst__message_find(entry, def->number) != NULL) {
      continue;
    }
    cst__value value = {.bytes = {NULL, 0}};
    if (cst__field_is_message(def)) {
      value.message = cst__message_new(arena, def->message);
      if (value.message == NULL) {
        return false;
      }
    }
    if (!cst__message_put(arena, entry, def, value)) {
      return false;
    }
  }
  return true;
}

/* What becomes of the entries of a map of which each key is to stay once. */
typedef enum map_order { BY_KEY, BY_PLACE } map_order;

static bool tidy_map(cst__arena *arena, cst__field *field, map_order order) {
  size_t size;
  if (!cst__mul(field->count, sizeof(map_item), &size)) {
    return false;
  }
  map_item *items = cst__new(&arena->allocator, size);
  if (items == NULL) {
    return false;
  }
  for (size_t i = 0; i < field->count; i++) {
    cst__message *entry = field->as.many[i].message;
    if (!complete_entry(arena, entry)) {
      cst__delete(items);
      return false;
    }
    const cst__field_def *key = cst__field_by_number(entry->def, 1);
    items[i] = (map_item){entry, i, key->type == CST__FIELD_STRING,
                          key->type == CST__FIELD_UINT64 || key->type == CST__FIELD_FIXED64};
  }
  qsort(items, field->count, sizeof *items, compare_items);
  size_t kept = 0;
  size_t first = 0; /* of the items of one key */
  for (size_t i = 0; i < field->count; i++) {
    cst__message *entry = (cst__message *)(uintptr_t)items[i].entry;
    field->as.many[order == BY_KEY ? kept : items[i].index].message = NULL;
    if (i + 1 < field->count && compare_keys(&items[i], &items[i + 1]) == 0) {
      continue;
    }
    field->as.many[order == BY_KEY ? kept : items[first].index].message = entry;
    kept++;
    first = i + 1;
  }
  for (size_t i = 0, to = 0; order == BY_PLACE && i < field->count; i++) {
    if (field->as.many[i].message != NULL) {
      field->as.many[to++] = field->as.many[i];
    }
  }
  field->count = kept;
  cst__delete(items);
  return true;
}

static bool tidy_maps(cst__arena *arena, cst__message *message, map_order order) {
  for (cst__field *field = message->first; field != NULL; field = field->next) {
    if (!cst__field_is_message(field->def)) {
      continue;
    }
    if (field->def->message->is_map_entry && !tidy_map(arena, field, order)) {
      return false;
    }
    for (size_t i = 0; i < field->count; i++) {
      if (!tidy_maps(arena, cst__field_value(field, i)->message, order)) {
        return false;
      }
    }
  }
  return true;
}

bool cst__message_sort_maps(cst__arena *arena, cst__message *message) {
  return tidy_maps(arena, message, BY_KEY);
}

bool cst__message_unique_maps(cst__arena *arena, cst__message *message) {
  return tidy_maps(arena, message, BY_PLACE);
}
