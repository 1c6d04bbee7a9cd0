/* Protobuf's JSON to message trees, by the descriptors of a set.
 *
 * What is taken and refused is what protobuf's json_format takes and refuses: names of fields in
 * lowerCamel or as declared, extensions as "[full.name]", enums by name or number, 64-bit integers
 * and all numbers as strings too, bytes in both alphabets of base64, null for an absent field, the
 * special forms of the well-known types. Not taken, though Python's reader does: numbers in strings
 * that are not numbers of JSON (" 1", "1_000", "infinity"), base64 with other characters in
 * between, timestamps without leading zeros or with an offset of a day and more, and a field under
 * both of its names.
 */
#ifndef MESSAGE_JSON_READ_H
#define MESSAGE_JSON_READ_H

#include <columnstone/message.h>

#include "base/hash.h"
#include "message/text/json_doc.h"
#include "message/text/well_known.h"
#include "proto/message.h"

/* Memory and look-up tables that are used again from record to record. */
typedef struct cst__json_reader {
  cst__json_doc json;
  cst__name_map names;                /* of fields and enum values, of the types met so far */
  const cst_descriptors *descriptors; /* borrowed; of what an Any holds */
  bool ignores_unknown;               /* CST_MESSAGE_IGNORE_UNKNOWN */
} cst__json_reader;

/* The options are borrowed for the call, but for their descriptors. */
void cst__json_reader_init(cst__json_reader *reader, const cst_message_options *options,
                           const cst_allocator *allocator);
void cst__json_reader_reset(cst__json_reader *reader);

/* Adds what a text says to a message that is empty. The tree borrows strings from the reader until
 * its next text. CST_CORRUPT with the offset in the text and the path of the field. */
cst_status cst__message_read_json(cst__json_reader *reader, cst__arena *arena,
                                  cst__message *message, cst_bytes text, cst_error *error);

/* ---- parts: json_read.c (messages), json_scalars.c, json_known.c (well-known types) ---- */

/* One text. */
typedef struct cst__json_reading {
  cst__json_reader *reader;
  cst__arena *arena;
  yyjson_val *place; /* the innermost key, where errors are */
  bool is_unknown;   /* the last value of an enum is a name that this does not have, and ignored */
  cst_error *error;
} cst__json_reading;

/* CST_CORRUPT at the place. */
cst_status cst__json_reading_fail(const cst__json_reading *r, const char *hint, const char *fmt,
                                  ...) CST__PRINTF(3, 4);
/* CST_NO_MEMORY. */
cst_status cst__json_reading_no_memory(const cst__json_reading *r);

/* A value as a message, which is empty; `depth`: how many levels may open, its own among them. */
cst_status cst__json_read_message(cst__json_reading *r, yyjson_val *value, cst__message *message,
                                  int depth);
/* The fields of an object, but `skipped` ("@type"; NULL: none). */
cst_status cst__json_read_fields(cst__json_reading *r, yyjson_val *object, cst__message *message,
                                 const char *skipped, int depth);
/* The same for a message of a special form. */
cst_status cst__json_read_known(cst__json_reading *r, cst__well_known known, yyjson_val *value,
                                cst__message *message, int depth);

/* A value as one of a field that is no message. */
cst_status cst__json_read_scalar(cst__json_reading *r, const cst__field_def *def, yyjson_val *value,
                                 cst__value *out);
/* The same for the key of a map, which is a string. */
cst_status cst__json_read_map_key(cst__json_reading *r, const cst__field_def *def, yyjson_val *key,
                                  cst__value *out);

#endif /* MESSAGE_JSON_READ_H */
