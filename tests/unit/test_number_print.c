/* Numbers as text: exact integers, floats with the fewest digits that read back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "text/number.h"
#include "text/powers_of_ten.h"

static const char *of_float(float value) {
  static char out[64];
  out[cst__print_float32(out, value, CST__FLOAT_PYTHON)] = '\0';
  return out;
}

static const char *of_double(double value) {
  static char out[64];
  out[cst__print_float64(out, value, CST__FLOAT_PYTHON)] = '\0';
  return out;
}

static const char *of_int(int64_t value) {
  static char out[64];
  out[cst__print_int64(out, value)] = '\0';
  return out;
}

TEST(integers) {
  CHECK_STR(of_int(0), "0");
  CHECK_STR(of_int(-7), "-7");
  CHECK_STR(of_int(INT64_MAX), "9223372036854775807");
  CHECK_STR(of_int(INT64_MIN), "-9223372036854775808");
  char out[CST__NUMBER_SIZE];
  CHECK_EQ(cst__print_uint64(out, UINT64_MAX), 20);
  CHECK_MEM(out, "18446744073709551615", 20);
  uint64_t ten = 1;
  for (size_t digits = 1; digits <= 20; digits++, ten *= 10) {
    CHECK_EQ(cst__print_uint64(out, ten), digits);
    CHECK_EQ(cst__print_uint64(out, ten - 1), digits > 1 ? digits - 1 : 1);
  }
}

TEST(floats) {
  CHECK_STR(of_float(0.0f), "0.0");
  CHECK_STR(of_float(-0.0f), "-0.0");
  CHECK_STR(of_float(1.0f), "1.0");
  CHECK_STR(of_float(0.1f), "0.1");
  CHECK_STR(of_float(-12.45f), "-12.45");
  CHECK_STR(of_float(16777216.0f), "16777216.0");
  CHECK_STR(of_float(1e10f), "10000000000.0");
  CHECK_STR(of_float(1e-5f), "1e-05");
  CHECK_STR(of_float(1e-6f), "1e-06");
  CHECK_STR(of_float(235000992.0f), "235001000.0"); /* in the middle, and exactly so */
  CHECK_STR(of_float(0.00012f), "0.00012");
  CHECK_STR(of_float(3.4028235e38f), "3.4028235e+38");
  CHECK_STR(of_float(1.17549435e-38f), "1.1754944e-38");
  CHECK_STR(of_float(1.4e-45f), "1e-45");
  CHECK_STR(of_float(NAN), "nan");
  CHECK_STR(of_float(INFINITY), "inf");
  CHECK_STR(of_float(-INFINITY), "-inf");
}

TEST(doubles) {
  CHECK_STR(of_double(0.1), "0.1");
  CHECK_STR(of_double(1.0 / 3), "0.3333333333333333");
  CHECK_STR(of_double(5e-324), "5e-324");
  CHECK_STR(of_double(1.7976931348623157e308), "1.7976931348623157e+308");
  CHECK_STR(of_double(9007199254740993.0), "9007199254740992.0");
  CHECK_STR(of_double(123456789012345678.0), "1.2345678901234568e+17");
}

static const char *of_script(double value) {
  static char out[64];
  out[cst__print_float64(out, value, CST__FLOAT_JAVASCRIPT)] = '\0';
  return out;
}

/* Where the point, the zeros around it and the exponent come to lie, with many digits and few. */
/* A byte for each digit, the first lowest. */
static uint64_t digits_slowly(uint32_t number) {
  uint64_t digits = 0;
  for (int i = 0; i < 8; i++, number /= 10) {
    digits = digits << 8 | number % 10;
  }
  return digits;
}

TEST(digits_are_spread) {
  for (uint32_t i = 0; i < 100000000; i += i < 20000 ? 1 : 1 + i % 977) {
    const uint32_t other = 99999999 - i;
    uint64_t words[2];
    cst__spread_sixteen(i, other, words);
    CHECK_EQ(words[0], digits_slowly(i));
    CHECK_EQ(words[1], digits_slowly(other));
    CHECK_EQ(cst__spread_four(i % 10000), digits_slowly(i % 10000) >> 32);
  }
}

