/* Findings of a record batch, which is what cst_findings_batch gives, or what has become of one on
 * its way through files and other programs.
 */
#include <stdlib.h>
#include <string.h>

#include "arrow/findings.h"
#include "arrow/view.h"
#include "base/arguments.h"

/* ---- types ---- */

static cst_status fail_type(const cst__view *view, cst_error *error) {
  char name[64];
  cst__view_type_name(view, name, sizeof name);
  cst_status status =
      cst__fail(error, CST_UNSUPPORTED, NULL, "findings have no column of type %s", name);
  cst__error_add_path(error, view->name, strlen(view->name));
  return status;
}

static const char *format_of(const cst__view *view) {
  if (view->layout == CST__LAYOUT_BINARY || view->layout == CST__LAYOUT_BINARY_VIEW) {
    return view->is_string ? "u" : "z";
  }
  if (view->layout == CST__LAYOUT_BOOL) {
    return "b";
  }
  if (view->layout == CST__LAYOUT_NUMBER) {
    return view->dtype == CST_DTYPE_FLOAT32 || view->dtype == CST_DTYPE_FLOAT64 ? "g" : "l";
  }
  /* Views may hold the same items again and again. */
  return cst__view_is_list(view) && view->layout != CST__LAYOUT_LIST_VIEW ? "+l" : NULL;
}

static cst_status read_columns(const cst__view *views, size_t count, size_t depth,
                               cst__arena *arena, cst__finding_column **out, cst_error *error);

static cst_status read_column(const cst__view *view, size_t depth, cst__arena *arena,
                              cst__finding_column *column, cst_error *error) {
  cst__finding_column *items = NULL;
  *column = (cst__finding_column){.name = cst__arena_copy(arena, view->name, strlen(view->name)),
                                  .format = format_of(view),
                                  .is_nullable = (view->schema->flags & ARROW_FLAG_NULLABLE) != 0};
  if (column->name == NULL) {
    return cst__fail_memory(error, strlen(view->name));
  }
  if (column->format == NULL || (cst__view_is_list(view) && depth == CST__MAX_FOUND_DEPTH)) {
    return fail_type(view, error);
  }
  if (!cst__view_is_list(view)) {
    return CST_OK;
  }
  const cst__view *item = &view->children[0];
  if (item->layout == CST__LAYOUT_STRUCT) {
    column->num_items = (size_t)item->num_children;
    CST__TRY(read_columns(item->children, column->num_items, depth + 1, arena, &items, error));
  } else {
    column->num_items = 1;
    CST__TRY(read_columns(item, 1, depth + 1, arena, &items, error));
    items[0].name = NULL;
  }
  column->items = items;
  return column->num_items > 0 ? CST_OK : fail_type(item, error);
}

static cst_status read_columns(const cst__view *views, size_t count, size_t depth,
                               cst__arena *arena, cst__finding_column **out, cst_error *error) {
  *out = cst__arena_take_items(arena, (int64_t)count, sizeof **out);
  if (*out == NULL) {
    return cst__fail_memory(error, count * sizeof **out);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(read_column(&views[i], depth, arena, &(*out)[i], error));
  }
  return CST_OK;
}

/* ---- cells ---- */

static void put_cell(cst_findings *found, const cst__view *view, int64_t i);

static void put_list(cst_findings *found, const cst__view *view, int64_t i) {
  int64_t begin, end;
  const cst__view *item = &view->children[0];
  const bool is_struct = item->layout == CST__LAYOUT_STRUCT;
  cst__view_list(view, i, &begin, &end);
  cst__open_list(found);
  for (int64_t k = begin; k < end; k++) {
    for (int64_t field = 0; is_struct && field < item->num_children; field++) {
      if (cst__view_is_null(item, k)) {
        cst__put_null(found);
      } else {
        put_cell(found, &item->children[field], k);
      }
    }
    if (!is_struct) {
      put_cell(found, item, k);
    }
  }
  cst__close_list(found);
}

static double real_of(const cst__view *view, int64_t i) {
  return view->dtype == CST_DTYPE_FLOAT32 ? (double)((const float *)view->data)[view->offset + i]
                                          : ((const double *)view->data)[view->offset + i];
}

