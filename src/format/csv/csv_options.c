/* The table of the options of CSV. */
#include "format/csv/csv_options.h"

#include <stddef.h>

#define AT(member) .offset = offsetof(cst__csv_options, member)
#define NAMES_AT(member) AT(member), .count_offset = offsetof(cst__csv_options, num_##member)

static const cst__option options[] = {
    {.info = {.name = "delimiter",
              .kind = CST_OPTION_CHARACTER,
              .help = "between cells; \\t is a tab (a comma, or a tab for .tsv)",
              .letter = 'd',
              .reads = true,
              .writes = true},
     AT(delimiter)},
    {.info = {.name = "secondary_delimiter",
              .kind = CST_OPTION_CHARACTER,
              .help = "between the values of one cell (|)",
              .reads = true,
              .writes = true},
     AT(secondary_delimiter)},
    {.info = {.name = "multivalent",
              .kind = CST_OPTION_NAMES,
              .help = "columns whose cells hold several values",
              .reads = true,
              .writes = true},
     NAMES_AT(multivalent)},
    {.info = {.name = "names",
              .kind = CST_OPTION_NAMES,
              .help = "the columns of a file without a header",
              .reads = true},
     NAMES_AT(names)},
    {.info = {.name = "comment",
              .kind = CST_OPTION_CHARACTER,
              .help = "lines that begin with it are passed over",
              .reads = true},
     AT(comment)},
    {.info = {.name = "skip_lines",
              .kind = CST_OPTION_NUMBER,
              .most = INT64_MAX,
              .help = "lines before the header",
              .reads = true},
     AT(skip_lines),
     .is_wide = true},
    {.info = {.name = "keep_blank_lines",
              .kind = CST_OPTION_SWITCH,
              .help = "a blank line is a row of nulls",
              .reads = true},
     AT(keep_blank_lines)},
    {.info = {.name = "header",
              .kind = CST_OPTION_SWITCH,
              .usual = "true",
              .help = "write a line of names",
              .writes = true},
     AT(header)},
};

const cst__option_table cst__csv_option_table = {.owner = "csv",
                                                 .options = options,
                                                 .count = sizeof options / sizeof *options,
                                                 .stride = sizeof *options,
                                                 .size = sizeof(cst__csv_options)};
