/* The options: one table for all verbs, GNU style (-n 3, -n3, --rows 3, --rows=3, -- ends them). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct option {
  int id;
  char letter; /* 0: none */
  const char *name;
  const char *value; /* what --help calls its value; NULL: a switch */
  const char *help;
} option;

static const option options[] = {
    {OPTION_ROWS, 'n', "rows", "N", "records to show, at most 100000 (10)"},
    {OPTION_OUTPUT, 'o', "output", "FILE", "write the schema there instead of to standard output"},
    {OPTION_SCHEMA, 's', "schema", "FILE", "TFMD schema, as text or binary"},
    {OPTION_COLUMNS, 'c', "columns", "A,B", "only these columns, in this order"},
    {OPTION_FORMAT, 'f', "format", "NAME",
     "what the input holds: example, raw or a plug-in's name"},
    {OPTION_TO, 't', "to", "NAME",
     "output format: example, raw, arrow, arrows, json, parquet, ..."},
    {OPTION_FORCE, 0, "force", NULL, "overwrite an output file that exists"},
    {OPTION_LEVEL, 0, "level", "N", "level of compression; 0 is the usual one (0)"},
    {OPTION_LOSSY, 0, "lossy", NULL, "round what the output cannot hold exactly"},
    {OPTION_BATCH_SIZE, 'b', "batch-size", "N", "rows of a record batch (1024)"},
    {OPTION_THREADS, 'j', "threads", "N", "threads that read and decode (2, or 1 on one core)"},
    {OPTION_NO_CRC, 0, "no-crc", NULL, "do not check the checksums of the records"},
    {OPTION_MAX_RECORD_SIZE, 0, "max-record-size", "N", "bytes that a record may have (256 MiB)"},
    {OPTION_MAX_INFLATION, 0, "max-inflation", "N",
     "bytes that a compressed byte may become, beyond 64 MiB (200)"},
    {OPTION_GROUP, 'g', "group", "NAME", "tensor_representation_group of the schema"},
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
static int parse_columns(const cli_verb *verb, char *text, cli_settings *settings) {
  size_t count = 1;
  for (const char *c = text; *c != '\0'; c++) {
    count += *c == ',';
  }
  free(settings->columns);
  settings->columns = calloc(count, sizeof(char *));
  settings->num_columns = count;
  if (settings->columns == NULL) {
    return cli_usage(verb, NULL, "out of memory");
  }
  for (size_t i = 0; i < count; i++) {
    size_t size = strcspn(text, ",");
    if (size == 0) {
      return cli_usage(verb, NULL, "--columns has an empty name");
    }
    text[size] = '\0';
    settings->columns[i] = text;
    text += size + 1;
  }
  return -1;
}

static int apply(const cli_verb *verb, const option *o, char *value, cli_settings *settings) {
  switch (o->id) {
    case OPTION_HELP:
      cli_print_help(verb);
      return cli_flush(CLI_FINE);
    case OPTION_ROWS:
      return parse_number(verb, o, value, 0, 100000, &settings->rows);
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
    case OPTION_COLUMNS:
      return parse_columns(verb, value, settings);
    case OPTION_OUTPUT:
      settings->output = value;
      break;
    case OPTION_SCHEMA:
      settings->schema = value;
      break;
    case OPTION_FORMAT:
      settings->format = value;
      break;
    case OPTION_TO:
      settings->to = value;
      break;
    case OPTION_GROUP:
      settings->group = value;
      break;
    case OPTION_FORCE:
      settings->force = true;
      break;
    case OPTION_LOSSY:
      settings->lossy = true;
      break;
    case OPTION_NO_CRC:
      settings->no_crc = true;
      break;
    case OPTION_LEGACY:
      settings->legacy = true;
      break;
    case OPTION_PYTHON:
      settings->python = true;
      break;
    case OPTION_JSON:
      settings->json = true;
      break;
  }
  return -1;
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
  *settings = (cli_settings){.rows = 10};
  settings->paths = calloc((size_t)argc + 1, sizeof(char *));
  if (settings->paths == NULL) {
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
  free(settings->columns);
  free(settings->paths);
  *settings = (cli_settings){0};
}
