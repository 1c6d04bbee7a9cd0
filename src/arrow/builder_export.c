/* Builders to Arrow arrays. */
#include "arrow/builder_parts.h"
#include "arrow/owned.h"

/* What a buffer pointer of an empty array points to: consumers dislike NULL. */
static const _Alignas(64) uint8_t no_bytes[64];

static const void *pointer_of(const cst__buffer *buffer) {
  return buffer->data != NULL ? buffer->data : no_bytes;
}

static void set_release(struct ArrowArray *array) {
  cst__builder_set *set = array->private_data;
  if (cst__pooled_array_release(array, &set->pooled)) {
    cst__batch_pool_put(&set->pooled);
  }
}

/* ---- offsets and views ---- */

static int64_t last_offset(const cst__builder *b) {
  return b->offsets != NULL ? b->offsets[b->length] : 0;
}

static cst_status builder_narrow_offsets(cst__builder *b, cst_error *error) {
  int64_t last = last_offset(b);
  int32_t *narrow = (int32_t *)(void *)b->buffers->offsets.data;
  if (last > INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use smaller batches or 64-bit offsets",
                     "a batch holds %lld %s, 32-bit offsets reach 2147483647", (long long)last,
                     cst__builder_is_list(b) ? "values" : "bytes");
  }
  for (int64_t i = 0; narrow != NULL && i <= b->length; i++) {
    int32_t offset = (int32_t)b->offsets[i];
    memcpy(narrow + i, &offset, sizeof offset);
  }
  return CST_OK;
}

/* How many items each list has, in the width of its offsets. */
static cst_status builder_make_sizes(cst__builder *b, cst_error *error) {
  size_t width = (size_t)b->type->offset_width;
  cst__buffer *sizes = &b->buffers->views;
  if (!cst__buffer_reserve(&b->batch->allocator, sizes, (size_t)b->length * width, 0)) {
    return cst__fail_memory(error, (size_t)b->length * width);
  }
  for (int64_t i = 0; i < b->length; i++) {
    int64_t size = b->offsets[i + 1] - b->offsets[i]; /* little-endian */
    memcpy(sizes->data + (size_t)i * width, &size, width);
  }
  return CST_OK;
}

static cst_status builder_make_views(cst__builder *b, cst_error *error) {
  cst__builder_buffers *own = b->buffers;
  size_t size = (size_t)b->length * CST__VIEW_SIZE;
  own->block_size = last_offset(b);
  if (own->block_size > INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use smaller batches, or no views",
                     "a batch holds %lld bytes, views reach 2147483647",
                     (long long)own->block_size);
  }
  if (!cst__buffer_reserve(&b->batch->allocator, &own->views, size, 0)) {
    return cst__fail_memory(error, size);
  }
  const uint8_t *block = pointer_of(&own->values);
  for (int64_t i = 0; i < b->length; i++) {
    const uint8_t *at = block + b->offsets[i];
    cst__put_view(own->views.data + i * CST__VIEW_SIZE, at,
                  (size_t)(b->offsets[i + 1] - b->offsets[i]), 0, block, at);
  }
  return CST_OK;
}

/* ---- arrays ---- */

/* The bits of the last byte that are no slot's depend on the memory that the bitmap grew in: they
 * become 0, so that the same rows give the same bytes. */
static uint8_t *finish_validity(cst__builder *b) {
  if (b->null_count == 0) {
    return NULL;
  }
  b->validity[(b->length - 1) / 8] &= (uint8_t)(0xff >> (-b->length & 7));
  return b->validity;
}

