/* Sketches out of statistics, as sketches of their own: to ask more of them than the table says. */
#include <stdio.h>
#include <stdlib.h>

#include "arrow/findings.h"
#include "base/names.h"
#include "sketch/sketch.h"
#include "statistics/statistics.h"

/* ---- the feature of a row of the table ---- */

static cst_status find_row(const cst__statistics *s, size_t row, cst__arena *arena,
                           const cst__stats **out, cst_error *error) {
  const cst__slice_stats *slice = &s->all;
  cst__slice_stats **sorted = cst__statistics_sort_slices(s, arena);
  size_t left = row;
  if (sorted == NULL) {
    return cst__fail_memory(error, s->num_slices);
  }
  for (size_t i = 0; left >= slice->features.count; i++) {
    left -= slice->features.count;
    if (i == s->num_slices) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                       "there is no row %zu in the table of features", row);
    }
    slice = sorted[i];
  }
  void **features = cst__by_path_sort(&slice->features, arena);
  if (features == NULL) {
    return cst__fail_memory(error, slice->features.count);
  }
  *out = features[left];
  return CST_OK;
}

/* ---- kinds ---- */

/* A sketch of a feature: how it is made empty, and what fills it. */
typedef struct kept_sketch {
  const char *kind;
  unsigned families; /* of values that it is kept of: bits 1 << CST__FAMILY_x */
  bool has_weighted;
  void (*save)(const cst__stats *stats, bool by_weights, cst__archive *a);
} kept_sketch;

static const cst__stats_sketches *sketches_of(const cst__stats *stats, bool by_weights) {
  return by_weights ? &stats->weighted : &stats->plain;
}

/* Saving only reads them. */
static void save_quantiles(const cst__stats *stats, bool by_weights, cst__archive *a) {
  cst__quantiles_archive((cst__quantiles *)(uintptr_t)&sketches_of(stats, by_weights)->quantiles,
                         a);
}

static void save_heavy(const cst__stats *stats, bool by_weights, cst__archive *a) {
  cst__heavy_archive((cst__heavy *)(uintptr_t)&sketches_of(stats, by_weights)->heavy, a);
}

static void save_distinct(const cst__stats *stats, bool by_weights, cst__archive *a) {
  (void)by_weights;
  cst__distinct_sketch_archive((cst__distinct_sketch *)(uintptr_t)&stats->distinct, a);
}

enum {
  WHOLE = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT,
  REAL = 1u << CST__FAMILY_FLOAT,
  BYTES = 1u << CST__FAMILY_BYTES
};

static const kept_sketch kept_sketches[] = {
    {"quantiles", WHOLE | REAL, true, save_quantiles},
    {"heavy_hitters", WHOLE | BYTES, true, save_heavy},
    {"distinct", WHOLE | REAL | BYTES, false, save_distinct}};

enum { NUM_KEPT = sizeof kept_sketches / sizeof kept_sketches[0] };

static const char *nth_kind(const void *items, size_t i) {
  return ((const kept_sketch *)items)[i].kind;
}

static cst_status find_kind(const char *kind, const kept_sketch **out, cst_error *error) {
  for (size_t i = 0; i < NUM_KEPT; i++) {
    if (strcmp(kept_sketches[i].kind, kind) == 0) {
      *out = &kept_sketches[i];
      return CST_OK;
    }
  }
  const cst__name_list names = {kept_sketches, NUM_KEPT, nth_kind};
  char hint[CST__NAMES_HINT];
  return cst__fail(error, CST_INVALID_ARGUMENT, cst__names_hint(hint, kind, "there are", &names),
                   "statistics keep no sketch '%.60s'", kind);
}

/* The options that the sketches of the plan have. */
static cst_status new_sketch(const cst__statistics_plan *plan, const char *kind,
                             const cst_allocator *allocator, cst_sketch **out, cst_error *error) {
  char number[2][CST__REAL_ROOM];
  cst_option options[] = {{"error", number[0], NULL}, {NULL, number[1], NULL}};
  size_t count = 1;
  if (strcmp(kind, "quantiles") == 0) {
    cst__real_print(number[0], plan->options.error);
  } else if (strcmp(kind, "distinct") == 0) {
    options[0].name = "precision";
    (void)snprintf(number[0], sizeof number[0], "%d", plan->stats.precision);
  } else {
    options[0].name = "size";
    options[1].name = "longest";
    (void)snprintf(number[0], sizeof number[0], "%zu", plan->stats.heavy.size);
    (void)snprintf(number[1], sizeof number[1], "%zu", plan->stats.heavy.longest);
    count = 2;
  }
  return cst_sketch_new(kind, options, count, allocator, out, error);
}

/* ---- copies ---- */

/* The bytes of a saved state fill the sketch, as if they had been loaded. */
static cst_status copy_sketch(const cst__statistics *s, const cst__stats *stats,
                              const kept_sketch *kept, bool by_weights, cst_sketch *into,
                              cst_error *error) {
  cst__text saved = {.allocator = s->allocator};
  cst__archive a = cst__archive_to(&saved);
  kept->save(stats, by_weights, &a);
  const cst__sketch_filling filling = {.family = cst__stats_family(stats->type),
                                       .is_binary = stats->type == CST__STATS_BYTES,
                                       .num_values = (int64_t)stats->values,
                                       .state = {(const uint8_t *)saved.data, saved.size}};
  cst_status status =
      saved.failed ? cst__fail_memory(error, saved.size) : cst__sketch_load(into, &filling, error);
  cst__text_free(&saved);
  return status;
}

static cst_status make_sketch(const cst__statistics *s, const cst__statistics_sketch_of *of,
                              cst__arena *arena, cst_sketch **out, cst_error *error) {
  const kept_sketch *kept = NULL;
  const cst__stats *stats = NULL;
  CST__TRY(find_kind(of->kind, &kept, error));
  CST__TRY(find_row(s, of->row, arena, &stats, error));
  if ((kept->families & 1u << cst__stats_family(stats->type)) == 0) {
    return cst__fail(error, CST_UNSUPPORTED, NULL, "statistics keep no sketch '%s' of %s",
                     kept->kind, cst__stats_type_name(stats->type));
  }
  if (of->by_weights && (!kept->has_weighted || !s->plan->stats.weighs)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give the statistics the option `weight`",
                     "these statistics have no sketch '%s' by weight", kept->kind);
  }
  CST__TRY(new_sketch(s->plan, kept->kind, &s->allocator, out, error));
  cst_status status = copy_sketch(s, stats, kept, of->by_weights, *out, error);
  if (status != CST_OK) {
    cst_sketch_free(*out);
    *out = NULL;
  }
  return status;
}

cst_status cst__statistics_sketch(const void *state, const cst__statistics_sketch_of *of,
                                  cst_sketch **out, cst_error *error) {
  const cst__statistics *s = state;
  cst__arena arena;
  cst__arena_init(&arena, &s->allocator);
  cst_status status = make_sketch(s, of, &arena, out, error);
  cst__arena_reset(&arena);
  return status;
}
