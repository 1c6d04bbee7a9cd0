/* Numbers of text: what is one, and values that are rounded once, whatever the locale is. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "text/number.h"

/* ---- integers ---- */

static bool int64(const char *text, int64_t *out) {
  return cst__parse_int64(text, strlen(text), out);
}

static bool uint64(const char *text, uint64_t *out) {
  return cst__parse_uint64(text, strlen(text), out);
}

TEST(integers) {
  int64_t i;
  CHECK(int64("9223372036854775807", &i) && i == INT64_MAX);
  CHECK(int64("-9223372036854775808", &i) && i == INT64_MIN);
  CHECK(int64("+00000000000000000000000012345678", &i) && i == 12345678);
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

static void check_whole(const char *text, cst__whole_kind kind, bool negative, uint64_t value) {
  bool is_negative;
  uint64_t magnitude;
  CHECK_EQ(cst__parse_whole(text, strlen(text), &is_negative, &magnitude), kind);
  if (kind == CST__WHOLE_64) {
    CHECK_EQ(is_negative, negative);
    CHECK(magnitude == value);
  }
}

TEST(whole_numbers) {
  check_whole("0", CST__WHOLE_64, false, 0);
  check_whole("-0", CST__WHOLE_64, true, 0);
  check_whole("+17", CST__WHOLE_64, false, 17);
  check_whole("18446744073709551615", CST__WHOLE_64, false, UINT64_MAX);
  check_whole("-18446744073709551615", CST__WHOLE_64, true, UINT64_MAX);
  check_whole("0000018446744073709551615", CST__WHOLE_64, false, UINT64_MAX);
  check_whole("18446744073709551616", CST__WHOLE_HUGE, false, 0);
  check_whole("100000000000000000000000", CST__WHOLE_HUGE, false, 0);
  check_whole("", CST__WHOLE_NONE, false, 0);
  check_whole("-", CST__WHOLE_NONE, false, 0);
  check_whole("1.0", CST__WHOLE_NONE, false, 0);
  check_whole("99999999999999999999.5", CST__WHOLE_NONE, false, 0);
  check_whole("1234567 ", CST__WHOLE_NONE, false, 0);
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

/* ---- floats ---- */

static void check_float(const char *text) {
  double actual;
  float narrow;
  double expected = strtod(text, NULL);
  CHECK(cst__parse_float64(text, strlen(text), &actual));
  CHECK_MEM(&actual, &expected, sizeof actual);
  float wanted = strtof(text, NULL);
  if (isfinite(wanted) || !isfinite(actual)) {
    CHECK(cst__parse_float32(text, strlen(text), &narrow));
    CHECK_MEM(&narrow, &wanted, sizeof narrow);
  } else {
    CHECK(!cst__parse_float32(text, strlen(text), &narrow));
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
                                      "0.7579544029403025",
                                      "-0.0",
                                      "-1.5",
                                      "123456789012345",
                                      "1e-22",
                                      "1E+5",
                                      "3.0e-5",
                                      "0.000001",
                                      "5e-324",
                                      "2.2250738585072011e-308",
                                      "179769313486231570000000000000000000000",
                                      "1e-46",
                                      "7.0064923216240854e-46",
                                      "1.4012984643248171e-45",
                                      "1.1754942e-38",
                                      "1.17549435e-38",
                                      "16777217.0000000000000000000000000000001",
                                      "16777216.9999999999999999999999999999999",
                                      "16777219",
                                      "0.5000000298023223876953125",
                                      "0.50000002980232238769531250000000000000000001",
                                      "0.50000002980232238769531249999999999999999999",
                                      "3.4028234663852886e38",
                                      "340282356779733661637539395458142568447",
                                      "0.00000000000000000000000000000000000000000001",
                                      "+5.",
                                      ".5",
                                      "-.5e-3"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    check_float(texts[i]);
  }
  double nan;
  CHECK(cst__parse_float64("-nan", 4, &nan) && isnan(nan) && signbit(nan));
}

TEST(numbers_beyond_the_type) {
  double wide;
  float narrow;
  CHECK(!cst__parse_float64("1e309", 5, &wide));
  CHECK(!cst__parse_float64("-1e99999999999", 14, &wide));
  CHECK(!cst__parse_float32("1e39", 4, &narrow));
  CHECK(!cst__parse_float32("3.4028235677973366163753939545814256845e38", 42, &narrow));
}

TEST(what_is_no_float) {
  static const char *const texts[] = {"",     "-",   ".",  "+.", "e5",   "1e", "1e+",  "1.5.2",
                                      "0x10", "1_0", "1 ", " 1", "nano", "in", "i.nf", "1f"};
  double value;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    CHECK(!cst__parse_float64(texts[i], strlen(texts[i]), &value));
  }
}

TEST(what_a_text_says) {
  cst__number number;
  CHECK(cst__parse_number("-012.50e3", 9, &number));
  CHECK_EQ(number.digits, 1250);
  CHECK_EQ(number.exponent, 1);
  CHECK_EQ(number.num_digits, 4);
  CHECK(number.negative && !number.is_plain && !number.is_int && !number.is_word);
  CHECK(cst__parse_number("17", 2, &number));
  CHECK(number.is_int && number.is_plain);
  CHECK(cst__parse_number("+17", 3, &number) && !number.is_plain);
  CHECK(cst__parse_number("Infinity", 8, &number) && number.is_word);
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

TEST(long_texts_decide_in_the_middle) {
  char text[2000] = "16777217.";
  memset(text + 9, '0', 1500);
  text[1509] = '\0';
  check_float(text);
  text[1508] = '1';
  check_float(text);
  memset(text, '0', 1500);
  text[1] = '.';
  strcpy(text + 1500, "5e1490");
  check_float(text);
  memset(text, '1', 1990);
  text[1] = '.';
  text[1990] = '\0';
  check_float(text);
}

TEST(the_locale_does_not_matter) {
  double value;
  float narrow;
  const char *set = setlocale(LC_NUMERIC, "de_DE.UTF-8");
  CHECK(cst__parse_float64("1.0000000000000000000000001", 27, &value));
  CHECK_DOUBLE(value, 1.0);
  CHECK(cst__parse_float64("123456789.123456789123456789", 28, &value));
  CHECK_DOUBLE(value, 123456789.12345679);
  CHECK(cst__parse_float32("1.4012984643248171e-45", 22, &narrow));
  CHECK_DOUBLE((double)narrow, 0x1p-149);
  if (set != NULL) {
    setlocale(LC_NUMERIC, "C");
  }
}
