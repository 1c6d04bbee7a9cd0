/* Views written out: every slot gets bytes or items of its own, in order. */
#include "arrow/ipc/unview.h"

#include <nanoarrow/nanoarrow.h>
#include <string.h>

#include "arrow/concat.h"
#include "arrow/owned.h"

/* The format that stands for a view's; NULL: it is none. */
static const char *plain_format(const char *format) {
  static const char *const formats[][2] = {{"vz", "Z"}, {"vu", "U"}, {"+vl", "+l"}, {"+vL", "+L"}};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    if (strcmp(format, formats[i][0]) == 0) {
      return formats[i][1];
    }
  }
  return NULL;
}

bool cst__schema_has_views(const struct ArrowSchema *schema) {
  bool found = plain_format(schema->format) != NULL;
  for (int64_t i = 0; i < schema->n_children && !found; i++) {
    found = cst__schema_has_views(schema->children[i]);
  }
  return found;
}

cst_status cst__schema_drop_views(struct ArrowSchema *schema, cst_error *error) {
  const char *format = plain_format(schema->format);
  if (format != NULL && ArrowSchemaSetFormat(schema, format) != NANOARROW_OK) {
    return cst__fail_memory(error, 0);
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    CST__TRY(cst__schema_drop_views(schema->children[i], error));
  }
  return CST_OK;
}

/* ---- one array ---- */

static cst_status copy_validity(const cst__view *view, struct ArrowArray *out, cst_error *error) {
  size_t size = cst__bits_size(view->length);
  out->length = view->length;
  out->null_count = view->null_count;
  if (view->null_count == 0) {
    return CST_OK;
  }
  uint8_t *bitmap = cst__owned_buffer(out, 0, size);
  if (bitmap == NULL) {
    return cst__fail_memory(error, size);
  }
  cst__bits_copy(bitmap, 0, view->validity, view->offset, view->length);
  return CST_OK;
}

static cst_status fill_binary(const cst__view *view, struct ArrowArray *out, cst_error *error) {
  size_t size = ((size_t)view->length + 1) * sizeof(int64_t);
  int64_t *offsets = cst__owned_buffer(out, 1, size);
  CST__TRY(copy_validity(view, out, error));
  if (offsets == NULL) {
    return cst__fail_memory(error, size);
  }
  offsets[0] = 0;
  for (int64_t i = 0; i < view->length; i++) {
    offsets[i + 1] = offsets[i] + (int64_t)cst__view_bytes(view, i).size;
  }
  size = (size_t)offsets[view->length];
  uint8_t *data = cst__owned_buffer(out, 2, size);
  if (data == NULL) {
    return cst__fail_memory(error, size);
  }
  for (int64_t i = 0; i < view->length; i++) {
    cst_bytes bytes = cst__view_bytes(view, i);
    if (bytes.size > 0) {
      memcpy(data + offsets[i], bytes.data, bytes.size);
    }
  }
  return CST_OK;
}

/* The ranges of items that the slots refer to, one after the other. */
typedef struct runs {
  cst_allocator allocator;
  cst__piece *items;
  size_t count;
  size_t capacity;
} runs;

static cst_status add_run(runs *r, const cst__view *items, int64_t begin, int64_t end,
                          cst_error *error) {
  cst__piece *last = r->count > 0 ? &r->items[r->count - 1] : NULL;
  if (end == begin) {
    return CST_OK;
  }
  if (last != NULL && last->begin + last->length == begin) {
    last->length += end - begin;
    return CST_OK;
  }
  void *grown = r->items;
  if (!cst__grow(&r->allocator, &grown, &r->capacity, r->count + 1, sizeof *r->items)) {
    return cst__fail_memory(error, (r->count + 1) * sizeof *r->items);
  }
  r->items = grown;
  r->items[r->count++] = (cst__piece){items, begin, end - begin};
  return CST_OK;
}

