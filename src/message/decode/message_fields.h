/* The fields of a message as columns, one at a time: by the names that paths give them, and what
 * each becomes. The plan of a decoder is made of this, and so is whatever looks at a message type
 * without decoding (queries).
 */
#ifndef MESSAGE_DECODE_MESSAGE_FIELDS_H
#define MESSAGE_DECODE_MESSAGE_FIELDS_H

#include <columnstone/message.h>

#include "base/alloc.h"
#include "proto/descriptor_set.h"

/* How a value of a field becomes a value of its column. */
typedef enum cst__message_value_kind {
  CST__KIND_VARINT64,
  CST__KIND_VARINT32,
  CST__KIND_ZIGZAG64,
  CST__KIND_ZIGZAG32,
  CST__KIND_BOOL,
  CST__KIND_ENUM, /* of any form */
  CST__KIND_FIXED64,
  CST__KIND_FIXED32,
  CST__KIND_STRING, /* has to be UTF-8 */
  CST__KIND_BYTES,
  CST__KIND_MESSAGE, /* or a group: a struct */
  CST__KIND_MAP,
  CST__KIND_ANY, /* a struct that may have casts */
  /* Messages that are one value: */
  CST__KIND_TIMESTAMP,
  CST__KIND_DURATION,
  CST__KIND_WRAPPER,
  CST__KIND_DATE,
  CST__KIND_TIME_OF_DAY,
  CST__KIND_JSON,
  CST__KIND_RAW /* messages as they are */
} cst__message_value_kind;

/* What a field becomes, if all of it is wanted or nothing below it is named. */
cst__message_value_kind cst__message_kind(const cst_message_options *options,
                                          const cst__field_def *def);

enum { CST__MESSAGE_FORMAT_SIZE = 80 };
/* The Arrow format of one value of the field, of kinds that are no structs and no maps; of an enum
 * as a dictionary, that of its names. It is static, or written into `room`. */
const char *cst__message_value_format(const cst_message_options *options, uint32_t column_flags,
                                      const cst__field_def *def, cst__message_value_kind kind,
                                      char room[CST__MESSAGE_FORMAT_SIZE]);

/* True if an absent field is null. What a map's entry holds never is. */
bool cst__message_has_null(const cst_message_options *options, const cst__field_def *def);

/* A field by the name that a path gives it, an extension in parentheses; NULL if there is none. */
const cst__field_def *cst__message_path_field(const cst__message_def *def, const char *name);
/* That name; NULL if out of memory. */
const char *cst__message_path_name(const cst__field_def *def, cst__arena *arena);
/* True for a name in parentheses: an extension, or what an Any is cast to. */
bool cst__message_is_cast(const char *name);
/* The message that a cast names: "(shop.Event)", or "(type.googleapis.com/shop.Event)". */
cst_status cst__message_cast(const cst_descriptors *descriptors, const char *name,
                             const cst__message_def **out, cst_error *error);
/* CST_UNSUPPORTED for a message whose fields cannot be read. */
cst_status cst__message_readable(const cst__message_def *def, cst_error *error);

#endif /* MESSAGE_DECODE_MESSAGE_FIELDS_H */
