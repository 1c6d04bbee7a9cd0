/* Schema inference: what a schemaless decode of all records has seen, as a TFMD schema. */
#ifndef SCHEMA_INFERENCE_H
#define SCHEMA_INFERENCE_H

#include "arrow/accumulator.h"
#include "schema/schema.h"

/* The plan, or NULL for none of it. */
typedef struct cst__inference_plan {
  /* Looks at the values of BYTES, too: features all of whose values are UTF-8 get a string_domain;
   * and columns of types that no feature has are passed over, instead of a failure. What sources
   * need whose batches are made by stages. */
  bool looks_at_values;
} cst__inference_plan;

/* Counts per feature.
 *
 * A batch is one of a schemaless decode: a struct array whose columns are lists (32 or 64-bit
 * offsets) of int64, float32 or binary, or of type null, or structs whose children are lists of
 * such lists (the feature lists of tf.SequenceExample). The names may differ from batch to batch.
 * A feature whose type is another one than before is CST_SCHEMA with its name, both types and the
 * place of the first record that has it; nothing of the batch (the state, in a merge) is counted
 * then.
 *
 * It finishes as a schema: features sorted by name; presence, shape where every record has the same
 * number of values, else value_count; of a struct STRUCT with a struct_domain, whose features have
 * value_counts for the outer and the inner lists. A feature that never had a type is TYPE_UNKNOWN.
 */
extern const cst__accumulator cst__inference_accumulator;

/* The features of the schema that a state has found, for accumulators that find one. */
cst_status cst__finish_features(cst_status (*finish_schema)(const void *state, cst_schema **out,
                                                            cst_error *error),
                                const void *state, cst_findings **out, cst_error *error);

#endif /* SCHEMA_INFERENCE_H */
