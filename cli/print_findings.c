/* Findings as JSON and as tables: one way for all verbs that find something. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- JSON ---- */

/* The lines that a sink writes. */
typedef struct lines {
  char *data; /* NUL-terminated */
  size_t size, capacity;
} lines;

static cst_status add_bytes(void *ctx, const void *data, size_t size, cst_error *error) {
  lines *all = ctx;
  if (size >= all->capacity - all->size) {
    size_t capacity = 2 * (all->size + size) + 1024;
    char *grown = realloc(all->data, capacity);
    if (grown == NULL) {
      return cli_fail_memory(error);
    }
    all->data = grown;
    all->capacity = capacity;
  }
  memcpy(all->data + all->size, data, size);
  all->size += size;
  all->data[all->size] = '\0';
  return CST_OK;
}

static cst_status write_lines(struct ArrowSchema *schema, struct ArrowArray *batch, lines *all,
                              cst_error *error) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_writer writer = {.size = sizeof writer, .name = "findings", .write = add_bytes, .ctx = all};
  cst_sink *sink;
  options.format = "json";
  cst_status status = cst_sink_open_writer(&writer, schema, &options, &sink, error);
  if (status == CST_OK) {
    status = cst_sink_write(sink, batch, error);
    status = status == CST_OK ? cst_sink_finish(sink, error) : status;
    cst_sink_free(sink);
  }
  return status;
}

/* A row in each line. */
static void print_json_rows(char *text) {
  const char *before = "\n  ";
  for (char *end; text != NULL && (end = strchr(text, '\n')) != NULL; text = end + 1) {
    *end = '\0';
    fputs(before, stdout);
    cli_print_json(stdout, text);
    before = ",\n  ";
  }
}

cst_status cli_json_findings(const cst_findings *findings, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  lines all = {NULL, 0, 0};
  const char *total;
  cst_status status = cst_findings_batch(findings, &schema, &batch, error);
  if (status != CST_OK) {
    return status;
  }
  status = write_lines(&schema, &batch, &all, error);
  batch.release(&batch);
  schema.release(&schema);
  if (status == CST_OK) {
    printf("\"%s\": [", cst_findings_name(findings));
    print_json_rows(all.data);
    printf("]");
    for (size_t i = 0; (total = cst_findings_total_name(findings, i)) != NULL; i++) {
      printf(",\n \"%s\": %" PRId64, total, cst_findings_total(findings, total));
    }
  }
  free(all.data);
  return status;
}

cst_status cli_print_json_findings(const cst_findings *findings, cst_error *error) {
  printf("{");
  cst_status status = cli_json_findings(findings, error);
  if (status == CST_OK) {
    printf("}\n");
  }
  return status;
}

cst_status cli_print_json_scan(const cst_findings *findings, cst_status status, cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  printf(findings != NULL ? "{" : "");
  cst_status printed = findings != NULL ? cli_json_findings(findings, &own) : status;
  if (findings != NULL && printed == CST_OK) {
    printf(",\n \"error\": ");
    if (status == CST_OK) {
      printf("null");
    } else {
      cli_json_error(stdout, error);
    }
    printf("}\n");
  }
  if (status == CST_OK && printed != CST_OK) {
    *error = own;
    return printed;
  }
  return status;
}

/* ---- tables ---- */

enum { MOST_WIDTH = 40 /* of a column of text but the last one */ };

enum { ROOM = 48 };

/* "[3, 4]", or how many there are if these are texts, structs, or many. */
static const char *show_list(const cst_findings *findings, const struct ArrowSchema *column,
                             size_t row, char room[ROOM]) {
  size_t begin, end;
  char items[40];
  int size = snprintf(room, ROOM, "[");
  if (!cst_findings_items(findings, column->name, row, &begin, &end)) {
    return "-";
  }
  (void)snprintf(items, sizeof items, "%.37s.", column->name);
  for (size_t i = begin; i < end && size < ROOM - 24; i++) {
    size += snprintf(room + size, ROOM - (size_t)size, "%s%" PRId64, i > begin ? ", " : "",
                     cst_findings_number(findings, items, i));
  }
  if (strcmp(column->children[0]->format, "l") != 0 || size >= ROOM - 24) {
    (void)snprintf(room, ROOM, "%zu", end - begin);
  } else {
    (void)snprintf(room + size, ROOM - (size_t)size, "]");
  }
  return room;
}

