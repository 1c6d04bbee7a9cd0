/* Chosen slots of flat values: what picks one of its arguments' values is made of this.
 *
 * It is no cst__take (nested/gather.h): that one keeps the layout, and shares blocks of views and
 * dictionaries with an owner; here text of any layout becomes the one of results, and nothing
 * outlives the call.
 */
#include "query/functions/values_take.h"
#include "query/functions/words.h"

typedef struct taking {
  const cst__view *from;
  const int64_t *at;
  int64_t count;
  struct ArrowArray *out;
  cst_error *error;
} taking;

static cst_status take_validity(const taking *t) {
  bool has_null = t->from->null_count > 0;
  for (int64_t i = 0; i < t->count && !has_null; i++) {
    has_null = t->at[i] < 0;
  }
  if (!has_null) {
    return CST_OK;
  }
  uint8_t *bits = cst__result_validity(t->out, t->error);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < t->count; i++) {
    if (t->at[i] < 0 || cst__view_is_null(t->from, t->at[i])) {
      bits[i >> 3] = (uint8_t)(bits[i >> 3] & ~(1U << (i & 7)));
    }
  }
  cst__result_count_nulls(t->out);
  return CST_OK;
}

#define TAKE_WIDTH(SIZE)                                       \
  case SIZE:                                                   \
    for (int64_t i = 0; i < t->count; i++) {                   \
      int64_t slot = t->at[i];                                 \
      if (slot >= 0) {                                         \
        memcpy(to + i * (SIZE), values + slot * (SIZE), SIZE); \
      } else {                                                 \
        memset(to + i * (SIZE), 0, SIZE);                      \
      }                                                        \
    }                                                          \
    break;

static cst_status take_of_width(const taking *t, int width) {
  const uint8_t *values = cst__view_values(t->from, width);
  uint8_t *to = cst__result_values(t->out, width, t->error);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  switch (width) {
    TAKE_WIDTH(1)
    TAKE_WIDTH(2)
    TAKE_WIDTH(4)
    TAKE_WIDTH(8)
    TAKE_WIDTH(16)
    TAKE_WIDTH(32)
    default:
      break;
  }
  return CST_OK;
}

static cst_status take_bools(const taking *t) {
  uint8_t *to = cst__result_values(t->out, 0, t->error);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  memset(to, 0, cst__bits_size(t->count));
  for (int64_t i = 0; i < t->count; i++) {
    if (t->at[i] >= 0 && cst__view_bool(t->from, t->at[i])) {
      to[i >> 3] = (uint8_t)(to[i >> 3] | 1U << (i & 7));
    }
  }
  return CST_OK;
}

static cst_status take_texts(const taking *t, const cst_allocator *allocator) {
  cst__text_result texts;
  CST__TRY(cst__text_result_begin(&texts, t->out, t->count, allocator, t->error));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < t->count && status == CST_OK; i++) {
    cst_bytes bytes = t->at[i] < 0 ? (cst_bytes){NULL, 0} : cst__view_text(t->from, t->at[i]);
    status = cst__text_result_append(&texts, bytes.data, bytes.size, t->error);
  }
  return cst__text_result_end(&texts, status);
}

static cst_status take_values(const taking *t, const cst__value_info *info,
                              const cst_allocator *allocator) {
  if (info->kind == CST__VALUE_NULL) {
    return CST_OK;
  }
  CST__TRY(take_validity(t));
  if (info->kind == CST__VALUE_BOOL) {
    return take_bools(t);
  }
  return info->width > 0 ? take_of_width(t, info->width) : take_texts(t, allocator);
}

cst__value_type cst__values_taken_type(const cst__view *view) {
  cst__value_type type = {view->format};
  bool is_half = view->layout == CST__LAYOUT_HALF;
  return is_half ? type : cst__value_type_plain(type);
}

cst_status cst__values_take(const cst__view *from, const int64_t *at, int64_t count,
                            const cst_allocator *allocator, struct ArrowArray *out,
                            cst_error *error) {
  cst__value_type type = cst__values_taken_type(from);
  cst__value_info info = cst__value_info_of(type);
  CST__TRY(cst__result_new(type, count, allocator, out, error));
  taking t = {from, at, count, out, error};
  return cst__result_end(out, take_values(&t, &info, allocator));
}

cst__view cst__view_of_values(const struct ArrowArray *array, cst__value_type type) {
  cst__view view = {.length = array->length,
                    .offset = array->offset,
                    .null_count = array->null_count,
                    .name = "",
                    .format = type.format};
  const cst__layout_info *layout = cst__layout_find(type.format, &view.fixed_size);
  view.layout = layout->layout;
  view.dtype = layout->dtype;
  view.is_string = layout->is_string;
  view.offset_width = layout->offset_width;
  if (layout->layout != CST__LAYOUT_NULL) {
    view.validity = array->null_count > 0 ? array->buffers[0] : NULL;
    view.data = array->buffers[array->n_buffers - 1];
    view.offsets = layout->layout == CST__LAYOUT_BINARY ? array->buffers[1] : NULL;
  }
  return view;
}
