/* The state of a validation: tallies, the places of what is found, and their merging.
 */
#include "validate/validation.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* ---- findings ---- */

static void init_findings(cst__finding *findings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    findings[i] = (cst__finding){.last_row = -1};
  }
}

static void reset_findings(cst__finding *findings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cst__delete(findings[i].places);
  }
}

/* True if a sighting belongs before one that came earlier. What several features have in one row
 * (more_unexpected) comes in any order and is sorted by its text. */
static bool goes_before(const cst__validation_state *state, const cst__finding *finding,
                        const cst__sighting *late, const cst__sighting *early) {
  return late->row != early->row
             ? late->row < early->row
             : finding == &state->more_unexpected && strcmp(late->found, early->found) < 0;
}

/* Puts a sighting where it belongs among the first ones; NULL if it is none of them, or there is no
 * memory. Nearly always it is the last. */
static cst__sighting *insert_sighting(cst__validation_state *state, cst__finding *finding,
                                      const cst__sighting *sighting) {
  size_t most = state->plan->max_places;
  size_t at = finding->num_places;
  while (at > 0 && goes_before(state, finding, sighting, &finding->places[at - 1])) {
    at--;
  }
  if (at >= most) {
    return NULL;
  }
  cst__sighting kept = *sighting;
  void *places = finding->places;
  size_t count = finding->num_places < most ? finding->num_places + 1 : most;
  bool ok = cst__file_names_keep(&state->files, &kept.place, &state->arena) &&
            cst__grow(&state->arena.allocator, &places, &finding->capacity, count, sizeof kept);
  finding->places = places;
  if (!ok) {
    state->out_of_memory = true;
    return NULL;
  }
  memmove(&finding->places[at + 1], &finding->places[at], (count - 1 - at) * sizeof kept);
  finding->places[at] = kept;
  finding->num_places = count;
  return &finding->places[at];
}

/* Notes the place of a record, which is counted already, unless there are as many as wanted. Where
 * to say what was found; NULL: nowhere. */
static char *finding_place(cst__validation_state *state, cst__finding *finding, uint64_t row,
                           const cst__place *place) {
  cst__sighting sighting = {.row = row, .place = *place};
  cst__sighting *kept = finding->num_places < state->plan->max_places
                            ? insert_sighting(state, finding, &sighting)
                            : NULL;
  return kept != NULL ? kept->found : NULL;
}

char *cst__check_mark(cst__check *check, cst__finding *finding, int64_t row) {
  if (finding->last_row == row) {
    return NULL;
  }
  finding->last_row = row;
  finding->count++;
  if (finding->num_places >= check->plan->max_places) {
    return NULL;
  }
  cst__place place = cst__origin_place(check->origin, row);
  return finding_place(check->state, finding, check->state->num_rows + (uint64_t)row, &place);
}

/* The rows of `from` come after `first_row` of `state`. */
static void merge_finding(cst__validation_state *state, cst__finding *into,
                          const cst__finding *from, uint64_t first_row) {
  into->count = cst__count_sum(into->count, from->count);
  for (size_t i = 0; i < from->num_places; i++) {
    cst__sighting sighting = from->places[i];
    sighting.row = cst__count_sum(sighting.row, first_row);
    (void)insert_sighting(state, into, &sighting);
  }
}

static void merge_findings(cst__validation_state *state, cst__finding *into,
                           const cst__finding *from, size_t count, uint64_t first_row) {
  for (size_t i = 0; i < count; i++) {
    merge_finding(state, &into[i], &from[i], first_row);
  }
}

static void archive_findings(cst__archive *a, cst__validation_state *state, cst__finding *findings,
                             size_t count) {
  for (size_t i = 0; i < count && !a->bad; i++) {
    cst__finding *finding = &findings[i];
    size_t num_places = finding->num_places;
    cst__archive_u64(a, &finding->count);
    cst__archive_count(a, &num_places);
    for (size_t k = 0; k < num_places && !a->bad; k++) {
      cst__sighting sighting = {.row = 0};
      if (!cst__archive_loads(a)) {
        sighting = finding->places[k];
      }
      cst__archive_u64(a, &sighting.row);
      cst__archive_place(a, &sighting.place, &state->files, &state->arena);
      cst__archive_text(a, sighting.found, sizeof sighting.found);
      if (cst__archive_loads(a) && !a->bad) {
        cst__archive_check(a, insert_sighting(state, finding, &sighting) != NULL);
        a->no_memory = a->no_memory || state->out_of_memory;
      }
    }
  }
}

