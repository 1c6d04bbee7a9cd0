/* What a schema says of two statistics: how far features may be from what they were, and how many
 * rows and different values there may be.
 *
 * Source: tensorflow_metadata/proto/v0/schema.proto (FeatureComparator, UniqueConstraints,
 * DatasetConstraints).
 */
#ifndef SCHEMA_COMPARATORS_H
#define SCHEMA_COMPARATORS_H

#include "base/hash.h"
#include "schema/schema.h"

/* Which comparators count: drift_comparator and num_examples_drift_comparator, skew_comparator, or
 * num_examples_version_comparator. */
typedef enum cst__comparison_kind {
  CST__COMPARES_DRIFT,
  CST__COMPARES_SKEW,
  CST__COMPARES_VERSION
} cst__comparison_kind;

/* Of one feature; NaN: there is no threshold. */
typedef struct cst__comparator {
  double linf;
  double normalized_abs_difference;
  double jensen_shannon;
  bool of_quantiles;    /* Jensen-Shannon, of numbers: of the histogram of quantiles */
  int64_t min_distinct; /* -1: none */
  int64_t max_distinct;
} cst__comparator;

typedef struct cst__comparators {
  cst__arena arena;
  cst__comparator *items;
  size_t count, capacity;
  cst__name_map paths;         /* a.b, of those that demand something */
  double min_rows, max_rows;   /* numbers of rows; NaN: none */
  double min_ratio, max_ratio; /* of the rows to those before; NaN: none */
} cst__comparators;

typedef struct cst__comparator_choice {
  cst__comparison_kind kind;
  const char *environment; /* NULL: none */
} cst__comparator_choice;

/* To be reset, also after a failure. Features that are not in use, or not in the environment,
 * demand nothing. CST_NOT_FOUND for an environment that the schema never names. */
cst_status cst__comparators_init(cst__comparators *comparators, const cst_schema *schema,
                                 const cst__comparator_choice *choice,
                                 const cst_allocator *allocator, cst_error *error);
void cst__comparators_reset(cst__comparators *comparators);

/* NULL: nothing is demanded of the feature. */
const cst__comparator *cst__comparators_find(const cst__comparators *comparators, const char *path);

/* True if the schema demands a number of rows, or of different values of a feature, which can be
 * told of data without others to compare them with. */
bool cst__schema_counts_rows(const cst_schema *schema);
bool cst__schema_counts_distinct(const cst_schema *schema);

#endif /* SCHEMA_COMPARATORS_H */
