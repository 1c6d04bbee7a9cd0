/* Values and their domains. Whole runs are compared first; only where one is out are the values
 * looked at one by one.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "validate/validation.h"

static void note_float(cst__tally *tally, double value) {
  cst__float_range *range = &tally->floats;
  tally->bad_values++;
  if (isnan(value)) {
    tally->has_nan = true;
    return;
  }
  range->least = !range->any || value < range->least ? value : range->least;
  range->most = !range->any || value > range->most ? value : range->most;
  range->any = true;
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
  const int64_t *values =
      (const int64_t *)items->view->data + items->view->offset + items->chosen.begin;
  uint64_t span = (uint64_t)max - (uint64_t)min;
  uint64_t bad = 0;
  if (!cst__chosen_is_run(&items->chosen) || items->view->layout != CST__LAYOUT_NUMBER ||
      items->view->dtype != CST_DTYPE_INT64) {
    return false;
  }
  for (int64_t i = 0; i < items->chosen.count; i++) {
    bad |= (uint64_t)((uint64_t)values[i] - (uint64_t)min > span);
  }
  return bad == 0;
}

static bool floats_fit(const cst__slots *items, float min, float max) {
  const float *values =
      (const float *)items->view->data + items->view->offset + items->chosen.begin;
  int bad = 0;
  if (!cst__chosen_is_run(&items->chosen) || items->view->dtype != CST_DTYPE_FLOAT32) {
    return false;
  }
  for (int64_t i = 0; i < items->chosen.count; i++) {
    bad |= !(values[i] >= min) | !(values[i] <= max);
  }
  return bad == 0;
}

static bool may_skip(const cst__slots *items, int64_t k) {
  return cst__slots_may_be_null(items) && cst__slot_is_null(items, k);
}

static void check_ints(const cst__checked_column *c, const cst__slots *items, size_t num_above) {
  const cst__domain *domain = &c->tally->plan->rules->domain;
  int64_t min = domain->kind == CST__DOMAIN_BOOL ? 0 : domain->int_min;
  int64_t max = domain->kind == CST__DOMAIN_BOOL ? 1 : domain->int_max;
  cst__fault_kind kind = domain->kind == CST__DOMAIN_BOOL ? CST__FAULT_BOOL : CST__FAULT_INT;
  if (min <= max && ints_fit(items, min, max) && are_all_there(items)) {
    return;
  }
  for (int64_t k = 0; k < items->chosen.count; k++) {
    if (may_skip(items, k)) {
      continue;
    }
    int64_t value = int_at(items->view, cst__chosen_at(&items->chosen, k));
    if (value < min || value > max) {
      c->tally->bad_values++;
      cst__int_range_add(&c->tally->ints, value);
      CST__SAY(cst__checked_mark(c, kind, num_above, k), "%lld", (long long)value);
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

static void check_floats(const cst__checked_column *c, const cst__slots *items, size_t num_above) {
  const cst__domain *domain = &c->tally->plan->rules->domain;
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
  for (int64_t k = 0; k < items->chosen.count; k++) {
    double value =
        may_skip(items, k) ? 0 : float_at(items->view, cst__chosen_at(&items->chosen, k));
    if (!may_skip(items, k) && !float_fits(domain, value)) {
      note_float(c->tally, value);
      CST__SAY(cst__checked_mark(c, is_bool ? CST__FAULT_BOOL : CST__FAULT_FLOAT, num_above, k),
               "%.9g", value);
    }
  }
}

/* A string that is not in its domain, or not text. */
static void bad_string(const cst__checked_column *c, cst_bytes value, size_t num_above, int64_t k) {
  const cst__domain *domain = &c->tally->plan->rules->domain;
  c->tally->bad_values++;
  if (!cst__utf8_valid(value.data, value.size)) {
    CST__SAY(cst__checked_mark(c, CST__FAULT_UTF8, num_above, k), "%zu bytes", value.size);
    return;
  }
  c->check->state->out_of_memory |=
      !cst__distinct_add(&c->tally->unknown, value, &c->check->state->arena);
  CST__SAY(
      cst__checked_mark(c, domain->kind == CST__DOMAIN_BOOL ? CST__FAULT_BOOL : CST__FAULT_STRING,
                        num_above, k),
      "%zu byte%s", value.size, cst__plural_of((int64_t)value.size));
}

