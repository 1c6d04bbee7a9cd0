/* What statistics have found, as a table: a row for each feature of each slice. docs/statistics.md
 * says what the columns are.
 */
#include <math.h>
#include <stdlib.h>

#include "arrow/findings.h"
#include "base/bytes.h"
#include "statistics/statistics.h"
#include "text/number.h"

static const cst__finding_column slice_columns[] = {CST__TEXT("path"), CST__TEXT("value")};
static const cst__finding_column level_columns[] = {CST__NUMBER("nulls"),
                                                    CST__NUMBER("lists"),
                                                    CST__NUMBER_OR_NULL("empty"),
                                                    CST__NUMBER("items"),
                                                    CST__NUMBER_OR_NULL("min"),
                                                    CST__NUMBER_OR_NULL("max"),
                                                    CST__REAL_OR_NULL("nulls_weight"),
                                                    CST__REAL_OR_NULL("lists_weight"),
                                                    CST__REAL_OR_NULL("items_weight")};
static const cst__finding_column bucket_columns[] = {CST__REAL("low"), CST__REAL("high"),
                                                     CST__REAL("weight")};
static const cst__finding_column top_columns[] = {CST__TEXT("value"), CST__REAL("lower"),
                                                  CST__REAL("upper")};
static const cst__finding_column quantile_column[] = {CST__REAL(NULL)};

static const cst__finding_column columns[] = {
    CST__LIST_OF("slice", slice_columns), CST__TEXT("path"), CST__TEXT("type"), CST__NUMBER("rows"),
    CST__NUMBER("present"), CST__REAL_OR_NULL("rows_weight"), CST__REAL_OR_NULL("present_weight"),
    CST__LIST_OF("levels", level_columns), CST__LIST_OF("lengths", quantile_column),
    CST__NUMBER("values"), CST__REAL_OR_NULL("values_weight"),
    /* numbers */
    CST__REAL_OR_NULL("mean"), CST__REAL_OR_NULL("std_dev"), CST__REAL_OR_NULL("min"),
    CST__REAL_OR_NULL("max"), CST__TEXT_OR_NULL("exact_min"), CST__TEXT_OR_NULL("exact_max"),
    CST__NUMBER_OR_NULL("zeros"), CST__NUMBER_OR_NULL("negatives"), CST__NUMBER_OR_NULL("nan"),
    CST__NUMBER_OR_NULL("plus_infinity"), CST__NUMBER_OR_NULL("minus_infinity"),
    CST__LIST_OF("quantiles", quantile_column), CST__LIST_OF("histogram", bucket_columns),
    CST__REAL_OR_NULL("weighted_mean"), CST__REAL_OR_NULL("weighted_std_dev"),
    CST__LIST_OF("weighted_quantiles", quantile_column),
    CST__LIST_OF("weighted_histogram", bucket_columns),
    /* strings and bytes */
    CST__REAL_OR_NULL("mean_length"), CST__NUMBER_OR_NULL("min_length"),
    CST__NUMBER_OR_NULL("max_length"), CST__REAL_OR_NULL("weighted_mean_length"),
    CST__REAL_OR_NULL("mean_tokens"), CST__NUMBER_OR_NULL("not_utf8"),
    /* both */
    CST__REAL_OR_NULL("distinct"), CST__REAL_OR_NULL("distinct_low"),
    CST__REAL_OR_NULL("distinct_high"), CST__LIST_OF("top", top_columns),
    CST__LIST_OF("weighted_top", top_columns), CST__LIST_OF("pairs", cst__pair_columns)};

const cst__finding_type cst__features_type = {"features", columns,
                                              sizeof columns / sizeof columns[0]};

/* ---- parts of a row ---- */

/* NaN is null. */
static void put_real_or_null(cst_findings *found, double number) {
  if (isnan(number)) {
    cst__put_null(found);
  } else {
    cst__put_real(found, number);
  }
}

static void put_nulls(cst_findings *found, int count) {
  for (int i = 0; i < count; i++) {
    cst__put_null(found);
  }
}

static void put_no_list(cst_findings *found) {
  cst__open_list(found);
  cst__close_list(found);
}

