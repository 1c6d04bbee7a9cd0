/* Plans that outlive the options that they were made of. */
#include "validate/owned_plan.h"

#include "schema/schema.h"
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

cst_status cst__owned_plan_of_validation(const cst_validate_options *options,
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

/* ---- proposals ---- */

static void free_owned_proposal(const void *plan) {
  const cst_propose_options *options = plan;
  cst__delete((void *)(uintptr_t)options->group);
  cst__delete((void *)(uintptr_t)options);
}

cst_status cst__owned_plan_of_proposal(const cst_propose_options *options,
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
