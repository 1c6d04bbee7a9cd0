/* What a query reads: which `from` says, and what binds it to types.
 */
#ifndef QUERY_VIEW_VIEW_INPUT_H
#define QUERY_VIEW_VIEW_INPUT_H

#include <columnstone/query.h>

#include "query/plan/source_tree.h"
#include "query/text/ast.h"
#include "schema/schema.h"

/* What `from` says. */
typedef enum cst__query_from {
  CST__FROM_MESSAGE,
  CST__FROM_EXAMPLE,
  CST__FROM_SEQUENCE_EXAMPLE,
  CST__FROM_TABLE
} cst__query_from;

/* "message", "example", "sequence_example", "table". */
const char *cst__query_from_name(cst__query_from from);

typedef struct cst__query_view_input {
  cst__query_from from;
  const cst_message_options *message; /* MESSAGE: settled, as queries see them, with the full name
                                         of the message, and descriptors that are counted; else NULL
                                       */
  cst_schema *schema;                 /* of examples; NULL: `type` says it */
  struct ArrowSchema type; /* what the query is bound to (a struct), of examples after they were
                              made flat; released for messages */
} cst__query_view_input;

/* Finds out what a query reads: from its first statement, or if it has none that says so, from what
 * the options have. Copies and counts what it keeps, into the arena. Released on failure. */
cst_status cst__query_view_input_init(cst__query_view_input *input, const cst_query *query,
                                      const cst_view_options *options, cst__arena *arena,
                                      cst_error *error);
void cst__query_view_input_reset(cst__query_view_input *input);

/* Makes a `from` (an empty statement, if the query has none) say what was found out of messages:
 * the same of the same, whether the query or the options said it. Memory is the input's and the
 * arena's.
 */
cst_status cst__query_view_input_say(const cst__query_view_input *input, cst__arena *arena,
                                     cst__statement *from, cst_error *error);

/* What the query may name; the input outlives it. */
cst_status cst__query_view_input_tree(const cst__query_view_input *input, cst__source_tree *out,
                                      cst_error *error);

#endif /* QUERY_VIEW_VIEW_INPUT_H */
