/* Filling profiles: one walk over the values of each column of a batch, and one over the rows of
 * each pair of columns whose names belong together.
 *
 * What structs hide, src/nested says. Lists are gone through here, one after the other: each value
 * is looked at once and in order, so that where the lists begin (cst__slots_open) would be memory
 * that nobody reads again.
 */
#include "validate/profile.h"

#include <math.h>

#include "base/utf8.h"
#include "nested/slots.h"

/* Structs in structs of a saved state; views have no more. */
enum { MAX_DEPTH = 100 };

struct cst__profiler {
  cst_allocator allocator;
  size_t max_domain;
  cst__arena arena; /* names */
  cst__profile *items;
  size_t count;
  size_t capacity;
  cst__name_map names;
  cst__pair *pairs;
  size_t num_pairs;
  size_t pair_capacity;
  const cst__view **columns; /* of the batch at hand, by profile; NULL: it has no such column */
  size_t column_capacity;
  bool has_pairs; /* false for the parts of a struct */
};

cst_status cst__profiler_new(const cst_allocator *allocator, size_t max_domain, cst__profiler **out,
                             cst_error *error) {
  cst__profiler *profiler = cst__new_zero(allocator, sizeof *profiler);
  if (profiler == NULL) {
    return cst__fail_memory(error, sizeof *profiler);
  }
  profiler->allocator = cst__allocator_of(allocator);
  profiler->max_domain = max_domain;
  profiler->has_pairs = true;
  cst__arena_init(&profiler->arena, allocator);
  *out = profiler;
  return CST_OK;
}

static void forget_strings(cst__few_strings *strings) {
  for (size_t i = 0; i < strings->count; i++) {
    cst__delete((void *)(uintptr_t)strings->items[i].data);
  }
  cst__delete(strings->items);
  cst__name_map_reset(&strings->places);
  *strings = (cst__few_strings){.too_many = true};
}

void cst__profiler_free(cst__profiler *profiler) {
  if (profiler != NULL) {
    for (size_t i = 0; i < profiler->count; i++) {
      forget_strings(&profiler->items[i].strings);
      cst__profiler_free(profiler->items[i].parts);
    }
    cst__name_map_reset(&profiler->names);
    cst__delete(profiler->items);
    cst__delete(profiler->pairs);
    cst__delete((void *)profiler->columns);
    cst__arena_reset(&profiler->arena);
    cst__delete(profiler);
  }
}

const cst__profile *cst__profiler_find(const cst__profiler *profiler, cst_bytes name) {
  const char *text = name.size > 0 ? (const char *)name.data : "";
  size_t at = cst__name_map_find(&profiler->names, text, name.size);
  return at != SIZE_MAX ? &profiler->items[at] : NULL;
}

const cst__profile *cst__profiler_get(const cst__profiler *profiler, size_t i) {
  return &profiler->items[i];
}

const cst__pair *cst__profiler_pair(const cst__profiler *profiler, size_t i) {
  return i < profiler->num_pairs ? &profiler->pairs[i] : NULL;
}

/* ---- names that belong together ---- */

static const char *const index_words[] = {"indices", "index", "ids", "idx"};
static const char *const value_words[] = {"values", "value", "weights", "weight"};
static const char *const length_endings[] = {"_row_lengths", "_lengths"};

enum {
  NUM_INDEX_WORDS = sizeof index_words / sizeof index_words[0],
  NUM_VALUE_WORDS = sizeof value_words / sizeof value_words[0],
  NUM_LENGTH_ENDINGS = sizeof length_endings / sizeof length_endings[0]
};

static bool has_no_items(const cst__profile *p) { return p->count == 0 && !p->has_nulls; }

/* True if every row of the column would fit values that are not there. */
static bool fits_alone(const cst__profile *column, cst__pair_kind kind) {
  bool are_zeros = !column->has_nulls && !column->is_beyond && column->ints.any &&
                   column->ints.min == 0 && column->ints.max == 0;
  return has_no_items(column) || (kind == CST__PAIR_LENGTHS && are_zeros);
}

