/* columnstone schema diff: what has to change in one schema to get another one. */
#include <columnstone/validate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

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
static void print_change(const cst_findings *changes, size_t i) {
  const char *kind = cst_findings_text(changes, "kind", i);
  const char *path = cst_findings_text(changes, "path", i);
  const char *what = cst_findings_text(changes, "what", i);
  const char *before = cst_findings_text(changes, "before", i);
  const char *after = cst_findings_text(changes, "after", i);
  bool is_changed = strcmp(kind, "changed") == 0;
  const bool breaks = cst_findings_number(changes, "breaks", i) == 1;
  cli_set_style(breaks ? CLI_FAULT : CLI_PLAIN);
  printf("%s %-8s", breaks ? "!" : " ", kind);
  cli_set_style(CLI_PLAIN);
  if (path[0] != '\0') {
    printf(" ");
    cli_print_text(stdout, path);
    printf(":");
  }
  if (what[0] != '\0') {
    printf(" ");
    cli_print_text(stdout, what);
  }
  if (before != NULL) {
    printf(" ");
    print_short(before);
  }
  if (is_changed) {
    printf(before != NULL ? " ->" : " (not set) ->");
  }
  if (after != NULL) {
    printf(" ");
    print_short(after);
  } else if (is_changed) {
    printf(" (not set)");
  }
  printf("\n");
}

static cst_status print_changes(const cst_findings *changes, bool json, cst_error *error) {
  if (json) {
    return cli_print_json_findings(changes, error);
  }
  for (size_t i = 0; i < cst_findings_num_rows(changes); i++) {
    print_change(changes, i);
  }
  printf(cst_findings_num_rows(changes) == 0 ? "no differences\n" : "");
  return CST_OK;
}

static cst_status read_both(const cli_settings *settings, cst_schema *schemas[2],
                            cst_error *error) {
  cst_status status = cst_schema_open(settings->paths[0], &schemas[0], error);
  return status == CST_OK ? cst_schema_open(settings->paths[1], &schemas[1], error) : status;
}

static int diff(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_schema *schemas[2] = {NULL, NULL};
  cst_findings *changes = NULL;
  cst_status status = read_both(settings, schemas, &error);
  if (status == CST_OK) {
    status = cst_schema_diff(schemas[0], schemas[1], &changes, &error);
  }
  if (status == CST_OK) {
    status = print_changes(changes, settings->json, &error);
  }
  bool differ = cst_findings_num_rows(changes) > 0;
  cst_findings_free(changes);
  cst_schema_release(schemas[0]);
  cst_schema_release(schemas[1]);
  if (status != CST_OK) { /* a schema that is wrong is not a difference */
    (void)cli_fail(&error);
    return CLI_TROUBLE;
  }
  return cli_flush(differ ? CLI_FAULTS : CLI_FINE);
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
    .summary = "Compares two schemas and marks breaking changes",
    .details = "Prints one line per change. '!' marks breaking changes: data that fits the first "
               "schema may not fit the second, or becomes different tensors. Long texts are "
               "shortened unless --json is given.",
    .examples = CLI_EXAMPLES(
        {"columnstone schema diff schema.pbtxt new.pbtxt", "what changed"},
        {"columnstone schema diff schema.pbtxt new.pbtxt --json", "the same for programs"}),
    .see = "schema check, view diff",
    .exits = "1 the schemas differ",
    .options = CLI_OPTIONS(OPTION_JSON, OPTION_LINEAGE),
    .min_paths = 2,
    .run = run_schema_diff,
};
