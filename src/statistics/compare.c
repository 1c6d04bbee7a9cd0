/* The comparison of two tables of features, as a table: a row for each feature of each slice that
 * stands in either of them, the worst first. docs/drift.md says what the columns are.
 *
 * Each feature is compared twice: once for its place in the order, and once for its row.
 */
#include "statistics/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arguments.h"

/* ---- the table ---- */

static const cst__finding_column slice_columns[] = {CST__TEXT("path"), CST__TEXT("value")};
static const cst__finding_column value_columns[] = {CST__TEXT("value"), CST__REAL("share")};
static const cst__finding_column anomaly_columns[] = {
    CST__TEXT("kind"), CST__TEXT("measure"), CST__REAL("threshold"), CST__REAL_OR_NULL("value"),
    CST__TEXT("text")};

static const cst__finding_column columns[] = {CST__LIST_OF("slice", slice_columns),
                                              CST__TEXT("path"),
                                              CST__TEXT("state"),
                                              CST__REAL("score"),
                                              CST__TEXT("what"),
                                              CST__TEXT_OR_NULL("type_before"),
                                              CST__TEXT_OR_NULL("type_after"),
                                              CST__NUMBER_OR_NULL("rows_before"),
                                              CST__NUMBER_OR_NULL("rows_after"),
                                              CST__REAL_OR_NULL("presence_before"),
                                              CST__REAL_OR_NULL("presence_after"),
                                              CST__REAL_OR_NULL("presence_change"),
                                              CST__REAL_OR_NULL("mean_before"),
                                              CST__REAL_OR_NULL("mean_after"),
                                              CST__REAL_OR_NULL("linf"),
                                              CST__REAL_OR_NULL("linf_low"),
                                              CST__REAL_OR_NULL("linf_high"),
                                              CST__REAL_OR_NULL("normalized_abs_difference"),
                                              CST__REAL_OR_NULL("jensen_shannon"),
                                              CST__REAL_OR_NULL("psi"),
                                              CST__REAL_OR_NULL("ks"),
                                              CST__REAL_OR_NULL("resolution"),
                                              CST__BOOL("weighted"),
                                              CST__LIST_OF("new_values", value_columns),
                                              CST__LIST_OF("lost_values", value_columns),
                                              CST__LIST_OF("anomalies", anomaly_columns)};

static const cst__finding_type drift_type = {"drift", columns, sizeof columns / sizeof columns[0]};

static const char *const state_names[] = {"both",         "new",       "lost",
                                          "changed-type", "new-slice", "lost-slice"};

/* ---- pairs of rows ---- */

/* The rows of a feature in both tables; SIZE_MAX: there is none. */
typedef struct pair {
  size_t rows[2];
  cst__compared_state state;
  double share; /* of a slice that one table lacks, of all rows */
  double score;
  bool is_anomalous;
  size_t place; /* in the order of the tables */
} pair;

typedef struct comparison {
  const cst_findings *tables[2];
  cst__limits limits;
  cst__arena arena;   /* keys and pairs */
  cst__arena scratch; /* of a row */
  cst__name_map keys[2], slices[2];
  pair *pairs;
  size_t num_pairs, num_anomalies;
  cst_findings *found;
} comparison;

/* The slice and the path of a row, each name and value with a NUL; *slice_size of them are the
 * slice's. NULL: no memory. */
static char *key_of(const cst_findings *table, size_t row, cst__arena *arena, size_t *size,
                    size_t *slice_size) {
  cst__text text = {0};
  size_t begin, end;
  (void)cst_findings_items(table, "slice", row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const char *const parts[] = {cst_findings_text(table, "slice.path", i),
                                 cst_findings_text(table, "slice.value", i)};
    for (size_t k = 0; k < 2; k++) {
      const char *part = parts[k] != NULL ? parts[k] : "";
      cst__text_append(&text, part, strlen(part) + 1);
    }
  }
  *slice_size = text.size;
  const char *path = cst_findings_text(table, "path", row);
  cst__text_puts(&text, path != NULL ? path : "");
  *size = text.size;
  char *key = text.failed ? NULL : cst__arena_copy(arena, text.data, text.size);
  cst__text_free(&text);
  return key;
}

