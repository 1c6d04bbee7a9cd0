/* The steps of a program, taken for one value after the other. The only loop that looks at the
 * bytes of values: it goes forward, and every length is compared with what is left before anything
 * is taken or made room for. Fixed widths and numbers are read without a look at the end, since
 * there are readable bytes after it, and the look comes after them. */
#include <string.h>

#include "arrow/builder.h"
#include "avro/avro_bytes.h"
#include "avro/avro_program.h"
#include "base/utf8.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

typedef const uint8_t *place;

enum { FEW_BYTES = 16 /* no more than CST__AVRO_SLACK, and the padding of a buffer */ };

static const char cut[] = "the bytes end within it, or a length points past their end";
static const char damaged[] = "the file is damaged, or its schema is not that of its values";

/* ---- reading ---- */

enum { MOST_NUMBER = 10 /* bytes: within the slack */ };

static __attribute__((noinline)) place read_long_number(place at, uint64_t *out) {
  return cst__avro_read_bits(at, at + MOST_NUMBER, out);
}

/* NULL: more than 64 bits. */
ALWAYS_INLINE place read_number(place at, uint64_t *out) {
  uint64_t word = cst__load64(at);
  if (LIKELY((word & 0x80) == 0)) {
    *out = word & 0x7f;
    return at + 1;
  }
  if (LIKELY((word & 0x8000) == 0)) {
    *out = (word & 0x7f) | (word & 0x7f00) >> 1;
    return at + 2;
  }
  uint64_t stops = ~word & UINT64_C(0x8080808080808080);
  if (UNLIKELY(stops == 0)) {
    return read_long_number(at, out);
  }
  /* The groups of 7 bits are closed up, in pairs, fours and eights. */
  uint64_t x = word & (stops ^ (stops - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
  x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x7f007f007f007f00)) >> 1;
  x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x3fff00003fff0000)) >> 2;
  *out = (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
  return at + (__builtin_ctzll(stops) >> 3) + 1;
}

ALWAYS_INLINE place read_signed(place at, int64_t *out) {
  uint64_t raw = 0;
  at = read_number(at, &raw);
  *out = cst__avro_signed(raw);
  return at;
}

/* ---- values that are not a few instructions ---- */

static const char *put_decimal(cst__builder *to, place bytes, size_t size) {
  size_t width = to->type->width;
  uint8_t value[32];
  uint8_t sign = size > 0 && (bytes[0] & 0x80) != 0 ? 0xff : 0;
  for (; size > width && *bytes == sign; size--) {
    bytes++;
  }
  if (size > width || (size == width && ((bytes[0] ^ sign) & 0x80) != 0)) {
    return "a decimal of more digits than its type has";
  }
  memset(value, sign, sizeof value);
  for (size_t i = 0; i < size; i++) { /* from big-endian */
    value[i] = bytes[size - 1 - i];
  }
  return cst__builder_append(to, value, width) ? NULL : "";
}

static const char *put_duration(cst__builder *to, place at) {
  uint32_t parts[3];
  memcpy(parts, at, sizeof parts);
  if (parts[0] > INT32_MAX || parts[1] > INT32_MAX) {
    return "a duration of more months or days than 31 bits hold";
  }
  uint64_t value[2] = {parts[0] | (uint64_t)parts[1] << 32, parts[2] * UINT64_C(1000000)};
  return cst__builder_append(to, value, sizeof value) ? NULL : "";
}

ALWAYS_INLINE bool is_ascii(place at, size_t size) {
  uint64_t high = 0;
  for (; size > 8; size -= 8, at += 8) {
    high |= cst__load64(at);
  }
  if (size > 0) {
    high |= cst__load64(at) << (64 - size * 8);
  }
  return (high & UINT64_C(0x8080808080808080)) == 0;
}

/* Appends bytes. Few of them are copied as a fixed number: there are readable bytes after them, and
 * a buffer has room beyond what is counted. */
