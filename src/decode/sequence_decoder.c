/* The tf.SequenceExample decoder: plans the columns, runs the loop over the records, and hands the
 * batch out: the context's columns, and a second batch of the feature lists as one of them.
 */
#include "decode/sequence_decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "decode/example_arrow.h"
#include "decode/sequence_loop.h"
#include "schema/schema.h"

static const char damaged_hint[] = "the record is damaged, or no tf.SequenceExample";

struct cst_sequence_decoder {
  cst_allocator allocator;
  uint32_t flags;
  char *name; /* of the column of feature lists */
  cst_example_decoder *context;
  cst__sequence sequence;
  cst__name_table table;
  cst__name_map known; /* the names of the schema's lists, if unknown ones are to be rejected */
  cst_schema *schema;  /* keeps the names of `known` */
  cst__batch_pool *pool;
  cst__sequence_run *run;
  bool has_schema;
  bool is_always; /* there is a column of feature lists in every batch, else if there are some */
  bool all_seen;  /* output: all lists; else those that occurred */
  size_t place;   /* of the column among the others */
  size_t tuned_names;
  size_t *order; /* lists of the batch at hand */
  const char **names;
  cst__column_type *types;
  size_t num_outputs;
  size_t output_capacity;
};

/* ---- planning ---- */

static cst_status add_list(cst_sequence_decoder *d, const char *name, size_t size, cst__cold cold,
                           cst_error *error) {
  cst__loop *loop = &d->sequence.loop;
  bool grows = loop->grows;
  uint32_t column;
  if (cst__name_table_find(&d->table, (const uint8_t *)name, size) != CST__NO_COLUMN) {
    return cst__fail_twice(error, name, size);
  }
  if (!cst__inner_reserve(&d->sequence, loop->num_columns + 1)) {
    return cst__fail_memory(error, sizeof(cst__inner));
  }
  loop->error = error;
  loop->grows = true;
  cst_status status = cst__unknown_name(loop, (const uint8_t *)name, size, &column);
  loop->grows = grows;
  if (status == CST_OK) {
    loop->cold[column] = cold;
  }
  return status;
}

static cst_status add_feature(cst_sequence_decoder *d, const cst_feature *feature,
                              cst_error *error) {
  static const uint8_t tags[] = {[CST_FEATURE_BYTES] = CST__TAG_BYTES,
                                 [CST_FEATURE_INT] = CST__TAG_INT,
                                 [CST_FEATURE_FLOAT] = CST__TAG_FLOAT};
  cst__cold cold = {.fixed_size = -1};
  if (feature->type == CST_FEATURE_STRUCT) {
    cst_status status = cst__fail(error, CST_SCHEMA, "leave the feature out by columns",
                                  "the feature list is of type STRUCT, a tf.SequenceExample holds "
                                  "lists of BYTES, INT or FLOAT");
    cst__error_add_path(error, feature->name, feature->name_size);
    return status;
  }
  cold.is_null = feature->type == CST_FEATURE_UNKNOWN;
  cold.tag = cold.is_null ? 0 : tags[feature->type];
  return add_list(d, feature->name, feature->name_size, cold, error);
}

/* All lists of the schema's column (NULL: it has none), or all that there are without one. */
static cst_status add_all(cst_sequence_decoder *d, const cst_feature *column, cst_error *error) {
  d->sequence.is_wanted = true;
  if (!d->has_schema) {
    d->sequence.loop.grows = true;
    return CST_OK;
  }
  d->all_seen = true;
  for (size_t i = 0; column != NULL && i < column->num_children; i++) {
    CST__TRY(add_feature(d, &column->children[i], error));
  }
  return CST_OK;
}

static cst_status add_one(cst_sequence_decoder *d, const cst_feature *column, const char *name,
                          cst_error *error) {
  d->sequence.is_wanted = true;
  d->all_seen = true;
  if (!d->has_schema) {
    return add_list(d, name, strlen(name), (cst__cold){.fixed_size = -1}, error);
  }
  size_t count = column != NULL ? column->num_children : 0;
  const cst_feature *list =
      count > 0 ? cst__feature_by_name(column->children, count,
                                       (cst_bytes){(const uint8_t *)name, strlen(name)})
                : NULL;
  if (list != NULL) {
    return add_feature(d, list, error);
  }
  return cst__no_such_column(count > 0 ? column->children : NULL, count, name, error);
}

