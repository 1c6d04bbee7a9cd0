/* A column of a batch as the writers of text take it, cell after cell: what of its type there is to
 * know is found out once.
 */
#ifndef FORMAT_SINK_TEXT_COLUMN_H
#define FORMAT_SINK_TEXT_COLUMN_H

#include "arrow/view.h"
#include "base/alloc.h"
#include "text/number.h"

/* Types whose cells have a way of their own. */
typedef enum cst__cell_kind {
  CST__CELL_OTHER,
  CST__CELL_INT64,
  CST__CELL_INT, /* narrower, of any sign */
  CST__CELL_FLOAT64,
  CST__CELL_FLOAT32,
  CST__CELL_TEXT /* bytes, UTF-8 or not */
} cst__cell_kind;

typedef struct cst__text_column {
  cst__cell_kind kind;
  bool has_wide_offsets; /* of 64 bits */
  bool is_all_null;      /* by its type */
  const uint8_t *validity;
  int64_t offset;      /* of the first row */
  const void *data;    /* numbers; the bytes of texts */
  const void *offsets; /* of texts */
  const uint8_t *end;  /* of texts: bytes can be read up to here */
  const cst__view *view;
  size_t prefix_size; /* of what stands before each cell: text_block.h */
  size_t prefix_end;
  size_t place; /* of its cell in a row of the block */
  size_t width; /* of its widest cell in the block */
} cst__text_column;

static inline cst__cell_kind cst__cell_kind_of(const cst__view *view) {
  if (view->layout == CST__LAYOUT_BINARY) {
    return CST__CELL_TEXT;
  }
  if (view->layout != CST__LAYOUT_NUMBER) {
    return CST__CELL_OTHER;
  }
  switch (view->dtype) {
    case CST_DTYPE_INT64:
      return CST__CELL_INT64;
    case CST_DTYPE_FLOAT64:
      return CST__CELL_FLOAT64;
    case CST_DTYPE_FLOAT32:
      return CST__CELL_FLOAT32;
    case CST_DTYPE_UINT64:
      return CST__CELL_OTHER;
    default:
      return CST__CELL_INT;
  }
}

/* Takes a column of the next batch; the view outlives it. */
static inline void cst__text_column_take(cst__text_column *column, const cst__view *view) {
  column->kind = cst__cell_kind_of(view);
  column->has_wide_offsets = view->offset_width == 8;
  column->is_all_null = view->layout == CST__LAYOUT_NULL;
  column->validity = view->validity;
  column->offset = view->offset;
  column->data = view->data;
  column->offsets = view->offsets;
  column->view = view;
  if (column->kind == CST__CELL_TEXT && view->length > 0) {
    const uint8_t *bytes = view->data != NULL ? view->data : (const uint8_t *)"";
    column->data = bytes;
    column->end =
        bytes + cst__view_entry(view->offsets, view->offset_width, view->offset + view->length);
  }
}

static inline bool cst__cell_is_null(const cst__text_column *column, int64_t row) {
  const int64_t at = column->offset + row;
  return column->validity != NULL ? (column->validity[at >> 3] >> (at & 7) & 1) == 0
                                  : column->is_all_null;
}

/* Prints a number that is not null; there is room for CST__NUMBER_SIZE. */
static inline char *cst__print_cell(char *to, const cst__text_column *column, cst__cell_kind kind,
                                    int64_t row) {
  const int64_t at = column->offset + row;
  switch (kind) {
    case CST__CELL_INT64:
      return to + cst__print_int64(to, ((const int64_t *)column->data)[at]);
    case CST__CELL_FLOAT64:
      return to + cst__print_float64(to, ((const double *)column->data)[at], CST__FLOAT_PYTHON);
    case CST__CELL_FLOAT32:
      return to + cst__print_float32(to, ((const float *)column->data)[at], CST__FLOAT_PYTHON);
    default:
      return to + cst__print_int64(to, cst__view_int(column->view, row));
  }
}

/* The bytes of a text that is not null. */
static inline cst_bytes cst__cell_text(const cst__text_column *column, int64_t row) {
  const int64_t at = column->offset + row;
  const uint8_t *bytes = column->data;
  if (column->has_wide_offsets) {
    const int64_t *ends = (const int64_t *)column->offsets + at;
    return (cst_bytes){bytes + ends[0], (size_t)(ends[1] - ends[0])};
  }
  const int32_t *ends = (const int32_t *)column->offsets + at;
  return (cst_bytes){bytes + ends[0], (size_t)(ends[1] - ends[0])};
}

/* Room for `more` bytes at `to`, up to which the text is written though it does not know of all
 * that yet. NULL: out of memory. */
static inline char *cst__room_at(cst__text *text, char *to, size_t more) {
  const size_t size = (size_t)(to - text->data);
  if (more < text->capacity - size) {
    return to;
  }
  text->size = size;
  return cst__text_reserve(text, more);
}

#endif /* FORMAT_SINK_TEXT_COLUMN_H */