static void put_slice(cst_findings *found, const cst__statistics *s, cst_bytes key) {
  const char *at = (const char *)key.data;
  cst__open_list(found);
  for (size_t i = 0; key.size > 0 && i < s->plan->options.num_by; i++) {
    cst__put_text(found, s->plan->options.by[i]);
    cst__put_text(found, at);
    at += strlen(at) + 1;
  }
  cst__close_list(found);
}

/* Of the first level, the weight of rows without a list. */
static double weight_of_nulls(const cst__stats *stats, size_t level) {
  cst__exact_number all, present, rest;
  if (level > 0) {
    return cst__exact_sum_value(&stats->levels[level].weights[CST__STATS_NULLS]);
  }
  cst__exact_from_sum(&all, &stats->weights[0]);
  cst__exact_from_sum(&present, &stats->weights[1]);
  cst__exact_subtract(&rest, &all, &present);
  return cst__exact_round(&rest);
}

static void put_levels(cst_findings *found, const cst__statistics *s, const cst__stats *stats) {
  cst__open_list(found);
  for (size_t i = 0; i < stats->num_levels; i++) {
    const cst__stats_level *level = &stats->levels[i];
    cst__put_number(found, i == 0 ? stats->rows - stats->present : level->nulls);
    cst__put_number(found, level->lists);
    cst__put_number(found, level->empty);
    cst__put_number(found, level->items);
    if (level->lists == 0) {
      put_nulls(found, 2);
    } else {
      cst__put_number(found, level->min);
      cst__put_number(found, level->max);
    }
    if (s->plan->stats.weighs) {
      cst__put_real(found, weight_of_nulls(stats, i));
      cst__put_real(found, cst__exact_sum_value(&level->weights[CST__STATS_LISTS]));
      cst__put_real(found, cst__exact_sum_value(&level->weights[CST__STATS_ITEMS]));
    } else {
      put_nulls(found, 3);
    }
  }
  cst__close_list(found);
}

enum { PARTS_OF_LENGTHS = 10 };

static cst_status put_lengths(cst_findings *found, const cst__stats *stats, cst_error *error) {
  cst__quantiles_view view;
  double bounds[PARTS_OF_LENGTHS + 1];
  double weights[PARTS_OF_LENGTHS];
  const bool has_lists = stats->num_levels > 0 && stats->levels[0].lists > 0;
  CST__TRY(cst__quantiles_view_init(&view, &stats->lengths, error));
  const bool are_alike = cst__quantiles_view_weight(&view) == 0;
  if (!are_alike) {
    cst__quantiles_equal_depth(&view, PARTS_OF_LENGTHS, bounds, weights);
  }
  cst__open_list(found);
  for (size_t i = 0; i <= PARTS_OF_LENGTHS && has_lists; i++) {
    cst__put_real(found, are_alike ? (double)stats->levels[0].min : bounds[i]);
  }
  cst__close_list(found);
  cst__quantiles_view_reset(&view);
  return CST_OK;
}

/* ---- numbers ---- */

static double as_double(cst__family family, cst__moments_number number) {
  return family == CST__FAMILY_INT    ? (double)number.as_int
         : family == CST__FAMILY_UINT ? (double)number.as_uint
                                      : number.as_double;
}

/* An integer as text, where a double would round it. */
static void put_exact(cst_findings *found, cst__family family, cst__moments_number number) {
  char text[CST__NUMBER_SIZE];
  const double most = 9007199254740992.0; /* 2^53 */
  if (family == CST__FAMILY_FLOAT || fabs(as_double(family, number)) <= most) {
    cst__put_null(found);
  } else {
    size_t size = family == CST__FAMILY_INT ? cst__print_int64(text, number.as_int)
                                            : cst__print_uint64(text, number.as_uint);
    cst__put_bytes(found, text, size);
  }
}

