/* Copying slices together: every buffer is rebuilt from the slots that the slice has. */
#include "arrow/compact.h"

#include <string.h>

static bool column_is_compact(const struct ArrowArray *array) {
  if (array->offset != 0) {
    return false;
  }
  for (int64_t i = 0; i < array->n_children; i++) {
    if (!column_is_compact(array->children[i])) {
      return false;
    }
  }
  return true;
}

bool cst__array_is_compact(const struct ArrowArray *batch) {
  for (int64_t i = 0; i < batch->n_children; i++) {
    if (batch->children[i]->length != batch->length) {
      return false;
    }
  }
  return column_is_compact(batch);
}

/* The slots [begin, begin + count) of `view`. */
typedef struct range {
  const cst__view *view;
  int64_t begin;
  int64_t count;
} range;

/* Where the copy lives. Once out of memory, `failed` stays. */
typedef struct copying {
  cst__arena *arena;
  bool failed;
} copying;

/* Room for `count` items of `size` bytes, zeroed; NULL if there is none. */
static void *take(copying *work, int64_t count, size_t size) {
  size_t bytes;
  void *block = cst__mul((size_t)count, size, &bytes) && cst__add(bytes, 8, &bytes)
                    ? cst__arena_take_zero(work->arena, bytes)
                    : NULL;
  work->failed = work->failed || block == NULL;
  return block;
}

/* ---- buffers ---- */

static uint8_t *copy_bits(copying *work, const uint8_t *bits, int64_t first, int64_t count) {
  uint8_t *out = take(work, count / 8 + 1, 1);
  for (int64_t i = 0; out != NULL && i < count; i++) {
    unsigned bit = bits[(first + i) >> 3] >> ((first + i) & 7) & 1;
    out[i >> 3] = (uint8_t)(out[i >> 3] | bit << (i & 7));
  }
  return out;
}

static const void *copy_validity(copying *work, range slots, int64_t *null_count) {
  const cst__view *view = slots.view;
  *null_count = view->layout == CST__LAYOUT_NULL ? slots.count : 0;
  if (view->validity == NULL || view->layout == CST__LAYOUT_NULL) {
    return NULL;
  }
  for (int64_t i = 0; i < slots.count; i++) {
    *null_count += cst__view_is_null(view, slots.begin + i);
  }
  return copy_bits(work, view->validity, view->offset + slots.begin, slots.count);
}

static int64_t offset_at(const cst__view *view, int64_t i) {
  int64_t at = view->offset + i;
  return view->offset_width == 4 ? ((const int32_t *)view->offsets)[at]
                                 : ((const int64_t *)view->offsets)[at];
}

/* The range that the offsets of all the slots span, those of null slots as well. */
static void span_of(range slots, int64_t *begin, int64_t *end) {
  *begin = slots.count > 0 ? offset_at(slots.view, slots.begin) : 0;
  *end = slots.count > 0 ? offset_at(slots.view, slots.begin + slots.count) : 0;
}

/* Offsets that begin with 0. */
static void *copy_offsets(copying *work, range slots) {
  int width = slots.view->offset_width;
  int64_t first = slots.count > 0 ? offset_at(slots.view, slots.begin) : 0;
  void *out = take(work, slots.count + 1, (size_t)width);
  for (int64_t i = 1; out != NULL && i <= slots.count; i++) {
    int64_t offset = offset_at(slots.view, slots.begin + i) - first;
    if (width == 4) {
      ((int32_t *)out)[i] = (int32_t)offset;
    } else {
      ((int64_t *)out)[i] = offset;
    }
  }
  return out;
}

static void *copy_bytes(copying *work, const void *data, int64_t begin, int64_t size) {
  void *out = take(work, size, 1);
  if (out != NULL && size > 0) {
    memcpy(out, (const uint8_t *)data + begin, (size_t)size);
  }
  return out;
}

static void *copy_fixed(copying *work, range slots, int64_t width) {
  return copy_bytes(work, slots.view->data, (slots.view->offset + slots.begin) * width,
                    slots.count * width);
}

/* ---- arrays ---- */

static void release_nothing(struct ArrowArray *array) { array->release = NULL; }

static void copy_slots(copying *work, range slots, struct ArrowArray *out);

