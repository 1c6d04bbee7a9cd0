/* Rows to bytes: the tree of a schema laid out as steps for one batch, each with the buffers of its
 * column, and the loop that takes them.
 *
 * Steps do not look for room, but for those of what may be long: behind the limit up to which an
 * item of a list, or a row, may begin there is room for all steps once, and what is long leaves
 * off before the limit. */
#include <string.h>

#include "avro/avro_bytes.h"
#include "avro/avro_put.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
  FEW_BYTES = 32, /* a string of no more is copied as so many */
  ROOM = 64       /* of a step: a number and a few bytes, each written as words */
};

typedef enum row_op {
  ROW_OTHER, /* as cst__avro_put_value does it */
  ROW_NULL,  /* of a type of nothing else */
  ROW_DEFAULT,
  ROW_BOOL,
  ROW_INT_4,
  ROW_INT_8,
  ROW_FIXED_4,
  ROW_FIXED_8,
  ROW_MARK,       /* a null, or the branch of the value that follows */
  ROW_NULLABLE_8, /* a double or null: with one byte each before it */
  ROW_BYTES_4,    /* by the width of offsets */
  ROW_BYTES_8,
  ROW_DICTIONARY,
  ROW_LIST_4,
  ROW_LIST_8,
  ROW_LIST, /* views, and lists of a fixed size */
  ROW_STRUCT,
  ROW_UNION
} row_op;

/* A number before a value, ready to be copied as a word. */
typedef struct mark {
  uint8_t bytes[8];
  size_t size;
} mark;

typedef struct cst__avro_put_step step;
struct cst__avro_put_step {
  row_op op;
  bool takes_null;
  step *next;        /* after it and its children, which follow it; MARK: after its value */
  const step *above; /* NULL: none */
  const uint8_t *validity;
  int64_t offset;   /* of slot 0 in the bitmap */
  const void *data; /* of slot 0; of bytes: as the offsets count */
  const void *offsets;
  int64_t safe; /* BYTES: from here on fewer than FEW_BYTES are left */
  mark null;
  mark branch;
  const cst__avro_put *node;
  const cst__view *view;
};

/* What is written goes on at a place that functions are given and return, so that it stays in a
 * register; NULL: it failed, and `status` says how. */
typedef struct writer {
  uint8_t *limit;
  size_t room; /* behind it */
  cst__text *out;
  cst_status status;
  cst_error *error;
} writer;

/* ---- laying out ---- */

static mark mark_of(int64_t number) {
  uint8_t room[CST__AVRO_LONG_ROOM] = {0};
  mark made = {.size = (size_t)(cst__avro_write_long(room, number) - room)};
  memcpy(made.bytes, room, sizeof made.bytes);
  return made;
}

/* At most. */
static size_t count_steps(const cst__avro_put *node) {
  size_t count = 2;
  for (size_t i = 0; i < node->num_children; i++) {
    count += count_steps(&node->children[i]);
  }
  return count;
}

static row_op op_of_integer(const cst__view *view) {
  return view->dtype == CST_DTYPE_INT32   ? ROW_INT_4
         : view->dtype == CST_DTYPE_INT64 ? ROW_INT_8
                                          : ROW_OTHER;
}