static void put_moments(cst_findings *found, const cst__stats *stats) {
  const cst__moments *moments = &stats->moments;
  const cst__family family = moments->family;
  cst__moments_result result;
  cst__moments_number least, largest;
  cst__moments_tell(moments, false, &result);
  put_real_or_null(found, result.mean);
  put_real_or_null(found, sqrt(result.variance));
  if (cst__moments_extremes(moments, &least, &largest)) {
    cst__put_real(found, as_double(family, least));
    cst__put_real(found, as_double(family, largest));
    put_exact(found, family, least);
    put_exact(found, family, largest);
  } else {
    put_nulls(found, 4);
  }
  cst__put_number(found, moments->num_zeros);
  cst__put_number(found, moments->num_negative);
  cst__put_number(found, moments->num_nan);
  cst__put_number(found, moments->num_plus_infinity);
  cst__put_number(found, moments->num_minus_infinity);
}

/* Bounds of parts, and their weights. */
typedef struct parts {
  double *bounds;  /* count + 1 */
  double *weights; /* count */
} parts;

static bool take_parts(parts *p, cst__arena *arena, size_t count) {
  p->bounds = cst__arena_take_items(arena, (int64_t)count + 1, sizeof *p->bounds);
  p->weights = cst__arena_take_items(arena, (int64_t)count, sizeof *p->weights);
  return p->bounds != NULL && p->weights != NULL;
}

static cst_status put_ranks(cst_findings *found, const cst__statistics *s,
                            const cst__quantiles *quantiles, cst__arena *arena, cst_error *error) {
  const size_t num_quantiles = (size_t)s->plan->options.quantiles;
  const size_t num_buckets = (size_t)s->plan->options.buckets;
  cst__quantiles_view view;
  parts deep, wide;
  if (!take_parts(&deep, arena, num_quantiles) || !take_parts(&wide, arena, num_buckets)) {
    return cst__fail_memory(error, num_quantiles + num_buckets);
  }
  CST__TRY(cst__quantiles_view_init(&view, quantiles, error));
  const bool has_values = cst__quantiles_view_weight(&view) > 0;
  cst__open_list(found);
  if (has_values) {
    cst__quantiles_equal_depth(&view, num_quantiles, deep.bounds, deep.weights);
    for (size_t i = 0; i <= num_quantiles; i++) {
      cst__put_real(found, deep.bounds[i]);
    }
  }
  cst__close_list(found);
  cst__open_list(found);
  if (has_values && cst__quantiles_equal_width(&view, num_buckets, wide.bounds, wide.weights)) {
    for (size_t i = 0; i < num_buckets; i++) {
      cst__put_real(found, wide.bounds[i]);
      cst__put_real(found, wide.bounds[i + 1]);
      cst__put_real(found, wide.weights[i]);
    }
  }
  cst__close_list(found);
  cst__quantiles_view_reset(&view);
  return CST_OK;
}

/* ---- values of all types ---- */

static void put_value(cst_findings *found, const cst__stats *stats, const cst__heavy_item *item) {
  char text[CST__NUMBER_SIZE];
  if (stats->type == CST__STATS_STRING || stats->type == CST__STATS_BYTES) {
    cst__put_bytes(found, item->bytes.data, item->bytes.size);
  } else if (stats->type == CST__STATS_BOOL) {
    cst__put_text(found, item->bits != 0 ? "true" : "false");
  } else {
    cst__put_bytes(found, text,
                   stats->type == CST__STATS_UINT ? cst__print_uint64(text, item->bits)
                                                  : cst__print_int64(text, (int64_t)item->bits));
  }
}

static cst_status put_top(cst_findings *found, const cst__statistics *s, const cst__stats *stats,
                          const cst__heavy *heavy, cst_error *error) {
  cst__heavy_item *items;
  size_t count;
  CST__TRY(cst__heavy_items(heavy, &items, &count, error));
  cst__open_list(found);
  for (size_t i = 0; i < count && i < (size_t)s->plan->options.top; i++) {
    put_value(found, stats, &items[i]);
    cst__put_real(found, items[i].lower);
    cst__put_real(found, items[i].upper);
  }
  cst__close_list(found);
  cst__delete(items);
  return CST_OK;
}

