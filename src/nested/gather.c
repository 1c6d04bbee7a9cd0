/* Gathering: every array of the result is built from the slots of one array, level by level. Lists
 * of plain values are copied span by span; what lies below other lists is gathered by the slots of
 * the items.
 */
#include "nested/gather.h"

#include <string.h>

#include "arrow/owned.h"
#include "base/interrupt.h"

/* Slots that are copied between two questions whether to stop. */
enum { MOST_SLOTS = 1 << 20, MOST_SPANS = 1 << 12 };

typedef struct gathering {
  const cst__owner *owner;
  const cst__chosen *slots;
  cst_error *error;
} gathering;

static cst_status gather_node(const gathering *g, const cst__view *view, bool is_batch,
                              struct ArrowArray *out);

/* A buffer of `count` items; NULL: no memory, the error is filled. */
static void *gather_take_buffer(const gathering *g, struct ArrowArray *out, int64_t index,
                                int64_t count, size_t width) {
  size_t bytes = SIZE_MAX;
  void *buffer =
      cst__mul((size_t)count, width, &bytes) ? cst__owned_buffer(out, index, bytes) : NULL;
  if (buffer == NULL) {
    cst__fail_memory(g->error, bytes);
  }
  return buffer;
}

/* The slots from `at` on, as many as go without a question; it is asked first. */
static cst_status part_at(const gathering *g, int64_t at, cst__chosen *part) {
  int64_t rest = g->slots->count - at;
  *part = (cst__chosen){.count = rest < MOST_SLOTS ? rest : MOST_SLOTS,
                        .at = g->slots->at + at,
                        .has_null = g->slots->has_null};
  return cst__interrupted(g->error);
}

/* ---- bits ---- */

static inline unsigned bit_at(const uint8_t *bits, int64_t at) {
  return (unsigned)bits[at >> 3] >> (at & 7) & 1;
}

/* The bit of a slot: `missing` for -1, 1 without a bitmap. */
static inline unsigned bit_of(const uint8_t *bits, int64_t offset, int64_t slot, unsigned missing) {
  return slot < 0 ? missing : bits == NULL ? 1 : bit_at(bits, offset + slot);
}

/* Gives the number of bits that are set. */
static int64_t gather_part_bits(const uint8_t *bits, int64_t offset, const cst__chosen *s,
                                unsigned missing, uint8_t *to) {
  int64_t set = 0;
  for (int64_t i = 0; i < s->count; i += 8) {
    int64_t end = s->count - i < 8 ? s->count - i : 8;
    unsigned byte = 0;
    if (s->has_null || bits == NULL) {
      for (int64_t k = 0; k < end; k++) {
        byte |= bit_of(bits, offset, s->at[i + k], missing) << k;
      }
    } else {
      for (int64_t k = 0; k < end; k++) {
        byte |= bit_at(bits, offset + s->at[i + k]) << k;
      }
    }
    to[i >> 3] = (uint8_t)byte;
    set += __builtin_popcount(byte);
  }
  return set;
}

static cst_status gather_bits(const gathering *g, const uint8_t *bits, int64_t offset,
                              unsigned missing, uint8_t *to, int64_t *set) {
  *set = 0;
  for (int64_t at = 0; at < g->slots->count; at += MOST_SLOTS) {
    cst__chosen part;
    CST__TRY(part_at(g, at, &part));
    *set += gather_part_bits(bits, offset, &part, missing, to + at / 8);
  }
  return CST_OK;
}

static cst_status gather_validity(const gathering *g, const cst__view *view, bool is_batch,
                                  struct ArrowArray *out) {
  if (view->validity == NULL && (is_batch || !g->slots->has_null)) {
    return CST_OK;
  }
  uint8_t *bitmap = gather_take_buffer(g, out, 0, (int64_t)cst__bits_size(out->length), 1);
  if (bitmap == NULL) {
    return CST_NO_MEMORY;
  }
  int64_t valid;
  CST__TRY(gather_bits(g, view->validity, view->offset, is_batch, bitmap, &valid));
  out->null_count = out->length - valid;
  return CST_OK;
}

