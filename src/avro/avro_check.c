/* Passing over values, and looking at each. */
#include "avro/avro_check.h"

#include "avro/avro_bytes.h"
#include "base/utf8.h"

enum { MOST_LEVELS = 256, MOST_EMPTIES = 1 << 24 };

typedef struct walk {
  const uint8_t *end;
  int levels;
  int64_t empties; /* items that took no bytes */
} walk;

/* What follows the value; NULL: it is none. */
static const uint8_t *pass_value(walk *w, const cst__avro_type *type, const uint8_t *at);

static const uint8_t *pass_bytes(const walk *w, const uint8_t *at, uint64_t size) {
  return at != NULL && size <= (uint64_t)(w->end - at) ? at + size : NULL;
}

static const uint8_t *pass_number(const walk *w, const uint8_t *at, int64_t least, int64_t most,
                                  int64_t *out) {
  at = cst__avro_read_long(at, w->end, out);
  return at != NULL && *out >= least && *out <= most ? at : NULL;
}

static const uint8_t *pass_sized(const walk *w, const uint8_t *at, bool is_text) {
  int64_t size;
  const uint8_t *begin = pass_number(w, at, 0, INT64_MAX, &size);
  const uint8_t *end = begin != NULL ? pass_bytes(w, begin, (uint64_t)size) : NULL;
  return end != NULL && is_text && !cst__utf8_valid(begin, (size_t)size) ? NULL : end;
}

/* The items of a block. */
static const uint8_t *pass_items(walk *w, const cst__avro_type *type, const uint8_t *at,
                                 int64_t count) {
  for (int64_t i = 0; i < count && at != NULL; i++) {
    const uint8_t *begin = at;
    at = type->kind == CST__AVRO_MAP ? pass_sized(w, at, true) : at;
    at = at != NULL ? pass_value(w, type->items, at) : NULL;
    w->empties += at == begin;
    at = w->empties <= MOST_EMPTIES ? at : NULL;
  }
  return at;
}

static const uint8_t *pass_list(walk *w, const cst__avro_type *type, const uint8_t *at) {
  int64_t count = 1;
  while (at != NULL && count != 0) {
    int64_t size = 0;
    at = pass_number(w, at, -INT64_MAX, INT64_MAX, &count);
    bool is_sized = at != NULL && count < 0;
    at = is_sized ? pass_number(w, at, 0, INT64_MAX, &size) : at;
    const uint8_t *end = is_sized && at != NULL ? pass_bytes(w, at, (uint64_t)size) : at;
    at = end != NULL ? pass_items(w, type, at, count < 0 ? -count : count) : NULL;
    at = is_sized && at != end ? NULL : at;
  }
  return at;
}

static const uint8_t *pass_fields(walk *w, const cst__avro_type *type, const uint8_t *at) {
  for (size_t i = 0; i < type->num_fields && at != NULL; i++) {
    at = pass_value(w, type->fields[i].type, at);
  }
  return at;
}

static const uint8_t *pass_kind(walk *w, const cst__avro_type *type, const uint8_t *at) {
  int64_t number;
  switch (type->kind) {
    case CST__AVRO_NULL:
      return at;
    case CST__AVRO_BOOLEAN:
      return at < w->end && *at <= 1 ? at + 1 : NULL;
    case CST__AVRO_INT:
      return pass_number(w, at, INT32_MIN, INT32_MAX, &number);
    case CST__AVRO_LONG:
      return pass_number(w, at, INT64_MIN, INT64_MAX, &number);
    case CST__AVRO_FLOAT:
      return pass_bytes(w, at, sizeof(float));
    case CST__AVRO_DOUBLE:
      return pass_bytes(w, at, sizeof(double));
    case CST__AVRO_BYTES:
    case CST__AVRO_STRING:
      return pass_sized(w, at, type->kind == CST__AVRO_STRING);
    case CST__AVRO_FIXED:
      return pass_bytes(w, at, type->size);
    case CST__AVRO_ENUM:
      return pass_number(w, at, 0, (int64_t)type->symbols.count - 1, &number);
    case CST__AVRO_RECORD:
      return pass_fields(w, type, at);
    case CST__AVRO_ARRAY:
    case CST__AVRO_MAP:
      return pass_list(w, type, at);
    case CST__AVRO_UNION:
      at = pass_number(w, at, 0, (int64_t)type->num_branches - 1, &number);
      return at != NULL ? pass_value(w, type->branches[number], at) : NULL;
  }
  return NULL;
}

static const uint8_t *pass_value(walk *w, const cst__avro_type *type, const uint8_t *at) {
  if (w->levels == MOST_LEVELS) {
    return NULL;
  }
  w->levels++;
  at = pass_kind(w, type, at);
  w->levels--;
  return at;
}

bool cst__avro_is_value(const cst__avro_type *type, cst_bytes bytes) {
  static const uint8_t nothing[1] = {0};
  const uint8_t *begin = bytes.size > 0 ? bytes.data : nothing;
  walk w = {begin + bytes.size, 0, 0};
  return pass_value(&w, type, begin) == w.end;
}