static void put_texts(cst_findings *found, const cst__stats *stats,
                      const cst__moments_result *weighted) {
  cst__moments_result result;
  cst__moments_number least, largest;
  cst__moments_tell(&stats->moments, false, &result);
  put_real_or_null(found, result.mean);
  if (cst__moments_extremes(&stats->moments, &least, &largest)) {
    cst__put_signed(found, least.as_int);
    cst__put_signed(found, largest.as_int);
  } else {
    put_nulls(found, 2);
  }
  put_real_or_null(found, weighted->mean);
  put_real_or_null(found, stats->type == CST__STATS_STRING && stats->values > 0
                              ? (double)stats->tokens / (double)stats->values
                              : (double)NAN);
  cst__put_number(found, stats->invalid);
}

static void put_distinct(cst_findings *found, const cst__stats *stats) {
  double low, high;
  cst__distinct_sketch_bounds(&stats->distinct, 2, &low, &high);
  cst__put_real(found, cst__distinct_sketch_estimate(&stats->distinct));
  cst__put_real(found, low);
  cst__put_real(found, high);
}

static cst_status put_numbers(cst_findings *found, const cst__statistics *s,
                              const cst__stats *stats, const cst__moments_result *weighted,
                              cst__arena *arena, cst_error *error) {
  put_moments(found, stats);
  CST__TRY(put_ranks(found, s, &stats->plain.quantiles, arena, error));
  put_real_or_null(found, weighted->mean);
  put_real_or_null(found, sqrt(weighted->variance));
  return put_ranks(found, s, &stats->weighted.quantiles, arena, error);
}

enum { MOMENTS_COLUMNS = 11, TEXT_COLUMNS = 6, DISTINCT_COLUMNS = 3 };

static void put_no_numbers(cst_findings *found) {
  put_nulls(found, MOMENTS_COLUMNS);
  put_no_list(found);
  put_no_list(found);
  put_nulls(found, 2);
  put_no_list(found);
  put_no_list(found);
}

static cst_status put_values(cst_findings *found, const cst__statistics *s, const cst__stats *stats,
                             cst__arena *arena, cst_error *error) {
  const bool are_bytes = stats->type == CST__STATS_STRING || stats->type == CST__STATS_BYTES;
  const bool are_numbers =
      !are_bytes && stats->type != CST__STATS_NULL && stats->type < CST__STATS_STRING;
  cst__moments_result weighted = {
      .weight = (double)NAN, .mean = (double)NAN, .variance = (double)NAN};
  if (s->plan->stats.weighs && (are_bytes || are_numbers)) {
    cst__moments_tell(&stats->moments, true, &weighted);
  }
  cst__put_number(found, stats->values);
  put_real_or_null(found, weighted.weight);
  if (are_numbers) {
    CST__TRY(put_numbers(found, s, stats, &weighted, arena, error));
  } else {
    put_no_numbers(found);
  }
  if (are_bytes) {
    put_texts(found, stats, &weighted);
  } else {
    put_nulls(found, TEXT_COLUMNS);
  }
  if (are_bytes || are_numbers) {
    put_distinct(found, stats);
    CST__TRY(put_top(found, s, stats, &stats->plain.heavy, error));
    return put_top(found, s, stats, &stats->weighted.heavy, error);
  }
  put_nulls(found, DISTINCT_COLUMNS);
  put_no_list(found);
  put_no_list(found);
  return CST_OK;
}

/* ---- rows ---- */

static cst_status put_features(cst_findings *found, const cst__statistics *s,
                               const cst__slice_stats *slice, cst__arena *arena, cst_error *error) {
  const bool weighs = s->plan->stats.weighs;
  void **sorted = cst__by_path_sort(&slice->features, arena);
  void **pairs = cst__by_path_sort(&slice->pairs, arena);
  if (sorted == NULL || pairs == NULL) {
    return cst__fail_memory(error, slice->features.count * sizeof *sorted);
  }
  for (size_t i = 0; i < slice->features.count; i++) {
    const cst__stats *stats = sorted[i];
    put_slice(found, s, slice->key);
    cst__put_path(found, stats->key);
    cst__put_text(found, cst__stats_type_name(stats->type));
    cst__put_number(found, stats->rows);
    cst__put_number(found, stats->present);
    put_real_or_null(found, weighs ? cst__exact_sum_value(&stats->weights[0]) : (double)NAN);
    put_real_or_null(found, weighs ? cst__exact_sum_value(&stats->weights[1]) : (double)NAN);
    put_levels(found, s, stats);
    CST__TRY(put_lengths(found, stats, error));
    CST__TRY(put_values(found, s, stats, arena, error));
    CST__TRY(cst__put_pairs(found, &slice->pairs, pairs, stats->key, error));
  }
  return CST_OK;
}

