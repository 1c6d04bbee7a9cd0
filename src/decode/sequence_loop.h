/* What the loops of the tf.SequenceExample decoder share: the feature lists while a batch is
 * filled, and the rare cases.
 *
 * The feature lists have a cst__decode_state of their own, whose rows are lists of lists: a
 * column's `next_end` takes ends in inner lists, and the inner lists' ends, in values, are in its
 * cst__inner. Values, names, types and views are those of the tf.Example decoder.
 */
#ifndef DECODE_SEQUENCE_LOOP_H
#define DECODE_SEQUENCE_LOOP_H

#include "decode/example_loop.h"

/* The inner lists of a column: one per Feature. */
typedef struct cst__inner {
  int64_t *ends; /* [0] is 0; the column's list_offsets */
  size_t num_lists;
  size_t room_lists;
  size_t *nulls; /* which of the lists are null, in their order */
  size_t num_nulls;
  size_t null_capacity;
  size_t pending; /* 1 + the entry of the record at hand that counts; only in the slow way */
} cst__inner;

/* A map entry on the slow way. */
typedef struct cst__list_entry {
  uint32_t column;
  cst_bytes bytes;
} cst__list_entry;

struct cst__sequence {
  cst__decode_state *context;
  cst__decode_state state;     /* of the feature lists */
  const char *name;            /* of their column */
  const cst__kernels *kernels; /* what the loops share with those of tf.Example */
  cst__inner *inners;          /* by column */
  uint32_t *touched;           /* the columns that have a list in the record at hand */
  size_t num_touched;
  size_t inner_capacity;   /* of inners */
  size_t touched_capacity; /* of touched */
  bool is_wanted;          /* else feature lists are stepped over unread */
  bool is_seen;            /* a record of the batch has feature lists, with entries or without */
  cst__list_entry *entries;
  size_t num_entries;
  size_t entry_capacity;
};

static inline void cst__sequence_enter(cst__sequence *sequence, const cst__records *records,
                                       size_t row) {
  sequence->context->row = (int32_t)row;
  sequence->state.row = (int32_t)row;
  sequence->num_touched = 0;
  cst__enter_record(sequence->context, records);
  cst__enter_record(&sequence->state, records);
}

/* A record of any layout, whatever of it has been put already (sequence_slow.c). */
cst_status cst__slow_sequence(cst__sequence *sequence, const uint8_t *data, size_t size);

/* Adds the name of the column of feature lists to the error; returns `status`. */
cst_status cst__at_lists(cst__sequence *sequence, cst_status status);

/* ---- storage (sequence_columns.c) ---- */

/* A column without lists; before the first record. */
void cst__inner_begin(cst__sequence *sequence, uint32_t column);
/* Gives the column buffers for the rows and their inner lists, which it does not have. */
cst_status cst__inner_open(cst__sequence *sequence, uint32_t column);
/* Room in everything that is indexed by column. */
bool cst__inner_reserve(cst__sequence *sequence, size_t num_columns);
/* Room for `lists` more inner lists. */
cst_status cst__inner_grow(cst__sequence *sequence, uint32_t column, size_t lists);
/* Notes that inner list `list` is null. */
cst_status cst__inner_add_null(cst__sequence *sequence, uint32_t column, size_t list);
/* The row at hand has the lists up to `num_lists`, with the values that the column counts. */
static inline void cst__inner_commit(cst__sequence *sequence, uint32_t column, size_t num_lists) {
  cst__hot *hot = &sequence->state.hot[column];
  size_t row = (size_t)sequence->state.row;
  sequence->inners[column].num_lists = num_lists;
  *hot->next_end++ = (int64_t)num_lists;
  hot->validity[row >> 3] |= (uint8_t)(1u << (row & 7));
  sequence->touched[sequence->num_touched++] = column;
}
/* Takes all lists of the record at hand back. */
void cst__inner_undo(cst__sequence *sequence);
/* Completes a column after the last record. */
cst_status cst__inner_close(cst__sequence *sequence, uint32_t column);

#endif /* DECODE_SEQUENCE_LOOP_H */