static row_op op_of(const cst__avro_put *node, const cst__view *view) {
  if (view->layout == CST__LAYOUT_NULL) {
    return ROW_NULL;
  }
  switch (node->kind) {
    case CST__AVRO_ADD_BOOL:
      return ROW_BOOL;
    case CST__AVRO_ADD_INT:
      return op_of_integer(view);
    case CST__AVRO_ADD_TIME:
      return node->time.times != 1 || node->time.over != 1 ? ROW_OTHER
             : node->width == sizeof(int32_t)              ? ROW_INT_4
                                                           : ROW_INT_8;
    case CST__AVRO_ADD_FIXED:
      return node->width == 4 ? ROW_FIXED_4 : node->width == 8 ? ROW_FIXED_8 : ROW_OTHER;
    case CST__AVRO_ADD_BYTES:
      return view->layout != CST__LAYOUT_BINARY ? ROW_OTHER
             : view->offset_width == 4          ? ROW_BYTES_4
                                                : ROW_BYTES_8;
    case CST__AVRO_ADD_DICTIONARY:
      return ROW_DICTIONARY;
    case CST__AVRO_ADD_LIST:
      return view->layout != CST__LAYOUT_LIST ? ROW_LIST
             : view->offset_width == 4        ? ROW_LIST_4
                                              : ROW_LIST_8;
    case CST__AVRO_ADD_STRUCT:
      return ROW_STRUCT;
    case CST__AVRO_ADD_UNION:
      return ROW_UNION;
    default:
      return ROW_OTHER;
  }
}

static const void *slot_zero(const cst__view *view, const void *buffer, size_t width) {
  return buffer != NULL ? (const uint8_t *)buffer + (size_t)view->offset * width : NULL;
}

static void bind_buffers(step *s, const cst__view *view) {
  switch (s->op) {
    case ROW_INT_4:
    case ROW_FIXED_4:
      s->data = slot_zero(view, view->data, 4);
      break;
    case ROW_INT_8:
    case ROW_FIXED_8:
      s->data = slot_zero(view, view->data, 8);
      break;
    case ROW_BYTES_4:
    case ROW_BYTES_8:
      s->data = view->data;
      if (view->length > 0) {
        int64_t end =
            cst__view_entry(view->offsets, view->offset_width, view->offset + view->length);
        s->safe = end - FEW_BYTES + 1;
      }
      s->offsets = slot_zero(view, view->offsets, (size_t)view->offset_width);
      break;
    case ROW_LIST_4:
    case ROW_LIST_8:
      s->offsets = slot_zero(view, view->offsets, (size_t)view->offset_width);
      break;
    default:
      s->data = view->data;
      break;
  }
}

static step *bind(step *s, const step *above, const cst__avro_put *node, const cst__avro_put *outer,
                  const cst__view *view);

/* There may be no such column. */
static step *bind_child(step *s, const step *above, const cst__avro_put *child,
                        const cst__view *view) {
  if (child->kind != CST__AVRO_ADD_DEFAULT) {
    return bind(s, above, child, child, &view->children[child->column]);
  }
  *s = (step){.op = ROW_DEFAULT, .next = s + 1, .above = above, .node = child};
  return s + 1;
}

static step *bind_value(step *s, const step *above, const cst__avro_put *node,
                        const cst__avro_put *outer, const cst__view *view) {
  *s = (step){.op = op_of(node, view), .above = above, .node = node, .view = view};
  bind_buffers(s, view);
  step *next = s + 1;
  if (node->kind == CST__AVRO_ADD_DICTIONARY) {
    next = bind(next, s, &node->children[0], outer, view->dictionary);
  } else {
    for (size_t i = 0; i < node->num_children; i++) {
      next = bind_child(next, s, &node->children[i], view);
    }
  }
  s->takes_null = outer->is_nullable; /* of a union of which none is set */
  s->null = outer->is_nullable ? mark_of(outer->null_branch) : s->null;
  s->next = next;
  return next;
}

/* Makes the steps of a node, whose null and branch are `outer`'s, from `s` on; the one after them.
 * Values of a dictionary have those of the column. */
static step *bind(step *s, const step *above, const cst__avro_put *node, const cst__avro_put *outer,
                  const cst__view *view) {
  const bool has_branch = outer->has_branch && node->kind != CST__AVRO_ADD_DICTIONARY;
  const bool is_null = view->layout == CST__LAYOUT_NULL;
  if (!is_null && !has_branch && view->validity == NULL) {
    return bind_value(s, above, node, outer, view);
  }
  *s = (step){.op = is_null ? ROW_NULL : ROW_MARK,
              .takes_null = outer->is_nullable || node->kind == CST__AVRO_ADD_NULL,
              .above = above,
              .validity = view->validity,
              .offset = view->offset,
              .node = node};
  s->null = outer->is_nullable ? mark_of(outer->null_branch) : s->null;
  s->branch = has_branch ? mark_of(outer->branch) : s->branch;
  s->next = is_null ? s + 1 : bind_value(s + 1, above, node, outer, view);
  if (s->validity != NULL && s[1].op == ROW_FIXED_8 && s->null.size == 1 && s->branch.size == 1) {
    s->op = ROW_NULLABLE_8;
    s->data = s[1].data;
  }
  return s->next;
}

