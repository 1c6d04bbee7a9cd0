/* The columns of a decoder, from the plan to the choice of what a batch puts out. */
#include "decode/decoder_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/names.h"

/* Names without a schema are kept from call to call; far more of them than a call used are not. */
enum { MANY_NAMES = 4096 };

cst_status cst__decoder_columns_init(cst__decoder_columns *columns, cst__decode_state *state,
                                     const cst_allocator *allocator, cst_error *error) {
  columns->state = state;
  state->table = &columns->table;
  state->views = (columns->flags & CST_COLUMNS_BINARY_VIEWS) != 0;
  state->allocator = cst__allocator_of(allocator);
  columns->pool = cst__batch_pool_new(&state->allocator);
  return columns->pool != NULL && cst__name_table_init(&columns->table, &state->allocator)
             ? CST_OK
             : cst__fail_memory(error, sizeof *columns);
}

void cst__decoder_columns_reset(cst__decoder_columns *columns) {
  if (!columns->is_borrowed) {
    cst__name_table_reset(&columns->table);
    cst__name_map_reset(&columns->known);
  }
  cst_schema_release(columns->schema);
  cst__batch_pool_release(columns->pool);
  if (columns->state != NULL) {
    cst__delete(columns->state->hot);
    cst__delete(columns->state->cold);
  }
  cst__delete(columns->sorted);
  cst__delete(columns->order);
  cst__delete(columns->names);
}

/* ---- planning ---- */

cst__cold cst__cold_of_feature(const cst_feature *feature) {
  static const uint8_t tags[] = {[CST_FEATURE_BYTES] = CST__TAG_BYTES,
                                 [CST_FEATURE_INT] = CST__TAG_INT,
                                 [CST_FEATURE_FLOAT] = CST__TAG_FLOAT};
  /* Inference writes UNKNOWN for a feature that never had a value. */
  bool is_null = feature->type == CST_FEATURE_UNKNOWN;
  return (cst__cold){
      .fixed_size = -1, .is_null = is_null, .tag = is_null ? 0 : tags[feature->type]};
}

cst_status cst__decoder_columns_add(cst__decoder_columns *columns, const char *name, size_t size,
                                    cst__cold cold, cst_error *error) {
  cst__decode_state *state = columns->state;
  bool unknown_grows = state->grows;
  uint32_t column;
  if (cst__name_table_find(&columns->table, (const uint8_t *)name, size) != CST__NO_COLUMN) {
    return cst__fail_twice(error, name, size);
  }
  state->error = error;
  state->grows = true;
  cst_status status = cst__unknown_name(state, (const uint8_t *)name, size, &column);
  state->grows = unknown_grows;
  if (status == CST_OK) {
    state->cold[column] = cold;
  }
  return status;
}

void cst__decoder_columns_reject(cst__decoder_columns *columns, const cst_schema *schema) {
  columns->schema = cst_schema_retain(schema);
  columns->state->known = &columns->known;
  columns->state->learns = true;
}

cst_status cst__decoder_columns_know(cst__decoder_columns *columns, const cst_feature *feature,
                                     cst_error *error) {
  return cst__name_map_add(&columns->known, feature->name, feature->name_size, columns->known.count)
             ? CST_OK
             : cst__fail_memory(error, sizeof(cst__name_slot));
}

/* ---- sharing ---- */

/* Tunes the table for the names that it has by now. */
void cst__decoder_columns_seal(cst__decoder_columns *columns) {
  if (columns->tuned_names != columns->table.count) {
    cst__name_table_tune(&columns->table);
    columns->tuned_names = columns->table.count;
  }
}

cst_status cst__decoder_columns_share(cst__decoder_columns *columns, cst__decode_state *state,
                                      const cst__decoder_columns *from, cst_error *error) {
  const cst__decode_state *shared = from->state;
  const size_t count = shared->num_columns;
  *columns = (cst__decoder_columns){.state = state,
                                    .flags = from->flags,
                                    .all_seen = from->all_seen,
                                    .is_nested = from->is_nested,
                                    .occurred = from->occurred,
                                    .is_borrowed = true,
                                    .table = from->table,
                                    .known = from->known,
                                    .tuned_names = from->tuned_names};
  state->table = &columns->table;
  state->known = shared->known != NULL ? &columns->known : NULL;
  state->learns = shared->learns;
  state->views = shared->views;
  state->nesting = shared->nesting;
  state->damaged_hint = shared->damaged_hint;
  state->allocator = shared->allocator;
  columns->pool = cst__batch_pool_new(&state->allocator);
  state->hot = cst__new_zero(&state->allocator, (count + 1) * sizeof *state->hot);
  state->cold = cst__new(&state->allocator, (count + 1) * sizeof *state->cold);
  if (columns->pool == NULL || state->hot == NULL || state->cold == NULL) {
    return cst__fail_memory(error, (count + 1) * sizeof *state->hot);
  }
  if (count > 0) {
    memcpy(state->cold, shared->cold, count * sizeof *state->cold);
  }
  state->num_columns = count;
  state->capacity = count + 1;
  return CST_OK;
}

/* ---- a batch ---- */

/* Forgets the names of earlier batches if far more of them are known than the last one had. */
static cst_status forget_names(cst__decoder_columns *columns, cst_error *error) {
  cst__decode_state *state = columns->state;
  if (!state->grows || state->num_columns <= MANY_NAMES ||
      state->num_columns / 4 <= columns->num_outputs) {
    return CST_OK;
  }
  cst__name_table_reset(&columns->table);
  state->num_columns = 0;
  columns->num_sorted = SIZE_MAX;
  return cst__name_table_init(&columns->table, &state->allocator)
             ? CST_OK
             : cst__fail_memory(error, sizeof columns->table);
}

