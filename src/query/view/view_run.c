/* Running a bound query: decoders, the query, the adapter of tensors. */
#include "query/view/view_run.h"

#include <string.h>

#include "arrow/owned.h"
#include "arrow/view.h"
#include "base/interrupt.h"
#include "decode/sequence_decoder.h"
#include "message/decode/decode.h"
#include "query/plan/steps.h"
#include "query/run/run.h"
#include "schema/flat.h"
#include "table/rows.h"
#include "tensor/tensor.h"

/* What one call needs for itself. */
typedef struct runner_state {
  struct runner_state *next;
  cst_decoder *decoder;
  void *flat;           /* of examples; NULL: messages */
  cst__query_run *run;  /* over what the decoder gives */
  cst__query_run *bare; /* over batches of the type that the query is bound to; NULL: not yet */
  cst__row_map origin;
  int64_t *sizes; /* for the next run: how many elements each step makes; NULL: not asked */
} runner_state;

struct cst__query_view_runner {
  cst_allocator allocator;
  cst__arena arena;
  const cst__query_view_input *input;
  cst__query_plan *plan;
  const cst_specs *specs;
  const char *without;

  cst_decoder *compiled; /* what decoders share; NULL: no records are read */
  void *flat;
  struct ArrowSchema decoded;  /* the type of decoded batches, after flat; released: no records are
                                  read (tables, examples without a schema) */
  cst_tensor_adapter *adapter; /* NULL: `without` */
  cst_tensor_adapter *filling; /* with defaults for rows of nulls; NULL: not yet */

  cst__mutex lock;
  runner_state *idle;
};

/* ---- tensors of rows of nulls ---- */

/* What dense tensors have where a record is bad. */
static cst_status filling_specs(const cst__query_view_runner *r, cst_specs **out,
                                cst_error *error) {
  size_t count = cst_specs_num_specs(r->specs);
  cst_tensor_spec *items = cst__new(&r->allocator, (count + 1) * sizeof *items);
  if (items == NULL) {
    return cst__fail_memory(error, count * sizeof *items);
  }
  for (size_t i = 0; i < count; i++) {
    items[i] = *cst_specs_get(r->specs, i);
    items[i].has_default = items[i].has_default || items[i].kind == CST_TENSOR_DENSE;
  }
  cst_status status = cst_specs_from(items, count, &r->allocator, out, error);
  cst__delete(items);
  return status;
}

static cst_status new_adapter(const cst__query_view_runner *r, const cst_specs *specs,
                              cst_tensor_adapter **out, cst_error *error) {
  cst_tensor_options own = CST_TENSOR_OPTIONS_INIT;
  own.allocator = &r->allocator;
  return cst_tensor_adapter_new(cst__query_plan_schema(r->plan), specs, &own, out, error);
}

static cst_status make_filling_adapter(cst__query_view_runner *r, cst_error *error) {
  cst_specs *specs;
  CST__TRY(filling_specs(r, &specs, error));
  cst_status status = new_adapter(r, specs, &r->filling, error);
  cst_specs_release(specs);
  return status;
}

/* Made for the first call that needs it. */
static cst_status runner_filling_adapter(cst__query_view_runner *r, const cst_tensor_adapter **out,
                                         cst_error *error) {
  cst__mutex_lock(&r->lock);
  cst_status status = r->filling == NULL ? make_filling_adapter(r, error) : CST_OK;
  *out = r->filling;
  cst__mutex_unlock(&r->lock);
  return status;
}

/* ---- what is shared ---- */

/* The columns that hold what the plan wants: the fields of the batch that it reads. */
static cst_status runner_columns(cst__query_view_runner *r, const char *const **out, size_t *count,
                                 cst_error *error) {
  const cst__query_plan *plan = r->plan;
  const char **names = cst__arena_take(&r->arena, (plan->num_nodes + 1) * sizeof *names);
  if (names == NULL) {
    return cst__fail_memory(error, plan->num_nodes * sizeof *names);
  }
  *count = 0;
  for (size_t i = 1; i < plan->num_nodes; i++) {
    if (plan->nodes[i].parent == 0) {
      names[(*count)++] = plan->nodes[i].name;
    }
  }
  *out = names;
  return CST_OK;
}

