/* Messages as trees in an arena, driven by descriptor tables: read from and written to the wire
 * format and the text format. Fields that the tables do not know are kept as bytes, at any depth.
 *
 * A tree borrows the bytes that it was read from; whoever reads keeps them as long.
 */
#ifndef PROTO_MESSAGE_H
#define PROTO_MESSAGE_H

#include "base/alloc.h"
#include "proto/descriptor.h"
#include "proto/wire.h"

typedef struct cst__message cst__message;

/* One value; which member counts follows from the field's type. */
typedef union cst__value {
  int64_t i;  /* all signed integers, BOOL, ENUM */
  uint64_t u; /* all unsigned integers */
  double d;
  float f;
  cst_bytes bytes; /* STRING, BYTES */
  cst__message *message;
} cst__value;

/* A field that is set. */
typedef struct cst__field cst__field;
struct cst__field {
  const cst__field_def *def;
  cst__field *previous, *next; /* in the order of the numbers */
  cst__field *next_choice;     /* of the fields that are members of oneofs */
  size_t count;                /* 1 for a singular field */
  size_t capacity;             /* of `many` */
  union {
    cst__value one;
    cst__value *many; /* repeated */
  } as;
};

/* The wire type of a single value of the field. */
cst__wire_type cst__field_wire_type(const cst__field_def *def);

/* Bytes of fields that the tables do not know, tags included. */
typedef struct cst__unknown cst__unknown;
struct cst__unknown {
  cst_bytes bytes;
  cst__unknown *previous, *next;
};

struct cst__message {
  const cst__message_def *def;
  cst__field *first, *last;
  cst__field *choices;  /* members of oneofs that are set */
  cst__field **ordered; /* all fields by number; NULL as long as they are few */
  uint32_t num_set, ordered_capacity;
  cst__unknown *unknown_first, *unknown_last;
  cst_bytes expanded_any; /* of a google.protobuf.Any: "[type/name] { ... }" as the text had it */
  uint32_t line, column;  /* where it began in a text, 1-based; 0: not from a text */
};

/* NULL if out of memory. */
cst__message *cst__message_new(cst__arena *arena, const cst__message_def *def);

/* The field, or NULL if it is not set. */
cst__field *cst__message_find(const cst__message *message, int32_t number);
/* How many values the field has: 0 if it is not set. */
size_t cst__message_count(const cst__message *message, int32_t number);
/* True for a zero in a field without presence: it is neither written nor printed. */
bool cst__field_is_left_out(const cst__field *field);
/* The i-th value of a field that has as many. */
const cst__value *cst__field_value(const cst__field *field, size_t i);
/* Values of singular fields, or `absent`. */
int64_t cst__message_int(const cst__message *message, int32_t number, int64_t absent);
double cst__message_double(const cst__message *message, int32_t number, double absent);
cst_bytes cst__message_bytes(const cst__message *message, int32_t number);
const cst__message *cst__message_child(const cst__message *message, int32_t number);

/* Sets a singular field, in place of what it had and of other members of its oneof, or appends to a
 * repeated one. False if out of memory. */
bool cst__message_put(cst__arena *arena, cst__message *message, const cst__field_def *def,
                      cst__value value);

/* Building: set or append by number, which has to be of the type. False if out of memory. */
bool cst__message_put_int(cst__arena *arena, cst__message *message, int32_t number, int64_t value);
bool cst__message_put_double(cst__arena *arena, cst__message *message, int32_t number,
                             double value);
/* Copies the bytes. */
bool cst__message_put_bytes(cst__arena *arena, cst__message *message, int32_t number,
                            const void *bytes, size_t size);
/* A new message as the value of the field, or NULL if out of memory. */
cst__message *cst__message_put_child(cst__arena *arena, cst__message *message, int32_t number);

/* Keeps bytes of unknown fields (borrowed). False if out of memory. */
bool cst__message_put_unknown(cst__arena *arena, cst__message *message, cst_bytes bytes);

/* Adds what serialized bytes hold to the message, by protobuf's rules: the last value of a singular
 * field wins, messages are merged, packed and unpacked values are read alike, values of another
 * wire type and unknown enum numbers are unknown fields. Malformed bytes are CST_CORRUPT with the
 * offset. `depth`: how many levels may nest (CST__DEPTH_LIMIT). */
cst_status cst__message_merge(cst__arena *arena, cst__message *message, cst_bytes bytes, int depth,
                              cst_error *error);

/* Adds what a text in protobuf's text format says. Fields may be given by number: they are then
 * taken as the binary format would take them, known or not. The expanded form of an Any is kept as
 * text, because its type is not known here. Errors are CST_CORRUPT with line and column. */
cst_status cst__message_merge_text(cst__arena *arena, cst__message *message, cst_bytes text,
                                   int depth, cst_error *error);

/* The same where the types are those of a set: extensions are given as "[full.name]", and the
 * expanded form of an Any becomes its fields, by the type of the set that it names. Errors have the
 * path of the field too, and show nothing of a text but names, since it is a record. */
struct cst_descriptors;
cst_status cst__message_merge_text_of(const struct cst_descriptors *types, cst__arena *arena,
                                      cst__message *message, cst_bytes text, int depth,
                                      cst_error *error);

/* Prefixes the path of an error with the name of a field, an extension's in parentheses. */
void cst__error_add_field(cst_error *error, const cst__field_def *field);

/* Brings map fields, at any depth, into the form that is written: sorted by key, the last entry of
 * a key only, with key and value. False if out of memory. */
bool cst__message_sort_maps(cst__arena *arena, cst__message *message);

/* The same, but every key stays where it came first. */
bool cst__message_unique_maps(cst__arena *arena, cst__message *message);

/* Forgets the unknown fields, at any depth, but for what a message set holds. */
void cst__message_drop_unknown(cst__message *message);

/* The first message, at any depth, that holds an expanded Any, or NULL: it has no binary form. */
const cst__message *cst__message_find_expanded_any(const cst__message *message);

/* Serialized: fields by number, unknown ones after them in their order. Expanded Anys are left
 * out: ask cst__message_find_expanded_any before. */
void cst__message_put_wire(const cst__message *message, cst__wire_out *out);

/* As text, in the form that protobuf prints, with unknown fields by number:
 *   5: 1 (varint)   5: 0x00000001 (fixed32)   5: 0x0000000000000001 (fixed64)
 *   5: "bytes"  or, if the bytes parse as fields,  5 { ... }      5 < ... > (a group) */
void cst__message_put_text(const cst__message *message, cst__text *out);

/* Literals of the text format. Floats are as short as can be read back without loss. */
void cst__text_put_double(cst__text *out, double value);
void cst__text_put_float(cst__text *out, float value);
/* With quotes. is_utf8: characters outside of ASCII stay as they are. */
void cst__text_put_quoted(cst__text *out, cst_bytes bytes, bool is_utf8);

#endif /* PROTO_MESSAGE_H */
