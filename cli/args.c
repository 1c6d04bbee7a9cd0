/* The options: one table for all verbs, GNU style (-n 3, -n3, --rows 3, --rows=3, -- ends them). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct option {
  uint64_t id;
  char letter; /* 0: none */
  const char *name;
  const char *value; /* what --help calls its value; NULL: a switch */
  const char *help;
} option;

static const option options[] = {
    {OPTION_ROWS, 'n', "rows", "N", "records to show, at most 100000 (10)"},
    {OPTION_NUMBER, 'n', "number", "N", "records to choose (1000)"},
    {OPTION_OUTPUT, 'o', "output", "FILE", "write the schema there instead of to standard output"},
    {OPTION_SCHEMA, 's', "schema", "FILE", "TFMD schema, as text or binary"},
    {OPTION_COLUMNS, 'c', "columns", "A,B", "only these columns, in this order"},
    {OPTION_FORMAT, 'f', "format", "NAME",
     "what the input holds: example, sequence_example, raw, csv, json, arrow, parquet"},
    {OPTION_TO, 't', "to", "NAME",
     "output format: example, sequence_example, raw, csv, json, arrow, arrows, parquet"},
    {OPTION_FORCE, 0, "force", NULL, "overwrite an output file that exists"},
    {OPTION_LEVEL, 0, "level", "N", "level of compression; 0 is the usual one (0)"},
    {OPTION_LOSSY, 0, "lossy", NULL, "round what the output cannot hold exactly"},
    {OPTION_BATCH_SIZE, 'b', "batch-size", "N", "rows of a record batch (1024)"},
    {OPTION_THREADS, 'j', "threads", "N", "threads that read and decode (2, or 1 on one core)"},
    {OPTION_FULL, 0, "full", NULL, "on a terminal: do not cut long strings and lists"},
    {OPTION_NO_CRC, 0, "no-crc", NULL, "do not check the checksums of the records"},
    {OPTION_MAX_RECORD_SIZE, 0, "max-record-size", "N", "bytes that a record may have (256 MiB)"},
    {OPTION_MAX_INFLATION, 0, "max-inflation", "N",
     "bytes that a compressed byte may become, beyond 64 MiB (200)"},
    {OPTION_ON_ERROR, 0, "on-error", "WHAT", "at a damaged record: raise, or skip it (raise)"},
    {OPTION_MAX_ERRORS, 0, "max-errors", "N", "fail when more records than this are skipped"},
    {OPTION_SHARDS, 0, "shards", "N", "write N files, NAME-00000-of-0000N"},
    {OPTION_SHARD_SIZE, 0, "shard-size", "N", "begin a new file after N bytes; also 64M, 1G"},
    {OPTION_SEED, 0, "seed", "N", "another seed chooses other records (0)"},
    {OPTION_TEXT, 0, "text", NULL, "also write FILE.idx, a line \"offset length\" per record"},
    {OPTION_IMPORT, 0, "import", "IDX", "take the offsets from such a text instead"},
    {OPTION_SEQUENCE_COLUMN, 0, "sequence-column", "NAME",
     "column of the feature lists (##SEQUENCE##)"},
    {OPTION_RAW_COLUMN, 0, "raw-column", "NAME", "one more column, with the bytes of each record"},
    {OPTION_DELIMITER, 'd', "delimiter", "C", "CSV: between cells; \\t is a tab (,)"},
    {OPTION_SECONDARY_DELIMITER, 0, "secondary-delimiter", "C",
     "CSV: between the values of one cell (|)"},
    {OPTION_MULTIVALENT, 0, "multivalent", "A,B", "CSV: columns whose cells hold several values"},
    {OPTION_NAMES, 0, "names", "A,B", "CSV: the columns of a file without a header"},
    {OPTION_NO_HEADER, 0, "no-header", NULL, "CSV: write no line of names"},
    {OPTION_COMMENT, 0, "comment", "C", "CSV: lines that begin with it are passed over"},
    {OPTION_SKIP_LINES, 0, "skip-lines", "N", "CSV: lines in front of the header"},
    {OPTION_PROPOSE, 0, "propose", NULL,
     "propose domains, sparse features, and tensors that every record fits, too"},
    {OPTION_MAX_DOMAIN, 0, "max-domain", "N",
     "with --propose: string domains of at most N values (100)"},
    {OPTION_RAGGED, 0, "ragged", NULL,
     "with --propose: variable lengths become ragged, not sparse, tensors"},
    {OPTION_GROUP, 'g', "group", "NAME", "tensor_representation_group of the schema"},
    {OPTION_GROUPS, 'g', "group", "NAME",
     "tensor_representation_group whose tensors every record must fit; may be repeated"},
    {OPTION_NO_TENSORS, 0, "no-tensors", NULL, "look at the features only, not at tensors"},
    {OPTION_IGNORE_UNEXPECTED, 0, "ignore-unexpected", NULL,
     "features that the schema does not have are fine"},
    {OPTION_PLACES, 0, "places", "N", "records to name for each anomaly (1)"},
    {OPTION_ENVIRONMENT, 0, "environment", "NAME",
     "environment of the schema: features that are not in it play no part"},
    {OPTION_LEGACY, 0, "legacy", NULL, "value_count and presence decide (legacy feature spec)"},
    {OPTION_PYTHON, 0, "python", NULL, "print a Python feature spec"},
    {OPTION_JSON, 0, "json", NULL, "print JSON"},
    {OPTION_HELP, 'h', "help", NULL, "show this help"},
};