static cst_status gather_bools(const gathering *g, const cst__view *view, struct ArrowArray *out) {
  uint8_t *bits = gather_take_buffer(g, out, 1, (int64_t)cst__bits_size(out->length), 1);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  int64_t set;
  return gather_bits(g, view->data, view->offset, 0, bits, &set);
}

/* ---- fixed widths ---- */

static inline void gather_width(const uint8_t *from, const cst__chosen *s, uint8_t *to,
                                size_t width) {
  if (!s->has_null) {
    for (int64_t i = 0; i < s->count; i++, to += width) {
      memcpy(to, from + (size_t)s->at[i] * width, width);
    }
    return;
  }
  for (int64_t i = 0; i < s->count; i++, to += width) {
    if (s->at[i] < 0) {
      memset(to, 0, width);
    } else {
      memcpy(to, from + (size_t)s->at[i] * width, width);
    }
  }
}

size_t cst__gather_width(const cst__view *view) {
  switch (view->layout) {
    case CST__LAYOUT_NUMBER:
      return cst_dtype_width(view->dtype);
    case CST__LAYOUT_HALF:
      return 2;
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      return (size_t)view->fixed_size;
    case CST__LAYOUT_OTHER:
      return view->dictionary != NULL ? cst_dtype_width(view->dtype) : 0;
    default:
      return 0;
  }
}

cst_status cst__gather_new(const cst__owner *owner, const cst__view *view, struct ArrowArray *out,
                           cst_error *error) {
  bool is_encoded = view->dictionary != NULL;
  CST__TRY(cst__owned_new(owner->allocator, cst__layout_buffers(view), view->num_children,
                          is_encoded, out, error));
  if (is_encoded) {
    const cst__view *values = view->dictionary;
    cst_status status = cst__share_view(owner, values, 0, values->length, out->dictionary, error);
    if (status != CST_OK) {
      cst__array_release(out);
    }
    return status;
  }
  return CST_OK;
}

/* The view's slot 0; NULL if it has none. */
static const uint8_t *first_value(const cst__view *view, size_t width) {
  const uint8_t *data = view->data;
  return data != NULL ? data + (size_t)view->offset * width : NULL;
}

static void gather_widths(const uint8_t *from, const cst__chosen *s, uint8_t *to, size_t width) {
  switch (width) { /* the compiler makes one move of a constant */
    case 1:
      gather_width(from, s, to, 1);
      break;
    case 2:
      gather_width(from, s, to, 2);
      break;
    case 4:
      gather_width(from, s, to, 4);
      break;
    case 8:
      gather_width(from, s, to, 8);
      break;
    case 16:
      gather_width(from, s, to, 16);
      break;
    case 0:
      break;
    default:
      gather_width(from, s, to, width);
      break;
  }
}

static cst_status gather_fixed(const gathering *g, const cst__view *view, struct ArrowArray *out) {
  size_t width = cst__gather_width(view);
  uint8_t *to = gather_take_buffer(g, out, 1, out->length, width);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  const uint8_t *from = first_value(view, width);
  for (int64_t at = 0; at < g->slots->count; at += MOST_SLOTS) {
    cst__chosen part;
    CST__TRY(part_at(g, at, &part));
    gather_widths(from, &part, to + (size_t)at * width, width);
  }
  return CST_OK;
}

/* ---- spans ---- */

/* Where the slots of a list or of a binary column begin, in items or bytes, and where they end in
 * the result. */
typedef struct spans {
  int64_t *begins;  /* [count]; 0 of a null slot */
  const void *ends; /* [count + 1]: offsets of the result */
  int width;        /* of them */
  int64_t count;
  int64_t total;
} spans;

/* Writes the offsets of the slots, laid one after the other, after to[0]; null ones are empty.
 * Gives the last of them, or -1 if 64 bits do not hold it. */