cst_status cst__decoder_columns_begin(cst__decoder_columns *columns, const cst__records *records,
                                      cst_error *error) {
  cst__decode_state *state = columns->state;
  state->error = error;
  CST__TRY(forget_names(columns, error));
  cst__decoder_columns_seal(columns);
  state->batch = cst__batch_take(columns->pool, state->num_columns);
  if (state->batch == NULL) {
    return cst__fail_memory(error, state->num_columns * sizeof(cst__column));
  }
  state->rows = (int32_t)records->count;
  state->row = 0;
  state->block = NULL;
  state->first_wrong = 0;
  return CST_OK;
}

/* Room for as many columns of output as there are. */
static bool reserve_outputs(cst__decoder_columns *columns) {
  const cst_allocator *allocator = &columns->state->allocator;
  size_t count = columns->state->num_columns;
  if (count <= columns->output_capacity && columns->order != NULL) {
    return true;
  }
  size_t room = count + count / 2 + 8;
  cst__delete(columns->order);
  cst__delete(columns->names);
  columns->order = cst__new(allocator, room * sizeof *columns->order);
  columns->names = cst__new(allocator, room * sizeof *columns->names);
  bool ok = columns->order != NULL && columns->names != NULL;
  columns->output_capacity = ok ? room : 0;
  return ok;
}

typedef struct named_column {
  const char *name;
  size_t column;
} named_column;

static int by_column_name(const void *a, const void *b) {
  return strcmp(((const named_column *)a)->name, ((const named_column *)b)->name);
}

/* Without a schema columns stand in the order of their names, with one in that of the schema. */
static bool sort_columns(cst__decoder_columns *columns) {
  const cst__decode_state *state = columns->state;
  size_t count = state->num_columns;
  if (columns->num_sorted == count && columns->sorted != NULL) {
    return true;
  }
  cst__delete(columns->sorted);
  columns->sorted = cst__new(&state->allocator, (count + 1) * sizeof *columns->sorted);
  named_column *all = cst__new(&state->allocator, (count + 1) * sizeof *all);
  for (size_t i = 0; all != NULL && i < count; i++) {
    all[i] = (named_column){columns->table.names[i], i};
  }
  if (all != NULL && state->grows && count > 1) {
    qsort(all, count, sizeof *all, by_column_name);
  }
  for (size_t i = 0; all != NULL && columns->sorted != NULL && i < count; i++) {
    columns->sorted[i] = all[i].column;
  }
  bool ok = all != NULL && columns->sorted != NULL;
  cst__delete(all);
  columns->num_sorted = ok ? count : SIZE_MAX;
  return ok;
}

static cst__values kind_of_column(const cst__decoder_columns *columns, size_t column) {
  switch (cst__expected_kind(columns->state, (uint32_t)column)) {
    case CST__TAG_INT:
      return CST__VALUES_INT64;
    case CST__TAG_FLOAT:
      return CST__VALUES_FLOAT32;
    case CST__TAG_BYTES:
      return columns->state->views ? CST__VALUES_VIEW : CST__VALUES_BINARY;
    default:
      return CST__VALUES_NULL;
  }
}

cst_status cst__decoder_columns_choose(cst__decoder_columns *columns, cst_error *error) {
  const cst__decode_state *state = columns->state;
  if (!reserve_outputs(columns) || !sort_columns(columns)) {
    return cst__fail_memory(error, state->num_columns * sizeof *columns->order);
  }
  columns->num_outputs = 0;
  for (size_t i = 0; i < columns->num_sorted; i++) {
    size_t column = columns->sorted[i];
    if (!columns->all_seen && !columns->occurred(state, (uint32_t)column)) {
      continue;
    }
    columns->order[columns->num_outputs] = column;
    columns->names[columns->num_outputs++] = columns->table.names[column];
  }
  return CST_OK;
}

cst_status cst__decoder_columns_type(const cst__decoder_columns *columns, cst__arena *arena,
                                     cst__type *type, cst_error *error) {
  bool offsets_32 = (columns->flags & CST_COLUMNS_OFFSETS_32) != 0;
  CST__TRY(cst__type_set(type, "+s", arena, error));
  CST__TRY(cst__type_set_children(type, columns->num_outputs, arena, error));
  for (size_t i = 0; i < columns->num_outputs; i++) {
    cst__type *column = &type->children[i];
    cst__values kind = kind_of_column(columns, columns->order[i]);
    int64_t fixed_size = columns->state->cold[columns->order[i]].fixed_size;
    column->name = columns->names[i];
    column->format = cst__values_format(kind, offsets_32);
    if (columns->is_nested) {
      CST__TRY(cst__type_enlist(column, fixed_size, offsets_32, arena, error));
    }
    if (columns->is_nested || kind != CST__VALUES_NULL) {
      CST__TRY(cst__type_enlist(column, fixed_size, offsets_32, arena, error));
    }
  }
  return CST_OK;
}

cst__column *cst__decoder_columns_typed(cst__decoder_columns *columns, size_t i) {
  size_t at = columns->order[i];
  cst__column *column = &columns->state->batch->columns[at];
  column->kind = kind_of_column(columns, at);
  column->fixed_size = columns->state->cold[at].fixed_size;
  column->offsets_32 = (columns->flags & CST_COLUMNS_OFFSETS_32) != 0;
  column->flat = false;
  return column;
}
