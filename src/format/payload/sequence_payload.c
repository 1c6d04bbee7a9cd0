/* The payload "sequence_example": every record is a serialized tf.SequenceExample. The plan is a
 * decoder that decodes nothing; those of the threads share what was compiled for it. */
#include "base/error.h"
#include "decode/sequence_decoder.h"
#include "format/payload/payload.h"
#include "proto/wire.h"

typedef struct sequence_plan {
  const cst__payload_options *options;
  cst_sequence_decoder *compiled;
  bool is_shared; /* else the columns come from the data of each batch */
} sequence_plan;

static cst_status new_sequence(const cst__payload_options *options, cst_sequence_decoder **out,
                               cst_error *error) {
  cst__sequence_decoder_options own = {.sequence_column = options->settings.sequence.column,
                                       .flags = options->column_flags,
                                       .columns = options->columns,
                                       .num_columns = options->num_columns,
                                       .reject_unknown = options->reject_unknown,
                                       .allocator = options->allocator};
  return cst__sequence_decoder_new(options->schema, &own, out, error);
}

static void unbind_sequence(void *ptr) {
  sequence_plan *plan = ptr;
  cst_sequence_decoder_free(plan->compiled);
  cst__delete(plan);
}

static cst_status bind_sequence(const cst__payload_options *options, void **out,
                                struct ArrowSchema *schema, cst_error *error) {
  sequence_plan *plan = cst__new_zero(options->allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->options = options;
  schema->release = NULL;
  cst_status status = new_sequence(options, &plan->compiled, error);
  if (status == CST_OK && options->schema != NULL) {
    status = cst_sequence_decoder_arrow_schema(plan->compiled, schema, error);
  }
  if (status != CST_OK) {
    unbind_sequence(plan);
    return status;
  }
  plan->is_shared = cst__sequence_decoder_seal(plan->compiled);
  *out = plan;
  return CST_OK;
}

static cst_status open_sequence(const void *ptr, void **decoder, cst_error *error) {
  const sequence_plan *plan = ptr;
  cst_sequence_decoder *sequence = NULL;
  CST__TRY(plan->is_shared ? cst__sequence_decoder_share(plan->compiled, &sequence, error)
                           : new_sequence(plan->options, &sequence, error));
  *decoder = sequence;
  return CST_OK;
}

static cst_status decode_sequence(void *decoder, const cst__records *records,
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,
                                  cst_error *error) {
  return cst__sequence_decoder_decode(decoder, records, out_schema, out, error);
}

static void close_sequence(void *decoder) { cst_sequence_decoder_free(decoder); }

/* tensorflow/core/example/example.proto: an Example has the field 1 only, a SequenceExample with
 * feature lists the field 2 as well. */
static bool is_sequence(cst_bytes record) {
  cst__wire wire = cst__wire_of(record.data, record.size);
  bool lists = false;
  uint64_t tag;
  uint64_t size;
  while (cst__wire_varint(&wire, &tag) && cst__wire_varint(&wire, &size)) {
    uint64_t number = tag >> 3;
    if ((tag & 7) != CST__WIRE_LEN) {
      break;
    }
    if (number != 1 && number != 2) {
      return false;
    }
    lists = lists || number == 2;
    size_t rest = (size_t)(wire.end - wire.at); /* the field may end after the first bytes */
    wire.at += size < rest ? size : rest;
  }
  return lists;
}

const cst__payload cst__sequence_payload = {
    .name = "sequence_example",
    .types_from = CST__TYPES_OF_DATA,
    .can_fail = true,
    .sniff = is_sequence,
    .bind = bind_sequence,
    .unbind = unbind_sequence,
    .open = open_sequence,
    .decode = decode_sequence,
    .close = close_sequence,
};
