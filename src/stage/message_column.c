/* Columns of messages: found, decoded batch by batch, and put in the place of their bytes. */
#include "stage/message_column.h"

#include <string.h>

#include "arrow/concat.h"
#include "arrow/owned.h"
#include "arrow/view.h"
#include "base/error.h"
#include "message/decode/decode.h"

typedef struct column_plan {
  cst_allocator allocator;
  struct ArrowSchema input;
  int64_t place; /* of the column in it */
  cst__message_plan *messages;
  uint32_t column_flags;
  bool nulls;
} column_plan;

typedef struct column_state {
  const column_plan *plan;
  cst_decoder *decoder;
  uint8_t *valid; /* of the rows at hand: those that have a message; NULL: all that come do */
  int64_t num_null;
  cst__bad_row_callback on_bad;
  void *ctx;
} column_state;

static const char *messages_name(const column_plan *plan) {
  return plan->input.children[plan->place]->name;
}

static void name_column(const column_plan *plan, cst_error *error) {
  cst__error_add_path(error, messages_name(plan), strlen(messages_name(plan)));
}

/* ---- binding ---- */

static cst_status check_column_type(const column_plan *plan, cst_error *error) {
  cst__arena arena;
  cst__view view;
  char type[64];
  cst__arena_init(&arena, &plan->allocator);
  cst_status status =
      cst__view_init_schema(&view, plan->input.children[plan->place], &arena, error);
  if (status == CST_OK && view.layout != CST__LAYOUT_BINARY &&
      view.layout != CST__LAYOUT_BINARY_VIEW && view.layout != CST__LAYOUT_FIXED_BINARY) {
    cst__view_type_name(&view, type, sizeof type);
    status = cst__fail(error, CST_SCHEMA,
                       cst__view_is_list(&view)
                           ? "if each of the lists has one value, `flat` makes values of them"
                           : "name the column that contains the messages",
                       "the column of messages is of type %s, expected binary or text", type);
    name_column(plan, error);
  }
  cst__arena_reset(&arena);
  return status;
}

/* The input, with the column of another type. */
static cst_status export_schema(const column_plan *plan, struct ArrowSchema *out,
                                cst_error *error) {
  struct ArrowSchema field;
  cst__type type = *cst__message_plan_type(plan->messages);
  type.name = messages_name(plan);
  type.flags |= ARROW_FLAG_NULLABLE;
  CST__TRY(cst__type_export(&type, &field, error));
  cst_status status = cst__schema_copy(&plan->input, out, error);
  if (status != CST_OK) {
    field.release(&field);
    return status;
  }
  out->children[plan->place]->release(out->children[plan->place]);
  *out->children[plan->place] = field;
  return CST_OK;
}

static void free_column_plan(void *object) {
  column_plan *plan = object;
  cst__message_plan_release(plan->messages);
  if (plan->input.release != NULL) {
    plan->input.release(&plan->input);
  }
  cst__delete(plan);
}

static cst_status plan_column_messages(const cst__message_column_settings *settings,
                                       const cst_allocator *allocator, cst__message_plan **out,
                                       cst_error *error) {
  const cst__message_plan_options options = {.message = settings->message,
                                             .columns = settings->paths,
                                             .num_columns = settings->num_paths,
                                             .column_flags = settings->column_flags,
                                             .nullable_columns = settings->nulls,
                                             .allocator = allocator};
  cst_status status = cst__message_plan_new(&options, out, error);
  if (status != CST_OK && settings->paths != NULL) {
    cst__error_add_path(error, settings->column, strlen(settings->column));
  }
  return status;
}

cst_status cst__message_column_check(const cst__message_column_settings *settings,
                                     const cst_allocator *allocator, cst_error *error) {
  cst__message_plan *plan = NULL;
  CST__TRY(plan_column_messages(settings, allocator, &plan, error));
  cst__message_plan_release(plan);
  return CST_OK;
}

static cst_status make_column_plan(column_plan *plan, const cst__message_column_settings *settings,
                                   const struct ArrowSchema *input, cst_error *error) {
  CST__TRY(cst__schema_copy(input, &plan->input, error));
  CST__TRY(cst__find_columns(&settings->column, 1, &plan->input, &plan->place, error));
  CST__TRY(check_column_type(plan, error));
  return plan_column_messages(settings, &plan->allocator, &plan->messages, error);
}

