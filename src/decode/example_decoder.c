/* The tf.Example decoder: plans the columns, runs the loop over the records, and hands the batch
 * out.
 */
#include "decode/example_decoder.h"

#include <string.h>

#include "base/error.h"
#include "base/names.h"
#include "decode/decoder_columns.h"
#include "decode/nested.h"

typedef struct example_decoder {
  cst_decoder base; /* first */
  cst__decoder_columns columns;
  cst__decode_state state;
  const cst__kernels *kernels;
  cst__nest *nest; /* makes nested columns of the flat ones; else NULL */
  bool is_shared;  /* the nest is that of the decoder whose columns it shares */
  bool has_schema;
  const cst__records *records; /* from begin to end of a decode */
} example_decoder;

static example_decoder *example_of(cst_decoder *decoder) { return (example_decoder *)decoder; }

/* ---- planning ---- */

static cst_status struct_feature(const cst_feature *feature, cst_error *error) {
  cst_status status = cst__fail(error, CST_SCHEMA, "leave the feature out by columns",
                                "the feature is of type STRUCT, a tf.Example holds BYTES, INT or "
                                "FLOAT");
  cst__error_add_path(error, feature->name, feature->name_size);
  return status;
}

static cst_status add_example_feature(example_decoder *d, const cst_feature *feature,
                                      cst_error *error) {
  if (feature->type == CST_FEATURE_STRUCT) {
    return struct_feature(feature, error);
  }
  cst__cold cold = cst__cold_of_feature(feature);
  int64_t size = cst__feature_fixed_size(feature);
  /* A fixed_size_list holds at least one value and at most an int32 of them; else it stays a list.
   */
  bool is_source = d->nest != NULL && cst__nest_uses(d->nest, feature->name);
  if ((d->columns.flags & CST_COLUMNS_FIXED_SIZE) && size > 0 && size <= INT32_MAX && !is_source) {
    cold.fixed_size = size;
  }
  return cst__decoder_columns_add(&d->columns, feature->name, feature->name_size, cold, error);
}

static const char *nth_feature(const void *features, size_t i) {
  return ((const cst_feature *)features)[i].name;
}

cst_status cst__no_such_column(const cst_feature *features, size_t count, const char *name,
                               cst_error *error) {
  cst__name_list names = {features, count, nth_feature};
  return cst__fail_unknown(error, CST_NOT_FOUND, "the schema has no such column", name, &names);
}

static cst_status plan_wanted_features(example_decoder *d, const cst_schema *schema,
                                       const cst__example_decoder_options *options,
                                       cst_error *error) {
  for (size_t i = 0; i < options->num_columns; i++) {
    const char *name = options->columns[i];
    if (schema == NULL) {
      CST__TRY(cst__decoder_columns_add(&d->columns, name, strlen(name),
                                        (cst__cold){.fixed_size = -1}, error));
      continue;
    }
    size_t at = cst__schema_find_feature(schema, name, strlen(name));
    if (at == SIZE_MAX) {
      size_t count = cst_schema_num_features(schema);
      return cst__no_such_column(count > 0 ? cst_schema_feature(schema, 0) : NULL, count, name,
                                 error);
    }
    CST__TRY(add_example_feature(d, cst_schema_feature(schema, at), error));
  }
  return CST_OK;
}

static bool is_left_out(const cst_feature *feature, const cst__example_decoder_options *options) {
  return options->leave_out != NULL && strcmp(feature->name, options->leave_out) == 0;
}

/* Nested columns: decodes the flat ones that they are made of. */
static cst_status plan_nested(example_decoder *d, const cst_schema *schema,
                              cst__example_decoder_options *options, cst_error *error) {
  if (schema == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "pass a schema to the decoder",
                     "nested columns need a schema");
  }
  const cst__nest_options wanted = {options->columns, options->num_columns, options->flags,
                                    options->allocator};
  CST__TRY(cst__nest_new(schema, &wanted, &d->nest, error));
  options->columns = cst__nest_columns(d->nest, &options->num_columns);
  return CST_OK;
}

