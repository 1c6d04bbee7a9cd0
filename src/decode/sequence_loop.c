/* The hot loop of the tf.SequenceExample decoder: the layout that every writer produces, straight
 * from the bytes into the column buffers.
 *
 * Compiled once per instruction set, as example_loop.c, whose walk over Features takes the context.
 * A record whose feature lists look otherwise than expected is taken back and left to
 * sequence_slow.c as a whole. Of a feature list, most is read with loads that run over the end of a
 * Feature; the end of a record is first copied to where that is safe.
 */
#include <string.h>

#include "base/interrupt.h"
#include "base/prefetch.h"
#include "decode/sequence_loop.h"
#include "proto/fast_wire.h"

enum { FETCH_BYTES = 4096, RECORD_WORK = 256 /* that a record makes besides its bytes */ };

/* How a list or record went. */
typedef enum outcome { DONE, SLOW, FAILED } outcome;

/* A feature list while it is appended; nothing is in the column before all of it is. */
typedef struct steps {
  cst__sequence *sequence;
  cst__hot *hot;
  uint32_t column;
  size_t num_lists;
  size_t num_values;
  size_t num_bytes;
} steps;

/* ---- one Feature of any layout, nothing after `end` is read ---- */

static bool put_step_strings(steps *s, const uint8_t *at, const uint8_t *end) {
  cst__hot *hot = s->hot;
  const cst__decode_state *state = &s->sequence->state;
  while (at < end) {
    size_t size;
    if (*at++ != CST__TAG_FIRST || !read_size_within(&at, end, &size) ||
        size > (size_t)(end - at)) {
      return false;
    }
    if (hot->flags & CST__HOT_VIEW) {
      cst__put_view(hot->values + s->num_values * CST__VIEW_SIZE, at, size, state->block_index,
                    state->block->data, at + state->view_shift);
    } else {
      memcpy(hot->values + s->num_bytes, at, size);
      s->num_bytes += size;
      hot->value_offsets[s->num_values + 1] = (int64_t)s->num_bytes;
    }
    s->num_values++;
    at += size;
  }
  return true;
}

static bool put_packed_step(steps *s, const uint8_t *at, const uint8_t *end) {
  size_t size;
  if (*at++ != CST__TAG_FIRST || !read_size_within(&at, end, &size) || size != (size_t)(end - at)) {
    return false;
  }
  if (s->hot->tag == CST__TAG_FLOAT) {
    memcpy(s->hot->values + s->num_values * 4, at, size);
    s->num_values += size / 4;
    return size % 4 == 0;
  }
  int64_t *values = (int64_t *)(void *)s->hot->values;
  int64_t *last = unpack(at, end, false, values + s->num_values);
  s->num_values = last != NULL ? (size_t)(last - values) : 0;
  return last != NULL;
}

/* The list of a kind, [at, end), which must be the column's. */
static bool put_kind(steps *s, const uint8_t *at, const uint8_t *end) {
  size_t size;
  if (*at++ != s->hot->tag || !read_size_within(&at, end, &size) || size != (size_t)(end - at)) {
    return false;
  }
  if (size == 0) {
    return true;
  }
  return s->hot->tag == CST__TAG_BYTES ? put_step_strings(s, at, end) : put_packed_step(s, at, end);
}

/* The next Feature; *at moves past it. */
static __attribute__((noinline)) outcome put_any_feature(steps *s, const uint8_t **at,
                                                         const uint8_t *end) {
  const uint8_t *feature = *at + 1;
  size_t size;
  if (**at != CST__TAG_FIRST || !read_size_within(&feature, end, &size) ||
      size > (size_t)(end - feature)) {
    return SLOW;
  }
  if (size == 0) {
    if (cst__inner_add_null(s->sequence, s->column, s->num_lists) != CST_OK) {
      return FAILED;
    }
  } else if (!put_kind(s, feature, feature + size)) {
    return SLOW;
  }
  s->sequence->inners[s->column].ends[++s->num_lists] = (int64_t)s->num_values;
  *at = feature + size;
  return DONE;
}

/* ---- Features of fewer than 128 bytes that SLACK follows ---- */

/* Of the usual Feature all lengths follow from one, so that one compare checks the whole head:
 * 0A size KIND size-2 0A size-4 VALUES, or 0A 02 KIND 00 without values. Of several strings, the
 * last of these bytes is the length of the first. */
ALWAYS_INLINE bool is_usual(uint64_t word, size_t size, uint8_t tag) {
  uint64_t head = UINT64_C(0x0a0000000a) + ((uint64_t)tag << 16) - (UINT64_C(2) << 24) -
                  (UINT64_C(4) << 40) + size * UINT64_C(0x010001000100);
  uint64_t mask = tag == CST__TAG_BYTES ? UINT64_C(0xffffffffff) : UINT64_C(0xffffffffffff);
  bool full = (((word ^ head) & mask) == 0) & (size - 4 < 124);
  return full | ((word & 0xffffffff) == (UINT64_C(0x020a) | (uint64_t)tag << 16));
}

