/* Records to rows straight from their text, without a tree of values in between: for the types and
 * records that occur by the million. Whatever is unusual (a fault, a key that comes twice, a value
 * that needs a closer look) is left to json_rows.c, by which this file goes in all that it accepts.
 */
#include "arrow/builder.h"
#include "base/exact.h"
#include "format/json/json.h"
#include "text/number.h"

enum { NO_CHILD = UINT32_MAX, MOST_MISSES = 64 };

/* ---- which types ---- */

cst__json_way cst__json_way_of(const cst__type *type) {
  switch (type->layout) {
    case CST__LAYOUT_NULL:
      return CST__JSON_NOTHING;
    case CST__LAYOUT_BOOL:
      return CST__JSON_BOOL;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
      return CST__JSON_STRING;
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_LIST_VIEW:
      return CST__JSON_LIST;
    case CST__LAYOUT_STRUCT:
      return CST__JSON_STRUCT;
    case CST__LAYOUT_NUMBER:
      if (type->dictionary != NULL) {
        return CST__JSON_INDIRECT;
      }
      switch (type->dtype) {
        case CST_DTYPE_FLOAT64:
          return CST__JSON_FLOAT64;
        case CST_DTYPE_INT64:
          return CST__JSON_INT64;
        default:
          return cst__json_is_float(type->dtype) ? CST__JSON_FLOATS : CST__JSON_INTEGER;
      }
    default:
      return CST__JSON_INDIRECT;
  }
}

bool cst__json_column_is_direct(const cst__json_column *column) {
  if (column->way == CST__JSON_INDIRECT) {
    return false;
  }
  for (size_t i = 0; i < column->to->num_children; i++) {
    if (!cst__json_column_is_direct(&column->children[i])) {
      return false;
    }
  }
  return true;
}

/* ---- values: the place after them; NULL: not by this way ---- */

/* The steps that append_value goes on to: it needs no frame itself then. */
#define OWN_FRAME __attribute__((noinline))
static const uint8_t *append_value(const uint8_t *at, cst__json_text *text,
                                   cst__json_column *column);

static OWN_FRAME const uint8_t *append_null(const uint8_t *at, cst__json_column *column) {
  at = cst__json_word(at, "null", 4);
  if (at == NULL || (column->type->flags & CST__JSON_REQUIRED) != 0) {
    return NULL;
  }
  return cst__builder_append_absent(column->to) ? at : NULL;
}

static OWN_FRAME const uint8_t *append_bool(const uint8_t *at, cst__json_column *column) {
  bool value = *at == 't';
  at = value ? cst__json_word(at, "true", 4) : cst__json_word(at, "false", 5);
  return at != NULL && cst__builder_append_bool(column->to, value) ? at : NULL;
}

enum { SHORT_WHOLE = 18 }; /* digits that are within int64 */

static OWN_FRAME const uint8_t *append_integer(const uint8_t *at, cst__json_column *column) {
  cst__json_digits digits;
  uint64_t bits;
  at = cst__json_number_at(at, &digits);
  if (at == NULL || !digits.is_whole) {
    return NULL;
  }
  uint64_t value = digits.is_negative ? 0 - digits.magnitude : digits.magnitude;
  cst__json_number number = {CST__JSON_INT, (int64_t)value, digits.magnitude};
  if (digits.num_digits > SHORT_WHOLE) {
    number = cst__json_read_number((const char *)digits.text, digits.size);
  }
  return cst__json_read_integer(column->type->type->dtype, number, &bits) &&
                 cst__builder_append(column->to, &bits, column->type->type->width)
             ? at
             : NULL;
}

/* Most are short, and find room: nothing is called for these. */
static OWN_FRAME const uint8_t *append_int64(const uint8_t *at, cst__json_column *column) {
  cst__json_digits digits;
  cst__builder *to = column->to;
  const uint8_t *after = cst__json_number_at(at, &digits);
  if (__builtin_expect(after == NULL || !digits.is_whole || digits.num_digits > SHORT_WHOLE ||
                           to->length >= to->capacity,
                       0)) {
    return append_integer(at, column);
  }
  uint64_t value = digits.is_negative ? 0 - digits.magnitude : digits.magnitude;
  memcpy(cst__builder_next(to, sizeof value), &value, sizeof value);
  to->length++;
  return after;
}

