/* columnstone accumulate, and stats: any accumulator by its name, and that of statistics. */
#include <columnstone/accumulate.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- the list ---- */

static void print_accumulator(const cst_findings *all, size_t i) {
  size_t begin, end;
  printf("%-12s %s\n", cst_findings_text(all, "name", i), cst_findings_text(all, "summary", i));
  cst_findings_items(all, "options", i, &begin, &end);
  for (size_t k = begin; k < end; k++) {
    const char *usual = cst_findings_text(all, "options.default", k);
    printf("    -O %s=%s  %s", cst_findings_text(all, "options.name", k),
           strcmp(cst_findings_text(all, "options.kind", k), "schema") == 0
               ? "FILE"
               : cst_findings_text(all, "options.kind", k),
           cst_findings_text(all, "options.help", k));
    printf(usual != NULL && usual[0] != '\0' ? " (%s)\n" : "\n", usual);
  }
}

static int list_accumulators(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *all = NULL;
  cst_status status = cst_accumulators(&all, &error);
  if (status == CST_OK && settings->json) {
    status = cli_print_json_findings(all, &error);
  }
  for (size_t i = 0; status == CST_OK && !settings->json && i < cst_findings_num_rows(all); i++) {
    print_accumulator(all, i);
  }
  cst_findings_free(all);
  return cli_flush(status == CST_OK ? CLI_FINE : cli_fail(&error));
}

/* ---- options ---- */

/* What is asked for. */
typedef struct request {
  const cli_verb *verb;
  const cli_settings *settings;
  const char *name; /* of the accumulator */
  const char *const *files;
  size_t num_files;
  void (*print)(const cst_findings *found); /* NULL: as every table */
} request;

typedef struct given {
  cst_option *list;
  size_t count;
  char *keys;   /* all of them, one after the other */
  char *schema; /* the text of one that was read */
} given;

/* The kind of an option; NULL: nobody knows it, which is said where it is used. */
static const char *kind_of(const cst_findings *all, const char *name, const char *option) {
  size_t begin, end;
  for (size_t i = 0; i < cst_findings_num_rows(all); i++) {
    if (strcmp(cst_findings_text(all, "name", i), name) == 0) {
      cst_findings_items(all, "options", i, &begin, &end);
      for (size_t k = begin; k < end; k++) {
        if (strcmp(cst_findings_text(all, "options.name", k), option) == 0) {
          return cst_findings_text(all, "options.kind", k);
        }
      }
    }
  }
  return NULL;
}

/* The text of a schema that the user names by its file. */
static cst_status read_schema_text(const char *path, given *options, const char **out,
                                   cst_error *error) {
  cst_schema *schema;
  size_t size;
  cst_status status = cst_schema_open(path, &schema, error);
  if (status == CST_OK) {
    cst_free(options->schema);
    status = cst_schema_to_text(schema, &options->schema, &size, error);
    *out = options->schema;
    cst_schema_release(schema);
  }
  return status;
}

/* Option i is KEY=VALUE. */
static cst_status read_option(const cst_findings *all, const char *name, const char *text,
                              char *key, given *options, cst_error *error) {
  const size_t size = strcspn(text, "=");
  cst_option *option = &options->list[options->count++];
  memcpy(key, text, size);
  key[size] = '\0';
  *option = (cst_option){.name = key, .value = text + size + 1};
  const char *kind = kind_of(all, name, key);
  return kind != NULL && strcmp(kind, "schema") == 0
             ? read_schema_text(option->value, options, &option->value, error)
             : CST_OK;
}

/* Options that have an option of the program of their own. */
static void add_named_options(const cli_finding *finding, given *options) {
  const cst_option named[] = {{"columns", finding->columns, NULL},
                              {"by", finding->by, NULL},
                              {"weight", finding->weight, NULL}};
  for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
    if (named[i].value != NULL) {
      options->list[options->count++] = named[i];
    }
  }
}

