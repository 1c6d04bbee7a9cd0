/* Running a bound query: decoders, the query, the adapter of tensors. */
#include "query/view/view_run.h"

#include <string.h>

#include "arrow/owned.h"
#include "arrow/view.h"
#include "base/thread.h"
#include "decode/sequence_decoder.h"
#include "message/decode/decoder.h"
#include "query/plan/steps.h"
#include "query/run/run.h"
#include "schema/flat.h"
#include "tensor/tensor.h"

/* What one call needs for itself. */
typedef struct runner_state {
  struct runner_state *next;
  cst_message_decoder *messages; /* the one that the input has; the others are NULL */
  cst_example_decoder *examples;
  cst_sequence_decoder *sequences;
  void *flat;           /* of examples */
  cst__query_run *run;  /* over what the decoder gives */
  cst__query_run *bare; /* over batches of the type that the query is bound to; NULL: not yet */
  cst__row_map origin;
  int64_t *sizes; /* for the next run: how many elements each step makes; NULL: not asked */
} runner_state;

struct cst__view_runner {
  cst_allocator allocator;
  cst__arena arena;
  const cst__query_view_input *input;
  cst__query_plan *plan;
  const char *without;

  /* What decoders share. */
  cst__message_plan *messages;
  cst_example_decoder *examples;
  cst_sequence_decoder *sequences;
  void *flat;
  struct ArrowSchema decoded;  /* the type of decoded batches, after flat; released: no records are
                                  read (tables, examples without a schema) */
  cst_tensor_adapter *adapter; /* NULL: `without` */

  cst__mutex lock;
  runner_state *idle;
};

/* ---- what is shared ---- */

