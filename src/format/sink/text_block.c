/* The cells of a block: where they lie, and those of numbers. */
#include "format/sink/text_block.h"

#include <math.h>

enum {
  BLOCK_SIZE = 1 << 16, /* about as much as stays in the nearest caches */
  MOST_ROWS = 64
};

/* Room after the prefix: for numbers and for short texts in quotes, each with bytes more. */
static const size_t cell_room =
    CST__NUMBER_SIZE > CST__SHORT_TEXT + 2 ? CST__NUMBER_SIZE : CST__SHORT_TEXT + 2;

cst_status cst__text_block_init(cst__text_block *block, size_t num_columns, const char *null,
                                size_t null_size, const cst_allocator *allocator,
                                cst_error *error) {
  *block = (cst__text_block){.allocator = *allocator,
                             .num_columns = num_columns,
                             .prefixes = {.allocator = *allocator},
                             .null = null,
                             .null_size = null_size};
  block->columns = cst__new_zero(allocator, (num_columns + 1) * sizeof *block->columns);
  return block->columns != NULL ? CST_OK
                                : cst__fail_memory(error, num_columns * sizeof *block->columns);
}

void cst__text_block_end_prefix(cst__text_block *block, size_t column) {
  const size_t before = column > 0 ? block->columns[column - 1].prefix_end : 0;
  block->columns[column].prefix_end = block->prefixes.size;
  block->columns[column].prefix_size = block->prefixes.size - before;
}

cst_status cst__text_block_lay_out(cst__text_block *block, cst_error *error) {
  size_t row_size = 0;
  for (size_t i = 0; i < block->num_columns; i++) {
    cst__text_column *column = &block->columns[i];
    column->place = row_size;
    row_size += (column->prefix_size + cell_room + CST__STRIDE - 1) / CST__STRIDE * CST__STRIDE;
  }
  const size_t fit = row_size > 0 ? BLOCK_SIZE / row_size : MOST_ROWS;
  const size_t rows = fit < 1 ? 1 : fit < MOST_ROWS ? fit : MOST_ROWS;
  block->row_size = row_size;
  block->most_rows = (int64_t)rows;
  block->cells = cst__new_zero(&block->allocator, rows * row_size + 1);
  block->sizes =
      cst__new_zero(&block->allocator, rows * (block->num_columns + 1) * sizeof *block->sizes);
  if (block->prefixes.failed || block->cells == NULL || block->sizes == NULL) {
    return cst__fail_memory(error, rows * row_size);
  }
  for (size_t i = 0; i < block->num_columns; i++) {
    const cst__text_column *column = &block->columns[i];
    for (size_t row = 0; row < rows && column->prefix_size > 0; row++) {
      memcpy(block->cells + row * row_size + column->place,
             block->prefixes.data + column->prefix_end - column->prefix_size, column->prefix_size);
    }
  }
  return CST_OK;
}

void cst__text_block_reset(cst__text_block *block) {
  cst__text_free(&block->prefixes);
  cst__delete(block->columns);
  cst__delete(block->cells);
  cst__delete(block->sizes);
}

/* NaN and the infinities are words, which the formats write differently. */
static inline bool is_word(const cst__text_column *column, cst__cell_kind kind, int64_t row) {
  const int64_t at = column->offset + row;
  return (kind == CST__CELL_FLOAT64 && !isfinite(((const double *)column->data)[at])) ||
         (kind == CST__CELL_FLOAT32 && !isfinite(((const float *)column->data)[at]));
}

/* A loop for each kind, which the compiler knows. */
static inline void print_cells(const cst__text_block *of, size_t index, cst__cell_kind kind) {
  const cst__text_block block = *of; /* what is printed cannot change these */
  const cst__text_column column = block.columns[index];
  char *cell = cst__first_cell(&block, index) + column.prefix_size;
  int32_t *size = cst__first_size(&block, index);
  int32_t most = (int32_t)column.prefix_size;
  for (int64_t row = block.first; row < block.first + block.rows; row++) {
    if (cst__cell_is_null(&column, row)) {
      *size = cst__put_null_cell(&block, cell, column.prefix_size);
    } else if (kind == CST__CELL_OTHER || is_word(&column, kind, row)) {
      *size = CST__CELL_APART;
    } else {
      *size = (int32_t)(column.prefix_size +
                        (size_t)(cst__print_cell(cell, &column, kind, row) - cell));
    }
    most = *size > most ? *size : most;
    cell += block.row_size;
    size += block.num_columns;
  }
  block.columns[index].width = (size_t)most;
}

void cst__text_block_print_column(const cst__text_block *block, size_t index) {
  switch (block->columns[index].kind) {
    case CST__CELL_INT64:
      print_cells(block, index, CST__CELL_INT64);
      break;
    case CST__CELL_FLOAT64:
      print_cells(block, index, CST__CELL_FLOAT64);
      break;
    case CST__CELL_FLOAT32:
      print_cells(block, index, CST__CELL_FLOAT32);
      break;
    case CST__CELL_INT:
      print_cells(block, index, CST__CELL_INT);
      break;
    default:
      print_cells(block, index, CST__CELL_OTHER);
  }
}
