/* Statistics: what the verbs of statistics share. */
#ifndef CLI_STATS_STATS_H
#define CLI_STATS_STATS_H

#include "accumulating.h"

/* ---- stats_input.c ---- */

/* Statistics as users give them. */
typedef struct cli_statistics {
  cst_accumulator *accumulator; /* NULL: there is only the table */
  cst_findings *features;       /* the table */
} cli_statistics;

/* Reads files: statistics that were saved, which are merged, or data. CST_INVALID_ARGUMENT for both
 * beside each other, and for options beside what was saved with others. To be reset, also after a
 * failure. */
cst_status cli_statistics_read(const cli_verb *verb, const cli_settings *settings,
                               const cli_files *files, cli_statistics *out, cst_error *error);
void cli_statistics_reset(cli_statistics *statistics);
/* True for a file of statistics that were saved, by its name or its first bytes. */
bool cli_is_saved_statistics(const char *path);
/* The same of a name that is to be written. */
bool cli_names_saved_statistics(const char *path);

/* ---- print_stats.c ---- */

/* The table for people. */
void cli_print_stats(const cst_findings *found);

/* ---- print_drift.c ---- */

/* What changed between two, for people. */
void cli_print_drift(const cst_findings *found);

#endif /* CLI_STATS_STATS_H */
