/* The decoder and the encoder of tf.Example.
 *
 * Sources: tensorflow/core/example/{example,feature}.proto; RFC "Standardized TFX inputs", the
 * table of encodings (null, empty and present values are three different things).
 */
#ifndef COLUMNSTONE_EXAMPLE_H
#define COLUMNSTONE_EXAMPLE_H

#include <columnstone/records.h>
#include <columnstone/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

/* schema NULL: types come from the data of each call, columns are sorted by name, a feature that
 * never has a type is a column of type null. With a schema: one column per feature (or per wanted
 * column); one of type TYPE_UNKNOWN (inference writes it) is a column of type null, in which a
 * value is CST_SCHEMA; one of type STRUCT is CST_SCHEMA, an unknown column CST_NOT_FOUND. Copies
 * what it needs of the arguments; several decoders may share a schema. options may be NULL.
 * With CST_COLUMNS_NESTED (which needs a schema), `columns` names ragged tensors instead of their
 * sources; two tensors that share a source are CST_SCHEMA, and so are, when decoding, row lengths
 * that are negative or do not make up what they divide, and a row in which some sources are null.
 */
CST_API cst_status cst_example_decoder_new(const cst_schema *schema,
                                           const cst_decode_options *options, cst_decoder **out,
                                           cst_error *error);

/* Writes keys sorted bytewise, and values packed; null is a key with an empty Feature, an empty
 * list a typed empty list. A value that tf.Example cannot hold is a null element, an integer above
 * 2^63-1, a float64 that float32 cannot hold exactly.
 * With a schema, a column named like one of its ragged tensors (see CST_COLUMNS_NESTED) becomes the
 * tensor's value feature and an int64 feature per row_length partition; a null row makes all of
 * them null, an inner null list is CST_UNSUPPORTED, and so is a list that is not made of whole rows
 * of the uniform partitions. Other depths, and columns that would become the same feature, are
 * CST_SCHEMA. Features of a ragged tensor that come as columns of their own have to make it up: a
 * row in which only some of them are there, or in which the row lengths do not add up, is
 * CST_SCHEMA with row and feature; tensors that share a feature are not checked. A value of a
 * feature of type TYPE_UNKNOWN is CST_SCHEMA.
 * schema: NULL, or the features' types are checked against it. options may be NULL. */
CST_API cst_status cst_example_encoder_new(const cst_schema *schema,
                                           const cst_encode_options *options, cst_encoder **out,
                                           cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_EXAMPLE_H */