static cst_status plan_feature_rejection(example_decoder *d, const cst_schema *schema,
                                         const cst__example_decoder_options *options,
                                         cst_error *error) {
  cst__decoder_columns_reject(&d->columns, schema);
  for (size_t i = 0; i < cst_schema_num_features(schema); i++) {
    if (!is_left_out(cst_schema_feature(schema, i), options)) {
      CST__TRY(cst__decoder_columns_know(&d->columns, cst_schema_feature(schema, i), error));
    }
  }
  return CST_OK;
}

static cst_status plan_features(example_decoder *d, const cst_schema *schema,
                                const cst__example_decoder_options *wanted, cst_error *error) {
  cst__example_decoder_options own = *wanted;
  const cst__example_decoder_options *options = &own;
  if (own.flags & CST_COLUMNS_NESTED) {
    CST__TRY(plan_nested(d, schema, &own, error));
  }
  if (options->columns != NULL) {
    CST__TRY(plan_wanted_features(d, schema, options, error));
  } else if (schema != NULL) {
    for (size_t i = 0; i < cst_schema_num_features(schema); i++) {
      if (!is_left_out(cst_schema_feature(schema, i), options)) {
        CST__TRY(add_example_feature(d, cst_schema_feature(schema, i), error));
      }
    }
  }
  d->state.grows = schema == NULL && options->columns == NULL;
  d->state.learns = d->state.grows;
  d->columns.all_seen = !d->state.grows;
  return schema != NULL && options->reject_unknown
             ? plan_feature_rejection(d, schema, options, error)
             : CST_OK;
}

/* ---- the columns of the output ---- */

static size_t place_of_extra(const example_decoder *d, const cst__extra_column *extra) {
  return extra->at < d->columns.num_outputs ? extra->at : d->columns.num_outputs;
}

static cst_status choose_example_outputs(example_decoder *d, const cst__extra_column *extra,
                                         cst_error *error) {
  const cst__decoder_columns *columns = &d->columns;
  CST__TRY(cst__decoder_columns_choose(&d->columns, error));
  for (size_t i = 0; extra != NULL && i < columns->num_outputs; i++) {
    if (strcmp(columns->names[i], extra->name) == 0) {
      cst_status status =
          cst__fail(error, CST_UNSUPPORTED, "choose another sequence_column",
                    "a context feature has the same name as the column of feature lists");
      cst__error_add_path(error, extra->name, strlen(extra->name));
      return status;
    }
  }
  return CST_OK;
}

/* Makes a type the struct of the outputs that were chosen, and of one more column. */
static cst_status outputs_type(const example_decoder *d, const cst__extra_column *extra,
                               cst__arena *arena, cst__type *type, cst_error *error) {
  if (extra == NULL) {
    return cst__decoder_columns_type(&d->columns, arena, type, error);
  }
  size_t at = place_of_extra(d, extra);
  cst__type others = CST__TYPE_INIT;
  CST__TRY(cst__decoder_columns_type(&d->columns, arena, &others, error));
  CST__TRY(cst__type_set_children(type, others.num_children + 1, arena, error));
  for (size_t i = 0; i < others.num_children; i++) {
    type->children[i < at ? i : i + 1] = others.children[i];
  }
  type->children[at].name = extra->name;
  return cst__decoder_columns_type(extra->fields, arena, &type->children[at], error);
}

/* The schema of the outputs that were chosen. */
static cst_status outputs_schema(const example_decoder *d, const cst__extra_column *extra,
                                 struct ArrowSchema *out, cst_error *error) {
  cst__type type = CST__TYPE_INIT;
  cst__arena arena;
  cst__arena_init(&arena, &d->state.allocator);
  cst_status status = outputs_type(d, extra, &arena, &type, error);
  if (status == CST_OK && d->nest != NULL) {
    status = cst__nest_type(d->nest, &arena, &type, error);
  }
  if (status == CST_OK) {
    status = cst__types_export(type.children, type.num_children, out, error);
  }
  cst__arena_reset(&arena);
  return status;
}