static bool add_pair(cst__profiler *profiler, cst__pair pair) {
  void *items = profiler->pairs;
  bool ok = cst__grow(&profiler->allocator, &items, &profiler->pair_capacity,
                      profiler->num_pairs + 1, sizeof *profiler->pairs);
  profiler->pairs = items;
  if (!ok) {
    return false;
  }
  cst__profile *values = &profiler->items[pair.values];
  /* One of the columns is new: the records so far have no values in it. */
  pair.holds = fits_alone(&profiler->items[pair.column], pair.kind) && has_no_items(values);
  pair.next = values->first_pair;
  values->first_pair = profiler->num_pairs;
  profiler->pairs[profiler->num_pairs++] = pair;
  return true;
}

/* The profile of the name that is `stem` and `ending`, or SIZE_MAX. */
static size_t find_joined(const cst__profiler *profiler, cst_bytes stem, const char *ending,
                          cst__text *name) {
  name->size = 0;
  cst__text_append(name, stem.data, stem.size);
  cst__text_puts(name, ending);
  return name->failed ? SIZE_MAX : cst__name_map_find(&profiler->names, name->data, name->size);
}

/* The bytes before the ending, in *stem. */
static bool has_name_ending(const cst__profile *profile, const char *ending, cst_bytes *stem) {
  size_t size = strlen(ending);
  if (profile->name_size < size ||
      memcmp(profile->name + profile->name_size - size, ending, size) != 0) {
    return false;
  }
  *stem = (cst_bytes){(const uint8_t *)profile->name, profile->name_size - size};
  return true;
}

/* The number of the word that the name ends with, as a word of its own; -1: none. */
static int find_last_word(const cst__profile *profile, const char *const *words, int count,
                          cst_bytes *stem) {
  for (int i = 0; i < count; i++) {
    if (has_name_ending(profile, words[i], stem) &&
        (stem->size == 0 || strchr("_/.-", stem->data[stem->size - 1]) != NULL)) {
      return i;
    }
  }
  return -1;
}

static bool pair_lengths(cst__profiler *profiler, size_t at, cst__text *name) {
  const cst__profile *fresh = &profiler->items[at];
  cst_bytes whole = {(const uint8_t *)fresh->name, fresh->name_size};
  bool ok = true;
  for (int i = 0; i < NUM_LENGTH_ENDINGS && ok; i++) {
    cst_bytes stem;
    size_t other = find_joined(profiler, whole, length_endings[i], name);
    if (other != SIZE_MAX) {
      ok = add_pair(profiler, (cst__pair){CST__PAIR_LENGTHS, i, other, at, false, false, 0});
    }
    if (ok && has_name_ending(&profiler->items[at], length_endings[i], &stem)) {
      other = find_joined(profiler, stem, "", name);
      ok = other == SIZE_MAX || other == at ||
           add_pair(profiler, (cst__pair){CST__PAIR_LENGTHS, i, at, other, false, false, 0});
    }
  }
  return ok;
}

static bool pair_indexes(cst__profiler *profiler, size_t at, cst__text *name) {
  cst_bytes stem;
  bool ok = true;
  int word = find_last_word(&profiler->items[at], index_words, NUM_INDEX_WORDS, &stem);
  for (int i = 0; word >= 0 && i < NUM_VALUE_WORDS && ok; i++) {
    size_t other = find_joined(profiler, stem, value_words[i], name);
    ok = other == SIZE_MAX ||
         add_pair(profiler, (cst__pair){CST__PAIR_INDEXES, word, at, other, false, false, 0});
  }
  word = find_last_word(&profiler->items[at], value_words, NUM_VALUE_WORDS, &stem);
  for (int i = 0; word >= 0 && i < NUM_INDEX_WORDS && ok; i++) {
    size_t other = find_joined(profiler, stem, index_words[i], name);
    ok = other == SIZE_MAX ||
         add_pair(profiler, (cst__pair){CST__PAIR_INDEXES, i, other, at, false, false, 0});
  }
  return ok;
}

