/* The options of a source: checked, and copied. */
#include "source/input/reading_options.h"

#include <string.h>

#include "arrow/view.h"
#include "base/names.h"
#include "message/message_options.h"
#include "query/plan/steps.h"
#include "query/view/query_view.h"
#include "schema/schema.h"
#include "source/input/source_options.h"

struct cst__option_names {
  cst__refcount owners;
  cst__arena arena;
};

/* ---- what is counted ---- */

cst__types *cst__types_new(struct ArrowSchema *schema, const cst_allocator *allocator) {
  cst__types *types = cst__new(allocator, sizeof *types);
  if (types == NULL) {
    schema->release(schema);
    return NULL;
  }
  cst__refcount_init(&types->owners);
  types->schema = *schema;
  schema->release = NULL;
  return types;
}

void cst__types_release(cst__types *types) {
  if (types != NULL && cst__refcount_down(&types->owners)) {
    types->schema.release(&types->schema);
    cst__delete(types);
  }
}

void cst__reading_options_keep(const cst__reading_options *options) {
  cst__refcount_up(&options->names->owners);
  (void)cst_schema_retain(options->values.schema);
  if (options->values.view != NULL) {
    (void)cst_view_retain(options->values.view);
  }
  (void)cst__call_retain(options->calls);
  (void)cst__record_ids_retain(options->ids);
  if (options->types != NULL) {
    cst__refcount_up(&options->types->owners);
  }
}

void cst__reading_options_release(cst__reading_options *options) {
  if (options->names != NULL && cst__refcount_down(&options->names->owners)) {
    cst__message_options_release(options->values.message);
    cst__arena_reset(&options->names->arena);
    cst__delete(options->names);
  }
  cst_schema_release((cst_schema *)(uintptr_t)options->values.schema);
  cst_view_release((cst_view *)(uintptr_t)options->values.view);
  cst__types_release(options->types);
  cst__call_release(options->calls);
  cst__record_ids_release(options->ids);
  *options = (cst__reading_options){.names = NULL};
}

bool cst__reading_options_keep_rows(const cst__reading_options *options) {
  const cst__call *call = options->calls;
  const cst_view *view = options->values.view;
  while (call != NULL && cst__call_keeps_rows(call)) {
    call = call->before;
  }
  return call == NULL && (view == NULL || cst__query_view_keeps_rows(view));
}

const struct ArrowSchema *cst__reading_options_types(const cst__reading_options *options,
                                                     bool is_text) {
  const cst_view *view = options->values.view;
  bool by_view = is_text && view != NULL && options->values.schema == NULL &&
                 cst__query_view_from(view) == CST__FROM_TABLE;
  return options->types != NULL ? &options->types->schema : by_view ? &view->input.type : NULL;
}

bool cst__reading_options_decode_column(const cst__reading_options *options) {
  const cst_source_options *values = &options->values;
  bool wanted = values->columns == NULL;
  for (size_t i = 0; values->message_column != NULL && i < values->num_columns && !wanted; i++) {
    wanted = strcmp(values->columns[i], values->message_column) == 0;
  }
  return values->message_column != NULL && wanted;
}

/* ---- checks ---- */

static cst_status check_column_names(const cst_source_options *o, cst_error *error) {
  cst__name_map seen = {0};
  size_t count = o->columns != NULL ? o->num_columns : 0;
  cst_status status = cst__map_columns(o->columns, count, &seen, error);
  cst__name_map_reset(&seen);
  return status;
}

/* ---- views ---- */

static cst_status check_view_options(const cst_source_options *o, cst_error *error) {
  bool of_messages = cst__query_view_from(o->view) == CST__FROM_MESSAGE;
  if (of_messages && o->message_column != NULL) {
    return cst__fail(error, CST_UNSUPPORTED,
                     "query the table, whose column of messages is a struct (from table)",
                     "a view of messages reads records, not a column of messages");
  }
  if (of_messages && o->message != NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "remove them; set the form of the records when opening the view",
                     "the view has its own descriptors and message options");
  }
  if (o->column_flags != 0) {
    return cst__fail(error, CST_UNSUPPORTED, "leave column_flags out",
                     "the query of a view defines its columns");
  }
  return CST_OK;
}

