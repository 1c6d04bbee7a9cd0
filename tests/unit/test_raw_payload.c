/* The payload "raw": records as they are, in every layout of the column. */
#include "format/payload/payload.h"
#include "source_support.h"

static int retained;

static void retain(void *owner) {
  (void)owner;
  retained++;
}
static void release(void *owner) {
  (void)owner;
  retained--;
}

static cst_status decode(const cst__records *records, uint32_t flags, bytes *text) {
  cst__payload_options options = {.column_flags = flags};
  cst__record_plan *plan;
  cst__record_decoder *decoder;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  CST__TRY(cst__record_plan_new(&cst__raw_payload, &options, &plan, NULL));
  cst_status status = cst__record_decoder_open(plan, &decoder, NULL);
  cst__record_plan_release(plan);
  CST__TRY(status);
  status = cst__record_decoder_decode(decoder, records, &schema, &batch, NULL);
  cst__record_decoder_close(decoder);
  if (status == CST_OK) {
    if (text != NULL) {
      text_of_batch(text, &schema, &batch);
    }
    schema.release(&schema);
    batch.release(&batch);
  }
  return status;
}

static const uint8_t first[] = "short, then one of more than twelve bytes";
static const uint8_t second[] = "a record of another block";

static cst__records make_records(cst_bytes items[4], cst__block_ref blocks[2]) {
  items[0] = (cst_bytes){first, 5};
  items[1] = (cst_bytes){first + 7, sizeof first - 8};
  items[2] = (cst_bytes){NULL, 0};
  items[3] = (cst_bytes){second, sizeof second - 1};
  blocks[0] = (cst__block_ref){first, sizeof first, (void *)(uintptr_t)first, retain, release};
  blocks[1] = (cst__block_ref){second, sizeof second, (void *)(uintptr_t)second, retain, release};
  return (cst__records){.items = items, .count = 4, .blocks = blocks, .num_blocks = 2};
}

TEST(the_same_records_in_every_layout) {
  static const char expected[] =
      "4 rows: record='short'; record='then one of more than twelve bytes'; record=''; "
      "record='a record of another block';\n";
  static const uint32_t flags[] = {0, CST_COLUMNS_OFFSETS_32, CST_COLUMNS_BINARY_VIEWS};
  for (size_t i = 0; i < 3; i++) {
    cst_bytes items[4];
    cst__block_ref blocks[2];
    cst__records records = make_records(items, blocks);
    bytes text = {0};
    CHECK_EQ(decode(&records, flags[i], &text), CST_OK);
    bytes_add(&text, "", 1);
    CHECK_STR((const char *)text.data, expected);
    CHECK_EQ(retained, 0);
    bytes_free(&text);
  }
}

TEST(no_records) {
  cst__records none = {.items = NULL};
  for (uint32_t flags = 0; flags < 3; flags++) {
    bytes text = {0};
    CHECK_EQ(decode(&none, flags, &text), CST_OK);
    bytes_add(&text, "", 1);
    CHECK_STR((const char *)text.data, "0 rows:\n");
    bytes_free(&text);
  }
}

static int decode_scenario(void *ctx) {
  cst_bytes items[4];
  cst__block_ref blocks[2];
  cst__records records = make_records(items, blocks);
  return (int)decode(&records, *(const uint32_t *)ctx, NULL);
}

TEST(every_allocation_failure_is_reported) {
  for (uint32_t flags = 0; flags < 3; flags++) {
    FOR_EACH_ALLOCATION_FAILURE(decode_scenario, &flags, CST_NO_MEMORY);
    CHECK_EQ(retained, 0);
  }
}
