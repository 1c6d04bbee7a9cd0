/* How rows become messages: a tree of messages and their fields, made once for a type of columns
 * (encoder_plan.c), tied to the columns of each batch (encoder_bind.c), and walked for each row
 * (encoder_fields.c; plain columns: encoder_loop.c; other values: encoder_values.c,
 * encoder_known.c).
 *
 * Everything is written back to front (arrow/records/back.h): of a message the unknown fields
 * first, then extensions, then the fields from the highest number down, which is the order in which
 * protobuf for Python (upb) has them.
 */
#ifndef MESSAGE_ENCODE_ENCODER_TREE_H
#define MESSAGE_ENCODE_ENCODER_TREE_H

#include "arrow/records/encoder.h"
#include "message/text/struct_json.h"
#include "proto/descriptor_set.h"

/* ---- writing ---- */

/* The state of a walk. */
typedef struct cst__out {
  const uint8_t *begin; /* of the buffer */
  cst__back *back;
  size_t before; /* bytes of the records that are written */
  bool lossy;
  cst_status status; /* why a writer gave NULL */
  cst_error *error;
  struct cst__map_key *keys; /* of maps that are being written, the innermost last */
  size_t num_keys;
  size_t keys_capacity;
  const cst_allocator *allocator;
  cst__struct_json json; /* of columns of JSON text */
} cst__out;

enum {
  /* What a writer leaves free before what it has written, beyond what it was asked for: a tag and a
   * length, and what stores of whole words overwrite. */
  CST__OUT_LEAD = 32
};

/* Makes room; the bytes may move. NULL: no memory, or the record is too large. */
uint8_t *cst__out_grow(cst__out *out, uint8_t *at, size_t want);

/* `want` bytes of room before `at`, and CST__OUT_LEAD. */
static inline uint8_t *cst__out_room(cst__out *out, uint8_t *at, size_t want) {
  bool is_there = (size_t)(at - out->begin) >= want + CST__OUT_LEAD && want <= INT32_MAX;
  return __builtin_expect(is_there, 1) ? at : cst__out_grow(out, at, want);
}

/* How many bytes are written when `at` is where they begin: what they are counted by, because they
 * may move. */
static inline size_t cst__out_size(const cst__out *out, const uint8_t *at) {
  const cst__buffer *buffer = out->back->buffer;
  return (size_t)(buffer->data + buffer->capacity - at);
}

/* Keeps the failure, whose error is filled; gives NULL. */
static inline uint8_t *cst__out_fail(cst__out *out, cst_status status) {
  out->status = status;
  return NULL;
}

/* ---- the tree ---- */

typedef struct cst__out_field cst__out_field;
typedef struct cst__out_message cst__out_message;

/* Both write before `at` and give where that begins, or NULL. They make room, and leave
 * CST__OUT_LEAD. */

/* The field of the message in a row of its columns, with its tag; nothing if it is absent. */
typedef uint8_t *(*cst__put_field)(const cst__out_field *field, int64_t row, uint8_t *at,
                                   cst__out *out);
/* One value, which is not null, without its tag (a group: with the tag that ends it). */
typedef uint8_t *(*cst__put_value)(const cst__out_field *field, int64_t slot, uint8_t *at,
                                   cst__out *out);

/* What a column holds. */
typedef struct cst__bound_slots {
  const cst__view *view;    /* of the values */
  const cst__view *indices; /* dictionary-encoded: which of them a slot has; else NULL */
} cst__bound_slots;

/* Goes from a slot to that of its value; false: it is null. */
static inline bool cst__bound_slots_find(const cst__bound_slots *slots, int64_t *slot) {
  if (slots->indices != NULL) {
    if (cst__view_is_null(slots->indices, *slot)) {
      return false;
    }
    *slot = cst__view_int(slots->indices, *slot);
  }
  return !cst__view_is_null(slots->view, *slot);
}

#define CST__NO_NUMBER INT64_MIN /* of a name that the enum does not have */

/* A field that has a column. What plain columns are read by stands first, together in the cache. */
struct cst__out_field {
  cst__put_field put;
  uint64_t tag; /* its bytes, the last ones of the word */
  uint8_t tag_size;
  bool is_required;        /* null is refused */
  bool is_implicit;        /* zero is not written */
  bool has_wide_offsets;   /* of 64 bits */
  const void *data;        /* of plain values, from the view's first slot on */
  const void *offsets;     /* of lists, from the view's first slot on; NULL: they have none */
  const uint8_t *validity; /* of the column; NULL: it has no nulls */
  cst__bound_slots lists;  /* repeated: the lists */
  cst__bound_slots values; /* or their items */
  cst__put_value put_value;
  const cst__field_def *def;
  const char *name;           /* of the column */
  int64_t column;             /* its index among those of the message; -1: none */
  cst__out_message *message;  /* what the values are: of messages and maps (the entry) */
  const int64_t *numbers;     /* of enums in a dictionary: that of each name, or CST__NO_NUMBER */
  const cst__name_map *names; /* of enums: by owner */
};

