/* The features of a batch, column by column: what is there, of which type, how many values, and
 * whether these are in their domain. Whole runs are compared first; only where one is out are the
 * values looked at one by one.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "validate/check.h"

/* Lists on the way from the rows to slots; NULL: the slots are rows. */
typedef struct levels {
  const int64_t *splits;
  int64_t count;
  const struct levels *outer;
} levels;

typedef struct column {
  cst__check *check;
  cst__tally *tally;
  const levels *above; /* the column's slots */
} column;

static int64_t row_of(const levels *above, int64_t slot) {
  for (; above != NULL; above = above->outer) {
    slot = cst__splits_find(above->splits, above->count, slot);
  }
  return slot;
}

static char *mark(const column *c, cst__fault_kind kind, const levels *above, int64_t slot) {
  return cst__mark(c->check, &c->tally->findings[kind], row_of(above, slot));
}

#define SAY(place, ...)                                     \
  do {                                                      \
    char *say_at = (place);                                 \
    if (say_at != NULL) {                                   \
      (void)snprintf(say_at, CST__FOUND_SIZE, __VA_ARGS__); \
    }                                                       \
  } while (0)

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

/* ---- presence ---- */

static int64_t count_present(const cst__slots *slots) {
  const cst__view *v = slots->view;
  int64_t present = 0;
  if (!cst__slots_may_be_null(slots)) {
    return slots->count;
  }
  if (v->layout == CST__LAYOUT_NULL) {
    return 0;
  }
  if (slots->index == NULL && slots->mask == NULL && v->validity != NULL) {
    return cst__bitmap_count(v->validity, v->offset + slots->first, slots->count);
  }
  for (int64_t k = 0; k < slots->count; k++) {
    present += !cst__slot_is_null(slots, k);
  }
  return present;
}

static bool wants_presence(const cst__tally *tally) {
  const cst__rules *rules = tally->rules;
  return tally->checked && rules->in_environment && (rules->has_presence || rules->shape_size >= 0);
}

/* Marks the slots that lack the feature. `parents`: slots whose structs have to be there; NULL:
 * all. */
static void mark_absent(const column *c, const cst__slots *slots, const cst__slots *parents,
                        int64_t absent) {
  cst__finding *finding = &c->tally->findings[CST__FAULT_PRESENCE];
  for (int64_t k = 0; absent > 0 && finding->num_places < c->check->max_places; k++) {
    bool lacks =
        (slots == NULL || cst__slot_is_null(slots, k)) &&
        (parents == NULL || !cst__slots_may_be_null(parents) || !cst__slot_is_null(parents, k));
    if (lacks) {
      (void)mark(c, CST__FAULT_PRESENCE, c->above, k);
      absent--;
    }
  }
  finding->count += (uint64_t)absent;
}

/* ---- types ---- */

static bool is_number(const cst__view *v, bool floats) {
  bool is_float = v->dtype == CST_DTYPE_FLOAT32 || v->dtype == CST_DTYPE_FLOAT64;
  return v->layout == CST__LAYOUT_NUMBER && is_float == floats;
}

