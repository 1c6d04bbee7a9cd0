/* Grouping: at first all rows are in one group; each key column divides the groups by its values.
 *
 * What a division gives is numbered by pairs (group before, value), so that the values of a group
 * are found by going back through the divisions.
 */
#include <columnstone/array.h>
#include <string.h>

#include "arrow/owned.h"
#include "base/arguments.h"
#include "base/interrupt.h"
#include "base/names.h"
#include "nested/gather.h"
#include "table/keys.h"
#include "table/walk.h"

#define MAX_PAIRS ((int64_t)UINT32_MAX) /* of rows and their groups */

/* One key column. */
typedef struct key {
  cst__walk walk; /* down to its values; has the splits */
  bool is_walking;
  cst_array *values; /* of all rows */
  cst__view view;    /* of them, in the arena of the walk */
  cst__ids ids;      /* of values */
  cst__ids pairs;    /* of the division */
} key;

typedef struct grouping {
  const cst_array *batch;
  key *keys;
  size_t num_keys;
  cst__row_sets groups; /* of each row */
  size_t num_groups;
  cst_error *error;
} grouping;

static void grouping_reset(grouping *g) {
  for (size_t i = 0; i < g->num_keys; i++) {
    key *k = &g->keys[i];
    cst__ids_reset(&k->ids);
    cst__ids_reset(&k->pairs);
    cst_array_release(k->values);
    if (k->is_walking) {
      cst__walk_end(&k->walk);
    }
  }
  cst__row_sets_free(&g->groups);
  cst__delete(g->keys);
}

/* ---- divisions ---- */

enum { ROW_WORK = 64 /* of a look-up, between two questions whether to stop */ };

static int64_t start_of(const cst__row_sets *sets, int64_t row) {
  return sets->starts != NULL ? sets->starts[row] : row;
}

/* How many pairs of rows and groups there will be. */
static cst_status count_pairs(const grouping *g, const cst__row_sets *values, int64_t *total) {
  const cst__row_sets *groups = &g->groups;
  *total = 0;
  for (int64_t row = 0; row < g->batch->array.length; row++) {
    int64_t before = start_of(groups, row + 1) - start_of(groups, row);
    int64_t of_row = start_of(values, row + 1) - start_of(values, row);
    int64_t more;
    if (__builtin_mul_overflow(before, of_row, &more) ||
        __builtin_add_overflow(*total, more, total) || *total > MAX_PAIRS) {
      return cst__fail(g->error, CST_LIMIT,
                       "group smaller batches, or by fewer columns that hold lists",
                       "the rows are in more than %lld groups altogether", (long long)MAX_PAIRS);
    }
  }
  return CST_OK;
}

static cst_status new_sets(const grouping *g, int64_t total, bool is_flat, cst__row_sets *out) {
  const cst_allocator *allocator = &g->batch->allocator;
  size_t rows = (size_t)g->batch->array.length;
  size_t size = (size_t)total * sizeof *out->ids;
  *out = (cst__row_sets){.ids = cst__new(allocator, size)};
  if (out->ids != NULL && !is_flat) {
    size = (rows + 1) * sizeof *out->starts;
    out->starts = cst__new(allocator, size);
  }
  if (out->ids == NULL || (!is_flat && out->starts == NULL)) {
    return cst__fail_memory(g->error, size);
  }
  return CST_OK;
}

static cst_status divide_row(const grouping *g, cst__ids *pairs, const cst__row_sets *values,
                             int64_t row, cst__row_sets *out) {
  for (int64_t i = start_of(&g->groups, row); i < start_of(&g->groups, row + 1); i++) {
    uint64_t group = (uint64_t)g->groups.ids[i] << 32;
    for (int64_t k = start_of(values, row); k < start_of(values, row + 1); k++) {
      CST__TRY(
          cst__ids_of_word(pairs, group | values->ids[k], row, &out->ids[out->total++], g->error));
    }
  }
  return CST_OK;
}

