/* Columns by their paths. */
#include "nested/by_path.h"

#include <stdlib.h>

#include "base/bytes.h"

void cst__by_path_init(cst__by_path *columns, size_t item_size, const cst_allocator *allocator) {
  *columns = (cst__by_path){.allocator = cst__allocator_of(allocator), .item_size = item_size};
  cst__arena_init(&columns->arena, allocator);
}

void cst__by_path_reset(cst__by_path *columns) {
  cst__name_map_reset(&columns->keys);
  cst__delete(columns->items);
  cst__arena_reset(&columns->arena);
}

size_t cst__by_path_memory(const cst__by_path *columns) {
  return columns->capacity * columns->item_size + cst__arena_memory(&columns->arena) +
         columns->keys.num_slots * sizeof *columns->keys.slots;
}

void *cst__by_path_find(const cst__by_path *columns, cst_bytes key) {
  size_t at = cst__name_map_find(&columns->keys, (const char *)key.data, key.size);
  return at != SIZE_MAX ? cst__by_path_at(columns, at) : NULL;
}

void *cst__by_path_need(cst__by_path *columns, cst_bytes key) {
  void *known = cst__by_path_find(columns, key);
  if (known != NULL) {
    return known;
  }
  void *items = columns->items;
  bool grown = cst__grow(&columns->allocator, &items, &columns->capacity, columns->count + 1,
                         columns->item_size);
  columns->items = items;
  const char *copy = grown ? cst__arena_copy(&columns->arena, key.data, key.size) : NULL;
  if (copy == NULL || !cst__name_map_add(&columns->keys, copy, key.size, columns->count)) {
    return NULL;
  }
  void *item = cst__by_path_at(columns, columns->count++);
  const cst_bytes kept = {(const uint8_t *)copy, key.size};
  memset(item, 0, columns->item_size);
  memcpy(item, &kept, sizeof kept);
  return item;
}

void cst__by_path_archive_count(const cst__by_path *columns, cst__archive *a, size_t *count) {
  *count = columns->count;
  cst__archive_count(a, count);
}

void *cst__by_path_archive_key(cst__by_path *columns, cst__archive *a, size_t i) {
  bool loads = cst__archive_loads(a);
  cst_bytes key = {NULL, 0};
  if (!loads) {
    memcpy(&key, cst__by_path_at(columns, i), sizeof key);
  }
  cst__archive_bytes(a, &key);
  if (a->bad || !loads) {
    return a->bad ? NULL : cst__by_path_at(columns, i);
  }
  void *made = cst__by_path_need(columns, key);
  if (made == NULL) {
    cst__archive_fail_memory(a);
    return NULL;
  }
  cst__archive_check(a, columns->count == i + 1); /* no key comes twice */
  return a->bad ? NULL : made;
}

static int compare_keys(const void *a, const void *b) {
  cst_bytes x, y;
  memcpy(&x, *(void *const *)a, sizeof x);
  memcpy(&y, *(void *const *)b, sizeof y);
  return cst__bytes_compare(x, y);
}

void **cst__by_path_sort(const cst__by_path *columns, cst__arena *arena) {
  void **sorted = cst__arena_take(arena, (columns->count + 1) * sizeof *sorted);
  for (size_t i = 0; sorted != NULL && i < columns->count; i++) {
    sorted[i] = cst__by_path_at(columns, i);
  }
  if (sorted != NULL && columns->count > 1) {
    qsort(sorted, columns->count, sizeof *sorted, compare_keys);
  }
  return sorted;
}

void cst__put_path(cst_findings *findings, cst_bytes key) {
  cst__text path = {0};
  cst__text_append(&path, key.data, key.size);
  for (size_t i = 0; !path.failed && i < path.size; i++) {
    path.data[i] = path.data[i] != '\0' ? path.data[i] : '.';
  }
  cst__put_bytes(findings, path.failed ? NULL : path.data, path.failed ? SIZE_MAX : path.size);
  cst__text_free(&path);
}

/* ---- the columns of a batch ---- */

const cst__view *cst__column_find(const cst__view *batch, const char *name) {
  for (int64_t i = 0; i < batch->num_children; i++) {
    if (strcmp(batch->children[i].name, name) == 0) {
      return &batch->children[i];
    }
  }
  return NULL;
}

static cst_status refuse_list_views(const cst__view *column, cst_error *error) {
  for (const cst__view *v = column; cst__view_is_list(v); v = &v->children[0]) {
    if (v->layout == CST__LAYOUT_LIST_VIEW) {
      return cst__fail(error, CST_UNSUPPORTED, "cast the list views to lists",
                       "a column of list views cannot be counted");
    }
  }
  return CST_OK;
}

static cst_status check_columns(const cst__view *fields, const cst__name_map *only,
                                cst_error *error) {
  for (int64_t i = 0; i < fields->num_children; i++) {
    const cst__view *column = &fields->children[i];
    cst_status status = cst__column_is_left_out(only, column)  ? CST_OK
                        : column->layout == CST__LAYOUT_STRUCT ? check_columns(column, NULL, error)
                                                               : refuse_list_views(column, error);
    if (status != CST_OK) {
      cst__error_add_path(error, column->name, strlen(column->name));
      return status;
    }
  }
  return CST_OK;
}

static bool walk_fields(const cst__column_walk *walk, const cst__view *fields,
                        const cst__mask *above, cst__text *key) {
  size_t parent = key->size;
  for (int64_t i = 0; i < fields->num_children; i++) {
    const cst__view *column = &fields->children[i];
    if (above == NULL && cst__column_is_left_out(walk->only, column)) {
      continue;
    }
    key->size = parent;
    cst__text_append(key, "", above != NULL);
    cst__text_append(key, column->name, strlen(column->name));
    if (key->failed ||
        !walk->look(walk->ctx, (cst_bytes){(const uint8_t *)key->data, key->size}, column, above)) {
      return false;
    }
    const cst__mask inner = {column, above};
    if (column->layout == CST__LAYOUT_STRUCT && !walk_fields(walk, column, &inner, key)) {
      return false;
    }
  }
  key->size = parent;
  return true;
}

cst_status cst__walk_columns(const cst__column_walk *walk, const cst__view *batch,
                             cst_error *error) {
  cst__text key = {0};
  CST__TRY(check_columns(batch, walk->only, error));
  bool ok = walk_fields(walk, batch, NULL, &key);
  cst__text_free(&key);
  return ok ? CST_OK : cst__fail_memory(error, sizeof(cst_bytes));
}
