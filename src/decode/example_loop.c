/* The hot loop of the tf.Example decoder: the layout that every writer produces, straight from the
 * bytes into the column buffers.
 *
 * Compiled once per instruction set (CST_VARIANT names the function). Whatever does not look as
 * expected is left to example_slow.c, entry by entry; nothing is committed before an entry is known
 * to be good, so that the slow way can always begin anew. Loads of up to 32 bytes may begin
 * anywhere in an entry (`slack`), therefore an entry near the end of what may be read is first
 * copied to where that is safe; one that is too long for that is read without slack.
 *
 * Why it is as it is. 0.95 means that the other form has 0.95 times the speed, measured alone
 * unless something else is said:
 *
 * One compare for the head of an entry (put_usual). At first the parts of an entry were read one
 * after the other, each length with a check of its own; but all lengths of the usual entry, with
 * one packed list or one string, follow from two. By put_any_entry alone, which reads the parts:
 * 0.62 on a click log, with 1.9 times the instructions.
 *
 * The loop is compiled twice, by whether names have second words: to ask for those in a table of
 * short names costs and tells nothing. One loop that looks at the table for each name: 0.95 on a
 * click log, 0.89 on records of many features.
 *
 * After an entry that nobody wants most likely come others. Where few columns are wanted, a loop of
 * its own steps over them (pass_entries): the end of a name is looked up in a table of bits, and
 * the head is checked as that of every entry. 3 columns of 300 without it: 0.55; without what
 * it loads ahead: 0.64.
 *
 * The kind on the wire decides (`switch (value[2])`), not that of the column, which has to be the
 * same but is known only after the search. Alone it makes no difference on a click log.
 *
 * The sizes of names are no branches (keep_bytes): where features come in any order, so do sizes.
 * 300 columns in random order with a branch: 0.95.
 *
 * What is asked of the state for each entry stands in variables of the loop (local_state): bytes
 * are stored all the time, and the compiler cannot know that they do not change the state. A click
 * log without them: 0.97. What the rare cases need is handed to them piece by piece: of a struct by
 * value the compiler makes a copy in memory for each entry. A click log with one: 0.97.
 *
 * Absent rows cost nothing (cst__hot): a row with values appends their end and sets a bit. The
 * first form filled the offsets of the rows between as soon as the next value came; expand_offsets
 * does that for all rows at once, four at a time, when the batch is complete.
 *
 * The next record is loaded ahead (cst__prefetch): 1.4 times as fast where a few columns are read
 * of records that lie anywhere in memory.
 */
#include <string.h>

#include "base/interrupt.h"
#include "base/prefetch.h"
#include "decode/example_loop.h"
#include "proto/fast_wire.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

enum {
  FETCH_BYTES = 1024,
  PASS_FETCH = 4096, /* a page: of what lies in the next one the machine does not think itself */

  RECORD_WORK = 64, /* that a record makes besides its bytes */
  HEADER_SLACK = 48 /* readable bytes from an entry's begin on, before anything is known of it */
};

/* How one entry went. */
typedef enum outcome { DONE, PASSED /* nobody wants it */, SLOW, FAILED } outcome;

/* The bit of the row at hand in a validity bitmap. */
typedef struct place {
  size_t byte;
  uint8_t bit;
} place;

ALWAYS_INLINE place place_of(int32_t row) {
  return (place){(size_t)row >> 3, (uint8_t)(1u << (row & 7))};
}

/* The column at hand: its hot part, which stays in registers while the loop stores bytes that
 * might, for all that the compiler knows, be part of it. */
typedef struct target {
  cst__decode_state *state;
  cst__hot *hot;
  place row;
} target;

static __attribute__((noinline)) bool is_fixed_size(cst__decode_state *state, const cst__hot *hot,
                                                    size_t num_values) {
  uint32_t column = (uint32_t)(hot - state->hot);
  int64_t count = (int64_t)(num_values - hot->num_values);
  return count == state->cold[column].fixed_size ||
         cst__wrong_count(state, column, count) == CST_OK;
}

ALWAYS_INLINE outcome commit(target t, size_t num_values) {
  if (UNLIKELY(t.hot->flags & CST__HOT_FIXED) && !is_fixed_size(t.state, t.hot, num_values)) {
    return FAILED;
  }
  t.hot->num_values = (uint32_t)num_values;
  *t.hot->next_end++ = (int64_t)num_values;
  t.hot->validity[t.row.byte] |= t.row.bit;
  return DONE;
}

ALWAYS_INLINE bool grow(target t, size_t values, size_t bytes) {
  return cst__grow_hot(t.state, (uint32_t)(t.hot - t.state->hot), values, bytes) == CST_OK;
}

