/* The payload "raw": one binary column `record` that holds each record as it is; or, under a name
 * of the caller's, one that holds it as a list of one value, as the features of decoded records
 * are. */
#include <string.h>

#include "arrow/batch.h"
#include "arrow/records/encoder.h"
#include "arrow/type.h"
#include "base/interrupt.h"
#include "format/payload/payload.h"

typedef struct raw_decoder {
  cst_decoder base; /* first */
  cst_allocator allocator;
  const char *column;
  char *name; /* the column's, if it is this decoder's own */
  bool offsets_32;
  bool is_list;
  bool wanted; /* false: a projection to no column at all */
  cst__batch_pool *pool;
} raw_decoder;

static const char *column_name(const cst__payload_options *options) {
  return options->raw_column != NULL ? options->raw_column : CST__RAW_COLUMN;
}

static cst_status check_raw_columns(const cst__payload_options *options, cst_error *error) {
  for (size_t i = 0; options->columns != NULL && i < options->num_columns; i++) {
    if (strcmp(options->columns[i], column_name(options)) != 0 || i > 0) {
      (void)cst__fail(error, i > 0 ? CST_INVALID_ARGUMENT : CST_NOT_FOUND,
                      "raw records have one column: record, or the name given in raw_column",
                      i > 0 ? "more than one column is requested" : "no such column");
      cst__error_add_path(error, options->columns[i], strlen(options->columns[i]));
      return i > 0 ? CST_INVALID_ARGUMENT : CST_NOT_FOUND;
    }
  }
  return CST_OK;
}

static cst_status copy_raw_records(cst__batch *batch, const cst__records *records,
                                   cst_error *error) {
  const cst_allocator *allocator = cst__batch_pool_allocator(batch->pooled.pool);
  cst__column *column = &batch->columns[0];
  size_t total = 0;
  size_t offsets;
  for (size_t i = 0; i < records->count; i++) {
    if (!cst__add(total, records->items[i].size, &total)) {
      return cst__fail_memory(error, SIZE_MAX);
    }
  }
  if (!cst__mul(records->count + 1, sizeof(int64_t), &offsets) ||
      !cst__buffer_reserve(allocator, &column->value_offsets, offsets, 0) ||
      !cst__buffer_reserve(allocator, &column->values, total, 0)) {
    return cst__fail_memory(error, total);
  }
  int64_t *ends = (int64_t *)(void *)column->value_offsets.data;
  size_t at = 0;
  size_t done = 0;
  for (size_t i = 0; i < records->count; i++) {
    const cst_bytes *record = &records->items[i];
    if (cst__stretch_is_over(&done, record->size)) {
      CST__TRY(cst__interrupted(error));
    }
    ends[i] = (int64_t)at;
    if (record->size > 0) {
      memcpy(column->values.data + at, record->data, record->size);
    }
    at += record->size;
  }
  ends[records->count] = (int64_t)at;
  return CST_OK;
}

/* The block, from `block` on, that the bytes lie in. */
static size_t find_block(const cst__records *records, const cst_bytes *bytes, size_t block) {
  while (block + 1 < records->num_blocks) {
    const cst__block_ref *ref = &records->blocks[block];
    if (bytes->data >= ref->data && bytes->data + bytes->size <= ref->data + ref->size) {
      break;
    }
    block++;
  }
  return block;
}

static cst_status view_records(cst__batch *batch, const cst__records *records, cst_error *error) {
  cst__column *column = &batch->columns[0];
  size_t bytes;
  if (!cst__mul(records->count, CST__VIEW_SIZE, &bytes) ||
      !cst__buffer_reserve(cst__batch_pool_allocator(batch->pooled.pool), &column->values, bytes,
                           0)) {
    return cst__fail_memory(error, records->count * CST__VIEW_SIZE);
  }
  CST__TRY(cst__records_keep(records, batch, error));
  size_t block = 0;
  for (size_t i = 0; i < records->count; i++) {
    const cst_bytes *record = &records->items[i];
    const uint8_t *begin = record->data;
    if (record->size > CST__VIEW_INLINE) {
      block = find_block(records, record, block);
      begin = records->blocks[block].data;
    }
    cst__put_view(column->values.data + i * CST__VIEW_SIZE, record->data, record->size,
                  (int32_t)block, begin, record->data);
  }
  return CST_OK;
}

