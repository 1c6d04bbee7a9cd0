/* The deep checks of Arrow data from outside: every offset, reference and string of a view's slots,
 * before anything reads through them.
 */
#include "arrow/view_validate.h"

#include "base/interrupt.h"
#include "base/prefetch.h"
#include "base/utf8.h"

static cst_status bad_offset(cst_error *error, int64_t slot, int64_t value, const char *expected) {
  return cst__fail(error, CST_CORRUPT, NULL, "slot %lld: offset %lld %s", (long long)slot,
                   (long long)value, expected);
}

enum { STRETCH = 128 }; /* entries that are asked for ahead of need */

/* The first i (1..count) with entries[i] < entries[i - 1], or 0; entries[0] is not negative. One
 * pass without branches first, of which the compiler makes vectors: among entries that are not
 * negative the sign of a difference tells, and a negative one tells by itself. */
#define DEFINE_FIRST_DECREASE(name, type, unsigned_type)                                       \
  static int64_t name(const type *entries, int64_t count) {                                    \
    unsigned_type signs = 0;                                                                   \
    for (int64_t from = 0; from < count; from += STRETCH) {                                    \
      int64_t end = count - from < STRETCH ? count : from + STRETCH;                           \
      cst__prefetch((const uint8_t *)(entries + end), (size_t)(count - end) * sizeof *entries, \
                    STRETCH * sizeof *entries);                                                \
      for (int64_t i = from + 1; i <= end; i++) {                                              \
        signs |= (unsigned_type)entries[i] |                                                   \
                 ((unsigned_type)entries[i] - (unsigned_type)entries[i - 1]);                  \
      }                                                                                        \
    }                                                                                          \
    for (int64_t i = 1; signs >> (8 * sizeof signs - 1) != 0 && i <= count; i++) {             \
      if (entries[i] < entries[i - 1]) {                                                       \
        return i;                                                                              \
      }                                                                                        \
    }                                                                                          \
    return 0;                                                                                  \
  }
DEFINE_FIRST_DECREASE(first_decrease_32, int32_t, uint32_t)
DEFINE_FIRST_DECREASE(first_decrease_64, int64_t, uint64_t)

/* The slots of a view that are checked. */
typedef struct range {
  int64_t from;
  int64_t count;
} range;

static int64_t validate_offset_at(const cst__view *v, int64_t slot) {
  return cst__view_entry(v->offsets, v->offset_width, v->offset + slot);
}

/* Offsets start at 0 or later, never decrease, and end at `limit` or before (-1: no limit). */
static cst_status validate_check_offsets(const cst__view *v, range r, int64_t limit,
                                         cst_error *error) {
  int64_t first = validate_offset_at(v, r.from);
  int64_t last = validate_offset_at(v, r.from + r.count);
  int64_t begin = v->offset + r.from;
  if (first < 0) {
    return bad_offset(error, r.from, first, "is negative");
  }
  int64_t at = v->offset_width == 8
                   ? first_decrease_64((const int64_t *)v->offsets + begin, r.count)
                   : first_decrease_32((const int32_t *)v->offsets + begin, r.count);
  if (at > 0) {
    return bad_offset(error, r.from + at - 1, validate_offset_at(v, r.from + at),
                      "is less than the one before");
  }
  if (limit >= 0 && last > limit) {
    return cst__fail(error, CST_CORRUPT, NULL, "the last offset is %lld, but there are %lld items",
                     (long long)last, (long long)limit);
  }
  return CST_OK;
}

/* Checks list views; the items that they refer to are in *items. */
static cst_status check_list_views(const cst__view *v, range r, range *items, cst_error *error) {
  int64_t limit = v->children[0].length;
  int64_t low = limit;
  int64_t high = 0;
  for (int64_t i = r.from; i < r.from + r.count; i++) {
    int64_t offset = validate_offset_at(v, i);
    int64_t size = cst__view_entry(v->sizes, v->offset_width, v->offset + i);
    if (cst__view_is_null(v, i)) {
      continue;
    }
    if (offset < 0 || size < 0 || offset > limit || size > limit - offset) {
      return cst__fail(error, CST_CORRUPT, NULL,
                       "slot %lld: items %lld + %lld, but there are %lld items", (long long)i,
                       (long long)offset, (long long)size, (long long)limit);
    }
    low = offset < low ? offset : low;
    high = offset + size > high ? offset + size : high;
  }
  *items = (range){low, high > low ? high - low : 0};
  return CST_OK;
}

