/* Plans and decoders of records: those of a payload, and the records' bytes and offsets beside. */
#include <stdio.h>
#include <string.h>

#include "arrow/append.h"
#include "arrow/owned.h"
#include "arrow/type.h"
#include "arrow/view.h"
#include "base/alloc.h"
#include "base/error.h"
#include "format/payload/payload.h"
#include "schema/schema.h"

struct cst__record_plan {
  cst__refcount owners;
  cst_allocator allocator;
  cst__arena arena;
  const cst__payload *payload;
  cst__payload_options options; /* whose strings are in the arena, and whose schema is counted */
  cst_decoder *compiled;        /* what its decoders share; decodes nothing */
  struct ArrowSchema schema;    /* with the columns beside; release NULL: see its function */
  cst_decoder *raw;             /* likewise of raw records beside, or NULL */
  struct ArrowSchema raw_schema;
  struct ArrowSchema offset_schema; /* of the column of offsets; release NULL: there is none */
};

struct cst__record_decoder {
  cst__record_plan *plan;
  cst_decoder *decoder;
  cst_decoder *raw; /* of raw records beside, or NULL */
};

/* ---- plans ---- */

/* Copies a string; false: no memory. NULL stays. */
static bool keep_string(cst__record_plan *plan, const char **string) {
  if (*string != NULL) {
    *string = cst__arena_copy(&plan->arena, *string, strlen(*string));
    return *string != NULL;
  }
  return true;
}

/* Copies what the options point to. */
static cst_status keep_options(cst__record_plan *plan, const cst__payload_options *from,
                               cst_error *error) {
  cst__payload_options *options = &plan->options;
  *options = *from;
  options->allocator = &plan->allocator;
  options->schema = from->schema != NULL ? cst_schema_retain(from->schema) : NULL;
  bool kept = keep_string(plan, &options->raw_column) && keep_string(plan, &options->offset_column);
  if (kept && from->columns != NULL) {
    const char **columns = cst__arena_take(&plan->arena, (from->num_columns + 1) * sizeof *columns);
    kept = columns != NULL;
    for (size_t i = 0; kept && i < from->num_columns; i++) {
      columns[i] = from->columns[i];
      kept = keep_string(plan, &columns[i]);
    }
    options->columns = columns;
  }
  return kept ? CST_OK : cst__fail_memory(error, from->num_columns * sizeof(char *));
}

/* The name may be taken by a column that is known only when a batch is decoded. */
static cst_status check_beside_name(const struct ArrowSchema *schema, const char *name,
                                    const char *what, cst_error *error) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (strcmp(schema->children[i]->name, name) == 0) {
      char hint[64];
      snprintf(hint, sizeof hint, "choose another name for the %s", what);
      (void)cst__fail(error, CST_INVALID_ARGUMENT, hint,
                      "the column of %s has the same name as another column", what);
      cst__error_add_path(error, name, strlen(name));
      return CST_INVALID_ARGUMENT;
    }
  }
  return CST_OK;
}

/* Adds the only field of `from` to a schema. */
static cst_status add_beside_field(const struct ArrowSchema *from, const char *what,
                                   struct ArrowSchema *schema, cst_error *error) {
  struct ArrowSchema field;
  CST__TRY(check_beside_name(schema, from->children[0]->name, what, error));
  CST__TRY(cst__schema_copy(from, &field, error));
  cst_status status = cst__append_fields(schema, &field, error);
  if (field.release != NULL) {
    field.release(&field);
  }
  return status;
}

/* Adds the fields of raw records and of offsets to those of the payload. */
static cst_status add_beside_fields(const cst__record_plan *plan, struct ArrowSchema *schema,
                                    cst_error *error) {
  if (plan->raw_schema.release != NULL) {
    CST__TRY(add_beside_field(&plan->raw_schema, "raw records", schema, error));
  }
  return plan->offset_schema.release != NULL
             ? add_beside_field(&plan->offset_schema, "offsets", schema, error)
             : CST_OK;
}

