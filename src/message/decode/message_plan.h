/* What a message type and the options make of it: a tree of columns, and for each message on the
 * way a node that says which of its fields are wanted and how their values become columns.
 *
 * Flow: message_plan.c walks the tree of wanted columns (arrow/records/wanted.h) and the
 * descriptors together and makes nodes; message_types.c gives each field its Arrow type. A decoder
 * (message_decoder.c) has builders for these types, and tables with the builders in them
 * (message_tables.c), which drive the loop (message_loop.h). What the loop does not know is brought
 * into its normal form by message_slow.c, so that what protobuf accepts is said once; a record in
 * JSON or in the text format becomes a tree, then bytes, then takes the same loop.
 */
#ifndef MESSAGE_DECODE_MESSAGE_PLAN_H
#define MESSAGE_DECODE_MESSAGE_PLAN_H

#include "arrow/records/wanted.h"
#include "base/thread.h"
#include "message/decode/decode.h"
#include "message/decode/message_fields.h"

/* ---- nodes ---- */

typedef struct cst__message_plan_node cst__message_plan_node;

typedef struct cst__message_plan_field {
  const cst__field_def *def; /* NULL: a cast of an Any */
  cst__message_value_kind kind;
  bool absent_is_null;           /* else zero, empty, or the default */
  cst__message_plan_node *child; /* MESSAGE, ANY, MAP (of its entries); casts */
} cst__message_plan_field;

/* A message on the way. */
struct cst__message_plan_node {
  const cst__message_def *def;
  const cst__message_plan_node *parent;
  cst__message_def pruned; /* the tables of the slow way: what is wanted, other members of oneofs */
  const cst__type *type;   /* the struct; its children are those of `fields`, and `unknown` */
  cst__message_plan_field *fields;
  size_t num_fields;
  bool has_unknown; /* the last child has the unknown fields */
};

struct cst__message_plan {
  cst__refcount owners;
  cst_allocator allocator;
  cst__arena arena;
  cst_message_options options; /* its strings are in the arena, its descriptors counted */
  uint32_t column_flags;
  bool nullable_columns;
  cst__type type;
  cst__message_plan_node *root;
  size_t num_columns; /* of all levels */
};

/* ---- types (message_types.c) ---- */

/* Sets the type of one value of the field, of kinds that are no structs and no maps. */
cst_status cst__message_value_type(cst__message_plan *plan, const cst__field_def *def,
                                   cst__message_value_kind kind, cst__type *type, cst_error *error);
/* Makes a type a list of a new type, or a map of two, which are named and not nullable unless the
 * options say so. */
cst_status cst__message_list_type(cst__message_plan *plan, cst__type *type, cst__type **item,
                                  cst_error *error);
cst_status cst__message_map_type(cst__message_plan *plan, cst__type *type, cst__type **entries,
                                 cst_error *error);

#endif /* MESSAGE_DECODE_MESSAGE_PLAN_H */
