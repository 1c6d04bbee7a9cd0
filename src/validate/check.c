/* Tallies of features, and the places of what is found. */
#include "validate/check.h"

#include <stdio.h>
#include <string.h>

/* ---- places ---- */

static const char *keep_file(cst__check *check, const char *file) {
  if (check->file == NULL || strcmp(check->file, file) != 0) {
    check->file = cst__arena_copy(&check->arena, file, strlen(file));
  }
  return check->file;
}

/* Room for one more place: 8 at first, then twice as many, but never more than are wanted. */
static bool need_place(cst__check *check, cst__finding *finding) {
  size_t size;
  if (finding->num_places < finding->capacity) {
    return true;
  }
  size_t twice = finding->capacity > 0 ? 2 * finding->capacity : 8;
  size_t capacity = twice < check->max_places ? twice : check->max_places;
  cst__sighting *places =
      cst__mul(capacity, sizeof *places, &size) ? cst__arena_take(&check->arena, size) : NULL;
  if (places == NULL) {
    return false;
  }
  if (finding->num_places > 0) {
    memcpy(places, finding->places, finding->num_places * sizeof *places);
  }
  finding->places = places;
  finding->capacity = capacity;
  return true;
}

char *cst__mark_place(cst__check *check, cst__finding *finding, const char *file, int64_t record) {
  finding->count++;
  if (finding->num_places >= check->max_places) {
    return NULL;
  }
  const char *kept = keep_file(check, file);
  if (kept == NULL || !need_place(check, finding)) {
    check->out_of_memory = true;
    return NULL;
  }
  cst__sighting *place = &finding->places[finding->num_places++];
  place->file = kept;
  place->record = record;
  place->found[0] = '\0';
  return place->found;
}

char *cst__mark(cst__check *check, cst__finding *finding, int64_t row) {
  if (finding->last_row == row) {
    return NULL;
  }
  finding->last_row = row;
  if (finding->num_places >= check->max_places) {
    finding->count++;
    return NULL;
  }
  cst_error place = CST_ERROR_INIT;
  cst__survey_locate(check->at, (size_t)row, &place);
  return cst__mark_place(check, finding, place.file, place.record);
}

/* ---- tallies ---- */

static cst_status no_memory(const cst__check *check) { return cst__fail_memory(check->error, 64); }

static void init_findings(cst__finding *findings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    findings[i] = (cst__finding){.last_row = -1};
  }
}

static cst_status init_children(cst__check *check, cst__tally *parent, const cst__rules *rules,
                                size_t count);

static cst_status init_tally(cst__check *check, cst__tally *tally, const cst__rules *rules) {
  const cst__domain *domain = &rules->domain;
  *tally = (cst__tally){.rules = rules};
  tally->path = cst__arena_copy(&check->arena, rules->path, strlen(rules->path));
  tally->checked = rules->feature->in_use;
  init_findings(tally->findings, CST__NUM_FAULTS);
  if (tally->path == NULL) {
    return no_memory(check);
  }
  if (domain->num_values > 0 &&
      !cst__string_set_init(&tally->strings, domain->values, domain->num_values, &check->arena)) {
    return no_memory(check);
  }
  return init_children(check, tally, rules->children, rules->num_children);
}

static cst_status init_children(cst__check *check, cst__tally *parent, const cst__rules *rules,
                                size_t count) {
  size_t size;
  parent->children = cst__mul(count + 1, sizeof *parent->children, &size)
                         ? cst__arena_take(&check->arena, size)
                         : NULL;
  if (parent->children == NULL) {
    return no_memory(check);
  }
  for (size_t i = 0; i < count; i++) {
    const cst_feature *feature = rules[i].feature;
    parent->num_children = i + 1;
    parent->children[i] = (cst__tally){.rules = NULL};
    CST__TRY(init_tally(check, &parent->children[i], &rules[i]));
    if (!cst__name_map_add(&parent->names, feature->name, feature->name_size, i)) {
      return no_memory(check);
    }
  }
  return CST_OK;
}

static void reset_tally(cst__tally *tally) {
  cst__name_map_reset(&tally->names);
  for (size_t i = 0; i < tally->num_children; i++) {
    reset_tally(&tally->children[i]);
  }
}

static cst__tally *add_unexpected(cst__check *check, const cst__text *key, const char *path) {
  void *items = check->unexpected;
  bool grown = cst__grow(&check->arena.allocator, &items, &check->unexpected_capacity,
                         check->num_unexpected + 1, sizeof *check->unexpected);
  check->unexpected = items;
  const char *copy = cst__arena_copy(&check->arena, path, strlen(path));
  const char *kept = cst__arena_copy(&check->arena, key->data, key->size);
  cst__tally *tally = cst__arena_take(&check->arena, sizeof *tally);
  if (!grown || copy == NULL || kept == NULL || tally == NULL ||
      !cst__name_map_add(&check->unexpected_names, kept, key->size, check->num_unexpected)) {
    check->out_of_memory = true;
    return NULL;
  }
  *tally = (cst__tally){.path = copy};
  init_findings(tally->findings, CST__NUM_FAULTS);
  check->unexpected[check->num_unexpected++] = tally;
  return tally;
}

cst__tally *cst__check_unexpected(cst__check *check, const char *parent, const char *name) {
  char path[1024];
  cst__text key = {0};             /* the whole name, where the path may be cut */
  cst_error step = CST_ERROR_INIT; /* escapes as errors do */
  cst__error_add_path(&step, name, strlen(name));
  (void)snprintf(path, sizeof path, "%s%s%s", parent != NULL ? parent : "",
                 parent != NULL ? "." : "", step.path);
  cst__text_puts(&key, parent != NULL ? parent : "");
  cst__text_append(&key, "", 1); /* no part of any name */
  cst__text_puts(&key, name);
  check->out_of_memory |= key.failed;
  size_t at =
      key.failed ? SIZE_MAX : cst__name_map_find(&check->unexpected_names, key.data, key.size);
  cst__tally *found = at != SIZE_MAX ? check->unexpected[at] : NULL;
  if (found == NULL && !key.failed && check->num_unexpected < CST__MAX_UNEXPECTED) {
    found = add_unexpected(check, &key, path);
  }
  cst__text_free(&key);
  return found;
}

/* ---- the whole ---- */

cst_status cst__check_init(cst__check *check, const cst_schema *schema,
                           const cst_validate_options *options, const cst_allocator *allocator,
                           cst_error *error) {
  *check = (cst__check){.options = options,
                        .max_places = options->max_places > 0 ? options->max_places : 5,
                        .error = error};
  cst__arena_init(&check->arena, allocator);
  init_findings(&check->more_unexpected, 1);
  CST__TRY(cst__rulebook_new(schema, options->environment, allocator, &check->book, error));
  check->pool = cst__scratch_pool_new(allocator);
  if (check->pool == NULL) {
    return no_memory(check);
  }
  cst__scratch_init(&check->scratch, check->pool);
  return init_children(check, &check->root, check->book->rules, check->book->count);
}

void cst__check_reset(cst__check *check) {
  reset_tally(&check->root);
  cst__name_map_reset(&check->unexpected_names);
  cst__delete(check->unexpected);
  for (size_t i = 0; i < check->num_groups; i++) {
    cst__specs_release(check->groups[i]);
  }
  if (check->pool != NULL) {
    cst__scratch_reset(&check->scratch);
    cst__scratch_pool_release(check->pool);
  }
  cst__rulebook_free(check->book);
  cst__arena_reset(&check->arena);
}
