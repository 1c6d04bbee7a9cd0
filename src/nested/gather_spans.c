/* Gathering stretches of slots: values of a fixed width, bits, bytes and what lists hold are copied
 * span by span, whatever lies below; the layouts that refer to shared blocks go slot by slot.
 */
#include <string.h>

#include "arrow/owned.h"
#include "nested/gather.h"

/* Bytes that are copied at once where they may be: what is too much is written over by the next
 * span. */
enum {
  SHORT_BLOCK = 32,
  SPAN_BLOCK = 64,
  LONG_BLOCK = 128,
  SPANS_PART = 1 << 10 /* between two questions whether to stop */
};

typedef struct spanning {
  const cst__owner *owner;
  const cst__spans *spans;
  cst_error *error;
} spanning;

static cst_status spans_node(const spanning *s, const cst__view *view, struct ArrowArray *out);

static int64_t spans_total(const cst__spans *spans) { return spans->ends[spans->count]; }

static void *spans_take_buffer(const spanning *s, struct ArrowArray *out, int64_t index,
                               int64_t count, size_t width) {
  size_t bytes = SIZE_MAX;
  void *buffer =
      cst__mul((size_t)count, width, &bytes) ? cst__owned_buffer(out, index, bytes) : NULL;
  if (buffer == NULL) {
    cst__fail_memory(s->error, bytes);
  }
  return buffer;
}

static cst_status spans_take_numbers(const spanning *s, int64_t count, int64_t **out) {
  size_t size = SIZE_MAX;
  *out = cst__mul((size_t)count, sizeof **out, &size) ? cst__new(s->owner->allocator, size) : NULL;
  return *out != NULL ? CST_OK : cst__fail_memory(s->error, size);
}

/* ---- slot by slot ---- */

static cst_status spans_each(const spanning *s, const cst__view *view, struct ArrowArray *out) {
  const cst__spans *spans = s->spans;
  int64_t total = spans_total(spans);
  int64_t *slots;
  CST__TRY(spans_take_numbers(s, total, &slots));
  for (int64_t i = 0; i < spans->count; i++) {
    int64_t slot = spans->begins[i];
    for (int64_t k = spans->ends[i]; k < spans->ends[i + 1]; k++, slot += spans->step) {
      slots[k] = slot;
    }
  }
  const cst__chosen chosen = {.count = total, .at = slots};
  cst_status status = cst__gather(s->owner, view, &chosen, false, out, s->error);
  cst__delete(slots);
  return status;
}

/* ---- bits ---- */

/* Writes bits one after the other, eight bytes at a time: buffers are padded by as much. */
typedef struct bit_writer {
  uint8_t *to;
  uint64_t word;
  unsigned filled; /* bits of the word, less than 8 between two calls */
} bit_writer;

static inline void bit_writer_add(bit_writer *w, uint64_t bits, unsigned count) {
  w->word |= bits << w->filled;
  memcpy(w->to, &w->word, sizeof w->word);
  w->filled += count;
  w->to += w->filled >> 3;
  w->word >>= w->filled & ~7U;
  w->filled &= 7;
}

enum { MOST_BITS = 48 /* at a time */ };

/* `count` bits from bit `at` on of a bitmap of `size` bytes. */
static inline uint64_t read_bits(const uint8_t *bits, size_t size, int64_t at, unsigned count) {
  size_t byte = (size_t)at >> 3;
  uint64_t word = 0;
  if (byte + sizeof word <= size) {
    memcpy(&word, bits + byte, sizeof word);
  } else {
    memcpy(&word, bits + byte, size - byte);
  }
  return word >> (at & 7) & ((UINT64_C(1) << count) - 1);
}

static void copy_bits(const cst__spans *spans, const uint8_t *bits, const cst__view *view,
                      uint8_t *to) {
  bit_writer writer = {to, 0, 0};
  size_t size = cst__bits_size(view->offset + view->length);
  uint64_t words_end = size >= sizeof(uint64_t) ? (size - 7) * UINT64_C(8) : 0;
  for (int64_t i = 0; i < spans->count; i++) {
    int64_t rest = spans->ends[i + 1] - spans->ends[i];
    int64_t at = view->offset + spans->begins[i];
    if (spans->step == 1 && rest <= MOST_BITS && (uint64_t)at < words_end) {
      uint64_t word; /* all of it lies in the bitmap */
      memcpy(&word, bits + (at >> 3), sizeof word);
      bit_writer_add(&writer, word >> (at & 7) & ((UINT64_C(1) << rest) - 1), (unsigned)rest);
      continue;
    }
    bool is_repeated = spans->step == 0;
    unsigned most = spans->step == 1 || is_repeated ? MOST_BITS : 1;
    while (rest > 0) {
      unsigned count = rest < most ? (unsigned)rest : most;
      uint64_t some = read_bits(bits, size, at, is_repeated ? 1 : count);
      some = is_repeated ? (0 - some) & ((UINT64_C(1) << count) - 1) : some;
      bit_writer_add(&writer, some, count);
      at += count * spans->step;
      rest -= count;
    }
  }
}

