/* Lists whose items are one step: loops of their own. */
#include "avro/avro_take.h"
#include "base/utf8.h"

typedef const uint8_t *place;
typedef cst__avro_items_result result;

/* There are no more of them than bytes are left, so that there may be room for all at once. */
ALWAYS_INLINE place put_varints(cst__builder *to, place at, place end, int64_t count, bool is_int,
                                result *out) {
  int64_t n;
  if (count > to->capacity - to->length && !cst__builder_reserve(to, (size_t)count)) {
    *out = CST__AVRO_ITEMS_NO_MEMORY;
    return at;
  }
  const size_t width = is_int ? sizeof(int32_t) : sizeof(int64_t);
  uint8_t *next = cst__builder_next(to, width);
  for (int64_t i = 0; i < count; i++, next += width) {
    place after = cst__avro_take_long(at, &n);
    if (UNLIKELY(after == NULL || after > end || (is_int && n != (int32_t)n))) {
      bool is_cut = after == NULL || after > end;
      *out = is_cut ? CST__AVRO_ITEMS_CUT : CST__AVRO_ITEMS_WRONG;
      return at;
    }
    memcpy(next, &n, width); /* little-endian */
    at = after;
  }
  to->length += count;
  return at;
}

static place put_strings(cst__builder *to, place at, place end, int64_t count, result *out) {
  for (int64_t i = 0; i < count; i++) {
    int64_t n;
    place text = cst__avro_take_size(at, end, &n);
    if (UNLIKELY(text == NULL)) {
      *out = CST__AVRO_ITEMS_CUT;
      return at;
    }
    if (UNLIKELY(!cst__avro_is_ascii(text, (size_t)n)) && !cst__utf8_valid(text, (size_t)n)) {
      *out = CST__AVRO_ITEMS_WRONG;
      return at;
    }
    if (UNLIKELY(!cst__avro_put_bytes(to, text, (size_t)n))) {
      *out = CST__AVRO_ITEMS_NO_MEMORY;
      return at;
    }
    at = text + n;
  }
  return at;
}

static place put_fixed(cst__builder *to, place at, place end, int64_t count, result *out) {
  const size_t width = to->type->width;
  if (count > (end - at) / (int64_t)width) {
    *out = CST__AVRO_ITEMS_CUT;
    return at;
  }
  if (count > to->capacity - to->length && !cst__builder_reserve(to, (size_t)count)) {
    *out = CST__AVRO_ITEMS_NO_MEMORY;
    return at;
  }
  memcpy(cst__builder_next(to, width), at, (size_t)count * width);
  to->length += count;
  return at + (size_t)count * width;
}

const uint8_t *cst__avro_take_items(const cst__avro_step *step, const uint8_t *at,
                                    const uint8_t *end, int64_t count,
                                    cst__avro_items_result *out) {
  *out = CST__AVRO_ITEMS_DONE;
  switch (step->op) {
    case CST__AVRO_PUT_LONG:
      return put_varints(step->to, at, end, count, false, out);
    case CST__AVRO_PUT_INT:
      return put_varints(step->to, at, end, count, true, out);
    case CST__AVRO_PUT_STRING:
      return put_strings(step->to, at, end, count, out);
    default: /* floats and doubles */
      return put_fixed(step->to, at, end, count, out);
  }
}
