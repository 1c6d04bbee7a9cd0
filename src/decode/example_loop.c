/* The hot loop of the tf.Example decoder: the layout that every writer produces, straight from the
 * bytes into the column buffers.
 *
 * Compiled once per instruction set (CST_VARIANT names the function). Whatever does not look as
 * expected is left to example_slow.c, entry by entry; nothing is committed before an entry is known
 * to be good, so that the slow way can always begin anew. Loads of up to 16 bytes may begin anywhere
 * in an entry (`slack`), therefore an entry near the end of what may be read is first copied to where
 * that is safe; one that is too long for that is read without slack.
 */
#include <string.h>

#include "decode/example_loop.h"
#if defined(__BMI2__)
#include <immintrin.h>
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CST__PASTE_(a, b) a##b
#define CST__PASTE(a, b) CST__PASTE_(a, b)

enum {
  SLACK = 16,       /* bytes behind an entry that must be readable */
  TAIL_BYTES = 512, /* the longest end of a record that is copied to get the slack */
  HEADER_SLACK = 32 /* readable bytes from an entry's begin on, before anything is known of it */
};

/* How one entry went. */
typedef enum outcome { DONE, SLOW, FAILED } outcome;

/* A length of one or two bytes, by far the most; longer ones out of line. False: malformed. */
static bool long_size(const uint8_t **at, size_t *out) {
  size_t value = 0;
  for (int i = 0; i < 5; i++) {
    uint8_t c = (*at)[i];
    value |= (size_t)(c & 0x7f) << (7 * i);
    if (c < 0x80) {
      *at += i + 1;
      *out = value;
      return value <= INT32_MAX;
    }
  }
  return false;
}

static inline bool read_size(const uint8_t **at, size_t *out) {
  const uint8_t *p = *at;
  if (LIKELY(p[0] < 0x80)) {
    *out = p[0];
    *at = p + 1;
    return true;
  }
  if (LIKELY(p[1] < 0x80)) {
    *out = (size_t)(p[0] & 0x7f) | (size_t)p[1] << 7;
    *at = p + 2;
    return true;
  }
  return long_size(at, out);
}

/* The same where nothing behind `end` may be read. */
static inline bool read_size_within(const uint8_t **at, const uint8_t *end, size_t *out) {
  if (LIKELY(end - *at >= 5)) {
    return read_size(at, out);
  }
  uint8_t copy[8] = {0};
  const uint8_t *in_copy = copy;
  size_t left = end > *at ? (size_t)(end - *at) : 0;
  memcpy(copy, *at, left);
  memset(copy + left, 0xff, sizeof copy - left);
  bool ok = read_size(&in_copy, out) && (size_t)(in_copy - copy) <= left;
  *at += in_copy - copy;
  return ok;
}

/* The 7-bit groups of a varint of up to 8 bytes, closed up. */
static inline uint64_t close_up(uint64_t word) {
#if defined(__BMI2__)
  return _pext_u64(word, UINT64_C(0x7f7f7f7f7f7f7f7f));
#else
  word &= UINT64_C(0x7f7f7f7f7f7f7f7f);
  word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
  word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
  return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
#endif
}

/* A varint of 9 or 10 bytes; bits beyond the 64th are dropped, as protobuf does. NULL: malformed. */
static const uint8_t *long_varint(const uint8_t *at, const uint8_t *end, int64_t *out) {
  uint64_t value = 0;
  for (int i = 0; i < 10 && at + i < end; i++) {
    value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
    if (at[i] < 0x80) {
      *out = (int64_t)value;
      return at + i + 1;
    }
  }
  return NULL;
}

/* Packed varints up to `end`; there is room for one value per byte. NULL: malformed. */
static inline int64_t *unpack(const uint8_t *at, const uint8_t *end, bool slack, int64_t *out) {
  const uint8_t *wide_end = slack ? end : end - (end - at < 8 ? end - at : 7);
  while (at < wide_end) {
    uint64_t word = cst__load64(at);
    uint64_t stops = ~word & UINT64_C(0x8080808080808080);
    if (UNLIKELY(stops == 0)) {
      at = long_varint(at, end, out++);
      if (at == NULL) {
        return NULL;
      }
      continue;
    }
    uint64_t mask = stops ^ (stops - 1); /* up to the first byte that ends a varint */
    *out++ = (int64_t)close_up(word & mask);
    at += (__builtin_ctzll(stops) >> 3) + 1;
  }
  while (!slack && at != NULL && at < end) {
    at = long_varint(at, end, out++);
  }
  return at == end ? out : NULL;
}

/* Copies `size` bytes; may write, and with slack read, up to 15 bytes more. */
static inline void copy_values(uint8_t *to, const uint8_t *from, size_t size, bool slack) {
  if (!slack || UNLIKELY(size > 128)) {
    memcpy(to, from, size);
    return;
  }
  memcpy(to, from, 16);
  for (size_t i = 16; UNLIKELY(i < size); i += 16) {
    memcpy(to + i, from + i, 16);
  }
}