static uint8_t *spans_take_bits(const spanning *s, struct ArrowArray *out, int64_t index) {
  size_t size = cst__bits_size(out->length) + sizeof(uint64_t);
  return spans_take_buffer(s, out, index, (int64_t)size, 1);
}

static cst_status spans_validity(const spanning *s, const cst__view *view, struct ArrowArray *out) {
  if (view->validity == NULL || view->layout == CST__LAYOUT_NULL) {
    return CST_OK;
  }
  uint8_t *bits = spans_take_bits(s, out, 0);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  copy_bits(s->spans, view->validity, view, bits);
  out->null_count = out->length - cst__bitmap_count(bits, 0, out->length);
  return CST_OK;
}

static cst_status spans_bools(const spanning *s, const cst__view *view, struct ArrowArray *out) {
  uint8_t *bits = spans_take_bits(s, out, 1);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  copy_bits(s->spans, view->data, view, bits);
  return CST_OK;
}

/* ---- fixed widths ---- */

/* Inlined for every width, which makes each copy a move. */
#define CONSTANT_WIDTH static inline __attribute__((always_inline))

/* Values of one width, as many as lie in `slots` slots. */
typedef struct span_values {
  const uint8_t *from;
  int64_t slots;
  uint8_t *to;
} span_values;

CONSTANT_WIDTH void copy_blocks(const cst__spans *spans, const span_values *v, size_t width,
                                size_t block) {
  size_t from_size = (size_t)v->slots * width;
  size_t to_size = (size_t)spans_total(spans) * width;
  bool has_room = from_size >= block && to_size >= block;
  size_t last_from = has_room ? from_size - block : 0;
  size_t last_to = has_room ? to_size - block : 0;
  for (int64_t i = 0; i < spans->count; i++) {
    size_t size = (size_t)(spans->ends[i + 1] - spans->ends[i]) * width;
    size_t from = (size_t)spans->begins[i] * width;
    size_t to = (size_t)spans->ends[i] * width;
    if (size <= block && has_room && from <= last_from && to <= last_to) {
      memcpy(v->to + to, v->from + from, block);
    } else if (size > 0) {
      memcpy(v->to + to, v->from + from, size);
    }
  }
}

/* Copies as many bytes at once as most spans have: a processor cannot foresee which of them are
 * longer than a block. */
CONSTANT_WIDTH void copy_stretches(const cst__spans *spans, const span_values *v, size_t width) {
  size_t total = (size_t)(spans_total(spans) - spans->ends[0]) * width;
  size_t count = (size_t)spans->count;
  if (total <= count * (SHORT_BLOCK * 3 / 4)) {
    copy_blocks(spans, v, width, SHORT_BLOCK);
  } else if (total <= count * (SPAN_BLOCK * 3 / 4)) {
    copy_blocks(spans, v, width, SPAN_BLOCK);
  } else {
    copy_blocks(spans, v, width, LONG_BLOCK);
  }
}

enum { STRIDED_BLOCK = 8 /* values */ };

CONSTANT_WIDTH void copy_strided(const cst__spans *spans, const span_values *v, size_t width,
                                 int64_t step) {
  int64_t total = spans_total(spans);
  int64_t reach = (STRIDED_BLOCK - 1) * step;
  bool has_room = !__builtin_mul_overflow(STRIDED_BLOCK - 1, step, &reach);
  int64_t low = reach < 0 ? -reach : 0;
  int64_t high = v->slots - (reach > 0 ? reach : 0);
  for (int64_t i = 0; i < spans->count; i++) {
    int64_t count = spans->ends[i + 1] - spans->ends[i];
    int64_t slot = spans->begins[i];
    uint8_t *to = v->to + (size_t)spans->ends[i] * width;
    if (count <= STRIDED_BLOCK && has_room && slot >= low && slot < high &&
        spans->ends[i] <= total - STRIDED_BLOCK) {
      for (int64_t k = 0; k < STRIDED_BLOCK; k++) {
        memcpy(to + (size_t)k * width, v->from + (size_t)(slot + k * step) * width, width);
      }
    } else {
      for (; count > 0; count--, slot += step, to += width) {
        memcpy(to, v->from + (size_t)slot * width, width);
      }
    }
  }
}

