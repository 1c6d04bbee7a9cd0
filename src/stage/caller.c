/* Stages of the caller's own: columns picked for them, what they give checked. */
#include "stage/caller.h"

#include <stdio.h>
#include <string.h>

#include "arrow/concat.h"
#include "arrow/dictionary.h"
#include "arrow/owned.h"
#include "base/error.h"

typedef struct call_plan {
  cst_allocator allocator;
  const cst__call *call;
  int64_t *places;            /* of the wanted columns in what comes; NULL: all as they are */
  struct ArrowSchema output;  /* without dictionaries */
  struct ArrowSchema encoded; /* as the caller gave it, if it has them; else release is NULL */
} call_plan;

/* ---- life ---- */

static cst_status call_copy(cst__call *call, const cst_stage *stage, cst_error *error) {
  const char *name = stage->name != NULL ? stage->name : "stage";
  const char **columns = NULL;
  size_t size;
  if (stage->columns != NULL) {
    columns = cst__mul(stage->num_columns + 1, sizeof *columns, &size)
                  ? cst__arena_take(&call->strings, size)
                  : NULL;
    if (columns == NULL) {
      return cst__fail_memory(error, stage->num_columns);
    }
  }
  for (size_t i = 0; columns != NULL && i < stage->num_columns; i++) {
    if (stage->columns[i] == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "column %zu of the stage is NULL", i);
    }
    columns[i] = cst__arena_copy(&call->strings, stage->columns[i], strlen(stage->columns[i]));
    if (columns[i] == NULL) {
      return cst__fail_memory(error, strlen(stage->columns[i]));
    }
  }
  call->stage.columns = columns;
  call->stage.name = cst__arena_copy(&call->strings, name, strlen(name));
  return call->stage.name != NULL ? CST_OK : cst__fail_memory(error, strlen(name));
}

cst_status cst__call_new(const cst_stage *stage, cst__call *before, const cst_allocator *allocator,
                         cst__call **out, cst_error *error) {
  cst__call *call = cst__new_zero(allocator, sizeof *call);
  if (call == NULL) {
    if (stage->close != NULL) {
      stage->close(stage->ctx);
    }
    return cst__fail_memory(error, sizeof *call);
  }
  cst__refcount_init(&call->owners);
  cst__arena_init(&call->strings, allocator);
  call->stage = *stage;
  call->before = cst__call_retain(before);
  call->depth = before != NULL ? before->depth + 1 : 1;
  cst_status status = call_copy(call, stage, error);
  if (status != CST_OK) {
    cst__call_release(call);
    return status;
  }
  *out = call;
  return CST_OK;
}

cst__call *cst__call_retain(cst__call *call) {
  if (call != NULL) {
    cst__refcount_up(&call->owners);
  }
  return call;
}

void cst__call_release(cst__call *call) {
  while (call != NULL && cst__refcount_down(&call->owners)) {
    cst__call *before = call->before;
    if (call->stage.close != NULL) {
      call->stage.close(call->stage.ctx);
    }
    cst__arena_reset(&call->strings);
    cst__delete(call);
    call = before;
  }
}

/* ---- binding ---- */

static const char *const *call_needs(const void *settings, size_t *count) {
  const cst_stage *stage = &((const cst__call *)settings)->stage;
  *count = stage->num_columns;
  return stage->columns;
}

/* What the caller's code fails with. */
static cst_status call_failed(const cst__call *call, cst_status status, cst_error *own,
                              cst_error *error) {
  char what[80];
  (void)snprintf(what, sizeof what, "stage '%.60s'", call->stage.name);
  return cst__error_take(error, what, status, own);
}

static bool call_is_identity(const int64_t *places, size_t count, int64_t available) {
  bool same = (int64_t)count == available;
  for (size_t i = 0; i < count; i++) {
    same = same && places[i] == (int64_t)i;
  }
  return same;
}