enum { NUM_OPTIONS = sizeof options / sizeof options[0], MAX_NUMBER = 1000000000 };

/* ---- help ---- */

void cli_print_help(const cli_verb *verb) {
  printf("columnstone %s %s\n\n%s.\n%s\n", verb->name, verb->usage, verb->summary, verb->details);
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    const option *o = &options[i];
    if ((verb->options | OPTION_HELP) & o->id) {
      char letter[4] = "";
      char name[32];
      if (o->letter != 0) {
        snprintf(letter, sizeof letter, "-%c,", o->letter);
      }
      snprintf(name, sizeof name, "--%s%s%s", o->name, o->value != NULL ? " " : "",
               o->value != NULL ? o->value : "");
      printf("  %-3s %-19s  %s\n", letter, name, o->help);
    }
  }
}

/* ---- finding an option ---- */

static const option *find_letter(const cli_verb *verb, char letter) {
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    if (((verb->options | OPTION_HELP) & options[i].id) && options[i].letter == letter) {
      return &options[i];
    }
  }
  return NULL;
}

static const option *find_name(const cli_verb *verb, const char *name, size_t size) {
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    if (((verb->options | OPTION_HELP) & options[i].id) && strlen(options[i].name) == size &&
        memcmp(options[i].name, name, size) == 0) {
      return &options[i];
    }
  }
  return NULL;
}

static int unknown_option(const cli_verb *verb, const char *arg) {
  const char *names[NUM_OPTIONS];
  size_t count = 0;
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    if ((verb->options | OPTION_HELP) & options[i].id) {
      names[count++] = options[i].name;
    }
  }
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
  const char *near = strncmp(name, "--", 2) == 0 ? cli_nearest(name + 2, names, count) : NULL;
  char hint[96];
  snprintf(hint, sizeof hint, "did you mean --%s?", near != NULL ? near : "");
  return cli_usage(verb, near != NULL ? hint : NULL, "unknown option %s", name);
}

/* ---- values ---- */

static int parse_number(const cli_verb *verb, const option *o, const char *text, int64_t least,
                        int64_t most, int64_t *out) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < least || value > most) {
    return cli_usage(verb, NULL, "--%s takes a number from %lld to %lld, not '%.40s'", o->name,
                     (long long)least, (long long)most, text);
  }
  *out = value;
  return -1;
}

/* Splits at commas, in place: argv belongs to the program. */
static int parse_names(const cli_verb *verb, const option *o, char *text, const char *const **out,
                       size_t *num_out) {
  size_t count = 1;
  for (const char *c = text; *c != '\0'; c++) {
    count += *c == ',';
  }
  const char **names = calloc(count, sizeof(char *));
  if (names == NULL) {
    return cli_usage(verb, NULL, "out of memory");
  }
  free((void *)*out);
  *out = names;
  *num_out = count;
  for (size_t i = 0; i < count; i++) {
    size_t size = strcspn(text, ",");
    if (size == 0) {
      return cli_usage(verb, NULL, "--%s has an empty name", o->name);
    }
    text[size] = '\0';
    names[i] = text;
    text += size + 1;
  }
  return -1;
}