static cst_status share_messages(cst__query_view_runner *r, cst_error *error) {
  cst__message_plan_options options = {.message = r->input->message, .allocator = &r->allocator};
  options.columns = cst__query_plan_paths(r->plan, &options.num_columns);
  static const char *const nothing[1] = {NULL};
  options.columns = options.columns != NULL ? options.columns : nothing;
  cst__message_plan *plan;
  CST__TRY(cst__message_plan_new(&options, &plan, error));
  cst_status status = cst__message_decoder_open(plan, &r->compiled, error);
  cst__message_plan_release(plan);
  return status == CST_OK ? cst_decoder_arrow_schema(r->compiled, &r->decoded, error) : status;
}

/* Puts the type after flat in the place of what the decoder gives. */
static cst_status share_flat(cst__query_view_runner *r, cst_error *error) {
  const cst__flat_settings settings = {.schema = r->input->schema};
  cst__stage_output output;
  CST__TRY(cst_decoder_arrow_schema(r->compiled, &r->decoded, error));
  CST__TRY(cst__flat_stage.bind(&settings, &r->decoded, &r->allocator, &r->flat, &output, error));
  r->decoded.release(&r->decoded);
  r->decoded = output.schema;
  return CST_OK;
}

static cst_status share_examples(cst__query_view_runner *r, cst_error *error) {
  cst__example_decoder_options options = {.allocator = &r->allocator};
  CST__TRY(runner_columns(r, &options.columns, &options.num_columns, error));
  CST__TRY(cst__example_decoder_new(r->input->schema, &options, &r->compiled, error));
  return share_flat(r, error);
}

static cst_status share_sequences(cst__query_view_runner *r, cst_error *error) {
  cst__sequence_decoder_options options = {.allocator = &r->allocator};
  CST__TRY(runner_columns(r, &options.columns, &options.num_columns, error));
  CST__TRY(cst__sequence_decoder_new(r->input->schema, &options, &r->compiled, error));
  return share_flat(r, error);
}

static cst_status share_decoder(cst__query_view_runner *r, cst_error *error) {
  switch (r->input->from) {
    case CST__FROM_MESSAGE:
      return share_messages(r, error);
    case CST__FROM_EXAMPLE:
      return r->input->schema != NULL ? share_examples(r, error) : CST_OK;
    case CST__FROM_SEQUENCE_EXAMPLE:
      return r->input->schema != NULL ? share_sequences(r, error) : CST_OK;
    case CST__FROM_TABLE:
      break;
  }
  return CST_OK;
}

cst_status cst__query_view_runner_new(const cst__query_view_runner_options *options,
                                      cst__query_view_runner **out, cst_error *error) {
  cst_allocator allocator = cst__allocator_of(options->allocator);
  cst__query_view_runner *r = cst__new_zero(&allocator, sizeof *r);
  if (r == NULL) {
    return cst__fail_memory(error, sizeof *r);
  }
  r->allocator = allocator;
  r->input = options->input;
  r->plan = options->plan;
  r->specs = options->specs;
  r->without = options->without;
  cst__arena_init(&r->arena, &allocator);
  cst__mutex_init(&r->lock);
  cst_status status = share_decoder(r, error);
  if (status == CST_OK && r->without == NULL) {
    status = new_adapter(r, r->specs, &r->adapter, error);
  }
  if (status != CST_OK) {
    cst__query_view_runner_free(r);
    return status;
  }
  *out = r;
  return CST_OK;
}

/* ---- what a call needs for itself ---- */

static void runner_state_free(runner_state *state) {
  cst__query_run_close(state->run);
  cst__query_run_close(state->bare);
  if (state->flat != NULL) {
    cst__flat_stage.close(state->flat);
  }
  cst_decoder_free(state->decoder);
  cst__row_map_reset(&state->origin);
  cst__delete(state);
}

void cst__query_view_runner_free(cst__query_view_runner *r) {
  if (r == NULL) {
    return;
  }
  while (r->idle != NULL) {
    runner_state *state = r->idle;
    r->idle = state->next;
    runner_state_free(state);
  }
  cst_tensor_adapter_free(r->adapter);
  cst_tensor_adapter_free(r->filling);
  if (r->flat != NULL) {
    cst__flat_stage.plan_free(r->flat);
  }
  if (r->decoded.release != NULL) {
    r->decoded.release(&r->decoded);
  }
  cst_decoder_free(r->compiled);
  cst__mutex_destroy(&r->lock);
  cst__arena_reset(&r->arena);
  cst__delete(r);
}

