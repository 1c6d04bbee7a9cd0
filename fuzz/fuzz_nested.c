/* One record through the decoder of nested columns, by a schema with ragged tensors of every shape:
 * what it accepts has to be encoded to the same bytes as the flat columns of the same record, and
 * come back; what it refuses and flat columns take has to be an error of the row lengths, with the
 * record and the tensor. The record is decoded twice over with an empty one between.
 */
#include <string.h>

#include "arrow/view.h"
#include "decode/example_decoder.h"
#include "fuzz.h"
#include "schema/schema.h"

enum { COPIES = 3 };

#define FEATURE(name, type) "feature { name: '" name "' type: " type " } "
#define TENSOR(name, values, partitions)                             \
  "tensor_representation { key: '" name "' value { ragged_tensor { " \
  "feature_path { step: '" values "' } " partitions " } } } "
#define BY(column) "partition { row_length: '" column "' } "
#define UNIFORM(n) "partition { uniform_row_length: " #n " } "

static const char schema_text[] = FEATURE("v", "INT") FEATURE("r", "INT") FEATURE(
    "w", "BYTES") FEATURE("s", "INT") FEATURE("t", "INT") FEATURE("f", "FLOAT") FEATURE("u", "INT")
    FEATURE("x", "INT") FEATURE("p", "INT") "tensor_representation_group { key: '' value { " TENSOR(
        "plain", "v", BY("r")) TENSOR("deep", "w", BY("s") BY("t"))
        TENSOR("f", "f", UNIFORM(2) BY("u") UNIFORM(3)) TENSOR("pairs", "p", UNIFORM(2)) "} } ";

static const cst_schema *the_schema(void) {
  static cst_schema *schema;
  if (schema == NULL) {
    FUZZ_ASSERT(cst_schema_from_text(schema_text, strlen(schema_text), &schema, NULL) == CST_OK);
  }
  return schema;
}

/* A batch, or the error in its place. */
typedef struct result {
  cst_status status;
  cst_error error;
  struct ArrowSchema schema;
  struct ArrowArray array;
} result;

static result decode(const cst_bytes *items, uint32_t flags) {
  result r = {.error = CST_ERROR_INIT};
  cst__example_decoder_options options = {.flags = flags};
  cst_decoder *decoder;
  cst__records records = {.items = items, .count = COPIES};
  FUZZ_ASSERT(cst__example_decoder_new(the_schema(), &options, &decoder, NULL) == CST_OK);
  r.status = cst__decoder_decode(decoder, &records, &r.schema, &r.array, &r.error);
  cst_decoder_free(decoder);
  return r;
}

/* Validates the batch on its way: the encoder trusts nothing. */
static result encode(const result *batch) {
  result r = {.error = CST_ERROR_INIT};
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  cst_encoder *encoder;
  options.schema = the_schema();
  FUZZ_ASSERT(cst_encoder_new("example", &options, &encoder, NULL) == CST_OK);
  r.status =
      cst_encoder_encode(encoder, &batch->schema, &batch->array, &r.schema, &r.array, &r.error);
  FUZZ_ASSERT(r.status == CST_OK);
  cst_encoder_free(encoder);
  return r;
}

static void release(result *r) {
  if (r->status == CST_OK) {
    r->array.release(&r->array);
    r->schema.release(&r->schema);
  }
}

static cst_bytes item_at(const result *records, int64_t i) {
  const int64_t *offsets = records->array.buffers[1];
  const uint8_t *bytes = records->array.buffers[2];
  return (cst_bytes){bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
}

static void same_records(const result *a, const result *b) {
  FUZZ_ASSERT(a->array.length == COPIES && b->array.length == COPIES);
  for (int64_t i = 0; i < COPIES; i++) {
    cst_bytes x = item_at(a, i);
    cst_bytes y = item_at(b, i);
    FUZZ_ASSERT(x.size == y.size && memcmp(x.data, y.data, x.size) == 0);
  }
}

/* Nested and flat columns make the same records, and these make the nested columns again. */
static void check_round_trip(const result *nested, const result *flat) {
  result records = encode(nested);
  result wanted = encode(flat);
  same_records(&records, &wanted);
  cst_bytes items[COPIES];
  for (int64_t i = 0; i < COPIES; i++) {
    items[i] = item_at(&records, i);
  }
  result again = decode(items, CST_COLUMNS_NESTED | CST_COLUMNS_OFFSETS_32);
  FUZZ_ASSERT(again.status == CST_OK);
  result more = encode(&again);
  same_records(&records, &more);
  release(&more);
  release(&again);
  release(&wanted);
  release(&records);
}

static void check_refused(const result *nested) {
  static const char *const tensors[] = {"plain", "deep", "f", "pairs"};
  bool is_tensor = false;
  for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
    is_tensor = is_tensor || strcmp(nested->error.path, tensors[i]) == 0;
  }
  FUZZ_ASSERT(nested->status == CST_SCHEMA && nested->error.record == 0);
  FUZZ_ASSERT(is_tensor && nested->error.message[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t nothing;
  cst_bytes items[COPIES] = {
      {size > 0 ? data : &nothing, size}, {&nothing, 0}, {size > 0 ? data : &nothing, size}};
  result flat = decode(items, 0);
  result nested = decode(items, CST_COLUMNS_NESTED);
  if (flat.status != CST_OK) {
    FUZZ_ASSERT(nested.status == flat.status && nested.error.record == flat.error.record);
  } else if (nested.status == CST_OK) {
    check_round_trip(&nested, &flat);
  } else {
    check_refused(&nested);
  }
  fuzz_outcome(nested.status == CST_OK ? "OK" : cst_status_name(nested.status));
  release(&flat);
  release(&nested);
  return 0;
}
