/* Tensors of zeros and ones: everything of the given one but its values. */
#include <columnstone/structured.h>

#include "arrow/owned.h"

#include "base/arguments.h"
#include "structured/made.h"
#include "table/walk.h"

static cst_status like_node(const cst__assembly *a, cst__slots *at, const void *how,
                            cst__made *out);

static cst_status like_structs(const cst__assembly *a, const cst__slots *structs, const void *value,
                               cst__made *out) {
  size_t count = (size_t)structs->view->num_children;
  cst__made *fields = cst__arena_take(a->arena, (count + 1) * sizeof *fields);
  if (fields == NULL) {
    return cst__fail_memory(a->error, (count + 1) * sizeof *fields);
  }
  for (size_t i = 0; i < count; i++) {
    const cst__view *child = &structs->view->children[i];
    cst__slots all = cst__slots_all(child);
    cst_status status = like_node(a, &all, value, &fields[i]);
    if (status != CST_OK) {
      cst__error_add_path(a->error, child->name, strlen(child->name));
      cst__made_release_all(fields, i);
      return status;
    }
  }
  return cst__made_struct(a, structs, fields, count, out);
}

/* ---- values ---- */

/* Bytes of `count` values; offsets of strings have one more. 0: values of the type are not written.
 */
static size_t like_size(const cst__view *view, int value) {
  size_t count = (size_t)view->length;
  size_t size;
  switch (view->layout) {
    case CST__LAYOUT_BOOL:
      return cst__bits_size(view->length) + 1;
    case CST__LAYOUT_NUMBER:
      return cst__mul(count + 1, cst_dtype_width(view->dtype), &size) ? size : SIZE_MAX;
    case CST__LAYOUT_HALF:
      return cst__mul(count + 1, 2, &size) ? size : SIZE_MAX;
    case CST__LAYOUT_BINARY:
      return value != 0                                               ? 0
             : cst__mul(count + 1, (size_t)view->offset_width, &size) ? size
                                                                      : SIZE_MAX;
    case CST__LAYOUT_BINARY_VIEW:
      return value != 0 ? 0 : cst__mul(count + 1, 16, &size) ? size : SIZE_MAX;
    default:
      return 0;
  }
}

#define FILL(type, one)                          \
  do {                                           \
    type *values = buffer;                       \
    for (int64_t i = 0; i < view->length; i++) { \
      values[i] = one;                           \
    }                                            \
  } while (false)

static void like_fill_ones(const cst__view *view, void *buffer) {
  if (view->layout == CST__LAYOUT_BOOL) {
    cst__bits_set(buffer, 0, view->length);
    return;
  }
  if (view->layout == CST__LAYOUT_HALF) {
    FILL(uint16_t, 0x3c00);
    return;
  }
  switch (view->dtype) {
    case CST_DTYPE_FLOAT32:
      FILL(float, 1.0F);
      break;
    case CST_DTYPE_FLOAT64:
      FILL(double, 1.0);
      break;
    default:
      switch (cst_dtype_width(view->dtype)) {
        case 1:
          FILL(uint8_t, 1);
          break;
        case 2:
          FILL(uint16_t, 1);
          break;
        case 4:
          FILL(uint32_t, 1);
          break;
        default:
          FILL(uint64_t, 1);
          break;
      }
  }
}

static cst_status like_fill(const cst__assembly *a, const cst__view *view, int value,
                            struct ArrowArray *out) {
  size_t size = like_size(view, value);
  void *buffer = cst__owned_buffer(out, 1, size);
  if (buffer == NULL) {
    return cst__fail_memory(a->error, size);
  }
  memset(buffer, 0, size);
  if (value != 0) {
    like_fill_ones(view, buffer);
  }
  if (view->layout == CST__LAYOUT_BINARY && cst__owned_buffer(out, 2, 0) == NULL) {
    return cst__fail_memory(a->error, 0);
  }
  out->length = view->length;
  return cst__copy_validity(view, out, a->error);
}

/* A string view has no buffers of bytes here, but one with the sizes of none. */
static int64_t like_buffers(const cst__view *view) {
  return view->layout == CST__LAYOUT_BINARY || view->layout == CST__LAYOUT_BINARY_VIEW ? 3 : 2;
}

static cst_status like_leaf(const cst__assembly *a, const cst__slots *leaf, int value,
                            cst__made *out) {
  const cst__view *view = leaf->view;
  if (view->layout == CST__LAYOUT_NULL) {
    return cst__made_share(a, leaf, out);
  }
  if (like_size(view, value) == 0) {
    char type[64];
    cst__view_type_name(view, type, sizeof type);
    return cst__fail(a->error, CST_SCHEMA, "leave the field out: without()",
                     "there is no %s of type %s", value != 0 ? "one" : "zero", type);
  }
  CST__TRY(cst__owned_new(a->owner.allocator, like_buffers(view), 0, false, &out->array, a->error));
  out->schema = leaf->view->schema;
  cst_status status = like_fill(a, view, value, &out->array);
  if (status == CST_OK && view->layout == CST__LAYOUT_BINARY_VIEW &&
      cst__owned_buffer(&out->array, 2, 0) == NULL) {
    status = cst__fail_memory(a->error, 0);
  }
  if (status != CST_OK) {
    cst__made_release(out);
  }
  return status;
}

/* how: an int, 0 or 1. */
static cst_status like_node(const cst__assembly *a, cst__slots *at, const void *how,
                            cst__made *out) {
  const int *value = how;
  return cst__view_is_list(at->view)              ? cst__made_lists(a, at, like_node, value, out)
         : at->view->layout == CST__LAYOUT_STRUCT ? like_structs(a, at, value, out)
                                                  : like_leaf(a, at, *value, out);
}

cst_status cst_structured_like(const cst_structured *tensor, int value, cst_structured **out,
                               cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (value != 0 && value != 1) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a value of %d instead of 0 or 1", value);
  }
  return cst__made_of(tensor, like_node, &value, out, error);
}
