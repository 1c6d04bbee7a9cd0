/* Summaries as a kind of sketches, and what callers ask of them. */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "base/arguments.h"
#include "sketch/quantile_summary/summary.h"
#include "sketch/quantiles_sketch.h"

/* ---- the kind ---- */

typedef struct summary_options {
  double error;
  int64_t most;
} summary_options;

static const cst__option option_list[] = {
    {.info = {.name = "error",
              .kind = CST_OPTION_REAL,
              .least = 0,
              .most = INT64_MAX,
              .usual = "0.01",
              .help = "largest error of a rank, as a fraction of the weight of all values: more "
                      "than 0"},
     .offset = offsetof(summary_options, error)},
    {.info = {.name = "most",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = INT64_MAX,
              .usual = "4294967296",
              .help = "number of values for which the error holds"},
     .offset = offsetof(summary_options, most),
     .is_wide = true},
};

static const cst__option_table option_table = {
    .owner = "quantile_summary",
    .options = option_list,
    .count = sizeof option_list / sizeof option_list[0],
    .stride = sizeof option_list[0],
    .size = sizeof(summary_options),
};

static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  const summary_options *given = options;
  if (!(given->error >= DBL_MIN)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "0.01, for example",
                     "the error of a summary has to be more than 0");
  }
  cst__summary_sketch *made = cst__new(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__summary_sketch_init(made, given->error / 3, (uint64_t)given->most, allocator);
  *state = made;
  return CST_OK;
}

static void free_state(void *state) {
  if (state != NULL) {
    cst__summary_sketch_reset(state);
    cst__delete(state);
  }
}

static double value_at(const cst__value_block *values, size_t i) {
  return values->family == CST__FAMILY_INT    ? (double)cst__values_ints(values)[i]
         : values->family == CST__FAMILY_UINT ? (double)cst__values_uints(values)[i]
                                              : cst__values_floats(values)[i];
}

static cst_status add(void *state, const cst__value_block *values, cst_error *error) {
  for (size_t i = 0; i < values->count; i++) {
    const double value = value_at(values, i) + 0.0; /* -0 becomes 0 */
    const double weight = values->weights != NULL ? values->weights[i] : 1;
    if (!isnan(value) && weight > 0) {
      CST__TRY(cst__summary_push(state, value, weight, error));
    }
  }
  return CST_OK;
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return cst__summary_sketch_merge(into, from, error);
}

static size_t memory(const void *state) {
  const cst__summary_sketch *s = state;
  size_t size = sizeof *s + s->capacity * sizeof *s->buffer;
  for (size_t i = 0; i < s->num_levels; i++) {
    size += s->levels[i].count * sizeof *s->levels[i].entries;
  }
  return size;
}

/* ---- saving ---- */

static void archive_buffer(cst__summary_sketch *s, cst__archive *a) {
  size_t count = s->num_buffered;
  cst__archive_count(a, &count);
  if (cst__archive_loads(a) && !a->bad && count > 0) {
    s->buffer = cst__new(&s->allocator, count * sizeof *s->buffer);
    if (s->buffer == NULL) {
      cst__archive_fail_memory(a);
    }
    s->num_buffered = s->capacity = a->bad ? 0 : count;
  }
  for (size_t i = 0; i < s->num_buffered && !a->bad; i++) {
    cst__archive_double(a, &s->buffer[i].value);
    cst__archive_double(a, &s->buffer[i].weight);
  }
}

static void archive_summary(cst__summary *s, const cst_allocator *allocator, cst__archive *a) {
  size_t count = s->count;
  cst__archive_count(a, &count);
  if (cst__archive_loads(a) && !a->bad && count > 0) {
    s->entries = cst__new(allocator, count * sizeof *s->entries);
    if (s->entries == NULL) {
      cst__archive_fail_memory(a);
    }
    s->count = a->bad ? 0 : count;
  }
  for (size_t i = 0; i < s->count && !a->bad; i++) {
    cst__archive_double(a, &s->entries[i].value);
    cst__archive_double(a, &s->entries[i].weight);
    cst__archive_double(a, &s->entries[i].low);
    cst__archive_double(a, &s->entries[i].high);
  }
}