static cst_status read_options(const request *r, given *options, cst_error *error) {
  enum { NAMED = 3 };
  const cli_finding *finding = &r->settings->finding;
  size_t size = 1;
  cst_findings *all = NULL;
  for (size_t i = 0; i < finding->num_options; i++) {
    size += strlen(finding->options[i]) + 1;
  }
  options->list = calloc(finding->num_options + NAMED, sizeof *options->list);
  options->keys = calloc(size, 1);
  if (options->list == NULL || options->keys == NULL) {
    return cli_fail_memory(error);
  }
  char *key = options->keys;
  add_named_options(finding, options);
  cst_status status = cst_accumulators(&all, error);
  for (size_t i = 0; status == CST_OK && i < finding->num_options; i++) {
    status = read_option(all, r->name, finding->options[i], key, options, error);
    key += strlen(key) + 1;
  }
  cst_findings_free(all);
  return status;
}

static void free_options(given *options) {
  free(options->list);
  free(options->keys);
  cst_free(options->schema);
}

/* ---- the data ---- */

static cst_status look_at_files(const request *r, cst_accumulator *accumulator,
                                cli_dropped *dropped, cst_error *error) {
  cst_source *source;
  cli_progress progress;
  cst_status status = cli_open(r->settings, r->files, r->num_files, dropped, &source, error);
  if (status != CST_OK) {
    return status;
  }
  cli_progress_begin(&progress, r->verb->name, cst_source_total_bytes(source), false);
  status = cst_accumulator_add_source(accumulator, source, cli_progress_show, &progress, error);
  cli_progress_end(&progress);
  cst_source_release(source);
  return status;
}