static cst_status groups_divide(grouping *g, key *k, const cst__row_sets *values) {
  int64_t total;
  cst__row_sets divided;
  bool is_flat = g->groups.starts == NULL && values->starts == NULL;
  CST__TRY(count_pairs(g, values, &total));
  cst_status status = new_sets(g, total, is_flat, &divided);
  size_t done = 0;
  cst__ids_init(&k->pairs, NULL, &g->batch->allocator);
  for (int64_t row = 0; row < g->batch->array.length && status == CST_OK; row++) {
    if (divided.starts != NULL) {
      divided.starts[row] = divided.total;
    }
    status = divide_row(g, &k->pairs, values, row, &divided);
    if (status == CST_OK && cst__stretch_is_over(&done, ROW_WORK)) {
      status = cst__interrupted(g->error);
    }
  }
  if (status != CST_OK) {
    cst__row_sets_free(&divided);
    return status;
  }
  if (divided.starts != NULL) {
    divided.starts[g->batch->array.length] = divided.total;
  }
  cst__row_sets_free(&g->groups);
  g->groups = divided;
  g->num_groups = k->pairs.count;
  return CST_OK;
}

static cst_status divide_by(grouping *g, key *k) {
  cst__row_sets values;
  const cst__row_values column = {&k->view, k->walk.splits, g->batch->array.length};
  cst_status status = cst__keys_find(&column, &g->batch->allocator, &k->ids, &values, g->error);
  if (status == CST_OK) {
    status = groups_divide(g, k, &values);
  }
  cst__row_sets_free(&values);
  return status;
}

static cst_status make_groups(grouping *g, const cst_path *paths) {
  int64_t rows = g->batch->array.length;
  CST__TRY(new_sets(g, rows, true, &g->groups)); /* all in one group */
  memset(g->groups.ids, 0, (size_t)rows * sizeof *g->groups.ids);
  g->groups.total = rows;
  g->num_groups = rows > 0;
  for (size_t i = 0; i < g->num_keys; i++) {
    key *k = &g->keys[i];
    CST__TRY(cst__walk_begin(&k->walk, g->batch, true, g->error));
    k->is_walking = true;
    CST__TRY(cst__walk_path(&k->walk, &paths[i], g->error));
    while (cst__view_is_list(k->walk.slots.view)) {
      CST__TRY(cst__walk_open(&k->walk, g->error));
    }
    CST__TRY(cst__walk_finish(&k->walk, &k->values, NULL, g->error));
    CST__TRY(cst__array_view(k->values, &k->view, &k->walk.arena, g->error));
    cst_status status = divide_by(g, k);
    if (status != CST_OK) {
      for (size_t step = paths[i].count; step-- > 0;) {
        cst__error_add_path(g->error, paths[i].steps[step], strlen(paths[i].steps[step]));
      }
      return status;
    }
  }
  return CST_OK;
}

/* ---- the rows of groups ---- */

static cst_status groups_fill_rows(const grouping *g, struct ArrowArray *lists) {
  size_t size = (g->num_groups + 1) * sizeof(int64_t);
  int64_t *ends = cst__owned_buffer(lists, 1, size);
  if (ends == NULL) {
    return cst__fail_memory(g->error, size);
  }
  int64_t *rows =
      cst__new_int64(&g->batch->allocator, g->groups.total, lists->children[0], g->error);
  if (rows == NULL) {
    return CST_NO_MEMORY;
  }
  lists->length = (int64_t)g->num_groups;
  /* `ends` [num_groups + 1] becomes the offsets of the lists. */
  const cst__row_sets *groups = &g->groups;
  memset(ends, 0, (g->num_groups + 1) * sizeof *ends);
  for (int64_t i = 0; i < groups->total; i++) {
    ends[groups->ids[i] + 1]++;
  }
  for (size_t i = 0, before = 0; i <= g->num_groups; i++) { /* now where each begins, one ahead */
    size_t count = (size_t)ends[i];
    ends[i] = (int64_t)before;
    before += i > 0 ? count : 0;
  }
  for (int64_t row = 0; row < g->batch->array.length; row++) {
    for (int64_t i = start_of(groups, row); i < start_of(groups, row + 1); i++) {
      rows[ends[groups->ids[i] + 1]++] = row;
    }
  }
  return CST_OK;
}

static cst_status groups_make_rows(const grouping *g, cst_array **out) {
  struct ArrowSchema item = cst__array_type_field("l", "item", NULL, 0);
  const struct ArrowSchema *items[] = {&item};
  struct ArrowSchema schema = cst__array_type_field("+L", "", items, 1);
  struct ArrowArray lists;
  CST__TRY(cst__owned_new(&g->batch->allocator, 2, 1, false, &lists, g->error));
  cst_status status = groups_fill_rows(g, &lists);
  if (status != CST_OK) {
    cst__array_release(&lists);
    return status;
  }
  return cst__array_result_as(&g->batch->allocator, &schema, &lists, out, g->error);
}