/* Rows of the same key (a name may have a dot) are told apart by the order in which they come. */
static bool index_row(comparison *c, int side, size_t row) {
  size_t size, slice_size;
  char *key = key_of(c->tables[side], row, &c->arena, &size, &slice_size);
  if (key == NULL) {
    return false;
  }
  if (cst__name_map_find(&c->slices[side], key, slice_size) == SIZE_MAX &&
      !cst__name_map_add(&c->slices[side], key, slice_size, row)) {
    return false;
  }
  while (cst__name_map_find(&c->keys[side], key, size) != SIZE_MAX) {
    char *longer = cst__arena_take(&c->arena, size + 2);
    if (longer == NULL) {
      return false;
    }
    memcpy(longer, key, size);
    memcpy(longer + size, "\1", 2);
    key = longer;
    size++;
  }
  const size_t other = side == 1 ? cst__name_map_find(&c->keys[0], key, size) : SIZE_MAX;
  if (other != SIZE_MAX) { /* rows of the table before are the first pairs, in its order */
    c->pairs[other].rows[1] = row;
    c->pairs[other].state = CST__COMPARED_BOTH;
    return cst__name_map_add(&c->keys[side], key, size, row);
  }
  pair *made = &c->pairs[c->num_pairs++];
  *made = (pair){.rows = {SIZE_MAX, SIZE_MAX},
                 .state = side == 0 ? CST__COMPARED_LOST : CST__COMPARED_NEW,
                 .place = row};
  made->rows[side] = row;
  return cst__name_map_add(&c->keys[side], key, size, row);
}

static double num_rows_of(const cst_findings *table) {
  int64_t rows = cst_findings_total(table, "num_rows");
  for (size_t i = 0; rows < 0 && i < cst_findings_num_rows(table); i++) {
    rows = cst_findings_number(table, "rows", i);
  }
  return rows > 0 ? (double)rows : 0;
}

/* Of a feature that one table lacks: whether that has its slice. */
static bool mark_slice(comparison *c, pair *p) {
  const int side = p->state == CST__COMPARED_NEW;
  size_t size, slice_size;
  const char *key = key_of(c->tables[side], p->rows[side], &c->scratch, &size, &slice_size);
  if (key == NULL) {
    return false;
  }
  if (slice_size > 0 && cst__name_map_find(&c->slices[1 - side], key, slice_size) == SIZE_MAX) {
    const double rows = (double)cst_findings_number(c->tables[side], "rows", p->rows[side]);
    p->state = side == 1 ? CST__COMPARED_NEW_SLICE : CST__COMPARED_LOST_SLICE;
    p->share = fmin(rows / fmax(num_rows_of(c->tables[side]), 1), 1);
  }
  cst__arena_rewind(&c->scratch);
  return true;
}

static bool find_pairs(comparison *c) {
  const size_t most = cst_findings_num_rows(c->tables[0]) + cst_findings_num_rows(c->tables[1]);
  c->pairs = cst__arena_take_items(&c->arena, (int64_t)most + 1, sizeof *c->pairs);
  bool ok = c->pairs != NULL;
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; ok && i < cst_findings_num_rows(c->tables[side]); i++) {
      ok = index_row(c, side, i);
    }
  }
  for (size_t i = 0; ok && i < c->num_pairs; i++) {
    pair *p = &c->pairs[i];
    ok = p->state == CST__COMPARED_BOTH || mark_slice(c, p);
  }
  return ok;
}

/* ---- comparing ---- */

static bool compare_pair(comparison *c, const pair *p, cst__compared *out, cst__passed **passed) {
  *out = (cst__compared){
      .sides = {{c->tables[0], p->rows[0], false}, {c->tables[1], p->rows[1], false}},
      .state = p->state};
  cst__arena_rewind(&c->scratch);
  if (!cst__compared_fill(out, &c->scratch) ||
      !cst__limits_of_feature(&c->limits, out, &c->scratch, passed)) {
    return false;
  }
  const bool is_slice = p->state == CST__COMPARED_NEW_SLICE || p->state == CST__COMPARED_LOST_SLICE;
  out->score = is_slice ? p->share : out->score;
  return true;
}

static bool score_pairs(comparison *c) {
  for (size_t i = 0; i < c->num_pairs; i++) {
    cst__compared compared;
    cst__passed *passed;
    if (!compare_pair(c, &c->pairs[i], &compared, &passed)) {
      return false;
    }
    c->pairs[i].score = compared.score;
    c->pairs[i].is_anomalous = passed != NULL;
  }
  return true;
}

static int compare_places(size_t a, size_t b) { return a < b ? -1 : a > b; }

static int compare_pairs(const void *a, const void *b) {
  const pair *x = a;
  const pair *y = b;
  if (x->is_anomalous != y->is_anomalous) {
    return x->is_anomalous ? -1 : 1;
  }
  if (x->score > y->score || x->score < y->score) {
    return x->score > y->score ? -1 : 1;
  }
  const int order = compare_places(x->place, y->place);
  return order != 0 ? order : compare_places(x->rows[0], y->rows[0]);
}

/* ---- rows ---- */

static void put_real_or_null(cst_findings *found, double number) {
  if (isnan(number)) {
    cst__put_null(found);
  } else {
    cst__put_real(found, number);
  }
}

