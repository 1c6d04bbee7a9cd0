/* Record batches that Columnstone makes: column buffers that are written directly, handed out as
 * one Arrow struct array, and recycled when the consumer has released every part of it.
 *
 * A batch owns one cst__column per column and is counted by the Arrow arrays that point into it.
 * When the last of these is released, on whatever thread, the batch goes back to its pool with all
 * its buffers, and the next decode fills warm memory instead of fresh pages.
 */
#ifndef ARROW_BATCH_H
#define ARROW_BATCH_H

#include <columnstone/arrow_abi.h>
#include <string.h>

#include "arrow/batch_pool.h"
#include "base/alloc.h"

/* A growing buffer, 64-byte aligned; its last 64 bytes of capacity are padding that is never
 * counted as room, so that wide stores may run over the end of what is valid. */
typedef struct cst__buffer {
  uint8_t *data;
  size_t capacity; /* bytes that may be filled */
  bool is_cut;     /* lies in a chunk of the batch (arrow/batch_pool.h), which frees it */
} cst__buffer;

/* Makes room for `want` bytes, keeping the first `keep`; grows by at least half. False: no memory.
 */
bool cst__buffer_reserve(const cst_allocator *allocator, cst__buffer *buffer, size_t want,
                         size_t keep);
/* Copies bytes to the buffer's start, and `slack` zeros after them. NULL: no memory. */
const uint8_t *cst__buffer_copy(const cst_allocator *allocator, cst__buffer *buffer,
                                cst_bytes bytes, size_t slack);
void cst__buffer_free(const cst_allocator *allocator, cst__buffer *buffer);

typedef enum cst__values {
  CST__VALUES_NULL, /* no list at all: a column of type null */
  CST__VALUES_INT64,
  CST__VALUES_FLOAT32,
  CST__VALUES_BINARY, /* 64-bit offsets in `value_offsets`, bytes in `values` */
  CST__VALUES_VIEW    /* 16-byte views in `values` */
} cst__values;

/* Their Arrow type, as exported. */
static inline const char *cst__values_format(cst__values kind, bool offsets_32) {
  static const char *const formats[] = {[CST__VALUES_NULL] = "n",
                                        [CST__VALUES_INT64] = "l",
                                        [CST__VALUES_FLOAT32] = "f",
                                        [CST__VALUES_BINARY] = "Z",
                                        [CST__VALUES_VIEW] = "vz"};
  return kind == CST__VALUES_BINARY && offsets_32 ? "z" : formats[kind];
}

/* The arrays that a column is exported as, and what they point to. */
typedef struct cst__column_arrays {
  struct ArrowArray list;
  struct ArrowArray inner;
  struct ArrowArray child;
  struct ArrowArray *inner_pointer;
  struct ArrowArray *child_pointer;
  const void *list_buffers[2];
  const void *inner_buffers[2];
  const void *child_buffers[3];
  const void **view_buffers; /* VIEW: validity, views, blocks..., sizes */
  size_t view_capacity;
} cst__column_arrays;

/* One column: a list (large, 32-bit or fixed-size) of values, a list of such lists, or null. The
 * buffers are written by the decoder; the rest is filled before cst__batch_export. */
typedef struct cst__column {
  cst__buffer validity;      /* bitmap; counts only if null_count > 0 */
  cst__buffer offsets;       /* int64 [rows + 1] */
  cst__buffer list_validity; /* is_nested: bitmap; counts only if list_null_count > 0 */
  cst__buffer list_offsets;  /* is_nested: int64 [num_lists + 1], into the values */
  cst__buffer value_offsets; /* BINARY: int64 [num_values + 1] */
  cst__buffer values;
  size_t values_begin; /* BINARY: where in `values` the first byte lies; else 0 */
  cst__values kind;
  int64_t null_count;
  int64_t num_values;
  int64_t num_lists; /* is_nested: inner lists of all rows */
  int64_t list_null_count;
  int64_t fixed_size; /* >= 0: fixed_size_list of that many; -1: list by offsets */
  bool offsets_32;    /* narrow all kinds of offsets while exporting */
  bool flat;          /* no list: the values are the column, one per row */
  bool is_nested;     /* a list of lists; its values may be of kind NULL */
  bool is_absent;     /* no buffers of its own; see cst__batch_set_absent */

  cst__column_arrays out;
} cst__column;