cst_status cst__avro_rows_bind(cst__avro_rows *rows, const cst__avro_put *root,
                               const cst__view *batch, const cst_allocator *allocator,
                               cst_error *error) {
  void *steps = rows->steps;
  const size_t count = count_steps(root);
  bool ok = cst__grow(allocator, &steps, &rows->capacity, count, sizeof *rows->steps);
  rows->steps = steps;
  if (!ok) {
    return cst__fail_memory(error, count * sizeof *rows->steps);
  }
  step *next = rows->steps;
  for (size_t i = 0; i < root->num_children; i++) {
    next = bind_child(next, NULL, &root->children[i], batch);
  }
  rows->count = (size_t)(next - rows->steps);
  return CST_OK;
}

void cst__avro_rows_reset(cst__avro_rows *rows) {
  cst__delete(rows->steps);
  *rows = (cst__avro_rows){0};
}

/* ---- errors ---- */

static uint8_t *fail_at(writer *w, const step *s, cst_status status) {
  for (; s != NULL; s = s->above) {
    if (s->node->name != NULL && *s->node->name != '\0') {
      cst__error_add_path(w->error, s->node->name, strlen(s->node->name));
    }
  }
  w->status = status;
  return NULL;
}

static uint8_t *fail_null(writer *w, const step *s) {
  const char *what =
      s->op == ROW_UNION ? "a union value without a type" : "a null, but the type is not nullable";
  return fail_at(
      w, s,
      cst__fail(w->error, CST_UNSUPPORTED, "change the value, or cast the column", "%s", what));
}

/* ---- room ---- */

static void set_limit(writer *w) {
  w->limit = (uint8_t *)w->out->data + w->out->capacity - w->room;
}

/* Makes room for so many bytes before the limit. */
static __attribute__((noinline)) uint8_t *make_room(writer *w, uint8_t *at, size_t more) {
  cst__text *out = w->out;
  out->size = (size_t)(at - (uint8_t *)out->data);
  if (cst__text_reserve(out, more + w->room) == NULL) {
    w->status = cst__fail_memory(w->error, out->capacity);
    return NULL;
  }
  set_limit(w);
  return (uint8_t *)out->data + out->size;
}

ALWAYS_INLINE uint8_t *with_room(writer *w, uint8_t *at, size_t more) {
  return LIKELY(at <= w->limit && more <= (size_t)(w->limit - at)) ? at : make_room(w, at, more);
}

/* ---- values ---- */

ALWAYS_INLINE bool is_set(const step *s, int64_t i) {
  return s->validity == NULL || ((s->validity[(s->offset + i) >> 3] >> ((s->offset + i) & 7)) & 1);
}

ALWAYS_INLINE uint8_t *put_mark(uint8_t *at, const mark *number) {
  memcpy(at, number->bytes, sizeof number->bytes);
  return at + number->size;
}

ALWAYS_INLINE int64_t int_at(const void *data, int64_t i, size_t width) {
  int32_t narrow;
  int64_t wide;
  if (width == sizeof wide) {
    memcpy(&wide, (const uint8_t *)data + i * 8, sizeof wide);
    return wide;
  }
  memcpy(&narrow, (const uint8_t *)data + i * 4, sizeof narrow);
  return narrow;
}