/* The first `size` bytes of a word, zeros for the others. Without a branch: where names come in any
 * order, so do their sizes. */
ALWAYS_INLINE uint64_t keep_bytes(uint64_t word, size_t size) {
#if defined(__BMI2__)
  /* The instruction looks at 8 bits of the number, and keeps all from 64 on. */
  return _bzhi_u64(word, (unsigned)size * 8 | (unsigned)(size > 8) << 6);
#else
  return size >= 8 ? word : word & ((UINT64_C(1) << (size * 8)) - 1);
#endif
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

/* A list of fewer than 128 bytes, most likely one value. */
ALWAYS_INLINE outcome put_few_ints(target t, const uint8_t *at, size_t size) {
  size_t used = t.hot->num_values;
  uint64_t word = cst__load64(at);
  uint64_t stops = ~word & UINT64_C(0x8080808080808080);
  if (UNLIKELY(stops == 0 || (size_t)__builtin_ctzll(stops) != size * 8 - 1 ||
               used >= t.hot->room_values)) {
    return put_packed_ints(t, at, size, true);
  }
  word &= stops ^ (stops - 1);
  ((int64_t *)(void *)t.hot->values)[used] = (int64_t)close_up(word);
  return commit(t, used + 1);
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
  return ok && (ptrdiff_t)*size <= end - *at; /* negative if the head itself ends after `end` */
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

static __attribute__((noinline)) outcome put_string_views(cst__decode_state *state, cst__hot *hot,
                                                          const uint8_t *at, const uint8_t *end) {
  target t = {state, hot, place_of(state->row)};
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
  return UNLIKELY((t.hot->validity[t.row.byte] & t.row.bit) != 0);
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
  return UNLIKELY(t.hot->flags & CST__HOT_VIEW) ? put_string_views(t.state, t.hot, at, end)
                                                : put_strings(t, at, end, slack);
}

/* 1 + the column of a name, which SLACK readable bytes follow; 0 if it has none. A loop knows what
 * the table has when it is compiled. */
ALWAYS_INLINE uint32_t find_slot(const cst__name_table *table, const uint8_t *name, size_t size,
                                 bool has_long) {
  cst__name_key key = {.size = (uint32_t)size};
  if (size > 8) {
    key.tail = cst__load64(name + size - 8);
    key.head = cst__load64(name);
    key.next = has_long ? cst__load64(name + (size < 16 ? size - 8 : 8)) : 0;
  } else {
    key.head = keep_bytes(cst__load64(name), size);
    key.tail = key.head;
    key.next = key.head;
  }
  return cst__name_table_probe(table, key, name, has_long);
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
  if (UNLIKELY(value >= end)) {
    return SLOW;
  }
  size_t feature_size;
  if (UNLIKELY(*value++ != CST__TAG_VALUE || !read_size(&value, &feature_size) ||
               feature_size != (size_t)(end - value))) {
    return SLOW; /* there may be another name in it */
  }
  uint32_t slot = find_slot(state->table, name, size, state->table->has_long);
  if (slot == 0) {
    return state->learns ? SLOW : PASSED;
  }
  if (UNLIKELY(feature_size < 2)) {
    return SLOW;
  }
  target t = {state, &state->hot[slot - 1], place_of(state->row)};
  return put_list(t, value, end, slack);
}

/* An entry that put_usual or put_entry does not know: several parts, another order, no kind. */
static __attribute__((noinline)) cst_status put_odd(cst__decode_state *state, outcome how,
                                                    const uint8_t *at, size_t size) {
  return how == FAILED ? state->error->code : cst__slow_entry(state, at, size);
}

/* An entry that is not the usual one, of fewer than 128 bytes with SLACK after it. */
static __attribute__((noinline)) outcome put_unusual(cst__decode_state *state, const uint8_t *at,
                                                     size_t size) {
  return put_entry(state, at, at + size, true);
}

/* A usual entry whose name is in no column. */
ALWAYS_INLINE outcome pass_over(cst__decode_state *state, const uint8_t *at, size_t entry_size,
                                const uint8_t *value, size_t size) {
  uint16_t head;
  memcpy(&head, value, 2);
  if (state->learns) {
    return SLOW;
  }
  return LIKELY(head == (CST__TAG_VALUE | (size + 4) << 8))
             ? PASSED
             : put_unusual(state, at + 2, entry_size);
}

/* The string of a usual Feature. */
ALWAYS_INLINE outcome put_usual_string(target t, const uint8_t *feature, size_t size) {
  if (is_repeated(t)) {
    return SLOW;
  }
  return UNLIKELY(t.hot->flags & CST__HOT_VIEW)
             ? put_string_views(t.state, t.hot, feature + 4, feature + 6 + size)
             : put_string(t, feature + 6, size);
}

/* What the loop looks at for every entry, in variables of its own: the bytes that it stores might,
 * for all that the compiler knows, be part of the state. */
typedef struct local_state {
  cst__decode_state *state;
  place row;
  cst__hot *hot;
  cst__name_table table;
} local_state;

ALWAYS_INLINE local_state local_state_of(cst__decode_state *state) {
  return (local_state){state, place_of(state->row), state->hot, *state->table};
}

/* The usual entry, of fewer than 128 bytes with one packed list or strings: all of its lengths
 * follow from two of them, so that one compare checks the whole head.
 *   0A entry 0A name_size NAME 12 feature KIND list 0A values VALUES
 * The bytes of [at, at + 4) were checked, SLACK follows the entry. */
ALWAYS_INLINE outcome put_usual(const local_state *now, const uint8_t *at, size_t entry_size,
                                size_t name_size, bool has_long) {
  cst__decode_state *state = now->state;
  const uint8_t *value = at + 4 + name_size;
  size_t size = entry_size - name_size - 8; /* of the values; wraps if there are none */
  if (UNLIKELY(size > 127)) {
    return put_unusual(state, at + 2, entry_size);
  }
  uint32_t slot = find_slot(&now->table, at + 4, name_size, has_long);
  if (UNLIKELY(slot == 0)) {
    return pass_over(state, at, entry_size, value, size);
  }
  target t = {state, &now->hot[(size_t)slot - 1], now->row};
  uint64_t differing = cst__load64(value) ^ (t.hot->usual + size * UINT64_C(0x010001000100));
  const uint8_t *values = value + 6;
  if (UNLIKELY(differing << 16 != 0)) {
    bool are_strings = differing << 24 == 0 && t.hot->tag == CST__TAG_BYTES &&
                       !(t.hot->flags & CST__HOT_VIEW) && !is_repeated(t);
    return are_strings ? put_strings(t, value + 4, values + size, true)
                       : put_unusual(state, at + 2, entry_size);
  }
  switch (value[2]) { /* the column's tag, known long before the column is */
    case CST__TAG_BYTES:
      return put_usual_string(t, value, size);
    case CST__TAG_INT:
      return is_repeated(t) ? SLOW : put_few_ints(t, values, size);
    case CST__TAG_FLOAT:
      return is_repeated(t) ? SLOW : put_packed_floats(t, values, size, true);
    default: /* damaged bytes that are like a column without a kind */
      return SLOW;
  }
}

/* An entry of any size, or what is not an entry: what follows all that was done, or NULL after an
 * error. */
static __attribute__((noinline)) const uint8_t *put_any_entry(cst__decode_state *state,
                                                              const uint8_t *at, const uint8_t *end,
                                                              const uint8_t *readable) {
  const uint8_t *entry = at + 1;
  size_t size;
  if (UNLIKELY(*at != CST__TAG_FIRST || !read_size(&entry, &size) || entry > end ||
               size > (size_t)(end - entry))) {
    return cst__slow_features(state, at, (size_t)(end - at)) == CST_OK ? end : NULL;
  }
  bool slack = readable - entry >= (ptrdiff_t)(size + SLACK);
  outcome how = SLOW;
  if (LIKELY(slack)) {
    how = put_entry(state, entry, entry + size, true);
  } else if (size > TAIL_BYTES) {
    how = put_entry(state, entry, entry + size, false);
  }
  return LIKELY(how <= PASSED) || put_odd(state, how, entry, size) == CST_OK ? entry + size : NULL;
}

/* True if [value, next) is nothing but a Feature of up to 16 KB, whose head may be read. */
ALWAYS_INLINE bool is_feature(const uint8_t *value, const uint8_t *next) {
  size_t rest = (size_t)(next - value);
  size_t size = value[1];
  if (size >= 0x80) {
    size = (size & 0x7f) | (size_t)value[2] << 7; /* a third byte makes it too large */
    rest--;
  }
  return value[0] == CST__TAG_VALUE && size + 2 == rest;
}

/* Steps over entries, as long as their names end like none that is wanted: what follows them. The
 * next one may be any, and is left to those who put it somewhere. [at, limit) is of entries, and
 * SLACK follows it. Nothing is stored here and hardly anything asked, so that the next entry's
 * place is soon known: that is what one waits for. */
static __attribute__((noinline)) const uint8_t *pass_entries(const cst__name_table *table,
                                                             const uint8_t *at,
                                                             const uint8_t *limit) {
  for (;;) {
    uint32_t head;
    __builtin_prefetch(at + PASS_FETCH);
    __builtin_prefetch(at + PASS_FETCH + 64);
    memcpy(&head, at, 4);
    const uint8_t *next = at + 2 + at[1];
    const uint8_t *name = at + 4;
    size_t name_size = head >> 24;
    if (UNLIKELY((head & 0x80ff80ff) != 0x000a000a)) {
      /* One of 128 bytes to 16 KB. */
      if ((head & 0xff8080ff) != 0x0a00800a || at[4] >= 0x80) {
        return at;
      }
      next = at + 3 + ((head >> 8 & 0x7f) | (head >> 9 & 0x3f80));
      name = at + 5;
      name_size = at[4];
    }
    const uint8_t *value = name + name_size;
    if (UNLIKELY(next > limit || next - value < 3)) {
      return at;
    }
    size_t last = name_size < 8 ? name_size : 8;
    uint64_t tail = keep_bytes(cst__load64(value - last), last);
    if (cst__name_may_be_known(table, tail, name_size) || UNLIKELY(!is_feature(value, next))) {
      return at;
    }
    at = next;
  }
}

/* The entries of one Features message, [at, end), where `readable` is the end of what may be read
 * and at least HEADER_SLACK after every entry that is looked at. Returns where it stopped: at the
 * end, near the end of what may be read, or where a name was learned and names are to be looked up
 * in another way; NULL after an error. */
ALWAYS_INLINE const uint8_t *put_entries_by(cst__decode_state *state, const uint8_t *at,
                                            const uint8_t *end, const uint8_t *readable,
                                            bool has_long) {
  local_state now = local_state_of(state);
  const uint8_t *begin_limit = readable - HEADER_SLACK < end ? readable - HEADER_SLACK + 1 : end;
  const uint8_t *end_limit = readable - SLACK < end ? readable - SLACK : end;
  for (;;) {
    uint32_t head; /* after the last entry it is something, but no entry that ends in time */
    memcpy(&head, at, 4);
    size_t entry_size = (uint8_t)(head >> 8);
    const uint8_t *next = at + 2 + entry_size;
    if (LIKELY((head & 0x80ff80ff) == 0x000a000a && next <= end_limit)) {
      outcome went = put_usual(&now, at, entry_size, head >> 24, has_long);
      if (LIKELY(went == DONE)) {
        at = next;
        continue;
      }
      if (LIKELY(went == PASSED)) {
        at = now.table.has_few ? pass_entries(state->table, next, end_limit) : next;
        continue;
      }
      if (put_odd(state, went, at + 2, entry_size) != CST_OK) {
        return NULL;
      }
      at = next;
    } else {
      if (at >= begin_limit) {
        return at;
      }
      if (end_limit < end && end - at <= TAIL_BYTES) {
        return at; /* near the end: the caller copies */
      }
      at = put_any_entry(state, at, end, readable);
      if (at == NULL) {
        return NULL;
      }
    }
    if (UNLIKELY(state->table->has_long != has_long || at >= begin_limit)) {
      return at;
    }
    if (UNLIKELY(now.table.count != state->table->count)) {
      now = local_state_of(state); /* there is a new column */
    }
  }
}

static __attribute__((noinline)) const uint8_t *put_entries_by_short_names(
    cst__decode_state *state, const uint8_t *at, const uint8_t *end, const uint8_t *readable) {
  return put_entries_by(state, at, end, readable, false);
}

static __attribute__((noinline)) const uint8_t *put_entries_by_long_names(cst__decode_state *state,
                                                                          const uint8_t *at,
                                                                          const uint8_t *end,
                                                                          const uint8_t *readable) {
  return put_entries_by(state, at, end, readable, true);
}

/* The same, to the end or near to it. */
static const uint8_t *put_feature_entries(cst__decode_state *state, const uint8_t *at,
                                          const uint8_t *end, const uint8_t *readable) {
  bool has_long;
  do {
    has_long = state->table->has_long;
    at = has_long ? put_entries_by_long_names(state, at, end, readable)
                  : put_entries_by_short_names(state, at, end, readable);
  } while (UNLIKELY(at != NULL && at != end && state->table->has_long != has_long));
  return at;
}

/* All entries of a record that begins at `begin`. */
static cst_status put_features_message(cst__decode_state *state, const uint8_t *begin,
                                       const uint8_t *at, const uint8_t *end,
                                       const uint8_t *readable) {
  uint8_t tail[TAIL_BYTES + HEADER_SLACK + SLACK];
  uint8_t *copy = tail;
  state->view_shift = 0;
  if (readable - at >= HEADER_SLACK) {
    at = put_feature_entries(state, at, end, readable);
  }
  if (LIKELY(at == end)) {
    return CST_OK;
  }
  if (UNLIKELY(at == NULL)) {
    return state->error->code;
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
  at = put_feature_entries(state, copy, copy + rest, copy + rest + HEADER_SLACK + SLACK);
  return at != NULL ? CST_OK : state->error->code;
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
      cst__prefetch(records->items[i + 1].data, records->items[i + 1].size, FETCH_BYTES);
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

/* For four rows, from the last: which of the four newest ends each of them takes. Bit i of the
 * index says that row i has values; lane 3 is the newest end. */
#define TAKE_ENDS                                                                                  \
  {                                                                                                \
    LANES(3, 3, 3, 3), LANES(3, 3, 3, 3), LANES(2, 3, 3, 3), LANES(2, 3, 3, 3), LANES(2, 2, 3, 3), \
        LANES(2, 2, 3, 3), LANES(1, 2, 3, 3), LANES(1, 2, 3, 3), LANES(2, 2, 2, 3),                \
        LANES(2, 2, 2, 3), LANES(1, 2, 2, 3), LANES(1, 2, 2, 3), LANES(1, 1, 2, 3),                \
        LANES(1, 1, 2, 3), LANES(0, 1, 2, 3), LANES(0, 1, 2, 3)                                    \
  }

#if defined(__AVX2__)
#define EXPANDS_FOUR 1
#define LANES(a, b, c, d) \
  { 2 * (a), 2 * (a) + 1, 2 * (b), 2 * (b) + 1, 2 * (c), 2 * (c) + 1, 2 * (d), 2 * (d) + 1 }
static const int32_t take_ends[16][8] = TAKE_ENDS;

/* Writes to[0 .. 3] of ends[0 .. 3], which may overlap; the number of bits. */
ALWAYS_INLINE size_t expand_four(int64_t *to, const int64_t *ends, unsigned bits) {
  __m256i newest = _mm256_loadu_si256((const __m256i *)(const void *)ends);
  __m256i lanes = _mm256_loadu_si256((const __m256i *)(const void *)take_ends[bits]);
  _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permutevar8x32_epi32(newest, lanes));
  return (size_t)__builtin_popcount(bits);
}
#elif defined(__ARM_NEON)
#define EXPANDS_FOUR 1
/* The instruction takes single bytes. */
#define BYTES(end) (UINT64_C(0x0706050403020100) + UINT64_C(0x0808080808080808) * (end))
#define LANES(a, b, c, d) \
  { BYTES(a), BYTES(b), BYTES(c), BYTES(d) }
static const uint64_t take_ends[16][4] = TAKE_ENDS;

ALWAYS_INLINE size_t expand_four(int64_t *to, const int64_t *ends, unsigned bits) {
  const uint8x16x2_t newest = {
      {vreinterpretq_u8_s64(vld1q_s64(ends)), vreinterpretq_u8_s64(vld1q_s64(ends + 2))}};
  const uint8x16_t low = vreinterpretq_u8_u64(vld1q_u64(take_ends[bits]));
  const uint8x16_t high = vreinterpretq_u8_u64(vld1q_u64(take_ends[bits] + 2));
  vst1q_s64(to, vreinterpretq_s64_u8(vqtbl2q_u8(newest, low)));
  vst1q_s64(to + 2, vreinterpretq_s64_u8(vqtbl2q_u8(newest, high)));
  /* Digit i is the number of bits of i; counting them would go through a vector. */
  return UINT64_C(0x4332322132212110) >> (4 * bits) & 7;
}
#endif

/* From the last row on, so that nothing is overwritten before it was read: there are never fewer
 * rows left than ends. */
static void expand_offsets(int64_t *offsets, const uint8_t *validity, size_t rows, size_t present) {
  size_t row = rows;
  while (row > present) {
#if EXPANDS_FOUR
    if ((row & 7) == 0 && present >= 7) {
      unsigned bits = validity[row / 8 - 1];
      present -= expand_four(offsets + row - 3, offsets + present - 3, bits >> 4);
      present -= expand_four(offsets + row - 7, offsets + present - 3, bits & 15);
      row -= 8;
      continue;
    }
    if ((row & 3) == 0 && present >= 3) {
      unsigned bits = (validity[(row - 4) >> 3] >> ((row - 4) & 7)) & 15;
      present -= expand_four(offsets + row - 3, offsets + present - 3, bits);
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
