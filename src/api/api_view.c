/* <columnstone/query.h>, views: argument checks and hand-over. */
#include <columnstone/query.h>
#include <string.h>

#include "arrow/records/records.h"
#include "arrow/view.h"
#include "base/arguments.h"
#include "query/view/query_view.h"
#include "query/view/view_describe.h"
#include "query/view/view_diff.h"
#include "query/view/view_read.h"
#include "query/view/view_rows.h"
#include "query/view/view_write.h"

/* ---- making ---- */

static cst_status read_view_options(cst_view_options *own, const cst_view_options *options,
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

/* Message options that the caller's version may have fewer of. */
static cst_status read_view_message(const cst_view_options *own, cst_message_options *message,
                                    cst_error *error) {
  return own->message != NULL ? cst__read_options(message, sizeof *message, own->message, error)
                              : CST_OK;
}

cst_status cst_view_new(const cst_query *query, const cst_view_options *options, cst_view **out,
                        cst_error *error) {
  cst_view_options own = CST_VIEW_OPTIONS_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  CST__CLEAR(out);
  if (query == NULL || out == NULL) {
    return cst__missing(query == NULL ? "query" : "out", error);
  }
  CST__TRY(read_view_options(&own, options, error));
  CST__TRY(read_view_message(&own, &message, error));
  own.message = own.message != NULL ? &message : NULL;
  return cst__query_view_new(query, &own, out, error);
}

cst_status cst_view_read(const void *bytes, size_t size, const cst_view_options *options,
                         cst_view **out, cst_error *error) {
  cst_view_options own = CST_VIEW_OPTIONS_INIT;
  CST__CLEAR(out);
  if (out == NULL || (bytes == NULL && size > 0)) {
    return cst__missing(out == NULL ? "out" : "bytes", error);
  }
  CST__TRY(read_view_options(&own, options, error));
  return cst__query_view_read((cst_bytes){bytes, size}, &own, out, error);
}

cst_status cst_view_open(const char *path, const cst_view_options *options, cst_view **out,
                         cst_error *error) {
  cst_view_options own = CST_VIEW_OPTIONS_INIT;
  CST__CLEAR(out);
  if (path == NULL || out == NULL) {
    return cst__missing(path == NULL ? "path" : "out", error);
  }
  CST__TRY(read_view_options(&own, options, error));
  return cst__query_view_open(path, &own, out, error);
}

cst_view *cst_view_retain(const cst_view *view) { return cst__query_view_retain(view); }

void cst_view_release(cst_view *view) { cst__query_view_release(view); }

/* ---- saving ---- */

cst_status cst_view_write(const cst_view *view, void **bytes, size_t *size, cst_error *error) {
  cst_bytes saved;
  CST__CLEAR(bytes);
  CST__CLEAR(size);
  if (view == NULL || bytes == NULL || size == NULL) {
    return cst__missing(view == NULL ? "view" : bytes == NULL ? "bytes" : "size", error);
  }
  CST__TRY(cst__query_view_saved(view, &saved, error));
  cst__text copy = {0};
  char *out;
  cst__text_append(&copy, saved.data, saved.size);
  CST__TRY(cst__text_finish(&copy, &out, size, error));
  *bytes = out;
  return CST_OK;
}

cst_status cst_view_save(const cst_view *view, const char *path, cst_error *error) {
  if (view == NULL || path == NULL) {
    return cst__missing(view == NULL ? "view" : "path", error);
  }
  return cst__query_view_save(view, path, error);
}

/* ---- asking ---- */

const char *cst_view_text(const cst_view *view) { return view != NULL ? view->text : NULL; }

const char *cst_view_digest(const cst_view *view) {
  return view != NULL ? cst__query_view_digest(view) : NULL;
}

bool cst_view_uses_record_index(const cst_view *view) {
  return view != NULL && cst__query_plan_has_numbers(cst__query_view_plan(view));
}

const char *cst_view_message(const cst_view *view) {
  return view != NULL && view->input.message != NULL ? view->input.message->message : NULL;
}

const cst_message_options *cst_view_message_options(const cst_view *view) {
  return view != NULL ? cst__query_view_message(view) : NULL;
}

const char *cst_view_input(const cst_view *view) {
  return view != NULL ? cst__query_from_name(view->input.from) : NULL;
}

size_t cst_view_num_outputs(const cst_view *view) {
  return view != NULL ? cst__query_view_num_outputs(view) : 0;
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

const cst_specs *cst_view_specs(const cst_view *view) {
  return view != NULL ? cst__query_view_specs(view) : NULL;
}

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
  return cst__query_view_output_paths(view, output, paths, count, error);
}

cst_status cst_view_row_paths(const cst_view *view, const char *const **paths, size_t *count,
                              cst_error *error) {
  CST__CLEAR(paths);
  CST__CLEAR(count);
  if (view == NULL || paths == NULL || count == NULL) {
    return cst__missing(view == NULL ? "view" : paths == NULL ? "paths" : "count", error);
  }
  return cst__query_view_row_paths(view, paths, count, error);
}

enum { ALL_EXPLAIN_FLAGS = CST_EXPLAIN_JSON };

static cst_status check_explain(const cst_view *view, uint32_t flags, char **text, size_t *size,
                                cst_error *error) {
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (view == NULL || text == NULL) {
    return cst__missing(view == NULL ? "view" : "text", error);
  }
  return cst__check_flags(flags, ALL_EXPLAIN_FLAGS, error);
}

cst_status cst_view_explain(const cst_view *view, uint32_t flags, char **text, size_t *size,
                            cst_error *error) {
  CST__TRY(check_explain(view, flags, text, size, error));
  const cst__explain_options options = {.flags = flags};
  return cst__query_plan_explain(view->plan, &options, text, size, error);
}

cst_status cst_view_explain_batch(const cst_view *view, const struct ArrowSchema *schema,
                                  struct ArrowArray *batch, uint32_t flags, char **text,
                                  cst_error *error) {
  cst_status status = check_explain(view, flags, text, NULL, error);
  if (status == CST_OK && (schema == NULL || batch == NULL || batch->release == NULL)) {
    status = cst__missing(schema == NULL ? "schema" : "batch", error);
  }
  if (status != CST_OK) {
    if (batch != NULL && batch->release != NULL) {
      batch->release(batch);
    }
    return status;
  }
  return cst__query_view_explain_batch(view, schema, batch, flags, text, error);
}

cst_status cst_view_describe(const cst_view *view, uint32_t flags, char **text, size_t *size,
                             cst_error *error) {
  CST__TRY(check_explain(view, flags, text, size, error));
  return cst__query_view_describe(view, flags, text, size, error);
}

cst_status cst_view_diff(const cst_view *before, const cst_view *after, char **text,
                         size_t *num_breaking, size_t *num_rows, cst_error *error) {
  CST__CLEAR(text);
  CST__CLEAR(num_breaking);
  CST__CLEAR(num_rows);
  if (before == NULL || after == NULL || text == NULL || num_breaking == NULL || num_rows == NULL) {
    return cst__missing(before == NULL ? "before" : after == NULL ? "after" : "an output", error);
  }
  return cst__query_view_diff(before, after, text, num_breaking, num_rows, error);
}

/* ---- running ---- */

static cst_status read_run_options(cst_view_run_options *own, const cst_view_run_options *options,
                                   cst_error *error) {
  CST__TRY(cst__read_options(own, sizeof *own, options, error));
  CST__CLEAR(own->origin);
  if ((unsigned)own->on_error > CST_ON_ERROR_NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "on_error is %d", (int)own->on_error);
  }
  return own->deadline >= 0
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT, "add the time of CLOCK_MONOTONIC to it",
                         "deadline is negative");
}

