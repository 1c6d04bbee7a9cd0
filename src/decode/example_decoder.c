/* The tf.Example decoder: plans the columns, runs the loop over the records, and hands the batch
 * out.
 */
#include "decode/example_decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "decode/example_loop.h"
#include "decode/nested.h"
#include "schema/schema.h"

struct cst_example_decoder {
  cst_allocator allocator;
  uint32_t flags;
  bool has_schema;
  bool all_seen; /* output: columns that occurred; else all of them */
  cst__name_table table;
  cst__name_map known; /* the schema's names, if unknown ones are to be rejected */
  cst_schema *schema;  /* keeps the names of `known` */
  cst__nest *nest;     /* makes nested columns of the flat ones; else NULL */
  cst__loop loop;
  cst__batch_pool *pool;
  const cst__machine *machine;
  size_t *sorted; /* column numbers in the order of the output */
  size_t num_sorted;
  size_t *order;      /* columns of the batch at hand */
  const char **names; /* of order */
  cst__column_type *types;
  size_t num_outputs;
  size_t tuned_names; /* the number of names for which the table was tuned */
  size_t output_capacity;
};

/* ---- planning ---- */

static cst_status add_column(cst_example_decoder *d, const char *name, size_t size, cst__cold cold,
                             cst_error *error) {
  cst__loop *loop = &d->loop;
  bool unknown_grows = loop->grows;
  uint32_t column;
  loop->error = error;
  loop->grows = true;
  if (cst__name_table_find(&d->table, (const uint8_t *)name, size) != CST__NO_COLUMN) {
    return cst__fail_twice(error, name, size);
  }
  cst_status status = cst__unknown_name(loop, (const uint8_t *)name, size, &column);
  loop->grows = unknown_grows;
  if (status == CST_OK) {
    loop->cold[column] = cold;
  }
  return status;
}

static int64_t fixed_size_of(const cst_feature *feature) {
  int64_t size = 1;
  for (size_t i = 0; i < feature->num_dims; i++) {
    if (__builtin_mul_overflow(size, feature->dims[i], &size)) {
      return INT64_MAX;
    }
  }
  return size;
}

static cst_status struct_feature(const cst_feature *feature, cst_error *error) {
  cst_status status = cst__fail(error, CST_SCHEMA, "leave the feature out by columns",
                                "the feature is of type STRUCT, a tf.Example holds BYTES, INT or "
                                "FLOAT");
  cst__error_add_path(error, feature->name, feature->name_size);
  return status;
}

static cst_status add_feature(cst_example_decoder *d, const cst_feature *feature,
                              cst_error *error) {
  static const uint8_t tags[] = {[CST_FEATURE_BYTES] = CST__TAG_BYTES,
                                 [CST_FEATURE_INT] = CST__TAG_INT,
                                 [CST_FEATURE_FLOAT] = CST__TAG_FLOAT};
  cst__cold cold = {.fixed_size = -1};
  switch (feature->type) {
    case CST_FEATURE_BYTES:
    case CST_FEATURE_INT:
    case CST_FEATURE_FLOAT:
      cold.tag = tags[feature->type];
      break;
    case CST_FEATURE_UNKNOWN:
      cold.is_null = true; /* inference writes it for a feature that never had a value */
      break;
    case CST_FEATURE_STRUCT:
      return struct_feature(feature, error);
  }
  int64_t size = fixed_size_of(feature);
  /* A fixed_size_list holds at least one value and at most an int32 of them; else it stays a list.
   */
  bool is_source = d->nest != NULL && cst__nest_uses(d->nest, feature->name);
  if ((d->flags & CST_COLUMNS_FIXED_SIZE) && feature->has_fixed_shape && size > 0 &&
      size <= INT32_MAX && !is_source) {
    cold.fixed_size = size;
  }
  return add_column(d, feature->name, feature->name_size, cold, error);
}

static const char *nth_feature(const void *features, size_t i) {
  return ((const cst_feature *)features)[i].name;
}

cst_status cst__no_such_column(const cst_feature *features, size_t count, const char *name,
                               cst_error *error) {
  cst__name_list names = {features, count, nth_feature};
  return cst__fail_unknown(error, CST_NOT_FOUND, "the schema has no such column", name, &names);
}

