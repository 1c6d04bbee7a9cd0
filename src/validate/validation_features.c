/* The features of a batch, column by column: what is there, of which type, and how many values.
 */
#include <stdio.h>
#include <string.h>

#include "validate/validation.h"

/* ---- presence ---- */

/* False: in use by nobody; it may be there, and look as it likes. */
static bool is_in_use(const cst__tally *tally) { return tally->plan->rules->feature->in_use; }

static bool wants_presence(const cst__tally *tally) {
  const cst__rules *rules = tally->plan->rules;
  return is_in_use(tally) && rules->in_environment &&
         (rules->has_presence || rules->shape_size >= 0);
}

/* Marks the slots that lack the feature. `parents`: slots whose structs have to be there; NULL:
 * all. */
static void mark_absent(const cst__checked_column *c, const cst__slots *slots,
                        const cst__slots *parents, int64_t absent) {
  cst__finding *finding = &c->tally->findings[CST__FAULT_PRESENCE];
  bool are_rows = c->num_above == 0; /* else a row may have several, and counts once */
  for (int64_t k = 0; absent > 0 && (!are_rows || finding->num_places < c->check->plan->max_places);
       k++) {
    bool lacks =
        (slots == NULL || cst__slot_is_null(slots, k)) &&
        (parents == NULL || !cst__slots_may_be_null(parents) || !cst__slot_is_null(parents, k));
    if (lacks) {
      (void)cst__checked_mark(c, CST__FAULT_PRESENCE, c->num_above, k);
      absent--;
    }
  }
  finding->count += (uint64_t)absent;
}

/* ---- types ---- */

static bool is_number_column(const cst__view *v, bool floats) {
  bool is_float = v->dtype == CST_DTYPE_FLOAT32 || v->dtype == CST_DTYPE_FLOAT64;
  return v->layout == CST__LAYOUT_NUMBER && is_float == floats;
}

static bool is_of_type(const cst__view *leaf, cst_feature_type type) {
  if (leaf->layout == CST__LAYOUT_NULL) {
    return true;
  }
  switch (type) {
    case CST_FEATURE_INT:
      return is_number_column(leaf, false) || leaf->layout == CST__LAYOUT_BOOL;
    case CST_FEATURE_FLOAT:
      return is_number_column(leaf, true) || leaf->layout == CST__LAYOUT_HALF;
    case CST_FEATURE_BYTES:
      return leaf->layout == CST__LAYOUT_BINARY || leaf->layout == CST__LAYOUT_BINARY_VIEW ||
             leaf->layout == CST__LAYOUT_FIXED_BINARY;
    case CST_FEATURE_STRUCT:
      return leaf->layout == CST__LAYOUT_STRUCT;
    case CST_FEATURE_UNKNOWN:
      break;
  }
  return true;
}

/* As a schema calls the type of a column, or as Arrow does. */
static void name_type(const cst__view *leaf, char *buf, size_t size) {
  cst_feature_type type = is_number_column(leaf, true)          ? CST_FEATURE_FLOAT
                          : is_number_column(leaf, false)       ? CST_FEATURE_INT
                          : is_of_type(leaf, CST_FEATURE_BYTES) ? CST_FEATURE_BYTES
                          : leaf->layout == CST__LAYOUT_STRUCT  ? CST_FEATURE_STRUCT
                                                                : CST_FEATURE_UNKNOWN;
  static const char *const names[] = {"", "BYTES", "INT", "FLOAT", "STRUCT"};
  if (type == CST_FEATURE_UNKNOWN) {
    cst__view_type_name(leaf, buf, size);
  } else {
    (void)snprintf(buf, size, "%s", names[type]);
  }
}

static void mark_column_type(const cst__checked_column *c, const cst__slots *slots,
                             const cst__view *leaf) {
  char type[CST__TYPE_NAME_SIZE];
  name_type(leaf, type, sizeof type);
  cst__found_types_add(&c->tally->types, type);
  for (int64_t k = 0; k < slots->chosen.count; k++) {
    if (!cst__slots_may_be_null(slots) || !cst__slot_is_null(slots, k)) {
      CST__SAY(cst__checked_mark(c, CST__FAULT_TYPE, c->num_above, k), "%s", type);
    }
  }
}

static const cst__view *leaf_column(const cst__view *v) {
  while (cst__view_is_list(v)) {
    v = &v->children[0];
  }
  return v;
}

/* ---- numbers of values ---- */

/* How many lists are shorter than `min`, and whether any is longer than `max`: the signs of
 * differences, which need no compares of 64 bits. */
static int64_t count_short(const cst__lists *lists, cst__count_range range, bool *any_long) {
  const uint64_t min = range.min > 0 ? (uint64_t)range.min : 0;
  const uint64_t max = range.max < -1 ? UINT64_MAX : (uint64_t)range.max;
  uint64_t found = 0;
  uint64_t over = 0;
  for (int64_t i = 0; i < lists->count; i++) {
    uint64_t size = (uint64_t)cst__list_size(lists, i);
    found += (size - min) >> 63;
    over |= max - size;
  }
  *any_long = over >> 63 != 0;
  return (int64_t)found;
}

