/* What a view is, in words and as JSON. */
#include <columnstone/query.h>

#include <inttypes.h>
#include <string.h>

#include "base/arguments.h"
#include "query/plan/steps.h"
#include "query/view/view_content.h"
#include "query/view/view_specs.h"
#include "query/view/view_write.h"
#include "text/json_string.h"

typedef struct describer {
  const cst_view *view;
  cst__text text;
  bool is_json;
  cst_error *error;
} describer;

static const cst_tensor_spec *described_spec(const describer *d, const cst__query_output *output) {
  size_t at = cst__specs_find(d->view->specs, output->name);
  return at != SIZE_MAX ? cst_specs_get(d->view->specs, at) : NULL;
}

static const char *const form_names[] = {"binary", "text", "json", "confluent", "confluent_plain"};

static void put_shape(describer *d, const cst_tensor_spec *spec) {
  cst__text_puts(&d->text, "[");
  for (size_t i = 0; i < spec->num_dims; i++) {
    cst__text_printf(&d->text, "%s%" PRId64, i > 0 ? ", " : "", spec->dims[i]);
  }
  cst__text_puts(&d->text, "]");
}

static void put_column_type(describer *d, const struct ArrowSchema *column) {
  if (!d->is_json) {
    cst__view_print_type(column, &d->text);
    return;
  }
  cst__text type = {0};
  cst__view_print_type(column, &type);
  cst__text_append(&type, "", 1);
  d->text.failed |= type.failed;
  cst__put_json_text(&d->text, type.data != NULL ? type.data : "");
  cst__text_free(&type);
}

/* ---- for people ---- */

/* "  NAME  ": names are as wide as the widest, up to a limit. */
static void put_output_name(describer *d, const char *name, size_t width) {
  cst__text_printf(&d->text, "  %-*s  ", (int)width, name);
}

static size_t name_width(const describer *d) {
  size_t width = 4;
  const cst__query_output *output;
  for (size_t i = 0; (output = cst__query_view_output(d->view, i)) != NULL; i++) {
    size_t size = strlen(output->name);
    width = size > width && size <= 30 ? size : width;
  }
  return width;
}

static void put_outputs_text(describer *d) {
  const struct ArrowSchema *columns = cst__query_view_output_type(d->view);
  const cst__query_output *output;
  size_t width = name_width(d);
  cst__text_puts(&d->text, "outputs\n");
  for (size_t i = 0; (output = cst__query_view_output(d->view, i)) != NULL; i++) {
    const cst_tensor_spec *spec = described_spec(d, output);
    put_output_name(d, output->name, width);
    if (spec != NULL) {
      const char *dtype = spec->dtype != CST_DTYPE_NONE ? cst_dtype_name(spec->dtype) : "";
      cst__text_printf(&d->text, "%s %s", cst__view_kind_name(spec->kind), dtype);
      if (spec->num_dims > 0) {
        put_shape(d, spec);
      }
      cst__text_puts(&d->text, ", ");
    }
    put_column_type(d, columns->children[output->first_column]);
    for (size_t k = 0; k < output->num_paths; k++) {
      cst__text_printf(&d->text, "%s%s", k == 0 ? " <- " : ", ", output->paths[k]);
    }
    cst__text_puts(&d->text, "\n");
  }
}

static cst_status put_params_text(describer *d) {
  bool found = true;
  for (size_t i = 0; found; i++) {
    cst__view_param param;
    CST__TRY(cst__view_param_at(d->view, i, &found, &param, d->error));
    if (found) {
      cst__text_printf(&d->text, "%s  %s: %s = %s\n", i == 0 ? "params\n" : "", param.name,
                       param.type, param.value);
    }
    cst__view_param_reset(&param);
  }
  return CST_OK;
}

static cst_status describe_text(describer *d) {
  const cst_view *view = d->view;
  const cst_message_options *message = view->input.message;
  if (message != NULL) {
    cst__text_printf(&d->text, "input    %s messages, %s\n", message->message,
                     form_names[message->form]);
  } else {
    cst__text_printf(&d->text, "input    %s\n", cst__query_from_name(view->input.from));
  }
  const char *digest = cst_view_digest(view);
  if (digest != NULL) {
    cst__text_printf(&d->text, "digest   %s\nsize     %zu bytes\n", digest, view->saved_size);
  }
  CST__TRY(put_params_text(d));
  put_outputs_text(d);
  cst__text_puts(&d->text, "query\n");
  for (const char *line = view->text; *line != '\0';) {
    size_t size = strcspn(line, "\n");
    cst__text_printf(&d->text, "  %.*s\n", (int)size, line);
    line += size + (line[size] == '\n');
  }
  return CST_OK;
}

/* ---- JSON ---- */

static void put_member(describer *d, const char *name, const char *value) {
  cst__text_printf(&d->text, "\"%s\": ", name);
  if (value != NULL) {
    cst__put_json_text(&d->text, value);
  } else {
    cst__text_puts(&d->text, "null");
  }
}

static void put_paths_json(describer *d, const char *const *paths, size_t count) {
  cst__text_puts(&d->text, "\"paths\": [");
  for (size_t i = 0; i < count; i++) {
    cst__text_puts(&d->text, i > 0 ? ", " : "");
    cst__put_json_text(&d->text, paths[i]);
  }
  cst__text_puts(&d->text, "]");
}

