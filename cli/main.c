/* The command-line program: finds the verb. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* One of two words comes before one that is the first of them. */
static const cli_verb *const verbs[] = {
    &cli_info,
    &cli_head,
    &cli_count,
    &cli_verify,
    &cli_schema_infer,
    &cli_schema_spec,
    &cli_schema_check,
    &cli_schema_diff,
    &cli_schema_tree,
    &cli_convert,
    &cli_query_verb,
    &cli_repair,
    &cli_index,
    &cli_plan,
    &cli_split,
    &cli_accumulate,
    &cli_stats_diff,
    &cli_stats_merge,
    &cli_stats,
    &cli_merge,
    &cli_cat,
    &cli_sample,
    &cli_shuffle,
    &cli_view_build,
    &cli_view_show,
    &cli_view_check,
    &cli_view_diff,
    &cli_lineage_init,
    &cli_lineage_add,
    &cli_lineage_bind,
    &cli_lineage_ls,
    &cli_lineage_show,
    &cli_lineage_trace,
    &cli_lineage_graph,
    &cli_lineage_check,
    &cli_lineage_lease,
    &cli_lineage_import,
    &cli_lineage_export,
    &cli_lineage_openlineage,
    &cli_gc,
};

enum { NUM_VERBS = sizeof verbs / sizeof verbs[0] };

const cli_verb *cli_verb_get(size_t i) { return i < NUM_VERBS ? verbs[i] : NULL; }

/* The arguments that the verb's name takes: 2 for "schema infer"; 0 if it is not this verb. */
static int match_verb(const cli_verb *verb, int argc, char **argv) {
  const char *second = strchr(verb->name, ' ');
  if (second == NULL) {
    return strcmp(argv[0], verb->name) == 0 ? 1 : 0;
  }
  size_t size = (size_t)(second - verb->name);
  bool same = strlen(argv[0]) == size && memcmp(argv[0], verb->name, size) == 0;
  return same && argc > 1 && strcmp(argv[1], second + 1) == 0 ? 2 : 0;
}

/* "schema", "view" and "lineage" are the first words of several verbs. */
static bool begins_verbs(const char *word) {
  return strcmp(word, "schema") == 0 || strcmp(word, "view") == 0 || strcmp(word, "lineage") == 0;
}

static bool has_first_word(const cli_verb *verb, const char *word) {
  size_t size = strlen(word);
  return strncmp(verb->name, word, size) == 0 && verb->name[size] == ' ';
}

static int print_verbs_of(const char *word) {
  for (size_t i = 0; i < NUM_VERBS; i++) {
    if (has_first_word(verbs[i], word)) {
      printf("columnstone %s %s\n    %s\n", verbs[i]->name, verbs[i]->usage, verbs[i]->summary);
    }
  }
  return cli_flush(CLI_FINE);
}

/* A first word alone. */
static int run_first_word(int argc, const char *word) {
  char hint[48], message[48];
  snprintf(hint, sizeof hint, "see columnstone %s --help", word);
  snprintf(message, sizeof message, "incomplete verb '%s'", word);
  return argc > 2 ? print_verbs_of(word) : cli_usage(NULL, hint, "%s", message);
}

static int unknown_verb(int argc, char **argv) {
  const char *names[NUM_VERBS];
  char typed[64];
  bool two = argc > 1 && (begins_verbs(argv[0]) || strcmp(argv[0], "stats") == 0);
  snprintf(typed, sizeof typed, "%.30s%s%.30s", argv[0], two ? " " : "", two ? argv[1] : "");
  for (size_t i = 0; i < NUM_VERBS; i++) {
    names[i] = verbs[i]->name;
  }
  const char *near = cli_nearest(typed, names, NUM_VERBS);
  char hint[64];
  snprintf(hint, sizeof hint, "did you mean '%s'?", near != NULL ? near : "");
  return cli_usage(NULL, near != NULL ? hint : "see columnstone --help", "unknown verb '%s'",
                   typed);
}

static bool is_any(const char *text, const char *a, const char *b) {
  return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

/* `stats dif BEFORE AFTER`: no file, but nearly the second word of a verb. */
static bool is_mistyped(int argc, char **argv) {
  static const char *const words[] = {"diff", "merge"};
  return strcmp(argv[0], "stats") == 0 && argc > 1 && argv[1][0] != '-' &&
         strpbrk(argv[1], ".:/*?[") == NULL && access(argv[1], F_OK) != 0 &&
         cli_nearest(argv[1], words, 2) != NULL;
}

/* What shells and builds ask for; the help does not name it. -1: something else. */
static int run_hidden(int argc, char **argv) {
  if (strcmp(argv[1], "__describe") == 0) {
    return cli_describe();
  }
  if (strcmp(argv[1], "__complete") == 0 && argc > 2) {
    return cli_complete(atoi(argv[2]), argc - 3, argv + 3);
  }
  return -1;
}

/* `columnstone help VERB` is `columnstone VERB --help`; `help errors [KIND]` is of errors. */
static int run_help(int argc, char **argv) {
  for (size_t i = 0; i < NUM_VERBS; i++) {
    if (argc > 2 && match_verb(verbs[i], argc - 2, argv + 2) > 0) {
      return cli_show_help(verbs[i]);
    }
  }
  if (argc > 2 && begins_verbs(argv[2])) {
    return print_verbs_of(argv[2]);
  }
  if (argc > 2 && argc <= 4 && strcmp(argv[2], "errors") == 0) {
    return cli_show_kinds(argv[3]);
  }
  return argc > 2 ? unknown_verb(argc - 2, argv + 2) : cli_show_overview();
}

/* Arrow's memory, in plug-ins and in programs that serve formats: what a row group took is kept for
 * the next one, and large pages are not used, as to clear them takes longer than they save. The
 * user's own settings come first. */
static void choose_arrow_memory(void) {
  (void)setenv("MIMALLOC_PURGE_DELAY", "-1", 0);
  (void)setenv("MIMALLOC_ALLOW_THP", "0", 0);
}

int main(int argc, char **argv) {
  cli_catch_interrupts();
  choose_arrow_memory();
  if (argc < 2) {
    return cli_usage(NULL, "see columnstone --help", "no verb given");
  }
  if (is_any(argv[1], "--help", "-h") || strcmp(argv[1], "help") == 0) {
    return run_help(argc, argv);
  }
  if (is_any(argv[1], "--version", "-V")) {
    printf("columnstone %s\n", cst_version());
    return cli_flush(CLI_FINE);
  }
  int hidden = run_hidden(argc, argv);
  if (hidden >= 0) {
    return hidden;
  }
  for (size_t i = 0; i < NUM_VERBS; i++) {
    int used = match_verb(verbs[i], argc - 1, argv + 1);
    if (used > 1 || (used == 1 && !is_mistyped(argc - 1, argv + 1))) {
      return cli_end_status(verbs[i]->run(argc - 1 - used, argv + 1 + used));
    }
  }
  if (begins_verbs(argv[1]) && (argc == 2 || is_any(argv[2], "--help", "-h"))) {
    return run_first_word(argc, argv[1]);
  }
  return unknown_verb(argc - 1, argv + 1);
}
