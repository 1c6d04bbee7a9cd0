/* Lists of one value as values, bytes as text. */
#include "schema/flat.h"

#include <string.h>

#include "arrow/concat.h"
#include "arrow/field.h"
#include "arrow/owned.h"
#include "arrow/text.h"
#include "schema/domains.h"

typedef struct flat_column {
  const char *name;
  bool unwrap;   /* lists of one value become the value */
  bool nullable; /* of these: a row may have no list, */
  bool empty;    /* or an empty one */
  bool is_text;  /* all bytes below are to be UTF-8 */
  size_t num_children;
  struct flat_column *children; /* of a struct, for their texts */
} flat_column;

typedef struct flat_plan {
  cst__arena arena;
  struct ArrowSchema input;
  flat_column *columns;
  bool changes; /* some column does */
} flat_plan;

typedef struct flat_state {
  const flat_plan *plan;
  cst_allocator allocator;
} flat_state;

/* ---- binding ---- */

static const struct ArrowSchema *flat_leaf(const struct ArrowSchema *field) {
  while (cst__field_is_list(field)) {
    field = field->children[0];
  }
  return field;
}

static bool flat_has_values(const struct ArrowSchema *field) {
  const char *item = field->children[0]->format;
  return item[0] != '+' && strcmp(item, "n") != 0 && field->children[0]->dictionary == NULL;
}

static const cst__rules *flat_rules_of(const cst__rules *rules, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(rules[i].feature->name, name) == 0) {
      return &rules[i];
    }
  }
  return NULL;
}

static void flat_plan_list(const cst__rules *rules, flat_column *column) {
  bool has_shape = rules->shape_size == 1;
  bool has_count = rules->shape_size < 0 && rules->num_counts == 1 && rules->counts[0].max == 1;
  bool is_required = rules->in_environment && rules->has_presence && rules->min_fraction >= 1;
  column->unwrap = has_shape || has_count;
  column->empty = has_count && rules->counts[0].min < 1;
  column->nullable = !is_required || column->empty;
}

static bool flat_is_text(const cst__rules *rules) {
  cst__domain_kind kind = rules->domain.kind;
  return rules->feature->type == CST_FEATURE_BYTES &&
         (kind == CST__DOMAIN_STRING || kind == CST__DOMAIN_UTF8 || kind == CST__DOMAIN_BOOL);
}

static cst_status flat_plan_column(cst__arena *arena, const struct ArrowSchema *field,
                                   const cst__rules *rules, bool at_top, flat_column *out,
                                   cst_error *error) {
  *out = (flat_column){.name = field->name};
  if (rules == NULL) {
    return CST_OK;
  }
  if (at_top && cst__field_is_list(field) && flat_has_values(field)) {
    flat_plan_list(rules, out);
  }
  out->is_text = cst__field_is_binary(flat_leaf(field)) && flat_is_text(rules);
  if (strcmp(field->format, "+s") != 0) {
    return CST_OK;
  }
  out->num_children = (size_t)field->n_children;
  out->children = cst__arena_take_zero(arena, (out->num_children + 1) * sizeof *out->children);
  if (out->children == NULL) {
    return cst__fail_memory(error, out->num_children * sizeof *out->children);
  }
  for (size_t i = 0; i < out->num_children; i++) {
    const struct ArrowSchema *child = field->children[i];
    CST__TRY(flat_plan_column(arena, child,
                              flat_rules_of(rules->children, rules->num_children, child->name),
                              false, &out->children[i], error));
    out->is_text = out->is_text || out->children[i].is_text;
  }
  return CST_OK;
}

static cst_status flat_plan_columns(flat_plan *plan, const cst__flat_settings *settings,
                                    const cst__rulebook *book, cst_error *error) {
  const struct ArrowSchema *input = &plan->input;
  for (int64_t i = 0; i < input->n_children; i++) {
    const struct ArrowSchema *field = input->children[i];
    flat_column *column = &plan->columns[i];
    size_t at = book != NULL
                    ? cst__schema_find_feature(settings->schema, field->name, strlen(field->name))
                    : SIZE_MAX;
    CST__TRY(flat_plan_column(&plan->arena, field, at != SIZE_MAX ? &book->rules[at] : NULL, true,
                              column, error));
    if (settings->raw_column != NULL && strcmp(field->name, settings->raw_column) == 0) {
      *column = (flat_column){.name = field->name, .unwrap = cst__field_is_list(field)};
    }
    plan->changes = plan->changes || column->unwrap || column->is_text;
  }
  return CST_OK;
}

