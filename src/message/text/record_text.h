/* Records in protobuf's text format or JSON, to and from the wire format. */
#ifndef MESSAGE_RECORD_TEXT_H
#define MESSAGE_RECORD_TEXT_H

#include "message/text/json_read.h"
#include "message/text/json_wire.h"

/* Memory that is used again from record to record. */
typedef struct cst__record_text {
  cst_message_form form; /* TEXT or JSON */
  bool keeps_unknown;    /* the text format is written with unknown fields, by number */
  const cst__message_def *def;
  const cst__message_def *wanted;     /* of its fields, for the reader: `def` itself for all */
  const cst_descriptors *descriptors; /* borrowed, as def; NULL: of no type that an Any holds */
  cst__json_reader json;
  cst__json_wire *direct; /* for JSON, made with the first record */
  cst__arena arena;
  cst__wire_out wire;
  cst__text text;
} cst__record_text;

static inline bool cst__form_is_text(cst_message_form form) {
  return form == CST_MESSAGE_TEXT || form == CST_MESSAGE_JSON;
}

/* The options are borrowed for the call, but for their descriptors. */
void cst__record_text_init(cst__record_text *record, const cst_message_options *options,
                           const cst__message_def *def, const cst_allocator *allocator);
void cst__record_text_reset(cst__record_text *record);

/* The wire format of a record's text, with `slack` zero bytes after it; *wire is valid until the
 * next call. CST_CORRUPT with the path, and the place in words. */
cst_status cst__record_text_read(cst__record_text *record, cst_bytes text, size_t slack,
                                 cst_bytes *wire, cst_error *error);

/* The text of a message in the wire format, on one line; *text is valid until the next call.
 * Unknown fields are left out, unless the options name a column for them.
 * CST_UNSUPPORTED, with the path, for a value that JSON cannot say. */
cst_status cst__record_text_write(cst__record_text *record, cst_bytes wire, cst_bytes *text,
                                  cst_error *error);

#endif /* MESSAGE_RECORD_TEXT_H */