/* A table from elsewhere may lack columns. */
static void put_text(cst_findings *found, const char *text) {
  cst__put_text(found, text != NULL ? text : "");
}

static void put_slice(cst_findings *found, const cst__compared *c) {
  const cst__feature_row *side = &c->sides[c->sides[1].row != SIZE_MAX];
  size_t begin, end;
  (void)cst_findings_items(side->table, "slice", side->row, &begin, &end);
  cst__open_list(found);
  for (size_t i = begin; i < end; i++) {
    put_text(found, cst_findings_text(side->table, "slice.path", i));
    put_text(found, cst_findings_text(side->table, "slice.value", i));
  }
  cst__close_list(found);
}

static void put_sides(cst_findings *found, const cst__compared *c) {
  for (int side = 0; side < 2; side++) {
    cst__put_text(found, cst_findings_text(c->sides[side].table, "type", c->sides[side].row));
  }
  for (int side = 0; side < 2; side++) {
    const cst__feature_row *at = &c->sides[side];
    if (at->row == SIZE_MAX) {
      cst__put_null(found);
    } else {
      cst__put_signed(found, cst_findings_number(at->table, "rows", at->row));
    }
  }
  put_real_or_null(found, c->presence[0]);
  put_real_or_null(found, c->presence[1]);
  put_real_or_null(found, c->presence[1] - c->presence[0]);
  for (int side = 0; side < 2; side++) {
    const cst__feature_row *at = &c->sides[side];
    put_real_or_null(found,
                     cst_findings_real(at->table, at->weighs ? "weighted_mean" : "mean", at->row));
  }
}

static void put_measures(cst_findings *found, const cst__compared *c) {
  const double linf = c->measures[CST__MEASURE_LINF];
  put_real_or_null(found, linf);
  put_real_or_null(found, isnan(linf) ? linf : c->values.least_linf);
  put_real_or_null(found, isnan(linf) ? linf : c->values.most_linf);
  put_real_or_null(found, c->measures[CST__MEASURE_ABS_DIFFERENCE]);
  put_real_or_null(found, c->measures[CST__MEASURE_JENSEN_SHANNON]);
  put_real_or_null(found, c->measures[CST__MEASURE_PSI]);
  put_real_or_null(found, c->measures[CST__MEASURE_KS]);
  put_real_or_null(found, c->resolution);
  cst__put_number(found, c->sides[0].weighs);
}

/* Values that only one side has, in the order of the alphabet. */
static void put_only(cst_findings *found, const cst__compared_values *values, int side) {
  cst__open_list(found);
  for (size_t i = 0; i < values->count; i++) {
    if (cst__compared_values_has_only(values, i, side)) {
      cst__put_text(found, values->items[i].text);
      cst__put_real(found, values->items[i].share[side]);
    }
  }
  cst__close_list(found);
}

static void put_passed(comparison *c, const cst__passed *passed) {
  cst__open_list(c->found);
  for (; passed != NULL; passed = passed->next) {
    cst__put_text(c->found, passed->kind);
    cst__put_text(c->found, passed->measure);
    cst__put_real(c->found, passed->threshold);
    put_real_or_null(c->found, passed->value);
    cst__put_text(c->found, passed->text);
    c->num_anomalies++;
  }
  cst__close_list(c->found);
}

static bool put_pair(comparison *c, const pair *p) {
  cst_findings *found = c->found;
  cst__compared compared;
  cst__passed *passed;
  if (!compare_pair(c, p, &compared, &passed)) {
    return false;
  }
  const char *what = cst__compared_words(&compared, &c->scratch);
  if (what == NULL) {
    return false;
  }
  put_slice(found, &compared);
  put_text(found, cst__compared_text(&compared, "path"));
  cst__put_text(found, state_names[compared.state]);
  cst__put_real(found, compared.score);
  cst__put_text(found, what);
  put_sides(found, &compared);
  put_measures(found, &compared);
  put_only(found, &compared.values, 1);
  put_only(found, &compared.values, 0);
  put_passed(c, passed);
  return true;
}

