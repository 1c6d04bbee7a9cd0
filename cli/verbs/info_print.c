/* What a look at a file has found, for people and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

enum {
  SHOWN = 50,     /* features on a terminal or page; --json has all */
  MOST_WIDTH = 32 /* of a column of names or types */
};

static const char *describe_container(const char *name) {
  const cst_container_info *container;
  for (size_t i = 0; (container = cst_container_get(i)) != NULL; i++) {
    if (strcmp(container->name, name) == 0) {
      return container->description;
    }
  }
  return name;
}

/* "TFRecord of tf.Example". */
static void print_format(const info_look *l) {
  const cst_format_info *format = cli_format(l->format);
  if (l->container != NULL) {
    printf("%s", describe_container(l->container));
  }
  if (l->container == NULL || strcmp(l->format, "raw") != 0) {
    printf("%s%s", l->container != NULL ? " of " : "",
           format != NULL ? format->description : l->format);
  }
}

static void print_records(const info_look *l) {
  const char *unit = cli_is_records(l->format) ? "record" : "row";
  if (l->error.code != CST_OK) {
    printf("%" PRIu64 " sound %s%s before a fault", l->seen, unit, l->seen == 1 ? "" : "s");
  } else if (l->exact) {
    printf("%" PRIu64 " %s%s", l->total, unit, l->total == 1 ? "" : "s");
  } else if (l->total > 0) {
    uint64_t step = 1;
    while (l->total / step >= 100) {
      step *= 10;
    }
    printf("about %" PRIu64 " %ss (estimated by the first %" PRIu64 ")",
           (l->total + step / 2) / step * step, unit, l->seen);
  } else {
    printf("%" PRIu64 " %ss or more", l->seen, unit);
  }
}

static void print_values(const info_feature *f, char out[32]) {
  if (f->most < 0) {
    snprintf(out, 32, "%s", "");
  } else if (f->fewest == f->most) {
    snprintf(out, 32, "%" PRId64, f->most);
  } else {
    snprintf(out, 32, "%" PRId64 " to %" PRId64, f->fewest, f->most);
  }
}

static int display_columns(const char *text) {
  int count;
  cli_cut(text, MOST_WIDTH, &count);
  return count;
}

static int larger_width(int a, int b) { return a > b ? a : b; }

/* Their features are lists, of which nothing need be said. */
static bool is_of_examples(const info_look *l) {
  return cli_is_records(l->format) && strcmp(l->format, "message") != 0;
}

static void print_feature(const info_look *l, int64_t i, int name_width, int type_width,
                          int width) {
  char type[128], values[32], share[16] = "-";
  bool of_example = is_of_examples(l);
  info_feature f = info_feature_of(l, i);
  info_name_type(f.type, of_example, type, sizeof type);
  print_values(&f, values);
  if (l->batch.length > 0) {
    double percent = 100.0 * (double)f.present / (double)l->batch.length;
    bool odd = f.present > 0 && f.present < l->batch.length;
    percent = odd && percent > 99 ? 99 : odd && percent < 1 ? 1 : percent;
    snprintf(share, sizeof share, "%.0f %%", percent);
  }
  info_text whole, shown = {NULL, 0, 0, false};
  const char *example = info_example_of(l, i, &f, &whole);
  if (example != NULL) {
    cli_shortener shortener = {.put = info_text_put, .ctx = &shown};
    cli_shorten(&shortener, example, strlen(example));
  }
  printf("  ");
  cli_print_cell(f.type->name, name_width, true);
  printf("  ");
  cli_print_cell(type, type_width, true);
  printf("  %7s  ", share);
  if (shown.data == NULL || shown.failed) {
    fputs(values, stdout);
  } else {
    printf("%-9s  ", values);
    cli_print_cell(shown.data, larger_width(width - name_width - type_width - 26, 16), false);
  }
  printf("\n");
  free(whole.data);
  free(shown.data);
}

