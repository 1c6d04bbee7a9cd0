/* Nulls: where they are, and filling them. */
#include <columnstone/array.h>

#include "arrow/concat.h"
#include "arrow/owned.h"
#include "base/arguments.h"
#include "table/array.h"
#include "table/walk.h"

/* ---- masks ---- */

static cst_status make_mask(const cst_array *array, const cst__view *view, cst_array **out,
                            cst_error *error) {
  struct ArrowArray made;
  struct ArrowSchema schema = cst__array_type_field("C", "", NULL, 0);
  CST__TRY(cst__owned_new(&array->allocator, 2, 0, false, &made, error));
  uint8_t *mask = cst__owned_buffer(&made, 1, (size_t)view->length);
  if (mask == NULL) {
    cst__array_release(&made);
    return cst__fail_memory(error, (size_t)view->length);
  }
  for (int64_t i = 0; i < view->length; i++) {
    mask[i] = cst__view_is_null(view, i);
  }
  made.length = view->length;
  return cst__array_result_as(&array->allocator, &schema, &made, out, error);
}

cst_status cst_array_null_mask(const cst_array *array, cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  cst__walk walk;
  CST__TRY(cst__walk_begin(&walk, array, false, error));
  cst_status status = make_mask(array, &walk.view, out, error);
  cst__walk_end(&walk);
  return status;
}

/* ---- filling ---- */

/* A list of one slot that has all items of a fill, as a view of the layout of `like`. */
typedef struct filler {
  cst__view view;
  cst__view item;
  int64_t offsets[2]; /* or int32 */
  int64_t sizes[1];
} filler;

static cst_status fail_size(const cst__view *fill, int64_t size, cst_error *error) {
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a fill of %lld values instead of %lld",
                   (long long)fill->length, (long long)size);
}

static cst_status make_filler(const cst__view *like, const cst__view *fill, filler *out,
                              cst_error *error) {
  int32_t narrow[2] = {0, (int32_t)fill->length};
  if (like->layout == CST__LAYOUT_FIXED_LIST && fill->length != like->fixed_size) {
    return fail_size(fill, like->fixed_size, error);
  }
  if (like->layout != CST__LAYOUT_FIXED_LIST && like->offset_width == 4 &&
      fill->length > INT32_MAX) {
    return cst__fail(error, CST_LIMIT, NULL, "a fill of %lld values for lists with 32-bit offsets",
                     (long long)fill->length);
  }
  out->view = *like;
  out->view.length = 1;
  out->view.offset = 0;
  out->view.null_count = 0;
  out->view.validity = NULL;
  out->view.children = &out->item;
  out->item = *fill;
  out->offsets[0] = 0;
  out->offsets[1] = out->sizes[0] = fill->length;
  if (like->offset_width == 4) {
    memcpy(out->offsets, narrow, sizeof narrow);
    memcpy(out->sizes, &narrow[1], sizeof narrow[1]);
  }
  out->view.offsets = out->offsets;
  out->view.sizes = out->sizes;
  return CST_OK;
}

static cst_status fail_fill(const cst__view *wanted, const cst__view *fill, cst_error *error) {
  char type[64];
  char found[64];
  cst__view_type_name(wanted, type, sizeof type);
  cst__view_type_name(fill, found, sizeof found);
  return cst__fail(error, CST_SCHEMA, "cast the fill", "a fill of type %s for values of type %s",
                   found, type);
}

static cst_status fill_nulls(const cst__walk *array, const cst__walk *fill, cst_array **out,
                             cst_error *error) {
  const cst__view *view = &array->view;
  bool is_list = cst__view_is_list(view);
  const struct ArrowSchema *type = array->root->schema;
  filler list;
  if (!cst__schema_equal(is_list ? type->children[0] : type, fill->root->schema)) {
    return fail_fill(is_list ? &view->children[0] : view, &fill->view, error);
  }
  if (!is_list && fill->view.length != 1) {
    return fail_size(&fill->view, 1, error);
  }
  if (is_list) {
    CST__TRY(make_filler(view, &fill->view, &list, error));
  }
  if (view->null_count == 0 || view->layout == CST__LAYOUT_NULL) {
    *out = cst_array_retain(array->root);
    return CST_OK;
  }
  struct ArrowArray made;
  size_t bytes = SIZE_MAX;
  size_t most = 2 * (size_t)view->null_count + 1;
  cst__piece *pieces =
      cst__mul(most, sizeof *pieces, &bytes) ? cst__new(&array->root->allocator, bytes) : NULL;
  if (pieces == NULL) {
    return cst__fail_memory(error, bytes);
  }
  /* Runs of slots that are not null, and the fill for each that is. */
  size_t count = 0;
  int64_t begin = 0;
  for (int64_t i = 0; i <= view->length; i++) {
    bool is_end = i == view->length;
    if (!is_end && !cst__view_is_null(view, i)) {
      continue;
    }
    if (i > begin) {
      pieces[count++] = (cst__piece){view, begin, i - begin};
    }
    if (!is_end) {
      pieces[count++] = (cst__piece){is_list ? &list.view : &fill->view, 0, 1};
    }
    begin = i + 1;
  }
  cst_status status =
      cst__concat(array->root->schema, pieces, count, &array->root->allocator, &made, error);
  cst__delete(pieces);
  return status == CST_OK ? cst__array_result(array->root, array->root->schema, &made, out, error)
                          : status;
}

cst_status cst_array_fill_null(const cst_array *array, const cst_array *fill, cst_array **out,
                               cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(array, "array", out, error));
  if (fill == NULL) {
    return cst__missing("fill", error);
  }
  cst__walk walk;
  cst__walk filling;
  CST__TRY(cst__walk_begin(&walk, array, false, error));
  cst_status status = cst__walk_begin(&filling, fill, false, error);
  if (status == CST_OK) {
    status = fill_nulls(&walk, &filling, out, error);
    cst__walk_end(&filling);
  }
  cst__walk_end(&walk);
  return status;
}
