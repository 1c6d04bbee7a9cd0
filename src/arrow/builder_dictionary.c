/* Dictionaries of builders: values that keep their index from batch to batch, and the array that
 * the batches share.
 */
#include "arrow/builder_parts.h"
#include "arrow/owned.h"

/* Types that have no children are those of values; one is always null. */
static bool is_value_type(const cst__type *type) {
  return type->num_children == 0 && type->dictionary == NULL && type->layout != CST__LAYOUT_NULL &&
         type->layout != CST__LAYOUT_STRUCT && type->layout != CST__LAYOUT_OTHER;
}

cst_status cst__builder_dictionary_new(cst__builder *b, cst_error *error) {
  const cst__type *type = b->type->dictionary;
  if (!is_value_type(type)) {
    return cst__fail(error, CST_UNSUPPORTED, "use a dictionary of strings, numbers or times",
                     "a dictionary of type %s cannot be built", cst__layout_name(type->format));
  }
  b->dictionary = cst__new_zero(&b->batch->allocator, sizeof *b->dictionary);
  if (b->dictionary == NULL) {
    return cst__fail_memory(error, sizeof *b->dictionary);
  }
  b->dictionary->type = type;
  cst__arena_init(&b->dictionary->arena, &b->batch->allocator);
  return type->layout == CST__LAYOUT_BINARY
             ? CST_OK
             : cst__batch_builder_new(type, &b->batch->allocator, &b->dictionary->one, error);
}

static void share_drop(cst__dictionary_share *share) {
  if (cst__refcount_down(&share->users)) {
    cst__array_release(&share->array);
    cst__delete(share);
  }
}

static void forget_values(cst__builder_dictionary *d) {
  if (d->share != NULL) {
    share_drop(d->share);
  }
  d->share = NULL;
  d->count = d->shared = 0;
  cst__name_map_reset(&d->map);
  cst__arena_reset(&d->arena);
}

void cst__builder_clear_dictionary(cst__builder *b) { forget_values(b->dictionary); }

void cst__builder_dictionary_free(cst__builder_dictionary *d) {
  if (d != NULL) {
    forget_values(d);
    cst__batch_builder_free(d->one);
    cst__delete(d->values);
    cst__delete(d);
  }
}

size_t cst__builder_dictionary_size(const cst__builder *b) { return b->dictionary->count; }

cst_status cst__builder_intern(cst__builder *b, const void *bytes, size_t size, int64_t *index,
                               cst_error *error) {
  cst__builder_dictionary *d = b->dictionary;
  const char *key = size > 0 ? bytes : "";
  size_t found = cst__name_map_find(&d->map, key, size);
  if (found != SIZE_MAX) {
    *index = (int64_t)found;
    return CST_OK;
  }
  if (d->count == cst__index_limit(b->type->dtype)) {
    return cst__fail(error, CST_LIMIT, "use wider indices, or no dictionary",
                     "a dictionary of more than %zu values", d->count);
  }
  void *values = d->values;
  const char *copy = cst__arena_copy(&d->arena, key, size);
  bool ok = copy != NULL &&
            cst__grow(&b->batch->allocator, &values, &d->capacity, d->count + 1, sizeof *d->values);
  d->values = values;
  if (!ok || !cst__name_map_add(&d->map, copy, size, d->count)) {
    return cst__fail_memory(error, size);
  }
  d->values[d->count] = (cst_bytes){(const uint8_t *)copy, size};
  *index = (int64_t)d->count++;
  return CST_OK;
}

/* ---- values that are no strings with offsets ---- */

cst__builder *cst__builder_dictionary_value(const cst__builder *b) {
  cst__batch_builder *one = b->dictionary->one;
  if (one != NULL) {
    cst__batch_builder_rollback(one, (cst__builder_mark){0, 0});
  }
  return one != NULL ? one->root : NULL;
}

/* The index of the only value. Bools are bytes in the map. */
static cst_status intern_value(cst__builder *b, int64_t *index, cst_error *error) {
  const cst__builder *value = b->dictionary->one->root;
  uint8_t bit;
  switch (value->type->layout) {
    case CST__LAYOUT_BINARY_VIEW:
      return cst__builder_intern(b, value->values, value->num_bytes, index, error);
    case CST__LAYOUT_BOOL:
      bit = value->values[0] & 1;
      return cst__builder_intern(b, &bit, 1, index, error);
    default:
      return cst__builder_intern(b, value->values, value->type->width, index, error);
  }
}

cst_status cst__builder_append_value(cst__builder *b, cst_error *error) {
  int64_t index;
  CST__TRY(intern_value(b, &index, error));
  return cst__builder_append_index(b, index) ? CST_OK : cst__batch_builder_fail(b->batch, error);
}

/* What absent slots that are not null refer to: zero, false or no bytes. */
static cst_status intern_nothing(cst__builder *b, cst_error *error) {
  int64_t ignored;
  cst__builder *value = cst__builder_dictionary_value(b);
  if (value == NULL) {
    return cst__builder_intern(b, NULL, 0, &ignored, error);
  }
  return cst__builder_pad(value, 1) ? intern_value(b, &ignored, error)
                                    : cst__batch_builder_fail(value->batch, error);
}

/* ---- the array ---- */

static int dictionary_num_buffers(const cst__type *type) {
  return type->layout == CST__LAYOUT_BINARY ? 3 : type->layout == CST__LAYOUT_BINARY_VIEW ? 4 : 2;
}

