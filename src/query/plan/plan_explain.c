/* A plan in words: what is read, which steps are taken, what comes out. */
#include <inttypes.h>
#include <string.h>

#include "proto/message.h"
#include "query/plan/steps.h"
#include "text/json_string.h"

/* What a step is called, and what its arguments are. */
static const char *const step_names[] = {
    [CST__STEP_RECORDS] = "records",
    [CST__STEP_LIST] = "list",
    [CST__STEP_JOIN] = "join lists",
    [CST__STEP_CHOOSE_LISTS] = "choose lists",
    [CST__STEP_FILTER] = "filter",
    [CST__STEP_SLICE] = "slice",
    [CST__STEP_REVERSE] = "reverse",
    [CST__STEP_SORT] = "sort",
    [CST__STEP_SAME] = "zip",
    [CST__STEP_RUNS] = "runs",
    [CST__STEP_PRODUCT] = "product",
    [CST__STEP_EXPAND] = "call",
    [CST__STEP_PARENTS] = "parents",
    [CST__STEP_COMPOSE] = "compose",
    [CST__STEP_AT] = "at",
    [CST__STEP_KEY] = "key",
    [CST__STEP_KEPT] = "keep",
    [CST__STEP_PARTNERS] = "partners",
    [CST__STEP_PAD] = "pad",
    [CST__STEP_COLUMN] = "column",
    [CST__STEP_VALID] = "is there",
    [CST__STEP_CHOSEN] = "is chosen",
    [CST__STEP_NOT_NULL] = "not null",
    [CST__STEP_TAKE] = "take",
    [CST__STEP_LITERAL] = "value",
    [CST__STEP_CALL] = "call",
    [CST__STEP_CALLER] = "call",
    [CST__STEP_AGGREGATE] = "aggregate",
    [CST__STEP_LISTWISE] = "listwise",
    [CST__STEP_SIZE] = "size",
    [CST__STEP_RUN_SIZES] = "run sizes",
    [CST__STEP_POSITIONS] = "positions",
    [CST__STEP_NUMBERS] = "record numbers",
    [CST__STEP_MASK] = "mask",
    [CST__STEP_REPEAT] = "repeat",
    [CST__STEP_REQUIRE] = "require",
};

typedef struct explainer {
  const cst__query_plan *plan;
  const int64_t *sizes; /* NULL: not known */
  cst__text text;
} explainer;

/* ---- parts of lines ---- */

static void put_node_path(explainer *e, uint32_t node) {
  const cst__input_node *nodes = e->plan->nodes;
  if (node == 0) {
    return;
  }
  put_node_path(e, nodes[node].parent);
  if (nodes[node].name != NULL) {
    size_t size = e->text.size;
    bool is_first = size == 0 || e->text.data[size - 1] == ' ' || e->text.data[size - 1] == '"';
    cst__text_printf(&e->text, "%s%s", is_first ? "" : ".", nodes[node].name);
  }
}

static const char *step_function(const cst__step *step) {
  return step->function != NULL ? step->function->name
         : step->caller != NULL ? step->caller->name
                                : NULL;
}

static const char *output_kind_name(const cst__query_output *output) {
  switch (output->kind) {
    case CST_TENSOR_DENSE:
      return "dense";
    case CST_TENSOR_VARLEN_SPARSE:
    case CST_TENSOR_SPARSE:
      return "sparse";
    case CST_TENSOR_RAGGED:
      return "ragged";
    case CST_TENSOR_STRUCTURED:
      return "struct";
  }
  return "column";
}

static bool has_values(const cst__step *step) { return step->type.format != NULL; }

/* ---- for people ---- */

/* A value that a query says. */
static void explain_literal(explainer *e, const cst__literal *literal) {
  switch (literal->kind) {
    case CST__LITERAL_NULL:
      cst__text_puts(&e->text, " null");
      break;
    case CST__LITERAL_BOOL:
      cst__text_puts(&e->text, literal->integer != 0 ? " true" : " false");
      break;
    case CST__LITERAL_INT:
      cst__text_printf(&e->text, " %" PRId64, literal->integer);
      break;
    case CST__LITERAL_FLOAT:
      cst__text_puts(&e->text, " ");
      cst__text_put_double(&e->text, literal->number);
      break;
    case CST__LITERAL_STRING:
    case CST__LITERAL_BYTES:
      cst__text_puts(&e->text, " ");
      cst__text_put_quoted(&e->text, literal->bytes, literal->kind == CST__LITERAL_STRING);
      break;
    case CST__LITERAL_LIST:
      cst__text_printf(&e->text, " list of %zu", literal->num_items);
      break;
  }
}

static void explain_step(explainer *e, size_t i) {
  const cst__step *step = &e->plan->steps[i];
  const char *function = step_function(step);
  cst__text_printf(&e->text, "  %3zu  %-14s", i, step_names[step->kind]);
  if (function != NULL) {
    cst__text_printf(&e->text, " %s", function);
  }
  if (step->node != CST__NO_STEP) {
    cst__text_puts(&e->text, " ");
    put_node_path(e, step->node);
  }
  if (step->kind == CST__STEP_LITERAL) {
    explain_literal(e, step->literal);
  }
  const char *before = " of ";
  for (size_t k = 0; k < step->num_args && step->node == CST__NO_STEP; k++) {
    if (step->args[k] != CST__NO_STEP) {
      cst__text_printf(&e->text, "%s%" PRIu32, before, step->args[k]);
      before = ", ";
    }
  }
  if (has_values(step)) {
    cst__text_printf(&e->text, "  %s", cst__value_type_name(step->type));
  }
  if (e->sizes != NULL) {
    cst__text_printf(&e->text, "  [%" PRId64 "]", e->sizes[i]);
  }
  if (step->at.line > 0) {
    cst__text_printf(&e->text, "  (line %" PRIu32 ")", step->at.line);
  }
  cst__text_puts(&e->text, "\n");
}

