/* What the verbs of the command-line program share: options, errors and exit statuses, input
 * opening, progress, and printing. The program uses the installed headers only.
 */
#ifndef CLI_H
#define CLI_H

#include <columnstone/findings.h>
#include <columnstone/format.h>
#include <columnstone/index.h>
#include <columnstone/message.h>
#include <columnstone/query.h>
#include <columnstone/records.h>
#include <columnstone/sink.h>
#include <columnstone/source.h>
#include <columnstone/structured.h>
#include <columnstone/validate.h>
#include <stddef.h>
#include <stdio.h>

/* Exit statuses. */
enum { CLI_FINE = 0, CLI_FAULTS = 1, CLI_TROUBLE = 2, CLI_OTHER_ROWS = 3, CLI_NO_READER = 141 };

#if defined(__GNUC__)
#define CLI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CLI_PRINTF(fmt, args)
#endif

/* ---- options (args.c) ---- */

/* What is shown of nested data, and how. */
typedef struct cli_nested {
  const char **paths; /* of fields */
  size_t num_paths;
  bool ascii;
} cli_nested;

/* What --proto-set and its kin say. */
typedef struct cli_message {
  const char *proto_set;
  const char **settings; /* KEY=VALUE */
  size_t num_settings;
  const char **output_settings; /* the same, of the output alone */
  size_t num_output_settings;
  cst_message_options options;
  cst_message_options output;
  cst_descriptors *descriptors;
} cli_message;

/* What --view and its kin say. */
typedef struct cli_query {
  const char *view;    /* a saved one */
  const char *like;    /* a file that has the types of the input */
  const char **params; /* NAME=VALUE */
  size_t num_params;
  int64_t max_elements; /* 0: as cst_view_options says */
  int64_t max_bytes;
  int64_t max_work;
  bool explain;
} cli_query;

/* What data and statistics are compared with. */
typedef struct cli_comparison {
  const char *kind;        /* of the schema's comparators; NULL: drift */
  const char **thresholds; /* NAME=NUMBER */
  size_t num_thresholds;
  const char *previous, *serving; /* of a check: files of statistics */
} cli_comparison;

/* What is to be found out: by --propose and its kin, by the options of an accumulator, and by
 * verify. */
typedef struct cli_finding {
  bool proposes;
  cst_propose_options proposal; /* but for what specs has */
  const char **options;         /* KEY=VALUE */
  size_t num_options;
  const char *columns, *by, *weight; /* of statistics; NULL: not given */
  const char *page;                  /* of them; NULL: not wanted */
  int64_t max_faults;                /* 0: as cst_verify_options says */
  cli_comparison comparison;
} cli_finding;

/* An index as text. */
typedef struct cli_index_text {
  bool also_written;
  const char *read_from;
} cli_index_text;

/* Records to choose by chance, and for workers. */
typedef struct cli_choice {
  int64_t number;
  int64_t seed;
  int64_t target_bytes; /* of a split */
} cli_choice;

/* An artifact that is added. */
typedef struct cli_artifact {
  const char *name, *split;
  int64_t span;            /* -1: none */
  const char **properties; /* NAME=VALUE */
  size_t num_properties;
  const char **references; /* ROLE=REF */
  size_t num_references;
  const char *schema; /* a reference, or a file */
  const char **from;  /* references of what it was made of */
  size_t num_from;
  const char *made_by; /* the type of an execution */
  bool is_external, skips_digest;
} cli_artifact;

/* Which artifacts are listed; their names and properties are in cli_artifact. */
typedef struct cli_lineage_filter {
  const char *type, *path, *source_path, *context, *since, *until;
  bool every_state;
  int64_t limit; /* 0: all */
} cli_lineage_filter;

/* How far what came from what is followed. */
typedef struct cli_walk {
  bool up, down;
  int64_t depth; /* 0: any */
} cli_walk;