#define DEFINE_GATHER_OFFSETS(name, type)                                                          \
  static int64_t name(const cst__view *view, const cst__chosen *s, int64_t total, int64_t *begins, \
                      type *to) {                                                                  \
    const type *from = view->offsets; /* may be NULL if there are no slots */                      \
    bool is_plain = view->validity == NULL && !s->has_null;                                        \
    bool is_bad = false;                                                                           \
    for (int64_t i = 0; i < s->count; i++) {                                                       \
      int64_t at = view->offset + s->at[i];                                                        \
      int64_t size = 0;                                                                            \
      begins[i] = 0;                                                                               \
      if (is_plain || bit_of(view->validity, view->offset, s->at[i], 0)) {                         \
        begins[i] = from[at];                                                                      \
        size = (int64_t)from[at + 1] - from[at];                                                   \
      }                                                                                            \
      is_bad |= __builtin_add_overflow(total, size, &total);                                       \
      to[i + 1] = (type)total;                                                                     \
    }                                                                                              \
    return is_bad ? -1 : total;                                                                    \
  }
DEFINE_GATHER_OFFSETS(gather_offsets_32, int32_t)
DEFINE_GATHER_OFFSETS(gather_offsets_64, int64_t)

/* Those of all slots; the total is -1 if 64 bits do not hold it. */
static cst_status gather_offsets(const gathering *g, const cst__view *view, int64_t *begins,
                                 void *to, int64_t *total) {
  memset(to, 0, (size_t)view->offset_width);
  *total = 0;
  for (int64_t at = 0; at < g->slots->count && *total >= 0; at += MOST_SLOTS) {
    cst__chosen part;
    CST__TRY(part_at(g, at, &part));
    *total = view->offset_width == 8
                 ? gather_offsets_64(view, &part, *total, begins + at, (int64_t *)to + at)
                 : gather_offsets_32(view, &part, *total, begins + at, (int32_t *)to + at);
  }
  return CST_OK;
}

static cst_status new_numbers(const gathering *g, int64_t count, int64_t **out) {
  size_t size = SIZE_MAX;
  *out = cst__mul((size_t)count, sizeof **out, &size) ? cst__new(g->owner->allocator, size) : NULL;
  return *out != NULL ? CST_OK : cst__fail_memory(g->error, size);
}

cst_status cst__gather_fail_limit(const char *what, int width, cst_error *error) {
  return cst__fail(error, CST_LIMIT, "take fewer rows, or cast to a type with 64-bit offsets",
                   "the rows hold more %s than offsets of %d bits reach", what, 8 * width);
}

/* Makes the offsets of the result. out->begins is to be deleted. */
static cst_status gather_spans(const gathering *g, const cst__view *view, const char *what,
                               struct ArrowArray *array, spans *out) {
  int width = view->offset_width;
  void *to = gather_take_buffer(g, array, 1, array->length + 1, (size_t)width);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  *out = (spans){.ends = to, .width = width, .count = g->slots->count};
  CST__TRY(new_numbers(g, out->count, &out->begins));
  cst_status status = gather_offsets(g, view, out->begins, to, &out->total);
  if (status != CST_OK) {
    cst__delete(out->begins);
    return status;
  }
  if (out->total < 0 || (width == 4 && out->total > INT32_MAX)) {
    cst__delete(out->begins);
    return cst__gather_fail_limit(what, width, g->error);
  }
  return CST_OK;
}

static inline void copy_span(uint8_t *to, const uint8_t *from, size_t bytes) {
  if (bytes <= 64 && bytes % 8 == 0) {
    for (size_t i = 0; i < bytes; i += 8) {
      memcpy(to + i, from + i, 8);
    }
  } else {
    memcpy(to, from, bytes);
  }
}

/* The type of the offsets and, for most lists, the width of a value are constants here. */
#define DEFINE_COPY_SPANS(name, type)                                                       \
  static inline void name(const spans *s, const uint8_t *from, size_t width, uint8_t *to) { \
    const type *ends = s->ends;                                                             \
    for (int64_t i = 0; i < s->count; i++) {                                                \
      size_t size = (size_t)(ends[i + 1] - ends[i]);                                        \
      if (size > 0) {                                                                       \
        copy_span(to + (size_t)ends[i] * width, from + (size_t)s->begins[i] * width,        \
                  size * width);                                                            \
      }                                                                                     \
    }                                                                                       \
  }
