/* Misra and Gries's counters: against a plain table, in any order of what is dropped; saved forms,
 * messages, failing allocations. */
#include "sketch/misra_gries/misra_gries.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static cst__misra new_misra(size_t buckets) {
  cst__misra misra;
  cst__misra_options options = {.buckets = buckets};
  cst__misra_init(&misra, &options, NULL);
  return misra;
}

static uint64_t next(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t x = *state;
  x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  return x ^ (x >> 32);
}

/* ---- the same as plain counters ---- */

enum { KINDS = 400, COUNT = 4000 };

typedef struct plain {
  double weights[KINDS]; /* -1: none */
  size_t count;
  double delta;
} plain;

static void plain_add(plain *p, size_t buckets, size_t item, double weight, bool is_weighted) {
  p->count += p->weights[item] < 0;
  p->weights[item] = p->weights[item] < 0 ? weight : p->weights[item] + weight;
  if (p->count <= buckets) {
    return;
  }
  double least = is_weighted ? HUGE_VAL : 1;
  for (size_t i = 0; is_weighted && i < KINDS; i++) {
    least = p->weights[i] >= 0 && p->weights[i] < least ? p->weights[i] : least;
  }
  p->delta += least;
  for (size_t i = 0; i < KINDS; i++) {
    if (p->weights[i] >= 0) {
      p->weights[i] -= least;
      if (p->weights[i] < 1e-8) {
        p->weights[i] = -1;
        p->count--;
      }
    }
  }
}

/* Items are texts of 1 to 30 bytes. */
static cst_bytes text_of(size_t item, char room[40]) {
  int size = snprintf(room, 40, "%0*zu", (int)(item % 28) + 3, item);
  return (cst_bytes){(const uint8_t *)room, (size_t)size};
}

static void check_like(const cst__misra *misra, const plain *p) {
  cst__heavy_item *items;
  size_t count;
  CHECK_EQ(misra->items.count, p->count);
  CHECK_DOUBLE(misra->delta, p->delta);
  CHECK_EQ(cst__misra_items(misra, &items, &count, NULL), CST_OK);
  CHECK(p->count <= count && count <= misra->options.buckets);
  for (size_t i = 0; i < count; i++) {
    char text[40] = {0};
    memcpy(text, items[i].bytes.data, items[i].bytes.size);
    const size_t item = (size_t)strtoul(text, NULL, 10);
    CHECK_DOUBLE(items[i].lower, i < p->count ? p->weights[item] : 0);
    CHECK_DOUBLE(items[i].upper, items[i].lower + p->delta);
    CHECK(i == 0 || items[i - 1].upper >= items[i].upper);
  }
  cst__delete(items);
}

TEST(counters_are_those_of_a_plain_table) {
  static const size_t sizes[] = {0, 1, 2, 7, 50, 200, 1000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    for (uint64_t seed = 0; seed < 4; seed++) {
      cst__misra misra = new_misra(sizes[s]);
      plain p = {.count = 0};
      uint64_t state = seed;
      for (size_t i = 0; i < KINDS; i++) {
        p.weights[i] = -1;
      }
      for (size_t i = 0; i < COUNT; i++) {
        const bool is_weighted = seed % 2 == 1 && next(&state) % 4 != 0;
        const size_t item =
            (size_t)(KINDS / (1 + next(&state) % KINDS) + next(&state) % 20) % KINDS;
        const double weight = is_weighted ? (double)(next(&state) % 64) / 8 : 1;
        char room[40];
        const cst_bytes text = text_of(item, room);
        const cst__value_block one = {CST__FAMILY_BYTES, 1, &text, is_weighted ? &weight : NULL};
        CHECK_EQ(cst__misra_add(&misra, &one, NULL), CST_OK);
        plain_add(&p, sizes[s], item, weight, is_weighted);
      }
      check_like(&misra, &p);
      cst__misra_reset(&misra);
    }
  }
}

/* ---- texts ---- */

static void check_six_digits(double value, const char *expected) {
  cst__misra misra = new_misra(1);
  const cst__value_block one = {CST__FAMILY_FLOAT, 1, &value, NULL};
  cst__heavy_item *items;
  size_t count;
  CHECK_EQ(cst__misra_add(&misra, &one, NULL), CST_OK);
  CHECK_EQ(cst__misra_items(&misra, &items, &count, NULL), CST_OK);
  CHECK_EQ(count, 1);
  CHECK_EQ(items[0].bytes.size, strlen(expected));
  CHECK_MEM(items[0].bytes.data, expected, strlen(expected));
  cst__delete(items);
  cst__misra_reset(&misra);
}

TEST(floats_have_six_digits) {
  static const double values[] = {1,      0.1,       123456.5, 1234567.5, 1e-5,    1e-4,  1e22,
                                  -2.5,   999999.5,  9.999995, 5e-324,    -1e-300, 0.03,  1e5,
                                  100010, 1.0000005, 7e15,     DBL_MAX,   12.5,    -1e-5, 1e-10};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char expected[32];
    snprintf(expected, sizeof expected, "%.6g", values[i]);
    check_six_digits(values[i], expected);
  }
  check_six_digits(0.0, "0");
  check_six_digits(-0.0, "-0");
  check_six_digits((double)NAN, "nan");
  check_six_digits(-(double)NAN, "nan");
  check_six_digits((double)INFINITY, "inf");
  check_six_digits(-(double)INFINITY, "-inf");
}

