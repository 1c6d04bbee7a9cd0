/* Counts of different values as a kind of sketches. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/arguments.h"
#include "sketch/distinct_sketch.h"
#include "sketch/kmv.h"

typedef struct distinct_options {
  int64_t precision, seed;
} distinct_options;

static const cst__option option_list[] = {
    {.info = {.name = "precision",
              .kind = CST_OPTION_NUMBER,
              .least = CST__DISTINCT_PRECISION_LEAST,
              .most = CST__DISTINCT_PRECISION_MOST,
              .usual = "14",
              .help = "2^precision bytes; the standard error is 0.76 / sqrt(2^precision)"},
     .offset = offsetof(distinct_options, precision),
     .is_wide = true},
    {.info = {.name = "seed",
              .kind = CST_OPTION_NUMBER,
              .least = 0,
              .most = INT64_MAX,
              .usual = "0",
              .help = "seed of the hashes"},
     .offset = offsetof(distinct_options, seed),
     .is_wide = true},
};

static const cst__option_table option_table = {
    .owner = "distinct",
    .options = option_list,
    .count = sizeof option_list / sizeof option_list[0],
    .stride = sizeof option_list[0],
    .size = sizeof(distinct_options),
};

static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  const distinct_options *given = options;
  cst__distinct_sketch *made = cst__new(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__distinct_sketch_init(made, (int)given->precision,
                            given->seed > 0 ? (uint64_t)given->seed : 0, allocator);
  *state = made;
  return CST_OK;
}

static void free_state(void *state) {
  if (state != NULL) {
    cst__distinct_sketch_reset(state);
    cst__delete(state);
  }
}

static cst_status add(void *state, const cst__value_block *values, cst_error *error) {
  return cst__distinct_sketch_add(state, values, error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return cst__distinct_sketch_merge(into, from, error);
}

static void archive(void *state, cst__archive *a) { cst__distinct_sketch_archive(state, a); }

static size_t memory(const void *state) { return cst__distinct_sketch_memory(state); }

const cst__sketch_kind cst__distinct_kind = {
    .name = "distinct",
    .version = 1,
    .summary = "the number of distinct values",
    .options = &option_table,
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT |
                1u << CST__FAMILY_BYTES,
    .create = create,
    .free = free_state,
    .add = add,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};

cst_status cst_sketch_distinct(const cst_sketch *sketch, double deviations, double *estimate,
                               double *lower, double *upper, cst_error *error) {
  const void *state;
  if (estimate == NULL || lower == NULL || upper == NULL) {
    return cst__missing(estimate == NULL ? "estimate" : lower == NULL ? "lower" : "upper", error);
  }
  if (cst__sketch_state(sketch, &cst__kmv_kind, &state, NULL) != CST_OK) {
    CST__TRY(cst__sketch_state(sketch, &cst__distinct_kind, &state, error));
  }
  if (!isfinite(deviations) || deviations < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "standard deviations are a finite number, 0 or more");
  }
  if (strcmp(cst_sketch_kind(sketch), cst__kmv_kind.name) == 0) {
    CST__TRY(cst__kmv_estimate(state, estimate, error));
    cst__kmv_bounds(state, deviations, *estimate, lower, upper);
    return CST_OK;
  }
  *estimate = cst__distinct_sketch_estimate(state);
  cst__distinct_sketch_bounds(state, deviations, lower, upper);
  return CST_OK;
}
