/* The hot loop of the tf.Example decoder: the layout that every writer produces, straight from the
 * bytes into the column buffers.
 *
 * Compiled once per instruction set (CST_VARIANT names the function). Whatever does not look as
 * expected is left to example_slow.c, entry by entry; nothing is committed before an entry is known
 * to be good, so that the slow way can always begin anew. Loads of up to 32 bytes may begin
 * anywhere in an entry (`slack`), therefore an entry near the end of what may be read is first
 * copied to where that is safe; one that is too long for that is read without slack.
 */
#include <string.h>

#include "base/interrupt.h"
#include "decode/example_loop.h"
#include "proto/fast_wire.h"

enum {
  FETCH_BYTES = 1024,
  RECORD_WORK = 64, /* that a record makes besides its bytes */
  HEADER_SLACK = 48 /* readable bytes from an entry's begin on, before anything is known of it */
};

/* How one entry went. */
typedef enum outcome { DONE, SLOW, FAILED } outcome;

/* The column at hand: its hot part, which stays in registers while the loop stores bytes that
 * might, for all that the compiler knows, be part of it. */
typedef struct target {
  cst__decode_state *state;
  cst__hot *hot;
  size_t row;
} target;

ALWAYS_INLINE uint32_t column_of(target t) { return (uint32_t)(t.hot - t.state->hot); }

ALWAYS_INLINE outcome commit(target t, size_t num_values) {
  int64_t count = (int64_t)(num_values - t.hot->num_values);
  if (UNLIKELY(t.hot->flags & CST__HOT_FIXED) && count != t.state->cold[column_of(t)].fixed_size) {
    (void)cst__wrong_count(t.state, column_of(t), count);
    return FAILED;
  }
  t.hot->num_values = (uint32_t)num_values;
  *t.hot->next_end++ = (int64_t)num_values;
  t.hot->validity[t.row >> 3] |= (uint8_t)(1u << (t.row & 7));
  return DONE;
}

ALWAYS_INLINE bool grow(target t, size_t values, size_t bytes) {
  return cst__grow_hot(t.state, column_of(t), values, bytes) == CST_OK;
}

/* The values of a packed list: exactly [at, at + size). */
ALWAYS_INLINE outcome put_packed_ints(target t, const uint8_t *at, size_t size, bool slack) {
  if (UNLIKELY(size > t.hot->room_values - t.hot->num_values) && !grow(t, size, 0)) {
    return FAILED;
  }
  int64_t *values = (int64_t *)(void *)t.hot->values;
  int64_t *last = unpack(at, at + size, slack, values + t.hot->num_values);
  return LIKELY(last != NULL) ? commit(t, (size_t)(last - values)) : SLOW;
}

ALWAYS_INLINE outcome put_packed_floats(target t, const uint8_t *at, size_t size, bool slack) {
  size_t used = t.hot->num_values;
  size_t count = size >> 2;
  if (UNLIKELY((size & 3) != 0)) {
    return SLOW;
  }
  if (UNLIKELY(count > t.hot->room_values - used) && !grow(t, count, 0)) {
    return FAILED;
  }
  copy_values(t.hot->values + used * 4, at, size, slack);
  return commit(t, used + count);
}

/* A list of numbers: nothing, or one packed run. */
ALWAYS_INLINE outcome put_numbers(target t, uint8_t tag, const uint8_t *at, const uint8_t *end,
                                  bool slack) {
  size_t size;
  if (at == end) {
    return commit(t, t.hot->num_values);
  }
  if (UNLIKELY(*at++ != CST__TAG_FIRST || !read_size(&at, &size) || size != (size_t)(end - at))) {
    return SLOW;
  }
  return tag == CST__TAG_INT ? put_packed_ints(t, at, size, slack)
                             : put_packed_floats(t, at, size, slack);
}

/* The head of one string in a list; false: malformed. */
ALWAYS_INLINE bool read_string(const uint8_t **at, const uint8_t *end, size_t *size, bool slack) {
  if (UNLIKELY(*(*at)++ != CST__TAG_FIRST)) {
    return false;
  }
  bool ok = slack ? read_size(at, size) : read_size_within(at, end, size);
  return ok && *at <= end && *size <= (size_t)(end - *at);
}