static cst_status runner_state_open(cst__query_view_runner *r, runner_state *state,
                                    cst_error *error) {
  if (r->compiled != NULL) {
    CST__TRY(cst__decoder_share(r->compiled, &state->decoder, error));
  }
  if (r->flat != NULL) {
    CST__TRY(cst__flat_stage.open(r->flat, &state->flat, error));
  }
  return r->decoded.release != NULL ? cst__query_run_open(r->plan, &r->decoded, &state->run, error)
                                    : CST_OK;
}

static cst_status runner_take(cst__query_view_runner *r, runner_state **out, cst_error *error) {
  cst__mutex_lock(&r->lock);
  runner_state *state = r->idle;
  if (state != NULL) {
    r->idle = state->next;
  }
  cst__mutex_unlock(&r->lock);
  if (state == NULL) {
    state = cst__new_zero(&r->allocator, sizeof *state);
    if (state == NULL) {
      return cst__fail_memory(error, sizeof *state);
    }
    cst_status status = runner_state_open(r, state, error);
    if (status != CST_OK) {
      runner_state_free(state);
      return status;
    }
  }
  *out = state;
  return CST_OK;
}

static void runner_put(cst__query_view_runner *r, runner_state *state) {
  cst__mutex_lock(&r->lock);
  state->next = r->idle;
  r->idle = state;
  cst__mutex_unlock(&r->lock);
}

/* ---- records ---- */

static cst_status runner_decode(runner_state *state, const cst__records *records,
                                struct ArrowArray *out, cst_error *error) {
  struct ArrowArray batch;
  cst__row_map unused = {0};
  if (state->flat == NULL) {
    return cst__decoder_decode(state->decoder, records, NULL, out, error);
  }
  CST__TRY(cst__decoder_decode(state->decoder, records, NULL, &batch, error));
  return cst__flat_stage.run(state->flat, &batch, out, &unused, error);
}

/* ---- one call ---- */

/* What a call is about: records, or the rows of a batch. */
typedef struct runner_call {
  cst__query_view_runner *runner;
  runner_state *state;
  const cst_view_run_options *options;
  const cst_bytes *records;         /* NULL: a batch */
  const struct ArrowSchema *schema; /* of it */
  struct ArrowArray *array;         /* the batch, until it is taken, */
  const cst_array *batch;           /* or, where rows may be sifted, it to be shared */
  cst__query_run *run;
  int64_t count;     /* of records, or rows */
  bool want_tensors; /* what comes out has to fit them, too */
  int64_t *numbers;  /* 0, 1, ... for parts; NULL: nothing is sifted yet */
  uint8_t *bad;      /* by record */
  int64_t *sound;    /* numbers of the others */
  int64_t num_sound;
  cst_error error; /* of the last part that was refused */
} runner_call;

/* A batch that the query takes: of records decoded, or of the batch. */
static cst_status call_input(const runner_call *c, int64_t begin, int64_t count,
                             struct ArrowArray *out, cst_error *error) {
  if (c->records != NULL) {
    const cst__records records = {.items = c->records + begin, .count = (size_t)count};
    return runner_decode(c->state, &records, out, error);
  }
  if (c->batch == NULL) {
    *out = *c->array;
    c->array->release = NULL;
    return CST_OK;
  }
  cst_array *part;
  CST__TRY(cst_array_slice(c->batch, begin, count, &part, error));
  cst_status status = cst_array_export(part, out, error);
  cst_array_release(part);
  return status;
}

static cst_status call_query(const runner_call *c, struct ArrowArray *batch, const int64_t *numbers,
                             struct ArrowArray *out, cst_error *error) {
  const cst__query_input input = {.batch = batch, .numbers = numbers, .sizes = c->state->sizes};
  c->state->origin.moved = false;
  return cst__query_run_batch(c->run, &input, out, &c->state->origin, error);
}

static cst_status call_part(const runner_call *c, int64_t begin, int64_t count,
                            struct ArrowArray *out, cst_error *error) {
  struct ArrowArray batch;
  CST__TRY(call_input(c, begin, count, &batch, error));
  return call_query(c, &batch, c->numbers != NULL ? c->numbers + begin : NULL, out, error);
}

/* ---- bad records ---- */