/* A block of input that views point into; see arrow/records/records.h. */
typedef struct cst__keepalive {
  const uint8_t *data;
  size_t size;
  void *owner;
  void (*release)(void *owner);
} cst__keepalive;

typedef struct cst__batch {
  cst__pooled pooled; /* first */
  cst__column *columns;
  size_t num_columns; /* in the order of the decoder's own numbering */
  size_t capacity;    /* of columns and children */
  struct ArrowArray **children;
  const void *root_buffers[1];
  cst__buffer zeros;          /* what all columns without values share; nobody writes to it */
  struct ArrowArray attached; /* one more child, not made here; see cst__batch_attach */
  size_t attached_at;
  cst__keepalive *keep; /* released with the last array */
  size_t num_keep;
  size_t keep_capacity;
  int64_t *keep_sizes;
  size_t warm_up; /* bytes that are still worth fetching into the cache before they are filled */
} cst__batch;

enum { CST__VIEW_SIZE = 16, CST__VIEW_INLINE = 12 };

/* Writes one binary view (Arrow columnar format, "Variable-size Binary View Layout"): up to 12
 * bytes stand in it, of longer values the first four, the block and the place there. `block` is the
 * begin of the block for longer values, and `at` where the value lies in it; `from` may be a copy.
 */
static inline void cst__put_view(uint8_t *to, const uint8_t *from, size_t size, int32_t block_index,
                                 const uint8_t *block, const uint8_t *at) {
  int32_t view[4] = {(int32_t)size, 0, 0, 0};
  if (size <= CST__VIEW_INLINE) {
    if (size > 0) {
      memcpy(view + 1, from, size);
    }
  } else {
    memcpy(view + 1, from, 4);
    view[2] = block_index;
    view[3] = (int32_t)(at - block);
  }
  memcpy(to, view, CST__VIEW_SIZE);
}

/* A pool of such batches. NULL: no memory. */
cst__batch_pool *cst__batch_pool_new(const cst_allocator *allocator);

/* A recycled or new batch with room for `num_columns` columns; NULL: no memory. */
cst__batch *cst__batch_take(cst__batch_pool *pool, size_t num_columns);
/* Makes room for one more column while filling; false: no memory. The columns may move. */
bool cst__batch_reserve(cst__batch *batch, size_t num_columns);
/* Makes room in a buffer of a batch for `want` bytes that the batch is likely to fill, keeping
 * nothing; false: no memory. Memory that is not in the cache is brought there, because a loop that
 * fills a hundred buffers in turns waits for each line of each of them. */
bool cst__batch_room(cst__batch *batch, cst__buffer *buffer, size_t want);
/* Gives a batch that was not exported back. */
void cst__batch_drop(cst__batch *batch);
/* A column, of which kind, flat, fixed_size and is_nested are set, that is null in all `rows`: its
 * buffers become those zeros that all such columns of the batch share, so that it costs nothing.
 * False: no memory. */
bool cst__batch_set_absent(cst__batch *batch, size_t column, size_t rows);
/* Frees the buffers of a column that this batch does not need. */
void cst__batch_free_column(cst__batch *batch, size_t column);
/* Adds a block that must outlive the arrays; takes over one count of its owner on success. */
bool cst__batch_keep(cst__batch *batch, const cst__keepalive *keep);

/* Gives the batch one more child, as number `at` of its children: an array of as many rows that is
 * moved in here and goes out with the export. Room for it counts as a column (cst__batch_reserve).
 */
void cst__batch_attach(cst__batch *batch, struct ArrowArray *array, size_t at);

/* Hands the batch out as a struct array of `rows` rows whose children are columns[order[i]]. Fails
 * with CST_LIMIT if 32-bit offsets are asked for and too small (path: names[i]), CST_NO_MEMORY; the
 * batch then still belongs to the caller. */
cst_status cst__batch_export(cst__batch *batch, int64_t rows, const size_t *order,
                             const char *const *names, size_t count, struct ArrowArray *out,
                             cst_error *error);

/* Hands the batch out as its one flat column, alone: an array instead of a struct. */
void cst__batch_export_column(cst__batch *batch, struct ArrowArray *out);

#endif /* ARROW_BATCH_H */
