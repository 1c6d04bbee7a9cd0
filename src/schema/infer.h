/* Schema inference: what a schemaless decode of all records has seen, as a TFMD schema. */
#ifndef SCHEMA_INFER_H
#define SCHEMA_INFER_H

#include <columnstone/arrow_abi.h>

#include "schema/schema.h"

/* Counts per feature over any number of batches. Used by one thread at a time. */
typedef struct cst__inferrer cst__inferrer;

cst_status cst__inferrer_new(const cst_allocator *allocator, cst__inferrer **out, cst_error *error);
void cst__inferrer_free(cst__inferrer *inferrer);

/* Adds one batch of a schemaless decode: a struct array whose columns are lists (32 or 64-bit
 * offsets) of int64, float32 or binary, or of type null, or structs whose children are lists of
 * such lists (the feature lists of tf.SequenceExample). The names may differ from batch to batch.
 * A feature whose type is another one than before is CST_SCHEMA with its name and both types;
 * nothing of the batch is counted then. Both arguments are borrowed for the call. The batch is
 * trusted. */
cst_status cst__inferrer_add(cst__inferrer *inferrer, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, cst_error *error);

/* Adds all that `other` has counted (order does not matter); `other` is not changed. */
cst_status cst__inferrer_merge(cst__inferrer *inferrer, const cst__inferrer *other,
                               cst_error *error);

/* The schema: features sorted by name; presence, shape where every record has the same number of
 * values, else value_count; of a struct STRUCT with a struct_domain, whose features have
 * value_counts for the outer and the inner lists. A feature that never had a type is TYPE_UNKNOWN.
 * The inferrer may go on counting afterwards. *out belongs to the caller: cst__schema_release. */
cst_status cst__inferrer_finish(const cst__inferrer *inferrer, cst_schema **out, cst_error *error);

/* Records counted so far. */
int64_t cst__inferrer_num_records(const cst__inferrer *inferrer);

#endif /* SCHEMA_INFER_H */