static bool is_of_type(const cst__view *leaf, cst_feature_type type) {
  if (leaf->layout == CST__LAYOUT_NULL) {
    return true;
  }
  switch (type) {
    case CST_FEATURE_INT:
      return is_number(leaf, false) || leaf->layout == CST__LAYOUT_BOOL;
    case CST_FEATURE_FLOAT:
      return is_number(leaf, true) || leaf->layout == CST__LAYOUT_HALF;
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
  cst_feature_type type = is_number(leaf, true)                 ? CST_FEATURE_FLOAT
                          : is_number(leaf, false)              ? CST_FEATURE_INT
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

static void mark_type(const column *c, const cst__slots *slots, const cst__view *leaf) {
  char type[64];
  name_type(leaf, type, sizeof type);
  if (c->tally->type[0] == '\0') {
    memcpy(c->tally->type, type, sizeof type);
  }
  for (int64_t k = 0; k < slots->count; k++) {
    if (!cst__slots_may_be_null(slots) || !cst__slot_is_null(slots, k)) {
      SAY(mark(c, CST__FAULT_TYPE, c->above, k), "%s", type);
    }
  }
}

static const cst__view *below_lists(const cst__view *v) {
  while (cst__view_is_list(v)) {
    v = &v->children[0];
  }
  return v;
}

/* ---- numbers of values ---- */

/* The shortest and the longest of `count` lists. */
static void measure(const int64_t *splits, int64_t count, int64_t *least, int64_t *most) {
  *least = INT64_MAX;
  *most = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t size = splits[i + 1] - splits[i];
    *least = size < *least ? size : *least;
    *most = size > *most ? size : *most;
  }
}

/* Lists shorter than `min`. */
static int64_t count_short(const int64_t *splits, int64_t count, int64_t min) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; i++) {
    found += splits[i + 1] - splits[i] < min;
  }
  return found;
}

static void note_count(cst__tally *tally, int64_t size) {
  bool first =
      tally->findings[CST__FAULT_COUNT].count + tally->findings[CST__FAULT_SHAPE].count == 0;
  tally->least_count = first || size < tally->least_count ? size : tally->least_count;
  tally->most_count = first || size > tally->most_count ? size : tally->most_count;
}

/* Every list that is there has a number of items within the range; null ones are empty. */
static void check_counts(const column *c, cst__fault_kind kind, cst__count_range range,
                         const cst__slots *lists, const levels *above, const int64_t *splits) {
  int64_t least;
  int64_t most;
  measure(splits, lists->count, &least, &most);
  bool may_be_null = cst__slots_may_be_null(lists);
  if (most <= range.max &&
      (least >= range.min || (may_be_null && count_short(splits, lists->count, range.min) ==
                                                 lists->count - count_present(lists)))) {
    return;
  }
  for (int64_t k = 0; k < lists->count; k++) {
    int64_t size = splits[k + 1] - splits[k];
    if ((size < range.min || size > range.max) && !(may_be_null && cst__slot_is_null(lists, k))) {
      note_count(c->tally, size);
      SAY(mark(c, kind, above, k), "%lld value%s", (long long)size, plural(size));
    }
  }
}

/* Row splits of the values below two levels of lists. */
static const int64_t *join_splits(const column *c, const int64_t *outer, int64_t count,
                                  const int64_t *inner) {
  int64_t *splits = cst__scratch_take(&c->check->scratch, count + 1, sizeof *splits);
  for (int64_t i = 0; splits != NULL && i <= count; i++) {
    splits[i] = inner[outer[i]];
  }
  return splits;
}

/* ---- domains ---- */

static void note_int(cst__tally *tally, int64_t value) {
  tally->int_least = !tally->has_extremes || value < tally->int_least ? value : tally->int_least;
  tally->int_most = !tally->has_extremes || value > tally->int_most ? value : tally->int_most;
  tally->has_extremes = true;
  tally->bad_values++;
}

static void note_float(cst__tally *tally, double value) {
  tally->bad_values++;
  if (isnan(value)) {
    return;
  }
  tally->float_least =
      !tally->has_extremes || value < tally->float_least ? value : tally->float_least;
  tally->float_most = !tally->has_extremes || value > tally->float_most ? value : tally->float_most;
  tally->has_extremes = true;
}

/* Any null among them? */
static bool are_all_there(const cst__slots *items) { return cst__slots_first_null(items) < 0; }

