/* Looking at data batch by batch, in a program or an engine of the caller's: the schema, the
 * validation, the proposal and the counts of data that no source of this library reads, or that
 * many processes read together.
 *
 * An accumulator is made for one of these, rows are added to it, those of several are merged, and
 * what it has found so far can be asked for at any time. It stays small whatever is added, and can
 * be saved as bytes and go on in another process.
 *
 *   each worker                              whoever has the results
 *   new -> add ... add -> save -> bytes      new -> load -> merge ... merge -> finish -> free
 *
 * Order: where the accumulators of consecutive parts of the data are merged in the order of the
 * data, what comes out is what one accumulator would have found in all rows, however they were
 * divided. In any other order the same is found and counted, but of that which happened first (the
 * places of an anomaly, "increasing" in a proposal, the record that a failed merge names) the order
 * of the merges decides.
 *
 * Threads: an accumulator belongs to one thread at a time; several may be used at once.
 *
 * Errors: a call that fails leaves the accumulator as it was. One that fails in the middle of
 * counting (CST_NO_MEMORY, CST_LIMIT) cannot: then the accumulator may only be freed, and any other
 * call is CST_STATE.
 */
#ifndef COLUMNSTONE_ACCUMULATE_H
#define COLUMNSTONE_ACCUMULATE_H

#include <columnstone/arrow_abi.h>
#include <columnstone/schema.h>
#include <columnstone/validate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cst_accumulator cst_accumulator;

/* ---- making ---- */

typedef struct cst_inference_options {
  size_t size;         /* sizeof(cst_inference_options) */
  bool look_at_values; /* a feature of BYTES whose values are all UTF-8 gets a string_domain, and
                          columns of types that no feature has (structs in lists, dates, ...) are
                          passed over instead of refused: what cst_source_infer does for sources of
                          messages that are read flat */
} cst_inference_options;

#define CST_INFERENCE_OPTIONS_INIT \
  { sizeof(cst_inference_options), false }

/* What cst_source_infer, cst_source_validate and cst_source_propose do for the rows of a source.
 * The options are copied (schemas are retained) and may be NULL, but for those of a validation:
 * their schema is required. Their on_progress is not called. `allocator` may be NULL and has to
 * outlive the accumulator. *out: cst_accumulator_free. */
CST_API cst_status cst_accumulator_new_inference(const cst_inference_options *options,
                                                 const cst_allocator *allocator,
                                                 cst_accumulator **out, cst_error *error);
CST_API cst_status cst_accumulator_new_validation(const cst_validate_options *options,
                                                  const cst_allocator *allocator,
                                                  cst_accumulator **out, cst_error *error);
CST_API cst_status cst_accumulator_new_proposal(const cst_propose_options *options,
                                                const cst_allocator *allocator,
                                                cst_accumulator **out, cst_error *error);
/* Rows, and what the columns have in them. */
CST_API cst_status cst_accumulator_new_counts(const cst_allocator *allocator, cst_accumulator **out,
                                              cst_error *error);
CST_API void cst_accumulator_free(cst_accumulator *accumulator);

/* ---- adding and merging ---- */

/* Adds the rows of a batch, which come after all that have been added. The batch is borrowed for
 * the call and validated, as all that comes from outside (CST_CORRUPT with the column's path);
 * columns may differ from batch to batch. Lists, strings and binary may have offsets of 32 or 64
 * bits, strings and binary may be views, lists may have a fixed size, and dictionary-encoded
 * columns are taken as their values. What cannot be looked at is CST_UNSUPPORTED with the column's
 * path: unions and run-end encoded columns for all of them; list views, half floats, dates and the
 * like, and structs in lists for inference and proposals (see look_at_values); list views for
 * counts. For a validation a column of a wrong type is an anomaly. A feature that has another type
 * than before is CST_SCHEMA (inference, proposals).
 *
 * `file` (NULL: unknown) and the number of the batch's first row in it (-1: unknown) are what
 * places of anomalies and errors say. */
CST_API cst_status cst_accumulator_add(cst_accumulator *accumulator,
                                       const struct ArrowSchema *schema,
                                       const struct ArrowArray *batch, const char *file,
                                       int64_t first_record, cst_error *error);

/* Adds what another accumulator of the same kind and options has found: its rows come after those
 * of `accumulator`. `other` is not changed. CST_INVALID_ARGUMENT for one that is not of the same
 * kind and options, and for the accumulator itself; CST_SCHEMA where a feature has another type. */
CST_API cst_status cst_accumulator_merge(cst_accumulator *accumulator, const cst_accumulator *other,
                                         cst_error *error);

/* ---- saving ---- */

/* All that has been found, as bytes (cst_free): without the options, which whoever loads them has
 * to give again. */
CST_API cst_status cst_accumulator_to_bytes(const cst_accumulator *accumulator, char **bytes,
                                            size_t *size, cst_error *error);
/* Replaces what the accumulator has found by what was saved: CST_CORRUPT if the bytes are damaged
 * or none that save gave, CST_INVALID_ARGUMENT if they are of another kind of accumulator, other
 * options or another version. Safe on any bytes. */
CST_API cst_status cst_accumulator_from_bytes(cst_accumulator *accumulator, const void *bytes,
                                              size_t size, cst_error *error);

/* ---- what has been found ---- */

/* So far: more may be added afterwards. Each is of its kind of accumulator (the first one is of
 * both inference and proposals), and CST_INVALID_ARGUMENT for another. */
CST_API cst_status cst_accumulator_finish_schema(const cst_accumulator *accumulator,
                                                 cst_schema **out, cst_error *error);
CST_API cst_status cst_accumulator_finish_validation(const cst_accumulator *accumulator,
                                                     cst_validation **out, cst_error *error);

/* What one column has. */
typedef struct cst_column_count {
  const char *path; /* a.b for a field of a struct that is not in a list */
  uint64_t rows;    /* in which it is not null, nor a struct above it */
  uint64_t values;  /* in these rows: the items of its innermost lists that are not null; of a
                       column without lists, the rows. A struct is one value */
} cst_column_count;

typedef struct cst_counts cst_counts;

CST_API cst_status cst_accumulator_finish_counts(const cst_accumulator *accumulator,
                                                 cst_counts **out, cst_error *error);
CST_API uint64_t cst_counts_num_rows(const cst_counts *counts);
/* Sorted by path; a batch that lacks a column has nulls there. */
CST_API size_t cst_counts_num_columns(const cst_counts *counts);
CST_API const cst_column_count *cst_counts_column(const cst_counts *counts, size_t i);
CST_API void cst_counts_free(cst_counts *counts);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_ACCUMULATE_H */
