/* columnstone __complete: what may stand for a word of a command line that is being typed. The
 * functions of the shells (cli/completions) call it. The first line tells what else the shell
 * completes: "files", "folders" or "none", and " nospace" if the word may go on. Each further line
 * is a word, and after a tab what it means.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { SAMPLE = 100 /* records that are read for columns */, DEEPEST = 4, MOST_PATH = 256 };

typedef struct completion {
  int at; /* the word in question */
  int argc;
  char **argv;
  const char *word;   /* argv[at], up to where it is typed; what follows "--name=" of such */
  const char *before; /* of the word, what candidates have to repeat: "--name=" */
  size_t num_before;
  const cli_verb *verb;
  int used; /* words of its name */
  /* the option whose value is asked for is argv[option_at]; -1: none */
  int option_at;
  cli_option_about option;
} completion;

static void print_candidate(const completion *c, const char *list, size_t size, const char *word,
                            const char *what) {
  if (strncmp(word, c->word + size, strlen(c->word + size)) == 0) {
    printf("%.*s%.*s%s\t", (int)c->num_before, c->before, (int)size, list, word);
    cli_print_text(stdout, what);
    putchar('\n');
  }
}

static void print_word(const completion *c, const char *word, const char *what) {
  print_candidate(c, "", 0, word, what);
}

/* ---- verbs ---- */

static bool begins_earlier(const char *name, size_t size, size_t i) {
  for (size_t k = 0; k < i; k++) {
    if (strncmp(cli_verb_get(k)->name, name, size) == 0 && cli_verb_get(k)->name[size] == ' ') {
      return true;
    }
  }
  return false;
}

static void complete_first_word(const completion *c) {
  const cli_verb *verb;
  puts("none");
  for (size_t i = 0; (verb = cli_verb_get(i)) != NULL; i++) {
    char word[32];
    size_t size = strcspn(verb->name, " ");
    snprintf(word, sizeof word, "%.*s", (int)size, verb->name);
    if (verb->name[size] == '\0') {
      print_word(c, word, verb->summary);
    } else if (strcmp(word, "stats") != 0 && !begins_earlier(verb->name, size, i)) {
      print_word(c, word, "several verbs");
    }
  }
  print_word(c, "help", "Shows the help of a verb");
  print_word(c, "--help", "Shows the verbs");
  print_word(c, "--version", "Shows the version");
}

/* The second words of verbs that begin with the first one, if there are any. */
static void print_second_words(const completion *c, const char *first) {
  const cli_verb *verb;
  size_t size = strlen(first);
  for (size_t i = 0; (verb = cli_verb_get(i)) != NULL; i++) {
    if (strncmp(verb->name, first, size) == 0 && verb->name[size] == ' ') {
      print_word(c, verb->name + size + 1, verb->summary);
    }
  }
}

static void find_verb(completion *c) {
  const cli_verb *verb;
  for (size_t i = 0; (verb = cli_verb_get(i)) != NULL && c->verb == NULL; i++) {
    const char *second = strchr(verb->name, ' ');
    size_t size = strcspn(verb->name, " ");
    bool same = strlen(c->argv[0]) == size && strncmp(c->argv[0], verb->name, size) == 0;
    int used = second != NULL ? 2 : 1;
    if (same && c->at >= used && (second == NULL || strcmp(c->argv[1], second + 1) == 0)) {
      c->verb = verb;
      c->used = used;
    }
  }
}

/* ---- options ---- */

/* True for "-c" and "--columns" (with `size` bytes) of an option that takes a value. */
static bool find_option(completion *c, const char *word, size_t size) {
  for (size_t at = 0; cli_next_option(c->verb, &at, &c->option);) {
    const cli_option_about *o = &c->option;
    bool is_long = size > 2 && strlen(o->name) == size - 2 && word[0] == '-' && word[1] == '-' &&
                   strncmp(word + 2, o->name, size - 2) == 0;
    bool is_letter = size == 2 && word[0] == '-' && o->letter != 0 && word[1] == o->letter;
    if ((is_long || is_letter) && o->value != NULL) {
      return true;
    }
  }
  return false;
}

/* Finds the option whose value the word is: "--to CSV", "--to=CSV" as one word, or as three, as
 * bash has it. */