/* ---- profiles of columns ---- */

/* The number of the profile of a name, made if it has to be; SIZE_MAX: out of memory. */
static size_t need_profile(cst__profiler *profiler, const char *name) {
  size_t size = strlen(name);
  size_t at = cst__name_map_find(&profiler->names, name, size);
  if (at != SIZE_MAX) {
    return at;
  }
  void *items = profiler->items;
  bool ok = cst__grow(&profiler->allocator, &items, &profiler->capacity, profiler->count + 1,
                      sizeof *profiler->items);
  profiler->items = items;
  const char *copy = ok ? cst__arena_copy(&profiler->arena, name, size) : NULL;
  if (copy == NULL || !cst__name_map_add(&profiler->names, copy, size, profiler->count)) {
    return SIZE_MAX;
  }
  at = profiler->count++;
  profiler->items[at] = (cst__profile){.name = copy, .name_size = size, .first_pair = SIZE_MAX};
  cst__text partner = {0};
  ok = !profiler->has_pairs ||
       (pair_lengths(profiler, at, &partner) && pair_indexes(profiler, at, &partner));
  ok = ok && !partner.failed;
  cst__text_free(&partner);
  return ok ? at : SIZE_MAX;
}

/* ---- values ---- */

/* False for an integer above INT64_MAX. */
static bool read_int_item(const cst__view *v, int64_t i, int64_t *out) {
  *out = cst__view_int(v, i);
  return v->dtype != CST_DTYPE_UINT64 || *out >= 0;
}

static bool is_float_column(const cst__view *v) {
  return v->dtype == CST_DTYPE_FLOAT32 || v->dtype == CST_DTYPE_FLOAT64;
}

static bool is_int_column(const cst__view *v) {
  return v->layout == CST__LAYOUT_NUMBER && !is_float_column(v);
}

/* The integers `next` come after those of the profile. */
static void join_ints(cst__profile *p, const cst__int_profile *next) {
  cst__int_profile *ints = &p->ints;
  if (!ints->any || !next->any) {
    *ints = next->any ? *next : *ints;
    return;
  }
  p->rises = p->rises || next->first > ints->last;
  p->falls = p->falls || next->first < ints->last;
  ints->min = next->min < ints->min ? next->min : ints->min;
  ints->max = next->max > ints->max ? next->max : ints->max;
  ints->last = next->last;
}

static void join_floats(cst__profile *p, const cst__float_profile *next) {
  cst__float_profile *floats = &p->floats;
  if (!floats->any || !next->any) {
    *floats = next->any ? *next : *floats;
    return;
  }
  p->rises = p->rises || next->first > floats->last;
  p->falls = p->falls || next->first < floats->last;
  floats->min = next->min < floats->min ? next->min : floats->min;
  floats->max = next->max > floats->max ? next->max : floats->max;
  floats->last = next->last;
}

static void profile_int(cst__profile *p, int64_t value) {
  join_ints(p, &(cst__int_profile){true, value, value, value, value});
}

static void profile_float(cst__profile *p, double value) {
  if (isnan(value)) {
    p->has_nan = true;
  } else {
    value += 0.0; /* -0 is 0, in whatever order they come */
    join_floats(p, &(cst__float_profile){true, value, value, value, value});
  }
}

