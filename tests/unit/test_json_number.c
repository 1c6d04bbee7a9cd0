/* Numbers as JSON: exact integers, floats with the fewest digits that read back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/json/text.h"
#include "harness.h"

static cst__json_text fresh(void) { return (cst__json_text){.allocator = cst__default_allocator}; }

static void finish(cst__json_text *text, char out[64]) {
  CHECK(!text->failed);
  CHECK(text->size < 64);
  memcpy(out, text->data, text->size);
  out[text->size] = '\0';
  cst__json_reset(text);
}

static const char *of_float(float value) {
  static char out[64];
  cst__json_text text = fresh();
  cst__json_float32(&text, value);
  finish(&text, out);
  return out;
}

static const char *of_double(double value) {
  static char out[64];
  cst__json_text text = fresh();
  cst__json_float64(&text, value);
  finish(&text, out);
  return out;
}

static const char *of_int(int64_t value) {
  static char out[64];
  cst__json_text text = fresh();
  cst__json_int64(&text, value);
  finish(&text, out);
  return out;
}

TEST(integers) {
  CHECK_STR(of_int(0), "0");
  CHECK_STR(of_int(-7), "-7");
  CHECK_STR(of_int(INT64_MAX), "9223372036854775807");
  CHECK_STR(of_int(INT64_MIN), "-9223372036854775808");
  char out[64];
  cst__json_text text = fresh();
  cst__json_uint64(&text, UINT64_MAX);
  finish(&text, out);
  CHECK_STR(out, "18446744073709551615");
}

TEST(floats) {
  CHECK_STR(of_float(0.0f), "0.0");
  CHECK_STR(of_float(-0.0f), "-0.0");
  CHECK_STR(of_float(1.0f), "1.0");
  CHECK_STR(of_float(0.1f), "0.1");
  CHECK_STR(of_float(-12.45f), "-12.45");
  CHECK_STR(of_float(16777216.0f), "16777216.0");
  CHECK_STR(of_float(1e10f), "10000000000.0");
  CHECK_STR(of_float(1e-5f), "0.00001");
  CHECK_STR(of_float(1e-6f), "1e-6");
  CHECK_STR(of_float(235000992.0f), "235001000.0"); /* in the middle, and exactly so */
  CHECK_STR(of_float(0.00012f), "0.00012");
  CHECK_STR(of_float(3.4028235e38f), "3.4028235e38");
  CHECK_STR(of_float(1.17549435e-38f), "1.1754944e-38");
  CHECK_STR(of_float(1.4e-45f), "1e-45");
  CHECK_STR(of_float(NAN), "\"NaN\"");
  CHECK_STR(of_float(INFINITY), "\"Infinity\"");
  CHECK_STR(of_float(-INFINITY), "\"-Infinity\"");
}

TEST(doubles) {
  CHECK_STR(of_double(0.1), "0.1");
  CHECK_STR(of_double(1.0 / 3), "0.3333333333333333");
  CHECK_STR(of_double(5e-324), "5e-324");
  CHECK_STR(of_double(1.7976931348623157e308), "1.7976931348623157e308");
  CHECK_STR(of_double(9007199254740993.0), "9007199254740992.0");
  CHECK_STR(of_double(123456789012345678.0), "1.2345678901234568e17");
}

/* The digits of a number as JSON, without sign, point, exponent and zeros at either end. */
static size_t count_digits(const char *text) {
  char digits[64];
  size_t size = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text >= '0' && *text <= '9' && (size > 0 || *text != '0')) {
      digits[size++] = *text;
    }
  }
  while (size > 0 && digits[size - 1] == '0') {
    size--;
  }
  return size;
}

/* The fewest digits with which printf's rounding reads back. */
static size_t fewest_digits(float value) {
  char buf[64];
  for (int n = 0; n < 9; n++) {
    snprintf(buf, sizeof buf, "%.*e", n, (double)value);
    if (strtof(buf, NULL) == value) {
      return count_digits(buf);
    }
  }
  return 9;
}

static void check_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  if (!isfinite(value)) {
    return;
  }
  const char *text = of_float(value);
  float back = strtof(text, NULL);
  CHECK(memcmp(&back, &value, sizeof back) == 0);
  CHECK(strpbrk(text, ".e") != NULL);
  CHECK(count_digits(text) <= fewest_digits(value));
}

TEST(floats_read_back_with_the_fewest_digits) {
  uint32_t bits = 12345;
  for (int i = 0; i < 30000; i++) {
    bits = bits * 1664525 + 1013904223;
    check_float(bits);                             /* any magnitude */
    check_float((bits & 0x81ffffff) | 0x3e000000); /* near one */
  }
  for (uint32_t i = 0; i < 2000; i++) { /* prices */
    float price = (float)i / 100;
    memcpy(&bits, &price, sizeof bits);
    check_float(bits);
  }
}
