/* What is found out about data, schemas and files: anomalies, counts, differences, faults, splits.
 *
 * Findings are rows of named columns, one row for each thing that was found, and totals, which are
 * numbers about all of it. They are handed out as one Arrow record batch, whose schema is the same
 * whatever was found, if nothing was as well; the totals are metadata of that schema, with their
 * names as keys and decimal numbers as values. The page of whatever finds them has the table of
 * their columns.
 *
 * Columns are strings, int64, bool and double, lists of these, and lists of structs. Bytes of a
 * name that are not UTF-8 are U+FFFD in them; but names of files are binary, as the system has
 * them.
 */
#ifndef COLUMNSTONE_FINDINGS_H
#define COLUMNSTONE_FINDINGS_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable; may be used by many threads. */
typedef struct cst_findings cst_findings;

/* What a row is one of: "anomalies", "columns", ... */
CST_API const char *cst_findings_name(const cst_findings *findings);
CST_API size_t cst_findings_num_rows(const cst_findings *findings);

/* The total of a name; -1 if there is none. */
CST_API int64_t cst_findings_total(const cst_findings *findings, const char *name);
/* The name of the i-th total; NULL: i is too large. */
CST_API const char *cst_findings_total_name(const cst_findings *findings, size_t i);

/* The record batch: *schema and *array are the caller's to release. */
CST_API cst_status cst_findings_batch(const cst_findings *findings, struct ArrowSchema *schema,
                                      struct ArrowArray *array, cst_error *error);

/* And back: findings of a record batch, which is borrowed for the call and validated; also of one
 * that was in files and in other programs meanwhile, whatever widths its integers, offsets and
 * lists have got there. Totals are the metadata that are numbers. CST_UNSUPPORTED, with the
 * column's path, for columns of other types than findings have, and for list views. `allocator` may
 * be NULL and has to outlive them. *out: cst_findings_free. */
CST_API cst_status cst_findings_from_batch(const struct ArrowSchema *schema,
                                           const struct ArrowArray *array,
                                           const cst_allocator *allocator, cst_findings **out,
                                           cst_error *error);

/* ---- one value, for programs that print ---- */

/* Column "a", or "a.b" for a field of the structs in the lists of "a", and "a." for items that are
 * no structs: `row` is the number of the item then, of all items of the column, as
 * cst_findings_items says. */

/* A string, or the name of a file, borrowed from the findings; NULL: null, or there is none. */
CST_API const char *cst_findings_text(const cst_findings *findings, const char *column, size_t row);
/* An integer, or a bool as 0 or 1; -1: null, or there is no such number. */
CST_API int64_t cst_findings_number(const cst_findings *findings, const char *column, size_t row);
/* A double; NaN: null, or there is no such number. */
CST_API double cst_findings_real(const cst_findings *findings, const char *column, size_t row);
/* The items [*begin, *end) of a list. False, and none: null, or there is no such list. */
CST_API bool cst_findings_items(const cst_findings *findings, const char *column, size_t row,
                                size_t *begin, size_t *end);

CST_API void cst_findings_free(cst_findings *findings); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_FINDINGS_H */
