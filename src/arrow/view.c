/* Making views: from an Arrow schema and array to typed, sliced access.
 *
 * The structure (formats, numbers of buffers and children, lengths, alignment) is checked for every
 * view, because it costs nothing per slot; what the slots refer to is checked in validate.c. This
 * is not nanoarrow's array view: that one reads buffers[] before it has compared n_buffers, follows
 * children without looking for NULL, and multiplies lengths without a check, so it cannot be given
 * structs from outside.
 */
#include "arrow/view.h"

#include <stdio.h>

#include "arrow/validate.h"

enum { MAX_DEPTH = 100, MAX_CHILDREN = 1 << 20, MAX_VIEWS = 1 << 22 };

/* Above this, bytes of a buffer no longer fit 64 bits: no real array is that long. */
#define MAX_SLOTS (INT64_MAX / 64)

typedef struct builder {
  cst__arena *arena;
  bool trusted;
  int64_t num_views;
  cst_error *error;
} builder;

/* ---- structure ---- */

static cst_status view_check_schema(const builder *b, const struct ArrowSchema *schema) {
  if (schema == NULL || schema->release == NULL) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL, "the Arrow schema is %s",
                     schema == NULL ? "missing" : "released");
  }
  if (schema->format == NULL) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL, "the Arrow schema has no format");
  }
  if (schema->n_children < 0 || (schema->n_children > 0 && schema->children == NULL)) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL,
                     "the Arrow schema claims %lld children and has none",
                     (long long)schema->n_children);
  }
  if (schema->n_children > MAX_CHILDREN) {
    return cst__fail(b->error, CST_LIMIT, NULL, "%lld fields in one struct, at most %d are allowed",
                     (long long)schema->n_children, MAX_CHILDREN);
  }
  return CST_OK;
}

static cst_status check_array(const builder *b, const struct ArrowArray *array) {
  if (array == NULL || array->release == NULL) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL, "the Arrow array is %s",
                     array == NULL ? "missing" : "released");
  }
  if (array->length < 0 || array->offset < 0 || array->length > MAX_SLOTS - array->offset) {
    return cst__fail(b->error, CST_CORRUPT, NULL, "an array of length %lld and offset %lld",
                     (long long)array->length, (long long)array->offset);
  }
  if (array->null_count < -1 || array->null_count > array->length) {
    return cst__fail(b->error, CST_CORRUPT, NULL, "a null count of %lld in an array of length %lld",
                     (long long)array->null_count, (long long)array->length);
  }
  return CST_OK;
}

static cst_status check_counts(const builder *b, const cst__layout_info *f,
                               const struct ArrowSchema *schema, const struct ArrowArray *array) {
  bool is_views = f->layout == CST__LAYOUT_BINARY_VIEW;
  if (f->layout == CST__LAYOUT_NULL || f->layout == CST__LAYOUT_OTHER) {
    return CST_OK;
  }
  if (array->n_buffers != f->num_buffers && !(is_views && array->n_buffers > f->num_buffers)) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL,
                     "an array of type %s has %lld buffers instead of %d", f->name,
                     (long long)array->n_buffers, f->num_buffers);
  }
  if (array->buffers == NULL) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL, "an array of type %s has no buffers",
                     f->name);
  }
  if (array->n_children != schema->n_children ||
      (array->n_children > 0 && array->children == NULL)) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL,
                     "an array of type %s has %lld children, its schema %lld", f->name,
                     (long long)array->n_children, (long long)schema->n_children);
  }
  return CST_OK;
}

static cst_status take_type(const builder *b, cst__view *v, const struct ArrowSchema *schema,
                            const cst__layout_info **out) {
  memset(v, 0, sizeof *v);
  const cst__layout_info *f =
      cst__layout_find(schema->dictionary != NULL ? "" : schema->format, &v->fixed_size);
  v->layout = f->layout;
  v->dtype = f->dtype;
  v->is_string = f->is_string;
  v->offset_width = f->offset_width;
  v->name = schema->name != NULL ? schema->name : "";
  v->format = schema->dictionary != NULL ? "dictionary" : schema->format;
  v->num_children = f->layout == CST__LAYOUT_OTHER ? 0 : schema->n_children;
  *out = f;
  if (f->layout != CST__LAYOUT_OTHER && f->num_children >= 0 &&
      schema->n_children != f->num_children) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL,
                     "a schema of type %s has %lld children instead of %d", f->name,
                     (long long)schema->n_children, f->num_children);
  }
  return CST_OK;
}