/* False if out of memory. */
static bool profile_string(const cst__profiler *profiler, cst__few_strings *strings,
                           cst_bytes value) {
  const char *text = value.size > 0 ? (const char *)value.data : "";
  if (strings->too_many || cst__name_map_find(&strings->places, text, value.size) != SIZE_MAX) {
    return true;
  }
  if (strings->count == profiler->max_domain || value.size > CST__PROFILE_STRING_MAX ||
      !cst__utf8_valid((const uint8_t *)text, value.size)) {
    forget_strings(strings);
    return true;
  }
  void *items = strings->items;
  bool ok = cst__grow(&profiler->allocator, &items, &strings->capacity, strings->count + 1,
                      sizeof *strings->items);
  strings->items = items;
  char *copy = ok ? cst__new_copy(&profiler->allocator, text, value.size) : NULL;
  if (copy == NULL) {
    return false;
  }
  strings->items[strings->count] = (cst_bytes){(const uint8_t *)copy, value.size};
  return cst__name_map_add(&strings->places, copy, value.size, strings->count++);
}

static bool profile_value(const cst__profiler *profiler, cst__profile *p, const cst__view *v,
                          int64_t i) {
  int64_t value;
  p->count++;
  if (v->layout == CST__LAYOUT_BOOL) { /* 0 and 1, as tf.Examples have them */
    int64_t at = v->offset + i;
    profile_int(p, ((const uint8_t *)v->data)[at >> 3] >> (at & 7) & 1);
    return true;
  }
  if (v->layout != CST__LAYOUT_NUMBER) {
    return p->strings.too_many || profile_string(profiler, &p->strings, cst__view_bytes(v, i));
  }
  if (v->dtype == CST_DTYPE_FLOAT32) {
    profile_float(p, (double)((const float *)v->data)[v->offset + i]);
  } else if (v->dtype == CST_DTYPE_FLOAT64) {
    profile_float(p, ((const double *)v->data)[v->offset + i]);
  } else if (read_int_item(v, i, &value)) {
    profile_int(p, value);
  } else {
    p->is_beyond = true;
  }
  return true;
}

/* The values of slots [begin, end) of lists, through any lists in them. False if out of memory. */
static bool profile_items(const cst__profiler *profiler, cst__profile *p, const cst__view *v,
                          int64_t begin, int64_t end) {
  bool ok = true;
  for (int64_t i = begin; i < end && ok; i++) {
    if (cst__view_is_null(v, i)) {
      p->has_nulls = true;
    } else if (cst__view_is_list(v)) {
      int64_t first;
      int64_t last;
      cst__view_list(v, i, &first, &last);
      ok = profile_items(profiler, p, &v->children[0], first, last);
    } else {
      ok = profile_value(profiler, p, v, i);
    }
  }
  return ok;
}

/* The values of all rows. False if out of memory. */
static bool profile_rows(const cst__profiler *profiler, cst__profile *p, const cst__slots *rows) {
  bool ok = true;
  for (int64_t i = 0; i < rows->view->length && ok; i++) {
    int64_t first = i;
    int64_t last = i + 1;
    if (cst__slots_hide(rows, i)) {
      continue;
    }
    if (cst__view_is_list(rows->view)) {
      cst__view_list(rows->view, i, &first, &last);
      ok = profile_items(profiler, p, &rows->view->children[0], first, last);
    } else {
      ok = profile_value(profiler, p, rows->view, i);
    }
  }
  return ok;
}

/* ---- pairs ---- */

/* The items of a row of a column, as slots of *items. */
static void row_items(const cst__view *column, int64_t row, const cst__view **items, int64_t *begin,
                      int64_t *end) {
  *items = column;
  *begin = row;
  *end = row;
  if (column == NULL || cst__view_is_null(column, row)) {
    return;
  }
  if (cst__view_is_list(column)) {
    *items = &column->children[0];
    cst__view_list(column, row, begin, end);
  } else {
    *end = row + 1;
  }
}

/* Indexes: none below 0, each above the one before, as many as values. Lengths: none below 0,
 * together as many as values. */
