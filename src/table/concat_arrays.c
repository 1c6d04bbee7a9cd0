/* Concatenation of arrays whose types need not be the same: all are viewed as of the type that
 * holds them all, and these views are joined. What has that type already is copied once.
 */
#include <columnstone/array.h>
#include <string.h>

#include "arrow/concat.h"
#include "arrow/owned.h"
#include "base/arguments.h"
#include "table/array.h"
#include "table/convert.h"
#include "table/promote.h"

typedef struct concatenation {
  const cst_array *const *arrays;
  size_t count;
  const cst_allocator *allocator;
  cst__conversion conversion;
  cst__view *views;   /* one per array */
  cst__piece *pieces; /* of the views, or of those that they became */
  cst_error *error;
} concatenation;

/* ---- arrays of one type ---- */

static bool are_all_same(const concatenation *c) {
  for (size_t i = 1; i < c->count; i++) {
    if (!(c->arrays[0]->schema == c->arrays[i]->schema ||
          cst__schema_equal(c->arrays[0]->schema, c->arrays[i]->schema))) {
      return false;
    }
  }
  return true;
}

/* ---- joining ---- */

static cst_status concat_take_views(concatenation *c) {
  size_t size;
  cst__arena *arena = &c->conversion.arena;
  if (!cst__mul(c->count, sizeof *c->views + sizeof *c->pieces, &size)) {
    return cst__fail_memory(c->error, SIZE_MAX);
  }
  c->views = cst__arena_take(arena, c->count * sizeof *c->views);
  c->pieces = cst__arena_take(arena, c->count * sizeof *c->pieces);
  if (c->views == NULL || c->pieces == NULL) {
    return cst__fail_memory(c->error, size);
  }
  for (size_t i = 0; i < c->count; i++) {
    CST__TRY(cst__array_view(c->arrays[i], &c->views[i], arena, c->error));
    c->pieces[i] = (cst__piece){&c->views[i], 0, c->views[i].length};
  }
  return CST_OK;
}

static cst_status join_same(concatenation *c, cst_array **out) {
  const cst_array *first = c->arrays[0];
  struct ArrowArray made;
  CST__TRY(concat_take_views(c));
  CST__TRY(cst__concat(first->schema, c->pieces, c->count, c->allocator, &made, c->error));
  return cst__array_result(first, first->schema, &made, out, c->error);
}

static cst_status merge_types(concatenation *c, struct ArrowSchema *out) {
  cst__merged *tree = NULL;
  cst__arena *arena = &c->conversion.arena;
  cst_status status = CST_OK;
  for (size_t i = 0; i < c->count && status == CST_OK; i++) {
    status = cst__merge_type(&tree, c->arrays[i]->schema, &c->views[i], arena, c->error);
  }
  if (status == CST_OK) {
    status = cst__merge_finish(tree, arena, out, c->error);
  }
  cst__merge_free(tree);
  return status;
}

static cst_status join_converted(concatenation *c, cst_array **out) {
  cst__view target;
  struct ArrowSchema schema;
  struct ArrowArray made;
  CST__TRY(concat_take_views(c));
  CST__TRY(merge_types(c, &schema));
  CST__TRY(cst__view_init_schema(&target, &schema, &c->conversion.arena, c->error));
  cst__view *views = cst__arena_take(&c->conversion.arena, c->count * sizeof *views);
  if (views == NULL) {
    return cst__fail_memory(c->error, c->count * sizeof *views);
  }
  for (size_t i = 0; i < c->count; i++) {
    CST__TRY(
        cst__view_convert(&c->conversion, c->arrays[i]->schema, &c->views[i], &target, &views[i]));
    c->pieces[i].view = &views[i];
  }
  CST__TRY(cst__concat(&schema, c->pieces, c->count, c->allocator, &made, c->error));
  return cst__array_result_as(c->allocator, &schema, &made, out, c->error);
}

cst_status cst_array_concat(const cst_array *const *arrays, size_t num_arrays, cst_array **out,
                            cst_error *error) {
  CST__CLEAR(out);
  if (out == NULL || (arrays == NULL && num_arrays > 0)) {
    return cst__missing(out == NULL ? "out" : "arrays", error);
  }
  for (size_t i = 0; i < num_arrays; i++) {
    if (arrays[i] == NULL) {
      return cst__missing("arrays[i]", error);
    }
  }
  if (num_arrays == 0) {
    /* A batch without columns and rows. */
    struct ArrowSchema schema = cst__array_type_field("+s", "", NULL, 0);
    struct ArrowArray made;
    CST__TRY(cst__owned_new(NULL, 1, 0, false, &made, error));
    return cst__array_result_as(NULL, &schema, &made, out, error);
  }
  concatenation c = {
      .arrays = arrays, .count = num_arrays, .allocator = &arrays[0]->allocator, .error = error};
  bool is_same = are_all_same(&c);
  if (is_same && strcmp(arrays[0]->schema->format, "+s") == 0) {
    /* What merging types refuses as well: which one is meant by a name would be open. */
    CST__TRY(cst__schema_check_names(arrays[0]->schema, error));
  }
  if (num_arrays == 1) {
    *out = cst_array_retain(arrays[0]);
    return CST_OK;
  }
  cst__conversion_init(&c.conversion, c.allocator, error);
  cst_status status = is_same ? join_same(&c, out) : join_converted(&c, out);
  cst__conversion_reset(&c.conversion);
  return status;
}
