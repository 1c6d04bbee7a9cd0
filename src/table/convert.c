/* Conversion of views: numbers become wider, offsets 64-bit ones, fields are found by their names.
 */
#include "table/convert.h"

#include <string.h>

#include "arrow/concat.h"
#include "arrow/owned.h"
#include "base/exact.h"
#include "base/hash.h"

enum { MAX_RATIO = 200 };
#define FREE_ITEMS ((int64_t)1 << 22) /* up to which no proportion is asked for */

struct cst__converted_copy {
  struct ArrowArray array;
  struct cst__converted_copy *next;
};

void cst__conversion_init(cst__conversion *c, const cst_allocator *allocator, cst_error *error) {
  *c = (cst__conversion){.error = error};
  cst__arena_init(&c->arena, allocator);
}

void cst__conversion_reset(cst__conversion *c) {
  for (struct cst__converted_copy *at = c->copied; at != NULL; at = at->next) {
    cst__array_release(&at->array);
  }
  cst__arena_reset(&c->arena);
}

static void *conversion_take(cst__conversion *c, int64_t count, size_t width) {
  size_t size = SIZE_MAX;
  void *block = cst__mul((size_t)count, width, &size)
                    ? cst__arena_take(&c->arena, size > 0 ? size : 1)
                    : NULL;
  if (block == NULL) {
    cst__fail_memory(c->error, size);
  }
  return block;
}

/* ---- parts of views ---- */

/* Buffers that are written anew begin at slot 0, and so has the bitmap. */
static cst_status rebase(cst__conversion *c, const cst__view *view, cst__view *out) {
  if (view->validity != NULL && view->offset > 0) {
    uint8_t *bitmap = conversion_take(c, (int64_t)cst__bits_size(view->length), 1);
    if (bitmap == NULL) {
      return CST_NO_MEMORY;
    }
    cst__bits_copy(bitmap, 0, view->validity, view->offset, view->length);
    out->validity = bitmap;
  }
  out->offset = 0;
  return CST_OK;
}

/* Slots [begin, begin + length) of a view. */
static cst_status conversion_narrow(cst__conversion *c, const cst__view *view, int64_t begin,
                                    int64_t length, cst__view *out) {
  *out = *view;
  out->offset += begin;
  out->length = length;
  if (view->layout != CST__LAYOUT_STRUCT || view->num_children == 0) {
    return CST_OK;
  }
  out->children = conversion_take(c, view->num_children, sizeof *out->children);
  if (out->children == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0; i < view->num_children; i++) {
    CST__TRY(conversion_narrow(c, &view->children[i], begin, length, &out->children[i]));
  }
  return CST_OK;
}

/* ---- integers of 64 bits as floats ---- */

/* Structs or lists that are being converted: whose slots lie above those at hand. */
typedef struct cst__above {
  const cst__view *view;
  const cst__view *made; /* of lists: with offsets from 0 on; NULL: of structs */
  const struct cst__above *outer;
} cst__above;

/* The list that has item `at`. */
static int64_t find_list_above(const cst__above *above, int64_t at) {
  const cst__view *made = above->made;
  if (made->layout == CST__LAYOUT_FIXED_LIST) {
    return at / made->fixed_size;
  }
  int64_t list = 0;
  while (cst__view_entry(made->offsets, made->offset_width, list + 1) <= at) {
    list++;
  }
  return list;
}

/* The row that a slot lies in; -1: it is hidden by a null. */
static int64_t find_row(const cst__conversion *c, const cst__view *view, int64_t at) {
  bool is_null = cst__view_is_null(view, at);
  for (const cst__above *above = c->above; above != NULL && !is_null; above = above->outer) {
    at = above->made != NULL ? find_list_above(above, at) : at;
    is_null = cst__view_is_null(above->view, at);
  }
  return is_null ? -1 : at;
}