/* Children of an array that is zeroed but for its buffers; false if out of memory. */
static bool take_children(copying *work, int64_t count, struct ArrowArray *out) {
  struct ArrowArray *children = take(work, count, sizeof *children);
  out->children = take(work, count, sizeof *out->children);
  if (children == NULL || out->children == NULL) {
    return false;
  }
  for (int64_t i = 0; i < count; i++) {
    out->children[i] = &children[i];
  }
  out->n_children = count;
  return true;
}

static void copy_items(copying *work, range slots, struct ArrowArray *out) {
  const cst__view *view = slots.view;
  range items = {&view->children[0], 0, 0};
  if (view->layout == CST__LAYOUT_FIXED_LIST) {
    items.begin = (view->offset + slots.begin) * view->fixed_size;
    items.count = slots.count * view->fixed_size;
  } else {
    span_of(slots, &items.begin, &items.count);
    items.count -= items.begin;
  }
  if (take_children(work, 1, out)) {
    copy_slots(work, items, out->children[0]);
  }
}

static void copy_fields(copying *work, range slots, struct ArrowArray *out) {
  if (!take_children(work, slots.view->num_children, out)) {
    return;
  }
  for (int64_t i = 0; i < out->n_children; i++) {
    range field = {&slots.view->children[i], slots.begin, slots.count};
    copy_slots(work, field, out->children[i]);
  }
}

/* The buffers behind the validity, and the children. */
static void copy_values(copying *work, range slots, struct ArrowArray *out) {
  const cst__view *view = slots.view;
  int64_t begin;
  int64_t end;
  out->n_buffers = 2;
  switch (view->layout) {
    case CST__LAYOUT_NULL:
      out->n_buffers = 0;
      break;
    case CST__LAYOUT_BOOL:
      out->buffers[1] = copy_bits(work, view->data, view->offset + slots.begin, slots.count);
      break;
    case CST__LAYOUT_NUMBER:
      out->buffers[1] = copy_fixed(work, slots, (int64_t)cst_dtype_width(view->dtype));
      break;
    case CST__LAYOUT_HALF:
      out->buffers[1] = copy_fixed(work, slots, 2);
      break;
    case CST__LAYOUT_FIXED_BINARY:
      out->buffers[1] = copy_fixed(work, slots, view->fixed_size);
      break;
    case CST__LAYOUT_BINARY:
      span_of(slots, &begin, &end);
      out->n_buffers = 3;
      out->buffers[1] = copy_offsets(work, slots);
      out->buffers[2] = copy_bytes(work, view->data, begin, end - begin);
      break;
    case CST__LAYOUT_LIST:
      out->buffers[1] = copy_offsets(work, slots);
      copy_items(work, slots, out);
      break;
    case CST__LAYOUT_FIXED_LIST:
      out->n_buffers = 1;
      copy_items(work, slots, out);
      break;
    case CST__LAYOUT_STRUCT:
      out->n_buffers = 1;
      copy_fields(work, slots, out);
      break;
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_LIST_VIEW:
    case CST__LAYOUT_OTHER:
      break; /* refused before */
  }
}

static void copy_slots(copying *work, range slots, struct ArrowArray *out) {
  *out = (struct ArrowArray){.length = slots.count, .release = release_nothing};
  out->buffers = take(work, 3, sizeof *out->buffers);
  if (out->buffers != NULL) {
    out->buffers[0] = copy_validity(work, slots, &out->null_count);
    copy_values(work, slots, out);
  }
}

/* ---- the types that can be copied ---- */

static cst_status check_layout(const cst__view *view, cst_error *error) {
  if (view->layout == CST__LAYOUT_OTHER || view->layout == CST__LAYOUT_BINARY_VIEW ||
      view->layout == CST__LAYOUT_LIST_VIEW) {
    char type[64];
    cst__view_type_name(view, type, sizeof type);
    cst_status status =
        cst__fail(error, CST_UNSUPPORTED, "write whole batches, or without this column",
                  "a slice of a column of type %s cannot be written", type);
    cst__error_add_path(error, view->name, strlen(view->name));
    return status;
  }
  for (int64_t i = 0; i < view->num_children; i++) {
    CST__TRY(check_layout(&view->children[i], error));
  }
  return CST_OK;
}

cst_status cst__array_compact(const cst__view *view, cst__arena *arena, struct ArrowArray *out,
                              cst_error *error) {
  CST__TRY(check_layout(view, error));
  copying work = {.arena = arena};
  copy_slots(&work, (range){view, 0, view->length}, out);
  return work.failed ? cst__fail_memory(error, (size_t)view->length) : CST_OK;
}
