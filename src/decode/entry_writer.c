/* Columns of a batch to the map entries of a Features message. */
#include "decode/entry_writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum {
  SMALL_ENTRY = 127, /* what a length of one byte says */
  SINGLE_HEAD = 6,   /* tags and lengths between a name and a single value */
  FETCH_ROWS = 8     /* as many offsets as a cache line holds */
};

cst_status cst__at_out_column(const cst__out_column *column, cst_status status, cst_error *error) {
  cst__error_add_path(error, column->view->name, strlen(column->view->name));
  return status;
}

/* ---- the columns of one batch ---- */

cst_status cst__add_out_column(cst__out_columns *columns, const char *name, const cst__view *view,
                               cst__out_column **out, cst_error *error) {
  void *items = columns->items;
  if (!cst__grow(columns->allocator, &items, &columns->capacity, columns->count + 1,
                 sizeof(cst__out_column))) {
    return cst__fail_memory(error, (columns->count + 1) * sizeof(cst__out_column));
  }
  columns->items = items;
  size_t size = strlen(name);
  if (!cst__utf8_valid((const uint8_t *)name, size)) {
    return cst__fail(error, CST_UNSUPPORTED, NULL, "a column name is not valid UTF-8");
  }
  *out = &columns->items[columns->count++];
  **out = (cst__out_column){.name = name, .name_size = size, .view = view};
  cst__out_column *column = *out;
  if (column->name_size + 2 <= CST__NAME_BLOCK) {
    uint8_t *field = column->name_block + CST__NAME_BLOCK - column->name_size - 2;
    field[0] = CST__TAG_FIRST;
    field[1] = (uint8_t)column->name_size;
    memcpy(field + 2, column->name, column->name_size);
    column->name_field_size = column->name_size + 2;
  }
  return CST_OK;
}

static cst__single_kind single_of(const cst__out_column *column) {
  const cst__view *values = column->values;
  bool usual = column->offsets != NULL && !column->has_null_values && column->name_field_size > 0;
  if (usual && values->layout == CST__LAYOUT_BINARY && values->offset_width == 8) {
    return CST__SINGLE_BINARY;
  }
  if (usual && values->layout == CST__LAYOUT_NUMBER) {
    return values->dtype == CST_DTYPE_INT64     ? CST__SINGLE_INT64
           : values->dtype == CST_DTYPE_FLOAT32 ? CST__SINGLE_FLOAT32
                                                : CST__SINGLE_NONE;
  }
  return CST__SINGLE_NONE;
}

cst_status cst__set_out_values(cst__out_column *column, const cst__view *view, cst_error *error) {
  bool in_list = cst__view_is_list(view);
  const cst__view *values = in_list ? &view->children[0] : view;
  column->values = values;
  if (view->layout == CST__LAYOUT_NULL) {
    return CST_OK;
  }
  column->has_null_values =
      in_list && (values->null_count > 0 || values->layout == CST__LAYOUT_NULL);
  /* A list of nulls can hold no value: empty rows have no type, other rows are refused. */
  bool known = (in_list && values->layout == CST__LAYOUT_NULL) ||
               cst__value_writer(values, &column->tag, &column->put);
  if (!known) {
    char type[64];
    cst__view_type_name(column->view, type, sizeof type);
    return cst__at_out_column(
        column,
        cst__fail(error, CST_UNSUPPORTED, "cast the column, or leave it out",
                  "a tf.Example holds lists of integers, floats or bytes, not %s", type),
        error);
  }
  if (view->layout == CST__LAYOUT_LIST && view->offset_width == 8 && view->length > 0) {
    column->offsets = (const int64_t *)view->offsets + view->offset;
  }
  column->single = single_of(column);
  return CST_OK;
}

/* True if a row tells the kind: it is not null, and a feature list has a step that is not null
 * either. */
static bool has_kind(const cst__view *view, int64_t row) {
  if (cst__view_is_null(view, row)) {
    return false;
  }
  if (!cst__view_is_list(view) || !cst__view_is_list(&view->children[0])) {
    return true;
  }
  int64_t begin;
  int64_t end;
  cst__view_list(view, row, &begin, &end);
  while (begin < end && cst__view_is_null(&view->children[0], begin)) {
    begin++;
  }
  return begin < end;
}

