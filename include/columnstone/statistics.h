/* Statistics of data: tables of features, as the accumulator `statistics` finds them
 * (docs/statistics.md has their columns), and what is made of them.
 */
#ifndef COLUMNSTONE_STATISTICS_H
#define COLUMNSTONE_STATISTICS_H

#include <columnstone/findings.h>
#include <columnstone/options.h>
#include <columnstone/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- comparison ---- */

typedef struct cst_compare_options {
  size_t size;              /* sizeof(cst_compare_options) */
  const cst_schema *schema; /* whose comparators and constraints are thresholds; NULL: none */
  /* `kind`, which comparators count ("drift", "skew", "version"), and thresholds for all features:
   * `linf`, `normalized_abs_difference`, `jensen_shannon`, `psi`, `ks`, `presence`, `rows`, and
   * with `slices` for slices, too. */
  const cst_option *options;
  size_t num_options;
} cst_compare_options;

#define CST_COMPARE_OPTIONS_INIT \
  { sizeof(cst_compare_options), NULL, NULL, 0 }

/* How far two tables of features are from each other: "drift", a row for each feature of each slice
 * that stands in either of them, the worst first, with the totals "num_anomalies" (thresholds that
 * are passed), "num_rows_before" and "num_rows_after" (docs/drift.md has the table of their
 * columns). CST_INVALID_ARGUMENT for findings that are not "features", and for options that there
 * are not. options may be NULL. *out: cst_findings_free. */
CST_API cst_status cst_statistics_compare(const cst_findings *before, const cst_findings *after,
                                          const cst_compare_options *options, cst_findings **out,
                                          cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_STATISTICS_H */
