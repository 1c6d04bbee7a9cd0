/* Reading views: their slots, the names of their types, their children by name; views of nulls. */
#include "arrow/view.h"

#include <stdio.h>

/* ---- access ---- */

int64_t cst__bitmap_count(const uint8_t *bitmap, int64_t offset, int64_t length) {
  int64_t count = 0;
  int64_t at = offset;
  int64_t end = offset + length;
  for (; at < end && (at & 7) != 0; at++) {
    count += (bitmap[at >> 3] >> (at & 7)) & 1;
  }
  for (; end - at >= 64; at += 64) {
    uint64_t word;
    memcpy(&word, bitmap + (at >> 3), 8);
    count += __builtin_popcountll(word);
  }
  for (; at < end; at++) {
    count += (bitmap[at >> 3] >> (at & 7)) & 1;
  }
  return count;
}

/* One entry of a binary_view: "Variable-size binary view layout" of the columnar format. */
typedef struct view_entry {
  int32_t size;
  uint8_t prefix[4]; /* of the bytes; up to 12 bytes lie here and in what follows */
  int32_t buffer;
  int32_t offset;
} view_entry;

enum { MAX_INLINE = 12 };

static cst_bytes view_bytes(const cst__view *v, int64_t at) {
  const uint8_t *slot = (const uint8_t *)v->data + at * 16;
  view_entry entry;
  memcpy(&entry, slot, sizeof entry);
  if (entry.size <= MAX_INLINE) {
    return (cst_bytes){slot + 4, (size_t)entry.size};
  }
  return (cst_bytes){(const uint8_t *)cst__view_block(v, entry.buffer) + entry.offset,
                     (size_t)entry.size};
}

cst_bytes cst__view_bytes(const cst__view *v, int64_t i) {
  int64_t at = v->offset + i;
  if (cst__view_is_null(v, i)) {
    return (cst_bytes){NULL, 0};
  }
  switch (v->layout) {
    case CST__LAYOUT_BINARY_VIEW:
      return view_bytes(v, at);
    case CST__LAYOUT_FIXED_BINARY:
      if (v->fixed_size == 0) {
        return (cst_bytes){NULL, 0};
      }
      return (cst_bytes){(const uint8_t *)v->data + at * v->fixed_size, (size_t)v->fixed_size};
    default: {
      int64_t begin = cst__view_entry(v->offsets, v->offset_width, at);
      int64_t size = cst__view_entry(v->offsets, v->offset_width, at + 1) - begin;
      return (cst_bytes){size == 0 ? NULL : (const uint8_t *)v->data + begin, (size_t)size};
    }
  }
}

void cst__view_list(const cst__view *v, int64_t i, int64_t *begin, int64_t *end) {
  int64_t at = v->offset + i;
  *begin = *end = 0;
  if (cst__view_is_null(v, i)) {
    return;
  }
  if (v->layout == CST__LAYOUT_FIXED_LIST) {
    *begin = at * v->fixed_size;
    *end = *begin + v->fixed_size;
    return;
  }
  *begin = cst__view_entry(v->offsets, v->offset_width, at);
  *end = v->layout == CST__LAYOUT_LIST ? cst__view_entry(v->offsets, v->offset_width, at + 1)
                                       : *begin + cst__view_entry(v->sizes, v->offset_width, at);
}

/* ---- names of types ---- */

void cst__view_type_name(const cst__view *v, char *buf, size_t n) {
  const char *name = v->layout == CST__LAYOUT_OTHER && strcmp(v->format, "dictionary") == 0
                         ? "dictionary"
                         : cst__layout_name(v->format);
  if (n == 0) {
    return;
  }
  if (v->layout == CST__LAYOUT_STRUCT) {
    snprintf(buf, n, "struct<%lld fields>", (long long)v->num_children);
  } else if (cst__view_is_list(v) && n > 2) {
    char item[64];
    cst__view_type_name(&v->children[0], item, n - 2 < sizeof item ? n - 2 : sizeof item);
    if (v->layout == CST__LAYOUT_FIXED_LIST) {
      snprintf(buf, n, "%s<%s>[%lld]", name, item, (long long)v->fixed_size);
    } else {
      snprintf(buf, n, "%s<%s>", name, item);
    }
  } else {
    snprintf(buf, n, "%s", name);
  }
}

