/* columnstone lineage ls: what a store has, as a table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage.h"

/* ---- which ---- */

static cst_status find_context(cst_lineage *store, const char *text, int64_t *id,
                               cst_error *error) {
  const char *equals = strchr(text, '=');
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  cst_findings *found;
  if (equals == NULL || equals == text) {
    return cli_fail_argument(error, "as in --context pipeline=weekly",
                             "--context takes TYPE=NAME, not '%.60s'", text);
  }
  char *type = strndup(text, (size_t)(equals - text));
  if (type == NULL) {
    return cli_fail_memory(error);
  }
  query.kind = CST_LINEAGE_OF_CONTEXTS;
  query.type = type;
  query.name = equals + 1;
  cst_status status = cst_lineage_find(store, &query, &found, error);
  free(type);
  if (status != CST_OK) {
    return status;
  }
  *id = cst_findings_num_rows(found) > 0 ? cst_findings_number(found, "id", 0) : 0;
  cst_findings_free(found);
  if (*id > 0) {
    return CST_OK;
  }
  (void)cli_fail_argument(error, "columnstone lineage ls contexts has them",
                          "there is no context '%.80s'", text);
  error->code = CST_NOT_FOUND;
  return CST_NOT_FOUND;
}

static cst_status read_times(const cli_lineage_filter *filter, cst_lineage_query *query,
                             cst_error *error) {
  cst_status status = CST_OK;
  if (filter->since != NULL) {
    status = cli_lineage_time("since", filter->since, &query->created_from, error);
  }
  return status == CST_OK && filter->until != NULL
             ? cli_lineage_time("until", filter->until, &query->created_to, error)
             : status;
}

static cst_status find(const cli_settings *settings, cst_lineage_kind kind, cst_lineage *store,
                       cst_findings **out, cst_error *error) {
  const cli_lineage_filter *filter = &settings->lineage.filter;
  const cli_artifact *artifact = &settings->lineage.artifact;
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  cst_lineage_property *properties = NULL;
  query.kind = kind;
  query.type = kind == CST_LINEAGE_OF_ARTIFACTS ? cli_lineage_type(filter->type) : filter->type;
  query.name = artifact->name;
  query.path = filter->path;
  query.source_path = filter->source_path;
  query.every_state = filter->every_state;
  query.limit = filter->limit;
  cst_status status = read_times(filter, &query, error);
  if (status == CST_OK && filter->context != NULL) {
    status = find_context(store, filter->context, &query.context, error);
  }
  if (status == CST_OK) {
    status =
        cli_lineage_properties(artifact->properties, artifact->num_properties, &properties, error);
  }
  if (status == CST_OK) {
    query.properties = properties;
    query.num_properties = artifact->num_properties;
    status = cst_lineage_find(store, &query, out, error);
  }
  free(properties);
  return status;
}

/* ---- tables ---- */

enum { MOST_COLUMNS = 6, MOST_CELL = 44, CELL = 400 };

/* What a cell of a table shows, in its room. */
typedef void (*cell)(const cst_findings *found, size_t row, char room[CELL]);

typedef struct table_column {
  const char *name;
  cell show;
  bool is_number;
} table_column;

static void show_id(const cst_findings *found, size_t row, char room[CELL]) {
  snprintf(room, CELL, "%" PRId64, cst_findings_number(found, "id", row));
}

static void show_text(const cst_findings *found, const char *column, size_t row, char room[CELL]) {
  const char *text = cst_findings_text(found, column, row);
  snprintf(room, CELL, "%s", text != NULL ? text : "-");
}

static void show_reference(const cst_findings *found, size_t row, char room[CELL]) {
  show_text(found, "reference", row, room);
}

static void show_type(const cst_findings *found, size_t row, char room[CELL]) {
  show_text(found, "type", row, room);
}

static void show_name(const cst_findings *found, size_t row, char room[CELL]) {
  show_text(found, "name", row, room);
}

static void show_state(const cst_findings *found, size_t row, char room[CELL]) {
  show_text(found, "state", row, room);
}

static void show_made(const cst_findings *found, const char *column, size_t row, char room[CELL]) {
  char time[CLI_TIME];
  const int64_t made = cst_findings_number(found, column, row);
  snprintf(room, CELL, "%s", made >= 0 ? cli_lineage_show_time(made, time) : "-");
}