static bool fits_row(cst__pair *pair, const cst__view *column, const cst__view *values,
                     int64_t row) {
  const cst__view *items;
  int64_t begin;
  int64_t end;
  int64_t num_values;
  row_items(values, row, &items, &begin, &end);
  num_values = end - begin;
  row_items(column, row, &items, &begin, &end);
  int64_t last = -1;
  int64_t sum = 0;
  for (int64_t i = begin; i < end; i++) {
    int64_t number;
    if (!is_int_column(items) || cst__view_is_null(items, i) || !read_int_item(items, i, &number) ||
        number < 0 ||
        __builtin_add_overflow(sum, pair->kind == CST__PAIR_LENGTHS ? number : 1, &sum) ||
        (pair->kind == CST__PAIR_INDEXES && (number <= last || number == INT64_MAX))) {
      return false;
    }
    last = number;
  }
  /* A single index is always in order. */
  pair->proven = pair->proven || num_values > (pair->kind == CST__PAIR_INDEXES ? 1 : 0);
  return sum == num_values;
}

static void check_pair(const cst__profiler *profiler, cst__pair *pair, int64_t rows) {
  const cst__view *column = profiler->columns[pair->column];
  const cst__view *values = profiler->columns[pair->values];
  for (int64_t row = 0; row < rows && pair->holds && (column != NULL || values != NULL); row++) {
    pair->holds = fits_row(pair, column, values, row);
  }
}

/* ---- batches ---- */

static bool profile_columns(cst__profiler *profiler, const cst__slots *batch);

static bool need_parts(const cst__profiler *profiler, cst__profile *p) {
  if (p->parts != NULL) {
    return true;
  }
  if (cst__profiler_new(&profiler->allocator, profiler->max_domain, &p->parts, NULL) != CST_OK) {
    return false;
  }
  p->parts->has_pairs = false;
  return true;
}

static bool is_unsigned(const cst__view *column) {
  while (cst__view_is_list(column)) {
    column = &column->children[0];
  }
  return column->layout == CST__LAYOUT_NUMBER &&
         (column->dtype == CST_DTYPE_UINT8 || column->dtype == CST_DTYPE_UINT16 ||
          column->dtype == CST_DTYPE_UINT32 || column->dtype == CST_DTYPE_UINT64);
}

static bool profile_column(cst__profiler *profiler, size_t at, const cst__slots *column) {
  cst__profile *p = &profiler->items[at];
  if (column->view->layout != CST__LAYOUT_STRUCT) {
    p->is_unsigned = p->is_unsigned || is_unsigned(column->view);
    return profile_rows(profiler, p, column);
  }
  return need_parts(profiler, p) && profile_columns(p->parts, column);
}

static bool need_profiles(cst__profiler *profiler, const cst__view *batch) {
  for (int64_t i = 0; i < batch->num_children; i++) {
    if (need_profile(profiler, batch->children[i].name) == SIZE_MAX) {
      return false;
    }
  }
  void *columns = (void *)profiler->columns;
  bool ok = cst__grow(&profiler->allocator, &columns, &profiler->column_capacity, profiler->count,
                      sizeof *profiler->columns);
  profiler->columns = columns;
  return ok;
}

/* Pairs are made of the names of a batch before any of its values count. */
static bool profile_columns(cst__profiler *profiler, const cst__slots *slots) {
  const cst__view *batch = slots->view;
  const cst__mask mask = {batch, slots->mask};
  bool ok = need_profiles(profiler, batch);
  for (size_t i = 0; i < profiler->count && ok; i++) {
    profiler->columns[i] = NULL;
  }
  for (int64_t i = 0; i < batch->num_children && ok; i++) {
    size_t at = need_profile(profiler, batch->children[i].name);
    const cst__slots column = {.view = &batch->children[i],
                               .mask = batch->null_count > 0 ? &mask : slots->mask};
    profiler->columns[at] = column.view;
    ok = profile_column(profiler, at, &column);
  }
  for (size_t i = 0; i < profiler->num_pairs && ok; i++) {
    check_pair(profiler, &profiler->pairs[i], batch->length);
  }
  return ok;
}