/* The name of a single feature list in "<column>.<name>"; NULL if the name means something else. */
static const char *list_name(const cst_sequence_decoder *d, const cst_schema *schema,
                             const cst_feature *column, const char *name) {
  size_t size = strlen(d->name);
  bool is_feature =
      schema != NULL && cst__schema_find_feature(schema, name, strlen(name)) != SIZE_MAX;
  bool is_list = strncmp(name, d->name, size) == 0 && name[size] == '.';
  return is_list && !is_feature && (schema == NULL || column != NULL) ? name + size + 1 : NULL;
}

/* Takes the wanted feature lists; the other columns go to `context`. */
static cst_status plan_wanted(cst_sequence_decoder *d, const cst_schema *schema,
                              const cst_feature *column,
                              const cst__sequence_decoder_options *options, const char **context,
                              size_t *num_context, cst_error *error) {
  bool whole = false;
  for (size_t i = 0; i < options->num_columns; i++) {
    const char *name = options->columns[i];
    const char *list = list_name(d, schema, column, name);
    bool is_column = strcmp(name, d->name) == 0 && (schema == NULL || column != NULL);
    if (!is_column && list == NULL) {
      context[(*num_context)++] = name;
      continue;
    }
    if (!d->is_always) {
      d->place = *num_context;
    } else if (is_column || whole) {
      return cst__fail_twice(error, name, strlen(name));
    }
    d->is_always = true;
    whole = is_column;
    cst_status status = is_column ? add_all(d, column, error) : add_one(d, column, list, error);
    if (status != CST_OK) {
      return cst__at_lists(&d->sequence, status);
    }
  }
  return CST_OK;
}

static cst_status find_column(const cst_sequence_decoder *d, const cst_schema *schema,
                              const cst_feature **out, cst_error *error) {
  size_t at =
      schema != NULL ? cst__schema_find_feature(schema, d->name, strlen(d->name)) : SIZE_MAX;
  *out = at != SIZE_MAX ? cst__schema_feature(schema, at) : NULL;
  if (*out == NULL || (*out)->type == CST_FEATURE_STRUCT) {
    return CST_OK;
  }
  cst_status status =
      cst__fail(error, CST_SCHEMA, "make it STRUCT with a struct_domain, or choose another name",
                "the feature of the feature lists' name is not STRUCT");
  cst__error_add_path(error, d->name, strlen(d->name));
  return status;
}

/* Unknown lists are looked for as well. */
static cst_status plan_rejection(cst_sequence_decoder *d, const cst_schema *schema,
                                 const cst_feature *column, cst_error *error) {
  d->schema = cst__schema_retain(schema);
  d->sequence.is_wanted = true;
  d->sequence.loop.rejects = true;
  d->sequence.loop.known = &d->known;
  for (size_t i = 0; column != NULL && i < column->num_children; i++) {
    const cst_feature *f = &column->children[i];
    if (!cst__name_map_add(&d->known, f->name, f->name_size, i)) {
      return cst__fail_memory(error, sizeof(cst__name_slot));
    }
  }
  return CST_OK;
}

static cst_status plan_lists(cst_sequence_decoder *d, const cst_schema *schema,
                             const cst__sequence_decoder_options *options, const char **context,
                             size_t *num_context, cst_error *error) {
  const cst_feature *column;
  CST__TRY(find_column(d, schema, &column, error));
  if (options->columns != NULL) {
    CST__TRY(plan_wanted(d, schema, column, options, context, num_context, error));
  } else {
    d->is_always = column != NULL && column->num_children > 0;
    cst_status status = d->has_schema && !d->is_always ? CST_OK : add_all(d, column, error);
    if (status != CST_OK) {
      return cst__at_lists(&d->sequence, status);
    }
  }
  bool rejects = schema != NULL && options->reject_unknown;
  d->sequence.loop.learns = d->sequence.loop.grows || rejects;
  return rejects ? plan_rejection(d, schema, column, error) : CST_OK;
}

