/* columnstone view show, check, diff: what saved views are, whether they fit, what changes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static int view_usage_paths(const cli_verb *verb, const cli_settings *settings, size_t wanted) {
  return settings->num_paths == wanted ? -1
                                       : cli_usage(verb, NULL, "%zu view%s, not %zu", wanted,
                                                   wanted == 1 ? "" : "s", settings->num_paths);
}

/* ---- show ---- */

/* What there is to tell. */
typedef struct shown_view {
  cst_view *view;
  cst_findings *params;
  cst_findings *outputs;
  size_t size; /* of the saved form */
  char room[CST_MESSAGE_OPTION_ROOM];
  const char *form; /* of its messages */
} shown_view;

static cst_status open_shown(const char *path, shown_view *shown, cst_error *error) {
  void *bytes = NULL;
  cst_status status = cst_view_open(path, NULL, &shown->view, error);
  const cst_message_options *message = cst_view_message_options(shown->view);
  if (status == CST_OK) {
    status = cst_view_params(shown->view, &shown->params, error);
  }
  if (status == CST_OK) {
    status = cst_view_outputs(shown->view, &shown->outputs, error);
  }
  if (status == CST_OK) {
    status = cst_view_to_bytes(shown->view, &bytes, &shown->size, error);
    cst_free(bytes);
  }
  if (status == CST_OK && message != NULL) {
    status = cst_message_options_get(message, "form", shown->room, &shown->form, error);
  }
  return status;
}

static void close_shown(shown_view *shown) {
  cst_findings_free(shown->params);
  cst_findings_free(shown->outputs);
  cst_view_release(shown->view);
}

/* Names are as wide as the widest, up to a limit. */
static int name_width(const cst_findings *outputs) {
  size_t width = 4;
  for (size_t i = 0; i < cst_findings_num_rows(outputs); i++) {
    size_t size = strlen(cst_findings_text(outputs, "name", i));
    width = size > width && size <= 30 ? size : width;
  }
  return (int)width;
}

/* "dense int64[2], " */
static void print_tensor(const cst_findings *outputs, size_t i) {
  const char *kind = cst_findings_text(outputs, "kind", i);
  const char *dtype = cst_findings_text(outputs, "dtype", i);
  size_t begin, end;
  if (kind == NULL) {
    return;
  }
  printf("%s %s", kind, dtype != NULL ? dtype : "");
  (void)cst_findings_items(outputs, "shape", i, &begin, &end);
  for (size_t k = begin; k < end; k++) {
    printf("%s%" PRId64 "%s", k == begin ? "[" : ", ", cst_findings_number(outputs, "shape.", k),
           k + 1 == end ? "]" : "");
  }
  printf(", ");
}

static void print_output(const cst_findings *outputs, size_t i, int width) {
  size_t begin, end;
  const char *name = cst_findings_text(outputs, "name", i);
  int size = (int)strlen(name);
  printf("  ");
  cli_print_text(stdout, name);
  printf("%*s", 2 + (size < width ? width - size : 0), "");
  print_tensor(outputs, i);
  (void)cst_findings_items(outputs, "columns", i, &begin, &end);
  cli_print_text(stdout, cst_findings_text(outputs, "columns.type", begin));
  (void)cst_findings_items(outputs, "paths", i, &begin, &end);
  for (size_t k = begin; k < end; k++) {
    printf(k == begin ? " <- " : ", ");
    cli_print_text(stdout, cst_findings_text(outputs, "paths.", k));
  }
  printf("\n");
}

static void print_param(const cst_findings *params, size_t i) {
  const char *value = cst_findings_text(params, "value", i);
  printf("%s  ", i == 0 ? "params\n" : "");
  cli_print_text(stdout, cst_findings_text(params, "name", i));
  printf(": %s = ", cst_findings_text(params, "type", i));
  cli_print_text(stdout, value != NULL ? value : "");
  printf("\n");
}

static void print_view(const shown_view *shown) {
  const cst_view *view = shown->view;
  const char *message = cst_view_message(view);
  printf("input    ");
  cli_print_text(stdout, message != NULL ? message : cst_view_input(view));
  if (message != NULL) {
    printf(" messages, %s", shown->form);
  }
  printf("\ndigest   %s\nsize     %zu bytes\n", cst_view_digest(view), shown->size);
  for (size_t i = 0; i < cst_findings_num_rows(shown->params); i++) {
    print_param(shown->params, i);
  }
  printf("outputs\n");
  for (size_t i = 0; i < cst_findings_num_rows(shown->outputs); i++) {
    print_output(shown->outputs, i, name_width(shown->outputs));
  }
  printf("query\n");
  for (const char *line = cst_view_text(view); *line != '\0';) {
    size_t size = strcspn(line, "\n");
    char *copy = strndup(line, size);
    printf("  ");
    cli_print_text(stdout, copy != NULL ? copy : "");
    printf("\n");
    free(copy);
    line += size + (line[size] == '\n');
  }
}

static void print_json_member(const char *name, const char *value) {
  printf(",\n \"%s\": ", name);
  cli_json_string(stdout, value);
}

