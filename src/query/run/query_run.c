/* A run: opened for a plan and a type of batches, it goes through the plan's steps for each batch.
 */
#include "query/run/run.h"

#include "arrow/owned.h"
#include "base/interrupt.h"
#include "query/run/steps_run.h"

/* ---- opening ---- */

/* The type of a step's values; NULL: it makes none. */
static const char *step_format(const cst__step *step) {
  switch (step->kind) {
    case CST__STEP_VALID:
    case CST__STEP_NOT_NULL:
    case CST__STEP_CHOSEN:
      return "b";
    case CST__STEP_SIZE:
    case CST__STEP_RUN_SIZES:
    case CST__STEP_POSITIONS:
    case CST__STEP_NUMBERS:
      return "l";
    default:
      return step->type.format;
  }
}

/* An array without slots. */
static cst_status new_like(const cst__query_run *run, const struct ArrowSchema *type,
                           cst_array **out, cst_error *error) {
  struct ArrowArray empty;
  int64_t ignored;
  int num_buffers =
      type->dictionary == NULL ? cst__layout_find(type->format, &ignored)->num_buffers : 0;
  CST__TRY(cst__owned_new(&run->allocator, num_buffers, 0, false, &empty, error));
  return cst__array_result_as(&run->allocator, type, &empty, out, error);
}

/* Steps whose values have one type share one array. */
static cst_status open_like(cst__query_run *run, size_t number, const char *format,
                            cst_error *error) {
  for (size_t i = number; i-- > 0 && number - i < 64;) {
    const cst_array *like = run->likes[i];
    if (like != NULL && strcmp(like->schema->format, format) == 0) {
      run->likes[number] = cst_array_retain(like);
      return CST_OK;
    }
  }
  const struct ArrowSchema type = cst__array_type_field(format, "", NULL, 0);
  return new_like(run, &type, &run->likes[number], error);
}

static cst_status open_literal(cst__query_run *run, size_t number, cst_error *error) {
  const cst__step *step = &run->plan->steps[number];
  const struct ArrowSchema type = cst__array_type_field(step->type.format, "", NULL, 0);
  struct ArrowArray made;
  if (step->type.format == NULL) {
    return CST_OK; /* functions look at the literal alone */
  }
  CST__TRY(cst__literal_array(step->literal, step->type, &run->allocator, &made, error));
  return cst__array_result_as(&run->allocator, &type, &made, &run->likes[number], error);
}

static cst_status open_steps(cst__query_run *run, cst_error *error) {
  for (size_t i = 0; i < run->plan->num_steps; i++) {
    const cst__step *step = &run->plan->steps[i];
    const char *format = step_format(step);
    if (step->kind == CST__STEP_LITERAL) {
      CST__TRY(open_literal(run, i, error));
    } else if (format != NULL) {
      CST__TRY(open_like(run, i, format, error));
    }
  }
  return CST_OK;
}

static cst_status open_parts(cst__query_run *run, const struct ArrowSchema *input,
                             cst_error *error) {
  const cst__query_plan *plan = run->plan;
  run->places = cst__new_zero(&run->allocator, plan->num_nodes * sizeof *run->places);
  run->nodes = cst__new_zero(&run->allocator, plan->num_nodes * sizeof *run->nodes);
  run->likes = cst__new_zero(&run->allocator, plan->num_steps * sizeof *run->likes);
  run->slots = cst__new_zero(&run->allocator, plan->num_steps * sizeof *run->slots);
  if (run->places == NULL || run->nodes == NULL || run->likes == NULL || run->slots == NULL) {
    return cst__fail_memory(error, plan->num_steps * sizeof *run->slots);
  }
  CST__TRY(cst__schema_check_whole(input, error));
  if (strcmp(input->format, "+s") != 0) {
    return cst__fail(error, CST_SCHEMA, NULL, "batches are structs, this is a %s",
                     cst__layout_name(input->format));
  }
  CST__TRY(cst__input_bind(run, input, error));
  CST__TRY(new_like(run, input, &run->input, error));
  return open_steps(run, error);
}