cst_status cst__profiler_add(cst__profiler *profiler, const cst__view *batch, cst_error *error) {
  const cst__slots rows = cst__slots_all(batch);
  return profile_columns(profiler, &rows) ? CST_OK : cst__fail_memory(error, sizeof(cst__profile));
}

/* ---- merging ---- */

/* The pair of the same columns; NULL: it has not both of them. */
static const cst__pair *find_same_pair(const cst__profiler *profiler, const cst__pair *pair,
                                       const cst__profile *column, const cst__profile *values) {
  size_t at = column != NULL && values != NULL ? values->first_pair : SIZE_MAX;
  for (; at != SIZE_MAX; at = profiler->pairs[at].next) {
    const cst__pair *other = &profiler->pairs[at];
    if (other->kind == pair->kind && other->rank == pair->rank &&
        &profiler->items[other->column] == column) {
      return other;
    }
  }
  return NULL;
}

static const cst__profile *find_same(const cst__profiler *profiler, const cst__profile *p) {
  return cst__profiler_find(profiler, (cst_bytes){(const uint8_t *)p->name, p->name_size});
}

/* Goes on with a pair in records that may have one of the columns only. */
static void merge_pair(const cst__profiler *into, cst__pair *pair, const cst__profiler *from) {
  const cst__profile *column = find_same(from, &into->items[pair->column]);
  const cst__profile *values = find_same(from, &into->items[pair->values]);
  const cst__pair *other = find_same_pair(from, pair, column, values);
  if (other != NULL) {
    pair->holds = pair->holds && other->holds;
    pair->proven = pair->proven || other->proven;
    return;
  }
  pair->holds = pair->holds && (column == NULL || fits_alone(column, pair->kind)) &&
                (values == NULL || has_no_items(values));
}

static bool merge_profiles(cst__profiler *into, const cst__profiler *from);

static bool merge_strings(const cst__profiler *into, cst__few_strings *strings,
                          const cst__few_strings *from) {
  bool ok = true;
  if (from->too_many) {
    forget_strings(strings);
  }
  for (size_t i = 0; i < from->count && ok; i++) {
    ok = profile_string(into, strings, from->items[i]);
  }
  return ok;
}

static bool merge_profile(const cst__profiler *into, cst__profile *p, const cst__profile *from) {
  p->count = p->count + from->count < p->count ? UINT64_MAX : p->count + from->count;
  p->has_nulls = p->has_nulls || from->has_nulls;
  p->has_nan = p->has_nan || from->has_nan;
  p->is_beyond = p->is_beyond || from->is_beyond;
  p->is_unsigned = p->is_unsigned || from->is_unsigned;
  p->rises = p->rises || from->rises;
  p->falls = p->falls || from->falls;
  join_ints(p, &from->ints);
  join_floats(p, &from->floats);
  return merge_strings(into, &p->strings, &from->strings) &&
         (from->parts == NULL || (need_parts(into, p) && merge_profiles(p->parts, from->parts)));
}

static bool merge_profiles(cst__profiler *into, const cst__profiler *from) {
  bool ok = true;
  for (size_t i = 0; i < from->count && ok; i++) {
    ok = need_profile(into, from->items[i].name) != SIZE_MAX;
  }
  for (size_t i = 0; i < into->num_pairs && ok; i++) {
    merge_pair(into, &into->pairs[i], from);
  }
  for (size_t i = 0; i < from->count && ok; i++) {
    ok =
        merge_profile(into, &into->items[need_profile(into, from->items[i].name)], &from->items[i]);
  }
  return ok;
}

cst_status cst__profiler_merge(cst__profiler *into, const cst__profiler *from, cst_error *error) {
  return merge_profiles(into, from) ? CST_OK : cst__fail_memory(error, sizeof(cst__profile));
}

