/* Quantiles as a kind of sketch; the sketch itself is in quantiles.h. */
#ifndef SKETCH_QUANTILES_SKETCH_H
#define SKETCH_QUANTILES_SKETCH_H

#include "sketch/quantiles.h"
#include "sketch/sketch.h"

extern const cst__sketch_kind cst__quantiles_kind;

/* What a sketch of this kind keeps, and its option `error`. */
cst_status cst__quantiles_view_of(const cst_sketch *sketch, cst__quantiles_view *view,
                                  double *error_option, cst_error *error);

#endif /* SKETCH_QUANTILES_SKETCH_H */