/* Each value as often as its span says; a block is written whatever it says. */
CONSTANT_WIDTH void copy_repeated(const cst__spans *spans, const span_values *v, size_t width) {
  uint8_t *to = v->to + (size_t)spans->ends[0] * width;
  for (int64_t i = 0; i < spans->count; i++) {
    const uint8_t *from = v->from + (size_t)spans->begins[i] * width;
    uint8_t *end = v->to + (size_t)spans->ends[i + 1] * width;
    for (int64_t k = 0; k < STRIDED_BLOCK; k++) {
      memcpy(to + (size_t)k * width, from, width);
    }
    for (to += STRIDED_BLOCK * width; to < end; to += width) {
      memcpy(to, from, width);
    }
    to = end;
  }
}

CONSTANT_WIDTH void copy_width(const cst__spans *spans, const span_values *v, size_t width) {
  if (spans->step == 1) {
    copy_stretches(spans, v, width);
  } else if (spans->step == 0) {
    copy_repeated(spans, v, width);
  } else if (spans->step == 2) { /* constants make other code */
    copy_strided(spans, v, width, 2);
  } else if (spans->step == -1) {
    copy_strided(spans, v, width, -1);
  } else {
    copy_strided(spans, v, width, spans->step);
  }
}

static void copy_span_values(const cst__spans *spans, const span_values *v, size_t width) {
  switch (width) {
    case 1:
      copy_width(spans, v, 1);
      break;
    case 2:
      copy_width(spans, v, 2);
      break;
    case 4:
      copy_width(spans, v, 4);
      break;
    case 8:
      copy_width(spans, v, 8);
      break;
    case 0:
      break;
    default:
      copy_width(spans, v, width);
      break;
  }
}

/* Asks from time to time whether to stop. */
static cst_status copy_in_parts(const spanning *s, const span_values *v, size_t width) {
  const cst__spans *all = s->spans;
  for (int64_t at = 0; at < all->count; at += SPANS_PART) {
    int64_t count = all->count - at < SPANS_PART ? all->count - at : SPANS_PART;
    const cst__spans part = {all->begins + at, all->ends + at, count, all->step};
    CST__TRY(cst__interrupted(s->error));
    copy_span_values(&part, v, width);
  }
  return CST_OK;
}

static cst_status spans_fixed(const spanning *s, const cst__view *view, struct ArrowArray *out) {
  size_t width = cst__gather_width(view);
  int64_t room = out->length + (s->spans->step == 0 ? STRIDED_BLOCK : 0);
  uint8_t *to = spans_take_buffer(s, out, 1, room, width);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  const uint8_t *data = view->data;
  const span_values values = {data != NULL ? data + (size_t)view->offset * width : NULL,
                              view->length, to};
  return copy_in_parts(s, &values, width);
}

/* ---- offsets ---- */

/* What the slots of lists, or of binary, hold: a span of items, or of bytes, for each span of
 * slots, or for each slot. */
typedef struct span_items {
  int64_t *begins; /* to be deleted, with what follows it */
  int64_t *ends;
  int64_t count;
} span_items;

/* Offsets that are made at once where they may be, as with SPAN_BLOCK. */
enum { OFFSETS_BLOCK = 8, SHORT_OFFSETS_BLOCK = 4 };

/* Slots that follow each other, none of them null: a span for each span. False if 64 bits do not
 * hold the sum. */
#define DEFINE_SPAN_OFFSETS(name, type, block)                                                \
  static bool name(const cst__spans *spans, const cst__view *view, type *to, span_items *x) { \
    int64_t slots = spans_total(spans);                                                       \
    int64_t total = 0;                                                                        \
    bool is_bad = false;                                                                      \
    for (int64_t i = 0; i < spans->count; i++) {                                              \
      int64_t count = spans->ends[i + 1] - spans->ends[i];                                    \
      x->begins[i] = 0;                                                                       \
      if (count > 0) {                                                                        \
        const type *from = (const type *)view->offsets + view->offset + spans->begins[i] + 1; \
        type *entries = to + spans->ends[i] + 1;                                              \
        int64_t move = total - from[-1];                                                      \
        if (count <= block && spans->begins[i] <= view->length - block &&                     \
            spans->ends[i] <= slots - block) {                                                \
          for (int k = 0; k < block; k++) {                                                   \
            entries[k] = (type)(from[k] + move);                                              \
          }                                                                                   \
        } else {                                                                              \
          for (int64_t k = 0; k < count; k++) {                                               \
            entries[k] = (type)(from[k] + move);                                              \
          }                                                                                   \
        }                                                                                     \
        x->begins[i] = from[-1];                                                              \
        is_bad |= __builtin_add_overflow(total, (int64_t)from[count - 1] - from[-1], &total); \
      }                                                                                       \
      x->ends[i + 1] = total;                                                                 \
    }                                                                                         \
    return !is_bad;                                                                           \
  }