static OWN_FRAME const uint8_t *append_any_float(const uint8_t *at, cst__json_column *column) {
  cst__json_digits digits;
  double wide;
  float narrow;
  at = cst__json_number_at(at, &digits);
  if (at == NULL || (digits.is_whole && (column->type->flags & CST__JSON_EXACT) != 0 &&
                     cst__json_is_inexact((const char *)digits.text, digits.size))) {
    return NULL;
  }
  bool ok;
  if (column->type->type->dtype == CST_DTYPE_FLOAT64) {
    ok = cst__json_digits_float64(&digits, &wide) &&
         cst__builder_append(column->to, &wide, sizeof wide);
  } else {
    ok = cst__parse_float32(digits.text, digits.size, &narrow) &&
         cst__builder_append(column->to, &narrow, sizeof narrow);
  }
  return ok ? at : NULL;
}

static OWN_FRAME const uint8_t *append_float64(const uint8_t *at, cst__json_column *column) {
  double value;
  cst__builder *to = column->to;
  const uint8_t *after = cst__json_pointed_float64(at, &value);
  if (__builtin_expect(after == NULL || to->length >= to->capacity, 0)) {
    return append_any_float(at, column);
  }
  memcpy(cst__builder_next(to, sizeof value), &value, sizeof value);
  to->length++;
  return after;
}

/* A string of any size, with escapes or without. */
static OWN_FRAME const uint8_t *append_long_string(const uint8_t *at, cst__json_column *column) {
  cst__json_span span;
  cst__builder *to = column->to;
  if (*at != '"' || (at = cst__json_string(at, &span)) == NULL || !cst__builder_has_room(to) ||
      !cst__builder_has_bytes(to, span.size)) {
    return NULL;
  }
  size_t size = span.size;
  if (!span.has_escapes) {
    memcpy(to->values + to->num_bytes, span.data, size);
  } else if (!cst__json_unescape(span, to->values + to->num_bytes, &size)) {
    return NULL;
  }
  cst__builder_put_string(to, size);
  return at;
}

/* Most strings are short and plain, and find room: these are copied at once, with what stands after
 * them. */
static OWN_FRAME const uint8_t *append_string(const uint8_t *at, cst__json_column *column) {
  enum { SHORT = 2 * CST__JSON_STEP };
  _Static_assert((int)SHORT <= (int)CST__JSON_SLACK, "what stands after them");
  cst__builder *to = column->to;
  size_t size = cst__json_short_string(at);
  if (__builtin_expect(
          size == SIZE_MAX || to->length >= to->capacity || to->max_bytes - to->num_bytes <= SHORT,
          0)) {
    return append_long_string(at, column);
  }
  memcpy(to->values + to->num_bytes, at + 1, SHORT);
  cst__builder_put_string(to, size);
  return at + size + 2;
}

/* ---- lists and structs ---- */

static OWN_FRAME const uint8_t *append_list(const uint8_t *at, cst__json_text *text,
                                            cst__json_column *column) {
  bool more = false;
  if (*at == '[') {
    at = cst__json_enter(at, text, ']', &more);
  } else {
    at = (column->type->flags & CST__JSON_SCALARS) != 0
             ? append_value(at, text, &column->children[0])
             : NULL;
  }
  while (at != NULL && more) {
    at = append_value(at, text, &column->children[0]);
    at = at != NULL ? cst__json_next(at, text, ']', &more) : NULL;
  }
  return at != NULL && cst__builder_end_list(column->to) ? at : NULL;
}

/* The place of the value of a key that is not the expected one; *next becomes what the map says of
 * it: a child, CST__JSON_IGNORED, or SIZE_MAX for a key that is not known. */