static cst_status make_children(builder *b, cst__view *v) {
  b->num_views += v->num_children;
  if (b->num_views > MAX_VIEWS) {
    return cst__fail(b->error, CST_LIMIT, NULL, "more than %d fields in one schema", MAX_VIEWS);
  }
  if (v->num_children > 0) {
    size_t size = (size_t)v->num_children * sizeof(cst__view);
    v->children = cst__arena_take_zero(b->arena, size);
    if (v->children == NULL) {
      return cst__fail_memory(b->error, size);
    }
  }
  return CST_OK;
}

static cst_status view_check_depth(const builder *b, int depth) {
  if (depth > MAX_DEPTH) {
    return cst__fail(b->error, CST_LIMIT, NULL, "types nested deeper than %d", MAX_DEPTH);
  }
  return CST_OK;
}

/* ---- buffers ---- */

/* What the slots need of buffer `index`: that it is there and aligned to its elements. */
static cst_status check_buffer(const builder *b, const struct ArrowArray *array, int index,
                               int align, bool needed) {
  const void *buffer = array->buffers[index];
  if (buffer == NULL && needed) {
    return cst__fail(b->error, CST_CORRUPT, NULL, "buffer %d of an array of length %lld is missing",
                     index, (long long)array->length);
  }
  if ((uintptr_t)buffer % (unsigned)align != 0) {
    return cst__fail(b->error, CST_UNSUPPORTED, "copy the array",
                     "buffer %d is not aligned to %d bytes", index, align);
  }
  return CST_OK;
}

static cst_status take_views(const builder *b, cst__view *v, const struct ArrowArray *array) {
  v->num_variadic = array->n_buffers - 3;
  v->variadic = array->buffers + 2;
  if (v->num_variadic > INT32_MAX) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL, "%lld buffers in one array",
                     (long long)array->n_buffers);
  }
  v->variadic_sizes = array->buffers[array->n_buffers - 1];
  if (v->num_variadic > 0) {
    CST__TRY(check_buffer(b, array, (int)(array->n_buffers - 1), 8, true));
  }
  v->data = array->buffers[1];
  return check_buffer(b, array, 1, 1, v->length > 0);
}

static cst_status view_take_offsets(const builder *b, cst__view *v,
                                    const struct ArrowArray *array) {
  v->offsets = array->buffers[1];
  CST__TRY(check_buffer(b, array, 1, v->offset_width, v->length > 0));
  if (v->layout == CST__LAYOUT_BINARY) {
    v->data = array->buffers[2];
  } else if (v->layout == CST__LAYOUT_LIST_VIEW) {
    v->sizes = array->buffers[2];
    CST__TRY(check_buffer(b, array, 2, v->offset_width, v->length > 0));
  }
  return CST_OK;
}

static cst_status take_fixed_binary(const builder *b, cst__view *v,
                                    const struct ArrowArray *array) {
  int64_t bytes;
  v->data = array->buffers[1];
  if (__builtin_mul_overflow(v->offset + v->length, v->fixed_size, &bytes)) {
    return cst__fail(b->error, CST_CORRUPT, NULL, "%lld slots of %lld bytes each",
                     (long long)v->length, (long long)v->fixed_size);
  }
  return check_buffer(b, array, 1, 1, v->length > 0 && v->fixed_size > 0);
}

/* At most 32 bytes a slot: their number does not overflow. Of 16 and 32 bytes the format asks for
 * an alignment of 8 only. */
static cst_status take_opaque(const builder *b, cst__view *v, const struct ArrowArray *array) {
  v->data = array->buffers[1];
  return check_buffer(b, array, 1, v->fixed_size < 8 ? (int)v->fixed_size : 8, v->length > 0);
}