static cst_status plan_wanted(cst_example_decoder *d, const cst_schema *schema,
                              const cst__example_decoder_options *options, cst_error *error) {
  for (size_t i = 0; i < options->num_columns; i++) {
    const char *name = options->columns[i];
    if (schema == NULL) {
      CST__TRY(add_column(d, name, strlen(name), (cst__cold){.fixed_size = -1}, error));
      continue;
    }
    size_t at = cst__schema_find_feature(schema, name, strlen(name));
    if (at == SIZE_MAX) {
      size_t count = cst__schema_num_features(schema);
      return cst__no_such_column(count > 0 ? cst__schema_feature(schema, 0) : NULL, count, name,
                                 error);
    }
    CST__TRY(add_feature(d, cst__schema_feature(schema, at), error));
  }
  return CST_OK;
}

static bool is_left_out(const cst_feature *feature, const cst__example_decoder_options *options) {
  return options->leave_out != NULL && strcmp(feature->name, options->leave_out) == 0;
}

/* Nested columns: decodes the flat ones that they are made of. */
static cst_status plan_nested(cst_example_decoder *d, const cst_schema *schema,
                              cst__example_decoder_options *options, cst_error *error) {
  if (schema == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give the decoder a schema",
                     "without a schema nothing tells which columns are nested");
  }
  CST__TRY(cst__nest_new(schema, options->columns, options->num_columns, options->flags,
                         options->allocator, &d->nest, error));
  options->columns = cst__nest_columns(d->nest, &options->num_columns);
  return CST_OK;
}

static cst_status plan(cst_example_decoder *d, const cst_schema *schema,
                       const cst__example_decoder_options *wanted, cst_error *error) {
  cst__example_decoder_options own = *wanted;
  const cst__example_decoder_options *options = &own;
  if (own.flags & CST_COLUMNS_NESTED) {
    CST__TRY(plan_nested(d, schema, &own, error));
  }
  if (options->columns != NULL) {
    CST__TRY(plan_wanted(d, schema, options, error));
  } else if (schema != NULL) {
    for (size_t i = 0; i < cst__schema_num_features(schema); i++) {
      if (!is_left_out(cst__schema_feature(schema, i), options)) {
        CST__TRY(add_feature(d, cst__schema_feature(schema, i), error));
      }
    }
  }
  d->loop.grows = schema == NULL && options->columns == NULL;
  d->all_seen = !d->loop.grows;
  d->loop.learns = d->loop.grows || (schema != NULL && options->reject_unknown);
  if (schema == NULL || !options->reject_unknown) {
    return CST_OK;
  }
  d->loop.rejects = true;
  d->schema = cst__schema_retain(schema);
  for (size_t i = 0; i < cst__schema_num_features(schema); i++) {
    const cst_feature *f = cst__schema_feature(schema, i);
    if (!is_left_out(f, options) && !cst__name_map_add(&d->known, f->name, f->name_size, i)) {
      return cst__fail_memory(error, sizeof(cst__name_slot));
    }
  }
  d->loop.known = &d->known;
  return CST_OK;
}

cst_status cst__example_decoder_new(const cst_schema *schema,
                                    const cst__example_decoder_options *options,
                                    cst_example_decoder **out, cst_error *error) {
  cst_example_decoder *d = cst__new_zero(options->allocator, sizeof *d);
  if (d == NULL) {
    return cst__fail_memory(error, sizeof *d);
  }
  d->allocator = cst__allocator_of(options->allocator);
  d->flags = options->flags;
  d->has_schema = schema != NULL;
  d->machine = cst__machine_find(options->loop);
  d->pool = cst__batch_pool_new(&d->allocator);
  bool ok = d->pool != NULL && cst__name_table_init(&d->table, &d->allocator);
  d->loop = (cst__loop){.table = &d->table,
                        .views = (options->flags & CST_COLUMNS_BINARY_VIEWS) != 0,
                        .damaged_hint = options->damaged_hint != NULL
                                            ? options->damaged_hint
                                            : "the record is damaged, or no tf.Example",
                        .allocator = d->allocator};
  cst_error unseen = CST_ERROR_INIT; /* the loop always has somewhere to write to */
  error = cst__error_wanted(error) ? error : &unseen;
  cst_status status = ok ? plan(d, schema, options, error) : cst__fail_memory(error, sizeof *d);
  d->loop.error = NULL;
  if (status != CST_OK) {
    cst__example_decoder_free(d);
    return status;
  }
  *out = d;
  return CST_OK;
}

