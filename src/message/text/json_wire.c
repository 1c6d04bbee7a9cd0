/* Tokens of JSON to bytes of the wire format, by a table of fields for each type. */
#include "message/text/json_wire.h"

#include <math.h>

#include "arrow/batch.h"
#include "base/hash.h"
#include "message/text/well_known.h"
#include "proto/message.h"
#include "text/base64.h"
#include "text/json_token.h"

enum { NO_FIELD = UINT32_MAX, MOST_FIELDS = 64, MOST_MISSES = 64, LONGEST_VALUE = 24 };

/* How a field's values are read. */
typedef enum way { INDIRECT, WHOLE, FLOATING, TRUTH, STRING, BASE64, NAMED, CHILD } way;

typedef struct wire_field {
  const cst__field_def *def;
  cst__json_key_text key;
  uint8_t way;
  uint8_t wire_type; /* of one value */
  bool is_list;
  bool is_packed;
  bool keeps_zero; /* written also as zero or empty */
  uint8_t tag[5];
  uint8_t tag_size;
  uint32_t next_key; /* the field whose key came after this one's, last time */
  struct wire_type *type;
} wire_field;

typedef struct wire_type {
  const cst__message_def *def;
  struct wire_type *next; /* of all types that were met */
  wire_field *fields;     /* as many as def has; NULL: its messages do not go this way */
  cst__name_map names;
  uint32_t first_key; /* the field whose key came first, last time */
  bool is_open;       /* its fields are being filled */
} wire_type;

struct cst__json_wire {
  cst_allocator allocator;
  cst__arena arena;
  wire_type *types;
  wire_type *root;
  bool in_order;   /* fields have to come by their numbers */
  uint32_t misses; /* texts in a row that did not go this way */
  cst__buffer text;
  cst__buffer out;
  size_t size; /* of what is in `out` */
  bool is_full;
};

/* ---- types ---- */

static way way_of(const cst__field_def *def) {
  if (def->oneof != 0 || (def->flags & CST__FIELD_EXTENSION) != 0) {
    return INDIRECT;
  }
  switch ((cst__field_type)def->type) {
    case CST__FIELD_DOUBLE:
    case CST__FIELD_FLOAT:
      return FLOATING;
    case CST__FIELD_BOOL:
      return TRUTH;
    case CST__FIELD_STRING:
      return STRING;
    case CST__FIELD_BYTES:
      return BASE64;
    case CST__FIELD_ENUM:
      return strcmp(def->values->full_name, "google.protobuf.NullValue") == 0 ? INDIRECT : NAMED;
    case CST__FIELD_MESSAGE:
      return CHILD;
    case CST__FIELD_GROUP:
      return INDIRECT;
    default:
      return WHOLE;
  }
}

static size_t write_varint(uint8_t *to, uint64_t value) {
  size_t size = 0;
  for (; value >= 0x80; value >>= 7) {
    to[size++] = (uint8_t)(value | 0x80);
  }
  to[size++] = (uint8_t)value;
  return size;
}

static wire_type *type_of(cst__json_wire *wire, const cst__message_def *def);

static bool fill_field(cst__json_wire *wire, wire_field *field, const cst__field_def *def) {
  const char *name = cst__field_json_name(def);
  *field = (wire_field){.def = def,
                        .way = (uint8_t)way_of(def),
                        .wire_type = (uint8_t)cst__field_wire_type(def),
                        .is_list = cst__field_is_repeated(def),
                        .is_packed = (def->flags & CST__FIELD_PACKED) != 0,
                        .keeps_zero = (def->flags & CST__FIELD_IMPLICIT) == 0,
                        .next_key = NO_FIELD};
  cst__wire_type type = field->is_packed ? CST__WIRE_LEN : cst__field_wire_type(def);
  field->tag_size = (uint8_t)write_varint(field->tag, (uint64_t)def->number << 3 | type);
  if (field->way == CHILD) {
    field->type = type_of(wire, def->message);
    if (field->type == NULL) {
      return false;
    }
    field->way = field->type->fields != NULL ? CHILD : INDIRECT;
  }
  return cst__json_key_init(&field->key, name, strlen(name), &wire->arena);
}

