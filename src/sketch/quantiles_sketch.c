/* Quantiles as a kind of sketch, and what callers ask of it. */
#include "sketch/quantiles_sketch.h"

#include <math.h>
#include <stddef.h>

#include "arrow/owned.h"
#include "arrow/type.h"
#include "base/arguments.h"
#include "sketch/quantiles.h"

/* ---- the kind ---- */

typedef struct options {
  double error;
  uint64_t seed;
  cst__tails tails;
} options;

static const cst__option option_table[] = {
    {.info = {.name = "error",
              .kind = CST_OPTION_REAL,
              .least = 0,
              .most = 1,
              .usual = "0.01",
              .help = "error of a rank in 99 of 100 cases, as a fraction of the weight of all "
                      "values: from 0.00001 to 0.5"},
     .offset = offsetof(options, error)},
    {.info = {.name = "tails",
              .kind = CST_OPTION_WORD,
              .words = {"none", "low", "high", "both"},
              .usual = "none",
              .help = "the end at which ranks are exact; the error is then a fraction of the "
                      "weight between that end and the value"},
     .offset = offsetof(options, tails)},
    {.info = {.name = "seed",
              .kind = CST_OPTION_NUMBER,
              .least = 0,
              .most = INT64_MAX,
              .help = "seed of the random choices"},
     .offset = offsetof(options, seed),
     .is_wide = true,
     .is_unsigned = true},
};
static const cst__option_table option_type = {"quantiles", option_table,
                                              sizeof option_table / sizeof option_table[0],
                                              sizeof(cst__option), sizeof(options)};

typedef struct state {
  cst__quantiles_plan plan;
  cst__quantiles quantiles;
} state;

static cst_status create(const void *given, const cst_allocator *allocator, void **out,
                         cst_error *error) {
  const options *o = given;
  state *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst_status status =
      cst__quantiles_plan_init(&made->plan, o->error, o->tails, o->seed, allocator, error);
  if (status != CST_OK) {
    cst__delete(made);
    return status;
  }
  cst__quantiles_init(&made->quantiles, &made->plan);
  *out = made;
  return CST_OK;
}

static void free_state(void *given) {
  state *s = given;
  if (s != NULL) {
    cst__quantiles_reset(&s->quantiles);
    cst__delete(s);
  }
}

static cst_status add(void *to, const cst__value_block *values, cst_error *error) {
  return cst__quantiles_add(&((state *)to)->quantiles, values, error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return cst__quantiles_merge(&((state *)into)->quantiles, &((const state *)from)->quantiles,
                              error);
}

static void archive(void *of, cst__archive *a) {
  cst__quantiles_archive(&((state *)of)->quantiles, a);
}

static size_t memory(const void *of) {
  return sizeof(cst__quantiles_plan) + cst__quantiles_memory(&((const state *)of)->quantiles);
}

const cst__sketch_kind cst__quantiles_kind = {
    .name = "quantiles",
    .version = 1,
    .summary = "quantiles, ranks and histograms of numbers, optionally weighted",
    .options = &option_type,
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT,
    .create = create,
    .free = free_state,
    .add = add,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};

/* ---- questions ---- */

cst_status cst__quantiles_view_of(const cst_sketch *sketch, cst__quantiles_view *view,
                                  double *error_option, cst_error *error) {
  const void *found;
  CST__TRY(cst__sketch_state(sketch, &cst__quantiles_kind, &found, error));
  const state *s = found;
  *error_option = s->plan.error;
  return cst__quantiles_view_init(view, &s->quantiles, error);
}

static cst_status open_view(const cst_sketch *sketch, cst__quantiles_view *view, cst_error *error) {
  double error_option;
  return cst__quantiles_view_of(sketch, view, &error_option, error);
}

static cst_status check_ranks(const double *ranks, size_t count, cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    if (!(ranks[i] >= 0 && ranks[i] <= 1)) {
      return cst__fail(error, CST_INVALID_ARGUMENT, "0 is the least value, 1 the greatest",
                       "the rank at place %zu is not from 0 to 1", i);
    }
  }
  return CST_OK;
}

/* Fills the array; all is null without values. */
static bool fill_quantiles(const cst__quantiles_view *view, const double *ranks, size_t count,
                           struct ArrowArray *array) {
  uint64_t *values = cst__owned_buffer(array, 1, count * sizeof *values);
  array->length = (int64_t)count;
  if (values == NULL) {
    return false;
  }
  if (view->count == 0) {
    uint8_t *bits = cst__owned_buffer(array, 0, cst__bits_size((int64_t)count));
    array->null_count = (int64_t)count;
    if (bits == NULL) {
      return false;
    }
    memset(bits, 0, cst__bits_size((int64_t)count));
    memset(values, 0, count * sizeof *values);
    return true;
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t key = cst__quantiles_at(view, ranks[i]);
    double real = cst__key_double(key);
    int64_t integer = cst__key_int(key);
    memcpy(&values[i],
           view->family == CST__FAMILY_FLOAT ? (const void *)&real
           : view->family == CST__FAMILY_INT ? (const void *)&integer
                                             : (const void *)&key,
           sizeof key);
  }
  return true;
}