static cst_status take_buffers(const builder *b, cst__view *v, const struct ArrowArray *array) {
  switch (v->layout) {
    case CST__LAYOUT_BOOL:
      v->data = array->buffers[1];
      return check_buffer(b, array, 1, 1, v->length > 0);
    case CST__LAYOUT_HALF:
      v->data = array->buffers[1];
      return check_buffer(b, array, 1, 2, v->length > 0);
    case CST__LAYOUT_NUMBER:
      v->data = array->buffers[1];
      return check_buffer(b, array, 1, (int)cst_dtype_width(v->dtype), v->length > 0);
    case CST__LAYOUT_FIXED_BINARY:
      return take_fixed_binary(b, v, array);
    case CST__LAYOUT_OPAQUE:
      return take_opaque(b, v, array);
    case CST__LAYOUT_BINARY_VIEW:
      return take_views(b, v, array);
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_LIST_VIEW:
      return view_take_offsets(b, v, array);
    case CST__LAYOUT_NULL:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_STRUCT:
    case CST__LAYOUT_OTHER:
      break;
  }
  return CST_OK;
}

/* ---- nulls ---- */

int64_t cst__bitmap_count(const uint8_t *bitmap, int64_t offset, int64_t length) {
  int64_t count = 0;
  int64_t at = offset;
  int64_t end = offset + length;
  for (; at < end && (at & 7) != 0; at++) {
    count += (bitmap[at >> 3] >> (at & 7)) & 1;
  }
  for (; end - at >= 64; at += 64) {
    uint64_t word;
    memcpy(&word, bitmap + (at >> 3), 8);
    count += __builtin_popcountll(word);
  }
  for (; at < end; at++) {
    count += (bitmap[at >> 3] >> (at & 7)) & 1;
  }
  return count;
}

/* The null count of the view's slice. The array's own is compared with its bitmap unless it is
 * trusted; the slice of a parent may be shorter than the array. */
static cst_status take_nulls(const builder *b, cst__view *v, const struct ArrowArray *array) {
  if (v->layout == CST__LAYOUT_NULL) {
    v->null_count = v->length;
    return CST_OK;
  }
  if (v->layout == CST__LAYOUT_OTHER) {
    return CST_OK;
  }
  const uint8_t *bitmap = array->buffers[0];
  if (bitmap == NULL) {
    if (array->null_count > 0) {
      return cst__fail(b->error, CST_CORRUPT, NULL, "%lld nulls, but no validity bitmap",
                       (long long)array->null_count);
    }
    return CST_OK;
  }
  bool is_sliced = v->length != array->length;
  if (b->trusted && (array->null_count == 0 || (array->null_count > 0 && !is_sliced))) {
    v->null_count = array->null_count;
  } else {
    v->null_count = v->length - cst__bitmap_count(bitmap, v->offset, v->length);
  }
  if (!b->trusted && array->null_count >= 0) {
    int64_t nulls = is_sliced
                        ? array->length - cst__bitmap_count(bitmap, array->offset, array->length)
                        : v->null_count;
    if (nulls != array->null_count) {
      return cst__fail(b->error, CST_CORRUPT, NULL,
                       "a null count of %lld, but %lld nulls in the validity bitmap",
                       (long long)array->null_count, (long long)nulls);
    }
  }
  v->validity = v->null_count > 0 ? bitmap : NULL;
  return CST_OK;
}

/* ---- the walk ---- */

/* A part of an array: the slots of it that the parent's slice covers. */
typedef struct extent {
  int64_t skip;   /* slots to leave out at the start */
  int64_t length; /* -1: all that follow */
} extent;

static cst_status view_build(builder *b, cst__view *v, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, extent part, int depth);

static cst_status build_struct(builder *b, cst__view *v, const struct ArrowSchema *schema,
                               const struct ArrowArray *array, int depth) {
  extent part = {v->offset, v->length};
  for (int64_t i = 0; i < v->num_children; i++) {
    cst_status status =
        view_build(b, &v->children[i], schema->children[i], array->children[i], part, depth + 1);
    if (status != CST_OK) {
      const struct ArrowSchema *child = schema->children[i];
      if (child != NULL && child->release != NULL && child->name != NULL) {
        cst__error_add_path(b->error, child->name, strlen(child->name));
      }
      return status;
    }
  }
  return CST_OK;
}

