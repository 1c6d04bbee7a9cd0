/* <columnstone/validate.h>, validation: argument checks. */
#include "validate/validate_source.h"

#include "base/arguments.h"

cst_status cst_source_validate(cst_source *source, const cst_validate_options *options,
                               cst_validation **out, cst_error *error) {
  CST__CLEAR(out);
  cst_validate_options own = CST_VALIDATE_OPTIONS_INIT;
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_validate_options(&own, error));
  return cst__source_validate(source, &own, out, error);
}

size_t cst_validation_count(const cst_validation *validation) {
  return validation != NULL ? cst__validation_count(validation) : 0;
}

const cst_anomaly *cst_validation_get(const cst_validation *validation, size_t i) {
  return validation != NULL ? cst__validation_get(validation, i) : NULL;
}

uint64_t cst_validation_num_rows(const cst_validation *validation) {
  return validation != NULL ? cst__validation_num_rows(validation) : 0;
}

void cst_validation_free(cst_validation *validation) { cst__validation_free(validation); }
