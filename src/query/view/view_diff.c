/* What changes for readers from one view to another: input, parameters, outputs. */
#include <columnstone/query.h>

#include <inttypes.h>
#include <string.h>

#include "base/arguments.h"
#include "base/hash.h"
#include "message/message_options.h"
#include "query/view/view_content.h"
#include "query/view/view_rows.h"
#include "query/view/view_specs.h"

typedef struct view_differ {
  const cst_view *before;
  const cst_view *after;
  cst__name_map row_names; /* fields, lets and params of which the rows of either view are made */
  cst__text text;
  size_t num_breaking;
  size_t num_rows;
  cst_error *error;
} view_differ;

typedef enum diff_class {
  DIFF_FINE,
  DIFF_ROWS, /* what reads `before` reads `after`, and gets other rows */
  DIFF_BREAKING
} diff_class;

/* Begins a line. */
static void diff_line(view_differ *d, diff_class class) {
  static const char *const words[] = {"fine:     ", "rows:     ", "breaking: "};
  cst__text_puts(&d->text, words[class]);
  d->num_rows += class == DIFF_ROWS;
  d->num_breaking += class == DIFF_BREAKING;
}

/* "OF 'NAME': WHAT BEFORE, now AFTER", if they differ. */
typedef struct diff_words {
  const char *of;
  const char *name;
  const char *what;
  diff_class class;
} diff_words;

static void diff_texts(view_differ *d, const diff_words *words, const char *before,
                       const char *after) {
  if (strcmp(before, after) != 0) {
    diff_line(d, words->class);
    cst__text_printf(&d->text, "%s%s%s%s: %s%s%s, now %s\n", words->of,
                     *words->name != '\0' ? " '" : "", words->name, *words->name != '\0' ? "'" : "",
                     words->what, *words->what != '\0' ? " " : "",
                     *before != '\0' ? before : "none", *after != '\0' ? after : "none");
  }
}

/* ---- input ---- */

static const char *message_of_view(const cst_view *view) {
  return view->input.message != NULL ? view->input.message->message : "";
}

/* What records are, or what fields become. */
static void diff_message_options(view_differ *d, const cst_message_options *before,
                                 const cst_message_options *after) {
  const cst__message_option *option;
  for (size_t i = 0; (option = cst__message_option_at(i)) != NULL; i++) {
    char rooms[2][CST__OPTION_ROOM];
    const diff_words words = {"input: message option", option->own.info.name, "", DIFF_BREAKING};
    const char *a = cst__option_text(&option->own, before, rooms[0]);
    const char *b = cst__option_text(&option->own, after, rooms[1]);
    diff_texts(d, &words, a != NULL ? a : "", b != NULL ? b : "");
  }
}

static void diff_input(view_differ *d) {
  const cst_message_options *before = d->before->input.message;
  const cst_message_options *after = d->after->input.message;
  const diff_words from = {"input", "", "", DIFF_BREAKING};
  const diff_words message = {"input", "", "message", DIFF_BREAKING};
  diff_texts(d, &from, cst__query_from_name(d->before->input.from),
             cst__query_from_name(d->after->input.from));
  if (before != NULL && after != NULL) {
    diff_texts(d, &message, message_of_view(d->before), message_of_view(d->after));
    diff_message_options(d, before, after);
  }
}

/* ---- parameters ---- */

/* The parameter of a name in another view; a reset one if there is none. */
static cst_status find_view_param(view_differ *d, const cst_view *view, const char *name,
                                  bool *found, cst__query_view_param *out) {
  bool any = true;
  for (size_t i = 0; any; i++) {
    CST__TRY(cst__query_view_param_at(view, i, &any, out, d->error));
    *found = any && strcmp(out->name, name) == 0;
    if (*found) {
      break;
    }
    cst__query_view_param_reset(out);
  }
  return CST_OK;
}

static cst_status diff_param(view_differ *d, const cst__query_view_param *before) {
  cst__query_view_param after;
  bool found;
  CST__TRY(find_view_param(d, d->after, before->name, &found, &after));
  if (!found) {
    diff_line(d, DIFF_BREAKING);
    cst__text_printf(&d->text, "param '%s' is gone\n", before->name);
    return CST_OK;
  }
  const diff_words type = {"param", before->name, "type", DIFF_BREAKING};
  const diff_words value = {"param", before->name, "value",
                            *after.value == '\0' ? DIFF_BREAKING
                            : cst__query_view_has_row_name(&d->row_names, before->name)
                                ? DIFF_ROWS
                                : DIFF_FINE};
  diff_texts(d, &type, before->type, after.type);
  diff_texts(d, &value, before->value, after.value);
  cst__query_view_param_reset(&after);
  return CST_OK;
}