static cst_status plan_context(cst_sequence_decoder *d, const cst_schema *schema,
                               const cst__sequence_decoder_options *options,
                               const char *const *columns, size_t num_columns, cst_error *error) {
  cst__example_decoder_options own = {.flags = options->flags,
                                      .columns = options->columns != NULL ? columns : NULL,
                                      .num_columns = num_columns,
                                      .reject_unknown = options->reject_unknown,
                                      .leave_out = d->name,
                                      .damaged_hint = damaged_hint,
                                      .loop = options->loop,
                                      .allocator = &d->allocator};
  CST__TRY(cst__example_decoder_new(schema, &own, &d->context, error));
  d->sequence.context = cst__example_decoder_loop(d->context);
  d->sequence.parts = cst__example_decoder_machine(d->context);
  return CST_OK;
}

static cst_status plan(cst_sequence_decoder *d, const cst_schema *schema,
                       const cst__sequence_decoder_options *options, cst_error *error) {
  size_t num_context = 0;
  const char **context = cst__new(NULL, (options->num_columns + 1) * sizeof *context);
  if (context == NULL) {
    return cst__fail_memory(error, options->num_columns * sizeof *context);
  }
  cst_status status = plan_lists(d, schema, options, context, &num_context, error);
  if (status == CST_OK) {
    status = plan_context(d, schema, options, context, num_context, error);
  }
  cst__delete(context);
  return status;
}

cst_status cst__sequence_decoder_new(const cst_schema *schema,
                                     const cst__sequence_decoder_options *options,
                                     cst_sequence_decoder **out, cst_error *error) {
  cst_error unseen = CST_ERROR_INIT; /* the loop always has somewhere to write to */
  error = cst__error_wanted(error) ? error : &unseen;
  cst_sequence_decoder *d = cst__new_zero(options->allocator, sizeof *d);
  if (d == NULL) {
    return cst__fail_memory(error, sizeof *d);
  }
  const char *name =
      options->sequence_column != NULL ? options->sequence_column : CST_SEQUENCE_COLUMN;
  d->allocator = cst__allocator_of(options->allocator);
  d->flags = options->flags;
  d->has_schema = schema != NULL;
  d->place = SIZE_MAX;
  d->name = cst__new_copy(&d->allocator, name, strlen(name));
  d->pool = cst__batch_pool_new(&d->allocator);
  d->run = cst__sequence_run_find(options->loop);
  d->sequence.name = d->name;
  d->sequence.loop = (cst__loop){.table = &d->table,
                                 .views = (options->flags & CST_COLUMNS_BINARY_VIEWS) != 0,
                                 .nesting = 1,
                                 .damaged_hint = damaged_hint,
                                 .error = error,
                                 .allocator = d->allocator};
  bool ok = d->name != NULL && d->pool != NULL && cst__name_table_init(&d->table, &d->allocator);
  cst_status status = ok ? plan(d, schema, options, error) : cst__fail_memory(error, sizeof *d);
  d->sequence.loop.error = NULL;
  if (status != CST_OK) {
    cst__sequence_decoder_free(d);
    return status;
  }
  *out = d;
  return CST_OK;
}

void cst__sequence_decoder_free(cst_sequence_decoder *d) {
  if (d == NULL) {
    return;
  }
  for (size_t i = 0; i < d->sequence.inner_capacity; i++) {
    cst__delete(d->sequence.inners[i].nulls);
  }
  cst__example_decoder_free(d->context);
  cst__name_table_reset(&d->table);
  cst__name_map_reset(&d->known);
  cst__schema_release(d->schema);
  cst__batch_pool_release(d->pool);
  cst__delete(d->sequence.loop.hot);
  cst__delete(d->sequence.loop.cold);
  cst__delete(d->sequence.inners);
  cst__delete(d->sequence.touched);
  cst__delete(d->sequence.entries);
  cst__delete(d->order);
  cst__delete(d->names);
  cst__delete(d->types);
  cst__delete(d->name);
  cst__delete(d);
}

/* ---- the lists of the output ---- */