/* False: no memory, or a name that two fields have (*is_twice). */
static bool add_name(wire_type *type, const char *name, size_t i, bool *is_twice) {
  size_t found = cst__name_map_find(&type->names, name, strlen(name));
  *is_twice = found != SIZE_MAX && found != i;
  return found != SIZE_MAX ? found == i : cst__name_map_add(&type->names, name, strlen(name), i);
}

static bool fill_type(cst__json_wire *wire, wire_type *type) {
  const cst__message_def *def = type->def;
  wire_field *fields = cst__arena_take_zero(&wire->arena, (def->num_fields + 1) * sizeof *fields);
  type->fields = fields; /* before its own are filled: it may have itself within */
  bool ok = fields != NULL;
  for (size_t i = 0; ok && i < def->num_fields; i++) {
    bool is_twice = false;
    ok = fill_field(wire, &fields[i], &def->fields[i]) &&
         add_name(type, cst__field_json_name(&def->fields[i]), i, &is_twice) &&
         add_name(type, def->fields[i].name, i, &is_twice);
    if (is_twice) { /* json_read.h knows which one counts */
      fields[i].way = INDIRECT;
      ok = true;
    }
  }
  return ok;
}

/* The type of a message; NULL: no memory. */
static wire_type *type_of(cst__json_wire *wire, const cst__message_def *def) {
  for (wire_type *type = wire->types; type != NULL; type = type->next) {
    if (type->def == def) {
      /* A type that has itself within: columns show its bytes where they end, and these are to be
       * those of its writer. */
      wire->in_order = wire->in_order || type->is_open;
      return type;
    }
  }
  wire_type *type = cst__arena_take_zero(&wire->arena, sizeof *type);
  if (type == NULL) {
    return NULL;
  }
  *type = (wire_type){.def = def, .next = wire->types, .first_key = NO_FIELD};
  wire->types = type;
  bool is_direct = !def->is_map_entry && !def->is_message_set && def->num_fields <= MOST_FIELDS &&
                   cst__well_known_of(def) == CST__WELL_KNOWN_NONE;
  type->is_open = true;
  bool ok = !is_direct || fill_type(wire, type);
  type->is_open = false;
  return ok ? type : NULL;
}

cst__json_wire *cst__json_wire_new(const cst__message_def *root, const cst_allocator *allocator) {
  cst__json_wire *wire = cst__new_zero(allocator, sizeof *wire);
  if (wire == NULL) {
    return NULL;
  }
  wire->allocator = cst__allocator_of(allocator);
  cst__arena_init(&wire->arena, allocator);
  wire->root = type_of(wire, root);
  if (wire->root == NULL) {
    cst__json_wire_free(wire);
    return NULL;
  }
  return wire;
}

void cst__json_wire_free(cst__json_wire *wire) {
  if (wire == NULL) {
    return;
  }
  for (wire_type *type = wire->types; type != NULL; type = type->next) {
    cst__name_map_reset(&type->names);
  }
  cst__buffer_free(&wire->allocator, &wire->text);
  cst__buffer_free(&wire->allocator, &wire->out);
  cst__arena_reset(&wire->arena);
  cst__delete(wire);
}

/* ---- bytes ---- */

/* Where the next bytes go; NULL: no memory. */
static inline uint8_t *room_for(cst__json_wire *wire, size_t more) {
  if (__builtin_expect(wire->out.capacity - wire->size < more, 0) &&
      !cst__buffer_reserve(&wire->allocator, &wire->out, (wire->size + more) * 2, wire->size)) {
    wire->is_full = true;
    return NULL;
  }
  return wire->out.data + wire->size;
}

static inline uint8_t *put_tag(uint8_t *to, const wire_field *field) {
  memcpy(to, field->tag, sizeof field->tag); /* its end is written over */
  return to + field->tag_size;
}

/* Puts the length in front of what was written since `begin`, where one byte was left for it. */
static bool end_length(cst__json_wire *wire, size_t begin) {
  size_t size = wire->size - begin - 1;
  uint8_t length[10];
  size_t length_size = write_varint(length, size);
  if (length_size > 1) {
    uint8_t *room = room_for(wire, length_size);
    if (room == NULL) {
      return false;
    }
    memmove(wire->out.data + begin + length_size, wire->out.data + begin + 1, size);
    wire->size += length_size - 1;
  }
  memcpy(wire->out.data + begin, length, length_size);
  return true;
}