static cst_status check_each_string(const cst__view *v, range r, cst_error *error) {
  for (int64_t i = r.from; i < r.from + r.count; i++) {
    cst_bytes bytes = cst__view_bytes(v, i);
    if (bytes.size > 0 && !cst__utf8_valid(bytes.data, bytes.size)) {
      return cst__fail(error, CST_CORRUPT, "cast the column to binary",
                       "slot %lld: a string that is not UTF-8", (long long)i);
    }
  }
  return CST_OK;
}

/* True if all bytes together are UTF-8 and no slot begins within a character: then every slot is.
 */
static bool are_strings_valid_at_once(const cst__view *v, range r) {
  const uint8_t *bytes = v->data;
  int64_t first = validate_offset_at(v, r.from);
  int64_t last = validate_offset_at(v, r.from + r.count);
  size_t size = (size_t)(last - first);
  if (cst__utf8_ascii_prefix(bytes + first, size) == size) {
    return true;
  }
  if (!cst__utf8_valid(bytes + first, size)) {
    return false;
  }
  for (int64_t i = r.from; i < r.from + r.count; i++) {
    int64_t at = validate_offset_at(v, i);
    if (at < last && (bytes[at] & 0xC0) == 0x80) {
      return false;
    }
  }
  return true;
}

/* How many bytes there are, nothing tells but the last offset of all. */
static cst_status check_binary(const cst__view *v, range r, cst_error *error) {
  CST__TRY(validate_check_offsets(v, r, -1, error));
  int64_t last = validate_offset_at(v, r.from + r.count);
  if (last > validate_offset_at(v, v->length)) {
    return bad_offset(error, r.from + r.count, last, "is above the last one");
  }
  int64_t bytes = last - validate_offset_at(v, r.from);
  if (bytes == 0) {
    return CST_OK;
  }
  if (v->data == NULL) {
    return cst__fail(error, CST_CORRUPT, NULL, "%lld bytes of values, but no buffer for them",
                     (long long)bytes);
  }
  if (v->is_string && !are_strings_valid_at_once(v, r)) {
    return check_each_string(v, r, error);
  }
  return CST_OK;
}

/* "Variable-size binary view layout": the length; up to 12 bytes, or 4 of them, a buffer's index
 * and an offset into it. */
static cst_status check_view_slot(const cst__view *v, int64_t i, cst_error *error) {
  int32_t entry[4]; /* length, prefix, buffer, offset */
  memcpy(entry, (const char *)v->data + (v->offset + i) * 16, sizeof entry);
  if (entry[0] >= 0 && entry[0] <= 12) {
    return CST_OK;
  }
  if (entry[0] < 0) {
    return cst__fail(error, CST_CORRUPT, NULL, "slot %lld: a length of %ld", (long long)i,
                     (long)entry[0]);
  }
  if (entry[2] < 0 || entry[2] >= v->num_variadic) {
    return cst__fail(error, CST_CORRUPT, NULL, "slot %lld: buffer %ld of %lld", (long long)i,
                     (long)entry[2], (long long)v->num_variadic);
  }
  int64_t size = cst__view_block_size(v, entry[2]);
  const char *buffer = cst__view_block(v, entry[2]);
  if (buffer == NULL || entry[3] < 0 || (int64_t)entry[3] + entry[0] > size) {
    return cst__fail(error, CST_CORRUPT, NULL,
                     "slot %lld: bytes %ld + %ld of a buffer of %lld bytes", (long long)i,
                     (long)entry[3], (long)entry[0], (long long)size);
  }
  if (memcmp(&entry[1], buffer + entry[3], 4) != 0) {
    return cst__fail(error, CST_CORRUPT, NULL, "slot %lld: the prefix is not that of its bytes",
                     (long long)i);
  }
  return CST_OK;
}

static cst_status check_views(const cst__view *v, range r, cst_error *error) {
  for (int64_t i = r.from; i < r.from + r.count; i++) {
    if (!cst__view_is_null(v, i)) {
      CST__TRY(check_view_slot(v, i, error));
    }
  }
  return v->is_string ? check_each_string(v, r, error) : CST_OK;
}

