/* Statistics: what is in the data, feature by feature, of all rows and of slices of them, as an
 * accumulator.
 *
 * All is merged without loss of what is exact: counts, sums and extremes are those of one pass, in
 * whatever order and number of parts the data came, and so are distinct counts and the choice of
 * slices. Quantiles and frequent values keep their bounds.
 */
#ifndef STATISTICS_STATISTICS_H
#define STATISTICS_STATISTICS_H

#include <columnstone/sketch.h>

#include "statistics/pairs.h"
#include "statistics/stats.h"

extern const cst__accumulator cst__statistics_accumulator;

/* The options; names and texts are in the plan's arena. */
typedef struct cst__statistics_options {
  const char *const *columns; /* at the top, that are looked at; none: all */
  size_t num_columns;
  const char *const *by; /* whose values make slices; none: there are no slices */
  size_t num_by;
  const char *const *pairs; /* as cst__pairs_plan_init takes them */
  size_t num_pairs;
  const char *weight; /* the column with the weights of rows; NULL: each weighs 1 */
  double error;       /* of ranks */
  int32_t quantiles;  /* parts of the same weight that are told */
  int32_t buckets;    /* parts of the same width that are told */
  int32_t top;        /* frequent values that are told */
  int32_t counters;   /* frequent values that are looked for */
  int32_t slices;     /* the most that are kept */
  int32_t memory;     /* MiB, the most that they may take */
} cst__statistics_options;

typedef struct cst__statistics_plan {
  cst__statistics_options options;
  cst__stats_plan stats; /* of the features */
  cst__pairs_plan pairs;
  cst__arena arena;
  cst__name_map columns;
  uint64_t mark;
} cst__statistics_plan;

/* The features of some rows. */
typedef struct cst__slice_stats {
  cst_bytes key; /* as cst__slices_find has it; owned. No bytes: all rows */
  uint64_t hash;
  uint64_t num_rows;
  size_t memory;         /* bytes, as cst__statistics has them */
  cst__exact_sum weight; /* of the rows; 0 without weights */
  cst__by_path features; /* of cst__stats */
  cst__by_path pairs;    /* of cst__pair_stats */
} cst__slice_stats;

typedef struct cst__statistics {
  const cst__statistics_plan *plan;
  cst_allocator allocator;
  cst__slice_stats all;
  /* Those with the smallest hashes, in their order: which they are does not depend on where the
   * data was divided. */
  cst__slice_stats **slices;
  size_t num_slices;
  size_t memory;                    /* bytes of all features and slices */
  uint64_t num_sliced;              /* rows in slices, also in those that are not kept */
  cst__distinct_sketch slices_seen; /* by their hashes */
} cst__statistics;

/* ---- statistics_plan.c ---- */

extern const cst__option_table cst__statistics_options_type;

cst_status cst__statistics_make_plan(const void *options, const cst_allocator *allocator,
                                     cst__owned_plan *out, cst_error *error);

/* Bytes that they may take. */
static inline size_t cst__statistics_memory_limit(const cst__statistics *statistics) {
  return (size_t)statistics->plan->options.memory << 20;
}

/* ---- statistics_report.c ---- */

/* The table: whatever makes one in another way puts the same columns. */
extern const cst__finding_type cst__features_type;

cst_status cst__statistics_finish(const void *state, cst_findings **out, cst_error *error);
/* The slices as the table has them: by their values. NULL: no memory. */
cst__slice_stats **cst__statistics_sort_slices(const cst__statistics *s, cst__arena *arena);

/* ---- statistics_sketch.c ---- */

/* What cst_statistics_sketch asks for. */
typedef struct cst__statistics_sketch_of {
  size_t row; /* of the table */
  const char *kind;
  bool by_weights;
} cst__statistics_sketch_of;

/* A copy: cst_sketch_free. It fails as cst_statistics_sketch. */
cst_status cst__statistics_sketch(const void *state, const cst__statistics_sketch_of *of,
                                  cst_sketch **out, cst_error *error);

#endif /* STATISTICS_STATISTICS_H */
