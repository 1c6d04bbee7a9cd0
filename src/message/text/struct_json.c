/* Struct, Value and ListValue from the wire to JSON text.
 *
 * Bytes as writers give them (an entry is a key and a value, a Value is one field) are walked once
 * and printed. All else (merged or overwritten values, unknown fields, a key that comes twice,
 * malformed bytes) is read into a tree by protobuf's rules, brought into that normal form, and
 * walked again.
 */
#include "message/text/struct_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "proto/fast_wire.h"
#include "proto/message.h"
#include "text/json_string.h"
#include "text/number.h"

/* ---- the three messages ---- */

static const cst__message_def struct_def;
static const cst__message_def value_def;
static const cst__message_def list_def;

static const cst__enum_value null_values[] = {{"NULL_VALUE", 0}};
static const cst__enum_def null_def = {"google.protobuf.NullValue", null_values, 1, true};

static const cst__field_def entry_fields[] = {
    {.name = "key", .number = 1, .type = CST__FIELD_STRING, .flags = CST__FIELD_UTF8},
    {.name = "value", .number = 2, .type = CST__FIELD_MESSAGE, .message = &value_def},
};
static const cst__message_def entry_def = {
    .full_name = "google.protobuf.Struct.FieldsEntry",
    .fields = entry_fields,
    .num_fields = 2,
    .is_map_entry = true,
};
static const cst__field_def struct_fields[] = {
    {.name = "fields",
     .number = 1,
     .type = CST__FIELD_MESSAGE,
     .flags = CST__FIELD_REPEATED,
     .message = &entry_def},
};
static const cst__message_def struct_def = {
    .full_name = "google.protobuf.Struct", .fields = struct_fields, .num_fields = 1};

static const cst__field_def value_fields[] = {
    {.name = "null_value", .number = 1, .type = CST__FIELD_ENUM, .oneof = 1, .values = &null_def},
    {.name = "number_value", .number = 2, .type = CST__FIELD_DOUBLE, .oneof = 1},
    {.name = "string_value",
     .number = 3,
     .type = CST__FIELD_STRING,
     .flags = CST__FIELD_UTF8,
     .oneof = 1},
    {.name = "bool_value", .number = 4, .type = CST__FIELD_BOOL, .oneof = 1},
    {.name = "struct_value",
     .number = 5,
     .type = CST__FIELD_MESSAGE,
     .oneof = 1,
     .message = &struct_def},
    {.name = "list_value",
     .number = 6,
     .type = CST__FIELD_MESSAGE,
     .oneof = 1,
     .message = &list_def},
};
static const char *const value_oneofs[] = {"kind"};
static const cst__message_def value_def = {
    .full_name = "google.protobuf.Value",
    .fields = value_fields,
    .num_fields = 6,
    .oneofs = value_oneofs,
    .num_oneofs = 1,
};

static const cst__field_def list_fields[] = {
    {.name = "values",
     .number = 1,
     .type = CST__FIELD_MESSAGE,
     .flags = CST__FIELD_REPEATED,
     .message = &value_def},
};
static const cst__message_def list_def = {
    .full_name = "google.protobuf.ListValue", .fields = list_fields, .num_fields = 1};

static const cst__message_def *const kinds[] = {
    [CST__STRUCT_OBJECT] = &struct_def,
    [CST__STRUCT_VALUE] = &value_def,
    [CST__STRUCT_LIST] = &list_def,
};

bool cst__struct_kind_of(const cst__message_def *def, cst__struct_kind *kind) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(def->full_name, kinds[i]->full_name) == 0) {
      *kind = (cst__struct_kind)i;
      return true;
    }
  }
  return false;
}

void cst__struct_json_init(cst__struct_json *state, const cst_allocator *allocator) {
  *state = (cst__struct_json){.allocator = cst__allocator_of(allocator)};
  state->text.allocator = state->allocator;
  cst__arena_init(&state->arena, allocator);
  state->json.document.allocator = state->allocator;
}

void cst__struct_json_reset(cst__struct_json *state) {
  cst__text_free(&state->text);
  cst__delete(state->entries);
  cst__arena_reset(&state->arena);
  cst__wire_out_free(&state->out);
  cst__json_doc_reset(&state->json);
  cst_allocator allocator = state->allocator;
  cst__struct_json_init(state, &allocator);
}

/* ---- the text ---- */

typedef enum verdict { WRITTEN, NOT_NORMAL, NOT_FINITE, OUT_OF_MEMORY } verdict;

static verdict put_struct_text(cst__struct_json *state, const void *bytes, size_t size) {
  cst__text_append(&state->text, bytes, size);
  return state->text.failed ? OUT_OF_MEMORY : WRITTEN;
}

static verdict put_struct_string(cst__struct_json *state, cst_bytes bytes) {
  if (!cst__utf8_valid(bytes.data, bytes.size)) {
    return NOT_NORMAL; /* the tree says where */
  }
  cst__put_json_string(&state->text, bytes.data, bytes.size, CST__JSON_FEW);
  return state->text.failed ? OUT_OF_MEMORY : WRITTEN;
}