/* ---- ranges and types ---- */

void cst__int_range_add(cst__int_range *range, int64_t value) {
  range->least = !range->any || value < range->least ? value : range->least;
  range->most = !range->any || value > range->most ? value : range->most;
  range->any = true;
}

static void merge_int_range(cst__int_range *into, const cst__int_range *from) {
  if (from->any) {
    cst__int_range_add(into, from->least);
    cst__int_range_add(into, from->most);
  }
}

static void archive_int_range(cst__archive *a, cst__int_range *range) {
  cst__archive_bool(a, &range->any);
  cst__archive_i64(a, &range->least);
  cst__archive_i64(a, &range->most);
}

static void merge_float_range(cst__float_range *into, const cst__float_range *from) {
  if (from->any) {
    into->least = !into->any || from->least < into->least ? from->least : into->least;
    into->most = !into->any || from->most > into->most ? from->most : into->most;
    into->any = true;
  }
}

static void archive_float_range(cst__archive *a, cst__float_range *range) {
  cst__archive_bool(a, &range->any);
  cst__archive_double(a, &range->least);
  cst__archive_double(a, &range->most);
}

void cst__found_types_add(cst__found_types *types, const char *name) {
  if (types->first[0] == '\0') {
    (void)snprintf(types->first, sizeof types->first, "%s", name);
  }
  types->vary |= strcmp(types->first, name) != 0;
}

static void merge_found_types(cst__found_types *into, const cst__found_types *from) {
  if (from->first[0] != '\0') {
    cst__found_types_add(into, from->first);
  }
  into->vary |= from->vary;
}

static void archive_found_types(cst__archive *a, cst__found_types *types) {
  cst__archive_text(a, types->first, sizeof types->first);
  cst__archive_bool(a, &types->vary);
}

/* ---- features of the schema ---- */

static void plan_tallies(cst__validation_state *state, const cst__feature_plan *parent) {
  for (size_t i = 0; i < parent->num_children; i++) {
    cst__tally *tally = &state->tallies[parent->first_child + i];
    tally->plan = &parent->children[i];
    init_findings(tally->findings, CST__NUM_FAULTS);
    plan_tallies(state, &parent->children[i]);
  }
}

static void merge_tally(cst__validation_state *state, cst__tally *into, const cst__tally *from) {
  into->in_lists |= from->in_lists;
  into->parents = cst__count_sum(into->parents, from->parents);
  into->present = cst__count_sum(into->present, from->present);
  into->values = cst__count_sum(into->values, from->values);
  into->bad_values = cst__count_sum(into->bad_values, from->bad_values);
  into->has_nan |= from->has_nan;
  merge_int_range(&into->ints, &from->ints);
  merge_float_range(&into->floats, &from->floats);
  merge_int_range(&into->counts, &from->counts);
  merge_found_types(&into->types, &from->types);
  state->out_of_memory |= !cst__distinct_merge(&into->unknown, &from->unknown, &state->arena);
  merge_findings(state, into->findings, from->findings, CST__NUM_FAULTS, state->num_rows);
}

static void archive_tally(cst__archive *a, cst__validation_state *state, cst__tally *tally) {
  cst__archive_bool(a, &tally->in_lists);
  cst__archive_u64(a, &tally->parents);
  cst__archive_u64(a, &tally->present);
  cst__archive_u64(a, &tally->values);
  cst__archive_u64(a, &tally->bad_values);
  cst__archive_check(a, tally->present <= tally->parents && tally->bad_values <= tally->values);
  cst__archive_bool(a, &tally->has_nan);
  archive_int_range(a, &tally->ints);
  archive_float_range(a, &tally->floats);
  archive_int_range(a, &tally->counts);
  archive_found_types(a, &tally->types);
  cst__distinct_archive(&tally->unknown, a, &state->arena);
  archive_findings(a, state, tally->findings, CST__NUM_FAULTS);
  const cst__rules *rules =
      tally->plan->rules; /* which the report reads where something is found */
  bool may_count = rules != NULL && rules->num_counts > 0;
  bool has_shape = rules != NULL && rules->shape_size >= 0;
  cst__archive_check(a, (may_count || tally->findings[CST__FAULT_COUNT].count == 0) &&
                            (has_shape || tally->findings[CST__FAULT_SHAPE].count == 0));
}

