/* Stages one after another. */
#include "stage/chain.h"

#include "base/error.h"

typedef struct chain_link {
  const cst__stage *stage;
  void *plan; /* NULL: not bound */
  cst__stage_output output;
} chain_link;

struct cst__chain {
  cst__refcount owners;
  cst_allocator allocator;
  size_t count; /* > 0 */
  bool keeps_rows;
  chain_link links[];
};

struct cst__chain_run {
  const cst__chain *chain;
  bool refused;
  cst__row_map origin;  /* of the rows that the stages so far have given */
  cst__row_map step;    /* the same of one stage */
  cst__row_facts facts; /* of the rows that come */
  int64_t rows;         /* of the batch that came */
  int64_t *ids;         /* of these: two numbers each */
  size_t ids_capacity;
  void *states[]; /* NULL: not open */
};

/* ---- binding ---- */

static cst_status chain_bind(cst__chain *chain, const cst__stage_use *uses,
                             const struct ArrowSchema *input, cst_error *error) {
  chain->keeps_rows = true;
  for (size_t i = 0; i < chain->count; i++) {
    chain_link *link = &chain->links[i];
    link->stage = uses[i].stage;
    CST__TRY(link->stage->bind(uses[i].settings, input, &chain->allocator, &link->plan,
                               &link->output, error));
    chain->keeps_rows = chain->keeps_rows && link->output.keeps_rows;
    input = &link->output.schema;
  }
  return CST_OK;
}

cst_status cst__chain_new(const cst__stage_use *uses, size_t count, const struct ArrowSchema *input,
                          const cst_allocator *allocator, cst__chain **out, cst_error *error) {
  size_t size = sizeof(cst__chain) + count * sizeof(chain_link);
  cst__chain *chain = cst__new_zero(allocator, size);
  if (chain == NULL) {
    return cst__fail_memory(error, size);
  }
  cst__refcount_init(&chain->owners);
  chain->allocator = cst__allocator_of(allocator);
  chain->count = count;
  cst_status status = chain_bind(chain, uses, input, error);
  if (status != CST_OK) {
    cst__chain_release(chain);
    return status;
  }
  *out = chain;
  return CST_OK;
}

cst__chain *cst__chain_retain(cst__chain *chain) {
  if (chain != NULL) {
    cst__refcount_up(&chain->owners);
  }
  return chain;
}

void cst__chain_release(cst__chain *chain) {
  if (chain == NULL || !cst__refcount_down(&chain->owners)) {
    return;
  }
  for (size_t i = 0; i < chain->count; i++) {
    chain_link *link = &chain->links[i];
    if (link->plan != NULL) {
      link->stage->plan_free(link->plan);
      link->output.schema.release(&link->output.schema);
    }
  }
  cst__delete(chain);
}

const struct ArrowSchema *cst__chain_schema(const cst__chain *chain) {
  return &chain->links[chain->count - 1].output.schema;
}

bool cst__chain_keeps_rows(const cst__chain *chain) { return chain->keeps_rows; }

/* ---- running ---- */

cst_status cst__chain_open(const cst__chain *chain, cst__chain_run **out, cst_error *error) {
  size_t size = sizeof(cst__chain_run) + chain->count * sizeof(void *);
  cst__chain_run *run = cst__new_zero(&chain->allocator, size);
  cst_status status = run != NULL ? CST_OK : cst__fail_memory(error, size);
  if (run != NULL) {
    run->chain = chain;
  }
  for (size_t i = 0; i < chain->count && status == CST_OK; i++) {
    status = chain->links[i].stage->open(chain->links[i].plan, &run->states[i], error);
  }
  if (status != CST_OK) {
    cst__chain_close(run);
    return status;
  }
  *out = run;
  return CST_OK;
}

/* Only stages that refuse rows have bad ones, and those before them keep their numbers. */
void cst__chain_on_bad(cst__chain_run *run, cst__bad_row_callback on_bad, void *ctx) {
  for (size_t i = 0; i < run->chain->count; i++) {
    const cst__stage *stage = run->chain->links[i].stage;
    if (stage->on_bad != NULL) {
      stage->on_bad(run->states[i], on_bad, ctx);
    }
  }
}

