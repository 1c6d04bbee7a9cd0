/* Making views: from an Arrow schema and array to typed, sliced access.
 *
 * The structure (formats, numbers of buffers and children, lengths, alignment) is checked for every
 * view, because it costs nothing per slot; what the slots refer to is checked in view_validate.c.
 * This is not nanoarrow's array view: that one reads buffers[] before it has compared n_buffers,
 * follows children without looking for NULL, and multiplies lengths without a check, so it cannot
 * be given structs from outside.
 */
#include "arrow/view.h"

#include "arrow/view_validate.h"

enum { MAX_DEPTH = 100, MAX_CHILDREN = 1 << 20, MAX_VIEWS = CST__MAX_FIELDS };

typedef struct view_maker {
  cst__arena *arena;
  bool trusted;
  int64_t num_views;
  cst_error *error;
} view_maker;

/* ---- structure ---- */

static cst_status view_check_schema(const view_maker *m, const struct ArrowSchema *schema) {
  if (schema == NULL || schema->release == NULL) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL, "the Arrow schema is %s",
                     schema == NULL ? "missing" : "released");
  }
  if (schema->format == NULL) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL, "the Arrow schema has no format");
  }
  if (schema->n_children < 0 || (schema->n_children > 0 && schema->children == NULL)) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL,
                     "the Arrow schema claims %lld children and has none",
                     (long long)schema->n_children);
  }
  if (schema->n_children > MAX_CHILDREN) {
    return cst__fail(m->error, CST_LIMIT, NULL, "%lld fields in one struct, at most %d are allowed",
                     (long long)schema->n_children, MAX_CHILDREN);
  }
  return CST_OK;
}

static cst_status check_array(const view_maker *m, const struct ArrowArray *array) {
  if (array == NULL || array->release == NULL) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL, "the Arrow array is %s",
                     array == NULL ? "missing" : "released");
  }
  if (array->length < 0 || array->offset < 0 || array->length > CST__MAX_SLOTS - array->offset) {
    return cst__fail(m->error, CST_CORRUPT, NULL, "an array of length %lld and offset %lld",
                     (long long)array->length, (long long)array->offset);
  }
  if (array->null_count < -1 || array->null_count > array->length) {
    return cst__fail(m->error, CST_CORRUPT, NULL, "a null count of %lld in an array of length %lld",
                     (long long)array->null_count, (long long)array->length);
  }
  return CST_OK;
}

static cst_status check_counts(const view_maker *m, const cst__layout_info *f,
                               const struct ArrowSchema *schema, const struct ArrowArray *array) {
  bool is_views = f->layout == CST__LAYOUT_BINARY_VIEW;
  if (f->layout == CST__LAYOUT_NULL || f->layout == CST__LAYOUT_OTHER) {
    return CST_OK;
  }
  if (array->n_buffers != f->num_buffers && !(is_views && array->n_buffers > f->num_buffers)) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL,
                     "an array of type %s has %lld buffers instead of %d", f->name,
                     (long long)array->n_buffers, f->num_buffers);
  }
  if (array->buffers == NULL) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL, "an array of type %s has no buffers",
                     f->name);
  }
  if (array->n_children != schema->n_children ||
      (array->n_children > 0 && array->children == NULL)) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL,
                     "an array of type %s has %lld children, its schema %lld", f->name,
                     (long long)array->n_children, (long long)schema->n_children);
  }
  return CST_OK;
}

static cst_status take_type(const view_maker *m, cst__view *v, const struct ArrowSchema *schema,
                            const cst__layout_info **out) {
  memset(v, 0, sizeof *v);
  const cst__layout_info *f =
      cst__layout_find(schema->dictionary != NULL ? "" : schema->format, &v->fixed_size);
  v->layout = f->layout;
  v->dtype = f->dtype;
  v->is_string = f->is_string;
  v->offset_width = f->offset_width;
  v->schema = schema;
  v->name = schema->name != NULL ? schema->name : "";
  v->format = schema->dictionary != NULL ? "dictionary" : schema->format;
  v->num_children = f->layout == CST__LAYOUT_OTHER ? 0 : schema->n_children;
  *out = f;
  if (f->layout != CST__LAYOUT_OTHER && f->num_children >= 0 &&
      schema->n_children != f->num_children) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL,
                     "a schema of type %s has %lld children instead of %d", f->name,
                     (long long)schema->n_children, f->num_children);
  }
  return CST_OK;
}