/* A message type, as it is made of columns. */
struct cst__out_message {
  const cst__message_def *def;
  cst__out_field *fields; /* in the order in which they are written */
  size_t num_fields;
  cst__out_field *casts; /* of an Any: messages in the place of its value */
  size_t num_casts;
  int64_t unknown_column; /* -1: none */
  const char *unknown_name;
  cst__bound_slots unknown;
  const cst__out_field **members; /* of oneofs, those of one next to each other */
  size_t num_members;
  bool is_column; /* of one field, whose column is that of the message: a wrapper */
};

/* ---- making it ---- */

/* What a tree is made with. */
typedef struct cst__out_plan {
  const cst_descriptors *descriptors; /* for casts of Any; may be NULL */
  const char *unknown_fields;         /* NULL: none */
  cst__arena *arena;                  /* of the tree */
  cst__name_map *names;               /* of fields and enum values, by their owners */
  cst_error *error;
} cst__out_plan;

/* The tree of a message type for columns of a schema. CST_NOT_FOUND, CST_UNSUPPORTED, with path. */
cst_status cst__out_plan_message(const cst__out_plan *plan, const cst__message_def *def,
                                 const struct ArrowSchema *schema, cst__out_message **out);

/* Ties a tree to columns of the same schema; what that takes lies in an arena, as long. */
typedef struct cst__out_binding {
  cst__arena *arena;
  bool trusted;
  cst_error *error;
} cst__out_binding;
cst_status cst__out_bind_message(const cst__out_binding *binding, cst__out_message *message,
                                 const cst__viewed *columns);

/* ---- writers ---- */

/* The content of the message in a row. */
uint8_t *cst__out_put_message(const cst__out_message *message, int64_t row, uint8_t *at,
                              cst__out *out);
/* Its fields alone. */
uint8_t *cst__out_put_fields(const cst__out_message *message, int64_t row, uint8_t *at,
                             cst__out *out);
/* The fields of an Any that may be made of a cast. */
uint8_t *cst__out_put_any(const cst__out_message *any, int64_t row, uint8_t *at, cst__out *out);
/* A field of whatever column. */
uint8_t *cst__out_put_singular(const cst__out_field *field, int64_t row, uint8_t *at,
                               cst__out *out);
uint8_t *cst__out_put_repeated(const cst__out_field *field, int64_t row, uint8_t *at,
                               cst__out *out);
uint8_t *cst__out_put_packed(const cst__out_field *field, int64_t row, uint8_t *at, cst__out *out);
uint8_t *cst__out_put_map(const cst__out_field *field, int64_t row, uint8_t *at, cst__out *out);
uint8_t *cst__out_put_missing(const cst__out_field *field, int64_t row, uint8_t *at, cst__out *out);
/* Of plain columns without anything unusual; NULL: the field is none. */
cst__put_field cst__out_plain_writer(const cst__out_field *field);
/* The same, for an instruction set. */
cst__put_field cst__out_plain_writer_base(const cst__out_field *field);
cst__put_field cst__out_plain_writer_v3(const cst__out_field *field);

/* What stands after the content of a message: of a group, the tag that ends it. Before it: its
 * length, unless it is a group; the content ends where `before` bytes were written. NULL: failed.
 */
uint8_t *cst__out_put_end(const cst__out_field *field, uint8_t *at, cst__out *out);
uint8_t *cst__out_put_head(const cst__out_field *field, size_t before, uint8_t *at, cst__out *out);
/* One message as a value: from a struct (or the column itself, of a wrapper), or from its bytes. */
uint8_t *cst__out_put_struct(const cst__out_field *field, int64_t slot, uint8_t *at, cst__out *out);
uint8_t *cst__out_put_serialized(const cst__out_field *field, int64_t slot, uint8_t *at,
                                 cst__out *out);

/* The writer of one value of the field from a column of this type, which is no list and not
 * dictionary-encoded; NULL: the field cannot have such values. */
cst__put_value cst__out_value_writer(const cst__out_field *field, const cst__view *values);
/* The same for messages that are one value. */
cst__put_value cst__out_known_writer(const cst__message_def *def, const cst__view *values);

/* The number of a name, or CST__NO_NUMBER. */
int64_t cst__out_enum_number(const cst__out_field *field, cst_bytes name);

static inline uint8_t *cst__out_put_tag(const cst__out_field *field, uint8_t *at) {
  memcpy(at - 8, &field->tag, 8); /* little-endian: the bytes before are overwritten next */
  return at - field->tag_size;
}

static inline uint8_t *cst__out_put_length(uint8_t *at, size_t size) {
  return cst__put_varint_back(at, size);
}

#endif /* MESSAGE_ENCODE_ENCODER_TREE_H */