TEST(places_of_the_point) {
  CHECK_STR(of_double(1234567890.1234567), "1234567890.1234567");
  CHECK_STR(of_double(123456789012345.67), "123456789012345.67");
  CHECK_STR(of_double(1234567890123456.7), "1234567890123456.8");
  CHECK_STR(of_double(-1234567890123456.7), "-1234567890123456.8");
  CHECK_STR(of_double(4194304.0), "4194304.0");
  CHECK_STR(of_double(1.2345678901234567), "1.2345678901234567");
  CHECK_STR(of_double(0.12345678901234568), "0.12345678901234568");
  CHECK_STR(of_double(-0.00012345678901234567), "-0.00012345678901234567");
  CHECK_STR(of_double(0.000012345678901234567), "1.2345678901234568e-05");
  CHECK_STR(of_double(-2.2250738585072014e-308), "-2.2250738585072014e-308");
  CHECK_STR(of_double(2e-323), "2e-323");
  CHECK_STR(of_double(-2e-323), "-2e-323");
  CHECK_STR(of_double(5.6843418860808015e-14), "5.6843418860808015e-14");
  CHECK_STR(of_double(9.5367431640625e-07), "9.5367431640625e-07");
  CHECK_STR(of_double(3e100), "3e+100");
}

TEST(as_javascript) {
  CHECK_STR(of_script(0.0), "0");
  CHECK_STR(of_script(-0.0), "-0.0");
  CHECK_STR(of_script(-17), "-17");
  CHECK_STR(of_script(1.5), "1.5");
  CHECK_STR(of_script(0.000001), "0.000001");
  CHECK_STR(of_script(1.25e-7), "1.25e-7");
  CHECK_STR(of_script(9007199254740992), "9007199254740992");
  CHECK_STR(of_script(1e20), "100000000000000000000");
  CHECK_STR(of_script(123456789012345680000.0), "123456789012345680000");
  CHECK_STR(of_script(0.0000012345678901234567), "0.0000012345678901234567");
  CHECK_STR(of_script(1e21), "1e+21");
  CHECK_STR(of_script(5e-324), "5e-324");
}

static const char *of_proto(float value) {
  static char out[64];
  out[cst__print_float32(out, value, CST__FLOAT_PROTOBUF)] = '\0';
  return out;
}

TEST(as_protobuf) {
  CHECK_STR(of_proto(0.1f), "0.1");
  CHECK_STR(of_proto(1e16f), "1e+16");
  CHECK_STR(of_proto(3.4028235e38f), "3.4028235e+38");
  CHECK_STR(of_proto(1.4e-45f), "1.4013e-45"); /* six digits, where one would do */
}

/* The digits of a number, without sign, point, exponent and zeros at either end. */
static size_t digits_of(const char *text, char digits[64]) {
  size_t size = 0;
  for (; *text != '\0' && *text != 'e'; text++) {
    if (*text >= '0' && *text <= '9' && (size > 0 || *text != '0')) {
      digits[size++] = *text;
    }
  }
  while (size > 0 && digits[size - 1] == '0') {
    size--;
  }
  digits[size] = '\0';
  return size;
}