/* An integer of 64 bits. */
typedef struct wide_int {
  bool is_negative;
  uint64_t size;
} wide_int;

static wide_int wide_int_at(const cst__view *view, int64_t i) {
  uint64_t bits = ((const uint64_t *)view->data)[view->offset + i];
  bool is_negative = view->dtype == CST_DTYPE_INT64 && (int64_t)bits < 0;
  return (wide_int){is_negative, is_negative ? cst__int_size((int64_t)bits) : bits};
}

/* All that are seen are held by float64. */
static cst_status check_exact(const cst__conversion *c, const cst__view *view) {
  for (int64_t i = 0; i < view->length; i++) {
    if (!cst__float_holds(wide_int_at(view, i).size, DBL_MANT_DIG)) {
      int64_t row = find_row(c, view, i);
      if (row >= 0) {
        wide_int value = wide_int_at(view, i);
        cst__fail(c->error, CST_SCHEMA, "cast one of them, or leave the column out",
                  "no type holds both the integer %s%llu and floats without a loss",
                  value.is_negative ? "-" : "", (unsigned long long)value.size);
        cst__error_add_record(c->error, row, -1);
        return CST_SCHEMA;
      }
    }
  }
  return CST_OK;
}

/* ---- numbers ---- */

#define COPY_AS(dtype, target)             \
  case CST_DTYPE_##dtype:                  \
    for (int64_t i = 0; i < count; i++) {  \
      ((target *)to)[i] = (target)from[i]; \
    }                                      \
    break;
#define DEFINE_WIDEN(type)                                                                     \
  static void widen_##type(const type *from, int64_t count, cst_dtype target_type, void *to) { \
    switch (target_type) {                                                                     \
      COPY_AS(INT16, int16_t)                                                                  \
      COPY_AS(INT32, int32_t)                                                                  \
      COPY_AS(INT64, int64_t)                                                                  \
      COPY_AS(UINT16, uint16_t)                                                                \
      COPY_AS(UINT32, uint32_t)                                                                \
      COPY_AS(UINT64, uint64_t)                                                                \
      COPY_AS(FLOAT32, float)                                                                  \
      COPY_AS(FLOAT64, double)                                                                 \
      default:                                                                                 \
        break;                                                                                 \
    }                                                                                          \
  }
DEFINE_WIDEN(int8_t)
DEFINE_WIDEN(int16_t)
DEFINE_WIDEN(int32_t)
DEFINE_WIDEN(uint8_t)
DEFINE_WIDEN(uint16_t)
DEFINE_WIDEN(uint32_t)
DEFINE_WIDEN(int64_t)
DEFINE_WIDEN(uint64_t)
DEFINE_WIDEN(float)

static cst_status conversion_widen(cst__conversion *c, const cst__view *view, cst__view *out) {
  int64_t n = view->length;
  if (out->dtype == CST_DTYPE_FLOAT64 && cst_dtype_width(view->dtype) == 8) {
    CST__TRY(check_exact(c, view));
  }
  void *to = conversion_take(c, n, cst_dtype_width(out->dtype));
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(rebase(c, view, out));
  out->data = to;
  if (n == 0) {
    return CST_OK;
  }
  const char *from = (const char *)view->data + (size_t)view->offset * cst_dtype_width(view->dtype);
  const void *values = from;
  switch (view->dtype) {
    case CST_DTYPE_INT8:
      widen_int8_t(values, n, out->dtype, to);
      break;
    case CST_DTYPE_INT16:
      widen_int16_t(values, n, out->dtype, to);
      break;
    case CST_DTYPE_INT32:
      widen_int32_t(values, n, out->dtype, to);
      break;
    case CST_DTYPE_UINT8:
      widen_uint8_t(values, n, out->dtype, to);
      break;
    case CST_DTYPE_UINT16:
      widen_uint16_t(values, n, out->dtype, to);
      break;
    case CST_DTYPE_UINT32:
      widen_uint32_t(values, n, out->dtype, to);
      break;
    case CST_DTYPE_INT64:
      widen_int64_t(values, n, out->dtype, to);
      break;
    case CST_DTYPE_UINT64:
      widen_uint64_t(values, n, out->dtype, to);
      break;
    case CST_DTYPE_FLOAT32:
      widen_float(values, n, out->dtype, to);
      break;
    default:
      break;
  }
  return CST_OK;
}

