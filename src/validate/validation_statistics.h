/* What a validation finds by the statistics of the data: numbers of rows and of different values,
 * drift from earlier data, and skew from those that are served.
 */
#ifndef VALIDATE_VALIDATION_STATISTICS_H
#define VALIDATE_VALIDATION_STATISTICS_H

#include <columnstone/validate.h>

#include "arrow/accumulator.h"

/* Statistics beside a validation, which goes on where they cannot be made: of features that have
 * values of several types, say. */
extern const cst__accumulator cst__validation_statistics_accumulator;

enum { CST__MAX_COMPARISONS = 2 };

/* Statistics of a validation, and what they were compared with. */
typedef struct cst__validation_statistics {
  bool is_needed;
  cst__arena arena;     /* the options */
  cst__owned_plan plan; /* of the statistics */
  void *state;
  cst_findings *comparisons[CST__MAX_COMPARISONS]; /* "drift", and for what */
  const char *kinds[CST__MAX_COMPARISONS];
  size_t count;
  const cst_error *failure; /* why there are none; NULL: there are */
} cst__validation_statistics;

/* To be reset, also after a failure. They are needed if the schema or the options ask for what they
 * tell. */
cst_status cst__validation_statistics_init(cst__validation_statistics *statistics,
                                           const cst_schema *schema,
                                           const cst_validate_options *options,
                                           const cst_allocator *allocator, cst_error *error);
void cst__validation_statistics_reset(cst__validation_statistics *statistics);

/* After all rows: the comparisons. Without statistics, of the number of rows. */
cst_status cst__validation_statistics_compare(cst__validation_statistics *statistics,
                                              const cst_schema *schema,
                                              const cst_validate_options *options,
                                              uint64_t num_rows, cst_error *error);

#endif /* VALIDATE_VALIDATION_STATISTICS_H */
