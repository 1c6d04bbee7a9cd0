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

/* All accumulators that there are, one a row of "accumulators": `name`, `summary` (one line),
 * `finds_schema` (a bool) and `options`, a list of structs of `name`, `kind`, `default` (may be
 * null) and `help`. Values of options are texts, as cst_option_kind says; their kinds are "switch",
 * "number", "real", "text", "names" (between commas) and "schema" (a TFMD schema as protobuf text).
 * *out: cst_findings_free. */
CST_API cst_status cst_accumulators(cst_findings **out, cst_error *error);

/* The accumulator of a name: "inference", "proposal", "validation" (cst_source_infer, propose and
 * validate for the rows of a source), "counts", "lengths", as docs/accumulators.md has them. The
 * options are copied; CST_INVALID_ARGUMENT for a name or an option that there is not, or a value
 * that is none. `allocator` may be NULL and has to outlive the accumulator. *out:
 * cst_accumulator_free. */
CST_API cst_status cst_accumulator_new(const char *name, const cst_option *options,
                                       size_t num_options, const cst_allocator *allocator,
                                       cst_accumulator **out, cst_error *error);
CST_API void cst_accumulator_free(cst_accumulator *accumulator); /* NULL is allowed */
/* The name that it was made by; NULL for NULL. Valid as long as the library. */
CST_API const char *cst_accumulator_name(const cst_accumulator *accumulator);

/* Its options, one a row of "options": `name` and `value`, as cst_accumulator_new takes them. *out:
 * cst_findings_free. */
CST_API cst_status cst_accumulator_options(const cst_accumulator *accumulator, cst_findings **out,
                                           cst_error *error);

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

/* Adds all rows of a source, with its threads: the same as if one pass had added them, places
 * included. A validation goes on after what cannot be read, which is an anomaly; for all others it
 * is an error. All columns are looked at, whatever the source's `columns` say (but of a pipe that
 * has been begun); of a source with a view or with stages of the caller, what these give.
 * on_progress may be NULL. */
CST_API cst_status cst_accumulator_add_source(cst_accumulator *accumulator, cst_source *source,
                                              cst_progress_callback on_progress, void *ctx,
                                              cst_error *error);

/* Adds what another accumulator of the same kind and options has found: its rows come after those
 * of `accumulator`. `other` is not changed. CST_INVALID_ARGUMENT for one that is not of the same
 * kind and options, and for the accumulator itself; CST_SCHEMA where a feature has another type. */
CST_API cst_status cst_accumulator_merge(cst_accumulator *accumulator, const cst_accumulator *other,
                                         cst_error *error);

/* ---- saving ---- */

/* All that has been found, and the options, as bytes (cst_free). */
CST_API cst_status cst_accumulator_to_bytes(const cst_accumulator *accumulator, char **bytes,
                                            size_t *size, cst_error *error);
/* Makes an accumulator of what was saved: of the same name and options, with what had been found.
 * CST_CORRUPT if the bytes are damaged or none that an accumulator saved, CST_INVALID_ARGUMENT if
 * another version of the library did. Safe on any bytes. `allocator` as for cst_accumulator_new.
 * *out: cst_accumulator_free. */
CST_API cst_status cst_accumulator_from_bytes(const void *bytes, size_t size,
                                              const cst_allocator *allocator, cst_accumulator **out,
                                              cst_error *error);
/* The same in a file: of these bytes, compressed where the name ends as that of a compressed file
 * does (.gz, .zst). A file appears under its name only when it is complete. `path` may be "-" for
 * standard output and input. */
CST_API cst_status cst_accumulator_save(const cst_accumulator *accumulator, const char *path,
                                        cst_error *error);
CST_API cst_status cst_accumulator_open(const char *path, const cst_allocator *allocator,
                                        cst_accumulator **out, cst_error *error);

/* ---- what has been found ---- */

/* So far: more may be added afterwards. *out: cst_findings_free. */
CST_API cst_status cst_accumulator_finish(const cst_accumulator *accumulator, cst_findings **out,
                                          cst_error *error);
/* The schema of one that finds a schema (CST_INVALID_ARGUMENT for others), whose features are what
 * cst_accumulator_finish gives. *out: cst_schema_release. */
CST_API cst_status cst_accumulator_finish_schema(const cst_accumulator *accumulator,
                                                 cst_schema **out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_ACCUMULATE_H */