static void print_features(const info_look *l) {
  int names = (int)strlen("feature"), types = (int)strlen("type"), width = cli_width();
  int64_t count = l->schema.n_children < SHOWN ? l->schema.n_children : SHOWN;
  for (int64_t i = 0; i < count; i++) {
    char type[128];
    info_name_type(l->schema.children[i], is_of_examples(l), type, sizeof type);
    names = larger_width(names, display_columns(l->schema.children[i]->name));
    types = larger_width(types, display_columns(type));
  }
  if ((uint64_t)l->batch.length < (l->exact ? l->total : UINT64_MAX)) {
    printf("  Of the first %" PRId64 ":\n", l->batch.length);
  }
  cli_set_style(CLI_BOLD);
  printf("  %-*s  %-*s  %7s  %-9s  %s", names, "feature", types, "type", "present", "values",
         "example");
  cli_set_style(CLI_PLAIN);
  putchar('\n');
  for (int64_t i = 0; i < count; i++) {
    print_feature(l, i, names, types, width);
  }
  if (count < l->schema.n_children) {
    printf("  and %" PRId64 " more (--json prints all)\n", l->schema.n_children - count);
  }
}

/* What a feature of a schema is made of: numbers, text or bytes, in lists. */
static bool is_feature(const struct ArrowSchema *type) {
  if (strncmp(type->format, "+l", 2) == 0 || strncmp(type->format, "+L", 2) == 0) {
    type = type->children[0];
  }
  return type->format[0] != '\0' && type->format[1] == '\0' &&
         strchr("nbcCsSiIlLfguUzZ", type->format[0]) != NULL;
}

/* Feature lists are a struct that schemas have. */
static bool has_features_only(const info_look *l) {
  for (int64_t i = 0; i < l->schema.n_children; i++) {
    bool is_lists = strcmp(l->format, "sequence_example") == 0 && i + 1 == l->schema.n_children;
    if (!is_lists && !is_feature(l->schema.children[i])) {
      return false;
    }
  }
  return true;
}

/* JSON, which head prints, has no decimals. */
static bool has_decimals(const struct ArrowSchema *type) {
  bool has = type->format[0] == 'd';
  for (int64_t i = 0; i < type->n_children && !has; i++) {
    has = has_decimals(type->children[i]);
  }
  return has;
}

static void print_next_of_columns(const info_look *l) {
  if (!has_decimals(&l->schema)) {
    info_print_next_alike(l, "head", "");
  }
  if (has_features_only(l)) {
    info_print_next_alike(l, "schema infer", " -o schema.pbtxt");
  } else {
    info_print_next_alike(l, "schema tree", "");
  }
}

/* Nobody but their writer knows the type of messages. */
static void print_next_of_records(const info_look *l) {
  bool told = l->settings->source.format != NULL;
  info_print_next_alike(l, "head", told ? "" : " --format raw");
  printf("if they are protobuf messages, --proto-set FILE.desc (or .proto) tells which\n");
}

void info_print(const info_look *l) {
  char size[32];
  bool known = l->format[0] != '\0';
  bool fine = l->error.code == CST_OK;
  cli_print_text(stdout, l->path);
  if (l->file_bytes == 0) {
    printf(": empty\n");
    return;
  }
  printf(": ");
  if (known) {
    print_format(l);
  } else {
    printf("unknown");
  }
  printf("%s%s, %s", l->compression != NULL ? ", " : "",
         l->compression != NULL ? l->compression : "",
         l->file_bytes >= 0 ? cli_bytes((double)l->file_bytes, size) : "?");
  if (fine || l->seen > 0) {
    printf(", ");
    print_records(l);
  }
  printf("\n");
  if (l->schema.release != NULL && l->schema.n_children > 0) {
    print_features(l);
  }
  if (l->is_guess && l->guesses.records > 0) {
    info_print_guesses(l);
  } else if (!fine && l->error.code == CST_CORRUPT) {
    info_print_next_alike(l, "verify", "");
  } else if (fine && cli_message_of_input(l->settings) != NULL) {
    info_print_next_alike(l, "head", "");
  } else if (fine && l->schema.n_children > 0) {
    print_next_of_columns(l);
  } else if (fine && l->seen > 0) {
    print_next_of_records(l);
  }
}

static void print_feature_json(const info_look *l, int64_t i) {
  char type[128];
  info_feature f = info_feature_of(l, i);
  info_text whole;
  const char *example = info_example_of(l, i, &f, &whole);
  info_name_type(f.type, is_of_examples(l), type, sizeof type);
  printf("%s\n    {\"name\": ", i > 0 ? "," : "");
  cli_json_string(stdout, f.type->name);
  printf(", \"type\": \"%s\", \"present\": %" PRId64, type, f.present);
  if (f.most >= 0) {
    printf(", \"min_values\": %" PRId64 ", \"max_values\": %" PRId64, f.fewest, f.most);
  }
  printf(", \"example\": %s}", example != NULL ? example : "null");
  free(whole.data);
}