void cst__example_decoder_free(cst_example_decoder *d) {
  if (d == NULL) {
    return;
  }
  cst__name_table_reset(&d->table);
  cst__name_map_reset(&d->known);
  cst__schema_release(d->schema);
  cst__nest_free(d->nest);
  cst__batch_pool_release(d->pool);
  cst__delete(d->loop.hot);
  cst__delete(d->loop.cold);
  cst__delete(d->sorted);
  cst__delete(d->order);
  cst__delete(d->names);
  cst__delete(d->types);
  cst__delete(d);
}

/* ---- the columns of the output ---- */

typedef struct named_column {
  const char *name;
  size_t column;
} named_column;

static int by_name(const void *a, const void *b) {
  return strcmp(((const named_column *)a)->name, ((const named_column *)b)->name);
}

/* Room for as many columns of output as there are. */
static bool reserve_outputs(cst_example_decoder *d) {
  size_t count = d->loop.num_columns;
  if (count <= d->output_capacity && d->order != NULL) {
    return true;
  }
  size_t room = count + count / 2 + 8;
  cst__delete(d->order);
  cst__delete(d->names);
  cst__delete(d->types);
  d->order = cst__new(&d->allocator, room * sizeof *d->order);
  d->names = cst__new(&d->allocator, room * sizeof *d->names);
  d->types = cst__new(&d->allocator, room * sizeof *d->types);
  d->output_capacity = d->order && d->names && d->types ? room : 0;
  return d->output_capacity != 0;
}

/* Without a schema columns stand in the order of their names, with one in that of the schema. */
static bool sort_columns(cst_example_decoder *d) {
  size_t count = d->loop.num_columns;
  if (d->num_sorted == count && d->sorted != NULL) {
    return true;
  }
  cst__delete(d->sorted);
  d->sorted = cst__new(&d->allocator, (count + 1) * sizeof *d->sorted);
  named_column *all = cst__new(&d->allocator, (count + 1) * sizeof *all);
  for (size_t i = 0; all != NULL && i < count; i++) {
    all[i] = (named_column){d->table.names[i], i};
  }
  if (all != NULL && d->loop.grows && count > 1) {
    qsort(all, count, sizeof *all, by_name);
  }
  for (size_t i = 0; all != NULL && d->sorted != NULL && i < count; i++) {
    d->sorted[i] = all[i].column;
  }
  bool ok = all != NULL && d->sorted != NULL;
  cst__delete(all);
  d->num_sorted = ok ? count : SIZE_MAX;
  return ok;
}

static cst__values values_of(const cst_example_decoder *d, uint8_t tag) {
  switch (tag) {
    case CST__TAG_INT:
      return CST__VALUES_INT64;
    case CST__TAG_FLOAT:
      return CST__VALUES_FLOAT32;
    case CST__TAG_BYTES:
      return d->flags & CST_COLUMNS_BINARY_VIEWS ? CST__VALUES_VIEW : CST__VALUES_BINARY;
    default:
      return CST__VALUES_NULL;
  }
}

static cst_status choose_outputs(cst_example_decoder *d, cst_error *error) {
  if (!reserve_outputs(d) || !sort_columns(d)) {
    return cst__fail_memory(error, d->loop.num_columns * sizeof(cst__column_type));
  }
  d->num_outputs = 0;
  for (size_t i = 0; i < d->num_sorted; i++) {
    size_t column = d->sorted[i];
    const cst__hot *hot = &d->loop.hot[column];
    const cst__cold *cold = &d->loop.cold[column];
    if (!d->all_seen && hot->tag == 0 && !(hot->flags & CST__HOT_SEEN)) {
      continue;
    }
    uint8_t tag = cst__expected_kind(&d->loop, (uint32_t)column);
    d->order[d->num_outputs] = column;
    d->names[d->num_outputs] = d->table.names[column];
    d->types[d->num_outputs++] =
        (cst__column_type){.name = d->table.names[column],
                           .kind = values_of(d, tag),
                           .fixed_size = cold->fixed_size,
                           .offsets_32 = (d->flags & CST_COLUMNS_OFFSETS_32) != 0};
  }
  return CST_OK;
}

static size_t place_of(const cst_example_decoder *d, const cst__extra_column *extra) {
  return extra->at < d->num_outputs ? extra->at : d->num_outputs;
}

