/* Calls of views: their options, what they give back besides columns, and the type of a batch. */
#include <columnstone/query.h>

#include "arrow/records/records.h"
#include "arrow/view.h"
#include "base/arguments.h"
#include "query/view/query_view.h"

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

static cst_status check_view_records(const cst_view *view, const cst__query_view_records *records,
                                     cst_error *error) {
  return view == NULL ? cst__missing("view", error)
                      : cst__records_check(view->runner, records->items, records->count, error);
}

cst_status cst_view_run(const cst_view *view, const cst_bytes *records, size_t count,
                        const cst_view_run_options *options, cst_tensors **out, cst_error *error) {
  cst_view_run_options own = CST_VIEW_RUN_OPTIONS_INIT;
  const cst__query_view_records given = {records, count, &own};
  CST__CLEAR(out);
  CST__TRY(read_run_options(&own, options, error));
  CST__TRY(check_view_records(view, &given, error));
  if (out == NULL) {
    return cst__missing("out", error);
  }
  return cst__query_view_runner_decode(view->runner, &given, NULL, out, error);
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
  const cst__query_view_records given = {records, count, &own};
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  CST__TRY(read_run_options(&own, options, error));
  CST__TRY(check_view_records(view, &given, error));
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__query_view_runner_decode(view->runner, &given, out, NULL, error));
  return add_output_type(view, &own, out_schema, out, error);
}

/* The batch is released if something is wrong with the other arguments. */
static cst_status check_apply(const cst_view *view, const cst__query_view_batch *batch,
                              const void *out, cst_status status, cst_error *error) {
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
  const cst__query_view_batch given = {schema, batch, &own};
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  cst_status status = read_run_options(&own, options, error);
  CST__TRY(check_apply(view, &given, out, status, error));
  CST__TRY(cst__query_view_runner_apply(view->runner, &given, NULL, out, NULL, error));
  return add_output_type(view, &own, out_schema, out, error);
}

cst_status cst_view_apply_tensors(const cst_view *view, const struct ArrowSchema *schema,
                                  struct ArrowArray *batch, const cst_view_run_options *options,
                                  cst_tensors **out, cst_error *error) {
  cst_view_run_options own = CST_VIEW_RUN_OPTIONS_INIT;
  const cst__query_view_batch given = {schema, batch, &own};
  CST__CLEAR(out);
  cst_status status = read_run_options(&own, options, error);
  CST__TRY(check_apply(view, &given, out, status, error));
  return cst__query_view_runner_apply(view->runner, &given, NULL, NULL, out, error);
}
