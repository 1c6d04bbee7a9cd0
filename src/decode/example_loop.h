/* What the decoder's loops share: the columns while a batch is filled, and the rare cases.
 */
#ifndef DECODE_EXAMPLE_LOOP_H
#define DECODE_EXAMPLE_LOOP_H

#include "arrow/batch.h"
#include "decode/example_decoder.h"
#include "decode/example_wire.h"
#include "decode/name_table.h"

enum {
  CST__HOT_FIXED = 1 << 0, /* rows must have `fixed_size` values */
  CST__HOT_SEEN = 1 << 1,  /* the name occurred in this batch, with a kind or without */
  CST__HOT_VIEW = 1 << 2   /* BYTES become 16-byte views */
};

/* A column while it is filled: what the loop touches, in one cache line. */
typedef struct cst__hot {
  uint8_t *values;        /* int64s, floats, bytes or views */
  int64_t *offsets;       /* [rows + 1], written up to next_row */
  int64_t *value_offsets; /* BYTES: [num_values + 1] */
  size_t num_values;
  size_t num_bytes;       /* BYTES: used of `values` */
  size_t room_values;     /* values for which there is room (BYTES: in value_offsets) */
  size_t room_bytes;      /* BYTES: capacity of `values` */
  int32_t next_row;       /* the first row without a slot */
  uint8_t tag;            /* the kind that is expected; 0: none known yet */
  uint8_t flags;
} cst__hot;

/* The rest of a column. */
typedef struct cst__cold {
  int64_t null_count;
  int64_t fixed_size; /* >= 0: rows have that many values; -1: any number */
  uint8_t tag;        /* by the schema; 0: by the data */
  bool is_null;       /* a column that must not have values (type UNKNOWN of an inferred schema) */
  uint8_t wrong_tag;   /* the kind that this record has instead, unless a later entry mends it; 0: none */
  int32_t kind_row;    /* the record that gave the column its type, if the data did */
  uint32_t next_wrong; /* columns with a wrong kind in this record; see cst__loop.first_wrong */
} cst__cold;

typedef struct cst__loop {
  cst__name_table *table;
  cst__hot *hot;   /* by column */
  cst__cold *cold;
  cst__batch *batch;
  size_t num_columns;
  size_t capacity; /* of hot and cold */
  int32_t rows;    /* of the batch */
  int32_t row;     /* the record at hand */
  bool grows;      /* without a schema: an unknown name is a new column */
  bool rejects;    /* an unknown name is an error, unless `known` has it */
  const cst__name_map *known;
  bool views;
  /* The list of columns whose kind is wrong in the record at hand: column + 2, 1 at the end of the
   * list; 0: no list. */
  uint32_t first_wrong;
  /* Views: the block of the record at hand, and where its bytes really are. */
  const cst__block_ref *block;
  int32_t block_index;
  ptrdiff_t view_shift; /* added to a pointer into a copied record's end */
  cst_error *error;
  cst_allocator allocator;
} cst__loop;

/* The loops: decode every record of the batch. */
typedef cst_status (*cst__example_loop_function)(cst__loop *loop, const cst__records *records);
cst_status cst__example_loop_base(cst__loop *loop, const cst__records *records);
cst_status cst__example_loop_v3(cst__loop *loop, const cst__records *records);
cst_status cst__example_loop_slow(cst__loop *loop, const cst__records *records);
cst__example_loop_function cst__example_loop_find(cst__loop_choice choice);

/* ---- the rare cases (example_slow.c) ---- */

/* Sets block and block_index for the record at hand (views only). */
void cst__enter_block(cst__loop *loop, const cst__records *records);
static inline void cst__enter_record(cst__loop *loop, const cst__records *records) {
  if (loop->views) {
    cst__enter_block(loop, records);
  }
}

/* A record of any layout; (some fields of) a Features message; the content of one map entry. */
cst_status cst__slow_record(cst__loop *loop, const uint8_t *data, size_t size);
cst_status cst__slow_features(cst__loop *loop, const uint8_t *data, size_t size);
cst_status cst__slow_entry(cst__loop *loop, const uint8_t *data, size_t size);

/* A name that is in no column: *column is a new one, or CST__NO_COLUMN if it is not wanted. */
cst_status cst__unknown_name(cst__loop *loop, const uint8_t *name, size_t size, uint32_t *column);

/* At the end of a record with `first_wrong`: the error of a wrong kind that stayed. Of a name that
 * comes several times in a record only the last entry counts. */
cst_status cst__settle_wrong(cst__loop *loop);

/* Gives a column its type, which it did not have. */
cst_status cst__set_kind(cst__loop *loop, uint32_t column, uint8_t tag);

/* Writes slots for the rows that had none, up to `row`. */
cst_status cst__fill_gap(cst__loop *loop, uint32_t column, int32_t row);

/* Room for `values` more values and `bytes` more bytes. */
cst_status cst__grow_hot(cst__loop *loop, uint32_t column, size_t values, size_t bytes);

/* The error of a row of `found` values where the schema fixes another number. */
cst_status cst__wrong_count(cst__loop *loop, uint32_t column, int64_t found);

#endif /* DECODE_EXAMPLE_LOOP_H */