static size_t count_digits(const char *text) {
  char digits[64];
  return digits_of(text, digits);
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

/* Few digits by arithmetic, many by printing. */
TEST(digits_of_doubles) {
  CHECK_STR(of_double(1200), "1200.0");
  CHECK_STR(of_double(123.456), "123.456");
  CHECK_STR(of_double(0.000001), "1e-06");
  CHECK_STR(of_double(999999999999999.0), "999999999999999.0");
  CHECK_STR(of_double(99999999999999.9), "99999999999999.9");
  CHECK_STR(of_double(0.1 + 0.2), "0.30000000000000004");
  CHECK_STR(of_double(1e-7), "1e-07");
  CHECK_STR(of_double(1e16), "1e+16");
  CHECK_STR(of_double(1234567890123456.0), "1234567890123456.0");
  CHECK_STR(of_double(0.0001), "0.0001");
}

TEST(every_double_reads_back) {
  uint64_t state = 88172645463325252;
  for (int i = 0; i < 4000; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    double value = (double)(state >> 20) / (i % 2 == 0 ? 1000.0 : 7.0);
    if (i % 4 == 0) {
      memcpy(&value, &state, sizeof value); /* any magnitude */
    }
    if (isfinite(value)) {
      CHECK_DOUBLE(strtod(of_double(value), NULL), value);
      CHECK_DOUBLE(strtod(of_script(value), NULL), value);
    }
  }
}

/* A whole number of 1280 bits: 32 in a word, the lowest first. */
enum { WORDS = 40 };

static cst__power leading_bits(const uint64_t *number) {
  int top = WORDS - 1;
  while (number[top] == 0) {
    top--;
  }
  unsigned __int128 bits = 0;
  for (int i = 0; i < 5; i++) { /* 32 bits more than are taken, of which some are lost at the top */
    const int at = top - i;
    const int empty = __builtin_clz((unsigned)number[top]);
    const uint64_t word = at >= 0 ? number[at] : 0;
    bits = i < 4 ? bits << 32 | word : bits << empty | (empty > 0 ? word >> (32 - empty) : 0);
  }
  return (cst__power){(uint64_t)(bits >> 64), (uint64_t)bits};
}

static void check_power(const uint64_t *number, int exponent) {
  const cst__power expected = leading_bits(number);
  const cst__power *power = &cst__powers_of_ten[exponent - CST__LEAST_POWER];
  CHECK(power->high == expected.high && power->low == expected.low);
  CHECK(power->low != UINT64_MAX); /* so that one more does not carry */
}

TEST(powers_of_ten_are_exact_and_cut_off) {
  uint64_t number[WORDS] = {1};
  for (int exponent = 0; exponent <= CST__MOST_POWER; exponent++) {
    check_power(number, exponent);
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
      carry += number[i] * 10;
      number[i] = carry & UINT32_MAX;
      carry >>= 32;
    }
  }
  memset(number, 0, sizeof number);
  number[WORDS - 1] = 1; /* a power of two, divided by ten again and again */
  for (int exponent = 0; exponent >= CST__LEAST_POWER; exponent--) {
    check_power(number, exponent);
    uint64_t rest = 0;
    for (int i = WORDS - 1; i >= 0; i--) {
      rest = rest << 32 | number[i];
      number[i] = rest / 10;
      rest %= 10;
    }
  }
}

/* What printf rounds to with the fewest digits that read back: as Python writes it. */
static void check_double(double value) {
  char expected[64];
  char digits[64];
  char expected_digits[64];
  for (int n = 0; n < 17; n++) {
    snprintf(expected, sizeof expected, "%.*e", n, value);
    const double back = strtod(expected, NULL);
    if (memcmp(&back, &value, sizeof back) == 0) {
      break;
    }
  }
  const char *text = of_double(value);
  const double back = strtod(text, NULL);
  CHECK(memcmp(&back, &value, sizeof back) == 0);
  digits_of(text, digits);
  digits_of(expected, expected_digits);
  CHECK_STR(digits, expected_digits);
}

TEST(doubles_read_back_with_the_fewest_digits) {
  uint64_t state = 88172645463325252;
  for (int i = 0; i < 8000; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const double unit = ldexp((double)(state >> 11), -53);
    check_double(unit + 1e-300);
    check_double(ldexp(1 + unit, (int)(state % 120) - 60));
    check_double(ldexp(1, (int)(state % 120) - 60)); /* its neighbours differ */
    check_double(ldexp((double)(state % 8192) + 4503599627370496.0, -(int)(state % 64)));
    check_double((double)(state % 100000000) / 1000);
    check_double(ldexp(1 + unit, (int)(state % 2000) - 1000));
  }
}
