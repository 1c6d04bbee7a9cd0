/* columnstone schema diff: what has to change in one schema to get another one. */
#include <columnstone/validate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct report {
  bool json;
  size_t count;
} report;

/* ---- long texts ---- */

/* Values of a domain beyond these are counted, and texts beyond so many bytes are cut. */
enum { MOST_VALUES = 5, MOST_BYTES = 400 };

/* The text after a quoted string. */
static const char *skip_quoted(const char *text) {
  for (text++; *text != '\0' && *text != '"'; text++) {
    text += *text == '\\' && text[1] != '\0';
  }
  return *text == '"' ? text + 1 : text;
}

static bool begins_value(const char *text) { return strncmp(text, "value: \"", 8) == 0; }

/* One `value: "..."` after the other, the space between them included: their number. */
static size_t count_values(const char *text, const char **end) {
  size_t count = 0;
  for (*end = text; begins_value(*end); count++) {
    *end = skip_quoted(*end + 7);
    *end += (*end)[0] == ' ' && begins_value(*end + 1);
  }
  return count;
}

static size_t skip_values(const char *text, size_t count) {
  const char *at = text;
  for (; count > 0; count--) {
    at = skip_quoted(at + 7) + 1;
  }
  return (size_t)(at - text);
}

/* A copy with less in it; NULL if there is no memory, and then the text itself will do. */
static char *abbreviate(const char *text) {
  char *out = calloc(strlen(text) + 64, 1);
  size_t size = 0;
  while (out != NULL && *text != '\0') {
    const char *end;
    size_t count = count_values(text, &end);
    if (count > MOST_VALUES + 1) {
      size_t kept = skip_values(text, MOST_VALUES);
      memcpy(out + size, text, kept);
      size += kept;
      size += (size_t)snprintf(out + size, 48, "and %zu more values", count - MOST_VALUES);
      text = end;
    } else if (*text == '"') {
      end = skip_quoted(text);
      memcpy(out + size, text, (size_t)(end - text));
      size += (size_t)(end - text);
      text = end;
    } else {
      out[size++] = *text++;
    }
  }
  if (out != NULL) {
    out[size] = '\0';
  }
  return out;
}

/* Never ends within a character of UTF-8. */
static void cut_text(char *text) {
  size_t size = strlen(text);
  if (size > MOST_BYTES) {
    size_t end = MOST_BYTES - 3;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) {
      end--;
    }
    memcpy(text + end, "...", 4);
  }
}

static void print_short(const char *text) {
  char *less = abbreviate(text);
  if (less != NULL) {
    cut_text(less);
  }
  cli_print_text(stdout, less != NULL ? less : text);
  free(less);
}

/* ---- changes ---- */

/* "! changed  fare: type INT -> FLOAT" */
static void print_change_line(const cst_schema_change *change) {
  printf("%s %-8s", change->breaks ? "!" : " ", change->kind);
  if (change->path[0] != '\0') {
    printf(" ");
    cli_print_text(stdout, change->path);
    printf(":");
  }
  if (change->what[0] != '\0') {
    printf(" ");
    cli_print_text(stdout, change->what);
  }
  if (change->before != NULL) {
    printf(" ");
    print_short(change->before);
  }
  if (strcmp(change->kind, "changed") == 0) {
    printf(change->before != NULL ? " ->" : " (not set) ->");
  }
  if (change->after != NULL) {
    printf(" ");
    print_short(change->after);
  } else if (strcmp(change->kind, "changed") == 0) {
    printf(" (not set)");
  }
  printf("\n");
}

static void print_change_member(const char *name, const char *text) {
  printf(", \"%s\": ", name);
  cli_json_string(stdout, text);
}

static void print_change(void *ctx, const cst_schema_change *change) {
  report *r = ctx;
  if (!r->json) {
    print_change_line(change);
    return;
  }
  printf("%s{\"kind\": \"%s\"", r->count++ > 0 ? ",\n " : "", change->kind);
  print_change_member("path", change->path);
  print_change_member("what", change->what);
  print_change_member("before", change->before);
  print_change_member("after", change->after);
  printf(", \"breaks\": %s}", change->breaks ? "true" : "false");
}

static cst_status read_both(const cli_settings *settings, cst_schema *schemas[2],
                            cst_error *error) {
  cst_status status = cst_schema_open(settings->paths[0], &schemas[0], error);
  return status == CST_OK ? cst_schema_open(settings->paths[1], &schemas[1], error) : status;
}

static int diff(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_schema *schemas[2] = {NULL, NULL};
  report r = {.json = settings->json};
  size_t count = 0;
  cst_status status = read_both(settings, schemas, &error);
  if (status == CST_OK) {
    printf(r.json ? "[" : "");
    status = cst_schema_diff(schemas[0], schemas[1], print_change, &r, &count, &error);
    printf(r.json ? "]\n" : status == CST_OK && count == 0 ? "no differences\n" : "");
  }
  cst_schema_release(schemas[0]);
  cst_schema_release(schemas[1]);
  if (status != CST_OK) { /* a schema that is wrong is not a difference */
    (void)cli_fail(&error);
    return CLI_TROUBLE;
  }
  return cli_flush(count > 0 ? CLI_FAULTS : CLI_FINE);
}

static int run_schema_diff(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_schema_diff, argc, argv, &settings);
  if (status < 0 && settings.num_paths > 2) {
    status = cli_usage(&cli_schema_diff, NULL, "two schemas, not %zu", settings.num_paths);
  } else if (status < 0) {
    status = diff(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_schema_diff = {
    .name = "schema diff",
    .usage = "BEFORE AFTER [--json]",
    .summary = "Shows what has to change in one schema to get another one",
    .details =
        "A line per change; '!' marks those that break: data that fits the first schema may "
        "not fit\n"
        "the second one, or makes other tensors. Long texts are cut, but not with --json. Exit "
        "status:\n"
        "0 the schemas say the same, 1 they differ, 2 usage, I/O, or a wrong schema.\n",
    .options = CLI_OPTIONS(OPTION_JSON),
    .min_paths = 2,
    .run = run_schema_diff,
};
