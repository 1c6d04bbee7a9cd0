/* The accumulator of statistics: a walk through the columns of a batch for all rows and for each
 * slice, merging and saving.
 */
#include "statistics/statistics.h"

#include <math.h>

#include "base/bytes.h"
#include "sketch/hashes.h"
#include "statistics/slices.h"

/* ---- the state ---- */

static void init_slice(cst__slice_stats *slice, const cst_allocator *allocator) {
  *slice = (cst__slice_stats){.key = {NULL, 0}};
  cst__by_path_init(&slice->features, sizeof(cst__stats), allocator);
  cst__by_path_init(&slice->pairs, sizeof(cst__pair_stats), allocator);
}

static void reset_slice(cst__slice_stats *slice) {
  for (size_t i = 0; i < slice->features.count; i++) {
    cst__stats_reset(cst__by_path_at(&slice->features, i));
  }
  cst__by_path_reset(&slice->features);
  cst__pairs_reset(&slice->pairs);
  cst__exact_sum_reset(&slice->weight);
  cst__delete((void *)(uintptr_t)slice->key.data);
}

static void free_slice(cst__slice_stats *slice) {
  reset_slice(slice);
  cst__delete(slice);
}

static void free_state(void *state) {
  cst__statistics *s = state;
  if (s == NULL) {
    return;
  }
  reset_slice(&s->all);
  for (size_t i = 0; i < s->num_slices; i++) {
    free_slice(s->slices[i]);
  }
  cst__delete(s->slices);
  cst__distinct_sketch_reset(&s->slices_seen);
  cst__delete(s);
}

static cst_status create(const void *plan, const cst_allocator *allocator, void **out,
                         cst_error *error) {
  cst__statistics *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  made->plan = plan;
  made->allocator = cst__allocator_of(allocator);
  init_slice(&made->all, allocator);
  cst__distinct_sketch_init(&made->slices_seen, made->plan->stats.precision, 0, &made->allocator);
  size_t size = ((size_t)made->plan->options.slices + 1) * sizeof *made->slices;
  made->slices = made->plan->options.num_by > 0 ? cst__new(allocator, size) : NULL;
  if (made->slices == NULL && made->plan->options.num_by > 0) {
    free_state(made);
    return cst__fail_memory(error, size);
  }
  *out = made;
  return CST_OK;
}

/* ---- which slices are kept ---- */

static int compare_slices(const cst__slice_stats *slice, uint64_t hash, cst_bytes key) {
  return slice->hash != hash ? (slice->hash < hash ? -1 : 1) : cst__bytes_compare(slice->key, key);
}

static uint64_t hash_of(cst_bytes key) { return cst__hash_bytes(key, cst__hash_key(0)); }