/* A double or a null, without a branch on which it is: in many columns nobody could foretell it. */
ALWAYS_INLINE uint8_t *put_nullable_8(uint8_t *at, const step *s, int64_t i) {
  const bool is_there = is_set(s, i);
  *at = is_there ? s->branch.bytes[0] : s->null.bytes[0];
  memcpy(at + 1, (const uint8_t *)s->data + i * 8, 8);
  return at + 1 + 8 * (size_t)is_there;
}

/* Few bytes are copied as a fixed number, where so many lie in the column. */
ALWAYS_INLINE uint8_t *put_bytes(writer *w, uint8_t *at, const step *s, int64_t i, size_t width) {
  const int64_t begin = int_at(s->offsets, i, width);
  const size_t size = (size_t)(int_at(s->offsets, i + 1, width) - begin);
  at = cst__avro_write_long(at, (int64_t)size);
  if (LIKELY(size <= FEW_BYTES && begin < s->safe)) {
    memcpy(at, (const uint8_t *)s->data + begin, FEW_BYTES);
  } else if (size > 0) {
    at = with_room(w, at, size);
    if (at == NULL) {
      return NULL;
    }
    memcpy(at, (const uint8_t *)s->data + begin, size);
  }
  return at + size;
}

/* By a function that appends to the text. */
static uint8_t *put_other(writer *w, uint8_t *at, const step *s, int64_t i) {
  cst__text *out = w->out;
  out->size = (size_t)(at - (uint8_t *)out->data);
  cst_status status = cst__avro_put_value(s->node, s->view, i, out, w->error);
  if (status != CST_OK) {
    return fail_at(w, s, status);
  }
  if (out->failed) {
    w->status = cst__fail_memory(w->error, out->capacity);
    return NULL;
  }
  set_limit(w);
  return with_room(w, (uint8_t *)out->data + out->size, 0);
}

static uint8_t *put_default(writer *w, uint8_t *at, const step *s) {
  const cst_bytes bytes = s->node->bytes;
  at = with_room(w, at, bytes.size);
  if (at != NULL && bytes.size > 0) {
    memcpy(at, bytes.data, bytes.size);
  }
  return at != NULL ? at + bytes.size : NULL;
}

/* ---- values within values ---- */

typedef struct slots {
  int64_t begin;
  int64_t end;
} slots;

static uint8_t *put_items(writer *w, uint8_t *at, const step *first, const step *last, slots of);

/* Items that are numbers without nulls have a loop of their own. */
static uint8_t *put_numbers(writer *w, uint8_t *at, const step *s, slots items) {
  at = with_room(w, at, (size_t)(items.end - items.begin) * CST__AVRO_MOST_LONG);
  for (int64_t i = items.begin; at != NULL && i < items.end; i++) {
    at = cst__avro_write_long(at, int_at(s->data, i, 8));
  }
  return at;
}

static uint8_t *put_list(writer *w, uint8_t *at, const step *s, slots items) {
  if (items.begin < items.end) {
    at = cst__avro_write_long(at, items.end - items.begin);
    at = s[1].op == ROW_INT_8 && s->next == s + 2 ? put_numbers(w, at, s + 1, items)
                                                  : put_items(w, at, s + 1, s->next, items);
    if (UNLIKELY(at == NULL)) {
      return NULL;
    }
  }
  *at = 0;
  return at + 1;
}

/* A struct of which one field is set; none is null. */
static uint8_t *put_union(writer *w, uint8_t *at, const step *s, int64_t i) {
  const step *set = NULL;
  for (const step *child = s + 1; child != s->next; child = child->next) {
    if (child->op == ROW_NULL || !is_set(child, i)) {
      continue;
    }
    if (set != NULL) {
      return fail_at(w, s,
                     cst__fail(w->error, CST_UNSUPPORTED, "leave one of them null",
                               "a union value with two types"));
    }
    set = child;
  }
  if (set != NULL) {
    return put_items(w, at, set, set->next, (slots){i, i + 1});
  }
  return s->takes_null ? put_mark(at, &s->null) : fail_null(w, s);
}

