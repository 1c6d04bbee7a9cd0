/* The tf.Example encoder: record batches to serialized records, back to front in one pass.
 *
 * The last column of the last row is written first, at the end of the buffer; every length is known
 * when its place comes. Names are sorted bytewise, so that the same batch gives the same bytes.
 */
#include "decode/example_encoder.h"

#include <stdlib.h>
#include <string.h>

#include "arrow/batch.h"
#include "base/utf8.h"
#include "decode/example_wire.h"
#include "decode/value_writer.h"
#include "schema/schema.h"

enum {
  NAME_BLOCK = 32,
  /* Tags and lengths around a name and a list: 2 + 5 for each of entry, name, Feature, kind,
   * packed; and a block in front of the name that is overwritten later. */
  ENTRY_OVERHEAD = 48 + NAME_BLOCK,
  SMALL_ENTRY = 127, /* what a length of one byte says */
  SINGLE_HEAD = 6,   /* tags and lengths between a name and a single value */
  FETCH_ROWS = 8     /* as many offsets as a cache line holds */
};

/* How one value of a large_list becomes bytes without a call. */
typedef enum single_kind { SINGLE_NONE, SINGLE_INT64, SINGLE_FLOAT32, SINGLE_BINARY } single_kind;

/* One column of a batch, as it is written. */
typedef struct out_column {
  const char *name;
  size_t name_size;
  const cst__view *view;   /* the column */
  const cst__view *values; /* what it holds: itself, or the list's items */
  cst__put_values put;     /* NULL: a column of type null */
  uint8_t tag;             /* of the kind in Feature */
  bool has_null_values;    /* a list's items may be null: to be refused */
  const int64_t *offsets;  /* of a large_list, from its first slot; else NULL */
  /* The name's field (tag, size, bytes) at the end of a block that one store copies; 0 bytes: too
   * long. */
  uint8_t name_block[NAME_BLOCK];
  size_t name_field_size;
  single_kind single; /* NONE: the values take the general way */
} out_column;

struct cst_example_encoder {
  cst_allocator allocator;
  cst_schema *schema;
  bool lossy;
  bool trusted;
  cst__batch_pool *pool;
  cst__arena arena; /* views of the batch at hand */
  out_column *columns;
  size_t num_columns;
  size_t capacity;
};

/* Where the bytes go: filled from the end. */
typedef struct back_buffer {
  const cst_allocator *allocator;
  cst__buffer *buffer;
  uint8_t *at; /* begin of what is written */
} back_buffer;

cst_status cst__example_encoder_new(const cst_schema *schema, const cst_encode_options *options,
                                    cst_example_encoder **out, cst_error *error) {
  cst_example_encoder *e = cst__new_zero(options->allocator, sizeof *e);
  if (e == NULL) {
    return cst__fail_memory(error, sizeof *e);
  }
  e->allocator = cst__allocator_of(options->allocator);
  e->lossy = (options->flags & CST_ENCODE_LOSSY) != 0;
  e->trusted = (options->flags & CST_ENCODE_TRUSTED) != 0;
  e->schema = schema != NULL ? cst__schema_retain(schema) : NULL;
  cst__arena_init(&e->arena, &e->allocator);
  e->pool = cst__batch_pool_new(&e->allocator);
  if (e->pool == NULL) {
    cst__example_encoder_free(e);
    return cst__fail_memory(error, sizeof *e);
  }
  *out = e;
  return CST_OK;
}

void cst__example_encoder_free(cst_example_encoder *e) {
  if (e == NULL) {
    return;
  }
  cst__schema_release(e->schema);
  cst__batch_pool_release(e->pool);
  cst__arena_reset(&e->arena);
  cst__delete(e->columns);
  cst__delete(e);
}

/* ---- the plan of one batch ---- */

static cst_status at_column(const out_column *column, cst_status status, cst_error *error) {
  cst__error_add_path(error, column->name, column->name_size);
  return status;
}

