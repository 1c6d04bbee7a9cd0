/* What a validation finds: the anomalies in words.
 */
#ifndef VALIDATE_VALIDATION_REPORT_H
#define VALIDATE_VALIDATION_REPORT_H

#include "arrow/findings.h"
#include "validate/validation.h"
#include "validate/validation_statistics.h"

/* One kind of disagreement of one feature or tensor. */
typedef struct cst__anomaly {
  const char *kind;
  const char *path;    /* of the feature: a.b; "" for records */
  const char *tensor;  /* NULL: it is none of a tensor */
  const char *group;   /* of the tensor */
  const char *message; /* one line: what was found, and what the schema says */
  const char *hint;    /* how to change the schema or the data */
} cst__anomaly;

typedef struct cst__report {
  const cst__validation_state *state;
  cst_findings *out;
  cst__arena words; /* what is said, until it is put into the findings */
  bool failed;      /* no memory */
} cst__report;

/* Formatted, in the report's arena. */
const char *cst__report_say(cst__report *report, const char *fmt, ...) CST__PRINTF(2, 3);

/* Adds an anomaly with the places of a finding. */
void cst__report_add(cst__report *report, const cst__finding *finding, cst__anomaly anomaly);

/* validation_report_statistics.c */
void cst__report_statistics(cst__report *report, const cst__validation_statistics *statistics);

/* validation_report_tensors.c */
void cst__report_tensors(cst__report *report);

#endif /* VALIDATE_VALIDATION_REPORT_H */