static cst_status diff_new_param(view_differ *d, const cst__query_view_param *after) {
  cst__query_view_param before;
  bool found;
  CST__TRY(find_view_param(d, d->before, after->name, &found, &before));
  cst__query_view_param_reset(&before);
  if (!found) {
    bool has_value = *after->value != '\0';
    diff_line(d, has_value ? DIFF_FINE : DIFF_BREAKING);
    cst__text_printf(&d->text, "param '%s' is new%s\n", after->name,
                     has_value ? "" : ", and has no value by itself");
  }
  return CST_OK;
}

static cst_status diff_params(view_differ *d) {
  const cst_view *const views[2] = {d->before, d->after};
  cst_status (*const compare[2])(view_differ *, const cst__query_view_param *) = {diff_param,
                                                                                  diff_new_param};
  for (int side = 0; side < 2; side++) {
    bool found = true;
    for (size_t i = 0; found; i++) {
      cst__query_view_param param;
      CST__TRY(cst__query_view_param_at(views[side], i, &found, &param, d->error));
      cst_status status = found ? compare[side](d, &param) : CST_OK;
      cst__query_view_param_reset(&param);
      CST__TRY(status);
    }
  }
  return CST_OK;
}

/* ---- outputs ---- */

static const cst__query_output *find_view_output(const cst_view *view, const char *name) {
  const cst__query_output *output;
  for (size_t i = 0; (output = cst__query_view_output(view, i)) != NULL; i++) {
    if (strcmp(output->name, name) == 0) {
      return output;
    }
  }
  return NULL;
}

static const cst_tensor_spec *diffed_spec(const cst_view *view, const char *name) {
  size_t at = cst__specs_find(view->specs, name);
  return at != SIZE_MAX ? cst_specs_get(view->specs, at) : NULL;
}

/* A part of a signature in words. The caller frees the text. */
static void print_output_types(const cst_view *view, const cst__query_output *output,
                               cst__text *out) {
  const struct ArrowSchema *columns = cst__query_view_output_type(view);
  for (size_t i = 0; i < output->num_columns; i++) {
    const struct ArrowSchema *column = columns->children[output->first_column + i];
    cst__text_puts(out, i > 0 ? ", " : "");
    cst__query_view_print_type(column, out);
    cst__text_puts(out, (column->flags & ARROW_FLAG_NULLABLE) != 0 ? "" : " not null");
  }
  cst__text_append(out, "", 1);
}

static void print_output_spec(const cst_tensor_spec *spec, cst__text *out) {
  cst__text_puts(out, spec != NULL ? cst__query_view_kind_name(spec->kind) : "no tensor");
  if (spec != NULL && spec->dtype != CST_DTYPE_NONE) {
    cst__text_printf(out, " %s", cst_dtype_name(spec->dtype));
  }
  for (size_t i = 0; spec != NULL && i < spec->num_dims; i++) {
    cst__text_printf(out, "%s%" PRId64 "%s", i == 0 ? "[" : ", ", spec->dims[i],
                     i + 1 == spec->num_dims ? "]" : "");
  }
  if (spec != NULL && spec->kind == CST_TENSOR_RAGGED) {
    cst__text_printf(out, ", row splits %s", cst_dtype_name(spec->row_splits_dtype));
  }
  cst__text_append(out, "", 1);
}

/* The statement that makes an output, as text; "" if `keep` does. */
static void print_output_expression(const cst_view *view, const char *name, cst__text *out) {
  for (size_t i = 0; i < view->query->num_statements; i++) {
    const cst__statement *statement = &view->query->statements[i];
    if (statement->kind == CST__STATEMENT_OUTPUT && strcmp(statement->name, name) == 0) {
      cst__query_print_expression(statement->value, out);
    }
  }
  cst__text_append(out, "", 1);
}

static void diff_printed(view_differ *d, const diff_words *words, cst__text texts[2]) {
  if (texts[0].failed || texts[1].failed) {
    d->text.failed = true;
  } else {
    diff_texts(d, words, texts[0].data, texts[1].data);
  }
  cst__text_free(&texts[0]);
  cst__text_free(&texts[1]);
}

static bool has_view_path(const char *const *paths, size_t count, const char *path) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(paths[i], path) == 0) {
      return true;
    }
  }
  return false;
}

static void diff_paths(view_differ *d, const cst__query_output *before,
                       const cst__query_output *after) {
  for (size_t i = 0; i < after->num_paths; i++) {
    if (!has_view_path(before->paths, before->num_paths, after->paths[i])) {
      diff_line(d, DIFF_FINE);
      cst__text_printf(&d->text, "output '%s': reads %s, too\n", after->name, after->paths[i]);
    }
  }
  for (size_t i = 0; i < before->num_paths; i++) {
    if (!has_view_path(after->paths, after->num_paths, before->paths[i])) {
      diff_line(d, DIFF_FINE);
      cst__text_printf(&d->text, "output '%s': reads %s no more\n", after->name, before->paths[i]);
    }
  }
}

