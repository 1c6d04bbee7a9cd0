/* One record through the decoder of tf.SequenceExample: the fast loops and the slow way have to
 * agree, with padding behind the record and without, and what was decoded has to be inferred into a
 * schema that decodes it again, and to survive a round trip through the encoder. The record is
 * decoded twice over with an empty one between, so that gaps and recycled buffers are walked too.
 */
#include <stdbool.h>
#include <string.h>

#include "arrow/view.h"
#include "decode/sequence_decoder.h"
#include "fuzz.h"
#include "schema/inference.h"

enum { PADDING = 64, COPIES = 3 };

/* A batch, or the error in its place. */
typedef struct result {
  cst_status status;
  cst_error error;
  struct ArrowSchema schema;
  struct ArrowArray array;
} result;

static result decode(const cst_schema *schema, const cst_bytes *items, size_t padding,
                     cst__loop_choice loop, uint32_t flags) {
  result r = {.error = CST_ERROR_INIT};
  cst__sequence_decoder_options options = {.flags = flags, .loop = loop};
  cst_decoder *decoder;
  cst__records records = {.items = items, .count = COPIES, .padding = padding};
  r.status = cst__sequence_decoder_new(schema, &options, &decoder, &r.error);
  if (r.status != CST_OK) {
    /* A feature of the context that has the column's name, in records without feature lists. */
    FUZZ_ASSERT(schema != NULL && strcmp(r.error.path, CST_SEQUENCE_COLUMN) == 0);
    return r;
  }
  r.status = cst__decoder_decode(decoder, &records, &r.schema, &r.array, &r.error);
  if (r.status == CST_OK) {
    FUZZ_ASSERT(r.array.length == COPIES);
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

/* ---- two batches, slot by slot ---- */

static void same_slots(const cst__view *a, const cst__view *b, bool by_name);

static void same_slot(const cst__view *a, int64_t i, const cst__view *b, int64_t k) {
  FUZZ_ASSERT(cst__view_is_null(a, i) == cst__view_is_null(b, k));
  if (cst__view_is_null(a, i)) {
    return;
  }
  if (cst__view_is_list(a)) {
    int64_t from, to, other, end;
    FUZZ_ASSERT(cst__view_is_list(b));
    cst__view_list(a, i, &from, &to);
    cst__view_list(b, k, &other, &end);
    FUZZ_ASSERT(to - from == end - other);
    for (; from < to; from++, other++) {
      same_slot(&a->children[0], from, &b->children[0], other);
    }
  } else if (a->dtype == CST_DTYPE_BYTES) {
    cst_bytes x = cst__view_bytes(a, i);
    cst_bytes y = cst__view_bytes(b, k);
    FUZZ_ASSERT(x.size == y.size && (x.size == 0 || memcmp(x.data, y.data, x.size) == 0));
  } else {
    size_t width = a->dtype == CST_DTYPE_FLOAT32 ? 4 : 8;
    FUZZ_ASSERT(a->dtype == b->dtype);
    FUZZ_ASSERT(memcmp((const char *)a->data + (size_t)(a->offset + i) * width,
                       (const char *)b->data + (size_t)(b->offset + k) * width, width) == 0);
  }
}

/* Structs child by child, all else slot by slot. */
static void same_slots(const cst__view *a, const cst__view *b, bool by_name) {
  FUZZ_ASSERT(a->length == b->length && strcmp(a->name, b->name) == 0);
  if (a->layout != CST__LAYOUT_STRUCT) {
    for (int64_t i = 0; i < a->length; i++) {
      same_slot(a, i, b, i);
    }
    return;
  }
  FUZZ_ASSERT(b->layout == CST__LAYOUT_STRUCT && b->num_children <= a->num_children);
  for (int64_t i = 0; i < a->num_children; i++) {
    int64_t k = i;
    if (by_name) {
      for (k = 0; k < b->num_children; k++) {
        if (strcmp(a->children[i].name, b->children[k].name) == 0) {
          break;
        }
      }
    }
    if (k < b->num_children) {
      same_slots(&a->children[i], &b->children[k], by_name);
    } else { /* a column of lists without children, which a schema cannot ask for */
      FUZZ_ASSERT(a->children[i].num_children == 0);
    }
  }
}

/* by_name: the other one is by a schema that inference made, in which columns may stand elsewhere.
 */
static void same_batch(const result *a, const result *b, bool by_name) {
  cst__arena arena;
  cst__view x, y;
  cst__arena_init(&arena, NULL);
  FUZZ_ASSERT(cst__view_init(&x, &a->schema, &a->array, false, &arena, NULL) == CST_OK);
  FUZZ_ASSERT(cst__view_init(&y, &b->schema, &b->array, false, &arena, NULL) == CST_OK);
  same_slots(&x, &y, by_name);
  cst__arena_reset(&arena);
}

static void same_result(const result *a, const result *b) {
  FUZZ_ASSERT(a->status == b->status);
  if (a->status == CST_OK) {
    FUZZ_ASSERT(a->array.n_children == b->array.n_children);
    same_batch(a, b, false);
  } else {
    FUZZ_ASSERT(a->error.record == b->error.record && strcmp(a->error.path, b->error.path) == 0);
  }
}

/* ---- what follows from a batch ---- */

/* Decoded with the schema that is inferred from it, a batch is what it was. */
static void infer(const result *batch, const cst_bytes *items) {
  void *inferrer;
  cst_schema *schema;
  FUZZ_ASSERT(cst__inference_accumulator.create(NULL, NULL, &inferrer, NULL) == CST_OK);
  FUZZ_ASSERT(cst__accumulator_add(&cst__inference_accumulator, inferrer, &batch->schema,
                                   &batch->array, NULL, NULL) == CST_OK);
  FUZZ_ASSERT(cst__inference_accumulator.finish_schema(inferrer, &schema, NULL) == CST_OK);
  cst__inference_accumulator.free(inferrer);
  result again = decode(schema, items, 0, CST__LOOP_BEST, CST_COLUMNS_OFFSETS_32);
  cst_schema_release(schema);
  if (again.status == CST_OK) {
    same_batch(batch, &again, true);
    release(&again);
  } else {
    FUZZ_ASSERT(strcmp(again.error.path, CST_SEQUENCE_COLUMN) == 0);
  }
}

/* Encoded and decoded again, a batch is what it was. */
static void round_trip(const result *batch) {
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  cst_encoder *encoder;
  result records = {.error = CST_ERROR_INIT};
  FUZZ_ASSERT(cst_encoder_new("sequence_example", &options, &encoder, NULL) == CST_OK);
  records.status = cst_encoder_encode(encoder, &batch->schema, &batch->array, &records.schema,
                                      &records.array, &records.error);
  cst_encoder_free(encoder);
  if (records.status != CST_OK) {
    FUZZ_ASSERT(strcmp(records.error.path, CST_SEQUENCE_COLUMN) == 0);
    return;
  }
  const int64_t *offsets = records.array.buffers[1];
  const uint8_t *bytes = records.array.buffers[2];
  cst_bytes items[COPIES];
  for (int64_t i = 0; i < COPIES; i++) {
    items[i] = (cst_bytes){bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
  }
  result again = decode(NULL, items, 0, CST__LOOP_BEST, 0);
  FUZZ_ASSERT(again.status == CST_OK);
  same_batch(batch, &again, true);
  release(&again);
  release(&records);
}

/* What an error has to say, whatever the input. */
static void check_error(const result *r) {
  char text[512];
  FUZZ_ASSERT(r->error.code == r->status && r->error.message[0] != '\0');
  FUZZ_ASSERT(r->error.record == 0 || (r->status == CST_UNSUPPORTED && r->error.record == -1));
  FUZZ_ASSERT(cst_error_format(&r->error, text, sizeof text) <= 512);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const uint8_t nothing;
  const uint8_t *begin = size > 0 ? data : &nothing;
  cst_bytes items[COPIES] = {{begin, size}, {&nothing, 0}, {begin, size}};
  result slow = decode(NULL, items, 0, CST__LOOP_SLOW, 0);
  result best = decode(NULL, items, 0, CST__LOOP_BEST, 0);
  same_result(&slow, &best);
  result base = decode(NULL, items, 0, CST__LOOP_BASE, 0);
  same_result(&slow, &base);

  uint8_t *padded = malloc(size + PADDING);
  FUZZ_ASSERT(padded != NULL);
  memcpy(padded, begin, size);
  memset(padded + size, 0x0a, PADDING);
  cst_bytes behind[COPIES] = {{padded, size}, {&nothing, 0}, {padded, size}};
  /* The empty record has no padding of its own: it lies in front of the other's. */
  behind[1].data = padded + size;
  result more = decode(NULL, behind, PADDING / 2, CST__LOOP_BEST, 0);
  same_result(&slow, &more);
  result views = decode(NULL, items, 0, CST__LOOP_BEST, CST_COLUMNS_BINARY_VIEWS);
  if (views.status != CST_UNSUPPORTED) {
    same_result(&slow, &views);
  }
  free(padded);
  if (slow.status == CST_OK) {
    infer(&slow, items);
    round_trip(&slow);
  } else {
    check_error(&slow);
  }
  fuzz_outcome(slow.status == CST_OK ? "OK" : cst_status_name(slow.status));
  release(&slow);
  release(&best);
  release(&base);
  release(&more);
  release(&views);
  return 0;
}
