/* Lists without some of their items. */
#include "arrow/owned.h"
#include "nested/list.h"

uint64_t *cst__words_of_bytes(const uint8_t *bytes, int64_t count, cst__arena *arena,
                              cst_error *error) {
  int64_t last = count / 64;
  uint64_t *words = cst__arena_take_items(arena, last + 1, sizeof *words);
  if (words == NULL) {
    cst__fail_memory(error, (size_t)count / 8);
    return NULL;
  }
  words[last] = 0;
  cst__bytes_to_bits(bytes, count, 0, (uint8_t *)words);
  return words;
}

/* Which items stay, 64 to a word, and how many before each word. */
typedef struct words {
  const uint64_t *bits; /* [count + 1] */
  int64_t *ranks;       /* [count + 1] */
  int64_t count;
} words;

static cst_status words_count(const uint64_t *bits, int64_t items, cst__arena *arena, words *out,
                              cst_error *error) {
  *out = (words){bits, cst__numbers_new(arena, items / 64 + 1, error), items / 64};
  if (out->ranks == NULL) {
    return CST_NO_MEMORY;
  }
  int64_t rank = 0;
  for (int64_t i = 0, end = 0; i <= out->count;) {
    CST__TRY(cst__next_stretch(&end, out->count + 1, error));
    for (; i < end; i++) {
      out->ranks[i] = rank;
      rank += __builtin_popcountll(bits[i]);
    }
  }
  return CST_OK;
}

/* Items before this one that stay. */
static inline int64_t words_rank(const words *w, int64_t at) {
  uint64_t before = (UINT64_C(1) << (at & 63)) - 1;
  return w->ranks[at >> 6] + __builtin_popcountll(w->bits[at >> 6] & before);
}

/* The spans of set bits; there is room for as many as there can be. */
static cst_status words_spans(const words *w, int64_t *begins, int64_t *ends, int64_t *count,
                              cst_error *error) {
  int64_t total = 0;
  int64_t span = 0;
  int64_t last = -1; /* where the last span ends */
  ends[0] = 0;
  for (int64_t i = 0, end = 0; i <= w->count;) {
    CST__TRY(cst__next_stretch(&end, w->count + 1, error));
    for (; i < end; i++) {
      for (uint64_t word = w->bits[i]; word != 0;) {
        int first = __builtin_ctzll(word);
        uint64_t rest = ~(word >> first);
        int size = rest != 0 ? __builtin_ctzll(rest) : 64;
        int64_t begin = i * 64 + first;
        begins[span] = begin;
        span += begin != last;
        total += size;
        ends[span] = total;
        last = begin + size;
        word = first + size < 64 ? word >> (first + size) << (first + size) : 0;
      }
    }
  }
  *count = span;
  return CST_OK;
}

cst_status cst__lists_filter(const cst__lists *lists, const uint64_t *bits, cst__arena *arena,
                             cst__picked *out, cst_error *error) {
  int64_t items = cst__lists_total(lists);
  words w;
  CST__TRY(words_count(bits, items, arena, &w, error));
  int64_t total = words_rank(&w, items);
  out->lists = *lists;
  out->items = (cst__chosen){.count = items};
  if (total == items) {
    return CST_OK;
  }
  int64_t most = total < items - total ? total + 1 : items - total + 1; /* spans, and one more */
  int64_t *splits = cst__numbers_new(arena, lists->count + 1, error);
  int64_t *begins = splits != NULL ? cst__numbers_new(arena, most + 1, error) : NULL;
  int64_t *ends = begins != NULL ? cst__numbers_new(arena, most + 1, error) : NULL;
  int64_t spans;
  if (ends == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i <= lists->count;) {
    CST__TRY(cst__next_stretch(&end, lists->count + 1, error));
    for (; i < end; i++) {
      splits[i] = words_rank(&w, lists->splits[i]);
    }
  }
  CST__TRY(words_spans(&w, begins, ends, &spans, error));
  out->lists.size = -1;
  out->lists.splits = splits;
  out->items = spans > 1 ? (cst__chosen){.count = total, .spans = {begins, ends, spans, 1}}
                         : (cst__chosen){.count = total, .begin = spans > 0 ? begins[0] : 0};
  return CST_OK;
}
