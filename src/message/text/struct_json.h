/* google.protobuf.Struct, Value and ListValue as JSON text, and back.
 *
 * The text is compact, with the keys of every object in the order of their bytes, each once (the
 * last entry of the wire counts). Numbers have the fewest digits that read back, in JavaScript's
 * form: 1, 0.5, 1e+21 (and -0.0); strings escape what JSON wants escaped and nothing else. A Value
 * without a kind is null.
 */
#ifndef MESSAGE_STRUCT_JSON_H
#define MESSAGE_STRUCT_JSON_H

#include "message/text/json_doc.h"
#include "proto/descriptor.h"
#include "proto/wire.h"

typedef enum cst__struct_kind {
  CST__STRUCT_OBJECT = 0, /* google.protobuf.Struct */
  CST__STRUCT_VALUE = 1,
  CST__STRUCT_LIST = 2 /* google.protobuf.ListValue */
} cst__struct_kind;

/* True for one of the three; *kind is which. */
bool cst__struct_kind_of(const cst__message_def *def, cst__struct_kind *kind);

/* Memory that is used again from value to value. */
typedef struct cst__struct_json {
  cst_allocator allocator;
  cst__text text;
  struct cst__struct_entry *entries; /* of the objects that are being written, innermost last */
  size_t num_entries;
  size_t entries_capacity;
  cst__arena arena;  /* of values that are not in normal form */
  cst__wire_out out; /* their normal form, or what is written */
  cst__json_doc json;
} cst__struct_json;

void cst__struct_json_init(cst__struct_json *state, const cst_allocator *allocator);
void cst__struct_json_reset(cst__struct_json *state);

/* The JSON text of a message's bytes; *json is valid until the next call. `depth`: how many levels
 * may nest in it (CST__DEPTH_LIMIT less those that it stands in). CST_CORRUPT with the offset in
 * `wire` for bytes that are no such message, CST_SCHEMA for NaN and the infinities. */
cst_status cst__struct_to_json(cst__struct_json *state, cst__struct_kind kind, cst_bytes wire,
                               int depth, cst_bytes *json, cst_error *error);

/* The bytes of the message that a JSON text stands for, in protobuf's deterministic form; *wire is
 * valid until the next call. Numbers become the nearest double. CST_CORRUPT for a text that is not
 * JSON, or an object that has a key twice, CST_UNSUPPORTED for what the message cannot hold: both
 * with the offset in the text. */
cst_status cst__struct_from_json(cst__struct_json *state, cst__struct_kind kind, cst_bytes json,
                                 int depth, cst_bytes *wire, cst_error *error);

#endif /* MESSAGE_STRUCT_JSON_H */