/* The columns that hold what the plan wants: the fields of the batch that it reads. */
static cst_status runner_columns(cst__view_runner *r, const char *const **out, size_t *count,
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

static cst_status share_messages(cst__view_runner *r, cst_error *error) {
  cst__message_plan_options options = {.message = r->input->message, .allocator = &r->allocator};
  options.columns = cst__query_plan_paths(r->plan, &options.num_columns);
  static const char *const nothing[1] = {NULL};
  options.columns = options.columns != NULL ? options.columns : nothing;
  CST__TRY(cst__message_plan_new(&options, &r->messages, error));
  return cst__type_export(cst__message_plan_type(r->messages), &r->decoded, error);
}

/* Puts the type after flat in the place of what the decoder gives. */
static cst_status share_flat(cst__view_runner *r, cst_error *error) {
  const cst__flat_settings settings = {.schema = r->input->schema};
  cst__stage_output output;
  CST__TRY(cst__flat_stage.bind(&settings, &r->decoded, &r->allocator, &r->flat, &output, error));
  r->decoded.release(&r->decoded);
  r->decoded = output.schema;
  return CST_OK;
}

static cst_status share_examples(cst__view_runner *r, cst_error *error) {
  cst__example_decoder_options options = {.allocator = &r->allocator};
  CST__TRY(runner_columns(r, &options.columns, &options.num_columns, error));
  CST__TRY(cst__example_decoder_new(r->input->schema, &options, &r->examples, error));
  CST__TRY(cst__example_decoder_schema(r->examples, &r->decoded, error));
  (void)cst__example_decoder_seal(r->examples);
  return share_flat(r, error);
}

static cst_status share_sequences(cst__view_runner *r, cst_error *error) {
  cst__sequence_decoder_options options = {.allocator = &r->allocator};
  CST__TRY(runner_columns(r, &options.columns, &options.num_columns, error));
  CST__TRY(cst__sequence_decoder_new(r->input->schema, &options, &r->sequences, error));
  CST__TRY(cst__sequence_decoder_schema(r->sequences, &r->decoded, error));
  (void)cst__sequence_decoder_seal(r->sequences);
  return share_flat(r, error);
}

static cst_status share_decoder(cst__view_runner *r, cst_error *error) {
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

cst_status cst__view_runner_new(const cst__view_runner_options *options, cst__view_runner **out,
                                cst_error *error) {
  cst_allocator allocator = cst__allocator_of(options->allocator);
  cst__view_runner *r = cst__new_zero(&allocator, sizeof *r);
  if (r == NULL) {
    return cst__fail_memory(error, sizeof *r);
  }
  r->allocator = allocator;
  r->input = options->input;
  r->plan = options->plan;
  r->without = options->without;
  cst__arena_init(&r->arena, &allocator);
  cst__mutex_init(&r->lock);
  cst_status status = share_decoder(r, error);
  if (status == CST_OK && r->without == NULL) {
    cst_tensor_options own = CST_TENSOR_OPTIONS_INIT;
    own.allocator = &r->allocator;
    status =
        cst__adapter_new(cst__query_plan_schema(r->plan), options->specs, &own, &r->adapter, error);
  }
  if (status != CST_OK) {
    cst__view_runner_free(r);
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
  cst__message_decoder_close(state->messages);
  cst__example_decoder_free(state->examples);
  cst__sequence_decoder_free(state->sequences);
  cst__row_map_reset(&state->origin);
  cst__delete(state);
}

void cst__view_runner_free(cst__view_runner *r) {
  if (r == NULL) {
    return;
  }
  while (r->idle != NULL) {
    runner_state *state = r->idle;
    r->idle = state->next;
    runner_state_free(state);
  }
  cst__adapter_free(r->adapter);
  if (r->flat != NULL) {
    cst__flat_stage.plan_free(r->flat);
  }
  if (r->decoded.release != NULL) {
    r->decoded.release(&r->decoded);
  }
  cst__message_plan_release(r->messages);
  cst__example_decoder_free(r->examples);
  cst__sequence_decoder_free(r->sequences);
  cst__mutex_destroy(&r->lock);
  cst__arena_reset(&r->arena);
  cst__delete(r);
}

static cst_status runner_state_open(cst__view_runner *r, runner_state *state, cst_error *error) {
  if (r->messages != NULL) {
    CST__TRY(cst__message_decoder_open(r->messages, &state->messages, error));
  }
  if (r->examples != NULL) {
    CST__TRY(cst__example_decoder_share(r->examples, &state->examples, error));
  }
  if (r->sequences != NULL) {
    CST__TRY(cst__sequence_decoder_share(r->sequences, &state->sequences, error));
  }
  if (r->flat != NULL) {
    CST__TRY(cst__flat_stage.open(r->flat, &state->flat, error));
  }
  return r->decoded.release != NULL ? cst__query_run_open(r->plan, &r->decoded, &state->run, error)
                                    : CST_OK;
}

static cst_status runner_take(cst__view_runner *r, runner_state **out, cst_error *error) {
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

static void runner_put(cst__view_runner *r, runner_state *state) {
  cst__mutex_lock(&r->lock);
  state->next = r->idle;
  r->idle = state;
  cst__mutex_unlock(&r->lock);
}

/* ---- records ---- */

static cst_status runner_decode(runner_state *state, const cst__records *records,
                                struct ArrowArray *out, cst_error *error) {
  if (state->messages != NULL) {
    return cst__message_decoder_decode(state->messages, records, NULL, out, error);
  }
  struct ArrowArray batch;
  cst__row_map unused = {0};
  CST__TRY(state->examples != NULL
               ? cst__example_decoder_decode(state->examples, records, NULL, &batch, error)
               : cst__sequence_decoder_decode(state->sequences, records, NULL, &batch, error));
  return cst__flat_stage.run(state->flat, &batch, out, &unused, error);
}

cst_status cst__view_runner_run(cst__view_runner *r, const cst_bytes *records, size_t count,
                                struct ArrowArray *out, cst_error *error) {
  const cst__records all = {.items = records, .count = count};
  struct ArrowArray batch;
  runner_state *state = NULL;
  if (r->decoded.release == NULL) {
    return cst__fail(error, CST_STATE,
                     r->input->from == CST__FROM_TABLE ? "give it batches: cst_view_apply"
                                                       : "build the view with a schema",
                     "the view is not bound to how records are read");
  }
  CST__TRY(runner_take(r, &state, error));
  cst_status status = runner_decode(state, &all, &batch, error);
  if (status == CST_OK) {
    const cst__query_input input = {.batch = &batch};
    status = cst__query_run_batch(state->run, &input, out, &state->origin, error);
  }
  runner_put(r, state);
  return status;
}

cst_status cst__view_runner_tensors(cst__view_runner *r, const cst_bytes *records, size_t count,
                                    cst_tensors **out, cst_error *error) {
  struct ArrowArray batch;
  if (r->without != NULL) {
    cst_status status = cst__fail(error, CST_UNSUPPORTED, "cast it, or choose other outputs",
                                  "the output has a type that no tensor has");
    cst__error_add_path(error, r->without, strlen(r->without));
    return status;
  }
  CST__TRY(cst__view_runner_run(r, records, count, &batch, error));
  cst_status status = cst__adapter_convert(r->adapter, &batch, true, out, error);
  cst__array_release(&batch);
  return status;
}

/* ---- batches ---- */

/* Rows that the result's come from, as an array. */
static cst_status runner_origin(const cst__view_runner *r, const cst__row_map *map, int64_t count,
                                struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__owned_new(&r->allocator, 2, 0, false, out, error));
  int64_t *rows = cst__owned_buffer(out, 1, (size_t)count * sizeof *rows);
  if (rows == NULL) {
    out->release(out);
    return cst__fail_memory(error, (size_t)count * sizeof *rows);
  }
  for (int64_t i = 0; i < count; i++) {
    rows[i] = map->moved ? map->rows[i] : i;
  }
  out->length = count;
  return CST_OK;
}

static cst_status runner_validate(const cst__view_runner *r, const struct ArrowSchema *schema,
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
static cst_status runner_run_of(cst__view_runner *r, runner_state *state,
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

static cst_status runner_apply(cst__view_runner *r, runner_state *state,
                               const struct ArrowSchema *schema, struct ArrowArray *batch,
                               struct ArrowArray *out, cst_error *error) {
  cst__query_run *run;
  cst__query_run *own;
  cst_status status = runner_validate(r, schema, batch, error);
  if (status == CST_OK) {
    status = runner_run_of(r, state, schema, &run, &own, error);
  }
  if (status != CST_OK) {
    cst__array_release(batch);
    return status;
  }
  const cst__query_input input = {.batch = batch, .sizes = state->sizes};
  status = cst__query_run_batch(run, &input, out, &state->origin, error);
  cst__query_run_close(own);
  return status;
}

cst_status cst__view_runner_apply(cst__view_runner *r, const struct ArrowSchema *schema,
                                  struct ArrowArray *batch, struct ArrowArray *out,
                                  struct ArrowArray *origin, cst_error *error) {
  runner_state *state = NULL;
  cst_status status = runner_take(r, &state, error);
  if (status != CST_OK) {
    cst__array_release(batch);
    return status;
  }
  state->origin.moved = false;
  status = runner_apply(r, state, schema, batch, out, error);
  if (status == CST_OK && origin != NULL) {
    status = runner_origin(r, &state->origin, out->length, origin, error);
    if (status != CST_OK) {
      out->release(out);
    }
  }
  runner_put(r, state);
  return status;
}

cst_status cst__view_runner_sizes(cst__view_runner *r, const struct ArrowSchema *schema,
                                  struct ArrowArray *batch, int64_t *sizes, cst_error *error) {
  runner_state *state = NULL;
  struct ArrowArray made;
  cst_status status = runner_take(r, &state, error);
  if (status != CST_OK) {
    cst__array_release(batch);
    return status;
  }
  state->sizes = sizes;
  status = runner_apply(r, state, schema, batch, &made, error);
  state->sizes = NULL;
  if (status == CST_OK) {
    made.release(&made);
  }
  runner_put(r, state);
  return status;
}
