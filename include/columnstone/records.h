/* Decodes serialized records in memory to Arrow record batches, and encodes them.
 *
 * Sources: tensorflow/core/example/{example,feature}.proto; RFC "Standardized TFX inputs", the
 * table of encodings (null, empty and present are three different things); and the sources of
 * <columnstone/message.h>. */
#ifndef COLUMNSTONE_RECORDS_H
#define COLUMNSTONE_RECORDS_H

#include <columnstone/arrow_abi.h>
#include <columnstone/message.h>
#include <columnstone/options.h>
#include <columnstone/schema.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The layout of the columns. Without flags: large_list of int64, float32 or large_binary. */
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

/* Options of cst_decoder_new. Which of schema, message and options are allowed depends on the
 * payload, which is named by its format ("example", "sequence_example", "message", "raw", ...: the
 * formats of cst_format_get that are records); others are CST_INVALID_ARGUMENT. */
typedef struct cst_decode_options {
  size_t size;                /* sizeof(cst_decode_options) */
  uint32_t flags;             /* CST_COLUMNS_... */
  const char *const *columns; /* wanted columns in the wanted order; NULL: all */
  size_t num_columns;
  const cst_allocator *allocator;     /* NULL: the C library's */
  const cst_schema *schema;           /* NULL: none */
  const cst_message_options *message; /* for messages: their type; NULL: none */
  const cst_option *options;          /* further options of the payload, see
                                         cst_format_option_get */
  size_t num_options;
} cst_decode_options;

#define CST_DECODE_OPTIONS_INIT \
  { sizeof(cst_decode_options), 0, NULL, 0, NULL, NULL, NULL, NULL, 0 }

/* Decodes serialized records into record batches. One thread at a time may use it. Buffers of
 * released batches are reused for later ones. Kept batches share larger blocks: a kept batch keeps
 * alive the memory of at most eight similar batches, or 4 MiB. */
typedef struct cst_decoder cst_decoder;

/* The name of the struct column of feature lists, unless the option `sequence_column` sets another.
 */
#define CST_SEQUENCE_COLUMN "##SEQUENCE##"

/* Copies what it needs of the options, which may be NULL; several decoders may share a schema.
 * CST_NOT_FOUND for an unknown format, with near names, and for a wanted column that there is not;
 * CST_UNSUPPORTED for a format that is not one of records, which a source reads.
 *
 * example: with a schema, one column per feature (or per wanted column); one of type TYPE_UNKNOWN
 * (inference writes it) is a column of type null, in which a value is CST_SCHEMA; one of type
 * STRUCT is CST_SCHEMA. Without a schema, types come from the data of each call, columns are sorted
 * by name, a feature that never has a type is a column of type null. With CST_COLUMNS_NESTED (which
 * needs a schema), `columns` names ragged tensors instead of their sources; two tensors that share
 * a source are CST_SCHEMA, and so are, when decoding, row lengths that are negative or do not make
 * up what they divide, and a row in which some sources are null.
 *
 * sequence_example (CST_COLUMNS_OFFSETS_32 and CST_COLUMNS_BINARY_VIEWS): the context becomes
 * columns as those of example; the feature lists become one struct column, the last one, with a
 * large_list<large_list<T>> per feature list, and the option `sequence_column` names it. The struct
 * itself is never null. `columns` may have the struct column by its name, or single feature lists
 * as "<column>.<name>". With a schema: a column per feature but the one of the struct column's
 * name, which must be STRUCT (else CST_SCHEMA) and whose struct_domain lists the feature lists;
 * without it, or without children, there is no struct column. Without a schema: columns and feature
 * lists are sorted by name, types come from the data of each call, a feature list without any typed
 * value is large_list<large_list<null>> (its lengths are kept), and there is a struct column if any
 * record has feature lists. Cells: an absent feature list is null, one without features is empty; a
 * feature without a kind is a null inner list, one with a kind and no values an empty inner list.
 * Errors in a feature list have the path "<column>.<name>".
 *
 * message (CST_COLUMNS_OFFSETS_32 and CST_COLUMNS_BINARY_VIEWS): docs/messages.md has the table of
 * types. `columns` are paths ("id", "event.query"): fields of messages, of lists of them, of maps
 * (m.key, m.value), extensions "(shop.extra)", the message that an Any holds
 * "payload.(shop.Event).id"; a path to a message wants all of it. What nobody wants is stepped over
 * and not looked into. CST_NOT_FOUND for a path or message that does not exist.
 *
 * avro (CST_COLUMNS_OFFSETS_32 and CST_COLUMNS_BINARY_VIEWS): values of Avro; docs/avro.md has the
 * table of types and the prefixes that name schemas. The options `avro_schema`,
 * `avro_writer_schema`, `avro_schemas` (one of them is needed) and `avro_framing` say how they are
 * read; `columns` are paths. A record of a schema that is not known is CST_SCHEMA.
 *
 * raw (CST_COLUMNS_OFFSETS_32 and CST_COLUMNS_BINARY_VIEWS): one binary column `record`, without
 * nulls. */
CST_API cst_status cst_decoder_new(const char *payload, const cst_decode_options *options,
                                   cst_decoder **out, cst_error *error);
CST_API void cst_decoder_free(cst_decoder *decoder);