static void diff_output(view_differ *d, const cst__query_output *before) {
  const char *name = before->name;
  const cst__query_output *after = find_view_output(d->after, name);
  if (after == NULL) {
    diff_line(d, DIFF_BREAKING);
    cst__text_printf(&d->text, "output '%s' is gone\n", name);
    return;
  }
  const diff_words spec = {"output", name, "tensor", DIFF_BREAKING};
  const diff_words type = {"output", name, "type", DIFF_BREAKING};
  const diff_words expression = {"output", name, "made of", DIFF_FINE};
  cst__text texts[2] = {{0}, {0}};
  print_output_spec(diffed_spec(d->before, name), &texts[0]);
  print_output_spec(diffed_spec(d->after, name), &texts[1]);
  diff_printed(d, &spec, texts);
  print_output_types(d->before, before, &texts[0]);
  print_output_types(d->after, after, &texts[1]);
  diff_printed(d, &type, texts);
  print_output_expression(d->before, name, &texts[0]);
  print_output_expression(d->after, name, &texts[1]);
  diff_printed(d, &expression, texts);
  diff_paths(d, before, after);
}

static void diff_outputs(view_differ *d) {
  const cst__query_output *output;
  for (size_t i = 0; (output = cst__query_view_output(d->before, i)) != NULL; i++) {
    diff_output(d, output);
  }
  for (size_t i = 0; (output = cst__query_view_output(d->after, i)) != NULL; i++) {
    if (find_view_output(d->before, output->name) == NULL) {
      diff_line(d, DIFF_FINE);
      cst__text_printf(&d->text, "output '%s' is new\n", output->name);
    }
  }
}

/* ---- what lies between ---- */

static bool is_inner_statement(const cst__statement *statement) {
  return statement->kind == CST__STATEMENT_LET || statement->kind == CST__STATEMENT_ROWS ||
         statement->kind == CST__STATEMENT_DROP || statement->kind == CST__STATEMENT_RENAME;
}

/* Of what is neither input, parameter nor output: what makes the rows, or all else. */
static void print_inner(const view_differ *d, const cst_view *view, bool of_rows, cst__text *out) {
  cst_query inner = *view->query;
  size_t num_of_rows = cst__query_view_count_row_statements(view);
  cst__text_append(out, "", 0);
  for (size_t i = 0; i < view->query->num_statements; i++) {
    cst__statement *statement = &view->query->statements[i];
    if (is_inner_statement(statement) &&
        (i < num_of_rows && cst__query_view_makes_rows(&d->row_names, statement)) == of_rows) {
      inner.statements = statement;
      inner.num_statements = 1;
      cst__query_print(&inner, out);
    }
  }
  cst__text_append(out, "", 1);
}

/* Outputs may have other values then, of the same types. */
static void diff_inner(view_differ *d, bool of_rows) {
  cst__text texts[2] = {{0}, {0}};
  print_inner(d, d->before, of_rows, &texts[0]);
  print_inner(d, d->after, of_rows, &texts[1]);
  d->text.failed |= texts[0].failed || texts[1].failed;
  if (!d->text.failed && strcmp(texts[0].data, texts[1].data) != 0) {
    diff_line(d, of_rows ? DIFF_ROWS : DIFF_FINE);
    cst__text_puts(&d->text, of_rows ? "query: other rows, or other lets that they are made of\n"
                                     : "query: other lets, drops or renames\n");
  }
  cst__text_free(&texts[0]);
  cst__text_free(&texts[1]);
}

cst_status cst_view_diff(const cst_view *before, const cst_view *after, char **text,
                         size_t *num_breaking, size_t *num_rows, cst_error *error) {
  size_t size;
  CST__CLEAR(text);
  CST__CLEAR(num_breaking);
  CST__CLEAR(num_rows);
  if (before == NULL || after == NULL || text == NULL || num_breaking == NULL || num_rows == NULL) {
    return cst__missing(before == NULL ? "before" : after == NULL ? "after" : "an output", error);
  }
  view_differ d = {.before = before, .after = after, .error = error};
  d.text.failed = !cst__query_view_find_row_names(before, &d.row_names) ||
                  !cst__query_view_find_row_names(after, &d.row_names);
  diff_input(&d);
  cst_status status = diff_params(&d);
  if (status == CST_OK) {
    diff_inner(&d, true);
    diff_outputs(&d);
    diff_inner(&d, false);
    cst__text_append(&d.text, "", 0);
  }
  cst__name_map_reset(&d.row_names);
  if (status != CST_OK) {
    cst__text_free(&d.text);
    return status;
  }
  *num_breaking = d.num_breaking;
  *num_rows = d.num_rows;
  return cst__text_finish(&d.text, text, &size, error);
}
