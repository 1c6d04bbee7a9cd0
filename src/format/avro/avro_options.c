/* The table of the options of Avro. */
#include "format/avro/avro_options.h"

#include <stddef.h>

#define CODECS "deflate", "null", "zstandard"
const char *const cst__avro_codec_words[] = {CODECS};

static const cst__option options[] = {
    {.info = {.name = "avro_schema",
              .kind = CST_OPTION_TEXT,
              .help = "read files as by this schema: its JSON, or a file that has it",
              .reads = true},
     .offset = offsetof(cst__avro_options, schema)},
    {.info = {.name = "avro_codec",
              .kind = CST_OPTION_WORD,
              .usual = "deflate",
              .words = {CODECS},
              .help = "compression of the blocks",
              .writes = true},
     .offset = offsetof(cst__avro_options, codec)},
    {.info = {.name = "avro_block_size",
              .kind = CST_OPTION_NUMBER,
              .most = 1 << 28,
              .help = "bytes of values before a block ends (65536)",
              .writes = true},
     .offset = offsetof(cst__avro_options, block_size),
     .is_wide = true},
};

const cst__option_table cst__avro_option_table = {.owner = "avro",
                                                  .options = options,
                                                  .count = sizeof options / sizeof *options,
                                                  .stride = sizeof *options,
                                                  .size = sizeof(cst__avro_options)};