/* ---- types that are not supported ---- */

cst_status cst__schema_check_types(const struct ArrowSchema *schema, cst_error *error) {
  int64_t ignored;
  cst_status status = CST_OK;
  if (cst__layout_find(schema->format, &ignored)->layout == CST__LAYOUT_OTHER) {
    status = cst__fail(error, CST_UNSUPPORTED, "cast the column, or leave it out",
                       "a column of type %s is not supported", cst__layout_name(schema->format));
  } else if (schema->dictionary != NULL) {
    status = cst__schema_check_types(schema->dictionary, error);
  }
  for (int64_t i = 0; i < schema->n_children && status == CST_OK; i++) {
    const struct ArrowSchema *child = schema->children[i];
    status = cst__schema_check_types(child, error);
    if (status != CST_OK && strcmp(schema->format, "+s") == 0 && child->name != NULL) {
      cst__error_add_path(error, child->name, strlen(child->name));
    }
  }
  return status;
}

/* ---- children by name ---- */

bool cst__view_index(const cst__view *view, cst__name_map *children) {
  bool is_struct = view->layout == CST__LAYOUT_STRUCT;
  for (int64_t i = 0; i < view->num_children; i++) {
    const cst__view *child = &view->children[i];
    size_t size = is_struct ? strlen(child->name) : 0;
    if (is_struct && cst__name_map_find_of(children, view, child->name, size) == SIZE_MAX &&
        !cst__name_map_add_of(children, view, child->name, size, (size_t)i)) {
      return false;
    }
    if (!cst__view_index(child, children)) {
      return false;
    }
  }
  return true;
}

cst_status cst__view_refuse_nulls(const cst__view *view, const char *what, cst_error *error) {
  if (view->null_count == 0) {
    return CST_OK;
  }
  int64_t row = 0;
  while (!cst__view_is_null(view, row)) {
    row++;
  }
  cst_status status = cst__fail(error, CST_UNSUPPORTED, "drop such rows first",
                                "%s is null as a whole, as %lld of %lld are", what,
                                (long long)view->null_count, (long long)view->length);
  cst__error_add_record(error, row, -1);
  return status;
}

/* ---- nulls of any type, without an array ---- */

static cst_status null_children(const cst__view *like, int64_t count, cst__arena *arena,
                                cst__view *out, cst_error *error) {
  int64_t slots = count;
  if ((like->layout != CST__LAYOUT_STRUCT && like->layout != CST__LAYOUT_FIXED_LIST) ||
      like->num_children == 0) {
    return CST_OK; /* lists have no items */
  }
  size_t size = (size_t)like->num_children * sizeof *out->children;
  out->children = cst__arena_take_zero(arena, size);
  if (out->children == NULL || (like->layout == CST__LAYOUT_FIXED_LIST &&
                                __builtin_mul_overflow(count, like->fixed_size, &slots))) {
    return cst__fail_memory(error, size);
  }
  for (int64_t i = 0; i < like->num_children; i++) {
    CST__TRY(cst__view_nulls(&like->children[i], slots, arena, &out->children[i], error));
  }
  return CST_OK;
}

/* The widest entry that a slot has in any buffer of its layout. */
static size_t widest(const cst__view *view) {
  switch (view->layout) {
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      return view->fixed_size > 8 ? (size_t)view->fixed_size : 8;
    case CST__LAYOUT_BINARY_VIEW:
      return 16;
    default:
      return 8;
  }
}

cst_status cst__view_nulls(const cst__view *like, int64_t count, cst__arena *arena, cst__view *out,
                           cst_error *error) {
  size_t size = SIZE_MAX;
  void *zeros =
      cst__mul((size_t)count + 1, widest(like), &size) ? cst__arena_take_zero(arena, size) : NULL;
  if (zeros == NULL) {
    return cst__fail_memory(error, size);
  }
  *out = *like;
  out->length = count;
  out->offset = 0;
  out->null_count = count;
  out->validity = zeros;
  out->data = zeros;
  out->offsets = zeros;
  out->sizes = zeros;
  out->num_variadic = 0;
  return null_children(like, count, arena, out, error);
}