/* Decodes `count` records into one batch (a struct array with one child per column) and its schema.
 * Either output may be NULL. Never reads outside the bytes of a record. With
 * CST_COLUMNS_BINARY_VIEWS the records are copied once. The batch may outlive the decoder. On
 * failure the error has the record (its index in `records`), and the decoder can be used again.
 * With count 0 the batch is empty. */
CST_API cst_status cst_decoder_decode(cst_decoder *decoder, const cst_bytes *records, size_t count,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error);

/* Decodes an Arrow array of binary, large_binary, binary_view, string, large_string or string_view
 * without nulls, or a batch (a struct) with one such column. The array is fully validated. With
 * views, the batch keeps `records` alive: it is taken over on success (its release becomes NULL),
 * and unchanged on failure. Without views it is never taken over and may be released after the
 * call. */
CST_API cst_status cst_decoder_decode_arrow(cst_decoder *decoder, const struct ArrowSchema *schema,
                                            struct ArrowArray *records,
                                            struct ArrowSchema *out_schema, struct ArrowArray *out,
                                            cst_error *error);

/* The schema of the batches. CST_STATE for a decoder whose types come from the data of each call.
 */
CST_API cst_status cst_decoder_arrow_schema(const cst_decoder *decoder, struct ArrowSchema *out,
                                            cst_error *error);

/* ---- back ---- */

enum {
  CST_ENCODE_LOSSY = 1 << 0,  /* float64 is rounded to float32 instead of being an error */
  CST_ENCODE_TRUSTED = 1 << 1 /* the Arrow data is known to be valid: skip the full validation */
};

/* Options of cst_encoder_new. */
typedef struct cst_encode_options {
  size_t size; /* sizeof(cst_encode_options) */
  uint32_t flags;
  const cst_allocator *allocator; /* NULL: the C library's */
  const cst_schema *schema;       /* as in cst_decode_options */
  const cst_message_options *message;
  const cst_option *options;
  size_t num_options;
} cst_encode_options;

#define CST_ENCODE_OPTIONS_INIT \
  { sizeof(cst_encode_options), 0, NULL, NULL, NULL, NULL, 0 }

/* Encodes record batches as serialized records; the same batch always gives the same bytes. One
 * thread at a time may use it. */
typedef struct cst_encoder cst_encoder;

/* As cst_decoder_new. Records are written so that decoding gives the same batch.
 *
 * example: keys sorted bytewise, and values packed; null is a key with an empty Feature, an empty
 * list a typed empty list. A value that tf.Example cannot hold is a null element, an integer above
 * 2^63-1, a float64 that float32 cannot hold exactly. With a schema, the features' types are
 * checked against it, and a column named like one of its ragged tensors (see CST_COLUMNS_NESTED)
 * becomes the tensor's value feature and an int64 feature per row_length partition; a null row
 * makes all of them null, an inner null list is CST_UNSUPPORTED, and so is a list that is not made
 * of whole rows of the uniform partitions. Other depths, and columns that would become the same
 * feature, are CST_SCHEMA. Features of a ragged tensor that come as columns of their own have to
 * make it up: a row in which only some of them are there, or in which the row lengths do not add
 * up, is CST_SCHEMA with row and feature; tensors that share a feature are not checked. A value of
 * a feature of type TYPE_UNKNOWN is CST_SCHEMA.
 *
 * sequence_example: likewise. The struct column may be missing: then there are no feature lists.
 * Values that cannot be held are those of example, and a null struct. With a schema, the types are
 * checked against it.
 *
 * message: the deterministic form of protobuf for Python (upb): fields by number, extensions after
 * them, unknown fields last, maps by key.
 * Columns and fields of structs are fields of the messages by name, whatever the decoder's options
 * make of these: every type that the decoder gives is taken, and every Arrow type that holds the
 * same values (any integer and float type whose value fits exactly, text and bytes of any layout,
 * lists of any kind, maps as lists of key and value, dictionary-encoded columns). Null is an absent
 * field, a zero of a field without presence is not written; in a list, as a map's key or value, and
 * for a required field null is refused, and so are two members of a oneof and a key that a map has
 * twice. A binary column of a message field has its serialized bytes. A struct of an Any may have a
 * field "(full.Name)" in the place of its value. Of the message options `descriptors`, `message`,
 * `form` and `unknown_fields` count; in the text format and in JSON a record is one line. JSON has
 * no unknown fields, and the text format has them, by number, only if `unknown_fields` is given:
 * those within bytes of a message field are left out. With CST_ENCODE_LOSSY, numbers are rounded to
 * what a float or double holds. CST_UNSUPPORTED for a form that cannot be written. When encoding, a
 * column that the message does not have is CST_NOT_FOUND.
 *
 * avro: by the option `avro_schema`, or a schema that is made of the columns (docs/avro.md: what
 * may become what; CST_SCHEMA where a column does not fit); `avro_framing` and `avro_schema_id` say
 * what stands before each value.
 *
 * raw: the values of the only column, which is binary or text without nulls. */
CST_API cst_status cst_encoder_new(const char *payload, const cst_encode_options *options,
                                   cst_encoder **out, cst_error *error);
CST_API void cst_encoder_free(cst_encoder *encoder);

/* Encodes one batch (a struct array; borrowed) into a large_binary array with one record per row. A
 * value that a record cannot hold is CST_UNSUPPORTED with row and column. */
CST_API cst_status cst_encoder_encode(cst_encoder *encoder, const struct ArrowSchema *schema,
                                      const struct ArrowArray *batch,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_RECORDS_H */
