/* Serialized records in memory to Arrow record batches, and back: what decoders and encoders of
 * every payload have in common. <columnstone/example.h>, <columnstone/sequence.h> and
 * <columnstone/message.h> make them.
 */
#ifndef COLUMNSTONE_RECORDS_H
#define COLUMNSTONE_RECORDS_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the columns look like. Without flags: large_list of int64, float32 or large_binary. */
enum {
  CST_COLUMNS_OFFSETS_32 = 1 << 0,   /* list and binary with 32-bit offsets (Spark needs them) */
  CST_COLUMNS_BINARY_VIEWS = 1 << 1, /* binary_view into the input, which stays alive as long */
  CST_COLUMNS_FIXED_SIZE = 1 << 2,   /* fixed_size_list where the schema fixes the shape */
  CST_COLUMNS_NESTED = 1 << 3 /* the source features of each ragged tensor of the schema (of any
                                 group, with a feature_path of one step) are one column of nested
                                 lists with the tensor's name, in place of its value feature: a list
                                 level for the rows and one per row_length partition; uniform
                                 partitions are not levels */
};

typedef struct cst_decode_options {
  size_t size;                /* sizeof(cst_decode_options) */
  uint32_t flags;             /* CST_COLUMNS_... */
  const char *const *columns; /* wanted features in the wanted order; NULL: all */
  size_t num_columns;
  const cst_allocator *allocator; /* NULL: the C library's */
} cst_decode_options;

#define CST_DECODE_OPTIONS_INIT \
  { sizeof(cst_decode_options), 0, NULL, 0, NULL }

/* Turns serialized records into record batches. Used by one thread at a time. Buffers of released
 * batches are recycled into the next ones; those of many batches that are kept share larger blocks,
 * so that one of these batches keeps the memory of at most eight like it, or 4 MiB. */
typedef struct cst_decoder cst_decoder;

CST_API void cst_decoder_free(cst_decoder *decoder);

/* Decodes `count` records into one batch (a struct array with one child per column) and its schema.
 * Either output may be NULL. Reads never leave a record's bytes. With CST_COLUMNS_BINARY_VIEWS the
 * records are copied once, because nobody keeps them alive. The batch may outlive the decoder. On
 * failure the error names the record (its index in `records`), and the decoder stays usable. No
 * records (count 0) are a batch of no rows. */
CST_API cst_status cst_decoder_decode(cst_decoder *decoder, const cst_bytes *records, size_t count,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error);

/* The same from an Arrow array of binary, large_binary, binary_view, string, large_string or
 * string_view without nulls, or from a batch (a struct) of one such column. It is validated fully.
 * With views, the batch keeps `records` alive: it is moved in (release becomes NULL) on success,
 * and untouched on failure; without views it is never moved and may be released after the call. */
CST_API cst_status cst_decoder_decode_arrow(cst_decoder *decoder, const struct ArrowSchema *schema,
                                            struct ArrowArray *records,
                                            struct ArrowSchema *out_schema, struct ArrowArray *out,
                                            cst_error *error);

/* The batches' schema; CST_STATE for a decoder whose types come from the data of each call. */
CST_API cst_status cst_decoder_arrow_schema(const cst_decoder *decoder, struct ArrowSchema *out,
                                            cst_error *error);

/* ---- back ---- */

enum {
  CST_ENCODE_LOSSY = 1 << 0,  /* float64 is rounded to float32 instead of being an error */
  CST_ENCODE_TRUSTED = 1 << 1 /* the Arrow data is known to be valid: skip the full validation */
};

typedef struct cst_encode_options {
  size_t size; /* sizeof(cst_encode_options) */
  uint32_t flags;
  const cst_allocator *allocator;
} cst_encode_options;

#define CST_ENCODE_OPTIONS_INIT \
  { sizeof(cst_encode_options), 0, NULL }

/* Turns record batches into serialized records; the same batch always gives the same bytes. Used by
 * one thread at a time. */
typedef struct cst_encoder cst_encoder;

CST_API void cst_encoder_free(cst_encoder *encoder);

/* Encodes one batch (a struct array; borrowed) into a large_binary array of as many records. A
 * value that the record cannot hold is CST_UNSUPPORTED with row and column. */
CST_API cst_status cst_encoder_encode(cst_encoder *encoder, const struct ArrowSchema *schema,
                                      const struct ArrowArray *batch,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_RECORDS_H */