/* By their keys, which is by their values. */
static int compare_keys(const void *a, const void *b) {
  return cst__bytes_compare((*(cst__slice_stats *const *)a)->key,
                            (*(cst__slice_stats *const *)b)->key);
}

cst__slice_stats **cst__statistics_sort_slices(const cst__statistics *s, cst__arena *arena) {
  cst__slice_stats **sorted = cst__arena_take(arena, s->num_slices * sizeof *sorted + 1);
  if (sorted == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < s->num_slices; i++) {
    sorted[i] = s->slices[i];
  }
  if (s->num_slices > 1) {
    qsort(sorted, s->num_slices, sizeof *sorted, compare_keys);
  }
  return sorted;
}

static cst_status put_slices(cst_findings *found, const cst__statistics *s, cst__arena *arena,
                             cst_error *error) {
  cst__slice_stats **sorted = cst__statistics_sort_slices(s, arena);
  if (sorted == NULL) {
    return cst__fail_memory(error, s->num_slices);
  }
  for (size_t i = 0; i < s->num_slices; i++) {
    CST__TRY(put_features(found, s, sorted[i], arena, error));
  }
  return CST_OK;
}

static cst_status check_has_column(const cst__statistics *s, const char *name, const char *hint,
                                   cst_error *error) {
  if (s->all.num_rows == 0 || cst__by_path_find(&s->all.features, cst__bytes_of(name)) != NULL) {
    return CST_OK;
  }
  cst_status status = cst__fail(error, CST_NOT_FOUND, hint, "no row has this column");
  cst__error_add_path(error, name, strlen(name));
  return status;
}

/* Of a column of `by` that is not looked at, nobody knows. */
static cst_status check_has_columns(const cst__statistics *s, cst_error *error) {
  const cst__statistics_options *options = &s->plan->options;
  for (size_t i = 0; i < options->num_columns; i++) {
    CST__TRY(check_has_column(s, options->columns[i], "`columns` names columns at the top", error));
  }
  for (size_t i = 0; i < options->num_by && options->num_columns == 0; i++) {
    CST__TRY(check_has_column(s, options->by[i], "`by` names columns at the top", error));
  }
  return CST_OK;
}

cst_status cst__statistics_finish(const void *state, cst_findings **out, cst_error *error) {
  const cst__statistics *s = state;
  cst_findings *found;
  cst__arena arena;
  CST__TRY(check_has_columns(s, error));
  if (s->all.num_rows > 0) {
    CST__TRY(cst__pairs_check(&s->plan->pairs, &s->all.pairs, error));
  }
  CST__TRY(cst__findings_new(&cst__features_type, &s->allocator, &found, error));
  uint64_t kept = 0;
  for (size_t i = 0; i < s->num_slices; i++) {
    kept = cst__count_sum(kept, s->slices[i]->num_rows);
  }
  cst__put_total(found, "num_rows", s->all.num_rows);
  cst__put_total(found, "num_slices", s->num_slices);
  cst__put_total(found, "num_slices_left_out",
                 (uint64_t)llround(cst__distinct_sketch_estimate(&s->slices_seen)) - s->num_slices);
  cst__put_total(found, "num_rows_left_out", s->num_sliced - kept);
  if (s->memory / 4 * 5 > cst__statistics_memory_limit(s)) { /* more than 80 % */
    cst__put_total(found, "memory", s->memory);
    cst__put_total(found, "memory_limit", cst__statistics_memory_limit(s));
  }
  cst__arena_init(&arena, &s->allocator);
  cst_status status = put_features(found, s, &s->all, &arena, error);
  if (status == CST_OK) {
    status = put_slices(found, s, &arena, error);
  }
  cst__arena_reset(&arena);
  if (status != CST_OK) {
    cst_findings_free(found);
    return status;
  }
  return cst__findings_finish(found, out, error);
}
