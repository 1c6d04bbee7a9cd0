/* Several threads that decode blocks: what they make comes in the order of the files.
 */
#ifndef FORMAT_AVRO_AVRO_CREW_H
#define FORMAT_AVRO_AVRO_CREW_H

#include "format/avro/avro_plan.h"

typedef struct cst__avro_crew cst__avro_crew;

/* plan->threads of them, the caller's included, which does all alone what is small. `drop` (NULL:
 * damage is a failure) is called by the caller's thread, between the rows where it belongs. */
cst_status cst__avro_crew_new(const cst__avro_plan *plan, cst__table_drop drop, void *drop_ctx,
                              cst__avro_crew **out, cst_error *error);
/* The next rows, in batches of any size; out->release is NULL at the end. */
cst_status cst__avro_crew_next(cst__avro_crew *crew, struct ArrowArray *out, cst_error *error);
/* Bytes taken from the files for what has been delivered. */
uint64_t cst__avro_crew_consumed(const cst__avro_crew *crew);
void cst__avro_crew_free(cst__avro_crew *crew); /* NULL is allowed */

#endif /* FORMAT_AVRO_AVRO_CREW_H */