/* What is garbage. */
typedef struct cli_garbage {
  int64_t keep; /* 0: not given */
  const char **group_by;
  size_t num_group_by;
  const char *older_than; /* NULL: not given */
  const char **types;
  size_t num_types;
  const char **ancestors;
  size_t num_ancestors;
  bool is_dry_run;
} cli_garbage;

/* What is said of lineage, and inputs that are artifacts. */
typedef struct cli_lineage {
  const char *store; /* NULL: $COLUMNSTONE_LINEAGE */
  cli_artifact artifact;
  cli_lineage_filter filter;
  cli_walk walk;
  cli_garbage garbage;
  const char **roots; /* of a new store */
  size_t num_roots;
  bool is_shared, digests;
  const char *lasts; /* of a lease */
  const char *holder;
  struct cli_lineage_inputs *inputs; /* NULL: none of the inputs is an artifact */
} cli_lineage;

/* Options of formats. */
typedef struct cli_format_options {
  cst_option *input;
  size_t num_input;
  cst_option *output; /* see cli_share_options */
  size_t num_output;
} cli_format_options;

/* What the options say. The structs of the library hold what goes to it as it is. Strings are
 * borrowed from argv. */
typedef struct cli_settings {
  cst_source_options source; /* see cli_source_options */
  cst_sink_options sink;     /* see cli_sink_options */
  cli_format_options formats;
  cst_specs_options specs;
  cst_validate_options validation; /* but for what specs has */
  const char *schema;
  const char *output;
  int64_t rows; /* to show */
  cli_choice choice;
  bool full, json, python;
  cli_index_text index_text;
  cli_message message;
  cli_query query;
  cli_finding finding;
  cli_nested nested;
  cli_lineage lineage;
  const char **paths; /* the arguments that are not options */
  size_t num_paths;
} cli_settings;

/* The numbers of the options. */
typedef enum cli_option_id {
#define OPTION(id, ...) OPTION_##id,
#define SOURCE(id, ...) OPTION_##id,
#define SINK(id, ...) OPTION_##id,
#include "options.def"
#undef OPTION
#undef SOURCE
#undef SINK
  CLI_NUM_OPTIONS,
  OPTIONS_FORMATS, /* in the list of a verb: the options of all formats that matter to reading, */
  OPTIONS_FORMATS_BOTH /* or to reading and writing */
} cli_option_id;

/* The options of a verb, and --help. */
#define CLI_OPTIONS(...) ((const cli_option_id[]){__VA_ARGS__, OPTION_HELP})

/* Of every verb that reads. */
#define OPTIONS_LIMITS OPTION_MAX_RECORD_SIZE, OPTION_MAX_INFLATION, OPTION_LINEAGE
#define OPTIONS_SHARDS OPTION_SHARDS, OPTION_SHARD_SIZE
#define OPTIONS_RECOVERY OPTION_ON_ERROR, OPTION_MAX_ERRORS
#define OPTIONS_MESSAGE \
  OPTION_PROTO_SET, OPTION_MESSAGE, OPTION_MESSAGE_OPTION, OPTION_MESSAGE_COLUMN

/* Of every verb that runs a query. */
#define OPTIONS_QUERY OPTION_PARAM, OPTION_MAX_ELEMENTS, OPTION_MAX_BYTES, OPTION_MAX_WORK
#define OPTIONS_VIEW OPTION_VIEW, OPTIONS_QUERY

typedef struct cli_example {
  const char *command, *what;
} cli_example;

#define CLI_EXAMPLES(...) ((const cli_example[]){__VA_ARGS__, {NULL, NULL}})

/* What --help, the man pages and the completions say of a verb comes from here. */
typedef struct cli_verb {
  const char *name;             /* "schema infer" */
  const char *usage;            /* what follows the name */
  const char *summary;          /* one line */
  const char *details;          /* paragraphs, with "\n\n" between them and no other line ends */
  const cli_example *examples;  /* CLI_EXAMPLES(...) */
  const char *see;              /* names of verbs: "count, schema infer" */
  const char *exits;            /* lines of status and meaning but for 0 and 2; NULL: none */
  const cli_option_id *options; /* CLI_OPTIONS(...) */
  int min_paths;
  int (*run)(int argc, char **argv);
} cli_verb;