static cst_status check_view_records(const cst_view *view, const cst__view_records *records,
                                     cst_error *error) {
  return view == NULL ? cst__missing("view", error)
                      : cst__records_check(view->runner, records->items, records->count, error);
}

cst_status cst_view_run(const cst_view *view, const cst_bytes *records, size_t count,
                        const cst_view_run_options *options, cst_tensors **out, cst_error *error) {
  cst_view_run_options own = CST_VIEW_RUN_OPTIONS_INIT;
  const cst__view_records given = {records, count, &own};
  CST__CLEAR(out);
  CST__TRY(read_run_options(&own, options, error));
  CST__TRY(check_view_records(view, &given, error));
  if (out == NULL) {
    return cst__missing("out", error);
  }
  return cst__view_runner_tensors(view->runner, &given, out, error);
}

static cst_status copy_output_type(const cst_view *view, const cst_view_run_options *options,
                                   struct ArrowSchema *out, cst_error *error) {
  CST__TRY(cst__schema_copy(cst__query_view_output_type(view), out, error));
  for (int64_t i = 0; options->on_error == CST_ON_ERROR_NULL && i < out->n_children; i++) {
    out->children[i]->flags |= ARROW_FLAG_NULLABLE;
  }
  return CST_OK;
}

/* The type of the batch goes with it; all is released if there is no memory for that. */
static cst_status add_output_type(const cst_view *view, const cst_view_run_options *options,
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,
                                  cst_error *error) {
  cst_status status =
      out_schema != NULL ? copy_output_type(view, options, out_schema, error) : CST_OK;
  if (status != CST_OK) {
    out->release(out);
  }
  if (status != CST_OK && options->origin != NULL) {
    options->origin->release(options->origin);
  }
  return status;
}