/* The ids of the rows that the stages so far have given. */
static cst_status chain_ids(const void *ctx, int64_t count, int64_t *files, int64_t *records,
                            cst_error *error) {
  cst__chain_run *run = (cst__chain_run *)(uintptr_t)ctx;
  if (!run->origin.moved) {
    return run->facts.ids(run->facts.ctx, count, files, records, error);
  }
  void *ids = run->ids;
  size_t wanted = 2 * (size_t)run->rows;
  bool ok = cst__grow(&run->chain->allocator, &ids, &run->ids_capacity, wanted, sizeof *run->ids);
  run->ids = ids;
  if (!ok) {
    return cst__fail_memory(error, wanted * sizeof *run->ids);
  }
  CST__TRY(run->facts.ids(run->facts.ctx, run->rows, run->ids, run->ids + run->rows, error));
  for (int64_t i = 0; i < count; i++) {
    int64_t row = run->origin.rows[i];
    files[i] = row < 0 ? -1 : run->ids[row];
    records[i] = row < 0 ? -1 : run->ids[run->rows + row];
  }
  return CST_OK;
}

void cst__chain_ask(cst__chain_run *run, const cst__row_facts *facts) {
  const cst__row_facts of_others = {.ids = facts->ids != NULL ? chain_ids : NULL, .ctx = run};
  bool keeps_rows = true;
  run->facts = *facts;
  for (size_t i = 0; i < run->chain->count; i++) {
    const chain_link *link = &run->chain->links[i];
    if (link->stage->ask != NULL) {
      link->stage->ask(run->states[i], keeps_rows ? facts : &of_others);
    }
    keeps_rows = keeps_rows && link->output.keeps_rows;
  }
}

void cst__chain_close(cst__chain_run *run) {
  for (size_t i = 0; run != NULL && i < run->chain->count; i++) {
    if (run->states[i] != NULL) {
      run->chain->links[i].stage->close(run->states[i]);
    }
  }
  if (run != NULL) {
    cst__delete(run->ids);
    cst__row_map_reset(&run->origin);
    cst__row_map_reset(&run->step);
  }
  cst__delete(run);
}

/* Makes the rows of a stage's output those of the batch that came first. */
static void chain_follow(cst__chain_run *run, int64_t rows) {
  cst__row_map step = run->step;
  if (!step.moved) {
    return;
  }
  for (int64_t i = 0; run->origin.moved && i < rows; i++) {
    step.rows[i] = step.rows[i] < 0 ? -1 : run->origin.rows[step.rows[i]];
  }
  run->step = run->origin;
  run->origin = step;
}

static cst_status chain_step(cst__chain_run *run, size_t i, struct ArrowArray *batch,
                             cst_error *error) {
  struct ArrowArray out = {.release = NULL};
  cst_error own = CST_ERROR_INIT; /* its record is the row of this stage's batch, or -1 */
  run->step.moved = false;
  cst_status status =
      run->chain->links[i].stage->run(run->states[i], batch, &out, &run->step, &own);
  if (status != CST_OK) {
    run->refused = run->chain->links[i].stage->refuses_rows && own.record >= 0 &&
                   (status == CST_SCHEMA || status == CST_CORRUPT);
    if (own.record >= 0 && run->origin.moved) {
      own.record = run->origin.rows[own.record];
    }
    cst__error_copy(error, &own);
    return status;
  }
  *batch = out;
  chain_follow(run, out.length);
  return CST_OK;
}

bool cst__chain_refused(const cst__chain_run *run) { return run->refused; }

cst_status cst__chain_apply(cst__chain_run *run, struct ArrowArray *batch,
                            const cst__row_map **origin, cst_error *error) {
  run->origin.moved = false;
  run->rows = batch->length;
  for (size_t i = 0; i < run->chain->count; i++) {
    CST__TRY(chain_step(run, i, batch, error));
  }
  *origin = &run->origin;
  return CST_OK;
}

cst_status cst__chain_try(cst__chain_run *run, struct ArrowArray *batch, cst_error *error) {
  run->origin.moved = false;
  for (size_t i = 0; i < run->chain->count && run->chain->links[i].stage->refuses_rows; i++) {
    CST__TRY(chain_step(run, i, batch, error));
  }
  return CST_OK;
}
