/* The tf.SequenceExample decoder: plans the columns, runs the loop over the records, and hands the
 * batch out: the context's columns, and a second batch of the feature lists as one of them.
 */
#include "decode/sequence_decoder.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/names.h"
#include "decode/decoder_columns.h"
#include "decode/sequence_loop.h"
#include "schema/schema.h"

static const char damaged_hint[] = "the record is damaged or is not a tf.SequenceExample";

typedef struct sequence_decoder {
  cst_decoder base;             /* first */
  cst__decoder_columns columns; /* the feature lists */
  cst__sequence sequence;
  cst_decoder *context; /* of tf.Example */
  char *name;           /* of the column of feature lists */
  bool has_schema;
  bool is_always; /* there is a column of feature lists in every batch, else if there are some */
  size_t place;   /* of the column among the others */
} sequence_decoder;

/* ---- planning ---- */

static cst_status add_list_column(sequence_decoder *d, const char *name, size_t size,
                                  cst__cold cold, cst_error *error) {
  if (!cst__inner_reserve(&d->sequence, d->sequence.state.num_columns + 1)) {
    return cst__fail_memory(error, sizeof(cst__inner));
  }
  return cst__decoder_columns_add(&d->columns, name, size, cold, error);
}

static cst_status add_list_feature(sequence_decoder *d, const cst_feature *feature,
                                   cst_error *error) {
  if (feature->type == CST_FEATURE_STRUCT) {
    cst_status status = cst__fail(error, CST_SCHEMA, "leave the feature out by columns",
                                  "the feature list is of type STRUCT, a tf.SequenceExample holds "
                                  "lists of BYTES, INT or FLOAT");
    cst__error_add_path(error, feature->name, feature->name_size);
    return status;
  }
  return add_list_column(d, feature->name, feature->name_size, cst__cold_of_feature(feature),
                         error);
}

/* All lists of the schema's column (NULL: it has none), or all that there are without one. */
static cst_status add_all(sequence_decoder *d, const cst_feature *column, cst_error *error) {
  d->sequence.is_wanted = true;
  if (!d->has_schema) {
    d->sequence.state.grows = true;
    return CST_OK;
  }
  d->columns.all_seen = true;
  for (size_t i = 0; column != NULL && i < column->num_children; i++) {
    CST__TRY(add_list_feature(d, &column->children[i], error));
  }
  return CST_OK;
}

static cst_status add_one(sequence_decoder *d, const cst_feature *column, const char *name,
                          cst_error *error) {
  d->sequence.is_wanted = true;
  d->columns.all_seen = true;
  if (!d->has_schema) {
    return add_list_column(d, name, strlen(name), (cst__cold){.fixed_size = -1}, error);
  }
  size_t count = column != NULL ? column->num_children : 0;
  const cst_feature *list =
      count > 0 ? cst__feature_by_name(column->children, count, cst__bytes_of(name)) : NULL;
  if (list != NULL) {
    return add_list_feature(d, list, error);
  }
  return cst__no_such_column(count > 0 ? column->children : NULL, count, name, error);
}

/* The columns that are wanted of the context. */
typedef struct context_columns {
  const char **names;
  size_t count;
} context_columns;

