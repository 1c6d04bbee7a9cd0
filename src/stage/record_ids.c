/* Columns of the numbers of files and records. */
#include "stage/record_ids.h"

#include <string.h>

#include "arrow/append.h"
#include "arrow/concat.h"
#include "arrow/owned.h"
#include "arrow/type.h"
#include "base/error.h"

typedef struct ids_plan {
  cst_allocator allocator;
  const cst__record_ids *ids;
} ids_plan;

typedef struct ids_state {
  const ids_plan *plan;
  cst__row_facts facts;
} ids_state;

/* ---- settings ---- */

cst_status cst__record_ids_new(const cst_id_columns *columns, const cst_allocator *allocator,
                               cst__record_ids **out, cst_error *error) {
  cst__record_ids *ids = cst__new_zero(allocator, sizeof *ids);
  if (ids == NULL) {
    return cst__fail_memory(error, sizeof *ids);
  }
  cst__refcount_init(&ids->owners);
  cst__arena_init(&ids->strings, allocator);
  ids->first_file = columns->first_file;
  ids->names[0] = cst__arena_copy(&ids->strings, columns->file, strlen(columns->file));
  ids->names[1] = cst__arena_copy(&ids->strings, columns->record, strlen(columns->record));
  if (ids->names[0] == NULL || ids->names[1] == NULL) {
    cst__record_ids_release(ids);
    return cst__fail_memory(error, strlen(columns->file) + strlen(columns->record));
  }
  *out = ids;
  return CST_OK;
}

cst__record_ids *cst__record_ids_retain(cst__record_ids *ids) {
  if (ids != NULL) {
    cst__refcount_up(&ids->owners);
  }
  return ids;
}

void cst__record_ids_release(cst__record_ids *ids) {
  if (ids != NULL && cst__refcount_down(&ids->owners)) {
    cst__arena_reset(&ids->strings);
    cst__delete(ids);
  }
}

cst_status cst__record_ids_schema(const cst__record_ids *ids, struct ArrowSchema *out,
                                  cst_error *error) {
  cst__type types[] = {CST__TYPE_OF(ids->names[0], "l"), CST__TYPE_OF(ids->names[1], "l")};
  return cst__types_export(types, 2, out, error);
}

/* ---- binding ---- */

static cst_status check_id_names(const cst__record_ids *ids, const struct ArrowSchema *input,
                                 cst_error *error) {
  for (int64_t i = 0; i < input->n_children; i++) {
    const char *name = input->children[i]->name;
    if (name != NULL && (strcmp(name, ids->names[0]) == 0 || strcmp(name, ids->names[1]) == 0)) {
      (void)cst__fail(error, CST_INVALID_ARGUMENT, "choose other names for the ids",
                      "a column of ids has the same name as another column");
      cst__error_add_path(error, name, strlen(name));
      return CST_INVALID_ARGUMENT;
    }
  }
  return CST_OK;
}

static cst_status ids_bind(const void *settings, const struct ArrowSchema *input,
                           const cst_allocator *allocator, void **out, cst__stage_output *output,
                           cst_error *error) {
  const cst__record_ids *ids = settings;
  struct ArrowSchema columns;
  CST__TRY(check_id_names(ids, input, error));
  ids_plan *plan = cst__new_zero(allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->allocator = cst__allocator_of(allocator);
  plan->ids = ids;
  cst_status status = cst__schema_copy(input, &output->schema, error);
  if (status != CST_OK) {
    cst__delete(plan);
    return status;
  }
  status = cst__record_ids_schema(ids, &columns, error);
  if (status == CST_OK) {
    status = cst__append_fields(&output->schema, &columns, error);
    if (status != CST_OK) {
      columns.release(&columns);
    }
  }
  if (status != CST_OK) {
    output->schema.release(&output->schema);
    cst__delete(plan);
    return status;
  }
  output->keeps_rows = true;
  *out = plan;
  return CST_OK;
}

static void ids_plan_free(void *plan) { cst__delete(plan); }

/* ---- running ---- */

static cst_status ids_open(const void *plan, void **out, cst_error *error) {
  ids_state *state = cst__new_zero(&((const ids_plan *)plan)->allocator, sizeof *state);
  if (state == NULL) {
    return cst__fail_memory(error, sizeof *state);
  }
  state->plan = plan;
  *out = state;
  return CST_OK;
}

static void ids_ask(void *object, const cst__row_facts *facts) {
  ((ids_state *)object)->facts = *facts;
}

/* A struct of two columns, whose values are not there yet. */
static cst_status new_columns(const cst_allocator *allocator, int64_t rows, int64_t *values[2],
                              struct ArrowArray *out, cst_error *error) {
  size_t size = (size_t)rows * sizeof **values;
  CST__TRY(cst__owned_new(allocator, 1, 2, false, out, error));
  out->length = rows;
  for (int i = 0; i < 2; i++) {
    struct ArrowArray *column = out->children[i];
    cst_status status = cst__owned_new(allocator, 2, 0, false, column, error);
    values[i] = status == CST_OK ? cst__owned_buffer(column, 1, size) : NULL;
    if (values[i] == NULL) {
      out->release(out);
      return cst__fail_memory(error, size);
    }
    column->length = rows;
  }
  return CST_OK;
}

static cst_status fill_columns(const ids_state *state, int64_t rows, int64_t *const values[2],
                               cst_error *error) {
  const cst__row_facts *facts = &state->facts;
  for (int64_t i = 0; facts->ids == NULL && i < rows; i++) {
    values[0][i] = values[1][i] = -1;
  }
  CST__TRY(facts->ids != NULL ? facts->ids(facts->ctx, rows, values[0], values[1], error) : CST_OK);
  for (int64_t i = 0; i < rows; i++) {
    values[0][i] += values[0][i] >= 0 ? (int64_t)state->plan->ids->first_file : 0;
  }
  return CST_OK;
}

/* The columns of a batch that begins within them are moved as they are: it becomes one that does
 * not. Releases it on failure. */
static cst_status begin_at_zero(const cst_allocator *allocator, struct ArrowArray *batch,
                                cst_error *error) {
  cst__shared *shared;
  if (batch->offset == 0) {
    return CST_OK;
  }
  int64_t rows = batch->length;
  cst_status status = cst__shared_new(batch, allocator, &shared, error);
  if (status != CST_OK) {
    batch->release(batch);
    return status;
  }
  status = cst__shared_slice(shared, 0, rows, batch, error);
  cst__shared_release(shared);
  return status;
}

static cst_status ids_run(void *object, struct ArrowArray *batch, struct ArrowArray *out,
                          cst__row_map *origin, cst_error *error) {
  const ids_state *state = object;
  const cst_allocator *allocator = &state->plan->allocator;
  int64_t *values[2];
  struct ArrowArray columns;
  (void)origin;
  CST__TRY(begin_at_zero(allocator, batch, error));
  cst_status status = new_columns(allocator, batch->length, values, &columns, error);
  if (status == CST_OK) {
    status = fill_columns(state, batch->length, values, error);
    if (status == CST_OK) {
      status = cst__append_arrays(batch, &columns, allocator, error);
    }
    cst__array_release(&columns);
  }
  if (status != CST_OK) {
    batch->release(batch);
    return status;
  }
  *out = *batch;
  batch->release = NULL;
  return CST_OK;
}

static void ids_close(void *state) { cst__delete(state); }

const cst__stage cst__record_ids_stage = {.name = "ids",
                                          .bind = ids_bind,
                                          .plan_free = ids_plan_free,
                                          .open = ids_open,
                                          .run = ids_run,
                                          .ask = ids_ask,
                                          .close = ids_close};
