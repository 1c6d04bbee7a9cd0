/* Tokens of JSON to bytes of the wire format, by a table of fields for each type. */
#include "message/text/json_wire.h"

#include <math.h>

#include "arrow/batch.h"
#include "base/hash.h"
#include "message/text/well_known.h"
#include "proto/message.h"
#include "text/base64.h"
#include "text/json_token.h"

enum { MOST_FIELDS = 64, MOST_MISSES = 64, LONGEST_VALUE = 24 };

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
  bool is_wanted;  /* written at all */
  uint8_t tag[5];
  uint8_t tag_size;
  uint64_t bit;                /* its own among those of the type's fields */
  uint64_t bars;               /* the fields that must not come after it */
  struct wire_field *next_key; /* the field whose key came after this one's, last time, or NULL */
  struct wire_type *type;
} wire_field;

typedef struct wire_type {
  const cst__message_def *def;
  const cst__message_def *wanted; /* of its fields: `def` itself for all; NULL: none */
  struct wire_type *next;         /* of all types that were met */
  wire_field *fields;             /* as many as def has; NULL: its messages do not go this way */
  uint64_t indirect;              /* the fields that do not */
  cst__name_map names;
  wire_field *first_key; /* the field whose key came first, last time, or NULL */
  bool is_open;          /* its fields are being filled */
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

static wire_type *type_of(cst__json_wire *wire, const cst__message_def *def,
                          const cst__message_def *wanted);

/* Whether all is wanted of a field, of which `wanted` says what. */
static bool is_whole(const cst__field_def *def, const cst__field_def *wanted);

static bool is_whole_message(const cst__message_def *def, const cst__message_def *wanted) {
  if (def == wanted) {
    return true;
  }
  for (size_t i = 0; i < def->num_fields; i++) {
    if (def->num_fields != wanted->num_fields || !is_whole(&def->fields[i], &wanted->fields[i])) {
      return false;
    }
  }
  return true;
}

static bool is_whole(const cst__field_def *def, const cst__field_def *wanted) {
  return wanted->message == NULL || is_whole_message(def->message, wanted->message);
}

/* What is wanted of the message in a field. */
static const cst__message_def *wanted_below(const cst__field_def *def,
                                            const cst__field_def *wanted) {
  if (wanted == NULL) {
    return NULL;
  }
  return is_whole(def, wanted) ? def->message : wanted->message;
}

static bool fill_field(cst__json_wire *wire, wire_field *field, const cst__field_def *def,
                       const cst__field_def *wanted) {
  const char *name = cst__field_json_name(def);
  *field = (wire_field){.def = def,
                        .way = (uint8_t)way_of(def),
                        .wire_type = (uint8_t)cst__field_wire_type(def),
                        .is_list = cst__field_is_repeated(def),
                        .is_packed = (def->flags & CST__FIELD_PACKED) != 0,
                        .keeps_zero = (def->flags & CST__FIELD_IMPLICIT) == 0,
                        .is_wanted = wanted != NULL};
  cst__wire_type type = field->is_packed ? CST__WIRE_LEN : cst__field_wire_type(def);
  field->tag_size = (uint8_t)write_varint(field->tag, (uint64_t)def->number << 3 | type);
  if (field->way == CHILD) {
    field->type = type_of(wire, def->message, wanted_below(def, wanted));
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

static const cst__field_def *wanted_field(const wire_type *type, const cst__field_def *field) {
  return type->wanted != NULL ? cst__field_by_number(type->wanted, field->number) : NULL;
}

static bool fill_type(cst__json_wire *wire, wire_type *type) {
  const cst__message_def *def = type->def;
  wire_field *fields = cst__arena_take_zero(&wire->arena, (def->num_fields + 1) * sizeof *fields);
  type->fields = fields; /* before its own are filled: it may have itself within */
  bool ok = fields != NULL;
  for (size_t i = 0; ok && i < def->num_fields; i++) {
    const cst__field_def *field = &def->fields[i];
    bool is_twice = false;
    ok = fill_field(wire, &fields[i], field, wanted_field(type, field)) &&
         add_name(type, cst__field_json_name(field), i, &is_twice) &&
         add_name(type, field->name, i, &is_twice);
    if (is_twice) { /* json_read.h knows which one counts */
      fields[i].way = INDIRECT;
      ok = true;
    }
    fields[i].bit = UINT64_C(1) << i;
    type->indirect |= fields[i].way == INDIRECT ? fields[i].bit : 0;
  }
  return ok;
}

/* The type of a message of which so much is wanted; NULL: no memory. */
static wire_type *type_of(cst__json_wire *wire, const cst__message_def *def,
                          const cst__message_def *wanted) {
  for (wire_type *type = wire->types; type != NULL; type = type->next) {
    if (type->def == def && type->wanted == wanted) {
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
  *type = (wire_type){.def = def, .wanted = wanted, .next = wire->types};
  wire->types = type;
  bool is_direct = !def->is_map_entry && !def->is_message_set && def->num_fields <= MOST_FIELDS &&
                   cst__well_known_of(def) == CST__WELL_KNOWN_NONE;
  type->is_open = true;
  bool ok = !is_direct || fill_type(wire, type);
  type->is_open = false;
  return ok ? type : NULL;
}

/* A field comes once, and with in_order none with a smaller number after it. */
static void set_bars(cst__json_wire *wire) {
  for (wire_type *type = wire->types; type != NULL; type = type->next) {
    for (size_t i = 0; type->fields != NULL && i < type->def->num_fields; i++) {
      wire_field *field = &type->fields[i];
      field->bars = field->bit | (wire->in_order ? field->bit - 1 : 0);
    }
  }
}

cst__json_wire *cst__json_wire_new(const cst__message_def *root, const cst__message_def *wanted,
                                   const cst_allocator *allocator) {
  cst__json_wire *wire = cst__new_zero(allocator, sizeof *wire);
  if (wire == NULL) {
    return NULL;
  }
  wire->allocator = cst__allocator_of(allocator);
  cst__arena_init(&wire->arena, allocator);
  wire->root = type_of(wire, root, is_whole_message(root, wanted) ? root : wanted);
  if (wire->root == NULL) {
    cst__json_wire_free(wire);
    return NULL;
  }
  set_bars(wire);
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

static __attribute__((noinline)) bool end_long_length(cst__json_wire *wire, size_t begin,
                                                      size_t size) {
  uint8_t length[10];
  size_t length_size = write_varint(length, size);
  if (room_for(wire, length_size) == NULL) {
    return false;
  }
  memmove(wire->out.data + begin + length_size, wire->out.data + begin + 1, size);
  memcpy(wire->out.data + begin, length, length_size);
  wire->size += length_size - 1;
  return true;
}

/* Puts the length in front of what was written since `begin`, where one byte was left for it. */
static inline bool end_length(cst__json_wire *wire, size_t begin) {
  size_t size = wire->size - begin - 1;
  if (size >= 0x80) {
    return end_long_length(wire, begin, size);
  }
  wire->out.data[begin] = (uint8_t)size;
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
  at = cst__json_number_at(is_quoted ? cst__json_past(at) : at, &digits);
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
  return is_quoted ? cst__json_past(at) : at;
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

/* Puts a value of these bits, which ends at `at`: NULL if it was none. */
static inline const uint8_t *put_bits(cst__json_wire *wire, const uint8_t *at,
                                      const wire_field *field, bool is_item, uint64_t bits) {
  if (at == NULL || !field->is_wanted || (bits == 0 && !is_item && !field->keeps_zero)) {
    return at;
  }
  uint8_t *to = room_for(wire, LONGEST_VALUE);
  if (to == NULL) {
    return NULL;
  }
  to = is_item && field->is_packed ? to : put_tag(to, field);
  wire->size = (size_t)(write_scalar(to, field, bits) - wire->out.data);
  return at;
}

static OWN_FRAME const uint8_t *put_whole(cst__json_wire *wire, const uint8_t *at,
                                          const wire_field *field, bool is_item) {
  uint64_t bits = 0;
  at = take_whole(at, field->def, &bits);
  return put_bits(wire, at, field, is_item, bits);
}

static OWN_FRAME const uint8_t *put_floating(cst__json_wire *wire, const uint8_t *at,
                                             const wire_field *field, bool is_item) {
  uint64_t bits = 0;
  at = take_floating(at, field->def, &bits);
  return put_bits(wire, at, field, is_item, bits);
}

static OWN_FRAME const uint8_t *put_named(cst__json_wire *wire, const uint8_t *at,
                                          const wire_field *field, bool is_item) {
  uint64_t bits = 0;
  at = take_named(at, field->def, &bits);
  return put_bits(wire, at, field, is_item, bits);
}

static OWN_FRAME const uint8_t *put_truth(cst__json_wire *wire, const uint8_t *at,
                                          const wire_field *field, bool is_item) {
  bool is_true = *at == 't';
  at = is_true ? cst__json_word(at, "true", 4) : cst__json_word(at, "false", 5);
  return put_bits(wire, at, field, is_item, is_true);
}

/* ---- strings ---- */

/* A string of any size, with escapes or without. */
static OWN_FRAME const uint8_t *put_long_string(cst__json_wire *wire, const uint8_t *at,
                                                const wire_field *field, bool is_item) {
  cst__json_span span;
  if (*at != '"' || (at = cst__json_string(at, &span)) == NULL) {
    return NULL;
  }
  if (span.size == 0 && !is_item && !field->keeps_zero) {
    return at;
  }
  uint8_t *to = room_for(wire, span.size + LONGEST_VALUE);
  if (to == NULL) {
    return NULL;
  }
  to = put_tag(to, field);
  size_t begin = (size_t)(to - wire->out.data);
  size_t size = span.size;
  if (!span.has_escapes) {
    to += write_varint(to, size);
    memcpy(to, span.data, size);
    wire->size = (size_t)(to - wire->out.data) + size;
    return at;
  }
  if (!cst__json_unescape(span, to + 1, &size)) {
    return NULL;
  }
  wire->size = begin + 1 + size;
  return end_length(wire, begin) ? at : NULL;
}

/* Most strings are short and plain: these are copied at once, with what stands after them. */
static OWN_FRAME const uint8_t *put_string(cst__json_wire *wire, const uint8_t *at,
                                           const wire_field *field, bool is_item) {
  enum { SHORT = 2 * CST__JSON_STEP };
  _Static_assert((int)SHORT <= (int)CST__JSON_SLACK, "what stands after them");
  size_t size = cst__json_short_string(at);
  bool has_room = wire->out.capacity - wire->size >= SHORT + LONGEST_VALUE;
  if (__builtin_expect(size == SIZE_MAX || !has_room, 0) ||
      (size == 0 && !is_item && !field->keeps_zero)) {
    return put_long_string(wire, at, field, is_item);
  }
  uint8_t *to = put_tag(wire->out.data + wire->size, field);
  *to++ = (uint8_t)size;
  memcpy(to, at + 1, SHORT);
  wire->size = (size_t)(to - wire->out.data) + size;
  return at + size + 2;
}

static OWN_FRAME const uint8_t *put_base64(cst__json_wire *wire, const uint8_t *at,
                                           const wire_field *field, bool is_item) {
  cst__json_span span;
  size_t size;
  if (*at != '"' || (at = cst__json_string(at, &span)) == NULL || span.has_escapes ||
      !cst__base64_size((const char *)span.data, span.size, CST__BASE64_ANY, &size)) {
    return NULL;
  }
  if (!field->is_wanted || (size == 0 && !is_item && !field->keeps_zero)) {
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
  if (*at != '{') {
    return NULL;
  }
  if (!field->is_wanted) {
    return put_fields(wire, at, text, field->type);
  }
  uint8_t *to = room_for(wire, LONGEST_VALUE);
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
      return field->is_wanted ? put_string(wire, at, field, is_item) : cst__json_skip_string(at);
    case BASE64:
      return put_base64(wire, at, field, is_item);
    case CHILD:
      return put_child(wire, at, text, field);
    case WHOLE:
      return put_whole(wire, at, field, is_item);
    case FLOATING:
      return put_floating(wire, at, field, is_item);
    case NAMED:
      return put_named(wire, at, field, is_item);
    case TRUTH:
      return put_truth(wire, at, field, is_item);
  }
  return NULL;
}

static const uint8_t *put_list(cst__json_wire *wire, const uint8_t *at, cst__json_text *text,
                               const wire_field *field) {
  bool more;
  size_t begin = 0;
  at = *at == '[' ? cst__json_enter(at, text, ']', &more) : NULL;
  if (at == NULL || !more) {
    return at;
  }
  bool has_length = field->is_packed && field->is_wanted;
  if (has_length) {
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
  return at != NULL && (!has_length || end_length(wire, begin)) ? at : NULL;
}

/* The place of the value of a key that is not the expected one, and its field in *next; NULL: not
 * this way. */
static OWN_FRAME const uint8_t *find_field(const uint8_t *at, const wire_type *type,
                                           wire_field **next) {
  cst__json_span key;
  if (*at != '"' || (at = cst__json_string(at, &key)) == NULL || key.has_escapes) {
    return NULL;
  }
  size_t found = cst__name_map_find(&type->names, (const char *)key.data, key.size);
  if (found == SIZE_MAX) {
    return NULL;
  }
  *next = &type->fields[found];
  return cst__json_mark(at, ':');
}

static inline const uint8_t *take_field(const uint8_t *at, const cst__json_text *text,
                                        const wire_type *type, wire_field **next) {
  const uint8_t *value = *next != NULL ? cst__json_take_key(at, text, &(*next)->key) : NULL;
  return __builtin_expect(value != NULL, 1) ? value : find_field(at, type, next);
}

/* The fields of an object. */
static const uint8_t *put_fields(cst__json_wire *wire, const uint8_t *at, cst__json_text *text,
                                 wire_type *type) {
  wire_field **next = &type->first_key;
  uint64_t barred = type->indirect;
  bool more;
  at = cst__json_enter(at, text, '}', &more);
  while (at != NULL && more) {
    at = take_field(at, text, type, next);
    if (at == NULL) {
      return NULL;
    }
    wire_field *field = *next;
    if ((barred & field->bit) != 0) {
      return NULL;
    }
    barred |= field->bars;
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
