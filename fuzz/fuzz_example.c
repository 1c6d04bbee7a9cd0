/* One record through the decoder of tf.Example: the fast loops and the slow way have to agree, with
 * padding behind the record and without, and what was decoded has to survive a round trip through
 * the encoder. The record is decoded twice over with an empty one between, so that gaps and
 * recycled buffers are walked too.
 */
#include <stdbool.h>
#include <string.h>

#include "decode/example_decoder.h"
#include "fuzz.h"

enum { PADDING = 64, COPIES = 3 };

/* A batch, or the error in its place. */
typedef struct result {
  cst_status status;
  cst_error error;
  struct ArrowSchema schema;
  struct ArrowArray array;
} result;

static result decode(const cst_bytes *items, size_t count, size_t padding, cst__loop_choice loop,
                     uint32_t flags) {
  result r = {.error = CST_ERROR_INIT};
  cst__example_decoder_options options = {.flags = flags, .loop = loop};
  cst_decoder *decoder;
  cst__records records = {.items = items, .count = count, .padding = padding};
  FUZZ_ASSERT(cst__example_decoder_new(NULL, &options, &decoder, NULL) == CST_OK);
  r.status = cst__decoder_decode(decoder, &records, &r.schema, &r.array, &r.error);
  if (r.status == CST_OK) {
    FUZZ_ASSERT(r.array.length == (int64_t)count);
  }
  cst_decoder_free(decoder);
  return r;
}

static void release(result *r) {
  if (r->status == CST_OK) {
    r->array.release(&r->array);
    r->schema.release(&r->schema);
  }
}

/* The batch as records again: one form for every batch, so bytes can be compared. */
static result encode(const result *batch) {
  result r = {.error = CST_ERROR_INIT};
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  cst_encoder *encoder;
  FUZZ_ASSERT(cst_encoder_new("example", &options, &encoder, NULL) == CST_OK);
  r.status =
      cst_encoder_encode(encoder, &batch->schema, &batch->array, &r.schema, &r.array, &r.error);
  FUZZ_ASSERT(r.status == CST_OK);
  cst_encoder_free(encoder);
  return r;
}

static cst_bytes item_at(const result *records, int64_t i) {
  const int64_t *offsets = records->array.buffers[1];
  const uint8_t *bytes = records->array.buffers[2];
  return (cst_bytes){bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
}

static void same_records(const result *a, const result *b) {
  FUZZ_ASSERT(a->array.length == b->array.length);
  for (int64_t i = 0; i < a->array.length; i++) {
    cst_bytes x = item_at(a, i);
    cst_bytes y = item_at(b, i);
    FUZZ_ASSERT(x.size == y.size && memcmp(x.data, y.data, x.size) == 0);
  }
}

static void same_result(const result *a, const result *b) {
  FUZZ_ASSERT(a->status == b->status);
  FUZZ_ASSERT(a->status == CST_OK || a->error.record == b->error.record);
  if (a->status == CST_OK) {
    result x = encode(a);
    result y = encode(b);
    same_records(&x, &y);
    release(&x);
    release(&y);
  }
}

/* Encoded and decoded again, a batch is what it was. */
static void round_trip(const result *batch) {
  result records = encode(batch);
  cst_bytes items[COPIES];
  for (int64_t i = 0; i < COPIES; i++) {
    items[i] = item_at(&records, i);
  }
  result again = decode(items, COPIES, 0, CST__LOOP_BEST, 0);
  FUZZ_ASSERT(again.status == CST_OK);
  FUZZ_ASSERT(again.array.n_children == batch->array.n_children);
  result more = encode(&again);
  same_records(&records, &more);
  release(&more);
  release(&again);
  release(&records);
}

/* What an error has to say, whatever the input. */
static void check_error(const result *r) {
  char text[512];
  FUZZ_ASSERT(r->error.code == r->status && r->error.message[0] != '\0');
  FUZZ_ASSERT(r->error.record == 0);
  FUZZ_ASSERT(cst_error_format(&r->error, text, sizeof text) <= 256);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t nothing;
  cst_bytes items[COPIES] = {
      {size > 0 ? data : &nothing, size}, {&nothing, 0}, {size > 0 ? data : &nothing, size}};
  result slow = decode(items, COPIES, 0, CST__LOOP_SLOW, 0);
  result best = decode(items, COPIES, 0, CST__LOOP_BEST, 0);
  same_result(&slow, &best);
  result base = decode(items, COPIES, 0, CST__LOOP_BASE, 0);
  same_result(&slow, &base);

  uint8_t *padded = malloc(size + PADDING);
  FUZZ_ASSERT(padded != NULL);
  if (size > 0) {
    memcpy(padded, data, size);
  }
  memset(padded + size, 0x0a, PADDING);
  items[0].data = padded;
  items[2].data = padded;
  result behind = decode(items, COPIES, PADDING, CST__LOOP_BEST, 0);
  same_result(&slow, &behind);
  result views = decode(items, COPIES, 0, CST__LOOP_BEST, CST_COLUMNS_BINARY_VIEWS);
  if (views.status != CST_UNSUPPORTED) {
    same_result(&slow, &views);
  }
  free(padded);
  if (slow.status == CST_OK) {
    round_trip(&slow);
  } else {
    check_error(&slow);
  }
  fuzz_outcome(slow.status == CST_OK ? "OK" : cst_status_name(slow.status));
  release(&slow);
  release(&best);
  release(&base);
  release(&behind);
  release(&views);
  return 0;
}