static inline outcome commit(cst__loop *loop, uint32_t column, size_t num_values) {
  cst__hot *hot = &loop->hot[column];
  int64_t count = (int64_t)(num_values - hot->num_values);
  if (UNLIKELY(hot->flags & CST__HOT_FIXED) && count != loop->cold[column].fixed_size) {
    (void)cst__wrong_count(loop, column, count);
    return FAILED;
  }
  hot->num_values = num_values;
  hot->offsets[loop->row + 1] = (int64_t)num_values;
  hot->next_row = loop->row + 1;
  return DONE;
}

static inline outcome put_ints(cst__loop *loop, uint32_t column, const uint8_t *at,
                               const uint8_t *end, bool slack) {
  cst__hot *hot = &loop->hot[column];
  size_t size;
  if (at == end) {
    return commit(loop, column, hot->num_values);
  }
  if (UNLIKELY(*at++ != CST__TAG_FIRST || !read_size(&at, &size) || size != (size_t)(end - at))) {
    return SLOW;
  }
  if (UNLIKELY(size > hot->room_values - hot->num_values)) {
    if (cst__grow_hot(loop, column, size, 0) != CST_OK) {
      return FAILED;
    }
  }
  int64_t *values = (int64_t *)(void *)hot->values;
  int64_t *last = unpack(at, end, slack, values + hot->num_values);
  if (UNLIKELY(last == NULL)) {
    return SLOW;
  }
  return commit(loop, column, (size_t)(last - values));
}

static inline outcome put_floats(cst__loop *loop, uint32_t column, const uint8_t *at,
                                 const uint8_t *end, bool slack) {
  cst__hot *hot = &loop->hot[column];
  size_t size;
  if (at == end) {
    return commit(loop, column, hot->num_values);
  }
  if (UNLIKELY(*at++ != CST__TAG_FIRST || !read_size(&at, &size) || size != (size_t)(end - at) ||
               (size & 3) != 0)) {
    return SLOW;
  }
  size_t count = size >> 2;
  if (UNLIKELY(count > hot->room_values - hot->num_values)) {
    if (cst__grow_hot(loop, column, count, 0) != CST_OK) {
      return FAILED;
    }
  }
  copy_values(hot->values + hot->num_values * 4, at, size, slack);
  return commit(loop, column, hot->num_values + count);
}

static inline outcome put_bytes(cst__loop *loop, uint32_t column, const uint8_t *at,
                                const uint8_t *end, bool slack) {
  cst__hot *hot = &loop->hot[column];
  size_t count = hot->num_values;
  size_t used = hot->num_bytes;
  while (at < end) {
    size_t size;
    if (UNLIKELY(*at++ != CST__TAG_FIRST ||
                 !(slack ? read_size(&at, &size) : read_size_within(&at, end, &size)) ||
                 at > end || size > (size_t)(end - at))) {
      return SLOW;
    }
    if (UNLIKELY(count >= hot->room_values || size > hot->room_bytes - used)) {
      size_t values = count - hot->num_values + 1;
      size_t bytes = used - hot->num_bytes + (size_t)(end - at);
      if (cst__grow_hot(loop, column, values, bytes) != CST_OK) {
        return FAILED;
      }
    }
    copy_values(hot->values + used, at, size, slack);
    used += size;
    at += size;
    hot->value_offsets[++count] = (int64_t)used;
  }
  hot->num_bytes = used;
  return commit(loop, column, count);
}

/* The 16 bytes of a binary view (Arrow columnar format, "Variable-size Binary View Layout"): short
 * values stand in it, long ones by block and offset. */
static inline void put_view(const cst__loop *loop, uint8_t *to, const uint8_t *at, size_t size) {
  int32_t view[4] = {(int32_t)size, 0, 0, 0};
  if (size <= 12) {
    memcpy(view + 1, at, size);
  } else {
    memcpy(view + 1, at, 4);
    view[2] = loop->block_index;
    view[3] = (int32_t)(at + loop->view_shift - loop->block->data);
  }
  memcpy(to, view, 16);
}

static inline outcome put_views(cst__loop *loop, uint32_t column, const uint8_t *at,
                                const uint8_t *end, bool slack) {
  cst__hot *hot = &loop->hot[column];
  size_t count = hot->num_values;
  while (at < end) {
    size_t size;
    if (UNLIKELY(*at++ != CST__TAG_FIRST ||
                 !(slack ? read_size(&at, &size) : read_size_within(&at, end, &size)) ||
                 at > end || size > (size_t)(end - at))) {
      return SLOW;
    }
    if (UNLIKELY(count >= hot->room_values)) {
      if (cst__grow_hot(loop, column, count - hot->num_values + 1, 0) != CST_OK) {
        return FAILED;
      }
    }
    put_view(loop, hot->values + count++ * 16, at, size);
    at += size;
  }
  return commit(loop, column, count);
}