static cst_status bind_column(const void *settings, const struct ArrowSchema *input,
                              const cst_allocator *allocator, void **out, cst__stage_output *output,
                              cst_error *error) {
  const cst__message_column_settings *own = settings;
  column_plan *plan = cst__new_zero(allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->allocator = cst__allocator_of(allocator);
  plan->column_flags = own->column_flags;
  plan->nulls = own->nulls;
  cst_status status = make_column_plan(plan, own, input, error);
  if (status == CST_OK) {
    status = export_schema(plan, &output->schema, error);
  }
  if (status != CST_OK) {
    free_column_plan(plan);
    return status;
  }
  output->keeps_rows = true;
  *out = plan;
  return CST_OK;
}

/* ---- running ---- */

/* A message that does not decode is no message. */
static void note_bad_message(void *ctx, const cst_error *error) {
  column_state *state = ctx;
  cst_error own = *error;
  state->valid[own.record >> 3] &= (uint8_t) ~(1U << (own.record & 7));
  state->num_null++;
  name_column(state->plan, &own);
  if (state->on_bad != NULL) {
    state->on_bad(state->ctx, &own);
  }
}

static void close_column(void *object) {
  column_state *state = object;
  cst_decoder_free(state->decoder);
  cst__delete(state);
}

static cst_status open_column(const void *object, void **out, cst_error *error) {
  const column_plan *plan = object;
  column_state *state = cst__new_zero(&plan->allocator, sizeof *state);
  if (state == NULL) {
    return cst__fail_memory(error, sizeof *state);
  }
  state->plan = plan;
  cst_status status = cst__message_decoder_open(plan->messages, &state->decoder, error);
  if (status != CST_OK) {
    cst__delete(state);
    return status;
  }
  if (plan->nulls) {
    state->decoder->type->on_bad(state->decoder, note_bad_message, state);
  }
  *out = state;
  return CST_OK;
}

static void set_on_bad(void *object, cst__bad_row_callback on_bad, void *ctx) {
  column_state *state = object;
  state->on_bad = on_bad;
  state->ctx = ctx;
}

/* The column's values as records; a null is none. */
static cst_status list_messages(column_state *state, const cst__view *values, cst__arena *arena,
                                cst__records *out, cst_error *error) {
  size_t count = (size_t)values->length;
  bool may_be_null = values->null_count > 0 || state->plan->nulls;
  cst_bytes *items = cst__arena_take(arena, (count + 1) * sizeof *items);
  state->valid = may_be_null ? cst__arena_take(arena, cst__bits_size(values->length) + 1) : NULL;
  state->num_null = values->null_count;
  if (items == NULL || (may_be_null && state->valid == NULL)) {
    return cst__fail_memory(error, count * sizeof *items);
  }
  if (may_be_null) {
    memset(state->valid, 0xff, cst__bits_size(values->length));
  }
  for (size_t i = 0; i < count; i++) {
    bool is_null = may_be_null && cst__view_is_null(values, (int64_t)i);
    items[i] = is_null ? (cst_bytes){NULL, 0} : cst__view_bytes(values, (int64_t)i);
    if (is_null) {
      state->valid[i >> 3] &= (uint8_t) ~(1U << (i & 7));
    }
  }
  *out = (cst__records){.items = items, .count = count, .validity = state->valid};
  return CST_OK;
}

/* Views point into what they were made of, so that needs to stay. */
static cst_status decode_messages(column_state *state, const cst__records *records,
                                  struct ArrowArray *out, cst_error *error) {
  cst__copied copied;
  if ((state->plan->column_flags & CST_COLUMNS_BINARY_VIEWS) == 0) {
    return cst__decoder_decode(state->decoder, records, NULL, out, error);
  }
  CST__TRY(cst__records_copy(&state->plan->allocator, records, &copied, error));
  cst_status status = cst__decoder_decode(state->decoder, &copied.records, NULL, out, error);
  cst__copied_release(&copied);
  return status;
}

/* Structs of the same fields, some of which are null. */
static cst_status set_null_messages(const column_state *state, struct ArrowArray *structs,
                                    cst_error *error) {
  struct ArrowArray out;
  CST__TRY(cst__owned_new(&state->plan->allocator, 1, structs->n_children, false, &out, error));
  size_t bytes = cst__bits_size(structs->length);
  uint8_t *bits = cst__owned_buffer(&out, 0, bytes);
  if (bits == NULL) {
    out.release(&out);
    return cst__fail_memory(error, bytes);
  }
  memcpy(bits, state->valid, bytes);
  out.length = structs->length;
  out.null_count = state->num_null;
  for (int64_t i = 0; i < structs->n_children; i++) {
    *out.children[i] = *structs->children[i];
    structs->children[i]->release = NULL;
  }
  structs->release(structs);
  *structs = out;
  return CST_OK;
}

static cst_status make_structs(column_state *state, const struct ArrowArray *batch,
                               cst__arena *arena, struct ArrowArray *out, cst_error *error) {
  cst__view view;
  cst__records records;
  CST__TRY(cst__view_init(&view, &state->plan->input, batch, true, arena, error));
  CST__TRY(list_messages(state, &view.children[state->plan->place], arena, &records, error));
  cst_status status = decode_messages(state, &records, out, error);
  if (status != CST_OK) {
    name_column(state->plan, error);
    return status;
  }
  status = state->num_null > 0 ? set_null_messages(state, out, error) : CST_OK;
  if (status != CST_OK) {
    out->release(out);
  }
  return status;
}

/* Makes the root's slots those of its children. */
static cst_status straighten(const column_plan *plan, struct ArrowArray *batch, cst_error *error) {
  cst__shared *shared;
  struct ArrowArray slice;
  int64_t length = batch->length;
  bool is_straight = batch->offset == 0;
  for (int64_t i = 0; i < batch->n_children; i++) {
    is_straight = is_straight && batch->children[i]->length == length;
  }
  if (is_straight) {
    return CST_OK;
  }
  CST__TRY(cst__shared_new(batch, &plan->allocator, &shared, error));
  cst_status status = cst__shared_slice(shared, 0, length, &slice, error);
  cst__shared_release(shared);
  if (status == CST_OK) {
    *batch = slice;
  }
  return status;
}

/* Moves the batch's other columns beside the one that was made. */
static cst_status replace_column(const column_plan *plan, struct ArrowArray *batch,
                                 struct ArrowArray *column, struct ArrowArray *out,
                                 cst_error *error) {
  CST__TRY(cst__owned_new(&plan->allocator, 1, batch->n_children, false, out, error));
  out->length = batch->length;
  for (int64_t i = 0; i < batch->n_children; i++) {
    struct ArrowArray *from = i == plan->place ? column : batch->children[i];
    *out->children[i] = *from;
    from->release = NULL;
  }
  return CST_OK;
}

static cst_status convert_batch(column_state *state, struct ArrowArray *batch, cst__arena *arena,
                                struct ArrowArray *out, cst_error *error) {
  struct ArrowArray column;
  CST__TRY(straighten(state->plan, batch, error));
  CST__TRY(make_structs(state, batch, arena, &column, error));
  cst_status status = replace_column(state->plan, batch, &column, out, error);
  if (status != CST_OK) {
    column.release(&column);
  }
  return status;
}

static cst_status run_column(void *object, struct ArrowArray *batch, struct ArrowArray *out,
                             cst__row_map *origin, cst_error *error) {
  (void)origin;
  column_state *state = object;
  cst__arena arena;
  cst__arena_init(&arena, &state->plan->allocator);
  cst_status status = convert_batch(state, batch, &arena, out, error);
  state->valid = NULL;
  cst__arena_reset(&arena);
  cst__array_release(batch);
  return status;
}

const cst__stage cst__message_column_stage = {
    .name = "message_column",
    .refuses_rows = true,
    .bind = bind_column,
    .plan_free = free_column_plan,
    .open = open_column,
    .run = run_column,
    .on_bad = set_on_bad,
    .close = close_column,
};
