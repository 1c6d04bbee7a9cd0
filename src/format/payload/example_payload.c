/* The payload "example": every record is a serialized tf.Example. The plan is a decoder that
 * decodes nothing; those of the threads share what was compiled for it. */
#include "base/error.h"
#include "decode/example_decoder.h"
#include "format/payload/payload.h"
#include "proto/wire.h"

typedef struct example_plan {
  const cst__payload_options *options;
  cst_example_decoder *compiled;
  bool is_shared; /* else the columns come from the data of each batch */
} example_plan;

static cst_status new_example(const cst__payload_options *options, cst_example_decoder **out,
                              cst_error *error) {
  cst__example_decoder_options own = {.flags = options->column_flags,
                                      .columns = options->columns,
                                      .num_columns = options->num_columns,
                                      .reject_unknown = options->reject_unknown,
                                      .allocator = options->allocator};
  return cst__example_decoder_new(options->schema, &own, out, error);
}

static void unbind_example(void *ptr) {
  example_plan *plan = ptr;
  cst_example_decoder_free(plan->compiled);
  cst__delete(plan);
}

static cst_status bind_example(const cst__payload_options *options, void **out,
                               struct ArrowSchema *schema, cst_error *error) {
  example_plan *plan = cst__new_zero(options->allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->options = options;
  schema->release = NULL;
  cst_status status = new_example(options, &plan->compiled, error);
  if (status == CST_OK && options->schema != NULL) {
    status = cst_example_decoder_arrow_schema(plan->compiled, schema, error);
  }
  if (status != CST_OK) {
    unbind_example(plan);
    return status;
  }
  plan->is_shared = cst__example_decoder_seal(plan->compiled);
  *out = plan;
  return CST_OK;
}

static cst_status open_example(const void *ptr, void **decoder, cst_error *error) {
  const example_plan *plan = ptr;
  cst_example_decoder *example = NULL;
  CST__TRY(plan->is_shared ? cst__example_decoder_share(plan->compiled, &example, error)
                           : new_example(plan->options, &example, error));
  *decoder = example;
  return CST_OK;
}

static cst_status decode_example(void *decoder, const cst__records *records,
                                 struct ArrowSchema *out_schema, struct ArrowArray *out,
                                 cst_error *error) {
  return cst__example_decoder_decode(decoder, records, out_schema, out, error);
}

static void close_example(void *decoder) { cst_example_decoder_free(decoder); }

/* tensorflow/core/example/example.proto: an Example has the field 1 only, its features. */
static bool is_example(cst_bytes record) {
  cst__wire wire = cst__wire_of(record.data, record.size);
  bool seen = false;
  uint64_t tag;
  uint64_t size;
  while (cst__wire_varint(&wire, &tag) && cst__wire_varint(&wire, &size)) {
    if (tag != (1 << 3 | CST__WIRE_LEN)) {
      return false;
    }
    size_t rest = (size_t)(wire.end - wire.at); /* the field may end after the first bytes */
    wire.at += size < rest ? size : rest;
    seen = true;
  }
  return seen;
}

/* A sound message none of whose fields is that of an Example's features. */
static bool is_other_message(cst_bytes record) {
  cst__wire wire = cst__wire_of(record.data, record.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      return false;
    }
  }
  return record.size > 0 && wire.fault == CST__WIRE_FAULT_NONE;
}

const cst__payload cst__example_payload = {
    .name = "example",
    .types_from = CST__TYPES_OF_DATA,
    .can_fail = true,
    .sniff = is_example,
    .is_foreign = is_other_message,
    .bind = bind_example,
    .unbind = unbind_example,
    .open = open_example,
    .decode = decode_example,
    .close = close_example,
};