/* Takes the wanted feature lists; the other columns go to `context`. */
static cst_status plan_wanted_lists(sequence_decoder *d, const cst_schema *schema,
                                    const cst_feature *column,
                                    const cst__sequence_decoder_options *options,
                                    context_columns *context, cst_error *error) {
  bool whole = false;
  for (size_t i = 0; i < options->num_columns; i++) {
    const char *name = options->columns[i];
    /* The name of a single feature list in "<column>.<name>"; NULL if the name means something
     * else. */
    size_t size = strlen(d->name);
    bool is_feature =
        schema != NULL && cst__schema_find_feature(schema, name, strlen(name)) != SIZE_MAX;
    bool is_list = strncmp(name, d->name, size) == 0 && name[size] == '.';
    const char *list =
        is_list && !is_feature && (schema == NULL || column != NULL) ? name + size + 1 : NULL;
    bool is_column = strcmp(name, d->name) == 0 && (schema == NULL || column != NULL);
    if (!is_column && list == NULL) {
      context->names[context->count++] = name;
      continue;
    }
    if (!d->is_always) {
      d->place = context->count;
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

static cst_status find_lists_column(const sequence_decoder *d, const cst_schema *schema,
                                    const cst_feature **out, cst_error *error) {
  size_t at =
      schema != NULL ? cst__schema_find_feature(schema, d->name, strlen(d->name)) : SIZE_MAX;
  *out = at != SIZE_MAX ? cst_schema_feature(schema, at) : NULL;
  if (*out == NULL || (*out)->type == CST_FEATURE_STRUCT) {
    return CST_OK;
  }
  cst_status status =
      cst__fail(error, CST_SCHEMA, "make it STRUCT with a struct_domain, or choose another name",
                "the schema feature of the sequence column must have type STRUCT");
  cst__error_add_path(error, d->name, strlen(d->name));
  return status;
}

/* Unknown lists are looked for as well. */
static cst_status plan_list_rejection(sequence_decoder *d, const cst_schema *schema,
                                      const cst_feature *column, cst_error *error) {
  d->sequence.is_wanted = true;
  cst__decoder_columns_reject(&d->columns, schema);
  for (size_t i = 0; column != NULL && i < column->num_children; i++) {
    CST__TRY(cst__decoder_columns_know(&d->columns, &column->children[i], error));
  }
  return CST_OK;
}

static cst_status plan_lists(sequence_decoder *d, const cst_schema *schema,
                             const cst__sequence_decoder_options *options, context_columns *context,
                             cst_error *error) {
  const cst_feature *column;
  CST__TRY(find_lists_column(d, schema, &column, error));
  if (options->columns != NULL) {
    CST__TRY(plan_wanted_lists(d, schema, column, options, context, error));
  } else {
    d->is_always = column != NULL && column->num_children > 0;
    cst_status status = d->has_schema && !d->is_always ? CST_OK : add_all(d, column, error);
    if (status != CST_OK) {
      return cst__at_lists(&d->sequence, status);
    }
  }
  d->sequence.state.learns = d->sequence.state.grows;
  return schema != NULL && options->reject_unknown ? plan_list_rejection(d, schema, column, error)
                                                   : CST_OK;
}

static cst_status plan_context(sequence_decoder *d, const cst_schema *schema,
                               const cst__sequence_decoder_options *options,
                               const context_columns *columns, cst_error *error) {
  cst__example_decoder_options own = {.flags = options->flags,
                                      .columns = options->columns != NULL ? columns->names : NULL,
                                      .num_columns = columns->count,
                                      .reject_unknown = options->reject_unknown,
                                      .leave_out = d->name,
                                      .damaged_hint = damaged_hint,
                                      .loop = options->loop,
                                      .allocator = &d->sequence.state.allocator};
  CST__TRY(cst__example_decoder_new(schema, &own, &d->context, error));
  d->sequence.context = cst__example_decoder_state(d->context);
  d->sequence.kernels = cst__example_decoder_kernels(d->context);
  return CST_OK;
}

static cst_status plan_columns(sequence_decoder *d, const cst_schema *schema,
                               const cst__sequence_decoder_options *options, cst_error *error) {
  context_columns context = {cst__new(NULL, (options->num_columns + 1) * sizeof(char *)), 0};
  if (context.names == NULL) {
    return cst__fail_memory(error, options->num_columns * sizeof(char *));
  }
  cst_status status = plan_lists(d, schema, options, &context, error);
  if (status == CST_OK) {
    status = plan_context(d, schema, options, &context, error);
  }
  cst__delete(context.names);
  return status;
}

/* In any record of the batch. */
static bool has_list_occurred(const cst__decode_state *state, uint32_t column) {
  const int64_t *offsets =
      (const int64_t *)(const void *)state->batch->columns[column].offsets.data;
  return cst__has_buffers(state, column) && state->hot[column].next_end - offsets > 1;
}

/* ---- the lists of the output ---- */

static cst_status choose_list_outputs(sequence_decoder *d, cst__extra_column *extra,
                                      cst_error *error) {
  CST__TRY(cst__decoder_columns_choose(&d->columns, error));
  *extra = (cst__extra_column){.name = d->name, .fields = &d->columns, .at = d->place};
  return CST_OK;
}

static cst_status sequences_schema(const cst_decoder *decoder, struct ArrowSchema *out,
                                   cst_error *error) {
  /* Only scratch of the decoder is written. */
  sequence_decoder *d = (sequence_decoder *)(uintptr_t)decoder;
  cst__extra_column extra;
  if (d->has_schema && d->is_always) {
    CST__TRY(choose_list_outputs(d, &extra, error));
    return cst__example_decoder_schema_with(d->context, &extra, out, error);
  }
  return cst_decoder_arrow_schema(d->context, out, error);
}

/* ---- decoding ---- */

/* The lists as an array, if `export`; a batch that was exported is nobody's here any more. */
static cst_status finish_lists(sequence_decoder *d, const cst__records *records, bool export,
                               cst__extra_column *extra, cst_error *error) {
  cst__decoder_columns *columns = &d->columns;
  cst__decode_state *state = &d->sequence.state;
  CST__TRY(choose_list_outputs(d, extra, error));
  cst__settle_use(state);
  if (!export) {
    return CST_OK;
  }
  for (size_t i = 0; i < columns->num_outputs; i++) {
    (void)cst__decoder_columns_typed(columns, i);
    CST__TRY(cst__inner_close(&d->sequence, (uint32_t)columns->order[i]));
  }
  if (state->views) {
    CST__TRY(cst__records_keep(records, state->batch, error));
  }
  cst_status status = cst__batch_export(state->batch, (int64_t)records->count, columns->order,
                                        columns->names, columns->num_outputs, &extra->array, error);
  if (status == CST_OK) {
    state->batch = NULL;
  }
  return status == CST_LIMIT ? cst__at_lists(&d->sequence, status) : status;
}

static cst_status decode_lists(sequence_decoder *d, const cst__records *records, cst_error *error) {
  CST__TRY(cst__example_decoder_begin(d->context, records, error));
  /* All lists empty, with room for the values of those that are likely to have some. */
  cst__sequence *sequence = &d->sequence;
  cst__decode_state *state = &sequence->state;
  CST__TRY(cst__decoder_columns_begin(&d->columns, records, error));
  sequence->is_seen = false;
  sequence->num_touched = 0;
  for (size_t i = 0; i < state->num_columns; i++) {
    state->hot[i] = (cst__hot){0};
    cst__inner_begin(sequence, (uint32_t)i);
    if (state->cold[i].tag != 0 && state->cold[i].was_used) {
      CST__TRY(cst__inner_open(sequence, (uint32_t)i));
      CST__TRY(cst__set_values(state, (uint32_t)i, state->cold[i].tag));
    }
  }
  cst_status status = d->sequence.kernels->run_sequences(&d->sequence, records);
  if (status != CST_OK) {
    cst__error_add_record(error, d->sequence.state.row, -1);
  }
  return status;
}

static cst_status decode_sequences(cst_decoder *decoder, const cst__records *records,
                                   struct ArrowSchema *out_schema, struct ArrowArray *out,
                                   cst_error *error) {
  sequence_decoder *d = (sequence_decoder *)decoder;
  cst__extra_column extra = {.array = {.release = NULL}};
  cst_status status = decode_lists(d, records, error);
  bool has_lists =
      d->is_always || (!d->has_schema && d->sequence.state.grows && d->sequence.is_seen);
  if (status == CST_OK && has_lists) {
    status = finish_lists(d, records, out != NULL, &extra, error);
  }
  if (d->sequence.state.batch != NULL) {
    cst__batch_drop(d->sequence.state.batch);
    d->sequence.state.batch = NULL;
  }
  status = cst__example_decoder_end(d->context, status, has_lists ? &extra : NULL, out_schema, out);
  if (extra.array.release != NULL) {
    extra.array.release(&extra.array);
  }
  return status;
}

/* ---- life ---- */

static void free_sequences(cst_decoder *decoder) {
  sequence_decoder *d = (sequence_decoder *)decoder;
  for (size_t i = 0; i < d->sequence.inner_capacity; i++) {
    cst__delete(d->sequence.inners[i].nulls);
  }
  cst__decoder_columns_reset(&d->columns);
  cst_decoder_free(d->context);
  cst__delete(d->sequence.inners);
  cst__delete(d->sequence.touched);
  cst__delete(d->sequence.entries);
  cst__delete(d->name);
  cst__delete(d);
}

/* Hands a new decoder out, or frees it after a failure. */
static cst_status end_new(sequence_decoder *d, const cst__decoder_type *type, cst_status status,
                          cst_decoder **out) {
  const cst__decode_state *state = &d->sequence.state;
  d->base = (cst_decoder){type, state->views, &state->allocator};
  if (status != CST_OK) {
    free_sequences(&d->base);
    return status;
  }
  *out = &d->base;
  return CST_OK;
}

static cst_status share_parts(sequence_decoder *d, const sequence_decoder *plan, cst_error *error) {
  cst__sequence *sequence = &d->sequence;
  CST__TRY(cst__decoder_columns_share(&d->columns, &sequence->state, &plan->columns, error));
  CST__TRY(cst__decoder_share(plan->context, &d->context, error));
  sequence->name = d->name;
  sequence->is_wanted = plan->sequence.is_wanted;
  sequence->context = cst__example_decoder_state(d->context);
  sequence->kernels = cst__example_decoder_kernels(d->context);
  const size_t count = sequence->state.num_columns;
  return d->name != NULL && (count == 0 || cst__inner_reserve(sequence, count))
             ? CST_OK
             : cst__fail_memory(error, count * sizeof(cst__inner));
}

static cst_status share_sequences(const cst_decoder *decoder, cst_decoder **out, cst_error *error) {
  const sequence_decoder *plan = (const sequence_decoder *)decoder;
  if (plan->sequence.state.grows || cst__example_decoder_state(plan->context)->grows) {
    return CST_OK;
  }
  const cst_allocator *allocator = &plan->sequence.state.allocator;
  sequence_decoder *d = cst__new_zero(allocator, sizeof *d);
  if (d == NULL) {
    return cst__fail_memory(error, sizeof *d);
  }
  d->name = cst__new_copy(allocator, plan->name, strlen(plan->name));
  d->has_schema = plan->has_schema;
  d->is_always = plan->is_always;
  d->place = plan->place;
  cst_status status = share_parts(d, plan, error);
  return end_new(d, plan->base.type, status, out);
}

static const cst__decoder_type sequence_type = {
    .decode = decode_sequences,
    .arrow_schema = sequences_schema,
    .share = share_sequences,
    .free = free_sequences,
};

cst_status cst__sequence_decoder_new(const cst_schema *schema,
                                     const cst__sequence_decoder_options *options,
                                     cst_decoder **out, cst_error *error) {
  cst_error unseen = CST_ERROR_INIT; /* the state always has somewhere to write to */
  error = cst__error_wanted(error) ? error : &unseen;
  sequence_decoder *d = cst__new_zero(options->allocator, sizeof *d);
  if (d == NULL) {
    return cst__fail_memory(error, sizeof *d);
  }
  const char *name =
      options->sequence_column != NULL ? options->sequence_column : CST_SEQUENCE_COLUMN;
  d->has_schema = schema != NULL;
  d->place = SIZE_MAX;
  d->name = cst__new_copy(options->allocator, name, strlen(name));
  d->sequence.name = d->name;
  d->sequence.state.nesting = 1;
  d->sequence.state.damaged_hint = damaged_hint;
  d->sequence.state.error = error;
  d->columns.flags = options->flags;
  d->columns.is_nested = true;
  d->columns.occurred = has_list_occurred;
  cst_status status =
      cst__decoder_columns_init(&d->columns, &d->sequence.state, options->allocator, error);
  if (status == CST_OK) {
    status = d->name != NULL ? plan_columns(d, schema, options, error)
                             : cst__fail_memory(error, sizeof *d);
  }
  if (status == CST_OK) {
    cst__decoder_columns_seal(&d->columns);
  }
  d->sequence.state.error = NULL;
  return end_new(d, &sequence_type, status, out);
}
