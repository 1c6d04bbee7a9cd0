/* How a source is read: the options of <columnstone/source.h> as a plain value. It is copied by
 * assignment and changed field by field; such a copy borrows what it points to, until
 * cst__reading_options_keep makes it an owner too.
 */
#ifndef SOURCE_INPUT_READING_OPTIONS_H
#define SOURCE_INPUT_READING_OPTIONS_H

#include <columnstone/format.h>
#include <columnstone/source.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "io/input.h"
#include "stage/caller.h"
#include "stage/record_ids.h"

/* A counted Arrow schema. */
typedef struct cst__types {
  cst__refcount owners;
  struct ArrowSchema schema;
} cst__types;

/* Moves the schema in, also on failure (NULL: no memory). */
cst__types *cst__types_new(struct ArrowSchema *schema, const cst_allocator *allocator);
void cst__types_release(cst__types *types); /* NULL is allowed */

typedef struct cst__option_names cst__option_names;

typedef struct cst__reading_options {
  cst_source_options values; /* complete: nothing is left to a default. Names are copies, the schema
                                and the view are counted; `types` and `allocator` are NULL, and so
                                are the names of format and container and the options of the format,
                                which the inputs have. With a
                                view, it has the outputs that are wanted alone, and `columns`,
                                `message`, `schema` and `flat` are what it needs */
  cst__types *types;         /* that are given; NULL: none. Counted */
  const char *const *message_paths; /* what is wanted of the messages of message_column; NULL: all.
                                       `values.columns` have the column alone. They are ends of the
                                       texts that a caller or a view gave: a decoder of messages
                                       takes texts, which cst__wanted_parse alone cuts */
  size_t num_message_paths;
  const cst_path *paths; /* what a view looks at of `values.columns`; NULL: all of them. They are
                            the leaves of its plan, whose nodes mean nothing to formats */
  size_t num_paths;
  cst__call *calls;         /* the last of the caller's stages; NULL: none. Counted */
  cst__record_ids *ids;     /* columns after those of all stages; NULL: none. Counted */
  cst__option_names *names; /* counted: the memory of all names and of the options of messages */
} cst__reading_options;

/* Checks the caller's options, which are complete, and makes a value of them that owns copies of
 * what they point to; on failure there is nothing to release. */
cst_status cst__reading_options_init(cst__reading_options *options, const cst_source_options *from,
                                     cst_error *error);

/* One owner more, and one less, of what a value points to. */
void cst__reading_options_keep(const cst__reading_options *options);
void cst__reading_options_release(cst__reading_options *options);

/* True if damaged records do not end the reading. */
static inline bool cst__reading_options_skip(const cst__reading_options *options) {
  return options->values.on_error != CST_ON_ERROR_RAISE;
}

/* True if a column of messages is read, and they are decoded in it. */
bool cst__reading_options_decode_column(const cst__reading_options *options);

/* True if stages make other columns of those that are decoded. */
static inline bool cst__reading_options_change_columns(const cst__reading_options *options) {
  return options->values.flat || options->calls != NULL || options->values.view != NULL ||
         cst__reading_options_decode_column(options);
}

/* True if what is delivered is made by a view, or by stages of the caller: it says by itself what
 * its columns are. */
static inline bool cst__reading_options_have_outputs(const cst__reading_options *options) {
  return options->calls != NULL || options->values.view != NULL;
}

/* True if batches go through stages. */
static inline bool cst__reading_options_staged(const cst__reading_options *options) {
  return cst__reading_options_change_columns(options) || options->ids != NULL;
}

/* True if stages of ours may make much more of a batch than it was. */
static inline bool cst__reading_options_makes_more(const cst__reading_options *options) {
  return options->values.view != NULL || cst__reading_options_decode_column(options);
}

/* The types of the columns that a table is wanted to have, by its options, or, where it is text, by
 * its view; NULL: it says them itself, or a schema does. Borrowed. */
const struct ArrowSchema *cst__reading_options_types(const cst__reading_options *options,
                                                     bool is_text);

/* True if every row of the source is a row of the input, in the same order. */
bool cst__reading_options_keep_rows(const cst__reading_options *options);

/* False if rows of the input may be missing in a pass: which, and how many, only a pass tells. */
static inline bool cst__reading_options_deliver_all(const cst__reading_options *options) {
  return !cst__reading_options_skip(options) && cst__reading_options_keep_rows(options);
}

#endif /* SOURCE_INPUT_READING_OPTIONS_H */
