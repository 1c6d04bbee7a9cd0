/* What a query may name: the fields of its input, looked up step by step, because those of messages
 * are endless (recursion, extensions, casts of Any).
 *
 * Two kinds of input have such a tree: the type of Arrow batches, and message descriptors.
 */
#ifndef QUERY_PLAN_SOURCE_TREE_H
#define QUERY_PLAN_SOURCE_TREE_H

#include <columnstone/arrow_abi.h>
#include <columnstone/message.h>

#include "arrow/field.h"
#include "base/alloc.h"

/* A field. Lists of lists are several levels of one field, all but the innermost without a name. */
typedef struct cst__source_field {
  const char *name;           /* NUL-terminated, as the path of the input has it */
  size_t num_lists;           /* levels of lists above the elements */
  bool is_nullable;           /* elements may be null */
  const bool *nullable_lists; /* [num_lists]: those of each level may be null, outermost first */
  bool is_struct;             /* elements are structs: fields lie below */
  bool is_map;                /* elements are the entries of a map: structs of a key and a value */
  const char *format; /* Arrow format of elements that are no structs; enums as the options say;
                         dictionary-encoded values: that of the values */
  const void *below;  /* names the fields below to the tree; NULL: nothing lies below */
} cst__source_field;

typedef struct cst__source_tree cst__source_tree;

/* Looking up: memory that lives as long as what is found, and names that were read already. */
typedef struct cst__source_lookup {
  const cst__source_tree *tree;
  cst__arena *arena;
  cst_error *error;
  cst__field_names names; /* zeroed at first; cst__field_names_reset */
} cst__source_lookup;

struct cst__source_tree {
  const void *top; /* the record: what lies below it */
  /* The field of a name, and number i of the declared fields, in their order. out->name is NULL if
   * there is none. */
  cst_status (*find)(cst__source_lookup *lookup, const void *below, const char *name,
                     cst__source_field *out);
  cst_status (*nth)(cst__source_lookup *lookup, const void *below, size_t i,
                    cst__source_field *out);
  const void *ctx;
  cst_message_options message; /* of messages */
};

/* The tree of a struct type, which has to outlive it. */
cst__source_tree cst__source_tree_of_arrow(const struct ArrowSchema *type);
/* The tree of a message; options->descriptors outlive it. CST_NOT_FOUND for a message that there is
 * not. Names of fields as the columns of cst_decoder_new for messages have them. */
cst_status cst__source_tree_of_message(const cst_message_options *options, cst__source_tree *out,
                                       cst_error *error);

#endif /* QUERY_PLAN_SOURCE_TREE_H */