void info_print_json(const info_look *l, bool first) {
  printf("%s\n  {\"file\": ", first ? "" : ",");
  cli_json_string(stdout, l->path);
  printf(", \"format\": ");
  cli_json_string(stdout, l->format[0] != '\0' ? l->format : NULL);
  printf(", \"compression\": ");
  cli_json_string(stdout, l->compression);
  printf(", \"file_bytes\": %" PRId64 ",\n   \"records\": %" PRIu64 ", \"exact\": %s",
         l->file_bytes, l->error.code == CST_OK ? l->total : l->seen,
         l->exact && l->error.code == CST_OK ? "true" : "false");
  printf(", \"sampled\": %" PRId64 ",\n   \"features\": [", l->batch.length);
  for (int64_t i = 0; l->schema.release != NULL && i < l->schema.n_children; i++) {
    print_feature_json(l, i);
  }
  printf("]");
  if (l->is_guess) {
    info_print_guesses_json(l);
  }
  printf(",\n   \"error\": ");
  if (l->error.code == CST_OK) {
    printf("null}");
  } else {
    cli_json_error(stdout, &l->error);
    printf("}");
  }
}

/* True if the program does not print all of it as it is. */
static bool has_escapes(const char *word) {
  char none[1];
  size_t size = strlen(word);
  return cst_text_escape(none, sizeof none, word, size) != size;
}

/* As bash, zsh and ksh take it: $'a\011b'. */
static void print_escaped_word(const char *word) {
  fputs("$'", stdout);
  for (; *word != '\0'; word++) {
    const unsigned char c = (unsigned char)*word;
    if (c < 0x20 || c >= 0x7f) {
      printf("\\%03o", c);
    } else {
      printf("%s%c", c == '\'' || c == '\\' ? "\\" : "", c);
    }
  }
  putchar('\'');
}

/* As a shell takes it. */
static void print_word(const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
    fputs(word, stdout);
    return;
  }
  if (has_escapes(word)) {
    print_escaped_word(word);
    return;
  }
  putchar('\'');
  for (;;) {
    size_t size = strcspn(word, "'");
    printf("%.*s", (int)size, word);
    if (word[size] == '\0') {
      break;
    }
    fputs("'\\''", stdout);
    word += size + 1;
  }
  putchar('\'');
}

void info_print_quoted(const char *path) {
  fputs(path[0] == '-' ? "./" : "", stdout);
  print_word(path);
}

void info_print_next(const char *verb, const char *path, const char *rest) {
  printf("next: columnstone %s ", verb);
  info_print_quoted(path);
  printf("%s\n", rest);
}

/* Options are words that begin with '-', other than names of files. */
static void print_option(const char *word) {
  if (word[0] != '-') {
    info_print_quoted(word);
  } else {
    putchar('-');
    print_word(word + 1);
  }
}

static bool is_path(const info_look *l, const char *word) {
  size_t i = 0;
  while (i < l->settings->num_paths && l->settings->paths[i] != word) {
    i++;
  }
  return i < l->settings->num_paths || cli_names_artifact(word);
}

/* Of --format raw, where the records turned out to be more: the others read them as what they are.
 */
static bool is_outdated(const info_look *l, int i) {
  const char *format = l->settings->source.format, *word = l->options[i];
  if (format == NULL || strcmp(format, "raw") != 0 || strcmp(l->format, "raw") == 0) {
    return false;
  }
  bool has_it = format >= word && format <= word + strlen(word); /* --format=raw is one word */
  return has_it || (i + 1 < l->num_options && l->options[i + 1] == format);
}

void info_print_next_alike(const info_look *l, const char *verb, const char *rest) {
  printf("next: columnstone %s ", verb);
  info_print_quoted(l->path);
  for (int i = 0; i < l->num_options; i++) {
    const char *word = l->options[i];
    if (!is_path(l, word) && strcmp(word, "--") != 0 && !is_outdated(l, i)) {
      putchar(' ');
      print_option(word);
    }
  }
  printf("%s\n", rest);
}

void info_print_next_of(const info_look *l, const char *verb, const char *message) {
  char rest[sizeof l->guesses.list[0].message + 16];
  snprintf(rest, sizeof rest, " --message %s", message);
  info_print_next_alike(l, verb, rest);
}