/* The type of one more column, at its place among the outputs. */
static cst_status add_extra(cst_example_decoder *d, const cst__extra_column *extra,
                            cst_error *error) {
  const char *name = extra->type.name;
  size_t at = place_of(d, extra);
  for (size_t i = 0; i < d->num_outputs; i++) {
    if (strcmp(d->names[i], name) == 0) {
      cst_status status =
          cst__fail(error, CST_UNSUPPORTED, "choose another sequence_column",
                    "a feature of the context has the name of the column of feature lists");
      cst__error_add_path(error, name, strlen(name));
      return status;
    }
  }
  size_t after = d->num_outputs - at; /* reserve_outputs leaves room for one more */
  memmove(d->types + at + 1, d->types + at, after * sizeof *d->types);
  d->types[at] = extra->type;
  return CST_OK;
}

/* The schema of the outputs that were chosen. */
static cst_status outputs_schema(const cst_example_decoder *d, const cst__extra_column *extra,
                                 struct ArrowSchema *out, cst_error *error) {
  const cst__column_type *types = d->types;
  size_t count = d->num_outputs + (extra != NULL ? 1 : 0);
  if (d->nest != NULL) {
    types = cst__nest_types(d->nest, types, &count);
  }
  return cst__columns_schema(types, count, out, error);
}

bool cst__example_decoder_views(const cst_example_decoder *decoder) { return decoder->loop.views; }

cst_status cst__example_decoder_schema_with(const cst_example_decoder *decoder,
                                            const cst__extra_column *extra, struct ArrowSchema *out,
                                            cst_error *error) {
  /* The columns of a schema are the same for every batch; only scratch of the decoder is written.
   */
  cst_example_decoder *d = (cst_example_decoder *)decoder;
  if (!d->has_schema) {
    return cst__fail(error, CST_STATE, "give the decoder a schema",
                     "without a schema, every batch has columns of its own");
  }
  CST__TRY(choose_outputs(d, error));
  if (extra != NULL) {
    CST__TRY(add_extra(d, extra, error));
  }
  return outputs_schema(d, extra, out, error);
}

cst_status cst__example_decoder_schema(const cst_example_decoder *decoder, struct ArrowSchema *out,
                                       cst_error *error) {
  return cst__example_decoder_schema_with(decoder, NULL, out, error);
}

cst__loop *cst__example_decoder_loop(cst_example_decoder *decoder) { return &decoder->loop; }
const cst__machine *cst__example_decoder_machine(const cst_example_decoder *decoder) {
  return decoder->machine;
}

/* ---- decoding ---- */

/* All columns empty, with room for the values of those that are likely to have some. */
cst_status cst__example_decoder_begin(cst_example_decoder *d, const cst__records *records,
                                      cst_error *error) {
  cst__loop *loop = &d->loop;
  if (loop->grows && loop->num_columns > CST__MANY_NAMES &&
      loop->num_columns / 4 > d->num_outputs) {
    cst__name_table_reset(&d->table);
    loop->num_columns = 0;
    d->num_sorted = SIZE_MAX;
    if (!cst__name_table_init(&d->table, &d->allocator)) {
      return cst__fail_memory(error, sizeof d->table);
    }
  }
  if (d->tuned_names != d->table.count) {
    cst__name_table_tune(&d->table);
    d->tuned_names = d->table.count;
  }
  loop->batch = cst__batch_take(d->pool, loop->num_columns);
  if (loop->batch == NULL) {
    return cst__fail_memory(error, loop->num_columns * sizeof(cst__column));
  }
  loop->rows = (int32_t)records->count;
  loop->row = 0;
  loop->block = NULL;
  loop->first_wrong = 0;
  loop->error = error;
  for (size_t i = 0; i < loop->num_columns; i++) {
    cst__cold *cold = &loop->cold[i];
    cold->next_wrong = 0;
    loop->hot[i] = (cst__hot){.flags = cold->fixed_size >= 0 ? CST__HOT_FIXED : 0};
    if (cold->tag != 0 && cold->was_used) {
      CST__TRY(cst__set_kind(loop, (uint32_t)i, cold->tag));
    }
  }
  return CST_OK;
}

static cst_status finish_columns(cst_example_decoder *d) {
  cst__loop *loop = &d->loop;
  for (size_t i = 0; i < d->num_outputs; i++) {
    size_t at = d->order[i];
    cst__column *column = &loop->batch->columns[at];
    column->kind = values_of(d, cst__expected_kind(loop, (uint32_t)at));
    column->fixed_size = loop->cold[at].fixed_size;
    column->offsets_32 = (d->flags & CST_COLUMNS_OFFSETS_32) != 0;
    column->flat = false;
    if (column->kind != CST__VALUES_NULL) {
      CST__TRY(cst__close_column(loop, (uint32_t)at, d->machine));
    }
  }
  return CST_OK;
}

