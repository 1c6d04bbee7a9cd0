/* What all readers of a source of Avro files share.
 */
#ifndef FORMAT_AVRO_AVRO_PLAN_H
#define FORMAT_AVRO_AVRO_PLAN_H

#include "avro/avro_columns.h"
#include "avro/avro_file.h"
#include "format/table/table.h"

typedef struct cst__avro_plan {
  cst_allocator allocator;
  const cst__table_files *files;
  int64_t batch_size;
  int32_t threads;
  cst__avro_limits limits;
  bool skip;
  cst__text text; /* of the reader's schema */
  cst__avro_schema schema;
  cst__avro_columns columns;
} cst__avro_plan;

#endif /* FORMAT_AVRO_AVRO_PLAN_H */
