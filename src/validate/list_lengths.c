/* How long lists are: per list column, and per level of its lists, how many there are, how many are
 * null and empty, and the shortest, the longest and all of them together.
 */
#include "base/hash.h"
#include "nested/by_path.h"
#include "validate/counts.h"

/* The lists of one level of a column. */
typedef struct measured_lists {
  cst_bytes key;  /* the path of the column, and behind it a byte for the level, so that the levels
                     of a column follow each other */
  uint64_t nulls; /* of lists in lists; those of a column are the rows that have none */
  uint64_t lists; /* that are not null, */
  uint64_t empty; /* and those of them without items */
  uint64_t items;
  uint64_t min, max;
} measured_lists;

/* The options. */
typedef struct lengths_options {
  const char *const *columns;
  size_t num_columns;
} lengths_options;

typedef struct lengths_plan {
  cst__arena arena;
  cst__name_map columns; /* at the top, that are looked at: their places in `names` */
  const char **names;
  size_t num_names; /* 0: all columns are looked at */
  uint64_t mark;
} lengths_plan;

typedef struct measuring {
  const lengths_plan *plan;
  bool *has_column;     /* [num_names]: some batch has had it */
  cst__by_path columns; /* of measured_lists */
  uint64_t num_rows;
} measuring;

/* ---- the plan ---- */

static void free_lengths_plan(const void *plan) {
  lengths_plan *p = (lengths_plan *)(uintptr_t)plan;
  cst__name_map_reset(&p->columns);
  cst__arena_reset(&p->arena);
  cst__delete(p);
}

static bool fill_lengths_plan(lengths_plan *plan, const lengths_options *options) {
  plan->names = cst__arena_take(&plan->arena, options->num_columns * sizeof *plan->names);
  bool ok = plan->names != NULL;
  for (size_t i = 0; i < options->num_columns && ok; i++) {
    size_t size = strlen(options->columns[i]);
    const char *copy = cst__arena_copy(&plan->arena, options->columns[i], size);
    ok = copy != NULL;
    if (ok && cst__name_map_find(&plan->columns, copy, size) == SIZE_MAX) {
      ok = cst__name_map_add(&plan->columns, copy, size, plan->num_names);
      plan->names[plan->num_names++] = copy;
    }
  }
  return ok;
}