/* What has other steps within it, and what is rare. */
static __attribute__((noinline)) uint8_t *put_large(writer *w, uint8_t *at, const step *s,
                                                    int64_t i) {
  slots of = {i, i + 1};
  switch (s->op) {
    case ROW_DEFAULT:
      return put_default(w, at, s);
    case ROW_DICTIONARY:
      of.begin = cst__view_int(s->view, i);
      of.end = of.begin + 1;
      return put_items(w, at, s + 1, s->next, of);
    case ROW_LIST:
      cst__view_list(s->view, i, &of.begin, &of.end);
      return put_list(w, at, s, of);
    case ROW_UNION:
      return put_union(w, at, s, i);
    default:
      return put_other(w, at, s, i);
  }
}

/* Appends slots of the columns whose steps stand from `first` to `last`. */
static uint8_t *put_items(writer *w, uint8_t *at, const step *first, const step *last, slots of) {
  for (int64_t i = of.begin; i < of.end; i++) {
    const step *s = first;
    at = with_room(w, at, 0);
    if (UNLIKELY(at == NULL)) {
      return NULL;
    }
    while (s != last) {
      switch (s->op) {
        case ROW_MARK:
          if (is_set(s, i)) {
            at = put_mark(at, &s->branch);
            break;
          }
          /* fall through */
        case ROW_NULL:
          at = s->takes_null ? put_mark(at, &s->null) : fail_null(w, s);
          s = s->next - 1;
          break;
        case ROW_NULLABLE_8:
          at = put_nullable_8(at, s++, i);
          break;
        case ROW_BOOL:
          *at++ = cst__view_bool(s->view, i);
          break;
        case ROW_INT_4:
          at = cst__avro_write_long(at, int_at(s->data, i, 4));
          break;
        case ROW_INT_8:
          at = cst__avro_write_long(at, int_at(s->data, i, 8));
          break;
        case ROW_FIXED_4:
          memcpy(at, (const uint8_t *)s->data + i * 4, 4);
          at += 4;
          break;
        case ROW_FIXED_8:
          memcpy(at, (const uint8_t *)s->data + i * 8, 8);
          at += 8;
          break;
        case ROW_BYTES_4:
          at = put_bytes(w, at, s, i, 4);
          break;
        case ROW_BYTES_8:
          at = put_bytes(w, at, s, i, 8);
          break;
        case ROW_STRUCT: /* its children follow */
          break;
        case ROW_LIST_4:
          at = put_list(w, at, s, (slots){int_at(s->offsets, i, 4), int_at(s->offsets, i + 1, 4)});
          s = s->next - 1;
          break;
        case ROW_LIST_8:
          at = put_list(w, at, s, (slots){int_at(s->offsets, i, 8), int_at(s->offsets, i + 1, 8)});
          s = s->next - 1;
          break;
        default:
          at = put_large(w, at, s, i);
          s = s->next - 1;
          break;
      }
      if (UNLIKELY(at == NULL)) {
        return NULL;
      }
      s++;
    }
  }
  return at;
}

cst_status cst__avro_rows_put(const cst__avro_rows *rows, int64_t *row, int64_t end, size_t enough,
                              cst__text *out, cst_error *error) {
  writer w = {.room = (rows->count + 1) * ROOM, .out = out, .error = error};
  if (out->failed || cst__text_reserve(out, w.room) == NULL) {
    return cst__fail_memory(error, out->capacity);
  }
  set_limit(&w);
  for (; *row < end && out->size < enough; (*row)++) {
    const slots one = {*row, *row + 1};
    uint8_t *at = put_items(&w, (uint8_t *)out->data + out->size, rows->steps,
                            rows->steps + rows->count, one);
    if (at == NULL) {
      if (w.status != CST_NO_MEMORY) {
        cst__error_add_record(error, *row, -1);
      }
      return w.status;
    }
    out->size = (size_t)(at - (uint8_t *)out->data);
  }
  return CST_OK;
}
