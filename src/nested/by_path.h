/* What is known of columns, by their paths: what counts and lengths are made of. A column is one at
 * the top, or a field of a struct that is not in a list.
 */
#ifndef NESTED_BY_PATH_H
#define NESTED_BY_PATH_H

#include "arrow/accumulator.h"
#include "arrow/findings.h"
#include "nested/slots.h"

/* Every item begins with its key: the names on the way to the column with a NUL between ("a.b" may
 * be one name, or two). */
typedef struct cst__by_path {
  cst_allocator allocator;
  cst__arena arena; /* keys */
  size_t item_size;
  char *items; /* in the order of their first appearance */
  size_t count, capacity;
  cst__name_map keys;
} cst__by_path;

void cst__by_path_init(cst__by_path *columns, size_t item_size, const cst_allocator *allocator);
void cst__by_path_reset(cst__by_path *columns);

/* Bytes on the heap, but for what the items own. */
size_t cst__by_path_memory(const cst__by_path *columns);

static inline void *cst__by_path_at(const cst__by_path *columns, size_t i) {
  return columns->items + i * columns->item_size;
}

/* The item of a key; NULL: there is none. */
void *cst__by_path_find(const cst__by_path *columns, cst_bytes key);
/* The item of a key, made of zeros if need be; valid until the next one is made. NULL: no memory.
 */
void *cst__by_path_need(cst__by_path *columns, cst_bytes key);

/* Saves the keys and their number, or reads one and makes its item: `i` is below *count. NULL: the
 * archive is bad. */
void cst__by_path_archive_count(const cst__by_path *columns, cst__archive *a, size_t *count);
void *cst__by_path_archive_key(cst__by_path *columns, cst__archive *a, size_t i);

/* The items sorted by their keys, in the arena; NULL: no memory. */
void **cst__by_path_sort(const cst__by_path *columns, cst__arena *arena);

/* Puts a key as a path: a.b. */
void cst__put_path(cst_findings *findings, cst_bytes key);

/* ---- the columns of a batch ---- */

/* The column at the top of a batch of that name; NULL: there is none. */
const cst__view *cst__column_find(const cst__view *batch, const char *name);
/* True if not all columns at the top are looked at, and this one is not. */
static inline bool cst__column_is_left_out(const cst__name_map *only, const cst__view *column) {
  return only != NULL && cst__name_map_find(only, column->name, strlen(column->name)) == SIZE_MAX;
}

typedef struct cst__column_walk {
  const cst__name_map *only; /* of these columns at the top, and what lies in them; NULL: of all */
  /* Looks at a column, whose slots are hidden by the structs above (NULL: there are none). False:
   * no memory. */
  bool (*look)(void *ctx, cst_bytes key, const cst__view *column, const cst__mask *above);
  void *ctx;
} cst__column_walk;

/* Looks at the columns of a batch, structs before their fields. CST_UNSUPPORTED, before anything is
 * looked at, for a column of list views: lists that share items in several levels would take more
 * time than they have bytes. */
cst_status cst__walk_columns(const cst__column_walk *walk, const cst__view *batch,
                             cst_error *error);

#endif /* NESTED_BY_PATH_H */