static verdict put_struct_number(cst__struct_json *state, double value) {
  if (!isfinite(value)) {
    return NOT_FINITE;
  }
  char *to = cst__text_reserve(&state->text, CST__NUMBER_SIZE);
  if (to == NULL) {
    return OUT_OF_MEMORY;
  }
  state->text.size += cst__print_float64(to, value, CST__FLOAT_JAVASCRIPT);
  return WRITTEN;
}

/* ---- the walk over bytes in normal form ---- */

/* An entry of an object: its key, and the bytes of its Value. */
typedef struct cst__struct_entry {
  cst_bytes key;
  cst_bytes value;
} struct_entry;

static verdict put_struct_value(cst__struct_json *state, cst_bytes wire, int depth);

/* A tag of one byte, a length and as many bytes. */
static inline bool take_part(const uint8_t **at, const uint8_t *end, uint8_t tag, cst_bytes *part) {
  size_t size;
  if (*at == end || **at != tag) {
    return false;
  }
  const uint8_t *from = *at + 1;
  if (!read_size_within(&from, end, &size) || size > (size_t)(end - from)) {
    return false;
  }
  *part = (cst_bytes){from, size};
  *at = from + size;
  return true;
}

enum { TAG_FIRST = 1 << 3 | CST__WIRE_LEN, TAG_SECOND = 2 << 3 | CST__WIRE_LEN };

static int compare_entries(const void *a, const void *b) {
  return cst__bytes_compare(((const struct_entry *)a)->key, ((const struct_entry *)b)->key);
}

static void sort_entries(struct_entry *entries, size_t count) {
  enum { FEW = 16 };
  if (count > FEW) {
    qsort(entries, count, sizeof *entries, compare_entries);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    struct_entry entry = entries[i];
    size_t j = i;
    for (; j > 0 && compare_entries(&entries[j - 1], &entry) > 0; j--) {
      entries[j] = entries[j - 1];
    }
    entries[j] = entry;
  }
}

/* Puts the entries of an object on the stack. */
static verdict take_entries(cst__struct_json *state, cst_bytes wire) {
  const uint8_t *at = wire.data;
  const uint8_t *end = at + wire.size;
  while (at < end) {
    cst_bytes bytes;
    struct_entry entry;
    if (!take_part(&at, end, TAG_FIRST, &bytes)) {
      return NOT_NORMAL;
    }
    const uint8_t *inside = bytes.data;
    if (!take_part(&inside, at, TAG_FIRST, &entry.key) ||
        !take_part(&inside, at, TAG_SECOND, &entry.value) || inside != at) {
      return NOT_NORMAL;
    }
    if (!cst__grow(&state->allocator, (void **)&state->entries, &state->entries_capacity,
                   state->num_entries + 1, sizeof entry)) {
      return OUT_OF_MEMORY;
    }
    state->entries[state->num_entries++] = entry;
  }
  return WRITTEN;
}

/* Sorted by key; false if a key is there twice. */
static bool order_entries(struct_entry *entries, size_t count) {
  size_t i = 1;
  while (i < count && compare_entries(&entries[i - 1], &entries[i]) < 0) {
    i++;
  }
  if (i >= count) {
    return true;
  }
  sort_entries(entries, count);
  for (i = 1; i < count && compare_entries(&entries[i - 1], &entries[i]) < 0; i++) {
  }
  return i >= count;
}

static verdict put_struct_entries(cst__struct_json *state, size_t first, int depth) {
  verdict done = WRITTEN;
  for (size_t i = first; done == WRITTEN && i < state->num_entries; i++) {
    struct_entry entry = state->entries[i]; /* the stack may move */
    size_t above = state->num_entries;
    done = i > first ? put_struct_text(state, ",", 1) : WRITTEN;
    done = done == WRITTEN ? put_struct_string(state, entry.key) : done;
    done = done == WRITTEN ? put_struct_text(state, ":", 1) : done;
    done = done == WRITTEN ? put_struct_value(state, entry.value, depth) : done;
    state->num_entries = above;
  }
  return done;
}

static verdict put_struct_object(cst__struct_json *state, cst_bytes wire, int depth) {
  size_t first = state->num_entries;
  if (wire.size > 0 && depth < 2) {
    return NOT_NORMAL; /* too deep; the tree says where */
  }
  verdict done = put_struct_text(state, "{", 1);
  done = done == WRITTEN ? take_entries(state, wire) : done;
  if (done == WRITTEN && !order_entries(state->entries + first, state->num_entries - first)) {
    done = NOT_NORMAL;
  }
  done = done == WRITTEN ? put_struct_entries(state, first, depth - 2) : done;
  state->num_entries = first;
  return done == WRITTEN ? put_struct_text(state, "}", 1) : done;
}

static verdict put_struct_list(cst__struct_json *state, cst_bytes wire, int depth) {
  const uint8_t *at = wire.data;
  const uint8_t *end = at + wire.size;
  verdict done = put_struct_text(state, "[", 1);
  while (done == WRITTEN && at < end) {
    bool is_first = at == wire.data;
    cst_bytes value;
    if (depth < 1 || !take_part(&at, end, TAG_FIRST, &value)) {
      return NOT_NORMAL;
    }
    done = is_first ? WRITTEN : put_struct_text(state, ",", 1);
    done = done == WRITTEN ? put_struct_value(state, value, depth - 1) : done;
  }
  return done == WRITTEN ? put_struct_text(state, "]", 1) : done;
}