/* A failure that is that of a record. */
static bool call_may_sift(const runner_call *c, cst_status status) {
  return c->options->on_error != CST_ON_ERROR_RAISE && cst__is_fault(status) &&
         c->error.record >= 0;
}

/* What comes out: a batch, and tensors of it if they are wanted. */
typedef struct call_result {
  struct ArrowArray batch;
  cst_tensors *tensors;
} call_result;

static void call_result_release(call_result *result) {
  cst__array_release(&result->batch);
  cst_tensors_release(result->tensors);
}

static cst_status call_convert(runner_call *c, const cst_tensor_adapter *adapter,
                               call_result *result) {
  const cst__row_map *map = &c->state->origin;
  cst_status status = cst_tensor_adapter_convert(adapter, &result->batch, CST_ARRAY_TRUSTED,
                                                 &result->tensors, &c->error);
  if (status != CST_OK && map->moved && c->error.record >= 0 &&
      c->error.record < result->batch.length) {
    c->error.record = map->rows[c->error.record];
  }
  return status;
}

/* The result of a part; it is the caller's to release, also after a failure. */
static cst_status call_once(runner_call *c, int64_t begin, int64_t count, call_result *result) {
  *result = (call_result){.tensors = NULL};
  CST__TRY(call_part(c, begin, count, &result->batch, &c->error));
  return c->want_tensors ? call_convert(c, c->runner->adapter, result) : CST_OK;
}

/* Halves what has a bad record until it is one: n bad records of m cost about 2 n log m, and never
 * more than 2 m log m. */
static cst_status call_sift(runner_call *c, int64_t begin, int64_t count) {
  call_result result;
  cst_status status = call_once(c, begin, count, &result);
  call_result_release(&result);
  if (status == CST_OK || !call_may_sift(c, status)) {
    return status;
  }
  if (count == 1) {
    c->bad[begin] = 1;
    c->error.record = begin;
    if (c->options->on_bad != NULL) {
      c->options->on_bad(c->options->bad_ctx, &c->error);
    }
    return CST_OK;
  }
  CST__TRY(call_sift(c, begin, count / 2));
  return call_sift(c, begin + count / 2, count - count / 2);
}

/* A batch of the sound records alone. */
static cst_status call_sound_input(runner_call *c, struct ArrowArray *out) {
  if (c->records == NULL) {
    cst_array *taken;
    CST__TRY(cst_array_take(c->batch, c->sound, (size_t)c->num_sound, &taken, &c->error));
    cst_status status = cst_array_export(taken, out, &c->error);
    cst_array_release(taken);
    return status;
  }
  size_t size = (size_t)c->num_sound * sizeof(cst_bytes) + 1;
  cst_bytes *items = cst__new(&c->runner->allocator, size);
  if (items == NULL) {
    return cst__fail_memory(&c->error, size);
  }
  for (int64_t i = 0; i < c->num_sound; i++) {
    items[i] = c->records[c->sound[i]];
  }
  const cst__records records = {.items = items, .count = (size_t)c->num_sound};
  cst_status status = runner_decode(c->state, &records, out, &c->error);
  cst__delete(items);
  return status;
}

static bool call_fills(const runner_call *c) {
  return c->options->on_error == CST_ON_ERROR_NULL && cst__query_plan_keeps_rows(c->runner->plan);
}

/* Rows of nulls where bad records are. */
static cst_status call_fill(runner_call *c, struct ArrowArray *out) {
  cst_array *sound;
  cst_array *all;
  CST__TRY(cst__array_result_as(&c->runner->allocator, cst__query_plan_schema(c->runner->plan), out,
                                &sound, &c->error));
  int64_t row = 0;
  for (int64_t i = 0; i < c->count; i++) {
    c->numbers[i] = c->bad[i] ? -1 : row++;
  }
  cst_status status = cst_array_take(sound, c->numbers, (size_t)c->count, &all, &c->error);
  cst_array_release(sound);
  if (status == CST_OK) {
    status = cst_array_export(all, out, &c->error);
    cst_array_release(all);
  }
  return status;
}