static void put_cell(cst_findings *found, const cst__view *view, int64_t i) {
  if (cst__view_is_null(view, i)) {
    cst__put_null(found);
  } else if (cst__view_is_list(view)) {
    put_list(found, view, i);
  } else if (view->layout == CST__LAYOUT_BOOL) {
    cst__put_signed(found, cst__view_bool(view, i));
  } else if (view->layout != CST__LAYOUT_NUMBER) {
    const cst_bytes bytes = cst__view_bytes(view, i);
    cst__put_bytes(found, bytes.data, bytes.size);
  } else if (view->dtype == CST_DTYPE_FLOAT32 || view->dtype == CST_DTYPE_FLOAT64) {
    cst__put_real(found, real_of(view, i));
  } else {
    cst__put_signed(found, cst__view_int(view, i));
  }
}

/* ---- name and totals ---- */

static const char *take_entry(const char **at, cst__arena *arena) {
  int32_t size;
  memcpy(&size, *at, sizeof size);
  const char *copy = cst__arena_copy(arena, *at + sizeof size, (size_t)size);
  *at += sizeof size + (size_t)size;
  return copy;
}

static bool is_total(const char *text) {
  const size_t digits = strspn(text, "0123456789");
  return digits > 0 && digits < 19 && text[digits] == '\0';
}

/* Entries that are no totals are of other programs. */
static cst_status read_metadata(const char *metadata, cst__arena *arena, cst__finding_type *type,
                                cst_findings *found, cst_error *error) {
  int32_t count = 0;
  if (metadata != NULL) {
    memcpy(&count, metadata, sizeof count);
    metadata += sizeof count;
  }
  for (int32_t i = 0; i < count; i++) {
    const char *key = take_entry(&metadata, arena);
    const char *value = take_entry(&metadata, arena);
    if (key == NULL || value == NULL) {
      return cst__fail_memory(error, 1);
    }
    if (strcmp(key, "findings") == 0) {
      type->name = value;
    } else if (is_total(value)) {
      cst__put_total(found, key, strtoull(value, NULL, 10));
    }
  }
  return CST_OK;
}

static cst_status read_batch(const cst__view *root, const struct ArrowSchema *schema,
                             cst__arena *arena, cst_findings **out, cst_error *error) {
  cst__finding_column *columns;
  cst__finding_type *type = cst__arena_take_zero(arena, sizeof *type);
  cst_findings *found;
  const size_t count = (size_t)root->num_children;
  if (type == NULL) {
    return cst__fail_memory(error, sizeof *type);
  }
  CST__TRY(read_columns(root->children, count, 1, arena, &columns, error));
  *type = (cst__finding_type){"findings", columns, count};
  CST__TRY(cst__findings_new(type, &arena->allocator, &found, error));
  cst_status status = read_metadata(schema->metadata, arena, type, found, error);
  if (status != CST_OK) {
    cst_findings_free(found);
    return status;
  }
  for (int64_t row = 0; row < root->length; row++) {
    for (size_t i = 0; i < count; i++) {
      put_cell(found, &root->children[i], row);
    }
  }
  CST__TRY(cst__findings_finish(found, &found, error));
  cst__findings_keep(found, arena);
  *out = found;
  return CST_OK;
}

cst_status cst_findings_from_batch(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                   const cst_allocator *allocator, cst_findings **out,
                                   cst_error *error) {
  cst__arena views, types;
  cst__view root;
  CST__CLEAR(out);
  if (schema == NULL || array == NULL || out == NULL) {
    return cst__missing(schema == NULL ? "schema" : array == NULL ? "array" : "out", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  cst__arena_init(&views, allocator);
  cst__arena_init(&types, allocator);
  cst_status status = cst__view_init(&root, schema, array, false, &views, error);
  if (status == CST_OK && (root.layout != CST__LAYOUT_STRUCT || root.num_children == 0)) {
    status = cst__fail(error, CST_INVALID_ARGUMENT, NULL, "findings are a batch of columns");
  }
  status = status == CST_OK ? cst__view_refuse_nulls(&root, "findings", error) : status;
  status = status == CST_OK ? read_batch(&root, schema, &types, out, error) : status;
  cst__arena_reset(&views);
  cst__arena_reset(&types);
  return status;
}
