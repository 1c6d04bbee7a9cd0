/* The options of "avro". */
#ifndef FORMAT_AVRO_AVRO_OPTIONS_H
#define FORMAT_AVRO_AVRO_OPTIONS_H

#include "base/options.h"

typedef struct cst__avro_options {
  const char *schema; /* the reader's: its JSON, or the path of a file that has it; NULL: that of
                         the first file */
} cst__avro_options;

extern const cst__option_table cst__avro_option_table;

#endif /* FORMAT_AVRO_AVRO_OPTIONS_H */
