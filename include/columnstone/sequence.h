/* tf.SequenceExample in memory: serialized records to Arrow record batches, and back.
 *
 * The context becomes columns as those of tf.Example; the feature lists become one struct column,
 * the last one, with a large_list<large_list<T>> per feature list. The struct itself is never null.
 *
 * Sources: tensorflow/core/example/example.proto (SequenceExample), feature.proto (FeatureLists);
 * RFC "Standardized TFX inputs", the table of encodings.
 */
#ifndef COLUMNSTONE_SEQUENCE_H
#define COLUMNSTONE_SEQUENCE_H

#include <columnstone/example.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of the struct column, if none is given. */
#define CST_SEQUENCE_COLUMN "##SEQUENCE##"

typedef struct cst_sequence_options {
  size_t size;                 /* sizeof(cst_sequence_options) */
  const char *sequence_column; /* name of the struct column; NULL: CST_SEQUENCE_COLUMN */
  uint32_t flags;              /* decoding: CST_COLUMNS_OFFSETS_32, CST_COLUMNS_BINARY_VIEWS;
                                  encoding: CST_ENCODE_... */
  const char *const *columns;  /* decoding: wanted columns in the wanted order (the struct column
                                  by its name, or single feature lists as "<column>.<name>");
                                  NULL: all */
  size_t num_columns;
  const cst_allocator *allocator; /* NULL: the C library's */
} cst_sequence_options;

#define CST_SEQUENCE_OPTIONS_INIT \
  { sizeof(cst_sequence_options), NULL, 0, NULL, 0, NULL }

/* Turns serialized tf.SequenceExamples into record batches. Used by one thread at a time; several
 * decoders may share a schema. Buffers of released batches are recycled into the next ones; those
 * of many batches that are kept share larger blocks, as those of cst_example_decoder do. */
typedef struct cst_sequence_decoder cst_sequence_decoder;

/* With a schema: a column per feature but the one of the struct column's name, which must be STRUCT
 * (else CST_SCHEMA) and whose struct_domain lists the feature lists; without it, or without
 * children, there is no struct column. Without a schema: columns and feature lists are sorted by
 * name, types come from the data of each call, a feature list without any typed value is
 * large_list<large_list<null>> (its lengths are kept), and there is a struct column if any record
 * has feature lists.
 * Cells: an absent feature list is null, one without features is empty; a feature without a kind is
 * a null inner list, one with a kind and no values an empty inner list. */
CST_API cst_status cst_sequence_decoder_new(const cst_schema *schema,
                                            const cst_sequence_options *options,
                                            cst_sequence_decoder **out, cst_error *error);
CST_API void cst_sequence_decoder_free(cst_sequence_decoder *decoder);

/* As cst_example_decoder_decode and cst_example_decoder_decode_arrow. Errors in a feature list have
 * the path "<column>.<name>". */
CST_API cst_status cst_sequence_decoder_decode(cst_sequence_decoder *decoder,
                                               const cst_bytes *records, size_t count,
                                               struct ArrowSchema *out_schema,
                                               struct ArrowArray *out, cst_error *error);
CST_API cst_status cst_sequence_decoder_decode_arrow(cst_sequence_decoder *decoder,
                                                     const struct ArrowSchema *schema,
                                                     struct ArrowArray *records,
                                                     struct ArrowSchema *out_schema,
                                                     struct ArrowArray *out, cst_error *error);

/* The batches' schema; CST_STATE for a decoder without a schema. */
CST_API cst_status cst_sequence_decoder_arrow_schema(const cst_sequence_decoder *decoder,
                                                     struct ArrowSchema *out, cst_error *error);

/* ---- back ---- */

/* Turns such record batches into serialized tf.SequenceExamples: keys sorted bytewise, values
 * packed, so that decoding gives the same batch. Used by one thread at a time. */
typedef struct cst_sequence_encoder cst_sequence_encoder;

/* schema: NULL, or the types are checked against it. */
CST_API cst_status cst_sequence_encoder_new(const cst_schema *schema,
                                            const cst_sequence_options *options,
                                            cst_sequence_encoder **out, cst_error *error);
CST_API void cst_sequence_encoder_free(cst_sequence_encoder *encoder);

/* Encodes one batch (a struct array; borrowed) into a large_binary array of as many records. The
 * struct column may be missing: then there are no feature lists. A value that cannot be held is
 * CST_UNSUPPORTED with row and column, as for tf.Example; so is a null struct. */
CST_API cst_status cst_sequence_encoder_encode(cst_sequence_encoder *encoder,
                                               const struct ArrowSchema *schema,
                                               const struct ArrowArray *batch,
                                               struct ArrowSchema *out_schema,
                                               struct ArrowArray *out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_SEQUENCE_H */