cst_status cst__example_decoder_schema_with(const cst_decoder *decoder,
                                            const cst__extra_column *extra, struct ArrowSchema *out,
                                            cst_error *error) {
  /* The columns of a schema are the same for every batch; only scratch of the decoder is written.
   */
  example_decoder *d = example_of((cst_decoder *)(uintptr_t)decoder);
  if (!d->has_schema) {
    return cst__fail(error, CST_STATE, "pass a schema to the decoder",
                     "without a schema, each batch has its own columns");
  }
  CST__TRY(choose_example_outputs(d, extra, error));
  return outputs_schema(d, extra, out, error);
}

static cst_status examples_schema(const cst_decoder *decoder, struct ArrowSchema *out,
                                  cst_error *error) {
  return cst__example_decoder_schema_with(decoder, NULL, out, error);
}

cst__decode_state *cst__example_decoder_state(cst_decoder *decoder) {
  return &example_of(decoder)->state;
}
const cst__kernels *cst__example_decoder_kernels(const cst_decoder *decoder) {
  return ((const example_decoder *)decoder)->kernels;
}

/* ---- decoding ---- */

/* All columns empty, with room for the values of those that are likely to have some. */
cst_status cst__example_decoder_begin(cst_decoder *decoder, const cst__records *records,
                                      cst_error *error) {
  example_decoder *d = example_of(decoder);
  cst__decode_state *state = &d->state;
  d->records = records;
  CST__TRY(cst__decoder_columns_begin(&d->columns, records, error));
  for (size_t i = 0; i < state->num_columns; i++) {
    cst__cold *cold = &state->cold[i];
    cold->next_wrong = 0;
    state->hot[i] = (cst__hot){.flags = cold->fixed_size >= 0 ? CST__HOT_FIXED : 0};
    if (cold->tag != 0 && cold->was_used) {
      CST__TRY(cst__set_kind(state, (uint32_t)i, cold->tag));
    }
  }
  return CST_OK;
}

static cst_status close_columns(example_decoder *d, cst_error *error) {
  for (size_t i = 0; i < d->columns.num_outputs; i++) {
    if (cst__decoder_columns_typed(&d->columns, i)->kind != CST__VALUES_NULL) {
      CST__TRY(cst__close_column(&d->state, (uint32_t)d->columns.order[i], d->kernels));
    }
  }
  return d->state.views ? cst__records_keep(d->records, d->state.batch, error) : CST_OK;
}

static cst_status hand_out(example_decoder *d, cst__extra_column *extra, struct ArrowArray *out,
                           cst_error *error) {
  const cst__decoder_columns *columns = &d->columns;
  if (extra != NULL) {
    if (!cst__batch_reserve(d->state.batch, d->state.num_columns + 1)) {
      return cst__fail_memory(error, sizeof(cst__column));
    }
    cst__batch_attach(d->state.batch, &extra->array, place_of_extra(d, extra));
  }
  struct ArrowArray made;
  CST__TRY(cst__batch_export(d->state.batch, (int64_t)d->records->count, columns->order,
                             columns->names, columns->num_outputs, &made, error));
  d->state.batch = NULL; /* it belongs to the arrays from here on */
  if (d->nest != NULL) {
    CST__TRY(cst__nest_batch(d->nest, &made, error));
  }
  *out = made;
  return CST_OK;
}

/* The schema first: without `out` nobody will see the columns, which stay incomplete. */
static cst_status finish_batch(example_decoder *d, cst__extra_column *extra,
                               struct ArrowSchema *schema, struct ArrowArray *out,
                               cst_error *error) {
  CST__TRY(choose_example_outputs(d, extra, error));
  cst__settle_use(&d->state);
  if (out != NULL) {
    CST__TRY(close_columns(d, error));
  }
  if (schema != NULL) {
    CST__TRY(outputs_schema(d, extra, schema, error));
  }
  return out != NULL ? hand_out(d, extra, out, error) : CST_OK;
}