static void explain_output(explainer *e, const cst__query_output *output) {
  cst__text_printf(&e->text, "  %s  %s", output->name, output_kind_name(output));
  for (size_t i = 0; output->kind == CST_TENSOR_DENSE && i < output->num_dims; i++) {
    cst__text_printf(&e->text, "[%" PRId64 "]", output->dims[i]);
  }
  for (size_t i = 0; i < output->num_paths; i++) {
    cst__text_printf(&e->text, "%s%s", i == 0 ? "  from " : ", ", output->paths[i]);
  }
  cst__text_puts(&e->text, "\n");
}

static void put_plan(explainer *e) {
  const cst__query_plan *plan = e->plan;
  cst__text_printf(&e->text, "reads (%zu)\n", plan->sources.count);
  for (size_t i = 0; i < plan->sources.count; i++) {
    cst__text_printf(&e->text, "  %s\n", plan->sources.items[i]);
  }
  cst__text_printf(&e->text, "steps (%zu)\n", plan->num_steps);
  for (size_t i = 0; i < plan->num_steps; i++) {
    explain_step(e, i);
  }
  cst__text_printf(&e->text, "outputs (%zu)\n", plan->num_outputs);
  for (size_t i = 0; i < plan->num_outputs; i++) {
    explain_output(e, &plan->outputs[i]);
  }
}

/* ---- JSON ---- */

static void put_json_paths(explainer *e, const char *const *paths, size_t count) {
  cst__text_puts(&e->text, "[");
  for (size_t i = 0; i < count; i++) {
    cst__text_puts(&e->text, i == 0 ? "" : ", ");
    cst__put_json_text(&e->text, paths[i]);
  }
  cst__text_puts(&e->text, "]");
}

static void put_json_step(explainer *e, size_t number) {
  const cst__step *step = &e->plan->steps[number];
  const char *function = step_function(step);
  cst__text_printf(&e->text, "{\"step\": \"%s\"", step_names[step->kind]);
  if (function != NULL) {
    cst__text_puts(&e->text, ", \"function\": ");
    cst__put_json_text(&e->text, function);
  }
  if (step->node != CST__NO_STEP) {
    explainer path = {.plan = e->plan};
    put_node_path(&path, step->node);
    cst__text_puts(&e->text, ", \"path\": ");
    cst__put_json_text(&e->text, path.text.data != NULL ? path.text.data : "");
    e->text.failed = e->text.failed || path.text.failed;
    cst__text_free(&path.text);
  }
  cst__text_puts(&e->text, ", \"of\": [");
  const char *before = "";
  for (size_t k = 0; k < step->num_args; k++) {
    if (step->args[k] != CST__NO_STEP) {
      cst__text_printf(&e->text, "%s%" PRIu32, before, step->args[k]);
      before = ", ";
    }
  }
  cst__text_puts(&e->text, "]");
  if (has_values(step)) {
    cst__text_printf(&e->text, ", \"type\": \"%s\"", cst__value_type_name(step->type));
  }
  if (e->sizes != NULL) {
    cst__text_printf(&e->text, ", \"size\": %" PRId64, e->sizes[number]);
  }
  if (step->at.line > 0) {
    cst__text_printf(&e->text, ", \"line\": %" PRIu32, step->at.line);
  }
  cst__text_puts(&e->text, "}");
}

static void put_json_output(explainer *e, const cst__query_output *output) {
  cst__text_puts(&e->text, "{\"name\": ");
  cst__put_json_text(&e->text, output->name);
  cst__text_printf(&e->text, ", \"kind\": \"%s\", \"reads\": ", output_kind_name(output));
  put_json_paths(e, output->paths, output->num_paths);
  cst__text_puts(&e->text, "}");
}

static void put_json_plan(explainer *e) {
  const cst__query_plan *plan = e->plan;
  cst__text_puts(&e->text, "{\"reads\": ");
  put_json_paths(e, plan->sources.items, plan->sources.count);
  cst__text_puts(&e->text, ", \"steps\": [");
  for (size_t i = 0; i < plan->num_steps; i++) {
    cst__text_puts(&e->text, i == 0 ? "" : ", ");
    put_json_step(e, i);
  }
  cst__text_puts(&e->text, "], \"outputs\": [");
  for (size_t i = 0; i < plan->num_outputs; i++) {
    cst__text_puts(&e->text, i == 0 ? "" : ", ");
    put_json_output(e, &plan->outputs[i]);
  }
  cst__text_puts(&e->text, "]}\n");
}

cst_status cst__query_plan_explain(const cst__query_plan *plan, const cst__explain_options *options,
                                   char **text, size_t *size, cst_error *error) {
  explainer e = {.plan = plan, .sizes = options->sizes};
  if ((options->flags & CST_EXPLAIN_JSON) != 0) {
    put_json_plan(&e);
  } else {
    put_plan(&e);
  }
  return cst__text_finish(&e.text, text, size, error);
}
