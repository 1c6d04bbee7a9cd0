/* The schema message of Arrow IPC, and the numbers of its FlatBuffers tables; for the IPC reader
 * alone.
 *
 * Source: format/Schema.fbs and format/Message.fbs of Apache Arrow.
 */
#ifndef ARROW_IPC_IPC_SCHEMA_H
#define ARROW_IPC_IPC_SCHEMA_H

#include <columnstone/arrow_abi.h>

#include "arrow/ipc/flatbuf.h"
#include "base/alloc.h"

/* Fields of the tables that more than one file reads. */
enum { CST__MESSAGE_VERSION, CST__MESSAGE_TYPE, CST__MESSAGE_HEADER, CST__MESSAGE_BODY_LENGTH };
enum { CST__HEADER_SCHEMA = 1, CST__HEADER_DICTIONARY = 2, CST__HEADER_BATCH = 3 };
enum { CST__VERSION_V4 = 3, CST__VERSION_V5 = 4 };

/* The identifiers of the dictionary-encoded fields, in this order: a field's own, those within the
 * type of its values, those of its children. */
typedef struct cst__dictionary_ids {
  int64_t *items; /* cst__delete */
  size_t count;
  size_t capacity;
} cst__dictionary_ids;

/* Makes the struct schema of a Schema table. CST_CORRUPT, CST_UNSUPPORTED (big-endian, types that
 * Arrow's C interface has no name for), with the field's path. */
cst_status cst__ipc_schema(cst__flat_table schema, struct ArrowSchema *out,
                           cst__dictionary_ids *ids, cst_error *error);

#endif /* ARROW_IPC_IPC_SCHEMA_H */