static cst_status flat_set_text(struct ArrowSchema *field, const flat_column *column,
                                cst_error *error) {
  while (cst__field_is_list(field)) {
    field = field->children[0];
  }
  if (column->is_text && column->num_children == 0) {
    return cst__field_set_text(field, error);
  }
  for (size_t i = 0; i < column->num_children; i++) {
    CST__TRY(flat_set_text(field->children[i], &column->children[i], error));
  }
  return CST_OK;
}

static cst_status flat_set_output(const flat_plan *plan, struct ArrowSchema *out,
                                  cst_error *error) {
  CST__TRY(cst__schema_copy(&plan->input, out, error));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < out->n_children && status == CST_OK; i++) {
    const flat_column *column = &plan->columns[i];
    if (column->unwrap) {
      status = cst__field_unwrap(out->children[i], column->nullable, error);
    }
    if (status == CST_OK) {
      status = flat_set_text(out->children[i], column, error);
    }
  }
  if (status != CST_OK) {
    out->release(out);
  }
  return status;
}

static void flat_plan_free(void *object) {
  flat_plan *plan = object;
  if (plan->input.release != NULL) {
    plan->input.release(&plan->input);
  }
  cst__arena_reset(&plan->arena);
  cst__delete(plan);
}

static cst_status flat_make_plan(flat_plan *plan, const cst__flat_settings *settings,
                                 const struct ArrowSchema *input, struct ArrowSchema *out,
                                 cst_error *error) {
  cst__rulebook *book = NULL;
  size_t size;
  CST__TRY(cst__schema_copy(input, &plan->input, error));
  plan->columns = cst__mul((size_t)input->n_children + 1, sizeof *plan->columns, &size)
                      ? cst__arena_take_zero(&plan->arena, size)
                      : NULL;
  if (plan->columns == NULL) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  if (settings->schema != NULL) {
    CST__TRY(cst__rulebook_new(settings->schema, settings->environment, &plan->arena.allocator,
                               &book, error));
  }
  cst_status status = flat_plan_columns(plan, settings, book, error);
  cst__rulebook_free(book);
  return status == CST_OK ? flat_set_output(plan, out, error) : status;
}

static cst_status flat_bind(const void *settings, const struct ArrowSchema *input,
                            const cst_allocator *allocator, void **out, cst__stage_output *output,
                            cst_error *error) {
  flat_plan *plan = cst__new_zero(allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  cst__arena_init(&plan->arena, allocator);
  cst_status status = flat_make_plan(plan, settings, input, &output->schema, error);
  if (status != CST_OK) {
    flat_plan_free(plan);
    return status;
  }
  output->keeps_rows = true;
  *out = plan;
  return CST_OK;
}

bool cst__flat_wants_schema(const struct ArrowSchema *schema, const char *raw_column) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *field = schema->children[i];
    bool is_raw = raw_column != NULL && strcmp(field->name, raw_column) == 0;
    if (!is_raw && (cst__field_is_list(field) || cst__field_is_binary(field))) {
      return true;
    }
  }
  return false;
}

/* ---- which rows fit ---- */

/* The first row below `limit` whose bytes are not UTF-8; `limit` if there is none. What null
 * structs hide counts, too: it has to be valid in the output as well. */
static int64_t flat_find_bytes(const cst__view *v, const flat_column *column, int64_t limit) {
  if (v->layout != CST__LAYOUT_STRUCT) {
    return cst__view_find_not_text(v, limit);
  }
  for (size_t i = 0; i < column->num_children; i++) {
    if (column->children[i].is_text) {
      limit = flat_find_bytes(&v->children[i], &column->children[i], limit);
    }
  }
  return limit;
}

static int64_t flat_count_of(const cst__view *v, int64_t i) {
  int64_t begin;
  int64_t end;
  cst__view_list(v, i, &begin, &end);
  return end - begin;
}

