/* Arrow IPC in: the stream format and the file format, read from the first byte to the last.
 *
 * Nothing is trusted: every length is compared with the bytes that are there, memory is taken as
 * the bytes come, and every batch is validated fully. Dictionaries (with deltas and replacements)
 * are decoded, bodies may be compressed with lz4 or zstd. A file's footer repeats where the
 * messages lie; it is looked at only to see that the file is whole.
 *
 * Source: Apache Arrow "Serialization and interprocess communication (IPC)".
 */
#ifndef ARROW_IPC_IPC_READER_H
#define ARROW_IPC_IPC_READER_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#include "base/alloc.h"

typedef struct cst__ipc_reader cst__ipc_reader;

/* Fills `buffer`; *got is smaller than `size` only at the end. */
typedef cst_status (*cst__ipc_read_bytes)(void *ctx, void *buffer, size_t size, size_t *got,
                                          cst_error *error);

/* True if the bytes begin as a file or a stream does. */
bool cst__ipc_sniff(const uint8_t *head, size_t size);

/* Reads the head and the schema. Errors have the offset of the message. */
cst_status cst__ipc_reader_new(cst__ipc_read_bytes read, void *ctx, const cst_allocator *allocator,
                               cst__ipc_reader **out, cst_error *error);

/* What the bytes may become, and the bytes of one row: beyond it, CST_LIMIT. 0: 200-fold; any row.
 */
void cst__ipc_reader_limit(cst__ipc_reader *reader, uint64_t max_inflation,
                           uint64_t max_record_size);

/* The struct schema of the batches, without dictionaries; borrowed. */
const struct ArrowSchema *cst__ipc_reader_schema(const cst__ipc_reader *reader);

/* From now on only these columns, in this order; the others are not even decompressed. */
cst_status cst__ipc_reader_pick(cst__ipc_reader *reader, const int64_t *places, size_t count,
                                cst_error *error);

/* The next batch; out->release is NULL at the end. A stream may end with its mark or without one
 * (between two messages), a file has to have all of its end. Errors have the offset of the message
 * and the first row of the batch. */
cst_status cst__ipc_reader_next(cst__ipc_reader *reader, struct ArrowArray *out, cst_error *error);

/* In a file dictionaries may lie after the batches that need them (Polars writes so). True if this
 * is why cst__ipc_reader_next has just failed, with CST_UNSUPPORTED. Then one may collect the
 * dictionaries from the rest of the bytes, and restart with a second opening of the same file
 * (another ctx for read_bytes), which goes on with the batch that failed. */
bool cst__ipc_reader_lacks_dictionaries(const cst__ipc_reader *reader);
cst_status cst__ipc_reader_collect(cst__ipc_reader *reader, cst_error *error);
cst_status cst__ipc_reader_restart(cst__ipc_reader *reader, void *ctx, cst_error *error);

/* True at the end of a stream whose messages are not followed by the end marker: the format allows
 * it, and it cannot be told from a stream that was cut there. */
bool cst__ipc_reader_is_unmarked(const cst__ipc_reader *reader);

void cst__ipc_reader_free(cst__ipc_reader *reader);

#endif /* ARROW_IPC_IPC_READER_H */