/* ---- scalars: the place after them; NULL: not this way ---- */

/* The steps that put_value goes on to: it needs no frame itself then. */
#define OWN_FRAME __attribute__((noinline))

/* A whole number, also in quotes, of so few digits that it is within 64 bits. */
static const uint8_t *take_whole(const uint8_t *at, const cst__field_def *def, uint64_t *bits) {
  enum { SHORT = 18 };
  cst__json_digits digits;
  bool is_quoted = *at == '"';
  at = cst__json_number_at(at + is_quoted, &digits);
  if (at == NULL || !digits.is_whole || digits.num_digits > SHORT || (is_quoted && *at != '"') ||
      (digits.is_negative && digits.magnitude == 0)) {
    return NULL;
  }
  uint64_t most = INT64_MAX;
  bool is_signed = true;
  switch ((cst__field_type)def->type) {
    case CST__FIELD_INT32:
    case CST__FIELD_SINT32:
    case CST__FIELD_SFIXED32:
      most = (uint64_t)INT32_MAX + digits.is_negative;
      break;
    case CST__FIELD_UINT32:
    case CST__FIELD_FIXED32:
      most = UINT32_MAX;
      is_signed = false;
      break;
    case CST__FIELD_UINT64:
    case CST__FIELD_FIXED64:
      is_signed = false;
      break;
    default:
      break;
  }
  if (digits.magnitude > most || (digits.is_negative && !is_signed)) {
    return NULL;
  }
  *bits = digits.is_negative ? 0 - digits.magnitude : digits.magnitude;
  return at + is_quoted;
}

static const uint8_t *take_floating(const uint8_t *at, const cst__field_def *def, uint64_t *bits) {
  cst__json_digits digits;
  double value;
  at = cst__json_number_at(at, &digits);
  if (at == NULL || !cst__json_digits_float64(&digits, &value) || !isfinite(value) ||
      (digits.is_negative && digits.magnitude == 0)) {
    return NULL;
  }
  if (def->type == CST__FIELD_DOUBLE) {
    memcpy(bits, &value, sizeof value);
    return at;
  }
  float narrow = (float)value;
  *bits = 0;
  memcpy(bits, &narrow, sizeof narrow);
  return isfinite(narrow) ? at : NULL;
}

static const uint8_t *take_named(const uint8_t *at, const cst__field_def *def, uint64_t *bits) {
  cst__json_span name;
  if (*at != '"' || (at = cst__json_string(at, &name)) == NULL || name.has_escapes) {
    return NULL;
  }
  const cst__enum_value *value = cst__enum_by_name(def->values, (const char *)name.data, name.size);
  if (value == NULL) {
    return NULL;
  }
  *bits = (uint64_t)(int64_t)value->number;
  return at;
}

/* The bits of a value that is no string and no message. */
static const uint8_t *take_scalar(const uint8_t *at, const wire_field *field, uint64_t *bits) {
  switch ((way)field->way) {
    case WHOLE:
      return take_whole(at, field->def, bits);
    case FLOATING:
      return take_floating(at, field->def, bits);
    case NAMED:
      return take_named(at, field->def, bits);
    case TRUTH:
      *bits = *at == 't';
      return *at == 't' ? cst__json_word(at, "true", 4) : cst__json_word(at, "false", 5);
    default:
      return NULL;
  }
}

/* Writes the bits as the field's type has them. */
static uint8_t *write_scalar(uint8_t *to, const wire_field *field, uint64_t bits) {
  switch (field->wire_type) {
    case CST__WIRE_FIXED64:
      memcpy(to, &bits, 8); /* little-endian */
      return to + 8;
    case CST__WIRE_FIXED32:
      memcpy(to, &bits, 4);
      return to + 4;
    default:
      break;
  }
  const cst__field_def *def = field->def;
  bool is_zigzag = def->type == CST__FIELD_SINT32 || def->type == CST__FIELD_SINT64;
  return to + write_varint(to, is_zigzag ? cst__zigzag_encode((int64_t)bits) : bits);
}