static bool reserve_outputs(cst_sequence_decoder *d) {
  size_t count = d->sequence.loop.num_columns;
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

/* A list while the lists are sorted. */
typedef struct named_list {
  const char *name;
  size_t column;
} named_list;

static int by_name(const void *a, const void *b) {
  return strcmp(((const named_list *)a)->name, ((const named_list *)b)->name);
}

/* True if any record of the batch has the list. */
static bool has_rows(const cst__loop *loop, size_t column) {
  const int64_t *offsets = (const int64_t *)(const void *)loop->batch->columns[column].offsets.data;
  return cst__has_buffers(loop, (uint32_t)column) && loop->hot[column].next_end - offsets > 1;
}

/* Without a schema lists stand in the order of their names, with one in that of the schema. */
static cst_status sort_outputs(cst_sequence_decoder *d, cst_error *error) {
  const cst__loop *loop = &d->sequence.loop;
  named_list *all = cst__new(&d->allocator, (loop->num_columns + 1) * sizeof *all);
  if (all == NULL || !reserve_outputs(d)) {
    cst__delete(all);
    return cst__fail_memory(error, loop->num_columns * sizeof *all);
  }
  d->num_outputs = 0;
  for (size_t i = 0; i < loop->num_columns; i++) {
    if (d->all_seen || has_rows(loop, i)) {
      all[d->num_outputs++] = (named_list){d->table.names[i], i};
    }
  }
  if (loop->grows && d->num_outputs > 1) {
    qsort(all, d->num_outputs, sizeof *all, by_name);
  }
  for (size_t i = 0; i < d->num_outputs; i++) {
    d->order[i] = all[i].column;
    d->names[i] = all[i].name;
  }
  cst__delete(all);
  return CST_OK;
}

static cst__values values_of(const cst_sequence_decoder *d, uint8_t tag) {
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

static cst_status choose_outputs(cst_sequence_decoder *d, cst__extra_column *extra,
                                 cst_error *error) {
  const cst__loop *loop = &d->sequence.loop;
  CST__TRY(sort_outputs(d, error));
  for (size_t i = 0; i < d->num_outputs; i++) {
    size_t column = d->order[i];
    uint8_t tag = cst__expected_kind(loop, (uint32_t)column);
    d->types[i] = (cst__column_type){.name = d->names[i],
                                     .kind = values_of(d, tag),
                                     .fixed_size = -1,
                                     .offsets_32 = (d->flags & CST_COLUMNS_OFFSETS_32) != 0,
                                     .is_nested = true};
  }
  *extra = (cst__extra_column){.type = {.name = d->name,
                                        .is_struct = true,
                                        .children = d->types,
                                        .num_children = d->num_outputs},
                               .at = d->place};
  return CST_OK;
}

cst_status cst__sequence_decoder_schema(const cst_sequence_decoder *decoder,
                                        struct ArrowSchema *out, cst_error *error) {
  /* Only scratch of the decoder is written. */
  cst_sequence_decoder *d = (cst_sequence_decoder *)decoder;
  cst__extra_column extra;
  if (d->has_schema && d->is_always) {
    CST__TRY(choose_outputs(d, &extra, error));
    return cst__example_decoder_schema_with(d->context, &extra, out, error);
  }
  return cst__example_decoder_schema(d->context, out, error);
}

/* ---- decoding ---- */

/* Forgets the names of earlier batches if far more of them are known than the last one had. */
static cst_status forget_names(cst_sequence_decoder *d, cst_error *error) {
  cst__loop *loop = &d->sequence.loop;
  if (loop->grows && loop->num_columns > CST__MANY_NAMES &&
      loop->num_columns / 4 > d->num_outputs) {
    cst__name_table_reset(&d->table);
    loop->num_columns = 0;
    if (!cst__name_table_init(&d->table, &d->allocator)) {
      return cst__fail_memory(error, sizeof d->table);
    }
  }
  if (d->tuned_names != d->table.count) {
    cst__name_table_tune(&d->table);
    d->tuned_names = d->table.count;
  }
  return CST_OK;
}

/* All lists empty, with room for the values of those that are likely to have some. */
static cst_status begin_lists(cst_sequence_decoder *d, const cst__records *records,
                              cst_error *error) {
  cst__sequence *sequence = &d->sequence;
  cst__loop *loop = &sequence->loop;
  CST__TRY(forget_names(d, error));
  loop->batch = cst__batch_take(d->pool, loop->num_columns);
  if (loop->batch == NULL) {
    return cst__fail_memory(error, loop->num_columns * sizeof(cst__column));
  }
  loop->rows = (int32_t)records->count;
  loop->row = 0;
  loop->block = NULL;
  loop->error = error;
  sequence->is_seen = false;
  sequence->num_touched = 0;
  for (size_t i = 0; i < loop->num_columns; i++) {
    loop->hot[i] = (cst__hot){0};
    cst__inner_begin(sequence, (uint32_t)i);
    if (loop->cold[i].tag != 0 && loop->cold[i].was_used) {
      CST__TRY(cst__inner_open(sequence, (uint32_t)i));
      CST__TRY(cst__set_values(loop, (uint32_t)i, loop->cold[i].tag));
    }
  }
  return CST_OK;
}

static cst_status run(cst_sequence_decoder *d, const cst__records *records, cst_error *error) {
  cst_status status = d->run(&d->sequence, records);
  if (status != CST_OK) {
    cst__error_add_record(error, d->sequence.loop.row, -1);
  }
  return status;
}

/* The lists as an array, if `export`; a batch that was exported is nobody's here any more. */
static cst_status finish_lists(cst_sequence_decoder *d, const cst__records *records, bool export,
                               cst__extra_column *extra, cst_error *error) {
  cst__loop *loop = &d->sequence.loop;
  CST__TRY(choose_outputs(d, extra, error));
  cst__settle_use(loop);
  for (size_t i = 0; i < d->num_outputs; i++) {
    cst__column *column = &loop->batch->columns[d->order[i]];
    column->kind = d->types[i].kind;
    column->offsets_32 = d->types[i].offsets_32;
    column->fixed_size = -1;
    CST__TRY(cst__inner_close(&d->sequence, (uint32_t)d->order[i]));
  }
  if (loop->views) {
    CST__TRY(cst__records_keep(records, loop->batch, error));
  }
  if (!export) {
    return CST_OK;
  }
  cst_status status = cst__batch_export(loop->batch, (int64_t)records->count, d->order, d->names,
                                        d->num_outputs, &extra->array, error);
  if (status == CST_OK) {
    loop->batch = NULL;
  }
  return status == CST_LIMIT ? cst__at_lists(&d->sequence, status) : status;
}

static cst_status decode(cst_sequence_decoder *d, const cst__records *records,
                         struct ArrowSchema *out_schema, struct ArrowArray *out, cst_error *error) {
  cst__extra_column extra = {.array = {.release = NULL}};
  cst_status status = cst__example_decoder_begin(d->context, records, error);
  if (status == CST_OK) {
    status = begin_lists(d, records, error);
  }
  if (status == CST_OK) {
    status = run(d, records, error);
  }
  bool has_lists =
      d->is_always || (!d->has_schema && d->sequence.loop.grows && d->sequence.is_seen);
  if (status == CST_OK && has_lists) {
    status = finish_lists(d, records, out != NULL, &extra, error);
  }
  if (d->sequence.loop.batch != NULL) {
    cst__batch_drop(d->sequence.loop.batch);
    d->sequence.loop.batch = NULL;
  }
  status = cst__example_decoder_end(d->context, status, records, has_lists ? &extra : NULL,
                                    out_schema, out, error);
  if (extra.array.release != NULL) {
    extra.array.release(&extra.array);
  }
  return status;
}

/* Views need a block that stays: the caller's records do not. */
static cst_status decode_copied(cst_sequence_decoder *d, const cst__records *records,
                                struct ArrowSchema *out_schema, struct ArrowArray *out,
                                cst_error *error) {
  cst__copied copied;
  CST__TRY(cst__records_copy(&d->allocator, records, &copied, error));
  cst_status status = decode(d, &copied.records, out_schema, out, error);
  cst__copied_release(&copied);
  return status;
}

cst_status cst__sequence_decoder_decode(cst_sequence_decoder *decoder, const cst__records *records,
                                        struct ArrowSchema *out_schema, struct ArrowArray *out,
                                        cst_error *error) {
  cst_error unseen = CST_ERROR_INIT;
  error = cst__error_wanted(error) ? error : &unseen;
  if (records->count >= INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use smaller batches", "a batch of %zu records",
                     records->count);
  }
  if (decoder->sequence.loop.views && records->num_blocks == 0) {
    return decode_copied(decoder, records, out_schema, out, error);
  }
  return decode(decoder, records, out_schema, out, error);
}

static cst_status decode_sequences(void *decoder, const cst__records *records,
                                   struct ArrowSchema *out_schema, struct ArrowArray *out,
                                   cst_error *error) {
  return cst__sequence_decoder_decode(decoder, records, out_schema, out, error);
}

cst_status cst__sequence_decode_arrow(cst_sequence_decoder *decoder,
                                      const struct ArrowSchema *schema, struct ArrowArray *records,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error) {
  return cst__decode_arrow(decode_sequences, decoder, decoder->sequence.loop.views, schema, records,
                           out_schema, out, error);
}