ALWAYS_INLINE bool put_bytes(cst__builder *to, place at, size_t size) {
  if (UNLIKELY(!cst__builder_has_room(to) || !cst__builder_has_bytes(to, size))) {
    return false;
  }
  uint8_t *out = to->values + to->num_bytes;
  if (LIKELY(size <= FEW_BYTES)) {
    memcpy(out, at, FEW_BYTES);
  } else {
    memcpy(out, at, size);
  }
  cst__builder_put_string(to, size);
  return true;
}

/* Appends a null; the usual ones, after the first of a batch, here. */
ALWAYS_INLINE bool put_null(cst__builder *to) {
  int64_t length = to->length;
  if (UNLIKELY(to->validity == NULL || length >= to->capacity)) {
    return cst__builder_append_null(to);
  }
  if (to->offsets != NULL) {
    to->offsets[length + 1] = to->offsets[length];
  } else if (to->type->width == 8) {
    memset(to->values + (size_t)length * 8, 0, 8);
  } else if (to->type->width == 4) {
    memset(to->values + (size_t)length * 4, 0, 4);
  } else {
    return cst__builder_append_null(to);
  }
  to->validity[length >> 3] &= (uint8_t) ~(1U << (length & 7));
  to->null_count++;
  to->length = length + 1;
  return true;
}

static bool align_children(const cst__builder *rows) {
  for (size_t i = 0; i < rows->num_children; i++) {
    if (!cst__builder_pad(&rows->children[i], rows->length)) {
      return false;
    }
  }
  return true;
}

/* ---- lists ---- */

/* The head of a block: how many items it has, negative: cut, or too many; and where they end, NULL:
 * it does not say. */
enum { BLOCK_WRONG = -1, BLOCK_EMPTIES = -2 };
typedef struct item_block {
  int64_t count;
  place end;
} item_block;

/* A list ends with a byte that is zero, and so is one of no items. */
ALWAYS_INLINE bool is_last_block(place at, place end) { return at < end && *at == 0; }

/* Reads it. With `passes` only the items of a block that does not say its size are left to be
 * read: others are passed over. */
static place read_block(place at, place end, int64_t least, bool passes, int64_t *empties,
                        item_block *out) {
  for (;;) {
    int64_t count;
    int64_t size = -1;
    *out = (item_block){BLOCK_WRONG, NULL};
    at = read_signed(at, &count);
    if (at != NULL && count < 0) {
      at = read_signed(at, &size);
      count = count == INT64_MIN ? INT64_MAX : -count;
      if (at == NULL || size < 0 || at > end || size > end - at) {
        return at;
      }
      if (passes) {
        at += size;
        continue;
      }
      out->end = at + size;
    }
    if (at == NULL || at > end || (least > 0 && count > (end - at) / least)) {
      return at;
    }
    if (least == 0) {
      *empties = count <= CST__AVRO_MAX_EMPTIES - *empties ? *empties + count : -1;
      if (*empties < 0) {
        out->count = BLOCK_EMPTIES;
        return at;
      }
    }
    out->count = count;
    return at;
  }
}

/* ---- errors ---- */

static cst_status say(const cst__avro_step *step, cst_status code, const char *hint,
                      const char *what, cst_error *error) {
  cst__fail(error, code, hint, "not a valid Avro value: %s", what);
  for (const cst__avro_place *at = step->place; at != NULL; at = at->above) {
    cst__error_add_path(error, at->name, strlen(at->name));
  }
  return code;
}

static cst_status say_empties(const cst__avro_step *step, cst_error *error) {
  cst__fail(error, CST_LIMIT, "a list of nothing needs no items: the file is damaged, or hostile",
            "a value with more than %d parts that take no bytes", CST__AVRO_MAX_EMPTIES);
  for (const cst__avro_place *at = step->place; at != NULL; at = at->above) {
    cst__error_add_path(error, at->name, strlen(at->name));
  }
  return CST_LIMIT;
}

/* ---- the loop ---- */

#define TAKE_NUMBER(variable)             \
  at = read_signed(at, &(variable));      \
  if (UNLIKELY(at == NULL || at > end)) { \
    goto is_cut;                          \
  }