cst_status cst__query_run_open(cst__query_plan *plan, const struct ArrowSchema *input,
                               cst__query_run **out, cst_error *error) {
  *out = NULL;
  cst__query_run *run = cst__new_zero(&plan->allocator, sizeof *run);
  if (run == NULL) {
    return cst__fail_memory(error, sizeof *run);
  }
  run->plan = cst__query_plan_retain(plan);
  run->allocator = plan->allocator;
  cst__arena_init(&run->arena, &plan->allocator);
  cst__arena_init(&run->numbers, &plan->allocator);
  cst_status status = open_parts(run, input, error);
  if (status != CST_OK) {
    cst__query_run_close(run);
    return status;
  }
  *out = run;
  return CST_OK;
}

void cst__query_run_close(cst__query_run *run) {
  if (run == NULL) {
    return;
  }
  for (size_t i = 0; run->likes != NULL && i < run->plan->num_steps; i++) {
    cst_array_release(run->likes[i]);
  }
  cst_array_release(run->input);
  cst__arena_reset(&run->arena);
  cst__arena_reset(&run->numbers);
  cst__delete(run->places);
  cst__delete(run->nodes);
  cst__delete(run->likes);
  cst__delete(run->slots);
  cst__query_plan_release(run->plan);
  cst__delete(run);
}

/* ---- steps ---- */

uint32_t cst__place_parent(const cst__query_plan *plan, uint32_t place) {
  const cst__step *step = &plan->steps[place];
  if (step->kind == CST__STEP_RECORDS) {
    return CST__NO_STEP;
  }
  if (step->kind == CST__STEP_PAD) {
    return step->args[0];
  }
  return step->parent != CST__NO_STEP ? step->parent : 0;
}

void *cst__step_bytes(const cst__step_call *c, int64_t count) {
  void *bytes = cst__arena_take(&c->run->numbers, (size_t)count);
  if (bytes == NULL) {
    cst__fail_memory(c->error, (size_t)count);
  }
  return bytes;
}

int64_t *cst__step_numbers(const cst__step_call *c, int64_t count) {
  return cst__step_bytes(c, cst__limit_times(count, (int64_t)sizeof(int64_t)));
}

static cst_status step_records(const cst__step_call *c) {
  c->out->count = c->run->batch.rows.count;
  c->out->index = cst__index_all(c->out->count);
  return CST_OK;
}

static cst_status (*const step_functions[])(const cst__step_call *c) = {
    [CST__STEP_RECORDS] = step_records,
    [CST__STEP_LIST] = cst__step_list,
    [CST__STEP_JOIN] = cst__step_join,
    [CST__STEP_CHOOSE_LISTS] = cst__step_choose_lists,
    [CST__STEP_FILTER] = cst__step_filter,
    [CST__STEP_SLICE] = cst__step_slice,
    [CST__STEP_REVERSE] = cst__step_reverse,
    [CST__STEP_SORT] = cst__step_sort,
    [CST__STEP_SAME] = cst__step_same,
    [CST__STEP_RUNS] = cst__step_runs,
    [CST__STEP_PRODUCT] = cst__step_product,
    [CST__STEP_EXPAND] = cst__step_expand,
    [CST__STEP_PARENTS] = cst__step_parents,
    [CST__STEP_COMPOSE] = cst__step_compose,
    [CST__STEP_AT] = cst__step_at,
    [CST__STEP_KEY] = cst__step_key,
    [CST__STEP_KEPT] = cst__step_kept,
    [CST__STEP_PARTNERS] = cst__step_partners,
    [CST__STEP_PAD] = cst__step_pad,
    [CST__STEP_COLUMN] = cst__step_column,
    [CST__STEP_VALID] = cst__step_valid,
    [CST__STEP_CHOSEN] = cst__step_chosen,
    [CST__STEP_NOT_NULL] = cst__step_not_null,
    [CST__STEP_TAKE] = cst__step_take,
    [CST__STEP_LITERAL] = cst__step_literal,
    [CST__STEP_CALL] = cst__step_call_function,
    [CST__STEP_CALLER] = cst__step_call_caller,
    [CST__STEP_AGGREGATE] = cst__step_aggregate,
    [CST__STEP_LISTWISE] = cst__step_aggregate,
    [CST__STEP_SIZE] = cst__step_size,
    [CST__STEP_RUN_SIZES] = cst__step_run_sizes,
    [CST__STEP_POSITIONS] = cst__step_positions,
    [CST__STEP_NUMBERS] = cst__step_record_numbers,
    [CST__STEP_MASK] = cst__step_mask,
    [CST__STEP_REPEAT] = cst__step_repeat,
    [CST__STEP_REQUIRE] = cst__step_require,
};