/* The array of one builder; its children are exported on their own. */
static void builder_fill_array(cst__builder *b, cst__builder_set *set) {
  cst__builder_buffers *own = b->buffers;
  int64_t count = 1;
  own->pointers[0] = finish_validity(b);
  switch (b->type->layout) {
    case CST__LAYOUT_NULL:
      count = 0;
      break;
    case CST__LAYOUT_STRUCT:
    case CST__LAYOUT_FIXED_LIST:
      break;
    case CST__LAYOUT_LIST:
      own->pointers[count++] = pointer_of(&own->offsets);
      break;
    case CST__LAYOUT_LIST_VIEW:
      own->pointers[count++] = pointer_of(&own->offsets);
      own->pointers[count++] = pointer_of(&own->views);
      break;
    case CST__LAYOUT_BINARY:
      own->pointers[count++] = pointer_of(&own->offsets);
      own->pointers[count++] = pointer_of(&own->values);
      break;
    case CST__LAYOUT_BINARY_VIEW:
      own->pointers[count++] = pointer_of(&own->views);
      own->pointers[count++] = pointer_of(&own->values);
      own->pointers[count++] = &own->block_size;
      break;
    default:
      own->pointers[count++] = pointer_of(&own->values);
      break;
  }
  own->array = (struct ArrowArray){
      .length = b->length,
      .null_count = b->type->layout == CST__LAYOUT_NULL ? b->length : b->null_count,
      .n_buffers = count,
      .n_children = (int64_t)b->num_children,
      .buffers = own->pointers,
      .children = b->num_children > 0 ? set->arrays + (b->children - b->batch->root) : NULL,
      .dictionary = b->dictionary != NULL ? &own->dictionary : NULL,
      .release = set_release,
      .private_data = set};
}

/* The slots that a child is to have. */
static int64_t builder_child_length(const cst__builder *b) {
  return cst__builder_is_list(b)                     ? last_offset(b)
         : b->type->layout == CST__LAYOUT_FIXED_LIST ? b->length * b->type->fixed_size
                                                     : b->length;
}

static cst_status export_builder(cst__builder *b, int64_t length, cst_error *error) {
  if (!cst__builder_pad(b, length)) {
    return cst__batch_builder_fail(b->batch, error);
  }
  int64_t items = builder_child_length(b);
  b->usual_length = (size_t)b->length;
  b->usual_bytes = b->num_bytes;
  if (b->type->layout == CST__LAYOUT_LIST_VIEW) {
    CST__TRY(builder_make_sizes(b, error));
  }
  if (b->type->layout == CST__LAYOUT_BINARY_VIEW) {
    CST__TRY(builder_make_views(b, error));
  } else if (b->type->offset_width == 4) {
    CST__TRY(builder_narrow_offsets(b, error));
  }
  if (b->dictionary != NULL) {
    CST__TRY(cst__builder_dictionary_export(b, error));
  }
  builder_fill_array(b, b->batch->set);
  for (size_t i = 0; i < b->num_children; i++) {
    cst__builder *child = &b->children[i];
    cst_status status = export_builder(child, items, error);
    if (status == CST_LIMIT && b->type->layout == CST__LAYOUT_STRUCT) {
      cst__error_add_path(error, child->type->name, strlen(child->type->name));
    }
    CST__TRY(status);
  }
  return CST_OK;
}

static void release_dictionaries(cst__builder_set *set) {
  for (size_t i = 0; i < set->num_builders; i++) {
    struct ArrowArray *dictionary = &set->buffers[i].dictionary;
    if (dictionary->release != NULL) {
      dictionary->release(dictionary);
    }
  }
}

cst_status cst__batch_builder_finish(cst__batch_builder *batch, struct ArrowArray *out,
                                     cst_error *error) {
  cst__builder *root = batch->root;
  if (batch->set == NULL && !cst__builder_attach(batch)) {
    cst__builder_detach(batch);
    return cst__fail_memory(error, sizeof *batch->set);
  }
  cst__builder_set *set = batch->set;
  /* What was appended after the last slot of the root belongs to no row. */
  cst__batch_builder_rollback(batch, cst__batch_builder_mark(batch));
  cst_status status = export_builder(root, root->length, error);
  cst__builder_detach(batch);
  if (status != CST_OK) {
    release_dictionaries(set);
    cst__batch_pool_put(&set->pooled);
    return status;
  }
  atomic_init(&set->pooled.arrays, (int)set->num_builders);
  /* The root goes out by value: its struct in the set is not used. */
  *out = set->buffers[0].array;
  return CST_OK;
}

cst_status cst__batch_builder_deliver(cst__batch_builder *batch, struct ArrowSchema *out_schema,
                                      struct ArrowArray *out, cst_error *error) {
  cst_status status =
      out_schema != NULL ? cst__type_export(batch->root->type, out_schema, error) : CST_OK;
  if (status != CST_OK || out == NULL) {
    cst__batch_builder_rollback(batch, (cst__builder_mark){0, 0});
    return status;
  }
  status = cst__batch_builder_finish(batch, out, error);
  if (status != CST_OK && out_schema != NULL) {
    out_schema->release(out_schema);
  }
  return status;
}