/* One character of ASCII. */
static int parse_character(const cli_verb *verb, const option *o, const char *text, char *out) {
  if (strcmp(text, "\\t") == 0) {
    text = "\t";
  }
  if (text[0] <= 0 || text[1] != '\0' || text[0] == '\n' || text[0] == '\r' || text[0] == '"') {
    return cli_usage(verb, NULL, "--%s takes one character, not '%.40s'", o->name, text);
  }
  *out = text[0];
  return -1;
}

/* Bytes, as a number with or without a unit. */
static int parse_size(const cli_verb *verb, const option *o, const char *text, int64_t *out) {
  static const char units[] = "KMGT";
  char digits[24];
  size_t size = strlen(text);
  const char *unit = size > 1 ? strchr(units, text[size - 1]) : NULL;
  int64_t factor = unit != NULL ? (int64_t)1 << (10 * (unit - units + 1)) : 1;
  (void)snprintf(digits, sizeof digits, "%.*s", (int)(unit != NULL ? size - 1 : size), text);
  int status = parse_number(verb, o, digits, 1, INT64_MAX / factor, out);
  *out *= factor;
  return status;
}

static int parse_on_error(const cli_verb *verb, const char *text, bool *skip) {
  *skip = strcmp(text, "skip") == 0;
  return *skip || strcmp(text, "raise") == 0
             ? -1
             : cli_usage(verb, NULL, "--on-error takes raise or skip, not '%.40s'", text);
}

/* Options that are switches or texts: false if this is none of them. */
static bool set_plain(const option *o, const char *value, cli_settings *settings) {
  const struct {
    uint64_t id;
    const char **text;
    bool *on;
  } plain[] = {
      {OPTION_OUTPUT, &settings->output, NULL},
      {OPTION_SCHEMA, &settings->schema, NULL},
      {OPTION_FORMAT, &settings->format, NULL},
      {OPTION_TO, &settings->to, NULL},
      {OPTION_GROUP, &settings->group, NULL},
      {OPTION_ENVIRONMENT, &settings->environment, NULL},
      {OPTION_PROPOSE, NULL, &settings->propose},
      {OPTION_RAGGED, NULL, &settings->ragged},
      {OPTION_IMPORT, &settings->import_from, NULL},
      {OPTION_SEQUENCE_COLUMN, &settings->sequence_column, NULL},
      {OPTION_RAW_COLUMN, &settings->raw_column, NULL},
      {OPTION_FORCE, NULL, &settings->force},
      {OPTION_LOSSY, NULL, &settings->lossy},
      {OPTION_NO_CRC, NULL, &settings->no_crc},
      {OPTION_LEGACY, NULL, &settings->legacy},
      {OPTION_PYTHON, NULL, &settings->python},
      {OPTION_JSON, NULL, &settings->json},
      {OPTION_TEXT, NULL, &settings->text},
      {OPTION_NO_TENSORS, NULL, &settings->no_tensors},
      {OPTION_FULL, NULL, &settings->full},
      {OPTION_IGNORE_UNEXPECTED, NULL, &settings->ignore_unexpected},
      {OPTION_NO_HEADER, NULL, &settings->csv.no_header},
  };
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    if (plain[i].id == o->id) {
      if (plain[i].text != NULL) {
        *plain[i].text = value;
      } else {
        *plain[i].on = true;
      }
      return true;
    }
  }
  return false;
}