static void mark_size(const cst__checked_column *c, cst__fault_kind kind, size_t num_above,
                      int64_t slot, int64_t size) {
  CST__SAY(cst__checked_mark(c, kind, num_above, slot), "%lld value%s", (long long)size,
           cst__plural_of(size));
}

/* Slots of lists below some levels, opened. */
typedef struct opened_lists {
  const cst__slots *slots;
  const cst__lists *lists;
  size_t num_above;
} opened_lists;

/* Every list that is there has a number of items within the range; null ones are empty. `sizes`:
 * where a bad one is noted by its row, because lists of several levels come in another order than
 * their rows (-1: none yet); NULL: it is marked at once. */
static void check_sizes(const cst__checked_column *c, cst__fault_kind kind, cst__count_range range,
                        const opened_lists *opened, int64_t *sizes) {
  const cst__slots *slots = opened->slots;
  const cst__lists *lists = opened->lists;
  bool any_long;
  int64_t num_short = count_short(lists, range, &any_long);
  bool may_be_null = cst__slots_may_be_null(slots);
  if (!any_long && (num_short == 0 ||
                    (may_be_null && num_short == lists->count - cst__slots_count_valid(slots)))) {
    return;
  }
  for (int64_t k = 0; k < lists->count; k++) {
    int64_t size = cst__list_size(lists, k);
    if ((size < range.min || size > range.max) && !(may_be_null && cst__slot_is_null(slots, k))) {
      int64_t row = cst__levels_find(c->check->levels, opened->num_above, k);
      cst__int_range_add(&c->tally->counts, size);
      if (sizes == NULL) {
        mark_size(c, kind, 0, row, size);
      } else if (sizes[row] < 0) {
        sizes[row] = size;
      }
    }
  }
}

/* Room for the sizes of all rows, if there are several levels; else *out is NULL. */
static cst_status need_sizes(const cst__checked_column *c, int64_t **out) {
  int64_t rows = c->check->rows;
  *out = NULL;
  if (c->tally->plan->rules->num_counts < 2 || c->tally->plan->rules->shape_size >= 0) {
    return CST_OK;
  }
  *out = cst__arena_take_items(&c->check->scratch, rows, sizeof **out);
  for (int64_t i = 0; *out != NULL && i < rows; i++) {
    (*out)[i] = -1;
  }
  return CST__TAKEN(*out, c->check->error);
}

static void mark_sizes(const cst__checked_column *c, const int64_t *sizes) {
  for (int64_t row = 0; sizes != NULL && row < c->check->rows; row++) {
    if (sizes[row] >= 0) {
      mark_size(c, CST__FAULT_COUNT, 0, row, sizes[row]);
    }
  }
}

/* ---- columns ---- */

static cst_status check_struct_features(cst__check *check, const cst__tally *tally,
                                        const cst__slots *structs, size_t num_above);

/* Opens lists down to the values or structs. */
static cst_status open_feature_lists(const cst__checked_column *c, const cst__slots *slots,
                                     bool counts_rows, cst__slots *items, size_t *num_above) {
  const cst__rules *rules = c->tally->plan->rules;
  cst__check *check = c->check;
  cst__lists all = {.splits = NULL}; /* the values of each slot */
  int64_t *sizes;
  CST__TRY(need_sizes(c, &sizes));
  *num_above = c->num_above;
  *items = *slots;
  for (size_t depth = 0; cst__view_is_list(items->view) || (depth == 0 && counts_rows); depth++) {
    const cst__slots outer = *items;
    cst__lists *lists = &check->levels[*num_above];
    CST__TRY(cst__slots_items(&outer, &check->scratch, lists, items, check->error));
    if (depth < rules->num_counts && rules->shape_size < 0) {
      const opened_lists opened = {&outer, lists, *num_above};
      check_sizes(c, CST__FAULT_COUNT, rules->counts[depth], &opened, sizes);
    }
    if (rules->shape_size >= 0 && depth > 0) {
      CST__TRY(cst__lists_join(&all, lists, &check->scratch, &all, check->error));
    }
    all = depth == 0 ? *lists : all;
    ++*num_above;
  }
  mark_sizes(c, sizes);
  if (rules->shape_size >= 0 && all.splits != NULL) {
    cst__count_range exact = {rules->shape_size, rules->shape_size};
    check_sizes(c, CST__FAULT_SHAPE, exact, &(opened_lists){slots, &all, c->num_above}, NULL);
  }
  return CST_OK;
}