/* The kind's list of an entry whose column is known; nothing but the list is in the Feature. */
static inline outcome put_list(cst__loop *loop, uint32_t column, const uint8_t *at,
                               const uint8_t *end, bool slack) {
  cst__hot *hot = &loop->hot[column];
  uint8_t tag = *at++;
  size_t size;
  if (UNLIKELY(tag != hot->tag || !read_size(&at, &size) || size != (size_t)(end - at))) {
    return SLOW;
  }
  if (UNLIKELY(hot->next_row != loop->row)) {
    if (hot->next_row > loop->row) {
      return SLOW; /* the name again: the last one wins */
    }
    if (cst__fill_gap(loop, column, loop->row) != CST_OK) {
      return FAILED;
    }
  }
  if (tag == CST__TAG_INT) {
    return put_ints(loop, column, at, end, slack);
  }
  if (tag == CST__TAG_FLOAT) {
    return put_floats(loop, column, at, end, slack);
  }
  if (UNLIKELY(hot->flags & CST__HOT_VIEW)) {
    return put_views(loop, column, at, end, slack);
  }
  return put_bytes(loop, column, at, end, slack);
}

/* One map entry: its content is [at, end), with SLACK readable bytes behind, or else longer than
 * TAIL_BYTES, so that its head can be read all the same. */
static inline outcome put_entry(cst__loop *loop, const uint8_t *at, const uint8_t *end,
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
  cst__name_key key = {cst__load64(name), cst__load64(name + (size > 8 ? size - 8 : 0)),
                       (uint32_t)size};
  uint64_t keep = ~UINT64_C(0) >> ((8 - (size < 8 ? size : 8)) * 8 & 63);
  keep = size == 0 ? 0 : keep;
  key.head &= keep;
  key.tail &= keep;
  uint32_t column = cst__name_table_probe(loop->table, key, name);
  if (UNLIKELY(column == CST__NO_COLUMN)) {
    if (cst__unknown_name(loop, name, size, &column) != CST_OK) {
      return FAILED;
    }
    if (column == CST__NO_COLUMN) {
      return DONE;
    }
  }
  size_t feature_size;
  if (UNLIKELY(*value++ != CST__TAG_VALUE || !read_size(&value, &feature_size) ||
               feature_size != (size_t)(end - value) || feature_size < 2)) {
    return SLOW;
  }
  return put_list(loop, column, value, end, slack);
}

static __attribute__((noinline)) outcome put_long_entry(cst__loop *loop, const uint8_t *at,
                                                        const uint8_t *end) {
  return put_entry(loop, at, end, false);
}

/* The entries of one Features message. `readable` is the end of what may be read. */
static cst_status put_features(cst__loop *loop, const uint8_t *at, const uint8_t *end,
                               const uint8_t *readable) {
  uint8_t tail[TAIL_BYTES + HEADER_SLACK + SLACK];
  loop->view_shift = 0;
  while (at < end) {
    const uint8_t *entry = at + 1;
    size_t size;
    if (LIKELY(readable - at >= HEADER_SLACK)) {
      if (UNLIKELY(*at != CST__TAG_FIRST || !read_size(&entry, &size) || entry > end ||
                   size > (size_t)(end - entry))) {
        return cst__slow_features(loop, at, (size_t)(end - at));
      }
      bool slack = readable - entry >= (ptrdiff_t)(size + SLACK);
      if (LIKELY(slack) || size > TAIL_BYTES) {
        outcome how = LIKELY(slack) ? put_entry(loop, entry, entry + size, true)
                                    : put_long_entry(loop, entry, entry + size);
        if (UNLIKELY(how != DONE)) {
          CST__TRY(how == FAILED ? loop->error->code : cst__slow_entry(loop, entry, size));
        }
        at = entry + size;
        continue;
      }
    }
    if (end - at > TAIL_BYTES) {
      /* Long, and yet no long entry: unknown fields. */
      return cst__slow_features(loop, at, (size_t)(end - at));
    }
    size_t rest = (size_t)(end - at);
    memcpy(tail, at, rest);
    memset(tail + rest, 0, HEADER_SLACK + SLACK);
    loop->view_shift += at - tail;
    at = tail;
    end = tail + rest;
    readable = end + HEADER_SLACK + SLACK;
  }
  return CST_OK;
}

cst_status CST__PASTE(cst__example_loop_, CST_VARIANT)(cst__loop *loop,
                                                       const cst__records *records) {
  for (size_t i = 0; i < records->count; i++) {
    const uint8_t *at = records->items[i].data;
    size_t size = records->items[i].size;
    const uint8_t *end = at + size;
    size_t features = 0;
    loop->row = (int32_t)i;
    cst__enter_record(loop, records);
    if (LIKELY(size >= 8 && *at++ == CST__TAG_FIRST && read_size(&at, &features) &&
               features == (size_t)(end - at))) {
      CST__TRY(put_features(loop, at, end, end + records->padding));
    } else {
      CST__TRY(cst__slow_record(loop, records->items[i].data, size));
    }
  }
  return CST_OK;
}