static cst_status print_json_view(const shown_view *shown, cst_error *error) {
  const char *const *paths;
  size_t count;
  cst_status status = cst_view_source_paths(shown->view, NULL, &paths, &count, error);
  printf("{");
  if (status == CST_OK) {
    status = cli_json_findings(shown->outputs, error);
  }
  printf(",\n ");
  if (status == CST_OK) {
    status = cli_json_findings(shown->params, error);
  }
  if (status != CST_OK) {
    return status;
  }
  print_json_member("input", cst_view_input(shown->view));
  print_json_member("message", cst_view_message(shown->view));
  print_json_member("form", shown->form);
  print_json_member("digest", cst_view_digest(shown->view));
  printf(",\n \"size\": %zu,\n \"paths\": [", shown->size);
  for (size_t i = 0; i < count; i++) {
    printf(i > 0 ? ", " : "");
    cli_json_string(stdout, paths[i]);
  }
  printf("]");
  print_json_member("query", cst_view_text(shown->view));
  printf("}\n");
  return CST_OK;
}

static cst_status show_view(const cli_settings *settings, cst_error *error) {
  shown_view shown = {0};
  cst_status status = open_shown(settings->paths[0], &shown, error);
  if (status == CST_OK && settings->json) {
    status = print_json_view(&shown, error);
  } else if (status == CST_OK) {
    print_view(&shown);
  }
  close_shown(&shown);
  return status;
}