/* An integer of any width; what is above 2^63-1 counts as that. */
static int64_t int_at(const cst__view *v, int64_t slot) {
  int64_t at = v->offset + slot;
  switch (v->layout == CST__LAYOUT_BOOL ? CST_DTYPE_NONE : v->dtype) {
    case CST_DTYPE_INT8:
      return ((const int8_t *)v->data)[at];
    case CST_DTYPE_INT16:
      return ((const int16_t *)v->data)[at];
    case CST_DTYPE_INT32:
      return ((const int32_t *)v->data)[at];
    case CST_DTYPE_INT64:
      return ((const int64_t *)v->data)[at];
    case CST_DTYPE_UINT8:
      return ((const uint8_t *)v->data)[at];
    case CST_DTYPE_UINT16:
      return ((const uint16_t *)v->data)[at];
    case CST_DTYPE_UINT32:
      return ((const uint32_t *)v->data)[at];
    case CST_DTYPE_UINT64: {
      uint64_t value = ((const uint64_t *)v->data)[at];
      return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    }
    default:
      return (((const uint8_t *)v->data)[at >> 3] >> (at & 7)) & 1;
  }
}

static double half_value(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  double fraction = bits & 1023;
  double value = exponent == 31  ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                 : exponent == 0 ? ldexp(fraction, -24)
                                 : ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -value : value;
}

static double float_at(const cst__view *v, int64_t slot) {
  int64_t at = v->offset + slot;
  if (v->layout == CST__LAYOUT_HALF) {
    return half_value(((const uint16_t *)v->data)[at]);
  }
  return v->dtype == CST_DTYPE_FLOAT32 ? (double)((const float *)v->data)[at]
                                       : ((const double *)v->data)[at];
}

/* True if all of a run are within the limits. */
static bool ints_fit(const cst__slots *items, int64_t min, int64_t max) {
  const int64_t *values = (const int64_t *)items->view->data + items->view->offset + items->first;
  uint64_t span = (uint64_t)max - (uint64_t)min;
  uint64_t bad = 0;
  if (items->index != NULL || items->view->layout != CST__LAYOUT_NUMBER ||
      items->view->dtype != CST_DTYPE_INT64) {
    return false;
  }
  for (int64_t i = 0; i < items->count; i++) {
    bad |= (uint64_t)((uint64_t)values[i] - (uint64_t)min > span);
  }
  return bad == 0;
}

static bool floats_fit(const cst__slots *items, float min, float max) {
  const float *values = (const float *)items->view->data + items->view->offset + items->first;
  int bad = 0;
  if (items->index != NULL || items->view->dtype != CST_DTYPE_FLOAT32) {
    return false;
  }
  for (int64_t i = 0; i < items->count; i++) {
    bad |= !(values[i] >= min) | !(values[i] <= max);
  }
  return bad == 0;
}

static bool may_skip(const cst__slots *items, int64_t k) {
  return cst__slots_may_be_null(items) && cst__slot_is_null(items, k);
}

static void check_ints(const column *c, const cst__slots *items, const levels *above) {
  const cst__domain *domain = &c->tally->rules->domain;
  int64_t min = domain->kind == CST__DOMAIN_BOOL ? 0 : domain->int_min;
  int64_t max = domain->kind == CST__DOMAIN_BOOL ? 1 : domain->int_max;
  cst__fault_kind kind = domain->kind == CST__DOMAIN_BOOL ? CST__FAULT_BOOL : CST__FAULT_INT;
  if (min <= max && ints_fit(items, min, max) && are_all_there(items)) {
    return;
  }
  for (int64_t k = 0; k < items->count; k++) {
    if (may_skip(items, k)) {
      continue;
    }
    int64_t value = int_at(items->view, cst__slot_at(items, k));
    if (value < min || value > max) {
      note_int(c->tally, value);
      SAY(mark(c, kind, above, k), "%lld", (long long)value);
    }
  }
}

static bool float_fits(const cst__domain *domain, double value) {
  if (domain->kind == CST__DOMAIN_BOOL) {
    return value == 0 || value == 1;
  }
  if (isnan(value)) {
    return !domain->disallow_nan;
  }
  return !(domain->disallow_inf && isinf(value)) && value >= domain->float_min &&
         value <= domain->float_max;
}