static single_kind single_of(const out_column *column) {
  const cst__view *values = column->values;
  bool usual = column->offsets != NULL && !column->has_null_values && column->name_field_size > 0;
  if (usual && values->layout == CST__LAYOUT_BINARY && values->offset_width == 8) {
    return SINGLE_BINARY;
  }
  if (usual && values->layout == CST__LAYOUT_NUMBER) {
    return values->dtype == CST_DTYPE_INT64     ? SINGLE_INT64
           : values->dtype == CST_DTYPE_FLOAT32 ? SINGLE_FLOAT32
                                                : SINGLE_NONE;
  }
  return SINGLE_NONE;
}

static cst_status plan_column(out_column *column, const cst__view *view, cst_error *error) {
  *column = (out_column){.name = view->name, .view = view, .values = view};
  column->name_size = strlen(view->name);
  if (!cst__utf8_valid((const uint8_t *)view->name, column->name_size)) {
    return cst__fail(error, CST_UNSUPPORTED, NULL, "the name of a column is no UTF-8");
  }
  if (column->name_size + 2 <= NAME_BLOCK) {
    uint8_t *field = column->name_block + NAME_BLOCK - column->name_size - 2;
    field[0] = CST__TAG_FIRST;
    field[1] = (uint8_t)column->name_size;
    memcpy(field + 2, view->name, column->name_size);
    column->name_field_size = column->name_size + 2;
  }
  if (cst__view_is_list(view)) {
    column->values = &view->children[0];
    column->has_null_values =
        column->values->null_count > 0 || column->values->layout == CST__LAYOUT_NULL;
  }
  if (view->layout == CST__LAYOUT_LIST && view->offset_width == 8 && view->length > 0) {
    column->offsets = (const int64_t *)view->offsets + view->offset;
  }
  if (view->layout == CST__LAYOUT_NULL) {
    return CST_OK;
  }
  /* A list of nulls can hold no value: empty rows have no type, other rows are refused. */
  bool known = column->values->layout == CST__LAYOUT_NULL ||
               cst__value_writer(column->values, &column->tag, &column->put);
  if (!known) {
    char type[64];
    cst__view_type_name(view, type, sizeof type);
    return at_column(
        column,
        cst__fail(error, CST_UNSUPPORTED, "cast the column, or leave it out",
                  "a tf.Example holds lists of integers, floats or bytes, not %s", type),
        error);
  }
  column->single = single_of(column);
  return CST_OK;
}

static cst_status check_schema(const cst_example_encoder *e, const out_column *column,
                               cst_error *error) {
  static const uint8_t tags[] = {[CST_FEATURE_BYTES] = CST__TAG_BYTES,
                                 [CST_FEATURE_FLOAT] = CST__TAG_FLOAT,
                                 [CST_FEATURE_INT] = CST__TAG_INT,
                                 [CST_FEATURE_STRUCT] = 0};
  size_t at = cst__schema_find_feature(e->schema, column->name, column->name_size);
  if (at == SIZE_MAX) {
    return at_column(column,
                     cst__fail(error, CST_SCHEMA, "add the feature, or leave the column out",
                               "the schema has no such feature"),
                     error);
  }
  const cst_feature *feature = cst__schema_feature(e->schema, at);
  bool typed = column->put != NULL && feature->type != CST_FEATURE_UNKNOWN;
  if (typed && tags[feature->type] != column->tag) {
    char type[64];
    cst__view_type_name(column->view, type, sizeof type);
    static const char *const names[] = {[CST_FEATURE_BYTES] = "BYTES",
                                        [CST_FEATURE_FLOAT] = "FLOAT",
                                        [CST_FEATURE_INT] = "INT",
                                        [CST_FEATURE_STRUCT] = "STRUCT"};
    return at_column(column,
                     cst__fail(error, CST_SCHEMA, "cast the column, or correct the schema",
                               "the column is %s, the schema says %s", type, names[feature->type]),
                     error);
  }
  return CST_OK;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const out_column *)a)->name, ((const out_column *)b)->name);
}