/* Where a verb reads and writes: of the options of formats, the output takes those that its format
 * has, and the input has to have the others. */
cst_status cli_share_options(cli_settings *settings, const char *output, cst_error *error);
/* Reads the options after a verb: argv[0] is the first of them. -1: go on; else the exit status
 * (help was printed, or a usage error). */
int cli_parse(const cli_verb *verb, int argc, char **argv, cli_settings *settings);
/* True if it is an option of the verb. */
bool cli_takes(const cli_verb *verb, cli_option_id option);
/* Adds an option of the input's format. CST_NO_MEMORY. */
cst_status cli_add_format_option(cli_settings *settings, const char *name, const char *value,
                                 cst_error *error);
void cli_settings_reset(cli_settings *settings);

/* An option as --help tells it. */
typedef struct cli_option_about {
  char letter; /* 0: none */
  char name[64];
  const char *value;           /* what --help calls its value; NULL: a switch */
  const cst_option_info *info; /* of options of the library; NULL: others */
  char help[1024];
} cli_option_about;

/* The options that a verb takes, from *at = 0 on. False: no more. */
bool cli_next_option(const cli_verb *verb, size_t *at, cli_option_about *about);

/* ---- help (help/) ---- */

const cli_verb *cli_verb_get(size_t i); /* NULL: no more (main.c) */
/* Prints the help of a verb, through a pager if it is longer than the terminal. Gives the exit
 * status. */
int cli_show_help(const cli_verb *verb);
/* The same of all verbs: `columnstone --help`. */
int cli_show_overview(void);
/* The kinds of errors; of a name, such as "corrupt", that one (NULL: all). */
int cli_show_kinds(const char *name);
extern const char cli_overview_summary[];
extern const char cli_overview_text[]; /* paragraphs, as cli_verb.details */
/* Prints text on standard output, on a terminal through a pager if it is longer. */
void cli_page(const char *text, size_t size);
/* Prints all that --help tells of all verbs, as JSON: man pages and references are made of it. */
int cli_describe(void);
/* What may stand for the word at `at` of the words after the program's name, for shells: a line
 * each, after a line that tells what else may. */
int cli_complete(int at, int argc, char **argv);
enum { CLI_EXIT_LINE = 200 };
/* "1  faults were found": an exit status of a verb (NULL: of any) and its meaning, written to
 * `room`. NULL after the last. */
const char *cli_exit_line(const cli_verb *verb, size_t i, char room[CLI_EXIT_LINE]);

/* ---- protobuf messages (messages.c) ---- */

/* Reads the message types of --proto-set, and --message-option. As cli_parse, which calls it. */
int cli_read_messages(const cli_verb *verb, cli_settings *settings);
/* The keys of --message-option, for --help. */
void cli_print_message_keys(FILE *out);
/* What the messages of the input are, and of an output of messages; NULL: there are none. With
 * `--to message`, the input has messages too only if --format or --message-column says so. */
const cst_message_options *cli_message_of_input(const cli_settings *settings);
const cst_message_options *cli_message_of_output(const cli_settings *settings);

/* ---- queries and views (queries.c) ---- */

/* Opens the view of --view for the source. As cli_parse, which calls it. */
int cli_read_view(const cli_verb *verb, cli_settings *settings);
/* What --param gives: *out (free), settings->query.num_params of them, whose names and values lie
 * in one block with them. */
cst_status cli_query_values(const cli_settings *settings, cst_query_value **out, cst_error *error);

/* ---- inputs that are artifacts (lineage/lineage_inputs.c) ---- */

/* Puts files in the place of each "lineage:NAME@VERSION#SPLIT" of the arguments, --view and
 * --schema, and the options that it takes to read them, where the user gives none; the artifacts
 * are leased until the settings are reset. As cli_parse, which calls it. */