static cst_status make_children(view_maker *m, cst__view *v) {
  m->num_views += v->num_children;
  if (m->num_views > MAX_VIEWS) {
    return cst__fail(m->error, CST_LIMIT, NULL, "more than %d fields in one schema", MAX_VIEWS);
  }
  if (v->num_children > 0) {
    size_t size = (size_t)v->num_children * sizeof(cst__view);
    v->children = cst__arena_take_zero(m->arena, size);
    if (v->children == NULL) {
      return cst__fail_memory(m->error, size);
    }
  }
  return CST_OK;
}

/* The type of a dictionary's indices; NONE: it is none for indices. */
static cst_dtype index_type(const struct ArrowSchema *schema) {
  int64_t ignored;
  const cst__layout_info *f = cst__layout_find(schema->format, &ignored);
  bool is_integer = f->layout == CST__LAYOUT_NUMBER && f->dtype != CST_DTYPE_FLOAT32 &&
                    f->dtype != CST_DTYPE_FLOAT64;
  return is_integer ? f->dtype : CST_DTYPE_NONE;
}

/* Room for the values of an encoded column, should it be one. */
static cst_status make_dictionary(view_maker *m, cst__view *v, const struct ArrowSchema *schema) {
  if (schema->dictionary == NULL || index_type(schema) == CST_DTYPE_NONE) {
    return CST_OK;
  }
  v->dtype = index_type(schema);
  m->num_views++;
  v->dictionary = cst__arena_take_zero(m->arena, sizeof *v->dictionary);
  return v->dictionary != NULL ? CST_OK : cst__fail_memory(m->error, sizeof *v->dictionary);
}

static cst_status view_check_depth(const view_maker *m, int depth) {
  if (depth > MAX_DEPTH) {
    return cst__fail(m->error, CST_LIMIT, NULL, "types nested deeper than %d", MAX_DEPTH);
  }
  return CST_OK;
}

/* ---- buffers ---- */

/* What the slots need of buffer `index`: that it is there and aligned to its elements. */
static cst_status check_buffer(const view_maker *m, const struct ArrowArray *array, int index,
                               int align, bool needed) {
  const void *buffer = array->buffers[index];
  if (buffer == NULL && needed) {
    return cst__fail(m->error, CST_CORRUPT, NULL, "buffer %d of an array of length %lld is missing",
                     index, (long long)array->length);
  }
  if ((uintptr_t)buffer % (unsigned)align != 0) {
    return cst__fail(m->error, CST_UNSUPPORTED, "copy the array",
                     "buffer %d is not aligned to %d bytes", index, align);
  }
  return CST_OK;
}

static cst_status take_views(const view_maker *m, cst__view *v, const struct ArrowArray *array) {
  v->num_variadic = array->n_buffers - 3;
  if (v->num_variadic > INT32_MAX) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL, "%lld buffers in one array",
                     (long long)array->n_buffers);
  }
  if (v->num_variadic > 0) {
    CST__TRY(check_buffer(m, array, (int)(array->n_buffers - 1), 8, true));
  }
  v->data = array->buffers[1];
  return check_buffer(m, array, 1, 1, v->length > 0);
}

static cst_status view_take_offsets(const view_maker *m, cst__view *v,
                                    const struct ArrowArray *array) {
  v->offsets = array->buffers[1];
  CST__TRY(check_buffer(m, array, 1, v->offset_width, v->length > 0));
  if (v->layout == CST__LAYOUT_BINARY) {
    v->data = array->buffers[2];
  } else if (v->layout == CST__LAYOUT_LIST_VIEW) {
    v->sizes = array->buffers[2];
    CST__TRY(check_buffer(m, array, 2, v->offset_width, v->length > 0));
  }
  return CST_OK;
}

