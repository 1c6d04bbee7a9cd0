/* Two columns together: blocks of the values that two fields of a struct have in the same rows.
 */
#ifndef SKETCH_PAIRS_H
#define SKETCH_PAIRS_H

#include "sketch/values.h"

/* Takes blocks of equally many values, of which the first has the weights; what they point to is
 * valid during the call. */
typedef cst_status (*cst__pairs_use)(void *ctx, const cst__value_block *x,
                                     const cst__value_block *y, cst_error *error);

/* The families of the two fields. CST_INVALID_ARGUMENT for a column that is no struct of two
 * fields; CST_UNSUPPORTED, as cst__family_of, for types of fields: lists among them. */
cst_status cst__pairs_families(const cst__view *column, cst__family out[2], cst_error *error);

/* Hands on the pairs of such a column. Rows in which one of the two is null, or the struct, are
 * left out, and *num_nulls is raised by their number. `weights`: one for each row; NULL: 1 each. */
cst_status cst__pairs_each(const cst__view *column, const double *weights, cst__pairs_use use,
                           void *ctx, int64_t *num_nulls, cst_error *error);

#endif /* SKETCH_PAIRS_H */
