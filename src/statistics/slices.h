/* Slices of rows: those whose features have the same values, such as all of one company. A row
 * whose feature is a list is in the slice of each of its values, and one that lacks a feature in
 * none; of several features, a slice is of one value of each.
 */
#ifndef STATISTICS_SLICES_H
#define STATISTICS_SLICES_H

#include "arrow/view.h"
#include "nested/chosen.h"

/* The rows of a batch that are in a slice. */
typedef struct cst__slice_rows {
  cst_bytes key; /* a text for each feature, with a NUL behind it; bytes of a value that are NUL are
                    blanks */
  cst__chosen rows; /* spans, without the same row twice */
} cst__slice_rows;

typedef struct cst__slices_found {
  cst__slice_rows *items;
  size_t count;
} cst__slices_found;

/* The most slices that one row may be in. */
enum { CST__SLICES_OF_ROW = 1000 };

/* The slices of a batch by columns at its top; one that the batch lacks is null in all rows. All
 * lies in the arena. CST_UNSUPPORTED for a column of structs and the like, CST_LIMIT for a row in
 * too many slices, both with the path. */
cst_status cst__slices_find(const cst__view *batch, const char *const *by, size_t num_by,
                            cst__arena *arena, cst__slices_found *out, cst_error *error);

#endif /* STATISTICS_SLICES_H */