static int apply(const cli_verb *verb, const option *o, char *value, cli_settings *settings) {
  int64_t lines = 0;
  int status;
  if (set_plain(o, value, settings)) {
    return -1;
  }
  switch (o->id) {
    case OPTION_HELP:
      cli_print_help(verb);
      return cli_flush(CLI_FINE);
    case OPTION_ROWS:
      return parse_number(verb, o, value, 0, 100000, &settings->rows);
    case OPTION_NUMBER:
      return parse_number(verb, o, value, 0, MAX_NUMBER, &settings->number);
    case OPTION_GROUPS:
      settings->groups[settings->num_groups++] = value;
      return -1;
    case OPTION_PLACES:
      return parse_number(verb, o, value, 1, 1000, &settings->places);
    case OPTION_MAX_DOMAIN:
      return parse_number(verb, o, value, 1, MAX_NUMBER, &settings->max_domain);
    case OPTION_LEVEL:
      return parse_number(verb, o, value, -100, 100, &settings->level);
    case OPTION_BATCH_SIZE:
      return parse_number(verb, o, value, 1, MAX_NUMBER, &settings->batch_size);
    case OPTION_THREADS:
      return parse_number(verb, o, value, 1, 1024, &settings->threads);
    case OPTION_MAX_RECORD_SIZE:
      return parse_number(verb, o, value, 1, INT64_MAX, &settings->max_record_size);
    case OPTION_MAX_INFLATION:
      return parse_number(verb, o, value, 1, INT64_MAX, &settings->max_inflation);
    case OPTION_MAX_ERRORS:
      return parse_number(verb, o, value, 1, INT64_MAX, &settings->max_errors);
    case OPTION_SHARDS:
      return parse_number(verb, o, value, 1, 99999, &settings->shards);
    case OPTION_SHARD_SIZE:
      return parse_size(verb, o, value, &settings->shard_size);
    case OPTION_SEED:
      return parse_number(verb, o, value, 0, INT64_MAX, &settings->seed);
    case OPTION_ON_ERROR:
      return parse_on_error(verb, value, &settings->skip);
    case OPTION_COLUMNS:
      return parse_names(verb, o, value, &settings->columns, &settings->num_columns);
    case OPTION_NAMES:
      return parse_names(verb, o, value, &settings->csv.names, &settings->csv.num_names);
    case OPTION_MULTIVALENT:
      return parse_names(verb, o, value, &settings->csv.multivalent,
                         &settings->csv.num_multivalent);
    case OPTION_DELIMITER:
      return parse_character(verb, o, value, &settings->csv.delimiter);
    case OPTION_SECONDARY_DELIMITER:
      return parse_character(verb, o, value, &settings->csv.secondary_delimiter);
    case OPTION_COMMENT:
      return parse_character(verb, o, value, &settings->csv.comment);
    case OPTION_SKIP_LINES:
      status = parse_number(verb, o, value, 0, INT64_MAX, &lines);
      settings->csv.skip_lines = (uint64_t)lines;
      return status;
    default:
      return cli_usage(verb, NULL, "--%s cannot be used here", o->name);
  }
}

/* ---- the command line ---- */

/* One option at argv[*at]; *at is moved to its last argument. */
static int parse_option(const cli_verb *verb, int argc, char **argv, int *at,
                        cli_settings *settings) {
  char *arg = argv[*at];
  bool is_long = arg[1] == '-';
  size_t size = is_long ? strcspn(arg + 2, "=") : 1;
  const option *o = is_long ? find_name(verb, arg + 2, size) : find_letter(verb, arg[1]);
  if (o == NULL) {
    return unknown_option(verb, arg);
  }
  char *value = is_long ? arg + 2 + size + (arg[2 + size] == '=') : arg + 2;
  bool attached = is_long ? arg[2 + size] == '=' : arg[2] != '\0';
  if (o->value == NULL && attached) {
    return cli_usage(verb, NULL, "--%s takes no value", o->name);
  }
  if (o->value != NULL && !attached) {
    if (*at + 1 >= argc) {
      return cli_usage(verb, NULL, "--%s needs a value, %s", o->name, o->value);
    }
    value = argv[++*at];
  }
  return apply(verb, o, value, settings);
}

int cli_parse(const cli_verb *verb, int argc, char **argv, cli_settings *settings) {
  *settings = (cli_settings){.rows = 10, .number = 1000, .places = 1, .csv = CST_CSV_OPTIONS_INIT};
  settings->paths = calloc((size_t)argc + 1, sizeof(char *));
  settings->groups = calloc((size_t)argc + 1, sizeof(char *));
  if (settings->paths == NULL || settings->groups == NULL) {
    return cli_usage(verb, NULL, "out of memory");
  }
  bool only_paths = false;
  for (int i = 0; i < argc; i++) {
    if (only_paths || argv[i][0] != '-' || argv[i][1] == '\0') {
      settings->paths[settings->num_paths++] = argv[i];
    } else if (strcmp(argv[i], "--") == 0) {
      only_paths = true;
    } else {
      int status = parse_option(verb, argc, argv, &i, settings);
      if (status >= 0) {
        return status;
      }
    }
  }
  if (settings->num_paths < (size_t)verb->min_paths) {
    return cli_usage(verb, NULL, "usage: columnstone %s %s", verb->name, verb->usage);
  }
  return -1;
}

void cli_settings_reset(cli_settings *settings) {
  free((void *)settings->groups);
  free((void *)settings->columns);
  free((void *)settings->csv.names);
  free((void *)settings->csv.multivalent);
  free(settings->paths);
  *settings = (cli_settings){0};
}