/* True for a path into the column of this name. */
static bool leads_into(const char *path, const char *column) {
  size_t size = column != NULL ? strlen(column) : 0;
  return size > 0 && strncmp(path, column, size) == 0 && path[size] == '.';
}

/* Columns of the input that the view needs, whose names belong to it: the first steps of its paths;
 * into a column of messages, which is parsed, the whole paths. */
static cst_status find_view_columns(cst__arena *arena, const cst__query_plan *plan,
                                    cst_source_options *values, cst_error *error) {
  size_t count = 0;
  size_t most = plan->num_nodes + plan->paths.count + 1;
  const char **names = cst__arena_take(arena, most * sizeof *names);
  if (names == NULL) {
    return cst__fail_memory(error, most * sizeof *names);
  }
  for (size_t i = 0; i < plan->paths.count; i++) {
    if (leads_into(plan->paths.items[i], values->message_column)) {
      names[count++] = plan->paths.items[i];
    }
  }
  bool is_inside = count > 0;
  for (size_t i = 1; i < plan->num_nodes; i++) {
    const char *name = plan->nodes[i].name;
    if (plan->nodes[i].parent == 0 && (!is_inside || strcmp(name, values->message_column) != 0)) {
      names[count++] = name;
    }
  }
  values->columns = names;
  values->num_columns = count;
  return CST_OK;
}

/* A path to each node that has none below it. */
static cst_status find_view_paths(cst__arena *arena, const cst__query_plan *plan,
                                  cst__reading_options *options, cst_error *error) {
  const char *messages = options->values.message_column;
  size_t size = plan->num_nodes * sizeof *options->paths + 1;
  cst_path *paths = cst__arena_take(arena, size);
  bool *has_below = cst__arena_take_zero(arena, plan->num_nodes + 1);
  if (paths == NULL || has_below == NULL) {
    return cst__fail_memory(error, size);
  }
  for (size_t i = 1; i < plan->num_nodes; i++) {
    has_below[plan->nodes[i].parent] = true;
  }
  for (uint32_t i = 1; i < plan->num_nodes; i++) {
    cst_path *path = &paths[options->num_paths];
    if (has_below[i]) {
      continue;
    }
    if (!cst__query_plan_steps(plan, i, NULL, arena, path)) {
      return cst__fail_memory(error, size);
    }
    bool is_message = messages != NULL && strcmp(path->steps[0], messages) == 0;
    path->count = is_message ? 1 : path->count;
    options->num_paths++;
  }
  options->paths = paths;
  return CST_OK;
}

/* Of the wanted columns, outputs of the view, what has to be decoded for them. */
static cst_status set_view(cst__arena *arena, const cst_source_options *from,
                           cst__reading_options *options, cst_error *error) {
  cst_source_options *values = &options->values;
  cst_view *view = NULL;
  CST__TRY(check_view_options(from, error));
  if (values->columns != NULL) {
    CST__TRY(cst__query_view_with_outputs(from->view, values->columns, values->num_columns, &view,
                                          error));
  } else {
    view = cst_view_retain(from->view);
  }
  values->view = view;
  switch (cst__query_view_from(view)) {
    case CST__FROM_MESSAGE:
      values->columns = cst__query_plan_paths(view->plan, &values->num_columns);
      return cst__message_options_copy(cst_view_message_options(view), arena, &values->message,
                                       error);
    case CST__FROM_EXAMPLE:
    case CST__FROM_SEQUENCE_EXAMPLE:
      values->flat = true;
      values->schema =
          values->schema != NULL ? values->schema : cst_schema_retain(cst__query_view_schema(view));
      break;
    case CST__FROM_TABLE:
      break;
  }
  CST__TRY(find_view_columns(arena, cst__query_view_plan(view), values, error));
  return find_view_paths(arena, cst__query_view_plan(view), options, error);
}

/* ---- copies ---- */

