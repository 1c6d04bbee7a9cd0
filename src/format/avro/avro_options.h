/* The options of "avro". */
#ifndef FORMAT_AVRO_AVRO_OPTIONS_H
#define FORMAT_AVRO_AVRO_OPTIONS_H

#include "base/options.h"

/* The codecs that are written, in the order of their words. */
typedef enum cst__avro_codec_word {
  CST__AVRO_WRITE_DEFLATE,
  CST__AVRO_WRITE_NULL,
  CST__AVRO_WRITE_ZSTANDARD
} cst__avro_codec_word;

extern const char *const cst__avro_codec_words[];

typedef struct cst__avro_options {
  const char *schema; /* the reader's: its JSON, or the path of a file that has it; NULL: that of
                         the first file */
  cst__avro_codec_word codec;
  int64_t block_size; /* bytes of values of a block; 0: the usual */
} cst__avro_options;

extern const cst__option_table cst__avro_option_table;

#endif /* FORMAT_AVRO_AVRO_OPTIONS_H */