static const uint8_t *find_key(const uint8_t *at, const cst__json_column *column, size_t *found) {
  cst__json_span key;
  if (*at != '"' || (at = cst__json_string(at, &key)) == NULL || key.has_escapes) {
    return NULL;
  }
  *found = cst__name_map_find(&column->type->map, (const char *)key.data, key.size);
  return cst__json_mark(at, ':');
}

/* A key and its value. The child that came here in the object before is tried first. */
static const uint8_t *append_member(const uint8_t *at, cst__json_text *text,
                                    cst__json_column *column, uint32_t **next) {
  size_t found = **next;
  const uint8_t *value =
      found != NO_CHILD ? cst__json_take_key(at, text, &column->children[found].key) : NULL;
  if (__builtin_expect(value == NULL, 0)) {
    value = find_key(at, column, &found);
    if (value == NULL) {
      return NULL;
    }
    if (found >= column->to->num_children) {
      bool is_fault = found != CST__JSON_IGNORED && (column->type->flags & CST__JSON_CLOSED) != 0;
      return is_fault ? NULL : cst__json_skip_value(cst__json_blanks(value), text);
    }
    **next = (uint32_t)found;
  }
  cst__json_column *child = &column->children[found];
  *next = &child->next_key;
  /* One that is there already has come twice. */
  bool ok =
      child->to->length <= column->to->length && cst__builder_pad(child->to, column->to->length);
  return ok ? append_value(cst__json_blanks(value), text, child) : NULL;
}

static bool has_required(const cst__json_column *column) {
  for (size_t i = 0; i < column->to->num_children; i++) {
    if ((column->type->children[i].flags & CST__JSON_REQUIRED) != 0 &&
        column->children[i].to->length <= column->to->length) {
      return false;
    }
  }
  return true;
}

static OWN_FRAME const uint8_t *append_struct(const uint8_t *at, cst__json_text *text,
                                              cst__json_column *column) {
  uint32_t *next = &column->first_key;
  bool more;
  if (*at != '{') {
    return NULL;
  }
  at = cst__json_enter(at, text, '}', &more);
  while (at != NULL && more) {
    at = append_member(at, text, column, &next);
    at = at != NULL ? cst__json_next(at, text, '}', &more) : NULL;
  }
  return at != NULL && (column->type->num_required == 0 || has_required(column)) &&
                 cst__builder_end_struct(column->to)
             ? at
             : NULL;
}

static const uint8_t *append_value(const uint8_t *at, cst__json_text *text,
                                   cst__json_column *column) {
  if (*at == 'n') {
    return append_null(at, column);
  }
  switch (column->way) {
    case CST__JSON_BOOL:
      return append_bool(at, column);
    case CST__JSON_INT64:
      return append_int64(at, column);
    case CST__JSON_INTEGER:
      return append_integer(at, column);
    case CST__JSON_FLOAT64:
      return append_float64(at, column);
    case CST__JSON_FLOATS:
      return append_any_float(at, column);
    case CST__JSON_STRING:
      return append_string(at, column);
    case CST__JSON_LIST:
      return append_list(at, text, column);
    case CST__JSON_STRUCT:
      return append_struct(at, text, column);
    default:
      return NULL;
  }
}

cst_status cst__json_rows_add_text(cst__json_rows *rows, const cst__json_record *record,
                                   bool *taken, cst_error *error) {
  cst__json_text text = {record->data + record->size, CST__JSON_MAX_DEPTH};
  *taken = false;
  if (!rows->is_direct || rows->misses > MOST_MISSES) {
    return CST_OK;
  }
  rows->batch->failure = CST_OK;
  cst__builder_mark mark = cst__batch_builder_mark(rows->batch);
  const uint8_t *at = append_struct(cst__json_blanks(record->data), &text, &rows->root);
  if (at != NULL && cst__json_ends_at(at, &text)) {
    rows->misses = 0;
    *taken = true;
    return CST_OK;
  }
  rows->misses++;
  cst__batch_builder_rollback(rows->batch, mark);
  return rows->batch->failure == CST_NO_MEMORY ? cst__batch_builder_fail(rows->batch, error)
                                               : CST_OK;
}
