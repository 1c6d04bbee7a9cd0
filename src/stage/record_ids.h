/* The stage `ids`: two columns more, the numbers of the file and of the record that each row comes
 * from, cst_source_with_ids of <columnstone/source.h>. It comes last.
 */
#ifndef STAGE_RECORD_IDS_H
#define STAGE_RECORD_IDS_H

#include <columnstone/source.h>

#include "arrow/stage.h"
#include "base/thread.h"

/* Immutable and counted: the sources that have the columns share it. */
typedef struct cst__record_ids {
  cst__refcount owners;
  const char *names[2]; /* of the columns of files and of records */
  uint64_t first_file;
  cst__arena strings;
} cst__record_ids;

cst_status cst__record_ids_new(const cst_id_columns *columns, const cst_allocator *allocator,
                               cst__record_ids **out, cst_error *error);
cst__record_ids *cst__record_ids_retain(cst__record_ids *ids); /* NULL is allowed */
void cst__record_ids_release(cst__record_ids *ids);            /* NULL is allowed */

/* The schema of the two columns alone. */
cst_status cst__record_ids_schema(const cst__record_ids *ids, struct ArrowSchema *out,
                                  cst_error *error);

extern const cst__stage cst__record_ids_stage; /* settings: cst__record_ids */

#endif /* STAGE_RECORD_IDS_H */
