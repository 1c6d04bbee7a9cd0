/* Errors of the command-line program: one line on stderr, and the exit status. */
#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { NEAR_MAX = 48 };

static int exit_status(cst_status code) {
  switch (code) {
    case CST_OK:
      return CLI_FINE;
    case CST_CORRUPT:
    case CST_SCHEMA:
    case CST_FORMAT:
    case CST_LIMIT:
      return CLI_FAULTS;
    case CST_UNSUPPORTED:
    case CST_INVALID_ARGUMENT:
    case CST_NOT_FOUND:
    case CST_IO:
    case CST_NO_MEMORY:
    case CST_STATE:
    case CST_CALLBACK:
    case CST_INTERRUPTED:
    case CST_TIMEOUT:
      break;
  }
  return CLI_TROUBLE;
}

/* Hints of the library name its options. */
static void name_option(cst_error *error, const char *field, const char *option) {
  char *at = strstr(error->hint, field);
  if (at != NULL) {
    char rest[sizeof error->hint];
    snprintf(rest, sizeof rest, "%s", at + strlen(field));
    snprintf(at, sizeof error->hint - (size_t)(at - error->hint), "%s%s", option, rest);
  }
}

void cli_print_error(FILE *out, const cst_error *error) {
  cst_error shown = *error;
  char text[sizeof error->file + 512];
  name_option(&shown, "max_record_size", "--max-record-size");
  name_option(&shown, "max_inflation", "--max-inflation");
  name_option(&shown, "max_errors", "--max-errors");
  name_option(&shown, "max_elements", "--max-elements");
  name_option(&shown, "max_bytes", "--max-bytes");
  name_option(&shown, "max_work", "--max-work");
  name_option(&shown, "raw_column", "--raw-column");
  name_option(&shown, "offset_column", "--offset-column");
  name_option(&shown, "lossy=True", "--lossy");
  name_option(&shown, "plain_types=True", "--message-option plain_types=true");
  name_option(&shown, "binary_strings=True", "--message-option binary_strings=true");
  name_option(&shown, "on_error \"skip\"", "--on-error skip");
  name_option(&shown, "view=...", "--view lineage:...");
  name_option(&shown, "view=None", "--view none");
  cst_error_format(&shown, text, sizeof text);
  cli_print_text(out, text);
}

void cli_print_kind(FILE *out, cst_status kind) {
  for (const char *name = cst_status_name(kind); *name != '\0'; name++) {
    fputc(tolower((unsigned char)*name), out);
  }
}

/* names_help: tells how to read about the kind of the error. */
static int fail(const cst_error *error, bool names_help) {
  if (cli_is_interrupted()) {
    return CLI_TROUBLE; /* see cli_end_status: whoever has stopped it knows */
  }
  if (error->code == CST_IO && cli_has_lost_reader()) {
    return CLI_NO_READER; /* as for programs that SIGPIPE ends */
  }
  fflush(stdout);
  fprintf(stderr, "%scolumnstone:%s ", cli_style_code(CLI_FAULT, stderr),
          cli_style_code(CLI_PLAIN, stderr));
  cli_print_error(stderr, error);
  fputc('\n', stderr);
  if (names_help) {
    fputs("See: columnstone help errors ", stderr);
    cli_print_kind(stderr, error->code);
    fputc('\n', stderr);
  }
  return exit_status(error->code);
}

int cli_fail(const cst_error *error) { return fail(error, isatty(STDERR_FILENO)); }

int cli_usage(const cli_verb *verb, const char *hint, const char *fmt, ...) {
  cst_error error = CST_ERROR_INIT;
  error.code = CST_INVALID_ARGUMENT;
  va_list args;
  va_start(args, fmt);
  vsnprintf(error.message, sizeof error.message, fmt, args);
  va_end(args);
  if (hint != NULL) {
    snprintf(error.hint, sizeof error.hint, "%s", hint);
  } else {
    snprintf(error.hint, sizeof error.hint, "see columnstone %s%s--help",
             verb != NULL ? verb->name : "", verb != NULL ? " " : "");
  }
  return fail(&error, false);
}

/* Edits (insert, delete, replace) that turn one name into the other. */
static size_t distance(const char *a, const char *b) {
  size_t row[NEAR_MAX + 1];
  size_t na = strnlen(a, NEAR_MAX);
  size_t nb = strnlen(b, NEAR_MAX);
  for (size_t j = 0; j <= nb; j++) {
    row[j] = j;
  }
  for (size_t i = 1; i <= na; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      size_t other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      diagonal = row[j];
      row[j] = replaced < other ? replaced : other;
    }
  }
  return row[nb];
}

const char *cli_nearest(const char *name, const char *const *names, size_t count) {
  const char *best = NULL;
  size_t least = strlen(name) / 3 + 1;
  for (size_t i = 0; i < count; i++) {
    size_t edits = distance(name, names[i]);
    if (edits < least || (edits == least && best == NULL)) {
      best = names[i];
      least = edits;
    }
  }
  return best;
}

int cli_flush(int status) {
  if (fflush(stdout) != 0 || ferror(stdout)) {
    cst_error error = CST_ERROR_INIT;
    error.code = CST_IO;
    snprintf(error.message, sizeof error.message, "standard output cannot be written");
    return cli_fail(&error);
  }
  return status;
}

cst_status cli_fail_argument(cst_error *error, const char *hint, const char *fmt, ...) {
  va_list args;
  *error = (cst_error)CST_ERROR_INIT;
  error->code = CST_INVALID_ARGUMENT;
  va_start(args, fmt);
  (void)vsnprintf(error->message, sizeof error->message, fmt, args);
  va_end(args);
  snprintf(error->hint, sizeof error->hint, "%s", hint);
  return CST_INVALID_ARGUMENT;
}
