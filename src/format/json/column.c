/* Columns of any nesting: growing buffers that are handed out as Arrow arrays. */
#include <string.h>

#include "arrow/owned.h"
#include "format/json/json.h"

enum {
  NO_CHILD = UINT32_MAX,
  MAX_ABSENT = 1 << 26 /* slots of a batch that hold nothing: few bytes of text may ask for many */
};

cst_status cst__json_column_init(cst__json_column *column, const cst__json_type *type,
                                 cst__arena *arena, cst_error *error) {
  size_t size = 0;
  *column = (cst__json_column){
      .type = type, .touched = NO_CHILD, .first_key = NO_CHILD, .key_behind = NO_CHILD};
  column->children = cst__mul(type->num_children, sizeof *column->children, &size)
                         ? cst__arena_take_zero(arena, size + 1)
                         : NULL;
  if (column->children == NULL) {
    return cst__fail_memory(error, size);
  }
  for (size_t i = 0; i < type->num_children; i++) {
    CST__TRY(cst__json_column_init(&column->children[i], &type->children[i], arena, error));
  }
  return CST_OK;
}

/* A column may be the rest of an init that failed: then its children are zero. */
void cst__json_column_free(cst__json_column *column, const cst_allocator *allocator) {
  cst__buffer_free(allocator, &column->validity);
  cst__buffer_free(allocator, &column->offsets);
  cst__buffer_free(allocator, &column->values);
  for (size_t i = 0; column->children != NULL && i < column->type->num_children; i++) {
    cst__json_column_free(&column->children[i], allocator);
  }
}

/* ---- room ---- */

static bool has_offsets(const cst__json_type *type) {
  return type->kind == CST__JSON_KIND_STRING || type->kind == CST__JSON_KIND_BINARY ||
         type->kind == CST__JSON_KIND_LIST;
}

/* Bytes of `count` slots' values; strings have theirs on their own. */
static size_t values_size(const cst__json_type *type, size_t count) {
  if (type->kind == CST__JSON_KIND_NUMBER) {
    return count * cst_dtype_width(type->dtype);
  }
  return type->kind == CST__JSON_KIND_BOOL ? cst__bits_size((int64_t)count) : 0;
}

/* Room for the slots up to `length`; the first time for as many as the batch before had. */
static bool reserve(cst__json_column *column, int64_t length, const cst_allocator *allocator) {
  const cst__json_type *type = column->type;
  size_t have = (size_t)column->length;
  size_t want = (size_t)length;
  const cst__buffer *given = has_offsets(type) ? &column->offsets : &column->values;
  if (column->validity.data == NULL || given->data == NULL) {
    want = want > column->usual_length ? want : column->usual_length;
  }
  if (!cst__buffer_reserve(allocator, &column->validity, (want + 7) / 8, (have + 7) / 8)) {
    return false;
  }
  if (has_offsets(type)) {
    bool is_new = column->offsets.data == NULL;
    if (!cst__buffer_reserve(allocator, &column->offsets, (want + 1) * 8, (have + 1) * 8)) {
      return false;
    }
    if (is_new) {
      cst__json_offsets(column)[0] = 0;
    }
    return true;
  }
  size_t size = values_size(type, want);
  return size == 0 ||
         cst__buffer_reserve(allocator, &column->values, size, values_size(type, have));
}

static void clear_bits(uint8_t *bits, int64_t from, int64_t to) {
  for (; from < to && (from & 7) != 0; from++) {
    bits[from >> 3] &= (uint8_t) ~(1U << (from & 7));
  }
  if (from < to) {
    memset(bits + (from >> 3), 0, cst__bits_size(to - from));
  }
}

/* Slots up to `length`, which there is room for: zero, false or empty. */
static void put_zeros(cst__json_column *column, int64_t length) {
  const cst__json_type *type = column->type;
  int64_t have = column->length;
  if (has_offsets(type)) {
    int64_t *offsets = cst__json_offsets(column);
    for (int64_t i = have; i < length; i++) {
      offsets[i + 1] = offsets[have];
    }
  } else if (type->kind == CST__JSON_KIND_BOOL) {
    clear_bits(column->values.data, have, length);
  } else if (type->kind == CST__JSON_KIND_NUMBER) {
    size_t begin = values_size(type, (size_t)have);
    memset(column->values.data + begin, 0, values_size(type, (size_t)length) - begin);
  }
}