/* The strings of a list while they are appended. */
typedef struct strings {
  uint8_t *values;
  int64_t *offsets;
  size_t count;
  size_t used;
} strings;

/* False: malformed. */
ALWAYS_INLINE bool take_strings(strings *s, const uint8_t *at, const uint8_t *end) {
  while (at < end) {
    size_t size = at[1];
    if (UNLIKELY(at[0] != CST__TAG_FIRST || (ptrdiff_t)size + 2 > end - at)) {
      return false;
    }
    copy_values(s->values + s->used, at + 2, size, true);
    s->used += size;
    s->offsets[++s->count] = (int64_t)s->used;
    at += size + 2;
  }
  return true;
}

/* Features of a kind, as far as they are the usual ones and end before `limit`, which has
 * SLACK after it. */
ALWAYS_INLINE const uint8_t *put_usual(steps *s, const uint8_t *at, const uint8_t *limit,
                                       uint8_t tag) {
  uint8_t *values = s->hot->values;
  int64_t *ends = s->sequence->inners[s->column].ends + 1;
  strings text = {values, s->hot->value_offsets, s->num_values, s->num_bytes};
  size_t count = s->num_values;
  size_t lists = s->num_lists;
  while (at < limit) {
    uint64_t word = cst__load64(at);
    size_t size = (word >> 8) & 0xff;
    const uint8_t *next = at + 2 + size;
    const uint8_t *first = at + 6 < next ? at + 6 : next;
    if (UNLIKELY(!is_usual(word, size, tag) || next > limit)) {
      break;
    }
    if (tag == CST__TAG_BYTES) {
      strings before = text;
      if (UNLIKELY(!take_strings(&text, size > 2 ? at + 4 : next, next))) {
        text = before;
        break;
      }
      count = text.count;
    } else if (tag == CST__TAG_INT) {
      int64_t *all = (int64_t *)(void *)values;
      int64_t *last = unpack(first, next, true, all + count);
      if (UNLIKELY(last == NULL)) {
        break;
      }
      count = (size_t)(last - all);
    } else {
      if (UNLIKELY(((next - first) & 3) != 0)) {
        break;
      }
      copy_values(values + count * 4, first, (size_t)(next - first), true);
      count += (size_t)(next - first) >> 2;
    }
    ends[lists++] = (int64_t)count;
    at = next;
  }
  s->num_values = count;
  s->num_bytes = text.used;
  s->num_lists = lists;
  return at;
}

static const uint8_t *put_fast(steps *s, const uint8_t *at, const uint8_t *limit) {
  switch (s->hot->tag) {
    case CST__TAG_INT:
      return put_usual(s, at, limit, CST__TAG_INT);
    case CST__TAG_FLOAT:
      return put_usual(s, at, limit, CST__TAG_FLOAT);
    default:
      return s->hot->flags & CST__HOT_VIEW ? at : put_usual(s, at, limit, CST__TAG_BYTES);
  }
}

/* ---- a feature list ---- */

/* Room for all that so many bytes of Features can hold. */
static bool reserve_steps(steps *s, size_t size) {
  cst__sequence *sequence = s->sequence;
  size_t values = s->hot->tag == CST__TAG_FLOAT   ? size / 4
                  : s->hot->tag == CST__TAG_BYTES ? size / 2
                                                  : size;
  size_t bytes = s->hot->tag == CST__TAG_BYTES ? size : 0;
  if (values > s->hot->room_values - s->num_values || bytes > s->hot->room_bytes - s->num_bytes) {
    if (cst__grow_hot(&sequence->state, s->column, values, bytes) != CST_OK) {
      return false;
    }
  }
  return size / 2 <= sequence->inners[s->column].room_lists - s->num_lists ||
         cst__inner_grow(sequence, s->column, size / 2) == CST_OK;
}

/* All Features of [at, end); what lies before `readable` may be read. */
static outcome put_steps(steps *s, const uint8_t *at, const uint8_t *end, const uint8_t *readable) {
  uint8_t tail[TAIL_BYTES + SLACK];
  const uint8_t *limit = readable - at < SLACK    ? at
                         : readable - SLACK < end ? readable - SLACK
                                                  : end;
  while (at < end) {
    at = put_fast(s, at, limit);
    size_t rest = (size_t)(end - at);
    if (rest > 0 && limit < end && rest <= TAIL_BYTES) {
      memcpy(tail, at, rest);
      memset(tail + rest, 0, SLACK);
      s->sequence->state.view_shift = at - tail;
      at = tail;
      end = limit = tail + rest;
      at = put_fast(s, at, limit);
    }
    if (at < end) {
      outcome how = put_any_feature(s, &at, end);
      if (UNLIKELY(how != DONE)) {
        return how;
      }
    }
  }
  return DONE;
}