/* A feature that never had a type has no value either. */
static cst_status refuse_kinds(const cst__out_column *column, cst_error *error) {
  for (int64_t row = 0; column->tag != 0 && row < column->view->length; row++) {
    if (has_kind(column->view, row)) {
      cst_status status =
          cst__fail(error, CST_SCHEMA, "give the feature a type, or leave the column out",
                    "a value of a feature without a type (TYPE_UNKNOWN)");
      cst__error_add_record(error, row, -1);
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__check_out_column(cst__out_column *column, const cst_feature *feature,
                                 cst_error *error) {
  static const uint8_t tags[] = {[CST_FEATURE_UNKNOWN] = 0,
                                 [CST_FEATURE_BYTES] = CST__TAG_BYTES,
                                 [CST_FEATURE_FLOAT] = CST__TAG_FLOAT,
                                 [CST_FEATURE_INT] = CST__TAG_INT,
                                 [CST_FEATURE_STRUCT] = 0};
  static const char *const names[] = {[CST_FEATURE_BYTES] = "BYTES",
                                      [CST_FEATURE_FLOAT] = "FLOAT",
                                      [CST_FEATURE_INT] = "INT",
                                      [CST_FEATURE_STRUCT] = "STRUCT"};
  cst_status status = CST_OK;
  if (feature == NULL) {
    status = cst__fail(error, CST_SCHEMA, "add the feature, or leave the column out",
                       "the schema has no such feature");
  } else if (feature->type == CST_FEATURE_UNKNOWN) {
    status = refuse_kinds(column, error);
  } else if (column->tag == 0 && feature->type != CST_FEATURE_STRUCT) {
    column->tag = tags[feature->type]; /* of empty lists, whose type is that of nulls */
  } else if (tags[feature->type] != column->tag || feature->type == CST_FEATURE_STRUCT) {
    char type[64];
    cst__view_type_name(column->view, type, sizeof type);
    status = cst__fail(error, CST_SCHEMA, "cast the column, or correct the schema",
                       "the column is %s, the schema says %s", type, names[feature->type]);
  }
  return status != CST_OK ? cst__at_out_column(column, status, error) : CST_OK;
}

static int by_key(const void *a, const void *b) {
  return strcmp(((const cst__out_column *)a)->name, ((const cst__out_column *)b)->name);
}

/* Two columns of one name, of which at least one is a part of a nested column. */
static cst_status fail_shared_source(const cst__out_column *a, const cst__out_column *b,
                                     cst_error *error) {
  char first[64];
  char second[64];
  cst__escape(first, sizeof first, a->view->name, strlen(a->view->name));
  cst__escape(second, sizeof second, b->view->name, strlen(b->view->name));
  cst_status status =
      a->view == b->view
          ? cst__fail(error, CST_SCHEMA, "use a feature once in a ragged tensor",
                      "the ragged tensor '%s' has this feature twice among its sources", first)
          : cst__fail(error, CST_SCHEMA, "leave one of the columns out",
                      "columns '%s' and '%s' both map to this feature", first, second);
  cst__error_add_path(error, a->name, a->name_size);
  return status;
}

cst_status cst__sort_out_columns(cst__out_columns *columns, cst_error *error) {
  if (columns->count > 1) {
    qsort(columns->items, columns->count, sizeof(cst__out_column), by_key);
  }
  for (size_t i = 1; i < columns->count; i++) {
    const cst__out_column *a = &columns->items[i - 1];
    const cst__out_column *b = &columns->items[i];
    if (by_key(a, b) != 0) {
      continue;
    }
    if (a->ragged != NULL || b->ragged != NULL) {
      return fail_shared_source(a, b, error);
    }
    return cst__at_out_column(b,
                              cst__fail(error, CST_INVALID_ARGUMENT, "rename one of them",
                                        "two columns have the same name"),
                              error);
  }
  return CST_OK;
}

/* ---- values ---- */

static cst_status value_fault(const cst__out_column *column, cst__value_fault fault,
                              cst_error *error) {
  const char *what = fault == CST__VALUE_TOO_LARGE
                         ? "an unsigned integer above 2^63 - 1 does not fit an int64 list"
                         : "float32 cannot represent a float64 value exactly";
  const char *hint = fault == CST__VALUE_TOO_LARGE ? "cast the column" : "lossy=True rounds";
  return cst__at_out_column(column, cst__fail(error, CST_UNSUPPORTED, hint, "%s", what), error);
}

static cst_status refuse_null_values(const cst__out_column *column, int64_t begin, int64_t end,
                                     cst_error *error) {
  for (int64_t i = begin; i < end; i++) {
    if (cst__view_is_null(column->values, i)) {
      return cst__at_out_column(
          column,
          cst__fail(error, CST_UNSUPPORTED, "fill or drop null values first",
                    "value %lld of the list is null, a tf.Example has no null values",
                    (long long)(i - begin)),
          error);
    }
  }
  return CST_OK;
}

cst_status cst__put_run(const cst__out_column *column, int64_t begin, int64_t end, bool lossy,
                        cst__back *back, cst_error *error) {
  if (column->has_null_values) {
    CST__TRY(refuse_null_values(column, begin, end, error));
  }
  size_t bound;
  if (!cst__values_bound(column->values, begin, end, &bound) ||
      !cst__add(bound, column->name_size + CST__ENTRY_OVERHEAD, &bound)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  if (!cst__back_room(back, bound)) {
    return cst__fail_memory(error, bound);
  }
  if (column->put == NULL) {
    return CST_OK; /* an empty list of nulls */
  }
  cst__value_fault fault = column->put(column->values, begin, end, lossy, &back->at);
  return fault == CST__VALUE_OK ? CST_OK : value_fault(column, fault, error);
}

cst_status cst__put_kind(const cst__out_column *column, int64_t begin, int64_t end, bool lossy,
                         cst__back *back, cst_error *error) {
  size_t before = cst__back_used(back);
  CST__TRY(cst__put_run(column, begin, end, lossy, back, error));
  if (column->tag == 0) {
    return CST_OK;
  }
  if (column->tag != CST__TAG_BYTES && begin < end) {
    cst__put_size(back, cst__back_used(back) - before, CST__TAG_FIRST); /* packed */
  }
  cst__put_size(back, cst__back_used(back) - before, column->tag);
  return CST_OK;
}

/* ---- entries ---- */

void cst__put_name(const cst__out_column *column, cst__back *back) {
  if (column->name_field_size > 0) {
    memcpy(back->at - CST__NAME_BLOCK, column->name_block, CST__NAME_BLOCK);
    back->at -= column->name_field_size;
    return;
  }
  back->at -= column->name_size;
  memcpy(back->at, column->name, column->name_size);
  cst__put_size(back, column->name_size, CST__TAG_FIRST);
}

bool cst__out_values(const cst__out_column *column, int64_t row, int64_t *begin, int64_t *end) {
  *begin = row;
  *end = row + 1;
  if (cst__view_is_null(column->view, row)) {
    *end = row;
    return false;
  }
  if (column->offsets != NULL) {
    *begin = column->offsets[row];
    *end = column->offsets[row + 1];
  } else if (column->view != column->values) {
    cst__view_list(column->view, row, begin, end);
  }
  return true;
}

/* The bytes of value i, ending at `at`; NULL if they are many. */
static inline uint8_t *put_single_value(const cst__out_column *column, int64_t i, uint8_t *at) {
  const cst__view *values = column->values;
  i += values->offset;
  if (column->single == CST__SINGLE_INT64) {
    return cst__put_varint_back(at, (uint64_t)((const int64_t *)values->data)[i]);
  }
  if (column->single == CST__SINGLE_FLOAT32) {
    memcpy(at - 4, (const float *)values->data + i, 4);
    return at - 4;
  }
  const int64_t *offsets = (const int64_t *)values->offsets + i;
  size_t size = (size_t)(offsets[1] - offsets[0]);
  if (size > SMALL_ENTRY) {
    return NULL;
  }
  cst__copy_exact(at - size, (const uint8_t *)values->data + offsets[0], size);
  return at - size;
}

/* The entry of the usual slot, a null or a single value of an entry below 128 bytes, so that every
 * length is one byte: 0A entry 0A name_size NAME 12 feature TAG list 0A values VALUES. False: it is
 * another one, nothing is written. */
static inline bool put_single(const cst__out_column *column, int64_t row, cst__back *back) {
  uint8_t *at = back->at;
  if (column->single == CST__SINGLE_NONE ||
      at - back->buffer->data < 2 * SMALL_ENTRY + CST__NAME_BLOCK) {
    return false;
  }
  if (cst__view_is_null(column->view, row)) {
    *--at = 0;
    *--at = CST__TAG_VALUE;
  } else {
    int64_t begin = column->offsets[row];
    uint8_t *value =
        column->offsets[row + 1] == begin + 1 ? put_single_value(column, begin, at) : NULL;
    if (value == NULL) {
      return false;
    }
    uint64_t size = (uint64_t)(at - value);
    uint64_t head = CST__TAG_VALUE | (size + 4) << 8 | (uint64_t)column->tag << 16 |
                    (size + 2) << 24 | (uint64_t)CST__TAG_FIRST << 32 | size << 40;
    head <<= 64 - 8 * SINGLE_HEAD;
    memcpy(value - 8, &head, 8); /* little-endian: the two bytes before are overwritten next */
    at = value - SINGLE_HEAD;
  }
  memcpy(at - CST__NAME_BLOCK, column->name_block, CST__NAME_BLOCK);
  at -= column->name_field_size;
  size_t entry = (size_t)(back->at - at);
  if (entry > SMALL_ENTRY) {
    return false;
  }
  *--at = (uint8_t)entry;
  *--at = CST__TAG_FIRST;
  back->at = at;
  return true;
}

/* The content of the Feature of one column and row: nothing for null. */
static cst_status put_column_feature(const cst__out_column *column, int64_t row, bool lossy,
                                     cst__back *back, cst_error *error) {
  if (column->put_part != NULL) {
    return column->put_part(column, row, lossy, back, error);
  }
  int64_t begin;
  int64_t end;
  if (cst__out_values(column, row, &begin, &end)) {
    return cst__put_kind(column, begin, end, lossy, back, error);
  }
  size_t bound = column->name_size + CST__ENTRY_OVERHEAD;
  return cst__back_room(back, bound) ? CST_OK : cst__fail_memory(error, bound);
}

/* The map entry of one column and row. */
static cst_status put_column_entry(const cst__out_column *column, int64_t row, bool lossy,
                                   cst__back *back, cst_error *error) {
  size_t before = cst__back_used(back);
  CST__TRY(put_column_feature(column, row, lossy, back, error));
  cst__put_size(back, cst__back_used(back) - before, CST__TAG_VALUE);
  cst__put_name(column, back);
  cst__put_size(back, cst__back_used(back) - before, CST__TAG_FIRST);
  return CST_OK;
}

/* Rows are written side by side, from more columns than the machine follows by itself: fetches what
 * the eight rows after the next eight will read. */
static void prefetch_rows(const cst__out_columns *columns, int64_t row) {
  for (size_t i = 0; row >= 4 * FETCH_ROWS && i < columns->count; i++) {
    const cst__out_column *column = &columns->items[i];
    const cst__view *values = column->values;
    if (column->single == CST__SINGLE_NONE || values->length == 0) {
      continue;
    }
    int64_t at = values->offset + column->offsets[row - 2 * FETCH_ROWS];
    __builtin_prefetch(column->offsets + row - 4 * FETCH_ROWS);
    if (column->single == CST__SINGLE_BINARY) {
      const int64_t *offsets = values->offsets;
      int64_t near = values->offset + column->offsets[row - FETCH_ROWS];
      __builtin_prefetch(offsets + at);
      __builtin_prefetch((const uint8_t *)values->data + offsets[near]);
    } else if (column->single == CST__SINGLE_INT64) {
      __builtin_prefetch((const int64_t *)values->data + at);
    } else {
      __builtin_prefetch((const float *)values->data + at);
    }
  }
}

cst_status cst__put_features(const cst__out_columns *columns, int64_t row, bool lossy,
                             cst__back *back, cst_error *error) {
  size_t before = cst__back_used(back);
  if (row % FETCH_ROWS == 0) {
    prefetch_rows(columns, row);
  }
  for (size_t i = columns->count; i > 0; i--) {
    const cst__out_column *column = &columns->items[i - 1];
    if (!put_single(column, row, back)) {
      CST__TRY(put_column_entry(column, row, lossy, back, error));
    }
  }
  if (columns->count == 0) {
    return CST_OK;
  }
  if (!cst__back_room(back, CST__ENTRY_OVERHEAD)) {
    return cst__fail_memory(error, CST__ENTRY_OVERHEAD);
  }
  cst__put_size(back, cst__back_used(back) - before, CST__TAG_FIRST);
  return CST_OK;
}