static cst_status plan(cst_example_encoder *e, const cst__view *batch, cst_error *error) {
  void *columns = e->columns;
  size_t count = (size_t)batch->num_children;
  if (!cst__grow(&e->allocator, &columns, &e->capacity, count, sizeof(out_column))) {
    return cst__fail_memory(error, count * sizeof(out_column));
  }
  e->columns = columns;
  e->num_columns = count;
  for (size_t i = 0; i < count; i++) {
    CST__TRY(plan_column(&e->columns[i], &batch->children[i], error));
    if (e->schema != NULL) {
      CST__TRY(check_schema(e, &e->columns[i], error));
    }
  }
  if (count > 1) {
    qsort(e->columns, count, sizeof(out_column), by_name);
  }
  for (size_t i = 1; i < count; i++) {
    if (by_name(&e->columns[i - 1], &e->columns[i]) == 0) {
      return at_column(&e->columns[i],
                       cst__fail(error, CST_INVALID_ARGUMENT, "rename one of them",
                                 "two columns have the same name"),
                       error);
    }
  }
  return CST_OK;
}

/* ---- writing ---- */

/* Room for `want` more bytes in front; what is written moves to the new end. */
static bool make_room(back_buffer *back, size_t want) {
  cst__buffer *buffer = back->buffer;
  size_t have = (size_t)(back->at - buffer->data);
  if (buffer->data != NULL && have >= want) {
    return true;
  }
  size_t used = buffer->data != NULL ? buffer->capacity - have : 0;
  size_t total;
  cst__buffer bigger = {NULL, 0};
  if (!cst__add(used, want, &total) || !cst__add(total, total / 2, &total) ||
      !cst__buffer_reserve(back->allocator, &bigger, total, 0)) {
    return false;
  }
  uint8_t *at = bigger.data + bigger.capacity - used;
  if (used > 0) {
    memcpy(at, back->at, used);
  }
  cst__buffer_free(back->allocator, buffer);
  *buffer = bigger;
  back->at = at;
  return true;
}

static void put_size(back_buffer *back, size_t size, uint8_t tag) {
  back->at = cst__put_varint_back(back->at, size);
  *--back->at = tag;
}

static cst_status value_fault(const out_column *column, cst__value_fault fault, cst_error *error) {
  const char *what = fault == CST__VALUE_TOO_LARGE
                         ? "an unsigned integer above 2^63 - 1 has no place in an int64 list"
                         : "a float64 cannot be held exactly by float32";
  const char *hint = fault == CST__VALUE_TOO_LARGE ? "cast the column" : "lossy=True rounds";
  return at_column(column, cst__fail(error, CST_UNSUPPORTED, hint, "%s", what), error);
}

static cst_status refuse_null_values(const out_column *column, int64_t begin, int64_t end,
                                     cst_error *error) {
  for (int64_t i = begin; i < end; i++) {
    if (cst__view_is_null(column->values, i)) {
      return at_column(column,
                       cst__fail(error, CST_UNSUPPORTED, "fill or drop null values first",
                                 "value %lld of the list is null, a tf.Example has no null values",
                                 (long long)(i - begin)),
                       error);
    }
  }
  return CST_OK;
}

/* The list of one slot with its kind: what a Feature holds. */
static cst_status put_list(const cst_example_encoder *e, const out_column *column, int64_t begin,
                           int64_t end, back_buffer *back, cst_error *error) {
  uint8_t *last = back->at;
  if (column->put == NULL) {
    return CST_OK; /* an empty list of nulls: nothing tells its kind */
  }
  cst__value_fault fault = column->put(column->values, begin, end, e->lossy, &back->at);
  if (fault != CST__VALUE_OK) {
    return value_fault(column, fault, error);
  }
  if (column->tag != CST__TAG_BYTES && begin < end) {
    put_size(back, (size_t)(last - back->at), CST__TAG_FIRST); /* packed */
  }
  put_size(back, (size_t)(last - back->at), column->tag);
  return CST_OK;
}