/* The one string of the usual entry. */
ALWAYS_INLINE outcome put_string(target t, const uint8_t *at, size_t size) {
  size_t used = t.hot->num_bytes;
  size_t count = t.hot->num_values;
  if (UNLIKELY(count >= t.hot->room_values || size > t.hot->room_bytes - used) &&
      !grow(t, 1, size)) {
    return FAILED;
  }
  copy_values(t.hot->values + used, at, size, true);
  t.hot->num_bytes = used + size;
  t.hot->value_offsets[count + 1] = (int64_t)(used + size);
  return commit(t, count + 1);
}

ALWAYS_INLINE outcome put_strings(target t, const uint8_t *at, const uint8_t *end, bool slack) {
  cst__hot *hot = t.hot;
  size_t count = hot->num_values;
  size_t used = hot->num_bytes;
  while (at < end) {
    size_t size;
    if (UNLIKELY(!read_string(&at, end, &size, slack))) {
      return SLOW;
    }
    if (UNLIKELY(count >= hot->room_values || size > hot->room_bytes - used) &&
        !grow(t, count - hot->num_values + 1, used - hot->num_bytes + (size_t)(end - at))) {
      return FAILED;
    }
    copy_values(hot->values + used, at, size, slack);
    used += size;
    at += size;
    hot->value_offsets[++count] = (int64_t)used;
  }
  hot->num_bytes = used;
  return commit(t, count);
}

static __attribute__((noinline)) outcome put_string_views(target t, const uint8_t *at,
                                                          const uint8_t *end) {
  const cst__decode_state *state = t.state;
  size_t count = t.hot->num_values;
  while (at < end) {
    size_t size;
    if (UNLIKELY(!read_string(&at, end, &size, false))) {
      return SLOW;
    }
    if (UNLIKELY(count >= t.hot->room_values) && !grow(t, count - t.hot->num_values + 1, 0)) {
      return FAILED;
    }
    cst__put_view(t.hot->values + count++ * CST__VIEW_SIZE, at, size, state->block_index,
                  state->block->data, at + state->view_shift);
    at += size;
  }
  return commit(t, count);
}

/* True if the name occurred in this record before: the last one wins, which is a rare case. */
ALWAYS_INLINE bool is_repeated(target t) {
  return UNLIKELY((t.hot->validity[t.row >> 3] >> (t.row & 7)) & 1);
}

/* The kind's list of an entry whose column is known; nothing but the list is in the Feature. */
ALWAYS_INLINE outcome put_list(target t, const uint8_t *at, const uint8_t *end, bool slack) {
  uint8_t tag = *at++;
  size_t size;
  /* A column without a kind has the tag 0, which damaged bytes may hold as well. */
  if (UNLIKELY(tag != t.hot->tag || tag == 0 || !read_size(&at, &size) ||
               size != (size_t)(end - at))) {
    return SLOW;
  }
  if (is_repeated(t)) {
    return SLOW;
  }
  if (tag != CST__TAG_BYTES) {
    return put_numbers(t, tag, at, end, slack);
  }
  return UNLIKELY(t.hot->flags & CST__HOT_VIEW) ? put_string_views(t, at, end)
                                                : put_strings(t, at, end, slack);
}

/* The first `size` bytes of a word, zeros for the others. */
ALWAYS_INLINE uint64_t keep_bytes(uint64_t word, size_t size) {
#if defined(__BMI2__)
  return _bzhi_u64(word, size > 8 ? 64 : (unsigned)size * 8);
#else
  return size >= 8 ? word : word & ((UINT64_C(1) << (size * 8)) - 1);
#endif
}

/* The column of a name, followed by SLACK readable bytes: CST__NO_COLUMN if it is not wanted; SLOW
 * if it is to be learned, from the whole entry. */