int cli_expand_lineage(const cli_verb *verb, cli_settings *settings);
void cli_lineage_inputs_free(struct cli_lineage_inputs *inputs); /* NULL is allowed */
/* The paths of the i-th argument, several of an artifact. */
const char *const *cli_paths_of(const cli_settings *settings, size_t argument, size_t *count);
size_t cli_num_arguments(const cli_settings *settings);
bool cli_names_artifact(const char *text); /* "lineage:..." */

/* ---- errors (errors.c) ---- */

/* Prints an error with the names of the options as they are here, without a newline. */
void cli_print_error(FILE *out, const cst_error *error);
/* The name of a kind of error as `columnstone help` takes it: "corrupt". */
void cli_print_kind(FILE *out, cst_status kind);
/* Prints one line to stderr; gives the exit status: 1 for faults in the data, else 2. */
int cli_fail(const cst_error *error);
/* Fills an error of the caller's: CST_INVALID_ARGUMENT, which it gives. */
cst_status cli_fail_argument(cst_error *error, const char *hint, const char *fmt, ...)
    CLI_PRINTF(3, 4);
/* A usage error. verb and hint may be NULL (then: see --help). */
int cli_usage(const cli_verb *verb, const char *hint, const char *fmt, ...) CLI_PRINTF(3, 4);
/* The name that is most like a mistyped one, or NULL. */
const char *cli_nearest(const char *name, const char *const *names, size_t count);
/* Flushes standard output; 2 with a message if it cannot be written, else `status`. */
int cli_flush(int status);

/* ---- damaged records that are passed over (dropped.c) ---- */

typedef struct cli_dropped {
  FILE *out; /* where a line per record goes */
  bool json; /* as members of a JSON list */
  uint64_t count;
  uint64_t bytes;
} cli_dropped;

/* A cst_dropped_callback. */
bool cli_print_dropped(void *dropped, const cst_dropped *record);

/* ---- formats (formats.c) ---- */

/* What the library says of a format, or NULL. */
const cst_format_info *cli_format(const char *name);
/* True for what the records of a container hold: "example", "raw", ... */
bool cli_is_records(const char *format);
/* Prints the names of the formats that can be read, or written, as "example, raw, ...". */
void cli_print_formats(FILE *out, bool writable);
/* True if the name of an output ends as that of a container does. */
bool cli_names_container(const char *output);
/* True if the name of an output of records ends as that of another format does (out.csv.gz). */
bool cli_ends_otherwise(const char *output);
/* True if an output is of this format: by the name of --to (NULL without), or by its ending. */
bool cli_is_output_of(const char *format, const char *output, const char *to);

/* ---- inputs (sources.c) ---- */

/* The schema of --schema (NULL without): *out: cst_schema_release. */
cst_status cli_read_schema(const cli_settings *settings, cst_schema **out, cst_error *error);
/* The source options that the settings mean; `schema` may be NULL. */
cst_source_options cli_source_options(const cli_settings *settings, const cst_schema *schema);
/* Opens files by the settings, with the schema of --schema. dropped (may be NULL) is told of
 * damaged records, with --on-error skip. */
cst_status cli_open(const cli_settings *settings, const char *const *paths, size_t num_paths,
                    cli_dropped *dropped, cst_source **out, cst_error *error);
/* True if all can be read once more: no pipes, and not standard input (columns.c). */
bool cli_are_files(const char *const *paths, size_t num_paths);
/* The same with options; --columns may be paths to what lies below columns (columns.c). */
cst_status cli_open_source(const char *const *paths, size_t num_paths,
                           const cst_source_options *options, cst_source **out, cst_error *error);
/* Makes the hint of an error on a column that the files do not have name the nearest one that they
 * have (columns.c). */
void cli_hint_column(const cli_settings *settings, const char *const *paths, size_t num_paths,
                     cst_error *error);
/* Writes a whole file, which replaces the one of that name when it is complete. */
cst_status cli_write_file(const char *path, const char *data, size_t size, cst_error *error);

/* ---- outputs (outputs.c) ---- */