static int run_view_show(int argc, char **argv) {
  cli_settings settings;
  cst_error error = CST_ERROR_INIT;
  int status = cli_parse(&cli_view_show, argc, argv, &settings);
  if (status < 0) {
    status = view_usage_paths(&cli_view_show, &settings, 1);
  }
  if (status < 0) {
    status = show_view(&settings, &error) == CST_OK ? CLI_FINE : cli_fail(&error);
    status = cli_flush(status);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_view_show = {
    .name = "view show",
    .usage = "VIEW [--json]",
    .summary = "Shows the inputs, outputs and query of a saved view",
    .details = "Prints the fields that the view reads, its output tensors, its parameters, and the "
               "text of the query.",
    .examples =
        CLI_EXAMPLES({"columnstone view show sessions.cstv", "what a view does"},
                     {"columnstone view show sessions.cstv --json", "the same for programs"}),
    .see = "view check, schema spec",
    .exits = "1 the view is damaged",
    .options = CLI_OPTIONS(OPTION_JSON, OPTION_LINEAGE),
    .min_paths = 1,
    .run = run_view_show,
};

/* ---- check ---- */

/* Reads all of the inputs through the view, and counts. */
static cst_status check_inputs(const cli_settings *settings, const cst_view *view, uint64_t *rows,
                               cst_error *error) {
  cst_source_options options = cli_source_options(settings, NULL);
  cst_source *source;
  cst_pass *pass = NULL;
  struct ArrowArray batch;
  options.view = view;
  cst_status status = cst_source_open((const char *const *)settings->paths + 1,
                                      settings->num_paths - 1, &options, &source, error);
  if (status == CST_OK) {
    status = cst_pass_new(source, &pass, error);
  }
  while (status == CST_OK) {
    status = cst_pass_next(pass, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    *rows += (uint64_t)batch.length;
    batch.release(&batch);
  }
  cst_pass_free(pass);
  cst_source_release(source);
  return status;
}

/* A filter that uses the label gives a server no rows, in silence. */
static cst_status hint_at_rows(const cst_view *view, cst_error *error) {
  const char *const *paths;
  size_t count;
  cst_status status = cst_view_row_paths(view, &paths, &count, error);
  for (size_t i = 0; status == CST_OK && i < count; i++) {
    printf(i == 0 ? "hint: which rows there are depends on " : ", ");
    cli_print_text(stdout, paths[i]);
  }
  if (count > 0) {
    printf(": records without it give none, and no error (a parameter can keep all rows for a "
           "server: docs/ranking.md)\n");
  }
  return status;
}

static cst_status print_json_check(const cli_settings *settings, const cst_view *view,
                                   uint64_t rows, cst_error *error) {
  const char *const *paths;
  size_t count;
  cst_status status = cst_view_row_paths(view, &paths, &count, error);
  if (status != CST_OK) {
    return status;
  }
  printf("{\"view\": ");
  cli_json_string(stdout, settings->paths[0]);
  print_json_member("digest", cst_view_digest(view));
  if (settings->num_paths > 1) {
    printf(",\n \"rows\": %llu", (unsigned long long)rows);
  } else {
    printf(",\n \"rows\": null");
  }
  printf(",\n \"row_paths\": [");
  for (size_t i = 0; i < count; i++) {
    printf(i > 0 ? ", " : "");
    cli_json_string(stdout, paths[i]);
  }
  printf("]}\n");
  return CST_OK;
}

static cst_status print_check(const cli_settings *settings, const cst_view *view, uint64_t rows,
                              cst_error *error) {
  cli_print_text(stdout, settings->paths[0]);
  printf(": sound, digest %.12s\n", cst_view_digest(view));
  if (settings->num_paths > 1) {
    printf("fits the input: %llu rows\n", (unsigned long long)rows);
  }
  return hint_at_rows(view, error);
}

static cst_status check_saved_view(const cli_settings *settings, cst_error *error) {
  cst_view *view;
  uint64_t rows = 0;
  cst_status status = cst_view_open(settings->paths[0], NULL, &view, error);
  if (status != CST_OK) {
    return status;
  }
  if (settings->num_paths > 1) {
    status = check_inputs(settings, view, &rows, error);
  }
  if (status == CST_OK) {
    status = settings->json ? print_json_check(settings, view, rows, error)
                            : print_check(settings, view, rows, error);
  }
  cst_view_release(view);
  return status;
}

static int run_view_check(int argc, char **argv) {
  cli_settings settings;
  cst_error error = CST_ERROR_INIT;
  int status = cli_parse(&cli_view_check, argc, argv, &settings);
  if (status < 0) {
    status = check_saved_view(&settings, &error) == CST_OK ? CLI_FINE : cli_fail(&error);
    status = cli_flush(status);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_view_check = {
    .name = "view check",
    .usage = "VIEW [FILE...] [--json]",
    .summary = "Checks a saved view, and whether data fits it",
    .details = "Compares the digest, binds the query, and compares its outputs with those stored "
               "in the view. If files are given, all of them are read through the view. A hint "
               "names the fields that decide which rows exist.",
    .examples = CLI_EXAMPLES(
        {"columnstone view check sessions.cstv", "check a view"},
        {"columnstone view check sessions.cstv sessions.tfrecord", "also read data through it"}),
    .see = "view show, view diff",
    .exits = "1 the view is damaged, or the data does not fit",
    .options = CLI_OPTIONS(OPTION_JSON, OPTION_FORMAT, OPTIONS_FORMATS, OPTION_CONTAINER,
                           OPTION_NO_CRC, OPTION_BATCH_SIZE, OPTION_THREADS, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_view_check,
};

/* ---- diff ---- */

/* Lines "breaking: ...", "rows: ..." and "fine: ...". */
static void print_json_changes(char *text, size_t num_breaking, size_t num_rows) {
  const char *separator = "\n  ";
  printf("{\"changes\": [");
  for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
    *end = '\0';
    char *what = strchr(line, ':');
    if (what != NULL) {
      *what++ = '\0';
      printf("%s{\"kind\": ", separator);
      cli_json_string(stdout, line);
      printf(", \"message\": ");
      cli_json_string(stdout, what + strspn(what, " "));
      printf("}");
      separator = ",\n  ";
    }
  }
  printf("],\n \"num_breaking\": %zu,\n \"num_rows\": %zu}\n", num_breaking, num_rows);
}

static cst_status diff_views(const cli_settings *settings, size_t *num_breaking, size_t *num_rows,
                             cst_error *error) {
  cst_view *before;
  cst_view *after = NULL;
  char *text;
  cst_status status = cst_view_open(settings->paths[0], NULL, &before, error);
  if (status == CST_OK) {
    status = cst_view_open(settings->paths[1], NULL, &after, error);
  }
  if (status == CST_OK) {
    status = cst_view_diff(before, after, &text, num_breaking, num_rows, error);
  }
  if (status == CST_OK) {
    if (settings->json) {
      print_json_changes(text, *num_breaking, *num_rows);
    } else {
      cli_print_lines(stdout, text);
    }
    cst_free(text);
  }
  cst_view_release(before);
  cst_view_release(after);
  return status;
}

static int run_view_diff(int argc, char **argv) {
  cli_settings settings;
  cst_error error = CST_ERROR_INIT;
  size_t num_breaking = 0;
  size_t num_rows = 0;
  int status = cli_parse(&cli_view_diff, argc, argv, &settings);
  if (status < 0) {
    status = view_usage_paths(&cli_view_diff, &settings, 2);
  }
  if (status < 0) {
    status = diff_views(&settings, &num_breaking, &num_rows, &error) != CST_OK ? cli_fail(&error)
             : num_breaking > 0                                                ? CLI_FAULTS
             : num_rows > 0                                                    ? CLI_OTHER_ROWS
                                                                               : CLI_FINE;
    status = cli_flush(status);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_view_diff = {
    .name = "view diff",
    .usage = "BEFORE AFTER [--json]",
    .summary = "Compares two saved views and reports what changes for readers",
    .details = "A change is breaking if it breaks a reader of BEFORE: an output is removed or has "
               "another tensor or type, the input differs, or a parameter is removed or has no "
               "value. A change of `rows`, or of lets and parameters it depends on, breaks nothing "
               "but may select other rows.",
    .examples = CLI_EXAMPLES({"columnstone view diff sessions.cstv new.cstv", "what changes"}),
    .see = "view show, schema diff",
    .exits = "1 a change is breaking\n3 no change is breaking, but the rows may differ",
    .options = CLI_OPTIONS(OPTION_JSON, OPTION_LINEAGE),
    .min_paths = 2,
    .run = run_view_diff,
};