ALWAYS_INLINE outcome find_column(cst__decode_state *state, const uint8_t *name, size_t size,
                                  uint32_t *column) {
  cst__name_key key = {.tail = keep_bytes(cst__load64(name + (size > 8 ? size - 8 : 0)), size),
                       .size = (uint32_t)size};
  *column = CST__NO_COLUMN;
  if (cst__name_may_be_known(state->table, key.tail)) {
    key.head = keep_bytes(cst__load64(name), size);
    key.next = keep_bytes(cst__load64(name + 8), size > 8 ? size - 8 : 0);
    *column = cst__name_table_probe(state->table, key, name);
  }
  return UNLIKELY(*column == CST__NO_COLUMN) && state->learns ? SLOW : DONE;
}

/* One map entry of any size: its content is [at, end), followed by SLACK readable bytes, or else
 * longer than TAIL_BYTES, so that its head can be read all the same. */
ALWAYS_INLINE outcome put_entry(cst__decode_state *state, const uint8_t *at, const uint8_t *end,
                                bool slack) {
  if (UNLIKELY(at[0] != CST__TAG_FIRST || at[1] >= 0x80)) {
    return SLOW;
  }
  const uint8_t *name = at + 2;
  size_t size = at[1];
  const uint8_t *value = name + size;
  uint32_t column;
  if (UNLIKELY(value >= end)) {
    return SLOW;
  }
  size_t feature_size;
  if (UNLIKELY(*value++ != CST__TAG_VALUE || !read_size(&value, &feature_size) ||
               feature_size != (size_t)(end - value))) {
    return SLOW; /* there may be another name in it */
  }
  outcome found = find_column(state, name, size, &column);
  if (UNLIKELY(found != DONE)) {
    return found;
  }
  if (column == CST__NO_COLUMN) {
    return DONE;
  }
  if (UNLIKELY(feature_size < 2)) {
    return SLOW;
  }
  target t = {state, &state->hot[column], (size_t)state->row};
  return put_list(t, value, end, slack);
}

/* An entry that put_small or put_entry does not know: several parts, another order, no kind. */
static __attribute__((noinline)) cst_status put_odd(cst__decode_state *state, outcome how,
                                                    const uint8_t *at, size_t size) {
  return how == FAILED ? state->error->code : cst__slow_entry(state, at, size);
}

/* What the first of the checks of put_small found, and where: the same for every kind. */
ALWAYS_INLINE bool is_usual(const uint8_t *value, size_t feature_size, uint8_t tag) {
  /* Little-endian bytes: 12, size, tag, size - 2, 0A. */
  uint64_t head = UINT64_C(0x0a00000012) - (UINT64_C(2) << 24) + ((uint64_t)tag << 16) +
                  feature_size * UINT64_C(0x01000100);
  return (cst__load64(value) & UINT64_C(0xffffffffff)) == head;
}

/* The usual entry, of fewer than 128 bytes with one packed list or strings: all of its lengths
 * follow from two of them, so that one compare checks the whole head.
 *   0A entry 0A name_size NAME 12 feature KIND list 0A values VALUES
 * The bytes of [at, at + 4) were checked, SLACK follows the entry. */
ALWAYS_INLINE outcome put_small(cst__decode_state *state, size_t row, const uint8_t *at,
                                size_t entry_size, size_t name_size) {
  const uint8_t *name = at + 4;
  size_t size = entry_size - name_size - 8; /* of the values; wraps if there are none */
  uint32_t column;
  if (UNLIKELY(size > 127)) {
    return put_entry(state, at + 2, at + 2 + entry_size, true);
  }
  outcome found = find_column(state, name, name_size, &column);
  if (UNLIKELY(found != DONE)) {
    return found;
  }
  const uint8_t *value = name + name_size;
  if (column == CST__NO_COLUMN) {
    uint16_t head;
    memcpy(&head, value, 2);
    return LIKELY(head == (CST__TAG_VALUE | (size + 4) << 8))
               ? DONE
               : put_entry(state, at + 2, at + 2 + entry_size, true);
  }
  target t = {state, &state->hot[column], row};
  uint8_t tag = t.hot->tag;
  if (UNLIKELY(tag == 0 || !is_usual(value, size + 4, tag))) {
    return put_entry(state, at + 2, at + 2 + entry_size, true);
  }
  if (is_repeated(t)) {
    return SLOW;
  }
  const uint8_t *values = value + 6;
  bool is_one = value[5] == size;
  if (tag == CST__TAG_BYTES) {
    if (UNLIKELY(t.hot->flags & CST__HOT_VIEW)) {
      return put_string_views(t, value + 4, values + size);
    }
    return is_one ? put_string(t, values, size) : put_strings(t, value + 4, values + size, true);
  }
  if (UNLIKELY(!is_one)) {
    return SLOW;
  }
  return tag == CST__TAG_INT ? put_packed_ints(t, values, size, true)
                             : put_packed_floats(t, values, size, true);
}