/* `input` becomes the schema of what the stage is given. */
static cst_status call_pick(call_plan *plan, struct ArrowSchema *input, cst_error *error) {
  const cst_stage *stage = &plan->call->stage;
  size_t size = (stage->num_columns + 1) * sizeof *plan->places;
  if (stage->columns == NULL) {
    return CST_OK;
  }
  plan->places = cst__new(&plan->allocator, size);
  if (plan->places == NULL) {
    return cst__fail_memory(error, size);
  }
  CST__TRY(cst__find_columns(stage->columns, stage->num_columns, input, plan->places, error));
  if (call_is_identity(plan->places, stage->num_columns, input->n_children)) {
    cst__delete(plan->places);
    plan->places = NULL;
    return CST_OK;
  }
  return cst__pick_fields(plan->places, stage->num_columns, input, error);
}

static cst_status call_adopt(call_plan *plan, const struct ArrowSchema *given, cst_error *error) {
  CST__TRY(cst__schema_copy(given, &plan->output, error));
  if (strcmp(plan->output.format, "+s") != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "stage '%.60s' returns '%.40s', expected record batches (a struct)",
                     plan->call->stage.name, plan->output.format);
  }
  CST__TRY(cst__schema_check_types(&plan->output, error));
  if (!cst__schema_has_dictionary(&plan->output)) {
    return CST_OK;
  }
  CST__TRY(cst__schema_copy(given, &plan->encoded, error));
  return cst__schema_make_plain(&plan->output, error);
}

static cst_status call_ask(call_plan *plan, const struct ArrowSchema *input, cst_error *error) {
  const cst_stage *stage = &plan->call->stage;
  struct ArrowSchema given = {.release = NULL};
  cst_error own = CST_ERROR_INIT;
  if (stage->bind == NULL) {
    return cst__schema_copy(input, &plan->output, error);
  }
  cst_status status = stage->bind(stage->ctx, input, &given, &own);
  if (status != CST_OK) {
    return call_failed(plan->call, status, &own, error);
  }
  status = call_adopt(plan, &given, error);
  if (given.release != NULL) {
    given.release(&given);
  }
  return status;
}

static void call_plan_free(void *object) {
  call_plan *plan = object;
  if (plan->output.release != NULL) {
    plan->output.release(&plan->output);
  }
  if (plan->encoded.release != NULL) {
    plan->encoded.release(&plan->encoded);
  }
  cst__delete(plan->places);
  cst__delete(plan);
}

static cst_status call_make_plan(call_plan *plan, const struct ArrowSchema *input,
                                 struct ArrowSchema *output, cst_error *error) {
  struct ArrowSchema picked;
  CST__TRY(cst__schema_copy(input, &picked, error));
  cst_status status = call_pick(plan, &picked, error);
  if (status == CST_OK) {
    status = call_ask(plan, &picked, error);
  }
  if (picked.release != NULL) {
    picked.release(&picked);
  }
  return status == CST_OK ? cst__schema_copy(&plan->output, output, error) : status;
}

