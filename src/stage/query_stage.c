/* A query in a chain of stages: what it asks of its rows, the rows that it refuses, and the raw
 * records and offsets that go along with its outputs. */
#include "stage/query_stage.h"

#include <string.h>

#include "arrow/append.h"
#include "arrow/concat.h"
#include "arrow/owned.h"
#include "base/error.h"
#include "query/plan/steps.h"
#include "query/run/run.h"
#include "query/view/query_view.h"
#include "table/rows.h"

typedef struct query_stage_plan {
  cst_allocator allocator;
  cst_view *view;
  struct ArrowSchema input;
  struct ArrowSchema result;         /* what the query gives, without what goes along */
  struct ArrowSchema carried;        /* a struct of what goes along; release NULL: nothing does */
  int64_t places[CST__MOST_CARRIED]; /* of its columns in the input */
  size_t num_carried;
  bool has_numbers; /* the query asks for those of records */
  bool nulls;
} query_stage_plan;

typedef struct query_stage_state {
  const query_stage_plan *plan;
  cst__query_run *run;
  cst__row_facts facts;
  cst__bad_row_callback on_bad;
  void *ctx;
  int64_t *numbers; /* of the rows' records */
  size_t capacity;
  uint8_t *bad; /* by row: those that are bad already */
  size_t bad_capacity;
} query_stage_state;

/* ---- binding ---- */

static cst_status query_check_carried_name(const query_stage_plan *plan, const char *name,
                                           cst_error *error) {
  for (int64_t i = 0; i < plan->result.n_children; i++) {
    if (strcmp(plan->result.children[i]->name, name) == 0) {
      cst_status status =
          cst__fail(error, CST_INVALID_ARGUMENT, "choose another name for that column",
                    "the column of raw records or offsets has the same name as an output");
      cst__error_add_path(error, name, strlen(name));
      return status;
    }
  }
  return CST_OK;
}

static cst_status query_find_carried(query_stage_plan *plan, const cst__query_settings *settings,
                                     cst_error *error) {
  size_t count = settings->num_carried;
  for (size_t i = 0; i < count; i++) {
    CST__TRY(query_check_carried_name(plan, settings->carried[i], error));
  }
  CST__TRY(cst__find_columns(settings->carried, count, &plan->input, plan->places, error));
  CST__TRY(cst__schema_copy(&plan->input, &plan->carried, error));
  plan->num_carried = count;
  return cst__pick_fields(plan->places, count, &plan->carried, error);
}

static void query_plan_free(void *object) {
  query_stage_plan *plan = object;
  struct ArrowSchema *schemas[] = {&plan->input, &plan->result, &plan->carried};
  for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
    if (schemas[i]->release != NULL) {
      schemas[i]->release(schemas[i]);
    }
  }
  cst_view_release(plan->view);
  cst__delete(plan);
}

static cst_status query_make_plan(query_stage_plan *plan, const cst__query_settings *settings,
                                  const struct ArrowSchema *input, struct ArrowSchema *out,
                                  cst_error *error) {
  CST__TRY(cst__schema_copy(input, &plan->input, error));
  CST__TRY(cst__schema_copy(cst__query_view_output_type(plan->view), &plan->result, error));
  for (int64_t i = 0; plan->nulls && i < plan->result.n_children; i++) {
    plan->result.children[i]->flags |= ARROW_FLAG_NULLABLE;
  }
  if (settings->num_carried > 0) {
    CST__TRY(query_find_carried(plan, settings, error));
  }
  /* That the columns fit is found out here, before any thread opens a run. */
  cst__query_run *run = NULL;
  CST__TRY(cst__query_run_open(cst__query_view_plan(plan->view), &plan->input, &run, error));
  cst__query_run_close(run);
  struct ArrowSchema carried;
  CST__TRY(cst__schema_copy(&plan->result, out, error));
  if (plan->carried.release == NULL) {
    return CST_OK;
  }
  cst_status status = cst__schema_copy(&plan->carried, &carried, error);
  if (status == CST_OK) {
    status = cst__append_fields(out, &carried, error);
    if (carried.release != NULL) {
      carried.release(&carried);
    }
  }
  if (status != CST_OK) {
    out->release(out);
  }
  return status;
}