static OWN_FRAME const uint8_t *put_scalar(cst__json_wire *wire, const uint8_t *at,
                                           const wire_field *field, bool is_item) {
  uint64_t bits = 0;
  at = take_scalar(at, field, &bits);
  uint8_t *to = at != NULL ? room_for(wire, LONGEST_VALUE) : NULL;
  if (to == NULL) {
    return NULL;
  }
  if (bits == 0 && !is_item && !field->keeps_zero) {
    return at;
  }
  to = is_item && field->is_packed ? to : put_tag(to, field);
  wire->size = (size_t)(write_scalar(to, field, bits) - wire->out.data);
  return at;
}

/* ---- strings ---- */

static OWN_FRAME const uint8_t *put_string(cst__json_wire *wire, const uint8_t *at,
                                           const wire_field *field, bool is_item) {
  cst__json_span span;
  if (*at != '"' || (at = cst__json_string(at, &span)) == NULL) {
    return NULL;
  }
  if (span.size == 0 && !is_item && !field->keeps_zero) {
    return at;
  }
  enum { SHORT = 32 }; /* bytes that are copied at once, with what stands after them */
  _Static_assert((int)SHORT <= (int)CST__JSON_SLACK, "what stands after them");
  uint8_t *to = room_for(wire, span.size + SHORT + LONGEST_VALUE);
  if (to == NULL) {
    return NULL;
  }
  to = put_tag(to, field);
  size_t begin = (size_t)(to - wire->out.data);
  size_t size = span.size;
  if (!span.has_escapes) {
    to += write_varint(to, size);
    memcpy(to, span.data, SHORT);
    if (size > SHORT) {
      memcpy(to + SHORT, span.data + SHORT, size - SHORT);
    }
    wire->size = (size_t)(to - wire->out.data) + size;
    return at;
  }
  if (!cst__json_unescape(span, to + 1, &size)) {
    return NULL;
  }
  wire->size = begin + 1 + size;
  return end_length(wire, begin) ? at : NULL;
}

static OWN_FRAME const uint8_t *put_base64(cst__json_wire *wire, const uint8_t *at,
                                           const wire_field *field, bool is_item) {
  cst__json_span span;
  size_t size;
  if (*at != '"' || (at = cst__json_string(at, &span)) == NULL || span.has_escapes ||
      !cst__base64_size((const char *)span.data, span.size, CST__BASE64_ANY, &size)) {
    return NULL;
  }
  if (size == 0 && !is_item && !field->keeps_zero) {
    return at;
  }
  uint8_t *to = room_for(wire, size + LONGEST_VALUE);
  if (to == NULL) {
    return NULL;
  }
  to = put_tag(to, field);
  to += write_varint(to, size);
  cst__base64_decode((const char *)span.data, span.size, to);
  wire->size = (size_t)(to - wire->out.data) + size;
  return at;
}

/* ---- messages ---- */

static const uint8_t *put_fields(cst__json_wire *wire, const uint8_t *at, cst__json_text *text,
                                 wire_type *type);

static OWN_FRAME const uint8_t *put_child(cst__json_wire *wire, const uint8_t *at,
                                          cst__json_text *text, const wire_field *field) {
  uint8_t *to = *at == '{' ? room_for(wire, LONGEST_VALUE) : NULL;
  if (to == NULL) {
    return NULL;
  }
  size_t begin = (size_t)(put_tag(to, field) - wire->out.data);
  wire->size = begin + 1;
  at = put_fields(wire, at, text, field->type);
  return at != NULL && end_length(wire, begin) ? at : NULL;
}

static const uint8_t *put_value(cst__json_wire *wire, const uint8_t *at, cst__json_text *text,
                                const wire_field *field, bool is_item) {
  switch ((way)field->way) {
    case INDIRECT:
      return NULL;
    case STRING:
      return put_string(wire, at, field, is_item);
    case BASE64:
      return put_base64(wire, at, field, is_item);
    case CHILD:
      return put_child(wire, at, text, field);
    default:
      return put_scalar(wire, at, field, is_item);
  }
}

