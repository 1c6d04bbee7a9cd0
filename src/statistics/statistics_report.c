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
static const cst__finding_column level_columns[] = {
    CST__NUMBER("nulls"), CST__NUMBER("lists"),       CST__NUMBER_OR_NULL("empty"),
    CST__NUMBER("items"), CST__NUMBER_OR_NULL("min"), CST__NUMBER_OR_NULL("max")};
static const cst__finding_column bucket_columns[] = {CST__REAL("low"), CST__REAL("high"),
                                                     CST__REAL("weight")};
static const cst__finding_column top_columns[] = {CST__TEXT("value"), CST__REAL("lower"),
                                                  CST__REAL("upper")};
static const cst__finding_column quantile_column[] = {CST__REAL(NULL)};

static const cst__finding_column columns[] = {
    CST__LIST_OF("slice", slice_columns), CST__TEXT("path"), CST__TEXT("type"), CST__NUMBER("rows"),
    CST__NUMBER("present"), CST__REAL_OR_NULL("rows_weight"), CST__REAL_OR_NULL("present_weight"),
    CST__LIST_OF("levels", level_columns), CST__NUMBER("values"),
    /* numbers */
    CST__REAL_OR_NULL("mean"), CST__REAL_OR_NULL("std_dev"), CST__REAL_OR_NULL("min"),
    CST__REAL_OR_NULL("max"), CST__TEXT_OR_NULL("exact_min"), CST__TEXT_OR_NULL("exact_max"),
    CST__NUMBER_OR_NULL("zeros"), CST__NUMBER_OR_NULL("negatives"), CST__NUMBER_OR_NULL("nan"),
    CST__NUMBER_OR_NULL("plus_infinity"), CST__NUMBER_OR_NULL("minus_infinity"),
    CST__LIST_OF("quantiles", quantile_column), CST__LIST_OF("histogram", bucket_columns),
    /* strings and bytes */
    CST__REAL_OR_NULL("mean_length"), CST__NUMBER_OR_NULL("min_length"),
    CST__NUMBER_OR_NULL("max_length"), CST__NUMBER_OR_NULL("not_utf8"),
    /* both */
    CST__REAL_OR_NULL("distinct"), CST__REAL_OR_NULL("distinct_low"),
    CST__REAL_OR_NULL("distinct_high"), CST__LIST_OF("top", top_columns)};

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

static void put_levels(cst_findings *found, const cst__stats *stats) {
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
  }
  cst__close_list(found);
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

