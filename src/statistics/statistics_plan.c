/* The options of statistics, and what is made of them once. */
#include "statistics/statistics.h"

/* ---- the options ---- */

#define OPTION(field) .offset = offsetof(cst__statistics_options, field)

static const cst__option options_table[] = {
    {.info = {.name = "columns",
              .kind = CST_OPTION_NAMES,
              .help = "only these columns of the data"},
     OPTION(columns),
     .count_offset = offsetof(cst__statistics_options, num_columns)},
    {.info = {.name = "by",
              .kind = CST_OPTION_NAMES,
              .help = "columns whose values define the slices"},
     OPTION(by),
     .count_offset = offsetof(cst__statistics_options, num_by)},
    {.info = {.name = "weight",
              .kind = CST_OPTION_TEXT,
              .help = "column with the weights of the rows"},
     OPTION(weight)},
    {.info = {.name = "pairs",
              .kind = CST_OPTION_NAMES,
              .help = "pairs of columns to relate, as in a:b,c:d; or * for all columns of numbers"},
     OPTION(pairs),
     .count_offset = offsetof(cst__statistics_options, num_pairs)},
    {.info = {.name = "error",
              .kind = CST_OPTION_REAL,
              .least = 0,
              .most = 1,
              .usual = "0.01",
              .help = "error of the ranks of quantiles"},
     OPTION(error)},
    {.info = {.name = "quantiles",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = 1000,
              .usual = "100",
              .help = "number of quantile buckets to report"},
     OPTION(quantiles)},
    {.info = {.name = "buckets",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = 1000,
              .usual = "10",
              .help = "number of histogram buckets of equal width to report"},
     OPTION(buckets)},
    {.info = {.name = "top",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = 1000,
              .usual = "20",
              .help = "number of frequent values to report"},
     OPTION(top)},
    {.info = {.name = "counters",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = 100000,
              .usual = "256",
              .help = "number of frequent values to count; a value that is not counted is at most "
                      "1 in this many"},
     OPTION(counters)},
    {.info = {.name = "slices",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = 100000,
              .usual = "1000",
              .help = "number of slices to keep, chosen at random"},
     OPTION(slices)},
    {.info = {.name = "memory",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = 1 << 20,
              .usual = "2048",
              .help = "limit of memory in MiB; more is an error"},
     OPTION(memory)}};

const cst__option_table cst__statistics_options_type = {
    "statistics", options_table, sizeof options_table / sizeof options_table[0],
    sizeof(cst__option), sizeof(cst__statistics_options)};

/* ---- the plan ---- */

static void free_plan(const void *plan) {
  cst__statistics_plan *p = (cst__statistics_plan *)(uintptr_t)plan;
  cst__name_map_reset(&p->columns);
  cst__arena_reset(&p->arena);
  cst__delete(p);
}

static bool copy_names(cst__arena *arena, const char *const **names, size_t count) {
  const char **copies = cst__arena_take(arena, (count + 1) * sizeof *copies);
  bool ok = copies != NULL;
  for (size_t i = 0; i < count && ok; i++) {
    copies[i] = cst__arena_copy(arena, (*names)[i], strlen((*names)[i]));
    ok = copies[i] != NULL;
  }
  *names = copies;
  return ok;
}

static cst_status fill_plan(cst__statistics_plan *plan, cst_error *error) {
  cst__statistics_options *options = &plan->options;
  bool ok = copy_names(&plan->arena, &options->columns, options->num_columns) &&
            copy_names(&plan->arena, &options->by, options->num_by) &&
            copy_names(&plan->arena, &options->pairs, options->num_pairs);
  if (ok && options->weight != NULL) {
    options->weight = cst__arena_copy(&plan->arena, options->weight, strlen(options->weight));
    ok = options->weight != NULL;
  }
  for (size_t i = 0; i < options->num_columns && ok; i++) {
    const char *name = options->columns[i];
    ok = cst__name_map_find(&plan->columns, name, strlen(name)) != SIZE_MAX ||
         cst__name_map_add(&plan->columns, name, strlen(name), i);
  }
  if (!ok) {
    return cst__fail_memory(error, options->num_columns);
  }
  CST__TRY(
      cst__pairs_plan_init(&plan->pairs, options->pairs, options->num_pairs, &plan->arena, error));
  enum { PRECISION = 12, LONGEST = 256 };
  plan->stats.precision = PRECISION;
  plan->stats.weighs = options->weight != NULL;
  plan->stats.heavy = (cst__heavy_options){
      .size = (size_t)(options->counters > options->top ? options->counters : options->top),
      .longest = LONGEST};
  return cst__quantiles_plan_init(&plan->stats.quantiles, options->error, CST__TAILS_NONE, 0,
                                  &plan->stats.allocator, error);
}

cst_status cst__statistics_make_plan(const void *options, const cst_allocator *allocator,
                                     cst__owned_plan *out, cst_error *error) {
  cst__statistics_plan *plan = cst__new_zero(allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  cst__arena_init(&plan->arena, allocator);
  plan->options = *(const cst__statistics_options *)options;
  plan->stats.allocator = cst__allocator_of(allocator);
  plan->mark = out->mark;
  cst_status status = fill_plan(plan, error);
  if (status != CST_OK) {
    free_plan(plan);
    return status;
  }
  out->plan = plan;
  out->free = free_plan;
  return CST_OK;
}