/* Lists of one value each. */
static cst_status number_lists(cst__batch *batch, size_t count, cst_error *error) {
  cst__buffer *offsets = &batch->columns[0].offsets;
  size_t bytes;
  if (!cst__mul(count + 1, sizeof(int64_t), &bytes) ||
      !cst__buffer_reserve(cst__batch_pool_allocator(batch->pooled.pool), offsets, bytes, 0)) {
    return cst__fail_memory(error, count * sizeof(int64_t));
  }
  int64_t *at = (int64_t *)(void *)offsets->data;
  for (size_t i = 0; i <= count; i++) {
    at[i] = (int64_t)i;
  }
  return CST_OK;
}

static cst_status fill_batch(const raw_decoder *raw, cst__batch *batch, const cst__records *records,
                             struct ArrowArray *out, cst_error *error) {
  static const size_t order[] = {0};
  const char *names[] = {raw->column};
  cst__column *column = &batch->columns[0];
  column->kind = raw->base.views ? CST__VALUES_VIEW : CST__VALUES_BINARY;
  column->fixed_size = -1;
  column->offsets_32 = raw->offsets_32;
  column->flat = !raw->is_list;
  column->values_begin = 0;
  column->null_count = 0;
  column->num_values = (int64_t)records->count;
  if (raw->wanted) {
    CST__TRY(raw->base.views ? view_records(batch, records, error)
                             : copy_raw_records(batch, records, error));
  }
  if (raw->wanted && raw->is_list) {
    CST__TRY(number_lists(batch, records->count, error));
  }
  return cst__batch_export(batch, (int64_t)records->count, order, names, raw->wanted ? 1 : 0, out,
                           error);
}

static cst_status raw_schema(const cst_decoder *decoder, struct ArrowSchema *out,
                             cst_error *error) {
  const raw_decoder *raw = (const raw_decoder *)decoder;
  cst__values kind = raw->base.views ? CST__VALUES_VIEW : CST__VALUES_BINARY;
  cst__type value = CST__TYPE_OF("item", cst__values_format(kind, raw->offsets_32));
  cst__type list = CST__TYPE_OF(raw->column, raw->offsets_32 ? "+l" : "+L");
  list.children = &value;
  list.num_children = 1;
  if (!raw->is_list) {
    value.name = raw->column;
  }
  return cst__types_export(raw->is_list ? &list : &value, raw->wanted ? 1 : 0, out, error);
}

static cst_status make_raw(const raw_decoder *raw, const cst__records *records,
                           struct ArrowArray *out, cst_error *error) {
  cst__batch *batch = cst__batch_take(raw->pool, 1);
  if (batch == NULL) {
    return cst__fail_memory(error, sizeof *batch);
  }
  cst_status status = fill_batch(raw, batch, records, out, error);
  if (status != CST_OK) {
    cst__batch_drop(batch);
  }
  return status;
}

static cst_status decode_raw(cst_decoder *decoder, const cst__records *records,
                             struct ArrowSchema *out_schema, struct ArrowArray *out,
                             cst_error *error) {
  struct ArrowSchema schema = {.release = NULL};
  if (out_schema != NULL) {
    CST__TRY(raw_schema(decoder, &schema, error));
  }
  cst_status status =
      out != NULL ? make_raw((const raw_decoder *)decoder, records, out, error) : CST_OK;
  if (status == CST_OK && out_schema != NULL) {
    *out_schema = schema;
  } else if (schema.release != NULL) {
    schema.release(&schema);
  }
  return status;
}

/* ---- life ---- */

static void free_raw(cst_decoder *decoder) {
  raw_decoder *raw = (raw_decoder *)decoder;
  cst__batch_pool_release(raw->pool);
  cst__delete(raw->name);
  cst__delete(raw);
}

/* A decoder like this one, with a copy of its column's name, or the same. */
static cst_status new_raw_like(const raw_decoder *like, bool copies, cst_decoder **out,
                               cst_error *error) {
  const cst_allocator *allocator = &like->allocator;
  raw_decoder *raw = cst__new(allocator, sizeof *raw);
  if (raw == NULL) {
    return cst__fail_memory(error, sizeof *raw);
  }
  *raw = *like;
  raw->base.allocator = &raw->allocator;
  raw->name = copies ? cst__new_copy(allocator, like->column, strlen(like->column)) : NULL;
  raw->column = copies ? raw->name : like->column;
  raw->pool = cst__batch_pool_new(allocator);
  if (raw->pool == NULL || raw->column == NULL) {
    free_raw(&raw->base);
    return cst__fail_memory(error, sizeof *raw);
  }
  *out = &raw->base;
  return CST_OK;
}