static void put_moments(cst_findings *found, const cst__stats *stats, bool by_weights) {
  const cst__moments *moments = &stats->moments;
  const cst__family family = moments->family;
  cst__moments_result result;
  cst__moments_number least, largest;
  cst__moments_tell(moments, by_weights, &result);
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

static cst_status put_ranks(cst_findings *found, const cst__statistics *s, const cst__stats *stats,
                            cst__arena *arena, cst_error *error) {
  const size_t num_quantiles = (size_t)s->plan->options.quantiles;
  const size_t num_buckets = (size_t)s->plan->options.buckets;
  cst__quantiles_view view;
  parts deep, wide;
  if (!take_parts(&deep, arena, num_quantiles) || !take_parts(&wide, arena, num_buckets)) {
    return cst__fail_memory(error, num_quantiles + num_buckets);
  }
  CST__TRY(cst__quantiles_view_init(&view, &stats->quantiles, error));
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
                          cst_error *error) {
  cst__heavy_item *items;
  size_t count;
  CST__TRY(cst__heavy_items(&stats->heavy, &items, &count, error));
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

static void put_lengths(cst_findings *found, const cst__stats *stats, bool by_weights) {
  cst__moments_result result;
  cst__moments_number least, largest;
  cst__moments_tell(&stats->moments, by_weights, &result);
  put_real_or_null(found, result.mean);
  if (cst__moments_extremes(&stats->moments, &least, &largest)) {
    cst__put_signed(found, least.as_int);
    cst__put_signed(found, largest.as_int);
  } else {
    put_nulls(found, 2);
  }
  cst__put_number(found, stats->invalid);
}

static void put_distinct(cst_findings *found, const cst__stats *stats) {
  double low, high;
  cst__distinct_sketch_bounds(&stats->distinct, 2, &low, &high);
  cst__put_real(found, cst__distinct_sketch_estimate(&stats->distinct));
  cst__put_real(found, low);
  cst__put_real(found, high);
}

enum { NUMBER_COLUMNS = 11, LENGTH_COLUMNS = 4, DISTINCT_COLUMNS = 3 };

static cst_status put_values(cst_findings *found, const cst__statistics *s, const cst__stats *stats,
                             cst__arena *arena, cst_error *error) {
  const bool by_weights = s->plan->options.weight != NULL;
  const bool are_bytes = stats->type == CST__STATS_STRING || stats->type == CST__STATS_BYTES;
  const bool are_numbers =
      !are_bytes && stats->type != CST__STATS_NULL && stats->type < CST__STATS_STRING;
  if (are_numbers) {
    put_moments(found, stats, by_weights);
    CST__TRY(put_ranks(found, s, stats, arena, error));
  } else {
    put_nulls(found, NUMBER_COLUMNS);
    put_no_list(found);
    put_no_list(found);
  }
  if (are_bytes) {
    put_lengths(found, stats, by_weights);
  } else {
    put_nulls(found, LENGTH_COLUMNS);
  }
  if (are_bytes || are_numbers) {
    put_distinct(found, stats);
    return put_top(found, s, stats, error);
  }
  put_nulls(found, DISTINCT_COLUMNS);
  put_no_list(found);
  return CST_OK;
}

/* ---- rows ---- */

static cst_status put_features(cst_findings *found, const cst__statistics *s,
                               const cst__slice_stats *slice, cst__arena *arena, cst_error *error) {
  const bool weighs = s->plan->options.weight != NULL;
  void **sorted = cst__by_path_sort(&slice->features, arena);
  if (sorted == NULL) {
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
    put_levels(found, stats);
    cst__put_number(found, stats->values);
    CST__TRY(put_values(found, s, stats, arena, error));
  }
  return CST_OK;
}

/* By their keys, which is by their values. */
static int compare_keys(const void *a, const void *b) {
  return cst__bytes_compare((*(cst__slice_stats *const *)a)->key,
                            (*(cst__slice_stats *const *)b)->key);
}

static cst_status put_slices(cst_findings *found, const cst__statistics *s, cst__arena *arena,
                             cst_error *error) {
  const size_t size = s->num_slices * sizeof(cst__slice_stats *);
  cst__slice_stats **sorted = cst__arena_take(arena, size + 1);
  if (sorted == NULL) {
    return cst__fail_memory(error, size);
  }
  for (size_t i = 0; i < s->num_slices; i++) {
    sorted[i] = s->slices[i];
  }
  if (s->num_slices > 1) {
    qsort(sorted, s->num_slices, sizeof *sorted, compare_keys);
  }
  for (size_t i = 0; i < s->num_slices; i++) {
    CST__TRY(put_features(found, s, sorted[i], arena, error));
  }
  return CST_OK;
}

static cst_status check_has_columns(const cst__statistics *s, cst_error *error) {
  const cst__statistics_options *options = &s->plan->options;
  for (size_t i = 0; i < options->num_columns && s->all.num_rows > 0; i++) {
    if (cst__by_path_find(&s->all.features, cst__bytes_of(options->columns[i])) == NULL) {
      cst_status status = cst__fail(error, CST_NOT_FOUND, "`columns` names columns at the top",
                                    "there is no such column in any of the rows");
      cst__error_add_path(error, options->columns[i], strlen(options->columns[i]));
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__statistics_finish(const void *state, cst_findings **out, cst_error *error) {
  const cst__statistics *s = state;
  cst_findings *found;
  cst__arena arena;
  CST__TRY(check_has_columns(s, error));
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
