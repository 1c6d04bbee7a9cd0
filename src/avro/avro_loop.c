/* The steps of a program, taken for one value after the other. The only loop that looks at the
 * bytes of values: it goes forward, and every length is compared with what is left before anything
 * is taken or made room for. Fixed widths and numbers are read without a look at the end, since
 * there are readable bytes after it, and the look comes after them. */
#include <string.h>

#include "arrow/builder.h"
#include "avro/avro_program.h"
#include "avro/avro_take.h"
#include "base/utf8.h"

typedef const uint8_t *place;

enum { MILLIS_OF_DAY = 86400000 };

static const char cut[] = "the bytes end within it, or a length points past their end";
static const char no_text[] = "a string that is not UTF-8";
static const char no_symbol[] = "an enum index without a symbol";
static const char other_symbol[] = "a symbol that the schema's enum lacks, and no default";
static const char no_time[] = "an invalid time of day";
static const char too_wide[] = "an int of more than 32 bits";
static const char other_size[] = "a block whose size does not match its header";
static const char damaged[] = "the file is damaged, or its schema is not that of its values";

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

/* The same for a double or a null, without a branch on which it is: in many columns nobody could
 * foretell it. */
ALWAYS_INLINE place put_nullable_double(cst__builder *to, place at, int64_t null_branch) {
  const int64_t length = to->length++;
  const unsigned is_null = (*at >> 1) == null_branch;
  const uint64_t bits = cst__load64(at + 1) & (is_null - UINT64_C(1));
  memcpy(to->values + (size_t)length * sizeof bits, &bits, sizeof bits);
  to->validity[length >> 3] &= (uint8_t) ~(is_null << (length & 7));
  to->null_count += is_null;
  return at + 9 - 8 * is_null;
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

/* The head of most blocks: one byte for fewer than 64 items, which take bytes. */
ALWAYS_INLINE bool is_short_block(place at, place end, int64_t least) {
  return end - at > 1 && (*at & 0x81) == 0 && least > 0 && (*at >> 1) * least < end - at;
}

/* Reads any. With `passes` only the items of a block that does not say its size are left to be
 * read: others are passed over. */
static place read_block(place at, place end, int64_t least, bool passes, int64_t *empties,
                        item_block *out) {
  for (;;) {
    int64_t count;
    int64_t size = -1;
    *out = (item_block){BLOCK_WRONG, NULL};
    at = cst__avro_take_long(at, &count);
    if (at != NULL && count < 0) {
      at = cst__avro_take_long(at, &size);
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
    int64_t bytes;
    if (at == NULL || at > end || __builtin_mul_overflow(count, least, &bytes) ||
        bytes > end - at) {
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

static cst_status add_path(const cst__avro_step *step, cst_status code, cst_error *error) {
  for (const cst__avro_place *at = step->place; at != NULL; at = at->above) {
    cst__error_add_path(error, at->name, strlen(at->name));
  }
  return code;
}

static cst_status say(const cst__avro_step *step, cst_status code, const char *hint,
                      const char *what, cst_error *error) {
  cst__fail(error, code, hint, "not a valid Avro value: %s", what);
  return add_path(step, code, error);
}

static cst_status say_empties(const cst__avro_step *step, cst_error *error) {
  cst__fail(error, CST_LIMIT, "a list of nothing needs no items: the file is damaged, or hostile",
            "a value with more than %d parts that take no bytes", CST__AVRO_MAX_EMPTIES);
  return add_path(step, CST_LIMIT, error);
}

/* ---- the loop ---- */

#define TAKE_NUMBER(variable)                \
  at = cst__avro_take_long(at, &(variable)); \
  if (UNLIKELY(at == NULL || at > end)) {    \
    goto is_cut;                             \
  }
#define TAKE_INT(variable)                           \
  TAKE_NUMBER(variable)                              \
  if (UNLIKELY((variable) != (int32_t)(variable))) { \
    what = too_wide;                                 \
    goto is_wrong;                                   \
  }
#define TAKE_SIZE(variable)                          \
  after = cst__avro_take_size(at, end, &(variable)); \
  if (UNLIKELY(after == NULL)) {                     \
    goto is_cut;                                     \
  }                                                  \
  at = after;
/* The number of one of two branches: for the null it goes on at `jump`, else with the next step. */
#define TAKE_NULL(put)              \
  TAKE_NUMBER(n)                    \
  if (UNLIKELY(n != 0 && n != 1)) { \
    goto no_branch;                 \
  }                                 \
  if (n == s->number) {             \
    if (UNLIKELY(!(put))) {         \
      goto no_memory;               \
    }                               \
    s = steps + s->jump - 1;        \
    break;                          \
  }                                 \
  s++;
/* The head of a block of items. */
#define TAKE_BLOCK(passes)                                             \
  do {                                                                 \
    if (LIKELY(is_short_block(at, end, s->number))) {                  \
      items = (item_block){*at++ >> 1, NULL};                          \
    } else {                                                           \
      at = read_block(at, end, s->number, (passes), &empties, &items); \
      if (UNLIKELY(items.count < 0)) {                                 \
        goto wrong_block;                                              \
      }                                                                \
    }                                                                  \
  } while (0)
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
  cst__avro_items_result taken;
  place after;
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
      case CST__AVRO_PUT_TIME_MILLIS:
        TAKE_INT(n);
        if (UNLIKELY(n < 0 || n >= MILLIS_OF_DAY)) {
          what = no_time;
          goto is_wrong;
        }
        PUT(int32_t, n);
        break;
      case CST__AVRO_PUT_TIME_MICROS:
        TAKE_NUMBER(n);
        if (UNLIKELY(n < 0 || n >= MILLIS_OF_DAY * INT64_C(1000))) {
          what = no_time;
          goto is_wrong;
        }
        PUT(int64_t, n);
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
      case CST__AVRO_NULLABLE_LONG:
        TAKE_NULL(put_null(to));
        /* fall through */
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
      case CST__AVRO_NULLABLE_DOUBLE:
        if (LIKELY(to->validity != NULL && to->length < to->capacity && end - at > 9 && *at <= 2 &&
                   *at != 1)) {
          at = put_nullable_double(to, at, s->number);
          s = steps + s->jump - 1;
          break;
        }
        TAKE_NULL(put_null(to));
        /* fall through */
      case CST__AVRO_PUT_DOUBLE:
        if (UNLIKELY(end - at < 8)) {
          goto is_cut;
        }
        if (UNLIKELY(!cst__builder_append(to, at, 8))) {
          goto no_memory;
        }
        at += 8;
        break;
      case CST__AVRO_NULLABLE_STRING:
        TAKE_NULL(put_null(to));
        /* fall through */
      case CST__AVRO_PUT_STRING:
        TAKE_SIZE(n);
        if (UNLIKELY(!cst__avro_is_ascii(at, (size_t)n)) && !cst__utf8_valid(at, (size_t)n)) {
          what = no_text;
          goto is_wrong;
        }
        if (UNLIKELY(!cst__avro_put_bytes(to, at, (size_t)n))) {
          goto no_memory;
        }
        at += n;
        break;
      case CST__AVRO_PUT_BYTES:
        TAKE_SIZE(n);
        if (UNLIKELY(!cst__avro_put_bytes(to, at, (size_t)n))) {
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
      case CST__AVRO_PUT_SYMBOL:
        TAKE_NUMBER(n);
        if (UNLIKELY(n < 0 || n >= s->number)) {
          what = no_symbol;
          goto is_wrong;
        }
        if (UNLIKELY(s->bytes[n].data == NULL)) {
          what = other_symbol;
          goto is_wrong;
        }
        if (UNLIKELY(!cst__builder_append_bytes(to, s->bytes[n].data, s->bytes[n].size))) {
          goto no_memory;
        }
        break;
      case CST__AVRO_PUT_ENUM:
        TAKE_NUMBER(n);
        if (UNLIKELY(n < 0 || n >= s->number)) {
          what = no_symbol;
          goto is_wrong;
        }
        n = s->indices[n];
        if (UNLIKELY(n < 0)) {
          what = other_symbol;
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
        TAKE_NULL(put_null(to));
        s--; /* the step of the value is yet to be taken */
        break;
      case CST__AVRO_SKIP_NULLABLE:
        TAKE_NULL(true);
        s--;
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
      case CST__AVRO_SKIP_LIST_OF:
      case CST__AVRO_SKIP_LIST_PLAIN:
        after = cst__avro_pass_list(steps, s, at, end);
        if (LIKELY(after != NULL)) {
          at = after;
          s = steps + s->jump - 1;
          break;
        }
        /* fall through */
      case CST__AVRO_LIST:
      case CST__AVRO_SKIP_LIST:
        if (is_last_block(at, end)) {
          at++;
          items.count = 0;
        } else {
          TAKE_BLOCK(s->op != CST__AVRO_LIST);
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
        frame->left = frame->count = items.count;
        (frame++)->end = items.end;
        break;
      case CST__AVRO_LIST_OF:
        while (!is_last_block(at, end)) {
          TAKE_BLOCK(false);
          if (items.count == 0) { /* a zero of several bytes */
            at--;
            break;
          }
          at = cst__avro_take_items(s + 1, at, end, items.count, &taken);
          switch (taken) {
            case CST__AVRO_ITEMS_DONE:
              break;
            case CST__AVRO_ITEMS_CUT:
              s++;
              goto is_cut;
            case CST__AVRO_ITEMS_WRONG:
              s++;
              what = s->op == CST__AVRO_PUT_INT ? too_wide : no_text;
              goto is_wrong;
            case CST__AVRO_ITEMS_NO_MEMORY:
              goto no_memory;
          }
          if (UNLIKELY(items.end != NULL && items.end != at)) {
            what = other_size;
            goto is_wrong;
          }
        }
        at++;
        if (UNLIKELY(!cst__builder_end_list(to))) {
          goto no_memory;
        }
        s = steps + s->jump - 1;
        break;
      case CST__AVRO_NEXT:
      case CST__AVRO_NEXT_STRUCT:
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
          what = other_size;
          goto is_wrong;
        }
        if (s->op == CST__AVRO_NEXT_STRUCT) {
          idle += (size_t)frame[-1].count;
          if (UNLIKELY(!cst__builder_end_structs(&to->children[0], (size_t)frame[-1].count))) {
            goto no_memory;
          }
        }
        if (LIKELY(is_last_block(at, end))) {
          at++;
          items.count = 0;
        } else {
          TAKE_BLOCK(s->op == CST__AVRO_SKIP_NEXT);
        }
        if (items.count > 0) {
          frame[-1].left = frame[-1].count = items.count;
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
      case CST__AVRO_SKIP_NULLABLE_FIXED:
        TAKE_NUMBER(n);
        if (UNLIKELY(n != 0 && n != 1)) {
          goto no_branch;
        }
        {
          const int64_t width = s[1].number & -(int64_t)(n != s->number);
          if (UNLIKELY(width > end - at)) {
            goto is_cut;
          }
          at += width;
        }
        s++;
        break;
      case CST__AVRO_SKIP_FIXED:
        if (UNLIKELY(s->number > end - at)) {
          goto is_cut;
        }
        at += s->number;
        break;
      case CST__AVRO_SKIP_NULLABLE_BYTES:
        TAKE_NULL(true);
        /* fall through */
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
  return say(s, CST_LIMIT, "leave the column out", "values are nested too deep", error);
no_branch:
  what = "a union index without a type";
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
