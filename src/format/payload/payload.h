/* A payload: what a container's records hold, and the decoder that makes columns of them. One file
 * each, declared below, and an entry in the table of formats (registry.c).
 *
 * A source makes one plan, which all of its threads share, and opens a decoder of it per thread.
 */
#ifndef FORMAT_PAYLOAD_PAYLOAD_H
#define FORMAT_PAYLOAD_PAYLOAD_H

#include <columnstone/records.h>

#include "arrow/records/decoder.h"
#include "base/options.h"
#include "base/thread.h"

/* The options of "sequence_example". */
typedef struct cst__sequence_settings {
  const char *column; /* the struct column of feature lists */
} cst__sequence_settings;

extern const cst__option_table cst__sequence_option_table;

typedef struct cst__payload_options {
  const cst_schema *schema;
  const char *const *columns; /* wanted ones in their order; NULL: all */
  size_t num_columns;
  uint32_t column_flags;     /* CST_COLUMNS_... */
  bool reject_unknown;       /* a feature that the schema does not have is CST_SCHEMA */
  const char *raw_column;    /* one more column, the last one: large_list<large_binary> of this name
                                with each record's bytes; NULL: none. For `raw` it is the only one. */
  const char *offset_column; /* one more column after that, of int64: the records' offsets; NULL:
                                none */
  const void *format_options; /* as the format's table sets them, which live as long as the plan;
                                 NULL: it has none, or the usual ones */
  const cst_message_options *message; /* of "message", with descriptors; whoever binds keeps what it
                                         needs */
  bool null_rows; /* all columns are nullable, so that a record that does not decode can be a row of
                     nulls: where the payload can */
  const cst_allocator *allocator;
} cst__payload_options;

/* Where the types of the columns come from. */
typedef enum cst__types_from {
  CST__TYPES_NONE,  /* there is nothing but the bytes of the records */
  CST__TYPES_FIXED, /* the payload and its settings: a schema is not needed, and none is inferred */
  CST__TYPES_OF_DATA /* the data: a source needs a schema, given or inferred, so that all batches
                        agree */
} cst__types_from;

typedef struct cst__payload {
  const char *name; /* "example", "raw", "sequence_example", "message", "avro" */
  cst__types_from types_from;
  bool null_rows;        /* a record that does not decode can be a row of nulls */
  bool can_fail;         /* not every record decodes: verification has to decode them */
  bool is_described;     /* by message options, which it needs; else it takes none */
  uint32_t column_flags; /* CST_COLUMNS_...: those that cst_decoder_new takes for it */

  /* Looks at the first record of a file, or at as many bytes of it as have been read: true if the
   * records are of this payload. NULL: the first record does not tell. */
  bool (*sniff)(cst_bytes record);

  /* For the payload that records are taken for when nothing tells: true for a message of some other
   * type, which would be a row without anything. NULL: never. */
  bool (*is_foreign)(cst_bytes record);

  /* A decoder by the options, which it copies or counts. CST_NOT_FOUND with `path` for a wanted
   * column that does not exist. */
  cst_status (*new_decoder)(const cst__payload_options *options, cst_decoder **out,
                            cst_error *error);

  /* An encoder, likewise; `format_options` as the format's table sets them. NULL: it is not
   * written.
   */
  cst_status (*new_encoder)(const cst_encode_options *options, const void *format_options,
                            cst_encoder **out, cst_error *error);
  /* True if batches of these columns are to be written so, when only the container is known. NULL:
   * never. */
  bool (*matches)(const struct ArrowSchema *schema, const cst_option *options, size_t num_options);
} cst__payload;

extern const cst__payload cst__example_payload;
extern const cst__payload cst__raw_payload;
#define CST__RAW_COLUMN "record" /* its column, unless that is given another name */
extern const cst__payload cst__sequence_payload;
extern const cst__payload cst__message_payload;
extern const cst__payload cst__avro_payload;

/* A payload's plan, with the columns of raw records and of their offsets after its columns if these
 * are wanted. Counted and immutable. */
typedef struct cst__record_plan cst__record_plan;

/* Copies what the options point to, or counts it. */
cst_status cst__record_plan_new(const cst__payload *payload, const cst__payload_options *options,
                                cst__record_plan **out, cst_error *error);
cst__record_plan *cst__record_plan_retain(cst__record_plan *plan);
void cst__record_plan_release(cst__record_plan *plan); /* NULL is allowed */
/* That of all batches; NULL: it comes from the data of each. Borrowed. */
const struct ArrowSchema *cst__record_plan_schema(const cst__record_plan *plan);

/* A decoder of it, which keeps the plan. */
typedef struct cst__record_decoder cst__record_decoder;

cst_status cst__record_decoder_open(cst__record_plan *plan, cst__record_decoder **out,
                                    cst_error *error);
/* As cst__decoder_decode. Without `out`, records are only checked, and the schema has no column of
 * raw records, nor of offsets. */
cst_status cst__record_decoder_decode(cst__record_decoder *decoder, const cst__records *records,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error);
/* From now on a record that does not decode is a row of nulls, and told of, if the payload can. */
void cst__record_decoder_on_bad(cst__record_decoder *decoder, cst__bad_record_callback on_bad,
                                void *ctx);
void cst__record_decoder_close(cst__record_decoder *decoder);

#endif /* FORMAT_PAYLOAD_PAYLOAD_H */