static cst_status copy_option_columns(cst__arena *arena, cst_source_options *o, cst_error *error) {
  size_t bytes;
  if (o->columns == NULL) {
    o->num_columns = 0;
    return CST_OK;
  }
  if (!cst__mul(o->num_columns + 1, sizeof *o->columns, &bytes)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  const char **names = cst__arena_take_zero(arena, bytes);
  if (names == NULL) {
    return cst__fail_memory(error, bytes);
  }
  for (size_t i = 0; i < o->num_columns; i++) {
    names[i] = o->columns[i];
    if (names[i] == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "column %zu of the options is NULL", i);
    }
    names[i] = cst__arena_copy(arena, names[i], strlen(names[i]));
    CST__TRY(names[i] != NULL ? CST_OK : cst__fail_memory(error, bytes));
  }
  o->columns = names;
  return check_column_names(o, error);
}

/* Of the wanted columns, the paths into the column of messages become that column, and what follows
 * its name. */
static cst_status split_message_paths(cst__arena *arena, cst__reading_options *options,
                                      cst_error *error) {
  cst_source_options *values = &options->values;
  size_t size = values->message_column != NULL ? strlen(values->message_column) : 0;
  size_t bytes = (values->num_columns + 1) * sizeof *values->columns; /* as copied before */
  if (size == 0 || values->columns == NULL) {
    return CST_OK;
  }
  const char **columns = cst__arena_take(arena, bytes);
  const char **paths = cst__arena_take(arena, bytes);
  if (columns == NULL || paths == NULL) {
    return cst__fail_memory(error, bytes);
  }
  size_t count = 0;
  bool is_whole = false;
  bool is_there = false;
  for (size_t i = 0; i < values->num_columns; i++) {
    const char *name = values->columns[i];
    bool is_inside = strncmp(name, values->message_column, size) == 0 &&
                     (name[size] == '\0' || name[size] == '.');
    if (is_inside && name[size] == '\0') {
      is_whole = true;
    } else if (is_inside) {
      paths[options->num_message_paths++] = name + size + 1;
    }
    if (!is_inside || !is_there) {
      columns[count++] = is_inside ? values->message_column : name;
    }
    is_there = is_there || is_inside;
  }
  values->columns = columns;
  values->num_columns = count;
  options->message_paths = is_whole || !is_there ? NULL : paths;
  return CST_OK;
}

static cst_status copy_option_types(const cst_source_options *from, cst__types **to,
                                    cst_error *error) {
  struct ArrowSchema copy;
  if (from->types == NULL) {
    return CST_OK;
  }
  CST__TRY(cst__schema_copy(from->types, &copy, error));
  *to = cst__types_new(&copy, from->allocator);
  return *to != NULL ? CST_OK : cst__fail_memory(error, sizeof **to);
}

/* Copies all that the values point to, and fills in what they do not say. */
static cst_status settle(cst__arena *arena, cst_source_options *values, cst_error *error) {
  CST__TRY(cst__source_options_settle(values, arena, error));
  return copy_option_columns(arena, values, error);
}

cst_status cst__reading_options_init(cst__reading_options *options, const cst_source_options *from,
                                     cst_error *error) {
  CST__TRY(cst__options_check(&cst__source_option_table, from, error));
  *options = (cst__reading_options){.values = *from,
                                    .names = cst__new(from->allocator, sizeof *options->names)};
  cst_source_options *values = &options->values;
  values->schema = cst_schema_retain(from->schema);
  values->types = NULL;
  values->message = NULL;
  values->view = NULL;
  values->format = NULL;
  values->container = NULL;
  values->format_options = NULL;
  values->num_format_options = 0;
  values->allocator = NULL;
  if (options->names == NULL) {
    cst__reading_options_release(options);
    return cst__fail_memory(error, sizeof *options->names);
  }
  cst__refcount_init(&options->names->owners);
  cst__arena_init(&options->names->arena, from->allocator);
  cst_status status = copy_option_types(from, &options->types, error);
  if (status == CST_OK) {
    status = settle(&options->names->arena, values, error);
  }
  if (status == CST_OK && from->view != NULL) {
    status = set_view(&options->names->arena, from, options, error);
  }
  if (status == CST_OK) {
    status = split_message_paths(&options->names->arena, options, error);
  }
  if (status == CST_OK && values->message == NULL) {
    status =
        cst__message_options_copy(from->message, &options->names->arena, &values->message, error);
  }
  if (status != CST_OK) {
    cst__reading_options_release(options);
  }
  return status;
}
