/* Statistics: tables of features, made by the accumulator `statistics` (docs/statistics.md
 * describes the columns), their comparison, and their exchange with other tools.
 */
#ifndef COLUMNSTONE_STATISTICS_H
#define COLUMNSTONE_STATISTICS_H

#include <columnstone/accumulate.h>
#include <columnstone/findings.h>
#include <columnstone/options.h>
#include <columnstone/schema.h>
#include <columnstone/sketch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sketches ---- */

/* A sketch of the feature in a row of the table that the accumulator `statistics` gives now
 * (cst_accumulator_finish), as a sketch of its own, to be asked for any quantile, rank or frequent
 * value: "quantiles" of numbers, "heavy_hitters" of all but floats, or "distinct"; by_weights: the
 * first two as weighted values (CST_INVALID_ARGUMENT where the statistics have no weights, for
 * another kind of sketch or accumulator, and for a row that there is not). CST_UNSUPPORTED for a
 * feature that has no such values. It shares the accumulator's allocator, and nothing else. *out:
 * cst_sketch_free. */
CST_API cst_status cst_statistics_sketch(const cst_accumulator *statistics, size_t row,
                                         const char *kind, bool by_weights, cst_sketch **out,
                                         cst_error *error);

/* ---- comparison ---- */

typedef struct cst_compare_options {
  size_t size;              /* sizeof(cst_compare_options) */
  const cst_schema *schema; /* whose comparators and constraints are thresholds; NULL: none */
  /* `kind`, which comparators count ("drift", "skew", "version"), the `environment` of the schema,
   * and thresholds for all features: `linf`, `normalized_abs_difference`, `jensen_shannon`, `psi`,
   * `ks`, `presence`, `rows`, and with `slices` for slices, too. */
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

/* A table of features, borrowed, and what it is called; NULL: it has no name. */
typedef struct cst_statistics_named {
  const char *name;
  const cst_findings *features;
} cst_statistics_named;

/* ---- TFDV ---- */

/* The tables as TFDV's tensorflow.metadata.v0.DatasetFeatureStatisticsList, serialized (cst_free).
 * The rows of a table and each of its slices are a data set, called by the table's name, and NAME/
 * before its slices'; without a name as TFDV has it: "All Examples" beside slices, else nothing,
 * and "company_Blue" for a slice. The same tables give the same bytes. docs/tfdv.md says what the
 * proto cannot hold. CST_INVALID_ARGUMENT for other findings, CST_LIMIT for more than 2 GiB. */
CST_API cst_status cst_statistics_to_tfdv(const cst_statistics_named *tables, size_t num_tables,
                                          char **bytes, size_t *size, cst_error *error);

/* The table of features in such bytes; what they do not say is null. With `dataset`: of the data
 * set of this name alone; CST_NOT_FOUND if there is none. Without (NULL): all rows are the data set
 * "All Examples", or the first one, and all others are slices: of the feature that the name begins
 * with ("company_Blue"), or of one without a name, where it begins with none. CST_CORRUPT, with the
 * offset, for what is no such message. `allocator` may be NULL and has to outlive the table. *out:
 * cst_findings_free. */
CST_API cst_status cst_statistics_from_tfdv(const void *bytes, size_t size, const char *dataset,
                                            const cst_allocator *allocator, cst_findings **out,
                                            cst_error *error);
/* The same with a file, a local one or a URL, compressed as its name says. */
CST_API cst_status cst_statistics_save_tfdv(const cst_statistics_named *tables, size_t num_tables,
                                            const char *path, cst_error *error);
CST_API cst_status cst_statistics_open_tfdv(const char *path, const char *dataset,
                                            const cst_allocator *allocator, cst_findings **out,
                                            cst_error *error);

/* ---- to look at ---- */

/* The page of one table, or of two side by side: one HTML file that needs nothing else, as
 * docs/statistics-page.md shows it. `comparison` may be NULL; with two tables it may be what
 * "drift" has found between them, whose numbers stand beside the features then. *html is UTF-8, a
 * NUL behind it (cst_free). CST_INVALID_ARGUMENT for other findings. */
CST_API cst_status cst_statistics_page(const cst_statistics_named *tables, size_t num_tables,
                                       const cst_findings *comparison, char **html, size_t *size,
                                       cst_error *error);

/* ---- schema ---- */

/* The schema that the features of all rows fit: types, presence and numbers of values as
 * cst_source_infer writes them, and domains as cst_source_propose does, but for values of strings
 * that are more than the table tells. *out: cst_schema_release. */
CST_API cst_status cst_statistics_schema(const cst_findings *features, cst_schema **out,
                                         cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_STATISTICS_H */