static const uint8_t *put_list(cst__json_wire *wire, const uint8_t *at, cst__json_text *text,
                               const wire_field *field) {
  bool more;
  size_t begin = 0;
  at = *at == '[' ? cst__json_enter(at, text, ']', &more) : NULL;
  if (at == NULL || !more) {
    return at;
  }
  if (field->is_packed) {
    uint8_t *to = room_for(wire, LONGEST_VALUE);
    if (to == NULL) {
      return NULL;
    }
    begin = (size_t)(put_tag(to, field) - wire->out.data);
    wire->size = begin + 1;
  }
  while (at != NULL && more) {
    at = put_value(wire, at, text, field, true);
    at = at != NULL ? cst__json_next(at, text, ']', &more) : NULL;
  }
  return at != NULL && (!field->is_packed || end_length(wire, begin)) ? at : NULL;
}

/* The place of the value of a key, and its field; NULL: not this way. */
static const uint8_t *take_field(const uint8_t *at, const cst__json_text *text,
                                 const wire_type *type, uint32_t *next) {
  if (*next != NO_FIELD) {
    const uint8_t *value = cst__json_take_key(at, text, &type->fields[*next].key);
    if (__builtin_expect(value != NULL, 1)) {
      return value;
    }
  }
  cst__json_span key;
  if (*at != '"' || (at = cst__json_string(at, &key)) == NULL || key.has_escapes) {
    return NULL;
  }
  size_t found = cst__name_map_find(&type->names, (const char *)key.data, key.size);
  if (found == SIZE_MAX) {
    return NULL;
  }
  *next = (uint32_t)found;
  return cst__json_mark(at, ':');
}

/* The fields of an object. */
static const uint8_t *put_fields(cst__json_wire *wire, const uint8_t *at, cst__json_text *text,
                                 wire_type *type) {
  uint32_t *next = &type->first_key;
  uint64_t seen = 0;
  uint64_t done = 0; /* with in_order: the fields that must not come any more */
  bool more;
  at = cst__json_enter(at, text, '}', &more);
  while (at != NULL && more) {
    at = take_field(at, text, type, next);
    if (at == NULL) {
      return NULL;
    }
    wire_field *field = &type->fields[*next];
    uint64_t bit = UINT64_C(1) << *next;
    if (((seen | done) & bit) != 0 || field->way == INDIRECT) {
      return NULL;
    }
    seen |= bit;
    done = wire->in_order ? bit - 1 : 0;
    next = &field->next_key;
    at = cst__json_blanks(at);
    at = *at == 'n'       ? cst__json_word(at, "null", 4) /* absent */
         : field->is_list ? put_list(wire, at, text, field)
                          : put_value(wire, at, text, field, false);
    at = at != NULL ? cst__json_next(at, text, '}', &more) : NULL;
  }
  return at;
}

/* ---- records ---- */

/* The text in memory of our own, with NULs after it; NULL: no memory. */
static const uint8_t *copy_text(cst__json_wire *wire, cst_bytes text) {
  if (!cst__buffer_reserve(&wire->allocator, &wire->text, text.size + CST__JSON_SLACK, 0)) {
    return NULL;
  }
  if (text.size > 0) {
    memcpy(wire->text.data, text.data, text.size);
  }
  memset(wire->text.data + text.size, 0, CST__JSON_SLACK);
  return wire->text.data;
}

cst_status cst__json_wire_read(cst__json_wire *wire, cst_bytes text, size_t slack, bool *taken,
                               cst_bytes *out, cst_error *error) {
  *taken = false;
  if (wire->misses > MOST_MISSES || wire->root->fields == NULL) {
    return CST_OK;
  }
  const uint8_t *at = copy_text(wire, text);
  if (at == NULL) {
    return cst__fail_memory(error, text.size);
  }
  cst__json_text reading = {at + text.size, CST__DEPTH_LIMIT / 2};
  wire->size = 0;
  wire->is_full = false;
  at = cst__json_blanks(at);
  at = *at == '{' ? put_fields(wire, at, &reading, wire->root) : NULL;
  *taken = at != NULL && cst__json_ends_at(at, &reading);
  wire->misses = *taken ? 0 : wire->misses + 1;
  uint8_t *end = room_for(wire, slack + 1);
  if (wire->is_full) {
    return cst__fail_memory(error, text.size);
  }
  memset(end, 0, slack);
  *out = (cst_bytes){wire->out.data, wire->size};
  return CST_OK;
}