static cst_status call_run_sound(runner_call *c, call_result *result) {
  struct ArrowArray batch;
  for (int64_t i = 0; i < c->count; i++) {
    if (!c->bad[i]) {
      c->sound[c->num_sound++] = i;
    }
  }
  cst_status status = call_sound_input(c, &batch);
  if (status == CST_OK) {
    status = call_query(c, &batch, c->sound, &result->batch, &c->error);
  }
  if (status != CST_OK) {
    bool is_known = c->error.record >= 0 && c->error.record < c->num_sound;
    c->error.record = is_known ? c->sound[c->error.record] : -1;
    return status;
  }
  if (call_fills(c)) {
    CST__TRY(call_fill(c, &result->batch));
  }
  const cst_tensor_adapter *adapter = c->runner->adapter;
  if (c->want_tensors && call_fills(c)) {
    CST__TRY(runner_filling_adapter(c->runner, &adapter, &c->error));
  }
  return c->want_tensors ? call_convert(c, adapter, result) : CST_OK;
}

/* After a failure that is a record's: tells of all that are bad, and makes what the others give. */
static cst_status call_run_sifted(runner_call *c, call_result *result) {
  size_t size = (size_t)c->count * (2 * sizeof *c->numbers + 1);
  c->numbers = cst__new_zero(&c->runner->allocator, size);
  if (c->numbers == NULL) {
    return cst__fail_memory(&c->error, size);
  }
  c->sound = c->numbers + c->count;
  c->bad = (uint8_t *)(c->sound + c->count);
  for (int64_t i = 0; i < c->count; i++) {
    c->numbers[i] = i;
  }
  CST__TRY(call_sift(c, 0, c->count / 2));
  CST__TRY(call_sift(c, c->count / 2, c->count - c->count / 2));
  return call_run_sound(c, result);
}

/* The record of each row of the result, as an array. */
static cst_status call_origin(runner_call *c, int64_t count) {
  struct ArrowArray *out = c->options->origin;
  const cst__row_map *map = &c->state->origin;
  CST__TRY(cst__owned_new(&c->runner->allocator, 2, 0, false, out, &c->error));
  int64_t *rows = cst__owned_buffer(out, 1, (size_t)count * sizeof *rows);
  if (rows == NULL) {
    out->release(out);
    return cst__fail_memory(&c->error, (size_t)count * sizeof *rows);
  }
  bool is_sifted = c->sound != NULL && !call_fills(c);
  for (int64_t i = 0; i < count; i++) {
    int64_t row = map->moved ? map->rows[i] : i;
    rows[i] = is_sifted ? c->sound[row] : row;
  }
  out->length = count;
  return CST_OK;
}

/* One of `out` and `tensors` is wanted. */
static cst_status call_run(runner_call *c, struct ArrowArray *out, cst_tensors **tensors,
                           cst_error *error) {
  call_result result;
  c->error = (cst_error)CST_ERROR_INIT;
  c->want_tensors = tensors != NULL;
  cst_status status = call_once(c, 0, c->count, &result);
  if (status != CST_OK && call_may_sift(c, status)) {
    call_result_release(&result);
    result = (call_result){.tensors = NULL};
    status = call_run_sifted(c, &result);
  }
  if (status == CST_OK && c->options->origin != NULL) {
    status = call_origin(c, result.batch.length);
  }
  cst__delete(c->numbers);
  if (status != CST_OK) {
    call_result_release(&result);
    cst__error_copy(error, &c->error);
    return status;
  }
  if (tensors != NULL) {
    *tensors = result.tensors;
    cst__array_release(&result.batch);
  } else {
    *out = result.batch;
  }
  return CST_OK;
}

/* ---- records ---- */

static cst_status runner_check_records(const cst__query_view_runner *r, cst_error *error) {
  if (r->decoded.release != NULL) {
    return CST_OK;
  }
  return cst__fail(error, CST_STATE,
                   r->input->from == CST__FROM_TABLE ? "give it batches: cst_view_apply"
                                                     : "build the view with a schema",
                   "the view is not bound to how records are read");
}

static cst_status runner_check_tensors(const cst__query_view_runner *r, cst_error *error) {
  if (r->without == NULL) {
    return CST_OK;
  }
  cst_status status = cst__fail(error, CST_UNSUPPORTED, "cast it, or choose other outputs",
                                "the output's type cannot become a tensor");
  cst__error_add_path(error, r->without, strlen(r->without));
  return status;
}

