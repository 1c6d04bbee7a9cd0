/* Message options that are kept, by sources and sinks: copies of all that they point to.
 */
#ifndef MESSAGE_MESSAGE_OPTIONS_H
#define MESSAGE_MESSAGE_OPTIONS_H

#include <columnstone/message.h>

#include "base/alloc.h"

/* A complete copy in the arena, which counts the descriptors; NULL of NULL. *out is NULL after a
 * failure. */
cst_status cst__message_options_copy(const cst_message_options *from, cst__arena *arena,
                                     const cst_message_options **out, cst_error *error);
/* Gives up the count, before the arena goes. NULL is allowed. */
void cst__message_options_release(const cst_message_options *options);

#endif /* MESSAGE_MESSAGE_OPTIONS_H */
