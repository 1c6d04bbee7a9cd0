/* Views: made of a query and what binds it, owned, and made again with other outputs. */
#include "query/view/query_view.h"

#include <string.h>

#include "arrow/view.h"
#include "base/arguments.h"
#include "base/names.h"
#include "query/plan/steps.h"
#include "query/query.h"
#include "query/view/view_specs.h"

/* ---- what a view is made with ---- */

static cst_status view_copy_text(cst_view *view, const char *from, const char **out,
                                 cst_error *error) {
  *out = cst__arena_copy(&view->arena, from, strlen(from));
  return *out != NULL ? CST_OK : cst__fail_memory(error, strlen(from));
}

static cst_status view_copy_params(cst_view *view, const cst_query_value *params, size_t count,
                                   cst_error *error) {
  cst_query_value *copies = cst__arena_take(&view->arena, (count + 1) * sizeof *copies);
  if (copies == NULL) {
    return cst__fail_memory(error, count * sizeof *copies);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(view_copy_text(view, params[i].name, &copies[i].name, error));
    CST__TRY(view_copy_text(view, params[i].value, &copies[i].value, error));
  }
  view->params = copies;
  view->num_params = count;
  return CST_OK;
}

static cst_status view_copy_wanted(cst_view *view, const char *const *names, size_t count,
                                   cst_error *error) {
  if (names == NULL) {
    return CST_OK;
  }
  const char **copies = cst__arena_take(&view->arena, (count + 1) * sizeof *copies);
  if (copies == NULL) {
    return cst__fail_memory(error, count * sizeof *copies);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(view_copy_text(view, names[i], &copies[i], error));
  }
  view->wanted = copies;
  view->num_wanted = count;
  return CST_OK;
}

static cst_status view_print_text(cst_view *view, cst_error *error) {
  cst__text text = {0};
  cst__query_print(view->query, &text);
  cst__text_append(&text, "", 0);
  view->text = text.failed ? NULL : cst__arena_copy(&view->arena, text.data, text.size);
  cst__text_free(&text);
  return view->text != NULL ? CST_OK : cst__fail_memory(error, SIZE_MAX);
}

static cst_status print_value(cst_view *view, const cst__expr *value, const char **out,
                              cst_error *error) {
  cst__text text = {0};
  cst__query_print_expression(value, &text);
  cst__text_append(&text, "", 0);
  *out = text.failed ? NULL : cst__arena_copy(&view->arena, text.data, text.size);
  cst__text_free(&text);
  return *out != NULL ? CST_OK : cst__fail_memory(error, SIZE_MAX);
}

static cst_status settle_value(cst_view *view, const cst__statement *param, const char *given,
                               const char **out, bool *is_default, cst_error *error) {
  const cst__expr *value;
  const char *usual;
  CST__TRY(cst__query_parse_literal(given, &view->arena, &value, error));
  CST__TRY(print_value(view, value, out, error));
  if (param->value != NULL) {
    CST__TRY(print_value(view, param->value, &usual, error));
    *is_default = strcmp(*out, usual) == 0;
  }
  return CST_OK;
}

/* Texts that mean the same are the same: what the query reads, and how, is said once, and
 * completely.
 */
static cst_status view_settle_text(cst_view *view, cst_error *error) {
  cst__statement *from = cst__query_need_from(view->query);
  if (from == NULL) {
    return cst__fail_memory(error, sizeof *from);
  }
  CST__TRY(cst__query_view_input_say(&view->input, &view->arena, from, error));
  return view_print_text(view, error);
}

/* The values that were given, in the order and the spelling of the query, without those that are
 * the defaults anyway. */
static cst_status view_settle_params(cst_view *view, cst_error *error) {
  cst_query_value *settled =
      cst__arena_take(&view->arena, (view->num_params + 1) * sizeof *settled);
  if (settled == NULL) {
    return cst__fail_memory(error, view->num_params * sizeof *settled);
  }
  size_t count = 0;
  for (size_t i = 0; i < view->query->num_statements; i++) {
    const cst__statement *param = &view->query->statements[i];
    for (size_t k = 0; param->kind == CST__STATEMENT_PARAM && k < view->num_params; k++) {
      bool is_default = false;
      if (strcmp(view->params[k].name, param->name) == 0) {
        settled[count].name = param->name;
        CST__TRY(settle_value(view, param, view->params[k].value, &settled[count].value,
                              &is_default, error));
        count += !is_default;
      }
    }
  }
  view->params = settled;
  view->num_params = count;
  return CST_OK;
}