static bool string_fits(const cst__tally *tally, cst_bytes value) {
  static const uint8_t none[1] = {0};
  const uint8_t *data = value.size > 0 ? value.data : none;
  if (tally->plan->rules->domain.kind == CST__DOMAIN_UTF8) {
    return cst__utf8_valid(data, value.size);
  }
  return tally->plan->strings.slots != NULL &&
         cst__string_set_has(&tally->plan->strings, data, value.size);
}

/* Strings that are looked up together: their slots come into the cache meanwhile. */
enum { TOGETHER = 16 };

#define CHECK_RUN(T)                                                                            \
  do {                                                                                          \
    const T *offsets = (const T *)v->offsets + v->offset + items->chosen.begin;                 \
    for (int64_t k = 0; k < items->chosen.count; k += TOGETHER) {                               \
      int64_t count = items->chosen.count - k < TOGETHER ? items->chosen.count - k : TOGETHER;  \
      for (int64_t i = 0; i < count; i++) {                                                     \
        strings[i] =                                                                            \
            (cst_bytes){bytes + offsets[k + i], (size_t)(offsets[k + i + 1] - offsets[k + i])}; \
      }                                                                                         \
      check_together(c, strings, (size_t)count, num_above, k);                                  \
    }                                                                                           \
  } while (0)

static void check_together(const cst__checked_column *c, const cst_bytes *strings, size_t count,
                           size_t num_above, int64_t first) {
  const cst__string_set *set = &c->tally->plan->strings;
  cst__string_ends ends[TOGETHER];
  size_t places[TOGETHER];
  for (size_t i = 0; i < count; i++) {
    ends[i] = cst__string_ends_of(strings[i].data, strings[i].size);
    places[i] = cst__string_place(set, ends[i], strings[i].data, strings[i].size);
    __builtin_prefetch(&set->slots[places[i]]);
  }
  for (size_t i = 0; i < count; i++) {
    if (!cst__string_set_probe(set, ends[i], places[i], strings[i].data, strings[i].size)) {
      bad_string(c, strings[i], num_above, first + (int64_t)i);
    }
  }
}

/* Strings of a set, one after the other: the usual case. */
static void check_string_run(const cst__checked_column *c, const cst__slots *items,
                             size_t num_above) {
  const cst__view *v = items->view;
  const uint8_t *bytes = v->data;
  cst_bytes strings[TOGETHER];
  if (v->offset_width == 8) {
    CHECK_RUN(int64_t);
  } else {
    CHECK_RUN(int32_t);
  }
}

static void check_strings(const cst__checked_column *c, const cst__slots *items, size_t num_above) {
  const cst__view *v = items->view;
  if (c->tally->plan->strings.slots != NULL && v->layout == CST__LAYOUT_BINARY && v->data != NULL &&
      cst__chosen_is_run(&items->chosen) && are_all_there(items)) {
    check_string_run(c, items, num_above);
    return;
  }
  for (int64_t k = 0; k < items->chosen.count; k++) {
    if (!may_skip(items, k)) {
      cst_bytes value = cst__view_bytes(items->view, cst__chosen_at(&items->chosen, k));
      if (!string_fits(c->tally, value)) {
        bad_string(c, value, num_above, k);
      }
    }
  }
}

void cst__check_values(const cst__checked_column *c, const cst__slots *items, size_t num_above) {
  c->tally->values += (uint64_t)items->chosen.count;
  if (c->tally->plan->rules->domain.kind == CST__DOMAIN_NONE || items->chosen.count == 0 ||
      items->view->layout == CST__LAYOUT_NULL) {
    return;
  }
  switch (c->tally->plan->rules->feature->type) {
    case CST_FEATURE_INT:
      check_ints(c, items, num_above);
      break;
    case CST_FEATURE_FLOAT:
      check_floats(c, items, num_above);
      break;
    case CST_FEATURE_BYTES:
      check_strings(c, items, num_above);
      break;
    case CST_FEATURE_STRUCT:
    case CST_FEATURE_UNKNOWN:
      break;
  }
}
