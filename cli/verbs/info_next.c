/* columnstone info, continued: the command that it says to try next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

/* As a shell takes it. */
static void print_word(const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
    fputs(word, stdout);
    return;
  }
  putchar('\'');
  for (;;) {
    size_t size = strcspn(word, "'");
    char *part = strndup(word, size);
    if (part != NULL) {
      cli_print_text(stdout, part);
      free(part);
    }
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
  return i < l->settings->num_paths;
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