/* An entry of any size, or what is not an entry: *at moves past what was done, NULL says that all
 * of the rest was. */
static __attribute__((noinline)) cst_status put_any_entry(cst__decode_state *state,
                                                          const uint8_t **at, const uint8_t *end,
                                                          const uint8_t *readable) {
  const uint8_t *entry = *at + 1;
  size_t size;
  if (UNLIKELY(**at != CST__TAG_FIRST || !read_size(&entry, &size) || entry > end ||
               size > (size_t)(end - entry))) {
    size = (size_t)(end - *at);
    entry = *at;
    *at = NULL;
    return cst__slow_features(state, entry, size);
  }
  bool slack = readable - entry >= (ptrdiff_t)(size + SLACK);
  outcome how = SLOW;
  if (LIKELY(slack)) {
    how = put_entry(state, entry, entry + size, true);
  } else if (size > TAIL_BYTES) {
    how = put_entry(state, entry, entry + size, false);
  }
  *at = entry + size;
  return LIKELY(how == DONE) ? CST_OK : put_odd(state, how, entry, size);
}

/* The entries of one Features message, [at, end), where `readable` is the end of what may be read
 * and at least HEADER_SLACK after every entry that is looked at. */
static cst_status put_feature_entries(cst__decode_state *state, const uint8_t *at,
                                      const uint8_t *end, const uint8_t *readable,
                                      const uint8_t **stop) {
  size_t row = (size_t)state->row;
  const uint8_t *begin_limit = readable - HEADER_SLACK < end ? readable - HEADER_SLACK + 1 : end;
  const uint8_t *end_limit = readable - SLACK < end ? readable - SLACK : end;
  while (at < begin_limit) {
    uint32_t head;
    memcpy(&head, at, 4);
    size_t entry_size = (head >> 8) & 0x7f;
    const uint8_t *next = at + 2 + entry_size;
    if (LIKELY((head & 0x80ff80ff) == 0x000a000a && next <= end_limit)) {
      outcome how = put_small(state, row, at, entry_size, head >> 24);
      if (UNLIKELY(how != DONE)) {
        CST__TRY(put_odd(state, how, at + 2, entry_size));
      }
      at = next;
      continue;
    }
    if (end_limit < end && end - at <= TAIL_BYTES) {
      break; /* near the end: the caller copies */
    }
    CST__TRY(put_any_entry(state, &at, end, readable));
    if (at == NULL) {
      at = end;
    }
  }
  *stop = at;
  return CST_OK;
}

/* All entries of a record that begins at `begin`. */
static cst_status put_features_message(cst__decode_state *state, const uint8_t *begin,
                                       const uint8_t *at, const uint8_t *end,
                                       const uint8_t *readable) {
  uint8_t tail[TAIL_BYTES + HEADER_SLACK + SLACK];
  uint8_t *copy = tail;
  state->view_shift = 0;
  if (readable - at >= HEADER_SLACK) {
    CST__TRY(put_feature_entries(state, at, end, readable, &at));
  }
  if (LIKELY(at == end)) {
    return CST_OK;
  }
  size_t rest = (size_t)(end - at);
  if (UNLIKELY(rest > TAIL_BYTES)) {
    return cst__slow_features(state, at, rest);
  }
  if (LIKELY(rest <= SHORT_TAIL && end - begin >= SHORT_TAIL)) {
    memcpy(tail, end - SHORT_TAIL, SHORT_TAIL); /* more than needed, but of a fixed size */
    copy = tail + SHORT_TAIL - rest;
  } else {
    memcpy(tail, at, rest);
  }
  memset(copy + rest, 0, HEADER_SLACK + SLACK);
  state->view_shift = at - copy;
  return put_feature_entries(state, copy, copy + rest, copy + rest + HEADER_SLACK + SLACK, &at);
}

