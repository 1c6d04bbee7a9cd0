/* All that --help tells, as JSON: tools/make_man makes man pages and Markdown of it. The tree has a
 * copy, cli/program.json, because a build for another machine cannot run the program.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static void print_member(const char *name, const char *value) {
  printf(", \"%s\": ", name);
  cli_json_string(stdout, value);
}

/* Names between commas, as a list. */
static void print_names(const char *names) {
  char name[64];
  const char *separator = "";
  printf(", \"see\": [");
  while (*names != '\0') {
    int size = (int)strcspn(names, ",");
    snprintf(name, sizeof name, "%.*s", size, names);
    fputs(separator, stdout);
    cli_json_string(stdout, name);
    separator = ", ";
    names += size;
    names += strspn(names, ", ");
  }
  printf("]");
}

/* The different options of all verbs: the same ones are those of many verbs. */
typedef struct option_list {
  cli_option_about *items;
  size_t count;
  bool failed;
} option_list;

static bool is_same(const cli_option_about *a, const cli_option_about *b) {
  return a->letter == b->letter && a->value == b->value && strcmp(a->name, b->name) == 0 &&
         strcmp(a->help, b->help) == 0;
}

/* The number of the option in the list, to which it is added if it is new. */
static size_t number_of(option_list *list, const cli_option_about *about) {
  for (size_t i = 0; i < list->count; i++) {
    if (is_same(&list->items[i], about)) {
      return i;
    }
  }
  cli_option_about *items = realloc(list->items, (list->count + 1) * sizeof *items);
  if (items == NULL) {
    list->failed = true;
    return 0;
  }
  list->items = items;
  items[list->count] = *about;
  return list->count++;
}

static void print_option_numbers(option_list *list, const cli_verb *verb) {
  cli_option_about about;
  const char *separator = "";
  printf(",\n  \"options\": [");
  for (size_t at = 0; cli_next_option(verb, &at, &about); separator = ", ") {
    printf("%s%zu", separator, number_of(list, &about));
  }
  printf("]");
}

static void print_options(const option_list *list) {
  printf(",\n\"options\": [");
  for (size_t i = 0; i < list->count; i++) {
    const cli_option_about *about = &list->items[i];
    char letter[2] = {about->letter, '\0'};
    printf("%s\n {\"name\": ", i > 0 ? "," : "");
    cli_json_string(stdout, about->name);
    print_member("letter", about->letter != 0 ? letter : NULL);
    print_member("value", about->value);
    print_member("help", about->help);
    printf("}");
  }
  printf("]");
}

static void print_examples(const cli_verb *verb) {
  const char *separator = "";
  printf(",\n  \"examples\": [");
  for (const cli_example *example = verb->examples; example->command != NULL; example++) {
    printf("%s\n   {\"command\": ", separator);
    cli_json_string(stdout, example->command);
    print_member("what", example->what);
    printf("}");
    separator = ",";
  }
  printf("]");
}

static void print_exits(const cli_verb *verb) {
  char room[CLI_EXIT_LINE];
  const char *separator = "";
  printf(",\n  \"exits\": [");
  for (size_t i = 0; cli_exit_line(verb, i, room) != NULL; i++) {
    printf("%s{\"status\": %c, \"meaning\": ", separator, room[0]);
    cli_json_string(stdout, room + 3);
    printf("}");
    separator = ", ";
  }
  printf("]");
}

static void print_verb(option_list *list, const cli_verb *verb) {
  printf("\n {\"name\": ");
  cli_json_string(stdout, verb->name);
  print_member("usage", verb->usage);
  print_member("summary", verb->summary);
  print_member("details", verb->details);
  print_option_numbers(list, verb);
  print_examples(verb);
  print_exits(verb);
  print_names(verb->see);
  printf("}");
}

int cli_describe(void) {
  const cli_verb *verb;
  option_list list = {0};
  printf("{\"summary\": ");
  cli_json_string(stdout, cli_overview_summary);
  print_member("details", cli_overview_text);
  print_exits(NULL);
  printf(",\n\"verbs\": [");
  for (size_t i = 0; (verb = cli_verb_get(i)) != NULL; i++) {
    fputs(i > 0 ? "," : "", stdout);
    print_verb(&list, verb);
  }
  printf("]");
  print_options(&list);
  printf("}\n");
  free(list.items);
  return list.failed ? cli_usage(NULL, NULL, "out of memory") : cli_flush(CLI_FINE);
}
