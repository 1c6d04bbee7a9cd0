/* --columns below columns: event.query of rows that have lists of events, in these lists, as it is
 * of messages. A column whose own name has dots comes first. And what a mistyped column may mean.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

/* True if a name may be a path, and nothing else says what columns are. */
static bool may_have_paths(const cst_source_options *options) {
  bool has_dots = false;
  for (size_t i = 0; i < options->num_columns; i++) {
    has_dots = has_dots || strchr(options->columns[i], '.') != NULL;
  }
  return has_dots && options->view == NULL && options->message == NULL;
}

bool cli_are_files(const char *const *paths, size_t num_paths) {
  for (size_t i = 0; i < num_paths; i++) {
    struct stat about;
    bool is_there = stat(paths[i], &about) == 0; /* no glob, no URL */
    if (strcmp(paths[i], "-") == 0 || (is_there && !S_ISREG(about.st_mode))) {
      return false;
    }
  }
  return true;
}

/* True if it is a column or a path that was not found. */
static bool lacks_column(const cst_source_options *options, const cst_error *error) {
  bool is_column = false;
  for (size_t i = 0; i < options->num_columns; i++) {
    is_column = is_column || strcmp(options->columns[i], error->path) == 0;
  }
  return error->code == CST_NOT_FOUND && is_column;
}

/* ---- paths as a query has them ---- */

/* The steps in backticks, with dots between them: free. NULL: no memory. */
static char *pattern_of(const cst_path *path) {
  size_t size = 1;
  for (size_t i = 0; i < path->count; i++) {
    size += 2 * strlen(path->steps[i]) + 3;
  }
  char *pattern = malloc(size);
  char *end = pattern;
  for (size_t i = 0; pattern != NULL && i < path->count; i++) {
    *end++ = '`';
    for (const char *c = path->steps[i]; *c != '\0'; c++) {
      if (*c == '`') {
        *end++ = '`';
      }
      *end++ = *c;
    }
    *end++ = '`';
    *end++ = '.';
  }
  if (pattern != NULL) {
    end[-1] = '\0';
  }
  return pattern;
}

static cst_status find_pattern(const struct ArrowSchema *type, const char *name, char **out,
                               cst_error *error) {
  cst_path path;
  const struct ArrowSchema *field;
  cst_status status = cst_path_parse(type, name, &path, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_type_at(type, &path, &field, error);
  if (status == CST_OK) {
    *out = pattern_of(&path);
    status = *out == NULL ? cli_fail_memory(error) : CST_OK;
  }
  cst_free((void *)(uintptr_t)path.steps);
  return status;
}

/* Adds `keep NAMES` to a query. */
static cst_status keep_columns(cst_query *query, const cst_source_options *options,
                               const struct ArrowSchema *type, cst_error *error) {
  char **patterns = calloc(options->num_columns, sizeof *patterns);
  if (patterns == NULL) {
    return cli_fail_memory(error);
  }
  cst_status status = CST_OK;
  for (size_t i = 0; status == CST_OK && i < options->num_columns; i++) {
    status = find_pattern(type, options->columns[i], &patterns[i], error);
  }
  if (status == CST_OK) {
    status = cst_query_keep(query, (const char *const *)patterns, options->num_columns, 0, error);
  }
  for (size_t i = 0; i < options->num_columns; i++) {
    free(patterns[i]);
  }
  free(patterns);
  return status;
}

static cst_status view_of_columns(const cst_source_options *options, const struct ArrowSchema *type,
                                  cst_view **out, cst_error *error) {
  static const char from[] = "from table";
  cst_query *query;
  cst_view_options how = CST_VIEW_OPTIONS_INIT;
  cst_status status = cst_query_from_text(from, sizeof from - 1, NULL, &query, error);
  if (status == CST_OK) {
    status = keep_columns(query, options, type, error);
  }
  how.type = type;
  if (status == CST_OK) {
    status = cst_view_new(query, &how, out, error);
  }
  cst_query_free(query);
  return status;
}

/* The same files, through the view that has these columns. */
static cst_status open_below(const char *const *paths, size_t num_paths, cst_source_options options,
                             cst_source **out, cst_error *error) {
  const cst_source_options wanted = options;
  struct ArrowSchema type = {.release = NULL};
  cst_source *whole;
  cst_view *view = NULL;
  options.columns = NULL;
  options.num_columns = 0;
  options.column_flags &= ~(uint32_t)CST_COLUMNS_FIXED_SIZE; /* types are those of the view */
  cst_status status = cst_source_open(paths, num_paths, &options, &whole, error);
  if (status == CST_OK) {
    status = cst_source_arrow_schema(whole, &type, error);
  }
  if (status == CST_OK) {
    status = view_of_columns(&wanted, &type, &view, error);
  }
  if (status == CST_OK) {
    options.view = view;
    status = cst_source_open(paths, num_paths, &options, out, error);
  }
  if (type.release != NULL) {
    type.release(&type);
  }
  cst_view_release(view);
  cst_source_release(whole);
  return status;
}

cst_status cli_open_source(const char *const *paths, size_t num_paths,
                           const cst_source_options *options, cst_source **out, cst_error *error) {
  cst_status status = cst_source_open(paths, num_paths, options, out, error);
  cst_error of_names = CST_ERROR_INIT;
  struct ArrowSchema type;
  cst_source *below;
  if (!may_have_paths(options) || !cli_are_files(paths, num_paths)) {
    return status;
  }
  if (status == CST_OK) { /* what else is wrong with it, it says when it is asked again */
    if (cst_source_arrow_schema(*out, &type, &of_names) == CST_OK) {
      type.release(&type);
      return CST_OK;
    }
  }
  if (lacks_column(options, status == CST_OK ? &of_names : error) &&
      open_below(paths, num_paths, *options, &below, &of_names) == CST_OK) {
    cst_source_release(*out);
    *out = below;
    return CST_OK;
  }
  return status;
}

/* ---- mistyped columns ---- */

enum { MOST_NAMES = 512, SHORTEST = 3 /* nearly any name is near a shorter one */ };

void cli_hint_column(const cli_settings *settings, const char *const *paths, size_t num_paths,
                     cst_error *error) {
  struct ArrowSchema type;
  cst_source *source;
  cst_error own = CST_ERROR_INIT;
  const char *names[MOST_NAMES];
  bool names_column = error->code == CST_NOT_FOUND || error->code == CST_SCHEMA;
  if (!names_column || strlen(error->path) < SHORTEST ||
      strstr(error->hint, "did you mean") != NULL || !cli_are_files(paths, num_paths) ||
      cli_open(settings, paths, num_paths, NULL, &source, &own) != CST_OK) {
    return;
  }
  if (cst_source_arrow_schema(source, &type, &own) == CST_OK) {
    size_t count = 0;
    bool is_there = false;
    for (int64_t i = 0; i < type.n_children && count < MOST_NAMES; i++) {
      names[count++] = type.children[i]->name;
      is_there = is_there || strcmp(type.children[i]->name, error->path) == 0;
    }
    const char *near = is_there ? NULL : cli_nearest(error->path, names, count);
    if (near != NULL) {
      snprintf(error->hint, sizeof error->hint, "did you mean '%.120s'?", near);
    }
    type.release(&type);
  }
  cst_source_release(source);
}
