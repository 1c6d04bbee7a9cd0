/* Summaries: cuts within the error, levels, the same again from bytes and messages, what no one
 * writes. */
#include <columnstone/sketch.h>
#include <math.h>
#include <string.h>

#include "harness.h"
#include "sketch/quantile_summary/summary.h"

/* Every value from 0 to count - 1 once, in an order that is none. */
static void push_all(cst__summary_sketch *s, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    CHECK_EQ(cst__summary_push(s, (double)(i * UINT64_C(7919) % count), 1, NULL), CST_OK);
  }
}

static void check_cuts(const cst__summary_sketch *s, double error, uint64_t count) {
  enum { PARTS = 50 };
  double values[PARTS + 1];
  double upto[PARTS + 1];
  cst__summary all;
  CHECK_EQ(cst__summary_sketch_all(s, &all, NULL), CST_OK);
  CHECK(cst__summary_fits(&all));
  CHECK_DOUBLE(cst__summary_weight(&all), (double)count);
  cst__summary_cuts(&all, PARTS, values, upto);
  for (size_t i = 0; i <= PARTS; i++) {
    CHECK(fabs(values[i] - (double)(i * count) / PARTS) <= error * (double)count + 1);
    CHECK(fabs(upto[i] - (values[i] + 1)) <= error * (double)count + 1);
  }
  CHECK_DOUBLE(values[0], 0);
  CHECK_DOUBLE(values[PARTS], (double)count - 1);
  cst__summary_reset(&all);
}

TEST(cuts_are_within_the_error) {
  static const double errors[] = {0.3, 0.05, 0.004, 1e-6};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    cst__summary_sketch one;
    cst__summary_sketch other;
    cst__summary_sketch_init(&one, errors[i] / 3, 100000, NULL);
    cst__summary_sketch_init(&other, errors[i] / 3, 100000, NULL);
    push_all(&one, 40009);
    check_cuts(&one, errors[i], 40009);
    push_all(&other, 40009);
    CHECK_EQ(cst__summary_sketch_compact(&other, NULL), CST_OK);
    check_cuts(&other, errors[i], 40009);
    CHECK(other.num_levels == 1 && other.num_buffered == 0 && other.is_compact);
    CHECK_EQ(cst__summary_sketch_merge(&one, &other, NULL), CST_OK);
    CHECK(one.is_compact);
    CHECK_DOUBLE(one.weight, 2 * 40009.0);
    cst__summary_sketch_reset(&one);
    cst__summary_sketch_reset(&other);
  }
}

TEST(what_block_and_room_there_are) {
  static const struct {
    double eps;
    uint64_t most;
    size_t block, room;
  } known[] = {{0.1, 1, 2, 1},
               {0.1, 4, 2, 4},
               {0.1, 5, 11, 5},
               {0.1, 100, 21, 42},
               {2, UINT64_C(1) << 40, 2, 0},
               {1e-17, 1000, 1000, 1000}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    cst__summary_sketch s;
    cst__summary_sketch_init(&s, known[i].eps, known[i].most, NULL);
    if (known[i].room > 0) {
      CHECK_EQ(s.block, known[i].block);
      CHECK_EQ(s.room, known[i].room);
    }
    CHECK(s.block >= 2 && s.room >= 1 && s.room <= known[i].most);
  }
}

static cst_sketch *new_sketch(const char *error, const char *most) {
  const cst_option options[] = {{"error", error, NULL}, {"most", most, NULL}};
  cst_sketch *sketch;
  CHECK_EQ(cst_sketch_new("quantile_summary", options, 2, NULL, &sketch, NULL), CST_OK);
  return sketch;
}