cst_status cst__query_view_runner_decode(cst__query_view_runner *r,
                                         const cst__query_view_records *records,
                                         struct ArrowArray *out, cst_tensors **tensors,
                                         cst_error *error) {
  runner_call call = {.runner = r,
                      .options = records->options,
                      .records = records->items,
                      .count = (int64_t)records->count};
  static const cst_bytes nothing;
  call.records = call.records != NULL ? call.records : &nothing;
  CST__TRY(tensors != NULL ? runner_check_tensors(r, error) : CST_OK);
  CST__TRY(runner_check_records(r, error));
  CST__TRY(runner_take(r, &call.state, error));
  int64_t before = cst__deadline_begin(records->options->deadline);
  call.run = call.state->run;
  cst_status status = cst__interrupted(error);
  if (status == CST_OK) {
    status = call_run(&call, out, tensors, error);
  }
  cst__deadline_end(before);
  runner_put(r, call.state);
  return status;
}

/* ---- batches ---- */

static cst_status runner_validate(const cst__query_view_runner *r, const struct ArrowSchema *schema,
                                  const struct ArrowArray *batch, cst_error *error) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, &r->allocator);
  cst_status status = cst__view_init(&view, schema, batch, false, &arena, error);
  if (status == CST_OK && view.layout != CST__LAYOUT_STRUCT) {
    status = cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a batch is a struct array");
  }
  if (status == CST_OK) {
    status = cst__view_refuse_nulls(&view, "a row of the batch", error);
  }
  cst__arena_reset(&arena);
  return status;
}

/* The run for batches of this type: one that is kept, for what decoders give and for what the query
 * is bound to; else *own, which the caller closes. */
static cst_status runner_run_of(cst__query_view_runner *r, runner_state *state,
                                const struct ArrowSchema *schema, cst__query_run **run,
                                cst__query_run **own, cst_error *error) {
  const struct ArrowSchema *bound = &r->input->type;
  *own = NULL;
  if (r->decoded.release != NULL && cst__schema_equal(&r->decoded, schema)) {
    *run = state->run;
    return CST_OK;
  }
  if (bound->release == NULL || !cst__schema_equal(bound, schema)) {
    CST__TRY(cst__query_run_open(r->plan, schema, own, error));
    *run = *own;
    return CST_OK;
  }
  if (state->bare == NULL) {
    CST__TRY(cst__query_run_open(r->plan, bound, &state->bare, error));
  }
  *run = state->bare;
  return CST_OK;
}

static cst_status call_apply(runner_call *c, struct ArrowArray *out, cst_tensors **tensors,
                             cst_error *error) {
  cst_array *whole = NULL;
  if (c->options->on_error != CST_ON_ERROR_RAISE) {
    CST__TRY(cst_array_import(c->schema, c->array, CST_ARRAY_TRUSTED, &c->runner->allocator, &whole,
                              error));
  }
  c->batch = whole;
  cst_status status = call_run(c, out, tensors, error);
  cst_array_release(whole);
  return status;
}

static cst_status runner_apply(runner_call *c, struct ArrowArray *out, cst_tensors **tensors,
                               cst_error *error) {
  cst__query_run *own = NULL;
  cst_status status = cst__interrupted(error);
  if (status == CST_OK) {
    status = runner_validate(c->runner, c->schema, c->array, error);
  }
  if (status == CST_OK) {
    status = runner_run_of(c->runner, c->state, c->schema, &c->run, &own, error);
  }
  if (status != CST_OK) {
    cst__array_release(c->array);
    return status;
  }
  status = call_apply(c, out, tensors, error);
  cst__query_run_close(own);
  return status;
}

cst_status cst__query_view_runner_apply(cst__query_view_runner *r,
                                        const cst__query_view_batch *batch, int64_t *sizes,
                                        struct ArrowArray *out, cst_tensors **tensors,
                                        cst_error *error) {
  runner_call call = {.runner = r,
                      .options = batch->options,
                      .schema = batch->schema,
                      .array = batch->array,
                      .count = batch->array->length};
  cst_status status = tensors != NULL ? runner_check_tensors(r, error) : CST_OK;
  if (status == CST_OK) {
    status = runner_take(r, &call.state, error);
  }
  if (status != CST_OK) {
    cst__array_release(batch->array);
    return status;
  }
  int64_t before = cst__deadline_begin(batch->options->deadline);
  call.state->sizes = sizes;
  status = runner_apply(&call, out, tensors, error);
  call.state->sizes = NULL;
  cst__deadline_end(before);
  runner_put(r, call.state);
  return status;
}
