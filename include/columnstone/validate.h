/* Validates data against a schema, proposes schemas for data, and compares schemas.
 *
 * Sources: tensorflow_metadata/proto/v0/schema.proto (presence, value_count, shape, the domains,
 * environments, lifecycle stages); RFC "Standardized TFX inputs" (proposals and validation of
 * TensorRepresentationGroups).
 */
#ifndef COLUMNSTONE_VALIDATE_H
#define COLUMNSTONE_VALIDATE_H

#include <columnstone/schema.h>
#include <columnstone/source.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- validation ---- */

typedef struct cst_validate_options {
  size_t size;              /* sizeof(cst_validate_options) */
  const cst_schema *schema; /* NULL: the schema that the source was opened with */
  const char *environment;  /* of default_environment, in_environment and not_in_environment
                               (CST_NOT_FOUND: the schema never names it); NULL: none, and every
                               feature is expected */
  const char *const *group; /* tensor_representation_group whose tensors every row must fit, or
                               several; NULL: the source's */
  size_t num_groups;
  bool skip_tensors;      /* the features only */
  bool ignore_unexpected; /* features that the schema does not have are not anomalies */
  size_t places;          /* that are named of an anomaly, the first ones; 0: 5 */
  /* Statistics ("features", docs/statistics.md) of earlier data, and of those that are served: what
   * is further from them than the schema's drift_comparator and skew_comparator allow is an
   * anomaly. NULL: none. */
  const cst_findings *previous;
  const cst_findings *serving;
  cst_progress_callback on_progress;
  void *progress_ctx;
} cst_validate_options;

#define CST_VALIDATE_OPTIONS_INIT \
  { sizeof(cst_validate_options), NULL, NULL, NULL, 0, false, false, 0, NULL, NULL, NULL, NULL }

/* Reads the source once, with its threads, and compares every record with the schema. Each
 * disagreement is an anomaly; errors are only failures that keep the source from being read, and a
 * schema whose tensors cannot be derived (see skip_tensors). A record counts once per anomaly. A
 * tensor that comes from a single feature does not repeat the anomalies of this feature. CSV and
 * JSON are read with the types of the schema: a value that does not fit is a "type" anomaly of its
 * row. Damaged records are anomalies of kind "record", and skipped. Anomalies are in the order of
 * the schema, followed by those of tensors and records; the result does not depend on the number of
 * threads. Memory does not grow with the data. If the schema has unique_constraints, or there are
 * statistics to compare with, statistics of the data are computed in the same pass; data without
 * statistics is an anomaly then. options may be NULL.
 *
 * "anomalies", with the total "num_rows" (docs/validation.md has the table of the columns): each
 * row is one kind of disagreement of one feature or tensor, with the number of records that have
 * it, and the first ones as `places`. *out: cst_findings_free. */
CST_API cst_status cst_source_validate(cst_source *source, const cst_validate_options *options,
                                       cst_findings **out, cst_error *error);

/* ---- proposals ---- */

typedef struct cst_propose_options {
  size_t size;       /* sizeof(cst_propose_options) */
  size_t max_domain; /* string domains of at most so many values; 0: 100 */
  const char *group; /* name of the proposed tensor_representation_group; NULL: "" */
  bool ragged;       /* variable lengths become ragged, not sparse, tensors */
  cst_progress_callback on_progress;
  void *progress_ctx;
} cst_propose_options;

#define CST_PROPOSE_OPTIONS_INIT \
  { sizeof(cst_propose_options), 0, NULL, false, NULL, NULL }

/* Infers a schema as cst_source_infer does, and adds int_domain (range), float_domain,
 * string_domain (if there are few values, in UTF-8), facts about distributions as annotations (tags
 * "constant", "increasing", "decreasing"), sparse features where an index column fits a value
 * column, and a group of TensorRepresentations that every record of the data fits: dense for a
 * fixed number of values, dense with a default for at most one value, ragged with partitions where
 * the lengths in one column divide another. *out: cst_schema_release. options may be NULL. */
CST_API cst_status cst_source_propose(cst_source *source, const cst_propose_options *options,
                                      cst_schema **out, cst_error *error);

/* ---- differences ---- */

/* The changes from `before` to `after`: features are compared by name, at any depth, in the order
 * of `before`, followed by added ones; the order of features and of domain values does not matter.
 * "changes" (docs/validation.md has the table of the columns) may be empty. *out:
 * cst_findings_free. */
CST_API cst_status cst_schema_diff(const cst_schema *before, const cst_schema *after,
                                   cst_findings **out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_VALIDATE_H */
