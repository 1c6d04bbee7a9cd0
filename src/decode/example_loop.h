/* What the decoder's loops share: the columns while a batch is filled, and the rare cases.
 */
#ifndef DECODE_EXAMPLE_LOOP_H
#define DECODE_EXAMPLE_LOOP_H

#include "arrow/batch.h"
#include "decode/example_wire.h"
#include "decode/kernels.h"
#include "decode/name_table.h"
#include "proto/wire.h"

enum {
  CST__HOT_FIXED = 1 << 0, /* rows must have `fixed_size` values */
  CST__HOT_SEEN = 1 << 1,  /* the name occurred in this batch, with a kind or without */
  CST__HOT_VIEW = 1 << 2   /* BYTES become 16-byte views */
};

/* A column while it is filled: what the loop touches, in one cache line.
 *
 * Rows without the name cost nothing: a row that has it sets its bit and appends the end of its
 * values. Where the absent rows lie is worked out once, when the batch is complete (`expand`). */
typedef struct cst__hot {
  uint8_t *values;        /* int64s, floats, bytes or views */
  int64_t *next_end;      /* where the next row's end goes; the column's offsets, without gaps */
  int64_t *value_offsets; /* BYTES: [num_values + 1] */
  uint8_t *validity;      /* one bit per row: it has values (or an empty list) */
  size_t num_bytes;       /* BYTES: used of `values` */
  size_t room_bytes;      /* BYTES: capacity of `values` */
  uint32_t num_values;
  uint32_t room_values; /* values for which there is room (BYTES: in value_offsets) */
  union {
    uint64_t usual; /* what a usual Feature of the kind begins with, of no size (cst__set_tag) */
    struct {
      uint8_t usual_bytes[6];
      uint8_t tag; /* the kind that is expected; 0: none known yet, or no row has values yet, then
                      no pointer is set */
      uint8_t flags;
    };
  };
} cst__hot;

/* A Feature of fewer than 128 bytes that has one list of one packed run, or of one string, begins
 * with these six bytes, whose numbers are lengths:
 *   12 size+4 KIND size+2 0A size
 * What is left of their word are the tag and the flags, so that all of it is one load. */
static inline void cst__set_tag(cst__hot *hot, uint8_t tag) {
  uint8_t flags = hot->flags;
  hot->usual = tag != 0 ? UINT64_C(0x000a02000412) | (uint64_t)tag << 16 : 0;
  hot->tag = tag;
  hot->flags = flags;
}

/* The rest of a column. */
typedef struct cst__cold {
  int64_t fixed_size; /* >= 0: rows have that many values; -1: any number */
  uint8_t tag;        /* by the schema; 0: by the data */
  bool is_null;       /* a column that must not have values (type UNKNOWN of an inferred schema) */
  uint8_t
      wrong_tag; /* the kind that this record has instead, unless a later entry mends it; 0: none */
  bool was_used; /* the last batch had values; then this one is likely to have as many: */
  uint32_t last_values;
  size_t last_bytes;
  int32_t kind_row;    /* the record that gave the column its type, if the data did */
  uint32_t next_wrong; /* columns with a wrong kind in this record; see first_wrong of
                          cst__decode_state */
} cst__cold;

struct cst__decode_state {
  cst__name_table *table;
  cst__hot *hot; /* by column */
  cst__cold *cold;
  cst__batch *batch;
  size_t num_columns;
  size_t capacity; /* of hot and cold */
  int32_t rows;    /* of the batch */
  int32_t row;     /* the record at hand */
  bool grows;      /* without a schema: an unknown name is a new column */
  bool learns;     /* grows or rejects: unknown names are looked at; else they are stepped over */
  const cst__name_map *known; /* NULL, or an unknown name that is not in it is an error */
  bool views;
  int nesting; /* messages between the record and a Feature, beyond those of tf.Example */
  const char *damaged_hint; /* what a record may be that does not parse */
  /* The list of columns whose kind is wrong in the record at hand: column + 2, 1 at the end of the
   * list; 0: no list. */
  uint32_t first_wrong;
  /* Views: the block of the record at hand, and where its bytes really are. */
  const cst__block_ref *block;
  int32_t block_index;
  ptrdiff_t view_shift; /* added to a pointer into a copied record's end */
  cst_error *error;
  cst_allocator allocator;
};

