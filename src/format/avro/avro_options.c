/* The table of the options of Avro. */
#include "format/avro/avro_options.h"

#include <stddef.h>

static const cst__option options[] = {
    {.info = {.name = "avro_schema",
              .kind = CST_OPTION_TEXT,
              .help = "read files as by this schema: its JSON, or a file that has it",
              .reads = true},
     .offset = offsetof(cst__avro_options, schema)},
};

const cst__option_table cst__avro_option_table = {.owner = "avro",
                                                  .options = options,
                                                  .count = sizeof options / sizeof *options,
                                                  .stride = sizeof *options,
                                                  .size = sizeof(cst__avro_options)};
