/* Quantiles as a kind of sketch; the sketch itself is in quantiles.h. */
#ifndef SKETCH_QUANTILES_SKETCH_H
#define SKETCH_QUANTILES_SKETCH_H

#include "sketch/sketch.h"

extern const cst__sketch_kind cst__quantiles_kind;

#endif /* SKETCH_QUANTILES_SKETCH_H */
