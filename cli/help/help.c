/* --help: the texts of the verbs, wrapped to the terminal. The man pages have the same texts, see
 * describe.c.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

enum { NARROWEST = 40, WIDEST = 100, NAMES_WIDTH = 27 };

static int text_width(void) {
  int width = cli_width();
  return width < NARROWEST ? NARROWEST : width > WIDEST ? WIDEST : width;
}

/* Prints text from column `at` on; further lines begin at `indent`. Paragraphs are separated by
 * blank lines. */
static void print_wrapped(FILE *out, const char *text, int at, int indent) {
  const int width = text_width();
  bool is_first = true;
  while (*text != '\0') {
    int size = (int)strcspn(text, " \n");
    if (!is_first && at + 1 + size > width) {
      fprintf(out, "\n%*s", indent, "");
      at = indent;
      is_first = true;
    }
    at += fprintf(out, "%s%.*s", is_first ? "" : " ", size, text);
    is_first = false;
    text += size;
    if (*text == '\n') {
      size_t ends = strspn(text, "\n");
      fprintf(out, "%s%*s", ends > 1 ? "\n\n" : "\n", indent, "");
      at = indent;
      is_first = true;
    }
    text += strspn(text, " \n");
  }
  fputc('\n', out);
}

static void print_heading(FILE *out, const char *heading) {
  fprintf(out, "\n%s%s%s\n", cli_style_code(CLI_BOLD, stdout), heading,
          cli_style_code(CLI_PLAIN, stdout));
}

static void print_option(FILE *out, const cli_option_about *about) {
  char letter[5] = "   ";
  if (about->letter != 0) {
    snprintf(letter, sizeof letter, "-%c,", about->letter);
  }
  int at = fprintf(out, "  %s --%s%s%s", letter, about->name, about->value != NULL ? " " : "",
                   about->value != NULL ? about->value : "");
  if (at + 2 > NAMES_WIDTH) {
    fputc('\n', out);
    at = 0;
  }
  fprintf(out, "%*s", NAMES_WIDTH - at, "");
  print_wrapped(out, about->help, NAMES_WIDTH, NAMES_WIDTH);
}

static void print_options(FILE *out, const cli_verb *verb) {
  cli_option_about about;
  print_heading(out, "Options:");
  for (size_t at = 0; cli_next_option(verb, &at, &about);) {
    print_option(out, &about);
  }
}

static void print_examples(FILE *out, const cli_verb *verb) {
  print_heading(out, "Examples:");
  for (const cli_example *example = verb->examples; example->command != NULL; example++) {
    fprintf(out, "  %s\n      ", example->command);
    print_wrapped(out, example->what, 6, 6);
  }
}

/* NULL: the verb never gives this status. */
static const char *meaning_of(const cli_verb *verb, char status) {
  const char *line = verb == NULL ? "1 faults in the data\n3 view diff: the rows may differ"
                     : verb->exits != NULL ? verb->exits
                                           : "";
  if (status == '0') {
    return "success";
  }
  if (status == '2') {
    return "wrong usage, a missing file, an I/O error, or something that is not supported";
  }
  while (*line != '\0' && *line != status) {
    line += strcspn(line, "\n");
    line += *line == '\n';
  }
  return *line != '\0' ? line + 2 : NULL;
}

const char *cli_exit_line(const cli_verb *verb, size_t i, char room[CLI_EXIT_LINE]) {
  for (const char *status = "0123"; *status != '\0'; status++) {
    const char *meaning = meaning_of(verb, *status);
    if (meaning != NULL && i-- == 0) {
      snprintf(room, CLI_EXIT_LINE, "%c  %.*s", *status, (int)strcspn(meaning, "\n"), meaning);
      return room;
    }
  }
  return NULL;
}

static void print_exits(FILE *out, const cli_verb *verb) {
  char room[CLI_EXIT_LINE];
  print_heading(out, "Exit status:");
  for (size_t i = 0; cli_exit_line(verb, i, room) != NULL; i++) {
    fputs("  ", out);
    print_wrapped(out, room, 2, 5);
  }
}

static void print_help(FILE *out, const void *what) {
  const cli_verb *verb = what;
  fprintf(out, "columnstone %s ", verb->name);
  int indent = (int)strlen("columnstone  ") + (int)strlen(verb->name);
  print_wrapped(out, verb->usage, indent, indent);
  fprintf(out, "\n%s.\n\n", verb->summary);
  print_wrapped(out, verb->details, 0, 0);
  print_options(out, verb);
  print_examples(out, verb);
  print_exits(out, verb);
  if (verb->see[0] != '\0') {
    fprintf(out, "\nSee also: %s\n", verb->see);
  }
}