static size_t bytes_of_values(const cst__builder_dictionary *d) {
  size_t bytes = 0;
  for (size_t i = 0; i < d->count; i++) {
    bytes += d->values[i].size;
  }
  return bytes;
}

static cst_status fill_strings(const cst__builder_dictionary *d, struct ArrowArray *out,
                               cst_error *error) {
  size_t bytes = bytes_of_values(d);
  size_t width = (size_t)d->type->offset_width;
  if (width == 4 && bytes > INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use 64-bit offsets",
                     "a dictionary holds %zu bytes, 32-bit offsets reach 2147483647", bytes);
  }
  uint8_t *offsets = cst__owned_buffer(out, 1, (d->count + 1) * width);
  uint8_t *to = cst__owned_buffer(out, 2, bytes);
  if (offsets == NULL || to == NULL) {
    return cst__fail_memory(error, bytes);
  }
  int64_t end = 0; /* little-endian: its first four bytes are the narrow offset */
  memcpy(offsets, &end, width);
  for (size_t i = 0; i < d->count; i++) {
    memcpy(to + end, d->values[i].data, d->values[i].size);
    end += (int64_t)d->values[i].size;
    memcpy(offsets + (i + 1) * width, &end, width);
  }
  return CST_OK;
}

static cst_status fill_views(const cst__builder_dictionary *d, struct ArrowArray *out,
                             cst_error *error) {
  size_t bytes = bytes_of_values(d);
  if (bytes > INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use no views",
                     "a dictionary holds %zu bytes, views reach 2147483647", bytes);
  }
  uint8_t *views = cst__owned_buffer(out, 1, d->count * CST__VIEW_SIZE);
  uint8_t *block = cst__owned_buffer(out, 2, bytes);
  int64_t *block_size = cst__owned_buffer(out, 3, sizeof *block_size);
  if (views == NULL || block == NULL || block_size == NULL) {
    return cst__fail_memory(error, bytes);
  }
  *block_size = (int64_t)bytes;
  uint8_t *at = block;
  for (size_t i = 0; i < d->count; i++) {
    size_t size = d->values[i].size;
    memcpy(at, d->values[i].data, size);
    cst__put_view(views + i * CST__VIEW_SIZE, at, size, 0, block, at);
    at += size;
  }
  return CST_OK;
}

/* Values of a fixed width, and bools. */
static cst_status fill_fixed(const cst__builder_dictionary *d, struct ArrowArray *out,
                             cst_error *error) {
  bool is_bool = d->type->layout == CST__LAYOUT_BOOL;
  size_t width = d->type->width;
  uint8_t *to =
      cst__owned_buffer(out, 1, is_bool ? cst__bits_size((int64_t)d->count) : d->count * width);
  if (to == NULL) {
    return cst__fail_memory(error, d->count * width);
  }
  for (size_t i = 0; i < d->count; i++) {
    const uint8_t *value = d->values[i].data;
    if (is_bool) {
      to[i >> 3] = (uint8_t)((i & 7) == 0 ? *value : to[i >> 3] | *value << (i & 7));
    } else {
      memcpy(to + i * width, value, width);
    }
  }
  return CST_OK;
}

static cst_status fill_values(const cst__builder_dictionary *d, struct ArrowArray *out,
                              cst_error *error) {
  CST__TRY(d->type->layout == CST__LAYOUT_BINARY        ? fill_strings(d, out, error)
           : d->type->layout == CST__LAYOUT_BINARY_VIEW ? fill_views(d, out, error)
                                                        : fill_fixed(d, out, error));
  out->length = (int64_t)d->count;
  return CST_OK;
}

static cst_status share_new(const cst__builder *b, cst__dictionary_share **out, cst_error *error) {
  cst__dictionary_share *share = cst__new_zero(&b->batch->allocator, sizeof *share);
  if (share == NULL) {
    return cst__fail_memory(error, sizeof *share);
  }
  cst__refcount_init(&share->users);
  cst_status status =
      cst__owned_new(&b->batch->allocator, dictionary_num_buffers(b->type->dictionary), 0, false,
                     &share->array, error);
  if (status == CST_OK) {
    status = fill_values(b->dictionary, &share->array, error);
  }
  if (status != CST_OK) {
    share_drop(share);
    return status;
  }
  *out = share;
  return CST_OK;
}

static void share_release(struct ArrowArray *array) {
  cst__dictionary_share *share = array->private_data;
  array->release = NULL;
  share_drop(share);
}

cst_status cst__builder_dictionary_export(cst__builder *b, cst_error *error) {
  cst__builder_dictionary *d = b->dictionary;
  if (d->count == 0 && b->length > b->null_count) { /* absent slots that are not null */
    CST__TRY(intern_nothing(b, error));
  }
  if (d->share == NULL || d->shared < d->count) {
    cst__dictionary_share *share = NULL;
    CST__TRY(share_new(b, &share, error));
    if (d->share != NULL) {
      share_drop(d->share);
    }
    d->share = share;
    d->shared = d->count;
  }
  cst__refcount_up(&d->share->users);
  b->buffers->dictionary = d->share->array;
  b->buffers->dictionary.release = share_release;
  b->buffers->dictionary.private_data = d->share;
  return CST_OK;
}
