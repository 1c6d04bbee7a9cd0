/* Accumulators that the program runs: their options, the files that they look at, and where what
 * they find goes. Of the verbs accumulate and stats.
 */
#include "accumulating.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

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

static cst_status read_options(const cli_finding *finding, const char *name, given *options,
                               cst_error *error) {
  enum { NAMED = 3 };
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
    status = read_option(all, name, finding->options[i], key, options, error);
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

cst_status cli_accumulator_new(const cli_settings *settings, const char *name,
                               cst_accumulator **out, cst_error *error) {
  given options = {NULL, 0, NULL, NULL};
  cst_status status = read_options(&settings->finding, name, &options, error);
  if (status == CST_OK) {
    status = cst_accumulator_new(name, options.list, options.count, NULL, out, error);
  }
  free_options(&options);
  return status;
}

int cli_check_accumulator_options(const cli_verb *verb, const cli_finding *finding) {
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

/* ---- the data ---- */

cst_status cli_accumulate_files(const cli_verb *verb, const cli_settings *settings,
                                const cli_files *files, cst_accumulator *accumulator,
                                cst_error *error) {
  cst_source *source;
  cli_progress progress;
  cst_status status =
      cli_open(settings, files->paths, files->count, files->dropped, &source, error);
  if (status != CST_OK) {
    return status;
  }
  cli_progress_begin(&progress, verb->name, cst_source_total_bytes(source), false);
  status = cst_accumulator_add_source(accumulator, source, cli_progress_show, &progress, error);
  cli_progress_end(&progress);
  cst_source_release(source);
  return status;
}

/* ---- what is found ---- */

cst_status cli_write_findings(const cli_settings *settings, const cst_findings *findings,
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