/* ---- features that the schema does not have ---- */

static int compare_unexpected_key(const cst__unexpected *u, cst_bytes key) {
  return cst__bytes_compare((cst_bytes){(const uint8_t *)u->key, u->key_size}, key);
}

/* The first one whose key is not less. */
static size_t find_unexpected(const cst__validation_state *state, cst_bytes key) {
  size_t low = 0;
  size_t high = state->num_unexpected;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_unexpected_key(state->unexpected[middle], key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void free_unexpected(cst__unexpected *u) {
  if (u != NULL) {
    reset_findings(&u->finding, 1);
    cst__delete((void *)(uintptr_t)u->key);
    cst__delete((void *)(uintptr_t)u->path);
    cst__delete(u);
  }
}

static cst__unexpected *new_unexpected(const cst_allocator *allocator, cst_bytes key,
                                       const char *path) {
  cst__unexpected *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return NULL;
  }
  init_findings(&made->finding, 1);
  made->key = cst__new_copy(allocator, key.data, key.size);
  made->key_size = key.size;
  made->path = cst__new_copy(allocator, path, strlen(path));
  if (made->key == NULL || made->path == NULL) {
    free_unexpected(made);
    return NULL;
  }
  return made;
}

/* The one with the greatest key goes: what it had counts among the others. */
static void drop_last_unexpected(cst__validation_state *state) {
  cst__unexpected *last = state->unexpected[--state->num_unexpected];
  merge_finding(state, &state->more_unexpected, &last->finding, 0);
  free_unexpected(last);
}

/* Those with the least keys are kept: which they are does not depend on the order of the data, so
 * that all that is kept has been counted from the first row on. NULL: it is none of them, or there
 * is no memory. */
static cst__unexpected *need_unexpected(cst__validation_state *state, cst_bytes key,
                                        const char *path) {
  size_t at = find_unexpected(state, key);
  if (at < state->num_unexpected && compare_unexpected_key(state->unexpected[at], key) == 0) {
    return state->unexpected[at];
  }
  if (at == CST__MAX_UNEXPECTED) {
    return NULL;
  }
  void *items = state->unexpected;
  bool grown = cst__grow(&state->arena.allocator, &items, &state->unexpected_capacity,
                         state->num_unexpected + 1, sizeof *state->unexpected);
  state->unexpected = items;
  cst__unexpected *made = grown ? new_unexpected(&state->arena.allocator, key, path) : NULL;
  if (made == NULL) {
    state->out_of_memory = true;
    return NULL;
  }
  memmove(&state->unexpected[at + 1], &state->unexpected[at],
          (state->num_unexpected - at) * sizeof *state->unexpected);
  state->unexpected[at] = made;
  state->num_unexpected++;
  if (state->num_unexpected > CST__MAX_UNEXPECTED) {
    drop_last_unexpected(state);
  }
  return made;
}

cst__unexpected *cst__unexpected_need(cst__validation_state *state,
                                      const cst__unexpected_rows *rows) {
  char path[1024];
  cst__text key = {0};             /* the whole name, where the path may be cut */
  cst_error step = CST_ERROR_INIT; /* escapes as errors do */
  cst__error_add_path(&step, rows->name, strlen(rows->name));
  (void)snprintf(path, sizeof path, "%s%s%s", rows->parent != NULL ? rows->parent : "",
                 rows->parent != NULL ? "." : "", step.path);
  cst__text_puts(&key, rows->parent != NULL ? rows->parent : "");
  cst__text_append(&key, "", 1); /* no part of any name */
  cst__text_puts(&key, rows->name);
  state->out_of_memory |= key.failed;
  cst_bytes bytes = {(const uint8_t *)key.data, key.size};
  cst__unexpected *found = key.failed ? NULL : need_unexpected(state, bytes, path);
  cst__text_free(&key);
  if (found != NULL) {
    cst__found_types_add(&found->types, rows->type);
  }
  return found;
}

void cst__unexpected_count(cst__check *check, cst__unexpected *unexpected, int64_t row,
                           const char *type) {
  cst__validation_state *state = check->state;
  cst__finding *finding = unexpected != NULL ? &unexpected->finding : &state->more_unexpected;
  cst__sighting sighting = {.row = state->num_rows + (uint64_t)row};
  finding->count++;
  if (finding->num_places < state->plan->max_places ||
      sighting.row <= finding->places[finding->num_places - 1].row) {
    sighting.place = cst__origin_place(check->origin, row);
    (void)snprintf(sighting.found, sizeof sighting.found, "%s", type);
    (void)insert_sighting(state, finding, &sighting);
  }
}

static void merge_unexpected(cst__validation_state *state, const cst__validation_state *from) {
  merge_finding(state, &state->more_unexpected, &from->more_unexpected, state->num_rows);
  for (size_t i = 0; i < from->num_unexpected && !state->out_of_memory; i++) {
    const cst__unexpected *u = from->unexpected[i];
    cst_bytes key = {(const uint8_t *)u->key, u->key_size};
    cst__unexpected *mine = need_unexpected(state, key, u->path);
    merge_finding(state, mine != NULL ? &mine->finding : &state->more_unexpected, &u->finding,
                  state->num_rows);
    if (mine != NULL) {
      merge_found_types(&mine->types, &u->types);
    }
  }
}

static void archive_unexpected(cst__archive *a, cst__validation_state *state) {
  size_t count = state->num_unexpected;
  archive_findings(a, state, &state->more_unexpected, 1);
  cst__archive_count(a, &count);
  cst__archive_check(a, count <= CST__MAX_UNEXPECTED);
  for (size_t i = 0; i < count && !a->bad; i++) {
    char path[1024] = "";
    cst_bytes key = {NULL, 0};
    cst__unexpected *u = NULL;
    bool loads = cst__archive_loads(a);
    if (!loads) {
      u = state->unexpected[i];
      key = (cst_bytes){(const uint8_t *)u->key, u->key_size};
      (void)snprintf(path, sizeof path, "%s", u->path);
    }
    cst__archive_bytes(a, &key);
    cst__archive_text(a, path, sizeof path);
    if (loads && !a->bad) {
      u = need_unexpected(state, key, path);
      a->no_memory = state->out_of_memory;
      cst__archive_check(a, u != NULL && state->num_unexpected == i + 1); /* no key comes twice */
    }
    if (!a->bad && u != NULL) {
      archive_found_types(a, &u->types);
      archive_findings(a, state, &u->finding, 1);
    }
  }
}

/* ---- tensors ---- */

/* The column of this name that a spec has beside its values; NULL: none. */
static const char *find_spec_column(const cst_tensor_spec *spec, const char *name, size_t size) {
  const char *found = NULL;
  for (size_t i = 0; i < spec->num_index_columns + spec->num_partitions && found == NULL; i++) {
    const char *column = i < spec->num_index_columns
                             ? spec->index_columns[i]
                             : spec->partitions[i - spec->num_index_columns].row_length_column;
    bool is_it = column != NULL && strlen(column) == size && memcmp(column, name, size) == 0;
    found = is_it ? column : NULL;
  }
  for (size_t i = 0; i < spec->num_fields && found == NULL; i++) {
    found = find_spec_column(&spec->fields[i], name, size);
  }
  return found;
}

/* The states may have two plans that are equal: what `from` borrows is of its own. */
static void merge_tensor(cst__validation_state *state, size_t number,
                         const cst__tensor_tally *from) {
  cst__tensor_tally *into = &state->tensors[number];
  if (into->problem[0] == '\0') {
    memcpy(into->problem, from->problem, sizeof into->problem);
  }
  for (size_t i = 0; i < CST__NUM_ROW_REASONS; i++) {
    if (from->is_seen[i] && !into->is_seen[i]) {
      into->is_seen[i] = true;
      const char *column = from->first[i].column;
      into->first[i] = from->first[i];
      into->first[i].column = column != NULL ? find_spec_column(state->plan->tensors[number].spec,
                                                                column, strlen(column))
                                             : NULL;
    }
  }
  merge_findings(state, into->findings, from->findings, CST__NUM_ROW_REASONS, state->num_rows);
}

static void archive_fault(cst__archive *a, const cst_tensor_spec *spec, cst__row_fault *fault) {
  cst_bytes column = {NULL, 0};
  bool has_column = fault->column != NULL;
  if (has_column) {
    column = cst__bytes_of(fault->column);
  }
  cst__archive_i64(a, &fault->found);
  cst__archive_i64(a, &fault->expected);
  cst__archive_bool(a, &has_column);
  if (has_column) {
    cst__archive_bytes(a, &column);
    if (cst__archive_loads(a) && !a->bad) {
      fault->column = find_spec_column(spec, (const char *)column.data, column.size);
      cst__archive_check(a, fault->column != NULL);
    }
  }
}

static void archive_tensor(cst__archive *a, cst__validation_state *state, size_t number) {
  cst__tensor_tally *tally = &state->tensors[number];
  cst__archive_text(a, tally->problem, sizeof tally->problem);
  for (size_t i = 0; i < CST__NUM_ROW_REASONS && !a->bad; i++) {
    tally->first[i].reason = (cst__row_reason)i;
    cst__archive_bool(a, &tally->is_seen[i]);
    archive_fault(a, state->plan->tensors[number].spec, &tally->first[i]);
  }
  archive_findings(a, state, tally->findings, CST__NUM_ROW_REASONS);
}

/* ---- records that cannot be read ---- */

static cst__finding *need_lost(cst__validation_state *state, const char *kind) {
  for (size_t i = 0; i < state->num_lost; i++) {
    if (strcmp(state->lost[i].kind, kind) == 0 || i + 1 == CST__MAX_LOST_KINDS) {
      return &state->lost[i].finding;
    }
  }
  cst__lost_tally *lost = &state->lost[state->num_lost++];
  (void)snprintf(lost->kind, sizeof lost->kind, "%s", kind);
  init_findings(&lost->finding, 1);
  return &lost->finding;
}

/* The feature whose cell of a table does not read as its type; NULL: it is something else. */
static cst__finding *find_cell(cst__validation_state *state, cst_bytes column) {
  const cst__feature_plan *root = &state->plan->root;
  for (size_t i = 0; i < root->num_children && column.data != NULL; i++) {
    const char *name = root->children[i].rules->feature->name;
    if (strlen(name) == column.size && memcmp(name, column.data, column.size) == 0) {
      return &state->tallies[root->first_child + i].findings[CST__FAULT_TYPE];
    }
  }
  return NULL;
}

static cst_status validation_add_lost(void *ctx, const cst__lost *lost, cst_error *error) {
  cst__validation_state *state = ctx;
  const cst_error *why = lost->error;
  cst__finding *cell = find_cell(state, lost->column);
  cst__finding *finding = cell != NULL ? cell : need_lost(state, lost->kind);
  cst__place place = {why->file, why->record, why->offset};
  finding->count++;
  char *found = finding_place(state, finding, state->num_rows, &place);
  if (found != NULL) {
    cst__escape(found, CST__FOUND_SIZE, why->message, strlen(why->message));
  }
  state->num_rows += cell != NULL; /* it can be read but for that cell */
  return state->out_of_memory ? cst__fail_memory(error, sizeof(cst__sighting)) : CST_OK;
}

static void merge_lost(cst__validation_state *state, const cst__validation_state *from) {
  for (size_t i = 0; i < from->num_lost; i++) {
    merge_finding(state, need_lost(state, from->lost[i].kind), &from->lost[i].finding,
                  state->num_rows);
  }
}

static void archive_lost(cst__archive *a, cst__validation_state *state) {
  size_t count = state->num_lost;
  cst__archive_count(a, &count);
  cst__archive_check(a, count <= CST__MAX_LOST_KINDS);
  for (size_t i = 0; i < count && !a->bad; i++) {
    char kind[sizeof state->lost[i].kind];
    memcpy(kind, state->lost[i].kind, sizeof kind);
    cst__archive_text(a, kind, sizeof kind);
    if (cst__archive_loads(a) && !a->bad) {
      (void)need_lost(state, kind);
      cst__archive_check(a, state->num_lost == i + 1);
    }
    archive_findings(a, state, &state->lost[i].finding, 1);
  }
}

/* ---- the accumulator ---- */

static void validation_free(void *ctx) {
  cst__validation_state *state = ctx;
  if (state == NULL) {
    return;
  }
  for (size_t i = 0; state->tallies != NULL && i < state->plan->num_tallies; i++) {
    reset_findings(state->tallies[i].findings, CST__NUM_FAULTS);
  }
  for (size_t i = 0; state->tensors != NULL && i < state->plan->num_tensors; i++) {
    reset_findings(state->tensors[i].findings, CST__NUM_ROW_REASONS);
  }
  for (size_t i = 0; i < state->num_unexpected; i++) {
    free_unexpected(state->unexpected[i]);
  }
  for (size_t i = 0; i < state->num_lost; i++) {
    reset_findings(&state->lost[i].finding, 1);
  }
  reset_findings(&state->more_unexpected, 1);
  cst__delete(state->unexpected);
  cst__delete(state->tallies);
  cst__delete(state->tensors);
  cst__file_names_reset(&state->files);
  cst__arena_reset(&state->arena);
  cst__delete(state);
}

static cst_status validation_create(const void *ctx, const cst_allocator *allocator, void **out,
                                    cst_error *error) {
  const cst__validation_plan *plan = ctx;
  cst__validation_state *state = cst__new_zero(allocator, sizeof *state);
  size_t size = plan->num_tallies * sizeof *state->tallies;
  size_t tensors_size = (plan->num_tensors + 1) * sizeof *state->tensors;
  if (state == NULL) {
    return cst__fail_memory(error, sizeof *state);
  }
  state->plan = plan;
  cst__arena_init(&state->arena, allocator);
  init_findings(&state->more_unexpected, 1);
  state->tallies = cst__new_zero(allocator, size);
  state->tensors = cst__new_zero(allocator, tensors_size);
  if (state->tallies == NULL || state->tensors == NULL) {
    validation_free(state);
    return cst__fail_memory(error, size + tensors_size);
  }
  state->tallies[0].plan = &plan->root;
  init_findings(state->tallies[0].findings, CST__NUM_FAULTS);
  plan_tallies(state, &plan->root);
  for (size_t i = 0; i < plan->num_tensors; i++) {
    init_findings(state->tensors[i].findings, CST__NUM_ROW_REASONS);
  }
  *out = state;
  return CST_OK;
}

static cst_status validation_add(void *ctx, const cst__view *batch, const cst__origin *origin,
                                 cst_error *error) {
  cst__validation_state *state = ctx;
  cst__check check = {
      .state = state, .plan = state->plan, .origin = origin, .rows = batch->length, .error = error};
  cst__arena_pool_lend(state->plan->pool, &check.scratch);
  cst_status status = cst__check_features(&check, batch);
  if (status == CST_OK && state->plan->num_tensors > 0) {
    status = cst__check_tensors(&check, batch);
  }
  cst__arena_pool_take_back(state->plan->pool, &check.scratch);
  state->num_rows += (uint64_t)batch->length;
  return status == CST_OK && state->out_of_memory ? cst__fail_memory(error, 64) : status;
}

static cst_status validation_merge(void *into, const void *other, cst_error *error) {
  cst__validation_state *state = into;
  const cst__validation_state *from = other;
  for (size_t i = 0; i < state->plan->num_tallies; i++) {
    merge_tally(state, &state->tallies[i], &from->tallies[i]);
  }
  for (size_t i = 0; i < state->plan->num_tensors; i++) {
    merge_tensor(state, i, &from->tensors[i]);
  }
  merge_unexpected(state, from);
  merge_lost(state, from);
  state->num_rows = cst__count_sum(state->num_rows, from->num_rows);
  return state->out_of_memory ? cst__fail_memory(error, sizeof(cst__sighting)) : CST_OK;
}

static void validation_archive(void *ctx, cst__archive *a) {
  cst__validation_state *state = ctx;
  uint64_t mark = state->plan->mark;
  cst__archive_u64(a, &mark);
  cst__archive_check(a, mark == state->plan->mark);
  cst__archive_u64(a, &state->num_rows);
  for (size_t i = 0; i < state->plan->num_tallies && !a->bad; i++) {
    archive_tally(a, state, &state->tallies[i]);
  }
  for (size_t i = 0; i < state->plan->num_tensors && !a->bad; i++) {
    archive_tensor(a, state, i);
  }
  archive_unexpected(a, state);
  archive_lost(a, state);
}

static cst_status validation_finish(const void *state, cst_findings **out, cst_error *error) {
  return cst__validation_report(state, NULL, out, error);
}

/* ---- for callers ---- */

/* Their options. */
typedef struct validation_settings {
  const char *schema;
  const char *environment;
  const char *const *group;
  size_t num_groups;
  bool skip_tensors, ignore_unexpected;
  int64_t places;
} validation_settings;

static const cst__option validation_table[] = {
    {.info = {.name = "schema",
              .kind = CST_OPTION_TEXT,
              .help = "schema that the data should fit; required"},
     .offset = offsetof(validation_settings, schema)},
    {.info = {.name = "environment",
              .kind = CST_OPTION_TEXT,
              .help = "environment of the schema; features outside it are not expected"},
     .offset = offsetof(validation_settings, environment)},
    {.info = {.name = "group",
              .kind = CST_OPTION_NAMES,
              .help = "tensor_representation_group, or several, whose tensors must fit every row"},
     .offset = offsetof(validation_settings, group),
     .count_offset = offsetof(validation_settings, num_groups)},
    {.info = {.name = "skip_tensors",
              .kind = CST_OPTION_SWITCH,
              .help = "check features only, not tensors"},
     .offset = offsetof(validation_settings, skip_tensors)},
    {.info = {.name = "ignore_unexpected",
              .kind = CST_OPTION_SWITCH,
              .help = "accept features that are not in the schema"},
     .offset = offsetof(validation_settings, ignore_unexpected)},
    {.info = {.name = "places",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = INT64_MAX,
              .usual = "5",
              .help = "number of records to list per anomaly"},
     .offset = offsetof(validation_settings, places),
     .is_wide = true}};
static const cst__option_table validation_type = {
    "validation", validation_table, sizeof validation_table / sizeof validation_table[0],
    sizeof(cst__option), sizeof(validation_settings)};

typedef struct owned_validation {
  cst__validation_plan plan; /* the first, so that it stands for all */
  cst_validate_options options;
} owned_validation;

static void free_owned_validation(const void *plan) {
  owned_validation *owned = (owned_validation *)(uintptr_t)plan;
  cst__validation_plan_reset(&owned->plan);
  cst__delete(owned);
}

/* The plan reads all that the options borrow. */
static cst_status own_validation_plan(const validation_settings *settings, const cst_schema *schema,
                                      const cst_allocator *allocator, cst__owned_plan *out,
                                      cst_error *error) {
  static const cst__validation_source no_source = {.group = NULL};
  owned_validation *owned = cst__new_zero(allocator, sizeof *owned);
  if (owned == NULL) {
    return cst__fail_memory(error, sizeof *owned);
  }
  owned->options = (cst_validate_options){.environment = settings->environment,
                                          .group = settings->group,
                                          .num_groups = settings->num_groups,
                                          .skip_tensors = settings->skip_tensors,
                                          .ignore_unexpected = settings->ignore_unexpected,
                                          .places = (size_t)settings->places};
  cst_status status = cst__validation_plan_init(&owned->plan, schema, &owned->options, &no_source,
                                                allocator, error);
  owned->options.environment = NULL;
  owned->options.group = NULL;
  owned->options.num_groups = 0;
  if (status != CST_OK) {
    free_owned_validation(&owned->plan);
    return status;
  }
  *out = (cst__owned_plan){&owned->plan, free_owned_validation, owned->plan.mark};
  return CST_OK;
}

static cst_status plan_validation(const void *options, const cst_allocator *allocator,
                                  cst__owned_plan *out, cst_error *error) {
  const validation_settings *own = options;
  cst_schema *schema;
  if (own->schema == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give the option schema",
                     "there is no schema to validate against");
  }
  CST__TRY(cst_schema_from_text(own->schema, strlen(own->schema), &schema, error));
  cst_status status = own_validation_plan(own, schema, allocator, out, error);
  cst_schema_release(schema);
  return status;
}

static const cst_schema *validation_text_schema(const void *plan) {
  return ((const cst__validation_plan *)plan)->book->schema;
}

const cst__accumulator cst__validation_accumulator = {
    .name = "validation",
    .version = 1,
    .purpose = "validate",
    .summary = "anomalies: data that does not fit a schema",
    .options = &validation_type,
    .plan = plan_validation,
    .is_lenient = true,
    .text_schema = validation_text_schema,
    .create = validation_create,
    .free = validation_free,
    .add = validation_add,
    .add_lost = validation_add_lost,
    .merge = validation_merge,
    .archive = validation_archive,
    .finish = validation_finish};
