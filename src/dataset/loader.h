/* Loaders: the batches of one epoch, from some batch on, made in order or ahead by threads.
 *
 * The batches of a loader are numbered from 0 and stand in a ring:
 *
 *   head                next           head + ring
 *    | made, being made | room           |
 *
 * Threads (makers) take the next number under the lock, make that batch without it, and put it into
 * its place; the caller takes what is at the head. Without threads the caller makes it.
 */
#ifndef DATASET_LOADER_H
#define DATASET_LOADER_H

#include "dataset/dataset.h"

/* What the public functions of the same names do; step >= 1. */
cst_status cst__loader_new(cst_dataset *dataset, const cst_position *from, uint32_t first,
                           uint32_t step, cst_loader **out, cst_error *error);
cst_status cst__loader_next(cst_loader *loader, struct ArrowArray *out, cst_position *position,
                            cst_error *error);
cst_status cst__loader_next_tensors(cst_loader *loader, const cst_tensor_adapter *adapter,
                                    cst_tensors **out, cst_position *position, cst_error *error);
void cst__loader_free(cst_loader *loader);

#endif /* DATASET_LOADER_H */
