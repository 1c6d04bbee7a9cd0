/* The stage `message_column`: the messages in a column become structs in its place.
 */
#ifndef STAGE_MESSAGE_COLUMN_H
#define STAGE_MESSAGE_COLUMN_H

#include <columnstone/message.h>

#include "arrow/stage.h"

/* The column has binary or text values, of which each is one message; null is a null struct. All
 * other columns stay, and all rows. */
typedef struct cst__message_column_settings {
  const char *column;
  const cst_message_options *message; /* with descriptors */
  const char *const *paths;           /* what is wanted of the messages; NULL: all */
  size_t num_paths;
  uint32_t column_flags; /* CST_COLUMNS_... */
  bool nulls; /* a message that does not decode is a null struct too, and told of, instead of a
                 failure */
} cst__message_column_settings;

/* Fails as binding will, if it does because of the message or the paths: CST_NOT_FOUND, ... */
cst_status cst__message_column_check(const cst__message_column_settings *settings,
                                     const cst_allocator *allocator, cst_error *error);

extern const cst__stage cst__message_column_stage; /* settings: cst__message_column_settings */

#endif /* STAGE_MESSAGE_COLUMN_H */
