/* Message options by name: how queries, and whoever else writes them down, say them.
 */
#ifndef MESSAGE_MESSAGE_KEYS_H
#define MESSAGE_MESSAGE_KEYS_H

#include <columnstone/message.h>

/* Sets the option of a name ("enums", "time_zone", "recursion") to a value ("number", "true", "3");
 * a text is borrowed. CST_NOT_FOUND, with near names, for a name that no option has;
 * CST_INVALID_ARGUMENT for a value that it does not take. Recursion 0 is none. */
cst_status cst__message_options_set(cst_message_options *options, const char *name,
                                    const char *value, cst_error *error);

#endif /* MESSAGE_MESSAGE_KEYS_H */