static cst_status query_bind(const void *settings, const struct ArrowSchema *input,
                             const cst_allocator *allocator, void **out, cst__stage_output *output,
                             cst_error *error) {
  const cst__query_settings *own = settings;
  query_stage_plan *plan = cst__new_zero(allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->allocator = cst__allocator_of(allocator);
  plan->view = cst_view_retain(own->view);
  plan->nulls = own->nulls;
  plan->has_numbers = cst__query_plan_has_numbers(cst__query_view_plan(plan->view));
  cst_status status = query_make_plan(plan, own, input, &output->schema, error);
  if (status != CST_OK) {
    query_plan_free(plan);
    return status;
  }
  output->keeps_rows = cst__query_view_keeps_rows(plan->view);
  *out = plan;
  return CST_OK;
}

/* ---- opening ---- */

static void query_close(void *object) {
  query_stage_state *state = object;
  cst__query_run_close(state->run);
  cst__delete(state->numbers);
  cst__delete(state->bad);
  cst__delete(state);
}

static cst_status query_open(const void *object, void **out, cst_error *error) {
  const query_stage_plan *plan = object;
  query_stage_state *state = cst__new_zero(&plan->allocator, sizeof *state);
  if (state == NULL) {
    return cst__fail_memory(error, sizeof *state);
  }
  state->plan = plan;
  cst_status status =
      cst__query_run_open(cst__query_view_plan(plan->view), &plan->input, &state->run, error);
  if (status != CST_OK) {
    cst__delete(state);
    return status;
  }
  *out = state;
  return CST_OK;
}

static void query_set_on_bad(void *object, cst__bad_row_callback on_bad, void *ctx) {
  query_stage_state *state = object;
  state->on_bad = on_bad;
  state->ctx = ctx;
}

static void query_ask(void *object, const cst__row_facts *facts) {
  ((query_stage_state *)object)->facts = *facts;
}

/* ---- running ---- */

/* Rows in the place of records that do not decode, before the query refuses others; NULL: there are
 * none. */
static cst_status query_find_bad(query_stage_state *state, int64_t count, const uint8_t **out,
                                 cst_error *error) {
  void *items = state->bad;
  bool ok = cst__grow(&state->plan->allocator, &items, &state->bad_capacity, (size_t)count + 1, 1);
  state->bad = items;
  if (!ok) {
    return cst__fail_memory(error, (size_t)count);
  }
  bool any = false;
  for (int64_t i = 0; i < count; i++) {
    state->bad[i] = state->facts.is_bad != NULL && state->facts.is_bad(state->facts.ctx, i);
    any = any || state->bad[i];
  }
  *out = any ? state->bad : NULL;
  return CST_OK;
}

/* Line and column are those of the query, but the file that is going to be named is the input's:
 * what the query's line is stands in the message. */
static void query_forget_position(cst_error *error) {
  if (cst__error_wanted(error)) {
    error->line = 0;
    error->column = 0;
  }
}

static void query_note_bad(void *ctx, const cst_error *error) {
  const query_stage_state *state = ctx;
  if (state->on_bad != NULL) {
    cst_error own = *error;
    query_forget_position(&own);
    state->on_bad(state->ctx, &own);
  }
}

/* The numbers of the rows' records, if the query has record_index(). */
static cst_status query_find_numbers(query_stage_state *state, int64_t count, const int64_t **out,
                                     cst_error *error) {
  *out = NULL;
  if (!state->plan->has_numbers) {
    return CST_OK;
  }
  void *items = state->numbers;
  bool ok = cst__grow(&state->plan->allocator, &items, &state->capacity, (size_t)count + 1,
                      sizeof *state->numbers);
  state->numbers = items;
  if (!ok) {
    return cst__fail_memory(error, (size_t)count * sizeof *state->numbers);
  }
  for (int64_t i = 0; i < count; i++) {
    state->numbers[i] = state->facts.record != NULL ? state->facts.record(state->facts.ctx, i)
                                                    : CST__NUMBER_UNKNOWN;
    if (state->numbers[i] < 0) {
      return state->numbers[i] == CST__NUMBER_OF_PASS
                 ? cst__fail(
                       error, CST_UNSUPPORTED, "read the files one by one",
                       "record_index() has no numbers here: the records of several files of this "
                       "format are read as one table")
                 : cst__fail(
                       error, CST_UNSUPPORTED,
                       "read all of it; of TFRecords, an index that was made before they are "
                       "divided (columnstone index) does it, too",
                       "record_index() has no numbers here: what is read begins in the middle of "
                       "a file");
    }
  }
  *out = state->numbers;
  return CST_OK;
}

static cst_status query_add_carried(const query_stage_plan *plan, struct ArrowArray *carried,
                                    const cst__row_map *origin, struct ArrowArray *out,
                                    cst_error *error) {
  CST__TRY(cst__pick_arrays(plan->places, plan->num_carried, &plan->allocator, carried, error));
  if (origin->moved) {
    /* The rows of an array by their numbers (-1: nulls), in its place. */
    cst_array *from;
    cst_array *taken = NULL;
    CST__TRY(cst_array_import(&plan->carried, carried, CST_ARRAY_TRUSTED, &plan->allocator, &from,
                              error));
    cst_status status = cst_array_take(from, origin->rows, (size_t)out->length, &taken, error);
    cst_array_release(from);
    if (status == CST_OK) {
      status = cst_array_export(taken, carried, error);
      cst_array_release(taken);
    }
    CST__TRY(status);
  }
  return cst__append_arrays(out, carried, &plan->allocator, error);
}

static cst_status query_run_batch(query_stage_state *state, struct ArrowArray *batch,
                                  struct ArrowArray *out, cst__row_map *origin, cst_error *error) {
  const query_stage_plan *plan = state->plan;
  cst__query_input input = {.batch = batch};
  if (plan->nulls) {
    CST__TRY(query_find_bad(state, batch->length, &input.bad, error));
    input.on_bad = query_note_bad;
    input.ctx = state;
  }
  CST__TRY(query_find_numbers(state, batch->length, &input.numbers, error));
  return cst__query_run_batch(state->run, &input, out, origin, error);
}

/* The same with what goes along, which is a second look at the batch. */
static cst_status query_run_and_carry(query_stage_state *state, struct ArrowArray *batch,
                                      struct ArrowArray *out, cst__row_map *origin,
                                      cst_error *error) {
  const query_stage_plan *plan = state->plan;
  cst__shared *shared;
  struct ArrowArray carried;
  int64_t count = batch->length;
  CST__TRY(cst__shared_new(batch, &plan->allocator, &shared, error));
  cst_status status = cst__shared_slice(shared, 0, count, &carried, error);
  if (status == CST_OK) {
    status = cst__shared_slice(shared, 0, count, batch, error);
    if (status == CST_OK) {
      status = query_run_batch(state, batch, out, origin, error);
    }
    if (status == CST_OK) {
      status = query_add_carried(plan, &carried, origin, out, error);
      if (status != CST_OK) {
        cst__array_release(out);
      }
    }
    cst__array_release(&carried);
  }
  cst__shared_release(shared);
  return status;
}

static cst_status query_stage_run(void *object, struct ArrowArray *batch, struct ArrowArray *out,
                                  cst__row_map *origin, cst_error *error) {
  query_stage_state *state = object;
  cst_status status = state->plan->carried.release != NULL
                          ? query_run_and_carry(state, batch, out, origin, error)
                          : query_run_batch(state, batch, out, origin, error);
  cst__array_release(batch);
  if (status != CST_OK) {
    query_forget_position(error);
  }
  return status;
}

const cst__stage cst__query_stage = {
    .name = "query",
    .refuses_rows = true,
    .bind = query_bind,
    .plan_free = query_plan_free,
    .open = query_open,
    .run = query_stage_run,
    .on_bad = query_set_on_bad,
    .ask = query_ask,
    .close = query_close,
};
