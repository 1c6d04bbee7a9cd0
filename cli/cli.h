/* What the verbs of the command-line program share: options, errors and exit statuses, input
 * opening, progress, and printing. The program uses the installed headers only.
 */
#ifndef CLI_H
#define CLI_H

#include <columnstone/sink.h>
#include <columnstone/source.h>
#include <stdio.h>

/* Exit statuses. */
enum { CLI_FINE = 0, CLI_FAULTS = 1, CLI_TROUBLE = 2, CLI_INTERRUPTED = 130 };

#if defined(__GNUC__)
#define CLI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CLI_PRINTF(fmt, args)
#endif

/* ---- options (args.c) ---- */

/* Every option of every verb; a verb's mask says which it takes. */
enum {
  OPTION_HELP = 1 << 0,
  OPTION_ROWS = 1 << 1,
  OPTION_OUTPUT = 1 << 2,
  OPTION_SCHEMA = 1 << 3,
  OPTION_COLUMNS = 1 << 4,
  OPTION_FORMAT = 1 << 5,
  OPTION_TO = 1 << 6,
  OPTION_LEVEL = 1 << 7,
  OPTION_LOSSY = 1 << 8,
  OPTION_BATCH_SIZE = 1 << 9,
  OPTION_THREADS = 1 << 10,
  OPTION_NO_CRC = 1 << 11,
  OPTION_JSON = 1 << 12,
  OPTION_PYTHON = 1 << 13,
  OPTION_GROUP = 1 << 14,
  OPTION_LEGACY = 1 << 15,
  OPTION_FORCE = 1 << 16,
  OPTION_MAX_RECORD_SIZE = 1 << 17,
  OPTION_MAX_INFLATION = 1 << 18,
  OPTIONS_LIMITS = OPTION_MAX_RECORD_SIZE | OPTION_MAX_INFLATION /* of every verb that reads */
};

typedef struct cli_verb {
  const char *name;    /* "schema infer" */
  const char *usage;   /* what stands behind the name */
  const char *summary; /* one line */
  const char *details; /* for --help */
  int options;         /* OPTION_... */
  int min_paths;
  int (*run)(int argc, char **argv);
} cli_verb;

/* What the options say. Strings are borrowed from argv. */
typedef struct cli_settings {
  int64_t rows;
  const char *output;
  const char *schema;
  const char **columns; /* NULL: all */
  size_t num_columns;
  const char *format;
  const char *to;
  int64_t level;
  int64_t batch_size;
  int64_t threads;
  int64_t max_record_size, max_inflation; /* 0: the usual ones */
  bool lossy, no_crc, json, python, legacy, force;
  const char *group;
  const char **paths; /* the arguments that are no options */
  size_t num_paths;
} cli_settings;

/* Reads the options behind a verb: argv[0] is the first of them. -1: go on; else the exit status
 * (help was printed, or a usage error). */
int cli_parse(const cli_verb *verb, int argc, char **argv, cli_settings *settings);
void cli_settings_reset(cli_settings *settings);
void cli_print_help(const cli_verb *verb);

/* ---- errors (report.c) ---- */

/* Prints an error with the names of the options as they are here, without a newline. */
void cli_print_error(FILE *out, const cst_error *error);
/* Prints one line to stderr; gives the exit status: 1 for faults in the data, else 2. */
int cli_fail(const cst_error *error);
/* A usage error. verb and hint may be NULL (then: see --help). */
int cli_usage(const cli_verb *verb, const char *hint, const char *fmt, ...) CLI_PRINTF(3, 4);
/* The name that is most like a mistyped one, or NULL. */
const char *cli_nearest(const char *name, const char *const *names, size_t count);
/* Flushes standard output; 2 with a message if it cannot be written, else `status`. */
int cli_flush(int status);

/* ---- inputs (inputs.c) ---- */

/* The schema of --schema (NULL without): *out: cst_schema_release. */
cst_status cli_read_schema(const cli_settings *settings, cst_schema **out, cst_error *error);
/* The source options that the settings mean; `schema` may be NULL. */
cst_source_options cli_source_options(const cli_settings *settings, const cst_schema *schema);
/* Opens files by the settings, with the schema of --schema. */
cst_status cli_open(const cli_settings *settings, const char *const *paths, size_t num_paths,
                    cst_source **out, cst_error *error);
/* Writes a whole small file under a temporary name and renames it. */
cst_status cli_write_file(const char *path, const char *data, size_t size, cst_error *error);

/* ---- progress on a terminal (progress.c) ---- */

typedef struct cli_progress {
  const char *label;
  bool on;       /* stderr is a terminal */
  int64_t total; /* bytes; -1: unknown */
  double begin;  /* seconds */
  double shown;  /* when the bar was drawn last */
} cli_progress;

/* quiet: standard output goes to the terminal itself. */
void cli_progress_begin(cli_progress *progress, const char *label, int64_t total, bool quiet);
/* A cst_progress_callback; false once the user has interrupted. */
bool cli_progress_show(void *progress, uint64_t bytes, uint64_t records);
/* Removes the bar. */
void cli_progress_end(cli_progress *progress);
double cli_progress_seconds(const cli_progress *progress);
/* Lets the first Ctrl-C, SIGTERM or SIGHUP stop the work cleanly (the second one kills), and makes
 * a file that grows too large an error. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);

/* ---- printing (print.c) ---- */

/* Text for a terminal: control characters and what is no UTF-8 are escaped, as \x1b. */
void cli_print_text(FILE *out, const char *text);
/* A JSON string; NULL prints null. Bytes that are no UTF-8 become U+FFFD. */
void cli_json_string(FILE *out, const char *text);
void cli_json_error(FILE *out, const cst_error *error);
/* "1.2 GB". */
const char *cli_bytes(double bytes, char buf[32]);

/* ---- the verbs ---- */

extern const cli_verb cli_head, cli_count, cli_verify, cli_schema_infer, cli_schema_spec,
    cli_convert;

#endif /* CLI_H */
