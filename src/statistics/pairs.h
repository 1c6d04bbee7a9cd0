/* Pairs of columns at the top: how their numbers go together, and what the values of one tell of
 * those of the other, over the rows in which both have one value that is not null.
 *
 * Correlations are exact. Mutual information is that of the pairs of values that occur; of columns
 * of more than CST__PAIR_VALUES values it would cost more than it tells, and is given up: which
 * depends on the values alone, not on where the data was divided.
 */
#ifndef STATISTICS_PAIRS_H
#define STATISTICS_PAIRS_H

#include "nested/by_path.h"
#include "sketch/correlation.h"
#include "sketch/mutual_information.h"
#include "statistics/column_values.h"

enum { CST__PAIR_VALUES = 100, CST__PAIR_COLUMNS = 50 };

/* Which pairs there are. A key is two names with a NUL between them, the lesser one first. */
typedef struct cst__pairs_plan {
  cst_bytes *keys; /* each once */
  size_t count;
  bool is_all; /* those of all columns of numbers */
} cst__pairs_plan;

/* Of texts "a:b", or one text "*". It lies in the arena. CST_INVALID_ARGUMENT for other texts. */
cst_status cst__pairs_plan_init(cst__pairs_plan *plan, const char *const *texts, size_t count,
                                cst__arena *arena, cst_error *error);

typedef struct cst__pair_stats {
  cst_bytes key;
  bool is_ready;
  bool has_many; /* values, so that there is no mutual information */
  uint64_t count;
  cst__correlation correlation; /* of numbers */
  cst__mutual mutual;
} cst__pair_stats;

/* The pairs of a batch. */
typedef struct cst__pair_found {
  cst_bytes key;
  const cst__column_values *x, *y;
} cst__pair_found;

typedef struct cst__pairs_found {
  cst__pair_found *items;
  size_t count;
} cst__pairs_found;

/* Those whose columns the batch has, but for columns that are left out; in the arena.
 * CST_UNSUPPORTED, with the path, for a column of structs and the like, CST_LIMIT for more than
 * CST__PAIR_COLUMNS columns of numbers. */
cst_status cst__pairs_find(const cst__pairs_plan *plan, const cst__name_map *only,
                           const cst__view *batch, cst__arena *arena, cst__pairs_found *out,
                           cst_error *error);

/* CST_NOT_FOUND: no batch had one that is named. */
cst_status cst__pairs_check(const cst__pairs_plan *plan, const cst__by_path *pairs,
                            cst_error *error);

/* ---- what is known of them: cst__by_path of cst__pair_stats, with the allocator of that ---- */

/* Adds rows of the batch. */
cst_status cst__pairs_add(cst__by_path *pairs, const cst__pairs_found *found,
                          const cst__chosen *rows, cst_error *error);
cst_status cst__pairs_merge(cst__by_path *into, const cst__by_path *from, cst_error *error);
void cst__pairs_archive(cst__by_path *pairs, cst__archive *a);
void cst__pairs_reset(cst__by_path *pairs);
/* Bytes on the heap. */
size_t cst__pairs_memory(const cst__by_path *pairs);

/* A list of structs: the pairs that a column at the top is in. `sorted`: all of them. */
extern const cst__finding_column cst__pair_columns[5];
cst_status cst__put_pairs(cst_findings *found, const cst__by_path *pairs, void *const *sorted,
                          cst_bytes column, cst_error *error);

#endif /* STATISTICS_PAIRS_H */
