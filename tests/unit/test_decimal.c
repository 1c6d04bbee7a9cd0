/* Doubles nearest to decimals: against strtod. */
#include "text/decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { MOST_POWER = 288 };

static uint64_t five_to(int n) {
  uint64_t power = 1;
  for (; n > 0; n--) {
    power *= 5;
  }
  return power;
}

static void check_decimal(uint64_t digits, int exponent) {
  char text[64];
  (void)snprintf(text, sizeof text, "-%" PRIu64 "e%d", digits, exponent);
  const double expected = strtod(text, NULL);
  const double actual = cst__decimal_float64(digits, exponent, true);
  CHECK_MEM(&actual, &expected, sizeof actual);
}

static uint64_t random_word(void) {
  uint64_t word = 0;
  for (int i = 0; i < 5; i++) {
    word = word << 15 ^ (uint64_t)rand();
  }
  return word;
}

TEST(digits_of_any_number) {
  srand(11);
  CHECK(cst__decimal_has(CST__LEAST_POWER) && !cst__decimal_has(CST__LEAST_POWER - 1));
  CHECK(cst__decimal_has(MOST_POWER) && !cst__decimal_has(MOST_POWER + 1));
  for (int q = CST__LEAST_POWER; q <= MOST_POWER; q++) {
    check_decimal(0, q);
    check_decimal(UINT64_MAX, q);
    for (int i = 0; i < 500; i++) {
      check_decimal(random_word() >> rand() % 64, q);
    }
  }
}

/* Odd numbers of 54 bits: the middle between two doubles, and just beside it. */
TEST(middles) {
  srand(12);
  for (int i = 0; i < 100000; i++) {
    const uint64_t middle = random_word() >> 10 | UINT64_C(1) << 53 | 1;
    check_decimal((middle << rand() % 10) + (uint64_t)(rand() % 3) - 1, 0);
    int q = -(rand() % 5); /* middle / 2^n, exactly */
    uint64_t digits = random_word() >> 20 | UINT64_C(1) << 43;
    check_decimal((digits << 10 | 1) * five_to(-q) + (uint64_t)(rand() % 3) - 1, q);
    q = rand() % 24;
    digits = middle;
    for (int k = 0; k < q && digits % 5 == 0; k++) {
      digits /= 5;
    }
    check_decimal(digits + (uint64_t)(rand() % 3) - 1, q);
  }
  for (int q = 1; q <= 23; q++) { /* digits * 5^q in the middle */
    const uint64_t five = five_to(q);
    for (int i = 0; i < 2000; i++) {
      uint64_t most = (UINT64_C(1) << 54) / five;
      uint64_t digits = (most - random_word() % (most / 2 + 1)) | 1;
      check_decimal(digits, q);
    }
  }
}