static cst_status make_quantiles(const cst_sketch *sketch, const double *ranks, size_t count,
                                 struct ArrowArray *array, cst_error *error) {
  cst__quantiles_view view;
  CST__TRY(open_view(sketch, &view, error));
  cst_status status = cst__owned_new(NULL, 2, 0, false, array, error);
  if (status == CST_OK && !fill_quantiles(&view, ranks, count, array)) {
    cst__array_release(array);
    status = cst__fail_memory(error, count * sizeof(uint64_t));
  }
  cst__quantiles_view_reset(&view);
  return status;
}

cst_status cst_sketch_quantiles(const cst_sketch *sketch, const double *ranks, size_t num_ranks,
                                struct ArrowSchema *schema, struct ArrowArray *array,
                                cst_error *error) {
  CST__CLEAR(schema);
  CST__CLEAR(array);
  if (sketch == NULL || ranks == NULL || schema == NULL || array == NULL) {
    return cst__missing(sketch == NULL   ? "sketch"
                        : ranks == NULL  ? "ranks"
                        : schema == NULL ? "schema"
                                         : "array",
                        error);
  }
  CST__TRY(check_ranks(ranks, num_ranks, error));
  CST__TRY(make_quantiles(sketch, ranks, num_ranks, array, error));
  cst__family family = cst__sketch_family(sketch);
  const cst__type type = CST__TYPE_OF("", family == CST__FAMILY_INT    ? "l"
                                          : family == CST__FAMILY_UINT ? "L"
                                                                       : "g");
  cst_status status = cst__type_export(&type, schema, error);
  if (status != CST_OK) {
    cst__array_release(array);
  }
  return status;
}

cst_status cst_sketch_ranks(const cst_sketch *sketch, const double *values, size_t num_values,
                            bool is_inclusive, double *ranks, cst_error *error) {
  cst__quantiles_view view;
  if (sketch == NULL || values == NULL || ranks == NULL) {
    return cst__missing(sketch == NULL ? "sketch" : values == NULL ? "values" : "ranks", error);
  }
  memset(ranks, 0, num_values * sizeof *ranks);
  CST__TRY(open_view(sketch, &view, error));
  for (size_t i = 0; i < num_values; i++) {
    ranks[i] = view.count > 0 ? cst__quantiles_rank(&view, values[i], is_inclusive) : NAN;
  }
  cst__quantiles_view_reset(&view);
  return CST_OK;
}

cst_status cst_sketch_parts(const cst_sketch *sketch, cst_parts kind, size_t num_parts,
                            double *bounds, double *weights, cst_error *error) {
  cst__quantiles_view view;
  if (sketch == NULL || bounds == NULL || weights == NULL) {
    return cst__missing(sketch == NULL ? "sketch" : bounds == NULL ? "bounds" : "weights", error);
  }
  if (num_parts == 0 || (kind != CST_PARTS_EQUAL_DEPTH && kind != CST_PARTS_EQUAL_WIDTH)) {
    return cst__fail(
        error, CST_INVALID_ARGUMENT, NULL,
        num_parts == 0 ? "a histogram has one part at least" : "there is no such histogram");
  }
  memset(bounds, 0, (num_parts + 1) * sizeof *bounds);
  memset(weights, 0, num_parts * sizeof *weights);
  CST__TRY(open_view(sketch, &view, error));
  bool is_any = view.count > 0;
  if (is_any && kind == CST_PARTS_EQUAL_DEPTH) {
    cst__quantiles_equal_depth(&view, num_parts, bounds, weights);
  } else if (is_any) {
    is_any = cst__quantiles_equal_width(&view, num_parts, bounds, weights);
  }
  for (size_t i = 0; i <= num_parts && !is_any; i++) {
    bounds[i] = NAN;
  }
  cst__quantiles_view_reset(&view);
  return CST_OK;
}

cst_status cst_sketch_ranked(const cst_sketch *sketch, double *weight, int64_t *num_nans,
                             cst_error *error) {
  const void *found;
  CST__CLEAR(weight);
  CST__CLEAR(num_nans);
  CST__TRY(cst__check_given(sketch, "sketch", weight, error));
  CST__TRY(cst__sketch_state(sketch, &cst__quantiles_kind, &found, error));
  cst__quantiles_totals totals = cst__quantiles_get_totals(&((const state *)found)->quantiles);
  *weight = totals.weight;
  if (num_nans != NULL) {
    *num_nans = (int64_t)totals.nans;
  }
  return CST_OK;
}
