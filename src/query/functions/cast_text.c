/* Numbers and bools as text, and back. Floats are written as Python's repr writes them. */
#include "query/functions/cast.h"
#include "query/functions/words.h"
#include "text/number.h"

/* ---- to text ---- */

static size_t write_value_text(char *to, const cst__view *view, const cst__value_info *info,
                               int64_t i) {
  if (info->kind == CST__VALUE_BOOL) {
    bool is_true = cst__view_bool(view, i);
    memcpy(to, is_true ? "true" : "false", 5);
    return is_true ? 4 : 5;
  }
  if (info->kind == CST__VALUE_FLOAT) {
    int64_t at = view->offset + i;
    return info->width == 4
               ? cst__print_float32(to, ((const float *)view->data)[at], CST__FLOAT_PYTHON)
               : cst__print_float64(to, ((const double *)view->data)[at], CST__FLOAT_PYTHON);
  }
  int64_t value = cst__view_int(view, i);
  return info->is_signed ? cst__print_int64(to, value) : cst__print_uint64(to, (uint64_t)value);
}

cst_status cst__cast_to_text(const cst__view *from, const cst_allocator *allocator,
                             struct ArrowArray *out, cst_error *error) {
  cst__text_result texts;
  cst__value_info info = cst__value_info_of((cst__value_type){from->format});
  CST__TRY(cst__text_result_begin(&texts, out, out->length, allocator, error));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < out->length && status == CST_OK; i++) {
    char text[CST__NUMBER_SIZE];
    size_t size = cst__result_is_null(out, i) ? 0 : write_value_text(text, from, &info, i);
    status = cst__text_result_append(&texts, (const uint8_t *)text, size, error);
  }
  return cst__text_result_end(&texts, status);
}

/* ---- from text ---- */

/* An integer of the type; false if the text is anything else. */
static bool read_int(cst_bytes text, const cst__value_info *info, uint64_t *out) {
  bool is_negative;
  uint64_t value;
  if (cst__parse_whole(text.data, text.size, &is_negative, &value) != CST__WHOLE_64) {
    return false;
  }
  int bits = 8 * info->width - (info->is_signed ? 1 : 0);
  uint64_t most = (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1) +
                  (is_negative && info->is_signed ? 1 : 0);
  most = is_negative && !info->is_signed ? 0 : most;
  *out = is_negative ? 0 - value : value;
  return value <= most;
}

static bool read_bool(cst_bytes text, uint64_t *out) {
  *out = text.size == 4;
  return (text.size == 4 && memcmp(text.data, "true", 4) == 0) ||
         (text.size == 5 && memcmp(text.data, "false", 5) == 0);
}

/* Puts the value that a text is into slot `i`. */
static bool read_value_text(cst_bytes text, const cst__value_info *info, uint8_t *values,
                            int64_t i) {
  uint64_t word = 0;
  if (info->kind == CST__VALUE_BOOL) {
    bool is_bool = read_bool(text, &word);
    values[i >> 3] = (uint8_t)(values[i >> 3] | (word & 1) << (i & 7));
    return is_bool;
  }
  if (info->kind == CST__VALUE_FLOAT) {
    return info->width == 4
               ? cst__parse_float32(text.data, text.size, &((float *)(void *)values)[i])
               : cst__parse_float64(text.data, text.size, &((double *)(void *)values)[i]);
  }
  bool is_int = read_int(text, info, &word);
  memcpy(values + i * info->width, &word, (size_t)info->width);
  return is_int;
}

cst_status cst__cast_from_text(const cst__view *from, cst__value_type to, struct ArrowArray *out,
                               cst_error *error) {
  cst__value_info info = cst__value_info_of(to);
  uint8_t *values = cst__result_values(out, info.width, error);
  if (values == NULL) {
    return CST_NO_MEMORY;
  }
  memset(values, 0,
         info.width > 0 ? (size_t)out->length * (size_t)info.width : cst__bits_size(out->length));
  for (int64_t i = 0; i < out->length; i++) {
    if (!cst__result_is_null(out, i) &&
        !read_value_text(cst__view_text(from, i), &info, values, i)) {
      return cst__cast_fail((cst__value_type){from->format}, to, i, error);
    }
  }
  return CST_OK;
}
