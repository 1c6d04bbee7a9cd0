/* Which message type serialized records may be of: what each type explains of their bytes.
 *
 * Bytes do not say their type, and much parses as much else. So a type is credited only with what
 * its writers would write: fields that it has, of the right wire type, with numbers that fit the
 * field and names for enums; all else speaks against it. What stands in bytes fields is counted
 * apart, because anything fits there.
 */
#ifndef MESSAGE_GUESS_H
#define MESSAGE_GUESS_H

#include <columnstone/message.h>

#include "proto/descriptor.h"

/* Tries a type on the records. */
void cst__message_fit(const cst__message_def *type, const cst_bytes *records, size_t count,
                      cst_message_guess *out);

/* Less than 0: `a` explains the records better than `b`; 0: they cannot be told apart. */
int cst__message_fit_compare(const cst_message_guess *a, const cst_message_guess *b);

#endif /* MESSAGE_GUESS_H */
