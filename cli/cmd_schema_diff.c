/* columnstone schema diff: what has to change in one schema to get another one. */
#include <columnstone/validate.h>
#include <string.h>

#include "cli.h"

typedef struct report {
  bool json;
  size_t count;
} report;

/* "! changed  fare: type INT -> FLOAT" */
static void print_line(const cst_schema_change *change) {
  printf("%s %-8s", change->breaks ? "!" : " ", change->kind);
  if (change->path[0] != '\0') {
    printf(" ");
    cli_print_text(stdout, change->path);
    printf(":");
  }
  if (change->what[0] != '\0') {
    printf(" %s", change->what);
  }
  if (change->before != NULL) {
    printf(" ");
    cli_print_text(stdout, change->before);
  }
  if (strcmp(change->kind, "changed") == 0) {
    printf(change->before != NULL ? " ->" : " (not set) ->");
  }
  if (change->after != NULL) {
    printf(" ");
    cli_print_text(stdout, change->after);
  } else if (strcmp(change->kind, "changed") == 0) {
    printf(" (not set)");
  }
  printf("\n");
}

static void print_member(const char *name, const char *text) {
  printf(", \"%s\": ", name);
  cli_json_string(stdout, text);
}

static void print_change(void *ctx, const cst_schema_change *change) {
  report *r = ctx;
  if (!r->json) {
    print_line(change);
    return;
  }
  printf("%s{\"kind\": \"%s\"", r->count++ > 0 ? ",\n " : "", change->kind);
  print_member("path", change->path);
  print_member("what", change->what);
  print_member("before", change->before);
  print_member("after", change->after);
  printf(", \"breaks\": %s}", change->breaks ? "true" : "false");
}

static cst_status read_both(const cli_settings *settings, cst_schema *schemas[2],
                            cst_error *error) {
  cst_status status = cst_schema_read_file(settings->paths[0], &schemas[0], error);
  return status == CST_OK ? cst_schema_read_file(settings->paths[1], &schemas[1], error) : status;
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
    printf(r.json ? "]\n" : "");
  }
  cst_schema_release(schemas[0]);
  cst_schema_release(schemas[1]);
  if (status != CST_OK) { /* a schema that is wrong is no difference */
    (void)cli_fail(&error);
    return CLI_TROUBLE;
  }
  return cli_flush(count > 0 ? CLI_FAULTS : CLI_FINE);
}

static int run(int argc, char **argv) {
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
    .details = "A line per change; '!' marks those that break: data that fits the first schema may "
               "not fit\n"
               "the second one, or makes other tensors. Exit status: 0 the schemas say the same, "
               "1 they\n"
               "differ, 2 usage, I/O, or a wrong schema.\n",
    .options = OPTION_JSON,
    .min_paths = 2,
    .run = run,
};
