/* The order of an epoch, for samplers of the caller's.
 */
#ifndef DATASET_ROW_NUMBERS_H
#define DATASET_ROW_NUMBERS_H

#include "dataset/dataset.h"

/* What the public function of the same name does. */
cst_status cst__dataset_order(cst_dataset *dataset, uint64_t epoch, uint64_t begin, uint64_t count,
                              uint64_t *rows, cst_error *error);

#endif /* DATASET_ROW_NUMBERS_H */
