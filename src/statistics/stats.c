/* One feature: types, blocks of values, merging and saving. */
#include "statistics/stats.h"

#include "base/utf8.h"
#include "sketch/hashes.h"

/* ---- types ---- */

static const char *const type_names[] = {"NULL", "BOOL",   "INT",   "UINT",   "FLOAT",
                                         "TIME", "STRING", "BYTES", "STRUCT", "OTHER"};

const char *cst__stats_type_name(cst__stats_type type) { return type_names[type]; }

cst__stats_type cst__stats_type_of(const cst__view *values) {
  cst__family family;
  if (values->layout == CST__LAYOUT_STRUCT) {
    return CST__STATS_STRUCT;
  }
  if (cst__family_of(values, &family, NULL) != CST_OK) {
    return CST__STATS_OTHER;
  }
  switch (family) {
    case CST__FAMILY_INT:
      return values->layout == CST__LAYOUT_BOOL     ? CST__STATS_BOOL
             : values->layout == CST__LAYOUT_OPAQUE ? CST__STATS_TIME
                                                    : CST__STATS_INT;
    case CST__FAMILY_UINT:
      return CST__STATS_UINT;
    case CST__FAMILY_FLOAT:
      return CST__STATS_FLOAT;
    case CST__FAMILY_BYTES:
      return values->is_string ? CST__STATS_STRING : CST__STATS_BYTES;
    default:
      return CST__STATS_NULL;
  }
}

static cst__family family_of_type(cst__stats_type type) {
  static const cst__family families[] = {
      CST__FAMILY_NONE, CST__FAMILY_INT,   CST__FAMILY_INT,   CST__FAMILY_UINT, CST__FAMILY_FLOAT,
      CST__FAMILY_INT,  CST__FAMILY_BYTES, CST__FAMILY_BYTES, CST__FAMILY_NONE, CST__FAMILY_NONE};
  return families[type];
}

bool cst__stats_types_join(cst__stats_type a, cst__stats_type b, cst__stats_type *out) {
  if (a == b || b == CST__STATS_NULL) {
    *out = a;
  } else if (a == CST__STATS_NULL) {
    *out = b;
  } else if (family_of_type(a) == CST__FAMILY_INT && family_of_type(b) == CST__FAMILY_INT) {
    *out = CST__STATS_INT;
  } else if (family_of_type(a) == CST__FAMILY_BYTES && family_of_type(b) == CST__FAMILY_BYTES) {
    *out = CST__STATS_BYTES;
  } else {
    return false;
  }
  return true;
}

/* ---- making ---- */

void cst__stats_prepare(cst__stats *feature, const cst__stats_plan *plan) {
  if (!feature->is_ready) {
    cst__moments_init(&feature->moments, &plan->allocator);
    cst__quantiles_init(&feature->quantiles, &plan->quantiles);
    cst__distinct_sketch_init(&feature->distinct, plan->precision, plan->seed, &plan->allocator);
    cst__heavy_init(&feature->heavy, &plan->heavy, &plan->allocator);
    feature->is_ready = true;
  }
}

void cst__stats_reset(cst__stats *feature) {
  if (feature->is_ready) {
    cst__moments_reset(&feature->moments);
    cst__quantiles_reset(&feature->quantiles);
    cst__distinct_sketch_reset(&feature->distinct);
    cst__heavy_reset(&feature->heavy);
  }
  cst__exact_sum_reset(&feature->weights[0]);
  cst__exact_sum_reset(&feature->weights[1]);
  cst__delete(feature->levels);
}

size_t cst__stats_memory(const cst__stats *feature) {
  return cst__moments_memory(&feature->moments) + cst__quantiles_memory(&feature->quantiles) +
         cst__distinct_sketch_memory(&feature->distinct) + cst__heavy_memory(&feature->heavy);
}

/* ---- lists ---- */

bool cst__stats_need_levels(cst__stats *feature, const cst__stats_plan *plan, size_t count) {
  if (count <= feature->num_levels) {
    return true;
  }
  cst__stats_level *levels =
      feature->levels == NULL
          ? cst__new(&plan->allocator, count * sizeof *levels)
          : cst__renew(&plan->allocator, feature->levels, count * sizeof *levels);
  if (levels == NULL) {
    return false;
  }
  memset(levels + feature->num_levels, 0, (count - feature->num_levels) * sizeof *levels);
  feature->levels = levels;
  feature->num_levels = count;
  return true;
}

void cst__stats_level_add(cst__stats_level *level, uint64_t length) {
  level->min = level->lists == 0 || length < level->min ? length : level->min;
  level->max = length > level->max ? length : level->max;
  level->lists++;
  level->empty += length == 0;
  level->items = cst__count_sum(level->items, length);
}

static void merge_level(cst__stats_level *into, const cst__stats_level *from) {
  if (from->lists > 0) {
    into->min = into->lists == 0 || from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
  }
  into->nulls = cst__count_sum(into->nulls, from->nulls);
  into->lists = cst__count_sum(into->lists, from->lists);
  into->empty = cst__count_sum(into->empty, from->empty);
  into->items = cst__count_sum(into->items, from->items);
}

/* ---- values ---- */

static cst_status add_lengths(cst__stats *feature, const cst__value_block *values,
                              cst_error *error) {
  int64_t lengths[CST__VALUES_MOST];
  const cst_bytes *bytes = cst__values_bytes(values);
  const bool may_be_invalid = feature->type != CST__STATS_STRING;
  for (size_t i = 0; i < values->count; i++) {
    lengths[i] = (int64_t)bytes[i].size;
    feature->invalid += may_be_invalid && !cst__utf8_valid(bytes[i].data, bytes[i].size);
  }
  const cst__value_block block = {CST__FAMILY_INT, values->count, lengths, values->weights};
  return cst__moments_add(&feature->moments, &block) ? CST_OK
                                                     : cst__fail_memory(error, values->count);
}