static cst_status build_list(builder *b, cst__view *v, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, int depth) {
  extent all = {0, -1};
  CST__TRY(view_build(b, &v->children[0], schema->children[0], array->children[0], all, depth + 1));
  int64_t needed;
  if (v->layout != CST__LAYOUT_FIXED_LIST) {
    return CST_OK;
  }
  if (__builtin_mul_overflow(v->offset + v->length, v->fixed_size, &needed) ||
      needed > v->children[0].length) {
    return cst__fail(b->error, CST_CORRUPT, NULL,
                     "a fixed_size_list of %lld x %lld items has only %lld",
                     (long long)(v->offset + v->length), (long long)v->fixed_size,
                     (long long)v->children[0].length);
  }
  return CST_OK;
}

static cst_status view_build(builder *b, cst__view *v, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, extent part, int depth) {
  const cst__layout_info *f;
  CST__TRY(view_check_depth(b, depth));
  CST__TRY(view_check_schema(b, schema));
  CST__TRY(check_array(b, array));
  CST__TRY(take_type(b, v, schema, &f));
  CST__TRY(check_counts(b, f, schema, array));
  v->length = part.length >= 0 ? part.length : array->length;
  if (part.skip > array->length || v->length > array->length - part.skip) {
    return cst__fail(b->error, CST_CORRUPT, NULL,
                     "a child of length %lld in a struct of length %lld", (long long)array->length,
                     (long long)(part.skip + v->length));
  }
  v->offset = array->offset + part.skip;
  CST__TRY(take_buffers(b, v, array));
  CST__TRY(take_nulls(b, v, array));
  CST__TRY(make_children(b, v));
  if (v->layout == CST__LAYOUT_STRUCT) {
    CST__TRY(build_struct(b, v, schema, array, depth));
  } else if (cst__view_is_list(v)) {
    CST__TRY(build_list(b, v, schema, array, depth));
  }
  return CST_OK;
}

cst_status cst__view_init(cst__view *view, const struct ArrowSchema *schema,
                          const struct ArrowArray *array, bool trusted, cst__arena *arena,
                          cst_error *error) {
  builder b = {arena, trusted, 1, error};
  extent all = {0, -1};
  CST__TRY(view_build(&b, view, schema, array, all, 0));
  if (trusted) {
    return CST_OK;
  }
  CST__TRY(cst__validate_backing(view, error));
  return cst__validate_slots(view, 0, view->length, error);
}

static cst_status build_type(builder *b, cst__view *v, const struct ArrowSchema *schema,
                             int depth) {
  const cst__layout_info *f;
  CST__TRY(view_check_depth(b, depth));
  CST__TRY(view_check_schema(b, schema));
  CST__TRY(take_type(b, v, schema, &f));
  CST__TRY(make_children(b, v));
  for (int64_t i = 0; i < v->num_children; i++) {
    CST__TRY(build_type(b, &v->children[i], schema->children[i], depth + 1));
  }
  return CST_OK;
}

cst_status cst__view_init_schema(cst__view *view, const struct ArrowSchema *schema,
                                 cst__arena *arena, cst_error *error) {
  builder b = {arena, true, 1, error};
  return build_type(&b, view, schema, 0);
}

/* ---- access ---- */

/* One entry of a binary_view: "Variable-size binary view layout" of the columnar format. */
typedef struct view_entry {
  int32_t size;
  uint8_t prefix[4]; /* of the bytes; up to 12 bytes lie here and in what follows */
  int32_t buffer;
  int32_t offset;
} view_entry;

enum { MAX_INLINE = 12 };

static cst_bytes view_bytes(const cst__view *v, int64_t at) {
  const uint8_t *slot = (const uint8_t *)v->data + at * 16;
  view_entry entry;
  memcpy(&entry, slot, sizeof entry);
  if (entry.size <= MAX_INLINE) {
    return (cst_bytes){slot + 4, (size_t)entry.size};
  }
  return (cst_bytes){(const uint8_t *)v->variadic[entry.buffer] + entry.offset, (size_t)entry.size};
}

