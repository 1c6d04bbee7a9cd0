/* The accumulators of validations and of proposals for callers: their plans are copies of what the
 * options say, which the handles own. */
#include "arrow/accumulator_handle.h"
#include "base/arguments.h"
#include "schema/inference.h"
#include "schema/schema.h"
#include "validate/proposal.h"
#include "validate/validation.h"

/* ---- validation ---- */

typedef struct owned_validation {
  cst__validation_plan plan; /* the first, so that it stands for all */
  cst_validate_options options;
} owned_validation;

static void free_owned_validation(const void *plan) {
  owned_validation *owned = (owned_validation *)(uintptr_t)plan;
  cst__validation_plan_reset(&owned->plan);
  cst__delete(owned);
}

static cst_status own_validation_plan(const cst_validate_options *options,
                                      const cst_allocator *allocator, cst__owned_plan *out,
                                      cst_error *error) {
  static const cst__validation_source no_source = {.group = NULL};
  owned_validation *owned = cst__new_zero(allocator, sizeof *owned);
  if (owned == NULL) {
    return cst__fail_memory(error, sizeof *owned);
  }
  owned->options = *options;
  cst_status status = cst__validation_plan_init(&owned->plan, options->schema, &owned->options,
                                                &no_source, allocator, error);
  owned->options.schema = NULL; /* the plan has read all that is borrowed */
  owned->options.environment = NULL;
  owned->options.groups = NULL;
  owned->options.num_groups = 0;
  if (status != CST_OK) {
    free_owned_validation(&owned->plan);
    return status;
  }
  *out = (cst__owned_plan){&owned->plan, free_owned_validation, owned->plan.mark};
  return CST_OK;
}

cst_status cst_accumulator_new_validation(const cst_validate_options *options,
                                          const cst_allocator *allocator, cst_accumulator **out,
                                          cst_error *error) {
  cst_validate_options own = CST_VALIDATE_OPTIONS_INIT;
  cst__owned_plan plan;
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(allocator, error));
  CST__TRY(cst__check_validate_options(&own, error));
  if (own.schema == NULL) {
    return cst__missing("options->schema", error);
  }
  CST__TRY(own_validation_plan(&own, allocator, &plan, error));
  return cst__accumulator_handle_new(&cst__validation_accumulator, &plan, allocator, out, error);
}

cst_status cst_accumulator_finish_validation(const cst_accumulator *accumulator,
                                             cst_validation **out, cst_error *error) {
  CST__CLEAR(out);
  return cst__accumulator_handle_finish(accumulator, &cst__validation_accumulator, out, error);
}

/* ---- proposals ---- */

static void free_owned_proposal(const void *plan) {
  const cst_propose_options *options = plan;
  cst__delete((void *)(uintptr_t)options->group);
  cst__delete((void *)(uintptr_t)options);
}

static cst_status own_proposal_plan(const cst_propose_options *options,
                                    const cst_allocator *allocator, cst__owned_plan *out,
                                    cst_error *error) {
  cst_propose_options *owned = cst__new(allocator, sizeof *owned);
  char *group = cst__new_copy(allocator, options->group, strlen(options->group));
  if (owned == NULL || group == NULL) {
    cst__delete(owned);
    cst__delete(group);
    return cst__fail_memory(error, sizeof *owned);
  }
  *owned = *options;
  owned->group = group;
  *out = (cst__owned_plan){owned, free_owned_proposal, options->max_domain};
  return CST_OK;
}

cst_status cst_accumulator_new_proposal(const cst_propose_options *options,
                                        const cst_allocator *allocator, cst_accumulator **out,
                                        cst_error *error) {
  cst_propose_options own = CST_PROPOSE_OPTIONS_INIT;
  cst__owned_plan plan;
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__read_propose_options(&own, options, error));
  CST__TRY(cst__check_allocator(allocator, error));
  CST__TRY(own_proposal_plan(&own, allocator, &plan, error));
  return cst__accumulator_handle_new(&cst__proposal_accumulator, &plan, allocator, out, error);
}

cst_status cst_accumulator_finish_schema(const cst_accumulator *accumulator, cst_schema **out,
                                         cst_error *error) {
  CST__CLEAR(out);
  bool proposes = accumulator != NULL && accumulator->accumulator == &cst__proposal_accumulator;
  return cst__accumulator_handle_finish(
      accumulator, proposes ? &cst__proposal_accumulator : &cst__inference_accumulator, out, error);
}