static void find_value(completion *c) {
  const char *equals = strchr(c->word, '=');
  int at = c->at - 1;
  c->option_at = -1;
  if (strncmp(c->word, "--", 2) == 0 && equals != NULL) {
    if (find_option(c, c->word, (size_t)(equals - c->word))) {
      c->option_at = c->at;
      c->before = c->word;
      c->num_before = (size_t)(equals + 1 - c->word);
      c->word = equals + 1;
    }
    return;
  }
  if (strcmp(c->word, "=") == 0) {
    c->word = "";
  } else if (at > c->used && strcmp(c->argv[at], "=") == 0) {
    at--;
  }
  if (at >= c->used && find_option(c, c->argv[at], strlen(c->argv[at]))) {
    c->option_at = at;
  }
}

static void complete_options(const completion *c) {
  cli_option_about about;
  puts("none");
  for (size_t at = 0; cli_next_option(c->verb, &at, &about);) {
    char word[sizeof about.name + 2];
    snprintf(word, sizeof word, "--%s", about.name);
    about.help[strcspn(about.help, ";:")] = '\0';
    print_word(c, word, about.help);
  }
}

/* ---- columns ---- */

/* What comes before the last comma of a list. */
static size_t list_size(const completion *c) {
  const char *comma = strchr(c->option.value, ',') != NULL ? strrchr(c->word, ',') : NULL;
  return comma != NULL ? (size_t)(comma + 1 - c->word) : 0;
}

static bool is_plain(const char *name) {
  for (; *name != '\0'; name++) {
    if ((unsigned char)*name < ' ' || *name == 0x7f || *name == ',') {
      return false;
    }
  }
  return true;
}

/* The fields below a type, and below the lists that it is in. */
static void print_fields(const completion *c, const struct ArrowSchema *type, const char *path,
                         int depth) {
  while ((type->format[0] == '+' && (type->format[1] == 'l' || type->format[1] == 'L')) &&
         type->n_children == 1) {
    type = type->children[0];
  }
  if (strcmp(type->format, "+s") != 0 || depth >= DEEPEST) {
    return;
  }
  for (int64_t i = 0; i < type->n_children; i++) {
    char below[MOST_PATH];
    const char *name = type->children[i]->name;
    int size = snprintf(below, sizeof below, "%s%s%s", path, path[0] != '\0' ? "." : "", name);
    if (is_plain(name) && size < MOST_PATH) {
      print_candidate(c, c->word, list_size(c), below, "column");
      print_fields(c, type->children[i], below, depth + 1);
    }
  }
}

/* The words of the line but for the name of the verb, the word in question and its option. */
static char **other_words(const completion *c, int *count) {
  char **words = calloc((size_t)c->argc + 1, sizeof *words);
  *count = 0;
  for (int i = c->used; words != NULL && i < c->argc; i++) {
    bool is_own = i == c->at || (c->option_at >= 0 && i >= c->option_at && i < c->at);
    if (!is_own) {
      words[(*count)++] = c->argv[i];
    }
  }
  return words;
}

/* False if it is no data. */
static bool print_columns_of(const completion *c, const cli_settings *settings, const char *path) {
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema;
  cst_source *source;
  struct ArrowSchema type;
  if (access(path, R_OK) != 0 || cli_read_schema(settings, &schema, &error) != CST_OK) {
    return false;
  }
  cst_source_options options = cli_source_options(settings, schema);
  options.columns = NULL;
  options.num_columns = 0;
  options.sample_records = SAMPLE;
  options.threads = 1;
  cst_status status = cst_source_open(&path, 1, &options, &source, &error);
  cst_schema_release(schema);
  if (status == CST_OK) {
    status = cst_source_arrow_schema(source, &type, &error);
    if (status == CST_OK) {
      print_fields(c, &type, "", 0);
      type.release(&type);
    }
    cst_source_release(source);
  }
  return status == CST_OK;
}

static void complete_columns(const completion *c) {
  cli_verb verb = *c->verb;
  cli_settings settings;
  int count;
  char **words = other_words(c, &count);
  verb.min_paths = 0;
  puts(strchr(c->option.value, ',') != NULL ? "none nospace" : "none");
  if (words != NULL && cli_parse(&verb, count, words, &settings) < 0) {
    for (size_t i = 0; i < settings.num_paths; i++) {
      if (print_columns_of(c, &settings, settings.paths[i])) {
        break;
      }
    }
    cli_settings_reset(&settings);
  }
  free(words);
}

/* ---- values ---- */

static bool is_any_of(const char *text, const char *const *words) {
  while (*words != NULL && strcmp(*words, text) != 0) {
    words++;
  }
  return *words != NULL;
}