static cst_status plan_lengths(const void *given, const cst_allocator *allocator,
                               cst__owned_plan *out, cst_error *error) {
  const lengths_options *options = given;
  lengths_plan *plan = cst__new_zero(allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  cst__arena_init(&plan->arena, allocator);
  plan->mark = out->mark;
  if (!fill_lengths_plan(plan, options)) {
    free_lengths_plan(plan);
    return cst__fail_memory(error, options->num_columns);
  }
  out->plan = plan;
  out->free = free_lengths_plan;
  return CST_OK;
}

/* ---- the state ---- */

static cst_status measuring_create(const void *plan, const cst_allocator *allocator, void **out,
                                   cst_error *error) {
  const size_t num_names = ((const lengths_plan *)plan)->num_names;
  measuring *made = cst__new_zero(allocator, sizeof *made + num_names * sizeof *made->has_column);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  made->plan = plan;
  made->has_column = (bool *)(made + 1);
  cst__by_path_init(&made->columns, sizeof(measured_lists), allocator);
  *out = made;
  return CST_OK;
}

static void measuring_free(void *state) {
  measuring *m = state;
  if (m != NULL) {
    cst__by_path_reset(&m->columns);
    cst__delete(m);
  }
}

/* ---- a batch ---- */

/* The level of a key that lacks its last byte. */
static measured_lists *need_level(measuring *m, cst__text *key, size_t path_size, uint8_t level) {
  key->size = path_size;
  cst__text_append(key, &level, 1);
  return key->failed
             ? NULL
             : cst__by_path_need(&m->columns, (cst_bytes){(const uint8_t *)key->data, key->size});
}

static void add_lengths(measured_lists *into, uint64_t lists, uint64_t length) {
  if (lists == 0) {
    return;
  }
  into->min = into->lists == 0 || length < into->min ? length : into->min;
  into->max = length > into->max ? length : into->max;
  into->lists += lists;
  into->empty += length == 0 ? lists : 0;
  into->items = cst__count_sum(into->items, lists * length);
}

/* The lists of the slots [begin, end) of a column's level, and those in them. */
static void measure_slots(measured_lists *levels, const cst__view *v, int64_t begin, int64_t end) {
  bool is_nested = cst__view_is_list(&v->children[0]);
  int64_t first, last, ignored;
  if (v->layout == CST__LAYOUT_FIXED_LIST && v->null_count == 0) { /* any number, without memory */
    if (begin < end) {
      cst__view_list(v, begin, &first, &last);
      add_lengths(levels, (uint64_t)(end - begin), (uint64_t)(last - first));
      cst__view_list(v, end - 1, &ignored, &last);
      if (is_nested) {
        measure_slots(levels + 1, &v->children[0], first, last);
      }
    }
    return;
  }
  for (int64_t at = begin; at < end; at++) {
    if (cst__view_is_null(v, at)) {
      levels->nulls++;
      continue;
    }
    cst__view_list(v, at, &first, &last);
    add_lengths(levels, 1, (uint64_t)(last - first));
    if (is_nested) {
      measure_slots(levels + 1, &v->children[0], first, last);
    }
  }
}

/* The rows that no struct hides, in runs. */
static void measure_rows(measured_lists *levels, const cst__view *column, const cst__mask *above) {
  int64_t at = 0;
  while (at < column->length) {
    int64_t end = above != NULL ? at : column->length;
    while (above != NULL && end < column->length && !cst__mask_hides(above, end)) {
      end++;
    }
    measure_slots(levels, column, at, end);
    at = end + 1;
  }
}

enum { MAX_LEVELS = 128 }; /* more than types may have */

static void merge_lists(measured_lists *into, const measured_lists *from) {
  if (from->lists > 0) {
    into->min = into->lists == 0 || from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
  }
  into->nulls = cst__count_sum(into->nulls, from->nulls);
  into->lists = cst__count_sum(into->lists, from->lists);
  into->empty = cst__count_sum(into->empty, from->empty);
  into->items = cst__count_sum(into->items, from->items);
}

/* Counts beside the state first, so that there is nothing to take back where memory ends. */
static bool measure_column(void *ctx, cst_bytes path, const cst__view *column,
                           const cst__mask *above) {
  measuring *m = ctx;
  measured_lists levels[MAX_LEVELS] = {{{NULL, 0}, 0, 0, 0, 0, 0, 0}};
  uint8_t count = 0;
  if (!cst__view_is_list(column)) {
    return true;
  }
  for (const cst__view *v = column; cst__view_is_list(v); v = &v->children[0]) {
    count++;
  }
  measure_rows(levels, column, above);
  cst__text key = {0};
  cst__text_append(&key, path.data, path.size);
  bool ok = !key.failed;
  for (uint8_t i = 0; i < count && ok; i++) {
    measured_lists *into = need_level(m, &key, path.size, (uint8_t)(i + 1));
    ok = into != NULL;
    if (ok) {
      levels[i].nulls = i == 0 ? 0 : levels[i].nulls;
      merge_lists(into, &levels[i]);
    }
  }
  cst__text_free(&key);
  return ok;
}

static cst_status measuring_add(void *state, const cst__view *batch, const cst__origin *origin,
                                cst_error *error) {
  measuring *m = state;
  const cst__name_map *wanted = &m->plan->columns;
  const cst__column_walk walk = {m->plan->num_names > 0 ? wanted : NULL, measure_column, m};
  (void)origin;
  CST__TRY(cst__walk_columns(&walk, batch, error));
  for (int64_t i = 0; i < batch->num_children && m->plan->num_names > 0; i++) {
    const char *name = batch->children[i].name;
    size_t at = cst__name_map_find(wanted, name, strlen(name));
    if (at != SIZE_MAX) {
      m->has_column[at] = true;
    }
  }
  m->num_rows = cst__count_sum(m->num_rows, (uint64_t)batch->length);
  return CST_OK;
}

/* ---- merging and saving ---- */

static cst_status measuring_merge(void *into, const void *other, cst_error *error) {
  measuring *m = into;
  const measuring *from = other;
  for (size_t i = 0; i < from->columns.count; i++) {
    const measured_lists *theirs = cst__by_path_at(&from->columns, i);
    measured_lists *mine = cst__by_path_need(&m->columns, theirs->key);
    if (mine == NULL) {
      return cst__fail_memory(error, theirs->key.size);
    }
    merge_lists(mine, theirs);
  }
  for (size_t i = 0; i < m->plan->num_names; i++) {
    m->has_column[i] = m->has_column[i] || from->has_column[i];
  }
  m->num_rows = cst__count_sum(m->num_rows, from->num_rows);
  return CST_OK;
}

static void measuring_archive(void *state, cst__archive *a) {
  measuring *m = state;
  uint64_t mark = m->plan->mark;
  size_t count;
  cst__archive_u64(a, &mark);
  cst__archive_check(a, mark == m->plan->mark);
  cst__archive_u64(a, &m->num_rows);
  for (size_t i = 0; i < m->plan->num_names; i++) {
    cst__archive_bool(a, &m->has_column[i]);
  }
  cst__by_path_archive_count(&m->columns, a, &count);
  for (size_t i = 0; i < count && !a->bad; i++) {
    measured_lists *lists = cst__by_path_archive_key(&m->columns, a, i);
    if (lists == NULL) {
      return;
    }
    cst__archive_u64(a, &lists->nulls);
    cst__archive_u64(a, &lists->lists);
    cst__archive_u64(a, &lists->empty);
    cst__archive_u64(a, &lists->items);
    cst__archive_u64(a, &lists->min);
    cst__archive_u64(a, &lists->max);
    uint8_t level = lists->key.size > 0 ? lists->key.data[lists->key.size - 1] : 0;
    cst__archive_check(a, level > 0 && level <= MAX_LEVELS && lists->empty <= lists->lists &&
                              lists->min <= lists->max &&
                              (level > 1 || (lists->nulls == 0 && lists->lists <= m->num_rows)));
  }
}

/* ---- the result ---- */

static void put_lists(cst_findings *found, const measured_lists *lists, uint64_t num_rows) {
  size_t path_size = lists->key.size - 1;
  uint8_t level = lists->key.data[path_size];
  cst__put_path(found, (cst_bytes){lists->key.data, path_size});
  cst__put_number(found, level);
  cst__put_number(found, level == 1 ? num_rows - lists->lists : lists->nulls);
  cst__put_number(found, lists->lists);
  cst__put_number(found, lists->empty);
  if (lists->lists == 0) {
    cst__put_null(found);
    cst__put_null(found);
  } else {
    cst__put_number(found, lists->min);
    cst__put_number(found, lists->max);
  }
  cst__put_number(found, lists->items);
}

/* A name that no batch knows is a mistyped one, if there are rows. */
static cst_status check_has_columns(const measuring *m, cst_error *error) {
  for (size_t i = 0; i < m->plan->num_names && m->num_rows > 0; i++) {
    if (!m->has_column[i]) {
      cst_status status = cst__fail(error, CST_NOT_FOUND, "`columns` names columns at the top",
                                    "no row has this column");
      cst__error_add_path(error, m->plan->names[i], strlen(m->plan->names[i]));
      return status;
    }
  }
  return CST_OK;
}

static cst_status measuring_finish(const void *state, cst_findings **out, cst_error *error) {
  static const cst__finding_column columns[] = {
      CST__TEXT("path"),          CST__NUMBER("level"), CST__NUMBER("nulls"),
      CST__NUMBER("lists"),       CST__NUMBER("empty"), CST__NUMBER_OR_NULL("min"),
      CST__NUMBER_OR_NULL("max"), CST__NUMBER("sum")};
  static const cst__finding_type type = {"lists", columns, 8};
  const measuring *m = state;
  cst_findings *found;
  cst__arena arena;
  CST__TRY(check_has_columns(m, error));
  CST__TRY(cst__findings_new(&type, &m->columns.allocator, &found, error));
  cst__put_total(found, "num_rows", m->num_rows);
  cst__arena_init(&arena, &m->columns.allocator);
  void **sorted = cst__by_path_sort(&m->columns, &arena);
  for (size_t i = 0; sorted != NULL && i < m->columns.count; i++) {
    put_lists(found, sorted[i], m->num_rows);
  }
  bool ok = sorted != NULL;
  cst__arena_reset(&arena);
  if (!ok) {
    cst_findings_free(found);
    return cst__fail_memory(error, m->columns.count * sizeof(void *));
  }
  return cst__findings_finish(found, out, error);
}

static const cst__option lengths_table[] = {
    {.info = {.name = "columns",
              .kind = CST_OPTION_NAMES,
              .help = "only these columns of the data"},
     .offset = offsetof(lengths_options, columns),
     .count_offset = offsetof(lengths_options, num_columns)}};
static const cst__option_table lengths_type = {"lengths", lengths_table, 1, sizeof(cst__option),
                                               sizeof(lengths_options)};

const cst__accumulator cst__lengths_accumulator = {
    .name = "lengths",
    .version = 1,
    .purpose = "measure the lists of",
    .summary = "lengths of lists, and numbers of null and empty lists, per column",
    .options = &lengths_type,
    .plan = plan_lengths,
    .create = measuring_create,
    .free = measuring_free,
    .add = measuring_add,
    .merge = measuring_merge,
    .archive = measuring_archive,
    .finish = measuring_finish};