cst_status cst__stats_add(void *stats, const cst__value_block *values, cst_error *error) {
  cst__stats *feature = stats;
  uint64_t hashes[CST__VALUES_MOST];
  feature->values = cst__count_sum(feature->values, values->count);
  cst__hash_values(values, cst__hash_key(feature->distinct.seed), hashes);
  CST__TRY(cst__distinct_sketch_add_hashes(&feature->distinct, hashes, values->count, error));
  if (values->family != CST__FAMILY_FLOAT) {
    CST__TRY(cst__heavy_add_hashed(&feature->heavy, values, hashes, error));
  }
  if (values->family == CST__FAMILY_BYTES) {
    return add_lengths(feature, values, error);
  }
  CST__TRY(cst__quantiles_add(&feature->quantiles, values, error));
  return cst__moments_add(&feature->moments, values) ? CST_OK
                                                     : cst__fail_memory(error, values->count);
}

/* ---- merging ---- */

cst_status cst__stats_fail_types(const cst__stats *stats, cst__stats_type type, cst_error *error) {
  char path[256];
  size_t size = stats->key.size < sizeof path ? stats->key.size : sizeof path;
  for (size_t i = 0; i < size; i++) {
    path[i] = stats->key.data[i] != '\0' ? (char)stats->key.data[i] : '.';
  }
  cst_status status =
      cst__fail(error, CST_SCHEMA, "cast it to one type", "the feature has the types %s and %s",
                type_names[stats->type], type_names[type]);
  cst__error_add_path(error, path, size);
  return status;
}

cst_status cst__stats_merge(cst__stats *into, const cst__stats *from, cst_error *error) {
  const cst_allocator *allocator = into->moments.allocator;
  (void)cst__stats_types_join(into->type, from->type, &into->type);
  into->rows = cst__count_sum(into->rows, from->rows);
  into->present = cst__count_sum(into->present, from->present);
  into->values = cst__count_sum(into->values, from->values);
  into->invalid = cst__count_sum(into->invalid, from->invalid);
  for (size_t i = 0; i < from->num_levels; i++) {
    merge_level(&into->levels[i], &from->levels[i]);
  }
  if (!cst__exact_sum_merge(&into->weights[0], allocator, &from->weights[0]) ||
      !cst__exact_sum_merge(&into->weights[1], allocator, &from->weights[1]) ||
      !cst__moments_merge(&into->moments, &from->moments)) {
    return cst__fail_memory(error, sizeof *into);
  }
  CST__TRY(cst__quantiles_merge(&into->quantiles, &from->quantiles, error));
  CST__TRY(cst__distinct_sketch_merge(&into->distinct, &from->distinct, error));
  return cst__heavy_merge(&into->heavy, &from->heavy, error);
}

/* ---- saving ---- */

static void archive_levels(cst__stats *feature, const cst__stats_plan *plan, cst__archive *a) {
  size_t count = feature->num_levels;
  cst__archive_count(a, &count);
  cst__archive_check(a, count <= CST__MAX_LEVELS);
  if (a->bad) {
    return;
  }
  if (!cst__stats_need_levels(feature, plan, count)) {
    cst__archive_fail_memory(a);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    cst__stats_level *level = &feature->levels[i];
    cst__archive_u64(a, &level->nulls);
    cst__archive_u64(a, &level->lists);
    cst__archive_u64(a, &level->empty);
    cst__archive_u64(a, &level->items);
    cst__archive_u64(a, &level->min);
    cst__archive_u64(a, &level->max);
    cst__archive_check(a, level->empty <= level->lists && level->min <= level->max);
  }
}

/* The sketches have values of the type, or none. */
static bool families_fit(const cst__stats *stats) {
  const cst__family family = family_of_type(stats->type);
  const cst__family numbers = family == CST__FAMILY_BYTES ? CST__FAMILY_INT : family;
  const cst__family ranked = cst__quantiles_get_totals(&stats->quantiles).family;
  return (stats->moments.family == CST__FAMILY_NONE || stats->moments.family == numbers) &&
         (ranked == CST__FAMILY_NONE || ranked == family) &&
         (stats->heavy.family == CST__FAMILY_NONE ||
          (stats->heavy.family == family && family != CST__FAMILY_FLOAT));
}

void cst__stats_archive(cst__stats *feature, const cst__stats_plan *plan, cst__archive *a) {
  int type = (int)feature->type;
  cst__archive_enum(a, &type, CST__NUM_STATS_TYPES);
  feature->type = (cst__stats_type)type;
  cst__archive_u64(a, &feature->rows);
  cst__archive_u64(a, &feature->present);
  cst__archive_u64(a, &feature->values);
  cst__archive_u64(a, &feature->invalid);
  archive_levels(feature, plan, a);
  cst__exact_sum_archive(&feature->weights[0], &plan->allocator, 1, a);
  cst__exact_sum_archive(&feature->weights[1], &plan->allocator, 1, a);
  if (!a->bad) {
    cst__moments_archive(&feature->moments, a);
    cst__quantiles_archive(&feature->quantiles, a);
    cst__distinct_sketch_archive(&feature->distinct, a);
    cst__heavy_archive(&feature->heavy, a);
  }
  cst__archive_check(a, feature->present <= feature->rows && feature->invalid <= feature->values &&
                            families_fit(feature));
}
