/* The lists of a feature: how many there are on each level, and how long the outermost ones are. */
#include "statistics/stats.h"

/* ---- levels ---- */

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

void cst__stats_reset_levels(cst__stats *feature) {
  for (size_t i = 0; i < feature->num_levels; i++) {
    for (int k = CST__STATS_NULLS; k <= CST__STATS_ITEMS; k++) {
      cst__exact_sum_reset(&feature->levels[i].weights[k]);
    }
  }
  cst__delete(feature->levels);
}

size_t cst__stats_lists_memory(const cst__stats *feature) {
  size_t size = cst__quantiles_memory(&feature->lengths) - sizeof feature->lengths;
  for (size_t i = 0; i < feature->num_levels; i++) {
    const cst__stats_level *level = &feature->levels[i];
    size += sizeof *level;
    for (int k = CST__STATS_NULLS; k <= CST__STATS_ITEMS; k++) {
      size += cst__exact_sum_memory(&level->weights[k]);
    }
  }
  return size;
}

/* Adds lists of one length. */
static void add_lists(cst__stats_level *level, uint64_t length, uint64_t count) {
  uint64_t items;
  level->min = level->lists == 0 || length < level->min ? length : level->min;
  level->max = length > level->max ? length : level->max;
  level->lists += count;
  level->empty += length == 0 ? count : 0;
  items = __builtin_mul_overflow(length, count, &items) ? UINT64_MAX : items;
  level->items = cst__count_sum(level->items, items);
}

static bool merge_level(cst__stats_level *into, const cst__stats_level *from,
                        const cst_allocator *allocator) {
  if (from->lists > 0) {
    into->min = into->lists == 0 || from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
  }
  into->nulls = cst__count_sum(into->nulls, from->nulls);
  into->lists = cst__count_sum(into->lists, from->lists);
  into->empty = cst__count_sum(into->empty, from->empty);
  into->items = cst__count_sum(into->items, from->items);
  bool ok = true;
  for (int k = CST__STATS_NULLS; k <= CST__STATS_ITEMS && ok; k++) {
    ok = cst__exact_sum_merge(&into->weights[k], allocator, &from->weights[k]);
  }
  return ok;
}

/* ---- lengths of the outermost lists: of which the level itself knows all while they are alike
 * ---- */

static bool are_alike(const cst__stats *feature) { return feature->lengths.store == NULL; }

/* Adds the lists of a level, which are alike. */
static cst_status add_alike(cst__quantiles *lengths, const cst__stats_level *level,
                            cst_error *error) {
  const int64_t length = (int64_t)level->min;
  const double count = (double)level->lists;
  const cst__value_block one = {CST__FAMILY_INT, 1, &length, &count};
  return level->lists > 0 ? cst__quantiles_add(lengths, &one, error) : CST_OK;
}

/* Whether lists, one at least, all have as many items as the first. */
static bool have_one_length(const int64_t *lengths, size_t count) {
  uint64_t differ = 0;
  for (size_t i = 1; i < count; i++) {
    differ |= (uint64_t)(lengths[i] ^ lengths[0]);
  }
  return differ == 0;
}

static cst_status add_lengths(cst__stats *feature, const int64_t *lengths, size_t count,
                              cst_error *error) {
  const cst__stats_level *level = &feature->levels[0];
  if (are_alike(feature)) {
    if ((level->lists == 0 || level->min == (uint64_t)lengths[0]) &&
        have_one_length(lengths, count)) {
      return CST_OK;
    }
    CST__TRY(add_alike(&feature->lengths, level, error));
  }
  const cst__value_block values = {CST__FAMILY_INT, count, lengths, NULL};
  return cst__quantiles_add(&feature->lengths, &values, error);
}

static cst_status merge_lengths(cst__stats *into, const cst__stats *from, cst_error *error) {
  const cst__stats_level *mine = &into->levels[0];
  const cst__stats_level *theirs = &from->levels[0];
  if (theirs->lists == 0 ||
      (are_alike(into) && are_alike(from) && (mine->lists == 0 || mine->min == theirs->min))) {
    return CST_OK;
  }
  if (are_alike(into)) {
    CST__TRY(add_alike(&into->lengths, mine, error));
  }
  return are_alike(from) ? add_alike(&into->lengths, theirs, error)
                         : cst__quantiles_merge(&into->lengths, &from->lengths, error);
}

/* ---- all of it ---- */

cst_status cst__stats_add_lists(cst__stats *feature, size_t depth, const int64_t *lengths,
                                const double *weights, size_t count, cst_error *error) {
  cst__stats_level *level = &feature->levels[depth];
  const cst_allocator *allocator = feature->moments.allocator;
  if (count == 0) {
    return CST_OK;
  }
  if (depth == 0) {
    CST__TRY(add_lengths(feature, lengths, count, error));
  }
  if (have_one_length(lengths, count)) {
    add_lists(level, (uint64_t)lengths[0], count);
  } else {
    for (size_t i = 0; i < count; i++) {
      add_lists(level, (uint64_t)lengths[i], 1);
    }
  }
  for (size_t i = 0; weights != NULL && i < count; i++) {
    const uint64_t length = (uint64_t)lengths[i];
    if (!cst__stats_weigh(&level->weights[CST__STATS_LISTS], allocator, weights[i], 1) ||
        !cst__stats_weigh(&level->weights[CST__STATS_ITEMS], allocator, weights[i], length)) {
      return cst__fail_memory(error, sizeof *level);
    }
  }
  return CST_OK;
}

cst_status cst__stats_merge_lists(cst__stats *into, const cst__stats *from, cst_error *error) {
  if (from->num_levels > 0) {
    CST__TRY(merge_lengths(into, from, error));
  }
  for (size_t i = 0; i < from->num_levels; i++) {
    if (!merge_level(&into->levels[i], &from->levels[i], into->moments.allocator)) {
      return cst__fail_memory(error, sizeof *into->levels);
    }
  }
  return CST_OK;
}

/* ---- saving ---- */

/* There is a sketch of lengths where they are not alike. */
static bool lengths_fit(const cst__stats *feature) {
  const cst__stats_level *level = &feature->levels[0];
  const cst__quantiles_totals totals = cst__quantiles_get_totals(&feature->lengths);
  return feature->num_levels == 0 || level->min == level->max
             ? are_alike(feature)
             : totals.family == CST__FAMILY_INT && totals.weight > 0;
}

static void archive_level(cst__stats_level *level, const cst__stats_plan *plan, cst__archive *a) {
  cst__archive_u64(a, &level->nulls);
  cst__archive_u64(a, &level->lists);
  cst__archive_u64(a, &level->empty);
  cst__archive_u64(a, &level->items);
  cst__archive_u64(a, &level->min);
  cst__archive_u64(a, &level->max);
  cst__archive_check(a, level->empty <= level->lists && level->min <= level->max &&
                            level->max <= INT64_MAX && (level->lists > 0 || level->max == 0));
  for (int k = CST__STATS_NULLS; k <= CST__STATS_ITEMS && plan->weighs; k++) {
    cst__exact_sum_archive(&level->weights[k], &plan->allocator, 2, a);
  }
}

void cst__stats_archive_lists(cst__stats *feature, const cst__stats_plan *plan, cst__archive *a) {
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
    archive_level(&feature->levels[i], plan, a);
  }
  if (count > 0 && !a->bad) {
    cst__quantiles_archive(&feature->lengths, a);
  }
  cst__archive_check(a, !a->bad && lengths_fit(feature));
}
