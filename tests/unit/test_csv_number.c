/* Numbers of CSV: what is one, exactly, and values that are rounded correctly. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/csv/csv.h"
#include "harness.h"

/* A copy of the text that may be read beyond its end, where digits stand. */
static const uint8_t *padded(const char *text) {
  static uint8_t copy[2048];
  size_t size = strlen(text);
  memset(copy, '9', sizeof copy);
  memcpy(copy, text, size);
  return copy;
}

static unsigned classify(const char *text) { return cst__csv_classify(padded(text), strlen(text)); }

TEST(classes) {
  CHECK_EQ(classify("0"), CST__CSV_HAS_INT);
  CHECK_EQ(classify("-17"), CST__CSV_HAS_INT);
  CHECK_EQ(classify(" 5\t"), CST__CSV_HAS_INT);
  CHECK_EQ(classify("9007199254740992"), CST__CSV_HAS_INT);
  CHECK_EQ(classify("9007199254740993"), CST__CSV_HAS_INT | CST__CSV_HAS_WIDE_INT);
  CHECK_EQ(classify("9223372036854775807"), CST__CSV_HAS_INT | CST__CSV_HAS_WIDE_INT);
  CHECK_EQ(classify("-9223372036854775808"), CST__CSV_HAS_INT);
  CHECK_EQ(classify("9223372036854775808"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("18446744073709551616"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("007"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("+7"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("00.5"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1_000"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("0x10"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1.5"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify(".5"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("5."), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("1e3"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("-1E-3"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("1e308"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("1e309"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1e99999999999999999999"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("NaN"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("-inf"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("+Infinity"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("."), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("-"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("e5"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1e"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1 2"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify(" "), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("nano"), CST__CSV_HAS_TEXT);
}

static bool int64(const char *text, int64_t *out) {
  return cst__csv_int64(padded(text), strlen(text), out);
}

static bool uint64(const char *text, uint64_t *out) {
  return cst__csv_uint64(padded(text), strlen(text), out);
}

TEST(integers) {
  int64_t i;
  CHECK(int64("9223372036854775807", &i) && i == INT64_MAX);
  CHECK(int64("-9223372036854775808", &i) && i == INT64_MIN);
  CHECK(int64(" +00000000000000000000000012345678 ", &i) && i == 12345678);
  CHECK(int64("-0", &i) && i == 0);
  CHECK(int64("1234567890123456", &i) && i == 1234567890123456);
  CHECK(!int64("9223372036854775808", &i));
  CHECK(!int64("-9223372036854775809", &i));
  CHECK(!int64("99999999999999999999", &i));
  CHECK(!int64("1234567x", &i));
  CHECK(!int64("1234567:1", &i));
  CHECK(!int64("1.0", &i));
  CHECK(!int64("", &i));
  CHECK(!int64("-", &i));
  CHECK(!int64("--1", &i));
  uint64_t u;
  CHECK(uint64("18446744073709551615", &u) && u == UINT64_MAX);
  CHECK(!uint64("18446744073709551616", &u));
  CHECK(!uint64("-1", &u));
  CHECK(uint64("-0", &u) && u == 0);
}

TEST(integers_at_random) {
  char text[64];
  srand(9);
  for (int i = 0; i < 100000; i++) {
    size_t size = (size_t)rand() % 21;
    for (size_t k = 0; k < size; k++) {
      text[k] = (char)(rand() % 40 == 0 ? "-+ x:/\xb5"[rand() % 7] : '0' + rand() % 10);
    }
    text[size] = '\0';
    char *end;
    errno = 0;
    long long expected = strtoll(text, &end, 10);
    bool is_int = size > 0 && *end == '\0' && errno == 0;
    if (memchr(text, ' ', size) == NULL) {
      int64_t actual = 0;
      CHECK_EQ(int64(text, &actual), is_int);
      CHECK_EQ(actual, is_int ? expected : actual);
    }
  }
}

static void check_float(const char *text) {
  double actual;
  float narrow;
  CHECK(cst__csv_float64(padded(text), strlen(text), &actual));
  CHECK_DOUBLE(actual, strtod(text, NULL));
  if (isfinite(strtof(text, NULL)) || !isfinite(actual)) {
    CHECK(cst__csv_float32(padded(text), strlen(text), &narrow));
    CHECK_DOUBLE((double)narrow, (double)strtof(text, NULL));
  } else {
    CHECK(!cst__csv_float32(padded(text), strlen(text), &narrow));
  }
}

TEST(floats_that_are_hard) {
  static const char *const texts[] = {"0",
                                      "-0",
                                      "0.0",
                                      "1",
                                      "1e22",
                                      "1e23",
                                      "8.5",
                                      "9007199254740993",
                                      "9007199254740993.0",
                                      "123456789012345678901234567890",
                                      "0.1",
                                      "0.3",
                                      "2.2250738585072014e-308",
                                      "4.9406564584124654e-324",
                                      "2.4703282292062327e-324",
                                      "1.7976931348623157e308",
                                      "1e-400",
                                      "16777217",
                                      "16777217.0",
                                      "16777219.5",
                                      "1.00000017881393432617187499",
                                      "1.00000017881393432617187500",
                                      "1.00000017881393432617187501",
                                      "1.401298464324817e-45",
                                      "7.006492321624085e-46",
                                      "3.4028235677973366e38",
                                      "3.4028235e38",
                                      "1e39",
                                      "inf",
                                      "-Infinity",
                                      "0.000000000000000000000000000000000000000000000001",
                                      "1e27",
                                      "1e-27",
                                      "12345678901234567e10",
                                      "9223372036854775808.5",
                                      "0.8444218515250481",
                                      "0.7579544029403025"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    check_float(texts[i]);
  }
  double nan;
  CHECK(cst__csv_float64(padded("-nan"), 4, &nan) && isnan(nan));
  CHECK(!cst__csv_float64(padded("1e309"), 5, &nan));
}

TEST(floats_at_random) {
  char text[64];
  srand(3);
  for (int i = 0; i < 200000; i++) {
    uint64_t digits = ((uint64_t)rand() << 40) ^ ((uint64_t)rand() << 20) ^ (uint64_t)rand();
    int form = rand() % 3;
    if (form == 0) {
      snprintf(text, sizeof text, "%" PRIu64 "e%d", digits, rand() % 80 - 40);
    } else {
      snprintf(text, sizeof text, form == 1 ? "%.17g" : "%.15f",
               ldexp((double)digits, rand() % 100 - 80));
    }
    check_float(text);
  }
}

TEST(midpoints_at_random) {
  char text[1100];
  srand(5);
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = ((uint64_t)rand() << 22) ^ (uint64_t)rand();
    double middle = ldexp((double)((bits << 1) | 1), rand() % 20 - 60);
    snprintf(text, sizeof text, "%.60f", middle);
    check_float(text);
    snprintf(text, sizeof text, "%.19g", middle);
    check_float(text);
  }
}

TEST(long_texts) {
  char text[3000];
  memset(text, '1', sizeof text);
  CHECK_EQ(cst__csv_classify((const uint8_t *)text, sizeof text), CST__CSV_HAS_TEXT);
  text[1] = '.';
  CHECK_EQ(cst__csv_classify((const uint8_t *)text, sizeof text), CST__CSV_HAS_TEXT);
  CHECK_EQ(cst__csv_classify((const uint8_t *)text, 900), CST__CSV_HAS_FLOAT);
  double value;
  CHECK(cst__csv_float64((const uint8_t *)text, 900, &value));
  CHECK(!cst__csv_float64((const uint8_t *)text, sizeof text, &value));
}

TEST(the_locale_does_not_matter) {
  double value;
  const char *set = setlocale(LC_NUMERIC, "de_DE.UTF-8");
  CHECK(cst__csv_float64(padded("1.0000000000000000000000001"), 27, &value));
  CHECK_DOUBLE(value, 1.0);
  CHECK(cst__csv_float64(padded("123456789.123456789123456789"), 28, &value));
  CHECK_DOUBLE(value, 123456789.12345679);
  if (set != NULL) {
    setlocale(LC_NUMERIC, "C");
  }
}