static cst_status run(cst_example_decoder *d, const cst__records *records, cst_error *error) {
  cst_status status = d->machine->run(&d->loop, records);
  if (status != CST_OK) {
    cst__error_add_record(error, d->loop.row, -1);
  }
  return status;
}

/* Without `export` nobody will see the columns: they stay incomplete. */
static cst_status finish(cst_example_decoder *d, const cst__records *records,
                         const cst__extra_column *extra, bool export, cst_error *error) {
  CST__TRY(choose_outputs(d, error));
  if (extra != NULL) {
    CST__TRY(add_extra(d, extra, error));
  }
  cst__settle_use(&d->loop);
  if (!export) {
    return CST_OK;
  }
  CST__TRY(finish_columns(d));
  return d->loop.views ? cst__records_keep(records, d->loop.batch, error) : CST_OK;
}

static cst_status hand_out(cst_example_decoder *d, int64_t rows, cst__extra_column *extra,
                           struct ArrowArray *out, cst_error *error) {
  if (extra != NULL) {
    if (!cst__batch_reserve(d->loop.batch, d->loop.num_columns + 1)) {
      return cst__fail_memory(error, sizeof(cst__column));
    }
    cst__batch_attach(d->loop.batch, &extra->array, place_of(d, extra));
  }
  struct ArrowArray made;
  CST__TRY(
      cst__batch_export(d->loop.batch, rows, d->order, d->names, d->num_outputs, &made, error));
  d->loop.batch = NULL; /* it belongs to the arrays from here on */
  if (d->nest != NULL) {
    CST__TRY(cst__nest_batch(d->nest, &made, error));
  }
  *out = made;
  return CST_OK;
}

cst_status cst__example_decoder_end(cst_example_decoder *d, cst_status status,
                                    const cst__records *records, cst__extra_column *extra,
                                    struct ArrowSchema *out_schema, struct ArrowArray *out,
                                    cst_error *error) {
  struct ArrowSchema schema = {.release = NULL};
  if (status == CST_OK) {
    status = finish(d, records, extra, out != NULL, error);
  }
  if (status == CST_OK && out_schema != NULL) {
    status = outputs_schema(d, extra, &schema, error);
  }
  if (status == CST_OK && out != NULL) {
    status = hand_out(d, (int64_t)records->count, extra, out, error);
  }
  if (d->loop.batch != NULL && (status != CST_OK || out == NULL)) {
    cst__batch_drop(d->loop.batch);
  }
  d->loop.batch = NULL;
  if (status == CST_OK && out_schema != NULL) {
    *out_schema = schema;
  } else if (schema.release != NULL) {
    schema.release(&schema);
  }
  return status;
}

/* Fills and exports; on failure the batch goes back to its pool. */
static cst_status decode(cst_example_decoder *d, const cst__records *records,
                         struct ArrowSchema *out_schema, struct ArrowArray *out, cst_error *error) {
  cst_status status = cst__example_decoder_begin(d, records, error);
  if (status == CST_OK) {
    status = run(d, records, error);
  }
  return cst__example_decoder_end(d, status, records, NULL, out_schema, out, error);
}

/* Views need a block that stays: the caller's records do not. */
static cst_status decode_copied(cst_example_decoder *d, const cst__records *records,
                                struct ArrowSchema *out_schema, struct ArrowArray *out,
                                cst_error *error) {
  cst__copied copied;
  CST__TRY(cst__records_copy(&d->allocator, records, &copied, error));
  cst_status status = decode(d, &copied.records, out_schema, out, error);
  cst__copied_release(&copied);
  return status;
}

cst_status cst__example_decoder_decode(cst_example_decoder *decoder, const cst__records *records,
                                       struct ArrowSchema *out_schema, struct ArrowArray *out,
                                       cst_error *error) {
  cst_error unseen = CST_ERROR_INIT;
  error = cst__error_wanted(error) ? error : &unseen;
  if (records->count >= INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use smaller batches", "a batch of %zu records",
                     records->count);
  }
  if (decoder->loop.views && records->num_blocks == 0) {
    return decode_copied(decoder, records, out_schema, out, error);
  }
  return decode(decoder, records, out_schema, out, error);
}