bool cst__json_column_add(cst__json_column *column, const cst_allocator *allocator) {
  int64_t at = column->length;
  if (!reserve(column, at + 1, allocator)) {
    return false;
  }
  put_zeros(column, at + 1);
  uint8_t *byte = &column->validity.data[at >> 3];
  unsigned bit = 1U << (at & 7);
  *byte = (uint8_t)((at & 7) == 0 ? 1U : *byte | bit);
  column->length++;
  return true;
}

cst_status cst__json_fail_absent(int64_t absent, cst_error *error) {
  return absent <= MAX_ABSENT
             ? cst__fail_memory(error, (size_t)absent)
             : cst__fail(error, CST_LIMIT, "use smaller batches, or give types with fewer fields",
                         "a batch holds more than %d absent values", MAX_ABSENT);
}

bool cst__json_column_pad(cst__json_column *column, int64_t length, const cst_allocator *allocator,
                          int64_t *absent) {
  if (column->length >= length) {
    return true;
  }
  if (column->type->kind == CST__JSON_KIND_NULL) {
    column->length = column->null_count = length;
    return true;
  }
  *absent += length - column->length;
  if (*absent > MAX_ABSENT || !reserve(column, length, allocator)) {
    return false;
  }
  put_zeros(column, length);
  if ((column->type->flags & (CST__JSON_REQUIRED | CST__JSON_PRESENT)) != 0) {
    cst__bits_set(column->validity.data, column->length, length - column->length);
  } else {
    clear_bits(column->validity.data, column->length, length);
    column->null_count += length - column->length;
  }
  column->length = length;
  return true;
}

uint8_t *cst__json_column_bytes(cst__json_column *column, size_t size,
                                const cst_allocator *allocator) {
  int64_t *end = &cst__json_offsets(column)[column->length];
  size_t have = (size_t)*end;
  size_t want;
  if (!cst__add(have, size, &want)) {
    return NULL;
  }
  size_t room =
      column->values.data == NULL && want < column->usual_values ? column->usual_values : want;
  if (!cst__buffer_reserve(allocator, &column->values, room, have)) {
    return NULL;
  }
  *end = (int64_t)want;
  return column->values.data + have;
}

/* ---- taking back ---- */

static void truncate_children(cst__json_column *column, int64_t length) {
  switch (column->type->kind) {
    case CST__JSON_KIND_LIST:
      cst__json_column_truncate(&column->children[0], cst__json_offsets(column)[length]);
      break;
    case CST__JSON_KIND_FIXED_LIST:
      cst__json_column_truncate(&column->children[0], length * column->type->fixed_size);
      break;
    case CST__JSON_KIND_STRUCT:
      for (size_t i = 0; i < column->type->num_children; i++) {
        cst__json_column_truncate(&column->children[i], length);
      }
      break;
    default:
      break;
  }
}

void cst__json_column_truncate(cst__json_column *column, int64_t length) {
  if (column->length <= length) {
    return;
  }
  truncate_children(column, length);
  if (column->type->kind == CST__JSON_KIND_NULL) {
    column->null_count = length;
  } else {
    const uint8_t *bits = column->validity.data;
    for (int64_t i = length; i < column->length; i++) {
      column->null_count -= (bits[i >> 3] >> (i & 7) & 1) == 0;
    }
  }
  column->length = length;
}

static void clear(cst__json_column *column) {
  column->length = column->null_count = 0;
  for (size_t i = 0; i < column->type->num_children; i++) {
    clear(&column->children[i]);
  }
}

/* ---- the way out ---- */

static cst_status narrow_offsets(cst__json_column *column, cst_error *error) {
  int64_t *wide = cst__json_offsets(column);
  int32_t *narrow = (int32_t *)(void *)column->offsets.data;
  if ((column->type->flags & CST__JSON_OFFSETS_32) == 0) {
    return CST_OK;
  }
  if (wide[column->length] > INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use smaller batches or 64-bit offsets",
                     "a batch holds %lld bytes or values, 32-bit offsets reach 2147483647",
                     (long long)wide[column->length]);
  }
  for (int64_t i = 0; i <= column->length; i++) {
    narrow[i] = (int32_t)wide[i];
  }
  return CST_OK;
}

static int64_t num_buffers(const cst__json_type *type) {
  if ((type->flags & CST__JSON_VIEWS) != 0) {
    return 4;
  }
  switch (type->kind) {
    case CST__JSON_KIND_NULL:
      return 0;
    case CST__JSON_KIND_STRING:
    case CST__JSON_KIND_BINARY:
      return 3;
    case CST__JSON_KIND_FIXED_LIST:
    case CST__JSON_KIND_STRUCT:
      return 1;
    default:
      return 2;
  }
}

