/* The decoder and the encoder of tf.SequenceExample.
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

/* With a schema: a column per feature but the one of the struct column's name, which must be STRUCT
 * (else CST_SCHEMA) and whose struct_domain lists the feature lists; without it, or without
 * children, there is no struct column. Without a schema: columns and feature lists are sorted by
 * name, types come from the data of each call, a feature list without any typed value is
 * large_list<large_list<null>> (its lengths are kept), and there is a struct column if any record
 * has feature lists.
 * Cells: an absent feature list is null, one without features is empty; a feature without a kind is
 * a null inner list, one with a kind and no values an empty inner list. Errors in a feature list
 * have the path "<column>.<name>". */
CST_API cst_status cst_sequence_decoder_new(const cst_schema *schema,
                                            const cst_sequence_options *options, cst_decoder **out,
                                            cst_error *error);

/* Writes keys sorted bytewise, and values packed, so that decoding gives the same batch. The struct
 * column may be missing: then there are no feature lists. Values that cannot be held are those of
 * tf.Example, and a null struct. schema: NULL, or the types are checked against it. */
CST_API cst_status cst_sequence_encoder_new(const cst_schema *schema,
                                            const cst_sequence_options *options, cst_encoder **out,
                                            cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_SEQUENCE_H */
