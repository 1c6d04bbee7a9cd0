/* Concatenation of arrays whose types need not be the same: all are viewed as of the type that
 * holds them all, and these views are joined. What has that type already is copied once.
 */
#include "table/unite.h"

#include <string.h>

#include "arrow/concat.h"
#include "arrow/owned.h"
#include "base/hash.h"
#include "table/convert.h"
#include "table/promote.h"

typedef struct uniting {
  const cst_array *const *arrays;
  size_t count;
  const cst_allocator *allocator;
  cst__conversion conversion;
  cst__view *views;   /* one per array */
  cst__piece *pieces; /* of the views, or of those that they became */
  cst_error *error;
} uniting;

/* ---- arrays of one type ---- */

static bool is_same_type(const cst_array *a, const cst_array *b) {
  return a->schema == b->schema || cst__schema_equal(a->schema, b->schema);
}

static bool are_all_same(const uniting *u) {
  for (size_t i = 1; i < u->count; i++) {
    if (!is_same_type(u->arrays[0], u->arrays[i])) {
      return false;
    }
  }
  return true;
}

/* What merging types refuses as well: which one is meant by a name would be open. */
static cst_status check_names(const struct ArrowSchema *schema, cst_error *error) {
  cst__name_map map = {0};
  cst_status status = CST_OK;
  for (int64_t i = 0; i < schema->n_children && status == CST_OK; i++) {
    const char *name = schema->children[i]->name != NULL ? schema->children[i]->name : "";
    if (cst__name_map_find(&map, name, strlen(name)) != SIZE_MAX) {
      status = cst__fail(error, CST_INVALID_ARGUMENT, "rename one of them",
                         "two columns have this name");
      cst__error_add_path(error, name, strlen(name));
    } else if (!cst__name_map_add(&map, name, strlen(name), (size_t)i)) {
      status = cst__fail_memory(error, strlen(name));
    }
  }
  cst__name_map_reset(&map);
  return status;
}

/* ---- joining ---- */

static cst_status concat_take_views(uniting *u) {
  size_t size;
  cst__arena *arena = &u->conversion.arena;
  if (!cst__mul(u->count, sizeof *u->views + sizeof *u->pieces, &size)) {
    return cst__fail_memory(u->error, SIZE_MAX);
  }
  u->views = cst__arena_take(arena, u->count * sizeof *u->views);
  u->pieces = cst__arena_take(arena, u->count * sizeof *u->pieces);
  if (u->views == NULL || u->pieces == NULL) {
    return cst__fail_memory(u->error, size);
  }
  for (size_t i = 0; i < u->count; i++) {
    CST__TRY(cst__array_view(u->arrays[i], &u->views[i], arena, u->error));
    u->pieces[i] = (cst__piece){&u->views[i], 0, u->views[i].length};
  }
  return CST_OK;
}

static cst_status join_same(uniting *u, cst_array **out) {
  const cst_array *first = u->arrays[0];
  struct ArrowArray made;
  CST__TRY(concat_take_views(u));
  CST__TRY(cst__concat(first->schema, u->pieces, u->count, u->allocator, &made, u->error));
  return cst__array_result(first, first->schema, &made, out, u->error);
}

static cst_status merge_types(uniting *u, struct ArrowSchema *out) {
  cst__merged *tree = NULL;
  cst__arena *arena = &u->conversion.arena;
  cst_status status = CST_OK;
  for (size_t i = 0; i < u->count && status == CST_OK; i++) {
    status = cst__merge_type(&tree, u->arrays[i]->schema, &u->views[i], arena, u->error);
  }
  if (status == CST_OK) {
    status = cst__merge_finish(tree, arena, out, u->error);
  }
  cst__merge_free(tree);
  return status;
}

static cst_status join_converted(uniting *u, cst_array **out) {
  cst__view target;
  struct ArrowSchema schema;
  struct ArrowArray made;
  CST__TRY(concat_take_views(u));
  CST__TRY(merge_types(u, &schema));
  CST__TRY(cst__view_init_schema(&target, &schema, &u->conversion.arena, u->error));
  cst__view *views = cst__arena_take(&u->conversion.arena, u->count * sizeof *views);
  if (views == NULL) {
    return cst__fail_memory(u->error, u->count * sizeof *views);
  }
  for (size_t i = 0; i < u->count; i++) {
    CST__TRY(
        cst__view_convert(&u->conversion, u->arrays[i]->schema, &u->views[i], &target, &views[i]));
    u->pieces[i].view = &views[i];
  }
  CST__TRY(cst__concat(&schema, u->pieces, u->count, u->allocator, &made, u->error));
  return cst__array_result_as(u->allocator, &schema, &made, out, u->error);
}

/* A batch without columns and rows. */
static cst_status make_nothing(cst_array **out, cst_error *error) {
  struct ArrowSchema schema = cst__type_field("+s", "", NULL, 0);
  struct ArrowArray made;
  CST__TRY(cst__owned_new(NULL, 1, 0, false, &made, error));
  return cst__array_result_as(NULL, &schema, &made, out, error);
}

cst_status cst__array_concat(const cst_array *const *arrays, size_t count, cst_array **out,
                             cst_error *error) {
  if (count == 0) {
    return make_nothing(out, error);
  }
  uniting u = {
      .arrays = arrays, .count = count, .allocator = &arrays[0]->allocator, .error = error};
  bool is_same = are_all_same(&u);
  if (is_same && strcmp(arrays[0]->schema->format, "+s") == 0) {
    CST__TRY(check_names(arrays[0]->schema, error));
  }
  if (count == 1) {
    *out = cst__array_retain(arrays[0]);
    return CST_OK;
  }
  cst__conversion_init(&u.conversion, u.allocator, error);
  cst_status status = is_same ? join_same(&u, out) : join_converted(&u, out);
  cst__conversion_reset(&u.conversion);
  return status;
}
