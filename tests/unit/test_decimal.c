/* Floats in decimal: few digits by arithmetic, many by printing. */
#include "base/decimal.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

static void check_double(double value, uint64_t digits, int exponent) {
  cst__decimal d = cst__decimal_of_float64(value);
  CHECK_EQ(d.digits, digits);
  CHECK_EQ(d.exponent, exponent);
}

TEST(few_digits) {
  check_double(1, 1, 0);
  check_double(1200, 12, 2);
  check_double(0.1, 1, -1);
  check_double(123.456, 123456, -3);
  check_double(0.000001, 1, -6);
  check_double(999999999999999.0, 999999999999999, 0);
  check_double(99999999999999.9, 999999999999999, -1);
}

TEST(many_digits) {
  check_double(0.1 + 0.2, 30000000000000004, -17);
  check_double(1e-7, 1, -7);
  check_double(1e22, 1, 22);
  check_double(DBL_MAX, 17976931348623157, 292);
  check_double(5e-324, 5, -324);
  CHECK_EQ(cst__decimal_of_float64(DBL_MAX).num_digits, 17);
}

TEST(every_double_reads_back) {
  uint64_t state = 88172645463325252;
  for (int i = 0; i < 2000; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    double value = (double)(state >> 20) / (i % 2 == 0 ? 1000.0 : 7.0);
    cst__decimal d = cst__decimal_of_float64(value);
    char text[48];
    (void)snprintf(text, sizeof text, "%llue%d", (unsigned long long)d.digits, d.exponent);
    CHECK_DOUBLE(strtod(text, NULL), value);
  }
}

TEST(floats_have_fewer_digits) {
  cst__decimal d = cst__decimal_of_float32(0.1f);
  CHECK_EQ(d.digits, 1);
  CHECK_EQ(d.exponent, -1);
  d = cst__decimal_of_float32(FLT_MAX);
  CHECK_EQ(d.digits, 34028235);
  CHECK_EQ(d.num_digits, 8);
  CHECK_EQ(d.exponent, 31);
}
