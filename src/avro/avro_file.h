/* Object container files of Avro: a header with the schema, then blocks of values, each of them
 * compressed by itself and followed by the file's sync marker.
 *
 * Source: Apache Avro 1.12 Specification, "Object Container Files".
 */
#ifndef AVRO_AVRO_FILE_H
#define AVRO_AVRO_FILE_H

#include "avro/avro_codec.h"
#include "io/input.h"

typedef struct cst__avro_file cst__avro_file;

/* A block as it lies in the file, valid until the next one. CST__AVRO_SLACK bytes after `values`
 * may be read. */
typedef struct cst__avro_block {
  cst_bytes values;
  int64_t count;   /* of values, as the block says: not negative */
  uint64_t offset; /* of the block in the stream, */
  uint64_t at;     /* and of the first value, if the values are not compressed; else `offset` */
  uint64_t size;   /* of all of it, with its head and the marker */
  bool is_compressed;
} cst__avro_block;

typedef struct cst__avro_limits {
  uint64_t max_block_size; /* bytes; 0: 256 MiB */
  uint64_t max_inflation;  /* beyond 64 MiB; 0: 200-fold */
} cst__avro_limits;

bool cst__avro_sniff(const uint8_t *head, size_t size);

/* Reads the header. The input is borrowed. CST_CORRUPT for what is none, CST_UNSUPPORTED for a
 * codec that is not known. */
cst_status cst__avro_file_open(cst__input *input, const cst__avro_limits *limits,
                               const cst_allocator *allocator, cst__avro_file **out,
                               cst_error *error);
void cst__avro_file_close(cst__avro_file *file); /* NULL is allowed */

/* How its blocks are compressed. */
const cst__avro_codec *cst__avro_file_codec(const cst__avro_file *file);

/* The text of the schema; borrowed. */
cst_bytes cst__avro_file_schema(const cst__avro_file *file);

/* The next block; *ended at the end. A failure is CST_CORRUPT or CST_LIMIT with the offset of the
 * block, and reading goes on behind the next marker in the stream. */
cst_status cst__avro_file_next(cst__avro_file *file, cst__avro_block *out, bool *ended,
                               cst_error *error);

/* Only the blocks that begin in [begin, end), both of which cst__avro_file_find has found (begin 0:
 * the first block; end UINT64_MAX: to the end). For a file that was just opened. A sound block that
 * goes on beyond `end` is CST_CORRUPT, and cst__avro_file_is_misplaced: `end` was none. */
cst_status cst__avro_file_limit(cst__avro_file *file, uint64_t begin, uint64_t end,
                                cst_error *error);
bool cst__avro_file_is_misplaced(const cst__avro_file *file);

/* The first byte of [from, end) at which a block begins, or `end` (UINT64_MAX: of the file, which
 * is not known; CST_STATE if it ends before `from`). For a file that was just opened, which is of
 * no other use then.
 *
 * A marker that is followed by a block, which ends with a marker, and so on, up to the end, or for
 * CST__AVRO_CHAIN_BLOCKS and CST__AVRO_CHAIN_BYTES at least, is one of the file's own. Markers
 * among the values, such as those of a container file that is a value, end too early for that, as
 * long as they are fewer. */
cst_status cst__avro_file_find(cst__avro_file *file, uint64_t from, uint64_t end, uint64_t *out,
                               cst_error *error);
enum { CST__AVRO_CHAIN_BLOCKS = 5, CST__AVRO_CHAIN_BYTES = 8 << 20 };

/* Goes behind the block that failed; *passed: bytes from its begin on. */
cst_status cst__avro_file_recover(cst__avro_file *file, uint64_t *passed, cst_error *error);

#endif /* AVRO_AVRO_FILE_H */