/* True if every one of the rows below `limit` has one value: no branches, no copies. */
static bool flat_all_single(const cst__view *v, int64_t limit) {
  int64_t other = 0;
  if (v->null_count != 0) {
    return false;
  }
  if (v->layout == CST__LAYOUT_FIXED_LIST) {
    return v->fixed_size == 1;
  }
  if (limit > 0 && v->offset_width == 8) {
    const int64_t *offsets = (const int64_t *)v->offsets + v->offset;
    for (int64_t i = 0; i < limit; i++) {
      other |= (offsets[i + 1] - offsets[i]) ^ 1;
    }
  } else if (limit > 0) {
    const int32_t *offsets = (const int32_t *)v->offsets + v->offset;
    for (int64_t i = 0; i < limit; i++) {
      other |= (offsets[i + 1] - offsets[i]) ^ 1;
    }
  }
  return other == 0;
}

static bool flat_row_fits(const cst__view *v, const flat_column *column, int64_t i) {
  if (cst__view_is_null(v, i)) {
    return column->nullable;
  }
  int64_t begin;
  int64_t end;
  cst__view_list(v, i, &begin, &end);
  return begin == end
             ? column->empty
             : end - begin == 1 && (column->nullable || !cst__view_is_null(&v->children[0], begin));
}

/* The same for lists that do not have one value. */
static int64_t flat_find_count(const cst__view *v, const flat_column *column, int64_t limit) {
  if (flat_all_single(v, limit) && (column->nullable || v->children[0].null_count == 0)) {
    return limit;
  }
  int64_t row = 0;
  while (row < limit && flat_row_fits(v, column, row)) {
    row++;
  }
  return row;
}

static cst_status flat_fail_count(const cst__view *v, const flat_column *column, int64_t row,
                                  cst_error *error) {
  const char *hint = "read it without flat, or give a schema that all records fit";
  int64_t count = flat_count_of(v, row);
  const char *expected = column->empty ? "one value at most" : "one value";
  cst_status status =
      cst__view_is_null(v, row) || count == 1
          ? cst__fail(error, CST_SCHEMA, hint, "the value is missing, expected %s", expected)
          : cst__fail(error, CST_SCHEMA, hint, "found %lld values, expected %s", (long long)count,
                      expected);
  cst__error_add_path(error, column->name, strlen(column->name));
  cst__error_add_record(error, row, -1);
  return status;
}

static cst_status flat_fail_text(const flat_column *column, int64_t row, cst_error *error) {
  cst_status status =
      cst__fail(error, CST_SCHEMA, "read it without flat, or leave the domain out of the schema",
                "found bytes that are not UTF-8, expected text");
  cst__error_add_path(error, column->name, strlen(column->name));
  cst__error_add_record(error, row, -1);
  return status;
}

/* Fails with the first row that does not fit, and in it with the first column. */
static cst_status flat_check(const flat_plan *plan, const cst__view *batch, cst_error *error) {
  int64_t limit = batch->length;
  cst_status status = CST_OK;
  for (int64_t i = 0; i < batch->num_children; i++) {
    const cst__view *v = &batch->children[i];
    const flat_column *column = &plan->columns[i];
    int64_t row = column->unwrap ? flat_find_count(v, column, limit) : limit;
    if (row < limit) {
      status = flat_fail_count(v, column, row, error);
      limit = row;
    }
    row = column->is_text ? flat_find_bytes(v, column, limit) : limit;
    if (row < limit) {
      status = flat_fail_text(column, row, error);
      limit = row;
    }
  }
  return status;
}

/* ---- values with gaps where they are missing ---- */

/* The slot of a row's value, or -1. */
static int64_t flat_slot(const cst__view *lists, int64_t row) {
  int64_t begin;
  int64_t end;
  cst__view_list(lists, row, &begin, &end);
  return begin == end || cst__view_is_null(&lists->children[0], begin) ? -1 : begin;
}

static size_t flat_width(const cst__view *values) {
  switch (values->layout) {
    case CST__LAYOUT_NUMBER:
      return cst_dtype_width(values->dtype);
    case CST__LAYOUT_HALF:
      return 2;
    case CST__LAYOUT_BINARY_VIEW:
      return CST__VIEW_SIZE;
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      return (size_t)values->fixed_size;
    default:
      return 0;
  }
}

#define FLAT_SPREAD(type)                                                \
  for (int64_t i = 0; i < count; i++) {                                  \
    ((type *)to)[i] = slots[i] < 0 ? 0 : ((const type *)from)[slots[i]]; \
  }                                                                      \
  return