/* The slice of a key and its hash, made if it is to be kept; NULL in *out if not. */
static cst_status need_slice(cst__statistics *s, uint64_t hash, cst_bytes key,
                             cst__slice_stats **out, cst_error *error) {
  size_t low = 0;
  size_t high = s->num_slices;
  *out = NULL;
  while (low < high) {
    size_t middle = (low + high) / 2;
    int order = compare_slices(s->slices[middle], hash, key);
    if (order == 0) {
      *out = s->slices[middle];
      return CST_OK;
    }
    low = order < 0 ? middle + 1 : low;
    high = order < 0 ? high : middle;
  }
  if (low == (size_t)s->plan->options.slices) {
    return CST_OK;
  }
  cst__slice_stats *made = cst__new(&s->allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  init_slice(made, &s->allocator);
  made->hash = hash;
  made->key = (cst_bytes){
      (const uint8_t *)cst__new_copy(&s->allocator, (const char *)key.data, key.size), key.size};
  if (made->key.data == NULL) {
    free_slice(made);
    return cst__fail_memory(error, key.size);
  }
  memmove(&s->slices[low + 1], &s->slices[low], (s->num_slices - low) * sizeof *s->slices);
  s->slices[low] = made;
  s->num_slices++;
  if (s->num_slices > (size_t)s->plan->options.slices) {
    s->memory -= s->slices[--s->num_slices]->memory;
    free_slice(s->slices[s->num_slices]);
  }
  *out = made;
  return CST_OK;
}

/* ---- memory ---- */

/* Brings the memory of a slice, and that of all, up to date. */
static void measure(cst__statistics *s, cst__slice_stats *slice) {
  size_t size = sizeof *slice + sizeof slice + slice->key.size +
                cst__exact_sum_memory(&slice->weight) + cst__by_path_memory(&slice->features) +
                cst__pairs_memory(&slice->pairs);
  for (size_t i = 0; i < slice->features.count; i++) {
    size += cst__stats_memory(cst__by_path_at(&slice->features, i));
  }
  s->memory += size - slice->memory;
  slice->memory = size;
}

static cst_status check_memory(const cst__statistics *s, cst_error *error) {
  return s->memory <= cst__statistics_memory_limit(s)
             ? CST_OK
             : cst__fail(error, CST_LIMIT,
                         "look at fewer columns or make fewer slices, allow a greater `error` or "
                         "fewer `counters`, or raise `memory`",
                         "statistics of %zu features in %zu slices take more than %lld MiB",
                         s->all.features.count, s->num_slices + 1,
                         (long long)s->plan->options.memory);
}

/* ---- a walk through the columns ---- */

typedef struct walk {
  const cst__statistics *state;
  cst__slice_stats *into;
  cst__arena *arena;
  cst__text key; /* of the feature at hand */
  cst_error *error;
} walk;

/* The columns at the top that are looked at; NULL: all. */
static const cst__name_map *wanted_of(const cst__statistics *s) {
  return s->plan->options.num_columns > 0 ? &s->plan->columns : NULL;
}

/* Where a walk stands: slots of a column, and the weight of each; NULL: there are none. */
typedef struct place {
  cst__slots slots;
  const double *weights;
} place;

/* Sums of weights are finite, so that all is that comes of them. */
static cst_status check_weight(const cst__statistics *s, const cst__exact_sum *weight,
                               cst_error *error) {
  const char *name = s->plan->options.weight;
  if (isfinite(cst__exact_sum_value(weight))) {
    return CST_OK;
  }
  cst_status status = cst__fail(error, CST_LIMIT, "make the weights smaller",
                                "the sum of the weights is beyond what a double holds");
  cst__error_add_path(error, name, strlen(name));
  return status;
}

/* The items of the innermost lists weigh the most. */
static cst_status check_items(const cst__statistics *s, const cst__stats *stats, cst_error *error) {
  return s->plan->stats.weighs && stats->num_levels > 0
             ? check_weight(s, &stats->levels[stats->num_levels - 1].weights[CST__STATS_ITEMS],
                            error)
             : CST_OK;
}

/* Rows or structs in which the feature may be, and in which it is. */
static cst_status count_rows(walk *w, const place *at, cst__stats *stats) {
  const cst__slots *slots = &at->slots;
  const cst__mask *above = slots->mask;
  int64_t slot = 0;
  bool ok = true;
  const uint64_t present = (uint64_t)cst__slots_count_valid(slots);
  uint64_t hidden = 0;
  for (int64_t i = 0;
       (above != NULL || at->weights != NULL) && i < cst__chosen_num_runs(&slots->chosen); i++) {
    const cst__range run = cst__chosen_run(&slots->chosen, i);
    for (int64_t k = run.begin; k < run.begin + run.count && ok; k++, slot++) {
      bool is_hidden = cst__mask_hides(above, k);
      hidden += is_hidden;
      if (at->weights != NULL && !is_hidden) {
        ok = cst__stats_weigh(&stats->weights[0], &w->state->allocator, at->weights[slot], 1) &&
             (cst__view_is_null(slots->view, k) ||
              cst__stats_weigh(&stats->weights[1], &w->state->allocator, at->weights[slot], 1));
      }
    }
  }
  stats->rows = cst__count_sum(stats->rows, (uint64_t)slots->chosen.count - hidden);
  stats->present = cst__count_sum(stats->present, present);
  return ok ? CST_OK : cst__fail_memory(w->error, sizeof *stats);
}

/* Measures the lists of one level. `weights`: of each; NULL: there are none. */
static cst_status measure_level(walk *w, cst__stats *stats, size_t depth, const cst__lists *lists,
                                const double *weights) {
  int64_t lengths[CST__VALUES_MOST];
  double of_lists[CST__VALUES_MOST];
  cst__stats_level *level = &stats->levels[depth];
  size_t count = 0;
  for (int64_t i = 0; i < lists->count; i++) {
    if (lists->nulls != NULL && lists->nulls[i] != 0) {
      level->nulls += depth > 0;
      if (depth > 0 && weights != NULL &&
          !cst__stats_weigh(&level->weights[CST__STATS_NULLS], &w->state->allocator, weights[i],
                            1)) {
        return cst__fail_memory(w->error, sizeof *level);
      }
      continue;
    }
    of_lists[count] = weights != NULL ? weights[i] : 1;
    lengths[count++] = cst__list_size(lists, i);
    if (count == CST__VALUES_MOST) {
      CST__TRY(cst__stats_add_lists(stats, depth, lengths, weights != NULL ? of_lists : NULL, count,
                                    w->error));
      count = 0;
    }
  }
  return cst__stats_add_lists(stats, depth, lengths, weights != NULL ? of_lists : NULL, count,
                              w->error);
}

/* Goes through the lists of a column, level by level. */
static cst_status measure_lists(walk *w, place *at, cst__stats *stats) {
  for (size_t depth = 0; cst__view_is_list(at->slots.view); depth++) {
    const double *weights = at->weights;
    const uint8_t *nulls;
    cst__lists lists;
    if (!cst__stats_need_levels(stats, &w->state->plan->stats, depth + 1)) {
      return cst__fail_memory(w->error, depth);
    }
    CST__TRY(cst__slots_nulls(&at->slots, w->arena, &nulls, w->error));
    CST__TRY(cst__values_open(&at->slots, &at->weights, w->arena, &lists, w->error));
    lists.nulls = nulls;
    CST__TRY(measure_level(w, stats, depth, &lists, weights));
  }
  return CST_OK;
}

static cst_status walk_column(walk *w, place at);

static cst_status walk_fields(walk *w, const place *structs, bool is_top) {
  const size_t parent = w->key.size;
  const cst__view *view = structs->slots.view;
  for (int64_t i = 0; i < view->num_children; i++) {
    const char *name = view->children[i].name;
    if (is_top && cst__column_is_left_out(wanted_of(w->state), &view->children[i])) {
      continue;
    }
    place field = *structs;
    w->key.size = parent;
    cst__text_append(&w->key, "", !is_top);
    cst__text_append(&w->key, name, strlen(name));
    if (w->key.failed) {
      return cst__fail_memory(w->error, parent);
    }
    CST__TRY(cst__slots_enter(&field.slots, i, w->arena, w->error));
    if (is_top) {
      field.slots.mask = NULL; /* no row of a batch is null */
    }
    CST__TRY(walk_column(w, field));
  }
  w->key.size = parent;
  return CST_OK;
}

static cst_status walk_column(walk *w, place at) {
  const cst_bytes key = {(const uint8_t *)w->key.data, w->key.size};
  cst__stats *stats = cst__by_path_need(&w->into->features, key);
  int64_t ignored = 0;
  if (stats == NULL) {
    return cst__fail_memory(w->error, key.size);
  }
  cst__stats_prepare(stats, &w->state->plan->stats);
  CST__TRY(count_rows(w, &at, stats));
  CST__TRY(measure_lists(w, &at, stats));
  CST__TRY(check_items(w->state, stats, w->error));
  const cst__stats_type type = cst__stats_type_of(at.slots.view);
  cst__stats_join(stats, type); /* that was checked */
  if (type == CST__STATS_STRUCT) {
    stats->values = cst__count_sum(stats->values, (uint64_t)cst__slots_count_valid(&at.slots));
    return walk_fields(w, &at, false);
  }
  if (type == CST__STATS_OTHER) {
    stats->values = cst__count_sum(stats->values, (uint64_t)cst__slots_count_valid(&at.slots));
    return CST_OK;
  }
  return cst__values_each(&at.slots, at.weights, cst__stats_add, stats, &ignored, w->error);
}

/* A batch, and what was read of all its rows. */
typedef struct batch_read {
  const cst__view *batch;
  const double *weights; /* NULL: there are none */
  cst__pairs_found pairs;
} batch_read;

/* The rows of a batch that are chosen. */
static cst_status walk_rows(cst__statistics *s, cst__slice_stats *into, const batch_read *read,
                            const cst__chosen *rows, cst_error *error) {
  const double *weights = read->weights;
  cst__arena arena;
  cst__arena_init(&arena, &s->allocator);
  walk w = {.state = s, .into = into, .arena = &arena, .error = error};
  w.key.allocator = s->allocator;
  place at = {cst__slots_all(read->batch), weights};
  at.slots.chosen = *rows;
  cst_status status = CST_OK;
  if (weights != NULL) {
    double *chosen = cst__arena_take_items(&arena, rows->count, sizeof *chosen);
    int64_t n = 0;
    status = chosen != NULL ? CST_OK : cst__fail_memory(error, (size_t)rows->count);
    for (int64_t i = 0; status == CST_OK && i < cst__chosen_num_runs(rows); i++) {
      const cst__range run = cst__chosen_run(rows, i);
      for (int64_t k = run.begin; k < run.begin + run.count && status == CST_OK; k++) {
        chosen[n++] = weights[k];
        status = cst__stats_weigh(&into->weight, &s->allocator, weights[k], 1)
                     ? CST_OK
                     : cst__fail_memory(error, sizeof *into);
      }
    }
    at.weights = chosen;
    status = status == CST_OK ? check_weight(s, &into->weight, error) : status;
  }
  into->num_rows = cst__count_sum(into->num_rows, (uint64_t)rows->count);
  if (status == CST_OK) {
    status = walk_fields(&w, &at, true);
  }
  cst__text_free(&w.key);
  cst__arena_reset(&arena);
  CST__TRY(status);
  CST__TRY(cst__pairs_add(&into->pairs, &read->pairs, rows, error));
  measure(s, into);
  return check_memory(s, error);
}

/* ---- a batch: what may be wrong with it is found before anything is counted ---- */

static cst_status check_types(const cst__statistics *s, const cst__view *fields, cst__text *key,
                              bool is_top, cst_error *error) {
  const size_t parent = key->size;
  for (int64_t i = 0; i < fields->num_children; i++) {
    const cst__view *leaf = &fields->children[i];
    const char *name = leaf->name;
    if (is_top && cst__column_is_left_out(wanted_of(s), leaf)) {
      continue;
    }
    key->size = parent;
    cst__text_append(key, "", !is_top);
    cst__text_append(key, name, strlen(name));
    if (key->failed) {
      return cst__fail_memory(error, parent);
    }
    while (cst__view_is_list(leaf)) {
      leaf = &leaf->children[0];
    }
    cst__stats_type type = cst__stats_type_of(leaf);
    const cst__stats *stats =
        cst__by_path_find(&s->all.features, (cst_bytes){(const uint8_t *)key->data, key->size});
    if (stats != NULL && !cst__stats_types_join(stats->type, type, &type)) {
      return cst__stats_fail_types(stats, type, error);
    }
    if (type == CST__STATS_STRUCT) {
      CST__TRY(check_types(s, leaf, key, false, error));
    }
  }
  key->size = parent;
  return CST_OK;
}

static cst_status check_lists_of_one(const cst__lists *lists, cst_error *error) {
  for (int64_t i = 0; i < lists->count; i++) {
    if (cst__list_size(lists, i) != 1) {
      return cst__fail(error, CST_SCHEMA, "give each row one weight",
                       "row %lld has %lld weights, expected one", (long long)i,
                       (long long)cst__list_size(lists, i));
    }
  }
  return CST_OK;
}

/* The weights of all rows, in the arena; NULL without. */
static cst_status read_weights(const cst__statistics *s, const cst__view *batch, cst__arena *arena,
                               const double **out, cst_error *error) {
  const char *name = s->plan->options.weight;
  const cst__view *column = name != NULL ? cst__column_find(batch, name) : NULL;
  *out = NULL;
  if (name == NULL || (column == NULL && batch->length == 0)) {
    return CST_OK;
  }
  cst_status status = CST_OK;
  if (column == NULL) {
    status = cst__fail(error, CST_SCHEMA, "give each row one weight",
                       "the column of weights does not exist");
  } else {
    cst__slots slots = cst__slots_all(column);
    cst__lists lists;
    while (status == CST_OK && cst__view_is_list(slots.view)) {
      status = cst__slots_open(&slots, arena, &lists, error);
      status = status == CST_OK ? check_lists_of_one(&lists, error) : status;
    }
    status = status == CST_OK ? cst__weights_of(&slots, arena, out, error) : status;
  }
  if (status != CST_OK) {
    cst__error_add_path(error, name, strlen(name));
  }
  return status == CST_INVALID_ARGUMENT ? CST_SCHEMA : status;
}

static cst_status add_slices(cst__statistics *s, const batch_read *read,
                             const cst__slices_found *found, cst_error *error) {
  for (size_t i = 0; i < found->count; i++) {
    const cst__slice_rows *rows = &found->items[i];
    cst__slice_stats *slice;
    uint64_t hash = hash_of(rows->key);
    s->num_sliced = cst__count_sum(s->num_sliced, (uint64_t)rows->rows.count);
    CST__TRY(cst__distinct_sketch_add_hashes(&s->slices_seen, &hash, 1, error));
    CST__TRY(need_slice(s, hash, rows->key, &slice, error));
    if (slice != NULL) {
      CST__TRY(walk_rows(s, slice, read, &rows->rows, error));
    }
  }
  return CST_OK;
}

static cst_status add_checked(cst__statistics *s, const cst__view *batch, cst__arena *arena,
                              cst_error *error) {
  const cst__statistics_options *options = &s->plan->options;
  const cst__chosen all = {.count = batch->length};
  cst__slices_found slices = {NULL, 0};
  batch_read read = {.batch = batch};
  cst__text key = {.allocator = s->allocator};
  cst_status status = check_types(s, batch, &key, true, error);
  cst__text_free(&key);
  CST__TRY(status);
  CST__TRY(read_weights(s, batch, arena, &read.weights, error));
  if (options->num_by > 0) {
    CST__TRY(cst__slices_find(batch, options->by, options->num_by, arena, &slices, error));
  }
  CST__TRY(cst__pairs_find(&s->plan->pairs, wanted_of(s), batch, arena, &read.pairs, error));
  CST__TRY(walk_rows(s, &s->all, &read, &all, error));
  return add_slices(s, &read, &slices, error);
}

static cst_status add(void *state, const cst__view *batch, const cst__origin *origin,
                      cst_error *error) {
  cst__statistics *s = state;
  cst__arena arena;
  cst__arena_init(&arena, &s->allocator);
  cst_status status = add_checked(s, batch, &arena, error);
  cst__arena_reset(&arena);
  if (status == CST_SCHEMA || status == CST_UNSUPPORTED) {
    const cst__place file = {cst__origin_place(origin, 0).file, -1, -1};
    cst__error_add_place(error, &file);
  }
  return status;
}

/* ---- merging ---- */

static cst_status merge_slice(cst__statistics *s, cst__slice_stats *into,
                              const cst__slice_stats *from, cst_error *error) {
  into->num_rows = cst__count_sum(into->num_rows, from->num_rows);
  if (!cst__exact_sum_merge(&into->weight, &s->allocator, &from->weight)) {
    return cst__fail_memory(error, sizeof *into);
  }
  CST__TRY(check_weight(s, &into->weight, error));
  for (size_t i = 0; i < from->features.count; i++) {
    const cst__stats *theirs = cst__by_path_at(&from->features, i);
    cst__stats *mine = cst__by_path_need(&into->features, theirs->key);
    if (mine == NULL || !cst__stats_need_levels(mine, &s->plan->stats, theirs->num_levels)) {
      return cst__fail_memory(error, theirs->key.size);
    }
    cst__stats_prepare(mine, &s->plan->stats);
    CST__TRY(cst__stats_merge(mine, theirs, error));
    CST__TRY(check_items(s, mine, error));
  }
  CST__TRY(cst__pairs_merge(&into->pairs, &from->pairs, error));
  measure(s, into);
  return check_memory(s, error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  cst__statistics *s = into;
  const cst__statistics *theirs = from;
  for (size_t i = 0; i < theirs->all.features.count; i++) { /* before anything is changed */
    const cst__stats *other = cst__by_path_at(&theirs->all.features, i);
    const cst__stats *mine = cst__by_path_find(&s->all.features, other->key);
    cst__stats_type ignored;
    if (mine != NULL && !cst__stats_types_join(mine->type, other->type, &ignored)) {
      return cst__stats_fail_types(mine, other->type, error);
    }
  }
  CST__TRY(merge_slice(s, &s->all, &theirs->all, error));
  for (size_t i = 0; i < theirs->num_slices; i++) {
    cst__slice_stats *slice;
    CST__TRY(need_slice(s, theirs->slices[i]->hash, theirs->slices[i]->key, &slice, error));
    if (slice != NULL) {
      CST__TRY(merge_slice(s, slice, theirs->slices[i], error));
    }
  }
  s->num_sliced = cst__count_sum(s->num_sliced, theirs->num_sliced);
  return cst__distinct_sketch_merge(&s->slices_seen, &theirs->slices_seen, error);
}

/* ---- saving ---- */

static void archive_slice(cst__statistics *s, cst__slice_stats *slice, cst__archive *a) {
  size_t count;
  cst__archive_u64(a, &slice->num_rows);
  cst__exact_sum_archive(&slice->weight, &s->allocator, 1, a);
  cst__by_path_archive_count(&slice->features, a, &count);
  for (size_t i = 0; i < count && !a->bad; i++) {
    cst__stats *stats = cst__by_path_archive_key(&slice->features, a, i);
    if (stats != NULL) {
      cst__stats_prepare(stats, &s->plan->stats);
      cst__stats_archive(stats, &s->plan->stats, a);
    }
  }
  if (!a->bad) {
    cst__pairs_archive(&slice->pairs, a);
  }
  if (cst__archive_loads(a)) {
    measure(s, slice);
  }
}

static void archive(void *state, cst__archive *a) {
  cst__statistics *s = state;
  uint64_t mark = s->plan->mark;
  size_t count = s->num_slices;
  cst__archive_u64(a, &mark);
  cst__archive_check(a, mark == s->plan->mark);
  archive_slice(s, &s->all, a);
  cst__archive_u64(a, &s->num_sliced);
  cst__archive_count(a, &count);
  cst__archive_check(
      a, count <= (size_t)s->plan->options.slices && (count == 0 || s->plan->options.num_by > 0));
  for (size_t i = 0; i < count && !a->bad; i++) {
    cst__slice_stats *slice = cst__archive_loads(a) ? NULL : s->slices[i];
    cst_bytes key = slice != NULL ? slice->key : (cst_bytes){NULL, 0};
    cst__archive_bytes(a, &key);
    if (!a->bad && slice == NULL && need_slice(s, hash_of(key), key, &slice, NULL) != CST_OK) {
      cst__archive_fail_memory(a);
    }
    cst__archive_check(a, slice != NULL && s->num_slices == i + 1 && s->slices[i] == slice);
    if (!a->bad && slice != NULL) {
      archive_slice(s, slice, a);
    }
  }
  if (!a->bad) {
    cst__distinct_sketch_archive(&s->slices_seen, a);
  }
}

const cst__accumulator cst__statistics_accumulator = {
    .name = "statistics",
    .version = 3,
    .purpose = "compute statistics of",
    .summary = "per feature, and per slice: presence, lists, numbers, quantiles, distinct and "
               "frequent values",
    .options = &cst__statistics_options_type,
    .plan = cst__statistics_make_plan,
    .create = create,
    .free = free_state,
    .add = add,
    .merge = merge,
    .archive = archive,
    .finish = cst__statistics_finish};
