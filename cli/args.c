/* The options: one table for all verbs, GNU style (-n 3, -n3, --rows 3, --rows=3, -- ends them). */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef enum option_type {
  TYPE_HELP,
  TYPE_SWITCH,
  TYPE_TEXT,
  TYPE_TEXTS,
  TYPE_NAMES,
  TYPE_NUMBER,
  TYPE_BYTES,
  TYPE_SOURCE,
  TYPE_SINK,
  TYPE_FORMAT_OPTION
} option_type;

/* In the order of options.def. */
typedef struct option { /* NOLINT(clang-analyzer-optin.performance.Padding) */
  char letter;          /* 0: none */
  const char *name;
  const char *value; /* what --help calls its value; NULL: a switch */
  option_type type;
  size_t offset, size; /* of what it sets in cli_settings */
  int64_t least, most;
  const char *help;
  const char *known; /* SOURCE, SINK: what the library calls it */
} option;

enum { MAX_NUMBER = 1000000000 };

static const option options[] = {
#define OPTION(id, letter, name, value, type, member, least, most, help) \
  {letter,                                                               \
   name,                                                                 \
   value,                                                                \
   TYPE_##type,                                                          \
   offsetof(cli_settings, member),                                       \
   sizeof((cli_settings *)NULL)->member,                                 \
   least,                                                                \
   most,                                                                 \
   help,                                                                 \
   NULL},
#define SOURCE(id, letter, name, known, more) \
  {letter, name, NULL, TYPE_SOURCE, 0, 0, 0, 0, more, known},
#define SINK(id, letter, name, known, more) \
  {letter, name, NULL, TYPE_SINK, 0, 0, 0, 0, more, known},
#include "options.def"
#undef OPTION
#undef SOURCE
#undef SINK
};

enum { NAME_ROOM = 64 };

/* ---- options that the library tells ---- */

/* What the library says of an option of sources or of sinks; NULL for others. */
static const cst_option_info *info_of(const option *o) {
  const cst_option_info *(*get)(size_t) =
      o->type == TYPE_SINK ? cst_sink_option_get : cst_source_option_get;
  const cst_option_info *info = NULL;
  for (size_t i = 0; o->known != NULL && (info = get(i)) != NULL; i++) {
    if (strcmp(info->name, o->known) == 0) {
      break;
    }
  }
  return info;
}

/* What --help calls the value; NULL: it has none. */
static const char *value_name(const cst_option_info *info) {
  switch (info->kind) {
    case CST_OPTION_SWITCH:
      return NULL;
    case CST_OPTION_NUMBER:
      return "N";
    case CST_OPTION_REAL:
      return "X";
    case CST_OPTION_CHARACTER:
      return "C";
    case CST_OPTION_NAMES:
      return "A,B";
    case CST_OPTION_WORD:
    case CST_OPTION_TEXT:
      break;
  }
  return "NAME";
}

static const char *value_of(const option *o) {
  const cst_option_info *info = info_of(o);
  return info != NULL ? value_name(info) : o->value;
}

/* One as the program has it: --skip-lines, and --no-header of a switch that is usually on. */
typedef struct format_flag {
  const char *format;
  const cst_option_info *info;
  char name[NAME_ROOM];
} format_flag;

static bool turns_off(const cst_option_info *info) {
  return info->kind == CST_OPTION_SWITCH && info->usual != NULL && strcmp(info->usual, "true") == 0;
}

static void name_flag(format_flag *flag) {
  snprintf(flag->name, sizeof flag->name, "%s%s", turns_off(flag->info) ? "no-" : "",
           flag->info->name);
  for (char *c = flag->name; *c != '\0'; c++) {
    *c = *c == '_' ? '-' : *c;
  }
}

bool cli_takes(const cli_verb *verb, cli_option_id wanted) {
  const cli_option_id *id = verb->options;
  while (*id != OPTION_HELP && *id != wanted) {
    id++;
  }
  return *id == wanted;
}

static bool verb_takes(const cli_verb *verb, const cst_option_info *info) {
  for (const cli_option_id *id = verb->options; *id != OPTION_HELP; id++) {
    if ((*id == OPTIONS_FORMATS && info->reads) ||
        (*id == OPTIONS_FORMATS_BOTH && (info->reads || info->writes))) {
      return true;
    }
  }
  return false;
}