/* ---- the keys of groups ---- */

static cst_status take_keys(const grouping *g, struct ArrowArray *out) {
  size_t size = 2 * g->num_groups * sizeof(int64_t);
  int64_t *groups = cst__new(&g->batch->allocator, size);
  cst_status status = groups != NULL ? CST_OK : cst__fail_memory(g->error, size);
  for (size_t i = 0; i < g->num_groups && status == CST_OK; i++) {
    groups[i] = (int64_t)i;
  }
  for (size_t i = g->num_keys; i-- > 0 && status == CST_OK;) {
    /* The values of one column; `groups` are those of its division, and become those of the
     * division before. */
    const key *k = &g->keys[i];
    int64_t *slots = groups + g->num_groups;
    bool has_null = false;
    for (size_t j = 0; j < g->num_groups; j++) {
      uint64_t pair = k->pairs.words[groups[j]];
      slots[j] = k->ids.firsts[(uint32_t)pair];
      groups[j] = (int64_t)(pair >> 32);
      has_null |= slots[j] < 0;
    }
    const cst__owner owner = cst__array_owner(k->values);
    const cst__chosen taken = {.count = (int64_t)g->num_groups, .at = slots, .has_null = has_null};
    status = cst__take(&owner, &k->view, &taken, false, out->children[i], g->error);
  }
  cst__delete(groups);
  return status;
}

static cst_status make_key_schema(const grouping *g, const cst_path *paths, cst__arena *arena,
                                  struct ArrowSchema *out) {
  size_t size = g->num_keys * sizeof(struct ArrowSchema *) + 1;
  const struct ArrowSchema **fields = cst__arena_take(arena, size);
  if (fields == NULL) {
    return cst__fail_memory(g->error, size);
  }
  for (size_t i = 0; i < g->num_keys; i++) {
    struct ArrowSchema *field = cst__arena_take(arena, sizeof *field);
    const char *name = cst__path_text(&paths[i], arena);
    if (field == NULL || name == NULL) {
      return cst__fail_memory(g->error, sizeof *field);
    }
    *field = *g->keys[i].values->schema;
    field->name = name;
    field->flags |= ARROW_FLAG_NULLABLE;
    fields[i] = field;
  }
  *out = cst__array_type_field("+s", "", fields, (int64_t)g->num_keys);
  return CST_OK;
}

static cst_status groups_make_keys(const grouping *g, const cst_path *paths, cst_array **out) {
  const cst_allocator *allocator = &g->batch->allocator;
  struct ArrowSchema schema;
  struct ArrowArray made;
  cst__arena arena;
  CST__TRY(cst__owned_new(allocator, 1, (int64_t)g->num_keys, false, &made, g->error));
  made.length = (int64_t)g->num_groups;
  cst__arena_init(&arena, allocator);
  cst_status status = take_keys(g, &made);
  if (status == CST_OK) {
    status = make_key_schema(g, paths, &arena, &schema);
  }
  if (status == CST_OK) {
    status = cst__array_result_as(allocator, &schema, &made, out, g->error);
  } else {
    cst__array_release(&made);
  }
  cst__arena_reset(&arena);
  return status;
}

cst_status cst_array_group_by(const cst_array *batch, const cst_path *paths, size_t num_paths,
                              cst_groups *out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(batch, "array", out, error));
  CST__TRY(cst__check_paths(paths, num_paths, error));
  for (size_t i = 0; i < num_paths; i++) {
    if (paths[i].count == 0) {
      return cst__missing("paths[i].steps", error);
    }
  }
  grouping g = {.batch = batch, .num_keys = num_paths, .error = error};
  size_t size = SIZE_MAX;
  *out = (cst_groups){NULL, NULL};
  g.keys =
      cst__mul(num_paths, sizeof *g.keys, &size) ? cst__new_zero(&batch->allocator, size) : NULL;
  if (g.keys == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status = make_groups(&g, paths);
  if (status == CST_OK) {
    status = groups_make_rows(&g, &out->rows);
  }
  if (status == CST_OK) {
    status = groups_make_keys(&g, paths, &out->keys);
    if (status != CST_OK) {
      cst_array_release(out->rows);
      out->rows = NULL;
    }
  }
  grouping_reset(&g);
  return status;
}
