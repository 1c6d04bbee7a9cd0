/* Views of nulls, of any type, without an array. */
#include "arrow/view.h"

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
