/* What a view is, as findings, and how it is computed, in words and as JSON. */
#include <columnstone/query.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "query/plan/steps.h"
#include "query/view/view_content.h"
#include "query/view/view_specs.h"

/* ---- outputs ---- */

static void put_shape(cst_findings *found, const cst_tensor_spec *spec) {
  cst__open_list(found);
  for (size_t i = 0; i < spec->num_dims; i++) {
    cst__put_signed(found, spec->dims[i]);
  }
  cst__close_list(found);
}

/* Kind, dtype, shape and row splits. */
static void put_tensor(cst_findings *found, const cst_tensor_spec *spec) {
  if (spec == NULL) {
    for (int i = 0; i < 4; i++) {
      cst__put_null(found);
    }
    return;
  }
  cst__put_text(found, cst__query_view_kind_name(spec->kind));
  cst__put_text(found, spec->dtype != CST_DTYPE_NONE ? cst_dtype_name(spec->dtype) : NULL);
  put_shape(found, spec);
  cst__put_text(found,
                spec->kind == CST_TENSOR_RAGGED ? cst_dtype_name(spec->row_splits_dtype) : NULL);
}

static void put_columns(cst_findings *found, const cst_view *view,
                        const cst__query_output *output) {
  const struct ArrowSchema *columns = cst__query_view_output_type(view);
  cst__open_list(found);
  for (size_t i = 0; i < output->num_columns; i++) {
    const struct ArrowSchema *column = columns->children[output->first_column + i];
    cst__text type = {.allocator = view->arena.allocator};
    cst__query_view_print_type(column, &type);
    cst__put_text(found, column->name);
    cst__put_bytes(found, type.data, type.failed ? SIZE_MAX : type.size);
    cst__text_free(&type);
  }
  cst__close_list(found);
}

static void put_paths(cst_findings *found, const cst__query_output *output) {
  cst__open_list(found);
  for (size_t i = 0; i < output->num_paths; i++) {
    cst__put_text(found, output->paths[i]);
  }
  cst__close_list(found);
}

cst_status cst_view_outputs(const cst_view *view, cst_findings **out, cst_error *error) {
  static const cst__finding_column dims[] = {CST__NUMBER(NULL)};
  static const cst__finding_column paths[] = {CST__TEXT(NULL)};
  static const cst__finding_column columns[] = {CST__TEXT("name"), CST__TEXT("type")};
  static const cst__finding_column all[] = {CST__TEXT("name"),
                                            CST__TEXT_OR_NULL("kind"),
                                            CST__TEXT_OR_NULL("dtype"),
                                            CST__LIST_OR_NULL("shape", dims),
                                            CST__TEXT_OR_NULL("row_splits"),
                                            CST__LIST_OF("columns", columns),
                                            CST__LIST_OF("paths", paths)};
  static const cst__finding_type type = {"outputs", all, 7};
  const cst__query_output *output;
  cst_findings *found;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(view, "view", out, error));
  CST__TRY(cst__findings_new(&type, &view->arena.allocator, &found, error));
  for (size_t i = 0; (output = cst__query_view_output(view, i)) != NULL; i++) {
    size_t at = cst__specs_find(view->specs, output->name);
    cst__put_text(found, output->name);
    put_tensor(found, at != SIZE_MAX ? cst_specs_get(view->specs, at) : NULL);
    put_columns(found, view, output);
    put_paths(found, output);
  }
  return cst__findings_finish(found, out, error);
}

/* ---- parameters ---- */

cst_status cst_view_params(const cst_view *view, cst_findings **out, cst_error *error) {
  static const cst__finding_column all[] = {CST__TEXT("name"), CST__TEXT("type"),
                                            CST__TEXT_OR_NULL("value")};
  static const cst__finding_type type = {"params", all, 3};
  cst_findings *found;
  cst_status status = CST_OK;
  bool more = true;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(view, "view", out, error));
  CST__TRY(cst__findings_new(&type, &view->arena.allocator, &found, error));
  for (size_t i = 0; status == CST_OK && more; i++) {
    cst__query_view_param param;
    status = cst__query_view_param_at(view, i, &more, &param, error);
    if (status == CST_OK && more) {
      cst__put_text(found, param.name);
      cst__put_text(found, param.type);
      cst__put_text(found, *param.value != '\0' ? param.value : NULL);
    }
    cst__query_view_param_reset(&param);
  }
  if (status != CST_OK) {
    cst_findings_free(found);
    return status;
  }
  return cst__findings_finish(found, out, error);
}

/* ---- how it is computed ---- */

static cst_status check_explain(const cst_view *view, uint32_t flags, char **text, size_t *size,
                                cst_error *error) {
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (view == NULL || text == NULL) {
    return cst__missing(view == NULL ? "view" : "text", error);
  }
  return cst__check_flags(flags, CST_EXPLAIN_JSON, error);
}

cst_status cst_view_explain(const cst_view *view, uint32_t flags, char **text, size_t *size,
                            cst_error *error) {
  CST__TRY(check_explain(view, flags, text, size, error));
  const cst__explain_options options = {.flags = flags};
  return cst__query_plan_explain(view->plan, &options, text, size, error);
}

/* The steps of a plan with how many elements each has made of a batch. */
static cst_status explain_sizes(const cst_view *view, const cst__query_view_batch *batch,
                                uint32_t flags, char **text, cst_error *error) {
  struct ArrowArray made;
  int64_t *sizes = cst__new(&view->arena.allocator, (view->plan->num_steps + 1) * sizeof *sizes);
  if (sizes == NULL) {
    batch->array->release(batch->array);
    return cst__fail_memory(error, view->plan->num_steps * sizeof *sizes);
  }
  const cst__explain_options options = {.flags = flags, .sizes = sizes};
  cst_status status = cst__query_view_runner_apply(view->runner, batch, sizes, &made, NULL, error);
  if (status == CST_OK) {
    made.release(&made);
    status = cst__query_plan_explain(view->plan, &options, text, NULL, error);
  }
  cst__delete(sizes);
  return status;
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
  const cst_view_run_options usual = CST_VIEW_RUN_OPTIONS_INIT;
  const cst__query_view_batch given = {schema, batch, &usual};
  return explain_sizes(view, &given, flags, text, error);
}
