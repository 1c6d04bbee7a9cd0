/* <columnstone/accumulate.h>: argument checks and hand-over. */
#include <columnstone/accumulate.h>

#include "arrow/accumulator_handle.h"
#include "base/arguments.h"
#include "schema/inference.h"
#include "validate/counts.h"
#include "validate/owned_plan.h"
#include "validate/proposal.h"
#include "validate/validate_source.h"
#include "validate/validation.h"

/* ---- making ---- */

cst_status cst_accumulator_new_inference(const cst_inference_options *options,
                                         const cst_allocator *allocator, cst_accumulator **out,
                                         cst_error *error) {
  static const cst__inference_plan plans[] = {{false}, {true}};
  cst_inference_options own = CST_INFERENCE_OPTIONS_INIT;
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(allocator, error));
  const cst__owned_plan plan = {.plan = &plans[own.look_at_values], .mark = own.look_at_values};
  return cst__accumulator_handle_new(&cst__inference_accumulator, &plan, allocator, out, error);
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
  CST__TRY(cst__owned_plan_of_validation(&own, allocator, &plan, error));
  return cst__accumulator_handle_new(&cst__validation_accumulator, &plan, allocator, out, error);
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
  CST__TRY(cst__owned_plan_of_proposal(&own, allocator, &plan, error));
  return cst__accumulator_handle_new(&cst__proposal_accumulator, &plan, allocator, out, error);
}

cst_status cst_accumulator_new_counts(const cst_allocator *allocator, cst_accumulator **out,
                                      cst_error *error) {
  static const cst__owned_plan none = {NULL};
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__accumulator_handle_new(&cst__counts_accumulator, &none, allocator, out, error);
}

void cst_accumulator_free(cst_accumulator *accumulator) {
  cst__accumulator_handle_free(accumulator);
}

/* ---- adding, merging, saving ---- */

cst_status cst_accumulator_add(cst_accumulator *accumulator, const struct ArrowSchema *schema,
                               const struct ArrowArray *batch, const char *file,
                               int64_t first_record, cst_error *error) {
  if (accumulator == NULL || schema == NULL || batch == NULL) {
    return cst__missing(accumulator == NULL ? "accumulator"
                        : schema == NULL    ? "schema"
                                            : "batch",
                        error);
  }
  const cst__place first = {file != NULL ? file : "", first_record < 0 ? -1 : first_record, -1};
  return cst__accumulator_handle_add(accumulator, schema, batch, &first, error);
}

cst_status cst_accumulator_merge(cst_accumulator *accumulator, const cst_accumulator *other,
                                 cst_error *error) {
  if (accumulator == NULL || other == NULL) {
    return cst__missing(accumulator == NULL ? "accumulator" : "other", error);
  }
  return cst__accumulator_handle_merge(accumulator, other, error);
}

cst_status cst_accumulator_save(const cst_accumulator *accumulator, char **bytes, size_t *size,
                                cst_error *error) {
  CST__CLEAR(bytes);
  CST__CLEAR(size);
  if (accumulator == NULL || bytes == NULL || size == NULL) {
    return cst__missing(accumulator == NULL ? "accumulator"
                        : bytes == NULL     ? "bytes"
                                            : "size",
                        error);
  }
  return cst__accumulator_handle_save(accumulator, bytes, size, error);
}

cst_status cst_accumulator_load(cst_accumulator *accumulator, const void *bytes, size_t size,
                                cst_error *error) {
  if (accumulator == NULL || (bytes == NULL && size > 0)) {
    return cst__missing(accumulator == NULL ? "accumulator" : "bytes", error);
  }
  return cst__accumulator_handle_load(accumulator, (cst_bytes){bytes, size}, error);
}

/* ---- what has been found ---- */

/* Both arguments are there. */
static cst_status check_finish(const cst_accumulator *accumulator, const void *out,
                               cst_error *error) {
  return accumulator != NULL && out != NULL
             ? CST_OK
             : cst__missing(accumulator == NULL ? "accumulator" : "out", error);
}

cst_status cst_accumulator_finish_schema(const cst_accumulator *accumulator, cst_schema **out,
                                         cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_finish(accumulator, out, error));
  bool proposes = accumulator->accumulator == &cst__proposal_accumulator;
  return cst__accumulator_handle_finish(
      accumulator, proposes ? &cst__proposal_accumulator : &cst__inference_accumulator, out, error);
}

cst_status cst_accumulator_finish_validation(const cst_accumulator *accumulator,
                                             cst_validation **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_finish(accumulator, out, error));
  return cst__accumulator_handle_finish(accumulator, &cst__validation_accumulator, out, error);
}

cst_status cst_accumulator_finish_counts(const cst_accumulator *accumulator, cst_counts **out,
                                         cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_finish(accumulator, out, error));
  return cst__accumulator_handle_finish(accumulator, &cst__counts_accumulator, out, error);
}

uint64_t cst_counts_num_rows(const cst_counts *counts) {
  return counts != NULL ? counts->num_rows : 0;
}

size_t cst_counts_num_columns(const cst_counts *counts) {
  return counts != NULL ? counts->num_columns : 0;
}

const cst_column_count *cst_counts_get(const cst_counts *counts, size_t i) {
  return counts != NULL && i < counts->num_columns ? &counts->columns[i] : NULL;
}

void cst_counts_free(cst_counts *counts) { cst__counts_free(counts); }
