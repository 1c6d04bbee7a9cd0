/* What a validation hands out: the anomalies and all that they point to.
 */
#ifndef VALIDATE_VALIDATION_REPORT_H
#define VALIDATE_VALIDATION_REPORT_H

#include "validate/validation.h"

struct cst_validation {
  cst__arena arena; /* holds all of it */
  cst_anomaly *anomalies;
  size_t count;
  size_t capacity; /* of the array, a block of its own */
  uint64_t num_rows;
};

typedef struct cst__report {
  const cst__validation_state *state;
  cst_validation *out;
  bool failed; /* no memory */
} cst__report;

/* Formatted, in the validation's arena. */
const char *cst__report_say(cst__report *report, const char *fmt, ...) CST__PRINTF(2, 3);

/* Adds an anomaly with the places of a finding; count and places are filled from it. */
void cst__report_add(cst__report *report, const cst__finding *finding, cst_anomaly anomaly);

/* validation_report_tensors.c */
void cst__report_tensors(cst__report *report);

#endif /* VALIDATE_VALIDATION_REPORT_H */