TEST(questions_that_are_none) {
  double values[2];
  double upto[2];
  size_t num_streams;
  cst_sketch *other;
  cst_sketch *sketch = new_sketch("0.5", "10");
  CHECK_EQ(cst_sketch_cuts(sketch, 1, values, upto, NULL), CST_OK);
  CHECK(isnan(values[0]) && isnan(values[1]) && upto[0] == 0 && upto[1] == 0);
  CHECK_EQ(cst_sketch_cuts(sketch, 0, values, upto, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_sketch_cuts(NULL, 1, values, upto, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_sketch_cuts(sketch, 1, NULL, upto, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_sketch_compact(NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_sketch_from_tfx_bsl_stream((cst_bytes){(const uint8_t *)"", 0}, 0, NULL, &other,
                                          &num_streams, NULL),
           CST_OK);
  CHECK(other == NULL && num_streams == 0);
  CHECK_EQ(
      cst_sketch_from_tfx_bsl_stream((cst_bytes){NULL, 0}, 0, NULL, &other, &num_streams, NULL),
      CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_sketch_new("kmv", NULL, 0, NULL, &other, NULL), CST_OK);
  CHECK_EQ(cst_sketch_cuts(other, 1, values, upto, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_sketch_compact(other, NULL), CST_INVALID_ARGUMENT);
  cst_sketch_free(other);
  cst_sketch_free(sketch);
}

/* eps 0.5, 4 values; one summary of 1.0 with the weight 1 and the ranks 0 and 1, and what comes
 * after it in the message. */
#define EPS "\x19\0\0\0\0\0\0\xe0\x3f"
#define ONE "\0\0\0\0\0\0\xf0\x3f"
#define ZERO "\0\0\0\0\0\0\0\0"
#define SUMMARY "\x0a\x24\x09" ONE "\x11" ONE "\x19" ZERO "\x21" ONE

static cst_status status_of(const char *stream, size_t size) {
  char message[128] = {'\n', (char)size};
  cst_sketch *sketch;
  size_t num_streams;
  memcpy(message + 2, stream, size);
  cst_status status = cst_sketch_from_tfx_bsl_stream(
      (cst_bytes){(const uint8_t *)message, size + 2}, 0, NULL, &sketch, &num_streams, NULL);
  cst_sketch_free(sketch);
  return status;
}
#define STATUS(stream) status_of(stream, sizeof(stream) - 1)

TEST(messages_that_tfx_bsl_never_writes_are_refused) {
  CHECK_EQ(STATUS(EPS "\x20\4"), CST_OK);
  CHECK_EQ(STATUS(SUMMARY "\x0a\0\x12\0" EPS "\x20\4"), CST_OK);
  CHECK_EQ(STATUS(SUMMARY "\x12\0" EPS "\x20\4"), CST_OK); /* the last one has something */
  CHECK_EQ(STATUS(EPS), CST_CORRUPT);
  CHECK_EQ(STATUS(EPS "\x20\0"), CST_CORRUPT);
  CHECK_EQ(STATUS("\x20\4"), CST_CORRUPT);
  CHECK_EQ(STATUS("\x19\0\0\0\0\0\0\xf0\x7f\x20\4"), CST_CORRUPT); /* eps is infinite */
  CHECK_EQ(STATUS("\x0a\x09\x09" ONE EPS "\x20\4"), CST_CORRUPT);  /* no weight */
  CHECK_EQ(STATUS("\x12\x09\x09" ONE EPS "\x20\4"), CST_CORRUPT);
  CHECK_EQ(STATUS("\x12\x12\x09" ONE "\x11" ZERO EPS "\x20\4"), CST_CORRUPT); /* of weight 0 */
  CHECK_EQ(STATUS("\x12\x12\x09" ONE "\x11" ONE EPS "\x20\4"), CST_OK);
  CHECK_EQ(STATUS("\x0a\x48\x09" ONE "\x09" ONE "\x11" ONE "\x11" ONE "\x19" ZERO "\x19" ZERO
                  "\x21" ONE "\x21" ONE "\x0a\0" EPS "\x20\4"),
           CST_CORRUPT); /* values that do not rise */
}

static int use_all(void *context) {
  (void)context;
  cst__summary_sketch s[2];
  cst__summary all = {NULL, 0};
  cst_status status = CST_OK;
  for (size_t k = 0; k < 2; k++) {
    cst__summary_sketch_init(&s[k], 0.3, 20, NULL);
    for (int i = 0; i < 90 && status == CST_OK; i++) {
      status = cst__summary_push(&s[k], i * 37 % 90, 1, NULL);
    }
  }
  status = status != CST_OK ? status : cst__summary_sketch_merge(&s[0], &s[1], NULL);
  status = status != CST_OK ? status : cst__summary_sketch_all(&s[0], &all, NULL);
  status = status != CST_OK ? status : cst__summary_sketch_compact(&s[0], NULL);
  cst__summary_reset(&all);
  cst__summary_sketch_reset(&s[0]);
  cst__summary_sketch_reset(&s[1]);
  return (int)status;
}

static int load_and_save(void *context) {
  (void)context;
  static const char message[] = "\x0a\x47" SUMMARY "\x0a\0\x12\x12\x09" ONE "\x11" ONE EPS "\x20\4";
  const cst_bytes bytes_of_message = {(const uint8_t *)message, sizeof message - 1};
  cst_sketch *sketch;
  cst_sketch *loaded = NULL;
  char *bytes = NULL;
  size_t size;
  size_t num_streams;
  cst_status status =
      cst_sketch_from_tfx_bsl_stream(bytes_of_message, 0, NULL, &sketch, &num_streams, NULL);
  status = status != CST_OK ? status : cst_sketch_to_bytes(sketch, &bytes, &size, NULL);
  status = status != CST_OK ? status : cst_sketch_from_bytes(bytes, size, NULL, &loaded, NULL);
  status = status != CST_OK
               ? status
               : cst_sketch_add_tfx_bsl_stream(loaded, bytes_of_message, 0, &num_streams, NULL);
  cst_free(bytes);
  cst_sketch_free(loaded);
  cst_sketch_free(sketch);
  return (int)status;
}

TEST(failing_allocations_are_reported) {
  FOR_EACH_ALLOCATION_FAILURE(use_all, NULL, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(load_and_save, NULL, CST_NO_MEMORY);
}
