/* Counting rows and values, column by column. */
#include "validate/counts.h"

#include <stdlib.h>

#include "arrow/accumulator_handle.h"
#include "base/arguments.h"
#include "nested/slots.h"

typedef struct counted_column {
  cst_bytes key; /* the names on the way to it with a NUL between, in the state's arena: "a.b" may
                    be one name, or two */
  uint64_t rows, values;
} counted_column;

typedef struct counting {
  cst_allocator allocator;
  cst__arena arena;        /* keys */
  counted_column *columns; /* in the order of their first appearance */
  size_t count, capacity;
  cst__name_map keys;
  uint64_t num_rows;
} counting;

static cst_status counting_create(const void *plan, const cst_allocator *allocator, void **out,
                                  cst_error *error) {
  (void)plan;
  counting *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  made->allocator = cst__allocator_of(allocator);
  cst__arena_init(&made->arena, allocator);
  *out = made;
  return CST_OK;
}

static void counting_free(void *state) {
  counting *c = state;
  if (c != NULL) {
    cst__name_map_reset(&c->keys);
    cst__delete(c->columns);
    cst__arena_reset(&c->arena);
    cst__delete(c);
  }
}

/* The column of a key, made if need be; NULL: no memory. */
static counted_column *need_counted(counting *c, cst_bytes key) {
  size_t at = cst__name_map_find(&c->keys, (const char *)key.data, key.size);
  if (at != SIZE_MAX) {
    return &c->columns[at];
  }
  void *items = c->columns;
  bool grown = cst__grow(&c->allocator, &items, &c->capacity, c->count + 1, sizeof *c->columns);
  c->columns = items;
  const char *copy = grown ? cst__arena_copy(&c->arena, key.data, key.size) : NULL;
  if (copy == NULL || !cst__name_map_add(&c->keys, copy, key.size, c->count)) {
    return NULL;
  }
  c->columns[c->count] = (counted_column){.key = {(const uint8_t *)copy, key.size}};
  return &c->columns[c->count++];
}

/* ---- a batch ---- */

/* The values of the slots [begin, end): those of a list that is null are none, whatever lies under
 * it. */
static uint64_t count_column_values(const cst__view *v, int64_t begin, int64_t end) {
  if (v->layout == CST__LAYOUT_NULL || begin == end) {
    return 0;
  }
  if (!cst__view_is_list(v)) {
    return (uint64_t)(v->validity != NULL
                          ? cst__bitmap_count(v->validity, v->offset + begin, end - begin)
                          : end - begin);
  }
  uint64_t count = 0;
  for (int64_t at = begin; at < end; at++) { /* runs of lists, whose items are a run, too */
    int64_t first, last, ignored;
    if (v->null_count > 0 && cst__view_is_null(v, at)) {
      continue;
    }
    cst__view_list(v, at, &first, &last);
    while (at + 1 < end && (v->null_count == 0 || !cst__view_is_null(v, at + 1))) {
      at = v->null_count == 0 ? end - 1 : at + 1;
      cst__view_list(v, at, &ignored, &last);
    }
    count += count_column_values(&v->children[0], first, last);
  }
  return count;
}