static void check_floats(const column *c, const cst__slots *items, const levels *above) {
  const cst__domain *domain = &c->tally->rules->domain;
  bool is_bool = domain->kind == CST__DOMAIN_BOOL;
  bool is_open = !domain->has_min && !domain->has_max;
  if (!is_bool && is_open && !domain->disallow_nan && !domain->disallow_inf) {
    return;
  }
  float least = domain->disallow_inf ? -FLT_MAX : (float)domain->float_min;
  float most = domain->disallow_inf ? FLT_MAX : (float)domain->float_max;
  least = (float)domain->float_min > least ? (float)domain->float_min : least;
  most = (float)domain->float_max < most ? (float)domain->float_max : most;
  if (!is_bool && floats_fit(items, least, most) && are_all_there(items)) {
    return;
  }
  for (int64_t k = 0; k < items->count; k++) {
    double value = may_skip(items, k) ? 0 : float_at(items->view, cst__slot_at(items, k));
    if (!may_skip(items, k) && !float_fits(domain, value)) {
      note_float(c->tally, value);
      SAY(mark(c, is_bool ? CST__FAULT_BOOL : CST__FAULT_FLOAT, above, k), "%.9g", value);
    }
  }
}

/* A string that is not in its domain, or is no text. */
static void bad_string(const column *c, cst_bytes value, const levels *above, int64_t k) {
  const cst__domain *domain = &c->tally->rules->domain;
  c->tally->bad_values++;
  if (!cst__utf8_valid(value.data, value.size)) {
    SAY(mark(c, CST__FAULT_UTF8, above, k), "%zu bytes", value.size);
    return;
  }
  c->check->out_of_memory |= !cst__distinct_add(&c->tally->unknown, value, &c->check->arena);
  SAY(mark(c, domain->kind == CST__DOMAIN_BOOL ? CST__FAULT_BOOL : CST__FAULT_STRING, above, k),
      "%zu byte%s", value.size, plural((int64_t)value.size));
}

static bool string_fits(const cst__tally *tally, cst_bytes value) {
  static const uint8_t none[1] = {0};
  const uint8_t *data = value.size > 0 ? value.data : none;
  if (tally->rules->domain.kind == CST__DOMAIN_UTF8) {
    return cst__utf8_valid(data, value.size);
  }
  return tally->strings.slots != NULL && cst__string_set_has(&tally->strings, data, value.size);
}

/* Strings that are looked up together: their slots come into the cache meanwhile. */
enum { TOGETHER = 16 };

#define CHECK_RUN(T)                                                                            \
  do {                                                                                          \
    const T *offsets = (const T *)v->offsets + v->offset + items->first;                        \
    for (int64_t k = 0; k < items->count; k += TOGETHER) {                                      \
      int64_t count = items->count - k < TOGETHER ? items->count - k : TOGETHER;                \
      for (int64_t i = 0; i < count; i++) {                                                     \
        strings[i] =                                                                            \
            (cst_bytes){bytes + offsets[k + i], (size_t)(offsets[k + i + 1] - offsets[k + i])}; \
      }                                                                                         \
      check_together(c, strings, (size_t)count, above, k);                                      \
    }                                                                                           \
  } while (0)

static void check_together(const column *c, const cst_bytes *strings, size_t count,
                           const levels *above, int64_t first) {
  const cst__string_set *set = &c->tally->strings;
  cst__string_ends ends[TOGETHER];
  size_t places[TOGETHER];
  for (size_t i = 0; i < count; i++) {
    ends[i] = cst__string_ends_of(strings[i].data, strings[i].size);
    places[i] = cst__string_place(set, ends[i], strings[i].size);
    __builtin_prefetch(&set->slots[places[i]]);
  }
  for (size_t i = 0; i < count; i++) {
    if (!cst__string_set_probe(set, ends[i], places[i], strings[i].data, strings[i].size)) {
      bad_string(c, strings[i], above, first + (int64_t)i);
    }
  }
}

