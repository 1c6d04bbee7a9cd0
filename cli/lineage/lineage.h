/* Lineage: what its verbs share, and the inputs of other verbs that are artifacts. */
#ifndef CLI_LINEAGE_LINEAGE_H
#define CLI_LINEAGE_LINEAGE_H

#include <columnstone/lineage.h>

#include "cli.h"

/* ---- lineage_store.c ---- */

/* The path of the store: of --lineage, else of $COLUMNSTONE_LINEAGE; NULL: neither. */
const char *cli_lineage_path(const cli_settings *settings);
/* Opens it. -1, or the exit status: a usage error where no store is named. */
int cli_lineage_open(const cli_verb *verb, const cli_settings *settings, cst_lineage_mode mode,
                     cst_lineage **out);
/* The artifact of a reference, with "lineage:" before it or not. */
cst_status cli_lineage_lookup(cst_lineage *store, const char *reference, int64_t *id,
                              cst_error *error);
/* Those of all arguments: *out, free. */
cst_status cli_lineage_lookup_all(cst_lineage *store, const char *const *references, size_t count,
                                  int64_t **out, cst_error *error);
/* Findings of one thing: a row of cst_lineage_find. */
cst_status cli_lineage_get(cst_lineage *store, cst_lineage_kind kind, int64_t id,
                           cst_findings **out, cst_error *error);
/* What it is called: "sessions@4". */
cst_status cli_lineage_name(cst_lineage *store, int64_t id, char *name, size_t room,
                            cst_error *error);
/* The type that a word stands for: "examples" is Examples; others are what they are. */
const char *cli_lineage_type(const char *word);

/* ---- lineage_values.c ---- */

/* Properties of NAME=VALUE: *out, free, which has the texts, too. */
cst_status cli_lineage_properties(const char *const *texts, size_t count,
                                  cst_lineage_property **out, cst_error *error);
/* Seconds of 90s, 15m, 2h, 7d, 4w. `option` is for errors. */
cst_status cli_lineage_seconds(const char *option, const char *text, int64_t *out,
                               cst_error *error);
/* Microseconds since 1970 of 2026-11-29, 2026-11-29T10:30[:15] in UTC, or of an age before now. */
cst_status cli_lineage_time(const char *option, const char *text, int64_t *out, cst_error *error);
/* "2026-11-29 10:30:15" in UTC. */
enum { CLI_TIME = 32 };
const char *cli_lineage_show_time(int64_t time, char room[CLI_TIME]);
/* The value of a property of findings, in `prefix`: "properties". */
void cli_lineage_print_value(const cst_findings *found, size_t item);

/* Writes a text to the file of -o, which is complete when it is there, or to standard output. */
cst_status cli_lineage_write(const cli_settings *settings, const char *text, size_t size,
                             cst_error *error);

/* ---- lineage_add_files.c ---- */

/* The files of an artifact that is added, and what is found out about them. */
typedef struct cli_added_files {
  cst_lineage_file *list;
  size_t count;
  char **texts; /* that the list and the properties borrow */
  size_t num_texts;
  const char *payload;     /* payload_format; NULL: not known */
  const char *file_format; /* NULL: not known */
} cli_added_files;

/* The files of the arguments but for the first one, wildcards and Split-NAME folders of TFX
 * expanded. To be reset, also after a failure. */
cst_status cli_added_files_find(const cli_settings *settings, bool has_splits, cli_added_files *out,
                                cst_error *error);
/* Looks into the first one for payload and container, and at the descriptors. */
cst_status cli_added_files_look(const cli_settings *settings, cli_added_files *files,
                                cst_error *error);
cst_status cli_added_files_append(cli_added_files *files, const char *path, const char *split,
                                  const char *role, cst_error *error);
void cli_added_files_reset(cli_added_files *files);

#endif /* CLI_LINEAGE_LINEAGE_H */