static outcome put_feature_steps(cst__sequence *sequence, uint32_t column, const uint8_t *at,
                                 const uint8_t *end, const uint8_t *readable) {
  cst__hot *hot = &sequence->state.hot[column];
  cst__inner *inner = &sequence->inners[column];
  size_t num_nulls = inner->num_nulls;
  steps s = {sequence, hot, column, inner->num_lists, hot->num_values, hot->num_bytes};
  size_t row = (size_t)sequence->state.row;
  /* A name that comes twice in a record, and a column without a type, are rare cases. */
  if (UNLIKELY(hot->tag == 0 || (hot->validity[row >> 3] >> (row & 7)) & 1)) {
    return SLOW;
  }
  if (UNLIKELY(!reserve_steps(&s, (size_t)(end - at)))) {
    (void)cst__at_lists(sequence, CST_LIMIT);
    return FAILED;
  }
  sequence->state.view_shift = 0;
  outcome how = put_steps(&s, at, end, readable);
  if (UNLIKELY(how != DONE)) {
    inner->num_nulls = num_nulls;
    return how;
  }
  hot->num_values = (uint32_t)s.num_values;
  hot->num_bytes = s.num_bytes;
  cst__inner_commit(sequence, column, s.num_lists);
  return DONE;
}

/* ---- entries and records ---- */

/* The payload of the field `tag` at *at, which moves past it. False: it is not there whole. */
static bool take_field(const uint8_t **at, const uint8_t *end, uint8_t tag, cst_bytes *out) {
  size_t size;
  const uint8_t *begin = *at + 1;
  if (*at >= end || **at != tag || !read_size_within(&begin, end, &size) ||
      size > (size_t)(end - begin)) {
    return false;
  }
  *out = (cst_bytes){begin, size};
  *at = begin + size;
  return true;
}

static outcome put_feature_list(cst__sequence *sequence, cst_bytes entry, const uint8_t *readable) {
  const uint8_t *at = entry.data;
  const uint8_t *end = at + entry.size;
  cst_bytes name;
  cst_bytes list;
  if (UNLIKELY(!take_field(&at, end, CST__TAG_FIRST, &name))) {
    return SLOW;
  }
  if (UNLIKELY(!take_field(&at, end, CST__TAG_VALUE, &list) || at != end)) {
    return SLOW; /* there may be another name in it */
  }
  uint32_t column = cst__name_table_find(sequence->state.table, name.data, name.size);
  if (UNLIKELY(column == CST__NO_COLUMN)) {
    return sequence->state.learns ? SLOW : DONE;
  }
  return put_feature_steps(sequence, column, list.data, end, readable);
}

static outcome put_lists_message(cst__sequence *sequence, cst_bytes lists,
                                 const uint8_t *readable) {
  const uint8_t *at = lists.data;
  const uint8_t *end = at + lists.size;
  cst_bytes entry;
  sequence->is_seen = true;
  while (at < end && sequence->is_wanted) {
    if (UNLIKELY(!take_field(&at, end, CST__TAG_FIRST, &entry))) {
      return SLOW;
    }
    outcome how = put_feature_list(sequence, entry, readable);
    if (UNLIKELY(how != DONE)) {
      return how;
    }
  }
  return DONE;
}

static outcome put_record(cst__sequence *sequence, cst_bytes record, const uint8_t *readable) {
  const uint8_t *at = record.data;
  const uint8_t *end = at + record.size;
  cst_bytes part;
  outcome how = DONE;
  if (at < end && *at == CST__TAG_FIRST) {
    if (UNLIKELY(!take_field(&at, end, CST__TAG_FIRST, &part))) {
      return SLOW;
    }
    if (UNLIKELY(sequence->kernels->features(sequence->context, record.data, part.data, at,
                                             readable) != CST_OK)) {
      return FAILED;
    }
  }
  if (at < end) {
    how = take_field(&at, end, CST__TAG_VALUE, &part) ? put_lists_message(sequence, part, readable)
                                                      : SLOW;
  }
  return LIKELY(how == DONE) && at < end ? SLOW : how;
}

cst_status CST__PASTE(cst__sequence_run_, CST_VARIANT)(cst__sequence *sequence,
                                                       const cst__records *records) {
  size_t done = 0;
  for (size_t i = 0; i < records->count; i++) {
    cst_bytes record = records->items[i];
    if (LIKELY(i + 1 < records->count)) {
      cst__prefetch(records->items[i + 1].data, records->items[i + 1].size, FETCH_BYTES);
    }
    cst__sequence_enter(sequence, records, i);
    outcome how = put_record(sequence, record, record.data + record.size + records->padding);
    if (UNLIKELY(how == SLOW)) {
      CST__TRY(cst__slow_sequence(sequence, record.data, record.size));
    } else if (UNLIKELY(how == FAILED)) {
      return sequence->state.error->code;
    }
    if (UNLIKELY(sequence->context->first_wrong != 0)) {
      CST__TRY(cst__settle_wrong(sequence->context));
    }
    if (UNLIKELY(cst__stretch_is_over(&done, record.size + RECORD_WORK))) {
      CST__TRY(cst__interrupted(sequence->state.error));
    }
  }
  return CST_OK;
}
