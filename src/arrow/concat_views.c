/* Concatenation of binary views and list views, whose slots point anywhere. */
#include "arrow/concat_views.h"

#include <string.h>

#include "arrow/owned.h"

/* ---- list views ---- */

void cst__list_views_span(const cst__piece *piece, int64_t *begin, int64_t *length) {
  int64_t low = INT64_MAX;
  int64_t high = 0;
  for (int64_t i = piece->begin; i < piece->begin + piece->length; i++) {
    int64_t first;
    int64_t end;
    cst__view_list(piece->view, i, &first, &end);
    if (end > first) {
      low = first < low ? first : low;
      high = end > high ? end : high;
    }
  }
  *begin = high > 0 ? low : 0;
  *length = high > 0 ? high - low : 0;
}

static void views_put_entry(void *entries, int width, int64_t at, int64_t value) {
  if (width == 8) {
    ((int64_t *)entries)[at] = value;
  } else {
    ((int32_t *)entries)[at] = (int32_t)value;
  }
}

/* Empty and null slots refer to no item. */
static void move_list_views(const cst__piece *piece, int64_t move, int64_t slot, void *offsets,
                            void *sizes) {
  int width = piece->view->offset_width;
  for (int64_t i = 0; i < piece->length; i++) {
    int64_t begin;
    int64_t end;
    cst__view_list(piece->view, piece->begin + i, &begin, &end);
    views_put_entry(offsets, width, slot + i, end > begin ? begin + move : 0);
    views_put_entry(sizes, width, slot + i, end - begin);
  }
}

cst_status cst__join_list_views(const cst__level *level, struct ArrowArray *out, cst_error *error) {
  int width = level->pieces[0].view->offset_width;
  int64_t slot = 0;
  int64_t total = 0;
  void *offsets = cst__level_take(out, 1, out->length, (size_t)width, error);
  void *sizes = cst__level_take(out, 2, out->length, (size_t)width, error);
  if (offsets == NULL || sizes == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < level->count; i++) {
    const cst__piece *piece = &level->pieces[i];
    int64_t begin;
    int64_t length;
    cst__list_views_span(piece, &begin, &length);
    CST__TRY(cst__level_add(&total, length, width, "list items", error));
    move_list_views(piece, total - length - begin, slot, offsets, sizes);
    slot += piece->length;
  }
  return CST_OK;
}

/* ---- binary views ---- */

/* The sizes of the blocks of the result. */
typedef struct blocks {
  const cst_allocator *allocator;
  int64_t *sizes;
  size_t count;
  size_t capacity;
} blocks;

static cst_status views_add_block(blocks *b, int64_t size, cst_error *error) {
  void *items = b->sizes;
  if (b->count >= INT32_MAX ||
      !cst__grow(b->allocator, &items, &b->capacity, b->count + 1, sizeof *b->sizes)) {
    return cst__fail_memory(error, (b->count + 1) * sizeof *b->sizes);
  }
  b->sizes = items;
  b->sizes[b->count++] = size;
  return CST_OK;
}

/* The bytes of a slot that do not lie in its view; none for a null slot. */
static cst_bytes long_value(const cst__piece *piece, int64_t i) {
  cst_bytes bytes = cst__view_bytes(piece->view, piece->begin + i);
  return bytes.size > CST__VIEW_INLINE ? bytes : (cst_bytes){NULL, 0};
}

/* Nothing is known of a block that no slot refers to: it may be missing. */
static int64_t variadic_size(const cst__view *view, int64_t i) {
  int64_t size = cst__view_block_size(view, i);
  return cst__view_block(view, i) != NULL && size > 0 ? size : 0;
}

/* True if copying the blocks costs less than copying the values: many views share bytes. */
static bool shares_bytes(const cst__piece *piece) {
  const cst__view *view = piece->view;
  uint64_t blocks_size = 0;
  uint64_t values_size = 0;
  for (int64_t i = 0; i < view->num_variadic; i++) {
    blocks_size += (uint64_t)variadic_size(view, i);
  }
  for (int64_t i = 0; i < piece->length && values_size <= blocks_size; i++) {
    values_size += long_value(piece, i).size;
  }
  return values_size > blocks_size;
}

/* The one rule by which values are laid into blocks, for counting and for copying. */
static bool fits_block(int64_t filled, size_t size) { return (int64_t)size <= INT32_MAX - filled; }

static cst_status plan_values(blocks *b, const cst__piece *piece, cst_error *error) {
  int64_t filled = 0;
  for (int64_t i = 0; i < piece->length; i++) {
    size_t size = long_value(piece, i).size;
    if (!fits_block(filled, size)) {
      CST__TRY(views_add_block(b, filled, error));
      filled = 0;
    }
    filled += (int64_t)size;
  }
  return filled > 0 ? views_add_block(b, filled, error) : CST_OK;
}