/* ---- the rare cases (example_slow.c) ---- */

/* CST_CORRUPT for bytes that are not such a message. */
cst_status cst__malformed(cst__decode_state *state, cst__wire_fault fault);

/* Sets block and block_index for the record at hand (views only). */
void cst__enter_block(cst__decode_state *state, const cst__records *records);
static inline void cst__enter_record(cst__decode_state *state, const cst__records *records) {
  if (state->views) {
    cst__enter_block(state, records);
  }
}

/* A record of any layout; (some fields of) a Features message; the content of one map entry. */
cst_status cst__slow_record(cst__decode_state *state, const uint8_t *data, size_t size);
cst_status cst__slow_features(cst__decode_state *state, const uint8_t *data, size_t size);
cst_status cst__slow_entry(cst__decode_state *state, const uint8_t *data, size_t size);

/* What a first walk over a Feature found. */
typedef struct cst__feature_shape {
  uint8_t tag;          /* of the oneof's last member; 0: none is set */
  const uint8_t *begin; /* of the field with which that member begins */
} cst__feature_shape;

/* Checks a Feature; appends the values of one that was checked, all lists of its last member. */
cst_status cst__find_shape(cst__decode_state *state, cst_bytes feature, cst__feature_shape *shape);
cst_status cst__append_feature(cst__decode_state *state, uint32_t column, cst_bytes feature,
                               cst__feature_shape shape);

/* The error of a kind that is not the column's. */
cst_status cst__wrong_kind(cst__decode_state *state, uint32_t column, uint8_t found);

/* A name that is in no column: *column is a new one, or CST__NO_COLUMN if it is not wanted. */
cst_status cst__unknown_name(cst__decode_state *state, const uint8_t *name, size_t size,
                             uint32_t *column);

/* At the end of a record with `first_wrong`: the error of a wrong kind that stayed. Of a name that
 * comes several times in a record only the last entry counts. */
cst_status cst__settle_wrong(cst__decode_state *state);

/* ---- a column's storage (example_columns.c) ---- */

/* Gives a column its type, which it did not have. */
cst_status cst__set_kind(cst__decode_state *state, uint32_t column, uint8_t tag);
/* The two parts of that: no row has values yet; the values are of this kind. */
cst_status cst__set_rows(cst__decode_state *state, uint32_t column);
cst_status cst__set_values(cst__decode_state *state, uint32_t column, uint8_t tag);

/* True if the row has values in this column. */
static inline bool cst__has_row(const cst__hot *hot, int32_t row) {
  return hot->tag != 0 && ((hot->validity[row >> 3] >> (row & 7)) & 1) != 0;
}

/* The kind that a column's values must have; 0: any. */
static inline uint8_t cst__expected_kind(const cst__decode_state *state, uint32_t column) {
  return state->cold[column].tag != 0 ? state->cold[column].tag : state->hot[column].tag;
}

/* The column of a name that occurred in none of the records so far has no buffers. */
static inline bool cst__has_buffers(const cst__decode_state *state, uint32_t column) {
  return state->hot[column].next_end != NULL;
}

/* After the last record: frees the buffers of columns that had no use for them, and notes how much
 * room the others needed. */
void cst__settle_use(cst__decode_state *state);

/* Completes a column, whose kind and fixed_size are set, after the last record: the offsets of all
 * rows (or, for fixed shapes, zeros for the absent ones), and its counts. */
cst_status cst__close_column(cst__decode_state *state, uint32_t column,
                             const cst__kernels *kernels);

/* Room for `values` more values and `bytes` more bytes. */
cst_status cst__grow_hot(cst__decode_state *state, uint32_t column, size_t values, size_t bytes);

/* Takes the values of the row at hand back, if it has some: an entry of the same name came before.
 */
void cst__undo_row(cst__decode_state *state, uint32_t column);

/* ---- errors ---- */

/* Adds the column's name to the error; returns `status`. */
cst_status cst__at_column(cst__decode_state *state, uint32_t column, cst_status status);

/* The error of a row of `found` values where the schema fixes another number. */
cst_status cst__wrong_count(cst__decode_state *state, uint32_t column, int64_t found);

#endif /* DECODE_EXAMPLE_LOOP_H */