/* Strings of a set, one behind the other: the usual case. */
static void check_string_run(const column *c, const cst__slots *items, const levels *above) {
  const cst__view *v = items->view;
  const uint8_t *bytes = v->data;
  cst_bytes strings[TOGETHER];
  if (v->offset_width == 8) {
    CHECK_RUN(int64_t);
  } else {
    CHECK_RUN(int32_t);
  }
}

static void check_strings(const column *c, const cst__slots *items, const levels *above) {
  const cst__view *v = items->view;
  if (c->tally->strings.slots != NULL && v->layout == CST__LAYOUT_BINARY && v->data != NULL &&
      items->index == NULL && are_all_there(items)) {
    check_string_run(c, items, above);
    return;
  }
  for (int64_t k = 0; k < items->count; k++) {
    if (!may_skip(items, k)) {
      cst_bytes value = cst__view_bytes(items->view, cst__slot_at(items, k));
      if (!string_fits(c->tally, value)) {
        bad_string(c, value, above, k);
      }
    }
  }
}

static void check_domain(const column *c, const cst__slots *items, const levels *above) {
  c->tally->values += (uint64_t)items->count;
  if (c->tally->rules->domain.kind == CST__DOMAIN_NONE || items->count == 0 ||
      items->view->layout == CST__LAYOUT_NULL) {
    return;
  }
  switch (c->tally->rules->feature->type) {
    case CST_FEATURE_INT:
      check_ints(c, items, above);
      break;
    case CST_FEATURE_FLOAT:
      check_floats(c, items, above);
      break;
    case CST_FEATURE_BYTES:
      check_strings(c, items, above);
      break;
    case CST_FEATURE_STRUCT:
    case CST_FEATURE_UNKNOWN:
      break;
  }
}

/* ---- columns ---- */

static cst_status check_children(cst__check *check, cst__tally *tally, const cst__slots *structs,
                                 const levels *above);

/* Opens lists down to the values or structs. The levels lie in the scratch. */
static cst_status open_lists(const column *c, const cst__slots *slots, bool counts_rows,
                             cst__slots *items, const levels **above) {
  const cst__rules *rules = c->tally->rules;
  cst__slots lists = *slots;
  const int64_t *totals = NULL;
  *above = c->above;
  for (size_t depth = 0; cst__view_is_list(lists.view) || (depth == 0 && counts_rows); depth++) {
    levels *level = cst__scratch_take(&c->check->scratch, 1, sizeof *level);
    CST__TRY(CST__TAKEN(level, c->check->error));
    *level = (levels){NULL, lists.count, *above};
    CST__TRY(cst__slots_open(&lists, &c->check->scratch, &level->splits, items, c->check->error));
    if (depth < rules->num_counts && rules->shape_size < 0) {
      check_counts(c, CST__FAULT_COUNT, rules->counts[depth], &lists, *above, level->splits);
    }
    if (rules->shape_size >= 0) {
      totals = depth == 0 ? level->splits : join_splits(c, totals, slots->count, level->splits);
      CST__TRY(CST__TAKEN(totals, c->check->error));
    }
    *above = level;
    lists = *items;
  }
  *items = lists;
  if (totals != NULL) {
    cst__count_range exact = {rules->shape_size, rules->shape_size};
    check_counts(c, CST__FAULT_SHAPE, exact, slots, c->above, totals);
  }
  return CST_OK;
}

static cst_status check_values(const column *c, const cst__slots *slots) {
  const cst__view *leaf = below_lists(slots->view);
  bool is_struct = leaf->layout == CST__LAYOUT_STRUCT;
  bool fits = is_of_type(leaf, c->tally->rules->feature->type);
  cst__slots items;
  const levels *above;
  if (!fits) {
    mark_type(c, slots, leaf);
  }
  CST__TRY(open_lists(c, slots, !is_struct, &items, &above));
  if (fits && is_struct && c->tally->num_children > 0) {
    return check_children(c->check, c->tally, &items, above);
  }
  if (fits && !is_struct) {
    check_domain(c, &items, above);
  }
  return CST_OK;
}