static void show_created(const cst_findings *found, size_t row, char room[CELL]) {
  show_made(found, "created", row, room);
}

static void show_started(const cst_findings *found, size_t row, char room[CELL]) {
  show_made(found, "started", row, room);
}

static void show_size(const cst_findings *found, size_t row, char room[CELL]) {
  size_t begin, end;
  double bytes = 0;
  bool is_known = true;
  char text[32];
  (void)cst_findings_items(found, "files", row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const int64_t size = cst_findings_number(found, "files.size", i);
    is_known = is_known && size >= 0;
    bytes += size > 0 ? (double)size : 0;
  }
  snprintf(room, CELL, "%s", begin == end || !is_known ? "-" : cli_bytes(bytes, text));
}

/* "a, b and 3 more" */
static void show_items(const cst_findings *found, const char *list, const char *item, size_t row,
                       char room[CELL]) {
  size_t begin, end;
  size_t size = 0;
  (void)cst_findings_items(found, list, row, &begin, &end);
  snprintf(room, CELL, "-");
  for (size_t i = begin; i < end && size + 140 < CELL; i++) {
    const char *text = cst_findings_text(found, item, i);
    size += (size_t)snprintf(room + size, CELL - size, "%s%.100s", i > begin ? ", " : "",
                             text != NULL ? text : "?");
    if (i == begin + 1 && end - begin > 2) {
      snprintf(room + size, CELL - size, " and %zu more", end - begin - 2);
      return;
    }
  }
}

static void show_uri(const cst_findings *found, size_t row, char room[CELL]) {
  show_text(found, "uri", row, room);
  cst_url_make_printable(room);
}

static void show_inputs(const cst_findings *found, size_t row, char room[CELL]) {
  show_items(found, "inputs", "inputs.reference", row, room);
}

static void show_outputs(const cst_findings *found, size_t row, char room[CELL]) {
  show_items(found, "outputs", "outputs.reference", row, room);
}

static void show_count(const cst_findings *found, const char *list, size_t row, char room[CELL]) {
  size_t begin, end;
  (void)cst_findings_items(found, list, row, &begin, &end);
  snprintf(room, CELL, "%zu", end - begin);
}

static void show_artifacts(const cst_findings *found, size_t row, char room[CELL]) {
  show_count(found, "artifacts", row, room);
}

static void show_executions(const cst_findings *found, size_t row, char room[CELL]) {
  show_count(found, "executions", row, room);
}

static const table_column of_artifacts[MOST_COLUMNS] = {
    {"artifact", show_reference, false}, {"type", show_type, false}, {"state", show_state, false},
    {"made (UTC)", show_created, false}, {"size", show_size, true},  {"where", show_uri, false}};
static const table_column of_executions[MOST_COLUMNS] = {
    {"id", show_id, true},          {"type", show_type, false},
    {"state", show_state, false},   {"started (UTC)", show_started, false},
    {"inputs", show_inputs, false}, {"outputs", show_outputs, false}};
static const table_column of_contexts[MOST_COLUMNS] = {{"id", show_id, true},
                                                       {"type", show_type, false},
                                                       {"name", show_name, false},
                                                       {"artifacts", show_artifacts, true},
                                                       {"executions", show_executions, true}};

static size_t num_columns(const table_column *columns) {
  size_t count = 0;
  while (count < MOST_COLUMNS && columns[count].name != NULL) {
    count++;
  }
  return count;
}

static void print_cells(const table_column *columns, const int *widths, size_t count,
                        char cells[MOST_COLUMNS][CELL]) {
  for (size_t i = 0; i < count; i++) {
    int size;
    (void)cli_cut(cells[i], MOST_CELL, &size);
    const bool is_last = i + 1 == count && !columns[i].is_number;
    printf("%s%*s", i > 0 ? "  " : "", columns[i].is_number ? widths[i] - size : 0, "");
    if (is_last) {
      cli_print_text(stdout, cells[i]);
    } else {
      cli_print_cell(cells[i], columns[i].is_number ? size : widths[i], !columns[i].is_number);
    }
  }
  printf("\n");
}