DEFINE_SPAN_OFFSETS(span_offsets_32, int32_t, OFFSETS_BLOCK)
DEFINE_SPAN_OFFSETS(span_offsets_64, int64_t, OFFSETS_BLOCK)
DEFINE_SPAN_OFFSETS(short_span_offsets_64, int64_t, SHORT_OFFSETS_BLOCK)

/* Any slots: a span for each; null ones are empty. */
static bool span_each_offset(const cst__spans *spans, const cst__view *view, void *to,
                             span_items *x) {
  int64_t total = 0;
  int64_t at = 0;
  bool is_bad = false;
  for (int64_t i = 0; i < spans->count; i++) {
    int64_t slot = spans->begins[i];
    for (; at < spans->ends[i + 1]; at++, slot += spans->step) {
      int64_t size = 0;
      x->begins[at] = 0;
      if (!cst__view_is_null(view, slot)) {
        int64_t entry = view->offset + slot;
        x->begins[at] = cst__view_entry(view->offsets, view->offset_width, entry);
        size = cst__view_entry(view->offsets, view->offset_width, entry + 1) - x->begins[at];
      }
      is_bad |= __builtin_add_overflow(total, size, &total);
      x->ends[at + 1] = total;
      if (view->offset_width == 8) {
        ((int64_t *)to)[at + 1] = total;
      } else {
        ((int32_t *)to)[at + 1] = (int32_t)total;
      }
    }
  }
  return !is_bad;
}

static cst_status take_span_items(const spanning *s, int64_t count, span_items *x) {
  int64_t numbers;
  if (__builtin_mul_overflow(count, 2, &numbers)) {
    return cst__fail_memory(s->error, SIZE_MAX);
  }
  CST__TRY(spans_take_numbers(s, numbers + 1, &x->begins));
  x->ends = x->begins + count;
  x->ends[0] = 0;
  x->count = count;
  return CST_OK;
}

/* Makes the offsets of the result, and the spans of what the slots hold. */
static cst_status span_offsets(const spanning *s, const cst__view *view, const char *what,
                               struct ArrowArray *out, span_items *x) {
  int width = view->offset_width;
  bool is_whole = view->validity == NULL && s->spans->step == 1;
  void *to = spans_take_buffer(s, out, 1, out->length + 1, (size_t)width);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  memset(to, 0, (size_t)width);
  CST__TRY(take_span_items(s, is_whole ? s->spans->count : out->length, x));
  bool is_short = out->length <= s->spans->count * (SHORT_OFFSETS_BLOCK - 1);
  bool fits = !is_whole                ? span_each_offset(s->spans, view, to, x)
              : width == 8 && is_short ? short_span_offsets_64(s->spans, view, to, x)
              : width == 8             ? span_offsets_64(s->spans, view, to, x)
                                       : span_offsets_32(s->spans, view, to, x);
  if (!fits || (width == 4 && x->ends[x->count] > INT32_MAX)) {
    cst__delete(x->begins);
    return cst__gather_fail_limit(what, width, s->error);
  }
  return CST_OK;
}

static cst_status spans_binary(const spanning *s, const cst__view *view, struct ArrowArray *out) {
  span_items bytes = {0};
  CST__TRY(span_offsets(s, view, "bytes", out, &bytes));
  const cst__spans spans = {bytes.begins, bytes.ends, bytes.count, 1};
  const spanning below = {s->owner, &spans, s->error};
  int64_t size = spans_total(&spans);
  uint8_t *to = spans_take_buffer(s, out, 2, size, 1);
  /* how many bytes there are to read is known up to where the last slot ends */
  int64_t end = view->length > 0 ? cst__view_entry(view->offsets, view->offset_width,
                                                   view->offset + view->length)
                                 : 0;
  const span_values values = {view->data, end, to};
  cst_status status = to != NULL ? copy_in_parts(&below, &values, 1) : CST_NO_MEMORY;
  cst__delete(bytes.begins);
  return status;
}

