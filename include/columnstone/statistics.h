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

/* A separate sketch of the feature in a row of the table that the accumulator `statistics` returns
 * now (cst_accumulator_finish), for any quantile, rank or frequent value: "quantiles" for numbers,
 * "heavy_hitters" for everything except floats, or "distinct". by_weights: the first two with
 * weights. CST_INVALID_ARGUMENT if the statistics have no weights, for another kind of sketch or
 * accumulator, and for a row out of range; CST_UNSUPPORTED for a feature without such values. It
 * shares only the allocator of the accumulator. *out: cst_sketch_free. */
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

/* Compares two tables of features: "drift", one row for each feature of each slice in either of
 * them, the worst first, with the totals "num_anomalies" (exceeded thresholds), "num_rows_before"
 * and "num_rows_after" (docs/drift.md has the table of the columns). CST_INVALID_ARGUMENT for
 * findings other than "features", and for unknown options. options may be NULL. *out:
 * cst_findings_free. */
CST_API cst_status cst_statistics_compare(const cst_findings *before, const cst_findings *after,
                                          const cst_compare_options *options, cst_findings **out,
                                          cst_error *error);

/* A table of features, borrowed, and its name; NULL: none. */
typedef struct cst_statistics_named {
  const char *name;
  const cst_findings *features;
} cst_statistics_named;

/* ---- TFDV ---- */

/* Converts the tables to TFDV's tensorflow.metadata.v0.DatasetFeatureStatisticsList, serialized
 * (cst_free). The rows of a table and each of its slices are a dataset. With a name, the dataset
 * has the name of the table, and slices have the prefix NAME/; without one, names are as in TFDV:
 * "All Examples" if there are slices, otherwise none, and "company_Blue" for a slice. The same
 * tables give the same bytes. docs/tfdv.md says what the proto cannot hold. CST_INVALID_ARGUMENT
 * for other findings, CST_LIMIT for more than 2 GiB. */
CST_API cst_status cst_statistics_to_tfdv(const cst_statistics_named *tables, size_t num_tables,
                                          char **bytes, size_t *size, cst_error *error);

/* Reads a table of features from such bytes; what they do not contain is null. With `dataset`: only
 * the dataset of this name; CST_NOT_FOUND if there is none. Without (NULL): the dataset "All
 * Examples", or else the first one, has all rows, and the others are slices: of the feature that
 * the name begins with ("company_Blue"), or of an unnamed feature if it begins with none.
 * CST_CORRUPT, with the offset, for other bytes. `allocator` may be NULL and must outlive the
 * table. *out: cst_findings_free. */
CST_API cst_status cst_statistics_from_tfdv(const void *bytes, size_t size, const char *dataset,
                                            const cst_allocator *allocator, cst_findings **out,
                                            cst_error *error);
/* The same with a file or URL, compressed as its name says. */
CST_API cst_status cst_statistics_save_tfdv(const cst_statistics_named *tables, size_t num_tables,
                                            const char *path, cst_error *error);
CST_API cst_status cst_statistics_open_tfdv(const char *path, const char *dataset,
                                            const cst_allocator *allocator, cst_findings **out,
                                            cst_error *error);

/* ---- to look at ---- */

/* Makes a page of one table, or of two side by side: a self-contained HTML file
 * (docs/statistics-page.md shows one). `comparison` may be NULL; with two tables it may be the
 * "drift" between them, whose numbers are then shown beside the features. *html is UTF-8 and
 * NUL-terminated (cst_free). CST_INVALID_ARGUMENT for other findings. */
CST_API cst_status cst_statistics_page(const cst_statistics_named *tables, size_t num_tables,
                                       const cst_findings *comparison, char **html, size_t *size,
                                       cst_error *error);

/* ---- schema ---- */

/* The schema that the features of all rows fit: types, presence and numbers of values as
 * cst_source_infer writes them, and domains as cst_source_propose does, except for strings with
 * more values than the table lists. *out: cst_schema_release. */
CST_API cst_status cst_statistics_schema(const cst_findings *features, cst_schema **out,
                                         cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_STATISTICS_H */
