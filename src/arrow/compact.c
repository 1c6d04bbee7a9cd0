/* Copying slices together: every buffer is rebuilt from the slots that the slice has. */
#include "arrow/compact.h"

#include <errno.h>
#include <nanoarrow/nanoarrow.h>
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

/* The slots [begin, begin + count) of `view`, on their way into `out`. */
typedef struct range {
  const cst__view *view;
  int64_t begin;
  int64_t count;
} range;

/* Appends the bits of slots to a bitmap that starts with them. */
static int copy_bits(struct ArrowBuffer *out, const uint8_t *bits, int64_t first, int64_t count) {
  NANOARROW_RETURN_NOT_OK(ArrowBufferResize(out, (count + 7) / 8, 0));
  if (count > 0) {
    memset(out->data, 0, (size_t)out->size_bytes);
  }
  for (int64_t i = 0; i < count; i++) {
    if (ArrowBitGet(bits, first + i)) {
      ArrowBitSet(out->data, i);
    }
  }
  return NANOARROW_OK;
}

static int copy_validity(range slots, struct ArrowArray *out) {
  const cst__view *view = slots.view;
  out->null_count = view->layout == CST__LAYOUT_NULL ? slots.count : 0;
  if (view->validity == NULL || view->layout == CST__LAYOUT_NULL) {
    return NANOARROW_OK;
  }
  for (int64_t i = 0; i < slots.count; i++) {
    out->null_count += cst__view_is_null(view, slots.begin + i);
  }
  return copy_bits(ArrowArrayBuffer(out, 0), view->validity, view->offset + slots.begin,
                   slots.count);
}

/* Appends an offset of the width that the type has. */
static int append_offset(struct ArrowBuffer *out, int width, int64_t offset) {
  return width == 4 ? ArrowBufferAppendInt32(out, (int32_t)offset)
                    : ArrowBufferAppendInt64(out, offset);
}

static int copy_binary(range slots, struct ArrowArray *out) {
  const cst__view *view = slots.view;
  struct ArrowBuffer *offsets = ArrowArrayBuffer(out, 1);
  struct ArrowBuffer *data = ArrowArrayBuffer(out, 2);
  NANOARROW_RETURN_NOT_OK(append_offset(offsets, view->offset_width, 0));
  for (int64_t i = 0; i < slots.count; i++) {
    cst_bytes bytes = cst__view_bytes(view, slots.begin + i);
    NANOARROW_RETURN_NOT_OK(ArrowBufferAppend(data, bytes.data, (int64_t)bytes.size));
    NANOARROW_RETURN_NOT_OK(append_offset(offsets, view->offset_width, data->size_bytes));
  }
  return NANOARROW_OK;
}

static int copy_fixed_binary(range slots, struct ArrowArray *out) {
  for (int64_t i = 0; i < slots.count; i++) {
    cst_bytes bytes = cst__view_bytes(slots.view, slots.begin + i);
    NANOARROW_RETURN_NOT_OK(
        ArrowBufferAppend(ArrowArrayBuffer(out, 1), bytes.data, (int64_t)bytes.size));
  }
  return NANOARROW_OK;
}

static int copy_numbers(range slots, int64_t width, struct ArrowArray *out) {
  const uint8_t *data = slots.view->data;
  if (slots.count == 0) {
    return NANOARROW_OK;
  }
  return ArrowBufferAppend(ArrowArrayBuffer(out, 1),
                           data + (slots.view->offset + slots.begin) * width, slots.count * width);
}

/* The items of all the slots of a list; empty if there are no slots. */
static range items_of(range slots) {
  range items = {&slots.view->children[0], 0, 0};
  int64_t ignored;
  int64_t end;
  if (slots.count > 0) {
    cst__view_list(slots.view, slots.begin, &items.begin, &ignored);
    cst__view_list(slots.view, slots.begin + slots.count - 1, &ignored, &end);
    items.count = end - items.begin;
  }
  return items;
}

static int copy_list_offsets(range slots, range items, struct ArrowArray *out) {
  struct ArrowBuffer *offsets = ArrowArrayBuffer(out, 1);
  NANOARROW_RETURN_NOT_OK(append_offset(offsets, slots.view->offset_width, 0));
  for (int64_t i = 0; i < slots.count; i++) {
    int64_t begin;
    int64_t end;
    cst__view_list(slots.view, slots.begin + i, &begin, &end);
    NANOARROW_RETURN_NOT_OK(append_offset(offsets, slots.view->offset_width, end - items.begin));
  }
  return NANOARROW_OK;
}

static int copy_slots(range slots, struct ArrowArray *out);

static int copy_children(range slots, struct ArrowArray *out) {
  for (int64_t i = 0; i < slots.view->num_children; i++) {
    range child = {&slots.view->children[i], slots.begin, slots.count};
    NANOARROW_RETURN_NOT_OK(copy_slots(child, out->children[i]));
  }
  return NANOARROW_OK;
}

static int copy_values(range slots, struct ArrowArray *out) {
  const cst__view *view = slots.view;
  switch (view->layout) {
    case CST__LAYOUT_NULL:
      return NANOARROW_OK;
    case CST__LAYOUT_BOOL:
      return copy_bits(ArrowArrayBuffer(out, 1), view->data, view->offset + slots.begin,
                       slots.count);
    case CST__LAYOUT_NUMBER:
      return copy_numbers(slots, (int64_t)cst_dtype_width(view->dtype), out);
    case CST__LAYOUT_HALF:
      return copy_numbers(slots, 2, out);
    case CST__LAYOUT_BINARY:
      return copy_binary(slots, out);
    case CST__LAYOUT_FIXED_BINARY:
      return copy_fixed_binary(slots, out);
    case CST__LAYOUT_LIST: {
      range items = items_of(slots);
      NANOARROW_RETURN_NOT_OK(copy_list_offsets(slots, items, out));
      return copy_slots(items, out->children[0]);
    }
    case CST__LAYOUT_FIXED_LIST: {
      range items = items_of(slots);
      return copy_slots(items, out->children[0]);
    }
    case CST__LAYOUT_STRUCT:
      return copy_children(slots, out);
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_LIST_VIEW:
    case CST__LAYOUT_OTHER:
      return ENOTSUP;
  }
  return ENOTSUP;
}

static int copy_slots(range slots, struct ArrowArray *out) {
  NANOARROW_RETURN_NOT_OK(copy_validity(slots, out));
  out->length = slots.count;
  return copy_values(slots, out);
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

cst_status cst__array_compact(const cst__view *view, const struct ArrowSchema *schema,
                              struct ArrowArray *out, cst_error *error) {
  CST__TRY(check_layout(view, error));
  struct ArrowArray copy;
  int code = ArrowArrayInitFromSchema(&copy, schema, NULL);
  if (code != NANOARROW_OK) {
    return cst__fail_memory(error, sizeof copy);
  }
  range all = {view, 0, view->length};
  code = copy_slots(all, &copy);
  if (code == NANOARROW_OK) {
    code = ArrowArrayFinishBuilding(&copy, NANOARROW_VALIDATION_LEVEL_NONE, NULL);
  }
  if (code != NANOARROW_OK) {
    copy.release(&copy);
    return cst__fail_memory(error, (size_t)view->length);
  }
  *out = copy;
  return CST_OK;
}
