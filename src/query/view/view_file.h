/* The saved form of a view. docs/views.md has it byte by byte:
 *
 *   0   8   "CSTVIEW\n"
 *   8   4   the format's version, little endian
 *   12  4   size of the content, little endian
 *   16  n   the content: a protobuf message, columnstone.View
 *   +n  32  SHA-256 of all bytes before
 *
 * A reader steps over fields of the content that it does not know; what would change the meaning of
 * a view raises the version.
 */
#ifndef QUERY_VIEW_VIEW_FILE_H
#define QUERY_VIEW_VIEW_FILE_H

#include "base/sha256.h"
#include "proto/message.h"

enum {
  CST__VIEW_VERSION = 1,
  CST__VIEW_HEAD = 16,
  CST__VIEW_MAX_SIZE = 4 << 20 /* of the whole */
};

extern const cst__message_def *const cst__query_view_def; /* of view.proto */

/* The numbers of the fields. */
enum {
  CST__VIEW_PRODUCER = 1,
  CST__VIEW_QUERY = 2,
  CST__VIEW_FROM = 3,
  CST__VIEW_MESSAGE = 4,
  CST__VIEW_SCHEMA = 5,
  CST__VIEW_TYPE = 6,
  CST__VIEW_PARAMS = 7,
  CST__VIEW_IS_CHOSEN = 8,
  CST__VIEW_CHOSEN = 9,
  CST__VIEW_OUTPUTS = 10,
  CST__VIEW_PATHS = 11,

  CST__VIEW_MESSAGE_DESCRIPTORS = 1,
  CST__VIEW_MESSAGE_NAME = 2, /* the others: saved_number of message/message_options.h */

  CST__VIEW_TYPE_NAME = 1,
  CST__VIEW_TYPE_FORMAT = 2,
  CST__VIEW_TYPE_FLAGS = 3,
  CST__VIEW_TYPE_CHILDREN = 4,
  CST__VIEW_TYPE_DICTIONARY = 5,

  CST__VIEW_PARAM_NAME = 1,
  CST__VIEW_PARAM_VALUE = 2,

  CST__VIEW_OUTPUT_NAME = 1,
  CST__VIEW_OUTPUT_COLUMNS = 2,
  CST__VIEW_OUTPUT_KIND = 3,
  CST__VIEW_OUTPUT_DTYPE = 4,
  CST__VIEW_OUTPUT_SHAPE = 5,
  CST__VIEW_OUTPUT_ROW_SPLITS = 6,
  CST__VIEW_OUTPUT_PATHS = 7
};

/* The bytes of a view whose content is this tree. cst_free. CST_LIMIT if they are too many. */
cst_status cst__query_view_file_write(const cst__message *content, char **bytes, size_t *size,
                                      cst_error *error);

/* The content of a view's bytes, which it borrows, in the arena. Nothing in them is trusted:
 * CST_CORRUPT for damaged ones and for those that are no view, CST_UNSUPPORTED for later versions,
 * CST_LIMIT for too many. */
cst_status cst__query_view_file_read(cst_bytes bytes, cst__arena *arena, const cst__message **out,
                                     cst_error *error);

/* The digest that sound bytes end with, as hex. */
void cst__query_view_file_digest(cst_bytes bytes, char hex[CST__SHA256_HEX]);

#endif /* QUERY_VIEW_VIEW_FILE_H */
