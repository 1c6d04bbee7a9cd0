/* Columns made of what lies below paths: event.query of rows that have lists of events is a column
 * of lists of queries. Only the columns that the paths begin with are read.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

cst_status cli_fail_memory(cst_error *error) {
  *error = (cst_error)CST_ERROR_INIT;
  error->code = CST_NO_MEMORY;
  snprintf(error->message, sizeof error->message, "out of memory");
  return CST_NO_MEMORY;
}

/* --columns go below columns where the types can be looked up before; --path everywhere. */
void cli_explain_path(const cli_settings *settings, cst_error *error) {
  bool is_column = false;
  for (size_t i = 0; i < settings->source.num_columns; i++) {
    is_column = is_column || strcmp(settings->source.columns[i], error->path) == 0;
  }
  bool is_piped = settings->num_paths > 0 && strcmp(settings->paths[0], "-") == 0;
  if (error->code == CST_NOT_FOUND && is_column && strchr(error->path, '.') != NULL && is_piped &&
      settings->source.view == NULL && cli_message_of_input(settings) == NULL) {
    snprintf(
        error->hint, sizeof error->hint,
        "of what is read only once, --columns takes whole columns, and --path of head what lies "
        "below them");
  }
}

/* ---- paths ---- */

static cst_status parse_paths(cli_projection *p, const struct ArrowSchema *type, cst_error *error) {
  cst_status status = CST_OK;
  for (size_t i = 0; i < p->count && status == CST_OK; i++) {
    const struct ArrowSchema *field;
    status = cst_path_parse(type, p->names[i], &p->paths[i], error);
    if (status == CST_OK) {
      status = cst_type_at(type, &p->paths[i], &field, error);
    }
  }
  return status;
}

/* The columns that the paths begin with, each once: their number. */
static size_t first_steps(const cli_projection *p, const char **columns) {
  size_t count = 0;
  for (size_t i = 0; i < p->count; i++) {
    size_t at = 0;
    while (at < count && strcmp(columns[at], p->paths[i].steps[0]) != 0) {
      at++;
    }
    columns[at] = p->paths[i].steps[0];
    count += at == count;
  }
  return count;
}

/* A stage that does nothing lets the columns through that it names. An input that can be read only
 * once, and whose beginning has been read for its types, stays as it is. */
static cst_status read_less(cli_projection *p, cst_source *source, cst_error *error) {
  const char **columns = calloc(p->count, sizeof *columns);
  if (columns == NULL) {
    return cli_fail_memory(error);
  }
  cst_stage stage = CST_STAGE_INIT;
  stage.columns = columns;
  stage.num_columns = first_steps(p, columns);
  stage.keeps_rows = true;
  cst_status status = cst_source_with_stage(source, &stage, &p->source, error);
  free((void *)columns);
  if (status == CST_STATE) {
    *error = (cst_error)CST_ERROR_INIT;
    p->source = cst_source_retain(source);
    return CST_OK;
  }
  return status;
}

cst_status cli_projection_open(cli_projection *projection, const cli_settings *settings,
                               cst_source *source, cst_error *error) {
  struct ArrowSchema type;
  *projection =
      (cli_projection){.names = settings->nested.paths, .count = settings->nested.num_paths};
  projection->paths = calloc(settings->nested.num_paths, sizeof *projection->paths);
  if (projection->paths == NULL) {
    return cli_fail_memory(error);
  }
  cst_status status = cst_source_arrow_schema(source, &type, error);
  if (status != CST_OK) {
    return status;
  }
  status = parse_paths(projection, &type, error);
  type.release(&type);
  if (status == CST_OK) {
    status = read_less(projection, source, error);
  }
  if (status == CST_OK) {
    status = cst_source_arrow_schema(projection->source, &projection->schema, error);
  }
  return status;
}

void cli_projection_close(cli_projection *projection) {
  for (size_t i = 0; projection->paths != NULL && i < projection->count; i++) {
    cst_free((void *)(uintptr_t)projection->paths[i].steps);
  }
  free(projection->paths);
  if (projection->schema.release != NULL) {
    projection->schema.release(&projection->schema);
  }
  cst_source_release(projection->source);
}

cst_status cli_projection_apply(const cli_projection *projection, struct ArrowArray *batch,
                                cst_structured **out, cst_error *error) {
  const cli_projection *p = projection;
  cst_array *rows;
  cst_structured *tensor;
  cst_status status = cst_array_import(&p->schema, batch, CST_ARRAY_TRUSTED, NULL, &rows, error);
  if (status != CST_OK) {
    batch->release(batch);
    return status;
  }
  status = cst_structured_new(rows, false, &tensor, error);
  cst_array_release(rows);
  if (status == CST_OK) {
    status = cst_structured_fields(tensor, p->names, p->paths, p->count, out, error);
    cst_structured_release(tensor);
  }
  return status;
}
