/* Quantiles as tfx_bsl saves them: written and read again, bytes that are none, lack of memory.
 * What tfx_bsl itself reads and writes is in tests/peers/test_sketch_quantiles.py. */
#include <columnstone/sketch.h>
#include <string.h>

#include "arrow_text.h"
#include "harness.h"

static cst_sketch *sketch_of(const char *values, const char *weights) {
  cst_sketch *made;
  struct ArrowSchema schema, weights_schema;
  struct ArrowArray array, weights_array;
  arrow_text("float64", values, &schema, &array);
  arrow_text("float64", weights, &weights_schema, &weights_array);
  CHECK_EQ(cst_sketch_new("quantiles", NULL, 0, NULL, &made, NULL), CST_OK);
  CHECK_EQ(cst_sketch_add(made, &schema, &array, &weights_schema, &weights_array, NULL), CST_OK);
  array.release(&array);
  schema.release(&schema);
  weights_array.release(&weights_array);
  weights_schema.release(&weights_schema);
  return made;
}

static cst_status read_again(const char *bytes, size_t size, size_t stream, size_t *num_streams,
                             double ranks[3]) {
  const double at[] = {1, 2, 3};
  cst_sketch *read;
  cst_status status = cst_sketch_new("quantiles", NULL, 0, NULL, &read, NULL);
  if (status == CST_OK) {
    status = cst_sketch_add_tfx_bsl_stream(read, (cst_bytes){(const uint8_t *)bytes, size}, stream,
                                           num_streams, NULL);
  }
  if (status == CST_OK) {
    status = cst_sketch_ranks(read, at, 3, true, ranks, NULL);
  }
  cst_sketch_free(read);
  return status;
}

static int write_and_read(void *context) {
  cst_sketch *const *sketches = context;
  double ranks[3];
  size_t size, num_streams;
  char *bytes;
  cst_status status =
      cst_sketch_to_tfx_bsl_streams((const cst_sketch *const *)sketches, 2, &bytes, &size, NULL);
  if (status == CST_OK) {
    status = read_again(bytes, size, 1, &num_streams, ranks);
  }
  if (status == CST_OK) {
    CHECK_EQ(num_streams, 2);
    CHECK_DOUBLE(ranks[0], 0.25);
    CHECK_DOUBLE(ranks[1], 0.5);
    CHECK_DOUBLE(ranks[2], 1);
  }
  cst_free(bytes);
  return (int)status;
}

TEST(what_is_written_is_read) {
  cst_sketch *sketches[] = {sketch_of("5", "1"), sketch_of("3 1 2", "2 1 1")};
  FOR_EACH_ALLOCATION_FAILURE(write_and_read, sketches, CST_NO_MEMORY);
  cst_sketch_free(sketches[0]);
  cst_sketch_free(sketches[1]);
}

/* A stream with a summary of one value, and these bytes for its ranks. */
static cst_status read_ranks(const char *weight, const char *min_rank, const char *max_rank) {
  uint8_t bytes[44] = {0x0a, 42, 0x0a, 40};
  const char *columns[] = {"\0\0\0\0\0\0\xf0\x3f", weight, min_rank, max_rank};
  for (size_t i = 0; i < 4; i++) {
    bytes[4 + 10 * i] = (uint8_t)((i + 1) << 3 | 2);
    bytes[5 + 10 * i] = 8;
    memcpy(bytes + 6 + 10 * i, columns[i], 8);
  }
  double ranks[3];
  size_t num_streams;
  return read_again((const char *)bytes, sizeof bytes, 0, &num_streams, ranks);
}

TEST(what_is_read_has_ranks) {
  const char *zero = "\0\0\0\0\0\0\0\0";
  const char *one = "\0\0\0\0\0\0\xf0\x3f";
  CHECK_EQ(read_ranks(one, zero, one), CST_OK);
  CHECK_EQ(read_ranks("\0\0\0\0\0\0\xf0\xbf", zero, one), CST_CORRUPT); /* -1 */
  CHECK_EQ(read_ranks(one, zero, "\0\0\0\0\0\0\xf0\x7f"), CST_CORRUPT); /* infinity */
  CHECK_EQ(read_ranks(one, "\0\0\0\0\0\0\xf8\x7f", one), CST_CORRUPT);  /* NaN */
}

static void check_bytes(const char *bytes, size_t size, cst_status status, size_t num_streams) {
  double ranks[3];
  size_t found;
  CHECK_EQ(read_again(bytes, size, 0, &found, ranks), status);
  CHECK_EQ(found, num_streams);
}

TEST(other_bytes) {
  check_bytes("", 0, CST_OK, 0);
  check_bytes("\x0a\x00\x0a\x00", 4, CST_OK, 2);
  check_bytes("\x0a\x02\x0a\x00", 4, CST_OK, 1);
  check_bytes("\x0a\x04\x12\x02\x0a\x00", 6, CST_OK, 1);
  check_bytes("\x0a\x05", 2, CST_CORRUPT, 0);                  /* a length past the end */
  check_bytes("\x0a\x02\x08\x01", 4, CST_CORRUPT, 0);          /* a summary that is a number */
  check_bytes("\x0a\x05\x12\x03\x0a\x01z", 7, CST_CORRUPT, 0); /* a double of one byte */
  check_bytes("\x0a\x0c\x12\x0a\x0a\x08zzzzzzzz", 14, CST_CORRUPT, 0); /* without a weight */
}

TEST(other_kinds) {
  cst_sketch *moments;
  size_t num_streams;
  char *bytes;
  size_t size;
  CHECK_EQ(cst_sketch_new("moments", NULL, 0, NULL, &moments, NULL), CST_OK);
  CHECK_EQ(cst_sketch_add_tfx_bsl_stream(moments, (cst_bytes){(const uint8_t *)"", 0}, 0,
                                         &num_streams, NULL),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(
      cst_sketch_to_tfx_bsl_streams((const cst_sketch *const[]){moments}, 1, &bytes, &size, NULL),
      CST_INVALID_ARGUMENT);
  CHECK(bytes == NULL);
  cst_sketch_free(moments);
}