const char cli_overview_summary[] = "Inspect, convert and query training data";
const char cli_overview_text[] =
    "A verb reads files in any format and compression (gzip, zlib, zstd); compression is detected "
    "from the content, not from the name. '-' is standard input. Quote a glob to let columnstone "
    "expand it.\n\n`columnstone VERB --help` shows the options of a verb, `columnstone help "
    "errors` the kinds of errors, `columnstone --version` the version.";

static void print_overview(FILE *out, const void *none) {
  (void)none;
  const cli_verb *verb;
  fprintf(out, "%s\n\n", cli_overview_summary);
  fprintf(out, "columnstone VERB [OPTION]... [FILE]...\n\n");
  for (size_t i = 0; (verb = cli_verb_get(i)) != NULL; i++) {
    fprintf(out, "  %-19s  ", verb->name);
    print_wrapped(out, verb->summary, 23, 23);
  }
  fputc('\n', out);
  print_wrapped(out, cli_overview_text, 0, 0);
  print_exits(out, NULL);
}

/* What each paragraph of docs/errors.md begins with; tests/cli/help_errors.sh compares. */
static const char *const kinds[] = {
    [CST_INVALID_ARGUMENT] =
        "An argument is out of range or of the wrong kind. Nothing was read or written. Correct "
        "the call: the message says which argument, what it was, and what is allowed.",
    [CST_NOT_FOUND] = "A file, column, field or format does not exist. The message suggests a "
                      "similar name if there is one.",
    [CST_IO] = "The system could not read or write. The text of the system is in the message.",
    [CST_CORRUPT] =
        "The data is damaged. The bytes on disk are not what was written: a disk or a transfer "
        "failed, or a writer was killed. Reading the file again does not help; fetching it again "
        "might.",
    [CST_SCHEMA] = "The data does not match the schema, or the schema itself is wrong. The message "
                   "says which record and feature.",
    [CST_FORMAT] = "The file is not what it should be. Often it is not data at all.",
    [CST_LIMIT] =
        "The input exceeds a safety limit. Limits stop damaged and hostile files before they take "
        "all memory. If you trust the file, raise the limit that the message names.",
    [CST_UNSUPPORTED] = "The format cannot hold the value, or the file does not allow the "
                        "operation. Nothing was changed silently.",
    [CST_NO_MEMORY] = "The system gave no memory.",
    [CST_STATE] =
        "The object cannot do this any more, or not yet: it is closed, its input has been "
        "read, or it belongs to another process.",
    [CST_CALLBACK] = "A function of yours failed, or told the call to stop.",
    [CST_INTERRUPTED] = "The call was told to stop, by Ctrl-C in Python and in the program.",
    [CST_TIMEOUT] = "The deadline has passed.",
};
enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

static void print_kind(FILE *out, cst_status kind) {
  fprintf(out, "%s%s%s\n  ", cli_style_code(CLI_BOLD, stdout), cst_status_name(kind),
          cli_style_code(CLI_PLAIN, stdout));
  print_wrapped(out, kinds[kind], 2, 2);
  fputs("  docs/errors.md#", out);
  cli_print_kind(out, kind);
  fputc('\n', out);
}

static void print_one_kind(FILE *out, const void *kind) {
  print_kind(out, *(const cst_status *)kind);
}

static void print_kinds(FILE *out, const void *none) {
  (void)none;
  print_wrapped(
      out,
      "An error names the file, the record (from 0), the byte offset of the record, and the "
      "feature, then what was found and what was expected. What to do stands in brackets.\n\n"
      "The documentation explains each kind, with its messages.",
      0, 0);
  for (size_t i = CST_INVALID_ARGUMENT; i < NUM_KINDS; i++) {
    fputc('\n', out);
    print_kind(out, (cst_status)i);
  }
}

static int show(void (*print)(FILE *, const void *), const void *what) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (out == NULL) {
    return cli_usage(NULL, NULL, "out of memory");
  }
  print(out, what);
  fclose(out);
  cli_page(text, size);
  free(text);
  return cli_flush(CLI_FINE);
}

int cli_show_help(const cli_verb *verb) { return show(print_help, verb); }

int cli_show_overview(void) { return show(print_overview, NULL); }

int cli_show_kinds(const char *name) {
  if (name == NULL) {
    return show(print_kinds, NULL);
  }
  for (size_t i = CST_INVALID_ARGUMENT; i < NUM_KINDS; i++) {
    cst_status kind = (cst_status)i;
    if (strcasecmp(name, cst_status_name(kind)) == 0) {
      return show(print_one_kind, &kind);
    }
  }
  return cli_usage(NULL, "see columnstone help errors", "unknown kind of error '%s'", name);
}
