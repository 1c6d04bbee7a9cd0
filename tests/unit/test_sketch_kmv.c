/* The k smallest hashes: fingerprints, texts of values, the same bytes in any order, tfx_bsl's
 * form. */
#include "sketch/kmv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fingerprint.h"
#include "harness.h"
#include "sketch/heavy_hitters.h"
#include "sketch/tfx_text.h"

/* What tfx_bsl 1.21 has for bytes i * 37 + 11: tests/peers/test_sketches_of_tfx_bsl.py compares. */
TEST(fingerprints_stay_as_they_are) {
  static const struct {
    size_t size;
    uint64_t expected;
  } known[] = {{0, UINT64_C(0x9ae16a3b2f90404f)},   {1, UINT64_C(0x4271b80e2915c76a)},
               {3, UINT64_C(0x373a2b2a12e0c581)},   {4, UINT64_C(0xcc1e778137ae6d69)},
               {7, UINT64_C(0x960838fbc6d9c975)},   {8, UINT64_C(0x7d507025ed4eecfd)},
               {16, UINT64_C(0xd836480326a974d6)},  {17, UINT64_C(0x5cded6cb65c9dac6)},
               {32, UINT64_C(0xa03300e1b2be6da7)},  {33, UINT64_C(0x839154ca67815696)},
               {64, UINT64_C(0x000f03eac52d3535)},  {65, UINT64_C(0xfb360c5023f60db6)},
               {128, UINT64_C(0x33ef435f17af1739)}, {129, UINT64_C(0xc30a81b637d2e4dd)},
               {299, UINT64_C(0xeef44ac2c9cd7ce7)}};
  uint8_t bytes[300];
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = (uint8_t)(i * 37 + 11);
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    CHECK(cst__fingerprint64(bytes, known[i].size) == known[i].expected);
  }
}

static void check_float_text(double value, const char *expected) {
  char room[CST__VALUE_TEXT_ROOM];
  cst__value_block one = {CST__FAMILY_FLOAT, 1, &value, NULL};
  cst_bytes text = cst__value_text(&one, 0, room);
  uint64_t bits;
  double again;
  CHECK_EQ(text.size, strlen(expected));
  CHECK_MEM(text.data, expected, text.size);
  CHECK(cst__value_of_text(CST__FAMILY_FLOAT, text, &bits));
  memcpy(&again, &bits, sizeof again);
  CHECK_DOUBLE(again, value);
  CHECK(signbit(again) == signbit(value) || isnan(value));
  for (size_t cut = 1; cut < text.size;
       cut++) { /* some beginnings are numbers, written otherwise */
    cst_bytes part = {text.data, text.size - cut};
    if (cst__value_of_text(CST__FAMILY_FLOAT, part, &bits)) {
      memcpy(&again, &bits, sizeof again);
      char other[CST__VALUE_TEXT_ROOM];
      cst__value_block block = {CST__FAMILY_FLOAT, 1, &again, NULL};
      CHECK_EQ(cst__value_text(&block, 0, other).size, part.size);
    }
  }
}

TEST(floats_as_text) {
  char printed[64];
  uint64_t state = 1;
  check_float_text(0, "0x0p+0");
  check_float_text(-0.0, "-0x0p+0");
  check_float_text(1.5, "0x1.8p+0");
  check_float_text(-3.14159, "-0x1.921f9f01b866ep+1");
  check_float_text(5e-324, "0x0.0000000000001p-1022");
  check_float_text(0x1p-1022, "0x1p-1022");
  check_float_text(0x1.8p-1023, "0x1.8p-1023"); /* glibc: 0x0.cp-1022 */
  check_float_text(0x1p-1024, "0x0.4p-1022");
  check_float_text((double)NAN, "nan");
  check_float_text(-(double)NAN, "-nan");
  check_float_text((double)INFINITY, "inf");
  check_float_text(-(double)INFINITY, "-inf");
  for (int i = 0; i < 2000; i++) { /* as the C library, whose locale is "C" here */
    double value;
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint64_t bits = state >> (i % 3 * 20) << (i % 5 * 8);
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value) && !(fabs(value) >= 0x1p-1023 && fabs(value) < 0x1p-1022)) {
      (void)snprintf(printed, sizeof printed, "%a", value);
      check_float_text(value, printed);
    }
  }
}

static void add_range(cst__kmv *kmv, int64_t begin, int64_t end, int64_t step) {
  for (int64_t i = begin; i != end; i += step) {
    cst__value_block one = {CST__FAMILY_INT, 1, &i, NULL};
    CHECK_EQ(cst__kmv_add(kmv, &one, NULL), CST_OK);
  }
}

static cst__text bytes_of(cst__kmv *kmv) {
  cst__text out = {0};
  cst__archive a = cst__archive_to(&out);
  cst__kmv_archive(kmv, &a);
  CHECK(!out.failed);
  return out;
}