DEFINE_COPY_SPANS(copy_spans_32, int32_t)
DEFINE_COPY_SPANS(copy_spans_64, int64_t)

static cst_status copy_spans(const spans *s, const uint8_t *from, size_t width, uint8_t *to,
                             cst_error *error) {
  for (int64_t at = 0; at < s->count; at += MOST_SPANS) {
    spans part = *s;
    part.begins += at;
    part.ends = (const uint8_t *)s->ends + (size_t)at * (size_t)s->width;
    part.count = s->count - at < MOST_SPANS ? s->count - at : MOST_SPANS;
    CST__TRY(cst__interrupted(error));
    if (s->width == 8 && width == 8) {
      copy_spans_64(&part, from, 8, to);
    } else if (s->width == 8) {
      copy_spans_64(&part, from, width, to);
    } else {
      copy_spans_32(&part, from, width, to);
    }
  }
  return CST_OK;
}

static cst_status gather_binary(const gathering *g, const cst__view *view, struct ArrowArray *out) {
  spans s;
  CST__TRY(gather_spans(g, view, "bytes", out, &s));
  uint8_t *to = gather_take_buffer(g, out, 2, s.total, 1);
  cst_status status = to != NULL ? copy_spans(&s, view->data, 1, to, g->error) : CST_NO_MEMORY;
  cst__delete(s.begins);
  return status;
}

/* ---- lists ---- */

/* Values of a fixed number of bytes, none of them null: they can be copied many at once. */
static bool gather_is_plain(const cst__view *view) {
  return view->validity == NULL && cst__gather_width(view) > 0;
}

static cst_status new_plain(const gathering *g, const cst__view *view, int64_t length,
                            struct ArrowArray *out, uint8_t **to) {
  CST__TRY(cst__gather_new(g->owner, view, out, g->error));
  out->length = length;
  *to = gather_take_buffer(g, out, 1, length, cst__gather_width(view));
  return *to != NULL ? CST_OK : CST_NO_MEMORY;
}

/* Gathers what lies below lists of a fixed size by the slots of the items, which are deleted. */
static cst_status gather_items(const gathering *g, const cst__view *view, int64_t *items,
                               int64_t count, bool has_null, struct ArrowArray *out) {
  cst__chosen slots = {.count = count, .at = items, .has_null = has_null};
  gathering below = {g->owner, &slots, g->error};
  cst_status status = gather_node(&below, &view->children[0], false, out->children[0]);
  cst__delete(items);
  return status;
}

/* What lies below lists, by the spans of their items. */
static cst_status gather_list_spans(const gathering *g, const cst__view *view, const spans *s,
                                    struct ArrowArray *out) {
  int64_t *wide = NULL;
  if (s->width == 4) {
    CST__TRY(new_numbers(g, s->count + 1, &wide));
    for (int64_t i = 0; i <= s->count; i++) {
      wide[i] = ((const int32_t *)s->ends)[i];
    }
  }
  const cst__spans items = {s->begins, wide != NULL ? wide : s->ends, s->count, 1};
  cst_status status =
      cst__gather_spans(g->owner, &view->children[0], &items, out->children[0], g->error);
  cst__delete(wide);
  return status;
}

static cst_status gather_list_items(const gathering *g, const cst__view *view, const spans *s,
                                    struct ArrowArray *out) {
  const cst__view *child = &view->children[0];
  if (gather_is_plain(child)) {
    uint8_t *to;
    size_t width = cst__gather_width(child);
    CST__TRY(new_plain(g, child, s->total, out->children[0], &to));
    return copy_spans(s, first_value(child, width), width, to, g->error);
  }
  return gather_list_spans(g, view, s, out);
}