/* The data as a whole, where thresholds of the number of rows are passed: without a path. */
static bool put_rows(comparison *c, double before, double after) {
  enum { REALS = 13 };
  char what[96];
  cst_findings *found = c->found;
  cst__passed *passed;
  (void)snprintf(what, sizeof what, "%.0f rows now, %.0f before", after, before);
  if (!cst__limits_of_rows(&c->limits, before, after, &c->scratch, &passed)) {
    return false;
  }
  if (passed == NULL) {
    return true;
  }
  cst__open_list(found);
  cst__close_list(found);
  cst__put_text(found, "");
  cst__put_text(found, state_names[CST__COMPARED_BOTH]);
  cst__put_real(found, fmin(fabs(after - before) / fmax(fmax(before, after), 1), 1));
  cst__put_text(found, what);
  cst__put_null(found);
  cst__put_null(found);
  cst__put_number(found, (uint64_t)before);
  cst__put_number(found, (uint64_t)after);
  for (int i = 0; i < REALS; i++) {
    cst__put_null(found);
  }
  cst__put_number(found, 0);
  for (int i = 0; i < 2; i++) {
    cst__open_list(found);
    cst__close_list(found);
  }
  put_passed(c, passed);
  return true;
}

/* ---- all ---- */

static cst_status compare_tables(comparison *c, cst_error *error) {
  const double before = num_rows_of(c->tables[0]);
  const double after = num_rows_of(c->tables[1]);
  bool ok = find_pairs(c) && score_pairs(c) && put_rows(c, before, after);
  if (ok && c->num_pairs > 1) {
    qsort(c->pairs, c->num_pairs, sizeof *c->pairs, compare_pairs);
  }
  for (size_t i = 0; ok && i < c->num_pairs; i++) {
    ok = put_pair(c, &c->pairs[i]);
  }
  if (!ok) {
    return cst__fail_memory(error, sizeof(pair));
  }
  cst__put_total(c->found, "num_anomalies", c->num_anomalies);
  cst__put_total(c->found, "num_rows_before", (uint64_t)before);
  cst__put_total(c->found, "num_rows_after", (uint64_t)after);
  return CST_OK;
}

static cst_status compare_by_limits(const cst_findings *before, const cst_findings *after,
                                    const cst__limits *limits, cst_findings **out,
                                    cst_error *error) {
  comparison c = {.tables = {before, after}, .limits = *limits};
  CST__TRY(cst__findings_new(&drift_type, NULL, &c.found, error));
  cst__arena_init(&c.arena, NULL);
  cst__arena_init(&c.scratch, NULL);
  cst_status status = compare_tables(&c, error);
  for (int side = 0; side < 2; side++) {
    cst__name_map_reset(&c.keys[side]);
    cst__name_map_reset(&c.slices[side]);
  }
  cst__arena_reset(&c.arena);
  cst__arena_reset(&c.scratch);
  if (status != CST_OK) {
    cst_findings_free(c.found);
    return status;
  }
  return cst__findings_finish(c.found, out, error);
}

/* Features of statistics, and not of a schema. */
static bool is_statistics(const cst_findings *table) {
  return strcmp(cst_findings_name(table), "features") == 0 &&
         (cst_findings_num_rows(table) == 0 ? cst_findings_total(table, "num_rows") >= 0
                                            : cst_findings_number(table, "values", 0) >= 0);
}

cst_status cst__check_features_table(const cst_findings *table, cst_error *error) {
  return is_statistics(table)
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT,
                         "pass the findings of the accumulator `statistics`, or saved statistics",
                         "these are %s, not statistics", cst_findings_name(table));
}

static cst_status read_and_compare(const cst_findings *before, const cst_findings *after,
                                   const cst_compare_options *options, cst_findings **out,
                                   cst_error *error) {
  const cst__option_list given = {options->options, options->num_options};
  cst__arena arena;
  void *read = NULL;
  cst__comparators comparators = {.count = 0};
  CST__TRY(cst__options_check_given(given.items, given.count, error));
  cst__arena_init(&arena, NULL);
  cst_status status = cst__options_read(&cst__compare_option_table, cst__compare_option_table.owner,
                                        given, &arena, &read, error);
  if (status == CST_OK && options->schema != NULL) {
    const cst__compare_limits *limits = read;
    const cst__comparator_choice choice = {(cst__comparison_kind)limits->kind, limits->environment};
    status = cst__comparators_init(&comparators, options->schema, &choice, NULL, error);
  }
  if (status == CST_OK) {
    const cst__limits limits = {read, options->schema != NULL ? &comparators : NULL};
    status = compare_by_limits(before, after, &limits, out, error);
  }
  cst__comparators_reset(&comparators);
  cst__arena_reset(&arena);
  return status;
}

cst_status cst_statistics_compare(const cst_findings *before, const cst_findings *after,
                                  const cst_compare_options *options, cst_findings **out,
                                  cst_error *error) {
  cst_compare_options own = CST_COMPARE_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(before, "before", out, error));
  CST__TRY(cst__check_given(after, "after", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(own.options != NULL || own.num_options == 0 ? CST_OK : cst__missing("options", error));
  CST__TRY(cst__check_features_table(before, error));
  CST__TRY(cst__check_features_table(after, error));
  return read_and_compare(before, after, &own, out, error);
}