static void flat_spread(const void *from, const int64_t *slots, int64_t count, size_t width,
                        void *to) {
  switch (width) {
    case 1:
      FLAT_SPREAD(uint8_t);
    case 2:
      FLAT_SPREAD(uint16_t);
    case 4:
      FLAT_SPREAD(uint32_t);
    case 8:
      FLAT_SPREAD(uint64_t);
    default:
      memset(to, 0, (size_t)count * width);
      for (int64_t i = 0; i < count; i++) {
        if (slots[i] >= 0) {
          memcpy((char *)to + (size_t)i * width, (const char *)from + (size_t)slots[i] * width,
                 width);
        }
      }
  }
}

/* Values of one width. */
static bool flat_spread_fixed(const cst__view *values, const int64_t *slots,
                              struct ArrowArray *out) {
  size_t width = flat_width(values);
  void *to = cst__owned_buffer(out, 1, (size_t)out->length * width);
  if (to != NULL) {
    flat_spread((const char *)values->data + (size_t)values->offset * width, slots, out->length,
                width, to);
  }
  return to != NULL;
}

static bool flat_spread_bits(const cst__view *values, const int64_t *slots,
                             struct ArrowArray *out) {
  const uint8_t *bits = values->data;
  uint8_t *to = cst__owned_buffer(out, 1, cst__bits_size(out->length));
  if (to != NULL) {
    memset(to, 0, cst__bits_size(out->length));
    for (int64_t i = 0; i < out->length; i++) {
      int64_t at = values->offset + slots[i];
      if (slots[i] >= 0 && (bits[at >> 3] >> (at & 7) & 1)) {
        to[i >> 3] |= (uint8_t)(1U << (i & 7));
      }
    }
  }
  return to != NULL;
}

/* The bytes are shared: only the offsets have gaps. A missing row has what lies between its
 * neighbours, which is nothing, or what a null list hides. */
static bool flat_spread_offsets(const cst__view *values, const int64_t *slots,
                                struct ArrowArray *out) {
  int width = values->offset_width;
  void *to = cst__owned_buffer(out, 1, (size_t)(out->length + 1) * (size_t)width);
  int64_t next = -1; /* where the bytes of the value before end */
  for (int64_t i = 0; to != NULL && i <= out->length; i++) {
    int64_t slot = i < out->length ? slots[i] : -1;
    int64_t begin =
        slot >= 0 ? cst__view_entry(values->offsets, width, values->offset + slot) : next;
    begin = begin < 0 ? 0 : begin;
    if (width == 8) {
      ((int64_t *)to)[i] = begin;
    } else {
      ((int32_t *)to)[i] = (int32_t)begin;
    }
    next = slot >= 0 ? cst__view_entry(values->offsets, width, values->offset + slot + 1) : begin;
  }
  out->buffers[2] = values->data;
  return to != NULL;
}

static bool flat_spread_values(const cst__view *values, const struct ArrowArray *array,
                               const int64_t *slots, struct ArrowArray *out) {
  if (values->layout == CST__LAYOUT_BOOL) {
    return flat_spread_bits(values, slots, out);
  }
  if (values->layout == CST__LAYOUT_BINARY) {
    return flat_spread_offsets(values, slots, out);
  }
  for (int64_t i = 2; i < array->n_buffers; i++) { /* those of views */
    out->buffers[i] = array->buffers[i];
  }
  return flat_spread_fixed(values, slots, out);
}

static bool flat_set_validity(const int64_t *slots, struct ArrowArray *out) {
  uint8_t *bits = cst__owned_buffer(out, 0, cst__bits_size(out->length));
  if (bits == NULL) {
    return false;
  }
  memset(bits, 0, cst__bits_size(out->length));
  for (int64_t i = 0; i < out->length; i++) {
    bits[i >> 3] |= (uint8_t)((slots[i] >= 0) << (i & 7));
    out->null_count += slots[i] < 0;
  }
  return true;
}

/* ---- columns ---- */

typedef struct flat_work {
  const flat_state *state;
  cst__arena *arena;
  cst__owner owner;
  cst_error *error;
} flat_work;

static cst_status flat_unwrap_gaps(const flat_work *work, const cst__view *lists,
                                   const struct ArrowArray *items, struct ArrowArray *out) {
  int64_t rows = lists->length;
  int64_t *slots = cst__arena_take(work->arena, (size_t)(rows + 1) * sizeof *slots);
  if (slots == NULL) {
    return cst__fail_memory(work->error, (size_t)rows * sizeof *slots);
  }
  for (int64_t i = 0; i < rows; i++) {
    slots[i] = flat_slot(lists, i);
  }
  CST__TRY(cst__owned_new(&work->state->allocator, items->n_buffers, 0, false, out, work->error));
  out->length = rows;
  work->owner.retain(work->owner.object);
  cst__owned_keep(out, work->owner.object, work->owner.release);
  if (!flat_set_validity(slots, out) ||
      !flat_spread_values(&lists->children[0], items, slots, out)) {
    out->release(out);
    return cst__fail_memory(work->error, (size_t)rows * CST__VIEW_SIZE);
  }
  return CST_OK;
}