static cst_status gather_lists(const gathering *g, const cst__view *view, struct ArrowArray *out) {
  spans s;
  CST__TRY(gather_spans(g, view, "list items", out, &s));
  cst_status status = gather_list_items(g, view, &s, out);
  cst__delete(s.begins);
  return status;
}

static void copy_fixed_lists(const cst__view *view, const cst__chosen *s, uint8_t *to) {
  const cst__view *child = &view->children[0];
  size_t width = cst__gather_width(child);
  size_t bytes = (size_t)view->fixed_size * width;
  const uint8_t *from = first_value(child, width);
  for (int64_t i = 0; i < s->count && bytes > 0; i++, to += bytes) {
    if (s->at[i] < 0) {
      memset(to, 0, bytes);
    } else {
      copy_span(to, from + (size_t)(view->offset + s->at[i]) * bytes, bytes);
    }
  }
}

static cst_status gather_fixed_lists(const gathering *g, const cst__view *view,
                                     struct ArrowArray *out) {
  const cst__chosen *s = g->slots;
  int64_t total;
  if (__builtin_mul_overflow(s->count, view->fixed_size, &total)) {
    return cst__fail(g->error, CST_LIMIT, "take fewer rows",
                     "%lld lists of %lld items each are more than 64 bits count",
                     (long long)s->count, (long long)view->fixed_size);
  }
  const cst__view *child = &view->children[0];
  if (gather_is_plain(child)) {
    uint8_t *to;
    CST__TRY(new_plain(g, child, total, out->children[0], &to));
    size_t bytes = (size_t)view->fixed_size * cst__gather_width(child);
    for (int64_t at = 0; at < s->count; at += MOST_SLOTS) {
      cst__chosen part;
      CST__TRY(part_at(g, at, &part));
      copy_fixed_lists(view, &part, to + (size_t)at * bytes);
    }
    return CST_OK;
  }
  int64_t *items;
  CST__TRY(new_numbers(g, total, &items));
  int64_t *at = items;
  for (int64_t i = 0; i < s->count; i++) {
    int64_t first = s->at[i] < 0 ? -1 : (view->offset + s->at[i]) * view->fixed_size;
    int64_t step = s->at[i] < 0 ? 0 : 1;
    for (int64_t k = 0; k < view->fixed_size; k++) {
      *at++ = first + k * step;
    }
  }
  return gather_items(g, view, items, total, s->has_null, out);
}

/* ---- what refers to shared items ---- */

static cst_status gather_list_views(const gathering *g, const cst__view *view,
                                    struct ArrowArray *out) {
  size_t width = (size_t)view->offset_width;
  uint8_t *offsets = gather_take_buffer(g, out, 1, out->length, width);
  uint8_t *sizes = offsets != NULL ? gather_take_buffer(g, out, 2, out->length, width) : NULL;
  if (sizes == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < g->slots->count; i++, offsets += width, sizes += width) {
    int64_t slot = g->slots->at[i];
    bool is_valid = bit_of(view->validity, view->offset, slot, 0) != 0;
    memset(offsets, 0, width);
    memset(sizes, 0, width);
    if (is_valid) {
      size_t at = (size_t)(view->offset + slot) * width;
      memcpy(offsets, (const uint8_t *)view->offsets + at, width);
      memcpy(sizes, (const uint8_t *)view->sizes + at, width);
    }
  }
  const cst__view *child = &view->children[0];
  return cst__share_view(g->owner, child, 0, child->length, out->children[0], g->error);
}

/* Views of null slots may refer to anything: they become empty. */
static void copy_views(const cst__view *view, const cst__chosen *s, uint8_t *to) {
  for (int64_t i = 0; i < s->count; i++, to += 16) {
    int64_t slot = s->at[i];
    if (bit_of(view->validity, view->offset, slot, 0)) {
      memcpy(to, (const uint8_t *)view->data + (size_t)(view->offset + slot) * 16, 16);
    } else {
      memset(to, 0, 16);
    }
  }
}

