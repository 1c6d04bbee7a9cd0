/* Data against a schema. Every function here is the twin of the public one with the same name in
 * <columnstone/validate.h>, whose contract it has.
 */
#ifndef VALIDATE_VALIDATE_SOURCE_H
#define VALIDATE_VALIDATE_SOURCE_H

#include <columnstone/validate.h>

/* Options that were read: the groups have names. */
cst_status cst__check_validate_options(const cst_validate_options *options, cst_error *error);

cst_status cst__source_validate(cst_source *source, const cst_validate_options *options,
                                cst_validation **out, cst_error *error);
size_t cst__validation_count(const cst_validation *validation);
const cst_anomaly *cst__validation_get(const cst_validation *validation, size_t i);
uint64_t cst__validation_num_rows(const cst_validation *validation);
void cst__validation_free(cst_validation *validation);

#endif /* VALIDATE_VALIDATE_SOURCE_H */
