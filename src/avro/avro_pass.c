/* Passing lists that nobody wants, whose steps only skip: a loop of its own, with nothing but the
 * place in hand. What it does not expect it leaves to the steps, from the begin of the list. */
#include "avro/avro_take.h"

typedef const uint8_t *place;

/* The ends of several are found in a word at once. */
static place pass_varints(place at, place end, int64_t count) {
  for (; count > 0 && at < end; at += 8) {
    uint64_t ends = ~cst__load64(at) & UINT64_C(0x8080808080808080);
    const int64_t found = (int64_t)((ends >> 7) * UINT64_C(0x0101010101010101) >> 56);
    if (found >= count) {
      for (; count > 1; count--) {
        ends &= ends - 1;
      }
      at += (__builtin_ctzll(ends) >> 3) + 1;
      return at <= end ? at : NULL;
    }
    count -= found;
  }
  return count == 0 ? at : NULL;
}

static __attribute__((noinline)) place pass_long_string(place at, place end) {
  int64_t size;
  at = cst__avro_take_size(at, end, &size);
  return at != NULL ? at + size : NULL;
}

ALWAYS_INLINE place pass_strings(place at, place end, int64_t count) {
  for (; count > 0; count--) {
    at = LIKELY((*at & 0x81) == 0) ? at + 1 + (*at >> 1) : pass_long_string(at, end);
    if (UNLIKELY(at == NULL || at > end)) {
      return NULL;
    }
  }
  return at;
}

ALWAYS_INLINE place pass_fixed(place at, place end, int64_t size) {
  return LIKELY(size <= end - at) ? at + size : NULL;
}

/* Numbers are looked at one by one, as the steps do: none has more than 64 bits. */
static place pass_numbers(place at, place end, int64_t count) {
  uint64_t ignored;
  for (; count > 0; count--) {
    at = cst__avro_take_bits(at, &ignored);
    if (UNLIKELY(at == NULL || at > end)) {
      return NULL;
    }
  }
  return at;
}

/* How many items a block has to be passed, and where they begin; NULL: it is damaged. */
typedef struct block_head {
  place at;
  int64_t count;
} block_head;

/* That of any block: one that says its size is passed by that. */
static __attribute__((noinline)) block_head take_head(place at, place end) {
  int64_t count;
  int64_t size;
  at = cst__avro_take_long(at, &count);
  if (at == NULL || at > end) {
    return (block_head){NULL, 0};
  }
  if (count >= 0) {
    return (block_head){at, count};
  }
  at = cst__avro_take_size(at, end, &size);
  return (block_head){at != NULL ? at + size : NULL, 0};
}

/* Each of them is the one step. */
ALWAYS_INLINE place pass_same_items(const cst__avro_step *step, place at, place end,
                                    int64_t count) {
  enum {
    MOST_NUMBER = 1 << 15
  }; /* times the items, fewer than the bytes of any memory: no overflow */
  if (UNLIKELY(step->number > MOST_NUMBER)) {
    return NULL;
  }
  const int64_t total = count * step->number;
  return step->op == CST__AVRO_SKIP_VARINTS ? pass_varints(at, end, total)
         : step->op == CST__AVRO_SKIP_BYTES ? pass_strings(at, end, total)
                                            : pass_fixed(at, end, total);
}

/* Steps of items, `first` to `last`. */
static place pass_items(const cst__avro_step *steps, const cst__avro_step *list, place at,
                        place end, int64_t count) {
  const cst__avro_step *const last = steps + list->jump - 1;
  for (; count > 0; count--) {
    for (const cst__avro_step *s = list + 1; s != last; s++) {
      bool is_null;
      switch (s->op) {
        case CST__AVRO_SKIP_VARINTS:
          at = pass_numbers(at, end, s->number);
          break;
        case CST__AVRO_SKIP_FIXED:
          at = pass_fixed(at, end, s->number);
          break;
        case CST__AVRO_SKIP_BYTES:
          at = pass_strings(at, end, s->number);
          break;
        case CST__AVRO_SKIP_NULLABLE:
        case CST__AVRO_SKIP_NULLABLE_BYTES:
        case CST__AVRO_SKIP_NULLABLE_FIXED:
          if (UNLIKELY(at == end || (*at & 0xfd) != 0)) {
            return NULL;
          }
          is_null = *at++ >> 1 == s->number;
          if (s->op == CST__AVRO_SKIP_NULLABLE_FIXED) { /* without a branch on it */
            s++;
            at = pass_fixed(at, end, s->number & -(int64_t)!is_null);
          } else if (is_null) {
            s = steps + s->jump - 1;
          }
          break;
        default: /* lists */
          at = cst__avro_pass_list(steps, s, at, end);
          s = steps + s->jump - 1;
          break;
      }
      if (UNLIKELY(at == NULL)) {
        return NULL;
      }
    }
  }
  return at;
}

const uint8_t *cst__avro_pass_list(const cst__avro_step *steps, const cst__avro_step *list,
                                   const uint8_t *at, const uint8_t *end) {
  while (at < end && *at != 0) {
    block_head head = {at + 1, *at >> 1};
    if (UNLIKELY((*at & 0x81) != 0)) {
      head = take_head(at, end);
    }
    if (UNLIKELY(head.at == NULL || head.count > end - head.at)) {
      return NULL;
    }
    at = list->op == CST__AVRO_SKIP_LIST_OF ? pass_same_items(list + 1, head.at, end, head.count)
                                            : pass_items(steps, list, head.at, end, head.count);
    if (UNLIKELY(at == NULL)) {
      return NULL;
    }
  }
  return at < end ? at + 1 : NULL;
}
