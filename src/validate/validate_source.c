/* Validating a source: a fold of all of it, as leniently as may be, into a validation. */
#include "base/arguments.h"
#include "source/scan/fold.h"
#include "validate/validation.h"
#include "validate/validation_report.h"
#include "validate/validation_statistics.h"

/* A validation, and statistics beside it if they are needed. */
static cst_status fold_all(cst_source *source, const cst_schema *schema,
                           const cst__validation_plan *plan, cst__validation_statistics *statistics,
                           void *state, cst_error *error) {
  const cst__accumulation items[] = {
      {&cst__validation_accumulator, plan, state},
      {&cst__validation_statistics_accumulator, statistics->plan.plan, statistics->state}};
  const cst__fold_options options = {.lenient = true,
                                     .whole = true,
                                     .text_schema = schema,
                                     .on_progress = plan->options->on_progress,
                                     .progress_ctx = plan->options->progress_ctx,
                                     .work = "the validation"};
  CST__TRY(cst__source_fold(source, &options, items, statistics->is_needed ? 2 : 1, error));
  return cst__validation_statistics_compare(
      statistics, schema, plan->options, ((const cst__validation_state *)state)->num_rows, error);
}

static cst_status validate_by_plan(cst_source *source, const cst_schema *schema,
                                   const cst__validation_plan *plan, cst_findings **out,
                                   cst_error *error) {
  cst__validation_statistics statistics;
  void *state = NULL;
  cst_status status = cst__validation_statistics_init(&statistics, schema, plan->options,
                                                      &source->allocator, error);
  if (status == CST_OK) {
    status = cst__validation_accumulator.create(plan, &source->allocator, &state, error);
  }
  if (status == CST_OK && statistics.is_needed) {
    status = cst__validation_statistics_accumulator.create(statistics.plan.plan, &source->allocator,
                                                           &statistics.state, error);
  }
  if (status == CST_OK) {
    status = fold_all(source, schema, plan, &statistics, state, error);
  }
  if (status == CST_OK) {
    status = cst__validation_report(state, &statistics, out, error);
  }
  cst__validation_accumulator.free(state);
  cst__validation_statistics_reset(&statistics);
  return status;
}

cst_status cst_source_validate(cst_source *source, const cst_validate_options *options,
                               cst_findings **out, cst_error *error) {
  CST__CLEAR(out);
  cst_validate_options own = CST_VALIDATE_OPTIONS_INIT;
  CST__TRY(cst__check_given(source, "source", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_validate_options(&own, error));
  const cst_source_options *values = &source->options.values;
  const cst_schema *given = values->view == NULL ? values->schema : NULL; /* that of the input */
  const cst_schema *schema = own.schema != NULL ? own.schema : given;
  if (schema == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "give the schema that the data should fit, here or when the source is opened",
                     "there is no schema to validate against");
  }
  CST__TRY(cst__source_acquire_for_fold(source, &cst__validation_accumulator, error));
  cst__validation_source facts = {.legacy_specs = source->options.values.legacy_specs,
                                  .group = source->options.values.group};
  cst__validation_plan plan;
  cst_error failure = CST_ERROR_INIT;
  cst_status status =
      cst__validation_plan_init(&plan, schema, &own, &facts, &source->allocator, &failure);
  if (status == CST_OK) {
    status = validate_by_plan(source, schema, &plan, out, &failure);
  }
  cst__validation_plan_reset(&plan);
  if (status != CST_OK) {
    cst__error_copy(error, &failure);
  }
  return status;
}