/* ---- binding ---- */

static cst_status view_bind_plan(cst_view *view, cst_error *error) {
  cst__source_tree tree;
  CST__TRY(cst__query_view_input_tree(&view->input, &tree, error));
  const cst__query_plan_options options = {.query = view->query,
                                           .tree = &tree,
                                           .params = view->params,
                                           .num_params = view->num_params,
                                           .outputs = view->wanted,
                                           .num_outputs = view->num_wanted,
                                           .limits = view->limits,
                                           .allocator = &view->arena.allocator};
  return cst__query_plan_new(&options, &view->plan, error);
}

static cst_status view_bind(cst_view *view, const cst_query *query, const cst_view_options *options,
                            cst_error *error) {
  const char *without;
  view->limits = (cst__query_limits){.max_elements = options->max_elements,
                                     .max_bytes = options->max_bytes,
                                     .max_work = options->max_work};
  CST__TRY(cst_query_copy(query, &view->query, error));
  CST__TRY(view_copy_params(view, options->params, options->num_params, error));
  CST__TRY(view_copy_wanted(view, options->outputs, options->num_outputs, error));
  CST__TRY(cst__query_view_input_init(&view->input, query, options, &view->arena, error));
  CST__TRY(view_settle_text(view, error));
  CST__TRY(view_bind_plan(view, error));
  CST__TRY(view_settle_params(view, error));
  CST__TRY(
      cst__query_view_specs_new(view->plan, &view->arena.allocator, &view->specs, &without, error));
  const cst__query_view_runner_options runner = {.input = &view->input,
                                                 .plan = view->plan,
                                                 .specs = view->specs,
                                                 .without = without,
                                                 .allocator = &view->arena.allocator};
  return cst__query_view_runner_new(&runner, &view->runner, error);
}

cst_status cst__read_view_options(cst_view_options *own, const cst_view_options *options,
                                  cst_error *error) {
  CST__TRY(cst__read_options(own, sizeof *own, options, error));
  CST__TRY(cst__check_allocator(own->allocator, error));
  CST__TRY(cst__check_sizes(own->message, own->message != NULL, sizeof *own->message,
                            "message options", error));
  CST__TRY(cst__check_columns(own->outputs, own->num_outputs, error));
  if (own->params == NULL && own->num_params > 0) {
    return cst__missing("params", error);
  }
  for (size_t i = 0; i < own->num_params; i++) {
    if (own->params[i].name == NULL || own->params[i].value == NULL) {
      return cst__missing("params[].name or value", error);
    }
  }
  if (own->max_elements < 0 || own->max_bytes < 0 || own->max_work < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%s is negative",
                     own->max_elements < 0 ? "max_elements"
                     : own->max_bytes < 0  ? "max_bytes"
                                           : "max_work");
  }
  return own->type != NULL ? cst__schema_check_whole(own->type, error) : CST_OK;
}

cst_status cst_view_new(const cst_query *query, const cst_view_options *options, cst_view **out,
                        cst_error *error) {
  cst_view_options own = CST_VIEW_OPTIONS_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(query, "query", out, error));
  CST__TRY(cst__read_view_options(&own, options, error));
  if (own.message != NULL) { /* the caller's version may have fewer options of them */
    CST__TRY(cst__read_options(&message, sizeof message, own.message, error));
    own.message = &message;
  }
  cst_allocator allocator = cst__allocator_of(own.allocator);
  cst_view *view = cst__new_zero(&allocator, sizeof *view);
  if (view == NULL) {
    return cst__fail_memory(error, sizeof *view);
  }
  cst__refcount_init(&view->owners);
  cst__arena_init(&view->arena, &allocator);
  cst__mutex_init(&view->lock);
  cst_status status = view_bind(view, query, &own, error);
  if (status != CST_OK) {
    cst_view_release(view);
    return status;
  }
  *out = view;
  return CST_OK;
}

cst_view *cst_view_retain(const cst_view *view) {
  cst_view *shared = (cst_view *)(uintptr_t)view; /* only the count changes */
  if (shared != NULL) {
    cst__refcount_up(&shared->owners);
  }
  return shared;
}