/* `parents`: the structs that hold the column; NULL: it is one of the batch's. */
static cst_status check_column(const column *c, const cst__slots *slots,
                               const cst__slots *parents) {
  int64_t expected = parents != NULL ? count_present(parents) : slots->count;
  int64_t present = count_present(slots);
  c->tally->parents += (uint64_t)expected;
  c->tally->present += (uint64_t)present;
  if (wants_presence(c->tally) && present < expected) {
    mark_absent(c, slots, parents, expected - present);
  }
  return present > 0 && c->tally->checked ? check_values(c, slots) : CST_OK;
}

static void meet_unexpected(cst__check *check, const char *parent, const char *name,
                            const cst__slots *slots, const levels *above) {
  int64_t present = count_present(slots);
  if (present == 0 || check->options->ignore_unexpected) {
    return;
  }
  cst__tally *tally = cst__check_unexpected(check, parent, name);
  cst__finding *finding =
      tally != NULL ? &tally->findings[CST__FAULT_UNEXPECTED] : &check->more_unexpected;
  char type[64];
  name_type(below_lists(slots->view), type, sizeof type);
  if (tally != NULL && tally->type[0] == '\0') {
    memcpy(tally->type, type, sizeof type);
  }
  finding->last_row = -1;
  for (int64_t k = 0; k < slots->count && !check->out_of_memory; k++) {
    if (!cst__slots_may_be_null(slots) || !cst__slot_is_null(slots, k)) {
      SAY(cst__mark(check, finding, row_of(above, k)), "%s", type);
    }
  }
}

/* Features that the structs at hand do not have at all. */
static void meet_missing(cst__check *check, cst__tally *tally, const cst__slots *structs,
                         const levels *above, const bool *seen) {
  int64_t expected = count_present(structs);
  for (size_t i = 0; i < tally->num_children; i++) {
    column c = {check, &tally->children[i], above};
    if (!seen[i]) {
      c.tally->parents += (uint64_t)expected;
      if (wants_presence(c.tally)) {
        mark_absent(&c, NULL, structs, expected);
      }
    }
  }
}

static cst_status check_children(cst__check *check, cst__tally *tally, const cst__slots *structs,
                                 const levels *above) {
  const cst__view *v = structs->view;
  bool *seen = cst__scratch_take(&check->scratch, (int64_t)tally->num_children + 1, sizeof *seen);
  CST__TRY(CST__TAKEN(seen, check->error));
  memset(seen, 0, (tally->num_children + 1) * sizeof *seen);
  for (int64_t i = 0; i < v->num_children; i++) {
    const char *name = v->children[i].name;
    cst__slots slots;
    if (!cst__slots_enter(structs, i, &check->scratch, &slots)) {
      return CST__TAKEN(NULL, check->error);
    }
    size_t at = cst__name_map_find(&tally->names, name, strlen(name));
    if (at == SIZE_MAX || seen[at]) {
      meet_unexpected(check, tally->path, name, &slots, above);
      continue;
    }
    seen[at] = true;
    column c = {check, &tally->children[at], above};
    CST__TRY(check_column(&c, &slots, tally->path != NULL ? structs : NULL));
  }
  meet_missing(check, tally, structs, above, seen);
  return check->out_of_memory ? CST__TAKEN(NULL, check->error) : CST_OK;
}

static void forget_rows(cst__tally *tally) {
  for (size_t i = 0; i < tally->num_children; i++) {
    cst__tally *child = &tally->children[i];
    for (size_t k = 0; k < CST__NUM_FAULTS; k++) {
      child->findings[k].last_row = -1;
    }
    forget_rows(child);
  }
}

cst_status cst__check_features(cst__check *check, const cst__view *batch) {
  cst__slots rows = {batch, batch->length, 0, NULL, NULL};
  forget_rows(&check->root);
  return check_children(check, &check->root, &rows, NULL);
}
