/* Record batches as Arrow IPC: the stream format and the file format. The bytes go to a callback.
 *
 * Source: Apache Arrow "Serialization and interprocess communication (IPC)". Dictionaries cannot be
 * written; views are written as large_binary, large_string and lists.
 */
#ifndef ARROW_IPC_IPC_H
#define ARROW_IPC_IPC_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#include "base/alloc.h"

typedef struct cst__ipc_writer cst__ipc_writer;

typedef cst_status (*cst__ipc_write_bytes)(void *ctx, const void *data, size_t size,
                                           cst_error *error);

/* Writes the head with the schema, which is borrowed until free. is_file: the file format, with a
 * footer, else the stream format. */
cst_status cst__ipc_writer_new(const struct ArrowSchema *schema, bool is_file,
                               cst__ipc_write_bytes write, void *ctx,
                               const cst_allocator *allocator, cst__ipc_writer **out,
                               cst_error *error);
/* Validates the batch fully and writes it; slices are copied together first. */
cst_status cst__ipc_write_batch(cst__ipc_writer *writer, const struct ArrowArray *batch,
                                cst_error *error);
/* Writes the end (and the footer). */
cst_status cst__ipc_finish(cst__ipc_writer *writer, cst_error *error);
void cst__ipc_writer_free(cst__ipc_writer *writer);

#endif /* ARROW_IPC_IPC_H */