static verdict put_struct_value(cst__struct_json *state, cst_bytes wire, int depth) {
  const uint8_t *at = wire.data;
  const uint8_t *end = at + wire.size;
  int64_t number;
  double real;
  cst_bytes part;
  if (wire.size == 0) {
    return put_struct_text(state, "null", 4);
  }
  uint8_t tag = *at;
  switch (tag) {
    case 1 << 3 | CST__WIRE_VARINT:
      at = long_varint(at + 1, end, &number);
      return at == end ? put_struct_text(state, "null", 4) : NOT_NORMAL;
    case 2 << 3 | CST__WIRE_FIXED64:
      if (wire.size != 9) {
        return NOT_NORMAL;
      }
      memcpy(&real, at + 1, sizeof real);
      return put_struct_number(state, real);
    case 4 << 3 | CST__WIRE_VARINT:
      at = long_varint(at + 1, end, &number);
      if (at != end) {
        return NOT_NORMAL;
      }
      return number != 0 ? put_struct_text(state, "true", 4) : put_struct_text(state, "false", 5);
    default:
      break;
  }
  if (!take_part(&at, end, tag, &part) || at != end) {
    return NOT_NORMAL;
  }
  if (tag == (3 << 3 | CST__WIRE_LEN)) {
    return put_struct_string(state, part);
  }
  if (depth > 0 && tag == (5 << 3 | CST__WIRE_LEN)) {
    return put_struct_object(state, part, depth - 1);
  }
  return depth > 0 && tag == (6 << 3 | CST__WIRE_LEN) ? put_struct_list(state, part, depth - 1)
                                                      : NOT_NORMAL;
}

static verdict put_struct_kind(cst__struct_json *state, cst__struct_kind kind, cst_bytes wire,
                               int depth) {
  state->text.size = 0;
  state->text.failed = false;
  state->num_entries = 0;
  switch (kind) {
    case CST__STRUCT_OBJECT:
      return put_struct_object(state, wire, depth);
    case CST__STRUCT_LIST:
      return put_struct_list(state, wire, depth);
    case CST__STRUCT_VALUE:
      break;
  }
  return put_struct_value(state, wire, depth);
}

/* ---- everything else ---- */

static void drop_unknown(cst__message *message) {
  message->unknown_first = message->unknown_last = NULL;
  for (cst__field *field = message->first; field != NULL; field = field->next) {
    for (size_t i = 0; cst__field_is_message(field->def) && i < field->count; i++) {
      drop_unknown(cst__field_value(field, i)->message);
    }
  }
}

/* *normal lies in state->out. */
static cst_status normalise(cst__struct_json *state, const cst__message_def *def, cst_bytes wire,
                            int depth, cst_bytes *normal, cst_error *error) {
  cst__message *message = cst__message_new(&state->arena, def);
  if (message == NULL) {
    return cst__fail_memory(error, sizeof *message);
  }
  CST__TRY(cst__message_merge(&state->arena, message, wire, depth, error));
  drop_unknown(message);
  bool sorted = cst__message_sort_maps(&state->arena, message);
  state->out.free = state->out.capacity;
  if (sorted) {
    cst__message_put_wire(message, &state->out);
  }
  if (!sorted || state->out.failed) {
    cst__wire_out_free(&state->out);
    return cst__fail_memory(error, wire.size);
  }
  *normal = (cst_bytes){state->out.data + state->out.free, cst__wire_out_size(&state->out)};
  return CST_OK;
}

static __attribute__((noinline)) cst_status put_not_normal(cst__struct_json *state,
                                                           cst__struct_kind kind, cst_bytes wire,
                                                           int depth, verdict *done,
                                                           cst_error *error) {
  cst_bytes normal;
  cst_status status = normalise(state, kinds[kind], wire, depth, &normal, error);
  if (status == CST_OK) {
    *done =
        put_struct_kind(state, kind, normal, CST__DEPTH_LIMIT * 2); /* the tree was not too deep */
  }
  cst__arena_reset(&state->arena);
  return status;
}

cst_status cst__struct_to_json(cst__struct_json *state, cst__struct_kind kind, cst_bytes wire,
                               int depth, cst_bytes *json, cst_error *error) {
  wire.data = wire.data != NULL ? wire.data : (const uint8_t *)"";
  verdict done = put_struct_kind(state, kind, wire, depth);
  if (done == NOT_NORMAL) {
    CST__TRY(put_not_normal(state, kind, wire, depth, &done, error));
  }
  if (done == NOT_FINITE) {
    return cst__fail(error, CST_SCHEMA, "JSON has no NaN and no infinity",
                     "a %s contains a number that is not finite", kinds[kind]->full_name);
  }
  if (done != WRITTEN) {
    return cst__fail_memory(error, state->text.size);
  }
  *json = (cst_bytes){(const uint8_t *)state->text.data, state->text.size};
  return CST_OK;
}
