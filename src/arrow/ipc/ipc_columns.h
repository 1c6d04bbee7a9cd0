/* The columns of one record batch message; for the IPC reader alone. */
#ifndef ARROW_IPC_IPC_COLUMNS_H
#define ARROW_IPC_IPC_COLUMNS_H

#include "arrow/ipc/flatbuf.h"
#include "arrow/ipc/growth.h"
#include "arrow/ipc/ipc_codec.h"
#include "arrow/owned.h"
#include "arrow/view.h"

/* The bytes after a message, counted by the arrays that point into them. */
typedef struct cst__ipc_body {
  cst_allocator allocator;
  cst__refcount owners;
  cst__buffer bytes;
  size_t size;
} cst__ipc_body;

cst__ipc_body *cst__ipc_body_new(const cst_allocator *allocator);
void cst__ipc_body_release(cst__ipc_body *body);

/* A schema as messages have it: dictionary-encoded fields are their indices. */
typedef struct cst__ipc_type {
  struct ArrowSchema schema;
  cst__view view; /* of it */
  cst__arena arena;
} cst__ipc_type;

cst_status cst__ipc_type_init(cst__ipc_type *type, const struct ArrowSchema *encoded,
                              const cst_allocator *allocator, cst_error *error);
void cst__ipc_type_reset(cst__ipc_type *type);

/* Gives the array of a dictionary-encoded field its dictionary. */
typedef cst_status (*cst__ipc_find_dictionary)(void *ctx, const struct ArrowSchema *field,
                                               struct ArrowArray *dictionary, cst_error *error);

typedef struct cst__ipc_columns {
  cst_allocator allocator;
  const struct ArrowSchema *encoded; /* a struct */
  const cst__ipc_type *type;         /* of it */
  const bool *wanted;                /* of each column; NULL: all. Others are released arrays */
  bool is_v4;                        /* of the metadata */
  cst__flat_table message;           /* a RecordBatch */
  uint64_t max_inflation;            /* 0: 200 */
  cst__ipc_body *body;
  cst__ipc_inflater *inflater;
  cst__ipc_find_dictionary find_dictionary;
  void *ctx;
} cst__ipc_columns;

/* Makes the arrays of a message: every buffer lies within the body and is as long as its array
 * needs it; all else (offsets, nulls, indices, UTF-8) is for cst__view_init to validate.
 * CST_CORRUPT; CST_LIMIT for what is compressed more than max_inflation times; CST_UNSUPPORTED for
 * wanted columns of types that cst__view does not know; with the column's path. */
cst_status cst__ipc_columns_read(const cst__ipc_columns *columns, struct ArrowArray *out,
                                 cst_error *error);

#endif /* ARROW_IPC_IPC_COLUMNS_H */