cst_status cst_view_run_arrow(const cst_view *view, const cst_bytes *records, size_t count,
                              const cst_view_run_options *options, struct ArrowSchema *out_schema,
                              struct ArrowArray *out, cst_error *error) {
  cst_view_run_options own = CST_VIEW_RUN_OPTIONS_INIT;
  const cst__view_records given = {records, count, &own};
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  CST__TRY(read_run_options(&own, options, error));
  CST__TRY(check_view_records(view, &given, error));
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__view_runner_run(view->runner, &given, out, error));
  return add_output_type(view, &own, out_schema, out, error);
}

/* The batch is released if something is wrong with the other arguments. */
static cst_status check_apply(const cst_view *view, const cst__view_batch *batch, const void *out,
                              cst_status status, cst_error *error) {
  const char *missing = view == NULL            ? "view"
                        : batch->schema == NULL ? "schema"
                        : batch->array == NULL  ? "batch"
                        : out == NULL           ? "out"
                                                : NULL;
  if (status == CST_OK && missing != NULL) {
    status = cst__missing(missing, error);
  }
  if (status != CST_OK && batch->array != NULL && batch->array->release != NULL) {
    batch->array->release(batch->array);
  }
  return status;
}

cst_status cst_view_apply(const cst_view *view, const struct ArrowSchema *schema,
                          struct ArrowArray *batch, const cst_view_run_options *options,
                          struct ArrowSchema *out_schema, struct ArrowArray *out,
                          cst_error *error) {
  cst_view_run_options own = CST_VIEW_RUN_OPTIONS_INIT;
  const cst__view_batch given = {schema, batch, &own};
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  cst_status status = read_run_options(&own, options, error);
  CST__TRY(check_apply(view, &given, out, status, error));
  CST__TRY(cst__view_runner_apply(view->runner, &given, out, error));
  return add_output_type(view, &own, out_schema, out, error);
}

cst_status cst_view_apply_tensors(const cst_view *view, const struct ArrowSchema *schema,
                                  struct ArrowArray *batch, const cst_view_run_options *options,
                                  cst_tensors **out, cst_error *error) {
  cst_view_run_options own = CST_VIEW_RUN_OPTIONS_INIT;
  const cst__view_batch given = {schema, batch, &own};
  CST__CLEAR(out);
  cst_status status = read_run_options(&own, options, error);
  CST__TRY(check_apply(view, &given, out, status, error));
  return cst__view_runner_apply_tensors(view->runner, &given, out, error);
}