static cst_status check_lists(const cst__checked_column *c, const cst__slots *slots) {
  const cst__view *leaf = leaf_column(slots->view);
  bool is_struct = leaf->layout == CST__LAYOUT_STRUCT;
  bool fits = is_of_type(leaf, c->tally->plan->rules->feature->type);
  cst__slots items;
  size_t num_above;
  if (!fits) {
    mark_column_type(c, slots, leaf);
  }
  CST__TRY(open_feature_lists(c, slots, !is_struct, &items, &num_above));
  if (fits && is_struct && c->tally->plan->num_children > 0) {
    return check_struct_features(c->check, c->tally, &items, num_above);
  }
  if (fits && !is_struct) {
    cst__check_values(c, &items, num_above);
  }
  return CST_OK;
}

/* `parents`: the structs that hold the column; NULL: it is one of the batch's. */
static cst_status check_feature(const cst__checked_column *c, const cst__slots *slots,
                                const cst__slots *parents) {
  int64_t expected = parents != NULL ? cst__slots_count_valid(parents) : slots->chosen.count;
  int64_t present = cst__slots_count_valid(slots);
  c->tally->in_lists |= c->num_above > 0;
  c->tally->parents += (uint64_t)expected;
  c->tally->present += (uint64_t)present;
  if (wants_presence(c->tally) && present < expected) {
    mark_absent(c, slots, parents, expected - present);
  }
  return present > 0 && is_in_use(c->tally) ? check_lists(c, slots) : CST_OK;
}

static void meet_unexpected(cst__check *check, const char *parent, const char *name,
                            const cst__slots *slots, size_t num_above) {
  cst__validation_state *state = check->state;
  char type[CST__TYPE_NAME_SIZE];
  if (cst__slots_count_valid(slots) == 0 || check->plan->options->ignore_unexpected) {
    return;
  }
  name_type(leaf_column(slots->view), type, sizeof type);
  cst__unexpected_rows rows = {parent, name, type};
  cst__unexpected *unexpected = cst__unexpected_need(state, &rows);
  int64_t last_row = -1;
  for (int64_t k = 0; k < slots->chosen.count && !state->out_of_memory; k++) {
    int64_t row = cst__levels_find(check->levels, num_above, k);
    if (row == last_row || (cst__slots_may_be_null(slots) && cst__slot_is_null(slots, k))) {
      continue;
    }
    last_row = row;
    cst__unexpected_count(check, unexpected, row, type);
  }
}

/* Features that the structs at hand do not have at all. */
static void meet_missing(cst__check *check, const cst__tally *parent, const cst__slots *structs,
                         size_t num_above, const bool *seen) {
  int64_t expected = cst__slots_count_valid(structs);
  for (size_t i = 0; i < parent->plan->num_children; i++) {
    cst__checked_column c = {check, cst__tally_children(check->state, parent) + i, num_above};
    if (!seen[i]) {
      c.tally->in_lists |= num_above > 0;
      c.tally->parents += (uint64_t)expected;
      if (wants_presence(c.tally)) {
        mark_absent(&c, NULL, structs, expected);
      }
    }
  }
}

static cst_status check_struct_features(cst__check *check, const cst__tally *tally,
                                        const cst__slots *structs, size_t num_above) {
  const cst__view *v = structs->view;
  const cst__feature_plan *plan = tally->plan;
  const char *path = plan->rules != NULL ? plan->rules->path : NULL;
  bool *seen =
      cst__arena_take_items(&check->scratch, (int64_t)plan->num_children + 1, sizeof *seen);
  CST__TRY(CST__TAKEN(seen, check->error));
  memset(seen, 0, (plan->num_children + 1) * sizeof *seen);
  for (int64_t i = 0; i < v->num_children; i++) {
    const char *name = v->children[i].name;
    cst__slots slots = *structs;
    CST__TRY(cst__slots_enter(&slots, i, &check->scratch, check->error));
    size_t at = cst__name_map_find(&plan->names, name, strlen(name));
    if (at == SIZE_MAX || seen[at]) {
      meet_unexpected(check, path, name, &slots, num_above);
      continue;
    }
    seen[at] = true;
    cst__checked_column c = {check, cst__tally_children(check->state, tally) + at, num_above};
    CST__TRY(check_feature(&c, &slots, path != NULL ? structs : NULL));
  }
  meet_missing(check, tally, structs, num_above, seen);
  return check->state->out_of_memory ? CST__TAKEN(NULL, check->error) : CST_OK;
}

cst_status cst__check_features(cst__check *check, const cst__view *batch) {
  cst__validation_state *state = check->state;
  const cst__slots rows = cst__slots_all(batch);
  for (size_t i = 0; i < state->plan->num_tallies; i++) {
    for (size_t k = 0; k < CST__NUM_FAULTS; k++) {
      state->tallies[i].findings[k].last_row = -1;
    }
  }
  return check_struct_features(check, &state->tallies[0], &rows, 0);
}
