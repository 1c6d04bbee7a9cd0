/* The options of messages in one table: by it they are set, copied, checked, settled, compared and
 * saved.
 */
#ifndef MESSAGE_MESSAGE_OPTIONS_H
#define MESSAGE_MESSAGE_OPTIONS_H

#include <columnstone/message.h>

#include "base/options.h"

/* ---- the table ---- */

enum { CST__MOST_RECURSION = 100 };

typedef struct cst__message_option {
  cst__option own;
  int32_t saved_number; /* of its field in a saved view (docs/views.md); all flags share one */
  bool in_queries;      /* queries see the difference; for them the others are settled to usual */
} cst__message_option;

/* Number i of the options, all but `descriptors` and `message`; NULL: there are no more. */
const cst__message_option *cst__message_option_at(size_t i);

/* ---- what is done by it ---- */

/* That there are options with descriptors; `what` is to be done by them: "read", "written". */
cst_status cst__message_options_need(const cst_message_options *options, const char *what,
                                     cst_error *error);
/* Checks options, and fills in those that the caller left to us. Settled ones stay as they are. The
 * names stay the caller's. */
cst_status cst__message_options_settle(cst_message_options *options, cst_error *error);
/* Settled options as queries see them: what makes no difference to a query is the usual again. */
void cst__message_options_settle_for_query(cst_message_options *options);
/* The settled options of a caller who sets none, without descriptors. */
cst_message_options cst__message_options_usual(void);

/* A complete copy in the arena, which counts the descriptors; NULL of NULL. *out is NULL after a
 * failure. */
cst_status cst__message_options_copy(const cst_message_options *from, cst__arena *arena,
                                     const cst_message_options **out, cst_error *error);
/* Gives up the count, before the arena goes. NULL is allowed. */
void cst__message_options_release(const cst_message_options *options);

#endif /* MESSAGE_MESSAGE_OPTIONS_H */
