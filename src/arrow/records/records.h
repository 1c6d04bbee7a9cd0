/* Serialized records on their way into a decoder.
 */
#ifndef ARROW_RECORDS_RECORDS_H
#define ARROW_RECORDS_RECORDS_H

#include <columnstone/records.h>

#include "arrow/batch.h"

/* A block of input that zero-copy views may point into. */
typedef struct cst__block_ref {
  const uint8_t *data;
  size_t size; /* below 2 GiB */
  void *owner; /* retained once per batch that refers to the block */
  void (*retain)(void *owner);
  void (*release)(void *owner);
} cst__block_ref;

typedef struct cst__records {
  const cst_bytes *items;
  size_t count;
  size_t padding; /* bytes after every record that may be read (their values do not matter) */
  /* Only for CST_COLUMNS_BINARY_VIEWS: every record lies in one of the blocks, in their order. */
  const cst__block_ref *blocks;
  size_t num_blocks;
  /* Only for messages: a bit for each record, 0 where there is none, and its row has no values.
   * NULL: all are there. */
  const uint8_t *validity;
  /* Where each record begins in its stream: only for a plan that has a column of that. */
  const int64_t *offsets;
} cst__records;

/* True if so many bytes after the record may be read: padding, or the next record. */
static inline bool cst__records_have_slack(const cst__records *records, size_t i, size_t slack) {
  const cst_bytes *record = &records->items[i];
  return records->padding >= slack ||
         (i + 1 < records->count && record[1].data == record->data + record->size &&
          record[1].size >= slack);
}

/* The flags that decoders know, of which those of nested messages know the first two. */
enum {
  CST__RECORD_COLUMN_FLAGS = CST_COLUMNS_OFFSETS_32 | CST_COLUMNS_BINARY_VIEWS,
  CST__ALL_COLUMN_FLAGS = CST__RECORD_COLUMN_FLAGS | CST_COLUMNS_FIXED_SIZE | CST_COLUMNS_NESTED
};

/* What a decoder is called with. */
cst_status cst__records_check(const void *decoder, const cst_bytes *records, size_t count,
                              cst_error *error);

/* The batch keeps all blocks of the records alive, for its views. */
cst_status cst__records_keep(const cst__records *records, cst__batch *batch, cst_error *error);

/* Records copied one after the other into one block, for views of records that do not stay. */
typedef struct cst__copied {
  cst__records records;
  cst__block_ref block;
  cst_bytes *items;
} cst__copied;

/* CST_LIMIT if they are too large for one block. */
cst_status cst__records_copy(const cst_allocator *allocator, const cst__records *records,
                             cst__copied *out, cst_error *error);
/* Gives up the caller's count of the block. */
void cst__copied_release(cst__copied *copied);

#endif /* ARROW_RECORDS_RECORDS_H */
