/* The list of accumulators. One that is added to it is there in C, in the program, in Python and in
 * the engines: these know names, options and findings, and no accumulator.
 */
#include "accumulate/accumulators.h"

#include <columnstone/accumulate.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/bytes.h"
#include "base/names.h"
#include "schema/inference.h"
#include "statistics/statistics.h"
#include "validate/counts.h"
#include "validate/proposal.h"
#include "validate/validation.h"

static const cst__accumulator *const accumulators[] = {
    &cst__inference_accumulator, &cst__proposal_accumulator, &cst__validation_accumulator,
    &cst__counts_accumulator,    &cst__lengths_accumulator,  &cst__statistics_accumulator,
};

enum { NUM_ACCUMULATORS = sizeof accumulators / sizeof accumulators[0] };

static const char *accumulator_name(const void *items, size_t i) {
  return ((const cst__accumulator *const *)items)[i]->name;
}

cst_status cst__accumulator_find(const char *name, const cst__accumulator **out, cst_error *error) {
  const cst__name_list names = {accumulators, NUM_ACCUMULATORS, accumulator_name};
  for (size_t i = 0; i < NUM_ACCUMULATORS; i++) {
    if (strcmp(accumulators[i]->name, name) == 0) {
      *out = accumulators[i];
      return CST_OK;
    }
  }
  char hint[CST__NAMES_HINT];
  return cst__fail(error, CST_INVALID_ARGUMENT, cst__names_hint(hint, name, "known are", &names),
                   "unknown accumulator '%.60s'", name);
}

cst_status cst__accumulator_find_saved(cst_bytes bytes, const cst__accumulator **out,
                                       cst_error *error) {
  cst__archive archive;
  cst_bytes name;
  uint64_t version;
  CST__TRY(cst__state_open(bytes, &name, &version, &archive, error));
  for (size_t i = 0; i < NUM_ACCUMULATORS && !archive.bad; i++) {
    if (cst__bytes_equal(cst__bytes_of(accumulators[i]->name), name)) {
      *out = accumulators[i];
      return CST_OK;
    }
  }
  return cst__fail(error, CST_CORRUPT, "pass the bytes of a saved accumulator",
                   "saved state of an unknown accumulator");
}

cst_status cst_accumulators(cst_findings **out, cst_error *error) {
  static const cst__finding_column columns[] = {CST__TEXT("name"), CST__TEXT("summary"),
                                                CST__BOOL("finds_schema"), CST__OPTIONS("options")};
  static const cst__finding_type type = {"accumulators", columns, 4};
  cst_findings *found;
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__findings_new(&type, NULL, &found, error));
  for (size_t i = 0; i < NUM_ACCUMULATORS; i++) {
    cst__put_text(found, accumulators[i]->name);
    cst__put_text(found, accumulators[i]->summary);
    cst__put_number(found, accumulators[i]->finish_schema != NULL);
    cst__put_options(found, accumulators[i]->options);
  }
  return cst__findings_finish(found, out, error);
}
