/* Some rows of a batch as cells of text, for the writers of CSV and JSON lines: each column prints
 * its cells in one loop, into places of a fixed size that begin with what stands before each cell
 * (a delimiter, a key), and rows are then put together by copies.
 *
 * Cells of other sizes and types are written apart, one by one, where their row is put together.
 */
#ifndef FORMAT_SINK_TEXT_BLOCK_H
#define FORMAT_SINK_TEXT_BLOCK_H

#include "format/sink/text_column.h"
#include "text/stride.h"

enum {
  CST__SHORT_TEXT = 2 * CST__STRIDE, /* the largest text that is copied into a block */
  CST__CELL_APART = -1               /* instead of a size */
};

typedef struct cst__text_block {
  cst_allocator allocator;
  cst__text_column *columns;
  size_t num_columns;
  cst__text prefixes; /* what stands before the cells of a row, one after the other */
  const char *null;   /* four bytes */
  size_t null_size;
  char *cells;    /* row after row */
  int32_t *sizes; /* the same: of each cell with its prefix */
  size_t row_size;
  int64_t most_rows;
  int64_t first; /* the rows of the batch that are printed */
  int64_t rows;
} cst__text_block;

/* The columns, which are still without prefixes. `null`: four bytes, of which the size counts. */
cst_status cst__text_block_init(cst__text_block *block, size_t num_columns, const char *null,
                                size_t null_size, const cst_allocator *allocator, cst_error *error);
/* The prefix of a column is what was appended since that of the column before. */
void cst__text_block_end_prefix(cst__text_block *block, size_t column);
/* After the last prefix. */
cst_status cst__text_block_lay_out(cst__text_block *block, cst_error *error);
void cst__text_block_reset(cst__text_block *block);

/* Prints the cells of a column that has no texts. */
void cst__text_block_print_column(const cst__text_block *block, size_t index);

/* Prints the rows of the batch from `first` on, of which there are `rows`, or as many as fit;
 * columns of texts by a function of the sink, as its format writes them. */
static inline void cst__text_block_print(cst__text_block *block, int64_t first, int64_t rows,
                                         void (*print_texts)(void *sink, size_t index),
                                         void *sink) {
  block->first = first;
  block->rows = rows < block->most_rows ? rows : block->most_rows;
  for (size_t i = 0; i < block->num_columns; i++) {
    if (block->columns[i].kind == CST__CELL_TEXT) {
      print_texts(sink, i);
    } else {
      cst__text_block_print_column(block, i);
    }
  }
}

/* The place of the first cell of a column, and that of its size; the next ones are row_size and
 * num_columns further on. */
static inline char *cst__first_cell(const cst__text_block *block, size_t index) {
  return block->cells + block->columns[index].place;
}

static inline int32_t *cst__first_size(const cst__text_block *block, size_t index) {
  return block->sizes + index;
}

static inline int32_t cst__put_null_cell(const cst__text_block *block, char *to,
                                         size_t prefix_size) {
  memcpy(to, block->null, 4);
  return (int32_t)(prefix_size + block->null_size);
}

/* The bytes of all texts of a column in the block, if these are short ones and can be looked
 * through at once: a stride or more. Else none. */
static inline cst_bytes cst__short_texts(const cst__text_block *block,
                                         const cst__text_column *column) {
  const uint8_t *begin = cst__cell_text(column, block->first).data;
  const cst_bytes last = cst__cell_text(column, block->first + block->rows - 1);
  const size_t size = (size_t)(last.data + last.size - begin);
  const bool are_short = size >= CST__STRIDE && size <= (size_t)block->rows * CST__SHORT_TEXT;
  return (cst_bytes){begin, are_short ? size : 0};
}

/* Copies a short text that needs no look, and what follows it; false: nothing may follow. */
static inline bool cst__copy_short(char *to, cst_bytes text, size_t readable) {
  if (readable < CST__SHORT_TEXT) {
    return false;
  }
  (void)cst__stride_copy(to, text.data);
  (void)cst__stride_copy(to + CST__STRIDE, text.data + CST__STRIDE);
  return true;
}

/* Copies a cell, and what the widest cell of the column has more, in whole strides. */
static inline void cst__copy_cell(char *to, const char *cell, size_t width) {
  size_t i = 0;
  do {
    (void)cst__stride_copy(to + i, (const uint8_t *)cell + i);
    i += CST__STRIDE;
  } while (i < width);
}

#endif /* FORMAT_SINK_TEXT_BLOCK_H */