/* True for steps whose elements count: what chooses among others, in fewer lists, too. */
static bool step_is_place(const cst__step *step) {
  return step->kind <= CST__STEP_EXPAND || step->kind == CST__STEP_PAD;
}

/* Elements of what a step goes through. */
static int64_t step_elements(const cst__step_call *c) {
  int64_t elements = 0;
  for (size_t i = 0; i < c->step->num_args; i++) {
    uint32_t number = c->step->args[i];
    elements += number != CST__NO_STEP ? c->run->slots[number].count : 0;
  }
  return elements;
}

static cst_status run_step(const cst__step_call *c) {
  CST__TRY(cst__interrupted(c->error));
  CST__TRY(cst__step_take_work(c, step_elements(c), 0));
  CST__TRY(cst__limits_status(c, step_functions[c->step->kind](c)));
  CST__TRY(cst__step_take_work(c, c->out->count, 0));
  if (!step_is_place(c->step)) {
    return CST_OK;
  }
  CST__TRY(cst__step_check_count(c, c->out->count));
  c->run->used.max_elements += c->out->count;
  return CST_OK;
}

/* Forgets what the steps made; their numbers' memory is used again. */
static void forget_slots(cst__query_run *run) {
  for (size_t i = 0; i < run->plan->num_steps; i++) {
    cst_array_release(run->slots[i].values);
    run->slots[i] = (cst__step_result){0};
  }
}

cst_status cst__run_steps(cst__query_run *run, cst_error *error) {
  forget_slots(run);
  cst__arena_rewind(&run->arena);
  cst__arena_rewind(&run->numbers);
  CST__TRY(cst__array_view(run->batch.array, &run->batch.view, &run->arena, error));
  CST__TRY(cst__view_refuse_nulls(&run->batch.view, "the row", error));
  cst__limits_begin(run);
  CST__TRY(cst__input_walk(run, error));
  for (size_t i = 0; i < run->plan->num_steps; i++) {
    const cst__step_call call = {run, &run->plan->steps[i], &run->slots[i], error};
    cst_status status = run_step(&call);
    if (status != CST_OK) {
      cst__step_error_add(run, call.step, error);
      return status;
    }
  }
  return CST_OK;
}

/* ---- batches ---- */

static cst_status run_batch(cst__query_run *run, const cst__query_input *input,
                            struct ArrowArray *out, cst__row_map *origin, cst_error *error) {
  run->batch.rows = (cst__chosen){.count = run->batch.array->array.length};
  run->batch.numbers = input->numbers;
  if (input->bad != NULL) {
    return cst__output_good_rows(run, input, false, out, origin, error);
  }
  cst_status status = cst__run_steps(run, error);
  if (status != CST_OK && input->on_bad != NULL && cst__row_is_refused(status, error)) {
    return cst__output_good_rows(run, input, true, out, origin, error);
  }
  CST__TRY(status);
  for (size_t i = 0; input->sizes != NULL && i < run->plan->num_steps; i++) {
    input->sizes[i] = run->slots[i].count;
  }
  CST__TRY(cst__output_batch(run, out, error));
  status = origin != NULL ? cst__output_origin(run, origin, error) : CST_OK;
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

cst_status cst__query_run_batch(cst__query_run *run, const cst__query_input *input,
                                struct ArrowArray *out, cst__row_map *origin, cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  *out = (struct ArrowArray){0};
  CST__TRY(
      cst__array_result(run->input, run->input->schema, input->batch, &run->batch.array, error));
  cst_status status = run_batch(run, input, out, origin, &own);
  if (status == CST_NO_MEMORY) {
    const cst__step_call output = {.run = run, .error = &own};
    status = cst__limits_status(&output, status);
  }
  if (status != CST_OK) {
    cst__error_copy(error, &own);
  }
  forget_slots(run);
  cst_array_release(run->batch.array);
  run->batch = (cst__batch_input){0};
  return status;
}
