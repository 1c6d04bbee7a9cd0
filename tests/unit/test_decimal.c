/* Doubles nearest to decimals: the table of powers, and numbers against strtod. */
#include "text/decimal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef unsigned __int128 wide;

static wide five_to(int n) {
  wide power = 1;
  for (; n > 0; n--) {
    power *= 5;
  }
  return power;
}

/* For a negative q, the entry times 5^-q is the multiple of that which is next to a power of two,
 * whose lower 128 bits are 0. */
TEST(powers_of_five) {
  for (int q = CST__LEAST_POWER; q <= CST__MOST_POWER; q++) {
    const uint64_t *words = &cst__fives[2 * (q - CST__LEAST_POWER)];
    const wide entry = (wide)words[0] << 64 | words[1];
    CHECK(words[0] >> 63 == 1);
    wide power = five_to(abs(q));
    if (q < 0) {
      const wide product = q < -27 ? 0 - entry * power : entry * power;
      CHECK(product > 0 && product <= power);
      continue;
    }
    while (power >> 127 == 0) {
      power <<= 1;
    }
    CHECK(entry == power);
  }
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
  for (int q = CST__LEAST_POWER; q <= CST__MOST_POWER; q++) {
    check_decimal(0, q);
    check_decimal(UINT64_MAX, q);
    for (int i = 0; i < 2000; i++) {
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
    check_decimal((digits << 10 | 1) * (uint64_t)five_to(-q) + (uint64_t)(rand() % 3) - 1, q);
    q = rand() % 24;
    digits = middle;
    for (int k = 0; k < q && digits % 5 == 0; k++) {
      digits /= 5;
    }
    check_decimal(digits + (uint64_t)(rand() % 3) - 1, q);
  }
  for (int q = 1; q <= 23; q++) { /* digits * 5^q in the middle */
    const uint64_t five = (uint64_t)five_to(q);
    for (int i = 0; i < 2000; i++) {
      uint64_t most = (UINT64_C(1) << 54) / five;
      uint64_t digits = (most - random_word() % (most / 2 + 1)) | 1;
      check_decimal(digits, q);
    }
  }
}