static cst_status bind_beside_columns(cst__record_plan *plan, cst_error *error) {
  cst__payload_options options = plan->options;
  options.columns = NULL;
  if (options.raw_column != NULL && plan->payload != &cst__raw_payload) {
    CST__TRY(cst__raw_payload.new_decoder(&options, &plan->raw, error));
    CST__TRY(cst_decoder_arrow_schema(plan->raw, &plan->raw_schema, error));
  }
  if (options.offset_column != NULL) {
    cst__type type = CST__TYPE_OF(options.offset_column, "l");
    CST__TRY(cst__types_export(&type, 1, &plan->offset_schema, error));
  }
  return plan->schema.release != NULL ? add_beside_fields(plan, &plan->schema, error) : CST_OK;
}

cst_status cst__record_plan_new(const cst__payload *payload, const cst__payload_options *options,
                                cst__record_plan **out, cst_error *error) {
  cst__record_plan *plan = cst__new_zero(options->allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  cst__refcount_init(&plan->owners);
  plan->allocator = cst__allocator_of(options->allocator);
  cst__arena_init(&plan->arena, &plan->allocator);
  plan->payload = payload;
  cst_status status = keep_options(plan, options, error);
  if (status == CST_OK) {
    status = payload->new_decoder(&plan->options, &plan->compiled, error);
  }
  if (status == CST_OK && (payload->types_from != CST__TYPES_OF_DATA || options->schema != NULL)) {
    status = cst_decoder_arrow_schema(plan->compiled, &plan->schema, error);
  }
  if (status == CST_OK) {
    status = bind_beside_columns(plan, error);
  }
  if (status != CST_OK) {
    cst__record_plan_release(plan);
    return status;
  }
  *out = plan;
  return CST_OK;
}

cst__record_plan *cst__record_plan_retain(cst__record_plan *plan) {
  cst__refcount_up(&plan->owners);
  return plan;
}

void cst__record_plan_release(cst__record_plan *plan) {
  if (plan == NULL || !cst__refcount_down(&plan->owners)) {
    return;
  }
  cst_decoder_free(plan->compiled);
  cst_decoder_free(plan->raw);
  if (plan->schema.release != NULL) {
    plan->schema.release(&plan->schema);
  }
  if (plan->raw_schema.release != NULL) {
    plan->raw_schema.release(&plan->raw_schema);
  }
  if (plan->offset_schema.release != NULL) {
    plan->offset_schema.release(&plan->offset_schema);
  }
  cst_schema_release((cst_schema *)plan->options.schema);
  cst__arena_reset(&plan->arena);
  cst__delete(plan);
}

const struct ArrowSchema *cst__record_plan_schema(const cst__record_plan *plan) {
  return plan->schema.release != NULL ? &plan->schema : NULL;
}

/* ---- decoders ---- */

cst_status cst__record_decoder_open(cst__record_plan *plan, cst__record_decoder **out,
                                    cst_error *error) {
  cst__record_decoder *decoder = cst__new_zero(&plan->allocator, sizeof *decoder);
  if (decoder == NULL) {
    return cst__fail_memory(error, sizeof *decoder);
  }
  decoder->plan = cst__record_plan_retain(plan);
  cst_status status = cst__decoder_share(plan->compiled, &decoder->decoder, error);
  if (status == CST_OK && decoder->decoder == NULL) {
    status = plan->payload->new_decoder(&plan->options, &decoder->decoder, error);
  }
  if (status == CST_OK && plan->raw != NULL) {
    status = cst__decoder_share(plan->raw, &decoder->raw, error);
  }
  if (status != CST_OK) {
    cst__record_decoder_close(decoder);
    return status;
  }
  *out = decoder;
  return CST_OK;
}

void cst__record_decoder_close(cst__record_decoder *decoder) {
  if (decoder == NULL) {
    return;
  }
  cst_decoder_free(decoder->raw);
  cst_decoder_free(decoder->decoder);
  cst__record_plan_release(decoder->plan);
  cst__delete(decoder);
}

void cst__record_decoder_on_bad(cst__record_decoder *decoder, cst__bad_record_callback on_bad,
                                void *ctx) {
  if (decoder->decoder->type->on_bad != NULL) {
    decoder->decoder->type->on_bad(decoder->decoder, on_bad, ctx);
  }
}

static cst_status make_raw_column(const cst__record_decoder *decoder, const cst__records *records,
                                  struct ArrowArray *out, cst_error *error) {
  return cst__decoder_decode(decoder->raw, records, NULL, out, error);
}

/* A struct of one column, as that of raw records is. */
static cst_status make_offset_column(const cst__record_decoder *decoder,
                                     const cst__records *records, struct ArrowArray *out,
                                     cst_error *error) {
  const cst_allocator *allocator = &decoder->plan->allocator;
  const size_t size = records->count * sizeof *records->offsets;
  struct ArrowArray *column;
  CST__TRY(cst__owned_new(allocator, 1, 1, false, out, error));
  column = out->children[0];
  cst_status status = cst__owned_new(allocator, 2, 0, false, column, error);
  void *values = status == CST_OK ? cst__owned_buffer(column, 1, size) : NULL;
  if (values == NULL) {
    out->release(out);
    return cst__fail_memory(error, size);
  }
  if (size > 0) {
    memcpy(values, records->offsets, size);
  }
  out->length = column->length = (int64_t)records->count;
  return CST_OK;
}

/* Adds a column that `make` makes to a batch. */
static cst_status add_beside_column(const cst__record_decoder *decoder, const cst__records *records,
                                    cst_status (*make)(const cst__record_decoder *decoder,
                                                       const cst__records *records,
                                                       struct ArrowArray *out, cst_error *error),
                                    struct ArrowArray *batch, cst_error *error) {
  struct ArrowArray column;
  CST__TRY(make(decoder, records, &column, error));
  cst_status status = cst__append_arrays(batch, &column, &decoder->plan->allocator, error);
  cst__array_release(&column);
  return status;
}

/* Adds the records and their offsets to a batch, and their columns to its schema, if these are
 * wanted. */
static cst_status add_beside_columns(const cst__record_decoder *decoder,
                                     const cst__records *records, struct ArrowSchema *schema,
                                     struct ArrowArray *batch, cst_error *error) {
  if (schema != NULL) {
    CST__TRY(add_beside_fields(decoder->plan, schema, error));
  }
  if (decoder->raw != NULL) {
    CST__TRY(add_beside_column(decoder, records, make_raw_column, batch, error));
  }
  return decoder->plan->offset_schema.release != NULL
             ? add_beside_column(decoder, records, make_offset_column, batch, error)
             : CST_OK;
}

/* A batch, and its schema if that comes from its data. */
static cst_status decode_batch(const cst__record_decoder *decoder, const cst__records *records,
                               struct ArrowSchema *out_schema, struct ArrowArray *out,
                               cst_error *error) {
  struct ArrowSchema schema = {.release = NULL};
  struct ArrowArray batch;
  if (out == NULL || (decoder->raw == NULL && decoder->plan->offset_schema.release == NULL)) {
    return cst__decoder_decode(decoder->decoder, records, out_schema, out, error);
  }
  CST__TRY(cst__decoder_decode(decoder->decoder, records, out_schema != NULL ? &schema : NULL,
                               &batch, error));
  cst_status status =
      add_beside_columns(decoder, records, out_schema != NULL ? &schema : NULL, &batch, error);
  if (status != CST_OK) {
    batch.release(&batch);
    if (schema.release != NULL) {
      schema.release(&schema);
    }
    return status;
  }
  *out = batch;
  if (out_schema != NULL) {
    *out_schema = schema;
  }
  return CST_OK;
}

cst_status cst__record_decoder_decode(cst__record_decoder *decoder, const cst__records *records,
                                      struct ArrowSchema *out_schema, struct ArrowArray *out,
                                      cst_error *error) {
  const struct ArrowSchema *known = cst__record_plan_schema(decoder->plan);
  if (known == NULL || out_schema == NULL) {
    return decode_batch(decoder, records, out_schema, out, error);
  }
  struct ArrowSchema copy;
  CST__TRY(cst__schema_copy(known, &copy, error));
  cst_status status = decode_batch(decoder, records, NULL, out, error);
  if (status != CST_OK) {
    copy.release(&copy);
    return status;
  }
  *out_schema = copy;
  return CST_OK;
}