cst_bytes cst__view_bytes(const cst__view *v, int64_t i) {
  int64_t at = v->offset + i;
  if (cst__view_is_null(v, i)) {
    return (cst_bytes){NULL, 0};
  }
  switch (v->layout) {
    case CST__LAYOUT_BINARY_VIEW:
      return view_bytes(v, at);
    case CST__LAYOUT_FIXED_BINARY:
      if (v->fixed_size == 0) {
        return (cst_bytes){NULL, 0};
      }
      return (cst_bytes){(const uint8_t *)v->data + at * v->fixed_size, (size_t)v->fixed_size};
    default: {
      int64_t begin = cst__view_entry(v->offsets, v->offset_width, at);
      int64_t size = cst__view_entry(v->offsets, v->offset_width, at + 1) - begin;
      return (cst_bytes){size == 0 ? NULL : (const uint8_t *)v->data + begin, (size_t)size};
    }
  }
}

void cst__view_list(const cst__view *v, int64_t i, int64_t *begin, int64_t *end) {
  int64_t at = v->offset + i;
  *begin = *end = 0;
  if (cst__view_is_null(v, i)) {
    return;
  }
  if (v->layout == CST__LAYOUT_FIXED_LIST) {
    *begin = at * v->fixed_size;
    *end = *begin + v->fixed_size;
    return;
  }
  *begin = cst__view_entry(v->offsets, v->offset_width, at);
  *end = v->layout == CST__LAYOUT_LIST ? cst__view_entry(v->offsets, v->offset_width, at + 1)
                                       : *begin + cst__view_entry(v->sizes, v->offset_width, at);
}

/* ---- names of types ---- */

void cst__view_type_name(const cst__view *v, char *buf, size_t n) {
  const char *name = v->layout == CST__LAYOUT_OTHER && strcmp(v->format, "dictionary") == 0
                         ? "dictionary"
                         : cst__layout_name(v->format);
  if (n == 0) {
    return;
  }
  if (v->layout == CST__LAYOUT_STRUCT) {
    snprintf(buf, n, "struct<%lld fields>", (long long)v->num_children);
  } else if (cst__view_is_list(v) && n > 2) {
    char item[64];
    cst__view_type_name(&v->children[0], item, n - 2 < sizeof item ? n - 2 : sizeof item);
    if (v->layout == CST__LAYOUT_FIXED_LIST) {
      snprintf(buf, n, "%s<%s>[%lld]", name, item, (long long)v->fixed_size);
    } else {
      snprintf(buf, n, "%s<%s>", name, item);
    }
  } else {
    snprintf(buf, n, "%s", name);
  }
}

/* ---- types that are not supported ---- */

cst_status cst__schema_check_types(const struct ArrowSchema *schema, cst_error *error) {
  int64_t ignored;
  cst_status status = CST_OK;
  if (cst__layout_find(schema->format, &ignored)->layout == CST__LAYOUT_OTHER) {
    status = cst__fail(error, CST_UNSUPPORTED, "cast the column, or leave it out",
                       "a column of type %s is not supported", cst__layout_name(schema->format));
  } else if (schema->dictionary != NULL) {
    status = cst__schema_check_types(schema->dictionary, error);
  }
  for (int64_t i = 0; i < schema->n_children && status == CST_OK; i++) {
    const struct ArrowSchema *child = schema->children[i];
    status = cst__schema_check_types(child, error);
    if (status != CST_OK && strcmp(schema->format, "+s") == 0 && child->name != NULL) {
      cst__error_add_path(error, child->name, strlen(child->name));
    }
  }
  return status;
}

/* ---- children by name ---- */

bool cst__view_index(const cst__view *view, cst__name_map *children) {
  bool is_struct = view->layout == CST__LAYOUT_STRUCT;
  for (int64_t i = 0; i < view->num_children; i++) {
    const cst__view *child = &view->children[i];
    size_t size = is_struct ? strlen(child->name) : 0;
    if (is_struct && cst__name_map_find_of(children, view, child->name, size) == SIZE_MAX &&
        !cst__name_map_add_of(children, view, child->name, size, (size_t)i)) {
      return false;
    }
    if (!cst__view_index(child, children)) {
      return false;
    }
  }
  return true;
}