/* The sink options that the settings mean. */
cst_sink_options cli_sink_options(const cli_settings *settings);
/* The same for copies of records: in the container that the output names, or else the source's. */
cst_sink_options cli_record_options(const cli_settings *settings, const cst_source *source,
                                    const char *output);
/* How the inputs of such an output are read: as raw records; lines with all of their ends. */
cst_source_options cli_raw_options(const cli_settings *settings, const char *output);
/* True if the output is a file that exists, and --force is not given. The last of several inputs is
 * taken for the output if that was forgotten. */
bool cli_would_overwrite(const cli_settings *settings, const char *output);
/* The usage error for that. */
int cli_overwrites(const cli_verb *verb, const char *output);
/* The usage error for an output of records that ends otherwise. */
int cli_not_records(const cli_verb *verb, const char *output);
/* "OUTPUT: 12 records, 0.1 s" on standard output, unless that is the output. */
void cli_print_done(const char *output, uint64_t rows, const char *unit, double seconds);

/* Writes what the source gives, with progress, and prints that it is done. */
cst_status cli_write_source(const cli_settings *settings, cst_source *source, const char *output,
                            cst_error *error);
/* The usage error for standard output without --to; -1 where there is none. */
int cli_check_output(const cli_verb *verb, const cli_settings *settings, const char *output);

/* As cli_fail, of a verb that copies records as they are. */
int cli_fail_records(cst_error *error);

/* Copies the records of the inputs (all paths but the last one) to the last path, as they are.
 * equal_shards: counts them first, so that --shards makes files of as many records each, in order.
 * Gives the exit status. */
int cli_copy_records(const cli_verb *verb, const cli_settings *settings, bool equal_shards);

/* ---- picking records by number (picking.c) ---- */

typedef struct cli_picking {
  const cli_verb *verb;
  const cli_settings *settings;
  /* Fills the numbers of the wanted records out of `total`: *rows (free) and *count. */
  bool (*choose)(const cli_settings *settings, uint64_t total, uint64_t **rows, size_t *count);
} cli_picking;

/* Writes the chosen records of the inputs to the last path, in the order chosen. */
int cli_pick_records(const cli_picking *picking);

/* Numbers below `n` (> 0) that look random: the next of a sequence that `state` has begun. */
uint64_t cli_random(uint64_t *state, uint64_t n);

/* ---- fields by their paths (projection.c) ---- */

typedef struct cli_projection {
  cst_source *source;        /* whose batches have the columns that the paths begin with */
  struct ArrowSchema schema; /* of these */
  const char *const *names;  /* the paths as they were given; borrowed */
  cst_path *paths;
  size_t count;
} cli_projection;

/* CST_NO_MEMORY. */
cst_status cli_fail_memory(cst_error *error);
/* Says in the hint of an error on a column that has dots that --path is for these, if it is. */
void cli_explain_path(const cli_settings *settings, cst_error *error);
/* Finds the paths of --path in the columns of the source, which it keeps. To be closed, also after
 * a failure. */
cst_status cli_projection_open(cli_projection *projection, const cli_settings *settings,
                               cst_source *source, cst_error *error);
/* A struct of a field per path, named like it. Takes the batch over, also on failure.
 * *out: cst_structured_release. */
cst_status cli_projection_apply(const cli_projection *projection, struct ArrowArray *batch,
                                cst_structured **out, cst_error *error);
void cli_projection_close(cli_projection *projection);

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
/* A cst_progress_callback; true. */
bool cli_progress_show(void *progress, uint64_t bytes, uint64_t records);
/* Removes the bar. */
void cli_progress_end(cli_progress *progress);
double cli_progress_seconds(const cli_progress *progress);

/* ---- signals (signals.c) ---- */

/* Lets the first Ctrl-C, SIGTERM or SIGHUP stop the work cleanly: calls of the library on this
 * thread fail. A second one ends the program at once, as SIGPIPE, SIGQUIT and their kin do, but
 * leaves no temporary files. Makes a file that grows too large an error. */