static cst_status call_bind(const void *settings, const struct ArrowSchema *input,
                            const cst_allocator *allocator, void **out, cst__stage_output *output,
                            cst_error *error) {
  call_plan *plan = cst__new_zero(allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->allocator = cst__allocator_of(allocator);
  plan->call = settings;
  cst_status status = call_make_plan(plan, input, &output->schema, error);
  if (status != CST_OK) {
    call_plan_free(plan);
    return status;
  }
  output->keeps_rows = cst__call_keeps_rows(plan->call);
  *out = plan;
  return CST_OK;
}

/* ---- running ---- */

static cst_status call_open(const void *plan, void **state, cst_error *error) {
  (void)error;
  *state = (void *)plan; /* which the caller's code shares among threads, too */
  return CST_OK;
}

static void call_close(void *state) { (void)state; }

static cst_status call_fail_origin(const call_plan *plan, cst_error *error) {
  return cst__fail(error, CST_INVALID_ARGUMENT, "one int64 per row, the row that it comes from",
                   "the origins that stage '%.60s' returned do not fit its batch",
                   plan->call->stage.name);
}

static void release_no_schema(struct ArrowSchema *schema) { schema->release = NULL; }

/* Where the caller says that the rows come from; nothing else is known: from nowhere. */
static cst_status call_follow(const call_plan *plan, const struct ArrowArray *rows,
                              int64_t num_before, int64_t num_after, cst__row_map *origin,
                              cst_error *error) {
  if (!cst__row_map_reserve(origin, &plan->allocator, num_after)) {
    return cst__fail_memory(error, (size_t)num_after * sizeof *origin->rows);
  }
  origin->moved = true;
  if (rows->release == NULL) {
    memset(origin->rows, 0xff, (size_t)num_after * sizeof *origin->rows);
    return CST_OK;
  }
  static const struct ArrowSchema int64 = {.format = "l", .release = release_no_schema};
  if (cst__array_check_whole(&int64, rows, NULL) != CST_OK || rows->length != num_after ||
      rows->n_buffers != 2 || (num_after > 0 && rows->buffers[1] == NULL)) {
    return call_fail_origin(plan, error);
  }
  for (int64_t i = 0; i < num_after; i++) {
    int64_t row = ((const int64_t *)rows->buffers[1])[rows->offset + i];
    if (row < 0 || row >= num_before) {
      return call_fail_origin(plan, error);
    }
    origin->rows[i] = row;
  }
  return CST_OK;
}

static cst_status call_check(const call_plan *plan, int64_t num_before, struct ArrowArray *batch,
                             cst_error *error) {
  cst__arena arena;
  cst__view view;
  if (batch->release == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "stage '%.60s' returned no batch",
                     plan->call->stage.name);
  }
  if (plan->encoded.release != NULL) {
    CST__TRY(cst__array_make_plain(&plan->encoded, &plan->allocator, batch, error));
  }
  cst__arena_init(&arena, &plan->allocator);
  cst_status status = cst__view_init(&view, &plan->output, batch, false, &arena, error);
  if (status == CST_OK) {
    status = cst__view_refuse_nulls(&view, "the row", error);
  }
  cst__arena_reset(&arena);
  if (status == CST_OK && plan->call->stage.keeps_rows && batch->length != num_before) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "declare that it does not keep the rows (keeps_rows false)",
                     "stage '%.60s' returned %lld rows for %lld, expected the same number",
                     plan->call->stage.name, (long long)batch->length, (long long)num_before);
  }
  return status;
}

static cst_status call_ask_batch(const call_plan *plan, struct ArrowArray *batch,
                                 struct ArrowArray *out, cst__row_map *origin, cst_error *error) {
  const cst_stage *stage = &plan->call->stage;
  struct ArrowArray rows = {.release = NULL};
  cst_error own = CST_ERROR_INIT;
  int64_t num_before = batch->length;
  cst_status status = stage->run(stage->ctx, batch, out, &rows, &own);
  batch->release = NULL;
  if (status != CST_OK) {
    out->release = NULL;
    if (own.record >= num_before) {
      own.record = -1;
    }
    return call_failed(plan->call, status, &own, error);
  }
  status = call_check(plan, num_before, out, error);
  if (status == CST_OK && !stage->keeps_rows) {
    status = call_follow(plan, &rows, num_before, out->length, origin, error);
  }
  cst__array_release(&rows);
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

static cst_status call_run(void *state, struct ArrowArray *batch, struct ArrowArray *out,
                           cst__row_map *origin, cst_error *error) {
  const call_plan *plan = state;
  const cst_stage *stage = &plan->call->stage;
  out->release = NULL;
  if (plan->places != NULL) {
    cst_status status =
        cst__pick_arrays(plan->places, stage->num_columns, &plan->allocator, batch, error);
    if (status != CST_OK) {
      cst__array_release(batch);
      return status;
    }
  }
  if (stage->run == NULL) {
    *out = *batch;
    batch->release = NULL;
    return CST_OK;
  }
  return call_ask_batch(plan, batch, out, origin, error);
}

const cst__stage cst__call_stage = {
    .name = "call",
    .needs = call_needs,
    .bind = call_bind,
    .plan_free = call_plan_free,
    .open = call_open,
    .run = call_run,
    .close = call_close,
};