void cst_view_release(cst_view *view) {
  if (view == NULL || !cst__refcount_down(&view->owners)) {
    return;
  }
  cst__query_view_runner_free(view->runner);
  cst_specs_release(view->specs);
  cst__query_plan_release(view->plan);
  cst__query_view_input_reset(&view->input);
  cst_query_free(view->query);
  cst_free(view->saved);
  cst__mutex_destroy(&view->lock);
  cst__arena_reset(&view->arena);
  cst__delete(view);
}

/* ---- the same with something else ---- */

static cst_view_options view_options_of(const cst_view *view) {
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  options.allocator = &view->arena.allocator;
  options.message = view->input.message;
  options.schema = view->input.schema;
  options.type = view->input.type.release != NULL ? &view->input.type : NULL;
  options.params = view->params;
  options.num_params = view->num_params;
  options.outputs = view->wanted;
  options.num_outputs = view->num_wanted;
  options.max_elements = view->limits.max_elements;
  options.max_bytes = view->limits.max_bytes;
  options.max_work = view->limits.max_work;
  return options;
}

static const char *nth_view_output(const void *view, size_t i) {
  return cst__query_view_output(view, i)->name;
}

static cst_status find_output(const cst_view *view, const char *name, const cst__query_output **out,
                              cst_error *error) {
  const cst__name_list known = {view, cst_view_num_outputs(view), nth_view_output};
  for (size_t i = 0; i < known.count; i++) {
    *out = cst__query_view_output(view, i);
    if (strcmp((*out)->name, name) == 0) {
      return CST_OK;
    }
  }
  return cst__fail_unknown(error, CST_NOT_FOUND, "the view has no such output", name, &known);
}

cst_status cst__query_view_with_outputs(const cst_view *view, const char *const *names,
                                        size_t count, cst_view **out, cst_error *error) {
  const cst__query_output *known;
  for (size_t i = 0; i < count; i++) {
    CST__TRY(find_output(view, names[i], &known, error));
  }
  cst_view_options options = view_options_of(view);
  options.outputs = names;
  options.num_outputs = count;
  return cst_view_new(view->query, &options, out, error);
}

/* ---- asking ---- */

size_t cst_view_num_outputs(const cst_view *view) {
  size_t count = 0;
  if (view != NULL) {
    (void)cst__query_plan_outputs(view->plan, &count);
  }
  return count;
}

const cst__query_output *cst__query_view_output(const cst_view *view, size_t i) {
  size_t count;
  const cst__query_output *outputs = cst__query_plan_outputs(view->plan, &count);
  return i < count ? &outputs[i] : NULL;
}

const char *cst_view_text(const cst_view *view) { return view != NULL ? view->text : NULL; }

bool cst_view_uses_record_index(const cst_view *view) {
  return view != NULL && cst__query_plan_has_numbers(view->plan);
}

const char *cst_view_message(const cst_view *view) {
  return view != NULL && view->input.message != NULL ? view->input.message->message : NULL;
}

const cst_message_options *cst_view_message_options(const cst_view *view) {
  return view != NULL ? view->input.message : NULL;
}

const char *cst_view_input(const cst_view *view) {
  return view != NULL ? cst__query_from_name(view->input.from) : NULL;
}

const char *cst_view_output(const cst_view *view, size_t i) {
  const cst__query_output *output = view != NULL ? cst__query_view_output(view, i) : NULL;
  return output != NULL ? output->name : NULL;
}

cst_status cst_view_arrow_schema(const cst_view *view, struct ArrowSchema *out, cst_error *error) {
  CST__CLEAR(out);
  if (view == NULL || out == NULL) {
    return cst__missing(view == NULL ? "view" : "out", error);
  }
  return cst__schema_copy(cst__query_view_output_type(view), out, error);
}

const cst_specs *cst_view_specs(const cst_view *view) { return view != NULL ? view->specs : NULL; }

cst_status cst_view_source_paths(const cst_view *view, const char *output,
                                 const char *const **paths, size_t *count, cst_error *error) {
  CST__CLEAR(paths);
  CST__CLEAR(count);
  if (view == NULL || paths == NULL || count == NULL) {
    return cst__missing(view == NULL ? "view" : paths == NULL ? "paths" : "count", error);
  }
  if (output == NULL) {
    *paths = cst__query_plan_sources(view->plan, count);
    return CST_OK;
  }
  const cst__query_output *found = NULL;
  CST__TRY(find_output(view, output, &found, error));
  *paths = found->paths;
  *count = found->num_paths;
  return CST_OK;
}
