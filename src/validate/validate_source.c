/* Validating a source: a fold of all of it, as leniently as may be, into a validation. */
#include "base/arguments.h"
#include "source/scan/fold.h"
#include "validate/validation.h"

static cst_status validate_by_plan(cst_source *source, const cst_schema *schema,
                                   const cst__validation_plan *plan, cst_findings **out,
                                   cst_error *error) {
  const cst__accumulator *accumulator = &cst__validation_accumulator;
  void *state;
  cst__fold_options options = {.lenient = true,
                               .whole = true,
                               .text_schema = schema,
                               .on_progress = plan->options->on_progress,
                               .progress_ctx = plan->options->progress_ctx,
                               .work = "the validation"};
  CST__TRY(cst__source_fold_one(source, &options, accumulator, plan, &state, error));
  cst_status status = accumulator->finish(state, out, error);
  accumulator->free(state);
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
