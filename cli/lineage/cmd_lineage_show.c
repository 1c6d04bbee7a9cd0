/* columnstone lineage show: all that a store knows of an artifact. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage.h"

static void print_label(const char *label) { printf("%-11s", label); }

static void print_field(const char *label, const char *text) {
  if (text != NULL) {
    print_label(label);
    cli_print_text(stdout, text);
    printf("\n");
  }
}

static void print_time(const char *label, int64_t time) {
  char room[CLI_TIME];
  print_label(label);
  printf("%s UTC\n", cli_lineage_show_time(time, room));
}

static void print_head(const cst_findings *found) {
  const bool is_external = cst_findings_number(found, "is_external", 0) > 0;
  cli_set_style(CLI_BOLD);
  cli_print_text(stdout, cst_findings_text(found, "reference", 0));
  cli_set_style(CLI_PLAIN);
  printf(": ");
  cli_print_text(stdout, cst_findings_text(found, "type", 0));
  printf(" %" PRId64 ", %s%s\n", cst_findings_number(found, "id", 0),
         cst_findings_text(found, "state", 0), is_external ? ", external" : "");
  print_time("made", cst_findings_number(found, "created", 0));
  enum { SECOND = 1000000 };
  const int64_t created = cst_findings_number(found, "created", 0);
  const int64_t updated = cst_findings_number(found, "updated", 0);
  if (updated / SECOND != created / SECOND) {
    print_time("changed", updated);
  }
  print_field("digest", cst_findings_text(found, "digest", 0));
}

static void print_file(const cst_findings *found, size_t item) {
  const char *split = cst_findings_text(found, "files.split", item);
  const char *role = cst_findings_text(found, "files.role", item);
  const char *digest = cst_findings_text(found, "files.digest", item);
  const int64_t size = cst_findings_number(found, "files.size", item);
  char room[32];
  printf("  ");
  cli_print_name(stdout, cst_findings_text(found, "files.path", item));
  if (split != NULL) {
    printf(", split ");
    cli_print_text(stdout, split);
  }
  if (role != NULL) {
    printf(", ");
    cli_print_text(stdout, role);
  }
  if (size >= 0) {
    printf(", %s", cli_bytes((double)size, room));
  }
  if (digest != NULL) {
    printf(", %.12s", digest);
  }
  printf("\n");
}

static void print_files(const cst_findings *found) {
  size_t begin, end;
  (void)cst_findings_items(found, "files", 0, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    printf("%s", i == begin ? "files\n" : "");
    print_file(found, i);
  }
}

static void print_properties(const cst_findings *found) {
  size_t begin, end;
  (void)cst_findings_items(found, "properties", 0, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    printf("%s  ", i == begin ? "properties\n" : "");
    cli_print_text(stdout, cst_findings_text(found, "properties.name", i));
    printf(" = ");
    cli_lineage_print_value(found, i);
    printf("\n");
  }
}

static void print_references(const cst_findings *found) {
  size_t begin, end;
  (void)cst_findings_items(found, "references", 0, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    printf("%s  ", i == begin ? "needs\n" : "");
    cli_print_text(stdout, cst_findings_text(found, "references.role", i));
    printf(" ");
    cli_print_text(stdout, cst_findings_text(found, "references.reference", i));
    printf("\n");
  }
}

/* The fields that outputs of a view come from: a line for each output, of which the fields follow
 * each other. */
static void print_fields(const cst_findings *found) {
  size_t begin, end;
  const char *before = NULL;
  (void)cst_findings_items(found, "fields", 0, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const char *output = cst_findings_text(found, "fields.output", i);
    const bool is_same = before != NULL && strcmp(before, output) == 0;
    printf("%s", i == begin ? "outputs\n" : "");
    printf("%s", is_same ? ", " : i > begin ? "\n  " : "  ");
    if (!is_same) {
      cli_print_text(stdout, output);
      printf(" <- ");
    }
    cli_print_text(stdout, cst_findings_text(found, "fields.path", i));
    before = output;
  }
  printf("%s", begin < end ? "\n" : "");
}

/* ---- what made it, and what used it ---- */

static void print_event(const cst_findings *executions, size_t row, const char *list,
                        const char *item) {
  size_t begin, end;
  (void)cst_findings_items(executions, list, row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const char *reference = cst_findings_text(executions, item, i);
    printf("%s", i > begin ? ", " : " ");
    cli_print_text(stdout, reference != NULL ? reference : "?");
  }
}

static bool has_artifact(const cst_findings *executions, size_t row, const char *list,
                         const char *item, int64_t id) {
  size_t begin, end;
  (void)cst_findings_items(executions, list, row, &begin, &end);
  while (begin < end && cst_findings_number(executions, item, begin) != id) {
    begin++;
  }
  return begin < end;
}

