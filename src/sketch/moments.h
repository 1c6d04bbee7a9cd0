/* Moments of numbers. */
#ifndef SKETCH_MOMENTS_H
#define SKETCH_MOMENTS_H

#include "sketch/sketch.h"

extern const cst__sketch_kind cst__moments_kind;

#endif /* SKETCH_MOMENTS_H */