/* The options of formats that a verb takes: number *at on; false: no more. */
static bool next_flag(const cli_verb *verb, size_t *at, format_flag *flag) {
  const cst_format_info *format;
  size_t seen = 0;
  for (size_t i = 0; (format = cst_format_get(i)) != NULL; i++) {
    flag->format = format->name;
    for (size_t k = 0;
         !format->is_plugin && (flag->info = cst_format_option_get(format->name, k)) != NULL; k++) {
      if (seen++ >= *at && verb_takes(verb, flag->info)) {
        *at = seen;
        name_flag(flag);
        return true;
      }
    }
  }
  return false;
}

/* The one that is called so, or has this letter. */
static bool find_flag(const cli_verb *verb, const char *name, size_t size, char letter,
                      format_flag *flag) {
  for (size_t at = 0; next_flag(verb, &at, flag);) {
    bool is_named =
        name != NULL && strlen(flag->name) == size && memcmp(flag->name, name, size) == 0;
    if (is_named || (letter != 0 && flag->info->letter == letter)) {
      return true;
    }
  }
  return false;
}

cst_status cli_add_format_option(cli_settings *settings, const char *name, const char *value,
                                 cst_error *error) {
  size_t count = settings->formats.num_input;
  cst_option *list = realloc(settings->formats.input, (count + 1) * sizeof *list);
  if (list == NULL) {
    return cli_fail_memory(error);
  }
  list[count] = (cst_option){.name = name, .value = value};
  settings->formats.input = list;
  settings->formats.num_input = count + 1;
  return CST_OK;
}

static int add_format_option(const char *name, const char *value, cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  return cli_add_format_option(settings, name, value, &error) == CST_OK ? -1 : cli_fail(&error);
}

static int add_flag(const format_flag *flag, const char *value, cli_settings *settings) {
  const char *switched = turns_off(flag->info) ? "false" : "true";
  return add_format_option(flag->info->name, value != NULL ? value : switched, settings);
}

/* NAME=VALUE, cut in place: argv belongs to the program. */
static int add_named_option(const cli_verb *verb, char *text, cli_settings *settings) {
  char *equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    return cli_usage(verb, NULL, "--format-option takes NAME=VALUE, not '%.40s'", text);
  }
  *equals = '\0';
  return add_format_option(text, equals + 1, settings);
}

