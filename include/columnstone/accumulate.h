/* Accumulators: results about all of the data, such as the schema, the validation, the proposal,
 * counts, and lengths of lists. The data comes from a source, from an engine of the caller, or
 * from many processes.
 *
 * An accumulator is made by its name, and rows are added to it. Accumulators are merged, and their
 * results can be read at any time. An accumulator stays small, and can be saved as bytes and
 * resumed in another process.
 *
 *   each worker                              the process with the results
 *   new -> add ... add -> save -> bytes      new -> load -> merge ... merge -> finish -> free
 *
 * Order: if the accumulators of consecutive parts of the data are merged in the order of the data,
 * the result is that of one accumulator over all rows, however they were divided. In any other
 * order the counts are the same; but results about what came first (the positions of an anomaly,
 * "increasing" in a proposal, the record that a failed merge names) depend on the order of the
 * merges.
 *
 * Threads: one thread at a time uses an accumulator; several may be used at once.
 *
 * Errors: a call that fails leaves the accumulator as it was. After a failure in the middle of
 * counting (CST_NO_MEMORY, CST_LIMIT) the accumulator can only be freed; any other call is
 * CST_STATE.
 */
#ifndef COLUMNSTONE_ACCUMULATE_H
#define COLUMNSTONE_ACCUMULATE_H

#include <columnstone/arrow_abi.h>
#include <columnstone/findings.h>
#include <columnstone/options.h>
#include <columnstone/schema.h>
#include <columnstone/source.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cst_accumulator cst_accumulator;

/* ---- making ---- */

/* Lists all accumulators, one per row of "accumulators": `name`, `summary` (one line),
 * `finds_schema` (a bool) and `options`, a list of structs of `name`, `kind`, `default` (may be
 * null) and `help`. Option values are texts, as described at cst_option_kind; their kinds are
 * "switch", "number", "real", "text", "names" (separated by commas) and "schema" (a TFMD schema as
 * protobuf text). *out: cst_findings_free. */
CST_API cst_status cst_accumulators(cst_findings **out, cst_error *error);

/* Makes an accumulator by name: "inference", "proposal", "validation" (as cst_source_infer, propose
 * and validate do for a source), "counts", "lengths"; docs/accumulators.md describes all. The
 * options are copied; CST_INVALID_ARGUMENT for an unknown name or option, or an invalid value.
 * `allocator` may be NULL and must outlive the accumulator. *out: cst_accumulator_free. */
CST_API cst_status cst_accumulator_new(const char *name, const cst_option *options,
                                       size_t num_options, const cst_allocator *allocator,
                                       cst_accumulator **out, cst_error *error);
CST_API void cst_accumulator_free(cst_accumulator *accumulator); /* NULL is allowed */
/* The name of the accumulator; NULL for NULL. Valid as long as the library is loaded. */
CST_API const char *cst_accumulator_name(const cst_accumulator *accumulator);

/* The options, one per row of "options": `name` and `value`, as cst_accumulator_new takes them.
 * *out: cst_findings_free. */
CST_API cst_status cst_accumulator_options(const cst_accumulator *accumulator, cst_findings **out,
                                           cst_error *error);

/* ---- adding and merging ---- */

/* Adds the rows of a batch after all rows added before. The batch is borrowed for the call and
 * validated as untrusted (CST_CORRUPT with the path of the column); batches may have different
 * columns. Lists, strings and binary may have 32-bit or 64-bit offsets; strings and binary may be
 * views; lists may have a fixed size; dictionary-encoded columns count as their values. Unsupported
 * types are CST_UNSUPPORTED with the path of the column: unions and run-end encoded columns for all
 * accumulators; list views, half floats, dates and the like, and structs in lists for inference and
 * proposals (see look_at_values); list views for counts. A column of a wrong type is an anomaly for
 * a validation, and CST_SCHEMA for inference and proposals if an earlier batch had another type.
 *
 * `file` (NULL: unknown) and first_record, the record number of the first row (-1: unknown), are
 * used for the places of anomalies and errors. */
CST_API cst_status cst_accumulator_add(cst_accumulator *accumulator,
                                       const struct ArrowSchema *schema,
                                       const struct ArrowArray *batch, const char *file,
                                       int64_t first_record, cst_error *error);

/* Adds all rows of a source, with its threads. The result, places included, is the same as if one
 * pass had added them. Data that cannot be read is an anomaly for a validation, which continues
 * after it, and an error for all others. All columns are examined, whatever `columns` of the source
 * says (except for a pipe that has been partly read); for a source with a view or with stages of
 * the caller, their output. on_progress may be NULL. */
CST_API cst_status cst_accumulator_add_source(cst_accumulator *accumulator, cst_source *source,
                                              cst_progress_callback on_progress, void *ctx,
                                              cst_error *error);

/* Adds the findings of another accumulator of the same name and options: its rows come after those
 * of `accumulator`. `other` is not changed. CST_INVALID_ARGUMENT for another name or other options,
 * and for the accumulator itself; CST_SCHEMA if a feature has another type. */
CST_API cst_status cst_accumulator_merge(cst_accumulator *accumulator, const cst_accumulator *other,
                                         cst_error *error);

/* ---- saving ---- */

/* Saves the options and all findings as bytes (cst_free). */
CST_API cst_status cst_accumulator_to_bytes(const cst_accumulator *accumulator, char **bytes,
                                            size_t *size, cst_error *error);
/* Restores a saved accumulator, with its name, options and findings. CST_CORRUPT if the bytes are
 * damaged or were not saved by an accumulator, CST_INVALID_ARGUMENT if another version of the
 * library saved them. Safe on any bytes. `allocator` as for cst_accumulator_new. *out:
 * cst_accumulator_free. */
CST_API cst_status cst_accumulator_from_bytes(const void *bytes, size_t size,
                                              const cst_allocator *allocator, cst_accumulator **out,
                                              cst_error *error);
/* The same with a file. It is compressed if its name has the ending of a compressed file (.gz,
 * .zst), and appears under its name only when it is complete. `path` may be "-" for standard output
 * or input. */
CST_API cst_status cst_accumulator_save(const cst_accumulator *accumulator, const char *path,
                                        cst_error *error);
CST_API cst_status cst_accumulator_open(const char *path, const cst_allocator *allocator,
                                        cst_accumulator **out, cst_error *error);

/* ---- what has been found ---- */

/* The findings so far; more rows may be added afterwards. *out: cst_findings_free. */
CST_API cst_status cst_accumulator_finish(const cst_accumulator *accumulator, cst_findings **out,
                                          cst_error *error);
/* The schema of an accumulator that finds one (CST_INVALID_ARGUMENT for others), with the features
 * that cst_accumulator_finish returns. *out: cst_schema_release. */
CST_API cst_status cst_accumulator_finish_schema(const cst_accumulator *accumulator,
                                                 cst_schema **out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_ACCUMULATE_H */