static cst_status take_fixed_binary(const view_maker *m, cst__view *v,
                                    const struct ArrowArray *array) {
  int64_t bytes;
  v->data = array->buffers[1];
  if (__builtin_mul_overflow(v->offset + v->length, v->fixed_size, &bytes)) {
    return cst__fail(m->error, CST_CORRUPT, NULL, "%lld slots of %lld bytes each",
                     (long long)v->length, (long long)v->fixed_size);
  }
  return check_buffer(m, array, 1, 1, v->length > 0 && v->fixed_size > 0);
}

/* At most 32 bytes a slot: their number does not overflow. Of 16 and 32 bytes the format asks for
 * an alignment of 8 only. */
static cst_status take_opaque(const view_maker *m, cst__view *v, const struct ArrowArray *array) {
  v->data = array->buffers[1];
  return check_buffer(m, array, 1, v->fixed_size < 8 ? (int)v->fixed_size : 8, v->length > 0);
}

static cst_status take_buffers(const view_maker *m, cst__view *v, const struct ArrowArray *array) {
  switch (v->layout) {
    case CST__LAYOUT_BOOL:
      v->data = array->buffers[1];
      return check_buffer(m, array, 1, 1, v->length > 0);
    case CST__LAYOUT_HALF:
      v->data = array->buffers[1];
      return check_buffer(m, array, 1, 2, v->length > 0);
    case CST__LAYOUT_OTHER:
      if (v->dictionary == NULL) {
        return CST_OK;
      }
      v->data = array->buffers[1];
      return check_buffer(m, array, 1, (int)cst_dtype_width(v->dtype), v->length > 0);
    case CST__LAYOUT_NUMBER:
      v->data = array->buffers[1];
      return check_buffer(m, array, 1, (int)cst_dtype_width(v->dtype), v->length > 0);
    case CST__LAYOUT_FIXED_BINARY:
      return take_fixed_binary(m, v, array);
    case CST__LAYOUT_OPAQUE:
      return take_opaque(m, v, array);
    case CST__LAYOUT_BINARY_VIEW:
      return take_views(m, v, array);
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_LIST_VIEW:
      return view_take_offsets(m, v, array);
    case CST__LAYOUT_NULL:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_STRUCT:
      break;
  }
  return CST_OK;
}

/* ---- nulls ---- */

/* The null count of the view's slice. The array's own is compared with its bitmap unless it is
 * trusted; the slice of a parent may be shorter than the array. */
