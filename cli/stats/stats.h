/* Statistics: what the verbs of statistics share. */
#ifndef CLI_STATS_STATS_H
#define CLI_STATS_STATS_H

#include <columnstone/statistics.h>

#include "accumulating.h"

/* ---- stats_input.c ---- */

/* Statistics as users give them. */
typedef struct cli_statistics {
  cst_accumulator *accumulator; /* NULL: there is only the table */
  cst_findings *features;       /* the table */
} cli_statistics;

/* Reads files: statistics that were saved, which are merged, those of TFDV (one file), or data.
 * CST_INVALID_ARGUMENT for several of these beside each other, and for options beside what was
 * saved with others. To be reset, also after a failure. */
cst_status cli_statistics_read(const cli_verb *verb, const cli_settings *settings,
                               const cli_files *files, cli_statistics *out, cst_error *error);
void cli_statistics_reset(cli_statistics *statistics);
/* True for a file of statistics that were saved, by its name or its first bytes. */
bool cli_is_saved_statistics(const char *path);
/* The same of a name that is to be written. */
bool cli_names_saved_statistics(const char *path);
/* The same for TFDV's statistics. */
bool cli_is_tfdv(const char *path);
bool cli_names_tfdv(const char *path);

/* ---- stats_page.c ---- */

/* What the data of some files is called on a page. `room` holds it. */
enum { CLI_DATA_NAME = 256 };
const char *cli_data_name(const cli_files *files, char room[CLI_DATA_NAME]);
/* Writes the page of one table or of two, and of what a comparison has found (NULL: nothing), to
 * the file of --html, and says so on standard output unless that is the file. */
cst_status cli_write_page(const cli_settings *settings, const cst_statistics_named *tables,
                          size_t num_tables, const cst_findings *comparison, cst_error *error);
/* -1: the file of --html may be written, or none is wanted; else the status of the usage error. */
int cli_check_page(const cli_verb *verb, const cli_settings *settings);

/* ---- print_stats.c ---- */

/* The table for people. */
void cli_print_stats(const cst_findings *found);

/* ---- print_drift.c ---- */

/* What changed between two, for people. */
void cli_print_drift(const cst_findings *found);

#endif /* CLI_STATS_STATS_H */