TEST(the_order_does_not_matter) {
  static const int64_t counts[] = {0, 1, 2, 99, 100, 101, 199, 200, 201, 20000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    cst__kmv kmvs[4];
    cst__text first;
    for (size_t k = 0; k < 4; k++) {
      cst__kmv_init(&kmvs[k], 100, NULL);
    }
    add_range(&kmvs[0], 0, counts[i], 1);
    add_range(&kmvs[1], counts[i] - 1, -1, -1);
    add_range(&kmvs[2], 0, counts[i] / 2, 1);
    add_range(&kmvs[3], counts[i] / 3, counts[i], 1);
    CHECK_EQ(cst__kmv_merge(&kmvs[2], &kmvs[3], NULL), CST_OK);
    first = bytes_of(&kmvs[0]);
    cst__kmv_reset(&kmvs[3]);
    cst__archive load = cst__archive_from((const uint8_t *)first.data, first.size);
    cst__kmv_archive(&kmvs[3], &load);
    CHECK(!load.bad && load.at == load.end);
    for (size_t k = 1; k < 4; k++) {
      cst__text other = bytes_of(&kmvs[k]);
      double a;
      double b;
      CHECK_EQ(other.size, first.size);
      CHECK_MEM(other.data, first.data, first.size);
      CHECK_EQ(cst__kmv_estimate(&kmvs[0], &a, NULL), CST_OK);
      CHECK_EQ(cst__kmv_estimate(&kmvs[k], &b, NULL), CST_OK);
      CHECK_DOUBLE(a, b);
      CHECK(counts[i] >= 100 || a == (double)counts[i]);
      cst__text_free(&other);
    }
    CHECK(cst__kmv_memory(&kmvs[0]) <= sizeof(cst__kmv) + 100 * 64);
    for (size_t k = 0; k < 4; k++) {
      cst__kmv_reset(&kmvs[k]);
    }
    cst__text_free(&first);
  }
}

static cst_status status_of(const char *kind, const void *bytes, size_t size) {
  cst_sketch *sketch;
  cst_status status = cst_sketch_from_tfx_bsl(kind, bytes, size, NULL, &sketch, NULL);
  cst_sketch_free(sketch);
  return status;
}

#define KMV_LIMIT "\x19\xff\xff\xff\xff\xff\xff\xff\xff"
#define ONE_WEIGHT "\x1a\x08\0\0\0\0\0\0\xf0\x3f"

TEST(messages_that_tfx_bsl_never_writes_are_refused) {
  CHECK_EQ(status_of("kmv", "\x08\x05" KMV_LIMIT, 11), CST_OK);
  CHECK_EQ(status_of("kmv", "\x08\x05\x12\x08\1\0\0\0\0\0\0\0" KMV_LIMIT "\x20\3", 23), CST_OK);
  CHECK_EQ(status_of("kmv", "\x08\x05\x12\x07\1\0\0\0\0\0\0" KMV_LIMIT, 20), CST_CORRUPT);
  CHECK_EQ(status_of("kmv", "\x08\x05\x12\x10\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0" KMV_LIMIT, 29),
           CST_CORRUPT); /* twice */
  CHECK_EQ(status_of("kmv", "\x08\1\x12\x10\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0" KMV_LIMIT, 29),
           CST_CORRUPT); /* more than buckets */
  CHECK_EQ(status_of("kmv", "\x08\x05" KMV_LIMIT "\x20\4", 13), CST_CORRUPT);
  CHECK_EQ(status_of("kmv", "\x08", 1), CST_CORRUPT);
  CHECK_EQ(status_of("kmv", NULL, 0), CST_UNSUPPORTED); /* no buckets */
  CHECK_EQ(status_of("moments", NULL, 0), CST_INVALID_ARGUMENT);
  CHECK_EQ(status_of("heavy_hitters", "\x08\x05\x12\1a" ONE_WEIGHT "\x58\1", 17), CST_OK);
  CHECK_EQ(status_of("heavy_hitters", "\x08\x05\x12\1a" ONE_WEIGHT "\x58\2", 17), CST_CORRUPT);
  CHECK_EQ(status_of("heavy_hitters", "\x08\x05\x12\1a\x58\1", 7), CST_CORRUPT); /* no weight */
  CHECK_EQ(status_of("heavy_hitters", "\x08\x05\x12\1a\x1a\x08\0\0\0\0\0\0\xf0\xbf\x58\1", 17),
           CST_CORRUPT); /* -1 */
}

static int load_and_save(void *context) {
  (void)context;
  cst_sketch *sketch;
  char *bytes = NULL;
  size_t size;
  double found[3];
  cst_status status = cst_sketch_from_tfx_bsl(
      "kmv", "\x08\1\x12\x08\1\0\0\0\0\0\0\0\x19\1\0\0\0\0\0\0\0\x20\3", 23, NULL, &sketch, NULL);
  status = status != CST_OK ? status : cst_sketch_to_tfx_bsl(sketch, &bytes, &size, NULL);
  status = status != CST_OK ? status
                            : cst_sketch_distinct(sketch, 1, &found[0], &found[1], &found[2], NULL);
  cst_free(bytes);
  cst_sketch_free(sketch);
  if (status == CST_OK) {
    status = cst_sketch_from_tfx_bsl("heavy_hitters", "\x08\x05\x12\1a" ONE_WEIGHT "\x58\1", 17,
                                     NULL, &sketch, NULL);
    bytes = NULL;
    status = status != CST_OK ? status : cst_sketch_to_tfx_bsl(sketch, &bytes, &size, NULL);
    cst_free(bytes);
    cst_sketch_free(sketch);
  }
  return status;
}

TEST(failing_allocations_are_reported) {
  FOR_EACH_ALLOCATION_FAILURE(load_and_save, NULL, CST_NO_MEMORY);
}