static cst_status new_views(const gathering *g, const cst__view *view, struct ArrowArray *out) {
  int64_t num_buffers = view->array->n_buffers;
  CST__TRY(cst__owned_new(g->owner->allocator, num_buffers, 0, false, out, g->error));
  g->owner->retain(g->owner->object);
  cst__owned_keep(out, g->owner->object, g->owner->release);
  for (int64_t i = 2; i < num_buffers; i++) {
    out->buffers[i] = view->array->buffers[i];
  }
  return CST_OK;
}

static cst_status gather_views(const gathering *g, const cst__view *view, struct ArrowArray *out) {
  uint8_t *to = gather_take_buffer(g, out, 1, out->length, 16);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t at = 0; at < g->slots->count; at += MOST_SLOTS) {
    cst__chosen part;
    CST__TRY(part_at(g, at, &part));
    copy_views(view, &part, to + (size_t)at * 16);
  }
  return CST_OK;
}

/* ---- the walk ---- */

static cst_status gather_fields(const gathering *g, const cst__view *view, struct ArrowArray *out) {
  for (int64_t i = 0; i < out->n_children; i++) {
    const cst__view *child = &view->children[i];
    cst_status status = gather_node(g, child, false, out->children[i]);
    if (status != CST_OK) {
      cst__error_add_path(g->error, child->name, strlen(child->name));
      return status;
    }
  }
  return CST_OK;
}

static cst_status gather_values(const gathering *g, const cst__view *view, struct ArrowArray *out) {
  switch (view->layout) {
    case CST__LAYOUT_BOOL:
      return gather_bools(g, view, out);
    case CST__LAYOUT_NUMBER:
    case CST__LAYOUT_HALF:
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
    case CST__LAYOUT_OTHER: /* indices of a dictionary: others are refused before */
      return gather_fixed(g, view, out);
    case CST__LAYOUT_BINARY:
      return gather_binary(g, view, out);
    case CST__LAYOUT_BINARY_VIEW:
      return gather_views(g, view, out);
    case CST__LAYOUT_LIST:
      return gather_lists(g, view, out);
    case CST__LAYOUT_FIXED_LIST:
      return gather_fixed_lists(g, view, out);
    case CST__LAYOUT_LIST_VIEW:
      return gather_list_views(g, view, out);
    case CST__LAYOUT_STRUCT:
      return gather_fields(g, view, out);
    case CST__LAYOUT_NULL:
      out->null_count = out->length;
      break;
  }
  return CST_OK;
}

static cst_status gather_node(const gathering *g, const cst__view *view, bool is_batch,
                              struct ArrowArray *out) {
  CST__TRY(cst__interrupted(g->error));
  if (view->layout == CST__LAYOUT_OTHER && view->dictionary == NULL) {
    return cst__fail_layout(view, g->error);
  }
  if (view->layout == CST__LAYOUT_BINARY_VIEW) {
    CST__TRY(new_views(g, view, out));
  } else {
    CST__TRY(cst__gather_new(g->owner, view, out, g->error));
  }
  out->length = g->slots->count;
  cst_status status =
      view->layout == CST__LAYOUT_NULL ? CST_OK : gather_validity(g, view, is_batch, out);
  if (status == CST_OK) {
    status = gather_values(g, view, out);
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

cst_status cst__gather(const cst__owner *owner, const cst__view *view, const cst__chosen *numbers,
                       bool is_batch, struct ArrowArray *out, cst_error *error) {
  gathering g = {owner, numbers, error};
  return gather_node(&g, view, is_batch && view->layout == CST__LAYOUT_STRUCT, out);
}

cst_status cst__take(const cst__owner *owner, const cst__view *view, const cst__chosen *chosen,
                     bool is_batch, struct ArrowArray *out, cst_error *error) {
  if (cst__chosen_is_run(chosen)) {
    return cst__share_view(owner, view, chosen->begin, chosen->count, out, error);
  }
  return chosen->spans.begins != NULL ? cst__gather_spans(owner, view, &chosen->spans, out, error)
                                      : cst__gather(owner, view, chosen, is_batch, out, error);
}
