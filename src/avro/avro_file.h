/* Object container files of Avro: a header with the schema, then blocks of values, each of them
 * compressed by itself and followed by the file's sync marker.
 *
 * Source: Apache Avro 1.12 Specification, "Object Container Files".
 */
#ifndef AVRO_AVRO_FILE_H
#define AVRO_AVRO_FILE_H

#include "arrow/batch.h"
#include "io/input.h"

typedef struct cst__avro_file cst__avro_file;

/* A block as it is read, valid until the next one. CST__AVRO_SLACK bytes after `values` may be
 * read. */
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

/* The text of the schema; borrowed. */
cst_bytes cst__avro_file_schema(const cst__avro_file *file);

/* The next block; *ended at the end. A failure is CST_CORRUPT or CST_LIMIT with the offset of the
 * block, and reading goes on after it: behind its marker, if it has the right one in the right
 * place, else behind the next one in the stream. */
cst_status cst__avro_file_next(cst__avro_file *file, cst__avro_block *out, bool *ended,
                               cst_error *error);

/* Goes behind the block that failed; *passed: bytes from its begin on. */
cst_status cst__avro_file_recover(cst__avro_file *file, uint64_t *passed, cst_error *error);

#endif /* AVRO_AVRO_FILE_H */
