/* What every encoder of record batches does. */
#include "arrow/records/encoder.h"

#include "arrow/batch.h"
#include "arrow/type.h"
#include "base/arguments.h"
#include "base/interrupt.h"

enum { ROW_WORK = 64 /* that a row makes besides its bytes */ };

void cst_encoder_free(cst_encoder *encoder) {
  if (encoder != NULL) {
    encoder->type->free(encoder);
  }
}

cst_status cst__encoder_init(cst_encoder *e, const cst__encoder_type *type, uint32_t flags,
                             const cst_allocator *allocator, cst_error *error) {
  e->type = type;
  e->allocator = cst__allocator_of(allocator);
  e->lossy = (flags & CST_ENCODE_LOSSY) != 0;
  e->trusted = (flags & CST_ENCODE_TRUSTED) != 0;
  cst__arena_init(&e->arena, &e->allocator);
  e->pool = cst__batch_pool_new(&e->allocator);
  if (e->pool == NULL) {
    return cst__fail_memory(error, sizeof *e);
  }
  return CST_OK;
}

void cst__encoder_reset(cst_encoder *e) {
  cst__batch_pool_release(e->pool);
  cst__arena_reset(&e->arena);
}

cst_status cst__encoder_prepare(cst_encoder *encoder, const struct ArrowSchema *schema,
                                cst_error *error) {
  return encoder->type->prepare != NULL ? encoder->type->prepare(encoder, schema, error) : CST_OK;
}

static cst_status encode_row(cst_encoder *e, int64_t row, cst__back *back, cst_error *error) {
  size_t before = cst__back_used(back);
  CST__TRY(e->type->put_record(e, row, back, error));
  size_t size = cst__back_used(back) - before;
  if (size > INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "split the record",
                     "a record of %zu bytes, protobuf's limit is 2147483647", size);
  }
  return CST_OK;
}

/* All rows; offsets first count from the end of the buffer, then from where the data begins. */
static cst_status encode_rows(cst_encoder *e, int64_t rows, cst__column *column, cst_error *error) {
  const cst_allocator *a = &e->allocator;
  if (!cst__buffer_reserve(a, &column->value_offsets, ((size_t)rows + 1) * 8, 0) ||
      !cst__buffer_reserve(a, &column->values, 1, 0)) {
    return cst__fail_memory(error, ((size_t)rows + 1) * 8);
  }
  int64_t *offsets = (int64_t *)(void *)column->value_offsets.data;
  cst__back back = {a, &column->values, column->values.data + column->values.capacity};
  offsets[rows] = 0;
  size_t done = 0;
  for (int64_t row = rows - 1; row >= 0; row--) {
    cst_status status = encode_row(e, row, &back, error);
    if (status != CST_OK) {
      cst__error_add_record(error, row, -1);
      return status;
    }
    offsets[row] = (int64_t)cst__back_used(&back);
    if (cst__stretch_is_over(&done, (size_t)(offsets[row] - offsets[row + 1]) + ROW_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
  }
  int64_t total = offsets[0];
  column->values_begin = column->values.capacity - (size_t)total;
  for (int64_t row = 0; row <= rows; row++) {
    offsets[row] = total - offsets[row];
  }
  return CST_OK;
}

static cst_status encode_batch(cst_encoder *e, const struct ArrowSchema *schema,
                               const struct ArrowArray *array, cst__batch *batch,
                               cst_error *error) {
  cst__view view;
  CST__TRY(cst__view_init(&view, schema, array, e->trusted, &e->arena, error));
  if (view.layout != CST__LAYOUT_STRUCT) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "pass a record batch",
                     "the array is not a struct, so it has no columns");
  }
  CST__TRY(cst__view_refuse_nulls(&view, "the row", error));
  const cst__viewed viewed = {&view, schema, array};
  CST__TRY(e->type->plan(e, &viewed, error));
  cst__column *column = &batch->columns[0];
  CST__TRY(encode_rows(e, view.length, column, error));
  column->kind = CST__VALUES_BINARY;
  column->flat = true;
  column->offsets_32 = false;
  column->fixed_size = -1;
  column->null_count = 0;
  column->num_values = view.length;
  return CST_OK;
}

cst_status cst_encoder_encode(cst_encoder *e, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, struct ArrowSchema *out_schema,
                              struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  if (e == NULL || schema == NULL || array == NULL || out == NULL) {
    return cst__missing(e == NULL        ? "encoder"
                        : schema == NULL ? "schema"
                        : array == NULL  ? "batch"
                                         : "out",
                        error);
  }
  static const cst__type type = CST__TYPE_OF("record", "Z");
  struct ArrowSchema made = {.release = NULL};
  cst__batch *batch = cst__batch_take(e->pool, 1);
  if (batch == NULL) {
    return cst__fail_memory(error, sizeof *batch);
  }
  cst_status status = encode_batch(e, schema, array, batch, error);
  cst__arena_reset(&e->arena);
  if (status == CST_OK && out_schema != NULL) {
    status = cst__type_export(&type, &made, error);
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