static void put_output_json(describer *d, const cst__query_output *output) {
  const struct ArrowSchema *columns = cst__query_view_output_type(d->view);
  const cst_tensor_spec *spec = described_spec(d, output);
  cst__text_puts(&d->text, "{");
  put_member(d, "name", output->name);
  cst__text_puts(&d->text, ", ");
  put_member(d, "kind", spec != NULL ? cst__view_kind_name(spec->kind) : NULL);
  cst__text_puts(&d->text, ", ");
  bool has_dtype = spec != NULL && spec->dtype != CST_DTYPE_NONE;
  put_member(d, "dtype", has_dtype ? cst_dtype_name(spec->dtype) : NULL);
  if (spec != NULL) {
    cst__text_puts(&d->text, ", \"shape\": ");
    put_shape(d, spec);
  }
  if (spec != NULL && spec->kind == CST_TENSOR_RAGGED) {
    cst__text_puts(&d->text, ", ");
    put_member(d, "row_splits", cst_dtype_name(spec->row_splits_dtype));
  }
  cst__text_puts(&d->text, ", \"columns\": [");
  for (size_t i = 0; i < output->num_columns; i++) {
    const struct ArrowSchema *column = columns->children[output->first_column + i];
    cst__text_puts(&d->text, i > 0 ? ", {" : "{");
    put_member(d, "name", column->name);
    cst__text_puts(&d->text, ", \"type\": ");
    put_column_type(d, column);
    cst__text_puts(&d->text, "}");
  }
  cst__text_puts(&d->text, "], ");
  put_paths_json(d, output->paths, output->num_paths);
  cst__text_puts(&d->text, "}");
}

static cst_status put_params_json(describer *d) {
  bool found = true;
  cst__text_puts(&d->text, "\"params\": [");
  for (size_t i = 0; found; i++) {
    cst__view_param param;
    CST__TRY(cst__view_param_at(d->view, i, &found, &param, d->error));
    if (found) {
      cst__text_puts(&d->text, i > 0 ? ", {" : "{");
      put_member(d, "name", param.name);
      cst__text_puts(&d->text, ", ");
      put_member(d, "type", param.type);
      cst__text_puts(&d->text, ", ");
      put_member(d, "value", *param.value != '\0' ? param.value : NULL);
      cst__text_puts(&d->text, "}");
    }
    cst__view_param_reset(&param);
  }
  cst__text_puts(&d->text, "]");
  return CST_OK;
}

static cst_status describe_json(describer *d) {
  const cst_view *view = d->view;
  const cst_message_options *message = view->input.message;
  const char *digest = cst_view_digest(view);
  cst__text_puts(&d->text, "{");
  put_member(d, "input", cst__query_from_name(view->input.from));
  cst__text_puts(&d->text, ", ");
  put_member(d, "message", message != NULL ? message->message : NULL);
  cst__text_puts(&d->text, ", ");
  put_member(d, "form", message != NULL ? form_names[message->form] : NULL);
  cst__text_puts(&d->text, ", ");
  put_member(d, "digest", digest);
  if (digest != NULL) {
    cst__text_printf(&d->text, ", \"size\": %zu", view->saved_size);
  }
  cst__text_puts(&d->text, ", ");
  CST__TRY(put_params_json(d));
  cst__text_puts(&d->text, ", \"outputs\": [");
  const cst__query_output *output;
  for (size_t i = 0; (output = cst__query_view_output(view, i)) != NULL; i++) {
    cst__text_puts(&d->text, i > 0 ? ", " : "");
    put_output_json(d, output);
  }
  cst__text_puts(&d->text, "], ");
  size_t count;
  const char *const *paths = cst__query_plan_sources(view->plan, &count);
  put_paths_json(d, paths, count);
  cst__text_puts(&d->text, ", ");
  put_member(d, "query", view->text);
  cst__text_puts(&d->text, "}\n");
  return CST_OK;
}

static cst_status check_explain(const cst_view *view, uint32_t flags, char **text, size_t *size,
                                cst_error *error) {
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (view == NULL || text == NULL) {
    return cst__missing(view == NULL ? "view" : "text", error);
  }
  return cst__check_flags(flags, CST_EXPLAIN_JSON, error);
}

cst_status cst_view_describe(const cst_view *view, uint32_t flags, char **text, size_t *size,
                             cst_error *error) {
  CST__TRY(check_explain(view, flags, text, size, error));
  describer d = {.view = view, .is_json = (flags & CST_EXPLAIN_JSON) != 0, .error = error};
  cst_status status = d.is_json ? describe_json(&d) : describe_text(&d);
  if (status != CST_OK) {
    cst__text_free(&d.text);
    return status;
  }
  return cst__text_finish(&d.text, text, size, error);
}

/* ---- how it is computed ---- */

cst_status cst_view_explain(const cst_view *view, uint32_t flags, char **text, size_t *size,
                            cst_error *error) {
  CST__TRY(check_explain(view, flags, text, size, error));
  const cst__explain_options options = {.flags = flags};
  return cst__query_plan_explain(view->plan, &options, text, size, error);
}

/* The steps of a plan with how many elements each has made of a batch. */
static cst_status explain_sizes(const cst_view *view, const cst__view_batch *batch, uint32_t flags,
                                char **text, cst_error *error) {
  struct ArrowArray made;
  int64_t *sizes = cst__new(&view->arena.allocator, (view->plan->num_steps + 1) * sizeof *sizes);
  if (sizes == NULL) {
    batch->array->release(batch->array);
    return cst__fail_memory(error, view->plan->num_steps * sizeof *sizes);
  }
  const cst__explain_options options = {.flags = flags, .sizes = sizes};
  cst_status status = cst__view_runner_apply(view->runner, batch, sizes, &made, NULL, error);
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
  const cst__view_batch given = {schema, batch, &usual};
  return explain_sizes(view, &given, flags, text, error);
}