static void print_table(const cst_findings *found, const table_column *columns) {
  char cells[MOST_COLUMNS][CELL];
  int widths[MOST_COLUMNS];
  const size_t count = num_columns(columns), rows = cst_findings_num_rows(found);
  for (size_t i = 0; i < count; i++) {
    widths[i] = (int)strlen(columns[i].name);
    for (size_t row = 0; row < rows; row++) {
      int size;
      columns[i].show(found, row, cells[i]);
      (void)cli_cut(cells[i], MOST_CELL, &size);
      widths[i] = size > widths[i] ? size : widths[i];
    }
    snprintf(cells[i], CELL, "%s", columns[i].name);
  }
  cli_set_style(CLI_BOLD);
  print_cells(columns, widths, count, cells);
  cli_set_style(CLI_PLAIN);
  for (size_t row = 0; row < rows; row++) {
    for (size_t i = 0; i < count; i++) {
      columns[i].show(found, row, cells[i]);
    }
    print_cells(columns, widths, count, cells);
  }
}

static const table_column *table_of(cst_lineage_kind kind) {
  return kind == CST_LINEAGE_OF_ARTIFACTS    ? of_artifacts
         : kind == CST_LINEAGE_OF_EXECUTIONS ? of_executions
                                             : of_contexts;
}

static int list(const cli_settings *settings, cst_lineage_kind kind) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  cst_findings *found = NULL;
  int opened = cli_lineage_open(&cli_lineage_ls, settings, CST_LINEAGE_READ, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status = find(settings, kind, store, &found, &error);
  if (status == CST_OK && settings->json) {
    status = cli_print_json_findings(found, &error);
  } else if (status == CST_OK && cst_findings_num_rows(found) == 0) {
    printf("no %s\n", cst_findings_name(found));
  } else if (status == CST_OK) {
    print_table(found, table_of(kind));
  }
  cst_findings_free(found);
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

/* The store itself. */
static int list_roots(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage *store;
  cst_findings *found = NULL;
  int opened = cli_lineage_open(&cli_lineage_ls, settings, CST_LINEAGE_READ, &store);
  if (opened >= 0) {
    return opened;
  }
  cst_status status = cst_lineage_info(store, &found, &error);
  if (status == CST_OK) {
    status =
        settings->json ? cli_print_json_findings(found, &error) : cli_print_findings(found, &error);
  }
  cst_findings_free(found);
  cst_lineage_free(store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_ls(int argc, char **argv) {
  enum { ROOTS = 3, NUM_WORDS };
  static const char *const words[] = {"artifacts", "executions", "contexts", "roots"};
  cli_settings settings;
  size_t kind = 0;
  int status = cli_parse(&cli_lineage_ls, argc, argv, &settings);
  if (status < 0 && settings.num_paths > 0) {
    while (kind < NUM_WORDS && strcmp(settings.paths[0], words[kind]) != 0) {
      kind++;
    }
  }
  if (status < 0 && (kind == NUM_WORDS || settings.num_paths > 1)) {
    status = cli_usage(&cli_lineage_ls, "lineage ls --name 'sessions*', lineage show sessions@4",
                       "it lists artifacts, executions, contexts or roots, not '%.60s'",
                       settings.paths[settings.num_paths - 1]);
  }
  if (status < 0) {
    status = kind == ROOTS ? list_roots(&settings) : list(&settings, (cst_lineage_kind)kind);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_ls = {
    .name = "lineage ls",
    .usage = "[artifacts | executions | contexts | roots] [--type TYPE] [--name PATTERN] [--json]",
    .summary = "Lists the artifacts, executions, contexts or roots of a store",
    .details = "Roots are the folders in which gc may delete files. Deleted and abandoned entries "
               "are left out unless --all is given. --json prints all columns.",
    .examples =
        CLI_EXAMPLES({"columnstone lineage ls", "list the artifacts"},
                     {"columnstone lineage ls --type model --since 7d", "models of the last week"},
                     {"columnstone lineage ls executions --json", "executions, for programs"}),
    .see = "lineage show, lineage trace",
    .options = CLI_OPTIONS(OPTION_STORE, OPTION_ONE_TYPE, OPTION_OF_NAME, OPTION_WITH_PROPERTY,
                           OPTION_OF_FILE, OPTION_OF_FIELD, OPTION_IN_CONTEXT, OPTION_SINCE,
                           OPTION_UNTIL, OPTION_EVERY_STATE, OPTION_NEWEST, OPTION_JSON),
    .min_paths = 0,
    .run = run_ls,
};