void cli_catch_interrupts(void);
bool cli_is_interrupted(void);
/* The status, or that of the signal: 130 for Ctrl-C. */
int cli_end_status(int status);
/* True if standard output is a pipe that nobody reads any more. */
bool cli_has_lost_reader(void);

/* ---- printing (print.c) ---- */

/* All text that is not the program's own goes through these: cst_text_escape on the way. */
void cli_print_text(FILE *out, const char *text);
void cli_print_name(FILE *out, const char *name); /* of an input: a URL without its secrets */
/* The same of text of several lines, whose ends stay. */
void cli_print_lines(FILE *out, const char *text);
/* The same of JSON, which stays what it is: escapes are those of JSON. */
void cli_print_json(FILE *out, const char *json);
/* A JSON string; NULL prints null. Bytes that are not UTF-8 become U+FFFD. */
void cli_json_string(FILE *out, const char *text);
void cli_json_error(FILE *out, const cst_error *error);
/* How text looks on a terminal; nothing where standard output is none, with NO_COLOR, or with a
 * TERM that is "dumb". CLICOLOR_FORCE styles what is no terminal, too. */
typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_WARNING, CLI_FAULT } cli_style;
void cli_set_style(cli_style style);
/* The same as text: "" where there is no style. */
const char *cli_style_code(cli_style style, FILE *out);
/* Characters in a line of standard output; 100 where that is no terminal. */
int cli_width(void);
/* Bytes of the first characters that take `most` cells as they are printed, escaped; *count of
 * them. */
size_t cli_cut(const char *text, int most, int *count);
/* Left-aligned and as wide as `width`, cut to it; width is counted in characters. */
void cli_print_cell(const char *value, int width, bool pad);
/* "1.2 GB". */
const char *cli_bytes(double bytes, char buf[32]);

/* ---- findings (print_findings.c) ---- */

/* Prints members of a JSON object: the rows, by what they are one of, and the totals. */
cst_status cli_json_findings(const cst_findings *findings, cst_error *error);
/* The same as an object. */
cst_status cli_print_json_findings(const cst_findings *findings, cst_error *error);
/* The same of counting or verifying, with the member "error": null, or why it had to stop. Gives
 * the status of that, or of printing. */
cst_status cli_print_json_scan(const cst_findings *findings, cst_status status, cst_error *error);
/* A line per row below the names of the columns, and the totals. */
cst_status cli_print_findings(const cst_findings *findings, cst_error *error);

/* ---- JSON that is cut for a terminal (shorten.c) ---- */

enum { CLI_DEPTH = 64 };

typedef struct cli_shortener {
  void (*put)(void *ctx, const char *data, size_t size); /* where the rest goes */
  void *ctx;
  /* where it stands; all 0 to begin */
  bool in_string, in_hex, cut;
  int escape;               /* bytes that belong to an escape */
  int characters;           /* of this string, so far */
  int depth, skip;          /* skip: the level whose further items are left out; 0: none */
  int32_t items[CLI_DEPTH]; /* of the lists around this place */
} cli_shortener;

/* Takes the next bytes of the JSON. */
void cli_shorten(cli_shortener *shortener, const char *data, size_t size);

/* ---- the verbs ---- */

extern const cli_verb cli_query_verb, cli_info, cli_head, cli_count, cli_verify, cli_schema_infer,
    cli_schema_spec, cli_schema_check, cli_schema_diff, cli_schema_tree, cli_convert, cli_repair,
    cli_accumulate, cli_stats, cli_stats_diff, cli_stats_merge, cli_index, cli_plan, cli_split,
    cli_merge, cli_cat, cli_sample, cli_shuffle, cli_view_build, cli_view_show, cli_view_check,
    cli_view_diff, cli_lineage_init, cli_lineage_add, cli_lineage_bind, cli_lineage_ls,
    cli_lineage_show, cli_lineage_trace, cli_lineage_graph, cli_lineage_check, cli_lineage_lease,
    cli_lineage_import, cli_lineage_export, cli_lineage_openlineage, cli_gc;

#endif /* CLI_H */
