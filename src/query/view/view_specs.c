/* The tensors of a query's outputs. */
#include "query/view/view_specs.h"

#include <string.h>

#include "schema/schema_columns.h"

typedef struct view_specs {
  const struct ArrowSchema *columns;
  cst__arena arena;
  cst_tensor_spec *items;
  cst_specs **derived; /* by types; they own what the items point to */
  size_t count;
  const char *without;
  cst_error *error;
} view_specs;

const char *cst__query_view_kind_name(cst_tensor_kind kind) {
  switch (kind) {
    case CST_TENSOR_DENSE:
      return "dense";
    case CST_TENSOR_VARLEN_SPARSE:
    case CST_TENSOR_SPARSE:
      return "sparse";
    case CST_TENSOR_RAGGED:
      return "ragged";
    case CST_TENSOR_STRUCTURED:
      return "structured";
  }
  return "";
}

/* What the type of an output's first column says by itself. */
static cst_status specs_of_type(view_specs *s, const cst__query_output *output, cst_specs **out,
                                cst_error *error) {
  struct ArrowSchema one = *s->columns; /* borrowed: never released */
  one.children = &s->columns->children[output->first_column];
  one.n_children = 1;
  return cst__specs_for_columns(NULL, NULL, &one, out, error);
}

static const char *column_of_output(const view_specs *s, size_t number) {
  return s->columns->children[number]->name;
}

static cst_status spec_names(view_specs *s, size_t first, size_t count, const char *const **out) {
  const char **names = cst__arena_take(&s->arena, (count + 1) * sizeof *names);
  if (names == NULL) {
    return cst__fail_memory(s->error, count * sizeof *names);
  }
  for (size_t i = 0; i < count; i++) {
    names[i] = column_of_output(s, first + i);
  }
  *out = names;
  return CST_OK;
}

/* Index columns stand after the values. */
static cst_status spec_sparse(view_specs *s, const cst__query_output *output,
                              cst_tensor_spec *spec) {
  bool is_plain = output->num_columns == 1;
  spec->kind = is_plain && output->num_dims == 1 ? CST_TENSOR_VARLEN_SPARSE : CST_TENSOR_SPARSE;
  if (is_plain) {
    return CST_OK;
  }
  spec->num_index_columns = output->num_columns - 1;
  spec->num_dims = spec->num_index_columns;
  spec->already_sorted = true;
  int64_t *dims = cst__arena_take(&s->arena, spec->num_dims * sizeof *dims);
  if (dims == NULL) {
    return cst__fail_memory(s->error, spec->num_dims * sizeof *dims);
  }
  for (size_t i = 0; i < spec->num_dims; i++) {
    dims[i] = -1;
  }
  spec->dims = dims;
  return spec_names(s, output->first_column + 1, spec->num_index_columns, &spec->index_columns);
}

/* What the query asks for. */
static cst_status spec_as_asked(view_specs *s, const cst__query_output *output, cst_dtype dtype,
                                cst_tensor_spec *spec) {
  *spec = (cst_tensor_spec){.name = output->name,
                            .kind = output->kind,
                            .dtype = dtype,
                            .num_path_steps = 1,
                            .reason = "The query says so."};
  CST__TRY(spec_names(s, output->first_column, 1, &spec->path));
  switch (output->kind) {
    case CST_TENSOR_DENSE:
      spec->num_dims = output->num_dims;
      spec->dims = output->dims;
      return CST_OK;
    case CST_TENSOR_RAGGED:
      spec->row_splits_dtype = output->row_splits;
      return CST_OK;
    default:
      return spec_sparse(s, output, spec);
  }
}

/* A struct keeps its nulls: a value that stands alone is a row of one value, or of none. */
static cst_status spec_keep_nulls(view_specs *s, const cst_tensor_spec *from, cst_tensor_spec *to) {
  *to = *from;
  if (from->kind == CST_TENSOR_DENSE && from->num_dims == 0) {
    to->kind = CST_TENSOR_RAGGED;
    to->row_splits_dtype = CST_DTYPE_INT64;
    to->reason = "A value of a struct, which may be null.";
  }
  if (from->kind != CST_TENSOR_STRUCTURED) {
    return CST_OK;
  }
  cst_tensor_spec *fields = cst__arena_take(&s->arena, from->num_fields * sizeof *fields);
  if (fields == NULL) {
    return cst__fail_memory(s->error, from->num_fields * sizeof *fields);
  }
  to->fields = fields;
  for (size_t i = 0; i < from->num_fields; i++) {
    CST__TRY(spec_keep_nulls(s, &from->fields[i], &fields[i]));
  }
  return CST_OK;
}

/* Floats of 16 bits have a spec, and may not be tensors. */
static bool has_half_floats(const struct ArrowSchema *column) {
  bool found = strcmp(column->format, "e") == 0;
  for (int64_t i = 0; i < column->n_children && !found; i++) {
    found = has_half_floats(column->children[i]);
  }
  return found;
}

static cst_status spec_of_output(view_specs *s, const cst__query_output *output) {
  cst_specs *derived = NULL;
  cst_error failure = CST_ERROR_INIT; /* an output may do without */
  cst_status status = specs_of_type(s, output, &derived, &failure);
  bool has_none = status == CST_UNSUPPORTED ||
                  (status == CST_OK && cst_specs_num_specs(derived) == 0) ||
                  has_half_floats(s->columns->children[output->first_column]);
  if (has_none && output->kind == 0) {
    s->without = s->without == NULL ? output->name : s->without;
    cst_specs_release(derived);
    return CST_OK;
  }
  if (status != CST_OK) {
    cst__error_copy(s->error, &failure);
    return status;
  }
  if (has_none) {
    cst_specs_release(derived);
    status = cst__fail(s->error, CST_UNSUPPORTED, "cast it, or leave the kind of tensor out",
                       "the output has no values that a tensor can hold");
    cst__error_add_path(s->error, output->name, strlen(output->name));
    return status;
  }
  s->derived[s->count] = derived;
  const cst_tensor_spec *own = cst_specs_get(derived, 0);
  cst_tensor_spec *spec = &s->items[s->count++];
  if (output->kind == 0) {
    *spec = *own;
    return CST_OK;
  }
  if (output->kind == CST_TENSOR_STRUCTURED) {
    return spec_keep_nulls(s, own, spec);
  }
  return spec_as_asked(s, output, own->dtype, spec);
}

static cst_status specs_of_outputs(view_specs *s, const cst__query_output *outputs, size_t count) {
  s->items = cst__arena_take_zero(&s->arena, (count + 1) * sizeof *s->items);
  s->derived = cst__arena_take_zero(&s->arena, (count + 1) * sizeof *s->derived);
  if (s->items == NULL || s->derived == NULL) {
    return cst__fail_memory(s->error, count * sizeof *s->items);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(spec_of_output(s, &outputs[i]));
  }
  return CST_OK;
}

cst_status cst__query_view_specs_new(const cst__query_plan *plan, const cst_allocator *allocator,
                                     cst_specs **out, const char **without, cst_error *error) {
  size_t count;
  const cst__query_output *outputs = cst__query_plan_outputs(plan, &count);
  view_specs s = {.columns = cst__query_plan_schema(plan), .error = error};
  cst__arena_init(&s.arena, allocator);
  cst_status status = specs_of_outputs(&s, outputs, count);
  if (status == CST_OK) {
    status = cst_specs_from(s.items, s.count, allocator, out, error);
  }
  for (size_t i = 0; i < s.count; i++) {
    cst_specs_release(s.derived[i]);
  }
  cst__arena_reset(&s.arena);
  *without = s.without;
  return status;
}