static cst_status validate_check_indices(const cst__view *v, range r, cst_error *error) {
  const cst__view *values = v->dictionary;
  for (int64_t i = r.from; i < r.from + r.count; i++) {
    if (!cst__view_is_null(v, i) && (uint64_t)cst__view_int(v, i) >= (uint64_t)values->length) {
      return cst__fail(error, CST_CORRUPT, NULL,
                       "slot %lld: index %lld of a dictionary of %lld values", (long long)i,
                       (long long)cst__view_int(v, i), (long long)values->length);
    }
  }
  return cst__validate_slots(values, 0, values->length, error);
}

static cst_status validate_check_children(const cst__view *v, range r, cst_error *error) {
  for (int64_t i = 0; i < v->num_children; i++) {
    const cst__view *child = &v->children[i];
    cst_status status = cst__validate_slots(child, r.from, r.count, error);
    if (status != CST_OK) {
      cst__error_add_path(error, child->name, strlen(child->name));
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__validate_slots(const cst__view *v, int64_t from, int64_t count, cst_error *error) {
  range r = {from, count};
  range items = {0, 0};
  CST__TRY(cst__interrupted(error));
  if (count == 0) {
    return CST_OK;
  }
  switch (v->layout) {
    case CST__LAYOUT_BINARY:
      return check_binary(v, r, error);
    case CST__LAYOUT_BINARY_VIEW:
      return check_views(v, r, error);
    case CST__LAYOUT_STRUCT:
      return validate_check_children(v, r, error);
    case CST__LAYOUT_LIST:
      CST__TRY(validate_check_offsets(v, r, v->children[0].length, error));
      items = (range){validate_offset_at(v, from),
                      validate_offset_at(v, from + count) - validate_offset_at(v, from)};
      break;
    case CST__LAYOUT_LIST_VIEW:
      CST__TRY(check_list_views(v, r, &items, error));
      break;
    case CST__LAYOUT_FIXED_LIST:
      items = (range){(v->offset + from) * v->fixed_size, count * v->fixed_size};
      break;
    case CST__LAYOUT_OTHER:
      return v->dictionary != NULL ? validate_check_indices(v, r, error) : CST_OK;
    default:
      return CST_OK;
  }
  return cst__validate_slots(&v->children[0], items.from, items.count, error);
}

/* ---- lengths ---- */

/* The most slots without memory of their own: what is computed of them stays small. */
enum { MAX_BARE_SLOTS = 1 << 24 };

/* True if the slots take memory in proportion to their number. */
static bool is_backed(const cst__view *v) {
  switch (v->layout) {
    case CST__LAYOUT_NULL:
      return false;
    case CST__LAYOUT_FIXED_BINARY:
      return v->validity != NULL || v->fixed_size > 0;
    case CST__LAYOUT_FIXED_LIST:
      return v->validity != NULL || (v->fixed_size > 0 && is_backed(&v->children[0]));
    case CST__LAYOUT_STRUCT:
      for (int64_t i = 0; i < v->num_children; i++) {
        if (is_backed(&v->children[i])) {
          return true;
        }
      }
      return v->validity != NULL;
    default:
      return true;
  }
}

static cst_status check_backing(const cst__view *v, bool is_covered, cst_error *error) {
  is_covered = is_covered || is_backed(v);
  if (!is_covered && v->length > MAX_BARE_SLOTS) {
    char type[64];
    cst__view_type_name(v, type, sizeof type);
    return cst__fail(error, CST_LIMIT, "use smaller batches",
                     "%lld slots of type %s without memory behind them, at most %d are taken",
                     (long long)v->length, type, MAX_BARE_SLOTS);
  }
  bool is_struct = v->layout == CST__LAYOUT_STRUCT;
  if (v->dictionary != NULL) {
    CST__TRY(check_backing(v->dictionary, false, error));
  }
  for (int64_t i = 0; i < v->num_children; i++) {
    const cst__view *child = &v->children[i];
    cst_status status = check_backing(child, is_struct && is_covered, error);
    if (status != CST_OK) {
      if (is_struct) {
        cst__error_add_path(error, child->name, strlen(child->name));
      }
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__validate_backing(const cst__view *view, cst_error *error) {
  return check_backing(view, false, error);
}