/* The rows of a column that are there, in runs. */
static void count_column_rows(counted_column *counted, const cst__view *column,
                              const cst__mask *above) {
  const cst__slots slots = {.view = column, .mask = above};
  bool lacks = cst__slots_may_be_null(&slots);
  int64_t at = 0;
  while (at < column->length) {
    int64_t end = lacks ? at : column->length;
    while (lacks && end < column->length && !cst__slots_hide(&slots, end)) {
      end++;
    }
    counted->rows = cst__count_sum(counted->rows, (uint64_t)(end - at));
    counted->values = cst__count_sum(counted->values, count_column_values(column, at, end));
    at = end + 1;
  }
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

static cst_status check_counted(const cst__view *fields, cst_error *error) {
  for (int64_t i = 0; i < fields->num_children; i++) {
    const cst__view *column = &fields->children[i];
    cst_status status = column->layout == CST__LAYOUT_STRUCT ? check_counted(column, error)
                                                             : refuse_list_views(column, error);
    if (status != CST_OK) {
      cst__error_add_path(error, column->name, strlen(column->name));
      return status;
    }
  }
  return CST_OK;
}

/* Makes the columns, or counts in them. */
static bool walk_counted(counting *c, const cst__view *fields, const cst__mask *above,
                         cst__text *key, bool counts) {
  size_t parent = key->size;
  for (int64_t i = 0; i < fields->num_children; i++) {
    const cst__view *column = &fields->children[i];
    key->size = parent;
    cst__text_append(key, "", above != NULL);
    cst__text_append(key, column->name, strlen(column->name));
    counted_column *counted =
        key->failed ? NULL : need_counted(c, (cst_bytes){(const uint8_t *)key->data, key->size});
    if (counted == NULL) {
      return false;
    }
    if (counts) {
      count_column_rows(counted, column, above);
    }
    const cst__mask inner = {column, above};
    if (column->layout == CST__LAYOUT_STRUCT && !walk_counted(c, column, &inner, key, counts)) {
      return false;
    }
  }
  key->size = parent;
  return true;
}

static cst_status counting_add(void *state, const cst__view *batch, const cst__origin *origin,
                               cst_error *error) {
  counting *c = state;
  cst__text key = {0};
  (void)origin;
  CST__TRY(check_counted(batch, error));
  bool ok = walk_counted(c, batch, NULL, &key, false) && walk_counted(c, batch, NULL, &key, true);
  cst__text_free(&key);
  if (!ok) {
    return cst__fail_memory(error, sizeof(counted_column));
  }
  c->num_rows = cst__count_sum(c->num_rows, (uint64_t)batch->length);
  return CST_OK;
}

/* ---- merging and saving ---- */

static cst_status counting_merge(void *into, const void *other, cst_error *error) {
  counting *c = into;
  const counting *from = other;
  for (size_t i = 0; i < from->count; i++) {
    const counted_column *theirs = &from->columns[i];
    counted_column *mine = need_counted(c, theirs->key);
    if (mine == NULL) {
      return cst__fail_memory(error, theirs->key.size);
    }
    mine->rows = cst__count_sum(mine->rows, theirs->rows);
    mine->values = cst__count_sum(mine->values, theirs->values);
  }
  c->num_rows = cst__count_sum(c->num_rows, from->num_rows);
  return CST_OK;
}

static void counting_archive(void *state, cst__archive *a) {
  counting *c = state;
  size_t count = c->count;
  cst__archive_u64(a, &c->num_rows);
  cst__archive_count(a, &count);
  for (size_t i = 0; i < count && !a->bad; i++) {
    bool loads = cst__archive_loads(a);
    counted_column column = loads ? (counted_column){.rows = 0} : c->columns[i];
    cst__archive_bytes(a, &column.key);
    cst__archive_u64(a, &column.rows);
    cst__archive_u64(a, &column.values);
    cst__archive_check(a, column.rows <= c->num_rows);
    if (loads && !a->bad) {
      counted_column *made = need_counted(c, column.key);
      if (made == NULL) {
        cst__archive_fail_memory(a);
        return;
      }
      cst__archive_check(a, c->count == i + 1); /* no key comes twice */
      made->rows = column.rows;
      made->values = column.values;
    }
  }
}

/* ---- the result ---- */

static int compare_counted(const void *a, const void *b) {
  cst_bytes x = ((const counted_column *)a)->key;
  cst_bytes y = ((const counted_column *)b)->key;
  int order = memcmp(x.data, y.data, x.size < y.size ? x.size : y.size);
  return order != 0 ? order : (x.size > y.size) - (x.size < y.size);
}

/* False: no memory. */
static bool fill_counts(const counting *c, cst_counts *out) {
  counted_column *sorted = cst__arena_take(&out->arena, (c->count + 1) * sizeof *sorted);
  cst_column_count *columns = cst__arena_take(&out->arena, (c->count + 1) * sizeof *columns);
  if (sorted == NULL || columns == NULL) {
    return false;
  }
  if (c->count > 0) {
    memcpy(sorted, c->columns, c->count * sizeof *sorted);
    qsort(sorted, c->count, sizeof *sorted, compare_counted);
  }
  for (size_t i = 0; i < c->count; i++) {
    char *path = cst__arena_copy(&out->arena, sorted[i].key.data, sorted[i].key.size);
    if (path == NULL) {
      return false;
    }
    for (size_t k = 0; k < sorted[i].key.size; k++) {
      path[k] = path[k] != '\0' ? path[k] : '.';
    }
    columns[i] = (cst_column_count){path, sorted[i].rows, sorted[i].values};
  }
  out->num_rows = c->num_rows;
  out->num_columns = c->count;
  out->columns = columns;
  return true;
}

static cst_status counting_finish(const void *state, void *out, cst_error *error) {
  const counting *c = state;
  cst_counts *made = cst__new_zero(&c->allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__arena_init(&made->arena, &c->allocator);
  if (!fill_counts(c, made)) {
    cst_counts_free(made);
    return cst__fail_memory(error, c->count * sizeof(cst_column_count));
  }
  *(cst_counts **)out = made;
  return CST_OK;
}

uint64_t cst_counts_num_rows(const cst_counts *counts) {
  return counts != NULL ? counts->num_rows : 0;
}

size_t cst_counts_num_columns(const cst_counts *counts) {
  return counts != NULL ? counts->num_columns : 0;
}

const cst_column_count *cst_counts_column(const cst_counts *counts, size_t i) {
  return counts != NULL && i < counts->num_columns ? &counts->columns[i] : NULL;
}

void cst_counts_free(cst_counts *counts) {
  if (counts != NULL) {
    cst__arena_reset(&counts->arena);
    cst__delete(counts);
  }
}

const cst__accumulator cst__counts_accumulator = {.name = "counts",
                                                  .version = 1,
                                                  .purpose = "count",
                                                  .create = counting_create,
                                                  .free = counting_free,
                                                  .add = counting_add,
                                                  .merge = counting_merge,
                                                  .archive = counting_archive,
                                                  .finish = counting_finish};

cst_status cst_accumulator_new_counts(const cst_allocator *allocator, cst_accumulator **out,
                                      cst_error *error) {
  static const cst__owned_plan none = {NULL};
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__accumulator_handle_new(&cst__counts_accumulator, &none, allocator, out, error);
}

cst_status cst_accumulator_finish_counts(const cst_accumulator *accumulator, cst_counts **out,
                                         cst_error *error) {
  CST__CLEAR(out);
  return cst__accumulator_handle_finish(accumulator, &cst__counts_accumulator, out, error);
}