static void put_name(const out_column *column, back_buffer *back) {
  if (column->name_field_size > 0) {
    memcpy(back->at - NAME_BLOCK, column->name_block, NAME_BLOCK);
    back->at -= column->name_field_size;
    return;
  }
  back->at -= column->name_size;
  memcpy(back->at, column->name, column->name_size);
  put_size(back, column->name_size, CST__TAG_FIRST);
}

/* The values of one slot; false: null. */
static bool values_of(const out_column *column, int64_t row, int64_t *begin, int64_t *end) {
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
static inline uint8_t *put_single_value(const out_column *column, int64_t i, uint8_t *at) {
  const cst__view *values = column->values;
  i += values->offset;
  if (column->single == SINGLE_INT64) {
    return cst__put_varint_back(at, (uint64_t)((const int64_t *)values->data)[i]);
  }
  if (column->single == SINGLE_FLOAT32) {
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
static inline bool put_single(const out_column *column, int64_t row, back_buffer *back) {
  uint8_t *at = back->at;
  if (column->single == SINGLE_NONE || at - back->buffer->data < 2 * SMALL_ENTRY + NAME_BLOCK) {
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
    memcpy(value - 8, &head, 8); /* little-endian: the two bytes in front are overwritten next */
    at = value - SINGLE_HEAD;
  }
  memcpy(at - NAME_BLOCK, column->name_block, NAME_BLOCK);
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

/* The map entry of one column and row. */
static cst_status put_entry(const cst_example_encoder *e, const out_column *column, int64_t row,
                            back_buffer *back, cst_error *error) {
  int64_t begin;
  int64_t end;
  bool has_values = values_of(column, row, &begin, &end);
  if (column->has_null_values) {
    CST__TRY(refuse_null_values(column, begin, end, error));
  }
  size_t bound;
  if (!cst__values_bound(column->values, begin, end, &bound) ||
      !cst__add(bound, column->name_size + ENTRY_OVERHEAD, &bound)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  if ((size_t)(back->at - back->buffer->data) < bound && !make_room(back, bound)) {
    return cst__fail_memory(error, bound);
  }
  const uint8_t *last = back->at;
  if (has_values) {
    CST__TRY(put_list(e, column, begin, end, back, error));
  }
  put_size(back, (size_t)(last - back->at), CST__TAG_VALUE);
  put_name(column, back);
  put_size(back, (size_t)(last - back->at), CST__TAG_FIRST);
  return CST_OK;
}

/* Rows are written side by side, from more columns than the machine follows by itself: fetches what
 * the eight rows after the next eight will read. */
static void prefetch_rows(const cst_example_encoder *e, int64_t row) {
  for (size_t i = 0; row >= 4 * FETCH_ROWS && i < e->num_columns; i++) {
    const out_column *column = &e->columns[i];
    const cst__view *values = column->values;
    if (column->single == SINGLE_NONE || values->length == 0) {
      continue;
    }
    int64_t at = values->offset + column->offsets[row - 2 * FETCH_ROWS];
    __builtin_prefetch(column->offsets + row - 4 * FETCH_ROWS);
    if (column->single == SINGLE_BINARY) {
      const int64_t *offsets = values->offsets;
      int64_t near = values->offset + column->offsets[row - FETCH_ROWS];
      __builtin_prefetch(offsets + at);
      __builtin_prefetch((const uint8_t *)values->data + offsets[near]);
    } else if (column->single == SINGLE_INT64) {
      __builtin_prefetch((const int64_t *)values->data + at);
    } else {
      __builtin_prefetch((const float *)values->data + at);
    }
  }
}

static cst_status put_record(const cst_example_encoder *e, int64_t row, back_buffer *back,
                             cst_error *error) {
  size_t before = (size_t)(back->buffer->data + back->buffer->capacity - back->at);
  for (size_t i = e->num_columns; i > 0; i--) {
    const out_column *column = &e->columns[i - 1];
    if (!put_single(column, row, back)) {
      CST__TRY(put_entry(e, column, row, back, error));
    }
  }
  size_t size = (size_t)(back->buffer->data + back->buffer->capacity - back->at) - before;
  if (size > INT32_MAX - 16) {
    return cst__fail(error, CST_LIMIT, "split the record",
                     "a record of %zu bytes, protobuf reaches 2147483647", size);
  }
  if (e->num_columns > 0) {
    if (!make_room(back, 16)) {
      return cst__fail_memory(error, 16);
    }
    put_size(back, size, CST__TAG_FIRST);
  }
  return CST_OK;
}

/* All rows; offsets first count from the end of the buffer, then from where the data begins. */
static cst_status put_rows(const cst_example_encoder *e, int64_t rows, cst__column *column,
                           cst_error *error) {
  const cst_allocator *a = &e->allocator;
  if (!cst__buffer_reserve(a, &column->value_offsets, ((size_t)rows + 1) * 8, 0) ||
      !cst__buffer_reserve(a, &column->values, 1, 0)) {
    return cst__fail_memory(error, ((size_t)rows + 1) * 8);
  }
  int64_t *offsets = (int64_t *)(void *)column->value_offsets.data;
  back_buffer back = {a, &column->values, column->values.data + column->values.capacity};
  offsets[rows] = 0;
  for (int64_t row = rows - 1; row >= 0; row--) {
    if (row % FETCH_ROWS == 0) {
      prefetch_rows(e, row);
    }
    cst_status status = put_record(e, row, &back, error);
    if (status != CST_OK) {
      cst__error_add_record(error, row, -1);
      return status;
    }
    offsets[row] = (int64_t)(column->values.data + column->values.capacity - back.at);
  }
  int64_t total = offsets[0];
  column->values_begin = column->values.capacity - (size_t)total;
  for (int64_t row = 0; row <= rows; row++) {
    offsets[row] = total - offsets[row];
  }
  return CST_OK;
}

/* ---- one batch ---- */

static cst_status refuse_null_rows(const cst__view *view, cst_error *error) {
  int64_t row = 0;
  while (!cst__view_is_null(view, row)) {
    row++;
  }
  cst_status status = cst__fail(error, CST_UNSUPPORTED, "drop such rows first",
                                "the row is null as a whole, as %lld of %lld are",
                                (long long)view->null_count, (long long)view->length);
  cst__error_add_record(error, row, -1);
  return status;
}

static cst_status fill(cst_example_encoder *e, const struct ArrowSchema *schema,
                       const struct ArrowArray *array, cst__batch *batch, cst_error *error) {
  cst__view view;
  CST__TRY(cst__view_init(&view, schema, array, e->trusted, &e->arena, error));
  if (view.layout != CST__LAYOUT_STRUCT) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "pass a record batch",
                     "the array is no struct, so it has no columns");
  }
  if (view.null_count != 0) {
    return refuse_null_rows(&view, error);
  }
  CST__TRY(plan(e, &view, error));
  cst__column *column = &batch->columns[0];
  CST__TRY(put_rows(e, view.length, column, error));
  column->kind = CST__VALUES_BINARY;
  column->flat = true;
  column->offsets_32 = false;
  column->fixed_size = -1;
  column->null_count = 0;
  column->num_values = view.length;
  return CST_OK;
}

cst_status cst__example_encoder_encode(cst_example_encoder *e, const struct ArrowSchema *schema,
                                       const struct ArrowArray *array,
                                       struct ArrowSchema *out_schema, struct ArrowArray *out,
                                       cst_error *error) {
  static const cst__column_type type = {
      .name = "record", .kind = CST__VALUES_BINARY, .fixed_size = -1, .flat = true};
  struct ArrowSchema made = {.release = NULL};
  cst__batch *batch = cst__batch_take(e->pool, 1);
  if (batch == NULL) {
    return cst__fail_memory(error, sizeof *batch);
  }
  cst_status status = fill(e, schema, array, batch, error);
  cst__arena_reset(&e->arena);
  if (status == CST_OK && out_schema != NULL) {
    status = cst__column_schema(&type, &made, error);
  }
  if (status != CST_OK) {
    cst__batch_drop(batch);
    return status;
  }
  cst__batch_export_column(batch, out);
  if (out_schema != NULL) {
    *out_schema = made;
  }
  return CST_OK;
}
