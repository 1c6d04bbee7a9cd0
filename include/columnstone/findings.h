/* Results about data, schemas and files: anomalies, counts, differences, faults, splits.
 *
 * Findings are a table: rows of named columns, and totals, which are numbers about all rows. They
 * are exported as one Arrow record batch. Its schema does not depend on the results, not even if
 * there are none. Totals are metadata of that schema: the name is the key, the value a decimal
 * number. The documentation of each function that returns findings describes the columns.
 *
 * Columns are strings, int64, bool and double, lists of these, and lists of structs. Bytes of a
 * name that are not UTF-8 become U+FFFD; file names are binary, as the system has them.
 */
#ifndef COLUMNSTONE_FINDINGS_H
#define COLUMNSTONE_FINDINGS_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A table of results. Immutable; may be used by many threads. */
typedef struct cst_findings cst_findings;

/* The name of the table: "anomalies", "columns", ..., and the number of its rows. */
CST_API const char *cst_findings_name(const cst_findings *findings);
CST_API size_t cst_findings_num_rows(const cst_findings *findings);

/* The total of a name; -1 if there is none. */
CST_API int64_t cst_findings_total(const cst_findings *findings, const char *name);
/* The name of the i-th total; NULL: i is too large. */
CST_API const char *cst_findings_total_name(const cst_findings *findings, size_t i);

/* The record batch: *schema and *array are the caller's to release. */
CST_API cst_status cst_findings_batch(const cst_findings *findings, struct ArrowSchema *schema,
                                      struct ArrowArray *array, cst_error *error);

/* Makes findings of a record batch, which is borrowed for the call and validated. The batch may
 * come from a file or another program, with other widths of integers, offsets and lists. Metadata
 * that are numbers become totals. CST_UNSUPPORTED, with the column's path, for list views and for
 * column types that findings do not have. `allocator` may be NULL and must outlive the findings.
 * *out: cst_findings_free. */
CST_API cst_status cst_findings_from_batch(const struct ArrowSchema *schema,
                                           const struct ArrowArray *array,
                                           const cst_allocator *allocator, cst_findings **out,
                                           cst_error *error);

/* ---- one value, for programs that print ---- */

/* Columns are named "a"; "a.b" is a field of the structs in the lists of "a", and "a." the items
 * of a list that are not structs. For these two, `row` is the number of the item among all items
 * of the column, as cst_findings_items returns it. */

/* A string, or the name of a file, borrowed from the findings; NULL: null, or there is none. */
CST_API const char *cst_findings_text(const cst_findings *findings, const char *column, size_t row);
/* An integer, or a bool as 0 or 1; -1: null, or there is no such number. */
CST_API int64_t cst_findings_number(const cst_findings *findings, const char *column, size_t row);
/* A double; NaN: null, or there is no such number. */
CST_API double cst_findings_real(const cst_findings *findings, const char *column, size_t row);
/* The items [*begin, *end) of a list. False, and none: null, or there is no such list. */
CST_API bool cst_findings_items(const cst_findings *findings, const char *column, size_t row,
                                size_t *begin, size_t *end);

/* Frees the findings. NULL is allowed. */
CST_API void cst_findings_free(cst_findings *findings);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_FINDINGS_H */
