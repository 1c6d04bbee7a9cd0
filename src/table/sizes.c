/* Sizes: the bytes that slots need, and how many strings are not UTF-8. */
#include <columnstone/array.h>

#include "arrow/concat_views.h"
#include "arrow/owned.h"
#include "base/arguments.h"
#include "base/utf8.h"
#include "table/array.h"
#include "table/walk.h"

/* ---- bytes ---- */

/* Slots of a view. */
typedef struct extent {
  const cst__view *view;
  int64_t begin;
  int64_t length;
} extent;

static cst_status sizes_add(int64_t *total, int64_t count, int64_t width, cst_error *error) {
  int64_t bytes;
  if (__builtin_mul_overflow(count, width, &bytes) ||
      __builtin_add_overflow(*total, bytes, total)) {
    return cst__fail(error, CST_LIMIT, NULL, "more bytes than 64 bits count");
  }
  return CST_OK;
}

static int64_t sizes_offset_at(const extent *e, int64_t i) {
  return cst__view_entry(e->view->offsets, e->view->offset_width, e->view->offset + e->begin + i);
}

/* Items or bytes from the first slot's begin to the last one's end. */
static void sizes_span_of(const extent *e, int64_t *begin, int64_t *length) {
  *begin = e->length > 0 ? sizes_offset_at(e, 0) : 0;
  *length = e->length > 0 ? sizes_offset_at(e, e->length) - *begin : 0;
}

/* Long values lie in blocks; views that share bytes do not need more than all blocks. */
static int64_t sizes_view_bytes(const extent *e) {
  const cst__view *view = e->view;
  int64_t values = 0;
  int64_t blocks = 0;
  for (int64_t i = 0; i < view->num_variadic; i++) {
    blocks += cst__view_block_size(view, i) > 0 ? cst__view_block_size(view, i) : 0;
  }
  for (int64_t i = 0; i < e->length && values < blocks; i++) {
    int64_t size = (int64_t)cst__view_bytes(view, e->begin + i).size;
    values += size > CST__VIEW_INLINE ? size : 0;
  }
  return values < blocks ? values : blocks;
}

static cst_status sizes_add_slots(const extent *e, int64_t *total, cst_error *error);

static cst_status add_items(const extent *e, int64_t begin, int64_t length, int64_t *total,
                            cst_error *error) {
  extent items = {&e->view->children[0], begin, length};
  return sizes_add_slots(&items, total, error);
}

static cst_status sizes_add_lists(const extent *e, int64_t *total, cst_error *error) {
  const cst__view *view = e->view;
  int64_t begin;
  int64_t length;
  if (view->layout == CST__LAYOUT_FIXED_LIST) {
    return add_items(e, (view->offset + e->begin) * view->fixed_size, e->length * view->fixed_size,
                     total, error);
  }
  if (view->layout == CST__LAYOUT_LIST_VIEW) {
    cst__piece piece = {view, e->begin, e->length};
    CST__TRY(sizes_add(total, e->length, 2 * (int64_t)view->offset_width, error));
    cst__list_views_span(&piece, &begin, &length);
  } else {
    CST__TRY(sizes_add(total, e->length + 1, view->offset_width, error));
    sizes_span_of(e, &begin, &length);
  }
  return add_items(e, begin, length, total, error);
}

static cst_status add_values(const extent *e, int64_t *total, cst_error *error) {
  const cst__view *view = e->view;
  switch (view->layout) {
    case CST__LAYOUT_NULL:
      return CST_OK;
    case CST__LAYOUT_BOOL:
      return sizes_add(total, (int64_t)cst__bits_size(e->length), 1, error);
    case CST__LAYOUT_NUMBER:
      return sizes_add(total, e->length, (int64_t)cst_dtype_width(view->dtype), error);
    case CST__LAYOUT_HALF:
      return sizes_add(total, e->length, 2, error);
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      return sizes_add(total, e->length, view->fixed_size, error);
    case CST__LAYOUT_BINARY: {
      int64_t begin;
      int64_t bytes;
      sizes_span_of(e, &begin, &bytes);
      CST__TRY(sizes_add(total, e->length + 1, e->view->offset_width, error));
      return sizes_add(total, bytes, 1, error);
    }
    case CST__LAYOUT_BINARY_VIEW:
      CST__TRY(sizes_add(total, e->length, CST__VIEW_SIZE, error));
      return sizes_add(total, sizes_view_bytes(e), 1, error);
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_LIST_VIEW:
      return sizes_add_lists(e, total, error);
    case CST__LAYOUT_STRUCT:
      for (int64_t i = 0; i < e->view->num_children; i++) {
        extent field = {&e->view->children[i], e->begin, e->length};
        cst_status status = sizes_add_slots(&field, total, error);
        if (status != CST_OK) {
          cst__error_add_path(error, field.view->name, strlen(field.view->name));
          return status;
        }
      }
      return CST_OK;
    case CST__LAYOUT_OTHER:
      break;
  }
  char type[64];
  cst__view_type_name(view, type, sizeof type);
  return cst__fail(error, CST_UNSUPPORTED, "cast the column, or leave it out",
                   "the size of a column of type %s is unknown", type);
}

static cst_status sizes_add_slots(const extent *e, int64_t *total, cst_error *error) {
  const uint8_t *validity = e->view->validity;
  if (validity != NULL &&
      cst__bitmap_count(validity, e->view->offset + e->begin, e->length) < e->length) {
    CST__TRY(sizes_add(total, (int64_t)cst__bits_size(e->length), 1, error));
  }
  return add_values(e, total, error);
}

cst_status cst_array_byte_size(const cst_array *array, int64_t *size, cst_error *error) {
  CST__CLEAR(size);
  CST__TRY(cst__check_given(array, "array", size, error));
  cst__walk walk;
  int64_t total = 0;
  CST__TRY(cst__walk_begin(&walk, array, false, error));
  extent all = {&walk.view, 0, walk.view.length};
  cst_status status = sizes_add_slots(&all, &total, error);
  cst__walk_end(&walk);
  if (status == CST_OK) {
    *size = total;
  }
  return status;
}

/* ---- UTF-8 ---- */

cst_status cst_array_count_invalid_utf8(const cst_array *array, int64_t *count, cst_error *error) {
  CST__CLEAR(count);
  CST__TRY(cst__check_given(array, "array", count, error));
  cst__walk walk;
  CST__TRY(cst__walk_begin(&walk, array, false, error));
  cst__layout layout = walk.view.layout;
  bool has_bytes = layout == CST__LAYOUT_BINARY || layout == CST__LAYOUT_BINARY_VIEW ||
                   layout == CST__LAYOUT_FIXED_BINARY;
  cst_status status = has_bytes ? CST_OK : cst__fail_type(&walk.view, "strings or binary", error);
  if (status == CST_OK) {
    int64_t found = 0;
    for (int64_t i = 0; i < walk.view.length; i++) {
      cst_bytes bytes = cst__view_bytes(&walk.view, i);
      found += bytes.size > 0 && !cst__utf8_valid(bytes.data, bytes.size);
    }
    *count = found;
  }
  cst__walk_end(&walk);
  return status;
}