static cst_status plan_piece(blocks *b, const cst__piece *piece, cst_error *error) {
  if (!shares_bytes(piece)) {
    return plan_values(b, piece, error);
  }
  for (int64_t i = 0; i < piece->view->num_variadic; i++) {
    CST__TRY(views_add_block(b, variadic_size(piece->view, i), error));
  }
  return CST_OK;
}

static cst_status make_buffers(const blocks *b, int64_t length, struct ArrowArray *out,
                               cst_error *error) {
  int64_t count = (int64_t)b->count;
  void *buffer = cst__level_take(out, 1, length, CST__VIEW_SIZE, error);
  for (int64_t i = 0; i < count && buffer != NULL; i++) {
    buffer = cst__level_take(out, 2 + i, b->sizes[i], 1, error);
  }
  if (buffer != NULL) {
    buffer = cst__level_take(out, 2 + count, count, sizeof *b->sizes, error);
  }
  if (buffer == NULL) {
    return CST_NO_MEMORY;
  }
  if (count > 0) {
    memcpy(buffer, b->sizes, (size_t)count * sizeof *b->sizes);
  }
  return CST_OK;
}

/* Where the copying stands. */
typedef struct filling {
  struct ArrowArray *out;
  uint8_t *views; /* of the next slot */
  int64_t block;  /* the next free one */
} filling;

static uint8_t *block_at(const filling *f, int64_t block) {
  return (uint8_t *)(uintptr_t)f->out->buffers[2 + block];
}

static void copy_values(filling *f, const cst__piece *piece) {
  int64_t filled = 0;
  for (int64_t i = 0; i < piece->length; i++, f->views += CST__VIEW_SIZE) {
    cst_bytes bytes = cst__view_bytes(piece->view, piece->begin + i);
    if (bytes.size <= CST__VIEW_INLINE) {
      cst__put_view(f->views, bytes.data, bytes.size, 0, NULL, NULL);
      continue;
    }
    if (!fits_block(filled, bytes.size)) {
      f->block++;
      filled = 0;
    }
    uint8_t *block = block_at(f, f->block);
    memcpy(block + filled, bytes.data, bytes.size);
    cst__put_view(f->views, bytes.data, bytes.size, (int32_t)f->block, block, block + filled);
    filled += (int64_t)bytes.size;
  }
  f->block += filled > 0;
}

static void copy_blocks(filling *f, const cst__piece *piece) {
  const cst__view *view = piece->view;
  for (int64_t i = 0; i < view->num_variadic; i++) {
    if (variadic_size(view, i) > 0) {
      memcpy(block_at(f, f->block + i), cst__view_block(view, i), (size_t)variadic_size(view, i));
    }
  }
  for (int64_t i = 0; i < piece->length; i++, f->views += CST__VIEW_SIZE) {
    int32_t entry[4] = {0}; /* size, prefix, block, offset */
    if (!cst__view_is_null(view, piece->begin + i)) {
      memcpy(
          entry,
          (const uint8_t *)view->data + (size_t)(view->offset + piece->begin + i) * CST__VIEW_SIZE,
          sizeof entry);
      entry[2] += entry[0] > CST__VIEW_INLINE ? (int32_t)f->block : 0;
    }
    memcpy(f->views, entry, sizeof entry);
  }
  f->block += view->num_variadic;
}

cst_status cst__join_binary_views(const cst__level *level, int64_t length, struct ArrowArray *out,
                                  cst_error *error) {
  blocks b = {.allocator = level->allocator};
  cst_status status = CST_OK;
  for (size_t i = 0; i < level->count && status == CST_OK; i++) {
    status = plan_piece(&b, &level->pieces[i], error);
  }
  if (status == CST_OK) {
    status = cst__owned_new(level->allocator, 3 + (int64_t)b.count, 0, false, out, error);
  }
  if (status == CST_OK) {
    status = make_buffers(&b, length, out, error);
    if (status != CST_OK) {
      cst__array_release(out);
    }
  }
  cst__delete(b.sizes);
  if (status != CST_OK) {
    return status;
  }
  filling f = {out, (uint8_t *)(uintptr_t)out->buffers[1], 0};
  for (size_t i = 0; i < level->count; i++) {
    if (shares_bytes(&level->pieces[i])) {
      copy_blocks(&f, &level->pieces[i]);
    } else {
      copy_values(&f, &level->pieces[i]);
    }
  }
  return CST_OK;
}
