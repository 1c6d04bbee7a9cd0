/* Dictionaries of builders: values that keep their index from batch to batch, and the array that
 * the batches share.
 */
#include "arrow/builder_parts.h"
#include "arrow/owned.h"

cst_status cst__builder_dictionary_new(cst__builder *b, cst_error *error) {
  const cst__type *type = b->type->dictionary;
  if (type->layout != CST__LAYOUT_BINARY) {
    return cst__fail(error, CST_UNSUPPORTED, "use a dictionary of strings or binary",
                     "a dictionary of type %s cannot be built", cst__layout_name(type->format));
  }
  b->dictionary = cst__new_zero(&b->batch->allocator, sizeof *b->dictionary);
  if (b->dictionary == NULL) {
    return cst__fail_memory(error, sizeof *b->dictionary);
  }
  b->dictionary->type = type;
  cst__arena_init(&b->dictionary->arena, &b->batch->allocator);
  return CST_OK;
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

/* ---- the array ---- */

static cst_status fill_values(const cst__builder_dictionary *d, struct ArrowArray *out,
                              cst_error *error) {
  size_t bytes = 0;
  size_t width = (size_t)d->type->offset_width;
  for (size_t i = 0; i < d->count; i++) {
    bytes += d->values[i].size;
  }
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
  out->length = (int64_t)d->count;
  return CST_OK;
}

static cst_status share_new(const cst__builder *b, cst__dictionary_share **out, cst_error *error) {
  cst__dictionary_share *share = cst__new_zero(&b->batch->allocator, sizeof *share);
  if (share == NULL) {
    return cst__fail_memory(error, sizeof *share);
  }
  cst__refcount_init(&share->users);
  cst_status status = cst__owned_new(&b->batch->allocator, 3, 0, false, &share->array, error);
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
  int64_t ignored;
  if (d->count == 0 && b->length > b->null_count) { /* absent slots that are not null */
    CST__TRY(cst__builder_intern(b, NULL, 0, &ignored, error));
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
