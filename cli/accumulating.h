/* Accumulators that the program runs. */
#ifndef CLI_ACCUMULATING_H
#define CLI_ACCUMULATING_H

#include <columnstone/accumulate.h>

#include "cli.h"

/* Files of data; damaged records are told to `dropped` (may be NULL). */
typedef struct cli_files {
  const char *const *paths;
  size_t count;
  cli_dropped *dropped;
} cli_files;

/* That each of -O is KEY=VALUE, and no key is there twice. -1: go on; else the exit status. */
int cli_check_accumulator_options(const cli_verb *verb, const cli_finding *finding);
/* The accumulator of a name with the options of -O, --columns, --by and --weight. *out:
 * cst_accumulator_free. */
cst_status cli_accumulator_new(const cli_settings *settings, const char *name,
                               cst_accumulator **out, cst_error *error);
/* Adds all rows of files, with progress. */
cst_status cli_accumulate_files(const cli_verb *verb, const cli_settings *settings,
                                const cli_files *files, cst_accumulator *accumulator,
                                cst_error *error);
/* Writes the table to the file of -o, in the format of its name or of --to. */
cst_status cli_write_findings(const cli_settings *settings, const cst_findings *findings,
                              cst_error *error);

#endif /* CLI_ACCUMULATING_H */
