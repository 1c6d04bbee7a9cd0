/* The options of messages in one table: by it they are set, copied, checked, settled, compared and
 * saved.
 */
#ifndef MESSAGE_MESSAGE_OPTIONS_H
#define MESSAGE_MESSAGE_OPTIONS_H

#include <columnstone/message.h>

#include "base/alloc.h"

/* ---- the table ---- */

typedef enum cst__option_kind {
  CST__OPTION_WORD,  /* an enum, whose values are the words in their order */
  CST__OPTION_FLAG,  /* a bit of `flags`: false, true */
  CST__OPTION_TEXT,  /* a C string */
  CST__OPTION_NUMBER /* int32_t; -1: none, 0: the usual one */
} cst__option_kind;

enum { CST__OPTION_WORDS = 5, CST__MOST_RECURSION = 100 };

typedef struct cst__message_option {
  const char *name;
  cst__option_kind kind;
  uint32_t flag; /* FLAG: its bit */
  size_t offset;
  const char *words[CST__OPTION_WORDS];
  const char *usual;    /* TEXT, NUMBER: the value that it has by default; NULL: none */
  int32_t saved_number; /* of its field in a saved view (docs/views.md); all flags share one */
  bool in_queries;      /* queries see the difference; for them the others are settled to usual */
} cst__message_option;

/* Number i of the options, all but `descriptors` and `message`; NULL: there are no more. */
const cst__message_option *cst__message_option_at(size_t i);

/* The value of an option as a text, as cst_message_options_set takes it: static, the option's own,
 * or written into `room`; NULL for a text that is none. */
const char *cst__message_option_text(const cst__message_option *option,
                                     const cst_message_options *options,
                                     char room[CST_MESSAGE_OPTION_ROOM]);
/* The value of one that is no text as a number; that of a flag is 0 or its bit. */
int64_t cst__message_option_number(const cst__message_option *option,
                                   const cst_message_options *options);
/* Sets such a number, of a flag if its bit is there. False: out of its range. */
bool cst__message_option_set_number(const cst__message_option *option, int64_t number,
                                    cst_message_options *options);
/* Where one that is a text lies. */
const char **cst__message_option_string(const cst__message_option *option,
                                        cst_message_options *options);
/* True if two settled ones have the same value of it. */
bool cst__message_option_equal(const cst__message_option *option, const cst_message_options *a,
                               const cst_message_options *b);

/* ---- what is done by it ---- */

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