/* The error of one step is saved as it is: one that came from tfx_bsl need not be a third of what
 * the option can say. */
static void archive_steps(cst__summary_sketch *s, cst__archive *a) {
  double eps = s->eps;
  cst__archive_double(a, &eps);
  if (cst__archive_loads(a)) {
    bool fits = isfinite(eps) && eps > 0;
    cst__archive_check(a, fits);
    cst__summary_sketch_init(s, fits ? eps : s->eps, s->most, &s->allocator);
  }
}

static void archive(void *state, cst__archive *a) {
  cst__summary_sketch *s = state;
  size_t num_levels = s->num_levels;
  archive_steps(s, a);
  cst__archive_bool(a, &s->is_compact);
  archive_buffer(s, a);
  cst__archive_count(a, &num_levels);
  cst__archive_check(a, num_levels <= CST__SUMMARY_LEVELS);
  for (size_t i = 0; i < num_levels && !a->bad; i++) {
    s->num_levels = i < s->num_levels ? s->num_levels : i + 1;
    archive_summary(&s->levels[i], &s->allocator, a);
  }
  if (cst__archive_loads(a) && !a->bad) {
    cst__archive_check(a, cst__summary_sketch_settle(s));
  }
}

const cst__sketch_kind cst__summary_kind = {
    .name = "quantile_summary",
    .version = 1,
    .summary = "quantiles of numbers, optionally weighted, within a bound that always holds, like "
               "tfx_bsl's QuantilesSketch",
    .options = &option_table,
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT,
    .create = create,
    .free = free_state,
    .add = add,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};

/* ---- questions ---- */

cst_status cst__summary_of(const cst_sketch *sketch, const cst__summary_sketch **out,
                           cst_error *error) {
  const void *state;
  CST__TRY(cst__sketch_state(sketch, &cst__summary_kind, &state, error));
  *out = state;
  return CST_OK;
}

cst_status cst_sketch_compact(cst_sketch *sketch, cst_error *error) {
  const cst__summary_sketch *state;
  CST__TRY(cst__summary_of(sketch, &state, error));
  return cst__summary_sketch_compact(cst__sketch_fill(sketch, cst__sketch_family(sketch)), error);
}

/* Of a summary; false: there is nothing. */
static cst_status cut_summary(const cst__summary_sketch *s, size_t parts, double *values,
                              double *upto, bool *is_any, cst_error *error) {
  cst__summary all;
  CST__TRY(cst__summary_sketch_all(s, &all, error));
  *is_any = all.count > 0;
  if (*is_any) {
    cst__summary_cuts(&all, parts, values, upto);
  }
  cst__summary_reset(&all);
  return CST_OK;
}

static cst_status cut_quantiles(const cst_sketch *sketch, size_t parts, double *values,
                                double *upto, bool *is_any, cst_error *error) {
  cst__quantiles_view view;
  double error_option;
  CST__TRY(cst__quantiles_view_of(sketch, &view, &error_option, error));
  *is_any = view.count > 0;
  for (size_t i = 0; i <= parts && *is_any; i++) {
    uint64_t key = cst__quantiles_at(&view, (double)i / (double)parts);
    values[i] = cst__quantiles_double(view.family, key);
    upto[i] = cst__quantiles_upto(&view, key, true);
  }
  cst__quantiles_view_reset(&view);
  return CST_OK;
}

cst_status cst_sketch_cuts(const cst_sketch *sketch, size_t num_parts, double *values, double *upto,
                           cst_error *error) {
  const cst__summary_sketch *state;
  bool is_any;
  if (sketch == NULL || values == NULL || upto == NULL) {
    return cst__missing(sketch == NULL ? "sketch" : values == NULL ? "values" : "upto", error);
  }
  if (num_parts == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "there is one part at least");
  }
  CST__TRY(cst__summary_of(sketch, &state, NULL) == CST_OK
               ? cut_summary(state, num_parts, values, upto, &is_any, error)
               : cut_quantiles(sketch, num_parts, values, upto, &is_any, error));
  for (size_t i = 0; i <= num_parts && !is_any; i++) {
    values[i] = NAN;
    upto[i] = 0;
  }
  return CST_OK;
}