static cst_status take_nulls(const view_maker *m, cst__view *v, const struct ArrowArray *array) {
  if (v->layout == CST__LAYOUT_NULL) {
    v->null_count = v->length;
    return CST_OK;
  }
  if (v->layout == CST__LAYOUT_OTHER && v->dictionary == NULL) {
    return CST_OK;
  }
  const uint8_t *bitmap = array->buffers[0];
  if (bitmap == NULL) {
    if (array->null_count > 0) {
      return cst__fail(m->error, CST_CORRUPT, NULL, "%lld nulls, but no validity bitmap",
                       (long long)array->null_count);
    }
    return CST_OK;
  }
  bool is_sliced = v->length != array->length;
  if (m->trusted && (array->null_count == 0 || (array->null_count > 0 && !is_sliced))) {
    v->null_count = array->null_count;
  } else {
    v->null_count = v->length - cst__bitmap_count(bitmap, v->offset, v->length);
  }
  if (!m->trusted && array->null_count >= 0) {
    int64_t nulls = is_sliced
                        ? array->length - cst__bitmap_count(bitmap, array->offset, array->length)
                        : v->null_count;
    if (nulls != array->null_count) {
      return cst__fail(m->error, CST_CORRUPT, NULL,
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

static cst_status view_build(view_maker *m, cst__view *v, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, extent part, int depth);

static cst_status build_struct(view_maker *m, cst__view *v, const struct ArrowSchema *schema,
                               const struct ArrowArray *array, int depth) {
  extent part = {v->offset, v->length};
  for (int64_t i = 0; i < v->num_children; i++) {
    cst_status status =
        view_build(m, &v->children[i], schema->children[i], array->children[i], part, depth + 1);
    if (status != CST_OK) {
      const struct ArrowSchema *child = schema->children[i];
      if (child != NULL && child->release != NULL && child->name != NULL) {
        cst__error_add_path(m->error, child->name, strlen(child->name));
      }
      return status;
    }
  }
  return CST_OK;
}

static cst_status build_list(view_maker *m, cst__view *v, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, int depth) {
  extent all = {0, -1};
  CST__TRY(view_build(m, &v->children[0], schema->children[0], array->children[0], all, depth + 1));
  int64_t needed;
  if (v->layout != CST__LAYOUT_FIXED_LIST) {
    return CST_OK;
  }
  if (__builtin_mul_overflow(v->offset + v->length, v->fixed_size, &needed) ||
      needed > v->children[0].length) {
    return cst__fail(m->error, CST_CORRUPT, NULL,
                     "a fixed_size_list of %lld x %lld items has only %lld",
                     (long long)(v->offset + v->length), (long long)v->fixed_size,
                     (long long)v->children[0].length);
  }
  return CST_OK;
}

static cst_status build_dictionary(view_maker *m, cst__view *v, const struct ArrowSchema *schema,
                                   const struct ArrowArray *array, int depth) {
  if (array->n_buffers != 2 || array->buffers == NULL || array->dictionary == NULL ||
      array->dictionary->release == NULL) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, NULL, "a dictionary-encoded array has no %s",
                     array->dictionary == NULL ? "dictionary" : "indices");
  }
  extent all = {0, -1};
  return view_build(m, v->dictionary, schema->dictionary, array->dictionary, all, depth + 1);
}

static cst_status view_build(view_maker *m, cst__view *v, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, extent part, int depth) {
  const cst__layout_info *f;
  CST__TRY(view_check_depth(m, depth));
  CST__TRY(view_check_schema(m, schema));
  CST__TRY(check_array(m, array));
  CST__TRY(take_type(m, v, schema, &f));
  CST__TRY(make_dictionary(m, v, schema));
  CST__TRY(check_counts(m, f, schema, array));
  if (v->dictionary != NULL) {
    CST__TRY(build_dictionary(m, v, schema, array, depth));
  }
  v->array = array;
  v->length = part.length >= 0 ? part.length : array->length;
  if (part.skip > array->length || v->length > array->length - part.skip) {
    return cst__fail(m->error, CST_CORRUPT, NULL,
                     "a child of length %lld in a struct of length %lld", (long long)array->length,
                     (long long)(part.skip + v->length));
  }
  v->offset = array->offset + part.skip;
  CST__TRY(take_buffers(m, v, array));
  CST__TRY(take_nulls(m, v, array));
  CST__TRY(make_children(m, v));
  if (v->layout == CST__LAYOUT_STRUCT) {
    CST__TRY(build_struct(m, v, schema, array, depth));
  } else if (cst__view_is_list(v)) {
    CST__TRY(build_list(m, v, schema, array, depth));
  }
  return CST_OK;
}

cst_status cst__view_init(cst__view *view, const struct ArrowSchema *schema,
                          const struct ArrowArray *array, bool trusted, cst__arena *arena,
                          cst_error *error) {
  view_maker m = {arena, trusted, 1, error};
  extent all = {0, -1};
  CST__TRY(view_build(&m, view, schema, array, all, 0));
  if (trusted) {
    return CST_OK;
  }
  CST__TRY(cst__array_check_whole(schema, array, error));
  CST__TRY(cst__validate_backing(view, error));
  return cst__validate_slots(view, 0, view->length, error);
}

static cst_status build_type(view_maker *m, cst__view *v, const struct ArrowSchema *schema,
                             int depth) {
  const cst__layout_info *f;
  CST__TRY(view_check_depth(m, depth));
  CST__TRY(view_check_schema(m, schema));
  CST__TRY(take_type(m, v, schema, &f));
  CST__TRY(make_dictionary(m, v, schema));
  CST__TRY(make_children(m, v));
  if (v->dictionary != NULL) {
    CST__TRY(build_type(m, v->dictionary, schema->dictionary, depth + 1));
  }
  for (int64_t i = 0; i < v->num_children; i++) {
    CST__TRY(build_type(m, &v->children[i], schema->children[i], depth + 1));
  }
  return CST_OK;
}

cst_status cst__view_init_schema(cst__view *view, const struct ArrowSchema *schema,
                                 cst__arena *arena, cst_error *error) {
  view_maker m = {arena, true, 1, error};
  return build_type(&m, view, schema, 0);
}