static cst_status share_raw(const cst_decoder *decoder, cst_decoder **out, cst_error *error) {
  return new_raw_like((const raw_decoder *)decoder, false, out, error);
}

static const cst__decoder_type raw_type = {
    .decode = decode_raw, .arrow_schema = raw_schema, .share = share_raw, .free = free_raw};

static cst_status new_raw(const cst__payload_options *options, cst_decoder **out,
                          cst_error *error) {
  CST__TRY(check_raw_columns(options, error));
  bool views = options->column_flags & CST_COLUMNS_BINARY_VIEWS;
  const raw_decoder raw = {.base = {.type = &raw_type, .views = views},
                           .allocator = cst__allocator_of(options->allocator),
                           .column = column_name(options),
                           .offsets_32 = options->column_flags & CST_COLUMNS_OFFSETS_32,
                           .is_list = options->raw_column != NULL,
                           .wanted = options->columns == NULL || options->num_columns > 0};
  return new_raw_like(&raw, true, out, error);
}

/* ---- back ---- */

typedef struct raw_encoder {
  cst_encoder base;         /* first */
  const cst__view *records; /* of the batch at hand */
} raw_encoder;

static bool is_binary(const struct ArrowSchema *schema) {
  static const char *const formats[] = {"z", "Z", "vz", "u", "U", "vu"};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    if (strcmp(schema->format, formats[i]) == 0) {
      return true;
    }
  }
  return false;
}

static cst_status prepare_raw(cst_encoder *encoder, const struct ArrowSchema *schema,
                              cst_error *error) {
  (void)encoder;
  if (schema->n_children != 1 || !is_binary(schema->children[0])) {
    return cst__fail(error, CST_UNSUPPORTED, "read with the format raw, or write another format",
                     "raw records are one binary column, and there are %lld columns%s",
                     (long long)schema->n_children,
                     schema->n_children == 1 ? " of another type" : "");
  }
  return CST_OK;
}

static cst_status plan_raw(cst_encoder *encoder, const cst__viewed *batch, cst_error *error) {
  raw_encoder *raw = (raw_encoder *)encoder;
  CST__TRY(prepare_raw(encoder, batch->schema, error));
  raw->records = &batch->view->children[0];
  return cst__view_refuse_nulls(raw->records, "the record", error);
}

static cst_status put_raw(cst_encoder *encoder, int64_t row, cst__back *back, cst_error *error) {
  cst_bytes record = cst__view_bytes(((const raw_encoder *)encoder)->records, row);
  if (!cst__back_room(back, record.size)) {
    return cst__fail_memory(error, record.size);
  }
  back->at -= record.size;
  cst__copy_exact(back->at, record.data, record.size);
  return CST_OK;
}

static void free_raw_encoder(cst_encoder *encoder) {
  cst__encoder_reset(encoder);
  cst__delete(encoder);
}

static const cst__encoder_type raw_encoder_type = {
    .prepare = prepare_raw, .plan = plan_raw, .put_record = put_raw, .free = free_raw_encoder};

static cst_status new_raw_encoder(const cst_encode_options *options, const void *format_options,
                                  cst_encoder **out, cst_error *error) {
  (void)format_options;
  raw_encoder *raw = cst__new_zero(options->allocator, sizeof *raw);
  if (raw == NULL) {
    return cst__fail_memory(error, sizeof *raw);
  }
  cst_status status =
      cst__encoder_init(&raw->base, &raw_encoder_type, options->flags, options->allocator, error);
  if (status != CST_OK) {
    cst__delete(raw);
    return status;
  }
  *out = &raw->base;
  return CST_OK;
}

/* One plain binary column of the name `record`, as sources of the format raw have it. */
static bool is_of_records(const struct ArrowSchema *schema, const cst_option *options,
                          size_t num_options) {
  (void)options;
  (void)num_options;
  return schema->n_children == 1 && schema->children[0]->name != NULL &&
         strcmp(schema->children[0]->name, CST__RAW_COLUMN) == 0 &&
         is_binary(schema->children[0]) && strchr(schema->children[0]->format, 'u') == NULL &&
         strchr(schema->children[0]->format, 'U') == NULL;
}

const cst__payload cst__raw_payload = {
    .name = "raw",
    .types_from = CST__TYPES_NONE,
    .column_flags = CST__RECORD_COLUMN_FLAGS,
    .new_decoder = new_raw,
    .new_encoder = new_raw_encoder,
    .matches = is_of_records,
};