void cst__profiler_restart(cst__profiler *profiler) {
  for (size_t i = 0; i < profiler->count; i++) {
    cst__profile *p = &profiler->items[i];
    bool too_many = p->strings.too_many;
    forget_strings(&p->strings);
    *p = (cst__profile){.name = p->name,
                        .name_size = p->name_size,
                        .strings.too_many = too_many,
                        .first_pair = p->first_pair,
                        .parts = p->parts};
    if (p->parts != NULL) {
      cst__profiler_restart(p->parts);
    }
  }
  for (size_t i = 0; i < profiler->num_pairs; i++) {
    profiler->pairs[i].holds = true;
    profiler->pairs[i].proven = false;
  }
}

/* ---- saving and loading ---- */

static void archive_strings(cst__archive *a, const cst__profiler *profiler,
                            cst__few_strings *strings) {
  size_t count = strings->count;
  cst__archive_bool(a, &strings->too_many);
  cst__archive_count(a, &count);
  cst__archive_check(a, !strings->too_many || count == 0);
  for (size_t i = 0; i < count && !a->bad; i++) {
    cst_bytes value = {NULL, 0};
    if (!cst__archive_loads(a)) {
      value = strings->items[i];
    }
    cst__archive_bytes(a, &value);
    if (cst__archive_loads(a) && !a->bad) {
      if (!profile_string(profiler, strings, value)) {
        cst__archive_fail_memory(a);
      }
      cst__archive_check(a, strings->count == i + 1); /* none comes twice */
    }
  }
}

static void archive_profiles(cst__archive *a, cst__profiler *profiler, int depth);

static void archive_profile(cst__archive *a, const cst__profiler *profiler, cst__profile *p,
                            int depth) {
  bool has_parts = p->parts != NULL;
  bool *const flags[] = {&p->has_nulls, &p->has_nan, &p->is_beyond, &p->is_unsigned,
                         &p->rises,     &p->falls,   &p->ints.any,  &p->floats.any};
  int64_t *const ints[] = {&p->ints.min, &p->ints.max, &p->ints.first, &p->ints.last};
  double *const floats[] = {&p->floats.min, &p->floats.max, &p->floats.first, &p->floats.last};
  cst__archive_u64(a, &p->count);
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    cst__archive_bool(a, flags[i]);
  }
  for (size_t i = 0; i < 4; i++) {
    cst__archive_i64(a, ints[i]);
    cst__archive_double(a, floats[i]);
  }
  archive_strings(a, profiler, &p->strings);
  cst__archive_bool(a, &has_parts);
  cst__archive_check(a, !has_parts || depth < MAX_DEPTH);
  if (has_parts && !a->bad && !need_parts(profiler, p)) {
    cst__archive_fail_memory(a);
  }
  if (has_parts && !a->bad) {
    archive_profiles(a, p->parts, depth + 1);
  }
}

/* Pairs are made of the names, in the same order, whenever these are. */
static void archive_pairs(cst__archive *a, cst__profiler *profiler) {
  for (size_t i = 0; i < profiler->num_pairs && !a->bad; i++) {
    cst__archive_bool(a, &profiler->pairs[i].holds);
    cst__archive_bool(a, &profiler->pairs[i].proven);
  }
}

static void archive_profiles(cst__archive *a, cst__profiler *profiler, int depth) {
  size_t count = profiler->count;
  cst__arena names;
  cst__arena_init(&names, &profiler->allocator);
  cst__archive_count(a, &count);
  for (size_t i = 0; i < count && !a->bad; i++) {
    const char *name = cst__archive_loads(a) ? "" : profiler->items[i].name;
    cst__archive_name(a, &name, &names);
    if (cst__archive_loads(a) && !a->bad && need_profile(profiler, name) == SIZE_MAX) {
      cst__archive_fail_memory(a);
    }
    cst__archive_check(a, profiler->count == i + 1); /* no name comes twice */
    if (!a->bad) {
      archive_profile(a, profiler, &profiler->items[i], depth);
    }
  }
  archive_pairs(a, profiler);
  cst__arena_reset(&names);
}

void cst__profiler_archive(cst__profiler *profiler, cst__archive *a) {
  archive_profiles(a, profiler, 0);
}