static cst_status write_findings(const cli_settings *settings, const cst_findings *findings,
                                 cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_sink_options options = cli_sink_options(settings);
  cst_sink *sink;
  cst_status status = cst_findings_batch(findings, &schema, &batch, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_sink_open(settings->output, &schema, &options, &sink, error);
  if (status == CST_OK) {
    status = cst_sink_write(sink, &batch, error);
    status = status == CST_OK ? cst_sink_finish(sink, error) : status;
    cst_sink_free(sink);
  }
  batch.release(&batch);
  schema.release(&schema);
  return status;
}

static cst_status tell(const request *r, const cst_findings *findings, cst_error *error) {
  if (r->settings->output != NULL) {
    return write_findings(r->settings, findings, error);
  }
  if (r->settings->json) {
    return cli_print_json_findings(findings, error);
  }
  if (r->print == NULL) {
    return cli_print_findings(findings, error);
  }
  r->print(findings);
  return CST_OK;
}

static cst_status accumulate(const request *r, const given *options, cli_dropped *dropped,
                             cst_error *error) {
  cst_accumulator *accumulator;
  cst_findings *findings;
  cst_status status =
      cst_accumulator_new(r->name, options->list, options->count, NULL, &accumulator, error);
  if (status != CST_OK) {
    return status;
  }
  status = look_at_files(r, accumulator, dropped, error);
  if (status == CST_OK) {
    status = cst_accumulator_finish(accumulator, &findings, error);
  }
  cst_accumulator_free(accumulator);
  if (status == CST_OK) {
    status = tell(r, findings, error);
    cst_findings_free(findings);
  }
  return status;
}

static int run_request(const request *r) {
  cst_error error = CST_ERROR_INIT;
  given options = {NULL, 0, NULL, NULL};
  cli_dropped dropped = {.out = stderr};
  cst_status status = read_options(r, &options, &error);
  if (status == CST_OK) {
    status = accumulate(r, &options, &dropped, &error);
  }
  free_options(&options);
  return cli_flush(status != CST_OK ? cli_fail(&error) : dropped.count > 0 ? CLI_FAULTS : CLI_FINE);
}

/* Each is KEY=VALUE, and no key is there twice. -1: they are right. */
static int check_options(const cli_verb *verb, const cli_finding *finding) {
  for (size_t i = 0; i < finding->num_options; i++) {
    const char *option = finding->options[i];
    size_t size = strcspn(option, "=");
    if (option[size] == '\0') {
      return cli_usage(verb, NULL, "-O %s has no value: -O KEY=VALUE", option);
    }
    for (size_t k = 0; k < i; k++) {
      if (strncmp(option, finding->options[k], size + 1) == 0) {
        return cli_usage(verb, "several names stand between commas", "-O %.*s is given twice",
                         (int)size, option);
      }
    }
  }
  return -1;
}

static int check_usage(const cli_settings *settings) {
  const cli_finding *finding = &settings->finding;
  if (settings->num_paths == 0 && (settings->output != NULL || finding->num_options > 0)) {
    return cli_usage(&cli_accumulate, NULL, "no accumulator is named");
  }
  if (settings->output == NULL && settings->sink.format != NULL) {
    return cli_usage(&cli_accumulate, NULL, "--to goes with -o");
  }
  return check_options(&cli_accumulate, finding);
}

static int run_accumulate(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_accumulate, argc, argv, &settings);
  status = status < 0 ? check_usage(&settings) : status;
  if (status < 0 && settings.num_paths == 0) {
    status = list_accumulators(&settings);
  } else if (status < 0 && settings.num_paths == 1) {
    status = cli_usage(&cli_accumulate, NULL, "no files");
  } else if (status < 0 && settings.output != NULL) {
    status = cli_check_output(&cli_accumulate, &settings, settings.output);
  }
  if (status < 0) {
    const request r = {.verb = &cli_accumulate,
                       .settings = &settings,
                       .name = settings.paths[0],
                       .files = settings.paths + 1,
                       .num_files = settings.num_paths - 1};
    status = run_request(&r);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_accumulate = {
    .name = "accumulate",
    .usage = "[NAME FILE... [-O KEY=VALUE]... [--json | -o FILE [--to NAME]]]",
    .summary = "Finds something out by looking at all the records, by an accumulator",
    .details =
        "Without a name: the accumulators that there are, with their options. What is found is a\n"
        "table, whose columns docs/accumulators.md describes: printed, as JSON, or written to the\n"
        "file of -o in any format that can hold it. All columns are looked at: to leave one out, "
        "convert\n"
        "--columns first.\n",
    .options = CLI_OPTIONS(OPTION_OPTION, OPTION_OUTPUT, OPTION_TO, OPTION_FORCE, OPTION_JSON,
                           OPTION_SCHEMA, OPTION_FORMAT, OPTION_THREADS, OPTION_NO_CRC,
                           OPTIONS_FORMATS, OPTIONS_MESSAGE, OPTIONS_VIEW, OPTION_CONTAINER,
                           OPTIONS_RECOVERY, OPTIONS_LIMITS),
    .min_paths = 0,
    .run = run_accumulate,
};

static int run_stats(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_stats, argc, argv, &settings);
  if (status < 0 && settings.output == NULL && settings.sink.format != NULL) {
    status = cli_usage(&cli_stats, NULL, "--to goes with -o");
  }
  status = status < 0 ? check_options(&cli_stats, &settings.finding) : status;
  if (status < 0 && settings.output != NULL) {
    status = cli_check_output(&cli_stats, &settings, settings.output);
  }
  if (status < 0) {
    const request r = {.verb = &cli_stats,
                       .settings = &settings,
                       .name = "statistics",
                       .files = settings.paths,
                       .num_files = settings.num_paths,
                       .print = cli_print_stats};
    status = run_request(&r);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_stats = {
    .name = "stats",
    .usage = "FILE... [--columns A,B] [--by A,B] [--weight COLUMN] [--json | -o FILE [--to NAME]]",
    .summary = "Tells what is in the data: presence, numbers, quantiles, frequent values",
    .details =
        "A line for each feature, for all rows and for each slice of --by. The whole table, whose\n"
        "columns docs/statistics.md describes, is printed as JSON by --json, or written to the "
        "file\n"
        "of -o in any format that can hold it. `columnstone accumulate` lists the other options "
        "of\n"
        "-O: those of \"statistics\".\n",
    .options =
        CLI_OPTIONS(OPTION_STATS_COLUMNS, OPTION_BY, OPTION_WEIGHT, OPTION_OPTION, OPTION_OUTPUT,
                    OPTION_TO, OPTION_FORCE, OPTION_JSON, OPTION_SCHEMA, OPTION_FORMAT,
                    OPTION_THREADS, OPTION_NO_CRC, OPTIONS_FORMATS, OPTIONS_MESSAGE, OPTIONS_VIEW,
                    OPTION_CONTAINER, OPTIONS_RECOVERY, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_stats,
};
