/* What Examples hold, and which views read it. */
#ifndef LINEAGE_EXAMPLES_H
#define LINEAGE_EXAMPLES_H

#include "lineage/store.h"

/* What the records of Examples are, as far as is known; texts in the store's allocator, or NULL. */
typedef struct cst__lineage_payload {
  char
      *format; /* "example", "sequence_example", "message", "parquet", ..., or NULL: by the bytes */
  char *container; /* "tfrecord", ..., or NULL */
  char *message;   /* full name, or NULL */
} cst__lineage_payload;

/* That it is an Examples artifact, and live. */
cst_status cst__lineage_check_examples(cst_lineage *store, int64_t artifact, cst_error *error);
/* That `view` is a DataView, live, and reads what the examples hold: CST_SCHEMA if not. */
cst_status cst__lineage_check_view(cst_lineage *store, int64_t examples, int64_t view,
                                   cst_error *error);
cst_status cst__lineage_payload_of(cst_lineage *store, int64_t artifact, cst__lineage_payload *out,
                                   cst_error *error);
void cst__lineage_payload_reset(cst__lineage_payload *payload);

#endif /* LINEAGE_EXAMPLES_H */