/* ---- binary ---- */

/* Offsets of the target's width: what they reach has to fit it. */
static void put_offset(void *offsets, int width, int64_t i, int64_t value) {
  if (width == 8) {
    ((int64_t *)offsets)[i] = value;
  } else {
    ((int32_t *)offsets)[i] = (int32_t)value;
  }
}

static cst_status check_reach(const cst__conversion *c, int width, int64_t last) {
  return width == 8 || last <= INT32_MAX
             ? CST_OK
             : cst__fail(c->error, CST_LIMIT, "use smaller batches",
                         "offsets of 32 bits do not reach %lld", (long long)last);
}

/* The bytes of views and fixed sizes, one slot's after the other's. */
static cst_status conversion_copy_bytes(cst__conversion *c, const cst__view *view, void *offsets,
                                        cst__view *out) {
  int64_t last = 0;
  for (int64_t i = 0; i < view->length; i++) {
    last += (int64_t)cst__view_bytes(view, i).size;
  }
  CST__TRY(check_reach(c, out->offset_width, last));
  uint8_t *bytes = conversion_take(c, last, 1);
  if (bytes == NULL) {
    return CST_NO_MEMORY;
  }
  out->data = bytes;
  last = 0;
  put_offset(offsets, out->offset_width, 0, 0);
  for (int64_t i = 0; i < view->length; i++) {
    cst_bytes value = cst__view_bytes(view, i);
    if (value.size > 0) {
      memcpy(bytes + last, value.data, value.size);
    }
    last += (int64_t)value.size;
    put_offset(offsets, out->offset_width, i + 1, last);
  }
  return CST_OK;
}

