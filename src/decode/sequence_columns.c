/* The storage of feature lists: room for inner lists, lists taken back, and the end of a batch. */
#include <string.h>

#include "decode/sequence_loop.h"

bool cst__inner_reserve(cst__sequence *sequence, size_t num_columns) {
  const cst_allocator *allocator = &sequence->state.allocator;
  void *inners = sequence->inners;
  size_t before = sequence->inner_capacity;
  if (!cst__grow(allocator, &inners, &sequence->inner_capacity, num_columns, sizeof(cst__inner))) {
    return false;
  }
  sequence->inners = inners;
  memset(sequence->inners + before, 0, (sequence->inner_capacity - before) * sizeof(cst__inner));
  void *touched = sequence->touched;
  bool ok =
      cst__grow(allocator, &touched, &sequence->touched_capacity, num_columns, sizeof(uint32_t));
  sequence->touched = touched;
  return ok;
}

static void refresh_lists(cst__sequence *sequence, uint32_t column) {
  cst__buffer *buffer = &sequence->state.batch->columns[column].list_offsets;
  sequence->inners[column].ends = (int64_t *)(void *)buffer->data;
  sequence->inners[column].room_lists = buffer->capacity / sizeof(int64_t) - 1;
}

void cst__inner_begin(cst__sequence *sequence, uint32_t column) {
  cst__inner *inner = &sequence->inners[column];
  inner->num_lists = 0;
  inner->num_nulls = 0;
  inner->pending = 0;
}

cst_status cst__inner_open(cst__sequence *sequence, uint32_t column) {
  cst__decode_state *state = &sequence->state;
  size_t size = ((size_t)state->rows + 1) * sizeof(int64_t);
  CST__TRY(cst__set_rows(state, column));
  if (!cst__batch_room(state->batch, &state->batch->columns[column].list_offsets, size)) {
    return cst__fail_memory(state->error, size);
  }
  refresh_lists(sequence, column);
  sequence->inners[column].ends[0] = 0;
  return CST_OK;
}

cst_status cst__inner_grow(cst__sequence *sequence, uint32_t column, size_t lists) {
  cst__decode_state *state = &sequence->state;
  cst__buffer *buffer = &state->batch->columns[column].list_offsets;
  size_t want;
  if (!cst__add(sequence->inners[column].num_lists, lists, &want) || !cst__add(want, 1, &want) ||
      !cst__mul(want, sizeof(int64_t), &want) ||
      !cst__buffer_reserve(&state->allocator, buffer, want, buffer->capacity)) {
    return cst__fail_memory(state->error, lists * sizeof(int64_t));
  }
  refresh_lists(sequence, column);
  return CST_OK;
}

cst_status cst__inner_add_null(cst__sequence *sequence, uint32_t column, size_t list) {
  cst__inner *inner = &sequence->inners[column];
  void *nulls = inner->nulls;
  if (!cst__grow(&sequence->state.allocator, &nulls, &inner->null_capacity, inner->num_nulls + 1,
                 sizeof(size_t))) {
    return cst__fail_memory(sequence->state.error, sizeof(size_t));
  }
  inner->nulls = nulls;
  inner->nulls[inner->num_nulls++] = list;
  return CST_OK;
}

void cst__inner_undo(cst__sequence *sequence) {
  while (sequence->num_touched > 0) {
    uint32_t column = sequence->touched[--sequence->num_touched];
    cst__hot *hot = &sequence->state.hot[column];
    cst__inner *inner = &sequence->inners[column];
    int32_t row = sequence->state.row;
    hot->next_end--;
    inner->num_lists = (size_t)hot->next_end[-1];
    hot->num_values = (uint32_t)inner->ends[inner->num_lists];
    if (hot->tag == CST__TAG_BYTES && !(hot->flags & CST__HOT_VIEW)) {
      hot->num_bytes = (size_t)hot->value_offsets[hot->num_values];
    }
    while (inner->num_nulls > 0 && inner->nulls[inner->num_nulls - 1] >= inner->num_lists) {
      inner->num_nulls--;
    }
    hot->validity[row >> 3] &= (uint8_t) ~(1u << (row & 7));
  }
}

static cst_status close_nulls(cst__sequence *sequence, const cst__inner *inner, cst__column *c) {
  size_t size = (inner->num_lists + 7) / 8;
  if (!cst__buffer_reserve(&sequence->state.allocator, &c->list_validity, size, 0)) {
    return cst__fail_memory(sequence->state.error, size);
  }
  memset(c->list_validity.data, 0xff, size);
  for (size_t i = 0; i < inner->num_nulls; i++) {
    size_t list = inner->nulls[i];
    c->list_validity.data[list >> 3] &= (uint8_t) ~(1u << (list & 7));
  }
  return CST_OK;
}

cst_status cst__inner_close(cst__sequence *sequence, uint32_t column) {
  const cst__inner *inner = &sequence->inners[column];
  cst__decode_state *state = &sequence->state;
  cst__column *c = &state->batch->columns[column];
  uint8_t tag = cst__expected_kind(state, column);
  c->is_nested = true;
  /* Lists without any value: strings have a first offset all the same. */
  if (tag != 0 && state->hot[column].tag == 0 && cst__has_buffers(state, column)) {
    CST__TRY(cst__set_values(state, column, tag));
  }
  CST__TRY(cst__close_column(state, column, sequence->kernels));
  c->num_lists = (int64_t)inner->num_lists;
  c->list_null_count = (int64_t)inner->num_nulls;
  return inner->num_nulls > 0 ? close_nulls(sequence, inner, c) : CST_OK;
}