/* Begins to load a record that comes next: a list of them lies anywhere in memory, and by the time
 * the machine notices a new run of addresses, a short record is over. */
ALWAYS_INLINE void fetch(const cst_bytes *record) {
  size_t size = record->size < FETCH_BYTES ? record->size : FETCH_BYTES;
  for (size_t at = 0; at < size; at += 64) {
    __builtin_prefetch(record->data + at);
  }
}

static cst_status run_examples(cst__decode_state *state, const cst__records *records) {
  size_t done = 0;
  for (size_t i = 0; i < records->count; i++) {
    const uint8_t *at = records->items[i].data;
    size_t size = records->items[i].size;
    const uint8_t *end = at + size;
    size_t features = 0;
    state->row = (int32_t)i;
    if (LIKELY(i + 1 < records->count)) {
      fetch(&records->items[i + 1]);
    }
    cst__enter_record(state, records);
    if (LIKELY(size >= 8 && *at++ == CST__TAG_FIRST && read_size(&at, &features) &&
               features == (size_t)(end - at))) {
      CST__TRY(
          put_features_message(state, records->items[i].data, at, end, end + records->padding));
    } else {
      CST__TRY(cst__slow_record(state, records->items[i].data, size));
    }
    if (UNLIKELY(state->first_wrong != 0)) {
      CST__TRY(cst__settle_wrong(state));
    }
    if (UNLIKELY(cst__stretch_is_over(&done, size + RECORD_WORK))) {
      CST__TRY(cst__interrupted(state->error));
    }
  }
  return CST_OK;
}

#if defined(__AVX2__)
/* For four rows, from the last: which of the four newest ends each of them takes. Bit i of the
 * index says that row i has values; lane 3 is the newest end. */
static const int32_t take_ends[16][8] = {
#define LANES(a, b, c, d) \
  { 2 * (a), 2 * (a) + 1, 2 * (b), 2 * (b) + 1, 2 * (c), 2 * (c) + 1, 2 * (d), 2 * (d) + 1 }
    LANES(3, 3, 3, 3), LANES(3, 3, 3, 3), LANES(2, 3, 3, 3), LANES(2, 3, 3, 3),
    LANES(2, 2, 3, 3), LANES(2, 2, 3, 3), LANES(1, 2, 3, 3), LANES(1, 2, 3, 3),
    LANES(2, 2, 2, 3), LANES(2, 2, 2, 3), LANES(1, 2, 2, 3), LANES(1, 2, 2, 3),
    LANES(1, 1, 2, 3), LANES(1, 1, 2, 3), LANES(0, 1, 2, 3), LANES(0, 1, 2, 3),
#undef LANES
};
#endif

/* From the last row on, so that nothing is overwritten before it was read: there are never fewer
 * rows left than ends. */
static void expand_offsets(int64_t *offsets, const uint8_t *validity, size_t rows, size_t present) {
  size_t row = rows;
  while (row > present) {
#if defined(__AVX2__)
    if ((row & 3) == 0 && present >= 3) {
      unsigned bits = (validity[(row - 4) >> 3] >> ((row - 4) & 7)) & 15;
      __m256i ends = _mm256_loadu_si256((const __m256i *)(const void *)(offsets + present - 3));
      __m256i lanes = _mm256_loadu_si256((const __m256i *)(const void *)take_ends[bits]);
      _mm256_storeu_si256((__m256i *)(void *)(offsets + row - 3),
                          _mm256_permutevar8x32_epi32(ends, lanes));
      present -= (size_t)__builtin_popcount(bits);
      row -= 4;
      continue;
    }
#endif
    offsets[row] = offsets[present];
    row--;
    present -= (validity[row >> 3] >> (row & 7)) & 1;
  }
}

const cst__kernels CST__PASTE(cst__kernels_, CST_VARIANT) = {
    run_examples, CST__PASTE(cst__sequence_run_, CST_VARIANT), put_features_message,
    expand_offsets};