/* Hands a buffer over; one that was never written becomes one of no bytes, because consumers
 * dislike NULL. */
static bool give(struct ArrowArray *out, int64_t index, cst__buffer *buffer,
                 const cst_allocator *allocator) {
  if (!cst__buffer_reserve(allocator, buffer, 0, 0)) {
    return false;
  }
  cst__owned_give(out, index, buffer);
  return true;
}

static void put_views(const cst__json_column *column, uint8_t *views) {
  const int64_t *offsets = cst__json_offsets(column);
  const uint8_t *block = column->values.data;
  for (int64_t i = 0; i < column->length; i++) {
    size_t begin = (size_t)offsets[i];
    cst__put_view(views + i * CST__VIEW_SIZE, block + begin, (size_t)offsets[i + 1] - begin, 0,
                  block, block + begin);
  }
}

/* Views instead of offsets: validity, views, the block of all bytes, its size. */
static cst_status export_views(cst__json_column *column, const cst_allocator *allocator,
                               struct ArrowArray *out, cst_error *error) {
  int64_t bytes = cst__json_offsets(column)[column->length];
  uint8_t *views = cst__owned_buffer(out, 1, (size_t)column->length * CST__VIEW_SIZE);
  int64_t *sizes = cst__owned_buffer(out, 3, sizeof *sizes);
  if (bytes > INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use smaller batches, or no views",
                     "a batch holds %lld bytes, views reach 2147483647", (long long)bytes);
  }
  if (views == NULL || sizes == NULL || !cst__buffer_reserve(allocator, &column->values, 0, 0)) {
    return cst__fail_memory(error, (size_t)column->length * CST__VIEW_SIZE);
  }
  *sizes = bytes;
  put_views(column, views);
  cst__owned_give(out, 2, &column->values);
  return CST_OK;
}

static cst_status export_buffers(cst__json_column *column, const cst_allocator *allocator,
                                 struct ArrowArray *out, cst_error *error) {
  const cst__json_type *type = column->type;
  int64_t next = 1;
  bool ok = true;
  out->length = column->length;
  out->null_count = column->null_count;
  column->usual_length = (size_t)column->length;
  column->usual_values = column->values.capacity;
  if (type->kind == CST__JSON_KIND_NULL) {
    return CST_OK;
  }
  if (column->null_count > 0) {
    ok = give(out, 0, &column->validity, allocator);
  }
  if (ok && (type->flags & CST__JSON_VIEWS) != 0) {
    return export_views(column, allocator, out, error);
  }
  if (ok && has_offsets(type)) {
    CST__TRY(narrow_offsets(column, error));
    ok = give(out, next++, &column->offsets, allocator);
  }
  if (ok && next < out->n_buffers) {
    ok = give(out, next, &column->values, allocator);
  }
  return ok ? CST_OK : cst__fail_memory(error, 64);
}

static int64_t child_length(const cst__json_column *column) {
  switch (column->type->kind) {
    case CST__JSON_KIND_LIST:
      return cst__json_offsets(column)[column->length];
    case CST__JSON_KIND_FIXED_LIST:
      return column->length * column->type->fixed_size;
    default:
      return column->length;
  }
}

static cst_status export_tree(cst__json_column *column, int64_t length,
                              const cst_allocator *allocator, int64_t *absent,
                              struct ArrowArray *out, cst_error *error) {
  const cst__json_type *type = column->type;
  /* Also an empty column has its first offset. */
  if (!cst__json_column_pad(column, length, allocator, absent) ||
      (has_offsets(type) && !reserve(column, length, allocator))) {
    return cst__json_fail_absent(*absent, error);
  }
  int64_t items = child_length(column);
  CST__TRY(
      cst__owned_new(allocator, num_buffers(type), (int64_t)type->num_children, false, out, error));
  cst_status status = export_buffers(column, allocator, out, error);
  for (size_t i = 0; i < type->num_children && status == CST_OK; i++) {
    status = export_tree(&column->children[i], items, allocator, absent, out->children[i], error);
  }
  if (status != CST_OK) {
    cst__array_release(out);
    if (status == CST_LIMIT && type->name != NULL) {
      cst__error_add_path(error, type->name, strlen(type->name));
    }
  }
  return status;
}

cst_status cst__json_column_export(cst__json_column *column, int64_t length,
                                   const cst_allocator *allocator, int64_t *absent,
                                   struct ArrowArray *out, cst_error *error) {
  cst_status status = export_tree(column, length, allocator, absent, out, error);
  clear(column);
  return status;
}