/* ---- what is below ---- */

static cst_status spans_below(const spanning *s, const cst__view *view, const cst__spans *spans,
                              struct ArrowArray *out) {
  const spanning below = {s->owner, spans, s->error};
  return spans_node(&below, &view->children[0], out->children[0]);
}

static cst_status spans_lists(const spanning *s, const cst__view *view, struct ArrowArray *out) {
  span_items items = {0};
  CST__TRY(span_offsets(s, view, "list items", out, &items));
  const cst__spans spans = {items.begins, items.ends, items.count, 1};
  cst_status status = spans_below(s, view, &spans, out);
  cst__delete(items.begins);
  return status;
}

/* The items of `each` slots as one span. */
static void span_fixed_items(const cst__spans *spans, const cst__view *view, span_items *x) {
  int64_t size = view->fixed_size;
  int64_t at = 0;
  for (int64_t i = 0; i < spans->count; i++) {
    int64_t count = spans->ends[i + 1] - spans->ends[i];
    int64_t slot = spans->begins[i];
    int64_t together = spans->step == 1 ? count : 1;
    if (spans->step == 1 && count == 0) {
      x->ends[at + 1] = x->ends[at];
      at++;
    }
    for (; count > 0; count -= together, slot += spans->step, at++) {
      x->begins[at] = (view->offset + slot) * size;
      x->ends[at + 1] = x->ends[at] + together * size;
    }
  }
}

static cst_status spans_fixed_lists(const spanning *s, const cst__view *view,
                                    struct ArrowArray *out) {
  span_items items = {0};
  int64_t total;
  if (__builtin_mul_overflow(out->length, view->fixed_size, &total)) {
    return cst__gather_fail_limit("list items", 8, s->error);
  }
  CST__TRY(take_span_items(s, s->spans->step == 1 ? s->spans->count : out->length, &items));
  span_fixed_items(s->spans, view, &items);
  const cst__spans spans = {items.begins, items.ends, items.count, 1};
  cst_status status = spans_below(s, view, &spans, out);
  cst__delete(items.begins);
  return status;
}

static cst_status spans_fields(const spanning *s, const cst__view *view, struct ArrowArray *out) {
  for (int64_t i = 0; i < out->n_children; i++) {
    const cst__view *child = &view->children[i];
    cst_status status = spans_node(s, child, out->children[i]);
    if (status != CST_OK) {
      cst__error_add_path(s->error, child->name, strlen(child->name));
      return status;
    }
  }
  return CST_OK;
}

/* ---- the walk ---- */

static cst_status spans_fill(const spanning *s, const cst__view *view, struct ArrowArray *out) {
  CST__TRY(spans_validity(s, view, out));
  switch (view->layout) {
    case CST__LAYOUT_BOOL:
      return spans_bools(s, view, out);
    case CST__LAYOUT_BINARY:
      return spans_binary(s, view, out);
    case CST__LAYOUT_LIST:
      return spans_lists(s, view, out);
    case CST__LAYOUT_FIXED_LIST:
      return spans_fixed_lists(s, view, out);
    case CST__LAYOUT_STRUCT:
      return spans_fields(s, view, out);
    case CST__LAYOUT_NULL:
      out->null_count = out->length;
      return CST_OK;
    default:
      return spans_fixed(s, view, out);
  }
}

/* Views and list views share their blocks; what is unknown has no slots. */
static bool spans_go_each(const cst__view *view) {
  return view->layout == CST__LAYOUT_BINARY_VIEW || view->layout == CST__LAYOUT_LIST_VIEW ||
         (view->layout == CST__LAYOUT_OTHER && view->dictionary == NULL);
}

static cst_status spans_node(const spanning *s, const cst__view *view, struct ArrowArray *out) {
  CST__TRY(cst__interrupted(s->error));
  if (spans_go_each(view)) {
    return spans_each(s, view, out);
  }
  CST__TRY(cst__gather_new(s->owner, view, out, s->error));
  out->length = spans_total(s->spans);
  cst_status status = spans_fill(s, view, out);
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

cst_status cst__gather_spans(const cst__owner *owner, const cst__view *view,
                             const cst__spans *spans, struct ArrowArray *out, cst_error *error) {
  const spanning s = {owner, spans, error};
  return spans_node(&s, view, out);
}
