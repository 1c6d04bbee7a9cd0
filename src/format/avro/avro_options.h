/* The options of "avro". */
#ifndef FORMAT_AVRO_AVRO_OPTIONS_H
#define FORMAT_AVRO_AVRO_OPTIONS_H

#include "avro/avro_columns.h"
#include "avro/avro_framing.h"
#include "base/options.h"

/* The codecs that are written, in the order of their words. */
typedef enum cst__avro_codec_word {
  CST__AVRO_WRITE_DEFLATE,
  CST__AVRO_WRITE_NULL,
  CST__AVRO_WRITE_ZSTANDARD,
  CST__AVRO_WRITE_SNAPPY,
  CST__AVRO_WRITE_BZIP2,
  CST__AVRO_WRITE_XZ
} cst__avro_codec_word;

extern const char *const cst__avro_codec_words[];

typedef struct cst__avro_options {
  const char *schema; /* the reader's, or the one that is written by: its JSON, or the path of a
                         file that has it; NULL: that of the first file, or of the columns */
  cst__avro_enums enums;
  int32_t recursion; /* 0: the usual; -1: none */
  /* of files */
  cst__avro_codec_word codec;
  int64_t block_size; /* bytes of values of a block; 0: the usual */
  /* of records in the containers of others; schemas as above */
  cst__avro_framing framing;
  const char *writer_schema; /* of records that name none; NULL: the reader's */
  const char *schemas;       /* a table of those that records name; NULL: none */
  uint64_t schema_id;        /* the number that is written */
} cst__avro_options;

extern const cst__option_table cst__avro_option_table;

/* Appends what is given as JSON, or as the path of a file that has it: also a container file, whose
 * schema it is. */
cst_status cst__avro_options_text(const char *given, cst__text *out, cst_error *error);
/* That nothing is given that is only of records, or only of files. NULL is allowed. */
cst_status cst__avro_options_of_files(const cst__avro_options *options, cst_error *error);
cst_status cst__avro_options_of_records(const cst__avro_options *options, cst_error *error);

#endif /* FORMAT_AVRO_AVRO_OPTIONS_H */