cst_status cst__example_decoder_end(cst_decoder *decoder, cst_status status,
                                    cst__extra_column *extra, struct ArrowSchema *out_schema,
                                    struct ArrowArray *out) {
  example_decoder *d = example_of(decoder);
  struct ArrowSchema schema = {.release = NULL};
  if (status == CST_OK) {
    status = finish_batch(d, extra, out_schema != NULL ? &schema : NULL, out, d->state.error);
  }
  if (d->state.batch != NULL) {
    cst__batch_drop(d->state.batch);
    d->state.batch = NULL;
  }
  if (status == CST_OK && out_schema != NULL) {
    *out_schema = schema;
  } else if (schema.release != NULL) {
    schema.release(&schema);
  }
  return status;
}

static cst_status decode_examples(cst_decoder *decoder, const cst__records *records,
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,
                                  cst_error *error) {
  example_decoder *d = example_of(decoder);
  cst_status status = cst__example_decoder_begin(decoder, records, error);
  if (status == CST_OK) {
    status = d->kernels->run(&d->state, records);
    if (status != CST_OK) {
      cst__error_add_record(error, d->state.row, -1);
    }
  }
  return cst__example_decoder_end(decoder, status, NULL, out_schema, out);
}

/* ---- life ---- */

static void free_examples(cst_decoder *decoder) {
  example_decoder *d = example_of(decoder);
  cst__decoder_columns_reset(&d->columns);
  if (!d->is_shared) {
    cst__nest_free(d->nest);
  }
  cst__delete(d);
}

/* Hands a new decoder out, or frees it after a failure. */
static cst_status end_new(example_decoder *d, const cst__decoder_type *type, cst_status status,
                          cst_decoder **out) {
  d->base = (cst_decoder){type, d->state.views, &d->state.allocator};
  if (status != CST_OK) {
    free_examples(&d->base);
    return status;
  }
  *out = &d->base;
  return CST_OK;
}

static cst_status share_examples(const cst_decoder *decoder, cst_decoder **out, cst_error *error) {
  const example_decoder *plan = (const example_decoder *)decoder;
  if (plan->state.grows) {
    return CST_OK;
  }
  example_decoder *d = cst__new_zero(&plan->state.allocator, sizeof *d);
  if (d == NULL) {
    return cst__fail_memory(error, sizeof *d);
  }
  d->has_schema = plan->has_schema;
  d->kernels = plan->kernels;
  d->nest = plan->nest;
  d->is_shared = true;
  cst_status status = cst__decoder_columns_share(&d->columns, &d->state, &plan->columns, error);
  return end_new(d, plan->base.type, status, out);
}

static const cst__decoder_type example_type = {
    .decode = decode_examples,
    .arrow_schema = examples_schema,
    .share = share_examples,
    .free = free_examples,
};

/* With a kind, or by its name alone. */
static bool has_feature_occurred(const cst__decode_state *state, uint32_t column) {
  return state->hot[column].tag != 0 || (state->hot[column].flags & CST__HOT_SEEN) != 0;
}

cst_status cst__example_decoder_new(const cst_schema *schema,
                                    const cst__example_decoder_options *options, cst_decoder **out,
                                    cst_error *error) {
  cst_error unseen = CST_ERROR_INIT; /* the state always has somewhere to write to */
  error = cst__error_wanted(error) ? error : &unseen;
  example_decoder *d = cst__new_zero(options->allocator, sizeof *d);
  if (d == NULL) {
    return cst__fail_memory(error, sizeof *d);
  }
  d->has_schema = schema != NULL;
  d->kernels = cst__kernels_find(options->loop);
  d->state.damaged_hint = options->damaged_hint != NULL
                              ? options->damaged_hint
                              : "the record is damaged or is not a tf.Example";
  d->columns.flags = options->flags;
  d->columns.occurred = has_feature_occurred;
  cst_status status = cst__decoder_columns_init(&d->columns, &d->state, options->allocator, error);
  if (status == CST_OK) {
    status = plan_features(d, schema, options, error);
  }
  if (status == CST_OK) {
    cst__decoder_columns_seal(&d->columns);
  }
  d->state.error = NULL;
  return end_new(d, &example_type, status, out);
}
