/* A payload: what a container's records hold, and how they become columns. One table per payload.
 */
#ifndef FORMAT_PAYLOAD_H
#define FORMAT_PAYLOAD_H

#include <columnstone/arrow_abi.h>
#include <columnstone/example.h>
#include <columnstone/schema.h>

#include "decode/records.h"

typedef struct cst__payload_options {
  const cst_schema *schema;
  const char *const *columns;
  size_t num_columns;
  uint32_t column_flags;  /* CST_COLUMNS_... */
  bool reject_unknown;    /* a feature that the schema does not have is CST_SCHEMA */
  const char *raw_column; /* one more column, the last one: large_list<large_binary> of this name
                             with each record's bytes; NULL: none. For `raw` it is the only one. */
  const char *sequence_column; /* of sequence_example: its struct column; NULL: the usual name */
  const cst_allocator *allocator;
} cst__payload_options;

typedef struct cst__payload {
  const char *name;  /* "example", "raw", "sequence_example" */
  bool wants_schema; /* a stream needs one, given or inferred, so that all batches agree */

  /* A decoder: one per thread. */
  cst_status (*open)(const cst__payload_options *options, void **decoder, cst_error *error);
  /* Decodes records into a batch; out_schema may be NULL, and out, if the records are only to be
   * checked (not of `raw`). Errors name the record (index in `records`). */
  cst_status (*decode)(void *decoder, const cst__records *records, struct ArrowSchema *out_schema,
                       struct ArrowArray *out, cst_error *error);
  void (*close)(void *decoder);
} cst__payload;

extern const cst__payload cst__example_payload;
extern const cst__payload cst__raw_payload;
#define CST__RAW_COLUMN "record" /* its column, unless that is given another name */
extern const cst__payload cst__sequence_payload;

/* A payload's decoder, with the column of raw records behind its columns if that is wanted. */
typedef struct cst__record_decoder cst__record_decoder;

cst_status cst__record_decoder_open(const cst__payload *payload,
                                    const cst__payload_options *options, cst__record_decoder **out,
                                    cst_error *error);
/* As the payload's `decode`; without `out`, out_schema has no column of raw records. */
cst_status cst__record_decoder_decode(cst__record_decoder *decoder, const cst__records *records,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error);
void cst__record_decoder_close(cst__record_decoder *decoder);

/* NULL if there is none of that name. */
const cst__payload *cst__payload_find(const char *name);

#endif /* FORMAT_PAYLOAD_H */