static cst_status flat_unwrap(const flat_work *work, const cst__view *lists,
                              const struct ArrowArray *array, struct ArrowArray *out) {
  int64_t begin = 0;
  int64_t end;
  if (!flat_all_single(lists, lists->length)) {
    return flat_unwrap_gaps(work, lists, array->children[0], out);
  }
  if (lists->length > 0) {
    cst__view_list(lists, 0, &begin, &end);
  }
  return cst__share_slots(&work->owner, array->children[0], begin, lists->length, out, work->error);
}

/* `batch` is what the view looks at; the owner has it. */
static cst_status flat_make(const flat_work *work, const cst__view *view,
                            const struct ArrowArray *batch, struct ArrowArray *out) {
  const flat_plan *plan = work->state->plan;
  CST__TRY(cst__owned_new(&work->state->allocator, 1, batch->n_children, false, out, work->error));
  out->length = batch->length;
  cst_status status = CST_OK;
  for (int64_t i = 0; i < batch->n_children && status == CST_OK; i++) {
    const struct ArrowArray *child = batch->children[i];
    status = plan->columns[i].unwrap
                 ? flat_unwrap(work, &view->children[i], child, out->children[i])
                 : cst__share_slots(&work->owner, child, batch->offset, batch->length,
                                    out->children[i], work->error);
  }
  if (status == CST_OK && view->null_count > 0) {
    uint8_t *bits = cst__owned_buffer(out, 0, cst__bits_size(out->length));
    out->null_count = view->null_count;
    if (bits == NULL) {
      status = cst__fail_memory(work->error, cst__bits_size(out->length));
    } else {
      cst__bits_copy(bits, 0, view->validity, view->offset, out->length);
    }
  }
  if (status != CST_OK) {
    out->release(out);
  }
  return status;
}

/* ---- running ---- */

static cst_status flat_open(const void *plan, void **out, cst_error *error) {
  const cst_allocator *allocator = &((const flat_plan *)plan)->arena.allocator;
  flat_state *state = cst__new_zero(allocator, sizeof *state);
  if (state == NULL) {
    return cst__fail_memory(error, sizeof *state);
  }
  *state = (flat_state){.plan = plan, .allocator = *allocator};
  *out = state;
  return CST_OK;
}

static void flat_close(void *state) { cst__delete(state); }

static cst_status flat_convert(const flat_work *work, struct ArrowArray *batch,
                               struct ArrowArray *out) {
  const flat_state *state = work->state;
  cst__view view;
  cst__shared *shared;
  struct ArrowArray root = *batch; /* its children stay where they are when it is shared */
  CST__TRY(cst__view_init(&view, &state->plan->input, batch, true, work->arena, work->error));
  CST__TRY(flat_check(state->plan, &view, work->error));
  CST__TRY(cst__shared_new(batch, &state->allocator, &shared, work->error));
  flat_work owned = {state, work->arena, cst__shared_owner(shared), work->error};
  cst_status status = flat_make(&owned, &view, &root, out);
  cst__shared_release(shared);
  return status;
}

static cst_status flat_run(void *object, struct ArrowArray *batch, struct ArrowArray *out,
                           cst__row_map *origin, cst_error *error) {
  (void)origin;
  const flat_state *state = object;
  cst__arena arena;
  if (!state->plan->changes) {
    *out = *batch;
    batch->release = NULL;
    return CST_OK;
  }
  cst__arena_init(&arena, &state->allocator);
  flat_work work = {.state = state, .arena = &arena, .error = error};
  cst_status status = flat_convert(&work, batch, out);
  cst__arena_reset(&arena);
  cst__array_release(batch);
  return status;
}

const cst__stage cst__flat_stage = {
    .name = "flat",
    .refuses_rows = true,
    .bind = flat_bind,
    .plan_free = flat_plan_free,
    .open = flat_open,
    .run = flat_run,
    .close = flat_close,
};
