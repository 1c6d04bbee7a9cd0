/* Structured tensors: named tensors of one batch, each made for itself. They have no columns. */
#include "tensor/kind.h"

static cst_status structured_plan(const cst__adapter_planner *p, cst__adapter_plan *plan) {
  const cst_tensor_spec *spec = p->spec;
  size_t size = (spec->num_fields + 1) * sizeof *plan->fields;
  plan->fields = cst__arena_take_zero(p->arena, size);
  plan->num_fields = spec->num_fields;
  if (plan->fields == NULL) {
    return cst__fail_memory(p->error, size);
  }
  for (size_t i = 0; i < spec->num_fields; i++) {
    cst_status status =
        cst__plan_init(&plan->fields[i], &spec->fields[i], p->root, p->names, p->arena, p->error);
    if (status != CST_OK) {
      cst__error_add_path(p->error, spec->name, strlen(spec->name));
      return status;
    }
  }
  return CST_OK;
}

static cst_status structured_make(const cst__making *m) {
  const cst__adapter_plan *plan = m->plan;
  cst_tensor *fields = NULL;
  if (m->out != NULL) {
    fields = cst__arena_take_items(m->scratch, (int64_t)plan->num_fields, sizeof *fields);
    CST__TRY(CST__TAKEN(fields, m->error));
    memset(fields, 0, plan->num_fields * sizeof *fields);
    m->out->fields = fields;
    m->out->num_fields = plan->num_fields;
  }
  for (size_t i = 0; i < plan->num_fields; i++) {
    cst__making field = *m;
    field.plan = &plan->fields[i];
    field.out = fields != NULL ? &fields[i] : NULL;
    cst_status status = fields != NULL ? cst__make_tensor(&field) : field.plan->kind->make(&field);
    if (status != CST_OK) {
      cst__error_add_path(m->error, plan->spec->name, strlen(plan->spec->name));
      return status;
    }
  }
  return CST_OK;
}

static cst_status structured_describe(cst__describer *d, const cst__describe_place *at,
                                      const cst_tensor *tensor, cst_tensor_spec *spec) {
  const char **steps = cst__describe_take(d, at->num_steps + 1, sizeof *steps);
  cst_tensor_spec *fields;
  if (steps == NULL) {
    return CST_NO_MEMORY;
  }
  if (at->depth == 0) {
    return cst__fail(d->error, CST_SCHEMA, NULL, "structured tensors nested deeper than %d",
                     CST__ENCODE_MAX_DEPTH);
  }
  for (size_t i = 0; i < at->num_steps; i++) {
    steps[i] = at->steps[i];
  }
  steps[at->num_steps] = tensor->name;
  const cst__describe_place below = {steps, at->num_steps + 1, at->depth - 1};
  size_t count = tensor->fields != NULL ? tensor->num_fields : 0;
  CST__TRY(cst__describe_all(d, &below, tensor->fields, count, &fields));
  spec->fields = fields;
  spec->num_fields = count;
  return CST_OK;
}

const cst__tensor_kind cst__kind_structured = {
    .name = "structured",
    .plan = structured_plan,
    .make = structured_make,
    .no_padding = "the tensor is structured; its fields are padded one by one",
    .describe = structured_describe,
};
