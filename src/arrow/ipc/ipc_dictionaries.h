/* The dictionaries of one IPC stream, with their current values; for the IPC reader alone. */
#ifndef ARROW_IPC_IPC_DICTIONARIES_H
#define ARROW_IPC_IPC_DICTIONARIES_H

#include "arrow/concat.h"
#include "arrow/ipc/ipc_columns.h"
#include "arrow/ipc/ipc_schema.h"
#include "base/hash.h"

/* One dictionary. Its values are kept plain, as the one column of a struct. */
typedef struct cst__ipc_dictionary {
  int64_t id;
  struct ArrowSchema encoded; /* a struct of the type of the values as messages have it */
  struct ArrowSchema plain;   /* without dictionaries */
  cst__ipc_type type;         /* of `encoded` */
  cst__shared *values;        /* NULL: none came yet */
  cst__view view;             /* of the values */
  cst__arena arena;           /* of the view */
} cst__ipc_dictionary;

/* A dictionary-encoded field, and which dictionary it has. */
typedef struct cst__ipc_encoded_field {
  const struct ArrowSchema *field;
  size_t dictionary;
} cst__ipc_encoded_field;

typedef struct cst__ipc_dictionaries {
  cst_allocator allocator;
  cst__ipc_dictionary *items;
  size_t count;
  size_t capacity;
  cst__name_map by_id;
  cst__ipc_encoded_field *fields;
  size_t num_fields;
  size_t field_capacity;
  size_t last_field; /* found the last time */
  bool was_missing;  /* one without values has been asked for */
} cst__ipc_dictionaries;

/* Borrows the schema and the identifiers. */
cst_status cst__ipc_dictionaries_init(cst__ipc_dictionaries *dictionaries,
                                      const struct ArrowSchema *encoded,
                                      const cst__dictionary_ids *ids,
                                      const cst_allocator *allocator, cst_error *error);
void cst__ipc_dictionaries_reset(cst__ipc_dictionaries *dictionaries);

/* Gives a field's array its dictionary: a cst__ipc_find_dictionary. Before the first batch of
 * values it is empty. */
cst_status cst__ipc_dictionaries_find(void *dictionaries, const struct ArrowSchema *field,
                                      struct ArrowArray *out, cst_error *error);

/* Takes the values of a DictionaryBatch: instead of those of before, or (a delta) after them.
 * `columns` gives all but the schemas and the message. */
cst_status cst__ipc_dictionaries_read(cst__ipc_dictionaries *dictionaries, cst__flat_table message,
                                      cst__ipc_columns columns, cst_error *error);

#endif /* ARROW_IPC_IPC_DICTIONARIES_H */