/* ---- messages ---- */

#define ONE_WEIGHT "\x1a\x08\0\0\0\0\0\0\xf0\x3f"
#define NO_THRESHOLD "\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"

static cst_status status_of(const void *bytes, size_t size) {
  cst_sketch *sketch;
  cst_status status = cst_sketch_from_tfx_bsl("misra_gries", bytes, size, NULL, &sketch, NULL);
  cst_sketch_free(sketch);
  return status;
}

TEST(messages) {
  CHECK_EQ(status_of(NULL, 0), CST_OK);
  CHECK_EQ(status_of("\x08\x05\x12\1a" ONE_WEIGHT "\x58\1", 17), CST_OK);
  CHECK_EQ(status_of("\x08\x05\x12\1a" ONE_WEIGHT "\x58\2", 17), CST_CORRUPT); /* no float */
  CHECK_EQ(status_of("\x08\x05\x12\1a" ONE_WEIGHT "\x58\3", 17), CST_CORRUPT);
  CHECK_EQ(status_of("\x08\x05\x12\1"
                     "7" ONE_WEIGHT "\x58\3",
                     17),
           CST_OK);
  CHECK_EQ(status_of("\x08\x05\x12\2"
                     "07" ONE_WEIGHT "\x58\3",
                     18),
           CST_CORRUPT);
  CHECK_EQ(status_of("\x08\x05\x12\1a\x58\1", 7), CST_CORRUPT);        /* no weight */
  CHECK_EQ(status_of("\x12\1a" ONE_WEIGHT "\x58\1", 15), CST_CORRUPT); /* no bucket for it */
  CHECK_EQ(status_of("\x08\x05\x28\1\x32\1\xff", 7), CST_CORRUPT);     /* no UTF-8 */
  CHECK_EQ(status_of("\x08\x05\x28\1\x32\1\0", 7), CST_UNSUPPORTED);
  CHECK_EQ(status_of("\x08\x05\x58\4", 4), CST_CORRUPT);
}

/* All that a message says comes back. */
TEST(messages_are_written_as_they_were) {
  static const char message[] =
      "\x08\x05\x12\1a\x12\x0f"
      "more than eight"
      "\x1a\x10\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40"
      "\x21\0\0\0\0\0\0\xf0\x3f\x28\1\x32\1?\x38\x07\x42\1!\x4a\1x\x4a\0\x58\1\x60\2";
  cst_sketch *sketch;
  char *bytes;
  char *saved;
  size_t size;
  size_t saved_size;
  CHECK_EQ(cst_sketch_from_tfx_bsl("misra_gries", message, sizeof message - 1, NULL, &sketch, NULL),
           CST_OK);
  CHECK_EQ(cst_sketch_to_bytes(sketch, &saved, &saved_size, NULL), CST_OK);
  cst_sketch_free(sketch);
  CHECK_EQ(cst_sketch_from_bytes(saved, saved_size, NULL, &sketch, NULL), CST_OK);
  CHECK_EQ(cst_sketch_to_tfx_bsl(sketch, &bytes, &size, NULL), CST_OK);
  CHECK_EQ(size, sizeof message - 1);
  CHECK_MEM(bytes, message, sizeof message - 1);
  cst_free(bytes);
  cst_free(saved);
  cst_sketch_free(sketch);
}

static int load_merge_and_save(void *context) {
  static const char message[] = "\x08\x01\x12\x0f"
                                "more than eight" ONE_WEIGHT "\x4a\x0a"
                                "0123456789"
                                "\x58\1" NO_THRESHOLD;
  (void)context;
  cst_sketch *sketch = NULL;
  cst_sketch *other = NULL;
  char *bytes = NULL;
  size_t size;
  struct ArrowSchema schema = {.release = NULL};
  struct ArrowArray array = {.release = NULL};
  cst_status status =
      cst_sketch_from_tfx_bsl("misra_gries", message, sizeof message - 1, NULL, &sketch, NULL);
  status = status != CST_OK ? status
                            : cst_sketch_from_tfx_bsl(
                                  "misra_gries", "\x08\x01\x12\1a" ONE_WEIGHT "\x58\1" NO_THRESHOLD,
                                  28, NULL, &other, NULL);
  status = status != CST_OK ? status : cst_sketch_merge(sketch, other, NULL);
  status = status != CST_OK ? status : cst_sketch_top(sketch, 10, &schema, &array, NULL);
  status = status != CST_OK ? status : cst_sketch_to_tfx_bsl(sketch, &bytes, &size, NULL);
  if (array.release != NULL) {
    array.release(&array);
    schema.release(&schema);
  }
  cst_free(bytes);
  cst_sketch_free(sketch);
  cst_sketch_free(other);
  return status;
}

TEST(failing_allocations_are_reported) {
  FOR_EACH_ALLOCATION_FAILURE(load_merge_and_save, NULL, CST_NO_MEMORY);
}