static void print_execution(const cst_findings *executions, size_t row, bool is_maker) {
  const char *name = cst_findings_text(executions, "name", row);
  print_label(is_maker ? "made by" : "used by");
  cli_print_text(stdout, cst_findings_text(executions, "type", row));
  if (name != NULL) {
    printf(" ");
    cli_print_text(stdout, name);
  }
  printf(" (%s)%s", cst_findings_text(executions, "state", row), is_maker ? " of" : " for");
  if (is_maker) {
    print_event(executions, row, "inputs", "inputs.reference");
  } else {
    print_event(executions, row, "outputs", "outputs.reference");
  }
  printf("\n");
}

/* Executions are neighbours of the artifact in its trace. */
static cst_status find_executions(cst_lineage *store, int64_t id, cst_findings **out,
                                  cst_error *error) {
  cst_findings *trace;
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  size_t count = 0;
  const cst_lineage_trace_options around = {
      .size = sizeof around, .artifacts = &id, .num_artifacts = 1, .depth = 1};
  cst_status status = cst_lineage_trace(store, &around, &trace, error);
  *out = NULL;
  if (status != CST_OK) {
    return status;
  }
  int64_t *ids = calloc(cst_findings_num_rows(trace) + 1, sizeof *ids);
  for (size_t i = 0; ids != NULL && i < cst_findings_num_rows(trace); i++) {
    if (strcmp(cst_findings_text(trace, "kind", i), "execution") == 0) {
      ids[count++] = cst_findings_number(trace, "id", i);
    }
  }
  cst_findings_free(trace);
  query.kind = CST_LINEAGE_OF_EXECUTIONS;
  query.ids = ids;
  query.num_ids = count;
  if (ids == NULL) {
    return cli_fail_memory(error);
  }
  status = count > 0 ? cst_lineage_find(store, &query, out, error) : CST_OK;
  free(ids);
  return status;
}

static void print_executions(const cst_findings *executions, int64_t id) {
  const size_t count = executions != NULL ? cst_findings_num_rows(executions) : 0;
  for (int used = 0; used < 2; used++) {
    for (size_t i = 0; i < count; i++) {
      const bool is_here = used == 1 ? has_artifact(executions, i, "inputs", "inputs.id", id)
                                     : has_artifact(executions, i, "outputs", "outputs.id", id);
      if (is_here) {
        print_execution(executions, i, used == 0);
      }
    }
  }
}

static cst_status show_artifact(const cli_settings *settings, cst_lineage *store, int64_t id,
                                cst_error *error) {
  cst_findings *found, *executions = NULL;
  cst_status status = cli_lineage_get(store, CST_LINEAGE_OF_ARTIFACTS, id, &found, error);
  if (status != CST_OK) {
    return status;
  }
  status = find_executions(store, id, &executions, error);
  if (status == CST_OK && settings->json) {
    printf("{");
    status = cli_json_findings(found, error);
    if (status == CST_OK && executions != NULL) {
      printf(",\n ");
      status = cli_json_findings(executions, error);
    }
    printf("%s}\n", executions == NULL ? ",\n \"executions\": []" : "");
  } else if (status == CST_OK) {
    print_head(found);
    print_files(found);
    print_properties(found);
    print_references(found);
    print_fields(found);
    print_executions(executions, id);
  }
  cst_findings_free(found);
  cst_findings_free(executions);
  return status;
}

static int show(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  int opened = cli_lineage_open(&cli_lineage_show, settings, CST_LINEAGE_READ, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status = CST_OK;
  for (size_t i = 0; status == CST_OK && i < settings->num_paths; i++) {
    int64_t id;
    status = cli_lineage_lookup(store, settings->paths[i], &id, &error);
    if (status == CST_OK) {
      printf("%s", i > 0 && !settings->json ? "\n" : "");
      status = show_artifact(settings, store, id, &error);
    }
  }
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_show(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_show, argc, argv, &settings);
  if (status < 0 && settings.json && settings.num_paths > 1) {
    status = cli_usage(&cli_lineage_show, NULL, "--json is of one artifact, not of %zu",
                       settings.num_paths);
  }
  status = status < 0 ? show(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_show = {
    .name = "lineage show",
    .usage = "REF... [--json]",
    .summary = "Shows everything about an artifact: files, properties, references, executions",
    .details = "REF is sessions@4, sessions (the newest live version), or an id.",
    .examples = CLI_EXAMPLES({"columnstone lineage show trips@1", "one version of an artifact"}),
    .see = "lineage ls, lineage trace",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_JSON),
    .min_paths = 1,
    .run = run_show,
};