/* The bytes of plain binary columns stay where they are. */
static cst_status convert_binary(cst__conversion *c, const cst__view *view, cst__view *out) {
  if (view->layout == CST__LAYOUT_BINARY && view->offset_width == out->offset_width) {
    out->offsets = view->offsets;
    return CST_OK;
  }
  int width = out->offset_width;
  void *offsets = conversion_take(c, view->length + 1, (size_t)width);
  if (offsets == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(rebase(c, view, out));
  out->offsets = offsets;
  if (view->layout != CST__LAYOUT_BINARY) {
    return conversion_copy_bytes(c, view, offsets, out);
  }
  int64_t last = 0;
  put_offset(offsets, width, 0, 0);
  for (int64_t i = 0; i <= view->length && view->length > 0; i++) {
    last = cst__view_entry(view->offsets, view->offset_width, view->offset + i);
    put_offset(offsets, width, i, last);
  }
  return check_reach(c, width, last);
}

/* ---- lists ---- */

/* The items that the list views refer to, one slot's after the other's, as an array of their own.
 */
static cst_status copy_items(cst__conversion *c, const struct ArrowSchema *schema,
                             const cst__view *view, cst__view *items) {
  struct cst__converted_copy *copied = cst__arena_take_zero(&c->arena, sizeof *copied);
  cst__piece *pieces = conversion_take(c, view->length, sizeof *pieces);
  size_t count = 0;
  if (copied == NULL || pieces == NULL) {
    return cst__fail_memory(c->error, sizeof *copied);
  }
  for (int64_t i = 0; i < view->length; i++) {
    int64_t begin;
    int64_t end;
    cst__view_list(view, i, &begin, &end);
    if (count > 0 && pieces[count - 1].begin + pieces[count - 1].length == begin) {
      pieces[count - 1].length += end - begin;
    } else if (end > begin) {
      pieces[count++] = (cst__piece){&view->children[0], begin, end - begin};
    }
  }
  const struct ArrowSchema *item = schema->children[0];
  CST__TRY(cst__concat(item, pieces, count, &c->arena.allocator, &copied->array, c->error));
  copied->next = c->copied;
  c->copied = copied;
  return cst__view_init(items, item, &copied->array, true, &c->arena, c->error);
}

/* List views may share their items, below each other with each level more: what that adds is
 * bounded by what came in. */
static cst_status list_view_offsets(cst__conversion *c, const cst__view *view, int width,
                                    void *offsets) {
  int64_t items = view->children[0].length;
  if (c->within == 0) {
    c->given += view->length + items;
  }
  int64_t most = c->given > INT64_MAX / MAX_RATIO ? INT64_MAX : c->given * MAX_RATIO;
  most = most > FREE_ITEMS ? most : FREE_ITEMS;
  most = most - c->shared < INT64_MAX - items ? most - c->shared + items : INT64_MAX;
  int64_t total = 0;
  put_offset(offsets, width, 0, 0);
  for (int64_t i = 0; i < view->length; i++) {
    int64_t begin;
    int64_t end;
    cst__view_list(view, i, &begin, &end);
    if (end - begin > most - total) {
      return cst__fail(c->error, CST_LIMIT, "use smaller batches, or large lists",
                       "list views share %lld items so often that lists have more than %lld",
                       (long long)items, (long long)most);
    }
    total += end - begin;
    put_offset(offsets, width, i + 1, total);
  }
  c->shared += total > items ? total - items : 0;
  return check_reach(c, width, total);
}

/* Offsets from 0 on, and the items that they refer to. */
static cst_status list_offsets(cst__conversion *c, const struct ArrowSchema *schema,
                               const cst__view *view, cst__view *out, cst__view *items) {
  int64_t n = view->length;
  int width = out->offset_width;
  void *offsets = conversion_take(c, n + 1, (size_t)width);
  if (offsets == NULL) {
    return CST_NO_MEMORY;
  }
  out->offsets = offsets;
  if (view->layout == CST__LAYOUT_LIST_VIEW) {
    CST__TRY(list_view_offsets(c, view, width, offsets));
    return copy_items(c, schema, view, items);
  }
  bool is_fixed = view->layout == CST__LAYOUT_FIXED_LIST;
  int64_t first = is_fixed ? view->offset * view->fixed_size
                  : n > 0  ? cst__view_entry(view->offsets, view->offset_width, view->offset)
                           : 0;
  int64_t last = 0;
  put_offset(offsets, width, 0, 0);
  for (int64_t i = 1; i <= n; i++) {
    last = is_fixed ? i * view->fixed_size
                    : cst__view_entry(view->offsets, view->offset_width, view->offset + i) - first;
    put_offset(offsets, width, i, last);
  }
  CST__TRY(check_reach(c, width, last));
  return conversion_narrow(c, &view->children[0], first, last, items);
}

static cst_status convert_items(cst__conversion *c, const struct ArrowSchema *schema,
                                const cst__view *items, const cst__view *target, cst__view *out) {
  out->children = conversion_take(c, 1, sizeof *out->children);
  if (out->children == NULL) {
    return CST_NO_MEMORY;
  }
  return cst__view_convert(c, schema->children[0], items, &target->children[0], &out->children[0]);
}

static cst_status convert_list(cst__conversion *c, const struct ArrowSchema *schema,
                               const cst__view *view, const cst__view *target, cst__view *out) {
  cst__view items;
  CST__TRY(rebase(c, view, out));
  CST__TRY(list_offsets(c, schema, view, out, &items));
  int is_copy = view->layout == CST__LAYOUT_LIST_VIEW;
  const cst__above above = {view, out, c->above};
  c->within += is_copy;
  c->above = &above;
  cst_status status = convert_items(c, schema, &items, target, out);
  c->above = above.outer;
  c->within -= is_copy;
  return status;
}

static cst_status convert_fixed_list(cst__conversion *c, const struct ArrowSchema *schema,
                                     const cst__view *view, const cst__view *target,
                                     cst__view *out) {
  cst__view items;
  int64_t size = view->fixed_size;
  CST__TRY(rebase(c, view, out));
  CST__TRY(
      conversion_narrow(c, &view->children[0], view->offset * size, view->length * size, &items));
  const cst__above above = {view, out, c->above};
  c->above = &above;
  cst_status status = convert_items(c, schema, &items, target, out);
  c->above = above.outer;
  return status;
}

/* ---- structs ---- */

static cst_status map_fields(const cst__conversion *c, const cst__view *view, cst__name_map *map) {
  for (int64_t i = 0; i < view->num_children; i++) {
    const char *name = view->children[i].name;
    if (!cst__name_map_add(map, name, strlen(name), (size_t)i)) {
      return cst__fail_memory(c->error, strlen(name));
    }
  }
  return CST_OK;
}

static cst_status convert_fields(cst__conversion *c, const struct ArrowSchema *schema,
                                 const cst__view *view, const cst__view *target,
                                 const cst__name_map *map, cst__view *out) {
  for (int64_t i = 0; i < target->num_children; i++) {
    const cst__view *field = &target->children[i];
    size_t at = cst__name_map_find(map, field->name, strlen(field->name));
    cst_status status =
        at == SIZE_MAX
            ? cst__view_nulls(field, view->length, &c->arena, &out->children[i], c->error)
            : cst__view_convert(c, schema->children[at], &view->children[at], field,
                                &out->children[i]);
    if (status != CST_OK) {
      cst__error_add_path(c->error, field->name, strlen(field->name));
      return status;
    }
  }
  return CST_OK;
}

static cst_status convert_struct(cst__conversion *c, const struct ArrowSchema *schema,
                                 const cst__view *view, const cst__view *target, cst__view *out) {
  cst__name_map map = {0};
  out->children = conversion_take(c, target->num_children, sizeof *out->children);
  if (out->children == NULL) {
    return CST_NO_MEMORY;
  }
  const cst__above above = {view, NULL, c->above};
  cst_status status = map_fields(c, view, &map);
  c->above = &above;
  if (status == CST_OK) {
    status = convert_fields(c, schema, view, target, &map, out);
  }
  c->above = above.outer;
  cst__name_map_reset(&map);
  return status;
}

/* ---- the walk ---- */

cst_status cst__view_convert(cst__conversion *c, const struct ArrowSchema *schema,
                             const cst__view *view, const cst__view *target, cst__view *out) {
  if (view->layout == CST__LAYOUT_NULL && target->layout != CST__LAYOUT_NULL) {
    return cst__view_nulls(target, view->length, &c->arena, out, c->error);
  }
  /* The values of the view, the type of the target. */
  *out = *view;
  out->layout = target->layout;
  out->dtype = target->dtype;
  out->is_string = target->is_string;
  out->offset_width = target->offset_width;
  out->num_children = target->num_children;
  out->fixed_size = target->fixed_size;
  out->name = target->name;
  out->format = target->format;
  switch (target->layout) {
    case CST__LAYOUT_NUMBER:
      return view->dtype == target->dtype ? CST_OK : conversion_widen(c, view, out);
    case CST__LAYOUT_BINARY:
      return convert_binary(c, view, out);
    case CST__LAYOUT_LIST:
      return convert_list(c, schema, view, target, out);
    case CST__LAYOUT_FIXED_LIST:
      return convert_fixed_list(c, schema, view, target, out);
    case CST__LAYOUT_STRUCT:
      return convert_struct(c, schema, view, target, out);
    default: /* equal types, whose children are those of the view */
      out->children = view->children;
      return CST_OK;
  }
}