/* True if the option matters to reading, or to writing, files of the format. */
static bool uses(const char *format, const char *name, bool reads) {
  const cst_option_info *info;
  for (size_t i = 0; (info = cst_format_option_get(format, i)) != NULL; i++) {
    if ((reads ? info->reads : info->writes) && strcmp(info->name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* True if nobody but the format's plug-in can say whether it has the option: a program is asked
 * when it is used. */
static bool may_be_of_program(const char *format, const char *name) {
  const cst_format_info *info;
  for (size_t i = 0; (info = cst_format_get(i)) != NULL; i++) {
    if (!info->is_plugin && (strcmp(info->name, format) == 0 || uses(info->name, name, true) ||
                             uses(info->name, name, false))) {
      return false;
    }
  }
  return cst_format_option_get(format, 0) == NULL;
}

/* The format that an output is written by if it takes the option; NULL: it does not. `format` is
 * NULL for records, whose columns will tell it. */
static const char *format_of_output(const char *format, const char *name) {
  const cst_format_info *info;
  if (format != NULL) {
    return uses(format, name, false) || may_be_of_program(format, name) ? format : NULL;
  }
  for (size_t i = 0; (info = cst_format_get(i)) != NULL; i++) {
    if (info->is_records && uses(info->name, name, false)) {
      return info->name;
    }
  }
  return NULL;
}

cst_status cli_share_options(cli_settings *settings, const char *output, cst_error *error) {
  const char *format;
  cst_sink_options sink = cli_sink_options(settings);
  cst_status status = cst_sink_format(output, &sink, &format, error);
  size_t count = settings->formats.num_input;
  if (status != CST_OK || count == 0) {
    return status;
  }
  cst_option *taken = calloc(count, sizeof *taken);
  if (taken == NULL) {
    error->code = CST_NO_MEMORY;
    return CST_NO_MEMORY;
  }
  settings->formats.output = taken;
  settings->formats.num_input = 0;
  for (size_t i = 0; i < count; i++) {
    cst_option given = settings->formats.input[i];
    given.format = format_of_output(format, given.name);
    if (given.format != NULL) { /* the input may be of another format */
      taken[settings->formats.num_output++] = given;
    }
    if (given.format == NULL || uses(given.format, given.name, true) ||
        may_be_of_program(given.format, given.name)) {
      settings->formats.input[settings->formats.num_input++] = given;
    }
  }
  return CST_OK;
}

/* ---- what --help tells of options ---- */

/* The options that a verb takes, in the order of the table: the next one from *at on; NULL: no
 * more.
 */
static const option *next_option(const cli_verb *verb, size_t *at) {
  for (; *at < CLI_NUM_OPTIONS; (*at)++) {
    const cli_option_id *id = verb->options;
    bool of_formats = *at == OPTION_FORMAT_OPTION; /* of verbs that take those */
    while (*id != OPTION_HELP && *id != *at &&
           !(of_formats && (*id == OPTIONS_FORMATS || *id == OPTIONS_FORMATS_BOTH))) {
      id++;
    }
    if (*id == *at || (of_formats && *id != OPTION_HELP)) {
      return &options[(*at)++];
    }
  }
  return NULL;
}

static void print_containers(FILE *out) {
  const cst_container_info *container;
  for (size_t i = 0; (container = cst_container_get(i)) != NULL; i++) {
    fprintf(out, "%s%s", i == 0 ? "" : ", ", container->name);
  }
}

/* Text at whose end READABLE, WRITABLE, CONTAINERS and KEYS are replaced by names. */
static void print_option_help(FILE *out, const char *help) {
  const char *names = help;
  while (*names != '\0' && strcmp(names, "READABLE") != 0 && strcmp(names, "WRITABLE") != 0 &&
         strcmp(names, "CONTAINERS") != 0 && strcmp(names, "KEYS") != 0) {
    names++;
  }
  fprintf(out, "%.*s", (int)(names - help), help);
  if (*names == 'C') {
    print_containers(out);
  } else if (*names == 'K') {
    cli_print_message_keys(out);
  } else if (*names != '\0') {
    cli_print_formats(out, *names == 'W');
  }
}

/* The words of options whose help has "a, b or c" for them are not repeated. */
static void print_words(FILE *out, const cst_option_info *info) {
  if (info->words[0] == NULL || strstr(info->help, info->words[0]) != NULL) {
    return;
  }
  for (size_t i = 0; i < CST_OPTION_WORDS && info->words[i] != NULL; i++) {
    fprintf(out, "%s%s", i == 0 ? ": " : ", ", info->words[i]);
  }
  if (info->usual != NULL) {
    fprintf(out, " (%s)", info->usual);
  }
}

static void describe_option(const option *o, cli_option_about *about) {
  const cst_option_info *info = info_of(o);
  *about = (cli_option_about){.letter = o->letter, .value = value_of(o), .info = info};
  snprintf(about->name, sizeof about->name, "%s", o->name);
  FILE *out = fmemopen(about->help, sizeof about->help, "w");
  if (out != NULL) {
    fprintf(out, "%s%s", info != NULL && turns_off(info) ? "do not " : "",
            info != NULL ? info->help : "");
    print_option_help(out, o->help);
    fclose(out);
  }
}

static void describe_flag(const format_flag *flag, cli_option_about *about) {
  *about = (cli_option_about){
      .letter = flag->info->letter, .value = value_name(flag->info), .info = flag->info};
  snprintf(about->name, sizeof about->name, "%s", flag->name);
  FILE *out = fmemopen(about->help, sizeof about->help, "w");
  if (out != NULL) {
    fprintf(out, "%s: %s%s", cli_format(flag->format)->description,
            turns_off(flag->info) ? "do not " : "", flag->info->help);
    print_words(out, flag->info);
    fclose(out);
  }
}

/* --help comes last, after the options of formats. */
bool cli_next_option(const cli_verb *verb, size_t *at, cli_option_about *about) {
  format_flag flag;
  if (*at <= OPTION_HELP) {
    const option *o = next_option(verb, at);
    if (o != NULL && o->type != TYPE_HELP) {
      describe_option(o, about);
      return true;
    }
    *at = CLI_NUM_OPTIONS;
  }
  size_t flags = *at - CLI_NUM_OPTIONS;
  if (*at != SIZE_MAX && next_flag(verb, &flags, &flag)) {
    *at = flags + CLI_NUM_OPTIONS;
    describe_flag(&flag, about);
    return true;
  }
  if (*at != SIZE_MAX) {
    *at = SIZE_MAX;
    describe_option(&options[OPTION_HELP], about);
    return true;
  }
  return false;
}

/* ---- finding an option ---- */

static const option *find_letter(const cli_verb *verb, char letter) {
  const option *o;
  for (size_t at = 0; (o = next_option(verb, &at)) != NULL;) {
    if (o->letter == letter) {
      return o;
    }
  }
  return NULL;
}

static const option *find_name(const cli_verb *verb, const char *name, size_t size) {
  const option *o;
  for (size_t at = 0; (o = next_option(verb, &at)) != NULL;) {
    if (strlen(o->name) == size && memcmp(o->name, name, size) == 0) {
      return o;
    }
  }
  return NULL;
}

static int unknown_option(const cli_verb *verb, const char *arg) {
  enum { MOST_FLAGS = 64 };
  const char *names[CLI_NUM_OPTIONS + MOST_FLAGS];
  format_flag flags[MOST_FLAGS];
  size_t count = 0;
  const option *o;
  for (size_t at = 0; (o = next_option(verb, &at)) != NULL;) {
    names[count++] = o->name;
  }
  size_t num_flags = 0;
  for (size_t at = 0; num_flags < MOST_FLAGS && next_flag(verb, &at, &flags[num_flags]);) {
    names[count++] = flags[num_flags++].name;
  }
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
  const char *near = strncmp(name, "--", 2) == 0 ? cli_nearest(name + 2, names, count) : NULL;
  char hint[96];
  snprintf(hint, sizeof hint, "did you mean --%s?", near != NULL ? near : "");
  return cli_usage(verb, near != NULL ? hint : NULL, "unknown option %s", name);
}

/* ---- values ---- */

/* What the option sets. */
static void *place_in(cli_settings *settings, size_t offset) { return (char *)settings + offset; }

static int parse_number(const cli_verb *verb, const option *o, const char *text, int64_t factor,
                        cli_settings *settings) {
  char *end;
  int64_t most = o->most / factor;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < o->least || value > most) {
    return cli_usage(verb, NULL, "--%s takes a number from %lld to %lld, not '%.40s'", o->name,
                     (long long)o->least, (long long)most, text);
  }
  int64_t wide = value * factor;
  int32_t narrow = (int32_t)wide;
  memcpy(place_in(settings, o->offset), o->size == sizeof narrow ? (void *)&narrow : (void *)&wide,
         o->size);
  return -1;
}

/* Bytes, as a number with or without a unit: 64M or 64MiB. */
static int parse_bytes(const cli_verb *verb, const option *o, const char *text,
                       cli_settings *settings) {
  static const char units[] = "KMGT";
  char digits[24];
  const size_t size = strlen(text);
  const size_t end = size > 3 && strcmp(text + size - 2, "iB") == 0 ? size - 2 : size;
  const char *unit = end > 1 ? strchr(units, text[end - 1]) : NULL;
  int64_t factor = unit != NULL ? (int64_t)1 << (10 * (unit - units + 1)) : 1;
  (void)snprintf(digits, sizeof digits, "%.*s", (int)(unit != NULL ? end - 1 : size), text);
  return parse_number(verb, o, digits, factor, settings);
}

/* A list of strings and its length. */
static void set_option_list(const option *o, const char **list, size_t count,
                            cli_settings *settings) {
  memcpy(place_in(settings, o->offset), &list, sizeof list);
  memcpy(place_in(settings, (size_t)o->least), &count, sizeof count);
}

static const char **option_list(const option *o, cli_settings *settings, size_t *count) {
  const char **list;
  memcpy(&list, place_in(settings, o->offset), sizeof list);
  memcpy(count, place_in(settings, (size_t)o->least), sizeof *count);
  return list;
}

static int add_text(const cli_verb *verb, const option *o, const char *text,
                    cli_settings *settings) {
  size_t count;
  const char **before = option_list(o, settings, &count);
  const char **list = realloc((void *)before, (count + 1) * sizeof *list);
  if (list == NULL) {
    return cli_usage(verb, NULL, "out of memory");
  }
  list[count] = text;
  set_option_list(o, list, count + 1, settings);
  return -1;
}

/* Splits at commas, in place: argv belongs to the program. */
static int parse_names(const cli_verb *verb, const option *o, char *text, cli_settings *settings) {
  size_t count = 1;
  size_t before;
  for (const char *c = text; *c != '\0'; c++) {
    count += *c == ',';
  }
  const char **names = calloc(count, sizeof *names);
  if (names == NULL) {
    return cli_usage(verb, NULL, "out of memory");
  }
  free((void *)option_list(o, settings, &before));
  set_option_list(o, names, count, settings);
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

/* An option of the source or the output: of a switch, which has no value, what is not usual. */
static int set_known(const cli_verb *verb, const option *o, const char *value,
                     cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  const cst_option_info *info = info_of(o);
  if (info != NULL && info->kind == CST_OPTION_SWITCH) {
    value = turns_off(info) ? "false" : "true";
  }
  cst_status status = o->type == TYPE_SINK
                          ? cst_sink_options_set(&settings->sink, o->known, value, &error)
                          : cst_source_options_set(&settings->source, o->known, value, &error);
  if (status == CST_OK) {
    return -1;
  }
  const char *said = strstr(error.message, " is ");
  return cli_usage(verb, error.hint[0] != '\0' ? error.hint : NULL, "--%s%s", o->name,
                   said != NULL ? said : "");
}

static int apply(const cli_verb *verb, const option *o, char *value, cli_settings *settings) {
  void *place = place_in(settings, o->offset);
  switch (o->type) {
    case TYPE_SWITCH:
      *(bool *)place = true;
      return -1;
    case TYPE_TEXT:
      *(const char **)place = value;
      return -1;
    case TYPE_TEXTS:
      return add_text(verb, o, value, settings);
    case TYPE_NAMES:
      return parse_names(verb, o, value, settings);
    case TYPE_NUMBER:
      return parse_number(verb, o, value, 1, settings);
    case TYPE_BYTES:
      return parse_bytes(verb, o, value, settings);
    case TYPE_FORMAT_OPTION:
      return add_named_option(verb, value, settings);
    case TYPE_SOURCE:
    case TYPE_SINK:
      return set_known(verb, o, value, settings);
    case TYPE_HELP:
      break;
  }
  return cli_show_help(verb);
}

/* ---- the command line ---- */

/* One option at argv[*at]; *at is moved to its last argument. */
static int parse_option(const cli_verb *verb, int argc, char **argv, int *at,
                        cli_settings *settings) {
  char *arg = argv[*at];
  bool is_long = arg[1] == '-';
  size_t size = is_long ? strcspn(arg + 2, "=") : 1;
  const option *o = is_long ? find_name(verb, arg + 2, size) : find_letter(verb, arg[1]);
  format_flag flag;
  bool is_flag =
      o == NULL && find_flag(verb, is_long ? arg + 2 : NULL, size, is_long ? 0 : arg[1], &flag);
  if (o == NULL && !is_flag) {
    return unknown_option(verb, arg);
  }
  const char *name = is_flag ? flag.name : o->name;
  const char *takes = is_flag ? value_name(flag.info) : value_of(o);
  char *value = is_long ? arg + 2 + size + (arg[2 + size] == '=') : arg + 2;
  bool attached = is_long ? arg[2 + size] == '=' : arg[2] != '\0';
  if (takes == NULL && attached) {
    return cli_usage(verb, NULL, "--%s takes no value", name);
  }
  if (takes != NULL && !attached) {
    if (*at + 1 >= argc) {
      return cli_usage(verb, NULL, "--%s needs a value, %s", name, takes);
    }
    value = argv[++*at];
  }
  return is_flag ? add_flag(&flag, takes != NULL ? value : NULL, settings)
                 : apply(verb, o, value, settings);
}

int cli_parse(const cli_verb *verb, int argc, char **argv, cli_settings *settings) {
  *settings = (cli_settings){.source = CST_SOURCE_OPTIONS_INIT,
                             .sink = CST_SINK_OPTIONS_INIT,
                             .specs = CST_SPECS_OPTIONS_INIT,
                             .validation = CST_VALIDATE_OPTIONS_INIT,
                             .finding = {.proposal = CST_PROPOSE_OPTIONS_INIT},
                             .message = {.options = CST_MESSAGE_OPTIONS_INIT},
                             .rows = 10,
                             .lineage = {.artifact = {.span = -1}},
                             .choice = {.number = 1000}};
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
  int status = cli_expand_lineage(verb, settings);
  status = status < 0 ? cli_read_messages(verb, settings) : status;
  return status < 0 ? cli_read_view(verb, settings) : status;
}

void cli_settings_reset(cli_settings *settings) {
  for (size_t i = 0; i < CLI_NUM_OPTIONS; i++) {
    if (options[i].type == TYPE_NAMES || options[i].type == TYPE_TEXTS) {
      size_t count;
      free((void *)option_list(&options[i], settings, &count));
      set_option_list(&options[i], NULL, 0, settings);
    }
  }
  free(settings->formats.input);
  free(settings->formats.output);
  settings->formats.input = settings->formats.output = NULL;
  free((void *)settings->paths);
  settings->paths = NULL;
  cst_descriptors_release(settings->message.descriptors);
  settings->message.descriptors = NULL;
  cli_lineage_inputs_free(settings->lineage.inputs);
  settings->lineage.inputs = NULL;
  cst_view_release((cst_view *)(uintptr_t)settings->source.view);
  settings->source.view = NULL;
}