#define TAKE_INT(variable)                           \
  TAKE_NUMBER(variable)                              \
  if (UNLIKELY((variable) != (int32_t)(variable))) { \
    what = "an int of more than 32 bits";            \
    goto is_wrong;                                   \
  }
#define TAKE_SIZE(variable)                                \
  TAKE_NUMBER(variable)                                    \
  if (UNLIKELY((variable) < 0 || (variable) > end - at)) { \
    goto is_cut;                                           \
  }
#define PUT(type, expression)                                                        \
  do {                                                                               \
    if (UNLIKELY(!cst__builder_has_room(to))) {                                      \
      goto no_memory;                                                                \
    }                                                                                \
    const type value_ = (type)(expression);                                          \
    memcpy(to->values + (size_t)to->length * sizeof value_, &value_, sizeof value_); \
    to->length++;                                                                    \
  } while (0)

cst_status cst__avro_loop_run(cst__avro_loop *loop, int64_t rows, const uint8_t **where,
                              cst_error *error) {
  const cst__avro_step *const steps = loop->program->steps;
  const cst__avro_step *s = steps;
  place at = loop->at;
  place end = loop->end;
  cst__avro_frame *frame = loop->frames; /* the next one that is free */
  cst__avro_frame *const last = loop->frames + CST__AVRO_MAX_FRAMES;
  int64_t empties = 0;
  size_t idle = 0;
  const char *what = cut;
  int64_t n = 0;
  item_block items = {0, NULL};
  if (rows <= 0) {
    return CST_OK;
  }
  for (;; s++) {
    cst__builder *const to = s->to;
    switch (s->op) {
      case CST__AVRO_STOP:
        loop->at = at;
        if (--rows == 0) {
          return CST_OK;
        }
        empties = 0;
        idle = 0;
        s = steps - 1;
        break;
      case CST__AVRO_PUT_NULL:
        idle++;
        if (UNLIKELY(!cst__builder_append_null(to))) {
          goto no_memory;
        }
        break;
      case CST__AVRO_PUT_BOOLEAN:
        if (UNLIKELY(at == end)) {
          goto is_cut;
        }
        if (UNLIKELY(*at > 1)) {
          what = "a boolean that is neither 0 nor 1";
          goto is_wrong;
        }
        if (UNLIKELY(!cst__builder_append_bool(to, *at++ != 0))) {
          goto no_memory;
        }
        break;
      case CST__AVRO_PUT_INT:
        TAKE_INT(n);
        PUT(int32_t, n);
        break;
      case CST__AVRO_PUT_INT_AS_LONG:
        TAKE_INT(n);
        PUT(int64_t, n);
        break;
      case CST__AVRO_PUT_INT_AS_FLOAT:
        TAKE_INT(n);
        PUT(float, n);
        break;
      case CST__AVRO_PUT_INT_AS_DOUBLE:
        TAKE_INT(n);
        PUT(double, n);
        break;
      case CST__AVRO_PUT_LONG:
        TAKE_NUMBER(n);
        PUT(int64_t, n);
        break;
      case CST__AVRO_PUT_LONG_AS_FLOAT:
        TAKE_NUMBER(n);
        PUT(float, n);
        break;
      case CST__AVRO_PUT_LONG_AS_DOUBLE:
        TAKE_NUMBER(n);
        PUT(double, n);
        break;
      case CST__AVRO_PUT_FLOAT:
        if (UNLIKELY(end - at < 4)) {
          goto is_cut;
        }
        if (UNLIKELY(!cst__builder_append(to, at, 4))) {
          goto no_memory;
        }
        at += 4;
        break;
      case CST__AVRO_PUT_FLOAT_AS_DOUBLE: {
        float narrow;
        if (UNLIKELY(end - at < 4)) {
          goto is_cut;
        }
        memcpy(&narrow, at, sizeof narrow);
        PUT(double, narrow);
        at += 4;
        break;
      }
      case CST__AVRO_PUT_DOUBLE:
        if (UNLIKELY(end - at < 8)) {
          goto is_cut;
        }
        if (UNLIKELY(!cst__builder_append(to, at, 8))) {
          goto no_memory;
        }
        at += 8;
        break;
      case CST__AVRO_PUT_STRING:
        TAKE_SIZE(n);
        if (UNLIKELY(!is_ascii(at, (size_t)n)) && !cst__utf8_valid(at, (size_t)n)) {
          what = "a string that is not UTF-8";
          goto is_wrong;
        }
        if (UNLIKELY(!put_bytes(to, at, (size_t)n))) {
          goto no_memory;
        }
        at += n;
        break;
      case CST__AVRO_PUT_BYTES:
        TAKE_SIZE(n);
        if (UNLIKELY(!put_bytes(to, at, (size_t)n))) {
          goto no_memory;
        }
        at += n;
        break;
      case CST__AVRO_PUT_FIXED:
        if (UNLIKELY(s->number > end - at)) {
          goto is_cut;
        }
        if (UNLIKELY(!cst__builder_append(to, at, (size_t)s->number))) {
          goto no_memory;
        }
        at += s->number;
        break;
      case CST__AVRO_PUT_DECIMAL:
        n = s->number;
        if (n < 0) {
          TAKE_SIZE(n);
        } else if (UNLIKELY(n > end - at)) {
          goto is_cut;
        }
        what = put_decimal(to, at, (size_t)n);
        if (UNLIKELY(what != NULL)) {
          goto is_wrong;
        }
        at += n;
        break;
      case CST__AVRO_PUT_DURATION:
        if (UNLIKELY(end - at < 12)) {
          goto is_cut;
        }
        what = put_duration(to, at);
        if (UNLIKELY(what != NULL)) {
          goto is_wrong;
        }
        at += 12;
        break;
      case CST__AVRO_PUT_ENUM:
        TAKE_NUMBER(n);
        if (UNLIKELY(n < 0 || n >= s->number)) {
          what = "an enum's number that has no symbol";
          goto is_wrong;
        }
        n = s->indices[n];
        if (UNLIKELY(n < 0)) {
          what = "a symbol that the schema's enum does not have, without a default";
          goto is_wrong;
        }
        PUT(int32_t, n);
        break;
      case CST__AVRO_END_STRUCT:
        idle++;
        if (UNLIKELY(!cst__builder_end_struct(to))) {
          goto no_memory;
        }
        break;
      case CST__AVRO_ALIGN:
        if (UNLIKELY(!align_children(to))) {
          goto no_memory;
        }
        break;
      case CST__AVRO_PAD:
        if (UNLIKELY(!cst__builder_pad(to, s->parent->length))) {
          goto no_memory;
        }
        break;
      case CST__AVRO_NULLABLE:
        TAKE_NUMBER(n);
        if (UNLIKELY(n != 0 && n != 1)) {
          goto no_branch;
        }
        if (n == s->number) {
          if (UNLIKELY(!put_null(to))) {
            goto no_memory;
          }
          s = steps + s->jump - 1;
        }
        break;
      case CST__AVRO_SKIP_NULLABLE:
        TAKE_NUMBER(n);
        if (UNLIKELY(n != 0 && n != 1)) {
          goto no_branch;
        }
        if (n == s->number) {
          s = steps + s->jump - 1;
        }
        break;
      case CST__AVRO_BRANCH:
        TAKE_NUMBER(n);
        if (UNLIKELY(n < 0 || n >= s->number)) {
          goto no_branch;
        }
        s = steps + s->jumps[n] - 1;
        break;
      case CST__AVRO_JUMP:
        s = steps + s->jump - 1;
        break;
      case CST__AVRO_LIST:
      case CST__AVRO_SKIP_LIST:
        if (is_last_block(at, end)) {
          at++;
          items.count = 0;
        } else {
          at = read_block(at, end, s->number, s->op == CST__AVRO_SKIP_LIST, &empties, &items);
          if (UNLIKELY(items.count < 0)) {
            goto wrong_block;
          }
        }
        if (items.count == 0) {
          if (to != NULL && UNLIKELY(!cst__builder_end_list(to))) {
            goto no_memory;
          }
          s = steps + s->jump - 1;
          break;
        }
        if (UNLIKELY(frame == last)) {
          goto too_deep;
        }
        frame->left = items.count;
        (frame++)->end = items.end;
        break;
      case CST__AVRO_NEXT:
      case CST__AVRO_SKIP_NEXT:
        if (UNLIKELY(idle > CST__AVRO_MAX_IDLE)) {
          items.count = BLOCK_EMPTIES;
          goto wrong_block;
        }
        if (--frame[-1].left > 0) {
          s = steps + s->jump - 1;
          break;
        }
        if (UNLIKELY(frame[-1].end != NULL && frame[-1].end != at)) {
          what = "a block of items that has another size than it says";
          goto is_wrong;
        }
        if (LIKELY(is_last_block(at, end))) {
          at++;
          items.count = 0;
        } else {
          at = read_block(at, end, s->number, s->op == CST__AVRO_SKIP_NEXT, &empties, &items);
          if (UNLIKELY(items.count < 0)) {
            goto wrong_block;
          }
        }
        if (items.count > 0) {
          frame[-1].left = items.count;
          frame[-1].end = items.end;
          s = steps + s->jump - 1;
          break;
        }
        frame--;
        if (to != NULL && UNLIKELY(!cst__builder_end_list(to))) {
          goto no_memory;
        }
        break;
      case CST__AVRO_DEFAULT:
        if (UNLIKELY(frame == last)) {
          goto too_deep;
        }
        frame->at = at;
        (frame++)->end = end;
        idle += s->bytes->size + 1;
        at = s->bytes->data;
        end = at + s->bytes->size;
        break;
      case CST__AVRO_RESTORE:
        at = (--frame)->at;
        end = frame->end;
        break;
      case CST__AVRO_CAPTURE:
        if (UNLIKELY(frame == last)) {
          goto too_deep;
        }
        (frame++)->at = at;
        break;
      case CST__AVRO_CAPTURED:
        frame--;
        if (UNLIKELY(!cst__builder_append_bytes(to, frame->at, (size_t)(at - frame->at)))) {
          goto no_memory;
        }
        break;
      case CST__AVRO_SKIP_VARINTS:
        for (int64_t i = 0; i < s->number; i++) {
          TAKE_NUMBER(n);
        }
        break;
      case CST__AVRO_SKIP_FIXED:
        if (UNLIKELY(s->number > end - at)) {
          goto is_cut;
        }
        at += s->number;
        break;
      case CST__AVRO_SKIP_BYTES:
        for (int64_t i = 0; i < s->number; i++) {
          TAKE_SIZE(n);
          at += n;
        }
        break;
      case CST__AVRO_CALL:
        if (UNLIKELY(frame == last)) {
          goto too_deep;
        }
        (frame++)->back = (size_t)(s - steps);
        s = steps + s->jump - 1;
        break;
      case CST__AVRO_RETURN:
        s = steps + (--frame)->back;
        break;
      case CST__AVRO_FAIL:
        *where = at;
        return say(s, CST_SCHEMA, "give a schema that can read the file's", s->text, error);
    }
  }
no_memory:
  *where = at;
  return cst__batch_builder_fail(loop->batch, error);
too_deep:
  *where = at;
  return say(s, CST_LIMIT, "leave the column out", "values within each other are too deep", error);
no_branch:
  what = "a union's number that has no type";
  goto is_wrong;
wrong_block:
  if (items.count == BLOCK_EMPTIES) {
    *where = at;
    return say_empties(s, error);
  }
is_cut:
  what = cut;
is_wrong:
  *where = at != NULL && at <= end ? at : end;
  return *what == '\0' ? cst__batch_builder_fail(loop->batch, error)
                       : say(s, CST_CORRUPT, damaged, what, error);
}
