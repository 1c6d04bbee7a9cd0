/* Statistics beside a validation, in the same pass. */
#include "validate/validation_statistics.h"

#include <columnstone/statistics.h>

#include "schema/comparators.h"
#include "statistics/statistics.h"

/* ---- an accumulator that gives up quietly ---- */

typedef struct lenient_statistics {
  cst_allocator allocator;
  void *statistics; /* NULL: they cannot be made */
  cst_error why;
} lenient_statistics;

static const cst__accumulator *const inner = &cst__statistics_accumulator;

static cst_status create(const void *plan, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  lenient_statistics *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  made->allocator = cst__allocator_of(allocator);
  made->why = (cst_error)CST_ERROR_INIT;
  cst_status status = inner->create(plan, allocator, &made->statistics, error);
  if (status != CST_OK) {
    cst__delete(made);
    return status;
  }
  *state = made;
  return CST_OK;
}

static void free_state(void *state) {
  lenient_statistics *s = state;
  if (s != NULL) {
    inner->free(s->statistics);
    cst__delete(s);
  }
}

/* What the data is to blame for ends the statistics, and nothing else. */
static cst_status forgive(lenient_statistics *s, cst_status status, const cst_error *why,
                          cst_error *error) {
  if (status == CST_OK) {
    return CST_OK;
  }
  if (status != CST_SCHEMA && status != CST_UNSUPPORTED && status != CST_LIMIT) {
    cst__error_copy(error, why);
    return status;
  }
  inner->free(s->statistics);
  s->statistics = NULL;
  s->why = *why;
  return CST_OK;
}

static cst_status add(void *state, const cst__view *batch, const cst__origin *origin,
                      cst_error *error) {
  lenient_statistics *s = state;
  cst_error why = CST_ERROR_INIT;
  return s->statistics == NULL
             ? CST_OK
             : forgive(s, inner->add(s->statistics, batch, origin, &why), &why, error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  lenient_statistics *s = into;
  const lenient_statistics *other = from;
  cst_error why = CST_ERROR_INIT;
  if (s->statistics == NULL) {
    return CST_OK;
  }
  if (other->statistics == NULL) {
    return forgive(s, other->why.code, &other->why, error);
  }
  return forgive(s, inner->merge(s->statistics, other->statistics, &why), &why, error);
}

const cst__accumulator cst__validation_statistics_accumulator = {
    .name = "validation's statistics",
    .version = 1,
    .purpose = "validate",
    .summary = "statistics, if they can be made",
    .create = create,
    .free = free_state,
    .add = add,
    .merge = merge};

/* ---- beside a validation ---- */

cst_status cst__validation_statistics_init(cst__validation_statistics *statistics,
                                           const cst_schema *schema,
                                           const cst_validate_options *options,
                                           const cst_allocator *allocator, cst_error *error) {
  const cst__option_list none = {NULL, 0};
  void *read;
  *statistics = (cst__validation_statistics){.is_needed = options->previous != NULL ||
                                                          options->serving != NULL ||
                                                          cst__schema_counts_distinct(schema)};
  cst__arena_init(&statistics->arena, allocator);
  if (!statistics->is_needed) {
    return CST_OK;
  }
  CST__TRY(cst__options_read(inner->options, inner->name, none, &statistics->arena, &read, error));
  return inner->plan(read, allocator, &statistics->plan, error);
}

void cst__validation_statistics_reset(cst__validation_statistics *statistics) {
  for (size_t i = 0; i < statistics->count; i++) {
    cst_findings_free(statistics->comparisons[i]);
  }
  free_state(statistics->state);
  if (statistics->plan.free != NULL) {
    statistics->plan.free(statistics->plan.plan);
  }
  cst__arena_reset(&statistics->arena);
}

/* ---- the end ---- */

/* What only the number of rows is known of. */
static cst_status make_empty(const cst_allocator *allocator, uint64_t num_rows, cst_findings **out,
                             cst_error *error) {
  cst_findings *found;
  CST__TRY(cst__findings_new(&cst__features_type, allocator, &found, error));
  cst__put_total(found, "num_rows", num_rows);
  return cst__findings_finish(found, out, error);
}

static cst_status compare_as(cst__validation_statistics *statistics, const char *kind,
                             const cst_findings *const tables[2],
                             const cst_compare_options *options, cst_error *error) {
  cst_findings **out = &statistics->comparisons[statistics->count];
  CST__TRY(cst_statistics_compare(tables[0], tables[1], options, out, error));
  statistics->kinds[statistics->count++] = kind;
  return CST_OK;
}

/* Data of which nothing earlier is known are compared with themselves: then rows and different
 * values are counted, and nothing drifts. */
static cst_status compare_all(cst__validation_statistics *statistics, const cst_schema *schema,
                              const cst_validate_options *options, const cst_findings *now,
                              cst_error *error) {
  const bool has_previous = options->previous != NULL;
  const char *environment = options->environment != NULL ? options->environment : "";
  const cst_option drift[] = {{"kind", "drift", NULL}, {"environment", environment, NULL}};
  const cst_option skew[] = {{"kind", "skew", NULL}, {"environment", environment, NULL}};
  const size_t count = options->environment != NULL ? 2 : 1;
  cst_compare_options given = CST_COMPARE_OPTIONS_INIT;
  const cst_findings *const before[] = {has_previous ? options->previous : now, now};
  const cst_findings *const served[] = {options->serving, now};
  given.schema = schema;
  given.options = has_previous ? drift : skew;
  given.num_options = count;
  CST__TRY(compare_as(statistics, NULL, before, &given, error));
  given.options = skew;
  return options->serving != NULL ? compare_as(statistics, "skew", served, &given, error) : CST_OK;
}

cst_status cst__validation_statistics_compare(cst__validation_statistics *statistics,
                                              const cst_schema *schema,
                                              const cst_validate_options *options,
                                              uint64_t num_rows, cst_error *error) {
  const lenient_statistics *made = statistics->state;
  cst_findings *now;
  if (!statistics->is_needed && !cst__schema_counts_rows(schema)) {
    return CST_OK;
  }
  if (made != NULL && made->statistics == NULL) {
    statistics->failure = &made->why;
    return CST_OK;
  }
  CST__TRY(made != NULL ? inner->finish(made->statistics, &now, error)
                        : make_empty(&statistics->arena.allocator, num_rows, &now, error));
  cst_status status = compare_all(statistics, schema, options, now, error);
  cst_findings_free(now);
  return status;
}