static void complete_format(const completion *c, bool writes) {
  const cst_format_info *format;
  puts("none");
  for (size_t i = 0; (format = cst_format_get(i)) != NULL; i++) {
    if (writes ? format->writes : format->reads) {
      print_word(c, format->name, format->description);
    }
  }
}

static void complete_container(const completion *c) {
  const cst_container_info *container;
  puts("none");
  for (size_t i = 0; (container = cst_container_get(i)) != NULL; i++) {
    print_word(c, container->name, container->description);
  }
}

static void complete_message_key(const completion *c) {
  const cst_option_info *info;
  puts("none nospace");
  for (size_t i = 0; (info = cst_message_option_get(i)) != NULL; i++) {
    char word[64];
    snprintf(word, sizeof word, "%s=", info->name);
    print_word(c, word, info->help != NULL ? info->help : "");
  }
}

static void complete_words(const completion *c, const char *const *words, size_t most) {
  puts("none");
  for (size_t i = 0; i < most && words[i] != NULL; i++) {
    print_word(c, words[i], "");
  }
}

static void complete_value(const completion *c) {
  static const char *const columns[] = {"columns",        "by", "weight", "multivalent", "path",
                                        "message-column", NULL};
  static const char *const files[] = {"FILE", "IDX", "STATS", "STORE", "REF|FILE", NULL};
  static const char *const kinds[] = {"drift", "skew", "version", NULL};
  const char *name = c->option.name;
  const cst_option_info *info = c->option.info;
  if (info != NULL && info->words[0] != NULL) {
    complete_words(c, info->words, CST_OPTION_WORDS);
  } else if (strcmp(name, "format") == 0 || strcmp(name, "to") == 0) {
    complete_format(c, name[0] == 't');
  } else if (strcmp(name, "container") == 0 || strcmp(name, "to-container") == 0) {
    complete_container(c);
  } else if (strcmp(name, "message-option") == 0 || strcmp(name, "to-message-option") == 0) {
    complete_message_key(c);
  } else if (strcmp(name, "kind") == 0) {
    complete_words(c, kinds, SIZE_MAX);
  } else if (is_any_of(c->option.value, files) || strncmp(name, "avro-", 5) == 0) {
    puts("files");
  } else if (is_any_of(name, columns) && strcmp(c->verb->name, "query") != 0) {
    complete_columns(c);
  } else {
    puts(strcmp(c->option.value, "FOLDER") == 0 ? "folders" : "none");
  }
}

/* ---- arguments ---- */

static void complete_argument(const completion *c) {
  static const char *const lists[] = {"artifacts", "executions", "contexts", "roots", NULL};
  static const char *const types[] = {"examples", "view", "schema", "statistics", "model", NULL};
  const char *name = c->verb->name;
  bool is_first = c->at == c->used;
  if (is_first && strcmp(name, "lineage ls") == 0) {
    complete_words(c, lists, SIZE_MAX);
  } else if (is_first && strcmp(name, "lineage add") == 0) {
    complete_words(c, types, SIZE_MAX);
  } else {
    puts("files");
    if (c->at == 1) { /* `stats` is a verb, and the first word of others */
      print_second_words(c, name);
    }
  }
}

int cli_complete(int at, int argc, char **argv) {
  completion c = {.at = at, .argc = argc, .argv = argv, .before = ""};
  bool is_silent = freopen("/dev/null", "w", stderr) != NULL; /* nobody asked for errors */
  if (!is_silent || at < 0 || at > argc) {
    return CLI_TROUBLE;
  }
  const bool is_help = argc > 0 && at > 0 && strcmp(argv[0], "help") == 0;
  if (is_help) {
    c.at--;
    c.argc--;
    c.argv++;
  }
  c.word = c.at < c.argc ? c.argv[c.at] : "";
  if (c.at == 0) {
    complete_first_word(&c);
    if (is_help) {
      print_word(&c, "errors", "Shows the kinds of errors");
    }
    return cli_flush(CLI_FINE);
  }
  find_verb(&c);
  if (c.verb == NULL) {
    puts("none");
    if (c.at == 1) {
      print_second_words(&c, c.argv[0]);
    }
    return cli_flush(CLI_FINE);
  }
  find_value(&c);
  if (c.option_at >= 0) {
    complete_value(&c);
  } else if (c.word[0] == '-') {
    complete_options(&c);
  } else {
    complete_argument(&c);
  }
  return cli_flush(CLI_FINE);
}
