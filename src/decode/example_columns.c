/* The storage of the decoder's columns: room, growth, rows taken back, and the end of a batch. */
#include <string.h>

#include "decode/example_loop.h"

enum {
  MAX_NULL_FILL = 64 << 20, /* bytes of zeros that stand for absent rows of a fixed shape */
  FIRST_VALUES = 8,         /* room of a column that is seen for the first time */
  /* One in the first row of a batch is likely in all of them. The bounds are there because a name
   * costs who writes a file less than its room would take here. */
  FIRST_ROWS = 1024,
  FIRST_COLUMNS = 256
};

/* BYTES that are copied; views are values of a fixed width. */
static bool is_copied(const cst__hot *hot) {
  return hot->tag == CST__TAG_BYTES && !(hot->flags & CST__HOT_VIEW);
}

static size_t value_width(const cst__hot *hot) {
  return hot->tag == CST__TAG_FLOAT ? 4 : hot->tag == CST__TAG_INT ? 8 : 16;
}

/* A hot column's pointers and room, after its values were allocated anew. */
static void refresh_column(cst__decode_state *state, uint32_t column) {
  cst__hot *hot = &state->hot[column];
  cst__column *c = &state->batch->columns[column];
  size_t room = c->values.capacity / value_width(hot);
  hot->values = c->values.data;
  hot->value_offsets = (int64_t *)(void *)c->value_offsets.data;
  hot->room_bytes = c->values.capacity;
  if (is_copied(hot)) {
    room = c->value_offsets.capacity / 8 - 1;
    hot->value_offsets[0] = 0;
  }
  hot->room_values = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

cst_status cst__set_rows(cst__decode_state *state, uint32_t column) {
  cst__hot *hot = &state->hot[column];
  cst__column *c = &state->batch->columns[column];
  size_t rows = (size_t)state->rows;
  size_t bits = (rows + 63) / 64 * 8;
  if (!cst__batch_room(state->batch, &c->validity, bits) ||
      !cst__batch_room(state->batch, &c->offsets, (rows + 1) * 8)) {
    return cst__fail_memory(state->error, rows * 8);
  }
  hot->validity = c->validity.data;
  memset(hot->validity, 0, bits);
  hot->next_end = (int64_t *)(void *)c->offsets.data;
  *hot->next_end++ = 0;
  return CST_OK;
}

cst_status cst__set_values(cst__decode_state *state, uint32_t column, uint8_t tag) {
  cst__hot *hot = &state->hot[column];
  cst__column *c = &state->batch->columns[column];
  const cst__cold *cold = &state->cold[column];
  size_t likely = (size_t)cold->last_values + cold->last_values / 8;
  bool is_common = state->row == 0 && state->rows <= FIRST_ROWS && column < FIRST_COLUMNS;
  size_t first = is_common && state->rows > FIRST_VALUES ? (size_t)state->rows : FIRST_VALUES;
  size_t count = likely > first ? likely : first;
  hot->flags |= state->views && tag == CST__TAG_BYTES ? CST__HOT_VIEW : 0;
  cst__set_tag(hot, tag);
  /* A little more than the last batch needed, and not much if it had no such column: most of many
   * names are rare. */
  size_t bytes =
      is_copied(hot) ? cold->last_bytes + cold->last_bytes / 8 : count * value_width(hot);
  if (!cst__batch_room(state->batch, &c->values, bytes) ||
      (is_copied(hot) && !cst__batch_room(state->batch, &c->value_offsets, (count + 1) * 8))) {
    cst__set_tag(hot, 0);
    return cst__fail_memory(state->error, bytes + count * 8);
  }
  state->cold[column].kind_row = state->row;
  refresh_column(state, column);
  return CST_OK;
}

cst_status cst__set_kind(cst__decode_state *state, uint32_t column, uint8_t tag) {
  CST__TRY(cst__set_rows(state, column));
  return cst__set_values(state, column, tag);
}

static cst_status too_much(cst__decode_state *state, uint32_t column) {
  return cst__at_column(state, column,
                        cst__fail(state->error, CST_LIMIT, "use smaller batches",
                                  "a column of a batch has more than 4294967295 values"));
}

cst_status cst__grow_hot(cst__decode_state *state, uint32_t column, size_t values, size_t bytes) {
  cst__hot *hot = &state->hot[column];
  cst__column *c = &state->batch->columns[column];
  const cst_allocator *a = &state->allocator;
  size_t count;
  size_t want;
  if (!cst__add(hot->num_values, values, &count) || count >= UINT32_MAX ||
      !cst__add(hot->num_bytes, bytes, &want)) {
    return too_much(state, column);
  }
  /* A list that is being appended has written after num_values: whole buffers are kept. */
  bool ok = true;
  if (is_copied(hot)) {
    ok = cst__buffer_reserve(a, &c->value_offsets, (count + 1) * 8, c->value_offsets.capacity);
  } else {
    want = count * value_width(hot);
  }
  if (!ok || !cst__buffer_reserve(a, &c->values, want, c->values.capacity)) {
    return cst__fail_memory(state->error, want);
  }
  refresh_column(state, column);
  return CST_OK;
}

void cst__undo_row(cst__decode_state *state, uint32_t column) {
  cst__hot *hot = &state->hot[column];
  if (!cst__has_row(hot, state->row)) {
    return;
  }
  hot->next_end--;
  hot->num_values = (uint32_t)hot->next_end[-1];
  if (is_copied(hot)) {
    hot->num_bytes = (size_t)hot->value_offsets[hot->num_values];
  }
  hot->validity[state->row >> 3] &= (uint8_t) ~(1u << (state->row & 7));
}

/* ---- the end of a batch ---- */

void cst__settle_use(cst__decode_state *state) {
  for (size_t i = 0; i < state->num_columns; i++) {
    const cst__hot *hot = &state->hot[i];
    cst__cold *cold = &state->cold[i];
    cold->was_used = cst__has_buffers(state, (uint32_t)i) && hot->num_values > 0;
    if (cold->was_used) {
      cold->last_values = hot->num_values;
      cold->last_bytes = hot->num_bytes;
    } else if (!cst__has_buffers(state, (uint32_t)i)) {
      cst__batch_free_column(state->batch, i);
    }
  }
}

/* Moves the values of the rows that have some to their rows' places, from the last one on, with
 * zeros (or empty strings) between them. */
static void spread_rows(cst__decode_state *state, uint32_t column, size_t present, size_t size) {
  cst__hot *hot = &state->hot[column];
  size_t width = is_copied(hot) ? 8 : value_width(hot);
  /* Of strings, the ends move: a row's are value_offsets[row * size + 1 ..]. */
  uint8_t *items = is_copied(hot) ? (uint8_t *)(hot->value_offsets + 1) : hot->values;
  for (size_t row = (size_t)state->rows; row-- > 0;) {
    uint8_t *to = items + row * size * width;
    if (cst__has_row(hot, (int32_t)row)) {
      present--;
      memmove(to, items + present * size * width, size * width);
    } else if (is_copied(hot)) {
      int64_t end = hot->value_offsets[present * size];
      for (size_t i = 0; i < size; i++) {
        ((int64_t *)(void *)to)[i] = end;
      }
    } else {
      memset(to, 0, size * width);
    }
  }
}

/* The values that stand for absent rows of a fixed shape. */
static cst_status count_fill(cst__decode_state *state, uint32_t column, size_t absent,
                             size_t *values) {
  size_t size = (size_t)state->cold[column].fixed_size;
  if (!cst__mul(size, absent, values) || *values > MAX_NULL_FILL / 16) {
    return cst__at_column(
        state, column,
        cst__fail(state->error, CST_LIMIT, "decode without fixed_size",
                  "%zu rows are absent where the shape has %zu values", absent, size));
  }
  return CST_OK;
}

/* A fixed shape has room for absent rows too. */
static cst_status close_fixed(cst__decode_state *state, uint32_t column, size_t present) {
  cst__hot *hot = &state->hot[column];
  size_t size = (size_t)state->cold[column].fixed_size;
  size_t more;
  CST__TRY(count_fill(state, column, (size_t)state->rows - present, &more));
  CST__TRY(cst__grow_hot(state, column, more, 0));
  spread_rows(state, column, present, size);
  hot->num_values += (uint32_t)more;
  return CST_OK;
}

static cst_status close_absent(cst__decode_state *state, uint32_t column) {
  size_t rows = (size_t)state->rows;
  size_t values;
  if (state->cold[column].fixed_size >= 0) {
    CST__TRY(count_fill(state, column, rows, &values));
  }
  return cst__batch_set_absent(state->batch, column, rows)
             ? CST_OK
             : cst__fail_memory(state->error, rows * sizeof(int64_t));
}

cst_status cst__close_column(cst__decode_state *state, uint32_t column,
                             const cst__kernels *kernels) {
  cst__hot *hot = &state->hot[column];
  cst__column *c = &state->batch->columns[column];
  size_t rows = (size_t)state->rows;
  int64_t *offsets = (int64_t *)(void *)c->offsets.data;
  size_t present = cst__has_buffers(state, column) ? (size_t)(hot->next_end - offsets) - 1 : 0;
  if (present == 0) {
    return close_absent(state, column);
  }
  c->is_absent = false;
  if (present < rows) {
    if (hot->flags & CST__HOT_FIXED) {
      CST__TRY(close_fixed(state, column, present));
    } else {
      kernels->expand(offsets, hot->validity, rows, present);
    }
  }
  c->null_count = (int64_t)(rows - present);
  c->num_values = (int64_t)hot->num_values;
  return CST_OK;
}