static bool is_text(const struct ArrowSchema *column) {
  return strcmp(column->format, "u") == 0 || strcmp(column->format, "z") == 0;
}

/* What a cell shows: a text of the findings, or one in the room. */
static const char *show_cell(const cst_findings *findings, const struct ArrowSchema *column,
                             size_t row, char room[ROOM]) {
  const char *text = cst_findings_text(findings, column->name, row);
  int64_t number = cst_findings_number(findings, column->name, row);
  if (is_text(column)) {
    return text != NULL ? text : "-";
  }
  if (column->format[0] == '+') {
    return show_list(findings, column, row, room);
  }
  if (strcmp(column->format, "b") == 0) {
    return number > 0 ? "yes" : "no";
  }
  if (strcmp(column->format, "g") == 0) {
    double real = cst_findings_real(findings, column->name, row);
    (void)snprintf(room, ROOM, isnan(real) ? "-" : "%.6g", real);
    return room;
  }
  if (number < 0) {
    return "-";
  }
  (void)snprintf(room, ROOM, "%" PRId64, number);
  return room;
}

static int column_width(const cst_findings *findings, const struct ArrowSchema *column) {
  size_t width = strlen(column->name);
  char room[ROOM];
  for (size_t row = 0; row < cst_findings_num_rows(findings); row++) {
    size_t size = strlen(show_cell(findings, column, row, room));
    width = size > width ? size : width;
  }
  return width < MOST_WIDTH ? (int)width : MOST_WIDTH;
}

static void print_cell(const struct ArrowSchema *column, const char *text, int width, bool last) {
  bool left = is_text(column);
  int size = (int)strlen(text);
  printf("%*s", left || size >= width ? 0 : width - size, "");
  cli_print_text(stdout, text);
  printf("%*s%s", !left || last || size >= width ? 0 : width - size, "", last ? "\n" : "  ");
}

static void print_table(const cst_findings *findings, const struct ArrowSchema *schema,
                        const int *widths) {
  char room[ROOM];
  cli_set_style(CLI_BOLD);
  for (int64_t i = 0; i < schema->n_children; i++) {
    print_cell(schema->children[i], schema->children[i]->name, widths[i],
               i + 1 == schema->n_children);
  }
  cli_set_style(CLI_PLAIN);
  for (size_t row = 0; row < cst_findings_num_rows(findings); row++) {
    for (int64_t i = 0; i < schema->n_children; i++) {
      const struct ArrowSchema *column = schema->children[i];
      print_cell(column, show_cell(findings, column, row, room), widths[i],
                 i + 1 == schema->n_children);
    }
  }
}

cst_status cli_print_findings(const cst_findings *findings, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  const char *total;
  cst_status status = cst_findings_batch(findings, &schema, &batch, error);
  if (status != CST_OK) {
    return status;
  }
  int *widths = calloc((size_t)schema.n_children + 1, sizeof *widths);
  for (int64_t i = 0; widths != NULL && i < schema.n_children; i++) {
    widths[i] = column_width(findings, schema.children[i]);
  }
  if (widths != NULL) {
    print_table(findings, &schema, widths);
  }
  for (size_t i = 0; (total = cst_findings_total_name(findings, i)) != NULL; i++) {
    printf("%s: %" PRId64 "\n", total, cst_findings_total(findings, total));
  }
  status = widths != NULL ? CST_OK : cli_fail_memory(error);
  free(widths);
  batch.release(&batch);
  schema.release(&schema);
  return status;
}