static cst_status fill_offsets(const cst__view *view, runs *r, struct ArrowArray *out,
                               cst_error *error) {
  size_t size = ((size_t)view->length + 1) * (size_t)view->offset_width;
  int64_t total = 0;
  void *offsets = cst__owned_buffer(out, 1, size);
  if (offsets == NULL) {
    return cst__fail_memory(error, size);
  }
  memset(offsets, 0, (size_t)view->offset_width);
  for (int64_t i = 0; i < view->length; i++) {
    int64_t begin;
    int64_t end;
    cst__view_list(view, i, &begin, &end);
    CST__TRY(add_run(r, &view->children[0], begin, end, error));
    if (__builtin_add_overflow(total, end - begin, &total) ||
        (view->offset_width == 4 && total > INT32_MAX)) {
      return cst__fail(error, CST_LIMIT, "use smaller batches, or large lists",
                       "views as lists have more items than their offsets reach");
    }
    if (view->offset_width == 8) {
      ((int64_t *)offsets)[i + 1] = total;
    } else {
      ((int32_t *)offsets)[i + 1] = (int32_t)total;
    }
  }
  return CST_OK;
}

static cst_status fill_lists(const struct ArrowSchema *item_schema, const cst__view *view,
                             const cst_allocator *allocator, struct ArrowArray *out,
                             cst_error *error) {
  runs r = {.allocator = cst__allocator_of(allocator)};
  CST__TRY(copy_validity(view, out, error));
  cst_status status = fill_offsets(view, &r, out, error);
  if (status == CST_OK) {
    status = cst__concat(item_schema, r.items, r.count, allocator, out->children[0], error);
  }
  cst__delete(r.items);
  return status;
}

/* Makes the array of a view; the children of lists have no views any more. */
static cst_status write_out(const struct ArrowSchema *schema, const struct ArrowArray *array,
                            const cst_allocator *allocator, struct ArrowArray *out,
                            cst_error *error) {
  cst__arena arena;
  cst__view view;
  cst_allocator own = cst__allocator_of(allocator);
  cst__arena_init(&arena, &own);
  bool is_list = schema->n_children > 0;
  cst_status status = cst__view_init(&view, schema, array, true, &arena, error);
  if (status == CST_OK) {
    status = cst__owned_new(&own, is_list ? 2 : 3, is_list ? 1 : 0, false, out, error);
    if (status == CST_OK) {
      status = is_list ? fill_lists(schema->children[0], &view, &own, out, error)
                       : fill_binary(&view, out, error);
      if (status != CST_OK) {
        cst__array_release(out);
      }
    }
  }
  cst__arena_reset(&arena);
  return status;
}

/* ---- the walk ---- */

static cst_status drop_view(const struct ArrowSchema *schema, const cst_allocator *allocator,
                            struct ArrowArray *array, cst_error *error) {
  struct ArrowSchema now; /* its children are as they are by now */
  struct ArrowArray plain;
  CST__TRY(cst__schema_copy(schema, &now, error));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < now.n_children && status == CST_OK; i++) {
    status = cst__schema_drop_views(now.children[i], error);
  }
  if (status == CST_OK) {
    status = write_out(&now, array, allocator, &plain, error);
  }
  now.release(&now);
  if (status == CST_OK) {
    array->release(array);
    *array = plain;
  }
  return status;
}

cst_status cst__array_drop_views(const struct ArrowSchema *schema, const cst_allocator *allocator,
                                 struct ArrowArray *array, cst_error *error) {
  if (!cst__schema_has_views(schema)) {
    return CST_OK;
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *child = schema->children[i];
    cst_status status = cst__array_drop_views(child, allocator, array->children[i], error);
    if (status != CST_OK) {
      if (strcmp(schema->format, "+s") == 0 && child->name != NULL) {
        cst__error_add_path(error, child->name, strlen(child->name));
      }
      return status;
    }
  }
  return plain_format(schema->format) != NULL ? drop_view(schema, allocator, array, error) : CST_OK;
}
